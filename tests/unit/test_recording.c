/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Recordings: what is written comes back, and what goes wrong on the way is said.
 */
#include "saltus_test.h"

#include "saltus/recording.h"

#ifndef SALTUS_WITHOUT_HDF5
#include <hdf5.h>
#endif
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char* const extensions[] = {".csv", ".h5"};

enum { NQ = 3, NV = 2, NC = 2, NJ = 1, NO = 2, NE = 2, PATH = 256 };

static const saltus_contact_law laws[NC] = {{.name = "floor", .tangents = 2},
                                            {.name = "wall, \"left\"", .tangents = 2}};
static const saltus_label q_labels[NQ] = {{"x", "m"}, {"y", "m"}, {"angle", "rad"}};
static const saltus_label v_labels[NV] = {{"x'", "m/s"}, {"y'", "m/s"}};
static const char* const joint_names[NJ] = {"elbow"};
static const saltus_system test_system = {.dims = {.nq = NQ, .nv = NV, .nj = NJ, .nc = NC},
                                          .laws = laws,
                                          .law_count = NC,
                                          .q_labels = q_labels,
                                          .v_labels = v_labels};

static const saltus_label output_labels[NO] = {{"height", "m"}, {"power", "W"}};
static const char* const event_names[NE] = {"crossing", "top"};
static const saltus_observables observables = {.output_count = NO,
                                               .output_labels = output_labels,
                                               .event_count = NE,
                                               .event_names = event_names};

static const char scene_text[] = "{\r\n  \"system\": \"ball\",\n\n  \"e\": 0.5\n}\n";

/* --- support: a folder of its own, a run made of noise --- */

static int folder_make(void** state) {
  char* folder = malloc(PATH);
  assert_non_null(folder);
  snprintf(folder, PATH, "/tmp/saltus-recording-XXXXXX");
  assert_non_null(mkdtemp(folder));
  *state = folder;
  return 0;
}

static int folder_remove(void** state) {
  char command[2 * PATH + 64];
  snprintf(command, sizeof command, "umount '%s' 2>/dev/null; rm -rf '%s'", (char*)*state,
           (char*)*state);
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
  double q[NQ], v[NV], joints[NJ], outputs[NO];
  saltus_contact_frame contacts[NC];
} noisy_frame;

static void make_frame(long long i, noisy_frame* n) {
  uint64_t seed = 88172645463325252ULL + (uint64_t)i;
  for (int k = 0; k < NQ; k++) {
    n->q[k] = noise(&seed);
  }
  for (int k = 0; k < NV; k++) {
    n->v[k] = noise(&seed);
  }
  for (int k = 0; k < NC; k++) {
    n->contacts[k] = (saltus_contact_frame){
        .gap = i % 7 == 0 ? NAN : noise(&seed),
        .velocity = noise(&seed),
        .force = {noise(&seed), noise(&seed), noise(&seed)},
        .impulse = {noise(&seed), noise(&seed), noise(&seed)},
        .friction = noise(&seed),
        .impact = noise(&seed),
    };
  }
  n->joints[0] = noise(&seed);
  for (int k = 0; k < NO; k++) {
    n->outputs[k] = i % 11 == 0 ? NAN : noise(&seed);
  }
  n->frame = (saltus_frame){.step = 10 * i,
                            .t = 0.1 * (double)i,
                            .q = n->q,
                            .v = n->v,
                            .outputs = n->outputs,
                            .output_count = NO,
                            .kinetic = noise(&seed),
                            .potential = i == 3 ? -0.0 : noise(&seed),
                            .energy = {.external = noise(&seed),
                                       .drive = noise(&seed),
                                       .friction = noise(&seed),
                                       .impact = noise(&seed),
                                       .remainder = noise(&seed),
                                       .created = noise(&seed)},
                            .contacts = n->contacts,
                            .contact_count = NC,
                            .joint_forces = n->joints,
                            .residual_velocity = fabs(noise(&seed)),
                            .residual_impulse = fabs(noise(&seed)),
                            .penetration = fabs(noise(&seed)),
                            .h = fabs(noise(&seed)),
                            .error = fabs(noise(&seed)),
                            .error_order = (int)(i % 3),
                            .rejections = i % 5};
}

