/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * verify.c - a certificate: its items, the loop over frames, and rejected recordings.
 */
#include "base/log.h"
#include "base/number.h"
#include "base/reserved.h"
#include "base/sha256.h"
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name, *unit, *doc;
} items[SALTUS_VERIFY_ITEMS] = {
    {"time", "steps", "time runs forwards, and no step is missing"},
    {"start", "m", "the run starts where the scene says"},
    {"values", "", "gaps, normal velocities and energies belong to positions and velocities"},
    {"joints", "m", "joints are closed"},
    {"joint rates", "m/s", "joints do not open"},
    {"penetration", "m", "no gap is negative"},
    {"approach", "m/s", "no closed contact approaches"},
    {"open contacts", "m", "contacts push only where they touch"},
    {"pull", "N s", "contacts do not pull"},
    {"friction cone", "N s", "friction is not larger than mu allows"},
    {"slip", "N s", "where a contact slips friction is as large as mu allows, against the slip"},
    {"positions", "m", "positions follow from velocities"},
    {"momentum", "m/s", "velocities follow from forces"},
    {"forces", "N", "recorded contact forces are those of the motion"},
    {"impact momentum", "m/s", "jumps of velocities follow from impulses"},
    {"impact law", "m/s", "impacts obey their law"},
    {"impact energy", "J", "impacts create no energy that was not reported"},
    {"events", "N s", "the impacts of the table of events are the jumps of the motion"},
    {"ledger", "J", "the energies add up"},
    {"provenance", "", "the scene in the recording is the one that it was made with"},
    {"missed contacts", "m", "no gap is negative between frames"},
    {"outputs", "", "outputs are those of positions and velocities"},
    {"works", "J", "works of contacts and columns of the ledger are those of the motion"},
    {"joint forces", "N", "recorded joint forces are those of the motion"},
    {"event values", "m/s", "velocities and energies of events are those of the frames"},
    {"event kinds", "events", "events happen where the motion has them, and none is missing"},
    {"control", "", "error estimates and residuals are not below what the frames show"},
};

saltus_verify_def saltus_verify_def_default(void) {
  return (saltus_verify_def){.start = 0.0};
}

saltus_verify_def saltus_verify_def_of(const saltus_scene_view* scene,
                                       const saltus_recording_data* data) {
  assert(scene != NULL && data != NULL);
  double pairs = saltus_verify_tolerance(data->options, "direction_pairs");
  const double rtol = saltus_verify_tolerance(data->options, "rtol");
  const double atol = saltus_verify_tolerance(data->options, "atol");
  return (saltus_verify_def){
      /* the form that the scheme integrated, as in saltusi_system_of */
      .system = strncmp(data->scheme, "adaptive", 8) == 0 && scene->system->set_valued != NULL
                    ? scene->system->set_valued
                    : scene->system,
      .data = data,
      .q0 = scene->q0,
      .v0 = scene->v0,
      .start = scene->start,
      .start_tolerance = scene->start_tolerance,
      .switching = scene->observables != NULL ? scene->observables->switching : NULL,
      .atol_q = scene->atol_q,
      .atol_v = scene->atol_v,
      .rtol = fmin(rtol, SALTUS_VERIFY_LARGEST_TOLERANCE),
      .atol = fmin(atol, SALTUS_VERIFY_LARGEST_TOLERANCE),
      .claimed = {rtol, atol},
      .observables = scene->observables,
      .by_differences = strcmp(data->scheme, "schatzman-paoli") == 0,
      .cone_angle = pairs > 0.0 ? 0.5 * acos(-1.0) / pairs : 0.0,
  };
}

double saltus_verify_tolerance(const char* options, const char* name) {
  assert(options != NULL && name != NULL);
  size_t length = strlen(name);
  for (const char* at = options; (at = strstr(at, name)) != NULL; at += length) {
    bool begins = at == options || at[-1] == ' ';
    if (begins && at[length] == '=') {
      double value = saltusi_number_read(at + length + 1, NULL);
      return value > 0.0 && value < INFINITY ? value : 0.0;
    }
  }
  return 0.0;
}

static void clear_items(saltus_certificate* out) {
  for (int i = 0; i < SALTUS_VERIFY_ITEMS; i++) {
    out->items[i] = (saltus_verify_result){.name = items[i].name,
                                           .unit = items[i].unit,
                                           .doc = items[i].doc,
                                           .passed = true,
                                           .t = NAN,
                                           .place = -1};
  }
}

