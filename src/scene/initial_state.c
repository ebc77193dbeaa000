/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * initial_state.c - see start.h.
 */
#include "scene/initial_state.h"

#include "base/digits.h"
#include "base/log.h"
#include "body/mechanism.h"
#include "operator/joints.h"
#include "saltus/flexible.h"
#include "saltus/start.h"
#include "system/contact_keys.h"
#include "system/diagnose.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Cholesky factorization, overwriting M; the row where it fails, or -1. */
static int first_bad_row(int n, double* M) {
  for (int j = 0; j < n; j++) {
    double* row = M + (size_t)j * (size_t)n;
    double diagonal = row[j];
    double size = fabs(diagonal);
    for (int k = 0; k < j; k++) {
      diagonal -= row[k] * row[k];
    }
    /* the pivot after cancellation has to exceed rounding errors */
    if (!(diagonal > 1e-13 * size) || !isfinite(diagonal)) {
      return j;
    }
    double root = sqrt(diagonal);
    row[j] = root;
    for (int i = j + 1; i < n; i++) {
      double* other = M + (size_t)i * (size_t)n;
      double sum = other[j];
      for (int k = 0; k < j; k++) {
        sum -= other[k] * row[k];
      }
      other[j] = sum / root;
    }
  }
  return -1;
}

/* The same for the diagonal blocks of a mass matrix by structure. */
static int first_bad_block(const saltus_system* sys, const saltus_point* at, double* values) {
  const saltus_structure* s = sys->structure;
  sys->ops->blocks(sys->self, at, 1.0, 0.0, 0.0, values);
  for (int i = 0; i < s->blocks; i++) {
    const int n = s->start[i + 1] - s->start[i];
    const int bad = first_bad_row(n, values);
    if (bad >= 0) {
      return s->start[i] + bad;
    }
    values += n * n;
  }
  return -1;
}

/* For a system with its own linear algebra, the mass matrix is tested by M^-1 1, which reveals zero and negative
 * masses of diagonal matrices. */
static int first_bad_mass(const saltus_system* sys, const saltus_point* at,
                          saltusi_reader* reader) {
  int nv = sys->dims.nv;
  if (sys->ops->linear == NULL && sys->ops->blocks != NULL) {
    double* values = saltusi_reader_take(reader, saltusi_mass_workspace(sys), sizeof(double));
    return values != NULL ? first_bad_block(sys, at, values) : -1;
  }
  if (sys->ops->linear == NULL) {
    double* M = saltusi_reader_take(reader, (size_t)nv * (size_t)nv, sizeof(double));
    if (M == NULL) {
      return -1;
    }
    sys->ops->mass(sys->self, at, M);
    return first_bad_row(nv, M);
  }
  void* matrix = saltusi_reader_take(reader, sys->ops->linear->bytes(sys->self), 1);
  double* x = saltusi_reader_take(reader, (size_t)nv, sizeof(double));
  if (matrix == NULL || x == NULL) {
    return -1;
  }
  for (int i = 0; i < nv; i++) {
    x[i] = 1.0;
  }
  bool sound = sys->ops->linear->assemble(sys->self, matrix, at, 1.0, 0.0, 0.0) == SALTUS_OK;
  if (sound) {
    sys->ops->linear->solve(sys->self, matrix, x);
  }
  for (int i = 0; i < nv; i++) {
    if (!sound || !(x[i] > 0.0) || !isfinite(x[i])) {
      return i;
    }
  }
  return -1;
}

/* The node of root[section], root[section][i][key] or, failing that, the root. */
static const saltusi_yaml_node* find(const saltusi_yaml_node* root, const char* section, int i,
                                     const char* key) {
  const saltusi_yaml_node* node = saltusi_yaml_find(root, section);
  if (node != NULL && key != NULL && i < node->count) {
    node = saltusi_yaml_find(&node->children[i], key);
  }
  return node != NULL ? node : root;
}

