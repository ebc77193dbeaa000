/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * solids.h - shapes in random poses for tests, and answers found in other ways: the closest point of a hull to the
 * origin by Wolfe's algorithm, the common area of two convex polygons by clipping.
 */
#ifndef SOLIDS_H
#define SOLIDS_H

#include "base/pool.h"
#include "saltus_test.h"
#include "shape/narrow_phase.h"
#include "shape/polytope/polytope.h"

double solids_between(uint64_t* seed, double low, double high);
double solids_normal(uint64_t* seed);

/* Fails the test when a shape is refused. */
saltusi_shape solids_make(saltusi_pool* pool, const saltus_shape_def* def);
saltusi_shape solids_box(saltusi_pool* pool, double x, double y, double z, double radius);
/* The hull of `count` points with normally distributed coordinates. */
saltusi_shape solids_hull(saltusi_pool* pool, uint64_t* seed, int count, double radius);

/* At x, turned by the vector r; at rest. */
saltusi_body_pose solids_at(const double x[3], const double r[3]);
saltusi_body_pose solids_anywhere(uint64_t* seed, double spread);

/* Vertices in the world. */
int solids_vertices(const saltusi_shape* shape, const saltusi_body_pose* at, double (*out)[3]);

/* Vertex differences a - b of two polytopes; how many. */
int solids_differences(const saltusi_two* two, double (*out)[3]);

/* The point of the hull of points that is nearest to the origin (Wolfe 1976); its distance. */
double solids_least(const double (*point)[3], int count, double nearest[3]);

/* Largest signed distance of the origin from the facets of the hull of the points; negative: depth. By qhull. */
double solids_facets(saltusi_pool* pool, double (*point)[3], int count, double normal[3]);

/* The common area of two convex polygons, counter-clockwise; how many corners (Sutherland and Hodgman). */
int solids_clip(const double (*P)[2], int p, const double (*Q)[2], int q, double (*out)[2]);

#endif
