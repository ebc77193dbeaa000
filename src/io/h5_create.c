/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The head of an HDF5 recording. Three choices make files bitwise reproducible and safe to read
 * when damaged: no time stamps; chunks are allocated in the file on creation, without pooling of small blocks, which
 * depends on when the file was open; and the format of HDF5 1.10, whose metadata
 * carry checksums, with a checksum (fletcher32) on every chunk. Texts have a fixed length because
 * those of variable length live in a heap without checksums.
 */
#include "base/log.h"
#include "io/h5.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
  CHUNK_FRAMES_MIN = 16,
  CHUNK_FRAMES_MAX = 1024,
  CHUNK_BYTES = 512 << 10,    /* of all series together */
  GROWTH_METADATA = 16 << 10, /* of one series: index blocks grow to this size */
  COMPACT_ATTRIBUTES = 64     /* kept in the object header, where the checksum is */
};

static size_t frame_bytes(const saltus_recording_data* head) {
  size_t bytes = 0;
  for (int s = 0; s < SALTUSI_SERIES_COUNT; s++) {
    bytes += SALTUSI_ITEM * saltusi_series_width(&saltusi_series_list[s], head);
  }
  return bytes;
}

int saltusi_h5_chunk_frames(const saltus_recording_data* head) {
  assert(head != NULL);
  int frames = CHUNK_FRAMES_MAX;
  while (frames > CHUNK_FRAMES_MIN && (size_t)frames * frame_bytes(head) > CHUNK_BYTES) {
    frames /= 2;
  }
  return frames;
}

size_t saltusi_h5_growth(const saltus_recording* r, const saltusi_batch* old) {
  assert(r != NULL);
  size_t chunk = (size_t)saltusi_h5_chunk_frames(&r->head);
  size_t frames = (size_t)r->fresh.frames + (size_t)old->frames;
  size_t events = (size_t)r->fresh.events + (size_t)old->events;
  /* one more chunk than the count fills, since both ends can be inside of chunks */
  size_t frame_chunks = frames / chunk + 2;
  size_t event_chunks = events / SALTUSI_H5_CHUNK_EVENTS + 2;
  size_t row_chunks = 0;
  if (r->head.changing) {
    row_chunks = (r->fresh.rows.count + old->rows.count) / SALTUSI_H5_CHUNK_ROWS + 2;
  }
  return frame_chunks * chunk * frame_bytes(&r->head) +
         event_chunks * SALTUSI_H5_CHUNK_EVENTS * sizeof(saltusi_h5_event) +
         row_chunks * SALTUSI_H5_CHUNK_ROWS * saltusi_row_bytes() +
         ((size_t)SALTUSI_SERIES_COUNT + 1 + (r->head.changing ? (size_t)SALTUSI_ROW_COLUMNS : 0)) *
             (size_t)GROWTH_METADATA;
}

static bool put_attribute(hid_t object, const char* name, hid_t type, hid_t space,
                          const void* value) {
  hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
  if (attribute >= 0) {
    good = H5Aclose(attribute) >= 0 && good;
  }
  return good;
}

/* bytes: size in the file, 0 for the length of the text. */
static bool put_text(hid_t object, const char* name, const char* text, size_t bytes) {
  char padded[SALTUSI_H5_STATUS] = {0};
  if (bytes) {
    memcpy(padded, text, strnlen(text, sizeof padded - 1));
    text = padded;
  }
  hid_t type = saltusi_h5_text_type(bytes ? bytes : strlen(text));
  hid_t space = H5Screate(H5S_SCALAR);
  bool good = type >= 0 && space >= 0 && put_attribute(object, name, type, space, text);
  if (space >= 0) {
    H5Sclose(space);
  }
  if (type >= 0) {
    H5Tclose(type);
  }
  return good;
}

bool saltusi_h5_text_put(hid_t object, const char* name, const char* text) {
  assert(object >= 0 && name != NULL && text != NULL);
  return put_text(object, name, text, 0);
}

static bool put_integer(hid_t object, const char* name, long long value) {
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute =
      space < 0 ? -1 : H5Acreate2(object, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  bool good = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_LLONG, &value) >= 0;
  if (attribute >= 0) {
    good = H5Aclose(attribute) >= 0 && good;
  }
  if (space >= 0) {
    H5Sclose(space);
  }
  return good;
}

static bool put_real(hid_t object, const char* name, double value) {
  hid_t space = H5Screate(H5S_SCALAR);
  bool good = space >= 0 && put_attribute(object, name, H5T_NATIVE_DOUBLE, space, &value);
  if (space >= 0) {
    H5Sclose(space);
  }
  return good;
}

