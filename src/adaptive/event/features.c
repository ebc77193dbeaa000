/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * features.c - contacts that are pairs of features of shapes (docs/theory/contact-geometry.md, 6,
 * docs/theory/events.md, 4).
 *
 *   closed       its gap is an equation while its guards are positive: where the smallest of them falls below rounding,
 *                the contacts of that state are listed; a neighbour succeeds it, or the contact is lost
 *   two shapes without a contact    one separation monitor, their distance: at its root the contacts are listed
 *   two shapes with one             every other pair of their features by its own gap: a root counts where its guards
 *                                   are positive and the pair is in the list
 *
 * Lists are made at events alone, with a reach of ten tolerances. Closed contacts are not listed: each is valid
 * until its guard becomes negative, and a pair that the list has in its place (corner on corner: one is enough) is
 * left out.
 */
#include "adaptive/event/root_isolation.h"
#include "adaptive/event/separation_monitor.h"
#include "adaptive/thresholds.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Sample points of a guard, and sample points at which a gap that is negative without being a contact may become
 * positive again: of closed or near contacts; steps that change features more often are rejected for other
 * reasons. */
enum { LOOKS = 16, COMEBACKS = 8 };

/* Sine of the angle between directions that count as equal: a contact and its successor have one normal, up to the
 * rounding of arcs. */
static const double same_normal = 1e-6;

/* Reach of lists in m: the possible error of a state, as in swept queries. */
static double near_reach(const saltusi_layout_tables* o) {
  return fmax(10.0 * o->atol_q_min, saltusi_gap_rounding * o->size);
}

static double guard_rounding(const saltusi_layout_tables* o) {
  return saltusi_gap_rounding * o->size;
}

/* Depth below zero at which a guard may begin, a fraction of the margin of lists beyond borders: states at events
 * have the accuracy of the tolerance. */
static double guard_slack(const saltusi_layout_tables* o) {
  return fmax(guard_rounding(o), 0.0625 * near_reach(o));
}

/* ---- gaps, lists, guards --------------------------------------------------------------------- */

saltus_status saltusi_feature_gaps(saltusi_mode_dynamics* m, const saltus_point* at) {
  assert(m != NULL && at != NULL);
  const saltusi_contact_table* table = &m->eval->keys->table;
  int count = 0;
  for (int key = 0; key < m->o->nc; key++) {
    m->gap[key] = INFINITY;
    if (key < m->o->contacts && table->law[key] >= 0 &&
        table->law[key] != saltusi_measure_monitor_law(m->sys)) {
      m->unlisted[count++] = key;
    }
  }
  return saltusi_keys_gaps(m->eval->keys, m->sys, at, m->unlisted, count, m->gap);
}

/* Guards of a contact. */
typedef struct guards {
  double value[SALTUS_GUARDS];
  int count;     /* -1: it is valid wherever its gap is zero */
  bool has_come; /* flat */
  bool tilts;    /* the last is the tilt of a circle */
} guards;

static guards guards_of(saltusi_mode_dynamics* m, double t, const double* q, int key) {
  const saltus_point at = saltusi_at(m->eval, t, q, NULL);
  guards g;
  int said = m->sys->ops->guards(m->sys->self, &at, m->eval->keys->table.identity[key], g.value);
  g.count = said < 0 ? said : said & ~(SALTUS_LIES_DOWN | SALTUS_TILTS);
  g.has_come = said > 0 && (said & SALTUS_LIES_DOWN) != 0;
  g.tilts = said > 0 && (said & SALTUS_TILTS) != 0;
  return g;
}

double saltusi_least_guard(saltusi_mode_dynamics* m, double t, const double* q, int key) {
  assert(m != NULL && q != NULL && key >= 0);
  const guards g = guards_of(m, t, q, key);
  double least = INFINITY;
  for (int i = 0; i < g.count; i++) {
    least = fmin(least, g.value[i]);
  }
  return least;
}

