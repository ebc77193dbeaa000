/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * frame_store.c - see frame_store.h. Arrays grow by doubling; realloc moves pages of large arrays without copying.
 */
#include "frame_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(saltus_recording_data, member)

const core_series core_series_list[] = {
    {"step", AT(step), CORE_PER_FRAME, 1, 'q'},
    {"t", AT(t), CORE_PER_FRAME, 1, 'd'},
    {"q", AT(q), CORE_PER_Q, 1, 'd'},
    {"v", AT(v), CORE_PER_V, 1, 'd'},
    {"outputs", AT(outputs), CORE_PER_OUTPUT, 1, 'd'},
    {"gap", AT(gap), CORE_PER_CONTACT, 1, 'd'},
    {"velocity", AT(velocity), CORE_PER_CONTACT, 1, 'd'},
    {"force", AT(force), CORE_PER_CONTACT, 3, 'd'},
    {"impulse", AT(impulse), CORE_PER_CONTACT, 3, 'd'},
    {"friction_work", AT(friction_work), CORE_PER_CONTACT, 1, 'd'},
    {"impact_work", AT(impact_work), CORE_PER_CONTACT, 1, 'd'},
    {"joint_force", AT(joint_force), CORE_PER_JOINT, 1, 'd'},
    {"joint_impulse", AT(joint_impulse), CORE_PER_JOINT, 1, 'd'},
    {"kinetic", AT(kinetic), CORE_PER_FRAME, 1, 'd'},
    {"potential", AT(potential), CORE_PER_FRAME, 1, 'd'},
    {"external", AT(energy_external), CORE_PER_FRAME, 1, 'd'},
    {"drive", AT(energy_drive), CORE_PER_FRAME, 1, 'd'},
    {"friction", AT(energy_friction), CORE_PER_FRAME, 1, 'd'},
    {"impact", AT(energy_impact), CORE_PER_FRAME, 1, 'd'},
    {"remainder", AT(energy_remainder), CORE_PER_FRAME, 1, 'd'},
    {"created", AT(energy_created), CORE_PER_FRAME, 1, 'd'},
    {"residual_velocity", AT(residual_velocity), CORE_PER_FRAME, 1, 'd'},
    {"residual_impulse", AT(residual_impulse), CORE_PER_FRAME, 1, 'd'},
    {"penetration", AT(penetration), CORE_PER_FRAME, 1, 'd'},
    {"h", AT(h), CORE_PER_FRAME, 1, 'd'},
    {"error", AT(error), CORE_PER_FRAME, 1, 'd'},
    {"error_order", AT(error_order), CORE_PER_FRAME, 1, 'd'},
    {"rejections", AT(rejections), CORE_PER_FRAME, 1, 'd'},
    {"table.start", AT(table.start), CORE_PER_START, 1, 'q'},
    {"table.identity", AT(table.identity), CORE_PER_ROW, 1, 'Q'},
    {"table.law", AT(table.law), CORE_PER_ROW, 1, 'q'},
    {"table.bodies", AT(table.bodies), CORE_PER_ROW, 2, 'q'},
    {"table.point", AT(table.point), CORE_PER_ROW, 3, 'd'},
    {"table.normal", AT(table.normal), CORE_PER_ROW, 3, 'd'},
    {"table.gap", AT(table.gap), CORE_PER_ROW, 1, 'd'},
    {"table.velocity", AT(table.velocity), CORE_PER_ROW, 1, 'd'},
    {"table.force", AT(table.force), CORE_PER_ROW, 3, 'd'},
    {"table.impulse", AT(table.impulse), CORE_PER_ROW, 3, 'd'},
    {"table.friction_work", AT(table.friction_work), CORE_PER_ROW, 1, 'd'},
    {"table.impact_work", AT(table.impact_work), CORE_PER_ROW, 1, 'd'},
};

const int core_series_count = (int)(sizeof core_series_list / sizeof core_series_list[0]);

enum { ITEM = 8, FIRST_ROOM = 64 };

