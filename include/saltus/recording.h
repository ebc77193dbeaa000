/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * recording.h - runs on disk: HDF5 (.h5) and text tables (.csv), written during the run, read back.
 *
 * At any time of the run, also after kill -9, the file under its name is complete and contains all data up to the last
 * flush. The HDF5 writer keeps two files for this: a closed one under the name, and a second one (name + ".back") that
 * is extended, closed and then renamed to the first. Equal runs give identical bytes, independent of the times of
 * flushes.
 *
 * HDF5 layout, N frames, all numbers little-endian doubles unless stated otherwise:
 *
 *   /step [N] int64            /t [N] s              /q [N, nq]        /v [N, nv]
 *   /outputs [N, no], outputs of the scene
 *   /contacts/gap [N, nc] m    /contacts/velocity [N, nc] m/s, normal
 *   /contacts/force [N, nc, 3] N, mean since the last frame without impacts, normal first
 *   /contacts/impulse [N, nc, 3] N s, sum of the impacts since the last frame
 *   /contacts/friction_work, /contacts/impact_work [N, nc] J since the start
 *   /energy/external, drive, friction, impact, remainder, created [N] J since the start, see ledger.h
 *   /joints/force [N, nj] N    /energy/kinetic, /energy/potential [N] J
 *   /residual/velocity [N] m/s /residual/impulse [N] N s      /residual/penetration [N] m
 *   /control/h [N] s           /control/error [N] tolerances  /control/order, rejections [N]
 *   /events [E] compound: kind (text), t, t_accuracy, contact (int32), u_before, u_after, impulse,
 *                  impulse_t1, impulse_t2, slip_before_1, ..., slip_after_2, energy_change
 *
 * For a time-varying contact set (SALTUS_CHANGING_CONTACTS) there is a table of R rows instead of
 * /contacts, the rows of each frame by rising identity:
 *
 *   /contact_table/start [N] int64, first row of each frame
 *   /contact_table/identity [R] uint64, law [R] int64, bodies [R, 2] int64, point, normal [R, 3],
 *                  gap, velocity [R], force, impulse [R, 3], friction_work, impact_work [R] J
 *   /events with `identity` (uint64) and `law` (int32) as last members
 *
 * Datasets of width zero are absent. Attributes: `units` on each dataset; `columns` and
 * `column_units` where a dataset has columns; on the root `format` "saltus-recording",
 * `format_version` 1 (with a contact table 2, and `law_names`), `saltus_version`, `name`, `scheme`,
 * `options`, `accuracy`, `explanation` and `until` where available, `scene`, `scene_sha256`,
 * `status`, `steps`, `cpu_seconds`, `nq`, `nv`, `nc`, `nj`, and where the scene has outputs and
 * events of its own `no` and `event_names`. docs/recording.md describes both formats.
 */
#ifndef SALTUS_RECORDING_H
#define SALTUS_RECORDING_H

#include "saltus/memory.h"
#include "saltus/sim.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_recording_def {
  const char* path;               /* ends in .h5 or .csv; a recording of that name is replaced */
  bool force;                     /* also replaces files that are not recordings */
  const saltus_system* system;    /* sizes, labels, names of contacts; copied */
  const char* const* joint_names; /* [nj] or NULL */
  const saltus_observables* observables; /* outputs and events of the scene; NULL: none */
  const char* name;                      /* of the run; NULL: "" here and in the texts below */
  const char* scheme;                    /* name of the scheme */
  const char* options;                   /* the scheme's options as text */
  const char* scene;                     /* full text of the scene */
  const char* version;                   /* of the program; NULL: saltus_version() */
  double flush_interval;                 /* s between flushes, >= 0 */
  saltus_log log;                        /* receives the reason of every failure, once */
  const saltus_allocator* allocator;     /* NULL: the C library */
  const char* accuracy; /* estimated accuracy of the motion, "error=0.4 ..."; NULL: not available */
  double until;         /* s, end of the run as requested; 0: not available */
  SALTUS_RESERVED(6);
} saltus_recording_def;

/* A flush every second. */
SALTUS_API saltus_recording_def saltus_recording_def_default(void);

/* End of the run, for the file. */
typedef struct saltus_recording_summary {
  const char* failure; /* NULL: status "complete"; else the status is "failed: " and this text */
  long long steps;
  double cpu_seconds; /* NaN: not stored, so that the bytes are reproducible */
} saltus_recording_summary;

typedef struct saltus_recording saltus_recording;

/* Writes the head of the file at once, so that a path that cannot be written fails before the run:
 * SALTUS_ERR_NAME for another extension, SALTUS_ERR_IO also for a file that another run is writing or that is not a
 * recording, SALTUS_ERR_RANGE for a member of the definition. On failure *out is NULL
 * and the log has the reason. */
SALTUS_API saltus_status saltus_recording_create(const saltus_recording_def* def,
                                                 saltus_recording** out);

/* Recorder for the simulation; valid until close. After a failed write every call returns the
 * first error, so the run stops. */
SALTUS_API saltus_recorder saltus_recording_recorder(saltus_recording* recording);

/* Number of frames on disk, and the time of the last; t may be NULL. After a failed write, the frames that were kept:
 * a table without any is removed. */
SALTUS_API long long saltus_recording_kept(const saltus_recording* recording, double* t);

/* Approximate bytes of a frame in the file. */
SALTUS_API double saltus_recording_frame_bytes(const saltus_recording* recording);
/* Whether it takes twice its size on disk while it is written. */
SALTUS_API bool saltus_recording_doubles(const saltus_recording* recording);

/* Writes all received data to disk. */
SALTUS_API saltus_status saltus_recording_flush(saltus_recording* recording);

