/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * kernel.c - see kernel.h. The step is that of moreau_step.c:
 *
 *   R = h F - M (v1 - v),   A = M - h theta F_v - h^2 theta^2 F_q,   v_free = v1 + A^-1 R
 *   joints        G ((1 - a) v + a v1) + b = 0 at t + a h, eliminated: v_free and A^-1 G^T of contacts satisfy them
 *   active        g + gamma h U <= 16 eps max(1, |q|)
 *   impact law    0 <= G v1 + b + e U  perp  P >= 0 with Coulomb's friction in the plane
 *
 * Values that depend on the member alone are computed before the loop over steps. A is eliminated without exchanges of
 * rows; a small pivot, Newton's method or Gauss-Seidel at its bound, and values that are not finite mark the member.
 */
#include "sweep/kernel_writer.h"

#include "emit/body_lines.h"
#include "scene/observe_bodies.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char* const forms[SALTUSI_OP_COUNT] = {
    [SALTUSI_ADD] = "A + B",
    [SALTUSI_SUB] = "A - B",
    [SALTUSI_MUL] = "A * B",
    [SALTUSI_DIV] = "A / B",
    [SALTUSI_NEG] = "-A",
    [SALTUSI_SIN] = "ksin(A)",
    [SALTUSI_COS] = "kcos(A)",
    [SALTUSI_TAN] = "ktan(A)",
    [SALTUSI_EXP] = "kexp(A)",
    [SALTUSI_LOG] = "klog(A)",
    [SALTUSI_SQRT] = "ksqrt(A)",
    [SALTUSI_ABS] = "ABS(A)",
    [SALTUSI_SIGN] = "SEL(A > 0.0, K(1.0), SEL(A < 0.0, K(-1.0), K(A)))",
    [SALTUSI_MIN] = "SEL((A <= B) | (A != A), K(A), K(B))",
    [SALTUSI_MAX] = "SEL((A >= B) | (A != A), K(A), K(B))",
    [SALTUSI_LESS] = "SEL(A < B, K(1.0), K(0.0))",
    [SALTUSI_LESS_EQUAL] = "SEL(A <= B, K(1.0), K(0.0))",
    [SALTUSI_AND] = "SEL((A != 0.0) & (B != 0.0), K(1.0), K(0.0))",
    [SALTUSI_OR] = "SEL((A != 0.0) | (B != 0.0), K(1.0), K(0.0))",
    [SALTUSI_NOT] = "SEL(A != 0.0, K(0.0), K(1.0))",
    [SALTUSI_SELECT] = "SEL(A != 0.0, K(B), K(C))"};

/* Forces and torques of joints, which outputs read after the inputs: not computed. */
enum { LOADS = 6 * JOINTS };

static int number(saltusi_kernel_writer* k, double value) {
  return saltusi_line_number(&k->l, value);
}

static int add(saltusi_kernel_writer* k, int a, int b) {
  return saltusi_line_add(&k->l, a, b);
}

static int sub(saltusi_kernel_writer* k, int a, int b) {
  return saltusi_line_sub(&k->l, a, b);
}

static int mul(saltusi_kernel_writer* k, int a, int b) {
  return saltusi_line_mul(&k->l, a, b);
}

static int dot(saltusi_kernel_writer* k, const int* a, const int* b) {
  return saltusi_line_dot(&k->l, k->n, a, b);
}

saltusi_line_state saltusi_kernel_at(const saltusi_kernel_writer* k, int t, const int* q,
                                     const int* v) {
  assert(k != NULL && q != NULL && v != NULL);
  return (saltusi_line_state){.t = t, .q = q, .v = v, .u = k->u};
}

/* The nodes of a program; others after a failure. */
const int* saltusi_kernel_nodes(saltusi_kernel_writer* k, const saltusi_program* p, int t,
                                const int* q, const int* v) {
  assert(k != NULL && p != NULL);
  const saltusi_line_state at = saltusi_kernel_at(k, t, q, v);
  const int* nodes = saltusi_model_program(&k->equations, &at, p);
  return nodes != NULL ? nodes : k->u;
}

/* ---- nodes of the step ---- */

