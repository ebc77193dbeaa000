/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_find.c - location of impacts, closings and openings in a sub-interval (docs/theory/event-capturing.md,
 * 2.2).
 *
 * After an impact a gap is zero only to within the width of a bracket, so its sign alone is not decisive. Contacts are
 * classified by gap, velocity and normal acceleration:
 *
 *   separated   g > rounding: a root of g, or a root hidden before a minimum of g
 *   falling     g <= rounding, U < 0: an impact here
 *   resting     g <= rounding, U = 0, gamma < 0: a touch here
 *   rising      g <= rounding, U > 0: no event, unless it returns; then its apex is located
 *               first, and a flight whose apex is below the rounding of g is a touch
 * closed      its force turns negative: it opens. A pair of features also opens where one of them ends and the pair
 * leaves the list
 *   slips       in the plane: its velocity changes sign
 *   sticks      its friction exceeds its bound
 *
 * Roots of gaps are found by cubic interpolation of gap and velocity, the dense output of the gap:
 * a third of the force evaluations of a secant method on the ball.
 */
#include "math/matrix.h"
#include "scheme/event/event_capturing.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Widths of a bracket up to which a step has a constant acceleration if its stages have no solution. Its error is that
 * of a bracket. */
static const double coasts = 8.0;

saltus_status saltusi_capture_look(saltusi_capture* w, saltusi_eval* eval, double t,
                                   const double* q, const double* v, saltusi_contact_view* view) {
  assert(w != NULL && eval != NULL && view != NULL);
  const saltus_system* sys = &eval->sys;
  int row = sys->dims.nj; /* a row that is free at this point */
  saltus_point at = saltusi_at(eval, t, q, v);
  saltus_status status = saltusi_contacts(sys, &at, &w->list);
  for (int key = 0; key < sys->dims.nc; key++) {
    view->gap[key] = INFINITY;
    view->u[key] = 0.0;
  }
  for (int i = 0; status == SALTUS_OK && i < w->list.count; i++) {
    int key = w->list.key[i];
    const saltus_contact_law* law = &sys->laws[w->list.law[i]];
    int tangents = w->grips.of != NULL ? saltusi_friction_rows(law) - 1 : 0;
    saltusi_rows_contact(sys, &at, key, 1 + tangents, &w->op.rows, row);
    view->gap[key] = w->list.gap[i];
    view->u[key] = saltusi_row_dot(&w->op.rows, row, v) + w->op.rows.b[row];
    for (int k = 0; w->grips.of != NULL && k < 2; k++) {
      int r = row + 1 + k;
      view->slip[2 * key + k] =
          k < tangents ? saltusi_row_dot(&w->op.rows, r, v) + w->op.rows.b[r] : 0.0;
    }
    w->laws[key] = w->list.law[i];
  }
  return status;
}

saltus_status saltusi_capture_flow(saltusi_capture* w, saltusi_eval* eval, double x, double* q,
                                   double* v) {
  assert(w != NULL && eval != NULL);
  const saltus_dims* d = &eval->sys.dims;
  if (x <= 0.0) { /* a half-explicit step of no length has no forces */
    memcpy(q, w->q, (size_t)d->nq * sizeof(double));
    memcpy(v, w->v, (size_t)d->nv * sizeof(double));
    return SALTUS_OK;
  }
  if (saltusi_cancelled(eval)) { /* steps of many contacts have thousands of searches */
    return SALTUS_ERR_STOPPED;
  }
  const saltusi_rk_start start = {
      .t = w->t, .q = w->q, .v = w->v, .held = saltusi_capture_active(w, w->keys, w->count)};
  saltus_status status = saltusi_rk_step(w->flow, eval, &start, x, q, v);
  if (status == SALTUS_RETRY_SMALLER && x <= coasts * w->width && w->flow->method->implicit &&
      !saltusi_failed(eval)) {
    status = saltusi_rk_coast(w->flow, eval, &start, x, q, v);
  }
  return status;
}

