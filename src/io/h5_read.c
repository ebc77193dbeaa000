/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Reading an HDF5 recording. The file is untrusted: every type, rank and size is checked before
 * memory is allocated, and sizes are bounded by the bytes in the file.
 */
#include "base/log.h"
#include "io/h5_reading.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longest text of a recording; a longer one indicates a damaged file. */
enum { TEXT_MAX = 64 << 20 };

typedef saltusi_h5_reading h5_reader;

saltus_status saltusi_h5_refuse(const h5_reader* in, const char* place, const char* why) {
  assert(place != NULL && why != NULL);
  saltusi_log(in->log, SALTUS_LEVEL_ERROR, "%s: not a Saltus recording that can be read: %s: %s",
              in->path, place, why);
  return SALTUS_ERR_INPUT;
}

static saltus_status read_number(const h5_reader* in, const char* name, hid_t type, void* value) {
  hid_t attribute = H5Aopen(in->file, name, H5P_DEFAULT);
  hid_t stored = attribute < 0 ? -1 : H5Aget_type(attribute);
  hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
  bool good = stored >= 0 && space >= 0 && H5Tget_class(stored) == H5Tget_class(type) &&
              H5Tget_size(stored) == SALTUSI_ITEM && H5Sget_simple_extent_npoints(space) == 1 &&
              H5Aread(attribute, type, value) >= 0;
  if (space >= 0) {
    H5Sclose(space);
  }
  if (stored >= 0) {
    H5Tclose(stored);
  }
  if (attribute >= 0) {
    H5Aclose(attribute);
  }
  return good ? SALTUS_OK
              : saltusi_h5_refuse(in, name,
                                  "attribute is missing, damaged or not one 64-bit number");
}

/* Texts of an attribute, each ended by a zero. */
typedef struct texts {
  const char* name;
  hssize_t count; /* requested */
  const char** out;
} texts;

/* Fixed length only: HDF5 does not validate variable-length texts of damaged files. */
static saltus_status read_opened_texts(const h5_reader* in, hid_t attribute, hid_t stored,
                                       const texts* want) {
  size_t bytes = H5Tget_class(stored) == H5T_STRING && H5Tis_variable_str(stored) == 0
                     ? H5Tget_size(stored)
                     : 0;
  if (bytes == 0 || bytes > TEXT_MAX) {
    return saltusi_h5_refuse(in, want->name, "attribute is not text of fixed length");
  }
  size_t count = (size_t)want->count;
  if (H5Aget_storage_size(attribute) != (hsize_t)count * bytes) {
    return saltusi_h5_refuse(in, want->name, "attribute has the wrong number of texts");
  }
  saltusi_pool scratch = saltusi_pool_over(&in->pool->allocator);
  char* packed = saltusi_pool_take(&scratch, count, bytes);
  char* ended = saltusi_pool_take(in->pool, count, bytes + 1);
  saltus_status status = packed && ended ? SALTUS_OK : SALTUS_ERR_MEMORY;
  if (status == SALTUS_OK && H5Aread(attribute, stored, packed) < 0) {
    status = saltusi_h5_refuse(in, want->name, "attribute cannot be read");
  }
  for (size_t i = 0; status == SALTUS_OK && i < count; i++) {
    memcpy(ended + i * (bytes + 1), packed + i * bytes, bytes);
    want->out[i] = ended + i * (bytes + 1);
  }
  saltusi_pool_free(&scratch);
  return status;
}

static saltus_status read_texts(const h5_reader* in, hid_t object, const texts* want) {
  hid_t attribute = H5Aopen(object, want->name, H5P_DEFAULT);
  if (attribute < 0) {
    return saltusi_h5_refuse(in, want->name, "attribute is missing or damaged");
  }
  hid_t stored = H5Aget_type(attribute);
  hid_t space = H5Aget_space(attribute);
  saltus_status status = SALTUS_ERR_INPUT;
  if (stored < 0 || space < 0 || H5Sget_simple_extent_npoints(space) != want->count) {
    status = saltusi_h5_refuse(in, want->name, "attribute has the wrong number of texts");
  } else {
    status = read_opened_texts(in, attribute, stored, want);
  }
  if (space >= 0) {
    H5Sclose(space);
  }
  if (stored >= 0) {
    H5Tclose(stored);
  }
  H5Aclose(attribute);
  return status;
}