bool saltusi_rim_has_settled(saltusi_mode_dynamics* m, double t, const double* q, int key) {
  assert(m != NULL && q != NULL && key >= 0);
  return guards_of(m, t, q, key).has_come;
}

double saltusi_tilt_of(saltusi_mode_dynamics* m, double t, const double* q, int key) {
  assert(m != NULL && q != NULL && key >= 0);
  const guards g = guards_of(m, t, q, key);
  return g.tilts ? g.value[g.count - 1] : INFINITY;
}

/* Whether a contact is valid wherever its gap is zero. */
static bool is_plain(saltusi_search* search, int key) {
  return guards_of(search->mode, search->step->t, search->step->y0, key).count < 0;
}

static bool place_of(const saltusi_mode_dynamics* m, double t, const double* q, int key,
                     saltus_contact_place* place) {
  const saltus_point at = saltusi_at(m->eval, t, q, NULL);
  memset(place, 0, sizeof *place);
  return m->sys->ops->place(m->sys->self, &at, m->eval->keys->table.identity[key], place) ==
         SALTUS_OK;
}

/* Whether two contacts of the same bodies are within a distance; *normals: the product of their normals. */
static bool is_within(const saltusi_mode_dynamics* m, double t, const double* q, const int key[2],
                      double distance, double* normals) {
  saltus_contact_place x;
  saltus_contact_place y;
  if (!place_of(m, t, q, key[0], &x) || !place_of(m, t, q, key[1], &y) ||
      x.bodies[0] != y.bodies[0] || x.bodies[1] != y.bodies[1]) {
    return false;
  }
  double square = 0.0;
  *normals = 0.0;
  for (int k = 0; k < 3; k++) {
    square += (x.point[k] - y.point[k]) * (x.point[k] - y.point[k]);
    *normals += x.normal[k] * y.normal[k];
  }
  return sqrt(square) <= distance;
}

static bool is_same_place(const saltusi_mode_dynamics* m, double t, const double* q, int a, int b,
                          double* normals) {
  return is_within(m, t, q, (const int[2]){a, b}, 4.0 * near_reach(m->o), normals);
}

/* The gap of a pair, where the list may hold the distance of the shapes; restores the latter. */
static bool own_gap(saltusi_mode_dynamics* m, double t, const double* q, int key, double* gap) {
  const double listed = m->gap[key];
  const saltus_status status = saltusi_mode_gap(m, t, q, key, gap);
  m->gap[key] = listed;
  return status == SALTUS_OK;
}

/* Whether a contact is redundant beside its smooth neighbour `held`, which is active within its guards: lists
 * extend a little beyond borders, where both are found. At the distance s from the border, with the angle a
 * between the normals, their gaps differ by s a / 2, which is either rounding or, where the surface is convex (the
 * side of a capsule and its end), above zero. With a radius r it is s^2 / (2 r): within the reach of lists up to s
 * of sqrt(2 r reach). */
static bool is_implied(saltusi_search* search, double t, const double* q, int held, int key) {
  const saltusi_layout_tables* o = search->o;
  const double border = saltusi_least_guard(search->mode, t, q, held);
  const double guard = fmin(saltusi_least_guard(search->mode, t, q, key), border);
  const double reach = fmax(4.0 * near_reach(o), fmin(2.0 * border, sqrt(o->size * near_reach(o))));
  double normals, gap[2]; /* inside a step neither is zero */
  if (!is_within(search->mode, t, q, (const int[2]){held, key}, reach, &normals) ||
      !own_gap(search->mode, t, q, held, &gap[0]) || !own_gap(search->mode, t, q, key, &gap[1])) {
    return false;
  }
  const double apart = gap[1] - gap[0];
  const double angle = sqrt(2.0 * fmax(1.0 - normals, DBL_EPSILON));
  return normals > 1.0 - same_normal &&
         (guard * angle <= guard_rounding(o) || (apart > 0.0 && apart >= 0.25 * guard * angle));
}

