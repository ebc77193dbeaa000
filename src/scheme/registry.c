/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * registry.c - all schemes by name.
 */
#include "base/log.h"
#include "scheme/scheme_internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* All schemes. A new one needs its file, a line here, and a page in docs/. */
static const saltusi_scheme_ops* const registry[] = {
    &saltusi_moreau_jean,
    &saltusi_moreau_projected,
    &saltusi_moreau_midpoint,
    &saltusi_moreau_extrapolated,
    &saltusi_variational,
    &saltusi_rattle,
    &saltusi_schatzman_paoli,
    &saltusi_splitting,
    &saltusi_splitting_contact,
    &saltusi_dg_minus,
    &saltusi_dg_plus,
    &saltusi_trapezoidal_mean,
    &saltusi_trapezoidal_end,
    &saltusi_scheme_explicit_euler,
    &saltusi_scheme_midpoint,
    &saltusi_scheme_heun_3,
    &saltusi_scheme_rk4,
    &saltusi_scheme_rkf45,
    &saltusi_scheme_dopri5,
    &saltusi_scheme_radau_iia_1,
    &saltusi_scheme_radau_iia_3,
    &saltusi_scheme_radau_iia_5,
    &saltusi_scheme_lobatto_iiia_2,
    &saltusi_scheme_lobatto_iiia_4,
    &saltusi_scheme_lobatto_iiia_6,
    &saltusi_scheme_gauss_2,
    &saltusi_scheme_gauss_4,
    &saltusi_scheme_gauss_6,
    &saltusi_scheme_herk_3,
    &saltusi_scheme_hem_4,
    &saltusi_event_driven,
    &saltusi_scheme_adaptive,
    &saltusi_scheme_adaptive_dopri5,
    &saltusi_scheme_adaptive_dop853,
    &saltusi_scheme_adaptive_radau5,
};
enum { REGISTRY_COUNT = sizeof registry / sizeof registry[0] };

int saltus_scheme_count(void) {
  return REGISTRY_COUNT;
}

const saltus_scheme_info* saltus_scheme_at(int i) {
  return i >= 0 && i < REGISTRY_COUNT ? &registry[i]->info : NULL;
}

const saltusi_scheme_ops* saltusi_registry_find(const char* name) {
  assert(name != NULL);

  for (int i = 0; i < REGISTRY_COUNT; i++) {
    if (strcmp(registry[i]->info.name, name) == 0) {
      return registry[i];
    }
  }
  return NULL;
}

const saltus_scheme_info* saltus_scheme_find(const char* name) {
  const saltusi_scheme_ops* ops = name != NULL ? saltusi_registry_find(name) : NULL;
  return ops != NULL ? &ops->info : NULL;
}

saltus_status saltusi_registry_refuse(const char* name, saltus_log log) {
  char names[512] = "";
  size_t used = 0;
  for (int i = 0; i < REGISTRY_COUNT && used < sizeof names; i++) {
    int added = snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                         registry[i]->info.name);
    used += added > 0 ? (size_t)added : 0;
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR, "no scheme \"%s\"; there are: %s",
              name != NULL ? name : "(null)", names);
  return SALTUS_ERR_NAME;
}
