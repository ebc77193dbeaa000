/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fuzz_formula.c - any text as a formula: no crash, no undefined behaviour, no leak. The first byte
 * picks where the text stands in a model of two coordinates; everything is evaluated once.
 *
 *   clang -fsanitize=fuzzer,address,undefined ...
 */
#include "saltus/formula.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 9 };

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void log_message(void* user, saltus_level level, const char* text) {
  size_t* logged = user;
  (void)level;
  *logged += strlen(text);
}

static void evaluate_rows(const saltus_system* s, const saltus_point* at, int item, bool joint) {
  double G[6] = {0.0}, b[3] = {0.0}, c[3] = {0.0};
  saltus_rows rows = {.count = joint ? 1 : 1 + s->laws[item].tangents,
                      .width = 2,
                      .stride = 2,
                      .G = G,
                      .b = b,
                      .c = c};
  if (joint) {
    s->ops->joint(s->self, at, item, &rows);
  } else {
    s->ops->contact(s->self, at, (uint64_t)item, &rows);
  }
}

static void evaluate(const saltus_system* s) {
  const double q[2] = {0.3, -1.2}, v[2] = {0.7, 2.0};
  double matrix[4], vector[2], gap[2];
  int law[2] = {0, 1};
  uint64_t identity[2] = {0, 1};
  saltus_contact_list list = {
      .count = 2, .capacity = 2, .gap = gap, .identity = identity, .law = law};
  void* scratch = malloc(s->dims.scratch);
  saltus_point at = {.t = 0.5, .q = q, .v = v, .scratch = scratch};
  if (scratch == NULL) {
    return;
  }
  s->ops->mass(s->self, &at, matrix);
  s->ops->force(s->self, &at, vector);
  s->ops->force_q(s->self, &at, matrix);
  s->ops->force_v(s->self, &at, matrix);
  s->ops->mass_q(s->self, &at, matrix);
  s->ops->kinetic_gradient(s->self, &at, vector);
  (void)s->ops->kinetic(s->self, &at);
  (void)s->ops->potential(s->self, &at);
  (void)s->ops->contacts(s->self, &at, &list);
  s->ops->joints(s->self, &at, vector);
  evaluate_rows(s, &at, 0, false);
  evaluate_rows(s, &at, 0, true);
  free(scratch);
}

/* Two parts of the text, divided by a semicolon, make parameters that name each other. */
static void as_parameters(char* text, saltus_formula_parameter* parameters) {
  char* rest = strchr(text, ';');
  if (rest != NULL) {
    *rest++ = '\0';
  }
  parameters[0].value.text = text;
  parameters[1].value.text = rest != NULL ? rest : "a";
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = size > 0 ? malloc(size) : NULL;
  if (text == NULL) {
    return 0;
  }
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';

  size_t logged = 0;
  saltus_formula_parameter parameters[2] = {{.name = "a", .value = {.text = "2"}},
                                            {.name = "b", .value = {.text = "a/3"}}};
  saltus_formula_coordinate coordinates[2] = {{.name = "x"}, {.name = "phi"}};
  saltus_formula_joint joint = {.name = "rod", .constraint = {.text = "x - sin(phi)"}};
  saltus_formula_contact contact = {.name = "wall", .gap = {.text = "x"}};
  saltus_formula_def def = {.parameters = parameters,
                            .parameter_count = 2,
                            .coordinates = coordinates,
                            .coordinate_count = 2,
                            .kinetic = {.text = "x'^2 + phi'^2"},
                            .joints = &joint,
                            .joint_count = 1,
                            .contacts = &contact,
                            .contact_count = 1,
                            .log = {log_message, &logged}};
  saltus_formula_text* places[PLACES] = {&def.kinetic,   &def.potential,   &coordinates[0].force,
                                         &contact.gap,   &contact.slip,    &coordinates[1].start,
                                         &contact.slip2, &joint.constraint};
  int place = data[0] % PLACES;
  if (place == PLACES - 1) {
    as_parameters(text, parameters);
  } else {
    *places[place] = (saltus_formula_text){.text = text, .file = "f", .line = 1, .column = 1};
  }
  if (place == 6) {
    contact.slip.text = "x' - a*phi'";
  }

  saltus_formula_model* model;
  if (saltus_formula_model_create(&def, &model) == SALTUS_OK) {
    evaluate(saltus_formula_model_system(model));
  }
  saltus_formula_model_destroy(model);
  free(text);
  return 0;
}
