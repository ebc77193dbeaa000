/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * cam_profiles.h - cams of the tests of machine elements: the end of an element's line, and what follows it.
 */
#ifndef CAM_PROFILES_H
#define CAM_PROFILES_H

#define ARCS                                                                                       \
  "profile: {arcs: [{centre: [0, 0], radius: 0.4, from: -pi/2}, "                                  \
  "{centre: [0, -0.45], radius: 0.85, from: pi/2}, "                                               \
  "{centre: [k*cos(8*pi/9), k*sin(8*pi/9)], radius: 0.15, from: f}, "                              \
  "{centre: [0, 0], radius: k + 0.15, from: 8*pi/9}, "                                             \
  "{centre: [k*cos(10*pi/9), k*sin(10*pi/9)], radius: 0.15, from: 10*pi/9}, "                      \
  "{centre: [0, 0.45], radius: 0.85, from: 2*pi - f}]}}\n"                                         \
  "parameters: {k: 0.403933207238214142, f: \"atan2(k*sin(8*pi/9) + 0.45, k*cos(8*pi/9))\"}\n"
#define SPLINE                                                                                     \
  "profile: {points: [[-1, 0.5], [0, 0.55], [0.7, 0.6], [2, 0.58], [3, 0.5], [4.2, 0.47]]}}\n"
#define FORMULA "profile: {formula: 0.5 + 0.05*cos(2*beta), slope: -0.1*sin(2*beta)}}\n"

#endif
