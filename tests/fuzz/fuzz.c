/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fuzz.c - hostile inputs by ranges of seeds, many in one process.
 *
 *   saltus-fuzz KIND FROM TO [FOLDER]     seeds FROM .. TO - 1 of snapshots, recordings, texts or robots
 *
 * A worker process takes one input after the other. When it ends (crash, report of a sanitizer, a claim that does not
 * hold, an input that takes longer than SECONDS of processor time) the input is saved in FOLDER (default: .), and another worker
 * starts with the next seed. Exit 1 when there was a finding. Crashes inside the HDF5 library are counted apart.
 */
#include "fuzz.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif
#if SANITIZED
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#endif

enum {
  SECONDS = 20,  /* of processor time for one input */
  BLOCKED = 600, /* s on the clock for one input */
  OUTCOMES = 32,
  FILES = 4,
  LEAK_EVERY = 20000 /* inputs between two searches for leaks, at most */
};

/* Shared with the worker. */
typedef struct board {
  uint64_t seed; /* of the input under test */
  long long done;
  double started;    /* processor time at its start, s */
  double started_at; /* clock at its start, s */
  int reported;      /* a reason has been printed */
  int outside;       /* it lies in another library */
  struct {
    char name[48];
    long long count;
  } outcome[OUTCOMES];
} board;

static board* shared;
static const char* found_in = ".";
static const char* kind_name = "";
static struct {
  const char* name;
  const void* bytes;
  size_t count;
} current[FILES];
static int files;

static double seconds(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void fuzz_current(bool first, const char* name, const void* bytes, size_t count) {
  files = first ? 0 : files;
  if (files < FILES) {
    current[files].name = name;
    current[files].bytes = bytes;
    current[files++].count = count;
  }
}

void fuzz_count(const char* outcome) {
  for (int i = 0; i < OUTCOMES; i++) {
    if (shared->outcome[i].name[0] == '\0') {
      snprintf(shared->outcome[i].name, sizeof shared->outcome[i].name, "%s", outcome);
    }
    if (strcmp(shared->outcome[i].name, outcome) == 0) {
      shared->outcome[i].count++;
      return;
    }
  }
}

/* Files of the input under test as FOLDER/KIND-SEED-NAME. */
static void save_input(void) {
  for (int i = 0; i < files; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s-%" PRIu64 "-%s", found_in, kind_name, shared->seed,
             current[i].name);
    FILE* file = fopen(path, "wb");
    if (file != NULL) {
      fwrite(current[i].bytes, 1, current[i].count, file);
      fclose(file);
      fprintf(stderr, "input saved: %s\n", path);
    }
  }
  fflush(NULL);
}

static void found(const char* reason) {
  shared->reported = 1;
  fprintf(stderr, "%s, seed %" PRIu64 ": %s\n", kind_name, shared->seed, reason);
  save_input();
}

void fuzz_require(bool holds, const char* claim) {
  if (!holds) {
    found(claim);
    _exit(3);
  }
}

static void watch(int signal_number) {
  (void)signal_number;
  if (seconds(CLOCK_PROCESS_CPUTIME_ID) - shared->started > SECONDS ||
      seconds(CLOCK_MONOTONIC) - shared->started_at > BLOCKED) {
    found("an input takes too long");
    _exit(3);
  }
}

#if SANITIZED
static void died(void) {
  if (!shared->reported) {
    found(shared->outside ? "a crash inside HDF5" : "a report of a sanitizer");
  }
}

static void read_report(const char* text) {
  const char* outside = strstr(text, "libhdf5");
  const char* inside = strstr(text, "/src/");
  shared->outside = outside != NULL && (inside == NULL || outside < inside);
}
#else
static void crashed(int signal_number) {
  found("a signal");
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}
#endif

static void install(void) {
#if SANITIZED
  __sanitizer_set_death_callback(died);
  __asan_set_error_report_callback(read_report);
#else
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    signal(signals[i], crashed);
  }
