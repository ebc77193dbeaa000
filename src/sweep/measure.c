/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * measure.c - see measure.h. A call such as max(q) is replaced in the text by an item; the rest of the text is a
 * formula of the items: "max(q)/last(h)" is "item_0/item_1".
 */
#include "sweep/measure.h"

#include "base/log.h"
#include "base/suggest.h"
#include "formula/parse.h"
#include "saltus/mechanism.h"
#include "sweep/points.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS_MOST = 1000, NAME_LONGEST = 24 };

static const struct {
  const char* word;
  saltusi_fold fold;
} folds[] = {
    {"max", SALTUSI_FOLD_MAX},   {"min", SALTUSI_FOLD_MIN},   {"first", SALTUSI_FOLD_FIRST},
    {"last", SALTUSI_FOLD_LAST}, {"mean", SALTUSI_FOLD_MEAN}, {"integral", SALTUSI_FOLD_INTEGRAL},
    {"rms", SALTUSI_FOLD_RMS},   {"sum", SALTUSI_FOLD_SUM},   {"count", SALTUSI_FOLD_COUNT},
    {"time", SALTUSI_FOLD_TIME}, {"wear", SALTUSI_FOLD_SUM}};

enum { FOLDS = sizeof folds / sizeof folds[0], WEAR = FOLDS - 1 };

/* One measure during parsing. */
typedef struct measure_reader {
  const char* text;
  saltusi_pool* pool;
  saltus_log log;
  saltusi_measures* out;
  char* left; /* text with calls replaced by items */
  size_t left_length;
} measure_reader;

static saltus_status refuse(const measure_reader* r, const char* why, const char* what) {
  saltusi_log(r->log, SALTUS_LEVEL_ERROR, "measure \"%.120s\": %s%s%.80s%s", r->text, why,
              what != NULL ? " \"" : "", what != NULL ? what : "", what != NULL ? "\"" : "");
  return SALTUS_ERR_INPUT;
}

/* A copy without leading and trailing spaces. */
static char* cut(saltusi_pool* pool, const char* from, size_t length) {
  while (length > 0 && from[0] == ' ') {
    from++;
    length--;
  }
  while (length > 0 && from[length - 1] == ' ') {
    length--;
  }
  char* text = saltusi_pool_take(pool, length + 1, 1);
  if (text != NULL) {
    memcpy(text, from, length);
  }
  return text;
}

/* "impact of floor": the word, and the name after " of ", or NULL. */
static char* part_of(char* text, char** word) {
  *word = text;
  char* of = strstr(text, " of ");
  if (of == NULL) {
    return NULL;
  }
  *of = '\0';
  char* name = of + 4 + strspn(of + 4, " ");
  for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--) {
    text[n - 1] = '\0';
  }
  return name;
}

static int event_kind(const char* word) {
  for (int k = 0; k < SALTUS_EVENT_RISE; k++) {
    if (strcmp(saltus_event_kind_name((saltus_event_kind)k), word) == 0) {
      return k;
    }
  }
  return -1;
}

static saltus_status read_events(const measure_reader* r, char* argument, const char* second,
                                 saltusi_item* item) {
  char* word;
  const char* name = part_of(argument, &word);
  item->subject = SALTUSI_OF_EVENTS;
  item->kind = event_kind(word);
  item->text = item->kind < 0 ? word : name;
  item->which = 1;
  if (item->kind < 0 && name != NULL) {
    return refuse(r, "no kind of event is called", word);
  }
  if (second != NULL) {
    double which;
    if (item->fold != SALTUSI_FOLD_TIME || !saltusi_sweep_number(second, strlen(second), &which) ||
        !(which == -1.0 || (which >= 1.0 && which <= 1e15 && which == (double)(long long)which))) {
      return refuse(
          r, "the second value of time() is a whole number from 1 on, or -1 for the last; not",
          second);
    }
    item->which = (long long)which;
  }
  return SALTUS_OK;
}

