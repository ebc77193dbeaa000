/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * elements_cam.c - cams and their followers as formulas.
 *
 * X, Y, theta: the follower in the axes of the cam, R radius of its roller, 0 for a knife.
 *
 *   arcs, knife and roller   gap |P - C_i| - rho_i - R  of the arc whose normals have the direction of P - C_i
 *   arcs, flat               gap n . (P - C_i) - rho_i  of the arc whose normals have the direction n of the face
 *   spline and formula       gap (r - c(beta)) / sqrt(1 + (c_beta / r)^2),  r, beta polar;  flat n . P - c(direction of n)
 *   slip, knife and roller   n_y X' - n_x Y' + R theta'
 *   slip, flat               x' + y theta'  of the cam in the axes of the follower
 *
 * In space the profile is a cylinder along z and the roller a ball: gaps are the same, slips n_y X' - n_x Y' + R w_z and
 * Z' - R (n_y w_x - n_x w_y).
 *
 * A gap of a polar curve is its distance to first order. The spline is the periodic cubic one through the points.
 */
#include "model/elements.h"

#include "body/mechanism.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { PIECES_MOST = 60 };

static const double turn = 6.283185307179586476925;

/* ---- arcs ---- */

static double arc_end(const saltus_cam_profile* p, int i) {
  return i + 1 < p->arc_count ? p->arcs[i + 1].from : p->arcs[0].from + turn;
}

static void check_arcs(saltusi_machine_maker* m, const saltus_cam_profile* p) {
  for (int i = 0; i < p->arc_count; i++) {
    const saltus_cam_arc* a = &p->arcs[i];
    const saltus_cam_arc* b = &p->arcs[(i + 1) % p->arc_count];
    const double to = arc_end(p, i);
    saltusi_machine_positive(m, "radius of an arc", a->radius);
    if (!(to > a->from)) {
      saltusi_machine_fail(m, "arc %d begins at %g rad, behind the next one at %g", i + 1, a->from,
                           to);
    }
    const double gap = hypot(a->centre[0] - b->centre[0] + (a->radius - b->radius) * cos(to),
                             a->centre[1] - b->centre[1] + (a->radius - b->radius) * sin(to));
    if (p->arc_count > 1 && !(gap <= 1e-9 * (a->radius + b->radius))) {
      saltusi_machine_fail(m, "arcs %d and %d are %g m apart where they should meet, at %g rad",
                           i + 1, (i + 1) % p->arc_count + 1, gap, to);
    }
  }
}

/* The functions of two velocities (U, V): of the follower's origin, or its angular velocity. */
typedef const char* const rates[2];
static rates moves = {"x_in'", "y_in'"}, turns = {"wx_in", "wy_in"};

/* The text of one arc; velocities NULL: its gap. */
typedef const char* (*piece_text)(saltusi_machine_maker* m, const saltus_cam_arc* arc, rates of);

static double least_radius(const saltus_cam_profile* p) {
  double least = p->arcs[0].radius;
  for (int i = 1; i < p->arc_count; i++) {
    least = p->arcs[i].radius < least ? p->arcs[i].radius : least;
  }
  return least;
}

/* Condition of an arc: the direction of P - C, or of the face, is within half its span of its middle. P must not be on
 * the far side of the cam, where a ray from an outer centre enters it: a convex profile of least radius r has a
 * thickness of at least 2 r along its normals. */
static const char* when_arc(saltusi_machine_maker* m, int i, bool flat) {
  const saltus_cam_profile* p = m->element->profile;
  const saltus_cam_arc* arc = &p->arcs[i];
  const char *a = m->element->between[0], *b = m->element->between[1];
  const double middle = 0.5 * (arc->from + arc_end(p, i));
  const double reach = cos(0.5 * (arc_end(p, i) - arc->from));
  if (flat) {
    return saltusi_machine_text(m, "sin(%.17g - angle(%s, %s)) >= %.17g", middle, a, b, reach);
  }
  const char* x = saltusi_machine_text(m, "(x_in(%s, %s) - (%.17g))", a, b, arc->centre[0]);
  const char* y = saltusi_machine_text(m, "(y_in(%s, %s) - (%.17g))", a, b, arc->centre[1]);
  return saltusi_machine_text(
      m, "(%.17g)*%s + (%.17g)*%s >= (%.17g)*hypot(%s, %s) and hypot(%s, %s) > %.17g", cos(middle),
      x, sin(middle), y, reach, x, y, x, y, arc->radius - least_radius(p));
}

