/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible_studies.c - beams and bars with impacts and friction beside closed forms and independent codes. docs/beams.md has
 * the sources of the numbers.
 */
#include "machine_run.h"
#include "potra_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>

static machine_run prepare(const char* scene, const char* parameters, double until) {
  return (machine_run){.scene = scene,
                       .text = potra_scene_text(scene),
                       .parameters = parameters,
                       .scheme = "adaptive",
                       .tol = 1e-8,
                       .until = until,
                       .log = cli_log()};
}

/* Runs and notes; an exit code. */
static int go(study_report* report, machine_run* run) {
  const saltus_status status = machine_go(run);
  if (status == SALTUS_OK) {
    study_note_run(report, run->steps, run->work);
    return CLI_DONE;
  }
  machine_free(run);
  return cli_exit_code(status);
}

/* The figure of a study: one or two numbers over x; costs are those of the last `count` runs. */
static void draw(study_report* report, const char* x_label, const char* first, const char* second) {
  report->x_label = x_label;
  report->first_label = first;
  report->second_label = second;
  report->one_number = second == NULL;
}

/* ---- bar on a wall: E0 = 500 J, contact 0.5 to 7/6 s, rebound with 10 m/s ---- */

static double last_opening(const machine_run* run) {
  double t = (double)NAN;
  for (int i = 1; machine_event(run, SALTUS_EVENT_OPEN, NULL, i) != NULL; i++) {
    t = machine_event(run, SALTUS_EVENT_OPEN, NULL, i)->t;
  }
  return t;
}

static int run_bar(const cli_args* args, study_report* report) {
  (void)args;
  static const struct {
    const char* set;
    int n;
    double end, e_app; /* of the chain, exact in time, by an independent code */
  } chains[] = {{"n=20", 20, 1.17743, 0.95738},
                {"n=100", 100, 1.17055, 0.98642},
                {"n=400", 400, 1.16823, 0.99474}};
  enum { CHAINS = sizeof chains / sizeof chains[0] };
  double x[CHAINS], loss[CHAINS], e_app[CHAINS];
  char id[96];
  draw(report, "length of an element [m]", "loss at the impact [J]", "1 - apparent restitution");
  for (size_t k = 0; k < CHAINS; k++) {
    machine_run run = prepare("flexible-bar-wall", chains[k].set, 2.0);
    const int code = go(report, &run);
    if (code != CLI_DONE) {
      return code;
    }
    snprintf(id, sizeof id, "%s: loss at the impact [J], E0/(2 n)", chains[k].set);
    study_claim_near(report, id, -run.ledger.impact, 500.0 / (2.0 * chains[k].n), 1e-6);
    snprintf(id, sizeof id, "%s: end of the contact [s]", chains[k].set);
    study_claim_near(report, id, last_opening(&run), chains[k].end, 1e-5);
    snprintf(id, sizeof id, "%s: apparent restitution", chains[k].set);
    x[k] = 10.0 / chains[k].n;
    loss[k] = -run.ledger.impact;
    e_app[k] = machine_value(&run, "momentum.y") / 100.0;
    study_claim_near(report, id, e_app[k], chains[k].e_app, 1e-4);
    e_app[k] = 1.0 - e_app[k];
    machine_free(&run);
  }
  study_add_series(report, "chain, e = 0", CHAINS, x, loss, e_app);
  machine_run fixed = prepare("flexible-bar-wall", "n=100", 2.0);
  fixed.scheme = "moreau-jean";
  fixed.h = 1.0 / 300.0;
  const int code = go(report, &fixed);
  if (code == CLI_DONE) {
    study_claim_near(report, "moreau-jean, h = dx/c: loss [J]", -fixed.ledger.impact, 8.8388, 1e-4);
    study_claim_most(report, "moreau-jean: remainder of the energy [J]",
                     fabs(fixed.ledger.remainder), 1e-11);
    machine_free(&fixed);
  }
  return code;
}