/* Items that a correction of the start affects. */
static bool starts_late(saltus_verify_item item) {
  return item == SALTUS_VERIFY_POSITIONS || item == SALTUS_VERIFY_MOMENTUM ||
         item == SALTUS_VERIFY_PENETRATION || item == SALTUS_VERIFY_JOINTS ||
         item == SALTUS_VERIFY_JOINT_RATES || item == SALTUS_VERIFY_FORCES;
}

void saltusi_note(saltusi_checker* c, saltus_verify_item item, double value, double limit,
                  saltusi_where where) {
  assert(c != NULL);
  saltus_verify_result* r = &c->out->items[item];
  limit += where.frame <= 1 && starts_late(item) ? c->slack : 0.0;
  bool good = value <= limit;
  r->checked++;
  r->failures += !good;
  r->certain += !good && (where.certain || c->sure);
  r->passed = r->passed && good;
  double ratio = good && limit > 0.0 ? value / limit : good ? 0.0 : value / fmax(limit, 1e-300);
  double worst = r->limit > 0.0 ? r->value / r->limit : r->value > 0.0 ? INFINITY : 0.0;
  bool first = isnan(r->t);
  if (first || (!isnan(worst) && !(ratio <= worst))) {
    r->value = value;
    r->limit = limit;
    r->t = c->data->t[where.frame];
    r->frame = where.frame;
    r->place = where.place;
    r->has_contact = where.contact != NULL;
    r->identity = where.contact != NULL ? where.contact->identity : 0;
    r->law = where.contact != NULL ? where.contact->law : 0;
  }
}

void saltusi_skip(saltusi_checker* c, saltus_verify_item item) {
  assert(c != NULL);
  c->out->items[item].skipped++;
}

/* --- the recording belongs to the system ------------------------------------------------------------ */

static saltus_status refuse(const saltus_verify_def* def, const char* text) {
  saltusi_log(def->log, SALTUS_LEVEL_ERROR, "the recording cannot be verified: %s", text);
  return SALTUS_ERR_INPUT;
}

/* Step numbers from 0 to 2^53: their differences are computed without overflow. */
static bool has_step_numbers(const saltus_recording_data* d) {
  bool good = true;
  for (long long i = 0; i < d->count && good; i++) {
    good = d->step[i] >= 0 && d->step[i] <= 1LL << 53;
  }
  return good;
}

/* Checks that all indices are in range. */
static const char* find_bad_contacts(const saltus_system* s, const saltus_recording_data* d) {
  for (long long r = 0; d->changing && r < d->table.count; r++) {
    if (d->table.law[r] < 0 || d->table.law[r] >= s->law_count) {
      return "a contact has a law that the scene does not have";
    }
  }
  for (long long i = 0; i < d->event_count; i++) {
    const saltus_event* e = &d->events[i];
    if (!isfinite(e->t)) {
      return "the time of an event is no number";
    }
    if (d->changing && !saltus_event_is_user_defined(e->kind) &&
        (e->law < 0 || e->law >= s->law_count)) {
      return "an event has a law that the scene does not have";
    }
    if (!d->changing && !saltus_event_is_user_defined(d->events[i].kind) &&
        (d->events[i].contact < 0 || d->events[i].contact >= d->nc)) {
      return "an event has a contact that the scene does not have";
    }
  }
  return NULL;
}

static saltus_status check_sizes(const saltus_verify_def* def) {
  const saltus_system* s = def->system;
  const saltus_recording_data* d = def->data;
  bool changing = (s->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if (d->nq != s->dims.nq || d->nv != s->dims.nv || d->nj != s->dims.nj ||
      changing != d->changing || (!changing && d->nc != s->dims.nc)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "the recording cannot be verified: it has %d positions, %d velocities, %d joint "
                "rows and %s "
                "contacts, its scene %d, %d, %d and %s ones",
                d->nq, d->nv, d->nj, d->changing ? "changing" : "fixed", s->dims.nq, s->dims.nv,
                s->dims.nj, changing ? "changing" : "fixed");
    return SALTUS_ERR_INPUT;
  }
  if (d->count < 1 || d->q == NULL || d->v == NULL || d->step == NULL) {
    return refuse(def, "it has no states");
  }
  for (long long i = 0; i < d->count; i++) {
    if (!isfinite(d->t[i])) {
      return refuse(def, "a time is no number");
    }
  }
  if (!has_step_numbers(d)) {
    return refuse(def, "a step number is not between 0 and 2^53");
  }
  if (!changing && d->nc > 0 &&
      (d->gap == NULL || d->velocity == NULL || d->force == NULL || d->impulse == NULL)) {
    return refuse(def, "it has no contacts");
  }
  const char* bad = find_bad_contacts(s, d);
  return bad != NULL ? refuse(def, bad) : SALTUS_OK;
}

