/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * check_bodies.c - output of check_bodies.h. "Before" is the start of the file, "after" that of the
 * run: projected onto the joints by the least displacement in the mass metric.
 */
#include "check_bodies.h"

#include "figure/mechanism_sketch.h"
#include "output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The mechanism in the state of its model: behind the coordinates by formula. */
typedef struct placed {
  const saltus_mechanism* m;
  saltus_mechanism_size size;
  double t;
  const double *before, *q, *v;
} placed;

static placed place(const cli_model* model) {
  const saltus_mechanism* m = model->view.mechanism;
  const saltus_dims* all = &model->view.bodies->dims;
  const saltus_dims* own = &saltus_mechanism_system(m)->dims;
  const bool given = model->view.flexible == NULL && model->view.tree == NULL;
  return (placed){.m = m,
                  .size = saltus_mechanism_sizes(m),
                  .t = model->view.start,
                  .before = saltus_mechanism_q0(m),
                  .q = model->view.q0 + (all->nq - own->nq),
                  .v = given ? model->view.v0 + (all->nv - own->nv) : saltus_mechanism_v0(m)};
}

/* The displacement of a body from its start in the file: m, and rad of the rotation between two
 * frames. */
static void moved(const placed* p, int body, double* metres, double* radians) {
  double x[2][3], R[2][9], trace = 0.0, skew[3];
  saltus_mechanism_pose(p->m, body, p->t, p->before, x[0], R[0]);
  saltus_mechanism_pose(p->m, body, p->t, p->q, x[1], R[1]);
  double T[9] = {0.0}; /* R1^T R0 */
  for (int k = 0; k < 27; k++) {
    T[k / 9 * 3 + k / 3 % 3] += R[1][k % 3 * 3 + k / 9] * R[0][k % 3 * 3 + k / 3 % 3];
  }
  for (int k = 0; k < 3; k++) {
    trace += T[4 * k];
    skew[k] = T[(k + 2) % 3 * 3 + (k + 1) % 3] - T[(k + 1) % 3 * 3 + (k + 2) % 3];
  }
  const double sine = sqrt(skew[0] * skew[0] + skew[1] * skew[1] + skew[2] * skew[2]);
  *metres = sqrt(pow(x[1][0] - x[0][0], 2) + pow(x[1][1] - x[0][1], 2) + pow(x[1][2] - x[0][2], 2));
  *radians = atan2(sine, trace - 1.0); /* 2 sin and 2 cos of the angle */
}

static const char* kind_name(saltus_body_kind kind) {
  return kind == SALTUS_BODY_FREE ? "free" : kind == SALTUS_BODY_FIXED ? "fixed" : "driven";
}

static int mobility_of(const placed* p, saltus_mobility* mobility) {
  saltus_status status = saltus_mechanism_mobility(p->m, p->t, p->q, mobility);
  if (status != SALTUS_OK) {
    cli_error("mobility: %s", saltus_status_text(status));
  }
  return cli_exit_code(status);
}

/* ---- text ---- */

static void print_vector(const char* what, const placed* p, const double x[3], const char* unit) {
  if (p->size.dimension == 2) {
    printf("%s (%.9g, %.9g) %s", what, x[0], x[1], unit);
  } else {
    printf("%s (%.9g, %.9g, %.9g) %s", what, x[0], x[1], x[2], unit);
  }
}

static void print_body(const placed* p, int i) {
  const saltus_body_place body = saltus_mechanism_body(p->m, i);
  double x[3], R[9], metres, radians;
  char line[256];
  saltus_mechanism_pose(p->m, i, p->t, p->q, x, R);
  printf("body %s: ", cli_one_line(body.name, line, sizeof line));
  if (body.kind == SALTUS_BODY_FREE) {
    printf("%.9g kg, ", body.mass);
  } else {
    printf("%s, ", kind_name(body.kind));
  }
  print_vector("at", p, x, "m");
  moved(p, i, &metres, &radians);
  if (metres > 0.0 || radians > 0.0) {
    printf(", moved by %.3g m and %.3g rad to %s", metres, radians,
           p->size.joints > 0 ? "close the joints" : "part shapes");
  }
  printf("\n");
}

