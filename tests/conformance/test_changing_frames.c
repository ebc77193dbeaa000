/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Frames, events and recordings of contacts that come and go, against a motion that is known: balls
 * between two rows of pads (support/pads.h). Every impact is with another pad, so every contact acts
 * once, is gone in a later frame, and its key goes to another.
 */
#include "pads.h"
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BALLS = 5, MOST = 4096, PATH = 256 };

static const double h = 1.0 / 512.0;
static const double t_end = 8.0;

/* Where the balls begin: y(0) = 1/2, along x with 0.75 m/s and more, up and down with 1 m/s. */
static double along(int ball) {
  return 0.75 + 0.125 * ball;
}

static void start(int balls, double* q, double* v) {
  for (int b = 0; b < balls; b++) {
    q[2 * b] = 0.052 + 0.032 * b;
    q[2 * b + 1] = 0.5 + 0.03 * (b % 9);
    v[2 * b] = along(b);
    v[2 * b + 1] = b % 2 == 0 ? 1.0 : -1.0;
  }
}

/* Impact number n of a ball with e = 1: with |c| = 1 m/s the first after the way to its row, then one
 * in every second; the rows take turns. */
static double impact_time(int ball, int n) {
  double y = 0.5 + 0.03 * (ball % 9);
  return (ball % 2 == 0 ? 1.0 - y : y) + n;
}

static bool at_ceiling(int ball, int n) {
  return (ball + n) % 2 == 0;
}

static double impact_x(int ball, int n) {
  return 0.052 + 0.032 * ball + along(ball) * impact_time(ball, n);
}

/* What was seen of one contact. */
typedef struct total {
  uint64_t identity;
  double impulse, work; /* N s, J */
  int rows, events;
  double t_event;
} total;

typedef struct seen {
  const pads* pads;
  total totals[MOST];
  int count;
  long long frames, rows, gone;
  double force; /* N s, of lasting forces */
  double last;  /* s, frame before */
} seen;

static total* total_of(seen* s, uint64_t identity) {
  for (int i = 0; i < s->count; i++) {
    if (s->totals[i].identity == identity) {
      return &s->totals[i];
    }
  }
  assert_in_range(s->count, 0, MOST - 1);
  s->totals[s->count] = (total){.identity = identity};
  return &s->totals[s->count++];
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  seen* s = user;
  int listed = 0;
  for (int i = 0; i < frame->contact_count; i++) {
    const saltus_contact_frame* c = &frame->contacts[i];
    assert_true(i == 0 || frame->contacts[i - 1].identity < c->identity);
    total* sum = total_of(s, c->identity);
    sum->impulse += c->impulse[0];
    sum->work += c->impact;
    sum->rows++;
    s->force += c->force[0] * (frame->t - s->last);
    listed += !isnan(c->gap);
    int ball;
    int pad;
    bool ceiling;
    pads_pair(c->identity, &ball, &pad, &ceiling);
    assert_int_equal(c->law, ceiling ? 1 : 0);
    assert_int_equal(c->bodies[0], -1);
    assert_int_equal(c->bodies[1], ball);
    assert_true(c->point[0] == frame->q[2 * ball] && c->point[1] == (ceiling ? 1.0 : 0.0));
    assert_true(c->normal[1] == (ceiling ? -1.0 : 1.0));
    if (!isnan(c->gap)) {
      double y = frame->q[2 * ball + 1];
      assert_true(c->gap == (ceiling ? 1.0 - y : y));
      double u = frame->v[2 * ball + 1];
      assert_true(c->velocity == (ceiling ? -u : u));
    } else {
      assert_true(c->impulse[0] != 0.0 || c->force[0] != 0.0);
    }
  }
  assert_int_equal(listed, pads_listed(s->pads, frame->q));
  s->rows += frame->contact_count;
  s->gone += frame->contact_count - listed;
  s->frames++;
  s->last = frame->t;
  return SALTUS_OK;
}

