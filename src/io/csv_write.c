/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The text format of a recording: comment lines with the texts, a header line, a line per frame;
 * events, and contacts of a time-varying set, in separate tables. Files grow by whole lines; an
 * incomplete line of a failed write is truncated.
 */
#include "base/log.h"
#include "base/number.h"
#include "base/visible.h"
#include "io/files.h"
#include "io/numbers.h"
#include "io/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 << 10 };

typedef struct text_file {
  const char* path;
  int file;        /* -1: closed */
  bool regular;    /* not a device or a pipe */
  bool made;       /* the file did not exist before */
  bool ours;       /* locked, and to be removed when nothing could be kept */
  off_t written;   /* bytes on disk */
  off_t whole;     /* of these, up to the last whole line */
  long long lines; /* whole lines on disk */
  long long head;  /* of these, before the first row */
  int error;       /* errno of the first failure */
  size_t used;     /* of buffer */
  size_t line_at;  /* end of the last whole line in buffer */
  char* buffer;    /* [BUFFER_BYTES] */
} text_file;

/* In the order of writing: contacts before their frame. */
enum { CONTACTS, FRAMES, EVENTS, TABLES };

typedef struct tables {
  text_file file[TABLES];
  int first; /* CONTACTS, or FRAMES for a fixed set */
} tables;

/* The first bytes of the buffer have reached the disk. */
static void note_written(text_file* f, size_t bytes) {
  const char* end = f->buffer + bytes;
  const char* line = f->buffer;
  for (const char* at; (at = memchr(line, '\n', (size_t)(end - line))) != NULL; line = at + 1) {
    f->lines++;
    f->whole = f->written + (at + 1 - f->buffer);
  }
  f->written += (off_t)bytes;
}

/* Writes the first `bytes` of the buffer and moves the rest to its start. */
static void drain(text_file* f, size_t bytes) {
  size_t done = 0;
  while (f->error == 0 && done < bytes) {
    ssize_t n = write(f->file, f->buffer + done, bytes - done);
    if (n >= 0) {
      done += (size_t)n;
    } else if (errno != EINTR) {
      f->error = errno;
    }
  }
  note_written(f, done);
  memmove(f->buffer, f->buffer + bytes, f->used - bytes);
  f->used -= bytes;
  f->line_at -= f->line_at < bytes ? f->line_at : bytes;
}

static void add(text_file* f, const char* text, size_t length) {
  while (length && f->error == 0) {
    if (f->used == BUFFER_BYTES) {
      /* whole lines where possible; a line longer than the buffer is written in parts */
      drain(f, f->line_at ? f->line_at : f->used);
    }
    size_t room = BUFFER_BYTES - f->used;
    size_t part = length < room ? length : room;
    memcpy(f->buffer + f->used, text, part);
    f->used += part;
    text += part;
    length -= part;
  }
}

