/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * recorded.c - runs of scenes with every step recorded, and their certificates, for tests of them.
 */
#include "recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Runs the scene of r and reads what was recorded. */
static bool make(recorded* out, const char* name, way w, bool must) {
  recorded r = *out;
  const saltus_scene_view* view = saltus_scene_get_view(r.scene);
  snprintf(r.folder, sizeof r.folder, "/tmp/saltus-verify-XXXXXX");
  assert_non_null(mkdtemp(r.folder));
  snprintf(r.path, sizeof r.path, "%s/run.%s", r.folder, w.hdf5 ? "h5" : "csv");
  saltus_kept_message kept;
  saltus_run_def def = saltus_run_def_default();
  def.scene = view;
  def.scheme = w.scheme;
  def.tol = w.tol > 0.0 ? w.tol : def.tol;
  def.step = w.step > 0.0 ? w.step : def.step;
  def.until = w.until > 0.0 ? w.until : def.until;
  def.record_every = 1;
  def.record_jumps = true;
  def.record_middles = true;
  def.log = saltus_log_keep(&kept);
  saltus_run* run = NULL;
  if (saltus_run_create(&def, &run) != SALTUS_OK) {
    fail_msg("%s: %s", name, kept.text);
  }
  saltus_recording_def to = saltus_recording_def_default();
  to.path = r.path;
  to.scene = view->text;
  to.system = view->system;
  to.joint_names = view->joint_names;
  to.observables = view->observables;
  to.scheme = saltus_run_get_settings(run)->scheme->name;
  to.options = saltus_run_get_settings(run)->options_text;
  to.until = saltus_run_get_settings(run)->until;
  saltus_recording* recording = NULL;
  assert_int_equal(saltus_recording_create(&to, &recording), SALTUS_OK);
  assert_int_equal(saltus_run_record(run, saltus_recording_recorder(recording)), SALTUS_OK);
  bool done = saltus_run_execute(run) == SALTUS_OK;
  if (must && !done) {
    fail_msg("%s: %s", name, kept.text);
  }
  const saltus_recording_summary summary = {.steps = saltus_run_outcome(run)->steps,
                                            .cpu_seconds = NAN};
  assert_int_equal(saltus_recording_close(recording, &summary), SALTUS_OK);
  saltus_recording_destroy(recording);
  saltus_run_destroy(run);
  if (saltus_recording_read(r.path, saltus_log_keep(&kept), NULL, &r.data) != SALTUS_OK) {
    fail_msg("%s: %s", name, kept.text);
  }
  *out = r;
  return done;
}

recorded record(const char* name, way w) {
  recorded r = {.scene = saltus_test_scene(name, NULL, 0)};
  make(&r, name, w, true);
  return r;
}

recorded record_text(const char* text, way w) {
  recorded r = {.scene = scene_of(text)};
  make(&r, "scene", w, true);
  return r;
}

bool record_try(const char* text, way w, recorded* out) {
  *out = (recorded){.scene = scene_of(text)};
  bool done = make(out, "scene", w, false);
  if (!done) {
    forget(out);
  }
  return done;
}

saltus_scene* scene_of(const char* text) {
  saltus_kept_message kept;
  saltus_scene* scene = NULL;
  const saltus_scene_def def = {.path = "scene", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return scene;
}

void forget(recorded* r) {
  static const char* const files[] = {"run.csv", "run.events.csv", "run.contacts.csv", "run.h5"};
  for (int i = 0; i < 4; i++) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", r->folder, files[i]);
    unlink(path);
  }
  rmdir(r->folder);
  saltus_recording_data_destroy(r->data);
  saltus_scene_destroy(r->scene);
}

saltus_certificate verify(const recorded* r, const saltus_scene_view* view) {
  const saltus_verify_def def = saltus_verify_def_of(view, r->data);
  saltus_certificate c;
  assert_int_equal(saltus_verify(&def, &c), SALTUS_OK);
  return c;
}

void say_failures(const saltus_certificate* c, const char* name) {
  for (int i = 0; i < SALTUS_VERIFY_ITEMS; i++) {
    if (!c->items[i].passed) {
      print_message("%s: %s %g of %g at t = %.17g, frame %lld\n", name, c->items[i].name,
                    c->items[i].value, c->items[i].limit, c->items[i].t, c->items[i].frame);
    }
  }
}
