/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe_bodies.h - outputs of every scene with bodies, after those of the file: momentum,
 * angular momentum about the origin, and the largest violation of a joint.
 */
#ifndef SALTUSI_OBSERVE_BODIES_H
#define SALTUSI_OBSERVE_BODIES_H

#include "saltus/mechanism.h"
#include "scene/reader.h"

/* The outputs and events of a scene, NULL: none, followed by those of its mechanism, whose state
 * is the last part of the state of `system`. NULL without memory. */
const saltus_observables* saltusi_observe_bodies(saltusi_reader* reader,
                                                 const saltus_observables* own,
                                                 const saltus_mechanism* mechanism,
                                                 const saltus_system* system);

/* Those of the file among them; NULL: none. */
const saltus_observables* saltusi_observe_bodies_own(const saltus_observables* all);

#endif
