/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fmi2.c - functions of FMI 2.0 for co-simulation; the others report that they are not supported.
 */
#include "fmu/fmi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

FMI_EXPORT(const char*, fmi2GetTypesPlatform, void) {
  return "default";
}
FMI_EXPORT(const char*, fmi2GetVersion, void) {
  return "2.0";
}

FMI_EXPORT(fmi_status, fmi2SetDebugLogging, fmi_instance* c, int on, size_t count,
           const char* const* categories) {
  (void)count, (void)categories;
  if (c == NULL) {
    return FMI_ERROR;
  }
  c->verbose = on != 0;
  return FMI_OK;
}

static int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* The path of a URI: file:///a%20b, file:/a, file://host/a; a plain path stays. NULL: no memory. */
static char* path_of(const char* uri) {
  const char* from = uri;
  if (strncmp(from, "file:", 5) == 0) {
    from += 5;
    if (strncmp(from, "//", 2) == 0) {
      from += 2 + strcspn(from + 2, "/");
    }
  }
  char* path = malloc(strlen(from) + 1);
  char* to = path;
  while (path != NULL && *from != '\0') {
    const int high = *from == '%' ? digit(from[1]) : -1;
    const int low = high >= 0 ? digit(from[2]) : -1;
    *to++ = low >= 0 ? (char)(16 * high + low) : *from;
    from += low >= 0 ? 3 : 1;
  }
  if (path != NULL) {
    *to = '\0';
  }
  return path;
}

FMI_EXPORT(void*, fmi2Instantiate, const char* name, int type, const char* token,
           const char* location, const fmi2_callbacks* callbacks, int visible, int log_on) {
  (void)visible;
  fmi_instance* c = saltusi_fmi_create(name, log_on != 0);
  if (c == NULL) {
    return NULL;
  }
  c->callbacks = callbacks;
  if (type != 1) {
    saltusi_fmi_refuse(c, __func__, "this FMU is for co-simulation");
    saltusi_fmi_destroy(c);
    return NULL;
  }
  char* path = location != NULL ? path_of(location) : NULL;
  const bool opened = saltusi_fmi_open(c, token, path);
  free(path);
  return opened ? c : NULL;
}

FMI_EXPORT(void, fmi2FreeInstance, fmi_instance* c) {
  saltusi_fmi_destroy(c);
}

FMI_EXPORT(fmi_status, fmi2SetupExperiment, fmi_instance* c, int tol_given, double tol,
           double start, int stop_given, double stop) {
  return saltusi_fmi_initialise(c, __func__, start, stop_given != 0 ? stop : (double)NAN,
                                tol_given != 0 ? tol : (double)NAN);
}

FMI_EXPORT(fmi_status, fmi2EnterInitializationMode, fmi_instance* c) {
  const fmi_status status = saltusi_fmi_check(c, FMI_IN(FMI_INSTANTIATED), __func__);
  if (status == FMI_OK) {
    c->mode = FMI_INITIALISING;
  }
  return status;
}

FMI_EXPORT(fmi_status, fmi2ExitInitializationMode, fmi_instance* c) {
  return saltusi_fmi_begin(c, __func__);
}
FMI_EXPORT(fmi_status, fmi2Terminate, fmi_instance* c) {
  return saltusi_fmi_terminate(c, __func__);
}
FMI_EXPORT(fmi_status, fmi2Reset, fmi_instance* c) {
  return saltusi_fmi_reset(c);
}
FMI_EXPORT(fmi_status, fmi2GetReal, fmi_instance* c, const uint32_t* references, size_t count,
           double* values) {
  return saltusi_fmi_get(c, references, count, values);
}
FMI_EXPORT(fmi_status, fmi2SetReal, fmi_instance* c, const uint32_t* references, size_t count,
           const double* values) {
  return saltusi_fmi_set(c, references, count, values);
}
FMI_EXPORT(fmi_status, fmi2SetRealInputDerivatives, fmi_instance* c, const uint32_t* references,
           size_t count, const int* orders, const double* values) {
  return saltusi_fmi_set_slopes(c, references, count, orders, values);
}
FMI_EXPORT(fmi_status, fmi2DoStep, fmi_instance* c, double now, double size, int no_return) {
  (void)no_return;
  bool happened;
  return saltusi_fmi_step(c, __func__, now, size, &happened);
}
FMI_EXPORT(fmi_status, fmi2GetFMUstate, fmi_instance* c, void** state) {
  return saltusi_fmi_state_get(c, state);
}
FMI_EXPORT(fmi_status, fmi2SetFMUstate, fmi_instance* c, void* state) {
  return saltusi_fmi_state_set(c, state);
}
FMI_EXPORT(fmi_status, fmi2FreeFMUstate, fmi_instance* c, void** state) {
  return saltusi_fmi_state_free(c, state);
}
FMI_EXPORT(fmi_status, fmi2SerializedFMUstateSize, fmi_instance* c, void* state, size_t* size) {
  return saltusi_fmi_state_size(c, state, size);
}
FMI_EXPORT(fmi_status, fmi2SerializeFMUstate, fmi_instance* c, void* state, char* bytes,
           size_t size) {
  return saltusi_fmi_state_write(c, state, bytes, size);
}
FMI_EXPORT(fmi_status, fmi2DeSerializeFMUstate, fmi_instance* c, const char* bytes, size_t size,
           void** state) {
  return saltusi_fmi_state_read(c, bytes, size, state);
}

