/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * find_events.c - events on the dense output of an accepted step (section 4.1; docs/theory/events.md).
 *
 *   event    contact              function, positive while the status holds
 *   hit      open, separated      g
 *   hit      open, from g = 0     height + integral of U
 *   open     closed               l_N
 *   stop     sliding              s U_T, or U_T . d_0 of a spatial contact
 *   slide    sticking             mu l_N - l_T and mu l_N + l_T, or mu l_N - |l_T|
 *   switch   idle                 U: other constraints keep it closed
 *   decide   passive              2 e - |U| of the row that others constrain, e the slip that counts as none
 *   switch   closed               the argument of a kink of its gap, joint or slip formula
 *   guard    closed               the smallest of its guards (features.c)
 *
 * Gaps and slip speeds are searched by exclusion (root_isolation.c). Forces are polynomials of the dense output, and
 * unresolved_forces.c shows that their ingredients have no features between the stages: they are sampled at nodes, a
 * first change from + to - is bracketed, and a parabola through three nodes detects a minimum between them. Force roots
 * are refined with the multipliers of the dynamics, and their events switch a little late, so that the complementarity
 * problem has a violated status and not a degenerate one.
 */
#include "adaptive/adaptive.h"
#include "adaptive/event/root_isolation.h"
#include "adaptive/mode/friction_mode.h"
#include "adaptive/thresholds.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Nodes at which forces are sampled: closest after the start, where a new status can break, and towards the end;
 * at most 0.12 apart, so that several lie between two extrema of a dense output of degree four, and
 * hidden_minimum() examines the intervals beside them. */
static const double nodes[SALTUSI_NODES] = {0.02, 0.08, 0.17, 0.28, 0.4, 0.52,
                                            0.64, 0.75, 0.85, 0.93, 1.0};

typedef enum force_quantity { NORMAL_FORCE, FRICTION } force_quantity;

typedef struct force_search {
  saltusi_search* search;
  force_quantity what;
  int key;
  double sign; /* of slip, or of the friction that is compared with its bound */
  bool exact;  /* forces from the dynamics instead of the dense output */
  saltus_status status;
} force_search;

/* ---- functions of theta -------------------------------------------------------------------- */

/* mu l_N + sign l_T, or mu l_N - |l_T| of a spatial contact; l: own forces, the normal one that of its contact */
static double friction_reserve(const saltusi_search* search, const double* l, int key,
                               double sign) {
  double friction = search->o->tangents[key] == 1
                        ? -sign * l[1]
                        : saltusi_friction_mode_size(search->o, key, l + 1);
  int owner = saltusi_owner(search->o, key);
  double closing = l[0] + saltusi_friction_mode_pull(search->o, &search->contact[owner], owner);
  return search->o->mu[key] * closing - friction;
}

/* own: forces of the contact */
static double own_value(const force_search* s, const double* own) {
  double pull = saltusi_friction_mode_pull(s->search->o, &s->search->contact[s->key], s->key);
  return s->what == NORMAL_FORCE ? own[0] + pull
                                 : friction_reserve(s->search, own, s->key, s->sign);
}

/* l: forces of all contacts */
static double force_value(const force_search* s, const double* l) {
  const saltusi_layout_tables* o = s->search->o;
  const double* own = l + o->base[s->key];
  if (saltusi_is_friction_mode(o, s->key)) {
    double with[1 + SALTUSI_SLIPS] = {l[o->base[o->parent[s->key]]]};
    memcpy(with + 1, own + 1, (size_t)o->tangents[s->key] * sizeof(double));
    return own_value(s, with);
  }
  return own_value(s, own);
}

static double evaluate(void* context, double theta) {
  force_search* s = context;
  saltusi_search* search = s->search;
  if (s->exact) {
    search->step->ops->dense(&search->step->motion, theta, 0, search->o->ny, search->probe);
    s->status = saltusi_mode_rate(search->mode, search->step->t + theta * search->step->h,
                                  search->probe, search->probe_rate);
    return force_value(s, search->probe_rate + search->o->nq + search->o->nv);
  }
  int first = search->o->nq + search->o->nv + search->o->base[s->key];
  search->step->ops->dense_rate(&search->step->motion, theta, first,
                                1 + search->o->tangents[s->key], search->probe);
  if (saltusi_is_friction_mode(search->o, s->key)) {
    int normal = search->o->nq + search->o->nv + search->o->base[search->o->parent[s->key]];
    search->step->ops->dense_rate(&search->step->motion, theta, normal, 1, search->probe);
  }
  return own_value(s, search->probe);
}