/* --- workspace -------------------------------------------------------------------------------------- */

/* The coordinate whose rate is a single velocity. */
static void find_coordinates(saltusi_checker* c) {
  double* unit = c->work_v;
  double* dq = c->work_q;
  memset(unit, 0, (size_t)c->nv * sizeof *unit);
  for (int i = 0; i < c->nv; i++) {
    c->coordinate[i] = c->system->ops->rate == NULL ? i : -1;
    if (c->system->ops->rate == NULL) {
      continue;
    }
    unit[i] = 1.0;
    c->system->ops->rate(c->system->self, c->data->q, unit, dq);
    unit[i] = 0.0;
    int moved = 0;
    for (int k = 0; k < c->nq; k++) {
      if (dq[k] != 0.0) {
        moved++;
        c->coordinate[i] = dq[k] == 1.0 ? k : -1;
      }
    }
    c->coordinate[i] = moved == 1 ? c->coordinate[i] : -1;
  }
}

static bool take_equations(saltusi_checker* c) {
  saltusi_pool* p = &c->pool;
  size_t n = (size_t)c->nv;
  size_t held = (size_t)c->acting_room < 64 ? (size_t)c->acting_room : 64;
  size_t rows = (size_t)c->nj + SALTUSI_CONTACT_ROWS * (held + 1) + (size_t)c->system->dry_count;
  c->at = (saltusi_equations){.M = SALTUSI_TAKE(p, double, n* n),
                              .factor = SALTUSI_TAKE(p, double, n* n),
                              .F = SALTUSI_TAKE(p, double, n),
                              .free = SALTUSI_TAKE(p, double, n),
                              .G = SALTUSI_TAKE(p, double, rows* n),
                              .b = SALTUSI_TAKE(p, double, rows),
                              .c = SALTUSI_TAKE(p, double, rows),
                              .D = SALTUSI_TAKE(p, double, rows* n),
                              .MD = SALTUSI_TAKE(p, double, rows* n),
                              .A = SALTUSI_TAKE(p, double, rows* rows),
                              .x = SALTUSI_TAKE(p, double, rows),
                              .recorded = SALTUSI_TAKE(p, double, rows),
                              .row_of = SALTUSI_TAKE(p, int, rows),
                              .column = SALTUSI_TAKE(p, int, rows),
                              .rows = (int)rows};
  c->unseen = SALTUSI_TAKE(p, saltusi_unseen, rows);
  c->unseen_x = SALTUSI_TAKE(p, double, 3 * rows);
  c->table = SALTUSI_TAKE(p, double, saltusi_follow_workspace(c->nq, c->nv, c->nj, (int)held));
  return !p->failed;
}

