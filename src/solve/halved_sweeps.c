/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * halved_sweeps.c - first-order methods on W as halves.h keeps it: half the blocks, in single
 * precision, contacts in two halves that do not meet and an interface between them.
 *
 * A symmetric sweep x = g(y) goes forwards (first and second half, interface) and backwards, with
 * the exact one-contact problem at each place. The sums over the blocks below and above the
 * diagonal are kept (Conrad & Wallach, Numer. Math. 32 (1979) 371-372):
 *
 *   forwards    x_i solves contact i with  q_i + L_i x + U_i y;   L x is summed up while x is made
 *   backwards   x_i solves contact i with  q_i + L_i x + U_i x;   L x stays, U x is new
 *
 * so that each direction reads every block once. U is linear: what the next forward sweep needs
 * follows from the last two U x. Nesterov's extrapolation with restart, as in
 * friction_gradient.c, goes around the sweep:
 *
 *   y+ = x + beta (x - x_before),   from the start where (y - x).(x - x_before) / rho > 0
 *
 * Forward sweeps alone are not symmetric, and extrapolating them diverges. On impacts the friction
 * term makes extrapolated sweeps wander at a residual of some 1e-4; projected gradients, which
 * diverge slowly by themselves, then smooth it. Both take turns by what they gain; the sweeps go on
 * with the motion they had.
 *
 * The true W in double precision is used for every look at the residual. Sums are made by half and
 * added in one order, whoever makes them.
 */
#include "solve/halved_sweeps.h"

#include "base/pair.h"

#include <math.h>
#include <string.h>

/* Contacts that make a second thread worth starting. */
enum { THREADED_UNITS = 2000 };

/* Iterations between looks; how many of a kind at least and at most before the other's turn. */
enum { LOOK = 25, SWEEPS_LEAST = 75, SWEEPS_MOST = 150, STEPS_LEAST = 25, STEPS_MOST = 100 };
/* A kind goes on when it shrinks the residual by this from look to look. */
static const double sweep_gain = 0.7;
static const double step_gain = 0.8;

/* Extrapolation at most: more lets sweeps swing on impacts, less is slow at rest. When a turn of
 * sweeps ends hardly lower than the turn before it shrinks if the residual swung, else it grows. */
static const double beta_first = 0.95;
static const double beta_change = 0.1;
static const double beta_least = 0.6;
static const double turn_gain = 0.7;

/* Steps of power iteration; it is short by a few percent then. */
enum { POWER_STEPS = 12 };
static const double power_margin = 1.05;

enum { INTERFACE = 2, PARTS = 3 };

typedef struct iteration {
  const saltusi_halves* h;
  const saltusi_friction_case* in;
  saltusi_pair pair;
  void (*kernel)(struct iteration*, int part);
  /* by place */
  double* r;
  double* before; /* the point before r; from the forward sweep on the extrapolated point y */
  double* x;      /* the next point */
  double* up;     /* U r */
  double* up_before;
  double* low[2]; /* q + L x as either half knows it; the interface adds both */
  /* by unit */
  double* natural; /* the point of the last look */
  double* u;
  double* kept;    /* r - before when sweeps last gave way */
  double* kept_up; /* U r - U before, likewise */
  double kept_beta, kept_theta;
  double beta, theta;
  double beta_most;
  double turn_end; /* residual at the end of the last turn of sweeps */
  bool swung;      /* it grew in the present turn */
  double step;     /* 1 / L of rho W; 0: not yet known */
  double sums[PARTS];
} iteration;

/* sum += B x of the blocks above the diagonal; d is a constant where this is inlined. From the last
 * block to the first: memory is fetched ahead faster when the backward sweep never turns. */
