/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * writer.h - shared declarations of the two output formats: the recording, its buffers, the table of formats.
 */
#ifndef SALTUSI_WRITER_H
#define SALTUSI_WRITER_H

#include "io/series.h"

/* Frames and events not yet written to the file. */
typedef struct saltusi_batch {
  long long first_frame, first_event; /* number of the first one in the whole recording */
  int frames, events;
  void* column[SALTUSI_SERIES_COUNT]; /* [frame_capacity x width]; NULL for width zero */
  saltus_event* event;                /* [event_capacity] */
  long long* frames_before;           /* [event_capacity] frames of the recording before it */
  int event_capacity;
  saltusi_row_batch rows; /* of a time-varying contact set */
} saltusi_batch;

struct saltusi_format;

struct saltus_recording {
  saltusi_pool pool;
  const struct saltusi_format* format;
  void* file;                 /* of the format */
  saltus_recording_data head; /* sizes, names and texts; no frames */
  int* contact_components;    /* [nc] components a text table shows */
  const char* path;
  saltus_log log;
  saltusi_batch fresh; /* not yet in a file */
  int frame_capacity;
  int contact_guess; /* contacts of a frame, as the system announced them */
  double flush_interval;
  double next_flush; /* s on the monotonic clock */
  double next_sync;  /* likewise; an early flush of a full buffer does not wait for the disk */
  bool sync;         /* this flush waits for the disk */
  double t_kept;     /* time of the last frame on disk */
  long long kept;    /* frames on disk */
  bool force;        /* replaces files that are no recordings */
  saltus_status error;
  bool closed;
};

/* Functions report errors in the log, except for SALTUS_ERR_MEMORY. */
typedef struct saltusi_format {
  const char* extension;
  /* Allocates from the pool, writes the head. Releases everything on failure. */
  saltus_status (*create)(saltus_recording* recording);
  /* Writes `fresh`, which is empty afterwards. final: NULL, or the summary that ends the file. */
  saltus_status (*flush)(saltus_recording* recording, const saltus_recording_summary* final);
  /* Closes the file in the state of the last complete flush. failure: NULL, or the reason of the
   * end. */
  void (*release)(saltus_recording* recording, const char* failure);
} saltusi_format;

extern const saltusi_format saltusi_format_hdf5;
extern const saltusi_format saltusi_format_csv;

/* Arrays of a batch; those of events and rows with their initial capacity. SALTUS_ERR_MEMORY. */
saltus_status saltusi_batch_take(saltus_recording* recording, saltusi_batch* batch);

/* Empties the batch; the next one starts after its last frame and event. */
void saltusi_batch_pass(saltusi_batch* batch);

/* "complete" or "failed: ..." in text[size]. */
void saltusi_status_text(const saltus_recording_summary* summary, char* text, size_t size);

/* Errors for a file that must not be replaced, and for one that another run is writing. */
saltus_status saltusi_refuse_foreign(const saltus_recording* recording, const char* path);
saltus_status saltusi_refuse_shared(const saltus_recording* recording, const char* path);

saltus_status saltusi_h5_read(const char* path, saltus_log log, saltusi_data* into);
saltus_status saltusi_csv_read(const char* path, saltus_log log, saltusi_data* into);

#endif
