/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * global_error.h - global error of a run, estimated by a second run with a tenth of the tolerance.
 *
 * Both runs are compared at the states that the first one records; where v jumps in one of them and not
 * yet in the other, the difference is excluded. A state counts for velocities if its distance to
 * the adjacent impacts exceeds the distance between those of the two runs.
 */
#ifndef CLI_GLOBAL_ERROR_H
#define CLI_GLOBAL_ERROR_H

#include "json.h"
#include "model.h"

/* States and times of impacts of one run. */
typedef struct cli_track {
  int nq, nv;
  double* states; /* [count x (1 + nq + nv)] t, q, v; malloc'd */
  long long count, room;
  double* impacts; /* [impact_count] s; malloc'd */
  long long impact_count, impact_room;
} cli_track;

typedef struct cli_global_error {
  bool wanted;
  bool known; /* the second run is done */
  cli_track first, second;
  double* largest;  /* [nq + nv], then the time of each and its value at the end; malloc'd */
  double* size;     /* [nq + nv] largest |x|; part of the same block */
  long long states; /* that were compared, positions and velocities */
  long long smooth; /* away from impacts */
} cli_global_error;

/* Whether a second run is possible; CLI_USAGE and a message when not. */
int cli_global_error_check(const cli_args* args, const saltus_run_settings* settings);

/* Recorder of the first run. */
saltus_recorder cli_global_error_recorder(cli_global_error* global, const saltus_system* sys);

/* The second run, and the comparison; first is the definition of the first run. An exit code. */
int cli_global_error_run(cli_global_error* global, const saltus_run_def* first,
                         const saltus_run_settings* settings);

void cli_global_error_print(const cli_global_error* global, const saltus_scene_view* scene,
                            const saltus_run_settings* settings);
void cli_global_error_json(json* out, const cli_global_error* global,
                           const saltus_scene_view* scene, const saltus_run_settings* settings);
void cli_global_error_free(cli_global_error* global);

#endif
