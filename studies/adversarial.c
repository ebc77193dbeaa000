/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial.c - study: random scenes that are meant to be hard, run to a tolerance and compared with
 * references that share no code with the library, or, where there is lasting friction, with what two other
 * schemes agree on.
 *
 *   saltus study adversarial                                       everything
 *   saltus study adversarial --only tables --count 50 --tol 1e-6   a part of it
 *   saltus study adversarial --only needles:17 --save DIR          one scene; failing ones are written
 */
#include "adversarial_case.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double tolerances[CASE_TOLERANCES] = {1e-4, 1e-6, 1e-8, 1e-10};

/* What a family came to, over all its runs. */
typedef struct tally {
  int scenes, impacts, runs, wrong, errors, late, ledger; /* impacts that are expected */
  double slowest;                                         /* s */
  double worst[CASE_TOLERANCES];                          /* error over tol max(1, K) */
  double remainder; /* of the ledger, over tol times the largest energy */
} tally;

typedef struct choice {
  const char* only; /* family, or family:number; NULL: all */
  size_t only_length;
  int number;   /* -1: all */
  int count;    /* scenes of each family; 0: as many as the study has */
  double tol;   /* 0: all */
  double limit; /* s of CPU time that a run may take */
  const char* folder;
  const char* scheme;
  bool quiet;
} choice;

static void save(const adversarial_case* c, const choice* what) {
  char path[512];
  if (what->folder == NULL) {
    return;
  }
  snprintf(path, sizeof path, "%s/%s-%d.yaml", what->folder, c->family, c->number);
  FILE* file = fopen(path, "w");
  if (file == NULL || fputs(c->text, file) < 0 || fclose(file) != 0) {
    cli_error("study: cannot write %s", path);
    return;
  }
  fprintf(stderr, "  %s\n", path);
}

/* Says what failed, and keeps the scene. */
static void complain(const adversarial_case* c, const choice* what, const case_verdict* v,
                     double tol, bool saved) {
  const char* kind = v->wrong                 ? "WRONG"
                     : v->late                ? "LATE"
                     : v->status != SALTUS_OK ? "ERROR"
                                              : "LEDGER";
  fprintf(stderr, "%s %s:%d tol %g: %s (error %.3g tol max(1, K), K %.3g, remainder %.3g)\n", kind,
          c->family, c->number, tol, v->reason, v->error, v->K, v->remainder);
  if (!saved) {
    save(c, what);
  }
}

static void add_row(study_report* report, const adversarial_case* c, const choice* what,
                    const case_verdict* v, double tol) {
  study_row* row = study_add_row(report);
  snprintf(row->problem, sizeof row->problem, "%s:%d", c->family, c->number);
  snprintf(row->scheme, sizeof row->scheme, "%s", what->scheme);
  snprintf(row->control, sizeof row->control, "tolerance");
  snprintf(row->reason, sizeof row->reason, "%s", v->reason);
  row->tol = row->h = tol;
  row->t_end = c->t_end;
  row->steps = v->steps;
  row->work = v->work;
  row->rejections = v->rejections;
  row->cpu = v->cpu;
  row->amplification = v->K;
  row->error.q.inf = v->status == SALTUS_OK ? v->error : NAN;
  row->error.q.l1 = row->error.q.inf;
  row->error.q.l1 =
      fmax(row->error.q.inf, 1e-6); /* what the figure shows: most errors are round-off */
}

static void judge(adversarial_case* c, const choice* what, study_report* report, tally* sum) {
  bool saved = false;
  for (int k = 0; k < CASE_TOLERANCES; k++) {
    double tol = what->tol > 0.0 ? what->tol : tolerances[k];
    if (tol < c->tol_least || (what->tol > 0.0 && k > 0)) {
      continue;
    }
    case_verdict v = case_judge(c, what->scheme, tol, what->limit);
    bool failed = v.status != SALTUS_OK && !v.late;
    bool ledger = v.status == SALTUS_OK && !(v.remainder <= CASE_ALLOWED);
    sum->runs++;
    sum->wrong += v.wrong;
    sum->errors += failed;
    sum->late += v.late;
    sum->ledger += ledger;
    sum->slowest = fmax(sum->slowest, v.cpu);
    if (v.status == SALTUS_OK) {
      sum->worst[k] = v.error <= sum->worst[k] ? sum->worst[k] : v.error;
      sum->remainder = fmax(sum->remainder, v.remainder);
    }
    if (v.wrong || failed || v.late || ledger) {
      complain(c, what, &v, tol, saved);
      saved = true;
    }
    add_row(report, c, what, &v, tol);
  }
}

