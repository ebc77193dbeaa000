# Installs into an empty folder, moves it, and builds the example through CMake and pkg-config.
set(work ${BUILD}/install-test)
file(REMOVE_RECURSE ${work})
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed (${code}): ${ARGN}\n${out}\n${err}")
  endif()
endfunction()
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/first)
file(RENAME ${work}/first ${work}/moved)

file(WRITE ${work}/user/CMakeLists.txt
     "cmake_minimum_required(VERSION 3.21)\nproject(user C)\nfind_package(saltus 0.9 REQUIRED)\n"
     "add_executable(user ${SOURCE}/examples/bouncing_ball.c)\n"
     "target_link_libraries(user PRIVATE saltus::saltus)\n")
must(${CMAKE_COMMAND} -S ${work}/user -B ${work}/user/build -DCMAKE_PREFIX_PATH=${work}/moved
     -DCMAKE_C_COMPILER=${COMPILER})
must(${CMAKE_COMMAND} --build ${work}/user/build)
must(${work}/user/build/user)

file(GLOB_RECURSE pc ${work}/moved/saltus.pc)
get_filename_component(pc ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc})
execute_process(COMMAND pkg-config --cflags --libs saltus OUTPUT_VARIABLE flags
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT flags MATCHES "moved")
  message(FATAL_ERROR "saltus.pc does not follow the moved tree: ${flags}")
endif()
separate_arguments(flags)
must(${COMPILER} ${SOURCE}/examples/bouncing_ball.c ${flags} -Wl,-rpath,${pc}/.. -o ${work}/by-pkg)
must(${work}/by-pkg)
