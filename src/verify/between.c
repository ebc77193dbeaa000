/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * between.c - contacts that a recording does not list: all gaps at frames, and between two frames along the cubic
 * polynomial through both states (docs/theory/certificate.md, 7).
 *
 *   q(s) = c0 + c1 s + c2 s^2 + c3 s^3,  0 <= s <= 1,     |q - motion| <= 6 |c3| / 32, estimated
 *
 * A gap is excluded over a range of s by the enclosures of the system (interval arithmetic, bounds of speeds), else the
 * range is halved. A gap that is negative at a point of the polynomial by more than the limit is a contact that was missed.
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { DEGREE = 3, ORDER = 2, JET = ORDER + 1, MOST_DEPTH = 24 };

/* --- the polynomial --------------------------------------------------------------------------------- */

static void set_path(saltusi_checker* c, const saltusi_checked_frame* a,
                     const saltusi_checked_frame* b) {
  saltusi_between* w = &c->between;
  double h = b->t - a->t;
  const double *va = a->v, *vb = b->v;
  double *ra = c->work_q, *rb = ra + c->nq;
  if (c->system->ops->rate != NULL) {
    c->system->ops->rate(c->system->self, a->q, a->v, ra);
    c->system->ops->rate(c->system->self, b->q, b->v, rb);
    va = ra;
    vb = rb;
  }
  double bent = 0.0;
  double off = 0.0;
  for (int i = 0; i < c->nq; i++) {
    double* p = w->power + (ptrdiff_t)i * (DEGREE + 1);
    double way = b->q[i] - a->q[i];
    p[0] = a->q[i];
    p[1] = h * va[i];
    p[2] = 3.0 * way - h * (2.0 * va[i] + vb[i]);
    p[3] = -2.0 * way + h * (va[i] + vb[i]);
    off += 36.0 / 1024.0 * p[3] * p[3];
    bent += p[2] * p[2] + p[3] * p[3];
  }
  w->a = *a;
  w->b = *b;
  w->off = sqrt(off);
  w->bent = sqrt(bent);
}

static void path_at(const saltusi_checker* c, double s, double* q) {
  for (int i = 0; i < c->nq; i++) {
    const double* p = c->between.power + (ptrdiff_t)i * (DEGREE + 1);
    q[i] = p[0] + s * (p[1] + s * (p[2] + s * p[3]));
  }
}

/* Taylor coefficients 0 .. ORDER over |s - m| <= r. */
static void enclose(const double* p, double m, double r, double off, saltus_interval* out) {
  const double at[DEGREE + 1] = {p[0] + m * (p[1] + m * (p[2] + m * p[3])),
                                 p[1] + m * (2.0 * p[2] + 3.0 * m * p[3]), p[2] + 3.0 * m * p[3],
                                 p[3]};
  const double wide[JET] = {
      r * (fabs(at[1]) + r * (fabs(at[2]) + r * fabs(at[3]))) + off,
      r * (2.0 * fabs(at[2]) + 3.0 * r * fabs(at[3])) + 4.0 * off,
      3.0 * r * fabs(at[3]) + 16.0 * off,
  };
  double size = 0.0;
  for (int k = 0; k <= DEGREE; k++) {
    size += fabs(p[k]);
  }
  for (int k = 0; k < JET; k++) {
    double width = wide[k] + 1e-15 * (double)(1 + k) * size; /* rounding of the shift */
    out[k] = (saltus_interval){at[k] - width, at[k] + width};
  }
}

static saltus_course course_over(saltusi_checker* c, double m, double r, saltus_interval* q,
                                 saltus_interval t[JET]) {
  const saltusi_between* w = &c->between;
  double h = w->b.t - w->a.t;
  for (int i = 0; i < c->nq; i++) {
    const double* p = w->power + (ptrdiff_t)i * (DEGREE + 1);
    enclose(p, m, r, r > 0.0 ? 6.0 / 32.0 * fabs(p[3]) : 0.0, q + (ptrdiff_t)i * JET);
  }
  t[0] = (saltus_interval){fmax(w->a.t, w->a.t + (m - r) * h), fmin(w->b.t, w->a.t + (m + r) * h)};
  t[1] = (saltus_interval){h, h};
  t[2] = (saltus_interval){0.0, 0.0};
  return (saltus_course){.order = ORDER, .stride = JET, .t = t, .q = q, .scratch = w->scratch};
}

