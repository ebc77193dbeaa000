/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "scene/beam_shape.h"

#include "math/rotation.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- poses of markers at the start ---- */

static double signal_value(const saltus_signal* s, double t) {
  double out[3] = {s->value, 0.0, 0.0};
  if (s->evaluate != NULL) {
    s->evaluate(s->self, t, out);
  }
  return out[0];
}

static void body_frame(const saltusi_scene_builder* b, const saltus_body_def* body,
                       saltusi_beam_frame* out) {
  memcpy(out->p, body->position, sizeof out->p);
  saltusi_orientation_matrix(&body->orientation, out->R);
  if (body->driven == NULL) {
    return;
  }
  const double t = b->scene->view.start;
  const saltus_driven_pose* pose = body->driven;
  double angle[3];
  for (int k = 0; k < 3; k++) {
    out->p[k] = signal_value(&pose->position[k], t);
    angle[k] = signal_value(&pose->rotation[k], t);
  }
  const bool axis = saltusi_dot3(pose->axis, pose->axis) > 0.0;
  saltus_orientation turn = {.kind = SALTUS_ORIENTATION_RPY,
                             .value = {angle[0], angle[1], angle[2]}};
  if (b->mechanism.dimension == 2 || axis) {
    turn = (saltus_orientation){
        .kind = axis ? SALTUS_ORIENTATION_AXIS : SALTUS_ORIENTATION_ANGLE,
        .value = {axis ? pose->axis[0] : angle[0], pose->axis[1], pose->axis[2], angle[0]}};
  }
  double R[9], own[9];
  memcpy(own, out->R, sizeof own);
  if (saltusi_orientation_matrix(&turn, R)) {
    saltusi_matrix3_product(R, own, out->R);
  }
}

/* The frame of a marker; false: there is none of this name. Circular references are rejected by the mechanism. */
bool saltusi_beam_marker_frame(const saltusi_scene_builder* b, const char* name, int depth,
                               saltusi_beam_frame* out) {
  assert(b != NULL && name != NULL && out != NULL);
  const saltus_mechanism_def* m = &b->mechanism;
  const saltus_marker_def* marker = NULL;
  for (int i = 0; i < m->marker_count; i++) {
    marker = strcmp(m->markers[i].name, name) == 0 ? &m->markers[i] : marker;
  }
  *out = (saltusi_beam_frame){.R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
  bool found = marker != NULL && depth <= m->marker_count;
  if (found && marker->marker != NULL) {
    found = saltusi_beam_marker_frame(b, marker->marker, depth + 1, out);
  }
  for (int i = 0; found && marker->body != NULL && i < m->body_count; i++) {
    if (strcmp(m->bodies[i].name, marker->body) == 0) {
      body_frame(b, &m->bodies[i], out);
    }
  }
  double own[9], from[3], parent[9];
  if (!found || !saltusi_orientation_matrix(&marker->orientation, own)) {
    return false;
  }
  memcpy(parent, out->R, sizeof parent);
  saltusi_turn(parent, marker->position, from);
  saltusi_along(1.0, from, out->p, out->p);
  saltusi_matrix3_product(parent, own, out->R);
  return true;
}

/* ---- curves ---- */

/* The formula with its variable s as the variable t of signals: of the same length, so that columns agree. */
static saltus_signal curve_signal(saltusi_scene_builder* b, const saltusi_yaml_node* node) {
  saltusi_yaml_node own = *node;
  char* text = saltusi_reader_take(&b->reader, strlen(node->text) + 1, 1);
  if (text == NULL) {
    return (saltus_signal){0};
  }
  static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.'";
  for (size_t i = 0; node->text[i] != '\0';) {
    const size_t length = strspn(node->text + i, word);
    memcpy(text + i, node->text + i, length + 1);
    if (length == 1 && node->text[i] == 't') {
      saltusi_reader_fail(&b->reader, node, "a curve is a formula of s from 0 to 1, not of t");
    }
    text[i] = length == 1 && node->text[i] == 's' ? 't' : node->text[i];
    i += length > 0 ? length : 1;
  }
  own.text = text;
  return saltusi_scene_signal(b, &own, "curve");
}

/* n + 1 nodes at s = i/n. */
void saltusi_beam_read_curve(saltusi_scene_builder* b, const saltusi_yaml_node* node, int n,
                             double* x) {
  assert(b != NULL && node != NULL && x != NULL);
  const int dimension = b->mechanism.dimension;
  if (!saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, "curve") ||
      node->count != dimension) {
    saltusi_reader_fail(&b->reader, node, "a curve has %d formulas of s, must have %d", node->count,
                        dimension);
    return;
  }
  for (int k = 0; k < dimension && b->reader.status == SALTUS_OK; k++) {
    const saltus_signal signal = curve_signal(b, &node->children[k]);
    for (int i = 0; i <= n && b->reader.status == SALTUS_OK; i++) {
      x[3 * i + k] = signal_value(&signal, (double)i / n);
    }
  }
}

