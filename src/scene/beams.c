/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * beams.c - the section beams: rigid links with joint springs, added to the definition of the mechanism.
 *
 *   cell i     rigid, straight, from boundary i to boundary i + 1; mass rho A l, rotary inertia rho I l included
 *   hinge j    between the cells j - 1 and j:  EI/l about the axes of the section, GJ/l along, EA/l in stretch;
 *              l is the distance of their stations: centres (kind links) or nodes (kind nodes)
 *   clamp      of kind links a hinge over half a cell, 2 EI/l; of kind nodes a fixed joint
 *
 * The links are the finite segments of Huston, Computers and Structures 13 (1981); both kinds converge with 1/n^2.
 * docs/beams.md.
 */
#include "math/rotation.h"
#include "scene/beam_shape.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ELEMENTS = 100000 };
static const double pi = 3.14159265358979323846;

static void grow(saltusi_scene_builder* b, const void** items, int count, int more, size_t size) {
  char* all = saltusi_reader_take(&b->reader, (size_t)count + (size_t)more, size);
  if (all != NULL && count > 0) {
    memcpy(all, *items, (size_t)count * size);
  }
  *items = all;
}

static const char* named(saltusi_scene_builder* b, const saltusi_beam* of, int i,
                         const char* what) {
  char text[128];
  if (i >= 0) {
    snprintf(text, sizeof text, "%.63s_%d%s", of->name, i + 1, what);
  } else {
    snprintf(text, sizeof text, "%.63s%s", of->name, what);
  }
  return saltusi_pool_text(b->reader.pool, text);
}

/* ---- reading ---- */

static double positive(saltusi_scene_builder* b, const saltusi_yaml_node* node, const char* key,
                       const char* of) {
  const saltusi_yaml_node* value = saltusi_yaml_find(node, key);
  if (value == NULL) {
    saltusi_reader_fail(&b->reader, node, "%s has no %s", of, key);
    return 1.0;
  }
  const double x = saltusi_scene_number(b, value, key, 0.0);
  if (b->reader.status == SALTUS_OK && !(x > 0.0 && isfinite(x))) {
    saltusi_reader_fail(&b->reader, value, "%s is %g, must be positive", key, x);
  }
  return x;
}

static double at_least_zero(saltusi_scene_builder* b, const saltusi_yaml_node* node,
                            const char* key, double fallback) {
  const double x = saltusi_scene_constant(b, node, key, fallback);
  if (b->reader.status == SALTUS_OK && !(x >= 0.0 && isfinite(x))) {
    saltusi_reader_fail(&b->reader, saltusi_yaml_find(node, key), "%s is %g, must be at least 0",
                        key, x);
  }
  return x;
}

