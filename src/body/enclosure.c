/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * enclosure.c - limits, joints and forces of a mechanism over a trajectory segment: the formulas of terms.c and
 * forces.c in interval Taylor arithmetic.
 */
#include "body/enclosure.h"

#include "body/taylor.h"

#include <assert.h>
#include <float.h>

static void between(const saltusi_motion_segment* p, const saltusi_end_segment end[2],
                    saltusi_taylor3* d) {
  *d = end[1].p;
  saltusi_taylor3_subtract(p, d, &end[0].p);
}

/* ---- terms: value, rate, gradient ---- */

/* Whether the term depends on the vector between the origins. */
static bool is_way(const saltusi_term* term) {
  return term->kind == SALTUSI_TERM_ALONG || term->kind == SALTUSI_TERM_WORLD ||
         term->kind == SALTUSI_TERM_DISTANCE;
}

static void term_value(const saltusi_motion_segment* p, const saltusi_term* term,
                       const saltusi_end_segment end[2], saltusi_taylor* to) {
  const saltusi_end_segment *a = &end[0], *b = &end[1];
  saltusi_taylor3 d;
  saltusi_taylor c, s;
  if (is_way(term)) {
    between(p, end, &d);
  }
  switch (term->kind) {
  case SALTUSI_TERM_ALONG:
    saltusi_taylor3_dot(p, &d, &a->axis[term->i], to);
    break;
  case SALTUSI_TERM_WORLD:
    *to = d.k[term->i];
    break;
  case SALTUSI_TERM_DOT:
    saltusi_taylor3_dot(p, &a->axis[term->i], &b->axis[term->j], to);
    break;
  case SALTUSI_TERM_DISTANCE:
    saltusi_taylor3_dot(p, &d, &d, &c);
    saltusi_taylor_apply(p, to, SALTUSI_SQRT, &c);
    break;
  case SALTUSI_TERM_ANGLE:
    if (term->q >= 0) {
      saltusi_segment_coordinate(p, term->q, to);
      break;
    }
    saltusi_taylor3_dot(p, &a->axis[0], &b->axis[0], &c);
    saltusi_taylor3_dot(p, &a->axis[1], &b->axis[0], &s);
    saltusi_jet_atan2(saltusi_taylor_into(p, to), saltusi_taylor_read_only(&s),
                      saltusi_taylor_read_only(&c));
    break;
  case SALTUSI_TERM_PLANE:
    *to = b->body.angle;
    saltusi_taylor_subtract(p, to, &a->body.angle);
    saltusi_taylor_set(p, &c, b->marker->angle - a->marker->angle);
    saltusi_taylor_add(p, to, &c);
    break;
  }
}

/* x . y' + x' . y */
static void dot_rate(const saltusi_motion_segment* p, const saltusi_taylor3* x,
                     const saltusi_taylor3* dx, const saltusi_taylor3* y, const saltusi_taylor3* dy,
                     saltusi_taylor* to) {
  saltusi_taylor other;
  saltusi_taylor3_dot(p, dx, y, to);
  saltusi_taylor3_dot(p, x, dy, &other);
  saltusi_taylor_add(p, to, &other);
}

static void term_rate(const saltusi_motion_segment* p, const saltusi_term* term,
                      const saltusi_end_segment end[2], saltusi_taylor* to) {
  const saltusi_end_segment *a = &end[0], *b = &end[1];
  saltusi_taylor3 d, dd;
  saltusi_taylor c, s, dc, ds, square;
  if (is_way(term)) {
    between(p, end, &d);
    dd = b->dp;
    saltusi_taylor3_subtract(p, &dd, &a->dp);
  }
  switch (term->kind) {
  case SALTUSI_TERM_ALONG:
    dot_rate(p, &d, &dd, &a->axis[term->i], &a->daxis[term->i], to);
    break;
  case SALTUSI_TERM_WORLD:
    *to = dd.k[term->i];
    break;
  case SALTUSI_TERM_DOT:
    dot_rate(p, &a->axis[term->i], &a->daxis[term->i], &b->axis[term->j], &b->daxis[term->j], to);
    break;
  case SALTUSI_TERM_DISTANCE:
    saltusi_taylor3_dot(p, &d, &d, &c);
    saltusi_taylor_apply(p, &s, SALTUSI_SQRT, &c);
    saltusi_taylor3_dot(p, &d, &dd, to);
    saltusi_taylor_divide(p, to, &s);
    break;
  case SALTUSI_TERM_ANGLE:
    saltusi_taylor3_dot(p, &a->axis[0], &b->axis[0], &c);
    saltusi_taylor3_dot(p, &a->axis[1], &b->axis[0], &s);
    dot_rate(p, &a->axis[0], &a->daxis[0], &b->axis[0], &b->daxis[0], &dc);
    dot_rate(p, &a->axis[1], &a->daxis[1], &b->axis[0], &b->daxis[0], &ds);
    saltusi_taylor_set(p, to, 0.0);
    saltusi_taylor_set(p, &square, 0.0);
    saltusi_taylor_add_product(p, to, &c, &ds, 1);
    saltusi_taylor_add_product(p, to, &s, &dc, -1);
    saltusi_taylor_add_product(p, &square, &c, &c, 1);
    saltusi_taylor_add_product(p, &square, &s, &s, 1);
    saltusi_taylor_divide(p, to, &square);
    break;
  case SALTUSI_TERM_PLANE:
    *to = b->body.w.k[2];
    saltusi_taylor_subtract(p, to, &a->body.w.k[2]);
    break;
  }
}

