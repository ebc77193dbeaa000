/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * target.c - what a row follows: a signal, or the integral of a speed.
 *
 * The integral is a function of time alone, so that a joint that is driven by speed is as holonomic as any other:
 * nothing is carried from step to step. Callbacks that do not know their integral are integrated from the start
 * each time, by Gauss' and Kronrod's rules with 7 and 15 points (Piessens et al., QUADPACK, 1983) on pieces that
 * are halved until both agree.
 */
#include "body/mechanism.h"

#include <assert.h>
#include <float.h>

static const double node[8] = {
    0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
    0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
    0.586087235467691130294144691764735, 0.405845151377397166906606412076961,
    0.207784955007898467600689403773245, 0.0};
static const double kronrod[8] = {
    0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
    0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
    0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
    0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
static const double gauss[4] = {
    0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
    0.381830050505118944950369775488975, 0.417959183673469387755102040816327};

/* Both rules on a piece: the better one, and how far they are apart. */
static double rule(const saltus_signal* s, double a, double b, double* apart, double* size) {
  const double middle = 0.5 * (a + b), half = 0.5 * (b - a);
  double fine = 0.0, coarse = 0.0, sum = 0.0;
  for (int k = 0; k < 8; k++) {
    for (int side = k < 7 ? -1 : 1; side <= 1; side += 2) {
      double out[3];
      s->evaluate(s->self, middle + side * half * node[k], out);
      fine += kronrod[k] * out[0];
      coarse += k % 2 == 1 ? gauss[k / 2] * out[0] : 0.0;
      sum += kronrod[k] * fabs(out[0]);
    }
  }
  *apart = fabs(half * (fine - coarse));
  *size = fabs(half) * sum;
  return half * fine;
}

/* Pieces of a range, each half as long as the one before it: jumps are cut out to 2^-40 of it. */
enum { PIECES = 40 };

static double integrate(const saltus_signal* s, double t0, double t1) {
  double end[PIECES + 1];
  int pieces = 1;
  double from = t0, total = 0.0;
  end[0] = t1;
  while (pieces > 0) {
    double apart, size;
    const double to = end[pieces - 1];
    const double value = rule(s, from, to, &apart, &size);
    /* the coarse rule is that far off; the fine one by much less */
    if (pieces == PIECES || !(apart > 64.0 * DBL_EPSILON * size)) {
      total += value;
      from = to;
      pieces--;
    } else {
      end[pieces++] = 0.5 * (from + to);
    }
  }
  return total;
}

void saltusi_target_at(const saltus_mechanism* m, const saltusi_row* row, double t, double out[3]) {
  assert(m != NULL && row != NULL && out != NULL);
  saltusi_signal_at(m, &row->target, t, out);
  if (!row->by_speed) {
    return;
  }
  const saltus_signal* s = &row->target.given;
  out[2] = out[1];
  out[1] = out[0];
  out[0] = s->evaluate == NULL   ? s->value * (t - m->t0)
           : s->integral != NULL ? s->integral(s->self, m->t0, t)
                                 : integrate(s, m->t0, t);
}