static bool take_room(saltusi_checker* c) {
  saltusi_pool* p = &c->pool;
  const saltus_recording_data* d = c->data;
  c->acting_room = d->nc;
  for (long long i = 0; d->changing && i < d->count; i++) {
    long long rows = d->table.start[i + 1] - d->table.start[i];
    c->acting_room = rows > c->acting_room ? (int)rows : c->acting_room;
  }
  c->gap_room = d->changing ? 0 : d->nc;
  size_t n = (size_t)c->nv;
  c->scratch = saltusi_pool_take(p, c->system->dims.scratch + 1, 1);
  c->acting = SALTUSI_TAKE(p, saltusi_checked_contacts, c->acting_room + 1);
  c->before = SALTUSI_TAKE(p, saltusi_checked_contacts, c->acting_room + 1);
  c->held = SALTUSI_TAKE(p, saltusi_checked_constraints, c->acting_room + 1);
  c->dry = SALTUSI_TAKE(p, saltusi_checked_joint_friction, c->system->dry_count + 1);
  c->dry_limit = SALTUSI_TAKE(p, double, c->system->dry_count + 1);
  c->lost = SALTUSI_TAKE(p, bool, d->nc + 1);
  c->bend = SALTUSI_TAKE(p, double, c->nj + 1);
  c->follow_error = SALTUSI_TAKE(p, double, c->nj + 1);
  c->step_sum = SALTUSI_TAKE(p, double, c->nj + 1);
  c->impact_sum = SALTUSI_TAKE(p, double, c->nj + 1);
  c->weight_q = SALTUSI_TAKE(p, double, n);
  c->weight_v = SALTUSI_TAKE(p, double, n);
  c->coordinate = SALTUSI_TAKE(p, int, n);
  c->work_q = SALTUSI_TAKE(p, double, 4 * (size_t)c->nq);
  c->work_v = SALTUSI_TAKE(p, double, 12 * n);
  c->column = SALTUSI_TAKE(p, int, n + 1);
  c->gap = SALTUSI_TAKE(p, double, c->gap_room + 1);
  c->identity = SALTUSI_TAKE(p, uint64_t, c->gap_room + 1);
  c->law = SALTUSI_TAKE(p, int, c->gap_room + 1);
  c->events = SALTUSI_TAKE(p, saltus_event, d->event_count + 1);
  c->booked.of = SALTUSI_TAKE(p, double, 2 * (size_t)c->gap_room + 1);
  c->booked.of_step = SALTUSI_TAKE(p, double, 2 * (size_t)c->gap_room + 1);
  return !p->failed && take_equations(c) && saltusi_between_workspace(c) &&
         saltusi_observed_workspace(c);
}

/* --- the frames ------------------------------------------------------------------------------------- */

/* Whether a recording has most of its steps, and a state in the middle of most of them. */
typedef struct beat {
  bool every, middles;
  bool full; /* the same for midpoints, also for the shortest runs */
} beat;

/* The first frame after i that ends a step; step numbers repeat inside one. */
static long long step_end(const saltus_recording_data* d, long long i) {
  while (i + 1 < d->count && d->step[i + 1] == d->step[i]) {
    i++;
  }
  return i;
}

/* Whether a frame from `from` to `end` lies in the middle of the step that begins at t. */
static bool has_middle(const saltus_recording_data* d, long long from, long long end, double t) {
  double h = d->t[end] - t;
  bool found = !(h > 1e-12 * fmax(1.0, fabs(t))); /* interval too short for a midpoint */
  for (long long i = from; i < end && !found; i++) {
    found = fabs(d->t[i] - t - 0.5 * h) <= 1e-6 * h + 1e-15 * fabs(t); /* rounding of times */
  }
  return found;
}

/* Whether the time from frame `last` to `end` is the recorded step size; it differs where frames
 * at ends of steps are missing. */
static bool is_as_long(const saltus_recording_data* d, long long last, long long end) {
  double h = d->h != NULL ? d->h[end] : 0.0;
  double off = fabs(d->t[end] - d->t[last] - h);
  return !(h > 0.0) || off <= 1e-9 * h + 1e-14 * fabs(d->t[end]);
}

static beat find_beat(const saltus_recording_data* d) {
  long long ends = 0;
  long long middles = 0;
  long long changes = 0;
  for (long long i = step_end(d, 0); i + 1 < d->count;) {
    long long end = step_end(d, i + 1);
    changes++;
    ends += d->step[i + 1] - d->step[i] == 1 && is_as_long(d, i, end);
    middles += has_middle(d, i + 1, end, d->t[i]);
    i = end;
  }
  /* a few missing frames were lost; a missing quarter was not recorded */
  return (beat){.every = changes > 0 && 4 * ends >= 3 * changes,
                .middles = changes > 2 && 4 * middles >= 3 * changes,
                .full = 4 * middles >= 3 * changes};
}

bool saltus_verify_has_steps(const saltus_recording_data* data, bool middles) {
  assert(data != NULL);
  if (data->count < 1 || data->step == NULL || data->t == NULL || !has_step_numbers(data)) {
    return false;
  }
  const beat known = find_beat(data);
  return known.every && (known.full || !middles);
}

