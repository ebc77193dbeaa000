/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * local_error.c - see local_error.h.
 */
#include "measure/local_error.h"

#include "system/evaluate.h"

#include <assert.h>
#include <string.h>

static saltus_status find_closed(const saltusi_local_def* def, unsigned* closed) {
  double gap[SALTUSI_LOCAL_MAX];
  int key[SALTUSI_LOCAL_MAX];
  int law[SALTUSI_LOCAL_MAX];
  uint64_t identity[SALTUSI_LOCAL_MAX];
  for (int i = 0; i < SALTUSI_LOCAL_MAX; i++) {
    key[i] = i;
    identity[i] = (uint64_t)i;
    law[i] = i;
  }
  saltusi_contact_list list = {
      .capacity = SALTUSI_LOCAL_MAX,
      .requested = INFINITY,
      .gap = gap,
      .key = key,
      .law = law,
      .identity = identity,
      .said = {.capacity = SALTUSI_LOCAL_MAX, .gap = gap, .identity = identity, .law = law}};
  saltus_point at = {.t = def->t, .q = def->q, .v = def->v};
  saltus_status status = saltusi_contacts(def->system, &at, &list);
  *closed = 0;
  for (int i = 0; status == SALTUS_OK && i < list.count; i++) {
    *closed |= list.gap[i] <= 0.0 ? 1U << list.key[i] : 0U;
  }
  return status;
}

saltus_status saltusi_local_error_measure(const saltusi_local_def* def,
                                          saltusi_local_error* result) {
  assert(def->system != NULL && def->h > 0.0);
  const saltus_dims* d = &def->system->dims;
  *result = (saltusi_local_error){.forecast = 0};
  if (d->nq > SALTUSI_LOCAL_MAX || d->nc > SALTUSI_LOCAL_MAX || d->scratch > 0) {
    return SALTUS_ERR_RANGE;
  }
  const saltus_scheme_def scheme_def = {
      .scheme = def->scheme, .options = def->options, .system = def->system};
  saltus_scheme* scheme;
  saltus_status status = saltus_scheme_create(&scheme_def, &scheme);
  if (status == SALTUS_OK) {
    status = find_closed(def, &result->closed);
  }
  double q[SALTUSI_LOCAL_MAX];
  double v[SALTUSI_LOCAL_MAX];
  memcpy(q, def->q, (size_t)d->nq * sizeof(double));
  memcpy(v, def->v, (size_t)d->nv * sizeof(double));
  saltus_state x = {def->t, q, v};
  saltus_step_report report = {.active = 0};
  if (status == SALTUS_OK) {
    status = saltus_scheme_step(scheme, def->h, &x, &report);
  }
  for (int i = 0; status == SALTUS_OK && i < report.active; i++) {
    result->forecast |= 1U << report.contacts[i].key;
    result->impulse[report.contacts[i].key] = report.contacts[i].impulse[0];
  }
  for (int i = 0; status == SALTUS_OK && i < d->nq; i++) {
    result->e_q[i] = def->q_end[i] - q[i];
    result->e_v[i] = def->v_end[i] - v[i];
  }
  if (status == SALTUS_OK) {
    result->work = saltus_scheme_work(scheme);
  }
  saltus_scheme_destroy(scheme);
  return status;
}
