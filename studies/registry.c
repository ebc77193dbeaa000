/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * registry.c - every study there is. To add one: its file, its line here.
 */
#include "study.h"

static const study* const registry[] = {
    &study_converge,
    &study_acary2009_fig2,
    &study_acary2009_fig3,
    &study_acary2009_local_error,
    &study_acary2009_fig4,
    &study_acary2009_fig5,
    &study_acary2008_violation,
    &study_acary2008_splitting,
    &study_acary2008_balls,
};

const study* study_at(int i) {
  return i >= 0 && i < (int)(sizeof registry / sizeof registry[0]) ? registry[i] : NULL;
}
