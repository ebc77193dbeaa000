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
#include "emit/body_lines.h"
#include "export/c_writer.h"
#include "export/license.h"
#include "math/matrix.h"
#include "model/formula_model.h"
#include "report/bytes.h"
#include "saltus/run.h"
#include "saltus/version.h"
#include "scene/observe_bodies.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SWEEPS = 1000 };

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void put_program(saltusi_c_writer* w, const saltus_system* sys, int inputs, const char* name,
                        const saltusi_program* p) {
  saltusi_c_function f;
  saltusi_c_open(&f, w, sys, inputs, "void", name, ", double* out");
  saltusi_c_put(w, "  (void)out;\n");
  const int* nodes = saltusi_c_nodes(&f, p);
  saltusi_c_results(&f, "out", nodes, p->outputs);
  saltusi_c_close(&f);
}

/* ---- contacts ---- */

/* Rows of contact i in the step. */
static int rows_of(const saltus_contact_law* law) {
  return law->mu > 0.0 ? 1 + law->tangents : 1;
}

/* Gaps and, where gamma is not 0, normal rates of all contacts. */
static void put_approach(saltusi_c_writer* w, const saltus_system* sys,
                         const saltus_formula_model* m, int inputs) {
  const int nc = sys->dims.nc, nv = sys->dims.nv;
  saltusi_c_function f;
  saltusi_c_open(&f, w, sys, inputs, "void", "approach", ", double* gap, double* rate");
  saltusi_c_put(w, "  (void)gap, (void)rate;\n");
  const int* gaps = saltusi_c_nodes(&f, &m->gaps);
  int* rates = saltusi_c_take(&f, nc);
  const saltusi_model_lines x = saltusi_c_model(&f, m);
  for (int c = 0; c < nc && !f.lines.failed; c++) {
    const int* row = saltusi_model_rows(&x, &f.state, &m->contacts[c], 1);
    if (!f.lines.failed) {
      rates[c] =
          saltusi_line_add(&f.lines, saltusi_line_dot(&f.lines, nv, row, f.state.v), row[nv]);
    }
  }
  saltusi_c_results(&f, "gap", gaps, nc);
  saltusi_c_results(&f, "rate", rates, w->rates ? nc : 0);
  saltusi_c_close(&f);
}

/* Rows of model_lines.h to G and b. */
static void put_dense_rows(saltusi_c_function* f, const int* nodes, int count, int nv) {
  for (int r = 0; r < count && !f->lines.failed; r++) {
    const int* row = nodes + r * (nv + 1);
    char to[32];
    snprintf(to, sizeof to, "G[%d]", r);
    saltusi_c_results(f, to, row, nv);
    saltusi_lines_write(&f->lines, &f->w->out, row + nv, 1, ~0U, 1, "  ");
    saltusi_c_put(f->w, "  b[%d] = ", r);
    saltusi_line_value(&f->lines, &f->w->out, row[nv]);
    saltusi_c_put(f->w, ";\n");
  }
}

/* Rows of every contact as dense rows G [2][nv] and rates b [2]. */
static void put_rows(saltusi_c_writer* w, const saltus_system* sys, const saltus_formula_model* m,
                     int inputs) {
  const int nc = sys->dims.nc, nv = sys->dims.nv;
  for (int c = 0; c < nc; c++) {
    const int count = rows_of(&sys->laws[c]);
    saltusi_c_function f;
    char name[32];
    snprintf(name, sizeof name, "rows_%d", c);
    saltusi_c_open(&f, w, sys, inputs, "void", name, ", double (*G)[@_nv], double* b");
    const saltusi_model_lines x = saltusi_c_model(&f, m);
    put_dense_rows(&f, saltusi_model_rows(&x, &f.state, &m->contacts[c], count), count, nv);
    saltusi_c_close(&f);
  }
  saltusi_c_put(w, "static inline void @_rows(int contact, %s, double (*G)[@_nv], double* b) {\n",
                SALTUSI_C_ARGUMENTS);
  saltusi_c_put(w, "  switch (contact) {\n");
  for (int c = 0; c < nc; c++) {
    saltusi_c_put(w, "  case %d:\n    @_rows_%d(t, q, v, u, G, b);\n    break;\n", c, c);
  }
  saltusi_c_put(
      w, "  default:\n    (void)t, (void)q, (void)v, (void)u, (void)G, (void)b;\n    break;\n  "
         "}\n}\n\n");
}

