/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh_pairs.c - pairs of features of mesh shapes.
 */
#include "shape/mesh.h"

#include <assert.h>

saltus_status saltusi_make_mesh(const saltusi_making* making, saltusi_shape* out) {
  assert(making != NULL && out != NULL);
  (void)out;
  return saltusi_shape_refuse(making, "shapes of this kind are not made yet");
}

static bool treats(const saltusi_shape* A, const saltusi_shape* B) {
  (void)A;
  (void)B;
  return false;
}

const saltusi_family saltusi_meshes = {.treats = treats};

bool saltusi_mesh_is_closed(const saltusi_shape* shape) {
  assert(shape != NULL);
  return shape->mesh != NULL;
}