/* A, I about the first and second axis of the section, J of torsion (rectangle: Roark's formula, 0.5 %), radius. */
static void read_section(saltusi_scene_builder* b, saltusi_beam* of) {
  const saltusi_yaml_node* node = saltusi_yaml_find(of->item, "section");
  if (node == NULL) {
    saltusi_reader_fail(&b->reader, of->item, "beam " SALTUSI_QUOTE " has no section", of->name);
    return;
  }
  if (!saltusi_reader_keys(&b->reader, node, "beams.NAME.section", "section")) {
    return;
  }
  const saltusi_yaml_node* rectangle = saltusi_yaml_find(node, "rectangle");
  const saltusi_yaml_node* tube = saltusi_yaml_find(node, "tube");
  const saltusi_yaml_node* circle = saltusi_yaml_find(node, "circle");
  const saltusi_yaml_node* area = saltusi_yaml_find(node, "A");
  if ((rectangle != NULL) + (tube != NULL) + (circle != NULL) + (area != NULL) != 1) {
    saltusi_reader_fail(&b->reader, node,
                        "section has to be one of {circle: radius}, {tube: [outer, inner]}, "
                        "{rectangle: [width, height]} and {A: .., I: .., J: ..}");
    return;
  }
  double size[2] = {0.0, 0.0};
  if (area != NULL) {
    of->A = positive(b, node, "A", "section");
    of->I[0] = of->I[1] = at_least_zero(b, node, "I", 0.0);
    of->I[1] = at_least_zero(b, node, "I2", of->I[0]);
    of->J = at_least_zero(b, node, "J", of->I[0] + of->I[1]);
    return;
  }
  if (circle != NULL) {
    size[0] = saltusi_scene_number(b, circle, "circle", 0.0);
  } else {
    saltusi_scene_numbers(b, rectangle != NULL ? rectangle : tube, "section", (const int[2]){2, 2},
                          size);
  }
  const bool bad = rectangle != NULL ? !(size[0] > 0.0 && size[1] > 0.0)
                                     : !(size[0] > size[1] && size[1] >= 0.0);
  if (b->reader.status == SALTUS_OK && bad) {
    saltusi_reader_fail(&b->reader, node, "sizes of the section are %g and %g m", size[0], size[1]);
  }
  if (rectangle == NULL) {
    const double r2 = size[0] * size[0], i2 = size[1] * size[1];
    of->A = pi * (r2 - i2);
    of->I[0] = of->I[1] = 0.25 * pi * (r2 * r2 - i2 * i2);
    of->J = 2.0 * of->I[0];
    of->radius = size[0];
    return;
  }
  const double a = fmax(size[0], size[1]), c = fmin(size[0], size[1]), ratio = c / a;
  of->A = a * c;
  of->I[0] = size[0] * size[1] * size[1] * size[1] / 12.0;
  of->I[1] = size[1] * size[0] * size[0] * size[0] / 12.0;
  of->J = a * c * c * c * (1.0 / 3.0 - 0.21 * ratio * (1.0 - ratio * ratio * ratio * ratio / 12.0));
  of->radius = of->plane ? 0.5 * size[1] : 0.5 * c;
}

static void read_material(saltusi_scene_builder* b, saltusi_beam* of) {
  const saltusi_yaml_node* node = saltusi_yaml_find(of->item, "material");
  if (node == NULL) {
    saltusi_reader_fail(&b->reader, of->item, "beam " SALTUSI_QUOTE " has no material", of->name);
    return;
  }
  if (!saltusi_reader_keys(&b->reader, node, "beams.NAME.material", "material")) {
    return;
  }
  of->E = positive(b, node, "E", "material");
  of->density = positive(b, node, "density", "material");
  const double nu = saltusi_scene_constant(b, node, "nu", 0.3);
  if (b->reader.status == SALTUS_OK && !(nu > -1.0 && nu <= 0.5)) {
    saltusi_reader_fail(&b->reader, saltusi_yaml_find(node, "nu"), "nu is %g, must be -1 to 0.5",
                        nu);
  }
  of->G = of->E / (2.0 * (1.0 + nu));
}

static void read_ends(saltusi_scene_builder* b, saltusi_beam* of) {
  static const char* const words[] = {"clamped", "pinned", "free", NULL};
  const saltusi_yaml_node* between = saltusi_yaml_find(of->item, "between");
  const saltusi_yaml_node* ends = saltusi_yaml_find(of->item, "ends");
  of->end[0] = of->end[1] = between != NULL ? SALTUSI_END_CLAMPED : SALTUSI_END_FREE;
  if (between != NULL) {
    saltusi_scene_pair(b, between, "between", of->marker);
  }
  if (ends != NULL && (!saltusi_reader_expect(&b->reader, ends, SALTUSI_YAML_SEQUENCE, "ends") ||
                       ends->count != 2)) {
    saltusi_reader_fail(&b->reader, ends, "ends has to be two of clamped, pinned and free");
    return;
  }
  for (int k = 0; ends != NULL && k < 2 && b->reader.status == SALTUS_OK; k++) {
    const int word = saltusi_scene_word(b, &ends->children[k], "an end", words);
    of->end[k] = word >= 0 ? (saltusi_beam_end)word : SALTUSI_END_FREE;
    if (of->end[k] != SALTUSI_END_FREE && between == NULL) {
      saltusi_reader_fail(&b->reader, &ends->children[k],
                          "an end is %s: give the markers that hold the ends in \"between\"",
                          words[word]);
    }
  }
}

