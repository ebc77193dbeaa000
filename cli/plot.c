/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * plot.c - saltus plot: a recording as a figure. Coordinates of one unit are in one panel;
 * velocities jump where the recording has an impact; forces, impulses and events have separate
 * panels.
 */
#include "cli.h"
#include "contacts.h"
#include "figure/figure.h"
#include "files.h"
#include "plot_choice.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 8, MOST_PANELS = SALTUSI_FIGURE_PANELS_MAX, MOST_MARKS = 12, MOST_ROWS = 64 };

typedef struct plot {
  const saltus_recording_data* data;
  const plot_choice* choice;
  saltusi_panel panels[MOST_PANELS];
  saltusi_plot_series series[MOST_PANELS][MOST_LINES];
  char labels[MOST_PANELS][128];
  int panel_count;
  saltusi_plot_mark marks[MOST_MARKS];
  int mark_count;
  void* blocks[MOST_PANELS * MOST_LINES * 2]; /* arrays to free */
  int block_count;
  const char* rows[MOST_ROWS]; /* of the panel of events: contacts, then the scene's own */
  int row_of[MOST_ROWS];       /* contact of a row, or -1 - index of the event of the scene */
  int row_count;
  char note[160]; /* contacts of a time-varying set that are not drawn; empty: none */
  bool cut;       /* more lines than fit */
  bool failed;    /* no memory */
} plot;

static double* take(plot* p, long long count) {
  double* room = calloc((size_t)count + 1, sizeof(double));
  if (room == NULL) {
    p->failed = true;
    return NULL;
  }
  p->blocks[p->block_count++] = room;
  return room;
}

static saltusi_panel* add_panel(plot* p, const char* what, const char* unit) {
  if (p->panel_count == MOST_PANELS) {
    p->cut = true;
    return NULL;
  }
  int k = p->panel_count++;
  snprintf(p->labels[k], sizeof p->labels[k], unit[0] != '\0' ? "%s [%s]" : "%s%s", what, unit);
  p->panels[k] = (saltusi_panel){.y_label = p->labels[k], .series = p->series[k]};
  return &p->panels[k];
}

static void add_series(plot* p, saltusi_panel* panel, saltusi_plot_series line) {
  if (panel == NULL || panel->series_count == MOST_LINES) {
    p->cut = true;
    return;
  }
  p->series[panel - p->panels][panel->series_count++] = line;
}

/* Every stride-th number of an array. */
static double* column(plot* p, const double* x, int stride) {
  double* y = take(p, p->data->count);
  for (long long i = 0; y != NULL && i < p->data->count; i++) {
    y[i] = x[i * stride];
  }
  return y;
}

static bool impact_within(const saltus_recording_data* data, double after, double until,
                          long long* cursor, double* when) {
  bool found = false;
  while (*cursor < data->event_count && data->events[*cursor].t <= until) {
    const saltus_event* event = &data->events[(*cursor)++];
    if (event->kind == SALTUS_EVENT_IMPACT && event->t > after && !found) {
      *when = event->t;
      found = true;
    }
  }
  return found;
}

/* A velocity with its jumps: two points at the time of each impact, values from both sides. */
static void add_velocity(plot* p, saltusi_panel* panel, int i) {
  const saltus_recording_data* data = p->data;
  double* x = take(p, 3 * data->count); /* each state may follow the two sides of an impact */
  double* y = take(p, 3 * data->count);
  if (x == NULL || y == NULL) {
    return;
  }
  int count = 0;
  long long cursor = 0;
  for (long long k = 0; k < data->count; k++) {
    double value = data->v[k * data->nv + i];
    double when = 0.0;
    bool both = k + 1 < data->count && data->t[k + 1] == data->t[k]; /* sides are recorded */
    if (k > 0 && impact_within(data, data->t[k - 1], data->t[k], &cursor, &when) && !both) {
      x[count] = when;
      y[count++] = data->v[(k - 1) * data->nv + i];
      x[count] = when;
      y[count++] = value;
    }
    x[count] = data->t[k];
    y[count++] = value;
  }
  add_series(p, panel,
             (saltusi_plot_series){.label = data->v_labels[i].name,
                                   .kind = SALTUSI_SERIES_JUMPS,
                                   .count = count,
                                   .x = x,
                                   .y = y});
}

