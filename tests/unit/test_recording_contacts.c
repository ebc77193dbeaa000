/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Recordings of a set of contacts that changes: tables with as many rows in a frame as there are
 * contacts, identities of 64 bits, and recordings of the first format beside them.
 */
#include "saltus_test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NQ = 2, MOST = 70, PATH = 256, LAWS = 2, FRAMES = 3000 };

static const char* const extensions[] = {".csv", ".h5"};
static const saltus_contact_law laws[LAWS] = {{.name = "disc,\n\"disc\""}, {.name = "wall"}};
static const saltus_system changing = {
    .dims = {.nq = NQ, .nv = NQ, .nc = 3},
    .traits = SALTUS_CHANGING_CONTACTS,
    .laws = laws,
    .law_count = LAWS,
};

/* --- a run made of noise ------------------------------------------------------------------- */

static int folder_make(void** state) {
  char* folder = malloc(PATH);
  assert_non_null(folder);
  snprintf(folder, PATH, "/tmp/saltus-contacts-XXXXXX");
  assert_non_null(mkdtemp(folder));
  *state = folder;
  return 0;
}

static int folder_remove(void** state) {
  char command[PATH + 32];
  snprintf(command, sizeof command, "rm -rf '%s'", (char*)*state);
  int code = system(command);
  free(*state);
  return code;
}

static const char* in_folder(void** state, const char* name, const char* extension, char* path) {
  snprintf(path, PATH, "%s/%s%s", (const char*)*state, name, extension);
  return path;
}

static double noise(uint64_t* seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return (double)(int64_t)*seed * pow(2.0, (double)(*seed % 41) - 80.0);
}

typedef struct noisy_frame {
  saltus_frame frame;
  double q[NQ], v[NQ];
  saltus_contact_frame contacts[MOST];
} noisy_frame;

/* None, a few or many contacts, so that rows and frames begin chunks of a file at different times. */
static int rows_of(long long i) {
  return i % 5 == 0 ? 0 : i % 97 == 1 ? MOST : (int)(i * 7919 % 6);
}

static void make_frame(long long i, noisy_frame* n) {
  uint64_t seed = 88172645463325252ULL + (uint64_t)i;
  *n = (noisy_frame){.frame = {.step = i, .t = 0.1 * (double)i, .q = n->q, .v = n->v}};
  n->frame.contacts = n->contacts;
  n->frame.contact_count = rows_of(i);
  n->q[0] = noise(&seed);
  n->v[1] = noise(&seed);
  for (int k = 0; k < n->frame.contact_count; k++) {
    saltus_contact_frame* c = &n->contacts[k];
    double* const numbers[] = {&c->velocity,   &c->force[0],   &c->force[1],   &c->force[2],
                               &c->impulse[0], &c->impulse[1], &c->impulse[2], &c->friction,
                               &c->impact,     &c->point[0],   &c->point[1],   &c->point[2],
                               &c->normal[0],  &c->normal[1],  &c->normal[2]};
    for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
      *numbers[j] = noise(&seed);
    }
    c->gap = i % 7 == 0 ? NAN : noise(&seed);
    noise(&seed);
    c->identity = k == 1 ? UINT64_MAX : seed;
    c->law = (int)(seed % LAWS);
    c->bodies[0] = k == 2 ? -1 : (int)(seed >> 40);
    c->bodies[1] = (int)(seed % 1000);
  }
}

static saltus_event make_event(long long i) {
  uint64_t seed = 5463325252ULL + (uint64_t)i;
  return (saltus_event){.kind = SALTUS_EVENT_IMPACT,
                        .t = noise(&seed),
                        .contact = (int)(i % 1000),
                        .impulse = {noise(&seed)},
                        .identity = UINT64_MAX - (uint64_t)i,
                        .law = (int)(i % LAWS)};
}

