/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * module.c - the module saltus._core.
 */
#include "core.h"

#include <stddef.h>

core_state* core_state_of(PyObject* module) {
  return PyModule_GetState(module);
}

#define MEMBER(member) offsetof(saltus_event, member)

/* Layout of an event: (name, NumPy format, offset), and the bytes of one event. */
static PyObject* event_fields(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  static const struct {
    const char *name, *format;
    size_t place;
  } fields[] = {{"kind", "i4", MEMBER(kind)},
                {"t", "f8", MEMBER(t)},
                {"t_accuracy", "f8", MEMBER(t_accuracy)},
                {"contact", "i4", MEMBER(contact)},
                {"u_before", "f8", MEMBER(u_before)},
                {"u_after", "f8", MEMBER(u_after)},
                {"impulse", "f8", MEMBER(impulse[0])},
                {"impulse_t1", "f8", MEMBER(impulse[1])},
                {"impulse_t2", "f8", MEMBER(impulse[2])},
                {"slip_before_1", "f8", MEMBER(slip_before[0])},
                {"slip_before_2", "f8", MEMBER(slip_before[1])},
                {"slip_after_1", "f8", MEMBER(slip_after[0])},
                {"slip_after_2", "f8", MEMBER(slip_after[1])},
                {"energy_change", "f8", MEMBER(energy_change)},
                {"identity", "u8", MEMBER(identity)},
                {"law", "i4", MEMBER(law)}};
  const Py_ssize_t count = (Py_ssize_t)(sizeof fields / sizeof fields[0]);
  PyObject* list = PyList_New(count);
  for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
    PyObject* item =
        Py_BuildValue("ssn", fields[i].name, fields[i].format, (Py_ssize_t)fields[i].place);
    if (item == NULL || PyList_SetItem(list, i, item) != 0) {
      Py_CLEAR(list);
    }
  }
  return list != NULL ? Py_BuildValue("Nn", list, (Py_ssize_t)sizeof(saltus_event)) : NULL;
}

static PyObject* field_object(const saltus_field* f) {
  PyObject* choices = PyList_New(0);
  for (int i = 0; choices != NULL && f->choices != NULL && f->choices[i] != NULL; i++) {
    PyObject* word = core_text(f->choices[i]);
    if (word == NULL || PyList_Append(choices, word) != 0) {
      Py_CLEAR(choices);
    }
    Py_XDECREF(word);
  }
  if (choices == NULL) {
    return NULL;
  }
  return Py_BuildValue("{s:s,s:d,s:d,s:d,s:N,s:s}", "name", f->name, "default", f->fallback, "low",
                       f->lo, "high", f->hi, "choices", choices, "doc", f->doc);
}