/* Torque about the centre of mass in body axes of a force n on the origin. */
static void push(const saltusi_motion_segment* p, const saltusi_end_segment* end,
                 const saltusi_taylor3* n, saltusi_taylor3* moment) {
  saltusi_taylor3 inside, r;
  saltusi_taylor3_turn_back(p, &end->body.R, n, &inside);
  saltusi_taylor3_set(p, &r, end->marker->r);
  saltusi_taylor3_cross(p, &r, &inside, moment);
}

/* s x R^T n for a vector s fixed in the body. */
static void twist(const saltusi_motion_segment* p, const saltusi_end_segment* end,
                  const saltusi_taylor3* s, const saltusi_taylor3* n, saltusi_taylor3* moment) {
  saltusi_taylor3 inside;
  saltusi_taylor3_turn_back(p, &end->body.R, n, &inside);
  saltusi_taylor3_cross(p, s, &inside, moment);
}

/* The gradient of a distance or world-axis term is a force u on the second end and -u on the first. */
static void direction(const saltusi_motion_segment* p, const saltusi_term* term,
                      const saltusi_end_segment end[2], saltusi_taylor3* u) {
  saltusi_taylor square, length;
  if (term->kind == SALTUSI_TERM_WORLD) {
    saltusi_taylor3_set(p, u, (double[3]){term->i == 0, term->i == 1, term->i == 2});
    return;
  }
  between(p, end, u);
  saltusi_taylor3_dot(p, u, u, &square);
  saltusi_taylor_apply(p, &length, SALTUSI_SQRT, &square);
  for (int k = 0; k < 3; k++) {
    saltusi_taylor_divide(p, &u->k[k], &length);
  }
}

static void angle_gradient(const saltusi_motion_segment* p, const saltusi_end_segment end[2],
                           int which, saltusi_taylor3* moment) {
  const saltusi_end_segment *a = &end[0], *b = &end[1];
  saltusi_taylor c, s, square;
  saltusi_taylor3 n, x, y;
  saltusi_taylor3_dot(p, &a->axis[0], &b->axis[0], &c);
  saltusi_taylor3_dot(p, &a->axis[1], &b->axis[0], &s);
  saltusi_taylor_set(p, &square, 0.0);
  saltusi_taylor_add_product(p, &square, &c, &c, 1);
  saltusi_taylor_add_product(p, &square, &s, &s, 1);
  x = a->axis[0];
  y = a->axis[1];
  if (which == 0) { /* in the axes of the body */
    saltusi_taylor3_set(p, &x, a->marker->axis[0]);
    saltusi_taylor3_set(p, &y, a->marker->axis[1]);
  }
  for (int k = 0; k < 3; k++) {
    saltusi_taylor_set(p, &n.k[k], 0.0);
    saltusi_taylor_add_product(p, &n.k[k], &c, &y.k[k], 1);
    saltusi_taylor_add_product(p, &n.k[k], &s, &x.k[k], -1);
    saltusi_taylor_divide(p, &n.k[k], &square);
  }
  if (which == 0) {
    twist(p, a, &n, &b->axis[0], moment);
  } else {
    saltusi_taylor3_set(p, &x, b->marker->axis[0]);
    twist(p, b, &x, &n, moment);
  }
}

