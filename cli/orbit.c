/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * orbit.c - saltus orbit: a periodic orbit, its multipliers, and its continuation in a parameter.
 */
#include "orbit.h"

#include "json.h"
#include "output.h"
#include "progress.h"
#include "saltus/integrator.h"
#include "saltus/orbit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 64 };

/* One parameter value with its orbit. */
typedef struct orbit_point {
  double parameter;
  saltus_scene* scene;
  saltus_orbit* orbit;
} orbit_point;

typedef struct orbit_job {
  const cli_args* args;
  const cli_model* model;
  orbit_section section;
  orbit_axis axis;
  bool* drifts;
  double tol;
  int count;     /* returns of one period */
  double *q, *v; /* guess */
  double t0;
  json out;
} orbit_job;

static void point_free(orbit_point* p) {
  saltus_orbit_destroy(p->orbit);
  saltus_scene_destroy(p->scene);
  *p = (orbit_point){0};
}

static int make_point(orbit_job* j, double parameter, bool loud, orbit_point* p) {
  *p = (orbit_point){.parameter = parameter};
  int code = orbit_scene(j->model, &j->axis, parameter, &j->section, &p->scene);
  if (code != CLI_DONE) {
    return code;
  }
  saltus_orbit_def def = saltus_orbit_def_default();
  def.system = saltus_scene_get_view(p->scene)->system;
  def.observables = saltus_scene_get_view(p->scene)->observables;
  def.t0 = j->t0;
  def.q0 = j->q;
  def.v0 = j->v;
  def.period = j->section.period * j->count;
  def.section_kind = j->section.kind;
  def.section_contact = j->section.contact;
  def.section_count = j->count;
  def.drifts = j->drifts;
  def.tol = j->tol;
  def.cancel = cli_signals_hold();
  def.log = loud ? cli_log() : (saltus_log){0};
  const saltus_status status = saltus_orbit_create(&def, &p->orbit);
  cli_signals_release();
  return cli_exit_code(status);
}

static void keep_guess(orbit_job* j, const orbit_point* p) {
  const saltus_orbit_view* o = saltus_orbit_get_view(p->orbit);
  memcpy(j->q, o->q, (size_t)j->model->view.system->dims.nq * sizeof(double));
  memcpy(j->v, o->v, (size_t)j->model->view.system->dims.nv * sizeof(double));
}

static void print_point(orbit_job* j, const orbit_point* p) {
  const saltus_orbit_view* o = saltus_orbit_get_view(p->orbit);
  const saltus_system* sys = j->model->view.system;
  if (j->out.file != NULL) {
    json* out = &j->out;
    json_open(out, NULL, '{');
    if (j->axis.count > 0) {
      json_number(out, j->axis.name, p->parameter);
    }
    json_number(out, "period", o->period);
    json_bool(out, "stable", o->stable);
    json_number(out, "residual", o->residual);
    json_integer(out, "impacts", o->impacts);
    json_number(out, "slowest_impact", o->closest);
    const char* const names[] = {"q", "v", "drift"};
    const double* const values[] = {o->q, o->v, o->drift};
    for (int k = 0; k < 3; k++) {
      json_open(out, names[k], '[');
      for (int i = 0; i < sys->dims.nq; i++) {
        json_number(out, NULL, values[k][i]);
      }
      json_close(out, ']');
    }
    json_open(out, "multipliers", '[');
    for (int i = 0; i < o->size; i++) {
      json_open(out, NULL, '[');
      json_number(out, NULL, o->re[i]);
      json_number(out, NULL, o->im[i]);
      json_close(out, ']');
    }
    json_close(out, ']');
    json_close(out, '}');
    return;
  }
  if (j->axis.count > 0) {
    printf("%-14.8g period %.10g s, %lld impacts, %s, multipliers", p->parameter, o->period,
           o->impacts, o->stable ? "stable  " : "UNSTABLE");
    for (int i = 0; i < o->size && i < 4; i++) {
      printf(" %.6g", o->re[i]);
      if (o->im[i] != 0.0) {
        printf("%+.6gi", o->im[i]);
      }
    }
    printf("\n");
    return;
  }
  printf("Orbit of period %.15g s with %lld impact%s, %s; return error %.2g after %d iterations.\n",
         o->period, o->impacts, cli_plural(o->impacts), o->stable ? "stable" : "unstable",
         o->residual, o->iterations);
  for (int i = 0; i < sys->dims.nq; i++) {
    char line[128];
    const char* name =
        cli_one_line(sys->q_labels != NULL ? sys->q_labels[i].name : "q", line, sizeof line);
    printf("  %s = %.15g, %s' = %.15g", name, o->q[i], name, o->v[i]);
    if (o->drift[i] != 0.0) {
      printf(", moves on by %.12g in a period", o->drift[i]);
    }
    printf("\n");
  }
  printf("Multipliers:\n");
  for (int i = 0; i < o->size; i++) {
    printf("  %.12g", o->re[i]);
    if (o->im[i] != 0.0) {
      printf(" %+.12g i", o->im[i]);
    }
    printf("   (size %.6g)\n", hypot(o->re[i], o->im[i]));
  }
  if (o->impacts > 0) {
    printf("Slowest impact %.6g m/s.\n", o->closest);
  }
  if (o->derivative == SALTUS_DERIVATIVE_SIMULTANEOUS) {
    printf("Impacts are simultaneous: multipliers depend on their order.\n");
  }
}

