# The viewer of reports: bundled from viewer/ with node and npm when they are there, and part of the library. Without them
# `saltus report` says what is missing. SALTUS_VIEWER_SOURCE: the source to compile, empty without a viewer.
set(SALTUS_VIEWER_SOURCE "")
if(SALTUS_WITH_VIEWER)
  find_program(SALTUS_NODE node)
  find_program(SALTUS_NPM npm)
  set(viewer ${PROJECT_SOURCE_DIR}/viewer)
  set(installed FALSE)
  if(SALTUS_NODE AND SALTUS_NPM)
    if(EXISTS ${viewer}/node_modules/esbuild AND NOT ${viewer}/package-lock.json IS_NEWER_THAN
                                                 ${viewer}/node_modules/.package-lock.json)
      set(installed TRUE)
    else()
      message(STATUS "Packages of the viewer, by npm ci")
      execute_process(
        COMMAND ${SALTUS_NPM} ci --omit=dev --no-audit --no-fund --loglevel=error
        WORKING_DIRECTORY ${viewer}
        RESULT_VARIABLE failed
        OUTPUT_QUIET)
      if(failed)
        message(STATUS "npm ci failed: built without the viewer, saltus report will say so")
      else()
        file(TOUCH ${viewer}/node_modules/.package-lock.json)
        set(installed TRUE)
      endif()
    endif()
  else()
    message(STATUS "node and npm not found: built without the viewer, saltus report will say so")
  endif()
  if(installed)
    set(SALTUS_VIEWER_SOURCE ${PROJECT_BINARY_DIR}/viewer/viewer_page.c)
  endif()
endif()