/* Force in world axes and torque in body axes on the body of one end. */
static void term_gradient(const saltusi_motion_segment* p, const saltusi_term* term,
                          const saltusi_end_segment end[2], int which, saltusi_taylor3* force,
                          saltusi_taylor3* moment) {
  const saltusi_end_segment *a = &end[0], *b = &end[1];
  saltusi_taylor3 s, y, d;
  saltusi_taylor3_set(p, force, (double[3]){0.0, 0.0, 0.0});
  saltusi_taylor3_set(p, moment, (double[3]){0.0, 0.0, 0.0});
  switch (term->kind) {
  case SALTUSI_TERM_ALONG:
    *force = a->axis[term->i];
    if (which == 1) {
      push(p, b, force, moment);
      break;
    }
    d = b->p;
    saltusi_taylor3_subtract(p, &d, &a->body.x);
    saltusi_taylor3_turn_back(p, &a->body.R, &d, &y);
    saltusi_taylor3_set(p, &s, a->marker->axis[term->i]);
    saltusi_taylor3_cross(p, &s, &y, moment);
    for (int k = 0; k < 3; k++) {
      saltusi_taylor_scale(p, &force->k[k], -1.0);
    }
    break;
  case SALTUSI_TERM_DOT:
    saltusi_taylor3_set(p, &s, which == 0 ? a->marker->axis[term->i] : b->marker->axis[term->j]);
    twist(p, &end[which], &s, which == 0 ? &b->axis[term->j] : &a->axis[term->i], moment);
    break;
  case SALTUSI_TERM_WORLD:
  case SALTUSI_TERM_DISTANCE:
    direction(p, term, end, force);
    for (int k = 0; which == 0 && k < 3; k++) {
      saltusi_taylor_scale(p, &force->k[k], -1.0);
    }
    push(p, &end[which], force, moment);
    break;
  case SALTUSI_TERM_ANGLE:
    angle_gradient(p, end, which, moment);
    break;
  case SALTUSI_TERM_PLANE:
    saltusi_taylor_set(p, &moment->k[2], which == 0 ? -1.0 : 1.0);
    break;
  }
}

/* ---- rows ---- */

/* Without its target. */
static void row_value(const saltusi_motion_segment* p, const saltusi_joint_row* row,
                      const saltusi_end_segment end[4], saltusi_taylor* to) {
  saltusi_taylor_set(p, to, -row->offset);
  for (int i = 0; i < row->terms; i++) {
    saltusi_taylor part;
    term_value(p, &row->term[i], end + 2 * row->term[i].link, &part);
    saltusi_taylor_add_scaled(p, to, &part, row->term[i].weight);
  }
}

static void row_rate(const saltusi_motion_segment* p, const saltusi_joint_row* row,
                     const saltusi_end_segment end[4], saltusi_taylor* to) {
  saltusi_taylor_set(p, to, 0.0);
  for (int i = 0; i < row->terms; i++) {
    saltusi_taylor part;
    term_rate(p, &row->term[i], end + 2 * row->term[i].link, &part);
    saltusi_taylor_add_scaled(p, to, &part, row->term[i].weight);
  }
}

/* ---- angles relative to driven bodies, on the branch of their joint row ---- */

static double middle(const saltusi_taylor* x) {
  return 0.5 * (x->c[0].lo + x->c[0].hi);
}

/* The angle term of a row that is defined only between -pi and pi; NULL: none. */
static const saltusi_term* branch_term(const saltusi_joint_row* row) {
  const saltusi_term* last = &row->term[row->terms - 1];
  return last->kind == SALTUSI_TERM_ANGLE && last->q < 0 ? last : NULL;
}

