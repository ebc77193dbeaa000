/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * shapes.c - shapes, materials and exceptions of a definition.
 *
 *   law of two materials      mu = sqrt(mu_a mu_b),   e = max(e_a, e_b),   e_T the same
 */
#include "base/log.h"
#include "base/reserved.h"
#include "base/suggest.h"
#include "body/contacts.h"
#include "body/define.h"
#include "shape/polytope/polytope.h"
#include "system/frictions.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- materials ---- */

static saltus_status material_of(const saltusi_definition* d, const saltus_material_def* def,
                                 saltusi_index* names) {
  const char* copy;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_material_def", d->def->log);
  status =
      status == SALTUS_OK ? saltusi_define_name(d, "material", def->name, names, &copy) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  if (!(def->friction >= 0.0 && def->friction <= SALTUSI_FRICTION_MOST)) {
    return saltusi_define_refuse(d, "material", def->name,
                                 "its friction is %g, must be at least 0 and at most 1e300",
                                 def->friction);
  }
  const double e[2] = {def->restitution, def->tangential_restitution};
  for (int k = 0; k < 2; k++) {
    if (!(e[k] >= -k && e[k] <= 1.0)) {
      return saltusi_define_refuse(d, "material", def->name,
                                   "its %srestitution is %g, must be between %d and 1",
                                   k == 1 ? "tangential_" : "", e[k], -k);
    }
  }
  return SALTUS_OK;
}

static saltus_contact_law law_of(const saltus_mechanism* m, const char* name, double mu, double e_N,
                                 double e_T) {
  return (saltus_contact_law){.name = name,
                              .tangents = mu > 0.0 ? (m->plane ? 1 : 2) : 0,
                              .mu = mu,
                              .e_N = e_N,
                              .e_T = mu > 0.0 ? e_T : 0.0};
}

static void set_friction(const saltus_mechanism* m, const saltus_friction_law* friction,
                         saltus_contact_law* law) {
  const bool needs_mu = friction != NULL && (friction->across > 0.0 || friction->sliding[0] > 0.0 ||
                                             friction->curve != SALTUS_CURVE_CONSTANT ||
                                             friction->patch != SALTUS_PATCH_NONE);
  if (friction != NULL &&
      (law->mu > 0.0 || !needs_mu)) { /* without these for a frictionless partner */
    law->friction = friction;
    law->tangents = m->plane ? 1 : 2;
  }
}

/* In the plane there is no spin about a normal. */
static saltus_status check_friction(const saltusi_definition* d, const char* section,
                                    const char* name, const saltus_friction_law* law) {
  const bool spins = law != NULL && (law->drilling > 0.0 || law->patch != SALTUS_PATCH_NONE);
  if (spins && d->m->plane) {
    return saltusi_define_refuse(d, section, name,
                                 "drilling and a patch need spin, which the plane has not");
  }
  return SALTUS_OK;
}

/* sqrt(a b), also where a b overflows or underflows. */
static double geometric_mean(double a, double b) {
  const double product = a * b;
  return product >= DBL_MIN && product <= DBL_MAX ? sqrt(product) : sqrt(a) * sqrt(b);
}

/* Friction coefficient of a material in impacts. */
static double of_impacts(const saltus_material_def* m) {
  return m->impact_friction != 0.0 ? fmax(m->impact_friction, 0.0) : m->friction;
}

/* The law that two materials have without an exception. */
static saltus_contact_law mixed(const saltusi_definition* d, int i, int j, const char* name) {
  const saltus_material_def none = {0};
  const saltus_material_def* a = i < d->def->material_count ? &d->def->materials[i] : &none;
  const saltus_material_def* b = j < d->def->material_count ? &d->def->materials[j] : &none;
  saltus_contact_law law = law_of(d->m, name, geometric_mean(a->friction, b->friction),
                                  fmax(a->restitution, b->restitution),
                                  fmax(a->tangential_restitution, b->tangential_restitution));
  if (law.mu > 0.0 && (a->impact_friction != 0.0 || b->impact_friction != 0.0)) {
    const double mu = geometric_mean(of_impacts(a), of_impacts(b));
    law.impact_mu = mu > 0.0 ? mu : -1.0;
  }
  law.impact = a->impact != SALTUS_IMPACT_NEWTON ? a->impact : b->impact;
  set_friction(d->m, a->law != NULL ? a->law : b->law, &law);
  return law;
}

