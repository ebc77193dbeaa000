/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polyhedral.c - see polyhedral.h. Equations (6.6)-(6.8) and the elimination of section 6:
 *
 *   unknowns   z = [P of joints; per contact P_N, beta, lam],   s = A z + b
 *   A          [ W_jj  W_ju ; W_uj  E^T W_uu E + N ],  E expands rows to directions,
 *              N = [0 0 0; 0 0 1; mu -1 0] per contact
 */
#include "solve/friction/polyhedral.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* A solution is accepted when its complementarity error is below this part of the data: rounding times a condition
 * number of 1e5. */
static const double accepted = 1e-10;
/* Relative violations above this, 45 eps, are polished. */
static const double polished_from = 1e-14;
/* Linearly dependent joint rows are consistent with the columns of contacts to this relative accuracy: the rank test
 * uses SALTUSI_DEPENDENT (1e-9), a thousandth of it. */
static const double dependent_agree = 1e-6;
/* Basic rows: a pivot below 500 eps of its column is rounding. Redundant supports (the feet of a block) are then
 * regularised by this part of the largest diagonal, which makes their loads equal and perturbs the motion by the same
 * relative amount. The regularised matrix is singular only by rounding of a pivot itself. */
static const double singular_pivot = 1e-13;
static const double shared_soft = 1e-10;
static const double shared_pivot = 1e-15;
/* Compliance of the last proximal point iteration, which only computes z. */
static const double last_compliance = 1e-5;
/* Compliances of proximal point iterations from zero: pivots of the smallest can be lost in rounding. */
static const double iterated[] = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4};
/* Slip below this part of the largest rate is rounding of a solve with a condition of 5000. */
static const double slip_rounding = 1e-12;

static int directions_of(int tangents, int pairs) {
  return tangents > 1 ? 2 * pairs : 2 * tangents;
}

int saltusi_polyhedral_unknowns(const saltusi_polyhedral_size* size) {
  assert(size != NULL);
  return saltusi_polyhedral_unknowns_of(directions_of(size->tangents, size->pairs));
}

saltusi_polyhedral_contact saltusi_polyhedral_make(int tangents, double mu, int pairs) {
  assert(tangents >= 0 && tangents <= 2 && mu >= 0.0 && pairs >= 0);
  int used = mu > 0.0 ? tangents : 0;
  return (saltusi_polyhedral_contact){.tangents = used,
                                      .directions = directions_of(used, pairs),
                                      .mu = mu,
                                      .sliding = -1,
                                      .scale = 1.0};
}

void saltusi_polyhedral_layout(saltusi_polyhedral* law, const saltusi_polyhedral_size* size,
                               saltus_arena* arena) {
  assert(law != NULL && size != NULL && arena != NULL);
  int unknowns = saltusi_polyhedral_unknowns(size);
  int room = size->most + size->joints;
  int n = size->contacts < room / unknowns ? size->joints + size->contacts * unknowns : room;
  law->pairs = size->pairs;
  law->rows_max = n; /* no contact has more rows than unknowns */
  law->n_max = n;
  law->contacts = SALTUS_PUSH(arena, saltusi_polyhedral_contact, size->contacts);
  law->W = SALTUS_PUSH2(arena, double, law->rows_max, law->rows_max);
  law->rate = SALTUS_PUSH(arena, double, law->rows_max);
  law->P = SALTUS_PUSH(arena, double, law->rows_max);
  law->A = SALTUS_PUSH2(arena, double, n, n);
  law->block = SALTUS_PUSH2(arena, double, n, n);
  double** vectors[] = {&law->b, &law->z, &law->s, &law->part};
  for (int i = 0; i < 4; i++) {
    *vectors[i] = SALTUS_PUSH(arena, double, n);
  }
  law->basic = SALTUS_PUSH(arena, int, n);
  law->pivot = SALTUS_PUSH(arena, int, n);
  law->held.LU = SALTUS_PUSH2(arena, double, size->joints, size->joints);
  law->held.gram = SALTUS_PUSH2(arena, double, size->joints, size->joints);
  law->held.pivot = SALTUS_PUSH2(arena, int, size->joints, 2);
  law->held.scale = SALTUS_PUSH(arena, double, size->joints);
  saltusi_lcp_bilateral_layout(&law->mixed, n, arena);
  saltusi_load_distribution_layout(&law->load, n, arena);
  saltusi_lcp_layout(&law->lemke, size->most < n ? size->most : n, arena);
}

