/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trajectory_enclosure.c - enclosures of the motion of a trial step over subintervals.
 */
#include "adaptive/event/trajectory_enclosure.h"
#include "adaptive/adaptive.h"

#include <assert.h>
#include <float.h>

/* Rounding of a shifted coefficient, in units of eps times the sum of sizes: two operations per term, and the
 * change of basis before. */
static const double shift_rounding = 16.0 * DBL_EPSILON;

static const double binomial[SALTUSI_POWERS][SALTUSI_POWERS] = {
    {1, 0, 0, 0, 0, 0, 0, 0},    {1, 1, 0, 0, 0, 0, 0, 0},     {1, 2, 1, 0, 0, 0, 0, 0},
    {1, 3, 3, 1, 0, 0, 0, 0},    {1, 4, 6, 4, 1, 0, 0, 0},     {1, 5, 10, 10, 5, 1, 0, 0},
    {1, 6, 15, 20, 15, 6, 1, 0}, {1, 7, 21, 35, 35, 21, 7, 1},
};

void saltusi_trajectory_forget(saltusi_search* search) {
  assert(search != NULL);
  search->course.made = false;
  for (int i = 0; i < SALTUSI_PIECES; i++) {
    search->course.piece[i].order = -1;
    search->course.piece[i].number = -1;
  }
  for (int i = 0; i < SALTUSI_CACHED_STATES; i++) {
    search->place[i].theta = NAN;
  }
}

void saltusi_powers_shift(int degree, double m, double* s) {
  assert(s != NULL);
  for (int k = 0; k < degree; k++) {
    for (int j = degree - 1; j >= k; j--) {
      s[j] += m * s[j + 1];
    }
  }
}

void saltusi_powers_enclose(int degree, const double* c, double a, double b, int order,
                            saltus_interval* out) {
  assert(out != NULL);
  double s[SALTUSI_POWERS];
  double size[SALTUSI_POWERS];
  double m = 0.5 * (a + b);
  double r = 0.5 * (b - a);
  for (int j = 0; j <= degree; j++) {
    s[j] = c[j];
    size[j] = fabs(s[j]);
  }
  if (m != 0.0) {
    saltusi_powers_shift(degree, m, s);
    saltusi_powers_shift(degree, b, size);
  }
  for (int k = 0; k <= order; k++) {
    if (k > degree) {
      out[k] = (saltus_interval){0.0, 0.0};
      continue;
    }
    double lo = s[k];
    double hi = s[k];
    double power = r;
    for (int j = k + 1; j <= degree && r > 0.0; j++) {
      double x = binomial[j][k] * s[j] * power;
      bool even = (j - k) % 2 == 0;
      double below = even ? (x < 0.0 ? -x : 0.0) : fabs(x);
      double above = even ? (x > 0.0 ? x : 0.0) : fabs(x);
      lo -= below;
      hi += above;
      power *= r;
    }
    double rounding = shift_rounding * size[k];
    out[k] = (saltus_interval){lo - rounding, hi + rounding};
  }
}

/* Enclosures of the coefficients 0 .. order of one component. */
static void enclose(const saltusi_trajectories* c, size_t i, size_t stride, int order,
                    const saltusi_trajectory_segment* p, saltus_interval* out) {
  double s[SALTUSI_POWERS];
  for (int j = 0; j <= c->degree; j++) {
    s[j] = c->power[(size_t)j * stride + i];
  }
  saltusi_powers_enclose(c->degree, s, p->a, p->b, order, out);
}

enum { JET = SALTUS_JET_ORDER + 1 };

static void make_time(saltusi_search* search, saltusi_trajectory_segment* p) {
  double rounding = DBL_EPSILON * (fabs(search->step->t) + search->step->h);
  double lo = search->step->t + p->a * search->step->h - rounding;
  double hi = search->step->t + p->b * search->step->h + rounding;
  /* no evaluation leaves the trial step: a formula may change its branch right beside it */
  p->t[0] =
      (saltus_interval){fmax(lo, search->step->t), fmin(hi, search->step->t + search->step->h)};
  for (size_t k = 1; k < JET; k++) {
    p->t[k] = (saltus_interval){k == 1 ? search->step->h : 0.0, k == 1 ? search->step->h : 0.0};
  }
}

