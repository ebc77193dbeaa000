/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * recording_mutations.c - hostile recordings: bytes of tables and of HDF5 files are changed at random, columns of tables
 * removed, and numbers of recordings that were read changed. Whatever comes of it is read, verified, compared, made a report of and written for ParaView, or
 * refused with a message; sanitizers and assertions find the rest.
 *
 *   recording_mutations COUNT [SEED]
 *
 * HDF5 files with changed bytes are read in child processes: the library that reads them crashes on some. Such a child
 * is counted and its seed printed; it fails the test only when the child says that it was in code of Saltus: after the read.
 */
#include "recorded.h"

#include "saltus/report.h"
#include "saltus/vtk.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BASES = 3, BATCH = 64 };

static const struct {
  const char* scene;
  double until;
} bases[BASES] = {{"ball", 2.6}, {"rocking-block", 0.6}, {"contact-slip-to-roll", 0.3}};

typedef struct blob {
  unsigned char* bytes;
  size_t count;
} blob;

/* A recording as files, and the scene that judges it. */
typedef struct base {
  recorded text, hdf5;
  blob frames, events, contacts, h5;
} base;

static long long executions, judged, refused, children, crashed;

static double draw(uint64_t* state) {
  return saltus_test_random(state);
}

static size_t pick(uint64_t* state, size_t n) {
  return (size_t)(draw(state) * (double)n);
}

static blob read_blob(const char* path) {
  blob b = {NULL, 0};
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return b;
  }
  fseek(file, 0, SEEK_END);
  b.count = (size_t)ftell(file);
  rewind(file);
  b.bytes = malloc(b.count + 1);
  if (b.bytes == NULL || fread(b.bytes, 1, b.count, file) != b.count) {
    abort();
  }
  fclose(file);
  return b;
}

static void write_blob(const char* path, const blob* b) {
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(b->bytes, 1, b->count, file) != b->count || fclose(file) != 0) {
    abort();
  }
}

/* A copy with a few changes: bytes, digits, words that numbers may be, pieces cut out or doubled. */
static blob mutated(const blob* from, uint64_t* state) {
  static const char* const words[] = {"nan", "inf", "-1", "1e308", "-0", "9223372036854775808",
                                      ",",   "\n",  "#",  "",      "0x", "2147483648"};
  blob b = {malloc(2 * from->count + 256), from->count};
  if (b.bytes == NULL) {
    abort();
  }
  memcpy(b.bytes, from->bytes, from->count);
  int changes = 1 + (int)pick(state, 6);
  for (int i = 0; i < changes && b.count > 0; i++) {
    size_t at = pick(state, b.count);
    size_t length = 1 + pick(state, 24);
    length = at + length > b.count ? b.count - at : length;
    double kind = draw(state);
    if (kind < 0.4) {
      b.bytes[at] = (unsigned char)pick(state, 256);
    } else if (kind < 0.6) {
      b.bytes[at] = (unsigned char)(b.bytes[at] ^ (1u << pick(state, 8)));
    } else if (kind < 0.8) {
      const char* word = words[pick(state, sizeof words / sizeof words[0])];
      for (size_t k = 0; word[k] != '\0' && at + k < b.count; k++) {
        b.bytes[at + k] = (unsigned char)word[k];
      }
    } else if (kind < 0.9) {
      memmove(b.bytes + at, b.bytes + at + length, b.count - at - length);
      b.count -= length;
    } else if (b.count + length <= 2 * from->count + 256) {
      memmove(b.bytes + at + length, b.bytes + at, b.count - at);
      b.count += length;
    }
  }
  return b;
}

