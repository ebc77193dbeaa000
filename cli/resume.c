/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * resume.c - see resume.h.
 */
#include "resume.h"

#include "files.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

int cli_snapshot_write(const char* path, const cli_model* model, const saltus_run* run) {
  if (path == NULL) {
    return CLI_DONE;
  }
  size_t size = saltus_run_snapshot_save(run, model->target, model->text, NULL);
  void* bytes = malloc(size);
  if (bytes == NULL) {
    cli_error("%s: no memory for %zu bytes", path, size);
    return CLI_FAILED;
  }
  saltus_run_snapshot_save(run, model->target, model->text, bytes);
  saltusi_replacement out;
  int code = cli_file_open(&out, path);
  if (code == CLI_DONE) {
    code = cli_file_close(&out, fwrite(bytes, 1, size, out.file) == size);
  }
  free(bytes);
  return code;
}

/* --- reading --------------------------------------------------------------------------------- */

/* The whole file with a zero behind it; NULL after a message. */
static char* load(const char* path, size_t* bytes) {
  struct stat there;
  if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
    cli_error("%s: is no regular file", path);
    return NULL;
  }
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

static int open_snapshot(const cli_args* args, cli_model* model, cli_resumption* r) {
  size_t bytes = 0;
  char* text = load(r->path, &bytes);
  if (text == NULL) {
    return CLI_USAGE;
  }
  saltus_status status =
      saltus_run_snapshot_create(r->path, text, bytes, cli_log(), NULL, &r->snapshot);
  free(text);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  r->t = r->snapshot->t;
  r->cut = r->t >= r->snapshot->until;
  return cli_model_open_text(args, r->snapshot->target, r->snapshot->scene, model);
}

static int refuse_state(const cli_resumption* r, const char* what, const char* why) {
  cli_error("%s: %s is not part of a recording%s; a snapshot keeps it (saltus run "
            "--snapshot)",
            r->path, what, why);
  return CLI_USAGE;
}

/* Whether a contact that lost its initial bond is closed: a restarted scheme would restore the
 * bond. The bond is determined for open contacts and for those closed since the start. */
static bool has_lost_bond(const saltus_recording_data* data, const saltus_system* sys) {
  for (long long i = data->event_count - 1; i >= 0; i--) {
    const saltus_event* e = &data->events[i];
    const bool by_key =
        (sys->traits & SALTUS_CHANGING_CONTACTS) == 0 && sys->law_count == sys->dims.nc;
    const int law = by_key ? e->contact : e->law;
    const bool touches = e->kind == SALTUS_EVENT_IMPACT || e->kind == SALTUS_EVENT_CLOSE ||
                         e->kind == SALTUS_EVENT_TOUCH;
    if (!touches || law < 0 || law >= sys->law_count || !cli_law_bonds(&sys->laws[law])) {
      continue;
    }
    bool opened = false;
    for (long long k = i + 1; k < data->event_count && !opened; k++) {
      const saltus_event* later = &data->events[k];
      opened = later->kind == SALTUS_EVENT_OPEN && later->contact == e->contact &&
               later->identity == e->identity;
    }
    if (!opened) {
      return true;
    }
  }
  return false;
}