static inline void gather(const saltusi_halves* h, int p, const int d, const double* x,
                          double* sum) {
  const float* block = h->values + (size_t)h->start[p + 1] * (size_t)(d * d);
  double s[3] = {0.0};
  for (int e = h->start[p + 1] - 1; e >= h->start[p]; e--) {
    block -= d * d;
    const double* xj = x + h->column[e] * d;
    for (int k = 0; k < d; k++) {
      double part = (double)block[k * d] * xj[0];
      for (int c = 1; c < d; c++) {
        part += (double)block[k * d + c] * xj[c];
      }
      s[k] += part;
    }
  }
  for (int k = 0; k < d; k++) {
    sum[k] += s[k];
  }
}

/* low_j += B_ij^T x_i for the blocks above the diagonal. */
static inline void scatter(const saltusi_halves* h, int p, const int d, const double* xi,
                           double* low) {
  const float* block = h->values + (size_t)h->start[p] * (size_t)(d * d);
  for (int e = h->start[p]; e < h->start[p + 1]; e++, block += d * d) {
    double* to = low + h->column[e] * d;
    for (int c = 0; c < d; c++) {
      double part = (double)block[c] * xi[0];
      for (int k = 1; k < d; k++) {
        part += (double)block[k * d + c] * xi[k];
      }
      to[c] += part;
    }
  }
}

static inline void solve_contact(const saltusi_halves* h, int p, const int d, const double* b,
                                 double* x) {
  const double* local = h->local + (size_t)p * (size_t)saltusi_one_contact_room(d);
  if (d == 3) {
    saltusi_one_contact_spatial(local, h->mu[p], b, x, h->slip + p);
  } else {
    saltusi_one_contact_planar(local, h->mu[p], b, x);
  }
}

static inline void forward(iteration* s, int part, const int d) {
  const saltusi_halves* h = s->h;
  double* low = s->low[part == 1];
  double beta = s->beta;
  for (int p = h->first[part]; p < h->first[part + 1]; p++) {
    double b[3];
    for (int k = 0; k < d; k++) {
      int a = p * d + k;
      s->before[a] = s->r[a] + beta * (s->r[a] - s->before[a]);
      b[k] = low[a] + (s->up[a] + beta * (s->up[a] - s->up_before[a]));
    }
    solve_contact(h, p, d, b, s->x + p * d);
    scatter(h, p, d, s->x + p * d, low);
  }
}

/* Leaves low as the next sweep needs it, and (y - x).(x - r) / rho in sums. */
static inline void backward(iteration* s, int part, const int d) {
  const saltusi_halves* h = s->h;
  double* low = s->low[part == 1];
  double turn = 0.0;
  for (int p = h->first[part + 1] - 1; p >= h->first[part]; p--) {
    double* up = s->up_before + p * d;
    double* x = s->x + p * d;
    double b[3];
    for (int k = 0; k < d; k++) {
      up[k] = 0.0;
    }
    gather(h, p, d, s->x, up);
    for (int k = 0; k < d; k++) {
      b[k] = low[p * d + k] + up[k];
      low[p * d + k] = h->q[p * d + k];
    }
    solve_contact(h, p, d, b, x);
    double part_turn = 0.0;
    for (int k = 0; k < d; k++) {
      part_turn += (s->before[p * d + k] - x[k]) * (x[k] - s->r[p * d + k]);
    }
    turn += part_turn / h->rho[p];
  }
  s->sums[part] = turn;
}

/* u_p = (W y + q)_p; places in ascending order, so that low is complete when it is asked. */
static inline void velocity(iteration* s, int p, const int d, double* low, double* u) {
  const saltusi_halves* h = s->h;
  const double* y = s->before + p * d;
  const double* diagonal = h->diagonal + (size_t)p * (size_t)(d * d);
  for (int k = 0; k < d; k++) {
    u[k] = low[p * d + k];
    low[p * d + k] = h->q[p * d + k];
    for (int c = 0; c < d; c++) {
      u[k] += diagonal[k * d + c] * y[c];
    }
  }
  gather(h, p, d, s->before, u);
  scatter(h, p, d, y, low);
}

