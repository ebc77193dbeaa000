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

const char* saltusi_identity_label(const saltus_system* sys, uint64_t identity, int law, char* text,
                                   size_t bytes) {
  assert(sys != NULL && text != NULL && bytes > 0);
  if ((sys->traits & SALTUS_CHANGING_CONTACTS) == 0) {
    return saltusi_contact_label(sys, (int)identity, text, bytes);
  }
  text[0] = '\0';
  if (sys->ops->contact_text != NULL) {
    sys->ops->contact_text(sys->self, identity, text, bytes);
  }
  const char* name = law >= 0 && law < sys->law_count ? sys->laws[law].name : NULL;
  if (text[0] == '\0' && name != NULL) {
    return shown(name, text, bytes);
  }
  if (text[0] == '\0') {
    snprintf(text, bytes, "%llu", (unsigned long long)identity);
  }
  return text;
}

const char* saltusi_key_label(const saltusi_eval* eval, int key, int law,
                              char text[SALTUSI_CONTACT_TEXT]) {
  assert(eval != NULL && text != NULL && law < eval->sys.law_count);
  char name[SALTUSI_CONTACT_TEXT - 16] = "";
  if (eval->keys != NULL && key >= 0) {
    const uint64_t identity = eval->keys->table.identity[key];
    snprintf(text, SALTUSI_CONTACT_TEXT, "\"%s\"",
             saltusi_identity_label(&eval->sys, identity, law, name, sizeof name));
    return text;
  }
  const char* own = law >= 0 ? eval->sys.laws[law].name : NULL;
  const int* numbers = eval->numbers != NULL ? eval->numbers->contact : NULL;
  snprintf(text, SALTUSI_CONTACT_TEXT, "%d \"%.100s\"", saltusi_number(numbers, key),
           own != NULL ? own : "");
  return text;
}

const char* saltusi_along_name(const saltus_system* sys, int i, char* text, size_t bytes) {
  assert(sys != NULL && text != NULL);
  return sys->dims.nq == sys->dims.nv ? saltusi_q_name(sys, i, text, bytes)
                                      : saltusi_v_name(sys, i, text, bytes);
}