/* Product of (multiplier - at) over all of them, real because they come in pairs. */
static double distance_from(const saltus_orbit_view* o, double at) {
  double re = 1.0, im = 0.0;
  for (int i = 0; i < o->size; i++) {
    const double a = o->re[i] - at, b = o->im[i];
    const double next = re * a - im * b;
    im = re * b + im * a;
    re = next;
  }
  return re;
}

/* The size of the largest pair of multipliers that is not real, over 1; NaN: there is none. */
static double pair_size(const saltus_orbit_view* o) {
  for (int i = 0; i < o->size; i++) {
    if (o->im[i] != 0.0) {
      return hypot(o->re[i], o->im[i]) - 1.0;
    }
  }
  return NAN;
}

typedef struct orbit_test {
  const char* name;
  double at; /* value of the real multiplier; NaN: modulus 1 of a complex pair */
} orbit_test;

static const orbit_test tests[] = {{"period doubling", -1.0}, {"fold", 1.0}, {"torus", NAN}};

static double test_value(const orbit_test* test, const orbit_point* p) {
  const saltus_orbit_view* o = saltus_orbit_get_view(p->orbit);
  return isnan(test->at) ? pair_size(o) : distance_from(o, test->at);
}

static void print_stop(orbit_job* j, const char* what, double parameter, double accuracy) {
  if (j->out.file != NULL) {
    json_open(&j->out, NULL, '{');
    json_text(&j->out, "stop", what);
    json_number(&j->out, j->axis.name, parameter);
    json_number(&j->out, "accuracy", accuracy);
    json_close(&j->out, '}');
  } else {
    printf("%s at %s = %.12g (to %.2g)\n", what, j->axis.name, parameter, accuracy);
  }
}

/* Zero of a test function between two points: false position with the Illinois rule. */
static int locate(orbit_job* j, const orbit_test* test, double a, double fa, double b, double fb) {
  int code = CLI_DONE;
  double was = b;
  for (int i = 0; i < 60 && fabs(b - a) > 1e-14 * (fabs(a) + fabs(b)); i++) {
    const double x = (a * fb - b * fa) / (fb - fa);
    orbit_point p;
    code = make_point(j, x, false, &p);
    if (code != CLI_DONE) {
      point_free(&p);
      break;
    }
    keep_guess(j, &p);
    const double f = test_value(test, &p);
    point_free(&p);
    const bool settled = fabs(x - was) <= 1e-13 * fabs(x) || f == 0.0;
    was = x;
    if ((f > 0.0) == (fb > 0.0)) {
      fa *= 0.5;
    } else {
      a = b;
      fa = fb;
    }
    b = x;
    fb = f;
    if (settled) {
      break;
    }
  }
  print_stop(j, test->name, b, fmin(fabs(b - a), fmax(fabs(b - was), 1e-12 * fabs(b))));
  return code;
}

/* Slowest impact, m/s, in one return from the last orbit, slightly beyond the end of the branch; INFINITY: no impact.
 * */