/* Reads the item of one call from the text between its parentheses. */
static saltus_status read_item(const measure_reader* r, int fold, char* argument,
                               const char* second, saltusi_item* item) {
  *item = (saltusi_item){.fold = folds[fold].fold, .place = -1, .output = -1};
  if (argument[0] == '\0') {
    return refuse(r, "nothing stands between the parentheses of", folds[fold].word);
  }
  if (item->fold == SALTUSI_FOLD_COUNT || item->fold == SALTUSI_FOLD_TIME) {
    return read_events(r, argument, second, item);
  }
  if (second != NULL) {
    return refuse(r, "one value belongs between the parentheses of", folds[fold].word);
  }
  if (fold == WEAR) {
    item->subject = SALTUSI_OF_WEAR;
    item->text = argument;
    return SALTUS_OK;
  }
  const bool force = strncmp(argument, "force of ", 9) == 0;
  const bool impulse = strncmp(argument, "impulse of ", 11) == 0;
  const bool gap = strncmp(argument, "gap of ", 7) == 0;
  if (force || impulse || gap) {
    char* word;
    item->text = part_of(argument, &word);
    item->subject = force ? SALTUSI_OF_FORCE : impulse ? SALTUSI_OF_IMPULSE : SALTUSI_OF_GAP;
  } else {
    item->text = argument;
    item->subject = SALTUSI_OF_OUTPUT;
  }
  const bool summed = item->fold == SALTUSI_FOLD_SUM;
  if (saltusi_item_is_function(item) && summed) {
    return refuse(r, "sum() is of impulses: sum(impulse of NAME); a formula has an integral()",
                  NULL);
  }
  if (impulse && (item->fold == SALTUSI_FOLD_INTEGRAL || item->fold == SALTUSI_FOLD_RMS)) {
    return refuse(r, "impulses have max, min, first, last, mean and sum, not", folds[fold].word);
  }
  if (force && (item->fold == SALTUSI_FOLD_RMS || summed || item->fold == SALTUSI_FOLD_FIRST)) {
    return refuse(r, "forces have max, min, last, mean and integral, not", folds[fold].word);
  }
  return SALTUS_OK;
}

static bool is_letter(char c) {
  return isalpha((unsigned char)c) || c == '_';
}

static bool in_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '\'';
}

static void keep(measure_reader* r, const char* text, size_t length) {
  memcpy(r->left + r->left_length, text, length);
  r->left_length += length;
}

/* Index of the function of a call; -1: a name, or a call that is no item. */
static int find_fold(const char* word, size_t length) {
  for (int i = 0; i < FOLDS; i++) {
    if (strlen(folds[i].word) == length && memcmp(folds[i].word, word, length) == 0) {
      return i;
    }
  }
  return -1;
}

/* End of the parentheses that open here, and the first comma between them; NULL: they do not close. */
static const char* matching(const char* open, const char** comma, int* commas) {
  int depth = 0;
  *comma = NULL;
  *commas = 0;
  for (const char* c = open; *c != '\0'; c++) {
    depth += *c == '(';
    depth -= *c == ')';
    if (depth == 0) {
      return c;
    }
    if (*c == ',' && depth == 1) {
      *comma = *comma == NULL ? c : *comma;
      (*commas)++;
    }
  }
  return NULL;
}

/* Replaces a call by an item, or copies the word. Returns the text after it, NULL after a failure. */
static const char* take_word(measure_reader* r, const char* word, saltus_status* status) {
  size_t length = 0;
  while (in_word(word[length])) {
    length++;
  }
  const char* open = word + length + strspn(word + length, " ");
  const int fold = *open == '(' ? find_fold(word, length) : -1;
  const char* comma;
  int commas = 0;
  const char* end = fold >= 0 ? matching(open, &comma, &commas) : NULL;
  const bool extreme =
      fold >= 0 && (folds[fold].fold == SALTUSI_FOLD_MAX || folds[fold].fold == SALTUSI_FOLD_MIN);
  if (fold < 0 || (extreme && commas > 0)) {
    keep(r, word, length);
    return word + length;
  }
  if (end == NULL || commas > 1 || r->out->item_count == ITEMS_MOST) {
    *status = refuse(r, end == NULL ? "a parenthesis is not closed" : "too many values", NULL);
    return NULL;
  }
  const char* stop = comma != NULL ? comma : end;
  char* argument = cut(r->pool, open + 1, (size_t)(stop - open - 1));
  char* second = comma != NULL ? cut(r->pool, comma + 1, (size_t)(end - comma - 1)) : NULL;
  if (argument == NULL || (comma != NULL && second == NULL)) {
    *status = SALTUS_ERR_MEMORY;
    return NULL;
  }
  saltusi_item* item = &r->out->items[r->out->item_count];
  *status = read_item(r, fold, argument, second, item);
  if (*status != SALTUS_OK) {
    return NULL;
  }
  char name[NAME_LONGEST];
  const int n = snprintf(name, sizeof name, "item_%d", r->out->item_count++);
  keep(r, name, (size_t)n);
  return end + 1;
}

/* "NAME=FORMULA": the text after the name. */
static const char* take_name(measure_reader* r, const char** name) {
  const char* text = r->text + strspn(r->text, " ");
  size_t length = 0;
  while (isalnum((unsigned char)text[length]) || text[length] == '_') {
    length++;
  }
  const char* sign = text + length + strspn(text + length, " ");
  if (length > 0 && *sign == '=') {
    *name = cut(r->pool, text, length);
    return sign + 1;
  }
  *name = cut(r->pool, text, strlen(text));
  return text;
}

