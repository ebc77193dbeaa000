/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observer.c - data for observers: sums of forces and impulses, events, frames.
 *
 * The impulses of a step are first stored as parts of each contact. A frame at a requested time inside of the step
 * adds its fraction to the sums: non-impulsive forces in proportion to time, located impacts up to its time. The rest
 * is added at the end of the step. Each impulse is reported exactly once, wherever frames fall.
 */
#include "scheme/scheme_ops.h"
#include "sim/impulse_sums.h"
#include "sim/sim_state.h"
#include "sim/stepping.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

void saltusi_observer_layout(saltus_sim* sim, saltus_arena* arena) {
  assert(sim != NULL);
  const saltus_dims* d = &sim->sys.dims;
  sim->recorders = SALTUS_PUSH(arena, saltus_recorder, sim->def.recorder_count);
  sim->record_times = SALTUS_PUSH(arena, double, sim->def.record_time_count);
  sim->sums = SALTUS_PUSH(arena, double, SALTUSI_SUM_COUNT);
  sim->joint_sums = SALTUS_PUSH2(arena, double, 2, d->nj);
  sim->joint_parts = SALTUS_PUSH2(arena, double, 2, d->nj);
  sim->shown.q = SALTUS_PUSH(arena, double, d->nq);
  sim->shown.v = SALTUS_PUSH(arena, double, d->nv);
  saltusi_rows_layout(&sim->row, d, 1, false, arena);
  sim->joint_forces = SALTUS_PUSH(arena, double, d->nj);
  sim->joint_impulses = SALTUS_PUSH(arena, double, d->nj);
  sim->joint_values = SALTUS_PUSH(arena, double, d->nj);
  saltusi_rows_layout(&sim->joint_row, d, saltusi_joint_rows_most(&sim->sys), false, arena);
  const bool by_mass = sim->sys.ops->kinetic == NULL;
  sim->matrix = SALTUS_PUSH(arena, double, by_mass ? saltusi_mass_workspace(&sim->sys) : 0);
  sim->vector = SALTUS_PUSH(arena, double, d->nv);
  sim->scratch = saltusi_scratch_layout(d, arena);
  sim->ledger = SALTUS_PUSH(arena, saltusi_ledger, 1);
  saltusi_ledger_layout(&sim->ledger_room, &sim->sys, sim->scratch, arena);
}

void saltusi_observer_start(saltus_sim* sim) {
  assert(sim != NULL);
  const saltus_sim_def* def = &sim->def;
  if (def->recorder_count > 0) {
    memcpy(sim->recorders, def->recorders, (size_t)def->recorder_count * sizeof *def->recorders);
    sim->plain = true;
    sim->unframed = true;
    for (int i = 0; i < def->recorder_count; i++) {
      const saltus_recorder* recorder = &sim->recorders[i];
      sim->plain = sim->plain && (recorder->frame == NULL || recorder->contacts_unseen != 0);
      sim->unframed = sim->unframed && recorder->frame == NULL && recorder->ledger_unseen != 0;
    }
    sim->stepped = (double)NAN;
    sim->step_end = (double)NAN;
  }
  if (def->record_time_count > 0) {
    memcpy(sim->record_times, def->record_times,
           (size_t)def->record_time_count * sizeof *def->record_times);
  }
  sim->sums[SALTUSI_SUM_TIME] = def->t0;
  saltusi_residuals_start(&sim->residuals);
  saltusi_observer_resume(sim);
}

static bool at_times(const saltus_sim* sim) {
  return sim->def.record_dt > 0.0 || sim->def.record_time_count > 0;
}

/* Times that differ by less than this count as equal. Times are sums that begin with t0. */
static double rounding(const saltus_sim* sim, double t) {
  return 16.0 * DBL_EPSILON * fmax(fabs(sim->def.t0), fabs(t));
}

/* Time of the next requested frame; infinite after the last. */
static double next_time(const saltus_sim* sim) {
  if (sim->def.record_dt > 0.0) {
    return sim->def.t0 + (double)sim->record_number * sim->def.record_dt;
  }
  return sim->record_number < sim->def.record_time_count ? sim->record_times[sim->record_number]
                                                         : INFINITY;
}