/* Relative to the midpoint of the segment it is small: far from the branch cut at pi. */
static void add_branch_angle(const saltusi_motion_segment* p, const saltusi_end_segment end[2],
                             double weight, saltusi_taylor* to) {
  saltusi_taylor c, s, along, across, angle, from;
  saltusi_taylor3_dot(p, &end[0].axis[0], &end[1].axis[0], &c);
  saltusi_taylor3_dot(p, &end[0].axis[1], &end[1].axis[0], &s);
  const double start = atan2(middle(&s), middle(&c));
  saltusi_taylor_set(p, &along, 0.0);
  saltusi_taylor_set(p, &across, 0.0);
  saltusi_taylor_add_scaled(p, &along, &c, cos(start));
  saltusi_taylor_add_scaled(p, &along, &s, sin(start));
  saltusi_taylor_add_scaled(p, &across, &s, cos(start));
  saltusi_taylor_add_scaled(p, &across, &c, -sin(start));
  saltusi_jet_atan2(saltusi_taylor_into(p, &angle), saltusi_taylor_read_only(&across),
                    saltusi_taylor_read_only(&along));
  saltusi_taylor_set(p, &from, 0.0);
  from.c[0] = (saltus_interval){start - 4.0 * DBL_EPSILON, start + 4.0 * DBL_EPSILON};
  saltusi_taylor_add(p, &angle, &from);
  saltusi_taylor_add_scaled(p, to, &angle, weight);
}

/* As saltusi_row_value: nearest to zero. */
static void onto_branch(const saltusi_motion_segment* p, const saltusi_term* angle,
                        saltusi_taylor* to) {
  const double full = 6.283185307179586476925 * fabs(angle->weight);
  const double turns = nearbyint(middle(to) / full);
  if (isfinite(turns) && turns != 0.0) {
    const double by = full * turns, slack = 4.0 * DBL_EPSILON * fabs(by);
    saltusi_taylor shift;
    saltusi_taylor_set(p, &shift, 0.0);
    shift.c[0] = (saltus_interval){by - slack, by + slack};
    saltusi_taylor_subtract(p, to, &shift);
  }
}

static void joint_value(const saltusi_motion_segment* p, const saltusi_joint_row* row,
                        const saltusi_end_segment end[4], saltusi_taylor* to) {
  const saltusi_term* angle = branch_term(row);
  if (angle == NULL) {
    row_value(p, row, end, to);
    return;
  }
  saltusi_joint_row others = *row;
  others.terms--;
  row_value(p, &others, end, to);
  add_branch_angle(p, end + 2 * angle->link, angle->weight, to);
}

/* A joint row with its target; integrals of speeds are available for constant ones. */
static void joint_row(const saltusi_motion_segment* p, int index, saltusi_taylor* to) {
  const saltus_mechanism* m = p->m;
  const saltusi_joint_row* row = &m->rows[index];
  saltusi_end_segment end[4];
  saltusi_segment_ends(p, &m->joints[m->joint_of[index]].link, row, false, end);
  joint_value(p, row, end, to);
  saltusi_taylor target;
  if (!row->has_target) {
    saltusi_taylor_set(p, &target, 0.0);
  } else if (row->by_speed) {
    saltusi_taylor from;
    saltusi_taylor_set_given(p, &target, p->course->t);
    saltusi_taylor_set(p, &from, m->t0);
    saltusi_taylor_subtract(p, &target, &from);
    saltusi_taylor_scale(p, &target, row->target.given.value);
  } else {
    saltusi_segment_signal(p, &row->target, &target);
  }
  saltusi_taylor_subtract(p, to, &target);
  if (branch_term(row) != NULL) {
    onto_branch(p, branch_term(row), to);
  }
}

static void limit_value(const saltusi_motion_segment* p, int index, bool moves,
                        saltusi_taylor* to) {
  const saltusi_limit* limit = &p->m->limits[index];
  const saltusi_link* link = &p->m->joints[limit->joint].link;
  if (!moves && limit->row->term[0].kind == SALTUSI_TERM_ANGLE && limit->row->term[0].q >= 0) {
    saltusi_segment_coordinate(p, limit->row->term[0].q, to);
  } else {
    saltusi_end_segment end[4];
    saltusi_segment_ends(p, link, limit->row, moves, end);
    if (moves) {
      row_rate(p, limit->row, end, to);
    } else {
      row_value(p, limit->row, end, to);
    }
  }
  if (!moves) {
    saltusi_taylor at;
    saltusi_taylor_set(p, &at, limit->at);
    saltusi_taylor_subtract(p, to, &at);
  }
  saltusi_taylor_scale(p, to, limit->sign);
}

/* ---- forces ---- */

