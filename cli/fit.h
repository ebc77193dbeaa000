/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fit.h - results of saltus fit: profiles, samples, and the page with figures.
 */
#ifndef CLI_FIT_H
#define CLI_FIT_H

#include "cli.h"
#include "saltus/fit.h"

#include <stdio.h>

enum { CLI_PROFILE_POINTS = 13, CLI_PROFILES = 8 };

/* Least loss over the other parameters, above that of the fit. */
typedef struct cli_profile {
  int parameter, count;
  double at[CLI_PROFILE_POINTS], loss[CLI_PROFILE_POINTS], threshold;
  double low, high; /* 95 %; infinite: not within the points */
} cli_profile;

typedef struct cli_fit_results {
  saltus_fit* fit;
  saltus_fit_score* scores; /* [experiments] of the fit */
  saltus_fit_score* held;   /* [experiments] NULL: no folds */
  cli_profile profiles[CLI_PROFILES];
  int profile_count;
  double* samples; /* [sample_count x parameters] */
  int sample_count;
} cli_fit_results;

/* Profiles of the parameters in the list, their names separated by commas; an exit code. */
int cli_fit_profiles(cli_fit_results* r, const char* list);
void cli_fit_profiles_print(const cli_fit_results* r, FILE* out);
/* 95 % percentile interval of the samples of a parameter. */
void cli_fit_percentiles(const cli_fit_results* r, int parameter, double* low, double* high);
/* The text and figures as one page; an exit code. */
int cli_fit_page(const cli_fit_results* r, const char* text, const char* path);

#endif