/* One text per column, all as long as the longest. */
static bool put_list(hid_t object, const char* name, const char* const* list, int count,
                     const saltus_recording* r) {
  size_t longest = 1;
  for (int i = 0; i < count; i++) {
    size_t length = strlen(list[i]);
    longest = length > longest ? length : longest;
  }
  saltusi_pool pool = saltusi_pool_over(&r->pool.allocator);
  char* packed = saltusi_pool_take(&pool, (size_t)count, longest);
  hsize_t size = (hsize_t)count;
  hid_t type = saltusi_h5_text_type(longest);
  hid_t space = H5Screate_simple(1, &size, NULL);
  for (int i = 0; packed && i < count; i++) {
    memcpy(packed + (size_t)i * longest, list[i], strlen(list[i]));
  }
  bool good = packed && type >= 0 && space >= 0 && put_attribute(object, name, type, space, packed);
  if (space >= 0) {
    H5Sclose(space);
  }
  if (type >= 0) {
    H5Tclose(type);
  }
  saltusi_pool_free(&pool);
  return good;
}

typedef const char* text_of(const saltusi_series* series, const saltus_recording_data* data,
                            int column);

/* A text for each column of a series. */
static bool put_columns(hid_t object, const char* name, text_of* text, const saltusi_series* series,
                        const saltus_recording* r) {
  int count = saltusi_series_columns(series, &r->head);
  saltusi_pool pool = saltusi_pool_over(&r->pool.allocator);
  const char** list = saltusi_pool_take(&pool, (size_t)count, sizeof *list);
  for (int i = 0; list && i < count; i++) {
    list[i] = text(series, &r->head, i);
  }
  bool good = list && put_list(object, name, list, count, r);
  saltusi_pool_free(&pool);
  return good;
}

/* Creation properties of every dataset; negative on failure. */
static hid_t dataset_plan(int rank, const hsize_t* chunk) {
  hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
  bool good = plan >= 0 && H5Pset_obj_track_times(plan, false) >= 0 &&
              H5Pset_attr_phase_change(plan, COMPACT_ATTRIBUTES, 0) >= 0 &&
              H5Pset_chunk(plan, rank, chunk) >= 0 && H5Pset_fletcher32(plan) >= 0 &&
              H5Pset_alloc_time(plan, H5D_ALLOC_TIME_EARLY) >= 0 &&
              H5Pset_fill_time(plan, H5D_FILL_TIME_ALLOC) >= 0;
  if (!good && plan >= 0) {
    H5Pclose(plan);
  }
  return good ? plan : -1;
}