#endif
  struct sigaction action = {.sa_flags = SA_RESTART};
  action.sa_handler = watch;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval every = {{1, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
}

static void check_leaks(void) {
#if SANITIZED
  if (__lsan_do_recoverable_leak_check() != 0) {
    found("a leak in one of the inputs before");
    _exit(3);
  }
#endif
}

static void work(const fuzz_kind* kind, uint64_t from, uint64_t to, const char* folder) {
  shared->seed = from;
  shared->reported = shared->outside = 0;
  shared->started = seconds(CLOCK_PROCESS_CPUTIME_ID) + 60.0; /* the preparation */
  shared->started_at = seconds(CLOCK_MONOTONIC);
  install();
  kind->prepare(folder);
  const uint64_t part = (to - from) / 20 + 1;
  const uint64_t leak_every = part < LEAK_EVERY ? part : LEAK_EVERY;
  for (uint64_t seed = from; seed < to; seed++) {
    shared->seed = seed;
    shared->started = seconds(CLOCK_PROCESS_CPUTIME_ID);
    shared->started_at = seconds(CLOCK_MONOTONIC);
    kind->attack(seed);
    files = 0; /* they are gone */
    shared->done++;
    if ((seed + 1 - from) % leak_every == 0) {
      check_leaks();
    }
  }
  kind->finish();
  check_leaks();
}

static int print_counts(const fuzz_kind* kind, uint64_t from, uint64_t to, double start,
                        long long findings) {
  const double spent = seconds(CLOCK_MONOTONIC) - start;
  printf("%s: %lld of %" PRIu64 " inputs from seed %" PRIu64
         ", %.0f s, %.0f a second, %lld findings\n",
         kind->name, shared->done, to - from, from, spent, (double)shared->done / spent, findings);
  fflush(stdout);
  return findings > 0 ? 1 : 0;
}

static int supervise(const fuzz_kind* kind, uint64_t from, uint64_t to) {
  char folder[64];
  snprintf(folder, sizeof folder, "%s/saltus-fuzz-XXXXXX",
           access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  if (mkdtemp(folder) == NULL) {
    return 1;
  }
  const double start = seconds(CLOCK_MONOTONIC);
  double printed = start;
  long long findings = 0;
  for (uint64_t next = from; next < to;) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
      work(kind, next, to, folder);
      fflush(NULL);
      _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      const struct timespec nap = {0, 50000000};
      nanosleep(&nap, NULL);
      if (seconds(CLOCK_MONOTONIC) - printed > 30.0) {
        printed = seconds(CLOCK_MONOTONIC);
        print_counts(kind, from, to, start, findings);
      }
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      break;
    }
    if (shared->outside) {
      fuzz_count("crashes inside HDF5");
    } else {
      findings++;
    }
    fprintf(stderr, "the worker ended at seed %" PRIu64 " with %s %d\n", shared->seed,
            WIFSIGNALED(status) ? "signal" : "exit",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    shared->done++;
    next = shared->seed + 1;
  }
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  if (system(command) != 0) {
    fprintf(stderr, "%s is not removed\n", folder);
  }
  for (int i = 0; i < OUTCOMES && shared->outcome[i].name[0] != '\0'; i++) {
    printf("  %-40s %lld\n", shared->outcome[i].name, shared->outcome[i].count);
  }
  return print_counts(kind, from, to, start, findings);
}

int main(int argc, char** argv) {
  static const fuzz_kind* const kinds[] = {&fuzz_snapshots, &fuzz_recordings, &fuzz_texts,
                                           &fuzz_robots};
  const fuzz_kind* kind = NULL;
  for (size_t i = 0; argc >= 4 && i < sizeof kinds / sizeof kinds[0]; i++) {
    kind = strcmp(argv[1], kinds[i]->name) == 0 ? kinds[i] : kind;
  }
  if (kind == NULL) {
    fprintf(stderr, "usage: saltus-fuzz snapshots|recordings|texts|robots FROM TO [FOLDER]\n");
    return 2;
  }
  kind_name = kind->name;
  found_in = argc > 4 ? argv[4] : ".";
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    return 1;
  }
  return supervise(kind, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
}
