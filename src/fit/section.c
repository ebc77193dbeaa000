/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * section.c - the section `fit` of a scene, and the experiments of its data.
 */
#include "base/log.h"
#include "base/number.h"
#include "fit/fit.h"
#include "scene/builder.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct section {
  saltus_fit* fit;
  saltusi_reader reader;
  const saltusi_yaml_node* node;
  const char* where; /* condition for experiments; NULL: all */
  const char* from;  /* column of the index; NULL: the start */
  const char* key;
  int frames;       /* of the window behind its first; -1: all */
  long long* files; /* first rows of CSV files */
  int file_count;
  long long flips; /* quaternions with the other sign than the frame before */
  double flip_id;  /* experiment and frame of the first */
  int flip_frame;
} section;

#define FAIL(s, ...) saltusi_reader_fail(&(s)->reader, __VA_ARGS__)

static bool sound(const section* s) {
  return s->reader.status == SALTUS_OK;
}

/* A constant of the scene; `otherwise` where it is not given. */
static double number(section* s, const saltusi_yaml_node* node, const char* what,
                     double otherwise) {
  const char* text = saltusi_reader_text(&s->reader, node, what);
  double value = otherwise;
  if (text != NULL) {
    saltusi_placed_log placed;
    const saltus_log log = saltusi_reader_log_at(&s->reader, node, &placed);
    const saltus_status status = saltus_scene_value(s->fit->scene, text, log, &value);
    s->reader.status = sound(s) ? status : s->reader.status;
  }
  return value;
}

static const saltusi_yaml_node* list_of(section* s, const saltusi_yaml_node* node, const char* what,
                                        int least, int most) {
  if (node == NULL || !saltusi_reader_expect(&s->reader, node, SALTUSI_YAML_SEQUENCE, what)) {
    return NULL;
  }
  if (node->count < least || node->count > most) {
    FAIL(s, node, "%s has %d entries, must have %d to %d", what, node->count, least, most);
    return NULL;
  }
  return node;
}

/* ---- unknowns ---- */

static void read_bounds(section* s, const saltusi_yaml_node* item, saltusi_fit_unknown* u) {
  const saltusi_yaml_node* bounds = list_of(s, saltusi_yaml_find(item, "bounds"), "bounds", 2, 2);
  u->low = -INFINITY;
  u->high = INFINITY;
  if (bounds != NULL) {
    u->low = number(s, &bounds->children[0], "bounds", 0.0);
    u->high = number(s, &bounds->children[1], "bounds", 0.0);
    if (sound(s) && !(u->low < u->high)) {
      FAIL(s, bounds, "bounds of %s are %g and %g, must rise", u->name, u->low, u->high);
    }
  }
  const saltusi_yaml_node* prior = saltusi_yaml_find(item, "prior");
  if (prior != NULL &&
      saltusi_reader_keys(&s->reader, prior, "fit.unknown.NAME.prior", "a prior")) {
    const saltusi_yaml_node* normal =
        list_of(s, saltusi_yaml_find(prior, "normal"), "normal of a prior", 2, 2);
    u->mean = normal != NULL ? number(s, &normal->children[0], "mean of a prior", 0.0) : 0.0;
    u->deviation =
        normal != NULL ? number(s, &normal->children[1], "deviation of a prior", 0.0) : 0.0;
    if (sound(s) && !(u->deviation > 0.0)) {
      FAIL(s, prior, "the prior of %s has no standard deviation above 0", u->name);
    }
  }
}

static void read_unknown(section* s, const saltusi_yaml_node* key, const saltusi_yaml_node* item) {
  saltus_fit* fit = s->fit;
  saltusi_fit_unknown* u = &fit->unknown[fit->unknowns];
  u->name = key->text;
  if (!saltusi_reader_keys(&s->reader, item, "fit.unknown.NAME", "an unknown")) {
    return;
  }
  const saltus_scene_interface* face = saltus_scene_get_view(fit->scene)->interface;
  bool known = false;
  for (int i = 0; face != NULL && i < face->parameter_count; i++) {
    if (strcmp(face->parameters[i].name, u->name) == 0) {
      u->first = face->parameters[i].value;
      known = true;
    }
  }
  if (!known) {
    FAIL(s, key, "unknown " SALTUSI_QUOTE " is no parameter of the scene", u->name);
    return;
  }
  read_bounds(s, item, u);
  u->first = fmin(fmax(u->first, u->low), u->high);
  const double width = u->high - u->low;
  u->scale = isfinite(width) ? width : fmax(fabs(u->first), 1e-3);
  u->step = number(s, saltusi_yaml_find(item, "step"), "step of differences", 1e-3 * u->scale);
  if (sound(s) && !(u->step > 0.0)) {
    FAIL(s, item, "step of %s is %g, must be above 0", u->name, u->step);
  }
  fit->unknowns++;
}

