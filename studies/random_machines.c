/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * random_machines.c - study: 1000 random machines to tolerances of 1e-6 and 1e-8. The first 30 % have a closed form. All
 * are compared with a run at 1e-9 of the same machine mirrored, rotated, renumbered and in other units, and with
 * moreau-jean. An error above 10 tol is compared with the amplification K of a relative change of masses, gravity,
 * friction, motors and velocities by 1e-6; the comparison ends where K exceeds 1e3.
 *
 *   saltus study random-machines --count 1000         all of them
 *   saltus study random-machines --only 17 --save DIR one, written as a scene and as its other view
 */
#include "random_machines.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 8, ENTRIES = 12 };

/* Tolerance of the other view and of the shaken machines; their shake. */
static const double fine = 1e-9, shake = 1e-6;
/* Steps of moreau-jean [s], and its largest difference relative to max(1, K); larger ones must fall with the step. */
static const double step = 2e-4, rough = 2e-2;

/* A run of a machine, in the axes of the plain view. */
typedef struct motion {
  saltus_status status;
  bool late, degraded;
  double at[FRAMES][MACHINE_BODIES][ENTRIES]; /* position and rotation matrix */
  double cpu, captured;                       /* s */
  double remainder;                           /* J */
  char message[240];
} motion;

typedef struct watcher {
  const machine* m;
  const machine_view* view;
  motion* out;
  double times[FRAMES];
  int next;
  double begun, limit;
} watcher;

