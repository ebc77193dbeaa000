/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_extrapolated.c - Moreau's scheme, extrapolated between events (Studer, Numerics of Unilateral Contacts and
 * Friction, 2009, chapter 6; the comparator of Acary 2009, remark 5; docs/schemes/moreau-jean.md).
 *
 *   columns        x_j = the state after j steps of h / j with theta = 1,             j = 1 .. J
 *   smooth step    no impact, and the modes of all contacts and dry rows are equal in all steps of all columns:
 *                    x = sum_j w_j x_j,   w_j = prod_{i != j} j / (j - i),   local error O(h^(J+1))
 *                  no contact rebounds;  impulses are summed with the same weights; the estimate compares the columns 2 .. J
 *   other steps    the step of moreau-jean
 *
 * With a fixed set of active rows the theta step is a smooth one-step method, whose error has an expansion in powers of
 * h. theta = 1: joints and closed contacts then hold the velocity at the end of a step at its position. With theta =
 * 1/2 the first of the j steps starts from a velocity consistent with its position and ends with an inconsistent one;
 * this leaves an error O((h / j)^2) that the weights do not remove.
 */
#include "saltus/extrapolation.h"
#include "scheme/moreau/moreau_step.h"
#include "scheme/projection.h"

#include "math/matrix.h"

#include <float.h>
#include <string.h>

enum { COLUMNS_MAX = 6 };

typedef struct moreau_extrapolated_work {
  saltusi_moreau moreau;
  double *q, *v;                 /* [2 nq], [2 nv] states of a column, alternating */
  double *q_sum, *v_sum;         /* [nq], [nv] sum of w_j x_j */
  double *q_low, *v_low;         /* the same of the columns 2 .. J */
  double* joints;                /* [nj] sums of w_j times the impulses of a column */
  double* part_joints;           /* [nj] */
  double *memory, *part_memory;  /* [memory_count] of the last step of a column; of the step */
  saltus_contact_step* contacts; /* [nc] */
  double* sums;                  /* [SUMS nc] by key */
  signed char* modes;            /* [SALTUS_CONE_ROWS nc] by key, then [dry_count] */
  bool* closed_now;              /* [nc] by key, false between uses */
  int closed; /* contacts that bear a load in the first step of the first column */
  int rows;   /* entries of modes */
} moreau_extrapolated_work;

/* Sums of a contact: impulse, slip at the end, work of rolling and drilling friction. */
enum { SUMS = 6 };

static const saltus_field fields[] = {
    SALTUS_INT(saltus_moreau_extrapolated_options, columns, 3, 2, COLUMNS_MAX,
               "columns of the extrapolation: the order between events"),
    SALTUS_REAL(saltus_moreau_extrapolated_options, gamma, 1.0, 0.0, 1.0,
                "horizon of contact detection, in parts of a step [1]"),
    SALTUSI_NEWTON_FIELDS(saltus_moreau_extrapolated_options, "velocity", 1e-13, 30),
    SALTUSI_CONTACT_FIELDS(saltus_moreau_extrapolated_options),
    SALTUSI_PROJECTION_FIELD(saltus_moreau_extrapolated_options),
};

#define TABLE SALTUSI_TABLE(saltus_moreau_extrapolated_options, fields)

SALTUSI_DEFAULTS(saltus_moreau_extrapolated_options, saltus_moreau_extrapolated_options_default,
                 fields)

/* The memory of the warm start, then one number per contact: 1 where it bears a load without impact. */
static size_t memory_count(const void* options, const saltus_system* sys) {
  const saltus_moreau_extrapolated_options* o = options;
  return saltusi_warm_count(o->warm_start, sys) + (size_t)sys->dims.nc;
}

static void carry_memory(const void* options, const saltus_system* sys,
                         saltusi_state_transfer* carry) {
  const saltus_moreau_extrapolated_options* o = options;
  saltusi_warm_transfer(o->warm_start, sys, carry);
  saltusi_transfer_each(carry, 1);
}

static void layout(void* work_, const void* options, const saltusi_eval* eval,
                   saltus_arena* arena) {
  const saltus_moreau_extrapolated_options* o = options;
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  moreau_extrapolated_work* w = work_;
  saltusi_moreau_layout(&w->moreau, o->warm_start, eval, arena);
  w->q = SALTUS_PUSH2(arena, double, 2, d->nq);
  w->v = SALTUS_PUSH2(arena, double, 2, d->nv);
  w->q_sum = SALTUS_PUSH(arena, double, d->nq);
  w->v_sum = SALTUS_PUSH(arena, double, d->nv);
  w->q_low = SALTUS_PUSH(arena, double, d->nq);
  w->v_low = SALTUS_PUSH(arena, double, d->nv);
  w->joints = SALTUS_PUSH(arena, double, d->nj);
  w->part_joints = SALTUS_PUSH(arena, double, d->nj);
  w->memory = SALTUS_PUSH(arena, double, memory_count(options, sys));
  w->part_memory = SALTUS_PUSH(arena, double, memory_count(options, sys));
  w->contacts = SALTUS_PUSH(arena, saltus_contact_step, d->nc);
  w->sums = SALTUS_PUSH2(arena, double, SUMS, d->nc);
  w->closed_now = SALTUS_PUSH(arena, bool, d->nc);
  w->rows = SALTUS_CONE_ROWS * d->nc + sys->dry_count;
  w->modes = SALTUS_PUSH(arena, signed char, w->rows);
}

