/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * model.c - see model.h.
 */
#include "model.h"

#include "saltus/mechanism.h"
#include "saltus/urdf.h"
#include "system/names.h"

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

/* Every value of an option as an override; "name=value" is cut in a copy. */
int cli_read_pairs(const cli_args* args, const char* option, cli_overrides* room,
                   saltus_override* list, int* count) {
  *count = 0;
  for (int i = 0; i < args->given_count; i++) {
    if (strcmp(args->given[i].option->name, option) != 0) {
      continue;
    }
    char* copy = strdup(args->given[i].value);
    room->copies[room->copied++] = copy;
    char* equals = copy != NULL ? strchr(copy, '=') : NULL;
    if (equals == NULL || equals == copy) {
      cli_error("%s: %s is \"%s\", must be name=value", args->command->name, option,
                args->given[i].value);
      return CLI_USAGE;
    }
    *equals = '\0';
    list[(*count)++] = (saltus_override){.name = copy, .value = equals + 1};
  }
  return CLI_DONE;
}

void cli_overrides_free(cli_overrides* overrides) {
  for (int i = 0; i < overrides->copied; i++) {
    free(overrides->copies[i]);
  }
  overrides->copied = 0;
}

/* The scene with a comment for each --set, so that a recording documents it; NULL: none. */
static char* text_with_overrides(const cli_args* args, const char* text) {
  size_t bytes = strlen(text) + 2;
  for (int i = 0; i < args->given_count; i++) {
    bytes += strlen(args->given[i].value != NULL ? args->given[i].value : "") + 16;
  }
  char* all = cli_has(args, "--set") ? malloc(bytes) : NULL;
  if (all == NULL) {
    return NULL;
  }
  size_t length = strlen(text);
  bool ended = length == 0 || text[length - 1] == '\n'; /* a comment begins on a new line */
  size_t used = (size_t)snprintf(all, bytes, "%s%s", text, ended ? "" : "\n");
  for (int i = 0; i < args->given_count; i++) {
    if (strcmp(args->given[i].option->name, "--set") == 0) {
      used += (size_t)snprintf(all + used, bytes - used, "# --set %s\n", args->given[i].value);
    }
  }
  return all;
}

/* Reports a --set that changes a value of a recorded scene: the results are not those of the
 * recorded run. */
static void report_changes(const cli_args* args, const saltus_scene_def* made,
                           const saltus_scene* scene) {
  const saltus_scene_def def = {.path = made->path, .text = made->text, .recorded = true};
  saltus_scene* recorded = NULL;
  if (made->override_count == 0 || saltus_scene_create(&def, &recorded) != SALTUS_OK) {
    return;
  }
  for (int i = 0; i < made->override_count; i++) {
    const saltus_override* o = &made->overrides[i];
    double was = 0.0, is = 0.0;
    if (saltus_scene_value(recorded, o->name, (saltus_log){0}, &was) == SALTUS_OK &&
        saltus_scene_value(scene, o->name, (saltus_log){0}, &is) == SALTUS_OK && was != is) {
      cli_error("%s: --set %s=%s replaces the recorded value %.9g", args->command->name, o->name,
                o->value, was);
    }
  }
  saltus_scene_destroy(recorded);
}

/* text NULL: that of the file. */
static int open_scene(const cli_args* args, const char* target, const char* text, bool recorded,
                      cli_model* model) {
  cli_overrides room = {.copied = 0};
  saltus_override* overrides = room.options;
  int count;
  int code = cli_read_pairs(args, "--set", &room, overrides, &count);
  if (code == CLI_DONE) {
    const saltus_scene_def def = {.path = target,
                                  .text = text,
                                  .overrides = overrides,
                                  .override_count = count,
                                  .mark = "--set ",
                                  .log = cli_log_of(args),
                                  .separate = cli_has(args, "--separate"),
                                  .recorded = recorded,
                                  .visuals = recorded};
    saltus_status status = saltus_scene_create(&def, &model->scene);
    code = status == SALTUS_ERR_IO ? CLI_USAGE : cli_exit_code(status);
    if (code == CLI_DONE && recorded) {
      report_changes(args, &def, model->scene);
    }
  }
  cli_overrides_free(&room);
  if (code != CLI_DONE) {
    return code;
  }
  const saltus_scene_view* view = saltus_scene_get_view(model->scene);
  model->own_text = text_with_overrides(args, view->text);
  model->name = view->name[0] != '\0' ? view->name : target;
  model->text = model->own_text != NULL ? model->own_text : view->text;
  model->view = *view;
  return CLI_DONE;
}