static double cpu_clock(void* user) {
  (void)user;
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void keep(watcher* w, const double* q, int frame) {
  for (int i = 0; i < w->m->bodies; i++) {
    double* at = w->out->at[frame][i];
    machine_read(w->m, w->view, q, i, at, at + 3);
  }
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  watcher* w = user;
  if (w->next < FRAMES && fabs(frame->t - w->times[w->next]) <= 1e-9) {
    keep(w, frame->q, w->next++);
  }
  return SALTUS_OK;
}

static saltus_status on_progress(void* user, double t, double t_end, long long steps) {
  (void)t;
  (void)t_end;
  (void)steps;
  watcher* w = user;
  w->out->late = w->out->late || cpu_clock(NULL) - w->begun > w->limit;
  return w->out->late ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

/* To a tolerance, or with steps h. */
static void run_machine(const machine* m, const machine_view* view, double tol, double h,
                        double limit, motion* out) {
  *out = (motion){0};
  adversarial_case text = {.text = calloc(1, CASE_TEXT)};
  saltus_kept_message kept = {0};
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  out->status = text.text != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  if (out->status == SALTUS_OK) {
    machine_write(m, view, &text);
    const saltus_scene_def def = {
        .path = "machine", .text = text.text, .log = saltus_log_keep(&kept)};
    out->status = saltus_scene_create(&def, &scene);
  }
  if (out->status == SALTUS_OK) {
    const saltus_scene_view* v = saltus_scene_get_view(scene);
    watcher w = {.m = m, .view = view, .out = out, .begun = cpu_clock(NULL), .limit = limit};
    const saltus_recorder recorder = {.frame = on_frame, .user = &w};
    saltus_adaptive_options options = saltus_adaptive_options_default();
    options.rtol = options.atol = tol;
    options.accept_degraded = 1;
    const saltus_sim_def def = {.system = v->system,
                                .scheme = h > 0.0 ? "moreau-jean" : "adaptive",
                                .options = h > 0.0 ? NULL : &options,
                                .h = h > 0.0 ? view->time * h : 0.0,
                                .q0 = v->q0,
                                .v0 = v->v0,
                                .recorders = &recorder,
                                .recorder_count = 1,
                                .record_times = h > 0.0 ? NULL : w.times,
                                .record_time_count = h > 0.0 ? 0 : FRAMES,
                                .progress = {.report = on_progress, .user = &w, .clock = cpu_clock},
                                .log = saltus_log_keep(&kept)};
    for (int k = 0; k < FRAMES; k++) {
      w.times[k] = view->time * m->t_end * (k + 1) / FRAMES;
    }
    out->status = saltus_sim_create(&def, &sim);
    out->status =
        out->status == SALTUS_OK ? saltus_sim_run_until(sim, w.times[FRAMES - 1]) : out->status;
    out->cpu = cpu_clock(NULL) - w.begun;
    if (sim != NULL && saltus_sim_tally(sim) != NULL) {
      out->captured = saltus_sim_tally(sim)->captured.time;
      out->degraded = saltus_sim_tally(sim)->captured.error > CASE_ALLOWED;
    }
    if (out->status == SALTUS_OK && w.next < FRAMES) {
      keep(&w, saltus_sim_q(sim), FRAMES - 1);
      out->status = w.next == FRAMES - 1 ? SALTUS_OK : SALTUS_ERR_NAME;
    }
    out->remainder = out->status == SALTUS_OK ? saltus_sim_energy_total(sim).remainder : 0.0;
  }
  if (out->status != SALTUS_OK) {
    snprintf(out->message, sizeof out->message, "%s: %.200s",
             out->late ? "stopped after the limit" : saltus_status_text(out->status), kept.text);
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  free(text.text);
}

/* Largest difference of a frame relative to 1 + |x|. */
static double distance(const machine* m, const motion* a, const motion* b, int frame) {
  double most = 0.0;
  for (int i = 0; i < m->bodies; i++) {
    for (int k = 0; k < ENTRIES; k++) {
      const double x = b->at[frame][i][k];
      const double size = fabs(a->at[frame][i][k] - x) / (1.0 + fabs(x));
      most = size <= most ? most : size; /* NaN stays */
    }
  }
  return most;
}

/* ---- one machine ------------------------------------------------------------------------------------------------- */

typedef struct verdict {
  bool failed, late, wrong, ill; /* ill: K exceeds its bound before the first frame ends */
  bool degraded;
  double error, part, cpu; /* over tol max(1, K); part of the time in captured intervals */
  char reason[320];
} verdict;

typedef struct bench {
  machine m;
  machine_view plain, turned;
  motion other, left, right, moreau; /* the other view; the shaken ones */
  double K[FRAMES];                  /* NaN: not measured */
  bool shaken;
  double limit, finest; /* finest: tolerance of the other view */
} bench;

/* Amplification up to each frame. */
static void measure_amplification(bench* b, int number) {
  static machine changed;
  if (b->shaken) {
    return;
  }
  b->shaken = true;
  machine_make(number, shake, &changed);
  run_machine(&changed, &b->plain, fine, 0.0, b->limit, &b->left);
  machine_make(number, -shake, &changed);
  run_machine(&changed, &b->plain, fine, 0.0, b->limit, &b->right);
  double most = 1.0;
  for (int k = 0; k < FRAMES; k++) {
    const bool known = b->left.status == SALTUS_OK && b->right.status == SALTUS_OK;
    if (known) {
      most = fmax(most, distance(&b->m, &b->left, &b->right, k) / shake);
    }
    b->K[k] = known ? most : 1.0;
  }
}

/* Difference from a reference: the amplification is measured only where it matters. */
static void compare(bench* b, int number, const motion* a, const motion* reference,
                    const char* name, double tol, verdict* v) {
  for (int k = 0; k < FRAMES && !v->wrong; k++) {
    const double size = distance(&b->m, a, reference, k) / tol;
    if (!(size <= CASE_ALLOWED)) {
      measure_amplification(b, number);
    }
    const double K = b->shaken ? b->K[k] : 1.0;
    if (K > CASE_K_MOST) {
      v->ill = v->ill || k == 0;
      return;
    }
    v->error = size / K <= v->error ? v->error : size / K;
    if (!(size / K <= CASE_ALLOWED)) {
      v->wrong = true;
      snprintf(v->reason, sizeof v->reason, "differs from %s at %.4g s by %.3g tol, K %.3g", name,
               b->m.t_end * (k + 1) / FRAMES, size, K);
    }
  }
}

static void compare_exact(bench* b, int number, const motion* a, double tol, verdict* v) {
  static motion exact;
  for (int k = 0; k < FRAMES && b->m.exact.known; k++) {
    const double s = machine_displacement(&b->m.exact, b->m.t_end * (k + 1) / FRAMES);
    exact.at[k][0][0] = 0.0;
    for (int i = 0; i < b->m.bodies; i++) {
      memcpy(exact.at[k][i], a->at[k][i], sizeof exact.at[k][i]); /* wheels turn */
      for (int c = 0; c < 3; c++) {
        exact.at[k][i][c] = b->m.body[i].x[c] + s * b->m.exact.along[c];
      }
    }
  }
  if (b->m.exact.known) {
    compare(b, number, a, &exact, "the closed form", tol, v);
  }
}

/* moreau-jean is near, or comes nearer with shorter steps. */
static void compare_moreau(bench* b, int number, const motion* a, verdict* v) {
  static motion finer;
  if (b->moreau.status != SALTUS_OK) {
    return;
  }
  double apart = distance(&b->m, a, &b->moreau, FRAMES - 1);
  if (apart <= rough) {
    return;
  }
  measure_amplification(b, number);
  if (b->K[FRAMES - 1] > CASE_K_MOST || apart <= rough * b->K[FRAMES - 1]) {
    return;
  }
  run_machine(&b->m, &b->plain, 0.0, step / 8.0, b->limit, &finer);
  const double nearer = distance(&b->m, a, &finer, FRAMES - 1);
  if (finer.status == SALTUS_OK && !(nearer < 0.6 * apart)) {
    v->wrong = true;
    snprintf(v->reason, sizeof v->reason,
             "moreau-jean differs by %.3g with steps of %g s, by %.3g with %g s, K %.3g", apart,
             step, nearer, step / 8.0, b->K[FRAMES - 1]);
  }
}

static void judge(bench* b, int number, double tol, verdict* v) {
  static motion a;
  *v = (verdict){0};
  run_machine(&b->m, &b->plain, tol, 0.0, b->limit, &a);
  v->cpu = a.cpu;
  v->late = a.late;
  v->failed = a.status != SALTUS_OK;
  v->degraded = a.degraded;
  v->part = a.captured / b->m.t_end;
  if (v->failed) {
    snprintf(v->reason, sizeof v->reason, "%s", a.message);
    return;
  }
  if (!v->degraded) {
    compare_exact(b, number, &a, tol, v);
    if (b->other.status == SALTUS_OK && !b->other.degraded && b->finest < tol) {
      compare(b, number, &a, &b->other, "its other view", tol, v);
    }
  }
  if (!v->wrong) {
    compare_moreau(b, number, &a, v);
  }
}

/* ---- the study ----------------------------------------------------------------------------------------------------- */

typedef struct counts {
  int runs, failed, late, wrong, ill, degraded, captured; /* captured: above 5 % of the time */
  double worst, cpu, slowest;
} counts;

static void save(const bench* b, int number, const char* folder) {
  for (int k = 0; k < 2; k++) {
    char path[512];
    adversarial_case text = {.text = calloc(1, CASE_TEXT)};
    snprintf(path, sizeof path, "%s/machine-%d%s.yaml", folder, number, k == 0 ? "" : "-turned");
    FILE* file = text.text != NULL ? fopen(path, "w") : NULL;
    if (file == NULL) {
      cli_error("study: cannot write %s", path);
    } else {
      machine_write(&b->m, k == 0 ? &b->plain : &b->turned, &text);
      fprintf(file, "%ssimulate: {until: %.17g, tol: 1e-6}\n", text.text,
              b->m.t_end * (k == 0 ? 1.0 : b->turned.time));
      fclose(file);
    }
    free(text.text);
  }
}

static void count(counts* sum, const verdict* v) {
  sum->runs++;
  sum->failed += v->failed;
  sum->late += v->late;
  sum->wrong += v->wrong;
  sum->ill += v->ill;
  sum->degraded += v->degraded;
  sum->captured += v->part > 0.05;
  sum->worst = v->failed || v->error <= sum->worst ? sum->worst : v->error;
  sum->cpu += v->cpu;
  sum->slowest = fmax(sum->slowest, v->cpu);
}

static void show(const char* name, const counts* c) {
  printf("%-13s %6d %6d %6d %6d %6d %9d %9d %10.3g %9.2f %9.2f\n", name, c->runs, c->failed,
         c->late, c->wrong, c->ill, c->degraded, c->captured, c->worst, c->cpu, c->slowest);
  fflush(stdout);
}

static void print_verdict(int number, double tol, const verdict* v) {
  const char* kind = v->wrong       ? "WRONG"
                     : v->late      ? "LATE"
                     : v->failed    ? "ERROR"
                     : v->degraded  ? "DEGRADED"
                     : v->cpu > 2.0 ? "SLOW"
                                    : NULL;
  if (kind != NULL) {
    fprintf(stderr, "%s machine %d (%s) tol %g, %.2f s: %s\n", kind, number, machine_family(number),
            tol, v->cpu, v->reason);
  }
}

/* One machine to both tolerances; saved to a folder unless it is NULL. */
static void run_one(int number, double limit, const char* folder, counts* family, counts* all) {
  static const double tolerances[] = {1e-6, 1e-8};
  static bench b;
  b = (bench){.limit = limit, .finest = fine, .plain = machine_plain()};
  machine_make(number, 0.0, &b.m);
  b.turned = machine_turned(number, &b.m);
  if (folder != NULL) {
    save(&b, number, folder);
  }
  run_machine(&b.m, &b.turned, fine, 0.0, limit, &b.other);
  if (b.other.status != SALTUS_OK) {
    b.finest = tolerances[1];
    run_machine(&b.m, &b.turned, b.finest, 0.0, limit, &b.other);
  }
  run_machine(&b.m, &b.plain, 0.0, step, limit, &b.moreau);
  for (int k = 0; k < 2; k++) {
    verdict v;
    judge(&b, number, tolerances[k], &v);
    count(all, &v);
    count(family, &v);
    print_verdict(number, tolerances[k], &v);
  }
  if (b.other.status != SALTUS_OK) {
    fprintf(stderr, "OTHER machine %d (%s): %s\n", number, machine_family(number), b.other.message);
  }
}

static void claim(study_report* report, const counts* all) {
  const double runs = fmax(1.0, all->runs) / 100.0;
  /* the goals are 0, 10 tolerances and 1 %: docs/testing.md lists what is off */
  study_claim_most(report, "runs that differ from a reference, per cent", all->wrong / runs, 1.0);
  study_measure(report, "largest error over tol max(1, K)", all->worst);
  study_claim_most(report, "runs that do not finish, per cent", all->failed / runs, 5.0);
  study_claim_most(report, "runs with degraded accuracy, per cent", all->degraded / runs, 2.0);
  study_claim_most(report, "runs with captured intervals above 5 % of the time, per cent",
                   all->captured / runs, 10.0);
  study_measure(report, "runs whose amplification ends the comparison at once", all->ill);
}

static int run(const cli_args* args, study_report* report) {
  double first = -1.0;
  double most = 1000.0;
  double limit = 20.0;
  int code = cli_number(args, "--only", 0.0, 1e9, &first);
  code = code == CLI_DONE ? cli_number(args, "--count", 1.0, 1e6, &most) : code;
  code = code == CLI_DONE ? cli_number(args, "--limit", 1e-3, 1e6, &limit) : code;
  const bool one = first >= 0.0 && cli_value(args, "--count") == NULL;
  const int begin = first >= 0.0 ? (int)first : 0;
  const int end = begin + (one ? 1 : (int)most);
  counts all = {0};
  counts family[MACHINE_FAMILIES] = {0};
  for (int number = begin; code == CLI_DONE && number < end; number++) {
    run_one(number, limit, one ? cli_value(args, "--save") : NULL,
            &family[number % MACHINE_FAMILIES], &all);
  }
  if (code == CLI_DONE && !cli_has(args, "--json")) {
    printf("%-13s %6s %6s %6s %6s %6s %9s %9s %10s %9s %9s\n", "family", "runs", "failed", "late",
           "wrong", "ill", "degraded", "captured", "error/tol", "cpu [s]", "slowest");
    for (int k = 0; k < MACHINE_FAMILIES; k++) {
      show(machine_family(k), &family[k]);
    }
    show("all", &all);
  }
  claim(report, &all);
  return code;
}

const study study_random_machines = {
    .name = "random-machines",
    .summary = "random machines with joints in loops, friction, drives and indeterminate supports",
    .source = "closed forms, moreau-jean, and the same machines mirrored, rotated, renumbered and "
              "in other units; "
              "--only NUMBER, --count N, --save DIR, --limit S",
    .run = run,
};
