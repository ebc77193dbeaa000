/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * parse.h - text to expression.
 *
 *   or | and | not | < <= > >= | + - | * / | unary - | ^ (from the right) | number, name, call, ()
 */
#ifndef SALTUSI_PARSE_H
#define SALTUSI_PARSE_H

#include "base/pool.h"
#include "formula/graph.h"
#include "saltus/formula.h"

enum {
  SALTUSI_TEXT_LONGEST = 1 << 20, /* bytes of one formula */
  SALTUSI_NESTING_MOST = 200      /* nested parentheses, calls and powers */
};

typedef enum saltusi_name_kind {
  SALTUSI_PARAMETER,
  SALTUSI_COORDINATE,
  SALTUSI_INPUT,
  SALTUSI_THING /* has parts: body.x */
} saltusi_name_kind;

typedef struct saltusi_name {
  const char* text;
  saltusi_name_kind kind;
  int index;         /* among the parameters, coordinates, inputs or things */
  double value;      /* of a parameter, once evaluated */
  bool varies;       /* a parameter that depends on inputs */
  saltusi_expr expr; /* of such a parameter */
} saltusi_name;

/* The names of a model, found by hashing. */
typedef struct saltusi_names {
  saltusi_name* items;
  int count;
  int* slots; /* [slot_count] place in items, or -1 */
  size_t slot_count;
} saltusi_names;

/* Reserves capacity for `most` names in the pool. */
saltus_status saltusi_names_start(saltusi_names* names, int most, saltusi_pool* pool);
/* The name found, or NULL. */
saltusi_name* saltusi_names_find(const saltusi_names* names, const char* text);
/* Adds a new name; the capacity has to suffice. The text is not copied. */
void saltusi_names_add(saltusi_names* names, saltusi_name name);

/* Kind of a part of an object. */
typedef enum saltusi_part_kind {
  SALTUSI_PART_NONE,     /* there is no such part */
  SALTUSI_PART_POSITION, /* may have a prime: its rate */
  SALTUSI_PART_VELOCITY, /* may not */
  SALTUSI_PART_RESULT    /* of the motion, such as a force: for outputs only */
} saltusi_part_kind;

/* Names with parts, such as bodies and markers. Expressions are built on request. */
typedef struct saltusi_scene_objects {
  const char* (*kind)(const void* self, int thing); /* "body" */
  /* Names of the parts, NULL past the end. */
  const char* (*part_at)(const void* self, int thing, int i);
  /* Reason for a missing part that other objects of its kind have; NULL: none. */
  const char* (*lacks)(const void* self, int thing, const char* part);
  saltusi_part_kind (*part)(const void* self, saltusi_graph* graph, int thing, const char* part,
                            saltusi_expr* out);
  /* dist(a, b) and angle(a, b) by index in saltusi_scene_object_functions; -1: not defined for these objects. */
  saltusi_expr (*call)(const void* self, saltusi_graph* graph, int function, const int things[2]);
  const void* self;
} saltusi_scene_objects;

typedef struct saltusi_scope {
  saltusi_graph* graph;
  const saltusi_names* names;
  const saltusi_scene_objects* things; /* NULL: none */
  bool results;                        /* parts that are results may occur */
  const char* without_things;          /* reason why they are not allowed; NULL: allowed */
  const char* without_inputs;          /* reason why they are not allowed; NULL: allowed */
  int ramps;                           /* saltus_formula_def.ramps: n; 0: inputs are constants */
  saltus_log log;
} saltusi_scope;

/* `allowed` of formulas over inputs alone. */
enum { SALTUSI_ON_INPUT = 8 };

/* allowed: which variables may occur, SALTUSI_ON_... SALTUS_ERR_INPUT after a message. */
saltus_status saltusi_parse(const saltusi_scope* scope, const saltus_formula_text* formula,
                            unsigned allowed, saltusi_expr* out);

/* A formula without variables, and finite. */
saltus_status saltusi_parse_constant(const saltusi_scope* scope, const saltus_formula_text* formula,
                                     double* value);

#endif
