/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * costs.c - see costs.h.
 */
#include "costs.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { DEAREST = 10 };

bool cli_costs_start(cli_costs* costs, const saltus_scene_view* view, double h) {
  costs->view = view;
  costs->h = h;
  costs->costs.kinds = costs->kinds;
  costs->costs.kind_room = COST_KINDS;
  costs->costs.bodies = calloc(COST_BODY_PAIRS, sizeof *costs->costs.bodies);
  costs->costs.body_room = COST_BODY_PAIRS;
  costs->efforts = calloc(COST_BODY_PAIRS, sizeof *costs->efforts);
  return costs->costs.bodies != NULL && costs->efforts != NULL;
}

void cli_costs_free(cli_costs* costs) {
  free(costs->costs.bodies);
  free(costs->efforts);
}

/* The world comes behind all bodies. */
static int by_bodies(const int a[2], const int b[2]) {
  const int second = (a[1] < 0) != (b[1] < 0) ? (a[1] < 0 ? 1 : -1) : a[1] - b[1];
  return a[0] != b[0] ? a[0] - b[0] : second;
}

/* Index of the effort of two bodies, or its insertion point. */
static int place_of(const cli_costs* c, const int bodies[2]) {
  int from = 0, to = c->effort_count;
  while (from < to) {
    const int middle = from + (to - from) / 2;
    const bool before = by_bodies(c->efforts[middle].bodies, bodies) < 0;
    from = before ? middle + 1 : from;
    to = before ? to : middle;
  }
  return from;
}

/* The effort of two bodies, initially 0; NULL: the table is full. */
static cli_effort* effort_of(cli_costs* c, const int bodies[2]) {
  const int at = place_of(c, bodies);
  if (at < c->effort_count && by_bodies(c->efforts[at].bodies, bodies) == 0) {
    return &c->efforts[at];
  }
  if (c->effort_count == COST_BODY_PAIRS) {
    return NULL;
  }
  memmove(c->efforts + at + 1, c->efforts + at,
          (size_t)(c->effort_count - at) * sizeof *c->efforts);
  c->effort_count++;
  c->efforts[at] = (cli_effort){.bodies = {bodies[0], bodies[1]}};
  return &c->efforts[at];
}

static void count_effort(void* user, uint64_t identity, long long iterations) {
  cli_costs* c = user;
  int bodies[2];
  cli_effort* effort = saltus_mechanism_contact_bodies(c->view->mechanism, identity, bodies)
                           ? effort_of(c, bodies)
                           : NULL;
  *(effort != NULL ? &effort->iterations : &c->others) += iterations;
}

/* Cost of shapes, sampled: the first sixteen steps, then sixteen of each doubling. */
static saltus_status count_step(void* user, double t, const double* q, const double* v) {
  enum { EACH = 16 };
  cli_costs* c = user;
  if (c->steps++ != c->next) {
    return SALTUS_OK;
  }
  const saltus_mechanism* m = c->view->mechanism;
  const saltus_dims* all = &c->view->bodies->dims;
  const saltus_dims* own = &saltus_mechanism_system(m)->dims;
  const long long weight = 1 + c->next / EACH;
  const bool flexible = c->view->flexible != NULL || c->view->tree != NULL;
  const saltus_point at = {.t = t,
                           .q = q + (all->nq - own->nq),
                           .v = flexible ? saltus_mechanism_v0(m) : v + (all->nv - own->nv)};
  c->next += weight;
  c->weights += (double)weight;
  return saltus_mechanism_costs(m, &at, c->h, (double)weight, &c->costs);
}

saltus_recorder cli_costs_recorder(cli_costs* costs) {
  return (saltus_recorder){.step = count_step,
                           .user = costs,
                           .contacts_unseen = 1,
                           .ledger_unseen = 1,
                           .effort = count_effort};
}