/* Inputs that events have set, and bonds: from the events of the recording, if it has all of them. */
static int take_events(const saltus_recording_data* data, const cli_model* model,
                       cli_resumption* r) {
  const saltus_observables* o = model->view.observables;
  const bool switches = o != NULL && o->switching != NULL;
  const bool bonds = cli_bonds(model->view.system);
  if (!switches && !bonds) {
    return CLI_DONE;
  }
  const char* what = switches ? "which inputs its events have set" : "which of its bonds hold";
  if (data->t[0] != model->view.start) {
    return refuse_state(r, what, " that begins after the start of its scene");
  }
  if (data->events == NULL) {
    return refuse_state(r, what, " without events");
  }
  if (bonds && has_lost_bond(data, model->view.system)) {
    return refuse_state(r, "whether a bond holds", "");
  }
  r->past = malloc(((size_t)data->event_count + 1) * sizeof *r->past);
  if (r->past == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  for (long long i = 0; i < data->event_count; i++) {
    if (saltus_event_is_user_defined(data->events[i].kind)) {
      r->past[r->past_count++] = data->events[i];
    }
  }
  return CLI_DONE;
}

/* The last state of a recording. */
static int take_state(const saltus_recording_data* data, const cli_model* model,
                      cli_resumption* r) {
  long long last = data->count - 1;
  const saltus_dims* d = &model->view.system->dims;
  if (d->nq != data->nq || d->nv != data->nv) {
    cli_error("%s: has %d positions and %d velocities, its scene %d and %d", r->path, data->nq,
              data->nv, d->nq, d->nv);
    return CLI_USAGE;
  }
  r->scheme = strdup(data->scheme);
  r->options = strdup(data->options);
  r->q0 = malloc((size_t)d->nq * sizeof *r->q0);
  r->v0 = malloc((size_t)d->nv * sizeof *r->v0);
  if (r->scheme == NULL || r->options == NULL || r->q0 == NULL || r->v0 == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  memcpy(r->q0, data->q + last * d->nq, (size_t)d->nq * sizeof *r->q0);
  memcpy(r->v0, data->v + last * d->nv, (size_t)d->nv * sizeof *r->v0);
  r->t = data->t[last];
  const int code = take_events(data, model, r);
  if (code != CLI_DONE) {
    return code;
  }
  const saltus_scheme_info* scheme = saltus_scheme_find(r->scheme);
  if (scheme == NULL || scheme->chooses_step) {
    return CLI_DONE; /* an unknown scheme is rejected when the run is created */
  }
  r->step = data->h != NULL && data->h[last] > 0.0 ? data->h[last] : model->view.step;
  if (data->error != NULL && data->error[last] > 0.0) {
    cli_error("warning: %s was recorded under step control, which recordings do not contain; the "
              "run continues with fixed steps of %g s. A snapshot keeps it",
              r->path, r->step);
  }
  return CLI_DONE;
}

static int open_recording(const cli_args* args, cli_model* model, cli_resumption* r) {
  saltus_recording_data* data;
  if (saltus_recording_read(r->path, cli_log(), NULL, &data) != SALTUS_OK) {
    return CLI_USAGE;
  }
  bool good = data->count > 0 && data->q != NULL && data->v != NULL && data->scheme[0] != '\0';
  int code = good ? CLI_DONE : CLI_USAGE;
  r->target = good ? strdup(data->scene[0] != '\0' ? r->path : data->name) : NULL;
  if (!good) {
    cli_error("%s: has no state from which a run could continue", r->path);
  } else if (r->target == NULL) {
    cli_error("no memory");
    code = CLI_FAILED;
  } else {
    code = cli_model_open_text(args, r->target, data->scene, model);
  }
  if (code == CLI_DONE) {
    code = take_state(data, model, r);
  }
  saltus_recording_data_destroy(data);
  return code;
}

int cli_resumption_open(const cli_args* args, cli_model* model, cli_resumption* r) {
  *r = (cli_resumption){.path = args->positional[0], .step = NAN};
  const char* out = cli_value(args, "-o");
  if (out != NULL && !cli_has(args, "--force") && cli_same_file(out, r->path)) {
    cli_error("resume: -o names %s itself, which would be lost; give another name, or --force",
              r->path);
    return CLI_USAGE;
  }
  return is_snapshot_name(r->path) ? open_snapshot(args, model, r) : open_recording(args, model, r);
}

int cli_resumption_apply(const cli_resumption* r, saltus_run_def* def) {
  if (r->path == NULL) {
    return CLI_DONE;
  }
  double end = !isnan(def->until)    ? def->until
               : r->snapshot != NULL ? r->snapshot->until
                                     : def->scene->until;
  if (!(end > r->t)) {
    cli_error("resume: %s ends at t = %.17g s; give --until with a later time", r->path, r->t);
    return CLI_USAGE;
  }
  def->resume = r->snapshot;
  if (r->snapshot == NULL) {
    def->scheme = r->scheme;
    def->options_line = r->options;
    def->step = r->step;
    def->start = r->t;
    def->q0 = r->q0;
    def->v0 = r->v0;
    def->past = r->past;
    def->past_count = r->past_count;
  }
  return CLI_DONE;
}

void cli_resumption_close(cli_resumption* r) {
  saltus_run_snapshot_destroy(r->snapshot);
  free(r->target);
  free(r->scheme);
  free(r->options);
  free(r->q0);
  free(r->v0);
  free(r->past);
}

void cli_resumption_print(const cli_resumption* r, const saltus_run_settings* settings) {
  if (r->path == NULL) {
    return;
  }
  printf("Resumed from %s at t = %.10g s", r->path, r->t);
  if (r->snapshot == NULL) {
    printf("; the scheme starts without memory, so results are not bitwise those of an "
           "uninterrupted run.\n");
  } else if (r->cut && (settings->control != NULL || settings->scheme->chooses_step)) {
    printf(" with the memory of the scheme; the last step was shortened to end there, so results "
           "are not bitwise those of an uninterrupted run.\n");
  } else {
    printf(" with the memory of the scheme: bitwise identical to an uninterrupted run.\n");
  }
}