/* Leaves out pairs listed in place of a closed contact, and the inactive one of two smooth neighbours. */
static void leave_rivals(saltusi_search* search, double t, const double* q) {
  const saltusi_layout_tables* o = search->o;
  const saltusi_mode_dynamics* m = search->mode;
  for (int held = 0; held < o->contacts; held++) {
    if (!saltusi_touches(&search->contact[held]) ||
        saltusi_least_guard(search->mode, t, q, held) < 0.0) {
      continue;
    }
    for (int key = 0; key < o->contacts; key++) {
      double normals;
      if (o->listed[key] && !saltusi_touches(&search->contact[key]) &&
          ((!o->listed[held] && is_same_place(m, t, q, held, key, &normals)) ||
           is_implied(search, t, q, held, key))) {
        o->listed[key] = false;
      }
    }
  }
}

saltus_status saltusi_feature_list(saltusi_search* search, double t, const double* q) {
  assert(search != NULL && q != NULL);
  return saltusi_feature_list_within(search, t, q, 0.0);
}

saltus_status saltusi_feature_list_within(saltusi_search* search, double t, const double* q,
                                          double reach) {
  assert(search != NULL && q != NULL);
  saltusi_mode_dynamics* m = search->mode;
  saltusi_layout_tables* o =
      (saltusi_layout_tables*)(uintptr_t)search->o; /* laws of new keys are written */
  const saltus_point at = saltusi_at(m->eval, t, q, NULL);
  m->list.requested = fmax(reach, near_reach(o));
  saltus_status status = saltusi_contacts(m->sys, &at, &m->list);
  m->list.requested = INFINITY;
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_layout_laws(o, m->sys, m->eval->keys);
  memset(o->listed, 0, (size_t)o->nc * sizeof(bool));
  for (int i = 0; i < m->list.count; i++) {
    o->listed[m->list.key[i]] = true;
    m->gap[m->list.key[i]] = m->list.gap[i];
  }
  leave_rivals(search, t, q);
  return SALTUS_OK;
}

/* ---- guards of closed contacts --------------------------------------------------------------- */

typedef struct guarded {
  saltusi_search* search;
  int key;
  double allowed; /* below zero */
} guarded;

static const double* positions_at(saltusi_search* search, double theta) {
  if (theta == 0.0 || theta == 1.0) {
    return theta == 0.0 ? search->step->y0 : search->step->y1;
  }
  search->step->ops->dense(&search->step->motion, theta, 0, search->o->nq, search->probe);
  return search->probe;
}

static double guard_at(void* context, double theta) {
  const guarded* g = context;
  const double t = g->search->step->t + theta * g->search->step->h;
  return saltusi_least_guard(g->search->mode, t, positions_at(g->search, theta), g->key) +
         g->allowed;
}

static void add_guard(saltusi_search* search, guarded* g, const double x[2], const double f[2]) {
  double root = saltusi_close_in(guard_at, g, x, f, 4.0 * DBL_EPSILON);
  saltusi_found_add(search, (saltusi_found){.kind = SALTUSI_FOUND_GUARD,
                                            .key = g->key,
                                            .theta = root,
                                            .origin = root,
                                            .rank = SALTUSI_RANKS * g->key + SALTUSI_RANK_GUARD});
}

/* Whether a guard falls below zero and rises again between two samples, as that of a circle that passes its flat
 * attitude: golden sections where the extrapolated chords beside the sample meet below zero. */
