/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * functions.c - systems of functions: Python functions on arrays, C functions by address, or constants.
 *
 *   M(t,q), F(t,q,v), gaps g(t,q), rows G(t,q) of contacts (normal first) and of joints, their parts b(t,q) and
 *   c(t,q,v), energies. Missing rows are central differences of gaps and joints; a missing c is a difference of
 *   G v + b along the motion. Relative errors: 1e-10.
 *
 * An exception of a function is stored by thread and ends the step by saltus_fail; the caller of the library raises it.
 */
#include "functions.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Functions in the order of the tuple from Python. */
static const struct {
  const char* name;
  bool takes_v;
} kinds[CORE_FUNCTIONS] = {
    {"mass", false},        {"force", true},
    {"gap", false},         {"rows", false},
    {"drift", false},       {"convective", true},
    {"joint", false},       {"joint_rows", false},
    {"joint_drift", false}, {"joint_convective", true},
    {"potential", false},   {"kinetic", true},
    {"force_q", true},      {"force_v", true},
};

static const double nothing = NAN;

static void fill(double* out, size_t count, double value) {
  for (size_t i = 0; i < count; i++) {
    out[i] = value;
  }
}

/* Whether a function already raised in this thread; with the lock. */
static bool has_raised(const core_functions* f, PyObject* thread) {
  return PyDict_GetItem(f->raised, thread) != NULL;
}

