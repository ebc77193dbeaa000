/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_first_event.c - what the search for the first event of a step costs when there are many candidates, and
 * that contacts of a set that changes are searched like those of a fixed one where they are enclosed.
 */
#include "saltus/saltus.h"
#include "saltus_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scenes whose contacts come and go ---------------------------------------------------------- */

/* A system of formulas with other callbacks in front: contacts are named otherwise and listed when they are near,
 * or all the time; how often gaps are evaluated is counted. */
typedef struct shell {
  saltus_system inner;
  saltus_system_ops ops;
  saltus_enclosure_ops enclosure;
  double near; /* m */
  long long* gaps;
} shell;

static const uint64_t first_name = UINT64_C(1) << 40;

static size_t enclosure_bytes(const void* self) {
  const shell* s = self;
  return s->inner.ops->enclosure->bytes(s->inner.self);
}

static unsigned depends(const void* self, saltus_quantity what, int i) {
  const shell* s = self;
  return s->inner.ops->enclosure->depends(s->inner.self, what, i);
}

static void along(const void* self, const saltus_course* course, saltus_quantity what, int i,
                  saltus_interval* out) {
  const shell* s = self;
  s->inner.ops->enclosure->along(s->inner.self, course, what, i, out);
}

static unsigned contact_depends(const void* self, saltus_quantity what, uint64_t identity) {
  assert_true(identity >= first_name);
  return depends(self, what, (int)(identity - first_name));
}

static void contact_along(const void* self, const saltus_course* course, saltus_quantity what,
                          uint64_t identity, saltus_interval* out) {
  assert_true(identity >= first_name);
  along(self, course, what, (int)(identity - first_name), out);
}

static void mass(const void* self, const saltus_point* at, double* M) {
  const shell* s = self;
  s->inner.ops->mass(s->inner.self, at, M);
}

static void force(const void* self, const saltus_point* at, double* F) {
  const shell* s = self;
  s->inner.ops->force(s->inner.self, at, F);
}

static saltus_status gaps(const void* self, const saltus_point* at, int count,
                          const uint64_t* identity, double* gap) {
  const shell* s = self;
  for (int i = 0; i < count; i++) {
    uint64_t key = identity[i] >= first_name ? identity[i] - first_name : identity[i];
    s->inner.ops->gaps(s->inner.self, at, 1, &key, &gap[i]);
    *s->gaps += 1;
  }
  return SALTUS_OK;
}

static saltus_status near_contacts(const void* self, const saltus_point* at,
                                   saltus_contact_list* list) {
  const shell* s = self;
  int count = 0;
  for (int i = 0; i < s->inner.dims.nc; i++) {
    uint64_t identity = first_name + (uint64_t)i;
    double gap;
    gaps(self, at, 1, &identity, &gap);
    if (gap <= s->near) {
      if (count < list->capacity) {
        list->gap[count] = gap;
        list->identity[count] = identity;
        list->law[count] = i;
      }
      count++;
    }
  }
  list->count = count;
  list->reach = fmin(list->reach, s->near);
  return count > list->capacity ? SALTUS_RETRY_CAPACITY : SALTUS_OK;
}

static saltus_status all_contacts(const void* self, const saltus_point* at,
                                  saltus_contact_list* list) {
  for (int i = 0; i < list->count; i++) {
    const uint64_t identity = (uint64_t)i;
    gaps(self, at, 1, &identity, &list->gap[i]);
  }
  return SALTUS_OK;
}

/* Too many are allowed. */
static saltus_status sweep(const void* self, const saltus_box* over, saltus_contact_list* list) {
  const shell* s = self;
  (void)over;
  list->count = s->inner.dims.nc;
  for (int i = 0; i < list->count && i < list->capacity; i++) {
    list->identity[i] = first_name + (uint64_t)i;
    list->law[i] = i;
  }
  return list->count > list->capacity ? SALTUS_RETRY_CAPACITY : SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  const shell* s = self;
  uint64_t key = identity >= first_name ? identity - first_name : identity;
  s->inner.ops->contact(s->inner.self, at, key, rows);
}

