/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/reserved.h"
#include "base/sha256.h"
#include "io/writer.h"
#include "saltus/version.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Memory of one batch; a full batch is flushed early. */
enum {
  BATCH_BYTES = 4 << 20,
  BATCH_FRAMES_MIN = 16,
  BATCH_FRAMES_MAX = 65536,
  BATCH_EVENTS_FIRST = 64, /* capacity grows with need, up to */
  BATCH_EVENTS = 8192,
  BATCH_ROWS_FIRST = 256,
  BATCH_ROWS = 16384
};

/* A flush takes at most one part in this many of the time of the run. */
static const double flush_share = 20;

static const saltusi_format* const formats[] = {&saltusi_format_hdf5, &saltusi_format_csv};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

/* The format for a path, or NULL after a message. */
static const saltusi_format* format_for(const char* path, saltus_log log) {
  size_t length = strlen(path);
  for (int i = 0; i < FORMAT_COUNT; i++) {
    size_t extension = strlen(formats[i]->extension);
    if (length > extension && strcasecmp(path + length - extension, formats[i]->extension) == 0) {
      return formats[i];
    }
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR,
              "%s: the name of a recording has to end in .h5 (HDF5) or .csv (text table)", path);
  return NULL;
}

saltus_recording_def saltus_recording_def_default(void) {
  return (saltus_recording_def){.flush_interval = 1.0};
}

static saltus_status check(const saltus_recording_def* def) {
  if (!def->path || !def->system) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "recording: a path and a system are needed");
    return SALTUS_ERR_RANGE;
  }
  if (!(def->flush_interval >= 0)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "recording: flush_interval is %g s, must be >= 0",
                def->flush_interval);
    return SALTUS_ERR_RANGE;
  }
  const saltus_dims* dims = &def->system->dims;
  if (dims->nq < 0 || dims->nv < 0 || dims->nc < 0 || dims->nj < 0) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "recording: the system has sizes nq %d, nv %d, nc %d, nj %d, must be >= 0",
                dims->nq, dims->nv, dims->nc, dims->nj);
    return SALTUS_ERR_RANGE;
  }
  return SALTUS_OK;
}

/* name, or stem and number where there is none; NULL without memory. */
static char* named(saltusi_pool* pool, const char* name, const char* stem, int number) {
  if (name && *name) {
    return saltusi_pool_text(pool, name);
  }
  char digits[16];
  snprintf(digits, sizeof digits, "%d", number);
  return saltusi_pool_join(pool, stem, digits);
}

static saltus_status take_labels(saltus_recording* r, const saltus_system* system) {
  saltus_recording_data* head = &r->head;
  for (int i = 0; i < head->nq; i++) {
    const saltus_label* label = system->q_labels ? &system->q_labels[i] : NULL;
    head->q_labels[i].name = named(&r->pool, label ? label->name : NULL, "q", i + 1);
    head->q_labels[i].unit = saltusi_pool_text(&r->pool, label ? label->unit : NULL);
    if (!head->q_labels[i].name || !head->q_labels[i].unit) {
      return SALTUS_ERR_MEMORY;
    }
  }
  for (int i = 0; i < head->nv; i++) {
    const saltus_label* label = system->v_labels ? &system->v_labels[i] : NULL;
    head->v_labels[i].name = named(&r->pool, label ? label->name : NULL, "v", i + 1);
    head->v_labels[i].unit = saltusi_pool_text(&r->pool, label ? label->unit : NULL);
    if (!head->v_labels[i].name || !head->v_labels[i].unit) {
      return SALTUS_ERR_MEMORY;
    }
  }
  return SALTUS_OK;
}

/* A changing set has names of its laws; each is one line. */
static saltus_status take_laws(saltus_recording* r, const saltus_system* system) {
  saltus_recording_data* head = &r->head;
  for (int i = 0; i < head->law_count; i++) {
    char* name = named(&r->pool, system->laws[i].name, "law", i + 1);
    if (!name) {
      return SALTUS_ERR_MEMORY;
    }
    for (char* c = name; *c; c++) {
      *c = *c == '\n' || *c == '\r' ? ' ' : *c;
    }
    head->law_names[i] = name;
  }
  return SALTUS_OK;
}

