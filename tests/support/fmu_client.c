/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fmu_client.c - see fmu_client.h.
 */
#include "fmu_client.h"

#include <dlfcn.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define GET_SET(v, T) v "Get" T, v "Set" T
const char* const fmu_functions_2[] = {"fmi2GetTypesPlatform",
                                       "fmi2GetVersion",
                                       "fmi2SetDebugLogging",
                                       "fmi2Instantiate",
                                       "fmi2FreeInstance",
                                       "fmi2SetupExperiment",
                                       "fmi2EnterInitializationMode",
                                       "fmi2ExitInitializationMode",
                                       "fmi2Terminate",
                                       "fmi2Reset",
                                       GET_SET("fmi2", "Real"),
                                       GET_SET("fmi2", "Integer"),
                                       GET_SET("fmi2", "Boolean"),
                                       GET_SET("fmi2", "String"),
                                       GET_SET("fmi2", "FMUstate"),
                                       "fmi2FreeFMUstate",
                                       "fmi2SerializedFMUstateSize",
                                       "fmi2SerializeFMUstate",
                                       "fmi2DeSerializeFMUstate",
                                       "fmi2GetDirectionalDerivative",
                                       "fmi2EnterEventMode",
                                       "fmi2NewDiscreteStates",
                                       "fmi2EnterContinuousTimeMode",
                                       "fmi2CompletedIntegratorStep",
                                       "fmi2SetTime",
                                       "fmi2SetContinuousStates",
                                       "fmi2GetDerivatives",
                                       "fmi2GetEventIndicators",
                                       "fmi2GetContinuousStates",
                                       "fmi2GetNominalsOfContinuousStates",
                                       "fmi2SetRealInputDerivatives",
                                       "fmi2GetRealOutputDerivatives",
                                       "fmi2DoStep",
                                       "fmi2CancelStep",
                                       "fmi2GetStatus",
                                       "fmi2GetRealStatus",
                                       "fmi2GetIntegerStatus",
                                       "fmi2GetBooleanStatus",
                                       "fmi2GetStringStatus",
                                       NULL};
const char* const fmu_functions_3[] = {"fmi3GetVersion",
                                       "fmi3SetDebugLogging",
                                       "fmi3InstantiateModelExchange",
                                       "fmi3InstantiateCoSimulation",
                                       "fmi3InstantiateScheduledExecution",
                                       "fmi3FreeInstance",
                                       "fmi3EnterInitializationMode",
                                       "fmi3ExitInitializationMode",
                                       "fmi3EnterEventMode",
                                       "fmi3Terminate",
                                       "fmi3Reset",
                                       GET_SET("fmi3", "Float32"),
                                       GET_SET("fmi3", "Float64"),
                                       GET_SET("fmi3", "Int8"),
                                       GET_SET("fmi3", "UInt8"),
                                       GET_SET("fmi3", "Int16"),
                                       GET_SET("fmi3", "UInt16"),
                                       GET_SET("fmi3", "Int32"),
                                       GET_SET("fmi3", "UInt32"),
                                       GET_SET("fmi3", "Int64"),
                                       GET_SET("fmi3", "UInt64"),
                                       GET_SET("fmi3", "Boolean"),
                                       GET_SET("fmi3", "String"),
                                       GET_SET("fmi3", "Binary"),
                                       GET_SET("fmi3", "Clock"),
                                       "fmi3GetNumberOfVariableDependencies",
                                       "fmi3GetVariableDependencies",
                                       GET_SET("fmi3", "FMUState"),
                                       "fmi3FreeFMUState",
                                       "fmi3SerializedFMUStateSize",
                                       "fmi3SerializeFMUState",
                                       "fmi3DeserializeFMUState",
                                       "fmi3GetDirectionalDerivative",
                                       "fmi3GetAdjointDerivative",
                                       "fmi3EnterConfigurationMode",
                                       "fmi3ExitConfigurationMode",
                                       GET_SET("fmi3", "IntervalDecimal"),
                                       GET_SET("fmi3", "IntervalFraction"),
                                       GET_SET("fmi3", "ShiftDecimal"),
                                       GET_SET("fmi3", "ShiftFraction"),
                                       "fmi3EvaluateDiscreteStates",
                                       "fmi3UpdateDiscreteStates",
                                       "fmi3EnterContinuousTimeMode",
                                       "fmi3CompletedIntegratorStep",
                                       "fmi3SetTime",
                                       "fmi3SetContinuousStates",
                                       "fmi3GetContinuousStateDerivatives",
                                       "fmi3GetEventIndicators",
                                       "fmi3GetContinuousStates",
                                       "fmi3GetNominalsOfContinuousStates",
                                       "fmi3GetNumberOfEventIndicators",
                                       "fmi3GetNumberOfContinuousStates",
                                       "fmi3EnterStepMode",
                                       "fmi3GetOutputDerivatives",
                                       "fmi3DoStep",
                                       "fmi3ActivateModelPartition",
                                       NULL};

