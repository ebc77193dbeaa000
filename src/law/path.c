/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * path.c - the impact of one planar contact along Routh's path in its normal impulse p (Routh 1905, Stronge 1990,
 * Wang and Mason 1992; docs/theory/laws.md, 2.3). W = [a b; b c], work = integral of U_N dp:
 *
 *   rates   dP_T = tau dp,  dU_N = (a + b tau) dp,  dU_T = (b + c tau) dp
 *           slip s: tau = -mu s;   stick (|b| <= mu c): tau = -b / c;   else slip from rest, s = sign b
 *   end     Newton  U_N = -e U_N-,   Poisson  p = (1 + e) p_c,   Stronge  work = (1 - e^2) work_c
 *
 * A jam (dU_N < 0 while slipping) has mu c > |b|: the slip stops, and then it sticks.
 */
#include "law/law.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Slip, stick or reversed slip, in compression and restitution: at most three phases each, with a reserve of one. */
enum { PHASES_MAX = 6 };

typedef struct path_state {
  double a, b, c;
  double mu, e;
  saltus_impact_law law;
  double before; /* U_N- */
  double slip;   /* U_T- */
  double U_N, U_T, P_N, P_T;
  double work;     /* of the normal force */
  double turned;   /* its part in compression */
  double turned_P; /* normal impulse at the end of compression */
  bool compressed;
} path_state;

void saltusi_path_note(saltus_impact_result* result, saltus_path_phase phase) {
  assert(result != NULL);
  if (result->phase_count < SALTUS_PHASES) {
    result->phase[result->phase_count] = phase;
  }
  result->phase_count++;
}

/* Direction of slip; 0 when the contact sticks or has no tangential mobility. */
static double sense_of(const path_state* p) {
  if (p->mu == 0.0 || !(p->c > 0.0)) {
    return 0.0;
  }
  if (p->U_T != 0.0) {
    return p->U_T > 0.0 ? 1.0 : -1.0;
  }
  return fabs(p->b) <= p->mu * p->c ? 0.0 : p->b > 0.0 ? 1.0 : -1.0;
}

/* Normal impulse to the end of the impact with constant dU_N = rate dp. */
static double to_the_end(const path_state* p, double rate) {
  if (p->law == SALTUS_IMPACT_PATH_NEWTON) {
    return (-p->e * p->before - p->U_N) / rate;
  }
  if (p->law == SALTUS_IMPACT_PATH_POISSON) {
    return (1.0 + p->e) * p->turned_P - p->P_N;
  }
  double left = (1.0 - p->e * p->e) * p->turned - p->work;
  double root = p->U_N * p->U_N + 2.0 * rate * left;
  return left > 0.0 ? 2.0 * left / (p->U_N + sqrt(fmax(root, 0.0))) : 0.0;
}

static saltus_impact_motion motion_of(const path_state* p, double sense, double rate) {
  if (p->mu == 0.0) {
    return SALTUS_MOTION_WITHOUT;
  }
  if (sense == 0.0) {
    return SALTUS_MOTION_STICK;
  }
  return rate <= 0.0             ? SALTUS_MOTION_JAM
         : sense * p->slip > 0.0 ? SALTUS_MOTION_SLIP
                                 : SALTUS_MOTION_REVERSE;
}

/* One phase: to the end of slip, of compression, or of the impact. False at the end of the impact. */
static bool phase(path_state* p, int index, saltus_impact_result* result) {
  double sense = sense_of(p);
  bool moves = p->mu > 0.0 && p->c > 0.0;
  double tau = !moves ? 0.0 : sense == 0.0 ? -p->b / p->c : -p->mu * sense;
  double rate = p->a + p->b * tau;
  double slip = moves && sense == 0.0 ? 0.0 : p->b + p->c * tau;
  double stop = moves && p->U_T * slip < 0.0 ? -p->U_T / slip : INFINITY;
  double end = INFINITY;
  if (p->compressed) {
    end = to_the_end(p, rate);
  } else if (rate > 0.0) {
    end = -p->U_N / rate;
  }
  double dp = fmin(stop, fmax(end, 0.0));
  if (!isfinite(dp)) {
    return false;
  }
  bool stops = stop < end;
  if (dp > 0.0) {
    saltusi_path_note(result, (saltus_path_phase){.contact = index,
                                                  .motion = motion_of(p, sense, rate),
                                                  .compression = !p->compressed,
                                                  .impulse = dp});
  }
  p->work += dp * (p->U_N + 0.5 * rate * dp);
  p->P_N += dp;
  p->P_T += tau * dp;
  p->U_N += rate * dp;
  p->U_T = stops ? 0.0 : p->U_T + slip * dp;
  if (stops) {
    return true;
  }
  bool turns = !p->compressed;
  if (turns) {
    p->compressed = true;
    p->turned = p->work;
    p->turned_P = p->P_N;
    p->U_N = 0.0;
  }
  return turns && p->e > 0.0;
}

void saltusi_path_planar(saltusi_single_impact* s, saltus_impact_result* result) {
  assert(s != NULL && result != NULL && s->contact != NULL);
  const saltus_impact_contact* c = s->contact;
  bool planar = c->tangents == 1;
  int rows = 1 + c->tangents;
  path_state p = {.a = s->W[0],
                  .b = planar ? s->W[1] : 0.0,
                  .c = planar ? s->W[3] : 0.0,
                  .mu = planar ? c->mu : 0.0,
                  .e = c->e_N,
                  .law = c->impact,
                  .before = s->u[0],
                  .slip = planar ? s->u[1] : 0.0,
                  .U_N = s->u[0],
                  .U_T = planar ? s->u[1] : 0.0};
  for (int k = 0; s->u[0] < 0.0 && k < PHASES_MAX && phase(&p, s->index, result); k++) {
  }
  memset(s->P, 0, sizeof s->P);
  s->P[0] = p.P_N;
  s->P[1] = p.P_T;
  for (int k = 1; k < rows; k++) {
    s->u[k] += s->W[k * rows] * p.P_N + (planar ? s->W[k * rows + 1] * p.P_T : 0.0);
  }
  s->u[0] = p.U_N;
  if (planar) {
    s->u[1] = p.U_T;
  }
}

const char* saltus_impact_region(const double W[4], const double u[2], double mu, double e_N,
                                 bool* jam) {
  assert(W != NULL && u != NULL);
  double s = u[1] > 0.0 ? 1.0 : -1.0;
  bool sticks = fabs(W[1]) <= mu * W[3];
  if (jam != NULL) {
    *jam = false;
  }
  if (u[1] == 0.0) {
    return sticks ? "stick" : "slide";
  }
  double brake = mu * W[3] - s * W[1];
  double lift = W[0] - mu * s * W[1];
  double stop = brake > 0.0 ? fabs(u[1]) / brake : INFINITY;
  double turn = lift > 0.0 ? -u[0] / lift : INFINITY;
  if (jam != NULL) {
    *jam = turn == INFINITY;
  }
  if (stop >= (1.0 + e_N) * turn) {
    return "slide";
  }
  return stop < turn ? (sticks ? "C-stick" : "C-reverse") : (sticks ? "R-stick" : "R-reverse");
}
