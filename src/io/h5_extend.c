/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Appending to an HDF5 recording. Chunks are allocated in the order in which their first frame or event arrived, so
 * that the file does not depend on the times of flushes.
 */
#include "io/h5.h"

#include <assert.h>
#include <string.h>

typedef struct open_file {
  const saltus_recording* recording;
  hid_t file;
  hid_t series[SALTUSI_SERIES_COUNT]; /* negative for width zero */
  hid_t rows[SALTUSI_ROW_COLUMNS];    /* negative for a fixed set of contacts */
  hid_t events;
  hid_t event_type;
} open_file;

static bool open_series(open_file* o) {
  for (int s = 0; s < SALTUSI_SERIES_COUNT; s++) {
    o->series[s] = -1;
  }
  for (int c = 0; c < SALTUSI_ROW_COLUMNS; c++) {
    o->rows[c] = -1;
  }
  bool changing = o->recording->head.changing;
  o->event_type = saltusi_h5_event_type(false, SALTUSI_EVENT_FIELDS, changing);
  o->events = H5Dopen2(o->file, "/events", H5P_DEFAULT);
  bool good = o->event_type >= 0 && o->events >= 0;
  for (int s = 0; good && s < SALTUSI_SERIES_COUNT; s++) {
    if (saltusi_series_width(&saltusi_series_list[s], &o->recording->head) > 0) {
      o->series[s] = H5Dopen2(o->file, saltusi_series_list[s].path, H5P_DEFAULT);
      good = o->series[s] >= 0;
    }
  }
  return good && (!changing || saltusi_h5_rows_open(o->file, o->rows));
}

static bool close_series(open_file* o) {
  bool good = true;
  for (int s = 0; s < SALTUSI_SERIES_COUNT; s++) {
    if (o->series[s] >= 0) {
      good = H5Dclose(o->series[s]) >= 0 && good;
    }
  }
  for (int c = 0; c < SALTUSI_ROW_COLUMNS; c++) {
    if (o->rows[c] >= 0) {
      good = H5Dclose(o->rows[c]) >= 0 && good;
    }
  }
  if (o->events >= 0) {
    good = H5Dclose(o->events) >= 0 && good;
  }
  if (o->event_type >= 0) {
    H5Tclose(o->event_type);
  }
  return good;
}

bool saltusi_h5_items_write(const saltusi_h5_items* w) {
  assert(w != NULL);
  hsize_t start[3] = {w->first}, extent[3] = {w->first + w->size[0], w->size[1], w->size[2]};
  if (H5Dset_extent(w->dataset, extent) < 0) {
    return false;
  }
  hid_t target = H5Dget_space(w->dataset);
  hid_t source = H5Screate_simple(w->rank, w->size, NULL);
  bool good = target >= 0 && source >= 0 &&
              H5Sselect_hyperslab(target, H5S_SELECT_SET, start, NULL, w->size, NULL) >= 0 &&
              H5Dwrite(w->dataset, w->type, source, target, H5P_DEFAULT, w->items) >= 0;
  if (source >= 0) {
    H5Sclose(source);
  }
  if (target >= 0) {
    H5Sclose(target);
  }
  return good;
}

/* First row of a frame in the batch; for the frame after the last, the number of rows. */
static size_t row_of(const saltusi_batch* batch, int frame) {
  const long long* start = batch->column[SALTUSI_CONTACT_START];
  return frame < batch->frames ? (size_t)(start[frame] - batch->rows.first) : batch->rows.count;
}

/* Frames [from, from + count) of the batch, and their contacts. */
static bool write_frames(const open_file* o, const saltusi_batch* batch, int from, int count) {
  for (int s = 0; s < SALTUSI_SERIES_COUNT; s++) {
    const saltusi_series* series = &saltusi_series_list[s];
    if (o->series[s] < 0) {
      continue;
    }
    size_t row = SALTUSI_ITEM * saltusi_series_width(series, &o->recording->head);
    const saltusi_h5_items w = {
        .dataset = o->series[s],
        .type = series->integer ? H5T_NATIVE_LLONG : H5T_NATIVE_DOUBLE,
        .rank = saltusi_series_rank(series),
        .size = {(hsize_t)count, (hsize_t)saltusi_series_columns(series, &o->recording->head),
                 (hsize_t)series->components},
        .first = (hsize_t)(batch->first_frame + from),
        .items = (const unsigned char*)batch->column[s] + (size_t)from * row};
    if (!saltusi_h5_items_write(&w)) {
      return false;
    }
  }
  if (!o->recording->head.changing) {
    return true;
  }
  return saltusi_h5_rows_write(o->rows, &batch->rows, row_of(batch, from),
                               row_of(batch, from + count));
}

