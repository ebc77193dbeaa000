/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * recordings.c - hostile recordings: tables with changed texts and without columns, HDF5 files with changed bytes,
 * numbers changed in memory, and (recordings_h5.c) datasets and attributes that are missing or of another size or type. Each is
 * read, verified, and compared, made a report of or exported to VTK in turn, or refused with a message.
 */
#include "fuzz.h"
#include "recorded.h"
#include "recordings_h5.h"

#include "saltus/report.h"
#include "saltus/vtk.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BASES = 5 };

/* Short runs: a few frames, with impacts, closed contacts, contacts of shapes and joints. */
static const struct {
  const char *scene, *scheme;
  double step, until;
} bases[BASES] = {{"ball", "adaptive", 0.0, 1.6},
                  {"rocking-block", "adaptive", 0.0, 0.3},
                  {"contact-slip-to-roll", "adaptive", 0.0, 0.1},
                  {"body-pendulum", "moreau-jean", 0.02, 0.08},
                  {"coulomb-block", "moreau-jean", 0.05, 0.2}};

/* A recording as files, and its scene. */
typedef struct base {
  recorded text, hdf5;
  fuzz_blob frames, events, contacts, h5;
} base;

static base made[BASES];
static char file_path[128];
static const char* own_folder = "";
static uint64_t turn;

/* A copy of a table without one of its columns, or with one twice. */
static fuzz_blob other_columns(const fuzz_blob* from, uint64_t* state) {
  fuzz_blob b = {malloc(2 * from->count + 1), 0};
  if (b.bytes == NULL) {
    abort();
  }
  const size_t column = fuzz_pick(state, 40);
  const bool twice = fuzz_chance(state, 40);
  for (size_t at = 0; at < from->count;) {
    const bool comment = from->bytes[at] == '#';
    size_t field = 0, start = at;
    for (bool more = true; more && at < from->count; at++) {
      const unsigned char c = from->bytes[at];
      more = c != '\n';
      const bool chosen = !comment && field == column;
      if (!chosen || twice || c == '\n') {
        b.bytes[b.count++] = c;
      }
      if (c == ',' || c == '\n') {
        if (chosen && twice && c == ',') {
          memcpy(b.bytes + b.count, from->bytes + start, at + 1 - start);
          b.count += at + 1 - start;
        }
        start = at + 1;
        field++;
      }
    }
  }
  return b;
}

static saltus_status drop(void* user, const void* bytes, size_t size) {
  (void)bytes;
  *(double*)user += (double)size;
  return SALTUS_OK;
}

static saltus_status drop_file(void* user, const char* name, const void* bytes, size_t size) {
  (void)name;
  return drop(user, bytes, size);
}

static void make_report(const saltus_recording_data* data, const saltus_scene_view* view,
                        const saltus_certificate* certificate) {
  saltus_kept_message kept;
  double bytes = 0.0;
  saltus_report_def report = saltus_report_def_default();
  report.data = data;
  report.scene = view;
  report.certificate = certificate;
  report.write = drop;
  report.user = &bytes;
  report.log = saltus_log_keep(&kept);
  const bool shown = saltus_report_document(&report, NULL) == SALTUS_OK;
  fuzz_require(shown ? bytes > 0.0 : kept.text[0] != '\0', "a report or a message");
}

static void export(const saltus_recording_data* data, const saltus_scene_view* view) {
  saltus_kept_message kept;
  double bytes = 0.0;
  saltus_vtk_def vtk = saltus_vtk_def_default();
  vtk.data = data;
  vtk.scene = view;
  vtk.most = 5;
  vtk.around = 8;
  vtk.write = drop_file;
  vtk.user = &bytes;
  vtk.log = saltus_log_keep(&kept);
  const bool shown = saltus_vtk_export(&vtk, NULL) == SALTUS_OK;
  fuzz_require(shown ? bytes > 0.0 : kept.text[0] != '\0', "files for VTK or a message");
}

static void compare(const saltus_recording_data* data, const base* of,
                    const saltus_scene_view* view) {
  saltus_kept_message kept;
  saltus_compare_def beside = saltus_compare_def_default();
  beside.a = of->text.data;
  beside.b = data;
  beside.system = view->system;
  beside.any = true;
  beside.log = saltus_log_keep(&kept);
  saltus_comparison* comparison = NULL;
  saltus_compare(&beside, &comparison);
  saltus_comparison_destroy(comparison);
}