static void print_joint(const placed* p, int i) {
  const saltus_joint_place joint = saltus_mechanism_joint(p->m, i);
  const saltus_joint_motion at = saltus_mechanism_joint_motion(p->m, i, p->t, p->q, p->v);
  double before[2], after[2];
  char line[256];
  saltus_mechanism_joint_defect(p->m, i, p->t, p->before, &before[0], &before[1]);
  saltus_mechanism_joint_defect(p->m, i, p->t, p->q, &after[0], &after[1]);
  printf("joint %s: %s", cli_one_line(joint.name, line, sizeof line),
         saltus_joint_type_name(joint.type));
  if (!isnan(at.angle)) {
    printf(", angle %.9g rad", at.angle);
  }
  if (!isnan(at.position)) {
    printf(", position %.9g m", at.position);
  }
  printf("; open by %.3g m and %.3g rad as written, %.3g m and %.3g rad at the start\n", before[0],
         before[1], after[0], after[1]);
}

/* Shapes that interpenetrate at the start of the file. */
static void print_overlaps(const placed* p) {
  enum { SHOWN = 20 };
  saltus_overlap list[SHOWN];
  int count = 0;
  if (saltus_mechanism_overlaps(p->m, p->t, p->before, 1e-12, list, SHOWN, &count) != SALTUS_OK) {
    return;
  }
  for (int i = 0; i < count && i < SHOWN; i++) {
    char first[128], second[128];
    printf("shapes %s and %s: %.6g m of overlap as written, ",
           cli_one_line(list[i].shapes[0], first, sizeof first),
           cli_one_line(list[i].shapes[1], second, sizeof second), list[i].depth);
    print_vector("along", p, list[i].direction, "\n");
  }
  if (count > SHOWN) {
    printf("%d more pairs of shapes overlap as written\n", count - SHOWN);
  }
}

int check_bodies_print(const cli_model* model) {
  const placed p = place(model);
  saltus_mechanism_state state;
  saltus_mobility mobility;
  int code = mobility_of(&p, &mobility);
  if (code != CLI_DONE) {
    return code;
  }
  saltus_mechanism_measure(p.m, p.t, p.q, p.v, &state);
  for (int i = 0; i < p.size.bodies; i++) {
    print_body(&p, i);
  }
  for (int i = 0; i < p.size.joints; i++) {
    print_joint(&p, i);
  }
  print_overlaps(&p);
  if (model->view.flexible ==
      NULL) { /* frames of flexible bodies have no velocities of their own */
    printf("mobility: %d degree%s of freedom: %d velocities, %d rows of joints of rank %d, %d "
           "redundant\n",
           mobility.mobility, cli_plural(mobility.mobility), mobility.velocities, mobility.rows,
           mobility.rank, mobility.redundant);
  }
  for (int i = 0; model->view.flexible != NULL && model->view.flexible[i] != NULL; i++) {
    printf("flexible body %d:\n", i + 1);
    check_flexible_print(model->view.flexible[i]);
  }
  if (!(state.mass > 0.0)) {
    printf("bodies: none is free to move\n");
    return CLI_DONE;
  }
  printf("bodies: %.9g kg that move, ", state.mass);
  print_vector("centre of mass", &p, state.centre, "m");
  print_vector(", momentum", &p, state.momentum, "kg m/s");
  if (p.size.dimension == 2) {
    printf(", angular momentum %.9g kg m^2/s\n", state.angular_momentum[2]);
  } else {
    print_vector(", angular momentum", &p, state.angular_momentum, "kg m^2/s\n");
  }
  return CLI_DONE;
}

/* ---- JSON ---- */

static void json_vector(json* j, const char* name, const double* x, int count) {
  json_open(j, name, '[');
  for (int k = 0; k < count; k++) {
    json_number(j, NULL, x[k]);
  }
  json_close(j, ']');
}

static void json_body(json* j, const placed* p, int i) {
  const saltus_body_place body = saltus_mechanism_body(p->m, i);
  double x[3], R[9], metres, radians;
  saltus_mechanism_pose(p->m, i, p->t, p->q, x, R);
  moved(p, i, &metres, &radians);
  json_open(j, NULL, '{');
  json_text(j, "name", body.name);
  json_text(j, "kind", kind_name(body.kind));
  json_number(j, "mass", body.mass);
  json_vector(j, "inertia", body.inertia, p->size.dimension == 2 ? 1 : 6);
  json_vector(j, "position", x, p->size.dimension);
  json_vector(j, "axes", R, 9);
  json_number(j, "moved_metres", metres);
  json_number(j, "moved_radians", radians);
  json_close(j, '}');
}

static void json_defect(json* j, const char* name, const placed* p, int joint, const double* q) {
  double metres, radians;
  saltus_mechanism_joint_defect(p->m, joint, p->t, q, &metres, &radians);
  json_open(j, name, '{');
  json_number(j, "metres", metres);
  json_number(j, "radians", radians);
  json_close(j, '}');
}

