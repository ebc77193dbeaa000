/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * series.h - the recorded quantities of a frame, as one list for memory, both writers and both
 * readers.
 */
#ifndef SALTUSI_SERIES_H
#define SALTUSI_SERIES_H

#include "base/pool.h"
#include "io/contact_rows.h"
#include "saltus/recording.h"

/* Every item is 8 bytes wide: a double, or a long long for the step. */
enum { SALTUSI_ITEM = 8 };

/* Indices in saltusi_series_list. */
enum {
  SALTUSI_STEP,
  SALTUSI_T,
  SALTUSI_Q,
  SALTUSI_V,
  SALTUSI_OUTPUTS,
  SALTUSI_GAP,
  SALTUSI_VELOCITY,
  SALTUSI_FORCE,
  SALTUSI_IMPULSE,
  SALTUSI_FRICTION_WORK,
  SALTUSI_IMPACT_WORK,
  SALTUSI_JOINT_FORCE,
  SALTUSI_JOINT_IMPULSE,
  SALTUSI_KINETIC,
  SALTUSI_POTENTIAL,
  SALTUSI_ENERGY_EXTERNAL,
  SALTUSI_ENERGY_DRIVE,
  SALTUSI_ENERGY_FRICTION,
  SALTUSI_ENERGY_IMPACT,
  SALTUSI_ENERGY_REMAINDER,
  SALTUSI_ENERGY_CREATED,
  SALTUSI_RESIDUAL_VELOCITY,
  SALTUSI_RESIDUAL_IMPULSE,
  SALTUSI_PENETRATION,
  SALTUSI_CONTROL_H,
  SALTUSI_CONTROL_ERROR,
  SALTUSI_CONTROL_ORDER,
  SALTUSI_CONTROL_REJECTIONS,
  SALTUSI_CONTACT_START, /* of a time-varying set; a text table has numbers of rows instead */
  SALTUSI_SERIES_COUNT
};

typedef enum saltusi_per {
  SALTUSI_PER_FRAME,
  SALTUSI_PER_Q,
  SALTUSI_PER_V,
  SALTUSI_PER_CONTACT,
  SALTUSI_PER_JOINT,
  SALTUSI_PER_OUTPUT,
  SALTUSI_PER_TABLE /* one per frame of a time-varying contact set */
} saltusi_per;

typedef struct saltusi_series {
  const char* path;   /* dataset in HDF5 */
  const char* column; /* name in a text table; after "contact." or "joint." for those */
  const char* unit;   /* "" where each column has its own */
  saltusi_per per;
  int components; /* 1, or 3 with the normal first */
  bool integer;
  size_t member; /* of the pointer in saltus_recording_data */
  bool later;    /* absent in the first recordings, which can still be read */
  /* former names of the series; NULL: none */
  const char *former_path, *former_column;
} saltusi_series;

extern const saltusi_series saltusi_series_list[SALTUSI_SERIES_COUNT];

/* Dimensions of the dataset. */
int saltusi_series_rank(const saltusi_series* series);

/* Columns: contacts, joints, ...; items of one frame are columns x components. */
int saltusi_series_columns(const saltusi_series* series, const saltus_recording_data* shape);
size_t saltusi_series_width(const saltusi_series* series, const saltus_recording_data* shape);

/* The array of this series in `data`. */
void* saltusi_series_get(const saltusi_series* series, const saltus_recording_data* data);
void saltusi_series_set(const saltusi_series* series, saltus_recording_data* data, void* array);

/* Name and unit of a column. */
const char* saltusi_series_column_name(const saltusi_series* series,
                                       const saltus_recording_data* data, int column);
const char* saltusi_series_column_unit(const saltusi_series* series,
                                       const saltus_recording_data* data, int column);

/* saltus_recording_data inside its pool. */
typedef struct saltusi_data {
  saltus_recording_data data; /* first: the public pointer is this one */
  saltusi_pool pool;
} saltusi_data;

/* Empty texts, no arrays; NULL without memory. */
saltusi_data* saltusi_data_create(const saltus_allocator* allocator);

/* Memory for the names of nq, nv, nc, nj columns, outputs, events and laws. */
saltus_status saltusi_data_name_workspace(saltus_recording_data* data, saltusi_pool* pool);

/* The numbers of an event, as one list for both formats: columns of the table, members in HDF5. */
typedef struct saltusi_event_field {
  const char* name;
  const char* unit;
  size_t member; /* of a double in saltus_event */
} saltusi_event_field;

enum { SALTUSI_EVENT_FIELDS = 11, SALTUSI_EVENT_FIELDS_FIRST = 4 /* of the first recordings */ };

extern const saltusi_event_field saltusi_event_fields[SALTUSI_EVENT_FIELDS];

double* saltusi_event_number(saltus_event* event, int field);

/* Computes energy_change, which the first format of recordings lacks. */
void saltusi_event_complete(saltus_event* event);

/* Whether the index of the contact or function exists; in a time-varying set, the index of the law. */
bool saltusi_event_fits(const saltus_event* event, const saltus_recording_data* shape);

/* Name of the contact or function; in a time-varying set, of its law. "" if it does not exist. */
const char* saltusi_event_name(const saltus_event* event, const saltus_recording_data* shape);

/* A saltus_event_kind, or -1 for another text. */
int saltusi_event_kind_from(const char* name);

#endif
