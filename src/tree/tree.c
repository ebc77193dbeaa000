/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tree.c - see tree.h: the system, its labels, and callbacks of the inner system at its point.
 */
#include "base/log.h"
#include "base/reserved.h"
#include "tree/kinematic_tree.h"

#include <assert.h>
#include <stdio.h>

/* ---- callbacks of the inner system ---- */

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* l) {
  const saltus_tree* tree = self;
  saltusi_tree_state x;
  const saltus_point p = saltusi_tree_inside(tree, at, &x);
  return tree->inner->ops->contacts(tree->inner->self, &p, l);
}

static saltus_status gaps(const void* self, const saltus_point* at, int count,
                          const uint64_t* identity, double* gap) {
  const saltus_tree* tree = self;
  saltusi_tree_state x;
  const saltus_point p = saltusi_tree_inside(tree, at, &x);
  return tree->inner->ops->gaps(tree->inner->self, &p, count, identity, gap);
}

static saltus_status sweep(const void* self, const saltus_box* over, saltus_contact_list* l) {
  const saltus_tree* tree = self;
  return tree->inner->ops->sweep(tree->inner->self, over, l);
}

static saltus_status place(const void* self, const saltus_point* at, uint64_t identity,
                           saltus_contact_place* out) {
  const saltus_tree* tree = self;
  saltusi_tree_state x;
  const saltus_point p = saltusi_tree_inside(tree, at, &x);
  return tree->inner->ops->place(tree->inner->self, &p, identity, out);
}

static int guards(const void* self, const saltus_point* at, uint64_t identity,
                  double guard[SALTUS_GUARDS]) {
  const saltus_tree* tree = self;
  saltusi_tree_state x;
  const saltus_point p = saltusi_tree_inside(tree, at, &x);
  return tree->inner->ops->guards(tree->inner->self, &p, identity, guard);
}

static void contact_text(const void* self, uint64_t identity, char* text, size_t size) {
  const saltus_tree* tree = self;
  tree->inner->ops->contact_text(tree->inner->self, identity, text, size);
}

static bool obstacle(const void* self, const saltus_point* at, double h, char* text, size_t size) {
  const saltus_tree* tree = self;
  double bodies[SALTUSI_TREE_STACK]; /* there is no scratch after a failure */
  saltus_point p = *at;
  if (tree->inner->dims.nv > SALTUSI_TREE_STACK) {
    return false;
  }
  if (at->v != NULL) {
    saltusi_tree_expand(tree, at->q, at->v, bodies);
    p.v = bodies;
  }
  return tree->inner->ops->obstacle(tree->inner->self, &p, h, text, size);
}

/* ---- rows ---- */

static saltus_status number_rows(saltus_tree* tree) {
  const saltus_system* in = tree->inner;
  saltus_system* s = &tree->system;
  int rows = 0;
  for (int i = 0; i < tree->kept_count; i++) {
    rows += tree->kept[i].rows;
  }
  int* first = SALTUSI_TAKE(&tree->pool, int, tree->kept_count + 1);
  const char** names = SALTUSI_TAKE(&tree->pool, const char*, rows + 1);
  bool* rates = SALTUSI_TAKE(&tree->pool, bool, rows + 1);
  tree->row_of = SALTUSI_TAKE(&tree->pool, int, rows + 1);
  if (tree->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0, row = 0; i < tree->kept_count; i++) {
    const saltusi_tree_kept* k = &tree->kept[i];
    const int from = (in->joint_first != NULL ? in->joint_first[k->joint] : k->joint) + k->first;
    for (int r = 0; r < k->rows; r++, row++) {
      tree->row_of[row] = from + r;
      names[row] = in->joint_names != NULL ? in->joint_names[from + r] : "";
      rates[row] = in->rate_rows != NULL && in->rate_rows[from + r];
    }
    first[i + 1] = row;
  }
  s->dims.nj = rows;
  s->joint_count = tree->kept_count;
  s->joint_first = tree->kept_count > 0 ? first : NULL;
  s->joint_names = rows > 0 && in->joint_names != NULL ? names : NULL;
  s->rate_rows = in->rate_rows != NULL && rows > 0 ? rates : NULL;
  return SALTUS_OK;
}

/* Renumbers the joints of dry friction: rows of joints in the tree do not exist here. */
static saltus_status number_dry(saltus_tree* tree) {
  const saltus_system* in = tree->inner;
  saltus_dry_friction* dry = SALTUSI_TAKE(&tree->pool, saltus_dry_friction, in->dry_count + 1);
  if (dry == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < in->dry_count; i++) {
    dry[i] = in->dry[i];
    for (int k = 0; dry[i].arm > 0.0 && k < tree->kept_count; k++) {
      dry[i].joint = tree->kept[k].joint == in->dry[i].joint ? k : dry[i].joint;
    }
  }
  tree->system.dry = in->dry_count > 0 ? dry : NULL;
  return SALTUS_OK;
}

