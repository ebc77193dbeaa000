/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * c_source.c - a scene as C99 without a library: formula programs as straight-line code, tables of contacts, and the step
 * of moreau-jean from step_template.c.in, in which @ is the prefix.
 */
#include "saltus/export.h"

#include "base/log.h"
#include "base/number.h"
#include "base/pool.h"
#include "base/replacement.h"
#include "base/reserved.h"
#include "emit/straight_line.h"
#include "export/license.h"
#include "model/formula_model.h"
#include "report/bytes.h"
#include "saltus/run.h"
#include "saltus/version.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CONTACTS_MOST = 20, VELOCITIES_MOST = 32, SWEEPS = 1000 };

typedef struct c_writer {
  saltusi_bytes out;
  const char* prefix;
  double h, factors[2];        /* of F_v and F_q in the matrix of Newton's method */
  bool rates;                  /* of contacts, needed to find the active ones */
  long long operations, calls; /* of the functions written so far */
} c_writer;

/* Text in which @ becomes the prefix. */
static void put_text(c_writer* w, const char* text) {
  for (const char* c = text; *c != '\0';) {
    const size_t length = strcspn(c, "@");
    saltusi_bytes_add(&w->out, c, length);
    c += length;
    if (*c == '@') {
      saltusi_bytes_text(&w->out, w->prefix);
      c++;
    }
  }
}

static void put(c_writer* w, const char* format, ...) SALTUSI_PRINTF(2, 3);
static void put(c_writer* w, const char* format, ...) {
  char text[1024];
  va_list list;
  va_start(list, format);
  saltusi_print_list(text, sizeof text, format, list);
  va_end(list);
  put_text(w, text);
}

static void put_number(c_writer* w, double value) {
  if (isnan(value) || isinf(value)) {
    put(w, isnan(value) ? "NAN" : value > 0.0 ? "INFINITY" : "(-INFINITY)");
  } else {
    put(w, signbit(value) ? "(%a)" : "%a", value);
  }
}

/* ---- programs ---- */

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* A function of straight-line code over t, q, v and u. */
typedef struct c_function {
  c_writer* w;
  const saltus_system* sys;
  saltusi_line_graph lines;
  saltusi_line_state state;
  saltusi_pool pool;
} c_function;

static const int* leaves(c_function* f, const char* name, int count) {
  int* list = SALTUSI_TAKE(&f->pool, int, count + 1);
  for (int i = 0; list != NULL && i < count; i++) {
    list[i] = saltusi_line_leaf(&f->lines, name, i, SALTUSI_LINE_STEP);
  }
  return list;
}

static int* take_nodes(c_function* f, int count) {
  int* list = SALTUSI_TAKE(&f->pool, int, count + 1);
  f->lines.failed = f->lines.failed || list == NULL;
  return list;
}

/* The nodes of a program. */
static int* nodes_of(c_function* f, const saltusi_program* p) {
  int* out = take_nodes(f, p->outputs);
  if (!f->lines.failed) {
    saltusi_line_program(&f->lines, p, &f->state, out);
  }
  return out;
}

static void open_function(c_function* f, c_writer* w, const saltus_system* sys, int inputs) {
  *f = (c_function){.w = w, .sys = sys, .pool = saltusi_pool_over(NULL)};
  saltusi_lines_start(&f->lines, w->out.memory, true);
  f->state = (saltusi_line_state){.t = saltusi_line_leaf(&f->lines, "t", -1, SALTUSI_LINE_STEP),
                                  .q = leaves(f, "q[", sys->dims.nq),
                                  .v = leaves(f, "v[", sys->dims.nv),
                                  .u = leaves(f, "u[", inputs)};
  f->lines.failed = f->lines.failed || f->pool.failed;
}

/* Writes all that the results need, then `to[i] = ` each of them. */
static void put_results(c_function* f, const char* to, const int* nodes, int count) {
  if (f->lines.failed) {
    return;
  }
  saltusi_lines_write(&f->lines, &f->w->out, nodes, (size_t)count, ~0U, 1, "  ");
  for (int i = 0; i < count; i++) {
    put(f->w, "  %s[%d] = ", to, i);
    saltusi_line_value(&f->lines, &f->w->out, nodes[i]);
    put(f->w, ";\n");
  }
}

