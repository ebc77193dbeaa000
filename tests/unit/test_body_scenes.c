/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_body_scenes.c - bodies, markers and joints in scenes and formulas: derivatives of everything a scene can
 * say about bodies, values against closed forms, forces of joints, inputs, and what is refused.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

static saltus_scene* open_text(const char* text) {
  saltus_kept_message kept;
  saltus_scene* scene;
  const saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  return scene;
}

/* Every kind of formula on bodies in space beside a coordinate by formula, joints and limits. */
static const char space[] =
    "saltus: 1\n"
    "world: {dimension: 3}\n"
    "parameters: {L: 1, none: 0}\n"
    "inputs: {torque: 0.5}\n"
    "coordinates: {s: {start: 0.3, velocity: 0.2}}\n"
    "kinetic: (1 + s^2)*s'^2/2\n"
    "potential: 10*(s - arm.x)^2 + 3*tip.z^2 + 0.5*dist(tip, base)^2 + torque*nose.y\n"
    "bodies:\n"
    "  arm: {mass: 2, inertia: [0.1, 0.2, 0.25, 0.01, 0.02, 0.03], position: [0.5, 0, 0],\n"
    "        orientation: {rpy: [0.1, 0, 0]}, angular_velocity: [0.3, 0, 0]}\n"
    "  ball: {mass: 1, inertia: [0.4, 0.5, 0.6], position: [2, 0, 3],\n"
    "         orientation: {axis: [1, 1, 0], angle: 0.3}, velocity: [0, 1, 0],\n"
    "         angular_velocity: [0.3, 2, 0.1], frame: world}\n"
    "  cam: {driven: {x: sin(t), z: 1 + none*cos(t), axis: [0, 1, 1], angle: 10*t}}\n"
    "  gyro: {driven: {y: t, rpy: [t, 2*t, sin(t)]}}\n"
    "markers:\n"
    "  top: {body: arm, point: [-0.5, 0, 0], orientation: {axis: [0, 1, 0], angle: pi/2}}\n"
    "  tip: {body: arm, point: [L/2, 0, 0.1]}\n"
    "  base: {orientation: {axis: [0, 1, 0], angle: pi/2}}\n"
    "  nose: {body: ball, point: [0.1, 0.2, 0.3]}\n"
    "  edge: {body: cam, point: [0.2, 0, 0]}\n"
    "  rim: {body: gyro, point: [0.2, 0.1, 0]}\n"
    "joints:\n"
    "  - {name: hinge, type: revolute, between: [base, top], limits: [-2, 2], damping: 0.1,\n"
    "     spring: {stiffness: 3, rest: 0.2}, actuator: torque*cos(t)}\n"
    "  - {name: odd, constraint: s - 0.3 - ball.x + 2}\n"
    "forces:\n"
    "  - {name: push, at: nose, force: [sin(t), nose.y, -nose.z'], torque: [0, 0, ball.wz],\n"
    "     frame: marker}\n"
    "  - {name: pull, at: tip, force: [rim.x, hinge.angle', hinge.angle]}\n"
    "springs:\n"
    "  - {name: sp, between: [nose, edge], stiffness: 5, damping: 0.2, length: 1}\n"
    "  - {name: el, elongation: nose.x - s^2 + 0.1*t, stiffness: 2, damping: 0.5}\n"
    "contacts:\n"
    "  - {name: floor, gap: nose.z + 0.1*sin(nose.x) - 0.01*edge.x, slip: nose.x',\n"
    "     slip2: nose.y, friction: 0.3}\n"
    "simulate: {until: 1, start_tolerance: 1}\n";

/* The same in the plane. */
static const char plane[] =
    "saltus: 1\n"
    "inputs: {torque: 0.5}\n"
    "coordinates: {s: 0.3, r: {start: 1, velocity: 0.4}}\n"
    "kinetic: (1 + s^2)*s'^2/2 + r'^2 + s'*r'/2\n"
    "potential: 10*(s - arm.x)^2 + 3*tip.y^2 + 0.5*dist(tip, base)^2 + torque*nose.y + "
    "r*ball.angle\n"
    "bodies:\n"
    "  arm: {mass: 2, inertia: 0.1, position: [0.5, 0], angle: 0, angular_velocity: 0.3}\n"
    "  ball: {mass: 1, inertia: 0.4, position: [2, 3], angle: 0.7, velocity: [0, 1]}\n"
    "  cam: {angle: 0.2, driven: {x: sin(t), y: 1, angle: 10*t}}\n"
    "markers:\n"
    "  top: {body: arm, point: [-0.5, 0]}\n"
    "  tip: {body: arm, point: [0.5, 0.1]}\n"
    "  base: {point: [0, 0]}\n"
    "  knob: {body: ball, point: [0.1, 0.2], angle: 0.5}\n"
    "  nose: {marker: knob, point: [0.1, 0]}\n"
    "  edge: {body: cam, point: [0.2, 0]}\n"
    "joints:\n"
    "  - {name: hinge, type: revolute, between: [base, top], limits: [-2, none], damping: 0.1,\n"
    "     spring: {stiffness: 3, rest: 0.2}, actuator: torque*cos(t)}\n"
    "  - {name: odd, constraint: s - 0.3 - ball.x + 2}\n"
    "forces:\n"
    "  - {name: push, at: nose, force: [sin(t), -nose.y'], torque: \"-ball.angle'*angle(top, "
    "nose)\",\n"
    "     frame: marker}\n"
    "  - {name: pull, at: arm, force: [hinge.angle', hinge.angle]}\n"
    "springs:\n"
    "  - {name: sp, between: [nose, edge], stiffness: 5, damping: 0.2, length: 1}\n"
    "  - {name: el, elongation: nose.x - s^2 + 0.1*t, stiffness: 2, damping: 0.5}\n"
    "contacts:\n"
    "  - {name: floor, gap: nose.y + 0.1*sin(nose.x) - 0.01*edge.x + 0.001*torque, slip: nose.x', "
    "friction: 0.3}\n"
    "simulate: {until: 1, start_tolerance: 1}\n";