saltus_status saltusi_capture_sample(saltusi_capture* w, saltusi_eval* eval, double* dip) {
  assert(w != NULL && eval != NULL && dip != NULL);
  enum { SAMPLES = 8 };
  const saltus_system* sys = &eval->sys;
  const int nq = sys->dims.nq;
  const double rounding = 64.0 * DBL_EPSILON * fmax(1.0, saltusi_max_abs(nq, w->q));
  double *q = w->sampled, *r0 = q + nq, *r1 = r0 + nq;
  saltusi_rate(sys, w->q, w->v, r0);
  saltusi_rate(sys, w->q_end, w->v_end, r1);
  *dip = w->span;
  for (int k = 1; k < SAMPLES; k++) {
    const double x = (double)k / SAMPLES, y = 1.0 - x;
    for (int i = 0; i < nq; i++) {
      q[i] = y * y * ((1.0 + 2.0 * x) * w->q[i] + x * w->span * r0[i]) +
             x * x * ((1.0 + 2.0 * y) * w->q_end[i] - y * w->span * r1[i]);
    }
    saltusi_normalise(sys, q);
    const saltus_point at = saltusi_at(eval, w->t + x * w->span, q, NULL);
    const saltus_status status = saltusi_contacts(sys, &at, &w->list);
    for (int i = 0; status == SALTUS_OK && i < w->list.count; i++) {
      const int key = w->list.key[i];
      if (!w->closed[key] && w->list.gap[i] < fmin(w->here.gap[key], 0.0) - rounding) {
        *dip = x * w->span;
      }
    }
    if (status != SALTUS_OK || *dip < w->span) {
      return status;
    }
  }
  return SALTUS_OK;
}

/* Functions whose roots are located. */
typedef enum quantity { GAP, RISE, FALL, FORCE, MARGIN, SLIP, LASTS } quantity;

typedef struct event_find_search {
  saltusi_capture* w;
  saltusi_eval* eval;
  quantity what;
  int key;
} event_find_search;

/* Friction margin of a contact, mu lambda_N - |lambda_T|. */
static double margin_of(const saltusi_friction_mode* grip, const double force[3]) {
  return grip->mu * force[0] - saltusi_friction_mode_size(grip, force[1], force[2]);
}

/* The normal force of an active contact at a state, or its friction margin. */
static saltus_status force_at(const event_find_search* f, double t, const double* q,
                              const double* v, double* value) {
  saltusi_capture* w = f->w;
  saltus_point at = saltusi_at(f->eval, t, q, v);
  const saltusi_active_rows held = saltusi_capture_active(w, w->keys, w->count);
  saltus_status status = saltusi_rk_acceleration(&w->rk, f->eval, &at, &held, w->a);
  for (int i = 0; i < w->count; i++) {
    if (w->keys[i] == f->key) {
      double force[3];
      saltusi_rk_force(&w->rk, &held, i, force);
      *value = f->what == FORCE ? force[0] : margin_of(&w->grips.of[f->key], force);
    }
  }
  return status;
}

/* Whether an active contact has ended at the state of the view: it is not listed there, and a guard of its features is
 * negative. Lists may choose another pair where features meet; a contact with valid guards stays (docs/contacts.md). */
static bool has_left(saltusi_eval* eval, double t, const double* q,
                     const saltusi_contact_view* view, int key) {
  const saltus_system* sys = &eval->sys;
  if (!isinf(view->gap[key]) || sys->ops->guards == NULL || eval->keys == NULL) {
    return false;
  }
  double guard[SALTUS_GUARDS], least = INFINITY;
  const saltus_point at = saltusi_at(eval, t, q, NULL);
  const int said = sys->ops->guards(sys->self, &at, eval->keys->table.identity[key], guard);
  const int count = said < 0 ? 0 : said & ~(SALTUS_LIES_DOWN | SALTUS_TILTS);
  for (int i = 0; i < count; i++) {
    least = fmin(least, guard[i]);
  }
  return least < 0.0;
}

/* A value with its rate of change; NaN: unknown. */
typedef struct sample {
  double value, rate;
} sample;

