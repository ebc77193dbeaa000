/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * compare.c - saltus compare: comparison of two recordings of one scene, as a table, as JSON and as a figure.
 */
#include "saltus/compare.h"
#include "cli.h"
#include "figure/figure.h"
#include "json.h"
#include "model.h"
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct compare_job {
  const char* path[2];
  saltus_recording_data* data[2];
  saltus_scene* scene;
  saltus_comparison* found;
} compare_job;

static const char* label(const saltus_label* labels, int i, const char* letter, char* text,
                         size_t bytes) {
  if (labels != NULL) {
    return cli_one_line(labels[i].name, text, bytes);
  }
  snprintf(text, bytes, "%s%d", letter, i + 1);
  return text;
}

static const char* unit_of(const saltus_label* labels, int i) {
  return labels != NULL ? labels[i].unit : "";
}

/* Contact or function of an event. */
static const char* owner(const compare_job* j, const saltus_event* e, char* text, size_t bytes) {
  const saltus_recording_data* d = j->data[0];
  if (saltus_event_is_user_defined(e->kind)) {
    bool known = e->contact >= 0 && e->contact < d->event_name_count;
    return known ? cli_one_line(d->event_names[e->contact], text, bytes) : "?";
  }
  if (d->changing) {
    snprintf(text, bytes, "%" PRIu64, e->identity);
    return text;
  }
  bool known = e->contact >= 0 && e->contact < d->nc;
  return known ? cli_one_line(d->contact_names[e->contact], text, bytes) : "?";
}

static const saltus_event* event_of(const compare_job* j, const saltus_event_pair* p) {
  return p->a >= 0 ? &j->data[0]->events[p->a] : &j->data[1]->events[p->b];
}

/* --- text ------------------------------------------------------------------------------------------- */

static void print_columns(const compare_job* j) {
  const saltus_comparison* c = j->found;
  const saltus_recording_data* d = j->data[0];
  char text[64];
  printf("Positions at %lld instant%s%s:\n", c->instants, cli_plural(c->instants),
         c->interpolated ? ", between states by cubics" : "");
  printf("  %-16s %12s %14s %12s %12s\n", "coordinate", "largest", "at t [s]", "mean", "of graphs");
  for (int i = 0; i < c->nq; i++) {
    printf("  %-16s %12.4g %14.8g %12.4g %12.4g %s\n",
           label(d->q_labels, i, "q", text, sizeof text), c->position[i], c->position_at[i],
           c->position_mean[i], c->position_graphs[i], unit_of(d->q_labels, i));
  }
  printf("Velocities, Hausdorff distance of graphs in max(|dt|, |dv|):\n");
  for (int i = 0; i < c->nv; i++) {
    printf("  %-16s %12.4g %s\n", label(d->v_labels, i, "v", text, sizeof text),
           c->velocity_graphs[i], unit_of(d->v_labels, i));
  }
}

static void print_pairs(const compare_job* j, long long most) {
  const saltus_comparison* c = j->found;
  printf("  %-12s %-16s %16s %12s %12s %12s\n", "event", "of", "t [s]", "dt [s]", "du+ [m/s]",
         "dP [N s]");
  char text[64];
  for (long long i = 0; i < c->pair_count && i < most; i++) {
    const saltus_event_pair* p = &c->pairs[i];
    const saltus_event* e = event_of(j, p);
    printf("  %-12s %-16s %16.10g", saltus_event_kind_name(e->kind), owner(j, e, text, sizeof text),
           e->t);
    if (p->a >= 0 && p->b >= 0) {
      printf(" %12.3e %12.3e %12.3e\n", p->dt, p->u_after, p->impulse);
    } else {
      printf(" %12s\n", p->a >= 0 ? "only in A" : "only in B");
    }
  }
  if (c->pair_count > most) {
    printf("  ... and %lld more (--events prints all)\n", c->pair_count - most);
  }
}

