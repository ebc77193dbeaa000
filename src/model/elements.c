/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * elements.c - clearances, stops, ropes, wheels and gears as formulas.
 *
 * X, Y, theta: the second marker in the axes of the first. c clearance, R radius.
 *
 *   journal   gap (c^2 - X^2 - Y^2) / (2 c)     slip (X Y' - Y X')/c + R theta'
 *             = c - d to second order in the gap, d = hypot(X, Y), with the rows and the convective part of c - d
 *             wherever it is closed; smooth at d = 0, where c - d has no gradient
 *   guide     gap b + c -+ Y_k                  slip X_k',  (X_k, Y_k) = (X, Y) + R(theta) (+-a, +-b); in space
 *             also h + c -+ Z_k, with slips X_k' and the one across
 *   stop      gap Y - R                         slip X' + R theta'
 *   rope      gap (L^2 - d^2) / (2 L)
 *   rolling   joints Y - R = 0, X + R theta = constant; in space Z - R = 0 and zero velocity at the point of contact
 *   gears     elements_gear.c
 *   spring    the gap of a stop, potential F Y + k Y^2/2
 *   ratchet   elements_ratchet.c
 *   latch     a stop; like all contacts with an input: the gap is 1e6 m while the input is 0
 */
#include "model/elements.h"

#include "base/log.h"
#include "base/number.h"
#include "base/reserved.h"
#include "body/mechanism.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
  CONTACTS_MOST = 16,
  JOINTS_MOST = 3
}; /* of one element; a ratchet has one contact per tooth */

static const char* const type_names[] = {"journal",        "guide",   "stop",      "rope",
                                         "wheel",          "rolling", "gear-pair", "cam",
                                         "spring-contact", "latch",   "ratchet",   "rolling-wheel"};
enum { TYPES = sizeof type_names / sizeof type_names[0] };

const char* saltus_element_type_name(saltus_element_type type) {
  return (unsigned)type < TYPES ? type_names[type] : NULL;
}

/* ---- shared by all elements ---- */

const char* saltusi_machine_text(saltusi_machine_maker* m, const char* format, ...) {
  assert(m != NULL && format != NULL);
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  const int length = saltusi_print_list(NULL, 0, format, list);
  va_end(list);
  char* text = length >= 0 ? saltusi_pool_take(m->pool, (size_t)length + 1, 1) : NULL;
  if (text != NULL) {
    saltusi_print_list(text, (size_t)length + 1, format, again);
  } else {
    m->status = m->status == SALTUS_OK ? SALTUS_ERR_MEMORY : m->status;
  }
  va_end(again);
  return text;
}

void saltusi_machine_fail(saltusi_machine_maker* m, const char* format, ...) {
  assert(m != NULL && format != NULL);
  if (m->status != SALTUS_OK) {
    return;
  }
  char text[400];
  va_list list;
  va_start(list, format);
  saltusi_print_list(text, sizeof text, format, list);
  va_end(list);
  saltusi_log(m->def->log, SALTUS_LEVEL_ERROR, "element \"%.80s\": %s", m->element->name, text);
  m->status = SALTUS_ERR_INPUT;
}

void saltusi_machine_positive(saltusi_machine_maker* m, const char* what, double value) {
  assert(m != NULL && what != NULL);
  if (!(value > 0.0 && isfinite(value))) {
    saltusi_machine_fail(m, "%s is %g, must be above 0", what, value);
  }
}

static const char* number(saltusi_machine_maker* m, double value) {
  return saltusi_machine_text(m, "%.17g", value);
}

void saltusi_machine_contact(saltusi_machine_maker* m, const char* part, const char* gap,
                             const char* slip) {
  assert(m != NULL);
  const saltus_element_def* e = m->element;
  const char* name = part != NULL ? saltusi_machine_text(m, "%s.%s", e->name, part) : e->name;
  if (e->held != NULL) { /* far away while it is switched off */
    gap = saltusi_machine_text(m, "%s + 1e6*(1 - %s)", gap, e->held);
  }
  saltus_formula_rates* rates = NULL;
  if (e->law != NULL && e->law->rolling > 0.0) {
    rates = SALTUSI_TAKE(m->pool, saltus_formula_rates, 1);
    if (rates != NULL) {
      rates->rolling.text = saltusi_machine_text(m, "angle'(%s, %s)", e->between[0], e->between[1]);
    }
  }
  m->contacts[m->def->contact_count++] = (saltus_formula_contact){
      .name = name,
      .gap = {.text = gap},
      .slip = {.text = slip},
      .friction = {.text = number(m, slip != NULL ? e->friction : 0.0)},
      .restitution = {.text = number(m, e->restitution)},
      .tangential_restitution = {.text = number(m, e->tangential_restitution)},
      .impact = e->impact,
      .stiffness = e->contact_stiffness,
      .law = e->law,
      .rates = rates};
}

