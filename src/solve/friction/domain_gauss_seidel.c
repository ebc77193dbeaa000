/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * domain_gauss_seidel.c - first-order methods over the domains of domains.h, with W in the storage of
 * domain_matrix.h.
 *
 * A symmetric Gauss-Seidel iteration x = g(y) runs forwards (colour after colour) and backwards, with the
 * exact solution of the one-contact problem of each unit. The sums over the blocks below and above the diagonal are kept
 * (Conrad & Wallach, Numer. Math. 32 (1979) 371-372):
 *
 *   forwards    x_i solves unit i with  q_i + L_i x + U_i y;   L x is new
 *   backwards   x_i solves unit i with  q_i + L_i x + U_i x;   L x stays, U x is new
 *
 * so that each direction reads every block once. U is linear: U y of the next forward iteration follows
 * from the last two U x. Nesterov's extrapolation with restart is applied as in friction_gradient.c:
 *
 *   y+ = x + beta (x - x_before),   from the start where (y - x).(x - x_before) / rho > 0
 *
 * Forward iterations alone are not symmetric, and their extrapolation diverges. On impacts the friction term
 * stalls the extrapolated iteration at a residual of some 1e-4. Projected gradient steps, which diverge
 * slowly on their own, then smooth it. The two alternate by their reduction of the residual; Gauss-Seidel
 * resumes with its previous momentum.
 *
 * Domains of one colour run in parallel on the thread pool of the case. Sums are formed by domain and added in a
 * fixed order, independent of the threads. Residuals are evaluated with W in double precision.
 */
#include "solve/friction/domain_gauss_seidel.h"

#include "thread_pool/thread_pool.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Iterations between evaluations of the residual; least and largest number of a phase before the other method. */
enum { LOOK = 25, SWEEPS_LEAST = 75, SWEEPS_MOST = 150, STEPS_LEAST = 25, STEPS_MOST = 100 };
/* A phase continues while it reduces the residual by this factor between evaluations. These and the numbers of the
 * extrapolation are chosen with packings of 10^3 to 10^5 contacts, whose iterations friction_auto.c states. */
static const double sweep_gain = 0.7;
static const double step_gain = 0.8;

/* Largest extrapolation: with more, iterations oscillate on impacts; with less they are slow at rest. When a phase of
 * Gauss-Seidel ends hardly lower than the phase before, it decreases if the residual oscillated, else it increases. */
static const double beta_first = 0.95;
static const double beta_change = 0.1;
static const double beta_least = 0.6;
static const double turn_gain = 0.7;

/* Steps of power iteration; it is short by a few percent then, which the margin takes back. */
enum { POWER_STEPS = 12 };
static const double power_margin = 1.05;

typedef struct iteration {
  const saltusi_friction_case* in;
  const saltusi_domains* domains;
  const saltusi_domain_matrix* w;
  void (*kernel)(struct iteration*, int domain);
  int domain; /* first of the present colour */
  /* by place */
  double* r;
  double* before; /* the point before r; from the forward sweep on the extrapolated point y */
  double* x;      /* the next point */
  double* up;     /* U r */
  double* up_before;
  double* low;     /* L x */
  double* kept;    /* r - before when Gauss-Seidel was last interrupted */
  double* kept_up; /* U r - U before, likewise */
  /* by unit */
  double* point; /* r of the last look */
  double* u;
  double kept_beta, kept_theta;
  double beta, theta;
  double beta_most;
  double turn_end; /* residual after the last phase of Gauss-Seidel */
  bool swung;      /* it grew in the present turn */
  double step;     /* 1 / L of rho W; 0: not yet known */
  double sums[SALTUSI_DOMAINS_MOST];
} iteration;

/* d is the number of rows of every unit, a constant where inlined; 0: numbers of rows differ, and some units are
 * bilateral. */

static inline int first_row(const saltusi_domain_matrix* w, int p, const int d) {
  return d > 0 ? p * d : w->row[p];
}

static inline int rows_of(const saltusi_domain_matrix* w, int p, const int d) {
  return d > 0 ? d : w->row[p + 1] - w->row[p];
}