/* The line of a family in the figure: its largest error at each tolerance. */
static void add_worst(const case_family* family, const choice* what, study_report* report,
                      const tally* sum) {
  char label[128];
  snprintf(label, sizeof label, "largest error/tol: %s, %s", family->group, family->name);
  study_begin_series(report, label);
  for (int k = 0; k < CASE_TOLERANCES; k++) {
    if (what->tol > 0.0 && k > 0) {
      continue;
    }
    study_row* row = study_add_row(report);
    snprintf(row->problem, sizeof row->problem, "%s", family->name);
    snprintf(row->scheme, sizeof row->scheme, "%s", what->scheme);
    snprintf(row->control, sizeof row->control, "largest");
    row->tol = row->h = what->tol > 0.0 ? what->tol : tolerances[k];
    row->error.q.inf = sum->worst[k];
    row->error.q.l1 = fmax(sum->worst[k], 1e-4); /* where all are round-off a line is drawn still */
  }
  study_end_series(report);
}

/* Scenes of one family; an exit code. */
static int run_family(const case_family* family, const choice* what, study_report* report,
                      tally* sum) {
  int count = what->count > 0 ? what->count : family->count;
  int first = what->number >= 0 ? what->number : 0;
  int made = 0;
  for (int number = first;
       made < (what->number >= 0 ? 1 : count) && number < first + 20 * count + 1; number++) {
    adversarial_case c = {.text = calloc(1, CASE_TEXT), .family = family->name, .number = number};
    if (c.text == NULL) {
      cli_error("no memory");
      return CLI_FAILED;
    }
    if (family->make(&c, number)) {
      sum->scenes++;
      sum->impacts += c.impact_count;
      made++;
      judge(&c, what, report, sum);
    }
    case_destroy(&c);
  }
  add_worst(family, what, report, sum);
  return CLI_DONE;
}

static int choose(const cli_args* args, choice* what) {
  double count = 0.0;
  *what = (choice){.number = -1, .scheme = "adaptive", .limit = 60.0};
  what->only = cli_value(args, "--only");
  what->folder = cli_value(args, "--save");
  what->quiet = cli_has(args, "--json");
  if (cli_value(args, "--scheme") != NULL) {
    what->scheme = cli_value(args, "--scheme");
  }
  if (what->only != NULL) {
    const char* colon = strchr(what->only, ':');
    what->only_length = colon != NULL ? (size_t)(colon - what->only) : strlen(what->only);
    what->number = colon != NULL ? atoi(colon + 1) : -1;
  }
  int code = cli_number(args, "--count", 1.0, 1e6, &count);
  what->count = (int)count;
  code = code == CLI_DONE ? cli_number(args, "--limit", 1e-3, 1e6, &what->limit) : code;
  return code == CLI_DONE ? cli_number(args, "--tol", 1e-13, 1e-1, &what->tol) : code;
}

static double worst_of(const tally* t) {
  double worst = 0.0;
  for (int k = 0; k < CASE_TOLERANCES; k++) {
    worst = t->worst[k] <= worst ? worst : t->worst[k]; /* NaN stays */
  }
  return worst;
}

static void show(const char* name, const tally* t) {
  printf("%-14s %6d %7d %6d %6d %6d %6d %6d %12.3g %9.3f\n", name, t->scenes, t->impacts, t->runs,
         t->wrong, t->errors, t->late, t->ledger, worst_of(t), t->slowest);
}

