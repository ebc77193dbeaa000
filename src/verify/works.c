/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * works.c - the columns of the ledger, works of contacts and forces of joints, summed along the
 * recomputed motion and over the impacts of the frames (docs/theory/certificate.md, 5).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double allowance = 10.0;

/* Columns of the recording; NULL where it has none. */
static void columns_of(const saltus_recording_data* d, const double* column[SALTUSI_COLUMNS]) {
  column[SALTUSI_EXTERNAL] = d->energy_external;
  column[SALTUSI_DRIVE] = d->energy_drive;
  column[SALTUSI_FRICTION] = d->energy_friction;
  column[SALTUSI_IMPACT] = d->energy_impact;
  column[SALTUSI_CREATED] = d->energy_created;
}

double saltusi_largest_energy(const saltus_recording_data* d) {
  assert(d != NULL);
  double size = 0.0;
  const double* column[] = {d->kinetic,      d->potential,       d->energy_external,
                            d->energy_drive, d->energy_friction, d->energy_impact};
  for (int k = 0; k < 6; k++) {
    for (long long i = 0; column[k] != NULL && i < d->count; i++) {
      size = fmax(size, fabs(column[k][i]));
    }
  }
  return size;
}

double saltusi_energy_limit(const saltusi_checker* c, long long frame) {
  assert(c != NULL);
  double hundreds = floor((double)c->data->step[frame] / 100.0);
  return allowance * (c->def->atol + c->def->rtol * c->energy) * (1.0 + hundreds);
}

static double frame_energy(saltusi_checker* c, const saltusi_checked_frame* f) {
  saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  return c->system->ops->frame_energy != NULL ? c->system->ops->frame_energy(c->system->self, &at)
                                              : 0.0;
}

/* --- along the motion ------------------------------------------------------------------------------- */

void saltusi_powers_at(saltusi_checker* c, const saltus_point* at, int count, const double* lambda,
                       double* out) {
  assert(c != NULL && at != NULL && out != NULL);
  double power[2] = {0.0, 0.0};
  if (c->system->ops->power != NULL) {
    c->system->ops->power(c->system->self, at, power);
  }
  memcpy(out, c->at.x, (size_t)c->nj * sizeof *out);
  for (int j = 0; j < c->nj; j++) {
    power[1] -= c->at.x[j] * c->at.b[j];
  }
  int row = c->nj;
  for (int i = 0; i < count; i++) {
    const double* l = lambda + (ptrdiff_t)3 * i;
    double friction = 0.0;
    for (int k = 0; k <= c->held[i].tangents; k++) {
      friction += k > 0 ? l[k] * saltusi_row_velocity(c, row + k, at->v) : 0.0;
      power[1] -= l[k] * c->at.b[row + k];
    }
    out[c->nj + i] = friction;
    row += c->held[i].rows;
  }
  out[c->nj + count] = power[0];
  out[c->nj + count + 1] = power[1];
}

void saltusi_book_smooth(saltusi_checker* c, const saltusi_checked_frame* a,
                         const saltusi_checked_frame* b, int count, const double* sums) {
  assert(c != NULL && a != NULL && b != NULL && sums != NULL);
  saltusi_booked* w = &c->booked;
  bool seen = true; /* all friction is tangential */
  for (int i = 0; i < count; i++) {
    w->step[SALTUSI_FRICTION] += sums[c->nj + i];
    seen = seen && c->held[i].rows == 1 + c->held[i].tangents;
    if (!c->data->changing) {
      w->of_step[2 * c->held[i].identity] = sums[c->nj + i];
    }
  }
  w->step[SALTUSI_EXTERNAL] = sums[c->nj + count];
  w->step[SALTUSI_DRIVE] = sums[c->nj + count + 1] + frame_energy(c, b) - frame_energy(c, a);
  bool power = c->system->ops->power != NULL;
  w->known[SALTUSI_FRICTION] = seen && c->system->dry_count == 0;
  w->known[SALTUSI_EXTERNAL] = w->known[SALTUSI_DRIVE] = power && c->system->dry_count == 0;
  w->known[SALTUSI_IMPACT] = w->known[SALTUSI_CREATED] = true;
  w->contacts = seen;
}

