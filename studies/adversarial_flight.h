/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_flight.h - closed flights: the exact motion of point masses between impacts, in long
 * double, with events found by exclusion. It shares no code with the library that it judges.
 *
 * Coordinates move freely, q_i'' = a_i + pulses(t), between events. A gap is the largest of a few
 * pieces, each
 *
 *   c + d t + sum_i n_i q_i + sum_j A_j F(sum_i k_ij q_i + w_j t + p_j),    F = sin u or exp(-u^2)
 *
 * so that along a flight its second derivative is bounded on every interval by known derivatives of F.
 * An interval without a root is excluded by that bound; what is left is monotone and bisected.
 */
#ifndef ADVERSARIAL_FLIGHT_H
#define ADVERSARIAL_FLIGHT_H

#include "adversarial_root.h"

enum {
  FLIGHT_WIDTH = 6,
  FLIGHT_TERMS = 3,
  FLIGHT_PIECES = 2,
  FLIGHT_CONTACTS = 8,
  FLIGHT_PULSES = 3
};
enum { FLIGHT_BREAKS = 4, FLIGHT_FIELDS = 2, FLIGHT_SEGMENTS = 6000 };

typedef root_real flight_real;

/* size F(rate . q + frequency t + phase) */
typedef struct flight_term {
  root_kind shape;
  double size, rate[FLIGHT_WIDTH], frequency, phase;
} flight_term;

typedef struct flight_piece {
  double constant, drift, normal[FLIGHT_WIDTH];
  flight_term terms[FLIGHT_TERMS];
  int term_count;
} flight_piece;

/* The gap is the largest piece. A contact with a seat depends on that coordinate, with normal 1, and on
 * time alone: the coordinate can ride on it. */
typedef struct flight_contact {
  flight_piece pieces[FLIGHT_PIECES];
  int piece_count;
  double restitution, friction;
  flight_piece slip; /* the position whose rate is the slip velocity, with friction */
  int seat;          /* -1: none, the reference ends where impacts accumulate */
  int key;           /* of the contact in the scene */
  bool resting;      /* at the start */
} flight_contact;

/* Accelerations that are added from t on. */
typedef struct flight_break {
  double t, acceleration[FLIGHT_WIDTH];
} flight_break;

/* Acceleration of a coordinate that is one below a place and another above it. */
typedef struct flight_field {
  int coordinate;
  double place, below, above;
} flight_field;

typedef struct flight_system {
  int n;
  double mass[FLIGHT_WIDTH], acceleration[FLIGHT_WIDTH], q[FLIGHT_WIDTH], v[FLIGHT_WIDTH];
  flight_contact contacts[FLIGHT_CONTACTS];
  int contact_count;
  root_pulse pulses[FLIGHT_PULSES];
  int pulse_count;
  flight_break breaks[FLIGHT_BREAKS]; /* rising in t */
  int break_count;
  flight_field fields[FLIGHT_FIELDS];
  int field_count;
} flight_system;

/* What ends a segment. */
typedef enum flight_event {
  FLIGHT_END,
  FLIGHT_IMPACT,
  FLIGHT_REST,   /* impacts accumulate, the contact stays closed */
  FLIGHT_LEAVE,  /* it opens */
  FLIGHT_SWITCH, /* an acceleration jumps */
  FLIGHT_LOST    /* the reference ends here: an accumulation it cannot follow */
} flight_event;

/* A piece of motion from t on. */
typedef struct flight_segment {
  flight_real t, q[FLIGHT_WIDTH], v[FLIGHT_WIDTH], a[FLIGHT_WIDTH];
  bool closed[FLIGHT_CONTACTS];
  bool above[FLIGHT_FIELDS];
  flight_event begins; /* what it begins with; FLIGHT_END: the start */
  int contact;         /* of that event */
  flight_real before;  /* m/s, rate of the gap before an impact */
  flight_real
      settles; /* s, after an impact into rest: where the rebounds that are not followed end */
} flight_segment;

typedef struct flight_motion {
  flight_segment* segments; /* [FLIGHT_SEGMENTS] */
  int count;
  flight_real t_end; /* s, where it was lost or asked to end */
  bool lost;
} flight_motion;

/* Follows the motion from 0 to t_end; the segments are the caller's. */
void flight_run(const flight_system* system, flight_real t_end, flight_motion* motion);

/* The state at t, after what happens there. */
void flight_at(const flight_system* system, const flight_motion* motion, flight_real t,
               flight_real* q, flight_real* v);

/* A gap of a state. */
flight_real flight_gap(const flight_contact* contact, int n, flight_real t, const flight_real* q);

#endif
