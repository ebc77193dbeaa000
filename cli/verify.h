/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * verify.h - certificates of recordings.
 */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "json.h"
#include "model.h"
#include "saltus/verify.h"

/* A recording and its certificate. */
typedef struct cli_certificate {
  const char* path;
  saltus_recording_data* data; /* read by _make where it is NULL; freed by _free */
  saltus_certificate certificate;
  double tol;      /* granted; 0: that of the recording, up to SALTUS_VERIFY_LARGEST_TOLERANCE */
  bool known;      /* certificate holds */
  bool every_step; /* all steps are recorded; otherwise the time between frames is not verified */
} cli_certificate;

/* Verifies a recording of a scene; codes other than CLI_DONE: it cannot be read, or does not belong to the scene. */
int cli_certificate_make(const char* path, const saltus_scene_view* view, cli_certificate* made);
void cli_certificate_print(const cli_certificate* made);
void cli_certificate_json(json* j, const char* key, const cli_certificate* made);
/* Whether a complete run passes; all: its whole time was verified. */
bool cli_certificate_good(const cli_certificate* made, bool all);
void cli_certificate_free(cli_certificate* made);

#endif
