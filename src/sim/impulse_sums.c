/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impulse_sums.c - see impulse_sums.h.
 */
#include "sim/impulse_sums.h"

#include "scheme/scheme_ops.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void saltusi_sums_deepen(saltus_sim* sim, double gap) {
  assert(sim != NULL);
  double* deepest = &sim->sums[SALTUSI_SUM_PENETRATION];
  *deepest = fmax(*deepest, -gap);
}

/* True for laws with cohesion: the contact may pull. */
static bool is_bonded(const saltus_sim* sim, int law) {
  bool known = law >= 0 && law < sim->sys.law_count;
  return known && sim->sys.laws[law].friction != NULL &&
         sim->sys.laws[law].friction->adhesion > 0.0;
}

/* Splits impulses of joints into non-impulsive forces and impacts. */
static void part_joints(saltus_sim* sim, const saltus_step_report* report,
                        const saltus_state* end) {
  const int nj = sim->sys.dims.nj;
  double* impacts = sim->joint_parts + nj;
  if (report->joint_impacts != NULL) {
    memcpy(impacts, report->joint_impacts, (size_t)nj * sizeof *impacts);
  } else if (nj == 0 || sim->unframed ||
             !saltusi_scheme_joint_impacts(sim->scheme, report, end, impacts)) {
    memset(impacts, 0, (size_t)nj * sizeof *impacts);
  }
  for (int j = 0; j < nj; j++) {
    sim->joint_parts[j] = report->joint_impulses[j] - impacts[j];
  }
}

/* Adds impulses of joints at impacts to the sums. */
static void take_joint_impacts(saltus_sim* sim) {
  const int nj = sim->sys.dims.nj;
  for (int j = nj; j < 2 * nj; j++) {
    sim->joint_sums[j] += sim->joint_parts[j];
    sim->joint_parts[j] = 0.0;
  }
}

void saltusi_sums_part(saltus_sim* sim, const saltus_step_report* report, bool located,
                       const saltus_state* end) {
  assert(sim != NULL && report != NULL && end != NULL);
  for (int i = 0; i < report->active; i++) {
    const saltus_contact_step* contact = &report->contacts[i];
    saltusi_contact_part* part = &sim->contact_parts[contact->key];
    bool whole = contact->impact && !located;
    for (int k = 0; k < 3; k++) {
      part->lasting[k] = whole ? contact->lasting[k] : contact->impulse[k];
      part->impulse[k] = contact->impulse[k] - part->lasting[k];
    }
    saltusi_sums_deepen(sim, contact->gap);
  }
  for (int i = 0; located && i < report->event_count; i++) {
    const saltus_event* event = &report->events[i];
    saltusi_contact_part* part = &sim->contact_parts[event->contact];
    for (int k = 0; k < 3; k++) {
      part->lasting[k] -= event->impulse[k];
    }
    if (!is_bonded(sim, event->law)) { /* a non-impulsive force does not pull */
      part->lasting[0] = fmax(part->lasting[0], 0.0);
    }
  }
  part_joints(sim, report, end);
}

void saltusi_sums_share(saltus_sim* sim, double share) {
  assert(sim != NULL);
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    for (int k = 0; k < 3; k++) {
      double taken = share * sim->contact_parts[key].lasting[k];
      sim->contact_sums[key].lasting[k] += taken;
      sim->contact_parts[key].lasting[k] -= taken;
    }
  }
  for (int j = 0; j < sim->sys.dims.nj; j++) {
    double taken = share * sim->joint_parts[j];
    sim->joint_sums[j] += taken;
    sim->joint_parts[j] -= taken;
  }
}

void saltusi_sums_known(saltus_sim* sim) {
  assert(sim != NULL);
  int contact_rows = 3 * sim->sys.dims.nc;
  for (int i = 0; i < contact_rows + sim->sys.dims.nj; i++) {
    double taken = sim->lasting[i] - sim->lasting_taken[i];
    bool joint = i >= contact_rows;
    *(joint ? &sim->joint_sums[i - contact_rows] : &sim->contact_sums[i / 3].lasting[i % 3]) +=
        taken;
    *(joint ? &sim->joint_parts[i - contact_rows] : &sim->contact_parts[i / 3].lasting[i % 3]) -=
        taken;
    sim->lasting_taken[i] = sim->lasting[i];
  }
}

void saltusi_sums_rest(saltus_sim* sim) {
  assert(sim != NULL);
  saltusi_sums_share(sim, 1.0);
  take_joint_impacts(sim);
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    for (int k = 0; k < 3; k++) {
      sim->contact_sums[key].impulse[k] += sim->contact_parts[key].impulse[k];
    }
    sim->contact_parts[key] = (saltusi_contact_part){{0.0}, {0.0}};
  }
}

int saltusi_sums_impacts(saltus_sim* sim, const saltus_step_report* report, int from, double t) {
  assert(sim != NULL && report != NULL);
  int i = from;
  for (; i < report->event_count && report->events[i].t <= t; i++) {
    const saltus_event* event = &report->events[i];
    for (int k = 0; k < 3; k++) {
      sim->contact_sums[event->contact].impulse[k] += event->impulse[k];
    }
    if (event->kind ==
        SALTUS_EVENT_IMPACT) { /* impacts of one step have the same time, or nearly so */
      take_joint_impacts(sim);
    }
  }
  return i;
}

void saltusi_sums_start(saltus_sim* sim, double t) {
  assert(sim != NULL);
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    memset(sim->contact_sums[key].lasting, 0, sizeof sim->contact_sums[key].lasting);
    memset(sim->contact_sums[key].impulse, 0, sizeof sim->contact_sums[key].impulse);
    if (sim->changing) {
      sim->works_taken[key] = sim->shown_works[key];
    }
  }
  for (int j = 0; j < 2 * sim->sys.dims.nj; j++) {
    sim->joint_sums[j] = 0.0;
  }
  for (int i = 0; i < SALTUSI_SUM_COUNT; i++) {
    sim->sums[i] = 0.0;
  }
  sim->sums[SALTUSI_SUM_TIME] = t;
}