void saltusi_kernel_eliminate(saltusi_kernel_writer* k, saltusi_kernel_factors* f) {
  assert(k != NULL && f != NULL && f->n > 0 && f->n <= DIM);
  const int n = f->n;
  int* A = f->L;
  for (int c = 0; c < n; c++) {
    f->pivot_of[c] = A[c * (n + 1)];
  }
  for (int c = 0; c < n; c++) {
    f->inverse[c] = saltusi_line_div(&k->l, number(k, 1.0), A[c * (n + 1)]);
    for (int i = c + 1; i < n; i++) {
      const int factor = mul(k, A[i * n + c], f->inverse[c]);
      A[i * n + c] = factor;
      for (int j = c + 1; j < n; j++) {
        A[i * n + j] = sub(k, A[i * n + j], mul(k, factor, A[c * n + j]));
      }
    }
  }
}

void saltusi_kernel_solve(saltusi_kernel_writer* k, const saltusi_kernel_factors* f, int* x) {
  assert(k != NULL && f != NULL && x != NULL && f->n <= DIM);
  const int n = f->n;
  for (int i = 1; i < n; i++) {
    for (int j = 0; j < i; j++) {
      x[i] = sub(k, x[i], mul(k, f->L[i * n + j], x[j]));
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) {
      x[i] = sub(k, x[i], mul(k, f->L[i * n + j], x[j]));
    }
    x[i] = mul(k, x[i], f->inverse[i]);
  }
}

/* q + factor h ((1 - theta) v + theta w) */
static void advance(saltusi_kernel_writer* k, double factor, const int* w, int* q) {
  const double h = k->def->settings->h, theta = k->o->theta;
  for (int i = 0; i < k->n; i++) {
    const int mean =
        w == k->v ? k->v[i]
                  : add(k, mul(k, number(k, 1.0 - theta), k->v[i]), mul(k, number(k, theta), w[i]));
    q[i] = add(k, k->q[i], mul(k, number(k, factor * h), mean));
  }
}

/* Factors of A and v_free at the iterate w. */
static void linearize(saltusi_kernel_writer* k, const int* w) {
  const double h = k->def->settings->h, theta_h = k->o->theta * h;
  const int n = k->n, t = add(k, k->t, number(k, theta_h));
  int q[DIM], v[DIM];
  advance(k, k->o->theta, w, q);
  for (int i = 0; i < n; i++) {
    v[i] = w == k->v ? k->v[i]
                     : add(k, mul(k, number(k, 1.0 - k->o->theta), k->v[i]),
                           mul(k, number(k, k->o->theta), w[i]));
  }
  const saltusi_line_state at = saltusi_kernel_at(k, t, q, v);
  const double factors[] = {-theta_h, -theta_h * theta_h};
  const int* M = saltusi_model_mass(&k->equations, &at);
  const int* F = saltusi_model_force(&k->equations, &at);
  const int* A = k->l.failed ? NULL : saltusi_model_matrix(&k->equations, &at, factors, M);
  if (k->l.failed) {
    return;
  }
  k->A.n = n;
  memcpy(k->A.L, A, (size_t)(n * n) * sizeof(int));
  saltusi_kernel_eliminate(k, &k->A);
  for (int i = 0; i < n; i++) {
    k->free[i] = mul(k, number(k, h), F[i]);
    for (int j = 0; j < n && w != k->v; j++) {
      k->free[i] = sub(k, k->free[i], mul(k, M[i * n + j], sub(k, w[j], k->v[j])));
    }
  }
  saltusi_kernel_solve(k, &k->A, k->free);
  for (int i = 0; i < n; i++) {
    k->free[i] = add(k, k->free[i], w[i]);
  }
}

/* x := x - X (G A^-1 G^T)^-1 (G x + rest) with the rows of joints; rest NULL: zero. */
static void hold_joints(saltusi_kernel_writer* k, const int* rest, int* x) {
  int impulse[JOINTS];
  for (int r = 0; r < k->nj; r++) {
    impulse[r] = dot(k, k->joint_G[r], x);
    impulse[r] = rest != NULL ? add(k, impulse[r], rest[r]) : impulse[r];
  }
  saltusi_kernel_solve(k, &k->joints, impulse);
  for (int i = 0; i < k->n; i++) {
    for (int r = 0; r < k->nj; r++) {
      x[i] = sub(k, x[i], mul(k, k->joint_X[r][i], impulse[r]));
    }
  }
}

/* Factors of the joints and `held` at the iterate w, as in moreau_step.c: with active contacts the violation before the
 * step is left out. */