static bool find_dip(saltusi_search* search, guarded* g, const double f[LOOKS + 1], int i) {
  enum { SECTIONS = 80 };
  const double golden = 0.618033988749894848;
  const double left = i >= 1 ? f[i] - f[i - 1] : -INFINITY;
  const double right = i + 2 <= LOOKS ? f[i + 2] - f[i + 1] : INFINITY;
  if (!(left < 0.0 && right > 0.0) || !(f[i] + left < 0.0 && f[i + 1] - right < 0.0)) {
    return false;
  }
  double a = (double)i / LOOKS, b = (i + 1.0) / LOOKS;
  double x[2] = {b - golden * (b - a), a + golden * (b - a)};
  double value[2] = {guard_at(g, x[0]), guard_at(g, x[1])};
  for (int k = 0; k < SECTIONS; k++) {
    int low = value[0] < value[1] ? 0 : 1;
    if (!(value[low] > 0.0)) {
      add_guard(search, g, (const double[2]){(double)i / LOOKS, x[low]},
                (const double[2]){f[i], value[low]});
      return true;
    }
    *(low == 0 ? &b : &a) = x[1 - low];
    x[1 - low] = x[low];
    value[1 - low] = value[low];
    x[low] = low == 0 ? b - golden * (b - a) : a + golden * (b - a);
    value[low] = guard_at(g, x[low]);
  }
  return false;
}

/* Whether a guard, positive at the start, provably stays positive up to `end`, or its root is found: *fell. Uses
 * bounds of its rate; they do not suffice for a contact that stays near a border. */
static bool settle_guard(saltusi_search* search, guarded* g, double end, bool* fell) {
  enum { MOST = 48, STACK = 64 };
  const double shortest = 1.0 / 1024.0;
  double left[STACK][2] = {{0.0, end}};
  int count = end > 0.0 ? 1 : 0;
  *fell = false;
  for (int k = 0; count > 0; k++) {
    const double a = left[count - 1][0], b = left[count - 1][1], m = 0.5 * (a + b);
    saltus_clearance c;
    count--;
    saltusi_trajectory_clear(search, a, b, g->key, 0.0, &c);
    if (k >= MOST || !(c.rate < INFINITY)) {
      return false;
    }
    const double value = guard_at(g, m);
    if (value > c.rate * (b - m)) {
      continue;
    }
    if (value <= 0.0 && b - a <= shortest) {
      const double first = guard_at(g, a);
      *fell = first > 0.0;
      if (*fell) {
        add_guard(search, g, (const double[2]){a, m}, (const double[2]){first, value});
      }
      return *fell;
    }
    const double clear = fmax(value, 0.0) / c.rate;
    count = value <= 0.0 ? 0 : count; /* later samples are irrelevant */
    if (value > 0.0 && m + clear < b) {
      left[count][0] = m + clear;
      left[count++][1] = b;
    }
    if (a < m - clear) {
      left[count][0] = a;
      left[count++][1] = m - clear;
    }
  }
  return true;
}

/* A guard that begins slightly negative, as corners on corners may, without a successor is examined again at twice
 * its depth, and not before a fraction of the margin of lists beyond borders: otherwise it would be found again at
 * the same instant. */
static void find_guard(saltusi_search* search, int key) {
  guarded g = {.search = search, .key = key, .allowed = guard_rounding(search->o)};
  double last = guard_at(&g, 0.0);
  if (isinf(last)) {
    return;
  }
  if (last <= 0.0) {
    g.allowed = fmax(g.allowed + 2.0 * (g.allowed - last), guard_slack(search->o));
    last = guard_at(&g, 0.0);
  } else if (last < 0.5 * g.allowed) { /* within rounding of it: a root would be found at once */
    g.allowed *= 4.0;
    last = guard_at(&g, 0.0);
  }
  double end = saltusi_found_end(search);
  bool fell;
  const bool settled =
      last > 0.0 && saltusi_trajectory_clears(search->sys) && settle_guard(search, &g, end, &fell);
  saltusi_count_search(search, settled);
  if (settled) {
    return;
  }
  double f[LOOKS + 1] = {last};
  for (int i = 1; i <= LOOKS; i++) { /* some samples beyond the end detect a dip before it */
    f[i] = guard_at(&g, (double)i / LOOKS);
  }
  for (int i = 1; i <= LOOKS && (i - 1.0) / LOOKS < end; i++) {
    if (!(f[i] > 0.0)) {
      add_guard(search, &g, (const double[2]){(i - 1.0) / LOOKS, (double)i / LOOKS},
                (const double[2]){f[i - 1], f[i]});
      return;
    }
    if (find_dip(search, &g, f, i - 1)) {
      return;
    }
  }
}

