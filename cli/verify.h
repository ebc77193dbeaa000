/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * verify.h - certificates of recordings.
 */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "model.h"

/* Verifies the recording of a run of a model and prints the certificate; CLI_FAILED when it does not pass. */
int cli_certify(const char* path, const cli_model* model);

#endif
