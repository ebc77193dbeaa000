/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_case.h - random scenes that are meant to be hard, each with what has to come out, and the
 * judge of a run. For the study `adversarial` and its tests.
 *
 * A case is a scene as text and an expectation from a reference that shares no code with the library.
 * Each expected number carries K, the amplification of a perturbation of the start by 1e-9, measured
 * on the reference: an error is allowed to be 10 tol max(1, K). A case ends before K exceeds 1e3.
 */
#ifndef ADVERSARIAL_CASE_H
#define ADVERSARIAL_CASE_H

#include "adversarial_flight.h"
#include "saltus/saltus.h"

#include <stdint.h>

enum { CASE_TEXT = 65536, CASE_FRAMES = 41, CASE_TOLERANCES = 4, CASE_WIDTH = 8 };

#define CASE_K_MOST 1e3
#define CASE_ALLOWED 10.0 /* errors in tolerances */

typedef struct expected_impact {
  double t, before; /* s, m/s: rate of the gap before it */
  int contact;
  double K;
} expected_impact;

/* Where the impacts of a contact accumulate; or it closes without any. */
typedef struct expected_rest {
  double begin, t; /* s: the last rebound that is listed, and the end */
  double before;   /* m/s, of that impact: those between are slower */
  int contact;
  double K;
} expected_rest;

typedef struct adversarial_case {
  char* text; /* [CASE_TEXT] the scene */
  size_t length;
  const char* family;
  int number;
  int n;        /* coordinates that are compared, the first ones of the scene */
  double t_end; /* s */
  expected_impact* impacts;
  int impact_count;
  expected_rest* rests;
  int rest_count;
  bool keys;        /* impacts are distinguished by contact, and the rates of gaps are compared */
  bool motion_only; /* impacts are not compared */
  double frame_t[CASE_FRAMES], frame_K[CASE_FRAMES]; /* K = NaN: not compared */
  double* frame_q;                                   /* [CASE_FRAMES x n] */
  double *q_end, *v_end;                             /* [n] */
  double K_end;
  double tol_least; /* the reference is good for tolerances down to this */
  double unit;      /* errors are measured in this instead of tolerances; 0: in tolerances */
  double exact;     /* errors below this count as none: round-off, or the error of the reference */
} adversarial_case;

/* ---- random numbers: counted, the same on every machine ------------------------------------ */

typedef struct case_random {
  uint64_t state;
} case_random;

case_random case_random_of(const char* family, int number);
double case_uniform(case_random* r, double lo, double hi);
double case_decade(case_random* r, double lo,
                   double hi);              /* 10^lo .. 10^hi, even in the logarithm */
int case_choice(case_random* r, int count); /* 0 .. count - 1 */

/* ---- making ---------------------------------------------------------------------------------- */

/* Adds to the text of the scene. */
void case_say(adversarial_case* c, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* An empty case with room for its arrays; false: no memory. */
bool case_create(adversarial_case* c, int n, int impacts, int rests);
void case_destroy(adversarial_case* c);

/* Something that happens on a path. */
typedef struct path_event {
  root_real t, before; /* s, m/s */
  root_real
      settles; /* s, after an impact into rest: where the rebounds that are not listed end; 0 */
  int contact; /* -1: no impact */
} path_event;

/* A motion of a reference. */
typedef struct case_path {
  path_event* events; /* in order; malloc'd */
  int event_count;
  double t_end; /* s */
  bool lost;    /* it ends there because the reference cannot follow it */
  void (*at)(const void* who, root_real t, root_real* q,
             root_real* v); /* after what happens at t */
  const void* who;
} case_path;

/* What must come out: path[0] is the motion, the others begin with one number off by 1e-9. Sets the end,
 * impacts, frames and K. false: nothing that could be compared. */
bool case_expect(adversarial_case* c, const case_path* path, int count, int n);

#define CASE_PERTURBATION 1e-9

/* The same for flights. */
bool case_expect_flight(adversarial_case* c, const flight_system* system, double t_end);

/* A family of scenes: makes number k, false when it has none (then the next one is tried). */
typedef struct case_family {
  const char* name;
  int count; /* in the whole study */
  bool (*make)(adversarial_case* c, int number);
  bool never_fails;  /* no run of it may end in an error */
  const char* group; /* panel of the figure */
} case_family;

const case_family* case_family_at(int i); /* NULL past the end */

/* Lists that end with a family without a name. */
extern const case_family case_flights[], case_chains[], case_slides[], case_motions[],
    case_bodies[];
extern const case_family case_curved[]; /* of the study `curved-friction` */

/* ---- judging --------------------------------------------------------------------------------- */

typedef struct case_verdict {
  saltus_status status;
  bool late;        /* stopped after the limit of CPU time */
  bool wrong;       /* ended with SALTUS_OK and something else than expected */
  double error;     /* largest error over tol max(1, K) */
  double K;         /* at the end */
  double remainder; /* of the ledger, over the largest energy and tol */
  long long steps, rejections;
  saltus_work work;
  double cpu;       /* s */
  char reason[256]; /* what went wrong */
} case_verdict;

/* Runs the scene through the public interface and compares. */
case_verdict case_judge(const adversarial_case* c, const char* scheme, double tol, double limit);

#endif