/* ---- roots --------------------------------------------------------------------------------- */

static double close_in(force_search* s, double x0, double f0, double x1, double f1, double width) {
  return saltusi_close_in(evaluate, s, (const double[2]){x0, x1}, (const double[2]){f0, f1}, width);
}

/* Values of a function at the start and at the nodes. */
typedef struct samples {
  double start;
  const double* at;
  double noise;
  double width;
} samples;

/* Samples around a node: x, f of four neighbours and more; n of them, the lowest at `at`. */
typedef struct valley {
  const double* x;
  const double* f;
  int n, at;
} valley;

/* The lower bound of a convex function between nodes i and i + 1: the intersection of the extrapolated chords
 * beside them. Without a chord on both sides there is no bound. */
static double convex_bound(const valley* v, int i) {
  const double* x = v->x;
  const double* f = v->f;
  if (i < 1 || i + 2 >= v->n) {
    return -INFINITY;
  }
  double left = (f[i] - f[i - 1]) / (x[i] - x[i - 1]);
  double right = (f[i + 2] - f[i + 1]) / (x[i + 2] - x[i + 1]);
  if (!(left < 0.0 && right > 0.0)) {
    return fmin(f[i], f[i + 1]);
  }
  double s = (f[i + 1] - f[i] - right * (x[i + 1] - x[i])) / (left - right);
  return f[i] + left * fmin(fmax(s, 0.0), x[i + 1] - x[i]);
}

/* Three points, the middle one the lowest. */
typedef struct find_events_bracket {
  double x[3];
  double f[3];
} find_events_bracket;

static void narrow(find_events_bracket* b, bool ahead, double x, double f) {
  int moved = ahead ? 2 : 0; /* the end that x replaces, unless it is the new middle */
  if (f < b->f[1]) {
    b->x[2 - moved] = b->x[1];
    b->f[2 - moved] = b->f[1];
    moved = 1;
  }
  b->x[moved] = x;
  b->f[moved] = f;
}

/* Whether a parabola through the three points stays positive by half the lowest value. With c = (right - left) /
 * (x2 - x0) it falls below f1 by s^2 / (4 c), and its slope s at x1 is at most right - left. */
static bool stays_clear(const find_events_bracket* b) {
  double left = (b->f[1] - b->f[0]) / (b->x[1] - b->x[0]);
  double right = (b->f[2] - b->f[1]) / (b->x[2] - b->x[1]);
  return b->f[1] - 0.25 * (right - left) * (b->x[2] - b->x[0]) > 0.5 * b->f[1];
}

/* A minimum below zero beside a node that is lower than its neighbours: its position, else NaN. Golden sections,
 * where a convex function could reach zero. */
static double hidden_minimum(force_search* s, const valley* v, double* value) {
  enum { FEW = 3, MOST = 12 };
  const double golden = 0.381966011250105152;
  int at = v->at;
  if (!(v->f[at - 1] > v->f[at] && v->f[at] < v->f[at + 1] && v->f[at] > 0.0)) {
    return NAN;
  }
  if (convex_bound(v, at - 1) > 0.0 && convex_bound(v, at) > 0.0) {
    return NAN;
  }
  find_events_bracket b = {{v->x[at - 1], v->x[at], v->x[at + 1]},
                           {v->f[at - 1], v->f[at], v->f[at + 1]}};
  for (int k = 0; k < MOST && (k <= FEW || !stays_clear(&b)); k++) {
    double before = b.x[1] - b.x[0];
    double behind = b.x[2] - b.x[1];
    bool ahead = behind > before;
    double x = b.x[1] + golden * (ahead ? behind : -before);
    *value = evaluate(s, x);
    if (*value < 0.0) {
      return x;
    }
    narrow(&b, ahead, x, *value);
  }
  return NAN;
}

/* The first change from + to -; NaN: none. A function that is never positive and ends negative had its event at
 * the start. */
static double first_root(force_search* s, const samples* f) {
  enum { N = SALTUSI_NODES + 1 };
  double x[N] = {0.0};
  double y[N] = {f->start};
  for (int i = 0; i < SALTUSI_NODES; i++) {
    x[1 + i] = nodes[i];
    y[1 + i] = f->at[i];
  }
  bool seen = false;
  for (int i = 0; i < N; i++) {
    if (y[i] > f->noise) {
      seen = true;
    } else if (y[i] < -f->noise && seen) {
      int j = i - 1;
      while (j > 0 && y[j] <= 0.0) {
        j--;
      }
      return close_in(s, x[j], y[j], x[i], y[i], f->width);
    }
    if (seen && i > 0 && i < N - 1) {
      double value = NAN;
      double lowest = hidden_minimum(s, &(valley){.x = x, .f = y, .n = N, .at = i}, &value);
      if (!isnan(lowest)) {
        int j = lowest > x[i] ? i : i - 1;
        return close_in(s, x[j], y[j], lowest, value, f->width);
      }
    }
  }
  return seen || !(y[N - 1] < -f->noise) ? NAN : 0.0;
}

