/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * steps.c - a step of any scheme: momentum and positions between two frames, with limits that every consistent
 * scheme keeps, and Coulomb's law on the impulses between them (docs/theory/certificate.md, 3).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Schemes evaluate at intermediate points of a step, and some slightly beyond its end; between
 * the ends a force may have an extremum. The allowance is eight times the spread of the ends:
 * linearly implicit schemes extrapolate. */
static const double allowance = 8.0;
static const double eps = 2.3e-16;

/* Total impulse between the frames: h times the mean force, and the impacts. */
static void total(const saltusi_checked_contacts* acting, double h, double P[3]) {
  for (int k = 0; k < 3; k++) {
    P[k] = acting->impulse[k] + h * acting->force[k];
  }
}

/* y += G P of all active contacts at the configuration of a frame; size += |G| |P|. */
static void add_impulses(saltusi_checker* c, const saltus_point* at, int count, double h, double* y,
                         double* size) {
  for (int i = 0; i < count; i++) {
    const saltusi_checked_contacts* acting = &c->acting[i];
    double P[3];
    total(acting, h, P);
    if (P[0] == 0.0 && P[1] == 0.0 && P[2] == 0.0) {
      continue;
    }
    int tangents = c->system->laws[acting->law].tangents;
    saltusi_contact_rows(c, at, acting->identity, 1 + tangents, c->nj, false);
    for (int k = 0; k < 1 + tangents; k++) {
      const double* G = c->at.G + (ptrdiff_t)(c->nj + k) * c->nv;
      for (int j = 0; j < c->nv; j++) {
        y[j] += G[j] * P[k];
        size[j] += fabs(G[j] * P[k]);
      }
    }
  }
}

/* r = M (v1 - v0) - h F - G P at a frame, without the part that joint impulses balance. False
 * when it cannot be computed. */
static bool balance(saltusi_checker* c, const saltusi_checked_frame* place, const double* jump,
                    double h, int count, double* r, double* size) {
  saltus_point at = saltusi_point_at(c, place->t, place->q, place->v);
  if (!saltusi_mass_and_force(c, &at)) {
    return false;
  }
  int n = c->nv;
  memset(r, 0, (size_t)n * sizeof *r);
  memset(size, 0, (size_t)n * sizeof *size);
  add_impulses(c, &at, count, h, r, size);
  for (int i = 0; i < n; i++) {
    double moved = 0.0;
    for (int j = 0; j < n; j++) {
      moved += c->at.M[i * n + j] * jump[j];
      size[i] += fabs(c->at.M[i * n + j] * jump[j]);
    }
    r[i] = moved - h * c->at.F[i] - r[i];
    size[i] += fabs(h * c->at.F[i]);
  }
  c->rows_at_hand = saltusi_unseen_rows(c, &at, count, h);
  saltusi_without(c, c->rows_at_hand, r);
  saltusi_mass_solve(c, r);
  return true;
}

/* Impulses of rolling, spin and joint friction, which are not recorded: within their limits, and
 * at the limit against a nonzero rate. The balance is that at frame b; off: m/s, error limit of
 * velocities. */
static void check_unseen(saltusi_checker* c, const saltusi_checked_frame* a,
                         const saltusi_checked_frame* b, double off) {
  for (int i = c->nj; i < c->rows_at_hand; i++) {
    const saltusi_unseen* u = &c->unseen[i];
    const double* G = c->at.G + (ptrdiff_t)i * c->nv;
    const double* MG = c->at.MD + (ptrdiff_t)i * c->nv;
    double W = 0.0;
    double length = 0.0;
    for (int j = 0; j < c->nv; j++) {
      W += G[j] * MG[j];
      length += fabs(G[j]);
    }
    const double* x = c->unseen_x + i;
    double changes = fmax(fabs(x[0] - x[c->at.rows]), fabs(x[0] - x[(ptrdiff_t)2 * c->at.rows]));
    double limit = W > 0.0 ? off * length / W + allowance * changes : INFINITY;
    saltusi_where where = {.frame = b->number, .place = -1, .contact = u->contact};
    saltusi_note(c, SALTUS_VERIFY_CONE, fmax(0.0, fabs(c->at.x[i]) - u->most), limit, where);
    double before = saltusi_row_velocity(c, i, a->v);
    double after = saltusi_row_velocity(c, i, b->v);
    double slow = 1e-6 + 100.0 * c->def->atol + 10.0 * fabs(after - before);
    if (u->alone && isfinite(u->most) && fmin(fabs(before), fabs(after)) > slow) {
      double wanted = before > 0.0 ? -u->most : u->most;
      saltusi_note(c, SALTUS_VERIFY_SLIP, fabs(c->at.x[i] - wanted), limit, where);
    }
  }
}

