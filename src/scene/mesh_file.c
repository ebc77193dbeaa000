/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mesh_file.c - readers for STL and OBJ. Formats: https://www.fabbers.com/tech/STL_Format and
 * https://paulbourke.net/dataformats/obj
 */
#include "scene/mesh_file.h"

#include "base/log.h"
#include "base/number.h"
#include "base/regular.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const long largest_file = 256L << 20;

/* A file that is read. */
typedef struct source {
  const char* path;
  saltusi_pool* pool;
  saltus_log log;
  char* text; /* [size + 1] ends with zero */
  size_t size;
} source;

static saltus_status refuse(const source* s, const char* what) {
  saltusi_log(s->log, SALTUS_LEVEL_ERROR, "mesh \"%s\": %s", s->path, what);
  return SALTUS_ERR_INPUT;
}

/* The same with the line number of a position in the text. */
static saltus_status refuse_at(const source* s, const char* at, const char* what) {
  int line = 1;
  for (const char* c = s->text; c < at; c++) {
    line += *c == '\n';
  }
  saltusi_log(s->log, SALTUS_LEVEL_ERROR, "mesh \"%s\":%d: %s", s->path, line, what);
  return SALTUS_ERR_INPUT;
}

static saltus_status load(source* s) {
  FILE* file = saltusi_regular_stream(s->path);
  if (file == NULL) {
    saltusi_log(s->log, SALTUS_LEVEL_ERROR, "mesh \"%s\" cannot be opened: %s", s->path,
                saltusi_regular_reason(errno));
    return SALTUS_ERR_IO;
  }
  const long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  saltus_status status = SALTUS_OK;
  if (size < 0 || size > largest_file || fseek(file, 0, SEEK_SET) != 0) {
    status = refuse(s, "not a file of at most 256 MB");
  }
  s->text = status == SALTUS_OK ? saltusi_pool_take(s->pool, (size_t)size + 1, 1) : NULL;
  s->size = status == SALTUS_OK ? (size_t)size : 0;
  if (status == SALTUS_OK && s->text == NULL) {
    status = SALTUS_ERR_MEMORY;
  }
  if (status == SALTUS_OK && fread(s->text, 1, s->size, file) != s->size) {
    status = refuse(s, "cannot be read");
  }
  (void)fclose(file);
  return status;
}

/* ---- STL ---- */

