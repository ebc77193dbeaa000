/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sweep_mpi.c - a sweep over many processes. Rank 0 assigns runs to idle ranks, receives their rows
 * and writes them; between requests it computes runs as well. Rows do not depend on the rank that
 * computes them.
 */
#include "sweep.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Runs of a message and of rank 0 between messages; SHARE: of compiled members. */
enum { TAG_RUNS = 1, TAG_ROWS = 2, SHARE = 4096, SHARE_SINGLE = 32, OWN_SINGLE = 8 };

bool sweep_mpi_start(void) {
  static const char* const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK",
                                      "MPI_LOCALNRANKS"};
  bool started = false;
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    started = started || getenv(marks[i]) != NULL;
  }
  int size = 1;
  if (started && MPI_Init(NULL, NULL) == MPI_SUCCESS) {
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  return size > 1;
}

int sweep_mpi_rank(void) {
  int on = 0, rank = 0;
  MPI_Initialized(&on);
  if (on != 0) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  }
  return rank;
}

void sweep_mpi_place(int* process, int* processes) {
  int on = 0;
  MPI_Comm machine;
  MPI_Initialized(&on);
  if (on != 0 && MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                     &machine) == MPI_SUCCESS) {
    MPI_Comm_rank(machine, process);
    MPI_Comm_size(machine, processes);
    MPI_Comm_free(&machine);
  }
}

void sweep_mpi_end(void) {
  int on = 0, off = 0;
  MPI_Initialized(&on);
  MPI_Finalized(&off);
  if (on != 0 && off == 0) {
    MPI_Finalize();
  }
}

/* Rows as bytes: count, then for each run its number, whether it is done, status, reason and values. */
static size_t row_bytes(int columns) {
  return 3 * sizeof(long long) + SALTUS_SWEEP_REASON + sizeof(double) * (size_t)columns;
}

static size_t message_bytes(int columns) {
  return sizeof(long long) + SHARE * row_bytes(columns);
}

static void pack(char* to, const sweep_block* block, int count, int columns) {
  const long long number = count;
  memcpy(to, &number, sizeof number);
  to += sizeof number;
  for (int i = 0; i < count; i++) {
    const long long head[3] = {block->runs[i], block->rows.done[i], block->rows.statuses[i]};
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, block->rows.reasons[i], SALTUS_SWEEP_REASON);
    memcpy(to + sizeof head + SALTUS_SWEEP_REASON, block->rows.values + (size_t)i * (size_t)columns,
           sizeof(double) * (size_t)columns);
    to += row_bytes(columns);
  }
}

static int unpack(const char* from, const sweep_block* block, int columns) {
  long long count;
  memcpy(&count, from, sizeof count);
  from += sizeof count;
  for (int i = 0; i < (int)count; i++) {
    long long head[3];
    memcpy(head, from, sizeof head);
    block->runs[i] = head[0];
    block->rows.done[i] = head[1] != 0;
    block->rows.statuses[i] = (int)head[2];
    memcpy(block->rows.reasons[i], from + sizeof head, SALTUS_SWEEP_REASON);
    memcpy(block->rows.values + (size_t)i * (size_t)columns,
           from + sizeof head + SALTUS_SWEEP_REASON, sizeof(double) * (size_t)columns);
    from += row_bytes(columns);
  }
  return (int)count;
}

/* State of rank 0 during the sweep. */
typedef struct leader {
  sweep_next next;
  sweep_take take;
  void* user;
  const volatile int* cancel;
  sweep_block block;
  char* message;
  int columns, busy, code;
  bool ended, compiled;
} leader;

static int ask_next(leader* l, long long* runs, int room) {
  const bool stop = l->ended || l->code != CLI_DONE || (l->cancel != NULL && *l->cancel != 0);
  const int count = stop ? 0 : l->next(l->user, runs, room);
  l->ended = l->ended || count == 0;
  return count;
}

/* Receives the rows of another rank and sends it runs; an empty list means the end. */
static void serve(leader* l) {
  MPI_Status from;
  MPI_Recv(l->message, (int)message_bytes(l->columns), MPI_BYTE, MPI_ANY_SOURCE, TAG_ROWS,
           MPI_COMM_WORLD, &from);
  const int count = unpack(l->message, &l->block, l->columns);
  if (count > 0 && l->code == CLI_DONE) {
    l->code = l->take(l->user, l->block.runs, count, &l->block.rows);
  }
  long long runs[SHARE];
  const int given = ask_next(l, runs, l->compiled ? SHARE : SHARE_SINGLE);
  MPI_Send(runs, given, MPI_LONG_LONG, from.MPI_SOURCE, TAG_RUNS, MPI_COMM_WORLD);
  l->busy -= given == 0;
}

int sweep_mpi_lead(saltus_sweep* sweep, sweep_next next, sweep_take take, void* user,
                   const volatile int* cancel) {
  const saltus_sweep_view* view = saltus_sweep_get_view(sweep);
  leader l = {.next = next,
              .take = take,
              .user = user,
              .cancel = cancel,
              .columns = view->axes + view->measures,
              .compiled = view->compiled,
              .code = CLI_DONE};
  MPI_Comm_size(MPI_COMM_WORLD, &l.busy);
  l.busy--;
  l.message = malloc(message_bytes(l.columns));
  if (l.message == NULL || !sweep_block_make(&l.block, SHARE, l.columns)) {
    cli_error("no memory");
    MPI_Abort(MPI_COMM_WORLD, CLI_FAILED);
    return CLI_FAILED;
  }
  while (l.busy > 0 || !l.ended) {
    int asked = 0;
    if (l.busy > 0) {
      MPI_Iprobe(MPI_ANY_SOURCE, TAG_ROWS, MPI_COMM_WORLD, &asked, MPI_STATUS_IGNORE);
    }
    if (asked != 0 || (l.ended && l.busy > 0)) {
      serve(&l);
      continue;
    }
    const int count = ask_next(&l, l.block.runs, l.compiled ? SHARE / 4 : OWN_SINGLE);
    if (count > 0) {
      (void)saltus_sweep_compute(sweep, l.block.runs, count, &l.block.rows);
      l.code = l.take(l.user, l.block.runs, count, &l.block.rows);
    }
  }
  sweep_block_free(&l.block);
  free(l.message);
  return l.code;
}

int sweep_mpi_follow(saltus_sweep* sweep) {
  const saltus_sweep_view* view = saltus_sweep_get_view(sweep);
  const int columns = view->axes + view->measures;
  sweep_block block;
  char* message = malloc(message_bytes(columns));
  if (message == NULL || !sweep_block_make(&block, SHARE, columns)) {
    MPI_Abort(MPI_COMM_WORLD, CLI_FAILED);
    return CLI_FAILED;
  }
  int count = 0;
  do {
    pack(message, &block, count, columns);
    MPI_Send(message, (int)(sizeof(long long) + (size_t)count * row_bytes(columns)), MPI_BYTE, 0,
             TAG_ROWS, MPI_COMM_WORLD);
    MPI_Status from;
    MPI_Recv(block.runs, SHARE, MPI_LONG_LONG, 0, TAG_RUNS, MPI_COMM_WORLD, &from);
    MPI_Get_count(&from, MPI_LONG_LONG, &count);
    if (count > 0) {
      (void)saltus_sweep_compute(sweep, block.runs, count, &block.rows);
    }
  } while (count > 0);
  sweep_block_free(&block);
  free(message);
  return CLI_DONE;
}