/* Whether a jump occurs in the step of a frame, or at its start. */
static bool has_jump(const saltus_recording_data* d, long long frame) {
  long long i = frame;
  for (; i > 0 && d->step[i] == d->step[frame]; i--) {
    if (d->t[i] == d->t[i - 1]) {
      return true;
    }
  }
  return i == 0 || d->t[i] == d->t[i - 1];
}

void saltusi_compare_joints(saltusi_checker* c, const saltusi_checked_frame* a,
                            const saltusi_checked_frame* b, const double* sums, double part) {
  assert(c != NULL && a != NULL && b != NULL && sums != NULL);
  const double* recorded = saltusi_joint_forces(c, b);
  double h = b->t - a->t;
  bool jumps = has_jump(c->data, b->number);
  if (jumps && c->data->joint_impulse == NULL) {
    saltusi_skip(c,
                 SALTUS_VERIFY_JOINT_FORCES); /* means of the first recordings contain impulses */
    return;
  }
  part *=
      jumps ? 100.0 : 1.0; /* the mean after an impact contains the projection of its velocities */
  saltus_point at = saltusi_point_at(c, b->t, b->q, b->v);
  saltusi_joint_rows(c, &at, false);
  for (int i = 0; recorded != NULL && i < c->nv; i++) {
    double off = 0.0;
    double size = 0.0;
    double wide = 0.0;
    for (int j = 0; j < c->nj; j++) { /* as generalized forces: rows may be nearly redundant */
      off += c->at.G[j * c->nv + i] * (h * recorded[j] - sums[j]);
      size += fabs(c->at.G[j * c->nv + i] * sums[j]);
      wide += fabs(c->at.G[j * c->nv + i]) * c->follow_error[j];
    }
    for (int j = 0; j < c->nv; j++) {
      wide += fabs(c->at.M[i * c->nv + j]) * 10.0 * c->weight_v[j];
    }
    double limit =
        part * allowance * (5.0 * (c->def->atol + c->def->rtol * size) + wide) + 1e-9 * size;
    saltusi_note(c, SALTUS_VERIFY_JOINT_FORCES, fabs(off) / h, limit / h,
                 (saltusi_where){.frame = b->number, .place = -1});
  }
}

/* --- impacts ---------------------------------------------------------------------------------------- */

void saltusi_book_impact(saltusi_checker* c, const saltusi_hit* h) {
  assert(c != NULL && h != NULL);
  saltusi_booked* w = &c->booked;
  const double* P = h->contact->impulse;
  double normal = 0.5 * P[0] * (h->before[0] + h->after[0]);
  double along = 0.0;
  for (int k = 1; k <= c->system->laws[h->contact->law].tangents; k++) {
    along += 0.5 * P[k] * (h->before[k] + h->after[k]);
  }
  w->step[SALTUSI_IMPACT] += normal;
  w->step[SALTUSI_FRICTION] += along;
  w->round += normal + along;
  if (!c->data->changing) {
    w->of_step[2 * h->contact->identity] += along;
    w->of_step[2 * h->contact->identity + 1] += normal;
  }
}

/* --- steps of any scheme ---------------------------------------------------------------------------- */

/* Work of a contact between two frames as recorded: friction, normal. False: it has none. */
static bool recorded_work(const saltus_recording_data* d, long long frame, int i, double work[2]) {
  const double* x[2] = {d->changing ? d->table.friction_work : d->friction_work,
                        d->changing ? d->table.impact_work : d->impact_work};
  long long at = d->changing ? d->table.start[frame] + i : frame * d->nc + i;
  for (int k = 0; k < 2; k++) {
    if (x[k] == NULL) {
      return false;
    }
    work[k] = x[k][at] - (d->changing ? 0.0 : x[k][at - d->nc]);
  }
  return true;
}

/* Least and largest velocity of row r of a contact at the ends of a step and of the steps beside it: schemes spread an
 * impact over some. */