saltus_status saltusi_find_guards(saltusi_search* search) {
  assert(search != NULL);
  for (int key = 0; key < search->o->contacts; key++) {
    if (search->contact[key].wobbles) {
      saltusi_found_add(search, (saltusi_found){.kind = SALTUSI_FOUND_GUARD,
                                                .key = key,
                                                .rank = SALTUSI_RANKS * key + SALTUSI_RANK_GUARD});
    } else if (saltusi_touches(&search->contact[key])) {
      find_guard(search, key);
    }
  }
  return SALTUS_OK;
}

/* ---- contacts that close --------------------------------------------------------------------- */

static saltus_status gap_at(saltusi_search* search, double theta, int key, double* gap) {
  return saltusi_mode_gap(search->mode, search->step->t + theta * search->step->h,
                          positions_at(search, theta), key, gap);
}

/* The first sample after `from` with a positive gap: the contact can close only after it. */
static saltus_status come_up(saltusi_search* search, int key, double noise, double* from) {
  const double begin = *from;
  double gap = 0.0;
  saltus_status status = gap_at(search, *from, key, &gap);
  if (isinf(gap)) { /* undefined: other features touch */
    *from = 1.0;
    return status;
  }
  for (int i = 1; i <= LOOKS && !(gap > noise) && status == SALTUS_OK && *from < 1.0; i++) {
    double next = (floor(*from * LOOKS * (1.0 + 4.0 * DBL_EPSILON)) + 1.0) / LOOKS;
    *from = fmin(1.0, next);
    status = gap_at(search, *from, key, &gap);
  }
  if (*from > begin) { /* the skipped interval was only sampled */
    saltusi_count_search(search, false);
  }
  *from = gap > noise ? *from : 1.0;
  return status;
}

/* A pair whose gap has bounds from clearances: points and circles on planes. */
static bool is_cleared(saltusi_search* search, int key, double from, double end) {
  saltus_clearance c = {.exact = false};
  if (from < end) {
    saltusi_trajectory_clear(search, from, end, key, 0.0, &c);
  }
  return c.exact;
}

/* The first root between two points of the trial step, with a positive gap at the first; NaN: none. If bounds do
 * not decide within some thousand subintervals it is sampled. */
static saltus_status first_root(saltusi_search* search, int key, double from, double end,
                                double* root) {
  enum { MOST = 4000 };
  const double noise = saltusi_gap_rounding * search->size;
  const double depth = fmax(saltusi_depth_part * search->o->atol_q_min, noise);
  const bool watch = search->o->watch[key];
  if (saltusi_trajectory_clears(search->sys) && (watch || is_cleared(search, key, from, end))) {
    saltusi_separation_monitor s = {.search = search,
                                    .key = key,
                                    .begin = from,
                                    .end = end,
                                    .depth = depth,
                                    .noise = 0.125 * noise}; /* typical, not an upper bound */
    if (saltusi_separation_monitor_root(&s, root) || s.status != SALTUS_OK) {
      saltusi_count_search(search, true);
      return s.status;
    }
  }
  saltusi_root_isolation s = {.search = search,
                              .what = SALTUSI_ISOLATE_GAP,
                              .key = key,
                              .begin = from,
                              .depth = depth,
                              .noise = 0.125 * noise,
                              .most = MOST,
                              .sampled = watch && saltusi_trajectory_clears(search->sys)};
  *root = saltusi_isolate_root(&s, end);
  if (s.status == SALTUS_RETRY_SMALLER && s.enclosed) {
    s.status = SALTUS_OK;
    s.sampled = true;
    s.most = 0;
    *root = saltusi_isolate_root(&s, end);
  }
  return s.status;
}