/* The formula of a joint, or its item if it has a type. */
static const saltusi_yaml_node* joint_formula(const saltusi_yaml_node* item) {
  const saltusi_yaml_node* position = saltusi_yaml_find(item, "constraint");
  const saltusi_yaml_node* velocity = saltusi_yaml_find(item, "velocity");
  const saltusi_yaml_node* formula = position != NULL ? position : velocity;
  return formula != NULL ? formula : item;
}

/* The item of a list that has a name; the root when there is none. */
static const saltusi_yaml_node* find_named(const saltusi_yaml_node* root, const char* section,
                                           const char* name, size_t length) {
  const saltusi_yaml_node* list = saltusi_yaml_find(root, section);
  for (int i = 0; list != NULL && i < list->count; i++) {
    const saltusi_yaml_node* own = saltusi_yaml_find(&list->children[i], "name");
    if (own != NULL && strlen(own->text) == length && strncmp(own->text, name, length) == 0) {
      return joint_formula(&list->children[i]);
    }
  }
  /* default names of the reader: "joint 3" */
  int number = 0;
  const bool counted = list != NULL && sscanf(name, "joint %d", &number) == 1;
  if (counted && number >= 1 && number <= list->count) {
    return joint_formula(&list->children[number - 1]);
  }
  return list != NULL ? list : root;
}

/* The node of a coordinate or of the body of a velocity: "x'" or "arm.x'". */
static const saltusi_yaml_node* find_velocity(const saltusi_yaml_node* root, const char* label) {
  static const char* const sections[] = {"coordinates", "bodies"};
  const size_t length = strcspn(label, ".'");
  for (int k = 0; k < 2; k++) {
    const saltusi_yaml_node* section = saltusi_yaml_find(root, sections[k]);
    for (int i = 0; section != NULL && i < section->count; i++) {
      const char* key = section->keys[i].text;
      if (strlen(key) == length && strncmp(key, label, length) == 0) {
        return &section->keys[i];
      }
    }
  }
  return root;
}

static void check_force(saltusi_reader* reader, const saltus_scene_view* view,
                        const saltus_point* at, const saltusi_yaml_node* root) {
  const saltus_system* sys = view->system;
  double* F = saltusi_reader_take(reader, (size_t)sys->dims.nv, sizeof(double));
  if (F == NULL) {
    return;
  }
  sys->ops->force(sys->self, at, F);
  for (int i = 0; i < sys->dims.nv; i++) {
    char text[400];
    if (!isfinite(F[i]) && sys->ops->obstacle != NULL &&
        sys->ops->obstacle(sys->self, at, 0.0, text, sizeof text)) {
      const char* quoted = strchr(text, '"'); /* spring "NAME" ... */
      saltusi_reader_fail(reader,
                          quoted != NULL
                              ? find_named(root, "springs", quoted + 1, strcspn(quoted + 1, "\""))
                              : root,
                          "%s", text);
      return;
    }
    if (!isfinite(F[i])) {
      const char* name = sys->v_labels[i].name;
      saltusi_reader_fail(reader, find_velocity(root, name),
                          "the force on coordinate \"%.*s\" is %s at the start: check potential, "
                          "forces and kinetic energy",
                          (int)strcspn(name, "'"), name, isnan(F[i]) ? "undefined" : "infinite");
      return;
    }
  }
}

/* The joint of a limit, or the element of a contact, with this name; the part up to a point is the name of the joint
 * or element. */
static const saltusi_yaml_node* find_owner(const saltusi_yaml_node* root, const char* name) {
  const saltusi_yaml_node* list = saltusi_yaml_find(root, "elements");
  const size_t whole = strlen(name), first = strcspn(name, ".");
  for (int i = 0; list != NULL && i < list->count; i++) {
    const saltusi_yaml_node* own = saltusi_yaml_find(&list->children[i], "name");
    const size_t length = own != NULL ? strlen(own->text) : 0;
    if (own != NULL && (length == whole || length == first) &&
        strncmp(own->text, name, length) == 0) {
      return &list->children[i];
    }
  }
  return find_named(root, "joints", name, first);
}

/* Digits that distinguish a value in print from the allowed one. */
static int apart(double value, double allowed) {
  return saltusi_digits_apart(6, value, allowed);
}

