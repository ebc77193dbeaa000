/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_ode.c - see adversarial_ode.h.
 */
#include "adversarial_ode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef root_real real;

enum { ROWS = 8 };

/* One step of length h from a node: rows with 2, 4, ..., 16 substeps, extrapolated in h^2. */
static void step(const ode_system* sys, const ode_node* from, real h, real* y) {
  real T[ROWS][ODE_WIDTH];
  for (int row = 0; row < ROWS; row++) {
    int count = 2 * (row + 1);
    real d = h / count;
    real a[ODE_WIDTH];
    real b[ODE_WIDTH];
    real f[ODE_WIDTH];
    memcpy(a, from->y, sizeof a);
    sys->rate(sys->who, from->above, from->t, a, f);
    for (int i = 0; i < sys->n; i++) {
      b[i] = a[i] + d * f[i];
    }
    for (int k = 1; k < count; k++) {
      sys->rate(sys->who, from->above, from->t + k * d, b, f);
      for (int i = 0; i < sys->n; i++) {
        real c = a[i] + 2.0L * d * f[i];
        a[i] = b[i];
        b[i] = c;
      }
    }
    sys->rate(sys->who, from->above, from->t + h, b, f);
    for (int i = 0; i < sys->n; i++) {
      T[row][i] = (b[i] + a[i] + d * f[i]) / 2.0L;
    }
  }
  /* Aitken and Neville over the nodes (h/n_k)^2 */
  for (int i = 0; i < sys->n; i++) {
    for (int m = 1; m < ROWS; m++) {
      for (int k = ROWS - 1; k >= m; k--) {
        real ratio = (real)(k + 1) / (k + 1 - m);
        T[k][i] += (T[k][i] - T[k - 1][i]) / (ratio * ratio - 1.0L);
      }
    }
    y[i] = T[ROWS - 1][i];
  }
}

static real gap_after(const ode_system* sys, const ode_node* from, int contact, real s) {
  real y[ODE_WIDTH];
  step(sys, from, s, y);
  return sys->gap(sys->who, contact, from->t + s, y);
}

static real rate_after(const ode_system* sys, const ode_node* from, int contact, real s) {
  real y[ODE_WIDTH];
  step(sys, from, s, y);
  return sys->gap_rate(sys->who, contact, from->t + s, y);
}

/* The first s in (0, h] where the gap closes; h is short against the time scales of the motion, so that
 * a gap has at most one minimum in it. */
static bool closes(const ode_system* sys, const ode_node* from, int contact, const real* end,
                   real h, real* root) {
  real low = 0.0L;
  real high = h;
  real start = sys->gap_rate(sys->who, contact, from->t, from->y);
  if (sys->gap(sys->who, contact, from->t + h, end) > 0.0L) {
    if (start >= 0.0L || sys->gap_rate(sys->who, contact, from->t + h, end) <= 0.0L) {
      return false;
    }
    real a = 0.0L; /* the minimum */
    real b = h;
    for (int k = 0; k < 70; k++) {
      real m = (a + b) / 2.0L;
      if (rate_after(sys, from, contact, m) < 0.0L) {
        a = m;
      } else {
        b = m;
      }
    }
    if (gap_after(sys, from, contact, b) > 0.0L) {
      return false;
    }
    high = b;
  }
  if (start > 0.0L) { /* starts at zero: where it is in the air */
    low = high;
    for (int k = 0; k < 80 && gap_after(sys, from, contact, low) <= 0.0L; k++) {
      low /= 2.0L;
    }
  }
  for (int k = 0; k < 100; k++) {
    real m = (low + high) / 2.0L;
    if (m <= low || m >= high) {
      break;
    }
    if (gap_after(sys, from, contact, m) > 0.0L) {
      low = m;
    } else {
      high = m;
    }
  }
  *root = high;
  return true;
}

