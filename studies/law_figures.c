/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law_figures.c - figures of the studies law-...: what laws make of chains and columns of balls, regions of slip, stick-slip in
 * the plane of its phases, a disc that slides and spins, a block on an ellipse.
 */
#include "law_figures.h"

#include "figure/figure.h"
#include "friction_cases.h"
#include "impact_cases.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- balls ----------------------------------------------------------------------------------- */

enum { BALLS = 10, LAWS = 4, PANELS = 4 };

/* Velocities of balls after an impact by each law. */
typedef struct balls {
  double number[BALLS], v[LAWS][BALLS];
  int count;
} balls;

static const char* const law_labels[LAWS] = {"Newton", "one after the other", "springs",
                                             "springs of Hertz"};

static void strike(balls* b, impact_case c, double e) {
  static const saltus_impacts rules[LAWS] = {{0},
                                             {.order = SALTUS_ORDER_SEQUENTIAL},
                                             {.order = SALTUS_ORDER_LZB, .exponent = 1.0},
                                             {.order = SALTUS_ORDER_LZB, .exponent = 1.5}};
  b->count = c.nv;
  impact_case_set(&c, SALTUS_IMPACT_NEWTON, 0.0, e, 0.0);
  for (int k = 0; k < LAWS; k++) {
    const impact_outcome out = impact_case_solve(&c, &rules[k]);
    for (int i = 0; i < c.nv; i++) {
      b->number[i] = i + 1;
      b->v[k][i] = out.status == SALTUS_OK ? out.v[i] : NAN;
    }
  }
}

static int draw_balls(const balls* all, const char* const* labels, int panels,
                      const saltusi_figure* about, const char* path) {
  saltusi_plot_series series[PANELS][LAWS];
  saltusi_panel panel[PANELS] = {{0}};
  for (int p = 0; p < panels; p++) {
    for (int k = 0; k < LAWS; k++) {
      series[p][k] = (saltusi_plot_series){.label = p == 0 ? law_labels[k] : NULL,
                                           .kind = SALTUSI_SERIES_MARKERS,
                                           .count = all[p].count,
                                           .x = all[p].number,
                                           .y = all[p].v[k]};
    }
    panel[p] = (saltusi_panel){.y_label = labels[p], .series_count = LAWS, .series = series[p]};
  }
  saltusi_figure figure = *about;
  figure.panel_count = panels;
  figure.panels = panel;
  return cli_exit_code(saltusi_figure_write(&figure, path, cli_log()));
}

int law_draw_chains(const char* path) {
  static const char* const labels[] = {"3 balls, e = 1 [m/s]", "3 balls, e = 1/2 [m/s]",
                                       "5 balls, e = 1 [m/s]", "5 balls, e = 1/2 [m/s]"};
  const saltusi_figure about = {
      .title = "Chains of balls under four laws",
      .subtitle =
          "the first ball comes with 1 m/s, the others rest and touch; velocities after the impact",
      .x_label = "ball",
      .height_cm = 18.0};
  balls all[PANELS];
  for (int p = 0; p < PANELS; p++) {
    strike(&all[p], impact_chain(p < 2 ? 3 : 5, NULL), p % 2 == 0 ? 1.0 : 0.5);
  }
  return draw_balls(all, labels, PANELS, &about, path);
}

int law_draw_columns(const char* path) {
  static const char* const labels[] = {"3 beads [m/s]", "5 beads [m/s]", "10 beads [m/s]"};
  static const int counts[] = {3, 5, 10};
  const saltusi_figure about = {.title = "Columns of beads that fall on the floor",
                                .subtitle = "all come with 1 m/s, e = 1; velocities after the "
                                            "impact, where Newton and one after the other agree",
                                .x_label = "bead, from the floor",
                                .height_cm = 16.0};
  balls all[PANELS];
  for (int p = 0; p < 3; p++) {
    strike(&all[p], impact_column(counts[p]), 1.0);
  }
  return draw_balls(all, labels, 3, &about, path);
}

/* ---- regions --------------------------------------------------------------------------------- */

enum { ACROSS = 60, UP = 41, REGIONS = 6 };

typedef struct region_map {
  double x[REGIONS][ACROSS * UP], y[REGIONS][ACROSS * UP];
  int count[REGIONS];
} region_map;