static void keep_exception(core_functions* f, PyObject* thread) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value != NULL && trace != NULL) {
    PyException_SetTraceback(value, trace);
  }
  if (value != NULL && PyDict_SetItem(f->raised, thread, value) != 0) {
    PyErr_Clear();
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

/* A NumPy array with a copy, so that user functions may keep it. */
static PyObject* array_of(const core_functions* f, const double* x, Py_ssize_t count) {
  PyObject* memory = core_array_copy(f->state, x, count);
  PyObject* array = memory != NULL ? PyObject_CallFunction(f->state->as_array, "O", memory) : NULL;
  Py_XDECREF(memory);
  return array;
}

static PyObject* call(const core_functions* f, int kind, const saltus_point* at) {
  PyObject* q = array_of(f, at->q, f->system.dims.nq);
  PyObject* answer = NULL;
  if (q == NULL) {
    return NULL;
  }
  if (kinds[kind].takes_v) {
    PyObject* v = array_of(f, at->v, f->system.dims.nv);
    answer = v != NULL ? PyObject_CallFunction(f->function[kind].object, "dOO", at->t, q, v) : NULL;
    Py_XDECREF(v);
  } else {
    answer = PyObject_CallFunction(f->function[kind].object, "dO", at->t, q);
  }
  Py_DECREF(q);
  return answer;
}

/* Result of a Python function as doubles, in any form accepted by NumPy. */
static int read_answer(const core_functions* f, int kind, PyObject* answer, double* out) {
  PyObject* array = PyObject_CallFunction(f->state->as_doubles, "Os", answer, kinds[kind].name);
  if (array == NULL) {
    return -1;
  }
  core_reals reals;
  int code = core_reals_take(array, kinds[kind].name, (Py_ssize_t)f->function[kind].count, &reals);
  if (code == 0) {
    memcpy(out, reals.data, f->function[kind].count * sizeof *out);
    core_reals_release(&reals);
  }
  Py_DECREF(array);
  return code;
}

static void call_python(core_functions* f, int kind, const saltus_point* at, double* out) {
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject* thread = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
  if (thread != NULL && f->function[kind].object != NULL && !has_raised(f, thread)) {
    PyObject* answer = call(f, kind, at);
    bool good = answer != NULL && read_answer(f, kind, answer, out) == 0;
    Py_XDECREF(answer);
    if (!good) {
      keep_exception(f, thread);
      fill(out, f->function[kind].count, nothing);
      saltus_fail(at, "function %s raised an exception", kinds[kind].name);
    }
  } else {
    PyErr_Clear();
    fill(out, f->function[kind].count, nothing);
    saltus_fail(at, "function %s raised an exception", kinds[kind].name);
  }
  Py_XDECREF(thread);
  PyGILState_Release(lock);
}

/* self is constant for the library; changes are made under the lock. */
static core_functions* functions_of(const void* self) {
  return (core_functions*)(uintptr_t)self;
}

static bool has(const core_functions* f, int kind) {
  return f->function[kind].count > 0;
}

static void evaluate(const core_functions* f, int kind, const saltus_point* at, double* out) {
  const core_function* function = &f->function[kind];
  if (function->constant != NULL) {
    memcpy(out, function->constant, function->count * sizeof *out);
  } else if (function->address != NULL) {
    function->address(at->t, at->q, at->v, out);
  } else {
    call_python(functions_of(f), kind, at, out);
  }
}

static void mass(const void* self, const saltus_point* at, double* M) {
  evaluate(self, CORE_MASS, at, M);
}

static void force(const void* self, const saltus_point* at, double* F) {
  evaluate(self, CORE_FORCE, at, F);
}

static void force_q(const void* self, const saltus_point* at, double* F_q) {
  evaluate(self, CORE_FORCE_Q, at, F_q);
}

static void force_v(const void* self, const saltus_point* at, double* F_v) {
  evaluate(self, CORE_FORCE_V, at, F_v);
}

static double potential(const void* self, const saltus_point* at) {
  double value = NAN;
  evaluate(self, CORE_POTENTIAL, at, &value);
  return value;
}

static double kinetic(const void* self, const saltus_point* at) {
  double value = NAN;
  evaluate(self, CORE_KINETIC, at, &value);
  return value;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  evaluate(self, CORE_GAP, at, list->gap);
  return SALTUS_OK;
}

static void joints(const void* self, const saltus_point* at, double* g) {
  evaluate(self, CORE_JOINT, at, g);
}

/* The two sets of rows: functions, and total number of rows. */
typedef struct row_set {
  int value, rows, drift, convective;
  size_t count;
} row_set;

static row_set contact_rows(const core_functions* f) {
  return (row_set){CORE_GAP, CORE_ROWS, CORE_DRIFT, CORE_CONVECTIVE,
                   (size_t)f->system.dims.nc * f->rows};
}

static row_set joint_rows(const core_functions* f) {
  return (row_set){CORE_JOINT, CORE_JOINT_ROWS, CORE_JOINT_DRIFT, CORE_JOINT_CONVECTIVE,
                   (size_t)f->system.dims.nj};
}

/* Doubles of the workspace: t, q, then G of a set, b, two vectors of rows, and two states. Cached while t and q are
 * unchanged. */
typedef struct room {
  double *key, *G, *b, *up, *down, *q, *v;
} room;

static size_t room_doubles(const core_functions* f, const row_set* set) {
  size_t nq = (size_t)f->system.dims.nq, nv = (size_t)f->system.dims.nv;
  return 2 + nq + set->count * (nv + 3) + nq + nv;
}

static room room_at(const core_functions* f, const row_set* set, double* from) {
  size_t nq = (size_t)f->system.dims.nq, nv = (size_t)f->system.dims.nv;
  room r = {.key = from};
  r.G = r.key + 2 + nq;
  r.b = r.G + set->count * nv;
  r.up = r.b + set->count;
  r.down = r.up + set->count;
  r.q = r.down + set->count;
  r.v = r.q + nq;
  return r;
}

/* Steps of central differences: cube root of the rounding unit times the size of the variable. */
static double step_of(double x) {
  return 6e-6 * fmax(1.0, fabs(x));
}

/* G by differences of values; for normals only. */
static void differ(const core_functions* f, const row_set* set, const saltus_point* at, room* r,
                   double* G) {
  size_t nv = (size_t)f->system.dims.nv, rows = f->function[set->value].count;
  size_t stride = set->count / rows * nv;
  saltus_point beside = *at;
  beside.q = r->q;
  for (size_t j = 0; j < nv; j++) {
    double h = step_of(at->q[j]);
    memcpy(r->q, at->q, nv * sizeof(double));
    r->q[j] = at->q[j] + h;
    double above = r->q[j];
    evaluate(f, set->value, &beside, r->up);
    r->q[j] = at->q[j] - h;
    double below = r->q[j];
    evaluate(f, set->value, &beside, r->down);
    for (size_t i = 0; i < rows; i++) {
      G[i * stride + j] = (r->up[i] - r->down[i]) / (above - below);
    }
  }
}

/* b by differences of values in time if G is a difference as well; else 0. */
static void differ_time(const core_functions* f, const row_set* set, const saltus_point* at,
                        room* r, double* b) {
  size_t rows = f->function[set->value].count;
  saltus_point beside = *at;
  double h = step_of(at->t);
  beside.t = at->t + h;
  evaluate(f, set->value, &beside, r->up);
  beside.t = at->t - h;
  evaluate(f, set->value, &beside, r->down);
  for (size_t i = 0; i < rows; i++) {
    b[i * (set->count / rows)] = (r->up[i] - r->down[i]) / (2.0 * h);
  }
}

static void find_rows(const core_functions* f, const row_set* set, const saltus_point* at, room* r,
                      double* G, double* b) {
  if (has(f, set->rows)) {
    evaluate(f, set->rows, at, G);
  } else {
    differ(f, set, at, r, G);
  }
  fill(b, set->count, 0.0);
  if (has(f, set->drift)) {
    evaluate(f, set->drift, at, b);
  } else if (!has(f, set->rows)) {
    differ_time(f, set, at, r, b);
  }
}

/* Rows at a state, cached until another state is requested. */
static room rows_at(const core_functions* f, const row_set* set, const saltus_point* at,
                    double* scratch) {
  size_t nq = (size_t)f->system.dims.nq;
  room r = room_at(f, set, scratch);
  bool known =
      r.key[0] != 0.0 && r.key[1] == at->t && memcmp(r.key + 2, at->q, nq * sizeof(double)) == 0;
  if (!known) {
    find_rows(f, set, at, &r, r.G, r.b);
    r.key[0] = 1.0;
    r.key[1] = at->t;
    memcpy(r.key + 2, at->q, nq * sizeof(double));
  }
  return r;
}

/* U = G^T v + b at a state along the motion; `work` has the doubles of rows. */
static void velocities(const core_functions* f, const row_set* set, const saltus_point* at,
                       double* G, double* b, double* U) {
  size_t nv = (size_t)f->system.dims.nv;
  fill(b, set->count, 0.0);
  evaluate(f, set->rows, at, G);
  if (has(f, set->drift)) {
    evaluate(f, set->drift, at, b);
  }
  for (size_t i = 0; i < set->count; i++) {
    U[i] = b[i];
    for (size_t j = 0; j < nv; j++) {
      U[i] += G[i * nv + j] * at->v[j];
    }
  }
}

/* c: the rate of U along q' = v. For rows by differences it is a second difference of values. */
static void find_convective(const core_functions* f, const row_set* set, const saltus_point* at,
                            double* c, double* scratch) {
  size_t nv = (size_t)f->system.dims.nv, count = set->count;
  if (has(f, set->convective)) {
    evaluate(f, set->convective, at, c);
    return;
  }
  if (has(f, set->rows) && f->function[set->rows].constant != NULL && !has(f, set->drift)) {
    fill(c, count, 0.0);
    return;
  }
  double size = 1.0;
  for (size_t j = 0; j < nv; j++) {
    size = fmax(size, fabs(at->v[j]));
  }
  bool second = !has(f, set->rows);
  double h = (second ? 1.2e-4 : 6e-6) / size;
  room r = room_at(f, set, scratch);
  double *G = r.G, *b = r.b; /* cached rows are overwritten */
  r.key[0] = 0.0;
  saltus_point beside = *at;
  beside.q = r.q;
  size_t rows = f->function[set->value].count, stride = count / rows;
  fill(c, count, 0.0);
  for (int side = -1; side <= 1; side += second ? 1 : 2) {
    for (size_t j = 0; j < nv; j++) {
      r.q[j] = at->q[j] + side * h * at->v[j];
    }
    beside.t = at->t + side * h;
    if (second) {
      evaluate(f, set->value, &beside, r.up);
      for (size_t i = 0; i < rows; i++) {
        c[i * stride] += (side == 0 ? -2.0 : 1.0) * r.up[i] / (h * h);
      }
    } else {
      velocities(f, set, &beside, G, b, r.up);
      for (size_t i = 0; i < count; i++) {
        c[i] += side * r.up[i] / (2.0 * h);
      }
    }
  }
}

/* Copies rows first .. of a set to the rows requested by a scheme. */
static void write_rows(const core_functions* f, const row_set* set, const saltus_point* at,
                       size_t first, saltus_rows* rows) {
  size_t nv = (size_t)f->system.dims.nv, doubles = room_doubles(f, set);
  /* three parts for each set: cached rows, workspace of differences, c */
  double* scratch = (double*)at->scratch + (set->value == CORE_JOINT ? f->joint_scratch : 0);
  room r = rows_at(f, set, at, scratch);
  double* c = scratch + 2 * doubles;
  if (rows->c != NULL) {
    find_convective(f, set, at, c, scratch + doubles);
  }
  for (int i = 0; i < rows->count; i++) {
    size_t from = first + (size_t)i;
    memcpy(rows->G + (size_t)i * (size_t)rows->stride, r.G + from * nv, nv * sizeof(double));
    rows->b[i] = r.b[from];
    if (rows->c != NULL) {
      rows->c[i] = c[from];
    }
  }
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  const core_functions* f = self;
  const row_set set = contact_rows(f);
  write_rows(f, &set, at, (size_t)identity * f->rows, rows);
}

static void joint(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  const core_functions* f = self;
  const row_set set = joint_rows(f);
  write_rows(f, &set, at, (size_t)i, rows);
}

size_t core_functions_scratch(core_functions* f) {
  const row_set both[2] = {contact_rows(f), joint_rows(f)};
  size_t doubles[2];
  for (int i = 0; i < 2; i++) {
    doubles[i] = both[i].count > 0 ? 2 * room_doubles(f, &both[i]) + both[i].count : 0;
  }
  f->joint_scratch = doubles[0];
  return (doubles[0] + doubles[1]) * sizeof(double);
}

void core_functions_ops(core_functions* f) {
  f->ops = (saltus_system_ops){.mass = mass, .force = force};
  if (has(f, CORE_GAP)) {
    f->ops.contacts = contacts;
    f->ops.contact = contact;
  }
  if (has(f, CORE_JOINT)) {
    f->ops.joints = joints;
    f->ops.joint = joint;
  }
  f->ops.potential = has(f, CORE_POTENTIAL) ? potential : NULL;
  f->ops.kinetic = has(f, CORE_KINETIC) ? kinetic : NULL;
  f->ops.force_q = has(f, CORE_FORCE_Q) ? force_q : NULL;
  f->ops.force_v = has(f, CORE_FORCE_V) ? force_v : NULL;
}

const char* core_function_name(int kind) {
  return kinds[kind].name;
}

PyObject* core_functions_take(core_scene* scene) {
  core_functions* f = scene->functions;
  PyObject* thread = f != NULL ? PyLong_FromUnsignedLong(PyThread_get_thread_ident()) : NULL;
  PyObject* value = thread != NULL ? PyDict_GetItem(f->raised, thread) : NULL;
  if (value != NULL) {
    Py_INCREF(value);
    PyDict_DelItem(f->raised, thread);
  }
  Py_XDECREF(thread);
  return value;
}

int core_functions_raised(core_scene* scene) {
  PyObject* value = core_functions_take(scene);
  if (value == NULL) {
    return 0;
  }
  PyErr_SetObject((PyObject*)Py_TYPE(value), value);
  Py_DECREF(value);
  return -1;
}
