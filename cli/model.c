/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * model.c - see model.h.
 */
#include "model.h"

#include "explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool looks_like_a_file(const char* target) {
  struct stat about;
  const char* dot = strrchr(target, '.');
  return strchr(target, '/') != NULL || stat(target, &about) == 0 ||
         (dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0));
}

/* Every --set as an override; "name=value" is cut in a copy. */
static int read_overrides(const cli_args* args, saltus_override* overrides, char* copies[],
                          int* count) {
  *count = 0;
  for (int i = 0; i < args->given_count; i++) {
    if (strcmp(args->given[i].option->name, "--set") != 0) {
      continue;
    }
    char* copy = strdup(args->given[i].value);
    char* equals = copy != NULL ? strchr(copy, '=') : NULL;
    copies[*count] = copy;
    if (equals == NULL || equals == copy) {
      cli_error("%s: --set is \"%s\", must be name=value", args->command->name,
                args->given[i].value);
      (*count)++;
      return CLI_USAGE;
    }
    *equals = '\0';
    overrides[*count] = (saltus_override){.name = copy, .value = equals + 1};
    (*count)++;
  }
  return CLI_DONE;
}

/* The scene with a comment for each --set, so that a recording says how it was made; NULL: none. */
static char* text_with_overrides(const cli_args* args, const char* text) {
  size_t bytes = strlen(text) + 1;
  for (int i = 0; i < args->given_count; i++) {
    bytes += strlen(args->given[i].value != NULL ? args->given[i].value : "") + 16;
  }
  char* all = cli_has(args, "--set") ? malloc(bytes) : NULL;
  if (all == NULL) {
    return NULL;
  }
  size_t used = (size_t)snprintf(all, bytes, "%s", text);
  for (int i = 0; i < args->given_count; i++) {
    if (strcmp(args->given[i].option->name, "--set") == 0) {
      used += (size_t)snprintf(all + used, bytes - used, "# --set %s\n", args->given[i].value);
    }
  }
  return all;
}

/* Overrides of a recorded scene: a comment line for each, cut in place. */
static int read_recorded(char* text, saltus_override* overrides, int* count) {
  static const char mark[] = "# --set ";
  for (char* line = text; line != NULL && *line != '\0' && *count < CLI_MOST;) {
    char* end = strchr(line, '\n');
    if (end != NULL) {
      *end++ = '\0';
    }
    if (strncmp(line, mark, strlen(mark)) == 0) {
      char* name = line + strlen(mark);
      char* equals = strchr(name, '=');
      if (equals == NULL) {
        cli_error("the recorded scene has a --set that is not name=value");
        return CLI_USAGE;
      }
      *equals = '\0';
      overrides[(*count)++] = (saltus_override){.name = name, .value = equals + 1};
    }
    line = end;
  }
  return CLI_DONE;
}

/* text NULL: that of the file. */
static int open_scene(const cli_args* args, const char* target, const char* text, bool recorded,
                      cli_model* model) {
  saltus_override overrides[CLI_MOST];
  char* copies[CLI_MOST];
  int count;
  int code = read_overrides(args, overrides, copies, &count);
  int copied = count;
  char* lines = recorded ? strdup(text) : NULL;
  if (code == CLI_DONE && lines != NULL) {
    code = read_recorded(lines, overrides, &count);
  }
  if (code == CLI_DONE) {
    const saltus_scene_def def = {.path = target,
                                  .text = text,
                                  .overrides = overrides,
                                  .override_count = count,
                                  .log = cli_log()};
    saltus_status status = saltus_scene_create(&def, &model->scene);
    code = status == SALTUS_ERR_IO ? CLI_USAGE : cli_exit_code(status);
  }
  for (int i = 0; i < copied; i++) {
    free(copies[i]);
  }
  free(lines);
  if (code != CLI_DONE) {
    return code;
  }
  const saltus_scene_view* view = saltus_scene_look(model->scene);
  model->own_text = text_with_overrides(args, view->text);
  model->name = view->name[0] != '\0' ? view->name : target;
  model->text = model->own_text != NULL ? model->own_text : view->text;
  model->system = view->system;
  model->q0 = view->q0;
  model->v0 = view->v0;
  model->joint_names = view->joint_names;
  model->start = view->start;
  model->until = view->until;
  model->step = view->step;
  model->scheme = view->scheme;
  model->scene_options = view->options;
  model->control = view->control;
  model->control_options = view->control_options;
  model->atol_q = view->atol_q;
  model->atol_v = view->atol_v;
  model->record_every = view->record_every;
  model->record_given = view->record_given;
  model->record_dt = view->record_dt;
  model->observables = view->observables;
  model->reference = view->reference;
  return CLI_DONE;
}

