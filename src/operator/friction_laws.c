/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_laws.c - friction laws of contacts and dry friction in one step (docs/theory/laws.md, 3 and 4). All of them
 * become products of balls, cone_products.h, of scaled rows; parameters that depend on the solution are found by
 * fixed-point iteration:
 *
 *   curve      mu(|u_T|); a contact that stuck, or whose slip would reverse, starts with mu of sticking
 *   patch      ellipsoid with the semi-axes that give force and moment of the patch at the slip and spin at hand:
 *              alpha^2 = f D / d, beta^2 = m D, D = f d + m, d = |u_T| / (a |u_S|); at rest d from the forces
 *   sliding    P = C' P', u' = R u with C' = diag(1, mu), R = diag(1, nu^2 / mu)
 *   viscous    (1 + W C) u = W P + q, C = h c on tangents of contacts that are closed
 *   adhesion   P' = P + h A n: q - h A W n
 *   dry        |P| <= h force + arm |P_joint|
 */
#include "operator/operator_internal.h"

#include "math/matrix.h"

#include <float.h>
#include <string.h>

/* Offsets of the rows of a contact from its normal; 0: no row of this kind. */
typedef struct friction_laws_parts {
  int slip, rolling, spin; /* first row */
  int slips, rolls;        /* how many */
} friction_laws_parts;

static friction_laws_parts parts_of(const saltus_contact_law* law, int count) {
  const saltus_friction_law* f = law->friction;
  friction_laws_parts p = {0};
  if (count > 1) {
    p.slip = 1;
    p.slips = law->tangents;
  }
  if (f != NULL && count > 1 + law->tangents) {
    p.rolls = f->rolling > 0.0 ? law->tangents : 0;
    p.rolling = p.rolls > 0 ? 1 + law->tangents : 0;
    p.spin = count > 1 + law->tangents + p.rolls ? 1 + law->tangents + p.rolls : 0;
  }
  return p;
}

static bool has_patch(const saltus_contact_law* law) {
  return law->friction != NULL && law->friction->patch != SALTUS_PATCH_NONE;
}

static double norm(int n, const double* x) {
  return sqrt(saltusi_dot(n, x, x));
}

static double pace_of(const saltusi_friction_laws* laws) {
  return laws->pace > 0.0 ? laws->pace : 1.0;
}

void saltusi_friction_laws_layout(saltusi_operator* op, const saltus_system* sys, int rows,
                                  saltus_arena* arena) {
  assert(op != NULL && sys != NULL && arena != NULL);
  saltusi_friction_laws* laws = &op->laws;
  const int nc = sys->dims.nc, units = nc + sys->dry_count;
  laws->law = SALTUS_PUSH(arena, const saltus_contact_law*, nc);
  laws->state = SALTUS_PUSH(arena, double, nc* SALTUSI_FRICTION_STATE);
  laws->after = SALTUS_PUSH(arena, double, nc* SALTUSI_FRICTION_STATE);
  laws->apart = SALTUS_PUSH(arena, bool, nc);
  laws->point = SALTUS_PUSH(arena, saltusi_friction_point, nc);
  saltusi_balls_layout(&laws->solver, units, rows, true, arena);
  laws->cone = SALTUS_PUSH(arena, saltus_cone, units);
  laws->offset = SALTUS_PUSH(arena, int, units + 1);
  laws->row = SALTUS_PUSH(arena, int, rows);
  laws->pivot = SALTUS_PUSH(arena, int, rows);
  laws->push = SALTUS_PUSH(arena, double, rows);
  laws->measure = SALTUS_PUSH(arena, double, rows);
  laws->q = SALTUS_PUSH(arena, double, rows);
  laws->r = SALTUS_PUSH(arena, double, rows);
  laws->u = SALTUS_PUSH(arena, double, rows);
  laws->p = SALTUS_PUSH(arena, double, rows);
  laws->drag = SALTUS_PUSH(arena, double, rows);
  laws->W = SALTUS_PUSH2(arena, double, rows, rows);
  laws->K = SALTUS_PUSH2(arena, double, rows, rows);
  laws->base = SALTUS_PUSH2(arena, double, rows, rows + 1);
}

