/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * motion_family.h - definition of a reference problem, evaluated by known_motion.c.
 *
 * An exact motion is a list of smooth segments. A segment starts at t and is valid up to the start of the
 * next one, its end included, so that both limits at a jump come from the adjacent segments.
 * Right limits, jumps and filled-in graphs are evaluated from the segments.
 *
 * To add a problem: one file with a family, one line in known_motion.c.
 */
#ifndef SALTUSI_MOTION_FAMILY_H
#define SALTUSI_MOTION_FAMILY_H

#include "saltus/known_motion.h"

typedef struct saltusi_flight_segment {
  double t;    /* s, start */
  double q, v; /* just after t, of the moving coordinate */
  bool jump;   /* v jumps at t */
} saltusi_flight_segment;

typedef struct saltusi_motion_family {
  saltus_known_motion_info info;
  int size, size_min, size_max; /* default N and its range; size_max 0: no size */
  const void* data;             /* constants of the family */

  const saltus_system_ops* ops; /* self is the saltus_known_motion */
  unsigned traits;
  double restitution; /* e_N of every contact */
  const char* q_unit;
  const char* v_unit;
  saltus_dims (*dims)(int size);
  void (*contact_name)(int size, int contact, char* text, size_t bytes);

  int piece_capacity;
  /* Writes q0, v0, the segments and other values that differ from the defaults. */
  void (*setup)(saltus_known_motion* problem);
  /* NULL if the motion is given by samples or not at all. x = q, v of one coordinate at t, which is in the segment
   * or at its end. */
  void (*at)(const saltus_known_motion* problem, const saltusi_flight_segment* piece, double t,
             int coordinate, double x[2]);
  /* True if the graph (which = 0 position, 1 velocity) needs points inside of a segment. */
  bool (*curved)(const saltus_known_motion* problem, int coordinate, int which);
} saltusi_motion_family;

struct saltus_known_motion {
  const saltusi_motion_family* family;
  saltus_known_motion_info info; /* `known` may depend on the size */
  char name[32];
  int size; /* N */
  saltus_system system;
  double* q0; /* [nq] */
  double* v0; /* [nv] */

  saltusi_flight_segment* pieces; /* [piece_count] */
  int piece_count;
  double rest; /* s, start of the last segment if all is at rest from there on; else INFINITY */
  double known_until; /* s, INFINITY by default */

  int sample_count;
  const double* sample_times; /* [sample_count] s, ascending */
  const double* sample_q;     /* [sample_count x nq] */
  const double* sample_v;     /* [sample_count x nv] */

  saltus_allocator allocator;
  size_t bytes;
};

/* Appends a segment; beyond the capacity it is dropped and the motion ends there. */
void saltusi_motion_push(saltus_known_motion* problem, saltusi_flight_segment piece);

extern const saltusi_motion_family saltusi_motion_ball;
extern const saltusi_motion_family saltusi_motion_oscillator;
extern const saltusi_motion_family saltusi_motion_oscillator_damped;
extern const saltusi_motion_family saltusi_motion_oscillator_preload;
extern const saltusi_motion_family saltusi_motion_pendulum_wall;
extern const saltusi_motion_family saltusi_motion_forced_ball;
extern const saltusi_motion_family saltusi_motion_column;
extern const saltusi_motion_family saltusi_motion_stack;
extern const saltusi_motion_family saltusi_motion_chain;

/* Motion of the bouncing ball, common to the column of one ball and the stack. */
enum { SALTUSI_BALL_PIECES = 64 };
void saltusi_ball_segments(saltus_known_motion* problem);
void saltusi_ball_at(const saltusi_flight_segment* piece, double t, double x[2]);

#endif