/* Momentum: the balances at the start, at the end and with the mean velocity enclose zero, within eight times their
 * spread. */
static void check_momentum(saltusi_checker* c, const saltusi_checked_frame* a,
                           const saltusi_checked_frame* b, int count) {
  enum { PLACES = 3 };
  int n = c->nv;
  double h = b->t - a->t;
  double *jump = c->work_v, *mean = jump + n, *size = mean + n, *r = size + n;
  double* reaction = r + (ptrdiff_t)PLACES * n;
  double* rotation = reaction + (ptrdiff_t)PLACES * n; /* [2 x nv] */
  for (int i = 0; i < n; i++) {
    jump[i] = b->v[i] - a->v[i];
    mean[i] = 0.5 * (a->v[i] + b->v[i]);
  }
  const saltusi_checked_frame middle = {.number = b->number, .t = b->t, .q = b->q, .v = mean};
  const saltusi_checked_frame* places[PLACES] = {a, b, &middle};
  for (int k = 0; k < PLACES; k++) {
    if (!balance(c, places[k], jump, h, count, r + (ptrdiff_t)k * n, size)) {
      saltusi_skip(c, SALTUS_VERIFY_MOMENTUM);
      return;
    }
    memcpy(c->unseen_x + (ptrdiff_t)k * c->at.rows, c->at.x,
           (size_t)c->rows_at_hand * sizeof(double));
    saltusi_reaction_error(c, b, h, reaction + (ptrdiff_t)k * n);
    if (k == 0) {
      saltusi_begin_rotation(c, rotation);
    } else if (k == 1) {
      saltusi_end_rotation(c, c->unseen_x, rotation);
    }
  }
  if (!c->to_tolerance) {
    saltusi_check_reactions(c, b, h, reaction, rotation);
  }
  double spread = 0.0;
  double widest = 0.0;
  for (int i = 0; i < n; i++) {
    spread = fmax(spread, fmax(fabs(r[i] - r[n + i]), fabs(r[i] - r[2 * n + i])));
    widest = fmax(widest, c->weight_v[i]);
  }
  spread = saltusi_spread(c, 0, spread);
  for (int i = 0; i < n; i++) {
    /* solvers stop at a relative residual of 1e-8, or earlier by their tolerance */
    double limit = allowance * spread + 10.0 * c->weight_v[i] + 1e-6 * c->fastest + 1e3 * eps;
    saltusi_note(c, SALTUS_VERIFY_MOMENTUM, 0.5 * fabs(r[i] + r[n + i]), limit,
                 (saltusi_where){.frame = b->number, .place = i});
  }
  if (c->rows_at_hand > c->nj && balance(c, b, jump, h, count, r, size)) {
    check_unseen(c, a, b, allowance * spread + 10.0 * widest + 1e-6 * c->fastest + 1e3 * eps);
  }
}

/* Positions move with a velocity between those of the ends. */
static void check_positions(saltusi_checker* c, const saltusi_checked_frame* a,
                            const saltusi_checked_frame* b) {
  int n = c->nv;
  double h = b->t - a->t;
  double* d = c->work_v;
  saltusi_displacement(c, a->q, b->q, d);
  double spread = 0.0;
  double fastest = 0.0;
  for (int i = 0; i < n; i++) {
    spread = fmax(spread, fabs(b->v[i] - a->v[i]));
    fastest = fmax(fastest, fmax(fabs(a->v[i]), fabs(b->v[i])));
  }
  saltus_point at = saltusi_point_at(c, a->t, a->q, a->v);
  if (saltusi_mass_and_force(c, &at)) { /* displacement by forces within the step where impulses
                                           cancel them */
    for (int i = 0; i < n; i++) {
      spread = fmax(spread, h * fabs(c->at.free[i]));
    }
  }
  for (int i = 0; i < n; i++) {
    double off = fabs(d[i] - 0.5 * h * (a->v[i] + b->v[i]));
    double limit = allowance * h * spread + 10.0 * c->weight_q[i] + h * h * fastest * fastest +
                   1e-6 * h * fastest + 1e3 * eps;
    saltusi_note(c, SALTUS_VERIFY_POSITIONS, off, limit,
                 (saltusi_where){.frame = b->number, .place = i});
  }
}

void saltusi_check_step(saltusi_checker* c, const saltusi_checked_frame* a,
                        const saltusi_checked_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  int count = saltusi_frame_contacts(c, b->number, c->acting);
  saltusi_set_shape_mass(c, a, b);
  c->joint_force = saltusi_joint_forces(c, b);
  check_momentum(c, a, b, count);
  check_positions(c, a, b);
}

