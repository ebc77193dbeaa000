/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * runge_kutta.h - options of event-driven, and of the Runge-Kutta schemes that capture events: explicit-euler, midpoint,
 * heun-3, rk4, rkf45, dopri5, radau-iia-1|3|5, lobatto-iiia-2|4|6, gauss-2|4|6,
 * herk-3, hem-4.
 *
 * A step of length h is divided at every event: impacts, closing and opening of contacts. Each event is bracketed
 * to a width of bracket h^(p+1), p the order of the method, so that the error at an impact does not
 * exceed that of a smooth step. docs/schemes/event-capturing.md has the algorithm.
 */
#ifndef SALTUS_RUNGE_KUTTA_H
#define SALTUS_RUNGE_KUTTA_H

#include "saltus/api.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_event_capturing_options {
  double bracket; /* C in the width C h^(p+1) of the bracket of an event, s^-p */
  double floor;   /* s, smallest width; 0: 64 roundings of the time */
  int projection; /* 1: closed contacts and joints are projected onto g = 0 and U = 0 */
  int forces; /* 0: Moreau's step at an event has impulses alone, no external forces and no length */
} saltus_event_capturing_options;

SALTUS_API saltus_event_capturing_options saltus_event_capturing_options_default(void);

/* event-driven: events located to a tolerance, impacts at an instant. */
typedef enum saltus_at_accumulation {
  SALTUS_AT_ACCUMULATION_STOP,   /* SALTUS_ERR_ACCUMULATION, with time and contact in the message */
  SALTUS_AT_ACCUMULATION_CAPTURE /* continues like the schemes that capture events */
} saltus_at_accumulation;

typedef struct saltus_event_driven_options {
  int method;          /* of the smooth parts: index in the list of choices */
  double tolerance;    /* s, to which events are located */
  int at_accumulation; /* saltus_at_accumulation */
} saltus_event_driven_options;

SALTUS_API saltus_event_driven_options saltus_event_driven_options_default(void);

SALTUS_END_DECLS

#endif