static void print_settings(const saltus_recording_data* d, const char* letter, const char* path) {
  printf("%s: %s, %lld states by %s (%s)\n", letter, path, d->count, d->scheme, d->options);
  static const char mark[] = "# --set ";
  for (const char* at = d->scene; *at != '\0';) {
    size_t length = strcspn(at, "\n");
    if (strncmp(at, mark, sizeof mark - 1) == 0) {
      char line[256];
      char shown[512];
      snprintf(line, sizeof line, "%.*s", (int)(length - (sizeof mark - 1)), at + sizeof mark - 1);
      printf("   with %s\n", cli_one_line(line, shown, sizeof shown));
    }
    at += length + (at[length] == '\n');
  }
}

static void print_comparison(const compare_job* j, bool all) {
  const saltus_comparison* c = j->found;
  char text[64];
  print_settings(j->data[0], "A", j->path[0]);
  print_settings(j->data[1], "B", j->path[1]);
  printf("From t = %g s to %g s.\n", c->start, c->end);
  print_columns(j);
  if (c->pair_count == 0) {
    printf("No events.\n");
    return;
  }
  printf("Events: %lld matched, %lld only in A, %lld only in B.\n", c->matched, c->only_a,
         c->only_b);
  if (c->matched > 0) {
    const saltus_event* e = &j->data[0]->events[c->worst.a];
    printf("  matched ones differ by up to %.3e s (%s of %s at t = %.8g s), %.3e m/s before, %.3e "
           "m/s after, %.3e N s, %.3e J\n",
           c->worst.dt, saltus_event_kind_name(e->kind), owner(j, e, text, sizeof text), e->t,
           c->worst.u_before, c->worst.u_after, c->worst.impulse, c->worst.energy);
  }
  print_pairs(j, all ? c->pair_count : 20);
}

/* --- JSON ------------------------------------------------------------------------------------------- */

static void json_pair(json* out, const compare_job* j, const saltus_event_pair* p) {
  char text[64];
  const saltus_event* e = event_of(j, p);
  json_open(out, NULL, '{');
  json_text(out, "kind", saltus_event_kind_name(e->kind));
  json_text(out, "of", owner(j, e, text, sizeof text));
  json_number(out, "t_a", p->a >= 0 ? j->data[0]->events[p->a].t : NAN);
  json_number(out, "t_b", p->b >= 0 ? j->data[1]->events[p->b].t : NAN);
  json_number(out, "dt", p->dt);
  json_number(out, "u_before", p->u_before);
  json_number(out, "u_after", p->u_after);
  json_number(out, "impulse", p->impulse);
  json_number(out, "energy", p->energy);
  json_close(out, '}');
}

static void print_machine(const compare_job* j) {
  const saltus_comparison* c = j->found;
  const saltus_recording_data* d = j->data[0];
  char text[64];
  json out = {.file = stdout};
  json_open(&out, NULL, '{');
  json_text(&out, "a", j->path[0]);
  json_text(&out, "b", j->path[1]);
  json_number(&out, "start", c->start);
  json_number(&out, "end", c->end);
  json_integer(&out, "instants", c->instants);
  json_bool(&out, "interpolated", c->interpolated);
  json_number(&out, "position", c->positions.value);
  json_number(&out, "position_at", c->positions.t);
  json_number(&out, "position_graph", c->position_graph.value);
  json_number(&out, "velocity_graph", c->velocity_graph.value);
  json_open(&out, "positions", '[');
  for (int i = 0; i < c->nq; i++) {
    json_open(&out, NULL, '{');
    json_text(&out, "name", label(d->q_labels, i, "q", text, sizeof text));
    json_text(&out, "unit", unit_of(d->q_labels, i));
    json_number(&out, "largest", c->position[i]);
    json_number(&out, "t", c->position_at[i]);
    json_number(&out, "mean", c->position_mean[i]);
    json_number(&out, "graph", c->position_graphs[i]);
    json_close(&out, '}');
  }
  json_close(&out, ']');
  json_open(&out, "velocities", '[');
  for (int i = 0; i < c->nv; i++) {
    json_open(&out, NULL, '{');
    json_text(&out, "name", label(d->v_labels, i, "v", text, sizeof text));
    json_text(&out, "unit", unit_of(d->v_labels, i));
    json_number(&out, "graph", c->velocity_graphs[i]);
    json_close(&out, '}');
  }
  json_close(&out, ']');
  json_integer(&out, "matched", c->matched);
  json_integer(&out, "only_a", c->only_a);
  json_integer(&out, "only_b", c->only_b);
  json_number(&out, "event_time", c->worst.dt);
  json_number(&out, "event_impulse", c->worst.impulse);
  json_open(&out, "events", '[');
  for (long long i = 0; i < c->pair_count; i++) {
    json_pair(&out, j, &c->pairs[i]);
  }
  json_close(&out, ']');
  json_close(&out, '}');
  printf("\n");
}

