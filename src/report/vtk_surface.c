/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * vtk_surface.c - surfaces in one state: positions and velocities of their points.
 */
#include "report/vtk_job.h"

#include <assert.h>
#include <string.h>

static void turned(const double R[9], const double x[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = R[3 * k] * x[0] + R[3 * k + 1] * x[1] + R[3 * k + 2] * x[2];
  }
}

/* Nodes of flexible bodies at frame f, in body axes. */
static void deform(saltusi_vtk_job* job, long long f) {
  const saltus_recording_data* data = job->d.data;
  for (int i = 0; i < job->flexible_count; i++) {
    const saltusi_vtk_flexible* flexible = &job->flexible[i];
    const saltus_flexible* d = flexible->data;
    const double* eta = data->q + f * data->nq + flexible->eta;
    const double* rate = data->v + f * data->nv + flexible->eta;
    for (int n = 0; n < 3 * d->nodes && flexible->body >= 0; n++) {
      const double* shape = d->shape + (ptrdiff_t)n * d->modes;
      double* change = flexible->change + (ptrdiff_t)(n / 3) * 6 + n % 3;
      change[0] = change[3] = 0.0;
      for (int k = 0; k < d->modes; k++) {
        change[0] += shape[k] * eta[k];
        change[3] += shape[k] * rate[k];
      }
      job->moving.point[flexible->first + n / 3].x[n % 3] = d->node[n] + change[0];
    }
  }
}

/* Displacement and its rate of point i of moving bodies, in body axes; NULL: it is no node. */
static const double* change_of(const saltusi_vtk_job* job, const saltusi_surface* s, size_t i) {
  for (int k = 0; k < job->flexible_count && s == &job->moving; k++) {
    const saltusi_vtk_flexible* f = &job->flexible[k];
    if (f->body >= 0 && i >= (size_t)f->first && i < (size_t)f->first + (size_t)f->data->nodes) {
      return f->change + 6 * (i - (size_t)f->first);
    }
  }
  return NULL;
}

void saltusi_vtk_place_bodies(saltusi_vtk_job* job, long long f) {
  assert(job != NULL && f >= 0 && f < job->d.data->count);
  const saltusi_document* d = &job->d;
  const double t = d->data->t[f];
  const double* q = d->data->q + f * d->data->nq + d->q_first;
  const double* v = saltusi_document_velocities(d, f) + d->v_first;
  const bool plane = d->mechanism != NULL && saltus_mechanism_sizes(d->mechanism).dimension == 2;
  for (int b = 0; b < job->bodies; b++) {
    saltusi_placed* p = &job->body[b];
    const saltus_body_place body = saltusi_document_body(d, b);
    memset(p, 0, sizeof *p);
    saltus_mechanism_pose(d->mechanism, b, t, q, p->x, p->R);
    if (body.kind == SALTUS_BODY_DRIVEN) {
      p->step = saltusi_difference_step(d->data, f);
      saltus_mechanism_pose(d->mechanism, b, t - p->step, q, p->before_x, p->before_R);
      saltus_mechanism_pose(d->mechanism, b, t + p->step, q, p->after_x, p->after_R);
    } else if (body.v >= 0 && plane) {
      memcpy(p->v, v + body.v, 2 * sizeof *v);
      p->w[2] = v[body.v + 2];
    } else if (body.v >= 0) {
      memcpy(p->v, v + body.v, 3 * sizeof *v);
      turned(p->R, v + body.v + 3, p->w);
    }
  }
  deform(job, f);
}

static void place_point(const saltusi_vtk_job* job, const saltusi_surface_point* point, double x[3],
                        double rate[3]) {
  memcpy(x, point->x, 3 * sizeof *x);
  rate[0] = rate[1] = rate[2] = 0.0;
  if (point->body < 0) {
    return;
  }
  const saltusi_placed* p = &job->body[point->body];
  double arm[3], before[3], after[3];
  turned(p->R, point->x, arm);
  turned(p->before_R, point->x, before);
  turned(p->after_R, point->x, after);
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    x[k] = p->x[k] + arm[k];
    rate[k] = p->step > 0.0
                  ? (p->after_x[k] + after[k] - p->before_x[k] - before[k]) / (2.0 * p->step)
                  : p->v[k] + p->w[i] * arm[j] - p->w[j] * arm[i];
  }
}

/* Cells of drawn objects, after those of bodies. */
static void append_drawn(saltusi_surface* s, const saltusi_surface* drawn) {
  const int first = (int)s->points;
  s->body = -1;
  for (size_t i = 0; i < drawn->points; i++) {
    saltusi_surface_point_add(s, drawn->point[i].x[0], drawn->point[i].x[1], drawn->point[i].x[2]);
  }
  for (int k = 0; k < SALTUSI_CELL_KINDS; k++) {
    const saltusi_cells* c = &drawn->cells[k];
    for (size_t i = 0; i < c->count; i++) {
      s->thing = c->list[i].thing;
      saltusi_surface_cell_add(s, (saltusi_cell_kind)k, c->corner + c->list[i].first,
                               c->list[i].count);
    }
    saltusi_cells* own = &s->cells[k];
    for (size_t i = own->corners - (s->failed ? 0 : c->corners); i < own->corners; i++) {
      own->corner[i] += first;
    }
  }
}

