/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * report.h - reports of recordings.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "model.h"

typedef struct cli_report {
  const char *recording, *out;
  const char* measured; /* table drawn beside the curves; NULL: none */
  bool certify;         /* with a certificate */
} cli_report;

/* Writes the page of a recording and prints its path; an exit code. */
int cli_report_write(const cli_args* args, const cli_report* report);

#endif