/* Angles against bodies that are driven, as the first and as the second one, about an axis that is not theirs. */
static const char on_driven[] =
    "saltus: 1\n"
    "world: {dimension: 3}\n"
    "bodies:\n"
    "  table: {driven: {x: sin(t), axis: [0, 1, 1], angle: 1 + 10*t}}\n"
    "  pan: {driven: {rpy: [0.3, 2*t, 0.2], z: 1}}\n"
    "  arm: {mass: 2, inertia: [0.1, 0.2, 0.25, 0.01, 0.02, 0.03], orientation: {axis: [0, 1, 1],\n"
    "        angle: 1}, angular_velocity: [0.3, 7, 7]}\n"
    "  rod: {mass: 1, inertia: [0.1, 0.2, 0.25], orientation: {rpy: [0.3, 0, 0.2]},\n"
    "        position: [0, 0, 1], angular_velocity: [0, 1, 1]}\n"
    "markers: {a: {body: table}, b: {body: arm}, c: {body: rod}, d: {body: pan}}\n"
    "joints:\n"
    "  - {name: hinge, type: revolute, between: [a, b], damping: 0.3}\n"
    "  - {name: sleeve, type: cylindrical, between: [c, d], \n"
    "     angle: {limits: [-2, 2], spring: {stiffness: 2}}}\n"
    "forces:\n"
    "  - {name: pull, at: b, force: [hinge.angle, hinge.angle', 0], torque: [sleeve.angle, 0, 1]}\n"
    "contacts: [{name: stop, gap: 40 - hinge.angle + 0.1*sleeve.angle}]\n"
    "simulate: {until: 1, start_tolerance: 1}\n";

/* Rates, rows, forces, energies, blocks, enclosures and power against differences of sixth order, at states
 * off the joints too. Differences of values of size 100 leave some 1e-9. */
static void formulas_on_bodies_have_exact_derivatives(void** state) {
  (void)state;
  const char* const scenes[] = {space, plane, on_driven};
  for (int s = 0; s < 3; s++) {
    saltus_scene* scene = open_text(scenes[s]);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const saltus_system* sys = view->system;
    uint64_t seed = 7;
    double q[64], v[64], d[64];
    assert_in_range(sys->dims.nq, 5, 63);
    for (int trial = 0; trial < 6; trial++) {
      for (int i = 0; i < sys->dims.nv; i++) {
        d[i] = trial == 0 ? 0.0 : saltus_test_random(&seed) - 0.5;
        v[i] = view->v0[i] + d[i];
      }
      if (sys->ops->advance != NULL) {
        sys->ops->advance(sys->self, view->q0, d, 0.3, q);
      } else {
        for (int i = 0; i < sys->dims.nq; i++) {
          q[i] = view->q0[i] + 0.3 * d[i];
        }
      }
      saltus_system_check_result result;
      saltus_kept_message kept;
      saltus_status status = saltus_system_check(sys, 0.4, q, v, saltus_log_keep(&kept), &result);
      if (status != SALTUS_OK || !(result.worst <= 1e-8) || !result.traits_hold) {
        fail_msg("scene %d, trial %d: %s %.2e %s", s, trial, result.where, result.worst,
                 result.traits_hold ? "" : "traits");
      }
      assert_true(result.enclosure == 0.0);
      assert_true(result.blocks <= 1e-12);
    }
    saltus_scene_destroy(scene);
  }
}

/* A gap reads the body it is on and nothing else; inputs are no part of a motion. */
static void bounds_read_what_formulas_name(void** state) {
  (void)state;
  saltus_scene* scene = open_text(plane);
  const saltus_system* sys = saltus_scene_get_view(scene)->system;
  const uint64_t floor_contact = 1; /* behind the lower limit of the hinge */
  int place[64];
  assert_int_equal(sys->dims.nc, 2);
  const int count =
      sys->ops->enclosure->reads(sys->self, SALTUS_QUANTITY_GAP, floor_contact, 64, place);
  assert_int_equal(count, 3);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(place[k], 5 + k); /* s, r, arm, ball */
  }
  saltus_scene_destroy(scene);
}

/* What the last frame of a run says of an output. */
typedef struct seen {
  double outputs[10];
  double t_event; /* of the first impact; NaN: none */
} seen;

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  seen* s = user;
  for (int i = 0; i < frame->output_count && i < 10; i++) {
    s->outputs[i] = frame->outputs[i];
  }
  return SALTUS_OK;
}

static saltus_status on_event(void* user, const saltus_event* event) {
  seen* s = user;
  if (event->kind == SALTUS_EVENT_IMPACT && isnan(s->t_event)) {
    s->t_event = event->t;
  }
  return SALTUS_OK;
}

static seen run_text(const char* text) {
  saltus_scene* scene = open_text(text);
  seen s = {.t_event = NAN};
  saltus_run_def def = saltus_run_def_default();
  saltus_kept_message kept;
  const saltus_recorder recorder = {.frame = on_frame, .event = on_event, .user = &s};
  saltus_run* run;
  def.scene = saltus_scene_get_view(scene);
  def.recorders = &recorder;
  def.recorder_count = 1;
  def.log = saltus_log_keep(&kept);
  if (saltus_run_create(&def, &run) != SALTUS_OK || saltus_run_execute(run) != SALTUS_OK) {
    fail_msg("not run: %s", kept.text);
  }
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
  return s;
}