static int by_seconds(const void* a, const void* b) {
  const double x = ((const saltus_pair_cost*)a)->seconds, y = ((const saltus_pair_cost*)b)->seconds;
  return (x < y) - (x > y);
}

/* Two bodies with their parts of both kinds of work. */
typedef struct pair_parts {
  const saltus_body_cost* body;
  long long iterations;
  double finding, solving; /* 0..1 */
} pair_parts;

/* Most expensive first; equal ones in the order of bodies. */
static int by_parts(const void* a, const void* b) {
  const pair_parts *x = a, *y = b;
  const double dear[2] = {x->finding + x->solving, y->finding + y->solving};
  const int first = (dear[0] < dear[1]) - (dear[0] > dear[1]);
  return first != 0 ? first : by_bodies(x->body->bodies, y->body->bodies);
}

typedef struct cost_table {
  double finding;   /* s, in all */
  double solving;   /* contacts times iterations, in all */
  pair_parts* pair; /* [costs.body_count] malloc'd; NULL: no memory */
} cost_table;

/* A pair with contacts in a problem is listed, even if it was not near in a sampled step. */
static void add_missing(cli_costs* c) {
  saltus_costs* costs = &c->costs;
  int k = 0; /* both are in order */
  for (int i = 0; i < c->effort_count; i++) {
    while (k < costs->body_count && by_bodies(costs->bodies[k].bodies, c->efforts[i].bodies) < 0) {
      k++;
    }
    const bool there =
        k < costs->body_count && by_bodies(costs->bodies[k].bodies, c->efforts[i].bodies) == 0;
    if (!there && costs->body_count < costs->body_room) {
      memmove(costs->bodies + k + 1, costs->bodies + k,
              (size_t)(costs->body_count - k) * sizeof *costs->bodies);
      costs->bodies[k] =
          (saltus_body_cost){.bodies = {c->efforts[i].bodies[0], c->efforts[i].bodies[1]}};
      costs->body_count++;
    }
  }
}

/* Converts sums over the sampled steps to means per step, and to seconds of all steps. */
static double scale(cli_costs* c) {
  const double steps = (double)(c->steps - 1), weights = c->weights > 0.0 ? c->weights : 1.0;
  saltus_pair_cost* kind = c->costs.kinds;
  saltus_body_cost* body = c->costs.bodies;
  double all = 0.0;
  for (int i = 0; i < c->costs.kind_count; i++) {
    kind[i].pairs /= weights;
    kind[i].contacts /= weights;
    kind[i].seconds *= steps / weights;
    all += kind[i].seconds;
  }
  for (int i = 0; i < c->costs.body_count; i++) {
    body[i].pairs /= weights;
    body[i].contacts /= weights;
    body[i].seconds *= steps / weights;
  }
  return all;
}

static double part_of(double part, double all) {
  return all > 0.0 ? part / all : 0.0;
}

/* Most expensive kinds and bodies first. */
static cost_table tabulate(cli_costs* c) {
  add_missing(c);
  cost_table table = {.finding = scale(c), .solving = (double)c->others};
  const int count = c->costs.body_count;
  for (int i = 0; i < c->effort_count; i++) {
    table.solving += (double)c->efforts[i].iterations;
  }
  table.pair = count > 0 ? calloc((size_t)count, sizeof *table.pair) : NULL;
  for (int i = 0; i < count && table.pair != NULL; i++) {
    const saltus_body_cost* body = &c->costs.bodies[i];
    const int at = place_of(c, body->bodies);
    const bool solved = at < c->effort_count && by_bodies(c->efforts[at].bodies, body->bodies) == 0;
    const long long iterations = solved ? c->efforts[at].iterations : 0;
    table.pair[i] = (pair_parts){.body = body,
                                 .iterations = iterations,
                                 .finding = part_of(body->seconds, table.finding),
                                 .solving = part_of((double)iterations, table.solving)};
  }
  if (table.pair != NULL) {
    qsort(table.pair, (size_t)count, sizeof *table.pair, by_parts);
  }
  if (c->costs.kind_count > 0) {
    qsort(c->costs.kinds, (size_t)c->costs.kind_count, sizeof *c->costs.kinds, by_seconds);
  }
  return table;
}