static saltus_event make_event(long long i) {
  uint64_t seed = 5463325252ULL + (uint64_t)i;
  return (saltus_event){.kind = (saltus_event_kind)(i % SALTUS_EVENT_KINDS),
                        .t = noise(&seed),
                        .t_accuracy = noise(&seed),
                        .contact = (int)(i % NC),
                        .u_before = noise(&seed),
                        .u_after = noise(&seed),
                        .slip_before = {noise(&seed), noise(&seed)},
                        .slip_after = {noise(&seed), noise(&seed)},
                        .impulse = {noise(&seed), noise(&seed), noise(&seed)},
                        .energy_change = noise(&seed)};
}

/* Without HDF5 in the library only the first extension counts. */
static int extension_count(void) {
  saltus_recording_data* data;
  saltus_status status = saltus_recording_read("/no/such.h5", (saltus_log){0}, NULL, &data);
  return status == SALTUS_ERR_UNSUPPORTED ? 1 : 2;
}

static saltus_recording_def definition(const char* path) {
  saltus_recording_def def = saltus_recording_def_default();
  def.path = path;
  def.system = &test_system;
  def.joint_names = joint_names;
  def.observables = &observables;
  def.name = "a ball";
  def.scheme = "moreau-jean";
  def.options = "theta = 0.5\ngamma = 0.5";
  def.scene = scene_text;
  def.version = "9.8.7";
  return def;
}

static saltus_recording* begin(const char* path) {
  saltus_recording_def def = definition(path);
  def.flush_interval = 1e9;
  saltus_recording* recording = NULL;
  assert_int_equal(saltus_recording_create(&def, &recording), SALTUS_OK);
  return recording;
}

static void finish(saltus_recording* recording, const saltus_recording_summary* how) {
  assert_int_equal(saltus_recording_close(recording, how), SALTUS_OK);
  saltus_recording_destroy(recording);
}

/* Frames [from, to), an event after each third. */
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

static const saltus_recording_summary summary = {.steps = 1234, .cpu_seconds = 5.5};

static void write_run(const char* path, long long frames) {
  saltus_recording* recording = begin(path);
  record(recording, 0, frames);
  finish(recording, &summary);
}

