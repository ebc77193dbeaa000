/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dense_output.c - the reported step: its limit, and its motion as an array of doubles: the polynomials of the
 * method, in a Zeno extrapolation also the analytic bounces (section 5.2), and the state after the event that
 * ended the step.
 */
#include "adaptive/adaptive.h"
#include "adaptive/mode/friction_mode.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

typedef struct dense_output_head {
  double method;
  double t, h;   /* s, start, and length of the polynomials */
  double length; /* s, of the step */
  double
      /* s, part of it up to its event; the motion then rests up to the jump at its end
       * (rim_contact.c) */
      moving;
  double jump_u, jump_tau, jump_e;
  double jump_key;
  double work[2]; /* J, of impacts in rows other than slip */
} dense_output_head;

enum { HEAD = sizeof(dense_output_head) / sizeof(double), PARTS = 8 };

int saltusi_adaptive_friction_modes(const saltus_system* sys) {
  assert(sys != NULL);
  bool any = false;
  for (int i = 0; i < sys->law_count; i++) {
    const saltus_friction_law* law = sys->laws[i].friction;
    any = any || (law != NULL && (law->rolling > 0.0 || law->drilling > 0.0));
  }
  return any ? SALTUSI_GRIPS : 0;
}

int saltusi_adaptive_keys(const saltus_system* sys) {
  assert(sys != NULL);
  int keys = sys->dims.nc + sys->dry_count;
  if (!saltusi_laws_by_key(sys)) {
    return keys + sys->dims.nc * saltusi_adaptive_friction_modes(sys);
  }
  for (int i = 0; i < sys->dims.nc; i++) {
    const saltus_friction_law* law = sys->laws[i].friction;
    keys += law != NULL && law->rolling > 0.0 ? 1 : 0;
    keys += law != NULL && law->drilling > 0.0 ? 1 : 0;
  }
  return keys;
}

int saltusi_adaptive_works(const saltus_system* sys) {
  assert(sys != NULL);
  bool any = sys->dry_count > 0 || saltusi_adaptive_friction_modes(sys) > 0;
  for (int i = 0; i < sys->law_count; i++) {
    any = any || saltusi_slips_of(&sys->laws[i]) > sys->laws[i].tangents;
  }
  return any ? 2 : 0;
}

int saltusi_adaptive_rows_each(const saltus_system* sys) {
  assert(sys != NULL);
  int most = 1;
  for (int i = 0; i < sys->law_count; i++) {
    int rows = saltus_contact_rows(&sys->laws[i]);
    most = rows > most ? rows : most;
  }
  return most;
}

int saltusi_adaptive_rows(const saltus_system* sys) {
  assert(sys != NULL);
  int nc = sys->dims.nc;
  if (!saltusi_laws_by_key(sys)) {
    return nc * saltusi_adaptive_rows_each(sys) + 2 * sys->dry_count;
  }
  int rows = 2 * sys->dry_count;
  for (int i = 0; i < nc; i++) {
    rows += saltus_contact_rows(&sys->laws[i]);
  }
  return rows;
}

/* q, v, then impulses of contact rows and joints. */
static size_t motion_count(const saltus_system* sys) {
  return (size_t)sys->dims.nq + (size_t)sys->dims.nv + (size_t)saltusi_adaptive_rows(sys) +
         (size_t)sys->dims.nj + (size_t)saltusi_adaptive_works(sys);
}

/* Head, start, polynomials; q and v at the end; direction of a bounce; impulses of impacts at the start, in all,
 * and of a bounce by 1 m/s, there with those of joints; workspace for positions. */
size_t saltusi_adaptive_dense_count(const saltus_system* sys) {
  assert(sys != NULL);
  size_t state = (size_t)sys->dims.nq + (size_t)sys->dims.nv;
  return HEAD + (1 + PARTS) * motion_count(sys) + state + (size_t)sys->dims.nv +
         3 * (size_t)saltusi_adaptive_rows(sys) + (size_t)sys->dims.nj + (size_t)sys->dims.nq;
}