static saltus_status read_sizes(const h5_reader* in) {
  const char* const names[] = {"nq", "nv", "nc", "nj", "no"};
  int* const sizes[] = {&in->data->nq, &in->data->nv, &in->data->nc, &in->data->nj,
                        &in->data->output_count};
  for (int i = 0; i < 5; i++) {
    long long size = i < 4 ? -1 : 0;
    if (i == 4 && H5Aexists(in->file, names[i]) <= 0) {
      continue; /* most scenes have no outputs */
    }
    saltus_status status = read_number(in, names[i], H5T_NATIVE_LLONG, &size);
    if (status != SALTUS_OK) {
      return status;
    }
    /* a quarter, so that three components of every contact fit in int */
    if (size < 0 || size > INT_MAX / 4) {
      return saltusi_h5_refuse(in, names[i], "size is negative or too large");
    }
    *sizes[i] = (int)size;
  }
  if (in->data->changing && in->data->nc != 0) {
    return saltusi_h5_refuse(in, "nc", "a recording with a table of contacts has no others");
  }
  return SALTUS_OK;
}

static saltus_status read_head(const h5_reader* in) {
  saltus_recording_data* data = in->data;
  const char* format = "";
  const texts list[] = {
      {"format", 1, &format},         {"saltus_version", 1, &data->version},
      {"name", 1, &data->name},       {"scheme", 1, &data->scheme},
      {"options", 1, &data->options}, {"scene", 1, &data->scene},
      {"status", 1, &data->status},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    saltus_status status = read_texts(in, in->file, &list[i]);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  const texts known[] = {{"accuracy", 1, &data->accuracy},
                         {"explanation", 1, &data->explanation},
                         {"scene_sha256", 1, &data->scene_sha256}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    saltus_status status =
        H5Aexists(in->file, known[i].name) > 0 ? read_texts(in, in->file, &known[i]) : SALTUS_OK;
    if (status != SALTUS_OK) {
      return status;
    }
  }
  if (strcmp(format, "saltus-recording") != 0) {
    return saltusi_h5_refuse(in, "format", "attribute is not \"saltus-recording\"");
  }
  long long version = 0;
  saltus_status status = read_number(in, "format_version", H5T_NATIVE_LLONG, &version);
  if (status == SALTUS_OK && version != 1 && version != 2) {
    status = saltusi_h5_refuse(in, "format_version", "only versions 1 and 2 are known");
  }
  data->changing = version == 2;
  if (status == SALTUS_OK) {
    status = read_number(in, "steps", H5T_NATIVE_LLONG, &data->steps);
  }
  if (status == SALTUS_OK) {
    status = read_number(in, "cpu_seconds", H5T_NATIVE_DOUBLE, &data->cpu_seconds);
  }
  if (status == SALTUS_OK && H5Aexists(in->file, "until") > 0) {
    status = read_number(in, "until", H5T_NATIVE_DOUBLE, &data->until);
  }
  if (status == SALTUS_OK) {
    status = read_sizes(in);
  }
  return status;
}

/* Largest ratio of data to bytes in the file: deflate compresses at most 1032 to 1. */
static hsize_t packing(hid_t dataset) {
  hsize_t most = 1;
  hid_t plan = H5Dget_create_plist(dataset);
  if (plan >= 0) {
    unsigned flags = 0;
    size_t values = 0;
    if (H5Pget_filter_by_id2(plan, H5Z_FILTER_DEFLATE, &flags, &values, NULL, 0, NULL, NULL) >= 0) {
      most = 1032;
    }
    H5Pclose(plan);
  }
  return most;
}

long long saltusi_h5_count(const h5_reader* in, const char* place, hid_t dataset, int rank,
                           const hsize_t* inner) {
  assert(dataset >= 0 && rank >= 1);
  hsize_t size[3] = {0};
  hid_t space = H5Dget_space(dataset);
  int found = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  bool fits = found == rank && H5Sget_simple_extent_dims(space, size, NULL) == rank;
  if (space >= 0) {
    H5Sclose(space);
  }
  for (int i = 1; fits && i < rank; i++) {
    fits = size[i] == inner[i];
  }
  if (!fits) {
    saltusi_h5_refuse(in, place, "dataset has the wrong rank or size");
    return -1;
  }
  hsize_t row = SALTUSI_ITEM * (rank > 1 ? inner[1] : 1) * (rank > 2 ? inner[2] : 1);
  hsize_t stored = H5Dget_storage_size(dataset) * packing(dataset);
  if (size[0] > stored / row || size[0] > INT_MAX * (hsize_t)1024) {
    saltusi_h5_refuse(in, place, "dataset claims more data than the file holds");
    return -1;
  }
  return (long long)size[0];
}

static saltus_status read_opened_series(const h5_reader* in, const saltusi_series* series,
                                        hid_t dataset) {
  saltus_recording_data* data = in->data;
  hid_t type = H5Dget_type(dataset);
  bool fits = type >= 0 && H5Tget_class(type) == (series->integer ? H5T_INTEGER : H5T_FLOAT) &&
              H5Tget_size(type) == SALTUSI_ITEM;
  if (type >= 0) {
    H5Tclose(type);
  }
  if (!fits) {
    return saltusi_h5_refuse(in, series->path,
                             "dataset does not hold 64-bit numbers of the right kind");
  }
  hsize_t inner[3] = {0, (hsize_t)saltusi_series_columns(series, data),
                      (hsize_t)series->components};
  int rank = saltusi_series_rank(series);
  long long count = saltusi_h5_count(in, series->path, dataset, rank, inner);
  if (count < 0) {
    return SALTUS_ERR_INPUT;
  }
  if (series == &saltusi_series_list[0]) {
    data->count = count;
  } else if (count != data->count) {
    return saltusi_h5_refuse(in, series->path, "dataset does not have as many frames as /step");
  }
  void* array =
      saltusi_pool_take(in->pool, (size_t)count * saltusi_series_width(series, data), SALTUSI_ITEM);
  if (!array) {
    return SALTUS_ERR_MEMORY;
  }
  hid_t memory = series->integer ? H5T_NATIVE_LLONG : H5T_NATIVE_DOUBLE;
  if (H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, array) < 0) {
    return saltusi_h5_refuse(in, series->path, "dataset cannot be read, the file is damaged");
  }
  saltusi_series_set(series, data, array);
  return SALTUS_OK;
}