/* A rod falls and turns; its lower tip meets the floor where
 *   y(t) = 2 - g t^2/2 + sin(0.3 + 4 t)/2 = 0                        the first zero, by Newton from 0.55 s. */
static void a_tip_hits_the_floor_when_it_should(void** state) {
  (void)state;
  double t = 0.55;
  for (int k = 0; k < 50; k++) {
    const double y = 2.0 - 0.5 * 9.81 * t * t + 0.5 * sin(0.3 + 4.0 * t);
    t -= y / (-9.81 * t + 2.0 * cos(0.3 + 4.0 * t));
  }
  char text[1200];
  const double tolerances[] = {1e-6, 1e-10};
  for (int k = 0; k < 2; k++) {
    snprintf(text, sizeof text,
             "saltus: 1\n"
             "bodies: {rod: {mass: 3, inertia: 0.25, position: [0, 2], angle: 0.3,\n"
             "               angular_velocity: 4}}\n"
             "markers: {tip: {body: rod, point: [0.5, 0]}}\n"
             "contacts: [{name: floor, gap: tip.y}]\n"
             "simulate: {until: 0.8, tol: %g}\n",
             tolerances[k]);
    const seen s = run_text(text);
    assert_near(s.t_event, t, 10.0 * tolerances[k] / 5.0); /* it approaches at some 5 m/s */
  }
}

/* The same in space, about an axis that is not one of the body: p = x + R (0.5, 0, 0) with R about
 * (0, 1, 0) at 4 rad/s, the body turned by a quarter about x before. z = 2 - g t^2/2 - sin(4 t)/2. */
static void a_tip_in_space_hits_the_floor_when_it_should(void** state) {
  (void)state;
  double t = 0.5;
  for (int k = 0; k < 50; k++) {
    const double z = 2.0 - 0.5 * 9.81 * t * t - 0.5 * sin(4.0 * t);
    t -= z / (-9.81 * t - 2.0 * cos(4.0 * t));
  }
  const seen s = run_text("saltus: 1\n"
                          "world: {dimension: 3}\n"
                          "bodies: {rod: {mass: 3, inertia: [1, 1, 1], position: [0, 0, 2],\n"
                          "               orientation: {rpy: [pi/2, 0, 0]},\n"
                          "               angular_velocity: [0, 4, 0], frame: world}}\n"
                          "markers: {tip: {body: rod, point: [0.5, 0, 0]}}\n"
                          "contacts: [{name: floor, gap: tip.z}]\n"
                          "simulate: {until: 0.9, tol: 1e-9}\n");
  assert_near(s.t_event, t, 1e-8);
}

/* At the lowest point a rod of 2 kg and 1 m that turns at w pulls with m g + m w^2/2; at rest, held at an angle by
 * a drive, the joint carries the weight and the torque of the drive. */
static void forces_of_joints_are_those_of_closed_forms(void** state) {
  (void)state;
  const seen swing =
      run_text("saltus: 1\n"
               "bodies: {rod: {mass: 2, inertia: 1/6, position: [0, -0.5], angle: -pi/2,\n"
               "               angular_velocity: 3, velocity: [1.5, 0]}}\n"
               "markers: {top: {body: rod, point: [-0.5, 0]}, pin: {point: [0, 0]}}\n"
               "joints: [{name: hinge, type: revolute, between: [pin, top]}]\n"
               "outputs: {x: hinge.force.x, y: hinge.force.y, m: hinge.torque.z}\n"
               "simulate: {until: 1e-7, tol: 1e-9}\n");
  assert_near(swing.outputs[1], 2.0 * 9.81 + 2.0 * 9.0 / 2.0, 1e-4);
  assert_near(swing.outputs[0], 0.0, 1e-4);
  assert_near(swing.outputs[2], 0.0, 1e-9);
  const seen held =
      run_text("saltus: 1\n"
               "bodies: {rod: {mass: 2, inertia: 1/6, position: [0.5, 0]}}\n"
               "markers: {top: {body: rod, point: [-0.5, 0]}, pin: {point: [0, 0]}}\n"
               "joints: [{name: hinge, type: revolute, between: [pin, top], drive: {angle: 0}}]\n"
               "outputs: {y: hinge.force.y, m: hinge.torque.z, a: hinge.angle}\n"
               "simulate: {until: 1, tol: 1e-9}\n");
  assert_near(held.outputs[0], 2.0 * 9.81, 1e-7);
  assert_near(held.outputs[1], 9.81, 1e-7);
  assert_near(held.outputs[2], 0.0, 1e-9);
}

/* What holds on a body that turns by itself in space holds at every turn, beyond half of one too.
 * 3 rad/s, 5 s: a nut that cannot turn has moved by -15/(2 pi) pitches; what turns by 2 rad/s more has 25 rad. */
static void joints_on_driven_bodies_hold_at_every_turn(void** state) {
  (void)state;
  const seen nut = run_text("saltus: 1\n"
                            "world: {dimension: 3, gravity: [0, 0, 0]}\n"
                            "bodies:\n"
                            "  spindle: {driven: {axis: [0, 0, 2], angle: 3*t}}\n"
                            "  nut: {mass: 1, inertia: [1, 1, 1], velocity: [0, 0, -0.15/pi]}\n"
                            "markers: {s: {body: spindle}, n: {body: nut}, g: {}}\n"
                            "joints:\n"
                            "  - {name: thread, type: screw, between: [s, n], pitch: 0.1}\n"
                            "  - {name: hold, type: prismatic, between: [g, n]}\n"
                            "outputs: {z: nut.z}\n"
                            "simulate: {until: 5, tol: 1e-8}\n");
  assert_near(nut.outputs[0], -15.0 * 0.1 / 6.283185307179586, 1e-9);
  const seen wheel = run_text(
      "saltus: 1\n"
      "world: {dimension: 3, gravity: [0, 0, 0]}\n"
      "bodies:\n"
      "  carrier: {driven: {axis: [0, 0, 1], angle: 3*t}}\n"
      "  wheel: {mass: 1, inertia: [1, 1, 1], angular_velocity: [0, 0, 5]}\n"
      "markers: {c: {body: carrier}, w: {body: wheel}, x: {body: wheel, point: [1, 0, 0]}}\n"
      "joints: [{name: motor, type: revolute, between: [c, w], drive: {angle: 2*t}}]\n"
      "outputs: {x: x.x, y: x.y}\n"
      "simulate: {until: 5, tol: 1e-8}\n");
  assert_near(wheel.outputs[0], cos(25.0), 1e-9); /* the drive says where it is */
  assert_near(wheel.outputs[1], sin(25.0), 1e-9);
}

