/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * design.c - quantities of design.h. Forces are means between recorded states without impacts, so
 * peaks are those of such means. Impulses, works and times are exact.
 */
#include "design.h"

#include "cli.h"
#include "output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double turn = 6.283185307179586;

static double angle_of(const cli_design* d, int joint, const saltus_frame* frame) {
  const saltus_mechanism* m = d->view->mechanism;
  const saltus_dims* own = &saltus_mechanism_system(m)->dims;
  const saltus_dims* all = &d->view->bodies->dims;
  const bool given = d->view->flexible == NULL && d->view->tree == NULL;
  const double* v =
      given ? frame->v + (all->nv - own->nv) : saltus_mechanism_v0(m); /* not of the angle */
  const saltus_joint_motion motion =
      saltus_mechanism_joint_motion(m, joint, frame->t, frame->q + (all->nq - own->nq), v);
  return motion.angle;
}

/* The size of the force, or of the impulse, of a joint from those of all rows, and of its torque. */
static double load_of(const saltus_mechanism* m, int joint, double t, const double* q,
                      const double* rows, double* moment) {
  double force[3], torque[3];
  const saltus_joint_place place = saltus_mechanism_joint(m, joint);
  saltus_mechanism_joint_load(m, joint, t, q, rows + place.row, force, torque);
  *moment = sqrt(torque[0] * torque[0] + torque[1] * torque[1] + torque[2] * torque[2]);
  return sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]);
}

static void see_joints(cli_design* d, const saltus_frame* frame, double dt) {
  const saltus_mechanism* m = d->view->mechanism;
  const double* q =
      frame->q + (m != NULL ? d->view->system->dims.nq - saltus_mechanism_system(m)->dims.nq : 0);
  for (int i = 0; i < d->joint_count; i++) {
    cli_joint_answer* a = &d->joints[i];
    double torque = 0.0;
    a->angle = angle_of(d, i, frame);
    if (!d->begun) {
      a->start = a->angle;
    }
    if (frame->joint_impulses != NULL) {
      a->struck = fmax(a->struck, load_of(m, i, frame->t, q, frame->joint_impulses, &torque));
    }
    if (frame->joint_forces == NULL || !(dt > 0.0)) {
      continue;
    }
    const double size = load_of(m, i, frame->t, q, frame->joint_forces, &torque);
    a->sum += size * dt;
    a->turned += torque * dt;
    a->torque = fmax(a->torque, torque);
    if (size > a->peak) {
      a->peak = size;
      a->peak_at = frame->t;
    }
  }
}

static saltus_status see_frame(void* user, const saltus_frame* frame) {
  cli_design* d = user;
  const double dt = d->begun ? frame->t - d->t : 0.0;
  d->begin = d->begun ? d->begin : frame->t;
  see_joints(d, frame, dt);
  for (int i = 0; i < d->contact_count && i < frame->contact_count; i++) {
    const saltus_contact_frame* c = &frame->contacts[i];
    cli_contact_answer* a = &d->contacts[i];
    a->friction = c->friction;
    a->impact = c->impact;
    a->away = fmax(a->away, c->gap);
    if (dt > 0.0) {
      a->carried += c->force[0] * dt;
      a->peak = fmax(a->peak, c->force[0]);
      a->closed += c->force[0] > 0.0 ? dt : 0.0;
    }
  }
  d->begun = true;
  d->t = frame->t;
  return SALTUS_OK;
}

static saltus_status see_event(void* user, const saltus_event* event) {
  cli_design* d = user;
  if (saltus_event_is_user_defined(event->kind) &&
      (event->contact < 0 || event->contact >= d->event_count)) {
    return SALTUS_OK; /* of a recording: the scene has no such event */
  }
  if (saltus_event_is_user_defined(event->kind)) {
    cli_event_answer* a = &d->events[event->contact];
    a->first = a->count++ == 0 ? event->t : a->first;
    a->last = event->t;
  } else if (event->kind == SALTUS_EVENT_IMPACT && event->contact >= 0 &&
             event->contact < d->contact_count) {
    cli_contact_answer* a = &d->contacts[event->contact];
    a->rebound = a->impacts > 0 ? fmax(a->rebound, a->away) : 0.0;
    a->away = 0.0;
    a->first = a->impacts++ == 0 ? event->t : a->first;
    a->last = event->t;
    a->impulse += event->impulse[0];
    a->largest = fmax(a->largest, event->impulse[0]);
  }
  return SALTUS_OK;
}

bool cli_design_start(cli_design* d, const saltus_scene_view* view) {
  const bool changing = (view->system->traits & SALTUS_CHANGING_CONTACTS) != 0;
  d->view = view;
  d->contact_count = changing ? 0 : view->system->dims.nc;
  d->joint_count = view->mechanism != NULL && view->tree == NULL /* which has no rows of joints */
                       ? saltus_mechanism_sizes(view->mechanism).joints
                       : 0;
  d->event_count = view->observables != NULL ? view->observables->event_count : 0;
  d->contacts = calloc((size_t)d->contact_count + 1, sizeof *d->contacts);
  d->joints = calloc((size_t)d->joint_count + 1, sizeof *d->joints);
  d->events = calloc((size_t)d->event_count + 1, sizeof *d->events);
  for (int i = 0; d->joints != NULL && i < d->joint_count; i++) {
    d->joints[i].peak = -1.0;
  }
  return d->contacts != NULL && d->joints != NULL && d->events != NULL;
}

