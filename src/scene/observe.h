/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.h - the sections outputs and events of a scene.
 */
#ifndef SALTUSI_SCENE_OBSERVE_H
#define SALTUSI_SCENE_OBSERVE_H

#include "scene/reader.h"

/* Reads both sections; *out stays NULL when there are none. Failures are in reader->status. */
void saltusi_scene_observe(saltusi_reader* reader, const saltusi_yaml_node* root,
                           const saltus_formula_def* model, saltus_formula_observer** out);

#endif