/* Columns of one kind: positions, velocities or outputs. */
typedef struct group {
  const saltus_label* labels;
  const double* x; /* [count x n] */
  int n;
  const char* what; /* name of a panel with several lines */
  const char* name; /* of the group, for --series */
  bool velocity;
} group;

static bool drawn(const plot* p, const group* g, int i) {
  return plot_chosen(p->choice, g->labels[i].name, g->name);
}

static void add_line(plot* p, saltusi_panel* panel, const group* g, int i) {
  if (g->velocity) {
    add_velocity(p, panel, i);
    return;
  }
  add_series(p, panel,
             (saltusi_plot_series){.label = g->labels[i].name,
                                   .kind = strcmp(g->name, "outputs") == 0 ? SALTUSI_SERIES_JUMPS
                                                                           : SALTUSI_SERIES_LINE,
                                   .count = (int)p->data->count,
                                   .x = p->data->t,
                                   .y = column(p, g->x + i, g->n)});
}

/* One panel for each unit among the labels that are drawn; outputs without a unit have one each. */
static void add_group(plot* p, const group* g) {
  for (int i = 0; i < g->n && g->x != NULL; i++) {
    bool alone = strcmp(g->name, "outputs") == 0 && g->labels[i].unit[0] == '\0';
    bool first = drawn(p, g, i);
    for (int k = 0; k < i && !alone; k++) {
      first = first && !(drawn(p, g, k) && strcmp(g->labels[k].unit, g->labels[i].unit) == 0);
    }
    if (!first) {
      continue;
    }
    int members = 0;
    int end = alone ? i + 1 : g->n;
    for (int k = i; k < end; k++) {
      members += drawn(p, g, k) && strcmp(g->labels[k].unit, g->labels[i].unit) == 0;
    }
    saltusi_panel* panel =
        add_panel(p, members == 1 ? g->labels[i].name : g->what, g->labels[i].unit);
    for (int k = i; k < end && !p->failed && panel != NULL; k++) {
      if (drawn(p, g, k) && strcmp(g->labels[k].unit, g->labels[i].unit) == 0) {
        p->cut = p->cut || panel->series_count == MOST_LINES;
        if (panel->series_count < MOST_LINES) {
          add_line(p, panel, g, k);
        }
      }
    }
  }
}

/* Impulses as stems, only where there are any. */
static void add_impulses(plot* p) {
  const saltus_recording_data* data = p->data;
  saltusi_panel* panel = NULL;
  for (int c = 0; c < data->nc && data->impulse != NULL && !p->failed; c++) {
    long long count = 0;
    for (long long k = 0; k < data->count; k++) {
      count += data->impulse[(k * data->nc + c) * 3] != 0.0;
    }
    if (count == 0 ||
        !plot_contact_chosen(p->choice, data->contact_names[c], "impulse", "impulses")) {
      continue;
    }
    panel = panel == NULL ? add_panel(p, "impulse", "N s") : panel;
    double* x = take(p, count);
    double* y = take(p, count);
    int at = 0;
    for (long long k = 0; x != NULL && y != NULL && k < data->count; k++) {
      double impulse = data->impulse[(k * data->nc + c) * 3];
      if (impulse != 0.0) {
        x[at] = data->t[k];
        y[at++] = impulse;
      }
    }
    add_series(p, panel,
               (saltusi_plot_series){.label = data->contact_names[c],
                                     .kind = SALTUSI_SERIES_STEMS,
                                     .count = at,
                                     .x = x,
                                     .y = y});
  }
}

/* Mean forces: the value of a frame is the mean over the interval before it. */
static void add_forces(plot* p) {
  const saltus_recording_data* data = p->data;
  saltusi_panel* panel = NULL;
  for (int c = 0; c < data->nc && data->force != NULL && !p->failed; c++) {
    double* y = take(p, data->count);
    bool any = false;
    for (long long k = 0; y != NULL && k < data->count; k++) {
      long long frame = k + 1 < data->count ? k + 1 : k;
      y[k] = data->force[(frame * data->nc + c) * 3];
      any = any || y[k] != 0.0;
    }
    if (any && plot_contact_chosen(p->choice, data->contact_names[c], "force", "forces")) {
      panel = panel == NULL ? add_panel(p, "contact force", "N") : panel;
      add_series(p, panel,
                 (saltusi_plot_series){.label = data->contact_names[c],
                                       .kind = SALTUSI_SERIES_STEPS,
                                       .count = (int)data->count,
                                       .x = data->t,
                                       .y = y});
    }
  }
}

