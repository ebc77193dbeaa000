/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_verify_forgeries.c - recordings that are wrong in one way each, made from fresh runs: the certificate of every one fails
 * in the item that the forgery concerns (docs/theory/certificate.md, 9).
 */
#include "recorded.h"

#include <stdlib.h>

static const char ball[] =
    "saltus: 1\n"
    "coordinates: {y: {start: 1}}\nkinetic: y'^2/2\npotential: 2*y\n"
    "contacts: [{name: floor, gap: y, restitution: 0.5}]\nsimulate: {until: 4}\n";
static const char ball_lively[] =
    "saltus: 1\n"
    "coordinates: {y: {start: 1}}\nkinetic: y'^2/2\npotential: 2*y\n"
    "contacts: [{name: floor, gap: y, restitution: 0.9}]\nsimulate: {until: 5}\n";
static const char ball_above[] =
    "saltus: 1\n"
    "coordinates: {y: {start: 1}}\nkinetic: y'^2/2\npotential: 2*y\n"
    "contacts: [{name: floor, gap: y + 100, restitution: 0.5}]\nsimulate: {until: 4}\n";
static const char block[] =
    "saltus: 1\n"
    "coordinates: {x: {start: 3}, y: {start: 0}}\nkinetic: (x'^2 + y'^2)/2\npotential: 9.81*y\n"
    "forces: {x: 8*cos(t)}\ncontacts: [{name: table, gap: y, slip: x, friction: 0.8}]\n"
    "simulate: {until: 6}\n";
static const char rod[] =
    "saltus: 1\n"
    "inputs: {pull: 1}\nparameters: {at: 0.1}\n"
    "bodies: {rod: {mass: 2, inertia: 1/6, position: [0.5, 0]}}\n"
    "markers: {pin: {point: [0, 0]}, top: {body: rod, point: [-0.5, 0]}}\n"
    "joints: [{name: bearing, type: revolute, between: [pin, top], damping: 0.02,"
    " actuator: 3*pull}]\n"
    "events: {down: {formula: bearing.angle + at, direction: falling, set: {pull: 0}}}\n"
    "outputs: {swing: bearing.angle, force: bearing.force.x}\nsimulate: {until: 1}\n";
static const char rod_later[] =
    "saltus: 1\n"
    "inputs: {pull: 1}\nparameters: {at: 0.5}\n"
    "bodies: {rod: {mass: 2, inertia: 1/6, position: [0.5, 0]}}\n"
    "markers: {pin: {point: [0, 0]}, top: {body: rod, point: [-0.5, 0]}}\n"
    "joints: [{name: bearing, type: revolute, between: [pin, top], damping: 0.02,"
    " actuator: 3*pull}]\n"
    "events: {down: {formula: bearing.angle + at, direction: falling, set: {pull: 0}}}\n"
    "outputs: {swing: bearing.angle, force: bearing.force.x}\nsimulate: {until: 1}\n";
static const char drop[] =
    "saltus: 1\n"
    "world: {dimension: 3, shapes: [{half-space: {}, position: [0, 0, 0]}]}\n"
    "materials: {default: {friction: 0.3, restitution: 0.5}}\n"
    "bodies: {ball: {mass: 1, inertia: [4e-3, 4e-3, 4e-3], shapes: [{sphere: {radius: 0.1}}],"
    " position: [0, 0, 1], velocity: [1, 0, 0]}}\nsimulate: {until: 1}\n";
static const char drop_below[] =
    "saltus: 1\n"
    "world: {dimension: 3, shapes: [{half-space: {}, position: [0, 0, -10]}]}\n"
    "materials: {default: {friction: 0.3, restitution: 0.5}}\n"
    "bodies: {ball: {mass: 1, inertia: [4e-3, 4e-3, 4e-3], shapes: [{sphere: {radius: 0.1}}],"
    " position: [0, 0, 1], velocity: [1, 0, 0]}}\nsimulate: {until: 1}\n";
