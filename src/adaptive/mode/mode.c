/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mode.c - the dynamics while every contact keeps its status, and the projection onto its constraints
 * (section 3).
 *
 *   rows R      joints, normals of closed contacts, tangents of sticking ones
 *   columns H   the same, with G_N - mu G_T d for contacts that slide in direction d
 *   a = M^-1 (F + H l),    (R^T M^-1 H) l = -(R^T M^-1 F + c)
 *   projection  q <- q - M^-1 G (G^T M^-1 G)^-1 g until g is rounding, then v the same way with U
 */
#include "adaptive/mode/mode.h"
#include "adaptive/mode/friction_mode.h"
#include "math/matrix.h"
#include "saltus/cone.h"

#include <assert.h>
#include <float.h>
#include <string.h>

enum { POSITION_ITERATIONS = 8 };
/* A row whose independent part has a smaller share of its compliance depends on the others: the rounding of W. */
static const double dependent_part = 1e-10;

void saltusi_mode_layout(saltusi_mode_dynamics* m, const saltus_system* sys,
                         const saltusi_layout_tables* o, const saltusi_step_capacity* room,
                         saltus_arena* arena) {
  assert(m != NULL && sys != NULL && o != NULL && room != NULL && arena != NULL);
  saltusi_linear_layout(&m->mass, sys, arena);
  saltusi_rows_layout(&m->row, &sys->dims, o->rows, true, arena);
  saltusi_rows_layout(&m->look, &sys->dims, SALTUS_CONE_ROWS, true, arena);
  saltusi_contact_list_layout(&m->list, &sys->dims, arena);
  saltusi_active_layout(&m->held, o, room, arena);
  m->held.sparse = saltusi_active_layout_sparse(&sys->dims, o->rows, room, arena);
  saltusi_elimination_layout(&m->reduced, o, room, arena);
  m->reduced.sparse = saltusi_active_layout_sparse(&sys->dims, o->nj, room, arena);
  m->gap = SALTUS_PUSH(arena, double, o->nc);
  m->unlisted = SALTUS_PUSH(arena, int, o->nc);
  m->joint_gap = SALTUS_PUSH(arena, double, o->nj);
  m->pressed = SALTUS_PUSH(arena, int, o->nc);
  m->x = SALTUS_PUSH(arena, double, o->nv);
  m->q = SALTUS_PUSH(arena, double, o->nq);
  m->rate = SALTUS_PUSH(arena, double, o->ny);
  m->y = SALTUS_PUSH(arena, double, o->nq + o->nv);
  m->reached = SALTUS_PUSH(arena, int, o->nv);
  m->reaction = SALTUS_PUSH(arena, double, sys->dry_count);
}

saltus_status saltusi_mode_gaps(saltusi_mode_dynamics* m, double t, const double* q) {
  assert(m != NULL);
  saltus_point at = saltusi_at(m->eval, t, q, NULL);
  if (m->o->featured) {
    return saltusi_feature_gaps(m, &at);
  }
  saltus_status status = SALTUS_OK;
  m->list.count = m->o->contacts > 0 ? m->list.count : 0;
  if (m->o->contacts > 0) {
    status = saltusi_contacts(m->sys, &at, &m->list);
  }
  for (int key = 0; key < m->o->nc; key++) {
    m->gap[key] = INFINITY;
  }
  for (int i = 0; status == SALTUS_OK && i < m->list.count; i++) {
    m->gap[m->list.key[i]] = m->list.gap[i];
  }
  return status == SALTUS_OK && at.keys != NULL ? saltusi_collect_gaps(m, &at) : status;
}

saltus_status saltusi_mode_gap(saltusi_mode_dynamics* m, double t, const double* q, int key,
                               double* gap) {
  assert(m != NULL && q != NULL && gap != NULL && key >= 0);
  const saltus_point at = saltusi_at(m->eval, t, q, NULL);
  saltus_status status = SALTUS_OK;
  if (m->sys->ops->gaps == NULL) {
    status = saltusi_mode_gaps(m, t, q);
  } else if (at.keys != NULL) {
    status = saltusi_keys_gaps(at.keys, m->sys, &at, &key, 1, m->gap);
  } else {
    const uint64_t identity = (uint64_t)key;
    status = m->sys->ops->gaps(m->sys->self, &at, 1, &identity, &m->gap[key]);
  }
  *gap = m->gap[key];
  return status;
}

/* Contacts whose rows are evaluated. */
typedef enum wanted_rows { NONE, CLOSED, EVERY } wanted_rows;

