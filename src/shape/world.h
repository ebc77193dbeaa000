/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * world.h - shapes on carriers: numbers and identities of their features, and which pairs of features are near.
 *
 * Every instance of a shape has a range of numbers of 31 bits: its own, those of its features, and once more the same
 * for each further minimum of a pair (saltusi_feature_candidate.branch). The identity of a contact is (smaller number) << 32 |
 * (larger number): exact, found back by bisection, and free of the top bit.
 *
 * A query needs memory of its thread, which keeps the tree of what moves from query to query. What a query lists
 * depends on its arguments alone: pairs of boxes that the tree finds are tested again by boxes that know nothing of
 * it, in the order of instances. Memory that is all zero is a valid start.
 */
#ifndef SALTUSI_WORLD_H
#define SALTUSI_WORLD_H

#include "shape/broad_phase.h"
#include "shape/pair/pair.h"
#include "shape/shape.h"

/* Numbers between two entries of saltusi_world.owner. */
enum { SALTUSI_OWNER_STEP = 64 };

/* How a body takes part. */
typedef enum saltusi_mobility {
  SALTUSI_MOBILITY_FREE,   /* it has velocities */
  SALTUSI_MOBILITY_DRIVEN, /* it moves by itself */
  SALTUSI_MOBILITY_FIXED
} saltusi_mobility;

/* A point of a body that is a mean of others of it: these, at most four. */
typedef struct saltusi_mean {
  int count; /* 0: it is none */
  int instance[4], feature[4];
} saltusi_mean;

typedef struct saltusi_instance {
  saltusi_shape shape;
  int carrier;
  saltusi_mobility mobility;
  int tag; /* of the caller: place of its definition */
  int material;
  uint64_t groups;  /* instances with a group in common do not touch */
  uint32_t first;   /* its first number */
  uint32_t numbers; /* how many it has */
  double arm; /* m, of its farthest point from the carrier's origin; INFINITY: it has no end */
  double thickness;   /* m, of its thinnest part */
  double ball;        /* m, about its centre, that holds all of its contacts; INFINITY: none does */
  saltusi_mean* mean; /* [shape.stored]; NULL: none of its points is one */
} saltusi_instance;

/* What holds between two instances besides materials and groups, a < b. */
typedef struct saltusi_exception {
  int a, b;
  int law; /* SALTUSI_LAW_NONE: they never touch; SALTUSI_LAW_OF_MATERIALS: they do, whatever their groups */
  int order; /* of two exceptions for the same pair the one with the larger order holds */
} saltusi_exception;
enum { SALTUSI_LAW_NONE = -1, SALTUSI_LAW_OF_MATERIALS = -2 };

/* Where a half-space ends, in world axes: normal . x <= end. */
typedef struct saltusi_pair_side {
  double normal[3];
  double end; /* m */
} saltusi_pair_side;

typedef struct saltusi_world {
  int count;
  saltusi_instance* instance; /* [count] free ones first, then driven, then fixed */
  int free_count;
  int moving_count; /* free and driven ones */
  int carriers;     /* how many bodies carry */
  int* endless;     /* [endless_count] instances without an end, which no box holds */
  int endless_count;
  saltusi_bounds* still;   /* [count - moving_count] boxes of what is fixed */
  saltusi_pair_side* side; /* [count - moving_count] of half-spaces that are fixed */
  saltusi_tree fixed;      /* item k is instance moving_count + k; stack is the query's */
  int materials;
  const int*
      law; /* [materials x materials] of two materials; SALTUSI_LAW_NONE: they do not touch */
  const bool* smooth; /* [laws] without friction, and alike for every contact; NULL: no law is */
  saltusi_exception* exceptions; /* [exception_count] ascending */
  int exception_count;
  int* owner; /* [owner_count] instance of the number SALTUSI_OWNER_STEP k */
  int owner_count;
  double reach;   /* m, when a query asks for everything */
  int candidates; /* of one pair of instances, at most */
} saltusi_world;

/* Sorts instances, gives numbers, makes the tree of what is fixed. `pose`: of fixed carriers [carriers]. The instances
 * and exceptions are the caller's, in the pool; a and b of exceptions are tags. SALTUS_ERR_RANGE: too many features. */
saltus_status saltusi_world_make(saltusi_world* world, const saltusi_body_pose* pose,
                                 saltusi_pool* pool);

/* Which points of bodies are means of others, for saltusi_world_redundant_contacts; after the world was made. */
saltus_status saltusi_world_find_means(saltusi_world* world, saltusi_pool* pool);

/* Bytes that a query needs, SALTUS_ALIGNMENT. */
size_t saltusi_world_bytes(const saltusi_world* world);

/* Who is near whom. */
typedef struct saltusi_world_query {
  const saltusi_body_pose* carrier; /* [carriers]; w in world axes */
  double reach;                     /* m */
  double horizon; /* s: what may come within reach in this time counts, by velocities */
  const double*
      slack;          /* [carriers] m, besides velocities: how far a body may come; NULL: nowhere */
  const double* turn; /* [carriers] rad, by how much it may turn; NULL: not */
  void* memory;       /* saltusi_world_bytes */
} saltusi_world_query;

/* A pair of instances whose boxes are near, and balls that hold them too. */
typedef struct saltusi_near_pair {
  int a, b;          /* instances, a < b */
  saltusi_near near; /* reach and delta of this pair */
  double approach;   /* m, by how much the two can come closer within the horizon */
  int law;
} saltusi_near_pair;

/* Called for all pairs in the order of (a, b). False: enough. */
typedef bool (*saltusi_meet)(void* user, const saltusi_near_pair* meeting);
void saltusi_world_meet(const saltusi_world* world, const saltusi_world_query* query,
                        saltusi_meet meet, void* user);

/* The pairs of features of a meeting that are within its reach, in the memory of the query. A count above the capacity:
 * there are more than there is room for. */
saltusi_candidates saltusi_world_pairs(const saltusi_world* world, const saltusi_world_query* query,
                                       const saltusi_near_pair* meeting);

/* Whether a contact follows from others of the same two bodies, which may not be listed: the point that touches is a
 * mean of points whose contacts have the same law, without friction, on the same plane (redundant_contacts.c). */
bool saltusi_world_redundant_contacts(const saltusi_world* world, const saltusi_world_query* query,
                                      const saltusi_near_pair* meeting,
                                      const saltusi_feature_candidate* pair);

/* ---- identities ---- */

uint64_t saltusi_world_identity(const saltusi_world* world, int a, int b,
                                const saltusi_feature_candidate* pair);
/* Whether it is an identity of two shapes of different bodies and of features that they have; files may say anything. */
bool saltusi_world_knows(const saltusi_world* world, uint64_t identity);
/* The instances and features of an identity: pair->a, b and branch. */
void saltusi_world_decode(const saltusi_world* world, uint64_t identity, int* a, int* b,
                          saltusi_feature_candidate* pair);

/* The law of two instances; SALTUSI_LAW_NONE: they do not touch. */
int saltusi_world_law(const saltusi_world* world, int a, int b);

#endif
