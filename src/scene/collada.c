/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * collada.c - triangles of COLLADA files (.dae): the geometries of the visual scene with the transformations of their nodes,
 * in m by the unit of the file. `up_axis` is not applied, as ROS does not. Format: https://www.khronos.org/collada
 */
#include "base/index.h"
#include "base/log.h"
#include "base/number.h"
#include "scene/mesh_file.h"
#include "urdf/xml.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes, points, triangles, and numbers that are read: files in which nodes contain each other are refused. */
static const long long most_nodes = 20000, most_items = 20000000, most_numbers = 400000000;
static const double largest = 1e30;

typedef struct collada {
  const char* path;
  saltusi_pool* pool;
  saltus_log log;
  saltus_status status;
  saltusi_index ids;
  const saltusi_xml_node** with_id;
  double metre; /* m of the unit */
  long long nodes, numbers, points, triangles;
  int depth;
  saltusi_mesh_file* out; /* without arrays items are counted */
} collada;

/* x -> R x + p, row by row */
typedef struct affine {
  double a[3][4];
} affine;

static void refuse(collada* c, const saltusi_xml_node* node, const char* what) {
  if (c->status == SALTUS_OK) {
    saltusi_log(c->log, SALTUS_LEVEL_ERROR, "mesh \"%s\":%d: <%.60s>: %s", c->path, node->line,
                node->name, what);
    c->status = SALTUS_ERR_INPUT;
  }
}

static bool is(const saltusi_xml_node* node, const char* name) {
  return strcmp(node->name, name) == 0;
}

static const saltusi_xml_node* child(const saltusi_xml_node* node, const char* name) {
  const saltusi_xml_node* n = node != NULL ? node->first : NULL;
  while (n != NULL && !is(n, name)) {
    n = n->next;
  }
  return n;
}

static const char* attribute(const saltusi_xml_node* node, const char* name) {
  for (int i = 0; i < node->attribute_count; i++) {
    if (strcmp(node->attributes[i].name, name) == 0) {
      return node->attributes[i].value;
    }
  }
  return "";
}

/* The element with the id behind # in an attribute. */
static const saltusi_xml_node* target(collada* c, const saltusi_xml_node* node, const char* name) {
  const char* url = attribute(node, name);
  const int found = url[0] == '#' ? saltusi_index_find(&c->ids, url + 1) : -1;
  if (found < 0) {
    refuse(c, node, "its target is not in this file");
  }
  return found < 0 ? NULL : c->with_id[found];
}

static void collect_ids(collada* c, const saltusi_xml_node* node) {
  const char* id = attribute(node, "id");
  if (id[0] != '\0' && saltusi_index_find(&c->ids, id) < 0) {
    c->with_id[c->ids.count] = node;
    saltusi_index_add(&c->ids, id);
  }
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    collect_ids(c, n);
  }
}

static int count_all(const saltusi_xml_node* node) {
  int count = 1;
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    count += count_all(n);
  }
  return count;
}

/* ---- numbers ---- */

/* Numbers in the text of an element, one after another; false at its end. */
typedef struct numbers {
  const saltusi_xml_node* node;
  const char* at;
} numbers;

static bool next_number(collada* c, numbers* n, double* out) {
  const char* end = n->node->content + n->node->content_length;
  while (n->at < end && strchr(" \t\r\n", *n->at) != NULL) {
    n->at++;
  }
  if (n->at >= end || c->status != SALTUS_OK) {
    return false;
  }
  char* stop = NULL;
  if (++c->numbers > most_numbers) {
    refuse(c, n->node, "more than 400000000 numbers");
    return false;
  }
  *out = saltusi_number_read(n->at, &stop);
  if (stop == n->at || stop > end || !(fabs(*out) <= largest)) {
    refuse(c, n->node, "its text has to be finite numbers up to 1e30");
    return false;
  }
  n->at = stop;
  return true;
}

static numbers numbers_of(const saltusi_xml_node* node) {
  return (numbers){node, node->content};
}

/* Exactly count numbers. */
static void read_numbers(collada* c, const saltusi_xml_node* node, int count, double* out) {
  numbers n = numbers_of(node);
  double more;
  for (int i = 0; i < count; i++) {
    if (!next_number(c, &n, &out[i])) {
      refuse(c, node, "has too few numbers");
      return;
    }
  }
  if (next_number(c, &n, &more)) {
    refuse(c, node, "has too many numbers");
  }
}