/* Last successful time is the one status that is known after a discarded step. */
FMI_EXPORT(fmi_status, fmi2GetRealStatus, fmi_instance* c, int kind, double* value) {
  if (c == NULL || kind != 2) {
    return FMI_DISCARD;
  }
  *value = c->model->t;
  return FMI_OK;
}

FMI_EXPORT(fmi_status, fmi2GetBooleanStatus, fmi_instance* c, int kind, int* value) {
  if (c == NULL || kind != 3) {
    return FMI_DISCARD;
  }
  *value = 0; /* terminated by itself: never */
  return FMI_OK;
}

/* ---- not supported ---- */

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NO_TYPE(name, type)                                                                        \
  FMI_EXPORT(fmi_status, fmi2Get##name, fmi_instance* c, const uint32_t* references, size_t count, \
             type* values) {                                                                       \
    return saltusi_fmi_no_type(c, __func__, count);                                                \
  }                                                                                                \
  FMI_EXPORT(fmi_status, fmi2Set##name, fmi_instance* c, const uint32_t* references, size_t count, \
             type const* values) {                                                                 \
    return saltusi_fmi_no_type(c, __func__, count);                                                \
  }
NO_TYPE(Integer, int)
NO_TYPE(Boolean, int)
NO_TYPE(String, const char*)

#define NOT_SUPPORTED(name, ...)                                                                   \
  FMI_EXPORT(fmi_status, name, fmi_instance* c, __VA_ARGS__) {                                     \
    return c != NULL ? saltusi_fmi_refuse(c, __func__, "not supported") : FMI_ERROR;               \
  }
NOT_SUPPORTED(fmi2GetDirectionalDerivative, const uint32_t* unknowns, size_t unknown_count,
              const uint32_t* knowns, size_t known_count, const double* seed, double* sensitivity)
NOT_SUPPORTED(fmi2NewDiscreteStates, void* info)
NOT_SUPPORTED(fmi2CompletedIntegratorStep, int no_return, int* event, int* end)
NOT_SUPPORTED(fmi2SetTime, double time)
NOT_SUPPORTED(fmi2SetContinuousStates, const double* states, size_t count)
NOT_SUPPORTED(fmi2GetDerivatives, double* derivatives, size_t count)
NOT_SUPPORTED(fmi2GetEventIndicators, double* indicators, size_t count)
NOT_SUPPORTED(fmi2GetContinuousStates, double* states, size_t count)
NOT_SUPPORTED(fmi2GetNominalsOfContinuousStates, double* nominals, size_t count)
NOT_SUPPORTED(fmi2GetRealOutputDerivatives, const uint32_t* references, size_t count,
              const int* orders, double* values)
NOT_SUPPORTED(fmi2GetStatus, int kind, int* value)
NOT_SUPPORTED(fmi2GetIntegerStatus, int kind, int* value)
NOT_SUPPORTED(fmi2GetStringStatus, int kind, const char** value)

#define NOT_A_MODE(name)                                                                           \
  FMI_EXPORT(fmi_status, name, fmi_instance* c) {                                                  \
    return c != NULL ? saltusi_fmi_refuse(c, __func__, "not supported") : FMI_ERROR;               \
  }
NOT_A_MODE(fmi2EnterEventMode)
NOT_A_MODE(fmi2EnterContinuousTimeMode)
NOT_A_MODE(fmi2CancelStep)