/* A wheel that keeps 5 rad/s on a carrier that turns by 3 rad/s about the axis of the hinge: 2 rad/s, 14 rad after
 * 7 s, -14 rad seen from the wheel. A formula, an output of the joint and a crossing of 12 rad know all turns. */
static void angles_on_driven_bodies_count_turns(void** state) {
  (void)state;
  static const char* const how[3] = {"tol: 1e-8", "scheme: radau-iia-5, step: 0.01",
                                     "scheme: moreau-jean, step: 0.01"};
  static const char* const between[2] = {"c, w", "w, c"};
  static const char* const turning[2] = {"axis: [0, 0, 2], angle: 1 + 3*t", "rpy: [0, 0, 1 + 3*t]"};
  for (int k = 0; k < 6; k++) {
    char text[1000];
    snprintf(text, sizeof text,
             "saltus: 1\n"
             "world: {dimension: 3, gravity: [0, 0, 0]}\n"
             "bodies:\n"
             "  carrier: {driven: {%s}}\n"
             "  wheel: {mass: 1, inertia: [1, 1, 1], orientation: {rpy: [0, 0, 1]},\n"
             "    angular_velocity: [0, 0, 5]}\n"
             "markers: {c: {body: carrier}, w: {body: wheel}}\n"
             "joints: [{name: hinge, type: revolute, between: [%s]}]\n"
             "outputs: {angle: hinge.angle, rate: hinge.angle'}\n"
             "simulate: {until: 7, %s}\n",
             turning[k % 2], between[k % 2], how[k / 2]);
    const seen s = run_text(text);
    const double sign = k % 2 == 0 ? 1.0 : -1.0;
    assert_near(s.outputs[0], 14.0 * sign, 1e-7);
    assert_near(s.outputs[1], 2.0 * sign, 1e-7);
  }
}

/* About a hinge of a ball that turns freely the angular velocity keeps its part along the axis, however the carrier
 * turns: w . z' = (W + angle' z) . (W x z) = 0. A hinge that tumbles with a table and comes back from a stop at
 * 33 rad; and roll 1 rad/s, pitch 0.7 rad, yaw
 * 2 rad/s, of which the part 1 - 2 sin 0.7 is about x: 2 rad/s against it. */
static void angles_count_turns_about_axes_that_tumble(void** state) {
  (void)state;
  const seen table =
      run_text("saltus: 1\n"
               "world: {dimension: 3, gravity: [0, 0, 0]}\n"
               "bodies:\n"
               "  table: {driven: {axis: [0, 0.6, 0.8], angle: 3*t}}\n"
               "  ball: {mass: 1, inertia: [1, 1, 1], angular_velocity: [0, 1.8, 2.4 + 2]}\n"
               "markers: {c: {body: table}, b: {body: ball}}\n"
               "joints: [{name: hinge, type: revolute, between: [c, b]}]\n"
               "outputs: {angle: hinge.angle}\n"
               "contacts: [{name: stop, gap: 33 - hinge.angle, restitution: 1}]\n"
               "simulate: {until: 20, tol: 1e-8}\n");
  assert_near(table.outputs[0], 26.0, 1e-6);
  assert_near(table.t_event, 16.5, 1e-6);
  const seen tumbling =
      run_text("saltus: 1\n"
               "world: {dimension: 3, gravity: [0, 0, 0]}\n"
               "bodies:\n"
               "  carrier: {driven: {rpy: [t, 0.7, 2*t]}}\n"
               "  ball: {mass: 1, inertia: [1, 1, 1], orientation: {rpy: [0, 0.7, 0]},\n"
               "         angular_velocity: [3 - 2*sin(0.7), 0, 2*cos(0.7)]}\n"
               "markers:\n"
               "  c: {body: carrier, orientation: {axis: [0, 1, 0], angle: pi/2}}\n"
               "  b: {body: ball, orientation: {axis: [0, 1, 0], angle: pi/2}}\n"
               "joints: [{name: hinge, type: revolute, between: [c, b]}]\n"
               "simulate: {until: 10, tol: 1e-8}\n");
  assert_near(tumbling.outputs[8], 20.0, 1e-6); /* behind momenta and defects */
  assert_near(tumbling.outputs[9], 2.0, 1e-6);
}

/* Kinematics alone: a crank turns by 3 rad/s, with a shape that overlaps another one, which cannot give way either;
 * and beside a coordinate by formula that feels it. */
