/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * machine_cases.c - machines and the numbers they are held to: event-driven computations of an independent code in two
 * formulations (slider-crank, four-bar), flights in closed form with roots of 40 digits (cam), closed forms (breaker arm).
 */
#include "machine_run.h"

#include <stddef.h>

#define TIME(kind, name, i, t, off, tolerances)                                                    \
  { MACHINE_TIME, SALTUS_EVENT_##kind, name, i, t, off, tolerances }
#define APPROACH(name, i, u, off, tolerances)                                                      \
  { MACHINE_APPROACH, SALTUS_EVENT_IMPACT, name, i, u, off, tolerances }
#define IMPULSE(name, i, P, off, tolerances)                                                       \
  { MACHINE_IMPULSE, SALTUS_EVENT_IMPACT, name, i, P, off, tolerances }
#define VALUE(name, x, off, tolerances)                                                            \
  { MACHINE_VALUE, SALTUS_EVENT_IMPACT, name, 0, x, off, tolerances }
#define COUNT(numbers) numbers, (int)(sizeof(numbers) / sizeof(numbers)[0])

/* Three Cartesian bodies and three angles agree to 3e-16 s and to 11 digits of the impulses. */
static const machine_number corner[] = {
    TIME(IMPACT, "guide.upper_left", 1, 0.0026909036484081, 1e-12, 0),
    IMPULSE("guide.upper_left", 1, 0.0012644015354, 1.26e-09, 0),
    TIME(IMPACT, "guide.upper_right", 1, 0.0026922543109256, 1e-12, 0),
    IMPULSE("guide.upper_right", 1, 0.0029638194985, 2.96e-09, 0),
    TIME(IMPACT, "guide.upper_left", 2, 0.0026924444331975, 1e-12, 0),
    IMPULSE("guide.upper_left", 2, 0.0035909020424, 3.59e-09, 0),
    TIME(IMPACT, "guide.upper_right", 2, 0.0026925056979777, 1e-12, 0),
    IMPULSE("guide.upper_right", 2, 0.0036789123789, 3.68e-09, 0),
    TIME(IMPACT, "guide.upper_left", 3, 0.0026925298206648, 1e-12, 0),
    IMPULSE("guide.upper_left", 3, 0.0036479175629, 3.65e-09, 0),
    TIME(IMPACT, "guide.upper_right", 3, 0.0026925400505865, 1e-12, 0),
    IMPULSE("guide.upper_right", 3, 0.0034700156442, 3.47e-09, 0),
    TIME(IMPACT, "guide.upper_left", 4, 0.0026925445246327, 1e-12, 0),
    IMPULSE("guide.upper_left", 4, 0.0033363857792, 3.34e-09, 0),
    TIME(IMPACT, "guide.upper_right", 4, 0.0026925465076744, 1e-12, 0),
    IMPULSE("guide.upper_right", 4, 0.0031315529652, 3.13e-09, 0),
    TIME(ACCUMULATION, NULL, 1, 0.002692548107436, 1e-12, 0),
    TIME(CLOSE, "guide.upper_left", 1, 0.002692548107436, 1e-12, 0),
    TIME(CLOSE, "guide.upper_right", 1, 0.002692548107436, 1e-12, 0),
    TIME(OPEN, "guide.upper_left", 1, 0.01503132846013, 1e-12, 10),
    TIME(OPEN, "guide.upper_right", 1, 0.01503132846013, 1e-12, 10),
    VALUE("crank.angle", 2.010214294134, 1e-11, 10),
    VALUE("rod.angle", -0.471360887641, 1e-11, 10),
    VALUE("slider.angle", 0, 1e-11, 10),
    VALUE("crank.angle'", 89.61149791783, 1e-9, 896), /* relative, as tolerances are */
    VALUE("rod.angle'", 19.53210412349, 1e-9, 195),
};

/* Two tolerances of the same code agree to 3e-12; Moreau's scheme converges to it. */
static const machine_number flat[] = {
    TIME(IMPACT, "guide.upper_left", 1, 0.00269250275202, 1e-11, 10),
    TIME(IMPACT, "guide.upper_right", 1, 0.00269250275202, 1e-11, 10),
    TIME(IMPACT, "guide.upper_left", 2, 0.00561236319021, 1e-11, 10),
    TIME(IMPACT, "guide.upper_right", 2, 0.00561236319021, 1e-11, 10),
    TIME(IMPACT, "guide.upper_left", 3, 0.0074750562124, 1e-11, 10),
    TIME(IMPACT, "guide.upper_right", 3, 0.0074750562124, 1e-11, 10),
    TIME(IMPACT, "guide.upper_left", 4, 0.00842176793425, 1e-11, 10),
    TIME(IMPACT, "guide.upper_right", 4, 0.00842176793425, 1e-11, 10),
    TIME(IMPACT, "guide.lower_left", 1, 0.0258895628758, 1e-11, 10),
    TIME(IMPACT, "guide.lower_right", 1, 0.0258895628758, 1e-11, 10),
    TIME(IMPACT, "guide.lower_left", 2, 0.02866064488971, 1e-11, 10),
    TIME(IMPACT, "guide.lower_right", 2, 0.02866064488971, 1e-11, 10),
    TIME(IMPACT, "guide.lower_left", 3, 0.02962995932949, 1e-11, 10),
    TIME(IMPACT, "guide.lower_right", 3, 0.02962995932949, 1e-11, 10),
    TIME(IMPACT, "guide.lower_left", 4, 0.03001045587059, 1e-11, 10),
    TIME(IMPACT, "guide.lower_right", 4, 0.03001045587059, 1e-11, 10),
    TIME(ACCUMULATION, NULL, 1, 0.00914563215, 1e-10, 10),
    TIME(OPEN, "guide.upper_left", 1, 0.01502865174846, 1e-11, 10),
    TIME(ACCUMULATION, "guide.lower_left", 1, 0.0302639798, 1e-10, 10),
    TIME(REVERSAL, "guide.lower_left", 1, 0.03413377394917, 1e-11, 10),
    TIME(OPEN, "guide.lower_right", 1, 0.0343379105893, 1e-11, 10),
    TIME(IMPACT, "guide.upper_left", 5, 0.03980731555586, 1e-11, 10),
    TIME(IMPACT, "guide.upper_right", 5, 0.03980731555586, 1e-11, 10),
    TIME(IMPACT, "guide.upper_left", 6, 0.04389401791358, 1e-11, 10),
    TIME(IMPACT, "guide.upper_left", 7, 0.04663400366684, 1e-11, 10),
    TIME(IMPACT, "guide.lower_left", 5, 0.06213240651442, 1e-11, 10),
    TIME(IMPACT, "guide.lower_left", 6, 0.064952808687, 1e-11, 10),
    VALUE("crank.angle", 5.969718893492, 1e-11, 10),
    VALUE("rod.angle", 0.1514982329314, 1e-11, 10),
    VALUE("crank.angle'", 114.0511215552, 1e-9, 1140),
    VALUE("rod.angle'", -54.97348554721, 1e-9, 550),
};

/* Between tolerances 1e-14; Moreau's scheme to 1.4e-7. */
static const machine_number four_bar[] = {
    TIME(IMPACT, "joint1", 1, 0.010494689463478, 1e-9, 0),
    APPROACH("joint1", 1, -0.952716423132, 1e-9, 0),
    IMPULSE("joint1", 1, 0.38079161112, 1e-9, 0),
    TIME(IMPACT, "joint2", 1, 0.01404870511675, 1e-9, 0),
    APPROACH("joint2", 1, -1.05947719389, 1e-9, 0),
    IMPULSE("joint2", 1, 0.31478211373, 1e-9, 0),
    TIME(IMPACT, "joint1", 2, 0.015935485362283, 1e-9, 0),
    APPROACH("joint1", 2, -0.536346655004, 1e-9, 0),
    IMPULSE("joint1", 2, 0.2318969701, 1e-9, 0),
};

static const machine_number cam_120[] = {
    TIME(OPEN, "cam", 1, 0.08358246040994213, 1e-13, 10),
    TIME(IMPACT, "cam", 1, 0.089138862180781291, 1e-13, 10),
    TIME(IMPACT, "cam", 2, 0.091314941867377095, 1e-13, 10),
    TIME(IMPACT, "cam", 3, 0.092848117904202297, 1e-13, 10),
    TIME(IMPACT, "cam", 4, 0.094006284673625177, 1e-13, 10),
    TIME(IMPACT, "cam", 5, 0.094905756412982745, 1e-13, 10),
    TIME(IMPACT, "cam", 6, 0.095613934962562378, 1e-13, 10),
    TIME(IMPACT, "cam", 7, 0.096175645882473607, 1e-13, 10),
    TIME(IMPACT, "cam", 8, 0.096623045894049887, 1e-13, 10),
    TIME(CLOSE, "cam", 1, 0.09766270090058, 1e-12, 10),
};

static const machine_number cam_150[] = {
    TIME(OPEN, "cam", 1, 0.066865968327953704, 1e-13, 10),
    TIME(IMPACT, "cam", 1, 0.089291730411477586, 1e-13, 10),
    TIME(IMPACT, "cam", 2, 0.10195592064989746, 1e-13, 10),
    TIME(IMPACT, "cam", 3, 0.11214443463547952, 1e-13, 10),
    TIME(IMPACT, "cam", 4, 0.12032500404087489, 1e-13, 10),
    TIME(IMPACT, "cam", 5, 0.14653829829405302, 1e-13, 10),
    TIME(IMPACT, "cam", 6, 0.16389290642765573, 1e-13, 10),
    TIME(IMPACT, "cam", 7, 0.18011954695565364, 1e-13, 10),
    TIME(IMPACT, "cam", 8, 0.19441498072328371, 1e-13, 10),
    TIME(CLOSE, "cam", 1, 0.265012815679484, 1e-12, 10),
};

static const machine_number cam_660[] = {
    TIME(OPEN, "cam", 1, 0.015196810983625842, 1e-13, 10),
    TIME(IMPACT, "cam", 1, 0.090546412435595949, 1e-13, 10),
    TIME(IMPACT, "cam", 2, 0.17017292646712238, 1e-13, 10),
    TIME(IMPACT, "cam", 3, 0.24688292227316537, 1e-13, 10),
    TIME(IMPACT, "cam", 4, 0.32005361806834347, 1e-13, 10),
    TIME(IMPACT, "cam", 5, 0.37651642529907208, 1e-13, 10),
    TIME(IMPACT, "cam", 6, 0.4591321186808159, 1e-13, 10),
    TIME(IMPACT, "cam", 7, 0.54489432915504508, 1e-13, 10),
    TIME(IMPACT, "cam", 8, 0.62955158546075065, 1e-13, 10),
};

/* J w' = -k (a + p): a quarter swing, then flights (2/w) atan(v / (w p)) whose speeds shrink by e. */
static const machine_number arm[] = {
    TIME(IMPACT, "pivot.lower", 1, 0.021978689790305, 1e-12, 0),
    APPROACH("pivot.lower", 1, -48.9897948556636, 1e-10, 0),
    TIME(IMPACT, "pivot.lower", 2, 0.048570981160484, 1e-12, 0),
    APPROACH("pivot.lower", 2, -19.5959179422654, 1e-10, 0),
    TIME(IMPACT, "pivot.lower", 3, 0.060724070103268, 1e-12, 0),
    TIME(IMPACT, "pivot.lower", 4, 0.065714569354984, 1e-12, 0),
    TIME(IMPACT, "pivot.lower", 5, 0.06771951061284, 1e-12, 0),
    TIME(CLOSE, "pivot.lower", 1, 0.069057143541489, 1e-12, 0),
};

/* A pinned domino from 3 rad/s: by quadrature of its energy. Approach: height of the corner times the rate. */
static const machine_number dominoes[] = {
    TIME(IMPACT, "touch1", 1, 0.199132577271515, 1e-13, 10),
    APPROACH("touch1", 1, -0.215820413191577, 1e-12, 100),
};

/* Twenty teeth behind the angle at which flank and ramp first hold the nose: two circles meet, by geometry alone. */
static const machine_number ratchet[] = {
    VALUE("turned", 10.298310828177646, 1e-13, 10),
};

/* A parabola: 5/7 of g sin(0.3) down, nothing across. */
static const machine_number rolling_ball[] = {
    VALUE("along", 1.0, 1e-13, 10),
    VALUE("down", -1.0353761526241934, 1e-13, 10),
};

static const machine_case cases[] = {
    {"machine-slider-crank",
     "corner branch",
     "machine-slider-crank",
     NULL,
     0.025,
     0,
     0,
     {1e-9, 1e-10},
     COUNT(corner)},
    {"machine-slider-crank-flat",
     "flat branch",
     "machine-slider-crank",
     "w3=0",
     0.066,
     0.02, /* m/s: slower ones are on their way to an accumulation */
     0,
     {1e-8, 1e-10},
     COUNT(flat)},
    {"machine-four-bar",
     "three clearances",
     "machine-four-bar",
     NULL,
     0.03,
     0,
     0,
     {1e-10},
     COUNT(four_bar)},
    {"machine-cam-follower",
     "120 rpm",
     "machine-cam-follower",
     "rpm=120",
     0.5,
     1e-7,
     0.02,
     {1e-8, 1e-10},
     COUNT(cam_120)},
    {"machine-cam-follower",
     "150 rpm",
     "machine-cam-follower",
     "rpm=150",
     0.4,
     1e-7,
     0.02,
     {1e-8, 1e-10},
     COUNT(cam_150)},
    {"machine-cam-follower",
     "660 rpm",
     "machine-cam-follower",
     "rpm=660",
     0.7,
     1e-7,
     0.01,
     {1e-8, 1e-10},
     COUNT(cam_660)},
    {"machine-breaker-arm",
     "arm and stop",
     "machine-breaker-arm",
     NULL,
     0.08,
     0,
     0,
     {1e-13},
     COUNT(arm)},
    {"machine-dominoes",
     "six dominoes",
     "machine-dominoes",
     NULL,
     0.4,
     0,
     0,
     {1e-8, 1e-11},
     COUNT(dominoes)},
    {"machine-ratchet",
     "five strokes",
     "machine-ratchet",
     NULL,
     0.5,
     0,
     0,
     {1e-7, 1e-9},
     COUNT(ratchet)},
    {"machine-rolling-ball",
     "it rolls",
     "machine-rolling-ball",
     NULL,
     1,
     0,
     0,
     {1e-8, 1e-11},
     COUNT(rolling_ball)},
    {"machine-rolling-ball",
     "it rolls and spins",
     "machine-rolling-ball",
     "spin=7",
     1,
     0,
     0,
     {1e-8, 1e-11},
     COUNT(rolling_ball)},
};

const machine_case* machine_case_at(int i) {
  return i >= 0 && i < (int)(sizeof cases / sizeof cases[0]) ? &cases[i] : NULL;
}
