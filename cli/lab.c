/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lab.c - saltus lab impact: one configuration, from a scene at its impact or as numbers, and the
 * result of every impact law. A user-defined law extracts W and U- from the run of a scene.
 */
#include "lab.h"

#include "cli.h"
#include "figure/figure.h"
#include "json.h"
#include "model.h"
#include "saltus/adaptive.h"
#include "saltus/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the configuration ------------------------------------------------------------------------- */

static void point_views(lab_case* c, int count, int rows) {
  c->impact =
      (saltus_impact){.count = count, .rows = rows, .contact = c->contact, .W = c->W, .u = c->u};
}

/* Numbers of an option, separated by commas or spaces; returns their number, -1 after a message. */
static int read_numbers(const cli_args* args, const char* option, int most, double* values) {
  const char* text = cli_value(args, option);
  int count = 0;
  while (text != NULL && *text != '\0') {
    char* end = NULL;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value) || count == most) {
      cli_error("lab: %s is \"%s\", must be up to %d numbers separated by commas", option,
                cli_value(args, option), most);
      return -1;
    }
    values[count++] = value;
    text = end + strspn(end, ", ;");
  }
  return count;
}

static int read_given(const cli_args* args, lab_case* c) {
  double mu = 0.0, e = 0.0, e_T = 0.0;
  int rows = read_numbers(args, "--U", 3, c->u);
  int entries = read_numbers(args, "--W", 9, c->W);
  int code = cli_number(args, "--mu", 0.0, 1e300, &mu);
  code = code == CLI_DONE ? cli_number(args, "--e", 0.0, 1.0, &e) : code;
  code = code == CLI_DONE ? cli_number(args, "--e-T", -1.0, 1.0, &e_T) : code;
  if (rows < 0 || entries < 0 || code != CLI_DONE) {
    return CLI_USAGE;
  }
  if (rows < 1 || entries != rows * rows) {
    cli_error("lab: give a scene, or --U with 1 to 3 numbers (normal, then tangents) and --W with "
              "their square; there are %d and %d",
              rows, entries);
    return CLI_USAGE;
  }
  for (int i = 0; i < rows; i++) {
    for (int k = 0; k < i; k++) {
      if (fabs(c->W[i * rows + k] - c->W[k * rows + i]) > 1e-12 * fabs(c->W[i * rows + i])) {
        cli_error("lab: W is not symmetric: %g and %g", c->W[i * rows + k], c->W[k * rows + i]);
        return CLI_USAGE;
      }
    }
    if (!(c->W[i * rows + i] > 0.0)) {
      cli_error("lab: W has %g on its diagonal, must be positive", c->W[i * rows + i]);
      return CLI_USAGE;
    }
  }
  snprintf(c->name[0], sizeof c->name[0], "contact");
  c->contact[0] = (saltus_impact_contact){
      .name = c->name[0], .tangents = rows - 1, .mu = mu, .e_N = e, .e_T = e_T, .struck = true};
  c->t = (double)NAN;
  point_views(c, 1, rows);
  return CLI_DONE;
}

/* The instant of the requested impact, and of the one before it. */
typedef struct clock {
  int wanted, seen;
  double t, before;
} clock;