static void scenes_without_free_bodies_run(void** state) {
  (void)state;
  static const char* const how[3] = {"tol: 1e-8", "scheme: radau-iia-5, step: 0.01",
                                     "scheme: moreau-jean, step: 0.01"};
  static const char* const world[2] = {
      "world: {dimension: 2}\n"
      "bodies:\n"
      "  crank: {driven: {angle: 3*t}, shapes: [{circle: {radius: 0.6}}]}\n"
      "  post: {fixed: true, position: [1, 0], shapes: [{circle: {radius: 0.6}}]}\n"
      "markers: {tip: {body: crank, point: [1, 0]}}\n",
      "world: {dimension: 3}\n"
      "bodies:\n"
      "  crank: {driven: {axis: [0, 0, 1], angle: 3*t}}\n"
      "  post: {fixed: true, position: [1, 0, 0]}\n"
      "markers: {tip: {body: crank, point: [1, 0, 0]}}\n"};
  static const char* const own[2] = {"", "coordinates: {s: {velocity: -1/3}}\n"
                                         "kinetic: s'^2/2\n"
                                         "potential: -s*tip.y\n"};
  for (int k = 0; k < 12; k++) {
    char text[1000];
    snprintf(text, sizeof text,
             "saltus: 1\n%s%soutputs: {y: tip.y, d: \"dist(tip, post)\", rate: tip.x'%s}\n"
             "simulate: {until: 2, %s}\n",
             world[k % 2], own[k / 2 % 2], k / 2 % 2 == 1 ? ", way: s" : "", how[k / 4]);
    const seen s = run_text(text);
    assert_near(s.outputs[0], sin(6.0), 1e-14);
    assert_near(s.outputs[1], 2.0 * sin(3.0), 1e-14); /* a chord */
    assert_near(s.outputs[2], -3.0 * sin(6.0), 1e-14);
    if (k / 2 % 2 == 1) { /* s'' = sin 3t */
      assert_near(s.outputs[3], -sin(6.0) / 9.0, k < 8 ? 1e-7 : 1e-4);
    }
  }
}

/* In the plane angles count turns: a body that starts on another one is held as it is. */
static void full_turns_keep_axes_parallel_in_the_plane(void** state) {
  (void)state;
  const seen s =
      run_text("saltus: 1\n"
               "bodies: {a: {mass: 1, inertia: 1, angle: 3*pi/2},\n"
               "         b: {mass: 1, inertia: 1, angle: 4*pi}}\n"
               "markers: {guide: {angle: -pi/2}, slider: {body: a}, g: {}, w: {body: b}}\n"
               "joints: [{name: slide, type: prismatic, between: [guide, slider]},\n"
               "         {name: weld, type: fixed, between: [g, w]}]\n"
               "outputs: {y: a.y, a: a.angle, b: b.angle}\n"
               "simulate: {until: 1, tol: 1e-9}\n");
  assert_near(s.outputs[0], -9.81 / 2.0, 1e-8);
  assert_near(s.outputs[1], 1.5 * 3.141592653589793, 1e-9);
  assert_near(s.outputs[2], 4.0 * 3.141592653589793, 1e-9);
}

/* Seven links in space, 42 velocities: more unknowns than stages have a dense matrix for. Both methods are far below
 * 1e-6 here. */
static void a_chain_in_space_moves_alike_in_implicit_stages_and_to_a_tolerance(void** state) {
  (void)state;
  static const char* const how[2] = {"tol: 1e-9", "scheme: radau-iia-5, step: 0.01"};
  seen end[2];
  for (int k = 0; k < 2; k++) {
    char bodies[1000] = "", markers[1500] = "", joints[1000] = "", text[4000];
    for (int i = 0; i < 7; i++) {
      char one[200];
      snprintf(one, sizeof one,
               "  b%d: {mass: 1, inertia: [0.001, 0.01, 0.01], position: [%g, 0, 0]}\n", i,
               0.1 + 0.2 * i);
      strcat(bodies, one);
      snprintf(one, sizeof one,
               "  s%d: {body: b%d, point: [-0.1, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
               "  e%d: {body: b%d, point: [0.1, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n",
               i, i, i + 1, i);
      strcat(markers, one);
      snprintf(one, sizeof one, "  - {type: revolute, between: [e%d, s%d]}\n", i, i);
      strcat(joints, one);
    }
    snprintf(text, sizeof text,
             "saltus: 1\n"
             "world: {dimension: 3}\n"
             "bodies:\n%s"
             "markers:\n  e0: {orientation: {rpy: [pi/2, 0, 0]}}\n%s"
             "joints:\n%s"
             "outputs: {x: e7.x, z: e7.z}\n"
             "simulate: {until: 0.3, %s}\n",
             bodies, markers, joints, how[k]);
    end[k] = run_text(text);
  }
  assert_near(end[1].outputs[0], end[0].outputs[0], 1e-6);
  assert_near(end[1].outputs[1], end[0].outputs[1], 1e-6);
}

/* A wheel of 2 kg m^2 under the torque u: 1 N m for 1 s, then -3 N m for 1 s: angles 1/4 and 0, rates 1/2 and -1.
 * What a scheme carried over the change would leave an error of the size of the torque. */