static void add_joint(saltusi_machine_maker* m, const char* part, const char* constraint) {
  m->joints[m->def->joint_count++] =
      (saltus_formula_joint){.name = saltusi_machine_text(m, "%s.%s", m->element->name, part),
                             .constraint = {.text = constraint}};
}

static bool is_plane(const saltusi_machine_maker* m) {
  return m->def->mechanism->plane;
}

bool saltusi_machine_rubs(const saltusi_machine_maker* m) {
  assert(m != NULL);
  return m->element->friction > 0.0 || m->element->law != NULL;
}

void saltusi_machine_second_slip(saltusi_machine_maker* m, const char* slip) {
  assert(m != NULL && m->def->contact_count > 0);
  saltus_formula_contact* contact = &m->contacts[m->def->contact_count - 1];
  if (saltusi_machine_rubs(m)) {
    contact->slip2.text = slip;
  } else {
    contact->slip.text = NULL;
  }
}

/* ---- elements ---- */

static void journal(saltusi_machine_maker* m) {
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  const double c = e->clearance;
  saltusi_machine_positive(m, "clearance", c);
  const char* gap = saltusi_machine_text(m, "(%.17g - x_in(%s, %s)^2 - y_in(%s, %s)^2)/%.17g",
                                         c * c, a, b, a, b, 2.0 * c);
  const char* slip = saltusi_machine_text(
      m, "(x_in(%s, %s)*y_in'(%s, %s) - y_in(%s, %s)*x_in'(%s, %s))/%.17g + %.17g*%s(%s, %s)", a, b,
      a, b, a, b, a, b, c, e->radius, is_plane(m) ? "angle'" : "wz_in", a, b);
  saltusi_machine_contact(m, NULL, gap, is_plane(m) || saltusi_machine_rubs(m) ? slip : NULL);
  if (!is_plane(m) && saltusi_machine_rubs(m)) { /* along the axis */
    m->contacts[m->def->contact_count - 1].slip2.text = saltusi_machine_text(
        m, "z_in'(%s, %s) + %.17g*(wx_in(%s, %s)*y_in(%s, %s) - wy_in(%s, %s)*x_in(%s, %s))", a, b,
        e->radius / c, a, b, a, b, a, b, a, b);
  }
}

/* A coordinate of a corner of the block in the axes of the first marker: c_in + x xc_in + y yc_in + z zc_in. */
static const char* corner_along(saltusi_machine_maker* m, char c, const double p[3]) {
  const char *a = m->element->between[0], *b = m->element->between[1];
  return saltusi_machine_text(m,
                              "(%c_in(%s, %s) + (%.17g)*x%c_in(%s, %s) + (%.17g)*y%c_in(%s, %s) + "
                              "(%.17g)*z%c_in(%s, %s))",
                              c, a, b, p[0], c, a, b, p[1], c, a, b, p[2], c, a, b);
}

/* Four walls along x of the first, four corners of the block at each. */
static void guide_in_space(saltusi_machine_maker* m) {
  static const char* const walls[] = {"upper", "lower", "front", "back"};
  const saltus_element_def* e = m->element;
  saltusi_machine_positive(m, "height", e->height);
  for (int k = 0; k < 16; k++) {
    const int wall = k / 4, over = wall % 2 == 0 ? 1 : -1; /* upper and front: at the far end */
    const double half[2] = {wall < 2 ? 0.5 * e->width : 0.5 * e->height,
                            wall < 2 ? 0.5 * e->height : 0.5 * e->width};
    const double end = k % 2 == 0 ? -0.5 : 0.5, side = k % 4 < 2 ? -half[1] : half[1];
    const double p[3] = {end * e->length, wall < 2 ? over * half[0] : side,
                         wall < 2 ? side : over * half[0]};
    const char* gap =
        saltusi_machine_text(m, "%.17g %c %s", half[0] + e->clearance, over > 0 ? '-' : '+',
                             corner_along(m, wall < 2 ? 'y' : 'z', p));
    saltusi_machine_contact(m, saltusi_machine_text(m, "%s%d", walls[wall], k % 4 + 1), gap,
                            corner_along(m, 'x', p));
    saltusi_machine_second_slip(m, corner_along(m, wall < 2 ? 'z' : 'y', p));
  }
}