static saltus_status take_names(saltus_recording* r, const saltus_recording_def* def) {
  saltus_recording_data* head = &r->head;
  const saltus_system* system = def->system;
  /* in a time-varying set contacts share laws: the name of a law does not identify a contact */
  bool fixed = system->laws && system->law_count == head->nc;
  r->contact_components = saltusi_pool_take(&r->pool, (size_t)head->nc, sizeof(int));
  if (!r->contact_components) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < head->nc; i++) {
    head->contact_names[i] = named(&r->pool, fixed ? system->laws[i].name : NULL, "contact", i + 1);
    int tangents = fixed ? system->laws[i].tangents : 2;
    r->contact_components[i] = tangents < 0 ? 1 : tangents > 2 ? 3 : 1 + tangents;
    if (!head->contact_names[i]) {
      return SALTUS_ERR_MEMORY;
    }
  }
  for (int i = 0; i < head->nj; i++) {
    head->joint_names[i] =
        named(&r->pool, def->joint_names ? def->joint_names[i] : NULL, "joint", i + 1);
    if (!head->joint_names[i]) {
      return SALTUS_ERR_MEMORY;
    }
  }
  return SALTUS_OK;
}

static saltus_status take_observables(saltus_recording* r, const saltus_observables* own) {
  saltus_recording_data* head = &r->head;
  if (own == NULL) {
    return SALTUS_OK;
  }
  for (int i = 0; i < head->output_count; i++) {
    head->output_labels[i].name = saltusi_pool_text(&r->pool, own->output_labels[i].name);
    head->output_labels[i].unit = saltusi_pool_text(&r->pool, own->output_labels[i].unit);
    if (!head->output_labels[i].name || !head->output_labels[i].unit) {
      return SALTUS_ERR_MEMORY;
    }
  }
  for (int i = 0; i < head->event_name_count; i++) {
    head->event_names[i] = saltusi_pool_text(&r->pool, own->event_names[i]);
    if (!head->event_names[i]) {
      return SALTUS_ERR_MEMORY;
    }
  }
  return SALTUS_OK;
}

static saltus_status take_head(saltus_recording* r, const saltus_recording_def* def) {
  saltus_recording_data* head = &r->head;
  head->nq = def->system->dims.nq;
  head->nv = def->system->dims.nv;
  head->changing = (def->system->traits & SALTUS_CHANGING_CONTACTS) != 0;
  head->nc = head->changing ? 0 : def->system->dims.nc;
  head->law_count = head->changing ? def->system->law_count : 0;
  r->contact_guess = def->system->dims.nc;
  head->nj = def->system->dims.nj;
  head->status = "running";
  head->explanation = "";
  head->steps = -1;
  head->cpu_seconds = NAN;
  head->until = def->until != 0.0 ? def->until : NAN;
  r->path = saltusi_pool_text(&r->pool, def->path);
  head->name = saltusi_pool_text(&r->pool, def->name);
  head->scheme = saltusi_pool_text(&r->pool, def->scheme);
  head->options = saltusi_pool_text(&r->pool, def->options);
  head->accuracy = saltusi_pool_text(&r->pool, def->accuracy);
  head->scene = saltusi_pool_text(&r->pool, def->scene);
  char hash[SALTUSI_SHA256_TEXT] = "";
  if (head->scene && head->scene[0]) {
    saltusi_sha256(head->scene, strlen(head->scene), hash);
  }
  head->scene_sha256 = saltusi_pool_text(&r->pool, hash);
  head->version = saltusi_pool_text(&r->pool, def->version ? def->version : saltus_version());
  if (!r->path || !head->name || !head->scheme || !head->options || !head->accuracy ||
      !head->scene || !head->scene_sha256 || !head->version) {
    return SALTUS_ERR_MEMORY;
  }
  const saltus_observables* own = def->observables;
  head->output_count = own ? own->output_count : 0;
  head->event_name_count = own ? own->event_count : 0;
  saltus_status status = saltusi_data_name_workspace(head, &r->pool);
  if (status == SALTUS_OK) {
    status = take_observables(r, own);
  }
  if (status == SALTUS_OK) {
    status = take_labels(r, def->system);
  }
  if (status == SALTUS_OK) {
    status = take_names(r, def);
  }
  if (status == SALTUS_OK) {
    status = take_laws(r, def->system);
  }
  return status;
}