static void joint_nodes(saltusi_kernel_writer* k, const int* w) {
  const int width = k->n + 1;
  memcpy(k->held, k->free, sizeof k->held);
  k->joints.n = k->nj;
  if (k->nj == 0) {
    return;
  }
  const double weight = k->o->joints == SALTUS_JOINTS_MEAN && k->o->theta > 0.0 ? k->o->theta : 1.0;
  int q[DIM], rest[JOINTS];
  advance(k, k->o->theta, w, q);
  const saltusi_line_state end =
      saltusi_kernel_at(k, add(k, k->t, number(k, weight * k->def->settings->h)), q, k->v);
  const saltusi_line_state start = saltusi_kernel_at(k, k->t, k->q, k->v);
  const int* rows = saltusi_model_joints(&k->equations, &end);
  const int* before = weight < 1.0 ? saltusi_model_joints(&k->equations, &start) : rows;
  for (int r = 0; r < k->nj && !k->l.failed; r++) {
    const int* own = rows + r * width;
    memcpy(k->joint_G[r], own, (size_t)k->n * sizeof(int));
    memcpy(k->joint_X[r], own, (size_t)k->n * sizeof(int));
    saltusi_kernel_solve(k, &k->A, k->joint_X[r]);
    rest[r] = own[k->n];
    if (weight < 1.0) {
      const int violated = add(k, dot(k, before + r * width, k->v), before[r * width + k->n]);
      const int rate = sub(k, dot(k, own, k->v), mul(k, k->some, violated));
      rest[r] =
          mul(k, number(k, 1.0 / weight), add(k, mul(k, number(k, 1.0 - weight), rate), own[k->n]));
    }
  }
  for (int i = 0; i < k->nj * k->nj && !k->l.failed; i++) {
    k->joints.L[i] = dot(k, k->joint_G[i / k->nj], k->joint_X[i % k->nj]);
  }
  if (!k->l.failed) {
    saltusi_kernel_eliminate(k, &k->joints);
    hold_joints(k, rest, k->held);
  }
}

void saltusi_kernel_rows(saltusi_kernel_writer* k, int c, int count, int t, const int* q,
                         int G[2][DIM], int b[2]) {
  assert(k != NULL && c >= 0 && c < k->nc && count <= 2);
  const saltusi_line_state at = saltusi_kernel_at(k, t, q, k->v);
  const int* rows = saltusi_model_rows(&k->equations, &at, &k->m->contacts[c], count);
  for (int r = 0; r < count && !k->l.failed; r++) {
    memcpy(G[r], rows + r * (k->n + 1), (size_t)k->n * sizeof(int));
    b[r] = rows[r * (k->n + 1) + k->n];
  }
}

static int rows_of(const saltus_contact_law* law, bool mu_is_zero) {
  return mu_is_zero ? 1 : 1 + law->tangents;
}

/* Gaps and rates at the start of the step. */
static void approach(saltusi_kernel_writer* k) {
  const int* gaps = k->nc > 0 ? saltusi_kernel_nodes(k, &k->m->gaps, k->t, k->q, k->v) : NULL;
  for (int c = 0; c < k->nc && !k->l.failed; c++) {
    int G[2][DIM] = {{0}}, b[2] = {0};
    saltusi_kernel_rows(k, c, 1, k->t, k->q, G, b);
    k->gap[c] = gaps[c];
    k->rate[c] = add(k, dot(k, G[0], k->v), b[0]);
  }
}