/* Index of a contact in the section `contacts` of the scene; -1: a pair of shapes or a limit of a joint. */
static int written_contact(const saltus_formula_model* model, const saltus_system* sys,
                           uint64_t identity) {
  const bool changing = (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if (changing && (identity & SALTUSI_LISTED) == 0) {
    return -1;
  }
  return saltus_formula_model_contact(model, (int)(identity - (changing ? SALTUSI_LISTED : 0)));
}

static void check_contacts(saltusi_reader* reader, const saltus_scene_view* view,
                           const saltus_formula_model* model, const saltus_point* at,
                           const saltusi_yaml_node* root) {
  saltus_system fit; /* with room for the contacts at the start */
  if (saltusi_keys_fit(view->system, at, &reader->pool->allocator, &fit) != SALTUS_OK) {
    return; /* check_defined reports it */
  }
  saltus_arena arena = saltus_arena_counting();
  saltusi_contact_list list;
  saltusi_contact_list_layout(&list, &fit.dims, &arena);
  void* block = saltusi_reader_take(reader, arena.used + 1, 1);
  if (block == NULL) {
    return;
  }
  arena = saltus_arena_over(block, arena.used);
  saltusi_contact_list_layout(&list, &fit.dims, &arena);
  if (saltusi_contacts(&fit, at, &list) != SALTUS_OK) {
    return;
  }
  for (int i = 0; i < list.count && reader->status == SALTUS_OK; i++) {
    const int written = written_contact(model, &fit, list.identity[i]);
    const char* own = fit.laws[list.law[i]].name;
    const char* name = own != NULL ? own : "";
    const saltusi_yaml_node* where =
        written >= 0 ? find(root, "contacts", written, "gap") : find_owner(root, name);
    if (!isfinite(list.gap[i])) {
      saltusi_reader_fail(reader, where, "the gap of contact " SALTUSI_QUOTE " is %s at the start",
                          name, isnan(list.gap[i]) ? "undefined" : "infinite");
    } else if (list.gap[i] < -view->start_tolerance) {
      saltusi_reader_fail(reader, where,
                          "contact " SALTUSI_QUOTE " penetrates at the start: its gap is %.*g, "
                          "allowed is %g (simulate: start_tolerance)",
                          name, apart(list.gap[i], -view->start_tolerance), list.gap[i],
                          -view->start_tolerance);
    }
  }
}

/* No body has an initial velocity: velocities of minimum norm that satisfy joints and drives are
 * computed. */
static bool leaves_velocities(const saltus_scene_view* view) {
  if (view->mechanism == NULL) {
    return false;
  }
  const double* v = saltus_mechanism_v0(view->mechanism);
  bool zero = true;
  for (int i = 0; i < saltus_mechanism_system(view->mechanism)->dims.nv; i++) {
    zero = zero && v[i] == 0.0;
  }
  return zero;
}

static bool has_entries(const saltus_system* sys, const saltusi_row_block* rows, int j) {
  bool any = false;
  for (int i = 0; i < sys->dims.nv; i++) {
    any = any || saltusi_row_entry(rows, j, i) != 0.0;
  }
  return any;
}

/* A row that is zero for the present inputs but not for others belongs to a joint that is open at the start. */
static bool is_open(saltusi_reader* reader, const saltus_scene_view* view, double* inputs,
                    const saltus_point* at, int j, saltusi_row_block* rows) {
  const double generic = 0.6180339887498949; /* a value that no formula compares with */
  const size_t bytes = (size_t)view->input_count * sizeof(double);
  double* kept = bytes > 0 ? saltusi_reader_take(reader, bytes, 1) : NULL;
  if (kept == NULL) {
    return false;
  }
  memcpy(kept, inputs, bytes);
  for (int i = 0; i < view->input_count; i++) {
    inputs[i] = generic;
  }
  saltusi_rows_joints(view->system, at, rows);
  const bool open = has_entries(view->system, rows, j);
  memcpy(inputs, kept, bytes);
  saltusi_rows_joints(view->system, at, rows);
  return open;
}

/* One joint: its value g and its row index. */
static void check_joint(saltusi_reader* reader, const saltus_scene_view* view, int j, double g,
                        const saltusi_row_block* rows, const saltusi_yaml_node* where) {
  const char* name = view->joint_names[j];
  double rate = saltusi_row_dot(rows, j, view->v0) + rows->b[j];
  double terms = saltusi_row_size(rows, j, view->v0) + fabs(rows->b[j]);
  double allowed_rate = view->start_tolerance * fmax(1.0, terms);
  if (!isfinite(g) || !isfinite(rate)) {
    saltusi_reader_fail(reader, where,
                        "the constraint of joint " SALTUSI_QUOTE " or its rate is %s at the start",
                        name, isnan(g) || isnan(rate) ? "undefined" : "infinite");
  } else if (fabs(g) > view->start_tolerance) {
    saltusi_reader_fail(reader, where,
                        "joint " SALTUSI_QUOTE " does not hold at the start: its constraint is "
                        "%.*g, allowed is %g (simulate: start_tolerance)",
                        name, apart(fabs(g), view->start_tolerance), g, view->start_tolerance);
  } else if (fabs(rate) > allowed_rate && !leaves_velocities(view)) {
    saltusi_reader_fail(reader, where,
                        "the start velocities break joint " SALTUSI_QUOTE
                        ": its constraint changes "
                        "at %.*g per second, allowed is %g (simulate: start_tolerance)",
                        name, apart(fabs(rate), allowed_rate), rate, allowed_rate);
  }
}

static void check_joints(saltusi_reader* reader, const saltus_scene_view* view, double* inputs,
                         const saltus_point* at, const saltusi_yaml_node* root) {
  const saltus_system* sys = view->system;
  int nj = sys->dims.nj;
  saltusi_row_block rows;
  saltus_arena arena = saltus_arena_counting();
  saltusi_rows_layout(&rows, &sys->dims, nj, false, &arena);
  double* g = saltusi_reader_take(reader, (size_t)nj, sizeof(double));
  void* block = saltusi_reader_take(reader, arena.used + 1, 1);
  if (g == NULL || block == NULL) {
    return;
  }
  arena = saltus_arena_over(block, arena.used);
  saltusi_rows_layout(&rows, &sys->dims, nj, false, &arena);
  sys->ops->joints(sys->self, at, g);
  saltusi_rows_joints(sys, at, &rows);
  for (int j = 0; j < nj && reader->status == SALTUS_OK; j++) {
    const char* name = view->joint_names[j];
    const saltusi_yaml_node* where = find_named(root, "joints", name, strlen(name));
    check_joint(reader, view, j, g[j], &rows, where);
    if (reader->status == SALTUS_OK && !has_entries(sys, &rows, j) &&
        !is_open(reader, view, inputs, at, j, &rows)) {
      saltusi_reader_fail(reader, where,
                          "joint " SALTUSI_QUOTE " holds nothing at the start: no coordinate "
                          "changes its constraint",
                          name);
    }
  }
}

/* Inconsistent joints, independent of the initial state. */
static void check_agreement(saltusi_reader* reader, const saltus_scene_view* view,
                            const saltus_point* at, const saltusi_yaml_node* root) {
  saltusi_eval eval = {.sys = *view->system};
  saltusi_contradiction found;
  saltus_status status = SALTUS_RETRY_CAPACITY;
  while (status == SALTUS_RETRY_CAPACITY) {
    saltusi_joints joints;
    saltusi_capacity_grow(&eval.room);
    saltus_arena arena = saltus_arena_counting();
    saltusi_joints_layout(&joints, &eval, &arena);
    void* block = saltusi_reader_take(reader, arena.used + 1, 1);
    if (block == NULL) {
      return;
    }
    arena = saltus_arena_over(block, arena.used);
    saltusi_joints_layout(&joints, &eval, &arena);
    status = saltusi_joints_contradict(&joints, &eval, at, true, &found);
  }
  if (status == SALTUS_OK && found.kind != SALTUSI_AGREE) {
    char names[256];
    const char* name = view->joint_names[found.joint[1]];
    saltusi_reader_fail(reader, find_named(root, "joints", name, strlen(name)),
                        "joints %s contradict each other: %s cannot all be zero, at best %.3g",
                        saltusi_joints_names(view->system, &found, names, sizeof names),
                        found.kind == SALTUSI_POSITIONS_DISAGREE ? "their constraints"
                                                                 : "the rates of their constraints",
                        found.miss);
  }
}

/* Undefined values that no check above reports: mainly energies, which may be undefined where
 * forces are finite. */
static void check_defined(saltusi_reader* reader, const saltus_system* sys, const saltus_point* at,
                          const saltusi_yaml_node* root) {
  char text[640];
  saltus_status status =
      saltusi_diagnose(sys, at, false, &reader->pool->allocator, text, sizeof text);
  if (status == SALTUS_ERR_MEMORY) {
    reader->status = status;
  } else if (status != SALTUS_OK) {
    bool potential = !isfinite(saltusi_potential(sys, at));
    saltusi_reader_fail(reader, find(root, potential ? "potential" : "kinetic", 0, NULL),
                        "undefined at the start: %s", text);
  }
}

static saltus_status check_start(saltusi_reader* reader, const saltus_scene_view* view,
                                 const saltus_formula_model* model, double* inputs,
                                 const saltusi_yaml_node* root) {
  const saltus_system* sys = view->system;
  void* scratch = saltusi_reader_take(reader, sys->dims.scratch + SALTUS_ALIGNMENT, 1);
  if (scratch == NULL) {
    return reader->status;
  }
  saltus_point at = {.t = view->start, .q = view->q0, .v = view->v0, .scratch = scratch};
  int bad = first_bad_mass(sys, &at, reader);
  if (bad >= 0) {
    saltusi_reader_fail(reader, find(root, "kinetic", 0, NULL),
                        "the mass matrix is not positive definite at the start, first at "
                        "coordinate \"%.*s\": check the kinetic energy and the masses",
                        (int)strcspn(sys->v_labels[bad].name, "'"), sys->v_labels[bad].name);
  }
  if (reader->status == SALTUS_OK) {
    check_force(reader, view, &at, root);
  }
  if (sys->dims.nc > 0 && reader->status == SALTUS_OK) {
    check_contacts(reader, view, model, &at, root);
  }
  if (sys->dims.nj > 1 && reader->status == SALTUS_OK) {
    check_agreement(reader, view, &at, root);
  }
  if (sys->dims.nj > 0 && reader->status == SALTUS_OK) {
    check_joints(reader, view, inputs, &at, root);
  }
  if (reader->status == SALTUS_OK) {
    check_defined(reader, sys, &at, root);
  }
  return reader->status;
}

/* In memory of its own, which scenes do not keep. */
saltus_status saltusi_start_check(saltusi_reader* reader, const saltus_scene_view* view,
                                  const saltus_formula_model* model, double* inputs,
                                  const saltusi_yaml_node* root) {
  assert(view->system != NULL && model != NULL);
  saltusi_pool* kept = reader->pool;
  saltusi_pool work = saltusi_pool_over(&kept->allocator);
  reader->pool = &work;
  const saltus_status status = check_start(reader, view, model, inputs, root);
  reader->pool = kept;
  saltusi_pool_free(&work);
  return status;
}

/* Passes warnings on and stores the error, since a more specific one may follow. */
typedef struct error_keeper {
  saltus_log log;
  char text[1024];
} error_keeper;

static void keep_error(void* user, saltus_level level, const char* text) {
  error_keeper* keeper = user;
  if (level == SALTUS_LEVEL_ERROR) {
    snprintf(keeper->text, sizeof keeper->text, "%s", text);
  } else {
    saltusi_log(keeper->log, level, "%s", text);
  }
}

/* Reports why the start cannot be corrected: the joint of a mechanism that stays open, else the
 * message `said`. */
static void explain(saltus_mechanism* mechanism, const char* said, saltus_log log) {
  saltus_assembly assembly;
  if (mechanism == NULL ||
      saltus_mechanism_assemble(mechanism, INFINITY, log, &assembly) == SALTUS_OK) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s", said);
  }
}