static void read_contact(saltusi_scene_builder* b, saltusi_beam* of) {
  static const char* const words[] = {"links", "nodes", "ends", "none", NULL};
  const saltusi_yaml_node* node = saltusi_yaml_find(of->item, "contact");
  const char** groups = saltusi_reader_take(&b->reader, 1, sizeof *groups);
  if (groups != NULL) {
    groups[0] = of->name;
  }
  of->groups = groups;
  if (node == NULL || !saltusi_reader_keys(&b->reader, node, "beams.NAME.contact", "contact")) {
    return;
  }
  const saltusi_yaml_node* at = saltusi_yaml_find(node, "at");
  const int word = at != NULL ? saltusi_scene_word(b, at, "at", words) : 0;
  of->at = word >= 0 ? (saltusi_beam_contact)word : SALTUSI_AT_NONE;
  of->radius = at_least_zero(b, node, "radius", of->radius);
  of->surface = saltusi_reader_text(&b->reader, saltusi_yaml_find(node, "material"), "material");
  if (saltusi_scene_flag(b, saltusi_yaml_find(node, "self"), "self")) {
    of->groups = NULL;
  }
}

/* Nodes of the stress-free shape and of the start. */
static void read_shape(saltusi_scene_builder* b, saltusi_beam* of) {
  const saltusi_yaml_node* curve = saltusi_yaml_find(of->item, "curve");
  const saltusi_yaml_node* points = saltusi_yaml_find(of->item, "points");
  const saltusi_yaml_node* start = saltusi_yaml_find(of->item, "start");
  double* x = saltusi_reader_take(&b->reader, 3 * (size_t)(of->elements + 1), sizeof *x);
  double normal[3] = {0.0};
  if (x == NULL) {
    return;
  }
  if (curve != NULL) {
    saltusi_beam_read_curve(b, curve, of->elements, x);
  } else if (points != NULL) {
    saltusi_beam_read_points(b, points, of->elements, x);
  } else if (of->marker[0] == NULL) {
    saltusi_reader_fail(&b->reader, of->item,
                        "beam " SALTUSI_QUOTE " has no shape; give points, curve or between",
                        of->name);
  } else {
    saltusi_beam_frame end[2];
    for (int k = 0; k < 2 && b->reader.status == SALTUS_OK; k++) {
      if (!saltusi_beam_marker_frame(b, of->marker[k], 0, &end[k])) {
        saltusi_reader_fail(&b->reader, of->item,
                            "beam " SALTUSI_QUOTE ": no marker " SALTUSI_QUOTE, of->name,
                            of->marker[k]);
      }
    }
    for (int i = 0; i <= of->elements && b->reader.status == SALTUS_OK; i++) {
      for (int k = 0; k < 3; k++) {
        x[3 * i + k] = end[0].p[k] + (end[1].p[k] - end[0].p[k]) * i / of->elements;
      }
    }
  }
  saltusi_scene_numbers(b, saltusi_yaml_find(of->item, "normal"), "normal", (const int[2]){3, 3},
                        normal);
  if (b->reader.status != SALTUS_OK) {
    return;
  }
  of->rest = of->start = saltusi_beam_boundaries(b, of, x);
  of->rest_R = of->start_R = of->rest != NULL ? saltusi_beam_axes(b, of, of->rest, normal) : NULL;
  if (start != NULL && b->reader.status == SALTUS_OK) {
    saltusi_beam_read_curve(b, start, of->elements, x);
    of->start = saltusi_beam_boundaries(b, of, x);
    of->start_R = of->start != NULL ? saltusi_beam_axes(b, of, of->start, normal) : NULL;
  }
  if (b->reader.status == SALTUS_OK) {
    of->rest_angle = saltusi_beam_angles(b, of, of->rest_R);
    of->start_angle = saltusi_beam_angles(b, of, of->start_R);
  }
}

