/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_verify.c - certificates: right runs pass, whatever scheme made them, and every lie is found by the item that
 * it concerns.
 */
#include "recorded.h"

#ifndef SALTUS_WITHOUT_HDF5
#include <hdf5.h>
#endif
#include <stdio.h>
#include <stdlib.h>

/* ---- right runs --------------------------------------------------------------------------------------- */

static void runs_to_a_tolerance_pass(void** state) {
  (void)state;
  static const char* const names[] = {"ball",
                                      "double-pendulum",
                                      "double-pendulum-rough",
                                      "woodpecker",
                                      "block-stick-slip",
                                      "drop",
                                      "pendulum-wall",
                                      "rocking-block",
                                      "painleve-rod",
                                      "kane",
                                      "moving-floor",
                                      "turning-force",
                                      "contact-slip-to-roll",
                                      "contact-cradle",
                                      "stack-5",
                                      "machine-ratchet",
                                      "machine-walker",
                                      "machine-slider-crank",
                                      "column-10",
                                      "contact-rod"};
  static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    for (int k = 0; k < 4; k++) {
      if (!saltus_test_takes((int)i + k)) {
        continue;
      }
      recorded r = record(names[i], (way){.scheme = "adaptive", .tol = tolerances[k]});
      saltus_certificate c = verify(&r, saltus_scene_get_view(r.scene));
      say_failures(&c, names[i]);
      assert_true(c.passed && c.complete);
      assert_true(c.items[SALTUS_VERIFY_MOMENTUM].checked > 0);
      /* the motion was computed anew, not only summed up, nearly all the time; Painleve's rod has one step */
      assert_true(c.followed > 0.9 * c.span || strcmp(names[i], "painleve-rod") == 0);
      forget(&r);
    }
  }
}

static void runs_with_fixed_steps_pass(void** state) {
  (void)state;
  static const char* const names[] = {"ball", "double-pendulum", "woodpecker", "drop"};
  static const char* const schemes[] = {"moreau-jean", "variational", "dg-minus"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
      if (!saltus_test_takes((int)(i + k))) {
        continue;
      }
      recorded r = record(names[i], (way){.scheme = schemes[k], .step = 1e-3, .until = 0.5});
      saltus_certificate c = verify(&r, saltus_scene_get_view(r.scene));
      say_failures(&c, schemes[k]);
      assert_true(c.passed);
      assert_true(c.items[SALTUS_VERIFY_MOMENTUM].checked > 0);
      forget(&r);
    }
  }
}

/* ---- lies --------------------------------------------------------------------------------------------- */

/* Frame and contact of the largest normal impulse. */
static long long largest_impulse(const saltus_recording_data* d) {
  long long most = 0;
  for (long long i = 0; i < d->count * d->nc; i++) {
    most = d->impulse[3 * i] > d->impulse[3 * most] ? i : most;
  }
  assert_true(d->impulse[3 * most] > 0.0);
  return most;
}

/* The event of an entry of the impulses. */
static saltus_event* event_of(const saltus_recording_data* d, long long entry) {
  for (long long k = 0; k < d->event_count; k++) {
    saltus_event* e = &d->events[k];
    if (e->kind == SALTUS_EVENT_IMPACT && e->t == d->t[entry / d->nc] &&
        e->contact == entry % d->nc) {
      return e;
    }
  }
  fail_msg("no event");
  return NULL;
}