/* x = P_K(y - rho / L (u + mu |u_T| n)) and the turn, y in before */
static inline void gradient(iteration* s, int part, const int d) {
  const saltusi_halves* h = s->h;
  double turn = 0.0;
  for (int p = h->first[part]; p < h->first[part + 1]; p++) {
    const double* y = s->before + p * d;
    double* x = s->x + p * d;
    double u[3];
    velocity(s, p, d, s->low[part == 1], u);
    double length = h->rho[p] * s->step;
    u[0] += h->mu[p] * saltusi_tangent_norm(d, u);
    for (int k = 0; k < d; k++) {
      x[k] = y[k] - length * u[k];
    }
    saltusi_cone_project(d, h->mu[p], x);
    double part_turn = 0.0;
    for (int k = 0; k < d; k++) {
      part_turn += (y[k] - x[k]) * (x[k] - s->r[p * d + k]);
    }
    turn += part_turn / h->rho[p];
  }
  s->sums[part] = turn;
}

/* x = rho W y and |x|^2 in the metric of 1 / rho */
static inline void power(iteration* s, int part, const int d) {
  const saltusi_halves* h = s->h;
  double sum = 0.0;
  for (int p = h->first[part]; p < h->first[part + 1]; p++) {
    double* x = s->x + p * d;
    velocity(s, p, d, s->low[part == 1], x);
    for (int k = 0; k < d; k++) {
      x[k] = (x[k] - h->q[p * d + k]) * h->rho[p];
      sum += x[k] * x[k] / h->rho[p];
    }
  }
  s->sums[part] = sum;
}

static inline void sum_above(iteration* s, int part, const int d) {
  for (int p = s->h->first[part]; p < s->h->first[part + 1]; p++) {
    for (int k = 0; k < d; k++) {
      s->up[p * d + k] = 0.0;
    }
    gather(s->h, p, d, s->r, s->up + p * d);
  }
}

/* The true velocity and |F_i / rho_i|^2, for half of the units. */
static inline void look_half(iteration* s, int half, const int d) {
  const saltusi_friction_case* in = s->in;
  int units = in->pattern->units;
  double sum = 0.0;
  for (int i = half == 0 ? 0 : units / 2; i < (half == 0 ? units / 2 : units); i++) {
    saltusi_friction_uniform_row(in, i, d, s->natural, s->u + i * d);
    sum += saltusi_natural_map2(d, in->mu[i], in->rho[i], s->natural + i * d, s->u + i * d);
  }
  s->sums[half] = sum;
}

/* Kernels as the pair can call them, with the number of rows a constant inside. */
#define KERNEL(name, work)                                                                         \
  static void name(iteration* s, int part) {                                                       \
    if (s->h->d == 3) {                                                                            \
      work(s, part, 3);                                                                            \
    } else {                                                                                       \
      work(s, part, 2);                                                                            \
    }                                                                                              \
  }
KERNEL(forward_part, forward)
KERNEL(backward_part, backward)
KERNEL(gradient_part, gradient)
KERNEL(power_part, power)
KERNEL(sum_above_part, sum_above)
KERNEL(look_part, look_half)

/* First entry of a half, the interface with the second; end of the last. */
static int entry(const iteration* s, int half) {
  return s->h->d * (half < 2 ? s->h->first[half] : s->h->units);
}

/* y = x + beta (x - r) in before; r and x are exchanged later. */
static void extrapolate_part(iteration* s, int half) {
  for (int a = entry(s, half); a < entry(s, half + 1); a++) {
    s->before[a] = s->x[a] + s->beta * (s->x[a] - s->r[a]);
  }
}

/* What carries sweeps on over the gradients between: they smooth r, but its slow motion lasts. */
static void keep_motion_part(iteration* s, int half) {
  for (int a = entry(s, half); a < entry(s, half + 1); a++) {
    s->kept[a] = s->r[a] - s->before[a];
    s->kept_up[a] = s->up[a] - s->up_before[a];
  }
}