void saltusi_operator_look_dry(saltusi_operator* op, const saltus_system* sys,
                               const saltus_point* at) {
  assert(op != NULL && sys != NULL && at != NULL);
  for (int i = 0; op->laws.any && i < sys->dry_count; i++) {
    saltusi_rows_dry(sys, at, i, &op->rows, op->first[op->contacts] + i);
  }
}

void saltusi_operator_take_dry(saltusi_operator* op, const saltus_system* sys,
                               const saltus_point* at) {
  assert(op != NULL && sys != NULL && at != NULL);
  op->laws.dry = op->laws.any ? sys->dry_count : 0;
  saltusi_operator_look_dry(op, sys, at);
  op->count += op->laws.dry;
}

void saltusi_operator_slips(saltusi_operator* op, int i, const double* u) {
  assert(op != NULL && i >= 0 && u != NULL);
  double* state = op->laws.any ? op->laws.state + (size_t)i * SALTUSI_FRICTION_STATE : NULL;
  if (state == NULL || ((int)state[2] & SALTUSI_LAW_KNOWN) != 0) {
    return;
  }
  const int slips = op->first[i + 1] - op->first[i] > 1 ? op->laws.law[i]->tangents : 0;
  for (int k = 0; k < slips; k++) {
    state[k] = u[1 + k];
  }
  state[2] += SALTUSI_LAW_KNOWN;
}

/* Semi-axes at a ratio d of slip to spin. */
static void patch_axes(const saltus_friction_law* f, double d, saltusi_friction_point* p) {
  double force = 0.0, moment = 0.0;
  const double least = 1e-8, most = 1e8; /* axes are constant beyond this ratio */
  d = d < least ? least : (d > most ? most : d);
  saltus_patch_load(f->patch, d, &force, &moment);
  const double D = force * d + moment;
  p->along = sqrt(force * D / d);
  p->spin = sqrt(moment * D);
}

/* Speed of slip, of which curves are functions, from velocities of tangents, the second of which may be scaled. */
static double slip_speed(const saltus_contact_law* law, int n, const double* u) {
  return n == 2 ? hypot(u[0], u[1] / saltusi_friction_scale(law)) : norm(n, u);
}

/* Initial coefficient of each contact. */
static void start(saltusi_operator* op) {
  saltusi_friction_laws* laws = &op->laws;
  for (int i = 0; i < op->contacts; i++) {
    const saltus_contact_law* law = laws->law[i];
    const double* state = laws->state + (size_t)i * SALTUSI_FRICTION_STATE;
    const int bits = (int)state[2];
    const int slips = op->first[i + 1] - op->first[i] > 1 ? law->tangents : 0;
    const double* free = op->rhs + op->first[i] + 1;
    const double start = norm(slips, free) / pace_of(laws);
    const double least = 1e-9 * start; /* slower slip is rounding and counts as rest */
    const double before = norm(2, state) > least ? norm(2, state) : 0.0;
    saltusi_friction_point* p = &laws->point[i];
    *p = (saltusi_friction_point){.curve = {.ratio = 1.0}, .along = 1.0, .drags = true};
    const bool slid = (bits & SALTUSI_LAW_KNOWN) == 0 || before > 0.0;
    if (saltusi_has_curve(law->friction)) {
      const double speed = before > 0.0 ? slip_speed(law, law->tangents, state)
                                        : slip_speed(law, slips, free) / pace_of(laws);
      saltusi_curve_start(&p->curve, law->friction, law->mu, slid ? fmax(speed, DBL_MIN) : 0.0);
    }
    if (has_patch(law)) {
      p->spin = saltus_patch_spin(law->friction->patch);
    }
    if (law->friction != NULL && law->friction->adhesion > 0.0) {
      p->bonded = !laws->apart[i] &&
                  (law->friction->rebinds || laws->fresh || (bits & SALTUSI_LAW_BONDED) != 0);
    }
  }
}