static bool are_same(const saltus_friction_law* a, const saltus_friction_law* b) {
  return a->across == b->across && a->sliding[0] == b->sliding[0] &&
         a->sliding[1] == b->sliding[1] && a->curve == b->curve && a->kinetic == b->kinetic &&
         a->speed == b->speed && a->exponent == b->exponent && a->own == b->own &&
         a->viscous == b->viscous && a->rolling == b->rolling && a->drilling == b->drilling &&
         a->patch == b->patch && a->radius == b->radius && a->ellipsoid == b->ellipsoid &&
         a->rebinds == b->rebinds && a->adhesion == b->adhesion && a->shear == b->shear;
}

/* Two different friction laws cannot be combined either. */
static saltus_status check_frictions(const saltusi_definition* d) {
  const saltus_material_def* first = NULL;
  for (int i = 0; i < d->def->material_count; i++) {
    const saltus_material_def* material = &d->def->materials[i];
    if (material->law == NULL) {
      continue;
    }
    saltus_status status = check_friction(d, "materials", material->name, material->law);
    if (status != SALTUS_OK) {
      return status;
    }
    first = first == NULL ? material : first;
    if (!are_same(first->law, material->law)) {
      return saltusi_define_refuse(d, "materials", material->name,
                                   "its friction law is not that of \"%s\"; two laws have no mean, "
                                   "give one of them by contact_pairs",
                                   first->name);
    }
  }
  return SALTUS_OK;
}

/* Two different impact laws other than Newton's cannot be combined. */
static saltus_status check_impacts(const saltusi_definition* d) {
  const saltus_material_def* first = NULL;
  for (int i = 0; i < d->def->material_count; i++) {
    const saltus_material_def* material = &d->def->materials[i];
    if (material->impact == SALTUS_IMPACT_NEWTON) {
      continue;
    }
    if (first != NULL && first->impact != material->impact) {
      return saltusi_define_refuse(d, "material", material->name,
                                   "its impact law is another than that of \"%.63s\"; give one of "
                                   "them by contact_pairs",
                                   first->name);
    }
    first = material;
  }
  return SALTUS_OK;
}

static const char* pair_name(saltus_mechanism* m, const char* a, const char* b) {
  const char* first = saltusi_pool_join(&m->pool, a, "/");
  return first != NULL ? saltusi_pool_join(&m->pool, first, b) : NULL;
}