size_t core_series_width(const core_series* series, const saltus_recording_data* data) {
  switch (series->per) {
  case CORE_PER_Q:
    return (size_t)data->nq;
  case CORE_PER_V:
    return (size_t)data->nv;
  case CORE_PER_CONTACT:
    return (size_t)data->nc * (size_t)series->components;
  case CORE_PER_JOINT:
    return (size_t)data->nj;
  case CORE_PER_OUTPUT:
    return (size_t)data->output_count;
  case CORE_PER_START:
    return data->changing ? 1 : 0;
  case CORE_PER_ROW:
    return data->changing ? (size_t)series->components : 0;
  case CORE_PER_FRAME:
    break;
  }
  return 1;
}

/* Pointers to doubles and to integers have one representation wherever the library runs. */
static void** place(const core_series* series, const saltus_recording_data* data) {
  return (void**)(void*)((unsigned char*)(uintptr_t)data + series->member);
}

void* core_series_get(const core_series* series, const saltus_recording_data* data) {
  return *place(series, data);
}

core_frame_store* core_frame_store_create(const saltus_scene_view* scene, bool contacts) {
  core_frame_store* track = calloc(1, sizeof *track);
  if (track == NULL) {
    return NULL;
  }
  const saltus_system* system = scene->system;
  const saltus_observables* own = scene->observables;
  saltus_recording_data* data = &track->data;
  data->nq = system->dims.nq;
  data->nv = system->dims.nv;
  data->nj = system->dims.nj;
  data->changing = (system->traits & SALTUS_CHANGING_CONTACTS) != 0;
  data->nc = data->changing || !contacts ? 0 : system->dims.nc;
  data->law_count = data->changing ? system->law_count : 0;
  data->output_count = own != NULL ? own->output_count : 0;
  data->event_name_count = own != NULL ? own->event_count : 0;
  data->name = data->scheme = data->options = data->scene = data->version = data->accuracy = "";
  data->explanation = "";
  data->scene_sha256 = NULL; /* the text was not stored */
  data->status = "running";
  data->steps = -1;
  data->cpu_seconds = data->until = NAN;
  track->contacts = contacts;
  return track;
}

void core_frame_store_destroy(core_frame_store* track) {
  if (track == NULL) {
    return;
  }
  for (int i = 0; i < core_series_count; i++) {
    free(*place(&core_series_list[i], &track->data));
  }
  free(track->data.events);
  free(track->frames_before);
  free(track);
}