/* A word that is neither a file nor a problem, reported with what may be meant. */
static bool is_problem(const cli_args* args, const char* target) {
  const char* names[CLI_MOST];
  size_t length = strcspn(target, ":");
  int count = 0;
  for (; count < CLI_MOST && saltus_known_motion_at(count) != NULL; count++) {
    names[count] = saltus_known_motion_at(count)->name;
    if (strlen(names[count]) == length && strncmp(names[count], target, length) == 0) {
      return true;
    }
  }
  char word[64]; /* without the size behind the colon */
  snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 0), target);
  char near[128];
  cli_error("%s: no file and no reference problem \"%s\"%s; see saltus list problems",
            args->command->name, target, cli_near(word, names, count, near, sizeof near));
  return false;
}

static int open_problem(const cli_args* args, const char* target, cli_model* model) {
  if (!is_problem(args, target)) {
    return CLI_USAGE;
  }
  if (cli_has(args, "--set")) {
    cli_error("%s: --set changes parameters of a scene file; \"%s\" is a reference problem",
              args->command->name, target);
    return CLI_USAGE;
  }
  saltus_status status = saltus_known_motion_create(target, cli_log(), NULL, &model->problem);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  const saltus_known_motion_info* info = saltus_known_motion_about(model->problem);
  model->name = info->name;
  model->system = saltus_known_motion_system(model->problem);
  model->q0 = saltus_known_motion_q0(model->problem);
  model->v0 = saltus_known_motion_v0(model->problem);
  model->until = info->t_end;
  model->reference = info->known != SALTUS_KNOWN_NOT ? target : NULL;
  return CLI_DONE;
}

static void start_model(const char* target, cli_model* model) {
  *model = (cli_model){
      .target = target, .name = target, .text = "", .until = NAN, .step = NAN, .record_every = 1};
}

/* The whole standard input, or NULL after a message. */
static char* read_input(void) {
  enum { PIECE = 1 << 16, MOST = 64 << 20 };
  size_t used = 0;
  char* text = malloc(PIECE + 1);
  for (size_t got = 1; text != NULL && got > 0 && used < MOST;) {
    got = fread(text + used, 1, PIECE, stdin);
    used += got;
    char* larger = realloc(text, used + PIECE + 1);
    if (larger == NULL) {
      free(text);
    }
    text = larger;
  }
  if (text == NULL || ferror(stdin) != 0 || used >= MOST || memchr(text, '\0', used) != NULL) {
    cli_error("standard input: not a text that can be a scene");
    free(text);
    return NULL;
  }
  text[used] = '\0';
  return text;
}

int cli_model_open(const cli_args* args, const char* target, cli_model* model) {
  start_model(target, model);
  if (strcmp(target, "-") == 0) {
    model->target = model->name = "standard input";
    model->input = read_input();
    return model->input != NULL ? open_scene(args, model->target, model->input, false, model)
                                : CLI_USAGE;
  }
  return looks_like_a_file(target) ? open_scene(args, target, NULL, false, model)
                                   : open_problem(args, target, model);
}

int cli_model_open_text(const cli_args* args, const char* target, const char* text,
                        cli_model* model) {
  start_model(target, model);
  return text[0] != '\0' ? open_scene(args, target, text, true, model)
                         : open_problem(args, target, model);
}

void cli_model_close(cli_model* model) {
  free(model->own_text);
  free(model->input);
  saltus_scene_destroy(model->scene);
  saltus_known_motion_destroy(model->problem);
}

static bool asks_tolerance(const cli_args* args) {
  return cli_has(args, "--tol") || cli_has(args, "--rtol") || cli_has(args, "--atol");
}