static const char* body_name(const cli_costs* c, int body) {
  return body < 0 ? "world" : saltus_mechanism_body(c->view->mechanism, body).name;
}

static void print_bodies(const cli_costs* c, const cost_table* table) {
  const int count = table->pair != NULL ? c->costs.body_count : 0;
  const int shown = count < DEAREST ? count : DEAREST;
  if (count > 0) {
    printf("By pair of bodies, the most expensive %d of %d pairs%s: parts of finding contacts, and "
           "of contact "
           "problems (contacts times iterations, %.4g in all):\n",
           shown, count, count == c->costs.body_room ? " or more" : "", table->solving);
  }
  for (int i = 0; i < shown; i++) {
    const pair_parts* pair = &table->pair[i];
    printf("  %3.0f %%  %3.0f %%  %s and %s: %.4g contacts a step\n", 100.0 * pair->finding,
           100.0 * pair->solving, body_name(c, pair->body->bodies[0]),
           body_name(c, pair->body->bodies[1]), pair->body->contacts);
  }
  if (c->others > 0) {
    printf("         %3.0f %%  limits of joints, and contacts by formulas\n",
           100.0 * part_of((double)c->others, table->solving));
  }
}

void cli_costs_print(cli_costs* costs, double computing, const saltus_work* work) {
  cli_costs* c = costs;
  if (!c->wanted || c->view == NULL) {
    return;
  }
  const cost_table table = tabulate(c);
  printf("Finding contacts took about %.3g s of %.3g s; the rest is forces, %lld contact problem%s "
         "of %.4g "
         "iterations, and what is recorded:\n",
         table.finding, computing, work->contact_solves, cli_plural(work->contact_solves),
         work->contact_solves > 0 ? (double)work->contact_iterations / (double)work->contact_solves
                                  : 0.0);
  for (int i = 0; i < c->costs.kind_count; i++) {
    const saltus_pair_cost* kind = &c->costs.kinds[i];
    printf("  %3.0f %%  %s and %s: %.4g pairs near each other and %.4g contacts a step\n",
           100.0 * part_of(kind->seconds, table.finding), kind->kinds[0], kind->kinds[1],
           kind->pairs, kind->contacts);
  }
  print_bodies(c, &table);
  free(table.pair);
}

void cli_costs_json(json* out, cli_costs* costs) {
  cli_costs* c = costs;
  if (c->view == NULL) {
    return;
  }
  const cost_table table = tabulate(c);
  json_open(out, "costs", '[');
  for (int i = 0; i < c->costs.kind_count; i++) {
    json_open(out, NULL, '{');
    json_text(out, "first", c->costs.kinds[i].kinds[0]);
    json_text(out, "second", c->costs.kinds[i].kinds[1]);
    json_number(out, "pairs", c->costs.kinds[i].pairs);
    json_number(out, "contacts", c->costs.kinds[i].contacts);
    json_number(out, "seconds", c->costs.kinds[i].seconds);
    json_close(out, '}');
  }
  json_close(out, ']');
  json_open(out, "body_costs", '[');
  for (int i = 0; i < c->costs.body_count && table.pair != NULL; i++) {
    const pair_parts* pair = &table.pair[i];
    json_open(out, NULL, '{');
    json_text(out, "first", body_name(c, pair->body->bodies[0]));
    json_text(out, "second", body_name(c, pair->body->bodies[1]));
    json_number(out, "pairs", pair->body->pairs);
    json_number(out, "contacts", pair->body->contacts);
    json_number(out, "seconds", pair->body->seconds);
    json_integer(out, "iterations", pair->iterations);
    json_close(out, '}');
  }
  json_close(out, ']');
  json_integer(out, "other_iterations", c->others);
  free(table.pair);
}