static saltus_status evaluate(const event_find_search* f, double x, sample* out) {
  saltusi_capture* w = f->w;
  w->probed = true;
  out->rate = NAN;
  saltus_status status = saltusi_capture_flow(w, f->eval, x, w->q_try, w->v_try);
  if (status == SALTUS_OK && (f->what == FORCE || f->what == MARGIN)) {
    return force_at(f, w->t + x, w->q_try, w->v_try, &out->value);
  }
  if (status == SALTUS_OK) {
    status = saltusi_capture_look(w, f->eval, w->t + x, w->q_try, w->v_try, &w->probe);
  }
  if (f->what == LASTS) {
    out->value = has_left(f->eval, w->t + x, w->q_try, &w->probe, f->key) ? -1.0 : 1.0;
    return status;
  }
  if (f->what == SLIP) {
    out->value = w->grips.of[f->key].direction[0] * w->probe.slip[2 * f->key];
    return status;
  }
  double u = w->probe.u[f->key];
  out->value = f->what == GAP ? w->probe.gap[f->key] : f->what == RISE ? u : -u;
  out->rate = f->what == GAP ? u : NAN;
  return status;
}

/* A bracket [a, b] with values at both ends; fa.value > 0 >= fb.value. */
typedef struct event_find_bracket {
  double a, b;
  sample fa, fb;
} event_find_bracket;

/* Root of the cubic through values and rates at both ends: the gap moves with its velocity, so an
 * interpolation costs nothing but these. Newton's method, kept inside by bisection. */
static double cubic_root(const event_find_bracket* x) {
  double h = x->b - x->a;
  double f0 = x->fa.value;
  double d = x->fb.value - f0;
  double r0 = h * x->fa.rate;
  double c2 = 3.0 * d - 2.0 * r0 - h * x->fb.rate;
  double c3 = r0 + h * x->fb.rate - 2.0 * d;
  double low = 0.0;
  double high = 1.0;
  double s = f0 / (f0 - x->fb.value);
  for (int k = 0; k < 60 && high - low > 4.0 * DBL_EPSILON * high; k++) {
    double value = f0 + s * (r0 + s * (c2 + s * c3));
    double slope = r0 + s * (2.0 * c2 + 3.0 * s * c3);
    low = value > 0.0 ? s : low;
    high = value > 0.0 ? high : s;
    double next = s - value / slope;
    if (!(next > low && next < high)) {
      next = 0.5 * (low + high);
    }
    if (fabs(next - s) <= DBL_EPSILON * s) {
      break;
    }
    s = next;
  }
  return x->a + s * h;
}

/* Next estimate of the root: by the cubic, or by the secant with the weights of the Illinois method. */
static double aim(const event_find_bracket* x, const double weight[2]) {
  double fa = weight[0] * x->fa.value;
  double fb = weight[1] * x->fb.value;
  if (isfinite(x->fa.rate) && isfinite(x->fb.rate)) {
    return cubic_root(x);
  }
  return isfinite(fa) && fa > fb ? x->a + (x->b - x->a) * fa / (fa - fb) : 0.5 * (x->a + x->b);
}

/* Shrinks a bracket to `width`, every fourth time by bisection. Probes lie alternately left and right of the
 * estimated root, so that both ends of the bracket converge. */
static saltus_status shrink(const event_find_search* f, double width, event_find_bracket* x) {
  enum { PROBES_MAX = 100 };
  int side = 0;
  double weight[2] = {1.0, 1.0};
  for (int k = 1; k <= PROBES_MAX && x->b - x->a > width; k++) {
    double c = k % 4 != 0 ? aim(x, weight) : 0.5 * (x->a + x->b);
    double aside = fmin(0.4 * width, 0.25 * (x->b - x->a));
    c = side >= 0 ? c - aside : c + aside;
    if (!(c > x->a && c < x->b)) {
      c = 0.5 * (x->a + x->b);
    }
    if (!(c > x->a && c < x->b)) {
      break;
    }
    sample at = {NAN, NAN};
    saltus_status status = evaluate(f, c, &at);
    if (status != SALTUS_OK) {
      return status;
    }
    bool before = at.value > 0.0;
    weight[before ? 0 : 1] = 1.0;
    weight[before ? 1 : 0] *= side == (before ? -1 : 1) ? 0.5 : 1.0;
    if (before) {
      x->a = c;
      x->fa = at;
    } else {
      x->b = c;
      x->fb = at;
    }
    side = before ? -1 : 1;
  }
  return SALTUS_OK;
}

static void add(saltusi_capture* w, saltusi_event_kind kind, int key, double a, double b) {
  w->events[w->event_count++] = (saltusi_event){.kind = kind, .key = key, .a = a, .b = b};
}

