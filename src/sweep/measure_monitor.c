/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * measure_monitor.c - see measure_monitor.h.
 */
#include "sweep/measure_monitor.h"

#include "base/log.h"
#include "saltus/mechanism.h"
#include "scheme/scheme_ops.h"
#include "sim/sim_state.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { PARTS = 8, SEARCH_MOST = 60, POINTS = 5 };

saltusi_measure_monitor_needs saltusi_measure_monitor_wants(const saltusi_measures* measures) {
  assert(measures != NULL);
  saltusi_measure_monitor_needs needs = {0};
  for (int i = 0; i < measures->item_count; i++) {
    const saltusi_item* item = &measures->items[i];
    needs.steps = needs.steps || saltusi_item_is_function(item);
    needs.frames = needs.frames || item->subject == SALTUSI_OF_FORCE ||
                   item->subject == SALTUSI_OF_WEAR || item->loaded;
    needs.every = needs.every || item->loaded ||
                  (item->subject == SALTUSI_OF_FORCE && item->fold != SALTUSI_FOLD_MEAN &&
                   item->fold != SALTUSI_FOLD_INTEGRAL);
    needs.events =
        needs.events || item->subject == SALTUSI_OF_EVENTS || item->subject == SALTUSI_OF_IMPULSE;
  }
  needs.events = needs.events || needs.steps; /* impacts divide a step */
  return needs;
}

/* Index of an item among the values. */
static int place_of(const saltusi_measure_monitor* w, const saltusi_item* item) {
  const saltus_observables* o = w->view->observables;
  const int all = o != NULL ? o->output_count : 0;
  char name[200];
  if (item->subject == SALTUSI_OF_GAP) {
    return all + item->place;
  }
  saltusi_item_label(item, name, sizeof name);
  for (int k = 0; k < all; k++) {
    if (strcmp(o->output_labels[k].name, name) == 0) {
      return k;
    }
  }
  return 0;
}

static void take_arrays(saltusi_measure_monitor* w, saltusi_pool* pool) {
  const saltus_dims* d = &w->view->system->dims;
  const saltus_observables* o = w->view->observables;
  const int count = (o != NULL ? o->output_count : 0) + (w->gaps ? d->nc : 0);
  double** const samples[] = {&w->low, &w->middle, &w->high, &w->at, &w->end};
  w->value_count = count;
  for (int i = 0; i < 5; i++) {
    *samples[i] = SALTUSI_TAKE(pool, double, count + 1);
  }
  w->q = SALTUSI_TAKE(pool, double, d->nq);
  w->v = SALTUSI_TAKE(pool, double, d->nv);
  w->forces = SALTUSI_TAKE(pool, double, d->nj + 1);
  const size_t own = o != NULL ? o->scratch : 0;
  w->scratch = saltusi_pool_take(pool, (own > d->scratch ? own : d->scratch) + 1, 1);
  if (w->gaps) {
    saltus_arena arena = saltus_arena_counting();
    saltusi_contact_list_layout(&w->list, d, &arena);
    const size_t bytes = arena.used;
    void* room = saltusi_pool_take(pool, bytes + SALTUS_ALIGNMENT, 1);
    if (room != NULL) {
      arena = saltus_arena_over(room, bytes);
      saltusi_contact_list_layout(&w->list, d, &arena);
    }
  }
}