/* near: contacts are listed up to that gap; infinite: a fixed set. */
static saltus_system shell_over(shell* s, const saltus_system* inner, double near, bool enclosed,
                                long long* counted) {
  bool changing = isfinite(near);
  *s = (shell){.inner = *inner, .near = near, .gaps = counted};
  s->enclosure =
      (saltus_enclosure_ops){.bytes = enclosure_bytes,
                             .depends = depends,
                             .along = along,
                             .contact_depends = changing && enclosed ? contact_depends : NULL,
                             .contact_along = changing && enclosed ? contact_along : NULL};
  s->ops = (saltus_system_ops){.mass = mass,
                               .force = force,
                               .contacts = changing ? near_contacts : all_contacts,
                               .contact = contact,
                               .gaps = gaps,
                               .sweep = changing ? sweep : NULL,
                               .enclosure = changing || enclosed ? &s->enclosure : NULL};
  saltus_system outer = *inner;
  outer.ops = &s->ops;
  outer.self = s;
  outer.structure = NULL;
  outer.traits &= SALTUS_CONSTANT_MASS;
  outer.traits |= changing ? SALTUS_CHANGING_CONTACTS : 0U;
  outer.dims.nc = changing ? 0 : inner->dims.nc;
  return outer;
}

/* ---- runs --------------------------------------------------------------------------------------- */

typedef struct outcome {
  double q[4];
  double first; /* s, time of the first impact; NaN: none */
  long long impacts, events;
} outcome;

static outcome run(const saltus_system* system, const double* q0, const double* v0, double until,
                   double tol) {
  outcome o = {.first = NAN};
  const saltus_integrator_def def = {
      .system = system, .q0 = q0, .v0 = v0, .rtol = tol, .atol = tol};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, until, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  saltus_integrator_cost cost = saltus_integrator_costs(it);
  o.impacts = cost.events[SALTUS_EVENT_IMPACT];
  o.events = saltus_integrator_event_count(it);
  for (long long i = o.events - 1; i >= 0; i--) {
    const saltus_event* e = saltus_integrator_event(it, i);
    o.first = e->kind == SALTUS_EVENT_IMPACT ? e->t : o.first;
  }
  for (int i = 0; i < 4 && i < system->dims.nq; i++) {
    o.q[i] = saltus_integrator_q(it)[i];
  }
  saltus_integrator_destroy(it);
  return o;
}

static saltus_scene* scene_of(const char* text) {
  saltus_scene* scene = NULL;
  const saltus_scene_def def = {.text = text, .path = "first event"};
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  return scene;
}

/* ---- dips between samples ------------------------------------------------------------------------- */

/* A needle of 1 mm in the way of a point that flies 10 m in a step, and is listed within 5 cm. Its gap is zero where
 * 0.5 exp(-(x - 1)^2 / 1e-6) = 0.2. */
static const char needle[] = "saltus: 1\n"
                             "coordinates: {x: {start: 0, velocity: 10}, y: {start: 0.2}}\n"
                             "kinetic: (x'^2 + y'^2)/2\n"
                             "contacts:\n"
                             "  - {gap: \"y - 0.5*exp(-((x - 1)/0.001)^2)\", restitution: 0.5}\n";

static void a_needle_that_is_listed_late_is_hit(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(needle);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  double hit = (1.0 - 0.001 * sqrt(log(2.5))) / 10.0;
  for (int k = 0; k < 4; k++) {
    double tol = pow(10.0, -4.0 - 2.0 * k);
    long long counted = 0;
    shell s;
    saltus_system late = shell_over(&s, view->system, 0.05, true, &counted);
    outcome o = run(&late, view->q0, view->v0, 1.0, tol);
    assert_true(o.impacts >= 1);
    assert_true(fabs(o.first - hit) < tol);
  }
  /* what the enclosure is for: samples of the same gap pass it by */
  long long counted = 0;
  shell s;
  saltus_system sampled = shell_over(&s, view->system, 0.05, false, &counted);
  assert_int_equal(run(&sampled, view->q0, view->v0, 1.0, 1e-6).impacts, 0);
  saltus_scene_destroy(scene);
}

/* Needles of a row, hopped over by balls, a bead that slides over a bump and a table that shakes: late lists with
 * enclosures end where formulas do, with the same events. */
