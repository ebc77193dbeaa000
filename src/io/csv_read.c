/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * A recording from text tables: those of Saltus, with a fixed order of columns, and foreign ones,
 * with columns identified by name.
 */
#include "base/log.h"
#include "base/number.h"
#include "io/csv_rows.h"
#include "io/numbers.h"
#include "io/table.h"
#include "io/text.h"
#include "io/writer.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct csv_reader {
  const char* path;
  saltus_log log;
  const saltus_table* table;
  saltus_recording_data* data;
  saltusi_pool* pool;
  int next; /* column to be taken */
} csv_reader;

/* The text after "key: " in the comments, with its further lines; "" when there is none. */
static const char* comment(const csv_reader* in, const char* key) {
  size_t key_length = strlen(key);
  const char* line = in->table->comments;
  while (*line && (strncmp(line, key, key_length) != 0 || line[key_length] != ':')) {
    line += strcspn(line, "\n") + 1;
  }
  char* text = *line ? saltusi_pool_take(in->pool, strlen(line) + 1, 1) : NULL;
  if (!text) {
    return "";
  }
  size_t used = 0;
  const char* from = line + key_length + 1;
  from += *from == ' ';
  for (;;) {
    size_t length = strcspn(from, "\n");
    memcpy(text + used, from, length);
    used += length;
    from += length + (from[length] == '\n');
    if (*from != '|') {
      return text;
    }
    text[used++] = '\n';
    from++;
    from += *from == ' ';
  }
}

static saltus_status refuse(const csv_reader* in, const char* why) {
  saltusi_log(in->log, SALTUS_LEVEL_ERROR, "%s: not a Saltus recording that can be read: %s",
              in->path, why);
  return SALTUS_ERR_INPUT;
}

static saltus_status make_array(csv_reader* in, int s) {
  const saltusi_series* series = &saltusi_series_list[s];
  size_t width = saltusi_series_width(series, in->data);
  if (width == 0) {
    return SALTUS_OK;
  }
  size_t count = (size_t)in->data->count;
  void* array =
      count > SIZE_MAX / width ? NULL : saltusi_pool_take(in->pool, count * width, SALTUSI_ITEM);
  if (!array) {
    return SALTUS_ERR_MEMORY;
  }
  saltusi_series_set(series, in->data, array);
  return SALTUS_OK;
}

/* Copies one column of the table to entry `place` of every frame. */
static void fill_column(const csv_reader* in, int s, int table_column, size_t place) {
  const saltusi_series* series = &saltusi_series_list[s];
  size_t width = saltusi_series_width(series, in->data);
  size_t rows = (size_t)in->table->rows;
  const double* from = in->table->values + (size_t)table_column * rows;
  if (series->integer) {
    long long* to = saltusi_series_get(series, in->data);
    for (size_t i = 0; i < rows; i++) {
      /* beyond 2^53 a double is not a count */
      bool sane = from[i] >= -9007199254740992.0 && from[i] <= 9007199254740992.0;
      to[i * width + place] = sane ? (long long)from[i] : -1;
    }
    return;
  }
  double* to = saltusi_series_get(series, in->data);
  for (size_t i = 0; i < rows; i++) {
    to[i * width + place] = from[i];
  }
}

/* Whether the next column is called `stem`, a dot and `part`; takes it into the frames if so. */
static bool take(csv_reader* in, int s, size_t place, const char* part) {
  if (in->next >= in->table->columns) {
    return false;
  }
  const char* name = in->table->labels[in->next].name;
  size_t length = strlen(name), part_length = strlen(part);
  if (length < part_length || strcmp(name + length - part_length, part) != 0) {
    return false;
  }
  fill_column(in, s, in->next, place);
  in->next++;
  return true;
}

static bool take_labels(csv_reader* in, int s, saltus_label* labels, int count) {
  for (int i = 0; i < count; i++) {
    if (in->next >= in->table->columns) {
      return false;
    }
    const saltus_label* label = &in->table->labels[in->next];
    labels[i].name = saltusi_pool_text(in->pool, label->name);
    labels[i].unit = saltusi_pool_text(in->pool, label->unit);
    if (!labels[i].name || !labels[i].unit || !take(in, s, (size_t)i, "")) {
      return false;
    }
  }
  return true;
}

