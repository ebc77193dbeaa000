/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * target.c - prescribed value of a row: a signal, or the integral of a speed.
 *
 * The integral is a function of time alone, so a joint driven by speed is holonomic: it has no state between steps.
 * Callbacks without an integral are integrated from the start
 * each time, by Gauss-Kronrod rules with 7 and 15 points (Piessens et al., QUADPACK, 1983) on subintervals that
 * are bisected until both agree.
 */
#include "body/mechanism.h"

#include <assert.h>
#include <float.h>
#include <string.h>

static const double node[8] = {
    0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
    0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
    0.586087235467691130294144691764735, 0.405845151377397166906606412076961,
    0.207784955007898467600689403773245, 0.0};
static const double kronrod[8] = {
    0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
    0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
    0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
    0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
static const double gauss[4] = {
    0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
    0.381830050505118944950369775488975, 0.417959183673469387755102040816327};

/* Value at an end of a subinterval of the polynomial through all 15 nodes: factors of the nodes on the near and the
 * far side. */
static const double near_end[8] = {
    1.453983731103312418, -0.706673993404573769, 0.420047199720882905, -0.291418695919990601,
    0.221175970224892715, -0.174570351562241320, 0.139783431782908377, -0.112929172918981484};
static const double far_end[8] = {
    0.006238528645340283, -0.018451577046963430, 0.030438309530367933, -0.043250815978173977,
    0.057719118618911435, -0.073778979644262451, 0.091687296848570966, -0.112929172918981484};

/* Both rules on a subinterval: the better one, and their difference. Neither rule has nodes at the ends, so jumps
 * there are detected by comparing the end values with the polynomial. */
static double rule(const saltus_signal* s, double a, double b, double* apart, double* size) {
  const double middle = 0.5 * (a + b), half = 0.5 * (b - a);
  double fine = 0.0, coarse = 0.0, sum = 0.0, out[3];
  double miss[2];
  for (int end = 0; end < 2; end++) {
    s->evaluate(s->self, end == 0 ? a : b, out);
    miss[end] = out[0];
  }
  for (int k = 0; k < 8; k++) {
    for (int side = k < 7 ? -1 : 1; side <= 1; side += 2) {
      s->evaluate(s->self, middle + side * half * node[k], out);
      fine += kronrod[k] * out[0];
      coarse += k % 2 == 1 ? gauss[k / 2] * out[0] : 0.0;
      sum += kronrod[k] * fabs(out[0]);
      miss[0] -= (side < 0 ? near_end[k] : far_end[k]) * out[0];
      miss[1] -= (side > 0 ? near_end[k] : far_end[k]) * out[0];
    }
  }
  const double beyond = (1.0 - node[0]) * fmax(fabs(miss[0]), fabs(miss[1]));
  *apart = fabs(half) * fmax(fabs(fine - coarse), beyond);
  *size = fabs(half) * sum;
  return half * fine;
}

/* Depth of the bisection: jumps are isolated to 2^-40 of a range, each pending subinterval is half as long as the one
 * before. */
enum { HALVINGS = 40 };

static double integrate(const saltus_signal* s, double t0, double t1) {
  const double least = ldexp(fabs(t1 - t0), -HALVINGS);
  double end[HALVINGS + 8];
  int pieces = 1;
  double from = t0, total = 0.0, whole = 0.0;
  end[0] = t1;
  while (pieces > 0) {
    double apart, size;
    const double to = end[pieces - 1], middle = 0.5 * (from + to);
    const double value = rule(s, from, to, &apart, &size);
    whole = fmax(whole, size);
    /* the error of the coarse rule; that of the fine one is much smaller. The tolerance is global: on short
     * subintervals of a fast oscillation, rounding of the phase exceeds a local tolerance. */
    if (!(apart > 64.0 * DBL_EPSILON * whole) || !(fabs(to - from) > least) || middle == from ||
        middle == to) {
      total += value;
      from = to;
      pieces--;
    } else {
      end[pieces++] = middle;
    }
  }
  return total;
}

void saltusi_target_at(const saltus_mechanism* m, const saltusi_joint_row* row, double t,
                       double out[3]) {
  assert(m != NULL && row != NULL && out != NULL);
  saltusi_signal_at(m, &row->target, t, out);
  if (!row->by_speed) {
    return;
  }
  const saltus_signal* s = &row->target.given;
  out[2] = out[1];
  out[1] = out[0];
  out[0] = s->evaluate == NULL   ? s->value * (t - m->t0)
           : s->integral != NULL ? s->integral(s->self, m->t0, t)
                                 : integrate(s, m->t0, t);
}

/* ---- driven bodies ---- */

static bool moves(const saltusi_signal* signal) {
  return signal->given.evaluate != NULL || signal->input >= 0;
}

int saltusi_driven_axis(const saltus_mechanism* m, int body, double axis[3]) {
  assert(m != NULL && body >= 0 && body < m->body_count && axis != NULL);
  const saltusi_body* b = &m->bodies[body];
  assert(b->kind == SALTUS_BODY_DRIVEN);
  memcpy(axis, b->axis, 3 * sizeof(double));
  if (saltusi_dot3(axis, axis) > 0.0) {
    return 0;
  }
  int which = 0, count = 0;
  double angle[3];
  for (int k = 0; k < 3; k++) {
    double out[3];
    saltusi_signal_at(m, &b->rotation[k], m->t0, out);
    angle[k] = out[0];
    if (moves(&b->rotation[k])) {
      which = k;
      count++;
    }
  }
  /* R = Rz(yaw) Ry(pitch) Rx(roll): each axis is rotated by the outer rotations */
  const double cp = cos(angle[1]), cy = cos(angle[2]), sy = sin(angle[2]);
  const double of[3][3] = {{cy * cp, sy * cp, -sin(angle[1])}, {-sy, cy, 0.0}, {0.0, 0.0, 1.0}};
  memcpy(axis, of[which], 3 * sizeof(double));
  return count <= 1 ? which : -1;
}

typedef struct turning_about {
  const saltus_mechanism* m;
  int marker;
} turning_about;

static void rate_about(const void* self, double t, double out[3]) {
  const turning_about* by = self;
  const saltusi_marker* marker = &by->m->markers[by->marker];
  saltusi_body_motion motion;
  saltusi_motion_at(by->m, marker->body, t, NULL, &motion);
  out[0] = saltusi_dot3(marker->axis[2], motion.w);
  out[1] = out[2] = 0.0;
}

double saltusi_driven_turn(const saltus_mechanism* m, int marker, double t) {
  assert(m != NULL && marker >= 0 && marker < m->marker_count);
  const saltusi_marker* at = &m->markers[marker];
  double axis[3];
  const int which = saltusi_driven_axis(m, at->body, axis);
  if (which < 0) {
    const turning_about by = {m, marker};
    const saltus_signal rate = {.evaluate = rate_about, .self = &by};
    return integrate(&rate, m->t0, t);
  }
  saltusi_pose pose;
  double z[3], from[3], to[3];
  saltusi_pose_at(m, at->body, m->t0, NULL, &pose);
  saltusi_turn(pose.R, at->axis[2], z);
  saltusi_signal_at(m, &m->bodies[at->body].rotation[which], m->t0, from);
  saltusi_signal_at(m, &m->bodies[at->body].rotation[which], t, to);
  return saltusi_dot3(axis, z) * (to[0] - from[0]);
}
