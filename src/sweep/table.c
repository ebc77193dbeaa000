/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * table.c - rows of a sweep in a file.
 *
 * A head of text lines, padded to a multiple of 4096 bytes, is followed by the rows, each at the offset of its run:
 * checksum (8 bytes), status (8), reason (160), values (8 each), in the byte order of the machine, which the head
 * names. A row is valid if its checksum is that of its run and bytes. Offsets that were never written are holes.
 */
#include "base/hash.h"
#include "base/log.h"
#include "base/pool.h"
#include "saltus/sweep.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "saltus sweep 1\n";

enum { PAGE = 4096, HEAD_MOST = 1 << 24, FIXED = 16 + SALTUS_SWEEP_REASON, COLUMNS_MOST = 100000 };

static const uint64_t order_mark = UINT64_C(0x0102030405060708);

struct saltus_sweep_table {
  saltusi_pool pool; /* owns all data, this struct included */
  saltus_sweep_head head;
  char* path;
  int file;
  off_t first; /* byte of row 0 */
  size_t row;  /* bytes */
  char* room;  /* one row */
  saltus_log log;
};

static saltus_status fail(saltus_log log, const char* path, const char* why) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: %s", path, why);
  return SALTUS_ERR_IO;
}

static saltus_status damaged(saltus_log log, const char* path, const char* why) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: not a table of a sweep: %s", path, why);
  return SALTUS_ERR_INPUT;
}

static bool write_all(int file, const char* bytes, size_t count, off_t at) {
  while (count > 0) {
    const ssize_t n = pwrite(file, bytes, count, at);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      errno = n == 0 ? ENOSPC : errno;
      return false;
    }
    bytes += n;
    at += n;
    count -= (size_t)n;
  }
  return true;
}

/* Number of bytes read. */
static ssize_t read_all(int file, char* bytes, size_t count, off_t at) {
  size_t got = 0;
  while (got < count) {
    const ssize_t n = pread(file, bytes + got, count - got, at + (off_t)got);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return -1;
    }
    if (n == 0) {
      break;
    }
    got += (size_t)n;
  }
  return (ssize_t)got;
}

static saltus_sweep_table* make(const char* path, saltus_log log) {
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltus_sweep_table* t = SALTUSI_TAKE(&pool, saltus_sweep_table, 1);
  if (t == NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: no memory", path);
    return NULL;
  }
  t->pool = pool;
  t->path = saltusi_pool_text(&t->pool, path);
  t->file = -1;
  t->log = log;
  return t;
}

