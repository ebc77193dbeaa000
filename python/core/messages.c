/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * messages.c - messages of the library as exceptions and warnings of Python; signals during computations.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static char* copied(const char* text) {
  size_t bytes = strlen(text) + 1;
  char* copy = malloc(bytes);
  return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

static void write_message(void* user, saltus_level level, const char* text) {
  core_messages* m = user;
  if (level == SALTUS_LEVEL_ERROR) {
    m->error = m->error == NULL ? copied(text) : m->error;
    return;
  }
  if (level != SALTUS_LEVEL_WARNING) {
    return;
  }
  if (m->warning_count == m->warning_room) {
    int room = m->warning_room > 0 ? 2 * m->warning_room : 4;
    char** larger = realloc(m->warnings, (size_t)room * sizeof *larger);
    if (larger == NULL) {
      return;
    }
    m->warnings = larger;
    m->warning_room = room;
  }
  char* copy = copied(text);
  if (copy != NULL) {
    m->warnings[m->warning_count++] = copy;
  }
}

saltus_log core_messages_log(core_messages* messages) {
  *messages = (core_messages){0};
  return (saltus_log){write_message, messages};
}

void core_messages_free(core_messages* m) {
  free(m->error);
  for (int i = 0; i < m->warning_count; i++) {
    free(m->warnings[i]);
  }
  free(m->warnings);
  *m = (core_messages){0};
}

PyObject* core_text(const char* text) {
  text = text != NULL ? text : "";
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject* core_raise(const core_state* state, saltus_status status, core_messages* messages) {
  PyObject* text = core_text(
      messages != NULL && messages->error != NULL ? messages->error : saltus_status_text(status));
  if (messages != NULL) {
    core_messages_free(messages);
  }
  PyObject* error =
      text != NULL ? PyObject_CallFunction(state->make_error, "iN", (int)status, text) : NULL;
  if (error != NULL) {
    PyErr_SetObject((PyObject*)Py_TYPE(error), error);
    Py_DECREF(error);
  }
  return NULL;
}

int core_warn(const core_state* state, core_messages* m) {
  int code = 0;
  for (int i = 0; i < m->warning_count; i++) {
    PyObject* text = code == 0 ? core_text(m->warnings[i]) : NULL;
    PyObject* done = text != NULL ? PyObject_CallFunction(state->warn, "O", text) : NULL;
    code = done != NULL ? code : -1;
    Py_XDECREF(text);
    Py_XDECREF(done);
    free(m->warnings[i]);
  }
  m->warning_count = 0;
  return code;
}

/* Called periodically (saltus_progress): signal handlers run in the main thread, which waits here. */
static saltus_status look(void* user, double t, double t_end, long long step) {
  core_watch* watch = user;
  (void)t;
  (void)t_end;
  (void)step;
  PyEval_RestoreThread(watch->released);
  bool raised = PyErr_CheckSignals() != 0;
  if (raised && watch->type == NULL) {
    PyErr_Fetch(&watch->type, &watch->value, &watch->trace);
    PyErr_NormalizeException(&watch->type, &watch->value, &watch->trace);
  }
  watch->released = PyEval_SaveThread();
  return raised ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

saltus_progress core_watch_progress(core_watch* watch) {
  return (saltus_progress){.report = look, .user = watch, .interval = 0.05};
}

void core_watch_begin(core_watch* watch) {
  *watch = (core_watch){.released = PyEval_SaveThread()};
}

int core_watch_end(core_watch* watch) {
  PyEval_RestoreThread(watch->released);
  if (watch->type != NULL) {
    PyErr_Restore(watch->type, watch->value, watch->trace);
    return -1;
  }
  return 0;
}

int core_put(PyObject* dict, const char* key, PyObject* value) {
  int code = value != NULL ? PyDict_SetItemString(dict, key, value) : -1;
  Py_XDECREF(value);
  return code;
}

/* One pair of texts, copied. */
static int take_pair(PyObject* item, saltus_override* pair) {
  const char *name, *value;
  if (!PyArg_ParseTuple(item, "ss", &name, &value)) {
    return -1;
  }
  pair->name = copied(name);
  pair->value = copied(value);
  if (pair->name == NULL || pair->value == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  return 0;
}

int core_pairs_take(PyObject* sequence, core_pairs* pairs) {
  *pairs = (core_pairs){0};
  if (sequence == Py_None) {
    return 0;
  }
  if (!PyTuple_Check(sequence)) {
    PyErr_SetString(PyExc_TypeError, "a tuple of pairs is needed");
    return -1;
  }
  Py_ssize_t count = PyTuple_Size(sequence);
  if (count == 0) {
    return 0;
  }
  if (count > 100000 || (pairs->pairs = calloc((size_t)count, sizeof *pairs->pairs)) == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject* item = PyTuple_GetItem(sequence, i);
    pairs->count = (int)i + 1;
    if (item == NULL || !PyTuple_Check(item) || take_pair(item, &pairs->pairs[i]) != 0) {
      if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "a tuple of pairs is needed");
      }
      core_pairs_free(pairs);
      return -1;
    }
  }
  return 0;
}

void core_pairs_free(core_pairs* pairs) {
  for (int i = 0; i < pairs->count; i++) {
    free((void*)(uintptr_t)pairs->pairs[i].name);
    free((void*)(uintptr_t)pairs->pairs[i].value);
  }
  free(pairs->pairs);
  *pairs = (core_pairs){0};
}