static void read_unknowns(section* s) {
  const saltusi_yaml_node* node = saltusi_yaml_find(s->node, "unknown");
  if (node == NULL || !saltusi_reader_expect(&s->reader, node, SALTUSI_YAML_MAPPING, "unknown")) {
    return;
  }
  if (node->count > SALTUSI_FIT_UNKNOWNS) {
    FAIL(s, node, "fit has %d unknowns, at most %d", node->count, SALTUSI_FIT_UNKNOWNS);
    return;
  }
  for (int i = 0; i < node->count && sound(s); i++) {
    read_unknown(s, &node->keys[i], &node->children[i]);
  }
}

/* ---- measured values ---- */

/* Place of a coordinate or velocity of this name, or of `name` with an ending; -1: none. */
static int state_place(const saltus_label* labels, int count, const char* name,
                       const char* ending) {
  char all[200];
  snprintf(all, sizeof all, "%.150s%s", name, ending);
  for (int i = 0; labels != NULL && i < count; i++) {
    if (strcmp(labels[i].name, all) == 0) {
      return i;
    }
  }
  return -1;
}

static void read_columns(section* s, const saltusi_yaml_node* list, const saltusi_fit_table* table,
                         int* out) {
  for (int i = 0; list != NULL && i < list->count && sound(s); i++) {
    const char* name = saltusi_reader_text(&s->reader, &list->children[i], "a column");
    out[i] = name != NULL ? saltusi_fit_column(table, name) : -1;
    if (name != NULL && out[i] < 0) {
      FAIL(s, &list->children[i], "the data have no column " SALTUSI_QUOTE, name);
    }
  }
}

static void read_pose(section* s, const saltusi_yaml_node* item, saltusi_fit_measured* m) {
  const saltus_system* system = saltus_scene_get_view(s->fit->scene)->system;
  m->kind = SALTUSI_FIT_POSE;
  m->size = 12;
  m->q = state_place(system->q_labels, system->dims.nq, m->value, ".qw") - 3;
  m->arm = number(s, saltusi_yaml_find(item, "arm"), "arm", NAN);
  m->width = number(s, saltusi_yaml_find(item, "width"), "width", 2.0 * m->arm);
  if (sound(s) && m->q < 0) {
    FAIL(s, item, "a pose is of a moving body in space; " SALTUSI_QUOTE " is none", m->value);
  } else if (sound(s) && !(m->arm > 0.0 && m->width > 0.0)) {
    FAIL(s, item,
         "a pose needs arm, the distance [m] of points that are compared, and a width above 0");
  }
}

static void read_measured(section* s, const saltusi_yaml_node* item) {
  saltus_fit* fit = s->fit;
  saltusi_fit_measured* m = &fit->measured[fit->measured_count];
  if (!saltusi_reader_keys(&s->reader, item, "fit.measured[]", "a measured value")) {
    return;
  }
  m->value = saltusi_reader_text(&s->reader, saltusi_yaml_find(item, "value"), "value");
  const char* kind = saltusi_reader_text(&s->reader, saltusi_yaml_find(item, "kind"), "kind");
  if (m->value == NULL) {
    FAIL(s, item, "a measured value needs value, a body or a formula, and columns");
    return;
  }
  const bool pose = kind != NULL && strcmp(kind, "pose") == 0;
  const bool angle = kind != NULL && strcmp(kind, "angle") == 0;
  if (kind != NULL && !pose && !angle && strcmp(kind, "scalar") != 0) {
    FAIL(s, item, "kind is " SALTUSI_QUOTE ", must be scalar, angle or pose", kind);
    return;
  }
  if (pose) {
    read_pose(s, item, m);
  } else {
    char name[32];
    m->kind = angle ? SALTUSI_FIT_ANGLE : SALTUSI_FIT_SCALAR;
    m->size = 1;
    m->q = fit->output_count;
    snprintf(name, sizeof name, "fit_%d", fit->output_count + 1);
    fit->outputs[fit->output_count++] =
        (saltus_scene_output){.name = saltusi_pool_text(&fit->pool, name),
                              .formula = m->value,
                              .label = "value of measured"};
  }
  const saltusi_yaml_node* columns = saltusi_yaml_find(item, "columns");
  if (columns == NULL) {
    FAIL(s, item, "a measured value needs columns");
  }
  columns = list_of(s, columns, "columns", pose ? 7 : 1, pose ? 7 : 1);
  read_columns(s, columns, &fit->frames, m->columns);
  m->scale = number(s, saltusi_yaml_find(item, "scale"), "scale",
                    number(s, saltusi_yaml_find(item, "noise"), "noise", 1.0));
  if (sound(s) && !(m->scale > 0.0)) {
    FAIL(s, item, "scale is %g, must be above 0", m->scale);
  }
  fit->per_frame += m->size;
  fit->measured_count++;
}