/* The torque -w x I w about one axis. */
static void gyroscopic(const saltusi_motion_segment* p, const saltusi_body* body, int axis,
                       saltusi_taylor* to) {
  saltusi_taylor3 w, spin;
  for (int k = 0; k < 3; k++) {
    saltusi_segment_velocity(p, body->v + 3 + k, &w.k[k]);
  }
  for (int k = 0; k < 3; k++) {
    saltusi_taylor_set(p, &spin.k[k], 0.0);
    for (int j = 0; j < 3; j++) {
      saltusi_taylor_add_scaled(p, &spin.k[k], &w.k[j], body->I[3 * k + j]);
    }
  }
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  saltusi_taylor_add_product(p, to, &spin.k[i], &w.k[j], 1);
  saltusi_taylor_add_product(p, to, &spin.k[j], &w.k[i], -1);
}

/* The part of a force along a row on velocity k (0..5) of the body at one end. */
static void add_force_along(const saltusi_motion_segment* p, const saltusi_force_along* f,
                            int which, int k, saltusi_taylor* to) {
  saltusi_end_segment end[4];
  saltusi_taylor stretch, rate, force, part;
  saltusi_segment_ends(p, f->link, f->row, true, end);
  row_value(p, f->row, end, &stretch);
  row_rate(p, f->row, end, &rate);
  saltusi_taylor_set(p, &part, f->rest);
  saltusi_taylor_subtract(p, &stretch, &part);
  saltusi_taylor_set(p, &force, 0.0);
  if (f->actuated) {
    saltusi_segment_signal(p, &f->actuator, &force);
  }
  saltusi_taylor_add_scaled(p, &force, &stretch, -f->stiffness);
  saltusi_taylor_add_scaled(p, &force, &rate, -f->damping);
  for (int i = 0; i < f->row->terms; i++) {
    saltusi_taylor3 push_on, moment;
    term_gradient(p, &f->row->term[i], end, which, &push_on, &moment);
    part = k < 3 ? push_on.k[k] : moment.k[k - 3];
    saltusi_taylor_scale(p, &part, f->row->term[i].weight);
    saltusi_taylor_add_product(p, to, &part, &force, 1);
  }
}

/* The part of a load on velocity k (0..5) of its body. */
static void add_load(const saltusi_motion_segment* p, const saltusi_load* load, int k,
                     saltusi_taylor* to) {
  const saltusi_marker* marker = &p->m->markers[load->marker];
  saltusi_taylor3 f, about, inside, moment, r;
  saltusi_body_segment body;
  saltusi_segment_pose(p, marker->body, &body);
  for (int i = 0; i < 3; i++) {
    saltusi_segment_signal(p, &load->force[i], &f.k[i]);
    saltusi_segment_signal(p, &load->torque[i], &about.k[i]);
  }
  if (load->turns) {
    const saltusi_taylor3 force = f, torque = about;
    for (int i = 0; i < 3; i++) {
      saltusi_taylor_set(p, &inside.k[i], 0.0);
      saltusi_taylor_set(p, &about.k[i], 0.0);
      for (int j = 0; j < 3; j++) {
        saltusi_taylor_add_scaled(p, &inside.k[i], &force.k[j], marker->axis[j][i]);
        saltusi_taylor_add_scaled(p, &about.k[i], &torque.k[j], marker->axis[j][i]);
      }
    }
    saltusi_taylor3_turn(p, &body.R, &inside, &f);
  } else {
    const saltusi_taylor3 torque = about;
    saltusi_taylor3_turn_back(p, &body.R, &f, &inside);
    saltusi_taylor3_turn_back(p, &body.R, &torque, &about);
  }
  if (k < 3) {
    saltusi_taylor_add(p, to, &f.k[k]);
    return;
  }
  saltusi_taylor3_set(p, &r, marker->r);
  saltusi_taylor3_cross(p, &r, &inside, &moment);
  saltusi_taylor_add(p, to, &moment.k[k - 3]);
  saltusi_taylor_add(p, to, &about.k[k - 3]);
}

static void force_component(const saltusi_motion_segment* p, int index, saltusi_taylor* to) {
  const saltus_mechanism* m = p->m;
  const int size = m->plane ? 3 : 6;
  const int body = m->free_bodies[index / size];
  const saltusi_body* b = &m->bodies[body];
  const int k = m->plane && index % size == 2 ? 5 : index % size;
  saltusi_taylor_set(p, to, k < 3 ? b->mass * m->gravity[k] : 0.0);
  if (k >= 3 && !b->round) {
    gyroscopic(p, b, k - 3, to);
  }
  for (int i = m->pull_start[index / size]; i < m->pull_start[index / size + 1]; i++) {
    const saltusi_force_along* f = &m->forces[m->pulls[i]];
    const int which = m->markers[f->link->marker[0][0]].body == body ? 0 : 1;
    add_force_along(p, f, which, k, to);
  }
  for (int i = m->load_first[index / size]; i >= 0; i = m->load_next[i]) {
    add_load(p, &m->loads[i], k, to);
  }
}