/* A separation monitor, or a pair of features beside the touching ones, within a part of the trial step. */
static saltus_status find_root(saltusi_search* search, int key, double from, double end,
                               bool* found) {
  const double noise = saltusi_gap_rounding * search->size;
  *found = false;
  for (int k = 0; k < COMEBACKS; k++) {
    saltus_status status = come_up(search, key, noise, &from);
    if (status != SALTUS_OK || from >= end) {
      return status;
    }
    double root = NAN;
    status = first_root(search, key, from, end, &root);
    search->searched = key;
    if (status != SALTUS_OK || isnan(root)) {
      return status;
    }
    const double t = search->step->t + root * search->step->h;
    /* a list extends this far outside at a corner */
    *found = search->o->watch[key] ||
             saltusi_least_guard(search->mode, t, positions_at(search, root), key) >=
                 -near_reach(search->o);
    if (*found) {
      saltusi_found_add(search, (saltusi_found){.kind = SALTUSI_FOUND_HIT,
                                                .key = key,
                                                .theta = root,
                                                .origin = root,
                                                .rank = SALTUSI_RANKS * (search->o->nc + key + 1)});
      return SALTUS_OK;
    }
    from = root;
  }
  return SALTUS_OK;
}

/* Whether a pair that is no contact touches where the trial step begins, and approaches: another event ended the
 * last step at the same instant. */
static saltus_status is_there_already(saltusi_search* search, int key, bool* there) {
  const saltusi_attempt* step = search->step;
  double gap = 0.0;
  *there = false;
  saltus_status status = gap_at(search, 0.0, key, &gap);
  if (status != SALTUS_OK || !(fabs(gap) <= saltusi_gap_rounding * search->size) ||
      saltusi_least_guard(search->mode, step->t, step->y0, key) < -near_reach(search->o)) {
    return status; /* a list extends this far outside at a corner */
  }
  double u = saltusi_mode_velocity(search->mode, step->t, step->y0, key, 0);
  if (u < -saltusi_slip_rounding(search->decision)) {
    status = saltusi_feature_list(search, step->t, step->y0);
    *there = search->o->listed[key];
  }
  return status;
}

/* A pair of features, searched only where its two features are near each other. */
static saltus_status find_pair_root(saltusi_search* search, int key) {
  enum { STACK = 64 };
  const double shortest =
      1.0 / 64.0; /* of subintervals that are divided further: bounds of gaps exclude the rest */
  const double end = saltusi_found_end(search), reach = 2.0 * near_reach(search->o);
  const double from = search->dismissed[key];
  double left[STACK][2] = {{from, end}};
  int count = end > from ? 1 : 0; /* an event at the start leaves nothing to search */
  bool found = false;
  saltus_status status = SALTUS_OK;
  saltusi_count_search(search, true); /* searches without bounds are counted there */
  while (count > 0 && !found && status == SALTUS_OK) {
    const double a = left[count - 1][0], b = left[count - 1][1], m = 0.5 * (a + b);
    saltus_clearance c;
    count--;
    saltusi_trajectory_clear(search, a, b, key, reach, &c);
    const double before = m - c.clear[0], behind = m + c.clear[1];
    if (before <= a && behind >= b) {
      continue;
    }
    if (isnan(c.value) || b - a <= shortest || (before >= m && behind <= m)) {
      status = find_root(search, key, a, b, &found);
      continue;
    }
    if (behind < b && count < STACK) {
      left[count][0] = behind;
      left[count++][1] = b;
    }
    if (before > a && count < STACK) {
      left[count][0] = a;
      left[count++][1] = before;
    }
  }
  return status;
}

