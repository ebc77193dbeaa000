/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_speculative.c - see moreau_speculative.h.
 */
#include "scheme/moreau/moreau_speculative.h"

#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Velocity change of the points of a contact by forces in a step, in any direction: it counts also
 * where forces act tangentially, as for bodies side by side. In body space |G_x| |dv| + |G_w| |dw|;
 * for other systems |G| |dv|. dv is in w->v_theta. */
static double pushed_by(const saltusi_moreau* w, int row) {
  const saltusi_row_block* rows = &w->op.rows;
  const int linear = saltusi_linear_part(w), turning = w->body_width - linear;
  if (linear == 0) {
    return saltusi_row_size(rows, row, w->v_theta);
  }
  const double* G = rows->G + (size_t)row * (size_t)rows->stride;
  const int* column = rows->column + (size_t)row * (size_t)rows->stride;
  double sum = 0.0;
  for (int k = 0; k < rows->entries[row]; k += w->body_width) {
    const double* dv = w->v_theta + column[k];
    sum += sqrt(saltusi_dot(linear, G + k, G + k) * saltusi_dot(linear, dv, dv));
    sum += sqrt(saltusi_dot(turning, G + k + linear, G + k + linear) *
                saltusi_dot(turning, dv + linear, dv + linear));
  }
  return sum;
}

/* Margin for contacts that can close within the step, beyond their free motion: velocity change by forces in a step,
 * which impulses of neighbours balance. A contact that is missed is found at the end of the step. In eight piles of
 * 1000 boxes a factor of 2 takes 6 % more time, a factor of 1/2 the same time with more contact problems; the
 * penetration is not larger. */
static const double pushed_factor = 1.0;

/* Gaps are as accurate as the velocities that led to them: this many tolerances times the
 * displacement by forces in a step. A gap or penetration below that counts as zero. At rest v = 0
 * then satisfies all contacts. Bricks held by friction on all sides have four contacts to each
 * neighbour, whose gaps are inconsistent by rounding and solver errors. */
static const double known_gap = 10.0;

/* Speculative contacts: the velocity -offset at the end of the step closes the gap there, g + h
 * ((1 - theta) U_k + theta U_{k+1}) = 0. Interpenetrating shapes separate, at most as fast as
 * forces push them in the step: this removes drift of the gaps by rotation without ejecting bodies
 * (after Anitescu and Hart, International Journal for Numerical Methods in Engineering 60 (2004)
 * 2335-2371, whose g / h has no bound). sprung: compliance times the impulse of the contact,
 * m/s. */
static double speculative_offset(const saltus_moreau_jean_options* o, double h, double gap,
                                 double u0, double pushed, double sprung) {
  const double known = known_gap * o->contact_tol * h * pushed;
  gap = gap > known ? gap - known : gap < -known ? gap + known : 0.0;
  if (gap < 0.0) {
    return gap / h > -pushed - sprung ? gap / h : -pushed - sprung;
  }
  double offset = (gap / h + (1.0 - o->theta) * u0) / o->theta;
  return offset > 0.0 ? offset : 0.0;
}

/* Whether the free motion closes the gap up to the margin. */
static bool comes_near(double h, double gap, double u0, double pushed) {
  return gap + h * (u0 < 0.0 ? u0 : 0.0) <= pushed_factor * h * pushed;
}

/* Velocity change by forces in the step, into w->v_theta. */
static saltus_status predict(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                             const saltusi_step* s) {
  const int nv = s->eval->sys.dims.nv;
  memcpy(s->v1, s->v0, (size_t)nv * sizeof(double));
  saltus_status status = saltusi_moreau_linearize(w, o, s, true);
  for (int k = 0; k < nv && status == SALTUS_OK; k++) {
    w->v_theta[k] = w->v_free[k] - s->v0[k];
  }
  w->linearized = status == SALTUS_OK;
  return status;
}

/* Activates contact i of the list, whose rows were evaluated last, with its gap; forecast: it is
 * expected to close. pushed: velocity change by forces. */
