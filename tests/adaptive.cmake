# Tolerance-driven integration. Its runs are those of the studies.
add_library(saltus_tolerance STATIC EXCLUDE_FROM_ALL
            ${PROJECT_SOURCE_DIR}/studies/tolerance_run.c
            ${PROJECT_SOURCE_DIR}/studies/tolerance_cases.c
            ${PROJECT_SOURCE_DIR}/studies/random_systems.c ${SALTUS_SCENES_SOURCE})
saltus_flags(saltus_tolerance)
saltus_cold(saltus_tolerance)
target_include_directories(saltus_tolerance PUBLIC ${PROJECT_SOURCE_DIR}/studies
                                            PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(saltus_tolerance PUBLIC saltus_inside)
saltus_test(dormand_prince SOURCES unit/test_dormand_prince.c LABELS unit)
foreach(name tables references ingredients)
  saltus_test(adaptive_${name} SOURCES reference/test_adaptive_${name}.c LINK saltus_tolerance
              LABELS reference)
endforeach()
saltus_test(adaptive_random SOURCES conformance/test_adaptive_random.c LINK saltus_tolerance
            LABELS conformance)

# Random hard scenes and the scenes that once failed, against references without code of the library.
set(adversarial case scenes flight root judge chain slide ode motions bodies curved)
list(TRANSFORM adversarial REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/studies/adversarial_\\1.c")
add_library(saltus_adversarial STATIC EXCLUDE_FROM_ALL ${adversarial})
saltus_flags(saltus_adversarial)
saltus_cold(saltus_adversarial)
target_compile_definitions(saltus_adversarial PRIVATE _POSIX_C_SOURCE=200809L)
target_include_directories(saltus_adversarial PUBLIC ${PROJECT_SOURCE_DIR}/studies)
target_link_libraries(saltus_adversarial PUBLIC saltus_inside)
saltus_test(failing_scenes SOURCES reference/test_failing_scenes.c LINK saltus_adversarial
            LABELS reference)
target_compile_definitions(
  test_failing_scenes PRIVATE SALTUS_FAILING="${CMAKE_CURRENT_SOURCE_DIR}/scenes/failing")
saltus_test(scenes_that_run SOURCES reference/test_scenes_that_run.c LABELS reference)
target_compile_definitions(
  test_scenes_that_run PRIVATE SALTUS_FAILING="${CMAKE_CURRENT_SOURCE_DIR}/scenes/failing")
saltus_test(curved_friction SOURCES reference/test_curved_friction.c LINK saltus_adversarial
            LABELS reference)
target_compile_definitions(
  test_curved_friction PRIVATE SALTUS_FAILING="${CMAKE_CURRENT_SOURCE_DIR}/scenes/failing")
saltus_test(adversarial SOURCES conformance/test_adversarial.c LINK saltus_adversarial
            LABELS conformance LONG)
saltus_test(adaptive_clocks SOURCES conformance/test_adaptive_clocks.c LABELS conformance)
saltus_test(adaptive_islands SOURCES conformance/test_adaptive_islands.c LABELS conformance)
saltus_test(adaptive_singular SOURCES reference/test_adaptive_singular.c LABELS reference)
saltus_test(adaptive_chains SOURCES conformance/test_adaptive_chains.c support/one_island.c LABELS conformance)
saltus_test(verify_random SOURCES reference/test_verify_random.c support/recorded.c LINK saltus_tolerance
            LABELS reference LONG)