/* --- one contact ------------------------------------------------------------------------------------ */

typedef struct target {
  uint64_t identity;
  int law;
  bool watch;    /* a distance of two shapes, or of two features with guards */
  double margin; /* m, depth that does not count as contact */
  double deepest, at;
} target;

/* Gap at a point of the polynomial; NaN: its features are not in contact there. */
static double gap_at(saltusi_checker* c, const target* x, double s) {
  const saltus_system_ops* ops = c->system->ops;
  double* q = c->between.q;
  path_at(c, s, q);
  saltus_point at =
      saltusi_point_at(c, c->between.a.t + s * (c->between.b.t - c->between.a.t), q, NULL);
  double gap = NAN;
  if (ops->gaps == NULL) {
    saltusi_list_gaps(c, &at);
    return c->gap[x->identity];
  }
  if (ops->gaps(c->system->self, &at, 1, &x->identity, &gap) != SALTUS_OK) {
    return NAN;
  }
  double guard[SALTUS_GUARDS];
  int guards = x->law != SALTUS_WATCH && ops->guards != NULL && gap < 0.0
                   ? ops->guards(c->system->self, &at, x->identity, guard) % SALTUS_LIES_DOWN
                   : 0;
  for (int i = 0; i < guards; i++) {
    gap = guard[i] > 0.0 ? gap : NAN;
  }
  return gap;
}

/* Radius of the part of |s - m| <= r around m with a gap above -margin; negative: undecided. */
static double clear_by_speed(saltusi_checker* c, const target* x, double m, double r) {
  const saltus_enclosure_ops* e = c->system->ops->enclosure;
  saltus_interval t[2][JET];
  saltus_course over = course_over(c, m, r, c->between.range, t[0]);
  saltus_course middle = course_over(c, m, 0.0, c->between.range + (ptrdiff_t)JET * c->nq, t[1]);
  saltus_clearance out = {.value = NAN};
  e->contact_clear(c->system->self, &over, &middle, r, x->identity, c->between.off, &out);
  if (isnan(out.value) || !(out.value > 0.0)) {
    return -1.0;
  }
  return out.lowest > -x->margin ? r : fmin(out.clear[0], out.clear[1]);
}

static double clear_by_range(saltusi_checker* c, const target* x, double m, double r) {
  const saltus_enclosure_ops* e = c->system->ops->enclosure;
  saltus_interval t[JET];
  saltus_interval over[SALTUSI_CONTACT_ROWS * JET];
  saltus_interval middle[SALTUSI_CONTACT_ROWS * JET];
  for (int k = 0; k < 2; k++) {
    saltus_course course = course_over(c, m, k == 0 ? r : 0.0, c->between.range, t);
    course.order = 1;
    saltus_interval* out = k == 0 ? over : middle;
    if (c->data->changing) {
      e->contact_along(c->system->self, &course, SALTUS_QUANTITY_GAP, x->identity, out);
    } else {
      e->along(c->system->self, &course, SALTUS_QUANTITY_GAP, (int)x->identity, out);
    }
  }
  double slope = fmax(fabs(over[1].lo), fabs(over[1].hi));
  double lowest = fmax(over[0].lo, middle[0].lo - r * slope);
  if (lowest > -x->margin) {
    return r;
  }
  double above = middle[0].lo + x->margin;
  return isfinite(slope) && above > 0.0 && slope > 0.0 ? above / slope : -1.0;
}

static bool is_enclosed(const saltusi_checker* c, const target* x) {
  const saltus_enclosure_ops* e = c->system->ops->enclosure;
  if (e == NULL) {
    return false;
  }
  if (x->watch) {
    return e->contact_clear != NULL;
  }
  unsigned on = !c->data->changing && e->along != NULL
                    ? e->depends(c->system->self, SALTUS_QUANTITY_GAP, (int)x->identity)
                : c->data->changing && e->contact_along != NULL
                    ? e->contact_depends(c->system->self, SALTUS_QUANTITY_GAP, x->identity)
                    : SALTUS_NOT_ENCLOSED;
  return (on & SALTUS_NOT_ENCLOSED) == 0;
}

