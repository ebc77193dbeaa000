/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_report.c - documents of reports: what is in them, what thinning keeps, what is refused.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What `write` got. */
typedef struct output {
  char* bytes;
  size_t count;
} output;

static saltus_status take(void* user, const void* bytes, size_t size) {
  output* out = user;
  out->bytes = realloc(out->bytes, out->count + size + 1);
  assert_non_null(out->bytes);
  memcpy(out->bytes + out->count, bytes, size);
  out->count += size;
  out->bytes[out->count] = '\0';
  return SALTUS_OK;
}

static size_t head_length(const output* out) {
  assert_true(out->count > 16 && memcmp(out->bytes, "SALTUSV1", 8) == 0);
  size_t length = 0;
  for (int i = 7; i >= 0; i--) {
    length = length << 8 | (unsigned char)out->bytes[8 + i];
  }
  assert_true(length % 8 == 0 && 16 + length <= out->count);
  return length;
}

/* Number i of an array of the document. */
static double number(const output* out, const char* name, size_t i) {
  char key[64], type[8];
  unsigned long offset;
  snprintf(key, sizeof key, "\"%s\":{\"type\":", name);
  const size_t length = head_length(out);
  const char* list = strstr(out->bytes + 16, ",\"arrays\":");
  const char* at = list != NULL ? strstr(list, key) : NULL;
  assert_non_null(at);
  assert_int_equal(sscanf(at + strlen(key), "\"%3[a-z0-9]\",\"offset\":%lu", type, &offset), 2);
  const char* from = out->bytes + 16 + length + offset;
  if (strcmp(type, "f32") == 0) {
    float value;
    memcpy(&value, from + 4 * i, sizeof value);
    return (double)value;
  }
  if (strcmp(type, "f64") == 0) {
    double value;
    memcpy(&value, from + 8 * i, sizeof value);
    return value;
  }
  int32_t value;
  memcpy(&value, from + 4 * i, sizeof value);
  return value;
}

/* A recording of one coordinate and one contact. */
enum { FRAMES = 4000, EVENTS = 5 };
typedef struct made {
  saltus_recording_data data;
  double t[FRAMES], q[FRAMES], v[FRAMES], gap[FRAMES], force[3 * FRAMES], impulse[3 * FRAMES];
  saltus_event events[EVENTS];
  saltus_label label;
  const char* contact;
} made;

static made* make_recording(const char* name) {
  static const double at[EVENTS] = {1.0005, 1.5, 1.50025, 2.0, 3.999};
  made* m = calloc(1, sizeof *m);
  assert_non_null(m);
  for (int i = 0; i < FRAMES; i++) {
    m->t[i] = i * 1e-3;
    m->q[i] = 0.5 + i;
    m->gap[i] = i % 7;
    m->force[3 * i] = i % 3;
    m->impulse[3 * i] = i % 10 == 0 ? 0.25 : 0.0;
  }
  for (int i = 0; i < EVENTS; i++) {
    m->events[i] = (saltus_event){.kind = SALTUS_EVENT_IMPACT, .t = at[i], .impulse = {0.25}};
  }
  m->label = (saltus_label){name, "m"};
  m->contact = name;
  m->data = (saltus_recording_data){.count = FRAMES,
                                    .nq = 1,
                                    .nv = 1,
                                    .nc = 1,
                                    .t = m->t,
                                    .q = m->q,
                                    .v = m->v,
                                    .gap = m->gap,
                                    .velocity = m->gap,
                                    .force = m->force,
                                    .impulse = m->impulse,
                                    .events = m->events,
                                    .event_count = EVENTS,
                                    .q_labels = &m->label,
                                    .v_labels = &m->label,
                                    .contact_names = &m->contact,
                                    .name = name,
                                    .scheme = "",
                                    .options = "",
                                    .scene = name,
                                    .version = "",
                                    .status = "complete",
                                    .accuracy = ""};
  return m;
}

static saltus_report_def report_of(const made* m, output* out) {
  saltus_report_def def = saltus_report_def_default();
  def.data = &m->data;
  def.write = take;
  def.user = out;
  return def;
}

static void a_short_recording_is_shown_whole_and_exactly(void** state) {
  (void)state;
  made* m = make_recording("ball");
  output out = {NULL, 0};
  saltus_report_about about;
  const saltus_report_def def = report_of(m, &out);
  assert_int_equal(saltus_report_document(&def, &about), SALTUS_OK);
  assert_int_equal(about.shown, FRAMES);
  assert_true(about.events_shown && about.bytes == (double)out.count);
  for (size_t i = 0; i < FRAMES; i++) {
    assert_true(number(&out, "t", i) == m->t[i] && number(&out, "q", i) == m->q[i]);
    assert_true(number(&out, "force", 3 * i) == m->force[3 * i]);
  }
  free(out.bytes);
  free(m);
}

