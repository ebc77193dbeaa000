# A run by the library and one by the program write the same bytes, for every way to choose steps.
# -DSALTUS= -DEXAMPLE= -DSCENES= -DWHERE=
function(same scene)
  set(words "")
  set(chosen -)
  set(numbers "")
  foreach(word IN LISTS ARGN) # scheme=NAME, or step=H tol=X until=T dt=DT
    string(REGEX MATCH "^([a-z]+)=(.*)$" _ ${word})
    if(CMAKE_MATCH_1 STREQUAL scheme)
      set(chosen ${CMAKE_MATCH_2})
    else()
      list(APPEND numbers ${word})
    endif()
    string(REPLACE dt output-dt option ${CMAKE_MATCH_1})
    list(APPEND words --${option} ${CMAKE_MATCH_2})
  endforeach()
  set(files ${WHERE}/by_library.csv ${WHERE}/by_program.csv)
  execute_process(COMMAND ${EXAMPLE} ${SCENES}/${scene}.yaml ${WHERE}/by_library.csv ${chosen}
                          ${numbers} RESULT_VARIABLE library OUTPUT_QUIET ERROR_VARIABLE said)
  execute_process(COMMAND ${SALTUS} run ${SCENES}/${scene}.yaml -o ${WHERE}/by_program.csv ${words}
                  RESULT_VARIABLE program OUTPUT_QUIET ERROR_VARIABLE printed)
  if(NOT library EQUAL 0 OR NOT program EQUAL 0)
    message(FATAL_ERROR "${scene} ${ARGN}: ${said}${printed}")
  endif()
  foreach(part "" .events) # states and events
    string(REPLACE .csv ${part}.csv pair "${files}")
    execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${pair} RESULT_VARIABLE differ)
    if(differ)
      message(FATAL_ERROR "${scene} ${ARGN}: ${pair} differ")
    endif()
  endforeach()
endfunction()
same(ball)
same(ball tol=1e-7)
same(ball scheme=rkf45 tol=1e-5)
same(ball scheme=moreau-jean tol=1e-3 until=1)
same(ball scheme=radau-iia-5 step=0.01 until=4)
same(ball scheme=radau-iia-5 step=0.01 dt=0.013)
same(woodpecker until=0.05)
same(woodpecker tol=1e-5 until=0.2 dt=0.001)
same(double-pendulum tol=1e-6)
same(rod-impact)
same(coulomb-block)
# refused by both, with the same words
execute_process(COMMAND ${EXAMPLE} ${SCENES}/ball.yaml ${WHERE}/none.csv rattle tol=1e-5
                RESULT_VARIABLE library ERROR_VARIABLE said)
execute_process(COMMAND ${SALTUS} run ${SCENES}/ball.yaml -o ${WHERE}/none.csv --scheme rattle --tol 1e-5
                RESULT_VARIABLE program ERROR_VARIABLE printed)
if(NOT library EQUAL 1 OR NOT program EQUAL 2 OR EXISTS ${WHERE}/none.csv
   OR NOT said MATCHES "give step H, or tol without a scheme"
   OR NOT printed MATCHES "give --step H, or --tol without a scheme")
  message(FATAL_ERROR "not refused: ${library} ${said} ${program} ${printed}")
endif()