static void copy_row(saltusi_row_block* rows, int from, int to) {
  size_t stride = (size_t)rows->stride;
  memcpy(rows->G + (size_t)to * stride, rows->G + (size_t)from * stride, stride * sizeof(double));
  if (rows->column != NULL) {
    memcpy(rows->column + (size_t)to * stride, rows->column + (size_t)from * stride,
           stride * sizeof(int));
  }
  rows->entries[to] = rows->entries[from];
  rows->b[to] = rows->b[from];
  rows->c[to] = rows->c[from];
}

static void swap_numbers(double* a, double* b) {
  double was = *a;
  *a = *b;
  *b = was;
}

/* Rows of one contact share their columns. */
static void swap_rows(saltusi_row_block* rows, int a, int b) {
  size_t stride = (size_t)rows->stride;
  for (size_t k = 0; k < stride; k++) {
    swap_numbers(&rows->G[(size_t)a * stride + k], &rows->G[(size_t)b * stride + k]);
  }
  swap_numbers(&rows->b[a], &rows->b[b]);
  swap_numbers(&rows->c[a], &rows->c[b]);
}

/* Spin of a patch as a slip (friction_mode.h). */
static void scale_spin(const saltusi_mode_dynamics* m, int key, saltusi_row_block* rows,
                       int first) {
  const double scale = saltusi_friction_mode_spin(m->o, key);
  if (scale == 0.0) {
    return;
  }
  int row = first + m->o->tangents[key];
  /* slips first, then rolling: in the order of systems spin is the last */
  for (int r = first + saltus_contact_rows(m->o->law[key]) - 1; r > row; r--) {
    swap_rows(rows, r, r - 1);
  }
  double* G = rows->G + (size_t)row * (size_t)rows->stride;
  for (int k = 0; k < rows->entries[row]; k++) {
    G[k] *= scale;
  }
  rows->b[row] *= scale;
  rows->c[row] *= scale;
}

/* Rows of a contact: of slip, and of its rolling and drilling friction if it has a law of its own. */
static int count_rows(const saltusi_mode_dynamics* m, int key) {
  return m->o->nc > m->o->contacts ? saltus_contact_rows(m->o->law[key]) : 1 + m->o->tangents[key];
}

/* The row of dry friction is in the position of the first tangent of a contact, without a gap. */
static void evaluate_dry(const saltusi_mode_dynamics* m, const saltus_point* at, int key,
                         saltusi_row_block* rows, int first) {
  saltusi_rows_dry(m->sys, at, key - (m->o->nc - m->sys->dry_count), rows, first + 1);
  copy_row(rows, first + 1, first);
  memset(rows->G + (size_t)first * (size_t)rows->stride, 0, (size_t)rows->stride * sizeof(double));
  rows->b[first] = rows->c[first] = 0.0;
}

/* Rows of an open contact; features that do not touch may have no normal, and no rows then. */
static void peek_rows(saltusi_mode_dynamics* m, const saltus_point* at, int key, int count,
                      int first) {
  if (!m->o->featured) {
    saltusi_rows_peek(m->sys, at, key, count, &m->row, first);
    return;
  }
  saltus_point aside = *at;
  aside.failure = NULL;
  saltusi_rows_peek(m->sys, &aside, key, count, &m->row, first);
}

/* Rows of contacts with laws beyond Coulomb's, and of dry friction. */
static void evaluate_special(saltusi_mode_dynamics* m, const saltus_point* at, wanted_rows wanted) {
  for (int key = 0; key < m->o->contacts; key++) {
    int first = m->o->nj + m->o->base[key];
    int count = count_rows(m, key);
    if (saltusi_is_closed(&m->contact[key])) {
      saltusi_rows_contact(m->sys, at, key, count, &m->row, first);
    } else if (wanted == EVERY) {
      peek_rows(m, at, key, count, first);
    } else {
      continue;
    }
    scale_spin(m, key, &m->row, first);
  }
  for (int key = m->o->contacts; key < m->o->nc; key++) {
    if (saltusi_is_dry(m->o, key)) {
      evaluate_dry(m, at, key, &m->row, m->o->nj + m->o->base[key]);
    }
  }
}

