/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * taylor_remainder.c - bounds of the Taylor remainders of forces and joint rows over a trajectory segment, by scalars instead of jets.
 *
 * The remainders of sines and powers are in formula/near_polynomial.h; vectors and rotations are bounded by their norms. Components of rotations in space are polynomials of quaternions.
 */
#include "body/enclosure.h"

#include "body/taylor.h"
#include "formula/near_polynomial.h"

#include <assert.h>

typedef saltusi_near_polynomial near_polynomial;

static near_polynomial scaled(double s, near_polynomial x) {
  return saltusi_near_product(saltusi_near_exactly(fabs(s), 0.0), x);
}

static double length3(const double x[3]) {
  return sqrt(saltusi_dot3(x, x));
}

/* ---- bodies ---- */

static const saltus_interval* position(const saltusi_motion_segment* p, int i) {
  return p->course->q + (size_t)i * (size_t)p->stride;
}

static double speed(const saltusi_motion_segment* p, int i) {
  return saltusi_magnitude(p->course->v[(size_t)i * (size_t)p->stride]);
}

/* Its rotation. */
static near_polynomial turn_of(const saltusi_motion_segment* p, const saltusi_body* body) {
  if (body->kind == SALTUS_BODY_FIXED) {
    return saltusi_near_exactly(1.0, 0.0);
  }
  if (body->kind == SALTUS_BODY_DRIVEN) {
    return saltusi_far_from_polynomials;
  }
  if (p->m->plane) {
    const saltus_interval* angle = position(p, body->q + 2);
    return saltusi_near_wave(saltusi_near_exactly(0.0, saltusi_magnitude(angle[1])),
                             0.5 * (angle[0].hi - angle[0].lo));
  }
  double square = 0.0;
  for (int k = 3; k < 7; k++) {
    const double rate = saltusi_magnitude(position(p, body->q + k)[1]);
    square += rate * rate;
  }
  return saltusi_near_exactly(1.0, 2.0 * sqrt(square));
}

/* Coordinate k of its centre of mass and the rate of that. */
static saltus_interval centre(const saltusi_motion_segment* p, const saltusi_body* body, int k,
                              double* rate) {
  const bool moves = body->q >= 0 && k < (p->m->plane ? 2 : 3);
  *rate = moves ? saltusi_magnitude(position(p, body->q + k)[1]) : 0.0;
  return moves ? position(p, body->q + k)[0] : saltusi_exactly(body->pose.x[k]);
}

/* A link over the segment: its markers and bodies, their rotations, and the vector between the markers. */
typedef struct ends {
  const saltusi_marker* marker[2];
  const saltusi_body* body[2];
  near_polynomial turn[2];
  near_polynomial arm[2]; /* from the centre of mass to the marker */
  near_polynomial way;
} ends;

static ends ends_of(const saltusi_motion_segment* p, const saltusi_link* link, int which) {
  ends e;
  for (int k = 0; k < 2; k++) {
    e.marker[k] = &p->m->markers[link->marker[which][k]];
    e.body[k] = &p->m->bodies[e.marker[k]->body];
    e.turn[k] = turn_of(p, e.body[k]);
    e.arm[k] = scaled(length3(e.marker[k]->r), e.turn[k]);
  }
  double square = 0.0, rate = 0.0;
  for (int k = 0; k < 3; k++) {
    double first, second;
    const saltus_interval a = centre(p, e.body[0], k, &first);
    const saltus_interval b = centre(p, e.body[1], k, &second);
    const double d = saltusi_magnitude(saltusi_difference(b, a));
    square += d * d;
    rate += first + second;
  }
  e.way = saltusi_near_sum(saltusi_near_exactly(sqrt(square), rate),
                           saltusi_near_sum(e.arm[0], e.arm[1]));
  return e;
}

/* Rate of the vector between the markers, from velocities. */
static near_polynomial way_rate(const saltusi_motion_segment* p, const ends* e) {
  near_polynomial x = {0};
  for (int k = 0; k < 2; k++) {
    const int v = e->body[k]->v;
    double w = 0.0;
    if (v < 0) {
      continue;
    }
    for (int i = 0; i < (p->m->plane ? 2 : 3); i++) {
      x.size += speed(p, v + i);
    }
    for (int i = p->m->plane ? 2 : 3; i < (p->m->plane ? 3 : 6); i++) {
      w += speed(p, v + i);
    }
    x = saltusi_near_sum(x, scaled(w, e->arm[k]));
  }
  return x;
}

/* ---- distances ---- */

/* The squared distance of the ends of a link: between `low` and `high`, within low (1 +- part) of its middle. */
typedef struct squared {
  double low, high, part;
  near_polynomial s;
} squared;