/* The row of an event; -1: none yet. */
static int row_of(const plot* p, const saltus_event* event) {
  int what = saltus_event_is_user_defined(event->kind) ? -1 - event->contact
             : p->data->changing                       ? event->law
                                                       : event->contact;
  for (int i = 0; i < p->row_count; i++) {
    if (p->row_of[i] == what) {
      return i;
    }
  }
  return -1;
}

/* Rows of the contacts that have events, in order, then of the scene's own events. */
static void make_rows(plot* p) {
  const saltus_recording_data* data = p->data;
  for (int own = 0; own < 2; own++) {
    bool laws = data->changing && own == 0; /* their contacts are too many for a row each */
    int count = own ? data->event_name_count : laws ? data->law_count : data->nc;
    const char* const* names = own    ? data->event_names
                               : laws ? data->law_names
                                      : data->contact_names;
    for (int k = 0; k < count; k++) {
      bool any = false;
      for (long long i = 0; i < data->event_count && !any; i++) {
        const saltus_event* event = &data->events[i];
        any = (laws ? event->law : event->contact) == k &&
              saltus_event_is_user_defined(event->kind) == (own == 1);
      }
      if (any && p->row_count < MOST_ROWS) {
        p->rows[p->row_count] = names[k];
        p->row_of[p->row_count++] = own ? -1 - k : k;
      }
      p->cut = p->cut || (any && p->row_count == MOST_ROWS);
    }
  }
}

/* Events of one kind as points, by the row of their contact or name. */
static void add_kind(plot* p, saltusi_panel* panel, saltus_event_kind kind) {
  const saltus_recording_data* data = p->data;
  int count = 0;
  for (long long i = 0; i < data->event_count; i++) {
    count += data->events[i].kind == kind;
  }
  double* x = count > 0 ? take(p, count) : NULL;
  double* y = count > 0 ? take(p, count) : NULL;
  if (x == NULL || y == NULL) {
    return;
  }
  int at = 0;
  for (long long i = 0; i < data->event_count; i++) {
    if (data->events[i].kind == kind) {
      x[at] = data->events[i].t;
      y[at++] = row_of(p, &data->events[i]) + 1;
    }
  }
  /* a kind has the same colour in all figures */
  add_series(p, panel,
             (saltusi_plot_series){.label = saltus_event_kind_name(kind),
                                   .kind = SALTUSI_SERIES_POINTS,
                                   .count = at,
                                   .x = x,
                                   .y = y,
                                   .colour = (saltusi_colour)(SALTUSI_COLOUR_BLUE +
                                                              (int)kind % SALTUSI_COLOUR_GREY)});
}

/* A panel of events by kind and contact, and lines at accumulations of impacts and at friction without a unique force.
 * */
static void add_events(plot* p) {
  const saltus_recording_data* data = p->data;
  if (data->event_count == 0 || !plot_chosen(p->choice, "events", "events")) {
    return;
  }
  make_rows(p);
  saltusi_panel* panel = add_panel(p, data->event_name_count > 0 ? "events" : "contact", "");
  if (panel == NULL) {
    return;
  }
  panel->weight = 0.5 + 0.05 * (p->row_count > 4 ? p->row_count - 4 : 0);
  panel->whole_y = true;
  panel->y_names = p->rows;
  panel->y_name_count = p->row_count;
  for (int kind = 0; kind < SALTUS_EVENT_KINDS && !p->failed; kind++) {
    add_kind(p, panel, (saltus_event_kind)kind);
  }
  for (long long i = 0; i < data->event_count && p->mark_count < MOST_MARKS; i++) {
    const saltus_event* event = &data->events[i];
    if (event->kind == SALTUS_EVENT_ACCUMULATION || event->kind == SALTUS_EVENT_PAINLEVE ||
        saltus_event_is_remark(event->kind)) {
      p->marks[p->mark_count++] =
          (saltusi_plot_mark){.x = event->t, .label = saltus_event_kind_name(event->kind)};
    }
  }
}

