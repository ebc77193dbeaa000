/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * compiled.c - see compiled.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sweep/compiled.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"
#include "emit/model_lines.h"
#include "run/settings.h"
#include "scene/members.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#if defined(__unix__) && !defined(__EMSCRIPTEN__)
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#define HAS_COMPILER 1
#else
#define HAS_COMPILER 0
#endif

enum { LANES_MOST = 8, SEGMENT = 1 << 22, PATH_MOST = 600, DEVICES_MOST = 64 };

typedef void kernel_function(const double* in, double* state, long n, double first, long steps);

struct saltusi_compiled {
  saltusi_pool pool; /* this struct too */
  saltusi_compiled_def def;
  saltus_log log;
  saltus_scene* scene; /* its last inputs are the axes that are parameters */
  saltus_run_settings settings;
  saltusi_kernel_layout layout;
  int* input_of; /* [axis_count] input of an axis, -1: a start */
  int* start_of; /* [axis_count] place of a start: coordinates, then velocities; -1: a parameter */
  int own;       /* inputs of the scene itself */
  saltus_formula_model alone; /* of bodies without formulas */
  const saltus_formula_model* model;
  void* library;
  kernel_function* run;
  saltusi_device* devices[DEVICES_MOST]; /* [device_count] in place of run */
  int device_count;
};

/* Passes errors only: warnings about the scene were printed before. */
static void pass_errors(void* user, saltus_level level, const char* text) {
  const saltus_log* log = user;
  if (level == SALTUS_LEVEL_ERROR) {
    saltusi_log(*log, level, "%s", text);
  }
}

static saltus_status refuse(const saltusi_compiled_def* def, const char* why) {
  static const char* const names[] = {"c", "opencl", "cuda"};
  saltusi_log(def->log, SALTUS_LEVEL_ERROR, "sweep: backend %s: %s", names[def->device], why);
  return SALTUS_ERR_UNSUPPORTED;
}

/* ---- compilation ---- */

#if HAS_COMPILER

static int lanes_of(int wanted, bool fast, const char** flags) {
  int lanes = wanted;
  *flags = "-O2";
#if defined(__x86_64__)
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  const bool middle = __builtin_cpu_supports("avx2");
  lanes = lanes > 0 ? lanes : wide ? 8 : middle ? 4 : 1;
  *flags = wide     ? "-mavx512f -mavx512dq -mavx512vl"
           : middle ? (fast && __builtin_cpu_supports("fma") ? "-mavx2 -mfma" : "-mavx2")
                    : "-O2";
#endif
  return lanes > 0 ? lanes : 1;
}

extern char** environ;

/* Runs the compiler without output. */
static bool compile(const saltusi_compiled_def* def, const char* flags, int lanes,
                    const char* source, const char* library) {
  const char* compiler = def->compiler;
  char wide[3][32] = {"-O2", "-O2", "-O2"}, define[32];
  (void)sscanf(flags, "%31s %31s %31s", wide[0], wide[1], wide[2]);
  snprintf(define, sizeof define, "-DLANES=%d", lanes);
  const char* const arguments[] = {compiler,
                                   "-std=gnu11",
                                   "-O2",
                                   "-w",
                                   "-fPIC",
                                   "-shared",
                                   def->fast ? "-ffp-contract=fast" : "-ffp-contract=off",
                                   "-fno-math-errno",
                                   "-fno-trapping-math",
                                   wide[0],
                                   wide[1],
                                   wide[2],
                                   define,
                                   "-o",
                                   library,
                                   source,
                                   "-lm",
                                   NULL};
  posix_spawn_file_actions_t files;
  pid_t child;
  int code = -1;
  if (posix_spawn_file_actions_init(&files) != 0) {
    return false;
  }
  const bool silent = posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) == 0 &&
                      posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) == 0;
  const bool begun =
      silent && posix_spawnp(&child, compiler, &files, NULL, (char* const*)arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  return begun && waitpid(child, &code, 0) == child && WIFEXITED(code) && WEXITSTATUS(code) == 0;
}