/* What the command line names, else a tolerance asks for a scheme that has one, else the scene's; a
 * model that names neither scheme nor step is integrated to a tolerance. */
static const char* choose_scheme(const cli_args* args, const cli_model* model, bool needs_step) {
  const char* name = cli_value(args, "--scheme");
  if (name != NULL) {
    return name;
  }
  const saltus_scheme_info* own = saltus_scheme_find(model->scheme);
  bool controlled = cli_has(args, "--control") || model->control != NULL;
  if (asks_tolerance(args) && !controlled && !cli_has(args, "--step")) {
    return own != NULL && own->chooses_step ? own->name : "adaptive";
  }
  if (model->scheme != NULL) {
    return model->scheme;
  }
  bool stepped = !needs_step || cli_has(args, "--step") || !isnan(model->step);
  return stepped || controlled ? "moreau-jean" : "adaptive";
}

static int find_scheme(const cli_args* args, const cli_model* model, bool needs_step,
                       cli_settings* settings) {
  const char* name = choose_scheme(args, model, needs_step);
  settings->scheme = saltus_scheme_find(name);
  if (settings->scheme != NULL) {
    return CLI_DONE;
  }
  const char* names[CLI_MOST];
  int count = 0;
  for (; count < saltus_scheme_count() && count < CLI_MOST; count++) {
    names[count] = saltus_scheme_at(count)->name;
  }
  char near[128];
  cli_error("%s: no scheme \"%s\"%s; see saltus list schemes", args->command->name, name,
            cli_near(name, names, count, near, sizeof near));
  return CLI_USAGE;
}

/* "name=value" into an options struct. */
static int set_named(const cli_args* args, const char* given, const saltus_field_table* table,
                     void* options, const char* owner) {
  const char* equals = strchr(given, '=');
  if (equals == NULL || equals == given) {
    cli_error("%s: an option is \"%s\", must be name=value", args->command->name, given);
    return CLI_USAGE;
  }
  char name[128];
  snprintf(name, sizeof name, "%.*s", (int)(equals - given), given);
  return cli_exit_code(saltus_options_set(table, options, owner, name, equals + 1, cli_log()));
}

static const saltus_field* find_field(const saltus_field_table* table, const char* name) {
  for (int i = 0; i < table->count; i++) {
    if (strcmp(table->fields[i].name, name) == 0) {
      return &table->fields[i];
    }
  }
  return NULL;
}

static double real_option(const cli_settings* settings, const char* name) {
  const saltus_field* field = find_field(&settings->scheme->options, name);
  double value = NAN;
  if (field != NULL) {
    memcpy(&value, (const char*)settings->options + field->offset, sizeof value);
  }
  return value;
}

/* --tol X sets rtol and atol of a scheme that chooses its steps, --rtol and --atol one of them. */
static int read_tolerances(const cli_args* args, cli_settings* settings) {
  static const char* const pairs[][2] = {
      {"--tol", "rtol"}, {"--tol", "atol"}, {"--rtol", "rtol"}, {"--atol", "atol"}};
  const saltus_scheme_info* scheme = settings->scheme;
  bool has = scheme->chooses_step && find_field(&scheme->options, "rtol") != NULL;
  if (!has) {
    const char* given = cli_has(args, "--rtol")   ? "--rtol"
                        : cli_has(args, "--atol") ? "--atol"
                                                  : NULL;
    if (given != NULL) {
      cli_error("%s: %s is a tolerance of schemes that choose their steps; scheme %s does not. "
                "Leave --scheme out or take adaptive",
                args->command->name, given, scheme->name);
      return CLI_USAGE;
    }
    return CLI_DONE;
  }
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    double value;
    const char* text = cli_value(args, pairs[i][0]);
    const saltus_field* field = find_field(&scheme->options, pairs[i][1]);
    int code = cli_number(args, pairs[i][0], field->lo, field->hi, &value);
    if (code != CLI_DONE) {
      return code;
    }
    if (text != NULL && saltus_options_set(&scheme->options, settings->options, scheme->name,
                                           pairs[i][1], text, cli_log()) != SALTUS_OK) {
      return CLI_USAGE;
    }
  }
  return CLI_DONE;
}