saltus_status saltusi_find_feature_hit(saltusi_search* search, int key) {
  assert(search != NULL && key >= 0);
  const saltusi_contact_table* table = &search->eval->keys->table;
  if (search->contact[key].touching) {
    return saltusi_find_hit(search, key, saltusi_found_end(search));
  }
  if (table->law[key] < 0 || table->used[key] != table->tries) {
    return SALTUS_OK; /* not in this swept query */
  }
  bool there = false;
  const bool seen = search->o->watch[key] || search->dismissed[key] > 0.0;
  saltus_status status = seen ? SALTUS_OK : is_there_already(search, key, &there);
  if (status != SALTUS_OK || there) {
    saltusi_found_add(search, (saltusi_found){.kind = SALTUSI_FOUND_HIT,
                                              .key = key,
                                              .theta = there ? 0.0 : (double)NAN,
                                              .rank = SALTUSI_RANKS * (search->o->nc + key + 1)});
    return status;
  }
  if (!search->o->watch[key] && is_plain(search, key)) {
    return saltusi_find_hit(search, key, saltusi_found_end(search));
  }
  bool found;
  return search->o->watch[key] || !saltusi_trajectory_clears(search->sys)
             ? find_root(search, key, search->dismissed[key], saltusi_found_end(search), &found)
             : find_pair_root(search, key);
}

/* The contact of the list that touches at a root of a separation monitor or of a pair of features; -1: none. */
static int touching_contact(const saltusi_search* search, int key) {
  const saltusi_layout_tables* o = search->o;
  const double* gap = search->mode->gap;
  double most = fmax(2.0 * saltusi_depth_part * o->atol_q_min, 8.0 * guard_rounding(o));
  int best = -1;
  for (int k = 0; k < o->contacts; k++) {
    if (!o->listed[k] || saltusi_touches(&search->contact[k]) || !(gap[k] <= most)) {
      continue;
    }
    bool better = best < 0 || k == key || (best != key && gap[k] < gap[best]);
    best = better ? k : best;
  }
  return best;
}

saltus_status saltusi_resolve_hits(saltusi_search* search, bool* again) {
  assert(search != NULL && again != NULL);
  *again = false;
  while (search->found_count > 0) {
    saltusi_found* first = &search->found[0];
    bool sure = first->kind != SALTUSI_FOUND_HIT ||
                (!search->o->watch[first->key] &&
                 (search->contact[first->key].touching || is_plain(search, first->key)));
    if (sure) {
      return SALTUS_OK;
    }
    const double t = search->step->t + first->theta * search->step->h;
    saltus_status status = saltusi_feature_list(search, t, positions_at(search, first->theta));
    if (status != SALTUS_OK) {
      return status;
    }
    int key = touching_contact(search, first->key);
    if (key >= 0) {
      first->key = key;
      return SALTUS_OK;
    }
    /* nothing touches there; what was searched up to this root alone is searched again behind it */
    search->dismissed[first->key] = fmax(first->theta, DBL_MIN);
    *again = true;
    memmove(first, first + 1, (size_t)(--search->found_count) * sizeof *first);
  }
  return SALTUS_OK;
}

/* Separation monitors of this swept query. */
static bool is_watched(const saltusi_search* search, int key) {
  const saltusi_contact_table* table = &search->eval->keys->table;
  return search->o->watch[key] && table->used[key] == table->tries;
}

saltus_status saltusi_deepest(saltusi_search* search, double t, const double* q, int* deepest) {
  assert(search != NULL && q != NULL && deepest != NULL);
  const saltusi_layout_tables* o = search->o;
  double least = -o->atol_q_min;
  saltus_status status = saltusi_feature_list(search, t, q);
  *deepest = -1;
  for (int key = 0; key < o->contacts && status == SALTUS_OK; key++) {
    double gap = INFINITY;
    if (is_watched(search, key)) {
      status = saltusi_mode_gap(search->mode, t, q, key, &gap);
    } else if (o->listed[key] && !saltusi_touches(&search->contact[key])) {
      gap = search->mode->gap[key];
    }
    if (gap < least) {
      least = gap;
      *deepest = key;
    }
  }
  return status;
}