/* Velocities below this count as sticking: a part of the largest velocity, or the rounding of positions. */
static double stick_velocity(const saltusi_step* s) {
  const int nv = s->eval->sys.dims.nv;
  const double size = fmax(saltusi_max_abs(nv, s->v0), saltusi_max_abs(nv, s->v1));
  return 1e-9 * size + saltusi_newton_floor(s);
}

static signed char sign_of(const saltusi_operator* op, const saltusi_step* s, int r, double least) {
  const double u = saltusi_row_dot(&op->rows, r, s->v1) + op->rows.b[r];
  return (signed char)(u > least ? 1 : u < -least ? -1 : 0);
}

static bool is_impact(const moreau_extrapolated_work* w, const saltusi_step* s,
                      const saltus_contact_step* c, double least) {
  return w->moreau.forced[c->key] ? saltusi_moreau_is_kink(s, c->u_before)
                                  : c->impact && c->u_before < -least;
}

/* Whether a step of a column has the modes of the first step, which defines them. */
static bool same_modes(moreau_extrapolated_work* w, const saltusi_step* s, bool first) {
  const saltusi_operator* op = &w->moreau.op;
  const double least = stick_velocity(s);
  int closed = 0;
  bool same = true;
  for (int i = 0; i < s->report->active; i++) {
    const saltus_contact_step* c = &s->contacts[i];
    signed char* mode = w->modes + SALTUS_CONE_ROWS * c->key;
    if (c->impulse[0] == 0.0) {
      continue;
    }
    closed++;
    same = same && !is_impact(w, s, c, least) && (first || mode[0] == 1);
    mode[0] = 1;
    for (int r = op->first[i] + 1; r < op->first[i + 1]; r++) {
      const signed char sign = sign_of(op, s, r, least);
      same = same && (first || mode[r - op->first[i]] == sign);
      mode[r - op->first[i]] = sign;
    }
  }
  signed char* dry = w->modes + w->rows - s->eval->sys.dry_count;
  for (int k = 0; op->laws.any && k < op->laws.dry; k++) {
    const signed char sign = sign_of(op, s, op->count - op->laws.dry + k, least);
    same = same && (first || dry[k] == sign);
    dry[k] = sign;
  }
  w->closed = first ? closed : w->closed;
  return same && closed == w->closed;
}

/* Closed contacts stay active: along a concave surface a step leaves a gap of O(h^2). */
static void hold_closed(moreau_extrapolated_work* w, const saltusi_step* s) {
  bool* forced = w->moreau.forced;
  const double least = stick_velocity(s);
  for (int i = 0; i < s->report->active; i++) {
    const saltus_contact_step* c = &s->contacts[i];
    const bool closed = forced[c->key] || c->gap <= saltusi_moreau_gap_rounding(s);
    const bool loaded =
        c->impulse[0] != 0.0 && !is_impact(w, s, c, least) && fabs(c->u_after) <= least;
    w->closed_now[c->key] = closed && loaded;
  }
  for (int key = 0; key < s->eval->sys.dims.nc; key++) {
    forced[key] = w->closed_now[key];
    w->closed_now[key] = false;
  }
}

static void force_closed(moreau_extrapolated_work* w, const saltusi_step* s, const double* closed) {
  for (int key = 0; key < s->eval->sys.dims.nc; key++) {
    w->moreau.forced[key] = closed[key] != 0.0;
  }
}

static void add_report(moreau_extrapolated_work* w, const saltusi_step* part, double weight,
                       bool last, saltus_step_report* sum) {
  for (int i = 0; i < part->report->active; i++) {
    const saltus_contact_step* c = &part->contacts[i];
    double* sums = w->sums + (size_t)SUMS * (size_t)c->key;
    saltusi_add_scaled(3, weight, c->impulse, sums);
    saltusi_add_scaled(2, last ? weight : 0.0, c->slip_after, sums + 3);
    sums[5] += weight * c->twist_work;
  }
  saltusi_add_scaled(part->eval->sys.dims.nj, weight, part->joint_impulses, w->joints);
  sum->dry_work += weight * part->report->dry_work;
  sum->joint_work += weight * part->report->joint_work;
  sum->newton_iterations += part->report->newton_iterations;
  sum->residual_velocity = fmax(sum->residual_velocity, part->report->residual_velocity);
  sum->residual_impulse = fmax(sum->residual_impulse, part->report->residual_impulse);
}

