/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_polyhedral.c - friction with the polygon of `facets` directions in place of the disc, as a
 * mixed complementarity problem by Lemke's method (Stewart & Trinkle, IJNME 39 (1996) 2673-2691; see
 * polyhedral.h). In the plane that is Coulomb's law itself; in space slip is resisted along one or two
 * of the directions, so the exact law holds for sticking contacts and for those that slip along a
 * direction only. Both residuals are reported, and the exact one decides.
 *
 *   residual of the law   F_N = r_N - max(0, r_N - rho u_N)
 *                         F_T = r_T - P(r_T - rho u_T),   P onto the polygon of radius mu r_N
 */
#include "solve/friction/friction_polyhedral.h"

#include "solve/friction/friction_run.h"

#include <string.h>

static const double pi = 3.14159265358979323846;

/* Nearest point of the polygon with 2 pairs corners on the circle, in place. */
static void onto_polygon(int pairs, double radius, double x[2]) {
  double nearest[2] = {0.0, 0.0};
  double least = INFINITY;
  bool inside = radius > 0.0; /* without normal impulse the polygon is a point */
  for (int k = 0; k < 2 * pairs; k++) {
    double a[2] = {radius * cos(pi * k / pairs), radius * sin(pi * k / pairs)};
    double b[2] = {radius * cos(pi * (k + 1) / pairs), radius * sin(pi * (k + 1) / pairs)};
    double edge[2] = {b[0] - a[0], b[1] - a[1]};
    double from[2] = {x[0] - a[0], x[1] - a[1]};
    inside = inside && edge[0] * from[1] - edge[1] * from[0] >= 0.0;
    double length2 = edge[0] * edge[0] + edge[1] * edge[1];
    double t = length2 > 0.0 ? (edge[0] * from[0] + edge[1] * from[1]) / length2 : 0.0;
    t = t < 0.0 ? 0.0 : (t > 1.0 ? 1.0 : t);
    double to[2] = {from[0] - t * edge[0], from[1] - t * edge[1]};
    double distance2 = to[0] * to[0] + to[1] * to[1];
    if (distance2 < least) {
      least = distance2;
      nearest[0] = a[0] + t * edge[0];
      nearest[1] = a[1] + t * edge[1];
    }
  }
  if (!inside) {
    x[0] = nearest[0];
    x[1] = nearest[1];
  }
}

/* |F_i / rho|^2 of a contact */
static double miss2_of(int d, int pairs, double mu, double rho, const double* r, const double* u) {
  double normal = r[0] - rho * u[0];
  normal = normal > 0.0 ? normal : 0.0;
  double sum = (r[0] - normal) * (r[0] - normal);
  double radius = r[0] > 0.0 ? mu * r[0] : 0.0;
  if (d == 2) {
    double x = r[1] - rho * u[1];
    x = x > radius ? radius : (x < -radius ? -radius : x);
    sum += (r[1] - x) * (r[1] - x);
  } else if (d == 3) {
    double x[2] = {r[1] - rho * u[1], r[2] - rho * u[2]};
    onto_polygon(pairs, radius, x);
    sum += (r[1] - x[0]) * (r[1] - x[0]) + (r[2] - x[1]) * (r[2] - x[1]);
  }
  return sum / (rho * rho);
}

/* The residual of r by the law with 2 pairs directions of friction, normalised as the exact one; from
 * r alone. u [rows] is written. */
static double residual_of(const saltusi_friction_case* in, int pairs, const double* r, double* u) {
  const saltusi_friction_pattern* pattern = in->pattern;
  saltusi_friction_velocity(in, r, u);
  double sum = 0.0;
  for (int i = 0; i < pattern->units; i++) {
    const double* ui = u + pattern->offset[i];
    int d = saltusi_unit_rows(pattern, i);
    for (int k = 0; k < d && pattern->bilateral[i] != 0; k++) {
      sum += ui[k] * ui[k];
    }
    if (pattern->bilateral[i] == 0) {
      sum += miss2_of(d, pairs, in->mu[i], in->rho[i], r + pattern->offset[i], ui);
    }
  }
  return sqrt(sum) / in->velocity_unit;
}

static void layout(saltusi_friction_polyhedral* p, const saltusi_friction_pattern* pattern,
                   const saltusi_polyhedral_size* size, saltus_arena* arena) {
  saltusi_polyhedral_layout(&p->law, size, arena);
  p->place = SALTUS_PUSH(arena, int, pattern->rows);
}

static int pairs_of(const void* options) {
  const saltus_polyhedral_options* o = options;
  return (o->facets + 1) / 2;
}

