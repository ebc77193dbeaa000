/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_projected.c - Moreau's scheme with a projection of positions (Acary 2009, equation (19);
 * docs/theory/projected.md, 2.2).
 *
 *   step          as moreau-jean
 *   activation    a contact outside the forecast with g(q_{k+1}) < 0 joins it; the step is redone
 *   projection    q_{k+1} <- q_{k+1} + M^-1 G lambda,  0 <= g + G^T M^-1 G lambda  perp  lambda >= 0
 *
 * As printed, with the forecast alone, the scheme never comes to rest: the projection opens the contact beyond the
 * forecast, gravity closes it again, and the velocity cycles with amplitude h |f| (option activation=forecast). With
 * the implicit activation it rests.
 */
#include "math/matrix.h"
#include "scheme/moreau/moreau_step.h"

#include <float.h>
#include <string.h>

typedef struct moreau_projected_work {
  saltusi_moreau moreau;
  saltusi_linear mass;
  saltusi_operator op; /* of the projection */
  double* shift;       /* [nv] */
  double* q;           /* [nq] */
} moreau_projected_work;

enum { IMPLICIT, FORECAST };
enum { PROJECTIONS_MAX = 20 };

static const char* const activation_names[] = {"implicit", "forecast", NULL};

static const saltus_field fields[] = {
    SALTUSI_THETA_FIELDS(saltus_moreau_projected_options),
    SALTUS_CHOICE(saltus_moreau_projected_options, activation, IMPLICIT, FORECAST, activation_names,
                  "implicit: contacts that would penetrate join; forecast: as printed"),
    SALTUSI_NEWTON_FIELDS(saltus_moreau_projected_options, "velocity", 1e-13, 30),
    SALTUSI_CONTACT_FIELDS(saltus_moreau_projected_options),
};

#define TABLE SALTUSI_TABLE(saltus_moreau_projected_options, fields)

SALTUSI_DEFAULTS(saltus_moreau_projected_options, saltus_moreau_projected_options_default, fields)

SALTUSI_WARM_MEMORY(saltus_moreau_projected_options)

static void layout(void* work_, const void* options, const saltusi_eval* eval,
                   saltus_arena* arena) {
  const saltus_system* sys = &eval->sys;
  const saltus_moreau_projected_options* o = options;
  moreau_projected_work* w = work_;
  saltusi_moreau_layout(&w->moreau, o->warm_start, eval, arena);
  saltusi_linear_layout(&w->mass, sys, arena);
  saltusi_operator_layout(&w->op, eval, &(saltusi_demand){0}, arena);
  w->shift = SALTUS_PUSH(arena, double, sys->dims.nv);
  w->q = SALTUS_PUSH(arena, double, sys->dims.nq);
}

static bool is_active(const saltusi_step* s, int key) {
  for (int i = 0; i < s->report->active; i++) {
    if (s->contacts[i].key == key) {
      return true;
    }
  }
  return false;
}

/* Activates every contact that the step would drive into penetration; true when there was one. */
static saltus_status force_penetrating(moreau_projected_work* w, const saltusi_step* s,
                                       bool* found) {
  saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  saltusi_contact_list* list = &w->moreau.list;
  saltus_status status = saltusi_contacts(&s->eval->sys, &at, list);
  *found = false;
  for (int i = 0; status == SALTUS_OK && i < list->count; i++) {
    int key = list->key[i];
    if (list->gap[i] < 0.0 && !w->moreau.forced[key] && !is_active(s, key)) {
      w->moreau.forced[key] = true;
      *found = true;
    }
  }
  return status;
}

/* Projects q1 out of penetration, and onto the joints, along M^-1 G. */
static saltus_status project(moreau_projected_work* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  int nv = sys->dims.nv;
  int nj = sys->dims.nj;
  saltusi_contact_list* list = &w->moreau.list;
  saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  for (int k = 0; k < PROJECTIONS_MAX; k++) {
    saltus_status status = saltusi_contacts(sys, &at, list);
    if (status == SALTUS_OK && nj > 0) {
      sys->ops->joints(sys->self, &at, w->op.rhs);
    }
    double worst = nj > 0 ? saltusi_max_abs(nj, w->op.rhs) : 0.0;
    saltusi_operator_begin(&w->op, nj);
    for (int i = 0; status == SALTUS_OK && i < list->count; i++) {
      if (list->gap[i] < 0.0) {
        worst = fmax(worst, -list->gap[i]);
        w->op.rhs[saltusi_operator_look(&w->op, sys, &at, list->key[i], 1)] = list->gap[i];
        saltusi_operator_take(&w->op, 1, 0.0);
      }
    }
    double size = fmax(1.0, saltusi_max_abs(sys->dims.nq, s->q1));
    if (status != SALTUS_OK || worst <= 16.0 * DBL_EPSILON * size) {
      return status;
    }
    saltusi_rows_joints(sys, &at, &w->op.rows);
    status = saltusi_linear_assemble(s->eval, &w->mass, &at, 1.0, 0.0, 0.0);
    if (status == SALTUS_OK) {
      saltusi_operator_form(&w->op, s->eval, &w->mass);
      status = saltusi_operator_solve(&w->op, s->eval);
    }
    if (status != SALTUS_OK) {
      return status;
    }
    memset(w->shift, 0, (size_t)nv * sizeof(double));
    saltusi_operator_apply(&w->op, s->eval, w->shift);
    saltusi_advance(sys, s->q1, w->shift, 1.0, w->q);
    double moved = 0.0;
    for (int i = 0; i < sys->dims.nq; i++) {
      moved = fmax(moved, fabs(w->q[i] - s->q1[i]));
    }
    s->report->projection += moved;
    memcpy(s->q1, w->q, (size_t)sys->dims.nq * sizeof(double));
  }
  return SALTUS_OK; /* the remainder is rounding of the gaps */
}

static saltus_status step(void* work_, const void* options, const saltusi_step* s) {
  moreau_projected_work* w = work_;
  const saltus_moreau_projected_options* o = options;
  const saltus_moreau_jean_options moreau = {.theta = o->theta,
                                             .gamma = o->gamma,
                                             .jump = o->jump,
                                             .joints = o->joints,
                                             .newton_tol = o->newton_tol,
                                             .newton_max = o->newton_max,
                                             .warm_start = o->warm_start};
  int nc = s->eval->sys.dims.nc;
  memset(w->moreau.forced, 0, (size_t)nc * sizeof(bool));
  saltus_status status = SALTUS_OK;
  bool again = true;
  for (int k = 0; k <= nc && again && status == SALTUS_OK; k++) {
    again = false;
    status = w->moreau.take(&w->moreau, &moreau, s);
    if (status == SALTUS_OK && o->activation == IMPLICIT) {
      status = force_penetrating(w, s, &again);
    }
  }
  return status == SALTUS_OK ? project(w, s) : status;
}

const saltusi_scheme_ops saltusi_moreau_projected = {
    .info =
        {
            .name = "moreau-jean-projected",
            .summary = "Moreau-Jean with positions projected out of penetration, resting contacts",
            .source = "Acary 2009, equation (19), with implicit activation",
            .order = 1,
            .smooth_order = 2,
            .treats = SALTUSI_TREATS_STEPWISE | SALTUS_TREATS_MAPS | SALTUS_TREATS_VARIABLE_STEPS |
                      SALTUS_TREATS_FRICTION_LAWS,
            .options = TABLE,
        },
    SALTUSI_STEPS_BY(moreau_projected_work),
};
