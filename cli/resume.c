/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * resume.c - see resume.h.
 */
#include "resume.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "saltus-snapshot 1\n";
static const char extension[] = ".snapshot";

static bool is_snapshot_name(const char* path) {
  size_t length = strlen(path);
  size_t tail = strlen(extension);
  return length > tail && strcmp(path + length - tail, extension) == 0;
}

int cli_snapshot_check(const char* path) {
  if (path == NULL || is_snapshot_name(path)) {
    return CLI_DONE;
  }
  cli_error("--snapshot is \"%s\", must end in %s", path, extension);
  return CLI_USAGE;
}

/* --- writing --------------------------------------------------------------------------------- */

static void write_options(FILE* file, const char* key, const saltus_field_table* table,
                          const void* options) {
  for (int i = 0; i < table->count; i++) {
    char text[256];
    fprintf(file, "%s: %s\n", key,
            saltus_options_show(&table->fields[i], options, text, sizeof text));
  }
}

static bool write_file(FILE* file, const cli_model* model, const cli_settings* settings, double h,
                       const saltus_sim* sim) {
  size_t bytes = saltus_sim_snapshot_bytes(sim);
  void* state = malloc(bytes);
  if (state == NULL) {
    errno = ENOMEM;
    return false;
  }
  saltus_sim_snapshot_save(sim, state);
  fprintf(file, "%starget: %s\nscheme: %s\n", magic, model->target, settings->scheme->name);
  write_options(file, "option", &settings->scheme->options, settings->options);
  const saltus_control_info* control =
      settings->control != NULL ? saltus_control_find(settings->control) : NULL;
  if (control != NULL) {
    fprintf(file, "control: %s\n", control->name);
    write_options(file, "control-option", &control->options, &settings->control_options);
  }
  fprintf(file, "start: %a\nh: %a\nuntil: %a\nt: %a\n", settings->start, h, settings->until,
          saltus_sim_time(sim));
  fprintf(file, "scene: %zu\n%s\nstate: %zu\n", strlen(model->text), model->text, bytes);
  bool good = fwrite(state, 1, bytes, file) == bytes;
  free(state);
  return good && ferror(file) == 0;
}

int cli_snapshot_write(const char* path, const cli_model* model, const cli_settings* settings,
                       double h, const saltus_sim* sim) {
  if (path == NULL) {
    return CLI_DONE;
  }
  char beside[4096];
  snprintf(beside, sizeof beside, "%.4000s.part", path);
  FILE* file = fopen(beside, "wb");
  if (file == NULL) {
    cli_error("%s: %s", path, strerror(errno));
    return CLI_USAGE;
  }
  bool good = write_file(file, model, settings, h, sim);
  good = fclose(file) == 0 && good;
  if (!good || rename(beside, path) != 0) {
    cli_error("%s: could not be written: %s", path, strerror(errno));
    remove(beside);
    return CLI_FAILED;
  }
  return CLI_DONE;
}

/* --- reading --------------------------------------------------------------------------------- */

/* The whole file with a zero behind it; NULL after a message. */
static char* load(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    cli_error("%s: %s", path, strerror(errno));
    return NULL;
  }
  char* text = NULL;
  size_t room = 0;
  size_t used = 0;
  for (size_t got = 1; got > 0; used += got) {
    if (room - used < 2) {
      room = room > 0 ? 2 * room : 65536;
      char* larger = realloc(text, room);
      if (larger == NULL) {
        break;
      }
      text = larger;
    }
    got = fread(text + used, 1, room - used - 1, file);
  }
  bool bad = ferror(file) != 0 || text == NULL;
  fclose(file);
  if (bad) {
    cli_error("%s: could not be read", path);
    free(text);
    return NULL;
  }
  text[used] = '\0';
  *bytes = used;
  return text;
}

/* What is left of a snapshot file. */
typedef struct reading {
  const char* path;
  char *at, *end;
} reading;

static int refuse(const reading* in, const char* why) {
  cli_error("%s: not a snapshot that can be read: %s", in->path, why);
  return CLI_USAGE;
}