static void close_function(c_function* f) {
  put(f->w, "}\n\n");
  f->w->operations += f->lines.operations;
  f->w->calls += f->lines.calls;
  f->w->out.failed = f->w->out.failed || f->lines.failed;
  saltusi_lines_free(&f->lines);
  saltusi_pool_free(&f->pool);
}

static const char arguments[] = "double t, const double* q, const double* v, const double* u";
static const char unused[] = " {\n  (void)t, (void)q, (void)v, (void)u;\n";

static void put_program(c_writer* w, const saltus_system* sys, int inputs, const char* name,
                        const saltusi_program* p) {
  c_function f;
  open_function(&f, w, sys, inputs);
  put(w, "static inline void @_%s(%s, double* out)%s  (void)out;\n", name, arguments, unused);
  const int* nodes = nodes_of(&f, p);
  put_results(&f, "out", nodes, p->outputs);
  close_function(&f);
}

/* The matrix M - h theta F_v - h^2 theta^2 F_q from nodes. Zeros by structure change no bit of the others. */
static int* matrix_nodes(c_function* f, const saltus_formula_model* m, const int* M) {
  const int all = f->sys->dims.nv * f->sys->dims.nv;
  const saltusi_program* programs[] = {&m->force_v, &m->force_q};
  int* A = take_nodes(f, all);
  for (int i = 0; i < all && !f->lines.failed; i++) {
    A[i] = M[i];
  }
  for (int k = 0; k < 2 && (f->sys->traits & SALTUS_FREE_FORCE) == 0; k++) {
    const int factor = saltusi_line_number(&f->lines, f->w->factors[k]);
    const int* J = f->w->factors[k] != 0.0 ? nodes_of(f, programs[k]) : NULL;
    for (int i = 0; i < all && J != NULL && !f->lines.failed; i++) {
      if (!saltusi_line_is(&f->lines, J[i], 0.0)) {
        A[i] = saltusi_line_add(&f->lines, A[i], saltusi_line_mul(&f->lines, factor, J[i]));
      }
    }
  }
  return A;
}

/* h F - M (v1 - v) with v1 - v in change; start: h F. */
static int* residual_nodes(c_function* f, const saltus_formula_model* m, const int* M, bool start) {
  const int n = f->sys->dims.nv;
  const int* F = nodes_of(f, &m->force);
  const int* change = leaves(f, "change[", n);
  int* R = take_nodes(f, n);
  for (int i = 0; i < n && !f->lines.failed; i++) {
    R[i] = saltusi_line_mul(&f->lines, saltusi_line_number(&f->lines, f->w->h), F[i]);
    R[i] = start ? R[i]
                 : saltusi_line_sub(&f->lines, R[i],
                                    saltusi_line_dot(&f->lines, n, M + n * i, change));
  }
  return R;
}

/* ---- elimination in straight lines ---- */

enum { STRAIGHT_MOST = 8 };

/* Pattern of the factors without exchanges of rows, in place of that of the matrix. */
static void fill_in(int n, bool* has) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      for (int j = k + 1; j < n && has[i * n + k]; j++) {
        has[i * n + j] = has[i * n + j] || has[k * n + j];
      }
    }
  }
}

/* One column of the elimination; leaves the function where rows have to be exchanged or the pivot is small. */
static void put_column(c_writer* w, int n, int k, const bool* has) {
  put(w, "  if (!(a%d_%d - a%d_%d == 0.0)", k, k, k, k);
  for (int i = 0; i < n; i++) {
    if (i != k && has[i * n + k]) {
      put(w,
          i < k ? " || !(fabs(a%d_%d) > 1e-14 * fabs(a%d_%d))"
                : " || !(fabs(a%d_%d) >= fabs(a%d_%d))",
          k, k, i, k);
    }
  }
  put(w, " || a%d_%d == 0.0) {\n    return 0;\n  }\n", k, k);
  for (int i = k + 1; i < n; i++) {
    if (has[i * n + k]) {
      put(w, "  a%d_%d = a%d_%d / a%d_%d;\n", i, k, i, k, k, k);
    }
    for (int j = k + 1; j < n && has[i * n + k]; j++) {
      if (has[k * n + j]) {
        put(w, "  a%d_%d = a%d_%d - a%d_%d * a%d_%d;\n", i, j, i, j, i, k, k, j);
      }
    }
  }
}