/* Ranks of the events of one contact. */
enum { RANKS = SALTUSI_RANKS, RANK_STOP = 8, RANK_OPEN = 9, RANK_SLIDE = 10 };

void saltusi_found_add(saltusi_search* search, saltusi_found f) {
  assert(search != NULL);
  if (!isnan(f.theta)) {
    search->found[search->found_count++] = f;
  }
}

/* End of the interval for further events: simultaneous events count as one instant. */
double saltusi_found_end(const saltusi_search* search) {
  assert(search != NULL);
  double end = 1.0;
  for (int i = 0; i < search->found_count; i++) {
    end = fmin(end, search->found[i].theta * (1.0 + saltusi_search_remainder));
  }
  return end;
}

/* ---- contacts ------------------------------------------------------------------------------ */

/* Gaps are resolved to a tenth of their tolerance, or to rounding. */
static double depth_of(const saltusi_search* search) {
  return fmax(saltusi_depth_part * search->o->atol_q_min, saltusi_gap_rounding * search->size);
}

saltus_status saltusi_find_hit(saltusi_search* search, int key, double end) {
  assert(search != NULL && key >= 0);
  saltusi_root_isolation s = {.search = search,
                              .what = SALTUSI_ISOLATE_GAP,
                              .key = key,
                              .depth = depth_of(search),
                              .noise = 0.125 * saltusi_gap_rounding *
                                       search->size}; /* typical, not an upper bound */
  bool flies = search->contact[key].touching;
  double root = flies ? saltusi_isolation_flight(&s, end) : saltusi_isolate_root(&s, end);
  search->searched = key;
  saltusi_found_add(search, (saltusi_found){.kind = SALTUSI_FOUND_HIT,
                                            .key = key,
                                            .theta = root,
                                            .origin = root,
                                            .rank = RANKS * (search->o->nc + key + 1)});
  return s.status;
}

/* Where the velocity of a row leaves the slip that counts as none, with one sign. The status of all closed
 * contacts is then decided again, by impact law for those that approach. */
static saltus_status find_motion(saltusi_search* search, int key, int row, double side) {
  double slow = saltusi_slip_rounding(search->decision);
  saltusi_root_isolation s = {.search = search,
                              .what = SALTUSI_ISOLATE_ROW,
                              .key = key,
                              .row = row,
                              .sign = -side,
                              .shift = 2.0 * slow,
                              .depth = saltusi_depth_part * slow};
  double root = saltusi_isolation_nodes(&s, nodes, SALTUSI_NODES, saltusi_found_end(search));
  search->searched = key;
  saltusi_found_add(search,
                    (saltusi_found){.kind = row == 0 ? SALTUSI_FOUND_SWITCH : SALTUSI_FOUND_DECIDE,
                                    .key = row == 0 ? -1 : key,
                                    .theta = root,
                                    .origin = root,
                                    .rank = RANKS * key + 2 * row + (side > 0.0)});
  return s.status;
}

/* Slip of a spatial contact at theta: its direction, and whether it exceeds the error that the step allows it. */
static bool slip_goes_on(saltusi_search* search, int key, double theta, double* along) {
  const saltusi_layout_tables* o = search->o;
  const saltusi_row_block* look = &search->mode->look;
  const int tangents = o->tangents[key];
  const double* v = saltusi_v_of(o, search->probe);
  double allowed = 2.5 * o->slip_floor; /* at which contacts are at rest, transition.c */
  search->step->ops->dense(&search->step->motion, theta, 0, o->nq + o->nv, search->probe);
  saltusi_mode_look(search->mode, search->step->t + theta * search->step->h, search->probe, key);
  for (int k = 1; k <= tangents; k++) {
    double error = 0.0;
    for (int i = 0; i < look->entries[k]; i++) {
      const size_t at = (size_t)k * (size_t)look->stride + (size_t)i;
      const int column = look->column != NULL ? look->column[at] : i;
      error += fabs(look->G[at]) * search->step->scale[o->nq + column];
    }
    allowed = fmax(allowed, error);
    along[k - 1] = saltusi_row_dot(look, k, v) + look->b[k];
  }
  const double size = saltusi_length(tangents, along);
  for (int k = 0; k < tangents; k++) {
    along[k] /= fmax(size, DBL_MIN);
  }
  return size > allowed;
}