static void an_input_is_seen_from_the_next_step_on(void** state) {
  (void)state;
  saltus_scene* scene =
      open_text("saltus: 1\n"
                "world: {gravity: [0, 0]}\n"
                "inputs: {u: 1}\n"
                "bodies: {wheel: {mass: 1, inertia: 2}}\n"
                "markers: {hub: {body: wheel}, axle: {point: [0, 0]}}\n"
                "joints: [{name: hinge, type: revolute, between: [axle, hub], actuator: u}]\n"
                "simulate: {until: 2, tol: 1e-9}\n");
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const char* const schemes[] = {"adaptive", "adaptive-radau5", "radau-iia-3"};
  for (int k = 0; k < 3; k++) {
    saltus_kept_message kept;
    saltus_sim* sim;
    assert_int_equal(saltus_scene_set_input(scene, "u", 1.0), SALTUS_OK);
    const saltus_sim_def def = {.system = view->system,
                                .scheme = schemes[k],
                                .h = k == 2 ? 0.125 : 0.0,
                                .q0 = view->q0,
                                .v0 = view->v0,
                                .changes = view->input_changes,
                                .log = saltus_log_keep(&kept)};
    if (saltus_sim_create(&def, &sim) != SALTUS_OK) {
      fail_msg("%s: %s", schemes[k], kept.text);
    }
    assert_int_equal(k == 2 ? saltus_sim_run(sim, 8) : saltus_sim_run_until(sim, 1.0), SALTUS_OK);
    assert_near(saltus_sim_q(sim)[2], 0.25, 1e-9);
    assert_int_equal(saltus_scene_set_input(scene, "u", -3.0), SALTUS_OK);
    assert_int_equal(k == 2 ? saltus_sim_run(sim, 16) : saltus_sim_run_until(sim, 2.0), SALTUS_OK);
    assert_near(saltus_sim_q(sim)[2], 0.0, 1e-9);
    assert_near(saltus_sim_v(sim)[2], -1.0, 1e-9);
    saltus_sim_destroy(sim);
  }
  double value;
  assert_int_equal(saltus_scene_input(scene, "u", &value), SALTUS_OK);
  assert_near(value, -3.0, 0.0);
  assert_int_equal(saltus_scene_set_input(scene, "w", 1.0), SALTUS_ERR_NAME);
  assert_int_equal(saltus_scene_set_input(scene, "u", NAN), SALTUS_ERR_RANGE);
  saltus_scene_destroy(scene);
}

/* A progress callback that sets the input at one of its calls; its clock moves on so that every call is made. */
typedef struct pusher {
  saltus_scene* scene;
  int calls, at;
  double t, clock;
} pusher;

static double pusher_clock(void* user) {
  pusher* p = user;
  return p->clock += 1.0;
}

static saltus_status push_at(void* user, double t, double t_end, long long step) {
  (void)t_end;
  (void)step;
  pusher* p = user;
  if (++p->calls == p->at) {
    p->t = t;
    assert_int_equal(saltus_scene_set_input(p->scene, "u", 1.0), SALTUS_OK);
  }
  return SALTUS_OK;
}

/* The torque is there from the time on that the callback was told: rate (2 - t)/2. */
static void a_progress_callback_sets_an_input_for_the_next_step(void** state) {
  (void)state;
  saltus_scene* scene =
      open_text("saltus: 1\n"
                "world: {gravity: [0, 0]}\n"
                "inputs: {u: 0}\n"
                "bodies: {wheel: {mass: 1, inertia: 2, angular_velocity: 3}}\n"
                "markers: {hub: {body: wheel}, axle: {point: [0, 0]}}\n"
                "joints: [{name: hinge, type: revolute, between: [axle, hub], actuator: u}]\n"
                "simulate: {until: 2, tol: 1e-9}\n");
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  static const char* const schemes[] = {"adaptive", "adaptive-radau5", "radau-iia-3"};
  for (int k = 0; k < 12; k++) {
    saltus_kept_message kept;
    saltus_sim* sim;
    pusher p = {.scene = scene, .at = 1 + k / 3};
    assert_int_equal(saltus_scene_set_input(scene, "u", 0.0), SALTUS_OK);
    const saltus_sim_def def = {
        .system = view->system,
        .scheme = schemes[k % 3],
        .h = 0.125,
        .q0 = view->q0,
        .v0 = view->v0,
        .record_dt = 0.01,
        .changes = view->input_changes,
        .progress = {.report = push_at, .user = &p, .interval = 0.5, .clock = pusher_clock},
        .log = saltus_log_keep(&kept)};
    if (saltus_sim_create(&def, &sim) != SALTUS_OK || saltus_sim_run_until(sim, 2.0) != SALTUS_OK) {
      fail_msg("%s: %s", schemes[k % 3], kept.text);
    }
    assert_true(p.calls >= p.at);
    assert_near(saltus_sim_v(sim)[2], 3.0 + (2.0 - p.t) / 2.0, 1e-9);
    saltus_sim_destroy(sim);
  }
  saltus_scene_destroy(scene);
}

/* Forces on coordinates stand beside those at markers. */
static void a_list_has_forces_at_markers_and_on_coordinates(void** state) {
  (void)state;
  saltus_scene* scene = open_text("saltus: 1\n"
                                  "world: {gravity: [0, 0]}\n"
                                  "coordinates: {x: {start: 1, velocity: 2}}\n"
                                  "kinetic: x'^2\n"
                                  "bodies: {block: {mass: 2, inertia: 1}}\n"
                                  "forces:\n"
                                  "  - {coordinate: x, force: -3*x'}\n"
                                  "  - {at: block, force: [4*x, 0]}\n");
  const saltus_system* sys = saltus_scene_get_view(scene)->system;
  double F[4];
  void* scratch = calloc(1, sys->dims.scratch + 1);
  const saltus_point at = {.q = saltus_scene_get_view(scene)->q0,
                           .v = saltus_scene_get_view(scene)->v0,
                           .scratch = scratch};
  sys->ops->force(sys->self, &at, F);
  assert_near(F[0], -6.0, 1e-15);
  assert_near(F[1], 4.0, 1e-15);
  free(scratch);
  saltus_scene_destroy(scene);
}

