/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * step_failure.c - reasons of a mechanism for a failed step: springs whose markers coincide, drives that
 * leave the limits of their own joint.
 */
#include "base/number.h"
#include "body/constraints.h"
#include "body/forces.h"

#include <assert.h>
#include <stdio.h>

static const double turn = 6.283185307179586476925;

/* A spring along a distance has no direction at distance zero. */
static bool find_spring(const saltus_mechanism* m, const saltus_point* at, char* text,
                        size_t size) {
  for (int i = 0; i < m->force_count; i++) {
    const saltusi_force_along* f = &m->forces[i];
    if (f->row->term[0].kind != SALTUSI_TERM_DISTANCE) {
      continue;
    }
    saltusi_end end[4];
    saltusi_link_ends(m, f->link, at->t, at->q, NULL, end);
    if (saltusi_term_value(&f->row->term[0], end, at->q) == 0.0) {
      saltusi_print(text, size,
                    "spring \"%s\" has a length of %g m and no direction: its markers \"%s\" and "
                    "\"%s\" are at the same place at t = %.9g s",
                    f->name, f->rest, end[0].marker->name, end[1].marker->name, at->t);
      return true;
    }
  }
  return false;
}

/* Distance of the drive to the limit. */
static double room(const saltus_mechanism* m, const saltusi_joint_row* drive,
                   const saltusi_limit* limit, double t) {
  double target[3];
  saltusi_target_at(m, drive, t, target);
  double value = target[0] + drive->offset;
  if (drive->term[0].kind == SALTUSI_TERM_ANGLE && drive->term[0].q < 0) {
    value = remainder(value, turn);
  }
  return limit->sign * (value - limit->at);
}

/* First time in a step at which the drive crosses the limit; NaN: none. */
static double meeting(const saltus_mechanism* m, const saltusi_joint_row* drive,
                      const saltusi_limit* limit, double t, double h) {
  enum { SAMPLES = 64 };
  const double least = -1e-9 * fmax(1.0, fabs(limit->at)); /* beyond rounding */
  double inside = t, beyond = NAN;
  for (int k = 0; k <= SAMPLES && isnan(beyond); k++) {
    const double s = t + h * k / SAMPLES, left = room(m, drive, limit, s);
    inside = left >= 0.0 ? s : inside;
    beyond = left < least ? s : NAN;
  }
  while (!isnan(beyond)) {
    const double middle = 0.5 * (inside + beyond);
    if (middle <= inside || middle >= beyond) {
      break;
    }
    *(room(m, drive, limit, middle) >= 0.0 ? &inside : &beyond) = middle;
  }
  return beyond;
}

static bool find_drive(const saltus_mechanism* m, double t, double h, char* text, size_t size) {
  double first = INFINITY;
  for (int i = 0; i < 4 * m->joint_count; i++) {
    const saltusi_joint* j = &m->joints[i / 4];
    const int drive = j->driven[i % 4 / 2], at = j->limits[i % 4];
    const double when =
        drive >= 0 && at >= 0 ? meeting(m, &m->rows[drive], &m->limits[at], t, h) : NAN;
    if (when < first) {
      first = when;
      saltusi_print(text, size,
                    "the drive of joint \"%s\" runs into the limit \"%s\", %g %s, at t = %.9g s",
                    j->name, m->laws[at].name, m->limits[at].at, i % 4 < 2 ? "rad" : "m", when);
    }
  }
  return isfinite(first);
}

bool saltusi_mechanism_step_failure(const void* self, const saltus_point* at, double h, char* text,
                                    size_t size) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && at->q != NULL && text != NULL && size > 0);
  /* two steps: a step that ends at the limit fails as well, since it would have to end with the velocity of the drive
   * */
  return find_spring(m, at, text, size) || (h > 0.0 && find_drive(m, at->t, 2.0 * h, text, size));
}