void saltusi_adaptive_transfer_dense(const saltus_system* sys, saltusi_state_transfer* carry) {
  assert(sys != NULL && carry != NULL);
  const saltus_dims* d = &sys->dims;
  size_t each = (size_t)saltusi_adaptive_rows_each(sys);
  size_t dry = 2 * (size_t)sys->dry_count;
  size_t state = (size_t)d->nq + (size_t)d->nv;
  saltusi_transfer_plain(carry, HEAD);
  for (int part = 0; part < 1 + PARTS; part++) {
    saltusi_transfer_plain(carry, state);
    saltusi_transfer_each(carry, each);
    saltusi_transfer_plain(carry, dry + (size_t)d->nj + (size_t)saltusi_adaptive_works(sys));
  }
  saltusi_transfer_plain(carry, state + (size_t)d->nv);
  for (int part = 0; part < 3; part++) {
    saltusi_transfer_each(carry, each);
    saltusi_transfer_plain(carry, dry);
  }
  saltusi_transfer_plain(carry, (size_t)d->nj + (size_t)d->nq);
}

void saltusi_adaptive_dense_write(const saltusi_adaptive* w, double* data) {
  assert(w != NULL);
  size_t n = (size_t)w->o.ny;
  size_t state = (size_t)w->o.nq + (size_t)w->o.nv;
  *(dense_output_head*)(void*)data =
      (dense_output_head){.method = w->memory->method_used,
                          .t = w->step.t,
                          .h = w->outcome.h,
                          .length = w->outcome.length,
                          .moving = w->outcome.length - w->outcome.passed,
                          .jump_u = w->jump.u,
                          .jump_tau = w->jump.tau,
                          .jump_e = w->jump.e_N,
                          .jump_key = w->jump.key,
                          .work = {w->outcome.work[0], w->outcome.work[1]}};
  data += HEAD;
  memcpy(data, w->step.y0, n * sizeof(double));
  data += n;
  memcpy(data, w->step.Q, PARTS * n * sizeof(double));
  data += PARTS * n;
  memcpy(data, w->step.y_end, state * sizeof(double));
  memcpy(data + state, w->jump.x_start, (size_t)w->o.nv * sizeof(double));
  data += state + (size_t)w->o.nv;
  size_t rows = (size_t)w->o.nl;
  memcpy(data, w->outcome.impacts_start, rows * sizeof(double));
  memcpy(data + rows, w->outcome.impacts, rows * sizeof(double));
  memcpy(data + 2 * rows, w->jump.bounce, (rows + (size_t)w->o.nj) * sizeof(double));
}

/* Height and speed of the analytic bounces `left` before their accumulation. At an impact, up to the rounding of
 * time, `right` selects the side. */
static void bounce_at(const dense_output_head* d, double left, bool right, double* height,
                      double* speed) {
  *height = 0.0;
  *speed = 0.0;
  double e = d->jump_e;
  double tau = d->jump_tau;
  if (!(left > 0.0)) {
    return;
  }
  double number = left < tau ? log(left / tau) / log(e) : 0.0;
  double near = rint(number);
  double rounding = 16.0 * DBL_EPSILON * fmax(fabs(d->t) + tau, 1.0);
  const double nearest = pow(e, near);
  if (fabs(left - tau * nearest) <= fmin(rounding, 1e-3 * left * (1.0 - e))) {
    *speed = right || near < 1.0 ? d->jump_u * nearest : -d->jump_u * pow(e, near - 1.0);
    return;
  }
  double k = fmax(0.0, floor(number));
  double power = k == near ? nearest : pow(e, k);
  if (left > tau * power) {
    k -= 1.0;
    power = pow(e, k);
  } else if (near > k && left <= tau * nearest) { /* the next one, which is not near otherwise */
    k += 1.0;
    power = nearest;
  }
  double begin = tau * power; /* time left at the start of bounce k */
  double past = begin - left;
  double flight = begin * (1.0 - e);
  double u = d->jump_u * power;
  *height = u * past * (1.0 - past / flight);
  *speed = u * (1.0 - 2.0 * past / flight);
}