/* The data of a file that has to be readable. */
static saltus_recording_data* read_good(const char* path) {
  saltus_recording_data* data = NULL;
  saltus_kept_message kept;
  if (saltus_recording_read(path, saltus_log_keep(&kept), NULL, &data) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return data;
}

static saltus_status read_back(const char* path, saltus_recording_data** data,
                               saltus_kept_message* kept) {
  return saltus_recording_read(path, saltus_log_keep(kept), NULL, data);
}

static void assert_same(double a, double b) {
  if (isnan(a) && isnan(b)) {
    return; /* a text table does not keep what kind of NaN it was */
  }
  assert_memory_equal(&a, &b, sizeof a);
}

static void assert_all_same(const double* a, const double* b, int count) {
  for (int i = 0; i < count; i++) {
    assert_same(a[i], b[i]);
  }
}

static void check_frame(const saltus_recording_data* d, long long i) {
  noisy_frame n;
  make_frame(i, &n);
  assert_int_equal(d->step[i], n.frame.step);
  assert_same(d->t[i], n.frame.t);
  assert_all_same(d->q + NQ * i, n.q, NQ);
  assert_all_same(d->v + NV * i, n.v, NV);
  assert_all_same(d->outputs + NO * i, n.outputs, NO);
  for (int k = 0; k < NC; k++) {
    assert_same(d->gap[NC * i + k], n.contacts[k].gap);
    assert_same(d->velocity[NC * i + k], n.contacts[k].velocity);
    assert_all_same(d->force + 3 * (NC * i + k), n.contacts[k].force, 3);
    assert_all_same(d->impulse + 3 * (NC * i + k), n.contacts[k].impulse, 3);
    assert_same(d->friction_work[NC * i + k], n.contacts[k].friction);
    assert_same(d->impact_work[NC * i + k], n.contacts[k].impact);
  }
  assert_same(d->energy_external[i], n.frame.energy.external);
  assert_same(d->energy_drive[i], n.frame.energy.drive);
  assert_same(d->energy_friction[i], n.frame.energy.friction);
  assert_same(d->energy_impact[i], n.frame.energy.impact);
  assert_same(d->energy_remainder[i], n.frame.energy.remainder);
  assert_same(d->energy_created[i], n.frame.energy.created);
  assert_same(d->joint_force[i], n.joints[0]);
  assert_same(d->kinetic[i], n.frame.kinetic);
  assert_same(d->potential[i], n.frame.potential);
  assert_same(d->residual_velocity[i], n.frame.residual_velocity);
  assert_same(d->residual_impulse[i], n.frame.residual_impulse);
  assert_same(d->penetration[i], n.frame.penetration);
  assert_same(d->h[i], n.frame.h);
  assert_same(d->error[i], n.frame.error);
  assert_same(d->error_order[i], n.frame.error_order);
  assert_same(d->rejections[i], (double)n.frame.rejections);
}

static void check_run(const saltus_recording_data* d) {
  for (long long i = 0; i < d->count; i++) {
    check_frame(d, i);
  }
  for (long long i = 0; i < d->event_count; i++) {
    saltus_event e = make_event(i);
    assert_int_equal(d->events[i].kind, e.kind);
    assert_int_equal(d->events[i].contact, e.contact);
    assert_same(d->events[i].t, e.t);
    assert_same(d->events[i].t_accuracy, e.t_accuracy);
    assert_same(d->events[i].u_before, e.u_before);
    assert_same(d->events[i].u_after, e.u_after);
    for (int k = 0; k < 3; k++) {
      assert_same(d->events[i].impulse[k], e.impulse[k]);
    }
    for (int k = 0; k < 2; k++) {
      assert_same(d->events[i].slip_before[k], e.slip_before[k]);
      assert_same(d->events[i].slip_after[k], e.slip_after[k]);
    }
    assert_same(d->events[i].energy_change, e.energy_change);
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

/* Reads these bytes as a file: the data, or NULL after a message. */
static saltus_recording_data* read_bytes(const char* path, const char* content, size_t bytes) {
  store(path, content, bytes);
  saltus_recording_data* d = NULL;
  saltus_kept_message kept;
  if (read_back(path, &d, &kept) != SALTUS_OK) {
    assert_non_null(strstr(kept.text, path));
    assert_null(d);
  }
  return d;
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

/* --- claims --- */

static void every_field_comes_back_bit_for_bit(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    write_run(in_folder(state, "run", extensions[x], path), 3000);
    saltus_recording_data* d = NULL;
    saltus_kept_message kept;
    assert_int_equal(read_back(path, &d, &kept), SALTUS_OK);
    assert_string_equal(kept.text, "");
    assert_int_equal(d->count, 3000);
    assert_int_equal(d->event_count, 1000);
    assert_int_equal(d->nq, NQ);
    assert_int_equal(d->nv, NV);
    assert_int_equal(d->nc, NC);
    assert_int_equal(d->nj, NJ);
    assert_int_equal(d->output_count, NO);
    assert_int_equal(d->event_name_count, NE);
    for (int k = 0; k < NO; k++) {
      assert_string_equal(d->output_labels[k].name, output_labels[k].name);
      assert_string_equal(d->output_labels[k].unit, output_labels[k].unit);
    }
    for (int k = 0; k < NE; k++) {
      assert_string_equal(d->event_names[k], event_names[k]);
    }
    check_run(d);
    saltus_recording_data_destroy(d);
  }
}

static void names_units_and_texts_come_back(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    write_run(in_folder(state, "run", extensions[x], path), 1);
    saltus_recording_data* d = read_good(path);
    assert_string_equal(d->q_labels[2].name, "angle");
    assert_string_equal(d->q_labels[2].unit, "rad");
    assert_string_equal(d->v_labels[1].name, "y'");
    assert_string_equal(d->v_labels[1].unit, "m/s");
    assert_string_equal(d->contact_names[0], "floor");
    assert_string_equal(d->contact_names[1], "wall, \"left\"");
    assert_string_equal(d->joint_names[0], "elbow");
    assert_string_equal(d->name, "a ball");
    assert_string_equal(d->scheme, "moreau-jean");
    assert_string_equal(d->options, "theta = 0.5\ngamma = 0.5");
    assert_string_equal(d->scene, scene_text);
    assert_string_equal(d->version, "9.8.7");
    assert_string_equal(d->status, "complete");
    assert_int_equal(d->steps, 1234);
    assert_true(d->cpu_seconds == 5.5);
    saltus_recording_data_destroy(d);
  }
}

static void a_failed_run_says_so_in_the_file(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    saltus_recording* recording = begin(in_folder(state, "run", extensions[x], path));
    record(recording, 0, 10);
    saltus_recording_summary failed = {.failure = "no convergence", .cpu_seconds = NAN};
    finish(recording, &failed);
    saltus_recording_data* d = read_good(path);
    assert_string_equal(d->status, "failed: no convergence");
    assert_true(isnan(d->cpu_seconds));
    assert_int_equal(d->count, 10);
    saltus_recording_data_destroy(d);
  }
}

static void two_equal_runs_give_equal_bytes_whenever_they_flush(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char a[PATH], b[PATH];
    write_run(in_folder(state, "a", extensions[x], a), 5000);
    saltus_recording* recording = begin(in_folder(state, "b", extensions[x], b));
    for (long long done = 0, next; done < 5000; done = next) {
      next = done + 1 + (done * 7919) % 301;
      next = next > 5000 ? 5000 : next;
      record(recording, done, next);
      assert_int_equal(saltus_recording_flush(recording), SALTUS_OK);
    }
    finish(recording, &summary);
    assert_same_files(a, b);
  }
}

