/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_constraints.c - rows of joints and contacts from their formulas.
 *
 *   position formula g(t,q)       U = D g . v + g_t      G = D g, b = g_t      D g = N^T g_q
 *   velocity formula s(t,q,v)     U = s                  G = s_v, b = s at v = 0
 *   both                          c = U_q N v + U_t
 */
#include "formula/derive.h"
#include "formula/message.h"
#include "model/formula_model.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_MOST = 6 };

typedef struct row_source {
  saltusi_graph_span G; /* entries by velocity variable */
  saltusi_expr b, c;
  saltusi_expr U;
  bool kinked; /* constant derivatives do not mean an affine formula */
} row_source;

static int column_of(const saltusi_graph* g, const row_source* r, int k) {
  return g->entries[r->G.first + k].variable - saltusi_velocity(g, 0);
}

static row_source from_position(saltusi_graph* g, saltusi_expr e) {
  row_source r = {.kinked = saltusi_kinks(g, e) != 0};
  r.b = saltusi_explicit_rate(g, e);
  r.U = saltusi_rate(g, e);
  r.c = saltusi_rate(g, r.U);
  r.G = saltusi_slopes(g, e);
  return r;
}

static saltus_status from_velocity(saltusi_formula_builder* b, const saltus_formula_text* formula,
                                   saltusi_expr e, row_source* r) {
  saltusi_graph* g = &b->graph;
  *r = (row_source){.kinked = saltusi_kinks(g, e) != 0};
  if ((saltusi_kinks(g, e) & SALTUSI_ON_VELOCITY) != 0) {
    saltusi_formula_complain(
        b->def->log, SALTUS_LEVEL_ERROR, formula,
        "slip is not linear in the velocities: one occurs in abs, sign, min, max or a condition");
    return SALTUS_ERR_INPUT;
  }
  r->U = e;
  r->b = saltusi_at_rest(g, e);
  r->c = saltusi_rate(g, e);
  r->G = saltusi_gradient(g, e, SALTUSI_ON_VELOCITY);
  for (int k = 0; k < r->G.count && g->status == SALTUS_OK; k++) {
    saltusi_expr entry = g->entries[r->G.first + k].expr;
    if (!saltusi_formula_velocity_free(b, &entry)) {
      const int i = column_of(g, r, k);
      saltusi_formula_error(
          b->def->log, formula, saltusi_formula_find_velocity(b, formula->text, i),
          "slip is not linear in the velocity %s", saltusi_formula_velocity_name(b, i));
      return SALTUS_ERR_INPUT;
    }
    g->entries[r->G.first + k].expr = entry;
  }
  return g->status;
}

/* The columns of all rows together, ascending. */
static void join_columns(saltusi_formula_builder* b, const row_source* sources,
                         saltusi_formula_rows* rows) {
  saltusi_graph* g = &b->graph;
  int room = 0, used = 0;
  for (int r = 0; r < rows->count; r++) {
    room += sources[r].G.count;
  }
  int* column = SALTUSI_TAKE(&b->model->pool, int, room);
  if (column == NULL) {
    return;
  }
  for (int r = 0; r < rows->count; r++) {
    for (int k = 0; k < sources[r].G.count; k++) {
      column[used++] = column_of(g, &sources[r], k);
    }
  }
  saltusi_sort_ascending(column, (size_t)used);
  rows->width = 0;
  for (int k = 0; k < used; k++) {
    if (k == 0 || column[k] != column[k - 1]) {
      column[rows->width] = column[k];
      rows->width++;
    }
  }
  rows->column = column;
}

static int place_of(const int* column, int width, int wanted) {
  int k = 0;
  while (k < width - 1 && column[k] != wanted) {
    k++;
  }
  return k;
}