/* Names are attributes of the first series of each kind. */
static saltus_status read_names(const h5_reader* in, const saltusi_series* series, hid_t dataset) {
  saltus_recording_data* data = in->data;
  int count = saltusi_series_columns(series, data);
  saltus_label* labels = series->per == SALTUSI_PER_Q        ? data->q_labels
                         : series->per == SALTUSI_PER_V      ? data->v_labels
                         : series->per == SALTUSI_PER_OUTPUT ? data->output_labels
                                                             : NULL;
  saltusi_pool scratch = saltusi_pool_over(&in->pool->allocator);
  const char** names = saltusi_pool_take(&scratch, (size_t)count, sizeof *names);
  const char** units = saltusi_pool_take(&scratch, (size_t)count, sizeof *units);
  saltus_status status = names && units ? SALTUS_OK : SALTUS_ERR_MEMORY;
  if (status == SALTUS_OK) {
    status = read_texts(in, dataset, &(texts){"columns", count, names});
  }
  if (status == SALTUS_OK && labels) {
    status = read_texts(in, dataset, &(texts){"column_units", count, units});
  }
  for (int i = 0; status == SALTUS_OK && i < count; i++) {
    if (labels) {
      labels[i] = (saltus_label){names[i], units[i]};
    } else {
      const char** list =
          series->per == SALTUSI_PER_CONTACT ? data->contact_names : data->joint_names;
      list[i] = names[i];
    }
  }
  saltusi_pool_free(&scratch);
  return status;
}