void saltusi_polyhedral_start(saltusi_polyhedral* law, int joints, bool keep_joints) {
  assert(law != NULL && joints >= 0);
  law->joints = joints;
  law->keep_joints = keep_joints;
  law->count = 0;
  law->rows = joints;
  law->n = joints;
}

saltusi_polyhedral_contact* saltusi_polyhedral_add(saltusi_polyhedral* law, int tangents,
                                                   double mu) {
  assert(law != NULL);
  saltusi_polyhedral_contact made = saltusi_polyhedral_make(tangents, mu, law->pairs);
  int unknowns = saltusi_polyhedral_unknowns_of(made.directions);
  if (law->n + unknowns > law->n_max) {
    return NULL;
  }
  made.row = law->rows;
  made.first = law->n;
  law->rows += 1 + made.tangents;
  law->n += unknowns;
  law->contacts[law->count] = made;
  return &law->contacts[law->count++];
}

/* cos and sin of direction k; opposite directions are opposite to the last bit. */
static void direction(const saltusi_polyhedral_contact* contact, int k, double d[2]) {
  int half = contact->directions > 2 ? contact->directions / 2 : 1;
  double sign = k < half ? 1.0 : -1.0;
  double angle = pi * (double)(k % half) / (double)half;
  d[0] = sign * (k % half == 0 ? 1.0 : cos(angle));
  d[1] = sign * (k % half == 0 ? 0.0 : sin(angle));
}

double saltusi_polyhedral_along(const saltusi_polyhedral_contact* contact, int k,
                                const double* tangent) {
  assert(contact != NULL && k >= 0);
  double d[2];
  direction(contact, k, d);
  return d[0] * tangent[0] + (contact->tangents > 1 ? d[1] * tangent[1] : 0.0);
}

/* Largest component normal to an edge, in units of the distance of the edges. */
double saltusi_polyhedral_gauge(const saltusi_polyhedral_contact* contact, const double* tangent) {
  assert(contact != NULL);
  if (contact->tangents == 1) {
    return fabs(tangent[0]);
  }
  double sector = 2.0 * pi / (double)contact->directions;
  double reach = 0.0;
  for (int k = 0; k < contact->directions; k++) {
    double angle = sector * ((double)k + 0.5);
    reach = fmax(reach, tangent[0] * cos(angle) + tangent[1] * sin(angle));
  }
  return reach / cos(0.5 * sector);
}

/* The combination of rows that belongs to unknown `k` of a contact: 0 is P_N, then beta. */
static void expand(const saltusi_polyhedral_contact* contact, int k, double e[3]) {
  e[0] = k == 0 ? 1.0 : 0.0;
  e[1] = 0.0;
  e[2] = 0.0;
  if (k > 0) {
    direction(contact, k - 1, e + 1);
  }
}

static double combine(const saltusi_polyhedral_contact* contact, const double e[3],
                      const double* rows, int stride) {
  double sum = 0.0;
  for (int i = 0; i < 3 && i <= contact->tangents; i++) {
    sum += e[i] * rows[(size_t)(contact->row + i) * (size_t)stride];
  }
  return sum;
}

/* Columns of A that belong to one contact, for one combined row: from [rows] to [n]. */
static void spread(const saltusi_polyhedral* law, const double* combined, double* out) {
  for (int j = 0; j < law->joints; j++) {
    out[j] = combined[j];
  }
  for (int i = 0; i < law->count; i++) {
    const saltusi_polyhedral_contact* contact = &law->contacts[i];
    for (int k = 0; k <= contact->directions; k++) {
      double e[3];
      expand(contact, k, e);
      out[contact->first + k] = combine(contact, e, combined, 1);
    }
    if (contact->directions > 0) {
      out[contact->first + contact->directions + 1] = 0.0;
    }
  }
}

