/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * saltus.h - includes all headers.
 *
 * Five to start with:
 *   scene.h    scene files: system, start and settings
 *   run.h      a run of a scene: overrides, recorders, results
 *   system.h   a system by callbacks: mass, forces, joints, contacts
 *   sim.h      a simulation: a system, a scheme, a state and observers
 *   contact.h  one-step contact problems and their solvers
 *
 * Others by purpose:
 *   models        body.h, mechanism.h, tree.h, shape.h, orientation.h, element.h, flexible.h, formula.h, law.h, friction_law.h, urdf.h, start.h
 *   integration   integrator.h, scheme.h, control.h, adaptive.h, runge_kutta.h, time_dg.h, trapezoidal.h, extrapolation.h, enclosure.h
 *   results       recording.h, event.h, observe.h, ledger.h, residual.h, work.h, verify.h, compare.h, measure.h
 *   studies       sweep.h, fit.h, optimize.h, orbit.h, sensitivity.h, known_motion.h, problem_file.h, cone.h, system_check.h
 *   pictures      drawing.h, report.h, vtk.h
 *   other tools   export.h
 *   common types  api.h, version.h, status.h, log.h, memory.h, options.h
 */
#ifndef SALTUS_SALTUS_H
#define SALTUS_SALTUS_H

#include "saltus/adaptive.h"
#include "saltus/api.h"
#include "saltus/body.h"
#include "saltus/compare.h"
#include "saltus/cone.h"
#include "saltus/contact.h"
#include "saltus/control.h"
#include "saltus/drawing.h"
#include "saltus/element.h"
#include "saltus/enclosure.h"
#include "saltus/event.h"
#include "saltus/export.h"
#include "saltus/extrapolation.h"
#include "saltus/fit.h"
#include "saltus/flexible.h"
#include "saltus/formula.h"
#include "saltus/friction_law.h"
#include "saltus/integrator.h"
#include "saltus/known_motion.h"
#include "saltus/law.h"
#include "saltus/ledger.h"
#include "saltus/log.h"
#include "saltus/measure.h"
#include "saltus/mechanism.h"
#include "saltus/memory.h"
#include "saltus/observe.h"
#include "saltus/optimize.h"
#include "saltus/options.h"
#include "saltus/orbit.h"
#include "saltus/orientation.h"
#include "saltus/problem_file.h"
#include "saltus/recording.h"
#include "saltus/report.h"
#include "saltus/residual.h"
#include "saltus/run.h"
#include "saltus/runge_kutta.h"
#include "saltus/scene.h"
#include "saltus/scheme.h"
#include "saltus/sensitivity.h"
#include "saltus/shape.h"
#include "saltus/sim.h"
#include "saltus/start.h"
#include "saltus/status.h"
#include "saltus/sweep.h"
#include "saltus/system.h"
#include "saltus/system_check.h"
#include "saltus/time_dg.h"
#include "saltus/trapezoidal.h"
#include "saltus/tree.h"
#include "saltus/urdf.h"
#include "saltus/verify.h"
#include "saltus/version.h"
#include "saltus/vtk.h"
#include "saltus/work.h"

#endif