static void add_energy(plot* p) {
  const saltus_recording_data* data = p->data;
  if (data->kinetic == NULL || data->potential == NULL || !isfinite(data->potential[0]) ||
      !plot_chosen(p->choice, "energy", "energy")) {
    return;
  }
  double* total = take(p, data->count);
  for (long long k = 0; total != NULL && k < data->count; k++) {
    total[k] = data->kinetic[k] + data->potential[k];
  }
  saltusi_panel* panel = add_panel(p, "energy", "J");
  const struct {
    const char* label;
    const double* y;
  } lines[] = {{"kinetic", data->kinetic}, {"potential", data->potential}, {"total", total}};
  for (int i = 0; i < 3; i++) {
    add_series(
        p, panel,
        (saltusi_plot_series){.label = lines[i].label,
                              .count = (int)data->count,
                              .x = data->t,
                              .y = lines[i].y,
                              .colour = i == 2 ? SALTUSI_COLOUR_BLACK : SALTUSI_COLOUR_AUTO});
  }
}

/* Energy balance since the start; terms that stay zero are omitted. */
static void add_ledger(plot* p) {
  const saltus_recording_data* data = p->data;
  const struct {
    const char* label;
    const double* y;
  } lines[] = {{"external forces", data->energy_external},
               {"drives", data->energy_drive},
               {"friction", data->energy_friction},
               {"impacts", data->energy_impact},
               {"numerical remainder", data->energy_remainder}};
  if (data->energy_remainder == NULL || !isfinite(data->energy_remainder[data->count - 1]) ||
      !plot_chosen(p->choice, "ledger", "ledger")) {
    return;
  }
  saltusi_panel* panel = add_panel(p, "energy ledger", "J");
  for (int i = 0; i < 5; i++) {
    bool remainder = i == 4;
    bool any = remainder;
    for (long long k = 0; k < data->count && !any; k++) {
      any = lines[i].y != NULL && lines[i].y[k] != 0.0;
    }
    if (any) {
      add_series(
          p, panel,
          (saltusi_plot_series){.label = lines[i].label,
                                .count = (int)data->count,
                                .x = data->t,
                                .y = lines[i].y,
                                .colour = remainder ? SALTUSI_COLOUR_BLACK : SALTUSI_COLOUR_AUTO});
    }
  }
}

/* Writes the figure; an exit code. */
static int write_figure(const plot* p, saltusi_figure figure, const char* path) {
  const saltus_recording_data* data = p->data;
  char subtitle[320];
  snprintf(subtitle, sizeof subtitle, "scheme %s, %lld state%s", data->scheme, data->count,
           cli_plural(data->count));
  figure.title = data->name;
  figure.subtitle = data->scheme[0] != '\0' ? subtitle : NULL;
  figure.footnote = p->note[0] != '\0' ? p->note : p->cut ? "only the first lines are drawn" : NULL;
  figure.panel_count = p->panel_count;
  figure.panels = p->panels;
  if (p->failed) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  if (p->panel_count == 0) {
    cli_error("plot: the selected series have no values in this recording");
    return CLI_USAGE;
  }
  saltus_status status = saltusi_figure_write(&figure, path, cli_log());
  return status == SALTUS_ERR_IO ? cli_unwritten_code(path) : cli_exit_code(status);
}

static int draw_series(plot* p, const char* path) {
  const saltus_recording_data* data = p->data;
  const group groups[] = {
      {data->q_labels, data->q, data->nq, "position", "positions", false},
      {data->v_labels, data->v, data->nv, "velocity", "velocities", true},
      {data->output_labels, data->outputs, data->output_count, "output", "outputs", false}};
  for (int i = 0; i < 3; i++) {
    add_group(p, &groups[i]);
  }
  add_impulses(p);
  add_forces(p);
  add_energy(p);
  add_ledger(p);
  add_events(p);
  const saltusi_figure figure = {
      .x_label = "time [s]", .mark_count = p->mark_count, .marks = p->marks};
  return write_figure(p, figure, path);
}

