/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "io/table.h"

#include "base/log.h"
#include "io/numbers.h"
#include "io/text.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

typedef struct table_parsing {
  const char* path;
  saltus_log log;
  saltusi_lines lines;
  saltusi_table* into;
  char** cells;          /* [columns] */
  size_t capacity;       /* rows */
  char* comments;        /* grows into a block as long as the file */
  size_t comments_bytes; /* used of it */
} table_parsing;

bool saltusi_table_ours(const saltus_table* table) {
  assert(table != NULL);
  return strncmp(table->comments, "saltus-", 7) == 0;
}

static void keep_comment(table_parsing* p, const char* line) {
  line++; /* # */
  line += *line == ' ';
  size_t length = strlen(line);
  memcpy(p->comments + p->comments_bytes, line, length);
  p->comments[p->comments_bytes + length] = '\n';
  p->comments_bytes += length + 1;
}

/* The next line with cells; comments are kept, empty lines skipped. */
static char* next_row(table_parsing* p) {
  for (;;) {
    char* line = saltusi_lines_next(&p->lines);
    if (!line) {
      return NULL;
    }
    if (*line == '#') {
      keep_comment(p, line);
    } else if (line[strspn(line, " \t")] != 0) {
      return line;
    }
  }
}

/* Splits "y [m]" into name and unit, in the buffer. */
static saltus_label label_of(char* cell) {
  cell += strspn(cell, " \t");
  size_t length = strlen(cell);
  while (length && (cell[length - 1] == ' ' || cell[length - 1] == '\t')) {
    cell[--length] = 0;
  }
  char* open = NULL;
  for (char* at = strstr(cell, " ["); at; at = strstr(at + 1, " [")) {
    open = at;
  }
  if (!open || cell[length - 1] != ']') {
    return (saltus_label){cell, ""};
  }
  *open = 0;
  cell[length - 1] = 0;
  return (saltus_label){cell, open + 2};
}

static saltus_status read_header(table_parsing* p) {
  size_t left = (size_t)(p->lines.end - p->lines.at);
  char* line = next_row(p);
  if (!line || (p->lines.torn && saltusi_table_ours(&p->into->table))) {
    saltusi_log(p->log, SALTUS_LEVEL_ERROR, "%s: there is no header line with names of columns",
                p->path);
    return SALTUS_ERR_INPUT;
  }
  /* a line has at most one cell more than characters */
  size_t most = strlen(line) + 1;
  p->cells = saltusi_pool_take(&p->into->pool, most, sizeof *p->cells);
  if (!p->cells) {
    return SALTUS_ERR_MEMORY;
  }
  int columns = saltusi_cells_cut(line, p->cells, (int)most);
  if (columns < 1) {
    saltusi_log(p->log, SALTUS_LEVEL_ERROR, "%s:%d: a quote in the header is not closed", p->path,
                p->lines.number);
    return SALTUS_ERR_INPUT;
  }
  saltus_table* table = &p->into->table;
  table->columns = columns;
  table->labels = saltusi_pool_take(&p->into->pool, (size_t)columns, sizeof *table->labels);
  /* a row takes a character and a comma per cell, so the file bounds the memory */
  p->capacity = left / (2 * (size_t)columns) + 1;
  if (p->capacity <= SIZE_MAX / (size_t)columns) {
    table->values =
        saltusi_pool_take(&p->into->pool, p->capacity * (size_t)columns, sizeof(double));
  }
  for (int i = 0; table->labels && i < columns; i++) {
    table->labels[i] = label_of(p->cells[i]);
  }
  return table->labels && table->values ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

/* No message when `quiet`. */
static saltus_status read_row(table_parsing* p, char* line, bool quiet) {
  saltus_table* table = &p->into->table;
  saltus_log log = quiet ? (saltus_log){0} : p->log;
  int count = saltusi_cells_cut(line, p->cells, table->columns);
  if (count != table->columns) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s:%d: %d cells, the header has %d columns", p->path,
                p->lines.number, count, table->columns);
    return SALTUS_ERR_INPUT;
  }
  for (int i = 0; i < count; i++) {
    double* value = &table->values[(size_t)i * p->capacity + (size_t)table->rows];
    if (!saltusi_cell_number(p->cells[i], value)) {
      saltusi_log(log, SALTUS_LEVEL_ERROR, "%s:%d: column %s: \"%.60s\" is not a number", p->path,
                  p->lines.number, table->labels[i].name, p->cells[i]);
      return SALTUS_ERR_INPUT;
    }
    if (strcmp(table->labels[i].name, "t") == 0 && table->rows > 0 && !(value[0] >= value[-1])) {
      saltusi_log(log, SALTUS_LEVEL_ERROR, "%s:%d: time runs backwards: t = %.17g after %.17g",
                  p->path, p->lines.number, value[0], value[-1]);
      return SALTUS_ERR_INPUT;
    }
  }
  table->rows++;
  return SALTUS_OK;
}

