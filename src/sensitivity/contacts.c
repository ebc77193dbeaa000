/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contacts.c - the contacts of a motion (docs/theory/sensitivity.md, 2): all of a fixed set; of a time-varying set those
 * that are closed at the start and those of the events, which a simulation lists first.
 */
#include "sensitivity/sensitivity_state.h"

#include "base/log.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Gaps up to this count as closed at the start; contacts without force have no effect. */
static const double closed = 1e-9;

int saltusi_sensitivity_contact(const saltus_sensitivity* s, uint64_t identity) {
  assert(s != NULL);
  const saltusi_phase_contacts* c = &s->vary.contacts;
  for (int i = 0; i < c->count; i++) {
    if (c->identity[i] == identity) {
      return i;
    }
  }
  return -1;
}

bool saltusi_sensitivity_add_contact(saltus_sensitivity* s, uint64_t identity, int law) {
  assert(s != NULL);
  saltusi_phase_contacts* c = &s->vary.contacts;
  if (saltusi_sensitivity_contact(s, identity) >= 0) {
    return true;
  }
  if (c->count == SALTUSI_PHASE_CONTACTS) {
    return false;
  }
  c->identity[c->count] = identity;
  c->law[c->count++] = law;
  return true;
}

saltus_status saltusi_sensitivity_start_contacts(saltus_sensitivity* s) {
  assert(s != NULL);
  enum { MOST = SALTUSI_PHASE_CONTACTS };
  const saltus_system* sys = s->def.system;
  const bool changing = (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  saltusi_phase_contacts* c = &s->vary.contacts;
  c->identity = SALTUSI_TAKE(&s->pool, uint64_t, MOST);
  c->law = SALTUSI_TAKE(&s->pool, int, MOST);
  double* gap = SALTUSI_TAKE(&s->pool, double, MOST);
  void* scratch = saltusi_pool_take(&s->pool, sys->dims.scratch + 1, 1);
  if (s->pool.failed) {
    saltusi_log(s->def.log, SALTUS_LEVEL_ERROR, "sensitivity: no memory");
    return SALTUS_ERR_MEMORY;
  }
  if (sys->ops->contacts == NULL) {
    return SALTUS_OK;
  }
  for (int i = 0; i < sys->dims.nc && !changing; i++) {
    c->identity[i] = (uint64_t)i;
    c->law[i] = i;
  }
  const saltus_point at = {.t = s->def.t0, .q = s->def.q0, .v = s->def.v0, .scratch = scratch};
  saltus_contact_list list = {.count = changing ? 0 : sys->dims.nc,
                              .capacity = MOST,
                              .reach = changing ? closed : INFINITY,
                              .gap = gap,
                              .identity = c->identity,
                              .law = c->law};
  const saltus_status status = sys->ops->contacts(sys->self, &at, &list);
  if (status == SALTUS_RETRY_CAPACITY || list.count > MOST) {
    return saltusi_sensitivity_fail(s, SALTUS_ERR_UNSUPPORTED, s->def.t0, "more than 256 contacts");
  }
  for (int i = 0; i < list.count; i++) { /* lists may contain contacts beyond their reach */
    if (!changing || gap[i] <= closed) {
      c->identity[c->count] = c->identity[i];
      c->law[c->count++] = c->law[i];
    }
  }
  return status;
}