/* sum = B x over the blocks of place p on one side; backwards: from the last to the first, because
 * memory is fetched ahead twice as fast when a backward sweep never turns. */
static inline void gather(const saltusi_domain_matrix* w, int which, int p, const int d,
                          const bool backwards, const double* x, double* sum) {
  const saltusi_domain_side* side = &w->side[which];
  const float* block = side->values + side->at[backwards ? p + 1 : p];
  int rows = rows_of(w, p, d);
  int count = side->start[p + 1] - side->start[p];
  const int* column = side->column + side->start[p];
  double few[3];
  double* s = d > 0 ? few : sum; /* kept in registers */
  for (int k = 0; k < rows; k++) {
    s[k] = 0.0;
  }
  for (int e = 0; e < count; e++) {
    int j = column[backwards ? count - 1 - e : e];
    int columns = rows_of(w, j, d);
    const double* xj = x + first_row(w, j, d);
    block -= backwards ? rows * columns : 0;
    for (int k = 0; k < rows; k++) {
      double part = (double)block[k * columns] * xj[0];
      for (int c = 1; c < columns; c++) {
        part += (double)block[k * columns + c] * xj[c];
      }
      s[k] += part;
    }
    block += backwards ? 0 : rows * columns;
  }
  for (int k = 0; k < d; k++) {
    sum[k] = s[k];
  }
}

/* b += W_pp y */
static inline void add_own(const saltusi_domain_matrix* w, int p, const int d, const double* y,
                           double* b) {
  int rows = rows_of(w, p, d);
  const double* own = w->own + (d > 0 ? p * d * d : w->own_at[p]);
  for (int k = 0; k < rows; k++) {
    for (int c = 0; c < rows; c++) {
      b[k] += own[k * rows + c] * y[c];
    }
  }
}

/* x = y - W_pp^-1 (b + W_pp y); the increment keeps rounding out of the directions that redundant rows
 * leave free. b is overwritten. */
static void solve_bilateral(const saltusi_domain_matrix* w, int p, double* b, const double* y,
                            double* x) {
  int rows = rows_of(w, p, 0);
  const double* inverse = w->local + w->local_at[p];
  add_own(w, p, 0, y, b);
  for (int k = 0; k < rows; k++) {
    double change = 0.0;
    for (int c = 0; c < rows; c++) {
      change += inverse[k * rows + c] * b[c];
    }
    x[k] = y[k] - change;
  }
}

/* x of a unit from the velocity b without its own part; y: where it was. */
static inline void solve_unit(const saltusi_domain_matrix* w, int p, const int d, double* b,
                              const double* y, double* x) {
  if (d == 0 && w->bilateral[p] != 0) {
    solve_bilateral(w, p, b, y, x);
    return;
  }
  const double* local = w->local + (d > 0 ? p * saltusi_one_contact_workspace(d) : w->local_at[p]);
  int rows = rows_of(w, p, d);
  if (rows == 3) {
    saltusi_one_contact_spatial(local, w->mu[p], b, x, w->slip + p);
  } else if (rows == 2) {
    saltusi_one_contact_planar(local, w->mu[p], b, x);
  } else {
    saltusi_one_contact_normal(local, b, x);
  }
}

/* Workspace for the velocity of a unit: that of the domain, or `few` for up to three rows. */
static inline double* room(const iteration* s, int domain, const int d, double few[3]) {
  return d > 0 ? few : s->domains->scratch + (size_t)domain * (size_t)s->domains->unit_max;
}

static inline void forward(iteration* s, int domain, const int d) {
  const saltusi_domain_matrix* w = s->w;
  double beta = s->beta;
  double few[3];
  double* b = room(s, domain, d, few);
  for (int p = s->domains->first[domain]; p < s->domains->first[domain + 1]; p++) {
    int at = first_row(w, p, d);
    gather(w, SALTUSI_BELOW, p, d, false, s->x, s->low + at);
    for (int k = 0; k < rows_of(w, p, d); k++) {
      int a = at + k;
      s->before[a] = s->r[a] + beta * (s->r[a] - s->before[a]);
      b[k] = w->q[a] + s->low[a] + (s->up[a] + beta * (s->up[a] - s->up_before[a]));
    }
    solve_unit(w, p, d, b, s->before + at, s->x + at);
  }
}