/* Ensures the capacity of series of frames (rows false) or of the table of contacts. */
static saltus_status grow(core_frame_store* track, long long room, bool rows) {
  for (int i = 0; i < core_series_count; i++) {
    const core_series* series = &core_series_list[i];
    size_t width = core_series_width(series, &track->data);
    if (width == 0 || (series->per == CORE_PER_ROW) != rows) {
      continue;
    }
    size_t items = ((size_t)room + (series->per == CORE_PER_START ? 1 : 0)) * width;
    void* larger = realloc(*place(series, &track->data), items * ITEM);
    if (larger == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    *place(series, &track->data) = larger;
  }
  *(rows ? &track->row_room : &track->room) = room;
  return SALTUS_OK;
}

static void put_fixed(saltus_recording_data* d, const saltus_frame* frame, size_t i) {
  size_t nc = (size_t)d->nc;
  for (size_t c = 0; c < nc; c++) {
    const saltus_contact_frame* from = &frame->contacts[c];
    size_t at = i * nc + c;
    d->gap[at] = from->gap;
    d->velocity[at] = from->velocity;
    d->friction_work[at] = from->friction;
    d->impact_work[at] = from->impact;
    for (size_t k = 0; k < 3; k++) {
      d->force[3 * at + k] = from->force[k];
      d->impulse[3 * at + k] = from->impulse[k];
    }
  }
}

static void put_row(saltus_recorded_contacts* table, const saltus_contact_frame* from) {
  size_t at = (size_t)table->count++;
  table->identity[at] = from->identity;
  table->law[at] = from->law;
  table->gap[at] = from->gap;
  table->velocity[at] = from->velocity;
  table->friction_work[at] = from->friction;
  table->impact_work[at] = from->impact;
  for (size_t k = 0; k < 2; k++) {
    table->bodies[2 * at + k] = from->bodies[k];
  }
  for (size_t k = 0; k < 3; k++) {
    table->point[3 * at + k] = from->point[k];
    table->normal[3 * at + k] = from->normal[k];
    table->force[3 * at + k] = from->force[k];
    table->impulse[3 * at + k] = from->impulse[k];
  }
}

static saltus_status put_changing(core_frame_store* track, const saltus_frame* frame, size_t i) {
  saltus_recorded_contacts* table = &track->data.table;
  table->start[i] = table->count;
  int count = track->contacts ? frame->contact_count : 0;
  while (table->count + count > track->row_room) {
    long long room = track->row_room > 0 ? 2 * track->row_room : FIRST_ROOM;
    saltus_status status = grow(track, room, true);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  for (int c = 0; c < count; c++) {
    put_row(table, &frame->contacts[c]);
  }
  table->start[i + 1] = table->count;
  return SALTUS_OK;
}

static void put_numbers(saltus_recording_data* d, const saltus_frame* frame, size_t i) {
  d->step[i] = frame->step;
  d->t[i] = frame->t;
  memcpy(d->q + i * (size_t)d->nq, frame->q, (size_t)d->nq * sizeof(double));
  memcpy(d->v + i * (size_t)d->nv, frame->v, (size_t)d->nv * sizeof(double));
  if (d->output_count > 0) {
    memcpy(d->outputs + i * (size_t)d->output_count, frame->outputs,
           (size_t)d->output_count * sizeof(double));
  }
  if (d->nj > 0) {
    memcpy(d->joint_force + i * (size_t)d->nj, frame->joint_forces, (size_t)d->nj * sizeof(double));
    memcpy(d->joint_impulse + i * (size_t)d->nj, frame->joint_impulses,
           (size_t)d->nj * sizeof(double));
  }
  d->kinetic[i] = frame->kinetic;
  d->potential[i] = frame->potential;
  d->energy_external[i] = frame->energy.external;
  d->energy_drive[i] = frame->energy.drive;
  d->energy_friction[i] = frame->energy.friction;
  d->energy_impact[i] = frame->energy.impact;
  d->energy_remainder[i] = frame->energy.remainder;
  d->energy_created[i] = frame->energy.created;
  d->residual_velocity[i] = frame->residual_velocity;
  d->residual_impulse[i] = frame->residual_impulse;
  d->penetration[i] = frame->penetration;
  d->h[i] = frame->h;
  d->error[i] = frame->error;
  d->error_order[i] = (double)frame->error_order;
  d->rejections[i] = (double)frame->rejections;
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  core_frame_store* track = user;
  saltus_recording_data* d = &track->data;
  if (d->count == track->room) {
    saltus_status status = grow(track, track->room > 0 ? 2 * track->room : FIRST_ROOM, false);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  size_t i = (size_t)d->count;
  put_numbers(d, frame, i);
  if (d->changing) {
    saltus_status status = put_changing(track, frame, i);
    if (status != SALTUS_OK) {
      return status;
    }
  } else {
    put_fixed(d, frame, i);
  }
  d->count++;
  return SALTUS_OK;
}

static saltus_status on_event(void* user, const saltus_event* event) {
  core_frame_store* track = user;
  saltus_recording_data* d = &track->data;
  if (d->event_count == track->event_room) {
    long long room = track->event_room > 0 ? 2 * track->event_room : FIRST_ROOM;
    saltus_event* larger = realloc(d->events, (size_t)room * sizeof *larger);
    if (larger == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    d->events = larger;
    long long* before = realloc(track->frames_before, (size_t)room * sizeof *before);
    if (before == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    track->frames_before = before;
    track->event_room = room;
  }
  track->frames_before[d->event_count] = d->count;
  d->events[d->event_count++] = *event;
  return SALTUS_OK;
}

saltus_recorder core_frame_store_recorder(core_frame_store* track) {
  return (saltus_recorder){.frame = on_frame,
                           .event = on_event,
                           .user = track,
                           .contacts_unseen = track->contacts ? 0 : 1};
}

long long core_frame_store_contacts(const saltus_recording_data* data) {
  long long most = data->nc;
  for (long long i = 0; data->changing && i < data->count; i++) {
    long long here = data->table.start[i + 1] - data->table.start[i];
    most = here > most ? here : most;
  }
  return most;
}

static void get_row(const saltus_recorded_contacts* table, size_t at, saltus_contact_frame* to) {
  *to = (saltus_contact_frame){.gap = table->gap[at],
                               .velocity = table->velocity[at],
                               .friction = table->friction_work[at],
                               .impact = table->impact_work[at],
                               .identity = table->identity[at],
                               .law = (int)table->law[at]};
  for (size_t k = 0; k < 2; k++) {
    to->bodies[k] = (int)table->bodies[2 * at + k];
  }
  for (size_t k = 0; k < 3; k++) {
    to->point[k] = table->point[3 * at + k];
    to->normal[k] = table->normal[3 * at + k];
    to->force[k] = table->force[3 * at + k];
    to->impulse[k] = table->impulse[3 * at + k];
  }
}

static void get_fixed(const saltus_recording_data* d, size_t at, size_t c,
                      saltus_contact_frame* to) {
  *to = (saltus_contact_frame){.gap = d->gap[at],
                               .velocity = d->velocity[at],
                               .friction = d->friction_work[at],
                               .impact = d->impact_work[at],
                               .identity = c,
                               .law = (int)c,
                               .bodies = {-1, -1},
                               .point = {NAN, NAN, NAN},
                               .normal = {NAN, NAN, NAN}};
  for (size_t k = 0; k < 3; k++) {
    to->force[k] = d->force[3 * at + k];
    to->impulse[k] = d->impulse[3 * at + k];
  }
}

void core_frame_store_frame(const saltus_recording_data* d, long long frame,
                            saltus_contact_frame* contacts, saltus_frame* out) {
  size_t i = (size_t)frame;
  *out = (saltus_frame){.step = d->step[i],
                        .t = d->t[i],
                        .q = d->q + i * (size_t)d->nq,
                        .v = d->v + i * (size_t)d->nv,
                        .output_count = d->output_count,
                        .kinetic = d->kinetic[i],
                        .potential = d->potential[i],
                        .energy = {.external = d->energy_external[i],
                                   .drive = d->energy_drive[i],
                                   .friction = d->energy_friction[i],
                                   .impact = d->energy_impact[i],
                                   .remainder = d->energy_remainder[i],
                                   .created = d->energy_created[i]},
                        .contacts = contacts,
                        .residual_velocity = d->residual_velocity[i],
                        .residual_impulse = d->residual_impulse[i],
                        .penetration = d->penetration[i],
                        .h = d->h[i],
                        .error = d->error[i],
                        .error_order = (int)d->error_order[i],
                        .rejections = (long long)d->rejections[i]};
  out->outputs = d->output_count > 0 ? d->outputs + i * (size_t)d->output_count : NULL;
  out->joint_forces = d->nj > 0 ? d->joint_force + i * (size_t)d->nj : NULL;
  out->joint_impulses = d->nj > 0 ? d->joint_impulse + i * (size_t)d->nj : NULL;
  if (d->changing) {
    size_t first = (size_t)d->table.start[i];
    out->contact_count = (int)(d->table.start[i + 1] - d->table.start[i]);
    for (size_t c = 0; c < (size_t)out->contact_count; c++) {
      get_row(&d->table, first + c, &contacts[c]);
    }
  } else {
    out->contact_count = d->nc;
    for (size_t c = 0; c < (size_t)d->nc; c++) {
      get_fixed(d, i * (size_t)d->nc + c, c, &contacts[c]);
    }
  }
}