/* The rows of A and b of one contact. */
static void write_contact(saltusi_polyhedral* law, saltusi_polyhedral_contact* contact) {
  size_t n = (size_t)law->n;
  int rows = law->rows;
  for (int k = 0; k <= contact->directions; k++) {
    double e[3];
    expand(contact, k, e);
    for (int r = 0; r < rows; r++) {
      law->part[r] = combine(contact, e, law->W + r, rows);
    }
    spread(law, law->part, law->A + (size_t)(contact->first + k) * n);
    law->b[contact->first + k] = combine(contact, e, law->rate, 1);
  }
  if (contact->directions == 0) {
    return;
  }
  int lam = contact->first + contact->directions + 1;
  double* last = law->A + (size_t)lam * n;
  double W_tt = law->A[(size_t)(contact->first + 1) * n + (size_t)(contact->first + 1)];
  contact->scale = W_tt > 0.0 ? sqrt(W_tt) : 1.0;
  memset(last, 0, n * sizeof(double));
  last[contact->first] = contact->scale * contact->mu;
  law->b[lam] = contact->scale * contact->slack;
  for (int k = 1; k <= contact->directions; k++) {
    last[contact->first + k] = -contact->scale;
    law->A[(size_t)(contact->first + k) * n + (size_t)lam] = contact->scale;
  }
}

/* Whether the null vectors of the joint block annihilate the columns of contacts as well, as they do for
 * G^T M^-1 G; other matrices are left to principal pivots. */
static bool depend_throughout(const saltusi_polyhedral* law) {
  for (int c = law->joints; c < law->rows; c++) {
    for (int j = 0; j < law->joints; j++) {
      law->part[j] = law->W[(size_t)j * (size_t)law->rows + (size_t)c];
    }
    double size = saltusi_max_abs(law->joints, law->part);
    saltusi_rank_revealing_miss(&law->held, law->part);
    if (saltusi_max_abs(law->joints, law->part) > dependent_agree * size) {
      return false;
    }
  }
  return true;
}

/* Redundant joints have the row "impulse = 0". Afterwards the impulses of all joints are replaced by the equivalent
 * ones of minimum norm. */
static void leave_superfluous(saltusi_polyhedral* law) {
  saltusi_rank_revealing* held = &law->held;
  size_t n = (size_t)law->n;
  bool known =
      law->joints > 1 && saltusi_rank_revealing_factor(held, law->joints, law->W, law->rows);
  if (!known || held->rank == held->n || !depend_throughout(law)) {
    held->n = held->rank = 0;
    return;
  }
  for (int k = held->rank; k < held->n; k++) {
    size_t row = (size_t)saltusi_rank_revealing_row(held, k);
    int column = saltusi_rank_revealing_column(held, k);
    double unit = law->W[(size_t)column * (size_t)(law->rows + 1)];
    memset(law->A + row * n, 0, n * sizeof(double));
    law->A[row * n + (size_t)column] = unit > 0.0 ? unit : 1.0;
    law->b[row] = 0.0;
  }
}

static void write_problem(saltusi_polyhedral* law) {
  for (int j = 0; j < law->joints; j++) {
    spread(law, law->W + (size_t)j * (size_t)law->rows, law->A + (size_t)j * (size_t)law->n);
    law->b[j] = law->rate[j];
  }
  for (int i = 0; i < law->count; i++) {
    write_contact(law, &law->contacts[i]);
  }
  leave_superfluous(law);
}