/* A whole number of an attribute from 0 to 1e9. */
static int whole(collada* c, const saltusi_xml_node* node, const char* name, int otherwise) {
  const char* text = attribute(node, name);
  char* end = NULL;
  const long value = strtol(text, &end, 10);
  if (text[0] == '\0') {
    return otherwise;
  }
  if (*end != '\0' || value < 0 || value > 1000000000) {
    refuse(c, node, "count, stride and offset have to be whole numbers from 0 on");
    return otherwise;
  }
  return (int)value;
}

/* ---- geometries ---- */

/* Appends the points of a source; returns their number. */
static int add_points(collada* c, const saltusi_xml_node* source, const affine* to) {
  const saltusi_xml_node* accessor = child(child(source, "technique_common"), "accessor");
  const saltusi_xml_node* array = accessor != NULL ? target(c, accessor, "source") : NULL;
  if (array == NULL) {
    refuse(c, source, "has no accessor");
    return 0;
  }
  const int count = whole(c, accessor, "count", 0), stride = whole(c, accessor, "stride", 1);
  const int offset = whole(c, accessor, "offset", 0);
  if (stride < 3 || count == 0 || c->points + count > most_items) {
    refuse(c, accessor, "points have three coordinates, and 1 to 20000000 are read");
    return 0;
  }
  numbers n = numbers_of(array);
  double skipped, x[3];
  for (int i = 0; i < offset && next_number(c, &n, &skipped); i++) {
  }
  for (int i = 0; i < count && c->status == SALTUS_OK; i++) {
    bool all = true;
    for (int k = 0; k < stride && all && (k < 3 || i + 1 < count); k++) {
      all = next_number(c, &n, k < 3 ? &x[k] : &skipped);
    }
    if (!all) {
      refuse(c, array, "has fewer numbers than its accessor");
    }
    for (int k = 0; k < 3 && all && c->out->point != NULL; k++) {
      const double* row = to->a[k];
      c->out->point[3 * (c->points + i) + k] =
          c->metre * (row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3]);
    }
  }
  c->points += count;
  return count;
}

/* Corners of a primitive, one after another. */
typedef struct corners {
  numbers index;
  int stride, offset; /* indices of a corner, and place of that of the point */
  int first, count;   /* points of the source */
} corners;

static int next_corner(collada* c, corners* k) {
  int corner = -1;
  for (int i = 0; i < k->stride; i++) {
    double value;
    if (!next_number(c, &k->index, &value)) {
      return -1;
    }
    if (i == k->offset) {
      corner = value >= 0.0 && value < k->count && value == floor(value) ? (int)value : -1;
    }
  }
  if (corner < 0) {
    refuse(c, k->index.node, "an index of no point");
  }
  return corner;
}

static void add_triangle(collada* c, const corners* k, const int corner[3], bool mirrored) {
  if (c->triangles >= most_items) {
    refuse(c, k->index.node, "more than 20000000 triangles");
  } else if (c->out->triangle != NULL && c->status == SALTUS_OK) {
    int* to = c->out->triangle + 3 * c->triangles;
    to[0] = k->first + corner[mirrored ? 1 : 0];
    to[1] = k->first + corner[mirrored ? 0 : 1];
    to[2] = k->first + corner[2];
  }
  c->triangles++;
}

/* `sides` corners as a fan; 0: all corners that follow. */
static void add_polygon(collada* c, corners* k, int sides, bool mirrored) {
  int corner[3] = {-1, -1, -1};
  for (int i = 0; (i < sides || sides == 0) && c->status == SALTUS_OK; i++) {
    const int next = next_corner(c, k);
    if (next < 0 && sides > 0) {
      refuse(c, k->index.node, "has too few indices");
    }
    if (next < 0) {
      return;
    }
    corner[i < 2 ? i : 2] = next;
    if (i >= 2) {
      add_triangle(c, k, corner, mirrored);
      corner[1] = next;
    }
  }
}