/* ---- labels ---- */

static const char* rate_name(const saltus_tree* tree, const saltusi_tree_link* l, int k) {
  static const char* const ball[3] = {".wx", ".wy", ".wz"};
  static const char* const planar[3] = {".x_rate", ".y_rate", ".angle_rate"};
  static const char* const universal[2] = {".angle_1_rate", ".angle_2_rate"};
  const int i = l->child == 1 ? k : l->axes - 1 - k;
  switch (l->type) {
  case SALTUS_JOINT_SPHERICAL:
    return ball[k];
  case SALTUS_JOINT_PLANAR:
    return planar[i];
  case SALTUS_JOINT_UNIVERSAL:
    return universal[i];
  default:
    return tree->axis[l->axis + k].kind == SALTUSI_AXIS_SLIDE ? ".position_rate" : ".angle_rate";
  }
}

static saltus_status label(saltus_tree* tree) {
  saltus_label* labels = SALTUSI_TAKE(&tree->pool, saltus_label, tree->axes + 1);
  for (int i = 0; i < tree->links && labels != NULL; i++) {
    const saltusi_tree_link* l = &tree->link[i];
    for (int k = 0; k < l->axes; k++) {
      const int j = l->axis + k;
      if (l->joint < 0) {
        labels[j] = tree->inner->v_labels[l->v + k];
        continue;
      }
      const bool slides = tree->axis[j].kind == SALTUSI_AXIS_SLIDE;
      labels[j].name = saltusi_pool_join(&tree->pool, tree->mechanism->joints[l->joint].name,
                                         rate_name(tree, l, k));
      labels[j].unit = slides ? "m/s" : "rad/s";
    }
  }
  tree->system.v_labels = labels;
  return tree->pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

/* ---- creation ---- */

static void choose_operations(saltus_tree* tree) {
  const saltus_system_ops* in = tree->inner->ops;
  tree->ops = (saltus_system_ops){
      .mass = saltusi_tree_mass,
      .force = saltusi_tree_force,
      .force_q = saltusi_tree_force_q,
      .force_v = saltusi_tree_force_v,
      .mass_q = saltusi_tree_mass_q,
      .kinetic_gradient = saltusi_tree_kinetic_gradient,
      .kinetic = saltusi_tree_kinetic,
      .potential = saltusi_tree_potential,
      .power = in->power != NULL ? saltusi_tree_power : NULL,
      .linear = &saltusi_tree_linear,
      .contacts = in->contacts != NULL ? contacts : NULL,
      .contact = in->contact != NULL ? saltusi_tree_contact : NULL,
      .gaps = in->gaps != NULL ? gaps : NULL,
      .sweep = in->sweep != NULL ? sweep : NULL,
      .place = in->place != NULL ? place : NULL,
      .guards = in->guards != NULL ? guards : NULL,
      .contact_text = in->contact_text != NULL ? contact_text : NULL,
      .obstacle = in->obstacle != NULL ? obstacle : NULL,
      .joints = tree->system.dims.nj > 0 ? saltusi_tree_joints : NULL,
      .joint = tree->system.dims.nj > 0 ? saltusi_tree_joint : NULL,
      .dry = tree->system.dry_count > 0 ? saltusi_tree_dry : NULL,
      .rate = saltusi_tree_rate,
      .advance = saltusi_tree_advance,
      .difference = saltusi_tree_difference,
      .normalise = saltusi_tree_normalise,
      .turn_momentum = saltusi_tree_turn_momentum,
  };
}

/* Nonzeros of a row: the velocities on the paths of its bodies; 0: all velocities. A row of the mechanism has two bodies at
 * most, a row by formula as many as it has nonzeros. */
static int row_width(const saltus_tree* tree, const saltus_mechanism* m) {
  const int each = tree->plane ? 3 : 6;
  const saltus_dims *in = &tree->inner->dims, *own = &m->system.dims;
  const bool formulas =
      in->nj > own->nj || in->nc > own->nc || tree->inner->dry_count > m->system.dry_count;
  const int most = in->row_width < m->free_count ? in->row_width : m->free_count;
  const int bodies = formulas ? most : in->row_width / each + (in->row_width % each > 0);
  const long long width = (long long)bodies * tree->longest;
  return in->row_width == 0 || bodies >= 64 || width >= tree->axes ? 0 : (int)width;
}

static saltus_status complete(saltus_tree* tree, const saltus_mechanism* m,
                              const saltus_tree_def* def) {
  saltus_status status = saltusi_tree_span(tree, def);
  status = status == SALTUS_OK ? number_rows(tree) : status;
  status = status == SALTUS_OK ? number_dry(tree) : status;
  status = status == SALTUS_OK ? label(tree) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  if (tree->unwraps && m->system.dims.nv > SALTUSI_TREE_STACK) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "joint coordinates with angles of loops or springs have at most %d velocities of "
                "bodies, not %d",
                SALTUSI_TREE_STACK, m->system.dims.nv);
    return SALTUS_ERR_UNSUPPORTED;
  }
  saltus_system* s = &tree->system;
  choose_operations(tree);
  s->ops = &tree->ops;
  s->self = tree;
  s->dims.nv = tree->axes;
  s->dims.row_width = row_width(tree, m);
  s->dims.scratch = saltusi_tree_lay_out(tree, NULL, NULL);
  s->traits &= SALTUS_CHANGING_CONTACTS | SALTUS_STILL_OBSTACLES;
  s->structure = NULL;
  s->set_valued = NULL;
  const double* v = def->v0 != NULL ? def->v0 : m->v0;
  saltusi_tree_normalise(tree, tree->q0);
  saltus_tree_rates(tree, tree->q0, v, tree->v0);
  return SALTUS_OK;
}

