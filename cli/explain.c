/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * explain.c - see explain.h.
 */
#include "explain.h"

#include "system/names.h"

#include <stdlib.h>

enum { TEXT = 64 };

char* cli_explanation(const saltus_run* run) {
  const size_t bytes = saltus_run_explain(run, NULL, 0) + 1;
  char* text = malloc(bytes);
  if (text != NULL) {
    saltus_run_explain(run, text, bytes);
  }
  return text;
}

void cli_explain_json(json* out, const saltus_scene_view* scene,
                      const saltus_run_settings* settings, const saltus_tally* tally) {
  const saltus_system* sys = scene->system;
  char text[TEXT];
  json_open(out, "tolerance", '{');
  json_number(out, "rtol", settings->rtol);
  json_number(out, "atol", settings->atol);
  json_number(out, "atol_velocity", settings->atol_velocity);
  for (int i = 0; scene->atol_q != NULL && i < sys->dims.nv; i++) {
    if (scene->atol_q[i] > 0.0) {
      json_number(out, saltusi_along_name(sys, i, text, sizeof text), scene->atol_q[i]);
    }
  }
  for (int i = 0; scene->atol_v != NULL && i < sys->dims.nv; i++) {
    if (scene->atol_v[i] > 0.0) {
      json_number(out, saltusi_v_name(sys, i, text, sizeof text), scene->atol_v[i]);
    }
  }
  json_close(out, '}');
  json_open(out, "searches", '{');
  json_integer(out, "proven", tally->proven);
  json_integer(out, "sampled", tally->sampled);
  json_close(out, '}');
  json_integer(out, "dry_events", tally->dry_events);
  json_open(out, "captured", '{');
  json_integer(out, "steps", tally->captured.steps);
  json_number(out, "time", tally->captured.time);
  json_number(out, "error", tally->captured.error);
  json_number(out, "first", tally->captured.first);
  json_number(out, "last", tally->captured.last);
  json_close(out, '}');
  json_open(out, "methods", '{');
  for (int i = 0; i < SALTUS_METHODS_MAX && tally->methods[i] != NULL; i++) {
    json_integer(out, tally->methods[i], tally->method_steps[i]);
  }
  json_close(out, '}');
  json_open(out, "limits", '{');
  for (int i = SALTUS_LIMIT_POSITION; i < SALTUS_LIMITS; i++) {
    json_integer(out, saltus_step_limit_name((saltus_step_limit)i), tally->limits[i]);
  }
  json_close(out, '}');
  json_number(out, "h_least", tally->h_least);
  json_number(out, "h_most", tally->h_most);
}