/* ---- starts ---- */

static void read_start(section* s, const saltusi_yaml_node* key, const saltusi_yaml_node* item) {
  saltus_fit* fit = s->fit;
  const saltus_system* system = saltus_scene_get_view(fit->scene)->system;
  if (fit->starts == SALTUSI_FIT_STARTS) {
    FAIL(s, key, "fit has starts of more than %d bodies and coordinates", SALTUSI_FIT_STARTS);
    return;
  }
  saltusi_fit_start* st = &fit->start[fit->starts];
  if (!saltusi_reader_keys(&s->reader, item, "fit.start.NAME", "a start")) {
    return;
  }
  const bool space = state_place(system->q_labels, system->dims.nq, key->text, ".qw") >= 0;
  st->q = state_place(system->q_labels, system->dims.nq, key->text, "");
  st->v = state_place(system->v_labels, system->dims.nv, key->text, "'");
  st->positions = st->velocities = 1;
  if (st->q < 0) {
    st->q = state_place(system->q_labels, system->dims.nq, key->text, ".x");
    st->v = state_place(system->v_labels, system->dims.nv, key->text, ".x'");
    st->positions = space ? 7 : 3;
    st->velocities = space ? 6 : 3;
  }
  if (st->q < 0 || st->v < 0) {
    FAIL(s, key, SALTUSI_QUOTE " is neither a coordinate nor a moving body", key->text);
    return;
  }
  const int size = st->positions + st->velocities;
  for (int i = 0; i < size; i++) {
    st->columns[i] = -1;
  }
  read_columns(s, list_of(s, saltusi_yaml_find(item, "columns"), "columns of a start", size, size),
               &fit->index, st->columns);
  const char* word = saltusi_reader_text(&s->reader, saltusi_yaml_find(item, "free"), "free");
  st->free = word != NULL && strcmp(word, "true") == 0;
  if (word != NULL && !st->free && strcmp(word, "false") != 0) {
    FAIL(s, item, "free is " SALTUSI_QUOTE ", must be true or false", word);
  }
  fit->freedoms += st->free ? 2 * st->velocities : 0;
  if (fit->freedoms > SALTUSI_FIT_FREE) {
    FAIL(s, key, "an experiment has more than %d free start values", SALTUSI_FIT_FREE);
  }
  fit->starts++;
}

static void read_starts(section* s) {
  const saltusi_yaml_node* node = saltusi_yaml_find(s->node, "start");
  if (node == NULL || !saltusi_reader_expect(&s->reader, node, SALTUSI_YAML_MAPPING, "start")) {
    return;
  }
  for (int i = 0; i < node->count && sound(s); i++) {
    read_start(s, &node->keys[i], &node->children[i]);
  }
}

/* ---- data and settings ---- */

/* The path beside the scene. */
static const char* beside(section* s, const char* path) {
  const char* slash = s->fit->def.path != NULL ? strrchr(s->fit->def.path, '/') : NULL;
  if (slash == NULL || path[0] == '/') {
    return path;
  }
  char* folder = saltusi_pool_text(&s->fit->pool, s->fit->def.path);
  if (folder == NULL) {
    return NULL;
  }
  folder[slash - s->fit->def.path + 1] = '\0';
  return saltusi_pool_join(&s->fit->pool, folder, path);
}