static const char* const region_names[REGIONS] = {"slide",   "C-stick",   "C-reverse",
                                                  "R-stick", "R-reverse", "jam"};

/* Regions of a rod of tilt [rad] over slip and friction, e = 0.6. */
static void find_regions(region_map* map, double tilt) {
  memset(map->count, 0, sizeof map->count);
  for (int i = 0; i < ACROSS; i++) {
    for (int k = 0; k < UP; k++) {
      const double s = -3.0 + 6.0 * i / (ACROSS - 1), mu = 0.02 + 2.0 * k / (UP - 1);
      bool jam = false;
      const impact_case c = impact_rod(tilt, s, mu, 0.6);
      const char* name = saltus_impact_region(c.W, c.u, mu, 0.6, &jam);
      int r = 0;
      while (r < REGIONS - 1 && strcmp(region_names[r], name) != 0) {
        r++;
      }
      r = jam ? REGIONS - 1 : r;
      map->x[r][map->count[r]] = s;
      map->y[r][map->count[r]++] = mu;
    }
  }
}

int law_draw_regions(const char* path) {
  static const double tilts[2] = {45.0, 60.0};
  static const char* const labels[2] = {"friction, rod at 45 degrees",
                                        "friction, rod at 60 degrees"};
  region_map* map = calloc(2, sizeof *map);
  if (map == NULL) {
    return cli_exit_code(SALTUS_ERR_MEMORY);
  }
  saltusi_plot_series series[2][REGIONS];
  saltusi_panel panel[2];
  for (int p = 0; p < 2; p++) {
    find_regions(&map[p], tilts[p] * acos(-1.0) / 180.0);
    for (int r = 0; r < REGIONS; r++) {
      series[p][r] = (saltusi_plot_series){.label = p == 0 ? region_names[r] : NULL,
                                           .kind = SALTUSI_SERIES_POINTS,
                                           .count = map[p].count[r],
                                           .x = map[p].x[r],
                                           .y = map[p].y[r]};
    }
    panel[p] = (saltusi_panel){.y_label = labels[p], .series_count = REGIONS, .series = series[p]};
  }
  const saltusi_figure figure = {.title = "What the slip of a rod on its tip does in an impact",
                                 .subtitle =
                                     "e = 0.6; C, R: slip ends in compression or restitution; jam: "
                                     "friction presses more than the impulse lifts",
                                 .footnote = "Wang and Mason 1992",
                                 .x_label = "slip over approach before the impact",
                                 .panel_count = 2,
                                 .panels = panel,
                                 .height_cm = 18.0};
  const int code = cli_exit_code(saltusi_figure_write(&figure, path, cli_log()));
  free(map);
  return code;
}

/* ---- motions --------------------------------------------------------------------------------- */

enum { SAMPLES = 6000 };

/* Two numbers of a motion over time. */
typedef struct track {
  double t[SAMPLES], x[SAMPLES], y[SAMPLES];
  int count;
} track;

/* Which: coordinate `which[0]` and `which[1]`, of velocities where they count on from 10. */
static double number_of(const saltus_sim* sim, int which) {
  return which < 10 ? saltus_sim_q(sim)[which] : saltus_sim_v(sim)[which - 10];
}