static void activate_near(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                          const saltusi_step* s, int i, bool forecast, double pushed) {
  const saltus_contact_law* law = &s->eval->sys.laws[w->list.law[i]];
  const int active = w->op.contacts, row = w->op.count;
  const double u0 = saltusi_row_dot(&w->op.rows, row, s->v0) + w->op.rows.b[row];
  const double gap = w->list.gap[i];
  saltusi_moreau_activate(w, s, i, row, saltusi_operator_rows(&w->op, law), u0);
  w->taken[w->list.key[i]] = -1;
  w->rebounds[active] = forecast && law->e_N > 0.0;
  const double sprung = saltusi_moreau_compliant(o, s->h) * w->op.P[row];
  w->offset[active] = w->rebounds[active] && gap >= 0.0
                          ? 0.0
                          : speculative_offset(o, s->h, gap, u0, pushed, sprung);
  const double ends = gap + s->h * ((1.0 - o->theta) * u0 - o->theta * w->offset[active]);
  w->aim[active] = ends < 0.0 ? ends : 0.0;
}

saltus_status saltusi_moreau_find_near(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                       const saltusi_step* s) {
  assert(w != NULL && o != NULL && s != NULL);
  const saltus_system* sys = &s->eval->sys;
  const saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltus_status status = saltusi_moreau_list(w, s, &at);
  if (status == SALTUS_OK && w->list.count > 0) {
    status = predict(w, o, s);
  }
  const double rounding = saltusi_moreau_gap_rounding(s);
  memset(w->taken, 0, (size_t)sys->dims.nc * sizeof(int));
  for (int i = 0; i < w->list.count && status == SALTUS_OK; i++) {
    const double gap = w->list.gap[i];
    const int count = saltusi_operator_rows(&w->op, &sys->laws[w->list.law[i]]);
    const int row = saltusi_operator_look(&w->op, sys, &at, w->list.key[i], count);
    const double u0 = saltusi_row_dot(&w->op.rows, row, s->v0) + w->op.rows.b[row];
    const bool forecast = gap + o->gamma * s->h * u0 <= rounding;
    const double pushed = pushed_by(w, row);
    if (forecast || w->forced[w->list.key[i]] || comes_near(s->h, gap, u0, pushed)) {
      activate_near(w, o, s, i, forecast, pushed);
    }
  }
  saltusi_moreau_close(w, s, &at);
  return status;
}

/* Penetration that is left to the next step, in displacements by forces in a step: for rigid
 * contacts, and for compliant contacts, beyond their compression. Six piles of 1000 boxes solve 1.3
 * problems a step with 2, in place of 2.2 with 0.1, and penetrate by 3.8 mm at most in place of
 * 2.1. */
static const double ahead_part = 0.1;
static const double ahead_soft = 2.0;

static double left_over(const saltusi_moreau* w, const saltus_moreau_jean_options* o,
                        const saltusi_step* s, int row) {
  return (o->stiffness > 0.0 ? ahead_soft : ahead_part) * s->h * pushed_by(w, row);
}

/* Cosine of the largest rotation of a normal in a step that is linearised at its end. */
static const double same_side = 0.7;

/* Replaces the rows of the i-th active contact by those at the end of the step; false: its normal
 * has rotated too far. */
static bool turn_rows(saltusi_moreau* w, const saltusi_step* s, const saltus_point* end, int i) {
  const int row = w->op.first[i], count = w->op.first[i + 1] - row, behind = w->op.count;
  const int linear = saltusi_linear_part(w);
  saltusi_row_block* rows = &w->op.rows;
  if (linear == 0) {
    return false;
  }
  saltusi_rows_contact(&s->eval->sys, end, s->contacts[i].key, 1, rows, behind);
  const double* old = rows->G + (size_t)row * (size_t)rows->stride;
  if (!(saltusi_dot(linear, old, rows->G + (size_t)behind * (size_t)rows->stride) > same_side)) {
    return false;
  }
  saltusi_rows_contact(&s->eval->sys, end, s->contacts[i].key, count, rows, row);
  for (int r = row; r < row + count; r++) {
    w->u0[r] = saltusi_row_dot(rows, r, s->v0) + rows->b[r];
  }
  return true;
}

/* The i-th active contact follows a curve and ends at the gap `there`, below its target `aim`. One step of Newton's
 * method: g + h theta G^T (v - v_1) >= aim with the rows at the end, or with the present rows where they rotate too
 * far. Not applied to contacts that rebound, nor if rows are iterated. */