/* --- velocities that are differences of positions --------------------------------------------------- */

/* Rows of all contacts that act from two frames before `number` to two after it, and of dry friction, after those of
 * joints; returns their number. */
static int rows_nearby(saltusi_checker* c, const saltus_point* at, long long number) {
  int rows = c->nj;
  saltusi_joint_rows(c, at, false);
  for (long long f = number - 2; f <= number + 2; f++) {
    int count = f >= 0 && f < c->data->count ? saltusi_frame_contacts(c, f, c->acting) : 0;
    for (int i = 0; i < count; i++) {
      const saltusi_checked_contacts* x = &c->acting[i];
      int own = 1 + c->system->laws[x->law].tangents;
      if ((x->force[0] != 0.0 || x->impulse[0] != 0.0) && rows + own <= c->at.rows) {
        saltusi_contact_rows(c, at, x->identity, own, rows, false);
        rows += own;
      }
    }
  }
  for (int i = 0; i < c->system->dry_count && rows < c->at.rows; i++) {
    saltusi_dry_row(c, at, i, rows++, false);
  }
  return rows;
}

/* r = M (w1 - w0) / h - h F at a frame, as a velocity, without the part that joints and contacts
 * near `b` can balance; w0, w1 [nv] are the first entries of c->work_v. */
static bool difference_balance(saltusi_checker* c, const saltusi_checked_frame* place,
                               const saltusi_checked_frame* b, double h, double* r) {
  int n = c->nv;
  const double *w0 = c->work_v, *w1 = w0 + n;
  saltus_point at = saltusi_point_at(c, place->t, place->q, place->v);
  if (!saltusi_mass_and_force(c, &at)) {
    return false;
  }
  for (int i = 0; i < n; i++) {
    r[i] = -h * c->at.F[i];
    for (int j = 0; j < n; j++) {
      r[i] += c->at.M[i * n + j] * (w1[j] - w0[j]) / h;
    }
  }
  saltusi_without(c, rows_nearby(c, &at, b->number), r);
  saltusi_mass_solve(c, r);
  return true;
}

void saltusi_check_differences(saltusi_checker* c, const saltusi_checked_frame* a,
                               const saltusi_checked_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  double h = b->t - a->t;
  int n = c->nv;
  double *w0 = c->work_v, *w1 = w0 + n, *r0 = w1 + n, *r = r0 + n;
  bool even = false;
  saltusi_checked_frame next = *b;
  if (b->number + 1 < c->data->count) {
    next = saltusi_frame_at(c, b->number + 1);
    even = fabs(next.t - b->t - h) <= 1e-6 * h;
  }
  saltusi_displacement(c, a->q, b->q, w0);
  saltusi_displacement(c, b->q, next.q, w1);
  if (!even || !difference_balance(c, a, b, h, r0) || !difference_balance(c, b, b, h, r)) {
    c->out->balanced += b->number + 1 == c->data->count ? h : 0.0;
    saltusi_skip(c, SALTUS_VERIFY_MOMENTUM);
    return;
  }
  double spread = 0.0;
  double jump = 0.0;
  for (int i = 0; i < n; i++) {
    spread = fmax(spread, fabs(r[i] - r0[i]));
    jump = fmax(jump, fabs(w1[i] - w0[i]) / h);
  }
  for (int i = 0; i < n; i++) {
    saltusi_where where = {.frame = b->number, .place = i};
    double rounding = 1e3 * eps * fmax(1.0, fabs(w1[i])) / h;
    saltusi_note(c, SALTUS_VERIFY_MOMENTUM, fabs(r[i]),
                 allowance * spread + 1e-6 * c->fastest + rounding, where);
    saltusi_note(c, SALTUS_VERIFY_POSITIONS, fabs(h * b->v[i] - 0.5 * (w0[i] + w1[i])),
                 h * (jump + allowance * spread + 1e-6 * c->fastest) + 1e3 * eps, where);
  }
  c->out->balanced += h;
}

/* --- Coulomb's law ---------------------------------------------------------------------------------- */

static void slip_of(saltusi_checker* c, const saltusi_checked_frame* f,
                    const saltusi_checked_contacts* acting, int tangents, double u[2]) {
  saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  saltusi_contact_rows(c, &at, acting->identity, 1 + tangents, c->nj, false);
  for (int k = 0; k < tangents; k++) {
    u[k] = saltusi_row_velocity(c, c->nj + 1 + k, f->v);
  }
}