static void read_beam(saltusi_scene_builder* b, saltusi_beam* of) {
  static const char* const kinds[] = {"links", "nodes", NULL};
  char what[200];
  snprintf(what, sizeof what, "beam " SALTUSI_QUOTE, of->name);
  if (!saltusi_reader_keys(&b->reader, of->item, "beams.NAME", what)) {
    return;
  }
  const saltusi_yaml_node* kind = saltusi_yaml_find(of->item, "kind");
  const saltusi_yaml_node* elements = saltusi_yaml_find(of->item, "elements");
  const double count = positive(b, of->item, "elements", what);
  if (b->reader.status == SALTUS_OK && (count != floor(count) || count > MOST_ELEMENTS)) {
    saltusi_reader_fail(&b->reader, elements, "elements is %g, must be a whole number from 1 to %d",
                        count, MOST_ELEMENTS);
  }
  of->by_nodes = kind != NULL && saltusi_scene_word(b, kind, "kind", kinds) == 1;
  of->plane = b->mechanism.dimension == 2;
  of->stretch = saltusi_scene_flag(b, saltusi_yaml_find(of->item, "stretch"), "stretch");
  of->closed = saltusi_scene_flag(b, saltusi_yaml_find(of->item, "closed"), "closed");
  of->straight = saltusi_scene_flag(b, saltusi_yaml_find(of->item, "straight"), "straight");
  of->damping = at_least_zero(b, of->item, "damping", 0.0);
  if (b->reader.status != SALTUS_OK) {
    return;
  }
  of->elements = (int)count;
  of->cells = of->elements + (of->by_nodes ? 1 : 0);
  read_section(b, of);
  read_material(b, of);
  read_ends(b, of);
  read_contact(b, of);
  saltusi_scene_point(b, of->item, "velocity", "velocity", of->velocity);
  const saltusi_yaml_node* w = saltusi_yaml_find(of->item, "angular_velocity");
  if (of->plane) {
    of->w[2] = saltusi_scene_number(b, w, "angular_velocity", 0.0);
  } else {
    saltusi_scene_numbers(b, w, "angular_velocity", (const int[2]){3, 3}, of->w);
  }
  if (of->closed && (of->marker[0] != NULL || of->by_nodes)) {
    saltusi_reader_fail(&b->reader, of->item,
                        "beam " SALTUSI_QUOTE " is closed: it is of kind links and has no ends",
                        of->name);
  }
  if (b->reader.status == SALTUS_OK) {
    read_shape(b, of);
  }
}

/* ---- parts of the mechanism ---- */

typedef struct parts {
  saltus_body_def* bodies;
  saltus_marker_def* markers;
  saltus_joint_def* joints;
  saltus_spring_def* springs;
  saltus_body_shape_def* shapes;
  int body, marker, joint, spring, shape;
  double next[3]; /* end of the last link, m */
} parts;

static double cell_length(const double* x, int i) {
  double d[3];
  saltusi_minus3(x + 3 * (ptrdiff_t)(i + 1), x + 3 * (ptrdiff_t)i, d);
  return sqrt(saltusi_dot3(d, d));
}

static saltus_orientation orientation_of(const saltusi_beam* of, const double R[9], double angle) {
  saltus_orientation o = {.kind =
                              of->plane ? SALTUS_ORIENTATION_ANGLE : SALTUS_ORIENTATION_QUATERNION};
  o.value[0] = angle;
  if (!of->plane) {
    saltusi_matrix_quaternion(R, o.value);
  }
  return o;
}

/* R^T H */
static void relative_axes(const double R[9], const double H[9], double out[9]) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      out[3 * r + c] = R[r] * H[c] + R[3 + r] * H[3 + c] + R[6 + r] * H[6 + c];
    }
  }
}

static void add_body(saltusi_scene_builder* b, const saltusi_beam* of, int i, parts* p) {
  const double length = cell_length(of->rest, i), mass = of->density * of->A * length;
  const double transverse = mass * length * length / 12.0;
  saltus_body_def* body = &p->bodies[p->body++];
  body->name = named(b, of, i, "");
  body->mass = mass;
  for (int k = 0; k < 2; k++) {
    body->inertia[k] = transverse + of->density * of->I[k] * length;
  }
  body->inertia[2] = of->density * (of->I[0] + of->I[1]) * length;
  double from[3], t[3];
  const double *x = of->start + 3 * (ptrdiff_t)i, *R = of->start_R + 9 * (ptrdiff_t)i;
  const bool first = i == 0, last = i == of->cells - 1;
  for (int k = 0; k < 3;
       k++) { /* links keep their length: joints of the start are closed, ends stay in place */
    t[k] = 0.5 * length * R[3 * k + (of->plane ? 0 : 2)];
    const double middle = 0.5 * (x[k] + x[3 + k]);
    body->position[k] = of->stretch ? (first  ? x[k] + t[k]
                                       : last ? x[3 + k] - t[k]
                                              : middle)
                                    : p->next[k] + t[k];
    p->next[k] = body->position[k] + t[k];
  }
  saltusi_minus3(body->position, of->start, from);
  body->orientation = orientation_of(of, of->start_R + 9 * (ptrdiff_t)i, of->start_angle[i]);
  saltusi_cross(of->w, from, body->velocity);
  saltusi_along(1.0, of->velocity, body->velocity, body->velocity);
  memcpy(body->angular_velocity, of->w, sizeof of->w);
  body->angular_in_world = true;
  if (of->plane) {
    body->angular_velocity[0] = of->w[2];
  }
}