/* Part of the limit of dry row i that depends on joint forces. */
static double reaction(const saltusi_operator* op, const saltus_system* sys, int i) {
  const saltus_dry_friction* dry = &sys->dry[i];
  if (dry->arm == 0.0) {
    return 0.0;
  }
  const int first = saltusi_joint_first(sys, dry->joint);
  const int rows = saltusi_joint_rows(sys, dry->joint);
  const int count = dry->reaction_rows > 0 && dry->reaction_rows < rows ? dry->reaction_rows : rows;
  double sum = 0.0;
  for (int k = first; k < first + count; k++) {
    const double P = op->P[k] + (op->laws.carried != NULL ? op->laws.carried[k] : 0.0);
    sum += P * P;
  }
  return dry->arm * sqrt(sum);
}

/* One ball of unit i: its rows in the operator, without joints, and scales. */
static void put_rows(saltusi_friction_laws* laws, int* at, int first, int count, double push,
                     double measure) {
  for (int k = 0; k < count; k++, (*at)++) {
    laws->row[*at] = first + k;
    laws->push[*at] = push;
    laws->measure[*at] = measure;
  }
}

/* Tangential impulse that a bond bears in addition to mu P', P' = P + h A n. */
static double bond_beside(const saltusi_friction_laws* laws, int i) {
  const saltus_friction_law* f = laws->law[i]->friction;
  if (f == NULL || !laws->point[i].bonded || f->shear == 0.0) {
    return 0.0;
  }
  return laws->span * (fmax(f->shear, 0.0) - laws->law[i]->mu * f->adhesion);
}

/* Cone and rows of contact i. */
static void put_contact(saltusi_operator* op, int i, int* at) {
  saltusi_friction_laws* laws = &op->laws;
  const saltus_contact_law* law = laws->law[i];
  const saltus_friction_law* f = law->friction;
  const saltusi_friction_point* p = &laws->point[i];
  const int first = op->first[i] - op->joints, count = op->first[i + 1] - op->first[i];
  const friction_laws_parts has = parts_of(law, count);
  saltus_cone* cone = &laws->cone[i];
  *cone = (saltus_cone){0};
  put_rows(laws, at, first, 1, 1.0, 1.0);
  if (has.slips > 0) {
    const double bond = bond_beside(laws, i);
    cone->rows[0] = has.slips;
    cone->mu[0] = law->mu * p->curve.ratio * p->along;
    cone->held[0] = bond;
    if (f != NULL && f->sliding[0] > 0.0) {
      const double across = f->across > 0.0 ? f->across : law->mu;
      const double nu[2] = {f->sliding[0], f->sliding[1]};
      cone->mu[0] = p->curve.ratio;
      cone->held[0] = bond / law->mu;
      put_rows(laws, at, first + 1, 1, law->mu, nu[0] * nu[0] / law->mu);
      put_rows(laws, at, first + 2, 1, across, nu[1] * nu[1] / across);
    } else {
      put_rows(laws, at, first + has.slip, has.slips, 1.0, 1.0);
    }
    cone->balls = 1;
    if (has_patch(law) && has.spin > 0) {
      const double scale = f->radius * p->spin / p->along;
      cone->rows[0] += 1;
      put_rows(laws, at, first + has.spin, 1, scale, scale);
    }
  }
  if (has.rolls > 0) {
    cone->rows[cone->balls] = has.rolls;
    cone->mu[cone->balls++] = f->rolling;
    put_rows(laws, at, first + has.rolling, has.rolls, 1.0, 1.0);
  }
  if (has.spin > 0 && !has_patch(law)) {
    cone->rows[cone->balls] = 1;
    cone->mu[cone->balls++] = f->drilling;
    put_rows(laws, at, first + has.spin, 1, 1.0, 1.0);
  }
}

static int put_units(saltusi_operator* op, const saltus_system* sys) {
  saltusi_friction_laws* laws = &op->laws;
  int at = 0;
  for (int i = 0; i < op->contacts; i++) {
    laws->offset[i] = at;
    put_contact(op, i, &at);
  }
  for (int i = 0; i < laws->dry; i++) {
    laws->offset[op->contacts + i] = at;
    laws->cone[op->contacts + i] =
        (saltus_cone){.balls = 1,
                      .rows = {1},
                      .held = {laws->span * sys->dry[i].force + reaction(op, sys, i)},
                      .dry = true};
    put_rows(laws, &at, op->first[op->contacts] - op->joints + i, 1, 1.0, 1.0);
  }
  laws->offset[op->contacts + laws->dry] = at;
  return at;
}