static void range_of(saltusi_checker* c, long long frame, const saltusi_checked_contacts* x, int r,
                     bool acts, double U[2]) {
  U[0] = U[1] = 0.0;
  bool first = true;
  for (long long f = frame - 2; f <= frame + 1 && acts; f++) {
    if (f < 0 || f >= c->data->count) {
      continue;
    }
    const saltusi_checked_frame at = saltusi_frame_at(c, f);
    saltus_point point = saltusi_point_at(c, at.t, at.q, at.v);
    saltusi_contact_rows(c, &point, x->identity, 1 + r, c->nj, false);
    double u = saltusi_row_velocity(c, c->nj + r, at.v);
    U[0] = first ? u : fmin(U[0], u);
    U[1] = first ? u : fmax(U[1], u);
    first = false;
  }
}

/* N s, difference of the normal impulse of a contact from those of the adjacent steps: contacts that open or close act
 * in a part of a step. */
static double unevenness(saltusi_checker* c, const saltusi_checked_frame* b,
                         const saltusi_checked_contacts* x) {
  double P = x->impulse[0] + (b->t - c->data->t[b->number - 1]) * x->force[0];
  double most = 0.0;
  for (long long f = b->number - 1; f <= b->number + 1; f += 2) {
    if (f < 1 || f >= c->data->count) {
      continue;
    }
    int count = saltusi_frame_contacts(c, f, c->before);
    double other = 0.0;
    for (int i = 0; i < count; i++) {
      const saltusi_checked_contacts* y = &c->before[i];
      double h = c->data->t[f] - c->data->t[f - 1];
      other = y->identity == x->identity ? y->impulse[0] + h * y->force[0] : other;
    }
    most = fmax(most, fabs(P - other));
  }
  return most;
}

void saltusi_check_step_works(saltusi_checker* c, const saltusi_checked_frame* a,
                              const saltusi_checked_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  double h = b->t - a->t;
  int count = saltusi_frame_contacts(c, b->number, c->acting);
  saltus_point at = saltusi_point_at(c, b->t, b->q, b->v);
  if (!saltusi_mass_and_force(c, &at)) {
    return;
  }
  saltusi_joint_rows(c, &at, false);
  for (int i = 0; i < count; i++) {
    const saltusi_checked_contacts* x = &c->acting[i];
    double work[2];
    double mean[2] = {0.0, 0.0};
    double wide[2] = {0.0, 0.0};
    if (!recorded_work(c->data, b->number, i, work)) {
      return;
    }
    const saltus_contact_law* law = &c->system->laws[x->law];
    if (saltus_contact_rows(law) > 1 + law->tangents) {
      continue; /* rolling and spin do work as well and are not recorded */
    }
    int rows = 1 + law->tangents;
    double W[9] = {0.0}; /* Delassus block: velocities that impulses create and cancel within a
                            step */
    if (x->impulse[0] != 0.0 || x->force[0] != 0.0) {
      saltusi_effective_mass(c, &at, x, rows, W);
    }
    double uneven = law->tangents > 0 ? law->mu * unevenness(c, b, x) : 0.0;
    for (int r = 0; r < rows; r++) {
      double P = x->impulse[r] + h * x->force[r];
      double U[2];
      range_of(c, b->number, x, r, x->impulse[0] != 0.0 || x->force[0] != 0.0, U);
      int k = r == 0 ? 1 : 0;
      mean[k] += 0.5 * P * (U[0] + U[1]);
      /* friction that reverses within the step has a smaller sum */
      double most = fmax(fabs(P), r > 0 ? law->mu * fabs(x->impulse[0] + h * x->force[0]) : 0.0);
      wide[k] += most * (0.5 * (U[1] - U[0]) + 1e-6 * c->fastest);
      wide[k] += r > 0 ? uneven * fmax(fabs(U[0]), fabs(U[1])) : 0.0;
      wide[k] += P != 0.0 ? W[r * rows + r] * P * P : 0.0;
    }
    for (int k = 0; k < 2; k++) {
      saltusi_note(c, SALTUS_VERIFY_WORKS, fabs(work[k] - mean[k]),
                   4.0 * wide[k] + 1e-9 * c->energy,
                   (saltusi_where){.frame = b->number, .place = -1, .contact = x});
    }
  }
}

/* --- frame by frame --------------------------------------------------------------------------------- */