saltus_status saltusi_measure_monitor_start(saltusi_measure_monitor* watch,
                                            const saltusi_measures* measures,
                                            const saltus_scene_view* view, saltusi_pool* pool) {
  assert(watch != NULL && measures != NULL && view != NULL && pool != NULL);
  *watch = (saltusi_measure_monitor){.measures = measures, .view = view};
  for (int i = 0; i < measures->item_count; i++) {
    const saltusi_item* item = &measures->items[i];
    watch->gaps = watch->gaps || item->subject == SALTUSI_OF_GAP;
    watch->loads = watch->loads || item->loaded;
    watch->function_count += saltusi_item_is_function(item);
    watch->integrates = watch->integrates ||
                        (saltusi_item_is_function(item) &&
                         (item->fold == SALTUSI_FOLD_MEAN || item->fold == SALTUSI_FOLD_INTEGRAL ||
                          item->fold == SALTUSI_FOLD_RMS));
  }
  watch->sums = SALTUSI_TAKE(pool, saltusi_measure_monitor_sum, measures->item_count + 1);
  watch->values = SALTUSI_TAKE(pool, int, measures->item_count + 1);
  take_arrays(watch, pool);
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < measures->item_count; i++) {
    watch->sums[i].value = (double)NAN;
    if (saltusi_item_is_function(&measures->items[i])) {
      watch->values[i] = place_of(watch, &measures->items[i]);
    }
  }
  return SALTUS_OK;
}

void saltusi_measure_monitor_free(saltusi_measure_monitor* watch) {
  assert(watch != NULL);
  const saltus_allocator memory = saltusi_pool_over(NULL).allocator;
  saltusi_release(&memory, watch->cuts, watch->cut_room, sizeof *watch->cuts);
  watch->cuts = NULL;
}

/* ---- formulas of the scene ---- */

/* True if an item is evaluated inside of steps; otherwise at frames, with mean forces. */
static bool is_seen(const saltusi_measure_monitor* w, const saltusi_item* item) {
  return saltusi_item_is_function(item) &&
         (!item->loaded || saltusi_scheme_knows_forces(w->sim->scheme));
}

/* All values at a state; forces NULL: those of joints are not available. */
static void evaluate_with(saltusi_measure_monitor* w, double t, const double* q, const double* v,
                          const double* forces, double* out) {
  const saltus_observables* o = w->view->observables;
  const saltus_system* sys = w->view->system;
  const saltus_point at = {.t = t, .q = q, .v = v, .scratch = w->scratch, .failure = &w->failure};
  if (o != NULL && o->outputs_with != NULL) {
    o->outputs_with(o->self, &at, forces, out);
  } else if (o != NULL && o->output_count > 0) {
    o->outputs(o->self, &at, out);
  }
  if (w->gaps && saltusi_contacts(sys, &at, &w->list) == SALTUS_OK) {
    memcpy(out + w->value_count - sys->dims.nc, w->list.gap, (size_t)sys->dims.nc * sizeof *out);
  }
}

/* Likewise at the present state of the run. */
static void evaluate(saltusi_measure_monitor* w, double t, const double* q, const double* v,
                     double* out) {
  const bool known = w->loads && saltusi_sim_joint_forces(w->sim, NULL, w->forces);
  evaluate_with(w, t, q, v, known ? w->forces : NULL, out);
}

/* All values inside of the last step; NaN if the scheme fails to evaluate it. */
static void sample(saltusi_measure_monitor* w, double t, saltus_side side, double* out) {
  const saltusi_dense_query query = {.t = t, .side = side, .q = w->q, .v = w->v};
  if (saltusi_scheme_dense(w->sim->scheme, 2, &query) == SALTUS_OK) {
    const bool known = w->loads && saltusi_sim_joint_forces(w->sim, &query, w->forces);
    evaluate_with(w, t, w->q, w->v, known ? w->forces : NULL, out);
    return;
  }
  for (int i = 0; i < w->value_count; i++) {
    out[i] = (double)NAN;
  }
}

static void see_extreme(saltusi_measure_monitor_sum* sum, saltusi_fold fold, double value) {
  if (fold == SALTUSI_FOLD_MAX ? !(sum->value >= value) : !(sum->value <= value)) {
    sum->value = value;
  }
}

static void see_values(saltusi_measure_monitor* w, const double* values) {
  for (int i = 0; i < w->measures->item_count; i++) {
    const saltusi_item* item = &w->measures->items[i];
    if (is_seen(w, item) && (item->fold == SALTUSI_FOLD_MAX || item->fold == SALTUSI_FOLD_MIN)) {
      see_extreme(&w->sums[i], item->fold, values[w->values[i]]);
    }
  }
}