/* Rows of contacts, A^-1 of them and their products: constant with a constant matrix. */
static void put_products(saltusi_c_writer* w, const saltus_system* sys,
                         const saltus_formula_model* m) {
  enum { ROWS_MOST = 2 * SALTUSI_C_CONTACTS };
  static const char* const names[] = {"fixed_G", "fixed_X"};
  const int nv = sys->dims.nv, rows = sys->dims.nc > 0 ? 2 * sys->dims.nc : 2;
  double G[2][ROWS_MOST][SALTUSI_C_VELOCITIES] = {{{0.0}}}, b[ROWS_MOST] = {0.0};
  for (int c = 0; c < sys->dims.nc && w->tables; c++) {
    const saltusi_formula_rows* own = &m->contacts[c];
    for (int r = 0; r < rows_of(&sys->laws[c]); r++) {
      for (int k = 0; k < own->width; k++) {
        G[0][2 * c + r][own->column[k]] = own->fixed[r * own->width + k];
      }
      b[2 * c + r] = own->fixed[own->count * own->width + r];
      memcpy(G[1][2 * c + r], G[0][2 * c + r], sizeof G[0][0]);
      saltusi_lu_solve(nv, w->factors_of_A, w->pivot, G[1][2 * c + r]);
    }
  }
  for (int k = 0; k < 2; k++) {
    saltusi_c_put(w, "static const double @_%s[%d][@_nv] = {", names[k], w->tables ? rows : 1);
    for (int i = 0; i < (w->tables ? rows : 1) * nv; i++) {
      saltusi_c_put(w, i % nv == 0 ? i > 0 ? "},\n  {" : "\n  {" : ", ");
      saltusi_c_number(w, G[k][i / nv][i % nv]);
    }
    saltusi_c_put(w, "}};\n");
  }
  const int n = w->tables ? rows : 1;
  saltusi_c_put(w, "static const double @_fixed_b[%d] = {", n);
  for (int i = 0; i < n; i++) {
    saltusi_c_put(w, i > 0 ? ", " : "");
    saltusi_c_number(w, b[i]);
  }
  saltusi_c_put(w, "};\nstatic const double @_fixed_W[%d][%d] = {", n, n);
  for (int i = 0; i < n * n; i++) {
    saltusi_c_put(w, i % n == 0 ? i > 0 ? "},\n  {" : "\n  {" : ", ");
    saltusi_c_number(w, saltusi_dot(nv, G[0][i / n], G[1][i % n]));
  }
  saltusi_c_put(w, "}};\nenum { @_tables = %d };\n\n", w->tables);
}

/* Rows of all joints as dense rows G and rates b. */
static void put_joints(saltusi_c_writer* w, const saltus_system* sys, const saltus_formula_model* m,
                       int inputs) {
  const int nv = sys->dims.nv;
  saltusi_c_function f;
  saltusi_c_open(&f, w, sys, inputs, "void", "joint_rows", ", double (*G)[@_nv], double* b");
  saltusi_c_put(w, "  (void)G, (void)b;\n");
  const saltusi_model_lines x = saltusi_c_model(&f, m);
  put_dense_rows(&f, saltusi_model_joints(&x, &f.state), sys->dims.nj, nv);
  saltusi_c_close(&f);
}

static void put_table(saltusi_c_writer* w, const char* type, const char* name, int nc) {
  saltusi_c_put(w, "static const %s @_%s[%d] = {", type, name, nc > 0 ? nc : 1);
}

