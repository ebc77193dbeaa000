/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reactions.c - impulses and forces of joints from the balance of momentum, and works of external forces and drives over
 * steps of any scheme and over impacts (docs/theory/certificate.md, 5).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double allowance = 8.0; /* as for the momentum in a step */

double saltusi_spread(saltusi_checker* c, int kind, double spread) {
  assert(c != NULL && kind >= 0 && kind < 5);
  double before = c->spread[kind];
  c->spread[kind] = spread;
  return fmax(spread, before);
}

/* --- impulses of joints ----------------------------------------------------------------------------- */

/* N s, recorded impulse of joint row j over a time h up to a frame. */
static double recorded_impulse(const saltusi_checker* c, const saltusi_checked_frame* b, double h,
                               int j) {
  const saltus_recording_data* d = c->data;
  long long at = b->number * c->nj + j;
  double P = d->joint_impulse != NULL ? d->joint_impulse[at] : 0.0;
  return P + (d->joint_force != NULL && h > 0.0 ? h * d->joint_force[at] : 0.0);
}

void saltusi_reaction_error(const saltusi_checker* c, const saltusi_checked_frame* b, double h,
                            double* y) {
  assert(c != NULL && b != NULL && y != NULL);
  memset(y, 0, (size_t)c->nv * sizeof *y);
  for (int j = 0; j < c->nj; j++) {
    double off = c->at.x[j] - recorded_impulse(c, b, h, j);
    for (int i = 0; i < c->nv; i++) {
      y[i] += c->at.G[j * c->nv + i] * off;
    }
  }
}

/* y [nv] = G^T x of the current joint rows. */
static void generalized(const saltusi_checker* c, const double* x, double* y) {
  memset(y, 0, (size_t)c->nv * sizeof *y);
  for (int j = 0; j < c->nj; j++) {
    for (int i = 0; i < c->nv; i++) {
      y[i] += c->at.G[j * c->nv + i] * x[j];
    }
  }
}

void saltusi_begin_rotation(const saltusi_checker* c, double* y) {
  assert(c != NULL && y != NULL);
  generalized(c, c->at.x, y);
}

void saltusi_end_rotation(saltusi_checker* c, const double* x, double* y) {
  assert(c != NULL && x != NULL && y != NULL);
  double* d = y + c->nv;
  generalized(c, x, d);
  for (int i = 0; i < c->nv; i++) {
    d[i] -= y[i];
  }
  saltusi_without(c, c->rows_at_hand, d);
  generalized(c, c->at.x, y);
}

/* N s in coordinate i of the admissible errors of velocities. */
static double worth(const saltusi_checker* c, int i) {
  double sum = 0.0;
  double left = c->to_tolerance ? 1e-12 * c->fastest : 1e-6 * c->fastest; /* by solvers */
  for (int j = 0; j < c->nv; j++) {
    sum += fabs(c->at.M[i * c->nv + j]) * (10.0 * c->weight_v[j] + left);
  }
  return sum;
}

void saltusi_check_reactions(saltusi_checker* c, const saltusi_checked_frame* b, double h,
                             const double* y, const double* rotation) {
  assert(c != NULL && b != NULL && y != NULL && rotation != NULL);
  int n = c->nv;
  if (c->nj == 0 || c->data->joint_force == NULL) {
    return;
  }
  double spread = 0.0;
  double rotated = 0.0;
  for (int i = 0; i < n; i++) {
    spread = fmax(spread, fmax(fabs(y[i] - y[n + i]), fabs(y[i] - y[2 * n + i])));
    rotated = fmax(rotated, fabs(rotation[i]));
  }
  spread = saltusi_spread(c, 1, spread);
  rotated = saltusi_spread(c, 4, rotated);
  for (int i = 0; i < n; i++) {
    double limit = allowance * spread + rotated + worth(c, i);
    saltusi_note(c, SALTUS_VERIFY_JOINT_FORCES, 0.5 * fabs(y[i] + y[n + i]) / h, limit / h,
                 (saltusi_where){.frame = b->number, .place = -1});
  }
}

/* Whether an accumulation of impacts ends in the step of a frame: its impulses of joints are recorded as a whole. */
static bool accumulates(const saltusi_checker* c, const saltusi_checked_frame* b) {
  const saltus_recording_data* d = c->data;
  long long end = b->number;
  long long last = 0;
  while (end + 1 < d->count && d->step[end + 1] == d->step[b->number]) {
    end++;
  }
  for (long long k = saltusi_events_from(c, b->t, d->t[end], &last); k < last; k++) {
    if (c->events[k].kind == SALTUS_EVENT_ACCUMULATION) {
      return true;
    }
  }
  return false;
}

/* Whether an impact of the same step is recorded before frame `number`, or after it. */
static bool has_impact(const saltus_recording_data* d, long long number, int by) {
  for (long long i = number + by; i > 0 && i < d->count && d->step[i] == d->step[number]; i += by) {
    if (d->t[i] == d->t[i - 1]) {
      return true;
    }
  }
  return false;
}