/* The verifier, and one of the other readers of recordings in turn. */
static void evaluate(const saltus_recording_data* data, const base* of) {
  saltus_kept_message kept;
  const saltus_scene_view* view = saltus_scene_get_view(of->text.scene);
  saltus_verify_def def = saltus_verify_def_of(view, data);
  def.log = saltus_log_keep(&kept);
  saltus_certificate certificate;
  const saltus_status status = saltus_verify(&def, &certificate);
  fuzz_count(status == SALTUS_OK ? "verified" : "read, verification refused");
  fuzz_require(status == SALTUS_OK || kept.text[0] != '\0', "a refusal has a message");
  if (turn % 3 == 0) {
    compare(data, of, view);
  } else if (turn % 3 == 1) {
    make_report(data, view, status == SALTUS_OK ? &certificate : NULL);
  } else {
    export(data, view);
  }
}

static void try_file(const char* path, const base* of) {
  saltus_kept_message kept;
  saltus_recording_data* data = NULL;
  if (saltus_recording_read(path, saltus_log_keep(&kept), NULL, &data) == SALTUS_OK) {
    evaluate(data, of);
  } else {
    fuzz_count("refused by the reader");
    fuzz_require(kept.text[0] != '\0', "a refusal has a message");
    fuzz_require(data == NULL, "a refusal leaves nothing");
  }
  saltus_recording_data_destroy(data);
}

/* --- tables ----------------------------------------------------------------------------------------- */

static void attack_table(const base* of, const base* beside, uint64_t* state) {
  const fuzz_blob* files[] = {&of->frames, &of->events, &of->contacts};
  const fuzz_blob* others[] = {&beside->frames, &beside->events, &beside->contacts};
  static const char* const names[] = {"run.csv", "run.events.csv", "run.contacts.csv"};
  size_t target = fuzz_pick(state, 4) % 3; /* frames twice as often */
  target = files[target]->count > 0 ? target : 0;
  fuzz_blob changed = fuzz_chance(state, 20) ? other_columns(files[target], state)
                                             : fuzz_mutated(files[target], others[target], state);
  for (size_t i = 0; i < 3; i++) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", own_folder, names[i]);
    const fuzz_blob* b = i == target ? &changed : files[i];
    if (b->count > 0) {
      fuzz_write(path, b);
      fuzz_current(i == 0, names[i], b->bytes, b->count);
    } else {
      unlink(path);
    }
  }
  snprintf(file_path, sizeof file_path, "%s/run.csv", own_folder);
  try_file(file_path, of);
  free(changed.bytes);
}

/* --- numbers ---------------------------------------------------------------------------------------- */

static double hostile(uint64_t* state) {
  static const double values[] = {0.0,   -0.0, 1.0,     -1.0, 1e308, -1e308, 5e-324,
                                  1e-30, 1e18, -2.5e-9, 3.0,  1e6,   1e-3,   -1e6};
  const size_t kind = fuzz_pick(state, 10);
  return kind == 0   ? (double)NAN
         : kind == 1 ? (double)INFINITY
         : kind == 2 ? (double)-INFINITY
                     : values[fuzz_pick(state, sizeof values / sizeof values[0])];
}

static void attack_numbers(base* of, uint64_t* state) {
  saltus_recording_data* d = of->text.data;
  struct {
    double* at;
    long long count;
  } arrays[] = {{d->t, d->count},
                {d->q, d->count * d->nq},
                {d->v, d->count * d->nv},
                {d->gap, d->count * d->nc},
                {d->force, 3 * d->count * d->nc},
                {d->impulse, 3 * d->count * d->nc},
                {d->h, d->count},
                {d->energy_remainder, d->count},
                {d->kinetic, d->count},
                {d->table.force, 3 * d->table.count},
                {d->table.gap, d->table.count}};
  double* changed[4];
  double old[4];
  int changes = 1 + (int)fuzz_pick(state, 4);
  int done = 0;
  for (int i = 0; i < changes; i++) {
    size_t k = fuzz_pick(state, sizeof arrays / sizeof arrays[0]);
    if (arrays[k].at != NULL && arrays[k].count > 0) {
      changed[done] = arrays[k].at + fuzz_pick(state, (size_t)arrays[k].count);
      old[done] = *changed[done];
      *changed[done++] = hostile(state);
    }
  }
  long long frame = (long long)fuzz_pick(state, (size_t)d->count);
  long long step = d->step[frame];
  d->step[frame] =
      fuzz_chance(state, 20) ? (long long)(hostile(state) < 1.0 ? -5 : INT64_MAX) : step;
  saltus_event event = {0};
  long long place = d->event_count > 0 ? (long long)fuzz_pick(state, (size_t)d->event_count) : 0;
  if (d->event_count > 0) {
    event = d->events[place];
    d->events[place].t = fuzz_chance(state, 30) ? hostile(state) : event.t;
    d->events[place].contact =
        fuzz_chance(state, 20) ? (int)fuzz_pick(state, 1000) - 500 : event.contact;
    d->events[place].impulse[0] = fuzz_chance(state, 30) ? hostile(state) : event.impulse[0];
  }
  evaluate(d, of);
  if (d->event_count > 0) {
    d->events[place] = event;
  }
  d->step[frame] = step;
  while (done-- > 0) {
    *changed[done] = old[done];
  }
}