void saltus_certificate_without_steps(saltus_certificate* c, bool impacts) {
  assert(c != NULL);
  static const saltus_verify_item between[] = {
      SALTUS_VERIFY_OPEN,       SALTUS_VERIFY_SLIP,          SALTUS_VERIFY_POSITIONS,
      SALTUS_VERIFY_MOMENTUM,   SALTUS_VERIFY_FORCES,        SALTUS_VERIFY_IMPACT_MOMENTUM,
      SALTUS_VERIFY_IMPACT_LAW, SALTUS_VERIFY_IMPACT_ENERGY, SALTUS_VERIFY_EVENTS};
  const int count = impacts ? 5 : (int)(sizeof between / sizeof between[0]);
  for (int i = 0; i < count; i++) {
    saltus_verify_result* r = &c->items[between[i]];
    if (r->certain > 0) {
      continue;
    }
    r->skipped += r->checked;
    r->checked = r->failures = 0;
    r->passed = true;
    r->value = r->limit = 0.0;
    r->t = NAN;
    r->frame = r->place = -1;
    r->has_contact = false;
  }
  c->passed = true;
  for (int i = 0; i < SALTUS_VERIFY_ITEMS; i++) {
    c->passed = c->passed && c->items[i].passed;
  }
  c->complete = false;
  c->followed = c->balanced = 0.0;
  c->unfollowed = "the recording does not hold every step: --certify records them";
}

/* A step of the recording from frame `last` to `end`: consecutive number, recorded step size,
 * and midpoint. */
static void check_beat(saltusi_checker* c, beat known, long long last, long long end) {
  const saltus_recording_data* d = c->data;
  saltusi_where where = {.frame = end, .place = -1};
  long long by = d->step[end] - d->step[last];
  if (by > 1) {
    saltusi_note(c, SALTUS_VERIFY_TIME, (double)(by - 1), 0.0, where);
  }
  if (known.middles) {
    bool there = has_middle(d, last + 1, end, d->t[last]);
    saltusi_note(c, SALTUS_VERIFY_TIME, there ? 0.0 : 1.0, 0.0, where);
  }
  if (by == 1) {
    saltusi_note(c, SALTUS_VERIFY_TIME, is_as_long(d, last, end) ? 0.0 : 1.0, 0.0, where);
  }
}

/* Whether a frame equals the one before it: an instant with an event has several frames. */
static bool is_repeated(const saltusi_checker* c, long long i) {
  const saltus_recording_data* d = c->data;
  long long last = 0;
  if (saltusi_events_from(c, d->t[i], d->t[i], &last) < last) {
    return false;
  }
  size_t nq = (size_t)d->nq * sizeof(double);
  size_t nv = (size_t)d->nv * sizeof(double);
  return d->t[i] == d->t[i - 1] && d->step[i] == d->step[i - 1] &&
         memcmp(d->q + i * d->nq, d->q + (i - 1) * d->nq, nq) == 0 &&
         memcmp(d->v + i * d->nv, d->v + (i - 1) * d->nv, nv) == 0;
}

/* Steps are missing if most frames are one step apart and some are not. */
static void check_time(saltusi_checker* c) {
  const saltus_recording_data* d = c->data;
  beat known = find_beat(d);
  for (long long i = 1; i < d->count; i++) {
    double dt = d->t[i] - d->t[i - 1];
    long long by = d->step[i] - d->step[i - 1];
    bool forwards = dt >= 0.0 && by >= 0 && (d->h == NULL || d->h[i] > 0.0);
    saltusi_note(c, SALTUS_VERIFY_TIME,
                 !forwards || (c->every && is_repeated(c, i)) ? INFINITY : 0.0, 0.0,
                 (saltusi_where){.frame = i, .place = -1, .certain = true});
  }
  for (long long i = step_end(d, 0); i + 1 < d->count;) {
    long long end = step_end(d, i + 1);
    if (c->every) {
      check_beat(c, known, i, end);
    }
    /* an interval as long as its last step is one step */
    bool wrong = d->h != NULL && d->step[end] - d->step[i] > 1 && is_as_long(d, i, end) &&
                 d->h[end] > 1e-9 * fmax(1.0, fabs(d->t[end]));
    saltusi_note(c, SALTUS_VERIFY_TIME, wrong ? INFINITY : 0.0, 0.0,
                 (saltusi_where){.frame = end, .place = -1, .certain = true});
    i = end;
  }
  bool complete = strcmp(d->status, "complete") == 0;
  if (complete && !isnan(d->until)) {
    double missing = d->until - d->t[d->count - 1];
    saltusi_note(c, SALTUS_VERIFY_TIME, missing > 1e-9 * fmax(1.0, fabs(d->until)) ? INFINITY : 0.0,
                 0.0, (saltusi_where){.frame = d->count - 1, .place = -1, .certain = true});
  }
  if (d->steps >= 0 && d->step[d->count - 1] != d->steps) {
    saltusi_note(c, SALTUS_VERIFY_TIME, (double)llabs(d->steps - d->step[d->count - 1]), 0.0,
                 (saltusi_where){.frame = d->count - 1, .place = -1, .certain = true});
  }
}

