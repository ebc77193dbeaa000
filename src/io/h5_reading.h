/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * h5_reading.h - shared declarations of the HDF5 reader.
 */
#ifndef SALTUSI_H5_READING_H
#define SALTUSI_H5_READING_H

#include "io/h5.h"

typedef struct saltusi_h5_reading {
  const char* path;
  saltus_log log;
  hid_t file;
  saltus_recording_data* data;
  saltusi_pool* pool;
} saltusi_h5_reading;

/* Reports an error at a path in the file; SALTUS_ERR_INPUT. */
saltus_status saltusi_h5_refuse(const saltusi_h5_reading* in, const char* place, const char* why);

/* Size of the first dimension, backed by bytes of the file, or -1 after a message; inner[i]: size of
 * the others. */
long long saltusi_h5_count(const saltusi_h5_reading* in, const char* place, hid_t dataset, int rank,
                           const hsize_t* inner);

/* The table of contacts, after the frames. */
saltus_status saltusi_h5_rows_read(const saltusi_h5_reading* in);

#endif
