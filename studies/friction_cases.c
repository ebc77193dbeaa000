/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_cases.c - see friction_cases.h.
 */
#include "friction_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A block on a floor with two tangents. */
#define BLOCK(friction)                                                                            \
  "saltus: 1\n"                                                                                    \
  "coordinates: {x: {velocity: 1}, y: {velocity: 1}, z: {}}\n"                                     \
  "kinetic: (x'^2 + y'^2 + z'^2)/2\n"                                                              \
  "potential: 9.81*z\n"                                                                            \
  "contacts:\n"                                                                                    \
  "  - {name: floor, gap: z, slip: x', slip2: y', " friction "}\n"

/* A sphere of radius 0.05 in the plane, sliding with 1 m/s. */
#define SPHERE(friction)                                                                           \
  "saltus: 1\n"                                                                                    \
  "coordinates: {x: {velocity: 1}, z: {}, a: {}}\n"                                                \
  "kinetic: (x'^2 + z'^2 + 0.4*0.05^2*a'^2)/2\n"                                                   \
  "potential: 9.81*z\n"                                                                            \
  "contacts:\n"                                                                                    \
  "  - {name: floor, gap: z, slip: x' - 0.05*a', " friction "}\n"

/* A disc of radius 0.05 on its patch: mu = 0.3, slip v0, spin w0. */
#define DISC(v0, w0, friction)                                                                     \
  "saltus: 1\n"                                                                                    \
  "coordinates: {x: {velocity: " v0 "}, y: {}, z: {}, a: {velocity: " w0 "}}\n"                    \
  "kinetic: (x'^2 + y'^2 + z'^2 + 0.5*0.05^2*a'^2)/2\n"                                            \
  "potential: 9.81*z\n"                                                                            \
  "contacts:\n"                                                                                    \
  "  - {name: floor, gap: z, slip: x', slip2: y', friction: 0.3, " friction "}\n"

/* A mass of 1 kg on a spring of 1 N/m, on a belt with 0.2 m/s, pressed with 1 N. */
#define BELT(friction)                                                                             \
  "saltus: 1\n"                                                                                    \
  "coordinates: {x: {velocity: 0.2}, z: {}}\n"                                                     \
  "kinetic: (x'^2 + z'^2)/2\n"                                                                     \
  "potential: x^2/2 + z\n"                                                                         \
  "contacts:\n"                                                                                    \
  "  - {name: belt, gap: z, slip: x' - 0.2, " friction "}\n"

/* A block at rest on a slope of 0.3 rad. */
#define SLOPE(friction)                                                                            \
  "saltus: 1\n"                                                                                    \
  "coordinates: {x: {}, z: {}}\n"                                                                  \
  "kinetic: (x'^2 + z'^2)/2\n"                                                                     \
  "potential: 9.81*cos(0.3)*z - 9.81*sin(0.3)*x\n"                                                 \
  "contacts:\n"                                                                                    \
  "  - {name: slope, gap: z, slip: x', " friction "}\n"

#define MU_G (0.3 * 9.81)
#define PATCH "patch: {radius: 0.05, rate: a'}"