/* The name before the dot of the next column. */
static const char* stem(csv_reader* in) {
  const char* name = in->next < in->table->columns ? in->table->labels[in->next].name : "";
  char* copy = saltusi_pool_text(in->pool, name);
  char* dot = copy ? strrchr(copy, '.') : NULL;
  if (dot) {
    *dot = 0;
  }
  return copy ? copy : "";
}

static bool take_vector(csv_reader* in, int s, size_t contact, const char* const* parts) {
  return take(in, s, 3 * contact, parts[0]) && (!take(in, s, 3 * contact + 1, parts[1]) ||
                                                take(in, s, 3 * contact + 2, parts[2]) || true);
}

/* An optional column, absent in the first recordings; without it the series does not exist. */
static bool take_later(csv_reader* in, int s, size_t place, const char* part) {
  bool there = saltusi_series_get(&saltusi_series_list[s], in->data) != NULL;
  const char* former = saltusi_series_list[s].former_column;
  if (there && !take(in, s, place, part) && (former == NULL || !take(in, s, place, former))) {
    saltusi_series_set(&saltusi_series_list[s], in->data, NULL);
  }
  return true;
}

static bool take_contact(csv_reader* in, int i) {
  static const char* const force[] = {".force_N", ".force_T1", ".force_T2"};
  static const char* const impulse[] = {".impulse_N", ".impulse_T1", ".impulse_T2"};
  in->data->contact_names[i] = stem(in);
  size_t at = (size_t)i;
  return take(in, SALTUSI_GAP, at, ".gap") && take(in, SALTUSI_VELOCITY, at, ".velocity") &&
         take_vector(in, SALTUSI_FORCE, at, force) &&
         take_vector(in, SALTUSI_IMPULSE, at, impulse) &&
         take_later(in, SALTUSI_FRICTION_WORK, at, ".friction_work") &&
         take_later(in, SALTUSI_IMPACT_WORK, at, ".impact_work");
}

static bool take_columns(csv_reader* in) {
  saltus_recording_data* data = in->data;
  if (!take(in, SALTUSI_T, 0, "t") || !take_labels(in, SALTUSI_Q, data->q_labels, data->nq) ||
      !take_labels(in, SALTUSI_V, data->v_labels, data->nv) ||
      !take_labels(in, SALTUSI_OUTPUTS, data->output_labels, data->output_count)) {
    return false;
  }
  for (int i = 0; i < data->nc; i++) {
    if (!take_contact(in, i)) {
      return false;
    }
  }
  for (int i = 0; i < data->nj; i++) {
    data->joint_names[i] = stem(in);
    if (!take(in, SALTUSI_JOINT_FORCE, (size_t)i, ".joint_force")) {
      return false;
    }
  }
  for (int i = 0; i < data->nj; i++) {
    if (!take_later(in, SALTUSI_JOINT_IMPULSE, (size_t)i, ".joint_impulse")) {
      return false;
    }
  }
  for (int s = SALTUSI_KINETIC; s < SALTUSI_SERIES_COUNT; s++) {
    const saltusi_series* series = &saltusi_series_list[s];
    bool there = saltusi_series_columns(series, data) > 0;
    if (there && !(series->later ? take_later : take)(in, s, 0, series->column)) {
      return false;
    }
  }
  return take(in, SALTUSI_STEP, 0, "step") && in->next == in->table->columns;
}

static int count_words(const char* text) {
  int count = 0;
  for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
    count++;
    text += strcspn(text, " ");
  }
  return count;
}

/* The next word, zero-terminated in the buffer. */
static const char* next_word(char** text) {
  char* word = *text + strspn(*text, " ");
  char* end = word + strcspn(word, " ");
  *text = *end ? end + 1 : end;
  *end = 0;
  return word;
}

static int count_lines(const char* text) {
  int count = 1;
  for (; *text; text++) {
    count += *text == '\n';
  }
  return count;
}

static const char* next_line(char** text) {
  char* line = *text;
  char* end = line + strcspn(line, "\n");
  *text = *end ? end + 1 : end;
  *end = 0;
  return line;
}

