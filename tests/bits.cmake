# Fingerprints of runs, to compare builds with each other: native and WebAssembly, at -O0 and optimised.
set(bits ${PROJECT_SOURCE_DIR}/tests/conformance/bits.c ${PROJECT_SOURCE_DIR}/bench/pile.c
         ${PROJECT_SOURCE_DIR}/bench/packing.c)
add_executable(saltus_bits EXCLUDE_FROM_ALL ${bits})
saltus_flags(saltus_bits)
target_compile_definitions(saltus_bits PRIVATE _POSIX_C_SOURCE=200809L)
target_include_directories(saltus_bits PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(saltus_bits PRIVATE saltus_inside)

# The same bits at -O0 and as users build it: the core is compiled once more for this. Not with
# sanitizers, which change no bits.
if(SALTUS_TESTS AND NOT SALTUS_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL Release)
  foreach(layer base math thread_pool solve law system operator adaptive scheme sim measure)
    get_target_property(sources saltus_${layer} SOURCES)
    list(APPEND bits ${sources})
  endforeach()
  add_executable(saltus_bits_O0 ${bits})
  saltus_flags(saltus_bits_O0)
  target_compile_definitions(saltus_bits_O0 PRIVATE _POSIX_C_SOURCE=200809L
                                                    ${SALTUS_PART_DEFINITIONS} SALTUS_WITH_NLOPT=0)
  target_compile_options(saltus_bits_O0 PRIVATE -O0)
  target_include_directories(saltus_bits_O0 PRIVATE ${PROJECT_SOURCE_DIR}/include
                                                    ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(saltus_bits_O0 PRIVATE m ${SALTUS_PRIVATE_LIBRARIES})
  set_target_properties(saltus_bits PROPERTIES EXCLUDE_FROM_ALL FALSE)
  add_test(NAME same_bits_at_every_optimisation
           COMMAND ${CMAKE_COMMAND} -DA=$<TARGET_FILE:saltus_bits_O0> -DB=$<TARGET_FILE:saltus_bits>
                   -P ${PROJECT_SOURCE_DIR}/tests/conformance/compare_bits.cmake)
endif()
