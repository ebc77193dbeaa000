/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal_test.h - a run of a trapezoidal scheme that has to succeed.
 */
#ifndef SALTUS_TRAPEZOIDAL_TEST_H
#define SALTUS_TRAPEZOIDAL_TEST_H

#include "saltus_test.h"

#include "potra_run.h"

static const char mean[] = "trapezoidal-implicit-mean";
static const char end[] = "trapezoidal-implicit-end";

static inline potra_run go(potra_run run) {
  saltus_kept_message kept = {0};
  run.log = saltus_log_keep(&kept);
  if (potra_go(&run) != SALTUS_OK) {
    fail_msg("%s: %s", run.scene, kept.text);
  }
  return run;
}

#endif
