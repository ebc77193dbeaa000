/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Robots in MJCF against MuJoCo 3.14: mass matrix, forces with springs, dampers and drives, positions and velocities of
 * bodies, at random configurations within the limits. tests/mjcf/reference.mjs made the numbers: five robots of our own,
 * and robots of the MuJoCo Menagerie, read from the folder SALTUS_MENAGERIE where it is present.
 */
#include "saltus_test.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOFS = 64, BODIES = 80, NAME = 96 };

typedef struct robot {
  char file[256];
  int joints, nv, bodies;
  double v[DOFS], mass[DOFS], force[DOFS]; /* in the order of the scene: trees on the world first */
  double weight[DOFS];
  char body[BODIES][NAME];
  double place[BODIES][6];
  char* qpos;
} robot;

static double next_number(FILE* file) {
  double x;
  assert_int_equal(fscanf(file, "%lf", &x), 1);
  return x;
}

static bool read_robot(FILE* file, robot* r) {
  int nq, free_joint[DOFS], dofs[DOFS], at[DOFS];
  double numbers[DOFS][3];
  if (fscanf(file, " robot %255s joints %d qpos %d", r->file, &r->joints, &nq) != 3) {
    return false;
  }
  r->qpos = calloc((size_t)nq + 1, 32);
  assert_non_null(r->qpos);
  for (int i = 0, used = 0; i < nq; i++) {
    char word[32];
    assert_int_equal(fscanf(file, "%31s", word), 1);
    used += snprintf(r->qpos + used, 32, "%s ", word);
  }
  r->nv = 0;
  for (int j = 0; j < r->joints; j++) {
    assert_int_equal(fscanf(file, " joint %*s %d %d", &free_joint[j], &dofs[j]), 2);
    at[j] = r->nv;
    r->nv += dofs[j];
    assert_true(r->nv <= DOFS);
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < dofs[j]; i++) {
        numbers[at[j] + i][k] = next_number(file);
      }
    }
  }
  for (int pass = 0, n = 0; pass < 2; pass++) {
    for (int j = 0; j < r->joints; j++) {
      for (int i = 0; i < dofs[j] && free_joint[j] == pass; i++, n++) {
        r->weight[n] = sin(1.0 + at[j] + i);
        r->v[n] = numbers[at[j] + i][0];
        r->mass[n] = numbers[at[j] + i][1];
        r->force[n] = numbers[at[j] + i][2];
      }
    }
  }
  assert_int_equal(fscanf(file, " bodies %d", &r->bodies), 1);
  assert_true(r->bodies <= BODIES);
  for (int b = 0; b < r->bodies; b++) {
    assert_int_equal(fscanf(file, " body %95s", r->body[b]), 1);
    for (int k = 0; k < 6; k++) {
      r->place[b][k] = next_number(file);
    }
  }
  return true;
}

/* The scene of a robot at the configuration, with outputs for the frames of its bodies. */
static saltus_scene* open_robot(const char* folder, const robot* r) {
  char path[700], text[8000], name[NAME];
  const char* slash = strrchr(r->file, '/');
  snprintf(path, sizeof path, "%s/%.*s/probe.xml", folder,
           slash != NULL ? (int)(slash - r->file) : 1, slash != NULL ? r->file : ".");
  snprintf(text, sizeof text,
           "<mujoco><include file=\"%s\"/><keyframe><key name=\"probe of saltus\" "
           "qpos=\"%s\"/></keyframe></mujoco>",
           slash != NULL ? slash + 1 : r->file, r->qpos);
  saltus_kept_message message;
  const saltus_urdf_def def = {.path = path,
                               .text = text,
                               .keyframe = "probe of saltus",
                               .shapeless = true,
                               .log = saltus_log_keep(&message)};
  saltus_urdf* urdf;
  if (saltus_urdf_create(&def, &urdf) != SALTUS_OK) {
    fail_msg("%s: %s", r->file, message.text);
  }
  const char* scene_text = saltus_urdf_get_view(urdf)->scene;
  const size_t room = strlen(scene_text) + (size_t)r->bodies * 1200 + 100;
  char* whole = malloc(room);
  assert_non_null(whole);
  size_t used = (size_t)snprintf(whole, room, "%soutputs:\n", scene_text);
  for (int b = 0; b < r->bodies; b++) {
    snprintf(name, sizeof name, "%.40s", r->body[b]);
    for (char* c = name; *c != '\0'; c++) {
      *c = strchr("-./ ", *c) != NULL ? '_' : *c;
    }
    for (int k = 0; k < 6; k++) {
      used += (size_t)snprintf(whole + used, room - used,
                               "  o%d_%d: \"%c_in%s(world_frame, %s_frame)\"\n", b, k, "xyz"[k % 3],
                               k < 3 ? "" : "'", name);
    }
  }
  const saltus_scene_def scene_def = {.text = whole, .log = saltus_log_keep(&message)};
  saltus_scene* scene;
  if (saltus_scene_create(&scene_def, &scene) != SALTUS_OK) {
    fail_msg("%s: %s", r->file, message.text);
  }
  free(whole);
  saltus_urdf_destroy(urdf);
  return scene;
}

static double largest_of(const double* x, int n) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

/* Largest difference relative to the largest number. */
static double apart(const double* x, const double* y, int n) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i] - y[i]));
  }
  return most / fmax(largest_of(y, n), 1e-3);
}