static void check_start(saltusi_checker* c) {
  if (c->def->q0 == NULL || c->def->v0 == NULL || c->data->t[0] != c->def->start) {
    saltusi_skip(c, SALTUS_VERIFY_START);
    return;
  }
  for (int i = 0; i < c->nq + c->nv; i++) {
    double x = i < c->nq ? c->data->q[i] : c->data->v[i - c->nq];
    double y = i < c->nq ? c->def->q0[i] : c->def->v0[i - c->nq];
    saltusi_note(c, SALTUS_VERIFY_START, fabs(x - y), 1e-12 * fmax(1.0, fabs(y)),
                 (saltusi_where){.frame = 0, .place = i});
  }
}

/* Bonds that have opened before or at a frame. */
static void follow_bonds(saltusi_checker* c, const saltusi_checked_frame* f) {
  int count = c->data->changing ? 0 : saltusi_frame_contacts(c, f->number, c->acting);
  for (int i = 0; i < count; i++) {
    const saltus_friction_law* law = c->system->laws[c->acting[i].law].friction;
    bool apart = c->acting[i].gap > 1e-9 * fmax(1.0, fabs(f->q[0]));
    c->lost[i] = law != NULL && !law->rebinds && (c->lost[i] || apart);
  }
}

/* Whether impacts occurred in the step to a frame. */
static bool has_impulse(saltusi_checker* c, const saltusi_checked_frame* b) {
  int count = saltusi_frame_contacts(c, b->number, c->acting);
  for (int i = 0; i < count; i++) {
    const double* P = c->acting[i].impulse;
    if (P[0] != 0.0 || P[1] != 0.0 || P[2] != 0.0) {
      return true;
    }
  }
  return false;
}

/* Whether the table has an event between two frames of a recording without all ends of steps. */
static bool is_quiet(const saltusi_checker* c, const saltusi_checked_frame* a,
                     const saltusi_checked_frame* b) {
  long long last = 0;
  bool found = false;
  for (long long k = saltusi_events_from(c, a->t, b->t, &last); k < last; k++) {
    found = found || (c->events[k].t > a->t && c->events[k].t < b->t);
  }
  return c->every || !found;
}

static void check_pair(saltusi_checker* c, const saltusi_checked_frame* a,
                       const saltusi_checked_frame* b) {
  saltusi_book_begin(c);
  c->quiet = is_quiet(c, a, b);
  long long steps = c->data->step[b->number] - c->data->step[a->number];
  if (b->t == a->t) {
    saltusi_check_jump(c, a, b);
  } else if (c->def->by_differences) {
    saltusi_check_differences(c, a, b);
    saltusi_check_step_powers(c, a, b);
  } else if (!c->to_tolerance || (steps <= 1 && has_impulse(c, b))) {
    saltusi_check_step(c, a, b);
    if (!c->to_tolerance && steps <= 1) {
      saltusi_check_step_works(c, a, b);
      saltusi_check_step_powers(c, a, b);
    }
    c->out->balanced += b->t - a->t;
  } else if (steps <= 1) {
    bool part = steps == 0 || !c->every || step_end(c->data, b->number) > b->number;
    saltusi_check_smooth(c, a, b, part ? 10.0 : 1.0);
  } else {
    saltusi_skip(c, SALTUS_VERIFY_MOMENTUM);
    saltusi_skip(c, SALTUS_VERIFY_POSITIONS);
    c->out->unfollowed = "frames do not lie at the ends of steps: --certify records them";
  }
  if (!c->def->by_differences) {
    saltusi_check_friction(c, a, b);
  }
  if (b->t > a->t) {
    double limit = fmax(saltusi_position_limit(c, a), saltusi_position_limit(c, b));
    saltusi_check_between(c, a, b, limit);
  }
  if (a->number == 0 && c->slack > 0.0) {
    saltusi_book_begin(c); /* the start was corrected: as recorded */
  }
  saltusi_check_works(c, a, b);
  saltusi_check_created(c, b);
  saltusi_check_step_reactions(c, a, b);
}

