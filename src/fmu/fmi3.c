/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fmi3.c - functions of FMI 3.0 for co-simulation; the others report that they are not supported.
 */
#include "fmu/fmi.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

FMI_EXPORT(const char*, fmi3GetVersion, void) {
  return "3.0";
}

FMI_EXPORT(fmi_status, fmi3SetDebugLogging, fmi_instance* c, bool on, size_t count,
           const char* const* categories) {
  (void)count, (void)categories;
  if (c == NULL) {
    return FMI_ERROR;
  }
  c->verbose = on;
  return FMI_OK;
}

static void* refuse_kind(fmi3_logger* log, void* environment) {
  if (log != NULL) {
    log(environment, FMI_ERROR, "logStatusError", "this FMU is for co-simulation");
  }
  return NULL;
}

FMI_EXPORT(void*, fmi3InstantiateModelExchange, const char* name, const char* token,
           const char* resources, bool visible, bool log_on, void* environment, fmi3_logger* log) {
  (void)name, (void)token, (void)resources, (void)visible, (void)log_on;
  return refuse_kind(log, environment);
}

/* NOLINTNEXTLINE(readability-function-size): parameters of the standard */
FMI_EXPORT(void*, fmi3InstantiateScheduledExecution, const char* name, const char* token,
           const char* resources, bool visible, bool log_on, void* environment, fmi3_logger* log,
           void (*update)(void*), void (*lock)(void), void (*unlock)(void)) {
  (void)name, (void)token, (void)resources, (void)visible, (void)log_on;
  (void)update, (void)lock, (void)unlock;
  return refuse_kind(log, environment);
}

static double update(void* user, double t, double target) {
  fmi_instance* c = user;
  bool requested = false;
  double end = target;
  const fmi_mode mode = c->mode;
  c->mode = FMI_UPDATING; /* variables are read, nothing else */
  c->update3(c->environment, t, false, true, true, true, &requested, &end);
  c->mode = mode;
  return requested && end < target ? end : target;
}

/* NOLINTNEXTLINE(readability-function-size): parameters of the standard */
FMI_EXPORT(void*, fmi3InstantiateCoSimulation, const char* name, const char* token,
           const char* resources, bool visible, bool log_on, bool event_mode, bool early,
           const uint32_t* required, size_t required_count, void* environment, fmi3_logger* log,
           fmi3_update* update_callback) {
  (void)visible, (void)required, (void)required_count;
  fmi_instance* c = saltusi_fmi_create(name, log_on);
  if (c == NULL) {
    return NULL;
  }
  c->log3 = log;
  c->environment = environment;
  if (!saltusi_fmi_open(c, token, resources)) {
    return NULL;
  }
  c->event_mode = event_mode && c->model->dense;
  c->early = early && c->model->dense;
  c->update3 = c->model->dense ? update_callback : NULL;
  c->model->update = c->update3 != NULL ? update : NULL;
  c->model->user = c;
  return c;
}

FMI_EXPORT(void, fmi3FreeInstance, fmi_instance* c) {
  saltusi_fmi_destroy(c);
}

FMI_EXPORT(fmi_status, fmi3EnterInitializationMode, fmi_instance* c, bool tol_given, double tol,
           double start, bool stop_given, double stop) {
  const fmi_status status = saltusi_fmi_initialise(
      c, __func__, start, stop_given ? stop : (double)NAN, tol_given ? tol : (double)NAN);
  if (status == FMI_OK) {
    c->mode = FMI_INITIALISING;
  }
  return status;
}

FMI_EXPORT(fmi_status, fmi3ExitInitializationMode, fmi_instance* c) {
  return saltusi_fmi_begin(c, __func__);
}

FMI_EXPORT(fmi_status, fmi3EnterEventMode, fmi_instance* c) {
  if (saltusi_fmi_check(c, FMI_IN(FMI_STEPPING), __func__) != FMI_OK) {
    return FMI_ERROR;
  }
  if (!c->event_mode) {
    return saltusi_fmi_refuse(c, __func__, "the instance was created without event mode");
  }
  c->mode = FMI_EVENTS;
  return FMI_OK;
}

FMI_EXPORT(fmi_status, fmi3EnterStepMode, fmi_instance* c) {
  if (saltusi_fmi_check(c, FMI_IN(FMI_EVENTS), __func__) != FMI_OK) {
    return FMI_ERROR;
  }
  c->mode = FMI_STEPPING;
  return saltusi_fmi_answer(saltusi_fmu_instance_update(c->model));
}