/* Gap of the lower end: closed form by characteristics, period 16/3 s. The chain is dispersive: see the bounds. */
static int run_bar_gravity(const cli_args* args, study_report* report) {
  (void)args;
  static const struct {
    const char* set;
    double t, gap;
  } points[] = {{"n=100 v0=0 g=10", 2.0, 5.0 / 3.0},
                {"n=100 v0=0 g=10", 3.0, 4.44444},
                {"n=100 v0=0 g=10", 5.0, 4.44444},
                {"n=100 v0=0 g=10", 16.0 / 3.0, 5.0},
                {"n=200 v0=0 g=10", 16.0 / 3.0, 5.0}};
  double times[4], off[5];
  draw(report, "time [s]", "gap beside the continuum [m]", NULL);
  for (size_t k = 0; k < 5; k++) {
    machine_run run = prepare("flexible-bar-wall", points[k].set, points[k].t);
    run.tol = 1e-6;
    const int code = go(report, &run);
    if (code != CLI_DONE) {
      return code;
    }
    char id[96];
    snprintf(id, sizeof id, "%.5s: gap at %.4g s beside %.6g m [m]", points[k].set, points[k].t,
             points[k].gap);
    const double gap = machine_value(&run, "gap");
    off[k] = fabs(gap - points[k].gap);
    if (k != 3) {
      study_claim_error(report, id, off[k], 0.15);
    } else { /* the exact chain of 100 masses, which formulas describe without beams */
      study_measure(report, id, off[k]);
      study_claim_near(report, "gap after a period beside the chain by formulas [m]", gap, 4.830703,
                       1e-5);
    }
    if (k < 4) {
      times[k] = points[k].t;
    }
    machine_free(&run);
  }
  study_add_series(report, "chain of 100 elements, e = 0", 4, times, off, off);
  return CLI_DONE;
}

/* Velocity of the centre of a chain of n elements: half links at its ends. */
static double centre_velocity(const machine_run* run, const char* beam, int n) {
  double sum = 0.0;
  for (int i = 0; i <= n; i++) {
    char name[MACHINE_WORD];
    snprintf(name, sizeof name, "%s_%d.x'", beam, i + 1);
    sum += machine_value(run, name) * (i == 0 || i == n ? 0.5 : 1.0);
  }
  return sum / n;
}

/* Chains of 20 and 100 elements in 5 m; velocities and duration by an independent code. The restitution is that of the centres. */
static int run_two_bars(const cli_args* args, study_report* report) {
  (void)args;
  static const struct {
    const char* set;
    int n;
    double duration, left, right; /* s, m/s */
  } chains[2] = {{"n=20", 20, 0.3539, -0.088, 5.044}, {"n=100", 100, 0.3402, -0.032, 5.016}};
  double x[2], e_app[2], late[2];
  char id[96];
  draw(report, "length of an element [m]", "apparent restitution - 1/2",
       "contact beyond 1/3 s [s]");
  for (int k = 0; k < 2; k++) {
    machine_run run = prepare("flexible-two-bars", chains[k].set, 0.5);
    const int code = go(report, &run);
    if (code != CLI_DONE) {
      return code;
    }
    const saltus_event* impact = machine_event(&run, SALTUS_EVENT_IMPACT, NULL, 1);
    const double lasts = last_opening(&run) - (impact != NULL ? impact->t : (double)NAN);
    x[k] = 5.0 / chains[k].n;
    late[k] = lasts - 1.0 / 3.0;
    const double left = centre_velocity(&run, "short", chains[k].n);
    const double right = centre_velocity(&run, "long", 2 * chains[k].n);
    e_app[k] = (right - left) / 10.0;
    snprintf(id, sizeof id, "%s: duration of the contact [s], 2 L1/c = 1/3", chains[k].set);
    study_claim_near(report, id, lasts, chains[k].duration, 1e-3);
    snprintf(id, sizeof id, "%s: velocity of the short bar [m/s]", chains[k].set);
    study_claim_error(report, id, fabs(left - chains[k].left), 1e-3);
    snprintf(id, sizeof id, "%s: velocity of the long bar [m/s]", chains[k].set);
    study_claim_error(report, id, fabs(right - chains[k].right), 1e-3);
    snprintf(id, sizeof id, "%s: momentum [N s]", chains[k].set);
    study_claim_near(report, id, machine_value(&run, "momentum.x"), 50.0, 1e-9);
    snprintf(id, sizeof id, "%s: loss [J], m U^2/4 of two nodes", chains[k].set);
    study_claim_near(report, id, -run.ledger.impact, 62.5 / chains[k].n, 1e-6);
    e_app[k] -= 0.5;
    machine_free(&run);
  }
  study_claim_range(report, "n=100: apparent restitution, L1/L2 = 0.5", 0.5 + e_app[1], 0.5, 0.506);
  study_add_series(report, "chains, e = 0", 2, x, e_app, late);
  return CLI_DONE;
}