/* Path of a series in this file: the current one, or that of older recordings. */
static const char* path_of(const h5_reader* in, const saltusi_series* series) {
  bool former = series->former_path != NULL &&
                H5Lexists(in->file, series->path, H5P_DEFAULT) <= 0 &&
                H5Lexists(in->file, series->former_path, H5P_DEFAULT) > 0;
  return former ? series->former_path : series->path;
}

static saltus_status read_series(const h5_reader* in, int s) {
  const saltusi_series* series = &saltusi_series_list[s];
  if (saltusi_series_width(series, in->data) == 0) {
    return SALTUS_OK;
  }
  const char* path = path_of(in, series);
  if (series->later && H5Lexists(in->file, path, H5P_DEFAULT) <= 0) {
    saltusi_series_set(series, in->data, NULL);
    return SALTUS_OK;
  }
  hid_t dataset = H5Dopen2(in->file, path, H5P_DEFAULT);
  if (dataset < 0) {
    return saltusi_h5_refuse(in, path, "dataset is missing or damaged");
  }
  saltus_status status = read_opened_series(in, series, dataset);
  bool names = s == SALTUSI_Q || s == SALTUSI_V || s == SALTUSI_OUTPUTS || s == SALTUSI_GAP ||
               s == SALTUSI_JOINT_FORCE;
  if (status == SALTUS_OK && names) {
    status = read_names(in, series, dataset);
  }
  H5Dclose(dataset);
  return status;
}

static saltus_status unpack_events(const h5_reader* in, const saltusi_h5_event* packed,
                                   int fields) {
  saltus_recording_data* data = in->data;
  for (long long i = 0; i < data->event_count; i++) {
    const saltusi_h5_event* e = &packed[i];
    char name[SALTUSI_H5_KIND + 1] = {0};
    memcpy(name, e->kind, SALTUSI_H5_KIND);
    int kind = saltusi_event_kind_from(name);
    const saltus_event place = {.kind = (saltus_event_kind)kind,
                                .contact = e->contact,
                                .law = data->changing ? e->law : e->contact};
    if (kind < 0 || !saltusi_event_fits(&place, data)) {
      return saltusi_h5_refuse(in, "/events", "an event has an unknown kind or contact");
    }
    saltus_event* event = &data->events[i];
    *event = (saltus_event){.kind = (saltus_event_kind)kind,
                            .t = e->t,
                            .t_accuracy = e->t_accuracy,
                            .contact = e->contact,
                            .identity = data->changing ? e->identity : (uint64_t)e->contact,
                            .law = place.law};
    for (int k = 1; k < fields; k++) {
      *saltusi_event_number(event, k) = e->numbers[k];
    }
    if (fields < SALTUSI_EVENT_FIELDS) {
      saltusi_event_complete(event);
    }
  }
  return SALTUS_OK;
}

/* Number of numbers per event of this dataset; 0: it does not contain events. */
static int count_event_fields(hid_t dataset, bool changing) {
  static const int known[] = {SALTUSI_EVENT_FIELDS, SALTUSI_EVENT_FIELDS_FIRST};
  hid_t stored = H5Dget_type(dataset);
  int fields = 0;
  for (size_t i = 0; stored >= 0 && i < sizeof known / sizeof *known && fields == 0; i++) {
    hid_t packed = saltusi_h5_event_type(true, known[i], changing);
    fields = packed >= 0 && H5Tequal(packed, stored) > 0 ? known[i] : 0;
    if (packed >= 0) {
      H5Tclose(packed);
    }
  }
  if (stored >= 0) {
    H5Tclose(stored);
  }
  return fields;
}