/* x_i less the sum of a_ij x_j over j in [from, to). */
static void put_substitution(c_writer* w, int n, int i, int from, int to, const bool* has) {
  bool any = false;
  for (int j = from; j < to; j++) {
    if (has[i * n + j]) {
      put(w, any ? " + w->A[%d] * x%d" : "  x%d = x%d - (0.0 + w->A[%d] * x%d", any ? i * n + j : i,
          any ? j : i, i * n + j, j);
      any = true;
    }
  }
  put(w, any ? ");\n" : "");
}

/* Factors and solution without exchanges of rows for small matrices with this pattern; 0: they do not apply. */
static void put_elimination(c_writer* w, int n, bool* has) {
  const bool small = n <= STRAIGHT_MOST;
  fill_in(n, has);
  put(w, "enum { @_straight = %d };\n\nstatic inline int @_factor_straight(@_matrix* w) {\n",
      small);
  for (int i = 0; i < n * n && small; i++) {
    if (has[i]) {
      put(w, "  double a%d_%d = w->A[%d];\n", i / n, i % n, i);
    }
  }
  for (int k = 0; k < n && small; k++) {
    put_column(w, n, k, has);
  }
  for (int i = 0; i < n * n && small; i++) {
    if (has[i]) {
      put(w, "  w->A[%d] = a%d_%d;\n", i, i / n, i % n);
    }
  }
  put(w, "  w->swapped = 0;\n  return %d;\n}\n\n", small);
  put(w,
      "static inline void @_solve_straight(const @_matrix* w, double* x) {\n  (void)w, (void)x;\n");
  for (int i = 0; i < n && small; i++) {
    put(w, "  double x%d = x[%d];\n", i, i);
    put_substitution(w, n, i, 0, i, has);
  }
  for (int i = n - 1; i >= 0 && small; i--) {
    put_substitution(w, n, i, i + 1, n, has);
    put(w, "  x%d = x%d / w->A[%d];\n  x[%d] = x%d;\n", i, i, i * (n + 1), i, i);
  }
  put(w, "}\n\n");
}

/* Matrix A and residual of Newton's method in one function, which share their subexpressions; only: the matrix or the
 * residual alone is needed. */
static void put_equations(c_writer* w, const saltus_system* sys, const saltus_formula_model* m,
                          int inputs) {
  static const char* const names[] = {"begin", "iterate", "matrix_of", "load", "reload"};
  const int n = sys->dims.nv;
  bool has[VELOCITIES_MOST * VELOCITIES_MOST] = {false};
  for (int k = 0; k < 5; k++) {
    c_function f;
    open_function(&f, w, sys, inputs);
    put(w, "static inline void @_%s(%s, const double* change, double* A, double* R)%s", names[k],
        arguments, unused);
    put(w, "  (void)change, (void)A, (void)R;\n");
    const int* M = nodes_of(&f, &m->mass);
    if (k < 3 && !f.lines.failed) {
      const int* A = matrix_nodes(&f, m, M);
      for (int i = 0; i < n * n && !f.lines.failed; i++) {
        has[i] = i % (n + 1) == 0 || !saltusi_line_is(&f.lines, A[i], 0.0);
      }
      put_results(&f, "A", A, n * n);
    }
    if (k != 2 && !f.lines.failed) {
      const int* R = residual_nodes(&f, m, M, k == 0 || k == 3);
      put_results(&f, "R", R, n);
    }
    close_function(&f);
  }
  put_elimination(w, n, has);
}

