/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * h5.h - shared declarations of the HDF5 writer and reader.
 */
#ifndef SALTUSI_H5_H
#define SALTUSI_H5_H

#include "io/writer.h"

#include <hdf5.h>
#include <stdint.h>

enum {
  SALTUSI_H5_KIND = 16,
  SALTUSI_H5_STATUS = 256,
  SALTUSI_H5_TEXT = 256,
  SALTUSI_H5_CHUNK_EVENTS = 256,
  SALTUSI_H5_CHUNK_ROWS = 2048 /* 330 kB over all columns */
};

/* Layout of an event in the file and in numpy. */
typedef struct saltusi_h5_event {
  char kind[SALTUSI_H5_KIND];
  double t, t_accuracy;
  int32_t contact;
  double numbers[SALTUSI_EVENT_FIELDS]; /* the first is t_accuracy, a member above */
  uint64_t identity;                    /* of a changing set, like the next */
  int32_t law;
} saltusi_h5_event;

/* Whether a file is a recording; no messages. */
bool saltusi_h5_is_recording(const char* path);

/* Between hush and unhush, HDF5 prints no errors. */
typedef struct saltusi_h5_voice {
  H5E_auto2_t print;
  void* user;
} saltusi_h5_voice;

saltusi_h5_voice saltusi_h5_hush(void);
void saltusi_h5_unhush(saltusi_h5_voice voice);

/* The innermost reason of the last failure in text[SALTUSI_H5_TEXT]. */
const char* saltusi_h5_reason(char* text);

/* Type of an event with its first `fields` numbers, and the identity of its contact in a changing set: as
 * in memory, or packed as in the file. Negative on failure. */
hid_t saltusi_h5_event_type(bool packed, int fields, bool identity);

/* Text of fixed length, UTF-8, padded with zeros. */
hid_t saltusi_h5_text_type(size_t bytes);

/* A text as attribute of an object. */
bool saltusi_h5_text_put(hid_t object, const char* name, const char* text);

/* Creates a dataset without rows; chunk has the sizes of all dimensions, of which the first grows. Negative on
 * failure. */
hid_t saltusi_h5_dataset_create(hid_t file, const char* path, hid_t type, int rank,
                                const hsize_t* chunk);

/* Writes rows of a dataset, which is extended as necessary. */
typedef struct saltusi_h5_items {
  hid_t dataset, type;
  int rank;
  hsize_t size[3]; /* of the written items */
  hsize_t first;   /* row of the file */
  const void* items;
} saltusi_h5_items;

bool saltusi_h5_items_write(const saltusi_h5_items* items);

/* The datasets of the table of contacts; rows [from, to) of the batch. */
bool saltusi_h5_rows_create(hid_t file);
bool saltusi_h5_rows_open(hid_t file, hid_t datasets[SALTUSI_ROW_COLUMNS]);
bool saltusi_h5_rows_write(const hid_t datasets[SALTUSI_ROW_COLUMNS], const saltusi_row_batch* rows,
                           size_t from, size_t to);

/* Access properties of the files; negative on failure. */
hid_t saltusi_h5_access(void);

/* The head of a new file. */
saltus_status saltusi_h5_create(const char* path, const saltus_recording* recording);

/* Frames per chunk, the same for all series. */
int saltusi_h5_chunk_frames(const saltus_recording_data* head);

/* Upper bound of the growth of the file in bytes when the batches are appended. */
size_t saltusi_h5_growth(const saltus_recording* recording, const saltusi_batch* old);

typedef struct saltusi_h5_append {
  const char* path;
  const saltusi_batch* batches[2]; /* one after the other; NULL: nothing */
  const saltus_recording_summary* final;
} saltusi_h5_append;

/* SALTUS_ERR_IO with the reason in text[SALTUSI_H5_TEXT]; *opened: the file could be opened. */
saltus_status saltusi_h5_extend(const saltus_recording* recording, const saltusi_h5_append* what,
                                bool* opened, char* text);

#endif
