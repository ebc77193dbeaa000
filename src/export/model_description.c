/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * model_description.c - see model_description.h. Sections of FMI 2.0.4 (2.2) and FMI 3.0.2 (2.4).
 */
#include "export/model_description.h"

#include "base/number.h"
#include "saltus/version.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

static void text(saltusi_bytes* out, const char* plain) {
  saltusi_bytes_text(out, plain);
}

/* A value of an attribute; line breaks become blanks, as in attributes anyway. U+FFFE and U+FFFF are no characters of XML
 * 1.0 (section 2.2): U+FFFD instead. */
static void escaped(saltusi_bytes* out, const char* value) {
  for (const char* c = value; *c != '\0'; c++) {
    const char* name = *c == '&'   ? "&amp;"
                       : *c == '<' ? "&lt;"
                       : *c == '>' ? "&gt;"
                       : *c == '"' ? "&quot;"
                                   : NULL;
    const bool none = strncmp(c, "\xef\xbf\xbe", 3) == 0 || strncmp(c, "\xef\xbf\xbf", 3) == 0;
    const char plain = (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c;
    saltusi_bytes_add(out, name != NULL ? name : &plain, name != NULL ? strlen(name) : 1);
    if (none) {
      saltusi_bytes_add(out, "\xbf\xbd", 2);
      c += 2;
    }
  }
}

static void attribute(saltusi_bytes* out, const char* name, const char* value) {
  text(out, " ");
  text(out, name);
  text(out, "=\"");
  escaped(out, value);
  text(out, "\"");
}

/* The shortest of 15 to 17 digits that is read as the same number. */
static void number(saltusi_bytes* out, const char* name, double value) {
  char digits[40];
  for (int precision = 15; precision <= 17; precision++) {
    saltusi_print(digits, sizeof digits, "%.*g", precision, value);
    if (saltusi_number_read(digits, NULL) == value) {
      break;
    }
  }
  attribute(out, name, digits);
}

static void whole(saltusi_bytes* out, const char* name, int value) {
  char digits[16];
  snprintf(digits, sizeof digits, "%d", value);
  attribute(out, name, digits);
}

static void flag(saltusi_bytes* out, const char* name, bool value) {
  attribute(out, name, value ? "true" : "false");
}

/* ---- units ---- */

enum { KG, METRE, SECOND, AMPERE, KELVIN, RADIAN, DIMENSIONS };

typedef struct unit_parts {
  int exponent[DIMENSIONS];
  double factor;
} unit_parts;

/* Adds the power of a named unit; false: not known. */
static bool add_unit(const char* name, size_t length, int power, unit_parts* to) {
  static const struct {
    const char* name;
    int exponent[DIMENSIONS];
    double factor;
  } known[] = {{"kg", {[KG] = 1}, 1},
               {"m", {[METRE] = 1}, 1},
               {"s", {[SECOND] = 1}, 1},
               {"A", {[AMPERE] = 1}, 1},
               {"K", {[KELVIN] = 1}, 1},
               {"rad", {[RADIAN] = 1}, 1},
               {"1", {0}, 1},
               {"N", {1, 1, -2}, 1},
               {"J", {1, 2, -2}, 1},
               {"W", {1, 2, -3}, 1},
               {"Pa", {1, -1, -2}, 1},
               {"Hz", {0, 0, -1}, 1},
               {"V", {1, 2, -3, -1}, 1},
               {"mm", {[METRE] = 1}, 1e-3},
               {"g", {[KG] = 1}, 1e-3},
               {"ms", {[SECOND] = 1}, 1e-3}};
  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    if (strlen(known[k].name) == length && memcmp(known[k].name, name, length) == 0) {
      for (int i = 0; i < DIMENSIONS; i++) {
        to->exponent[i] += power * known[k].exponent[i];
      }
      to->factor *= pow(known[k].factor, power);
      return true;
    }
  }
  return false;
}

