/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fmi.c - see fmi.h: modes, messages, values and states of instances.
 */
#if !defined(_GNU_SOURCE) && defined(__linux__)
#undef _POSIX_C_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "fmu/fmi.h"

#include "base/log.h"

#include <assert.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- instances ---- */

void saltusi_fmi_log(void* instance, saltus_level level, const char* text) {
  assert(instance != NULL && text != NULL);
  const fmi_instance* c = instance;
  static const char* const categories[] = {[SALTUS_LEVEL_ERROR] = "logStatusError",
                                           [SALTUS_LEVEL_WARNING] = "logStatusWarning",
                                           [SALTUS_LEVEL_NOTE] = "logNotes"};
  const int status = level == SALTUS_LEVEL_ERROR     ? FMI_ERROR
                     : level == SALTUS_LEVEL_WARNING ? FMI_WARNING
                                                     : FMI_OK;
  if (level != SALTUS_LEVEL_ERROR && !c->verbose) {
    return;
  }
  if (c->log3 != NULL) {
    c->log3(c->environment, status, categories[level], text);
  } else if (c->callbacks != NULL && c->callbacks->logger != NULL) {
    c->callbacks->logger(c->callbacks->environment, c->name, status, categories[level], "%s", text);
  }
}

fmi_status saltusi_fmi_refuse(const fmi_instance* c, const char* function, const char* why) {
  assert(c != NULL);
  const saltus_log log = {.write = saltusi_fmi_log, .user = (void*)(uintptr_t)c};
  saltusi_log(log, SALTUS_LEVEL_ERROR, "%s: %s", function, why);
  return FMI_ERROR;
}

fmi_instance* saltusi_fmi_create(const char* name, bool verbose) {
  fmi_instance* c = calloc(1, sizeof *c);
  const char* text = name != NULL ? name : "";
  char* copy = c != NULL ? malloc(strlen(text) + 1) : NULL;
  if (copy == NULL) {
    free(c);
    return NULL;
  }
  memcpy(copy, text, strlen(text) + 1);
  c->name = copy;
  c->verbose = verbose;
  return c;
}

void saltusi_fmi_destroy(fmi_instance* c) {
  if (c != NULL) {
    saltusi_fmu_instance_close(c->model);
    free(c->name);
    free(c);
  }
}

/* A copy of `path` with `tail` behind its first `length` characters; NULL: no memory. */
static char* extend(const char* path, size_t length, const char* tail) {
  char* text = malloc(length + strlen(tail) + 1);
  if (text != NULL) {
    memcpy(text, path, length);
    memcpy(text + length, tail, strlen(tail) + 1);
  }
  return text;
}

/* Folder of the resources, by the place of the shared object, which is in binaries/PLATFORM. */
static char* find_resources(void) {
  Dl_info info;
  if (dladdr((void*)(uintptr_t)&find_resources, &info) == 0 || info.dli_fname == NULL) {
    return NULL;
  }
  const char* path = info.dli_fname;
  size_t length = strlen(path);
  for (int i = 0; i < 3; i++) {
    while (length > 0 && path[length - 1] != '/') {
      length--;
    }
    length -= length > 0 ? 1 : 0;
  }
  return extend(path, length, length > 0 ? "/resources/" : "resources/");
}

bool saltusi_fmi_open(fmi_instance* c, const char* token, const char* resources) {
  assert(c != NULL);
  const size_t length = resources != NULL ? strlen(resources) : 0;
  char* folder = length == 0 ? find_resources()
                             : extend(resources, length, resources[length - 1] == '/' ? "" : "/");
  const saltus_log log = {.write = saltusi_fmi_log, .user = c};
  c->model = folder != NULL ? saltusi_fmu_instance_open(folder, log) : NULL;
  free(folder);
  if (c->model != NULL && (token == NULL || strcmp(token, c->model->token) != 0)) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "the instantiation token \"%.60s\" is not that of the resources, %s",
                token != NULL ? token : "", c->model->token);
    saltusi_fmu_instance_close(c->model);
    c->model = NULL;
  }
  if (c->model == NULL) {
    saltusi_fmi_destroy(c);
    return false;
  }
  return true;
}

/* ---- modes ---- */

fmi_status saltusi_fmi_check(const fmi_instance* c, unsigned modes, const char* function) {
  assert(function != NULL);
  static const char* const names[] = {"after instantiation", "in initialization mode",
                                      "in step mode",        "in event mode",
                                      "after termination",   "in intermediate updates"};
  if (c == NULL) {
    return FMI_ERROR;
  }
  if ((modes & FMI_IN(c->mode)) != 0U) {
    return FMI_OK;
  }
  char why[80];
  snprintf(why, sizeof why, "not allowed %s", names[c->mode]);
  return saltusi_fmi_refuse(c, function, why);
}

