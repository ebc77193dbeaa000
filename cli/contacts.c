/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contacts.c - see contacts.h. CSV has the columns of a recording's table of contacts.
 */
#include "contacts.h"

#include "cli.h"
#include "io/contact_rows.h"
#include "json.h"
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row of the table and its frame. */
typedef struct place {
  uint64_t identity;
  long long row, frame;
} place;

static int by_identity(const void* a, const void* b) {
  const place* x = a;
  const place* y = b;
  if (x->identity != y->identity) {
    return x->identity < y->identity ? -1 : 1;
  }
  return x->row < y->row ? -1 : x->row > y->row;
}

/* Every row, those of a contact together and in order of time. */
static place* sort_rows(const saltus_recording_data* data, long long* count) {
  const saltus_recorded_contacts* table = &data->table;
  long long first = table->start[0];
  *count = table->start[data->count] - first;
  place* places = calloc((size_t)*count + 1, sizeof *places);
  for (long long frame = 0; places != NULL && frame < data->count; frame++) {
    for (long long row = table->start[frame]; row < table->start[frame + 1]; row++) {
      places[row - first] = (place){table->identity[row], row, frame};
    }
  }
  if (places != NULL) {
    qsort(places, (size_t)*count, sizeof *places, by_identity);
  }
  return places;
}

static void add_row(cli_contact* c, const saltus_recording_data* data, const place* p) {
  const saltus_recorded_contacts* table = &data->table;
  double elapsed = p->frame > 0 ? data->t[p->frame] - data->t[p->frame - 1] : 0.0;
  double force = table->force[3 * p->row];
  c->rows++;
  c->last = data->t[p->frame];
  c->gap = fmin(c->gap, table->gap[p->row]); /* fmin ignores NaN */
  c->impulse += table->impulse[3 * p->row];
  c->force = fmax(c->force, force);
  c->momentum += fabs(table->impulse[3 * p->row]) + fabs(force) * elapsed;
}

cli_contact* cli_contacts_find(const saltus_recording_data* data, long long* count) {
  long long rows;
  place* places = sort_rows(data, &rows);
  cli_contact* list = places != NULL ? calloc((size_t)rows + 1, sizeof *list) : NULL;
  *count = 0;
  for (long long i = 0; list != NULL && i < rows; i++) {
    const place* p = &places[i];
    if (i == 0 || p->identity != places[i - 1].identity) {
      const long long* bodies = data->table.bodies + 2 * p->row;
      list[(*count)++] = (cli_contact){.identity = p->identity,
                                       .law = data->law_names[data->table.law[p->row]],
                                       .bodies = {bodies[0], bodies[1]},
                                       .first = data->t[p->frame],
                                       .gap = INFINITY};
    }
    add_row(&list[*count - 1], data, p);
  }
  free(places);
  return list;
}

/* ---- the table ----------------------------------------------------------------------------- */

static void write_table(const saltus_recording_data* data) {
  const saltus_recorded_contacts* table = &data->table;
  printf("%14s %20s  %-12s %6s %6s %12s %12s %12s %12s\n", "t [s]", "identity", "law", "body",
         "body", "gap [m]", "u [m/s]", "force [N]", "P_N [N s]");
  for (long long frame = 0; frame < data->count; frame++) {
    for (long long row = table->start[frame]; row < table->start[frame + 1]; row++) {
      char line[256];
      printf("%14.9g %20" PRIu64 "  %-12s %6lld %6lld %12.5g %12.5g %12.5g %12.5g\n",
             data->t[frame], table->identity[row],
             cli_one_line(data->law_names[table->law[row]], line, sizeof line),
             table->bodies[2 * row], table->bodies[2 * row + 1], table->gap[row],
             table->velocity[row], table->force[3 * row], table->impulse[3 * row]);
    }
  }
}

static void write_head(void) {
  fputs("frame,t [s]", stdout);
  for (int c = 0; c < SALTUSI_ROW_COLUMNS; c++) {
    const saltusi_row_column* column = &saltusi_row_columns[c];
    for (int k = 0; k < column->components; k++) {
      bool real = column->kind == SALTUSI_ROW_REAL;
      printf(real ? ",%s%s [%s]" : ",%s%s%.0s", column->name, column->endings[k], column->unit);
    }
  }
  fputc('\n', stdout);
}

static void write_cells(const saltus_recorded_contacts* table, int column, long long row) {
  const saltusi_row_column* about = &saltusi_row_columns[column];
  const void* array = saltusi_rows_get(table, column);
  for (int k = 0; k < about->components; k++) {
    long long at = row * about->components + k;
    if (about->kind == SALTUSI_ROW_REAL) {
      printf(",%.17g", ((const double*)array)[at]);
    } else if (about->kind == SALTUSI_ROW_INTEGER) {
      printf(",%lld", ((const long long*)array)[at]);
    } else {
      printf(",%" PRIu64, ((const uint64_t*)array)[at]);
    }
  }
}