/* U x in up_before, and (y - x).(x - r) / rho in sums. */
static inline void backward(iteration* s, int domain, const int d) {
  const saltusi_domain_matrix* w = s->w;
  double turn = 0.0;
  double few[3];
  double* b = room(s, domain, d, few);
  for (int p = s->domains->first[domain + 1] - 1; p >= s->domains->first[domain]; p--) {
    int at = first_row(w, p, d);
    int rows = rows_of(w, p, d);
    double* up = s->up_before + at;
    double* x = s->x + at;
    gather(w, SALTUSI_ABOVE, p, d, true, s->x, up);
    for (int k = 0; k < rows; k++) {
      b[k] = w->q[at + k] + s->low[at + k] + up[k];
    }
    solve_unit(w, p, d, b, x, x);
    double part = 0.0;
    for (int k = 0; k < rows; k++) {
      part += (s->before[at + k] - x[k]) * (x[k] - s->r[at + k]);
    }
    turn += part / w->rho[p];
  }
  s->sums[domain] = turn;
}

/* u = (W y)_p */
static inline void product(const iteration* s, int p, const int d, const double* y, double* u) {
  const saltusi_domain_matrix* w = s->w;
  int at = first_row(w, p, d);
  double* above = s->low + at; /* unused outside of Gauss-Seidel iterations */
  gather(w, SALTUSI_BELOW, p, d, false, y, u);
  gather(w, SALTUSI_ABOVE, p, d, false, y, above);
  for (int k = 0; k < rows_of(w, p, d); k++) {
    u[k] += above[k];
  }
  add_own(w, p, d, y + at, u);
}

/* x = P_K(y - rho / L (u + mu |u_T| n)) and the turn, y in before */
static inline void gradient(iteration* s, int domain, const int d) {
  const saltusi_domain_matrix* w = s->w;
  double turn = 0.0;
  double few[3];
  double* u = room(s, domain, d, few);
  for (int p = s->domains->first[domain]; p < s->domains->first[domain + 1]; p++) {
    int at = first_row(w, p, d);
    int rows = rows_of(w, p, d);
    const double* y = s->before + at;
    double* x = s->x + at;
    double length = w->rho[p] * s->step;
    product(s, p, d, s->before, u);
    for (int k = 0; k < rows; k++) {
      u[k] += w->q[at + k];
    }
    u[0] += w->mu[p] * saltusi_tangent_norm(rows, u);
    for (int k = 0; k < rows; k++) {
      x[k] = y[k] - length * u[k];
    }
    if (d > 0 || w->bilateral[p] == 0) {
      saltusi_cone_project(rows, w->mu[p], x);
    }
    double part = 0.0;
    for (int k = 0; k < rows; k++) {
      part += (y[k] - x[k]) * (x[k] - s->r[at + k]);
    }
    turn += part / w->rho[p];
  }
  s->sums[domain] = turn;
}

/* x = rho W y and |x|^2 in the metric of 1 / rho */
static inline void power(iteration* s, int domain, const int d) {
  double sum = 0.0;
  for (int p = s->domains->first[domain]; p < s->domains->first[domain + 1]; p++) {
    double rho = s->w->rho[p];
    double* x = s->x + first_row(s->w, p, d);
    product(s, p, d, s->before, x);
    for (int k = 0; k < rows_of(s->w, p, d); k++) {
      x[k] *= rho;
      sum += x[k] * x[k] / rho;
    }
  }
  s->sums[domain] = sum;
}

static inline void sum_above(iteration* s, int domain, const int d) {
  for (int p = s->domains->first[domain]; p < s->domains->first[domain + 1]; p++) {
    gather(s->w, SALTUSI_ABOVE, p, d, false, s->r, s->up + first_row(s->w, p, d));
  }
}