/* Whether the gap is above -margin over all of |s - m| <= r; the deepest point that was found in x. */
static bool exclude(saltusi_checker* c, target* x, double m, double r, int depth) {
  c->between.left--;
  double gap = gap_at(c, x, m);
  if (gap < x->deepest) {
    x->deepest = gap;
    x->at = m;
  }
  double clear = !is_enclosed(c, x) ? -1.0
                 : x->watch         ? clear_by_speed(c, x, m, r)
                                    : clear_by_range(c, x, m, r);
  if (clear >= r) {
    return true;
  }
  if (depth >= MOST_DEPTH || c->between.left <= 0 || x->deepest < -x->margin) {
    return false;
  }
  double done = fmax(0.0, 0.999 * clear);
  double half = 0.5 * (r - done);
  bool before = exclude(c, x, m - done - half, half, depth + 1);
  return exclude(c, x, m + done + half, half, depth + 1) && before;
}

/* --- lists ------------------------------------------------------------------------------------------ */

/* Lists contacts at a point or over a box in c->listed; false: not available. */
static bool fill_list(saltusi_checker* c, const saltus_point* at, const saltus_box* over,
                      double reach) {
  const saltus_system_ops* ops = c->system->ops;
  saltusi_listed* l = &c->listed;
  saltus_status status = SALTUS_RETRY_CAPACITY;
  for (int turn = 0; turn < 8 && status == SALTUS_RETRY_CAPACITY; turn++) {
    saltus_contact_list list = {.capacity = l->capacity,
                                .reach = reach,
                                .gap = l->gap,
                                .identity = l->identity,
                                .law = l->law};
    status = over != NULL ? ops->sweep(c->system->self, over, &list)
                          : ops->contacts(c->system->self, at, &list);
    l->count = list.count;
    if (status == SALTUS_RETRY_CAPACITY) {
      l->capacity = (list.count > 2 * l->capacity ? list.count : 2 * l->capacity) + 16;
      l->gap = SALTUSI_TAKE(&c->pool, double, l->capacity);
      l->identity = SALTUSI_TAKE(&c->pool, uint64_t, l->capacity);
      l->law = SALTUSI_TAKE(&c->pool, int, l->capacity);
      l->kept = SALTUSI_TAKE(&c->pool, uint64_t, l->capacity);
      l->kept_law = SALTUSI_TAKE(&c->pool, int, l->capacity);
      status = c->pool.failed ? SALTUS_ERR_MEMORY : status;
    }
  }
  return status == SALTUS_OK;
}

static bool is_recorded(const saltusi_checked_contacts* list, int count, uint64_t identity) {
  for (int i = 0; i < count; i++) {
    if (list[i].identity == identity) {
      return true;
    }
  }
  return false;
}

void saltusi_check_unlisted(saltusi_checker* c, const saltusi_checked_frame* f, double limit) {
  assert(c != NULL && f != NULL);
  if (!c->data->changing) {
    return; /* all of a fixed set are recorded */
  }
  saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  int count = saltusi_frame_contacts(c, f->number, c->acting);
  if (!fill_list(c, &at, NULL, 0.0)) {
    saltusi_skip(c, SALTUS_VERIFY_PENETRATION);
    return;
  }
  for (int i = 0; i < c->nq; i++) {
    limit = fmax(limit, 1e-12 * fabs(f->q[i])); /* rounding */
  }
  for (int i = 0; i < c->listed.count; i++) {
    if (c->listed.gap[i] < 0.0 && !is_recorded(c->acting, count, c->listed.identity[i])) {
      const saltusi_checked_contacts found = {.identity = c->listed.identity[i],
                                              .law = c->listed.law[i]};
      saltusi_note(c, SALTUS_VERIFY_PENETRATION, -c->listed.gap[i], limit,
                   (saltusi_where){.frame = f->number, .place = -1, .contact = &found});
    }
  }
}

/* --- an interval ------------------------------------------------------------------------------------ */

/* Contacts that are closed in both frames and between them, into c->between.closed. */
static void find_closed(saltusi_checker* c, double limit) {
  saltusi_between* w = &c->between;
  int before = saltusi_frame_contacts(c, w->a.number, c->before);
  int count = saltusi_frame_contacts(c, w->b.number, c->acting);
  w->closed_count = 0;
  for (int i = 0, k = 0; i < count; i++) {
    const saltusi_checked_contacts* x = &c->acting[i];
    for (; k < before && c->before[k].identity < x->identity; k++) {
    }
    bool touches = k < before && c->before[k].identity == x->identity &&
                   fabs(c->before[k].gap) <= limit && fabs(x->gap) <= limit;
    if (touches) {
      w->closed[w->closed_count++] = x->identity;
    }
  }
}