/* --- HDF5 files ------------------------------------------------------------------------------------- */

static void attack_bytes(const base* of, uint64_t* state) {
  fuzz_blob changed = {malloc(of->h5.count), of->h5.count};
  if (changed.bytes == NULL) {
    abort();
  }
  memcpy(changed.bytes, of->h5.bytes, of->h5.count);
  for (size_t i = 1 + fuzz_pick(state, 4); i > 0; i--) {
    const size_t at = fuzz_pick(state, changed.count);
    changed.bytes[at] = fuzz_chance(state, 50)
                            ? (unsigned char)fuzz_next(state)
                            : (unsigned char)(changed.bytes[at] ^ (1u << fuzz_pick(state, 8)));
  }
  changed.count = fuzz_chance(state, 2) ? fuzz_pick(state, changed.count) : changed.count;
  snprintf(file_path, sizeof file_path, "%s/run.h5", own_folder);
  fuzz_write(file_path, &changed);
  fuzz_current(true, "run.h5", changed.bytes, changed.count);
  try_file(file_path, of);
  free(changed.bytes);
}

static void attack_structure(const base* of, uint64_t* state) {
  snprintf(file_path, sizeof file_path, "%s/run.h5", own_folder);
  fuzz_write(file_path, &of->h5);
  recordings_h5_change(file_path, state);
  fuzz_blob changed = fuzz_read(file_path);
  fuzz_current(true, "run.h5", changed.bytes, changed.count);
  try_file(file_path, of);
  free(changed.bytes);
}

/* --- the kind --------------------------------------------------------------------------------------- */

static base make_base(int i) {
  const way w = {.scheme = bases[i].scheme,
                 .tol = bases[i].step > 0.0 ? 0.0 : 1e-4,
                 .step = bases[i].step,
                 .until = bases[i].until};
  base b = {.text = record(bases[i].scene, w)};
  char path[64];
  snprintf(path, sizeof path, "%s/run.csv", b.text.folder);
  b.frames = fuzz_read(path);
  snprintf(path, sizeof path, "%s/run.events.csv", b.text.folder);
  b.events = fuzz_read(path);
  snprintf(path, sizeof path, "%s/run.contacts.csv", b.text.folder);
  b.contacts = fuzz_read(path);
  if (saltus_has("hdf5")) {
    way h5 = w;
    h5.hdf5 = true;
    b.hdf5 = record(bases[i].scene, h5);
    b.h5 = fuzz_read(b.hdf5.path);
  }
  return b;
}

static void prepare(const char* folder) {
  own_folder = folder;
  for (int i = 0; i < BASES; i++) {
    made[i] = make_base(i);
  }
}

static void attack(uint64_t seed) {
  uint64_t state = seed;
  turn = seed;
  base* of = &made[fuzz_pick(&state, BASES)];
  const base* beside = &made[fuzz_pick(&state, BASES)];
  const size_t kind = fuzz_pick(&state, 100);
  if (kind < 20 && of->h5.count > 0) {
    fuzz_count("HDF5, bytes");
    attack_bytes(of, &state);
  } else if (kind < 35 && of->h5.count > 0) {
    fuzz_count("HDF5, datasets and attributes");
    attack_structure(of, &state);
  } else if (kind < 85) {
    fuzz_count("tables");
    attack_table(of, beside, &state);
  } else {
    fuzz_count("numbers");
    fuzz_current(true, "", "", 0);
    attack_numbers(of, &state);
  }
}

static void finish(void) {
  for (int i = 0; i < BASES; i++) {
    forget(&made[i].text);
    free(made[i].frames.bytes);
    free(made[i].events.bytes);
    free(made[i].contacts.bytes);
    if (made[i].h5.count > 0) {
      forget(&made[i].hdf5);
      free(made[i].h5.bytes);
    }
  }
}

const fuzz_kind fuzz_recordings = {"recordings", prepare, attack, finish};
