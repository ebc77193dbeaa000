/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * frames.c - the states and contacts of a recording, one frame at a time.
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

saltusi_checked_frame saltusi_frame_at(const saltusi_checker* c, long long number) {
  assert(c != NULL && number >= 0 && number < c->data->count);
  return (saltusi_checked_frame){.number = number,
                                 .t = c->data->t[number],
                                 .q = c->data->q + number * c->nq,
                                 .v = c->data->v + number * c->nv};
}

static int changing_contacts(const saltus_recorded_contacts* table, long long number,
                             saltusi_checked_contacts* list) {
  int count = 0;
  for (long long r = table->start[number]; r < table->start[number + 1]; r++) {
    saltusi_checked_contacts* a = &list[count++];
    *a = (saltusi_checked_contacts){.identity = table->identity[r],
                                    .law = (int)table->law[r],
                                    .gap = table->gap[r],
                                    .velocity = table->velocity[r]};
    memcpy(a->force, table->force + 3 * r, sizeof a->force);
    memcpy(a->impulse, table->impulse + 3 * r, sizeof a->impulse);
  }
  return count;
}

int saltusi_frame_contacts(const saltusi_checker* c, long long number,
                           saltusi_checked_contacts* list) {
  assert(c != NULL && list != NULL);
  const saltus_recording_data* data = c->data;
  if (data->changing) {
    return changing_contacts(&data->table, number, list);
  }
  for (int i = 0; i < data->nc; i++) {
    long long at = number * data->nc + i;
    list[i] = (saltusi_checked_contacts){
        .identity = (uint64_t)i, .law = i, .gap = data->gap[at], .velocity = data->velocity[at]};
    memcpy(list[i].force, data->force + 3 * at, sizeof list[i].force);
    memcpy(list[i].impulse, data->impulse + 3 * at, sizeof list[i].impulse);
  }
  return data->nc;
}

void saltusi_set_shape_mass(saltusi_checker* c, const saltusi_checked_frame* a,
                            const saltusi_checked_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  const saltus_verify_def* def = c->def;
  for (int i = 0; i < c->nv; i++) {
    double atol_q = def->atol_q != NULL && def->atol_q[i] > 0.0 ? def->atol_q[i] : def->atol;
    double atol_v = def->atol_v != NULL && def->atol_v[i] > 0.0 ? def->atol_v[i] : def->atol;
    int k = c->coordinate[i];
    c->weight_q[i] = k >= 0 ? atol_q + def->rtol * fmax(fabs(a->q[k]), fabs(b->q[k]))
                            : fmax(atol_q, def->rtol); /* angles have no length scale */
    c->weight_v[i] = atol_v + def->rtol * fmax(fabs(a->v[i]), fabs(b->v[i]));
  }
}

const double* saltusi_joint_forces(const saltusi_checker* c, const saltusi_checked_frame* f) {
  assert(c != NULL && f != NULL);
  return c->data->joint_force != NULL ? c->data->joint_force + f->number * c->nj : NULL;
}

long long saltusi_frame_of(const saltusi_checker* c, double t) {
  assert(c != NULL);
  long long low = 0;
  long long high = c->data->count - 1;
  while (low < high) { /* the first that is not before t */
    long long middle = low + (high - low) / 2;
    low = c->data->t[middle] < t ? middle + 1 : low;
    high = c->data->t[middle] < t ? high : middle;
  }
  return low;
}

bool saltusi_is_inside(const saltusi_checker* c, long long i) {
  assert(c != NULL);
  const saltus_recording_data* d = c->data;
  return !c->every || (i + 1 < d->count && d->step[i + 1] == d->step[i] && d->t[i + 1] > d->t[i]);
}