FMI_EXPORT(fmi_status, fmi3UpdateDiscreteStates, fmi_instance* c, bool* again, bool* end,
           bool* nominals, bool* values, bool* next_known, double* next) {
  if (saltusi_fmi_check(c, FMI_IN(FMI_EVENTS), __func__) != FMI_OK) {
    return FMI_ERROR;
  }
  *values = c->model->left;
  *again = *end = *nominals = *next_known = false;
  *next = 0.0;
  return saltusi_fmi_answer(saltusi_fmu_instance_update(c->model));
}

FMI_EXPORT(fmi_status, fmi3EvaluateDiscreteStates, fmi_instance* c) {
  return saltusi_fmi_check(c, FMI_IN(FMI_INITIALISING) | FMI_IN(FMI_EVENTS), __func__);
}

/* NOLINTNEXTLINE(readability-function-size): parameters of the standard */
FMI_EXPORT(fmi_status, fmi3DoStep, fmi_instance* c, double now, double size, bool no_return,
           bool* event, bool* end, bool* early, double* last) {
  (void)no_return;
  bool happened;
  const fmi_status status = saltusi_fmi_step(c, __func__, now, size, &happened);
  *end = *event = *early = false;
  if (c != NULL) {
    const double t = c->model->t;
    *event = happened && c->event_mode;
    *early = status == FMI_OK && t < now + size - 1e-9 * fmax(1.0, fabs(t));
    *last = t;
  }
  return status;
}

FMI_EXPORT(fmi_status, fmi3Terminate, fmi_instance* c) {
  return saltusi_fmi_terminate(c, __func__);
}

FMI_EXPORT(fmi_status, fmi3Reset, fmi_instance* c) {
  return saltusi_fmi_reset(c);
}

FMI_EXPORT(fmi_status, fmi3GetFloat64, fmi_instance* c, const uint32_t* references, size_t count,
           double* values, size_t value_count) {
  if (c != NULL && count != value_count) {
    return saltusi_fmi_refuse(c, __func__, "the numbers of references and values differ");
  }
  return saltusi_fmi_get(c, references, count, values);
}

FMI_EXPORT(fmi_status, fmi3SetFloat64, fmi_instance* c, const uint32_t* references, size_t count,
           const double* values, size_t value_count) {
  if (c != NULL && count != value_count) {
    return saltusi_fmi_refuse(c, __func__, "the numbers of references and values differ");
  }
  return saltusi_fmi_set(c, references, count, values);
}

FMI_EXPORT(fmi_status, fmi3GetFMUState, fmi_instance* c, void** state) {
  return saltusi_fmi_state_get(c, state);
}
FMI_EXPORT(fmi_status, fmi3SetFMUState, fmi_instance* c, void* state) {
  return saltusi_fmi_state_set(c, state);
}
FMI_EXPORT(fmi_status, fmi3FreeFMUState, fmi_instance* c, void** state) {
  return saltusi_fmi_state_free(c, state);
}
FMI_EXPORT(fmi_status, fmi3SerializedFMUStateSize, fmi_instance* c, void* state, size_t* size) {
  return saltusi_fmi_state_size(c, state, size);
}
FMI_EXPORT(fmi_status, fmi3SerializeFMUState, fmi_instance* c, void* state, uint8_t* bytes,
           size_t size) {
  return saltusi_fmi_state_write(c, state, bytes, size);
}
FMI_EXPORT(fmi_status, fmi3DeserializeFMUState, fmi_instance* c, const uint8_t* bytes, size_t size,
           void** state) {
  return saltusi_fmi_state_read(c, bytes, size, state);
}

/* ---- not supported ---- */

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NO_TYPE(name, type)                                                                        \
  FMI_EXPORT(fmi_status, fmi3Get##name, fmi_instance* c, const uint32_t* references, size_t count, \
             type* values, size_t value_count) {                                                   \
    return saltusi_fmi_no_type(c, __func__, count);                                                \
  }                                                                                                \
  FMI_EXPORT(fmi_status, fmi3Set##name, fmi_instance* c, const uint32_t* references, size_t count, \
             type const* values, size_t value_count) {                                             \
    return saltusi_fmi_no_type(c, __func__, count);                                                \
  }
NO_TYPE(Float32, float)
NO_TYPE(Int8, int8_t)
NO_TYPE(UInt8, uint8_t)
NO_TYPE(Int16, int16_t)
NO_TYPE(UInt16, uint16_t)
NO_TYPE(Int32, int32_t)
NO_TYPE(UInt32, uint32_t)
NO_TYPE(Int64, int64_t)
NO_TYPE(UInt64, uint64_t)
NO_TYPE(Boolean, bool)
NO_TYPE(String, const char*)