void saltusi_add_reactions(saltusi_checker* c, const saltusi_checked_frame* b, double h,
                           const double* x) {
  assert(c != NULL && b != NULL && x != NULL);
  for (int j = 0; j < c->nj; j++) {
    c->step_sum[j] += x[j] - recorded_impulse(c, b, h, j);
  }
  c->step_pairs++;
}

void saltusi_check_step_reactions(saltusi_checker* c, const saltusi_checked_frame* a,
                                  const saltusi_checked_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  const saltus_recording_data* d = c->data;
  bool ends = b->number + 1 == d->count || d->step[b->number + 1] != d->step[b->number];
  if (!c->to_tolerance || c->nj == 0 || d->joint_impulse == NULL || !ends) {
    return;
  }
  long long first = b->number;
  while (first > 0 && d->step[first - 1] == d->step[b->number]) {
    first--;
  }
  bool known = c->step_pairs == b->number - (first > 0 ? first - 1 : 0);
  const saltusi_checked_frame begin = saltusi_frame_at(c, first);
  saltus_point at = saltusi_point_at(c, b->t, b->q, b->v);
  if (known && accumulates(c, &begin) && saltusi_mass_and_force(c, &at)) {
    saltusi_set_shape_mass(c, a, b);
    saltusi_joint_rows(c, &at, false);
    for (int i = 0; i < c->nv; i++) {
      double y = 0.0;
      double limit = 10.0 * worth(c, i);
      for (int j = 0; j < c->nj; j++) {
        y += c->at.G[j * c->nv + i] * c->step_sum[j];
        limit += fabs(c->at.G[j * c->nv + i]) * 10.0 * c->def->atol;
      }
      saltusi_note(c, SALTUS_VERIFY_JOINT_FORCES, fabs(y), limit,
                   (saltusi_where){.frame = b->number, .place = -1});
    }
  }
  memset(c->step_sum, 0, (size_t)c->nj * sizeof *c->step_sum);
  c->step_pairs = 0;
}

void saltusi_check_joint_impulses(saltusi_checker* c, const saltusi_checked_frame* b, bool unique) {
  assert(c != NULL && b != NULL);
  const saltus_recording_data* d = c->data;
  if (c->nj == 0 || d->joint_impulse == NULL || c->moments) {
    return;
  }
  if (unique) {
    saltusi_add_reactions(c, b, 0.0, c->at.x);
  }
  if (accumulates(c, b)) {
    return; /* compared for the whole step */
  }
  bool first = !has_impact(d, b->number, -1);
  bool last = !has_impact(d, b->number, 1);
  if (!unique && !(first && last)) {
    saltusi_skip(c, SALTUS_VERIFY_JOINT_FORCES);
    return;
  }
  double* sum = c->impact_sum; /* the first impact of a step is recorded with the impulses of all */
  for (int j = 0; j < c->nj; j++) {
    sum[j] = c->at.x[j] - recorded_impulse(c, b, 0.0, j) + (first ? 0.0 : sum[j]);
  }
  for (int i = 0; last && i < c->nv; i++) {
    double y = 0.0;
    for (int j = 0; j < c->nj; j++) {
      y += c->at.G[j * c->nv + i] * sum[j];
    }
    saltusi_note(c, SALTUS_VERIFY_JOINT_FORCES, fabs(y), (first ? 1.0 : 3.0) * worth(c, i),
                 (saltusi_where){.frame = b->number, .place = -1});
  }
}

/* --- works ------------------------------------------------------------------------------------------ */

static double frame_energy(saltusi_checker* c, const saltusi_checked_frame* f) {
  saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  return c->system->ops->frame_energy != NULL ? c->system->ops->frame_energy(c->system->self, &at)
                                              : 0.0;
}

void saltusi_book_drives(saltusi_checker* c, const saltusi_checked_frame* a,
                         const saltusi_checked_frame* b, int count) {
  assert(c != NULL && a != NULL && b != NULL);
  double work = frame_energy(c, b) - frame_energy(c, a);
  for (int j = 0; j < c->nj; j++) {
    work -= c->at.x[j] * c->at.b[j];
  }
  saltus_point at = saltusi_point_at(c, b->t, b->q, b->v);
  for (int i = 0; i < count; i++) {
    const saltusi_checked_contacts* x = &c->acting[i];
    int rows = 1 + c->system->laws[x->law].tangents;
    if (x->impulse[0] != 0.0 || x->impulse[1] != 0.0 || x->impulse[2] != 0.0) {
      saltusi_contact_rows(c, &at, x->identity, rows, c->nj, false);
      for (int k = 0; k < rows; k++) {
        work -= x->impulse[k] * c->at.b[c->nj + k];
      }
    }
  }
  c->booked.step[SALTUSI_DRIVE] = work;
}