static bool is_found(const saltusi_capture* w, int key) {
  for (int i = 0; i < w->event_count; i++) {
    if (w->events[i].key == key) {
      return true;
    }
  }
  return false;
}

/* Whether a contact has an impact at the start of the sub-interval. */
static void add_at_once(saltusi_capture* w, int key) {
  add(w, SALTUSI_EVENT_HIT, key, 0.0, fmin(w->width, w->left));
}

static saltus_status add_hit(saltusi_capture* w, saltusi_eval* eval, int key,
                             event_find_bracket x) {
  const event_find_search gap = {.w = w, .eval = eval, .what = GAP, .key = key};
  saltus_status status = shrink(&gap, w->width, &x);
  add(w, SALTUSI_EVENT_HIT, key, x.a, x.b);
  const double way = fabs(x.fb.rate) * (x.b - x.a);
  w->events[w->event_count - 1].inside =
      isinf(x.fa.value) && x.fb.value < -2.0 * way - w->gap_rounding;
  return status;
}

/* Accuracy of an extremum of the gap, relative to the search interval: it only has to separate two roots. */
static const double minimum_accuracy = 1e-3;
static const double apex_accuracy = 1e-2;

static saltus_status find_separated(saltusi_capture* w, saltusi_eval* eval, int key) {
  const sample g0 = {w->here.gap[key], w->here.u[key]};
  const sample g1 = {w->end.gap[key], w->end.u[key]};
  if (g1.value < 0.0) {
    return add_hit(w, eval, key, (event_find_bracket){0.0, w->span, g0, g1});
  }
  if (!(w->here.u[key] < 0.0 && w->end.u[key] > 0.0)) {
    return SALTUS_OK;
  }
  /* the gap has a minimum inside: test for a hit before it */
  const event_find_search fall = {.w = w, .eval = eval, .what = FALL, .key = key};
  const event_find_search gap = {.w = w, .eval = eval, .what = GAP, .key = key};
  event_find_bracket lowest = {0.0, w->span, {-w->here.u[key], NAN}, {-w->end.u[key], NAN}};
  sample least = {NAN, NAN};
  saltus_status status = shrink(&fall, minimum_accuracy * w->span, &lowest);
  if (status == SALTUS_OK) {
    status = evaluate(&gap, lowest.a, &least);
  }
  if (status == SALTUS_OK && least.value < 0.0) {
    status = add_hit(w, eval, key, (event_find_bracket){0.0, lowest.a, g0, least});
  }
  return status;
}

/* A pair that approaches and is not listed at the end: two edges are listed up
 * to the root of their gap, and beyond it they are no closest features where
 * they leave the solid before the end. */
static saltus_status find_vanished(saltusi_capture* w, saltusi_eval* eval, int key) {
  enum { HALVINGS_MAX = 60 };
  const event_find_search gap = {.w = w, .eval = eval, .what = GAP, .key = key};
  event_find_bracket x = {0.0, w->span, {w->here.gap[key], w->here.u[key]}, {NAN, NAN}};
  if (!(x.fa.value <= -2.0 * x.fa.rate * w->span)) {
    return SALTUS_OK; /* too far away */
  }
  for (int k = 0; k < HALVINGS_MAX && x.b - x.a > w->width; k++) {
    const double middle = 0.5 * (x.a + x.b);
    sample at = {NAN, NAN};
    const saltus_status status = evaluate(&gap, middle, &at);
    if (status != SALTUS_OK) {
      return status;
    }
    if (at.value < 0.0) {
      x.b = middle;
      x.fb = at;
      return add_hit(w, eval, key, x);
    }
    *(isinf(at.value) ? &x.b : &x.a) = middle;
    x.fa = isinf(at.value) ? x.fa : at;
  }
  if (x.fa.value <= -2.0 * x.fa.rate * (x.b - x.a) + w->gap_rounding) {
    add(w, SALTUSI_EVENT_HIT, key, x.a, x.b);
  }
  return SALTUS_OK;
}

