/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * names.c - see names.h.
 */
#include "system/names.h"

#include "base/visible.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char* shown(const char* name, char* text, size_t bytes) {
  return strpbrk(name, "\n\t") == NULL ? name : saltusi_visible_text(name, text, bytes);
}

const char* saltusi_q_name(const saltus_system* sys, int i, char* text, size_t bytes) {
  assert(sys != NULL && text != NULL);
  if (sys->q_labels != NULL) {
    return sys->q_labels[i].name;
  }
  snprintf(text, bytes, "q%d", i + 1);
  return text;
}

const char* saltusi_v_name(const saltus_system* sys, int i, char* text, size_t bytes) {
  assert(sys != NULL && text != NULL);
  if (sys->v_labels != NULL) {
    return sys->v_labels[i].name;
  }
  snprintf(text, bytes, "v%d", i + 1);
  return text;
}

const char* saltusi_contact_label(const saltus_system* sys, int i, char* text, size_t bytes) {
  assert(sys != NULL && text != NULL);
  if (sys->law_count == sys->dims.nc && sys->laws[i].name != NULL) {
    return shown(sys->laws[i].name, text, bytes);
  }
  snprintf(text, bytes, "%d", i + 1);
  return text;
}

const char* saltusi_along_name(const saltus_system* sys, int i, char* text, size_t bytes) {
  assert(sys != NULL && text != NULL);
  return sys->dims.nq == sys->dims.nv ? saltusi_q_name(sys, i, text, bytes)
                                      : saltusi_v_name(sys, i, text, bytes);
}