/* Friction of a sliding contact at slip u over its normal force, and its viscous part [N]. */
static void sliding(const saltus_contact_law* law, const double u[2], double s[2],
                    double viscous[2]) {
  double speed = hypot(u[0], u[1]);
  saltusi_checked_constraints held = {.rule = law,
                                      .tangents = law->tangents,
                                      .rows = 1 + law->tangents,
                                      .rolls = true, /* slip alone */
                                      .pivots = true,
                                      .direction = {u[0] / speed, u[1] / speed}};
  double U[3] = {0.0, u[0], u[1]};
  double all[3] = {0.0, 0.0, 0.0};
  saltusi_slide(&held, U, all);
  for (int k = 0; k < 2; k++) {
    s[k] = all[1 + k];
    viscous[k] = law->friction != NULL ? -law->friction->viscous * u[k] : 0.0;
  }
}

/* Angle by which a slip u at frame `at` rotates in a time h, estimated from an adjacent frame; 0
 * when that frame is beyond a jump. */
static double turn_beside(saltusi_checker* c, const saltusi_checked_frame* at, long long number,
                          const saltusi_checked_contacts* acting, const double u[2], double h) {
  if (number < 0 || number >= c->data->count) {
    return 0.0;
  }
  const saltusi_checked_frame beside = saltusi_frame_at(c, number);
  const double apart = fabs(beside.t - at->t);
  double w[2] = {0.0, 0.0};
  slip_of(c, &beside, acting, 2, w);
  double inner = (u[0] * w[0] + u[1] * w[1]) / (hypot(u[0], u[1]) * hypot(w[0], w[1]));
  bool turns = apart > 0.0 && inner > 0.8; /* otherwise slip stops or begins there */
  return turns ? acos(fmin(inner, 1.0)) * h / apart : 0.0;
}

/* Friction of a contact that slips in about the same direction at both ends, against its law.
 * Between them slip may rotate by an angle phi: the largest of the angle between the ends and
 * the estimates from the adjacent frames. */
static void check_slip(saltusi_checker* c, const saltusi_checked_frame* a,
                       const saltusi_checked_frame* b, const saltusi_checked_contacts* acting,
                       const double P[3]) {
  const saltus_contact_law* law = &c->system->laws[acting->law];
  const saltus_friction_law* f = law->friction;
  double h = b->t - a->t;
  double ua[2] = {0.0, 0.0};
  double ub[2] = {0.0, 0.0};
  slip_of(c, a, acting, law->tangents, ua);
  slip_of(c, b, acting, law->tangents, ub);
  double sa = hypot(ua[0], ua[1]);
  double sb = hypot(ub[0], ub[1]);
  double inner = (ua[0] * ub[0] + ua[1] * ub[1]) / (sa * sb);
  /* fixed-step schemes impose sticking at other instants than the frames */
  double blur = c->to_tolerance ? 0.0 : 10.0 * h * c->fastest * fmax(1.0, c->fastest);
  double least = 1e-6 * fmax(1.0, fmax(sa, sb)) + 100.0 * c->def->atol + blur;
  bool bends = f != NULL && (f->curve != SALTUS_CURVE_CONSTANT || f->viscous > 0.0);
  bool shared = f != NULL && (f->patch != SALTUS_PATCH_NONE || f->adhesion > 0.0);
  shared = shared || (bends && c->to_tolerance); /* long steps: checked by the recomputed motion */
  if (sa < least || sb < least || inner < 0.8 || law->e_T != 0.0 || shared) {
    return; /* near sticking, or slip rotates: only cone and momentum are checked */
  }
  double phi = acos(fmin(inner, 1.0));
  if (law->tangents == 2) {
    phi = fmax(phi, turn_beside(c, a, a->number - 1, acting, ua, h));
    phi = fmax(phi, turn_beside(c, b, b->number + 1, acting, ub, h));
  }
  double ga[2], gb[2], va[2], vb[2];
  sliding(law, ua, ga, va);
  sliding(law, ub, gb, vb);
  double off[2];
  for (int k = 0; k < 2; k++) {
    off[k] = P[1 + k] + 0.5 * (ga[k] + gb[k]) * P[0] - 0.5 * h * (va[k] + vb[k]);
  }
  double full = law->mu * P[0];
  double change =
      hypot(ga[0] - gb[0], ga[1] - gb[1]) * P[0] + h * hypot(va[0] - vb[0], va[1] - vb[1]);
  double limit = full * (2.0 * phi + c->def->cone_angle + 1e-4) +
                 100.0 * (c->def->atol + c->def->rtol * P[0]) + 1e-12 * c->hardest +
                 (f != NULL ? 2.0 * change : 0.0);
  saltusi_note(c, SALTUS_VERIFY_SLIP, hypot(off[0], off[1]), limit,
               (saltusi_where){.frame = b->number, .place = -1, .contact = acting});
}