/* Work of drives and its range over a step: impulses times the speed of drives at both ends. */
typedef struct drive_range {
  double mean, wide; /* J */
} drive_range;

static void add_row(drive_range* r, double P, double b0, double b1) {
  r->mean -= 0.5 * P * (b0 + b1);
  r->wide += fabs(P) * fabs(b1 - b0);
}

static drive_range drives_of(saltusi_checker* c, const saltusi_checked_frame* a,
                             const saltusi_checked_frame* b) {
  double h = b->t - a->t;
  drive_range r = {.mean = frame_energy(c, b) - frame_energy(c, a)};
  saltus_point from = saltusi_point_at(c, a->t, a->q, a->v);
  saltus_point to = saltusi_point_at(c, b->t, b->q, b->v);
  saltusi_joint_rows(c, &from, false);
  double* b0 = c->unseen_x;
  memcpy(b0, c->at.b, (size_t)c->nj * sizeof *b0);
  saltusi_joint_rows(c, &to, false);
  for (int j = 0; j < c->nj; j++) {
    add_row(&r, recorded_impulse(c, b, h, j), b0[j], c->at.b[j]);
  }
  int count = saltusi_frame_contacts(c, b->number, c->acting);
  for (int i = 0; i < count; i++) {
    const saltusi_checked_contacts* x = &c->acting[i];
    int rows = 1 + c->system->laws[x->law].tangents;
    if (x->force[0] == 0.0 && x->impulse[0] == 0.0) {
      continue;
    }
    double first[SALTUSI_CONTACT_ROWS];
    saltusi_contact_rows(c, &from, x->identity, rows, c->nj, false);
    memcpy(first, c->at.b + c->nj, (size_t)rows * sizeof *first);
    saltusi_contact_rows(c, &to, x->identity, rows, c->nj, false);
    for (int k = 0; k < rows; k++) {
      add_row(&r, x->impulse[k] + h * x->force[k], first[k], c->at.b[c->nj + k]);
    }
  }
  return r;
}

void saltusi_check_step_powers(saltusi_checker* c, const saltusi_checked_frame* a,
                               const saltusi_checked_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  const saltus_recording_data* d = c->data;
  if (c->system->ops->power == NULL || d->energy_external == NULL || d->energy_drive == NULL ||
      c->moments) {
    return;
  }
  double h = b->t - a->t;
  double power[3][2] = {{0.0}};
  double* mean = c->work_v;
  for (int i = 0; i < c->nv; i++) {
    mean[i] = 0.5 * (a->v[i] + b->v[i]);
  }
  const saltus_point at[3] = {saltusi_point_at(c, a->t, a->q, a->v),
                              saltusi_point_at(c, b->t, b->q, b->v),
                              saltusi_point_at(c, b->t, b->q, mean)};
  for (int k = 0; k < 3; k++) {
    c->system->ops->power(c->system->self, &at[k], power[k]);
  }
  const drive_range r = drives_of(c, a, b);
  const double* columns[2] = {d->energy_external, d->energy_drive};
  for (int k = 0; k < 2; k++) {
    double spread = fmax(fabs(power[1][k] - power[0][k]), fabs(power[2][k] - power[0][k]));
    spread = saltusi_spread(c, 2 + k, spread);
    double wanted = 0.5 * h * (power[0][k] + power[1][k]) + (k == 1 ? r.mean : 0.0);
    double limit = 2.0 * allowance * (h * spread + (k == 1 ? r.wide : 0.0)) + 1e-9 * c->energy;
    double work = columns[k][b->number] - columns[k][a->number];
    saltusi_note(c, SALTUS_VERIFY_WORKS, fabs(work - wanted), limit,
                 (saltusi_where){.frame = b->number, .place = k});
  }
}

void saltusi_check_created(saltusi_checker* c, const saltusi_checked_frame* b) {
  assert(c != NULL && b != NULL);
  const saltus_recording_data* d = c->data;
  if (d->energy_created == NULL || !c->every) {
    return;
  }
  saltusi_booked* w = &c->booked;
  for (; w->gains < d->event_count && c->events[w->gains].t < b->t; w->gains++) {
    const saltus_event* e = &c->events[w->gains];
    w->gained += e->kind == SALTUS_EVENT_ENERGY_GAIN ? e->energy_change : 0.0;
  }
  double most = w->gained; /* including events of the instant, before or after the frame */
  for (long long k = w->gains; k < d->event_count && c->events[k].t <= b->t; k++) {
    most += c->events[k].kind == SALTUS_EVENT_ENERGY_GAIN ? c->events[k].energy_change : 0.0;
  }
  double created = d->energy_created[b->number];
  double off = fmax(w->gained - created, created - most);
  saltusi_note(c, SALTUS_VERIFY_WORKS, isnan(created) ? created : fmax(0.0, off), 1e-9 * c->energy,
               (saltusi_where){.frame = b->number, .place = SALTUSI_CREATED});
}