static saltus_status read_measure(measure_reader* r, const char** name) {
  const char* c = take_name(r, name);
  r->left = saltusi_pool_take(r->pool, NAME_LONGEST * (strlen(r->text) + 1), 1);
  r->left_length = 0;
  if (r->left == NULL || *name == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  const int items = r->out->item_count;
  saltus_status status = SALTUS_OK;
  while (c != NULL && *c != '\0') {
    if (is_letter(*c)) {
      c = take_word(r, c, &status);
    } else if (isdigit((unsigned char)*c) || *c == '.') {
      size_t length = strspn(c, "0123456789.");
      if (c[length] == 'e' || c[length] == 'E') {
        const size_t sign = c[length + 1] == '+' || c[length + 1] == '-' ? 1 : 0;
        length += 1 + sign + strspn(c + length + 1 + sign, "0123456789");
      }
      keep(r, c, length);
      c += length;
    } else {
      keep(r, c++, 1);
    }
  }
  if (status == SALTUS_OK && r->out->item_count == items) {
    status = refuse(r,
                    "nothing in it is of a run; for instance max(FORMULA), last(FORMULA), "
                    "time(impact), count(impact)",
                    NULL);
  }
  return status;
}

static saltus_status compile(saltusi_measures* m, const char* const* texts, char* const* left,
                             saltusi_pool* pool, saltus_log log) {
  saltusi_graph graph;
  saltusi_names names;
  const saltusi_graph_sizes sizes = {.positions = m->item_count, .velocities = m->item_count};
  saltus_status status = saltusi_graph_start(&graph, &sizes, &pool->allocator);
  status = status == SALTUS_OK ? saltusi_names_start(&names, m->item_count, pool) : status;
  for (int i = 0; i < m->item_count && status == SALTUS_OK; i++) {
    char name[NAME_LONGEST];
    snprintf(name, sizeof name, "item_%d", i);
    saltusi_names_add(&names, (saltusi_name){.text = saltusi_pool_text(pool, name),
                                             .kind = SALTUSI_COORDINATE,
                                             .index = i});
  }
  saltusi_output* outputs = SALTUSI_TAKE(pool, saltusi_output, m->count);
  const saltusi_scope scope = {.graph = &graph, .names = &names, .log = log};
  for (int i = 0; i < m->count && status == SALTUS_OK; i++) {
    const saltus_formula_text formula = {.text = left[i], .file = texts[i], .what = "measure"};
    outputs[i].place = i;
    status = saltusi_parse(&scope, &formula, SALTUSI_ON_POSITION, &outputs[i].expr);
  }
  if (status == SALTUS_OK) {
    status = saltusi_compile(&graph, outputs, m->count, m->count, pool, &m->program);
  }
  saltusi_graph_free(&graph);
  return status;
}

saltus_status saltusi_measures_parse(const char* const* texts, int count, saltusi_pool* pool,
                                     saltus_log log, saltusi_measures* out) {
  assert(count >= 0 && pool != NULL && out != NULL);
  *out = (saltusi_measures){.count = count,
                            .names = SALTUSI_TAKE(pool, const char*, count + 1),
                            .items = SALTUSI_TAKE(pool, saltusi_item, ITEMS_MOST)};
  char** left = SALTUSI_TAKE(pool, char*, count + 1);
  saltus_status status =
      out->names == NULL || out->items == NULL || left == NULL ? SALTUS_ERR_MEMORY : SALTUS_OK;
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    measure_reader r = {.text = texts[i], .pool = pool, .log = log, .out = out};
    status = read_measure(&r, &out->names[i]);
    left[i] = r.left;
    for (int k = 0; k < i && status == SALTUS_OK; k++) {
      if (strcmp(out->names[k], out->names[i]) == 0) {
        status = refuse(&r, "another measure has the same name; give it one by NAME=", NULL);
      }
    }
  }
  for (int i = 0, outputs = 0; i < out->item_count && status == SALTUS_OK; i++) {
    out->items[i].output = out->items[i].subject == SALTUSI_OF_OUTPUT ? outputs++ : -1;
  }
  status = status == SALTUS_OK && count > 0 ? compile(out, texts, left, pool, log) : status;
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "sweep: no memory for its measures");
  }
  return status;
}

/* ---- names of the scene ---- */

static int find_text(const char* name, const char* const* names, int count) {
  for (int i = 0; i < count; i++) {
    if (names[i] != NULL && strcmp(names[i], name) == 0) {
      return i;
    }
  }
  return -1;
}

enum { NAMES_MOST = 512 };

static int contact_names(const saltus_scene_view* view, const char** names) {
  const int count = view->system->dims.nc < NAMES_MOST ? view->system->dims.nc : NAMES_MOST;
  const bool changing = (view->system->traits & SALTUS_CHANGING_CONTACTS) != 0;
  for (int i = 0; i < count && !changing; i++) {
    names[i] = view->system->laws[i].name;
  }
  return changing ? 0 : count;
}