/* Slip of a spatial contact is a vector: where it is perpendicular to its direction at the start and not zero,
 * because the slip or the frame of the contact rotates, the search continues along its present direction. */
static saltus_status find_stop(saltusi_search* search, int key) {
  enum { TURNS = 64 }; /* quarter turns of slip in a step; a step with more is too long */
  const saltusi_contact* c = &search->contact[key];
  bool fresh = c->fresh_slip;
  double along[SALTUSI_SLIPS];
  const double noise = fresh ? saltusi_sum_rounding * search->speed_end : 0.0;
  saltusi_root_isolation s = {.search = search,
                              .what = SALTUSI_ISOLATE_SLIP,
                              .key = key,
                              .sign = c->sense,
                              .along = along,
                              /* below it, zeros that are noise would be halved without end */
                              .depth = fmax(saltusi_slip_rounding(search->decision), 2.0 * noise),
                              .noise = noise,
                              .fresh = fresh};
  memcpy(along, search->step->slip_start + SALTUSI_SLIPS * (size_t)key, sizeof along);
  double root = saltusi_isolate_root(&s, saltusi_found_end(search));
  for (int k = 0; search->o->tangents[key] > 1 && !isnan(root) && s.status == SALTUS_OK &&
                  slip_goes_on(search, key, root, along);
       k++) {
    s.status = k < TURNS ? s.status : SALTUS_RETRY_SMALLER;
    s.begin = root;
    s.fresh = false;
    root = saltusi_isolate_root(&s, saltusi_found_end(search));
  }
  search->searched = key;
  saltusi_found_add(search, (saltusi_found){.kind = SALTUSI_FOUND_STOP,
                                            .key = key,
                                            .theta = root,
                                            .origin = root,
                                            .rank = RANKS * key + RANK_STOP});
  return s.status;
}

/* Width of the bracket of a force root, fraction of the step: accelerations are continuous there. Where they are
 * not, as for friction or a bond that breaks, the time is needed as accurately as the state. */
static double width_of(const saltusi_search* search, int key) {
  bool jumps = saltusi_friction_mode_falls(search->o, key) ||
               saltusi_friction_mode_pull(search->o, &search->contact[key], key) > 0.0;
  if (jumps) {
    return saltusi_force_width_rate * fmax(search->o->settings.rtol, saltusi_rtol_least);
  }
  return fmin(saltusi_force_width,
              saltusi_force_width_rate * sqrt(fmax(search->o->settings.rtol, saltusi_rtol_least)));
}

/* Refines an approximate root of a force by secants with the multipliers of the dynamics (section 4.1). Their base
 * is a tenth of the last correction, so that the error of a slope is a tenth of its change over that correction;
 * at first the largest permitted width, and never so short that the rounding of forces, 1e-13, affects the slope
 * (1e-7 of it). A correction beyond two or three nodes is rejected; a tenth and ten times of that limit give the
 * same table in `study adversarial --count 2 --tol 1e-6`. */
static double polish(force_search* s, double x, double width, double at_end) {
  const double shortest = 1e-6;
  const double farthest = 0.3;
  double f = x < 1.0 ? evaluate(s, x) : at_end;
  double move = 0.0;
  for (int k = 0; k < 4; k++) {
    double d = k == 0 ? saltusi_force_width : fmax(shortest, 0.1 * fabs(move));
    double other = x > 0.5 ? x - d : x + d;
    double slope = (f - evaluate(s, other)) / (x - other);
    if (!(slope < 0.0)) {
      break;
    }
    move = -f / slope;
    if (fabs(move) > farthest) {
      break;
    }
    x = fmin(1.0, fmax(0.0, x + move));
    if (fabs(move) <= width) {
      break;
    }
    f = evaluate(s, x);
  }
  return x;
}

/* Whether forces exist that keep every sticking contact sticking, at one theta of the step. */
static saltus_status check_sticks(saltusi_search* search, double theta, bool* sticks) {
  double t = search->step->t + theta * search->step->h;
  int count = 0;
  search->step->ops->dense(&search->step->motion, theta, 0, search->o->ny, search->probe);
  memcpy(search->check, search->contact, (size_t)search->o->nc * sizeof *search->contact);
  saltusi_find_senses(search->decision, t, search->probe);
  for (int key = 0; key < search->o->nc; key++) {
    if (saltusi_is_closed(&search->contact[key]) && !saltusi_is_friction_mode(search->o, key)) {
      search->decision->set[count++] = key;
    }
  }
  saltus_status status = saltusi_decide_status(search->decision, t, search->probe, count);
  *sticks = status == SALTUS_OK;
  for (int key = 0; key < search->o->nc; key++) {
    bool stuck = search->check[key].mode == SALTUSI_STICK;
    *sticks = *sticks && !(stuck && search->contact[key].mode == SALTUSI_SLIP);
  }
  memcpy(search->contact, search->check, (size_t)search->o->nc * sizeof *search->contact);
  return status == SALTUS_RETRY_SMALLER ? SALTUS_OK : status;
}