void saltusi_observer_resume(saltus_sim* sim) {
  assert(sim->record_number >= 0);
  sim->record_number = 0;
  if (!at_times(sim)) {
    return;
  }
  double past = sim->now.t + rounding(sim, sim->now.t);
  if (sim->def.record_dt > 0.0) {
    double number = floor((past - sim->def.t0) / sim->def.record_dt) - 1.0;
    sim->record_number = (long long)fmax(0.0, fmin(number, 0x1p62));
  }
  int most = sim->def.record_dt > 0.0 ? 3 : sim->def.record_time_count;
  for (int i = 0; i < most && next_time(sim) <= past; i++) {
    sim->record_number++;
  }
}

static saltus_status report_event(saltus_sim* sim, const saltus_event* event) {
  saltus_status first = saltusi_stepping_note(sim, event);
  saltusi_switch_note(sim, event);
  for (int i = 0; i < sim->def.recorder_count; i++) {
    const saltus_recorder* recorder = &sim->recorders[i];
    if (recorder->event != NULL) {
      saltus_status status = recorder->event(recorder->user, event);
      first = first == SALTUS_OK ? status : first;
    }
  }
  return first;
}

saltus_status saltusi_observer_event(saltus_sim* sim, const saltus_event* event) {
  assert(sim != NULL && event != NULL);
  return report_event(sim, event);
}

/* Largest of all velocities; evaluated on demand, once in a report. */
static double fastest_of(saltus_sim* sim) {
  if (sim->fastest < 0.0) {
    sim->fastest = 0.0;
    for (int i = 0; i < sim->sys.dims.nv; i++) {
      sim->fastest = fmax(sim->fastest, fabs(sim->now.v[i]));
    }
  }
  return sim->fastest;
}

/* Reports the beginning or end of contact in a step of a scheme that does not locate events. known: the velocities
 * of the contact are those of the step. */
static saltus_status read_off(saltus_sim* sim, const saltus_contact_step* contact, bool known,
                              double t) {
  double h = sim->last_h;
  saltusi_contact_sum* sum = &sim->contact_sums[contact->key];
  bool pressed = contact->impulse[0] > 0.0;
  if (!contact->impact && pressed == (sum->closed != 0.0)) {
    return SALTUS_OK;
  }
  saltus_event event;
  saltusi_contact_event(contact, t, h, &event);
  if (contact->impact) { /* reported once, when it is over */
    return contact->part == SALTUS_IMPACT_GOES_ON ? SALTUS_OK : report_event(sim, &event);
  }
  /* redundant contacts may have zero force and still be closed */
  bool stays = known && !pressed &&
               (contact->u_after <= 1e-12 || contact->u_after <= 1e-12 * fastest_of(sim));
  if (stays) {
    return SALTUS_OK;
  }
  sum->closed = pressed ? 1.0 : 0.0;
  event.kind = pressed ? SALTUS_EVENT_CLOSE : SALTUS_EVENT_OPEN;
  return report_event(sim, &event);
}

/* Reports impacts that created energy, or that were solved by another law than that of the contact. Schemes that
 * choose their step report these themselves. */
static saltus_status report_gains(saltus_sim* sim, const saltus_step_report* report) {
  const saltus_scheme_info* info = saltusi_scheme_info(sim->scheme);
  saltus_status status = SALTUS_OK;
  saltus_event remark;
  int next = 0;
  while (status == SALTUS_OK && !info->chooses_step &&
         saltusi_energy_gain_next(report, saltusi_report_located(info, report), sim->now.t,
                                  sim->last_h, &next, &remark)) {
    status = report_event(sim, &remark);
  }
  for (int i = 0; status == SALTUS_OK && i < report->active; i++) {
    if (report->contacts[i].replaced) {
      saltusi_contact_event(&report->contacts[i], sim->now.t, sim->last_h, &remark);
      remark.kind = SALTUS_EVENT_LAW_REPLACED;
      remark.energy_change = report->of_law;
      memset(remark.impulse, 0, sizeof remark.impulse);
      status = report_event(sim, &remark);
    }
  }
  return status;
}

static uint64_t identity_of(const saltus_sim* sim, int key) {
  return sim->changing ? sim->keys.table.identity[key] : (uint64_t)key;
}