static saltus_status read_data(section* s) {
  saltus_fit* fit = s->fit;
  const saltusi_yaml_node* node = saltusi_yaml_find(s->node, "data");
  if (node == NULL || !saltusi_reader_keys(&s->reader, node, "fit.data", "data")) {
    if (node == NULL) {
      FAIL(s, s->node, "fit needs data: the file of the measurements");
    }
    return s->reader.status;
  }
  const char* file = saltusi_reader_text(&s->reader, saltusi_yaml_find(node, "file"), "file");
  const char* table = saltusi_reader_text(&s->reader, saltusi_yaml_find(node, "table"), "table");
  const char* index = saltusi_reader_text(&s->reader, saltusi_yaml_find(node, "index"), "index");
  const double rate = number(s, saltusi_yaml_find(node, "rate"), "rate", NAN);
  file = fit->def.data != NULL ? fit->def.data : file != NULL ? beside(s, file) : NULL;
  if (sound(s) && (file == NULL || (table != NULL) != (index != NULL))) {
    FAIL(s, node,
         "data need file; of HDF5 also table and index, the datasets of frames and of experiments");
  }
  if (sound(s) && table != NULL && !(rate > 0.0)) {
    FAIL(s, node, "data in HDF5 need rate, the frames of a second");
  }
  if (!sound(s)) {
    return s->reader.status;
  }
  saltus_status status;
  if (table != NULL) {
    status = saltusi_fit_table_h5(file, table, &fit->pool, fit->def.log, &fit->frames);
    status = status == SALTUS_OK
                 ? saltusi_fit_table_h5(file, index, &fit->pool, fit->def.log, &fit->index)
                 : status;
  } else {
    status = saltusi_fit_table_csv(file, &fit->pool, fit->def.log, &fit->frames, &s->files,
                                   &s->file_count);
  }
  fit->time = SALTUSI_TAKE(&fit->pool, double, fit->frames.rows + 1);
  if (status != SALTUS_OK || fit->time == NULL) {
    return status != SALTUS_OK ? status : SALTUS_ERR_MEMORY;
  }
  const int t = saltusi_fit_column(&fit->frames, "t");
  if (table == NULL && t < 0) {
    FAIL(s, node, "CSV files need a column t");
    return s->reader.status;
  }
  for (long long i = 0; i < fit->frames.rows; i++) {
    fit->time[i] =
        table != NULL ? (double)i / rate : fit->frames.values[i * fit->frames.columns + t];
  }
  return SALTUS_OK;
}

/* FROM:FRAMES of the caller. */
static void override_window(section* s, const char* text) {
  const char* colon = strchr(text, ':');
  char* end = NULL;
  if (colon != NULL && strcmp(colon, ":all") != 0) {
    s->frames = (int)strtol(colon + 1, &end, 10);
  } else {
    s->frames = -1;
  }
  if (colon == NULL || (end != NULL && (*end != '\0' || end == colon + 1 || s->frames < 0))) {
    FAIL(s, s->node, "window is " SALTUSI_QUOTE ", must be FROM:FRAMES, as contact:10 or start:all",
         text);
    return;
  }
  char* from = saltusi_pool_text(&s->fit->pool, text);
  if (from != NULL) {
    from[colon - text] = '\0';
  }
  s->from = from != NULL && strcmp(from, "start") == 0 ? NULL : from;
}

static void read_settings(section* s) {
  static const char* const losses[] = {"squares", "huber", "soft-l1", "cauchy"};
  saltus_fit* fit = s->fit;
  const saltusi_yaml_node* window = saltusi_yaml_find(s->node, "window");
  const saltusi_yaml_node* loss = saltusi_yaml_find(s->node, "loss");
  const saltusi_yaml_node* method = saltusi_yaml_find(s->node, "method");
  const saltusi_yaml_node* runs = saltusi_yaml_find(s->node, "experiments");
  s->frames = -1;
  if (window != NULL && saltusi_reader_keys(&s->reader, window, "fit.window", "window")) {
    const char* from = saltusi_reader_text(&s->reader, saltusi_yaml_find(window, "from"), "from");
    s->from = from != NULL && strcmp(from, "start") != 0 ? from : NULL;
    s->frames = (int)number(s, saltusi_yaml_find(window, "frames"), "frames", -1.0);
  }
  if (fit->def.window != NULL) {
    override_window(s, fit->def.window);
  }
  if (loss != NULL && saltusi_reader_keys(&s->reader, loss, "fit.loss", "loss")) {
    const char* kind = saltusi_reader_text(&s->reader, saltusi_yaml_find(loss, "kind"), "kind");
    int at = 0;
    while (kind != NULL && at < 4 && strcmp(kind, losses[at]) != 0) {
      at++;
    }
    fit->loss = (saltusi_fit_loss)at;
    if (at == 4) {
      FAIL(s, loss,
           "kind of the loss is " SALTUSI_QUOTE ", must be squares, huber, soft-l1 or cauchy",
           kind);
    }
  }
  fit->most = 60;
  fit->tolerance = 1e-7;
  if (method != NULL && saltusi_reader_keys(&s->reader, method, "fit.method", "method")) {
    fit->most = (int)number(s, saltusi_yaml_find(method, "iterations"), "iterations", fit->most);
    fit->tolerance = number(s, saltusi_yaml_find(method, "tolerance"), "tolerance", fit->tolerance);
  }
  if (runs != NULL && saltusi_reader_keys(&s->reader, runs, "fit.experiments", "experiments")) {
    s->where = saltusi_reader_text(&s->reader, saltusi_yaml_find(runs, "where"), "where");
    s->key = saltusi_reader_text(&s->reader, saltusi_yaml_find(runs, "key"), "key");
  }
  s->where = fit->def.where != NULL ? fit->def.where : s->where;
}