/* Contacts continue to stick with another load distribution: an event where that of the step reaches a cone, at
 * which admissible forces inside of all cones replace it (on_slide). A step that starts outside has found none. */
static saltus_status find_other_shares(saltusi_search* search, int key, double from, int rank) {
  const double t = search->step->t + from * search->step->h;
  bool inside = false;
  if (!(from > 0.0)) {
    return SALTUS_OK;
  }
  search->step->ops->dense(&search->step->motion, from, 0, search->o->ny, search->probe);
  saltus_status status = saltusi_mode_rate(search->mode, t, search->probe, search->probe_rate);
  if (status == SALTUS_OK) {
    status = saltusi_decide_load_distribution(search->decision, t, search->probe,
                                              search->probe_rate + search->o->nq + search->o->nv,
                                              &inside);
  }
  if (inside) {
    saltusi_found_add(
        search,
        (saltusi_found){
            .kind = SALTUSI_FOUND_SLIDE, .key = key, .theta = from, .origin = from, .rank = rank});
  }
  return status;
}

/* Redundant contacts with friction have many load distributions. The dynamics give one of them: when it reaches a
 * cone, the friction problem decides whether another one does not. */
static saltus_status find_shared_slide(saltusi_search* search, int key, double from, int rank) {
  double width = width_of(search, key);
  bool sticks = true;
  const int before = search->found_count;
  saltus_status status = find_other_shares(search, key, from, rank);
  if (status == SALTUS_OK && search->found_count == before) {
    status = check_sticks(search, 1.0, &sticks);
  }
  if (status != SALTUS_OK || sticks) {
    return status;
  }
  double last = from;
  double first = 1.0;
  while (status == SALTUS_OK && first - last > width) {
    double middle = 0.5 * (first + last);
    status = check_sticks(search, middle, &sticks);
    last = sticks ? middle : last;
    first = sticks ? first : middle;
  }
  saltusi_found_add(
      search,
      (saltusi_found){
          .kind = SALTUSI_FOUND_SLIDE, .key = key, .theta = first, .origin = last, .rank = rank});
  return status;
}

/* A sign change of a force in the dense output that the dynamics do not confirm: the first node at which they do,
 * and the root before it; NaN: no violation. Impulses near an impulsive change oscillate, and a contact that opens
 * without cause would have to close again. */
static double true_violation(force_search* s, double end, double* root) {
  double last = 0.0;
  for (int i = 0; i < SALTUSI_NODES && s->status == SALTUS_OK; i++) {
    double value = i < SALTUSI_NODES - 1 ? evaluate(s, nodes[i]) : end;
    if (value < 0.0) {
      *root = last;
      return nodes[i];
    }
    last = nodes[i];
  }
  return NAN;
}

static force_search search_of(saltusi_search* search, const saltusi_suspect_force* f) {
  return (force_search){.search = search,
                        .what = f->kind == SALTUSI_FOUND_OPEN ? NORMAL_FORCE : FRICTION,
                        .key = f->key,
                        .sign = f->sign};
}

/* Adds a force whose dense output changes sign to the candidates. */
static saltus_status suspect_force(saltusi_search* search, saltusi_found_kind kind, int key,
                                   double sign, int* count) {
  saltusi_suspect_force f = {.kind = kind, .key = key, .sign = sign};
  force_search s = search_of(search, &f);
  double at[SALTUSI_NODES];
  double start = force_value(&s, search->step->rate0 + search->o->nq + search->o->nv);
  f.end = force_value(&s, search->step->rate1 + search->o->nq + search->o->nv);
  double size = fmax(fabs(start), fabs(f.end));
  for (int i = 0; i < SALTUSI_NODES - 1; i++) {
    at[i] = force_value(&s, search->node_rate + (size_t)i * (size_t)search->o->nl);
    size = fmax(size, fabs(at[i]));
  }
  at[SALTUSI_NODES - 1] = f.end;
  /* the root of the dense output is cheap: a thousandth of the width makes its error negligible */
  samples values = {
      .at = at, .width = 1e-3 * width_of(search, key), .noise = saltusi_sum_rounding * size};
  values.start = fmax(start, 10.0 * saltusi_sum_rounding * size); /* a new status holds */
  f.root = first_root(&s, &values);
  if (!isnan(f.root)) {
    search->suspects[(*count)++] = f;
  }
  return s.status;
}