hid_t saltusi_h5_dataset_create(hid_t file, const char* path, hid_t type, int rank,
                                const hsize_t* chunk) {
  assert(file >= 0 && path != NULL && rank >= 1);
  hsize_t size[3] = {0}, most[3] = {H5S_UNLIMITED};
  for (int i = 1; i < rank; i++) {
    size[i] = most[i] = chunk[i];
  }
  hid_t plan = dataset_plan(rank, chunk);
  hid_t space = H5Screate_simple(rank, size, most);
  hid_t dataset = -1;
  if (plan >= 0 && space >= 0) {
    dataset = H5Dcreate2(file, path, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  }
  if (space >= 0) {
    H5Sclose(space);
  }
  if (plan >= 0) {
    H5Pclose(plan);
  }
  return dataset;
}

/* The common unit of all columns, else "mixed". */
static const char* common_unit(const saltusi_series* series, const saltus_recording_data* head) {
  const char* unit = saltusi_series_column_unit(series, head, 0);
  for (int i = 1; i < saltusi_series_columns(series, head); i++) {
    if (strcmp(unit, saltusi_series_column_unit(series, head, i)) != 0) {
      return "mixed";
    }
  }
  return unit;
}

static bool create_series(hid_t file, const saltusi_series* series, const saltus_recording* r) {
  hsize_t chunk[3] = {(hsize_t)saltusi_h5_chunk_frames(&r->head),
                      (hsize_t)saltusi_series_columns(series, &r->head),
                      (hsize_t)series->components};
  if (chunk[1] == 0) {
    return true;
  }
  int rank = saltusi_series_rank(series);
  hid_t type = series->integer ? H5T_STD_I64LE : H5T_IEEE_F64LE;
  hid_t dataset = saltusi_h5_dataset_create(file, series->path, type, rank, chunk);
  bool good = dataset >= 0 && put_text(dataset, "units", common_unit(series, &r->head), 0);
  if (rank > 1) {
    good = good && put_columns(dataset, "columns", saltusi_series_column_name, series, r) &&
           put_columns(dataset, "column_units", saltusi_series_column_unit, series, r);
  }
  if (dataset >= 0) {
    good = H5Dclose(dataset) >= 0 && good;
  }
  return good;
}

static bool create_events(hid_t file, const saltus_recording* r) {
  hsize_t chunk = SALTUSI_H5_CHUNK_EVENTS;
  hid_t type = saltusi_h5_event_type(true, SALTUSI_EVENT_FIELDS, r->head.changing);
  hid_t dataset = type < 0 ? -1 : saltusi_h5_dataset_create(file, "/events", type, 1, &chunk);
  bool good =
      dataset >= 0 &&
      put_text(dataset, "units", "t, t_accuracy: s; u_before, u_after: m/s; impulse: N s", 0) &&
      put_text(dataset, "kinds", "impact, close, open, accumulation", 0);
  if (dataset >= 0) {
    good = H5Dclose(dataset) >= 0 && good;
  }
  if (type >= 0) {
    H5Tclose(type);
  }
  return good;
}

static bool create_group(hid_t file, const char* path) {
  hid_t plan = H5Pcreate(H5P_GROUP_CREATE);
  hid_t group = -1;
  if (plan >= 0 && H5Pset_obj_track_times(plan, false) >= 0) {
    group = H5Gcreate2(file, path, H5P_DEFAULT, plan, H5P_DEFAULT);
  }
  if (plan >= 0) {
    H5Pclose(plan);
  }
  return group >= 0 && H5Gclose(group) >= 0;
}

static bool fill(hid_t file, const saltus_recording* r) {
  const saltus_recording_data* head = &r->head;
  bool good =
      put_text(file, "format", "saltus-recording", 0) &&
      put_integer(file, "format_version", head->changing ? 2 : 1) &&
      put_text(file, "saltus_version", head->version, 0) && put_text(file, "name", head->name, 0) &&
      put_text(file, "scheme", head->scheme, 0) && put_text(file, "options", head->options, 0) &&
      (head->accuracy[0] == '\0' || put_text(file, "accuracy", head->accuracy, 0)) &&
      (isnan(head->until) || put_real(file, "until", head->until)) &&
      put_text(file, "scene", head->scene, 0) &&
      (head->scene_sha256[0] == '\0' || put_text(file, "scene_sha256", head->scene_sha256, 0)) &&
      put_text(file, "status", head->status, SALTUSI_H5_STATUS) && put_integer(file, "steps", -1) &&
      put_real(file, "cpu_seconds", NAN) && put_integer(file, "nq", head->nq) &&
      put_integer(file, "nv", head->nv) && put_integer(file, "nc", head->nc) &&
      put_integer(file, "nj", head->nj) &&
      (head->output_count == 0 || put_integer(file, "no", head->output_count)) &&
      (head->event_name_count == 0 ||
       put_list(file, "event_names", head->event_names, head->event_name_count, r)) &&
      (head->law_count == 0 || put_list(file, "law_names", head->law_names, head->law_count, r)) &&
      (!head->changing || create_group(file, "/contact_table")) &&
      (head->nc == 0 || create_group(file, "/contacts")) &&
      (head->nj == 0 || create_group(file, "/joints")) && create_group(file, "/energy") &&
      create_group(file, "/residual") && create_group(file, "/control");
  for (int s = 0; good && s < SALTUSI_SERIES_COUNT; s++) {
    good = create_series(file, &saltusi_series_list[s], r);
  }
  return good && (!head->changing || saltusi_h5_rows_create(file)) && create_events(file, r);
}

static hid_t create_file(const char* path) {
  hid_t access = saltusi_h5_access();
  hid_t plan = H5Pcreate(H5P_FILE_CREATE);
  hid_t file = -1;
  if (access >= 0 && plan >= 0 && H5Pset_obj_track_times(plan, false) >= 0 &&
      H5Pset_attr_phase_change(plan, COMPACT_ATTRIBUTES, 0) >= 0) {
    file = H5Fcreate(path, H5F_ACC_TRUNC, plan, access);
  }
  if (plan >= 0) {
    H5Pclose(plan);
  }
  if (access >= 0) {
    H5Pclose(access);
  }
  return file;
}

saltus_status saltusi_h5_create(const char* path, const saltus_recording* r) {
  assert(path != NULL && r != NULL);
  saltusi_h5_voice voice = saltusi_h5_hush();
  char text[SALTUSI_H5_TEXT] = "";
  hid_t file = create_file(path);
  bool good = file >= 0 && fill(file, r);
  if (!good) {
    saltusi_h5_reason(text);
  }
  if (file >= 0 && H5Fclose(file) < 0 && good) {
    saltusi_h5_reason(text);
    good = false;
  }
  saltusi_h5_unhush(voice);
  if (!good) {
    saltusi_log(r->log, SALTUS_LEVEL_ERROR, "%s: cannot create the recording: %s", r->path, text);
  }
  return good ? SALTUS_OK : SALTUS_ERR_IO;
}
