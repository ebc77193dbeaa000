/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fmu_client.h - an importer of FMUs for tests: unpacks the archive, reads modelDescription.xml with expat, loads the
 * shared object and resolves every function of its version.
 */
#ifndef FMU_CLIENT_H
#define FMU_CLIENT_H

#include "saltus_test.h"

typedef struct fmu_variable {
  char name[128];
  char causality[24], variability[16], initial[16], unit[64];
  unsigned reference;
  bool has_start;
  double start;
  long derivative; /* as written; -1: none */
  int outputs;     /* entries among Output of the model structure */
  int unknowns;    /* among InitialUnknown */
} fmu_variable;

typedef struct fmu_client {
  char folder[64]; /* of the unpacked archive */
  int version;
  char token[64], identifier[80];
  bool event_mode, early, variable_steps;
  double fixed_step, start, stop, step, tolerance; /* NaN: not given */
  fmu_variable* variables;
  int count;
  char units[64][64];
  int unit_count;
  int faults; /* violated rules of the schema, printed */
  void* library;
} fmu_client;

/* One instance with its messages. */
typedef struct fmu_slave {
  const fmu_client* client;
  void* instance;
  char message[2048]; /* the last error */
  bool in_event_mode;
} fmu_slave;

/* Exports a scene and opens it. */
void fmu_client_export(fmu_client* client, saltus_scene* scene, const char* path, int version,
                       double tol);
void fmu_client_open(fmu_client* client, const char* file);
void fmu_client_close(fmu_client* client);
/* Value reference of a name; fails when it is not there. */
unsigned fmu_client_find(const fmu_client* client, const char* name);

/* Statuses as in FMI: 0 done, 2 discarded, 3 error. */
/* A function whose arguments the standard gives. */
#define FMI_CALLBACK(type, name, ...) static type name(__VA_ARGS__)

/* Function for intermediate updates of FMI 3.0, for instances created from now on; NULL: none. Its environment is the slave. */
typedef void fmu_update(void* slave, double t, bool set, bool get, bool finished, bool can_return,
                        bool* returns, double* end);
void fmu_client_updates(fmu_update* update);
bool fmu_slave_create(fmu_slave* slave, const fmu_client* client, const char* token, bool events);
int fmu_slave_initialise(fmu_slave* slave, double start, double stop, double tol);
int fmu_slave_get(fmu_slave* slave, unsigned reference, double* value);
int fmu_slave_set(fmu_slave* slave, unsigned reference, double value);
/* *t: time reached; *event: an event has to be handled. */
int fmu_slave_step(fmu_slave* slave, double t, double h, double* reached, bool* event);
int fmu_slave_enter_events(fmu_slave* slave);
int fmu_slave_update(fmu_slave* slave);
int fmu_slave_leave_events(fmu_slave* slave);
int fmu_slave_reset(fmu_slave* slave);
void fmu_slave_free(fmu_slave* slave);
int fmu_slave_state(fmu_slave* slave, void** state);
int fmu_slave_restore(fmu_slave* slave, void* state);
void fmu_slave_drop(fmu_slave* slave, void** state);
/* Bytes of a state, to be freed. */
unsigned char* fmu_slave_bytes(fmu_slave* slave, void* state, size_t* size);
int fmu_slave_from_bytes(fmu_slave* slave, const void* bytes, size_t size, void** state);

/* Names of all functions of a version, NULL at the end. */
extern const char* const fmu_functions_2[];
extern const char* const fmu_functions_3[];

#endif