/* 1000 frames of 4000: both sides of every event, impulses in all, forces with their time. */
static void thinning_keeps_events_impulses_and_mean_forces(void** state) {
  (void)state;
  made* m = make_recording("ball");
  output out = {NULL, 0};
  saltus_report_about about;
  saltus_report_def def = report_of(m, &out);
  def.most = 80e3;
  assert_int_equal(saltus_report_document(&def, &about), SALTUS_OK);
  assert_true(about.shown < FRAMES / 2 && about.shown > 100 && about.events_shown);
  assert_true(about.bytes < 1.2 * def.most);
  double impulse = 0.0, given = 0.0, push = 0.0, pushed = 0.0;
  for (long long k = 0; k < about.shown; k++) {
    const size_t i = (size_t)k;
    const int frame = (int)number(&out, "frame", i);
    assert_true(number(&out, "t", i) == m->t[frame]); /* times stay exact */
    impulse += number(&out, "impulse", 3 * i);
    push += k > 0 ? number(&out, "force", 3 * i) * (m->t[frame] - number(&out, "t", i - 1)) : 0.0;
  }
  for (int i = 0; i < FRAMES; i++) {
    given += m->impulse[3 * i];
    pushed += i > 0 ? m->force[3 * i] * (m->t[i] - m->t[i - 1]) : 0.0;
  }
  assert_near(impulse, given, 1e-6 * given); /* numbers of four bytes */
  assert_near(push, pushed, 1e-6 * pushed);
  for (int e = 0; e < EVENTS; e++) {
    int before = 0, after = 0;
    for (long long k = 0; k < about.shown; k++) {
      const double off = number(&out, "t", (size_t)k) - m->events[e].t;
      before += off <= 0.0 && off > -1.0001e-3;
      after += off >= 0.0 && off < 1.0001e-3;
    }
    assert_true(before > 0 && after > 0);
  }
  free(out.bytes);
  free(m);
}

static void more_events_than_room_is_said_and_all_events_are_listed(void** state) {
  (void)state;
  made* m = make_recording("ball");
  output out = {NULL, 0};
  saltus_report_about about;
  saltus_report_def def = report_of(m, &out);
  saltus_event* many = calloc(FRAMES, sizeof *many);
  assert_non_null(many);
  for (int i = 0; i < FRAMES; i++) {
    many[i].t = m->t[i];
  }
  m->data.events = many;
  m->data.event_count = FRAMES;
  def.most = 80e3;
  assert_int_equal(saltus_report_document(&def, &about), SALTUS_OK);
  assert_true(!about.events_shown && about.shown < FRAMES / 2);
  assert_true(number(&out, "event_t", FRAMES - 1) == m->t[FRAMES - 1]);
  free(many);
  free(out.bytes);
  free(m);
}

/* Quotes, ends of scripts, control characters and bytes that are no UTF-8: a head that JSON reads, without "<". */
static void names_are_data(void** state) {
  (void)state;
  made* m = make_recording("</script><script>alert(\"1\")</script>\\\x01\xff\xc0\xafü");
  output out = {NULL, 0};
  const saltus_report_def def = report_of(m, &out);
  assert_int_equal(saltus_report_document(&def, NULL), SALTUS_OK);
  const size_t length = head_length(&out);
  assert_null(memchr(out.bytes + 16, '<', length));
  assert_null(memchr(out.bytes + 16, 0xff, length));
  assert_non_null(strstr(out.bytes + 16,
                         "\"name\":\"\\u003c/script>\\u003cscript>alert(\\u00221\\u0022)"
                         "\\u003c/script>\\u005c\\u0001\\ufffd\\ufffd\\ufffdü\""));
  free(out.bytes);
  free(m);
}