static saltus_recording* begin(const char* path) {
  saltus_recording_def def = saltus_recording_def_default();
  def.path = path;
  def.system = &changing;
  def.flush_interval = 1e9;
  def.version = "9.8.7";
  saltus_recording* recording = NULL;
  assert_int_equal(saltus_recording_create(&def, &recording), SALTUS_OK);
  return recording;
}

static void record(saltus_recording* recording, long long from, long long to) {
  saltus_recorder recorder = saltus_recording_recorder(recording);
  for (long long i = from; i < to; i++) {
    noisy_frame n;
    make_frame(i, &n);
    assert_int_equal(recorder.frame(recorder.user, &n.frame), SALTUS_OK);
    if (i % 3 == 2) {
      saltus_event event = make_event(i / 3);
      assert_int_equal(recorder.event(recorder.user, &event), SALTUS_OK);
    }
  }
}

static void finish(saltus_recording* recording) {
  const saltus_recording_summary summary = {.steps = 1234, .cpu_seconds = NAN};
  assert_int_equal(saltus_recording_close(recording, &summary), SALTUS_OK);
  saltus_recording_destroy(recording);
}

static void write_run(const char* path, long long frames) {
  saltus_recording* recording = begin(path);
  record(recording, 0, frames);
  finish(recording);
}

static saltus_recording_data* read_good(const char* path) {
  saltus_recording_data* data = NULL;
  saltus_kept_message kept;
  if (saltus_recording_read(path, saltus_log_keep(&kept), NULL, &data) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return data;
}

/* Without HDF5 in the library only the first extension counts. */
static int extension_count(void) {
  saltus_recording_data* data;
  saltus_status status = saltus_recording_read("/no/such.h5", (saltus_log){0}, NULL, &data);
  return status == SALTUS_ERR_UNSUPPORTED ? 1 : 2;
}

static void assert_same(double a, double b) {
  assert_true((isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0);
}

static void check_row(const saltus_recorded_contacts* table, long long row,
                      const saltus_contact_frame* c) {
  assert_true(table->identity[row] == c->identity);
  assert_int_equal(table->law[row], c->law);
  assert_same(table->gap[row], c->gap);
  assert_same(table->velocity[row], c->velocity);
  assert_same(table->friction_work[row], c->friction);
  assert_same(table->impact_work[row], c->impact);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(table->bodies[2 * row + k], c->bodies[k]);
  }
  for (int k = 0; k < 3; k++) {
    assert_same(table->point[3 * row + k], c->point[k]);
    assert_same(table->normal[3 * row + k], c->normal[k]);
    assert_same(table->force[3 * row + k], c->force[k]);
    assert_same(table->impulse[3 * row + k], c->impulse[k]);
  }
}

static void check_run(const saltus_recording_data* d) {
  assert_true(d->changing);
  assert_int_equal(d->nc, 0);
  assert_int_equal(d->table.start[0], 0);
  assert_int_equal(d->table.start[d->count], d->table.count);
  for (long long i = 0; i < d->count; i++) {
    noisy_frame n;
    make_frame(i, &n);
    assert_same(d->t[i], n.frame.t);
    assert_same(d->q[NQ * i], n.q[0]);
    assert_same(d->v[NQ * i + 1], n.v[1]);
    assert_int_equal(d->table.start[i + 1] - d->table.start[i], rows_of(i));
    for (int k = 0; k < rows_of(i); k++) {
      check_row(&d->table, d->table.start[i] + k, &n.contacts[k]);
    }
  }
  for (long long i = 0; i < d->event_count; i++) {
    saltus_event e = make_event(i);
    assert_true(d->events[i].identity == e.identity);
    assert_int_equal(d->events[i].law, e.law);
    assert_same(d->events[i].t, e.t);
    assert_same(d->events[i].impulse[0], e.impulse[0]);
  }
}

static char* load(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char* content = malloc(*bytes + 1);
  assert_non_null(content);
  assert_int_equal(fread(content, 1, *bytes, file), *bytes);
  content[*bytes] = 0;
  fclose(file);
  return content;
}

static void store(const char* path, const char* content, size_t bytes) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(content, 1, bytes, file), bytes);
  assert_int_equal(fclose(file), 0);
}

