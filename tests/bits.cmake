# Fingerprints of runs, to compare builds with each other: at -O0 and -O2, native and WebAssembly.
add_executable(saltus_bits EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/conformance/bits.c
                           ${PROJECT_SOURCE_DIR}/bench/pile.c ${PROJECT_SOURCE_DIR}/bench/packing.c)
saltus_flags(saltus_bits)
target_compile_definitions(saltus_bits PRIVATE _POSIX_C_SOURCE=200809L)
target_include_directories(saltus_bits PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(saltus_bits PRIVATE saltus_inside)
