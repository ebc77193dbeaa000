/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * check.c - saltus check: validates a model without running it, and explains it.
 */
#include "check_bodies.h"
#include "figure/figure.h"
#include "json.h"
#include "model.h"
#include "output.h"
#include "saltus/mechanism.h"
#include "system/contact_keys.h"
#include "system/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The model at its first instant. */
typedef struct inspection {
  const saltus_system* sys;
  saltus_point at;
  double* M;      /* [nv x nv]; NULL for a system with its own linear algebra */
  double* vector; /* [nv] */
  double* joints; /* [nj] */
  saltusi_contact_list list;
  saltusi_row_block row;
  saltus_system fit; /* with capacity for the contacts of a time-varying set */
  saltusi_contact_keys keys;
  saltusi_step_capacity room;
  double kinetic, potential;
  saltus_system_check_result derivatives;
  bool checked; /* derivatives were compared; left out for very large systems */
  void* block;
} inspection;

enum { MOST_CHECKED = 60, MOST_SHOWN = 12 };

/* Smooth formulas reach 1e-10 with differences of sixth order. */
static const double wrong = 1e-6;

static bool is_changing(const saltus_system* sys) {
  return (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
}

static void layout(inspection* in, saltus_arena* arena) {
  const saltus_dims* d = &in->sys->dims;
  in->at.scratch = saltusi_scratch_layout(d, arena);
  in->M = in->sys->ops->mass != NULL ? SALTUS_PUSH2(arena, double, d->nv, d->nv) : NULL;
  in->vector = SALTUS_PUSH(arena, double, d->nv);
  in->joints = SALTUS_PUSH(arena, double, d->nj);
  saltusi_contact_list_layout(&in->list, d, arena);
  saltusi_keys_layout(&in->keys, is_changing(in->sys) ? d->nc : 0, arena);
  const int joint = saltusi_joint_rows_most(in->sys);
  saltusi_rows_layout(&in->row, d, joint > 1 ? joint : 1, false, arena);
}

static int inspect(const cli_model* model, inspection* in) {
  const saltus_allocator memory = saltus_allocator_default();
  *in = (inspection){.at = {.t = model->view.start, .q = model->view.q0, .v = model->view.v0}};
  saltus_status fits = saltusi_keys_fit(model->view.system, &in->at, &memory, &in->fit);
  if (fits != SALTUS_OK) {
    cli_error("%s: the contacts at the start cannot be listed: %s", model->target,
              saltus_status_text(fits));
    return cli_exit_code(fits);
  }
  in->sys = &in->fit;
  saltus_arena arena = saltus_arena_counting();
  layout(in, &arena);
  in->block = memory.alloc(arena.used, NULL);
  if (in->block == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  arena = saltus_arena_over(in->block, arena.used);
  layout(in, &arena);
  if (is_changing(in->sys)) {
    saltusi_keys_clear(&in->keys);
    in->keys.room = &in->room;
    in->at.keys = &in->keys;
  }
  char text[640];
  saltus_status defined =
      saltus_system_diagnose(in->sys, in->at.t, in->at.q, in->at.v, text, sizeof text);
  if (defined != SALTUS_OK) {
    cli_error("%s: %s%s", model->target,
              defined == SALTUS_ERR_UNDEFINED ? "undefined at the start: " : "no memory", text);
    return cli_exit_code(defined);
  }
  if (in->M != NULL) {
    in->sys->ops->mass(in->sys->self, &in->at, in->M);
  }
  in->kinetic = saltusi_kinetic(in->sys, &in->at, in->M, in->vector);
  in->potential = saltusi_potential(in->sys, &in->at);
  if (in->sys->dims.nj > 0) {
    in->sys->ops->joints(in->sys->self, &in->at, in->joints);
  }
  saltus_status status = saltusi_contacts(in->sys, &in->at, &in->list);
  in->checked = in->sys->dims.nv <= MOST_CHECKED;
  if (status == SALTUS_OK && in->checked) {
    status =
        saltus_system_check(in->sys, in->at.t, in->at.q, in->at.v, cli_log(), &in->derivatives);
  }
  return cli_exit_code(status);
}

static const char* label_name(const saltus_label* labels, int i) {
  return labels != NULL ? labels[i].name : "?";
}

static double contact_velocity(inspection* in, int i) {
  saltusi_rows_contact(in->sys, &in->at, in->list.key[i], 1, &in->row, 0);
  return saltusi_row_dot(&in->row, 0, in->at.v) + in->row.b[0];
}

static double joint_velocity(inspection* in, int j) {
  const int r = saltusi_rows_joint_with(in->sys, &in->at, j, &in->row);
  return saltusi_row_dot(&in->row, r, in->at.v) + in->row.b[r];
}

static void print_mass(const inspection* in) {
  int nv = in->sys->dims.nv;
  if (in->M == NULL || nv > MOST_SHOWN) {
    printf("mass matrix: %d x %d\n", nv, nv);
    return;
  }
  printf("mass matrix at the start:\n");
  for (int i = 0; i < nv; i++) {
    for (int k = 0; k < nv; k++) {
      printf("  %12.6g", in->M[i * nv + k]);
    }
    printf("\n");
  }
}

static void print_traits(const saltus_system* sys) {
  printf("structure: mass matrix %s, forces %s, contact normals %s\n",
         (sys->traits & SALTUS_CONSTANT_MASS) != 0 ? "constant" : "depends on the state",
         (sys->traits & SALTUS_FREE_FORCE) != 0     ? "depend on time only"
         : (sys->traits & SALTUS_LINEAR_FORCE) != 0 ? "linear"
                                                    : "nonlinear",
         (sys->traits & SALTUS_CONSTANT_NORMALS) != 0 ? "constant" : "depend on the state");
}

static void print_contacts(inspection* in) {
  const saltus_system* sys = in->sys;
  for (int i = 0; i < in->list.count && i < 4 * MOST_SHOWN; i++) {
    const saltus_contact_law* law = &sys->laws[in->list.law[i]];
    double u = contact_velocity(in, i);
    char line[256];
    printf("contact %s: gap %.6g, approach velocity %.6g, restitution %g",
           law->name != NULL ? cli_one_line(law->name, line, sizeof line) : "?", in->list.gap[i],
           fabs(u) > 0.0 ? -u : 0.0, law->e_N);
    if (law->tangents > 0) {
      printf(", friction %g with %d tangent%s", law->mu, law->tangents, cli_plural(law->tangents));
    }
    if (law->impact_mu != 0.0) {
      printf(", impact friction %g", saltus_contact_impact_mu(law));
    }
    if (law->impact != SALTUS_IMPACT_NEWTON) {
      printf(", impact law %s", saltus_impact_law_name(law->impact));
    }
    printf("\n");
  }
}

/* Why impacts of some contacts of the system can create energy; NULL: they cannot. */
static const char* can_gain(const saltus_system* sys) {
  saltus_impact_contact* contact = calloc((size_t)sys->law_count + 1, sizeof *contact);
  for (int i = 0; contact != NULL && i < sys->law_count; i++) {
    const saltus_contact_law* law = &sys->laws[i];
    contact[i] = (saltus_impact_contact){.tangents = law->tangents,
                                         .mu = saltus_contact_impact_mu(law),
                                         .e_N = law->e_N,
                                         .e_T = law->e_T,
                                         .impact = law->impact};
  }
  const char* why = contact != NULL && sys->laws != NULL
                        ? saltus_impact_can_gain(sys->impacts, sys->law_count, contact)
                        : NULL;
  free(contact);
  return why;
}

static void print_gain(const saltus_system* sys) {
  const char* why = can_gain(sys);
  if (why != NULL) {
    printf("impacts can create energy: %s; docs/laws.md\n", why);
  }
}

static void print_joints(const cli_model* model, inspection* in) {
  int first = 0; /* those of bodies are on separate lines */
  if (model->view.mechanism != NULL && model->view.tree == NULL) {
    first = saltus_mechanism_system(model->view.mechanism)->dims.nj;
  }
  for (int j = first; j < in->sys->dims.nj; j++) {
    printf("joint %s: constraint %.3e, rate %.3e\n",
           model->view.joint_names != NULL ? model->view.joint_names[j] : "?", in->joints[j],
           joint_velocity(in, j));
  }
}

static void* no_memory(size_t bytes, void* user) {
  (void)bytes;
  (void)user;
  return NULL;
}

static void no_free(void* block, size_t bytes, void* user) {
  (void)block;
  (void)bytes;
  (void)user;
}

/* Whether each scheme supports the model: friction, joints, impact laws. A scheme that requests
 * memory has accepted the model. The allocator fails, because all schemes together would need
 * more memory than one. */
static void print_schemes(const saltus_system* sys) {
  const saltus_allocator none = {.alloc = no_memory, .free = no_free};
  int refused = 0;
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_def def = {
        .scheme = saltus_scheme_at(i)->name, .system = sys, .allocator = &none};
    saltus_scheme* scheme;
    if (saltus_scheme_create(&def, &scheme) != SALTUS_ERR_MEMORY) {
      printf("%s %s", refused++ > 0 ? "," : "schemes that cannot run it:", def.scheme);
    }
  }
  printf(refused > 0 ? "\n" : "schemes: all can run it\n");
}

/* The scene's own outputs and events at the start. */
typedef struct observed {
  double *outputs, *events; /* NULL: there are none, or no memory */
  double* block;
} observed;

static observed observe(const cli_model* model, const inspection* in) {
  const saltus_observables* o = model->view.observables;
  observed x = {.block = NULL};
  if (o == NULL) {
    return x;
  }
  size_t values = (size_t)o->output_count + (size_t)o->event_count;
  x.block = calloc(values + o->scratch / sizeof(double) + 1, sizeof(double));
  if (x.block != NULL) {
    saltus_point at = in->at;
    at.scratch = x.block + values;
    x.outputs = x.block;
    x.events = x.block + o->output_count;
    o->outputs(o->self, &at, x.outputs);
    o->events(o->self, &at, x.events);
  }
  return x;
}

static const char* direction_text(saltus_crossing direction) {
  return direction == SALTUS_CROSSING_RISING    ? "rising"
         : direction == SALTUS_CROSSING_FALLING ? "falling"
                                                : "both";
}

static void print_observables(const cli_model* model, const inspection* in) {
  const saltus_observables* o = model->view.observables;
  observed x = observe(model, in);
  for (int i = 0; x.block != NULL && i < o->output_count; i++) {
    const char* unit = o->output_labels[i].unit;
    if (isnan(x.outputs[i]) && o->outputs_with != NULL) {
      printf("output %s: follows from the motion\n", o->output_labels[i].name);
      continue;
    }
    printf("output %s: %.10g%s%s at the start\n", o->output_labels[i].name, x.outputs[i],
           unit[0] != '\0' ? " " : "", unit);
  }
  for (int i = 0; x.block != NULL && i < o->event_count; i++) {
    printf("event %s: %.10g at the start, reported when passing through zero%s%s\n",
           o->event_names[i], x.events[i], o->directions[i] != SALTUS_CROSSING_BOTH ? ", " : "",
           o->directions[i] != SALTUS_CROSSING_BOTH ? direction_text(o->directions[i]) : "");
  }
  free(x.block);
}

static void json_observables(json* j, const cli_model* model, const inspection* in) {
  const saltus_observables* o = model->view.observables;
  observed x = observe(model, in);
  json_open(j, "outputs", '[');
  for (int i = 0; x.block != NULL && i < o->output_count; i++) {
    json_open(j, NULL, '{');
    json_text(j, "name", o->output_labels[i].name);
    json_text(j, "unit", o->output_labels[i].unit);
    json_number(j, "start", x.outputs[i]);
    json_close(j, '}');
  }
  json_close(j, ']');
  json_open(j, "events", '[');
  for (int i = 0; x.block != NULL && i < o->event_count; i++) {
    json_open(j, NULL, '{');
    json_text(j, "name", o->event_names[i]);
    json_text(j, "direction", direction_text(o->directions[i]));
    json_number(j, "start", x.events[i]);
    json_close(j, '}');
  }
  json_close(j, ']');
  free(x.block);
}

static int print_text(const cli_model* model, inspection* in) {
  const saltus_system* sys = in->sys;
  char line[256];
  printf("%s\n", cli_one_line(model->name, line, sizeof line));
  for (int i = 0; i < sys->dims.nq && i < 4 * MOST_SHOWN; i++) {
    const char* unit = sys->q_labels != NULL ? sys->q_labels[i].unit : "";
    printf("coordinate %s%s%s%s: starts at %.10g", label_name(sys->q_labels, i),
           unit[0] != '\0' ? " [" : "", unit, unit[0] != '\0' ? "]" : "", in->at.q[i]);
    if (!saltusi_has_maps(sys)) {
      printf(" with velocity %.10g", in->at.v[i]);
    }
    printf("\n");
  }
  for (int i = 0; saltusi_has_maps(sys) && i < sys->dims.nv && i < 4 * MOST_SHOWN; i++) {
    const char* unit = sys->v_labels != NULL ? sys->v_labels[i].unit : "";
    printf("velocity %s%s%s%s: starts at %.10g\n", label_name(sys->v_labels, i),
           unit[0] != '\0' ? " [" : "", unit, unit[0] != '\0' ? "]" : "", in->at.v[i]);
  }
  print_traits(sys);
  print_mass(in);
  printf("energy at the start: kinetic %.6g J, potential %.6g J\n", in->kinetic, in->potential);
  if (is_changing(sys)) {
    cli_print_contacts(model);
    printf(": %d listed at the start\n", in->list.count);
  }
  print_contacts(in);
  print_gain(in->sys);
  int code = model->view.mechanism != NULL ? check_bodies_print(model) : CLI_DONE;
  if (code != CLI_DONE) {
    return code;
  }
  print_joints(model, in);
  const bool good = !(in->derivatives.worst > wrong);
  if (in->checked) {
    printf("derivatives: %s differences %s %.1e (largest at %s)\n",
           good ? "agree with" : "differ from", good ? "to" : "by", in->derivatives.worst,
           in->derivatives.where);
  }
  print_observables(model, in);
  if (!isnan(model->view.until)) {
    printf("simulate: until %g s", model->view.until);
    if (!isnan(model->view.step)) {
      printf(", step %g s", model->view.step);
    }
    printf("%s%s\n", model->view.scheme != NULL ? ", scheme " : "",
           model->view.scheme != NULL ? model->view.scheme : "");
  }
  print_schemes(sys);
  printf("%s\n",
         good ? "The model is valid."
              : "At the start a formula has a kink, or a derivative is wrong; else the model is "
                "valid.");
  return CLI_DONE;
}

static int print_machine(const cli_model* model, inspection* in) {
  const saltus_system* sys = in->sys;
  json j = {.file = stdout};
  json_open(&j, NULL, '{');
  json_text(&j, "model", model->target);
  json_text(&j, "name", model->name);
  json_open(&j, "coordinates", '[');
  for (int i = 0; i < sys->dims.nq; i++) {
    json_open(&j, NULL, '{');
    json_text(&j, "name", label_name(sys->q_labels, i));
    json_number(&j, "start", in->at.q[i]);
    json_number(&j, "velocity", saltusi_has_maps(sys) ? NAN : in->at.v[i]);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_open(&j, "mass", '[');
  for (int k = 0; in->M != NULL && k < sys->dims.nv * sys->dims.nv; k++) {
    json_number(&j, NULL, in->M[k]);
  }
  json_close(&j, ']');
  json_open(&j, "contacts", '[');
  for (int i = 0; i < in->list.count; i++) {
    const saltus_contact_law* law = &sys->laws[in->list.law[i]];
    json_open(&j, NULL, '{');
    json_text(&j, "name", law->name);
    json_number(&j, "gap", in->list.gap[i]);
    json_number(&j, "velocity", contact_velocity(in, i));
    json_number(&j, "restitution", law->e_N);
    json_number(&j, "friction", law->mu);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  const char* why = can_gain(sys);
  json_text(&j, "can_create_energy", why != NULL ? why : "");
  json_open(&j, "joints", '[');
  for (int i = 0; i < sys->dims.nj; i++) {
    json_open(&j, NULL, '{');
    json_text(&j, "name", model->view.joint_names != NULL ? model->view.joint_names[i] : "");
    json_number(&j, "constraint", in->joints[i]);
    json_number(&j, "rate", joint_velocity(in, i));
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_open(&j, "energy", '{');
  json_number(&j, "kinetic", in->kinetic);
  json_number(&j, "potential", in->potential);
  json_close(&j, '}');
  json_observables(&j, model, in);
  int code = model->view.mechanism != NULL ? check_bodies_json(&j, model) : CLI_DONE;
  json_number(&j, "derivative_error", in->checked ? in->derivatives.worst : NAN);
  json_bool(&j, "traits_hold", !in->checked || in->derivatives.traits_hold);
  json_close(&j, '}');
  return code;
}

/* The settings of `simulate`: what `saltus run` rejects before the first step. */
static int check_settings(const cli_model* model) {
  if (isnan(model->view.until)) {
    return CLI_DONE;
  }
  saltus_kept_message kept;
  saltus_run_def def = saltus_run_def_default();
  def.scene = &model->view;
  def.log = saltus_log_keep(&kept);
  saltus_run* run = NULL;
  const saltus_status status = saltus_run_create(&def, &run);
  saltus_run_destroy(run);
  if (status != SALTUS_OK) {
    cli_error("simulate: %s", kept.text);
  }
  return cli_exit_code(status);
}

int cli_check(const cli_args* args) {
  cli_model model;
  inspection in = {0};
  const char* sketch = cli_value(args, "--sketch");
  if (sketch != NULL && saltusi_figure_path_check(sketch, cli_log()) != SALTUS_OK) {
    return CLI_USAGE;
  }
  int code = cli_model_open(args, args->positional[0], &model);
  if (code == CLI_DONE) {
    code = inspect(&model, &in);
  }
  if (code == CLI_DONE) {
    code = cli_has(args, "--json") ? print_machine(&model, &in) : print_text(&model, &in);
  }
  if (code == CLI_DONE) {
    code = check_settings(&model);
  }
  if (code == CLI_DONE && sketch != NULL) {
    code = check_bodies_sketch(&model, sketch);
  }
  if (in.block != NULL) {
    saltus_allocator_default().free(in.block, 0, NULL);
  }
  cli_model_close(&model);
  return code;
}
