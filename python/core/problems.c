/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * problems.c - contact problems as plain data: arrays of the caller are used without a copy, after validation of the
 * assumptions of the solvers.
 */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct problem_object {
  PyObject_HEAD saltus_problem_file* file;
} problem_object;

static PyObject* result_object(const saltus_solve_result* r) {
  static const char* const outcomes[] = {"solved", "no solution", "unsolved"};
  return Py_BuildValue("{s:s,s:d,s:d,s:d,s:i,s:s}", "outcome", outcomes[r->outcome], "residual",
                       r->residual.normalised, "residual_velocity", r->residual.velocity,
                       "residual_impulse", r->residual.impulse, "iterations", r->iterations,
                       "stages", r->stages);
}

/* Options of a solver from pairs of texts; NULL with an exception, or without options. */
static void* solver_options(const core_state* state, const saltus_solver_info* info,
                            const core_pairs* pairs, bool* good) {
  *good = true;
  if (pairs->count == 0) {
    return NULL;
  }
  core_messages messages;
  saltus_log log = core_messages_log(&messages);
  void* options = calloc(1, info->options.size + 1);
  saltus_status status = options != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  if (status == SALTUS_OK) {
    saltus_options_defaults(&info->options, options);
  }
  for (int i = 0; i < pairs->count && status == SALTUS_OK; i++) {
    status = saltus_options_set(&info->options, options, info->name, pairs->pairs[i].name,
                                pairs->pairs[i].value, log);
  }
  if (status != SALTUS_OK) {
    *good = false;
    free(options);
    core_raise(state, status, &messages);
    return NULL;
  }
  core_messages_free(&messages);
  return options;
}

static const saltus_solver_info* find_solver(const saltus_solver_info* info, const char* name) {
  if (info == NULL) {
    PyErr_Format(PyExc_ValueError, "no solver \"%s\"; see saltus.solvers()", name);
  }
  return info;
}

/* A solution and its complementary variable as new arrays: (x, y, result). */
static PyObject* answer_object(const core_state* state, const double* x, Py_ssize_t n,
                               const saltus_solve_result* result) {
  PyObject* a = core_array_copy(state, x, n);
  PyObject* b = a != NULL ? core_array_copy(state, x + n, n) : NULL;
  PyObject* r = b != NULL ? result_object(result) : NULL;
  if (r == NULL) {
    Py_XDECREF(a);
    Py_XDECREF(b);
    return NULL;
  }
  return Py_BuildValue("NNN", a, b, r);
}

/* Memory for a solution and its complementary variable; the first half is the initial guess. */
static double* start_answer(const core_reals* guess, Py_ssize_t n) {
  double* x = calloc(2 * (size_t)n + 1, sizeof *x);
  if (x == NULL) {
    PyErr_NoMemory();
  } else if (guess->data != NULL) {
    memcpy(x, guess->data, (size_t)n * sizeof *x);
  }
  return x;
}

/* Validates compressed rows. */
static bool rows_hold(const core_ints* start, const core_ints* column, int rows, int columns) {
  const int* s = start->data;
  bool good = start->count == (Py_ssize_t)rows + 1 && s[0] == 0 && s[rows] == column->count;
  for (int i = 0; i < rows && good; i++) {
    good = s[i] <= s[i + 1] && s[i + 1] <= column->count;
    for (int k = s[i]; good && k < s[i + 1]; k++) {
      int c = column->data[k];
      good = c >= 0 && c < columns && (k == s[i] || c > column->data[k - 1]);
    }
  }
  if (!good) {
    PyErr_SetString(PyExc_ValueError,
                    "compressed rows need ascending columns within the matrix and starts that fit");
  }
  return good;
}

typedef struct lcp_args {
  const char* solver;
  PyObject *options, *values, *start, *column, *q, *guess;
  int bilateral;
  double tol;
  core_pairs pairs;
  core_reals M, vector, first;
  core_ints rows, columns;
} lcp_args;

static void lcp_release(lcp_args* a) {
  core_pairs_free(&a->pairs);
  core_reals_release(&a->M);
  core_reals_release(&a->vector);
  core_reals_release(&a->first);
  core_ints_release(&a->rows);
  core_ints_release(&a->columns);
}