static void assert_same_files(const char* a, const char* b) {
  size_t bytes_a, bytes_b;
  char* content_a = load(a, &bytes_a);
  char* content_b = load(b, &bytes_b);
  assert_int_equal(bytes_a, bytes_b);
  assert_memory_equal(content_a, content_b, bytes_a);
  free(content_a);
  free(content_b);
}

/* --- claims -------------------------------------------------------------------------------- */

static void every_row_comes_back_bit_for_bit(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    write_run(in_folder(state, "run", extensions[x], path), FRAMES);
    saltus_recording_data* d = read_good(path);
    assert_int_equal(d->count, FRAMES);
    assert_int_equal(d->event_count, FRAMES / 3);
    assert_int_equal(d->law_count, LAWS);
    assert_string_equal(d->law_names[0], "disc, \"disc\""); /* a name is one line */
    assert_string_equal(d->law_names[1], "wall");
    check_run(d);
    saltus_recording_data_destroy(d);
  }
}

static void equal_runs_give_equal_bytes_whenever_they_flush(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char a[PATH], b[PATH];
    write_run(in_folder(state, "a", extensions[x], a), FRAMES);
    saltus_recording* recording = begin(in_folder(state, "b", extensions[x], b));
    for (long long done = 0, next; done < FRAMES; done = next) {
      next = done + 1 + (done * 7919) % 301;
      next = next > FRAMES ? FRAMES : next;
      record(recording, done, next);
      assert_int_equal(saltus_recording_flush(recording), SALTUS_OK);
    }
    finish(recording);
    assert_same_files(a, b);
  }
  char a[PATH], b[PATH];
  assert_same_files(in_folder(state, "a", ".contacts.csv", a),
                    in_folder(state, "b", ".contacts.csv", b));
  assert_same_files(in_folder(state, "a", ".events.csv", a),
                    in_folder(state, "b", ".events.csv", b));
}

/* One frame with more rows than a buffer has. */
static void a_frame_of_forty_thousand_contacts_is_recorded(void** state) {
  enum { MANY = 40000 };
  saltus_contact_frame* contacts = calloc(MANY, sizeof *contacts);
  assert_non_null(contacts);
  for (int i = 0; i < MANY; i++) {
    contacts[i].identity = (uint64_t)i << 40;
    contacts[i].gap = i;
  }
  const double q[NQ] = {0};
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    saltus_recording* recording = begin(in_folder(state, "run", extensions[x], path));
    saltus_recorder recorder = saltus_recording_recorder(recording);
    for (int i = 0; i < 3; i++) {
      const saltus_frame frame = {
          .t = i, .q = q, .v = q, .contacts = contacts, .contact_count = i == 1 ? MANY : i};
      assert_int_equal(recorder.frame(recorder.user, &frame), SALTUS_OK);
    }
    finish(recording);
    saltus_recording_data* d = read_good(path);
    assert_int_equal(d->count, 3);
    assert_int_equal(d->table.count, MANY + 2);
    assert_int_equal(d->table.start[1], 0);
    assert_int_equal(d->table.start[2], MANY);
    assert_true(d->table.identity[MANY - 1] == (uint64_t)(MANY - 1) << 40);
    assert_same(d->table.gap[MANY - 1], MANY - 1);
    saltus_recording_data_destroy(d);
  }
  free(contacts);
}

/* A child that records without end and reports through the pipe how far it has flushed. */
static void record_until_killed(const char* path, int pipe_end) {
  saltus_recording* recording = begin(path);
  for (long long done = 100;; done += 100) {
    record(recording, done - 100, done);
    if (saltus_recording_flush(recording) != SALTUS_OK ||
        write(pipe_end, &done, sizeof done) != sizeof done) {
      _exit(1);
    }
  }
}

