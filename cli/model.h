/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * model.h - what a command works on: a scene file or a reference problem, and how to run it.
 */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include "cli.h"
#include "measure/convergence.h"
#include "saltus/control.h"
#include "saltus/known_motion.h"
#include "saltus/recording.h"
#include "saltus/scene.h"

typedef struct cli_model {
  saltus_known_motion* problem; /* one of the two is NULL */
  saltus_scene* scene;
  const char* target; /* as given */
  const char* name;   /* for titles */
  const char* text;   /* of the scene with its --set; "" for a problem */
  char* own_text;     /* malloc'd when there were any */
  char* input;        /* a scene from the standard input; malloc'd */
  const saltus_system* system;
  const double* q0;
  const double* v0;
  const char* const* joint_names; /* NULL: none */
  double start, until, step;      /* s; NaN where nothing is said */
  const char* scheme;             /* NULL where nothing is said */
  const void* scene_options;
  const char* control; /* of the scene; NULL: none */
  const void* control_options;
  const double* atol_q; /* of the scene by coordinate, 0 where not given; NULL: none is */
  const double* atol_v;
  long long record_every;
  bool record_given;                     /* by the scene */
  double record_dt;                      /* s; 0: by steps */
  const saltus_observables* observables; /* outputs and events of the scene; NULL: none */
  const char* reference;                 /* problem name or CSV file; NULL: none */
} cli_model;

/* Opens TARGET: a file when there is one or the name looks like one, else a reference problem.
 * "-" is a scene on the standard input. Applies every --set. Returns an exit code. */
int cli_model_open(const cli_args* args, const char* target, cli_model* model);
/* The same for the text of a scene, as recorded: with a line "# --set name=value" for each override. A
 * problem when there is no text. */
int cli_model_open_text(const cli_args* args, const char* target, const char* text,
                        cli_model* model);
void cli_model_close(cli_model* model);

/* Scheme, options, step and end: the command line over the scene over the defaults. */
typedef struct cli_settings {
  const saltus_scheme_info* scheme;
  bool own;      /* it is the scene's scheme: what the scene says about steps is meant for it */
  void* options; /* malloc'd */
  char options_text[512];
  double start, until, step; /* s */
  const char* control;       /* step-size controller; NULL: fixed steps */
  saltus_control_options control_options;
  char control_text[128];           /* "atol=1e-06 rtol=0" */
  double rtol, atol, atol_velocity; /* of a scheme with a tolerance; NaN: it has none */
} cli_settings;

/* needs_step: refuse when neither scene nor command line gives a step. */
int cli_settings_read(const cli_args* args, const cli_model* model, bool needs_step,
                      cli_settings* settings);
void cli_settings_free(cli_settings* settings);

/* Scheme and options as a recording names them, "theta=0.5 gamma=1"; the rest is the caller's. */
int cli_settings_recorded(const char* scheme, const char* options, cli_settings* settings);

/* Tolerances and text of the options as they are now. */
void cli_settings_complete(cli_settings* settings);

/* The exact motion, when scene or problem name one: a problem or a table of samples. */
typedef struct cli_reference {
  saltus_known_motion* problem;
  saltus_recording_data* data;
  saltusi_stored_motion stored;
  saltusi_reference reference;
  bool known;
} cli_reference;

/* name NULL: what the model says; known is false when it says nothing. */
int cli_reference_open(const cli_model* model, const char* name, cli_reference* reference);
void cli_reference_close(cli_reference* reference);

#endif