static void evaluate_rows(saltusi_mode_dynamics* m, const saltus_point* at, wanted_rows wanted) {
  const saltusi_layout_tables* o = m->o;
  const int contacts = wanted == NONE || o->special ? 0 : o->contacts;
  saltusi_rows_joints(m->sys, at, &m->row);
  for (int key = 0; key < contacts; key++) {
    if (saltusi_is_closed(&m->contact[key])) {
      saltusi_rows_contact(m->sys, at, key, 1 + o->tangents[key], &m->row, o->nj + o->base[key]);
    } else if (wanted == EVERY) {
      peek_rows(m, at, key, 1 + o->tangents[key], o->nj + o->base[key]);
    }
  }
  if (o->special && wanted != NONE) {
    evaluate_special(m, at, wanted);
  }
  if (o->settings.without_curvature) {
    memset(m->row.c, 0, (size_t)o->rows * sizeof(double));
  }
}

void saltusi_mode_rows(saltusi_mode_dynamics* m, double t, const double* y, bool every) {
  assert(m != NULL);
  saltus_point at = saltusi_at(m->eval, t, y, saltusi_v_of(m->o, y));
  evaluate_rows(m, &at, every ? EVERY : CLOSED);
}

void saltusi_mode_look(saltusi_mode_dynamics* m, double t, const double* y, int key) {
  assert(m != NULL && key >= 0);
  saltus_point at = saltusi_at(m->eval, t, y, saltusi_v_of(m->o, y));
  if (saltusi_is_dry(m->o, key)) {
    evaluate_dry(m, &at, key, &m->look, 0);
    return;
  }
  int owner = saltusi_owner(m->o, key);
  if (m->o->featured && !saltusi_is_closed(&m->contact[owner])) {
    at.failure = NULL; /* features that do not touch may have no normal, and no rows then */
  }
  if (!m->o->special) {
    saltusi_rows_peek(m->sys, &at, key, 1 + m->o->tangents[key], &m->look, 0);
    return;
  }
  saltusi_rows_peek(m->sys, &at, owner, count_rows(m, owner), &m->look, 0);
  scale_spin(m, owner, &m->look, 0);
  /* rows of rolling and drilling follow those of slip */
  int shift = m->o->base[key] - m->o->base[owner];
  for (int k = 1; shift > 0 && k <= m->o->tangents[key]; k++) {
    copy_row(&m->look, shift + k, k);
  }
}

double saltusi_mode_velocity(saltusi_mode_dynamics* m, double t, const double* y, int key, int k) {
  assert(m != NULL && key >= 0);
  saltusi_mode_look(m, t, y, key);
  return saltusi_row_dot(&m->look, k, saltusi_v_of(m->o, y)) + m->look.b[k];
}

/* A force on a row, into x [nv] or l [nl]. */
static void add_force(const saltusi_mode_dynamics* m, int row, double force, double* x, double* l) {
  if (x != NULL) {
    saltusi_row_add(&m->row, row, force, x);
  } else {
    l[row - m->o->nj] += force;
  }
}

/* Forces of closed contacts other than the reaction of their constraint (friction_mode.h): x [nv] += G l, or l
 * [nl] of their rows. Rows must be evaluated. */
static void add_pulls(const saltusi_mode_dynamics* m, const double* v, double* x, double* l) {
  for (int key = 0; key < m->o->nc; key++) {
    int first = m->o->nj + m->o->base[key];
    if (saltusi_is_dry(m->o, key)) {
      double limit = saltusi_dry_limit(m, key);
      saltusi_contact_mode mode = m->contact[key].mode;
      bool slides = (mode == SALTUSI_SLIP || mode == SALTUSI_STICK_BOUND) && !m->without_dry;
      add_force(m, first, limit, x, l);
      add_force(m, first + 1, slides ? -limit * m->contact[key].sense : 0.0, x, l);
      continue;
    }
    if (m->o->law[key]->friction == NULL || !saltusi_is_closed(&m->contact[key])) {
      continue;
    }
    double viscous = saltusi_friction_mode_viscous(m->o, key);
    int rows = viscous > 0.0 ? 1 + m->o->law[key]->tangents : 1;
    for (int k = 0; k < rows; k++) {
      int row = first + k;
      double u = k > 0 ? saltusi_row_dot(&m->row, row, v) + m->row.b[row] : 0.0;
      double scale = k == 2 ? saltusi_friction_scale(m->o->law[key]) : 1.0;
      double force = k > 0 ? -viscous * u / (scale * scale)
                           : -saltusi_friction_mode_pull(m->o, &m->contact[key], key);
      add_force(m, row, force, x, l);
    }
  }
}

