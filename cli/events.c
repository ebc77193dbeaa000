/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * events.c - see events.h. CSV has the columns of a recording's events table.
 */
#include "events.h"

#include "base/visible.h"
#include "cli.h"
#include "files.h"
#include "io/series.h"
#include "json.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NAME = 160 };

/* room[NAME]: workspace for names that are composed. */
static const char* contact_name(const cli_events* list, const saltus_event* event, char* room) {
  bool own = saltus_event_is_user_defined(event->kind);
  room[0] = '\0';
  if (!own && list->changing && list->system != NULL && list->system->ops->contact_text != NULL) {
    list->system->ops->contact_text(list->system->self, event->identity, room, NAME);
  }
  if (room[0] != '\0') {
    return room;
  }
  const char* const* names = own ? list->own_names : list->contact_names;
  int count = own ? list->own_count : list->nc;
  int place = list->changing && !own ? event->law : event->contact;
  bool known = place >= 0 && place < count && names != NULL;
  const char* name = known ? names[place] : NULL;
  return name != NULL ? name : "?";
}

/* Slip in one direction keeps its sign; in two directions it is a speed. */
static double slip(const double u[2]) {
  return u[1] == 0.0 ? u[0] : hypot(u[0], u[1]);
}

static bool has_slip(const cli_events* list) {
  for (long long i = 0; i < list->count; i++) {
    const saltus_event* e = &list->events[i];
    if (slip(e->slip_before) != 0.0 || slip(e->slip_after) != 0.0 || e->impulse[1] != 0.0) {
      return true;
    }
  }
  return false;
}

static void write_table(FILE* file, const cli_events* list) {
  bool has_friction = has_slip(list);
  int width = 7;
  char name[NAME];
  for (long long i = 0; i < list->count; i++) {
    int length = (int)strlen(contact_name(list, &list->events[i], name));
    width = length > width && length <= 48 ? length : width;
  }
  fprintf(file, "%18s  %-12s  %-*s  %12s %12s", "t [s]", "event", width, "contact", "u- [m/s]",
          "u+ [m/s]");
  fprintf(file, has_friction ? "  %12s %12s  %12s %12s" : "%.0s%.0s  %12s%.0s", "slip- [m/s]",
          "slip+ [m/s]", "P_N [N s]", "P_T [N s]");
  fprintf(file, "  %12s%s\n", "energy [J]", list->changing ? "  identity" : "");
  for (long long i = 0; i < list->count; i++) {
    const saltus_event* e = &list->events[i];
    char line[256];
    fprintf(file, "%18.12g  %-12s  %-*s  %12.5g %12.5g", e->t, saltus_event_kind_name(e->kind),
            width, cli_one_line(contact_name(list, e, name), line, sizeof line), e->u_before,
            e->u_after);
    if (has_friction) {
      fprintf(file, "  %12.5g %12.5g", slip(e->slip_before), slip(e->slip_after));
    }
    fprintf(file, "  %12.5g", e->impulse[0]);
    if (has_friction) {
      fprintf(file, " %12.5g", slip(e->impulse + 1));
    }
    fprintf(file, "  %12.5g", e->energy_change);
    if (list->changing && !saltus_event_is_user_defined(e->kind)) {
      fprintf(file, "  %" PRIu64, e->identity);
    }
    fputc('\n', file);
  }
}

/* A text in a CSV cell: in quotes where it has a comma or a quote. */
static void write_cell(FILE* file, const char* text) {
  char shown[512];
  text = saltusi_visible_text(text, shown, sizeof shown);
  if (strpbrk(text, ",\"") == NULL) {
    fputs(text, file);
    return;
  }
  fputc('"', file);
  for (; *text != '\0'; text++) {
    fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, file);
  }
  fputc('"', file);
}

static void write_csv(FILE* file, const cli_events* list) {
  fputs("t [s],kind,contact,contact_name", file);
  for (int i = 0; i < SALTUSI_EVENT_FIELDS; i++) {
    fprintf(file, ",%s [%s]", saltusi_event_fields[i].name, saltusi_event_fields[i].unit);
  }
  fputs(list->changing ? ",identity,law\n" : "\n", file);
  for (long long i = 0; i < list->count; i++) {
    saltus_event e = list->events[i];
    fprintf(file, "%.17g,%s,%d,", e.t, saltus_event_kind_name(e.kind), e.contact);
    char name[NAME];
    write_cell(file, contact_name(list, &e, name));
    for (int k = 0; k < SALTUSI_EVENT_FIELDS; k++) {
      fprintf(file, ",%.17g", *saltusi_event_number(&e, k));
    }
    if (list->changing) {
      fprintf(file, ",%" PRIu64 ",%d", e.identity, e.law);
    }
    fputc('\n', file);
  }
}

static void write_json(FILE* file, const cli_events* list) {
  json j = {.file = file};
  json_open(&j, NULL, '[');
  for (long long i = 0; i < list->count; i++) {
    saltus_event e = list->events[i];
    json_open(&j, NULL, '{');
    json_text(&j, "kind", saltus_event_kind_name(e.kind));
    json_integer(&j, "contact", e.contact);
    char name[NAME];
    json_text(&j, "contact_name", contact_name(list, &e, name));
    if (list->changing) { /* as text: JSON numbers may lose digits */
      char identity[24];
      snprintf(identity, sizeof identity, "%" PRIu64, e.identity);
      json_text(&j, "identity", identity);
    }
    json_number(&j, "t", e.t);
    for (int k = 0; k < SALTUSI_EVENT_FIELDS; k++) {
      json_number(&j, saltusi_event_fields[k].name, *saltusi_event_number(&e, k));
    }
    json_close(&j, '}');
  }
  json_close(&j, ']');
}

void cli_events_write(FILE* file, cli_events_format format, const cli_events* list) {
  static void (*const write[])(FILE*, const cli_events*) = {[CLI_EVENTS_TABLE] = write_table,
                                                            [CLI_EVENTS_CSV] = write_csv,
                                                            [CLI_EVENTS_JSON] = write_json};
  write[format](file, list);
}

static bool ends_in(const char* path, const char* extension) {
  size_t length = strlen(path);
  size_t tail = strlen(extension);
  return length > tail && strcmp(path + length - tail, extension) == 0;
}

int cli_events_path_check(const char* path) {
  if (strcmp(path, "-") == 0 || ends_in(path, ".csv") || ends_in(path, ".json")) {
    return CLI_DONE;
  }
  cli_error("--events is \"%s\", must end in .csv or .json, or be - for a table", path);
  return CLI_USAGE;
}

int cli_events_save(const char* path, const cli_events* list) {
  if (strcmp(path, "-") == 0) {
    cli_events_write(stdout, CLI_EVENTS_TABLE, list);
    return CLI_DONE;
  }
  saltusi_replacement out;
  int code = cli_file_open(&out, path);
  if (code != CLI_DONE) {
    return code;
  }
  cli_events_write(out.file, ends_in(path, ".csv") ? CLI_EVENTS_CSV : CLI_EVENTS_JSON, list);
  return cli_file_close(&out, true);
}
