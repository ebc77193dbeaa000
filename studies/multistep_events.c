/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * multistep_events.c - multistep methods between impacts: BDF and Adams-Moulton methods of variable step and order in
 * Nordsieck's form with Milne's device (Acary 2008, slides on smooth estimates; Acary 2009, remark 5), beside the
 * one-step methods of `adaptive`. Each impact restarts them at order 1.
 *
 * Nordsieck's array z_j = h^j y^(j) / j! is predicted by Pascal's triangle and corrected by z_j += l_j e, where e
 * satisfies h f(t_n, z_0) = z_1 (Gear, Numerical Initial Value Problems in Ordinary Differential Equations, 1971,
 * chapters 9 and 11). Milne's device: the local error is a known part of e, the difference of predictor and corrector.
 */
#include "study.h"

#include "saltus/integrator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ORDER_MAX = 5, STATES = 2, IMPACTS = 12 };

typedef struct multistep {
  const char* name;
  double l[ORDER_MAX + 1][ORDER_MAX + 1]; /* [order][j], l_0 e and l_1 e correct y and h y' */
  double milne[ORDER_MAX + 1];            /* local error over e */
  double next[ORDER_MAX + 1]; /* local error of the order over h^(order + 1) y^(order + 1) */
  double part[ORDER_MAX + 1]; /* local error over its contribution to the global error */
} multistep;

/* e is the correction of y' h: l_1 = 1. Adams-Moulton methods: Gear 1971, table 9.2; error constants 1/2, 1/12, 1/24,
 * 19/720, 3/160, and e is h^(k+1) y^(k+1) up to higher orders. */
static const multistep adams = {
    .name = "Adams-Moulton",
    .l = {{0},
          {1.0, 1.0},
          {1.0 / 2.0, 1.0, 1.0 / 2.0},
          {5.0 / 12.0, 1.0, 3.0 / 4.0, 1.0 / 6.0},
          {3.0 / 8.0, 1.0, 11.0 / 12.0, 1.0 / 3.0, 1.0 / 24.0},
          {251.0 / 720.0, 1.0, 25.0 / 24.0, 35.0 / 72.0, 5.0 / 48.0, 1.0 / 120.0}},
    .milne = {0.0, 1.0 / 2.0, 1.0 / 12.0, 1.0 / 24.0, 19.0 / 720.0, 3.0 / 160.0},
    .next = {0.0, 1.0 / 2.0, 1.0 / 12.0, 1.0 / 24.0, 19.0 / 720.0, 3.0 / 160.0},
    .part = {0.0, 1.0, 1.0, 1.0, 1.0, 1.0},
};

/* BDF of order k: l(x) = prod_i (1 + x / i) over H_k = 1 + 1/2 + ... + 1/k. The local error is D / ((k + 1) H_k) with
 * D = h^(k+1) y^(k+1) = y - y_predicted = e / H_k. */
static multistep bdf(void) {
  multistep m = {.name = "BDF"};
  double harmonic = 0.0;
  double product[ORDER_MAX + 2] = {1.0};
  for (int k = 1; k <= ORDER_MAX; k++) {
    harmonic += 1.0 / k;
    for (int j = k; j >= 1; j--) {
      product[j] += product[j - 1] / k;
    }
    for (int j = 0; j <= k; j++) {
      m.l[k][j] = product[j] / harmonic;
    }
    m.next[k] = 1.0 / ((k + 1) * harmonic);
    m.milne[k] = m.next[k] / harmonic;
    m.part[k] = 1.0 / harmonic;
  }
  return m;
}

/* x'' = -x as y = (x, v), with the history of one phase. */
typedef struct phase {
  const multistep* method;
  int order;
  double t, h;                        /* end of the last step, its length */
  double z[ORDER_MAX + 2][STATES];    /* Nordsieck's array */
  double e[STATES], e_before[STATES]; /* of the last two steps */
  int since;                          /* steps since the last change of h or the order */
  long long evaluations;
  int order_reached;
} phase;

