/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * frame_store.h - frames and events of a run in memory, in the arrays of a recording: the same layout for computed and
 * recorded runs. Independent of Python.
 */
#ifndef SALTUS_PYTHON_FRAME_STORE_H
#define SALTUS_PYTHON_FRAME_STORE_H

#include "saltus/recording.h"
#include "saltus/scene.h"

typedef enum core_per {
  CORE_PER_FRAME,
  CORE_PER_Q,
  CORE_PER_V,
  CORE_PER_CONTACT,
  CORE_PER_JOINT,
  CORE_PER_OUTPUT,
  CORE_PER_START, /* one more than frames, for a time-varying set */
  CORE_PER_ROW    /* of the table of contacts of a changing set */
} core_per;

/* One array of saltus_recording_data. */
typedef struct core_series {
  const char* name;
  size_t member;
  core_per per;
  int components;
  char format; /* 'd', 'q' (long long) or 'Q' (uint64_t); all 8 bytes */
} core_series;

extern const core_series core_series_list[];
extern const int core_series_count;

/* Items of one frame or row. */
size_t core_series_width(const core_series* series, const saltus_recording_data* data);
void* core_series_get(const core_series* series, const saltus_recording_data* data);

typedef struct core_frame_store {
  saltus_recording_data data; /* q_labels and the like are those of the system, or NULL */
  long long room, event_room, row_room;
  long long* frames_before; /* [event_count] number of frames before each event */
  bool contacts;            /* whether contacts are kept */
} core_frame_store;

/* Empty, for runs of this scene; NULL: no memory. */
core_frame_store* core_frame_store_create(const saltus_scene_view* scene, bool contacts);
void core_frame_store_destroy(core_frame_store* track);
saltus_recorder core_frame_store_recorder(core_frame_store* track);

/* Frame i as passed to a recorder, with memory for its contacts. */

void core_frame_store_frame(const saltus_recording_data* data, long long i,
                            saltus_contact_frame* contacts, saltus_frame* frame);
/* Most contacts of a frame. */
long long core_frame_store_contacts(const saltus_recording_data* data);

#endif