/* P from z, and s = A z + b. */
static void read_answer(saltusi_polyhedral* law) {
  for (int j = 0; j < law->joints; j++) {
    law->P[j] = law->z[j];
  }
  for (int i = 0; i < law->count; i++) {
    const saltusi_polyhedral_contact* contact = &law->contacts[i];
    double* p = law->P + contact->row;
    memset(p, 0, (size_t)(1 + contact->tangents) * sizeof(double));
    for (int k = 0; k <= contact->directions; k++) {
      double e[3];
      expand(contact, k, e);
      for (int r = 0; r < 3 && r <= contact->tangents; r++) {
        p[r] += e[r] * law->z[contact->first + k];
      }
    }
  }
  for (int i = 0; i < law->n; i++) {
    law->s[i] = saltusi_dot(law->n, law->A + (size_t)i * (size_t)law->n, law->z) + law->b[i];
  }
  if (law->held.rank < law->held.n) {
    saltusi_rank_revealing_spread(&law->held, law->P);
  }
}

/* Largest violation, each row in the unit of its velocity. */
static double violation(const saltusi_polyhedral* law, const double* z) {
  double worst = 0.0;
  for (int i = 0; i < law->n; i++) {
    size_t row = (size_t)i * (size_t)law->n;
    double s = saltusi_dot(law->n, law->A + row, z) + law->b[i];
    double diagonal = law->A[row + (size_t)i];
    double miss = i < law->joints ? fabs(s) : fabs(fmin(s, z[i] * (diagonal > 0 ? diagonal : 1.0)));
    worst = miss <= worst ? worst : miss;
  }
  return worst;
}

/* Velocity that normal force and its friction give to the normal row of each sliding contact. */
static void read_couplings(saltusi_polyhedral* law) {
  size_t m = (size_t)(law->n - law->joints);
  for (int i = 0; i < law->count; i++) {
    saltusi_polyhedral_contact* contact = &law->contacts[i];
    if (contact->sliding < 0) {
      continue;
    }
    size_t c = (size_t)(contact->first - law->joints);
    const double* row = law->mixed.reduced + c * m;
    contact->coupling = row[c] + contact->mu * row[c + 1 + (size_t)contact->sliding];
  }
}

/* z of the problem by Lemke's method with its tolerances from number `first` on, and the residual. */
static saltus_status pivot(saltusi_polyhedral* law, int first, double size) {
  saltusi_lcp_bilateral* mixed = &law->mixed;
  const saltus_lcp problem = {.n = law->n, .bilateral = law->joints, .M = law->A, .q = law->b};
  if (saltusi_lcp_bilateral_reduce(mixed, &problem, law->keep_joints) != SALTUSI_REDUCED) {
    return SALTUS_ERR_SINGULAR;
  }
  read_couplings(law);
  law->lemke.first = first;
  const saltusi_lcp_result result =
      saltusi_lcp_lemke(&law->lemke, law->n - law->joints, mixed->reduced, mixed->rest, mixed->z);
  law->pivots += result.pivots;
  if (result.outcome != SALTUSI_LCP_SOLVED) {
    return SALTUS_RETRY_SMALLER;
  }
  saltusi_lcp_bilateral_expand(mixed, &problem);
  const double* answer = mixed->expanded;
  law->residual = violation(law, answer);
  if (law->residual > polished_from * size && saltusi_lcp_bilateral_polish(mixed, &problem) &&
      violation(law, mixed->polished) < law->residual) {
    answer = mixed->polished;
    law->residual = violation(law, answer);
  }
  memcpy(law->z, answer, (size_t)law->n * sizeof(double));
  return law->residual <= accepted * size ? SALTUS_OK : SALTUS_RETRY_SMALLER;
}

static saltus_status solve(saltusi_polyhedral* law) {
  law->residual = 0.0;
  law->pivots = 0;
  if (law->n == 0) {
    return SALTUS_OK;
  }
  write_problem(law);
  const double size = saltusi_max_abs(law->n, law->b);
  if (!isfinite(size) || !isfinite(saltusi_max_abs(law->n * law->n, law->A))) {
    return SALTUS_RETRY_NAN;
  }
  /* where rows have very different sizes, as those of friction along and across a joint, ratios differ by less than
   * the first tie */
  saltus_status status = pivot(law, 0, size);
  if (status == SALTUS_RETRY_SMALLER) {
    status = pivot(law, 1, size);
  }
  if (status == SALTUS_OK) {
    read_answer(law);
  }
  return status;
}

