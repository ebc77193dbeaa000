/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contacts.c - contacts of the frames that are shown. A shown frame represents the omitted frames before it: forces
 * are means over time, impulses are sums.
 */
#include "report/rows.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ------------------------------------------------------------------ a fixed set, by contact --- */

/* Mean over time of frames first .. last of a column with `stride`; for zero duration, the last value. */
static double mean(const saltus_recording_data* data, const double* values, long long stride,
                   long long first, long long last) {
  double sum = 0.0, time = 0.0;
  for (long long f = first; f <= last; f++) {
    const double dt = f > 0 ? data->t[f] - data->t[f - 1] : 0.0;
    const double value = values[f * stride];
    sum += dt > 0.0 && isfinite(value) ? value * dt : 0.0;
    time += dt;
  }
  return time > 0.0 && first < last ? sum / time : values[last * stride];
}

static double total(const double* values, long long stride, long long first, long long last) {
  double sum = 0.0;
  for (long long f = first; f <= last; f++) {
    sum += isfinite(values[f * stride]) ? values[f * stride] : 0.0;
  }
  return sum;
}

void saltusi_contact_force(const saltusi_document* d, long long k, int contact, double force[3]) {
  assert(d != NULL && d->data->force != NULL && contact < d->data->nc);
  for (int i = 0; i < 3; i++) {
    force[i] = mean(d->data, d->data->force + 3LL * contact + i, 3LL * d->data->nc,
                    saltusi_first_of(d, k), d->frames[k]);
  }
}

void saltusi_contact_impulse(const saltusi_document* d, long long k, int contact,
                             double impulse[3]) {
  assert(d != NULL && d->data->impulse != NULL && contact < d->data->nc);
  for (int i = 0; i < 3; i++) {
    impulse[i] = total(d->data->impulse + 3LL * contact + i, 3LL * d->data->nc,
                       saltusi_first_of(d, k), d->frames[k]);
  }
}

static void write_now(saltusi_document* d, const char* name, const double* values) {
  saltusi_array(d, name, d->real, d->count, d->data->nc, 0);
  for (long long k = 0; k < d->count; k++) {
    saltusi_put_all(d, values + d->frames[k] * d->data->nc, d->data->nc);
  }
}

void saltusi_write_contacts(saltusi_document* d) {
  assert(d != NULL);
  const saltus_recording_data* data = d->data;
  if (data->nc == 0 || data->gap == NULL || data->force == NULL || data->impulse == NULL) {
    return;
  }
  write_now(d, "gap", data->gap);
  if (data->velocity != NULL) {
    write_now(d, "gap_rate", data->velocity);
  }
  double values[3];
  saltusi_array(d, "force", d->real, d->count, data->nc, 3);
  for (long long k = 0; k < d->count; k++) {
    for (int i = 0; i < data->nc; i++) {
      saltusi_contact_force(d, k, i, values);
      saltusi_put_all(d, values, 3);
    }
  }
  saltusi_array(d, "impulse", d->real, d->count, data->nc, 3);
  for (long long k = 0; k < d->count; k++) {
    for (int i = 0; i < data->nc; i++) {
      saltusi_contact_impulse(d, k, i, values);
      saltusi_put_all(d, values, 3);
    }
  }
}

/* ------------------------------------------------------------------------- rows of bodies --- */

typedef struct all_rows { /* of all frames */
  saltusi_drawn_contact_row* list;
  size_t count, room;
} all_rows;

static saltus_status collect(saltusi_document* d, all_rows* all, uint32_t* start) {
  saltusi_rows r;
  saltus_status status = saltusi_rows_start(d, &r);
  for (long long k = 0; k < d->count && status == SALTUS_OK; k++) {
    start[k] = (uint32_t)all->count;
    status = saltusi_rows_of(&r, k);
    for (size_t i = 0; i < r.count && status == SALTUS_OK; i++) {
      status = saltusi_row_add(&d->pool.allocator, &all->list, &all->count, &all->room, &r.list[i])
                   ? SALTUS_OK
                   : SALTUS_ERR_MEMORY;
    }
  }
  start[d->count] = (uint32_t)all->count;
  saltusi_rows_end(&r);
  return status;
}

static void write_vectors(saltusi_document* d, const char* name, const all_rows* r, size_t offset) {
  saltusi_array(d, name, d->real, (long long)r->count, 3, 0);
  for (size_t i = 0; i < r->count; i++) {
    double value[3];
    memcpy(value, (const char*)&r->list[i] + offset, sizeof value);
    saltusi_put_all(d, value, 3);
  }
}

static void write_all(saltusi_document* d, const all_rows* r, const uint32_t* start) {
  const long long count = (long long)r->count;
  saltusi_array(d, "row_start", SALTUSI_U32, d->count + 1, 1, 0);
  for (long long k = 0; k <= d->count; k++) {
    saltusi_put(d, start[k]);
  }
  saltusi_array(d, "row_identity", SALTUSI_U32, count, 2, 0);
  for (size_t i = 0; i < r->count; i++) {
    saltusi_put(d, (double)(r->list[i].identity & 0xFFFFFFFFu));
    saltusi_put(d, (double)(r->list[i].identity >> 32));
  }
  saltusi_array(d, "row_law", SALTUSI_I32, count, 1, 0);
  for (size_t i = 0; i < r->count; i++) {
    saltusi_put(d, r->list[i].law);
  }
  saltusi_array(d, "row_bodies", SALTUSI_I32, count, 2, 0);
  for (size_t i = 0; i < r->count; i++) {
    saltusi_put(d, r->list[i].bodies[0]);
    saltusi_put(d, r->list[i].bodies[1]);
  }
  saltusi_array(d, "row_gap", d->real, count, 1, 0);
  for (size_t i = 0; i < r->count; i++) {
    saltusi_put(d, r->list[i].gap);
  }
  write_vectors(d, "row_point", r, offsetof(saltusi_drawn_contact_row, point));
  write_vectors(d, "row_normal", r, offsetof(saltusi_drawn_contact_row, normal));
  write_vectors(d, "row_force", r, offsetof(saltusi_drawn_contact_row, force));
  write_vectors(d, "row_impulse", r, offsetof(saltusi_drawn_contact_row, impulse));
  write_vectors(d, "row_push", r, offsetof(saltusi_drawn_contact_row, push));
  write_vectors(d, "row_kick", r, offsetof(saltusi_drawn_contact_row, kick));
}

saltus_status saltusi_write_rows(saltusi_document* d) {
  assert(d != NULL && d->mechanism != NULL);
  if (!saltusi_rows_known(d)) {
    return SALTUS_OK;
  }
  uint32_t* start = SALTUSI_TAKE(&d->pool, uint32_t, d->count + 1);
  if (start == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  all_rows all = {NULL, 0, 0};
  saltus_status status = collect(d, &all, start);
  if (status == SALTUS_OK) {
    write_all(d, &all, start);
  }
  saltusi_release(&d->pool.allocator, all.list, all.room, sizeof *all.list);
  return status;
}