/* Maximum of sign * y between a and b if the value between them is above both: golden section. */
static double seek(saltusi_measure_monitor* w, int output, double sign, double a, double b,
                   double best) {
  static const double golden = 0.38196601125010515;
  double x1 = a + golden * (b - a), x2 = b - golden * (b - a);
  sample(w, x1, SALTUS_RIGHT, w->at);
  double y1 = sign * w->at[output];
  sample(w, x2, SALTUS_RIGHT, w->at);
  double y2 = sign * w->at[output];
  for (int i = 0; i < SEARCH_MOST && b - a > 1e-9 * fmax(fabs(a), fabs(b)); i++) {
    best = fmax(best, fmax(y1, y2));
    if (y1 > y2) {
      b = x2;
      x2 = x1;
      y2 = y1;
      x1 = a + golden * (b - a);
      sample(w, x1, SALTUS_RIGHT, w->at);
      y1 = sign * w->at[output];
    } else {
      a = x1;
      x1 = x2;
      y1 = y2;
      x2 = b - golden * (b - a);
      sample(w, x2, SALTUS_RIGHT, w->at);
      y2 = sign * w->at[output];
    }
  }
  return fmax(best, fmax(y1, y2));
}

/* Three consecutive samples. */
typedef struct window {
  double a, middle, b; /* s */
  bool first, last;    /* of its part of a step */
} window;

/* Maximum between the edge of a part and the next sample, above both: values increase from the edge inwards. */
static double seek_edge(saltusi_measure_monitor* w, int output, double sign, double edge,
                        double inner, double best) {
  sample(w, edge + 1e-3 * (inner - edge), SALTUS_RIGHT, w->at);
  return sign * w->at[output] > best
             ? seek(w, output, sign, fmin(edge, inner), fmax(edge, inner), best)
             : best;
}

/* Updates the extremes if one may lie between the outer two of three samples. */
static void see_turn(saltusi_measure_monitor* w, const window* at) {
  for (int i = 0; i < w->measures->item_count; i++) {
    const saltusi_item* item = &w->measures->items[i];
    const bool most = item->fold == SALTUSI_FOLD_MAX, least = item->fold == SALTUSI_FOLD_MIN;
    if (!is_seen(w, item) || !(most || least)) {
      continue;
    }
    const int k = w->values[i];
    const double sign = most ? 1.0 : -1.0;
    const double low = sign * w->low[k], middle = sign * w->middle[k], high = sign * w->high[k];
    /* the parabola through the three samples must be able to exceed the present extreme */
    const double bend = fmax(fabs(middle - low), fabs(middle - high));
    if (middle >= low && middle >= high && middle + bend > sign * w->sums[i].value) {
      see_extreme(&w->sums[i], item->fold, sign * seek(w, k, sign, at->a, at->b, middle));
    } else if (at->first && low > middle && low + bend > sign * w->sums[i].value) {
      see_extreme(&w->sums[i], item->fold, sign * seek_edge(w, k, sign, at->a, at->middle, low));
    }
    if (at->last && high > middle && high + bend > sign * w->sums[i].value) {
      see_extreme(&w->sums[i], item->fold, sign * seek_edge(w, k, sign, at->b, at->middle, high));
    }
  }
}

/* Gauss' rule with five points on each half of a part: exact for polynomials up to degree 9. */
static void integrate(saltusi_measure_monitor* w, double a, double b) {
  static const double nodes[POINTS] = {-0.9061798459386639928, -0.5384693101056830910, 0.0,
                                       0.5384693101056830910, 0.9061798459386639928};
  static const double weights[POINTS] = {0.2369268850561890875, 0.4786286704993664680,
                                         0.5688888888888888889, 0.4786286704993664680,
                                         0.2369268850561890875};
  for (int k = 0; k < 2 * POINTS; k++) {
    const double half = 0.5 * (b - a);
    const double from = k < POINTS ? a : a + half;
    sample(w, from + 0.5 * half * (1.0 + nodes[k % POINTS]), SALTUS_RIGHT, w->at);
    for (int i = 0; i < w->measures->item_count; i++) {
      const saltusi_item* item = &w->measures->items[i];
      if (is_seen(w, item)) {
        const double y = w->at[w->values[i]];
        w->sums[i].weight +=
            0.5 * half * weights[k % POINTS] * (item->fold == SALTUSI_FOLD_RMS ? y * y : y);
      }
    }
  }
}