/* Whether a contact with friction slips in the last solution, faster than rounding. */
static bool slips(const saltusi_polyhedral* law, const saltusi_polyhedral_contact* contact) {
  const int lam = contact->first + contact->directions + 1;
  const double rounding = slip_rounding * saltusi_max_abs(law->rows, law->rate) / contact->scale;
  return contact->directions > 0 && law->z[lam] > fmax(law->s[lam], rounding);
}

/* Whether the active rows of the solution have more linear dependences than the joints. mixed: some of its
 * contacts slip while others stick, so that velocities depend on the load distribution. */
static bool is_indeterminate(saltusi_polyhedral* law, bool* mixed) {
  const double closed = accepted * saltusi_max_abs(law->n, law->b);
  bool slip = false, stick = false;
  int count = 0;
  for (int j = 0; j < law->joints; j++) {
    law->basic[count++] = j;
  }
  for (int i = 0; i < law->count; i++) {
    const saltusi_polyhedral_contact* contact = &law->contacts[i];
    const bool active = fabs(law->s[contact->first]) <= closed;
    const bool slides = active && slips(law, contact);
    slip = slip || slides;
    stick = stick || (active && contact->directions > 0 && !slides);
    for (int k = 0; active && k <= (slides ? 0 : contact->tangents); k++) {
      law->basic[count++] = contact->row + k;
    }
  }
  *mixed = slip && stick;
  if (law->count < 2 || count > law->load.rows_max) {
    return false;
  }
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < count; j++) {
      law->load.S[i * count + j] =
          law->W[(size_t)law->basic[i] * (size_t)law->rows + (size_t)law->basic[j]];
    }
  }
  return saltusi_dependent_rows(&law->load, count) > law->held.n - law->held.rank;
}

/* Diagonal of W and the rates without compliance, in memory that is no part of a solve. */
static double* rigid_diagonal(const saltusi_polyhedral* law) {
  return law->block;
}

static double* rigid_rate(const saltusi_polyhedral* law) {
  return law->block + law->rows;
}

/* Compliance eps D in the rows of contacts, without effect on impulses `from`. */
static void write_compliant(saltusi_polyhedral* law, double eps, const double* from) {
  const double* diagonal = rigid_diagonal(law);
  const int contacts = law->rows - law->joints;
  const double compliance = eps * saltusi_max_abs(contacts, diagonal + law->joints);
  for (int r = law->joints; r < law->rows; r++) {
    law->W[(size_t)r * ((size_t)law->rows + 1)] = diagonal[r] + compliance;
    law->rate[r] = rigid_rate(law)[r] - (from != NULL ? compliance * from[r] : 0.0);
  }
}

static bool solve_compliant(saltusi_polyhedral* law, double eps, const double* from, double* r) {
  write_compliant(law, eps, from);
  const bool solved = solve(law) == SALTUS_OK;
  memcpy(r, law->P, (size_t)law->rows * sizeof(double));
  return solved;
}

/* A path of compliances. */
typedef struct compliant_path {
  saltusi_polyhedral* law;
  double least; /* smallest compliance so far */
} compliant_path;

/* Lemke's method has no initial guess: a problem that it did not solve is not solved after larger compliances either. */
static bool solve_on_path(void* user, double eps, const double* from, double* r) {
  compliant_path* path = user;
  if (from == NULL && eps >= path->least) {
    return false;
  }
  path->least = fmin(path->least, eps);
  return solve_compliant(path->law, eps, from, r);
}

/* Largest violation of the rigid problem, over its data; z is that of the last solution. */
static double rigid_violation(void* user, const double* r) {
  saltusi_polyhedral* law = ((const compliant_path*)user)->law;
  (void)r;
  write_compliant(law, 0.0, NULL);
  write_problem(law);
  return violation(law, law->z) / saltusi_max_abs(law->n, law->b);
}

