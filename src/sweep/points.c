/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * points.c - see points.h.
 */
#include "sweep/points.h"

#include "base/log.h"
#include "formula/parse.h"
#include "sweep/random.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { NUMBER_LONGEST = 200, LIST_MOST = 1 << 20 };

static const char* const form = "an axis is NAME=FROM:TO:COUNT, with \" log\" behind it for equal "
                                "factors, NAME=A,B,C, or NAME~ and one of "
                                "uniform(LOW, HIGH), loguniform(LOW, HIGH), normal(MEAN, "
                                "DEVIATION), lognormal(MEDIAN, DEVIATION)";

bool saltusi_sweep_number(const char* text, size_t length, double* value) {
  assert(text != NULL && value != NULL);
  char kept[NUMBER_LONGEST];
  while (length > 0 && *text == ' ') {
    text++;
    length--;
  }
  if (length == 0 || length >= sizeof kept) {
    return false;
  }
  memcpy(kept, text, length);
  kept[length] = '\0';
  saltusi_graph graph;
  saltusi_names names;
  saltusi_pool pool = saltusi_pool_over(NULL);
  const saltusi_graph_sizes sizes = {0};
  bool good = saltusi_graph_start(&graph, &sizes, NULL) == SALTUS_OK &&
              saltusi_names_start(&names, 0, &pool) == SALTUS_OK;
  if (good) {
    const saltusi_scope scope = {.graph = &graph, .names = &names};
    const saltus_formula_text formula = {.text = kept, .what = "number"};
    good = saltusi_parse_constant(&scope, &formula, value) == SALTUS_OK;
  }
  saltusi_graph_free(&graph);
  saltusi_pool_free(&pool);
  return good;
}

static saltus_status refuse(saltus_log log, const char* text, const char* why) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "axis \"%.120s\": %s", text, why);
  return SALTUS_ERR_INPUT;
}

/* "uniform(0.1, 0.5)" */
static saltus_status parse_drawn(const char* text, const char* rest, saltus_log log,
                                 saltusi_sweep_axis* axis) {
  static const struct {
    const char* word;
    saltusi_sweep_axis_kind kind;
  } kinds[] = {{"uniform", SALTUSI_AXIS_UNIFORM},
               {"loguniform", SALTUSI_AXIS_LOGUNIFORM},
               {"normal", SALTUSI_AXIS_NORMAL},
               {"lognormal", SALTUSI_AXIS_LOGNORMAL}};
  const char* open = strchr(rest, '(');
  const char* comma = open != NULL ? strchr(open, ',') : NULL;
  const char* close = strrchr(rest, ')');
  if (comma == NULL || close == NULL || close < comma ||
      close[1 + strspn(close + 1, " ")] != '\0') {
    return refuse(log, text, form);
  }
  size_t length = (size_t)(open - rest);
  while (length > 0 && rest[length - 1] == ' ') {
    length--;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strlen(kinds[i].word) != length || memcmp(kinds[i].word, rest, length) != 0) {
      continue;
    }
    axis->kind = kinds[i].kind;
    if (!saltusi_sweep_number(open + 1, (size_t)(comma - open - 1), &axis->a) ||
        !saltusi_sweep_number(comma + 1, (size_t)(close - comma - 1), &axis->b)) {
      return refuse(log, text, "both values have to be numbers, or formulas of numbers");
    }
    const bool spread = axis->kind == SALTUSI_AXIS_NORMAL || axis->kind == SALTUSI_AXIS_LOGNORMAL;
    if (spread ? !(axis->b >= 0.0) : !(axis->a <= axis->b)) {
      return refuse(log, text,
                    spread ? "the deviation must not be negative"
                           : "the first value must not be above the second");
    }
    if ((axis->kind == SALTUSI_AXIS_LOGUNIFORM || axis->kind == SALTUSI_AXIS_LOGNORMAL) &&
        !(axis->a > 0.0)) {
      return refuse(log, text, "the first value has to be positive");
    }
    return SALTUS_OK;
  }
  return refuse(log, text, form);
}

static saltus_status parse_range(const char* text, const char* rest, saltus_log log,
                                 saltusi_sweep_axis* axis) {
  const char* first = strchr(rest, ':');
  const char* second = strchr(first + 1, ':');
  if (second == NULL) {
    return refuse(log, text, form);
  }
  size_t length = strlen(second + 1);
  if (length > 4 && strcmp(second + 1 + length - 4, " log") == 0) {
    axis->log = true;
    length -= 4;
  }
  double count;
  if (!saltusi_sweep_number(rest, (size_t)(first - rest), &axis->a) ||
      !saltusi_sweep_number(first + 1, (size_t)(second - first - 1), &axis->b) ||
      !saltusi_sweep_number(second + 1, length, &count)) {
    return refuse(log, text, form);
  }
  if (!(count >= 1.0 && count <= INT_MAX && count == floor(count))) {
    return refuse(log, text, "the count has to be a whole number from 1 on");
  }
  if (axis->log && !(axis->a > 0.0 && axis->b > 0.0)) {
    return refuse(log, text, "with log both ends have to be positive");
  }
  axis->kind = SALTUSI_AXIS_RANGE;
  axis->count = (int)count;
  return SALTUS_OK;
}

