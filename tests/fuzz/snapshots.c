/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * snapshots.c - hostile snapshots. Nine of ten: files of runs with one to three changed bits; all are refused. One of
 * ten: states of simulations that are changed behind their check sum, which is computed again; they are refused, or the
 * run continues, or fails; its state stays finite.
 */
#include "fuzz.h"
#include "saltus_test.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BASES = 7 };

static const struct {
  const char *scene, *scheme;
  double step, until; /* step 0: to a tolerance */
} bases[BASES] = {{"ball", "adaptive", 0.0, 1.7},
                  {"woodpecker", "adaptive", 0.0, 0.1},
                  {"contact-slip-to-roll", "adaptive", 0.0, 0.05},
                  {"rocking-block", "moreau-jean", 1e-3, 0.3},
                  {"coulomb-block", "trapezoidal-implicit-end", 1e-2, 0.3},
                  {"coulomb-block", "event-driven", 1e-2, 0.3},
                  {"contact-slip-to-roll", "moreau-jean", 1e-3, 0.05}};

/* The head of saltus_sim_snapshot_save: its check sum comes last. */
enum { HEAD = 72, SUM_AT = HEAD - 8 };

typedef struct base {
  saltus_scene* scene;
  saltus_sim_def sim;
  unsigned char *file, *state;
  size_t file_bytes, state_bytes;
} base;