/* ---- contacts ---- */

/* Rows of contact i in the step. */
static int rows_of(const saltus_contact_law* law) {
  return law->mu > 0.0 ? 1 + law->tangents : 1;
}

/* Nodes of the rows of contact c: for each row G [nv], b. */
static int* row_nodes(c_function* f, const saltusi_formula_rows* rows, int count) {
  const int nv = f->sys->dims.nv;
  int* out = take_nodes(f, count * (nv + 1));
  const int* given = rows->fixed == NULL ? nodes_of(f, &rows->program) : NULL;
  for (int r = 0; r < count && !f->lines.failed; r++) {
    for (int i = 0, k = 0; i <= nv; i++) {
      const bool has = i == nv || (k < rows->width && rows->column[k] == i);
      const int at = i == nv ? rows->count * rows->width + r : r * rows->width + k;
      k += has && i < nv ? 1 : 0;
      out[r * (nv + 1) + i] = has && given != NULL
                                  ? given[at]
                                  : saltusi_line_number(&f->lines, has ? rows->fixed[at] : 0.0);
    }
  }
  return out;
}

/* Gaps and, where gamma is not 0, normal rates of all contacts. */
static void put_approach(c_writer* w, const saltus_system* sys, const saltus_formula_model* m,
                         int inputs) {
  const int nc = sys->dims.nc, nv = sys->dims.nv;
  c_function f;
  open_function(&f, w, sys, inputs);
  put(w, "static inline void @_approach(%s, double* gap, double* rate)%s", arguments, unused);
  put(w, "  (void)gap, (void)rate;\n");
  const int* gaps = nodes_of(&f, &m->gaps);
  int* rates = take_nodes(&f, nc);
  for (int c = 0; c < nc && !f.lines.failed; c++) {
    const int* row = row_nodes(&f, &m->contacts[c], 1);
    if (!f.lines.failed) {
      rates[c] =
          saltusi_line_add(&f.lines, saltusi_line_dot(&f.lines, nv, row, f.state.v), row[nv]);
    }
  }
  put_results(&f, "gap", gaps, nc);
  put_results(&f, "rate", rates, w->rates ? nc : 0);
  close_function(&f);
}

/* Rows of every contact as dense rows G [2][nv] and rates b [2]. */
static void put_rows(c_writer* w, const saltus_system* sys, const saltus_formula_model* m,
                     int inputs) {
  const int nc = sys->dims.nc, nv = sys->dims.nv;
  for (int c = 0; c < nc; c++) {
    const int count = rows_of(&sys->laws[c]);
    c_function f;
    open_function(&f, w, sys, inputs);
    put(w, "static inline void @_rows_%d(%s, double (*G)[@_nv], double* b)%s", c, arguments,
        unused);
    const int* nodes = row_nodes(&f, &m->contacts[c], count);
    for (int r = 0; r < count && !f.lines.failed; r++) {
      char to[32];
      snprintf(to, sizeof to, "G[%d]", r);
      put_results(&f, to, nodes + r * (nv + 1), nv);
      saltusi_lines_write(&f.lines, &w->out, nodes + r * (nv + 1) + nv, 1, ~0U, 1, "  ");
      put(w, "  b[%d] = ", r);
      saltusi_line_value(&f.lines, &w->out, nodes[r * (nv + 1) + nv]);
      put(w, ";\n");
    }
    close_function(&f);
  }
  put(w, "static inline void @_rows(int contact, %s, double (*G)[@_nv], double* b) {\n", arguments);
  put(w, "  switch (contact) {\n");
  for (int c = 0; c < nc; c++) {
    put(w, "  case %d:\n    @_rows_%d(t, q, v, u, G, b);\n    break;\n", c, c);
  }
  put(w, "  default:\n    (void)t, (void)q, (void)v, (void)u, (void)G, (void)b;\n    break;\n  "
         "}\n}\n\n");
}

static void put_table(c_writer* w, const char* type, const char* name, int nc) {
  put(w, "static const %s @_%s[%d] = {", type, name, nc > 0 ? nc : 1);
}