static void a_page_has_the_document_in_base64_alone(void** state) {
  (void)state;
  made* m = make_recording("</script><b onclick=x>");
  output out = {NULL, 0};
  saltus_kept_message message;
  saltus_report_def def = report_of(m, &out);
  def.log = saltus_log_keep(&message);
  if (!saltus_report_has_viewer()) {
    assert_int_equal(saltus_report_page(&def, NULL), SALTUS_ERR_UNSUPPORTED);
    assert_says(message, "has no viewer");
  } else {
    assert_int_equal(saltus_report_page(&def, NULL), SALTUS_OK);
    assert_null(strstr(out.bytes, "onclick"));
    const char* from = strstr(out.bytes, "id=\"saltus-document\">");
    assert_non_null(from);
    from += strlen("id=\"saltus-document\">");
    const size_t letters =
        strspn(from, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=");
    assert_true(letters > 1000 && letters % 4 == 0 && strncmp(from + letters, "</script>", 9) == 0);
    assert_non_null(strstr(out.bytes, "script-src 'sha256-"));
  }
  free(out.bytes);
  free(m);
}

static void what_does_not_belong_together_is_refused(void** state) {
  (void)state;
  made* m = make_recording("ball");
  output out = {NULL, 0};
  saltus_kept_message message;
  saltus_report_def def = report_of(m, &out);
  def.log = saltus_log_keep(&message);
  m->data.count = 0;
  assert_int_equal(saltus_report_document(&def, NULL), SALTUS_ERR_INPUT);
  assert_says(message, "states");
  message.text[0] = '\0';
  m->data.count = FRAMES;
  const saltus_system system = {.dims = {.nq = 2, .nv = 2}};
  const saltus_scene_view scene = {.system = &system};
  def.scene = &scene;
  assert_int_equal(saltus_report_document(&def, NULL), SALTUS_ERR_INPUT);
  assert_says(message, "2 and 2");
  assert_int_equal(out.count, 0);
  free(m);
}

/* The rolling disc: where it is drawn and how fast that moves, from x, z and phi of the state. */
static void what_a_scene_draws_is_where_its_formulas_say(void** state) {
  (void)state;
  if (!saltus_has("yaml")) {
    skip();
  }
  saltus_scene* scene = saltus_test_scene("disc", NULL, 0);
  made* m = make_recording("disc");
  const saltus_drawing* drawing = saltus_scene_get_view(scene)->drawing;
  assert_non_null(drawing);
  const saltus_drawn* disc = NULL;
  for (int i = 0; i < drawing->count; i++) {
    disc = drawing->things[i].type == SALTUS_DRAWN_CIRCLE ? &drawing->things[i] : disc;
  }
  assert_non_null(disc);
  const double q[6] = {0.3, 0.1, 2.0, 0.7, 0.25, -1.0}, v[6] = {3.0, 0.5, -4.0, 1.0, 0.0, 8.0};
  saltus_label labels[3] = {{"x", "m"}, {"z", "m"}, {"phi", "rad"}};
  output out = {NULL, 0};
  saltus_report_def def = report_of(m, &out);
  saltus_recording_data data = m->data;
  data.count = 2;
  data.nq = data.nv = 3;
  data.nc = 0;
  data.q = (double*)(uintptr_t)q;
  data.v = (double*)(uintptr_t)v;
  data.q_labels = data.v_labels = labels;
  def.data = &data;
  def.scene = saltus_scene_get_view(scene);
  assert_int_equal(saltus_report_document(&def, NULL), SALTUS_OK);
  for (size_t f = 0; f < 2; f++) {
    const size_t at = f * (size_t)drawing->values->output_count + (size_t)disc->first;
    const double place[4] = {q[3 * f], q[3 * f + 1], 0.1, -q[3 * f + 2]};
    const double rate[4] = {v[3 * f], v[3 * f + 1], 0.0, -v[3 * f + 2]};
    for (size_t k = 0; k < 4; k++) {
      assert_true(number(&out, "view", at + k) == place[k]);
      assert_near(number(&out, "view_rate", at + k), rate[k], 1e-6); /* a difference over 2e-7 s */
    }
  }
  free(out.bytes);
  saltus_scene_destroy(scene);
  free(m);
}

static saltus_scene* ball(void) {
  if (!saltus_has("yaml")) {
    skip();
  }
  static const char text[] = "saltus: 1\n"
                             "coordinates: {height: {start: 1, tolerance: 1e-5}}\n"
                             "kinetic: height'^2/2\n"
                             "potential: 2*height\n"
                             "contacts: [{name: floor, gap: height, restitution: 1/2}]\n"
                             "simulate: {until: 4}\n";
  const saltus_scene_def def = {.text = text};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  return scene;
}

static saltus_run* ran(const saltus_scene* scene, const char* scheme, double step) {
  saltus_run_def def = saltus_run_def_default();
  saltus_run* run;
  def.scene = saltus_scene_get_view(scene);
  def.scheme = scheme;
  def.step = step;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  return run;
}

/* Causes that are listed add up to all steps where there are few of them. */
static void a_run_says_what_was_asked_and_what_limited_its_steps(void** state) {
  (void)state;
  saltus_scene* scene = ball();
  saltus_run* run = ran(scene, "adaptive", NAN);
  char text[2048], part[16];
  const size_t length = saltus_run_explain(run, text, sizeof text);
  assert_int_equal(length, strlen(text));
  assert_int_equal(saltus_run_explain(run, NULL, 0), length);
  assert_int_equal(saltus_run_explain(run, part, sizeof part), length);
  assert_memory_equal(part, text, sizeof part - 1);
  assert_non_null(strstr(text, "rtol = 1e-06, atol = 1e-06, of height 1e-05."));
  const char* causes = strstr(text, "Steps limited by:");
  assert_non_null(causes);
  assert_non_null(strstr(causes, " events ("));
  long long sum = 0, most = saltus_run_outcome(run)->tally->steps;
  for (const char* at = strchr(causes, '('); at != NULL; at = strchr(at + 1, '(')) {
    long long steps;
    assert_int_equal(sscanf(at, "(%lld)", &steps), 1);
    assert_true(steps > 0 && steps <= most);
    most = steps; /* they fall */
    sum += steps;
  }
  assert_null(strstr(causes, "and others"));
  assert_int_equal(sum, saltus_run_outcome(run)->tally->steps);
  saltus_run_destroy(run);
  run = ran(scene, "moreau-jean", 0.01);
  saltus_run_explain(run, text, sizeof text);
  assert_string_equal(text, "Requested: steps of 0.01 s.\n");
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* Recordings of both formats keep it, and documents show it. */
static void explanations_pass_through_recordings_into_documents(void** state) {
  (void)state;
  static const char said[] = "Asked: \"much\".\nWhat limited it: the \\ floor (3).\n";
  char folder[] = "/tmp/saltus-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  saltus_scene* scene = ball();
  for (int x = 0; x < (saltus_has("hdf5") ? 2 : 1); x++) {
    saltus_recording_def def = saltus_recording_def_default();
    saltus_recording_summary summary = {.steps = 1, .cpu_seconds = NAN};
    saltus_recording* recording;
    saltus_recording_data* data;
    saltus_run_def run_def = saltus_run_def_default();
    saltus_run* run;
    snprintf(path, sizeof path, "%s/run.%s", folder, x == 0 ? "csv" : "h5");
    def.path = path;
    def.system = saltus_scene_get_view(scene)->system;
    assert_int_equal(saltus_recording_create(&def, &recording), SALTUS_OK);
    const saltus_recorder recorder = saltus_recording_recorder(recording);
    run_def.scene = saltus_scene_get_view(scene);
    run_def.recorders = &recorder;
    run_def.recorder_count = 1;
    assert_int_equal(saltus_run_create(&run_def, &run), SALTUS_OK);
    assert_int_equal(saltus_run_execute(run), SALTUS_OK);
    assert_int_equal(saltus_recording_explain(recording, said), SALTUS_OK);
    assert_int_equal(saltus_recording_close(recording, &summary), SALTUS_OK);
    saltus_recording_destroy(recording);
    saltus_run_destroy(run);
    assert_int_equal(saltus_recording_read(path, (saltus_log){0}, NULL, &data), SALTUS_OK);
    assert_string_equal(data->explanation, said);
    saltus_report_def report = saltus_report_def_default();
    output out = {0};
    report.data = data;
    report.answers = "bill: paid";
    report.write = take;
    report.user = &out;
    assert_int_equal(saltus_report_document(&report, NULL), SALTUS_OK);
    assert_non_null(strstr(out.bytes + 16, "\"explanation\":\"Asked: \\u0022much\\u0022.\\u000a"
                                           "What limited it: the \\u005c floor (3).\\u000a\""));
    assert_non_null(strstr(out.bytes + 16, "\"answers\":\"bill: paid\""));
    free(out.bytes);
    saltus_recording_data_destroy(data);
    remove(path);
  }
  snprintf(path, sizeof path, "%s/run.events.csv", folder);
  remove(path);
  rmdir(folder);
  saltus_scene_destroy(scene);
}

static void without_memory_nothing_is_leaked(void** state) {
  (void)state;
  made* m = make_recording("ball");
  for (int fail_at = 1; fail_at < 20; fail_at++) {
    output out = {NULL, 0};
    counter count = {.fail_at = fail_at};
    const saltus_allocator memory = counting_allocator(&count);
    saltus_report_def def = report_of(m, &out);
    def.allocator = &memory;
    assert_int_equal(saltus_report_document(&def, NULL), SALTUS_ERR_MEMORY);
    assert_int_equal(count.live, 0);
    assert_int_equal(out.count, 0);
  }
  free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_short_recording_is_shown_whole_and_exactly),
      cmocka_unit_test(thinning_keeps_events_impulses_and_mean_forces),
      cmocka_unit_test(more_events_than_room_is_said_and_all_events_are_listed),
      cmocka_unit_test(names_are_data),
      cmocka_unit_test(a_page_has_the_document_in_base64_alone),
      cmocka_unit_test(what_does_not_belong_together_is_refused),
      cmocka_unit_test(what_a_scene_draws_is_where_its_formulas_say),
      cmocka_unit_test(a_run_says_what_was_asked_and_what_limited_its_steps),
      cmocka_unit_test(explanations_pass_through_recordings_into_documents),
      cmocka_unit_test(without_memory_nothing_is_leaked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
