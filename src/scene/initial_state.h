/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * initial_state.h - checks of the initial state of a scene: mass, contacts and joints.
 */
#ifndef SALTUSI_INITIAL_STATE_H
#define SALTUSI_INITIAL_STATE_H

#include "saltus/mechanism.h"
#include "scene/reader.h"

/* Rejects a mass matrix that is not positive definite, forces that are not finite, contacts that
 * penetrate and joints that are violated by more than the scene's tolerance. The root of the
 * scene provides the lines of messages. inputs [input_count] are changed temporarily, to
 * distinguish switched-off joints from zero constraint rows. */
saltus_status saltusi_start_check(saltusi_reader* reader, const saltus_scene_view* view,
                                  const saltus_formula_model* model, double* inputs,
                                  const saltusi_yaml_node* root);

/* Projects the start onto its joints and out of penetration, with a warning that gives the
 * displacement. mechanism: the bodies, NULL without; it names the joint that cannot be closed. rigid: the system with
 * flexible bodies that do not bend, where there are any; they bend only if nothing else closes the joints. */
saltus_status saltusi_start_correct(saltusi_reader* reader, saltus_scene_view* view,
                                    saltus_mechanism* mechanism, const saltus_system* rigid,
                                    const saltusi_yaml_node* root);

#endif