static void add_primitive(collada* c, const saltusi_xml_node* node, corners* k, bool mirrored) {
  const saltusi_xml_node* vcount = child(node, "vcount");
  for (const saltusi_xml_node* p = node->first; p != NULL; p = p->next) {
    if (is(p, "ph")) {
      refuse(c, p, "polygons with holes are not read");
    } else if (is(p, "p")) {
      k->index = numbers_of(p);
      double sides = 3.0;
      numbers each = vcount != NULL ? numbers_of(vcount) : k->index;
      const bool list = is(node, "triangles") || is(node, "polylist");
      for (int i = 0, count = whole(c, node, "count", 0); list && i < count; i++) {
        if ((vcount != NULL && !next_number(c, &each, &sides)) || c->status != SALTUS_OK ||
            !(sides >= 1.0 && sides <= 1e6)) {
          refuse(c, node, "its polygons need 1 to 1000000 corners");
          return;
        }
        add_polygon(c, k, (int)sides, mirrored);
      }
      if (!list) {
        add_polygon(c, k, 0, mirrored);
      }
    }
  }
}

/* The source of the points of a primitive, and places of their indices; NULL: it has none. */
static const saltusi_xml_node* read_inputs(collada* c, const saltusi_xml_node* node, corners* k) {
  const saltusi_xml_node* source = NULL;
  k->stride = 0;
  for (const saltusi_xml_node* in = node->first; in != NULL; in = in->next) {
    const int offset = is(in, "input") ? whole(c, in, "offset", 0) : 0;
    k->stride = is(in, "input") && offset >= k->stride && offset < 100 ? offset + 1 : k->stride;
    if (is(in, "input") && strcmp(attribute(in, "semantic"), "VERTEX") == 0) {
      const saltusi_xml_node* vertices = target(c, in, "source");
      k->offset = offset;
      for (const saltusi_xml_node* v = vertices != NULL ? vertices->first : NULL; v != NULL;
           v = v->next) {
        source =
            strcmp(attribute(v, "semantic"), "POSITION") == 0 ? target(c, v, "source") : source;
      }
    }
  }
  return source;
}

static void add_mesh(collada* c, const saltusi_xml_node* mesh, const affine* to) {
  const double(*a)[4] = to->a;
  const bool mirrored = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                            a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                            a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]) <
                        0.0;
  const saltusi_xml_node* known = NULL;
  corners k = {.first = 0};
  for (const saltusi_xml_node* n = mesh->first; n != NULL && c->status == SALTUS_OK; n = n->next) {
    if (is(n, "tristrips")) {
      refuse(c, n, "not read; triangles, polylist, polygons and trifans are");
    }
    const bool surface =
        is(n, "triangles") || is(n, "polylist") || is(n, "polygons") || is(n, "trifans");
    const saltusi_xml_node* source = surface ? read_inputs(c, n, &k) : NULL;
    if (source != NULL && c->status == SALTUS_OK) {
      if (source != known) {
        k.first = (int)c->points;
        k.count = add_points(c, source, to);
        known = source;
      }
      add_primitive(c, n, &k, mirrored);
    }
  }
}

/* ---- nodes ---- */

static affine product(const affine* x, const affine* y) {
  affine z;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 4; j++) {
      z.a[i][j] = j == 3 ? x->a[i][3] : 0.0;
      for (int k = 0; k < 3; k++) {
        z.a[i][j] += x->a[i][k] * y->a[k][j];
      }
    }
  }
  return z;
}

static const affine identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

/* One transformation of a node, behind those before. */
static void transform(collada* c, const saltusi_xml_node* n, affine* at) {
  affine own = identity;
  double x[16] = {0.0};
  if (is(n, "matrix")) {
    read_numbers(c, n, 16, x);
    memcpy(own.a, x, sizeof own.a);
  } else if (is(n, "translate") || is(n, "scale")) {
    read_numbers(c, n, 3, x);
    for (int i = 0; i < 3; i++) {
      own.a[i][is(n, "scale") ? i : 3] = x[i];
    }
  } else if (is(n, "rotate")) { /* axis, angle in degrees */
    read_numbers(c, n, 4, x);
    const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    const double angle = x[3] * acos(-1.0) / 180.0, s = sin(angle), d = 1.0 - cos(angle);
    if (!(length > 0.0)) {
      refuse(c, n, "an axis without a direction");
      return;
    }
    const double e[3] = {x[0] / length, x[1] / length, x[2] / length};
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        const int k = 3 - i - j;
        own.a[i][j] = i == j ? 1.0 - d * (1.0 - e[i] * e[i])
                             : d * e[i] * e[j] + ((j - i + 3) % 3 == 2 ? s : -s) * e[k];
      }
    }
  } else if (is(n, "lookat") || is(n, "skew") || is(n, "instance_controller")) {
    refuse(c, n, "not read");
  }
  if (c->status == SALTUS_OK) {
    *at = product(at, &own);
  }
}