static void end_line(text_file* f) {
  add(f, "\n", 1);
  f->line_at = f->used;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
addf(text_file* f, const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  int length = saltusi_print_list(text, sizeof text, format, values);
  va_end(values);
  if (length > 0) {
    add(f, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
  }
}

static void add_text(text_file* f, const char* text) {
  add(f, text, strlen(text));
}

/* 17 digits give every double back. The sign and payload of a NaN are not kept. */
static void add_real(text_file* f, double value) {
  if (isnan(value)) {
    add_text(f, "nan");
  } else {
    addf(f, "%.17g", value);
  }
}

/* Control bytes are escaped as \\x1b, except tabs and the carriage return of a line end. */
static void add_visible(text_file* f, const char* text, size_t length) {
  while (length > 0) {
    size_t count = saltusi_visible(text, length);
    bool kept = *text == '\t' || (*text == '\r' && length == 1);
    char escape[SALTUSI_ESCAPE];
    saltusi_visible_escape(*text, escape);
    add(f, count > 0 || kept ? text : escape, count > 0 ? count : kept ? 1 : SALTUSI_ESCAPE - 1);
    text += count > 0 ? count : 1;
    length -= count > 0 ? count : 1;
  }
}

/* Continuation lines of a text are marked, so that the reader can join them. */
static void add_comment(text_file* f, const char* key, const char* text) {
  addf(f, "# %s: ", key);
  for (;;) {
    size_t length = strcspn(text, "\n");
    add_visible(f, text, length);
    end_line(f);
    if (text[length] == 0) {
      return;
    }
    text += length + 1;
    add_text(f, "#| ");
  }
}

/* One cell of the header: name, part after a dot, unit; in quotes if necessary. */
static void add_head(text_file* f, const char* name, const char* part, const char* unit) {
  bool quoted = strpbrk(name, ",\"") || strpbrk(unit, ",\"");
  if (quoted) {
    add_text(f, "\"");
  }
  const char* const pieces[] = {name, *part ? "." : "", part, *unit ? " [" : "",
                                unit, *unit ? "]" : ""};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    const char* c = pieces[i];
    for (size_t left = strlen(c); left > 0;) {
      size_t count = saltusi_visible(c, left);
      count = count > 0 ? count : 1;
      if (*c == '\n' || *c == '\r') {
        add_text(f, " ");
      } else {
        add_visible(f, c, count);
      }
      if (*c == '"') {
        add_text(f, "\"");
      }
      c += count;
      left -= count;
    }
  }
  if (quoted) {
    add_text(f, "\"");
  }
}

/* The columns of a frame: visited once for the header, then once per frame. */
typedef void visit(text_file* f, const saltus_recording* r, int series, int column, int component,
                   int frame);

static void visit_series(text_file* f, const saltus_recording* r, int s, int frame, visit* put) {
  const saltusi_series* series = &saltusi_series_list[s];
  for (int i = 0; i < saltusi_series_columns(series, &r->head); i++) {
    int components = series->components == 1 ? 1 : r->contact_components[i];
    for (int k = 0; k < components; k++) {
      add_text(f, ",");
      put(f, r, s, i, k, frame);
    }
  }
}

static void visit_contact(text_file* f, const saltus_recording* r, int i, int frame, visit* put) {
  for (int s = SALTUSI_GAP; s < SALTUSI_JOINT_FORCE; s++) {
    int components = saltusi_series_list[s].components == 1 ? 1 : r->contact_components[i];
    for (int k = 0; k < components; k++) {
      add_text(f, ",");
      put(f, r, s, i, k, frame);
    }
  }
}

static void visit_columns(text_file* f, const saltus_recording* r, int frame, visit* put) {
  put(f, r, SALTUSI_T, 0, 0, frame);
  visit_series(f, r, SALTUSI_Q, frame, put);
  visit_series(f, r, SALTUSI_V, frame, put);
  visit_series(f, r, SALTUSI_OUTPUTS, frame, put);
  for (int i = 0; i < r->head.nc; i++) {
    visit_contact(f, r, i, frame, put);
  }
  for (int s = SALTUSI_JOINT_FORCE; s < SALTUSI_SERIES_COUNT; s++) {
    visit_series(f, r, s, frame, put);
  }
  add_text(f, ",");
  put(f, r, SALTUSI_STEP, 0, 0, frame);
  end_line(f);
}

static void put_head(text_file* f, const saltus_recording* r, int s, int column, int component,
                     int frame) {
  (void)frame;
  static const char* const directions[] = {"_N", "_T1", "_T2"};
  const saltusi_series* series = &saltusi_series_list[s];
  const char* unit = saltusi_series_column_unit(series, &r->head, column);
  if (series->integer) {
    unit = ""; /* a count */
  }
  char part[32] = "";
  if (series->per == SALTUSI_PER_CONTACT || series->per == SALTUSI_PER_JOINT) {
    snprintf(part, sizeof part, "%s%s", series->column,
             series->components == 1 ? "" : directions[component]);
  }
  add_head(f, saltusi_series_column_name(series, &r->head, column), part, unit);
}

/* First row of a frame in the batch; for the frame after the last, the number of rows. */
static size_t row_of(const saltusi_batch* batch, int frame) {
  const long long* start = batch->column[SALTUSI_CONTACT_START];
  return frame < batch->frames ? (size_t)(start[frame] - batch->rows.first) : batch->rows.count;
}

static void put_value(text_file* f, const saltus_recording* r, int s, int column, int component,
                      int frame) {
  const saltusi_series* series = &saltusi_series_list[s];
  size_t at = (size_t)frame * saltusi_series_width(series, &r->head) +
              (size_t)column * (size_t)series->components + (size_t)component;
  if (s == SALTUSI_CONTACT_START) {
    addf(f, "%zu", row_of(&r->fresh, frame + 1) - row_of(&r->fresh, frame));
  } else if (series->integer) {
    const long long* items = r->fresh.column[s];
    addf(f, "%lld", items[at]);
  } else {
    const double* items = r->fresh.column[s];
    add_real(f, items[at]);
  }
}

static void add_common_comments(text_file* f, const saltus_recording* r, const char* what) {
  const saltus_recording_data* head = &r->head;
  addf(f, "# saltus-%s %d", what, head->changing ? 2 : 1);
  end_line(f);
  add_comment(f, "name", head->name);
  add_comment(f, "scheme", head->scheme);
  add_comment(f, "version", head->version);
}

/* The head of the table of contacts. */
static void add_row_top(text_file* f, const saltus_recording* r) {
  add_common_comments(f, r, "contacts");
  add_text(f, "frame,t [s]");
  for (int c = 0; c < SALTUSI_ROW_COLUMNS; c++) {
    const saltusi_row_column* column = &saltusi_row_columns[c];
    for (int k = 0; k < column->components; k++) {
      addf(f, ",%s%s", column->name, column->endings[k]);
      if (column->kind == SALTUSI_ROW_REAL) {
        addf(f, " [%s]", column->unit);
      }
    }
  }
  end_line(f);
}

static void add_row(text_file* f, const saltusi_row_batch* rows, size_t row) {
  for (int c = 0; c < SALTUSI_ROW_COLUMNS; c++) {
    const saltusi_row_column* column = &saltusi_row_columns[c];
    for (int k = 0; k < column->components; k++) {
      size_t at = row * (size_t)column->components + (size_t)k;
      add_text(f, ",");
      switch (column->kind) {
      case SALTUSI_ROW_REAL:
        add_real(f, ((const double*)rows->column[c])[at]);
        break;
      case SALTUSI_ROW_INTEGER:
        addf(f, "%lld", ((const long long*)rows->column[c])[at]);
        break;
      case SALTUSI_ROW_IDENTITY:
        addf(f, "%" PRIu64, ((const uint64_t*)rows->column[c])[at]);
        break;
      }
    }
  }
}

/* The contacts of a frame of the batch. */
static void add_rows(text_file* f, const saltus_recording* r, int frame) {
  const double* t = r->fresh.column[SALTUSI_T];
  for (size_t row = row_of(&r->fresh, frame); row < row_of(&r->fresh, frame + 1); row++) {
    addf(f, "%lld,", r->fresh.first_frame + frame);
    add_real(f, t[frame]);
    add_row(f, &r->fresh.rows, row);
    end_line(f);
  }
}

/* Names of laws, one in a line. */
static void add_laws(text_file* f, const saltus_recording_data* head) {
  for (int i = 0; i < head->law_count; i++) {
    add_text(f, i > 0 ? "#| " : "# law_names: ");
    add_visible(f, head->law_names[i], strlen(head->law_names[i]));
    end_line(f);
  }
}

static void add_top(tables* t, const saltus_recording* r) {
  const saltus_recording_data* head = &r->head;
  text_file* f = &t->file[FRAMES];
  text_file* events = &t->file[EVENTS];
  if (head->changing) {
    add_row_top(&t->file[CONTACTS], r);
  }
  add_common_comments(f, r, "recording");
  add_comment(f, "options", head->options);
  if (head->accuracy[0] != '\0') {
    add_comment(f, "accuracy", head->accuracy);
  }
  if (!isnan(head->until)) {
    addf(f, "# until: %.17g", head->until);
    end_line(f);
  }
  if (head->scene_sha256[0] != '\0') {
    add_comment(f, "scene_sha256", head->scene_sha256);
  }
  addf(f, "# sizes: nq=%d nv=%d nc=%d nj=%d", head->nq, head->nv, head->nc, head->nj);
  if (head->output_count > 0) {
    addf(f, " no=%d", head->output_count);
  }
  end_line(f);
  for (int i = 0; i < head->event_name_count; i++) {
    add_text(f, i > 0 ? " " : "# event_names: "); /* names have no blanks */
    add_text(f, head->event_names[i]);
  }
  if (head->event_name_count > 0) {
    end_line(f);
  }
  add_laws(f, head);
  if (*head->scene) {
    add_comment(f, "scene", head->scene);
  }
  visit_columns(f, r, 0, put_head);
  add_common_comments(events, r, "events");
  add_text(events, "t [s],kind,contact,contact_name");
  for (int i = 0; i < SALTUSI_EVENT_FIELDS; i++) {
    addf(events, ",%s [%s]", saltusi_event_fields[i].name, saltusi_event_fields[i].unit);
  }
  if (head->changing) {
    add_text(events, ",identity,law");
  }
  end_line(events);
}

static void add_event(text_file* f, const saltus_recording* r, const saltus_event* e) {
  add_real(f, e->t);
  addf(f, ",%s,%d,", saltus_event_kind_name(e->kind), e->contact);
  add_head(f, saltusi_event_name(e, &r->head), "", "");
  saltus_event numbers = *e;
  for (int i = 0; i < SALTUSI_EVENT_FIELDS; i++) {
    add_text(f, ",");
    add_real(f, *saltusi_event_number(&numbers, i));
  }
  if (r->head.changing) {
    addf(f, ",%" PRIu64 ",%d", e->identity, e->law);
  }
  end_line(f);
}

/* Writes the buffer to disk; when the disk is full, as many whole lines as fit. */
static int settle(text_file* f, bool sync) {
  drain(f, f->used);
  if (f->error == 0 && sync && fsync(f->file) != 0 && errno != EINVAL && errno != ENOSYS) {
    f->error = errno;
  }
  if (f->error) {
    if (ftruncate(f->file, f->whole) != 0) {
      return f->error; /* the first error is the one to report */
    }
    return f->error;
  }
  return 0;
}

/* Whether the file begins like a table of this kind, or is empty. */
static bool is_table(int file, const char* what) {
  char start[64];
  char expected[64];
  int length = snprintf(expected, sizeof expected, "# saltus-%s ", what);
  ssize_t count = pread(file, start, (size_t)length, 0);
  return count == 0 || (count == length && memcmp(start, expected, (size_t)length) == 0);
}

static saltus_status open_table(saltus_recording* r, text_file* f, const char* what) {
  f->buffer = saltusi_pool_take(&r->pool, BUFFER_BYTES, 1);
  if (!f->path || !f->buffer) {
    return SALTUS_ERR_MEMORY;
  }
  f->made = access(f->path, F_OK) != 0;
  f->file = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (f->file < 0 && errno != EISDIR) {
    f->file = open(f->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666); /* a pipe, a device */
  }
  struct stat about;
  if (f->file < 0 || fstat(f->file, &about) != 0) {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR, "%s: cannot write the recording: %s", f->path,
                strerror(errno));
    return SALTUS_ERR_IO;
  }
  f->regular = S_ISREG(about.st_mode);
  if (!f->regular) {
    return SALTUS_OK;
  }
  if (saltusi_file_lock_open(f->file) != 0) {
    return saltusi_refuse_shared(r, f->path);
  }
  if (!r->force && !is_table(f->file, what)) {
    return saltusi_refuse_foreign(r, f->path);
  }
  f->ours = true;
  return SALTUS_OK;
}

