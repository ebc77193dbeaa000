/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law_studies.c - impact laws on configurations with known answers (law_cases.c), the regions of Wang and Mason against the
 * phases of random impacts, and who creates energy.
 */
#include "law_cases.h"
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
  impact_case_set(&c, of->law, of->mu, of->e_N, of->e_T);
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

/* The largest gain over a number of random impacts by a law; e_T < -1: that of e_N. */
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
    worst = fmax(worst, out.result.gain);
  }
  return worst;
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
  study_measure(report, "Newton with e_T = 0: largest gain [J]", worst);
  worst = worst_gain(SALTUS_IMPACT_POISSON_PRINTED, 2, SEARCH, 0.0, &gains);
  study_claim_range(report, "Poisson as printed: gains", gains, 10.0, SEARCH);
  study_measure(report, "Poisson as printed: largest gain [J]", worst);
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
#define LAW_STUDY(id, name, summary, source, run)                                                  \
  const study study_law_##id = {name, summary, source, false, run, NULL};

LAW_STUDY(chains, "law-chains", "chains of 3 and 5 balls under all laws", NOTE, run_table)
LAW_STUDY(columns, "law-columns", "columns of beads that fall on the floor", NOTE, run_table)
LAW_STUDY(kane, "law-kane", "Kane's pendulum under all laws, and its gain",
          "Kane and Levinson 1985", run_kane)
LAW_STUDY(regions, "law-regions", "a rod on its tip in every region of slip", "Wang and Mason 1992",
          run_regions)
LAW_STUDY(space, "law-space", "impacts in space along their path", NOTE, run_table)
LAW_STUDY(superball, "law-superball", "tangential restitution from -1 to 1", "closed form",
          run_table)
LAW_STUDY(dimer, "law-dimer", "two beads on a rod, one of them at rest", NOTE, run_table)
LAW_STUDY(rocking, "law-rocking", "a block that turns from corner to corner",
          "Housner 1963; closed form", run_table)
LAW_STUDY(order, "law-order", "order of impacts and ratios of stiffness", NOTE, run_table)
LAW_STUDY(energy, "law-energy", "which laws create energy: random impacts", NOTE, run_energy)