/* Products of names with whole exponents; a quotient has one name behind each stroke: "kg m^2/s". */
static bool parse_unit(const char* label, unit_parts* parts) {
  *parts = (unit_parts){.factor = 1.0};
  int sign = 1;
  for (const char* c = label; *c != '\0';) {
    if (*c == ' ' || *c == '*' || *c == '.' || *c == '/') {
      sign = *c++ == '/' ? -1 : sign;
      continue;
    }
    const size_t length =
        *c == '1' ? 1 : strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const char* at = c + length + (c[length] == '^' ? 1 : 0);
    char* end = (char*)(uintptr_t)at;
    const long power = *at == '-' || (*at >= '0' && *at <= '9') ? strtol(at, &end, 10) : 1;
    if (length == 0 || labs(power) > 9 || (c[length] == '^' && end == at) ||
        !add_unit(c, length, sign * (int)power, parts)) {
      return false;
    }
    c = end;
    sign = 1;
  }
  return true;
}

static void write_units(const saltusi_model_description* m, saltusi_bytes* out) {
  static const char* const names[DIMENSIONS] = {"kg", "m", "s", "A", "K", "rad"};
  text(out, "  <UnitDefinitions>\n");
  for (int i = 0; i < m->count; i++) {
    const char* unit = m->variables[i].unit;
    bool had = unit[0] == '\0';
    for (int k = 0; k < i && !had; k++) {
      had = strcmp(m->variables[k].unit, unit) == 0;
    }
    if (had) {
      continue;
    }
    unit_parts parts;
    text(out, "    <Unit");
    attribute(out, "name", unit);
    if (!parse_unit(unit, &parts)) {
      text(out, "/>\n");
      continue;
    }
    text(out, "><BaseUnit");
    for (int d = 0; d < DIMENSIONS; d++) {
      if (parts.exponent[d] != 0) {
        whole(out, names[d], parts.exponent[d]);
      }
    }
    if (parts.factor != 1.0) {
      number(out, "factor", parts.factor);
    }
    text(out, "/></Unit>\n");
  }
  text(out, "  </UnitDefinitions>\n");
}

/* ---- head ---- */

static void write_head(const saltusi_model_description* m, saltusi_bytes* out) {
  const bool three = m->version == 3;
  text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription");
  attribute(out, "fmiVersion", three ? "3.0" : "2.0");
  attribute(out, "modelName", m->view->name[0] != '\0' ? m->view->name : m->identifier);
  attribute(out, three ? "instantiationToken" : "guid", m->token);
  if (m->view->description[0] != '\0') {
    attribute(out, "description", m->view->description);
  }
  char tool[64];
  snprintf(tool, sizeof tool, "Saltus %s", saltus_version());
  attribute(out, "generationTool", tool);
  attribute(out, "variableNamingConvention", "structured");
  if (!three) {
    attribute(out, "numberOfEventIndicators", "0");
  }
  text(out, ">\n  <CoSimulation");
  const bool dense = m->settings->scheme->chooses_step;
  const bool fixed = !dense && m->settings->control == NULL;
  attribute(out, "modelIdentifier", m->identifier);
  flag(out, three ? "canGetAndSetFMUState" : "canGetAndSetFMUstate", true);
  flag(out, three ? "canSerializeFMUState" : "canSerializeFMUstate", true);
  flag(out, "canHandleVariableCommunicationStepSize", !fixed);
  if (three) {
    flag(out, "hasEventMode", dense);
    flag(out, "mightReturnEarlyFromDoStep", dense);
    flag(out, "providesIntermediateUpdate", dense);
    flag(out, "canReturnEarlyAfterIntermediateUpdate", dense);
    if (fixed) {
      number(out, "fixedInternalStepSize", m->settings->h);
    }
  } else {
    flag(out, "canNotUseMemoryManagementFunctions", true);
    flag(out, "canInterpolateInputs", m->view->interface != NULL && m->view->interface->ramps);
  }
  text(out, "/>\n");
}

static void write_experiment(const saltusi_model_description* m, saltusi_bytes* out) {
  const saltus_scene_view* view = m->view;
  const bool dense = m->settings->scheme->chooses_step;
  const bool fixed = !dense && m->settings->control == NULL;
  const double until = isnan(view->until) ? view->start + 1.0 : view->until;
  const double dt = fixed                   ? m->settings->h
                    : view->record_dt > 0.0 ? view->record_dt
                                            : (until - view->start) / 500.0;
  text(out, "  <LogCategories>\n    <Category name=\"logStatusError\"/>\n"
            "    <Category name=\"logStatusWarning\"/>\n    <Category name=\"logNotes\"/>\n"
            "  </LogCategories>\n  <DefaultExperiment");
  number(out, "startTime", view->start);
  number(out, "stopTime", until);
  if (!isnan(m->settings->rtol) && m->settings->rtol > 0.0) {
    number(out, "tolerance", m->settings->rtol);
  }
  number(out, "stepSize", dt);
  text(out, "/>\n");
}