/* Its event, if there is one. */
static saltus_status find_force(saltusi_search* search, saltusi_suspect_force* f) {
  force_search s = search_of(search, f);
  double width = width_of(search, f->key);
  double root = f->root;
  int rank = RANKS * f->key + (f->kind == SALTUSI_FOUND_OPEN ? RANK_OPEN : RANK_SLIDE);
  f->root = NAN;
  if (f->kind == SALTUSI_FOUND_SLIDE && saltusi_active_may_distribute_load(search->mode) &&
      search->mode->held.shared[f->key]) {
    return find_shared_slide(search, f->key, root, rank);
  }
  s.exact = true;
  root = polish(&s, root, width, f->end);
  double late = root;
  double value = 0.0;
  for (int k = 0; k < 8 && !(value < 0.0) && late < 1.0; k++) {
    late = fmin(1.0, root + width * ldexp(1.0, k));
    value = late < 1.0 ? evaluate(&s, late) : f->end;
  }
  if (!(value < 0.0) && s.status == SALTUS_OK) {
    late = true_violation(&s, f->end, &root);
  }
  saltusi_found_add(
      search,
      (saltusi_found){.kind = f->kind, .key = f->key, .theta = late, .origin = root, .rank = rank});
  return s.status;
}

static saltus_status suspect_forces(saltusi_search* search, int key, int* count) {
  saltus_status status = SALTUS_OK;
  bool sticks = search->contact[key].mode == SALTUSI_STICK && search->o->mu[key] > 0.0;
  if (saltusi_is_pressed(&search->contact[key]) && key < search->o->contacts) {
    status = suspect_force(search, SALTUSI_FOUND_OPEN, key, 0.0, count);
  }
  for (int side = 0; sticks && side < 2 && status == SALTUS_OK; side++) {
    if (side == 0 || search->o->tangents[key] == 1) {
      status = suspect_force(search, SALTUSI_FOUND_SLIDE, key, side == 0 ? -1.0 : 1.0, count);
    }
  }
  return status;
}

/* The suspect with the first root; NULL: none is left. */
static saltusi_suspect_force* first_suspect(const saltusi_search* search, int count) {
  saltusi_suspect_force* first = NULL;
  for (int i = 0; i < count; i++) {
    saltusi_suspect_force* f = &search->suspects[i];
    if (!isnan(f->root) && (first == NULL || f->root < first->root)) {
      first = f;
    }
  }
  return first;
}

/* Candidates whose true force is negative at the first event have their event before it, even if their dense
 * output has none. */
static saltus_status find_violated(saltusi_search* search, int count, double theta, bool* any) {
  double* rate = search->probe_rate;
  saltus_status status = SALTUS_OK;
  *any = false;
  search->step->ops->dense(&search->step->motion, theta, 0, search->o->ny, search->probe);
  status = saltusi_mode_rate(search->mode, search->step->t + theta * search->step->h, search->probe,
                             rate);
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    const saltusi_suspect_force* f = &search->suspects[i];
    const force_search s = search_of(search, f);
    search->suspected[i] =
        !isnan(f->root) && force_value(&s, rate + search->o->nq + search->o->nv) < 0.0;
  }
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    if (search->suspected[i]) {
      *any = true;
      status = find_force(search, &search->suspects[i]);
    }
  }
  return status;
}

/* Forces of closed contacts. All are examined on the dense output, which is cheap; true forces, which take an
 * evaluation of the dynamics each, only for those that can be the first event. */
static saltus_status find_forces(saltusi_search* search) {
  int count = 0;
  saltus_status status = SALTUS_OK;
  for (int key = 0; key < search->o->nc && status == SALTUS_OK; key++) {
    status = suspect_forces(search, key, &count);
  }
  bool any = count > 0;
  while (any && status == SALTUS_OK) {
    saltusi_suspect_force* f = first_suspect(search, count);
    while (f != NULL && f->root <= saltusi_found_end(search) && status == SALTUS_OK) {
      status = find_force(search, f);
      f = first_suspect(search, count);
    }
    double end = saltusi_found_end(search);
    any = f != NULL && end < 1.0 && status == SALTUS_OK;
    if (any) {
      status = find_violated(search, count, end, &any);
    }
  }
  return status;
}