/* A contact with a gap that rises from the floor and is below it at the end. */
static saltus_status find_return(saltusi_capture* w, saltusi_eval* eval, int key) {
  double u0 = w->here.u[key];
  double u1 = w->end.u[key];
  if (!(u1 < 0.0)) {
    add_at_once(w, key);
    return SALTUS_OK;
  }
  event_find_bracket apex = {0.0, 0.0, {u0, NAN}, {u1, NAN}};
  sample height = {w->here.gap[key], u0};
  saltus_status status = SALTUS_OK;
  if (u0 > 0.0) {
    const event_find_search rise = {.w = w, .eval = eval, .what = RISE, .key = key};
    const event_find_search gap = {.w = w, .eval = eval, .what = GAP, .key = key};
    double flight = 2.0 * u0 * w->span / fmax(u0 - u1, DBL_MIN);
    apex.b = w->span;
    status = shrink(&rise, apex_accuracy * fmin(w->span, flight), &apex);
    if (status == SALTUS_OK && apex.a > 0.0) {
      status = evaluate(&gap, apex.a, &height);
    }
  }
  if (status != SALTUS_OK) {
    return status;
  }
  if (apex.a > 0.0 && height.value > w->gap_rounding) {
    const sample end = {w->end.gap[key], u1};
    return add_hit(w, eval, key, (event_find_bracket){apex.a, w->span, height, end});
  }
  add(w, SALTUSI_EVENT_TOUCH, key, 0.0, 0.0);
  return SALTUS_OK;
}

saltus_status saltusi_capture_gamma(saltusi_capture* w, saltusi_eval* eval, int key, int count,
                                    double* gamma) {
  assert(w != NULL && eval != NULL && key >= 0 && count >= 0);
  const saltus_system* sys = &eval->sys;
  saltus_point at = saltusi_at(eval, w->t, w->q, w->v);
  const saltusi_active_rows held = saltusi_capture_active(w, w->others, count);
  saltus_status status = saltusi_rk_acceleration(&w->rk, eval, &at, &held, w->a);
  if (status == SALTUS_OK) {
    int row = sys->dims.nj + count > 0 ? w->rk.held.count : 0; /* a spare one */
    saltusi_rows_contact(sys, &at, key, 1, &w->rk.held.rows, row);
    *gamma = saltusi_row_dot(&w->rk.held.rows, row, w->a) + w->rk.held.rows.c[row];
  }
  return status;
}

/* Whether a touching contact at rest is accelerated into the surface by more than the rounding of the other supports; a
 * redundant foot is not. *size: the acceleration without them. */
static saltus_status is_pressed(saltusi_capture* w, saltusi_eval* eval, int key, bool* pressed) {
  double gamma = 0.0, free = 0.0;
  for (int i = 0; i < w->count; i++) {
    w->others[i] = w->keys[i];
  }
  saltus_status status = saltusi_capture_gamma(w, eval, key, w->count, &gamma);
  *pressed = gamma < 0.0;
  if (status == SALTUS_OK && *pressed && w->count > 0) {
    status = saltusi_capture_gamma(w, eval, key, 0, &free);
    const saltusi_row_block* rows = &w->rk.held.rows;
    const int row = eval->sys.dims.nj > 0 ? w->rk.held.count : 0;
    const double size = saltusi_row_size(rows, row, w->a) + fabs(rows->c[row]);
    *pressed = gamma < -256.0 * DBL_EPSILON * size;
  }
  return status;
}

static saltus_status find_touching(saltusi_capture* w, saltusi_eval* eval, int key) {
  double g0 = w->here.gap[key];
  double g1 = w->end.gap[key];
  double u0 = w->here.u[key];
  bool falls = u0 < -w->velocity_rounding;
  bool slow = falls && w->count > 0 && u0 >= -saltusi_capture_slow(w);
  if (falls && !slow) {
    add_at_once(w, key);
    return SALTUS_OK;
  }
  if (slow || (u0 <= w->velocity_rounding && g1 <= g0)) {
    bool pressed = false;
    saltus_status status = is_pressed(w, eval, key, &pressed);
    if (status != SALTUS_OK) {
      return status;
    }
    if (slow && pressed) {
      add_at_once(w, key);
      return SALTUS_OK;
    }
    if (slow || pressed) { /* a contact without load that has drifted is closed without an impact */
      add(w, SALTUSI_EVENT_TOUCH, key, 0.0, 0.0);
      return SALTUS_OK;
    }
  }
  /* no event if not deeper than at the start (after an opening the gap may have drifted below zero), or without load */
  bool carried = fabs(u0) <= w->velocity_rounding && fabs(w->end.u[key]) <= w->velocity_rounding &&
                 g1 >= fmin(g0, 0.0) - w->gap_rounding;
  bool back = !carried && (g1 < fmin(g0, 0.0) || (g1 < 0.0 && w->end.u[key] < 0.0));
  return back ? find_return(w, eval, key) : SALTUS_OK;
}