/* Column j: j steps of h / j. The first one writes the result of the step itself. smooth: cleared where modes differ. */
static saltus_status take_column(moreau_extrapolated_work* w,
                                 const saltus_moreau_jean_options* moreau, const saltusi_step* s,
                                 int j, double weight, bool* smooth, saltus_step_report* sum) {
  const saltus_dims* d = &s->eval->sys.dims;
  const size_t doubles = saltusi_warm_count(moreau->warm_start, &s->eval->sys);
  saltusi_step part = *s;
  part.h = s->h / j;
  force_closed(w, s, s->memory0 + doubles);
  saltus_status status = SALTUS_OK;
  for (int k = 0; k < j && status == SALTUS_OK; k++) {
    saltus_step_report report = {.active = 0};
    part.t = s->t + k * part.h;
    if (j > 1) {
      part.q1 = w->q + (size_t)(k % 2) * (size_t)d->nq;
      part.v1 = w->v + (size_t)(k % 2) * (size_t)d->nv;
      part.contacts = w->contacts;
      part.joint_impulses = w->part_joints;
      part.memory1 = w->part_memory;
      part.report = &report;
    }
    status = w->moreau.take(&w->moreau, moreau, &part);
    if (status != SALTUS_OK) {
      return status;
    }
    *smooth = same_modes(w, &part, j == 1) && *smooth;
    add_report(w, &part, weight, k + 1 == j, sum);
    hold_closed(w, &part);
    part.q0 = part.q1;
    part.v0 = part.v1;
    if (j > 1 && doubles > 0) {
      memcpy(w->memory, w->part_memory, doubles * sizeof(double));
      part.memory0 = w->memory;
    }
  }
  for (int key = 0; j == 1 && key < d->nc; key++) {
    s->memory1[doubles + (size_t)key] = w->moreau.forced[key] ? 1.0 : 0.0;
  }
  const double* q = j == 1 ? s->q1 : part.q0;
  const double* v = j == 1 ? s->v1 : part.v0;
  saltusi_add_scaled(d->nq, weight, q, w->q_sum);
  saltusi_add_scaled(d->nv, weight, v, w->v_sum);
  return SALTUS_OK;
}

/* Weight of column j among `first` .. `last`. */
static double weight_of(int j, int first, int last) {
  double weight = 1.0;
  for (int i = first; i <= last; i++) {
    weight *= i == j ? 1.0 : (double)j / (double)(j - i);
  }
  return weight;
}

/* Writes the extrapolated end of a smooth step; its modes are those of the first column. */
static void write_sums(moreau_extrapolated_work* w, const saltusi_step* s,
                       const saltus_step_report* sum) {
  const saltus_dims* d = &s->eval->sys.dims;
  memcpy(s->q1, w->q_sum, (size_t)d->nq * sizeof(double));
  saltusi_normalise(&s->eval->sys, s->q1);
  memcpy(s->v1, w->v_sum, (size_t)d->nv * sizeof(double));
  memcpy(s->joint_impulses, w->joints, (size_t)d->nj * sizeof(double));
  for (int i = 0; i < s->report->active; i++) {
    saltus_contact_step* c = &s->contacts[i];
    const double* sums = w->sums + (size_t)SUMS * (size_t)c->key;
    c->impact = false;
    memcpy(c->impulse, sums, sizeof c->impulse);
    memcpy(c->slip_after, sums + 3, sizeof c->slip_after);
    c->twist_work = sums[5];
  }
  s->report->dry_work = sum->dry_work;
  s->report->joint_work = sum->joint_work;
}

static void write_errors(moreau_extrapolated_work* w, const saltusi_step* s) {
  const saltus_dims* d = &s->eval->sys.dims;
  for (int i = 0; s->q_error != NULL && i < d->nq; i++) {
    s->q_error[i] = s->q1[i] - w->q_low[i];
  }
  for (int i = 0; s->v_error != NULL && i < d->nv; i++) {
    s->v_error[i] = s->v1[i] - w->v_low[i];
  }
}

static void clear(moreau_extrapolated_work* w, const saltus_dims* d) {
  memset(w->q_sum, 0, (size_t)d->nq * sizeof(double));
  memset(w->v_sum, 0, (size_t)d->nv * sizeof(double));
  memset(w->q_low, 0, (size_t)d->nq * sizeof(double));
  memset(w->v_low, 0, (size_t)d->nv * sizeof(double));
  memset(w->joints, 0, (size_t)d->nj * sizeof(double));
  memset(w->sums, 0, (size_t)SUMS * (size_t)d->nc * sizeof(double));
  memset(w->modes, 0, (size_t)w->rows);
}