static const char plate[] =
    "saltus: 1\n"
    "world: {dimension: 2, gravity: [0, 0],"
    " shapes: [{polygon: {points: [[1.05, -1], [1.06, -1], [1.06, 1], [1.05, 1]]}}]}\n"
    "materials: {default: {restitution: 0.5}}\n"
    "bodies: {b: {density: 1000, position: [0, 0], velocity: [100, 0],"
    " shapes: [{circle: {radius: 0.005}}]}}\nsimulate: {until: 0.02}\n";
static const char plate_away[] =
    "saltus: 1\n"
    "world: {dimension: 2, gravity: [0, 0],"
    " shapes: [{polygon: {points: [[1.05, 11], [1.06, 11], [1.06, 13], [1.05, 13]]}}]}\n"
    "materials: {default: {restitution: 0.5}}\n"
    "bodies: {b: {density: 1000, position: [0, 0], velocity: [100, 0],"
    " shapes: [{circle: {radius: 0.005}}]}}\nsimulate: {until: 0.02}\n";
static const char post[] =
    "saltus: 1\n"
    "coordinates: {x: {start: 0, velocity: 100}}\nkinetic: x'^2/2\n"
    "contacts: [{name: post, gap: \"(x - 1.053)^2 - 0.001^2\", restitution: 0.5}]\n"
    "simulate: {until: 0.2}\n";

/* A rod on a pin that hits a wall: impulses of its bearing. */
static const char knock[] =
    "saltus: 1\n"
    "world: {dimension: 2, shapes: [{half-plane: {}, position: [0, -0.4]}]}\n"
    "materials: {default: {restitution: 0.5}}\n"
    "bodies: {rod: {mass: 2, inertia: 1/6, position: [0.5, 0],"
    " shapes: [{circle: {radius: 0.05}, position: [0.5, 0]}]}}\n"
    "markers: {pin: {point: [0, 0]}, top: {body: rod, point: [-0.5, 0]}}\n"
    "joints: [{name: bearing, type: revolute, between: [pin, top]}]\nsimulate: {until: 0.6}\n";
/* A driven pinion with backlash: the drive works against impulses of an accumulation. */
static const char rattle[] =
    "saltus: 1\n"
    "world: {dimension: 2, gravity: [0, 0]}\n"
    "bodies: {pinion: {mass: 0.2, inertia: 1e-4},"
    " gear: {mass: 0.5, inertia: 1e-3, position: [0.09, 0]}}\n"
    "markers: {a: {}, a1: {body: pinion}, b0: {point: [0.09, 0]}, b1: {body: gear}}\n"
    "joints:\n"
    "  - {name: p, type: revolute, between: [a, a1], drive: {speed: \"100 + 10*sin(200*t)\"}}\n"
    "  - {name: g, type: revolute, between: [b0, b1], damping: 1e-4, actuator: 0.5}\n"
    "elements: [{name: mesh, type: gear-pair, between: [p, g], radii: [0.03, 0.06],"
    " backlash: 2e-4, restitution: 0.3}]\nsimulate: {until: 0.06}\n";

/* ---- what forgers do ---------------------------------------------------------------------------------- */

/* Keeps the frames that are marked, in all columns of a fixed set. */
static void keep(saltus_recording_data* d, const bool* kept) {
  const struct {
    double* values;
    int width;
  } columns[] = {
      {d->t, 1},
      {d->q, d->nq},
      {d->v, d->nv},
      {d->outputs, d->output_count},
      {d->gap, d->nc},
      {d->velocity, d->nc},
      {d->force, 3 * d->nc},
      {d->impulse, 3 * d->nc},
      {d->joint_force, d->nj},
      {d->kinetic, 1},
      {d->potential, 1},
      {d->friction_work, d->nc},
      {d->impact_work, d->nc},
      {d->energy_external, 1},
      {d->energy_friction, 1},
      {d->energy_impact, 1},
      {d->energy_remainder, 1},
      {d->energy_created, 1},
      {d->energy_drive, 1},
      {d->residual_velocity, 1},
      {d->residual_impulse, 1},
      {d->penetration, 1},
      {d->h, 1},
      {d->error, 1},
      {d->error_order, 1},
      {d->rejections, 1},
  };
  long long count = 0;
  for (long long i = 0; i < d->count; i++) {
    for (size_t k = 0; kept[i] && k < sizeof columns / sizeof columns[0]; k++) {
      size_t width = (size_t)columns[k].width;
      if (columns[k].values != NULL && width > 0) {
        memmove(columns[k].values + (size_t)count * width, columns[k].values + (size_t)i * width,
                width * sizeof(double));
      }
    }
    d->step[count] = d->step[i];
    count += kept[i];
  }
  d->count = count;
}

