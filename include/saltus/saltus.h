/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * saltus.h - everything at once.
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
#include "saltus/formula.h"
#include "saltus/integrator.h"
#include "saltus/known_motion.h"
#include "saltus/law.h"
#include "saltus/ledger.h"
#include "saltus/log.h"
#include "saltus/measure.h"
#include "saltus/mechanism.h"
#include "saltus/memory.h"
#include "saltus/observe.h"
#include "saltus/options.h"
#include "saltus/orbit.h"
#include "saltus/problem_file.h"
#include "saltus/recording.h"
#include "saltus/report.h"
#include "saltus/residual.h"
#include "saltus/run.h"
#include "saltus/runge_kutta.h"
#include "saltus/scene.h"
#include "saltus/scheme.h"
#include "saltus/sensitivity.h"
#include "saltus/sim.h"
#include "saltus/start.h"
#include "saltus/status.h"
#include "saltus/sweep.h"
#include "saltus/system.h"
#include "saltus/time_dg.h"
#include "saltus/trapezoidal.h"
#include "saltus/urdf.h"
#include "saltus/verify.h"
#include "saltus/version.h"
#include "saltus/vtk.h"
#include "saltus/work.h"

#endif