static saltus_status take_columns(moreau_extrapolated_work* w,
                                  const saltus_moreau_extrapolated_options* o,
                                  const saltusi_step* s, bool* smooth, saltus_step_report* sum) {
  const saltus_dims* d = &s->eval->sys.dims;
  const saltus_moreau_jean_options moreau = {.theta = 1.0,
                                             .gamma = o->gamma,
                                             .jump = SALTUS_JUMP_START,
                                             .joints = SALTUS_JOINTS_END,
                                             .newton_tol = o->newton_tol,
                                             .newton_max = o->newton_max,
                                             .warm_start = o->warm_start};
  w->moreau.plastic = SALTUSI_PLASTIC_ALL;
  for (int j = 1; j <= o->columns && *smooth; j++) {
    const saltus_status status =
        take_column(w, &moreau, s, j, weight_of(j, 1, o->columns), smooth, sum);
    if (status == SALTUS_RETRY_SMALLER || status == SALTUS_RETRY_NAN) {
      *smooth = false;
    } else if (status != SALTUS_OK) {
      return status;
    }
    const size_t slot = (size_t)((j - 1) % 2);
    const double low = weight_of(j, 2, o->columns);
    if (j > 1) {
      saltusi_add_scaled(d->nq, low, w->q + slot * (size_t)d->nq, w->q_low);
      saltusi_add_scaled(d->nv, low, w->v + slot * (size_t)d->nv, w->v_low);
    }
  }
  return SALTUS_OK;
}

/* A step with an event: that of moreau-jean with its default options. Its difference from two steps of half the length
 * is the estimate. */
static saltus_status take_event(moreau_extrapolated_work* w,
                                const saltus_moreau_extrapolated_options* o, const saltusi_step* s,
                                saltus_step_report* sum) {
  const saltus_dims* d = &s->eval->sys.dims;
  const saltus_moreau_jean_options moreau = {.theta = 0.5,
                                             .gamma = o->gamma,
                                             .jump = SALTUS_JUMP_START,
                                             .newton_tol = o->newton_tol,
                                             .newton_max = o->newton_max,
                                             .warm_start = o->warm_start};
  bool smooth = false;
  w->moreau.plastic = SALTUSI_PLASTIC_CLOSED;
  clear(w, d);
  saltus_status status = take_column(w, &moreau, s, 2, 1.0, &smooth, sum);
  if (status != SALTUS_OK && status != SALTUS_RETRY_SMALLER && status != SALTUS_RETRY_NAN) {
    return status;
  }
  const bool estimated = status == SALTUS_OK;
  memcpy(w->q_low, w->q_sum, (size_t)d->nq * sizeof(double));
  memcpy(w->v_low, w->v_sum, (size_t)d->nv * sizeof(double));
  status = take_column(w, &moreau, s, 1, 1.0, &smooth, sum);
  if (!estimated && status == SALTUS_OK) {
    memcpy(w->q_low, s->q1, (size_t)d->nq * sizeof(double));
    memcpy(w->v_low, s->v1, (size_t)d->nv * sizeof(double));
  }
  return status;
}

static saltus_status step(void* work_, const void* options, const saltusi_step* s) {
  moreau_extrapolated_work* w = work_;
  saltus_step_report sum = {.active = 0};
  bool smooth = true;
  clear(w, &s->eval->sys.dims);
  saltus_status status = take_columns(w, options, s, &smooth, &sum);
  if (status == SALTUS_OK && smooth) {
    write_sums(w, s, &sum);
  } else if (status == SALTUS_OK) {
    status = take_event(w, options, s, &sum);
  }
  s->report->newton_iterations = sum.newton_iterations;
  s->report->residual_velocity = sum.residual_velocity;
  s->report->residual_impulse = sum.residual_impulse;
  write_errors(w, s);
  return status;
}

const saltusi_scheme_ops saltusi_moreau_extrapolated = {
    .info =
        {
            .name = "moreau-extrapolated",
            .summary = "Moreau's scheme, extrapolated to higher order between events",
            .source = "Studer 2009, chapter 6; Acary 2009, remark 5",
            .order = 1,
            .smooth_order = 3,
            .embedded_order = 2,
            .treats = SALTUSI_TREATS_STEPWISE | SALTUS_TREATS_MAPS | SALTUS_TREATS_VARIABLE_STEPS |
                      SALTUS_TREATS_FRICTION_LAWS | SALTUS_TREATS_IMPACT_ERRORS,
            .options = TABLE,
        },
    SALTUSI_STEPS_BY(moreau_extrapolated_work),
};