static void keep_events(saltus_recording_data* d, bool (*wanted)(const saltus_event* e)) {
  long long count = 0;
  for (long long i = 0; i < d->event_count; i++) {
    if (wanted(&d->events[i])) {
      d->events[count++] = d->events[i];
    }
  }
  d->event_count = count;
}

static void claim_huge_tolerance(saltus_recording_data* d) {
  d->options = "rtol=1e9 atol=1e9";
  for (long long i = 1; i < d->count; i++) {
    double shift = 0.3 * sin(3.0 * d->t[i]);
    d->q[i] += shift;
    d->gap[i] += shift;
    d->potential[i] += 2.0 * shift;
    d->energy_remainder[i] += 2.0 * shift;
  }
}

static void remove_fingerprint(saltus_recording_data* d) {
  d->scene_sha256 = "";
}

static bool is_impact(const saltus_event* e) {
  return e->kind == SALTUS_EVENT_IMPACT;
}

static void remove_other_events(saltus_recording_data* d) {
  keep_events(d, is_impact);
}

/* The first impact, with both of its frames. */
static void remove_impact(saltus_recording_data* d) {
  bool* kept = calloc((size_t)d->count, sizeof *kept);
  assert_non_null(kept);
  double t = d->events[0].t;
  for (long long i = 0; i < d->count; i++) {
    kept[i] = d->t[i] != t;
  }
  keep(d, kept);
  memmove(d->events, d->events + 1, (size_t)(d->event_count - 1) * sizeof *d->events);
  d->event_count--;
  free(kept);
}

static void remove_half_of_the_frames(saltus_recording_data* d) {
  bool* kept = calloc((size_t)d->count, sizeof *kept);
  assert_non_null(kept);
  for (long long i = 0; i < d->count; i++) {
    bool jumps = (i > 0 && d->t[i] == d->t[i - 1]) || (i + 1 < d->count && d->t[i] == d->t[i + 1]);
    kept[i] = jumps || i == 0 || i + 1 == d->count || i % 5 < 2;
  }
  keep(d, kept);
  free(kept);
}

/* The second half of the run; its number of steps is changed, too. */
static void cut_the_end(saltus_recording_data* d) {
  long long k = d->count / 2;
  while (d->step[k - 1] == d->step[k]) {
    k--;
  }
  d->count = k;
  d->steps = d->step[k - 1];
  long long events = 0;
  while (events < d->event_count && d->events[events].t <= d->t[k - 1]) {
    events++;
  }
  d->event_count = events;
}

static void cut_the_beginning(saltus_recording_data* d) {
  bool* kept = calloc((size_t)d->count, sizeof *kept);
  assert_non_null(kept);
  long long k = d->count / 2;
  while (d->step[k - 1] == d->step[k]) {
    k--;
  }
  for (long long i = k - 1; i < d->count; i++) {
    kept[i] = true;
  }
  double t = d->t[k - 1];
  keep(d, kept);
  long long first = 0;
  while (first < d->event_count && d->events[first].t <= t) {
    first++;
  }
  d->event_count -= first;
  memmove(d->events, d->events + first, (size_t)d->event_count * sizeof *d->events);
  free(kept);
}

static void fill(double* x, long long count, double value) {
  for (long long i = 0; i < count; i++) {
    x[i] = value;
  }
}

static void forget_gaps(saltus_recording_data* d) {
  fill(d->gap, d->count * d->nc, NAN);
}