/* The value of the next line when it has this key, ended by a zero; else NULL. */
static char* take_line(reading* in, const char* key) {
  size_t length = strlen(key);
  char* stop = in->at < in->end ? memchr(in->at, '\n', (size_t)(in->end - in->at)) : NULL;
  if (stop == NULL || (size_t)(stop - in->at) < length + 2 || strncmp(in->at, key, length) != 0 ||
      strncmp(in->at + length, ": ", 2) != 0) {
    return NULL;
  }
  char* value = in->at + length + 2;
  *stop = '\0';
  in->at = stop + 1;
  return value;
}

/* A block behind a line with its length; NULL when it is not there. */
static char* take_block(reading* in, const char* key, size_t* bytes) {
  const char* text = take_line(in, key);
  *bytes = text != NULL ? (size_t)strtoull(text, NULL, 10) : 0;
  if (text == NULL || *bytes > (size_t)(in->end - in->at)) {
    return NULL;
  }
  char* block = in->at;
  in->at += *bytes;
  return block;
}

static bool take_number(reading* in, const char* key, double* value) {
  const char* text = take_line(in, key);
  *value = text != NULL ? strtod(text, NULL) : NAN;
  return isfinite(*value);
}

/* Lines `option: name=value` into a struct. */
static int take_options(reading* in, const char* key, const saltus_field_table* table,
                        void* options) {
  for (char* text = take_line(in, key); text != NULL; text = take_line(in, key)) {
    char* equals = strchr(text, '=');
    if (equals == NULL) {
      return refuse(in, "an option is not name=value");
    }
    *equals = '\0';
    if (saltus_options_set(table, options, in->path, text, equals + 1, cli_log()) != SALTUS_OK) {
      return CLI_USAGE;
    }
  }
  return CLI_DONE;
}

static int take_control(reading* in, cli_settings* settings) {
  const char* name = take_line(in, "control");
  if (name == NULL) {
    return CLI_DONE;
  }
  const saltus_control_info* info = saltus_control_find(name);
  if (info == NULL) {
    return refuse(in, "this program does not have its step control");
  }
  settings->control = info->name;
  saltus_options_defaults(&info->options, &settings->control_options);
  int code = take_options(in, "control-option", &info->options, &settings->control_options);
  snprintf(settings->control_text, sizeof settings->control_text, "atol=%g rtol=%g",
           settings->control_options.atol, settings->control_options.rtol);
  return code;
}

/* The lines before the scene. */
static int read_head(reading* in, cli_settings* settings, cli_resumption* r) {
  const char* target = take_line(in, "target");
  const char* scheme = take_line(in, "scheme");
  r->target = target != NULL ? strdup(target) : NULL;
  if (r->target == NULL || scheme == NULL || saltus_scheme_find(scheme) == NULL) {
    return refuse(in, "its head has no target, or a scheme that this program does not have");
  }
  int code = cli_settings_recorded(scheme, "", settings);
  if (code == CLI_DONE) {
    code = take_options(in, "option", &settings->scheme->options, settings->options);
  }
  if (code == CLI_DONE) {
    cli_settings_complete(settings);
    code = take_control(in, settings);
  }
  if (code != CLI_DONE) {
    return code;
  }
  bool good = take_number(in, "start", &settings->start) && take_number(in, "h", &r->h) &&
              take_number(in, "until", &settings->until) && take_number(in, "t", &r->t);
  return good ? CLI_DONE : refuse(in, "its times are missing or not numbers");
}