/* Kernels for the thread pool, with a constant number of rows. */
#define KERNEL(name, work)                                                                         \
  static void name(iteration* s, int domain) {                                                     \
    if (s->in->pattern->uniform == 3) {                                                            \
      work(s, domain, 3);                                                                          \
    } else if (s->in->pattern->uniform == 2) {                                                     \
      work(s, domain, 2);                                                                          \
    } else {                                                                                       \
      work(s, domain, 0);                                                                          \
    }                                                                                              \
  }
KERNEL(forward_domain, forward)
KERNEL(backward_domain, backward)
KERNEL(gradient_domain, gradient)
KERNEL(power_domain, power)
KERNEL(sum_above_domain, sum_above)

/* First row of a domain. */
static int entry(const iteration* s, int domain) {
  return s->w->row[s->domains->first[domain]];
}

/* y = x + beta (x - r) in before; r and x are exchanged later. */
static void extrapolate_domain(iteration* s, int k) {
  for (int a = entry(s, k); a < entry(s, k + 1); a++) {
    s->before[a] = s->x[a] + s->beta * (s->x[a] - s->r[a]);
  }
}

/* Saves the momentum of Gauss-Seidel during gradient steps: they smooth r but keep its slow components. */
static void keep_motion_domain(iteration* s, int k) {
  for (int a = entry(s, k); a < entry(s, k + 1); a++) {
    s->kept[a] = s->r[a] - s->before[a];
    s->kept_up[a] = s->up[a] - s->up_before[a];
    s->before[a] = s->r[a];
  }
}

static void restore_motion_domain(iteration* s, int k) {
  for (int a = entry(s, k); a < entry(s, k + 1); a++) {
    s->before[a] = s->r[a] - s->kept[a];
    s->up_before[a] = s->up[a] - s->kept_up[a];
  }
}

static void to_units_domain(iteration* s, int domain) {
  for (int p = s->domains->first[domain]; p < s->domains->first[domain + 1]; p++) {
    size_t bytes = (size_t)(s->w->row[p + 1] - s->w->row[p]) * sizeof(double);
    memcpy(s->point + s->in->pattern->offset[s->domains->unit[p]], s->r + s->w->row[p], bytes);
  }
}

static void from_units_domain(iteration* s, int domain) {
  for (int p = s->domains->first[domain]; p < s->domains->first[domain + 1]; p++) {
    size_t bytes = (size_t)(s->w->row[p + 1] - s->w->row[p]) * sizeof(double);
    memcpy(s->r + s->w->row[p], s->point + s->in->pattern->offset[s->domains->unit[p]], bytes);
  }
}

static void run_job(void* context, int job) {
  iteration* s = context;
  s->kernel(s, s->domain + job);
}

static void run_domains(iteration* s, int from, int to, void (*kernel)(iteration*, int)) {
  s->kernel = kernel;
  s->domain = from;
  saltusi_thread_pool_run(s->in->team, to - from, run_job, s);
}

static void run_colour(iteration* s, int colour, void (*kernel)(iteration*, int)) {
  run_domains(s, s->domains->colour[colour], s->domains->colour[colour + 1], kernel);
}

/* All at once: what depends on nothing that is written. */
static void run_all(iteration* s, void (*kernel)(iteration*, int)) {
  run_domains(s, 0, s->domains->count, kernel);
}

static double total(const iteration* s) {
  double sum = 0.0;
  for (int k = 0; k < s->domains->count; k++) {
    sum += s->sums[k];
  }
  return sum;
}

/* Nesterov's next beta, or none where the step turned back. */
static void next_beta(iteration* s, double turn, double most) {
  double theta = s->theta;
  double next = 0.5 * (-theta * theta + theta * sqrt(theta * theta + 4.0));
  s->beta = turn > 0.0 ? 0.0 : fmin(most, theta * (1.0 - theta) / (theta * theta + next));
  s->theta = turn > 0.0 ? 1.0 : next;
}

/* The last colour reverses its direction without synchronisation. */
static void there_and_back(iteration* s, int domain) {
  forward_domain(s, domain);
  backward_domain(s, domain);
}