/* ---- callbacks ---- */

static size_t bytes(const void* self) {
  (void)self;
  return SALTUS_ALIGNMENT;
}

static void along(const void* self, const saltus_course* course, saltus_quantity what, int index,
                  saltus_interval* out) {
  assert(self != NULL && course != NULL && out != NULL);
  const saltusi_motion_segment p = saltusi_segment_over(self, course);
  saltusi_taylor value;
  saltusi_taylor_set(&p, &value, 0.0);
  switch (what) {
  case SALTUS_QUANTITY_GAP:
    limit_value(&p, index, false, &value);
    break;
  case SALTUS_QUANTITY_VELOCITY:
    limit_value(&p, index, true, &value);
    break;
  case SALTUS_QUANTITY_FORCE:
    force_component(&p, index, &value);
    break;
  case SALTUS_QUANTITY_JOINT:
    joint_row(&p, index, &value);
    break;
  case SALTUS_QUANTITY_SWITCH:
    break;
  }
  saltusi_jet_write(saltusi_taylor_read_only(&value), p.order, out);
}

/* Driven bodies at the ends. */
static bool on_driven(const saltus_mechanism* m, const saltusi_link* link) {
  for (int k = 0; k < 2 * link->links; k++) {
    if (m->bodies[m->markers[link->marker[k / 2][k % 2]].body].kind == SALTUS_BODY_DRIVEN) {
      return true;
    }
  }
  return false;
}

static unsigned row_depends(const saltus_mechanism* m, const saltusi_link* link,
                            const saltusi_joint_row* row) {
  unsigned depends = SALTUS_ON_Q;
  bool affine = true, moves = on_driven(m, link);
  /* products of axes and vectors are polynomials of degree 4 in unit quaternions */
  bool polynomial = !m->plane;
  for (int i = 0; i < row->terms; i++) {
    const saltusi_term* term = &row->term[i];
    affine = affine && (term->kind == SALTUSI_TERM_PLANE ||
                        (term->kind == SALTUSI_TERM_ANGLE && term->q >= 0));
    polynomial = polynomial && term->kind != SALTUSI_TERM_DISTANCE &&
                 (term->kind != SALTUSI_TERM_ANGLE || term->q >= 0);
  }
  const bool given = row->has_target && row->target.given.evaluate != NULL;
  moves = moves || row->has_target;
  polynomial = (polynomial || affine) && !on_driven(m, link) && !given;
  affine = affine && !on_driven(m, link) && !given;
  depends |= moves ? SALTUS_ON_T : 0U;
  depends |= affine ? 0U : SALTUS_NOT_AFFINE;
  depends |= polynomial ? 0U : SALTUS_NOT_POLYNOMIAL;
  return depends;
}

/* If a joint keeps the z axes parallel, the gradient of the angle is constant in body axes. Polynomials of quaternions
 * have no Taylor remainder; 1 / |d| and signals have one. */
static unsigned force_along_depends(const saltus_mechanism* m, const saltusi_force_along* f) {
  const saltusi_term* term = &f->row->term[0];
  unsigned depends = row_depends(m, f->link, f->row) | SALTUS_ON_V;
  depends |= f->actuated ? SALTUS_ON_T : 0U;
  depends |= term->kind != SALTUSI_TERM_PLANE ? SALTUS_NOT_AFFINE : 0U;
  const bool bent = term->kind == SALTUSI_TERM_ANGLE && term->q >= 0 &&
                    !m->angles[term->q - 7 * m->free_count].parallel;
  if (bent || f->actuator.given.evaluate != NULL) {
    depends |= SALTUS_NOT_AFFINE | SALTUS_NOT_POLYNOMIAL;
  }
  return depends;
}

