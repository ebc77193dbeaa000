/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impact_laws.c - impacts by the laws of src/law, island by island: W = G^T P G of the contacts with impacts, P =
 * M^-1 with joints eliminated. Their workspace is allocated at the first such impact.
 */
#include "adaptive/mode/decide.h"
#include "base/log.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

void saltusi_decide_laws_layout(saltusi_decision* d, const saltusi_layout_tables* o,
                                const saltusi_step_capacity* room, saltus_arena* arena) {
  assert(d != NULL && o != NULL && room != NULL && arena != NULL);
  size_t most = saltusi_capacity_of(room, SALTUSI_CAPACITY_LAWS, 0);
  int contacts = most < (size_t)o->nc ? (int)most : o->nc;
  d->laws = NULL;
  if (contacts == 0) {
    return;
  }
  int rows = contacts * (1 + o->tangents_max);
  saltusi_impacted counted = {0};
  saltusi_impacted* s = SALTUS_PUSH(arena, saltusi_impacted, 1);
  d->laws = s;
  s = s != NULL ? s : &counted;
  s->contact = SALTUS_PUSH(arena, saltus_impact_contact, contacts);
  s->key = SALTUS_PUSH(arena, int, contacts);
  s->row = SALTUS_PUSH(arena, int, rows);
  s->W = SALTUS_PUSH2(arena, double, rows, rows);
  s->u = SALTUS_PUSH(arena, double, rows);
  s->P = SALTUS_PUSH(arena, double, rows);
  s->u_after = SALTUS_PUSH(arena, double, rows);
  s->X = SALTUS_PUSH2(arena, double, rows, o->nv);
  saltusi_laws_layout(&s->laws, contacts, rows, arena);
}

/* The contacts of an island, their rows, and the effect of each row. */
static saltus_impact gather(saltusi_decision* d, const saltusi_island* in, int island) {
  saltusi_impacted* s = d->laws;
  int count = 0;
  int rows = 0;
  for (int i = in->first; i < in->first + in->n; i++) {
    int key = d->mode->reduced.key[i];
    if (key < 0 || saltusi_is_dry(d->o, key)) {
      continue;
    }
    const saltus_contact_law* law = d->o->law[key];
    s->key[count] = key;
    s->contact[count++] =
        (saltus_impact_contact){.name = saltusi_contact_name(d->o, key),
                                .tangents = law->tangents,
                                .mu = saltus_contact_impact_mu(law),
                                .e_N = law->e_N,
                                .e_T = law->e_T,
                                .stiffness = law->stiffness,
                                .impact = law->impact,
                                .own = law->own,
                                .struck = !saltusi_is_closed(&d->contact[key]),
                                .law = (int)(law - d->mode->sys->laws),
                                .friction = law->impact_mu != 0.0 ? NULL : law->friction};
    for (int k = 0; k <= law->tangents; k++, rows++) {
      s->row[rows] = d->o->nj + d->o->base[key] + k;
      s->u[rows] = d->u_before[d->o->base[key] + k];
      saltusi_reduced_response(d->mode, island, s->row[rows], s->X + (size_t)rows * (size_t)in->k);
    }
  }
  for (int a = 0; a < rows; a++) {
    for (int b = 0; b <= a; b++) {
      double w = saltusi_island_dot(in, &d->mode->row, s->row[a], s->X + (size_t)b * (size_t)in->k);
      s->W[(size_t)a * (size_t)rows + (size_t)b] = s->W[(size_t)b * (size_t)rows + (size_t)a] = w;
    }
  }
  return (saltus_impact){.count = count,
                         .rows = rows,
                         .contact = s->contact,
                         .W = s->W,
                         .u = s->u,
                         .rounding = 64.0 * DBL_EPSILON * d->memory->v_max};
}

static void scatter(saltusi_decision* d, const saltusi_island* in, const saltus_impact* impact,
                    double* v) {
  saltusi_impacted* s = d->laws;
  for (int r = 0; r < impact->rows; r++) {
    saltusi_island_scatter(in, s->P[r], s->X + (size_t)r * (size_t)in->k, v);
    d->impulse[s->row[r] - d->o->nj] = s->P[r];
  }
}

static int largest_island(saltusi_decision* d) {
  int most = 0;
  for (int c = 0; c < saltusi_reduced_islands(d->mode); c++) {
    saltusi_island in = saltusi_reduced_island(d->mode, c);
    int count = 0;
    for (int i = in.first; i < in.first + in.n; i++) {
      count += d->mode->reduced.key[i] >= 0;
    }
    most = count > most ? count : most;
  }
  return most;
}

saltus_status saltusi_law_impact(saltusi_decision* d, double* v, const saltus_impacts* rule,
                                 saltusi_verdict* verdict) {
  assert(d != NULL && v != NULL && verdict != NULL);
  int most = largest_island(d);
  if (d->laws == NULL || most > d->laws->laws.contacts_max) {
    return saltusi_capacity_lacks(&d->mode->eval->room, SALTUSI_CAPACITY_LAWS, (size_t)most);
  }
  saltus_status status = SALTUS_OK;
  memset(d->impulse, 0, (size_t)d->o->nl * sizeof(double));
  memset(d->joint_impulse, 0, (size_t)d->o->nj * sizeof(double));
  for (int c = 0; c < saltusi_reduced_islands(d->mode) && status == SALTUS_OK; c++) {
    saltusi_island in = saltusi_reduced_island(d->mode, c);
    const saltus_impact impact = gather(d, &in, c);
    if (impact.count == 0) {
      continue;
    }
    saltus_impact_result result = {.P = d->laws->P, .u = d->laws->u_after};
    status = saltusi_impact_solve(&d->laws->laws, rule, &impact, d->log, &result);
    d->mode->counts->decisions++;
    d->mode->eval->work.contact_solves++;
    for (int i = 0; i < impact.count; i++) {
      saltusi_effort_tell(d->mode->eval, d->laws->key[i], 1);
    }
    if (status != SALTUS_OK) {
      break;
    }
    scatter(d, &in, &impact, v);
    verdict->replaced = verdict->replaced || result.replaced || result.unfinished;
    if (result.giver >= 0) {
      verdict->contact = d->laws->key[result.giver];
      verdict->of_law += result.of_law;
      verdict->gain += fmax(result.gain, 0.0);
    }
  }
  return status;
}