/* A copy of a table without one of its columns. */
static blob without_column(const blob* from, uint64_t* state) {
  blob b = {malloc(from->count + 1), 0};
  if (b.bytes == NULL) {
    abort();
  }
  const size_t column = pick(state, 40);
  size_t at = 0;
  while (at < from->count) {
    const bool comment = from->bytes[at] == '#';
    size_t place = 0;
    for (bool more = true; more && at < from->count; at++) {
      const unsigned char c = from->bytes[at];
      more = c != '\n';
      if (comment || place != column || c == '\n') {
        b.bytes[b.count++] = c;
      }
      place += c == ',';
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

/* The document of a report and the files for ParaView: what is drawn is written, or refused with a message. */
static void show(const saltus_recording_data* data, const saltus_scene_view* view,
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
  bool shown = saltus_report_document(&report, NULL) == SALTUS_OK;
  if (shown ? bytes == 0.0 : kept.text[0] == '\0') {
    abort();
  }
  saltus_vtk_def vtk = saltus_vtk_def_default();
  bytes = 0.0;
  vtk.data = data;
  vtk.scene = view;
  vtk.most = 5;
  vtk.around = 8;
  vtk.write = drop_file;
  vtk.user = &bytes;
  vtk.log = saltus_log_keep(&kept);
  shown = saltus_vtk_export(&vtk, NULL) == SALTUS_OK;
  if (shown ? bytes == 0.0 : kept.text[0] == '\0') {
    abort();
  }
}

/* Everything that takes a recording. */
static void judge(const saltus_recording_data* data, const base* of) {
  saltus_kept_message kept;
  const saltus_scene_view* view = saltus_scene_look(of->text.scene);
  saltus_verify_def def = saltus_verify_def_of(view, data);
  def.log = saltus_log_keep(&kept);
  saltus_certificate certificate;
  saltus_status status = saltus_verify(&def, &certificate);
  saltus_compare_def beside = saltus_compare_def_default();
  beside.a = of->text.data;
  beside.b = data;
  beside.system = view->system;
  beside.any = true;
  beside.log = saltus_log_keep(&kept);
  saltus_comparison* comparison = NULL;
  saltus_compare(&beside, &comparison);
  saltus_comparison_destroy(comparison);
  show(data, view, status == SALTUS_OK ? &certificate : NULL);
  judged += status == SALTUS_OK;
  refused += status != SALTUS_OK;
}

static void try_file(const char* path, const base* of, volatile int* in_saltus) {
  saltus_kept_message kept;
  saltus_recording_data* data = NULL;
  saltus_status status = saltus_recording_read(path, saltus_log_keep(&kept), NULL, &data);
  *in_saltus = 1;
  if (status == SALTUS_OK) {
    judge(data, of);
  } else {
    refused++;
    if (kept.text[0] == '\0') {
      abort(); /* refused without a word */
    }
  }
  saltus_recording_data_destroy(data);
}

/* --- tables ----------------------------------------------------------------------------------------- */

static void attack_table(const base* of, const char* folder, uint64_t* state) {
  char path[64];
  const blob* files[] = {&of->frames, &of->events, &of->contacts};
  static const char* const names[] = {"run.csv", "run.events.csv", "run.contacts.csv"};
  size_t target = pick(state, of->contacts.count > 0 ? 3 : 2);
  for (size_t i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
    if (files[i]->count == 0) {
      continue;
    }
    const bool cut = i == target && draw(state) < 0.1;
    blob b = cut           ? without_column(files[i], state)
             : i == target ? mutated(files[i], state)
                           : *files[i];
    write_blob(path, &b);
    if (i == target) {
      free(b.bytes);
    }
  }
  volatile int in_saltus = 1;
  snprintf(path, sizeof path, "%s/run.csv", folder);
  try_file(path, of, &in_saltus);
}

/* --- numbers ---------------------------------------------------------------------------------------- */

static double hostile(uint64_t* state) {
  static const double values[] = {0.0,   -0.0, 1.0,     -1.0, 1e308, -1e308, 5e-324,
                                  1e-30, 1e18, -2.5e-9, 3.0,  1e6,   1e-3,   -1e6};
  double kind = draw(state);
  return kind < 0.1   ? (double)NAN
         : kind < 0.2 ? (double)INFINITY
         : kind < 0.3 ? (double)-INFINITY
                      : values[pick(state, sizeof values / sizeof values[0])];
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
  int changes = 1 + (int)pick(state, 4);
  int done = 0;
  for (int i = 0; i < changes; i++) {
    size_t k = pick(state, sizeof arrays / sizeof arrays[0]);
    if (arrays[k].at != NULL && arrays[k].count > 0) {
      changed[done] = arrays[k].at + pick(state, (size_t)arrays[k].count);
      old[done] = *changed[done];
      *changed[done++] = hostile(state);
    }
  }
  long long frame = (long long)pick(state, (size_t)d->count);
  long long step = d->step[frame];
  d->step[frame] = draw(state) < 0.2 ? (long long)(hostile(state) < 1.0 ? -5 : INT64_MAX) : step;
  saltus_event event = {0};
  long long place = d->event_count > 0 ? (long long)pick(state, (size_t)d->event_count) : 0;
  if (d->event_count > 0) {
    event = d->events[place];
    d->events[place].t = draw(state) < 0.3 ? hostile(state) : event.t;
    d->events[place].contact = draw(state) < 0.2 ? (int)pick(state, 1000) - 500 : event.contact;
    d->events[place].impulse[0] = draw(state) < 0.3 ? hostile(state) : event.impulse[0];
  }
  judge(d, of);
  if (d->event_count > 0) {
    d->events[place] = event;
  }
  d->step[frame] = step;
  while (done-- > 0) {
    *changed[done] = old[done];
  }
}

/* --- HDF5 files ------------------------------------------------------------------------------------- */

/* Whether the executions of a batch passed; a crash inside the library that reads HDF5 is counted. */
static bool attack_files(const base* of, const char* folder, uint64_t seed, int count) {
  volatile int* shared = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    abort();
  }
  bool good = true;
  for (int first = 0; first < count;) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
      char path[64];
      snprintf(path, sizeof path, "%s/run.h5", folder);
      for (int i = first; i < count; i++) {
        uint64_t state = seed + (uint64_t)i;
        shared[0] = 0;
        shared[1] = i;
        blob b = mutated(&of->h5, &state);
        write_blob(path, &b);
        free(b.bytes);
        alarm(60);
        try_file(path, of, shared);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    children++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      break;
    }
    crashed++;
    printf("seed %" PRIu64 ": a child ended by %s %d, %s\n", seed + (uint64_t)shared[1],
           WIFSIGNALED(status) ? "signal" : "exit",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
           shared[0] ? "after the read: in Saltus" : "while HDF5 read");
    good = good && shared[0] == 0;
    first = shared[1] + 1;
  }
  munmap((void*)shared, 64);
  return good;
}

static base make_base(int i) {
  base b = {.text = record(bases[i].scene,
                           (way){.scheme = "adaptive", .tol = 1e-4, .until = bases[i].until})};
  char path[64];
  snprintf(path, sizeof path, "%s/run.csv", b.text.folder);
  b.frames = read_blob(path);
  snprintf(path, sizeof path, "%s/run.events.csv", b.text.folder);
  b.events = read_blob(path);
  snprintf(path, sizeof path, "%s/run.contacts.csv", b.text.folder);
  b.contacts = read_blob(path);
  if (saltus_has("hdf5")) {
    b.hdf5 =
        record(bases[i].scene,
               (way){.scheme = "adaptive", .tol = 1e-4, .until = bases[i].until, .hdf5 = true});
    b.h5 = read_blob(b.hdf5.path);
  }
  return b;
}

int main(int argc, char** argv) {
  long long count = argc > 1 ? strtoll(argv[1], NULL, 10) : 1000;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  char folder[] = "/tmp/saltus-hostile-XXXXXX";
  if (mkdtemp(folder) == NULL) {
    return 1;
  }
  base all[BASES];
  for (int i = 0; i < BASES; i++) {
    all[i] = make_base(i);
  }
  bool good = true;
  for (uint64_t state = seed; executions < count;) {
    base* of = &all[pick(&state, BASES)];
    double kind = draw(&state);
    if (kind < 0.02 && of->h5.count > 0) {
      good = attack_files(of, folder, state, BATCH) && good;
      executions += BATCH;
    } else if (kind < 0.4) {
      attack_table(of, folder, &state);
      executions++;
    } else {
      attack_numbers(of, &state);
      executions++;
    }
  }
  static const char* const names[] = {"run.csv", "run.events.csv", "run.contacts.csv", "run.h5"};
  for (int i = 0; i < 4; i++) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
  for (int i = 0; i < BASES; i++) {
    forget(&all[i].text);
    free(all[i].frames.bytes);
    free(all[i].events.bytes);
    free(all[i].contacts.bytes);
    if (all[i].h5.count > 0) {
      forget(&all[i].hdf5);
      free(all[i].h5.bytes);
    }
  }
  printf("%lld executions from seed %" PRIu64
         ": %lld judged and %lld refused in this process, %lld children, %lld of "
         "them crashed\n",
         executions, seed, judged, refused, children, crashed);
  return good ? 0 : 1;
}