/* W and q with viscous friction of closed contacts: columns of base, the last one is q. */
static bool add_viscous(saltusi_operator* op, int n, const double* W, const double* q) {
  saltusi_friction_laws* laws = &op->laws;
  bool any = false;
  memset(laws->drag, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < op->contacts; i++) {
    const saltus_contact_law* law = laws->law[i];
    for (int k = 0; laws->point[i].drags && law->friction != NULL && k < law->tangents; k++) {
      const double scale = k == 1 ? saltusi_friction_scale(law) : 1.0;
      const double c = laws->span / pace_of(laws) * law->friction->viscous / (scale * scale);
      if (c > 0.0) {
        laws->drag[op->first[i] - op->joints + 1 + k] = c;
        any = true;
      }
    }
  }
  for (int j = 0; j <= n; j++) {
    for (int i = 0; i < n; i++) {
      laws->base[(size_t)j * (size_t)n + (size_t)i] =
          j < n ? W[(size_t)i * (size_t)n + (size_t)j] : q[i];
    }
  }
  if (!any) {
    return true;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      const size_t at = (size_t)i * (size_t)n + (size_t)j;
      laws->K[at] = W[at] * laws->drag[j] + (i == j ? 1.0 : 0.0);
    }
  }
  if (!saltusi_lu_factor(n, laws->K, laws->pivot, DBL_EPSILON)) {
    return false;
  }
  for (int j = 0; j <= n; j++) {
    saltusi_lu_solve(n, laws->K, laws->pivot, laws->base + (size_t)j * (size_t)n);
  }
  return true;
}

/* Impulse of the bond of contact i. */
static double bond_of(const saltusi_friction_laws* laws, int i) {
  return laws->point[i].bonded ? laws->span * laws->law[i]->friction->adhesion : 0.0;
}

/* The problem of balls, solved from laws->r; velocities into laws->u, impulses into laws->p, both in the order of the operator
 * without joints. Returns the normalised residual. */
static double solve_balls(saltusi_operator* op, const saltus_system* sys, double tol) {
  saltusi_friction_laws* laws = &op->laws;
  double* P = laws->p;
  const int n = put_units(op, sys);
  const size_t rows = (size_t)n;
  for (int a = 0; a < n; a++) {
    double sum = laws->base[rows * rows + (size_t)laws->row[a]];
    for (int b = 0; b < n; b++) {
      laws->W[(size_t)a * rows + (size_t)b] =
          laws->measure[a] * laws->base[(size_t)laws->row[b] * rows + (size_t)laws->row[a]] *
          laws->push[b];
    }
    for (int i = 0; i < op->contacts; i++) {
      const size_t normal = (size_t)(op->first[i] - op->joints);
      sum -= bond_of(laws, i) * laws->base[normal * rows + (size_t)laws->row[a]];
    }
    laws->q[a] = laws->measure[a] * sum;
    laws->r[a] = P[laws->row[a]] / laws->push[a];
  }
  const saltus_cone_problem problem = {.units = op->contacts + laws->dry,
                                       .rows = n,
                                       .cone = laws->cone,
                                       .offset = laws->offset,
                                       .W = laws->W,
                                       .q = laws->q};
  const double miss = saltusi_balls_solve(&laws->solver, &problem, tol, laws->r);
  for (int a = 0; a < n; a++) {
    laws->u[laws->row[a]] = laws->solver.u[a] / laws->measure[a];
    P[laws->row[a]] = laws->push[a] * laws->r[a];
  }
  laws->miss = miss * norm(n, laws->q);
  return miss;
}

/* Updates ratio i for the present velocities; returns its change. */
static double follow_curve(const saltusi_operator* op, int i, double damping) {
  const saltusi_friction_laws* laws = &op->laws;
  const saltus_contact_law* law = laws->law[i];
  saltusi_friction_point* p = &laws->point[i];
  const double* u = laws->u + (op->first[i] - op->joints) + 1;
  const double* before = laws->state + (size_t)i * SALTUSI_FRICTION_STATE;
  const double speed = norm(law->tangents, u) / pace_of(laws),
               resting = 1e-11 * norm(op->count - op->joints, laws->q) / pace_of(laws);
  const double slip = speed > resting ? slip_speed(law, law->tangents, u) / pace_of(laws) : 0.0;
  const bool turned = saltusi_dot(law->tangents, u, before) < 0.0;
  return saltusi_curve_follow(&p->curve, law->friction, law->mu, slip, turned, damping);
}