static saltus_status read_opened_events(const h5_reader* in, hid_t dataset) {
  saltus_recording_data* data = in->data;
  int fields = count_event_fields(dataset, data->changing);
  if (fields == 0) {
    return saltusi_h5_refuse(in, "/events", "dataset does not hold events");
  }
  data->event_count = saltusi_h5_count(in, "/events", dataset, 1, NULL);
  if (data->event_count < 0) {
    return SALTUS_ERR_INPUT;
  }
  size_t count = (size_t)data->event_count;
  saltusi_pool scratch = saltusi_pool_over(&in->pool->allocator);
  saltusi_h5_event* packed = saltusi_pool_take(&scratch, count, sizeof *packed);
  data->events = saltusi_pool_take(in->pool, count, sizeof *data->events);
  hid_t memory = saltusi_h5_event_type(false, fields, data->changing);
  bool room = packed && data->events && memory >= 0;
  saltus_status status = room ? SALTUS_OK : SALTUS_ERR_MEMORY;
  if (status == SALTUS_OK && H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed) < 0) {
    status = saltusi_h5_refuse(in, "/events", "dataset cannot be read, the file is damaged");
  }
  if (status == SALTUS_OK) {
    status = unpack_events(in, packed, fields);
  }
  if (memory >= 0) {
    H5Tclose(memory);
  }
  saltusi_pool_free(&scratch);
  return status;
}

static saltus_status read_events(const h5_reader* in) {
  hid_t dataset = H5Dopen2(in->file, "/events", H5P_DEFAULT);
  if (dataset < 0) {
    return saltusi_h5_refuse(in, "/events", "dataset is missing or damaged");
  }
  saltus_status status = read_opened_events(in, dataset);
  H5Dclose(dataset);
  return status;
}

/* Number of texts of an attribute; 0: it does not exist. */
static long long count_texts(const h5_reader* in, const char* name) {
  if (H5Aexists(in->file, name) <= 0) {
    return 0;
  }
  hid_t attribute = H5Aopen(in->file, name, H5P_DEFAULT);
  hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
  hssize_t count = space < 0 ? 0 : H5Sget_simple_extent_npoints(space);
  /* an attribute lies in a header of 64 kB: no more names than bytes */
  bool sane = count > 0 && count <= 65536;
  if (space >= 0) {
    H5Sclose(space);
  }
  if (attribute >= 0) {
    H5Aclose(attribute);
  }
  return sane ? count : 0;
}

static saltus_status read_all(const h5_reader* in) {
  saltus_status status = read_head(in);
  long long events = status == SALTUS_OK ? count_texts(in, "event_names") : 0;
  long long laws = status == SALTUS_OK && in->data->changing ? count_texts(in, "law_names") : 0;
  if (status == SALTUS_OK) {
    in->data->event_name_count = (int)events;
    in->data->law_count = (int)laws;
    status = saltusi_data_name_workspace(in->data, in->pool);
  }
  if (status == SALTUS_OK && events > 0) {
    status = read_texts(in, in->file, &(texts){"event_names", events, in->data->event_names});
  }
  if (status == SALTUS_OK && laws > 0) {
    status = read_texts(in, in->file, &(texts){"law_names", laws, in->data->law_names});
  }
  for (int s = 0; status == SALTUS_OK && s < SALTUSI_SERIES_COUNT; s++) {
    status = read_series(in, s);
  }
  if (status == SALTUS_OK && in->data->changing) {
    status = saltusi_h5_rows_read(in);
  }
  if (status == SALTUS_OK) {
    status = read_events(in);
  }
  return status;
}

/* Why a file cannot be opened: the result of the checks here, else the message of HDF5. An HDF5
 * file begins with a signature; since version 2 the end-of-file address is 28 bytes after that
 * ("HDF5 File Format Specification", superblock). */