static void only_the_named_files_are_left_after_close(void** state) {
  char path[PATH], other[PATH];
  write_run(in_folder(state, "run", extensions[extension_count() - 1], path), 100);
  assert_int_equal(access(path, F_OK), 0);
  snprintf(other, sizeof other, "%.200s.back", path);
  assert_int_not_equal(access(other, F_OK), 0);
  snprintf(other, sizeof other, "%.200s.spare", path);
  assert_int_not_equal(access(other, F_OK), 0);
}

static void take_frame(saltus_recording* recording, const saltus_frame* frame) {
  saltus_recorder recorder = saltus_recording_recorder(recording);
  assert_int_equal(recorder.frame(recorder.user, frame), SALTUS_OK);
}

static void forces_and_impulses_stay_apart(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    saltus_recording* recording = begin(in_folder(state, "run", extensions[x], path));
    noisy_frame n;
    make_frame(0, &n);
    n.contacts[0].force[0] = 9.81;
    n.contacts[0].impulse[0] = 0.25;
    n.frame.contact_count = 1; /* the second one does not exist now */
    take_frame(recording, &n.frame);
    finish(recording, &summary);
    saltus_recording_data* d = read_good(path);
    assert_true(d->force[0] == 9.81);
    assert_true(d->impulse[0] == 0.25);
    assert_true(isnan(d->gap[1]));
    assert_true(d->force[3] == 0.0);
    saltus_recording_data_destroy(d);
  }
}

static void a_system_without_contacts_and_joints_is_recorded(void** state) {
  saltus_system bare = {.dims = {.nq = 1, .nv = 1}};
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    saltus_recording_def def = definition(in_folder(state, "run", extensions[x], path));
    def.observables = NULL;
    def.system = &bare;
    def.joint_names = NULL;
    saltus_recording* recording = NULL;
    assert_int_equal(saltus_recording_create(&def, &recording), SALTUS_OK);
    double q = 1.5, v = -2.5;
    saltus_frame frame = {.q = &q, .v = &v};
    take_frame(recording, &frame);
    finish(recording, &summary);
    saltus_recording_data* d = read_good(path);
    assert_true(d->q[0] == 1.5 && d->v[0] == -2.5);
    assert_null(d->gap);
    assert_string_equal(d->v_labels[0].name, "v1");
    saltus_recording_data_destroy(d);
  }
}

static void the_header_of_a_table_has_names_and_units(void** state) {
  char path[PATH], events[PATH];
  write_run(in_folder(state, "run", ".csv", path), 4);
  size_t bytes;
  char* content = load(path, &bytes);
  assert_non_null(strstr(content, "# name: a ball\n"));
  assert_non_null(strstr(content, "# scheme: moreau-jean\n"));
  assert_non_null(
      strstr(content,
             "\nt [s],x [m],y [m],angle [rad],x' [m/s],y' [m/s],height [m],"
             "power [W],floor.gap [m],floor.velocity [m/s],floor.force_N [N],floor.force_T1 [N],"));
  assert_non_null(strstr(content, "floor.impulse_N [N s]"));
  assert_non_null(strstr(content, ",kinetic [J],potential [J],"));
  free(content);
  content = load(in_folder(state, "run", ".events.csv", events), &bytes);
  assert_non_null(strstr(content, ",impact,0,floor,"));
  assert_null(strstr(content, ",rise,0,floor,"));
  free(content);
}

