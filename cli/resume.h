/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * resume.h - continuation of runs: from a snapshot, with the internal state of the scheme, or from
 * the last state of a recording, with a restart of the scheme. The library reads and writes
 * snapshots as bytes, here they are files.
 */
#ifndef CLI_RESUME_H
#define CLI_RESUME_H

#include "model.h"

typedef struct cli_resumption {
  const char* path;              /* NULL: no continuation */
  saltus_run_snapshot* snapshot; /* NULL: from a recording */
  double t;                      /* s, time of the continuation */
  bool cut;                      /* the last step before t was shortened by the end of the run */
  char* target;                  /* of the model; malloc'd */
  char *scheme, *options;        /* of a recording; malloc'd */
  double step;                   /* s, of a recording; NaN: not available */
  double *q0, *v0;               /* of a recording; malloc'd */
  saltus_event* past;            /* events of a recording; malloc'd */
  int past_count;
} cli_resumption;

/* Opens a snapshot or recording: the model, and the state and settings of the continuation. An exit code. */
int cli_resumption_open(const cli_args* args, cli_model* model, cli_resumption* resumption);
void cli_resumption_close(cli_resumption* resumption);

/* Applies it to the run; --until is required unless the run was interrupted. An exit code. */
int cli_resumption_apply(const cli_resumption* resumption, saltus_run_def* def);

/* Prints whether the resumed run is bitwise identical to an uninterrupted one. */
void cli_resumption_print(const cli_resumption* resumption, const saltus_run_settings* settings);

/* Whether FILE can be written; CLI_USAGE and a message when not. path NULL: not requested. */
int cli_snapshot_check(const char* path);

/* Writes the state of a run; nothing when path is NULL. An exit code. */
int cli_snapshot_write(const char* path, const cli_model* model, const saltus_run* run);

#endif