/* Active contacts whose features end within the sub-interval open there, or before if their force becomes negative. */
static saltus_status find_left(saltusi_capture* w, saltusi_eval* eval) {
  saltus_status status = SALTUS_OK;
  for (int i = 0; status == SALTUS_OK && i < w->count; i++) {
    const int key = w->keys[i];
    if (!has_left(eval, w->t + w->span, w->q_end, &w->end, key)) {
      continue;
    }
    event_find_bracket x = {0.0, 0.0, {1.0, NAN}, {-1.0, NAN}};
    if (!has_left(eval, w->t, w->q, &w->here, key)) {
      const event_find_search lasts = {.w = w, .eval = eval, .what = LASTS, .key = key};
      x.b = w->span;
      status = shrink(&lasts, w->width, &x);
    }
    const event_find_search force = {.w = w, .eval = eval, .what = FORCE, .key = key};
    sample at_start = {NAN, NAN}, at_end = {NAN, NAN};
    if (status == SALTUS_OK && x.a > 0.0) {
      status = evaluate(&force, x.a, &at_end);
    }
    if (status == SALTUS_OK && at_end.value < 0.0) {
      status = force_at(&force, w->t, w->q, w->v, &at_start.value);
      x = (event_find_bracket){0.0, x.a, at_start, at_end};
      if (status == SALTUS_OK && at_start.value > 0.0) {
        status = shrink(&force, w->width, &x);
      } else {
        x.b = 0.0;
      }
    }
    add(w, SALTUSI_EVENT_OPEN, key, x.a, x.b);
    w->events[w->event_count - 1].ends = !(at_end.value < 0.0);
  }
  return status;
}

/* A force jumps (at a jump of the curvature of a gap) if this part of its change in the sub-interval occurs within one
 * bracket. */
static const double jump_part = 1e-3;

/* Held contact i opens or slides between the start and x by its force there. The bracket of the event is not known
 * yet: a is x, b the value, or NaN of a stage, which may lie off the motion. */
static void add_turned(saltusi_capture* w, int i, const double force[3], double x, bool stage) {
  const int key = w->keys[i];
  if (is_found(w, key)) {
    return;
  }
  if (force[0] < 0.0) {
    add(w, SALTUSI_EVENT_OPEN, key, x, stage ? NAN : force[0]);
  }
  const saltusi_friction_mode* grip = w->grips.of != NULL ? &w->grips.of[key] : NULL;
  if (grip != NULL && (grip->held[0] || grip->held[1]) && margin_of(grip, force) < 0.0) {
    add(w, SALTUSI_EVENT_SLIDE, key, x, stage ? NAN : margin_of(grip, force));
  }
}

/* Events inside of the sub-interval that the end does not reveal, from the forces of the stages. These contain viscous
 * friction and bonds, so contacts with either are omitted. */
static void add_unseen(saltusi_capture* w, const saltus_dims* d) {
  const saltusi_rk* rk = w->flow;
  const int each = rk->each;
  for (int stage = 0; stage < rk->method->stages; stage++) {
    const double c = rk->method->c[stage];
    const double* forces = rk->forces + (size_t)stage * (size_t)(d->nj + each * d->nc) + d->nj;
    for (int i = 0; c > 0.0 && c < 1.0 && i < w->count; i++) {
      const saltusi_friction_mode* grip = w->grips.of != NULL ? &w->grips.of[w->keys[i]] : NULL;
      double force[3] = {0.0};
      memcpy(force, forces + each * i, (size_t)each * sizeof(double));
      if (grip == NULL || (grip->viscous == 0.0 && grip->adhesion == 0.0)) {
        add_turned(w, i, force, c * w->span, true);
      }
    }
  }
}

