/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh.h - meshes and heightfields in body axes.
 */
#ifndef SALTUSI_MESH_H
#define SALTUSI_MESH_H

#include "shape/narrow.h"

/* Every edge has a triangle on each side: the mesh has a volume. */
bool saltusi_mesh_is_closed(const saltusi_shape* shape);

#endif
