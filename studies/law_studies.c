/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law_studies.c - impact laws on configurations with known answers (law_cases.c), the regions of Wang and Mason against the
 * phases of random impacts, and who creates energy.
 */
#include "law_cases.h"
#include "law_figures.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PHASES = 3000, PLANE = 100000, SPACE = 20000, SEARCH = 3000 };

static const double* pick(const impact_outcome* out, char what) {
  return what == 'v' ? out->v : what == 'u' ? out->u : what == 'P' ? out->P : &out->change;
}

static void claim_case(study_report* report, const law_case* of) {
  impact_case c = of->build(of->p);
  const double own[2] = {c.contact[0].e_N, c.contact[1].e_N};
  impact_case_set(&c, of->law, of->mu, fmax(of->e_N, 0.0), of->e_T);
  for (int i = 0; of->e_N < 0.0 && i < 2; i++) {
    c.contact[i].e_N = own[i];
  }
  impact_outcome out = impact_case_solve(&c, &of->rule);
  double worst = out.status == SALTUS_OK ? 0.0 : INFINITY;
  for (int i = 0; i < of->count; i++) {
    worst = fmax(worst, fabs(pick(&out, of->what)[i] - of->values[i]));
  }
  study_claim_error(report, of->label, worst, of->accuracy);
}

static int run_table(const cli_args* args, study_report* report) {
  (void)args;
  int found = 0;
  for (int i = 0; law_case_at(i) != NULL; i++) {
    if (strcmp(law_case_at(i)->study, report->study) == 0) {
      claim_case(report, law_case_at(i));
      found++;
    }
  }
  return found > 0 ? CLI_DONE : CLI_FAILED;
}

/* The three parts of Newton's gain, and where a cap ends. */
static int run_kane(const cli_args* args, study_report* report) {
  int code = run_table(args, report);
  impact_case c = impact_kane();
  impact_outcome out = impact_case_solve(&c, NULL);
  study_claim_error(report, "Newton: normals", fabs(out.result.normal + 0.018451129247), 1.5e-12);
  study_claim_error(report, "Newton: friction against the last slip",
                    fabs(out.result.end_slip + 0.002026952517), 1.5e-12);
  study_claim_error(report, "Newton: friction along the first slip",
                    fabs(out.result.first_slip - 0.061221986318), 1.5e-12);
  study_claim_range(report, "Newton: the gain is flagged", out.result.giver >= 0, 1.0, 1.0);
  out = impact_case_solve(&c, &(saltus_impacts){.energy = SALTUS_GAIN_CAP});
  study_claim_error(report, "capped e", fabs(0.7 * out.result.part - 0.3968385591), 1e-10);
  out = impact_case_solve(&c, &(saltus_impacts){.energy = SALTUS_GAIN_STOP});
  study_claim_range(report, "stop ends with an error", out.status == SALTUS_ERR_LAW, 1.0, 1.0);
  return code;
}

/* Whether the phases are those of the region. */
static bool is_region(const char* region, bool jam, const saltus_impact_result* r) {
  saltus_impact_motion last = r->phase[r->phase_count - 1].motion;
  bool jams = r->phase[0].motion == SALTUS_MOTION_JAM;
  if (strcmp(region, "slide") == 0) {
    return last == SALTUS_MOTION_SLIP && jams == jam;
  }
  saltus_impact_motion expected =
      strstr(region, "stick") != NULL ? SALTUS_MOTION_STICK : SALTUS_MOTION_REVERSE;
  return last == expected && jams == jam && r->phase[1].compression == (region[0] == 'C');
}

static int run_regions(const cli_args* args, study_report* report) {
  static const char* const names[] = {"slide", "C-stick", "C-reverse", "R-stick", "R-reverse"};
  int counts[5] = {0};
  int wrong = 0;
  uint64_t seed = 5;
  int code = run_table(args, report);
  for (int k = 0; k < PHASES; k++) {
    impact_case c = impact_random(&seed, 2);
    c.contact[0].e_N = 0.05 + 0.95 * c.contact[0].e_N;
    bool jam = false;
    const char* region = saltus_impact_region(c.W, c.u, c.contact[0].mu, c.contact[0].e_N, &jam);
    impact_outcome out = impact_case_solve(&c, NULL);
    wrong += out.status != SALTUS_OK || !is_region(region, jam, &out.result);
    for (int i = 0; i < 5; i++) {
      counts[i] += strcmp(region, names[i]) == 0;
    }
  }
  study_claim_range(report, "random impacts whose phases are not those of their region", wrong, 0.0,
                    0.0);
  for (int i = 0; i < 5; i++) {
    char id[64];
    snprintf(id, sizeof id, "random impacts in region %s", names[i]);
    study_claim_range(report, id, counts[i], 20.0, PHASES);
  }
  return code;
}