/* Motion of a closed contact: where other constraints determine it, and the end of its slip. */
static saltus_status find_closed(saltusi_search* search, int key) {
  saltusi_contact_mode mode = search->contact[key].mode;
  saltus_status status = SALTUS_OK;
  if (mode == SALTUSI_IDLE) { /* other constraints keep it closed */
    status = find_motion(search, key, 0, -1.0);
    return status == SALTUS_OK
               ? saltusi_find_load(search, key, width_of(search, key), RANKS * key + 1)
               : status;
  }
  bool passive = mode == SALTUSI_STICK_IDLE || mode == SALTUSI_STICK_BOUND;
  for (int k = 1; passive && search->o->mu[key] > 0.0 && k <= search->o->tangents[key]; k++) {
    for (int side = -1; side <= 1 && status == SALTUS_OK; side += 2) {
      status = find_motion(search, key, k, side); /* other constraints prevent slip */
    }
  }
  for (int side = -1;
       search->step->overheld && key < search->o->contacts && side <= 1 && status == SALTUS_OK;
       side += 2) {
    /* all other constraints keep it closed, as long as they agree */
    status = find_motion(search, key, 0, side);
  }
  if (mode == SALTUSI_SLIP && search->o->mu[key] > 0.0 && status == SALTUS_OK) {
    status = find_stop(search, key);
  }
  return status;
}

/* Data of the searches of all contacts: sizes, gaps, forces at the nodes. */
static saltus_status sample(saltusi_search* search) {
  bool closed = false;
  search->size = search->o->size;
  search->speed = saltusi_max_abs(search->o->nv, saltusi_v_of(search->o, search->step->y0));
  search->speed_end =
      fmax(saltusi_max_abs(search->o->nv, saltusi_v_of(search->o, search->step->y1)), DBL_MIN);
  saltus_status status = saltusi_mode_gaps(search->mode, search->step->t, search->step->y0);
  memcpy(search->gap_start, search->mode->gap, (size_t)search->o->nc * sizeof(double));
  for (int key = 0; key < search->o->nc; key++) {
    closed = closed || saltusi_is_pressed(&search->contact[key]);
  }
  for (int i = 0; i < SALTUSI_NODES - 1 && closed; i++) {
    search->step->ops->dense_rate(&search->step->motion, nodes[i], search->o->nq + search->o->nv,
                                  search->o->nl,
                                  search->node_rate + (size_t)i * (size_t)search->o->nl);
  }
  return status;
}

static bool is_before(const saltusi_found* a, const saltusi_found* b) {
  return a->theta < b->theta || (a->theta == b->theta && a->rank < b->rank);
}

/* Sorts by theta; simultaneous events by rank. */
static void sort_found(saltusi_search* search) {
  for (int i = 1; i < search->found_count; i++) {
    saltusi_found f = search->found[i];
    int k = i;
    for (; k > 0 && is_before(&f, &search->found[k - 1]); k--) {
      search->found[k] = search->found[k - 1];
    }
    search->found[k] = f;
  }
}

/* Whether active rows can change their branch. */
static bool rows_may_switch(const saltusi_search* search) {
  if (saltusi_trajectory_switches(search->sys) == 0 ||
      !saltusi_trajectory_encloses(search->sys, SALTUS_QUANTITY_VELOCITY)) {
    return false;
  }
  for (int key = 0; key < search->o->contacts; key++) {
    if (saltusi_is_pressed(&search->contact[key]) &&
        (saltusi_trajectory_depends(search, SALTUS_QUANTITY_VELOCITY, key) & SALTUS_NOT_AFFINE) !=
            0) {
      return true;
    }
  }
  return false;
}

/* A kink in the gap of a closed contact, max(g1, g2): where the branch changes its row jumps, and the status is
 * decided again (docs/theory/events.md, 6). Functions of time alone: switch_times.c. */