/* ---- variables ---- */

static bool is_output(const saltusi_variable* v) {
  return v->kind == SALTUSI_VARIABLE_Q || v->kind == SALTUSI_VARIABLE_V ||
         v->kind == SALTUSI_VARIABLE_OUTPUT;
}

static void write_variable(const saltusi_model_description* m, int i, saltusi_bytes* out) {
  const saltusi_variable* v = &m->variables[i];
  const bool three = m->version == 3;
  const bool parameter = v->kind == SALTUSI_VARIABLE_PARAMETER;
  text(out, three ? "    <Float64" : "    <ScalarVariable");
  attribute(out, "name", v->name);
  whole(out, "valueReference", i);
  attribute(out, "causality",
            v->kind == SALTUSI_VARIABLE_TIME    ? "independent"
            : v->kind == SALTUSI_VARIABLE_INPUT ? "input"
            : !parameter                        ? "output"
            : v->settable                       ? "parameter"
                                                : "calculatedParameter");
  attribute(out, "variability", parameter ? "fixed" : "continuous");
  if (is_output(v) || parameter) {
    attribute(out, "initial", v->settable ? "exact" : "calculated");
  }
  if (!three) {
    text(out, "><Real");
  }
  if (v->unit[0] != '\0') {
    attribute(out, "unit", v->unit);
  }
  if (v->settable) {
    number(out, "start", v->start);
  }
  if (v->derivative >= 0) {
    whole(out, "derivative", three ? v->derivative : v->derivative + 1);
  }
  text(out, three ? "/>\n" : "/></ScalarVariable>\n");
}

/* An entry of the model structure: by value reference, in FMI 2.0 by index from 1. */
static void write_unknown(const saltusi_model_description* m, int i, const char* element,
                          bool independent, saltusi_bytes* out) {
  const bool three = m->version == 3;
  text(out, three ? "    <" : "      <");
  text(out, three ? element : "Unknown");
  whole(out, three ? "valueReference" : "index", three ? i : i + 1);
  if (independent) {
    attribute(out, "dependencies", "");
  }
  text(out, "/>\n");
}

static void write_structure(const saltusi_model_description* m, saltusi_bytes* out) {
  const bool three = m->version == 3;
  text(out, three ? "  <ModelStructure>\n" : "  <ModelStructure>\n    <Outputs>\n");
  int unknowns = 0;
  for (int i = 0; i < m->count; i++) { /* a state does not depend on inputs at its time */
    const saltusi_variable* v = &m->variables[i];
    if (is_output(v)) {
      write_unknown(m, i, "Output", v->kind != SALTUSI_VARIABLE_OUTPUT, out);
    }
    unknowns += (is_output(v) || v->kind == SALTUSI_VARIABLE_PARAMETER) && !v->settable;
  }
  text(out, three          ? ""
            : unknowns > 0 ? "    </Outputs>\n    <InitialUnknowns>\n"
                           : "    </Outputs>\n");
  for (int i = 0; i < m->count; i++) {
    const saltusi_variable* v = &m->variables[i];
    if ((is_output(v) || v->kind == SALTUSI_VARIABLE_PARAMETER) && !v->settable) {
      write_unknown(m, i, "InitialUnknown", false, out);
    }
  }
  text(out, !three && unknowns > 0 ? "    </InitialUnknowns>\n" : "");
  text(out, "  </ModelStructure>\n");
}

void saltusi_model_description_write(const saltusi_model_description* m, saltusi_bytes* out) {
  assert(m != NULL && out != NULL && (m->version == 2 || m->version == 3));
  write_head(m, out);
  write_units(m, out);
  write_experiment(m, out);
  text(out, "  <ModelVariables>\n");
  for (int i = 0; i < m->count; i++) {
    write_variable(m, i, out);
  }
  text(out, "  </ModelVariables>\n");
  write_structure(m, out);
  text(out, "</fmiModelDescription>\n");
}
