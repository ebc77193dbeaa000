/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * diagnose.c - see diagnose.h. Energies come first: they are user input, and forces follow from them.
 */
#include "system/diagnose.h"

#include "base/log.h"
#include "base/number.h"
#include "system/evaluate.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Formulas longer than this are truncated in messages; larger mass matrices are not examined. */
enum { FORMULA_MOST = 120, MATRIX_MOST = 1000, SHOWN_MOST = 6 };

typedef struct diagnosis {
  const saltus_system* sys;
  saltus_point at;
  bool all_rows;
  double* M;      /* [saltusi_mass_workspace]; NULL: too large */
  double* vector; /* [nv] */
  double* ones;   /* [nv] */
  double* joints; /* [nj] */
  saltusi_contact_list list;
  saltusi_row_block row; /* three rows, or those of all joints */
  char* text;
  size_t size, used;
} diagnosis;

static void layout(diagnosis* d, saltus_arena* arena) {
  const saltus_system* sys = d->sys;
  const saltus_dims* dims = &sys->dims;
  d->at.scratch = saltusi_scratch_layout(dims, arena);
  bool small = sys->ops->blocks != NULL || dims->nv <= MATRIX_MOST;
  d->M = small ? SALTUS_PUSH(arena, double, saltusi_mass_workspace(sys)) : NULL;
  d->vector = SALTUS_PUSH(arena, double, dims->nv);
  d->ones = SALTUS_PUSH(arena, double, dims->nv);
  d->joints = SALTUS_PUSH(arena, double, dims->nj);
  saltusi_contact_list_layout(&d->list, dims, arena);
  saltusi_rows_layout(&d->row, dims, dims->nj > 3 ? dims->nj : 3, false, arena);
}

__attribute__((format(printf, 2, 3))) static void add(diagnosis* d, const char* format, ...) {
  va_list values;
  va_start(values, format);
  int length = saltusi_print_list(d->text + d->used, d->size - d->used, format, values);
  va_end(values);
  size_t room = d->size - d->used - 1;
  d->used += length < 0 ? 0 : (size_t)length < room ? (size_t)length : room;
}

/* " = value unit" of a coordinate or velocity. */
static void add_value(diagnosis* d, const saltus_label* labels, char letter, int i, double value) {
  if (labels != NULL) {
    add(d, ", %s = %.9g%s%s", labels[i].name, value, labels[i].unit[0] != '\0' ? " " : "",
        labels[i].unit);
  } else {
    add(d, ", %c[%d] = %.9g", letter, i, value);
  }
}

/* The state; of many coordinates only those near the relevant one. */
static void add_state(diagnosis* d, int coordinate) {
  const saltus_dims* dims = &d->sys->dims;
  add(d, " at t = %.9g s", d->at.t);
  bool few = dims->nq <= SHOWN_MOST;
  int first = few || coordinate < 0 ? 0 : coordinate;
  int last = few ? dims->nq : coordinate < 0 ? SHOWN_MOST : coordinate + 1;
  for (int i = first; i < last && i < dims->nq; i++) {
    add_value(d, d->sys->q_labels, 'q', i, d->at.q[i]);
    if (i < dims->nv && d->at.v != NULL) {
      add_value(d, d->sys->v_labels, 'v', i, d->at.v[i]);
    }
  }
  add(d, few ? "" : ", ...");
}

/* ", <before><formula>," where there is one. */
static void add_formula(diagnosis* d, const char* before, saltus_part part, int i) {
  const saltus_system* sys = d->sys;
  const char* formula = sys->ops->formula != NULL ? sys->ops->formula(sys->self, part, i) : NULL;
  if (formula != NULL) {
    bool cut = strlen(formula) > FORMULA_MOST;
    bool comma = d->used > 0 && d->text[d->used - 1] == ',';
    add(d, "%s %s%.*s%s,", comma ? "" : ",", before, (int)FORMULA_MOST, formula, cut ? "..." : "");
  }
}

/* "<quantity> <formula> is nan at ..."; the quantity is in the text already. */
static saltus_status report(diagnosis* d, saltus_part part, int i, double value) {
  add_formula(d, "", part, i);
  if (part == SALTUS_PART_FORCE) {
    add_formula(d, "with the potential ", SALTUS_PART_POTENTIAL, 0);
  } else if (part == SALTUS_PART_MASS) {
    add_formula(d, "with the kinetic energy ", SALTUS_PART_KINETIC, 0);
  }
  add(d, isnan(value) ? " is nan" : " is %g", value);
  bool of_coordinate = part == SALTUS_PART_FORCE || part == SALTUS_PART_MASS;
  add_state(d, of_coordinate ? i : -1);
  return SALTUS_ERR_UNDEFINED;
}