static void sweep(iteration* s) {
  int last = s->domains->colours - 1;
  for (int c = 0; c < last; c++) {
    run_colour(s, c, forward_domain);
  }
  run_colour(s, last, there_and_back);
  for (int c = last - 1; c >= 0; c--) {
    run_colour(s, c, backward_domain);
  }
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
  run_all(s, gradient_domain);
  next_beta(s, total(s), 1.0);
  run_all(s, extrapolate_domain);
  double* r = s->r;
  s->r = s->x;
  s->x = r;
}

/* Sets step from the largest eigenvalue of rho W. */
static void find_step(iteration* s) {
  const saltusi_domain_matrix* w = s->w;
  double before = 0.0;
  double L = 1.0;
  for (int p = 0; p < w->units; p++) {
    for (int a = w->row[p]; a < w->row[p + 1]; a++) {
      s->before[a] = 1.0 + 0.25 * (a % 3) - 0.125 * (a % 7);
      before += s->before[a] * s->before[a] / w->rho[p];
    }
  }
  for (int k = 0; k < POWER_STEPS && before > 0.0; k++) {
    run_all(s, power_domain);
    double after = total(s);
    L = sqrt(after / before);
    before = after;
    double* y = s->before;
    s->before = s->x;
    s->x = y;
  }
  s->step = L > 0.0 && isfinite(L) ? 1.0 / (power_margin * L) : 1.0;
}

static void start_sweeps(iteration* s) {
  run_all(s, sum_above_domain);
  run_all(s, restore_motion_domain);
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
  run_all(s, keep_motion_domain);
  s->kept_beta = fmin(s->beta, s->beta_most);
  s->kept_theta = s->theta;
  if (s->step == 0.0) {
    find_step(s);
    memcpy(s->before, s->r, (size_t)s->in->pattern->rows * sizeof(double));
  }
  s->theta = 1.0;
}

static void open_iteration(iteration* s, saltusi_gauss_seidel_work* work, const double* r) {
  size_t rows = (size_t)s->in->pattern->rows;
  s->r = work->f_change;
  s->before = work->f_change + rows;
  s->x = work->f_change + 2 * rows;
  s->up = work->f_change + 3 * rows;
  s->up_before = work->f_change + 4 * rows;
  s->low = work->after_change;
  s->kept = work->after_change + rows;
  s->kept_up = work->after_change + 2 * rows;
  s->point = work->after;
  s->u = work->u;
  s->kept_theta = 1.0;
  s->beta_most = beta_first;
  s->turn_end = INFINITY;
  memcpy(s->point, r, rows * sizeof(double));
  run_all(s, from_units_domain);
  memset(s->kept, 0, 2 * rows * sizeof(double));
}

/* The best point seen. */
typedef struct best_point {
  double residual;
  double* r;
} best_point;

static double look(iteration* s, best_point* best) {
  run_all(s, to_units_domain);
  double residual = saltusi_friction_case_residual(s->in, s->point, s->u).normalised;
  if (residual < best->residual) {
    best->residual = residual;
    memcpy(best->r, s->point, (size_t)s->in->pattern->rows * sizeof(double));
  }
  return residual;
}

saltusi_stage saltusi_domain_gauss_seidel(saltusi_gauss_seidel_work* work,
                                          const saltusi_domain_matrix* matrix,
                                          saltusi_friction_case* in,
                                          const saltusi_domain_settings* settings, double* r) {
  assert(work != NULL && matrix != NULL && in != NULL && settings != NULL);
  iteration s = {.in = in, .domains = in->domains, .w = matrix};
  best_point best = {INFINITY, r};
  open_iteration(&s, work, r);
  double last = look(&s, &best);
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
    double now = look(&s, &best);
    if (!isfinite(now)) {
      break; /* gradients can diverge; the best point is kept */
    }
    s.swung = s.swung || (of_kind > LOOK && now > last);
    gained = now <= (sweeping ? sweep_gain : step_gain) * last;
    last = now;
  }
  return (saltusi_stage){k, best.residual};
}