saltus_status saltusi_measure_monitor_change(saltusi_search* search, const double* lifted, int key,
                                             double* change) {
  assert(search != NULL && lifted != NULL && change != NULL && key >= 0);
  double top = INFINITY;
  saltus_status status = SALTUS_OK;
  *change = 0.0;
  search->gap_start[key] = INFINITY;
  if (is_watched(search, key)) {
    status = gap_at(search, 0.0, key, &search->gap_start[key]);
    if (status == SALTUS_OK) {
      status = saltusi_mode_gap(search->mode, search->step->t, lifted, key, &top);
      *change = fabs(top - search->gap_start[key]);
    }
  }
  return status;
}

/* ---- transfer to neighbours ------------------------------------------------------------------ */

/* Whether a contact whose guard became negative, but which is still listed within the tolerance, has a successor. */
static bool has_heir(saltusi_search* search, double t, const double* q, double near, int from) {
  const saltusi_layout_tables* o = search->o;
  bool any = false;
  for (int key = 0; key < o->contacts && !any; key++) {
    double normals;
    any = o->listed[key] && !saltusi_touches(&search->contact[key]) &&
          search->mode->gap[key] <= near &&
          is_same_place(search->mode, t, q, from, key, &normals) && normals > 1.0 - same_normal &&
          saltusi_least_guard(search->mode, t, q, key) >= -guard_slack(o);
  }
  return any;
}

int saltusi_hand_over(saltusi_search* search, double t, const double* q, double near,
                      saltusi_contact* old, int* set) {
  assert(search != NULL && q != NULL && old != NULL && set != NULL);
  const saltusi_layout_tables* o = search->o;
  int count = 0;
  for (int key = 0; key < o->contacts; key++) {
    const saltusi_contact* c = &search->contact[key];
    const double guard =
        saltusi_touches(c) ? saltusi_least_guard(search->mode, t, q, key) : INFINITY;
    const bool flies_elsewhere = !saltusi_is_closed(c) && guard < -near_reach(o);
    search->hits[key] =
        flies_elsewhere || (guard < 0.0 && (!o->listed[key] || has_heir(search, t, q, near, key)));
  }
  for (int key = 0; key < o->contacts; key++) {
    if (!o->listed[key] || saltusi_touches(&search->contact[key]) ||
        !(search->mode->gap[key] <= near)) {
      continue;
    }
    bool takes_over = false;
    for (int from = 0; from < o->contacts && !takes_over; from++) {
      double normals;
      takes_over = search->hits[from] && saltusi_is_closed(&old[from]) &&
                   is_same_place(search->mode, t, q, from, key, &normals) &&
                   normals > 1.0 - same_normal;
      if (takes_over) { /* continued by the successor, and not reported */
        saltusi_pass_contact(o, old, from, search->contact, key);
        saltusi_pass_contact(o, old, from, old, key);
        saltusi_forget_contact(o, old, from);
      }
    }
    if (!takes_over) {
      set[count++] = key;
    }
  }
  for (int key = 0; key < o->contacts; key++) {
    if (search->hits[key]) {
      saltusi_forget_contact(o, search->contact, key);
    }
  }
  return count;
}

saltus_status saltusi_take_over(saltusi_search* search, double t, double* y, double small) {
  assert(search != NULL && y != NULL);
  const saltusi_layout_tables* o = search->o;
  const saltusi_row_block* rows = &search->mode->row;
  double largest = 0.0;
  for (int key = 0; key < o->contacts; key++) {
    int row = o->nj + o->base[key];
    if (saltusi_is_closed(&search->contact[key])) {
      double u = saltusi_row_dot(rows, row, saltusi_v_of(o, y)) + rows->b[row];
      largest = fmax(largest, fabs(u));
    }
  }
  bool moves = largest > 0.0 && largest <= small;
  return moves ? saltusi_mode_close_velocity(search->mode, t, y) : SALTUS_OK;
}