/* Capacity for one more event; existing events are kept. */
static saltus_status grow_events(saltus_recording* r, saltusi_batch* batch) {
  if (batch->events < batch->event_capacity) {
    return SALTUS_OK;
  }
  int room = 2 * batch->event_capacity;
  room = room < BATCH_EVENTS_FIRST ? BATCH_EVENTS_FIRST : room;
  size_t count = (size_t)batch->events;
  saltus_event* event = saltusi_pool_take(&r->pool, (size_t)room, sizeof *event);
  long long* before = saltusi_pool_take(&r->pool, (size_t)room, sizeof *before);
  if (!event || !before) {
    return SALTUS_ERR_MEMORY;
  }
  if (count > 0) {
    memcpy(event, batch->event, count * sizeof *event);
    memcpy(before, batch->frames_before, count * sizeof *before);
  }
  batch->event = event;
  batch->frames_before = before;
  batch->event_capacity = room;
  return SALTUS_OK;
}

saltus_status saltusi_batch_take(saltus_recording* r, saltusi_batch* batch) {
  assert(batch->frames == 0 && batch->events == 0);
  for (int s = 0; s < SALTUSI_SERIES_COUNT; s++) {
    size_t width = saltusi_series_width(&saltusi_series_list[s], &r->head);
    if (width == 0) {
      continue;
    }
    batch->column[s] = saltusi_pool_take(&r->pool, (size_t)r->frame_capacity * width, SALTUSI_ITEM);
    if (!batch->column[s]) {
      return SALTUS_ERR_MEMORY;
    }
  }
  saltus_status status = r->head.changing
                             ? saltusi_rows_workspace(&batch->rows, &r->pool, BATCH_ROWS_FIRST)
                             : SALTUS_OK;
  return status == SALTUS_OK ? grow_events(r, batch) : status;
}

void saltusi_batch_pass(saltusi_batch* batch) {
  assert(batch->frames >= 0 && batch->events >= 0);
  batch->first_frame += batch->frames;
  batch->first_event += batch->events;
  batch->rows.first += (long long)batch->rows.count;
  batch->frames = 0;
  batch->events = 0;
  batch->rows.count = 0;
}

void saltusi_status_text(const saltus_recording_summary* summary, char* text, size_t size) {
  assert(text != NULL && size > 0);
  if (summary->failure) {
    snprintf(text, size, "failed: %s", summary->failure);
  } else {
    snprintf(text, size, "complete");
  }
}

saltus_status saltusi_refuse_foreign(const saltus_recording* r, const char* path) {
  assert(r != NULL && path != NULL);
  saltusi_log(r->log, SALTUS_LEVEL_ERROR,
              "%s: is no recording and is not replaced; give another name, or force it", path);
  return SALTUS_ERR_IO;
}

saltus_status saltusi_refuse_shared(const saltus_recording* r, const char* path) {
  assert(r != NULL && path != NULL);
  saltusi_log(r->log, SALTUS_LEVEL_ERROR,
              "%s: another run is recording to this file; give another name, or wait for its end",
              path);
  return SALTUS_ERR_IO;
}

static void size_batches(saltus_recording* r) {
  size_t row = 0;
  for (int s = 0; s < SALTUSI_SERIES_COUNT; s++) {
    row += SALTUSI_ITEM * saltusi_series_width(&saltusi_series_list[s], &r->head);
  }
  size_t frames = BATCH_BYTES / row;
  r->frame_capacity = frames < BATCH_FRAMES_MIN   ? BATCH_FRAMES_MIN
                      : frames > BATCH_FRAMES_MAX ? BATCH_FRAMES_MAX
                                                  : (int)frames;
}

static saltus_status fill(saltus_recording* r, const saltus_recording_def* def) {
  r->log = def->log;
  r->flush_interval = def->flush_interval;
  r->force = def->force;
  r->t_kept = NAN;
  saltus_status status = take_head(r, def);
  if (status != SALTUS_OK) {
    return status;
  }
  size_batches(r);
  status = saltusi_batch_take(r, &r->fresh);
  if (status != SALTUS_OK) {
    return status;
  }
  r->next_flush = r->next_sync = saltusi_clock_monotonic() + r->flush_interval;
  return r->format->create(r);
}