static void forget_kinetic(saltus_recording_data* d) {
  fill(d->kinetic, d->count, NAN);
}

static void forget_steps(saltus_recording_data* d) {
  fill(d->h, d->count, NAN);
}

/* A frame in the place of the one behind it. */
static void repeat_a_frame(saltus_recording_data* d) {
  long long i = 1;
  while (d->t[i + 1] == d->t[i] || d->t[i] == d->t[i - 1]) {
    i++;
  }
  d->t[i + 1] = d->t[i];
  d->step[i + 1] = d->step[i];
  memcpy(d->q + (i + 1) * d->nq, d->q + i * d->nq, (size_t)d->nq * sizeof(double));
  memcpy(d->v + (i + 1) * d->nv, d->v + i * d->nv, (size_t)d->nv * sizeof(double));
}

static void renumber_steps(saltus_recording_data* d) {
  for (long long i = 0; i < d->count; i++) {
    d->step[i] *= 2;
  }
  d->steps *= 2;
}

/* Every event that is no impact becomes a remark on one that stands at its place: there are enough of them in an accumulation. */
static void excuse_impacts(saltus_recording_data* d, saltus_event_kind kind) {
  saltus_event* list = calloc((size_t)(2 * d->event_count), sizeof *list);
  assert_non_null(list);
  long long count = 0;
  for (long long i = 0; i < d->event_count; i++) {
    list[count++] = d->events[i];
    if (is_impact(&d->events[i])) {
      list[count] = d->events[i];
      list[count].kind = kind;
      memset(list[count++].impulse, 0, sizeof list->impulse);
    }
  }
  long long most = d->event_count; /* of the array */
  d->event_count = count < most ? count : most;
  memcpy(d->events, list, (size_t)d->event_count * sizeof *list);
  free(list);
}

static void excuse_by_law(saltus_recording_data* d) {
  excuse_impacts(d, SALTUS_EVENT_LAW_REPLACED);
}

static void excuse_by_paradox(saltus_recording_data* d) {
  excuse_impacts(d, SALTUS_EVENT_PAINLEVE);
}

/* The first impact as two, the second in the place of the event behind it. */
static void split_impact(saltus_recording_data* d) {
  saltus_event* e = d->events;
  assert_true(d->event_count > 1 && is_impact(e));
  for (int k = 0; k < 3; k++) {
    e->impulse[k] *= 0.5;
  }
  double middle = 0.5 * (e->u_before + e->u_after);
  e[1] = e[0];
  e[0].u_after = e[1].u_before = middle;
  for (int k = 0; k < 2; k++) {
    e[k].energy_change = saltus_event_work(&e[k]);
  }
}

static void alter_outputs(saltus_recording_data* d) {
  for (long long i = 0; i < d->count; i++) {
    d->outputs[i * d->output_count] += 1e-6;
  }
}

static void alter_force_outputs(saltus_recording_data* d) {
  for (long long i = 0; i < d->count; i++) {
    d->outputs[i * d->output_count + 1] *= 1.01;
  }
}

static void triple_joint_forces(saltus_recording_data* d) {
  for (long long i = 0; i < d->count * d->nj; i++) {
    d->joint_force[i] *= 3.0;
  }
}

static void triple_joint_impulses(saltus_recording_data* d) {
  for (long long i = 0; i < d->count * d->nj; i++) {
    d->joint_impulse[i] *= 1.01;
  }
}

static void alter_joint_forces(saltus_recording_data* d) {
  for (long long i = 0; i < d->count * d->nj; i++) {
    d->joint_force[i] *= 1.1;
  }
}

static void move_points(saltus_recording_data* d) {
  for (long long i = 0; i < 3 * d->table.count; i++) {
    d->table.point[i] += 1e-6;
  }
}

static void turn_normals(saltus_recording_data* d) {
  for (long long i = 0; i < 3 * d->table.count; i++) {
    d->table.normal[i] *= -1.0;
  }
}

static void rename_bodies(saltus_recording_data* d) {
  for (long long i = 0; i < 2 * d->table.count; i++) {
    d->table.bodies[i] += 1;
  }
}

