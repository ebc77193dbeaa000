/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reduce.c - saltus reduce: a flexible body from finite-element matrices.
 */
#include "check_bodies.h"
#include "cli.h"
#include "files.h"
#include "saltus/saltus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 32, WORD = 512 };

typedef struct names {
  char text[4][WORD];
  char frame[FRAMES][2][64];
} names;

/* FILE, or NAME with an ending. */
static const char* path_of(const cli_args* args, const char* option, const char* ending,
                           char* room) {
  const char* given = cli_value(args, option);
  snprintf(room, WORD, "%s%s", given != NULL ? given : args->positional[0],
           given != NULL ? "" : ending);
  return room;
}

/* NAME=SET of --interface and --contact. */
static int read_frames(const cli_args* args, names* n, saltus_reduce_frame* out, int* count) {
  for (int i = 0; i < args->given_count; i++) {
    const char* option = args->given[i].option->name;
    const bool contact = strcmp(option, "--contact") == 0;
    if (!contact && strcmp(option, "--interface") != 0) {
      continue;
    }
    const char* value = args->given[i].value;
    const char* equals = strchr(value, '=');
    if (equals == NULL || equals == value || equals - value > 63 || strlen(equals + 1) > 63 ||
        *count == FRAMES) {
      cli_error("reduce: %s is \"%.80s\", must be NAME=SET, at most %d of them", option, value,
                FRAMES);
      return CLI_USAGE;
    }
    snprintf(n->frame[*count][0], 64, "%.*s", (int)(equals - value), value);
    snprintf(n->frame[*count][1], 64, "%s", equals + 1);
    out[*count] = (saltus_reduce_frame){n->frame[*count][0], n->frame[*count][1], contact};
    ++*count;
  }
  return CLI_DONE;
}

static void print(const saltus_flexible* b, int fixed, double below) {
  check_flexible_print(b);
  double kept[3] = {0.0};
  for (int i = 0; i < fixed && i < b->modes; i++) {
    for (int k = 0; k < 3; k++) {
      kept[k] += b->effective[6 * i + k] / b->mass;
    }
  }
  if (fixed > 0) {
    printf("effective mass of the %d fixed-interface modes: %.4f, %.4f, %.4f of the mass along x, "
           "y, z\n",
           fixed, kept[0], kept[1], kept[2]);
    printf(
        "left out: %.4f, %.4f, %.4f, less what interfaces have; impacts along a direction without "
        "modes are rigid\n",
        1.0 - kept[0], 1.0 - kept[1], 1.0 - kept[2]);
  }
  for (int i = 0; i < b->frames && below > 0.0; i++) {
    if (!b->frame[i].turns) {
      const double* r = b->residual + 9 * (ptrdiff_t)i;
      printf("residual flexibility of %s: %.6g, %.6g, %.6g m/N along x, y, z\n", b->frame[i].name,
             r[0], r[4], r[8]);
    }
  }
  if (b->stiffen == NULL && b->modes > 0) {
    printf("no geometric stiffness: valid below %.4g rad/s, 0.1 of the first frequency\n",
           0.1 * b->omega[0]);
  }
}

int cli_reduce(const cli_args* args) {
  static names n;
  saltus_reduce_frame frames[FRAMES];
  saltus_reduce_def def = {.axis = {0.0, 0.0, 1.0}, .frames = frames, .log = cli_log_of(args)};
  double modes = 10.0, scale = 1.0;
  def.stiffness = path_of(args, "--stiffness", ".sti", n.text[0]);
  def.mass = path_of(args, "--mass", ".mas", n.text[1]);
  def.dof = path_of(args, "--dof", ".dof", n.text[2]);
  def.mesh = path_of(args, "--mesh", ".inp", n.text[3]);
  def.stiffening = cli_value(args, "--stiffening");
  def.still = cli_value(args, "--still");
  const char* axis = cli_value(args, "--axis");
  const char* out = cli_value(args, "-o");
  int code = cli_number(args, "--modes", 0.0, 1000.0, &modes);
  code = code == CLI_DONE ? cli_number(args, "--scale", 1e-9, 1e9, &scale) : code;
  code = code == CLI_DONE ? cli_number(args, "--damping", 0.0, 10.0, &def.damping) : code;
  code = code == CLI_DONE ? cli_number(args, "--below", 0.0, 1e12, &def.below) : code;
  code = code == CLI_DONE ? cli_number(args, "--speed", 1e-9, 1e9, &def.speed) : code;
  code = code == CLI_DONE ? read_frames(args, &n, frames, &def.frame_count) : code;
  if (code != CLI_DONE) {
    return code;
  }
  if (axis != NULL && (sscanf(axis, "%lf,%lf,%lf", &def.axis[0], &def.axis[1], &def.axis[2]) != 3 ||
                       !(fabs(def.axis[0]) + fabs(def.axis[1]) + fabs(def.axis[2]) > 0.0))) {
    cli_error("reduce: --axis is \"%.60s\", must be X,Y,Z", axis);
    return CLI_USAGE;
  }
  if ((def.stiffening != NULL) != (def.speed > 0.0) ||
      (def.still != NULL && def.stiffening == NULL)) {
    cli_error("reduce: --stiffening needs --speed; --speed and --still need --stiffening");
    return CLI_USAGE;
  }
  if (modes != floor(modes)) {
    cli_error("reduce: --modes is %g, must be a whole number", modes);
    return CLI_USAGE;
  }
  def.modes = (int)modes;
  def.scale = scale;
  saltus_flexible* body;
  saltus_status status = saltus_flexible_reduce(&def, &body);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  print(body, def.modes, def.below);
  status = out != NULL ? saltus_flexible_save(body, out, def.log) : SALTUS_OK;
  saltus_flexible_destroy(body);
  return status == SALTUS_OK ? CLI_DONE : cli_exit_code(status);
}