/* Events [from, to) of the batch, chunk by chunk. */
static bool write_events(const open_file* o, const saltusi_batch* batch, int from, int to) {
  while (from < to) {
    saltusi_h5_event packed[SALTUSI_H5_CHUNK_EVENTS];
    int count = to - from < SALTUSI_H5_CHUNK_EVENTS ? to - from : SALTUSI_H5_CHUNK_EVENTS;
    memset(packed, 0, sizeof packed);
    for (int i = 0; i < count; i++) {
      const saltus_event* e = &batch->event[from + i];
      const char* kind = saltus_event_kind_name(e->kind);
      memcpy(packed[i].kind, kind, strnlen(kind, SALTUSI_H5_KIND));
      packed[i].t = e->t;
      packed[i].t_accuracy = e->t_accuracy;
      packed[i].contact = e->contact;
      packed[i].identity = e->identity;
      packed[i].law = e->law;
      saltus_event numbers = *e;
      for (int k = 1; k < SALTUSI_EVENT_FIELDS; k++) {
        packed[i].numbers[k] = *saltusi_event_number(&numbers, k);
      }
    }
    const saltusi_h5_items w = {.dataset = o->events,
                                .type = o->event_type,
                                .rank = 1,
                                .size = {(hsize_t)count},
                                .first = (hsize_t)(batch->first_event + from),
                                .items = packed};
    if (!saltusi_h5_items_write(&w)) {
      return false;
    }
    from += count;
  }
  return true;
}

/* Whether items [from, to) contain the first one of a chunk. */
static bool begins_chunk(long long from, long long to, long long chunk) {
  return (from + chunk - 1) / chunk * chunk < to;
}

/* Frames are written together until a frame, its contacts or the events before it begin a chunk; then all earlier data
 * are written first. */
static bool write_batch(const open_file* o, const saltusi_batch* batch) {
  const saltusi_row_batch* rows = &batch->rows;
  bool changing = o->recording->head.changing;
  int chunk = saltusi_h5_chunk_frames(&o->recording->head);
  int event = 0, done = 0;
  for (int frame = 0; frame < batch->frames; frame++) {
    long long first = batch->first_frame + frame;
    int to = event;
    while (to < batch->events && batch->frames_before[to] <= first) {
      to++;
    }
    bool begins =
        begins_chunk(first, first + 1, chunk) ||
        begins_chunk(batch->first_event + event, batch->first_event + to, SALTUSI_H5_CHUNK_EVENTS);
    if (changing && !begins) {
      begins =
          begins_chunk(rows->first + (long long)row_of(batch, frame),
                       rows->first + (long long)row_of(batch, frame + 1), SALTUSI_H5_CHUNK_ROWS);
    }
    if (begins) {
      bool good = (frame == done || write_frames(o, batch, done, frame - done)) &&
                  write_events(o, batch, event, to);
      if (!good) {
        return false;
      }
      done = frame;
      event = to;
    }
  }
  return (batch->frames == done || write_frames(o, batch, done, batch->frames - done)) &&
         write_events(o, batch, event, batch->events);
}

static bool set_attribute(hid_t file, const char* name, hid_t type, const void* value) {
  hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
  if (attribute >= 0) {
    good = H5Aclose(attribute) >= 0 && good;
  }
  return good;
}

static bool write_summary(hid_t file, const saltus_recording_summary* summary) {
  char status[SALTUSI_H5_STATUS] = {0};
  saltusi_status_text(summary, status, sizeof status);
  hid_t type = saltusi_h5_text_type(sizeof status);
  bool good = type >= 0 && set_attribute(file, "status", type, status) &&
              set_attribute(file, "steps", H5T_NATIVE_LLONG, &summary->steps) &&
              set_attribute(file, "cpu_seconds", H5T_NATIVE_DOUBLE, &summary->cpu_seconds);
  if (type >= 0) {
    H5Tclose(type);
  }
  return good;
}

static bool write_all(open_file* o, const saltusi_h5_append* what) {
  bool good = open_series(o);
  for (int i = 0; good && i < 2; i++) {
    good = !what->batches[i] || write_batch(o, what->batches[i]);
  }
  const char* explanation = o->recording->head.explanation;
  good = good && (!what->final || write_summary(o->file, what->final)) &&
         (!what->final || explanation[0] == '\0' ||
          saltusi_h5_text_put(o->file, "explanation", explanation));
  return close_series(o) && good;
}

saltus_status saltusi_h5_extend(const saltus_recording* r, const saltusi_h5_append* what,
                                bool* opened, char* text) {
  assert(r != NULL && what != NULL && opened != NULL && text != NULL);
  saltusi_h5_voice voice = saltusi_h5_hush();
  open_file o = {.recording = r, .file = -1};
  hid_t access = saltusi_h5_access();
  if (access >= 0) {
    o.file = H5Fopen(what->path, H5F_ACC_RDWR, access);
    H5Pclose(access);
  }
  *opened = o.file >= 0;
  bool good = *opened && write_all(&o, what);
  if (!good) {
    saltusi_h5_reason(text);
  }
  if (*opened && H5Fclose(o.file) < 0 && good) {
    saltusi_h5_reason(text);
    good = false;
  }
  saltusi_h5_unhush(voice);
  return good ? SALTUS_OK : SALTUS_ERR_IO;
}
