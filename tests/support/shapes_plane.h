/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * shapes_plane.h - bodies with shapes in the plane by callbacks: q = (x, y, phi) of each, M diagonal, gravity. Contacts
 * are pairs of features of src/shape with guards and watches; one law for all of them.
 */
#ifndef SALTUS_SHAPES_PLANE_H
#define SALTUS_SHAPES_PLANE_H

#include "saltus/saltus.h"
#include "shape/narrow_phase.h"

enum { PLANE_SHAPES = 8 };

typedef struct plane_scene {
  int bodies;
  double mass[PLANE_SHAPES], inertia[PLANE_SHAPES]; /* kg, kg m^2 */
  double gravity[2];
  int shapes;
  saltusi_shape shape[PLANE_SHAPES];
  int body[PLANE_SHAPES]; /* that carries it, -1: the ground */
  saltus_contact_law law;
  bool enclosed; /* gaps and watches by Lipschitz bounds; else they are sampled */
  saltusi_pool pool;
} plane_scene;

/* Without bodies and shapes; a law with friction mu and restitution e. */
plane_scene plane_begin(double mu, double e);
void plane_end(plane_scene* scene);

/* Its number. */
int plane_add_body(plane_scene* scene, double mass, double inertia);
void plane_add_shape(plane_scene* scene, int body, const saltus_shape_def* def);

/* A view: scene and ops outlive it. */
saltus_system plane_system(const plane_scene* scene, saltus_system_ops* ops);

/* The features of a contact: numbers of the shapes and of their features. */
void plane_names(const plane_scene* scene, uint64_t identity, int shape[2],
                 saltusi_feature_candidate* pair);

#endif