static void drop_frame(saltus_recording_data* d, long long i) {
  size_t rest = (size_t)(d->count - 1 - i);
  size_t nq = (size_t)d->nq;
  size_t nv = (size_t)d->nv;
  size_t nc = (size_t)d->nc;
  memmove(d->step + i, d->step + i + 1, rest * sizeof *d->step);
  memmove(d->t + i, d->t + i + 1, rest * sizeof *d->t);
  memmove(d->q + i * d->nq, d->q + (i + 1) * d->nq, rest * nq * sizeof *d->q);
  memmove(d->v + i * d->nv, d->v + (i + 1) * d->nv, rest * nv * sizeof *d->v);
  double* columns[] = {d->gap, d->velocity};
  for (int k = 0; k < 2; k++) {
    memmove(columns[k] + i * d->nc, columns[k] + (i + 1) * d->nc, rest * nc * sizeof(double));
  }
  memmove(d->force + 3 * i * d->nc, d->force + 3 * (i + 1) * d->nc, 3 * rest * nc * sizeof(double));
  memmove(d->impulse + 3 * i * d->nc, d->impulse + 3 * (i + 1) * d->nc,
          3 * rest * nc * sizeof(double));
  double* energies[] = {d->kinetic,         d->potential,     d->energy_external,  d->energy_drive,
                        d->energy_friction, d->energy_impact, d->energy_remainder, d->h};
  for (int k = 0; k < 8; k++) {
    memmove(energies[k] + i, energies[k] + i + 1, rest * sizeof(double));
  }
  d->count--;
}

typedef void (*lie)(saltus_recording_data* d);

static void scale_impulse(saltus_recording_data* d) {
  long long at = largest_impulse(d);
  saltus_event* e = event_of(d, at);
  for (int k = 0; k < 3; k++) {
    d->impulse[3 * at + k] *= 1.001;
    e->impulse[k] *= 1.001;
  }
}

static void scale_impulse_in_frames(saltus_recording_data* d) {
  d->impulse[3 * largest_impulse(d)] *= 1.001;
}

static void shift_event(saltus_recording_data* d) {
  event_of(d, largest_impulse(d))->t += 1e-3;
}

/* Both frames of the impact and its event a thousandth of a second later. */
static void shift_impact(saltus_recording_data* d) {
  long long at = largest_impulse(d);
  double t = d->t[at / d->nc];
  event_of(d, at)->t += 1e-4;
  for (long long i = 0; i < d->count; i++) {
    d->t[i] += d->t[i] == t ? 1e-4 : 0.0;
  }
}

static void drop_one_frame(saltus_recording_data* d) {
  drop_frame(d, 3);
}

/* The frame behind the largest impact. */
static void drop_jump(saltus_recording_data* d) {
  drop_frame(d, largest_impulse(d) / d->nc);
}

static void turn_friction(saltus_recording_data* d) {
  for (long long i = 0; i < d->count * d->nc; i++) {
    d->force[3 * i + 1] *= -1.0;
  }
}

static void turn_normals(saltus_recording_data* d) {
  for (long long i = 0; i < d->count * d->nc; i++) {
    d->gap[i] *= -1.0;
    d->velocity[i] *= -1.0;
    d->impulse[3 * i] *= -1.0;
    d->force[3 * i] *= -1.0;
  }
}

/* The largest impact throws back twice as fast as the bodies came, with an impulse that fits. */
static void create_energy(saltus_recording_data* d) {
  assert_int_equal(d->nv, 1);
  long long at = largest_impulse(d);
  double jump = d->v[at] - d->v[at - 1];
  double factor = -3.0 * d->v[at - 1] / jump; /* from v to -2 v */
  saltus_event* e = event_of(d, at);
  d->v[at] = -2.0 * d->v[at - 1];
  d->velocity[at] = -2.0 * d->velocity[at - 1];
  d->impulse[3 * at] *= factor;
  e->impulse[0] *= factor;
  e->u_after = -2.0 * e->u_before;
}

static void move_start(saltus_recording_data* d) {
  d->q[0] += 1e-9;
}

static void time_backwards(saltus_recording_data* d) {
  d->t[d->count / 2] -= 1.0;
}

static void forget_work(saltus_recording_data* d) {
  d->energy_impact[d->count - 1] += 1e-3;
}

static void push_from_afar(saltus_recording_data* d) {
  d->force[3 * d->nc] = 1.0; /* frame 1 of a fall: all is open */
}