static bool is_closed(const saltusi_checker* c, uint64_t identity) {
  for (int i = 0; i < c->between.closed_count; i++) {
    if (c->between.closed[i] == identity) {
      return true;
    }
  }
  return false;
}

static bool same_bodies(saltusi_checker* c, const saltus_point* at, uint64_t x, uint64_t y) {
  saltus_contact_place p, q;
  const saltus_system_ops* ops = c->system->ops;
  if (x == y) {
    return true;
  }
  if (ops->place == NULL || ops->place(c->system->self, at, x, &p) != SALTUS_OK ||
      ops->place(c->system->self, at, y, &q) != SALTUS_OK) {
    return false;
  }
  return (p.bodies[0] == q.bodies[0] && p.bodies[1] == q.bodies[1]) ||
         (p.bodies[0] == q.bodies[1] && p.bodies[1] == q.bodies[0]);
}

/* Whether a contact, or another one of its bodies, acts from the frame before the interval to three steps after it:
 * schemes with fixed steps find a contact by its penetration. */
static bool acts_nearby(saltusi_checker* c, const saltus_point* at, uint64_t identity) {
  const saltus_recording_data* d = c->data;
  long long last = d->step[c->between.b.number] + 3;
  for (long long f = c->between.a.number; f < d->count && d->step[f] <= last; f++) {
    int count = saltusi_frame_contacts(c, f, c->acting);
    for (int i = 0; i < count; i++) {
      const saltusi_checked_contacts* x = &c->acting[i];
      bool acts = x->force[0] != 0.0 || x->impulse[0] != 0.0;
      if (acts && same_bodies(c, at, x->identity, identity)) {
        return true;
      }
    }
  }
  return false;
}

/* Whether the recording contains the contact of a gap that is negative between the frames. */
static bool settle(saltusi_checker* c, const target* x) {
  const saltusi_between* w = &c->between;
  saltusi_checked_contacts found = {.identity = x->identity, .law = x->watch ? 0 : x->law};
  if (!c->to_tolerance) {
    if (gap_at(c, x, 0.0) < 0.0) {
      return true; /* already checked where it closed */
    }
    path_at(c, x->at, w->q);
    saltus_point at = saltusi_point_at(c, w->a.t + x->at * (w->b.t - w->a.t), w->q, NULL);
    if (x->watch && fill_list(c, &at, NULL, 0.0)) {
      for (int i = 0; i < c->listed.count && found.identity == x->identity; i++) {
        found.identity = c->listed.gap[i] < 0.0 ? c->listed.identity[i] : found.identity;
        found.law = c->listed.gap[i] < 0.0 ? c->listed.law[i] : found.law;
      }
    }
    if (acts_nearby(c, &at, found.identity)) {
      return true;
    }
  }
  saltusi_note(c, SALTUS_VERIFY_CONTACTS, -x->deepest, x->margin,
               (saltusi_where){.frame = w->b.number, .place = -1, .contact = &found});
  return false;
}

/* Tests one gap function over the interval; false: a contact is not excluded. */
static bool check_target(saltusi_checker* c, uint64_t identity, int law, double margin) {
  target x = {
      .identity = identity, .law = law, .watch = law == SALTUS_WATCH, .margin = margin, .at = 0.5};
  c->between.left = 400;
  bool clear = exclude(c, &x, 0.5, 0.5, 0);
  if (x.deepest < -margin) {
    return settle(c, &x);
  }
  saltusi_note(c, SALTUS_VERIFY_CONTACTS, fmax(0.0, -x.deepest), margin,
               (saltusi_where){.frame = c->between.b.number, .place = -1});
  return clear;
}

