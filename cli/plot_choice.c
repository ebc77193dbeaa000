/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * plot_choice.c - see plot_choice.h.
 */
#include "plot_choice.h"

#include "io/series.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char* const groups[] = {"positions", "velocities", "outputs", "impulses",
                                     "forces",    "energy",     "ledger",  "events"};
enum { GROUPS = sizeof groups / sizeof groups[0] };

bool plot_chosen(const plot_choice* choice, const char* name, const char* group) {
  for (int i = 0; i < choice->count; i++) {
    if (strcmp(choice->names[i], name) == 0 || strcmp(choice->names[i], group) == 0) {
      return true;
    }
  }
  return choice->count == 0;
}

bool plot_contact_chosen(const plot_choice* choice, const char* contact, const char* part,
                         const char* group) {
  char name[PLOT_NAME + 16];
  snprintf(name, sizeof name, "%.80s.%s", contact, part);
  return plot_chosen(choice, name, group);
}

static plot_column plot_find(const saltus_recording_data* data, const char* name) {
  const struct {
    const double* x;
    const saltus_label* labels;
    int count;
  } lists[] = {{data->q, data->q_labels, data->nq},
               {data->v, data->v_labels, data->nv},
               {data->outputs, data->output_labels, data->output_count}};
  for (int k = 0; k < 3; k++) {
    for (int i = 0; lists[k].x != NULL && i < lists[k].count; i++) {
      if (strcmp(lists[k].labels[i].name, name) == 0) {
        return (plot_column){lists[k].x + i, lists[k].count, &lists[k].labels[i]};
      }
    }
  }
  return (plot_column){.x = NULL};
}

static bool is_contact_series(const saltus_recording_data* data, const char* name) {
  static const char* const parts[] = {"force", "impulse"};
  const char* dot = strrchr(name, '.');
  if (dot == NULL || (strcmp(dot + 1, parts[0]) != 0 && strcmp(dot + 1, parts[1]) != 0)) {
    return false;
  }
  for (long long row = 0; row < data->table.count;
       row++) { /* contacts of a time-varying set by identity */
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, data->table.identity[row]);
    if (length == (int)(dot - name) && strncmp(digits, name, (size_t)length) == 0) {
      return true;
    }
  }
  for (int i = 0; i < data->nc; i++) {
    size_t length = strlen(data->contact_names[i]);
    if (length == (size_t)(dot - name) && strncmp(data->contact_names[i], name, length) == 0) {
      return true;
    }
  }
  return false;
}

/* A name that is not in the recording, with similar names. */
static int refuse_name(const saltus_recording_data* data, const char* option, const char* name,
                       bool group) {
  const char* names[CLI_MOST];
  int count = 0;
  const saltus_label* const lists[] = {data->q_labels, data->v_labels, data->output_labels};
  const int counts[] = {data->nq, data->nv, data->output_count};
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < counts[k] && count < CLI_MOST - GROUPS; i++) {
      names[count++] = lists[k][i].name;
    }
  }
  for (int i = 0; group && i < GROUPS; i++) {
    names[count++] = groups[i];
  }
  char list[512] = "";
  size_t used = 0;
  for (int i = 0; i < count && used < sizeof list; i++) {
    int added = snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
    used += added > 0 ? (size_t)added : 0;
  }
  char near[128];
  cli_error("plot: %s: the recording has no \"%s\"%s; there are: %s%s", option, name,
            cli_near(name, names, count, near, sizeof near), list,
            group && data->nc > 0     ? ", and CONTACT.force, CONTACT.impulse"
            : group && data->changing ? ", and IDENTITY.force, IDENTITY.impulse"
                                      : "");
  return CLI_USAGE;
}

/* The next name of a list with commas; false after the last. */
static bool next_name(const char** list, char name[PLOT_NAME]) {
  if (**list == '\0') {
    return false;
  }
  size_t length = strcspn(*list, ",");
  snprintf(name, PLOT_NAME, "%.*s", (int)length, *list);
  *list += length + ((*list)[length] == ',');
  return true;
}

int plot_choice_read(const cli_args* args, const saltus_recording_data* data, plot_choice* choice) {
  *choice = (plot_choice){.count = 0};
  for (int i = 0; i < args->given_count; i++) {
    const char* list = args->given[i].value;
    if (strcmp(args->given[i].option->name, "--series") != 0) {
      continue;
    }
    char name[PLOT_NAME];
    while (choice->count < CLI_MOST && next_name(&list, name)) {
      bool known = plot_find(data, name).x != NULL || is_contact_series(data, name);
      for (int k = 0; k < GROUPS && !known; k++) {
        known = strcmp(groups[k], name) == 0;
      }
      if (!known) {
        return refuse_name(data, "--series", name, true);
      }
      memcpy(choice->names[choice->count++], name, sizeof name);
    }
  }
  return CLI_DONE;
}

int plot_window(const cli_args* args, const saltus_recording_data* data,
                saltus_recording_data* view) {
  double from = -INFINITY;
  double to = INFINITY;
  int code = cli_number(args, "--from", -1e300, 1e300, &from);
  if (code == CLI_DONE) {
    code = cli_number(args, "--to", -1e300, 1e300, &to);
  }
  if (code != CLI_DONE) {
    return code;
  }
  long long first = 0;
  long long last = data->count;
  while (first < last && data->t[first] < from) {
    first++;
  }
  while (last > first && data->t[last - 1] > to) {
    last--;
  }
  if (first == last) {
    cli_error(
        "plot: there are no states from t = %g s to t = %g s; the recording has those from %g s "
        "to %g s",
        from, to, data->t[0], data->t[data->count - 1]);
    return CLI_USAGE;
  }
  *view = *data;
  view->count = last - first;
  for (int s = 0; s < SALTUSI_SERIES_COUNT; s++) {
    const saltusi_series* series = &saltusi_series_list[s];
    unsigned char* array = saltusi_series_get(series, data);
    size_t skip = (size_t)first * saltusi_series_width(series, data) * SALTUSI_ITEM;
    saltusi_series_set(series, view, array != NULL ? array + skip : NULL);
  }
  while (view->event_count > 0 && view->events[0].t < from) {
    view->events++;
    view->event_count--;
  }
  while (view->event_count > 0 && view->events[view->event_count - 1].t > to) {
    view->event_count--;
  }
  return CLI_DONE;
}

int plot_phase_read(const cli_args* args, const saltus_recording_data* data, plot_column pair[2]) {
  const char* list = cli_value(args, "--phase");
  char name[2][PLOT_NAME];
  bool both = next_name(&list, name[0]) && next_name(&list, name[1]);
  pair[0] = plot_find(data, name[0]);
  if (pair[0].x == NULL) {
    return refuse_name(data, "--phase", name[0], false);
  }
  if (both) {
    pair[1] = plot_find(data, name[1]);
    return pair[1].x != NULL ? CLI_DONE : refuse_name(data, "--phase", name[1], false);
  }
  bool position = data->q != NULL && pair[0].x >= data->q && pair[0].x < data->q + data->nq;
  long long i = position ? pair[0].x - data->q : -1;
  if (!position || data->v == NULL || data->nq != data->nv) {
    cli_error("plot: --phase %s: only a position has a velocity beside it; give --phase %s,OTHER",
              name[0], name[0]);
    return CLI_USAGE;
  }
  pair[1] = (plot_column){data->v + i, data->nv, &data->v_labels[i]};
  return CLI_DONE;
}
