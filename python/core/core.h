/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * core.h - common declarations of the Python extension. It uses the public headers of the library and the
 * stable ABI of Python 3.11, the first one with buffers: one file for 3.11 and later.
 *
 * The Python package converts arguments and results of these functions. Every length, shape and kind is
 * validated again here.
 */
#ifndef SALTUS_PYTHON_CORE_H
#define SALTUS_PYTHON_CORE_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "saltus/saltus.h"

#include "frame_store.h"

/* State of one import of the module. */
typedef struct core_state {
  PyTypeObject* array_type;
  PyTypeObject* data_type;
  PyTypeObject* scene_type;
  PyTypeObject* flag_type;
  PyTypeObject* sim_type;
  PyTypeObject* problem_type;
  PyObject* make_error; /* saltus._errors.make(status, message) -> exception */
  PyObject* warn;       /* saltus._errors.warn(message) */
  PyObject* as_array;   /* numpy.asarray */
  PyObject* as_doubles; /* saltus.arguments.as_answer(value, name) */
} core_state;

core_state* core_state_of(PyObject* module);

/* Messages of the library, stored until they can be passed to Python: written without the interpreter lock. */
typedef struct core_messages {
  char* error; /* the first one; NULL: none */
  char** warnings;
  int warning_count, warning_room;
} core_messages;

saltus_log core_messages_log(core_messages* messages);
void core_messages_free(core_messages* messages);

/* Sets the exception of a status with the stored error and clears the messages. Returns NULL. */
PyObject* core_raise(const core_state* state, saltus_status status, core_messages* messages);

/* Passes warnings to Python; -1: one became an exception. */
int core_warn(const core_state* state, core_messages* messages);

/* An array on memory owned by `owner`. format: 'd', 'q', 'Q', 'i' or 'B' (bytes). */
typedef struct core_shape {
  char format;
  int rank;
  Py_ssize_t size[3];
} core_shape;

PyObject* core_array(const core_state* state, PyObject* owner, const void* data, core_shape shape);

/* An array that owns `count` doubles of malloc; on failure they are freed at once. */
PyObject* core_array_give(const core_state* state, double* data, Py_ssize_t count);

/* A copy of `count` doubles in a new array. */
PyObject* core_array_copy(const core_state* state, const double* data, Py_ssize_t count);

/* Doubles of any object with a contiguous buffer of them. `name` and `count` (-1: any) are for the message. */
typedef struct core_reals {
  Py_buffer buffer;
  const double* data;
  Py_ssize_t count;
  int held;
} core_reals;

int core_reals_take(PyObject* object, const char* name, Py_ssize_t count, core_reals* reals);
void core_reals_release(core_reals* reals);

/* The same for int32. */
typedef struct core_ints {
  Py_buffer buffer;
  const int* data;
  Py_ssize_t count;
  int held;
} core_ints;

int core_ints_take(PyObject* object, const char* name, Py_ssize_t count, core_ints* ints);
void core_ints_release(core_ints* ints);

/* A flag that stops runs, set from any thread. */
typedef struct core_flag {
  PyObject_HEAD volatile int value;
} core_flag;

/* A scene, or a system of functions. */
typedef struct core_scene {
  PyObject_HEAD saltus_scene* scene;
  struct core_functions* functions; /* of a system without a scene */
  saltus_scene_view view;
} core_scene;

/* Handles signals while the lock is released. */
typedef struct core_watch {
  PyThreadState* released;
  PyObject *type, *value, *trace; /* exception of a signal handler */
} core_watch;

/* Results of a run or of a file. */
typedef struct core_data {
  PyObject_HEAD const saltus_recording_data* data;
  saltus_recording_data* read; /* of a file; else NULL */
  core_frame_store* track;     /* of a run; else NULL */
  saltus_run* run;             /* the same */
  core_scene* scene;           /* of a run: keeps its system alive */
  core_flag* flag;             /* that could stop it; may be NULL */
  core_messages messages;
  core_watch watch;
  saltus_status status;
} core_data;

saltus_progress core_watch_progress(core_watch* watch);
/* Around calls of the library; the second sets the exception of a handler, if any, and then returns -1. */
void core_watch_begin(core_watch* watch);
int core_watch_end(core_watch* watch);

/* Names and values of options: a sequence of pairs of texts. NULL with an exception. */
typedef struct core_pairs {
  saltus_override* pairs;
  int count;
} core_pairs;

/* Texts of a tuple, which owns them; the array is malloc'd. -1 with an exception. */
typedef struct core_texts {
  const char** texts;
  int count;
} core_texts;

int core_texts_take(PyObject* tuple, core_texts* texts);
PyObject* core_texts_object(const char* const* texts, int count);

int core_pairs_take(PyObject* sequence, core_pairs* pairs);
void core_pairs_free(core_pairs* pairs);

/* The exception that a function of the system raised in this thread, if any, becomes the present one. */
int core_functions_raised(core_scene* scene);
/* The same exception, taken; NULL: none. */
PyObject* core_functions_take(core_scene* scene);
void core_functions_free(struct core_functions* functions);
int core_functions_visit(struct core_functions* functions, visitproc visit, void* arg);
void core_functions_clear(struct core_functions* functions);

/* Types and functions of the sources, added to the module. */
int core_add_arrays(PyObject* module, core_state* state);
int core_add_data(PyObject* module, core_state* state);
int core_add_scene(PyObject* module, core_state* state);
int core_add_sim(PyObject* module, core_state* state);
int core_add_problems(PyObject* module, core_state* state);

/* Text of the tolerances and the limits of the steps; freed by the caller. NULL: no memory. */
char* core_explanation(const saltus_run* run);

/* Functions of the module. */
PyObject* core_run(PyObject* module, PyObject* args);
PyObject* core_load(PyObject* module, PyObject* args);
PyObject* core_verify(PyObject* module, PyObject* args);
PyObject* core_data_stats(PyObject* self, PyObject* unused);
PyObject* core_data_settings(PyObject* self, PyObject* unused);
PyObject* core_data_save(PyObject* self, PyObject* args);
PyObject* core_data_snapshot(PyObject* self, PyObject* args);
PyObject* core_lcp(PyObject* module, PyObject* args);
PyObject* core_friction(PyObject* module, PyObject* args);
PyObject* core_compare(PyObject* module, PyObject* args);
PyObject* core_sensitivity(PyObject* module, PyObject* args);
PyObject* core_read_problem(PyObject* module, PyObject* args);
PyObject* core_system(PyObject* module, PyObject* args);
PyObject* core_snapshot_scene(PyObject* module, PyObject* bytes);

PyObject* core_page(PyObject* module, PyObject* args);
PyObject* core_export_fmu(PyObject* module, PyObject* args);
PyObject* core_sweep(PyObject* module, PyObject* args);
PyObject* core_fit(PyObject* module, PyObject* args);
PyObject* core_optimize(PyObject* module, PyObject* args);

PyObject* core_lists(PyObject* module, PyObject* unused);
PyObject* core_text(const char* text);

/* Names and units of columns of a scene or, where that is NULL, of a file; args holds the letter of the kind. */
PyObject* core_labels(const saltus_scene_view* view, const saltus_recording_data* file,
                      PyObject* args);

/* dict[key] = value, whose reference is taken over; -1 on failure, also if value is NULL. */
int core_put(PyObject* dict, const char* key, PyObject* value);

#endif