static saltus_status follow(track* to, const friction_case* of, const int which[2], double from) {
  const double h = 5e-4;
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  const saltus_scene_def made = {.path = of->label, .text = of->scene, .log = cli_log()};
  saltus_status status = saltus_scene_create(&made, &scene);
  if (status == SALTUS_OK) {
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const saltus_sim_def def = {.system = view->system,
                                .scheme = "moreau-jean",
                                .h = h,
                                .q0 = view->q0,
                                .v0 = view->v0,
                                .log = cli_log()};
    status = saltus_sim_create(&def, &sim);
  }
  const long long steps = (long long)((of->until - from) / h), every = 1 + steps / SAMPLES;
  to->count = 0;
  for (long long k = 0; status == SALTUS_OK && saltus_sim_time(sim) < of->until; k++) {
    if (saltus_sim_time(sim) >= from && k % every == 0 && to->count < SAMPLES) {
      to->t[to->count] = saltus_sim_time(sim);
      to->x[to->count] = number_of(sim, which[0]);
      to->y[to->count++] = number_of(sim, which[1]);
    }
    status = saltus_sim_step(sim);
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return status;
}

/* Tracks of the cases of a study, from a time on periods alone; how many. */
static int follow_all(track* tracks, const char** labels, int most, const char* study_name,
                      const int which[2], double from) {
  int count = 0;
  for (int i = 0; friction_case_at(i) != NULL && count < most; i++) {
    const friction_case* of = friction_case_at(i);
    if (strcmp(study_name, of->study) == 0 && of->coordinate == (from > 0.0 ? -1 : 0)) {
      if (follow(&tracks[count], of, which, from) != SALTUS_OK) {
        return -1;
      }
      labels[count++] = of->label;
    }
  }
  return count;
}

enum { TRACKS = 5 };

/* One panel with y over x. */
static int draw_paths(const char* cases, const char* const* names, const int which[2], double from,
                      const saltusi_figure* about, const char* y_label, const char* path) {
  const char* labels[TRACKS];
  saltusi_plot_series series[TRACKS];
  track* tracks = calloc(TRACKS, sizeof *tracks);
  int code = CLI_FAILED;
  const int count = tracks != NULL ? follow_all(tracks, labels, TRACKS, cases, which, from) : -1;
  for (int k = 0; k < count; k++) {
    series[k] = (saltusi_plot_series){.label = names != NULL ? names[k] : labels[k],
                                      .count = tracks[k].count,
                                      .x = tracks[k].x,
                                      .y = tracks[k].y,
                                      .path = true};
  }
  if (count > 0) {
    const saltusi_panel panel = {.y_label = y_label, .series_count = count, .series = series};
    saltusi_figure figure = *about;
    figure.panel_count = 1;
    figure.panels = &panel;
    figure.height_cm = 11.0;
    code = cli_exit_code(saltusi_figure_write(&figure, path, cli_log()));
  }
  free(tracks);
  return code;
}

int law_draw_stribeck(const char* path) {
  const saltusi_figure about = {
      .title = "Stick-slip of a block on a belt",
      .subtitle =
          "m = 1 kg, k = 1 N/m, pressed with 1 N, belt 0.2 m/s; sticks along the straight line",
      .x_label = "position [m]"};
  return draw_paths("law-belt", NULL, (const int[]){0, 10}, 40.0, &about, "velocity [m/s]", path);
}

int law_draw_ellipse(const char* path) {
  static const char* const names[TRACKS] = {"associated: most is dissipated", "against the slip"};
  const saltusi_figure about = {.title = "A block that slides on an elliptic cone",
                                .subtitle = "from (0, 0) with (1, 1) m/s; most dissipated "
                                            "(associated), and straight against the slip",
                                .x_label = "along the axis of 0.4 [m]"};
  return draw_paths("law-elliptic", names, (const int[]){0, 1}, 0.0, &about,
                    "along that of 0.283 [m]", path);
}

int law_draw_disc(const char* path) {
  const char* labels[TRACKS];
  saltusi_plot_series series[2][TRACKS];
  track* tracks = calloc(TRACKS, sizeof *tracks);
  int code = CLI_FAILED;
  const int count =
      tracks != NULL ? follow_all(tracks, labels, TRACKS, "law-patch", (const int[]){10, 13}, 0.0)
                     : -1;
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < tracks[k].count; i++) {
      tracks[k].y[i] *= 0.05; /* speed of the rim */
    }
    series[0][k] = (saltusi_plot_series){
        .label = labels[k], .count = tracks[k].count, .x = tracks[k].t, .y = tracks[k].x};
    series[1][k] =
        (saltusi_plot_series){.count = tracks[k].count, .x = tracks[k].t, .y = tracks[k].y};
  }
  if (count > 0) {
    const saltusi_panel panels[2] = {
        {.y_label = "slip [m/s]", .series_count = count, .series = series[0]},
        {.y_label = "rim by spin [m/s]", .series_count = count, .series = series[1]}};
    const saltusi_figure figure = {
        .title = "A disc that slides and spins stops doing both at once",
        .subtitle =
            "uniform pressure, mu = 0.3, radius 0.05 m; d0 is slip over rim speed at the start",
        .x_label = "time [s]",
        .panel_count = 2,
        .panels = panels};
    code = cli_exit_code(saltusi_figure_write(&figure, path, cli_log()));
  }
  free(tracks);
  return code;
}