saltus_recorder cli_design_recorder(cli_design* d) {
  return (saltus_recorder){.frame = see_frame, .event = see_event, .user = d};
}

void cli_design_free(cli_design* d) {
  free(d->contacts);
  free(d->joints);
  free(d->events);
}

void cli_design_replay(cli_design* d, const saltus_recording_data* data) {
  saltus_contact_frame* contacts = calloc((size_t)data->nc + 1, sizeof *contacts);
  long long next = 0;
  for (long long k = 0; k < data->count && contacts != NULL; k++) {
    const size_t row = (size_t)k * (size_t)data->nc;
    while (next < data->event_count && data->events[next].t <= data->t[k]) {
      see_event(d, &data->events[next++]);
    }
    for (int i = 0; i < data->nc; i++) {
      contacts[i] = (saltus_contact_frame){.gap = data->gap[row + (size_t)i]};
      contacts[i].force[0] = data->force[3 * (row + (size_t)i)];
      if (data->friction_work != NULL) {
        contacts[i].friction = data->friction_work[row + (size_t)i];
        contacts[i].impact = data->impact_work[row + (size_t)i];
      }
    }
    const saltus_frame frame = {
        .t = data->t[k],
        .q = data->q + (size_t)k * (size_t)data->nq,
        .v = data->v + (size_t)k * (size_t)data->nv,
        .contacts = contacts,
        .contact_count = data->nc,
        .joint_forces = data->nj > 0 ? data->joint_force + (size_t)k * (size_t)data->nj : NULL,
        .joint_impulses = data->joint_impulse != NULL
                              ? data->joint_impulse + (size_t)k * (size_t)data->nj
                              : NULL};
    see_frame(d, &frame);
  }
  free(contacts);
}

static double span(const cli_design* d) {
  return d->t > d->begin ? d->t - d->begin : 1.0;
}

static double turns_of(const cli_joint_answer* a) {
  return isnan(a->angle) ? 0.0 : fabs(a->angle - a->start) / turn;
}

/* Dissipation of all contacts per revolution of the joint with the most revolutions; NaN: less than one revolution. */
static double impacts_per_turn(const cli_design* d) {
  double most = 0.0;
  long long impacts = 0;
  for (int i = 0; i < d->joint_count; i++) {
    most = fmax(most, turns_of(&d->joints[i]));
  }
  for (int i = 0; i < d->contact_count; i++) {
    impacts += d->contacts[i].impacts;
  }
  return most >= 1.0 ? (double)impacts / most : (double)NAN;
}

static const char* contact_name(const cli_design* d, int i, char* text, size_t size) {
  const char* name = d->view->system->laws[i].name;
  if (name == NULL) {
    snprintf(text, size, "contact %d", i + 1);
    return text;
  }
  return cli_one_line(name, text, size);
}

/* Number of contacts from the i-th on that are sides of one element, NAME.SIDE; *stem: length of its name. */
static int sides_of(const cli_design* d, int i, size_t* stem) {
  const char* name = d->view->system->laws[i].name;
  const char* point = name != NULL ? strrchr(name, '.') : NULL;
  int count = 0;
  *stem = point != NULL ? (size_t)(point - name) : 0;
  while (point != NULL && i + count < d->contact_count) {
    const char* other = d->view->system->laws[i + count].name;
    if (other == NULL || strncmp(other, name, *stem + 1) != 0) {
      break;
    }
    count++;
  }
  return count;
}

static double wear_of(const cli_design* d, int from, int count) {
  double sum = 0.0;
  for (int i = from; i < from + count; i++) {
    sum += d->contacts[i].friction;
  }
  return sum;
}

/* Friction of elements with several sides, and of each side. */
static void print_wear(const cli_design* d, FILE* out) {
  size_t stem;
  for (int i = 0; i < d->contact_count;) {
    const int count = sides_of(d, i, &stem);
    if (count > 1 && wear_of(d, i, count) != 0.0) {
      fprintf(out, "Wear of %.*s: friction took %.6g J", (int)stem, d->view->system->laws[i].name,
              0.0 - wear_of(d, i, count));
      for (int k = i; k < i + count; k++) {
        fprintf(out, "%s %s %.6g J", k == i ? ";" : ",", d->view->system->laws[k].name + stem + 1,
                0.0 - d->contacts[k].friction);
      }
      fprintf(out, ".\n");
    }
    i += count > 0 ? count : 1;
  }
}