static saltus_status on_event(void* user, const saltus_event* event) {
  seen* s = user;
  if (event->kind == SALTUS_EVENT_IMPACT) {
    total* sum = total_of(s, event->identity);
    sum->events++;
    sum->t_event = event->t;
    int ball;
    int pad;
    bool ceiling;
    pads_pair(event->identity, &ball, &pad, &ceiling);
    assert_int_equal(event->law, ceiling ? 1 : 0);
    assert_near(event->impulse[0], 4.0, 1e-12); /* m (1 + e) c */
  }
  return SALTUS_OK;
}

/* Every impact of the motion up to the end has its impulse, work and event at its own pad. */
static void check(seen* s, double t_tolerance) {
  int impacts = 0;
  for (int b = 0; b < s->pads->balls; b++) {
    for (int n = 0; impact_time(b, n) < t_end - t_tolerance; n++) {
      impacts++;
      double x = impact_x(b, n);
      total* sum = total_of(s, pads_identity(b, (int)floor(x), at_ceiling(b, n)));
      assert_near(sum->impulse, 4.0, 1e-12);
      assert_near(sum->work, 0.0, 1e-12); /* e = 1 */
      assert_int_equal(sum->events, 1);
      assert_near(sum->t_event, impact_time(b, n), t_tolerance);
    }
  }
  double all = 0.0;
  for (int i = 0; i < s->count; i++) {
    all += s->totals[i].impulse;
  }
  assert_true(impacts > 6 * s->pads->balls);
  assert_near(all, 4.0 * impacts, 1e-10);
}

typedef struct run {
  const char* scheme;
  const char* control;
  const void* control_options;
  double step;
  long long every;
  double dt; /* s, > 0: frames at its multiples */
  bool jumps;
  const saltus_recorder* recorders;
  int recorder_count;
} run;

static saltus_sim* make(const pads* p, const run* r, saltus_kept_message* kept,
                        const saltus_allocator* allocator) {
  double q[2 * PADS_MOST], v[2 * PADS_MOST];
  start(p->balls, q, v);
  for (int b = 0; b < p->balls && p->gravity > 0.0; b++) { /* at rest on the floor */
    q[2 * b + 1] = v[2 * b + 1] = 0.0;
  }
  const saltus_sim_def def = {.system = &p->system,
                              .scheme = r->scheme,
                              .control = r->control,
                              .control_options = r->control_options,
                              .h = r->step,
                              .q0 = q,
                              .v0 = v,
                              .recorders = r->recorders,
                              .recorder_count = r->recorder_count,
                              .record_every = r->every,
                              .record_dt = r->dt,
                              .record_jumps = r->jumps,
                              .log = saltus_log_keep(kept),
                              .allocator = allocator};
  saltus_sim* sim = NULL;
  if (saltus_sim_create(&def, &sim) != SALTUS_OK) {
    fail_msg("%s: %s", r->scheme, kept->text);
  }
  return sim;
}

static void go(saltus_sim* sim, double until, const saltus_kept_message* kept) {
  saltus_status status = saltus_sim_run_until(sim, until);
  if (status != SALTUS_OK) {
    fail_msg("%s at t = %g s: %s", saltus_status_text(status), saltus_sim_time(sim), kept->text);
  }
}

/* No step begins where a gap is zero: each lies a third of a step off the grid of times. */
static void impulses_of_contacts_that_leave_reach_the_next_frame(void** state) {
  (void)state;
  static const long long every[] = {1, 7, 200};
  for (int k = 0; k < 3; k++) {
    pads p;
    pads_make(&p, BALLS, 1.0);
    seen* s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->pads = &p;
    const saltus_recorder recorder = {.frame = on_frame, .event = on_event, .user = s};
    counter count = {0};
    saltus_allocator allocator = counting_allocator(&count);
    saltus_kept_message kept;
    const run r = {.scheme = "moreau-jean",
                   .step = h,
                   .every = every[k],
                   .recorders = &recorder,
                   .recorder_count = 1};
    saltus_sim* sim = make(&p, &r, &kept, &allocator);
    go(sim, t_end, &kept);
    /* a step or two, by which the scheme may act late and the motion then follows */
    check(s, 30.0 * h);
    /* with 200 steps between frames balls cross a pad unseen */
    assert_true(every[k] < 200 ? s->gone == 0 : s->gone > 5);
    saltus_sim_destroy(sim);
    assert_int_equal(count.live, 0);
    free(s);
  }
}

