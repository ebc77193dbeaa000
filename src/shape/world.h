/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * world.h - shapes on bodies: numbers and identities of their features, and pairs of features that are near.
 *
 * Every instance of a shape has a range of numbers of 31 bits: its own, those of its features, and a copy of the
 * range for each further minimum of a pair (saltusi_feature_candidate.branch). The identity of a contact is (smaller
 * number) << 32 | (larger number): unique, decoded by bisection, with the top bit free.
 *
 * A query needs memory per thread, which holds the tree of moving instances from query to query. The result of a
 * query depends on its arguments alone: pairs of boxes from the tree are tested again with boxes that do not depend
 * on it, in the order of instances. Zeroed memory is a valid start.
 */
#ifndef SALTUSI_WORLD_H
#define SALTUSI_WORLD_H

#include "shape/broad_phase.h"
#include "shape/pair/pair.h"
#include "shape/shape.h"

/* Numbers between two entries of saltusi_world.owner. */
enum { SALTUSI_OWNER_STEP = 64 };

/* Mobility of a body. */
typedef enum saltusi_mobility {
  SALTUSI_MOBILITY_FREE,   /* has velocities */
  SALTUSI_MOBILITY_DRIVEN, /* prescribed motion */
  SALTUSI_MOBILITY_FIXED
} saltusi_mobility;

/* A point of a body that is a mean of other points of it, at most four. */
typedef struct saltusi_mean {
  int count; /* 0: it is no mean */
  int instance[4], feature[4];
} saltusi_mean;

typedef struct saltusi_instance {
  saltusi_shape shape;
  int carrier;
  saltusi_mobility mobility;
  int tag; /* set by the caller: index of its definition */
  int material;
  uint64_t groups;  /* instances with a common group do not touch */
  uint32_t first;   /* its first number */
  uint32_t numbers; /* number of them */
  double
      arm; /* m, distance of its farthest point from the origin of the body; INFINITY: unbounded */
  double thickness; /* m, of its thinnest part */
  double ball; /* m, radius about its centre that contains all its contacts; INFINITY: unbounded */
  saltusi_mean* mean; /* [shape.stored]; NULL: no point is a mean */
} saltusi_instance;

/* Exception to the rules of materials and groups for two instances, a < b. */
typedef struct saltusi_exception {
  int a, b;
  int law; /* SALTUSI_LAW_NONE: no contact; SALTUSI_LAW_OF_MATERIALS: contact, whatever the groups */
  int order; /* the exception with the larger order applies to a pair */
} saltusi_exception;
enum { SALTUSI_LAW_NONE = -1, SALTUSI_LAW_OF_MATERIALS = -2 };

/* Boundary of a half-space in world axes: normal . x <= end. */
typedef struct saltusi_pair_side {
  double normal[3];
  double end; /* m */
} saltusi_pair_side;

typedef struct saltusi_world {
  int count;
  saltusi_instance* instance; /* [count] free ones first, then driven, then fixed */
  int free_count;
  int moving_count; /* free and driven ones */
  int carriers;     /* number of bodies */
  int* endless;     /* [endless_count] unbounded instances */
  int endless_count;
  saltusi_bounds* still;   /* [count - moving_count] boxes of fixed instances */
  saltusi_pair_side* side; /* [count - moving_count] of fixed half-spaces */
  saltusi_tree fixed;      /* item k is instance moving_count + k; the stack is that of the query */
  int materials;
  const int* law;     /* [materials x materials] of two materials; SALTUSI_LAW_NONE: no contact */
  const bool* smooth; /* [laws] without friction, and equal for all contacts; NULL: none */
  saltusi_exception* exceptions; /* [exception_count] ascending */
  int exception_count;
  int* owner; /* [owner_count] instance of the number SALTUSI_OWNER_STEP k */
  int owner_count;
  double reach;   /* m, of queries for all pairs */
  int candidates; /* of one pair of instances, at most */
} saltusi_world;

/* Sorts instances, assigns numbers, builds the tree of fixed instances. `pose`: of fixed bodies [carriers].
 * Instances and exceptions belong to the caller and are in the pool; a and b of exceptions are tags.
 * SALTUS_ERR_RANGE: too many features. */
saltus_status saltusi_world_make(saltusi_world* world, const saltusi_body_pose* pose,
                                 saltusi_pool* pool);

/* Finds points of bodies that are means of others, for saltusi_world_redundant_contacts; called after the world
 * was made. */
saltus_status saltusi_world_find_means(saltusi_world* world, saltusi_pool* pool);

/* Bytes of memory of a query, aligned to SALTUS_ALIGNMENT. */
size_t saltusi_world_bytes(const saltusi_world* world);

/* A query for near pairs. */
typedef struct saltusi_world_query {
  const saltusi_body_pose* carrier; /* [carriers]; w in world axes */
  double reach;                     /* m */
  double
      horizon; /* s, includes pairs that can come within reach in this time by their velocities */
  const double* slack; /* [carriers] m, further displacement of a body; NULL: 0 */
  const double* turn;  /* [carriers] rad, largest rotation; NULL: 0 */
  void* memory;        /* saltusi_world_bytes */
} saltusi_world_query;

/* A pair of instances whose boxes and bounding balls are near. */
typedef struct saltusi_near_pair {
  int a, b;          /* instances, a < b */
  saltusi_near near; /* reach and delta of this pair */
  double approach;   /* m, largest approach of the two within the horizon */
  int law;
} saltusi_near_pair;

/* Called for all pairs in the order of (a, b). False ends the query. */
typedef bool (*saltusi_meet)(void* user, const saltusi_near_pair* meeting);
void saltusi_world_meet(const saltusi_world* world, const saltusi_world_query* query,
                        saltusi_meet meet, void* user);

/* Pairs of features of two instances within reach, in the memory of the query. A count above the capacity means
 * that some were dropped. */
saltusi_candidates saltusi_world_pairs(const saltusi_world* world, const saltusi_world_query* query,
                                       const saltusi_near_pair* meeting);

/* True if a contact is redundant: the point in contact is a mean of points of the same body whose contacts with
 * the other body have the same law, without friction, on the same plane (redundant_contacts.c). These contacts
 * need not be listed. */
bool saltusi_world_redundant_contacts(const saltusi_world* world, const saltusi_world_query* query,
                                      const saltusi_near_pair* meeting,
                                      const saltusi_feature_candidate* pair);

/* ---- identities ---- */

uint64_t saltusi_world_identity(const saltusi_world* world, int a, int b,
                                const saltusi_feature_candidate* pair);
/* True for a valid identity: two shapes of different bodies and existing features. Files may contain any number. */
bool saltusi_world_knows(const saltusi_world* world, uint64_t identity);
/* The instances and features of an identity: pair->a, b and branch. */
void saltusi_world_decode(const saltusi_world* world, uint64_t identity, int* a, int* b,
                          saltusi_feature_candidate* pair);

/* Law of two instances; SALTUSI_LAW_NONE: no contact. */
int saltusi_world_law(const saltusi_world* world, int a, int b);

#endif