/* The largest (T+ - T-) / T- over a number of random impacts by a law; e_T < -1: that of e_N. */
static double worst_gain(saltus_impact_law law, int d, int count, double e_T, int* gains) {
  uint64_t seed = 20260000u + (uint64_t)(10 * (int)law + d);
  double worst = -INFINITY;
  *gains = 0;
  for (int k = 0; k < count; k++) {
    impact_case c = impact_random(&seed, d);
    c.contact[0].impact = law;
    c.contact[0].e_T = e_T < -1.0 ? c.contact[0].e_N : e_T;
    impact_outcome out = impact_case_solve(&c, NULL);
    *gains += out.status != SALTUS_OK || out.result.giver >= 0;
    worst = fmax(worst, out.result.gain / impact_reach(&c));
  }
  return worst;
}

/* Two contacts: what a search makes of a random one. */
typedef enum rest { AS_IT_IS, ONE_E, ONE_ZERO, LARGEST_E, FULL_E, LEAVES } rest;

typedef struct search {
  const char* label;
  saltus_impact_law law;
  saltus_impact_order order;
  int tangents;
  rest rest;      /* of e_N and e_T */
  double largest; /* (T+ - T-) / T- that random ones were found to reach; 0: none gains */
} search;

static const search searches[] = {
    {"two contacts without friction, Newton", SALTUS_IMPACT_NEWTON, 0, 0, AS_IT_IS, 0.0},
    {"two contacts without friction, Poisson", SALTUS_IMPACT_POISSON, 0, 0, AS_IT_IS, 0.0},
    {"two contacts without friction, sequential", SALTUS_IMPACT_NEWTON, SALTUS_ORDER_SEQUENTIAL, 0,
     AS_IT_IS, 0.0},
    {"two contacts without friction, one leaves", SALTUS_IMPACT_NEWTON, 0, 0, LEAVES, 0.0},
    {"two contacts, Newton with e_T = 0", SALTUS_IMPACT_NEWTON, 0, 1, AS_IT_IS, 0.65},
    {"two contacts, Newton with e_T = max e_N", SALTUS_IMPACT_NEWTON, 0, 1, LARGEST_E, 0.0},
    {"two contacts, Newton with e_T = 1", SALTUS_IMPACT_NEWTON, 0, 1, FULL_E, 0.0},
    {"two contacts, Poisson with one e", SALTUS_IMPACT_POISSON, 0, 1, ONE_E, 0.0},
    {"two contacts, Poisson with e = 1 and 0", SALTUS_IMPACT_POISSON, 0, 1, ONE_ZERO, 0.42},
    {"two contacts, Poisson as printed", SALTUS_IMPACT_POISSON_PRINTED, 0, 1, AS_IT_IS, 11.5},
    {"two contacts, energetic", SALTUS_IMPACT_ENERGETIC, 0, 1, AS_IT_IS, 0.0},
};

static void adapt(impact_case* c, const search* of, uint64_t k) {
  double e_N[2] = {c->contact[0].e_N, c->contact[1].e_N};
  e_N[1] = of->rest == ONE_E ? e_N[0] : e_N[1];
  if (of->rest == ONE_ZERO || of->rest == LEAVES) {
    e_N[0] = 1.0;
    e_N[1] = 0.0;
  }
  for (int i = 0; i < 2; i++) {
    c->contact[i].impact = of->law;
    c->contact[i].e_N = e_N[i];
    c->contact[i].e_T = of->rest == LARGEST_E ? fmax(e_N[0], e_N[1]) : of->rest == FULL_E;
  }
  if (of->rest == LEAVES) {
    c->u[1] = (double)(k % 97 + 1) / 97.0;
  }
}

static void claim_search(study_report* report, const search* of) {
  uint64_t seed = 20260300u + (uint64_t)of->law;
  double worst = -INFINITY;
  int gains = 0;
  int unsolved = 0;
  char id[128];
  const saltus_impacts rule = {.order = of->order};
  for (uint64_t k = 0; k < SEARCH; k++) {
    impact_case c = impact_random_two(&seed, of->tangents);
    adapt(&c, of, k);
    impact_outcome out = impact_case_solve(&c, &rule);
    unsolved += out.status != SALTUS_OK;
    gains += out.status == SALTUS_OK && out.result.giver >= 0;
    worst = out.status == SALTUS_OK ? fmax(worst, out.result.gain / impact_reach(&c)) : worst;
  }
  snprintf(id, sizeof id, "%s: unsolved", of->label);
  study_claim_range(report, id, unsolved, 0.0, 0.0);
  if (of->largest > 0.0) {
    snprintf(id, sizeof id, "%s: gains up to, in T-", of->label);
    study_claim_range(report, id, worst, of->largest, INFINITY);
  } else {
    snprintf(id, sizeof id, "%s: gains", of->label);
    study_claim_range(report, id, gains, 0.0, 0.0);
  }
}

