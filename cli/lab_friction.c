/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lab_friction.c - saltus lab friction: the force of a friction law against slip and spin, as tables and a figure.
 */
#include "cli.h"
#include "figure/figure.h"
#include "json.h"
#include "lab.h"
#include "model.h"
#include "saltus/system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SPEEDS = 13, TURNS = 7, RATIOS = 11, CURVE = 241 };

static const double speeds[SPEEDS] = {0.0, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.2,
                                      0.3, 0.5,  1.0,  2.0,  5.0,  10.0};
static const double ratios[RATIOS] = {0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.5, 2.0, 5.0, INFINITY};
static const double degree = 0.017453292519943295;

typedef struct subject {
  const saltus_contact_law* law;
  double N; /* N */
} subject;

/* Force along the k-th tangent, and its size, of slip s in the direction `angle`, without a sign. */
static void at_slip(const subject* of, double s, double angle, double F[2]) {
  const saltus_sliding at = {
      .normal = of->N, .tangents = of->law->tangents, .slip = {s * cos(angle), s * sin(angle)}};
  double M = 0.0;
  saltus_friction_slide(of->law->friction, of->law->mu, &at, F, &M);
  for (int k = 0; k < 2; k++) { /* cos of a right angle is not quite zero */
    F[k] = fabs(F[k]) < 1e-15 * of->N ? 0.0 : F[k];
  }
}

static double along(const subject* of, double s) {
  double F[2];
  at_slip(of, s, 0.0, F);
  return s > 0.0 ? -F[0] : of->law->mu * of->N;
}

/* Force and moment at a ratio d = v / (a w), for a large speed of one of them. */
static void at_ratio(const subject* of, double d, double* force, double* moment) {
  const double a = of->law->friction->radius;
  const saltus_sliding at = {.normal = of->N,
                             .tangents = of->law->tangents,
                             .slip = {isinf(d) ? 1.0 : d * a, 0.0},
                             .spin = isinf(d) ? 0.0 : 1.0};
  double F[2];
  saltus_friction_law dry = *of->law->friction;
  dry.viscous = 0.0;
  dry.curve = SALTUS_CURVE_CONSTANT;
  saltus_friction_slide(&dry, of->law->mu, &at, F, moment);
  *force = fabs(F[0]);
  *moment = fabs(*moment);
}

static bool has_patch(const subject* of) {
  return of->law->friction != NULL && of->law->friction->patch != SALTUS_PATCH_NONE;
}

static bool is_elliptic(const subject* of) {
  const saltus_friction_law* f = of->law->friction;
  return f != NULL && of->law->tangents > 1 && (f->across > 0.0 || f->sliding[0] > 0.0);
}

static void print_directions(const subject* of) {
  printf("\n%-20s %-14s %-14s %s\n", "slip towards [deg]", "F_1 [N]", "F_2 [N]",
         "force from the line of slip [deg]");
  for (int k = 0; k < TURNS; k++) {
    double F[2], angle = 15.0 * k * degree;
    at_slip(of, 1.0, angle, F);
    const double turned = remainder(atan2(-F[1], -F[0]) - angle, 360.0 * degree) / degree;
    printf("%-20g %-14.10g %-14.10g %.6f\n", 15.0 * k, F[0] == 0.0 ? 0.0 : F[0],
           F[1] == 0.0 ? 0.0 : F[1], fabs(turned) < 5e-7 ? 0.0 : turned);
  }
}

static void print_patch(const subject* of) {
  printf("\n%-20s %-16s %s\n", "slip / (radius spin)", "force [N]", "moment [N m]");
  for (int k = 0; k < RATIOS; k++) {
    double force = 0.0, moment = 0.0;
    at_ratio(of, ratios[k], &force, &moment);
    printf("%-20g %-16.12g %.12g\n", ratios[k], force, moment);
  }
}