/* Constants are twice those measured or more. Where a law has no bend between stops the scheme is of order 2. */
static const friction_case cases[] = {
    {"law-elliptic", "associated, along", BLOCK("friction: {along: 0.4, across: 0.4/sqrt(2)}"), 0.6,
     0, 0.176816272922, 0.2},
    {"law-elliptic", "associated, across", BLOCK("friction: {along: 0.4, across: 0.4/sqrt(2)}"),
     0.6, 1, 0.252049595055, 0.2},
    {"law-elliptic", "against the slip",
     BLOCK("friction: {along: 0.4, across: 0.4/sqrt(2), rule: against-slip}"), 0.6, 0,
     0.312116430018 * 0.70710678118654752, 0.01},
    {"law-elliptic", "sliding with its own coefficients, equal",
     BLOCK("friction: {along: 0.4, across: 0.4/sqrt(2), sliding: [0.1, 0.1]}"), 0.6, 1,
     0.312116430018 * 0.70710678118654752, 0.01},
    {"law-rolling", "slides, rolls and stops",
     SPHERE("friction: 0.3, rolling: {arm: 0.002, rate: a'}"), 2.7, 0, 0.925478834701, 0.005},
    {"law-rolling", "a disc that drills",
     DISC("0", "100", "drilling: {arm: 2*0.3*0.05/3, rate: a'}"), 1.4, 3, 0.5 * 100 * 1.27420998981,
     0.2},
    {"law-rolling", "viscous friction beside Coulomb's",
     "saltus: 1\n"
     "coordinates: {x: {velocity: 2}, z: {}}\n"
     "kinetic: (x'^2 + z'^2)/2\n"
     "potential: 9.81*z\n"
     "contacts:\n"
     "  - {name: floor, gap: z, slip: x', friction: 0.2, viscous: 0.5}\n",
     1.0, 0, 0.767406016295, 0.4},
    {"law-rolling", "a pendulum with a dry pin",
     "saltus: 1\n"
     "coordinates: {th: {start: 2}}\n"
     "kinetic: th'^2/2\n"
     "potential: -9.81*cos(th)\n"
     "dry_friction:\n"
     "  - {name: pin, rate: th', force: 1}\n",
     12.0, 0, -0.0290843317121, 0.05},
    {"law-ball", "a ball of shapes that rolls and stops",
     "saltus: 1\n"
     "world: {dimension: 3, shapes: [{half-space: {}, material: floor}]}\n"
     "materials: {floor: {friction: 0.3, rolling: 0.002}}\n"
     "bodies:\n"
     "  ball: {mass: 1, inertia: [0.001, 0.001, 0.001], position: [0, 0, 0.05],\n"
     "    velocity: [0.6, 0.8, 0], shapes: [{sphere: {radius: 0.05}, material: floor}]}\n",
     2.7, 0, 0.6 * 0.925478834701, 0.01},
    /* J w' = -arm m g: stops at J w0 / (arm m g) */
    {"law-rolling", "a wheel on a pin, by its reaction",
     "saltus: 1\n"
     "coordinates: {y: {}, a: {velocity: 1}}\n"
     "kinetic: (y'^2 + 0.5*a'^2)/2\n"
     "potential: 9.81*y\n"
     "joints:\n"
     "  - {name: pin, constraint: y}\n"
     "dry_friction:\n"
     "  - {name: bore, rate: a', arm: 0.1, joint: pin}\n",
     0.7, 1, 0.25 / 0.981, 0.05},
    /* opens at t0 = (9.81 + 4) / 5; then z'' = 5 t - 9.81 */
    {"law-rolling", "a bond that breaks",
     "saltus: 1\n"
     "coordinates: {z: {}}\n"
     "kinetic: z'^2/2\n"
     "potential: 9.81*z\n"
     "forces: {z: 5*t}\n"
     "contacts:\n"
     "  - {name: floor, gap: z, adhesion: 4}\n",
     3.0, 0,
     5.0 / 6.0 * (27.0 - 2.762 * 2.762 * 2.762) - 2.5 * 2.762 * 2.762 * 0.238 -
         9.81 / 2.0 * 0.238 * 0.238,
     2.0},
    {"law-patch", "disc, d0 = 1/4", DISC("1", "80", PATCH), 3.3 / MU_G, 0, 1.78343505232 / MU_G,
     0.1},
    {"law-patch", "disc, d0 = 1/2", DISC("1", "40", PATCH), 2.0 / MU_G, 0, 0.983497900679 / MU_G,
     0.04},
    {"law-patch", "disc, d0 = 1", DISC("1", "20", PATCH), 1.4 / MU_G, 0, 0.637397224133 / MU_G,
     0.05},
    {"law-patch", "disc, d0 = 2", DISC("1", "10", PATCH), 1.2 / MU_G, 0, 0.532356267511 / MU_G,
     0.04},
    {"law-patch", "disc, d0 = 8", DISC("1", "2.5", PATCH), 1.1 / MU_G, 0, 0.501960657871 / MU_G,
     0.01},
    /* impulses that are not known to rounding would let the upper one drift off */
    {"law-belt", "a block on a block that slides on a floor stays there",
     "saltus: 1\n"
     "coordinates: {x1: {velocity: 0.5}, z1: {}, x2: {velocity: -0.3}, z2: {}}\n"
     "kinetic: (2*x1'^2 + 2*z1'^2 + x2'^2 + z2'^2)/2\n"
     "potential: 9.81*(2*z1 + z2) + 10*x1^2\n"
     "contacts:\n"
     "  - {name: floor, gap: z1, slip: x1', friction: {static: 0.3, kinetic: 0.15, speed: 0.05}}\n"
     "  - {name: top, gap: z2 - z1, slip: x2' - x1', friction: {static: 0.25, kinetic: 0.1}, "
     "viscous: 0.2}\n",
     5.0, 3, 0.0, 1e-10},
    /* slopes whose angle has a tangent of 0.30934 */
    {"law-belt", "a block on a slope, held by mu of sticking",
     SLOPE("friction: {static: 0.35, kinetic: 0.3}"), 1.0, 0, 0.0, 1e-9},
    {"law-belt", "a block on a slope that is too steep",
     SLOPE("friction: {static: 0.305, kinetic: 0.3}"), 1.0, 0, 0.0437489699255414, 1e-7},
    {"law-belt", "static 1, kinetic 0.6", BELT("friction: {static: 1, kinetic: 0.6}"), 60.0, -1,
     8.06888787159, 1.0},
    {"law-belt", "1 / (1 + 3 s)", BELT("friction: {curve: 1/(1 + 3*s)}"), 60.0, -1, 12.0010312948,
     5.0},
    {"law-belt", "0.5 + 0.5 exp(-s / 0.1)", BELT("friction: {static: 1, kinetic: 0.5, speed: 0.1}"),
     60.0, -1, 9.65102047789, 4.0},
};