static saltus_status find_switch(saltusi_search* search) {
  int n = rows_may_switch(search) ? saltusi_trajectory_switches(search->sys) : 0;
  for (int i = 0; i < n; i++) {
    unsigned depends = saltusi_trajectory_depends(search, SALTUS_QUANTITY_SWITCH, i);
    saltusi_trajectory_jet start;
    if ((depends & SALTUS_ON_Q) == 0 || (depends & SALTUS_ON_V) != 0) {
      continue;
    }
    saltusi_trajectory_along(search, 0.0, 0.0, 1, SALTUS_QUANTITY_SWITCH, i, &start);
    saltusi_root_isolation s = {.search = search, .what = SALTUSI_ISOLATE_SWITCH, .key = i};
    s.noise = fmax(start.c[0].hi - start.c[0].lo, DBL_EPSILON * search->size);
    s.depth = fmax(saltusi_near_part * search->o->atol_q_min, s.noise);
    /* on the kink within 64 widths of an enclosure at a point; twice that separates the motion from it, so that
     * the next step does not begin on it again */
    s.fresh = fmax(fabs(start.c[0].lo), fabs(start.c[0].hi)) <= 64.0 * s.noise;
    double from = s.fresh ? start.c[1].lo + start.c[1].hi : start.c[0].lo + start.c[0].hi;
    s.sign = from > 0.0 ? 1.0 : -1.0;
    double margin = 128.0 * s.noise;
    double over = margin / fmax(saltusi_magnitude(start.c[1]), DBL_MIN);
    double rate = saltusi_magnitude(start.c[1]) / search->step->h;
    if (from == 0.0 || (s.fresh && rate < 1e-6 * search->memory->v_max)) {
      continue; /* it moves along the kink: across it by less than a millionth of its speed */
    }
    if (s.fresh) { /* on no branch, to rounding: crossed at once */
      saltusi_found_add(search, (saltusi_found){.kind = SALTUSI_FOUND_SWITCH,
                                                .key = -1,
                                                .theta = fmin(over, 1.0),
                                                .rank = RANKS * search->o->nc});
      continue;
    }
    double root = saltusi_isolate_root(&s, saltusi_found_end(search));
    if (s.status != SALTUS_OK) {
      return s.status;
    }
    if (!isnan(root) && root > 0.0) {
      /* to where the sign is certain on either side: between them the formula is on no branch; at most a millionth
       * of the step, over which pass_switch() keeps velocities */
      saltusi_trajectory_jet at;
      saltusi_trajectory_along(search, root, root, 1, SALTUS_QUANTITY_SWITCH, i, &at);
      double beside = fmin(margin / fmax(saltusi_magnitude(at.c[1]), DBL_MIN), 1e-6);
      saltusi_found_add(search, (saltusi_found){.kind = SALTUSI_FOUND_SWITCH,
                                                .key = -1,
                                                .theta = fmin(root + beside, 1.0),
                                                .origin = fmax(root - beside, 0.0),
                                                .rank = RANKS * search->o->nc});
    }
  }
  return SALTUS_OK;
}

void saltusi_mark_hits(saltusi_search* search, const saltusi_found* event) {
  assert(search != NULL);
  memset(search->hits, 0, (size_t)search->o->nc * sizeof(bool));
  bool struck = event != NULL && event->kind == SALTUSI_FOUND_HIT;
  for (int i = 0; struck && i < search->found_count; i++) {
    const saltusi_found* f = &search->found[i];
    if (f->kind == SALTUSI_FOUND_HIT && f->theta <= event->theta * (1.0 + saltusi_together)) {
      search->hits[f->key] = true;
    }
  }
}

/* One search over the trial step; *again: it ended at roots that are no contacts. */
static saltus_status find_once(saltusi_search* search, bool* again) {
  *again = false;
  search->found_count = 0;
  saltus_status status = sample(search);
  for (int key = 0; key < search->o->nc && status == SALTUS_OK; key++) {
    status = saltusi_is_closed(&search->contact[key]) ? find_closed(search, key) : SALTUS_OK;
  }
  status = status == SALTUS_OK ? find_switch(search) : status;
  status = status == SALTUS_OK && search->o->featured ? saltusi_find_guards(search) : status;
  for (int key = 0; key < search->o->contacts && status == SALTUS_OK; key++) {
    if (saltusi_is_closed(&search->contact[key])) {
      continue;
    }
    if (search->o->featured) {
      status = saltusi_find_feature_hit(search, key);
    } else if (!isinf(search->gap_start[key])) {
      status = saltusi_find_hit(search, key, saltusi_found_end(search));
    }
  }
  status = status == SALTUS_OK ? find_forces(search) : status;
  sort_found(search);
  return status == SALTUS_OK && search->o->featured ? saltusi_resolve_hits(search, again) : status;
}

saltus_status saltusi_find_events(saltusi_search* search) {
  enum { SEARCHES = 16 };
  assert(search != NULL);
  bool again = true;
  saltus_status status = SALTUS_OK;
  memset(search->dismissed, 0, (size_t)search->o->nc * sizeof(double));
  for (int k = 0; k < SEARCHES && again && status == SALTUS_OK; k++) {
    status = find_once(search, &again);
  }
  return status == SALTUS_OK && again ? SALTUS_RETRY_SMALLER : status;
}