static long long kill_a_writer(const char* path, long nanoseconds) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    record_until_killed(path, ends[1]);
  }
  close(ends[1]);
  long long flushed = 0;
  assert_int_equal(read(ends[0], &flushed, sizeof flushed), sizeof flushed);
  struct timespec rest = {0, nanoseconds};
  nanosleep(&rest, NULL);
  assert_int_equal(kill(child, SIGKILL), 0);
  int how;
  assert_int_equal(waitpid(child, &how, 0), child);
  while (read(ends[0], &flushed, sizeof flushed) == sizeof flushed) {
  }
  close(ends[0]);
  return flushed;
}

static void a_writer_killed_at_any_moment_leaves_a_readable_file(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    in_folder(state, "run", extensions[x], path);
    for (int i = 0; i < 20; i++) {
      long long flushed = kill_a_writer(path, 1000L * (i * 7919 % 20000));
      saltus_recording_data* d = read_good(path);
      assert_true(d->count >= flushed);
      check_run(d);
      assert_string_equal(d->status, "running");
      saltus_recording_data_destroy(d);
    }
  }
}

/* Reads what is there: the data, or NULL after a message that names the file. */
static saltus_recording_data* read_any(const char* path, const char* named) {
  saltus_recording_data* d = NULL;
  saltus_kept_message kept;
  if (saltus_recording_read(path, saltus_log_keep(&kept), NULL, &d) != SALTUS_OK) {
    assert_non_null(strstr(kept.text, named));
    assert_null(d);
  }
  return d;
}

/* A complete run whose table of contacts lost its end is refused; of an interrupted one the frames
 * that are whole are read. */
static void a_table_of_contacts_that_is_cut_is_refused_or_read_in_part(void** state) {
  char path[PATH], rows[PATH];
  in_folder(state, "run", ".contacts.csv", rows);
  for (int running = 0; running < 2; running++) {
    saltus_recording* recording = begin(in_folder(state, "run", ".csv", path));
    record(recording, 0, 100);
    if (running) {
      assert_int_equal(saltus_recording_flush(recording), SALTUS_OK);
      saltus_recording_destroy(recording);
    } else {
      finish(recording);
    }
    size_t bytes;
    char* content = load(rows, &bytes);
    for (size_t i = 0; i < 40; i++) {
      store(rows, content, bytes * i / 40);
      saltus_recording_data* d = read_any(path, "run");
      if (d != NULL) {
        assert_true(running);
        assert_in_range(d->count, 1, 99);
        check_run(d);
      } else {
        assert_true(!running || i == 0);
      }
      saltus_recording_data_destroy(d);
    }
    assert_int_equal(unlink(rows), 0);
    assert_null(read_any(path, rows));
    free(content);
  }
}

/* In HDF5 files every changed bit that matters is found by a checksum; a text is refused or read. */
static void a_flipped_byte_is_found_or_harmless(void** state) {
  static const char* const parts[] = {".contacts.csv", ".events.csv", ".csv", ".h5"};
  for (int x = 0; x < 2 + extension_count(); x++) {
    bool checked = strcmp(parts[x], ".h5") == 0;
    char path[PATH], part[PATH];
    in_folder(state, "run", checked ? ".h5" : ".csv", path);
    write_run(path, 60);
    size_t bytes;
    char* content = load(in_folder(state, "run", parts[x], part), &bytes);
    uint64_t seed = 20240607;
    for (int i = 0; i < saltus_test_draws(300); i++) {
      noise(&seed);
      size_t at = (size_t)(seed % (i % 2 ? bytes : bytes < 16384 ? bytes : 16384));
      char before = content[at];
      content[at] = (char)(content[at] ^ (char)(1 + (seed >> 32) % 255));
      store(part, content, bytes);
      content[at] = before;
      saltus_recording_data* d = read_any(path, "run");
      if (d && checked) {
        assert_int_equal(d->count, 60);
        check_run(d);
      }
      saltus_recording_data_destroy(d);
    }
    free(content);
  }
}

