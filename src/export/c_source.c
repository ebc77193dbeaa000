/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * c_source.c - a scene as C99 without a library: formula programs as straight-line code, tables of contacts, and the step
 * of moreau-jean from step_template.c.in, in which @ is the prefix.
 */
#include "saltus/export.h"

#include "base/log.h"
#include "base/number.h"
#include "base/replacement.h"
#include "base/reserved.h"
#include "export/license.h"
#include "formula/instructions.h"
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
  long long operations, calls; /* of the programs written last */
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

static void put_place(c_writer* w, const saltusi_program* p, unsigned place) {
  static const char* const arrays[] = {[SALTUSI_IN_POSITIONS] = "q",
                                       [SALTUSI_IN_VELOCITIES] = "v",
                                       [SALTUSI_IN_REGISTERS] = "r",
                                       [SALTUSI_IN_OUTPUT] = "out",
                                       [SALTUSI_IN_INPUTS] = "u"};
  const unsigned array = place % SALTUSI_ARRAYS, i = place / SALTUSI_ARRAYS;
  if (array == SALTUSI_IN_CONSTANTS) {
    put_number(w, p->constants[i]);
  } else if (array == SALTUSI_IN_REGISTERS && i == 0) {
    put(w, "t");
  } else {
    put(w, "%s[%u]", arrays[array], i);
  }
}

