/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * info.c - saltus info: contents of a recording.
 */
#include "cli.h"
#include "contacts.h"
#include "events.h"
#include "io/series.h"
#include "json.h"
#include "model.h"
#include "output.h"
#include "saltus/saltus.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void smallest_and_largest(const double* x, long long count, int stride, double range[2]) {
  range[0] = INFINITY;
  range[1] = -INFINITY;
  for (long long i = 0; i < count; i++) {
    range[0] = fmin(range[0], x[i * stride]);
    range[1] = fmax(range[1], x[i * stride]);
  }
}

static double sum(const double* x, long long count, int stride) {
  double total = 0.0;
  for (long long i = 0; i < count; i++) {
    total += x[i * stride];
  }
  return total;
}

static void count_events(const saltus_recording_data* data, long long counts[SALTUS_EVENT_KINDS]) {
  memset(counts, 0, SALTUS_EVENT_KINDS * sizeof counts[0]);
  for (long long i = 0; i < data->event_count; i++) {
    if ((int)data->events[i].kind >= 0 && (int)data->events[i].kind < SALTUS_EVENT_KINDS) {
      counts[data->events[i].kind]++;
    }
  }
}

/* Energy dissipated by impacts, J: from the ledger, or from the events in recordings without one. */
static double lost_energy(const saltus_recording_data* data) {
  double lost = 0.0;
  if (data->energy_impact != NULL && data->count > 0) {
    return 0.0 - data->energy_impact[data->count - 1];
  }
  for (long long i = 0; i < data->event_count; i++) {
    bool remark = saltus_event_is_remark(data->events[i].kind);
    lost -= remark ? 0.0 : data->events[i].energy_change;
  }
  return lost;
}

/* Kinds that occur in some runs only are printed when there are any. */
static void print_other_kinds(const long long counts[SALTUS_EVENT_KINDS]) {
  for (int kind = SALTUS_EVENT_ACCUMULATION + 1; kind < SALTUS_EVENT_KINDS; kind++) {
    if (counts[kind] > 0 && !saltus_event_is_user_defined((saltus_event_kind)kind)) {
      printf(", %lld time%s %s", counts[kind], cli_plural(counts[kind]),
             saltus_event_kind_name((saltus_event_kind)kind));
    }
  }
}

/* Number of occurrences of the i-th event of the scene. */
static long long count_own(const saltus_recording_data* data, int i) {
  long long count = 0;
  for (long long k = 0; k < data->event_count; k++) {
    count += saltus_event_is_user_defined(data->events[k].kind) && data->events[k].contact == i;
  }
  return count;
}

/* A time-varying contact set; the first contacts of a long list. */
static void print_changing(const saltus_recording_data* data) {
  enum { SHOWN = 20 };
  long long count;
  cli_contact* list = cli_contacts_find(data, &count);
  if (list == NULL) {
    cli_error("no memory");
    return;
  }
  printf("  time-varying contacts: %lld, in %lld row%s\n", count, data->table.count,
         cli_plural(data->table.count));
  for (long long i = 0; i < count && i < SHOWN; i++) {
    char line[256];
    printf("  contact %" PRIu64 " (%s, bodies %lld and %lld) from t = %g s to %g s: smallest gap "
           "%.3e m, impulses %.6g N s in all, largest mean force %.6g N\n",
           list[i].identity, cli_one_line(list[i].law, line, sizeof line), list[i].bodies[0],
           list[i].bodies[1], list[i].first, list[i].last, list[i].gap, list[i].impulse,
           list[i].force);
  }
  if (count > SHOWN) {
    printf("  and %lld more (--contacts prints all)\n", count - SHOWN);
  }
  free(list);
}

static void print_columns(const saltus_recording_data* data) {
  double range[2];
  for (int i = 0; i < data->nq && data->q != NULL; i++) {
    smallest_and_largest(data->q + i, data->count, data->nq, range);
    printf("  %-12s from %.6g to %.6g %s\n", data->q_labels[i].name, range[0], range[1],
           data->q_labels[i].unit);
  }
  for (int i = 0; i < data->nv && data->v != NULL; i++) {
    smallest_and_largest(data->v + i, data->count, data->nv, range);
    printf("  %-12s from %.6g to %.6g %s\n", data->v_labels[i].name, range[0], range[1],
           data->v_labels[i].unit);
  }
  for (int i = 0; i < data->output_count && data->outputs != NULL; i++) {
    smallest_and_largest(data->outputs + i, data->count, data->output_count, range);
    printf("  output %-12s from %.6g to %.6g %s\n", data->output_labels[i].name, range[0], range[1],
           data->output_labels[i].unit);
  }
  for (int i = 0; i < data->event_name_count; i++) {
    long long count = count_own(data, i);
    printf("  event %-12s %lld time%s\n", data->event_names[i], count, cli_plural(count));
  }
  for (int i = 0; i < data->nc && data->gap != NULL; i++) {
    smallest_and_largest(data->gap + i, data->count, data->nc, range);
    char line[256];
    printf("  contact %-12s smallest gap %.3e m",
           cli_one_line(data->contact_names[i], line, sizeof line), range[0]);
    if (data->impulse != NULL && data->force != NULL) {
      smallest_and_largest(data->force + 3 * i, data->count, 3 * data->nc, range);
      printf(", impulses %.6g N s in all, largest mean force %.6g N",
             sum(data->impulse + 3 * i, data->count, 3 * data->nc), range[1]);
    }
    printf("\n");
  }
  if (data->changing) {
    print_changing(data);
  }
}

