/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sweep.h - shared by saltus sweep and saltus merge: tables as files, figures and a summary.
 */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "cli.h"
#include "saltus/sweep.h"

/* Rows of a block of runs; malloc'd. */
typedef struct sweep_block {
  long long* runs;
  saltus_sweep_rows rows;
  int room;
} sweep_block;

/* Options of studies: the values of one that repeats, the seed, the sampling. Return their number, or an exit code. */
int sweep_collect(const cli_args* args, const char* name, const char** list);
int sweep_read_seed(const cli_args* args, uint64_t* seed);
int sweep_read_sampling(const cli_args* args, saltus_sampling* sampling);
int sweep_threads_of_machine(void);

bool sweep_block_make(sweep_block* block, int room, int columns);
void sweep_block_free(sweep_block* block);

/* Checks the requested output files of a table before the computation. Returns an exit code. */
int sweep_files_check(const cli_args* args);

/* The table of a command: the -o that ends in .runs, or the first -o with .runs appended; NULL: no -o. malloc'd. */
char* sweep_table_path(const cli_args* args);

/* Writes every -o and --figure of a table, and removes a temporary table. Returns an exit code. */
int sweep_files_write(const cli_args* args, saltus_sweep_table* table, const char* path);

/* Prints the results. */
int sweep_summary(const cli_args* args, saltus_sweep_table* table);

/* Quantile of sorted values, by linear interpolation. */
double sweep_quantile(const double* sorted, long long count, double part);

/* Draws measures over the axes of the grid. Returns an exit code. */
int sweep_figure(saltus_sweep_table* table, const char* path);

/* ---- many machines (sweep_mpi.c, or sweep_alone.c in a program without MPI) ---- */

/* Whether the program was started by mpirun or a scheduler; then there are several ranks. */
bool sweep_mpi_start(void);
int sweep_mpi_rank(void);
/* Number of this process among those of this machine; unchanged or 0 of 0: alone. */
void sweep_mpi_place(int* process, int* processes);
void sweep_mpi_end(void);

/* Requests the next runs into runs[room] and returns their number; 0: end. */
typedef int (*sweep_next)(void* user, long long* runs, int room);
/* Takes rows that are done. An exit code. */
typedef int (*sweep_take)(void* user, const long long* runs, int count,
                          const saltus_sweep_rows* rows);

/* Rank 0 distributes runs, collects rows until the end, and computes runs itself; the other ranks compute. An exit
 * code. */
int sweep_mpi_lead(saltus_sweep* sweep, sweep_next next, sweep_take take, void* user,
                   const volatile int* cancel);
int sweep_mpi_follow(saltus_sweep* sweep);

#endif