static void create_energy(saltus_recording_data* d) {
  fill(d->energy_created + d->count / 2, d->count - d->count / 2, 1e-3);
}

static void move_drive_work(saltus_recording_data* d) {
  for (long long i = 0; i < d->count; i++) {
    d->energy_external[i] += 0.1 * d->energy_drive[i];
    d->energy_drive[i] *= 0.9;
  }
}

/* Friction beyond its cone by a millionth, which the residuals do not declare. */
static void exceed_cone(saltus_recording_data* d) {
  for (long long i = 0; i < d->count * d->nc; i++) {
    d->force[3 * i + 1] *= 1.000001;
    d->impulse[3 * i + 1] *= 1.000001;
  }
}

static void praise_residuals(saltus_recording_data* d) {
  fill(d->residual_velocity, d->count, -1.0);
}

static void flatter_control(saltus_recording_data* d) {
  fill(d->error, d->count, 0.0);
  fill(d->penetration, d->count, 0.0);
  fill(d->residual_velocity, d->count, 0.0);
  fill(d->rejections, d->count, 0.0);
}

static void alter_works(saltus_recording_data* d) {
  fill(d->friction_work, d->count * d->nc, -5.0);
}

/* Friction and impacts change places, in the ledger and contact by contact. */
static void swap_works(saltus_recording_data* d) {
  double* pairs[][2] = {{d->energy_friction, d->energy_impact}, {d->friction_work, d->impact_work}};
  for (int k = 0; k < 2; k++) {
    for (long long i = 0; i < d->count * (k == 0 ? 1 : d->nc); i++) {
      double x = pairs[k][0][i];
      pairs[k][0][i] = pairs[k][1][i];
      pairs[k][1][i] = x;
    }
  }
}

static void move_external_work(saltus_recording_data* d) {
  for (long long i = 0; i < d->count; i++) {
    d->energy_drive[i] += d->energy_external[i];
    d->energy_external[i] = 0.0;
  }
}

static void alter_event_velocities(saltus_recording_data* d) {
  for (long long i = 0; i < d->event_count; i++) {
    saltus_event* e = &d->events[i];
    if (is_impact(e)) {
      e->u_before *= 3.0;
      e->u_after *= 3.0;
      e->energy_change = saltus_event_work(e);
    }
  }
}

static void rename_slip(saltus_recording_data* d) {
  for (long long i = 0; i < d->event_count; i++) {
    saltus_event* e = &d->events[i];
    e->kind = e->kind == SALTUS_EVENT_SLIP ? SALTUS_EVENT_STICK : e->kind;
  }
}

static bool is_stick(const saltus_event* e) {
  return e->kind != SALTUS_EVENT_STICK;
}

static void remove_sticks(saltus_recording_data* d) {
  keep_events(d, is_stick);
}

/* A ball in the air, by a scheme that takes velocities from differences of positions. */
static void hover(saltus_recording_data* d) {
  for (long long i = 0; i < d->count; i++) {
    double t = d->t[i];
    double y = 1.0 + 0.5 * t * sin(7.0 * t);
    double v = 0.5 * sin(7.0 * t) + 3.5 * t * cos(7.0 * t);
    d->q[i] = d->gap[i] = y;
    d->v[i] = d->velocity[i] = v;
    d->kinetic[i] = 0.5 * v * v;
    d->potential[i] = 2.0 * y;
    d->energy_impact[i] = d->impact_work[i] = 0.0;
    d->energy_remainder[i] = 0.5 * v * v + 2.0 * y - 2.0;
  }
  fill(d->force, 3 * d->count, 0.0);
  fill(d->impulse, 3 * d->count, 0.0);
  d->event_count = 0;
}

static void nothing(saltus_recording_data* d) {
  (void)d;
}

static void praise(saltus_recording_data* d) {
  d->explanation = "Every error is below 1e-15.";
  d->accuracy = "error=1e-15";
  d->version = "99.9";
}

/* ---- and who finds it --------------------------------------------------------------------------------- */

