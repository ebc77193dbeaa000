/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * page.c - a run as a page for browsers, the report of the library, in memory.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct page_bytes {
  char* data;
  size_t size, room;
} page_bytes;

static saltus_status add(void* user, const void* bytes, size_t size) {
  page_bytes* page = user;
  if (size > page->room - page->size) {
    size_t room = 2 * page->room + size;
    char* larger = realloc(page->data, room);
    if (larger == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    page->data = larger;
    page->room = room;
  }
  memcpy(page->data + page->size, bytes, size);
  page->size += size;
  return SALTUS_OK;
}

/* The data of a run with names as files have them, in `names`, which the caller frees. Data of files have theirs. */
static saltus_recording_data with_names(const core_data* from, const char*** names) {
  saltus_recording_data data = *from->data;
  *names = NULL;
  if (from->scene == NULL) {
    return data;
  }
  const saltus_scene_view* view = &from->scene->view;
  const saltus_system* system = view->system;
  const saltus_observables* own = view->observables;
  const char* const* joints = view->joint_names != NULL ? view->joint_names : system->joint_names;
  data.law_count = data.changing ? system->law_count : 0;
  const size_t nc = (size_t)data.nc, nj = (size_t)data.nj, laws = (size_t)data.law_count;
  const char** all = calloc(nc + nj + laws + 1, sizeof *all);
  *names = all;
  if (all == NULL) {
    return data;
  }
  for (size_t i = 0; i < nc + laws; i++) { /* either set is empty */
    const char* name = (int)i < system->law_count ? system->laws[i].name : NULL;
    all[i] = name != NULL ? name : "";
  }
  for (size_t i = 0; i < nj; i++) {
    all[nc + laws + i] = joints != NULL && joints[i] != NULL ? joints[i] : "";
  }
  data.contact_names = all;
  data.law_names = all;
  data.joint_names = all + nc + laws;
  data.output_labels = own != NULL ? (saltus_label*)(uintptr_t)own->output_labels : NULL;
  data.event_names = own != NULL ? (const char**)(uintptr_t)own->event_names : NULL;
  data.event_name_count = own != NULL ? own->event_count : 0;
  data.accuracy = data.accuracy != NULL ? data.accuracy : "";
  data.scene = data.scene != NULL ? data.scene : "";
  data.name = data.name != NULL ? data.name : "";
  data.scene_sha256 = data.scene_sha256 != NULL ? data.scene_sha256 : "";
  return data;
}

/* page(data, scene or None, document): bytes of the page, or of its document alone */
PyObject* core_page(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  PyObject *data, *scene;
  int document;
  if (!PyArg_ParseTuple(args, "O!Op", (PyObject*)state->data_type, &data, &scene, &document)) {
    return NULL;
  }
  if (scene != Py_None && Py_TYPE(scene) != state->scene_type) {
    PyErr_SetString(PyExc_TypeError, "a scene is needed");
    return NULL;
  }
  const char** names;
  const saltus_recording_data named = with_names((core_data*)data, &names);
  if (((core_data*)data)->scene != NULL && names == NULL) {
    return PyErr_NoMemory();
  }
  if (named.q_labels == NULL || named.v_labels == NULL || named.count < 1 ||
      (((core_data*)data)->track != NULL && !((core_data*)data)->track->contacts)) {
    free((void*)names);
    PyErr_SetString(PyExc_ValueError, "a page needs states, names of coordinates and contacts");
    return NULL;
  }
  core_messages messages;
  page_bytes page = {0};
  saltus_report_def def = saltus_report_def_default();
  def.data = &named;
  def.scene = scene != Py_None ? &((core_scene*)scene)->view : NULL;
  def.write = add;
  def.user = &page;
  def.log = core_messages_log(&messages);
  const saltus_run* run = ((core_data*)data)->run;
  char* explanation = run != NULL ? core_explanation(run) : NULL;
  def.explanation = explanation;
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status =
      document != 0 ? saltus_report_document(&def, NULL) : saltus_report_page(&def, NULL);
  PyEval_RestoreThread(released);
  PyObject* answer = NULL;
  if (scene != Py_None && core_functions_raised((core_scene*)scene) != 0) {
    core_messages_free(&messages);
  } else if (status != SALTUS_OK) {
    core_raise(state, status, &messages);
  } else {
    core_messages_free(&messages);
    answer = PyBytes_FromStringAndSize(page.data, (Py_ssize_t)page.size);
  }
  free(explanation);
  free(page.data);
  free((void*)names);
  return answer;
}
