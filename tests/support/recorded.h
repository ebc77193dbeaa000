/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * recorded.h - runs of scenes with every step recorded, and their certificates, for tests of them.
 */
#ifndef SALTUS_RECORDED_H
#define SALTUS_RECORDED_H

#include "saltus_test.h"

/* A run, its recording in memory and on disk. */
typedef struct recorded {
  saltus_scene* scene;
  saltus_recording_data* data;
  char folder[32], path[64];
} recorded;

typedef struct way {
  const char* scheme;
  double tol, step, until;
  bool hdf5;
} way;

/* scenes/NAME.yaml, or a scene as text; fails the test when something goes wrong. */
recorded record(const char* name, way w);
recorded record_text(const char* text, way w);
/* False: the run itself ends with an error. */
bool record_try(const char* text, way w, recorded* out);
saltus_scene* scene_of(const char* text);
void forget(recorded* r);

saltus_certificate verify(const recorded* r, const saltus_scene_view* view);
void say_failures(const saltus_certificate* c, const char* name);

#endif