/* u = F^2/(EA f) = 0.1 m by characteristics. Of chains: symplectic Euler with friction by shrinking, c h = dx/100, without
 * Saltus; c h = dx/50 differs by 1e-6 m. */
static int run_rough_floor(const cli_args* args, study_report* report) {
  (void)args;
  static const struct {
    const char* set;
    double known, h; /* m; s, 0: adaptive */
  } chains[] = {{"n=50", 0.096401, 0},
                {"n=100", 0.097483, 0},
                {"n=200", 0.098305, 0},
                {"n=50", 0.096401, 1.0 / 1200.0}};
  double x[3] = {0.2, 0.1, 0.05}, off[3];
  draw(report, "length of an element [m]", "displacement of the end beside 0.1 m [m]", NULL);
  for (int k = 0; k < 4; k++) {
    machine_run run = prepare("flexible-rough-floor", chains[k].set, 0.25);
    run.tol = 1e-6;
    if (chains[k].h > 0.0) {
      run.scheme = "moreau-jean";
      run.h = chains[k].h;
    }
    const int code = go(report, &run);
    if (code != CLI_DONE) {
      return code;
    }
    char id[96];
    snprintf(id, sizeof id, "%s, %s: displacement of the end beside %g m [m]", chains[k].set,
             run.scheme, chains[k].known);
    const double end = machine_value(&run, "end");
    study_claim_error(report, id, fabs(end - chains[k].known), 1e-4);
    if (k < 3) {
      off[k] = fabs(end - 0.1);
    }
    machine_free(&run);
  }
  study_claim_error(report, "n = 200 beside the continuum, 0.1 m [m]", off[2], 2e-3);
  study_claim_range(report, "the error falls with n: n = 50 over 200", off[0] / off[2], 1.5, 4.0);
  study_add_series(report, "adaptive", 3, x, off, off);
  return CLI_DONE;
}

/* Steady rotation with 6 rad/s: rho A w^2 L^3/(3 EA) = 5.142857e-4 m, of a chain of point masses 1 + 1/(2 n^2) times it. The
 * section is thick, so that the start does not bend the bar. */
static const char turning_bar[] =
    "saltus: 1\nworld: {gravity: [0, 0]}\n"
    "bodies: {hub: {driven: {angle: \"piecewise(t < 0.1, 30*t^2, 6*t - 0.3)\"}}}\n"
    "markers: {root: {body: hub}}\nbeams:\n  bar:\n    between: [root, root]\n"
    "    ends: [clamped, free]\n    points: [[0, 0], [10, 0]]\n    section: {A: 1, I: 100}\n"
    "    material: {E: 2.8e7, density: 1.2}\n    elements: 40\n    kind: nodes\n"
    "    stretch: true\n    damping: 1e-3\n    contact: {at: none}\n"
    "outputs: {stretch: \"sqrt(bar_end.x^2 + bar_end.y^2) - 10\"}\nsimulate: {until: 1}\n";