/* In space a polynomial of quaternions if its signals are constant. */
static unsigned load_depends(const saltus_mechanism* m, const saltusi_load* load) {
  bool given = m->plane;
  for (int k = 0; k < 3; k++) {
    given =
        given || load->force[k].given.evaluate != NULL || load->torque[k].given.evaluate != NULL;
  }
  return SALTUS_ON_T | SALTUS_ON_Q | SALTUS_NOT_AFFINE | (given ? SALTUS_NOT_POLYNOMIAL : 0U);
}

static unsigned force_depends(const saltus_mechanism* m, int index) {
  const int block = index / (m->plane ? 3 : 6);
  unsigned depends = 0;
  if (!m->bodies[m->free_bodies[block]].round && index % 6 >= 3) {
    depends |= SALTUS_ON_V | SALTUS_NOT_AFFINE;
  }
  for (int i = m->pull_start[block]; i < m->pull_start[block + 1]; i++) {
    depends |= force_along_depends(m, &m->forces[m->pulls[i]]);
  }
  for (int i = m->load_first[block]; i >= 0; i = m->load_next[i]) {
    depends |= load_depends(m, &m->loads[i]);
  }
  return depends;
}

static unsigned depends(const void* self, saltus_quantity what, int index) {
  const saltus_mechanism* m = self;
  assert(m != NULL);
  if (what == SALTUS_QUANTITY_FORCE) {
    return force_depends(m, index);
  }
  if (what == SALTUS_QUANTITY_JOINT) {
    return row_depends(m, &m->joints[m->joint_of[index]].link, &m->rows[index]);
  }
  const saltusi_limit* limit = &m->limits[index];
  const saltusi_link* link = &m->joints[limit->joint].link;
  unsigned on = row_depends(m, link, limit->row);
  if (what == SALTUS_QUANTITY_VELOCITY) {
    /* in the plane, with angles only, it is affine in v */
    on = limit->row->term[0].kind == SALTUSI_TERM_PLANE && !on_driven(m, link)
             ? SALTUS_ON_V
             : on | SALTUS_ON_V | SALTUS_NOT_AFFINE | SALTUS_NOT_POLYNOMIAL;
  }
  return on;
}

/* A list of indices of limited capacity. */
typedef struct enclosure_listing {
  int room, count;
  int* place;
} enclosure_listing;

static void list(enclosure_listing* l, int place) {
  for (int i = 0; i < l->count && i < l->room; i++) {
    if (l->place[i] == place) {
      return;
    }
  }
  if (l->count < l->room) {
    l->place[l->count] = place;
  }
  l->count++;
}

static void list_pose(const saltus_mechanism* m, int body, enclosure_listing* l) {
  for (int i = 0; m->bodies[body].q >= 0 && i < (m->plane ? 3 : 7); i++) {
    list(l, m->bodies[body].q + i);
  }
}

static void list_link(const saltus_mechanism* m, const saltusi_link* link,
                      const saltusi_joint_row* row, bool moves, enclosure_listing* l) {
  for (int k = 0; k < 2 * link->links; k++) {
    const saltusi_body* body = &m->bodies[m->markers[link->marker[k / 2][k % 2]].body];
    list_pose(m, m->markers[link->marker[k / 2][k % 2]].body, l);
    for (int i = 0; moves && body->v >= 0 && i < (m->plane ? 3 : 6); i++) {
      list(l, m->system.dims.nq + body->v + i);
    }
  }
  for (int i = 0; i < row->terms; i++) {
    if (row->term[i].kind == SALTUSI_TERM_ANGLE && row->term[i].q >= 0) {
      list(l, row->term[i].q);
    }
  }
}

static void list_force(const saltus_mechanism* m, int index, enclosure_listing* l) {
  const int size = m->plane ? 3 : 6;
  const int body = m->free_bodies[index / size];
  for (int k = 0; k < 3 && !m->bodies[body].round && index % size >= 3; k++) {
    list(l, m->system.dims.nq + m->bodies[body].v + 3 + k);
  }
  for (int i = m->pull_start[index / size]; i < m->pull_start[index / size + 1]; i++) {
    const saltusi_force_along* f = &m->forces[m->pulls[i]];
    list_link(m, f->link, f->row, true, l);
  }
  if (m->load_first[index / size] >= 0) {
    list_pose(m, body, l);
  }
}

static void list_pair(const saltus_mechanism* m, uint64_t identity, bool moves,
                      enclosure_listing* l) {
  int body[2];
  saltusi_pair_bodies(m, identity, body);
  for (int k = 0; k < 2; k++) {
    list_pose(m, body[k], l);
    for (int i = 0; moves && m->bodies[body[k]].v >= 0 && i < (m->plane ? 3 : 6); i++) {
      list(l, m->system.dims.nq + m->bodies[body[k]].v + i);
    }
  }
}