/* Moves the positions without bending bodies; they stay where that is not possible. */
static void place_rigid(saltusi_reader* reader, const saltus_start_def* def,
                        const saltus_system* rigid) {
  const size_t nq = (size_t)rigid->dims.nq, nv = (size_t)rigid->dims.nv;
  saltus_start_def placed = *def;
  placed.system = rigid;
  placed.q = saltusi_reader_take(reader, nq, sizeof(double));
  placed.v = saltusi_reader_take(reader, nv, sizeof(double));
  placed.log = (saltus_log){0};
  if (placed.q == NULL || placed.v == NULL) {
    return;
  }
  memcpy(placed.q, def->q, nq * sizeof(double));
  memcpy(placed.v, def->v, nv * sizeof(double));
  saltus_start_move move;
  if (saltus_start_project(&placed, &move) == SALTUS_OK && move.q_moved > 0.0) {
    memcpy(def->q, placed.q, nq * sizeof(double));
    saltusi_log(def->log, SALTUS_LEVEL_WARNING,
                "start: joints were off by up to %.3g and contacts overlapped by up to %.3g m; "
                "bodies were placed without bending, by up to %.3g (coordinate %d %s)",
                move.joint, move.penetration, move.q_moved, move.q_most + 1,
                rigid->q_labels[move.q_most].name);
  }
}

