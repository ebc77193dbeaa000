/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * registry.c - every study there is. To add one: its file, its line here.
 */
#include "study.h"

static const study* const registry[] = {
    &study_converge,
    &study_acary2009_fig2,
};

const study* study_at(int i) {
  return i >= 0 && i < (int)(sizeof registry / sizeof registry[0]) ? registry[i] : NULL;
}
