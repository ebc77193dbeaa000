/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rows.c - contacts of bodies in a frame. Forces in the axes of the world come from the rows of a contact: the generalized
 * force G P of a free body is the force on it, and its torque determines the line of action. A contact without a point
 * in the system (a journal, a latch) is placed on that line, nearest to a marker of the body.
 */
#include "report/rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool saltusi_row_add(const saltus_allocator* memory, saltusi_drawn_contact_row** list,
                     size_t* count, size_t* room, const saltusi_drawn_contact_row* one) {
  assert(memory != NULL && list != NULL && one != NULL);
  void* array = *list;
  if (!saltusi_grow(memory, &array, room, *count + 1, sizeof **list)) {
    return false;
  }
  *list = array;
  (*list)[(*count)++] = *one;
  return true;
}

static bool acts(const double force[3], const double impulse[3]) {
  for (int k = 0; k < 3; k++) {
    if ((isfinite(force[k]) && force[k] != 0.0) || (isfinite(impulse[k]) && impulse[k] != 0.0)) {
      return true;
    }
  }
  return false;
}

/* Appends the recorded rows of a frame to the list. */
static bool read_frame(saltusi_rows* r, long long f) {
  const saltus_recording_data* data = r->d->data;
  const saltus_recorded_contacts* table = &data->table;
  const saltus_allocator* memory = &r->d->pool.allocator;
  const double dt = f > 0 ? data->t[f] - data->t[f - 1] : 0.0;
  saltusi_drawn_contact_row one = {.frame = f, .time = dt};
  if (!data->changing) {
    for (int i = 0; i < data->nc; i++) {
      const long long at = f * data->nc + i;
      memcpy(one.force, data->force + 3 * at, sizeof one.force);
      memcpy(one.impulse, data->impulse + 3 * at, sizeof one.impulse);
      one.identity = (uint64_t)i;
      one.law = i;
      one.gap = data->gap[at];
      one.bodies[0] = one.bodies[1] = -1;
      for (int k = 0; k < 3; k++) {
        one.point[k] = one.normal[k] = NAN;
      }
      if (acts(one.force, one.impulse) &&
          !saltusi_row_add(memory, &r->list, &r->count, &r->room, &one)) {
        return false;
      }
    }
    return true;
  }
  for (long long i = table->start[f]; i < table->start[f + 1]; i++) {
    memcpy(one.force, table->force + 3 * i, sizeof one.force);
    memcpy(one.impulse, table->impulse + 3 * i, sizeof one.impulse);
    memcpy(one.point, table->point + 3 * i, sizeof one.point);
    memcpy(one.normal, table->normal + 3 * i, sizeof one.normal);
    one.identity = table->identity[i];
    one.law = (int)table->law[i];
    one.gap = table->gap[i];
    for (int k = 0; k < 2; k++) {
      one.bodies[k] = (int)table->bodies[2 * i + k];
    }
    if (!saltusi_row_add(memory, &r->list, &r->count, &r->room, &one)) {
      return false;
    }
  }
  return true;
}

static int by_identity(const void* a, const void* b) {
  const saltusi_drawn_contact_row* x = a;
  const saltusi_drawn_contact_row* y = b;
  if (x->identity != y->identity) {
    return x->identity < y->identity ? -1 : 1;
  }
  return (x->frame > y->frame) - (x->frame < y->frame);
}

/* Merges the rows of one contact over several frames. */
static void merge(saltusi_rows* r, double span) {
  size_t count = 0;
  if (r->count == 0) {
    return; /* no list */
  }
  qsort(r->list, r->count, sizeof *r->list, by_identity);
  for (size_t i = 0; i < r->count; count++) {
    saltusi_drawn_contact_row sum = r->list[i];
    for (int k = 0; k < 3; k++) {
      sum.force[k] *= sum.time;
    }
    size_t next = i + 1;
    for (; next < r->count && r->list[next].identity == sum.identity; next++) {
      saltusi_drawn_contact_row last = r->list[next];
      for (int k = 0; k < 3; k++) {
        last.force[k] = sum.force[k] + last.force[k] * last.time;
        last.impulse[k] += sum.impulse[k];
        last.point[k] = isfinite(last.point[k]) ? last.point[k] : sum.point[k];
        last.normal[k] = isfinite(last.normal[k]) ? last.normal[k] : sum.normal[k];
      }
      sum = last;
    }
    for (int k = 0; k < 3; k++) {
      sum.force[k] = span > 0.0 ? sum.force[k] / span : r->list[next - 1].force[k];
    }
    r->list[count] = sum;
    i = next;
  }
  r->count = count;
}