static int reads(const void* self, saltus_quantity what, uint64_t index, int room, int* place) {
  const saltus_mechanism* m = self;
  assert(m != NULL && (room == 0 || place != NULL));
  enclosure_listing l = {.room = room, .place = place};
  const bool contact = what == SALTUS_QUANTITY_GAP || what == SALTUS_QUANTITY_VELOCITY;
  if (contact && m->world != NULL) { /* by identity */
    if ((index & SALTUSI_LISTED) == 0) {
      list_pair(m, index, what == SALTUS_QUANTITY_VELOCITY, &l);
      return l.count;
    }
    index -= SALTUSI_LISTED;
  }
  if (what == SALTUS_QUANTITY_FORCE) {
    list_force(m, (int)index, &l);
  } else if (what == SALTUS_QUANTITY_JOINT) {
    list_link(m, &m->joints[m->joint_of[index]].link, &m->rows[index], false, &l);
  } else if (what != SALTUS_QUANTITY_SWITCH) {
    const saltusi_limit* limit = &m->limits[index];
    const bool moves = what == SALTUS_QUANTITY_VELOCITY;
    const saltusi_term* term = &limit->row->term[0];
    if (!moves && term->kind == SALTUSI_TERM_ANGLE && term->q >= 0) {
      list(&l, term->q);
    } else {
      list_link(m, &m->joints[limit->joint].link, limit->row, moves, &l);
    }
  }
  return l.count;
}

static const saltus_enclosure_ops ops = {.bytes = bytes,
                                         .depends = depends,
                                         .along = along,
                                         .reads = reads,
                                         .beyond = saltusi_mechanism_taylor_remainder};

static unsigned contact_depends(const void* self, saltus_quantity what, uint64_t identity) {
  return (identity & SALTUSI_LISTED) != 0 ? depends(self, what, (int)(identity - SALTUSI_LISTED))
                                          : saltusi_pair_depends(self, what, identity);
}

static void contact_along(const void* self, const saltus_course* course, saltus_quantity what,
                          uint64_t identity, saltus_interval* out) {
  if ((identity & SALTUSI_LISTED) != 0) {
    along(self, course, what, (int)(identity - SALTUSI_LISTED), out);
    return;
  }
  const saltusi_motion_segment p = saltusi_segment_over(self, course);
  saltusi_pair_along(&p, identity, out);
}

static const saltus_enclosure_ops ops_with_shapes = {.bytes = bytes,
                                                     .depends = depends,
                                                     .along = along,
                                                     .reads = reads,
                                                     .beyond = saltusi_mechanism_taylor_remainder,
                                                     .contact_depends = contact_depends,
                                                     .contact_along = contact_along,
                                                     .contact_clear = saltusi_shapes_clear};

static bool is_known(const saltusi_signal* s) {
  return s->given.evaluate == NULL || s->given.along != NULL;
}

const saltus_enclosure_ops* saltusi_mechanism_enclosure(const saltus_mechanism* m) {
  assert(m != NULL);
  bool known = true;
  for (int i = 0; i < m->body_count; i++) {
    for (int k = 0; m->bodies[i].kind == SALTUS_BODY_DRIVEN && k < 3; k++) {
      known = known && is_known(&m->bodies[i].position[k]) && is_known(&m->bodies[i].rotation[k]);
    }
  }
  for (int i = 0; i < m->joint_count; i++) {
    for (int r = 0; r < m->joints[i].rows; r++) {
      const saltusi_joint_row* row = &m->rows[m->joints[i].row + r];
      known = known && (!row->has_target || is_known(&row->target)) &&
              !(row->by_speed && row->target.given.evaluate != NULL);
    }
  }
  for (int i = 0; i < m->force_count; i++) {
    known = known && (!m->forces[i].actuated || is_known(&m->forces[i].actuator));
  }
  for (int i = 0; i < m->load_count; i++) {
    for (int k = 0; k < 3; k++) {
      known = known && is_known(&m->loads[i].force[k]) && is_known(&m->loads[i].torque[k]);
    }
  }
  return !known ? NULL : m->world != NULL ? &ops_with_shapes : &ops;
}