/* One law for each pair of materials, after those of limits. */
static saltus_status mix_materials(const saltusi_definition* d) {
  saltus_mechanism* m = d->m;
  saltusi_world* world = m->world;
  saltus_status status = check_impacts(d);
  status = status == SALTUS_OK ? check_frictions(d) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  const int n = d->def->material_count + 1; /* the last is that of shapes without one */
  int* table = SALTUSI_TAKE(&m->pool, int, n* n);
  saltus_contact_law* laws = SALTUSI_TAKE(
      &m->pool, saltus_contact_law, m->limit_count + n * (n + 1) / 2 + d->def->contact_pair_count);
  if (m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  if (m->limit_count > 0) {
    memcpy(laws, m->laws, (size_t)m->limit_count * sizeof *laws);
  }
  m->laws = laws;
  m->law_count = m->limit_count;
  for (int i = 0; i < n && !m->pool.failed; i++) {
    for (int j = i; j < n && !m->pool.failed; j++) {
      const char* a = i < n - 1 ? d->def->materials[i].name : "default";
      const char* b = j < n - 1 ? d->def->materials[j].name : "default";
      laws[m->law_count] = mixed(d, i, j, pair_name(m, a, b));
      table[i * n + j] = table[j * n + i] = m->law_count++;
    }
  }
  world->materials = n;
  world->law = m->material_law = table;
  return m->pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

/* ---- shapes ---- */

/* Data of shapes before their creation. */
enum { MODELS = 8 };

typedef struct shapes_reading {
  saltusi_index materials, shapes, groups;
  saltus_shape_def model[MODELS]; /* the last distinct definitions, in body axes */
  const saltusi_shape* made[MODELS];
  int models; /* so far */
} shapes_reading;

static saltus_status group_bit(const saltusi_definition* d, const saltus_body_shape_def* def,
                               const char* name, saltusi_index* groups, uint64_t* bits) {
  enum { MOST = 64 };
  if (name == NULL || name[0] == '\0') {
    return saltusi_define_refuse(d, "shape", def->shape.name, "a group has no name");
  }
  int place = saltusi_index_find(groups, name);
  if (place < 0 && groups->count >= MOST) {
    return saltusi_define_refuse(d, "shape", def->shape.name,
                                 "group \"%s\" is number %d, must be at most %d", name, MOST + 1,
                                 MOST);
  }
  if (place < 0) {
    const char* copy = saltusi_pool_text(&d->m->pool, name);
    place = copy != NULL ? saltusi_index_add(groups, copy) : 0;
  }
  *bits |= (uint64_t)1 << place;
  return SALTUS_OK;
}

/* "ball.1" where a shape has no name. */
static const char* shape_name(const saltusi_definition* d, int i, const char* body, int number) {
  const char* given = d->def->shapes[i].shape.name;
  if (given != NULL && given[0] != '\0') {
    return given;
  }
  char text[160];
  snprintf(text, sizeof text, "%.120s.%d", body, number);
  return saltusi_pool_text(&d->m->pool, text);
}

static saltusi_mobility mobility_of(const saltusi_body* body) {
  return body->kind == SALTUS_BODY_FREE     ? SALTUSI_MOBILITY_FREE
         : body->kind == SALTUS_BODY_DRIVEN ? SALTUSI_MOBILITY_DRIVEN
                                            : SALTUSI_MOBILITY_FIXED;
}

/* Width of a convex solid: least distance of two parallel lines or planes that enclose it, one of them along a side or
 * face. */
static double width(const saltus_shape_def* def, const saltusi_shape* made) {
  double least = INFINITY;
  const saltusi_polytope* p = made->polytope;
  for (int f = 0; p != NULL && f < p->faces; f++) {
    double deepest = 0.0;
    for (int k = 0; k < p->vertices; k++) {
      deepest = fmax(deepest, p->face[f].offset - saltusi_dot3(p->face[f].normal, p->vertex[k]));
    }
    least = fmin(least, deepest);
  }
  for (int i = 0; p == NULL && i < def->point_count; i++) {
    const double *a = def->points + 2 * i, *b = def->points + 2 * ((i + 1) % def->point_count);
    const double e[2] = {b[0] - a[0], b[1] - a[1]}, length = hypot(e[0], e[1]);
    double deepest = 0.0;
    for (int k = 0; k < def->point_count; k++) {
      const double* c = def->points + 2 * k;
      deepest = fmax(deepest, (e[0] * (c[1] - a[1]) - e[1] * (c[0] - a[0])) / length);
    }
    least = fmin(least, deepest);
  }
  return least + 2.0 * def->radius;
}

/* Thickness of the thinnest part of a solid, m. Surfaces have none, and unbounded solids cannot be passed through. */
static double thickness(const saltus_shape_def* def, const saltusi_shape* made) {
  switch (def->kind) {
  case SALTUS_SHAPE_CIRCLE:
  case SALTUS_SHAPE_SPHERE:
    return def->hollow ? INFINITY : 2.0 * def->radius;
  case SALTUS_SHAPE_HALF_PLANE:
  case SALTUS_SHAPE_HALF_SPACE:
    return INFINITY;
  case SALTUS_SHAPE_SEGMENT:
  case SALTUS_SHAPE_CAPSULE:
  case SALTUS_SHAPE_TORUS:
    return 2.0 * def->radius;
  case SALTUS_SHAPE_CYLINDER:
  case SALTUS_SHAPE_CONE:
    return fmin(2.0 * def->radius, def->length);
  case SALTUS_SHAPE_ELLIPSOID:
    return 2.0 * fmin(def->size[0], fmin(def->size[1], def->size[2]));
  case SALTUS_SHAPE_BOX:
    return fmin(def->size[0], fmin(def->size[1], def->size[2])) + 2.0 * def->radius;
  case SALTUS_SHAPE_POLYGON:
  case SALTUS_SHAPE_HULL:
    return width(def, made);
  case SALTUS_SHAPE_CHAIN:
  case SALTUS_SHAPE_MESH:
  case SALTUS_SHAPE_HEIGHTFIELD:
    break;
  }
  return 0.0;
}

/* Creates a shape, or reuses one of the last with an equal definition. */
static saltus_status make_shape(const saltusi_definition* d, const saltus_shape_def* def,
                                shapes_reading* r, saltusi_shape* out) {
  for (int k = 0; k < MODELS && k < r->models; k++) {
    if (saltusi_shape_is_alike(&r->model[k], def)) {
      return saltusi_shape_repeat(r->made[k], def->name, &d->m->pool, out);
    }
  }
  const int place = r->models++ % MODELS;
  r->model[place] = *def;
  r->made[place] = out;
  return saltusi_shape_make(def, d->m->plane ? 2 : 3, &d->m->pool, d->def->log, out);
}

static saltus_status shape_of(const saltusi_definition* d, int i, int number, shapes_reading* r,
                              saltusi_instance* out) {
  const saltus_body_shape_def* def = &d->def->shapes[i];
  saltus_mechanism* m = d->m;
  const saltusi_body* body = &m->bodies[out->carrier];
  saltus_shape_def shape = def->shape;
  const char* copy;
  shape.name = shape_name(d, i, body->name, number);
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_body_shape_def", d->def->log);
  status =
      status == SALTUS_OK ? saltusi_define_name(d, "shape", shape.name, &r->shapes, &copy) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  out->tag = i;
  out->mobility = mobility_of(body);
  out->material = d->def->material_count;
  const int usual = saltusi_index_find(&r->materials, "default");
  out->material = usual >= 0 ? usual : out->material;
  if (def->material != NULL) {
    status = saltusi_define_find(d, "shape", shape.name, &r->materials, "material", def->material,
                                 &out->material);
  }
  for (int k = 0; status == SALTUS_OK && k < def->group_count; k++) {
    status = group_bit(d, def, def->groups[k], &r->groups, &out->groups);
  }
  for (int k = 0; k < 3; k++) {
    shape.position[k] -= body->origin[k];
  }
  if (status == SALTUS_OK) {
    status = make_shape(d, &shape, r, &out->shape);
  }
  out->thickness = status == SALTUS_OK ? thickness(&shape, &out->shape) : 0.0;
  if (status == SALTUS_OK && out->mobility == SALTUSI_MOBILITY_FREE &&
      !isfinite(out->shape.radius)) {
    return saltusi_define_refuse(
        d, "shape", shape.name,
        "has no end, but its body \"%s\" is free; give it to the world, or "
        "to a fixed or driven body",
        body->name);
  }
  return status;
}

static saltus_status make_shapes(const saltusi_definition* d, shapes_reading* r) {
  saltus_mechanism* m = d->m;
  const int n = d->def->shape_count;
  int* number = SALTUSI_TAKE(&m->pool, int, m->body_count + 1);
  m->world->instance = SALTUSI_TAKE(&m->pool, saltusi_instance, n);
  if (m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = SALTUS_OK;
  for (int i = 0; status == SALTUS_OK && i < n; i++) {
    saltusi_instance* instance = &m->world->instance[i];
    instance->carrier = m->shape_body[i];
    status = shape_of(d, i, ++number[instance->carrier], r, instance);
  }
  m->world->count = n;
  m->world->carriers = m->body_count + 1;
  return status;
}

/* ---- exceptions ---- */

/* Whether a name of an exception matches an instance. */
static bool means(const saltusi_definition* d, const shapes_reading* r, const saltusi_instance* at,
                  const char* name) {
  const saltus_mechanism* m = d->m;
  const int group = saltusi_index_find(&r->groups, name);
  return strcmp(at->shape.name, name) == 0 || strcmp(m->bodies[at->carrier].name, name) == 0 ||
         (group >= 0 && (at->groups >> group & 1U) != 0) ||
         (at->material < d->def->material_count &&
          strcmp(d->def->materials[at->material].name, name) == 0);
}

static saltus_status unknown_name(const saltusi_definition* d, const shapes_reading* r,
                                  const char* name) {
  const saltusi_index* all[] = {&r->shapes, &d->m->body_names, &r->groups, &r->materials};
  const char* near = NULL;
  for (int k = 0; k < 4 && near == NULL; k++) {
    near = saltusi_suggest(name, all[k]->texts, all[k]->count);
  }
  saltusi_log(
      d->def->log, SALTUS_LEVEL_ERROR,
      "contact_pairs \"%s\": there is no shape, body with shapes, group or material of that "
      "name%s%s%s",
      name, near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
      near != NULL ? "\"?" : "");
  return SALTUS_ERR_NAME;
}

/* Adds an exception for all instances that two names match; only counts if `list` is NULL. */
static int add_exceptions(const saltusi_definition* d, const shapes_reading* r,
                          const saltus_contact_pair_def* pair, int law, saltusi_exception* list,
                          int count) {
  const saltusi_world* world = d->m->world;
  for (int i = 0; i < world->count; i++) {
    const saltusi_instance* a = &world->instance[i];
    const bool first = means(d, r, a, pair->between[0]), second = means(d, r, a, pair->between[1]);
    for (int j = i + 1; (first || second) && j < world->count; j++) {
      const saltusi_instance* b = &world->instance[j];
      if ((first && means(d, r, b, pair->between[1])) ||
          (second && means(d, r, b, pair->between[0]))) {
        if (list != NULL) {
          list[count] = (saltusi_exception){.a = a->tag, .b = b->tag, .law = law, .order = count};
        }
        count++;
      }
    }
  }
  return count;
}

/* All pairs of shapes of two bodies; list NULL: only counts. */
static int add_between(const saltusi_world* world, int x, int y, saltusi_exception* list,
                       int count) {
  for (int i = 0; i < world->count; i++) {
    for (int j = 0; world->instance[i].carrier == x && j < world->count; j++) {
      if (world->instance[j].carrier != y || i == j) {
        continue;
      }
      if (list != NULL) {
        list[count] = (saltusi_exception){.a = world->instance[i].tag,
                                          .b = world->instance[j].tag,
                                          .law = SALTUSI_LAW_NONE,
                                          .order = count};
      }
      count++;
    }
  }
  return count;
}

/* Shapes of bodies connected by a joint, except the world. */
static int add_neighbours(const saltusi_definition* d, saltusi_exception* list, int count) {
  const saltus_mechanism* m = d->m;
  for (int k = 0; k < m->joint_count; k++) {
    const saltusi_joint* joint = &m->joints[k];
    if (joint->type == SALTUS_JOINT_GEAR || joint->type == SALTUS_JOINT_RACK_AND_PINION) {
      continue;
    }
    const int x = m->markers[joint->between[0]].body, y = m->markers[joint->between[1]].body;
    if (x != m->body_count && y != m->body_count) {
      count = add_between(m->world, x, y, list, count);
    }
  }
  return count;
}

/* Values of an exception that replace those of materials. */
static saltus_status law_of_pair(const saltusi_definition* d, const saltus_contact_pair_def* pair,
                                 int materials[2], int* law) {
  saltus_mechanism* m = d->m;
  const saltus_contact_law usual = mixed(d, materials[0], materials[1], NULL);
  const double mu = isnan(pair->friction) ? usual.mu : pair->friction;
  const double e_N = isnan(pair->restitution) ? usual.e_N : pair->restitution;
  const double e_T = isnan(pair->tangential_restitution) ? usual.e_T : pair->tangential_restitution;
  if (!(mu >= 0.0 && mu <= SALTUSI_FRICTION_MOST)) {
    return saltusi_define_refuse(d, "contact_pairs", pair->between[0],
                                 "friction is %g, must be at least 0 and at most 1e300", mu);
  }
  if (!(e_N >= 0.0 && e_N <= 1.0) || !(e_T >= -1.0 && e_T <= 1.0)) {
    return saltusi_define_refuse(
        d, "contact_pairs", pair->between[0],
        "restitution is %g, must be between 0 and 1 (tangential: -1 and 1)",
        e_N >= 0.0 && e_N <= 1.0 ? e_T : e_N);
  }
  saltus_status status = check_friction(d, "contact_pairs", pair->between[0], pair->law);
  if (status != SALTUS_OK) {
    return status;
  }
  m->laws[m->law_count] = law_of(m, pair_name(m, pair->between[0], pair->between[1]), mu, e_N, e_T);
  m->laws[m->law_count].impact =
      pair->impact > 0 ? (saltus_impact_law)(pair->impact - 1) : usual.impact;
  m->laws[m->law_count].stiffness = pair->stiffness;
  m->laws[m->law_count].impact_mu = pair->impact_friction != 0.0 ? pair->impact_friction
                                    : isnan(pair->friction)      ? usual.impact_mu
                                                                 : 0.0;
  set_friction(m, pair->law != NULL ? pair->law : usual.friction, &m->laws[m->law_count]);
  *law = m->law_count++;
  return SALTUS_OK;
}

/* A material of an instance that matches the name. */
static int material_meant(const saltusi_definition* d, const shapes_reading* r, const char* name) {
  const int place = saltusi_index_find(&r->materials, name);
  for (int i = 0; place < 0 && i < d->m->world->count; i++) {
    if (means(d, r, &d->m->world->instance[i], name)) {
      return d->m->world->instance[i].material;
    }
  }
  return place;
}

/* Laws of exceptions, those between materials into the table. */
static saltus_status read_pairs(const saltusi_definition* d, const shapes_reading* r, int* law) {
  saltus_mechanism* m = d->m;
  saltus_status status = SALTUS_OK;
  for (int i = 0; status == SALTUS_OK && i < d->def->contact_pair_count; i++) {
    const saltus_contact_pair_def* pair = &d->def->contact_pairs[i];
    int material[2] = {-1, -1};
    for (int k = 0; status == SALTUS_OK && k < 2; k++) {
      if (pair->between[k] == NULL) {
        return saltusi_define_refuse(d, "contact_pairs", "", "number %d has no two names", i + 1);
      }
      material[k] = material_meant(d, r, pair->between[k]);
      status = material[k] < 0 ? unknown_name(d, r, pair->between[k]) : status;
    }
    law[i] = pair->touch == SALTUS_TOUCH_NEVER ? SALTUSI_LAW_NONE : SALTUSI_LAW_OF_MATERIALS;
    if (status == SALTUS_OK && pair->touch == SALTUS_TOUCH_LAW) {
      status = law_of_pair(d, pair, material, &law[i]);
    }
    const bool of_materials = status == SALTUS_OK &&
                              saltusi_index_find(&r->materials, pair->between[0]) >= 0 &&
                              saltusi_index_find(&r->materials, pair->between[1]) >= 0;
    if (of_materials && law[i] != SALTUSI_LAW_OF_MATERIALS) {
      const int n = m->world->materials;
      m->material_law[material[0] * n + material[1]] = law[i];
      m->material_law[material[1] * n + material[0]] = law[i];
    }
    law[i] = of_materials ? INT32_MIN : law[i]; /* done */
  }
  return status;
}

static saltus_status except(const saltusi_definition* d, const shapes_reading* r) {
  saltus_mechanism* m = d->m;
  const saltus_mechanism_def* def = d->def;
  int* law = SALTUSI_TAKE(&m->pool, int, def->contact_pair_count);
  if (law == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = read_pairs(d, r, law);
  for (int pass = 0; status == SALTUS_OK && pass < 2; pass++) {
    int count = add_neighbours(d, m->world->exceptions, 0);
    for (int i = 0; i < def->contact_pair_count; i++) {
      count = law[i] == INT32_MIN ? count
                                  : add_exceptions(d, r, &def->contact_pairs[i], law[i],
                                                   m->world->exceptions, count);
    }
    if (pass == 0) {
      m->world->exceptions = SALTUSI_TAKE(&m->pool, saltusi_exception, count);
      status = m->world->exceptions == NULL ? SALTUS_ERR_MEMORY : status;
    }
    m->world->exception_count = count;
  }
  return status;
}

/* ---- the whole ---- */

/* Classes of shapes in contact: sharp, rounded, or hollow (contact from inside). */
enum { CLASSES = 64 };
static int class_of(const saltusi_shape* shape) {
  static_assert(3 * SALTUS_SHAPE_HEIGHTFIELD + 2 < CLASSES, "every kind has three classes");
  return 3 * (int)shape->kind + (shape->rho > 0.0 ? 1 : shape->rho < 0.0 ? 2 : 0);
}

/* Whether contact is supported between a class of shapes and all present ones. */
static bool is_known(const bool known[CLASSES], const bool there[CLASSES]) {
  bool all = true;
  for (int y = 0; y < CLASSES; y++) {
    all = all && (known[y] || !there[y]);
  }
  return all;
}

/* Rejects unsupported pairs of shape kinds at creation. */
static saltus_status check_kinds(const saltusi_definition* d) {
  const saltusi_world* world = d->m->world;
  bool known[CLASSES][CLASSES] = {{false}}, there[CLASSES] = {false};
  for (int i = 0; i < world->count; i++) {
    there[class_of(&world->instance[i].shape)] = true;
  }
  for (int i = 0; i < world->free_count; i++) {
    const saltusi_shape* a = &world->instance[i].shape;
    bool* of_class = known[class_of(a)];
    for (int j = is_known(of_class, there) ? world->count : i + 1; j < world->count; j++) {
      const saltusi_shape* b = &world->instance[j].shape;
      if (of_class[class_of(b)] || saltusi_world_law(world, i, j) < 0) {
        continue;
      }
      if (!saltusi_shape_treats(a, b)) {
        return saltusi_define_refuse(
            d, "shape", a->name,
            "a %s cannot touch the %s \"%s\": contacts of these two kinds are not treated; let "
            "them not collide (contact_pairs), or use other shapes, as hulls of several parts",
            saltus_shape_kind_name(a->kind), saltus_shape_kind_name(b->kind), b->name);
      }
      of_class[class_of(b)] = true;
    }
  }
  return SALTUS_OK;
}

/* Whether a law permits the removal of redundant contacts. */
static saltus_status find_smooth(const saltusi_definition* d) {
  saltus_mechanism* m = d->m;
  bool* smooth = SALTUSI_TAKE(&m->pool, bool, m->law_count);
  bool any = false;
  if (smooth == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < m->law_count; i++) {
    const saltus_contact_law* law = &m->laws[i];
    smooth[i] = law->mu == 0.0 && law->friction == NULL && law->impact == SALTUS_IMPACT_NEWTON;
    any = any || smooth[i];
  }
  m->world->smooth = smooth;
  return any ? saltusi_world_find_means(m->world, &m->pool) : SALTUS_OK;
}

saltus_status saltusi_define_shapes(const saltusi_definition* d) {
  assert(d != NULL);
  saltus_mechanism* m = d->m;
  const saltus_mechanism_def* def = d->def;
  m->law_count = m->limit_count;
  shapes_reading r = {0};
  int groups = 0;
  for (int i = 0; i < def->shape_count; i++) {
    groups += def->shapes[i].group_count > 0 ? def->shapes[i].group_count : 0;
  }
  if (!saltusi_index_start(&r.materials, def->material_count, &m->pool) ||
      !saltusi_index_start(&r.shapes, def->shape_count, &m->pool) ||
      !saltusi_index_start(&r.groups, groups, &m->pool)) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = SALTUS_OK;
  for (int i = 0; status == SALTUS_OK && i < def->material_count; i++) {
    status = material_of(d, &def->materials[i], &r.materials);
  }
  if (status != SALTUS_OK || def->shape_count == 0) {
    return status;
  }
  m->world = SALTUSI_TAKE(&m->pool, saltusi_world, 1);
  if (m->world == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  status = make_shapes(d, &r);
  status = status == SALTUS_OK ? mix_materials(d) : status;
  status = status == SALTUS_OK ? except(d, &r) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_body_pose* pose = SALTUSI_TAKE(&m->pool, saltusi_body_pose, m->body_count + 1);
  if (pose == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  const saltus_point start = {.t = m->t0, .q = m->q0};
  for (int i = 0; i <= m->body_count; i++) {
    saltusi_shapes_body_pose(m, i, &start, &pose[i]);
  }
  status = saltusi_world_make(m->world, pose, &m->pool);
  if (status == SALTUS_ERR_RANGE) {
    return saltusi_define_refuse(d, "mechanism", "shapes",
                                 "shapes have more than 2^28 features in all");
  }
  status = status == SALTUS_OK ? find_smooth(d) : status;
  return status == SALTUS_OK ? check_kinds(d) : status;
}