/* --- figure ----------------------------------------------------------------------------------------- */

/* One column of both recordings. */
static bool draw_column(const compare_job* j, const double* const x[2], int width, int column,
                        saltusi_series_kind kind, saltusi_plot_series series[2]) {
  bool good = true;
  for (int k = 0; k < 2; k++) {
    const saltus_recording_data* d = j->data[k];
    double* y = calloc((size_t)d->count + 1, sizeof *y);
    good = good && y != NULL;
    for (long long i = 0; y != NULL && i < d->count; i++) {
      y[i] = x[k][i * width + column];
    }
    series[k] = (saltusi_plot_series){.label = k == 0 ? "A" : "B",
                                      .kind = kind,
                                      .count = y != NULL ? (int)d->count : 0,
                                      .x = d->t,
                                      .y = y,
                                      .dashed = k == 1};
  }
  return good;
}

/* The largest difference of positions at each instant; zero is a gap on the log axis. */
static double* draw_differences(const saltus_comparison* c) {
  double* y = calloc((size_t)c->instants + 1, sizeof *y);
  for (long long i = 0; y != NULL && i < c->instants; i++) {
    y[i] = c->difference[i] > 0.0 ? c->difference[i] : NAN;
  }
  return y;
}

/* Differences in time of matched events: t and |dt|. */
static int draw_pairs(const compare_job* j, double* t, double* dt) {
  const saltus_comparison* c = j->found;
  int count = 0;
  for (long long i = 0; i < c->pair_count; i++) {
    const saltus_event_pair* p = &c->pairs[i];
    if (p->a >= 0 && p->b >= 0 && p->dt != 0.0) {
      t[count] = j->data[0]->events[p->a].t;
      dt[count++] = fabs(p->dt);
    }
  }
  return count;
}

