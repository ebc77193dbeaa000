/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * report.c - coordinates, loads and defects of joints; momentum and energies of a mechanism.
 *
 * The load of a row with multiplier lambda on the second body, about the second origin p_b:
 *
 *   d . a_k      force lambda a_k, no torque
 *   a_i . b_j    torque lambda b_j x a_i
 *   |d|          force lambda d / |d|
 *   angle        torque lambda b_x x n, n as in terms.c
 */
#include "body/constraints.h"
#include "body/forces.h"

#include <assert.h>
#include <string.h>

saltus_joint_motion saltus_mechanism_joint_motion(const saltus_mechanism* mechanism, int joint,
                                                  double t, const double* q, const double* v) {
  assert(mechanism != NULL && joint >= 0 && joint < mechanism->joint_count && q != NULL &&
         v != NULL);
  const saltusi_joint* j = &mechanism->joints[joint];
  const saltus_point at = {.t = t, .q = q, .v = v};
  saltus_joint_motion motion = {NAN, NAN, NAN, NAN};
  if (j->has_angle) {
    saltusi_row_motion(mechanism, &j->link, &j->angle, &at, &motion.angle, &motion.angle_rate);
  }
  if (j->has_position || j->type == SALTUS_JOINT_DISTANCE) {
    saltusi_row_motion(mechanism, &j->link, &j->position, &at, &motion.position,
                       &motion.position_rate);
  }
  return motion;
}

/* Force and torque about the second origin in world axes, from the gradient of the second body. */
static void add_load(const saltusi_term* term, const saltusi_end end[2], double lambda,
                     double force[3], double torque[3]) {
  double G[12], arm[3], moment[3], about[3];
  saltusi_term_gradient(term, end, G);
  saltusi_turn(end[1].pose.R, G + 9, about); /* about the centre of mass */
  saltusi_minus3(end[1].p, end[1].pose.x, arm);
  saltusi_cross(arm, G + 6, moment);
  for (int k = 0; k < 3; k++) {
    force[k] += lambda * term->weight * G[6 + k];
    torque[k] += lambda * term->weight * (about[k] - moment[k]);
  }
}

void saltus_mechanism_joint_load(const saltus_mechanism* mechanism, int joint, double t,
                                 const double* q, const double* lambda, double force[3],
                                 double torque[3]) {
  assert(mechanism != NULL && joint >= 0 && joint < mechanism->joint_count);
  assert(q != NULL && lambda != NULL && force != NULL && torque != NULL);
  const saltusi_joint* j = &mechanism->joints[joint];
  const saltusi_joint_row* rows = mechanism->rows + j->row;
  memset(force, 0, 3 * sizeof(double));
  memset(torque, 0, 3 * sizeof(double));
  if (j->link.links == 2) {
    force[0] = lambda[0] * rows->term[0].weight;
    force[1] = lambda[0] * rows->term[1].weight;
    return;
  }
  saltusi_end end[4];
  double f[3] = {0.0, 0.0, 0.0}, m[3] = {0.0, 0.0, 0.0};
  saltusi_link_ends(mechanism, &j->link, t, q, NULL, end);
  for (int r = 0; r < j->rows; r++) {
    for (int i = 0; i < rows[r].terms; i++) {
      add_load(&rows[r].term[i], end, lambda[r], f, m);
    }
  }
  for (int k = 0; k < 3; k++) {
    force[k] = saltusi_dot3(end[0].axis[k], f);
    torque[k] = saltusi_dot3(end[0].axis[k], m);
  }
}

/* Whether a row is in rad: those of axes and angles; for a coupling, by its second joint. */
static bool is_angular(const saltusi_joint_row* row) {
  const saltusi_term_kind kind = row->terms == 2 && row->term[0].link != row->term[1].link
                                     ? row->term[1].kind
                                     : row->term[0].kind;
  return kind == SALTUSI_TERM_DOT || kind == SALTUSI_TERM_ANGLE || kind == SALTUSI_TERM_PLANE;
}

void saltus_mechanism_joint_defect(const saltus_mechanism* mechanism, int joint, double t,
                                   const double* q, double* metres, double* radians) {
  assert(mechanism != NULL && joint >= 0 && joint < mechanism->joint_count);
  assert(q != NULL && metres != NULL && radians != NULL);
  const saltusi_joint* j = &mechanism->joints[joint];
  saltusi_end end[4];
  double squares[2] = {0.0, 0.0};
  saltusi_link_ends(mechanism, &j->link, t, q, NULL, end);
  for (int r = 0; r < j->rows; r++) {
    const saltusi_joint_row* row = &mechanism->rows[j->row + r];
    const double g = saltusi_row_value(mechanism, row, end, t, q);
    squares[is_angular(row)] += g * g;
  }
  *metres = sqrt(squares[0]);
  *radians = sqrt(squares[1]);
}

static void add_momentum(const saltus_mechanism* m, int body, double t, const saltus_point* at,
                         saltus_mechanism_state* state) {
  const saltusi_body* b = &m->bodies[body];
  saltusi_pose pose;
  saltusi_body_motion motion;
  double spin[3], world[3], arm[3];
  saltusi_pose_at(m, body, t, at->q, &pose);
  saltusi_motion_at(m, body, t, at->v, &motion);
  saltusi_turn(b->I, motion.w, spin);
  saltusi_turn(pose.R, spin, world);
  saltusi_cross(pose.x, motion.v, arm);
  state->mass += b->mass;
  for (int k = 0; k < 3; k++) {
    state->centre[k] += b->mass * pose.x[k];
    state->momentum[k] += b->mass * motion.v[k];
    state->angular_momentum[k] += world[k] + b->mass * arm[k];
  }
}

void saltus_mechanism_measure(const saltus_mechanism* mechanism, double t, const double* q,
                              const double* v, saltus_mechanism_state* state) {
  assert(mechanism != NULL && q != NULL && v != NULL && state != NULL);
  const saltus_point at = {.t = t, .q = q, .v = v};
  *state = (saltus_mechanism_state){.defect_metres_joint = -1, .defect_radians_joint = -1};
  for (int i = 0; i < mechanism->free_count; i++) {
    add_momentum(mechanism, mechanism->free_bodies[i], t, &at, state);
  }
  for (int k = 0; k < 3 && mechanism->free_count > 0; k++) {
    state->centre[k] /= state->mass;
  }
  state->kinetic = saltusi_mechanism_kinetic(mechanism, &at);
  state->potential = saltusi_mechanism_potential_of(mechanism, &at, true);
  for (int i = 0; i < mechanism->joint_count; i++) {
    double metres, radians;
    saltus_mechanism_joint_defect(mechanism, i, t, q, &metres, &radians);
    if (metres > state->defect_metres) {
      state->defect_metres = metres;
      state->defect_metres_joint = i;
    }
    if (radians > state->defect_radians) {
      state->defect_radians = radians;
      state->defect_radians_joint = i;
    }
  }
}