static int open_snapshot(const cli_args* args, cli_model* model, cli_settings* settings,
                         cli_resumption* r) {
  size_t bytes = 0;
  r->text = load(r->path, &bytes);
  if (r->text == NULL) {
    return CLI_USAGE;
  }
  reading in = {.path = r->path, .at = r->text, .end = r->text + bytes};
  size_t head = strlen(magic);
  if (bytes < head || memcmp(r->text, magic, head) != 0) {
    return refuse(&in, "its first line is not \"saltus-snapshot 1\"");
  }
  in.at += head;
  int code = read_head(&in, settings, r);
  if (code != CLI_DONE) {
    return code;
  }
  size_t length = 0;
  char* scene = take_block(&in, "scene", &length);
  if (scene == NULL || in.at == in.end || *in.at != '\n') {
    return refuse(&in, "it ends before its scene does");
  }
  *in.at++ = '\0';
  const char* state = take_block(&in, "state", &r->size);
  if (state == NULL || in.at != in.end) {
    return refuse(&in, "it ends before its state does");
  }
  r->bytes = malloc(r->size + 1);
  if (r->bytes == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  memcpy(r->bytes, state, r->size);
  r->cut = r->t >= settings->until;
  settings->step = r->h > 0.0 ? r->h : NAN;
  return cli_model_open_text(args, r->target, scene, model);
}

/* The last state of a recording as the start of its model, and its scheme. */
static int take_state(const saltus_recording_data* data, cli_model* model, cli_settings* settings,
                      cli_resumption* r) {
  long long last = data->count - 1;
  const saltus_dims* d = &model->system->dims;
  if (d->nq != data->nq || d->nv != data->nv) {
    cli_error("%s: has %d positions and %d velocities, its scene %d and %d", r->path, data->nq,
              data->nv, d->nq, d->nv);
    return CLI_USAGE;
  }
  r->q0 = malloc((size_t)d->nq * sizeof *r->q0);
  r->v0 = malloc((size_t)d->nv * sizeof *r->v0);
  if (r->q0 == NULL || r->v0 == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  memcpy(r->q0, data->q + last * d->nq, (size_t)d->nq * sizeof *r->q0);
  memcpy(r->v0, data->v + last * d->nv, (size_t)d->nv * sizeof *r->v0);
  model->q0 = r->q0;
  model->v0 = r->v0;
  settings->start = r->t = data->t[last];
  settings->until = model->until;
  settings->step = data->h != NULL && data->h[last] > 0.0 ? data->h[last] : model->step;
  if (settings->scheme->chooses_step) {
    settings->step = NAN;
  } else if (data->error != NULL && data->error[last] > 0.0) {
    cli_error("warning: %s was recorded under step control, which recordings do not name; the run "
              "goes on with fixed steps of %g s. A snapshot keeps it",
              r->path, settings->step);
  }
  return CLI_DONE;
}

static int open_recording(const cli_args* args, cli_model* model, cli_settings* settings,
                          cli_resumption* r) {
  saltus_recording_data* data;
  if (saltus_recording_read(r->path, cli_log(), NULL, &data) != SALTUS_OK) {
    return CLI_USAGE;
  }
  bool good = data->count > 0 && data->q != NULL && data->v != NULL && data->scheme[0] != '\0';
  int code = good ? CLI_DONE : CLI_USAGE;
  r->target = good ? strdup(data->scene[0] != '\0' ? r->path : data->name) : NULL;
  if (!good) {
    cli_error("%s: holds no state that a run could go on from", r->path);
  } else if (r->target == NULL) {
    cli_error("no memory");
    code = CLI_FAILED;
  } else {
    code = cli_model_open_text(args, r->target, data->scene, model);
  }
  if (code == CLI_DONE) {
    code = cli_settings_recorded(data->scheme, data->options, settings);
  }
  if (code == CLI_DONE) {
    code = take_state(data, model, settings, r);
  }
  saltus_recording_data_destroy(data);
  return code;
}

int cli_resumption_open(const cli_args* args, cli_model* model, cli_settings* settings,
                        cli_resumption* r) {
  *r = (cli_resumption){.path = args->positional[0]};
  *settings = (cli_settings){.until = NAN};
  int code = is_snapshot_name(r->path) ? open_snapshot(args, model, settings, r)
                                       : open_recording(args, model, settings, r);
  if (code == CLI_DONE) {
    code = cli_number(args, "--until", -1e300, 1e300, &settings->until);
  }
  if (code == CLI_DONE && !(settings->until > r->t)) {
    cli_error("resume: %s ends at t = %.17g s; give --until with a later time", r->path, r->t);
    return CLI_USAGE;
  }
  return code;
}

void cli_resumption_close(cli_resumption* r) {
  free(r->bytes);
  free(r->text);
  free(r->target);
  free(r->q0);
  free(r->v0);
}

void cli_resumption_print(const cli_resumption* r, const cli_settings* settings) {
  if (r->path == NULL) {
    return;
  }
  printf("Resumed from %s at t = %.10g s", r->path, r->t);
  if (r->bytes == NULL) {
    printf("; the scheme starts anew there, so the bits are not those of an uninterrupted run.\n");
  } else if (r->cut && (settings->control != NULL || settings->scheme->chooses_step)) {
    printf(
        " with what the scheme remembers; the step before it was cut to end there, so the bits are "
        "not those of an uninterrupted run.\n");
  } else {
    printf(" with what the scheme remembers: the bits are those of an uninterrupted run.\n");
  }
}
