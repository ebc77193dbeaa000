# saltus_embed_scenes(out name...): writes a source with the text of scenes/NAME.yaml, so that studies
# and tests run the same scenes as users, from any folder. Declared in studies/potra_run.h.
function(saltus_embed_scenes out)
  set(texts "")
  set(table "")
  foreach(name ${ARGN})
    set(path ${PROJECT_SOURCE_DIR}/scenes/${name}.yaml)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(MAKE_C_IDENTIFIER ${name} id)
    string(APPEND texts "static const char text_${id}[] = {${bytes}0};\n")
    string(APPEND table "    {\"${name}\", text_${id}},\n")
  endforeach()
  file(
    CONFIGURE
    OUTPUT ${out}
    CONTENT
      "/* Written by cmake/SaltusScenes.cmake. */
#include \"potra_run.h\"

#include <string.h>

@texts@
static const struct {
  const char* name;
  const char* text;
} scenes[] = {
@table@};

const char* potra_scene_text(const char* name) {
  for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
    if (strcmp(scenes[i].name, name) == 0) {
      return scenes[i].text;
    }
  }
  return NULL;
}
"
    @ONLY)
endfunction()