fmi_status saltusi_fmi_answer(saltus_status status) {
  return status == SALTUS_OK ? FMI_OK : status > 0 ? FMI_DISCARD : FMI_ERROR;
}

fmi_status saltusi_fmi_initialise(fmi_instance* c, const char* function, double start, double stop,
                                  double tol) {
  assert(function != NULL);
  if (saltusi_fmi_check(c, FMI_IN(FMI_INSTANTIATED), function) != FMI_OK) {
    return FMI_ERROR;
  }
  return saltusi_fmi_answer(saltusi_fmu_instance_experiment(c->model, start, stop, tol));
}

fmi_status saltusi_fmi_begin(fmi_instance* c, const char* function) {
  assert(function != NULL);
  if (saltusi_fmi_check(c, FMI_IN(FMI_INITIALISING), function) != FMI_OK) {
    return FMI_ERROR;
  }
  const saltus_status status = saltusi_fmu_instance_begin(c->model);
  c->mode = status != SALTUS_OK ? FMI_TERMINATED : c->event_mode ? FMI_EVENTS : FMI_STEPPING;
  return saltusi_fmi_answer(status);
}

fmi_status saltusi_fmi_reset(fmi_instance* c) {
  if (c == NULL) {
    return FMI_ERROR;
  }
  if (saltusi_fmi_check(c, ~FMI_IN(FMI_UPDATING), "reset") != FMI_OK) {
    return FMI_ERROR;
  }
  c->mode = FMI_INSTANTIATED;
  return saltusi_fmi_answer(saltusi_fmu_instance_reset(c->model));
}

fmi_status saltusi_fmi_terminate(fmi_instance* c, const char* function) {
  assert(function != NULL);
  const fmi_status status =
      saltusi_fmi_check(c, FMI_IN(FMI_STEPPING) | FMI_IN(FMI_EVENTS), function);
  if (c != NULL) {
    c->mode = FMI_TERMINATED;
  }
  return status;
}

/* ---- values ---- */

fmi_status saltusi_fmi_get(fmi_instance* c, const uint32_t* references, size_t count,
                           double* values) {
  if (c == NULL || (count > 0 && (references == NULL || values == NULL))) {
    return FMI_ERROR;
  }
  saltus_status status = SALTUS_OK;
  for (size_t i = 0; i < count && status == SALTUS_OK; i++) {
    status = saltusi_fmu_instance_get(c->model, references[i], &values[i]);
  }
  return saltusi_fmi_answer(status);
}

static bool may_set(const fmi_instance* c, size_t count, bool given) {
  const unsigned modes = FMI_IN(FMI_INSTANTIATED) | FMI_IN(FMI_INITIALISING) |
                         FMI_IN(FMI_STEPPING) | FMI_IN(FMI_EVENTS);
  return saltusi_fmi_check(c, modes, "setting a variable") == FMI_OK && (count == 0 || given);
}

fmi_status saltusi_fmi_set(fmi_instance* c, const uint32_t* references, size_t count,
                           const double* values) {
  assert(c == NULL || c->model != NULL);
  if (!may_set(c, count, references != NULL && values != NULL)) {
    return FMI_ERROR;
  }
  saltus_status status = SALTUS_OK;
  for (size_t i = 0; i < count && status == SALTUS_OK; i++) {
    status = saltusi_fmu_instance_set(c->model, references[i], values[i]);
  }
  return saltusi_fmi_answer(status);
}

fmi_status saltusi_fmi_set_slopes(fmi_instance* c, const uint32_t* references, size_t count,
                                  const int* orders, const double* values) {
  assert(c == NULL || c->model != NULL);
  if (!may_set(c, count, references != NULL && orders != NULL && values != NULL)) {
    return FMI_ERROR;
  }
  saltus_status status = SALTUS_OK;
  for (size_t i = 0; i < count && status == SALTUS_OK; i++) {
    if (!isfinite(values[i]) || orders[i] < 1 || (orders[i] > 1 && values[i] != 0.0)) {
      return saltusi_fmi_refuse(c, "derivatives of inputs",
                                "the order has to be 1 and the value finite");
    }
    status = orders[i] > 1 ? SALTUS_OK
                           : saltusi_fmu_instance_set_slope(c->model, references[i], values[i]);
  }
  return saltusi_fmi_answer(status);
}

fmi_status saltusi_fmi_no_type(const fmi_instance* c, const char* function, size_t count) {
  assert(function != NULL);
  return c != NULL && count == 0 ? FMI_OK
         : c == NULL             ? FMI_ERROR
                     : saltusi_fmi_refuse(c, function, "all variables are 64-bit floating point");
}