double saltusi_dry_limit(const saltusi_mode_dynamics* m, int key) {
  assert(m != NULL && saltusi_is_dry(m->o, key));
  int i = key - (m->o->nc - m->sys->dry_count);
  return m->sys->dry[i].force + m->sys->dry[i].arm * m->reaction[i];
}

/* Reactions that determine limits of dry friction, from forces of joints. Returns the largest relative change of
 * an active limit. */
static double find_reactions(saltusi_mode_dynamics* m, const double* joints) {
  double change = 0.0;
  for (int i = 0; i < m->sys->dry_count; i++) {
    const saltus_dry_friction* dry = &m->sys->dry[i];
    if (dry->arm == 0.0) {
      continue;
    }
    int first = saltusi_joint_first(m->sys, dry->joint);
    int rows = saltusi_joint_rows(m->sys, dry->joint);
    rows = dry->reaction_rows > 0 && dry->reaction_rows < rows ? dry->reaction_rows : rows;
    double size = sqrt(saltusi_dot(rows, joints + first, joints + first));
    bool slides = m->contact[m->o->nc - m->sys->dry_count + i].mode == SALTUSI_SLIP;
    if (slides && size != m->reaction[i]) {
      change = fmax(change, fabs(size - m->reaction[i]) / fmax(size, m->reaction[i]));
    }
    m->reaction[i] = size;
  }
  return change;
}

