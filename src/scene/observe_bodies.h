/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe_bodies.h - what every scene with bodies has among its outputs, behind its own: momentum, angular
 * momentum about the origin, and how far the worst joint is open.
 */
#ifndef SALTUSI_OBSERVE_BODIES_H
#define SALTUSI_OBSERVE_BODIES_H

#include "saltus/mechanism.h"
#include "scene/reader.h"

/* The outputs and events of a scene, NULL: none, with those of its mechanism behind them, which stands at the
 * end of the state of `system`. NULL without memory. */
const saltus_observables* saltusi_observe_bodies(saltusi_reader* reader,
                                                 const saltus_observables* own,
                                                 const saltus_mechanism* mechanism,
                                                 const saltus_system* system);

#endif