/* A node or a visual scene. */
static void add_node(collada* c, const saltusi_xml_node* node, const affine* from) {
  affine at = *from;
  if (++c->nodes > most_nodes || ++c->depth > SALTUSI_XML_DEPTH) {
    refuse(c, node, "nodes contain each other, or are too many");
    return;
  }
  for (const saltusi_xml_node* n = node->first; n != NULL && c->status == SALTUS_OK; n = n->next) {
    const bool geometry = is(n, "instance_geometry"), copy = is(n, "instance_node");
    const saltusi_xml_node* of = geometry || copy ? target(c, n, "url") : n;
    if (geometry && of != NULL && child(of, "mesh") != NULL) {
      add_mesh(c, child(of, "mesh"), &at);
    } else if (of != NULL && (copy || is(n, "node"))) {
      add_node(c, of, &at);
    } else if (!geometry) {
      transform(c, n, &at);
    }
  }
  c->depth--;
}

static void add_all(collada* c, const saltusi_xml_node* root) {
  const saltusi_xml_node* instance = child(child(root, "scene"), "instance_visual_scene");
  const saltusi_xml_node* scene = instance != NULL ? target(c, instance, "url") : NULL;
  c->points = c->triangles = c->nodes = c->numbers = 0;
  if (scene != NULL) {
    add_node(c, scene, &identity);
    return;
  }
  const saltusi_xml_node* library = child(root, "library_geometries");
  for (const saltusi_xml_node* g = library != NULL ? library->first : NULL; g != NULL;
       g = g->next) {
    if (child(g, "mesh") != NULL) {
      add_mesh(c, child(g, "mesh"), &identity);
    }
  }
}

saltus_status saltusi_collada_read(const char* text, size_t size, const char* path,
                                   saltusi_pool* pool, saltus_log log, saltusi_mesh_file* out) {
  assert(text != NULL && path != NULL && pool != NULL && out != NULL);
  saltusi_pool work = saltusi_pool_over(&pool->allocator);
  saltusi_xml_node* root = NULL;
  collada c = {.path = path, .pool = &work, .log = log, .metre = 1.0, .out = out};
  c.status = saltusi_xml_parse(text, size, path, &work, log, &root);
  if (c.status == SALTUS_OK && !is(root, "COLLADA")) {
    refuse(&c, root, "the root element of this file has to be <COLLADA>");
  }
  const int nodes = c.status == SALTUS_OK ? count_all(root) : 0;
  c.with_id = SALTUSI_TAKE(&work, const saltusi_xml_node*, nodes + 1);
  if (c.status == SALTUS_OK &&
      (c.with_id == NULL || !saltusi_index_start(&c.ids, nodes + 1, &work))) {
    c.status = SALTUS_ERR_MEMORY;
  }
  if (c.status == SALTUS_OK) {
    collect_ids(&c, root);
    const saltusi_xml_node* unit = child(child(root, "asset"), "unit");
    const char* metre = unit != NULL ? attribute(unit, "meter") : "";
    c.metre = metre[0] != '\0' ? saltusi_number_read(metre, NULL) : 1.0;
    if (!(c.metre > 0.0 && c.metre <= largest)) {
      refuse(&c, unit, "meter has to be a number above 0");
    }
    add_all(&c, root);
  }
  if (c.status == SALTUS_OK && c.triangles == 0) {
    refuse(&c, root, "has no triangles in its scene");
  }
  if (c.status == SALTUS_OK) {
    out->points = (int)c.points;
    out->triangles = (int)c.triangles;
    out->point = saltusi_pool_take(pool, 3 * (size_t)c.points, sizeof(double));
    out->triangle = saltusi_pool_take(pool, 3 * (size_t)c.triangles, sizeof(int));
    c.status = pool->failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
  }
  if (c.status == SALTUS_OK) {
    add_all(&c, root);
  }
  saltusi_pool_free(&work);
  return c.status;
}