/* The energy ledger at the end; the first recordings have none. */
static void print_ledger(const saltus_recording_data* data) {
  long long last = data->count - 1;
  if (data->energy_remainder == NULL || last < 0 || !isfinite(data->energy_remainder[last])) {
    return;
  }
  double drive = data->energy_drive != NULL ? data->energy_drive[last] : 0.0;
  double terms[] = {data->energy_external[last], drive, data->energy_friction[last],
                    data->energy_impact[last], data->energy_remainder[last]};
  double size = fabs(data->kinetic[0]) + fabs(data->kinetic[last]);
  for (int i = 0; i < 4; i++) {
    size += fabs(terms[i]);
  }
  for (int i = 0; i < 5; i++) { /* rounding is printed as 0 */
    terms[i] = fabs(terms[i]) <= 1e-11 * size ? 0.0 : terms[i];
  }
  printf("energy ledger: external forces %.6g J, drives %.6g J, friction %.6g J, impacts %.6g J, "
         "numerical remainder %.2g J",
         terms[0], terms[1], terms[2], terms[3], terms[4]);
  if (data->energy_created[last] > 0.0) {
    printf("; impacts created %.6g J", data->energy_created[last]);
  }
  printf("\n");
}

static void json_ledger(json* j, const saltus_recording_data* data) {
  long long last = data->count - 1;
  if (data->energy_remainder == NULL || last < 0) {
    return;
  }
  json_open(j, "ledger", '{');
  json_number(j, "external", data->energy_external[last]);
  if (data->energy_drive != NULL) {
    json_number(j, "drive", data->energy_drive[last]);
  }
  json_number(j, "friction", data->energy_friction[last]);
  json_number(j, "impact", data->energy_impact[last]);
  json_number(j, "remainder", data->energy_remainder[last]);
  json_number(j, "created", data->energy_created[last]);
  json_close(j, '}');
}

/* Value from the scene in the recording; 0: no scene, or one that cannot be read again (for example without its mesh
 * files). */
static int shapes_of(const saltus_recording_data* data) {
  saltus_scene* scene = NULL;
  int shapes = 0;
  if (data->changing && data->scene[0] != '\0' && saltus_has("yaml")) {
    const saltus_scene_def def = {.text = data->scene, .recorded = true};
    if (saltus_scene_create(&def, &scene) == SALTUS_OK) {
      const saltus_mechanism* m = saltus_scene_get_view(scene)->mechanism;
      shapes = m != NULL ? saltus_mechanism_sizes(m).shapes : 0;
    }
    saltus_scene_destroy(scene);
  }
  return shapes;
}

static void print_text(const char* path, const saltus_recording_data* data) {
  long long counts[SALTUS_EVENT_KINDS];
  count_events(data, counts);
  char line[256];
  printf("%s: %s\n", path,
         data->name[0] != '\0' ? cli_one_line(data->name, line, sizeof line) : "(no name)");
  printf("status %s; saltus %s, scheme %s (%s)\n", data->status, data->version, data->scheme,
         data->options);
  if (data->accuracy[0] != '\0') {
    printf("accuracy of the motion: %s\n", data->accuracy);
  }
  printf("%lld state%s", data->count, cli_plural(data->count));
  if (data->count > 0) {
    printf(" from t = %g s to t = %g s", data->t[0], data->t[data->count - 1]);
  }
  printf("; %d coordinate%s, ", data->nq, cli_plural(data->nq));
  const int shapes = shapes_of(data);
  if (shapes > 0) {
    printf("contacts between %d shape%s", shapes, cli_plural(shapes));
  } else if (data->changing) {
    printf("a time-varying contact set");
  } else {
    printf("%d contact%s", data->nc, cli_plural(data->nc));
  }
  const int joints = cli_joint_count((const char* const*)data->joint_names, data->nj);
  printf(", %d joint%s\n", joints, cli_plural(joints));
  static const char* const nouns[] = {"impact", "closing", "opening", "accumulation"};
  for (int kind = SALTUS_EVENT_IMPACT; kind <= SALTUS_EVENT_ACCUMULATION; kind++) {
    printf("%s%lld %s%s", kind > 0 ? ", " : "", counts[kind], nouns[kind],
           cli_plural(counts[kind]));
  }
  print_other_kinds(counts);
  printf("; impacts lose %.6g J in all\n", lost_energy(data));
  print_ledger(data);
  if (data->count > 0) {
    print_columns(data);
  }
}