/* A word that is neither a file nor a problem is reported with similar names. */
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
  const saltus_known_motion_info* info = saltus_known_motion_get_info(model->problem);
  model->name = info->name;
  model->view = saltus_run_system(saltus_known_motion_system(model->problem),
                                  saltus_known_motion_q0(model->problem),
                                  saltus_known_motion_v0(model->problem));
  model->view.until = info->t_end;
  model->view.reference = info->known != SALTUS_KNOWN_NOT ? target : NULL;
  return CLI_DONE;
}

static void start_model(const char* target, cli_model* model) {
  *model = (cli_model){.target = target, .name = target, .text = ""};
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

static bool is_robot(const char* target) {
  const size_t length = strlen(target);
  return (length > 5 && strcmp(target + length - 5, ".urdf") == 0) ||
         (length > 4 && strcmp(target + length - 4, ".xml") == 0);
}

/* A robot in URDF or MJCF: its scene as `saltus convert` writes it. */
static int open_robot(const cli_args* args, const char* target, cli_model* model) {
  const saltus_urdf_def def = {.path = target, .by_joints = true, .log = cli_log_of(args)};
  saltus_urdf* urdf;
  const saltus_status status = saltus_urdf_create(&def, &urdf);
  if (status != SALTUS_OK) {
    return status == SALTUS_ERR_MEMORY ? CLI_FAILED : CLI_USAGE;
  }
  const saltus_urdf_view* view = saltus_urdf_get_view(urdf);
  if (view->note_count > 0) {
    cli_error("%s: %d element%s not translated or chosen by default; saltus convert lists them",
              target, view->note_count, cli_plural(view->note_count));
  }
  const int code = open_scene(args, target, view->scene, false, model);
  saltus_urdf_destroy(urdf);
  return code;
}

int cli_model_open(const cli_args* args, const char* target, cli_model* model) {
  start_model(target, model);
  if (is_robot(target)) {
    return open_robot(args, target, model);
  }
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

/* Numbers of a run; the library checks their range. */
static int read_numbers(const cli_args* args, saltus_run_def* def) {
  double every = NAN;
  double threads = 1.0;
  const struct {
    const char* option;
    double* value;
  } numbers[] = {{"--step", &def->step}, {"--tol", &def->tol},     {"--rtol", &def->rtol},
                 {"--atol", &def->atol}, {"--until", &def->until}, {"--output-dt", &def->record_dt},
                 {"--every", &every},    {"--threads", &threads}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    int code = cli_real(args, numbers[i].option, numbers[i].value);
    if (code != CLI_DONE) {
      return code;
    }
  }
  if (!isnan(every) && !(every >= 1.0 && every <= 1e15 && every == floor(every))) {
    cli_error("%s: --every is %g, must be a whole number from 1 on", args->command->name, every);
    return CLI_USAGE;
  }
  if (!(threads >= 1.0 && threads <= 64.0 && threads == floor(threads))) {
    cli_error("%s: --threads is %g, must be a whole number from 1 to 64", args->command->name,
              threads);
    return CLI_USAGE;
  }
  def->threads = (int)threads;
  def->record_every = isnan(every) ? 0 : (long long)every;
  return CLI_DONE;
}

int cli_run_def(const cli_args* args, const cli_model* model, cli_overrides* overrides,
                saltus_run_def* def) {
  *def = saltus_run_def_default();
  def->scene = &model->view;
  def->scheme = cli_value(args, "--scheme");
  def->control = cli_value(args, "--control");
  def->options = overrides->options;
  def->control_options = overrides->control_options;
  def->mark = "--";
  def->global = cli_has(args, "--global");
  def->log = cli_log_of(args);
  int code = cli_read_pairs(args, "--option", overrides, overrides->options, &def->option_count);
  if (code == CLI_DONE && cli_has(args, "--accept-degraded")) {
    overrides->options[def->option_count++] =
        (saltus_override){.name = "accept_degraded", .value = "yes"};
  }
  if (code == CLI_DONE) {
    code = cli_read_pairs(args, "--control-option", overrides, overrides->control_options,
                          &def->control_option_count);
  }
  return code == CLI_DONE ? read_numbers(args, def) : code;
}

static bool ends_in_csv(const char* name) {
  size_t length = strlen(name);
  return length > 4 && strcmp(name + length - 4, ".csv") == 0;
}

/* A list of names in a message, truncated to its size. */
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

/* A table whose columns do not fit: the existing and the required ones. */
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
    add_word(&want, saltusi_q_name(sys, i, text, sizeof text));
  }
  for (int i = 0; i < sys->dims.nv; i++) {
    add_word(&want, saltusi_v_name(sys, i, text, sizeof text));
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

/* Numbered columns are in order; named ones may be in any order. */
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

/* A reference file is searched in the folder of the scene that names it. */
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
  if (data->nq != model->view.system->dims.nq || data->nv != model->view.system->dims.nv ||
      !order_by_name(model->view.system, reference->data)) {
    return refuse_columns(path, model->view.system);
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

bool cli_law_bonds(const saltus_contact_law* law) {
  const saltus_friction_law* friction = law->friction;
  return friction != NULL && friction->adhesion > 0.0 && !friction->rebinds;
}

bool cli_bonds(const saltus_system* system) {
  bool any = false;
  for (int i = 0; i < system->law_count; i++) {
    any = any || cli_law_bonds(&system->laws[i]);
  }
  return any;
}

void cli_print_contacts(const cli_model* model) {
  const saltus_system* sys = model->view.system;
  const saltus_mechanism* m = model->view.mechanism;
  const int shapes = m != NULL ? saltus_mechanism_sizes(m).shapes : 0;
  if ((sys->traits & SALTUS_CHANGING_CONTACTS) == 0) {
    printf("%d contact%s", sys->dims.nc, cli_plural(sys->dims.nc));
  } else if (shapes > 0) {
    printf("contacts between %d shape%s", shapes, cli_plural(shapes));
  } else {
    printf("a time-varying contact set");
  }
}

int cli_joint_count(const char* const* names, int rows) {
  int count = names == NULL ? rows : 0;
  for (int i = 0; names != NULL && i < rows; i++) {
    count += i == 0 || strcmp(names[i], names[i - 1]) != 0;
  }
  return count;
}

int cli_reference_open(const cli_model* model, const char* name, cli_reference* reference) {
  *reference = (cli_reference){.known = false};
  bool from_scene = name == NULL;
  name = from_scene ? model->view.reference : name;
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
  if (reference->reference.nq != model->view.system->dims.nq ||
      reference->reference.nv != model->view.system->dims.nv) {
    cli_error("reference \"%s\" has %d coordinates, the model %d", name, reference->reference.nq,
              model->view.system->dims.nq);
    return CLI_USAGE;
  }
  reference->known = saltus_known_motion_get_info(reference->problem)->known != SALTUS_KNOWN_NOT;
  return CLI_DONE;
}

void cli_reference_close(cli_reference* reference) {
  saltus_known_motion_destroy(reference->problem);
  saltus_recording_data_destroy(reference->data);
}