static const way adaptive = {.scheme = "adaptive", .tol = 1e-6};
static const way finer = {.scheme = "adaptive", .tol = 1e-8};

static const struct {
  const char* name;
  const char *run,
      *judge; /* scene of the run, and the one that it is given out as; NULL: the same */
  const way* how;
  const char* scheme; /* of a run with steps of 1 ms instead */
  void (*forge)(saltus_recording_data* d);
  saltus_verify_item item;
} forgeries[] = {
    {"huge tolerance", ball, NULL, &adaptive, NULL, claim_huge_tolerance, SALTUS_VERIFY_POSITIONS},
    {"fingerprint", ball, NULL, &adaptive, NULL, remove_fingerprint, SALTUS_VERIFY_PROVENANCE},
    {"events", ball, NULL, &adaptive, NULL, remove_other_events, SALTUS_VERIFY_EVENT_KINDS},
    {"impact", ball, NULL, &adaptive, NULL, remove_impact, SALTUS_VERIFY_WORKS},
    {"frames", block, NULL, &adaptive, NULL, remove_half_of_the_frames, SALTUS_VERIFY_FORCES},
    {"end", block, NULL, &adaptive, NULL, cut_the_end, SALTUS_VERIFY_TIME},
    {"beginning", block, NULL, &adaptive, NULL, cut_the_beginning, SALTUS_VERIFY_WORKS},
    {"gaps", ball, NULL, &adaptive, NULL, forget_gaps, SALTUS_VERIFY_VALUES},
    {"kinetic energy", ball, NULL, &adaptive, NULL, forget_kinetic, SALTUS_VERIFY_VALUES},
    {"lengths of steps", ball, NULL, &adaptive, NULL, forget_steps, SALTUS_VERIFY_TIME},
    {"repeated frame", block, NULL, &adaptive, NULL, repeat_a_frame, SALTUS_VERIFY_TIME},
    {"numbers of steps", block, NULL, &adaptive, NULL, renumber_steps, SALTUS_VERIFY_TIME},
    {"through the floor", ball_above, ball, &adaptive, NULL, nothing, SALTUS_VERIFY_CONTACTS},
    {"without gaps", ball_above, ball, &adaptive, NULL, forget_gaps, SALTUS_VERIFY_CONTACTS},
    {"shapes, frames", drop_below, drop, &adaptive, NULL, nothing, SALTUS_VERIFY_PENETRATION},
    {"shapes", drop_below, drop, &adaptive, NULL, nothing, SALTUS_VERIFY_CONTACTS},
    {"plate between frames", plate_away, plate, &finer, NULL, nothing, SALTUS_VERIFY_CONTACTS},
    {"plate, fixed steps", plate, NULL, NULL, "variational", nothing, SALTUS_VERIFY_CONTACTS},
    {"post, fixed steps", post, NULL, NULL, "variational", nothing, SALTUS_VERIFY_CONTACTS},
    {"switch", rod_later, rod, &finer, NULL, nothing, SALTUS_VERIFY_EVENT_KINDS},
    {"law replaced", ball_lively, ball, &adaptive, NULL, excuse_by_law, SALTUS_VERIFY_IMPACT_LAW},
    {"paradox", ball_lively, ball, &adaptive, NULL, excuse_by_paradox, SALTUS_VERIFY_IMPACT_LAW},
    {"split impact", ball_lively, ball, &adaptive, NULL, split_impact, SALTUS_VERIFY_IMPACT_LAW},
    {"hovering", ball, NULL, NULL, "schatzman-paoli", hover, SALTUS_VERIFY_MOMENTUM},
    {"outputs", rod, NULL, &finer, NULL, alter_outputs, SALTUS_VERIFY_OUTPUTS},
    {"outputs of forces", rod, NULL, &finer, NULL, alter_force_outputs, SALTUS_VERIFY_OUTPUTS},
    {"joint forces", rod, NULL, &finer, NULL, triple_joint_forces, SALTUS_VERIFY_JOINT_FORCES},
    {"control", rod, NULL, &finer, NULL, flatter_control, SALTUS_VERIFY_CONTROL},
    {"joint forces, fixed steps", rod, NULL, NULL, "moreau-jean", alter_joint_forces,
     SALTUS_VERIFY_JOINT_FORCES},
    {"joint forces, rk4", rod, NULL, NULL, "rk4", alter_joint_forces, SALTUS_VERIFY_JOINT_FORCES},
    {"joint impulses", knock, NULL, &finer, NULL, triple_joint_impulses,
     SALTUS_VERIFY_JOINT_FORCES},
    {"joint impulses, fixed steps", knock, NULL, NULL, "moreau-jean", triple_joint_impulses,
     SALTUS_VERIFY_JOINT_FORCES},
    {"points", drop, NULL, &adaptive, NULL, move_points, SALTUS_VERIFY_VALUES},
    {"normals", drop, NULL, &adaptive, NULL, turn_normals, SALTUS_VERIFY_VALUES},
    {"bodies", drop, NULL, NULL, "moreau-jean", rename_bodies, SALTUS_VERIFY_VALUES},
    {"created energy", block, NULL, NULL, "moreau-jean", create_energy, SALTUS_VERIFY_WORKS},
    {"created energy, adaptive", ball, NULL, &adaptive, NULL, create_energy, SALTUS_VERIFY_WORKS},
    {"external, fixed steps", block, NULL, NULL, "moreau-jean", move_external_work,
     SALTUS_VERIFY_WORKS},
    {"drive", rattle, NULL, &adaptive, NULL, move_drive_work, SALTUS_VERIFY_WORKS},
    {"drive, fixed steps", rattle, NULL, NULL, "moreau-jean", move_drive_work, SALTUS_VERIFY_WORKS},
    {"cone", block, NULL, NULL, "moreau-jean", exceed_cone, SALTUS_VERIFY_CONTROL},
    {"residuals", block, NULL, NULL, "moreau-jean", praise_residuals, SALTUS_VERIFY_CONTROL},
    {"works of contacts, fixed steps", block, NULL, NULL, "moreau-jean", alter_works,
     SALTUS_VERIFY_WORKS},
    {"works of contacts", block, NULL, &adaptive, NULL, alter_works, SALTUS_VERIFY_WORKS},
    {"friction for impacts", block, NULL, &adaptive, NULL, swap_works, SALTUS_VERIFY_WORKS},
    {"external for drive", block, NULL, &adaptive, NULL, move_external_work, SALTUS_VERIFY_WORKS},
    {"event velocities", ball, NULL, &adaptive, NULL, alter_event_velocities,
     SALTUS_VERIFY_EVENT_VALUES},
    {"slip as stick", block, NULL, &adaptive, NULL, rename_slip, SALTUS_VERIFY_EVENT_KINDS},
    {"no sticks", block, NULL, &adaptive, NULL, remove_sticks, SALTUS_VERIFY_EVENT_KINDS},
};