/* Events of the scene that switch something, up to a time. */
static bool switches(const saltusi_checker* c, const saltus_event* e) {
  const saltus_switching* s = c->def->switching;
  return s != NULL && saltus_event_is_user_defined(e->kind) && e->contact >= 0 &&
         e->contact < c->data->event_name_count && s->fires[e->contact];
}

static void fire(saltusi_checker* c, double t) {
  for (; c->fired < c->data->event_count && c->events[c->fired].t <= t; c->fired++) {
    const saltus_event* e = &c->events[c->fired];
    if (switches(c, e)) {
      c->def->switching->fire(c->def->switching->self, e->contact, e->kind == SALTUS_EVENT_RISE);
    }
  }
}

static bool fires_at(const saltusi_checker* c, double t) {
  bool found = false;
  for (long long k = c->fired; k < c->data->event_count && c->events[k].t <= t; k++) {
    found = found || switches(c, &c->events[k]);
  }
  return found;
}

/* A start that violates contacts or joints is corrected by the run before its first step. */
static void find_slack(saltusi_checker* c) {
  saltusi_checked_frame f = saltusi_frame_at(c, 0);
  saltusi_check_values(c, &f);
  const saltus_verify_result* r = c->out->items;
  bool fits = r[SALTUS_VERIFY_PENETRATION].value <= 1e-12 &&
              r[SALTUS_VERIFY_JOINTS].value <= 1e-12 &&
              r[SALTUS_VERIFY_JOINT_RATES].value <= 1e-12; /* rounding */
  c->slack = fits ? 0.0 : c->def->start_tolerance;
  clear_items(c->out);
}

/* Scales of limits without a tolerance. */
static void find_scales(saltusi_checker* c) {
  const saltus_recording_data* d = c->data;
  for (long long i = 0; i < d->count * c->nv; i++) {
    c->fastest = fmax(c->fastest, fabs(d->v[i]));
  }
  for (long long i = 0; !c->to_tolerance && c->nj > 0 && i < d->count; i++) {
    saltus_point at = saltusi_point_at(c, d->t[i], d->q + i * c->nq, d->v + i * c->nv);
    saltusi_joint_rows(c, &at, true);
    for (int k = 0; k < c->nj; k++) {
      c->bend[k] = fmax(c->bend[k], fabs(c->at.c[k]));
    }
  }
  for (long long i = 1; i < d->count; i++) {
    int count = saltusi_frame_contacts(c, i, c->acting);
    for (int k = 0; k < count; k++) {
      double P = c->acting[k].impulse[0] + (d->t[i] - d->t[i - 1]) * c->acting[k].force[0];
      c->hardest = fmax(c->hardest, fabs(P));
    }
  }
}

/* Checks the fingerprint of the text of the scene, taken before the run; NULL: the run was not stored. */
static void check_provenance(saltusi_checker* c) {
  const saltus_recording_data* d = c->data;
  if (d->scene == NULL || d->scene[0] == '\0' || d->scene_sha256 == NULL) {
    saltusi_skip(c, SALTUS_VERIFY_PROVENANCE);
    return;
  }
  char hash[SALTUSI_SHA256_TEXT];
  saltusi_sha256(d->scene, strlen(d->scene), hash);
  saltusi_note(c, SALTUS_VERIFY_PROVENANCE, strcmp(hash, d->scene_sha256) == 0 ? 0.0 : 1.0, 0.0,
               (saltusi_where){.place = -1});
}

