/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sweep.h - what saltus sweep and saltus merge share: tables into files, figures and a summary.
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

bool sweep_block_make(sweep_block* block, int room, int columns);
void sweep_block_free(sweep_block* block);

/* Which files are to be made of a finished table, checked before anything is computed. Returns an exit code. */
int sweep_files_check(const cli_args* args);

/* The table that a command works on: the -o that ends in .runs, or the first -o with .runs behind it; NULL: no -o. malloc'd. */
char* sweep_table_path(const cli_args* args);

/* Writes every -o and --figure of a table, and removes a table that was only for that. Returns an exit code. */
int sweep_files_write(const cli_args* args, saltus_sweep_table* table, const char* path);

/* Prints the results. */
int sweep_summary(const cli_args* args, saltus_sweep_table* table);

/* The value below which a part of sorted values lies, between neighbours in proportion. */
double sweep_quantile(const double* sorted, long long count, double part);

/* Draws measures over the axes of the grid. Returns an exit code. */
int sweep_figure(saltus_sweep_table* table, const char* path);

/* ---- many machines (sweep_mpi.c, or sweep_alone.c in a program without MPI) ---- */

/* Whether the program was started by mpirun or a scheduler: then it has a rank, and the others. */
bool sweep_mpi_start(void);
int sweep_mpi_rank(void);
void sweep_mpi_end(void);

/* Requests the next runs, fills runs[room] and returns how many; 0: end. */
typedef int (*sweep_next)(void* user, long long* runs, int room);
/* Takes rows that are done. An exit code. */
typedef int (*sweep_take)(void* user, const long long* runs, int count,
                          const saltus_sweep_rows* rows);

/* Rank 0 hands out runs and takes rows until there are no more, and computes some itself; others compute. An exit code. */
int sweep_mpi_lead(saltus_sweep* sweep, sweep_next next, sweep_take take, void* user,
                   const volatile int* cancel);
int sweep_mpi_follow(saltus_sweep* sweep);

#endif