static uint32_t word_at(const unsigned char* p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double float_at(const unsigned char* p) {
  const uint32_t bits = word_at(p);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static bool is_same(const double a[3], const double b[3]) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Merges equal corners: open addressing by their bits. */
static saltus_status weld(const source* s, const double* corner, int corners,
                          saltusi_mesh_file* out) {
  size_t slots = 16;
  while (slots < 2 * (size_t)corners) {
    slots *= 2;
  }
  int* slot = saltusi_pool_take(s->pool, slots, sizeof *slot); /* index + 1 */
  out->point = saltusi_pool_take(s->pool, 3 * (size_t)corners, sizeof(double));
  out->triangle = saltusi_pool_take(s->pool, (size_t)corners, sizeof(int));
  if (s->pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < corners; i++) {
    double x[3];
    uint64_t hash = 1469598103934665603U;
    for (int k = 0; k < 3; k++) {
      uint64_t bits;
      x[k] = corner[3 * i + k] + 0.0; /* -0 is 0 */
      memcpy(&bits, &x[k], sizeof bits);
      hash = (hash ^ bits ^ (bits >> 29)) * 1099511628211U;
    }
    size_t at = (size_t)(hash ^ hash >> 32) & (slots - 1);
    while (slot[at] != 0 && !is_same(out->point + 3 * (size_t)(slot[at] - 1), x)) {
      at = (at + 1) & (slots - 1);
    }
    if (slot[at] == 0) {
      memcpy(out->point + 3 * (size_t)out->points, x, sizeof x);
      slot[at] = ++out->points;
    }
    out->triangle[i] = slot[at] - 1;
  }
  out->triangles = corners / 3;
  return SALTUS_OK;
}

static saltus_status read_binary(const source* s, uint32_t triangles, saltusi_mesh_file* out) {
  const unsigned char* p = (const unsigned char*)s->text + 84;
  double* corner = saltusi_pool_take(s->pool, 9 * (size_t)triangles, sizeof *corner);
  if (corner == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (size_t i = 0; i < triangles; i++) {
    for (size_t k = 0; k < 9; k++) { /* the first three numbers are a normal, which follows */
      corner[9 * i + k] = float_at(p + 50 * i + 12 + 4 * k);
      if (!isfinite(corner[9 * i + k])) {
        saltusi_log(s->log, SALTUS_LEVEL_ERROR,
                    "mesh \"%s\": triangle %zu has a number that is not finite", s->path, i + 1);
        return SALTUS_ERR_INPUT;
      }
    }
  }
  return weld(s, corner, 3 * (int)triangles, out);
}

/* Blanks of the same line. */
static const char* skip_blanks(const char* at) {
  while (*at != '\n' && isspace((unsigned char)*at)) {
    at++;
  }
  return at;
}

/* Three numbers in one line; returns their end. NULL: not three numbers. */
static const char* three(const char* at, double x[3]) {
  for (int k = 0; k < 3; k++) {
    at = skip_blanks(at);
    char* end = NULL;
    x[k] = *at != '\n' ? saltusi_number_read(at, &end) : NAN;
    if (end == NULL || end == at || !isfinite(x[k])) {
      return NULL;
    }
    at = end;
  }
  return at;
}

static const char* next_line(const char* at) {
  const char* end = strchr(at, '\n');
  return end != NULL ? end + 1 : at + strlen(at);
}

/* A line of STL: its keyword, and the number of corners of the triangle before and after it. */
static const struct {
  const char* words;
  int needs, leaves; /* -1: outside of triangles */
} stl_lines[] = {{"solid", -1, -1}, {"facet normal", -1, 0}, {"outer loop", 0, 0},
                 {"vertex", 0, 1},  {"vertex", 1, 2},        {"vertex", 2, 3},
                 {"endloop", 3, 4}, {"endfacet", 4, -1},     {"endsolid", -1, -1}};
enum { STL_LINES = sizeof stl_lines / sizeof stl_lines[0] };

static bool begins_with(const char* at, const char* words) {
  const size_t n = strlen(words);
  return strncmp(at, words, n) == 0 && (at[n] == '\0' || isspace((unsigned char)at[n]));
}

/* The matching kind of line; -1: none. */
static int stl_line(const char* at, int corners) {
  for (int k = 0; k < STL_LINES; k++) {
    if (stl_lines[k].needs == corners && begins_with(at, stl_lines[k].words)) {
      return k;
    }
  }
  return -1;
}

static saltus_status read_text_stl(const source* s, saltusi_mesh_file* out) {
  size_t most = 0;
  for (const char* at = s->text; *at != '\0'; at = next_line(at)) {
    most++;
  }
  double* corner = saltusi_pool_take(s->pool, 3 * most, sizeof *corner);
  if (corner == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  int count = 0, corners = -1;
  bool ended = false;
  for (const char* line = s->text; *line != '\0'; line = next_line(line)) {
    const char* at = skip_blanks(line);
    if (*at == '\n' || *at == '\0') {
      continue;
    }
    const int k = stl_line(at, corners);
    if (k < 0) {
      return refuse_at(s, line, "not a line of STL, or not in its place");
    }
    if (corners >= 0 && corners < 3 && stl_lines[k].leaves == corners + 1 &&
        three(at + strlen("vertex"), corner + 3 * (size_t)count++) == NULL) {
      return refuse_at(s, line, "a vertex that is not three numbers");
    }
    corners = stl_lines[k].leaves;
    ended = begins_with(at, "endsolid");
  }
  if (count == 0 || !ended) {
    return refuse(s, count == 0 ? "has no triangles" : "ends before endsolid");
  }
  return weld(s, corner, count, out);
}

static saltus_status read_stl(const source* s, saltusi_mesh_file* out) {
  enum { HEADER = 84, EACH = 50, MOST = 1 << 22 };
  if (s->size >= HEADER) {
    const uint32_t triangles = word_at((const unsigned char*)s->text + 80);
    if (s->size == HEADER + (size_t)EACH * triangles) {
      return triangles == 0 || triangles > MOST ? refuse(s, "has no triangles, or above 4 million")
                                                : read_binary(s, triangles, out);
    }
  }
  if (!begins_with(s->text, "solid") || strlen(s->text) != s->size) {
    return refuse(s, "is neither a binary STL file of its length nor one of text");
  }
  return read_text_stl(s, out);
}

/* ---- OBJ ---- */

/* The corners of a face: indices of points from 0 on, -1 for one that does not exist. Returns
 * their number, 0: a corner is not a number. */
static int face_corners(const char* at, int points, int* corner, int most) {
  int count = 0;
  for (at = skip_blanks(at); *at != '\n' && *at != '\0' && *at != '#'; at = skip_blanks(at)) {
    char* end;
    const long place = strtol(at, &end, 10);
    if (end == at || !(*end == '/' || *end == '\0' || isspace((unsigned char)*end))) {
      return 0;
    }
    const long from_zero = place > 0 ? place - 1 : points + place;
    const bool there = place != 0 && from_zero >= 0 && from_zero < points;
    if (count < most) {
      corner[count] = there ? (int)from_zero : -1;
    }
    count++;
    at = end;
    while (*at != '\0' && !isspace((unsigned char)*at)) { /* texture and normal */
      at++;
    }
  }
  return count;
}

/* Contents of an OBJ file; without arrays items are only counted. */
typedef struct obj {
  double* point;
  int* triangle;
  int points, triangles;
} obj;

/* A face, triangulated as a fan. */
static saltus_status take_face(const source* s, const char* line, obj* o) {
  enum { CORNERS = 256 };
  int corner[CORNERS];
  const bool counts = o->triangle == NULL;
  const int n = face_corners(line + 1, counts ? INT32_MAX : o->points, corner, CORNERS);
  if (n < 3 || n > CORNERS) {
    return refuse_at(s, line, "a face that is not the numbers of 3 to 256 points");
  }
  for (int k = 1; !counts && k + 1 < n; k++) {
    const int of[3] = {corner[0], corner[k], corner[k + 1]};
    if (of[0] < 0 || of[1] < 0 || of[2] < 0) {
      return refuse_at(s, line, "a face with a point that does not exist before it");
    }
    memcpy(o->triangle + 3 * (size_t)(o->triangles + k - 1), of, sizeof of);
  }
  o->triangles += n - 2;
  return SALTUS_OK;
}

static saltus_status take_lines(const source* s, obj* o) {
  saltus_status status = SALTUS_OK;
  for (const char* at = s->text; status == SALTUS_OK && *at != '\0'; at = next_line(at)) {
    if (at[0] == 'v' && isspace((unsigned char)at[1])) {
      if (o->point != NULL && three(at + 2, o->point + 3 * (size_t)o->points) == NULL) {
        return refuse_at(s, at, "a point that is not three numbers");
      }
      o->points++;
    } else if (at[0] == 'f' && isspace((unsigned char)at[1])) {
      status = take_face(s, at, o);
    }
  }
  return status;
}

static saltus_status read_obj(const source* s, saltusi_mesh_file* out) {
  if (strlen(s->text) != s->size) {
    return refuse(s, "is no text: it has zero bytes");
  }
  obj count = {NULL, NULL, 0, 0};
  saltus_status status = take_lines(s, &count);
  if (status == SALTUS_OK && (count.points == 0 || count.triangles == 0)) {
    return refuse(s, "has no points or no faces");
  }
  if (status != SALTUS_OK) {
    return status;
  }
  out->point = saltusi_pool_take(s->pool, 3 * (size_t)count.points, sizeof(double));
  out->triangle = saltusi_pool_take(s->pool, 3 * (size_t)count.triangles, sizeof(int));
  out->points = count.points;
  out->triangles = count.triangles;
  obj o = {out->point, out->triangle, 0, 0};
  return s->pool->failed ? SALTUS_ERR_MEMORY : take_lines(s, &o);
}

/* ---- the whole ---- */

static bool ends_with(const char* path, const char* end) {
  const size_t n = strlen(path), k = strlen(end);
  bool same = n >= k;
  for (size_t i = 0; same && i < k; i++) {
    same = tolower((unsigned char)path[n - k + i]) == end[i];
  }
  return same;
}

saltus_status saltusi_mesh_read(const char* path, const char* beside, saltusi_pool* pool,
                                saltus_log log, saltusi_mesh_file* out) {
  assert(path != NULL && pool != NULL && out != NULL);
  *out = (saltusi_mesh_file){0};
  source s = {.path = path, .pool = pool, .log = log};
  const char* slash = beside != NULL ? strrchr(beside, '/') : NULL;
  if (slash != NULL && path[0] != '/') {
    const size_t folder = (size_t)(slash - beside) + 1, bytes = folder + strlen(path) + 1;
    char* joined = saltusi_pool_take(pool, bytes, 1);
    if (joined == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    memcpy(joined, beside, folder);
    memcpy(joined + folder, path, strlen(path) + 1);
    s.path = joined;
  }
  if (!ends_with(path, ".stl") && !ends_with(path, ".obj") && !ends_with(path, ".dae")) {
    return refuse(&s, "its name ends with none of .stl, .obj and .dae");
  }
  saltus_status status = load(&s);
  if (status != SALTUS_OK) {
    return status;
  }
  if (ends_with(path, ".dae")) {
    return saltusi_collada_read(s.text, s.size, s.path, pool, log, out);
  }
  return ends_with(path, ".stl") ? read_stl(&s, out) : read_obj(&s, out);
}