static seen* new_seen(const pads* p) {
  seen* s = calloc(1, sizeof *s);
  assert_non_null(s);
  s->pads = p;
  return s;
}

/* Every scheme that accepts a changing set, whether it locates impacts or not. */
static void every_scheme_hands_over_what_each_contact_gave(void** state) {
  (void)state;
  int schemes = 0;
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    if ((info->treats & SALTUS_TREATS_CHANGING_CONTACTS) == 0) {
      continue;
    }
    pads p;
    pads_make(&p, BALLS, 1.0);
    seen* s = new_seen(&p);
    const saltus_recorder recorder = {.frame = on_frame, .event = on_event, .user = s};
    saltus_kept_message kept;
    const run r = {.scheme = info->name,
                   .step = info->chooses_step ? 0.0 : h,
                   .every = 50,
                   .recorders = &recorder,
                   .recorder_count = 1};
    saltus_sim* sim = make(&p, &r, &kept, NULL);
    go(sim, t_end, &kept);
    check(s, info->locates_events ? 1e-6 : 30.0 * h);
    saltus_sim_destroy(sim);
    free(s);
    schemes++;
  }
  assert_true(schemes >= 10);
}

/* Frames inside long steps: contacts that a frame meets for the first time, and contacts that acted and are
 * gone before the step ends. No impact is closer than 5e-3 s to the next pad. */