fmi_status saltusi_fmi_step(fmi_instance* c, const char* function, double now, double size,
                            bool* happened) {
  assert(happened != NULL);
  *happened = false;
  if (saltusi_fmi_check(c, FMI_IN(FMI_STEPPING), function) != FMI_OK) {
    return FMI_ERROR;
  }
  const double t = c->model->t;
  if (!(fabs(now - t) <= 1e-9 * fmax(1.0, fabs(now))) || !(size > 0.0) || !isfinite(size)) {
    const saltus_log log = {.write = saltusi_fmi_log, .user = c};
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "%s: from %.17g s by %.17g s; the FMU is at %.17g s and steps have to be positive",
                function, now, size, t);
    return FMI_ERROR;
  }
  const saltus_status status =
      saltusi_fmu_instance_step(c->model, now + size, c->early, c->event_mode, happened);
  return saltusi_fmi_answer(status);
}

/* ---- states ---- */

/* Some importers pass the state instead of its address when they free it: the first word, NULL, makes that harmless. */
typedef struct fmi_state {
  void* null;
  uint64_t size; /* of bytes */
  uint64_t mode;
  unsigned char bytes[];
} fmi_state;

fmi_status saltusi_fmi_state_get(fmi_instance* c, void** state) {
  if (c == NULL || state == NULL) {
    return FMI_ERROR;
  }
  const size_t size = saltusi_fmu_instance_bytes(c->model);
  fmi_state* old = *state;
  fmi_state* kept = old != NULL && old->size == size ? old : malloc(sizeof *kept + size);
  if (kept == NULL) {
    return saltusi_fmi_refuse(c, "state", "no memory");
  }
  if (kept != old) {
    free(old);
  }
  kept->null = NULL;
  kept->size = size;
  kept->mode = (uint64_t)c->mode;
  saltusi_fmu_instance_save(c->model, kept->bytes);
  *state = kept;
  return FMI_OK;
}

fmi_status saltusi_fmi_state_set(fmi_instance* c, const void* state) {
  assert(c == NULL || c->model != NULL);
  const fmi_state* kept = state;
  if (c == NULL || kept == NULL || kept->mode > FMI_TERMINATED || c->mode == FMI_UPDATING) {
    return c == NULL ? FMI_ERROR : saltusi_fmi_refuse(c, "state", "not a state of this FMU");
  }
  const saltus_status status = saltusi_fmu_instance_load(c->model, kept->bytes, kept->size);
  c->mode = status == SALTUS_OK ? (fmi_mode)kept->mode : c->mode;
  const bool runs = c->mode == FMI_STEPPING || c->mode == FMI_EVENTS;
  if (runs &&
      c->model->run == NULL) { /* a state of another mode, or one that could not be loaded */
    c->mode = FMI_TERMINATED;
    return status == SALTUS_OK ? saltusi_fmi_refuse(c, "state", "not a state of this FMU")
                               : saltusi_fmi_answer(status);
  }
  return saltusi_fmi_answer(status);
}

fmi_status saltusi_fmi_state_free(fmi_instance* c, void** state) {
  (void)c;
  if (state != NULL) {
    free(*state);
    *state = NULL;
  }
  return FMI_OK;
}

fmi_status saltusi_fmi_state_size(fmi_instance* c, const void* state, size_t* size) {
  assert(c == NULL || c->model != NULL);
  const fmi_state* kept = state;
  if (c == NULL || kept == NULL || size == NULL) {
    return FMI_ERROR;
  }
  *size = sizeof *kept + kept->size;
  return FMI_OK;
}

fmi_status saltusi_fmi_state_write(fmi_instance* c, const void* state, void* bytes, size_t size) {
  assert(c == NULL || c->model != NULL);
  const fmi_state* kept = state;
  if (c == NULL || kept == NULL || bytes == NULL || size < sizeof *kept + kept->size) {
    return c == NULL ? FMI_ERROR : saltusi_fmi_refuse(c, "state", "too few bytes to write it");
  }
  memcpy(bytes, kept, sizeof *kept + kept->size);
  return FMI_OK;
}

fmi_status saltusi_fmi_state_read(fmi_instance* c, const void* bytes, size_t size, void** state) {
  fmi_state head = {.size = 0};
  if (c == NULL || bytes == NULL || state == NULL) {
    return FMI_ERROR;
  }
  if (size >= sizeof head) {
    memcpy(&head, bytes, sizeof head);
  }
  if (size < sizeof head || head.size != size - sizeof head || head.null != NULL ||
      head.mode > FMI_TERMINATED) {
    return saltusi_fmi_refuse(c, "state", "the bytes are no state of this FMU");
  }
  void* kept = malloc(size);
  if (kept == NULL) {
    return saltusi_fmi_refuse(c, "state", "no memory");
  }
  memcpy(kept, bytes, size);
  *state = kept;
  return FMI_OK;
}