static void guide(saltusi_machine_maker* m) {
  static const char* const parts[] = {"upper_left", "upper_right", "lower_left", "lower_right"};
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  saltusi_machine_positive(m, "clearance", e->clearance);
  saltusi_machine_positive(m, "length", e->length);
  saltusi_machine_positive(m, "width", e->width);
  if (!is_plane(m)) {
    guide_in_space(m);
    return;
  }
  if (e->height != 0.0) {
    saltusi_machine_fail(m, "a guide in the plane has no height");
  }
  for (int k = 0; k < 4; k++) {
    const double x = (k % 2 == 0 ? -0.5 : 0.5) * e->length, y = (k < 2 ? 0.5 : -0.5) * e->width;
    const char* gap = saltusi_machine_text(
        m, "%.17g %c (y_in(%s, %s) + (%.17g)*sin(angle(%s, %s)) + (%.17g)*cos(angle(%s, %s)))",
        0.5 * e->width + e->clearance, k < 2 ? '-' : '+', a, b, x, a, b, y, a, b);
    const char* slip = saltusi_machine_text(
        m, "x_in(%s, %s) + (%.17g)*cos(angle(%s, %s)) - (%.17g)*sin(angle(%s, %s))", a, b, x, a, b,
        y, a, b);
    saltusi_machine_contact(m, parts[k], gap, slip);
  }
}

/* Velocity of the point of the second body that touches the plane z = 0 of the first, along x and y of the first, m/s.
 *   ball   V + w x (-R z)
 *   wheel  V + w x (-R d),  d = (z - c n)/s,  n the axle, c = z . n, s = |z x n|: d points up in its plane */
static void touching_slips(saltusi_machine_maker* m, bool wheel, const char* slip[2]) {
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  const double R = e->radius;
  if (!wheel) {
    slip[0] = saltusi_machine_text(m, "x_in'(%s, %s) - %.17g*wy_in(%s, %s)", a, b, R, a, b);
    slip[1] = saltusi_machine_text(m, "y_in'(%s, %s) + %.17g*wx_in(%s, %s)", a, b, R, a, b);
    return;
  }
  const char* s = saltusi_machine_text(m, "hypot(zx_in(%s, %s), zy_in(%s, %s))", a, b, a, b);
  slip[0] = saltusi_machine_text(
      m,
      "x_in'(%s, %s) - %.17g/%s*(wy_in(%s, %s) - zz_in(%s, %s)*(wy_in(%s, %s)*zz_in(%s, %s) - "
      "wz_in(%s, %s)*zy_in(%s, %s)))",
      a, b, R, s, a, b, a, b, a, b, a, b, a, b, a, b);
  slip[1] = saltusi_machine_text(
      m,
      "y_in'(%s, %s) + %.17g/%s*(wx_in(%s, %s) + zz_in(%s, %s)*(wz_in(%s, %s)*zx_in(%s, %s) - "
      "wx_in(%s, %s)*zz_in(%s, %s)))",
      a, b, R, s, a, b, a, b, a, b, a, b, a, b, a, b);
}

/* Height of the lowest point above the plane. */
static const char* height_above(saltusi_machine_maker* m, bool wheel) {
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  return wheel ? saltusi_machine_text(m, "z_in(%s, %s) - %.17g*hypot(zx_in(%s, %s), zy_in(%s, %s))",
                                      a, b, e->radius, a, b, a, b)
               : saltusi_machine_text(m, "z_in(%s, %s) - %.17g", a, b, e->radius);
}

/* A ball, or the rim of a wheel, on z = 0. */
static void touch_in_space(saltusi_machine_maker* m, bool wheel) {
  const bool smooth = m->element->radius > 0.0 && !saltusi_machine_rubs(m);
  const char* slip[2] = {NULL, NULL};
  if (!smooth) {
    touching_slips(m, wheel, slip);
  }
  saltusi_machine_contact(m, NULL, height_above(m, wheel), slip[0]);
  m->contacts[m->def->contact_count - 1].slip2.text = slip[1];
}

static void stop(saltusi_machine_maker* m) {
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  if (is_plane(m)) {
    const char* gap = saltusi_machine_text(m, "y_in(%s, %s) - %.17g", a, b, e->radius);
    const char* slip =
        saltusi_machine_text(m, "x_in(%s, %s) + %.17g*angle(%s, %s)", a, b, e->radius, a, b);
    saltusi_machine_contact(m, NULL, gap, slip);
    return;
  }
  touch_in_space(m, false);
}