static bool write_file(const char* path, const saltusi_bytes* bytes) {
  FILE* file = fopen(path, "wx");
  if (file == NULL) {
    return false;
  }
  const bool good = fwrite(bytes->at, 1, bytes->count, file) == bytes->count;
  return (fclose(file) == 0) && good;
}

/* The library of this source: from the cache, or compiled in a temporary folder and moved into the cache. */
static const char* load(saltusi_compiled* c, const saltusi_bytes* source) {
  const saltusi_compiled_def* def = &c->def;
  const char* flags;
  const int lanes = lanes_of(def->lanes, def->fast, &flags);
  uint64_t hash = saltusi_hash(SALTUSI_HASH_START, source->at, source->count);
  hash = saltusi_hash(hash, flags, strlen(flags));
  hash = saltusi_hash(hash, def->compiler, strlen(def->compiler));
  char kept[PATH_MOST] = "", folder[PATH_MOST], text[PATH_MOST + 16], library[PATH_MOST + 16];
  if (def->cache != NULL) {
    snprintf(kept, sizeof kept, "%.500s/kernel-%016" PRIx64 "-%d.so", def->cache, hash, lanes);
    c->library = dlopen(kept, RTLD_NOW | RTLD_LOCAL);
  }
  snprintf(folder, sizeof folder, "%.500s/kernel-XXXXXX", def->cache != NULL ? def->cache : "/tmp");
  if (c->library == NULL && mkdtemp(folder) == NULL) {
    return "its folder for compiled kernels cannot be written";
  }
  bool good = true;
  if (c->library == NULL) {
    snprintf(text, sizeof text, "%s/kernel.c", folder);
    snprintf(library, sizeof library, "%s/kernel.so", folder);
    good = write_file(text, source) && compile(def, flags, lanes, text, library);
    c->library = good ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (c->library != NULL && def->cache != NULL) {
      (void)rename(library, kept);
    }
    (void)unlink(text);
    (void)unlink(library);
    (void)rmdir(folder);
  }
  if (c->library == NULL) {
    return good ? "the compiled kernel cannot be loaded" : "the C compiler failed or is missing";
  }
  c->run = (kernel_function*)(uintptr_t)dlsym(c->library, "saltus_members");
  return c->run != NULL ? NULL : "the compiled kernel cannot be loaded";
}

#else

static const char* load(saltusi_compiled* c, const saltusi_bytes* source) {
  (void)c, (void)source;
  return "this system has no C compiler";
}

#endif

/* Numbers of the devices of this process. */
static const char* choose_devices(const saltusi_compiled_def* def, int* numbers, int* count) {
  const int there = saltusi_device_count(def->device);
  const char* c = def->devices;
  int all = 0;
  for (; c == NULL && all < there && all < DEVICES_MOST; all++) {
    numbers[all] = all;
  }
  for (int used = 0; c != NULL && *c != '\0'; c += used) {
    if (all == DEVICES_MOST || sscanf(c, "%3d%n", &numbers[all], &used) != 1 || numbers[all] < 0 ||
        (c[used] != ',' && c[used] != '\0')) {
      return "devices are numbers from 0 on, as in \"0,2\"";
    }
    used += c[used] == ',';
    all++;
  }
  numbers[all < DEVICES_MOST ? all : 0] = 0; /* without any, the message is that of the first one */
  *count = all > 0 ? all : 1;
  if (def->process >= 0) {
    numbers[0] = numbers[def->process % *count];
    *count = 1;
  }
  return NULL;
}

static const char* load_devices(saltusi_compiled* c, saltusi_bytes* source) {
  int numbers[DEVICES_MOST], count = 0;
  const char* why = choose_devices(&c->def, numbers, &count);
  saltusi_bytes_add(source, "", 1);
  for (int i = 0; i < count && why == NULL; i++) {
    why = saltusi_device_open(c->def.device, numbers[i], (const char*)source->at, c->def.fast,
                              &c->devices[i]);
    c->device_count += why == NULL;
  }
  return why;
}

/* ---- the scene with axes as inputs ---- */

