/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fuzz_urdf.c - any bytes as a robot in URDF or MJCF: no crash, no undefined behaviour, no leak; a refusal says why exactly
 * once, with a line. What is converted is a text without bytes that steer a terminal, whatever names say.
 */
#include "saltus/saltus.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

typedef struct messages {
  int errors;
  bool placed; /* the last one begins with "robot:LINE: " */
} messages;

static void log_message(void* user, saltus_level level, const char* text) {
  messages* m = user;
  m->errors += level == SALTUS_LEVEL_ERROR;
  m->placed = strncmp(text, "robot:", 6) == 0 && isdigit((unsigned char)text[6]);
}

static void demand(int holds, const char* claim) {
  if (!holds) {
    fprintf(stderr, "fuzz_urdf: not so: %s\n", claim);
    abort();
  }
}

/* All numbers behind a key, wherever it stands; what is not used, at the end, may be anything. */
static void look_at_numbers(const char* scene, const char* key) {
  const char* stop = strstr(scene, "\n# What was not");
  demand(stop != NULL, "the scene ends with what was not taken over");
  for (const char* at = strstr(scene, key); at != NULL && at < stop; at = strstr(at, key)) {
    at += strlen(key);
    do {
      char* end;
      double value = strtod(at, &end);
      demand(end != at && isfinite(value), "numbers of the scene are finite");
      at = end + (end[0] == ',' && end[1] == ' ');
    } while (at[-1] == ' ' && at[0] != '\0' && strchr("-0123456789", at[0]) != NULL);
  }
}

/* What is converted is read back. A loop may not close, links may lie in each other, a mesh may not be there, and the
 * reader says so. */
static void read_back(const saltus_urdf_view* view, const char* robot) {
  saltus_kept_message message;
  const saltus_scene_def def = {.text = view->scene, .log = saltus_log_keep(&message)};
  saltus_scene* scene;
  saltus_status status = saltus_scene_create(&def, &scene);
  const bool overlap = strstr(message.text, " overlap by ") != NULL;
  const bool absent =
      strstr(message.text, "mesh ") != NULL && strstr(message.text, "cannot be opened") != NULL;
  if (status != SALTUS_OK && strstr(robot, "<constraint") == NULL &&
      strstr(robot, "<equality") == NULL && !overlap && !absent) {
    fprintf(stderr, "%s\n%s\n", message.text, view->scene);
    demand(0, "a robot without loops is a scene");
  }
  saltus_scene_destroy(scene);
}

static void look_at(const saltus_urdf_view* view) {
  demand(strncmp(view->scene, "# Made from robot\nsaltus: 1\n", 28) == 0, "the text is a scene");
  for (const char* c = view->scene; *c != '\0'; c++) {
    demand(*c == '\n' || !iscntrl((unsigned char)*c), "the scene has no control characters");
  }
  static const char* const keys[] = {
      "mass: ",    "inertia: [", "position: [", "point: [", "quaternion: [", "rpy: [",
      "limits: [", "damping: ",  "ratio: ",     "radius: ", "offset: "};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    look_at_numbers(view->scene, keys[i]);
  }
  demand(view->bodies > 0 && view->bodies <= view->links, "bodies are made of links");
  for (int i = 0; i < view->note_count; i++) {
    demand(view->notes[i].line > 0 && view->notes[i].text[0] != '\0', "a note has line and text");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = malloc(size + 1);
  if (text == NULL) {
    return 0;
  }
  memcpy(text, data, size);
  text[size] = '\0';
  for (int base = SALTUS_URDF_BASE_DEFAULT; base <= SALTUS_URDF_BASE_FREE; base++) {
    messages said = {0};
    const saltus_urdf_def def = {.text = text,
                                 .length = size,
                                 .base = (saltus_urdf_base)base,
                                 .merge = base == SALTUS_URDF_BASE_FREE,
                                 .log = {log_message, &said}};
    saltus_urdf* urdf;
    saltus_status status = saltus_urdf_create(&def, &urdf);
    if (status == SALTUS_OK) {
      demand(said.errors == 0, "an accepted robot has no errors");
      look_at(saltus_urdf_get_view(urdf));
      if (saltus_has("yaml")) {
        read_back(saltus_urdf_get_view(urdf), text);
      }
    } else {
      demand(status == SALTUS_ERR_INPUT, "bytes are refused as input");
      demand(said.errors == 1 && said.placed, "a refusal has one message with its line");
      demand(urdf == NULL, "a refusal leaves nothing");
    }
    saltus_urdf_destroy(urdf);
  }
  free(text);
  return 0;
}