/* A contact that is not active any more bears no force: its non-impulsive force has ended. */
static saltus_status follow_released(saltus_sim* sim, double t) {
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    if (sim->contact_sums[key].closed != 0.0 && sim->seen[key] != sim->reports) {
      const saltus_contact_step gone = {.key = key, .identity = identity_of(sim, key)};
      saltus_status status = read_off(sim, &gone, false, t);
      if (status != SALTUS_OK) {
        return status;
      }
    }
  }
  return SALTUS_OK;
}

/* Processes a located event. A contact that closes after impacts with geometrically decreasing flights has an
 * accumulation point: with the ratio r of the last two flights d the remaining time is d r / (1 - r). The
 * criterion uses no velocity; the ratio comes from the impacts, not from the restitution. */
static saltus_status follow_event(saltus_sim* sim, const saltus_event* event) {
  enum { ENOUGH = 5 }; /* impacts of a series, at least */
  saltusi_contact_sum* sum = &sim->contact_sums[event->contact];
  saltus_status status = report_event(sim, event);
  if (event->kind == SALTUS_EVENT_IMPACT) {
    sum->flight[1] = sum->flight[0];
    sum->flight[0] = event->t - sum->last;
    sum->last = event->t;
    sum->impacts += 1.0;
    return status;
  }
  double ratio = sum->flight[0] / sum->flight[1];
  bool series = sum->impacts >= ENOUGH && ratio > 0.0 && ratio < 1.0;
  sum->impacts = 0.0;
  if (status != SALTUS_OK || event->kind != SALTUS_EVENT_CLOSE || !series) {
    return status;
  }
  double rest = sum->flight[0] * ratio / (1.0 - ratio);
  const saltus_event end = {.kind = SALTUS_EVENT_ACCUMULATION,
                            .t = sum->last + rest,
                            .t_accuracy = rest + event->t_accuracy,
                            .contact = event->contact,
                            .identity = event->identity,
                            .law = event->law};
  return report_event(sim, &end);
}

/* Gaps, velocities and forces of all contacts at a state. Forces are means since the last frame; if that frame has
 * the same time, they are those at the time itself, or those of the last frame if not known. */
static saltus_status frame_contacts(saltus_sim* sim, const saltus_point* at, double elapsed,
                                    bool known) {
  saltus_status status = saltusi_sim_list(sim, at);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    saltus_contact_frame* frame = &sim->contact_frames[key];
    frame->identity = (uint64_t)key;
    frame->law = key < sim->sys.law_count ? key : 0;
    frame->gap = NAN;
    frame->velocity = NAN;
    for (int k = 0; k < 3; k++) {
      frame->bodies[k % 2] = -1;
      frame->point[k] = frame->normal[k] = NAN;
    }
    for (int k = 0; k < 3; k++) {
      double lasting = sim->contact_sums[key].lasting[k];
      frame->force[k] = elapsed > 0.0 ? lasting / elapsed
                        : known       ? sim->forces[3 * key + k]
                                      : frame->force[k];
      frame->impulse[k] = sim->contact_sums[key].impulse[k];
    }
    /* zero for a fixed set: works since the start */
    frame->friction = sim->shown_works[key].friction - sim->works_taken[key].friction;
    frame->impact = sim->shown_works[key].impact - sim->works_taken[key].impact;
  }
  for (int i = 0; i < sim->list.count; i++) {
    int key = sim->list.key[i];
    saltusi_rows_contact(&sim->sys, at, key, 1, &sim->row, 0);
    sim->contact_frames[key].gap = sim->list.gap[i];
    sim->contact_frames[key].law = sim->list.law[i]; /* contacts of a fixed set may share laws */
    saltusi_sums_deepen(sim, sim->list.gap[i]);
    if (sim->list.gap[i] < 0.0) {
      const saltus_contact_step who = {.identity = identity_of(sim, key), .law = sim->list.law[i]};
      saltusi_residuals_keep(&sim->residuals, SALTUS_RESIDUAL_PENETRATION, -sim->list.gap[i], at->t,
                             &who);
    }
    sim->contact_frames[key].velocity = saltusi_row_dot(&sim->row, 0, at->v) + sim->row.b[0];
  }
  return saltusi_sim_closed(sim, at);
}