/* Tables of the first version end after the normal impulse; what impacts lost follows from it. */
static void events_of_the_first_tables_are_read(void** state) {
  char path[PATH], events[PATH];
  write_run(in_folder(state, "run", ".csv", path), 4);
  in_folder(state, "run", ".events.csv", events);
  FILE* file = fopen(events, "w");
  assert_non_null(file);
  fputs(
      "# saltus-events 1\n"
      "t [s],kind,contact,contact_name,t_accuracy [s],u_before [m/s],u_after [m/s],impulse [N s]\n"
      "0.5,impact,0,floor,1e-3,-4,2,6\n"
      "1.5,close,0,floor,1e-3,-1,0,0\n",
      file);
  fclose(file);
  saltus_recording_data* d = read_good(path);
  assert_int_equal(d->event_count, 2);
  assert_int_equal(d->events[0].kind, SALTUS_EVENT_IMPACT);
  assert_same(d->events[0].impulse[0], 6.0);
  assert_same(d->events[0].energy_change, 6.0 * (-4.0 + 2.0) / 2.0);
  assert_same(d->events[1].energy_change, 0.0);
  saltus_recording_data_destroy(d);
}

#ifndef SALTUS_WITHOUT_HDF5
/* An event of the first version, as it lay in memory. */
typedef struct first_event {
  char kind[16];
  double t, t_accuracy;
  int32_t contact;
  double u_before, u_after, impulse;
} first_event;

static hid_t first_event_type(void) {
  hid_t kind = H5Tcopy(H5T_C_S1);
  H5Tset_size(kind, 16);
  H5Tset_cset(kind, H5T_CSET_UTF8);
  H5Tset_strpad(kind, H5T_STR_NULLPAD);
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(first_event));
  H5Tinsert(type, "kind", offsetof(first_event, kind), kind);
  H5Tinsert(type, "t", offsetof(first_event, t), H5T_IEEE_F64LE);
  H5Tinsert(type, "t_accuracy", offsetof(first_event, t_accuracy), H5T_IEEE_F64LE);
  H5Tinsert(type, "contact", offsetof(first_event, contact), H5T_STD_I32LE);
  H5Tinsert(type, "u_before", offsetof(first_event, u_before), H5T_IEEE_F64LE);
  H5Tinsert(type, "u_after", offsetof(first_event, u_after), H5T_IEEE_F64LE);
  H5Tinsert(type, "impulse", offsetof(first_event, impulse), H5T_IEEE_F64LE);
  H5Tclose(kind);
  return type;
}

/* The same for HDF5: the events of a new file are replaced by two of the first version. */
static void events_of_the_first_files_are_read(void** state) {
  static const first_event old[2] = {{"impact", 0.5, 1e-3, 0, -4.0, 2.0, 6.0},
                                     {"open", 1.5, 1e-3, 1, 0.0, 1.0, 0.0}};
  char path[PATH];
  write_run(in_folder(state, "run", ".h5", path), 4);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  hid_t memory = first_event_type();
  hid_t packed = H5Tcopy(memory);
  H5Tpack(packed);
  const hsize_t count = 2;
  hid_t space = H5Screate_simple(1, &count, NULL);
  assert_true(H5Ldelete(file, "/events", H5P_DEFAULT) >= 0);
  hid_t events = H5Dcreate2(file, "/events", packed, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Dwrite(events, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, old) >= 0);
  H5Dclose(events);
  H5Sclose(space);
  H5Tclose(packed);
  H5Tclose(memory);
  assert_true(H5Fclose(file) >= 0);
  saltus_recording_data* d = read_good(path);
  assert_int_equal(d->event_count, 2);
  assert_int_equal(d->events[0].kind, SALTUS_EVENT_IMPACT);
  assert_same(d->events[0].impulse[0], 6.0);
  assert_same(d->events[0].energy_change, -6.0);
  assert_int_equal(d->events[1].kind, SALTUS_EVENT_OPEN);
  assert_int_equal(d->events[1].contact, 1);
  assert_same(d->events[1].u_after, 1.0);
  saltus_recording_data_destroy(d);
}
#endif

static void a_table_keeps_its_points_in_a_locale_with_commas(void** state) {
  if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
    print_message("no locale with decimal commas is installed\n");
    skip();
  }
  char path[PATH];
  write_run(in_folder(state, "run", ".csv", path), 10);
  saltus_recording_data* d = read_good(path);
  setlocale(LC_NUMERIC, "C");
  check_run(d);
  saltus_recording_data_destroy(d);
}

