# cmake -DNODE= -DNPM= -DVIEWER= -DOUT= -DNONE= -P BundleViewer.cmake: writes OUT/viewer_page.c. Packages come from npm, as the
# lock file names them with their hashes, without scripts of their own; without them it is a copy of NONE.
set(installed ${VIEWER}/node_modules/.package-lock.json)
if(NOT EXISTS ${VIEWER}/node_modules/esbuild OR NOT EXISTS ${installed}
   OR ${VIEWER}/package-lock.json IS_NEWER_THAN ${installed})
  execute_process(
    COMMAND ${NPM} ci --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error
    WORKING_DIRECTORY ${VIEWER}
    RESULT_VARIABLE failed
    OUTPUT_QUIET)
  if(failed)
    message(WARNING "npm ci failed: built without the viewer, saltus report will say so")
    file(MAKE_DIRECTORY ${OUT})
    configure_file(${NONE} ${OUT}/viewer_page.c COPYONLY)
    return()
  endif()
  file(TOUCH ${installed})
endif()
execute_process(COMMAND ${NODE} ${VIEWER}/build.mjs ${OUT} COMMAND_ERROR_IS_FATAL ANY)