static saltus_status read_ours(csv_reader* in) {
  saltus_recording_data* data = in->data;
  data->name = comment(in, "name");
  data->scheme = comment(in, "scheme");
  data->options = comment(in, "options");
  data->accuracy = comment(in, "accuracy");
  data->explanation = comment(in, "explanation");
  data->version = comment(in, "version");
  data->scene = comment(in, "scene");
  data->scene_sha256 = comment(in, "scene_sha256");
  const char* status = comment(in, "status");
  data->status = *status ? status : data->status;
  const char* steps = comment(in, "steps");
  data->steps = *steps ? strtoll(steps, NULL, 10) : -1;
  const char* cpu = comment(in, "cpu_seconds");
  data->cpu_seconds = *cpu ? saltusi_number_read(cpu, NULL) : data->cpu_seconds;
  const char* until = comment(in, "until");
  data->until = *until ? saltusi_number_read(until, NULL) : data->until;
  int* const sizes[] = {&data->nq, &data->nv, &data->nc, &data->nj, &data->output_count};
  static const char* const keys[] = {"nq=", "nv=", "nc=", "nj=", "no="};
  const char* text = comment(in, "sizes");
  for (int i = 0; i < 5; i++) {
    const char* at = strstr(text, keys[i]);
    long size = at ? strtol(at + 3, NULL, 10) : i < 4 ? -1 : 0; /* most scenes have no outputs */
    /* each has at least one column, so the size of the table bounds their number */
    if (size < 0 || size > in->table->columns) {
      return refuse(in, "the comment line \"sizes\" is missing or does not fit the columns");
    }
    *sizes[i] = (int)size;
  }
  if (data->changing && data->nc != 0) {
    return refuse(in, "a recording with a table of contacts has no others");
  }
  char* laws = saltusi_pool_text(in->pool, data->changing ? comment(in, "law_names") : "");
  data->law_count = laws && *laws ? count_lines(laws) : 0;
  char* names = saltusi_pool_text(in->pool, comment(in, "event_names"));
  data->event_name_count = names ? count_words(names) : 0;
  saltus_status room =
      names && laws ? saltusi_data_name_workspace(data, in->pool) : SALTUS_ERR_MEMORY;
  for (int i = 0; room == SALTUS_OK && i < data->event_name_count; i++) {
    data->event_names[i] = next_word(&names);
  }
  for (int i = 0; room == SALTUS_OK && i < data->law_count; i++) {
    data->law_names[i] = next_line(&laws);
  }
  for (int s = 0; room == SALTUS_OK && s < SALTUSI_SERIES_COUNT; s++) {
    room = make_array(in, s);
  }
  if (room != SALTUS_OK) {
    return room;
  }
  if (!take_columns(in)) {
    const char* name = in->next < in->table->columns ? in->table->labels[in->next].name : "(none)";
    saltusi_log(in->log, SALTUS_LEVEL_ERROR,
                "%s: not a Saltus recording that can be read: column %d, \"%.60s\", is not the one "
                "expected there",
                in->path, in->next + 1, name);
    return SALTUS_ERR_INPUT;
  }
  return SALTUS_OK;
}

static bool numbered(const char* name, char letter) {
  if (name[0] != letter || !isdigit((unsigned char)name[1])) {
    return false;
  }
  return name[1 + strspn(name + 1, "0123456789")] == 0;
}

/* Length of a velocity's name without the prime or the _dot that ends it; 0 for other names. */
static size_t unprimed(const char* name) {
  static const char* const ends[] = {"'", "_dot"};
  size_t length = strlen(name);
  for (int i = 0; i < 2; i++) {
    size_t end = strlen(ends[i]);
    if (length > end && strcmp(name + length - end, ends[i]) == 0) {
      return length - end;
    }
  }
  return 0;
}

/* Whether `prime` is the velocity of `name`. */
static bool primed(const char* name, const char* prime) {
  size_t length = strlen(name);
  return unprimed(prime) == length && strncmp(name, prime, length) == 0;
}