/* Axes in the world, in the plane with their angle. */
typedef struct axes_at {
  const double* R;
  double angle;
} axes_at;

/* A marker at one end of a cell, with the axes H of the world in the stress-free shape, in the plane at `angle`. */
static const char* add_marker(saltusi_scene_builder* b, const saltusi_beam* of, int i, int side,
                              const axes_at* H, const char* name, parts* p) {
  saltus_marker_def* marker = &p->markers[p->marker++];
  marker->name = name;
  marker->body = named(b, of, i, "");
  marker->position[of->plane ? 0 : 2] = (side == 0 ? -0.5 : 0.5) * cell_length(of->rest, i);
  if (H != NULL) {
    double relative[9];
    relative_axes(of->rest_R + 9 * (ptrdiff_t)i, H->R, relative);
    marker->orientation = orientation_of(of, relative, H->angle - of->rest_angle[i]);
  }
  return name;
}

/* Joint and springs of a hinge over the length l. */
static void add_hinge(saltusi_scene_builder* b, const saltusi_beam* of,
                      const char* const between[2], double l, bool springs, int number, parts* p) {
  const double bend[2] = {of->E * of->I[0] / l, of->E * of->I[1] / l};
  saltus_joint_def* joint = &p->joints[p->joint++];
  joint->name = named(b, of, number, "_joint");
  joint->between[0] = between[0];
  joint->between[1] = between[1];
  const bool stretch = of->stretch && springs;
  joint->type = stretch     ? SALTUS_JOINT_POINT_ON_LINE
                : of->plane ? SALTUS_JOINT_REVOLUTE
                            : SALTUS_JOINT_SPHERICAL;
  if (!springs) {
    return;
  }
  if (of->plane && !stretch) {
    joint->angle.stiffness = bend[0];
    joint->angle.damping = of->damping * bend[0];
    return;
  }
  saltus_spring_def* spring = &p->springs[p->spring++];
  spring->name = named(b, of, number, "_spring");
  spring->type = SALTUS_SPRING_BUSHING;
  spring->between[0] = between[0];
  spring->between[1] = between[1];
  spring->stiffness[of->plane ? 0 : 2] = stretch ? of->E * of->A / l : 0.0;
  spring->stiffness[3] = of->plane ? 0.0 : bend[0];
  spring->stiffness[4] = of->plane ? 0.0 : bend[1];
  spring->stiffness[5] = of->plane ? bend[0] : of->G * of->J / l;
  for (int k = 0; k < 6; k++) {
    spring->damping[k] = of->damping * spring->stiffness[k];
  }
}

/* Axes halfway between those of two cells. */
static void hinge_axes(const saltusi_beam* of, int i, int j, double H[9]) {
  const double *R = of->rest_R + 9 * (ptrdiff_t)i, *S = of->rest_R + 9 * (ptrdiff_t)j;
  const int c = of->plane ? 0 : 2;
  double t[3] = {R[c] + S[c], R[3 + c] + S[3 + c], R[6 + c] + S[6 + c]};
  const double length = sqrt(saltusi_dot3(t, t));
  for (int k = 0; k < 3; k++) {
    t[k] = length > 1e-9 ? t[k] / length : R[3 * k + c];
  }
  saltusi_beam_transport(R, of->plane, t, H);
}