static void json_joint(json* j, const placed* p, int i) {
  const saltus_joint_place joint = saltus_mechanism_joint(p->m, i);
  const saltus_joint_motion at = saltus_mechanism_joint_motion(p->m, i, p->t, p->q, p->v);
  json_open(j, NULL, '{');
  json_text(j, "name", joint.name);
  json_text(j, "type", saltus_joint_type_name(joint.type));
  json_number(j, "angle", at.angle);
  json_number(j, "position", at.position);
  json_defect(j, "defect_written", p, i, p->before);
  json_defect(j, "defect", p, i, p->q);
  json_close(j, '}');
}

static void json_flexible(json* j, const saltus_flexible* b) {
  check_solid solid;
  json_open(j, NULL, '{');
  json_number(j, "mass", b->mass);
  json_open(j, "frequencies", '[');
  for (int i = 0; i < b->modes; i++) {
    json_number(j, NULL, b->omega[i] / 6.283185307179586);
  }
  json_close(j, ']');
  if (check_flexible_solid(b, &solid) == SALTUS_OK) {
    json_open(j, "solid", '{');
    json_number(j, "density", solid.density);
    json_number(j, "centre_metres", solid.centre);
    json_number(j, "inertia_relative", solid.inertia);
    json_close(j, '}');
  }
  json_close(j, '}');
}

int check_bodies_json(json* j, const cli_model* model) {
  const placed p = place(model);
  saltus_mechanism_state state;
  saltus_mobility mobility;
  int code = mobility_of(&p, &mobility);
  if (code != CLI_DONE) {
    return code;
  }
  saltus_mechanism_measure(p.m, p.t, p.q, p.v, &state);
  json_open(j, "mechanism", '{');
  json_integer(j, "dimension", p.size.dimension);
  json_open(j, "bodies", '[');
  for (int i = 0; i < p.size.bodies; i++) {
    json_body(j, &p, i);
  }
  json_close(j, ']');
  json_open(j, "joints", '[');
  for (int i = 0; i < p.size.joints; i++) {
    json_joint(j, &p, i);
  }
  json_close(j, ']');
  if (model->view.flexible == NULL) {
    json_integer(j, "mobility", mobility.mobility);
    json_integer(j, "rows", mobility.rows);
    json_integer(j, "rank", mobility.rank);
    json_integer(j, "redundant", mobility.redundant);
  }
  for (int i = 0; model->view.flexible != NULL && model->view.flexible[i] != NULL; i++) {
    if (i == 0) {
      json_open(j, "flexible", '[');
    }
    json_flexible(j, model->view.flexible[i]);
    if (model->view.flexible[i + 1] == NULL) {
      json_close(j, ']');
    }
  }
  json_number(j, "mass", state.mass);
  json_vector(j, "centre", state.centre, p.size.dimension);
  json_vector(j, "momentum", state.momentum, p.size.dimension);
  json_vector(j, "angular_momentum", state.angular_momentum + (p.size.dimension == 2 ? 2 : 0),
              p.size.dimension == 2 ? 1 : 3);
  json_close(j, '}');
  return CLI_DONE;
}

/* ---- sketch ---- */

int check_bodies_sketch(const cli_model* model, const char* path) {
  if (model->view.mechanism == NULL) {
    cli_error("--sketch: %s has no bodies", model->target);
    return CLI_USAGE;
  }
  const placed p = place(model);
  saltus_mobility mobility;
  int code = mobility_of(&p, &mobility);
  if (code != CLI_DONE) {
    return code;
  }
  char subtitle[160], shapes[32] = "";
  if (p.size.shapes > 0) {
    snprintf(shapes, sizeof shapes, "%d shape%s, ", p.size.shapes, cli_plural(p.size.shapes));
  }
  snprintf(subtitle, sizeof subtitle,
           "start at t = %g s: %d bod%s, %s%d joint%s, %d degree%s of freedom, %d redundant row%s",
           p.t, p.size.bodies, p.size.bodies == 1 ? "y" : "ies", shapes, p.size.joints,
           cli_plural(p.size.joints), mobility.mobility, cli_plural(mobility.mobility),
           mobility.redundant, cli_plural(mobility.redundant));
  saltusi_sketch sketch = saltusi_sketch_begin(NULL);
  sketch.title = model->name;
  sketch.subtitle = subtitle;
  saltusi_sketch_mechanism(&sketch, p.m, p.t, p.q);
  saltus_status status = saltusi_sketch_write(&sketch, path, cli_log());
  saltusi_sketch_free(&sketch);
  return cli_exit_code(status);
}