static int run_stretch(study_report* report) {
  machine_run run = {.scene = "turning bar",
                     .text = turning_bar,
                     .scheme = "moreau-jean",
                     .h = 5e-5,
                     .until = 0.2,
                     .log = cli_log()};
  const int code = go(report, &run);
  if (code == CLI_DONE) {
    study_claim_near(report, "stretch at 6 rad/s [m]", machine_value(&run, "stretch"), 5.142857e-4,
                     1e-3);
    machine_free(&run);
  }
  return code;
}

static int run_spin_up(const cli_args* args, study_report* report) {
  (void)args;
  static const char* const sets[] = {"n=4", "n=8", "n=16"};
  static const double known[] = {-0.61186, -0.58323, -0.57612};
  double low[3], x[3], off[3];
  draw(report, "length of a link [m]", "least deflection beside -0.57375 m [m]", NULL);
  for (int k = 0; k < 3; k++) {
    machine_run run = prepare("flexible-spin-up", sets[k], 7.5);
    run.sample = 0.002;
    run.after = 6.0;
    const int code = go(report, &run);
    if (code != CLI_DONE) {
      return code;
    }
    char id[96];
    snprintf(id, sizeof id, "%s: least deflection of the tip [m]", sets[k]);
    low[k] = run.low;
    x[k] = 2.5 / (1 << k);
    off[k] = fabs(low[k] + 0.57375);
    study_claim_error(report, id, fabs(low[k] - known[k]), 1e-5);
    if (k == 2) {
      study_claim_near(report, "its time [s]", run.low_t, 6.77, 2e-3);
    }
    machine_free(&run);
  }
  study_claim_near(report, "limit of n = 8 and 16 (Richardson) [m]",
                   low[2] + (low[2] - low[1]) / 3.0, -0.57375, 1e-4);
  study_add_series(report, "rigid links", 3, x, off, off);
  return run_stretch(report);
}

static int run_slider_crank(const cli_args* args, study_report* report) {
  (void)args;
  static const char* const sets[] = {"n=4", "n=8", "n=16"};
  static const double known[] = {0.01600, 0.01554, 0.01543};
  double high[3], x[3], off[3];
  draw(report, "length of a link [m]", "deflection over the length beside 0.01539", NULL);
  for (int k = 0; k < 3; k++) {
    machine_run run = prepare("flexible-slider-crank", sets[k], 0.01);
    run.sample = 1e-5;
    const int code = go(report, &run);
    if (code != CLI_DONE) {
      return code;
    }
    char id[96];
    snprintf(id, sizeof id, "%s: first maximum of the deflection over the length", sets[k]);
    high[k] = run.high;
    x[k] = 0.075 / (1 << k);
    off[k] = fabs(high[k] - 0.01539);
    study_claim_error(report, id, fabs(high[k] - known[k]), 1e-5);
    if (k == 1) {
      study_claim_near(report, "its angle [rad]", 150.0 * run.high_t, 0.81, 2e-2);
    }
    machine_free(&run);
  }
  study_claim_near(report, "limit (Richardson) beside a floating frame with 5 modes",
                   high[2] + (high[2] - high[1]) / 3.0, 0.0154, 1e-2);
  study_add_series(report, "rigid links", 3, x, off, off);
  return CLI_DONE;
}