static void restart(phase* p, double t, const double y[STATES], double tol) {
  p->order = 1;
  p->t = t;
  p->since = 0;
  p->evaluations++;
  p->h = sqrt(tol / fmax(hypot(y[0], y[1]), tol)); /* half of h^2 |y''| is half of the tolerance */
  memset(p->z, 0, sizeof p->z);
  p->z[0][0] = y[0];
  p->z[0][1] = y[1];
  p->z[1][0] = p->h * y[1];
  p->z[1][1] = -p->h * y[0];
}

static void rescale(phase* p, double factor) {
  double power = 1.0;
  for (int j = 1; j <= p->order; j++) {
    power *= factor;
    p->z[j][0] *= power;
    p->z[j][1] *= power;
  }
  p->h *= factor;
  p->since = 0;
}

/* One step of length h; norm of Milne's estimate. */
static double advance(phase* p) {
  const double* l = p->method->l[p->order];
  for (int i = 0; i < p->order; i++) {
    for (int j = p->order - 1; j >= i; j--) {
      p->z[j][0] += p->z[j + 1][0];
      p->z[j][1] += p->z[j + 1][1];
    }
  }
  /* (I - l_0 h A) e = h A z_0 - z_1 with A = (0 1; -1 0), solved exactly: one evaluation a step */
  const double a = l[0] * p->h / l[1];
  const double r[STATES] = {p->h * p->z[0][1] - p->z[1][0], -p->h * p->z[0][0] - p->z[1][1]};
  const double det = 1.0 + a * a;
  const double e[STATES] = {(r[0] + a * r[1]) / det / l[1], (r[1] - a * r[0]) / det / l[1]};
  p->evaluations++;
  for (int k = 0; k < STATES; k++) {
    for (int j = 0; j <= p->order; j++) {
      p->z[j][k] += l[j] * e[k];
    }
    p->e_before[k] = p->e[k];
    p->e[k] = e[k];
  }
  p->t += p->h;
  p->since++;
  return p->method->milne[p->order] * hypot(e[0], e[1]);
}

/* Change of h, and of the order by one, that Milne's estimates at the orders k - 1, k and k + 1 allow. */
static void choose(phase* p, double error, double tol) {
  const multistep* m = p->method;
  const int k = p->order;
  double best = 1.0 / (1.2 * pow(error / tol, 1.0 / (k + 1)) + 1e-6);
  int order = k;
  if (k > 1) {
    double factorial = 1.0;
    for (int j = 2; j <= k; j++) {
      factorial *= j;
    }
    const double lower = m->next[k - 1] * factorial * hypot(p->z[k][0], p->z[k][1]);
    const double factor = 1.0 / (1.3 * pow(lower / tol, 1.0 / k) + 1e-6);
    if (factor > best) {
      best = factor;
      order = k - 1;
    }
  }
  if (k < ORDER_MAX) {
    const double change = hypot(p->e[0] - p->e_before[0], p->e[1] - p->e_before[1]);
    const double upper = m->next[k + 1] * m->milne[k] / m->next[k] * change;
    const double factor = 1.0 / (1.4 * pow(upper / tol, 1.0 / (k + 2)) + 1e-6);
    if (factor > best) {
      best = factor;
      order = k + 1;
      p->z[k + 1][0] = p->e[0] * m->l[k][k] / (k + 1);
      p->z[k + 1][1] = p->e[1] * m->l[k][k] / (k + 1);
    }
  }
  p->since = 0;
  if (best >= 1.1) {
    p->order = order;
    rescale(p, fmin(best, 10.0));
  }
}

/* One accepted step of at most `longest`. */
static void step(phase* p, double tol, double longest) {
  for (;;) {
    if (p->h > longest) {
      rescale(p, longest / p->h);
    }
    const phase before = *p;
    const double error = advance(p);
    if (error <= tol) {
      p->order_reached = p->order > p->order_reached ? p->order : p->order_reached;
      if (p->since > p->order) {
        choose(p, error, tol);
      }
      return;
    }
    const long long evaluations = p->evaluations;
    *p = before;
    p->evaluations = evaluations;
    rescale(p, fmax(0.2, 0.8 * pow(tol / error, 1.0 / (p->order + 1))));
  }
}