static double follow_patch(const saltusi_operator* op, int i, double damping) {
  const saltusi_friction_laws* laws = &op->laws;
  const double* P = laws->p;
  const saltus_contact_law* law = laws->law[i];
  const saltus_friction_law* f = law->friction;
  saltusi_friction_point* p = &laws->point[i];
  const int first = op->first[i] - op->joints;
  const friction_laws_parts has = parts_of(law, op->first[i + 1] - op->first[i]);
  const double resting = 1e-11 * norm(op->count - op->joints, laws->q);
  if (f->ellipsoid || has.spin == 0) {
    return 0.0;
  }
  const double along = p->along, spin = p->spin;
  const double slip = norm(has.slips, laws->u + first + 1);
  const double turn = f->radius * fabs(laws->u[first + has.spin]);
  const double force = norm(has.slips, P + first + 1);
  const double moment = fabs(P[first + has.spin]) / f->radius;
  if (slip + turn > resting) {
    patch_axes(f, turn > 0.0 ? slip / turn : INFINITY, p);
  } else if (force + moment > 0.0) { /* the point of the patch in the direction of these forces */
    const double gauge = saltus_patch_gauge(f->patch, force, moment);
    const double inside = fmax(gauge, DBL_MIN);
    /* an ellipsoid through that point with the axis of pure spin */
    const double m = moment / inside, m0 = saltus_patch_spin(f->patch);
    const double rest = 1.0 - (m / m0) * (m / m0);
    p->spin = m0;
    p->along = rest > 0.0 ? fmin(1.25, force / inside / sqrt(rest)) : 1.0;
  }
  p->along = along + damping * (p->along - along);
  p->spin = spin + damping * (p->spin - spin);
  return fabs(p->along - along) + fabs(p->spin - spin);
}

/* Relative change of the limit of dry row i. A row that rests within its new limit does so with any larger one: reactions of
 * redundant rows are not unique and need not settle. */
static double follow_reaction(const saltusi_operator* op, const saltus_system* sys, int i) {
  const saltusi_friction_laws* laws = &op->laws;
  const int row = op->first[op->contacts] - op->joints + i;
  const double now = laws->span * sys->dry[i].force + reaction(op, sys, i);
  const double was = laws->cone[op->contacts + i].held[0];
  const double resting = 1e-11 * norm(op->count - op->joints, laws->q);
  return fabs(laws->u[row]) <= resting && fabs(laws->p[row]) <= now
             ? 0.0
             : 0.5 * fabs(now - was) / fmax(fmax(now, was), DBL_MIN);
}

/* Updates all coefficients that depend on the solution; returns their largest change, 1 where a contact opened or
 * closed. */
static double follow(saltusi_operator* op, const saltus_system* sys, double damping) {
  saltusi_friction_laws* laws = &op->laws;
  const double* P = laws->p;
  double change = 0.0;
  for (int i = 0; i < op->contacts; i++) {
    const saltus_contact_law* law = laws->law[i];
    const int normal = op->first[i] - op->joints;
    if (saltusi_has_curve(law->friction) && P[normal] > 0.0) {
      change = fmax(change, follow_curve(op, i, damping));
    }
    if (has_patch(law) && P[normal] > 0.0) {
      change = fmax(change, follow_patch(op, i, damping));
    }
    if (law->friction != NULL && law->friction->viscous > 0.0) {
      const bool closed = P[normal] > 0.0;
      change = fmax(change, closed != laws->point[i].drags ? 1.0 : 0.0);
      laws->point[i].drags = closed;
    }
  }
  for (int i = 0; i < laws->dry; i++) {
    if (sys->dry[i].arm > 0.0) {
      change = fmax(change, follow_reaction(op, sys, i));
    }
  }
  return change;
}