/* The problem over the buffers of the caller; -1 with an exception. */
static int lcp_take(lcp_args* a, saltus_lcp* p) {
  if (core_pairs_take(a->options, &a->pairs) != 0 ||
      core_reals_take(a->q, "q", -1, &a->vector) != 0) {
    return -1;
  }
  if (a->vector.count < 1 || a->vector.count > 1000000 || a->bilateral < 0 ||
      a->bilateral > a->vector.count || !(a->tol >= 0.0) || !isfinite(a->tol)) {
    PyErr_SetString(PyExc_ValueError, "q is empty, or bilateral or tol is out of range");
    return -1;
  }
  int n = (int)a->vector.count;
  *p = (saltus_lcp){.n = n, .bilateral = a->bilateral, .q = a->vector.data};
  if (a->guess != Py_None && core_reals_take(a->guess, "guess", n, &a->first) != 0) {
    return -1;
  }
  if (a->start == Py_None) {
    int code = core_reals_take(a->values, "M", (Py_ssize_t)n * n, &a->M);
    p->M = a->M.data;
    return code;
  }
  if (core_ints_take(a->start, "start", (Py_ssize_t)n + 1, &a->rows) != 0 ||
      core_ints_take(a->column, "column", -1, &a->columns) != 0 ||
      core_reals_take(a->values, "values", a->columns.count, &a->M) != 0 ||
      !rows_hold(&a->rows, &a->columns, n, n)) {
    return -1;
  }
  p->sparse = (saltus_csr){n, n, a->rows.data, a->columns.data, a->M.data};
  return 0;
}

static saltus_status lcp_solve(const saltus_solver_def* def, const saltus_lcp* p, double tol,
                               double* z, saltus_solve_result* result) {
  saltus_lcp_solver* solver;
  saltus_status status = saltus_lcp_solver_create(def, &solver);
  if (status == SALTUS_OK) {
    status = saltus_lcp_solve(solver, p, tol, z, z + p->n, result);
    saltus_lcp_solver_destroy(solver);
  }
  return status;
}

/* lcp(solver, options, values, start, column, q, bilateral, tol, guess): (z, w, result) */
PyObject* core_lcp(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  lcp_args a = {0};
  saltus_lcp problem;
  PyObject* answer = NULL;
  if (!PyArg_ParseTuple(args, "zOOOOOidO", &a.solver, &a.options, &a.values, &a.start, &a.column,
                        &a.q, &a.bilateral, &a.tol, &a.guess)) {
    return NULL;
  }
  const char* name = a.solver != NULL ? a.solver : "auto";
  const saltus_solver_info* info = find_solver(saltus_lcp_solver_find(name), name);
  if (info == NULL || lcp_take(&a, &problem) != 0) {
    lcp_release(&a);
    return NULL;
  }
  bool good;
  void* options = solver_options(state, info, &a.pairs, &good);
  double* z = good ? start_answer(&a.first, problem.n) : NULL;
  if (z != NULL) {
    core_messages messages;
    saltus_solve_result result;
    const saltus_solver_def def = {
        .solver = name, .options = options, .log = core_messages_log(&messages)};
    PyThreadState* released = PyEval_SaveThread();
    saltus_status status = lcp_solve(&def, &problem, a.tol, z, &result);
    PyEval_RestoreThread(released);
    if (status == SALTUS_OK) {
      core_messages_free(&messages);
      answer = answer_object(state, z, problem.n, &result);
    } else {
      core_raise(state, status, &messages);
    }
  }
  free(z);
  free(options);
  lcp_release(&a);
  return answer;
}

typedef struct friction_args {
  const char* solver;
  PyObject *options, *offset, *start, *unit, *place, *values, *q, *mu, *bilateral, *guess;
  double tol;
  core_pairs pairs;
  core_ints offsets, starts, units, places;
  core_reals entries, vector, coefficients, first;
  Py_buffer flags;
  int flagged;
} friction_args;

static void friction_release(friction_args* a) {
  core_pairs_free(&a->pairs);
  core_ints* const ints[] = {&a->offsets, &a->starts, &a->units, &a->places};
  core_reals* const reals[] = {&a->entries, &a->vector, &a->coefficients, &a->first};
  for (int i = 0; i < 4; i++) {
    core_ints_release(ints[i]);
    core_reals_release(reals[i]);
  }
  if (a->flagged) {
    PyBuffer_Release(&a->flags);
  }
}