/* The bracket of an opening or of the end of sticking; false: it occurs at stages only, not in the motion. */
static saltus_status find_bracket(saltusi_capture* w, saltusi_eval* eval, saltusi_event* event,
                                  bool* is_event) {
  bool opens = event->kind == SALTUSI_EVENT_OPEN;
  const event_find_search force = {
      .w = w, .eval = eval, .what = opens ? FORCE : MARGIN, .key = event->key};
  event_find_bracket x = {0.0, event->a, {NAN, NAN}, {event->b, NAN}};
  saltus_status status = SALTUS_OK;
  if (isnan(event->b)) {
    status = evaluate(&force, x.b, &x.fb);
  }
  *is_event = x.fb.value < 0.0;
  event->a = 0.0;
  event->b = opens ? 0.0 : fmin(w->width, w->span); /* friction at its bound slides slightly late */
  if (status == SALTUS_OK) {
    status = force_at(&force, w->t, w->q, w->v, &x.fa.value);
  }
  if (status == SALTUS_OK && *is_event && x.fa.value > 0.0) {
    const double change = x.fa.value - x.fb.value;
    status = shrink(&force, w->width, &x);
    event->a = x.a;
    event->b = x.b;
    event->ends = opens && x.fa.value - x.fb.value > jump_part * change;
  }
  return status;
}

static saltus_status find_open(saltusi_capture* w, saltusi_eval* eval) {
  int kept = w->event_count;
  saltus_point at = saltusi_at(eval, w->t + w->span, w->q_end, w->v_end);
  const saltusi_active_rows held = saltusi_capture_active(w, w->keys, w->count);
  saltus_status status =
      w->probed ? saltusi_capture_flow(w, eval, w->span, w->q_end, w->v_end) : SALTUS_OK;
  if (status == SALTUS_OK) {
    w->probed = false;
    status = saltusi_rk_acceleration(&w->rk, eval, &at, &held, w->a);
  }
  /* searches overwrite the forces: brackets are computed after all events are found */
  for (int i = 0; status == SALTUS_OK && i < w->count; i++) {
    double force[3];
    saltusi_rk_force(&w->rk, &held, i, force);
    add_turned(w, i, force, w->span, false);
  }
  if (status == SALTUS_OK) {
    add_unseen(w, &eval->sys.dims);
  }
  const int count = w->event_count;
  w->event_count = kept;
  for (int i = kept; status == SALTUS_OK && i < count; i++) {
    saltusi_event event = w->events[i];
    bool is_event = false;
    status = find_bracket(w, eval, &event, &is_event);
    if (is_event) {
      w->events[w->event_count++] = event;
    }
  }
  return status;
}

/* Reversal of slip: relative to its sign at the start or, just after the onset, to its first sign. */
static saltus_status find_turn(saltusi_capture* w, saltusi_eval* eval, int key) {
  enum { HALVINGS = 40 };
  double sense = w->grips.of[key].direction[0];
  const event_find_search slip = {.w = w, .eval = eval, .what = SLIP, .key = key};
  event_find_bracket x = {
      0.0, w->span, {sense * w->here.slip[2 * key], NAN}, {sense * w->end.slip[2 * key], NAN}};
  saltus_status status = SALTUS_OK;
  for (int k = 0; x.fa.value <= w->grips.slow && k < HALVINGS && x.b > 2.0 * w->width; k++) {
    sample middle = {NAN, NAN};
    double half = 0.5 * x.b;
    status = evaluate(&slip, half, &middle);
    if (status != SALTUS_OK) {
      return status;
    }
    bool before = middle.value > w->grips.slow;
    *(before ? &x.a : &x.b) = half;
    *(before ? &x.fa : &x.fb) = middle;
  }
  if (!(x.fa.value > 0.0)) {
    add(w, SALTUSI_EVENT_STOP, key, 0.0, fmin(w->width, w->span));
    return SALTUS_OK;
  }
  status = shrink(&slip, w->width, &x);
  add(w, SALTUSI_EVENT_STOP, key, x.a, x.b);
  return status;
}