/* Touching shapes are evaluated at the midpoint of the interval. */
static void check_touching(saltusi_checker* c, double margin) {
  saltusi_between* w = &c->between;
  path_at(c, 0.5, w->q);
  saltus_point at = saltusi_point_at(c, 0.5 * (w->a.t + w->b.t), w->q, NULL);
  if (!c->to_tolerance || w->closed_count == 0 || !fill_list(c, &at, NULL, 0.0)) {
    return;
  }
  for (int i = 0; i < c->listed.count; i++) {
    const saltusi_checked_contacts found = {.identity = c->listed.identity[i],
                                            .law = c->listed.law[i]};
    saltusi_note(c, SALTUS_VERIFY_CONTACTS, fmax(0.0, -c->listed.gap[i]), margin,
                 (saltusi_where){.frame = w->b.number, .place = -1, .contact = &found});
  }
}

static bool check_changing(saltusi_checker* c, double margin) {
  saltusi_between* w = &c->between;
  check_touching(c, margin);
  if (c->system->ops->sweep == NULL) {
    return false;
  }
  for (int i = 0; i < c->nq; i++) {
    saltus_interval x[JET];
    const double* p = w->power + (ptrdiff_t)i * (DEGREE + 1);
    enclose(p, 0.5, 0.5, 6.0 / 32.0 * fabs(p[3]), x);
    w->low[i] = x[0].lo;
    w->high[i] = x[0].hi;
  }
  const saltus_box box = {.t0 = w->a.t,
                          .t1 = w->b.t,
                          .q_low = w->low,
                          .q_high = w->high,
                          .closed = w->closed,
                          .closed_count = w->closed_count,
                          .scratch = c->scratch};
  if (!fill_list(c, NULL, &box, margin)) {
    return false;
  }
  int count = 0;
  uint64_t* kept = c->listed.kept; /* a longer list is reallocated */
  int* kept_law = c->listed.kept_law;
  for (int i = 0; i < c->listed.count; i++) {
    bool feature = c->listed.law[i] != SALTUS_WATCH && c->listed.identity[i] >> 63 == 0;
    if (!feature && !is_closed(c, c->listed.identity[i])) {
      kept[count] = c->listed.identity[i];
      kept_law[count++] = c->listed.law[i];
    }
  }
  bool clear = true;
  for (int i = 0; i < count; i++) {
    clear = check_target(c, kept[i], kept_law[i], margin) && clear;
  }
  return clear;
}

void saltusi_check_between(saltusi_checker* c, const saltusi_checked_frame* a,
                           const saltusi_checked_frame* b, double limit) {
  assert(c != NULL && a != NULL && b != NULL);
  if (c->data->step[b->number] - c->data->step[a->number] > 1) {
    saltusi_skip(c, SALTUS_VERIFY_CONTACTS);
    return;
  }
  set_path(c, a, b);
  saltusi_between* w = &c->between;
  double size = 1.0;
  for (int i = 0; i < c->nq; i++) {
    size = fmax(size, fabs(b->q[i]));
  }
  double margin = w->off + 1e-12 * size + (c->to_tolerance ? limit : 2.0 * w->bent);
  margin += a->number == 0 ? c->slack : 0.0;
  find_closed(c, limit + 1e-12 * size);
  bool clear = true;
  if (c->data->changing) {
    clear = check_changing(c, margin);
  }
  for (int i = 0; i < c->gap_room; i++) {
    if (!is_closed(c, (uint64_t)i)) {
      clear = check_target(c, (uint64_t)i, i, margin) && clear;
    }
  }
  c->out->clear += clear ? b->t - a->t : 0.0;
}

bool saltusi_between_workspace(saltusi_checker* c) {
  assert(c != NULL);
  saltusi_pool* p = &c->pool;
  size_t nq = (size_t)c->nq;
  const saltus_enclosure_ops* e = c->system->ops->enclosure;
  size_t bytes = e != NULL && e->bytes != NULL ? e->bytes(c->system->self) : 0;
  c->between = (saltusi_between){
      .power = SALTUSI_TAKE(p, double, nq*(DEGREE + 1)),
      .q = SALTUSI_TAKE(p, double, nq),
      .low = SALTUSI_TAKE(p, double, nq),
      .high = SALTUSI_TAKE(p, double, nq),
      .range = SALTUSI_TAKE(p, saltus_interval, 2 * JET * nq),
      .scratch = saltusi_pool_take(p, bytes + 1, 1),
      .closed = SALTUSI_TAKE(p, uint64_t, c->acting_room + 1),
  };
  return !p->failed;
}