/* One column over another; jumps at impacts are drawn in a light colour. */
static int draw_phase(plot* p, const plot_column pair[2], const char* path) {
  char x_label[128];
  const char* unit = pair[0].label->unit;
  snprintf(x_label, sizeof x_label, unit[0] != '\0' ? "%s [%s]" : "%s%s", pair[0].label->name,
           unit);
  saltusi_panel* panel = add_panel(p, pair[1].label->name, pair[1].label->unit);
  panel->weight = 2.0;
  double* x = take(p, 2 * p->data->count);
  double* y = take(p, 2 * p->data->count);
  int count = 0;
  for (long long k = 0; x != NULL && y != NULL && k < p->data->count; k++) {
    if (k > 0 && p->data->t[k] == p->data->t[k - 1]) { /* both sides of an impact: a jump */
      x[count] = NAN;
      y[count++] = NAN;
    }
    x[count] = pair[0].x[k * pair[0].stride];
    y[count++] = pair[1].x[k * pair[1].stride];
  }
  add_series(p, panel,
             (saltusi_plot_series){
                 .kind = SALTUSI_SERIES_JUMPS, .count = count, .x = x, .y = y, .path = true});
  return write_figure(p, (saltusi_figure){.x_label = x_label, .height_cm = 12.0}, path);
}

static bool wants_contact(const void* who, const char* identity) {
  const plot_choice* choice = who;
  return choice->count > 0 && (plot_contact_chosen(choice, identity, "force", "") ||
                               plot_contact_chosen(choice, identity, "impulse", ""));
}

/* Contacts of a time-varying set with the largest forces, as a fixed set. */
static void spread_contacts(plot* p, saltus_recording_data* view, const plot_choice* choice,
                            cli_spread* room) {
  long long acted = cli_contacts_spread(view, MOST_LINES, wants_contact, choice, room);
  p->failed = acted < 0;
  if (acted > view->nc) {
    snprintf(p->note, sizeof p->note,
             "of %lld contacts that acted the %d with the largest impulses and forces are drawn; "
             "events by law",
             acted, view->nc);
  }
}

static int draw(const cli_args* args, const saltus_recording_data* data, const char* path) {
  plot_choice choice;
  plot_column pair[2];
  saltus_recording_data view;
  bool phase = cli_has(args, "--phase");
  if (phase && cli_has(args, "--series")) {
    cli_error("plot: --phase and --series exclude each other");
    return CLI_USAGE;
  }
  int code = plot_choice_read(args, data, &choice);
  if (code == CLI_DONE) {
    code = plot_window(args, data, &view);
  }
  if (code == CLI_DONE && phase) {
    code = plot_phase_read(args, &view, pair);
  }
  plot* p = code == CLI_DONE ? calloc(1, sizeof *p) : NULL;
  if (p == NULL) {
    if (code == CLI_DONE) {
      cli_error("no memory");
    }
    return code == CLI_DONE ? CLI_FAILED : code;
  }
  p->data = &view;
  p->choice = &choice;
  cli_spread room = {.force = NULL};
  if (view.changing) {
    spread_contacts(p, &view, &choice, &room);
  }
  code = phase ? draw_phase(p, pair, path) : draw_series(p, path);
  if (code == CLI_DONE && p->note[0] != '\0') {
    printf("%c%s.\n", toupper((unsigned char)p->note[0]), p->note + 1);
  }
  for (int i = 0; i < p->block_count; i++) {
    free(p->blocks[i]);
  }
  free(room.force);
  free(room.impulse);
  free(p);
  return code;
}

int cli_plot(const cli_args* args) {
  const char* path = args->positional[0];
  const char* out = cli_value(args, "-o");
  char beside[4096];
  if (out == NULL) {
    const char* dot = strrchr(path, '.');
    int stem = dot != NULL ? (int)(dot - path) : (int)strlen(path);
    snprintf(beside, sizeof beside, "%.*s.svg", stem, path);
    out = beside;
  }
  if (saltusi_figure_path_check(out, cli_log()) != SALTUS_OK ||
      cli_output_check(args, out) != CLI_DONE) {
    return CLI_USAGE;
  }
  saltus_recording_data* data;
  if (saltus_recording_read(path, cli_log(), NULL, &data) != SALTUS_OK) {
    return CLI_USAGE;
  }
  int code = CLI_USAGE;
  if (data->count < 1) {
    cli_error("plot: %s holds no states yet", path);
  } else {
    code = draw(args, data, out);
    if (code == CLI_DONE) {
      printf("Figure: %s\n", out);
    }
  }
  saltus_recording_data_destroy(data);
  return code;
}