/* Reports the frame of a state to all recorders; known: sim->forces holds the forces at its time. */
static saltus_status report_frame(saltus_sim* sim, const saltus_state* x, saltus_energy energy,
                                  bool known, bool plain) {
  const saltus_dims* d = &sim->sys.dims;
  double elapsed = x->t - sim->sums[SALTUSI_SUM_TIME];
  saltus_point at = saltusi_sim_at(sim, x->t, x->q, x->v);
  saltus_status first = plain ? SALTUS_OK : frame_contacts(sim, &at, elapsed, known);
  if (first != SALTUS_OK) {
    return first;
  }
  saltusi_residuals_rates(&sim->residuals, &sim->sys, &at, &sim->joint_row);
  for (int j = 0; j < d->nj; j++) {
    sim->joint_forces[j] = elapsed > 0.0 ? sim->joint_sums[j] / elapsed
                           : known       ? sim->forces[3 * d->nc + j]
                                         : sim->joint_forces[j];
    sim->joint_impulses[j] = sim->joint_sums[d->nj + j];
  }
  int rows = 0;
  const saltus_contact_frame* contacts = plain ? NULL : saltusi_sim_rows(sim, &at, &rows);
  const saltus_frame frame = {
      .step = sim->step,
      .t = x->t,
      .q = x->q,
      .v = x->v,
      .outputs = saltusi_observe_outputs(
          sim, x, known ? sim->forces + 3 * (size_t)d->nc : sim->joint_forces),
      .output_count = sim->def.observables != NULL ? sim->def.observables->output_count : 0,
      .kinetic = saltusi_kinetic(&sim->sys, &at, sim->matrix, sim->vector),
      .potential = saltusi_potential(&sim->sys, &at),
      .energy = energy,
      .creations = (long long)sim->ledger->creations,
      .contacts = contacts,
      .contact_count = rows,
      .joint_forces = sim->joint_forces,
      .joint_impulses = sim->joint_impulses,
      .residual_velocity = sim->sums[SALTUSI_SUM_VELOCITY],
      .residual_impulse = sim->sums[SALTUSI_SUM_IMPULSE],
      .penetration = sim->sums[SALTUSI_SUM_PENETRATION],
      .joint_drift = sim->sums[SALTUSI_SUM_DRIFT],
      .projection = sim->sums[SALTUSI_SUM_PROJECTION],
      .h = sim->last_h,
      .error = sim->sums[SALTUSI_SUM_ERROR],
      .error_order = sim->report.error_order > 0 ? sim->report.error_order : 0,
      .rejections = (long long)sim->sums[SALTUSI_SUM_REJECTIONS],
  };
  first = saltusi_frame_check(sim, &frame);
  if (first != SALTUS_OK) {
    return first;
  }
  saltusi_sums_start(sim, x->t);
  saltusi_sim_settle(sim, x->t);
  for (int i = 0; first == SALTUS_OK && i < sim->def.recorder_count; i++) {
    if (sim->recorders[i].frame != NULL) {
      first = sim->recorders[i].frame(sim->recorders[i].user, &frame);
    }
  }
  return first;
}

/* Progress of the frames of a step. */
typedef struct inside {
  const saltus_step_report* report;
  double from, end; /* s, last frame or start, and end of the step */
  double middle;    /* s, of the step; infinite: no frame there, or it is reported */
  int reported;     /* events before this one are in the sums */
} inside;

/* Forces of contacts and joints at the state that the scheme has just reached, into sim->forces; false: not
 * available. */
static bool forces_of(saltus_sim* sim, const saltus_state* x) {
  double* by_scheme =
      saltusi_sim_know(sim) == SALTUS_OK ? saltusi_sim_scratch(sim, sim->forces) : NULL;
  bool known = by_scheme != NULL && saltusi_scheme_forces(sim->scheme, x, by_scheme) == SALTUS_OK;
  if (known) {
    saltusi_sim_scatter(sim, by_scheme, sim->forces);
  }
  return known;
}

/* Likewise inside of the last step. */
static void inner_forces(saltus_sim* sim, const saltusi_dense_query* at, double* forces) {
  double* by_scheme = saltusi_sim_scratch(sim, forces);
  if (by_scheme != NULL) {
    saltusi_scheme_dense_forces(sim->scheme, at, by_scheme);
    saltusi_sim_scatter(sim, by_scheme, forces);
  }
}