static void add_coordinate(diagnosis* d, const char* what, int i) {
  if (d->sys->q_labels != NULL && d->sys->dims.nq == d->sys->dims.nv) {
    add(d, "%s %s", what, d->sys->q_labels[i].name);
  } else {
    add(d, "%s %d", what, i);
  }
}

/* -1: all are finite. */
static int first_wild(int n, const double* x) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      return i;
    }
  }
  return -1;
}

static saltus_status check_energies(diagnosis* d) {
  const saltus_system_ops* ops = d->sys->ops;
  double T = ops->kinetic != NULL ? ops->kinetic(d->sys->self, &d->at) : 0.0;
  if (!isfinite(T)) {
    add(d, "the kinetic energy");
    return report(d, SALTUS_PART_KINETIC, 0, T);
  }
  double V = ops->potential != NULL ? ops->potential(d->sys->self, &d->at) : 0.0;
  if (!isfinite(V)) {
    add(d, "the potential");
    return report(d, SALTUS_PART_POTENTIAL, 0, V);
  }
  return SALTUS_OK;
}

/* The first coordinate at which a mass matrix is not positive definite, with its pivot; -1: none. M is overwritten by
 * L D L^T. A zero pivot (a coordinate without mass) ends the search: schemes report it. */
static int first_negative(int n, double* M, double* pivot) {
  for (int j = 0; j < n; j++) {
    const double size = fabs(M[j * n + j]);
    for (int k = 0; k < j; k++) {
      M[j * n + j] -= M[j * n + k] * M[j * n + k] * M[k * n + k];
    }
    *pivot = M[j * n + j];
    if (!(fabs(*pivot) > 1e-12 * size)) {
      break;
    }
    if (*pivot < 0.0) {
      return j;
    }
    for (int i = j + 1; i < n; i++) {
      for (int k = 0; k < j; k++) {
        M[i * n + j] -= M[i * n + k] * M[j * n + k] * M[k * n + k];
      }
      M[i * n + j] /= *pivot;
    }
  }
  *pivot = 0.0;
  return -1;
}

static saltus_status check_motion(diagnosis* d) {
  const saltus_system* sys = d->sys;
  int nv = sys->dims.nv;
  sys->ops->force(sys->self, &d->at, d->vector);
  int i = first_wild(nv, d->vector);
  if (i >= 0 && sys->ops->obstacle != NULL &&
      sys->ops->obstacle(sys->self, &d->at, 0.0, d->text, d->size)) {
    return SALTUS_ERR_UNDEFINED;
  }
  if (i >= 0) {
    add_coordinate(d, "the force on coordinate", i);
    return report(d, SALTUS_PART_FORCE, i, d->vector[i]);
  }
  double value = 0.0;
  if (sys->ops->linear != NULL || sys->ops->blocks != NULL) {
    for (int k = 0; k < nv; k++) {
      d->ones[k] = 1.0;
    }
    saltusi_mass_times(sys, &d->at, d->M, d->ones, d->vector);
    i = first_wild(nv, d->vector);
    value = i >= 0 ? d->vector[i] : 0.0;
  } else if (d->M != NULL) {
    sys->ops->mass(sys->self, &d->at, d->M);
    int place = first_wild(nv * nv, d->M);
    i = place >= 0 ? place / nv : first_negative(nv, d->M, &value);
    value = place >= 0 ? d->M[place] : value;
  }
  if (i < 0) {
    return SALTUS_OK;
  }
  add_coordinate(d, "the mass of coordinate", i);
  return report(d, SALTUS_PART_MASS, i, value);
}

/* The first entry of the rows that is not finite, 0 when all are. */
static double wild_entry(const diagnosis* d, int first, int rows) {
  for (int k = first; k < first + rows; k++) {
    const double* G = d->row.G + (size_t)k * (size_t)d->row.stride;
    int count = d->row.column != NULL ? d->row.entries[k] : d->row.stride;
    int i = first_wild(count, G);
    if (i >= 0) {
      return G[i];
    }
    if (!isfinite(d->row.b[k])) {
      return d->row.b[k];
    }
  }
  return 0.0;
}

static void add_contact(diagnosis* d, const char* what, int i) {
  const saltus_contact_law* law =
      d->list.law[i] < d->sys->law_count ? &d->sys->laws[d->list.law[i]] : NULL;
  if (law != NULL && law->name != NULL) {
    add(d, "%s contact \"%s\"", what, law->name);
  } else {
    add(d, "%s contact %d", what, d->list.key[i]);
  }
}