static saltus_status try_create(const char* path, saltus_kept_message* kept) {
  saltus_recording_def def = definition(path);
  def.log = saltus_log_keep(kept);
  saltus_recording* recording;
  saltus_status status = saltus_recording_create(&def, &recording);
  assert_true((status == SALTUS_OK) == (recording != NULL));
  saltus_recording_destroy(recording);
  return status;
}

static void an_unknown_extension_is_refused_with_the_known_ones(void** state) {
  (void)state;
  saltus_kept_message kept;
  assert_int_equal(try_create("/tmp/run.mat", &kept), SALTUS_ERR_NAME);
  assert_non_null(strstr(kept.text, "/tmp/run.mat"));
  assert_non_null(strstr(kept.text, ".h5"));
  assert_non_null(strstr(kept.text, ".csv"));
  assert_int_equal(try_create(".csv", &kept), SALTUS_ERR_NAME);
  saltus_recording_data* d = NULL;
  assert_int_equal(read_back("/tmp/run.mat", &d, &kept), SALTUS_ERR_NAME);
}

static void a_path_that_cannot_be_written_is_reported_before_the_run(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    saltus_kept_message kept;
    in_folder(state, "no/such/folder", extensions[x], path);
    assert_int_equal(try_create(path, &kept), SALTUS_ERR_IO);
    assert_non_null(strstr(kept.text, path));
    assert_non_null(strstr(kept.text, "No such file or directory"));
    in_folder(state, "folder", extensions[x], path);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(try_create(path, &kept), SALTUS_ERR_IO);
    assert_non_null(strstr(kept.text, "Is a directory"));
  }
}

static void a_full_device_stops_the_run_with_the_reason(void** state) {
  char path[PATH];
  in_folder(state, "full", ".csv", path);
  if (symlink("/dev/full", path) != 0 || access("/dev/full", W_OK) != 0) {
    print_message("there is no /dev/full\n");
    skip();
  }
  saltus_kept_message kept;
  assert_int_equal(try_create(path, &kept), SALTUS_ERR_IO);
  assert_non_null(strstr(kept.text, "No space left on device"));
  assert_non_null(strstr(kept.text, "disk full"));
}

/* Runs until the disk is full; returns the number of frames taken. */
static long long fill_disk(const char* path, saltus_kept_message* kept) {
  saltus_recording_def def = definition(path);
  def.log = saltus_log_keep(kept);
  def.flush_interval = 0;
  saltus_recording* recording = NULL;
  assert_int_equal(saltus_recording_create(&def, &recording), SALTUS_OK);
  saltus_recorder recorder = saltus_recording_recorder(recording);
  long long frames = 0;
  saltus_status status = SALTUS_OK;
  for (; status == SALTUS_OK && frames < 1000000; frames++) {
    noisy_frame n;
    make_frame(frames, &n);
    status = recorder.frame(recorder.user, &n.frame);
  }
  assert_int_equal(status, SALTUS_ERR_IO);
  assert_int_equal(saltus_recording_close(recording, &summary), SALTUS_ERR_IO);
  saltus_recording_destroy(recording);
  return frames;
}

static void a_full_disk_leaves_everything_up_to_the_last_flush(void** state) {
  char command[2 * PATH];
  snprintf(command, sizeof command, "mount -t tmpfs -o size=2m saltus-test '%s' 2>/dev/null",
           (char*)*state);
  if (geteuid() != 0 || system(command) != 0) {
    print_message("a small file system cannot be mounted here\n");
    skip();
  }
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    saltus_kept_message kept;
    long long frames = fill_disk(in_folder(state, "run", extensions[x], path), &kept);
    assert_non_null(strstr(kept.text, "disk full"));
    assert_non_null(strstr(kept.text, "the recording holds everything up to t = "));
    saltus_recording_data* d = NULL;
    assert_int_equal(read_back(path, &d, &kept), SALTUS_OK);
    assert_int_equal(d->count, frames - 1);
    check_run(d);
    saltus_recording_data_destroy(d);
    assert_int_equal(unlink(path), 0);
  }
}

static void a_recording_that_was_not_closed_holds_the_last_flush(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    saltus_recording* recording = begin(in_folder(state, "run", extensions[x], path));
    record(recording, 0, 60);
    assert_int_equal(saltus_recording_flush(recording), SALTUS_OK);
    record(recording, 60, 90);
    saltus_recording_data* d = read_good(path); /* while it is being written */
    assert_int_equal(d->count, 60);
    saltus_recording_data_destroy(d);
    saltus_recording_destroy(recording);
    d = read_good(path);
    assert_int_equal(d->count, 60);
    assert_int_equal(d->event_count, 20);
    assert_string_equal(d->status, "running");
    check_run(d);
    saltus_recording_data_destroy(d);
  }
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