bool saltusi_sim_joint_forces(saltus_sim* sim, const saltusi_dense_query* at, double* joints) {
  assert(sim != NULL && joints != NULL);
  if (!saltusi_scheme_knows_forces(sim->scheme) || (at == NULL && !forces_of(sim, &sim->now))) {
    return false;
  }
  if (at != NULL) {
    inner_forces(sim, at, sim->forces);
  }
  const size_t nj = (size_t)sim->sys.dims.nj;
  memcpy(joints, sim->forces + 3 * (size_t)sim->sys.dims.nc, nj * sizeof *joints);
  return true;
}

/* Forces at an instant; on the right side of the end of a step those of the final state. */
static bool forces_at(saltus_sim* sim, const inside* in, const saltusi_dense_query* at) {
  if (at->side == SALTUS_RIGHT && at->t >= in->end - rounding(sim, in->end)) {
    return forces_of(sim, &sim->shown);
  }
  inner_forces(sim, at, sim->forces);
  return true;
}

saltus_energy saltusi_observer_ledger(saltus_sim* sim, const saltus_state* x, saltus_side side) {
  assert(sim != NULL && x != NULL);
  if (sim->islands.count == 0) {
    saltusi_ledger_advance(sim->ledger, &sim->ledger_room, x->t, side, sim->contact_works);
    return saltusi_ledger_frame(sim->ledger, &sim->ledger_room, x, side, sim->contact_works,
                                sim->shown_works);
  }
  saltus_energy e = sim->ledger->total;
  memcpy(sim->shown_works, sim->contact_works, (size_t)sim->sys.dims.nc * sizeof *sim->shown_works);
  saltusi_ledger_islands_advance(&sim->islands, x->t, side);
  saltusi_ledger_islands_show(&sim->islands, x->t, side, &e, sim->shown_works);
  saltusi_ledger_compare(sim->ledger, &sim->ledger_room, x, &e);
  return e;
}