static void compare(const char* folder, const robot* r) {
  saltus_scene* scene = open_robot(folder, r);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_system* s = view->system;
  if (s->dims.nv != r->nv) {
    fail_msg("%s: %d velocities, in MuJoCo %d", r->file, s->dims.nv, r->nv);
  }
  void* scratch = calloc(s->dims.scratch + 64, 1);
  double *outputs = calloc((size_t)view->observables->output_count, sizeof *outputs),
         y[DOFS] = {0.0};
  assert_true(scratch != NULL && outputs != NULL);
  const saltus_point at = {.q = view->q0, .v = r->v, .scratch = scratch};
  double* M = calloc((size_t)r->nv * (size_t)r->nv, sizeof *M);
  assert_non_null(M);
  s->ops->mass(s->self, &at, M);
  for (int i = 0; i < r->nv; i++) {
    for (int k = 0; k < r->nv; k++) {
      y[i] += M[i * r->nv + k] * r->weight[k];
    }
  }
  free(M);
  const double mass = apart(y, r->mass, r->nv);
  s->ops->force(s->self, &at, y);
  const double force = apart(y, r->force, r->nv);
  assert_int_equal(saltus_scene_outputs(scene, 0.0, view->q0, r->v, NULL, outputs), SALTUS_OK);
  double place = 0.0, speed = 0.0;
  for (int b = 0; b < r->bodies; b++) {
    place = fmax(place, apart(outputs + (ptrdiff_t)6 * b, r->place[b], 3));
    for (int k = 3; k < 6; k++) {
      speed = fmax(speed, fabs(outputs[6 * b + k] - r->place[b][k]));
    }
  }
  if (getenv("SALTUS_VERBOSE") != NULL) {
    print_message("%s: mass %.1e force %.1e place %.1e speed %.1e\n", r->file, mass, force, place,
                  speed);
  }
  if (!(mass < 1e-10) || !(force < 1e-10) || !(place < 1e-10) || !(speed < 1e-10)) {
    fail_msg("%s: mass %g, force %g, positions %g, velocities %g", r->file, mass, force, place,
             speed);
  }
  free(scratch);
  free(outputs);
  saltus_scene_destroy(scene);
}

static int compare_all(const char* folder, const char* numbers) {
  char line[512];
  FILE* file = fopen(numbers, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file)); /* how they were made */
  robot* r = calloc(1, sizeof *r);
  assert_non_null(r);
  int count = 0;
  for (; read_robot(file, r); count++) {
    compare(folder, r);
    free(r->qpos);
  }
  assert_true(feof(file) != 0);
  free(r);
  (void)fclose(file);
  return count;
}

static void our_robots_equal_mujoco(void** state) {
  (void)state;
  assert_int_equal(compare_all(SALTUS_MJCF, SALTUS_MJCF "/reference.txt"), 5);
}

static void robots_of_the_menagerie_equal_mujoco(void** state) {
  (void)state;
  const char* folder = getenv("SALTUS_MENAGERIE");
  if (folder == NULL) {
    print_message(
        "SKIPPED: SALTUS_MENAGERIE, a folder of google-deepmind/mujoco_menagerie, is not set\n");
    skip();
  }
  assert_true(compare_all(folder, SALTUS_MJCF "/menagerie.txt") >= 20);
}

/* A conversion, or one message that begins with a file and a line. Counts [2]: read, refused. */
static void convert_file(const char* path, int count[2]) {
  saltus_kept_message message;
  const saltus_urdf_def def = {.path = path, .shapeless = true, .log = saltus_log_keep(&message)};
  saltus_urdf* urdf;
  const saltus_status status = saltus_urdf_create(&def, &urdf);
  const char* line = strstr(message.text, ".xml:");
  if (status != SALTUS_OK &&
      (status != SALTUS_ERR_INPUT || line == NULL || !isdigit((unsigned char)line[5]))) {
    fail_msg("%s: %s", path, message.text);
  }
  count[status == SALTUS_OK ? 0 : 1]++;
  saltus_urdf_destroy(urdf);
}

static void convert_folder(const char* folder, int count[2]) {
  char path[1024];
  DIR* entries = opendir(folder);
  assert_non_null(entries);
  for (const struct dirent* e = readdir(entries); e != NULL; e = readdir(entries)) {
    const char* dot = strrchr(e->d_name, '.');
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    DIR* inside = e->d_name[0] != '.' ? opendir(path) : NULL;
    if (inside != NULL) {
      closedir(inside);
      convert_folder(path, count);
    } else if (dot != NULL && dot != e->d_name && strcmp(dot, ".xml") == 0) {
      convert_file(path, count);
    }
  }
  closedir(entries);
}

static void files_of_the_menagerie_are_read_or_refused_with_their_line(void** state) {
  (void)state;
  const char* folder = getenv("SALTUS_MENAGERIE");
  int count[2] = {0};
  if (folder == NULL) {
    skip();
  }
  convert_folder(folder, count);
  print_message("%d files are read, %d refused\n", count[0], count[1]);
  assert_true(count[0] >= 150);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(our_robots_equal_mujoco),
      cmocka_unit_test(robots_of_the_menagerie_equal_mujoco),
      cmocka_unit_test(files_of_the_menagerie_are_read_or_refused_with_their_line)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