/* Nordsieck's polynomial at t + part h. */
static double inside(const phase* p, int k, double part) {
  double sum = p->z[p->order][k];
  for (int j = p->order - 1; j >= 0; j--) {
    sum = p->z[j][k] + part * sum;
  }
  return sum;
}

/* Free motion from x = 1 to `until` without the stop; largest error of x, and evaluations. */
static double swing(const multistep* method, double tol, double until, long long* evaluations) {
  phase p = {.method = method};
  const double y[STATES] = {1.0, 0.0};
  double worst = 0.0;
  restart(&p, 0.0, y, tol);
  while (p.t < until * (1.0 - 1e-12)) {
    step(&p, tol, until - p.t);
    worst = fmax(worst, fabs(p.z[0][0] - cos(p.t)));
  }
  *evaluations = p.evaluations;
  return worst;
}

/* Impacts with restitution 0.9 at x = 0, at pi/2 + n pi: error of the time of the last impact. */
static double bounce(const multistep* method, double tol, phase* p) {
  const double restitution = 0.9;
  *p = (phase){.method = method};
  const double y[STATES] = {1.0, 0.0};
  restart(p, 0.0, y, tol);
  for (int impacts = 0; impacts < IMPACTS;) {
    const double start = p->t;
    step(p, tol, 1.0);
    if (p->z[0][0] >= 0.0) {
      continue;
    }
    double low = (start - p->t) / p->h;
    double high = 0.0;
    while (high - low > 1e-15) {
      const double middle = 0.5 * (low + high);
      *(inside(p, 0, middle) > 0.0 ? &low : &high) = middle;
    }
    const double after[STATES] = {0.0, -restitution * inside(p, 1, high)};
    restart(p, p->t + high * p->h, after, tol);
    impacts++;
  }
  return fabs(p->t - (IMPACTS - 0.5) * acos(-1.0));
}

/* Orders and Milne's estimate at constant steps from an exact history, over ten steps. */
static void claim_orders(study_report* report, const multistep* method) {
  for (int order = 1; order <= ORDER_MAX; order++) {
    double error[2];
    double ratio = NAN;
    for (int i = 0; i < 2; i++) {
      const double h = 0.05 / (1 << i);
      phase p = {.method = method, .order = order, .h = h};
      double power = 1.0;
      for (int j = 0; j <= order; j++) { /* derivatives of cos and -sin at 0 */
        static const double cosine[4] = {1.0, 0.0, -1.0, 0.0};
        p.z[j][0] = power * cosine[j % 4];
        p.z[j][1] = power * cosine[(j + 1) % 4];
        power *= h / (j + 1);
      }
      double estimate = 0.0;
      for (int k = 0; k < 20 << i; k++) {
        const phase before = p;
        estimate = advance(&p);
        /* A step adds its local error over the sum of the coefficients of h f, which is 1 for Adams-Moulton and l_0 for
         * BDF (Hairer, Norsett and Wanner, Solving ODEs I, III.2). */
        const double g0[2] = {before.z[0][0] - cos(before.t), before.z[0][1] + sin(before.t)};
        const double g1[2] = {p.z[0][0] - cos(p.t), p.z[0][1] + sin(p.t)};
        const double turned[2] = {g0[0] * cos(h) + g0[1] * sin(h), g0[1] * cos(h) - g0[0] * sin(h)};
        const double added = hypot(g1[0] - turned[0], g1[1] - turned[1]);
        ratio = estimate / (method->part[order] * added);
      }
      error[i] = hypot(p.z[0][0] - cos(p.t), p.z[0][1] + sin(p.t));
    }
    char id[128];
    snprintf(id, sizeof id, "order of %s %d", method->name, order);
    study_claim_range(report, id, log2(error[0] / error[1]), order - 0.25, order + 0.25);
    snprintf(id, sizeof id, "Milne's estimate over the local error, %s %d", method->name, order);
    study_claim_range(report, id, ratio, 0.95, 1.05);
  }
}