static void take(int n, const double* from, double* to) {
  if (to != NULL) {
    memcpy(to, from, (size_t)n * sizeof(double));
  }
}

void saltusi_adaptive_dense_read(const saltus_system* sys, double* data, saltusi_moment at,
                                 double* q, double* v) {
  assert(sys != NULL);
  const dense_output_head* d = (const dense_output_head*)(const void*)data;
  double t = at.t;
  bool right = at.right;
  int nq = sys->dims.nq;
  int nv = sys->dims.nv;
  size_t n = motion_count(sys);
  const double* y0 = data + HEAD;
  const double* Q = y0 + n;
  const double* end = Q + PARTS * n;
  const double* x = end + nq + nv;
  double* lower = data + saltusi_adaptive_dense_count(sys) - nq;
  double past = fmin(fmax(t - d->t, 0.0), d->length);
  double rounding = 4.0 * DBL_EPSILON * fmax(fabs(t), d->length); /* t may be the end as a sum */
  if (right && !at.smooth && past >= d->length - rounding) {
    take(nq, end, q);
    take(nv, end + nq, v);
    return;
  }
  const saltusi_adaptive_ops* ops = saltusi_adaptive_ops_of(d->method);
  const saltusi_trial_motion motion = {.y0 = y0, .Q = Q, .n = (int)n, .h = d->h};
  double theta = d->h > 0.0 ? fmin(past, d->moving) / d->h : 0.0;
  double height = 0.0;
  double speed = 0.0;
  if (d->jump_tau > 0.0 && !at.smooth) {
    bounce_at(d, d->jump_tau - past, right, &height, &speed);
  }
  if (q != NULL) {
    ops->dense(&motion, theta, 0, nq, q);
    saltusi_normalise(sys, q);
    if (height != 0.0) {
      memcpy(lower, q, (size_t)nq * sizeof(double));
      saltusi_advance(sys, lower, x, height, q);
    }
  }
  if (v != NULL) {
    ops->dense(&motion, theta, nq, nv, v);
    saltusi_add_scaled(nv, speed, x, v);
  }
}

/* The polynomials of a step, and the theta of a time. */
static saltusi_trial_motion motion_of(const saltusi_layout_tables* o, const double* data, double t,
                                      double* theta) {
  const dense_output_head* d = (const dense_output_head*)(const void*)data;
  size_t n = (size_t)o->ny;
  double past = fmin(fmax(t - d->t, 0.0), d->moving);
  *theta = d->h > 0.0 ? past / d->h : 0.0;
  return (saltusi_trial_motion){.y0 = data + HEAD, .Q = data + HEAD + n, .n = (int)n, .h = d->h};
}

/* Sum of the impulses of all bounces up to a time, relative to the impulse of an impact with 1 m/s: impact k has the
 * approach speed u e^k and the rebound speed u e^(k+1). */
static double bounced(const dense_output_head* d, double t, bool right) {
  enum { MOST = 100000 };
  double left = d->jump_tau - (t - d->t);
  double sum = 0.0;
  double u = d->jump_u;
  double next = d->jump_tau; /* time left at an impact */
  double rounding = 16.0 * DBL_EPSILON * fmax(fabs(t) + d->jump_tau, 1.0);
  for (int k = 0; k < MOST; k++) {
    next *= d->jump_e;
    if (next <= rounding || left > next + (right ? rounding : -rounding)) {
      break;
    }
    sum += u * (1.0 + d->jump_e);
    u *= d->jump_e;
  }
  return sum;
}