/* Points as they are where there are n + 1 of them, else n + 1 nodes at equal lengths of the polyline. */
void saltusi_beam_read_points(saltusi_scene_builder* b, const saltusi_yaml_node* node, int n,
                              double* x) {
  assert(b != NULL && node != NULL && x != NULL);
  if (!saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_SEQUENCE, "points")) {
    return;
  }
  const int count = node->count, dimension = b->mechanism.dimension;
  double* p = saltusi_reader_take(&b->reader, 3 * (size_t)count, sizeof *p);
  double* at = saltusi_reader_take(&b->reader, (size_t)count, sizeof *at);
  if (count < 2) {
    saltusi_reader_fail(&b->reader, node, "points has %d points, must have 2 or more", count);
  }
  for (int i = 0; i < count && b->reader.status == SALTUS_OK; i++) {
    saltusi_scene_numbers(b, &node->children[i], "a point", (const int[2]){dimension, dimension},
                          p + 3 * (ptrdiff_t)i);
    double d[3] = {0.0};
    saltusi_minus3(p + 3 * (ptrdiff_t)i, p + 3 * (ptrdiff_t)(i > 0 ? i - 1 : 0), d);
    at[i] = (i > 0 ? at[i - 1] : 0.0) + sqrt(saltusi_dot3(d, d));
  }
  if (b->reader.status == SALTUS_OK && count == n + 1) {
    memcpy(x, p, 3 * (size_t)count * sizeof *x);
    return;
  }
  for (int i = 0, k = 0; i <= n && b->reader.status == SALTUS_OK; i++) {
    const double s = at[count - 1] * i / n;
    while (k < count - 2 && at[k + 1] < s) {
      k++;
    }
    const double *from = p + 3 * (ptrdiff_t)k, length = at[k + 1] - at[k];
    for (int c = 0; c < 3; c++) {
      x[3 * i + c] =
          from[c] + (length > 0.0 ? (s - at[k]) / length : 0.0) * (from[3 + c] - from[c]);
    }
  }
}

/* Boundaries of the cells from nodes: the nodes themselves, or ends and midpoints. */
double* saltusi_beam_boundaries(saltusi_scene_builder* b, const saltusi_beam* of,
                                const double* nodes) {
  assert(b != NULL && of != NULL && nodes != NULL);
  double* x = saltusi_reader_take(&b->reader, 3 * (size_t)(of->cells + 1), sizeof *x);
  for (int i = 0; x != NULL && i <= of->cells; i++) {
    const bool inner = of->by_nodes && i > 0 && i < of->cells;
    const double* at = nodes + 3 * (ptrdiff_t)(i > of->elements ? of->elements : i);
    for (int k = 0; k < 3; k++) {
      x[3 * i + k] = inner ? 0.5 * (at[k - 3] + at[k]) : at[k];
    }
  }
  return x;
}