/* Bounds of the impulses of a bond and of viscous friction of a contact, by their largest values
 * over the step. */
static void allow(saltusi_checker* c, const saltusi_checked_frame* a,
                  const saltusi_checked_frame* b, const saltusi_checked_contacts* acting,
                  double room[2]) {
  const saltus_contact_law* law = &c->system->laws[acting->law];
  const saltus_friction_law* f = law->friction;
  double h = b->t - a->t;
  room[0] = room[1] = 0.0;
  if (f == NULL) {
    return;
  }
  room[0] = h * f->adhesion;
  room[1] = h * saltusi_bond_shear(law, f->adhesion);
  if (f->viscous > 0.0 && law->tangents > 0) {
    double ua[2] = {0.0, 0.0};
    double ub[2] = {0.0, 0.0};
    slip_of(c, a, acting, law->tangents, ua);
    slip_of(c, b, acting, law->tangents, ub);
    double speed = fmax(hypot(ua[0], ua[1]), hypot(ub[0], ub[1]));
    double blur = c->to_tolerance ? 0.0 : h * c->fastest;
    room[1] += h * f->viscous * (speed + blur);
  }
}

/* N s, distance of an impulse from its cone. */
static double outside(const saltus_contact_law* law, const double P[3], const double room[2]) {
  double mu = law->tangents > 0 ? fmax(law->mu, law->impact_mu) : 0.0;
  double over = law->tangents > 0 ? saltusi_gauge(law, P + 1) - mu * P[0] - room[1] : 0.0;
  return fmax(fmax(0.0, -P[0] - room[0]), over / sqrt(1.0 + mu * mu));
}

/* Recorded residuals are not below the violation of the law by the recorded impulses. least: that violation, N s. */
static void check_residual(saltusi_checker* c, const saltusi_checked_frame* a,
                           const saltusi_checked_frame* b, double least) {
  const saltus_recording_data* d = c->data;
  saltusi_where where = {.frame = b->number, .place = -1};
  bool one = c->data->step[b->number] - c->data->step[a->number] == 1;
  if (d->residual_impulse == NULL || d->residual_velocity == NULL || !one || c->moments) {
    return;
  }
  double declared = d->residual_impulse[b->number];
  if (declared == 0.0 && d->residual_velocity[b->number] > 0.0) {
    return; /* a scheme that reports only velocities */
  }
  saltusi_note(c, SALTUS_VERIFY_CONTROL, least, 2.0 * declared + 1e-7 * c->hardest, where);
}

void saltusi_check_friction(saltusi_checker* c, const saltusi_checked_frame* a,
                            const saltusi_checked_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  int count = saltusi_frame_contacts(c, b->number, c->acting);
  double h = b->t - a->t;
  double largest = 0.0;
  for (int i = 0; i < count; i++) {
    double P[3];
    total(&c->acting[i], h, P);
    largest = fmax(largest, fabs(P[0]));
  }
  double least = 0.0;
  for (int i = 0; i < count; i++) {
    const saltusi_checked_contacts* acting = &c->acting[i];
    const saltus_contact_law* law = &c->system->laws[acting->law];
    double P[3];
    total(acting, h, P);
    if (P[0] == 0.0 && P[1] == 0.0 && P[2] == 0.0) {
      continue;
    }
    saltusi_where where = {.frame = b->number, .place = -1, .contact = acting};
    double limit = 10.0 * (c->def->atol + c->def->rtol * largest) +
                   (c->to_tolerance ? 1e-12 * largest : 1e-5 * fmax(largest, c->hardest));
    double room[2];
    allow(c, a, b, acting, room);
    saltusi_note(c, SALTUS_VERIFY_PULL, fmax(0.0, -P[0] - room[0]), limit, where);
    least = fmax(least, outside(law, P, room));
    if (law->tangents == 0) {
      continue;
    }
    double over = saltusi_gauge(law, P + 1) - fmax(law->mu, law->impact_mu) * P[0] - room[1];
    saltusi_note(c, SALTUS_VERIFY_CONE, fmax(0.0, over), limit, where);
    if (law->mu > 0.0 && h > 0.0 && (law->impact_mu == 0.0 || acting->impulse[0] == 0.0)) {
      check_slip(c, a, b, acting, P);
    }
  }
  if (!c->to_tolerance && h > 0.0) {
    check_residual(c, a, b, least);
  }
}