static const struct {
  const char* name;
  const char* scene;
  lie tell;
  saltus_verify_item item; /* that has to find it */
} lies[] = {
    {"impulse scaled", "double-pendulum", scale_impulse, SALTUS_VERIFY_IMPACT_MOMENTUM},
    {"impulse of a frame scaled", "double-pendulum", scale_impulse_in_frames, SALTUS_VERIFY_EVENTS},
    {"event shifted", "double-pendulum", shift_event, SALTUS_VERIFY_EVENTS},
    {"impact shifted", "double-pendulum", shift_impact, SALTUS_VERIFY_POSITIONS},
    {"frame dropped", "double-pendulum", drop_one_frame, SALTUS_VERIFY_TIME},
    {"frame after an impact dropped", "double-pendulum", drop_jump, SALTUS_VERIFY_EVENTS},
    {"friction along the slip", "rocking-block", turn_friction, SALTUS_VERIFY_SLIP},
    {"normals turned", "ball", turn_normals, SALTUS_VERIFY_PULL},
    {"impact creates energy", "ball", create_energy, SALTUS_VERIFY_IMPACT_ENERGY},
    {"impact breaks its law", "ball", create_energy, SALTUS_VERIFY_IMPACT_LAW},
    {"start moved", "double-pendulum", move_start, SALTUS_VERIFY_VALUES},
    {"time runs backwards", "ball", time_backwards, SALTUS_VERIFY_TIME},
    {"ledger changed", "double-pendulum", forget_work, SALTUS_VERIFY_LEDGER},
    {"force from afar", "ball", push_from_afar, SALTUS_VERIFY_OPEN},
};

static void lies_are_found(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    if (!saltus_test_takes((int)i)) {
      continue;
    }
    recorded r = record(lies[i].scene, (way){.scheme = "adaptive", .tol = 1e-6});
    saltus_certificate c = verify(&r, saltus_scene_get_view(r.scene));
    assert_true(c.passed);
    lies[i].tell(r.data);
    c = verify(&r, saltus_scene_get_view(r.scene));
    if (c.passed || c.items[lies[i].item].passed) {
      say_failures(&c, lies[i].name);
      fail_msg("%s: was not found by %s", lies[i].name, c.items[lies[i].item].name);
    }
    forget(&r);
  }
}

#ifndef SALTUS_WITHOUT_HDF5

/* ---- lies on disk: the file is edited with the library that any other program has --------------------- */

/* Writes an array over a dataset, whose first size becomes `count`. */
static void write_over(hid_t file, const char* name, hid_t type, long long count,
                       const void* values) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(set >= 0);
  hid_t space = H5Dget_space(set);
  hsize_t size[3];
  assert_true(H5Sget_simple_extent_dims(space, size, NULL) > 0);
  size[0] = (hsize_t)count;
  assert_true(H5Dset_extent(set, size) >= 0);
  if (values != NULL) {
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  }
  H5Sclose(space);
  H5Dclose(set);
}

static void write_event(hid_t file, const char* member, const saltus_recording_data* d,
                        size_t offset) {
  double* column = calloc((size_t)d->event_count + 1, sizeof *column);
  assert_non_null(column);
  for (long long i = 0; i < d->event_count; i++) {
    memcpy(&column[i], (const char*)&d->events[i] + offset, sizeof *column);
  }
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(double)); /* one member, the others stay */
  H5Tinsert(type, member, 0, H5T_NATIVE_DOUBLE);
  write_over(file, "/events", type, d->event_count, column);
  H5Tclose(type);
  free(column);
}