/* v' with the active rows; joints and closed contacts, or joints alone. */
static saltus_status accelerate(saltusi_mode_dynamics* m, double t, const double* y, bool contacts,
                                double* a) {
  const double* v = saltusi_v_of(m->o, y);
  saltusi_active_constraints* h = &m->held;
  saltus_point at = saltusi_at(m->eval, t, y, v);
  m->counts->rates++;
  saltus_status status = saltusi_linear_assemble(m->eval, &m->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(m->eval, &at, a);
  if (m->o->pulled) {
    evaluate_rows(m, &at, CLOSED);
    add_pulls(m, v, a, NULL);
  }
  saltusi_linear_solve(m->eval, &m->mass, a);
  h->dependent = false;
  saltusi_active_joints(m);
  if (contacts) {
    saltusi_active_contacts(m, true);
  }
  if (h->count == 0) {
    return SALTUS_OK;
  }
  if (saltusi_active_may_distribute_load(m)) {
    memset(h->shared, 0, (size_t)m->o->nc * sizeof(bool));
  }
  evaluate_rows(m, &at, contacts ? CLOSED : NONE);
  if (contacts) {
    saltusi_active_directions(m, v);
  }
  if (h->known && m->o->nj > 0) {
    status = saltusi_active_balance_joints(m, a);
  }
  int islands = saltusi_active_islands(m);
  for (int c = 0; c < islands && status == SALTUS_OK; c++) {
    saltusi_island in = saltusi_active_island(m, c);
    status = saltusi_active_make(m, &in, true);
    if (status == SALTUS_OK && h->known) {
      saltusi_active_redundant_forces(m, &in, a);
    }
    for (int i = in.first; i < in.first + in.n; i++) {
      int row = h->row[i];
      h->right[i] = -(saltusi_row_dot(&m->row, row, a) + m->row.c[row]);
    }
    if (status == SALTUS_OK && (m->o->spatial || saltusi_active_is_sparse(m, &in))) {
      status = saltusi_active_distribute_load(m, &in, a);
    } else if (status == SALTUS_OK) {
      status = saltusi_active_solve(m, &in);
      if (status == SALTUS_OK) {
        saltusi_active_limit(m, &in);
        saltusi_active_apply(m, &in, 1.0, a);
      }
    }
    if (status == SALTUS_OK && h->known) {
      saltusi_active_add_redundant_forces(m, &in);
    }
  }
  return status;
}

/* Power of the rows other than slip of a contact: rolling, drilling and dry friction, the spin of patches. */
static void find_powers(const saltusi_mode_dynamics* m, const double* v, double* forces) {
  double* power = forces + m->o->nl + m->o->nj;
  power[0] = power[1] = 0.0;
  for (int key = 0; key < m->o->nc; key++) {
    int first = key < m->o->contacts ? 1 + m->o->law[key]->tangents : 1;
    for (int k = first; saltusi_is_closed(&m->contact[key]) && k <= m->o->tangents[key]; k++) {
      int row = m->o->nj + m->o->base[key] + k;
      double force = forces[m->o->base[key] + k];
      power[0] += force * (saltusi_row_dot(&m->row, row, v) + m->row.b[row]);
      power[1] -= force * m->row.b[row];
    }
  }
}

saltus_status saltusi_mode_free(saltusi_mode_dynamics* m, double t, const double* y, double* a) {
  assert(m != NULL);
  m->without_dry = true;
  saltus_status status = accelerate(m, t, y, false, a);
  m->without_dry = false;
  return status;
}

/* v' with limits of dry friction that depend on reactions, by a fixed point to some eps. */
static saltus_status follow_reactions(saltusi_mode_dynamics* m, double t, const double* y,
                                      double* rate) {
  enum { MOST = 60 };
  double* forces = rate + m->o->nq + m->o->nv;
  double change = INFINITY;
  for (int k = 0; k < MOST && change > 16.0 * DBL_EPSILON; k++) {
    saltus_status status = accelerate(m, t, y, true, rate + m->o->nq);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_active_forces(m, forces, forces + m->o->nl);
    change = find_reactions(m, forces + m->o->nl);
  }
  /* the fixed point diverges: the friction that the limit permits presses the joint */
  return change > 1e-9 ? SALTUS_RETRY_SMALLER : SALTUS_OK;
}

saltus_status saltusi_mode_rate(saltusi_mode_dynamics* m, double t, const double* y, double* rate) {
  assert(m != NULL);
  saltus_status status = SALTUS_OK;
  if (m->on_surface) {
    memcpy(m->y, y, (size_t)(m->o->nq + m->o->nv) * sizeof(double));
    y = m->y;
    status = saltusi_mode_project(m, t, m->y);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  const double* v = saltusi_v_of(m->o, y);
  double* forces = rate + m->o->nq + m->o->nv;
  status = m->sys->dry_count > 0 ? follow_reactions(m, t, y, rate)
                                 : accelerate(m, t, y, true, rate + m->o->nq);
  if (status == SALTUS_OK) {
    saltusi_active_forces(m, forces, forces + m->o->nl);
    if (m->o->pulled) {
      add_pulls(m, v, NULL, forces);
    }
    if (m->o->works > 0) {
      find_powers(m, v, forces);
    }
    if (m->sys->ops->rate != NULL) {
      m->sys->ops->rate(m->sys->self, y, v, rate);
    } else {
      memcpy(rate, v, (size_t)m->o->nv * sizeof(double));
    }
  }
  return status;
}

saltus_status saltusi_mode_idle_load(saltusi_mode_dynamics* m, int key, const double* forces,
                                     double* load, bool* implied) {
  assert(m != NULL && key >= 0 && forces != NULL && load != NULL && implied != NULL);
  saltusi_active_constraints* h = &m->held;
  saltus_status status = SALTUS_OK;
  const int row = m->o->nj + m->o->base[key];
  memset(m->x, 0, (size_t)m->o->nv * sizeof(double));
  saltusi_row_add(&m->row, row, 1.0, m->x);
  saltusi_linear_solve(m->eval, &m->mass, m->x);
  saltusi_active_joints(m);
  saltusi_active_contacts(m, true);
  const int islands = saltusi_active_islands(m);
  const double compliance = saltusi_row_dot(&m->row, row, m->x);
  double rest = compliance; /* of the part of its row that is independent of the others */
  *load = 0.0;
  for (int c = 0; c < islands && status == SALTUS_OK; c++) {
    const saltusi_island in = saltusi_active_island(m, c);
    status = saltusi_active_make(m, &in, false);
    for (int i = in.first; i < in.first + in.n; i++) {
      h->right[i] = saltusi_row_dot(&m->row, h->row[i], m->x);
    }
    status = status == SALTUS_OK ? saltusi_active_solve(m, &in) : status;
    for (int i = in.first; i < in.first + in.n && status == SALTUS_OK; i++) {
      rest -= h->right[i] * saltusi_row_dot(&m->row, h->row[i], m->x);
      *load += h->key[i] < 0 ? 0.0 : h->right[i] * forces[h->row[i] - m->o->nj];
    }
  }
  *implied = rest <= dependent_part * compliance;
  return status;
}

double saltusi_mode_gamma_of(saltusi_mode_dynamics* m, double t, const double* y,
                             const double* rate, int key) {
  assert(m != NULL && key >= 0);
  saltusi_mode_look(m, t, y, key);
  return saltusi_row_dot(&m->look, 0, rate + m->o->nq) + m->look.c[0];
}

saltus_status saltusi_mode_gamma(saltusi_mode_dynamics* m, double t, const double* y, int key,
                                 double* gamma) {
  assert(m != NULL && key >= 0);
  saltus_status status = saltusi_mode_rate(m, t, y, m->rate);
  *gamma = saltusi_mode_gamma_of(m, t, y, m->rate, key);
  return status;
}

saltus_status saltusi_mode_bounce(saltusi_mode_dynamics* m, double t, const double* y, int key,
                                  double* x, double* force) {
  assert(m != NULL && key >= 0);
  saltus_status status = saltusi_mode_rate(m, t, y, m->rate); /* evaluates rows and operator */
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_active_constraints* h = &m->held;
  int row = m->o->nj + m->o->base[key];
  memset(x, 0, (size_t)m->o->nv * sizeof(double));
  memset(h->right, 0, (size_t)h->count * sizeof(double));
  int islands = h->whole ? 1 : h->islands.count;
  for (int c = 0; c < islands; c++) {
    saltusi_island in = saltusi_active_island(m, c);
    bool here = false;
    for (int i = in.first; i < in.first + in.n; i++) {
      h->right[i] = h->row[i] == row ? 1.0 : 0.0;
      here = here || h->row[i] == row;
    }
    if (here) {
      status = h->whole ? SALTUS_OK : saltusi_active_make(m, &in, true);
      status = status == SALTUS_OK ? saltusi_active_solve(m, &in) : status;
      if (status == SALTUS_OK) {
        saltusi_active_apply(m, &in, 1.0, x);
      }
      break;
    }
  }
  if (status == SALTUS_OK && force != NULL) {
    memset(force + m->o->nl, 0, (size_t)m->o->nj * sizeof(double));
    saltusi_active_forces(m, force, force + m->o->nl);
  }
  return status;
}

/* The smallest tolerance over |(P G)_i|, of one row in an island. */
static double reduced_scale(saltusi_mode_dynamics* m, int island, const saltusi_island* in,
                            const double* v, int row) {
  double scale = INFINITY;
  saltusi_reduced_response(m, island, row, m->x);
  for (int a = 0; a < in->k; a++) {
    int velocity = in->local != NULL ? in->velocity[a] : a;
    double x = fabs(m->x[a]);
    double tolerance = m->o->atol_v[velocity] + m->o->settings.rtol * fabs(v[velocity]);
    scale = x > 0.0 ? fmin(scale, tolerance / x) : scale;
  }
  return scale;
}

/* The same with M^-1 in place of P for one row of a large island: without the reaction of the joints the
 * velocities are larger, and the cost is independent of their number. */
static double local_scale(saltusi_mode_dynamics* m, const double* v, int row) {
  size_t at = (size_t)row * (size_t)m->row.stride;
  int count = saltusi_linear_solve_row(m->eval, &m->mass, m->row.entries[row], m->row.column + at,
                                       m->row.G + at, m->reached, m->x);
  double scale = INFINITY;
  for (int a = 0; a < count; a++) {
    int velocity = m->reached[a];
    double x = fabs(m->x[a]);
    double tolerance = m->o->atol_v[velocity] + m->o->settings.rtol * fabs(v[velocity]);
    scale = x > 0.0 ? fmin(scale, tolerance / x) : scale;
  }
  return scale;
}

/* The same for the rolling and drilling friction of a contact. */
static void scale_grips(saltusi_mode_dynamics* m, int island, const saltusi_island* in,
                        const double* v, int key, double* scale_l) {
  bool large = saltusi_is_large(m, in);
  for (int g = 0; g < SALTUSI_GRIPS; g++) {
    int grip = saltusi_friction_mode_of(m->o, key, g);
    for (int k = 1; grip >= 0 && k <= m->o->tangents[grip]; k++) {
      int row = m->o->base[grip] + k;
      scale_l[row] = large ? local_scale(m, v, m->o->nj + row)
                           : reduced_scale(m, island, in, v, m->o->nj + row);
    }
  }
}

/* sc_L = min_i sc_v,i / |(P G)_i|: an impulse error counts as the velocity error that it causes. */
saltus_status saltusi_mode_impulse_scale(saltusi_mode_dynamics* m, double t, const double* y,
                                         double* scale_l) {
  assert(m != NULL);
  int pressed = 0;
  for (int r = 0; r < m->o->nl; r++) {
    scale_l[r] = INFINITY;
  }
  for (int key = 0; key < m->o->nc; key++) {
    if (saltusi_is_pressed(&m->contact[key]) && !saltusi_is_friction_mode(m->o, key)) {
      m->pressed[pressed++] = key;
    }
  }
  if (pressed == 0 || m->o->settings.without_impulses) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_reduce(m, t, y, false, m->pressed, pressed);
  if (status != SALTUS_OK) {
    return status;
  }
  const double* v = saltusi_v_of(m->o, y);
  for (int c = 0; c < saltusi_reduced_islands(m); c++) {
    saltusi_island in = saltusi_reduced_island(m, c);
    bool large = saltusi_is_large(m, &in);
    for (int i = in.first; i < in.first + in.n; i++) {
      int key = m->reduced.key[i];
      for (int k = 0; key >= 0 && k <= m->o->tangents[key]; k++) {
        int row = m->reduced.row[i] + k;
        scale_l[m->o->base[key] + k] =
            large ? local_scale(m, v, row) : reduced_scale(m, c, &in, v, row);
      }
      if (key >= 0) {
        scale_grips(m, c, &in, v, key, scale_l);
      }
    }
  }
  return SALTUS_OK;
}

/* ---- projection ---------------------------------------------------------------------------- */

/* Gaps of the active rows, which are evaluated, into `right`. */
static void write_gaps(saltusi_mode_dynamics* m) {
  saltusi_active_constraints* h = &m->held;
  for (int i = 0; i < h->count; i++) {
    h->right[i] = h->key[i] < 0 ? m->joint_gap[h->row[i]] : m->gap[h->key[i]];
    if (isinf(h->right[i])) {
      h->right[i] = 0.0; /* a contact that is no longer in the list */
    }
  }
}

/* Evaluates the gaps of the active rows; returns the largest. */
static saltus_status held_gaps(saltusi_mode_dynamics* m, double t, const double* q,
                               double* largest) {
  saltus_point at = saltusi_at(m->eval, t, q, NULL);
  saltus_status status = m->o->nc > 0 ? saltusi_mode_gaps(m, t, q) : SALTUS_OK;
  if (m->o->nj > 0) {
    m->sys->ops->joints(m->sys->self, &at, m->joint_gap);
  }
  write_gaps(m);
  *largest = saltusi_max_abs(m->held.count, m->held.right);
  return status;
}

/* Displaces q by -M^-1 G (G^T M^-1 G)^-1 right; rows are active, right is given. */
static saltus_status shift_positions(saltusi_mode_dynamics* m, double* q) {
  saltus_status status = SALTUS_OK;
  memset(m->x, 0, (size_t)m->o->nv * sizeof(double));
  int islands = saltusi_active_islands(m);
  if (!m->held.whole) {
    write_gaps(m); /* the order of rows has changed */
  }
  for (int c = 0; c < islands && status == SALTUS_OK; c++) {
    saltusi_island in = saltusi_active_island(m, c);
    status = saltusi_active_make(m, &in, false);
    status = status == SALTUS_OK ? saltusi_active_solve(m, &in) : status;
    if (status == SALTUS_OK) {
      saltusi_active_apply(m, &in, 1.0, m->x);
    }
  }
  if (status == SALTUS_OK) {
    saltusi_advance(m->sys, q, m->x, -1.0, m->q);
    memcpy(q, m->q, (size_t)m->o->nq * sizeof(double));
  }
  return status;
}

/* Newton's iteration on the gaps of the active rows. */
static saltus_status close_gaps(saltusi_mode_dynamics* m, double t, double* y) {
  double rounding = DBL_EPSILON * m->o->size;
  double last = INFINITY;
  saltus_status status = SALTUS_OK;
  for (int k = 0; status == SALTUS_OK && k < POSITION_ITERATIONS; k++) {
    double largest = 0.0;
    status = held_gaps(m, t, y, &largest);
    bool done = largest <= (k == 0 ? 1.0 : 8.0) * rounding || largest > 0.3 * last;
    if (status != SALTUS_OK || done) {
      break;
    }
    last = largest;
    saltus_point at = saltusi_at(m->eval, t, y, saltusi_v_of(m->o, y));
    status = saltusi_linear_assemble(m->eval, &m->mass, &at, 1.0, 0.0, 0.0);
    if (status == SALTUS_OK) {
      saltusi_mode_rows(m, t, y, true);
      status = shift_positions(m, y);
    }
  }
  return status;
}

saltus_status saltusi_mode_project_positions(saltusi_mode_dynamics* m, double t, double* y,
                                             const int* set, int count) {
  assert(m != NULL);
  saltusi_active_joints(m);
  for (int i = 0; i < count; i++) {
    saltusi_active_add(&m->held, m->o->nj + m->o->base[set[i]], set[i]);
  }
  return m->held.count > 0 ? close_gaps(m, t, y) : SALTUS_OK;
}

/* A perturbation excludes contacts that touch at rest without a force: an approach would cause an impact, and
 * after it the same perturbation, repeatedly. */
static bool is_beside(const saltusi_mode_dynamics* m, const double* v, int key,
                      const saltusi_perturbation* given) {
  const saltusi_contact* c = &m->contact[key];
  const int row = m->o->nj + m->o->base[key];
  return saltusi_touches(c) && !saltusi_is_pressed(c) &&
         fabs(saltusi_row_dot(&m->row, row, v) + m->row.b[row]) <= given->still;
}

/* Excess velocity of an active row. */
static double too_fast(const saltusi_mode_dynamics* m, const double* v, int i,
                       const saltusi_perturbation* given) {
  int row = m->held.row[i];
  int key = m->held.key[i];
  double u = saltusi_row_dot(&m->row, row, v) + m->row.b[row];
  int tangent = key >= 0 ? row - m->o->nj - m->o->base[key] - 1 : -1;
  if (given != NULL && key >= 0 && tangent < 0 && !saltusi_is_pressed(&m->contact[key])) {
    return 0.0; /* not changed */
  }
  return given != NULL && tangent >= 0 && given->on[key]
             ? u - given->u[SALTUSI_SLIPS * key + tangent]
             : u;
}

/* Velocities of the active rows to zero, or to the perturbation; along the normals and tangents, or (friction)
 * along the forces of the mode. */
static saltus_status shift_velocities(saltusi_mode_dynamics* m, double t, double* y,
                                      const saltusi_perturbation* given, bool friction) {
  double* v = y + m->o->nq;
  saltus_point at = saltusi_at(m->eval, t, y, v);
  saltus_status status = saltusi_linear_assemble(m->eval, &m->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_active_joints(m);
  saltusi_active_contacts(m, true);
  m->held.measured =
      m->held.count == m->o->nj; /* singular positions of mechanisms, not of contacts */
  m->held.firmness = m->held.measured ? 1.0 : 0.0;
  for (int key = 0; given != NULL && key < m->o->nc; key++) {
    for (int k = 1; given->on[key] && k <= m->o->tangents[key]; k++) {
      saltusi_active_add(&m->held, m->o->nj + m->o->base[key] + k, key);
    }
  }
  saltusi_mode_rows(m, t, y, given != NULL);
  for (int key = 0; given != NULL && key < m->o->contacts; key++) {
    if (is_beside(m, v, key, given)) {
      saltusi_active_add(&m->held, m->o->nj + m->o->base[key], key);
    }
  }
  if (friction) {
    saltusi_active_directions(m, v);
  }
  int islands = saltusi_active_islands(m);
  for (int i = 0; i < m->held.count; i++) {
    m->held.right[i] = too_fast(m, v, i, given);
  }
  for (int c = 0; c < islands && status == SALTUS_OK; c++) {
    saltusi_island in = saltusi_active_island(m, c);
    status = saltusi_active_make(m, &in, friction);
    status = status == SALTUS_OK ? saltusi_active_solve(m, &in) : status;
    if (status == SALTUS_OK) {
      saltusi_active_apply(m, &in, -1.0, v);
    }
  }
  m->held.measured = false;
  return status;
}

saltus_status saltusi_mode_project_velocity(saltusi_mode_dynamics* m, double t, double* y,
                                            const saltusi_perturbation* perturbation) {
  assert(m != NULL);
  return shift_velocities(m, t, y, perturbation, false);
}

saltus_status saltusi_mode_close_velocity(saltusi_mode_dynamics* m, double t, double* y) {
  assert(m != NULL);
  return shift_velocities(m, t, y, NULL, true);
}

saltus_status saltusi_mode_project_closed(saltusi_mode_dynamics* m, double t, double* y) {
  assert(m != NULL);
  saltusi_active_joints(m);
  saltusi_active_contacts(m, false);
  return m->held.count > 0 ? close_gaps(m, t, y) : SALTUS_OK;
}

saltus_status saltusi_mode_project(saltusi_mode_dynamics* m, double t, double* y) {
  assert(m != NULL);
  saltus_status status = saltusi_mode_project_closed(m, t, y);
  return status == SALTUS_OK && m->held.count > 0 ? saltusi_mode_project_velocity(m, t, y, NULL)
                                                  : status;
}