static void put_contacts(c_writer* w, const saltus_system* sys) {
  const int nc = sys->dims.nc;
  put_table(w, "int", "row_count", nc);
  for (int c = 0; c < nc; c++) {
    put(w, "%s%d", c > 0 ? ", " : "", rows_of(&sys->laws[c]));
  }
  put(w, nc > 0 ? "};\n" : "0};\n");
  static const char* const numbers[] = {"mu", "e_N", "e_T"};
  for (int k = 0; k < 3; k++) {
    put_table(w, "double", numbers[k], nc);
    for (int c = 0; c < nc; c++) {
      const saltus_contact_law* law = &sys->laws[c];
      put(w, c > 0 ? ", " : "");
      put_number(w, k == 0 ? law->mu : k == 1 ? law->e_N : law->e_T);
    }
    put(w, nc > 0 ? "};\n" : "0.0};\n");
  }
  put(w, "\n");
}

/* ---- the file ---- */

static saltus_status refuse(const saltus_export_c_def* def, const char* why) {
  saltusi_log(def->log, SALTUS_LEVEL_ERROR, "export: %s", why);
  return SALTUS_ERR_UNSUPPORTED;
}

/* Reason why a scene is outside of the exported subset; NULL: none. */
static const char* find_reason(const saltus_scene_view* view, const saltus_run_settings* s) {
  const saltus_system* sys = view->system;
  const saltus_moreau_jean_options* o = s->options;
  if (view->mechanism != NULL) {
    return "scenes with bodies are exported as FMUs, not as C";
  }
  if (strcmp(s->scheme->name, "moreau-jean") != 0 || s->control != NULL || !(s->h > 0.0)) {
    return "C needs scheme moreau-jean with a fixed step; give --scheme moreau-jean --step H";
  }
  if (sys->dims.nj > 0 || sys->dry_count > 0) {
    return "joints and friction of coordinates are exported as FMUs, not as C";
  }
  if (sys->dims.nc > CONTACTS_MOST || sys->dims.nv > VELOCITIES_MOST || sys->structure != NULL) {
    return "C is exported of up to 20 contacts and 32 coordinates without block structure";
  }
  if (o->speculative != 0 || o->filter != 0 || o->stiffness != 0.0) {
    return "options speculative, filter and stiffness of moreau-jean are not exported";
  }
  if (view->observables != NULL && view->observables->switching != NULL) {
    return "events that set inputs are exported as FMUs, not as C";
  }
  for (int i = 0; i < sys->dims.nc; i++) {
    const saltus_contact_law* law = &sys->laws[i];
    if ((law->mu > 0.0 && law->tangents > 1) || law->friction != NULL ||
        law->impact != SALTUS_IMPACT_NEWTON || law->impact_mu != 0.0) {
      return "C has Newton's impact law and Coulomb's friction in the plane";
    }
  }
  return NULL;
}