/* ---- archive ---- */

static unsigned little(const unsigned char* at, int bytes) {
  unsigned value = 0;
  for (int i = bytes - 1; i >= 0; i--) {
    value = 256 * value + at[i];
  }
  return value;
}

static void make_folders(char* path) {
  for (char* c = path + 1; *c != '\0'; c++) {
    if (*c == '/') {
      *c = '\0';
      mkdir(path, 0700);
      *c = '/';
    }
  }
}

static void unpack_entry(const unsigned char* archive, const unsigned char* entry,
                         const char* folder) {
  const unsigned method = little(entry + 10, 2), packed = little(entry + 20, 4);
  const unsigned size = little(entry + 24, 4), name = little(entry + 28, 2);
  const unsigned char* local = archive + little(entry + 42, 4);
  const unsigned char* data = local + 30 + little(local + 26, 2) + little(local + 28, 2);
  assert_memory_equal(local, "PK\3\4", 4);
  char path[512];
  assert_true(name < 300);
  assert_null(memchr(entry + 46, '\\', name));
  snprintf(path, sizeof path, "%s/%.*s", folder, (int)name, (const char*)entry + 46);
  make_folders(path);
  unsigned char* bytes = malloc(size + 1);
  if (method == 0) {
    memcpy(bytes, data, size);
  } else {
    z_stream z = {.next_in = (unsigned char*)(uintptr_t)data,
                  .avail_in = packed,
                  .next_out = bytes,
                  .avail_out = size};
    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, size);
    inflateEnd(&z);
  }
  assert_int_equal(crc32(0, bytes, size), little(entry + 16, 4));
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
  free(bytes);
}

