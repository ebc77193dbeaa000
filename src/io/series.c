/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "io/series.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define AT(member) offsetof(saltus_recording_data, member)

/* The order is that of the chunks in an HDF5 file. */
const saltusi_series saltusi_series_list[SALTUSI_SERIES_COUNT] = {
    {"/step", "step", "1", SALTUSI_PER_FRAME, 1, true, AT(step), false, NULL, NULL},
    {"/t", "t", "s", SALTUSI_PER_FRAME, 1, false, AT(t), false, NULL, NULL},
    {"/q", "", "", SALTUSI_PER_Q, 1, false, AT(q), false, NULL, NULL},
    {"/v", "", "", SALTUSI_PER_V, 1, false, AT(v), false, NULL, NULL},
    {"/outputs", "", "", SALTUSI_PER_OUTPUT, 1, false, AT(outputs), false, NULL, NULL},
    {"/contacts/gap", "gap", "m", SALTUSI_PER_CONTACT, 1, false, AT(gap), false, NULL, NULL},
    {"/contacts/velocity", "velocity", "m/s", SALTUSI_PER_CONTACT, 1, false, AT(velocity), false,
     NULL, NULL},
    {"/contacts/force", "force", "N", SALTUSI_PER_CONTACT, 3, false, AT(force), false, NULL, NULL},
    {"/contacts/impulse", "impulse", "N s", SALTUSI_PER_CONTACT, 3, false, AT(impulse), false, NULL,
     NULL},
    {"/contacts/friction_work", "friction_work", "J", SALTUSI_PER_CONTACT, 1, false,
     AT(friction_work), true, NULL, NULL},
    {"/contacts/impact_work", "impact_work", "J", SALTUSI_PER_CONTACT, 1, false, AT(impact_work),
     true, NULL, NULL},
    {"/joints/force", "joint_force", "N", SALTUSI_PER_JOINT, 1, false, AT(joint_force), false, NULL,
     NULL},
    {"/joints/impulse", "joint_impulse", "N s", SALTUSI_PER_JOINT, 1, false, AT(joint_impulse),
     true, NULL, NULL},
    {"/energy/kinetic", "kinetic", "J", SALTUSI_PER_FRAME, 1, false, AT(kinetic), false, NULL,
     NULL},
    {"/energy/potential", "potential", "J", SALTUSI_PER_FRAME, 1, false, AT(potential), false, NULL,
     NULL},
    {"/energy/external", "energy_external", "J", SALTUSI_PER_FRAME, 1, false, AT(energy_external),
     true, "/energy/given", "energy_given"},
    {"/energy/drive", "energy_drive", "J", SALTUSI_PER_FRAME, 1, false, AT(energy_drive), true,
     NULL, NULL},
    {"/energy/friction", "energy_friction", "J", SALTUSI_PER_FRAME, 1, false, AT(energy_friction),
     true, NULL, NULL},
    {"/energy/impact", "energy_impact", "J", SALTUSI_PER_FRAME, 1, false, AT(energy_impact), true,
     NULL, NULL},
    {"/energy/remainder", "energy_remainder", "J", SALTUSI_PER_FRAME, 1, false,
     AT(energy_remainder), true, NULL, NULL},
    {"/energy/created", "energy_created", "J", SALTUSI_PER_FRAME, 1, false, AT(energy_created),
     true, NULL, NULL},
    {"/residual/velocity", "residual_velocity", "m/s", SALTUSI_PER_FRAME, 1, false,
     AT(residual_velocity), false, NULL, NULL},
    {"/residual/impulse", "residual_impulse", "N s", SALTUSI_PER_FRAME, 1, false,
     AT(residual_impulse), false, NULL, NULL},
    {"/residual/penetration", "penetration", "m", SALTUSI_PER_FRAME, 1, false, AT(penetration),
     false, NULL, NULL},
    {"/control/h", "h", "s", SALTUSI_PER_FRAME, 1, false, AT(h), false, NULL, NULL},
    {"/control/error", "error", "1", SALTUSI_PER_FRAME, 1, false, AT(error), false, NULL, NULL},
    {"/control/order", "error_order", "1", SALTUSI_PER_FRAME, 1, false, AT(error_order), false,
     NULL, NULL},
    {"/control/rejections", "rejections", "1", SALTUSI_PER_FRAME, 1, false, AT(rejections), false,
     NULL, NULL},
    {"/contact_table/start", "contact_rows", "1", SALTUSI_PER_TABLE, 1, true, AT(table.start),
     false, NULL, NULL},
};