static void release(saltus_recording* r, const char* failure) {
  (void)failure; /* an incomplete run has no final line */
  tables* t = r->file;
  for (int i = t->first; i < TABLES; i++) {
    if (t->file[i].file >= 0) {
      close(t->file[i].file);
      t->file[i].file = -1;
    }
  }
}

/* Removes the tables of a recording without rows. */
static void remove_tables(const tables* t) {
  for (int i = t->first; i < TABLES; i++) {
    if (t->file[i].ours) {
      unlink(t->file[i].path);
    }
  }
}

static saltus_status fail(saltus_recording* r, const text_file* f) {
  tables* t = r->file;
  const text_file* frames = &t->file[FRAMES];
  const char* what = f->error == ENOSPC || f->error == EDQUOT ? "disk full" : "cannot write";
  r->kept = frames->lines - frames->head;
  long long here = r->kept - r->fresh.first_frame;
  if (here > 0) {
    here = here < r->fresh.frames ? here : r->fresh.frames; /* lines of the summary */
    const double* times = r->fresh.column[SALTUSI_T];
    r->t_kept = times[here - 1];
    r->kept = r->fresh.first_frame + here;
  }
  if (r->kept > 0) {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR,
                "%s: %s: %s; the recording holds everything up to t = %.9g s", f->path, what,
                strerror(f->error), r->t_kept);
  } else {
    remove_tables(t);
    saltusi_log(r->log, SALTUS_LEVEL_ERROR, "%s: %s: %s; nothing was kept%s", f->path, what,
                strerror(f->error), frames->ours ? " and the file is removed" : "");
  }
  return SALTUS_ERR_IO;
}