static int run_energy(const cli_args* args, study_report* report) {
  (void)args;
  int gains = 0;
  worst_gain(SALTUS_IMPACT_ENERGETIC, 2, PLANE, 0.0, &gains);
  study_claim_range(report, "energetic, 100000 impacts in the plane: gains", gains, 0.0, 0.0);
  worst_gain(SALTUS_IMPACT_ENERGETIC, 3, SPACE, 0.0, &gains);
  study_claim_range(report, "energetic, 20000 impacts in space: gains", gains, 0.0, 0.0);
  worst_gain(SALTUS_IMPACT_POISSON, 2, SEARCH, 0.0, &gains);
  study_claim_range(report, "Poisson, one contact in the plane: gains", gains, 0.0, 0.0);
  worst_gain(SALTUS_IMPACT_PATH_POISSON, 2, SEARCH, 0.0, &gains);
  study_claim_range(report, "path by Poisson in the plane: gains", gains, 0.0, 0.0);
  worst_gain(SALTUS_IMPACT_NEWTON, 2, SEARCH, -2.0, &gains);
  study_claim_range(report, "Newton with e_T = e_N: gains", gains, 0.0, 0.0);
  double worst = worst_gain(SALTUS_IMPACT_NEWTON, 2, SEARCH, 0.0, &gains);
  study_claim_range(report, "Newton with e_T = 0: gains", gains, 100.0, SEARCH);
  study_claim_range(report, "Newton with e_T = 0: gains up to, in T-", worst, 6.1, INFINITY);
  worst = worst_gain(SALTUS_IMPACT_PATH_NEWTON, 2, SEARCH, 0.0, &gains);
  study_claim_range(report, "path by Newton: gains up to, in T-", worst, 6.1, INFINITY);
  worst = worst_gain(SALTUS_IMPACT_POISSON_PRINTED, 2, SEARCH, 0.0, &gains);
  study_claim_range(report, "Poisson as printed: gains", gains, 10.0, SEARCH);
  study_claim_range(report, "Poisson as printed: gains up to, in T-", worst, 385.0, INFINITY);
  for (size_t k = 0; k < sizeof searches / sizeof *searches; k++) {
    claim_search(report, &searches[k]);
  }
  impact_case c = impact_given(2, 1, (double[16]){2, 0, 0, 2, 0, 4, -1, 1, 0, -1, 1, 0, 2, 1, 0, 4},
                               (double[4]){-1.0, -0.5, -0.5, -0.5});
  impact_case_set(&c, SALTUS_IMPACT_POISSON, 0.5, 1.0, 0.0);
  c.contact[1].e_N = 0.0;
  impact_outcome out = impact_case_solve(&c, NULL);
  study_claim_error(report, "Poisson, two different e: gains 1/4 J", fabs(out.result.gain - 0.25),
                    1e-13);
  c = impact_given(2, 0, (double[4]){1, -0.5, -0.5, 1}, (double[2]){-1.0, 0.2});
  c.contact[0].e_N = 1.0;
  out = impact_case_solve(&c, NULL);
  study_claim_error(report, "a contact that leaves takes no part", fabs(out.result.gain + 0.32),
                    1e-13);
  return CLI_DONE;
}

#define NOTE "two computations each; docs/laws.md"
#define LAW_STUDY(id, name, summary, source, run, draw)                                            \
  const study study_law_##id = {name, summary, source, false, run, draw};

LAW_STUDY(chains, "law-chains", "chains of 3 and 5 balls under all laws", NOTE, run_table,
          law_draw_chains)
LAW_STUDY(columns, "law-columns", "columns of beads that fall on the floor", NOTE, run_table,
          law_draw_columns)
LAW_STUDY(kane, "law-kane", "Kane's pendulum under all laws, and its gain",
          "Kane and Levinson 1985", run_kane, NULL)
LAW_STUDY(regions, "law-regions", "a rod on its tip in every region of slip", "Wang and Mason 1992",
          run_regions, law_draw_regions)
LAW_STUDY(space, "law-space", "impacts in space along their path", NOTE, run_table, NULL)
LAW_STUDY(superball, "law-superball", "tangential restitution from -1 to 1", "closed form",
          run_table, NULL)
LAW_STUDY(dimer, "law-dimer", "two beads on a rod, one of them at rest", NOTE, run_table, NULL)
LAW_STUDY(rocking, "law-rocking", "a block that turns from corner to corner",
          "Housner 1963; closed form", run_table, NULL)
LAW_STUDY(order, "law-order", "order of impacts and ratios of stiffness", NOTE, run_table, NULL)
LAW_STUDY(energy, "law-energy", "which laws create energy: random impacts", NOTE, run_energy, NULL)