static void write_csv(const saltus_recording_data* data) {
  const saltus_recorded_contacts* table = &data->table;
  write_head();
  for (long long frame = 0; frame < data->count; frame++) {
    for (long long row = table->start[frame]; row < table->start[frame + 1]; row++) {
      printf("%lld,%.17g", frame, data->t[frame]);
      for (int c = 0; c < SALTUSI_ROW_COLUMNS; c++) {
        write_cells(table, c, row);
      }
      fputc('\n', stdout);
    }
  }
}

static void write_numbers(json* j, const char* name, const double* x, int count) {
  json_open(j, name, '[');
  for (int k = 0; k < count; k++) {
    json_number(j, NULL, x[k]);
  }
  json_close(j, ']');
}

static void write_json(const saltus_recording_data* data) {
  const saltus_recorded_contacts* table = &data->table;
  json j = {.file = stdout};
  json_open(&j, NULL, '[');
  for (long long frame = 0; frame < data->count; frame++) {
    for (long long row = table->start[frame]; row < table->start[frame + 1]; row++) {
      char identity[24];
      snprintf(identity, sizeof identity, "%" PRIu64, table->identity[row]);
      json_open(&j, NULL, '{');
      json_integer(&j, "frame", frame);
      json_number(&j, "t", data->t[frame]);
      json_text(&j, "identity", identity); /* as text: JSON numbers may lose digits */
      json_text(&j, "law", data->law_names[table->law[row]]);
      json_integer(&j, "body_a", table->bodies[2 * row]);
      json_integer(&j, "body_b", table->bodies[2 * row + 1]);
      write_numbers(&j, "point", table->point + 3 * row, 3);
      write_numbers(&j, "normal", table->normal + 3 * row, 3);
      json_number(&j, "gap", table->gap[row]);
      json_number(&j, "velocity", table->velocity[row]);
      write_numbers(&j, "force", table->force + 3 * row, 3);
      write_numbers(&j, "impulse", table->impulse + 3 * row, 3);
      json_number(&j, "friction_work", table->friction_work[row]);
      json_number(&j, "impact_work", table->impact_work[row]);
      json_close(&j, '}');
    }
  }
  json_close(&j, ']');
}

void cli_contacts_write(cli_events_format format, const saltus_recording_data* data) {
  static void (*const write[])(const saltus_recording_data*) = {[CLI_EVENTS_TABLE] = write_table,
                                                                [CLI_EVENTS_CSV] = write_csv,
                                                                [CLI_EVENTS_JSON] = write_json};
  write[format](data);
}

/* ---- columns ------------------------------------------------------------------------------- */

/* Index of the next contact to draw: a requested one, else the one with the largest force; -1: none. */
static long long next_strongest(const cli_contact* list, long long count, const bool* taken,
                                const bool* wanted) {
  long long best = -1;
  for (long long i = 0; i < count; i++) {
    bool better = best < 0 || (wanted[i] && !wanted[best]) ||
                  (wanted[i] == wanted[best] && list[i].momentum > list[best].momentum);
    if (!taken[i] && list[i].momentum > 0.0 && better) {
      best = i;
    }
  }
  return best;
}

/* Rows of one contact into a column. */
static void fill_column(const saltus_recording_data* view, uint64_t identity, int column, int nc,
                        cli_spread* room) {
  const saltus_recorded_contacts* table = &view->table;
  for (long long frame = 0; frame < view->count; frame++) {
    for (long long row = table->start[frame]; row < table->start[frame + 1]; row++) {
      if (table->identity[row] == identity) {
        size_t at = 3 * ((size_t)frame * (size_t)nc + (size_t)column);
        memcpy(room->force + at, table->force + 3 * row, 3 * sizeof(double));
        memcpy(room->impulse + at, table->impulse + 3 * row, 3 * sizeof(double));
      }
    }
  }
}

long long cli_contacts_spread(saltus_recording_data* view, int most, cli_wants* wants,
                              const void* who, cli_spread* room) {
  long long count = 0;
  long long acted = 0;
  cli_contact* list = cli_contacts_find(view, &count);
  bool* taken = calloc((size_t)count + 1, sizeof *taken);
  bool* wanted = calloc((size_t)count + 1, sizeof *wanted);
  size_t items = 3 * (size_t)view->count * (size_t)most + 1;
  room->force = calloc(items, sizeof(double));
  room->impulse = calloc(items, sizeof(double));
  bool good = list != NULL && taken != NULL && wanted != NULL && room->force != NULL &&
              room->impulse != NULL;
  for (long long i = 0; good && i < count; i++) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, list[i].identity);
    wanted[i] = wants(who, digits);
    acted += list[i].momentum > 0.0;
  }
  int nc = acted < most ? (int)acted : most;
  for (int c = 0; good && c < nc; c++) {
    long long i = next_strongest(list, count, taken, wanted);
    taken[i] = true;
    snprintf(room->digits[c], sizeof room->digits[c], "%" PRIu64, list[i].identity);
    room->names[c] = room->digits[c];
    fill_column(view, list[i].identity, c, nc, room);
  }
  if (good) {
    view->nc = nc;
    view->contact_names = room->names;
    view->force = room->force;
    view->impulse = room->impulse;
  }
  free(list);
  free(taken);
  free(wanted);
  return good ? acted : -1;
}
