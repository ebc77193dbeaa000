# The viewer of reports: part of the library where node and npm are found. Its packages are fetched and it is bundled when the
# library is built, not when it is configured; where that fails the library is built without it and `saltus report` reports so.
# SALTUS_VIEWER_SOURCE: the source to compile, empty without a viewer.
set(SALTUS_VIEWER_SOURCE "")
if(SALTUS_WITH_VIEWER)
  find_program(SALTUS_NODE node)
  find_program(SALTUS_NPM npm)
  if(SALTUS_NODE AND SALTUS_NPM)
    set(SALTUS_VIEWER_SOURCE ${PROJECT_BINARY_DIR}/viewer/viewer_page.c)
  else()
    message(STATUS "node and npm not found: built without the viewer, saltus report will say so")
  endif()
endif()