static void rope(saltusi_machine_maker* m) {
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  const double L = e->length;
  saltusi_machine_positive(m, "length", L);
  if (saltusi_machine_rubs(m)) {
    saltusi_machine_fail(m, "a rope has no friction");
  }
  const char* z = is_plane(m) ? "" : saltusi_machine_text(m, " - (%s.z - %s.z)^2", b, a);
  const char* gap = saltusi_machine_text(m, "(%.17g - (%s.x - %s.x)^2 - (%s.y - %s.y)^2%s)/%.17g",
                                         L * L, b, a, b, a, z, 2.0 * L);
  saltusi_machine_contact(m, NULL, gap, NULL);
}

static void wheel(saltusi_machine_maker* m) {
  saltusi_machine_positive(m, "radius", m->element->radius);
  if (is_plane(m)) {
    stop(m);
  } else {
    touch_in_space(m, true);
  }
}

/* X and theta of a marker in the axes of another, at the start. */
static void start_of(const saltusi_machine_maker* m, const char* const between[2], double* x,
                     double* theta) {
  const saltus_mechanism* mechanism = m->def->mechanism;
  double p[2][3], axes[2][9], angle[2];
  for (int k = 0; k < 2; k++) {
    const int i = saltus_mechanism_find_marker(mechanism, between[k]);
    const saltusi_marker* marker = &mechanism->markers[i];
    saltusi_pose pose;
    saltusi_pose_at(mechanism, marker->body, mechanism->t0, mechanism->q0, &pose);
    saltus_mechanism_frame(mechanism, i, mechanism->t0, mechanism->q0, p[k], axes[k]);
    angle[k] = pose.angle + marker->angle;
  }
  *x = (p[1][0] - p[0][0]) * axes[0][0] + (p[1][1] - p[0][1]) * axes[0][3];
  *theta = angle[1] - angle[0];
}

/* A ball or a wheel that rolls without slip in space: a joint and two nonholonomic rows. */
static void roll_in_space(saltusi_machine_maker* m, bool wheel) {
  const char* slip[2];
  touching_slips(m, wheel, slip);
  add_joint(m, "normal", height_above(m, wheel));
  for (int k = 0; k < 2; k++) {
    add_joint(m, k == 0 ? "roll" : "roll2", slip[k]);
    m->joints[m->def->joint_count - 1].rate = true;
  }
}

static void rolling(saltusi_machine_maker* m) {
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  saltusi_machine_positive(m, "radius", e->radius);
  if (m->status != SALTUS_OK) {
    return;
  }
  if (!is_plane(m)) {
    roll_in_space(m, e->type == SALTUS_ELEMENT_ROLLING_WHEEL);
    return;
  }
  double x, theta;
  start_of(m, e->between, &x, &theta);
  add_joint(m, "normal", saltusi_machine_text(m, "y_in(%s, %s) - %.17g", a, b, e->radius));
  add_joint(m, "roll",
            saltusi_machine_text(m, "x_in(%s, %s) + %.17g*angle(%s, %s) - (%.17g)", a, b, e->radius,
                                 a, b, x + e->radius * theta));
}

static void spring_contact(saltusi_machine_maker* m) {
  const saltus_element_def* e = m->element;
  if (!(e->stiffness >= 0.0) || !(e->preload >= 0.0)) {
    saltusi_machine_fail(m, "stiffness and preload are %g and %g, must not be negative",
                         e->stiffness, e->preload);
  }
  stop(m);
  const char* gap = m->contacts[m->def->contact_count - 1].gap.text;
  const char* before = m->def->potential.text;
  m->def->potential.text =
      saltusi_machine_text(m, "%s%s%.17g*(%s) + %.17g*(%s)^2", before != NULL ? before : "",
                           before != NULL ? " + " : "", e->preload, gap, 0.5 * e->stiffness, gap);
}

static void latch(saltusi_machine_maker* m) {
  if (m->element->held == NULL) {
    saltusi_machine_fail(m, "a latch needs the input that holds it");
  }
  stop(m);
}

static void (*const makers[TYPES])(saltusi_machine_maker*) = {journal,
                                                              guide,
                                                              stop,
                                                              rope,
                                                              wheel,
                                                              rolling,
                                                              saltusi_machine_gear_pair,
                                                              saltusi_machine_cam,
                                                              spring_contact,
                                                              latch,
                                                              saltusi_machine_ratchet,
                                                              rolling};

/* ---- all of them ---- */