/* Existing files are replaced only when all tables can be written. */
static saltus_status start_tables(saltus_recording* r, tables* t) {
  for (int i = t->first; i < TABLES; i++) {
    text_file* f = &t->file[i];
    if (f->ours && ftruncate(f->file, 0) != 0) {
      f->error = errno;
    }
  }
  add_top(t, r);
  for (int i = t->first; i < TABLES; i++) {
    if (settle(&t->file[i], false) != 0) {
      return fail(r, &t->file[i]);
    }
    t->file[i].head = t->file[i].lines;
  }
  return SALTUS_OK;
}

static saltus_status create(saltus_recording* r) {
  static const char* const kinds[TABLES] = {"contacts", "recording", "events"};
  tables* t = saltusi_pool_take(&r->pool, 1, sizeof *t);
  char* stem = saltusi_pool_text(&r->pool, r->path);
  if (!t || !stem) {
    return SALTUS_ERR_MEMORY;
  }
  r->file = t;
  stem[strlen(stem) - strlen(r->format->extension)] = 0;
  t->first = r->head.changing ? CONTACTS : FRAMES;
  t->file[CONTACTS].path = saltusi_pool_join(&r->pool, stem, ".contacts.csv");
  t->file[FRAMES].path = r->path;
  t->file[EVENTS].path = saltusi_pool_join(&r->pool, stem, ".events.csv");
  for (int i = 0; i < TABLES; i++) {
    t->file[i].file = -1;
  }
  saltus_status status = SALTUS_OK;
  for (int i = t->first; i < TABLES && status == SALTUS_OK; i++) {
    status = open_table(r, &t->file[i], kinds[i]);
  }
  for (int i = t->first; i < TABLES && status != SALTUS_OK; i++) {
    if (t->file[i].ours && t->file[i].made) {
      unlink(t->file[i].path);
    }
  }
  if (status == SALTUS_OK) {
    status = start_tables(r, t);
  }
  if (status != SALTUS_OK) {
    release(r, NULL);
  }
  return status;
}