/* Validates that blocks are contiguous, of the size of their units, and that units have allowed sizes. */
static bool blocks_hold(const friction_args* a, int units) {
  const int* offset = a->offsets.data;
  const int* place = a->places.data;
  bool good = offset[0] == 0 && place[0] == 0 && place[a->units.count] == a->entries.count &&
              offset[units] == a->vector.count;
  for (int i = 0; i < units && good; i++) {
    int rows = offset[i + 1] - offset[i];
    bool bilateral = a->flagged && ((const unsigned char*)a->flags.buf)[i] != 0;
    good = rows >= 1 && (bilateral || rows <= 3);
    bool diagonal = false;
    for (int k = a->starts.data[i]; good && k < a->starts.data[i + 1]; k++) {
      int j = a->units.data[k];
      good = (long long)place[k + 1] - place[k] == (long long)rows * (offset[j + 1] - offset[j]);
      diagonal = diagonal || j == i;
    }
    good = good && diagonal;
  }
  if (!good) {
    PyErr_SetString(PyExc_ValueError,
                    "blocks of W do not fit the units, or a diagonal one is missing");
  }
  return good;
}

static int friction_take(friction_args* a, saltus_friction_problem* p) {
  if (core_pairs_take(a->options, &a->pairs) != 0 ||
      core_ints_take(a->offset, "offset", -1, &a->offsets) != 0) {
    return -1;
  }
  Py_ssize_t units = a->offsets.count - 1;
  if (units < 1 || units > 10000000 || !(a->tol >= 0.0) || !isfinite(a->tol)) {
    PyErr_SetString(PyExc_ValueError, "there are no contacts, or tol is out of range");
    return -1;
  }
  if (core_ints_take(a->start, "start", units + 1, &a->starts) != 0 ||
      core_ints_take(a->unit, "unit", -1, &a->units) != 0 ||
      core_ints_take(a->place, "place", a->units.count + 1, &a->places) != 0 ||
      core_reals_take(a->values, "W", -1, &a->entries) != 0 ||
      core_reals_take(a->q, "q", -1, &a->vector) != 0 ||
      core_reals_take(a->mu, "mu", units, &a->coefficients) != 0) {
    return -1;
  }
  if (a->bilateral != Py_None) {
    if (PyObject_GetBuffer(a->bilateral, &a->flags, PyBUF_C_CONTIGUOUS) != 0) {
      return -1;
    }
    a->flagged = 1;
    if (a->flags.len != units || a->flags.itemsize != 1) {
      PyErr_SetString(PyExc_ValueError, "bilateral needs a flag for each unit");
      return -1;
    }
  }
  for (Py_ssize_t i = 0; i < units; i++) {
    if (!(a->coefficients.data[i] >= 0.0) || !isfinite(a->coefficients.data[i])) {
      PyErr_SetString(PyExc_ValueError, "mu has to be finite and not negative");
      return -1;
    }
  }
  if (!rows_hold(&a->starts, &a->units, (int)units, (int)units) || !blocks_hold(a, (int)units) ||
      (a->guess != Py_None &&
       core_reals_take(a->guess, "guess", a->vector.count, &a->first) != 0)) {
    return -1;
  }
  *p = (saltus_friction_problem){.W = {(int)units, a->offsets.data, a->starts.data, a->units.data,
                                       a->places.data, a->entries.data},
                                 .q = a->vector.data,
                                 .mu = a->coefficients.data,
                                 .bilateral = a->flagged ? a->flags.buf : NULL};
  return 0;
}

static saltus_status friction_solve(const saltus_solver_def* def, const saltus_friction_problem* p,
                                    double tol, double* r, saltus_solve_result* result) {
  saltus_friction_solver* solver;
  saltus_status status = saltus_friction_solver_create(def, &solver);
  if (status == SALTUS_OK) {
    status = saltus_friction_solve(solver, p, tol, r, r + p->W.offset[p->W.units], result);
    saltus_friction_solver_destroy(solver);
  }
  return status;
}