void saltusi_adaptive_dense_contact(const saltusi_layout_tables* o, const double* data,
                                    saltusi_moment at, int key, saltusi_contact_dense_output into) {
  assert(o != NULL && key >= 0);
  const dense_output_head* d = (const dense_output_head*)(const void*)data;
  double t = at.t;
  bool right = at.right;
  const saltusi_adaptive_ops* ops = saltusi_adaptive_ops_of(d->method);
  double theta;
  int first = o->base[key];
  saltusi_trial_motion motion = motion_of(o, data, t, &theta);
  int rows = 1 + o->law[key]->tangents;
  int nl = o->nl;
  const double* impacts = data + HEAD + (1 + PARTS) * (size_t)o->ny + o->nq + 2 * (size_t)o->nv;
  bool jumps = d->jump_tau > 0.0 && !at.smooth;
  bool own = jumps && (int)d->jump_key == key;
  double rounding = 4.0 * DBL_EPSILON * fmax(fabs(t), d->length);
  bool ended = right && t - d->t >= d->length - rounding;
  bool began = right || t - d->t > rounding;
  for (int k = 0; k < rows; k++) {
    const double* given = impacts + first + k;
    into.impulse[k] = ended ? given[nl] : began ? given[0] : 0.0;
    if (jumps) { /* bouncing contacts and those coupled to them have impulses but no force */
      into.impulse[k] += given[2 * nl] * bounced(d, t, right);
    }
  }
  if (own) {
    return;
  }
  int from = o->nq + o->nv + first;
  ops->dense(&motion, theta, from, rows, into.lasting);
  ops->dense_rate(&motion, theta, from, rows, into.force);
  if (jumps) { /* without the force of the closed contact */
    int bouncing = o->base[(int)d->jump_key];
    double lasting;
    double force;
    ops->dense(&motion, theta, o->nq + o->nv + bouncing, 1, &lasting);
    ops->dense_rate(&motion, theta, o->nq + o->nv + bouncing, 1, &force);
    for (int k = 0; k < rows; k++) {
      double part = impacts[2 * nl + first + k] / impacts[2 * nl + bouncing];
      into.lasting[k] -= part * lasting;
      into.force[k] -= part * force;
    }
  }
}

void saltusi_adaptive_dense_power(const saltusi_layout_tables* o, const double* data, double t,
                                  double power[2]) {
  assert(o != NULL && power != NULL);
  const dense_output_head* d = (const dense_output_head*)(const void*)data;
  double theta;
  saltusi_trial_motion motion = motion_of(o, data, t, &theta);
  power[0] = power[1] = 0.0;
  saltusi_adaptive_ops_of(d->method)->dense_rate(&motion, theta, o->nq + o->nv + o->nl + o->nj,
                                                 o->works, power);
}

void saltusi_adaptive_dense_work(const double* data, double work[2]) {
  assert(data != NULL && work != NULL);
  const dense_output_head* d = (const dense_output_head*)(const void*)data;
  work[0] = d->work[0];
  work[1] = d->work[1];
}

void saltusi_adaptive_dense_joints(const saltusi_layout_tables* o, const double* data,
                                   saltusi_moment at, double* force, double* lasting) {
  assert(o != NULL);
  const dense_output_head* d = (const dense_output_head*)(const void*)data;
  const saltusi_adaptive_ops* ops = saltusi_adaptive_ops_of(d->method);
  double theta;
  saltusi_trial_motion motion = motion_of(o, data, at.t, &theta);
  int from = o->nq + o->nv + o->nl;
  if (force != NULL) {
    ops->dense_rate(&motion, theta, from, o->nj, force);
  }
  if (lasting != NULL) {
    ops->dense(&motion, theta, from, o->nj, lasting);
  }
  /* without the reaction to the force of the closed contact */
  if (d->jump_tau > 0.0 && !at.smooth) {
    const double* bounce =
        data + HEAD + (1 + PARTS) * (size_t)o->ny + o->nq + 2 * (size_t)o->nv + 2 * (size_t)o->nl;
    const int bouncing = o->base[(int)d->jump_key];
    double pressed[2] = {0.0, 0.0};
    ops->dense_rate(&motion, theta, o->nq + o->nv + bouncing, 1, &pressed[0]);
    ops->dense(&motion, theta, o->nq + o->nv + bouncing, 1, &pressed[1]);
    for (int j = 0; j < o->nj; j++) {
      const double part = bounce[o->nl + j] / bounce[bouncing];
      if (force != NULL) {
        force[j] -= part * pressed[0];
      }
      if (lasting != NULL) {
        lasting[j] -= part * pressed[1];
      }
    }
  }
}