/* Memory for the pattern; false if the number of unknowns exceeds the limit of Lemke's method. */
static bool reserve(saltusi_friction_work* work, const void* options) {
  saltusi_friction_polyhedral* p = &work->polyhedral;
  const saltusi_friction_pattern* pattern = &work->pattern;
  saltusi_polyhedral_size size = {.pairs = pairs_of(options), .most = SALTUSI_POLYHEDRAL_MAX};
  if (p->pairs == size.pairs) {
    return true;
  }
  double unknowns = 0.0;
  for (int i = 0; i < pattern->units; i++) {
    int rows = saltusi_unit_rows(pattern, i);
    if (pattern->bilateral[i] != 0) {
      size.joints += rows;
      continue;
    }
    size.contacts++;
    size.tangents = rows - 1 > size.tangents ? rows - 1 : size.tangents;
    unknowns += rows == 3 ? 2.0 * size.pairs + 2.0 : (rows == 2 ? 4.0 : 1.0);
  }
  if (unknowns + size.joints > size.most) {
    return false;
  }
  saltus_arena arena = saltus_arena_counting();
  layout(p, pattern, &size, &arena);
  if (saltusi_buffer_reserve(&p->memory, &work->memory, arena.used) != SALTUS_OK) {
    return false;
  }
  arena = saltus_arena_over(p->memory.block, p->memory.bytes);
  layout(p, pattern, &size, &arena);
  p->pairs = size.pairs;
  return true;
}

/* Maps rows to unknowns: joints first, then contacts. False: the capacity is exceeded. */
static bool place_rows(saltusi_friction_polyhedral* p, const saltusi_friction_case* in) {
  const saltusi_friction_pattern* pattern = in->pattern;
  int joints = 0;
  for (int i = 0; i < pattern->units; i++) {
    for (int a = pattern->offset[i]; a < pattern->offset[i + 1] && pattern->bilateral[i]; a++) {
      p->place[a] = joints++;
    }
  }
  saltusi_polyhedral_start(&p->law, joints, false);
  for (int i = 0; i < pattern->units; i++) {
    if (pattern->bilateral[i] != 0) {
      continue;
    }
    int d = saltusi_unit_rows(pattern, i);
    const saltusi_polyhedral_contact* contact =
        saltusi_polyhedral_add(&p->law, d - 1, d > 1 ? in->mu[i] : 0.0);
    if (contact == NULL) {
      return false;
    }
    for (int k = 0; k < d; k++) {
      p->place[pattern->offset[i] + k] = k <= contact->tangents ? contact->row + k : -1;
    }
  }
  return true;
}

/* Block (i, j) of W, without the tangents that are left out. */
static void put_block(saltusi_friction_polyhedral* p, const saltusi_friction_pattern* pattern,
                      int i, int j, const double* value) {
  size_t n = (size_t)p->law.rows;
  for (int a = pattern->offset[i]; a < pattern->offset[i + 1]; a++) {
    for (int b = pattern->offset[j]; b < pattern->offset[j + 1]; b++, value++) {
      if (p->place[a] >= 0 && p->place[b] >= 0) {
        p->law.W[(size_t)p->place[a] * n + (size_t)p->place[b]] = *value;
      }
    }
  }
}

static void fill(saltusi_friction_polyhedral* p, const saltusi_friction_case* in) {
  const saltusi_friction_pattern* pattern = in->pattern;
  size_t n = (size_t)p->law.rows;
  memset(p->law.W, 0, n * n * sizeof(double));
  for (int i = 0; i < pattern->units; i++) {
    for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
      put_block(p, pattern, i, pattern->unit[e], in->values + pattern->place[e]);
    }
  }
  for (int a = 0; a < pattern->rows; a++) {
    if (p->place[a] >= 0) {
      p->law.rate[p->place[a]] = in->q[a];
    }
  }
}

/* Solves the complementarity problem into work->point; false: no solution was found. */
static bool find_answer(saltusi_friction_work* work, int* pivots) {
  saltusi_friction_polyhedral* p = &work->polyhedral;
  fill(p, &work->given);
  saltus_status status = saltusi_polyhedral_solve(&p->law);
  *pivots = p->law.pivots;
  if (status == SALTUS_ERR_SINGULAR) { /* linearly dependent bilateral rows */
    p->law.keep_joints = true;
    status = saltusi_polyhedral_solve(&p->law);
    *pivots += p->law.pivots;
  }
  for (int a = 0; a < work->pattern.rows && status == SALTUS_OK; a++) {
    work->point[a] = p->place[a] >= 0 ? p->law.P[p->place[a]] : 0.0;
  }
  return status == SALTUS_OK;
}

static void solve(saltusi_friction_run* run) {
  saltusi_friction_work* work = run->work;
  int pivots = 0;
  double residual = INFINITY;
  if (reserve(work, run->options) && place_rows(&work->polyhedral, &work->given) &&
      find_answer(work, &pivots)) {
    residual = saltusi_friction_case_residual(&work->given, work->point, work->sweep.u).normalised;
    run->best =
        INFINITY; /* the solution of this law, even if the initial point satisfies the exact one */
  }
  saltusi_run_note(run, "polyhedral", (saltusi_stage){pivots, residual});
  run->result->polyhedral =
      residual_of(&work->given, pairs_of(run->options), work->best, work->sweep.u);
}

static const saltus_field fields[] = {
    SALTUS_INT(saltus_polyhedral_options, facets, 8, 4, 2 * SALTUSI_DIRECTION_PAIRS_MAX,
               "directions of friction in space, in opposite pairs"),
};

const saltusi_friction_ops saltusi_friction_polyhedral_solver = {
    .info = {.name = "polyhedral",
             .summary = "friction discs as polygons, by Lemke's method; exact in the plane",
             .source = "Stewart & Trinkle, IJNME 39 (1996) 2673-2691",
             .options = {fields, sizeof fields / sizeof *fields,
                         sizeof(saltus_polyhedral_options)}},
    .reserve = reserve,
    .solve = solve,
};