/* The shortest rotation of the columns n and t of R that takes t to `to`; in the plane angles follow each other. */
void saltusi_beam_transport(const double R[9], bool plane, const double to[3], double out[9]) {
  assert(R != NULL && to != NULL && out != NULL);
  double t[3], n[3], third[3];
  for (int k = 0; k < 3; k++) {
    t[k] = R[3 * k + (plane ? 0 : 2)];
    n[k] = R[3 * k + (plane ? 2 : 0)];
  }
  double axis[3];
  saltusi_cross(t, to, axis);
  const double c = saltusi_dot3(t, to);
  double turned[3];
  saltusi_cross(axis, n, turned);
  const double along = saltusi_dot3(axis, n) / (1.0 + (c > -0.999999 ? c : -0.999999));
  for (int k = 0; k < 3; k++) {
    turned[k] += c * n[k] + along * axis[k];
  }
  const double off = saltusi_dot3(turned, to);
  saltusi_along(-off, to, turned, turned);
  const double length = sqrt(saltusi_dot3(turned, turned));
  for (int k = 0; k < 3; k++) {
    n[k] = turned[k] / length;
  }
  saltusi_cross(plane ? n : to, plane ? to : n, third);
  for (int k = 0; k < 3; k++) {
    out[3 * k + (plane ? 0 : 2)] = to[k];
    out[3 * k + (plane ? 2 : 0)] = n[k];
    out[3 * k + 1] = third[k];
  }
}

/* Axes [9] of the first cell with tangent t: normal as given, or across the smallest component. */
static bool first_axes(const double* normal, const double t[3], double axes[9]) {
  double n[3] = {normal[0], normal[1], normal[2]}, y[3];
  if (saltusi_dot3(n, n) == 0.0) {
    const int least = fabs(t[0]) <= fabs(t[1]) && fabs(t[0]) <= fabs(t[2]) ? 0
                      : fabs(t[1]) <= fabs(t[2])                           ? 1
                                                                           : 2;
    n[least] = 1.0;
  }
  saltusi_along(-saltusi_dot3(n, t), t, n, n);
  const double size = sqrt(saltusi_dot3(n, n));
  for (int k = 0; k < 3; k++) {
    n[k] /= size;
  }
  saltusi_cross(t, n, y);
  for (int k = 0; k < 3; k++) {
    axes[3 * k] = n[k];
    axes[3 * k + 1] = y[k];
    axes[3 * k + 2] = t[k];
  }
  return size > 1e-9;
}

/* Axes of the cells along the boundaries, the normal carried from cell to cell without twist. */
double* saltusi_beam_axes(saltusi_scene_builder* b, const saltusi_beam* of, const double* x,
                          const double* normal) {
  assert(b != NULL && of != NULL && x != NULL);
  double* R = saltusi_reader_take(&b->reader, 9 * (size_t)of->cells, sizeof *R);
  double first[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  for (int i = 0; R != NULL && i < of->cells; i++) {
    double t[3];
    saltusi_minus3(x + 3 * (ptrdiff_t)(i + 1), x + 3 * (ptrdiff_t)i, t);
    const double length = sqrt(saltusi_dot3(t, t));
    if (!(length > 0.0) || !isfinite(length)) {
      saltusi_reader_fail(&b->reader, of->item,
                          "beam " SALTUSI_QUOTE ": element %d has length %g m", of->name, i + 1,
                          length);
      return R;
    }
    for (int k = 0; k < 3; k++) {
      t[k] /= length;
    }
    if (i == 0 && !of->plane && !first_axes(normal, t, first)) {
      saltusi_reader_fail(&b->reader, of->item,
                          "beam " SALTUSI_QUOTE ": its normal is along the beam", of->name);
      return R;
    }
    saltusi_beam_transport(i == 0 ? first : R + 9 * (ptrdiff_t)(i - 1), of->plane, t,
                           R + 9 * (ptrdiff_t)i);
  }
  return R;
}

/* Angles of the cells in the plane, without jumps from cell to cell. */
double* saltusi_beam_angles(saltusi_scene_builder* b, const saltusi_beam* of, const double* R) {
  assert(b != NULL && of != NULL && R != NULL);
  double* angle = saltusi_reader_take(&b->reader, (size_t)of->cells, sizeof *angle);
  for (int i = 0; angle != NULL && i < of->cells; i++) {
    const double* at = R + 9 * (ptrdiff_t)i;
    angle[i] = atan2(at[3], at[0]);
    if (i > 0) {
      angle[i] = angle[i - 1] + remainder(angle[i] - angle[i - 1], 2.0 * pi);
    }
  }
  return angle;
}