static void restore_motion_part(iteration* s, int half) {
  for (int a = entry(s, half); a < entry(s, half + 1); a++) {
    s->before[a] = s->r[a] - s->kept[a];
    s->up_before[a] = s->up[a] - s->kept_up[a];
  }
}

static void to_units_part(iteration* s, int half) {
  int d = s->h->d;
  for (int a = entry(s, half); a < entry(s, half + 1); a += d) {
    memcpy(s->natural + s->h->unit[a / d] * d, s->r + a, (size_t)d * sizeof(double));
  }
}

static void run_half(void* user, int half) {
  iteration* s = user;
  s->kernel(s, half);
}

static void in_halves(iteration* s, void (*kernel)(iteration*, int)) {
  s->kernel = kernel;
  saltusi_pair_run(&s->pair, run_half, s);
}

/* What both halves found for the interface. */
static void join(iteration* s) {
  for (int a = s->h->d * s->h->first[INTERFACE]; a < s->h->d * s->h->units; a++) {
    s->low[0][a] += s->low[1][a];
    s->low[1][a] = 0.0;
  }
}

static double total(const iteration* s) {
  return s->sums[0] + s->sums[1] + s->sums[INTERFACE];
}

/* Halves, then the interface; the sum of all. */
static double through_all(iteration* s, void (*kernel)(iteration*, int)) {
  in_halves(s, kernel);
  join(s);
  kernel(s, INTERFACE);
  return total(s);
}

/* Nesterov's next beta, or none where the step turned back. */
static void next_beta(iteration* s, double turn, double most) {
  double theta = s->theta;
  double next = 0.5 * (-theta * theta + theta * sqrt(theta * theta + 4.0));
  s->beta = turn > 0.0 ? 0.0 : fmin(most, theta * (1.0 - theta) / (theta * theta + next));
  s->theta = turn > 0.0 ? 1.0 : next;
}

static void sweep(iteration* s) {
  in_halves(s, forward_part);
  join(s);
  forward_part(s, INTERFACE);
  backward_part(s, INTERFACE);
  in_halves(s, backward_part);
  next_beta(s, total(s), s->beta_most);
  double* free_place = s->before;
  s->before = s->r;
  s->r = s->x;
  s->x = free_place;
  double* up = s->up;
  s->up = s->up_before;
  s->up_before = up;
}

static void gradient_step(iteration* s) {
  next_beta(s, through_all(s, gradient_part), 1.0);
  in_halves(s, extrapolate_part);
  double* r = s->r;
  s->r = s->x;
  s->x = r;
}

/* Sets step from the largest eigenvalue of rho W. */
static void find_step(iteration* s) {
  const saltusi_halves* h = s->h;
  double before = 0.0;
  double L = 1.0;
  for (int p = 0; p < h->units; p++) {
    for (int a = p * h->d; a < (p + 1) * h->d; a++) {
      s->before[a] = 1.0 + 0.25 * (a % 3) - 0.125 * (a % 7);
      before += s->before[a] * s->before[a] / h->rho[p];
    }
  }
  for (int k = 0; k < POWER_STEPS && before > 0.0; k++) {
    double after = through_all(s, power_part);
    L = sqrt(after / before);
    before = after;
    double* y = s->before;
    s->before = s->x;
    s->x = y;
  }
  s->step = L > 0.0 && isfinite(L) ? 1.0 / (power_margin * L) : 1.0;
}

static void start_sweeps(iteration* s) {
  in_halves(s, sum_above_part);
  sum_above_part(s, INTERFACE);
  in_halves(s, restore_motion_part);
  s->beta = s->kept_beta;
  s->theta = s->kept_theta;
  s->swung = false;
}

static void start_gradients(iteration* s, double residual) {
  if (residual > turn_gain * s->turn_end) {
    double most = s->beta_most + (s->swung ? -beta_change : beta_change);
    s->beta_most = fmin(beta_first, fmax(beta_least, most));
  }
  s->turn_end = residual;
  in_halves(s, keep_motion_part);
  s->kept_beta = fmin(s->beta, s->beta_most);
  s->kept_theta = s->theta;
  if (s->step == 0.0) {
    find_step(s);
  }
  memcpy(s->before, s->r, (size_t)s->h->units * (size_t)s->h->d * sizeof(double));
  s->theta = 1.0;
}