static saltus_status draw(const compare_job* j, const char* path) {
  enum { POSITIONS, OFF, VELOCITIES, EVENTS, PANELS };
  const saltus_comparison* c = j->found;
  const saltus_recording_data* d = j->data[0];
  int q = c->positions.column;
  int v = c->velocity_graph.column;
  char text[2][64], names[3][128];
  snprintf(names[0], sizeof names[0], "%s [%s]", label(d->q_labels, q, "q", text[0], 64),
           unit_of(d->q_labels, q));
  snprintf(names[1], sizeof names[1], "%s [%s]", label(d->v_labels, v, "v", text[1], 64),
           unit_of(d->v_labels, v));
  snprintf(names[2], sizeof names[2], "A: %s, %s. B: %s, %s.", j->path[0], j->data[0]->scheme,
           j->path[1], j->data[1]->scheme);
  double* dt = calloc(2 * ((size_t)c->pair_count + 1), sizeof *dt);
  saltusi_plot_series lines[2], jumps[2];
  const double* positions[2] = {j->data[0]->q, j->data[1]->q};
  const double* velocities[2] = {j->data[0]->v, j->data[1]->v};
  bool good = draw_column(j, positions, c->nq, q, SALTUSI_SERIES_LINE, lines);
  good = draw_column(j, velocities, c->nv, v, SALTUSI_SERIES_JUMPS, jumps) && good;
  double* differences = draw_differences(c);
  good = good && dt != NULL && differences != NULL;
  int count = good ? draw_pairs(j, dt, dt + c->pair_count + 1) : 0;
  const saltusi_plot_series off = {
      .count = (int)c->instants, .x = c->instant, .y = differences, .kind = SALTUSI_SERIES_LINE};
  const saltusi_plot_series apart = {.count = count,
                                     .x = dt,
                                     .y = dt != NULL ? dt + c->pair_count + 1 : NULL,
                                     .kind = SALTUSI_SERIES_POINTS};
  const saltusi_panel panels[PANELS] = {
      [POSITIONS] = {.y_label = names[0], .series_count = 2, .series = lines},
      [OFF] = {.y_label = "largest difference", .log_y = true, .series_count = 1, .series = &off},
      [VELOCITIES] = {.y_label = names[1], .series_count = 2, .series = jumps},
      [EVENTS] = {.y_label = "events |dt| [s]", .log_y = true, .series_count = 1, .series = &apart},
  };
  const saltusi_figure figure = {.title = d->name[0] != '\0' ? d->name : "Two recordings",
                                 .footnote = names[2],
                                 .x_label = "time [s]",
                                 .panel_count = count > 0 ? PANELS : PANELS - 1,
                                 .panels = panels};
  saltus_status status = good ? saltusi_figure_write(&figure, path, cli_log()) : SALTUS_ERR_MEMORY;
  for (int k = 0; k < 2; k++) {
    free((void*)lines[k].y);
    free((void*)jumps[k].y);
  }
  free(differences);
  free(dt);
  return status;
}

/* --- the command ------------------------------------------------------------------------------------ */

static int compare(const cli_args* args, compare_job* j) {
  saltus_compare_def def = saltus_compare_def_default();
  def.a = j->data[0];
  def.b = j->data[1];
  def.any = cli_has(args, "--any");
  def.log = cli_log();
  int code = cli_real(args, "--match", &def.match);
  if (code != CLI_DONE) {
    return code;
  }
  /* with more positions than velocities the scene defines the rates of positions */
  const saltus_scene_def scene = {.path = j->path[0], .text = j->data[0]->scene, .recorded = true};
  if (j->data[0]->nq != j->data[0]->nv && j->data[0]->scene[0] != '\0' &&
      saltus_scene_create(&scene, &j->scene) == SALTUS_OK) {
    def.system = saltus_scene_get_view(j->scene)->system;
    bool fits = def.system->dims.nq == j->data[0]->nq && def.system->dims.nv == j->data[0]->nv;
    def.system = fits ? def.system : NULL;
  }
  code = cli_exit_code(saltus_compare(&def, &j->found));
  if (code == CLI_DONE && cli_has(args, "--json")) {
    print_machine(j);
  } else if (code == CLI_DONE) {
    print_comparison(j, cli_has(args, "--events"));
  }
  const char* path = cli_value(args, "-o");
  if (code == CLI_DONE && path != NULL && (j->found->nq == 0 || j->found->nv == 0)) {
    cli_error("compare: recordings without coordinates have no figure");
    return CLI_USAGE;
  }
  return code == CLI_DONE && path != NULL ? cli_exit_code(draw(j, path)) : code;
}

int cli_compare(const cli_args* args) {
  compare_job j = {.path = {args->positional[0], args->positional[1]}};
  const char* figure = cli_value(args, "-o");
  int code =
      figure != NULL ? cli_exit_code(saltusi_figure_path_check(figure, cli_log())) : CLI_DONE;
  for (int k = 0; k < 2 && code == CLI_DONE; k++) {
    code = saltus_recording_read(j.path[k], cli_log(), NULL, &j.data[k]) == SALTUS_OK ? CLI_DONE
                                                                                      : CLI_USAGE;
  }
  code = code == CLI_DONE ? compare(args, &j) : code;
  saltus_comparison_destroy(j.found);
  saltus_scene_destroy(j.scene);
  saltus_recording_data_destroy(j.data[0]);
  saltus_recording_data_destroy(j.data[1]);
  return code;
}
