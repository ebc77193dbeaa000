/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * c_writer.c - see c_writer.h.
 */
#include "export/c_writer.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Forces and torques of joints, which outputs read after the inputs: not computed. */
enum { JOINT_LOADS = 6 * SALTUSI_C_JOINTS };

/* Text in which @ becomes the prefix. */
void saltusi_c_text(saltusi_c_writer* w, const char* text) {
  assert(w != NULL && w->prefix != NULL && w->prefix[0] != '\0' && text != NULL);
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

void saltusi_c_put(saltusi_c_writer* w, const char* format, ...) {
  assert(w != NULL && w->prefix[0] != '\0' && format != NULL);
  char text[1024];
  va_list list;
  va_start(list, format);
  saltusi_print_list(text, sizeof text, format, list);
  va_end(list);
  saltusi_c_text(w, text);
}

void saltusi_c_number(saltusi_c_writer* w, double value) {
  assert(w != NULL && w->prefix[0] != '\0');
  if (isnan(value) || isinf(value)) {
    saltusi_c_put(w, isnan(value) ? "NAN" : value > 0.0 ? "INFINITY" : "(-INFINITY)");
  } else {
    saltusi_c_put(w, signbit(value) ? "(%a)" : "%a", value);
  }
}

/* ---- programs ---- */

/* Entries of an array argument, as local constants: two calls with the same one are one call for the compiler. */
const int* saltusi_c_leaves(saltusi_c_function* f, const char* name, int count) {
  assert(f != NULL && count >= 0 && name != NULL && name[0] != '\0');
  int* list = SALTUSI_TAKE(&f->pool, int, count + 1 + JOINT_LOADS);
  for (int i = 0; list != NULL && i < count; i++) {
    saltusi_c_put(f->w, "  const double %c%d = %s[%d];\n  (void)%c%d;\n", name[0], i, name, i,
                  name[0], i);
    const char letter[2] = {name[0]};
    list[i] = saltusi_line_leaf(&f->lines, letter, i, SALTUSI_LINE_STEP);
  }
  return list;
}

saltusi_model_lines saltusi_c_model(saltusi_c_function* f, const saltus_formula_model* m) {
  assert(f != NULL && m != NULL);
  return (saltusi_model_lines){.lines = &f->lines, .pool = &f->pool, .sys = f->sys, .m = m};
}

int* saltusi_c_take(saltusi_c_function* f, int count) {
  assert(f != NULL && count >= 0);
  int* list = SALTUSI_TAKE(&f->pool, int, count + 1);
  f->lines.failed = f->lines.failed || list == NULL;
  return list;
}

/* The nodes of a program. */
int* saltusi_c_nodes(saltusi_c_function* f, const saltusi_program* p) {
  assert(f != NULL && p != NULL && p->outputs >= 0);
  int* out = saltusi_c_take(f, p->outputs);
  if (!f->lines.failed) {
    saltusi_line_program(&f->lines, p, &f->state, out);
  }
  return out;
}

/* Begins a function with these arguments and `results`, which are text. */
void saltusi_c_open(saltusi_c_function* f, saltusi_c_writer* w, const saltus_system* sys,
                    int inputs, const char* type, const char* name, const char* results) {
  assert(f != NULL && w != NULL && sys->dims.nv <= SALTUSI_C_VELOCITIES && inputs >= 0);
  *f = (saltusi_c_function){.w = w, .sys = sys, .pool = saltusi_pool_over(NULL)};
  saltusi_c_put(w,
                "static inline %s @_%s(" SALTUSI_C_ARGUMENTS
                "%s) {\n  (void)t, (void)q, (void)v, (void)u;\n",
                type, name, results);
  saltusi_lines_start(&f->lines, w->out.memory, true);
  f->state = (saltusi_line_state){.t = saltusi_line_leaf(&f->lines, "t", -1, SALTUSI_LINE_STEP),
                                  .q = saltusi_c_leaves(f, "q", sys->dims.nq),
                                  .v = saltusi_c_leaves(f, "v", sys->dims.nv),
                                  .u = saltusi_c_leaves(f, "u", inputs)};
  for (int i = 0; f->state.u != NULL && i < JOINT_LOADS; i++) {
    ((int*)(uintptr_t)f->state.u)[inputs + i] = saltusi_line_number(&f->lines, NAN);
  }
  f->lines.failed = f->lines.failed || f->pool.failed;
}

/* Writes all that the results need, then `to[i] = ` each of them. */
void saltusi_c_results(saltusi_c_function* f, const char* to, const int* nodes, int count) {
  assert(f != NULL && count >= 0);
  if (f->lines.failed) {
    return;
  }
  saltusi_lines_write(&f->lines, &f->w->out, nodes, (size_t)count, ~0U, 1, "  ");
  for (int i = 0; i < count; i++) {
    saltusi_c_put(f->w, "  %s[%d] = ", to, i);
    saltusi_line_value(&f->lines, &f->w->out, nodes[i]);
    saltusi_c_put(f->w, ";\n");
  }
}

void saltusi_c_close(saltusi_c_function* f) {
  assert(f != NULL && f->lines.operations >= 0);
  saltusi_c_put(f->w, "}\n\n");
  f->w->operations += f->lines.operations;
  f->w->calls += f->lines.calls;
  f->w->out.failed = f->w->out.failed || f->lines.failed;
  saltusi_lines_free(&f->lines);
  saltusi_pool_free(&f->pool);
}