static void write_back(const recorded* r) {
  const saltus_recording_data* d = r->data;
  const struct {
    const char* name;
    const double* values;
  } sets[] = {
      {"/t", d->t},
      {"/q", d->q},
      {"/v", d->v},
      {"/contacts/gap", d->gap},
      {"/contacts/velocity", d->velocity},
      {"/contacts/force", d->force},
      {"/contacts/impulse", d->impulse},
      {"/contacts/friction_work", NULL},
      {"/contacts/impact_work", NULL},
      {"/energy/kinetic", d->kinetic},
      {"/energy/potential", d->potential},
      {"/energy/external", d->energy_external},
      {"/energy/drive", d->energy_drive},
      {"/energy/friction", d->energy_friction},
      {"/energy/impact", d->energy_impact},
      {"/energy/remainder", d->energy_remainder},
      {"/energy/created", NULL},
      {"/residual/velocity", NULL},
      {"/residual/impulse", NULL},
      {"/residual/penetration", NULL},
      {"/control/h", d->h},
      {"/control/error", NULL},
      {"/control/order", NULL},
      {"/control/rejections", NULL},
  };
  hid_t file = H5Fopen(r->path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(file >= 0);
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
    write_over(file, sets[i].name, H5T_NATIVE_DOUBLE, d->count, sets[i].values);
  }
  if (d->nj > 0) {
    write_over(file, "/joints/force", H5T_NATIVE_DOUBLE, d->count, NULL);
    write_over(file, "/joints/impulse", H5T_NATIVE_DOUBLE, d->count, NULL);
  }
  write_over(file, "/step", H5T_NATIVE_LLONG, d->count, d->step);
  write_event(file, "t", d, offsetof(saltus_event, t));
  write_event(file, "u_after", d, offsetof(saltus_event, u_after));
  write_event(file, "impulse", d, offsetof(saltus_event, impulse));
  write_event(file, "impulse_t1", d, offsetof(saltus_event, impulse) + sizeof(double));
  assert_true(H5Fclose(file) >= 0);
}