static int joint_names(const saltus_scene_view* view, const char** names) {
  int count = 0;
  if (view->mechanism != NULL && view->tree == NULL) {
    count = saltus_mechanism_sizes(view->mechanism).joints;
    count = count < NAMES_MOST ? count : NAMES_MOST;
    for (int i = 0; i < count; i++) {
      names[i] = saltus_mechanism_joint(view->mechanism, i).name;
    }
    return count;
  }
  for (; count < view->system->dims.nj && count < NAMES_MOST; count++) {
    names[count] = view->joint_names[count];
  }
  return count;
}

static saltus_status unknown(saltus_log log, const char* kind, const char* name, const char** names,
                             int count) {
  const char* near = count > 0 ? saltusi_suggest(name, names, count) : NULL;
  saltusi_log(log, SALTUS_LEVEL_ERROR, "measure: the scene has no %s \"%.80s\"%s%s%s", kind, name,
              near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
              near != NULL ? "\"?" : "");
  return SALTUS_ERR_INPUT;
}

void saltusi_item_label(const saltusi_item* item, char* text, size_t size) {
  assert(item != NULL && text != NULL);
  if (item->named) {
    snprintf(text, size, "%s", item->text);
  } else {
    snprintf(text, size, "measure_%d", item->output);
  }
}

static double output_of(const saltus_scene_view* view, int place, const double* forces,
                        double* values, void* scratch) {
  const saltus_observables* o = view->observables;
  const saltus_point at = {.t = view->start, .q = view->q0, .v = view->v0, .scratch = scratch};
  o->outputs_with(o->self, &at, forces, values);
  return values[place];
}

/* A formula with forces of joints is NaN without them. */
static saltus_status find_load(saltusi_item* item, const saltus_scene_view* view, saltus_log log) {
  const saltus_observables* o = view->observables;
  char label[200];
  int place = 0;
  if (o == NULL) {
    return SALTUS_OK;
  }
  saltusi_item_label(item, label, sizeof label);
  while (place < o->output_count && strcmp(o->output_labels[place].name, label) != 0) {
    place++;
  }
  if (place == o->output_count || o->outputs_with == NULL) {
    return SALTUS_OK;
  }
  saltusi_pool pool = saltusi_pool_over(NULL);
  double* values = SALTUSI_TAKE(&pool, double, o->output_count);
  double* zeros = SALTUSI_TAKE(&pool, double, view->system->dims.nj + 1);
  void* scratch = saltusi_pool_take(&pool, o->scratch + 1, 1);
  if (!pool.failed) {
    item->loaded = isnan(output_of(view, place, NULL, values, scratch)) &&
                   !isnan(output_of(view, place, zeros, values, scratch));
  }
  const saltus_status status = pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
  saltusi_pool_free(&pool);
  if (status == SALTUS_OK && item->loaded && item->fold == SALTUSI_FOLD_FIRST) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "measure: first(%.80s): forces of joints have max, min, last, mean, integral and "
                "rms, not first",
                item->text);
    return SALTUS_ERR_INPUT;
  }
  return status;
}

static saltus_status bind(saltusi_item* item, const saltus_scene_view* view, saltus_log log) {
  const char* names[2 * NAMES_MOST];
  if (item->subject == SALTUSI_OF_OUTPUT) {
    return find_load(item, view, log);
  }
  if (item->text == NULL) {
    return SALTUS_OK;
  }
  if (item->subject == SALTUSI_OF_EVENTS && item->kind < 0) {
    const saltus_observables* o = view->observables;
    const int count = o != NULL ? o->event_count : 0;
    item->place = count > 0 ? find_text(item->text, o->event_names, count) : -1;
    const int known = count < NAMES_MOST ? count : NAMES_MOST;
    for (int i = 0; i < known; i++) {
      names[i] = o->event_names[i];
    }
    return item->place >= 0 ? SALTUS_OK : unknown(log, "event", item->text, names, known);
  }
  const int contacts = contact_names(view, names);
  item->place = find_text(item->text, names, contacts);
  if (item->place >= 0 || item->subject != SALTUSI_OF_FORCE) {
    return item->place >= 0 ? SALTUS_OK : unknown(log, "contact", item->text, names, contacts);
  }
  const int joints = joint_names(view, names + contacts);
  item->place = find_text(item->text, names + contacts, joints);
  item->joint = true;
  return item->place >= 0 ? SALTUS_OK
                          : unknown(log, "contact or joint", item->text, names, contacts + joints);
}

saltus_status saltusi_measures_bind(saltusi_measures* measures, const saltus_scene_view* view,
                                    saltus_log log) {
  assert(measures != NULL && view != NULL);
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < measures->item_count && status == SALTUS_OK; i++) {
    status = bind(&measures->items[i], view, log);
  }
  return status;
}
