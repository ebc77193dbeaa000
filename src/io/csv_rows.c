/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The table of contacts beside a text recording of a time-varying set: number of the frame, its
 * time, then the columns of contact_rows.h. The recording holds the number of rows of each frame.
 */
#include "io/csv_rows.h"

#include "base/log.h"
#include "io/numbers.h"
#include "io/text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 2, CELLS_MOST = 64 };

typedef struct csv_rows_parsing {
  const saltusi_rows_reading* in;
  const char* path;
  saltusi_lines lines;
  long long row; /* number of the next one */
} csv_rows_parsing;

static saltus_status refuse(const csv_rows_parsing* p, const char* why) {
  saltusi_log(p->in->log, SALTUS_LEVEL_ERROR, "%s:%d: %s", p->path, p->lines.number, why);
  return SALTUS_ERR_INPUT;
}

/* Identities as integers; a double would lose the last digits. */
bool saltusi_cell_identity(const char* cell, uint64_t* value) {
  assert(cell != NULL && value != NULL);
  size_t length = strspn(cell, "0123456789");
  errno = 0;
  *value = strtoull(cell, NULL, 10);
  return length > 0 && cell[length] == 0 && errno == 0;
}

static bool cell_integer(const char* cell, long long* value) {
  char* rest;
  errno = 0;
  *value = strtoll(cell, &rest, 10);
  return rest != cell && *rest == 0 && errno == 0;
}

/* Stores the cells of a column, one for each of its components, in a row of the table. */
static bool fill(const saltus_recorded_contacts* table, int column, long long row, char** cells) {
  const saltusi_row_column* about = &saltusi_row_columns[column];
  void* array = saltusi_rows_get(table, column);
  bool good = true;
  for (int k = 0; good && k < about->components; k++) {
    size_t at = (size_t)row * (size_t)about->components + (size_t)k;
    switch (about->kind) {
    case SALTUSI_ROW_REAL:
      good = saltusi_cell_number(cells[k], &((double*)array)[at]);
      break;
    case SALTUSI_ROW_INTEGER:
      good = cell_integer(cells[k], &((long long*)array)[at]);
      break;
    case SALTUSI_ROW_IDENTITY:
      good = saltusi_cell_identity(cells[k], &((uint64_t*)array)[at]);
      break;
    }
  }
  return good;
}

/* Reads a row of the current frame; false: not a row. */
static bool read_row(csv_rows_parsing* p, char* line, long long* frame) {
  char* cells[CELLS_MOST];
  double t;
  int count = saltusi_cells_cut(line, cells, CELLS_MOST);
  if (count != HEAD + saltusi_row_cells() || !cell_integer(cells[0], frame) ||
      !saltusi_cell_number(cells[1], &t)) {
    return false;
  }
  saltus_recorded_contacts* table = &p->in->data->table;
  if (p->row >= table->count) {
    return true; /* of a frame that was not written to disk */
  }
  int cell = HEAD;
  for (int c = 0; c < SALTUSI_ROW_COLUMNS; c++) {
    if (!fill(table, c, p->row, cells + cell)) {
      return false;
    }
    cell += saltusi_row_columns[c].components;
  }
  return true;
}

/* The frame to which a row of this number belongs; the number of frames for one after all. */
static long long frame_of(const saltus_recording_data* data, long long row, long long from) {
  while (from < data->count && data->table.start[from + 1] <= row) {
    from++;
  }
  return from;
}

static saltus_status parse(csv_rows_parsing* p) {
  const saltus_recording_data* data = p->in->data;
  bool header = false;
  long long due = 0;
  for (char* line = saltusi_lines_next(&p->lines); line && !p->lines.torn;
       line = saltusi_lines_next(&p->lines)) {
    if (*line == '#' || *line == 0) {
      continue;
    }
    if (!header) {
      header = true;
      if (strncmp(line, "frame,t [s],identity,", 21) != 0) {
        return refuse(p, "this is not the header of a table of contacts");
      }
      continue;
    }
    long long frame = -1;
    if (!read_row(p, line, &frame)) {
      return refuse(p, "this is not a contact of a recording");
    }
    due = frame_of(data, p->row, due);
    if (frame != due && !(due == data->count && frame >= due)) {
      return refuse(p, "the recording has another number of contacts in this frame");
    }
    p->row++;
  }
  return SALTUS_OK;
}