static void frames_inside_steps_share_what_each_contact_gave(void** state) {
  (void)state;
  static const struct {
    const char* scheme;
    int balls;
    bool jumps;
  } cases[] = {{"rkf45", 30, false}, {"radau-iia-5", 9, true}, {"event-driven", 30, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const saltus_scheme_info* info = saltus_scheme_find(cases[i].scheme);
    pads p;
    pads_make(&p, cases[i].balls, 1.0);
    seen* s = new_seen(&p);
    const saltus_recorder recorder = {.frame = on_frame, .event = on_event, .user = s};
    saltus_kept_message kept;
    const run r = {.scheme = info->name,
                   .step = info->chooses_step ? 0.0 : 0.12,
                   .dt = 0.013,
                   .jumps = cases[i].jumps,
                   .recorders = &recorder,
                   .recorder_count = 1};
    saltus_sim* sim = make(&p, &r, &kept, NULL);
    go(sim, t_end, &kept);
    check(s, 1e-5);
    assert_true(s->frames > 600);
    saltus_sim_destroy(sim);
    free(s);
  }
}

/* Balls slide along the floor at rest in y: pad after pad carries m g, and the next frame has the rest of
 * a pad that was left. */
static void lasting_forces_go_from_pad_to_pad(void** state) {
  (void)state;
  pads p;
  pads_make(&p, BALLS, 0.0);
  p.gravity = 10.0;
  seen* s = new_seen(&p);
  const saltus_recorder recorder = {.frame = on_frame, .event = NULL, .user = s};
  saltus_kept_message kept;
  const run r = {
      .scheme = "moreau-jean", .step = h, .every = 37, .recorders = &recorder, .recorder_count = 1};
  saltus_sim* sim = make(&p, &r, &kept, NULL);
  go(sim, t_end, &kept);
  /* every step gives m g h to one pad of each ball */
  assert_near(s->force, BALLS * p.mass * p.gravity * t_end, 1e-9);
  saltus_sim_destroy(sim);
  free(s);
}

/* Everything of a run in one number. */
typedef struct digest {
  uint64_t hash;
  double from; /* s, frames after this count */
  long long frames;
} digest;

static void mix(digest* d, const void* bytes, size_t size) {
  const unsigned char* at = bytes;
  for (size_t i = 0; i < size; i++) {
    d->hash = (d->hash ^ at[i]) * UINT64_C(1099511628211);
  }
}

static saltus_status digest_frame(void* user, const saltus_frame* f) {
  digest* d = user;
  if (!(f->t > d->from)) {
    return SALTUS_OK;
  }
  d->frames++;
  mix(d, &f->t, sizeof f->t);
  mix(d, &f->energy.impact, sizeof f->energy.impact);
  for (int i = 0; i < f->contact_count; i++) {
    const saltus_contact_frame* c = &f->contacts[i];
    double gap = isnan(c->gap) ? -1.0 : c->gap;
    mix(d, &c->identity, sizeof c->identity);
    mix(d, &gap, sizeof gap);
    mix(d, c->force, sizeof c->force);
    mix(d, c->impulse, sizeof c->impulse);
    mix(d, &c->impact, sizeof c->impact);
  }
  return SALTUS_OK;
}

static saltus_status digest_event(void* user, const saltus_event* e) {
  digest* d = user;
  if (e->t > d->from) {
    mix(d, &e->t, sizeof e->t);
    mix(d, &e->identity, sizeof e->identity);
    mix(d, e->impulse, sizeof e->impulse);
  }
  return SALTUS_OK;
}

static digest run_whole(const pads* p, const char* scheme, double from) {
  digest d = {.from = from};
  saltus_kept_message kept;
  const saltus_recorder recorder = {.frame = digest_frame, .event = digest_event, .user = &d};
  const run r = {
      .scheme = scheme, .step = h, .every = 61, .recorders = &recorder, .recorder_count = 1};
  saltus_sim* sim = make(p, &r, &kept, NULL);
  go(sim, t_end, &kept);
  saltus_sim_destroy(sim);
  return d;
}

/* Room that grows by steps gives the bits of room that was there. */
static void frames_do_not_depend_on_how_room_grew(void** state) {
  (void)state;
  static const char* const schemes[] = {"moreau-jean", "rkf45"};
  for (int k = 0; k < 2; k++) {
    pads p;
    pads_make(&p, PADS_MOST, 0.9);
    digest small = run_whole(&p, schemes[k], -1.0);
    p.system.dims.nc = 1000;
    digest large = run_whole(&p, schemes[k], -1.0);
    assert_true(small.hash == large.hash);
    assert_true(small.frames == large.frames && small.frames > 60);
  }
}

/* Frames and events after a snapshot are those of the run that went on, in a simulation that has met fewer
 * contacts so far. */
static void a_snapshot_goes_on_with_the_same_contacts(void** state) {
  (void)state;
  static const char* const schemes[] = {"moreau-jean", "rkf45", "event-driven"};
  for (int k = 0; k < 3; k++) {
    const double middle = 1553.0 * h; /* between two frames */
    pads p;
    pads_make(&p, 30, 0.9);
    digest whole = run_whole(&p, schemes[k], middle);
    saltus_kept_message kept;
    digest rest = {.from = middle};
    const saltus_recorder recorder = {.frame = digest_frame, .event = digest_event, .user = &rest};
    const run r = {
        .scheme = schemes[k], .step = h, .every = 61, .recorders = &recorder, .recorder_count = 1};
    saltus_sim* sim = make(&p, &r, &kept, NULL);
    for (int i = 0; i < 1553; i++) {
      assert_int_equal(saltus_sim_step(sim), SALTUS_OK);
    }
    assert_true(saltus_sim_time(sim) == middle);
    size_t bytes = saltus_sim_snapshot_bytes(sim);
    unsigned char* snapshot = malloc(bytes);
    assert_non_null(snapshot);
    saltus_sim_snapshot_save(sim, snapshot);
    saltus_sim_destroy(sim);
    sim = make(&p, &r, &kept, NULL);
    assert_int_equal(saltus_sim_snapshot_load(sim, snapshot, bytes), SALTUS_OK);
    go(sim, t_end, &kept);
    assert_true(rest.hash == whole.hash);
    assert_int_equal(rest.frames, whole.frames);
    /* a byte of the part with identities, and the end cut off */
    snapshot[bytes / 2] ^= 1;
    saltus_status damaged = saltus_sim_snapshot_load(sim, snapshot, bytes);
    assert_true(damaged == SALTUS_OK || damaged == SALTUS_ERR_INPUT);
    snapshot[bytes / 2] ^= 1;
    assert_int_equal(saltus_sim_snapshot_load(sim, snapshot, bytes - 8), SALTUS_ERR_INPUT);
    assert_int_equal(saltus_sim_snapshot_load(sim, snapshot, 16), SALTUS_ERR_INPUT);
    free(snapshot);
    saltus_sim_destroy(sim);
  }
}

static saltus_control_options control_options(const char* name, double tolerance) {
  saltus_control_options options = {0};
  saltus_options_defaults(&saltus_control_find(name)->options, &options);
  options.atol = options.rtol = tolerance;
  return options;
}

/* Two halves of a step report one after the other, the first when the second is committed already. */
static void step_control_follows_contacts_that_come_and_go(void** state) {
  (void)state;
  static const struct {
    const char *scheme, *control;
  } cases[] = {{"moreau-jean", "variable-order"}, {"rkf45", "embedded"}, {"rk4", "order-0"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    pads p;
    pads_make(&p, BALLS, 1.0);
    seen* s = new_seen(&p);
    const saltus_recorder recorder = {.frame = on_frame, .event = on_event, .user = s};
    saltus_kept_message kept;
    saltus_control_options options = control_options(cases[k].control, 1e-4);
    const run r = {.scheme = cases[k].scheme,
                   .control = cases[k].control,
                   .control_options = &options,
                   .every = 9,
                   .recorders = &recorder,
                   .recorder_count = 1};
    saltus_sim* sim = make(&p, &r, &kept, NULL);
    go(sim, t_end, &kept);
    check(s, 0.05);
    saltus_sim_destroy(sim);
    free(s);
  }
}

/* Keys are given free whether or not somebody records. Of 80 s more, with 400 impacts that are contacts
 * of their own each, keys that stayed would need eight times half as much room again. */
static void a_long_run_keeps_no_contact_that_is_gone(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    pads p;
    pads_make(&p, BALLS, 1.0);
    digest d = {.from = -1.0};
    const saltus_recorder recorder = {.frame = digest_frame, .event = digest_event, .user = &d};
    counter count = {0};
    saltus_allocator allocator = counting_allocator(&count);
    saltus_kept_message kept;
    const saltus_control_options options = control_options("variable-order", 1e-3);
    const run r = {.scheme = "moreau-jean",
                   .control = k % 2 == 0 ? NULL : "variable-order",
                   .control_options = k % 2 == 0 ? NULL : &options,
                   .step = h,
                   .recorders = &recorder,
                   .recorder_count = k / 2};
    saltus_sim* sim = make(&p, &r, &kept, &allocator);
    go(sim, 40.0, &kept);
    int calls = count.calls;
    go(sim, 120.0, &kept);
    assert_in_range(count.calls, calls, calls + 2);
    saltus_sim_destroy(sim);
    assert_int_equal(count.live, 0);
  }
}

/* The table of a recording against the closed form, and against what recorders saw. */
static void check_recording(const char* path, seen* s) {
  saltus_recording_data* d = NULL;
  saltus_kept_message kept;
  if (saltus_recording_read(path, saltus_log_keep(&kept), NULL, &d) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  assert_true(d->changing);
  assert_int_equal(d->count, s->frames);
  assert_int_equal(d->table.count, s->rows);
  assert_string_equal(d->law_names[0], "floor, low");
  for (long long i = 0; i < d->count; i++) {
    int listed = 0;
    for (long long row = d->table.start[i]; row < d->table.start[i + 1]; row++) {
      listed += !isnan(d->table.gap[row]);
    }
    assert_int_equal(listed, pads_listed(s->pads, d->q + 2 * (size_t)s->pads->balls * (size_t)i));
  }
  int impacts = 0;
  for (int b = 0; b < s->pads->balls; b++) {
    for (int n = 0; impact_time(b, n) < t_end - 30.0 * h; n++) {
      impacts++;
      uint64_t identity = pads_identity(b, (int)floor(impact_x(b, n)), at_ceiling(b, n));
      double impulse = 0.0;
      for (long long row = 0; row < d->table.count; row++) {
        impulse += d->table.identity[row] == identity ? d->table.impulse[3 * row] : 0.0;
      }
      assert_near(impulse, 4.0, 1e-12);
      int events = 0;
      for (long long i = 0; i < d->event_count; i++) {
        events += d->events[i].identity == identity && d->events[i].kind == SALTUS_EVENT_IMPACT;
      }
      assert_int_equal(events, 1);
    }
  }
  assert_true(impacts > 30);
  saltus_recording_data_destroy(d);
}

static void recordings_hold_every_contact_by_its_identity(void** state) {
  (void)state;
  static const char* const extensions[] = {".csv", ".h5"};
  char folder[] = "/tmp/saltus-pads-XXXXXX";
  assert_non_null(mkdtemp(folder));
  for (int x = 0; x < 2; x++) {
    pads p;
    pads_make(&p, BALLS, 1.0);
    seen* s = new_seen(&p);
    char path[PATH];
    snprintf(path, sizeof path, "%s/pads%s", folder, extensions[x]);
    saltus_recording_def def = saltus_recording_def_default();
    def.path = path;
    def.system = &p.system;
    saltus_recording* recording;
    saltus_status status = saltus_recording_create(&def, &recording);
    if (status == SALTUS_ERR_UNSUPPORTED) {
      free(s);
      continue; /* a build without HDF5 */
    }
    assert_int_equal(status, SALTUS_OK);
    const saltus_recorder recorders[] = {{.frame = on_frame, .event = on_event, .user = s},
                                         saltus_recording_recorder(recording)};
    saltus_kept_message kept;
    const run r = {.scheme = "moreau-jean",
                   .step = h,
                   .every = 200,
                   .recorders = recorders,
                   .recorder_count = 2};
    saltus_sim* sim = make(&p, &r, &kept, NULL);
    go(sim, t_end, &kept);
    saltus_sim_destroy(sim);
    const saltus_recording_summary summary = {.steps = 1, .cpu_seconds = NAN};
    assert_int_equal(saltus_recording_close(recording, &summary), SALTUS_OK);
    saltus_recording_destroy(recording);
    check_recording(path, s);
    free(s);
  }
  char command[PATH];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impulses_of_contacts_that_leave_reach_the_next_frame),
      cmocka_unit_test(every_scheme_hands_over_what_each_contact_gave),
      cmocka_unit_test(frames_inside_steps_share_what_each_contact_gave),
      cmocka_unit_test(lasting_forces_go_from_pad_to_pad),
      cmocka_unit_test(frames_do_not_depend_on_how_room_grew),
      cmocka_unit_test(a_snapshot_goes_on_with_the_same_contacts),
      cmocka_unit_test(step_control_follows_contacts_that_come_and_go),
      cmocka_unit_test(a_long_run_keeps_no_contact_that_is_gone),
      cmocka_unit_test(recordings_hold_every_contact_by_its_identity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