static void make_rows(saltusi_formula_builder* b, const row_source* sources,
                      saltusi_formula_rows* rows) {
  saltusi_graph* g = &b->graph;
  saltus_formula_model* m = b->model;
  join_columns(b, sources, rows);
  if (m->pool.failed || g->status != SALTUS_OK) {
    return;
  }
  const size_t width = (size_t)rows->width, count = (size_t)rows->count, all = count * width;
  bool constant = true;
  for (int r = 0; r < rows->count; r++) {
    b->constant_rows = b->constant_rows && !sources[r].kinked;
    for (int k = 0; k < sources[r].G.count; k++) {
      saltusi_expr e = g->entries[sources[r].G.first + k].expr;
      int at = place_of(rows->column, rows->width, column_of(g, &sources[r], k));
      saltusi_formula_put(b, (size_t)r * width + (size_t)at, e);
      constant = constant && saltusi_is_constant(g, e);
    }
    saltusi_formula_put(b, all + (size_t)r, sources[r].b);
    constant = constant && saltusi_is_constant(g, sources[r].b);
  }
  saltusi_formula_make(b, all + count, &rows->program);
  b->constant_rows = b->constant_rows && constant;

  /* a constant row is computed now; t, q and v are not used */
  double* fixed = constant ? SALTUSI_TAKE(&m->pool, double, all + count) : NULL;
  double t_register[1];
  if (fixed != NULL && g->status == SALTUS_OK) {
    saltusi_run(&rows->program, 0.0, NULL, NULL, t_register, fixed);
    rows->fixed = fixed;
  }

  saltusi_expr U[ROWS_MOST];
  for (int r = 0; r < rows->count; r++) {
    rows->bent = rows->bent || sources[r].c != g->zero;
    saltusi_formula_put(b, (size_t)r, sources[r].c);
    saltusi_formula_root(b, sources[r].U);
    U[r] = sources[r].U;
  }
  saltusi_formula_make(b, count, &rows->convective);
  saltusi_formula_bound_make(b, U, rows->count, &rows->velocity);
  m->buffer = all + count > m->buffer ? all + count : m->buffer;
}

/* A velocity by formula: the formula itself if it contains a velocity, else the rate of a position. */
static saltus_status make_rate(saltusi_formula_builder* b, const saltus_formula_text* text,
                               const char* kind, const char* name, row_source* source) {
  saltus_formula_text f = saltusi_formula_called(b, text, kind, name);
  saltusi_expr e;
  saltus_status status = saltusi_parse(&b->scope, &f, SALTUSI_ON_ANY, &e);
  if (status != SALTUS_OK) {
    return status;
  }
  if ((saltusi_depends(&b->graph, e) & SALTUSI_ON_VELOCITY) != 0) {
    return from_velocity(b, &f, e, source);
  }
  *source = from_position(&b->graph, e);
  return b->graph.status;
}