static saltus_status check_contacts(diagnosis* d) {
  const saltus_system* sys = d->sys;
  if (sys->dims.nc == 0 || saltusi_contacts(sys, &d->at, &d->list) != SALTUS_OK) {
    return SALTUS_OK;
  }
  for (int i = 0; i < d->list.count; i++) {
    int key = d->list.key[i];
    if (isnan(d->list.gap[i]) || d->list.gap[i] == -INFINITY) {
      add_contact(d, "the gap of", i);
      return report(d, SALTUS_PART_GAP, key, d->list.gap[i]);
    }
    if (!d->all_rows && d->list.gap[i] > 0.0) {
      continue;
    }
    int rows = 1 + (d->list.law[i] < sys->law_count ? sys->laws[d->list.law[i]].tangents : 0);
    saltusi_rows_identity(sys, &d->at, d->list.identity[i], rows, &d->row, 0);
    double wild = wild_entry(d, 0, rows);
    if (wild != 0.0) {
      add_contact(d, "a direction (the derivative of gap or slip) of", i);
      return report(d, SALTUS_PART_GAP, key, wild);
    }
  }
  return SALTUS_OK;
}

static saltus_status check_joints(diagnosis* d) {
  const saltus_system* sys = d->sys;
  if (sys->dims.nj == 0) {
    return SALTUS_OK;
  }
  sys->ops->joints(sys->self, &d->at, d->joints);
  saltusi_rows_joints(sys, &d->at, &d->row);
  for (int j = 0; j < sys->dims.nj; j++) {
    double wild = isfinite(d->joints[j]) ? wild_entry(d, j, 1) : d->joints[j];
    if (wild != 0.0) {
      add(d, isfinite(d->joints[j]) ? "the derivative of joint %d" : "the constraint of joint %d",
          j);
      return report(d, SALTUS_PART_JOINT, j, wild);
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_diagnose(const saltus_system* system, const saltus_point* at, bool all_rows,
                               const saltus_allocator* allocator, char* text, size_t size) {
  assert(system != NULL && at != NULL && text != NULL);
  text[0] = '\0';
  saltus_allocator memory = allocator != NULL ? *allocator : saltus_allocator_default();
  saltus_system fit;
  saltus_status fits = saltusi_keys_fit(system, at, &memory, &fit);
  if (fits == SALTUS_ERR_MEMORY) {
    return fits;
  }
  diagnosis d = {.sys = &fit, .all_rows = all_rows, .text = text, .size = size};
  saltus_arena arena = saltus_arena_counting();
  layout(&d, &arena);
  size_t bytes = arena.used;
  void* block = memory.alloc(bytes, memory.user);
  if (block == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memset(block, 0, bytes);
  arena = saltus_arena_over(block, bytes);
  layout(&d, &arena);
  void* scratch = d.at.scratch;
  saltus_failure failure = {.status = SALTUS_OK};
  d.at = *at;
  d.at.scratch = scratch;
  d.at.failure = &failure;
  d.at.keys = NULL; /* contacts are evaluated by identity */
  saltus_status status = check_energies(&d);
  status = status == SALTUS_OK ? check_contacts(&d) : status;
  status = status == SALTUS_OK ? check_joints(&d) : status;
  status = status == SALTUS_OK ? check_motion(&d) : status;
  memory.free(block, bytes, memory.user);
  if (failure.status != SALTUS_OK) { /* values that are not finite are a consequence */
    snprintf(text, size, "a callback of the system failed: %s", failure.text);
    return SALTUS_ERR_SYSTEM;
  }
  return status;
}

saltus_status saltusi_diagnose_ahead(const saltus_system* system, const saltus_point* at, double h,
                                     double* q, const saltus_allocator* allocator, char* text,
                                     size_t size) {
  assert(system != NULL && at != NULL && text != NULL && h > 0.0);
  enum { HALVINGS = 50 };
  saltus_status status = SALTUS_OK;
  for (int k = HALVINGS; k >= 0 && status == SALTUS_OK; k--) {
    double s = ldexp(h, -k);
    saltusi_advance(system, at->q, at->v, s, q);
    const saltus_point ahead = {.t = at->t + s, .q = q, .v = at->v};
    status = saltusi_diagnose(system, &ahead, true, allocator, text, size);
  }
  return status;
}

saltus_status saltusi_check_start(const saltus_system* system, const saltus_point* at,
                                  const saltus_allocator* allocator, const char* who,
                                  saltus_log log) {
  assert(system != NULL && at != NULL && who != NULL);
  char text[640];
  saltus_status status = saltusi_diagnose(system, at, false, allocator, text, sizeof text);
  if (status != SALTUS_OK) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: %s%s", who,
                status == SALTUS_ERR_UNDEFINED ? "undefined at the start: "
                : status == SALTUS_ERR_SYSTEM  ? "at the start "
                                               : "no memory",
                text);
  }
  return status;
}

saltus_status saltus_system_diagnose(const saltus_system* system, double t, const double* q,
                                     const double* v, char* text, size_t size) {
  assert(system != NULL && text != NULL);
  const saltus_point at = {.t = t, .q = q, .v = v};
  return saltusi_diagnose(system, &at, false, NULL, text, size);
}