saltus_status saltus_recording_create(const saltus_recording_def* def, saltus_recording** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_recording_def", def->log);
  status = status == SALTUS_OK ? check(def) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  const saltusi_format* format = format_for(def->path, def->log);
  if (!format) {
    return SALTUS_ERR_NAME;
  }
  saltusi_pool pool = saltusi_pool_over(def->allocator);
  saltus_recording* r = saltusi_pool_take(&pool, 1, sizeof *r);
  status = SALTUS_ERR_MEMORY;
  if (r) {
    r->pool = pool;
    r->format = format;
    status = fill(r, def);
    pool = r->pool;
  }
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "%s: no memory for the recording", def->path);
  }
  if (status != SALTUS_OK) {
    saltusi_pool_free(&pool);
    return status;
  }
  *out = r;
  return SALTUS_OK;
}

static saltus_status flush(saltus_recording* r, const saltus_recording_summary* final) {
  if (r->error != SALTUS_OK) {
    return r->error;
  }
  double begin = saltusi_clock_monotonic();
  const double* t = r->fresh.column[SALTUSI_T];
  double t_last = r->fresh.frames ? t[r->fresh.frames - 1] : r->t_kept;
  r->sync = final || begin >= r->next_sync;
  r->error = r->format->flush(r, final);
  if (r->error == SALTUS_OK) {
    r->t_kept = t_last;
    r->kept = r->fresh.first_frame;
  } else if (r->error == SALTUS_ERR_MEMORY) {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR, "%s: no memory to write", r->path);
  }
  double end = saltusi_clock_monotonic();
  r->next_flush = end + fmax(r->flush_interval, flush_share * (end - begin));
  r->next_sync = r->sync ? r->next_flush : r->next_sync;
  return r->error;
}

/* interval 0: a flush after every frame */
static saltus_status flush_when_due(saltus_recording* r) {
  bool due = r->fresh.frames == r->frame_capacity || r->fresh.events >= BATCH_EVENTS ||
             r->fresh.rows.count >= BATCH_ROWS || r->flush_interval == 0 ||
             saltusi_clock_monotonic() >= r->next_flush;
  return due ? flush(r, NULL) : SALTUS_OK;
}

static void put(const saltus_recording* r, int series, int frame, const void* items) {
  size_t bytes = SALTUSI_ITEM * saltusi_series_width(&saltusi_series_list[series], &r->head);
  unsigned char* to =
      bytes > 0 ? (unsigned char*)r->fresh.column[series] + (size_t)frame * bytes : NULL;
  if (bytes > 0 && items != NULL) {
    memcpy(to, items, bytes);
  } else if (bytes > 0) { /* a frame of the caller without these numbers */
    memset(to, 0, bytes);
  }
}

/* Contacts beyond the count of the frame do not exist: gap NaN, no force. */
static void put_contacts(const saltus_recording* r, int frame, const saltus_frame* f) {
  int nc = r->head.nc;
  double* gap = r->fresh.column[SALTUSI_GAP];
  double* velocity = r->fresh.column[SALTUSI_VELOCITY];
  double* force = r->fresh.column[SALTUSI_FORCE];
  double* impulse = r->fresh.column[SALTUSI_IMPULSE];
  double* friction_work = r->fresh.column[SALTUSI_FRICTION_WORK];
  double* impact_work = r->fresh.column[SALTUSI_IMPACT_WORK];
  for (int i = 0; i < nc; i++) {
    saltus_contact_frame c = {.gap = NAN, .velocity = NAN};
    if (i < f->contact_count) {
      c = f->contacts[i];
    }
    size_t at = (size_t)frame * (size_t)nc + (size_t)i;
    gap[at] = c.gap;
    velocity[at] = c.velocity;
    memcpy(force + 3 * at, c.force, sizeof c.force);
    memcpy(impulse + 3 * at, c.impulse, sizeof c.impulse);
    friction_work[at] = c.friction;
    impact_work[at] = c.impact;
  }
}

/* The contacts of a frame of a changing set are rows of the table. */
static saltus_status put_rows(saltus_recording* r, int frame, const saltus_frame* f) {
  saltusi_row_batch* rows = &r->fresh.rows;
  saltus_status status =
      saltusi_rows_workspace(rows, &r->pool, rows->count + (size_t)f->contact_count);
  if (status != SALTUS_OK) {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR, "%s: no memory for %d contacts of a frame", r->path,
                f->contact_count);
    r->error = status;
    return status;
  }
  const long long start = rows->first + (long long)rows->count;
  put(r, SALTUSI_CONTACT_START, frame, &start);
  saltusi_rows_put(rows, f);
  return SALTUS_OK;
}