static void print_machine(const char* path, const saltus_recording_data* data) {
  long long counts[SALTUS_EVENT_KINDS];
  count_events(data, counts);
  json j = {.file = stdout};
  json_open(&j, NULL, '{');
  json_text(&j, "file", path);
  json_text(&j, "name", data->name);
  json_text(&j, "status", data->status);
  json_text(&j, "version", data->version);
  json_text(&j, "scheme", data->scheme);
  json_text(&j, "options", data->options);
  json_text(&j, "accuracy", data->accuracy);
  json_text(&j, "scene_sha256", data->scene_sha256);
  json_integer(&j, "states", data->count);
  json_number(&j, "t_first", data->count > 0 ? data->t[0] : NAN);
  json_number(&j, "t_last", data->count > 0 ? data->t[data->count - 1] : NAN);
  json_integer(&j, "coordinates", data->nq);
  if (data->changing) {
    long long count = 0;
    free(cli_contacts_find(data, &count));
    json_integer(&j, "contacts", count);
    json_integer(&j, "contact_rows", data->table.count);
    json_integer(&j, "shapes", shapes_of(data));
  } else {
    json_integer(&j, "contacts", data->nc);
  }
  json_bool(&j, "changing_contacts", data->changing);
  json_integer(&j, "joints", cli_joint_count((const char* const*)data->joint_names, data->nj));
  json_integer(&j, "joint_rows", data->nj);
  json_integer(&j, "impacts", counts[SALTUS_EVENT_IMPACT]);
  json_integer(&j, "closes", counts[SALTUS_EVENT_CLOSE]);
  json_integer(&j, "opens", counts[SALTUS_EVENT_OPEN]);
  json_integer(&j, "accumulations", counts[SALTUS_EVENT_ACCUMULATION]);
  json_open(&j, "events", '{');
  for (int kind = 0; kind < SALTUS_EVENT_KINDS; kind++) {
    json_integer(&j, saltus_event_kind_name((saltus_event_kind)kind), counts[kind]);
  }
  json_close(&j, '}');
  json_number(&j, "impact_energy_lost", lost_energy(data));
  json_ledger(&j, data);
  json_close(&j, '}');
}

int cli_info(const cli_args* args) {
  saltus_recording_data* data;
  const char* path = args->positional[0];
  if (cli_has(args, "--csv") && !cli_has(args, "--events") && !cli_has(args, "--contacts")) {
    cli_error("info: --csv is a format of --events and --contacts");
    return CLI_USAGE;
  }
  saltus_status status = saltus_recording_read(path, cli_log(), NULL, &data);
  if (status != SALTUS_OK) {
    return CLI_USAGE;
  }
  cli_events_format format = cli_has(args, "--csv")    ? CLI_EVENTS_CSV
                             : cli_has(args, "--json") ? CLI_EVENTS_JSON
                                                       : CLI_EVENTS_TABLE;
  int code = CLI_DONE;
  if (cli_has(args, "--contacts") && !data->changing) {
    cli_error("info: --contacts: the contacts of this recording are always the same %d: they are "
              "columns of its states, /contacts/... in %s",
              data->nc, path);
    code = CLI_USAGE;
  } else if (cli_has(args, "--contacts")) {
    cli_contacts_write(format, data);
  } else if (cli_has(args, "--scene")) {
    cli_output_exact(data->scene);
  } else if (cli_has(args, "--events")) {
    const cli_events list = {.events = data->events,
                             .count = data->event_count,
                             .contact_names =
                                 data->changing ? data->law_names : data->contact_names,
                             .nc = data->changing ? data->law_count : data->nc,
                             .changing = data->changing,
                             .own_names = data->event_names,
                             .own_count = data->event_name_count};
    cli_events_write(stdout, format, &list);
  } else if (cli_has(args, "--json")) {
    print_machine(path, data);
  } else {
    print_text(path, data);
  }
  saltus_recording_data_destroy(data);
  return code;
}
