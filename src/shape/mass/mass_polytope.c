/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mass_polytope.c - moments of a box or hull with its rounding r: the solid, a prism on each face, a wedge of a cylinder
 * along each edge, a sector of a ball at each vertex. The cone of normals N of a vertex lies between the normals n_L, n_R
 * of its edges' faces; with e an edge's direction away from the vertex, theta the angle between n_L and n_R, and the
 * divergence of tangent fields over N (e is the outward conormal of an arc):
 *   integral of n      = -1/2 sum theta e
 *   integral of n n^T  = (Omega 1 - sum tan(theta/2) e (n_L + n_R)^T)/3
 */
#include "math/rotation.h"
#include "shape/mass/mass.h"
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* second += s (a b^T + b a^T) / 2 */
static void add_product(double s, const double a[3], const double b[3], saltusi_moments* sum) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      sum->second[3 * i + j] += 0.5 * s * (a[i] * b[j] + b[i] * a[j]);
    }
  }
}

/* The triangle a, b, c moved along its normal n by 0 .. r. */
static void add_prism(const double* const corner[3], const double n[3], double r,
                      saltusi_moments* sum) {
  double u[3], w[3], cross[3], s[3];
  saltusi_minus3(corner[1], corner[0], u);
  saltusi_minus3(corner[2], corner[0], w);
  saltusi_cross(u, w, cross);
  const double area = 0.5 * saltusi_dot3(cross, n);
  for (int k = 0; k < 3; k++) {
    s[k] = corner[0][k] + corner[1][k] + corner[2][k];
  }
  sum->volume += area * r;
  saltusi_along(area * r / 3.0, s, sum->first, sum->first);
  saltusi_along(area * r * r / 2.0, n, sum->first, sum->first);
  add_product(area * r / 12.0, s, s, sum);
  for (int k = 0; k < 3; k++) {
    add_product(area * r / 12.0, corner[k], corner[k], sum);
  }
  add_product(area * r * r / 3.0, s, n, sum);
  add_product(area * r * r * r / 3.0, n, n, sum);
}

static double angle_between(const double a[3], const double b[3]) {
  double cross[3];
  saltusi_cross(a, b, cross);
  return atan2(sqrt(saltusi_dot3(cross, cross)), saltusi_dot3(a, b));
}

/* The wedge about an edge from p along d. */
static void add_wedge(const saltusi_polytope* body, const saltusi_edge* edge, const double p[3],
                      double r, saltusi_moments* sum) {
  const double* left = body->face[edge->left].normal;
  const double* right = body->face[edge->right].normal;
  const double* d = edge->direction;
  const double w = angle_between(left, right), L = edge->length;
  double m[3], k[3], middle[3];
  saltusi_along(1.0, left, right, m);
  const double scale = 1.0 / sqrt(saltusi_dot3(m, m));
  for (int i = 0; i < 3; i++) {
    m[i] *= scale;
  }
  saltusi_cross(d, m, k);
  saltusi_along(0.5 * L, d, p, middle);
  const double area = 0.5 * w * r * r, first = 2.0 / 3.0 * r * r * r * sin(0.5 * w);
  const double fourth = 0.125 * r * r * r * r;
  sum->volume += area * L;
  saltusi_along(area * L, middle, sum->first, sum->first);
  saltusi_along(first * L, m, sum->first, sum->first);
  add_product(area * L, middle, middle, sum);
  add_product(area * L * L * L / 12.0, d, d, sum);
  add_product(2.0 * first * L, middle, m, sum);
  add_product(L * fourth * (w + sin(w)), m, m, sum);
  add_product(L * fourth * (w - sin(w)), k, k, sum);
}

/* The solid angle of three directions (Van Oosterom and Strackee 1983). */
static double solid_angle(const double a[3], const double b[3], const double c[3]) {
  double cross[3];
  saltusi_cross(b, c, cross);
  return 2.0 * atan2(fabs(saltusi_dot3(a, cross)),
                     1.0 + saltusi_dot3(a, b) + saltusi_dot3(b, c) + saltusi_dot3(c, a));
}

/* The sector about a vertex at p. */
static void add_sector(const saltusi_polytope* body, int v, const double p[3], double r,
                       saltusi_moments* sum) {
  double inside[3] = {0.0, 0.0, 0.0}, n1[3] = {0.0, 0.0, 0.0}, omega = 0.0;
  for (int k = body->star_first[v]; k < body->star_first[v + 1]; k++) {
    const saltusi_edge* edge = &body->edge[body->star_edge[k]];
    saltusi_along(1.0, body->face[edge->left].normal, inside, inside);
    saltusi_along(1.0, body->face[edge->right].normal, inside, inside);
  }
  const double length = sqrt(saltusi_dot3(inside, inside));
  for (int k = 0; k < 3; k++) {
    inside[k] /= length;
  }
  const double fifth = r * r * r * r * r / 5.0;
  for (int k = body->star_first[v]; k < body->star_first[v + 1]; k++) {
    const saltusi_edge* edge = &body->edge[body->star_edge[k]];
    const double* left = body->face[edge->left].normal;
    const double* right = body->face[edge->right].normal;
    const double sign = edge->from == v ? 1.0 : -1.0;
    const double theta = angle_between(left, right);
    double both[3];
    omega += solid_angle(inside, left, right);
    saltusi_along(-0.5 * theta * sign, edge->direction, n1, n1);
    saltusi_along(1.0, left, right, both);
    add_product(-fifth * tan(0.5 * theta) * sign / 3.0, edge->direction, both, sum);
  }
  const double volume = r * r * r * omega / 3.0, fourth = r * r * r * r / 4.0;
  sum->volume += volume;
  saltusi_along(volume, p, sum->first, sum->first);
  saltusi_along(fourth, n1, sum->first, sum->first);
  add_product(volume, p, p, sum);
  add_product(2.0 * fourth, p, n1, sum);
  for (int k = 0; k < 3; k++) {
    sum->second[4 * k] += fifth * omega / 3.0;
  }
}

void saltusi_moments_polytope(const saltusi_shape* shape, saltusi_moments* sum) {
  assert(shape != NULL && shape->polytope != NULL && sum != NULL);
  const saltusi_polytope* body = shape->polytope;
  const double r = shape->rho;
  memset(sum, 0, sizeof *sum);
  for (int f = 0; f < body->faces; f++) {
    const int* loop = body->loop + body->face[f].first;
    double corner[3][3];
    saltusi_minus3(body->vertex[loop[0]], body->vertex[0], corner[0]);
    for (int k = 1; k + 1 < body->face[f].count; k++) {
      saltusi_minus3(body->vertex[loop[k]], body->vertex[0], corner[1]);
      saltusi_minus3(body->vertex[loop[k + 1]], body->vertex[0], corner[2]);
      saltusi_moments_tetrahedron(corner[0], corner[1], corner[2], sum);
      if (r > 0.0) {
        add_prism((const double* const[3]){corner[0], corner[1], corner[2]}, body->face[f].normal,
                  r, sum);
      }
    }
  }
  for (int e = 0; e < body->edges && r > 0.0; e++) {
    double p[3];
    saltusi_minus3(body->vertex[body->edge[e].from], body->vertex[0], p);
    add_wedge(body, &body->edge[e], p, r, sum);
  }
  for (int v = 0; v < body->vertices && r > 0.0; v++) {
    double p[3];
    saltusi_minus3(body->vertex[v], body->vertex[0], p);
    add_sector(body, v, p, r, sum);
  }
}