static saltus_status read_rows(table_parsing* p) {
  saltus_table* table = &p->into->table;
  for (char* line = next_row(p); line; line = next_row(p)) {
    bool torn = p->lines.torn;
    saltus_status status = SALTUS_ERR_INPUT;
    if ((size_t)table->rows < p->capacity && !(torn && saltusi_table_ours(table))) {
      status = read_row(p, line, torn);
    }
    if (status != SALTUS_OK && torn) {
      saltusi_log(p->log, SALTUS_LEVEL_WARNING,
                  "%s:%d: the last line is not finished and left out; was the run interrupted?",
                  p->path, p->lines.number);
      return SALTUS_OK;
    }
    if (status != SALTUS_OK) {
      return status;
    }
  }
  return SALTUS_OK;
}

static saltus_status parse(table_parsing* p) {
  saltus_table* table = &p->into->table;
  saltus_status status = saltusi_text_load(p->path, p->log, &p->into->pool, &p->lines);
  if (status != SALTUS_OK) {
    return status;
  }
  size_t bytes = (size_t)(p->lines.end - p->lines.at);
  p->comments = saltusi_pool_take(&p->into->pool, bytes + 2, 1);
  if (!p->comments) {
    return SALTUS_ERR_MEMORY;
  }
  table->comments = p->comments;
  saltusi_point_locale locale = saltusi_point_locale_enter();
  status = read_header(p);
  if (status == SALTUS_OK) {
    status = read_rows(p);
  }
  saltusi_point_locale_leave(locale);
  if (status != SALTUS_OK) {
    return status;
  }
  size_t rows = (size_t)table->rows;
  for (size_t i = 1; i < (size_t)table->columns; i++) {
    memmove(table->values + i * rows, table->values + i * p->capacity, rows * sizeof(double));
  }
  return SALTUS_OK;
}

saltus_status saltus_table_read(const char* path, saltus_log log, const saltus_allocator* allocator,
                                saltus_table** out) {
  assert(path != NULL && out != NULL);
  *out = NULL;
  saltusi_pool pool = saltusi_pool_over(allocator);
  saltusi_table* into = saltusi_pool_take(&pool, 1, sizeof *into);
  saltus_status status = SALTUS_ERR_MEMORY;
  if (into) {
    into->pool = pool;
    table_parsing p = {.path = path, .log = log, .into = into};
    status = parse(&p);
    pool = into->pool;
  }
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: no memory to read it", path);
  }
  if (status != SALTUS_OK) {
    saltusi_pool_free(&pool);
    return status;
  }
  *out = &into->table;
  return SALTUS_OK;
}

const double* saltus_table_column(const saltus_table* table, const char* name) {
  assert(table != NULL && name != NULL);
  for (int i = 0; i < table->columns; i++) {
    if (strcmp(table->labels[i].name, name) == 0) {
      return table->values + (size_t)i * (size_t)table->rows;
    }
  }
  return NULL;
}

void saltus_table_destroy(saltus_table* table) {
  if (table) {
    saltusi_pool_free(&((saltusi_table*)table)->pool);
  }
}