/* Where joints or contacts close by bending alone. */
static void report_strain(const saltus_scene_view* view, const double* q, saltus_log log) {
  double energy = 0.0;
  for (int i = 0; view->flexible[i] != NULL; i++) {
    for (int j = 0; j < view->flexible[i]->modes; j++, q++) {
      energy += 0.5 * pow(view->flexible[i]->omega[j] * *q, 2.0);
    }
  }
  if (energy > 0.0) {
    saltusi_log(log, SALTUS_LEVEL_WARNING,
                "start: joints or contacts close by bending alone: flexible bodies start with a "
                "strain energy of %.3g J",
                energy);
  }
}

saltus_status saltusi_start_correct(saltusi_reader* reader, saltus_scene_view* view,
                                    saltus_mechanism* mechanism, const saltus_system* rigid,
                                    const saltusi_yaml_node* root) {
  assert(view->system != NULL && view->q0 != NULL && view->v0 != NULL);
  const saltus_dims* d = &view->system->dims;
  double* q = saltusi_reader_take(reader, (size_t)d->nq, sizeof(double));
  double* v = saltusi_reader_take(reader, (size_t)d->nv, sizeof(double));
  if (q == NULL || v == NULL) {
    return reader->status;
  }
  memcpy(q, view->q0, (size_t)d->nq * sizeof(double));
  memcpy(v, view->v0, (size_t)d->nv * sizeof(double));
  saltusi_placed_log placed;
  const bool bodies = saltusi_yaml_find(root, "coordinates") == NULL;
  error_keeper keeper = {
      .log = saltusi_reader_log_at(reader, find(root, bodies ? "bodies" : "coordinates", 0, NULL),
                                   &placed)};
  const saltus_start_def def = {
      .system = view->system,
      .t = view->start,
      .q = q,
      .v = v,
      /* violations above the tolerance were rejected before; velocities determined by joints may
       * exceed it */
      .tolerance = leaves_velocities(view) ? INFINITY : view->start_tolerance,
      .log = {keep_error, &keeper},
      .allocator = &reader->pool->allocator};
  if (rigid != NULL) {
    place_rigid(reader, &def, rigid);
  }
  saltus_start_move move;
  saltus_status status = saltus_start_project(&def, &move);
  if (status == SALTUS_OK && rigid != NULL && move.q_moved > 0.0) {
    report_strain(view, q, def.log);
  }
  if (status == SALTUS_OK) {
    view->q0 = q;
    view->v0 = v;
  }
  if (status != SALTUS_OK && status != SALTUS_ERR_MEMORY) {
    explain(mechanism, keeper.text, keeper.log);
  }
  reader->status = status;
  return status;
}