/* friction(solver, options, (offset, start, unit, place, values), q, mu, bilateral, tol, guess): (r, u, result) */
PyObject* core_friction(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  friction_args a = {0};
  saltus_friction_problem problem;
  PyObject* answer = NULL;
  if (!PyArg_ParseTuple(args, "zO(OOOOO)OOOdO", &a.solver, &a.options, &a.offset, &a.start, &a.unit,
                        &a.place, &a.values, &a.q, &a.mu, &a.bilateral, &a.tol, &a.guess)) {
    return NULL;
  }
  const char* name = a.solver != NULL ? a.solver : "auto";
  const saltus_solver_info* info = find_solver(saltus_friction_solver_find(name), name);
  if (info == NULL || friction_take(&a, &problem) != 0) {
    friction_release(&a);
    return NULL;
  }
  bool good;
  void* options = solver_options(state, info, &a.pairs, &good);
  double* r = good ? start_answer(&a.first, a.vector.count) : NULL;
  if (r != NULL) {
    core_messages messages;
    saltus_solve_result result;
    const saltus_solver_def def = {
        .solver = name, .options = options, .log = core_messages_log(&messages)};
    PyThreadState* released = PyEval_SaveThread();
    saltus_status status = friction_solve(&def, &problem, a.tol, r, &result);
    PyEval_RestoreThread(released);
    if (status == SALTUS_OK) {
      core_messages_free(&messages);
      answer = answer_object(state, r, a.vector.count, &result);
    } else {
      core_raise(state, status, &messages);
    }
  }
  free(r);
  free(options);
  friction_release(&a);
  return answer;
}

