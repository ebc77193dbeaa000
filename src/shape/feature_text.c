/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * feature_text.c - names of features for tables of events and messages. Numbers in names begin with 1 for every kind
 * of feature: corners of a box in the order of its vertices, the lower of two ends first.
 */
#include "shape/curved/curved.h"
#include "shape/mesh/mesh.h"
#include "shape/plane/planar_outline.h"
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <stdio.h>

/* A range of numbers with one name; count 1: without a number. */
typedef struct feature_text_run {
  const char* word;
  int count;
} feature_text_run;

static void write(const feature_text_run* runs, int number, char* text, size_t size) {
  for (int i = 0, first = 1; runs[i].word != NULL; first += runs[i].count, i++) {
    if (number < first + runs[i].count && runs[i].count == 1) {
      snprintf(text, size, "%s", runs[i].word);
      return;
    }
    if (number < first + runs[i].count) {
      snprintf(text, size, "%s %d", runs[i].word, number - first + 1);
      return;
    }
  }
  snprintf(text, size, "feature %d", number);
}

void saltusi_feature_text(const saltusi_shape* shape, int number, char* text, size_t size) {
  assert(shape != NULL && text != NULL && size > 0);
  enum { POINTS = SALTUSI_RIM_POINTS };
  static const feature_text_run whole[] = {{"surface", 1}, {NULL, 0}},
                                plane[] = {{"plane", 1}, {NULL, 0}},
                                capsule[] = {{"end", 2}, {"side", 1}, {NULL, 0}},
                                cylinder[] = {{"lower rim point", POINTS},
                                              {"upper rim point", POINTS},
                                              {"lower rim", 1},
                                              {"upper rim", 1},
                                              {"side", 1},
                                              {"lower end", 1},
                                              {"upper end", 1},
                                              {NULL, 0}},
                                cone[] = {{"tip", 1},  {"rim point", POINTS}, {"rim", 1},
                                          {"side", 1}, {"base", 1},           {NULL, 0}},
                                torus[] = {{"circle point", POINTS}, {"circle", 1}, {NULL, 0}};
  if (shape->polytope != NULL) {
    const feature_text_run own[] = {{"vertex", shape->polytope->vertices},
                                    {"edge", shape->polytope->edges},
                                    {"face", shape->polytope->faces},
                                    {NULL, 0}};
    write(own, number, text, size);
    return;
  }
  if (shape->mesh != NULL) {
    const feature_text_run own[] = {{"vertex", shape->mesh->vertices},
                                    {"edge", shape->mesh->edges},
                                    {"face", shape->mesh->faces},
                                    {NULL, 0}};
    write(own, number, text, size);
    return;
  }
  if (shape->outline != NULL) {
    const feature_text_run own[] = {
        {"vertex", shape->outline->points}, {"edge", shape->outline->edges}, {NULL, 0}};
    write(own, number, text, size);
    return;
  }
  switch (shape->kind) {
  case SALTUS_SHAPE_CAPSULE:
    write(capsule, number, text, size);
    return;
  case SALTUS_SHAPE_CYLINDER:
    write(cylinder, number, text, size);
    return;
  case SALTUS_SHAPE_CONE:
    write(cone, number, text, size);
    return;
  case SALTUS_SHAPE_TORUS:
    write(torus, number, text, size);
    return;
  case SALTUS_SHAPE_HALF_SPACE:
    write(plane, number, text, size);
    return;
  default:
    write(whole, number, text, size);
    return;
  }
}