static saltus_status parse_list(const char* text, const char* rest, saltusi_pool* pool,
                                saltus_log log, saltusi_sweep_axis* axis) {
  int count = 1;
  for (const char* c = rest; *c != '\0' && count < LIST_MOST; c++) {
    count += *c == ',';
  }
  double* values = SALTUSI_TAKE(pool, double, count);
  if (values == NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "axis \"%.120s\": no memory", text);
    return SALTUS_ERR_MEMORY;
  }
  const char* from = rest;
  for (int i = 0; i < count; i++) {
    const size_t length = strcspn(from, ",");
    if (!saltusi_sweep_number(from, length, &values[i])) {
      return refuse(log, text, form);
    }
    from += length + 1;
  }
  axis->kind = SALTUSI_AXIS_LIST;
  axis->values = values;
  axis->count = count;
  return SALTUS_OK;
}

saltus_status saltusi_axis_parse(const char* text, saltusi_pool* pool, saltus_log log,
                                 saltusi_sweep_axis* axis) {
  assert(text != NULL && pool != NULL && axis != NULL);
  *axis = (saltusi_sweep_axis){0};
  const size_t length = strcspn(text, "=~");
  if (length == 0 || text[length] == '\0') {
    return refuse(log, text, form);
  }
  char* name = saltusi_pool_text(pool, text);
  if (name == NULL) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "axis \"%.120s\": no memory", text);
    return SALTUS_ERR_MEMORY;
  }
  size_t own = length;
  while (own > 0 && name[own - 1] == ' ') {
    own--;
  }
  name[own] = '\0';
  axis->name = name + strspn(name, " ");
  const char* rest = text + length + 1 + strspn(text + length + 1, " ");
  if (text[length] == '~') {
    return parse_drawn(text, rest, log, axis);
  }
  return strchr(rest, ':') != NULL ? parse_range(text, rest, log, axis)
                                   : parse_list(text, rest, pool, log, axis);
}

static double grid_value(const saltusi_sweep_axis* axis, int place) {
  if (axis->kind == SALTUSI_AXIS_LIST) {
    return axis->values[place];
  }
  if (place == 0 || place == axis->count - 1) {
    return place == 0 ? axis->a : axis->b;
  }
  const double part = (double)place / (double)(axis->count - 1);
  return axis->log ? axis->a * pow(axis->b / axis->a, part) : axis->a + (axis->b - axis->a) * part;
}

static double drawn_value(const saltusi_sweep_axis* axis, double u) {
  switch (axis->kind) {
  case SALTUSI_AXIS_LOGUNIFORM:
    return axis->a * pow(axis->b / axis->a, u);
  case SALTUSI_AXIS_NORMAL:
    return axis->a + axis->b * saltusi_normal_quantile(u);
  case SALTUSI_AXIS_LOGNORMAL:
    return axis->a * exp(axis->b * saltusi_normal_quantile(u));
  default:
    return axis->a + (axis->b - axis->a) * u;
  }
}

/* Random value number `sample` of an axis, in (0, 1). */
static double draw(const saltusi_sweep_points* p, int drawn, uint64_t sample) {
  const uint32_t stream = 2U * (uint32_t)drawn;
  if (p->sampling == SALTUS_SAMPLING_SOBOL) {
    const uint32_t shift = (uint32_t)saltusi_random_bits(p->seed, stream, 0);
    return ((double)(saltusi_sobol(drawn, (uint32_t)sample) ^ shift) + 0.5) * 0x1p-32;
  }
  const double u = saltusi_random_unit(saltusi_random_bits(p->seed, stream, sample));
  if (p->sampling == SALTUS_SAMPLING_LATIN) {
    const uint64_t strata = (uint64_t)p->samples;
    const double inside = ((double)saltusi_random_place(p->seed, stream + 1, strata, sample) + u) /
                          (double)p->samples;
    return fmin(fmax(inside, 0x1p-54), 1.0 - 0x1p-53);
  }
  return u;
}

void saltusi_points_at(const saltusi_sweep_points* points, long long run, double* values) {
  assert(run >= 0 && run < points->grid * points->samples && values != NULL);
  long long place = run % points->grid;
  const long long sample = run / points->grid;
  int drawn = 0;
  for (int i = 0; i < points->count; i++) {
    const saltusi_sweep_axis* axis = &points->axes[i];
    if (points->given != NULL && i < points->given_count) {
      values[i] = points->given[run % points->grid * points->given_count + i];
    } else if (axis->count > 0) {
      values[i] = grid_value(axis, (int)(place % axis->count));
      place /= axis->count;
    } else {
      values[i] = drawn_value(axis, draw(points, drawn++, (uint64_t)sample));
    }
  }
}
