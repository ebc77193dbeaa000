/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * convert.c - saltus convert: a robot in URDF or MJCF becomes a scene.
 */
#include "cli.h"
#include "files.h"
#include "json.h"
#include "output.h"
#include "saltus/urdf.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int read_base(const cli_args* args, saltus_urdf_base* base) {
  static const char* const words[] = {"fixed", "free"};
  const char* given = cli_value(args, "--base");
  if (given == NULL) {
    return CLI_DONE;
  }
  for (int i = 0; i < 2; i++) {
    if (strcmp(given, words[i]) == 0) {
      *base = i == 0 ? SALTUS_URDF_BASE_FIXED : SALTUS_URDF_BASE_FREE;
      return CLI_DONE;
    }
  }
  char near[64];
  cli_error("convert: --base is \"%s\", must be fixed or free%s", given,
            cli_near(given, words, 2, near, sizeof near));
  return CLI_USAGE;
}

/* Floor, friction and coordinates. */
static int read_world(const cli_args* args, saltus_urdf_def* def) {
  static const char* const words[] = {"bodies", "joints"};
  const char* given = cli_value(args, "--coordinates");
  char near[64];
  def->floor = cli_has(args, "--ground");
  def->by_joints = given == NULL || strcmp(given, words[1]) == 0;
  if (!def->by_joints && strcmp(given, words[0]) != 0) {
    cli_error("convert: --coordinates is \"%s\", must be bodies or joints%s", given,
              cli_near(given, words, 2, near, sizeof near));
    return CLI_USAGE;
  }
  double parts = 0.0;
  int code = cli_real(args, "--ground", &def->height);
  code = code == CLI_DONE ? cli_number(args, "--parts", 1.0, 64.0, &parts) : code;
  if (code == CLI_DONE && parts != floor(parts)) {
    cli_error("convert: --parts is %g, must be a whole number", parts);
    return CLI_USAGE;
  }
  def->parts = (int)parts;
  return code == CLI_DONE ? cli_number(args, "--friction", 0.0, 1e300, &def->friction) : code;
}

static int write_scene(const char* path, const char* text) {
  saltusi_replacement out;
  int code = cli_file_open(&out, path);
  if (code != CLI_DONE) {
    return code;
  }
  return cli_file_close(&out, fputs(text, out.file) >= 0);
}

static void print_json(const char* path, const char* scene, const saltus_urdf_view* view) {
  json j = {.file = stdout};
  json_open(&j, NULL, '{');
  json_text(&j, "file", path);
  if (scene != NULL) {
    json_text(&j, "scene", scene);
  } else {
    json_text(&j, "text", view->scene);
  }
  json_integer(&j, "links", view->links);
  json_integer(&j, "joints", view->joints);
  json_integer(&j, "bodies", view->bodies);
  json_open(&j, "notes", '[');
  for (int i = 0; i < view->note_count; i++) {
    json_open(&j, NULL, '{');
    json_integer(&j, "line", view->notes[i].line);
    json_text(&j, "text", view->notes[i].text);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_close(&j, '}');
}

static void print_summary(const char* path, const char* scene, const saltus_urdf_view* view) {
  printf("%s: %d link%s and %d joint%s, %d bod%s in %s\n", path, view->links,
         cli_plural(view->links), view->joints, cli_plural(view->joints), view->bodies,
         view->bodies == 1 ? "y" : "ies", scene);
  if (view->note_count > 0) {
    printf("not translated, or chosen where the file gives no value:\n");
  }
  for (int i = 0; i < view->note_count; i++) {
    char line[600];
    printf("  %s:%d: %s\n", path, view->notes[i].line,
           cli_one_line(view->notes[i].text, line, sizeof line));
  }
}

int cli_convert(const cli_args* args) {
  const char* path = args->positional[0];
  const char* scene = cli_value(args, "-o");
  saltus_urdf_def def = {.path = path,
                         .merge = cli_has(args, "--merge"),
                         .shapeless = cli_has(args, "--no-shapes"),
                         .keyframe = cli_value(args, "--keyframe"),
                         .log = cli_log()};
  int code = read_base(args, &def.base);
  code = code == CLI_DONE ? read_world(args, &def) : code;
  if (code != CLI_DONE) {
    return code;
  }
  saltus_urdf* urdf;
  saltus_status status = saltus_urdf_create(&def, &urdf);
  if (status != SALTUS_OK) {
    return status == SALTUS_ERR_MEMORY ? CLI_FAILED : CLI_USAGE;
  }
  const saltus_urdf_view* view = saltus_urdf_get_view(urdf);
  if (scene != NULL) {
    code = write_scene(scene, view->scene);
  }
  if (code == CLI_DONE && cli_has(args, "--json")) {
    print_json(path, scene, view);
  } else if (code == CLI_DONE && scene != NULL) {
    print_summary(path, scene, view);
  } else if (code == CLI_DONE) {
    cli_output_exact(view->scene);
  }
  saltus_urdf_destroy(urdf);
  return code;
}
