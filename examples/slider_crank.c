/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * A slider-crank of three bodies, driven at 10 rad/s. Its slider is at r cos a + sqrt(l^2 - r^2 sin^2 a).
 *
 *   cc slider_crank.c $(pkg-config --cflags --libs saltus) -lm -o slider_crank && ./slider_crank
 */
#include <saltus/saltus.h>

#include <math.h>
#include <stdio.h>

static const saltus_body_def bodies[] = {
    {.name = "crank", .mass = 1, .inertia = {0.02}, .position = {0.25}, .angular_velocity = {10}},
    {.name = "rod", .mass = 2, .inertia = {0.2}, .position = {1.0}},
    {.name = "slider", .mass = 3, .inertia = {0.1}, .position = {1.5}}};

/* points relative to the centre of mass in body axes; without a body: in the world */
static const saltus_marker_def markers[] = {
    {.name = "ground"},
    {.name = "crank foot", .body = "crank", .position = {-0.25}},
    {.name = "crank pin", .body = "crank", .position = {0.25}},
    {.name = "rod start", .body = "rod", .position = {-0.5}},
    {.name = "rod end", .body = "rod", .position = {0.5}},
    {.name = "slider pin", .body = "slider"}};

static const saltus_joint_def joints[] = {
    {.name = "shaft",
     .type = SALTUS_JOINT_REVOLUTE,
     .between = {"ground", "crank foot"},
     .angle = {.drive = SALTUS_DRIVE_SPEED, .driven = {.value = 10}}},
    {.name = "big end", .type = SALTUS_JOINT_REVOLUTE, .between = {"crank pin", "rod start"}},
    {.name = "small end", .type = SALTUS_JOINT_REVOLUTE, .between = {"rod end", "slider pin"}},
    {.name = "rail", .type = SALTUS_JOINT_PRISMATIC, .between = {"ground", "slider pin"}}};

static void show(const saltus_mechanism* m, double t, const double* q, const double* v) {
  const int rail = saltus_mechanism_find_joint(m, "rail");
  const saltus_joint_motion slider = saltus_mechanism_joint_motion(m, rail, t, q, v);
  const double s = 0.5 * sin(10 * t), exact = 0.5 * cos(10 * t) + sqrt(1 - s * s);
  printf("%.1f s  slider at %.9f m, off by %.0e m, speed %.4f m/s\n", t, slider.position,
         fabs(slider.position - exact), slider.position_rate);
}

int main(void) {
  saltus_kept_message message;
  saltus_log log = saltus_log_keep(&message);
  const saltus_mechanism_def def = {.dimension = 2,
                                    .gravity = {0, -9.81},
                                    .bodies = bodies,
                                    .body_count = 3,
                                    .markers = markers,
                                    .marker_count = 6,
                                    .joints = joints,
                                    .joint_count = 4,
                                    .log = log};
  saltus_mechanism* m;
  saltus_assembly moved;
  saltus_integrator* it = NULL;
  saltus_status status = saltus_mechanism_create(&def, &m);
  if (status == SALTUS_OK) { /* velocities of rod and slider consistent with the joints */
    status = saltus_mechanism_assemble(m, 1e-9, log, &moved);
  }
  if (status == SALTUS_OK) {
    const saltus_integrator_def run = {.system = saltus_mechanism_system(m),
                                       .q0 = saltus_mechanism_q0(m),
                                       .v0 = saltus_mechanism_v0(m),
                                       .rtol = 1e-9,
                                       .atol = 1e-9,
                                       .log = log};
    status = saltus_integrator_create(&run, &it);
  }
  for (int i = 1; status == SALTUS_OK && i <= 10; i++) {
    status = saltus_integrator_advance(it, 0.1 * i, SALTUS_STOP_NEVER, NULL);
    show(m, 0.1 * i, saltus_integrator_q(it), saltus_integrator_v(it));
  }
  printf("%s\n", status == SALTUS_OK ? "done" : message.text);
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
  return status == SALTUS_OK ? 0 : 1;
}