static saltus_status lay_out(saltus_sweep_table* t) {
  t->row = FIXED + sizeof(double) * ((size_t)t->head.axes + (size_t)t->head.measures);
  t->room = saltusi_pool_take(&t->pool, t->row, 1);
  return t->room != NULL && t->path != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

static void give_up(saltus_sweep_table* t) {
  if (t->file >= 0) {
    close(t->file);
  }
  saltusi_pool pool = t->pool;
  saltusi_pool_free(&pool);
}

/* ---- head ---- */

/* Names must not contain line ends. */
static void put_line(char* text, size_t room, size_t* used, const char* word, const char* value) {
  const int n = snprintf(text + *used, *used < room ? room - *used : 0, "%s %s\n", word, value);
  for (int i = (int)strlen(word) + 1; i < n - 1 && *used + (size_t)i < room; i++) {
    char* c = text + *used + i;
    *c = *c == '\n' || *c == '\r' ? ' ' : *c;
  }
  *used += n > 0 ? (size_t)n : 0;
}

static saltus_status write_head(saltus_sweep_table* t, const saltus_sweep_view* view,
                                const char* about) {
  size_t room = strlen(about) + 65536;
  const int columns = view->axes + view->measures;
  for (int i = 0; i < columns; i++) {
    room += strlen(view->columns[i]) + 64;
  }
  room = (room + PAGE - 1) / PAGE * PAGE;
  char* text = saltusi_pool_take(&t->pool, room, 1);
  if (text == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  size_t used = 0;
  char value[128];
  used += (size_t)snprintf(text, room, "%s", magic);
  snprintf(value, sizeof value, "%zu %d %d %lld %lld %016" PRIx64, room, view->axes, view->measures,
           view->runs, view->grid, view->fingerprint);
  put_line(text, room, &used, "size", value);
  for (int i = 0; i < view->axes; i++) {
    snprintf(value, sizeof value, "%d %d", view->counts[i], (int)view->logarithmic[i]);
    put_line(text, room, &used, "axis", value);
    put_line(text, room, &used, "name", view->columns[i]);
  }
  for (int i = view->axes; i < columns; i++) {
    put_line(text, room, &used, "name", view->columns[i]);
  }
  used += (size_t)snprintf(text + used, room - used, "about\n%s", about);
  memcpy(text + room - sizeof order_mark, &order_mark, sizeof order_mark);
  t->first = (off_t)room;
  if (!write_all(t->file, text, room, 0)) {
    return fail(t->log, t->path, strerror(errno));
  }
  return SALTUS_OK;
}

static char* next_line(char** at) {
  char* line = *at;
  char* end = line != NULL ? strchr(line, '\n') : NULL;
  if (end == NULL) {
    return NULL;
  }
  *end = '\0';
  *at = end + 1;
  return line;
}

/* The text after "word " in the next line; NULL: another word. */
static char* expect(char** at, const char* word) {
  char* line = next_line(at);
  const size_t length = strlen(word);
  return line != NULL && strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1
                                                                                 : NULL;
}

static saltus_status read_columns(saltus_sweep_table* t, char* at) {
  saltus_sweep_head* h = &t->head;
  const int columns = h->axes + h->measures;
  const char** names = SALTUSI_TAKE(&t->pool, const char*, columns + 1);
  int* counts = SALTUSI_TAKE(&t->pool, int, h->axes + 1);
  bool* logs = SALTUSI_TAKE(&t->pool, bool, h->axes + 1);
  if (names == NULL || counts == NULL || logs == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  long long grid = 1; /* at most one above that of the head: h->grid / grid is 0 then */
  bool drawn = false;
  for (int i = 0; i < columns; i++) {
    int log = 0;
    const char* axis = i < h->axes ? expect(&at, "axis") : "0 0";
    if (axis == NULL || (i < h->axes && sscanf(axis, "%d %d", &counts[i], &log) != 2)) {
      return damaged(t->log, t->path, "its axes cannot be read");
    }
    if (i < h->axes) {
      logs[i] = log != 0;
      drawn = drawn || counts[i] == 0;
      const long long count = counts[i] == 0 ? 1 : counts[i];
      grid = count >= 1 && count <= h->grid / grid ? grid * count : h->grid + 1;
    }
    names[i] = expect(&at, "name");
    if (names[i] == NULL) {
      return damaged(t->log, t->path, "its columns cannot be read");
    }
  }
  if (grid != h->grid || (h->runs > h->grid && !drawn)) {
    return damaged(t->log, t->path, "its axes and the number of its runs disagree");
  }
  const char* line = next_line(&at);
  if (line == NULL || strcmp(line, "about") != 0) {
    return damaged(t->log, t->path, "its head has no end");
  }
  h->columns = names;
  h->counts = counts;
  h->logarithmic = logs;
  h->about = at;
  return SALTUS_OK;
}

static saltus_status read_head(saltus_sweep_table* t) {
  char start[sizeof magic + 256] = {0};
  saltus_sweep_head* h = &t->head;
  size_t room = 0;
  const ssize_t got = read_all(t->file, start, sizeof start - 1, 0);
  if (got < 0) {
    return fail(t->log, t->path, strerror(errno));
  }
  if (strncmp(start, magic, sizeof magic - 1) != 0 ||
      sscanf(start + sizeof magic - 1, "size %zu %d %d %lld %lld %" SCNx64, &room, &h->axes,
             &h->measures, &h->runs, &h->grid, &h->fingerprint) != 6) {
    return damaged(t->log, t->path, "its first lines are others");
  }
  if (room < PAGE || room > HEAD_MOST || room % PAGE != 0 || h->axes < 0 || h->measures < 0 ||
      h->axes > COLUMNS_MOST || h->measures > COLUMNS_MOST || h->runs < 1 || h->grid < 1 ||
      h->runs % h->grid != 0 || h->runs > INT64_C(9000000000000000)) {
    return damaged(t->log, t->path, "its sizes are impossible");
  }
  char* text = saltusi_pool_take(&t->pool, room + 1, 1);
  if (text == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  if (read_all(t->file, text, room, 0) != (ssize_t)room) {
    return damaged(t->log, t->path, "its head is cut");
  }
  if (memcmp(text + room - sizeof order_mark, &order_mark, sizeof order_mark) != 0) {
    return damaged(t->log, t->path, "it was written on a machine with another order of bytes");
  }
  memset(text + room - sizeof order_mark, 0, sizeof order_mark);
  t->first = (off_t)room;
  char* at = text + sizeof magic - 1;
  (void)next_line(&at);
  return read_columns(t, at);
}

/* ---- life ---- */

/* The head is written to a file of another name, in `name`, which is renamed to the table when complete. A process
 * that is killed in between leaves no truncated table. */
static saltus_status open_new(saltus_sweep_table* t, char** name) {
  const size_t room = strlen(t->path) + 32;
  *name = saltusi_pool_take(&t->pool, room, 1);
  if (*name == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  enum { ATTEMPTS = 100 };
  for (int i = 0; i < ATTEMPTS; i++) { /* a killed process may have used this number */
    snprintf(*name, room, "%s.%ld-%d.head", t->path, (long)getpid(), i);
    t->file = open(*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (t->file >= 0 || errno != EEXIST) {
      break;
    }
  }
  return t->file < 0 ? fail(t->log, t->path, strerror(errno)) : SALTUS_OK;
}

/* False with errno if a table of this name exists. On file systems without hard links the new file is renamed. */
static bool name_table(const char* name, const char* path) {
  if (link(name, path) == 0) {
    (void)unlink(name);
    return true;
  }
  if (errno == EEXIST || access(path, F_OK) == 0) {
    errno = EEXIST;
    return false;
  }
  return rename(name, path) == 0;
}

saltus_status saltus_sweep_table_create(const char* path, const saltus_sweep_view* view,
                                        const char* about, saltus_log log,
                                        saltus_sweep_table** out) {
  assert(path != NULL && view != NULL && about != NULL && out != NULL);
  *out = NULL;
  saltus_sweep_table* t = make(path, log);
  if (t == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  char* name = NULL;
  saltus_status status = t->path != NULL ? open_new(t, &name) : SALTUS_ERR_MEMORY;
  if (status != SALTUS_OK) {
    give_up(t);
    return status;
  }
  t->head = (saltus_sweep_head){.runs = view->runs,
                                .grid = view->grid,
                                .axes = view->axes,
                                .measures = view->measures,
                                .fingerprint = view->fingerprint};
  status = lay_out(t);
  status = status == SALTUS_OK && flock(t->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
               ? fail(log, path, "another process writes it")
               : status;
  status = status == SALTUS_OK ? write_head(t, view, about) : status;
  status = status == SALTUS_OK ? read_head(t) : status; /* with its own names */
  status =
      status == SALTUS_OK && !name_table(name, path) ? fail(log, path, strerror(errno)) : status;
  if (status != SALTUS_OK) {
    (void)unlink(name);
    give_up(t);
    return status;
  }
  *out = t;
  return SALTUS_OK;
}

saltus_status saltus_sweep_table_open(const char* path, bool writing, saltus_log log,
                                      saltus_sweep_table** out) {
  assert(path != NULL && out != NULL);
  *out = NULL;
  saltus_sweep_table* t = make(path, log);
  if (t == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  struct stat about;
  const bool waits = stat(path, &about) == 0 && !S_ISREG(about.st_mode); /* a pipe, a device */
  t->file = waits ? -1 : open(path, (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  const char* why = waits ? "it is no regular file" : strerror(errno);
  saltus_status status = t->file < 0 ? fail(log, path, why) : SALTUS_OK;
  if (status == SALTUS_OK && writing && flock(t->file, LOCK_EX | LOCK_NB) != 0 &&
      errno == EWOULDBLOCK) {
    status = fail(log, path, "another process writes it");
  }
  status = status == SALTUS_OK ? read_head(t) : status;
  status = status == SALTUS_OK ? lay_out(t) : status;
  if (status != SALTUS_OK) {
    give_up(t);
    return status;
  }
  *out = t;
  return SALTUS_OK;
}

const saltus_sweep_head* saltus_sweep_table_head(const saltus_sweep_table* table) {
  assert(table != NULL);
  return &table->head;
}

long long saltus_sweep_table_held(const saltus_sweep_table* table) {
  assert(table != NULL);
  struct stat about;
  if (fstat(table->file, &about) != 0 || about.st_size <= table->first) {
    return 0;
  }
  const long long rows = (long long)((about.st_size - table->first - 1) / (off_t)table->row) + 1;
  return rows < table->head.runs ? rows : table->head.runs;
}

saltus_status saltus_sweep_table_close(saltus_sweep_table* table) {
  if (table == NULL) {
    return SALTUS_OK;
  }
  saltus_status status = SALTUS_OK;
  if (fsync(table->file) != 0 && errno != EINVAL && errno != EROFS && errno != EBADF) {
    status = fail(table->log, table->path, strerror(errno));
  }
  give_up(table);
  return status;
}

/* ---- rows ---- */

static uint64_t check_of(const saltus_sweep_table* t, const char* bytes, long long run) {
  const uint64_t hash = saltusi_hash(SALTUSI_HASH_START, &run, sizeof run);
  return saltusi_hash(hash, bytes + 8, t->row - 8);
}

saltus_status saltus_sweep_table_write(saltus_sweep_table* table, long long run,
                                       const saltus_sweep_rows* rows, int i) {
  assert(table != NULL && rows != NULL && run >= 0 && run < table->head.runs);
  const size_t columns = (size_t)table->head.axes + (size_t)table->head.measures;
  const int64_t status = rows->statuses[i];
  memcpy(table->room + 8, &status, sizeof status);
  memcpy(table->room + 16, rows->reasons[i], SALTUS_SWEEP_REASON);
  memcpy(table->room + FIXED, rows->values + (size_t)i * columns, columns * sizeof(double));
  const uint64_t check = check_of(table, table->room, run);
  memcpy(table->room, &check, sizeof check);
  if (!write_all(table->file, table->room, table->row,
                 table->first + (off_t)run * (off_t)table->row)) {
    return fail(table->log, table->path, strerror(errno));
  }
  return SALTUS_OK;
}

static void read_row(saltus_sweep_table* t, long long run, bool there,
                     const saltus_sweep_rows* rows, int i) {
  const size_t columns = ((size_t)t->head.axes + (size_t)t->head.measures);
  uint64_t check;
  memcpy(&check, t->room, sizeof check);
  rows->done[i] = there && check == check_of(t, t->room, run);
  if (!rows->done[i]) {
    return;
  }
  int64_t status;
  memcpy(&status, t->room + 8, sizeof status);
  rows->statuses[i] = (int)status;
  memcpy(rows->reasons[i], t->room + 16, SALTUS_SWEEP_REASON);
  rows->reasons[i][SALTUS_SWEEP_REASON - 1] = '\0';
  memcpy(rows->values + (size_t)i * columns, t->room + FIXED, columns * sizeof(double));
}

saltus_status saltus_sweep_table_read(saltus_sweep_table* table, long long first, int count,
                                      const saltus_sweep_rows* rows) {
  assert(table != NULL && rows != NULL && first >= 0 && first + count <= table->head.runs);
  for (int i = 0; i < count; i++) {
    const ssize_t got = read_all(table->file, table->room, table->row,
                                 table->first + (off_t)(first + i) * (off_t)table->row);
    if (got < 0) {
      return fail(table->log, table->path, strerror(errno));
    }
    read_row(table, first + i, got == (ssize_t)table->row, rows, i);
  }
  return SALTUS_OK;
}