#define FORM(name, operands, value) [SALTUSI_##name] = #value,
static const char* form_of(unsigned op) {
  static const char* const forms[] = {
      SALTUSI_OPS(FORM)[SALTUSI_COPY] = "A", [SALTUSI_SQUARE] = "A * A",
      [SALTUSI_CUBE] = "A * A * A",          [SALTUSI_MUL_ADD] = "A * B + C",
      [SALTUSI_MUL_SUB] = "A * B - C",       [SALTUSI_SUB_MUL] = "C - A * B"};
  return op == SALTUSI_SIGN  ? "A > 0.0 ? 1.0 : A < 0.0 ? -1.0 : A == 0.0 ? 0.0 : A"
         : op == SALTUSI_MIN ? "A <= B || A != A ? A : B"
         : op == SALTUSI_MAX ? "A >= B || A != A ? A : B"
                             : forms[op];
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void put_form(c_writer* w, const saltusi_program* p, const saltusi_instruction* in) {
  const char* form = form_of(in->op);
  for (const char* c = form; *c != '\0'; c++) {
    const bool alone = *c >= 'A' && *c <= 'C' && !is_word(c[1]) && (c == form || !is_word(c[-1]));
    if (alone) {
      put_place(w, p, *c == 'A' ? in->a : *c == 'B' ? in->b : in->c);
    } else {
      put(w, "%c", *c);
    }
    w->operations += strchr("+-*/<>?", *c) != NULL;
  }
  w->calls += strchr(form, '(') != NULL;
}

/* Whole powers by squaring, in the order of saltusi_whole_power. */
static void put_power(c_writer* w, const saltusi_program* p, const saltusi_instruction* in) {
  put(w, "{\n    double power = 1.0, square = ");
  put_place(w, p, in->a);
  put(w, ";\n");
  for (unsigned n = in->b; n > 1; n /= 2) {
    put(w, n % 2 == 1 ? "    power = power * square;\n" : "");
    put(w, "    square *= square;\n");
    w->operations += 2;
  }
  put(w, "    ");
  put_place(w, p, in->to);
  put(w, " = power * square;\n  }\n");
  w->operations++;
}

static void put_program(c_writer* w, const char* name, const saltusi_program* p) {
  put(w,
      "static inline void @_%s(double t, const double* q, const double* v, const double* u, "
      "double* out) "
      "{\n  (void)t, (void)q, (void)v, (void)u, (void)out;\n",
      name);
  if (p->registers > 1) {
    put(w, "  double r[%d];\n", p->registers);
  }
  if (p->sparse) {
    put(w, "  for (int i = 0; i < %d; i++) {\n    out[i] = 0.0;\n  }\n", p->outputs);
  }
  for (int k = 0; k < p->length; k++) {
    const saltusi_instruction* in = &p->code[k];
    put(w, "  ");
    if (in->op == SALTUSI_POWI) {
      put_power(w, p, in);
      continue;
    }
    put_place(w, p, in->to);
    put(w, " = ");
    put_form(w, p, in);
    put(w, ";\n");
  }
  put(w, "}\n\n");
}

/* ---- contacts ---- */

/* Rows of contact i in the step. */
static int rows_of(const saltus_contact_law* law) {
  return law->mu > 0.0 ? 1 + law->tangents : 1;
}

static const char row_arguments[] =
    "double t, const double* q, const double* v, const double* u, double (*G)[@_nv], double* b";

/* Row r: entries of all velocities, then the rate b. Zeros change no bit of a sum that starts at 0. */
static void put_row(c_writer* w, const saltusi_formula_rows* rows, int r, int nv) {
  int k = 0;
  for (int i = 0; i <= nv; i++) {
    const bool given = i == nv || (k < rows->width && rows->column[k] == i);
    const int at = i == nv ? rows->count * rows->width + r : r * rows->width + k;
    k += given && i < nv ? 1 : 0;
    if (i < nv) {
      put(w, "  G[%d][%d] = ", r, i);
    } else {
      put(w, "  b[%d] = ", r);
    }
    if (given && rows->fixed == NULL) {
      put(w, "out[%d]", at);
    } else {
      put_number(w, given ? rows->fixed[at] : 0.0);
    }
    put(w, ";\n");
  }
}

/* Rows of every contact as dense rows G [2][nv] and rates b [2]. */
static void put_rows(c_writer* w, const saltus_system* sys, const saltus_formula_model* m) {
  const int nc = sys->dims.nc;
  for (int c = 0; c < nc; c++) {
    const saltusi_formula_rows* rows = &m->contacts[c];
    char name[32];
    snprintf(name, sizeof name, "raw_%d", c);
    if (rows->fixed == NULL) {
      put_program(w, name, &rows->program);
    }
    put(w, "static void @_rows_%d(", c);
    put_text(w, row_arguments);
    put(w, ") {\n  (void)t, (void)q, (void)v, (void)u;\n");
    if (rows->fixed == NULL) {
      put(w, "  double out[%d];\n  @_raw_%d(t, q, v, u, out);\n", rows->count * (rows->width + 1),
          c);
    }
    for (int r = 0; r < rows_of(&sys->laws[c]); r++) {
      put_row(w, rows, r, sys->dims.nv);
    }
    put(w, "}\n\n");
  }
  put(w, "static void @_rows(int contact, ");
  put_text(w, row_arguments);
  put(w, ") {\n  switch (contact) {\n");
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
         "pivot[@_nv], diagonal;\n} @_matrix;\n\ntypedef struct @_state {\n  double t, q[@_nq], "
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
      w->operations + factor + solve + 8 * n * n + 24 * n + law + contacts + r * 2 * n;
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
  put_program(w, "mass", &m->mass);
  put_program(w, "force", &m->force);
  put_program(w, "force_q", &m->force_q);
  put_program(w, "force_v", &m->force_v);
  put_program(w, "gaps", &m->gaps);
  put_rows(w, sys, m);
  put_contacts(w, sys);
  put_start(w, view, s);
  put_text(w, saltusi_step_template);
  const saltus_moreau_jean_options* o = s->options;
  const unsigned linear = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
  const bool once = o->iterate == 1 ||
                    ((sys->traits & SALTUS_CONSTANT_MASS) != 0 && (sys->traits & linear) != 0 &&
                     ((sys->traits & SALTUS_CONSTANT_NORMALS) != 0 || sys->dims.nc == 0));
  put(w, "\n");
  put_bound(w, sys, once, o->newton_max);
  put(w, "\n");
  if (ny > 0) {
    put_program(w, "observe", outputs);
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