static saltus_status on_frame(void* user, const saltus_frame* f) {
  saltus_recording* r = user;
  if (r->closed || r->error != SALTUS_OK) {
    return r->closed ? SALTUS_ERR_IO : r->error;
  }
  if (f->contact_count > r->head.nc && !r->head.changing) {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR,
                "%s: a frame at t = %.9g s has %d contacts, the system announced at most %d",
                r->path, f->t, f->contact_count, r->head.nc);
    r->error = SALTUS_ERR_RANGE;
    return r->error;
  }
  if (f->output_count != r->head.output_count) {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR,
                "%s: a frame at t = %.9g s has %d outputs, the recording was made for %d", r->path,
                f->t, f->output_count, r->head.output_count);
    r->error = SALTUS_ERR_RANGE;
    return r->error;
  }
  int i = r->fresh.frames;
  if (r->head.changing && put_rows(r, i, f) != SALTUS_OK) {
    return r->error;
  }
  put(r, SALTUSI_STEP, i, &f->step);
  put(r, SALTUSI_T, i, &f->t);
  put(r, SALTUSI_Q, i, f->q);
  put(r, SALTUSI_V, i, f->v);
  put(r, SALTUSI_OUTPUTS, i, f->outputs);
  put_contacts(r, i, f);
  put(r, SALTUSI_JOINT_FORCE, i, f->joint_forces);
  put(r, SALTUSI_JOINT_IMPULSE, i, f->joint_impulses);
  put(r, SALTUSI_KINETIC, i, &f->kinetic);
  put(r, SALTUSI_POTENTIAL, i, &f->potential);
  put(r, SALTUSI_ENERGY_EXTERNAL, i, &f->energy.external);
  put(r, SALTUSI_ENERGY_DRIVE, i, &f->energy.drive);
  put(r, SALTUSI_ENERGY_FRICTION, i, &f->energy.friction);
  put(r, SALTUSI_ENERGY_IMPACT, i, &f->energy.impact);
  put(r, SALTUSI_ENERGY_REMAINDER, i, &f->energy.remainder);
  put(r, SALTUSI_ENERGY_CREATED, i, &f->energy.created);
  put(r, SALTUSI_RESIDUAL_VELOCITY, i, &f->residual_velocity);
  put(r, SALTUSI_RESIDUAL_IMPULSE, i, &f->residual_impulse);
  put(r, SALTUSI_PENETRATION, i, &f->penetration);
  put(r, SALTUSI_CONTROL_H, i, &f->h);
  put(r, SALTUSI_CONTROL_ERROR, i, &f->error);
  const double counts[2] = {f->error_order, (double)f->rejections};
  put(r, SALTUSI_CONTROL_ORDER, i, &counts[0]);
  put(r, SALTUSI_CONTROL_REJECTIONS, i, &counts[1]);
  r->fresh.frames++;
  return flush_when_due(r);
}

static saltus_status on_event(void* user, const saltus_event* event) {
  saltus_recording* r = user;
  if (r->closed || r->error != SALTUS_OK) {
    return r->closed ? SALTUS_ERR_IO : r->error;
  }
  if (grow_events(r, &r->fresh) != SALTUS_OK) {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR, "%s: no memory for an event", r->path);
    r->error = SALTUS_ERR_MEMORY;
    return r->error;
  }
  int i = r->fresh.events;
  r->fresh.event[i] = *event;
  r->fresh.frames_before[i] = r->fresh.first_frame + r->fresh.frames;
  r->fresh.events++;
  return flush_when_due(r);
}

long long saltus_recording_kept(const saltus_recording* recording, double* t) {
  assert(recording != NULL);
  if (t) {
    *t = recording->t_kept;
  }
  return recording->kept;
}

double saltus_recording_frame_bytes(const saltus_recording* recording) {
  assert(recording != NULL);
  /* digits, point, sign, exponent and comma of most numbers */
  const double text_bytes = 20;
  double items = 0;
  for (int s = 0; s < SALTUSI_SERIES_COUNT; s++) {
    items += (double)saltusi_series_width(&saltusi_series_list[s], &recording->head);
  }
  if (recording->head.changing) {
    items += (double)recording->contact_guess * saltusi_row_cells();
  }
  return items * (recording->format == &saltusi_format_csv ? text_bytes : (double)SALTUSI_ITEM);
}