/* Series of a foreign column, or -1. */
static int place_of(const saltus_table* table, int column) {
  const char* name = table->labels[column].name;
  if (strcmp(name, "t") == 0) {
    return SALTUSI_T;
  }
  if (numbered(name, 'q')) {
    return SALTUSI_Q;
  }
  if (numbered(name, 'v') || unprimed(name) > 0) {
    return SALTUSI_V;
  }
  for (int s = SALTUSI_KINETIC; s < SALTUSI_CONTACT_START; s++) {
    if (strcmp(name, saltusi_series_list[s].column) == 0) {
      return s;
    }
  }
  for (int i = 0; i < table->columns; i++) {
    if (primed(name, table->labels[i].name)) {
      return SALTUSI_Q;
    }
  }
  return -1;
}

static saltus_status fill_foreign(csv_reader* in, int column, int* places) {
  saltus_recording_data* data = in->data;
  const saltus_label* label = &in->table->labels[column];
  int s = place_of(in->table, column);
  if (s < 0) {
    saltusi_log(in->log, SALTUS_LEVEL_NOTE, "%s: column \"%.60s\" is left out", in->path,
                label->name);
    return SALTUS_OK;
  }
  if (places[s] >= saltusi_series_columns(&saltusi_series_list[s], data)) {
    saltusi_log(in->log, SALTUS_LEVEL_ERROR, "%s: column \"%.60s\" appears twice", in->path,
                label->name);
    return SALTUS_ERR_INPUT;
  }
  if (places[s] == 0) {
    saltus_status status = make_array(in, s);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  if (s == SALTUSI_Q || s == SALTUSI_V) {
    saltus_label* kept = &(s == SALTUSI_Q ? data->q_labels : data->v_labels)[places[s]];
    kept->name = saltusi_pool_text(in->pool, label->name);
    kept->unit = saltusi_pool_text(in->pool, label->unit);
    if (!kept->name || !kept->unit) {
      return SALTUS_ERR_MEMORY;
    }
  }
  fill_column(in, s, column, (size_t)places[s]);
  places[s]++;
  return SALTUS_OK;
}

static saltus_status read_foreign(csv_reader* in) {
  saltus_recording_data* data = in->data;
  if (!saltus_table_column(in->table, "t")) {
    return refuse(in, "there is no column t");
  }
  for (int i = 0; i < in->table->columns; i++) {
    int s = place_of(in->table, i);
    data->nq += s == SALTUSI_Q;
    data->nv += s == SALTUSI_V;
  }
  data->status = "complete";
  saltus_status status = saltusi_data_name_workspace(data, in->pool);
  int places[SALTUSI_SERIES_COUNT] = {0};
  for (int i = 0; status == SALTUS_OK && i < in->table->columns; i++) {
    status = fill_foreign(in, i, places);
  }
  return status;
}

/* Time, kind, contact and its name, then the numbers of an event, then identity and law in a time-varying set; the
 * first recordings have fewer columns. */
static bool read_event(char* line, const saltus_recording_data* data, saltus_event* event) {
  enum { HEAD = 4, TAIL = 2, MOST = HEAD + SALTUSI_EVENT_FIELDS + TAIL };
  char* cells[MOST];
  int count = saltusi_cells_cut(line, cells, MOST);
  double contact;
  double law = 0.0;
  uint64_t identity = 0;
  if (data->changing) {
    if (count != MOST || !saltusi_cell_identity(cells[MOST - 2], &identity) ||
        !saltusi_cell_number(cells[MOST - 1], &law) || !(law >= 0 && law < INT_MAX)) {
      return false;
    }
    count -= TAIL;
  }
  bool first = count == HEAD + SALTUSI_EVENT_FIELDS_FIRST && !data->changing;
  if (!first && count != HEAD + SALTUSI_EVENT_FIELDS) {
    return false;
  }
  int kind = saltusi_event_kind_from(cells[1]);
  if (kind < 0 || !saltusi_cell_number(cells[2], &contact) ||
      !(contact >= 0 && contact < INT_MAX)) {
    return false;
  }
  *event = (saltus_event){.kind = (saltus_event_kind)kind,
                          .contact = (int)contact,
                          .identity = data->changing ? identity : (uint64_t)contact,
                          .law = (int)(data->changing ? law : contact)};
  if (!saltusi_event_fits(event, data)) {
    return false;
  }
  bool good = saltusi_cell_number(cells[0], &event->t);
  for (int i = 0; i < count - HEAD; i++) {
    good = good && saltusi_cell_number(cells[HEAD + i], saltusi_event_number(event, i));
  }
  if (first) {
    saltusi_event_complete(event);
  }
  return good;
}

static saltus_status parse_events(csv_reader* in, const char* path, saltusi_lines* lines) {
  saltus_recording_data* data = in->data;
  /* an event has at least 7 commas and 8 cells, so the file bounds the memory */
  size_t most = (size_t)(lines->end - lines->at) / 15 + 1;
  data->events = saltusi_pool_take(in->pool, most, sizeof *data->events);
  if (!data->events) {
    return SALTUS_ERR_MEMORY;
  }
  bool header = false;
  for (char* line = saltusi_lines_next(lines); line && !lines->torn;
       line = saltusi_lines_next(lines)) {
    if (*line == '#' || *line == 0) {
      continue;
    }
    bool good = header ? (size_t)data->event_count < most &&
                             read_event(line, data, &data->events[data->event_count])
                       : strncmp(line, "t [s],kind,contact,", 19) == 0;
    if (!good) {
      saltusi_log(in->log, SALTUS_LEVEL_ERROR, "%s:%d: this is not an event of a recording", path,
                  lines->number);
      return SALTUS_ERR_INPUT;
    }
    data->event_count += header;
    header = true;
  }
  return SALTUS_OK;
}

/* The path of a table beside the recording; NULL: no memory. */
static char* path_beside(const csv_reader* in, const char* ending) {
  char* cut = saltusi_pool_text(in->pool, in->path);
  if (!cut) {
    return NULL;
  }
  cut[strlen(cut) - strlen(saltusi_format_csv.extension)] = 0;
  return saltusi_pool_join(in->pool, cut, ending);
}

static saltus_status read_rows(const csv_reader* in) {
  const char* path = path_beside(in, ".contacts.csv");
  const saltusi_rows_reading rows = {
      .path = in->path, .log = in->log, .data = in->data, .pool = in->pool};
  return path ? saltusi_csv_rows_read(rows, path) : SALTUS_ERR_MEMORY;
}

static saltus_status read_events(csv_reader* in) {
  char* path = path_beside(in, ".events.csv");
  if (!path || access(path, F_OK) != 0) {
    return path ? SALTUS_OK : SALTUS_ERR_MEMORY; /* the recording was moved without this table */
  }
  saltusi_pool scratch = saltusi_pool_over(&in->pool->allocator);
  saltusi_lines lines;
  saltus_status status = saltusi_text_load(path, in->log, &scratch, &lines);
  if (status == SALTUS_OK) {
    saltusi_point_locale locale = saltusi_point_locale_enter();
    status = parse_events(in, path, &lines);
    saltusi_point_locale_leave(locale);
  }
  saltusi_pool_free(&scratch);
  return status;
}

saltus_status saltusi_csv_read(const char* path, saltus_log log, saltusi_data* into) {
  assert(path != NULL && into != NULL);
  saltus_table* table = NULL;
  saltus_status status = saltus_table_read(path, log, &into->pool.allocator, &table);
  if (status != SALTUS_OK) {
    return status;
  }
  csv_reader in = {
      .path = path, .log = log, .table = table, .data = &into->data, .pool = &into->pool};
  into->data.count = table->rows;
  into->data.changing = strncmp(table->comments, "saltus-recording 2\n", 19) == 0;
  if (into->data.changing || strncmp(table->comments, "saltus-recording 1\n", 19) == 0) {
    saltusi_point_locale locale = saltusi_point_locale_enter();
    status = read_ours(&in);
    saltusi_point_locale_leave(locale);
    if (status == SALTUS_OK && into->data.changing) {
      status = read_rows(&in);
    }
    if (status == SALTUS_OK) {
      status = read_events(&in);
    }
  } else if (saltusi_table_ours(table)) {
    status = refuse(&in, "only versions 1 and 2 of saltus-recording are known");
  } else {
    status = read_foreign(&in);
  }
  saltus_table_destroy(table);
  return status;
}