/* Checks the numbers of every element, and that its names exist. */
static void check(saltusi_machine_maker* m) {
  const saltus_element_def* e = m->element;
  const saltus_mechanism* mechanism = m->def->mechanism;
  const bool joints = e->type == SALTUS_ELEMENT_GEAR_PAIR;
  if (SALTUSI_RESERVED_CHECK(e, "saltus_element_def", m->def->log) != SALTUS_OK) {
    m->status = SALTUS_ERR_RANGE;
    return;
  }
  if ((unsigned)e->type >= TYPES) {
    saltusi_machine_fail(m, "there is no type %d", (int)e->type);
    return;
  }
  for (int k = 0; k < 2 && m->status == SALTUS_OK; k++) {
    const char* name = e->between[k] != NULL ? e->between[k] : "";
    const int found = joints ? saltus_mechanism_find_joint(mechanism, name)
                             : saltus_mechanism_find_marker(mechanism, name);
    if (found < 0) {
      saltusi_machine_fail(m, "between: there is no %s \"%.80s\"", joints ? "joint" : "marker",
                           name);
    }
  }
  bool input = e->held == NULL;
  for (int i = 0; i < m->def->input_count; i++) {
    input = input || strcmp(m->def->input_names[i], e->held) == 0;
  }
  if (!input) {
    saltusi_machine_fail(m, "while: there is no input \"%.80s\"", e->held);
  } else if (!(e->radius >= 0.0) || !isfinite(e->radius)) {
    saltusi_machine_fail(m, "radius is %g, must not be negative", e->radius);
  } else if (!(e->friction >= 0.0)) {
    saltusi_machine_fail(m, "friction is %g, must not be negative", e->friction);
  } else if (e->law != NULL && (e->law->drilling > 0.0 || e->law->patch != SALTUS_PATCH_NONE ||
                                (e->law->rolling > 0.0 && !is_plane(m)))) {
    saltusi_machine_fail(m, "elements have no friction of %s; give contacts or shapes",
                         e->law->rolling > 0.0 ? "rolling in space" : "spin");
  } else if (!(e->restitution >= 0.0 && e->restitution <= 1.0)) {
    saltusi_machine_fail(m, "restitution is %g, must be between 0 and 1", e->restitution);
  } else if (!(fabs(e->tangential_restitution) <= 1.0)) {
    saltusi_machine_fail(m, "tangential_restitution is %g, must be between -1 and 1",
                         e->tangential_restitution);
  }
}

/* Unique names of contacts and joints, for messages. */
static void label(saltusi_machine_maker* m, int contacts, int joints) {
  for (int i = contacts; i < m->def->contact_count; i++) {
    m->contacts[i].gap.what = saltusi_machine_text(m, "element \"%s\"", m->element->name);
  }
  for (int i = joints; i < m->def->joint_count; i++) {
    m->joints[i].constraint.what = saltusi_machine_text(m, "element \"%s\"", m->element->name);
  }
}

saltus_status saltusi_elements_expand(const saltus_formula_def* def, saltusi_pool* pool,
                                      saltus_formula_def* out) {
  assert(def != NULL && pool != NULL && out != NULL);
  *out = *def;
  const int count = def->elements != NULL ? def->elements->count : 0;
  if (count == 0) {
    return SALTUS_OK;
  }
  if (def->mechanism == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "machine elements are between markers: they need a "
                "mechanism");
    return SALTUS_ERR_INPUT;
  }
  saltusi_machine_maker m = {.pool = pool, .def = out};
  int contacts_most = def->contact_count;
  for (int i = 0; i < count; i++) {
    const bool ratchet = def->elements->items[i].type == SALTUS_ELEMENT_RATCHET;
    contacts_most += ratchet ? SALTUSI_TEETH_MOST : CONTACTS_MOST;
  }
  m.contacts = SALTUSI_TAKE(pool, saltus_formula_contact, contacts_most);
  m.joints = SALTUSI_TAKE(pool, saltus_formula_joint, def->joint_count + JOINTS_MOST * count);
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < def->contact_count; i++) {
    m.contacts[i] = def->contacts[i];
  }
  for (int i = 0; i < def->joint_count; i++) {
    m.joints[i] = def->joints[i];
  }
  for (int i = 0; i < count && m.status == SALTUS_OK; i++) {
    const int contacts = out->contact_count, joints = out->joint_count;
    m.element = &def->elements->items[i];
    check(&m);
    if (m.status == SALTUS_OK) {
      makers[m.element->type](&m);
      label(&m, contacts, joints);
    }
  }
  out->contacts = m.contacts;
  out->joints = m.joints;
  return m.status == SALTUS_OK && pool->failed ? SALTUS_ERR_MEMORY : m.status;
}