void saltusi_book_begin(saltusi_checker* c) {
  assert(c != NULL);
  saltusi_booked* w = &c->booked;
  memset(w->step, 0, sizeof w->step);
  memset(w->known, 0, sizeof w->known);
  memset(w->of_step, 0, 2 * (size_t)c->gap_room * sizeof *w->of_step);
  w->round = 0.0;
  w->contacts = false;
}

/* Works of all contacts up to a frame, of a fixed set since the start; of a changing one since the frame before. */
static void sum_works(const saltusi_checker* c, long long frame, double sum[2]) {
  const saltus_recording_data* d = c->data;
  sum[0] = sum[1] = 0.0;
  for (long long r = d->changing ? d->table.start[frame] : frame * d->nc;
       r < (d->changing ? d->table.start[frame + 1] : (frame + 1) * d->nc); r++) {
    sum[0] += d->changing ? d->table.friction_work[r] : d->friction_work[r];
    sum[1] += d->changing ? d->table.impact_work[r] : d->impact_work[r];
  }
}

/* Works of contacts add up to the columns of the ledger. */
static void check_sums(saltusi_checker* c, long long frame, const double* const* column) {
  const saltus_recording_data* d = c->data;
  bool has = d->changing ? d->table.friction_work != NULL && d->table.impact_work != NULL
                         : d->friction_work != NULL && d->impact_work != NULL;
  if (!has || column[SALTUSI_FRICTION] == NULL || column[SALTUSI_IMPACT] == NULL) {
    return;
  }
  double sum[2];
  sum_works(c, frame, sum);
  double limit = 1e-11 * c->energy + 1e-300;
  for (int k = 0; k < 2; k++) {
    if (k == 0 && c->moments) {
      continue; /* dry friction of joints, rolling and spin are only in the column */
    }
    const double* x = column[k == 0 ? SALTUSI_FRICTION : SALTUSI_IMPACT];
    double wanted = x[frame] - (d->changing && frame > 0 ? x[frame - 1] : 0.0);
    saltusi_note(c, SALTUS_VERIFY_WORKS, fabs(sum[k] - wanted), limit,
                 (saltusi_where){.frame = frame, .place = -1, .certain = true});
  }
}

void saltusi_check_works(saltusi_checker* c, const saltusi_checked_frame* a,
                         const saltusi_checked_frame* b) {
  assert(c != NULL && b != NULL);
  const saltus_recording_data* d = c->data;
  saltusi_booked* w = &c->booked;
  const double* column[SALTUSI_COLUMNS];
  columns_of(d, column);
  check_sums(c, b->number, column);
  double limit =
      saltusi_energy_limit(c, b->number) * (saltusi_is_inside(c, b->number) ? 10.0 : 1.0);
  limit += 1e-11 * c->energy;
  for (int k = 0; k < SALTUSI_COLUMNS && column[k] != NULL; k++) {
    double now = column[k][b->number];
    if (a == NULL) { /* sums since the start */
      saltusi_note(c, SALTUS_VERIFY_WORKS, fabs(now), 1e-11 * c->energy + 1e-300,
                   (saltusi_where){.frame = 0, .place = k});
      continue;
    }
    w->sum[k] += w->known[k] ? w->step[k] : now - column[k][a->number];
    if (w->known[k] && c->to_tolerance) {
      saltusi_note(c, SALTUS_VERIFY_WORKS, fabs(now - w->sum[k]), limit,
                   (saltusi_where){.frame = b->number, .place = k});
    }
  }
  bool each = !d->changing && d->friction_work != NULL && d->impact_work != NULL && a != NULL;
  for (int i = 0; i < c->gap_room && each; i++) {
    for (int k = 0; k < 2; k++) {
      const double* x = k == 0 ? d->friction_work : d->impact_work;
      double now = x[b->number * d->nc + i];
      double* sum = &w->of[2 * i + k];
      *sum += w->contacts ? w->of_step[2 * i + k] : now - x[a->number * d->nc + i];
      if (w->contacts && c->to_tolerance) {
        saltusi_note(c, SALTUS_VERIFY_WORKS, fabs(now - *sum), limit,
                     (saltusi_where){.frame = b->number, .place = i});
      }
    }
  }
}