static PyObject* fields_object(const saltus_field_table* table) {
  PyObject* list = PyList_New(table->count);
  for (int i = 0; list != NULL && i < table->count; i++) {
    PyObject* item = field_object(&table->fields[i]);
    if (item == NULL || PyList_SetItem(list, i, item) != 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

static PyObject* scheme_object(const saltus_scheme_info* s) {
  return Py_BuildValue("{s:s,s:s,s:s,s:i,s:i,s:N,s:N,s:N,s:N}", "name", s->name, "summary",
                       s->summary, "source", s->source, "order", s->order, "smooth_order",
                       s->smooth_order, "locates_events", PyBool_FromLong(s->locates_events),
                       "dense", PyBool_FromLong(s->dense), "chooses_step",
                       PyBool_FromLong(s->chooses_step), "options", fields_object(&s->options));
}

static PyObject* solver_object(const saltus_solver_info* s) {
  return Py_BuildValue("{s:s,s:s,s:s,s:N}", "name", s->name, "summary", s->summary, "source",
                       s->source, "options", fields_object(&s->options));
}

/* lists(): (schemes, friction solvers, solvers of complementarity problems, kinds of events). */
PyObject* core_lists(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  PyObject* lists[4];
  const int count[4] = {saltus_scheme_count(), saltus_friction_solver_count(),
                        saltus_lcp_solver_count(), SALTUS_EVENT_KINDS};
  bool good = true;
  for (int k = 0; k < 4; k++) {
    lists[k] = PyList_New(count[k]);
    for (int i = 0; lists[k] != NULL && i < count[k]; i++) {
      PyObject* item = k == 0   ? scheme_object(saltus_scheme_at(i))
                       : k == 1 ? solver_object(saltus_friction_solver_at(i))
                       : k == 2 ? solver_object(saltus_lcp_solver_at(i))
                                : core_text(saltus_event_kind_name((saltus_event_kind)i));
      if (item == NULL || PyList_SetItem(lists[k], i, item) != 0) {
        Py_CLEAR(lists[k]);
      }
    }
    good = good && lists[k] != NULL;
  }
  if (!good) {
    for (int k = 0; k < 4; k++) {
      Py_XDECREF(lists[k]);
    }
    return NULL;
  }
  return Py_BuildValue("NNNN", lists[0], lists[1], lists[2], lists[3]);
}

static PyMethodDef functions[] = {
    {"run", core_run, METH_VARARGS, "Runs a scene: Data."},
    {"load", core_load, METH_VARARGS, "load(path): Data of a recording."},
    {"verify", core_verify, METH_VARARGS, "verify(data, scene, own_start): a certificate."},
    {"snapshot_scene", core_snapshot_scene, METH_O,
     "snapshot_scene(bytes): the text of its scene."},
    {"lcp", core_lcp, METH_VARARGS, "Solves a linear complementarity problem."},
    {"friction", core_friction, METH_VARARGS, "Solves a friction problem."},
    {"system", core_system, METH_VARARGS, "A scene made of functions."},
    {"compare", core_compare, METH_VARARGS,
     "compare(data, data, match, any): how far they are apart."},
    {"sensitivity", core_sensitivity, METH_VARARGS,
     "sensitivity(scene, names, until, tol, times, flag): derivatives of a run."},
    {"read_problem", core_read_problem, METH_VARARGS, "read_problem(path): a Problem."},
    {"page", core_page, METH_VARARGS, "page(data, scene): a page for browsers, bytes."},
    {"export_fmu", core_export_fmu, METH_VARARGS,
     "export_fmu(scene, file, path, binary, version, tol, step, scheme)"},
    {"fit", core_fit, METH_VARARGS, "Parameters from measured motions, as a dict."},
    {"optimize", core_optimize, METH_VARARGS, "Parameters that minimise a measure, as a dict."},
    {"sweep", core_sweep, METH_VARARGS, "One scene many times, as a dict."},
    {"lists", core_lists, METH_NOARGS, "Schemes, solvers and kinds of events."},
    {"event_fields", event_fields, METH_NOARGS, "Where the numbers of an event are."},
    {NULL, NULL, 0, NULL}};

static int start(PyObject* module) {
  core_state* state = core_state_of(module);
  PyObject* errors = PyImport_ImportModule("saltus._errors");
  PyObject* numpy = errors != NULL ? PyImport_ImportModule("numpy") : NULL;
  if (numpy != NULL) {
    state->make_error = PyObject_GetAttrString(errors, "make");
    state->warn = PyObject_GetAttrString(errors, "warn");
    state->as_array = PyObject_GetAttrString(numpy, "asarray");
    PyObject* arguments = PyImport_ImportModule("saltus.arguments");
    state->as_doubles = arguments != NULL ? PyObject_GetAttrString(arguments, "as_answer") : NULL;
    Py_XDECREF(arguments);
  }
  Py_XDECREF(errors);
  Py_XDECREF(numpy);
  if (state->make_error == NULL || state->warn == NULL || state->as_array == NULL ||
      state->as_doubles == NULL) {
    return -1;
  }
  return PyModule_AddStringConstant(module, "version", saltus_version()) == 0 &&
                 core_add_arrays(module, state) == 0 && core_add_data(module, state) == 0 &&
                 core_add_scene(module, state) == 0 && core_add_sim(module, state) == 0 &&
                 core_add_problems(module, state) == 0
             ? 0
             : -1;
}

static int visit_state(PyObject* module, visitproc visit, void* arg) {
  const core_state* state = core_state_of(module);
  Py_VISIT(state->array_type);
  Py_VISIT(state->data_type);
  Py_VISIT(state->scene_type);
  Py_VISIT(state->flag_type);
  Py_VISIT(state->sim_type);
  Py_VISIT(state->problem_type);
  Py_VISIT(state->make_error);
  Py_VISIT(state->warn);
  Py_VISIT(state->as_array);
  Py_VISIT(state->as_doubles);
  return 0;
}

static int clear_state(PyObject* module) {
  core_state* state = core_state_of(module);
  Py_CLEAR(state->array_type);
  Py_CLEAR(state->data_type);
  Py_CLEAR(state->scene_type);
  Py_CLEAR(state->flag_type);
  Py_CLEAR(state->sim_type);
  Py_CLEAR(state->problem_type);
  Py_CLEAR(state->make_error);
  Py_CLEAR(state->warn);
  Py_CLEAR(state->as_array);
  Py_CLEAR(state->as_doubles);
  return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void*)start}, {0, NULL}};

static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "saltus._core",
                                 .m_doc = "The library below saltus.",
                                 .m_size = sizeof(core_state),
                                 .m_methods = functions,
                                 .m_slots = slots,
                                 .m_traverse = visit_state,
                                 .m_clear = clear_state};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void) {
  return PyModuleDef_Init(&definition);
}
