/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law_figures.h - figures of the studies law-..., each into a file; an exit code.
 */
#ifndef SALTUS_LAW_FIGURES_H
#define SALTUS_LAW_FIGURES_H

int law_draw_chains(const char* path);
int law_draw_columns(const char* path);
int law_draw_regions(const char* path);
int law_draw_stribeck(const char* path);
int law_draw_ellipse(const char* path);
int law_draw_disc(const char* path);

#endif