static double dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross3(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
  }
}

/* Force and torque about the centre of mass that multipliers of the rows exert on a body, in the axes of the world. */
static void act_on(const saltusi_rows* r, const saltus_rows* G, const double multiplier[3],
                   int body, const double axes[9], double force[3], double torque[3]) {
  const saltusi_document* d = r->d;
  const bool plane = saltus_mechanism_sizes(d->mechanism).dimension == 2;
  const int first = saltus_mechanism_body(d->mechanism, body).v + d->v_first;
  double wrench[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (int i = 0; i < G->count; i++) {
    for (int k = 0; k < G->width; k++) {
      const int place = (G->column != NULL ? G->column[k] : k) - first;
      if (place >= 0 && place < (plane ? 3 : 6)) {
        wrench[plane && place == 2 ? 5 : place] += multiplier[i] * G->G[i * G->stride + k];
      }
    }
  }
  memcpy(force, wrench, 3 * sizeof *force);
  for (int k = 0; k < 3; k++) {
    torque[k] =
        plane ? wrench[3 + k]
              : axes[3 * k] * wrench[3] + axes[3 * k + 1] * wrench[4] + axes[3 * k + 2] * wrench[5];
  }
}

/* The point of the line along n with this moment about x that is nearest to a marker of the body, by the marker that is
 * nearest to the line. */
static void place_on_line(const saltusi_document* d, const saltus_point* at, int body,
                          const double x[3], const double n[3], const double moment[3],
                          double out[3]) {
  const double square = dot3(n, n);
  double foot[3], least = INFINITY;
  cross3(n, moment, foot);
  for (int k = 0; k < 3; k++) {
    foot[k] = x[k] + foot[k] / square;
    out[k] = foot[k];
  }
  const int markers = saltus_mechanism_sizes(d->mechanism).markers;
  for (int i = 0; i < markers; i++) {
    if (saltus_mechanism_marker(d->mechanism, i).body != body) {
      continue;
    }
    double p[3], axes[9], from[3];
    saltus_mechanism_frame(d->mechanism, i, at->t, at->q + d->q_first, p, axes);
    for (int k = 0; k < 3; k++) {
      from[k] = p[k] - foot[k];
    }
    const double along = dot3(from, n) / square;
    const double off = dot3(from, from) - along * along * square;
    if (off < least) {
      least = off;
      for (int k = 0; k < 3; k++) {
        out[k] = foot[k] + along * n[k];
      }
    }
  }
}

/* A free body of the rows; the one that the normal points to, if a normal is given. */
static int choose_body(const saltusi_rows* r, const saltus_rows* G,
                       const saltusi_drawn_contact_row* one) {
  int found = -1;
  for (int k = 0; k < G->width; k++) {
    const int body = r->body_of[G->column != NULL ? G->column[k] : k];
    bool any = false;
    for (int i = 0; i < G->count; i++) {
      any = any || G->G[i * G->stride + k] != 0.0;
    }
    if (any && body >= 0 && (found < 0 || body == one->bodies[0])) {
      found = body;
    }
  }
  return found;
}

/* The system with velocities of bodies. */
static const saltus_system* system_of(const saltusi_document* d) {
  const saltus_scene_view* scene = d->def->scene;
  return scene->bodies != NULL ? scene->bodies : scene->system;
}

/* Forces in world axes, and the point where the system gives none. */
static void locate(const saltusi_rows* r, const saltus_point* at, saltusi_drawn_contact_row* one) {
  const saltusi_document* d = r->d;
  const saltus_system* system = system_of(d);
  const int tangents =
      one->law >= 0 && one->law < system->law_count ? system->laws[one->law].tangents : 0;
  const int nv = system->dims.nv, width = system->dims.row_width;
  saltus_rows G = {.count = 1 + tangents,
                   .width = width > 0 ? width : nv,
                   .stride = nv,
                   .column = width > 0 ? r->column : NULL,
                   .G = r->G,
                   .b = r->b};
  memset(r->G, 0, 3 * (size_t)nv * sizeof *r->G);
  memset(r->b, 0, 3 * sizeof *r->b);
  memset(r->column, 0, (size_t)nv * sizeof *r->column);
  for (int k = 0; k < 3; k++) {
    one->push[k] = one->kick[k] = NAN;
  }
  saltus_contact_place place;
  if (system->ops->place != NULL &&
      system->ops->place(system->self, at, one->identity, &place) == SALTUS_ERR_RANGE) {
    return; /* not a contact of the scene */
  }
  system->ops->contact(system->self, at, one->identity, &G);
  const int body = choose_body(r, &G, one);
  if (body < 0) {
    return;
  }
  static const double unit[3] = {1.0, 0.0, 0.0};
  double x[3], axes[9], n[3], moment[3], unused[3];
  saltus_mechanism_pose(d->mechanism, body, at->t, at->q + d->q_first, x, axes);
  act_on(r, &G, unit, body, axes, n, moment);
  act_on(r, &G, one->force, body, axes, one->push, unused);
  act_on(r, &G, one->impulse, body, axes, one->kick, unused);
  const double length = sqrt(dot3(n, n));
  if (!(length > 1e-9)) { /* a torque */
    return;
  }
  if (!isfinite(one->point[0])) {
    place_on_line(d, at, body, x, n, moment, one->point);
    one->bodies[0] = body;
    for (int k = 0; k < 3; k++) {
      one->normal[k] = n[k] / length;
    }
  } else if (dot3(n, one->normal) < 0.0) { /* the other body: the force on the first is opposite */
    for (int k = 0; k < 3; k++) {
      one->push[k] = -one->push[k];
      one->kick[k] = -one->kick[k];
    }
  }
}

bool saltusi_rows_known(const saltusi_document* d) {
  assert(d != NULL);
  const saltus_recording_data* data = d->data;
  return d->mechanism != NULL && d->def->scene->system->ops->contact != NULL &&
         (data->changing || (data->nc > 0 && data->force != NULL && data->impulse != NULL));
}

saltus_status saltusi_rows_start(saltusi_document* d, saltusi_rows* r) {
  assert(d != NULL && d->mechanism != NULL && r != NULL);
  const saltus_system* system = system_of(d);
  const int nv = system->dims.nv;
  *r = (saltusi_rows){.d = d,
                      .body_of = SALTUSI_TAKE(&d->pool, int, nv + 1),
                      .column = SALTUSI_TAKE(&d->pool, int, nv + 1),
                      .G = SALTUSI_TAKE(&d->pool, double, 3 * (nv + 1)),
                      .b = SALTUSI_TAKE(&d->pool, double, 3),
                      .scratch = saltusi_pool_take(&d->pool, system->dims.scratch + 1, 1)};
  if (d->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  const saltus_mechanism_size size = saltus_mechanism_sizes(d->mechanism);
  for (int i = 0; i < nv; i++) {
    r->body_of[i] = -1;
  }
  for (int b = 0; b < size.bodies; b++) {
    const int v = saltusi_document_body(d, b).v;
    for (int k = 0; v >= 0 && k < (size.dimension == 2 ? 3 : 6); k++) {
      r->body_of[d->v_first + v + k] = b;
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_rows_of(saltusi_rows* r, long long k) {
  assert(r != NULL && k >= 0 && k < r->d->count);
  const saltusi_document* d = r->d;
  const saltus_recording_data* data = d->data;
  const long long first = saltusi_first_of(d, k), last = d->frames[k];
  const saltus_point at = {.t = data->t[last],
                           .q = data->q + last * data->nq,
                           .v = saltusi_document_velocities(d, last),
                           .scratch = r->scratch};
  r->count = 0;
  for (long long f = first; f <= last; f++) {
    if (!read_frame(r, f)) {
      return SALTUS_ERR_MEMORY;
    }
  }
  if (last > first) {
    merge(r, data->t[last] - (first > 0 ? data->t[first - 1] : data->t[0]));
  }
  for (size_t i = 0; i < r->count; i++) {
    locate(r, &at, &r->list[i]);
  }
  return SALTUS_OK;
}

void saltusi_rows_end(saltusi_rows* r) {
  assert(r != NULL);
  saltusi_release(&r->d->pool.allocator, r->list, r->room, sizeof *r->list);
  r->list = NULL;
  r->count = r->room = 0;
}