static const char* closed_reason(const char* path, const char* reported, char* text, size_t bytes) {
  enum { HEAD = 36, VERSION = 8, END = 28 };
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char head[HEAD] = {0};
  struct stat about = {0};
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = file < 0 ? -1 : read(file, head, sizeof head);
  bool known = file >= 0 && fstat(file, &about) == 0;
  if (file >= 0) {
    close(file);
  }
  size_t same = got < 8 ? (size_t)(got > 0 ? got : 0) : 8;
  unsigned long long end = 0;
  for (int i = 7; i >= 0; i--) {
    end = end << 8 | head[END + i];
  }
  unsigned long long size = known ? (unsigned long long)about.st_size : 0;
  if (known && size == 0) {
    return "the file is empty";
  }
  if (memcmp(head, signature, same) != 0) {
    return "this is not an HDF5 file";
  }
  bool cut = got < HEAD || (head[VERSION] >= 2 && head[VERSION] <= 3 && size < end);
  if (cut && got == HEAD) {
    snprintf(text, bytes, "the file is cut off, it has %llu of %llu bytes", size, end);
    return text;
  }
  return cut ? "the file is cut off" : reported;
}

static void hush_at_exit(void) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* After damaged metadata HDF5 1.10 leaks memory and prints an error at exit. Exit handlers run in reverse order, so
 * this one disables the output of HDF5 before that. If it cannot be registered, the error is printed. */
static void expect_no_last_words(void) {
  (void)!atexit(hush_at_exit);
}

/* Whether the root attribute `format` is that of a recording. */
static bool says_format(hid_t file) {
  char text[64] = "";
  hid_t attribute = H5Aopen(file, "format", H5P_DEFAULT);
  hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
  bool fits = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
              H5Tget_size(type) < sizeof text &&
              H5Aget_storage_size(attribute) == H5Tget_size(type);
  bool says = fits && H5Aread(attribute, type, text) >= 0 && strcmp(text, "saltus-recording") == 0;
  if (type >= 0) {
    H5Tclose(type);
  }
  if (attribute >= 0) {
    H5Aclose(attribute);
  }
  return says;
}

bool saltusi_h5_is_recording(const char* path) {
  assert(path != NULL);
  saltusi_h5_voice voice = saltusi_h5_hush();
  hid_t access = saltusi_h5_access();
  hid_t file = access >= 0 ? H5Fopen(path, H5F_ACC_RDONLY, access) : -1;
  bool says = file >= 0 && says_format(file);
  if (file >= 0) {
    H5Fclose(file);
  }
  if (access >= 0) {
    H5Pclose(access);
  }
  saltusi_h5_unhush(voice);
  return says;
}

saltus_status saltusi_h5_read(const char* path, saltus_log log, saltusi_data* into) {
  assert(path != NULL && into != NULL);
  int probe = open(path, O_RDONLY | O_CLOEXEC);
  if (probe < 0) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: cannot be read: %s", path, strerror(errno));
    return SALTUS_ERR_IO;
  }
  close(probe);
  saltusi_h5_voice voice = saltusi_h5_hush();
  h5_reader in = {.path = path, .log = log, .file = -1, .data = &into->data, .pool = &into->pool};
  hid_t access = saltusi_h5_access();
  char reported[SALTUSI_H5_TEXT] = "HDF5 cannot open files here";
  if (access >= 0) {
    in.file = H5Fopen(path, H5F_ACC_RDONLY, access);
    saltusi_h5_reason(reported); /* before another call of HDF5 clears it */
    H5Pclose(access);
  }
  saltus_status status = SALTUS_ERR_INPUT;
  if (in.file >= 0) {
    status = read_all(&in);
    H5Fclose(in.file);
  } else {
    char text[SALTUSI_H5_TEXT];
    saltusi_h5_refuse(&in, "HDF5", closed_reason(path, reported, text, sizeof text));
  }
  if (status != SALTUS_OK) {
    expect_no_last_words();
  }
  saltusi_h5_unhush(voice);
  return status;
}