static saltus_status note_event(void* user, const saltus_event* event) {
  clock* c = user;
  if (event->kind != SALTUS_EVENT_IMPACT || (c->seen > 0 && event->t == c->t)) {
    return SALTUS_OK;
  }
  c->before = c->seen > 0 ? c->t : c->before;
  c->t = event->t;
  return ++c->seen == c->wanted ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

/* A law that stores the first impact and ends the run. */
typedef struct taker {
  lab_case* into;
  bool taken, too_large;
} taker;

static saltus_status take_impact(const void* self, const saltus_impact* impact, double* P) {
  (void)P;
  taker* t = (taker*)(uintptr_t)self;
  t->too_large = impact->count > LAB_CONTACTS || impact->rows > LAB_ROWS;
  if (!t->too_large) {
    lab_case* c = t->into;
    memcpy(c->W, impact->W, (size_t)(impact->rows * impact->rows) * sizeof(double));
    memcpy(c->u, impact->u, (size_t)impact->rows * sizeof(double));
    for (int i = 0; i < impact->count; i++) {
      const char* name = impact->contact[i].name;
      c->contact[i] = impact->contact[i];
      /* with a curve that of sticking */
      c->contact[i].mu =
          saltus_contact_impact_mu(&c->model.view.system->laws[impact->contact[i].law]);
      snprintf(c->name[i], sizeof c->name[i], "%s", name != NULL ? name : "");
      c->contact[i].name = c->name[i];
    }
    point_views(c, impact->count, impact->rows);
    t->taken = true;
  }
  return SALTUS_ERR_STOPPED;
}

/* A run of the scene, or of its remaining time, to 1e-10. */
static saltus_sim_def run_of(const cli_model* model, const saltus_system* system,
                             const saltus_adaptive_options* options) {
  return (saltus_sim_def){.system = system,
                          .scheme = "adaptive",
                          .options = options,
                          .t0 = model->view.start,
                          .q0 = model->view.q0,
                          .v0 = model->view.v0};
}

/* The impact at c->t from a state shortly before it. */
static saltus_status take_out(const cli_model* model, const clock* when, taker* t) {
  const saltus_own_impact own = {.name = "lab", .apply = take_impact, .self = t};
  saltus_impacts rule = {.order = SALTUS_ORDER_OWN, .own = &own};
  saltus_system system = *model->view.system;
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = 1e-10;
  saltus_sim *before = NULL, *at = NULL;
  saltus_sim_def def = run_of(model, &system, &options);
  saltus_status status = saltus_sim_create(&def, &before);
  double near = when->t - 1e-3 * (when->t - when->before);
  if (status == SALTUS_OK && near > model->view.start) {
    status = saltus_sim_run_until(before, near);
  }
  if (status == SALTUS_OK) {
    system.impacts = &rule;
    def.t0 = saltus_sim_time(before);
    def.q0 = saltus_sim_q(before);
    def.v0 = saltus_sim_v(before);
    status = saltus_sim_create(&def, &at);
  }
  if (status == SALTUS_OK) {
    saltus_sim_run_until(at, when->t + 1e-3 * (when->t - when->before) + 1e-6);
  }
  saltus_sim_destroy(at);
  saltus_sim_destroy(before);
  return status;
}

static int read_scene(const cli_args* args, const char* target, lab_case* c) {
  double wanted = 1.0;
  cli_model* model = &c->model;
  int code = cli_number(args, "--impact", 1.0, 1e6, &wanted);
  code = code == CLI_DONE ? cli_model_open(args, target, model) : code;
  if (code != CLI_DONE) {
    return code;
  }
  c->open = true;
  clock when = {.wanted = (int)wanted, .before = model->view.start};
  const saltus_recorder recorder = {.event = note_event, .user = &when};
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = 1e-10;
  saltus_sim_def def = run_of(model, model->view.system, &options);
  def.recorders = &recorder;
  def.recorder_count = 1;
  double until = isnan(model->view.until) ? model->view.start + 100.0 : model->view.until;
  saltus_sim* sim = NULL;
  saltus_status status = saltus_sim_create(&def, &sim);
  status = status == SALTUS_OK ? saltus_sim_run_until(sim, until) : status;
  saltus_sim_destroy(sim);
  taker t = {.into = c};
  if (when.seen == when.wanted) {
    take_out(model, &when, &t);
  }
  c->t = when.t;
  if (!t.taken) {
    cli_error(t.too_large ? "lab: the impact has more than %d contacts"
                          : "lab: no impact number %d until %g s",
              t.too_large ? LAB_CONTACTS : when.wanted, until);
    code = CLI_FAILED;
  }
  return code;
}

/* ---- laws -------------------------------------------------------------------------------------- */

typedef struct lab_law {
  const char* name;
  saltus_impact_law law;
  saltus_impacts rule;
  bool several; /* only for several contacts */
} lab_law;

static const lab_law laws[] = {
    {.name = "newton", .law = SALTUS_IMPACT_NEWTON},
    {.name = "poisson", .law = SALTUS_IMPACT_POISSON},
    {.name = "poisson-printed", .law = SALTUS_IMPACT_POISSON_PRINTED},
    {.name = "energetic", .law = SALTUS_IMPACT_ENERGETIC},
    {.name = "path-newton", .law = SALTUS_IMPACT_PATH_NEWTON},
    {.name = "path-poisson", .law = SALTUS_IMPACT_PATH_POISSON},
    {.name = "moreau", .law = SALTUS_IMPACT_NEWTON, .rule = {.order = SALTUS_ORDER_MOREAU}},
    {.name = "sequential newton",
     .law = SALTUS_IMPACT_NEWTON,
     .rule = {.order = SALTUS_ORDER_SEQUENTIAL},
     .several = true},
    {.name = "sequential newton, first",
     .law = SALTUS_IMPACT_NEWTON,
     .rule = {.order = SALTUS_ORDER_SEQUENTIAL, .pick = SALTUS_PICK_FIRST},
     .several = true},
    {.name = "sequential newton, last",
     .law = SALTUS_IMPACT_NEWTON,
     .rule = {.order = SALTUS_ORDER_SEQUENTIAL, .pick = SALTUS_PICK_LAST},
     .several = true},
    {.name = "lzb, linear", .rule = {.order = SALTUS_ORDER_LZB, .exponent = 1.0}, .several = true},
    {.name = "lzb, Hertz", .rule = {.order = SALTUS_ORDER_LZB, .exponent = 1.5}, .several = true},
};

static int solve_all(const lab_case* c, lab_answer* answers) {
  int count = 0;
  saltus_impact_solver* solver = NULL;
  if (saltus_impact_solver_create(c->impact.count, c->impact.rows, NULL, &solver) != SALTUS_OK) {
    return -1;
  }
  for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) {
    if (laws[i].several && c->impact.count == 1) {
      continue;
    }
    saltus_impact_contact contact[LAB_CONTACTS];
    saltus_impact impact = c->impact;
    saltus_impacts rule = laws[i].rule;
    for (int k = 0; k < c->impact.count; k++) {
      contact[k] = c->contact[k];
      contact[k].impact = laws[i].law;
      bool path = laws[i].law >= SALTUS_IMPACT_ENERGETIC;
      contact[k].e_T = path ? 0.0 : contact[k].e_T;
      rule.restitution = fmax(rule.restitution, contact[k].e_N);
    }
    impact.contact = contact;
    lab_answer* a = &answers[count++];
    *a = (lab_answer){.name = laws[i].name};
    a->result = (saltus_impact_result){.P = a->P, .u = a->u};
    a->status =
        saltus_impact_solve(solver, &rule, &impact, saltus_log_keep(&a->message), &a->result);
  }
  saltus_impact_solver_destroy(solver);
  return count;
}

