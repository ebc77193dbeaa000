/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * study.h - studies: measured runs, and claims about them.
 *
 * A study fills a report with rows (one run each) and claims. The command prints it as tables, as
 * JSON or as a figure, and exits with 0 only when every claim holds. Studies live in studies/; to
 * add one: its file, its line in studies/registry.c.
 */
#ifndef CLI_STUDY_H
#define CLI_STUDY_H

#include "cli.h"
#include "measure/experiment.h"

typedef struct study_row {
  char problem[64];
  char scheme[64];
  char options[192];
  char control[64]; /* step-size controller; "" with fixed steps */
  double tol;       /* its tolerance */
  long long rejections;
  double t_end;
  long long steps;
  double h;
  saltusi_errors error, rate; /* rate against the row before, of the same series */
  saltus_work work;
  double cpu;           /* s */
  double amplification; /* K of the motion, where it was measured; else 0 */
  char reason[256];     /* why it failed; "": it did not */
} study_row;

typedef struct study_claim {
  char id[128];
  char expected[96];
  double measured;
  bool holds;
  bool only_measured;
  bool number; /* compares with a number from elsewhere: of the literature, exact or independent */
  double least, most; /* allowed range of the measured number; -inf and inf: no limit */
  double accepted;    /* the number it is compared with; NAN: none */
} study_claim;

/* Cost of one run. */
typedef struct study_cost {
  long long steps;
  saltus_work work;
} study_cost;

/* Rows from first to first + count - 1 belong to one line of a figure. */
typedef struct study_series {
  char label[128];
  int first, count;
} study_series;

typedef struct study_report {
  const char* study;
  const char* source;
  study_row* rows;
  int row_count, row_capacity;
  study_claim* claims;
  int claim_count, claim_capacity;
  study_series* series;
  int series_count, series_capacity;
  study_cost* costs; /* of the runs that were reported */
  int cost_count, cost_capacity;
  bool over_work;      /* figures show the error over the work, not over the step */
  bool over_forces;    /* and the work is counted in force evaluations, not in steps */
  bool named;          /* labels "QUANTITY, METHOD": a panel for each quantity */
  const char* x_label; /* of the figure, instead of the step */
  /* labels of the two numbers of study_add_series in figures; NULL: errors of positions,
   * velocities */
  const char *first_label, *second_label;
  bool one_number; /* only the first is drawn */
  bool brief;      /* rows are in the JSON only */
} study_report;

typedef struct study {
  const char* name;
  const char* summary;
  const char* source;
  bool takes_model;                                       /* saltus study NAME MODEL */
  int (*run)(const cli_args* args, study_report* report); /* an exit code */
  int (*draw)(const char* path);                          /* a specific figure; NULL: the errors */
} study;

const study* study_at(int i); /* NULL past the end */

/* Definition of one series of runs. */
typedef struct study_plan {
  const char* label;   /* of the series */
  const char* problem; /* name in the rows */
  const saltus_system* system;
  const double* q0;
  const double* v0;
  const saltusi_reference* reference;
  /* or one for each grid, valid until the next call; NULL: `reference` for all. Returns an exit code */
  int (*reference_of)(void* user, long long steps, const saltusi_reference** out);
  void* user;
  bool jumps; /* graphs with jumps inside of steps, of schemes that locate them */
  const saltus_scheme_info* scheme;
  const void* options;
  const char* options_text;
  double t0, t_end;
  const long long* steps; /* numbers of equal steps */
  int step_count;
  const char* control; /* or a step-size controller with these tolerances; NULL: none */
  const double* tolerances;
  int tolerance_count;
  bool one_sided_end;         /* the last velocity is (q_N - q_{N-1}) / h, as in the tables */
  bool height_from_tolerance; /* splitting schemes: rebound_height is the tolerance */
} study_plan;

/* Runs and measures the whole series; an exit code. */
int study_run_series(study_report* report, const study_plan* plan);

/* The same for a reference problem with options as text, "theta=0.5 gamma=1". */
int study_run_problem(study_report* report, const char* problem, const char* scheme,
                      const char* options, double t_end, const long long* steps, int step_count);

/* The same under a step-size controller with its defaults, atol = tolerance and rtol = 0. */
typedef struct study_controlled {
  const char *problem, *scheme, *options, *control;
  double t_end;
  const double* tolerances;
  int tolerance_count;
} study_controlled;

int study_run_controlled(study_report* report, const study_controlled* what);

/* A series whose errors were measured elsewhere: one number for q and one for v at each h. */
void study_add_series(study_report* report, const char* label, int count, const double* h,
                      const double* e_q, const double* e_v);

/* Cost of a run. The rows of study_add_series take the costs of the last `count` runs: report every run of a series in
 * the order of its rows, then add the series of its quantities. */
void study_note_run(study_report* report, long long steps, saltus_work work);

/* Adds to the last reported run, for rows that are means over several runs. */
void study_add_to_run(study_report* report, long long steps, saltus_work work);

/* A series whose rows are added one by one. */
void study_begin_series(study_report* report, const char* label);
study_row* study_add_row(study_report* report);
void study_end_series(study_report* report);

/* Least squares order over a series of the number that `pick` takes from a row. */
typedef double (*study_pick)(const study_row* row);
double study_order(const study_report* report, const study_series* series, study_pick pick);

/* The errors as a figure; an exit code. */
int study_draw(const study_report* report, const char* path);

/* Claims: id names the quantity, expected is its value. near and error compare with an
 * independent number, and tools/mutate requires them to detect faults; range and most are for
 * orders, counts, costs. */