/* Runs, reads, and claims the scene `judge`, fingerprint included. */
static recorded run_of(const char* run, const way* how, const char* scheme) {
  return record_text(run, how != NULL ? *how : (way){.scheme = scheme, .step = 1e-3});
}

static void forgeries_are_found(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
    recorded r = run_of(forgeries[i].run, forgeries[i].how, forgeries[i].scheme);
    saltus_certificate c = verify(&r, saltus_scene_get_view(r.scene));
    bool missed = strcmp(forgeries[i].run, plate) == 0 || strcmp(forgeries[i].run, post) == 0;
    say_failures(&c, forgeries[i].name);
    assert_int_equal(c.passed, !missed); /* right runs pass; those that tunnel are no forgeries */
    forgeries[i].forge(r.data);
    saltus_scene* judge =
        scene_of(forgeries[i].judge != NULL ? forgeries[i].judge : forgeries[i].run);
    c = verify(&r, saltus_scene_get_view(judge));
    if (c.passed || c.items[forgeries[i].item].passed) {
      say_failures(&c, forgeries[i].name);
      fail_msg("%s: was not found by %s", forgeries[i].name, c.items[forgeries[i].item].name);
    }
    assert_true(c.granted[0] <= SALTUS_VERIFY_LARGEST_TOLERANCE);
    saltus_scene_destroy(judge);
    forget(&r);
  }
}