/* The text of saltus_run_explain: requested accuracy and limits of the steps; copied. Written when
 * the file is closed. */
SALTUS_API saltus_status saltus_recording_explain(saltus_recording* recording, const char* text);

/* Flushes, writes the summary and ends the recording. Returns the first error of the recording. */
SALTUS_API saltus_status saltus_recording_close(saltus_recording* recording,
                                                const saltus_recording_summary* summary);

/* Without a previous close the file stays as after the last flush, with status "running". */
SALTUS_API void saltus_recording_destroy(saltus_recording* recording);

/* Contacts of a time-varying set: rows start[i] .. start[i + 1] - 1 are those of frame i, by ascending identity. A
 * contact that acted since the frame before and no longer exists has gap NaN. */
typedef struct saltus_recorded_contacts {
  long long count;                     /* rows */
  long long* start;                    /* [frames + 1] */
  uint64_t* identity;                  /* [count] */
  long long* law;                      /* [count] index in law_names */
  long long* bodies;                   /* [count x 2] -1: none, or not available */
  double* point;                       /* [count x 3] m; NaN: not available */
  double* normal;                      /* [count x 3] */
  double *gap, *velocity;              /* [count] m, m/s */
  double* force;                       /* [count x 3] N */
  double* impulse;                     /* [count x 3] N s */
  double *friction_work, *impact_work; /* [count] J since the frame before */
} saltus_recorded_contacts;

/* A recording in memory. Arrays are NULL where the file has no such data (width zero, or a foreign
 * table without these columns). Texts are never NULL. */
typedef struct saltus_recording_data {
  long long count; /* frames */
  int nq, nv, nc, nj;
  int output_count, event_name_count; /* of the scene */
  long long* step;
  double* t;                           /* [count] s */
  double* q;                           /* [count x nq] */
  double* v;                           /* [count x nv] */
  double* outputs;                     /* [count x output_count] */
  double* gap;                         /* [count x nc] m */
  double* velocity;                    /* [count x nc] m/s */
  double* force;                       /* [count x nc x 3] N */
  double* impulse;                     /* [count x nc x 3] N s */
  double* joint_force;                 /* [count x nj] N, without impacts */
  double *kinetic, *potential;         /* [count] J */
  double *friction_work, *impact_work; /* [count x nc] J since the start */
  /* [count] J since the start, the terms of ledger.h; NULL in the first recordings, like the two
   * above */
  double *energy_external, *energy_friction, *energy_impact, *energy_remainder, *energy_created;
  double* energy_drive; /* the same; NULL in the first recordings, whose `given` contains both */
  double* residual_velocity; /* [count] m/s */
  double* residual_impulse;  /* [count] N s */
  double* penetration;       /* [count] m, deepest since the frame before */
  double* h;                 /* [count] s, last step */
  double* error;             /* [count] largest estimate since the frame before, in tolerances */
  double* error_order;       /* [count] order of the local error in the last step */
  double* rejections;        /* [count] since the frame before */
  saltus_event* events;
  long long event_count;
  saltus_label* q_labels;      /* [nq] */
  saltus_label* v_labels;      /* [nv] */
  const char** contact_names;  /* [nc] */
  const char** joint_names;    /* [nj] */
  saltus_label* output_labels; /* [output_count] */
  const char** event_names;    /* [event_name_count] */
  const char *name, *scheme, *options, *scene, *version;
  const char* status; /* "complete", "failed: ...", or "running": the run was interrupted */
  long long steps;    /* -1 while running */
  double cpu_seconds; /* NaN: not available */

  bool changing; /* time-varying contact set: nc is 0 and contacts are in the table */
  saltus_recorded_contacts table; /* empty for a fixed set */
  const char** law_names;         /* [law_count] of a changing set */
  int law_count;
  const char* accuracy; /* "": not available */
  /* Of the text of the scene at the start of the run; "": not available */
  const char* scene_sha256;
  const char* explanation; /* requested accuracy, limits of the steps; "": not available */
  /* [count x nj] N s at impacts since the frame before; NULL in the first recordings */
  double* joint_impulse;
  double until; /* s, end of the run as requested; NaN: not available */
} saltus_recording_data;

/* Either format. Other files, including damaged ones, are rejected with SALTUS_ERR_INPUT and a message that names the
 * file and the position; SALTUS_ERR_IO when the file cannot be read at all. A .csv of another program is accepted if
 * it has a column t; columns q1, q2, ... and v1, v2,
 * ... (or y with y' or y_dot, any name) fill q and v, others are omitted with a note. */
SALTUS_API saltus_status saltus_recording_read(const char* path, saltus_log log,
                                               const saltus_allocator* allocator,
                                               saltus_recording_data** out);
SALTUS_API void saltus_recording_data_destroy(saltus_recording_data* data);

/* A text table: comment lines with #, one header line, then numbers separated by commas. A column t is time and must
 * not decrease. */
typedef struct saltus_table {
  long long rows;
  int columns;
  saltus_label* labels; /* [columns]; "y [m]" gives name "y" and unit "m" */
  double* values;       /* [columns x rows], column by column */
  const char* comments; /* the comment lines without #, one per line */
} saltus_table;

/* Reads a CSV file. On failure *out is NULL and the log names file and line: SALTUS_ERR_IO, SALTUS_ERR_INPUT,
 * SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_table_read(const char* path, saltus_log log,
                                           const saltus_allocator* allocator, saltus_table** out);

/* [rows], or NULL when there is no such column. */
SALTUS_API const double* saltus_table_column(const saltus_table* table, const char* name);
SALTUS_API void saltus_table_destroy(saltus_table* table);

SALTUS_END_DECLS

#endif