static void problem_free(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  saltus_problem_file_destroy(((problem_object*)object)->file);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

PyObject* core_read_problem(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  const char* path;
  if (!PyArg_ParseTuple(args, "s", &path)) {
    return NULL;
  }
  core_messages messages;
  saltus_problem_file* file;
  saltus_log log = core_messages_log(&messages);
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status = saltus_problem_file_read(path, log, NULL, &file);
  PyEval_RestoreThread(released);
  if (status != SALTUS_OK) {
    return core_raise(state, status, &messages);
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(state->problem_type, Py_tp_alloc);
  problem_object* self =
      core_warn(state, &messages) == 0 ? (problem_object*)allocate(state->problem_type, 0) : NULL;
  core_messages_free(&messages);
  if (self == NULL) {
    saltus_problem_file_destroy(file);
    return NULL;
  }
  self->file = file;
  return (PyObject*)self;
}

/* Adds an array over memory of the file to a dict. */
static int put_array(PyObject* dict, PyObject* self, const char* key, char format, const void* data,
                     Py_ssize_t count) {
  return core_put(dict, key,
                  core_array(PyType_GetModuleState(Py_TYPE(self)), self, data,
                             (core_shape){.format = format, .rank = 1, .size = {count}}));
}

static int put_friction(PyObject* d, PyObject* self, const saltus_friction_problem* p) {
  const saltus_block_matrix* W = &p->W;
  Py_ssize_t units = W->units, blocks = W->start[units];
  return put_array(d, self, "offset", 'i', W->offset, units + 1) == 0 &&
                 put_array(d, self, "start", 'i', W->start, units + 1) == 0 &&
                 put_array(d, self, "unit", 'i', W->unit, blocks) == 0 &&
                 put_array(d, self, "place", 'i', W->place, blocks + 1) == 0 &&
                 put_array(d, self, "values", 'd', W->values, W->place[blocks]) == 0 &&
                 put_array(d, self, "q", 'd', p->q, W->offset[units]) == 0 &&
                 put_array(d, self, "mu", 'd', p->mu, units) == 0
             ? 0
             : -1;
}

static int put_csr(PyObject* d, PyObject* self, const char* const keys[3], const saltus_csr* m) {
  Py_ssize_t entries = m->start[m->rows];
  return put_array(d, self, keys[0], 'i', m->start, m->rows + 1) == 0 &&
                 put_array(d, self, keys[1], 'i', m->column, entries) == 0 &&
                 put_array(d, self, keys[2], 'd', m->values, entries) == 0
             ? 0
             : -1;
}

static int put_global(PyObject* d, PyObject* self, const saltus_global_friction_problem* p,
                      int dimension) {
  static const char* const M[3] = {"M_start", "M_column", "M_values"};
  static const char* const H[3] = {"H_start", "H_column", "H_values"};
  return put_csr(d, self, M, &p->M) == 0 && put_csr(d, self, H, &p->H) == 0 &&
                 put_array(d, self, "f", 'd', p->f, p->M.rows) == 0 &&
                 put_array(d, self, "w", 'd', p->w, p->H.columns) == 0 &&
                 put_array(d, self, "mu", 'd', p->mu, p->H.columns / dimension) == 0
             ? 0
             : -1;
}

static int put_lcp(PyObject* d, PyObject* self, const saltus_lcp* p) {
  static const char* const M[3] = {"M_start", "M_column", "M_values"};
  int code = p->sparse.start != NULL ? put_csr(d, self, M, &p->sparse)
                                     : put_array(d, self, "M", 'd', p->M, (Py_ssize_t)p->n * p->n);
  return code == 0 && put_array(d, self, "q", 'd', p->q, p->n) == 0 &&
                 core_put(d, "bilateral", PyLong_FromLong(p->bilateral)) == 0
             ? 0
             : -1;
}

/* data(): kind, dimension and arrays. */
static PyObject* problem_data(PyObject* object, PyObject* unused) {
  (void)unused;
  const saltus_problem_file* f = ((problem_object*)object)->file;
  PyObject* d = PyDict_New();
  bool good = d != NULL && core_put(d, "kind", core_text(saltus_problem_kind_text(f->kind))) == 0 &&
              core_put(d, "dimension", PyLong_FromLong(f->dimension)) == 0;
  int code = !good                                ? -1
             : f->kind == SALTUS_PROBLEM_FRICTION ? put_friction(d, object, &f->friction)
             : f->kind == SALTUS_PROBLEM_GLOBAL_FRICTION
                 ? put_global(d, object, &f->global, f->dimension)
                 : put_lcp(d, object, &f->lcp);
  if (code != 0) {
    Py_XDECREF(d);
    return NULL;
  }
  return d;
}

/* reduced(): the local problem of a global one. */
static PyObject* problem_reduced(PyObject* object, PyObject* unused) {
  (void)unused;
  const core_state* state = PyType_GetModuleState(Py_TYPE(object));
  const saltus_problem_file* f = ((problem_object*)object)->file;
  if (f->kind != SALTUS_PROBLEM_GLOBAL_FRICTION) {
    PyErr_SetString(PyExc_ValueError, "the problem is not global");
    return NULL;
  }
  core_messages messages;
  saltus_problem_file* file;
  saltus_log log = core_messages_log(&messages);
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status = saltus_global_friction_reduce(&f->global, log, NULL, &file);
  PyEval_RestoreThread(released);
  if (status != SALTUS_OK) {
    return core_raise(state, status, &messages);
  }
  core_messages_free(&messages);
  allocfunc allocate = (allocfunc)PyType_GetSlot(state->problem_type, Py_tp_alloc);
  problem_object* self = (problem_object*)allocate(state->problem_type, 0);
  if (self == NULL) {
    saltus_problem_file_destroy(file);
    return NULL;
  }
  self->file = file;
  return (PyObject*)self;
}

/* write(path): the problem in the format of the name. */
static PyObject* problem_write(PyObject* object, PyObject* args) {
  const core_state* state = PyType_GetModuleState(Py_TYPE(object));
  const saltus_problem_file* f = ((problem_object*)object)->file;
  const char* path;
  if (!PyArg_ParseTuple(args, "s", &path)) {
    return NULL;
  }
  core_messages messages;
  saltus_log log = core_messages_log(&messages);
  saltus_status status = f->kind == SALTUS_PROBLEM_FRICTION
                             ? saltus_problem_file_write_friction(path, &f->friction, log)
                         : f->kind == SALTUS_PROBLEM_GLOBAL_FRICTION
                             ? saltus_problem_file_write_global(path, &f->global, log)
                             : saltus_problem_file_write_lcp(path, &f->lcp, log);
  if (status != SALTUS_OK) {
    return core_raise(state, status, &messages);
  }
  core_messages_free(&messages);
  Py_RETURN_NONE;
}

static PyMethodDef problem_methods[] = {
    {"data", problem_data, METH_NOARGS, "Kind, dimension and arrays, as a dict."},
    {"reduced", problem_reduced, METH_NOARGS, "The local problem of a global one."},
    {"write", problem_write, METH_VARARGS, "write(path)"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot problem_slots[] = {{Py_tp_dealloc, (void*)problem_free},
                                      {Py_tp_methods, problem_methods},
                                      {Py_tp_doc, (void*)"A contact problem that was read."},
                                      {0, NULL}};

static PyType_Spec problem_spec = {.name = "saltus._core.Problem",
                                   .basicsize = sizeof(problem_object),
                                   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   .slots = problem_slots};

int core_add_problems(PyObject* module, core_state* state) {
  state->problem_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &problem_spec, NULL);
  return state->problem_type != NULL ? PyModule_AddType(module, state->problem_type) : -1;
}