static void put_head(c_writer* w, const saltus_scene_view* view, const saltus_run_settings* s,
                     int outputs) {
  const saltus_system* sys = view->system;
  const saltus_moreau_jean_options* o = s->options;
  const saltus_dims* d = &sys->dims;
  bool friction = false;
  for (int i = 0; i < d->nc; i++) {
    friction = friction || rows_of(&sys->laws[i]) > 1;
  }
  const unsigned linear = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
  const bool constant = (sys->traits & SALTUS_CONSTANT_NORMALS) != 0;
  const bool once = o->iterate == 1 || ((sys->traits & SALTUS_CONSTANT_MASS) != 0 &&
                                        (sys->traits & linear) != 0 && (constant || d->nc == 0));
  put(w,
      "/* Made by Saltus %s. moreau-jean with the fixed step @_h; compile with -ffp-contract=off.\n"
      " * @_init(&s), then @_step(&s, u) for each step; @_outputs(&s, u, y) for outputs. */\n"
      "#include <math.h>\n#include <stddef.h>\n\n",
      saltus_version());
  put(w,
      "enum {\n  @_nq = %d,\n  @_nv = %d,\n  @_nc = %d,\n  @_nu = %d,\n  @_ny = %d,\n"
      "  @_nc_most = %d,\n  @_rows_most = %d,\n  @_newton_max = %d,\n  @_sweeps_max = %d\n};\n",
      d->nq, d->nv, d->nc, view->input_count, outputs, d->nc > 0 ? d->nc : 1,
      2 * (d->nc > 0 ? d->nc : 1), once ? 1 : o->newton_max, SWEEPS);
  const bool constant_matrix = (sys->traits & SALTUS_CONSTANT_MASS) != 0 &&
                               (sys->traits & linear) != 0 && view->input_count == 0;
  put(w,
      "enum {\n  @_constant_rows = %d,\n  @_jump_midpoint = %d,\n  @_once = %d,\n"
      "  @_free_force = %d,\n  @_divides = %d,\n  @_constant_matrix = %d\n};\n",
      constant, o->jump == SALTUS_JUMP_MIDPOINT, once, (sys->traits & SALTUS_FREE_FORCE) != 0,
      !friction, constant_matrix);
  put(w,
      "/* Bits of the status, which stay set: Newton's method or the contact iteration reached its "
      "bound, singular matrix. */\n"
      "enum { @_NEWTON = 1, @_CONTACTS = 2, @_SINGULAR = 4 };\n\n");
  const struct {
    const char* name;
    double value;
  } numbers[] = {{"h", s->h},
                 {"t0", s->start},
                 {"theta", o->theta},
                 {"gamma", o->gamma},
                 {"newton_tol", o->newton_tol}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    put(w, "static const double @_%s = ", numbers[i].name);
    put_number(w, numbers[i].value);
    put(w, ";\n");
  }
  put(w, "\n/* A = P L U */\ntypedef struct @_matrix {\n  double A[@_nv * @_nv];\n  int "
         "pivot[@_nv], swapped;\n} @_matrix;\n\ntypedef struct @_state {\n  double t, q[@_nq], "
         "v[@_nv];\n  double P[2 * @_nc_most]; /* "
         "impulses of the last step, N s: normal, tangential */\n  double steps;\n  int "
         "status;\n  int known; /* kept is the factored constant matrix */\n  @_matrix kept;\n} "
         "@_state;\n\nvoid @_init(@_state* s);\nint @_step(@_state* s, const double* "
         "u);\nvoid @_outputs(const @_state* s, const double* u, double* y);\n\n");
}

static void put_start(c_writer* w, const saltus_scene_view* view, const saltus_run_settings* s) {
  put(w, "static const @_state @_start = {");
  put_number(w, s->start);
  const int counts[] = {view->system->dims.nq, view->system->dims.nv};
  const double* const from[] = {view->q0, view->v0};
  for (int k = 0; k < 2; k++) {
    put(w, ", {");
    for (int i = 0; i < counts[k]; i++) {
      put(w, i > 0 ? ", " : "");
      put_number(w, from[k][i]);
    }
    put(w, "}");
  }
  put(w, ", {0.0}, 0.0, 0, 0, {{0.0}, {0}, 0}};\n\n");
}

/* Largest number of operations and calls of libm in a step, from the sizes of all loops. */
static void put_bound(c_writer* w, const saltus_system* sys, bool once, int newton_max) {
  const long long n = sys->dims.nv, r = 2LL * sys->dims.nc, k = once ? 1 : newton_max;
  const long long solve = 2 * n * n + 4 * n, factor = 2 * n * n * n + 4 * n * n + 4 * n;
  const long long law = r * (solve + 8 * n + 8) + r * r * 2 * n;
  const long long contacts = (sys->dims.nc > 1 ? SWEEPS : 1) * (r * (2 * r + 40) + 4);
  const long long newton =
      w->operations + factor + solve + 8 * n * n + 36 * n + law + contacts + r * 2 * n;
  const long long operations = k * newton + w->operations + 16 * n + r * 4 * n;
  put(w,
      "/* At most so many floating-point operations and calls of libm in a step. */\n"
      "const double @_operations_max = %lld.0, @_calls_max = %lld.0;\n",
      operations, (k + 1) * w->calls);
}

