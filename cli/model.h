/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * model.h - the model of a command: a scene file or a reference problem, with the settings of its
 * run from the command line.
 */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include "cli.h"
#include "measure/convergence.h"
#include "saltus/known_motion.h"
#include "saltus/recording.h"
#include "saltus/run.h"

typedef struct cli_model {
  saltus_known_motion* problem; /* one of the two is NULL */
  saltus_scene* scene;
  const char* target;     /* as given */
  const char* name;       /* for titles */
  const char* text;       /* of the scene with its --set; "" for a problem */
  char* own_text;         /* malloc'd when there were any */
  char* input;            /* a scene from the standard input; malloc'd */
  saltus_scene_view view; /* of the scene or the problem */
} cli_model;

/* Opens TARGET: a file when there is one or the name has the form of a path, else a reference
 * problem. "-" is a scene on the standard input. Applies every --set. Returns an exit code. */
int cli_model_open(const cli_args* args, const char* target, cli_model* model);
/* The same for the text of a scene, as recorded: with a line "# --set name=value" for each override. A
 * problem when there is no text. */
int cli_model_open_text(const cli_args* args, const char* target, const char* text,
                        cli_model* model);
void cli_model_close(cli_model* model);

/* Whether the law has a bond (adhesion) that a contact loses permanently when it opens; whether
 * a contact of the system can. */
bool cli_law_bonds(const saltus_contact_law* law);
bool cli_bonds(const saltus_system* system);

/* "3 contacts", or "contacts between 5 shapes" of a set that changes. */
void cli_print_contacts(const cli_model* model);

/* Number of joints of constraint rows: rows of one joint are consecutive and have its name. names NULL: number of
 * rows. */
int cli_joint_count(const char* const* names, int rows);

/* Memory of the overrides of a run. */
typedef struct cli_overrides {
  saltus_override options[CLI_MOST], control_options[CLI_MOST];
  char* copies[2 * CLI_MOST]; /* "name=value", cut; malloc'd */
  int copied;
} cli_overrides;

/* The run of a model with the settings of the command line. Returns an exit code. */
int cli_run_def(const cli_args* args, const cli_model* model, cli_overrides* overrides,
                saltus_run_def* def);
/* Every NAME=VALUE of an option, into list[CLI_MOST]; texts are in `room`. Returns an exit code. */
int cli_read_pairs(const cli_args* args, const char* option, cli_overrides* room,
                   saltus_override* list, int* count);
void cli_overrides_free(cli_overrides* overrides);

/* The exact motion, when scene or problem name one: a problem or a table of samples. */
typedef struct cli_reference {
  saltus_known_motion* problem;
  saltus_recording_data* data;
  saltusi_stored_motion stored;
  saltusi_reference reference;
  bool known;
} cli_reference;

/* name NULL: the reference of the model; `known` is false without one. */
int cli_reference_open(const cli_model* model, const char* name, cli_reference* reference);
void cli_reference_close(cli_reference* reference);

#endif