/* ---- experiments ---- */

/* Value of a condition with the columns of a row of the index as names. */
static saltus_status holds(section* s, long long row, bool* out) {
  const saltusi_fit_table* index = &s->fit->index;
  saltus_formula_parameter names[SALTUSI_FIT_COLUMNS];
  static const char before[] = "piecewise(", after[] = ", 1, 0)";
  char texts[SALTUSI_FIT_COLUMNS][32], formula[1000];
  double value = 0.0;
  for (int i = 0; i < index->columns; i++) {
    saltusi_print(texts[i], sizeof texts[i], "%.17g", index->values[row * index->columns + i]);
    names[i] = (saltus_formula_parameter){.name = index->names[i],
                                          .value = {.text = texts[i], .what = index->names[i]}};
  }
  snprintf(formula, sizeof formula, "%s%.900s%s", before, s->where, after);
  const saltus_formula_text text = {.text = formula, .what = "where of the experiments"};
  const saltus_status status =
      saltus_formula_constant(names, index->columns, text, s->fit->def.log, &value);
  *out = value != 0.0;
  return status;
}

static double index_value(const saltus_fit* fit, long long row, const char* name,
                          double otherwise) {
  const int column = name != NULL ? saltusi_fit_column(&fit->index, name) : -1;
  return column < 0 ? otherwise : fit->index.values[row * fit->index.columns + column];
}

static void count_flips(section* s, const saltusi_fit_experiment* e,
                        const saltusi_fit_measured* m) {
  const saltusi_fit_table* table = &s->fit->frames;
  for (int f = 1; f < e->count && m->kind == SALTUSI_FIT_POSE; f++) {
    const double* x = table->values + (e->first + f) * table->columns;
    double dot = 0.0;
    for (int k = 3; k < 7; k++) {
      dot += x[m->columns[k]] * x[m->columns[k] - table->columns];
    }
    if (dot < 0.0 && s->flips++ == 0) {
      s->flip_id = e->id;
      s->flip_frame = f;
    }
  }
}

/* Times rise, measured values of the window are numbers, quaternions have their length. */
static bool check_experiment(section* s, const saltusi_fit_experiment* e) {
  const saltus_fit* fit = s->fit;
  for (int f = 0; f < e->count; f++) {
    const long long row = e->first + f;
    const double* x = fit->frames.values + row * fit->frames.columns;
    if (f > 0 && !(fit->time[row] > fit->time[row - 1])) {
      FAIL(s, s->node, "experiment %g: time of frame %d is %g s, must rise", e->id, f,
           fit->time[row]);
      return false;
    }
    for (int i = 0; i < fit->measured_count; i++) {
      const saltusi_fit_measured* m = &fit->measured[i];
      double length = 0.0;
      for (int k = 0; k < (m->kind == SALTUSI_FIT_POSE ? 7 : 1); k++) {
        const double value = x[m->columns[k]];
        length += k > 2 ? value * value : 0.0;
        if (!isfinite(value) && f >= e->from && f <= e->to) {
          FAIL(s, s->node, "experiment %g: frame %d has no number in column %s", e->id, f,
               fit->frames.names[m->columns[k]]);
          return false;
        }
      }
      if (m->kind == SALTUSI_FIT_POSE && fabs(length - 1.0) > 1e-2) {
        FAIL(s, s->node, "experiment %g: the quaternion of frame %d has the square length %g",
             e->id, f, length);
        return false;
      }
    }
  }
  return true;
}