FMI_EXPORT(fmi_status, fmi3GetBinary, fmi_instance* c, const uint32_t* references, size_t count,
           size_t* sizes, const uint8_t** values, size_t value_count) {
  return saltusi_fmi_no_type(c, __func__, count);
}
FMI_EXPORT(fmi_status, fmi3SetBinary, fmi_instance* c, const uint32_t* references, size_t count,
           const size_t* sizes, const uint8_t* const* values, size_t value_count) {
  return saltusi_fmi_no_type(c, __func__, count);
}
FMI_EXPORT(fmi_status, fmi3GetClock, fmi_instance* c, const uint32_t* references, size_t count,
           bool* values) {
  return saltusi_fmi_no_type(c, __func__, count);
}
FMI_EXPORT(fmi_status, fmi3SetClock, fmi_instance* c, const uint32_t* references, size_t count,
           const bool* values) {
  return saltusi_fmi_no_type(c, __func__, count);
}

#define NOT_SUPPORTED(name, ...)                                                                   \
  FMI_EXPORT(fmi_status, name, fmi_instance* c, __VA_ARGS__) {                                     \
    return c != NULL ? saltusi_fmi_refuse(c, __func__, "not supported") : FMI_ERROR;               \
  }
NOT_SUPPORTED(fmi3GetNumberOfVariableDependencies, uint32_t reference, size_t* count)
NOT_SUPPORTED(fmi3GetVariableDependencies, uint32_t dependent, size_t* elements,
              uint32_t* independents, size_t* their_elements, int* kinds, size_t count)
/* NOLINTNEXTLINE(readability-function-size): parameters of the standard */
NOT_SUPPORTED(fmi3GetDirectionalDerivative, const uint32_t* unknowns, size_t unknown_count,
              const uint32_t* knowns, size_t known_count, const double* seed, size_t seed_count,
              double* sensitivity, size_t sensitivity_count)
/* NOLINTNEXTLINE(readability-function-size): parameters of the standard */
NOT_SUPPORTED(fmi3GetAdjointDerivative, const uint32_t* unknowns, size_t unknown_count,
              const uint32_t* knowns, size_t known_count, const double* seed, size_t seed_count,
              double* sensitivity, size_t sensitivity_count)
NOT_SUPPORTED(fmi3GetIntervalDecimal, const uint32_t* clocks, size_t count, double* intervals,
              int* qualifiers)
NOT_SUPPORTED(fmi3GetIntervalFraction, const uint32_t* clocks, size_t count, uint64_t* counters,
              uint64_t* resolutions, int* qualifiers)
NOT_SUPPORTED(fmi3GetShiftDecimal, const uint32_t* clocks, size_t count, double* shifts)
NOT_SUPPORTED(fmi3GetShiftFraction, const uint32_t* clocks, size_t count, uint64_t* counters,
              uint64_t* resolutions)
NOT_SUPPORTED(fmi3SetIntervalDecimal, const uint32_t* clocks, size_t count, const double* intervals)
NOT_SUPPORTED(fmi3SetIntervalFraction, const uint32_t* clocks, size_t count,
              const uint64_t* counters, const uint64_t* resolutions)
NOT_SUPPORTED(fmi3SetShiftDecimal, const uint32_t* clocks, size_t count, const double* shifts)
NOT_SUPPORTED(fmi3SetShiftFraction, const uint32_t* clocks, size_t count, const uint64_t* counters,
              const uint64_t* resolutions)
NOT_SUPPORTED(fmi3CompletedIntegratorStep, bool no_return, bool* event, bool* end)
NOT_SUPPORTED(fmi3SetTime, double time)
NOT_SUPPORTED(fmi3SetContinuousStates, const double* states, size_t count)
NOT_SUPPORTED(fmi3GetContinuousStateDerivatives, double* derivatives, size_t count)
NOT_SUPPORTED(fmi3GetEventIndicators, double* indicators, size_t count)
NOT_SUPPORTED(fmi3GetContinuousStates, double* states, size_t count)
NOT_SUPPORTED(fmi3GetNominalsOfContinuousStates, double* nominals, size_t count)
NOT_SUPPORTED(fmi3GetNumberOfEventIndicators, size_t* count)
NOT_SUPPORTED(fmi3GetNumberOfContinuousStates, size_t* count)
NOT_SUPPORTED(fmi3GetOutputDerivatives, const uint32_t* references, size_t count,
              const int32_t* orders, double* values, size_t value_count)
NOT_SUPPORTED(fmi3ActivateModelPartition, uint32_t clock, double time)

#define NOT_A_MODE(name)                                                                           \
  FMI_EXPORT(fmi_status, name, fmi_instance* c) {                                                  \
    return c != NULL ? saltusi_fmi_refuse(c, __func__, "not supported") : FMI_ERROR;               \
  }
NOT_A_MODE(fmi3EnterConfigurationMode)
NOT_A_MODE(fmi3ExitConfigurationMode)
NOT_A_MODE(fmi3EnterContinuousTimeMode)