/* Positions, and velocities if requested, to at least the order. */
static void make(saltusi_search* search, saltusi_trajectory_segment* p, int order, bool moving) {
  size_t stride = (size_t)search->o->nq + (size_t)search->o->nv;
  bool more = order > p->order;
  p->order = more ? order : p->order;
  for (size_t i = 0; more && i < (size_t)search->o->nq; i++) {
    enclose(&search->course, i, stride, p->order, p, p->q + i * JET);
  }
  bool wanted = moving && (more || !p->moving);
  for (size_t i = 0; wanted && i < (size_t)search->o->nv; i++) {
    enclose(&search->course, (size_t)search->o->nq + i, stride, p->order, p, p->v + i * JET);
  }
  p->moving = wanted || (p->moving && !more);
}

/* The few coordinates on which a quantity depends. */
static void make_some(saltusi_search* search, saltusi_trajectory_segment* p, int order,
                      const int* place, int count) {
  size_t nq = (size_t)search->o->nq;
  long long enough = p->number * (JET + 1) + order + 1;
  for (int k = 0; k < count; k++) {
    size_t i = (size_t)place[k];
    if (p->made[i] < enough) {
      enclose(&search->course, i, nq + (size_t)search->o->nv, order, p,
              i < nq ? p->q + i * JET : p->v + (i - nq) * JET);
      p->made[i] = enough;
    }
  }
}

const double* saltusi_trajectory_powers(saltusi_search* search) {
  assert(search != NULL);
  saltusi_trajectories* c = &search->course;
  if (!c->made) {
    c->degree = search->step->ops->dense_degree;
    search->step->ops->powers(&search->step->motion, search->o->nq + search->o->nv, c->power);
    c->made = true;
  }
  return c->power;
}

/* The segment over [a,b], without its coordinates. The whole range and its middle are used by every contact: they
 * have slots of their own. */
static saltusi_trajectory_segment* piece_of(saltusi_search* search, double a, double b) {
  saltusi_trajectories* c = &search->course;
  saltusi_trajectory_powers(search);
  bool whole = a == 0.0 && b == 1.0;
  bool middle = a == 0.5 && b == 0.5;
  saltusi_trajectory_segment* p = &c->piece[whole ? 0 : middle ? 1 : a == b ? 2 : 3];
  if (p->number < 0 || p->a != a || p->b != b) {
    p->a = a;
    p->b = b;
    p->order = -1;
    p->moving = false;
    p->number = ++c->numbers;
    make_time(search, p);
  }
  return p;
}