bool saltusi_adaptive_dense_bounce(const saltusi_layout_tables* o, const double* data,
                                   saltusi_moment at, saltusi_bounce* bounce) {
  assert(o != NULL && bounce != NULL);
  const dense_output_head* d = (const dense_output_head*)(const void*)data;
  if (!(d->jump_tau > 0.0)) {
    return false;
  }
  *bounce = (saltusi_bounce){.key = (int)d->jump_key, .start = d->jump_u};
  const double* unit =
      data + HEAD + (1 + PARTS) * (size_t)o->ny + o->nq + 2 * (size_t)o->nv + 2 * (size_t)o->nl;
  bounce->mass = unit;
  double left = d->jump_tau - (at.t - d->t);
  double height;
  bounce_at(d, left, at.right, &height, &bounce->speed);
  double sum = bounced(d, at.t, at.right); /* u (1 + e) (1 - e^k) / (1 - e) */
  double e = d->jump_e;
  bounce->launch = fmax(0.0, d->jump_u - sum * (1.0 - e) / (1.0 + e));
  bounce->since = d->t + d->jump_tau * (1.0 - bounce->launch / d->jump_u);
  return true;
}

saltus_status saltusi_adaptive_forces(saltusi_adaptive* w, double* memory, double limit,
                                      const double* q, const double* v) {
  assert(w != NULL);
  saltusi_adaptive_open(w, memory);
  memcpy(w->step.y0, q, (size_t)w->o.nq * sizeof(double));
  memcpy(w->step.y0 + w->o.nq, v, (size_t)w->o.nv * sizeof(double));
  memset(w->step.y0 + w->o.nq + w->o.nv, 0, (size_t)(w->o.ny - w->o.nq - w->o.nv) * sizeof(double));
  saltus_status status = saltusi_read_laws(w, w->step.t, w->step.y0);
  saltusi_read_tolerances(w);
  if (status == SALTUS_OK && w->memory->started == 0.0) {
    status = saltusi_adaptive_start(w, limit);
    saltusi_adaptive_close(w);
  }
  return status == SALTUS_OK
             ? saltusi_mode_rate(&w->mode, w->step.t, w->step.y0, w->search.probe_rate)
             : status;
}

int saltusi_adaptive_contact_of(const saltusi_adaptive* w, int i) {
  assert(w != NULL);
  int row = i - w->o.nq - w->o.nv;
  int key = 0;
  while (key + 1 < w->o.nc && w->o.base[key + 1] <= row) {
    key++;
  }
  return key;
}

saltus_step_limit saltusi_adaptive_limit_of(const saltusi_adaptive* w, double h, double most,
                                            bool end, double factor) {
  assert(w != NULL && h > 0.0);
  if (h >= most) {
    return end ? SALTUS_LIMIT_END : SALTUS_LIMIT_LONGEST;
  }
  if (h >= w->memory->cap) {
    return SALTUS_LIMIT_EVENT;
  }
  if (factor >= 5.0) {
    return SALTUS_LIMIT_GROWTH;
  }
  bool position = w->step.worst < w->o.nq;
  bool velocity = !position && w->step.worst < w->o.nq + w->o.nv;
  return position ? SALTUS_LIMIT_POSITION : velocity ? SALTUS_LIMIT_VELOCITY : SALTUS_LIMIT_IMPULSE;
}