/* Rows of contact c in the contact problem after v_free at the iterate w. */
static void contact_nodes(saltusi_kernel_writer* k, int c, const int* w) {
  const saltus_contact_law* law = &k->sys->laws[c];
  saltusi_kernel_contact* x = &k->contacts[c];
  const int end = add(k, k->t, number(k, k->def->settings->h));
  const bool constant = (k->sys->traits & SALTUS_CONSTANT_NORMALS) != 0;
  int q[DIM], start[DIM], G0[2][DIM] = {{0}}, b0[2] = {0}, b[2] = {0};
  x->rows = rows_of(law, saltusi_line_is(&k->l, k->mu[c], 0.0));
  saltusi_kernel_rows(k, c, x->rows, k->t, k->q, G0, b0);
  advance(k, k->o->theta, w, q);
  advance(k, k->o->theta, k->v, start);
  if (constant) {
    saltusi_kernel_rows(k, c, x->rows, k->t, k->q, x->G, b);
  } else {
    saltusi_kernel_rows(k, c, x->rows, end, q, x->G, b);
    int moved[2];
    if (k->o->jump == SALTUS_JUMP_MIDPOINT) {
      saltusi_kernel_rows(k, c, x->rows, end, start, G0, moved);
    }
  }
  int change[DIM];
  x->pushed = number(k, 0.0);
  for (int i = 0; i < k->n && !k->l.failed; i++) {
    change[i] = sub(k, k->free[i], k->v[i]);
  }
  for (int r = 0; r < x->rows && !k->l.failed; r++) {
    int pushed = number(k, 0.0);
    for (int i = 0; i < k->n; i++) {
      x->X[r][i] = x->G[r][i];
      pushed = add(k, pushed,
                   saltusi_line_op(&k->l, SALTUSI_ABS, mul(k, x->G[r][i], change[i]), -1, -1));
    }
    x->pushed = r == 0 ? pushed : x->pushed;
    saltusi_kernel_solve(k, &k->A, x->X[r]);
    if (k->nj > 0) {
      hold_joints(k, NULL, x->X[r]);
    }
    x->u0[r] = add(k, dot(k, G0[r], k->v), b0[r]);
    const int e = r == 0 ? k->e_N[c] : k->e_T[c];
    const int rests = saltusi_line_op(&k->l, SALTUSI_LESS_EQUAL,
                                      saltusi_line_op(&k->l, SALTUSI_ABS, x->u0[r], -1, -1),
                                      mul(k, number(k, 1e-14), pushed), -1);
    const int rebound =
        saltusi_line_is(&k->l, e, 0.0)
            ? number(k, 0.0)
            : saltusi_line_op(&k->l, SALTUSI_SELECT, rests, number(k, 0.0), mul(k, e, x->u0[r]));
    x->shift[r] = add(k, b[r], rebound);
  }
  for (int r = 0; r < x->rows; r++) {
    for (int s = 0; s < x->rows && !k->l.failed; s++) {
      x->W[r][s] = dot(k, x->G[r], x->X[s]);
    }
  }
}

/* ---- what is treated ---- */

static const char* reason_of_contacts(const saltus_system* sys) {
  for (int i = 0; i < sys->dims.nc; i++) {
    const saltus_contact_law* law = &sys->laws[i];
    if (law->tangents > 1 || law->friction != NULL || law->impact != SALTUS_IMPACT_NEWTON ||
        law->impact_mu != 0.0) {
      return "compiled members have Newton's impact law and Coulomb's friction in the plane";
    }
  }
  return NULL;
}

static const char* reason_of_measures(const saltusi_measures* m, bool event) {
  for (int i = 0; i < m->item_count; i++) {
    const saltusi_item* item = &m->items[i];
    const bool counts =
        item->subject == SALTUSI_OF_EVENTS &&
        (item->kind == SALTUS_EVENT_IMPACT || (event && item->kind == SALTUS_EVENT_ACCUMULATION));
    if (!counts && (!saltusi_item_is_function(item) || item->loaded || item->named)) {
      return "compiled members have measures of formulas and gaps, and counts and times of impacts";
    }
  }
  return NULL;
}

static const char* reason_of_moreau(const saltusi_kernel_def* def) {
  const saltus_run_settings* s = def->settings;
  const saltus_moreau_jean_options* o = s->options;
  if (strcmp(s->scheme->name, "moreau-jean") != 0 || s->control != NULL || !(s->h > 0.0) ||
      s->steps <= 0) {
    return "moreau-jean with a fixed step, adaptive and adaptive-dopri5 are compiled";
  }
  return o->speculative != 0 || o->filter != 0 || o->stiffness != 0.0 || o->contact_tol != 0.0
             ? "options speculative, filter, stiffness and contact_tol of moreau-jean are not "
               "compiled"
             : NULL;
}

static bool is_alone(const saltus_scene_view* view) {
  return view->mechanism != NULL && view->system->self == view->mechanism;
}

const saltus_formula_model* saltusi_kernel_model(const saltus_scene_view* view,
                                                 saltus_formula_model* alone) {
  assert(view != NULL && alone != NULL);
  *alone = (saltus_formula_model){.inner = {.system = view->system}};
  return is_alone(view) ? alone : view->system->self;
}