/* Texts about a run are not compared: they claim nothing that the certificate relies on. */
static void texts_are_not_covered(void** state) {
  (void)state;
  recorded r = record_text(ball, adaptive);
  praise(r.data);
  assert_true(verify(&r, saltus_scene_get_view(r.scene)).passed);
  forget(&r);
}

/* Of a right run: no contact can have been missed nearly all the time, and what was claimed is granted. */
static void right_runs_say_what_is_excluded(void** state) {
  (void)state;
  static const char* const scenes[] = {ball, block, rod, drop, rattle};
  for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
    recorded r = record_text(scenes[i], finer);
    saltus_certificate c = verify(&r, saltus_scene_get_view(r.scene));
    say_failures(&c, "right run");
    assert_true(c.passed && c.complete);
    assert_true(c.clear > 0.99 * c.span);
    assert_true(c.claimed[0] == 1e-8 && c.granted[0] == 1e-8);
    forget(&r);
  }
}

/* Double pendulum with Poisson's law, and a ball that hits the floor at the start: schemes with fixed steps record the
 * impulses of joints at impacts, and book an impact at the start once. */
static void right_runs_with_fixed_steps_pass(void** state) {
  (void)state;
  static const char two_rods[] =
      "saltus: 1\n"
      "coordinates: {x: {start: sin(0.5)}, y: {start: -cos(0.5)},"
      " u: {start: sin(0.5) + sin(1)}, w: {start: -cos(0.5) - cos(1)}}\n"
      "kinetic: (x'^2 + y'^2 + u'^2 + w'^2)/2\npotential: 9.81*(y + w)\n"
      "joints: [{name: upper, constraint: x^2 + y^2 - 1},"
      " {name: lower, constraint: (u - x)^2 + (w - y)^2 - 1}]\n"
      "contacts: [{name: wall, gap: x, restitution: 0.5, impact: poisson}]\n"
      "simulate: {until: 1}\n";
  static const char falling[] =
      "saltus: 1\n"
      "coordinates: {y: {start: 0, velocity: -1}}\nkinetic: y'^2/2\npotential: 2*y\n"
      "contacts: [{name: floor, gap: y, restitution: 0.5}]\nsimulate: {until: 0.2}\n";
  static const struct {
    const char *scene, *scheme;
  } runs[] = {{two_rods, "moreau-jean"}, {two_rods, "variational"}, {two_rods, "rattle"},
              {two_rods, "dopri5"},      {falling, "dg-minus"},     {falling, "moreau-jean"},
              {rattle, "moreau-jean"},   {rattle, "variational"}};
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    recorded r = record_text(runs[i].scene, (way){.scheme = runs[i].scheme, .step = 1e-3});
    saltus_certificate c = verify(&r, saltus_scene_get_view(r.scene));
    say_failures(&c, runs[i].scheme);
    assert_true(c.passed);
    forget(&r);
  }
}

/* The ball hits the floor at 1, 2, 2.5 s: the last frame is in front of an impact. */
static void a_run_may_end_at_an_impact(void** state) {
  (void)state;
  static const double ends[] = {1.0, 2.0, 2.5};
  for (int i = 0; i < 3; i++) {
    recorded r = record_text(ball, (way){.scheme = "adaptive", .tol = 1e-6, .until = ends[i]});
    saltus_certificate c = verify(&r, saltus_scene_get_view(r.scene));
    say_failures(&c, "end at an impact");
    assert_true(c.passed && c.complete);
    forget(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forgeries_are_found),
      cmocka_unit_test(texts_are_not_covered),
      cmocka_unit_test(right_runs_say_what_is_excluded),
      cmocka_unit_test(a_run_may_end_at_an_impact),
      cmocka_unit_test(right_runs_with_fixed_steps_pass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
