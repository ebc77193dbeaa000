/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event.h - events of contacts: impact, closing, opening, stick, slip.
 *
 * A scheme that locates events reports them with times inside its step; for the others the simulation
 * derives them from the contacts, and they belong to the whole step. Energy of an impact with impulse P
 * between the relative velocities U- and U+ of its contact:
 *
 *   energy_change = P . (U- + U+) / 2
 *
 * The sum over the contacts of one impact is the kinetic energy after it minus that before it, exactly,
 * without prescribed motion: v+ - v- = M^-1 G P. With prescribed motion it is the loss in the
 * contact, without the work of the moving surface.
 */
#ifndef SALTUS_EVENT_H
#define SALTUS_EVENT_H

#include "saltus/api.h"
#include "saltus/law.h"

#include <stdbool.h>
#include <stdint.h>

SALTUS_BEGIN_DECLS

typedef enum saltus_event_kind {
  SALTUS_EVENT_IMPACT,       /* the contact stopped an approach */
  SALTUS_EVENT_CLOSE,        /* the contact becomes active, with a non-impulsive force */
  SALTUS_EVENT_OPEN,         /* the contact is released */
  SALTUS_EVENT_ACCUMULATION, /* infinitely many impacts end here; reported when the contact closes */
  SALTUS_EVENT_TOUCH,        /* the gap comes to zero without an approach: no impulse */
  SALTUS_EVENT_SLIP,         /* sticking ends */
  SALTUS_EVENT_STICK,        /* sliding ends, the contact sticks */
  SALTUS_EVENT_REVERSAL,     /* the sliding velocity passes through zero without sticking */
  SALTUS_EVENT_PAINLEVE,     /* a warning: no force or several forces satisfy Coulomb's law */
  SALTUS_EVENT_ENERGY_GAIN,  /* a warning: the law of an impact created energy; reported after it */
  SALTUS_EVENT_LAW_REPLACED, /* a warning: an impact was solved by another law than that of the contact */
  SALTUS_EVENT_RISE, /* a function of the scene passes through zero from below, see observe.h */
  SALTUS_EVENT_FALL  /* from above */
} saltus_event_kind;

enum { SALTUS_EVENT_KINDS = SALTUS_EVENT_FALL + 1 };

/* Kinds of events to stop at, joined by |. */
#define SALTUS_STOP(kind) (1U << (unsigned)(kind))
#define SALTUS_STOP_NEVER 0U
#define SALTUS_STOP_ALWAYS (~0U)

/* Name as in recordings: "impact", "close", ..., "fall". */
SALTUS_API const char* saltus_event_kind_name(saltus_event_kind kind);

/* Whether the event annotates an impact, which is a separate event. Its energy_change is then the
 * energy that the contact law created, or would have created, J, over all contacts of the impact; it is
 * excluded from sums of energy, and it has no impulse. */
SALTUS_API bool saltus_event_is_remark(saltus_event_kind kind);

/* Whether it is an event of a function of the scene; all others are events of contacts. */
SALTUS_API bool saltus_event_is_user_defined(saltus_event_kind kind);

typedef struct saltus_event {
  saltus_event_kind kind;
  double t;                 /* s */
  double t_accuracy;        /* s, the event is within this time before t */
  int contact;              /* key; for a rise or fall the index of the function */
  double u_before, u_after; /* m/s, normal */
  double slip_before[2];    /* m/s, tangential; 0 without friction */
  double slip_after[2];     /* m/s */
  double impulse[3];        /* N s, normal first; 0 except for impacts */
  double energy_change;     /* J, negative for a loss; 0 except for impacts and remarks on them */
  uint64_t identity;        /* permanent identity of the contact; 0 for a rise or fall */
  int law;                  /* of the contact, index in the laws of the system */
  double slip_work
      [2]; /* J, for an energy gain, over all contacts: P_T . U_T+ / 2 and P_T . U_T- / 2; the rest is normal work. 0 otherwise */
} saltus_event;

/* P . (U- + U+) / 2 of an event, see above. */
SALTUS_API double saltus_event_work(const saltus_event* event);

SALTUS_END_DECLS

#endif