const friction_case* friction_case_at(int i) {
  return i >= 0 && i < (int)(sizeof cases / sizeof *cases) ? &cases[i] : NULL;
}

/* Time between the last two ends of sticking, from what velocities say at the ends of steps. */
static double period(saltus_sim* sim, double until) {
  const double resting = 1e-9;
  double last = NAN, between = NAN;
  bool stuck = false;
  while (saltus_sim_time(sim) < until) {
    if (saltus_sim_step(sim) != SALTUS_OK) {
      return NAN;
    }
    const bool sticks = fabs(saltus_sim_v(sim)[0] - 0.2) < resting;
    if (stuck && !sticks) {
      between = saltus_sim_time(sim) - last;
      last = saltus_sim_time(sim);
    }
    stuck = sticks;
  }
  return between;
}

double friction_case_run(const friction_case* of, const char* scheme, double h, char* text,
                         size_t size) {
  saltus_kept_message kept = {0};
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  double found = NAN;
  const double steps = ceil(of->until / h);
  const saltus_scene_def made = {
      .path = of->label, .text = of->scene, .log = saltus_log_keep(&kept)};
  saltus_status status = saltus_scene_create(&made, &scene);
  if (status == SALTUS_OK) {
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const saltus_sim_def def = {.system = view->system,
                                .scheme = scheme,
                                .h = of->until / steps,
                                .q0 = view->q0,
                                .v0 = view->v0,
                                .log = saltus_log_keep(&kept)};
    status = saltus_sim_create(&def, &sim);
  }
  if (status == SALTUS_OK && of->coordinate < 0) {
    found = period(sim, of->until);
  } else if (status == SALTUS_OK && saltus_sim_run(sim, (long long)steps) == SALTUS_OK) {
    found = saltus_sim_q(sim)[of->coordinate];
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  snprintf(text, size, "%s", kept.text);
  return found;
}