static int find_label(const saltus_label* labels, int count, const char* name) {
  for (int i = 0; i < count; i++) {
    if (strcmp(labels[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static saltus_status open_scene(saltusi_compiled* c) {
  const saltusi_compiled_def* def = &c->def;
  const saltus_scene_view* view = saltus_scene_get_view(def->scene);
  const saltus_dims* d = &view->system->dims;
  const char** names = SALTUSI_TAKE(&c->pool, const char*, def->axis_count + 1);
  double* values = SALTUSI_TAKE(&c->pool, double, def->axis_count + 1);
  c->input_of = SALTUSI_TAKE(&c->pool, int, def->axis_count + 1);
  c->start_of = SALTUSI_TAKE(&c->pool, int, def->axis_count + 1);
  if (c->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  saltusi_scene_members members = {.names = names, .values = values};
  for (int i = 0; i < def->axis_count; i++) {
    const int q = find_label(view->system->q_labels, d->nq, def->axes[i]);
    const int v = find_label(view->system->v_labels, d->nv, def->axes[i]);
    c->start_of[i] = q >= 0 ? q : v >= 0 ? d->nq + v : -1;
    c->input_of[i] = c->start_of[i] < 0 ? members.count : -1;
    if (c->start_of[i] < 0) {
      names[members.count] = def->axes[i];
      values[members.count++] = def->first[i];
    }
  }
  c->layout.axes = members.count;
  const saltus_scene_def scene = {.like = def->scene,
                                  .outputs = def->outputs,
                                  .output_count = def->output_count,
                                  .log = def->log};
  return saltusi_scene_create_members(&scene, &members, &c->scene);
}

/* ---- members ---- */

/* Arrays of a call: columns are members, n a multiple of the lanes. */
typedef struct columns {
  const saltusi_compiled* c;
  saltusi_pool pool;
  long n;
  double *in, *state;
  double *q, *v, *inputs, *values, *scratch; /* of one member */
} columns;

static bool make_columns(columns* g, const saltusi_compiled* c, int count) {
  const saltus_scene_view* view = saltus_scene_get_view(c->scene);
  const saltus_observables* o = saltusi_kernel_observables(view);
  const saltus_dims* d = &view->system->dims;
  const size_t doubles = d->scratch / sizeof(double) + 64;
  *g = (columns){.c = c,
                 .pool = saltusi_pool_over(NULL),
                 .n = (count + LANES_MOST - 1) / LANES_MOST * LANES_MOST};
  g->in = SALTUSI_TAKE(&g->pool, double, c->layout.inputs * g->n + 1);
  g->state = SALTUSI_TAKE(&g->pool, double, c->layout.rows * g->n + 1);
  g->q = SALTUSI_TAKE(&g->pool, double, d->nq);
  g->v = SALTUSI_TAKE(&g->pool, double, d->nv);
  g->inputs = SALTUSI_TAKE(&g->pool, double, view->input_count + 6 * SALTUSI_KERNEL_JOINTS + 1);
  g->values = SALTUSI_TAKE(&g->pool, double, (o != NULL ? o->output_count : 0) + d->nc + 1);
  g->scratch = SALTUSI_TAKE(&g->pool, double,
                            doubles + (o != NULL ? o->scratch / sizeof(double) : 0) + 4096);
  return !g->pool.failed;
}

static double value_of(columns* g, const saltusi_program* program, double constant) {
  double value = constant;
  if (program != NULL && program->registers <= 4096) {
    saltusi_program own = *program;
    own.inputs = g->inputs;
    saltusi_run(&own, 0.0, NULL, NULL, g->scratch, &value);
  }
  return value;
}

/* Program of a start by formulas; NULL: constant, as those of bodies. */
static const saltusi_program* start_program(const saltusi_compiled* c, int place) {
  return saltusi_model_mechanism(c->model) == NULL ? saltusi_formula_member_program(c->model, place)
                                                   : NULL;
}

/* Whether starts of bodies with joints are axes: each member would need its own projection. */
static bool has_varying_joints(const saltusi_compiled* c) {
  const bool bodies = saltusi_model_mechanism(c->model) != NULL;
  bool varies = false;
  for (int a = 0; a < c->def.axis_count; a++) {
    varies = varies || c->start_of[a] >= 0;
  }
  return bodies && varies && saltus_scene_get_view(c->scene)->system->dims.nj > 0;
}

/* Inputs, laws and start of member i from its axes; false: outside of the allowed range. */
static bool set_member(columns* g, const double* axes, long i) {
  const saltusi_compiled* c = g->c;
  const saltus_scene_view* view = saltus_scene_get_view(c->scene);
  const saltus_system* sys = view->system;
  const saltus_formula_model* m = c->model;
  const int nq = sys->dims.nq, all = nq + sys->dims.nv;
  bool good = true;
  saltus_scene_inputs(c->scene, g->inputs);
  for (int a = 0; a < c->def.axis_count; a++) {
    if (c->input_of[a] >= 0) {
      g->inputs[c->own + c->input_of[a]] = axes[a];
      g->in[c->input_of[a] * g->n + i] = axes[a];
    }
  }
  for (int k = 0; k < all; k++) {
    double* to = k < nq ? &g->q[k] : &g->v[k - nq];
    *to = value_of(g, start_program(c, k), k < nq ? view->q0[k] : view->v0[k - nq]);
    for (int a = 0; a < c->def.axis_count; a++) {
      *to = c->start_of[a] == k ? axes[a] : *to;
    }
    g->state[k * g->n + i] = *to;
    good = good && isfinite(*to);
  }
  for (int k = 0; k < sys->dims.nc; k++) {
    const saltus_contact_law* law = &sys->laws[k];
    const double constants[] = {law->mu, law->e_N, law->e_T};
    for (int r = 0; r < 3; r++) {
      const double value = value_of(g, saltusi_formula_member_law(m, k, r), constants[r]);
      const double least = r == 2 ? -1.0 : 0.0;
      good = good && value >= least && (r == 0 ? isfinite(value) : value <= 1.0);
      g->in[(c->layout.axes + 3 * k + r) * g->n + i] = value;
    }
  }
  return good;
}

static int output_of(const saltus_observables* o, const saltusi_item* item) {
  char name[200];
  saltusi_item_label(item, name, sizeof name);
  for (int i = 0; o != NULL && i < o->output_count; i++) {
    if (strcmp(o->output_labels[i].name, name) == 0) {
      return i;
    }
  }
  return 0;
}

/* Overlaps at the start that saltus_start_project leaves are below this bound. */
static const double shallow = 1e-6;

/* Violations of joints at the start up to this need no projection, as in start_projection.c. */
static const double consistent = 1e-12;

/* Whether the start of a member satisfies the joints by formulas and their rates. */
static bool holds_joints(columns* g) {
  const saltus_formula_model* m = g->c->model;
  const int nj = saltus_scene_get_view(g->c->scene)->system->dims.nj;
  bool holds = true;
  if (nj == 0 || saltusi_model_mechanism(m) != NULL) {
    return true;
  }
  double values[(SALTUSI_KERNEL_VELOCITIES + 1) * SALTUSI_KERNEL_JOINTS];
  saltusi_program own = m->constraints;
  own.inputs = g->inputs;
  saltusi_run(&own, g->c->settings.start, g->q, g->v, g->scratch, values);
  for (int j = 0; j < nj; j++) {
    holds = holds && fabs(values[j]) <= consistent;
  }
  for (int j = 0, row = 0; row < nj; row += m->joints[j++].count) {
    const saltusi_formula_rows* rows = &m->joints[j];
    own = rows->program;
    own.inputs = g->inputs;
    if (rows->fixed == NULL) {
      saltusi_run(&own, g->c->settings.start, g->q, g->v, g->scratch, values);
    }
    const double* G = rows->fixed != NULL ? rows->fixed : values;
    for (int r = 0; r < rows->count; r++) {
      double rate = G[rows->count * rows->width + r];
      for (int k = 0; k < rows->width; k++) {
        rate += G[r * rows->width + k] * g->v[rows->column[k]];
      }
      holds = holds && fabs(rate) <= consistent;
    }
  }
  return holds;
}

/* Measures at the start; false: contacts overlap or joints are violated, and the interpreter has to project the start. */
static bool set_items(columns* g, long i) {
  const saltusi_compiled* c = g->c;
  const saltusi_measures* measures = c->def.measures;
  const saltus_scene_view* view = saltus_scene_get_view(c->scene);
  const saltus_observables* o = saltusi_kernel_observables(view);
  const saltusi_program* p = o != NULL ? saltusi_formula_observer_outputs(o->self) : NULL;
  const saltus_formula_model* m = c->model;
  double* gaps = g->values + (o != NULL ? o->output_count : 0);
  if (p != NULL) {
    saltusi_program own = *p;
    own.inputs = g->inputs;
    saltusi_run(&own, c->settings.start, g->q, g->v, g->scratch, g->values);
  }
  if (view->system->dims.nc > 0) {
    saltusi_program own = m->gaps;
    own.inputs = g->inputs;
    saltusi_run(&own, c->settings.start, g->q, g->v, g->scratch, gaps);
  }
  bool good = holds_joints(g);
  for (int k = 0; k < view->system->dims.nc; k++) {
    good = good && gaps[k] >= -shallow;
  }
  for (int k = 0; k < measures->item_count; k++) {
    const saltusi_item* item = &measures->items[k];
    double* sum = g->state + (c->layout.items + 2 * k) * g->n + i;
    const bool counts = item->fold == SALTUSI_FOLD_COUNT;
    const bool adds = item->fold == SALTUSI_FOLD_MEAN || item->fold == SALTUSI_FOLD_INTEGRAL ||
                      item->fold == SALTUSI_FOLD_RMS;
    const double now = item->subject == SALTUSI_OF_EVENTS ? 0.0
                       : item->subject == SALTUSI_OF_GAP  ? gaps[item->place]
                                                          : g->values[output_of(o, item)];
    sum[0] = item->subject == SALTUSI_OF_EVENTS ? (counts ? 0.0 : (double)NAN) : adds ? 0.0 : now;
    sum[g->n] = now;
  }
  return good;
}

static bool has_events(const saltusi_compiled* c) {
  return c->layout.pending >= 0;
}

/* The start of a member with a tolerance. */
static void set_event(columns* g, long i, bool sound) {
  const saltusi_kernel_layout* l = &g->c->layout;
  double* rows = g->state + l->event * g->n + i;
  for (int k = 0; k < l->pending - l->event; k++) {
    rows[k * g->n] = k == 0                       ? g->c->settings.start
                     : k == SALTUSI_KERNEL_CAP    ? 1e300
                     : k == SALTUSI_KERNEL_CLOSED ? -1.0
                     : k == SALTUSI_KERNEL_TARGET ? -1.0
                                                  : 0.0;
  }
  g->state[l->pending * g->n + i] = sound ? 1.0 : 0.0;
}

/* Items of member i; false: one is not a number. */
static bool get_items(const columns* g, long i, double* items) {
  const saltusi_compiled* c = g->c;
  const saltusi_measures* m = c->def.measures;
  const double end = has_events(c) ? c->settings.until
                                   : c->settings.start + (double)c->settings.steps * c->settings.h;
  const double span = end - c->settings.start;
  bool good = g->state[c->layout.bad * g->n + i] == 0.0;
  for (int k = 0; k < m->item_count; k++) {
    const saltusi_fold fold = m->items[k].fold;
    const double sum = g->state[(c->layout.items + 2 * k) * g->n + i];
    items[k] = fold == SALTUSI_FOLD_MEAN  ? sum / span
               : fold == SALTUSI_FOLD_RMS ? sqrt(sum / span)
                                          : sum;
    good = good && (m->items[k].subject == SALTUSI_OF_EVENTS || !isnan(items[k]));
  }
  return good;
}

static bool cancelled(const saltusi_compiled* c) {
  return c->def.cancel != NULL && *c->def.cancel != 0;
}

static bool is_pending(const columns* g) {
  bool pending = false;
  for (long i = 0; i < g->n; i++) {
    pending = pending || g->state[g->c->layout.pending * g->n + i] != 0.0;
  }
  return pending;
}

/* All steps, or steps to the time `end`, in parts between which the run can be stopped. */
static saltus_status take_steps(const columns* g, long long steps, double end, int job) {
  const bool event = has_events(g->c);
  if (g->c->device_count > 0) {
    const saltusi_device_work work = {.in = g->in,
                                      .state = g->state,
                                      .n = g->n,
                                      .inputs = g->c->layout.inputs,
                                      .rows = g->c->layout.rows,
                                      .pending = g->c->layout.pending,
                                      .end = end,
                                      .steps = steps,
                                      .cancel = g->c->def.cancel};
    return saltusi_device_run(g->c->devices[job % g->c->device_count], &work);
  }
  const long long part = SEGMENT / g->n > 0 ? SEGMENT / g->n : 1;
  for (long long done = 0; event ? is_pending(g) : done < steps; done += part) {
    if (cancelled(g->c)) {
      return SALTUS_ERR_STOPPED;
    }
    if (event) {
      g->c->run(g->in, g->state, g->n, end, (long)part);
    } else {
      g->c->run(g->in, g->state, g->n, (double)done,
                (long)(steps - done < part ? steps - done : part));
    }
  }
  return SALTUS_OK;
}

static bool set_all(columns* g, const double* axes, int count, bool* good) {
  for (long i = 0; i < g->n; i++) {
    const long from = i < count ? i : 0; /* columns beyond the members repeat the first */
    const bool ranges = set_member(g, axes + from * g->c->def.axis_count, i);
    const bool sound = set_items(g, i) && ranges;
    g->state[g->c->layout.bad * g->n + i] = sound ? 0.0 : 1.0;
    if (has_events(g->c)) {
      set_event(g, i, sound);
    }
    if (i < count) {
      good[i] = sound;
    }
  }
  return true;
}

const saltus_run_settings* saltusi_compiled_settings(const saltusi_compiled* c) {
  assert(c != NULL);
  return &c->settings;
}

int saltusi_compiled_group(const saltusi_compiled* c) {
  assert(c != NULL);
  return c->device_count > 0 ? 1 << 15 : 64;
}

saltus_status saltusi_compiled_run(const saltusi_compiled* c, int job, const double* axes,
                                   int count, double* items, bool* good) {
  assert(c != NULL && axes != NULL && count > 0 && items != NULL && good != NULL);
  columns g;
  saltus_status status = make_columns(&g, c, count) ? SALTUS_OK : SALTUS_ERR_MEMORY;
  if (status == SALTUS_OK && set_all(&g, axes, count, good)) {
    status = take_steps(&g, c->settings.steps, c->settings.until, job);
  }
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    good[i] = get_items(&g, i, items + (size_t)i * (size_t)c->def.measures->item_count) && good[i];
  }
  saltusi_pool_free(&g.pool);
  return status;
}

/* ---- comparison with the interpreter ---- */

enum { COMPARED = 100 };

/* The first steps, or a tenth of the time, of the first member by a run of the library. */
static saltus_status compare(saltusi_compiled* c) {
  const saltusi_compiled_def* def = &c->def;
  const saltus_scene_view* view = saltus_scene_get_view(c->scene);
  const int nq = view->system->dims.nq, all = nq + view->system->dims.nv;
  const bool event = has_events(c);
  const long long steps = event ? 1 : c->settings.steps < COMPARED ? c->settings.steps : COMPARED;
  const double h = event ? 0.1 * (c->settings.until - c->settings.start) : c->settings.h;
  const double most = event ? sqrt(fmax(c->settings.rtol, c->settings.atol_velocity)) : 1e-9;
  columns g;
  bool good = false;
  saltus_status status = make_columns(&g, c, 1) ? SALTUS_OK : SALTUS_ERR_MEMORY;
  saltus_run* run = NULL;
  if (status == SALTUS_OK && set_all(&g, def->first, 1, &good)) {
    saltus_run_def run_def = *def->run;
    run_def.scene = view;
    run_def.log = def->log;
    run_def.stepping = true;
    saltus_scene_view moved = *view;
    moved.q0 = g.q;
    moved.v0 = g.v;
    run_def.scene = &moved;
    status = saltus_run_create(&run_def, &run);
    status = status == SALTUS_OK ? take_steps(&g, steps, c->settings.start + h, 0) : status;
    for (long long k = 1; k <= steps && status == SALTUS_OK; k++) {
      status = saltus_run_advance(run, c->settings.start + (double)k * h, 0U, NULL);
    }
  }
  double miss = 0.0;
  good = good && g.state[c->layout.bad * g.n] == 0.0;
  for (int k = 0; k < all && status == SALTUS_OK && good; k++) {
    const saltus_run_instant now = saltus_run_present(run);
    const double want = k < nq ? now.q[k] : now.v[k - nq], have = g.state[k * g.n];
    miss = fmax(miss, fabs(want - have) / fmax(1.0, fabs(want)));
    miss = isnan(have - want) ? INFINITY : miss;
  }
  saltus_run_destroy(run);
  saltusi_pool_free(&g.pool);
  return status != SALTUS_OK ? status
         : miss <= most      ? SALTUS_OK
                             : refuse(def, "the compiled steps differ from those of the library");
}

/* ---- creation ---- */

static saltus_status make_kernel(saltusi_compiled* c) {
  const saltus_allocator memory = saltus_allocator_default();
  saltusi_bytes source = {.memory = &memory};
  const char* why = NULL;
  const saltus_scene_view* view = saltus_scene_get_view(c->scene);
  double* inputs = SALTUSI_TAKE(&c->pool, double, view->input_count + 1);
  if (inputs == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_scene_inputs(c->scene, inputs);
  if (c->def.fast) {
    saltusi_bytes_text(&source, "#define FAST 1\n");
  }
  c->model = saltusi_kernel_model(view, &c->alone);
  const saltusi_kernel_def kernel = {
      .view = view, .inputs = inputs, .settings = &c->settings, .measures = c->def.measures};
  saltus_status status = saltusi_kernel_write(&kernel, &source, &c->layout, &why);
  if (status == SALTUS_OK && has_varying_joints(c)) {
    why = "starts of bodies with joints cannot be axes of compiled members";
    status = SALTUS_ERR_UNSUPPORTED;
  }
  if (status == SALTUS_OK) {
    why = c->def.device != SALTUSI_DEVICE_NONE ? load_devices(c, &source) : load(c, &source);
    status = why != NULL ? SALTUS_ERR_UNSUPPORTED : SALTUS_OK;
  }
  saltusi_bytes_free(&source);
  return why != NULL ? refuse(&c->def, why) : status;
}

saltus_status saltusi_compiled_create(const saltusi_compiled_def* def, saltusi_compiled** out) {
  assert(def != NULL && out != NULL && def->compiler != NULL);
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_compiled* c = SALTUSI_TAKE(&pool, saltusi_compiled, 1);
  *out = NULL;
  if (c == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  c->pool = pool;
  c->def = *def;
  c->def.log = (saltus_log){.write = pass_errors, .user = &c->log};
  c->log = def->log;
  saltus_status status = open_scene(c);
  if (status == SALTUS_OK) {
    saltus_run_def run = *def->run;
    run.scene = saltus_scene_get_view(c->scene);
    run.log = c->def.log;
    status = saltusi_run_resolve(&run, false, &c->pool, &c->settings);
    c->own = run.scene->input_count - c->layout.axes;
  }
  if (status == SALTUS_OK && def->proven && saltusi_kernel_has_events(&c->settings)) {
    status = refuse(def, "with a tolerance it finds events by samples; take --backend c, opencl or "
                         "cuda for it");
  }
  status = status == SALTUS_OK ? make_kernel(c) : status;
  status = status == SALTUS_OK ? compare(c) : status;
  if (status != SALTUS_OK) {
    saltusi_compiled_destroy(c);
    return status == SALTUS_ERR_MEMORY ? status : SALTUS_ERR_UNSUPPORTED;
  }
  *out = c;
  return SALTUS_OK;
}

void saltusi_compiled_destroy(saltusi_compiled* c) {
  if (c != NULL) {
#if HAS_COMPILER
    if (c->library != NULL) {
      dlclose(c->library);
    }
#endif
    for (int i = 0; i < c->device_count; i++) {
      saltusi_device_close(c->devices[i]);
    }
    saltus_scene_destroy(c->scene);
    saltusi_pool pool = c->pool;
    saltusi_pool_free(&pool);
  }
}