static void unpack(const char* archive_path, const char* folder) {
  FILE* file = fopen(archive_path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  unsigned char* archive = malloc(size);
  assert_int_equal(fread(archive, 1, size, file), size);
  fclose(file);
  const unsigned char* end = archive + size - 22;
  assert_memory_equal(end, "PK\5\6", 4);
  const unsigned char* entry = archive + little(end + 16, 4);
  for (unsigned i = 0; i < little(end + 10, 2); i++) {
    assert_memory_equal(entry, "PK\1\2", 4);
    unpack_entry(archive, entry, folder);
    entry += 46 + little(entry + 28, 2) + little(entry + 30, 2) + little(entry + 32, 2);
  }
  free(archive);
}

/* ---- model description ---- */

static void fault(fmu_client* c, const char* what, const char* where) {
  print_message("modelDescription.xml: %s: %s\n", what, where);
  c->faults++;
}

static const char* find(const char** attributes, const char* name) {
  for (int i = 0; attributes[i] != NULL; i += 2) {
    if (strcmp(attributes[i], name) == 0) {
      return attributes[i + 1];
    }
  }
  return NULL;
}

static double read_number(const char** attributes, const char* name) {
  const char* value = find(attributes, name);
  return value != NULL ? strtod(value, NULL) : (double)NAN;
}

static void keep(char* to, size_t room, const char* value) {
  snprintf(to, room, "%s", value != NULL ? value : "");
}

static bool is_true(const char** attributes, const char* name) {
  const char* value = find(attributes, name);
  return value != NULL && strcmp(value, "true") == 0;
}

static void read_real(fmu_variable* v, const char** a) {
  keep(v->unit, sizeof v->unit, find(a, "unit"));
  v->has_start = find(a, "start") != NULL;
  v->start = read_number(a, "start");
  v->derivative = find(a, "derivative") != NULL ? strtol(find(a, "derivative"), NULL, 10) : -1;
}

static void read_variable(fmu_client* c, const char** a) {
  c->variables = realloc(c->variables, (size_t)(c->count + 1) * sizeof *c->variables);
  fmu_variable* v = &c->variables[c->count++];
  *v = (fmu_variable){.derivative = -1};
  keep(v->name, sizeof v->name, find(a, "name"));
  keep(v->causality, sizeof v->causality, find(a, "causality"));
  keep(v->variability, sizeof v->variability, find(a, "variability"));
  keep(v->initial, sizeof v->initial, find(a, "initial"));
  v->reference = (unsigned)strtoul(find(a, "valueReference"), NULL, 10);
  if (c->version == 3) {
    read_real(v, a);
  }
}

/* An entry of the model structure, by value reference or by index from 1. */
static void read_unknown(fmu_client* c, const char** a, bool initial) {
  const char* text = find(a, c->version == 3 ? "valueReference" : "index");
  const long number = text != NULL ? strtol(text, NULL, 10) : -1;
  const long place = c->version == 3 ? number : number - 1;
  if (place < 0 || place >= c->count) {
    fault(c, "model structure names no variable", text != NULL ? text : "");
    return;
  }
  *(initial ? &c->variables[place].unknowns : &c->variables[place].outputs) += 1;
}

typedef struct reading {
  fmu_client* client;
  bool initial; /* inside of InitialUnknowns of FMI 2.0 */
} reading;

static void on_start(void* user, const char* element, const char** a) {
  reading* r = user;
  fmu_client* c = r->client;
  if (strcmp(element, "fmiModelDescription") == 0) {
    c->version = find(a, "fmiVersion")[0] - '0';
    keep(c->token, sizeof c->token, find(a, c->version == 3 ? "instantiationToken" : "guid"));
  } else if (strcmp(element, "CoSimulation") == 0) {
    keep(c->identifier, sizeof c->identifier, find(a, "modelIdentifier"));
    c->event_mode = is_true(a, "hasEventMode");
    c->early = is_true(a, "mightReturnEarlyFromDoStep");
    c->variable_steps = is_true(a, "canHandleVariableCommunicationStepSize");
    c->fixed_step = read_number(a, "fixedInternalStepSize");
  } else if (strcmp(element, "Unit") == 0 && c->unit_count < 64) {
    keep(c->units[c->unit_count++], sizeof c->units[0], find(a, "name"));
  } else if (strcmp(element, "DefaultExperiment") == 0) {
    c->start = read_number(a, "startTime");
    c->stop = read_number(a, "stopTime");
    c->step = read_number(a, "stepSize");
    c->tolerance = read_number(a, "tolerance");
  } else if (strcmp(element, "Float64") == 0 || strcmp(element, "ScalarVariable") == 0) {
    read_variable(c, a);
  } else if (strcmp(element, "Real") == 0) {
    read_real(&c->variables[c->count - 1], a);
  } else if (strcmp(element, "InitialUnknowns") == 0) {
    r->initial = true;
  } else if (strcmp(element, "Output") == 0 || strcmp(element, "Unknown") == 0) {
    read_unknown(c, a, r->initial);
  } else if (strcmp(element, "InitialUnknown") == 0) {
    read_unknown(c, a, true);
  }
}

/* Rules of FMI 2.0.4 (2.2.7, 2.2.8) and 3.0.2 (2.4.7, 2.4.8) that a schema cannot express. */
static void check_rules(fmu_client* c) {
  for (int i = 0; i < c->count; i++) {
    fmu_variable* v = &c->variables[i];
    const bool output = strcmp(v->causality, "output") == 0;
    const bool exact = strcmp(v->initial, "exact") == 0, input = strcmp(v->causality, "input") == 0;
    bool unit = v->unit[0] == '\0';
    for (int k = 0; k < c->unit_count; k++) {
      unit = unit || strcmp(v->unit, c->units[k]) == 0;
    }
    if (!unit) {
      fault(c, "unit without a definition", v->name);
    }
    if (v->has_start != (exact || input)) {
      fault(c, "a start has to be given for exact variables and inputs, and for no others",
            v->name);
    }
    if (v->outputs != (output ? 1 : 0)) {
      fault(c, "outputs are listed once in the model structure", v->name);
    }
    if (v->unknowns != (strcmp(v->initial, "calculated") == 0 ? 1 : 0)) {
      fault(c, "calculated variables are listed once as initial unknowns", v->name);
    }
    const long of = c->version == 3 ? v->derivative : v->derivative - 1;
    if (v->derivative >= 0 && (of < 0 || of >= c->count || of == i)) {
      fault(c, "derivative of no variable", v->name);
    }
    if (v->reference != (unsigned)i || v->name[0] == '\0') {
      fault(c, "value references are not the order of the variables", v->name);
    }
    for (int k = 0; k < i; k++) {
      if (strcmp(v->name, c->variables[k].name) == 0) {
        fault(c, "name given twice", v->name);
      }
    }
  }
}

static void read_description(fmu_client* c) {
  char path[160];
  snprintf(path, sizeof path, "%s/modelDescription.xml", c->folder);
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  XML_Parser parser = XML_ParserCreate(NULL);
  reading r = {.client = c};
  XML_SetUserData(parser, &r);
  XML_SetElementHandler(parser, on_start, NULL);
  char part[4096];
  size_t size;
  do {
    size = fread(part, 1, sizeof part, file);
    if (XML_Parse(parser, part, (int)size, size < sizeof part) != XML_STATUS_OK) {
      fail_msg("modelDescription.xml:%lu: %s", XML_GetCurrentLineNumber(parser),
               XML_ErrorString(XML_GetErrorCode(parser)));
    }
  } while (size == sizeof part);
  XML_ParserFree(parser);
  fclose(file);
  check_rules(c);
}

/* ---- client ---- */

void fmu_client_open(fmu_client* c, const char* file) {
  *c = (fmu_client){.fixed_step = NAN, .start = NAN, .stop = NAN, .step = NAN, .tolerance = NAN};
  snprintf(c->folder, sizeof c->folder, "/tmp/saltus-fmu-XXXXXX");
  assert_non_null(mkdtemp(c->folder));
  unpack(file, c->folder);
  read_description(c);
  assert_int_equal(c->faults, 0);
  char path[256];
  snprintf(path, sizeof path, "%s/binaries/%s/%s.so", c->folder,
           c->version == 3 ? "x86_64-linux" : "linux64", c->identifier);
  c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (c->library == NULL) {
    fail_msg("%s", dlerror());
  }
  const char* const* names = c->version == 3 ? fmu_functions_3 : fmu_functions_2;
  for (int i = 0; names[i] != NULL; i++) {
    if (dlsym(c->library, names[i]) == NULL) {
      fail_msg("%s is not exported", names[i]);
    }
  }
}

void fmu_client_export(fmu_client* c, saltus_scene* scene, const char* path, int version,
                       double tol) {
  saltus_kept_message kept = {.text = ""};
  saltus_export_fmu_def def = saltus_export_fmu_def_default();
  def.scene = scene;
  def.path = path;
  def.version = version;
  def.tol = tol;
  def.binary = SALTUS_FMU_BINARY;
  def.log = saltus_log_keep(&kept);
  char file[] = "/tmp/saltus-fmu-file-XXXXXX";
  const int handle = mkstemp(file);
  assert_true(handle >= 0);
  close(handle);
  if (saltus_export_fmu(&def, file) != SALTUS_OK) {
    fail_msg("export: %s", kept.text);
  }
  fmu_client_open(c, file);
  unlink(file);
}

void fmu_client_close(fmu_client* c) {
  char command[128];
  if (c->library != NULL &&
      !saltus_test_sanitized()) { /* reports name functions of loaded objects */
    dlclose(c->library);
  }
  snprintf(command, sizeof command, "rm -rf '%s'", c->folder);
  assert_int_equal(system(command), 0);
  free(c->variables);
}

unsigned fmu_client_find(const fmu_client* c, const char* name) {
  for (int i = 0; i < c->count; i++) {
    if (strcmp(c->variables[i].name, name) == 0) {
      return c->variables[i].reference;
    }
  }
  fail_msg("the FMU has no variable %s", name);
  return 0;
}

/* ---- slave ---- */

/* Calls NAME of the version with a function type. */
#define CALL(s, two, three, type)                                                                  \
  ((type)(uintptr_t)dlsym((s)->client->library, (s)->client->version == 3 ? (three) : (two)))

static void log_3(void* environment, int status, const char* category, const char* text) {
  fmu_slave* s = environment;
  (void)category;
  if (status >= 3) {
    snprintf(s->message, sizeof s->message, "%s", text);
  }
}

static void log_2(void* environment, const char* name, int status, const char* category,
                  const char* text, ...) {
  fmu_slave* s = environment;
  (void)name, (void)category;
  if (status >= 3) {
    va_list list;
    va_start(list, text);
    vsnprintf(s->message, sizeof s->message, text, list);
    va_end(list);
  }
}

typedef struct callbacks2 {
  void (*log)(void*, const char*, int, const char*, const char*, ...);
  void *allocate, *release, *finished, *environment;
} callbacks2;

static fmu_update* on_update;

void fmu_client_updates(fmu_update* update) {
  on_update = update;
}

bool fmu_slave_create(fmu_slave* s, const fmu_client* c, const char* token, bool events) {
  static callbacks2 callbacks[64];
  static int used;
  *s = (fmu_slave){.client = c};
  char resources[128];
  if (c->version == 3) {
    snprintf(resources, sizeof resources, "%s/resources/", c->folder);
    typedef void* create3(const char*, const char*, const char*, bool, bool, bool, bool,
                          const unsigned*, size_t, void*,
                          void (*)(void*, int, const char*, const char*), fmu_update*);
    s->instance = CALL(s, "", "fmi3InstantiateCoSimulation", create3*)(
        "test", token, resources, false, true, events, events, NULL, 0, s, log_3, on_update);
  } else {
    snprintf(resources, sizeof resources, "file://%s/resources", c->folder);
    callbacks2* cb = &callbacks[__atomic_fetch_add(&used, 1, __ATOMIC_RELAXED) % 64];
    *cb = (callbacks2){.log = log_2, .environment = s};
    typedef void* create2(const char*, int, const char*, const char*, const callbacks2*, int, int);
    s->instance = CALL(s, "fmi2Instantiate", "", create2*)("test", 1, token, resources, cb, 0, 1);
  }
  return s->instance != NULL;
}

typedef int plain(void*);

int fmu_slave_initialise(fmu_slave* s, double start, double stop, double tol) {
  int status;
  if (s->client->version == 3) {
    typedef int enter(void*, bool, double, double, bool, double);
    status = CALL(s, "", "fmi3EnterInitializationMode", enter*)(s->instance, !isnan(tol), tol,
                                                                start, !isnan(stop), stop);
  } else {
    typedef int setup(void*, int, double, double, int, double);
    status = CALL(s, "fmi2SetupExperiment", "", setup*)(s->instance, !isnan(tol), tol, start,
                                                        !isnan(stop), stop);
    status = status == 0 ? CALL(s, "fmi2EnterInitializationMode", "", plain*)(s->instance) : status;
  }
  return status == 0 ? CALL(s, "fmi2ExitInitializationMode", "fmi3ExitInitializationMode",
                            plain*)(s->instance)
                     : status;
}

int fmu_slave_get(fmu_slave* s, unsigned reference, double* value) {
  typedef int get(void*, const unsigned*, size_t, double*, size_t);
  return CALL(s, "fmi2GetReal", "fmi3GetFloat64", get*)(s->instance, &reference, 1, value, 1);
}

int fmu_slave_set(fmu_slave* s, unsigned reference, double value) {
  typedef int set(void*, const unsigned*, size_t, const double*, size_t);
  return CALL(s, "fmi2SetReal", "fmi3SetFloat64", set*)(s->instance, &reference, 1, &value, 1);
}

int fmu_slave_step(fmu_slave* s, double t, double h, double* reached, bool* event) {
  *event = false;
  if (s->client->version == 2) {
    typedef int step2(void*, double, double, int);
    *reached = t + h;
    return CALL(s, "fmi2DoStep", "", step2*)(s->instance, t, h, 1);
  }
  typedef int step3(void*, double, double, bool, bool*, bool*, bool*, double*);
  bool end, early;
  const int status =
      CALL(s, "", "fmi3DoStep", step3*)(s->instance, t, h, true, event, &end, &early, reached);
  *reached = early || status != 0 ? *reached : t + h;
  return status;
}

int fmu_slave_enter_events(fmu_slave* s) {
  return CALL(s, "", "fmi3EnterEventMode", plain*)(s->instance);
}
int fmu_slave_update(fmu_slave* s) {
  typedef int update(void*, bool*, bool*, bool*, bool*, bool*, double*);
  bool flags[5];
  double next;
  return CALL(s, "", "fmi3UpdateDiscreteStates", update*)(s->instance, &flags[0], &flags[1],
                                                          &flags[2], &flags[3], &flags[4], &next);
}
int fmu_slave_leave_events(fmu_slave* s) {
  return CALL(s, "", "fmi3EnterStepMode", plain*)(s->instance);
}
int fmu_slave_reset(fmu_slave* s) {
  return CALL(s, "fmi2Reset", "fmi3Reset", plain*)(s->instance);
}
void fmu_slave_free(fmu_slave* s) {
  typedef void release(void*);
  CALL(s, "fmi2FreeInstance", "fmi3FreeInstance", release*)(s->instance);
  s->instance = NULL;
}

int fmu_slave_state(fmu_slave* s, void** state) {
  typedef int get(void*, void**);
  return CALL(s, "fmi2GetFMUstate", "fmi3GetFMUState", get*)(s->instance, state);
}
int fmu_slave_restore(fmu_slave* s, void* state) {
  typedef int set(void*, void*);
  return CALL(s, "fmi2SetFMUstate", "fmi3SetFMUState", set*)(s->instance, state);
}
void fmu_slave_drop(fmu_slave* s, void** state) {
  typedef int drop(void*, void**);
  CALL(s, "fmi2FreeFMUstate", "fmi3FreeFMUState", drop*)(s->instance, state);
}
unsigned char* fmu_slave_bytes(fmu_slave* s, void* state, size_t* size) {
  typedef int count(void*, void*, size_t*);
  typedef int write(void*, void*, unsigned char*, size_t);
  assert_int_equal(CALL(s, "fmi2SerializedFMUstateSize", "fmi3SerializedFMUStateSize",
                        count*)(s->instance, state, size),
                   0);
  unsigned char* bytes = malloc(*size);
  assert_int_equal(CALL(s, "fmi2SerializeFMUstate", "fmi3SerializeFMUState",
                        write*)(s->instance, state, bytes, *size),
                   0);
  return bytes;
}
int fmu_slave_from_bytes(fmu_slave* s, const void* bytes, size_t size, void** state) {
  typedef int read(void*, const void*, size_t, void**);
  return CALL(s, "fmi2DeSerializeFMUstate", "fmi3DeserializeFMUState", read*)(s->instance, bytes,
                                                                              size, state);
}