static bool crosses(const ode_system* sys, const ode_node* from, int k, const real* end, real h,
                    real* root) {
  real y[ODE_WIDTH];
  real sign = from->above[k] ? 1.0L : -1.0L;
  real low = 0.0L;
  real high = h;
  if (sign * sys->side(sys->who, k, end) >= 0.0L) {
    return false;
  }
  for (int i = 0; i < 100; i++) {
    real m = (low + high) / 2.0L;
    step(sys, from, m, y);
    if (sign * sys->side(sys->who, k, y) >= 0.0L) {
      low = m;
    } else {
      high = m;
    }
  }
  *root = high;
  return true;
}

/* Relative acceleration of a contact that has just been left. */
static real gap_bend(const ode_system* sys, const ode_node* from, int contact) {
  real s = 1e-6L;
  return (rate_after(sys, from, contact, s) - rate_after(sys, from, contact, 0.0L)) / s;
}

void ode_follow(const ode_system* sys, root_real t_end, ode_motion* motion) {
  ode_node node = {0};
  for (int i = 0; i < sys->n; i++) {
    node.y[i] = sys->y[i];
  }
  for (int k = 0; k < sys->switch_count; k++) {
    node.above[k] = sys->side(sys->who, k, node.y) > 0.0L;
  }
  motion->node_count = motion->impact_count = 0;
  motion->t_end = t_end;
  motion->lost = false;
  motion->settle = 0.0L;
  motion->nodes[motion->node_count++] = node;
  while (node.t < t_end && motion->node_count < ODE_NODES && motion->impact_count < ODE_IMPACTS) {
    real h = fminl(sys->step, t_end - node.t);
    int hit = -1;
    int crossed = -1;
    real y[ODE_WIDTH] = {0};
    step(sys, &node, h, y);
    for (int c = 0; c < sys->contact_count; c++) {
      if (closes(sys, &node, c, y, h, &h)) {
        hit = c;
        step(sys, &node, h, y);
      }
    }
    for (int k = 0; k < sys->switch_count; k++) {
      if (crosses(sys, &node, k, y, h, &h)) {
        crossed = k;
        step(sys, &node, h, y);
      }
    }
    memcpy(node.y, y, sizeof y);
    node.t += h;
    if (crossed >= 0) {
      node.above[crossed] = !node.above[crossed];
    } else if (hit >= 0) {
      real before = sys->gap_rate(sys->who, hit, node.t, node.y);
      motion->impacts[motion->impact_count++] = (ode_impact){node.t, before, hit};
      sys->impact(sys->who, hit, node.t, node.y);
      real after = sys->gap_rate(sys->who, hit, node.t, node.y);
      if (after < 1e-6L) { /* followed no further */
        real bend = gap_bend(sys, &node, hit);
        motion->settle =
            bend < 0.0L ? node.t - 2.0L * after / (bend * (1.0L - sys->restitution)) : node.t;
        motion->lost = !sys->rests;
        motion->t_end = sys->rests ? t_end : node.t;
        memset(node.y + sys->n / 2, 0, (size_t)(sys->n - sys->n / 2) * sizeof *node.y);
        motion->nodes[motion->node_count++] = node;
        break;
      }
    }
    motion->nodes[motion->node_count++] = node;
  }
}

void ode_at(const ode_system* sys, const ode_motion* motion, root_real t, root_real* y) {
  int low = 0;
  int high = motion->node_count;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (motion->nodes[middle].t <= t) {
      low = middle;
    } else {
      high = middle;
    }
  }
  if (low == motion->node_count - 1 && motion->settle > 0.0L) {
    memcpy(y, motion->nodes[low].y, (size_t)sys->n * sizeof *y);
  } else {
    step(sys, &motion->nodes[low], t - motion->nodes[low].t, y);
  }
}

bool ode_motion_create(ode_motion* motion) {
  *motion = (ode_motion){.nodes = malloc(ODE_NODES * sizeof(ode_node)),
                         .impacts = malloc(ODE_IMPACTS * sizeof(ode_impact))};
  return motion->nodes != NULL && motion->impacts != NULL;
}

void ode_motion_destroy(ode_motion* motion) {
  free(motion->nodes);
  free(motion->impacts);
  *motion = (ode_motion){0};
}
