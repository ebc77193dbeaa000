/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_forces.c - forces and torques at markers, as forces on the velocities of their bodies:
 *
 *   plane   x', y': f          angle': (p - x) x f + torque
 *   space   x', y', z': f      omega: r x R^T f + R^T torque      in body axes
 */
#include "formula/message.h"
#include "model/formula_model.h"

#include "base/suggest.h"

#include <assert.h>

typedef struct load {
  saltusi_expr f[3], torque[3]; /* world axes */
} load;

static saltus_status read_vector(saltusi_formula_builder* b, const saltus_formula_force* force,
                                 const saltus_formula_text texts[3], const char* kind,
                                 saltusi_expr out[3]) {
  saltus_status status = SALTUS_OK;
  for (int k = 0; k < 3 && status == SALTUS_OK; k++) {
    out[k] = b->graph.zero;
    if (texts[k].text != NULL) {
      saltus_formula_text f = saltusi_formula_called(b, &texts[k], kind, force->name);
      status = saltusi_parse(&b->scope, &f, SALTUSI_ON_ANY, &out[k]);
    }
  }
  return status;
}

/* From marker to world axes. */
static void turn(saltusi_graph* g, const saltusi_expr R[9], saltusi_expr x[3]) {
  saltusi_expr out[3];
  for (int i = 0; i < 3; i++) {
    out[i] = g->zero;
    for (int k = 0; k < 3; k++) {
      out[i] = saltusi_add(g, out[i], saltusi_mul(g, R[3 * i + k], x[k]));
    }
  }
  for (int i = 0; i < 3; i++) {
    x[i] = out[i];
  }
}

/* The k-th part of a x b. */
static saltusi_expr cross(saltusi_graph* g, const saltusi_expr a[3], const saltusi_expr c[3],
                          int k) {
  const int i = (k + 1) % 3, j = (k + 2) % 3;
  const saltusi_expr left = saltusi_mul(g, a[i], c[j]);
  return saltusi_sub(g, left, saltusi_mul(g, a[j], c[i]));
}

static void apply(saltusi_formula_builder* b, const saltusi_formula_spot* spot, const load* l,
                  saltusi_expr* Q) {
  saltusi_graph* g = &b->graph;
  const bool plane = saltusi_formula_bodies_plane(b);
  const int linear = plane ? 2 : 3;
  for (int k = 0; k < linear; k++) {
    Q[spot->v + k] = saltusi_add(g, Q[spot->v + k], l->f[k]);
  }
  const saltusi_formula_frame* body = saltusi_formula_body_frame(b, spot->body);
  saltusi_expr arm[3], moment[3];
  for (int k = 0; k < 3; k++) {
    arm[k] = saltusi_sub(g, spot->frame->p[k], body->p[k]);
  }
  for (int k = 0; k < 3; k++) {
    const saltusi_expr lever = cross(g, arm, l->f, k);
    moment[k] = saltusi_add(g, lever, l->torque[k]);
  }
  if (plane) {
    Q[spot->v + 2] = saltusi_add(g, Q[spot->v + 2], moment[2]);
    return;
  }
  for (int k = 0; k < 3; k++) {
    saltusi_expr sum = g->zero;
    for (int i = 0; i < 3; i++) {
      sum = saltusi_add(g, sum, saltusi_mul(g, body->R[3 * i + k], moment[i]));
    }
    Q[spot->v + 3 + k] = saltusi_add(g, Q[spot->v + 3 + k], sum);
  }
}

static saltus_status refuse_place(saltusi_formula_builder* b, const saltus_formula_force* force,
                                  bool known) {
  saltus_formula_text f = force->force[0].text != NULL ? force->force[0] : force->torque[2];
  f.what = NULL;
  f = saltusi_formula_called(b, &f, "force", force->name);
  if (known) {
    saltusi_formula_complain(b->def->log, SALTUS_LEVEL_ERROR, &f,
                             "\"%.63s\" is not on a body that moves freely: a force there moves "
                             "nothing",
                             force->at);
    return SALTUS_ERR_INPUT;
  }
  const char* pair[2] = {NULL, NULL};
  for (int i = 0; saltusi_formula_bodies_name(b, i) != NULL; i++) {
    pair[1] = saltusi_formula_bodies_name(b, i);
    pair[0] = saltusi_suggest(force->at, pair, 2);
  }
  saltusi_formula_complain(b->def->log, SALTUS_LEVEL_ERROR, &f,
                           "there is no marker or body \"%.63s\"%s%s%s", force->at,
                           pair[0] != NULL ? "; did you mean \"" : "",
                           pair[0] != NULL ? pair[0] : "", pair[0] != NULL ? "\"?" : "");
  return SALTUS_ERR_INPUT;
}

saltus_status saltusi_formula_forces(saltusi_formula_builder* b, saltusi_expr* Q) {
  assert(b != NULL && Q != NULL);
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < b->def->force_count && status == SALTUS_OK; i++) {
    const saltus_formula_force* force = &b->def->forces[i];
    saltusi_formula_spot spot;
    const bool known = saltusi_formula_spot_find(b, force->at, &spot);
    if (!known || spot.v < 0) {
      return refuse_place(b, force, known);
    }
    load l;
    status = read_vector(b, force, force->force, "force", l.f);
    status = status == SALTUS_OK ? read_vector(b, force, force->torque, "torque of force", l.torque)
                                 : status;
    if (status == SALTUS_OK && force->in_marker) {
      turn(&b->graph, spot.frame->R, l.f);
      turn(&b->graph, spot.frame->R, l.torque);
    }
    if (status == SALTUS_OK) {
      apply(b, &spot, &l, Q);
    }
  }
  return status;
}