bool saltus_recording_doubles(const saltus_recording* recording) {
  assert(recording != NULL);
  return recording->format == &saltusi_format_hdf5;
}

saltus_recorder saltus_recording_recorder(saltus_recording* recording) {
  assert(recording != NULL);
  return (saltus_recorder){.frame = on_frame, .event = on_event, .user = recording};
}

saltus_status saltus_recording_flush(saltus_recording* recording) {
  assert(recording != NULL);
  return recording->closed ? recording->error : flush(recording, NULL);
}

saltus_status saltus_recording_explain(saltus_recording* recording, const char* text) {
  assert(recording != NULL && text != NULL);
  const char* copy = saltusi_pool_text(&recording->pool, text);
  recording->head.explanation = copy != NULL ? copy : "";
  return copy != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

saltus_status saltus_recording_close(saltus_recording* recording,
                                     const saltus_recording_summary* summary) {
  assert(recording != NULL && summary != NULL);
  if (recording->closed) {
    return recording->error;
  }
  recording->closed = true;
  saltus_status status = flush(recording, summary);
  recording->format->release(recording, status == SALTUS_OK ? NULL : saltus_status_text(status));
  return status;
}

void saltus_recording_destroy(saltus_recording* recording) {
  if (!recording) {
    return;
  }
  if (!recording->closed) {
    recording->format->release(recording, NULL);
  }
  saltusi_pool_free(&recording->pool);
}

/* Energies and works of contacts came together: a recording has all of them or none. */
static saltus_status check_generation(const char* path, saltus_log log,
                                      const saltus_recording_data* data, bool hdf5) {
  static const int generation[] = {SALTUSI_FRICTION_WORK,   SALTUSI_IMPACT_WORK,
                                   SALTUSI_ENERGY_EXTERNAL, SALTUSI_ENERGY_FRICTION,
                                   SALTUSI_ENERGY_IMPACT,   SALTUSI_ENERGY_REMAINDER,
                                   SALTUSI_ENERGY_CREATED};
  const saltusi_series *there = NULL, *missing = NULL;
  if (data->energy_drive != NULL) {
    there = &saltusi_series_list[SALTUSI_ENERGY_DRIVE];
  }
  for (size_t i = 0; i < sizeof generation / sizeof generation[0]; i++) {
    const saltusi_series* series = &saltusi_series_list[generation[i]];
    if (saltusi_series_width(series, data) > 0) {
      bool found = saltusi_series_get(series, data) != NULL;
      there = found ? series : there;
      missing = found ? missing : series;
    }
  }
  if (there == NULL || missing == NULL) {
    return SALTUS_OK;
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR,
              "%s: not a Saltus recording that can be read: \"%s\" is missing, \"%s\" is there",
              path, hdf5 ? missing->path : missing->column, hdf5 ? there->path : there->column);
  return SALTUS_ERR_INPUT;
}

saltus_status saltus_recording_read(const char* path, saltus_log log,
                                    const saltus_allocator* allocator,
                                    saltus_recording_data** out) {
  assert(path != NULL && out != NULL);
  *out = NULL;
  const saltusi_format* format = format_for(path, log);
  if (!format) {
    return SALTUS_ERR_NAME;
  }
  struct stat about;
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) { /* opening a pipe would block */
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: cannot be read: it is no regular file", path);
    return SALTUS_ERR_IO;
  }
  saltus_status status = SALTUS_ERR_MEMORY;
  saltusi_data* into = saltusi_data_create(allocator);
  if (into) {
    status = format == &saltusi_format_hdf5 ? saltusi_h5_read(path, log, into)
                                            : saltusi_csv_read(path, log, into);
  }
  if (status == SALTUS_OK) {
    status = check_generation(path, log, &into->data, format == &saltusi_format_hdf5);
  }
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: no memory to read it", path);
  }
  if (status != SALTUS_OK) {
    if (into) {
      saltus_recording_data_destroy(&into->data);
    }
    return status;
  }
  *out = &into->data;
  return SALTUS_OK;
}