/* The integrator has gone beyond the present; what lies there is taken back. */
static void an_integrator_notices_an_input(void** state) {
  (void)state;
  saltus_scene* scene = open_text("saltus: 1\n"
                                  "world: {gravity: [0, 0]}\n"
                                  "inputs: {u: 1}\n"
                                  "bodies: {block: {mass: 2, inertia: 1}}\n"
                                  "forces: [{at: block, force: [u, 0]}]\n");
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_integrator_def def = {
      .system = view->system, .q0 = view->q0, .v0 = view->v0, .changes = view->input_changes};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, 1.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  assert_int_equal(saltus_scene_set_input(scene, "u", -3.0), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, 2.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  assert_near(saltus_integrator_q(it)[0], 0.0, 1e-9);
  assert_near(saltus_integrator_v(it)[0], -1.0, 1e-9);
  saltus_integrator_destroy(it);
  saltus_scene_destroy(scene);
}

/* Turned by 90 degrees about z and then, in those axes, about x: its z is x of the body, its x is y, its y is z. */
static void inertia_may_be_in_the_axes_of_a_marker_on_a_marker(void** state) {
  (void)state;
  saltus_scene* scene =
      open_text("saltus: 1\n"
                "world: {dimension: 3}\n"
                "bodies: {a: {mass: 1, inertia: [2, 3, 4], inertia_frame: inner}}\n"
                "markers:\n"
                "  outer: {body: a, orientation: {axis: [0, 0, 1], angle: pi/2}}\n"
                "  inner: {marker: outer, orientation: {axis: [1, 0, 0], angle: pi/2}}\n");
  const saltus_body_place a = saltus_mechanism_body(saltus_scene_get_view(scene)->mechanism, 0);
  const double expected[6] = {4.0, 2.0, 3.0, 0.0, 0.0, 0.0};
  for (int k = 0; k < 6; k++) {
    assert_near(a.inertia[k], expected[k], 1e-14);
  }
  saltus_scene_destroy(scene);
}

/* ---- refusals ---- */

#define HEAD "saltus: 1\nbodies:\n"
#define ARM "  arm: {mass: 1, inertia: 1}\n"
#define SPACE "saltus: 1\nworld: {dimension: 3}\nbodies:\n"
#define MARKERS "markers: {tip: {body: arm, point: [1, 0]}, pin: {point: [0, 0]}}\n"

static const struct {
  const char* text;
  const char* says;
} wrong[] = {
    {HEAD "  arm: {mass: 0, inertia: 1}\n", "s:3:15: body \"arm\": its mass is 0 kg"},
    {HEAD "  arm: {mass: -2, inertia: 1}\n", "s:3:15: body \"arm\": its mass is -2 kg"},
    {HEAD "  arm: {mass: 1, inertia: -1}\n", "s:3:27: body \"arm\": its inertia is -1"},
    {HEAD "  arm: {mass: 1}\n", "s:3:9: body \"arm\" has no inertia"},
    {SPACE "  arm: {mass: 1, inertia: [1, 1, 3]}\n",
     "s:4:18: body \"arm\": its inertia has the principal moments 1, 1, 3"},
    {SPACE "  arm: {mass: 1, inertia: [1, 1]}\n",
     "s:4:18: inertia has 2 numbers, must have 3 or 6"},
    {SPACE "  arm: {mass: 1, inertia: [1, 1, 1], orientation: {quaternion: [0, 0, 0, 0]}}\n",
     "s:4:52: body \"arm\": the quaternion of its orientation is (0, 0, 0, 0)"},
    {SPACE "  arm: {mass: 1, inertia: [1, 1, 1], orientation: {axis: [0, 0, 1]}}\n",
     "orientation has to be one of"},
    {HEAD "  arm: {mass: 1, inertia: 1, orientation: {rpy: [0, 0, 0]}}\n",
     "in the plane an orientation is an angle"},
    {HEAD ARM "markers: {tip: {body: amr}}\n",
     "s:4:23: marker \"tip\": there is no body \"amr\"; did you mean \"arm\"?"},
    {HEAD ARM "markers: {a: {marker: b}, b: {marker: a}}\n", "markers go round in a circle"},
    {HEAD ARM MARKERS "joints: [{name: h, type: revolute, between: [pin, tpi]}]\n",
     "joint \"h\": there is no marker \"tpi\"; did you mean \"tip\"?"},
    {HEAD ARM MARKERS "joints: [{name: h, type: revolute, between: [pin, tip]}]\n",
     "s:5:11: joint \"h\" does not hold at the start: its constraint is 1, allowed is 0.01"},
    {HEAD ARM MARKERS "joints: [{name: h, type: revolut, between: [pin, tip]}]\n",
     "type is \"revolut\"; did you mean \"revolute\"?"},
    {HEAD ARM MARKERS "joints: [{name: h, type: distance, between: [pin, tip]}]\n",
     "joint \"h\" is distance and needs a length"},
    {HEAD ARM MARKERS "joints: [{name: h, type: fixed, between: [pin, tip], damping: 1}]\n",
     "joint \"h\" is fixed and has no angle or position to act on"},
    {HEAD ARM "potential: amr.x\n",
     "s:4:12: potential: unknown name \"amr\"; did you mean \"arm\"?\namr.x\n^"},
    {HEAD ARM "potential: 2*arm.z\n",
     "s:4:14: potential: body \"arm\" has no part \"z\"; it has x, y, angle\n2*arm.z\n  ^"},
    {HEAD ARM "potential: 1 + arm\n", "body \"arm\" is no number; it has the parts x, y, angle"},
    {HEAD ARM "potential: arm.x'\n", "velocities are not allowed here"},
    {HEAD ARM MARKERS "potential: \"dist(tip, pni)\"\n",
     "unknown name \"pni\"; did you mean \"pin\"?"},
    {HEAD ARM MARKERS "potential: \"dist(tip, 2)\"\n", "dist takes the names of two markers"},
    {HEAD ARM "forces: [{at: arm, force: [arm.x'', 0]}]\n", "is an acceleration"},
    {HEAD ARM "forces: [{at: ram, force: [1, 0]}]\n",
     "there is no marker or body \"ram\"; did you mean \"arm\"?"},
    {HEAD ARM MARKERS "forces: [{at: pin, force: [1, 0]}]\n", "a force there moves nothing"},
    {HEAD ARM "coordinates: {s: 0}\nkinetic: s'^2/2 + arm.x'^2\n",
     "bodies bring their kinetic energy themselves"},
    {HEAD ARM "parameters: {arm: 1}\n", "body \"arm\": a parameter has this name"},
    {HEAD "  2arm: {mass: 1, inertia: 1}\n", "does not start with a digit"},
    {HEAD "  arm: {mass: 1, inertia: 1, position: [1, 2, 3]}\n",
     "position has 3 numbers, must have 2"},
    {HEAD "  arm: {mass: arm.x, inertia: 1}\n", "a constant is required"},
    {HEAD ARM "  cam: {driven: {x: arm.x}}\n", "a formula of time is required"},
    {"saltus: 1\ninputs: {u: 0}\nbodies:\n" ARM "  cam: {driven: {x: u}}\n",
     "input \"u\" is not allowed here: what it moves would jump with it"},
    {HEAD
     "  arm: {fixed: true}\n  cam: {driven: {x: t}}\nmarkers: {a: {body: arm}, c: {body: cam}}\n"
     "joints: [{name: slide, type: prismatic, between: [a, c]}]\n",
     "neither \"arm\" nor \"cam\" is free to move"},
    {"saltus: 1\nworld: {dimension: 3}\nbodies:\n  cam: {driven: {rpy: [t, 0.3, 2*t]}}\n"
     "  rod: {mass: 1, inertia: [1, 1, 1], orientation: {rpy: [0, 0.3, 0]}}\n"
     "markers: {c: {body: cam}, r: {body: rod}}\n"
     "joints: [{name: hinge, type: revolute, between: [c, r]}]\noutputs: {a: hinge.angle}\n",
     "joint \"hinge\" has no part \"angle\": its driven body turns by more than one of"},
    {"saltus: 1\ninputs: {u': 0}\nbodies:\n" ARM, "s:2:14: input \"u'\": a name is made of"},
    {"saltus: 1\nmarkers: {a: {point: [0, 0]}}\n", "markers needs bodies; the scene has none"},
    {HEAD ARM "  other: {mass: 1, inertia: 1}\n"
              "markers: {h: {body: arm}, pin: {point: [0, 0]}}\n"
              "joints: [{name: j, type: revolute, between: [pin, h]}]\n"
              "forces: [{at: arm, force: [j.force.x, 0]}]\n",
     "\"j.force.x\" is a result of the motion"},
};

static void what_is_wrong_with_bodies_is_refused_with_its_place(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    counter count = {.calls = 0};
    const saltus_allocator allocator = counting_allocator(&count);
    saltus_kept_message kept;
    saltus_scene* scene;
    const saltus_scene_def def = {
        .path = "s", .text = wrong[i].text, .log = saltus_log_keep(&kept), .allocator = &allocator};
    const saltus_status status = saltus_scene_create(&def, &scene);
    if (status != SALTUS_ERR_INPUT || strstr(kept.text, wrong[i].says) == NULL) {
      fail_msg("status %d, \"%s\" does not say \"%s\"", status, kept.text, wrong[i].says);
    }
    if (strncmp(kept.text, "s:", 2) != 0) {
      fail_msg("\"%s\" has no place", kept.text);
    }
    assert_null(scene);
    assert_int_equal(count.live, 0);
  }
}