/* Replaces a text attribute of the root. */
static void write_text(const recorded* r, const char* name, const char* text) {
  hid_t file = H5Fopen(r->path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(file >= 0 && H5Adelete(file, name) >= 0);
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(text) + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Awrite(attribute, type, text) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  assert_true(H5Fclose(file) >= 0);
}

/* The file once more, judged by the scene that it holds. */
static saltus_certificate verify_file(recorded* r) {
  saltus_recording_data_destroy(r->data);
  r->data = NULL;
  saltus_kept_message kept;
  if (saltus_recording_read(r->path, saltus_log_keep(&kept), NULL, &r->data) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  saltus_scene* scene = scene_of(r->data->scene);
  saltus_certificate c = verify(r, saltus_scene_get_view(scene));
  saltus_scene_destroy(scene);
  return c;
}

static void lies_on_disk_are_found(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    if (!saltus_test_takes((int)i + 1)) {
      continue;
    }
    recorded r = record(lies[i].scene, (way){.scheme = "adaptive", .tol = 1e-6, .hdf5 = true});
    assert_true(verify_file(&r).passed);
    lies[i].tell(r.data);
    write_back(&r);
    if (lies[i].item == SALTUS_VERIFY_TIME && strstr(lies[i].name, "backwards") != NULL) {
      saltus_kept_message kept; /* the reader sees it before anybody else */
      saltus_recording_data* data = NULL;
      saltus_status status = saltus_recording_read(r.path, saltus_log_keep(&kept), NULL, &data);
      saltus_recording_data_destroy(data);
      if (status == SALTUS_ERR_INPUT) {
        forget(&r);
        continue;
      }
    }
    saltus_certificate c = verify_file(&r);
    if (c.passed || c.items[lies[i].item].passed) {
      say_failures(&c, lies[i].name);
      fail_msg("%s: was not found by %s", lies[i].name, c.items[lies[i].item].name);
    }
    forget(&r);
  }
}

/* The text of the scene with one piece replaced. */
static char* edited(const char* text, const char* from, const char* to) {
  const char* at = strstr(text, from);
  assert_non_null(at);
  size_t bytes = strlen(text) + strlen(to) + 1;
  char* out = malloc(bytes);
  assert_non_null(out);
  snprintf(out, bytes, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  return out;
}

/* A scene in the file that is not the one of the run: by its fingerprint, and by what moves. */
static void another_scene_on_disk_is_found(void** state) {
  (void)state;
  static const struct {
    const char *scene, *from, *to;
    saltus_verify_item items[2];
  } cases[] = {
      {"rocking-block", "mu: 0.1,", "mu: 0.11,", {SALTUS_VERIFY_SLIP, SALTUS_VERIFY_MOMENTUM}},
      {"rocking-block", "mu: 0.1,", "mu: 0.09,", {SALTUS_VERIFY_CONE, SALTUS_VERIFY_MOMENTUM}},
      {"double-pendulum",
       "e: 0.1}",
       "e: 0.11}",
       {SALTUS_VERIFY_IMPACT_LAW, SALTUS_VERIFY_PROVENANCE}},
      {"double-pendulum", "g: 9.8,", "g: 9.81,", {SALTUS_VERIFY_MOMENTUM, SALTUS_VERIFY_VALUES}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    recorded r = record(cases[i].scene, (way){.scheme = "adaptive", .tol = 1e-6, .hdf5 = true});
    char* text = edited(r.data->scene, cases[i].from, cases[i].to);
    write_text(&r, "scene", text);
    saltus_certificate c = verify_file(&r);
    assert_false(c.items[SALTUS_VERIFY_PROVENANCE].passed);
    for (int k = 0; k < 2; k++) {
      if (c.items[cases[i].items[k]].passed) {
        say_failures(&c, cases[i].to);
        fail_msg("%s: was not found by %s", cases[i].to, c.items[cases[i].items[k]].name);
      }
    }
    free(text);
    forget(&r);
  }
}

/* A tolerance that the run did not have. */
static void a_finer_tolerance_on_disk_is_found(void** state) {
  (void)state;
  recorded r = record("double-pendulum", (way){.scheme = "adaptive", .tol = 1e-5, .hdf5 = true});
  write_text(&r, "options", "rtol=1e-12 atol=1e-12");
  saltus_certificate c = verify_file(&r);
  assert_false(c.passed);
  assert_false(c.items[SALTUS_VERIFY_MOMENTUM].passed);
  forget(&r);
}

#endif

/* A recording judged by a scene with another coefficient of friction, larger and smaller. */
static void another_mu_is_found(void** state) {
  (void)state;
  static const struct {
    const char* value;
    saltus_verify_item item;
  } cases[] = {{"0.09", SALTUS_VERIFY_CONE}, {"0.11", SALTUS_VERIFY_SLIP}};
  recorded r = record("rocking-block", (way){.scheme = "adaptive", .tol = 1e-6});
  for (int i = 0; i < 2; i++) {
    const saltus_override mu = {.name = "mu", .value = cases[i].value};
    saltus_scene* other = saltus_test_scene("rocking-block", &mu, 1);
    saltus_certificate c = verify(&r, saltus_scene_get_view(other));
    assert_false(c.passed);
    assert_false(c.items[cases[i].item].passed);
    assert_false(c.items[SALTUS_VERIFY_MOMENTUM].passed);
    saltus_scene_destroy(other);
  }
  forget(&r);
}

static void recordings_of_other_scenes_are_refused(void** state) {
  (void)state;
  recorded r = record("ball", (way){.scheme = "adaptive", .tol = 1e-6});
  saltus_scene* other = saltus_test_scene("double-pendulum", NULL, 0);
  saltus_kept_message kept;
  saltus_verify_def def = saltus_verify_def_default();
  def.system = saltus_scene_get_view(other)->system;
  def.data = r.data;
  def.log = saltus_log_keep(&kept);
  saltus_certificate c;
  assert_int_equal(saltus_verify(&def, &c), SALTUS_ERR_INPUT);
  assert_says(kept, "cannot be verified");
  saltus_scene_destroy(other);
  forget(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_to_a_tolerance_pass),
      cmocka_unit_test(runs_with_fixed_steps_pass),
      cmocka_unit_test(lies_are_found),
#ifndef SALTUS_WITHOUT_HDF5
      cmocka_unit_test(lies_on_disk_are_found),
      cmocka_unit_test(another_scene_on_disk_is_found),
      cmocka_unit_test(a_finer_tolerance_on_disk_is_found),
#endif
      cmocka_unit_test(another_mu_is_found),
      cmocka_unit_test(recordings_of_other_scenes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
