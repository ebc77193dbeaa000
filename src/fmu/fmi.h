/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fmi.h - parts of the interfaces of FMI 2.0.4 and 3.0.2 that both versions share. Names and argument lists of the
 * exported functions are those of the standards (https://fmi-standard.org).
 */
#ifndef SALTUSI_FMU_FMI_H
#define SALTUSI_FMU_FMI_H

#include "fmu/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum fmi_status { FMI_OK, FMI_WARNING, FMI_DISCARD, FMI_ERROR, FMI_FATAL } fmi_status;

/* Declares and defines an exported function. */
#if defined(_WIN32)
#define FMI_VISIBLE __declspec(dllexport)
#else
#define FMI_VISIBLE __attribute__((visibility("default")))
#endif
#define FMI_EXPORT(type, name, ...)                                                                \
  FMI_VISIBLE type name(__VA_ARGS__);                                                              \
  type name(__VA_ARGS__)

typedef void fmi3_logger(void* environment, int status, const char* category, const char* message);

/* Callbacks of FMI 2.0. The logger formats like printf. */
typedef struct fmi2_callbacks {
  void (*logger)(void* environment, const char* instance, int status, const char* category,
                 const char* message, ...);
  void* (*allocate)(size_t count, size_t size);
  void (*release)(void* object);
  void (*step_finished)(void* environment, int status);
  void* environment;
} fmi2_callbacks;

/* Modes of an instance. */
typedef enum fmi_mode {
  FMI_INSTANTIATED,
  FMI_INITIALISING,
  FMI_STEPPING,
  FMI_EVENTS,
  FMI_TERMINATED,
  FMI_UPDATING /* inside of the callback for intermediate updates */
} fmi_mode;

/* Intermediate update of FMI 3.0: called at the ends of own steps, where variables can be read. */
typedef void fmi3_update(void* environment, double t, bool set_requested, bool get_allowed,
                         bool step_finished, bool can_return_early, bool* return_requested,
                         double* return_time);

typedef struct fmi_instance {
  saltusi_fmu_instance* model;
  fmi_mode mode;
  char* name;
  bool verbose;    /* warnings and notes are logged */
  bool event_mode; /* 3.0 */
  bool early;      /* 3.0: steps may end at impacts */
  fmi3_logger* log3;
  fmi3_update* update3;
  void* environment;
  const fmi2_callbacks* callbacks; /* 2.0 */
} fmi_instance;

/* Everything but the model; name is copied. NULL: no memory. */
fmi_instance* saltusi_fmi_create(const char* name, bool verbose);
/* The model of a resource folder; NULL: that beside the shared object. False, after a message, with the instance
 * destroyed. */
bool saltusi_fmi_open(fmi_instance* c, const char* token, const char* resources);
void saltusi_fmi_destroy(fmi_instance* c);

/* Message through the logger of the instance. */
void saltusi_fmi_log(void* instance, saltus_level level, const char* text);
fmi_status saltusi_fmi_refuse(const fmi_instance* c, const char* function, const char* why);

/* FMI_ERROR, with a message, unless the mode is among those; modes joined by FMI_IN. */
#define FMI_IN(mode) (1U << (unsigned)(mode))
fmi_status saltusi_fmi_check(const fmi_instance* c, unsigned modes, const char* function);

/* A positive status is a failed step that may succeed with another length: the importer may go back. */
fmi_status saltusi_fmi_answer(saltus_status status);

fmi_status saltusi_fmi_get(fmi_instance* c, const uint32_t* references, size_t count,
                           double* values);
fmi_status saltusi_fmi_set(fmi_instance* c, const uint32_t* references, size_t count,
                           const double* values);
/* Derivatives of inputs; of an order above 1 they have to be zero. */
fmi_status saltusi_fmi_set_slopes(fmi_instance* c, const uint32_t* references, size_t count,
                                  const int* orders, const double* values);
fmi_status saltusi_fmi_initialise(fmi_instance* c, const char* function, double start, double stop,
                                  double tol);
fmi_status saltusi_fmi_begin(fmi_instance* c, const char* function);
fmi_status saltusi_fmi_reset(fmi_instance* c);
fmi_status saltusi_fmi_terminate(fmi_instance* c, const char* function);

/* One communication step; *happened: an impact at its end. */
fmi_status saltusi_fmi_step(fmi_instance* c, const char* function, double now, double size,
                            bool* happened);

/* Variables of other types do not exist. */
fmi_status saltusi_fmi_no_type(const fmi_instance* c, const char* function, size_t count);

/* States; also serialised. */
fmi_status saltusi_fmi_state_get(fmi_instance* c, void** state);
fmi_status saltusi_fmi_state_set(fmi_instance* c, const void* state);
fmi_status saltusi_fmi_state_free(fmi_instance* c, void** state);
fmi_status saltusi_fmi_state_size(fmi_instance* c, const void* state, size_t* size);
fmi_status saltusi_fmi_state_write(fmi_instance* c, const void* state, void* bytes, size_t size);
fmi_status saltusi_fmi_state_read(fmi_instance* c, const void* bytes, size_t size, void** state);

#endif