static void put_contacts(saltusi_c_writer* w, const saltus_system* sys) {
  const int nc = sys->dims.nc;
  put_table(w, "int", "row_count", nc);
  for (int c = 0; c < nc; c++) {
    saltusi_c_put(w, "%s%d", c > 0 ? ", " : "", rows_of(&sys->laws[c]));
  }
  saltusi_c_put(w, nc > 0 ? "};\n" : "0};\n");
  static const char* const numbers[] = {"mu", "e_N", "e_T"};
  for (int k = 0; k < 3; k++) {
    put_table(w, "double", numbers[k], nc);
    for (int c = 0; c < nc; c++) {
      const saltus_contact_law* law = &sys->laws[c];
      saltusi_c_put(w, c > 0 ? ", " : "");
      saltusi_c_number(w, k == 0 ? law->mu : k == 1 ? law->e_N : law->e_T);
    }
    saltusi_c_put(w, nc > 0 ? "};\n" : "0.0};\n");
  }
  saltusi_c_put(w, "\n");
}

/* ---- the file ---- */

static saltus_status refuse(const saltus_export_c_def* def, const char* why) {
  saltusi_log(def->log, SALTUS_LEVEL_ERROR, "export: %s", why);
  return SALTUS_ERR_UNSUPPORTED;
}

/* Whether a scene has bodies without any formula: its system is that of the mechanism. */
static bool is_alone(const saltus_scene_view* view) {
  return view->mechanism != NULL && view->system->self == view->mechanism;
}