static saltus_status find_turns(saltusi_capture* w, saltusi_eval* eval) {
  saltus_status status = SALTUS_OK;
  for (int i = 0; status == SALTUS_OK && i < w->count; i++) {
    int key = w->keys[i];
    const saltusi_friction_mode* grip = &w->grips.of[key];
    bool turned = grip->direction[0] * w->end.slip[2 * key] < 0.0;
    if (grip->slips && grip->tangents == 1 && turned) {
      status = find_turn(w, eval, key);
    }
  }
  return status;
}

/* Sorts by the start of the bracket, then by key. */
static void sort_events(saltusi_capture* w) {
  for (int i = 1; i < w->event_count; i++) {
    saltusi_event event = w->events[i];
    int k = i;
    for (; k > 0 && w->events[k - 1].a > event.a; k--) {
      w->events[k] = w->events[k - 1];
    }
    w->events[k] = event;
  }
}

/* A point that crosses a surface is inside the solid, where lists contain the features of other exits too. These are
 * not impacts at or after the root of a gap. */
static void drop_inside(saltusi_capture* w) {
  double first = INFINITY;
  for (int i = 0; i < w->event_count; i++) {
    const saltusi_event* event = &w->events[i];
    const bool root = event->kind == SALTUSI_EVENT_HIT && !event->inside;
    first = root ? fmin(first, event->a) : first;
  }
  int kept = 0;
  for (int i = 0; i < w->event_count; i++) {
    if (!w->events[i].inside || w->events[i].b < first) {
      w->events[kept++] = w->events[i];
    }
  }
  w->event_count = kept;
}

/* Velocity of rounding: forces that contacts balance leave their rounding error in velocities, even of a body at rest.
 * Evaluated for slow touching contacts beside active ones. */
static saltus_status find_velocity_rounding(saltusi_capture* w, saltusi_eval* eval) {
  const double most = 1e-11; /* m/s, of forces of 1000 m/s^2 in a step of 1 s */
  const saltus_dims* d = &eval->sys.dims;
  const double speed = fmax(1e-8, saltusi_max_abs(d->nv, w->v));
  w->velocity_rounding = 64.0 * DBL_EPSILON * speed;
  bool asked = false;
  for (int key = 0; key < d->nc && w->count > 0 && !asked; key++) {
    const double u = fmax(fabs(w->here.u[key]), fabs(w->end.u[key]));
    asked = !w->closed[key] && w->here.gap[key] <= w->gap_rounding && u > w->velocity_rounding &&
            u <= most;
  }
  saltus_status status = SALTUS_OK;
  if (asked) {
    const saltus_point at = saltusi_at(eval, w->t, w->q, w->v);
    const saltusi_active_rows none = saltusi_capture_active(w, w->others, 0);
    status = saltusi_rk_acceleration(&w->rk, eval, &at, &none, w->a);
    const double gained = w->target->h * saltusi_max_abs(d->nv, w->a);
    w->velocity_rounding = 64.0 * DBL_EPSILON * fmax(speed, gained);
  }
  return status;
}

saltus_status saltusi_capture_find(saltusi_capture* w, saltusi_eval* eval) {
  assert(w != NULL && eval != NULL);
  const saltus_dims* d = &eval->sys.dims;
  double size = fmax(1.0, saltusi_max_abs(d->nq, w->q));
  w->gap_rounding = 16.0 * DBL_EPSILON * size;
  w->event_count = 0;
  w->probed = false;
  saltus_status status = find_velocity_rounding(w, eval);
  for (int key = 0; key < d->nc && status == SALTUS_OK; key++) {
    if (w->closed[key]) {
      continue;
    }
    const bool apart = w->here.gap[key] > w->gap_rounding;
    if (isinf(w->end.gap[key])) {
      const bool approaches = apart && !isinf(w->here.gap[key]) && w->here.u[key] < 0.0;
      status = approaches ? find_vanished(w, eval, key) : SALTUS_OK;
      continue;
    }
    status = apart ? find_separated(w, eval, key) : find_touching(w, eval, key);
  }
  if (status == SALTUS_OK && w->count > 0) {
    status = find_left(w, eval);
  }
  if (status == SALTUS_OK && w->count > 0) {
    status = find_open(w, eval);
  }
  if (status == SALTUS_OK && w->grips.of != NULL) {
    status = find_turns(w, eval);
  }
  drop_inside(w);
  sort_events(w);
  return status;
}