static void claim(study_report* report, const char* name, const tally* t, bool never_fails) {
  char id[128];
  snprintf(id, sizeof id, "%s: wrong answers with status OK", name);
  study_claim_most(report, id, t->wrong, 0.0);
  snprintf(id, sizeof id, "%s: largest error over tol max(1, K)", name);
  study_claim_error(report, id, worst_of(t), CASE_ALLOWED);
  if (never_fails) {
    snprintf(id, sizeof id, "%s: runs that end in an error", name);
    study_claim_most(report, id, t->errors + t->late, 0.0);
  }
}

/* A study over the families that `at` lists, with at least so many scenes in all. */
static int run_over(const cli_args* args, study_report* report, const case_family* (*at)(int),
                    double scenes) {
  choice what;
  int code = choose(args, &what);
  tally all = {0};
  bool known = false;
  report->brief = true;
  report->named = true;
  report->one_number = true;
  report->x_label = "tolerance";
  if (!what.quiet) {
    printf("%-14s %6s %7s %6s %6s %6s %6s %6s %12s %9s\n", "family", "scenes", "impacts", "runs",
           "wrong", "errors", "late", "ledger", "error/tol", "cpu [s]");
  }
  for (int i = 0; code == CLI_DONE && at(i) != NULL; i++) {
    const case_family* family = at(i);
    if (what.only != NULL && (strlen(family->name) != what.only_length ||
                              strncmp(family->name, what.only, what.only_length) != 0)) {
      continue;
    }
    known = true;
    tally sum = {0};
    code = run_family(family, &what, report, &sum);
    if (!what.quiet) {
      show(family->name, &sum);
      fflush(stdout);
    }
    claim(report, family->name, &sum, family->never_fails);
    all.scenes += sum.scenes;
    all.impacts += sum.impacts;
    all.runs += sum.runs;
    all.wrong += sum.wrong;
    all.errors += sum.errors;
    all.late += sum.late;
    all.ledger += sum.ledger;
    all.worst[0] = fmax(worst_of(&sum), all.worst[0]);
    all.remainder = fmax(sum.remainder, all.remainder);
    all.slowest = fmax(all.slowest, sum.slowest);
  }
  if (code == CLI_DONE && !known) {
    cli_error("study: there is no family \"%s\"", what.only);
    return CLI_USAGE;
  }
  if (!what.quiet) {
    show("all", &all);
  }
  if (what.only == NULL && what.count == 0) {
    study_claim_range(report, "scenes", all.scenes, scenes, 1e9);
  }
  study_claim_most(report, "runs that end in an error, per cent",
                   100.0 * (all.errors + all.late) / fmax(1.0, all.runs), 1.0);
  study_claim_most(report, "runs longer than the limit", all.late, 0.0);
  /* a velocity that is right to 10 tol leaves 20 tol of the energy */
  study_claim_most(report, "largest remainder of the ledger, in tol of the largest energy",
                   all.remainder, 2.0 * CASE_ALLOWED);
  study_measure(report, "remainders of the ledger above 10 tol", all.ledger);
  return code;
}

static int run(const cli_args* args, study_report* report) {
  return run_over(args, report, case_family_at, 500.0);
}

static const case_family* curved_at(int i) {
  return case_curved[i].name != NULL ? &case_curved[i] : NULL;
}

static int run_curved(const cli_args* args, study_report* report) {
  return run_over(args, report, curved_at, 2000.0);
}

const study study_curved_friction = {
    .name = "curved-friction",
    .summary =
        "random bodies that slide, roll and lift off on spheres, against an event-driven reference",
    .source = "equations of motion in long double, adversarial_curved.c; --only FAMILY[:NUMBER], "
              "--count N, --tol X, --save DIR",
    .run = run_curved,
};

const study study_adversarial = {
    .name = "adversarial",
    .summary = "random scenes that are meant to be hard, against independent references",
    .source = "exact flights and motions in long double; --only FAMILY[:NUMBER], --count N, --tol "
              "X, --save DIR",
    .run = run,
};