#define MEMBER(member) offsetof(saltus_event, member)

/* The first four are those of the first recordings, in their order. */
const saltusi_event_field saltusi_event_fields[SALTUSI_EVENT_FIELDS] = {
    {"t_accuracy", "s", MEMBER(t_accuracy)},
    {"u_before", "m/s", MEMBER(u_before)},
    {"u_after", "m/s", MEMBER(u_after)},
    {"impulse", "N s", MEMBER(impulse[0])},
    {"impulse_t1", "N s", MEMBER(impulse[1])},
    {"impulse_t2", "N s", MEMBER(impulse[2])},
    {"slip_before_1", "m/s", MEMBER(slip_before[0])},
    {"slip_before_2", "m/s", MEMBER(slip_before[1])},
    {"slip_after_1", "m/s", MEMBER(slip_after[0])},
    {"slip_after_2", "m/s", MEMBER(slip_after[1])},
    {"energy_change", "J", MEMBER(energy_change)},
};

double* saltusi_event_number(saltus_event* event, int field) {
  assert(event != NULL && field >= 0);
  return (double*)(void*)((unsigned char*)event + saltusi_event_fields[field].member);
}

void saltusi_event_complete(saltus_event* event) {
  assert(event != NULL);
  event->energy_change = saltus_event_work(event);
}

int saltusi_series_columns(const saltusi_series* series, const saltus_recording_data* shape) {
  assert(series != NULL && shape != NULL);
  switch (series->per) {
  case SALTUSI_PER_Q:
    return shape->nq;
  case SALTUSI_PER_V:
    return shape->nv;
  case SALTUSI_PER_CONTACT:
    return shape->nc;
  case SALTUSI_PER_JOINT:
    return shape->nj;
  case SALTUSI_PER_OUTPUT:
    return shape->output_count;
  case SALTUSI_PER_TABLE:
    return shape->changing ? 1 : 0;
  case SALTUSI_PER_FRAME:
    break;
  }
  return 1;
}

int saltusi_series_rank(const saltusi_series* series) {
  assert(series != NULL);
  if (series->per == SALTUSI_PER_FRAME || series->per == SALTUSI_PER_TABLE) {
    return 1;
  }
  return series->components == 1 ? 2 : 3;
}

size_t saltusi_series_width(const saltusi_series* series, const saltus_recording_data* shape) {
  assert(series != NULL && shape != NULL);
  return (size_t)saltusi_series_columns(series, shape) * (size_t)series->components;
}

void* saltusi_series_get(const saltusi_series* series, const saltus_recording_data* data) {
  assert(series != NULL && data != NULL);
  const unsigned char* at = (const unsigned char*)data + series->member;
  if (series->integer) {
    return *(long long* const*)(const void*)at;
  }
  return *(double* const*)(const void*)at;
}

void saltusi_series_set(const saltusi_series* series, saltus_recording_data* data, void* array) {
  assert(series != NULL && data != NULL);
  unsigned char* at = (unsigned char*)data + series->member;
  if (series->integer) {
    *(long long**)(void*)at = array;
  } else {
    *(double**)(void*)at = array;
  }
}