static void open_iteration(iteration* s, saltusi_sweep_work* work, const double* r) {
  const saltusi_halves* h = s->h;
  size_t rows = (size_t)h->units * (size_t)h->d;
  s->r = work->f_change;
  s->before = work->f_change + rows;
  s->x = work->f_change + 2 * rows;
  s->up = work->f_change + 3 * rows;
  s->up_before = work->f_change + 4 * rows;
  s->low[0] = work->after_change;
  s->low[1] = work->after_change + rows;
  s->kept = work->after_change + 2 * rows;
  s->kept_up = work->after_change + 3 * rows;
  s->kept_theta = 1.0;
  s->beta_most = beta_first;
  s->turn_end = INFINITY;
  s->natural = work->after;
  s->u = work->u;
  for (int p = 0; p < h->units; p++) {
    int at = h->unit[p] * h->d;
    for (int k = 0; k < h->d; k++) {
      int a = p * h->d + k;
      s->r[a] = r[at + k];
      s->kept[a] = s->kept_up[a] = 0.0;
      s->low[0][a] = h->q[a];
      s->low[1][a] = p < h->first[INTERFACE] ? h->q[a] : 0.0;
    }
  }
}

/* The best point seen, by unit. */
typedef struct best_point {
  double residual;
  double* r;
} best_point;

/* The residual of the present point. One that meets the tolerance is summed again as everybody
 * else sums it, so that no rounding can turn the outcome. */
static double look(iteration* s, double tol, best_point* best) {
  in_halves(s, to_units_part);
  in_halves(s, look_part);
  double residual = sqrt(s->sums[0] + s->sums[1]) / s->in->velocity_unit;
  if (residual <= tol) {
    residual = saltusi_friction_case_residual(s->in, s->natural, s->u).normalised;
  }
  if (residual < best->residual) {
    best->residual = residual;
    memcpy(best->r, s->natural, (size_t)s->h->units * (size_t)s->h->d * sizeof(double));
  }
  return residual;
}

saltusi_stage saltusi_halved_sweeps(saltusi_sweep_work* work, const saltusi_halves* halves,
                                    saltusi_friction_case* in,
                                    const saltusi_halved_settings* settings, double* r) {
  iteration s = {.h = halves, .in = in};
  best_point best = {INFINITY, r};
  open_iteration(&s, work, r);
  saltusi_pair_open(&s.pair, halves->units >= THREADED_UNITS ? settings->threads : 1);
  double last = look(&s, settings->tol, &best);
  bool sweeping = false;
  int of_kind = SWEEPS_MOST; /* starts with a change */
  int k = 0;
  bool gained = false;
  while (k < settings->iterations && best.residual > settings->tol) {
    int least = sweeping ? SWEEPS_LEAST : STEPS_LEAST;
    int most = sweeping ? SWEEPS_MOST : STEPS_MOST;
    if (of_kind >= most || (of_kind >= least && !gained)) {
      sweeping = !sweeping;
      of_kind = 0;
      if (sweeping) {
        start_sweeps(&s);
      } else {
        start_gradients(&s, last);
      }
    }
    for (int l = 0; l < LOOK; l++) {
      if (sweeping) {
        sweep(&s);
      } else {
        gradient_step(&s);
      }
    }
    k += LOOK;
    of_kind += LOOK;
    double now = look(&s, settings->tol, &best);
    if (!isfinite(now)) {
      break; /* gradients can diverge; the best point is kept */
    }
    s.swung = s.swung || (of_kind > LOOK && now > last);
    gained = now <= (sweeping ? sweep_gain : step_gain) * last;
    last = now;
  }
  saltusi_pair_close(&s.pair);
  return (saltusi_stage){k, best.residual};
}