static double slowest_beyond(orbit_job* j, double parameter, double span) {
  saltus_scene* scene = NULL;
  double slowest = INFINITY;
  if (orbit_scene(j->model, &j->axis, parameter, &j->section, &scene) != CLI_DONE) {
    return slowest;
  }
  const saltus_integrator_def def = {.system = saltus_scene_get_view(scene)->system,
                                     .t0 = j->t0,
                                     .q0 = j->q,
                                     .v0 = j->v,
                                     .rtol = j->tol,
                                     .atol = j->tol};
  saltus_integrator* it = NULL;
  saltus_status status = saltus_integrator_create(&def, &it);
  const saltus_event* event = NULL;
  do {
    status =
        status == SALTUS_OK
            ? saltus_integrator_advance(it, j->t0 + span, SALTUS_STOP(SALTUS_EVENT_IMPACT), &event)
            : status;
    if (status == SALTUS_OK && event != NULL) {
      slowest = fmin(slowest, fabs(event->u_before));
    }
  } while (status == SALTUS_OK && event != NULL);
  saltus_integrator_destroy(it);
  saltus_scene_destroy(scene);
  return slowest;
}

static double nearest_one(const saltus_orbit_view* o) {
  double least = INFINITY;
  for (int i = 0; i < o->size; i++) {
    least = fmin(least, hypot(o->re[i] - 1.0, o->im[i]));
  }
  return least;
}

/* End of the branch between a parameter with an orbit and one without. */
static void find_end(orbit_job* j, const orbit_point* last, double bad) {
  const saltus_orbit_view* before = saltus_orbit_get_view(last->orbit);
  double good = last->parameter, closest = before->closest, span = before->period;
  double one = INFINITY; /* least distance of a multiplier from 1 */
  const double width = fabs(bad - good), side = bad > good ? 1.0 : -1.0;
  for (int i = 0; i < 40 && fabs(bad - good) > 1e-12 * fabs(good); i++) {
    const double middle = 0.5 * (good + bad);
    orbit_point p;
    if (make_point(j, middle, false, &p) == CLI_DONE &&
        saltus_orbit_get_view(p.orbit)->impacts == before->impacts) {
      keep_guess(j, &p);
      span = saltus_orbit_get_view(p.orbit)->period;
      closest = saltus_orbit_get_view(p.orbit)->closest;
      one = nearest_one(saltus_orbit_get_view(p.orbit));
      good = middle;
    } else {
      bad = middle;
    }
    point_free(&p);
  }
  /* beyond the end a new impact has an approach velocity of the square root of the distance */
  closest = fmin(closest, slowest_beyond(j, bad + side * 1e-6 * width, span));
  char what[96];
  snprintf(what, sizeof what, "the orbit ends (slowest impact %.3g m/s: %s)", closest,
           closest < 1e-2 ? "grazing"
           : one < 1e-3   ? "fold"
                          : "another sequence of events");
  print_stop(j, what, good, fabs(bad - good));
}

static int follow(orbit_job* j) {
  orbit_point last = {0}, now;
  int code = CLI_DONE;
  long long impacts = -1;
  for (int i = 0; i < j->axis.count && code == CLI_DONE; i++) {
    code = make_point(j, orbit_axis_at(&j->axis, i), i == 0, &now);
    if (code != CLI_DONE ||
        (impacts >= 0 && saltus_orbit_get_view(now.orbit)->impacts != impacts)) {
      if (i > 0) {
        find_end(j, &last, now.parameter);
        code = CLI_DONE;
      }
      point_free(&now);
      break;
    }
    impacts = saltus_orbit_get_view(now.orbit)->impacts;
    keep_guess(j, &now);
    for (size_t k = 0; i > 0 && k < sizeof tests / sizeof tests[0] && code == CLI_DONE; k++) {
      const double a = test_value(&tests[k], &last), b = test_value(&tests[k], &now);
      if ((a > 0.0) != (b > 0.0) && isfinite(a) && isfinite(b)) {
        code = locate(j, &tests[k], last.parameter, a, now.parameter, b);
        keep_guess(j, &now);
      }
    }
    print_point(j, &now);
    point_free(&last);
    last = now;
  }
  point_free(&last);
  return code;
}