const char* saltusi_series_column_name(const saltusi_series* series,
                                       const saltus_recording_data* data, int column) {
  assert(column >= 0);
  switch (series->per) {
  case SALTUSI_PER_Q:
    return data->q_labels[column].name;
  case SALTUSI_PER_V:
    return data->v_labels[column].name;
  case SALTUSI_PER_CONTACT:
    return data->contact_names[column];
  case SALTUSI_PER_JOINT:
    return data->joint_names[column];
  case SALTUSI_PER_OUTPUT:
    return data->output_labels[column].name;
  case SALTUSI_PER_FRAME:
  case SALTUSI_PER_TABLE:
    break;
  }
  return series->column;
}

const char* saltusi_series_column_unit(const saltusi_series* series,
                                       const saltus_recording_data* data, int column) {
  assert(column >= 0);
  if (series->per == SALTUSI_PER_Q) {
    return data->q_labels[column].unit;
  }
  if (series->per == SALTUSI_PER_V) {
    return data->v_labels[column].unit;
  }
  if (series->per == SALTUSI_PER_OUTPUT) {
    return data->output_labels[column].unit;
  }
  return series->unit;
}

saltusi_data* saltusi_data_create(const saltus_allocator* allocator) {
  saltusi_pool pool = saltusi_pool_over(allocator);
  saltusi_data* owner = saltusi_pool_take(&pool, 1, sizeof *owner);
  if (!owner) {
    return NULL;
  }
  owner->pool = pool;
  saltus_recording_data* data = &owner->data;
  data->name = data->scheme = data->options = data->accuracy = data->scene = data->version = "";
  data->scene_sha256 = data->explanation = "";
  data->status = "running";
  data->steps = -1;
  data->cpu_seconds = data->until = NAN;
  return owner;
}

void saltus_recording_data_destroy(saltus_recording_data* data) {
  if (data) {
    saltusi_pool_free(&((saltusi_data*)data)->pool);
  }
}

saltus_status saltusi_data_name_workspace(saltus_recording_data* data, saltusi_pool* pool) {
  assert(data->nc >= 0 && data->nj >= 0 && pool != NULL);
  data->q_labels = saltusi_pool_take(pool, (size_t)data->nq, sizeof(saltus_label));
  data->v_labels = saltusi_pool_take(pool, (size_t)data->nv, sizeof(saltus_label));
  data->contact_names = saltusi_pool_take(pool, (size_t)data->nc, sizeof(char*));
  data->joint_names = saltusi_pool_take(pool, (size_t)data->nj, sizeof(char*));
  data->output_labels = saltusi_pool_take(pool, (size_t)data->output_count, sizeof(saltus_label));
  data->event_names = saltusi_pool_take(pool, (size_t)data->event_name_count, sizeof(char*));
  data->law_names = saltusi_pool_take(pool, (size_t)data->law_count, sizeof(char*));
  bool complete = data->law_names && data->q_labels && data->v_labels && data->contact_names &&
                  data->joint_names && data->output_labels && data->event_names;
  return complete ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

bool saltusi_event_fits(const saltus_event* event, const saltus_recording_data* shape) {
  assert(event != NULL && shape != NULL);
  bool own = saltus_event_is_user_defined(event->kind);
  if (shape->changing && !own) { /* keys of a time-varying set are not stored */
    return event->law >= 0 && event->law < shape->law_count;
  }
  return event->contact >= 0 && event->contact < (own ? shape->event_name_count : shape->nc);
}

const char* saltusi_event_name(const saltus_event* event, const saltus_recording_data* shape) {
  assert(event != NULL && shape != NULL);
  bool own = saltus_event_is_user_defined(event->kind);
  bool law = shape->changing && !own;
  const char* const* names = own   ? shape->event_names
                             : law ? shape->law_names
                                   : shape->contact_names;
  int place = law ? event->law : event->contact;
  const char* name = saltusi_event_fits(event, shape) ? names[place] : NULL;
  return name != NULL ? name : "";
}

int saltusi_event_kind_from(const char* name) {
  assert(name != NULL);
  for (int kind = 0; kind < SALTUS_EVENT_KINDS; kind++) {
    if (strcmp(name, saltus_event_kind_name((saltus_event_kind)kind)) == 0) {
      return kind;
    }
  }
  return -1;
}