/* Restores the rigid problem; returns whether the last solution with compliance solves it. */
static bool accept_distribution(saltusi_polyhedral* law, bool solved) {
  write_compliant(law, 0.0, NULL);
  if (!solved) {
    return false;
  }
  write_problem(law);
  law->residual = violation(law, law->z);
  read_answer(law);
  return law->residual <= accepted * saltusi_max_abs(law->n, law->b);
}

/* The limit of load_distribution.h; false: not found. */
static bool distribute(saltusi_polyhedral* law, double* P) {
  compliant_path path = {.law = law, .least = INFINITY};
  const saltusi_compliant_problem problem = {.rows = law->rows,
                                             .accepted = accepted,
                                             .user = &path,
                                             .solve = solve_on_path,
                                             .residual = rigid_violation};
  memcpy(P, law->P, (size_t)law->rows * sizeof(double));
  return accept_distribution(law, saltusi_load_distribution_solve(&law->load, &problem, P) &&
                                      solve_compliant(law, last_compliance, P, P));
}

/* Proximal point iterations from zero, where statuses of the polygon change on the way to the limit; their error is the
 * power of `part`. */
static bool iterate_from_zero(saltusi_polyhedral* law, double part, double* P) {
  enum { ITERATIONS = 3 };
  bool solved = true;
  memset(P, 0, (size_t)law->rows * sizeof(double));
  for (int k = 0; k < ITERATIONS && solved; k++) {
    solved = solve_compliant(law, part, P, P);
  }
  return accept_distribution(law, solved);
}

/* The same with one compliance after the other, from the first one on that leads to a solution. */
static bool iterate_some(saltusi_polyhedral* law, double* P) {
  bool done = false;
  for (size_t k = 0; k < sizeof iterated / sizeof iterated[0] && !done; k++) {
    done = iterate_from_zero(law, iterated[k], P);
  }
  return done;
}

saltus_status saltusi_polyhedral_solve(saltusi_polyhedral* law) {
  assert(law != NULL);
  bool mixed = false;
  const saltus_status status = solve(law);
  const bool tried = status == SALTUS_OK || status == SALTUS_RETRY_SMALLER;
  if (!law->share_loads || !tried || law->rows > law->load.rows_max) {
    return status;
  }
  const size_t rows = (size_t)law->rows;
  double* P = law->load.S; /* used by the test alone */
  for (size_t r = 0; r < rows; r++) {
    rigid_diagonal(law)[r] = law->W[r * (rows + 1)];
  }
  memcpy(rigid_rate(law), law->rate, rows * sizeof(double));
  if (status != SALTUS_OK && !iterate_some(law, P)) { /* pivots of singular problems are rounding */
    return status;
  }
  if (!is_indeterminate(law, &mixed)) {
    return SALTUS_OK;
  }
  if (mixed ? iterate_some(law, P) : distribute(law, P)) {
    return SALTUS_OK;
  }
  return status == SALTUS_OK || !iterate_some(law, P) ? solve(law) : SALTUS_OK;
}

/* Unknowns that are not zero in a mode. Sticking has two independent directions of either
 * sign; which two is of no importance. */
static int basic_unknowns(saltusi_polyhedral* law, const saltusi_mode* modes) {
  int count = 0;
  for (int j = 0; j < law->joints; j++) {
    law->basic[count++] = j;
  }
  for (int i = 0; i < law->count; i++) {
    const saltusi_polyhedral_contact* contact = &law->contacts[i];
    const saltusi_mode* mode = &modes[i];
    if (mode->kind == SALTUSI_MODE_OPEN) {
      continue;
    }
    law->basic[count++] = contact->first;
    if (contact->directions == 0) {
      continue;
    }
    if (mode->kind == SALTUSI_MODE_STICK) {
      law->basic[count++] = contact->first + 1;
      if (contact->tangents > 1) {
        law->basic[count++] = contact->first + 1 + contact->directions / 4;
      }
      continue;
    }
    for (int k = 0; k < 2 && mode->direction[k] >= 0 && mode->direction[k] < contact->directions;
         k++) {
      law->basic[count++] = contact->first + 1 + mode->direction[k];
    }
    law->basic[count++] = contact->first + contact->directions + 1;
  }
  return count;
}

