/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Runs a scene with overrides. The recording is bitwise identical to that of `saltus run SCENE -o FILE`.
 *
 *   cc run_scene.c $(pkg-config --cflags --libs saltus) -o run_scene
 *   ./run_scene ball.yaml ball.csv adaptive tol=1e-8 until=4        or "-": scheme of the scene
 */
#include <saltus/saltus.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Creates the recording after saltus_run_create has succeeded. */
static saltus_status simulate(saltus_run* run, const saltus_scene_view* scene, const char* path) {
  saltus_recording_def file = saltus_recording_def_default();
  file.path = path;
  file.system = scene->system;
  file.joint_names = scene->joint_names;
  file.observables = scene->observables;
  file.name = scene->name;
  file.scheme = saltus_run_get_settings(run)->scheme->name;
  file.options = saltus_run_get_settings(run)->options_text;
  file.until = saltus_run_get_settings(run)->until;
  file.scene = scene->text;
  saltus_recording* recording;
  saltus_status status = saltus_recording_create(&file, &recording);
  if (status == SALTUS_OK &&
      (status = saltus_run_record(run, saltus_recording_recorder(recording))) == SALTUS_OK) {
    status = saltus_run_execute(run);
    const saltus_run_result* r = saltus_run_outcome(run);
    char limits[4096]; /* limits of the step size, as text */
    saltus_run_explain(run, limits, sizeof limits);
    saltus_recording_explain(recording, limits);
    saltus_recording_close(recording,
                           &(saltus_recording_summary){status ? r->reason : NULL, r->steps, NAN});
    printf("%s with %s: %s, t = %g s after %lld steps and %lld impacts, %.6g J of %.6g J left\n",
           scene->name, file.scheme, r->reason, r->t, r->steps,
           r->events[SALTUS_EVENT_IMPACT].count, r->energy_end, r->energy_start);
  }
  saltus_recording_destroy(recording);
  return status;
}

int main(int argc, char** argv) {
  saltus_kept_message message;
  saltus_run_def def = saltus_run_def_default();
  def.log = saltus_log_keep(&message);
  if (argc < 4) {
    fprintf(stderr, "usage: run_scene SCENE FILE SCHEME [step=H] [tol=X] [until=T] [dt=DT]\n");
    return 2;
  }
  def.scheme = strcmp(argv[3], "-") == 0 ? NULL : argv[3];
  def.record_jumps = true;
  for (int i = 4; i < argc; i++) {
    int known = sscanf(argv[i], "step=%lf", &def.step) + sscanf(argv[i], "tol=%lf", &def.tol) +
                sscanf(argv[i], "until=%lf", &def.until) +
                sscanf(argv[i], "dt=%lf", &def.record_dt);
    if (known < 1) {
      fprintf(stderr, "run_scene: what is %s?\n", argv[i]);
      return 2;
    }
  }
  const saltus_scene_def scene_def = {.path = argv[1], .log = def.log};
  saltus_scene* scene;
  saltus_run* run = NULL;
  saltus_status status = saltus_scene_create(&scene_def, &scene);
  if (status == SALTUS_OK) {
    def.scene = saltus_scene_get_view(scene);
    status = saltus_run_create(&def, &run);
  }
  status = status == SALTUS_OK ? simulate(run, def.scene, argv[2]) : status;
  if (status != SALTUS_OK) {
    fprintf(stderr, "run_scene: %s\n", message.text);
  }
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
  return status == SALTUS_OK ? 0 : 1;
}