void saltusi_vtk_draw(saltusi_vtk_job* job, long long f) {
  assert(job != NULL && job->has_drawing);
  const saltus_drawing* drawing = job->drawer.drawing;
  const double h = saltusi_difference_step(job->d.data, f);
  const double shift[3] = {0.0, -h, h};
  job->step = h;
  const saltusi_surface_mark none = {0};
  for (int side = 0; side < 3; side++) {
    saltusi_surface* s = &job->drawn[side];
    saltusi_surface_back(s, &none);
    saltusi_drawer_values(&job->drawer, f, shift[side], job->drawer.values[0]);
    for (int i = 0; i < drawing->count; i++) {
      s->thing = job->thing_count - drawing->count + i;
      saltusi_surface_drawn(s, &drawing->things[i], drawing->dimension, job->drawer.values[0]);
    }
  }
  append_drawn(&job->moving, &job->drawn[0]);
}

static void write_cell_data(saltusi_vtk_job* job, const saltusi_surface* s) {
  static const char* const names[] = {"body", "thing"};
  saltusi_vtk_open(&job->file, "CellData");
  for (int which = 0; which < 2; which++) {
    saltusi_vtk_array(&job->file, names[which], SALTUSI_VTK_INT32, 1);
    for (int k = 0; k < SALTUSI_CELL_KINDS; k++) {
      for (size_t i = 0; i < s->cells[k].count; i++) {
        const saltusi_cell* cell = &s->cells[k].list[i];
        saltusi_vtk_whole(&job->file, (uint64_t)(int64_t)(which == 0 ? cell->body : cell->thing));
      }
    }
    saltusi_vtk_array_end(&job->file);
  }
  saltusi_vtk_close(&job->file, "CellData");
}

/* Point i of a surface and its velocity; by differences for drawn objects. */
static void point_now(const saltusi_vtk_job* job, const saltusi_surface* s, size_t i, double x[3],
                      double rate[3]) {
  if (s != &job->moving || i < job->of_bodies) {
    place_point(job, &s->point[i], x, rate);
    const double* change = change_of(job, s, i);
    if (change != NULL) {
      double own[3];
      turned(job->body[s->point[i].body].R, change + 3, own);
      for (int k = 0; k < 3; k++) {
        rate[k] += own[k];
      }
    }
    return;
  }
  const size_t j = i - job->of_bodies;
  for (int k = 0; k < 3; k++) {
    x[k] = job->drawn[0].point[j].x[k];
    rate[k] = (job->drawn[2].point[j].x[k] - job->drawn[1].point[j].x[k]) / (2.0 * job->step);
  }
}

void saltusi_vtk_write_surface(saltusi_vtk_job* job, const saltusi_surface* s, double t) {
  assert(job != NULL && s != NULL);
  saltusi_vtk_file* file = &job->file;
  const size_t cells[SALTUSI_CELL_KINDS] = {s->cells[0].count, s->cells[1].count,
                                            s->cells[2].count};
  double x[3], rate[3];
  saltusi_vtk_begin(file, t);
  saltusi_vtk_names(file, "things", job->things, job->thing_count);
  saltusi_vtk_names(file, "bodies", job->names, job->bodies);
  saltusi_vtk_piece(file, s->points, cells);
  saltusi_vtk_open(file, "PointData Vectors=\"velocity\"");
  saltusi_vtk_array(file, "velocity", SALTUSI_VTK_FLOAT32, 3);
  for (size_t i = 0; i < s->points; i++) {
    point_now(job, s, i, x, rate);
    saltusi_vtk_vector(file, rate);
  }
  saltusi_vtk_array_end(file);
  if (job->flexible_count > 0 && s == &job->moving) {
    saltusi_vtk_array(file, "displacement", SALTUSI_VTK_FLOAT32, 3);
    for (size_t i = 0; i < s->points; i++) {
      const double* change = change_of(job, s, i);
      double own[3] = {0.0};
      if (change != NULL) {
        turned(job->body[s->point[i].body].R, change, own);
      }
      saltusi_vtk_vector(file, own);
    }
    saltusi_vtk_array_end(file);
  }
  saltusi_vtk_close(file, "PointData");
  write_cell_data(job, s);
  saltusi_vtk_open(file, "Points");
  saltusi_vtk_array(file, "Points", SALTUSI_VTK_FLOAT32, 3);
  for (size_t i = 0; i < s->points; i++) {
    point_now(job, s, i, x, rate);
    saltusi_vtk_vector(file, x);
  }
  saltusi_vtk_array_end(file);
  saltusi_vtk_close(file, "Points");
  saltusi_vtk_cells(file, s);
  saltusi_vtk_end(file);
}