/* End of an interrupted run: frames from number `count` on lack rows. */
static saltus_status cut(const saltusi_rows_reading* in, const char* path, long long count) {
  saltus_recording_data* data = in->data;
  if (strcmp(data->status, "running") != 0) {
    saltusi_log(
        in->log, SALTUS_LEVEL_ERROR,
        "%s: does not have the number of contacts that the recording announces: it is damaged or "
        "of another run",
        path);
    return SALTUS_ERR_INPUT;
  }
  data->count = count;
  data->table.count = data->table.start[count];
  saltusi_log(
      in->log, SALTUS_LEVEL_WARNING,
      "%s: contacts and frames do not end together; what one of them lacks is left out; was "
      "the run interrupted?",
      path);
  return SALTUS_OK;
}

/* Checks after the last row that the number of rows is that of the frames. */
static saltus_status end(const csv_rows_parsing* p) {
  const saltus_recording_data* data = p->in->data;
  long long count = data->count;
  while (count > 0 && data->table.start[count] > p->row) {
    count--;
  }
  return p->row == data->table.count ? SALTUS_OK : cut(p->in, p->path, count);
}

/* Numbers of rows to starts. */
static saltus_status sum_rows(const saltusi_rows_reading* in, const char* path) {
  saltus_recording_data* data = in->data;
  const long long* rows = data->table.start;
  long long* start = saltusi_pool_take(in->pool, (size_t)data->count + 1, sizeof *start);
  if (start == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = SALTUS_OK;
  data->table.start = start;
  for (long long i = 0; i < data->count; i++) {
    if (rows[i] < 0 || rows[i] > in->most - start[i]) {
      status = cut(in, path, i);
      break;
    }
    start[i + 1] = start[i] + rows[i];
  }
  return status == SALTUS_OK ? saltusi_rows_take(&data->table, start[data->count], in->pool)
                             : status;
}

static saltus_status read_opened(saltusi_rows_reading* in, const char* path,
                                 const saltusi_lines* lines) {
  /* a row has a character and a comma per cell, so the file bounds the memory */
  in->most = (lines->end - lines->at) / (2 * saltusi_row_cells()) + 1;
  saltus_status status = sum_rows(in, path);
  if (status != SALTUS_OK) {
    return status;
  }
  csv_rows_parsing p = {.in = in, .path = path, .lines = *lines};
  saltusi_point_locale locale = saltusi_point_locale_enter();
  status = parse(&p);
  saltusi_point_locale_leave(locale);
  if (status == SALTUS_OK) {
    status = end(&p);
  }
  const char* fault = status == SALTUS_OK ? saltusi_rows_fault(&in->data->table, in->data->count,
                                                               in->data->law_count)
                                          : NULL;
  if (fault != NULL) {
    saltusi_log(in->log, SALTUS_LEVEL_ERROR, "%s: %s", path, fault);
    status = SALTUS_ERR_INPUT;
  }
  return status;
}

saltus_status saltusi_csv_rows_read(saltusi_rows_reading in, const char* path) {
  assert(path != NULL && in.data != NULL && in.pool != NULL);
  saltusi_pool scratch = saltusi_pool_over(&in.pool->allocator);
  saltusi_lines lines;
  saltus_status status = saltusi_text_load(path, in.log, &scratch, &lines);
  if (status == SALTUS_OK) {
    status = read_opened(&in, path, &lines);
  }
  saltusi_pool_free(&scratch);
  return status;
}
