find_program(SALTUS_LLD ld.lld)
include(CheckPIESupported)
check_pie_supported(OUTPUT_VARIABLE pie_report LANGUAGES C)
# Hardening as in Debian: optimised builds for ELF platforms without sanitizers, which bring their own checks.
set(SALTUS_HARDENED FALSE)
if(UNIX AND NOT APPLE AND NOT EMSCRIPTEN AND NOT SALTUS_SANITIZE AND NOT SALTUS_FUZZ)
  set(SALTUS_HARDENED TRUE)
endif()
# Of installed targets the run path is final at the first link. CMake otherwise pads it with a separator to
# rewrite it at installation, and an empty element is the current folder.
set(SALTUS_FINAL_RUN_PATH INSTALL_RPATH_USE_LINK_PATH TRUE BUILD_WITH_INSTALL_RPATH TRUE)

# Flags for our own targets; nothing here reaches a project that uses the library.
function(saltus_flags target)
  target_compile_features(${target} PRIVATE c_std_17)
  set_target_properties(
    ${target} PROPERTIES C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    # -ffp-contract=off: the same bits with and without fused multiply-add.
    # -fno-builtin for nothing else: constant folding of libm calls is avoided by not writing them.
    target_compile_options(
      ${target}
      PRIVATE -ffp-contract=off
              -Wall
              -Wextra
              -Wpedantic
              -Wshadow
              -Wconversion
              -Wstrict-prototypes
              -Wmissing-prototypes
              -Wvla
              $<$<BOOL:${SALTUS_WERROR}>:-Werror>)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
      # loops over the few numbers of a small system stay loops instead of calls of memset and memcpy
      target_compile_options(${target} PRIVATE -fno-tree-loop-distribute-patterns)
    endif()
    if(SALTUS_SANITIZE)
      target_compile_options(${target} PRIVATE -fsanitize=${SALTUS_SANITIZE}
                                               -fno-sanitize-recover=all -fno-omit-frame-pointer)
      if(SALTUS_SANITIZE_EXCEPT)
        target_compile_options(${target} PRIVATE -fno-sanitize=${SALTUS_SANITIZE_EXCEPT})
      endif()
      target_link_options(${target} PUBLIC -fsanitize=${SALTUS_SANITIZE})
    endif()
    if(SALTUS_HARDENED)
      target_compile_options(
        ${target} PRIVATE -fstack-protector-strong -Werror=format-security
                          $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>)
      target_link_options(${target} PRIVATE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
    endif()
    if(EMSCRIPTEN) # programs that node and browsers run, in one file
      target_link_options(${target} PRIVATE -sSINGLE_FILE=1 -sALLOW_MEMORY_GROWTH=1
                          -sEXIT_RUNTIME=1)
    endif()
    if(SALTUS_FUZZ) # coverage for libFuzzer, which only the harnesses link
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  endif()
endfunction()

# saltus_cold(target): code that takes little of the run time but much of the build: tests, program, studies. The library
# keeps the optimisation of the build type. Compilation at -O1 takes half the time of -O3 (gcc), at -O0 with sanitizers
# a fifth of that at -O1 (clang).
function(saltus_cold target)
  if(SALTUS_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(SALTUS_LLD AND NOT EMSCRIPTEN) # links in half the time of the default linker
    target_link_options(${target} PRIVATE -fuse-ld=lld)
  endif()
endfunction()

# Layers that take little of the run time: with sanitizers they are compiled as cold code is.
set(SALTUS_COLD_LAYERS compare figure io report run scene sweep urdf)

# saltus_layer(name SOURCES ... USES ...): one object library per folder of src/. A layer sees its
# own headers, the public ones and those of the layers in USES; any other include does not compile,
# because each layer's headers are reached through a folder that holds a link to that layer only.
function(saltus_layer name)
  cmake_parse_arguments(L "" "" "SOURCES;USES;LINK" ${ARGN})
  list(TRANSFORM L_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/${name}/)
  add_library(saltus_${name} OBJECT ${L_SOURCES})
  saltus_flags(saltus_${name})
  if(SALTUS_SANITIZE AND name IN_LIST SALTUS_COLD_LAYERS)
    target_compile_options(saltus_${name} PRIVATE -O0)
  endif()
  # libm's long double, clock_gettime and the like: POSIX 2008 names, no GNU ones
  target_compile_definitions(saltus_${name} PRIVATE _POSIX_C_SOURCE=200809L
                                                    ${SALTUS_PART_DEFINITIONS})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/layers/${name})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${PROJECT_BINARY_DIR}/layers/${name}/${name}
       SYMBOLIC)
  target_include_directories(saltus_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  foreach(seen IN ITEMS ${name} ${L_USES})
    target_include_directories(saltus_${name} PRIVATE ${PROJECT_BINARY_DIR}/layers/${seen})
  endforeach()
  if(L_LINK)
    target_link_libraries(saltus_${name} PRIVATE ${L_LINK})
  endif()
  set_property(GLOBAL APPEND PROPERTY SALTUS_LAYERS ${name})
endfunction()

# saltus_lacks_parts(answer SOURCES ... LINK ...): whether these sources read scenes or reduce global
# problems and the library does not. Sources that query these parts by saltus_has are included.
function(saltus_lacks_parts answer)
  cmake_parse_arguments(T "" "" "SOURCES;LINK" ${ARGN})
  set(needs "")
  if(T_LINK MATCHES "saltus_tolerance|saltus_adversarial" OR SALTUS_SCENES_SOURCE IN_LIST T_SOURCES)
    list(APPEND needs YAML)
  endif()
  list(REMOVE_ITEM T_SOURCES ${SALTUS_SCENES_SOURCE})
  foreach(source IN LISTS T_SOURCES)
    get_filename_component(path ${source} ABSOLUTE)
    file(READ ${path} text)
    if(text MATCHES "saltus_has\\(\"(yaml|cxsparse)")
      continue()
    endif()
    if(text MATCHES "saltus_test_scene|saltus_scene_|saltus_run_create|saltus_sweep_create|saltus_fit_create|saltus_optimize_create|SALTUS_FAILING")
      list(APPEND needs YAML)
    endif()
    if(text MATCHES "saltus_global_friction_reduce")
      list(APPEND needs CXSPARSE)
    endif()
  endforeach()
  set(${answer} FALSE PARENT_SCOPE)
  foreach(part IN LISTS needs)
    if(NOT SALTUS_WITH_${part})
      set(${answer} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# saltus_test(name SOURCES ... [LINK ...] [LABELS ...] [LONG]): a cmocka program registered with
# CTest. With LONG it is registered once more as name_long, with SALTUS_LONG in its environment: then
# saltus_test_long() is true and its loops are the big ones. Tests with the label long belong to
# make test-long; the presets of ctest leave them out. A program whose sources need a part that the
# library is built without is neither built nor run.
function(saltus_test name)
  cmake_parse_arguments(T "LONG" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(test_${name} ${T_SOURCES})
  saltus_flags(test_${name})
  saltus_cold(test_${name})
  target_compile_definitions(test_${name} PRIVATE _POSIX_C_SOURCE=200809L)
  # tests may look inside the library: they link its objects, not its exports
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src
                                                  ${PROJECT_SOURCE_DIR}/tests/support)
  target_link_libraries(test_${name} PRIVATE saltus_inside saltus_test_support PkgConfig::CMOCKA
                                             ${T_LINK})
  saltus_lacks_parts(lacks SOURCES ${T_SOURCES} LINK ${T_LINK})
  if(lacks)
    set_target_properties(test_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    return()
  endif()
  set(environment "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0")
  # a test takes 30 s of processor time at most: eight times slower and three others beside it
  if("unit" IN_LIST T_LABELS)
    add_dependencies(saltus_unit test_${name})
  endif()
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 1000 LABELS "${T_LABELS}" ENVIRONMENT
                                                                "${environment}")
  if(T_LONG)
    add_test(NAME ${name}_long COMMAND test_${name})
    set_tests_properties(${name}_long PROPERTIES TIMEOUT 7200 LABELS long ENVIRONMENT
                                                 "${environment};SALTUS_LONG=1")
  endif()
endfunction()