saltus_export_c_def saltus_export_c_def_default(void) {
  return (saltus_export_c_def){.prefix = "model", .step = NAN};
}

static saltus_status write_source(const saltus_export_c_def* def, const saltus_run_settings* s,
                                  c_writer* w) {
  const saltus_scene_view* view = saltus_scene_get_view(def->scene);
  const char* reason = find_reason(view, s);
  if (reason != NULL) {
    return refuse(def, reason);
  }
  const saltus_system* sys = view->system;
  const saltus_formula_model* m = sys->self;
  const saltusi_program* outputs =
      view->observables != NULL ? saltusi_formula_observer_outputs(view->observables->self) : NULL;
  const int ny = outputs != NULL ? view->observables->output_count : 0;
  put_head(w, view, s, ny);
  const saltus_moreau_jean_options* o = s->options;
  const double theta_h = o->theta * s->h;
  w->h = s->h;
  w->factors[0] = -theta_h;
  w->factors[1] = -theta_h * theta_h;
  w->rates = o->gamma != 0.0;
  put_equations(w, sys, m, view->input_count);
  put_approach(w, sys, m, view->input_count);
  put_rows(w, sys, m, view->input_count);
  put_contacts(w, sys);
  put_start(w, view, s);
  put_text(w, saltusi_step_template);
  const unsigned linear = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
  const bool once = o->iterate == 1 ||
                    ((sys->traits & SALTUS_CONSTANT_MASS) != 0 && (sys->traits & linear) != 0 &&
                     ((sys->traits & SALTUS_CONSTANT_NORMALS) != 0 || sys->dims.nc == 0));
  put(w, "\n");
  put_bound(w, sys, once, o->newton_max);
  put(w, "\n");
  if (ny > 0) {
    put_program(w, sys, view->input_count, "observe", outputs);
  }
  put(w, "void @_outputs(const @_state* s, const double* u, double* y) {\n");
  put(w,
      ny > 0 ? "  @_observe(s->t, s->q, s->v, u, y);\n}\n" : "  (void)s, (void)u, (void)y;\n}\n");
  return w->out.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

saltus_status saltus_export_c(const saltus_export_c_def* def, const char* file) {
  assert(def != NULL && def->scene != NULL && def->prefix != NULL && file != NULL);
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_export_c_def", def->log);
  if (status == SALTUS_OK &&
      (def->prefix[0] == '\0' || strlen(def->prefix) > 40 || !is_word(def->prefix[0]) ||
       strspn(def->prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                           "UVWXYZ0123456789_") != strlen(def->prefix))) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "export: prefix \"%.60s\" is not a C identifier of up to 40 characters",
                def->prefix);
    status = SALTUS_ERR_INPUT;
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltus_run_def run_def = saltus_run_def_default();
  run_def.scene = saltus_scene_get_view(def->scene);
  run_def.log = def->log;
  run_def.stepping = true;
  run_def.scheme = def->scheme;
  run_def.step = def->step;
  saltus_run* run;
  status = saltus_run_create(&run_def, &run);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_allocator memory =
      def->allocator != NULL ? *def->allocator : saltus_allocator_default();
  c_writer w = {.out = {.memory = &memory}, .prefix = def->prefix};
  status = write_source(def, saltus_run_get_settings(run), &w);
  saltus_run_destroy(run);
  saltusi_replacement to;
  int error = status == SALTUS_OK ? saltusi_replacement_open(&to, file) : 0;
  if (status == SALTUS_OK && error == 0) {
    const bool good = fwrite(w.out.at, 1, w.out.count, to.file) == w.out.count;
    error = saltusi_replacement_close(&to, good);
  }
  if (error != 0) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "export: %s: %s", file, strerror(error));
    status = SALTUS_ERR_IO;
  }
  saltusi_bytes_free(&w.out);
  return status;
}
