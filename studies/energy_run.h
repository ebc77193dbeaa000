/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * energy_run.h - runs of built-in scenes that observe every step, for the studies of energy and friction.
 */
#ifndef ENERGY_RUN_H
#define ENERGY_RUN_H

#include "cli.h"
#include "saltus/saltus.h"

typedef struct energy_run {
  const char* scene; /* name of a file in scenes/, without its ending */
  const char* text;  /* or the scene itself */
  const saltus_override* overrides;
  int override_count;
  const char* scheme; /* name */
  const char* options;
  double h, until; /* s; of schemes that choose their steps h is the longest */
  bool ledger;     /* keep the energy ledger */
  /* after each step; the run as its user sees it */
  void (*observe)(struct energy_run* run, const saltus_sim* sim);
  void* user;

  /* out: */
  long long steps;
  saltus_work work;

  /* what observe may use */
  const saltus_scene_view* view;
  void* scratch;
} energy_run;

/* An exit code; messages have been reported. */
int energy_go(energy_run* run);

/* Kinetic and potential energy of a state. */
double energy_of(const energy_run* run, const double* q, const double* v);

#endif