/* Processes a part of a step without impacts. */
static void see_part(saltusi_measure_monitor* w, double a, double b) {
  sample(w, a, SALTUS_RIGHT, w->low);
  see_values(w, w->low);
  sample(w, b, SALTUS_LEFT, w->end);
  see_values(w, w->end);
  if (!(b - a > 64.0 * DBL_EPSILON * fmax(fabs(a), fabs(b)))) {
    return;
  }
  memcpy(w->middle, w->low, (size_t)w->value_count * sizeof *w->low);
  double before = a, here = a;
  for (int i = 1; i <= PARTS; i++) {
    const double next = a + (b - a) * ((double)i / PARTS);
    if (i < PARTS) {
      sample(w, next, SALTUS_RIGHT, w->high);
      see_values(w, w->high);
    } else {
      memcpy(w->high, w->end, (size_t)w->value_count * sizeof *w->high);
    }
    if (i > 1) {
      see_turn(w, &(window){.a = before,
                            .middle = here,
                            .b = i < PARTS ? next : b,
                            .first = i == 2,
                            .last = i == PARTS});
    }
    double* old = w->low;
    w->low = w->middle;
    w->middle = w->high;
    w->high = old;
    before = here;
    here = next;
  }
  if (w->integrates) {
    integrate(w, a, b);
  }
}

static void see_first(saltusi_measure_monitor* w, const double* values) {
  for (int i = 0; i < w->measures->item_count; i++) {
    const saltusi_item* item = &w->measures->items[i];
    if (is_seen(w, item) && item->fold == SALTUSI_FOLD_FIRST) {
      w->sums[i].value = values[w->values[i]];
    }
  }
}

/* Processes a step without dense output: trapezoidal rule, values at its ends. */
static void see_ends(saltusi_measure_monitor* w, double dt) {
  for (int i = 0; i < w->measures->item_count; i++) {
    const saltusi_item* item = &w->measures->items[i];
    if (is_seen(w, item)) {
      const int k = w->values[i];
      const double a = w->low[k], b = w->high[k];
      w->sums[i].weight += 0.5 * dt * (item->fold == SALTUSI_FOLD_RMS ? a * a + b * b : a + b);
    }
  }
}

static saltus_status see_step(void* user, double t, const double* q, const double* v) {
  saltusi_measure_monitor* w = user;
  if (w->function_count == 0) {
    w->begin = w->begun ? w->begin : t;
    w->begun = true;
    w->t = t;
    return SALTUS_OK;
  }
  if (!w->begun) {
    evaluate(w, t, q, v, w->low);
    see_first(w, w->low);
    see_values(w, w->low);
    w->begin = t;
    w->begun = true;
  } else if (saltusi_scheme_info(w->sim->scheme)->dense) {
    double from = w->t;
    for (size_t i = 0; i < w->cut_count; i++) {
      const double cut = fmin(fmax(w->cuts[i], from), t);
      see_part(w, from, cut);
      from = cut;
    }
    see_part(w, from, t);
    evaluate(w, t, q, v, w->high); /* after a jump at the end of the step */
    see_values(w, w->high);
  } else {
    evaluate(w, t, q, v, w->high);
    see_values(w, w->high);
    see_ends(w, t - w->t);
    double* old = w->low;
    w->low = w->high;
    w->high = old;
  }
  w->cut_count = 0;
  w->t = t;
  if (w->lost) {
    return SALTUS_ERR_MEMORY;
  }
  return w->failure.status;
}

/* ---- events ---- */