static void add_hinges(saltusi_scene_builder* b, const saltusi_beam* of, parts* p) {
  const int hinges = of->closed ? of->cells : of->cells - 1;
  for (int j = 1; j <= hinges; j++) {
    const int next = j % of->cells;
    double H[9], own = of->rest_angle[j - 1], other = of->rest_angle[next];
    const double turns = j > next ? 2.0 * pi * round((own - other) / (2.0 * pi)) : 0.0;
    hinge_axes(of, j - 1, next, H);
    const double before = cell_length(of->rest, j - 1), after = cell_length(of->rest, next);
    double l = 0.5 * (before + after);
    if (of->by_nodes) { /* an end cell is half as long and has its station at its end */
      l = (j == 1 ? before : 0.5 * before) + (j == hinges ? after : 0.5 * after);
    }
    const double middle = 0.5 * (own + other + turns);
    const axes_at first = {of->straight ? of->rest_R + 9 * (ptrdiff_t)(j - 1) : H,
                           of->straight ? own : middle};
    const axes_at second = {of->straight ? of->rest_R + 9 * (ptrdiff_t)next : H,
                            of->straight ? other + turns : middle};
    const char* between[2] = {add_marker(b, of, j - 1, 1, &first, named(b, of, j - 1, "_end"), p),
                              add_marker(b, of, next, 0, &second, named(b, of, next, "_start"), p)};
    add_hinge(b, of, between, l, true, j - 1, p);
  }
}

/* The marker NAME_middle: at the end of a cell, or in the middle of one. */
static void add_middle(saltusi_scene_builder* b, const saltusi_beam* of, parts* p) {
  add_marker(b, of, (of->cells - 1) / 2, 1, NULL, named(b, of, -1, "_middle"), p);
  if (of->cells % 2 == 1) {
    memset(p->markers[p->marker - 1].position, 0, sizeof p->markers->position);
  }
}

/* Markers NAME_start and NAME_end, and what holds them. */
static void add_ends(saltusi_scene_builder* b, const saltusi_beam* of, parts* p) {
  static const char* const words[2] = {"_start", "_end"};
  static const char* const holds[2] = {"_start_held", "_end_held"};
  for (int k = 0; k < 2 && b->reader.status == SALTUS_OK; k++) {
    const int cell = k == 0 ? 0 : of->cells - 1;
    const char* own = add_marker(b, of, cell, k, NULL, named(b, of, -1, words[k]), p);
    if (of->marker[k] == NULL || of->end[k] == SALTUSI_END_FREE) {
      continue;
    }
    saltusi_beam_frame at;
    if (!saltusi_beam_marker_frame(b, of->marker[k], 0, &at)) {
      saltusi_reader_fail(&b->reader, of->item, "beam " SALTUSI_QUOTE ": no marker " SALTUSI_QUOTE,
                          of->name, of->marker[k]);
      return;
    }
    saltus_marker_def* held = &p->markers[p->marker++];
    const double* x = of->start + 3 * (ptrdiff_t)(k == 0 ? 0 : of->cells);
    const double* R = of->rest_R + 9 * (ptrdiff_t)cell;
    double d[3], relative[9];
    saltusi_minus3(x, at.p, d);
    held->name = named(b, of, -1, holds[k]);
    held->marker = of->marker[k];
    saltusi_turn_back(at.R, d, held->position);
    relative_axes(at.R, R, relative);
    held->orientation = orientation_of(of, relative, atan2(relative[3], relative[0]));
    const char* between[2] = {held->name, own};
    const bool springs = of->end[k] == SALTUSI_END_CLAMPED && !of->by_nodes;
    add_hinge(b, of, between, 0.5 * cell_length(of->rest, cell), springs, of->cells + k, p);
    if (of->end[k] == SALTUSI_END_CLAMPED && of->by_nodes) {
      p->joints[p->joint - 1].type = SALTUS_JOINT_FIXED;
    }
  }
}

/* Balls of cell i. */
static int balls_of(const saltusi_beam* of, int i) {
  const bool last = i == of->cells - 1;
  return of->at == SALTUSI_AT_NODES ? 1 + (last && !of->by_nodes) : (i == 0) + last;
}

/* Ball k of cell i along its axis: a node of kind nodes is the centre, of the end cells their end. */
static double ball_place(const saltusi_beam* of, int i, int k, double length) {
  const bool last = i == of->cells - 1;
  const bool inner = of->at == SALTUSI_AT_NODES && of->by_nodes && i > 0 && !last;
  const bool end = k == 1 || (last && i > 0 && (of->at == SALTUSI_AT_ENDS || of->by_nodes));
  return inner ? 0.0 : end ? 0.5 * length : -0.5 * length;
}