void study_claim_range(study_report* report, const char* id, double measured, double lo, double hi);
void study_claim_near(study_report* report, const char* id, double measured, double expected,
                      double relative);
void study_claim_most(study_report* report, const char* id, double measured, double most);
void study_claim_error(study_report* report, const char* id, double error, double most);
/* A number without a claim, for lack of an independent reference. */
void study_measure(study_report* report, const char* id, double measured);

/* Quantities that several studies make claims about. */
double study_q_inf(const study_row* row);
double study_q_l1(const study_row* row);
double study_q_l2(const study_row* row);
double study_q_graph(const study_row* row);
double study_v_l1(const study_row* row);
double study_v_l2(const study_row* row);
double study_v_graph(const study_row* row);

/* Cost of the row, in the unit of the report. */
long long study_work(const study_report* report, const study_row* row);

/* The row with this many steps in a series; NULL: none. */
const study_row* study_find(const study_report* report, const study_series* series,
                            long long steps);

extern const study study_acary2009_fig2;
extern const study study_converge;
extern const study study_sweep_ball;
extern const study study_sweep_shaken;
extern const study study_sweep_grazing;
extern const study study_sweep_woodpecker;
extern const study study_fit_synthetic;
extern const study study_measured_cube;
extern const study study_optimise_valve;
extern const study study_optimise_breaker;
extern const study study_capobianco_fig2;
extern const study study_variational_order;
extern const study study_woodpecker;
extern const study study_energy_ledger;
extern const study study_acary2009_fig3;
extern const study study_acary2009_local_error;
extern const study study_acary2009_fig4;
extern const study study_acary2009_fig5;
extern const study study_acary2008_violation;
extern const study study_acary2008_splitting;
extern const study study_acary2008_balls;
extern const study study_acary2008_higher_order;
extern const study study_acary2009_fig6;
extern const study study_acary2009_fig7;
extern const study study_order_through_events;
extern const study study_herk_index;
extern const study study_index_forms;
extern const study study_multistep_events;
extern const study study_event_orders;
extern const study study_potra2006_table1;
extern const study study_potra2006_table2;
extern const study study_potra2006_table3;
extern const study study_potra2006_fig2;
extern const study study_potra2006_fig4;
extern const study study_potra2006_fig6;
extern const study study_potra2006_fig7;
extern const study study_potra2006_detector;
extern const study study_potra2006_poisson;
extern const study study_potra2006_painleve;

extern const study study_schindler2011_fig4;
extern const study study_schindler2011_fig5;
extern const study study_schindler2011_fig6;
extern const study study_dg_closed_contact;
extern const study study_dg_multi_contact;
extern const study study_dg_take_off;
extern const study study_dg_friction;
extern const study study_dg_stability;

extern const study study_tolerance_proportionality;
extern const study study_accumulation_times;
extern const study study_woodpecker_limit_cycle;
extern const study study_friction_events;
extern const study study_stiff_carts;
extern const study study_random_systems;
extern const study study_work_precision;
extern const study study_adversarial;
extern const study study_curved_friction;
extern const study study_random_machines;

extern const study study_bodies_pendulum;
extern const study study_bodies_four_bar;
extern const study study_bodies_andrews;
extern const study study_bodies_bricard;
extern const study study_bodies_flyball;
extern const study study_bodies_slider_crank;
extern const study study_bodies_rotation;
extern const study study_bodies_top;
extern const study study_bodies_redundant;
extern const study study_bodies_defects;

extern const study study_contact_bounce;
extern const study study_contact_roll;
extern const study study_contact_turntable;
extern const study study_contact_incline;
extern const study study_contact_corner;
extern const study study_contact_rod;
extern const study study_contact_rocking;
extern const study study_contact_cradle;
extern const study study_contact_groove;
extern const study study_contact_stack;
extern const study study_contact_engines;
extern const study study_contact_arch;

extern const study study_machine_slider_crank;
extern const study study_machine_slider_crank_flat;
extern const study study_machine_four_bar;
extern const study study_machine_cam;
extern const study study_machine_arm;
extern const study study_machine_clearance;
extern const study study_machine_period;
extern const study study_machine_walker;
extern const study study_machine_torso;
extern const study study_machine_breaker;
extern const study study_machine_breaker_spread;
extern const study study_machine_cradle;
extern const study study_machine_woodpecker;
extern const study study_machine_dominoes;
extern const study study_machine_ratchet;
extern const study study_machine_dimer;
extern const study study_machine_rolling_ball;

extern const study study_flexible_bar;
extern const study study_flexible_bar_gravity;
extern const study study_flexible_bar_modes;
extern const study study_flexible_two_bars;
extern const study study_flexible_rough_floor;
extern const study study_flexible_spin_up;
extern const study study_flexible_slider_crank;
extern const study study_flexible_cantilever;
extern const study study_flexible_dropped;
extern const study study_machine_valve_train;

extern const study study_law_chains;
extern const study study_law_columns;
extern const study study_law_kane;
extern const study study_law_regions;
extern const study study_law_space;
extern const study study_law_superball;
extern const study study_law_dimer;
extern const study study_law_rocking;
extern const study study_law_order;
extern const study study_law_energy;
extern const study study_law_stick_slip;
extern const study study_law_stribeck;
extern const study study_law_disc;
extern const study study_law_ellipse;
extern const study study_law_resistance;
extern const study study_law_elliptic;
extern const study study_law_rolling;
extern const study study_law_patch;
extern const study study_law_ball;
extern const study study_law_belt;

#endif