static bool add_experiment(section* s, long long row, bool files) {
  saltus_fit* fit = s->fit;
  saltusi_fit_experiment* e = &fit->experiment[fit->experiments];
  const double end = files ? 0.0 : index_value(fit, row, "count", NAN);
  *e = (saltusi_fit_experiment){.row = row, .weight = 1};
  e->id = files ? (double)row : index_value(fit, row, s->key != NULL ? s->key : "id", (double)row);
  e->first = files ? s->files[row] : (long long)index_value(fit, row, "first", NAN);
  e->count = files ? (int)(s->files[row + 1] - s->files[row]) : (int)end;
  if (!files && (!(end >= 2.0) || e->first < 0 || e->first + e->count > fit->frames.rows)) {
    FAIL(s, s->node, "experiment %g has frames %lld to %lld, the table has %lld", e->id, e->first,
         e->first + e->count, fit->frames.rows);
    return false;
  }
  e->from = s->from != NULL ? (int)index_value(fit, row, s->from, -1.0) : 0;
  if (e->from < 0 || e->from >= e->count) {
    FAIL(s, s->node, "experiment %g: the window starts at frame %d of %d (column \"%.60s\")", e->id,
         e->from, e->count, s->from);
    return false;
  }
  e->to = s->frames < 0 || e->from + s->frames >= e->count ? e->count - 1 : e->from + s->frames;
  e->residual = fit->residuals;
  fit->residuals += (long long)(e->to - e->from + 1) * fit->per_frame;
  fit->experiments++;
  for (int i = 0; i < fit->measured_count; i++) {
    count_flips(s, e, &fit->measured[i]);
  }
  return check_experiment(s, e);
}

static void read_experiments(section* s) {
  saltus_fit* fit = s->fit;
  const bool files = s->files != NULL;
  const long long most = files ? s->file_count : fit->index.rows;
  fit->experiment = SALTUSI_TAKE(&fit->pool, saltusi_fit_experiment, most + 1);
  if (files && s->where != NULL) {
    FAIL(s, s->node, "where is of data with an index; name the CSV files by the pattern");
  }
  for (long long row = 0; row < most && sound(s) && fit->experiment != NULL; row++) {
    bool used = true;
    if (s->where != NULL && !files) {
      const saltus_status status = holds(s, row, &used);
      s->reader.status = status;
    }
    if (used && sound(s) && !add_experiment(s, row, files)) {
      return;
    }
  }
  if (sound(s) && fit->experiments == 0) {
    FAIL(s, s->node, "no experiment is left%s", s->where != NULL ? "; see where" : "");
  }
  if (sound(s) && s->flips > 0) {
    saltusi_log(
        fit->def.log, SALTUS_LEVEL_WARNING,
        "fit: quaternions change their sign at %lld frame(s), first at frame %d of experiment "
        "%g; q and -q are the same attitude",
        s->flips, s->flip_frame, s->flip_id);
  }
  fit->nuisance = SALTUSI_TAKE(&fit->pool, double, fit->experiments * fit->freedoms + 1);
}

saltus_status saltusi_fit_read(saltus_fit* fit) {
  assert(fit != NULL && fit->scene != NULL);
  section s = {.fit = fit,
               .reader = {.file = fit->def.path != NULL ? fit->def.path : "scene",
                          .pool = &fit->pool,
                          .log = fit->def.log},
               .node = saltusi_reader_section(fit->scene->root, "fit")};
  if (s.node == NULL) {
    saltusi_log(fit->def.log, SALTUS_LEVEL_ERROR, "the scene has no section fit");
    return SALTUS_ERR_INPUT;
  }
  const saltusi_yaml_node* measured = saltusi_yaml_find(s.node, "measured");
  const saltus_status status =
      saltusi_reader_keys(&s.reader, s.node, "fit", "fit") ? read_data(&s) : s.reader.status;
  if (status != SALTUS_OK) {
    return status;
  }
  fit->outputs = SALTUSI_TAKE(&fit->pool, saltus_scene_output, SALTUSI_FIT_MEASURED);
  if (measured == NULL) {
    FAIL(&s, s.node, "fit needs measured: values of the scene and their columns");
  }
  measured = list_of(&s, measured, "measured", 1, SALTUSI_FIT_MEASURED);
  for (int i = 0; measured != NULL && i < measured->count && sound(&s); i++) {
    read_measured(&s, &measured->children[i]);
  }
  if (sound(&s)) {
    read_starts(&s);
    read_unknowns(&s);
    read_settings(&s);
  }
  if (sound(&s)) {
    read_experiments(&s);
  }
  return sound(&s) && fit->pool.failed ? SALTUS_ERR_MEMORY : s.reader.status;
}