static bool first_visit(void* user, double t, const double* q, const double* v) {
  (void)user;
  (void)t;
  (void)q;
  (void)v;
  return false;
}

/* The start of the scene, or the state at the first section after --after s. */
static int first_guess(orbit_job* j) {
  const saltus_dims* d = &j->model->view.system->dims;
  saltus_scene* scene = NULL;
  double after = 0.0;
  int code = cli_number(j->args, "--after", 0.0, 1e9, &after);
  code =
      code == CLI_DONE ? orbit_scene(j->model, &j->axis, j->axis.from, &j->section, &scene) : code;
  if (code != CLI_DONE) {
    return code;
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  memcpy(j->q, view->q0, (size_t)d->nq * sizeof(double));
  memcpy(j->v, view->v0, (size_t)d->nv * sizeof(double));
  j->t0 = view->start;
  if (after == 0.0 && j->section.period > 0.0) {
    saltus_scene_destroy(scene);
    return CLI_DONE;
  }
  const orbit_visits visits = {.who = "orbit",
                               .section = &j->section,
                               .t0 = view->start,
                               .from = view->start + after,
                               .tol = 1e-9,
                               .q = j->q,
                               .v = j->v,
                               .take = first_visit,
                               .cancel = cli_signals_hold()};
  double reached;
  code = orbit_visit(&visits, view, &reached);
  cli_signals_release();
  saltus_scene_destroy(scene);
  return code;
}

static int read_drifts(orbit_job* j) {
  const saltus_system* sys = j->model->view.system;
  for (int i = 0; i < j->args->given_count; i++) {
    if (strcmp(j->args->given[i].option->name, "--drift") != 0) {
      continue;
    }
    bool found = false;
    for (int k = 0; k < sys->dims.nq; k++) {
      if (sys->q_labels != NULL && strcmp(sys->q_labels[k].name, j->args->given[i].value) == 0) {
        j->drifts[k] = found = true;
      }
    }
    if (!found) {
      cli_error("orbit: --drift: the scene has no coordinate \"%s\"", j->args->given[i].value);
      return CLI_USAGE;
    }
  }
  return CLI_DONE;
}

int cli_orbit(const cli_args* args) {
  cli_model model;
  int code = cli_model_open(args, args->positional[0], &model);
  if (code != CLI_DONE) {
    return code;
  }
  orbit_job j = {.args = args, .model = &model, .tol = 1e-11};
  double count = 1.0;
  if (model.scene == NULL) {
    cli_error("orbit: \"%s\" is a reference problem; orbits are of scene files",
              args->positional[0]);
    code = CLI_USAGE;
  }
  code = code == CLI_DONE ? orbit_section_read(args, &model, &j.section) : code;
  code = code == CLI_DONE ? orbit_axis_read(args, "--follow", &j.axis) : code;
  code = code == CLI_DONE ? cli_number(args, "--tol", 1e-13, 1e-3, &j.tol) : code;
  code = code == CLI_DONE ? cli_number(args, "--count", 1.0, 1e6, &count) : code;
  j.count = (int)count;
  if (code == CLI_DONE) {
    const saltus_dims* d = &model.view.system->dims;
    j.q = calloc((size_t)d->nq + 1, sizeof(double));
    j.v = calloc((size_t)d->nv + 1, sizeof(double));
    j.drifts = calloc((size_t)d->nq + 1, sizeof(bool));
    code = j.q != NULL && j.v != NULL && j.drifts != NULL ? read_drifts(&j) : CLI_FAILED;
  }
  code = code == CLI_DONE ? first_guess(&j) : code;
  if (code == CLI_DONE && cli_has(args, "--json")) {
    j.out.file = stdout;
    json_open(&j.out, NULL, '[');
  }
  if (code == CLI_DONE && j.axis.count > 0) {
    code = follow(&j);
  } else if (code == CLI_DONE) {
    orbit_point p;
    code = make_point(&j, NAN, true, &p);
    if (code == CLI_DONE) {
      print_point(&j, &p);
    }
    point_free(&p);
  }
  if (j.out.file != NULL) {
    json_close(&j.out, ']');
    printf("\n");
  }
  free(j.q);
  free(j.v);
  free(j.drifts);
  cli_model_close(&model);
  return code;
}