/* Returns how many frames the child had flushed for certain. */
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
  assert_true(WIFSIGNALED(how));
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

static void a_file_cut_anywhere_is_refused_or_read_in_part(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH], cut[PATH];
    write_run(in_folder(state, "run", extensions[x], path), 200);
    in_folder(state, "cut", extensions[x], cut);
    size_t bytes;
    char* content = load(path, &bytes);
    for (size_t i = 0; i < 50; i++) {
      saltus_recording_data* d = read_bytes(cut, content, bytes * i / 50);
      if (d) {
        assert_string_equal(extensions[x], ".csv");
        check_run(d);
      }
      saltus_recording_data_destroy(d);
    }
    free(content);
  }
}

/* In HDF5 files every changed bit that matters is found by a checksum. */
static void a_flipped_byte_is_found_or_harmless(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    bool checked = strcmp(extensions[x], ".h5") == 0;
    char path[PATH], bad[PATH];
    write_run(in_folder(state, "run", extensions[x], path), 60);
    in_folder(state, "bad", extensions[x], bad);
    size_t bytes;
    char* content = load(path, &bytes);
    uint64_t seed = 20240607;
    for (int i = 0; i < saltus_test_draws(500); i++) {
      noise(&seed);
      /* half of them in the first pages, where the structure is */
      size_t at = (size_t)(seed % (i % 2 ? bytes : bytes < 16384 ? bytes : 16384));
      char before = content[at];
      content[at] = (char)(content[at] ^ (char)(1 + (seed >> 32) % 255));
      saltus_recording_data* d = read_bytes(bad, content, bytes);
      content[at] = before;
      if (d && checked) {
        assert_int_equal(d->count, 60);
        check_run(d);
      }
      saltus_recording_data_destroy(d);
    }
    free(content);
  }
}

static void files_of_another_kind_are_refused_by_name(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    in_folder(state, "other", extensions[x], path);
    saltus_recording_data* d = NULL;
    saltus_kept_message kept;
    assert_int_equal(read_back(path, &d, &kept), SALTUS_ERR_IO);
    assert_non_null(strstr(kept.text, "No such file or directory"));
    /* one text after the other, a tilde between them */
    char list[] =
        "~hello~\x89HDF\r\n\x1a\n~a,b\n1,2\n~\"t\n1\n~t\n1\n2,3\n~t,x\n1,apple\n~t,x\n,1\n"
        "~t,x\n1 2,1\n~# saltus-recording 1\nt [s]\n1\n~# saltus-recording 2\nt [s]\n1\n";
    for (const char* text = strtok(list, "~"); text; text = strtok(NULL, "~")) {
      assert_null(read_bytes(path, text, strlen(text)));
    }
    assert_null(read_bytes(path, "", 0));
  }
}

static void a_foreign_table_is_read_by_the_names_of_its_columns(void** state) {
  char path[PATH];
  const char text[] = "# from another program\nt,q1,q2,v1,v2,note\r\n0,1,2,3,4,5\r\n"
                      "\n0.5,1e-3,-2,nan,4,5";
  store(in_folder(state, "foreign", ".csv", path), text, strlen(text));
  saltus_recording_data* d = NULL;
  saltus_kept_message kept;
  assert_int_equal(read_back(path, &d, &kept), SALTUS_OK);
  assert_non_null(strstr(kept.text, "\"note\" is left out"));
  assert_int_equal(d->count, 2);
  assert_int_equal(d->nq, 2);
  assert_int_equal(d->nv, 2);
  assert_true(d->t[1] == 0.5 && d->q[2] == 1e-3 && d->q[3] == -2 && d->v[1] == 4);
  assert_true(isnan(d->v[2]));
  assert_null(d->kinetic);
  saltus_recording_data_destroy(d);
}

