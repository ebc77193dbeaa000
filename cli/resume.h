/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * resume.h - runs that go on: from a snapshot, with everything the scheme remembers, or from the last
 * state of a recording, where the scheme starts anew.
 *
 * A snapshot file has lines `key: value`, then the text of the scene and the bytes of
 * saltus_sim_snapshot_save, each after a line with its length:
 *
 *   saltus-snapshot 1
 *   target: scenes/ball.yaml
 *   scheme: moreau-jean
 *   option: theta=0.5                  one line each
 *   control: variable-order            with lines control-option: ..., under step control
 *   start, h, until, t: 0x1.4p+2       numbers in base 16, exactly
 *   scene: 312
 *   ...
 *   state: 1288
 *   ...
 */
#ifndef CLI_RESUME_H
#define CLI_RESUME_H

#include "model.h"

typedef struct cli_resumption {
  const char* path; /* NULL: the run starts at its start */
  void* bytes;      /* of the simulation; malloc'd; NULL: from a recording */
  size_t size;      /* bytes */
  double t;         /* s, where it goes on */
  double h;         /* s, the exact step of the first part; 0: chosen */
  bool cut;         /* the last step before t ended there because the run did */
  char* text;       /* of the file; malloc'd */
  char* target;     /* of the model; malloc'd */
  double *q0, *v0;  /* of a recording; malloc'd */
} cli_resumption;

/* Opens a snapshot or recording: the model at its first instant or at the recorded state, and how it was
 * run. --until is required unless the run was interrupted. An exit code. */
int cli_resumption_open(const cli_args* args, cli_model* model, cli_settings* settings,
                        cli_resumption* resumption);
void cli_resumption_close(cli_resumption* resumption);

/* What is said about the bits of a resumed run. */
void cli_resumption_print(const cli_resumption* resumption, const cli_settings* settings);

/* Whether FILE can be written; CLI_USAGE and a message when not. path NULL: nothing is wanted. */
int cli_snapshot_check(const char* path);

/* Writes the state of a run; nothing when path is NULL. An exit code. */
int cli_snapshot_write(const char* path, const cli_model* model, const cli_settings* settings,
                       double h, const saltus_sim* sim);

#endif