static void see_impulse(saltusi_measure_monitor_sum* sum, saltusi_fold fold, double impulse) {
  sum->count++;
  sum->weight += impulse;
  if (fold == SALTUSI_FOLD_MAX || fold == SALTUSI_FOLD_MIN) {
    see_extreme(sum, fold, impulse);
  } else if (fold == SALTUSI_FOLD_LAST || sum->count == 1) {
    sum->value = impulse;
  }
}

static saltus_status see_event(void* user, const saltus_event* event) {
  saltusi_measure_monitor* w = user;
  const bool own = saltus_event_is_user_defined(event->kind);
  for (int i = 0; i < w->measures->item_count; i++) {
    const saltusi_item* item = &w->measures->items[i];
    saltusi_measure_monitor_sum* sum = &w->sums[i];
    const bool here = item->place < 0 || item->place == event->contact;
    if (item->subject == SALTUSI_OF_IMPULSE && event->kind == SALTUS_EVENT_IMPACT && here) {
      see_impulse(sum, item->fold, event->impulse[0]);
    } else if (item->subject == SALTUSI_OF_EVENTS && here &&
               (item->kind < 0 ? own : (int)event->kind == item->kind)) {
      sum->count++;
      if (item->which < 0 || sum->count == item->which) {
        sum->value = event->t;
      }
    }
  }
  if (event->kind == SALTUS_EVENT_IMPACT && w->function_count > 0) {
    const saltus_allocator memory = saltusi_pool_over(NULL).allocator;
    if (saltusi_grow(&memory, (void**)&w->cuts, &w->cut_room, w->cut_count + 1, sizeof *w->cuts)) {
      w->cuts[w->cut_count++] = event->t;
    } else {
      w->lost = true;
    }
  }
  return SALTUS_OK;
}

/* ---- forces and wear ---- */

static double joint_size(const saltusi_measure_monitor* w, int joint, const saltus_frame* frame) {
  const saltus_mechanism* m = w->view->mechanism;
  if (frame->joint_forces == NULL) {
    return (double)NAN;
  }
  if (m == NULL || w->view->tree != NULL) { /* rows alone */
    return fabs(frame->joint_forces[joint]);
  }
  double force[3], torque[3];
  const saltus_joint_place place = saltus_mechanism_joint(m, joint);
  const double* q = frame->q + (w->view->system->dims.nq - saltus_mechanism_system(m)->dims.nq);
  saltus_mechanism_joint_load(m, joint, frame->t, q, frame->joint_forces + place.row, force,
                              torque);
  return sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]);
}

/* Processes a number between two frames: forces are means over this time. */
static void see_mean(saltusi_measure_monitor_sum* sum, saltusi_fold fold, double t, double value) {
  const double dt = sum->count > 0 ? t - sum->weight : 0.0;
  const bool sums = fold == SALTUSI_FOLD_MEAN || fold == SALTUSI_FOLD_INTEGRAL;
  if (sum->count++ == 0) {
    sum->value = sums || fold == SALTUSI_FOLD_RMS ? 0.0 : sum->value;
  } else if (sums || fold == SALTUSI_FOLD_RMS) {
    sum->value += sums ? value * dt : value * value * dt;
  } else if (fold == SALTUSI_FOLD_LAST) {
    sum->value = value;
  } else if (dt > 0.0) {
    see_extreme(sum, fold, value);
  }
  sum->weight = t;
}

static saltus_status see_frame(void* user, const saltus_frame* frame) {
  saltusi_measure_monitor* w = user;
  for (int i = 0; i < w->measures->item_count; i++) {
    const saltusi_item* item = &w->measures->items[i];
    saltusi_measure_monitor_sum* sum = &w->sums[i];
    const bool contact = !item->joint && item->place >= 0 && item->place < frame->contact_count;
    if (item->subject == SALTUSI_OF_WEAR && contact) {
      sum->value = -frame->contacts[item->place].friction;
    }
    if (item->loaded && !is_seen(w, item)) {
      see_mean(sum, item->fold, frame->t, frame->outputs[w->values[i]]);
    }
    if (item->subject != SALTUSI_OF_FORCE) {
      continue;
    }
    const double force = item->joint ? joint_size(w, item->place, frame)
                         : contact   ? frame->contacts[item->place].force[0]
                                     : (double)NAN;
    see_mean(sum, item->fold, frame->t, force);
  }
  return SALTUS_OK;
}

