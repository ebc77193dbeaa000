/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.h - the sections outputs and events of a scene.
 */
#ifndef SALTUSI_SCENE_OBSERVE_H
#define SALTUSI_SCENE_OBSERVE_H

#include "scene/builder.h"

/* Reads both sections, and the outputs that the definition of the scene adds; *out stays NULL when there are none. Failures
 * are in builder->reader.status. */
void saltusi_scene_observe(saltusi_scene_builder* builder, const saltus_formula_def* model,
                           saltus_formula_observer** out);

#endif