static int run_cantilever(const cli_args* args, study_report* report) {
  (void)args;
  static const char* const sets[] = {"n=16 e=0", "n=32 e=0", "n=24 e=0.5"};
  double x[2] = {1.0 / 16, 1.0 / 32}, rebound[2];
  draw(report, "length of a link [m]", "rebound of the tip [m]", NULL);
  for (int k = 0; k < 3; k++) {
    machine_run run = prepare("flexible-cantilever-stop", sets[k], 0.045);
    run.sample = 2e-5;
    run.after = 0.0101;
    const int code = go(report, &run);
    if (code != CLI_DONE) {
      return code;
    }
    char id[96];
    run.after = 0.0;
    const saltus_event* first = machine_event(&run, SALTUS_EVENT_IMPACT, "stop", 1);
    snprintf(id, sizeof id, "%s: first contact [s]", sets[k]);
    /* the error falls with 1/n^2 */
    study_claim_near(report, id, first != NULL ? first->t : (double)NAN, 0.009807,
                     k == 0 ? 4e-3 : 2e-3);
    snprintf(id, sizeof id, "%s: velocity of the tip [m/s]", sets[k]);
    /* modes above the fifth, 3 % of the velocity, have another phase in a chain of 24 */
    study_claim_near(report, id, first != NULL ? first->u_before : (double)NAN, -0.772,
                     k == 1 ? 1e-2 : 3e-2);
    snprintf(id, sizeof id, "%s: highest rebound of the tip beside 3.65 mm [m]", sets[k]);
    if (k == 1) {
      study_claim_error(report, id, fabs(run.high - 3.65e-3), 1e-4);
    } else { /* coarse; the references have e = 0 and 1 */
      study_measure(report, id, fabs(run.high - 3.65e-3));
    }
    if (k < 2) {
      rebound[k] = run.high;
    }
    if (k == 1) {
      study_add_series(report, "rigid links, e = 0", 2, x, rebound, rebound);
    }
    machine_free(&run);
  }
  return CLI_DONE;
}

/* The rigid part of the normal velocity of the end, after over before, from momenta. */
static int run_dropped(const cli_args* args, study_report* report) {
  (void)args;
  static const struct {
    const char* set;
    double deg, known, band;
  } drops[] = {{"n=80 deg=90", 90, 0.999, 0.031}, /* of e = 0 in 35 modes 0.968 */
               {"n=80 deg=75", 75, 0.33, 0.01},
               {"n=80 deg=60", 60, 0.58, 0.02},
               {"n=80 deg=45", 45, 0.67, 0.03},
               {"n=80 deg=15", 15, 0.73, 0.04}};
  double angle[5], e_app[5], pulse[5];
  draw(report, "angle [deg]", "apparent restitution of the end", "impulse [N s]");
  const double L = 0.2, d = 0.0127, rho = 7850.0, pi = 3.14159265358979;
  const double m = rho * pi * d * d / 4 * L, J = m * L * L / 12 + rho * pi * d * d * d * d / 64 * L;
  for (size_t k = 0; k < sizeof drops / sizeof drops[0]; k++) {
    machine_run run = prepare("flexible-dropped-bar", drops[k].set, 5e-4);
    const int code = go(report, &run);
    if (code != CLI_DONE) {
      return code;
    }
    const double arm = L / 2 * cos(drops[k].deg * pi / 180), p = machine_value(&run, "momentum.y");
    /* without friction the centre keeps its x: angular momentum about it */
    const double about = machine_value(&run, "angular_momentum.z") - arm * p;
    char id[96];
    snprintf(id, sizeof id, "%g degrees: apparent restitution of the end", drops[k].deg);
    angle[k] = drops[k].deg;
    e_app[k] = p / m - arm * about / J;
    pulse[k] = p + m; /* dropped with 1 m/s */
    study_claim_error(report, id, fabs(e_app[k] - drops[k].known), drops[k].band);
    machine_free(&run);
  }
  study_add_series(report, "80 elements, e = 0", 5, angle, e_app, pulse);
  return CLI_DONE;
}

/* ---- valve train ---- */

/* Slow: b sin(asin(lift/a)) - lash, less the compression of the push rod under the spring, 1.5^2 F L/(EA). Float: the spring
 * holds the valve and a third of its own mass on the rocker up to w^2 = F/(1.5 m h''), 3087 rpm. */