const saltus_observables* saltusi_kernel_observables(const saltus_scene_view* view) {
  assert(view != NULL);
  const saltus_observables* all = view->observables;
  return all != NULL && view->mechanism != NULL ? saltusi_observe_bodies_own(all) : all;
}

/* Bodies and joints; NULL: none of them is a reason. */
static const char* reason_of_bodies(const saltus_scene_view* view, bool event) {
  const saltus_system* sys = view->system;
  if (view->flexible != NULL || view->tree != NULL) {
    return "flexible bodies and joint coordinates are not compiled";
  }
  if (event && (view->mechanism != NULL || sys->dims.nj > 0)) {
    return "bodies and joints are compiled for moreau-jean alone";
  }
  const char* why = view->mechanism != NULL ? saltusi_body_lines_reason(view->mechanism) : NULL;
  if (why != NULL) {
    return why;
  }
  if (view->mechanism != NULL && !is_alone(view) &&
      ((const saltus_formula_model*)sys->self)->inner.first > 0) {
    return "bodies together with coordinates by formula are not compiled";
  }
  return sys->dry_count > 0 || sys->set_valued != NULL ||
                 (sys->structure != NULL && view->mechanism == NULL)
             ? "friction of coordinates and large systems are not compiled"
             : NULL;
}

bool saltusi_kernel_has_events(const saltus_run_settings* settings) {
  assert(settings != NULL);
  const char* name = settings->scheme->name;
  return strcmp(name, "adaptive") == 0 || strcmp(name, "adaptive-dopri5") == 0;
}

static const char* find_reason(const saltusi_kernel_def* def) {
  const saltus_system* sys = def->view->system;
  const bool event = saltusi_kernel_has_events(def->settings);
  const char* bodies = reason_of_bodies(def->view, event);
  if (bodies != NULL) {
    return bodies;
  }
  if (sys->dims.nc > CONTACTS || sys->dims.nv > DIM || sys->dims.nj > JOINTS) {
    return "up to 8 contacts, 18 coordinates and 16 rows of joints are compiled";
  }
  if (def->view->observables != NULL && (def->view->observables->switching != NULL)) {
    return "scenes whose events set inputs are not compiled";
  }
  const char* why = event ? saltusi_event_kernel_reason(def) : reason_of_moreau(def);
  why = why != NULL ? why : reason_of_contacts(sys);
  return why != NULL ? why : reason_of_measures(def->measures, event);
}

static bool is_fixed(const saltusi_kernel_writer* k, int node) {
  return (k->l.nodes[node].classes & ~(unsigned)SALTUSI_LINE_MEMBER) == 0;
}

/* Whether one linear problem is the step: constant mass, forces linear in q and v, constant rows. */
static bool is_linear(saltusi_kernel_writer* k) {
  const saltusi_program* programs[] = {&k->m->mass, &k->m->force_v, &k->m->force_q};
  const bool constant = (k->sys->traits & SALTUS_CONSTANT_NORMALS) != 0 || k->nc + k->nj == 0;
  bool linear = k->o->iterate == 1 || constant;
  if (saltusi_model_mechanism(k->m) != NULL) {
    const unsigned forces = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
    return linear && (k->o->iterate == 1 || ((k->sys->traits & SALTUS_CONSTANT_MASS) != 0 &&
                                             (k->sys->traits & forces) != 0));
  }
  for (int p = 0; p < 3 && k->o->iterate != 1; p++) {
    const int* nodes = saltusi_kernel_nodes(k, programs[p], k->t, k->q, k->v);
    for (int i = 0; i < k->n * k->n && !k->l.failed; i++) {
      linear = linear && is_fixed(k, nodes[i]);
    }
  }
  return linear;
}