saltus_recorder saltusi_measure_monitor_recorder(saltusi_measure_monitor* watch) {
  assert(watch != NULL && watch->measures != NULL);
  const saltusi_measure_monitor_needs needs = saltusi_measure_monitor_wants(watch->measures);
  return (saltus_recorder){.frame = needs.frames ? see_frame : NULL,
                           .event = needs.events ? see_event : NULL,
                           .step = see_step,
                           .user = watch,
                           .ledger_unseen = needs.frames ? 0 : 1};
}

/* ---- the end ---- */

static double value_of(saltusi_measure_monitor* w, int i, const double* last) {
  const saltusi_item* item = &w->measures->items[i];
  const saltusi_measure_monitor_sum* sum = &w->sums[i];
  const double span = w->t - w->begin;
  switch (item->subject) {
  case SALTUSI_OF_EVENTS:
    return item->fold == SALTUSI_FOLD_COUNT ? (double)sum->count : sum->value;
  case SALTUSI_OF_IMPULSE:
    return item->fold == SALTUSI_FOLD_SUM    ? sum->weight
           : item->fold == SALTUSI_FOLD_MEAN ? sum->weight / (double)sum->count
                                             : sum->value;
  case SALTUSI_OF_FORCE:
    return item->fold == SALTUSI_FOLD_MEAN ? sum->value / span : sum->value;
  case SALTUSI_OF_WEAR:
    return sum->value + 0.0; /* avoids -0 */
  default:
    break;
  }
  if (!is_seen(w, item)) {
    return item->fold == SALTUSI_FOLD_MEAN  ? sum->value / span
           : item->fold == SALTUSI_FOLD_RMS ? sqrt(sum->value / span)
                                            : sum->value;
  }
  switch (item->fold) {
  case SALTUSI_FOLD_LAST:
    return last[w->values[i]];
  case SALTUSI_FOLD_INTEGRAL:
    return sum->weight;
  case SALTUSI_FOLD_MEAN:
    return sum->weight / span;
  case SALTUSI_FOLD_RMS:
    return sqrt(sum->weight / span);
  default:
    return sum->value;
  }
}

/* SALTUS_ERR_RANGE with a message if a function of time or a force is not a number. */
static saltus_status check_item(const saltusi_item* item, double value, saltus_log log) {
  if (!isnan(value) || (item->subject != SALTUSI_OF_FORCE && !saltusi_item_is_function(item))) {
    return SALTUS_OK; /* NaN: the event did not occur */
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR, "measure: %s%.80s is not a number",
              item->subject == SALTUSI_OF_FORCE ? "force of "
              : item->subject == SALTUSI_OF_GAP ? "gap of "
                                                : "",
              item->text);
  return SALTUS_ERR_RANGE;
}

saltus_status saltusi_measure_monitor_end(saltusi_measure_monitor* watch, saltusi_pool* pool,
                                          saltus_log log, double* values) {
  assert(watch->sim != NULL && pool != NULL && values != NULL);
  const saltusi_measures* m = watch->measures;
  double* items = SALTUSI_TAKE(pool, double, m->item_count + 1);
  double* scratch = SALTUSI_TAKE(pool, double, m->program.registers + 1);
  if (items == NULL || scratch == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  if (watch->function_count > 0) {
    evaluate(watch, saltus_sim_time(watch->sim), saltus_sim_q(watch->sim), saltus_sim_v(watch->sim),
             watch->at);
  }
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < m->item_count; i++) {
    items[i] = value_of(watch, i, watch->at);
    const saltus_status checked = check_item(&m->items[i], items[i], log);
    status = status == SALTUS_OK ? checked : status;
  }
  if (m->count > 0) {
    saltusi_run(&m->program, 0.0, items, NULL, scratch, values);
  }
  return status;
}
