/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * costs.h - cost of a run by shapes and pairs of bodies, --costs: time of contact detection, measured in some steps,
 * and iterations of contact problems, counted in all steps.
 */
#ifndef CLI_COSTS_H
#define CLI_COSTS_H

#include "json.h"
#include "saltus/mechanism.h"
#include "saltus/run.h"

enum { COST_KINDS = 64, COST_BODY_PAIRS = 1 << 16 };

/* Contacts of two bodies in contact problems. */
typedef struct cli_effort {
  int bodies[2];        /* as in saltus_body_cost */
  long long iterations; /* of every problem, once for each contact in it */
} cli_effort;

typedef struct cli_costs {
  bool wanted;
  const saltus_scene_view* view;
  double h; /* s, step; 0: chosen */
  long long steps,
      next; /* so far, and the next sampled step, which represents those up to the one after it */
  double weights; /* of the sampled steps */
  saltus_pair_cost kinds[COST_KINDS];
  saltus_costs costs; /* bodies: malloc'd */
  cli_effort*
      efforts; /* [COST_BODY_PAIRS] malloc'd, the first effort_count of them, sorted by body numbers
      */
  int effort_count;
  long long
      others; /* iterations for contacts that are not of shapes, or of pairs beyond the capacity */
} cli_costs;

/* false: no memory. */
bool cli_costs_start(cli_costs* costs, const saltus_scene_view* view, double h);
saltus_recorder cli_costs_recorder(cli_costs* costs);
void cli_costs_free(cli_costs* costs);

/* Once, at the end of a run that took so many seconds. */
void cli_costs_print(cli_costs* costs, double computing, const saltus_work* work);
void cli_costs_json(json* out, cli_costs* costs);

#endif
