/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * system.c - the system of a mechanism: sizes, structure, labels, callbacks.
 */
#include "body/constraint_hessian.h"
#include "body/contacts.h"
#include "body/define.h"
#include "body/enclosure.h"
#include "body/forces.h"

#include <assert.h>
#include <string.h>

/* ---- labels ---- */

typedef struct word {
  const char *name, *unit;
} word;

static const word plane_q[] = {{".x", "m"}, {".y", "m"}, {".angle", "rad"}};
static const word plane_v[] = {{".x'", "m/s"}, {".y'", "m/s"}, {".angle'", "rad/s"}};
static const word space_q[] = {{".x", "m"},  {".y", "m"},  {".z", "m"}, {".qw", "1"},
                               {".qx", "1"}, {".qy", "1"}, {".qz", "1"}};
static const word space_v[] = {{".x'", "m/s"},   {".y'", "m/s"},   {".z'", "m/s"},
                               {".wx", "rad/s"}, {".wy", "rad/s"}, {".wz", "rad/s"}};

static void label_bodies(saltus_mechanism* m, const word* words, int count, saltus_label* labels) {
  for (int i = 0; i < m->free_count; i++) {
    for (int k = 0; k < count && !m->pool.failed; k++) {
      labels[count * i + k].name =
          saltusi_pool_join(&m->pool, m->bodies[m->free_bodies[i]].name, words[k].name);
      labels[count * i + k].unit = words[k].unit;
    }
  }
}