static squared square_of(const saltusi_motion_segment* p, const saltusi_link* link,
                         const saltusi_joint_row* row, int which, ends* e) {
  saltusi_end_segment end[4];
  saltusi_taylor3 d;
  saltusi_taylor s;
  saltus_interval c[2];
  saltusi_segment_ends(p, link, row, false, end);
  d = end[2 * which + 1].p;
  saltusi_taylor3_subtract(p, &d, &end[2 * which].p);
  saltusi_taylor3_dot(p, &d, &d, &s);
  saltusi_jet_write(saltusi_taylor_read_only(&s), 1, c);
  squared q = {
      .low = c[0].lo, .high = c[0].hi, .part = INFINITY, .s = saltusi_far_from_polynomials};
  if (!(q.low > 0.0)) {
    return q;
  }
  const saltus_interval* t = p->course->t;
  const double half = 0.5 * (1.0 + 1e-9) * (t[0].hi - t[0].lo) / fabs(t[1].lo); /* of the piece */
  const double rate = saltusi_magnitude(c[1]);
  e->way.size = sqrt(q.high);
  q.s = saltusi_near_product(e->way, e->way);
  q.s.rate = rate;
  q.part = fmin((q.high - q.low) / (q.high + q.low), half * rate / q.low) + q.s.off / q.low;
  return q;
}

static near_polynomial power_of(const squared* q, int n) {
  return saltusi_near_power(q->s, q->low, q->high, q->part, n);
}

/* ---- rows of joints ---- */

static bool is_polynomial(const saltus_mechanism* m, const saltusi_term* term) {
  return term->kind == SALTUSI_TERM_PLANE || (term->kind == SALTUSI_TERM_ANGLE && term->q >= 0) ||
         (!m->plane && term->kind != SALTUSI_TERM_DISTANCE && term->kind != SALTUSI_TERM_ANGLE);
}

static bool is_on_driven(const saltus_mechanism* m, const saltusi_link* link) {
  bool driven = false;
  for (int k = 0; k < 2 * link->links; k++) {
    const int body = m->markers[link->marker[k / 2][k % 2]].body;
    driven = driven || m->bodies[body].kind == SALTUS_BODY_DRIVEN;
  }
  return driven;
}

static near_polynomial term_beyond(const saltusi_motion_segment* p, const saltusi_link* link,
                                   const saltusi_joint_row* row, const saltusi_term* term) {
  if (is_polynomial(p->m, term)) {
    return saltusi_near_exactly(0.0, 0.0); /* its size is not requested */
  }
  ends e = ends_of(p, link, term->link);
  squared q;
  switch (term->kind) {
  case SALTUSI_TERM_ALONG:
    return saltusi_near_product(e.way, e.turn[0]);
  case SALTUSI_TERM_WORLD:
    return e.way;
  case SALTUSI_TERM_DOT:
    return saltusi_near_product(e.turn[0], e.turn[1]);
  case SALTUSI_TERM_DISTANCE:
    q = square_of(p, link, row, term->link, &e);
    return power_of(&q, 1);
  case SALTUSI_TERM_ANGLE:
  case SALTUSI_TERM_PLANE:
    break;
  }
  return saltusi_far_from_polynomials;
}

static double joint_beyond(const saltusi_motion_segment* p, int index) {
  const saltus_mechanism* m = p->m;
  const saltusi_joint_row* row = &m->rows[index];
  const saltusi_link* link = &m->joints[m->joint_of[index]].link;
  double off_rate = 0.0;
  if (is_on_driven(m, link) || (row->has_target && row->target.given.evaluate != NULL)) {
    return INFINITY;
  }
  for (int i = 0; i < row->terms; i++) {
    off_rate += fabs(row->term[i].weight) * term_beyond(p, link, row, &row->term[i]).off_rate;
  }
  return off_rate;
}

/* ---- forces ---- */

/* A force of this size on a marker, added to the remainder of its body: r x R^T f about the axes. */
static void add_push(const saltusi_motion_segment* p, const ends* e, int k, near_polynomial force,
                     double* out) {
  const int v = e->body[k]->v;
  const double* r = e->marker[k]->r;
  const double inside = saltusi_near_product(e->turn[k], force).off;
  if (v < 0) {
    return;
  }
  for (int i = 0; i < (p->m->plane ? 2 : 3); i++) {
    out[v + i] += force.off;
  }
  if (p->m->plane) {
    out[v + 2] += length3(r) * inside;
    return;
  }
  for (int i = 0; i < 3; i++) {
    out[v + 3 + i] += hypot(r[(i + 1) % 3], r[(i + 2) % 3]) * inside;
  }
}

static void add_unknown(const saltusi_motion_segment* p, const saltusi_body* body, double* out) {
  for (int i = 0; body->v >= 0 && i < (p->m->plane ? 3 : 6); i++) {
    out[body->v + i] = INFINITY;
  }
}

/* f = u - k (w |d| - rest) - c w |d|' along w d / |d|:
 *   w ((u + k rest) s^(-1/2) - k w - c w (d . d') s^(-1)) d */