/* Memory that runs out anywhere while a scene with bodies is made leaves nothing behind. */
static void a_scene_with_bodies_survives_missing_memory(void** state) {
  (void)state;
  for (int at = 1;; at += 1 + at / 20) {
    counter count = {.fail_at = at};
    const saltus_allocator allocator = counting_allocator(&count);
    saltus_scene* scene;
    const saltus_scene_def def = {.path = "s", .text = plane, .allocator = &allocator};
    const saltus_status status = saltus_scene_create(&def, &scene);
    if (status == SALTUS_OK) {
      saltus_scene_destroy(scene);
      assert_int_equal(count.live, 0);
      assert_true(at > 50);
      return;
    }
    assert_int_equal(status, SALTUS_ERR_MEMORY);
    assert_int_equal(count.live, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formulas_on_bodies_have_exact_derivatives),
      cmocka_unit_test(bounds_read_what_formulas_name),
      cmocka_unit_test(a_tip_hits_the_floor_when_it_should),
      cmocka_unit_test(a_tip_in_space_hits_the_floor_when_it_should),
      cmocka_unit_test(forces_of_joints_are_those_of_closed_forms),
      cmocka_unit_test(joints_on_driven_bodies_hold_at_every_turn),
      cmocka_unit_test(angles_on_driven_bodies_count_turns),
      cmocka_unit_test(angles_count_turns_about_axes_that_tumble),
      cmocka_unit_test(scenes_without_free_bodies_run),
      cmocka_unit_test(full_turns_keep_axes_parallel_in_the_plane),
      cmocka_unit_test(a_chain_in_space_moves_alike_in_implicit_stages_and_to_a_tolerance),
      cmocka_unit_test(an_input_is_seen_from_the_next_step_on),
      cmocka_unit_test(a_progress_callback_sets_an_input_for_the_next_step),
      cmocka_unit_test(an_integrator_notices_an_input),
      cmocka_unit_test(inertia_may_be_in_the_axes_of_a_marker_on_a_marker),
      cmocka_unit_test(a_list_has_forces_at_markers_and_on_coordinates),
      cmocka_unit_test(what_is_wrong_with_bodies_is_refused_with_its_place),
      cmocka_unit_test(a_scene_with_bodies_survives_missing_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
