/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * narrow_phase.c - selects the family of a pair of shapes.
 */
#include "shape/narrow_phase.h"

#include <assert.h>
#include <math.h>

static bool is_mesh(const saltusi_shape* shape) {
  return shape->kind == SALTUS_SHAPE_MESH || shape->kind == SALTUS_SHAPE_HEIGHTFIELD;
}

static bool is_flat(const saltusi_shape* shape) {
  return shape->kind == SALTUS_SHAPE_BOX || shape->kind == SALTUS_SHAPE_HULL ||
         shape->kind == SALTUS_SHAPE_HALF_SPACE;
}

static const saltusi_family* family(const saltusi_shape* A, const saltusi_shape* B) {
  if (A->dimension == 2) {
    return &saltusi_planar;
  }
  if (is_mesh(A) || is_mesh(B)) {
    return &saltusi_meshes;
  }
  return is_flat(A) && is_flat(B) ? &saltusi_polytopes : &saltusi_curved;
}

void saltusi_candidate_add(saltusi_candidates* list, const saltusi_feature_candidate* candidate) {
  assert(list != NULL && candidate != NULL);
  if (list->count < list->capacity) {
    list->item[list->count] = *candidate;
  }
  list->count++;
}

bool saltusi_shape_treats(const saltusi_shape* A, const saltusi_shape* B) {
  assert(A != NULL && B != NULL && A->dimension == B->dimension);
  return family(A, B)->treats(A, B);
}

saltus_status saltusi_shape_pairs(const saltusi_shape* A, const saltusi_body_pose* a,
                                  const saltusi_shape* B, const saltusi_body_pose* b,
                                  const saltusi_near* near, saltusi_candidates* out) {
  assert(A != NULL && a != NULL && B != NULL && b != NULL && near != NULL && out != NULL);
  const saltusi_family* by = family(A, B);
  if (!by->treats(A, B)) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  by->pairs(&(saltusi_two){A, a, B, b}, near, out);
  return SALTUS_OK;
}

/* Shapes of one smooth surface: no face contact. */
static bool is_round(const saltusi_shape* shape) {
  return shape->stored == 1 && isfinite(shape->radius);
}

double saltusi_shape_tilt(const saltusi_shape* A, const saltusi_shape* B,
                          const saltusi_candidates* list) {
  assert(A != NULL && B != NULL && list != NULL);
  if (is_round(A) || is_round(B)) {
    return 0.0;
  }
  const int written = list->count < list->capacity ? list->count : list->capacity;
  double depth = 0.0;
  for (int k = 0; k < written; k++) {
    depth = fmax(depth, -list->item[k].gap);
  }
  /* most load-bearing contacts are at least a quarter of the diagonal apart; beyond 0.25 rad a neighbouring face would
   * be listed */
  const double size_A = isfinite(A->radius) ? A->size : INFINITY;
  const double size_B = isfinite(B->radius) ? B->size : INFINITY;
  return fmin(4.0 * depth / fmin(size_A, size_B), 0.25);
}

saltus_status saltusi_shape_separation(const saltusi_shape* A, const saltusi_body_pose* a,
                                       const saltusi_shape* B, const saltusi_body_pose* b,
                                       saltusi_separation* out) {
  assert(A != NULL && a != NULL && B != NULL && b != NULL && out != NULL);
  const saltusi_family* by = family(A, B);
  if (!by->treats(A, B)) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  out->slack = 0.0;
  by->separation(&(saltusi_two){A, a, B, b}, out);
  return SALTUS_OK;
}

void saltusi_shape_pair(const saltusi_shape* A, const saltusi_body_pose* a, const saltusi_shape* B,
                        const saltusi_body_pose* b, const saltusi_feature_candidate* numbers,
                        struct saltusi_pair* pair) {
  assert(A != NULL && a != NULL && B != NULL && b != NULL && numbers != NULL && pair != NULL);
  family(A, B)->pair(&(saltusi_two){A, a, B, b}, numbers, pair);
}

int saltusi_shape_guards(const saltusi_shape* A, const saltusi_body_pose* a, const saltusi_shape* B,
                         const saltusi_body_pose* b, const saltusi_feature_candidate* numbers,
                         double guard[SALTUSI_GUARDS]) {
  assert(A != NULL && a != NULL && B != NULL && b != NULL && numbers != NULL && guard != NULL);
  return family(A, B)->guards(&(saltusi_two){A, a, B, b}, numbers, guard);
}