/* Rows and columns of the basic unknowns; `soft` is added to the diagonal, as a part of its largest
 * entry, where the diagonal is not zero by structure. */
static void take_block(saltusi_polyhedral* law, int count, double soft) {
  double largest = 0.0;
  for (int i = 0; i < count; i++) {
    const double* row = law->A + (size_t)law->basic[i] * (size_t)law->n;
    for (int j = 0; j < count; j++) {
      law->block[(size_t)i * (size_t)count + (size_t)j] = row[law->basic[j]];
    }
    largest = fmax(largest, row[law->basic[i]]);
    law->part[i] = -law->b[law->basic[i]];
  }
  for (int i = 0; i < count; i++) {
    double* entry = &law->block[(size_t)i * (size_t)count + (size_t)i];
    *entry += *entry > 0.0 ? soft * largest : 0.0;
  }
}

/* z of the basic unknowns, all others zero. */
static bool solve_basic(saltusi_polyhedral* law, int count) {
  take_block(law, count, 0.0);
  if (!saltusi_lu_factor(count, law->block, law->pivot, singular_pivot)) {
    take_block(law, count, shared_soft);
    if (!saltusi_lu_factor(count, law->block, law->pivot, shared_pivot)) {
      return false;
    }
  }
  saltusi_lu_solve(count, law->block, law->pivot, law->part);
  memset(law->z, 0, (size_t)law->n * sizeof(double));
  for (int i = 0; i < count; i++) {
    law->z[law->basic[i]] = law->part[i];
  }
  read_answer(law);
  return isfinite(saltusi_max_abs(law->n, law->z));
}

bool saltusi_polyhedral_solve_in(saltusi_polyhedral* law, const saltusi_mode* modes) {
  assert(law != NULL && modes != NULL);
  write_problem(law);
  return solve_basic(law, basic_unknowns(law, modes));
}

bool saltusi_polyhedral_stop(saltusi_polyhedral* law) {
  assert(law != NULL);
  write_problem(law);
  int count = 0;
  for (int j = 0; j < law->joints; j++) {
    law->basic[count++] = j;
  }
  for (int i = 0; i < law->count; i++) {
    law->basic[count++] = law->contacts[i].first;
  }
  return solve_basic(law, count);
}

saltusi_mode saltusi_polyhedral_mode(const saltusi_polyhedral* law, int i) {
  assert(law != NULL && i >= 0);
  const saltusi_polyhedral_contact* contact = &law->contacts[i];
  const double* z = law->z + contact->first;
  const double* s = law->s + contact->first;
  saltusi_mode mode = {.kind = SALTUSI_MODE_SLIP, .direction = {-1, -1}};
  size_t diagonal = (size_t)contact->first * ((size_t)law->n + 1);
  if (!(z[0] * law->A[diagonal] > s[0])) {
    mode.kind = SALTUSI_MODE_OPEN;
    return mode;
  }
  /* a redundant contact can be at its friction limit without sliding: slip of rounding size is ignored */
  if (contact->directions > 0 && !slips(law, contact)) {
    mode.kind = SALTUSI_MODE_STICK;
    return mode;
  }
  for (int k = 1; k <= contact->directions; k++) { /* the two largest */
    if (!(z[k] > 0.0)) {
      continue;
    }
    if (mode.direction[0] < 0 || z[k] > z[1 + mode.direction[0]]) {
      mode.direction[1] = mode.direction[0];
      mode.direction[0] = k - 1;
    } else if (mode.direction[1] < 0 || z[k] > z[1 + mode.direction[1]]) {
      mode.direction[1] = k - 1;
    }
  }
  return mode;
}
