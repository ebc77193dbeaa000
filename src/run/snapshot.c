/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * snapshot.c - snapshots of runs. Lines `key: value`, then the text of the scene and the bytes of
 * saltus_sim_snapshot_save, each after a line with its length:
 *
 *   saltus-snapshot 2
 *   sha256: 9f86d0...                  of all bytes behind this line
 *   target: scenes/ball.yaml
 *   scheme: moreau-jean
 *   option: theta=0.5                  one line each
 *   control: variable-order            with lines control-option: ..., under step control
 *   start, h, until, t: 0x1.4p+2       hexadecimal numbers, exact
 *   scene: 312
 *   ...
 *   state: 1288
 *   ...
 */
#include "base/log.h"
#include "base/number.h"
#include "base/sha256.h"
#include "run/run_state.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "saltus-snapshot 2\n";

/* Placeholder of the check sum. */
static const char no_sum[SALTUSI_SHA256_TEXT] =
    "0000000000000000000000000000000000000000000000000000000000000000";

/* ---- writing ------------------------------------------------------------------------------- */

/* Appends bytes; only counts without a buffer. */
typedef struct snapshot_writer {
  char* to; /* NULL: counts */
  size_t used;
} snapshot_writer;

static void put(snapshot_writer* w, const void* bytes, size_t count) {
  if (w->to != NULL) {
    memcpy(w->to + w->used, bytes, count);
  }
  w->used += count;
}

static void put_text(snapshot_writer* w, const char* text) {
  put(w, text, strlen(text));
}

static void put_line(snapshot_writer* w, const char* key, const char* value) {
  put_text(w, key);
  put_text(w, ": ");
  put_text(w, value);
  put_text(w, "\n");
}

static void put_number(snapshot_writer* w, const char* key, double value) {
  char text[64];
  saltusi_print(text, sizeof text, "%a", value);
  put_line(w, key, text);
}

static void put_length(snapshot_writer* w, const char* key, size_t length) {
  char text[32];
  snprintf(text, sizeof text, "%zu", length);
  put_line(w, key, text);
}

static void put_options(snapshot_writer* w, const char* key, const saltus_field_table* table,
                        const void* options) {
  for (int i = 0; i < table->count; i++) {
    char text[256];
    put_line(w, key, saltus_options_show(&table->fields[i], options, text, sizeof text));
  }
}