static void late_lists_move_as_formulas_do(void** state) {
  (void)state;
  static const char* const scenes[] = {
      needle,
      "saltus: 1\n"
      "coordinates: {x: {start: 0, velocity: 1.5}, y: {start: 0.5}}\n"
      "kinetic: (x'^2 + y'^2)/2\n"
      "potential: 9.81*y\n"
      "contacts:\n"
      "  - {gap: \"y - 0.05*sin(20*x)\", restitution: 0.6}\n",
      "saltus: 1\n"
      "coordinates: {x: {start: 0, velocity: 2}, y: {start: 0}}\n"
      "kinetic: (x'^2 + y'^2)/2\n"
      "potential: 9.81*y\n"
      "contacts:\n"
      "  - {gap: \"y - 0.0003*exp(-((x - 1)/0.05)^2)\", slip: x, friction: 0.1}\n",
      "saltus: 1\n"
      "coordinates: {y: {start: 1}}\n"
      "kinetic: y'^2/2\n"
      "potential: 9.81*y\n"
      "contacts:\n"
      "  - {gap: \"y - 0.02*sin(60*t)\", restitution: 0.5}\n",
  };
  const double tol = 1e-7;
  for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
    saltus_scene* scene = scene_of(scenes[i]);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    long long counted = 0;
    shell s;
    saltus_system late = shell_over(&s, view->system, 0.03, true, &counted);
    outcome fixed = run(view->system, view->q0, view->v0, 0.7, tol);
    outcome o = run(&late, view->q0, view->v0, 0.7, tol);
    assert_int_equal(o.events, fixed.events);
    for (int k = 0; k < view->system->dims.nq && k < 4; k++) {
      assert_true(fabs(o.q[k] - fixed.q[k]) < 10.0 * tol);
    }
    saltus_scene_destroy(scene);
  }
}

/* That of the other one of two contacts. */
static void other_along(const void* self, const saltus_course* course, saltus_quantity what,
                        uint64_t identity, saltus_interval* out) {
  along(self, course, what, identity == first_name ? 1 : 0, out);
}

static int reads_of_contacts(const void* self, saltus_quantity what, uint64_t index, int room,
                             int* place) {
  const shell* s = self;
  uint64_t key = index >= first_name ? index - first_name : index;
  return s->inner.ops->enclosure->reads(s->inner.self, what, key, room, place);
}

/* Not the last of them. */
static int reads_too_little(const void* self, saltus_quantity what, uint64_t index, int room,
                            int* place) {
  int count = reads_of_contacts(self, what, index, room, place);
  return count > 1 ? count - 1 : count;
}

/* Enclosures of contacts by identity are compared with gaps and rows, too. */
static void a_wrong_enclosure_by_identity_is_found(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("saltus: 1\n"
                                 "coordinates: {x: {start: 0.1}, y: {start: 0.2}}\n"
                                 "kinetic: (x'^2 + y'^2)/2\n"
                                 "contacts:\n"
                                 "  - {gap: \"y - x^2\"}\n"
                                 "  - {gap: \"1 - y - x^2\"}\n");
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  long long counted = 0;
  shell s;
  const double v[2] = {0.3, -0.4};
  saltus_system_check_result result;
  saltus_system late = shell_over(&s, view->system, 10.0, true, &counted);
  assert_int_equal(saltus_system_check(&late, 0.0, view->q0, v, (saltus_log){0}, &result),
                   SALTUS_OK);
  assert_true(result.enclosure == 0.0);
  s.enclosure.contact_along = other_along;
  assert_int_equal(saltus_system_check(&late, 0.0, view->q0, v, (saltus_log){0}, &result),
                   SALTUS_OK);
  assert_true(result.enclosure > 0.1);
  s.enclosure.contact_along = contact_along;
  s.enclosure.reads = reads_of_contacts;
  assert_int_equal(saltus_system_check(&late, 0.0, view->q0, v, (saltus_log){0}, &result),
                   SALTUS_OK);
  assert_true(result.enclosure == 0.0);
  s.enclosure.reads = reads_too_little;
  assert_int_equal(saltus_system_check(&late, 0.0, view->q0, v, (saltus_log){0}, &result),
                   SALTUS_OK);
  assert_true(result.enclosure >= 1.0);
  assert_string_equal(result.where, "enclosures");
  saltus_scene_destroy(scene);
}

static void half_an_enclosure_is_refused(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(needle);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  long long counted = 0;
  shell s;
  saltus_system late = shell_over(&s, view->system, 0.05, true, &counted);
  s.enclosure.contact_depends = NULL;
  assert_int_equal(saltus_system_validate(&late, (saltus_log){0}), SALTUS_ERR_RANGE);
  s.enclosure.contact_depends = contact_depends;
  s.enclosure.depends = NULL;
  s.enclosure.along = NULL; /* contacts alone are enclosed */
  assert_int_equal(saltus_system_validate(&late, (saltus_log){0}), SALTUS_OK);
  double hit = (1.0 - 0.001 * sqrt(log(2.5))) / 10.0;
  assert_true(fabs(run(&late, view->q0, view->v0, 1.0, 1e-6).first - hit) < 1e-6);
  saltus_system fixed = shell_over(&s, view->system, INFINITY, true, &counted);
  assert_int_equal(saltus_system_validate(&fixed, (saltus_log){0}), SALTUS_OK);
  s.enclosure.along = NULL;
  assert_int_equal(saltus_system_validate(&fixed, (saltus_log){0}), SALTUS_ERR_RANGE);
  saltus_scene_destroy(scene);
}

