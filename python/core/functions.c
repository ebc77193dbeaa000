/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * functions.c - systems made of functions of Python, or of C by their addresses.
 */
#include "core.h"

int core_functions_raised(core_scene* scene) {
  (void)scene;
  return 0;
}

void core_functions_free(struct core_functions* functions) {
  (void)functions;
}