/* Reason why a scene is outside of the exported subset; NULL: none. */
static const char* find_reason(const saltus_scene_view* view, const saltus_run_settings* s) {
  const saltus_system* sys = view->system;
  const saltus_moreau_jean_options* o = s->options;
  if (view->flexible != NULL || view->tree != NULL) {
    return "flexible bodies and joint coordinates are exported as FMUs, not as C";
  }
  const saltus_formula_model* m = sys->self; /* or the mechanism */
  const char* bodies = view->mechanism != NULL ? saltusi_body_lines_reason(view->mechanism) : NULL;
  if (bodies != NULL) {
    return bodies;
  }
  if (view->mechanism != NULL && !is_alone(view) && m->inner.first > 0) {
    return "bodies together with coordinates by formula are exported as FMUs, not as C";
  }
  if (strcmp(s->scheme->name, "moreau-jean") != 0 || s->control != NULL || !(s->h > 0.0)) {
    return "C needs scheme moreau-jean with a fixed step; give --scheme moreau-jean --step H";
  }
  if (sys->dry_count > 0) {
    return "friction of coordinates is exported as FMU, not as C";
  }
  if (sys->dims.nc > SALTUSI_C_CONTACTS || sys->dims.nv > SALTUSI_C_VELOCITIES ||
      sys->dims.nj > SALTUSI_C_JOINTS || (sys->structure != NULL && view->mechanism == NULL)) {
    return "C is exported of up to 20 contacts, 32 coordinates without block structure and 12 rows "
           "of joints";
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

/* Joints constrain (1 - weight) v_k + weight v_{k+1}, as in src/scheme/moreau/moreau_step.c. */
static double joint_weight(const saltus_moreau_jean_options* o) {
  return o->joints == SALTUS_JOINTS_MEAN && o->theta > 0.0 ? o->theta : 1.0;
}

static void put_head(saltusi_c_writer* w, const saltus_scene_view* view,
                     const saltus_run_settings* s, int outputs) {
  const saltus_system* sys = view->system;
  const saltus_moreau_jean_options* o = s->options;
  const saltus_dims* d = &sys->dims;
  bool friction = false;
  for (int i = 0; i < d->nc; i++) {
    friction = friction || rows_of(&sys->laws[i]) > 1;
  }
  const unsigned linear = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
  const bool constant = (sys->traits & SALTUS_CONSTANT_NORMALS) != 0;
  const bool once =
      o->iterate == 1 || ((sys->traits & SALTUS_CONSTANT_MASS) != 0 &&
                          (sys->traits & linear) != 0 && (constant || d->nj + d->nc == 0));
  saltusi_c_put(
      w,
      "/* Made by Saltus %s. moreau-jean with the fixed step @_h; compile without contraction to "
      "FMA.\n"
      " * @_init(&s), then @_step(&s, u) for each step; @_outputs(&s, u, y) for outputs. */\n"
      "#include <math.h>\n#include <stddef.h>\n\n"
      "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#elif defined(__GNUC__)\n"
      "#pragma GCC optimize(\"fp-contract=off\", \"no-math-errno\", \"no-trapping-math\", \\\n"
      "                     \"no-tree-vectorize\", \"peel-loops\") /* faster, the same bits */\n"
      "#endif\n\n",
      saltus_version());
  saltusi_c_put(
      w,
      "enum {\n  @_nq = %d,\n  @_nv = %d,\n  @_nj = %d,\n  @_nc = %d,\n  @_nu = %d,\n  @_ny = %d,\n"
      "  @_nj_most = %d,\n  @_nc_most = %d,\n  @_rows_most = %d,\n  @_newton_max = %d,\n  "
      "@_sweeps_max = %d\n};\n",
      d->nq, d->nv, d->nj, d->nc, view->input_count, outputs, d->nj > 0 ? d->nj : 1,
      d->nc > 0 ? d->nc : 1, d->nj + 2 * (d->nc > 0 ? d->nc : 1), once ? 1 : o->newton_max, SWEEPS);
  saltusi_c_put(w,
                "enum {\n  @_constant_rows = %d,\n  @_jump_midpoint = %d,\n  @_once = %d,\n"
                "  @_divides = %d\n};\n",
                constant, o->jump == SALTUS_JUMP_MIDPOINT, once, !friction);
  saltusi_c_put(
      w,
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
                 {"joint_weight", joint_weight(o)},
                 {"newton_tol", o->newton_tol}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    saltusi_c_put(w, "static const double @_%s = ", numbers[i].name);
    saltusi_c_number(w, numbers[i].value);
    saltusi_c_put(w, ";\n");
  }
  saltusi_c_put(
      w, "\ntypedef struct @_state {\n  double t, q[@_nq], v[@_nv];\n  double P[2 * @_nc_most]; /* "
         "impulses of the last step, N s: normal, tangential */\n  double joints[@_nj_most]; /* N "
         "s, N m s */\n  double steps;\n  int status;\n} "
         "@_state;\n\nvoid @_init(@_state* s);\nint @_step(@_state* s, const double* "
         "u);\nvoid @_outputs(const @_state* s, const double* u, double* y);\n\n");
}

static void put_start(saltusi_c_writer* w, const saltus_scene_view* view,
                      const saltus_run_settings* s) {
  saltusi_c_put(w, "static const @_state @_start = {");
  saltusi_c_number(w, s->start);
  const int counts[] = {view->system->dims.nq, view->system->dims.nv};
  const double* const from[] = {view->q0, view->v0};
  for (int k = 0; k < 2; k++) {
    saltusi_c_put(w, ", {");
    for (int i = 0; i < counts[k]; i++) {
      saltusi_c_put(w, i > 0 ? ", " : "");
      saltusi_c_number(w, from[k][i]);
    }
    saltusi_c_put(w, "}");
  }
  saltusi_c_put(w, ", {0.0}, {0.0}, 0.0, 0};\n\n");
}

/* Largest number of operations and calls of libm in a step, from the sizes of all loops. */
static void put_bound(saltusi_c_writer* w, const saltus_system* sys, bool once, int newton_max) {
  const long long n = sys->dims.nv, j = sys->dims.nj, c = 2LL * sys->dims.nc, r = j + c;
  const long long k = once ? 1 : newton_max;
  const long long solve = 2 * n * n + 4 * n, factor = 2 * n * n * n + 4 * n * n + 4 * n;
  const long long law = r * (solve + 10 * n + 12) + r * r * 2 * n + 4 * r * n;
  const long long joints = 2 * j * j * j + 4 * j * j + 4 * j + (c + 1) * (2 * j * j + 4 * j) +
                           c * (c + 1) * (2 * j + 1) + 2 * j * (c + 1);
  const long long contacts = (sys->dims.nc > 1 ? SWEEPS : 1) * (c * (2 * c + 60) + 16);
  const long long roots = sys->dims.nc > 1 ? SWEEPS / 16 + 1 : 0; /* of extrapolations */
  const long long newton =
      w->operations + factor + solve + 8 * n * n + 36 * n + law + joints + contacts + r * 2 * n;
  const long long operations = k * newton + w->operations + 16 * n + r * 4 * n;
  saltusi_c_put(w,
                "/* At most so many floating-point operations and calls of libm in a step. */\n"
                "const double @_operations_max = %lld.0, @_calls_max = %lld.0;\n",
                operations, (k + 1) * w->calls + k * roots);
}

saltus_export_c_def saltus_export_c_def_default(void) {
  return (saltus_export_c_def){.prefix = "model", .step = NAN};
}

static saltus_status write_source(const saltus_export_c_def* def, const saltus_run_settings* s,
                                  saltusi_c_writer* w) {
  const saltus_scene_view* view = saltus_scene_get_view(def->scene);
  const char* reason = find_reason(view, s);
  if (reason != NULL) {
    return refuse(def, reason);
  }
  const saltus_system* sys = view->system;
  const saltus_formula_model alone = {.inner = {.system = sys}};
  const saltus_formula_model* m = is_alone(view) ? &alone : sys->self;
  const saltus_observables* own = view->observables;
  own = own != NULL && view->mechanism != NULL ? saltusi_observe_bodies_own(own) : own;
  const saltusi_program* outputs = own != NULL ? saltusi_formula_observer_outputs(own->self) : NULL;
  const int ny = outputs != NULL ? own->output_count : 0;
  put_head(w, view, s, ny);
  const saltus_moreau_jean_options* o = s->options;
  const double theta_h = o->theta * s->h;
  w->h = s->h;
  w->factors[0] = -theta_h;
  w->factors[1] = -theta_h * theta_h;
  w->rates = o->gamma != 0.0;
  saltusi_c_equations(w, sys, m, view->input_count);
  w->tables = w->constant && (sys->traits & SALTUS_CONSTANT_NORMALS) != 0;
  for (int c = 0; c < sys->dims.nc; c++) {
    w->tables = w->tables && m->contacts[c].fixed != NULL;
  }
  put_products(w, sys, m);
  put_approach(w, sys, m, view->input_count);
  put_rows(w, sys, m, view->input_count);
  put_joints(w, sys, m, view->input_count);
  put_contacts(w, sys);
  put_start(w, view, s);
  saltusi_c_text(w, saltusi_step_template);
  const unsigned linear = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
  const bool once =
      o->iterate == 1 ||
      ((sys->traits & SALTUS_CONSTANT_MASS) != 0 && (sys->traits & linear) != 0 &&
       ((sys->traits & SALTUS_CONSTANT_NORMALS) != 0 || sys->dims.nj + sys->dims.nc == 0));
  saltusi_c_put(w, "\n");
  put_bound(w, sys, once, o->newton_max);
  saltusi_c_put(w, "\n");
  if (ny > 0) {
    put_program(w, sys, view->input_count, "observe", outputs);
  }
  saltusi_c_put(w, "void @_outputs(const @_state* s, const double* u, double* y) {\n");
  saltusi_c_put(w, ny > 0 ? "  @_observe(s->t, s->q, s->v, u, y);\n}\n"
                          : "  (void)s, (void)u, (void)y;\n}\n");
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
  saltusi_c_writer w = {.out = {.memory = &memory}, .prefix = def->prefix};
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