/* Reports a frame at a time inside of the step, on one side of it. */
static saltus_status frame_at(saltus_sim* sim, inside* in, double t, saltus_side side) {
  bool known = saltusi_scheme_knows_forces(sim->scheme);
  const saltusi_dense_query query = {.t = t, .side = side, .q = sim->shown.q, .v = sim->shown.v};
  saltus_status status = saltusi_scheme_dense(sim->scheme, 2, &query);
  if (status != SALTUS_OK) {
    saltus_status failed = saltusi_observer_failed(sim, t);
    return failed != SALTUS_OK ? failed : status;
  }
  sim->shown.t = t;
  if (side == SALTUS_RIGHT) {
    in->reported = saltusi_sums_impacts(sim, in->report, in->reported, t + rounding(sim, t));
  }
  if (!known) {
    saltusi_sums_share(sim, in->end > in->from ? (t - in->from) / (in->end - in->from) : 1.0);
  } else if (t > in->from) {
    double* by_scheme = saltusi_sim_scratch(sim, sim->lasting);
    if (by_scheme == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    saltusi_scheme_dense_lasting(sim->scheme, &query, by_scheme);
    saltusi_sim_scatter(sim, by_scheme, sim->lasting);
    saltusi_sums_known(sim);
  }
  in->from = t;
  bool instant = known && t == sim->sums[SALTUSI_SUM_TIME];
  bool now = instant && forces_at(sim, in, &query);
  return report_frame(sim, &sim->shown, saltusi_observer_ledger(sim, &sim->shown, side), now,
                      false);
}

/* Time of the next impact without frames; infinite if there is none. */
static double next_impact(const saltus_sim* sim, const inside* in) {
  for (int i = in->reported; sim->def.record_jumps && i < in->report->event_count; i++) {
    if (in->report->events[i].kind == SALTUS_EVENT_IMPACT) {
      return in->report->events[i].t;
    }
  }
  return INFINITY;
}

/* Reports the frames of a step from t0 to t1: requested times, and both sides of impacts. *reported: number of
 * events in the sums. */
static saltus_status frames_inside(saltus_sim* sim, const saltus_step_report* report, double t0,
                                   double t1, int* reported) {
  inside in = {.report = report, .from = t0, .end = t1, .middle = INFINITY};
  if (sim->def.record_middles && t1 - t0 > 8.0 * rounding(sim, t1)) {
    in.middle = t0 + 0.5 * (t1 - t0);
  }
  size_t rows = 3 * (size_t)sim->sys.dims.nc + (size_t)sim->sys.dims.nj;
  memset(sim->lasting_taken, 0, rows * sizeof(double));
  saltus_status status = SALTUS_OK;
  while (status == SALTUS_OK) {
    if (saltusi_poll(sim)) {
      status = SALTUS_ERR_STOPPED;
      break;
    }
    double listed = at_times(sim) ? next_time(sim) : INFINITY;
    double asked = fmin(listed, in.middle);
    double jump = next_impact(sim, &in);
    double t = isfinite(jump) && jump <= asked + rounding(sim, jump) ? jump : asked;
    if (!(t <= t1 + rounding(sim, t1))) {
      break;
    }
    t = t >= t1 - rounding(sim, t1) ? t1 : fmax(t, in.from);
    sim->record_number += listed <= t + rounding(sim, t);
    in.middle = in.middle <= t + rounding(sim, t) ? INFINITY : in.middle;
    bool seen =
        sim->sums[SALTUSI_SUM_TIME] >= t; /* the frame before is the left side of the jump */
    if (jump <= t + rounding(sim, t) && !seen) {
      status = frame_at(sim, &in, t, SALTUS_LEFT);
    }
    if (status == SALTUS_OK) {
      status = frame_at(sim, &in, t, SALTUS_RIGHT);
    }
  }
  *reported = in.reported;
  return status;
}

/* Motion inside of the last step, for the ledger. */
static saltus_status ledger_motion(void* who, const saltusi_dense_query* at) {
  saltus_sim* sim = who;
  return saltusi_scheme_dense(sim->scheme, 2, at);
}

static void ledger_forces(void* who, const saltusi_dense_query* at, double* forces) {
  saltus_sim* sim = who;
  inner_forces(sim, at, forces);
}

static void ledger_power(void* who, const saltusi_dense_query* at, double power[2]) {
  saltus_sim* sim = who;
  saltusi_scheme_dense_power(sim->scheme, at, power);
}

static void ledger_strikes(void* who, double work[2]) {
  saltus_sim* sim = who;
  saltusi_scheme_dense_work(sim->scheme, work);
}

static bool ledger_bounce(void* who, const saltusi_dense_query* at, saltusi_bounce_inside* bounce) {
  saltus_sim* sim = who;
  saltusi_bounce_inside own = *bounce;
  own.mass = saltusi_sim_scratch(sim, bounce->mass);
  if (own.mass == NULL || !saltusi_scheme_dense_bounce(sim->scheme, at, &own)) {
    return false;
  }
  saltusi_sim_scatter(sim, own.mass, bounce->mass);
  own.mass = bounce->mass;
  own.key = saltusi_sim_key(sim, own.key);
  *bounce = own;
  return own.key >= 0;
}

/* Opens the ledger of a step; halves of a step begin and end in its middle. */
static void open_ledger(saltus_sim* sim, const saltus_step_report* report, double t0, double t1) {
  const saltus_scheme_info* info = saltusi_scheme_info(sim->scheme);
  bool known = saltusi_scheme_knows_forces(sim->scheme);
  sim->ends[0] = sim->next;
  sim->ends[1] = sim->now;
  if (t0 != sim->next.t) {
    sim->ends[0] = (saltus_state){t0, sim->control->middle.q, sim->control->middle.v};
  }
  if (t1 != sim->now.t) {
    sim->ends[1] = (saltus_state){t1, sim->control->middle.q, sim->control->middle.v};
  }
  if (sim->islands.count > 0) {
    saltusi_ledger_begin(sim->ledger, &sim->ledger_room, &sim->ends[0], t0 == sim->next.t);
    saltusi_ledger_islands_open(&sim->islands, t0, t1);
    return;
  }
  sim->motion = (saltusi_ledger_inside){.who = sim,
                                        .motion = ledger_motion,
                                        .forces = known ? ledger_forces : NULL,
                                        .bounce = ledger_bounce,
                                        .power = ledger_power,
                                        .strikes = ledger_strikes};
  const saltusi_ledger_step step = {
      .report = report,
      .x0 = &sim->ends[0],
      .x1 = &sim->ends[1],
      .located = saltusi_report_located(info, report),
      .at_end = info->impacts_at_end,
      .smooth_order = info->smooth_order,
      .inside = info->dense ? &sim->motion : NULL,
  };
  saltusi_ledger_open(sim->ledger, &sim->ledger_room, &step, t0 == sim->next.t);
}

static void close_ledger(saltus_sim* sim) {
  if (sim->islands.count > 0) {
    saltusi_ledger_islands_close(&sim->islands, sim->ledger, sim->contact_works);
    saltusi_ledger_end(sim->ledger, &sim->ledger_room, &sim->ends[1]);
  } else {
    saltusi_ledger_close(sim->ledger, &sim->ledger_room, sim->contact_works);
  }
}

/* Records the violation of joints at the end of the step. */
static void keep_drift(saltus_sim* sim) {
  int nj = sim->sys.dims.nj;
  if (nj == 0) {
    return;
  }
  saltus_point at = {.t = sim->now.t,
                     .q = sim->now.q,
                     .v = sim->now.v,
                     .scratch = sim->scratch,
                     .failure = &sim->failure};
  sim->sys.ops->joints(sim->sys.self, &at, sim->joint_values);
  for (int j = 0; j < nj; j++) {
    double* drift = &sim->sums[SALTUSI_SUM_DRIFT];
    double off = fabs(sim->joint_values[j]);
    *drift = fmax(*drift, off);
    saltusi_residuals_joint(&sim->residuals, SALTUS_RESIDUAL_JOINTS, off, sim->now.t, j);
  }
}

/* Reports events of contacts and of user-defined functions, in order of time. */
static saltus_status report_events(saltus_sim* sim, const saltus_step_report* report, double t0,
                                   double t1) {
  saltus_status first = SALTUS_OK;
  int next = 0;
  saltus_event crossing;
  saltusi_crossing_search search = saltusi_crossings_of(sim, report, t0, t1);
  while (first == SALTUS_OK && saltusi_crossings_next(&search, &crossing)) {
    while (next < report->event_count && report->events[next].t <= crossing.t &&
           first == SALTUS_OK) {
      first = follow_event(sim, &report->events[next++]);
    }
    first = first == SALTUS_OK ? report_event(sim, &crossing) : first;
  }
  first = first == SALTUS_OK ? search.status : first;
  while (next < report->event_count && first == SALTUS_OK) {
    first = follow_event(sim, &report->events[next++]);
  }
  return first;
}

saltus_status saltusi_observer_report(saltus_sim* sim, const saltus_step_report* report, double t0,
                                      double t1) {
  assert(report != NULL && t0 <= t1 && t1 <= sim->now.t && sim->def.recorder_count > 0);
  saltus_status translated = saltusi_sim_translate(sim, &report);
  if (translated != SALTUS_OK) {
    return translated;
  }
  if (!sim->unframed) {
    open_ledger(sim, report, t0, t1);
    saltusi_remainder_open(sim, t0);
  }
  const bool located = saltusi_report_located(saltusi_scheme_info(sim->scheme), report);
  saltus_status first = SALTUS_OK;
  double* sums = sim->sums;
  sim->reports++;
  sim->fastest = -1.0;
  sums[SALTUSI_SUM_VELOCITY] = fmax(sums[SALTUSI_SUM_VELOCITY], report->residual_velocity);
  sums[SALTUSI_SUM_IMPULSE] = fmax(sums[SALTUSI_SUM_IMPULSE], report->residual_impulse);
  sums[SALTUSI_SUM_PROJECTION] = fmax(sums[SALTUSI_SUM_PROJECTION], report->projection);
  keep_drift(sim);
  sums[SALTUSI_SUM_ERROR] = fmax(sums[SALTUSI_SUM_ERROR], report->error);
  sums[SALTUSI_SUM_REJECTIONS] += report->rejections;
  saltus_state end = sim->now;
  if (t1 != sim->now.t) { /* the first of two halves */
    end = (saltus_state){t1, sim->control->middle.q, sim->control->middle.v};
  }
  saltusi_sums_part(sim, report, located, &end);
  saltusi_residuals_step(&sim->residuals, &sim->sys, report, t0, t1, located);
  for (int i = 0; i < report->active; i++) {
    sim->seen[report->contacts[i].key] = sim->reports;
    if (!located) {
      saltus_status status = read_off(sim, &report->contacts[i], true, sim->now.t);
      first = first == SALTUS_OK ? status : first;
    }
  }
  if (first == SALTUS_OK) {
    first = report_events(sim, report, t0, t1);
  }
  if (first == SALTUS_OK) {
    first = report_gains(sim, report);
  }
  if (first == SALTUS_OK) {
    first = follow_released(sim, sim->now.t);
  }
  if (sim->unframed) {
    return first == SALTUS_OK ? saltusi_observer_failed(sim, t1) : first;
  }
  int reported = 0;
  if (first == SALTUS_OK) {
    first = frames_inside(sim, report, t0, t1, &reported);
  }
  saltusi_sums_impacts(sim, report, reported, INFINITY);
  saltusi_sums_rest(sim);
  close_ledger(sim);
  saltusi_residuals_keep(&sim->residuals, SALTUS_RESIDUAL_REMAINDER,
                         fabs(sim->ledger->total.remainder), t1, NULL);
  first = first == SALTUS_OK ? saltusi_motion_check(sim, t1) : first;
  first = first == SALTUS_OK ? saltusi_remainder_check(sim, report, t0, t1) : first;
  saltusi_gain_warn(sim);
  if (first == SALTUS_OK && !located) {
    saltusi_passage_check(sim, report);
  }
  return first == SALTUS_OK ? saltusi_observer_failed(sim, t1) : first;
}

/* Reports the frame of the present state. */
static saltus_status report_now(saltus_sim* sim, bool plain) {
  if (sim->unframed) {
    return SALTUS_OK;
  }
  bool instant = sim->now.t == sim->sums[SALTUSI_SUM_TIME];
  bool known = instant && forces_of(sim, &sim->now);
  memcpy(sim->shown_works, sim->contact_works, (size_t)sim->sys.dims.nc * sizeof *sim->shown_works);
  return report_frame(sim, &sim->now, sim->ledger->total, known, plain);
}

saltus_status saltusi_observer_leave(saltus_sim* sim) {
  assert(sim != NULL);
  bool reported = sim->sums[SALTUSI_SUM_TIME] == sim->now.t;
  return sim->def.recorder_count == 0 || reported ? SALTUS_OK : report_now(sim, false);
}

saltus_status saltusi_observer_stepped(saltus_sim* sim) {
  assert(sim != NULL);
  saltus_status status = SALTUS_OK;
  for (int i = 0; sim->stepped != sim->now.t && i < sim->def.recorder_count; i++) {
    const saltus_recorder* recorder = &sim->recorders[i];
    if (recorder->step != NULL && status == SALTUS_OK) {
      status = recorder->step(recorder->user, sim->now.t, sim->now.q, sim->now.v);
    }
  }
  sim->stepped = sim->now.t;
  return status;
}

void saltusi_sim_show_contacts(saltus_sim* sim) {
  assert(sim != NULL);
  sim->plain = false;
}

saltus_status saltusi_observer_show(saltus_sim* sim, bool due) {
  assert(sim->step >= 0 && sim->def.recorder_count > 0);
  long long every = sim->def.record_every > 0 ? sim->def.record_every : 1;
  bool beat = !at_times(sim) && sim->step % every == 0;
  /* with requested times the last frame may have been reported already */
  bool within = at_times(sim) || sim->def.record_jumps || sim->def.record_middles;
  bool reported = within && sim->step > 0 && sim->sums[SALTUSI_SUM_TIME] == sim->now.t;
  const saltus_status shown = saltusi_observer_stepped(sim);
  if (shown != SALTUS_OK || !(due || beat) || reported) {
    return shown;
  }
  /* fixed steps: gaps of interpenetrating contacts are in the report of the next step */
  const bool located = saltusi_scheme_info(sim->scheme)->locates_events;
  return report_now(sim, sim->plain && sim->changing && !located && !due);
}