static void stop_force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  F[0] = -at->q[0];
}

static void stop_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 1.0;
}

static saltus_status stop_contacts(const void* self, const saltus_point* at,
                                   saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[0];
  return SALTUS_OK;
}

static void stop_row(const void* self, const saltus_point* at, uint64_t identity,
                     saltus_rows* rows) {
  (void)self, (void)at, (void)identity;
  rows->G[0] = 1.0;
}

static const saltus_contact_law stop_law = {.e_N = 0.9};
static const saltus_system_ops stop_ops = {
    .mass = stop_mass, .force = stop_force, .contacts = stop_contacts, .contact = stop_row};

/* Evaluations of a method of `adaptive` to `until`, with the stop or without, and the error of the end. */
static int one_step(bool stop, double tol, double until, double* evaluations, double* error) {
  const saltus_system sys = {.ops = &stop_ops,
                             .dims = {.nq = 1, .nv = 1, .nc = stop ? 1 : 0},
                             .laws = &stop_law,
                             .law_count = stop ? 1 : 0,
                             .traits = SALTUS_CONSTANT_MASS};
  static const double q0[1] = {1.0};
  static const double v0[1] = {0.0};
  const saltus_integrator_def def = {.system = &sys,
                                     .q0 = q0,
                                     .v0 = v0,
                                     .scheme = "adaptive-dopri5",
                                     .rtol = 1e-14,
                                     .atol = tol,
                                     .log = cli_log()};
  saltus_integrator* it;
  saltus_status status = saltus_integrator_create(&def, &it);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  double last = 0.0;
  while (status == SALTUS_OK && saltus_integrator_time(it) < until) {
    const saltus_event* event = NULL;
    status = saltus_integrator_advance(it, until, SALTUS_STOP(SALTUS_EVENT_IMPACT), &event);
    last = event != NULL ? event->t : last;
  }
  *evaluations = (double)saltus_integrator_costs(it).work.force_evaluations;
  *error = stop ? fabs(last - (IMPACTS - 0.5) * acos(-1.0))
                : fabs(saltus_integrator_q(it)[0] - cos(until));
  saltus_integrator_destroy(it);
  return cli_exit_code(status);
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  const multistep backward = bdf();
  const multistep* methods[2] = {&adams, &backward};
  const double tol = 1e-8;
  const double turn = 2.0 * acos(-1.0);
  double count[2];
  double error[2];
  int code = one_step(false, tol, 20.0 * turn, &count[0], &error[0]);
  if (code == CLI_DONE) {
    code = one_step(true, tol, IMPACTS * 0.5 * turn, &count[1], &error[1]);
  }
  for (int i = 0; i < 2 && code == CLI_DONE; i++) {
    long long evaluations = 0;
    phase p;
    char id[128];
    claim_orders(report, methods[i]);
    double finer = tol;
    while (swing(methods[i], finer, 20.0 * turn, &evaluations) > error[0]) {
      finer *= 0.5;
    }
    snprintf(id, sizeof id,
             "evaluations over those of adaptive-dopri5, 20 periods, equal error, %s",
             methods[i]->name);
    study_claim_range(report, id, (double)evaluations / count[0], 0.2, 0.6);
    finer = tol;
    while (bounce(methods[i], finer, &p) > error[1]) {
      finer *= 0.5;
    }
    snprintf(id, sizeof id, "the same with an impact every half period, %s", methods[i]->name);
    study_claim_range(report, id, (double)p.evaluations / count[1], 0.2, 0.8);
    snprintf(id, sizeof id, "highest order between impacts, %s", methods[i]->name);
    study_claim_range(report, id, p.order_reached, 4.0, 5.0);
  }
  return code;
}

const study study_multistep_events = {
    .name = "multistep-events",
    .summary = "BDF and Adams methods in Nordsieck's form between impacts, beside one-step methods",
    .source = "Acary 2008, slides on smooth estimates; Acary 2009 (RR-7151), remark 5",
    .run = run,
};