void cli_settings_complete(cli_settings* settings) {
  const saltus_field_table* table = &settings->scheme->options;
  settings->rtol = settings->atol = settings->atol_velocity = NAN;
  if (settings->scheme->chooses_step && find_field(table, "rtol") != NULL) {
    settings->rtol = real_option(settings, "rtol");
    settings->atol = real_option(settings, "atol");
    double velocity = real_option(settings, "atol_velocity");
    settings->atol_velocity = velocity > 0.0 ? velocity : settings->atol;
  }
  size_t used = 0;
  for (int i = 0; i < table->count && used < sizeof settings->options_text; i++) {
    char text[128];
    saltus_options_show(&table->fields[i], settings->options, text, sizeof text);
    int added = snprintf(settings->options_text + used, sizeof settings->options_text - used,
                         "%s%s", i > 0 ? " " : "", text);
    used += added > 0 ? (size_t)added : 0;
  }
}

int cli_settings_recorded(const char* scheme, const char* options, cli_settings* settings) {
  settings->scheme = saltus_scheme_find(scheme);
  if (settings->scheme == NULL) {
    cli_error("this program has no scheme \"%s\"", scheme);
    return CLI_USAGE;
  }
  const saltus_field_table* table = &settings->scheme->options;
  settings->own = true; /* what the scene says about states to keep is meant for it */
  settings->options = calloc(1, table->size + 1);
  if (settings->options == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  saltus_options_defaults(table, settings->options);
  for (const char* at = options; *at != '\0'; at += strspn(at, " ")) {
    char word[256];
    size_t length = strcspn(at, " ");
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    at += length;
    char* equals = strchr(word, '=');
    if (equals == NULL) {
      cli_error("the recorded options of scheme %s end in \"%s\"", scheme, word);
      return CLI_USAGE;
    }
    *equals = '\0';
    if (saltus_options_set(table, settings->options, scheme, word, equals + 1, cli_log()) !=
        SALTUS_OK) {
      return CLI_USAGE;
    }
  }
  cli_settings_complete(settings);
  return CLI_DONE;
}

static int read_options(const cli_args* args, const cli_model* model, cli_settings* settings) {
  const saltus_field_table* table = &settings->scheme->options;
  settings->options = calloc(1, table->size + 1);
  if (settings->options == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  if (settings->own) {
    memcpy(settings->options, model->scene_options, table->size);
  } else {
    saltus_options_defaults(table, settings->options);
  }
  for (int i = 0; i < args->given_count; i++) {
    if (strcmp(args->given[i].option->name, "--option") == 0) {
      int code =
          set_named(args, args->given[i].value, table, settings->options, settings->scheme->name);
      if (code != CLI_DONE) {
        return code;
      }
    }
  }
  int code = read_tolerances(args, settings);
  if (code == CLI_DONE) {
    cli_settings_complete(settings);
  }
  return code;
}

/* --control NAME, --tol X, --control-option NAME=VALUE; --tol alone takes the recommended one. */
static int read_control(const cli_args* args, const cli_model* model, cli_settings* settings) {
  const char* name = cli_value(args, "--control");
  const saltus_scheme_info* scheme = settings->scheme;
  if (name == NULL && scheme->chooses_step) {
    return CLI_DONE;
  }
  if (name == NULL && cli_has(args, "--tol") &&
      (scheme->treats & SALTUS_TREATS_VARIABLE_STEPS) == 0) {
    cli_error("%s: scheme %s has no tolerance, it needs a constant step; give --step H, or --tol "
              "without --scheme",
              args->command->name, scheme->name);
    return CLI_USAGE;
  }
  bool from_scene = name == NULL && model->control != NULL && !cli_has(args, "--step");
  if (from_scene) {
    name = model->control;
  } else if (name == NULL && cli_has(args, "--tol")) {
    name = scheme->embedded_order > 0 ? "embedded" : "variable-order";
  }
  if (name == NULL) {
    return CLI_DONE;
  }
  const saltus_control_info* info = saltus_control_find(name);
  if (info == NULL) {
    cli_error("%s: no step control \"%s\"; see saltus list controls", args->command->name, name);
    return CLI_USAGE;
  }
  settings->control = info->name;
  saltus_control_options* options = &settings->control_options;
  saltus_options_defaults(&info->options, options);
  if (from_scene) {
    memcpy(options, model->control_options, sizeof *options);
  }
  double tol = options->atol;
  int code = cli_number(args, "--tol", 1e-15, 1.0, &tol);
  if (cli_has(args, "--tol")) {
    options->atol = tol;
    options->rtol = tol;
  }
  for (int i = 0; i < args->given_count && code == CLI_DONE; i++) {
    if (strcmp(args->given[i].option->name, "--control-option") == 0) {
      code = set_named(args, args->given[i].value, &info->options, options, info->name);
    }
  }
  snprintf(settings->control_text, sizeof settings->control_text, "atol=%g rtol=%g", options->atol,
           options->rtol);
  return code;
}

int cli_settings_read(const cli_args* args, const cli_model* model, bool needs_step,
                      cli_settings* settings) {
  *settings = (cli_settings){.start = model->start, .until = model->until, .step = model->step};
  int code = find_scheme(args, model, needs_step, settings);
  settings->own = code == CLI_DONE && model->scheme != NULL &&
                  strcmp(model->scheme, settings->scheme->name) == 0;
  if (code == CLI_DONE && settings->scheme->chooses_step && !settings->own) {
    settings->step = NAN; /* the step of another scheme is not the longest one of this */
  }
  if (code == CLI_DONE) {
    code = read_options(args, model, settings);
  }
  if (code == CLI_DONE) {
    code = cli_number(args, "--until", -1e300, 1e300, &settings->until);
  }
  if (code == CLI_DONE && needs_step) {
    code = cli_number(args, "--step", 1e-300, 1e300, &settings->step);
  }
  if (code == CLI_DONE) {
    code = read_control(args, model, settings);
  }
  if (code != CLI_DONE) {
    return code;
  }
  if (isnan(settings->until)) {
    cli_error("%s: no end; give --until T or simulate: {until: T} in the scene",
              args->command->name);
    return CLI_USAGE;
  }
  if (!(settings->until > settings->start)) {
    cli_error("%s: the end %g s is not after the start %g s", args->command->name, settings->until,
              settings->start);
    return CLI_USAGE;
  }
  bool chosen = settings->scheme->chooses_step;
  if (needs_step && isnan(settings->step) && settings->control == NULL && !chosen) {
    cli_error("%s: no step; give --step H, --tol X or simulate: {step: H} in the scene",
              args->command->name);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

void cli_settings_free(cli_settings* settings) {
  free(settings->options);
}

static bool ends_in_csv(const char* name) {
  size_t length = strlen(name);
  return length > 4 && strcmp(name + length - 4, ".csv") == 0;
}

/* A list of names in a message, cut where there is no room. */
typedef struct words {
  char text[512];
  size_t used;
} words;

static void add_word(words* w, const char* name) {
  if (w->used < sizeof w->text) {
    int added = snprintf(w->text + w->used, sizeof w->text - w->used, "%s%s",
                         w->used > 0 ? ", " : "", name);
    w->used += added > 0 ? (size_t)added : 0;
  }
}

/* A table whose columns do not fit: which it has and which are wanted. */
static int refuse_columns(const char* path, const saltus_system* sys) {
  words have = {.used = 0};
  words want = {.used = 0};
  saltus_table* table;
  char text[32];
  if (saltus_table_read(path, (saltus_log){0}, NULL, &table) == SALTUS_OK) {
    for (int i = 0; i < table->columns; i++) {
      add_word(&have, table->labels[i].name);
    }
    saltus_table_destroy(table);
  }
  add_word(&want, "t");
  for (int i = 0; i < sys->dims.nq; i++) {
    add_word(&want, cli_q_name(sys, i, text, sizeof text));
  }
  for (int i = 0; i < sys->dims.nv; i++) {
    add_word(&want, cli_v_name(sys, i, text, sizeof text));
  }
  cli_error("%s: has the columns %s; a reference of this model has %s (x_dot is read like x'; or "
            "q1, q2, ..., v1, v2, ...)",
            path, have.text, want.text);
  return CLI_USAGE;
}

/* Whether a column is the one of the model: x, and for velocities x' or x_dot. */
static bool same_name(const char* column, const char* wanted) {
  size_t length = strlen(wanted);
  bool prime = length > 1 && wanted[length - 1] == '\'';
  return strcmp(column, wanted) == 0 || (prime && strncmp(column, wanted, length - 1) == 0 &&
                                         strcmp(column + length - 1, "_dot") == 0);
}

/* Columns in the order of the model's labels; false when one of them has no column. */
static bool sort_columns(double* x, long long count, int n, saltus_label* have,
                         const saltus_label* want) {
  for (int i = 0; i < n; i++) {
    int from = i;
    while (from < n && !same_name(have[from].name, want[i].name)) {
      from++;
    }
    if (from == n) {
      return false;
    }
    saltus_label label = have[i];
    have[i] = have[from];
    have[from] = label;
    for (long long k = 0; from != i && k < count; k++) {
      double value = x[k * n + i];
      x[k * n + i] = x[k * n + from];
      x[k * n + from] = value;
    }
  }
  return true;
}

/* Numbered columns are in order; named ones may stand in any. */
static bool order_by_name(const saltus_system* sys, saltus_recording_data* data) {
  const saltus_label* q = data->q_labels;
  bool numbered = data->nq > 0 && strcmp(q[0].name, "q1") == 0 &&
                  (data->nv == 0 || strcmp(data->v_labels[0].name, "v1") == 0);
  if (numbered || sys->q_labels == NULL || sys->v_labels == NULL) {
    return true;
  }
  return sort_columns(data->q, data->count, data->nq, data->q_labels, sys->q_labels) &&
         sort_columns(data->v, data->count, data->nv, data->v_labels, sys->v_labels);
}

/* A reference file is looked for beside the scene that names it. */
static int open_table(const cli_model* model, const char* name, bool from_scene,
                      cli_reference* reference) {
  char path[4096];
  const char* slash = strrchr(model->target, '/');
  int folder = from_scene && slash != NULL && name[0] != '/' ? (int)(slash - model->target) + 1 : 0;
  snprintf(path, sizeof path, "%.*s%s", folder, model->target, name);
  saltus_status status = saltus_recording_read(path, cli_log(), NULL, &reference->data);
  if (status != SALTUS_OK) {
    return CLI_USAGE;
  }
  const saltus_recording_data* data = reference->data;
  if (data->nq != model->system->dims.nq || data->nv != model->system->dims.nv ||
      !order_by_name(model->system, reference->data)) {
    return refuse_columns(path, model->system);
  }
  if (data->count < 2) {
    cli_error("%s: has %lld instant%s, must have two at least", path, data->count,
              cli_plural(data->count));
    return CLI_USAGE;
  }
  reference->stored = (saltusi_stored_motion){
      .motion = {.count = (int)data->count, .t = data->t, .q = data->q, .v = data->v},
      .nq = data->nq,
      .nv = data->nv};
  reference->reference = saltusi_reference_motion(&reference->stored);
  reference->known = true;
  return CLI_DONE;
}

int cli_reference_open(const cli_model* model, const char* name, cli_reference* reference) {
  *reference = (cli_reference){.known = false};
  bool from_scene = name == NULL;
  name = from_scene ? model->reference : name;
  if (name == NULL) {
    return CLI_DONE;
  }
  if (ends_in_csv(name)) {
    return open_table(model, name, from_scene, reference);
  }
  saltus_status status = saltus_known_motion_create(name, cli_log(), NULL, &reference->problem);
  if (status != SALTUS_OK) {
    return CLI_USAGE;
  }
  reference->reference = saltusi_reference_problem(reference->problem);
  if (reference->reference.nq != model->system->dims.nq ||
      reference->reference.nv != model->system->dims.nv) {
    cli_error("reference \"%s\" has %d coordinates, the model %d", name, reference->reference.nq,
              model->system->dims.nq);
    return CLI_USAGE;
  }
  reference->known = saltus_known_motion_about(reference->problem)->known != SALTUS_KNOWN_NOT;
  return CLI_DONE;
}

void cli_reference_close(cli_reference* reference) {
  saltus_known_motion_destroy(reference->problem);
  saltus_recording_data_destroy(reference->data);
}
