/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_filter.h - removes redundant active contacts from the contact problem.
 */
#ifndef SALTUSI_MOREAU_FILTER_H
#define SALTUSI_MOREAU_FILTER_H

#include "scheme/moreau/moreau_step.h"

/* Removes redundant contacts from the active contacts of a step. */
void saltusi_moreau_filter(saltusi_moreau* work, const saltus_moreau_jean_options* options,
                           const saltusi_step* step);

#endif