/* ---- output
 * ------------------------------------------------------------------------------------ */

const char* lab_phases(const lab_answer* answer, char* text, size_t bytes) {
  static const char* const words[] = {[SALTUS_MOTION_STICK] = "stick",
                                      [SALTUS_MOTION_SLIP] = "slip",
                                      [SALTUS_MOTION_REVERSE] = "reverse",
                                      [SALTUS_MOTION_JAM] = "jam",
                                      [SALTUS_MOTION_WITHOUT] = "push"};
  size_t at = 0;
  bool compression = true;
  text[0] = '\0';
  for (int i = 0; i < answer->result.phase_count && i < SALTUS_PHASES && at + 32 < bytes; i++) {
    const saltus_path_phase* phase = &answer->result.phase[i];
    const char* mark = i == 0 ? "" : compression && !phase->compression ? " | " : ", ";
    at += (size_t)snprintf(text + at, bytes - at, "%s%s %.4g", mark, words[phase->motion],
                           phase->impulse);
    compression = phase->compression;
  }
  return text;
}

/* Zero without a sign if 12 digits are zero. */
static double plain(double x) {
  return fabs(x) < 5e-13 ? 0.0 : x;
}

static void print_row(const lab_case* c, const lab_answer* a) {
  if (a->status != SALTUS_OK) {
    printf("%-24s %s\n", a->name,
           a->message.text[0] != '\0' ? a->message.text : saltus_status_text(a->status));
    return;
  }
  char phases[512];
  int row = 0;
  for (int i = 0; i < c->impact.count; i++) {
    printf("%-24s %-12.12s", i == 0 ? a->name : "", c->contact[i].name);
    for (int k = 0; k < 3; k++) {
      if (k <= c->contact[i].tangents) {
        printf(" %15.12f", plain(a->P[row + k]));
      } else {
        printf(" %15s", "");
      }
    }
    for (int k = 0; k <= c->contact[i].tangents; k++) {
      printf(" %15.12f", plain(a->u[row + k]));
    }
    row += 1 + c->contact[i].tangents;
    printf("\n");
  }
  const saltus_impact_result* r = &a->result;
  printf("%-24s %-12s %+.12f J%s", "", "energy", plain(r->gain), r->giver >= 0 ? "  CREATED" : "");
  if (r->giver >= 0) {
    printf(": normals %+.12f, against the last slip %+.12f, along the first %+.12f", r->normal,
           r->end_slip, r->first_slip);
  }
  if (c->impact.count == 1 && r->phase_count > 0) {
    printf("; %s", lab_phases(a, phases, sizeof phases));
  } else if (r->hits > 1) {
    printf("; %d hits or events", r->hits);
  }
  printf("\n");
}

static const char* region_of(const lab_case* c, bool* jam) {
  bool planar = c->impact.count == 1 && c->contact[0].tangents == 1 && c->contact[0].mu > 0.0;
  *jam = false;
  return planar ? saltus_impact_region(c->W, c->u, c->contact[0].mu, c->contact[0].e_N, jam) : NULL;
}

