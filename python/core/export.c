/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * export.c - scenes as models for other programs.
 */
#include "core.h"

/* export_fmu(scene, file, path or None, binary, version, tol, step, scheme or None) */
PyObject* core_export_fmu(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  PyObject* scene;
  const char* file;
  saltus_export_fmu_def def = saltus_export_fmu_def_default();
  if (!PyArg_ParseTuple(args, "O!szsiddz", (PyObject*)state->scene_type, &scene, &file, &def.path,
                        &def.binary, &def.version, &def.tol, &def.step, &def.scheme)) {
    return NULL;
  }
  def.scene = ((core_scene*)scene)->scene;
  if (def.scene == NULL) {
    PyErr_SetString(PyExc_TypeError, "a system made of functions cannot be exported");
    return NULL;
  }
  core_messages messages = {0};
  def.log = core_messages_log(&messages);
  const saltus_status status = saltus_export_fmu(&def, file);
  if (status != SALTUS_OK) {
    return core_raise(state, status, &messages);
  }
  const int warned = core_warn(state, &messages);
  core_messages_free(&messages);
  if (warned != 0) {
    return NULL;
  }
  Py_RETURN_NONE;
}