static saltus_status refuse(const saltus_tree_def* def, const saltus_system* in) {
  const saltus_mechanism* m = def->mechanism;
  const char* why = NULL;
  if (in->dims.nv != m->system.dims.nv || in->dims.nq != m->system.dims.nq) {
    why = "coordinates by formula and flexible bodies have none";
  } else if (in->dims.nv == 0) {
    why = "no body is free";
  } else if (in->structure == NULL || in->ops->blocks == NULL) {
    why = "the forces have no structure";
  }
  if (why != NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "joint coordinates: %s", why);
    return SALTUS_ERR_UNSUPPORTED;
  }
  return SALTUS_OK;
}

saltus_status saltus_tree_create(const saltus_tree_def* def, saltus_tree** out) {
  assert(def != NULL && def->mechanism != NULL && out != NULL);
  *out = NULL;
  const saltus_mechanism* m = def->mechanism;
  const saltus_system* in = def->system != NULL ? def->system : &m->system;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_tree_def", def->log);
  status = status == SALTUS_OK ? refuse(def, in) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_pool pool = saltusi_pool_over(def->allocator);
  saltus_tree* tree = SALTUSI_TAKE(&pool, saltus_tree, 1);
  if (tree == NULL) {
    saltusi_pool_free(&pool);
    return SALTUS_ERR_MEMORY;
  }
  *tree =
      (saltus_tree){.pool = pool, .system = *in, .inner = in, .mechanism = m, .plane = m->plane};
  tree->q0 = SALTUSI_TAKE(&tree->pool, double, in->dims.nq);
  tree->v0 = SALTUSI_TAKE(&tree->pool, double, in->dims.nv);
  status = SALTUS_ERR_MEMORY;
  if (tree->q0 != NULL && tree->v0 != NULL) {
    memcpy(tree->q0, def->q0 != NULL ? def->q0 : m->q0, (size_t)in->dims.nq * sizeof(double));
    status = complete(tree, m, def);
  }
  if (status != SALTUS_OK) {
    saltus_tree_destroy(tree);
    return status;
  }
  *out = tree;
  return SALTUS_OK;
}

void saltus_tree_destroy(saltus_tree* tree) {
  if (tree != NULL) {
    saltusi_pool pool = tree->pool;
    saltusi_pool_free(&pool);
  }
}

const saltus_system* saltus_tree_system(const saltus_tree* tree) {
  assert(tree != NULL);
  return &tree->system;
}

const double* saltus_tree_q0(const saltus_tree* tree) {
  assert(tree != NULL);
  return tree->q0;
}

const double* saltus_tree_v0(const saltus_tree* tree) {
  assert(tree != NULL);
  return tree->v0;
}

int saltus_tree_joint_row(const saltus_tree* tree, int row) {
  assert(tree != NULL && row >= 0 && row < tree->system.dims.nj);
  return tree->row_of[row];
}

void saltus_tree_body_velocities(const saltus_tree* tree, const double* q, const double* v,
                                 double* bodies) {
  assert(tree != NULL && q != NULL && v != NULL && bodies != NULL);
  saltusi_tree_expand(tree, q, v, bodies);
}