static void add_shapes(saltusi_scene_builder* b, const saltusi_beam* of, parts* p) {
  const bool links = of->at == SALTUSI_AT_LINKS;
  for (int i = 0; of->at != SALTUSI_AT_NONE && of->radius > 0.0 && i < of->cells; i++) {
    const double length = cell_length(of->rest, i);
    for (int k = 0; k < (links ? 1 : balls_of(of, i)); k++) {
      saltus_body_shape_def* shape = &p->shapes[p->shape++];
      char text[128];
      snprintf(text, sizeof text, "%.63s_%d.%d", of->name, i + 1, k + 1);
      shape->shape.name = saltusi_pool_text(b->reader.pool, text);
      shape->body = named(b, of, i, "");
      shape->material = of->surface;
      shape->groups = of->groups;
      shape->group_count = of->groups != NULL;
      shape->shape.radius = of->radius;
      shape->shape.kind = links       ? SALTUS_SHAPE_CAPSULE
                          : of->plane ? SALTUS_SHAPE_CIRCLE
                                      : SALTUS_SHAPE_SPHERE;
      shape->shape.length = links ? length : 0.0;
      shape->shape.position[of->plane ? 0 : 2] = links ? 0.0 : ball_place(of, i, k, length);
    }
  }
}

/* One beam behind the parts that there are. */
static void add_beam(saltusi_scene_builder* b, const saltusi_beam* of) {
  saltus_mechanism_def* m = &b->mechanism;
  const void* lists[5] = {m->bodies, m->markers, m->joints, m->springs, m->shapes};
  const int counts[5] = {m->body_count, m->marker_count, m->joint_count, m->spring_count,
                         m->shape_count};
  const size_t sizes[5] = {sizeof *m->bodies, sizeof *m->markers, sizeof *m->joints,
                           sizeof *m->springs, sizeof *m->shapes};
  const int n = of->cells, more[5] = {n, 2 * n + 5, n + 2, n + 2, n + 2};
  for (int k = 0; k < 5; k++) {
    grow(b, &lists[k], counts[k], more[k], sizes[k]);
  }
  const void* nodes = b->shape_nodes;
  grow(b, &nodes, m->shape_count, n + 2, sizeof(void*));
  b->shape_nodes = (const saltusi_yaml_node**)(uintptr_t)nodes;
  if (b->reader.status != SALTUS_OK || b->shape_nodes == NULL) {
    return;
  }
  parts p = {(saltus_body_def*)(uintptr_t)lists[0],
             (saltus_marker_def*)(uintptr_t)lists[1],
             (saltus_joint_def*)(uintptr_t)lists[2],
             (saltus_spring_def*)(uintptr_t)lists[3],
             (saltus_body_shape_def*)(uintptr_t)lists[4],
             counts[0],
             counts[1],
             counts[2],
             counts[3],
             counts[4],
             {of->start[0], of->start[1], of->start[2]}};
  for (int i = 0; i < n; i++) {
    add_body(b, of, i, &p);
  }
  add_hinges(b, of, &p);
  add_middle(b, of, &p);
  if (!of->closed) {
    add_ends(b, of, &p);
  }
  add_shapes(b, of, &p);
  for (int i = m->shape_count; i < p.shape; i++) {
    b->shape_nodes[i] = of->item;
  }
  m->bodies = p.bodies;
  m->markers = p.markers;
  m->joints = p.joints;
  m->springs = p.springs;
  m->shapes = p.shapes;
  m->body_count = p.body;
  m->marker_count = p.marker;
  m->joint_count = p.joint;
  m->spring_count = p.spring;
  m->shape_count = p.shape;
}

void saltusi_scene_beams(saltusi_scene_builder* b) {
  assert(b != NULL);
  const saltusi_yaml_node* list = saltusi_scene_mapping(b, "beams");
  for (int i = 0; i < list->count && b->reader.status == SALTUS_OK; i++) {
    saltusi_beam of = {.name = list->keys[i].text, .item = &list->children[i]};
    saltusi_scene_check_name(b, &list->keys[i], "beam");
    read_beam(b, &of);
    if (b->reader.status == SALTUS_OK) {
      add_beam(b, &of);
    }
  }
}