/* "piecewise(condition 1, value 1, ..., last value)" */
static const char* by_arc(saltusi_machine_maker* m, piece_text piece, bool flat, rates of) {
  const saltus_cam_profile* p = m->element->profile;
  const int last = p->arc_count - 1;
  const char* all = last > 0 ? "piecewise(" : "";
  for (int i = 0; i < last && m->status == SALTUS_OK; i++) {
    all =
        saltusi_machine_text(m, "%s%s, %s, ", all, when_arc(m, i, flat), piece(m, &p->arcs[i], of));
  }
  return saltusi_machine_text(m, "%s%s%s", all, piece(m, &p->arcs[last], of), last > 0 ? ")" : "");
}

static const char* round_gap(saltusi_machine_maker* m, const saltus_cam_arc* arc, rates of) {
  (void)of;
  const saltus_element_def* e = m->element;
  return saltusi_machine_text(m, "hypot(x_in(%s, %s) - (%.17g), y_in(%s, %s) - (%.17g)) - %.17g",
                              e->between[0], e->between[1], arc->centre[0], e->between[0],
                              e->between[1], arc->centre[1], arc->radius + e->radius);
}

/* n_y U - n_x V */
static const char* round_slip(saltusi_machine_maker* m, const saltus_cam_arc* arc, rates of) {
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  return saltusi_machine_text(m,
                              "((y_in(%s, %s) - (%.17g))*%s(%s, %s) - (x_in(%s, %s) - "
                              "(%.17g))*%s(%s, %s))/%.17g",
                              a, b, arc->centre[1], of[0], a, b, a, b, arc->centre[0], of[1], a, b,
                              arc->radius + e->radius);
}

/* The centre of the arc in the axes of the follower, y: below the face. */
static const char* flat_gap(saltusi_machine_maker* m, const saltus_cam_arc* arc, rates of) {
  (void)of;
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  return saltusi_machine_text(
      m, "-y_in(%s, %s) + (%.17g)*sin(angle(%s, %s)) - (%.17g)*cos(angle(%s, %s)) - %.17g", b, a,
      arc->centre[0], a, b, arc->centre[1], a, b, arc->radius);
}

/* ---- curves over the polar angle ---- */

typedef struct elements_cam_curve {
  const char *c, *slope; /* slope NULL: not given */
} elements_cam_curve;