static base made[BASES];
static double deadline;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static saltus_status stop(void* user, double t, double t_end, long long step) {
  (void)user, (void)t, (void)t_end, (void)step;
  return now() > deadline ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

static base make_base(int i) {
  base b = {.scene = saltus_test_scene(bases[i].scene, NULL, 0)};
  const saltus_scene_view* view = saltus_scene_get_view(b.scene);
  saltus_run_def def = saltus_run_def_default();
  def.scene = view;
  def.scheme = bases[i].scheme;
  def.until = bases[i].until;
  if (bases[i].step > 0.0) {
    def.step = bases[i].step;
  } else {
    def.rtol = def.atol = 1e-4;
  }
  saltus_run* run = NULL;
  if (saltus_run_create(&def, &run) != SALTUS_OK || saltus_run_execute(run) != SALTUS_OK) {
    printf("%s with %s does not run\n", bases[i].scene, bases[i].scheme);
    exit(1);
  }
  b.file_bytes = saltus_run_snapshot_save(run, "x", view->text, NULL);
  b.file = malloc(b.file_bytes);
  saltus_run_snapshot_save(run, "x", view->text, b.file);
  saltus_run_destroy(run);
  b.sim = (saltus_sim_def){.system = view->system,
                           .scheme = bases[i].scheme,
                           .h = bases[i].step,
                           .q0 = view->q0,
                           .v0 = view->v0,
                           .t0 = view->start,
                           .observables = view->observables,
                           .progress = {.report = stop, .interval = 1e-4}};
  saltus_sim* sim = NULL;
  deadline = INFINITY;
  if (saltus_sim_create(&b.sim, &sim) != SALTUS_OK ||
      saltus_sim_run_until(sim, view->start + bases[i].until) != SALTUS_OK) {
    printf("%s with %s does not run as a simulation\n", bases[i].scene, bases[i].scheme);
    exit(1);
  }
  b.state_bytes = saltus_sim_snapshot_bytes(sim);
  b.state = malloc(b.state_bytes);
  saltus_sim_snapshot_save(sim, b.state);
  saltus_sim_destroy(sim);
  return b;
}

/* Flipped bits of a file: always refused, with a message. */
static void attack_file(const base* b, uint64_t state) {
  size_t place[3];
  unsigned char bit[3];
  const size_t flips = 1 + fuzz_pick(&state, 3);
  unsigned char* file = b->file;
  for (size_t i = 0; i < flips; i++) {
    place[i] = fuzz_pick(&state, b->file_bytes);
    bit[i] = (unsigned char)(1u << fuzz_pick(&state, 8));
    for (size_t k = 0; k < i; k++) {
      bit[i] = place[k] == place[i] ? 0 : bit[i]; /* or it would be flipped back */
    }
    file[place[i]] ^= bit[i];
  }
  fuzz_current(true, "run.snapshot", file, b->file_bytes);
  saltus_kept_message kept;
  saltus_run_snapshot* snapshot = NULL;
  saltus_status status =
      saltus_run_snapshot_create("x", file, b->file_bytes, saltus_log_keep(&kept), NULL, &snapshot);
  fuzz_require(status == SALTUS_ERR_INPUT && snapshot == NULL, "a changed file is refused");
  fuzz_require(kept.text[0] != '\0', "a refusal has a message");
  fuzz_count("files refused");
  for (size_t i = 0; i < flips; i++) {
    file[place[i]] ^= bit[i];
  }
}

/* Numbers that no step writes, or flipped bits, in one to three places. */
static void change_state(unsigned char* bytes, size_t count, uint64_t* state) {
  static const double odd[] = {NAN,  INFINITY, -INFINITY, 1e308, -1e308,       -1.0,   0.0,
                               1.0,  2.0,      3.0,       5.0,   7.0,          1e9,    -1e9,
                               1e18, 0.5,      -0.0,      16.0,  2147483648.0, 9.3e18, -9.3e18};
  const size_t changes = 1 + fuzz_pick(state, 3);
  for (size_t i = 0; i < changes; i++) {
    const size_t at = 16 + fuzz_pick(state, count - 24); /* behind magic and fingerprint */
    if (fuzz_chance(state, 40)) {
      bytes[at] = (unsigned char)(bytes[at] ^ (1u << fuzz_pick(state, 8)));
    } else {
      memcpy(bytes + at / 8 * 8, &odd[fuzz_pick(state, sizeof odd / sizeof odd[0])], 8);
    }
  }
  const uint64_t none = 0;
  memcpy(bytes + SUM_AT, &none, sizeof none);
  const uint64_t sum =
      saltusi_hash(saltusi_hash(SALTUSI_HASH_START, bytes, HEAD), bytes + HEAD, count - HEAD);
  memcpy(bytes + SUM_AT, &sum, sizeof sum);
}

static void attack_state(const base* b, uint64_t state) {
  unsigned char* bytes = malloc(b->state_bytes);
  memcpy(bytes, b->state, b->state_bytes);
  change_state(bytes, b->state_bytes, &state);
  fuzz_current(true, "state", bytes, b->state_bytes);
  saltus_sim* sim = NULL;
  saltus_sim_def def = b->sim;
  saltus_kept_message kept;
  def.log = saltus_log_keep(&kept);
  fuzz_require(saltus_sim_create(&def, &sim) == SALTUS_OK, "a simulation is made");
  if (saltus_sim_snapshot_load(sim, bytes, b->state_bytes) != SALTUS_OK) {
    fuzz_require(kept.text[0] != '\0', "a refusal has a message");
    fuzz_count("states refused");
  } else {
    deadline = now() + 0.05;
    saltus_status status = saltus_sim_run_until(sim, saltus_sim_time(sim) + 0.02);
    fuzz_count(status == SALTUS_OK ? "states that continue" : "states that fail");
    for (int k = 0; k < def.system->dims.nq; k++) {
      fuzz_require(isfinite(saltus_sim_q(sim)[k]), "a state is finite");
    }
  }
  saltus_sim_destroy(sim);
  free(bytes);
}

static void prepare(const char* folder) {
  (void)folder;
  for (int i = 0; i < BASES; i++) {
    made[i] = make_base(i);
  }
}

static void attack(uint64_t seed) {
  uint64_t state = seed;
  const base* b = &made[fuzz_pick(&state, BASES)];
  if (fuzz_chance(&state, 10)) {
    attack_state(b, state);
  } else {
    attack_file(b, state);
  }
}

static void finish(void) {
  for (int i = 0; i < BASES; i++) {
    free(made[i].file);
    free(made[i].state);
    saltus_scene_destroy(made[i].scene);
  }
}

const fuzz_kind fuzz_snapshots = {"snapshots", prepare, attack, finish};