static saltus_status make_joint(saltusi_formula_builder* b, int i, saltusi_expr* g_value) {
  const saltus_formula_joint* joint = &b->def->joints[i];
  saltus_formula_text f =
      saltusi_formula_called(b, &joint->constraint, "constraint of joint", joint->name);
  row_source source;
  saltus_status status;
  if (joint->rate) {
    *g_value = saltusi_constant(&b->graph, 0.0);
    status = make_rate(b, &f, "rate of joint", joint->name, &source);
  } else {
    status = saltusi_parse(&b->scope, &f, SALTUSI_ON_TIME | SALTUSI_ON_POSITION, g_value);
    source = from_position(&b->graph, *g_value);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  b->model->joints[i].count = 1;
  make_rows(b, &source, &b->model->joints[i]);
  saltusi_formula_bound_make(b, g_value, 1, &b->model->joints[i].position);
  saltusi_formula_root(b, *g_value);
  b->model->joint_names[i] =
      saltusi_pool_text(&b->model->pool, joint->name != NULL ? joint->name : "");
  return b->graph.status;
}

/* Tangents of contact i and the rates of its friction law, after the normal; returns the number of rows. */
static int make_tangents(saltusi_formula_builder* b, int i, row_source* sources,
                         saltus_status* status) {
  const saltus_formula_contact* contact = &b->def->contacts[i];
  const saltus_formula_rates none = {{0}, {0}, {0}};
  const saltus_formula_rates* rates = contact->rates != NULL ? contact->rates : &none;
  const saltus_friction_law* law = contact->law;
  const bool plane = contact->slip2.text == NULL;
  const bool rolls = law != NULL && law->rolling > 0.0;
  const bool spins = law != NULL && (law->drilling > 0.0 || law->patch != SALTUS_PATCH_NONE);
  const struct {
    const saltus_formula_text* text;
    const char* kind;
    bool needed;
  } all[] = {{&contact->slip, "slip of contact", false},
             {&contact->slip2, "slip2 of contact", false},
             {&rates->rolling, "rate of rolling of contact", rolls},
             {&rates->rolling2, "second rate of rolling of contact", rolls && !plane},
             {&rates->spin, "rate of spin of contact", spins}};
  int rows = 1;
  for (size_t k = 0; k < sizeof all / sizeof *all && *status == SALTUS_OK; k++) {
    if (all[k].text->text != NULL && (k < 2 ? contact->slip.text != NULL : all[k].needed)) {
      *status = make_rate(b, all[k].text, all[k].kind, contact->name, &sources[rows++]);
    } else if (all[k].needed) {
      saltus_formula_text f = saltusi_formula_called(b, &contact->gap, all[k].kind, contact->name);
      saltusi_formula_complain(b->def->log, SALTUS_LEVEL_ERROR, &f,
                               "its friction law needs this rate, and there is none");
      *status = SALTUS_ERR_INPUT;
    }
  }
  return rows;
}

/* The contacts of one definition: one for each part of its gap, alike but for the normal. */
typedef struct contact_group {
  int count;
  const saltusi_expr* gaps; /* [count] */
} contact_group;

static saltus_status read_gap(saltusi_formula_builder* b, int i, contact_group* group) {
  const saltus_formula_contact* contact = &b->def->contacts[i];
  saltus_formula_text f = saltusi_formula_called(b, &contact->gap, "gap of contact", contact->name);
  saltusi_expr gap;
  saltusi_formula_parts parts;
  b->graph.splits = true;
  saltus_status status = saltusi_parse(&b->scope, &f, SALTUSI_ON_TIME | SALTUSI_ON_POSITION, &gap);
  b->graph.splits = false;
  status = status == SALTUS_OK ? saltusi_formula_split(b, &f, gap, &parts) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_expr* kept = SALTUSI_TAKE(&b->work, saltusi_expr, parts.count);
  if (kept == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memcpy(kept, parts.items, (size_t)parts.count * sizeof *kept);
  *group = (contact_group){parts.count, kept};
  return SALTUS_OK;
}

static saltus_status make_contacts(saltusi_formula_builder* b, int i, const contact_group* group,
                                   saltusi_formula_rows* rows) {
  row_source sources[ROWS_MOST];
  saltus_status status = SALTUS_OK;
  const int count = make_tangents(b, i, sources, &status);
  for (int k = 0; k < group->count && status == SALTUS_OK; k++) {
    sources[0] = from_position(&b->graph, group->gaps[k]);
    rows[k].count = count;
    make_rows(b, sources, &rows[k]);
    saltusi_formula_bound_make(b, &group->gaps[k], 1, &rows[k].position);
    saltusi_formula_root(b, group->gaps[k]);
    status = b->graph.status;
  }
  return status;
}

/* A constant in 0..hi, or -1..1 for SALTUSI_EITHER_SIGN; 0 when not given. */
saltus_status saltusi_formula_number(saltusi_formula_builder* b, const saltus_formula_text* formula,
                                     const char* kind, const char* name, double hi, double* value) {
  assert(b != NULL && formula != NULL && kind != NULL);
  *value = 0.0;
  if (formula->text == NULL) {
    return SALTUS_OK;
  }
  saltus_formula_text f = saltusi_formula_called(b, formula, kind, name);
  saltus_status status = saltusi_formula_member(b, &f, b->member_place, value);
  b->member_place = -1;
  const double lo = hi == SALTUSI_EITHER_SIGN ? -1.0 : 0.0;
  if (status == SALTUS_OK && !(*value >= lo && *value <= fabs(hi))) {
    saltusi_formula_error(b->def->log, &f, strspn(f.text, " \t\r\n"), "the value is %g, must be %s",
                          *value,
                          lo < 0.0   ? "between -1 and 1"
                          : hi > 1.0 ? ">= 0"
                                     : "between 0 and 1");
    status = SALTUS_ERR_INPUT;
  }
  return status;
}

static saltus_status make_law(saltusi_formula_builder* b, int i, saltus_contact_law* law) {
  const saltus_formula_contact* c = &b->def->contacts[i];
  law->name = c->name != NULL ? saltusi_pool_text(&b->model->pool, c->name) : NULL;
  law->tangents = c->slip.text == NULL ? 0 : c->slip2.text == NULL ? 1 : 2;
  law->impact = c->impact;
  law->stiffness = c->stiffness;
  law->friction = c->law;
  const int place = saltusi_formula_law_place(b, i);
  b->member_place = place;
  saltus_status status =
      saltusi_formula_number(b, &c->friction, "friction of contact", c->name, 1e300, &law->mu);
  b->member_place = -1;
  if (status == SALTUS_OK && c->impact_friction != NULL) {
    status = saltusi_formula_number(b, c->impact_friction, "impact_friction of contact", c->name,
                                    1e300, &law->impact_mu);
    law->impact_mu = law->impact_mu == 0.0 ? -1.0 : law->impact_mu;
  }
  b->member_place = place + 1;
  if (status == SALTUS_OK) {
    status = saltusi_formula_number(b, &c->restitution, "restitution of contact", c->name, 1.0,
                                    &law->e_N);
  }
  b->member_place = place + 2;
  if (status == SALTUS_OK) {
    status =
        saltusi_formula_number(b, &c->tangential_restitution, "tangential restitution of contact",
                               c->name, SALTUSI_EITHER_SIGN, &law->e_T);
  }
  b->member_place = -1;
  if (status == SALTUS_OK && c->slip.text == NULL && c->slip2.text != NULL) {
    saltus_formula_text f = saltusi_formula_called(b, &c->slip2, "slip2 of contact", c->name);
    saltusi_formula_complain(b->def->log, SALTUS_LEVEL_ERROR, &f,
                             "a second slip without a first one");
    status = SALTUS_ERR_INPUT;
  }
  if (status == SALTUS_OK && c->slip.text == NULL && law->mu > 0.0) {
    saltus_formula_text f = saltusi_formula_called(b, &c->friction, "friction of contact", c->name);
    saltusi_formula_complain(b->def->log, SALTUS_LEVEL_WARNING, &f,
                             "without a slip formula the contact is frictionless");
  }
  return status;
}

/* The laws of a group; parts are called valley[1], valley[2] and so on. */
static saltus_status make_laws(saltusi_formula_builder* b, int i, const contact_group* group,
                               const saltusi_names* taken, saltus_contact_law* laws) {
  const saltus_formula_contact* c = &b->def->contacts[i];
  saltus_status status = make_law(b, i, &laws[0]);
  if (status != SALTUS_OK || group->count == 1) {
    return status;
  }
  for (int k = 0; k < group->count; k++) {
    char text[32];
    laws[k] = laws[0];
    if (c->name == NULL) {
      continue;
    }
    snprintf(text, sizeof text, "[%d]", k + 1);
    laws[k].name = saltusi_pool_join(&b->model->pool, c->name, text);
    if (laws[k].name != NULL && saltusi_names_find(taken, laws[k].name) != NULL) {
      saltus_formula_text f = saltusi_formula_called(b, &c->gap, "gap of contact", c->name);
      saltusi_formula_complain(b->def->log, SALTUS_LEVEL_ERROR, &f,
                               "part %d of this gap is a contact called \"%.63s\", and there is "
                               "another one of that name",
                               k + 1, laws[k].name);
      return SALTUS_ERR_INPUT;
    }
  }
  return b->model->pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

/* The joint of a name, among those by formula; -1: none. */
static int joint_named(const saltusi_formula_builder* b, const char* name) {
  for (int i = 0; name != NULL && i < b->def->joint_count; i++) {
    if (b->def->joints[i].name != NULL && strcmp(b->def->joints[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

/* Dry friction that is written as a sign in a force. */
static saltus_status make_sign(saltusi_formula_builder* b, const saltusi_formula_sign* sign,
                               saltusi_formula_rows* rows, saltus_dry_friction* dry) {
  const saltus_formula_text none = {.text = ""};
  const bool constant = b->constant_rows; /* for contacts and joints only */
  row_source source;
  saltus_status status = from_velocity(b, &none, sign->rate, &source);
  if (status == SALTUS_OK) {
    rows->count = 1;
    make_rows(b, &source, rows);
    const char* name = saltusi_formula_velocity_name(b, column_of(&b->graph, &source, 0));
    *dry = (saltus_dry_friction){
        .name = saltusi_pool_text(&b->model->pool, name), .force = sign->limit, .joint = -1};
  }
  b->constant_rows = constant;
  return status;
}

/* Rows of dry friction. */
static saltus_status make_dry(saltusi_formula_builder* b) {
  saltus_formula_model* m = b->model;
  const saltus_formula_dry* def = b->def->dry;
  int written = 0;
  while (def != NULL && def[written].rate.text != NULL) {
    written++;
  }
  const int count = written + (b->set_valued ? b->sign_count : 0);
  m->dry_rows = SALTUSI_TAKE(&m->pool, saltusi_formula_rows, count);
  saltus_dry_friction* dry = SALTUSI_TAKE(&m->pool, saltus_dry_friction, count);
  if (count > 0 && m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = SALTUS_OK;
  for (int i = written; i < count && status == SALTUS_OK; i++) {
    status = make_sign(b, &b->signs[i - written], &m->dry_rows[i], &dry[i]);
  }
  for (int i = 0; i < written && status == SALTUS_OK; i++) {
    row_source source;
    const bool constant = b->constant_rows; /* for contacts and joints only */
    status = make_rate(b, &def[i].rate, "rate of dry friction", def[i].name, &source);
    if (status != SALTUS_OK) {
      return status;
    }
    m->dry_rows[i].count = 1;
    make_rows(b, &source, &m->dry_rows[i]);
    b->constant_rows = constant;
    dry[i] = (saltus_dry_friction){
        .name = def[i].name != NULL ? saltusi_pool_text(&m->pool, def[i].name) : NULL,
        .force = def[i].force,
        .arm = def[i].arm,
        .joint = joint_named(b, def[i].joint)};
    if (def[i].arm > 0.0 && dry[i].joint < 0) {
      saltus_formula_text f = saltusi_formula_called(b, &def[i].rate, "dry friction", def[i].name);
      saltusi_formula_complain(b->def->log, SALTUS_LEVEL_ERROR, &f,
                               "there is no joint by formula of the name \"%.63s\"",
                               def[i].joint != NULL ? def[i].joint : "");
      return SALTUS_ERR_INPUT;
    }
  }
  m->system.dry = dry;
  m->system.dry_count = count;
  return status;
}

/* Sparse rows are faster if they are much narrower than dense ones. */
static int choose_row_width(const saltus_formula_model* m, int nv) {
  enum { SMALL = 8 };
  int widest = 1;
  for (int i = 0; i < m->system.dims.nc; i++) {
    widest = m->contacts[i].width > widest ? m->contacts[i].width : widest;
  }
  for (int i = 0; i < m->system.dims.nj; i++) {
    widest = m->joints[i].width > widest ? m->joints[i].width : widest;
  }
  for (int i = 0; i < m->system.dry_count; i++) {
    widest = m->dry_rows[i].width > widest ? m->dry_rows[i].width : widest;
  }
  return nv > SMALL && 2 * widest < nv ? widest : 0;
}

static saltus_status make_joints(saltusi_formula_builder* b) {
  saltus_formula_model* m = b->model;
  const int nj = b->def->joint_count;
  m->joints = SALTUSI_TAKE(&m->pool, saltusi_formula_rows, nj);
  m->joint_names = SALTUSI_TAKE(&m->pool, const char*, nj);
  m->system.joint_names = m->joint_names;
  bool* rates = SALTUSI_TAKE(&m->pool, bool, nj);
  saltusi_expr* values = SALTUSI_TAKE(&b->work, saltusi_expr, nj);
  if (m->pool.failed || b->work.failed) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < nj && status == SALTUS_OK; i++) {
    status = make_joint(b, i, &values[i]);
    rates[i] = b->def->joints[i].rate;
    m->system.rate_rows = rates[i] ? rates : m->system.rate_rows;
  }
  for (int i = 0; i < nj && status == SALTUS_OK; i++) {
    saltusi_formula_put(b, (size_t)i, values[i]);
  }
  if (status == SALTUS_OK) {
    saltusi_formula_make(b, (size_t)nj, &m->constraints);
  }
  m->system.dims.nj = nj;
  return status;
}

static saltus_status read_gaps(saltusi_formula_builder* b, contact_group* groups, int* total,
                               saltusi_names* names) {
  const int count = b->def->contact_count;
  saltus_status status = saltusi_names_start(names, count, &b->work);
  *total = 0;
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    status = read_gap(b, i, &groups[i]);
    *total += groups[i].count;
    if (b->def->contacts[i].name != NULL) {
      saltusi_names_add(names, (saltusi_name){.text = b->def->contacts[i].name});
    }
  }
  return status;
}

saltus_status saltusi_formula_constraints(saltusi_formula_builder* b) {
  assert(b != NULL);
  const saltus_formula_def* def = b->def;
  saltus_formula_model* m = b->model;
  saltus_status status = make_joints(b);
  contact_group* groups = SALTUSI_TAKE(&b->work, contact_group, def->contact_count);
  if (groups == NULL || status != SALTUS_OK) {
    return groups == NULL ? SALTUS_ERR_MEMORY : status;
  }
  saltusi_names names;
  int nc = 0;
  status = read_gaps(b, groups, &nc, &names);
  m->contacts = SALTUSI_TAKE(&m->pool, saltusi_formula_rows, nc);
  m->contact_of = SALTUSI_TAKE(&m->pool, int, nc);
  saltus_contact_law* laws = SALTUSI_TAKE(&m->pool, saltus_contact_law, nc);
  if (status == SALTUS_OK && m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0, at = 0; i < def->contact_count && status == SALTUS_OK; i++) {
    status = make_contacts(b, i, &groups[i], &m->contacts[at]);
    status = status == SALTUS_OK ? make_laws(b, i, &groups[i], &names, &laws[at]) : status;
    for (int k = 0; k < groups[i].count; k++) {
      m->contact_of[at++] = i;
    }
  }
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0, at = 0; i < def->contact_count; i++) {
    for (int k = 0; k < groups[i].count; k++) {
      saltusi_formula_put(b, (size_t)at++, groups[i].gaps[k]);
    }
  }
  saltusi_formula_make(b, (size_t)nc, &m->gaps);
  m->system.laws = laws;
  m->system.law_count = nc;
  m->system.dims.nc = nc;
  status = make_dry(b);
  if (status != SALTUS_OK) {
    return status;
  }
  m->system.dims.row_width = choose_row_width(m, b->nv);
  return b->graph.status;
}