static saltus_status label(saltus_mechanism* m) {
  const saltus_dims* dims = &m->system.dims;
  saltus_label* q = SALTUSI_TAKE(&m->pool, saltus_label, dims->nq);
  saltus_label* v = SALTUSI_TAKE(&m->pool, saltus_label, dims->nv);
  const char** rows = SALTUSI_TAKE(&m->pool, const char*, dims->nj);
  if (m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  label_bodies(m, m->plane ? plane_q : space_q, m->plane ? 3 : 7, q);
  label_bodies(m, m->plane ? plane_v : space_v, m->plane ? 3 : 6, v);
  for (int i = 0; i < m->angle_count && !m->pool.failed; i++) {
    q[m->angles[i].q].name =
        saltusi_pool_join(&m->pool, m->angles[i].name, m->angles[i].driven ? ".turned" : ".angle");
    q[m->angles[i].q].unit = "rad";
  }
  for (int i = 0; i < m->joint_count; i++) {
    for (int r = 0; r < m->joints[i].rows; r++) {
      rows[m->joints[i].row + r] = m->joints[i].name;
    }
  }
  m->system.q_labels = q;
  m->system.v_labels = v;
  m->system.joint_names = dims->nj > 0 ? rows : NULL;
  return m->pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

/* ---- structure ---- */

static int block_of(const saltus_mechanism* m, int marker) {
  const int v = m->bodies[m->markers[marker].body].v;
  return v < 0 ? -1 : v / (m->plane ? 3 : 6);
}

/* Forces by body. */
static saltus_status list_pulls(saltus_mechanism* m) {
  m->pull_start = SALTUSI_TAKE(&m->pool, int, m->free_count + 1);
  m->pulls = SALTUSI_TAKE(&m->pool, int, 2 * m->force_count);
  int* next = SALTUSI_TAKE(&m->pool, int, m->free_count);
  if (m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < 2 * m->force_count; i++) {
    const int block = m->forces[i / 2].block[i % 2];
    if (block >= 0) {
      m->pull_start[block + 1]++;
    }
  }
  for (int i = 0; i < m->free_count; i++) {
    next[i] = m->pull_start[i];
    m->pull_start[i + 1] += m->pull_start[i];
  }
  for (int i = 0; i < 2 * m->force_count; i++) {
    const int block = m->forces[i / 2].block[i % 2];
    if (block >= 0) {
      m->pulls[next[block]++] = i / 2;
    }
  }
  return SALTUS_OK;
}

/* Sorts loads by body; order is kept within a body. */
static saltus_status list_loads(saltus_mechanism* m) {
  m->load_first = SALTUSI_TAKE(&m->pool, int, m->free_count);
  m->load_next = SALTUSI_TAKE(&m->pool, int, m->load_count);
  if (m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int b = 0; b < m->free_count; b++) {
    m->load_first[b] = -1;
  }
  for (int i = m->load_count - 1; i >= 0; i--) {
    const int block = block_of(m, m->loads[i].marker);
    if (block >= 0) {
      m->load_next[i] = m->load_first[block];
      m->load_first[block] = i;
    }
  }
  return SALTUS_OK;
}

/* Index of the pair of two blocks; added if missing. */
static int pair_of(saltus_structure* s, int* pair, int i, int j) {
  const int low = i < j ? i : j, high = i < j ? j : i;
  for (int k = s->pairs - 1; k >= 0; k--) {
    if (pair[2 * k] == low && pair[2 * k + 1] == high) {
      return k;
    }
  }
  pair[2 * s->pairs] = low;
  pair[2 * s->pairs + 1] = high;
  return s->pairs++;
}

static saltus_status structure(saltus_mechanism* m) {
  int* start = SALTUSI_TAKE(&m->pool, int, m->free_count + 1);
  int* pair = SALTUSI_TAKE(&m->pool, int, 2 * m->force_count);
  int* first = SALTUSI_TAKE(&m->pool, int, m->joint_count + 1);
  if (m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i <= m->free_count; i++) {
    start[i] = i * (m->plane ? 3 : 6);
  }
  m->structure = (saltus_structure){.blocks = m->free_count, .start = start, .pair = pair};
  for (int i = 0; i < m->force_count; i++) {
    saltusi_force_along* f = &m->forces[i];
    for (int k = 0; k < 2; k++) {
      f->block[k] = block_of(m, f->link->marker[0][k]);
    }
    const bool both = f->block[0] >= 0 && f->block[1] >= 0;
    f->pair = both ? pair_of(&m->structure, pair, f->block[0], f->block[1]) : -1;
  }
  for (int i = 0; i < m->joint_count; i++) {
    first[i + 1] = first[i] + m->joints[i].rows;
  }
  m->system.structure = &m->structure;
  m->system.joint_count = m->joint_count;
  m->system.joint_first = m->joint_count > 0 ? first : NULL;
  return SALTUS_OK;
}

/* ---- the rest ---- */

static unsigned traits_of(const saltus_mechanism* m) {
  bool round = true, constant = true, affine = true;
  for (int i = 0; i < m->free_count; i++) {
    round = round && m->bodies[m->free_bodies[i]].round;
  }
  for (int i = 0; i < m->force_count; i++) {
    const saltusi_force_along* f = &m->forces[i];
    const bool plane = f->row->term[0].kind == SALTUSI_TERM_PLANE;
    affine = affine && plane;
    constant = constant && plane && f->stiffness == 0.0 && f->damping == 0.0;
  }
  constant = constant && m->load_count == 0;
  affine = affine && m->load_count == 0;
  unsigned traits = SALTUS_CONSTANT_MASS;
  traits |= round && constant ? SALTUS_FREE_FORCE : 0U;
  traits |= round && affine ? SALTUS_LINEAR_FORCE : 0U;
  const bool shapes = m->world != NULL;
  traits |= m->system.dims.nj == 0 && m->limit_count == 0 && !shapes ? SALTUS_CONSTANT_NORMALS : 0U;
  traits |= shapes ? SALTUS_CHANGING_CONTACTS : 0U;
  bool still = true;
  for (int i = 0; i < m->body_count; i++) {
    still = still && m->bodies[i].kind != SALTUS_BODY_DRIVEN;
  }
  traits |= still ? SALTUS_STILL_OBSTACLES : 0U;
  return traits;
}

static bool reads_angle(const saltusi_joint_row* row) {
  bool reads = false;
  for (int i = 0; i < row->terms; i++) {
    reads = reads || (row->term[i].kind == SALTUSI_TERM_ANGLE && row->term[i].q >= 0);
  }
  return reads;
}

/* Whether some joint or force depends on an unwrapped angle. */
static bool angles_count(const saltus_mechanism* m) {
  bool count = false;
  for (int r = 0; r < m->system.dims.nj; r++) {
    count = count || reads_angle(&m->rows[r]);
  }
  for (int i = 0; i < m->force_count; i++) {
    count = count || reads_angle(m->forces[i].row);
  }
  return count;
}

static void set_ops(saltus_mechanism* m) {
  m->ops = (saltus_system_ops){
      .mass = saltusi_mechanism_mass,
      .force = saltusi_mechanism_force,
      .force_q = saltusi_mechanism_force_q,
      .force_v = saltusi_mechanism_force_v,
      .spring_q = saltusi_mechanism_spring_q,
      .spring_v = saltusi_mechanism_spring_v,
      .blocks = saltusi_mechanism_blocks,
      .kinetic = saltusi_mechanism_kinetic,
      .potential = saltusi_mechanism_potential,
      .power = saltusi_mechanism_power,
      .enclosure = saltusi_mechanism_enclosure(m),
      .obstacle = saltusi_mechanism_step_failure,
  };
  if (m->limit_count > 0) {
    m->ops.contacts = saltusi_mechanism_contacts;
    m->ops.contact = saltusi_mechanism_contact;
  }
  if (m->dry_count > 0) {
    m->ops.dry = saltusi_mechanism_dry;
  }
  if (m->world != NULL) {
    m->ops.contacts = saltusi_shapes_contacts;
    m->ops.contact = saltusi_shapes_contact;
    m->ops.gaps = saltusi_shapes_gaps;
    m->ops.place = saltusi_shapes_place;
    m->ops.sweep = saltusi_shapes_swept_query;
    m->ops.guards = saltusi_shapes_guards;
    m->ops.contact_text = saltusi_shapes_contact_text;
  }
  if (m->joint_count > 0) {
    m->ops.joints = saltusi_mechanism_joints;
    m->ops.joint = saltusi_mechanism_joint;
    m->ops.joint_hessian = saltusi_mechanism_joint_hessian;
    m->ops.joints_act = saltusi_mechanism_joints_act;
  }
  if (!m->plane) {
    m->ops.rate = saltusi_mechanism_rate;
    m->ops.advance = saltusi_mechanism_advance;
    m->ops.advance_within = angles_count(m) ? NULL : saltusi_mechanism_advance_bodies;
    m->ops.difference = saltusi_mechanism_difference;
    m->ops.normalise = saltusi_mechanism_normalise;
    m->ops.turn_momentum = saltusi_mechanism_turn_momentum;
  }
}

static saltus_status list_holds(saltus_mechanism* m) {
  m->holds = SALTUSI_TAKE(&m->pool, saltusi_hold, m->joint_count);
  for (int i = 0; m->holds != NULL && i < m->joint_count; i++) {
    saltusi_hold_fill(m, i, &m->holds[i]);
  }
  return m->holds != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

saltus_status saltusi_define_system(const saltusi_definition* d) {
  assert(d != NULL);
  saltus_mechanism* m = d->m;
  int rows = 0, width = 0;
  for (int i = 0; i < m->joint_count; i++) {
    rows += m->joints[i].rows;
    width = m->joints[i].link.width > width ? m->joints[i].link.width : width;
  }
  const bool shapes = m->world != NULL;
  const int each = m->plane ? 3 : 6;
  const int pair = m->free_count > 1 ? 2 * each : m->free_count * each; /* velocities of two */
  width = shapes && width < pair ? pair : width;
  m->system = (saltus_system){
      .ops = &m->ops,
      .self = m,
      .dims = {.nq = m->free_count * (m->plane ? 3 : 7) + m->angle_count,
               .nv = m->free_count * (m->plane ? 3 : 6),
               .nj = rows,
               .nc = m->limit_count,
               .row_width = width,
               .scratch = shapes ? saltusi_shapes_lay_out(m, NULL, NULL)
                                 : (size_t)(m->body_count + 1) * sizeof(saltusi_pose)},
      .laws = m->laws,
      .law_count = m->law_count,
      .dry = m->dry_count > 0 ? m->dry : NULL,
      .dry_count = m->dry_count,
  };
  m->system.traits = traits_of(m);
  set_ops(m);
  saltus_status status = structure(m);
  status = status == SALTUS_OK ? list_holds(m) : status;
  status = status == SALTUS_OK ? list_pulls(m) : status;
  status = status == SALTUS_OK ? list_loads(m) : status;
  return status == SALTUS_OK ? label(m) : status;
}

const saltus_system* saltus_mechanism_system(const saltus_mechanism* mechanism) {
  assert(mechanism != NULL);
  return &mechanism->system;
}

const double* saltus_mechanism_q0(const saltus_mechanism* mechanism) {
  assert(mechanism != NULL);
  return mechanism->q0;
}

const double* saltus_mechanism_v0(const saltus_mechanism* mechanism) {
  assert(mechanism != NULL);
  return mechanism->v0;
}
