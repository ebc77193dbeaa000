/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "scene_runs.h"

#include <stdio.h>

static saltus_status open_scene(const char* text, saltus_kept_message* kept, saltus_scene** out) {
  const saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(kept)};
  return saltus_scene_create(&def, out);
}

saltus_scene* scene_open_text(const char* text) {
  saltus_kept_message kept;
  saltus_scene* scene;
  if (open_scene(text, &kept, &scene) != SALTUS_OK) {
    fail_msg("refused: %s: %s", kept.text, text);
  }
  return scene;
}

void scene_assert_refused(const char* text, const char* says) {
  saltus_kept_message kept;
  saltus_scene* scene;
  if (open_scene(text, &kept, &scene) != SALTUS_ERR_INPUT) {
    fail_msg("not refused: %s", text);
  }
  assert_says(kept, says);
}

static saltus_status hear(void* user, const saltus_event* event) {
  scene_heard* h = user;
  if (h->count < SCENE_EVENTS) {
    h->event[h->count++] = *event;
  }
  return SALTUS_OK;
}

scene_outcome scene_try(const saltus_scene_view* view, const char* scheme, double amount,
                        double until) {
  scene_outcome out = {.status = SALTUS_OK};
  saltus_kept_message kept;
  const saltus_recorder recorder = {.event = hear, .user = &out.heard};
  saltus_run_def def = saltus_run_def_default();
  def.scene = view;
  def.scheme = scheme;
  def.until = until;
  def.recorders = &recorder;
  def.recorder_count = 1;
  def.log = saltus_log_keep(&kept);
  *(strncmp(scheme, "adaptive", 8) == 0 ? &def.tol : &def.step) = amount;
  saltus_run* run;
  if (saltus_run_create(&def, &run) != SALTUS_OK) {
    fail_msg("%s: %s", scheme, kept.text);
  }
  out.status = saltus_run_execute(run);
  snprintf(out.text, sizeof out.text, "%s", kept.text);
  const saltus_run_result* r = saltus_run_outcome(run);
  assert_true(view->system->dims.nq <= SCENE_STATES);
  memcpy(out.q, r->q, (size_t)view->system->dims.nq * sizeof out.q[0]);
  memcpy(out.v, r->v, (size_t)view->system->dims.nv * sizeof out.v[0]);
  out.ledger = r->ledger;
  out.creations = r->creations;
  out.impacts = r->events[SALTUS_EVENT_IMPACT].count;
  saltus_run_destroy(run);
  return out;
}

scene_outcome scene_run(const saltus_scene_view* view, const char* scheme, double amount,
                        double until) {
  const scene_outcome out = scene_try(view, scheme, amount, until);
  if (out.status != SALTUS_OK) {
    fail_msg("%s: %s", scheme, out.text);
  }
  return out;
}

scene_outcome scene_run_text(const char* text, const char* scheme, double amount, double until) {
  saltus_scene* scene = scene_open_text(text);
  const scene_outcome out = scene_run(saltus_scene_get_view(scene), scheme, amount, until);
  saltus_scene_destroy(scene);
  return out;
}

double scene_apart(const scene_outcome* a, const scene_outcome* b, int n) {
  double worst = 0.0;
  for (int i = 0; i < n; i++) {
    worst = fmax(worst, fabs(a->q[i] - b->q[i]));
  }
  return worst;
}