static bool is_changing(const saltus_system* sys) {
  return (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
}

static bool is_of_contact(saltus_quantity what) {
  return what == SALTUS_QUANTITY_GAP || what == SALTUS_QUANTITY_VELOCITY;
}

bool saltusi_trajectory_encloses(const saltus_system* sys, saltus_quantity what) {
  assert(sys != NULL && sys->ops != NULL);
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  if (ops == NULL) {
    return false;
  }
  return is_of_contact(what) && is_changing(sys) ? ops->contact_along != NULL : ops->along != NULL;
}

int saltusi_trajectory_switches(const saltus_system* sys) {
  assert(sys != NULL && sys->ops != NULL);
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  return ops != NULL && ops->along != NULL && ops->switches != NULL ? ops->switches(sys->self) : 0;
}

static uint64_t name_of(const saltusi_search* search, saltus_quantity what, int index) {
  return is_of_contact(what) && search->eval->keys != NULL
             ? search->eval->keys->table.identity[index]
             : (uint64_t)index;
}

unsigned saltusi_trajectory_depends(const saltusi_search* search, saltus_quantity what, int index) {
  assert(search != NULL && search->sys->ops->enclosure != NULL && index >= 0);
  const saltus_enclosure_ops* ops = search->sys->ops->enclosure;
  return is_of_contact(what) && is_changing(search->sys)
             ? ops->contact_depends(search->sys->self, what, name_of(search, what, index))
             : ops->depends(search->sys->self, what, index);
}

/* The requested coordinates: all, or those on which the quantity depends. For few coordinates all of them take
 * less time than the selection. */
static void fill(saltusi_search* search, saltusi_trajectory_segment* p, int order, bool moving,
                 saltus_quantity what, int index) {
  enum { FEW = 12, ROOM = 24 };
  const saltus_enclosure_ops* ops = search->sys->ops->enclosure;
  if (p->order >= order && (p->moving || !moving)) {
    return;
  }
  if (ops->reads != NULL && search->o->nq + search->o->nv > FEW) {
    int place[ROOM];
    int count = ops->reads(search->sys->self, what, name_of(search, what, index), ROOM, place);
    if (count <= ROOM) {
      make_some(search, p, order, place, count);
      return;
    }
  }
  make(search, p, order, moving);
}

void saltusi_trajectory_along(saltusi_search* search, double a, double b, int order,
                              saltus_quantity what, int index, saltusi_trajectory_jet* out) {
  assert(search != NULL && out != NULL && index >= 0);
  const saltus_enclosure_ops* ops = search->sys->ops->enclosure;
  bool moving = what == SALTUS_QUANTITY_VELOCITY || what == SALTUS_QUANTITY_FORCE;
  saltusi_trajectory_segment* p = piece_of(search, a, b);
  fill(search, p, order, moving, what, index);
  saltus_interval flat[SALTUSI_VALUES * (SALTUS_JET_ORDER + 1)];
  const saltus_course course = {.order = order,
                                .stride = JET,
                                .t = p->t,
                                .q = p->q,
                                .v = moving ? p->v : NULL,
                                .scratch = search->course.scratch};
  if (is_of_contact(what) && is_changing(search->sys)) {
    ops->contact_along(search->sys->self, &course, what, name_of(search, what, index), flat);
  } else {
    ops->along(search->sys->self, &course, what, index, flat);
  }
  int values = what == SALTUS_QUANTITY_VELOCITY ? 1 + search->o->tangents[index] : 1;
  for (int i = 0; i < values; i++) {
    for (int k = 0; k <= order; k++) {
      out[i].c[k] = flat[i * (order + 1) + k];
    }
  }
  search->mode->counts->enclosures++;
}

bool saltusi_trajectory_clears(const saltus_system* sys) {
  assert(sys != NULL && sys->ops != NULL);
  return sys->ops->enclosure != NULL && sys->ops->enclosure->contact_clear != NULL;
}

static saltus_course course_of(const saltusi_search* search, const saltusi_trajectory_segment* p,
                               int order) {
  return (saltus_course){
      .order = order, .stride = JET, .t = p->t, .q = p->q, .scratch = search->course.scratch};
}

void saltusi_trajectory_clear(saltusi_search* search, double a, double b, int key, double margin,
                              saltus_clearance* out) {
  assert(search != NULL && out != NULL && key >= 0 && a < b);
  enum { ORDER = 2 };
  const double m = 0.5 * (a + b);
  saltusi_trajectory_segment* over = piece_of(search, a, b);
  saltusi_trajectory_segment* middle = piece_of(search, m, m);
  fill(search, over, ORDER, false, SALTUS_QUANTITY_GAP, key);
  fill(search, middle, ORDER, false, SALTUS_QUANTITY_GAP, key);
  const saltus_course all = course_of(search, over, ORDER);
  const saltus_course at = course_of(search, middle, ORDER);
  search->sys->ops->enclosure->contact_clear(search->sys->self, &all, &at, fmax(m - a, b - m),
                                             name_of(search, SALTUS_QUANTITY_GAP, key), margin,
                                             out);
  search->mode->counts->enclosures++;
}

bool saltusi_trajectory_remainder(saltusi_search* search, saltus_quantity what) {
  assert(search != NULL);
  const saltus_enclosure_ops* ops = search->sys->ops->enclosure;
  if (ops->beyond == NULL) {
    return false;
  }
  bool moving = what == SALTUS_QUANTITY_FORCE;
  saltusi_trajectory_segment* p = piece_of(search, 0.0, 1.0);
  make(search, p, 1, moving);
  const saltus_course course = {.order = 1,
                                .stride = JET,
                                .t = p->t,
                                .q = p->q,
                                .v = moving ? p->v : NULL,
                                .scratch = search->course.scratch};
  ops->beyond(search->sys->self, &course, what, search->beyond);
  return true;
}