static void a_table_gives_its_columns_by_name(void** state) {
  char path[PATH];
  const char text[] = "# one\n#two\nt [s],\"a,b\" , y [m/s]\n1,2,3\n4,5,6\n# three\n";
  store(in_folder(state, "table", ".csv", path), text, strlen(text));
  saltus_table* table = NULL;
  saltus_kept_message kept;
  assert_int_equal(saltus_table_read(path, saltus_log_keep(&kept), NULL, &table), SALTUS_OK);
  assert_int_equal(table->rows, 2);
  assert_int_equal(table->columns, 3);
  assert_string_equal(table->comments, "one\ntwo\nthree\n");
  assert_string_equal(table->labels[2].unit, "m/s");
  assert_true(saltus_table_column(table, "y")[1] == 6);
  assert_true(saltus_table_column(table, "a,b")[0] == 2);
  assert_null(saltus_table_column(table, "z"));
  saltus_table_destroy(table);
}

static void a_scene_longer_than_an_object_header_is_kept(void** state) {
  enum { LENGTH = 200000 };
  char* text = malloc(LENGTH + 1);
  assert_non_null(text);
  for (int i = 0; i < LENGTH; i++) {
    text[i] = "abcdefghijklmnopqrstuvwxyz\n"[i % 27];
  }
  text[LENGTH] = 0;
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    saltus_recording_def def = definition(in_folder(state, "run", extensions[x], path));
    def.scene = text;
    saltus_recording* recording = NULL;
    assert_int_equal(saltus_recording_create(&def, &recording), SALTUS_OK);
    finish(recording, &summary);
    saltus_recording_data* d = read_good(path);
    assert_string_equal(d->scene, text);
    assert_int_equal(d->count, 0);
    saltus_recording_data_destroy(d);
  }
  free(text);
}

static void nothing_is_recorded_after_close(void** state) {
  for (int x = 0; x < extension_count(); x++) {
    char path[PATH];
    saltus_recording* recording = begin(in_folder(state, "run", extensions[x], path));
    saltus_recorder recorder = saltus_recording_recorder(recording);
    assert_int_equal(saltus_recording_close(recording, &summary), SALTUS_OK);
    assert_int_equal(saltus_recording_close(recording, &summary), SALTUS_OK);
    noisy_frame n;
    make_frame(0, &n);
    assert_int_equal(recorder.frame(recorder.user, &n.frame), SALTUS_ERR_IO);
    saltus_recording_destroy(recording);
  }
  saltus_recording_destroy(NULL);
  saltus_recording_data_destroy(NULL);
  saltus_table_destroy(NULL);
}

static void without_hdf5_the_format_is_refused_with_advice(void** state) {
  char path[PATH];
  saltus_kept_message kept;
  saltus_status status = try_create(in_folder(state, "run", ".h5", path), &kept);
  assert_true(status == SALTUS_OK || strstr(kept.text, "SALTUS_WITH_HDF5"));
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(every_field_comes_back_bit_for_bit),
      CLAIM(names_units_and_texts_come_back),
      CLAIM(a_failed_run_says_so_in_the_file),
      CLAIM(two_equal_runs_give_equal_bytes_whenever_they_flush),
      CLAIM(only_the_named_files_are_left_after_close),
      CLAIM(forces_and_impulses_stay_apart),
      CLAIM(a_system_without_contacts_and_joints_is_recorded),
      CLAIM(the_header_of_a_table_has_names_and_units),
      CLAIM(events_of_the_first_tables_are_read),
#ifndef SALTUS_WITHOUT_HDF5
      CLAIM(events_of_the_first_files_are_read),
#endif
      CLAIM(a_table_keeps_its_points_in_a_locale_with_commas),
      CLAIM(an_unknown_extension_is_refused_with_the_known_ones),
      CLAIM(a_path_that_cannot_be_written_is_reported_before_the_run),
      CLAIM(a_full_device_stops_the_run_with_the_reason),
      CLAIM(a_full_disk_leaves_everything_up_to_the_last_flush),
      CLAIM(a_recording_that_was_not_closed_holds_the_last_flush),
      CLAIM(a_writer_killed_at_any_moment_leaves_a_readable_file),
      CLAIM(a_file_cut_anywhere_is_refused_or_read_in_part),
      CLAIM(a_flipped_byte_is_found_or_harmless),
      CLAIM(files_of_another_kind_are_refused_by_name),
      CLAIM(a_foreign_table_is_read_by_the_names_of_its_columns),
      CLAIM(a_table_gives_its_columns_by_name),
      CLAIM(a_scene_longer_than_an_object_header_is_kept),
      CLAIM(nothing_is_recorded_after_close),
      CLAIM(without_hdf5_the_format_is_refused_with_advice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