static void print_all(const lab_case* c, const lab_answer* answers, int count) {
  bool jam = false;
  const char* region = region_of(c, &jam);
  if (!isnan(c->t)) {
    printf("at t = %.12g s\n", c->t);
  }
  int row = 0;
  for (int i = 0; i < c->impact.count; i++) {
    printf("%s: mu = %g, e = %g, e_T = %g, U- =", c->contact[i].name, c->contact[i].mu,
           c->contact[i].e_N, c->contact[i].e_T);
    for (int k = 0; k <= c->contact[i].tangents; k++) {
      printf(" %.12g", c->u[row++]);
    }
    printf(" m/s\n");
  }
  printf("W =");
  for (int i = 0; i < c->impact.rows; i++) {
    printf("%s", i > 0 ? "   " : "");
    for (int k = 0; k < c->impact.rows; k++) {
      printf(" %14.10g", c->W[i * c->impact.rows + k]);
    }
    printf(" kg^-1\n");
  }
  if (region != NULL) {
    printf("region of Wang and Mason: %s%s\n", region, jam ? " (jam)" : "");
  }
  printf("\n%-24s %-12s %-47s %s\n", "law", "contact", " impulses [N s]",
         " velocities after [m/s]");
  for (int i = 0; i < count; i++) {
    print_row(c, &answers[i]);
  }
}

static void json_values(json* j, const char* name, int count, const double* values) {
  json_open(j, name, '[');
  for (int i = 0; i < count; i++) {
    json_number(j, NULL, values[i]);
  }
  json_close(j, ']');
}

static void json_answer(json* j, const lab_case* c, const lab_answer* a) {
  char phases[512];
  json_open(j, NULL, '{');
  json_text(j, "law", a->name);
  if (a->status != SALTUS_OK) {
    json_text(j, "refused", a->message.text);
    json_close(j, '}');
    return;
  }
  json_values(j, "impulses", c->impact.rows, a->P);
  json_values(j, "velocities", c->impact.rows, a->u);
  json_number(j, "energy_change", a->result.gain);
  json_number(j, "normals", a->result.normal);
  json_number(j, "against_last_slip", a->result.end_slip);
  json_number(j, "along_first_slip", a->result.first_slip);
  json_bool(j, "creates_energy", a->result.giver >= 0);
  json_integer(j, "hits", a->result.hits);
  json_text(j, "phases", lab_phases(a, phases, sizeof phases));
  json_close(j, '}');
}

static void json_all(const lab_case* c, const lab_answer* answers, int count) {
  json j = {.file = stdout};
  bool jam = false;
  const char* region = region_of(c, &jam);
  json_open(&j, NULL, '{');
  json_number(&j, "time", c->t);
  json_open(&j, "contacts", '[');
  for (int i = 0; i < c->impact.count; i++) {
    json_open(&j, NULL, '{');
    json_text(&j, "name", c->contact[i].name);
    json_integer(&j, "tangents", c->contact[i].tangents);
    json_number(&j, "friction", c->contact[i].mu);
    json_number(&j, "restitution", c->contact[i].e_N);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_values(&j, "W", c->impact.rows * c->impact.rows, c->W);
  json_values(&j, "U", c->impact.rows, c->u);
  if (region != NULL) {
    json_text(&j, "region", region);
    json_bool(&j, "jam", jam);
  }
  json_open(&j, "laws", '[');
  for (int i = 0; i < count; i++) {
    json_answer(&j, c, &answers[i]);
  }
  json_close(&j, ']');
  json_close(&j, '}');
}

int cli_lab(const cli_args* args) {
  if (strcmp(args->positional[0], "friction") == 0) {
    return lab_friction(args);
  }
  if (strcmp(args->positional[0], "impact") != 0) {
    cli_error("lab: there is no \"%s\"; there are: impact, friction", args->positional[0]);
    return CLI_USAGE;
  }
  const char* path = cli_value(args, "-o");
  if (path != NULL && saltusi_figure_path_check(path, cli_log()) != SALTUS_OK) {
    return CLI_USAGE;
  }
  lab_case* c = calloc(1, sizeof *c);
  lab_answer* answers = calloc(LAB_LAWS, sizeof *answers);
  int code = c == NULL || answers == NULL ? CLI_FAILED : CLI_DONE;
  if (code == CLI_DONE) {
    code =
        args->positional_count > 1 ? read_scene(args, args->positional[1], c) : read_given(args, c);
  }
  int count = code == CLI_DONE ? solve_all(c, answers) : 0;
  if (code == CLI_DONE && count >= 0) {
    (cli_has(args, "--json") ? json_all : print_all)(c, answers, count);
  }
  code = count < 0 ? CLI_FAILED : code;
  if (code == CLI_DONE && path != NULL) {
    if (c->impact.count != 1 || c->contact[0].tangents != 1) {
      cli_error("lab: a figure is of one contact with one tangent");
      code = CLI_USAGE;
    } else if (lab_draw(c, answers, count, path, cli_log()) != SALTUS_OK) {
      code = CLI_FAILED;
    }
  }
  free(answers);
  if (c != NULL && c->open) {
    cli_model_close(&c->model);
  }
  free(c);
  return code;
}