static void write_wear(json* out, const cli_design* d) {
  size_t stem;
  json_open(out, "wear", '{');
  for (int i = 0; i < d->contact_count;) {
    const int count = sides_of(d, i, &stem);
    const char* name = d->view->system->laws[i].name;
    char element[128];
    if (count > 1) {
      snprintf(element, sizeof element, "%.*s", (int)stem, name);
      json_open(out, element, '{');
      json_number(out, "friction_work", wear_of(d, i, count));
      json_open(out, "sides", '{');
      for (int k = i; k < i + count; k++) {
        json_number(out, d->view->system->laws[k].name + stem + 1, d->contacts[k].friction);
      }
      json_close(out, '}');
      json_close(out, '}');
    }
    i += count > 0 ? count : 1;
  }
  json_close(out, '}');
}

void cli_design_print(const cli_design* d, FILE* out) {
  char text[128];
  if (!d->wanted) {
    return;
  }
  for (int i = 0; i < d->event_count; i++) {
    if (d->events[i].count > 0) {
      fprintf(out, "Event %s: first at %.9g s, last at %.9g s.\n",
              cli_one_line(d->view->observables->event_names[i], text, sizeof text),
              d->events[i].first, d->events[i].last);
    }
  }
  for (int i = 0; i < d->joint_count; i++) {
    const cli_joint_answer* a = &d->joints[i];
    const char* name = saltus_mechanism_joint(d->view->mechanism, i).name;
    fprintf(out, "Joint %s: ", cli_one_line(name, text, sizeof text));
    if (a->peak >= 0.0) {
      fprintf(out, "force at most %.6g N at %.6g s, ", a->peak, a->peak_at);
    }
    if (a->struck > 0.0) {
      fprintf(out, "impulse at most %.6g N s, ", a->struck);
    }
    fprintf(out, "mean force %.6g N", a->sum / span(d));
    if (turns_of(a) >= 1.0) {
      fprintf(out, "; %.6g turns", turns_of(a));
    }
    fprintf(out, ".\n");
  }
  for (int i = 0; i < d->contact_count; i++) {
    const cli_contact_answer* a = &d->contacts[i];
    if (a->impacts == 0 && a->carried == 0.0) {
      continue;
    }
    fprintf(out,
            "Contact %s: %lld impact%s, the largest %.6g N s, rebound %.6g; force at most %.6g N, "
            "mean "
            "%.6g N; friction took %.6g J, impacts %.6g J.\n",
            contact_name(d, i, text, sizeof text), a->impacts, cli_plural(a->impacts), a->largest,
            a->rebound, a->peak, a->carried / span(d), 0.0 - a->friction, 0.0 - a->impact);
  }
  print_wear(d, out);
  if (isfinite(impacts_per_turn(d))) {
    fprintf(out, "Impacts for each turn: %.6g.\n", impacts_per_turn(d));
  }
}

void cli_design_json(json* out, const cli_design* d) {
  char text[128];
  if (!d->wanted) {
    return;
  }
  json_open(out, "design", '{');
  json_open(out, "events", '{');
  for (int i = 0; i < d->event_count; i++) {
    const bool any = d->events[i].count > 0;
    json_open(out, d->view->observables->event_names[i], '{');
    json_integer(out, "count", d->events[i].count);
    json_number(out, "first", any ? d->events[i].first : NAN);
    json_number(out, "last", any ? d->events[i].last : NAN);
    json_close(out, '}');
  }
  json_close(out, '}');
  json_open(out, "joints", '{');
  for (int i = 0; i < d->joint_count; i++) {
    const cli_joint_answer* a = &d->joints[i];
    json_open(out, saltus_mechanism_joint(d->view->mechanism, i).name, '{');
    json_number(out, "peak_force", a->peak >= 0.0 ? a->peak : (double)NAN);
    json_number(out, "peak_at", a->peak >= 0.0 ? a->peak_at : (double)NAN);
    json_number(out, "struck_impulse", a->struck);
    json_number(out, "mean_force", a->sum / span(d));
    json_number(out, "peak_torque", a->torque);
    json_number(out, "mean_torque", a->turned / span(d));
    json_number(out, "turns", isnan(a->angle) ? (double)NAN : turns_of(a));
    json_close(out, '}');
  }
  json_close(out, '}');
  json_open(out, "contacts", '{');
  for (int i = 0; i < d->contact_count; i++) {
    const cli_contact_answer* a = &d->contacts[i];
    json_open(out, contact_name(d, i, text, sizeof text), '{');
    json_integer(out, "impacts", a->impacts);
    json_number(out, "first_impact", a->impacts > 0 ? a->first : NAN);
    json_number(out, "last_impact", a->impacts > 0 ? a->last : NAN);
    json_number(out, "largest_impulse", a->largest);
    json_number(out, "impulse", a->impulse);
    json_number(out, "rebound", a->impacts > 0 ? a->rebound : NAN);
    json_number(out, "peak_force", a->peak);
    json_number(out, "mean_force", a->carried / span(d));
    json_number(out, "closed", a->closed / span(d));
    json_number(out, "friction_work", a->friction);
    json_number(out, "impact_work", a->impact);
    json_close(out, '}');
  }
  json_close(out, '}');
  write_wear(out, d);
  json_number(out, "impacts_per_turn", impacts_per_turn(d));
  json_close(out, '}');
}