static void print_all(const subject* of) {
  const saltus_contact_law* law = of->law;
  const saltus_friction_law* f = law->friction;
  printf("%s: sticks up to %g times the normal force of %g N\n",
         law->name != NULL ? law->name : "contact", law->mu, of->N);
  if (f != NULL && f->rolling > 0.0) {
    printf("rolling: up to %.12g N m\n", f->rolling * of->N);
  }
  if (f != NULL && f->drilling > 0.0) {
    printf("drilling: up to %.12g N m\n", f->drilling * of->N);
  }
  if (f != NULL && f->adhesion > 0.0) {
    printf("adhesion: pulls up to %.12g N%s\n", f->adhesion, f->rebinds ? ", binds again" : "");
  }
  printf("\n%-20s %-16s %s\n", "slip [m/s]", "force [N]", "over the normal force");
  for (int k = 0; k < SPEEDS; k++) {
    printf("%-20g %-16.12g %.12g\n", speeds[k], along(of, speeds[k]), along(of, speeds[k]) / of->N);
  }
  if (is_elliptic(of)) {
    print_directions(of);
  }
  if (has_patch(of)) {
    print_patch(of);
  }
}

static void json_all(const subject* of) {
  json j = {.file = stdout};
  json_open(&j, NULL, '{');
  json_text(&j, "contact", of->law->name != NULL ? of->law->name : "");
  json_number(&j, "normal_force", of->N);
  json_number(&j, "sticking", of->law->mu);
  json_open(&j, "slip", '[');
  for (int k = 0; k < SPEEDS; k++) {
    json_open(&j, NULL, '{');
    json_number(&j, "speed", speeds[k]);
    json_number(&j, "force", along(of, speeds[k]));
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_open(&j, "directions", '[');
  for (int k = 0; k < TURNS && is_elliptic(of); k++) {
    double F[2];
    at_slip(of, 1.0, 15.0 * k * degree, F);
    json_open(&j, NULL, '{');
    json_number(&j, "degrees", 15.0 * k);
    json_number(&j, "force_1", F[0]);
    json_number(&j, "force_2", F[1]);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_open(&j, "patch", '[');
  for (int k = 0; k < RATIOS && has_patch(of); k++) {
    double force = 0.0, moment = 0.0;
    at_ratio(of, ratios[k], &force, &moment);
    json_open(&j, NULL, '{');
    json_number(&j, "ratio", ratios[k]);
    json_number(&j, "force", force);
    json_number(&j, "moment", moment);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_close(&j, '}');
}

/* words: a law given in words; NULL: a law of a scene. */
static saltus_status draw(const subject* of, const char* words, const char* path) {
  static double x[CURVE], y[CURVE], d[CURVE], force[CURVE], moment[CURVE];
  const saltus_friction_law* f = of->law->friction;
  const bool falls = f != NULL && f->curve == SALTUS_CURVE_STRIBECK;
  const double reach = falls ? 8.0 * f->speed : 1.0, most = of->law->mu * of->N;
  const double rest_x[2] = {0.0, 0.0}, rest_y[2] = {0.0, most};
  for (int k = 0; k < CURVE; k++) {
    x[k] = reach * (k + 1e-9) / (CURVE - 1); /* slides from the start */
    y[k] = along(of, x[k]);
    d[k] = 3.0 * k / (CURVE - 1);
  }
  d[0] = 1e-9;
  for (int k = 0; k < CURVE && has_patch(of); k++) {
    at_ratio(of, d[k], &force[k], &moment[k]);
    moment[k] /= f->radius;
  }
  const saltusi_plot_series slip[3] = {{.label = "slides",
                                        .count = CURVE,
                                        .x = x,
                                        .y = y,
                                        .colour = SALTUSI_COLOUR_BLUE,
                                        .path = true},
                                       {.label = "sticks",
                                        .count = 2,
                                        .x = rest_x,
                                        .y = rest_y,
                                        .colour = SALTUSI_COLOUR_VERMILION,
                                        .path = true},
                                       {.kind = SALTUSI_SERIES_POINTS,
                                        .count = 1,
                                        .x = rest_x + 1,
                                        .y = rest_y + 1,
                                        .colour = SALTUSI_COLOUR_VERMILION}};
  const saltusi_plot_series patch[2] = {{.label = "force",
                                         .count = CURVE,
                                         .x = d,
                                         .y = force,
                                         .colour = SALTUSI_COLOUR_BLUE,
                                         .path = true},
                                        {.label = "moment / radius",
                                         .count = CURVE,
                                         .x = d,
                                         .y = moment,
                                         .colour = SALTUSI_COLOUR_VERMILION,
                                         .path = true}};
  const saltusi_panel panel = {.y_label = "force [N]",
                               .series_count = has_patch(of) ? 2 : 3,
                               .series = has_patch(of) ? patch : slip};
  char title[160], subtitle[160];
  const bool named = words == NULL && of->law->name != NULL && of->law->name[0] != '\0';
  snprintf(title, sizeof title, "%s%s", words != NULL ? "" : "Friction of contact ",
           words != NULL ? words
           : named       ? of->law->name
                         : "without a name");
  snprintf(subtitle, sizeof subtitle, "normal force %g N, sticks up to %.6g N", of->N, most);
  const saltusi_figure figure = {.title = title,
                                 .subtitle = subtitle,
                                 .x_label =
                                     has_patch(of) ? "slip over radius times spin" : "slip [m/s]",
                                 .panel_count = 1,
                                 .panels = &panel,
                                 .height_cm = 9.0};
  return saltusi_figure_write(&figure, path, cli_log());
}

/* The contact of a name, or the first one with friction. */
static const saltus_contact_law* find_law(const saltus_system* system, const char* name) {
  for (int i = 0; i < system->law_count; i++) {
    const saltus_contact_law* law = &system->laws[i];
    const bool any = law->tangents > 0 && (law->mu > 0.0 || law->friction != NULL);
    if (name != NULL ? law->name != NULL && strcmp(law->name, name) == 0 : any) {
      return law;
    }
  }
  return NULL;
}

/* A law in words of a scene becomes a scene of one contact. */
static int open_model(const cli_args* args, const char* target, cli_model* model) {
  if (strstr(target, ": ") == NULL) {
    return cli_model_open(args, target, model);
  }
  char text[2048];
  snprintf(text, sizeof text,
           "saltus: 1\ncoordinates: {x: {}, y: {}, z: {}, a: {}, b: {}, c: {}}\n"
           "kinetic: (x'^2 + y'^2 + z'^2 + a'^2 + b'^2 + c'^2)/2\ncontacts:\n"
           "  - {name: contact, gap: z, slip: x', slip2: y', %.1500s}\n",
           target);
  return cli_model_open_text(args, "law", text, model);
}

int lab_friction(const cli_args* args) {
  const char* path = cli_value(args, "-o");
  const char* name = cli_value(args, "--contact");
  double N = 1.0;
  int code = cli_number(args, "--force", 1e-12, 1e12, &N);
  if (code != CLI_DONE) {
    return code;
  }
  if (args->positional_count < 2) {
    cli_error("lab friction: give a scene, or a law such as \"friction: {static: 0.4, kinetic: "
              "0.3}\"");
    return CLI_USAGE;
  }
  if (path != NULL && saltusi_figure_path_check(path, cli_log()) != SALTUS_OK) {
    return CLI_USAGE;
  }
  cli_model model;
  code = open_model(args, args->positional[1], &model);
  if (code != CLI_DONE) {
    return code;
  }
  const subject of = {.law = find_law(model.view.system, name), .N = N};
  if (of.law == NULL) {
    cli_error(name != NULL ? "lab friction: there is no contact \"%s\""
                           : "lab friction: no contact has friction%s",
              name != NULL ? name : "");
    code = CLI_USAGE;
  } else {
    (cli_has(args, "--json") ? json_all : print_all)(&of);
    const char* words = strstr(args->positional[1], ": ") != NULL ? args->positional[1] : NULL;
    if (path != NULL && draw(&of, words, path) != SALTUS_OK) {
      code = CLI_FAILED;
    }
  }
  cli_model_close(&model);
  return code;
}