/* Stores modes and slip of the contacts at the end of the step for the next one. */
static void remember(saltusi_operator* op) {
  saltusi_friction_laws* laws = &op->laws;
  const double* P = laws->p;
  const double resting = 1e-11 * norm(op->count - op->joints, laws->q);
  for (int i = 0; i < op->contacts; i++) {
    const saltus_contact_law* law = laws->law[i];
    const int first = op->first[i] - op->joints;
    double* state = laws->after + (size_t)i * SALTUSI_FRICTION_STATE;
    const int slips = op->first[i + 1] - op->first[i] > 1 ? law->tangents : 0;
    const bool slides = slips > 0 && norm(slips, laws->u + first + 1) > resting;
    for (int k = 0; k < 2; k++) {
      state[k] = slides && k < slips ? laws->u[first + 1 + k] / pace_of(laws) : 0.0;
    }
    const bool bonded = laws->point[i].bonded && P[first] > 0.0;
    state[2] = SALTUSI_LAW_KNOWN + (bonded ? SALTUSI_LAW_BONDED : 0);
  }
}

/* Adds the impulses of viscous friction and bonds, and those of joints. */
static void put_impulses(saltusi_operator* op) {
  const saltusi_friction_laws* laws = &op->laws;
  const int joints = op->joints, n = op->count - joints;
  double* P = op->P + joints;
  for (int a = 0; a < n; a++) {
    P[a] = laws->p[a] - laws->drag[a] * laws->u[a];
  }
  for (int i = 0; i < op->contacts; i++) {
    P[op->first[i] - joints] -= bond_of(laws, i);
  }
  if (joints > 0) {
    saltusi_mixed_expand(&op->solver, joints, n, op->P);
  }
}

/* Initial guess: impulses and modes of the last step. */
static void guess(saltusi_operator* op) {
  saltusi_friction_laws* laws = &op->laws;
  const int n = op->count - op->joints;
  memset(laws->p, 0, (size_t)n * sizeof(double));
  if (op->warm.each > 0) {
    memcpy(laws->p, op->P + op->joints, (size_t)(n - laws->dry) * sizeof(double));
  }
  memset(op->P, 0, (size_t)op->count * sizeof(double));
}

saltus_status saltusi_friction_laws_solve(saltusi_operator* op, saltusi_eval* eval) {
  assert(op != NULL && eval != NULL && op->laws.any);
  const double least = 1e-12, accepted = 1e-10; /* relative to |q|, as in friction_step.c */
  const double settled = saltusi_curve_settled;
  const double eliminated = 1e-13; /* rounding of velocities behind joints, of the largest one */
  saltusi_friction_laws* laws = &op->laws;
  const int joints = op->joints, n = op->count - joints;
  const double* W = op->W;
  const double* q = op->rhs;
  if (!isfinite(saltusi_max_abs(op->count, op->rhs))) {
    return SALTUS_RETRY_NAN;
  }
  if (joints > 0) {
    if (!saltusi_mixed_reduce(&op->solver, joints, n, op->W, op->rhs)) {
      return SALTUS_RETRY_NAN;
    }
    eval->dependent |= op->solver.block.rank < joints;
    W = op->solver.schur;
    q = op->solver.rest;
  }
  guess(op);
  start(op);
  double tol = fmax(op->tol, least);
  if (joints > 0) { /* q is rounded by the eliminated velocities */
    const double rounding = eliminated * saltusi_max_abs(op->count, op->rhs);
    tol = fmax(tol, fmin(1.0, rounding / fmax(norm(n, q), DBL_MIN)));
  }
  double change = 1.0;
  for (int round = 0; round < SALTUSI_CURVE_ROUNDS && change > settled; round++) {
    if (change >= 1.0 && !add_viscous(op, n, W, q)) {
      return SALTUS_RETRY_NAN;
    }
    if (!(solve_balls(op, &eval->sys, tol) <= fmax(tol, accepted))) {
      return isfinite(laws->miss) ? SALTUS_RETRY_SMALLER : SALTUS_RETRY_NAN;
    }
    eval->work.contact_iterations += laws->solver.iterations;
    put_impulses(op);
    change = follow(op, &eval->sys, saltusi_curve_damping(round));
  }
  remember(op);
  return change <= settled ? SALTUS_OK : SALTUS_RETRY_SMALLER;
}
