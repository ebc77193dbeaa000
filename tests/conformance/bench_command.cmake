# saltus bench solvers: exit codes, the profile table, the figure. -DSALTUS= -DPROBLEMS= -DWHERE=
function(expect code words)
  execute_process(COMMAND ${SALTUS} bench ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out
                  ERROR_VARIABLE err)
  if(NOT result EQUAL ${code} OR NOT "${out}${err}" MATCHES "${words}")
    message(FATAL_ERROR "saltus bench ${ARGN}: exit ${result}, not ${code}, or no \"${words}\" in\n"
                        "${out}${err}")
  endif()
endfunction()
# ten of eleven friction problems and nine of twelve others have a solution; the portfolio finds all
file(REMOVE ${WHERE}/profile.svg)
expect(0 "friction, 11 problems.*\n  auto [^\n]* 91%\n.*complementarity, 12 problems.*\n  auto [^\n]* 75%\n"
       solvers ${PROBLEMS} --solver gauss-seidel --solver lemke -o ${WHERE}/profile.svg)
file(READ ${WHERE}/profile.svg figure LIMIT 200)
if(NOT figure MATCHES "<svg")
  message(FATAL_ERROR "no figure in ${WHERE}/profile.svg")
endif()
expect(0 "\"file\": *\"lcp_murty_10.dat\"" solvers ${PROBLEMS} --solver lemke --json)
expect(2 "no problem files" solvers ${WHERE}/nowhere)
expect(2 "there is no benchmark \"solver\"" solver ${PROBLEMS})
expect(2 "svg" solvers ${PROBLEMS} -o profile.txt)