static saltus_status go(saltusi_checker* c) {
  if (c->def->switching != NULL) {
    c->def->switching->reset(c->def->switching->self);
  }
  find_coordinates(c);
  c->energy = saltusi_largest_energy(c->data);
  const beat known = find_beat(c->data); /* steps of a run to a tolerance also have midpoints */
  c->every = known.every && (known.full || !c->to_tolerance);
  c->moments = c->system->dry_count > 0;
  for (int i = 0; i < c->system->law_count; i++) {
    const saltus_contact_law* law = &c->system->laws[i];
    c->moments = c->moments || saltus_contact_rows(law) > 1 + law->tangents;
  }
  find_scales(c);
  find_slack(c);
  saltusi_sort_events(c);
  check_time(c);
  check_start(c);
  check_provenance(c);
  for (long long i = 0; i < c->data->count && c->failure.status == SALTUS_OK; i++) {
    saltusi_checked_frame b = saltusi_frame_at(c, i);
    if (i > 0) {
      saltusi_checked_frame a = saltusi_frame_at(c, i - 1);
      fire(c, a.t);
      follow_bonds(c, &a);
      check_pair(c, &a, &b);
      saltusi_check_passages(c, &a, &b);
      saltusi_check_statuses(c, &a, &b);
    }
    if (i == 0) {
      saltusi_check_works(c, NULL, &b);
      saltusi_check_passages(c, NULL, &b);
    }
    if (fires_at(c, b.t)) {
      saltusi_skip(c, SALTUS_VERIFY_VALUES); /* before or after the event: undetermined by the
                                                frame */
    } else {
      saltusi_check_values(c, &b);
      saltusi_check_outputs(c, &b);
    }
  }
  if (c->failure.status != SALTUS_OK) {
    saltusi_log(c->def->log, SALTUS_LEVEL_ERROR, "the recording cannot be verified: %s",
                c->failure.text);
    return SALTUS_ERR_SYSTEM;
  }
  saltusi_check_events(c);
  saltusi_check_kinds(c);
  saltusi_check_ledger(c);
  return SALTUS_OK;
}

static void judge(saltusi_checker* c) {
  saltus_certificate* out = c->out;
  out->span = c->data->t[c->data->count - 1] - c->data->t[0];
  out->claimed[0] = c->def->claimed[0];
  out->claimed[1] = c->def->claimed[1];
  out->granted[0] = c->def->rtol;
  out->granted[1] = c->def->atol;
  out->complete = out->followed + out->balanced >= out->span * (1.0 - 1e-9); /* a rounded sum */
  out->passed = true;
  for (int i = 0; i < SALTUS_VERIFY_ITEMS; i++) {
    out->passed = out->passed && out->items[i].passed;
  }
}

/* Whether the scene has the contacts of a set that changes. */
static saltus_status check_identities(saltusi_checker* c) {
  const saltus_recorded_contacts* table = &c->data->table;
  const saltus_system_ops* ops = c->system->ops;
  const saltus_point at = saltusi_point_at(c, c->data->t[0], c->data->q, c->data->v);
  saltus_contact_place place;
  bool known = c->data->changing && ops->place != NULL;
  for (long long r = 0; known && r < table->count; r++) {
    if (ops->place(c->system->self, &at, table->identity[r], &place) == SALTUS_ERR_RANGE) {
      return refuse(c->def, "a contact is none that the scene has");
    }
  }
  for (long long i = 0; known && i < c->data->event_count; i++) {
    const saltus_event* e = &c->data->events[i];
    if (!saltus_event_is_user_defined(e->kind) &&
        ops->place(c->system->self, &at, e->identity, &place) == SALTUS_ERR_RANGE) {
      return refuse(c->def, "an event has a contact that the scene does not have");
    }
  }
  return SALTUS_OK;
}

saltus_status saltus_verify(const saltus_verify_def* def, saltus_certificate* out) {
  assert(def != NULL && out != NULL && def->system != NULL && def->data != NULL);
  *out = (saltus_certificate){.unfollowed = ""};
  clear_items(out);
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_verify_def", def->log);
  status = status == SALTUS_OK ? saltus_system_validate(def->system, def->log) : status;
  status = status == SALTUS_OK ? check_sizes(def) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_checker c = {.def = def,
                       .shown_t = (double)NAN,
                       .system = def->system,
                       .data = def->data,
                       .out = out,
                       .pool = saltusi_pool_over(def->allocator),
                       .nq = def->system->dims.nq,
                       .nv = def->system->dims.nv,
                       .nj = def->system->dims.nj,
                       .to_tolerance = def->rtol > 0.0 || def->atol > 0.0};
  status = take_room(&c) ? check_identities(&c) : SALTUS_ERR_MEMORY;
  status = status == SALTUS_OK ? go(&c) : status;
  if (status == SALTUS_OK) {
    judge(&c);
  }
  saltusi_pool_free(&c.pool);
  return status;
}