size_t saltus_run_snapshot_save(const saltus_run* run, const char* target, const char* scene,
                                void* bytes) {
  assert(run->sim != NULL && target != NULL && scene != NULL);
  const saltus_run_settings* s = &run->settings;
  snapshot_writer w = {.to = bytes};
  put_text(&w, magic);
  put_line(&w, "sha256", no_sum);
  const size_t summed = w.used;
  put_line(&w, "target", target);
  put_line(&w, "scheme", s->scheme->name);
  put_options(&w, "option", &s->scheme->options, s->options);
  if (s->control != NULL) {
    put_line(&w, "control", s->control);
    put_options(&w, "control-option", &saltus_control_find(s->control)->options,
                &s->control_options);
  }
  put_number(&w, "start", s->start);
  put_number(&w, "h", s->h);
  put_number(&w, "until", s->until);
  put_number(&w, "t", saltus_sim_time(run->sim));
  put_length(&w, "scene", strlen(scene));
  put_text(&w, scene);
  put_text(&w, "\n");
  size_t state = saltus_sim_snapshot_bytes(run->sim);
  put_length(&w, "state", state);
  if (bytes != NULL) {
    saltus_sim_snapshot_save(run->sim, w.to + w.used);
    char sum[SALTUSI_SHA256_TEXT];
    saltusi_sha256(w.to + summed, w.used + state - summed, sum);
    memcpy(w.to + summed - SALTUSI_SHA256_TEXT, sum, SALTUSI_SHA256_TEXT - 1);
  }
  return w.used + state;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* A snapshot with its memory. */
typedef struct kept {
  saltus_run_snapshot snapshot; /* first: the handle */
  saltusi_pool pool;
} kept;

/* The unread bytes, a copy with zero-terminated lines. */
typedef struct snapshot_reading {
  const char* path;
  char *at, *end;
  saltusi_pool* pool;
  saltus_log log;
} snapshot_reading;

static saltus_status refuse(const snapshot_reading* in, const char* why) {
  saltusi_log(in->log, SALTUS_LEVEL_ERROR, "%s: not a snapshot that can be read: %s", in->path,
              why);
  return SALTUS_ERR_INPUT;
}

/* The value of the next line when it has this key; else NULL. */
static char* take_line(snapshot_reading* in, const char* key) {
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

/* A block after a line with its length; NULL: missing. */
static char* take_block(snapshot_reading* in, const char* key, size_t* bytes) {
  const char* text = take_line(in, key);
  bool digits = text != NULL && *text != '\0' && strspn(text, "0123456789") == strlen(text);
  *bytes = digits ? (size_t)strtoull(text, NULL, 10) : 0;
  if (!digits || *bytes > (size_t)(in->end - in->at)) {
    return NULL;
  }
  char* block = in->at;
  in->at += *bytes;
  return block;
}

static bool take_number(snapshot_reading* in, const char* key, double* value) {
  const char* text = take_line(in, key);
  char* rest = NULL;
  *value = text != NULL ? saltusi_number_read(text, &rest) : NAN;
  return isfinite(*value) && *rest == '\0';
}

/* Reads lines `option: name=value` into a list; values are checked when a run is created. */
static saltus_status take_options(snapshot_reading* in, const char* key,
                                  const saltus_field_table* table, const saltus_override** list,
                                  int* count) {
  saltus_override* options = SALTUSI_TAKE(in->pool, saltus_override, table->count);
  if (options == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  *list = options;
  for (char* text = take_line(in, key); text != NULL; text = take_line(in, key)) {
    char* equals = strchr(text, '=');
    if (equals == NULL || *count == table->count) {
      return refuse(in, "an option is not name=value, or one too many");
    }
    *equals = '\0';
    options[(*count)++] = (saltus_override){.name = text, .value = equals + 1};
  }
  return SALTUS_OK;
}

/* The lines before the scene. */
static saltus_status read_head(snapshot_reading* in, saltus_run_snapshot* s) {
  s->target = take_line(in, "target");
  s->scheme = take_line(in, "scheme");
  const saltus_scheme_info* scheme = saltus_scheme_find(s->scheme);
  if (s->target == NULL || scheme == NULL) {
    return refuse(in, "its head has no target, or a scheme that this program does not have");
  }
  saltus_status status =
      take_options(in, "option", &scheme->options, &s->options, &s->option_count);
  s->control = status == SALTUS_OK ? take_line(in, "control") : NULL;
  if (s->control != NULL) {
    const saltus_control_info* control = saltus_control_find(s->control);
    if (control == NULL) {
      return refuse(in, "this program does not have its step control");
    }
    status = take_options(in, "control-option", &control->options, &s->control_options,
                          &s->control_option_count);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  bool good = take_number(in, "start", &s->start) && take_number(in, "h", &s->h) &&
              take_number(in, "until", &s->until) && take_number(in, "t", &s->t);
  good = good && s->h >= 0.0 && s->t >= s->start && s->until >= s->start;
  return good ? SALTUS_OK : refuse(in, "its times are missing, not numbers, or in no order");
}

static saltus_status read_all(snapshot_reading* in, saltus_run_snapshot* s) {
  size_t head = strlen(magic);
  if ((size_t)(in->end - in->at) < head || memcmp(in->at, magic, head) != 0) {
    return refuse(in, "its first line is not \"saltus-snapshot 2\"");
  }
  in->at += head;
  const char* stored = take_line(in, "sha256");
  char sum[SALTUSI_SHA256_TEXT];
  saltusi_sha256(in->at, (size_t)(in->end - in->at), sum);
  if (stored == NULL || strcmp(stored, sum) != 0) {
    return refuse(in, "its bytes were changed: they do not have the check sum of its second line");
  }
  saltus_status status = read_head(in, s);
  if (status != SALTUS_OK) {
    return status;
  }
  size_t length = 0;
  s->scene = take_block(in, "scene", &length);
  if (s->scene == NULL || in->at == in->end || *in->at != '\n') {
    return refuse(in, "it ends before its scene does");
  }
  if (memchr(s->scene, '\0', length) != NULL) {
    return refuse(in, "its scene holds a zero byte");
  }
  *in->at++ = '\0';
  s->state = take_block(in, "state", &s->state_bytes);
  if (s->state == NULL || in->at != in->end) {
    return refuse(in, "it ends before its state does");
  }
  return SALTUS_OK;
}

saltus_status saltus_run_snapshot_create(const char* path, const void* bytes, size_t size,
                                         saltus_log log, const saltus_allocator* allocator,
                                         saltus_run_snapshot** out) {
  assert(path != NULL && bytes != NULL);
  *out = NULL;
  saltusi_pool pool = saltusi_pool_over(allocator);
  kept* k = SALTUSI_TAKE(&pool, kept, 1);
  char* copy = k != NULL ? SALTUSI_TAKE(&pool, char, size + 1) : NULL;
  saltus_status status = copy != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  if (status == SALTUS_OK) {
    memcpy(copy, bytes, size);
    snapshot_reading in = {.path = path, .at = copy, .end = copy + size, .pool = &pool, .log = log};
    status = read_all(&in, &k->snapshot);
  }
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: no memory for %zu bytes", path, size);
  }
  if (status != SALTUS_OK) {
    saltusi_pool_free(&pool);
    return status;
  }
  k->pool = pool;
  *out = &k->snapshot;
  return SALTUS_OK;
}

void saltus_run_snapshot_destroy(saltus_run_snapshot* snapshot) {
  if (snapshot != NULL) {
    saltusi_pool pool = ((kept*)snapshot)->pool;
    saltusi_pool_free(&pool);
  }
}