static bool bend(saltusi_moreau* w, const saltus_moreau_jean_options* o, const saltusi_step* s,
                 const saltus_point* end, int i, double there) {
  const double miss = there - w->aim[i];
  const int row = w->op.first[i];
  const double sprung = s->h * saltusi_moreau_compliant(o, s->h) * w->op.P[row];
  if (o->iterate != 1 || w->rebounds[i] || miss + sprung > -left_over(w, o, s, row)) {
    return false;
  }
  (void)turn_rows(w, s, end, i);
  w->offset[i] =
      miss / (o->theta * s->h) - saltusi_row_dot(&w->op.rows, row, s->v1) - w->op.rows.b[row];
  return true;
}

/* Activates contact i of the list at the end of the step, which closes there and was not active. */
static saltus_status add_unexpected(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                    const saltusi_step* s, const saltus_point* end, int i) {
  const saltus_system* sys = &s->eval->sys;
  const int key = w->list.key[i];
  const int count = saltusi_operator_rows(&w->op, &sys->laws[w->list.law[i]]);
  const double there = w->list.gap[i];
  int row = saltusi_operator_look(&w->op, sys, end, key, count);
  if (there > -left_over(w, o, s, row)) {
    return SALTUS_OK;
  }
  const saltus_point start = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltus_status status = SALTUS_OK;
  double here = 0.0;
  if (sys->ops->gaps != NULL) {
    status = sys->ops->gaps(sys->self, &start, 1, &w->list.identity[i], &here);
  }
  if (here > 0.0 && isfinite(here)) {
    row = saltusi_operator_look(&w->op, sys, &start, key, count);
  }
  const double b = w->op.rows.b[row];
  const double u0 = saltusi_row_dot(&w->op.rows, row, s->v0) + b;
  const double u1 = saltusi_row_dot(&w->op.rows, row, s->v1) + b;
  const double way = s->h * ((1.0 - o->theta) * u0 + o->theta * u1);
  if (!(here > 0.0 && here + way < 0.0)) {
    here = there - way;
  }
  w->list.gap[i] = here;
  row = w->op.count;
  activate_near(w, o, s, i, false, pushed_by(w, row));
  w->list.gap[i] = there;
  s->contacts[w->op.contacts - 1].gap = fmax(here, 0.0); /* not listed there: not closed */
  for (; row < w->op.count; row++) { /* the impulses of the others were computed without it */
    w->op.P[row] = 0.0;
    w->held[row] = 0.0;
  }
  return status;
}

saltus_status saltusi_moreau_find_speculative(saltusi_moreau* w,
                                              const saltus_moreau_jean_options* o,
                                              const saltusi_step* s, bool* any) {
  assert(w != NULL && o != NULL && s != NULL && any != NULL);
  const saltus_system* sys = &s->eval->sys;
  const saltus_dims* d = &sys->dims;
  const int before = w->op.contacts;
  saltusi_mean(d->nv, 1.0 - o->theta, s->v0, o->theta, s->v1, w->v_end);
  saltusi_advance(sys, s->q0, w->v_end, s->h, w->q_end);
  /* the same list as at the start of the next step, which reuses it; the velocity change by forces
   * is part of both */
  memcpy(w->v_end, s->v1, (size_t)d->nv * sizeof(double));
  const saltus_point end = saltusi_at(s->eval, s->t + s->h, w->q_end, w->v_end);
  saltus_status status = saltusi_contacts(sys, &end, &w->list);
  for (int i = 0; i < before; i++) {
    w->taken[s->contacts[i].key] = i + 1;
  }
  *any = false;
  w->op.count =
      w->op.first[before]; /* rows of joint Coulomb friction follow those of all contacts */
  for (int i = 0; status == SALTUS_OK && i < w->list.count; i++) {
    const int taken = w->taken[w->list.key[i]];
    if (!(w->list.gap[i] < 0.0)) {
      continue;
    }
    if (taken > 0) {
      *any = bend(w, o, s, &end, taken - 1, w->list.gap[i]) || *any;
    } else if (taken == 0) {
      status = add_unexpected(w, o, s, &end, i);
    }
  }
  const saltus_point start = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltusi_operator_take_dry(&w->op, sys, &start);
  w->rows = w->op.count;
  s->report->active = w->op.contacts;
  *any = *any || w->op.contacts > before;
  return status;
}

bool saltusi_moreau_impacted(const saltusi_moreau* w, const saltusi_step* s) {
  assert(w != NULL && s != NULL);
  bool any = false;
  for (int i = 0; i < s->report->active && !any; i++) {
    any = s->contacts[i].impact &&
          s->contacts[i].u_before < -SALTUSI_IMPACT_VELOCITY * pushed_by(w, w->op.first[i]);
  }
  return any;
}