static void add_distance(const saltusi_motion_segment* p, const saltusi_force_along* f,
                         double constant, ends* e, double* out) {
  const double w = f->row->term[0].weight;
  const squared q = square_of(p, f->link, f->row, 0, e);
  const near_polynomial along = saltusi_near_product(e->way, way_rate(p, e));
  near_polynomial x = scaled(constant, power_of(&q, -1));
  x = saltusi_near_sum(x, saltusi_near_exactly(f->stiffness * fabs(w), 0.0));
  if (f->damping != 0.0) {
    x = saltusi_near_sum(x, scaled(f->damping * w, saltusi_near_product(along, power_of(&q, -2))));
  }
  x = scaled(w, saltusi_near_product(x, e->way));
  add_push(p, e, 0, x, out);
  add_push(p, e, 1, x, out);
}

/* Along an axis of the first marker or of the world, in the plane. The first body is pushed at the second marker. */
static void add_along(const saltusi_motion_segment* p, const saltusi_force_along* f,
                      double constant, const ends* e, double* out) {
  const saltusi_term* term = &f->row->term[0];
  const bool world = term->kind == SALTUSI_TERM_WORLD;
  const near_polynomial axis = world ? saltusi_near_exactly(1.0, 0.0) : e->turn[0];
  near_polynomial rate = saltusi_near_product(way_rate(p, e), axis);
  if (!world && e->body[0]->v >= 0) { /* d . a' */
    rate = saltusi_near_sum(
        rate, scaled(speed(p, e->body[0]->v + 2), saltusi_near_product(e->way, axis)));
  }
  near_polynomial x = scaled(f->stiffness * term->weight, saltusi_near_product(e->way, axis));
  x = saltusi_near_sum(x, scaled(f->damping * term->weight, rate));
  x = scaled(term->weight,
             saltusi_near_product(saltusi_near_sum(x, saltusi_near_exactly(constant, 0.0)), axis));
  add_push(p, e, 0, x, out);
  add_push(p, e, 1, x, out);
  if (e->body[0]->v >= 0) {
    out[e->body[0]->v + 2] += saltusi_near_product(e->way, x).off;
  }
}

static void add_force(const saltusi_motion_segment* p, const saltusi_force_along* f, double* out) {
  const saltus_mechanism* m = p->m;
  const saltusi_term* term = &f->row->term[0];
  const bool given = f->actuated && f->actuator.given.evaluate != NULL;
  const bool bent = term->kind == SALTUSI_TERM_ANGLE && term->q >= 0 &&
                    !m->angles[term->q - 7 * m->free_count].parallel;
  bool polynomial = !given && !bent && !is_on_driven(m, f->link);
  for (int i = 0; i < f->row->terms; i++) {
    polynomial = polynomial && is_polynomial(m, &f->row->term[i]);
  }
  if (polynomial) {
    return;
  }
  ends e = ends_of(p, f->link, 0);
  const bool known = !given && !is_on_driven(m, f->link) && f->row->terms == 1;
  double constant = fabs(f->stiffness * (f->row->offset + f->rest));
  if (f->actuated && !given) {
    constant +=
        fabs(f->actuator.input >= 0 ? m->inputs[f->actuator.input] : f->actuator.given.value);
  }
  if (known && term->kind == SALTUSI_TERM_DISTANCE) {
    add_distance(p, f, constant, &e, out);
  } else if (known && (term->kind == SALTUSI_TERM_ALONG || term->kind == SALTUSI_TERM_WORLD)) {
    add_along(p, f, constant, &e, out);
  } else {
    add_unknown(p, e.body[0], out);
    add_unknown(p, e.body[1], out);
  }
}

/* Remainder of a constant load; in the plane the load or the lever arm rotates. */
static void add_load(const saltusi_motion_segment* p, const saltusi_load* load, double* out) {
  const saltus_mechanism* m = p->m;
  const saltusi_marker* marker = &m->markers[load->marker];
  const saltusi_body* body = &m->bodies[marker->body];
  double size = 0.0;
  bool given = false;
  for (int k = 0; k < 3; k++) {
    const saltusi_signal* s = &load->force[k];
    size += fabs(s->input >= 0 ? m->inputs[s->input] : s->given.value);
    given = given || s->given.evaluate != NULL || load->torque[k].given.evaluate != NULL;
  }
  if (given) {
    add_unknown(p, body, out);
  } else if (m->plane && body->v >= 0) {
    const double off = scaled(size, turn_of(p, body)).off;
    out[body->v] += off;
    out[body->v + 1] += off;
    out[body->v + 2] += length3(marker->r) * off;
  }
}

void saltusi_mechanism_taylor_remainder(const void* self, const saltus_course* course,
                                        saltus_quantity what, double* out) {
  const saltus_mechanism* m = self;
  assert(m != NULL && course != NULL && out != NULL && course->order >= 1);
  saltusi_motion_segment p = saltusi_segment_over(m, course);
  p.order = 1;
  if (what == SALTUS_QUANTITY_JOINT) {
    for (int i = 0; i < m->system.dims.nj; i++) {
      out[i] = joint_beyond(&p, i);
    }
    return;
  }
  for (int i = 0; i < m->system.dims.nv; i++) {
    out[i] = 0.0;
  }
  for (int i = 0; i < m->force_count; i++) {
    add_force(&p, &m->forces[i], out);
  }
  for (int i = 0; i < m->load_count; i++) {
    add_load(&p, &m->loads[i], out);
  }
}