/* A text with one line replaced by another. */
static void replace(const char* path, const char* from, const char* to) {
  size_t bytes;
  char* content = load(path, &bytes);
  char* at = strstr(content, from);
  assert_non_null(at);
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  fprintf(file, "%.*s%s%s", (int)(at - content), content, to, at + strlen(from));
  fclose(file);
  free(content);
}

static void rows_that_contradict_the_frames_are_refused(void** state) {
  static const struct {
    const char *table, *from, *to, *says;
  } cases[] = {
      {".contacts.csv", "\n1,0.1", "\n2,0.1", "another number of contacts in this frame"},
      {".contacts.csv", "frame,t [s],identity", "frame,t [s],name", "not the header"},
      {".contacts.csv", "\n1,0.1", "\n1,x0.1", "not a contact"},
      {".csv", "# law_names: ", "# names: ", "law_names"},
      {".csv", "nc=0", "nc=1", "has no others"},
      {".csv", "saltus-recording 2", "saltus-recording 3", "versions 1 and 2"},
      {".events.csv", ",18446744073709551615", ",18446744073709551616", "not an event"},
      {".events.csv", ",18446744073709551615", ",-1", "not an event"},
      {".events.csv", ",18446744073709551615,0", ",18446744073709551615,2", "not an event"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char path[PATH], table[PATH];
    write_run(in_folder(state, "run", ".csv", path), 10);
    replace(in_folder(state, "run", cases[i].table, table), cases[i].from, cases[i].to);
    saltus_recording_data* d = NULL;
    saltus_kept_message kept;
    assert_int_equal(saltus_recording_read(path, saltus_log_keep(&kept), NULL, &d),
                     SALTUS_ERR_INPUT);
    assert_says(kept, cases[i].says);
  }
}

/* tests/recordings has the ball of scenes/ball.yaml, recorded by the release before tables of contacts:
 * impacts at 3 - 2^(1-n) s, where speeds 2^(1-n) turn into half of them. */
static void recordings_of_the_first_format_are_read(void** state) {
  (void)state;
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH + sizeof SALTUS_RECORDINGS];
    snprintf(path, sizeof path, "%s/ball-1%s", SALTUS_RECORDINGS, extensions[x]);
    saltus_recording_data* d = read_good(path);
    assert_false(d->changing);
    assert_int_equal(d->table.count, 0);
    assert_int_equal(d->count, 37);
    assert_int_equal(d->nc, 1);
    assert_string_equal(d->contact_names[0], "floor");
    assert_string_equal(d->status, "complete");
    assert_int_equal(d->event_count, 5);
    double sum = 0.0;
    for (int n = 0; n < 5; n++) {
      double u = ldexp(2.0, -n);
      /* the run had the tolerance 1e-9 */
      assert_near(d->events[n].t, n == 0 ? 1.0 : 3.0 - ldexp(2.0, -n), 1e-9);
      assert_near(d->events[n].impulse[0], 1.5 * u, 1e-9);
      assert_true(d->events[n].identity == 0);
      sum += 1.5 * u;
    }
    double recorded = 0.0;
    for (long long i = 0; i < d->count; i++) {
      recorded += d->impulse[3 * i];
    }
    assert_near(recorded, sum, 1e-8);
    assert_non_null(d->energy_external);
    assert_near(d->energy_impact[d->count - 1], -2.0 * (1.0 - pow(0.25, 5)), 1e-8);
    saltus_recording_data_destroy(d);
  }
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(every_row_comes_back_bit_for_bit),
      CLAIM(equal_runs_give_equal_bytes_whenever_they_flush),
      CLAIM(a_frame_of_forty_thousand_contacts_is_recorded),
      CLAIM(a_writer_killed_at_any_moment_leaves_a_readable_file),
      CLAIM(a_table_of_contacts_that_is_cut_is_refused_or_read_in_part),
      CLAIM(a_flipped_byte_is_found_or_harmless),
      CLAIM(rows_that_contradict_the_frames_are_refused),
      CLAIM(recordings_of_the_first_format_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