/* Leaves of inputs, laws and the state. Inputs of the scene itself have their values at the start. */
static void make_leaves(saltusi_kernel_writer* k, bool arrays) {
  const char *u = arrays ? "u[" : "u", *q = arrays ? "q[" : "q", *v = arrays ? "v[" : "v";
  const saltus_scene_view* view = k->def->view;
  const saltus_formula_model* m = k->m;
  const int own = view->input_count - k->layout.axes;
  k->u = SALTUSI_TAKE(&k->pool, int, view->input_count + LOADS + 1);
  k->mu = SALTUSI_TAKE(&k->pool, int, 3 * k->nc + 1);
  if (k->pool.failed) {
    k->l.failed = true;
    return;
  }
  k->e_N = k->mu + k->nc;
  k->e_T = k->e_N + k->nc;
  for (int i = 0; i < view->input_count; i++) {
    k->u[i] = i < own ? number(k, k->def->inputs[i])
                      : saltusi_line_leaf(&k->l, u, i - own, SALTUSI_LINE_MEMBER);
  }
  for (int i = 0; i < LOADS; i++) {
    k->u[view->input_count + i] = number(k, NAN);
  }
  for (int c = 0; c < k->nc; c++) {
    const saltus_contact_law* law = &k->sys->laws[c];
    const double values[] = {law->mu, law->e_N, law->e_T};
    for (int r = 0; r < 3; r++) {
      k->mu[r * k->nc + c] =
          saltusi_formula_member_law(m, c, r) != NULL
              ? saltusi_line_leaf(&k->l, u, k->layout.axes + 3 * c + r, SALTUSI_LINE_MEMBER)
              : number(k, values[r]);
    }
  }
  k->t = saltusi_line_leaf(&k->l, "t", -1, SALTUSI_LINE_STEP);
  k->some =
      k->nc > 0 ? saltusi_line_leaf(&k->l, "any_active", -1, SALTUSI_LINE_STEP) : number(k, 0.0);
  for (int i = 0; i < k->n; i++) {
    k->q[i] = saltusi_line_leaf(&k->l, q, i, SALTUSI_LINE_STEP);
    k->v[i] = saltusi_line_leaf(&k->l, v, i, SALTUSI_LINE_STEP);
    k->w[i] = saltusi_line_leaf(&k->l, "w", i, SALTUSI_LINE_ITERATION);
  }
}

/* Nodes of a step of moreau-jean. */
static void make_step(saltusi_kernel_writer* k) {
  k->once = is_linear(k);
  approach(k);
  linearize(k, k->once ? k->v : k->w);
  joint_nodes(k, k->once ? k->v : k->w);
  for (int c = 0; c < k->nc && !k->l.failed; c++) {
    contact_nodes(k, c, k->once ? k->v : k->w);
  }
}

saltus_status saltusi_kernel_write(const saltusi_kernel_def* def, saltusi_bytes* source,
                                   saltusi_kernel_layout* layout, const char** why) {
  assert(def != NULL && source != NULL && layout != NULL && why != NULL);
  *why = find_reason(def);
  if (*why != NULL) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  const saltus_system* sys = def->view->system;
  const bool event = saltusi_kernel_has_events(def->settings);
  saltus_formula_model alone;
  saltusi_kernel_writer k = {.def = def,
                             .o = def->settings->options,
                             .sys = sys,
                             .m = saltusi_kernel_model(def->view, &alone),
                             .out = source,
                             .n = sys->dims.nv,
                             .nc = sys->dims.nc,
                             .nj = sys->dims.nj,
                             .pool = saltusi_pool_over(NULL)};
  k.layout = *layout; /* axes is given */
  k.layout.inputs = layout->axes + 3 * k.nc;
  k.layout.q = 0;
  k.layout.v = k.n;
  k.layout.bad = 2 * k.n;
  k.layout.items = 2 * k.n + 1;
  k.layout.event = k.layout.items + 2 * def->measures->item_count;
  k.layout.pending = event ? k.layout.event + SALTUSI_KERNEL_EVENT + k.n : -1;
  k.layout.rows = event ? k.layout.pending + 1 : k.layout.event;
  saltusi_lines_start(&k.l, source->memory, false);
  k.l.forms = forms;
  k.l.type = "R";
  k.equations = (saltusi_model_lines){.lines = &k.l, .pool = &k.pool, .sys = sys, .m = k.m};
  make_leaves(&k, event);
  if (!event && !k.l.failed) {
    make_step(&k);
  }
  if (!k.l.failed) {
    saltusi_bytes_text(source, saltusi_kernel_prelude);
    event ? saltusi_event_kernel_text(&k) : saltusi_kernel_text(&k);
  }
  const bool missing = k.l.missing != NULL, failed = k.l.failed || source->failed;
  saltusi_lines_free(&k.l);
  saltusi_pool_free(&k.pool);
  *why = missing   ? "a function of its formulas is not compiled"
         : k.kinks ? "integrals of formulas with abs, sign, min, max or conditions are not compiled"
                   : NULL;
  *layout = k.layout;
  return *why != NULL ? SALTUS_ERR_UNSUPPORTED : failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}
