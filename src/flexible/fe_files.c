/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fe_files.c - matrices of CalculiX (.sti, .mas, .dof) and Matrix Market; nodes, node sets and solid elements of CalculiX
 * and gmsh.
 */
#include "base/log.h"
#include "base/number.h"
#include "base/regular.h"
#include "flexible/flexible.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE = 4096, MOST_ROWS = 3000000, MOST_NUMBER = 1000000000 };

typedef struct fe_source {
  FILE* file;
  const char* path;
  int line;
  char text[LINE];
  saltusi_pool* pool;
  saltus_log log;
} fe_source;

static saltus_status fault(const fe_source* s, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

static saltus_status fault(const fe_source* s, const char* format, ...) {
  char text[300];
  va_list list;
  va_start(list, format);
  saltusi_print_list(text, sizeof text, format, list);
  va_end(list);
  saltusi_log(s->log, SALTUS_LEVEL_ERROR, "%s:%d: %s", s->path, s->line, text);
  return SALTUS_ERR_INPUT;
}

static saltus_status open_source(fe_source* s) {
  s->file = saltusi_regular_stream(s->path);
  if (s->file == NULL) {
    saltusi_log(s->log, SALTUS_LEVEL_ERROR, "%s: %s", s->path, saltusi_regular_reason(errno));
    return SALTUS_ERR_IO;
  }
  return SALTUS_OK;
}

static bool next_line(fe_source* s) {
  if (fgets(s->text, LINE, s->file) == NULL) {
    return false;
  }
  s->line++;
  s->text[strcspn(s->text, "\r\n")] = '\0';
  return true;
}

/* Up to `most` numbers separated by blanks or commas; -1: something else. */
static int numbers(const char* text, int most, double* out) {
  int count = 0;
  for (const char* at = text + strspn(text, " \t,"); *at != '\0'; at += strspn(at, " \t,")) {
    char* end;
    if (count == most) {
      return -1;
    }
    out[count] = saltusi_number_read(at, &end);
    if (end == at || !isfinite(out[count])) {
      return -1;
    }
    count++;
    at = end;
  }
  return count;
}

static bool is_index(double x, int most) {
  return x >= 1.0 && x <= most && x == floor(x);
}

/* ---- matrices ---- */

typedef struct growing {
  size_t capacity[3];
  void* list[3];
  int count;
} growing;

static bool push(growing* g, int row, int column, double value) {
  static const size_t sizes[3] = {sizeof(int), sizeof(int), sizeof(double)};
  for (int k = 0; k < 3; k++) {
    if ((size_t)g->count == g->capacity[k]) {
      const size_t more = g->capacity[k] > 0 ? 2 * g->capacity[k] : 1024;
      void* grown = realloc(g->list[k], more * sizes[k]);
      if (grown == NULL) {
        return false;
      }
      g->list[k] = grown;
      g->capacity[k] = more;
    }
  }
  ((int*)g->list[0])[g->count] = row;
  ((int*)g->list[1])[g->count] = column;
  ((double*)g->list[2])[g->count++] = value;
  return true;
}

static saltus_status keep(fe_source* s, growing* g, saltusi_entries* out) {
  int* row = SALTUSI_TAKE(s->pool, int, g->count);
  int* column = SALTUSI_TAKE(s->pool, int, g->count);
  double* value = SALTUSI_TAKE(s->pool, double, g->count);
  if (row == NULL || column == NULL || value == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memcpy(row, g->list[0], (size_t)g->count * sizeof *row);
  memcpy(column, g->list[1], (size_t)g->count * sizeof *column);
  memcpy(value, g->list[2], (size_t)g->count * sizeof *value);
  *out = (saltusi_entries){out->rows, g->count, row, column, value};
  return SALTUS_OK;
}

/* Header of Matrix Market: 1 read, 0 none, -1 after a message. */
static int market_header(fe_source* s, int* rows, double* entries) {
  if (strncmp(s->text, "%%MatrixMarket", 14) != 0) {
    return 0;
  }
  if (strcmp(s->text, "%%MatrixMarket matrix coordinate real symmetric") != 0) {
    fault(s, "header is \"%.80s\", must be \"matrix coordinate real symmetric\"", s->text);
    return -1;
  }
  double size[3];
  while (next_line(s) && (s->text[0] == '%' || s->text[0] == '\0')) {
  }
  if (numbers(s->text, 3, size) != 3 || !is_index(size[0], MOST_ROWS) || size[0] != size[1]) {
    fault(s, "sizes are \"%.60s\", must be equal rows and columns, and entries", s->text);
    return -1;
  }
  *rows = (int)size[0];
  *entries = size[2];
  return 1;
}

/* Every entry once, of the upper (CalculiX) or lower triangle (Matrix Market). */
static saltus_status read_entries(fe_source* s, growing* g, saltusi_entries* out) {
  double x[3], expected = -1.0;
  int declared = MOST_ROWS, read = 0, last_row = 0, last_column = 0;
  if (!next_line(s)) {
    return fault(s, "the file is empty");
  }
  if (s->text[0] == '*') {
    return fault(s, "\"%.40s\" is a substructure of Abaqus, not a matrix: use MATRIXSTORAGE",
                 s->text);
  }
  const int market = market_header(s, &declared, &expected);
  if (market < 0) {
    return SALTUS_ERR_INPUT;
  }
  for (bool more = market == 0 || next_line(s); more; more = next_line(s)) {
    if (s->text[strspn(s->text, " \t")] == '\0') {
      continue;
    }
    if (numbers(s->text, 3, x) != 3 || !is_index(x[0], declared) || !is_index(x[1], declared)) {
      return fault(s, "\"%.60s\" is not row, column and value with indices from 1 to %d", s->text,
                   declared);
    }
    const int row = (int)x[0], column = (int)x[1];
    if (market == 0 ? row > column : row < column) {
      return fault(s, "entry (%d, %d) is outside of the %s triangle", row, column,
                   market == 0 ? "upper" : "lower");
    }
    if (market == 0 && (column < last_column || (column == last_column && row <= last_row))) {
      return fault(s, "entry (%d, %d) is out of order or twice: rows ascend within columns", row,
                   column);
    }
    last_row = row;
    last_column = column;
    out->rows = row > out->rows ? row : out->rows;
    out->rows = column > out->rows ? column : out->rows;
    read++;
    if (!push(g, row - 1, column - 1, x[2]) ||
        (row != column && !push(g, column - 1, row - 1, x[2]))) {
      return SALTUS_ERR_MEMORY;
    }
  }
  if (market == 1 && read != expected) {
    return fault(s, "has %d entries, the header announces %g", read, expected);
  }
  out->rows = market == 1 ? declared : out->rows;
  return keep(s, g, out);
}

saltus_status saltusi_read_matrix(const char* path, saltusi_pool* pool, saltus_log log,
                                  saltusi_entries* out) {
  assert(path != NULL && pool != NULL && out != NULL);
  fe_source s = {.path = path, .pool = pool, .log = log};
  growing g = {.count = 0};
  *out = (saltusi_entries){.rows = 0};
  saltus_status status = open_source(&s);
  if (status == SALTUS_OK) {
    status = read_entries(&s, &g, out);
    fclose(s.file);
  }
  for (int k = 0; k < 3; k++) {
    free(g.list[k]);
  }
  return status;
}

saltus_status saltusi_read_dof(const char* path, saltusi_pool* pool, saltus_log log,
                               saltusi_fe_dof* out) {
  assert(path != NULL && pool != NULL && out != NULL);
  fe_source s = {.path = path, .pool = pool, .log = log};
  growing g = {.count = 0};
  saltus_status status = open_source(&s);
  while (status == SALTUS_OK && next_line(&s)) {
    char* end;
    const long node = strtol(s.text, &end, 10);
    const long direction = *end == '.' ? strtol(end + 1, &end, 10) : 0;
    if (s.text[strspn(s.text, " \t")] == '\0') {
      continue;
    }
    if (node < 1 || node > MOST_NUMBER || direction < 1 || direction > 3 || *end != '\0') {
      status = fault(&s, "\"%.40s\" is not node.direction with directions 1 to 3", s.text);
    } else if (!push(&g, (int)node, (int)direction - 1, 0.0)) {
      status = SALTUS_ERR_MEMORY;
    }
  }
  saltusi_entries kept = {.rows = 0};
  status = status == SALTUS_OK ? keep(&s, &g, &kept) : status;
  *out = (saltusi_fe_dof){kept.count, kept.row, kept.column};
  if (s.file != NULL) {
    fclose(s.file);
  }
  for (int k = 0; k < 3; k++) {
    free(g.list[k]);
  }
  return status;
}

/* ---- meshes ---- */

int saltusi_mesh_node(const saltusi_fe_mesh* mesh, int number) {
  assert(mesh != NULL && mesh->count >= 0);
  int low = 0, high = mesh->count - 1;
  while (low <= high) {
    const int middle = low + (high - low) / 2;
    if (mesh->number[middle] == number) {
      return middle;
    }
    *(mesh->number[middle] < number ? &low : &high) =
        mesh->number[middle] < number ? middle + 1 : middle - 1;
  }
  return -1;
}

enum { ELEMENT_NODES = 28 };

typedef struct mesh_reader {
  fe_source s;
  double scale;
  growing nodes; /* number, and x in three steps of `x` */
  growing x;
  growing members; /* set, node */
  saltusi_fe_faces faces;
  int element[ELEMENT_NODES];     /* number and nodes of an element over several lines */
  int given, nodes_each, corners; /* of them; 0: elements are skipped */
  char sets[64][64];
  int set_count;
} mesh_reader;

static int set_named(mesh_reader* r, const char* name) {
  for (int i = 0; i < r->set_count; i++) {
    if (strcasecmp(r->sets[i], name) == 0) {
      return i;
    }
  }
  if (r->set_count == 64) {
    return -1;
  }
  snprintf(r->sets[r->set_count], sizeof r->sets[0], "%.63s", name);
  return r->set_count++;
}

static saltus_status add_node(mesh_reader* r, const double x[4]) {
  bool kept = is_index(x[0], MOST_NUMBER) && push(&r->nodes, (int)x[0], r->nodes.count, 0.0);
  for (int k = 1; k < 4; k++) {
    kept = kept && isfinite(x[k] * r->scale) && push(&r->x, 0, 0, x[k] * r->scale);
  }
  return kept ? SALTUS_OK
              : fault(&r->s, "\"%.60s\" is not a node with three coordinates", r->s.text);
}

/* A section of a mesh file: kind of its lines, and the set of its nodes (-1: none). */
typedef enum mesh_lines {
  LINES_SKIPPED,
  LINES_NODES,
  LINES_SET,
  LINES_RANGE,
  LINES_ELEMENTS
} mesh_lines;

/* Solid elements: name of CalculiX, type of gmsh, nodes, corners. Names are compared up to their length, longer ones first. */
static const struct {
  const char* name;
  int gmsh, nodes, corners;
} solids[] = {{"C3D20", 17, 20, 8}, {"C3D15", 18, 15, 6}, {"C3D10", 11, 10, 4}, {"C3D8", 5, 8, 8},
              {"C3D6", 6, 6, 6},    {"C3D4", 4, 4, 4},    {"C3D27", 12, 27, 8}};
enum { SOLIDS = sizeof solids / sizeof solids[0] };

/* Nodes of elements, which continue over lines. */
static saltus_status add_element(mesh_reader* r, const double* x, int count) {
  for (int k = 0; k < count || count < 0; k++) {
    if (count < 0 || !is_index(x[k], MOST_NUMBER)) {
      return fault(&r->s, "\"%.60s\" is not an element", r->s.text);
    }
    r->element[r->given++] = (int)x[k];
    if (r->given == 1 + r->nodes_each) {
      r->given = 0;
      if (!saltusi_fe_faces_add(&r->faces, r->element + 1, r->corners)) {
        return SALTUS_ERR_MEMORY;
      }
    }
  }
  return SALTUS_OK;
}

/* *ELEMENT, TYPE=C3D20R, ELSET=E */
static void begin_elements(mesh_reader* r, mesh_lines* what) {
  const char* type = strstr(r->s.text, "C3D");
  r->given = r->nodes_each = 0;
  for (int i = 0; type != NULL && i < SOLIDS && r->nodes_each == 0; i++) {
    if (strncmp(type, solids[i].name, strlen(solids[i].name)) == 0) {
      r->nodes_each = solids[i].nodes;
      r->corners = solids[i].corners;
      *what = LINES_ELEMENTS;
    }
  }
}

static saltus_status add_member(mesh_reader* r, int set, double node) {
  if (!is_index(node, MOST_NUMBER)) {
    return fault(&r->s, "%g is not the number of a node", node);
  }
  return push(&r->members, set, (int)node, 0.0) ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

/* A line that begins with *. */
static saltus_status read_keyword(mesh_reader* r, mesh_lines* what, int* set) {
  const char* text = r->s.text;
  const bool nodes = strncasecmp(text, "*NODE", 5) == 0 && (text[5] == '\0' || text[5] == ',');
  const bool nset = strncasecmp(text, "*NSET", 5) == 0;
  const char* name = strchr(text, '=');
  *what = nodes ? LINES_NODES : nset && name != NULL ? LINES_SET : LINES_SKIPPED;
  *set = -1;
  if (strncasecmp(text, "*ELEMENT", 8) == 0 && (text[8] == ',' || text[8] == ' ')) {
    begin_elements(r, what);
  }
  if (name == NULL || !(nodes || nset)) {
    return SALTUS_OK;
  }
  char word[64];
  snprintf(word, sizeof word, "%.63s", name + 1 + strspn(name + 1, " "));
  word[strcspn(word, ", \t")] = '\0';
  *set = set_named(r, word);
  *what = nset && strstr(text, "GENERATE") != NULL ? LINES_RANGE : *what;
  return *set >= 0 ? SALTUS_OK : fault(&r->s, "more than 64 node sets");
}

/* A line of numbers. */
static saltus_status read_members(mesh_reader* r, mesh_lines what, int set) {
  double x[16];
  const int count = numbers(r->s.text, 16, x);
  if (what == LINES_ELEMENTS) {
    return add_element(r, x, count);
  }
  if (what == LINES_NODES) {
    const saltus_status status =
        count == 4 ? add_node(r, x) : fault(&r->s, "\"%.60s\" is not a node", r->s.text);
    return status == SALTUS_OK && set >= 0 ? add_member(r, set, x[0]) : status;
  }
  if (count < 1 || (what == LINES_RANGE && (count < 2 || count > 3))) {
    return fault(&r->s, "\"%.60s\" is not a list of nodes", r->s.text);
  }
  saltus_status status = SALTUS_OK;
  if (what == LINES_RANGE) {
    const double by = count == 3 && x[2] >= 1.0 ? x[2] : 1.0;
    if ((x[1] - x[0]) / by >= MOST_ROWS) {
      return fault(&r->s, "\"%.60s\" has more than %d nodes", r->s.text, MOST_ROWS);
    }
    for (double n = x[0]; n <= x[1] && status == SALTUS_OK; n += by) {
      status = add_member(r, set, n);
    }
    return status;
  }
  for (int k = 0; k < count && status == SALTUS_OK; k++) {
    status = add_member(r, set, x[k]);
  }
  return status;
}

/* *NODE and *NSET of CalculiX. */
static saltus_status read_inp(mesh_reader* r) {
  mesh_lines what = LINES_SKIPPED;
  int set = -1;
  saltus_status status = SALTUS_OK;
  do {
    const char* text = r->s.text;
    if (text[0] == '*') {
      status = text[1] == '*' ? SALTUS_OK : read_keyword(r, &what, &set);
    } else if (what != LINES_SKIPPED && text[strspn(text, " \t")] != '\0') {
      status = read_members(r, what, set);
    }
  } while (status == SALTUS_OK && next_line(&r->s));
  return status;
}

/* A line of $PhysicalNames: dimension, number, "name". */
static saltus_status read_group(mesh_reader* r, char names[64][64]) {
  const char *text = r->s.text, *quote = strchr(text, '"');
  int dimension = 0, id = 0;
  if (quote == NULL) {
    return SALTUS_OK;
  }
  if (sscanf(text, "%d %d", &dimension, &id) != 2 || id < 1 || id >= 64) {
    return fault(&r->s, "physical group \"%.40s\": numbers are 1 to 63", text);
  }
  snprintf(names[id], sizeof names[id], "%.63s", quote + 1);
  names[id][strcspn(names[id], "\"")] = '\0';
  return SALTUS_OK;
}

/* A line of $Elements: number, type, count of tags, tags, nodes. */
static saltus_status read_element(mesh_reader* r, char names[64][64]) {
  double x[64];
  const int count = numbers(r->s.text, 64, x);
  const int tags = count > 3 && is_index(x[2], 64) ? (int)x[2] : -1;
  if (tags < 1 || 3 + tags >= count) {
    return fault(&r->s, "\"%.60s\" is not an element", r->s.text);
  }
  const int group = x[3] >= 1.0 && x[3] < 64.0 ? (int)x[3] : 0;
  const int set = names[group][0] != '\0' ? set_named(r, names[group]) : -1;
  saltus_status status = SALTUS_OK;
  for (int k = 3 + tags; set >= 0 && k < count && status == SALTUS_OK; k++) {
    status = add_member(r, set, x[k]);
  }
  for (int i = 0; i < SOLIDS && status == SALTUS_OK; i++) {
    if (x[1] == solids[i].gmsh && count - 3 - tags == solids[i].nodes) {
      r->nodes_each = solids[i].nodes;
      r->corners = solids[i].corners;
      r->given = 1; /* without its number */
      status = add_element(r, x + 3 + tags, solids[i].nodes);
    }
  }
  return status;
}

/* $PhysicalNames, $Nodes and $Elements of gmsh 2.2: sets are the nodes of physical groups. */
static saltus_status read_msh(mesh_reader* r) {
  char names[64][64] = {{0}};
  double x[4];
  if (!next_line(&r->s) || strncmp(r->s.text, "2.2 0", 5) != 0) {
    return fault(&r->s, "format is \"%.20s\", must be 2.2 in text (Mesh.MshFileVersion = 2.2)",
                 r->s.text);
  }
  enum { NONE, NAMES, NODES, ELEMENTS } what = NONE;
  saltus_status status = SALTUS_OK;
  while (status == SALTUS_OK && next_line(&r->s)) {
    const char* text = r->s.text;
    if (text[0] == '$') {
      what = strcmp(text, "$PhysicalNames") == 0 ? NAMES
             : strcmp(text, "$Nodes") == 0       ? NODES
             : strcmp(text, "$Elements") == 0    ? ELEMENTS
                                                 : NONE;
      status = what != NONE && !next_line(&r->s) ? fault(&r->s, "the file ends") : SALTUS_OK;
    } else if (what == NAMES) {
      status = read_group(r, names);
    } else if (what == NODES) {
      status =
          numbers(text, 4, x) == 4 ? add_node(r, x) : fault(&r->s, "\"%.60s\" is not a node", text);
    } else if (what == ELEMENTS) {
      status = read_element(r, names);
    }
  }
  return status;
}

static int by_number(const void* a, const void* b) {
  const int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

/* Nodes by number, sets with every member once. */
static saltus_status build_mesh(mesh_reader* r, saltusi_fe_mesh* out) {
  saltusi_pool* pool = r->s.pool;
  const int n = r->nodes.count;
  int(*order)[2] = (int(*)[2])saltusi_pool_take(pool, (size_t)n, sizeof *order);
  *out = (saltusi_fe_mesh){.count = n,
                           .number = SALTUSI_TAKE(pool, int, n),
                           .x = SALTUSI_TAKE(pool, double, 3 * n),
                           .sets = SALTUSI_TAKE(pool, saltusi_mesh_set, r->set_count),
                           .set_count = r->set_count};
  int* member = SALTUSI_TAKE(pool, int, r->members.count);
  if (order == NULL || out->number == NULL || out->x == NULL || out->sets == NULL ||
      member == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < n; i++) {
    order[i][0] = ((int*)r->nodes.list[0])[i];
    order[i][1] = i;
  }
  qsort(order, (size_t)n, sizeof *order, by_number);
  for (int i = 0; i < n; i++) {
    out->number[i] = order[i][0];
    if (i > 0 && order[i][0] == order[i - 1][0]) {
      return fault(&r->s, "node %d is there twice", order[i][0]);
    }
    memcpy(out->x + 3 * (ptrdiff_t)i, (double*)r->x.list[2] + 3 * (ptrdiff_t)order[i][1],
           3 * sizeof(double));
  }
  for (int k = 0; k < r->set_count; k++) {
    saltusi_mesh_set* set = &out->sets[k];
    set->name = saltusi_pool_text(pool, r->sets[k]);
    set->node = member;
    int count = 0;
    for (int i = 0; i < r->members.count; i++) {
      if (((int*)r->members.list[0])[i] == k) {
        member[count++] = ((int*)r->members.list[1])[i];
      }
    }
    qsort(member, (size_t)count, sizeof *member, by_number);
    for (int i = 0; i < count; i++) {
      if (i == 0 || member[i] != set->node[set->count - 1]) {
        set->node[set->count++] = member[i];
      }
    }
    member += count;
  }
  return SALTUS_OK;
}

/* Two triangles of a face with four corners. */
static saltus_status build_surface(mesh_reader* r, saltusi_fe_mesh* out) {
  saltusi_fe_faces_outer(&r->faces);
  out->triangle = (int(*)[3])saltusi_pool_take(r->s.pool, 2 * (size_t)r->faces.count + 1,
                                               sizeof *out->triangle);
  if (out->triangle == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < r->faces.count; i++) {
    const int* c = r->faces.list[i].corner;
    for (int half = 0; half < (c[3] > 0 ? 2 : 1); half++) {
      const int corner[3] = {c[0], c[1 + half], c[2 + half]};
      memcpy(out->triangle[out->triangles++], corner, sizeof corner);
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_read_mesh(const char* path, double scale, saltusi_pool* pool, saltus_log log,
                                saltusi_fe_mesh* out) {
  assert(path != NULL && pool != NULL && out != NULL);
  mesh_reader* r = SALTUSI_TAKE(pool, mesh_reader, 1);
  if (r == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  r->s = (fe_source){.path = path, .pool = pool, .log = log};
  r->scale = scale;
  saltus_status status = open_source(&r->s);
  if (status == SALTUS_OK) {
    if (!next_line(&r->s)) {
      status = fault(&r->s, "the file is empty");
    } else {
      status = strncmp(r->s.text, "$MeshFormat", 11) == 0 ? read_msh(r) : read_inp(r);
    }
    status = status == SALTUS_OK && r->nodes.count == 0 ? fault(&r->s, "has no nodes") : status;
    status = status == SALTUS_OK ? build_mesh(r, out) : status;
    status = status == SALTUS_OK ? build_surface(r, out) : status;
    fclose(r->s.file);
  }
  free(r->faces.list);
  growing* lists[3] = {&r->nodes, &r->x, &r->members};
  for (int k = 0; k < 9; k++) {
    free(lists[k / 3]->list[k % 3]);
  }
  return status;
}