static int run_valve_train(const cli_args* args, study_report* report) {
  (void)args;
  enum { SPEEDS = 7 };
  const double geometric = 0.045 * (0.007 / 0.03) - 1e-4, force = 300.0 + 40000.0 * geometric;
  const double area = 3.14159265358979 * (16e-6 - 9e-6), length = 0.26 - 0.05;
  const double slow = geometric - 2.25 * force * length / (2.1e11 * area);
  double rpm[SPEEDS], lift[SPEEDS], bounce[SPEEDS];
  draw(report, "speed of the cam shaft [rpm]", "highest lift [m]",
       "rebound of the valve from its seat [m/s]");
  for (int k = 0; k < SPEEDS; k++) {
    char id[96], set[32];
    rpm[k] = 1000.0 + 500.0 * k;
    snprintf(set, sizeof set, "rpm=%g", rpm[k]);
    machine_run run = prepare("machine-valve-train", set, 60.0 / rpm[k]);
    run.tol = 1e-5;
    run.sample = run.until / 2000.0;
    const int code = go(report, &run);
    if (code != CLI_DONE) {
      return code;
    }
    bounce[k] = 0.0;
    for (int i = 1; machine_event(&run, SALTUS_EVENT_IMPACT, "seat_contact", i) != NULL; i++) {
      bounce[k] =
          fmax(bounce[k], machine_event(&run, SALTUS_EVENT_IMPACT, "seat_contact", i)->u_after);
    }
    lift[k] = run.high;
    snprintf(id, sizeof id, "%s: highest lift [m]", set);
    study_measure(report, id, lift[k]);
    snprintf(id, sizeof id, "%s: fastest rebound from the seat [m/s]", set);
    study_measure(report, id, bounce[k]);
    machine_free(&run);
  }
  study_add_series(report, "one revolution", SPEEDS, rpm, lift, bounce);
  study_claim_near(report, "lift at 1000 rpm [m]", lift[0], slow, 5e-3);
  study_claim_most(report, "no float at 2000 rpm: lift beyond that at 1000 rpm [m]",
                   lift[2] - lift[0], 1e-4);
  study_claim_range(report, "float at 4000 rpm: lift beyond that at 1000 rpm [m]",
                    lift[6] - lift[0], 1e-3, 2e-2);
  study_claim_range(report, "valve bounce: rebound at 4000 rpm over that at 2000 rpm",
                    bounce[6] / bounce[2], 5.0, 100.0);
  return CLI_DONE;
}

#define FLEXIBLE(id, title, text, from, what)                                                      \
  const study study_flexible_##id = {                                                              \
      .name = "flexible-" title, .summary = (text), .source = (from), .run = (what)}

static const char doyen[] = "Doyen, Ern, Piperno, SIAM J. Sci. Comput. 33 (2011) 223";
static const char simo[] = "Simo, Vu-Quoc, J. Appl. Mech. 54 (1987) 125";
static const char jonker[] = "Jonker, Comput. Methods Appl. Mech. Eng. 76 (1989) 1";
static const char hurmuzlu[] = "Stoianovici, Hurmuzlu, J. Appl. Mech. 63 (1996) 307";

FLEXIBLE(bar, "bar", "elastic bar against a wall", doyen, run_bar);
FLEXIBLE(bar_gravity, "bar-gravity", "bouncing elastic bar", doyen, run_bar_gravity);
FLEXIBLE(two_bars, "two-bars", "two elastic bars collide", "waves, closed form", run_two_bars);
FLEXIBLE(rough_floor, "rough-floor", "bar pushed on a rough floor",
         "Nikitin's problem, closed form", run_rough_floor);
FLEXIBLE(spin_up, "spin-up", "spin-up of a beam", simo, run_spin_up);
FLEXIBLE(slider_crank, "slider-crank", "slider-crank with a flexible rod", jonker,
         run_slider_crank);
FLEXIBLE(cantilever, "cantilever", "cantilever on a stop", "modal series, independent code",
         run_cantilever);
FLEXIBLE(dropped, "dropped-bar", "slender bar dropped at an angle", hurmuzlu, run_dropped);

const study study_machine_valve_train = {.name = "machine-valve-train",
                                         .summary = "valve train with flexible push rod and spring",
                                         .source = "statics and float by hand",
                                         .run = run_valve_train};