/* ---- cost of many candidates ------------------------------------------------------------------------ */

enum { TEXT = 1 << 16 };

static double in_no_order(int i) {
  double golden = 0.6180339887498949 * (i + 1);
  return 0.5 + 0.5 * (golden - floor(golden));
}

/* Balls over hills of their own. */
static void write_hills(char* text, int n) {
  int used = snprintf(text, TEXT, "saltus: 1\ncoordinates:\n");
  for (int i = 0; i < n; i++) {
    used += snprintf(text + used, (size_t)(TEXT - used),
                     "  x%d: {velocity: %.17g}\n  y%d: {start: %.17g}\n", i,
                     0.3 * in_no_order(i + n), i, in_no_order(i));
  }
  used += snprintf(text + used, (size_t)(TEXT - used), "kinetic: (0");
  for (int i = 0; i < n; i++) {
    used += snprintf(text + used, (size_t)(TEXT - used), " + x%d'^2 + y%d'^2", i, i);
  }
  used += snprintf(text + used, (size_t)(TEXT - used), ")/2\npotential: 9.81*(0");
  for (int i = 0; i < n; i++) {
    used += snprintf(text + used, (size_t)(TEXT - used), " + y%d", i);
  }
  used += snprintf(text + used, (size_t)(TEXT - used), ")\ncontacts:\n");
  for (int i = 0; i < n; i++) {
    used += snprintf(text + used, (size_t)(TEXT - used),
                     "  - {gap: \"y%d - 0.05*sin(20*x%d)\", restitution: 0.7}\n", i, i);
  }
  assert_true(used < TEXT);
}

/* Gaps that are evaluated for an impact grow as the number of balls does, with enclosures and by samples: a contact
 * that is looked at does not make all others be evaluated. */
static void gaps_are_evaluated_for_those_that_are_searched(void** state) {
  (void)state;
  static char text[TEXT];
  for (int enclosed = 0; enclosed < 2; enclosed++) {
    double each[2];
    for (int k = 0; k < 2; k++) {
      int n = k == 0 ? 10 : 80;
      write_hills(text, n);
      saltus_scene* scene = scene_of(text);
      const saltus_scene_view* view = saltus_scene_get_view(scene);
      long long counted = 0;
      shell s;
      saltus_system fixed = shell_over(&s, view->system, INFINITY, enclosed != 0, &counted);
      outcome o = run(&fixed, view->q0, view->v0, 0.45, 1e-6);
      assert_true(o.impacts > n / 2);
      each[k] = (double)counted / (double)(o.impacts * n);
      saltus_scene_destroy(scene);
    }
    assert_true(each[1] < 1.5 * each[0]); /* it was 8 times */
  }
}

/* Blocks that are lifted one after the other, all of them within a few steps: the forces of all end in the same
 * step again and again, and only the first end is followed with true forces. */
