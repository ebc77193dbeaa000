# saltus solve: exit codes and what it says. -DSALTUS= -DPROBLEMS= -DWHERE=
function(expect code words)
  execute_process(COMMAND ${SALTUS} solve ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out
                  ERROR_VARIABLE err)
  if(NOT result EQUAL ${code} OR NOT "${out}${err}" MATCHES "${words}")
    message(FATAL_ERROR "saltus solve ${ARGN}: exit ${result}, not ${code}, or no \"${words}\" in\n"
                        "${out}${err}")
  endif()
endfunction()
expect(0 "12 complementarity rows, 12 unknowns: solved" ${PROBLEMS}/lcp_degenerate_12.dat)
expect(0 "2 of 2 solved" ${PROBLEMS}/lcp_murty_10.dat ${PROBLEMS}/fc3d_packing_2x2_rest.dat)
expect(0 "16 contacts, 48 unknowns: solved" ${PROBLEMS}/gfc3d_stack_4_rest.dat)
expect(0 "\"outcome\": *\"solved\"" ${PROBLEMS}/joints_mlcp.dat --json)
# every number that is promised, in one object
foreach(field file kind contacts unknowns outcome iterations stages residual normalised velocity impulse cpu_s)
  expect(0 "\"${field}\": *[\"{0-9]" ${PROBLEMS}/fc3d_packing_2x2_rest.dat --json)
endforeach()
expect(1 "\"outcome\": *\"none\"" ${PROBLEMS}/lcp_none_opposed.dat --json)
# polygons solve a law of their own, and say how well
expect(0 "by the polyhedral law" ${PROBLEMS}/fc2d_two_sliding.dat --solver polyhedral)
expect(0 "\"polyhedral\": *[0-9]" ${PROBLEMS}/fc2d_two_sliding.dat --solver polyhedral --json)
expect(0 "lemke" ${PROBLEMS}/lcp_degenerate_12.dat --solver lemke --tol 1e-12)
expect(1 "has no solution" ${PROBLEMS}/lcp_none_opposed.dat)
expect(1 "not solved" ${PROBLEMS}/fc2d_none_immovable.dat --dump ${WHERE}/dumped.dat)
expect(1 "2 contacts" ${WHERE}/dumped.dat)
expect(2 "there is no solver" ${PROBLEMS}/lcp_murty_10.dat --solver lemkr)
expect(1 "missing.dat" ${WHERE}/missing.dat)
file(WRITE ${WHERE}/lcp_broken.dat "3\n0 3")
expect(2 "lcp_broken.dat:2: token 4: the file ends" ${WHERE}/lcp_broken.dat)