/* Second derivatives of the periodic spline through points `knot` apart. */
static void spline_bends(const saltus_cam_point* p, int n, double* bend) {
  double A[PIECES_MOST][PIECES_MOST + 1] = {{0.0}};
  for (int i = 0; i < n; i++) {
    const int before = (i + n - 1) % n, next = (i + 1) % n;
    const double left = p[i].angle - p[before].angle + (i == 0 ? turn : 0.0);
    const double right = p[next].angle - p[i].angle + (next == 0 ? turn : 0.0);
    A[i][before] += left;
    A[i][i] += 2.0 * (left + right);
    A[i][next] += right;
    A[i][n] =
        6.0 * ((p[next].radius - p[i].radius) / right - (p[i].radius - p[before].radius) / left);
  }
  for (int i = 0; i < n; i++) { /* diagonally dominant: no pivots */
    for (int k = i + 1; k < n; k++) {
      const double f = A[k][i] / A[i][i];
      for (int j = i; j <= n && f != 0.0; j++) {
        A[k][j] -= f * A[i][j];
      }
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    bend[i] = A[i][n];
    for (int j = i + 1; j < n; j++) {
      bend[i] -= A[i][j] * bend[j];
    }
    bend[i] /= A[i][i];
  }
}

/* The angle behind that of the first point, 0..2 pi, of the direction (x, y). */
static const char* behind(saltusi_machine_maker* m, double first, const char* x, const char* y) {
  return saltusi_machine_text(
      m, "(%.17g + atan2((%.17g)*(%s) - (%.17g)*(%s), -(%.17g)*(%s) - (%.17g)*(%s)))", 0.5 * turn,
      sin(first), x, cos(first), y, cos(first), x, sin(first), y);
}

static elements_cam_curve spline(saltusi_machine_maker* m, const char* x, const char* y) {
  const saltus_cam_profile* p = m->element->profile;
  const int n = p->point_count;
  double bend[PIECES_MOST];
  elements_cam_curve all = {"piecewise(", "piecewise("};
  if (n < 3 || n > PIECES_MOST) {
    saltusi_machine_fail(m, "a profile has 3 to %d points, not %d", PIECES_MOST, n);
    return all;
  }
  for (int i = 0; i < n; i++) {
    const double next = i + 1 < n ? p->points[i + 1].angle : p->points[0].angle + turn;
    if (!(next > p->points[i].angle)) {
      saltusi_machine_fail(m, "point %d of the profile is at %g rad, must be before the next",
                           i + 1, p->points[i].angle);
      return all;
    }
  }
  spline_bends(p->points, n, bend);
  const char* beta = behind(m, p->points[0].angle, x, y);
  for (int i = 0; i < n; i++) {
    const int k = (i + 1) % n;
    const double h = p->points[k].angle - p->points[i].angle + (k == 0 ? turn : 0.0);
    const double rise = (p->points[k].radius - p->points[i].radius) / h;
    const double c1 = rise - h * (2.0 * bend[i] + bend[k]) / 6.0;
    const double c2 = 0.5 * bend[i], c3 = (bend[k] - bend[i]) / (6.0 * h);
    const double at = p->points[i].angle - p->points[0].angle;
    const char* when = i + 1 < n ? saltusi_machine_text(m, "%s < %.17g, ", beta, at + h) : "";
    const char* u = saltusi_machine_text(m, "(%s - %.17g)", beta, at);
    const char* end = i + 1 < n ? ", " : ")";
    all.c = saltusi_machine_text(m, "%s%s%.17g + %s*(%.17g + %s*(%.17g + %s*(%.17g)))%s", all.c,
                                 when, p->points[i].radius, u, c1, u, c2, u, c3, end);
    all.slope = saltusi_machine_text(m, "%s%s%.17g + %s*(%.17g + %s*(%.17g))%s", all.slope, when,
                                     c1, u, 2.0 * c2, u, 3.0 * c3, end);
  }
  return all;
}

/* The text with every name "beta" replaced. */
static const char* replace_beta(saltusi_machine_maker* m, const char* text, const char* by) {
  const char* all = "";
  while (text != NULL && *text != '\0' && m->status == SALTUS_OK) {
    const bool name = isalpha((unsigned char)*text) || *text == '_';
    size_t length = 1;
    while (name && (isalnum((unsigned char)text[length]) || text[length] == '_')) {
      length++;
    }
    const bool beta = name && length == 4 && strncmp(text, "beta", 4) == 0;
    all = beta ? saltusi_machine_text(m, "%s%s", all, by)
               : saltusi_machine_text(m, "%s%.*s", all, (int)length, text);
    text += length;
  }
  return all;
}

static elements_cam_curve polar(saltusi_machine_maker* m, const char* x, const char* y) {
  const saltus_cam_profile* p = m->element->profile;
  if (p->point_count > 0) {
    return spline(m, x, y);
  }
  const char* beta = saltusi_machine_text(m, "atan2(%s, %s)", y, x);
  elements_cam_curve all = {saltusi_machine_text(m, "(%s)", replace_beta(m, p->formula, beta)),
                            NULL};
  if (p->slope != NULL) {
    all.slope = saltusi_machine_text(m, "(%s)", replace_beta(m, p->slope, beta));
  }
  return all;
}

/* n_y U - n_x V of a curve; NULL: its slope is not given. */
static const char* curve_slip(saltusi_machine_maker* m, const char* lean, rates of) {
  const char *a = m->element->between[0], *b = m->element->between[1];
  const char* x = saltusi_machine_text(m, "x_in(%s, %s)", a, b);
  const char* y = saltusi_machine_text(m, "y_in(%s, %s)", a, b);
  return lean == NULL
             ? NULL
             : saltusi_machine_text(m,
                                    "((%s - %s*%s)*%s(%s, %s) - (%s + %s*%s)*%s(%s, %s))/"
                                    "(hypot(%s, %s)*sqrt(1 + %s^2))",
                                    y, lean, x, of[0], a, b, x, lean, y, of[1], a, b, x, y, lean);
}

/* The gap, and c_beta/r; NULL: the slope is not given. */
static const char* round_follower(saltusi_machine_maker* m, const char** lean) {
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  const char* x = saltusi_machine_text(m, "x_in(%s, %s)", a, b);
  const char* y = saltusi_machine_text(m, "y_in(%s, %s)", a, b);
  const elements_cam_curve c = polar(m, x, y);
  if (c.slope == NULL) {
    *lean = NULL;
    return saltusi_machine_text(m, "hypot(%s, %s) - %s", x, y, c.c);
  }
  *lean = saltusi_machine_text(m, "(%s/hypot(%s, %s))", c.slope, x, y);
  return saltusi_machine_text(m, "(hypot(%s, %s) - %s)/sqrt(1 + %s^2)", x, y, c.c, *lean);
}

static const char* flat_follower(saltusi_machine_maker* m) {
  const char *a = m->element->between[0], *b = m->element->between[1];
  const char* x = saltusi_machine_text(m, "-sin(angle(%s, %s))", a, b);
  const char* y = saltusi_machine_text(m, "cos(angle(%s, %s))", a, b);
  return saltusi_machine_text(m, "-y_in(%s, %s) - %s", b, a, polar(m, x, y).c);
}

/* ---- the element ---- */

static void check_profile(saltusi_machine_maker* m) {
  const saltus_element_def* e = m->element;
  const saltus_cam_profile* p = e->profile;
  const int given =
      p == NULL ? 0 : (p->arc_count > 0) + (p->point_count > 0) + (p->formula != NULL);
  if (!m->def->mechanism->plane && e->follower == SALTUS_FOLLOWER_FLAT) {
    saltusi_machine_fail(m,
                         "a flat follower is one of the plane: in space it touches along a line");
  } else if (given != 1) {
    saltusi_machine_fail(m, "profile has to be one of arcs, points and a formula");
  } else if (p->arc_count > PIECES_MOST) {
    saltusi_machine_fail(m, "profile has %d arcs, allowed are %d", p->arc_count, PIECES_MOST);
  } else if (p->formula != NULL && p->slope == NULL && saltusi_machine_rubs(m) &&
             e->follower != SALTUS_FOLLOWER_FLAT) {
    saltusi_machine_fail(m, "friction needs the slope of the profile, its derivative by beta");
  } else if ((e->follower == SALTUS_FOLLOWER_ROLLER) != (e->radius > 0.0)) {
    saltusi_machine_fail(m, "radius is that of a roller: %s",
                         e->radius > 0.0 ? "this follower has none" : "it is missing");
  } else {
    check_arcs(m, p);
  }
}

void saltusi_machine_cam(saltusi_machine_maker* m) {
  assert(m != NULL);
  check_profile(m);
  if (m->status != SALTUS_OK) {
    return;
  }
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1], *lean = NULL;
  const bool plane = m->def->mechanism->plane, arcs = e->profile->arc_count > 0;
  if (e->follower == SALTUS_FOLLOWER_FLAT) {
    const char* gap = arcs ? by_arc(m, flat_gap, true, moves) : flat_follower(m);
    saltusi_machine_contact(
        m, NULL, gap,
        saltusi_machine_text(m, "x_in'(%s, %s) + y_in(%s, %s)*angle'(%s, %s)", b, a, b, a, b, a));
    return;
  }
  const char* gap = arcs ? by_arc(m, round_gap, false, moves) : round_follower(m, &lean);
  const char* slip[2] = {arcs ? by_arc(m, round_slip, false, moves) : curve_slip(m, lean, moves),
                         NULL};
  if (slip[0] != NULL && !plane) {
    slip[1] = saltusi_machine_text(m, "z_in'(%s, %s)", a, b);
  }
  if (slip[0] != NULL && e->follower == SALTUS_FOLLOWER_ROLLER) {
    slip[0] = saltusi_machine_text(m, "%s + %.17g*%s(%s, %s)", slip[0], e->radius,
                                   plane ? "angle'" : "wz_in", a, b);
  }
  if (slip[1] != NULL && e->follower == SALTUS_FOLLOWER_ROLLER) {
    slip[1] = saltusi_machine_text(
        m, "%s - %.17g*%s", slip[1], e->radius,
        arcs ? saltusi_machine_text(m, "(%s)", by_arc(m, round_slip, false, turns))
             : curve_slip(m, lean, turns));
  }
  saltusi_machine_contact(m, NULL, gap, slip[0]);
  if (!plane) {
    saltusi_machine_second_slip(m, slip[1]);
  }
}