static void only_the_first_end_of_a_force_is_refined(void** state) {
  (void)state;
  static char text[TEXT];
  double each[2];
  for (int k = 0; k < 2; k++) {
    int n = k == 0 ? 4 : 32;
    int used = snprintf(text, TEXT, "saltus: 1\ncoordinates: {");
    for (int i = 0; i < n; i++) {
      used +=
          snprintf(text + used, (size_t)(TEXT - used), "%sy%d: {start: 0}", i > 0 ? ", " : "", i);
    }
    used += snprintf(text + used, (size_t)(TEXT - used), "}\nkinetic: (0");
    for (int i = 0; i < n; i++) {
      used += snprintf(text + used, (size_t)(TEXT - used), " + y%d'^2", i);
    }
    used += snprintf(text + used, (size_t)(TEXT - used), ")/2\nforces: {");
    for (int i = 0; i < n; i++) {
      used += snprintf(text + used, (size_t)(TEXT - used), "%sy%d: \"t/%.17g - 1\"",
                       i > 0 ? ", " : "", i, in_no_order(i));
    }
    used += snprintf(text + used, (size_t)(TEXT - used), "}\ncontacts:\n");
    for (int i = 0; i < n; i++) {
      used += snprintf(text + used, (size_t)(TEXT - used), "  - {gap: y%d}\n", i);
    }
    assert_true(used < TEXT);
    saltus_scene* scene = scene_of(text);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    saltus_system_ops ops = *view->system->ops;
    saltus_system one = *view->system; /* that says nothing of its parts: they share a clock */
    ops.blocks = NULL;
    one.ops = &ops;
    one.structure = NULL;
    const saltus_integrator_def def = {.system = &one,
                                       .q0 = view->q0,
                                       .v0 = view->v0,
                                       .rtol = 1e-8,
                                       .atol = 1e-8,
                                       .duration = 1.5};
    saltus_integrator* it;
    assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_OK);
    assert_int_equal(saltus_integrator_advance(it, 1.5, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
    saltus_integrator_cost cost = saltus_integrator_costs(it);
    assert_int_equal(cost.events[SALTUS_EVENT_OPEN], n);
    for (int i = 0; i < n; i++) { /* s^3 / (6 T) after leaving at T */
      double leaves = in_no_order(i);
      double past = 1.5 - leaves;
      assert_true(fabs(saltus_integrator_q(it)[i] - past * past * past / (6.0 * leaves)) < 1e-7);
    }
    each[k] = (double)cost.work.force_evaluations / n;
    saltus_integrator_destroy(it);
    saltus_scene_destroy(scene);
  }
  /* fifteen for an attempt of order 8, and some for the force that is followed; following all were 72 */
  assert_true(each[1] < 40.0);
  assert_true(each[1] < 1.5 * each[0]);
}

/* Balls that bounce beside each other: while others hit before its bounces end, those of one are not tried in
 * one step, which would be refused. Accumulations that are alone are passed over as before. */
static void bounces_are_not_tried_while_others_hit(void** state) {
  (void)state;
  enum { N = 40 };
  static char text[TEXT];
  int used = snprintf(text, TEXT, "saltus: 1\ncoordinates: {");
  for (int i = 0; i < N; i++) {
    used += snprintf(text + used, (size_t)(TEXT - used), "%sy%d: {start: %.17g}", i > 0 ? ", " : "",
                     i, in_no_order(i));
  }
  used += snprintf(text + used, (size_t)(TEXT - used), "}\nkinetic: (0");
  for (int i = 0; i < N; i++) {
    used += snprintf(text + used, (size_t)(TEXT - used), " + y%d'^2", i);
  }
  used += snprintf(text + used, (size_t)(TEXT - used), ")/2\npotential: 9.81*(0");
  for (int i = 0; i < N; i++) {
    used += snprintf(text + used, (size_t)(TEXT - used), " + y%d", i);
  }
  used += snprintf(text + used, (size_t)(TEXT - used), ")\ncontacts:\n");
  for (int i = 0; i < N; i++) {
    used += snprintf(text + used, (size_t)(TEXT - used), "  - {gap: y%d, restitution: 0.7}\n", i);
  }
  assert_true(used < TEXT);
  saltus_scene* scene = scene_of(text);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_integrator_def def = {.system = view->system,
                                     .q0 = view->q0,
                                     .v0 = view->v0,
                                     .rtol = 1e-6,
                                     .atol = 1e-6,
                                     .duration = 3.0};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, 2.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  saltus_integrator_cost cost = saltus_integrator_costs(it);
  /* two attempts of order 8 with their dense output, 31 evaluations, and a decision; the tries made it 46 */
  assert_true((double)cost.work.force_evaluations < 40.0 * (double)cost.tally->steps);
  assert_int_equal(saltus_integrator_advance(it, 3.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  cost = saltus_integrator_costs(it);
  assert_int_equal(cost.events[SALTUS_EVENT_ACCUMULATION], N);
  saltus_integrator_destroy(it);
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_needle_that_is_listed_late_is_hit),
      cmocka_unit_test(late_lists_move_as_formulas_do),
      cmocka_unit_test(a_wrong_enclosure_by_identity_is_found),
      cmocka_unit_test(half_an_enclosure_is_refused),
      cmocka_unit_test(gaps_are_evaluated_for_those_that_are_searched),
      cmocka_unit_test(only_the_first_end_of_a_force_is_refined),
      cmocka_unit_test(bounces_are_not_tried_while_others_hit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
