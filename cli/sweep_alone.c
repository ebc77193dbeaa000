/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sweep_alone.c - replacement of sweep_mpi.c in builds without MPI.
 */
#include "sweep.h"

#include <stdlib.h>

bool sweep_mpi_start(void) {
  const char* size = getenv("OMPI_COMM_WORLD_SIZE");
  size = size != NULL ? size : getenv("PMI_SIZE");
  if (size != NULL && atoi(size) > 1) {
    cli_error("warning: this build of Saltus has no MPI; every process of mpirun would do the "
              "whole sweep. Use --shard "
              "I/N, or build with an MPI installed");
  }
  return false;
}

int sweep_mpi_rank(void) {
  return 0;
}

void sweep_mpi_place(int* process, int* processes) {
  *process = *processes = 0;
}

void sweep_mpi_end(void) {
}

int sweep_mpi_lead(saltus_sweep* sweep, sweep_next next, sweep_take take, void* user,
                   const volatile int* cancel) {
  (void)sweep;
  (void)next;
  (void)take;
  (void)user;
  (void)cancel;
  return CLI_FAILED;
}

int sweep_mpi_follow(saltus_sweep* sweep) {
  (void)sweep;
  return CLI_FAILED;
}