static void add_summary(text_file* f, const saltus_recording_summary* final) {
  char status[256];
  saltusi_status_text(final, status, sizeof status);
  add_comment(f, "status", status);
  addf(f, "# steps: %lld", final->steps);
  end_line(f);
  if (!isnan(final->cpu_seconds)) {
    addf(f, "# cpu_seconds: %.17g", final->cpu_seconds);
    end_line(f);
  }
}

/* New rows of one of the tables. */
static void add_fresh(tables* t, const saltus_recording* r, int table,
                      const saltus_recording_summary* final) {
  text_file* f = &t->file[table];
  for (int i = 0; table == CONTACTS && i < r->fresh.frames && f->error == 0; i++) {
    add_rows(f, r, i);
  }
  for (int i = 0; table == FRAMES && i < r->fresh.frames && f->error == 0; i++) {
    visit_columns(f, r, i, put_value);
  }
  for (int i = 0; table == EVENTS && i < r->fresh.events && f->error == 0; i++) {
    add_event(f, r, &r->fresh.event[i]);
  }
  if (table == FRAMES && final) {
    add_summary(f, final);
    if (r->head.explanation[0] != '\0') {
      add_comment(f, "explanation", r->head.explanation);
    }
  }
}

static saltus_status flush(saltus_recording* r, const saltus_recording_summary* final) {
  tables* t = r->file;
  for (int i = t->first; i < TABLES; i++) {
    saltusi_point_locale locale = saltusi_point_locale_enter();
    add_fresh(t, r, i, final);
    saltusi_point_locale_leave(locale);
    if (settle(&t->file[i], r->sync) != 0) {
      return fail(r, &t->file[i]);
    }
  }
  saltusi_batch_pass(&r->fresh);
  return SALTUS_OK;
}

const saltusi_format saltusi_format_csv = {
    .extension = ".csv", .create = create, .flush = flush, .release = release};
