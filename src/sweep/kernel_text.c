/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * kernel_text.c - the text of a kernel: load, loop over steps with Newton's method and the contact problem, measures,
 * store.
 */
#include "sweep/kernel_writer.h"

#include "base/number.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { SWEEPS = 1000 };

/* Scopes of written nodes. */
enum { IN_MEMBER = 1, IN_STEP, IN_ITERATION, IN_CONTACTS };

enum { ALL_CLASSES = SALTUSI_LINE_MEMBER | SALTUSI_LINE_STEP | SALTUSI_LINE_ITERATION };

#define put saltusi_kernel_put
#define put_value saltusi_kernel_put_value

void saltusi_kernel_put(saltusi_kernel_writer* k, const char* format, ...) {
  assert(k != NULL && format != NULL);
  char text[1024];
  va_list list;
  va_start(list, format);
  saltusi_print_list(text, sizeof text, format, list);
  va_end(list);
  saltusi_bytes_text(k->out, text);
}

void saltusi_kernel_put_value(saltusi_kernel_writer* k, const char* before, int node,
                              const char* after) {
  assert(k != NULL);
  put(k, "%s", before);
  saltusi_line_value(&k->l, k->out, node);
  put(k, "%s", after);
}

/* ---- text ---- */

static void write_roots(saltusi_kernel_writer* k, const int* roots, int count, unsigned classes,
                        int scope, const char* indent) {
  saltusi_lines_write(&k->l, k->out, roots, (size_t)count, classes, scope, indent);
}

/* All nodes of a contact that its text uses. */
static int contact_roots(const saltusi_kernel_writer* k, int c, int* roots) {
  const saltusi_kernel_contact* x = &k->contacts[c];
  int count = 0;
  roots[count++] = x->pushed;
  for (int r = 0; r < x->rows; r++) {
    roots[count++] = x->u0[r];
    roots[count++] = x->shift[r];
    for (int s = 0; s < x->rows; s++) {
      roots[count++] = x->W[r][s];
    }
    for (int i = 0; i < k->n; i++) {
      roots[count++] = x->G[r][i];
      roots[count++] = x->X[r][i];
    }
  }
  return count;
}

/* Nodes of the factors and of v_free. */
enum { MATRIX_ROOTS = 4 * DIM + 2 * JOINTS };

static int matrix_roots(const saltusi_kernel_writer* k, int* roots) {
  int count = 0;
  for (int i = 0; i < k->n; i++) {
    roots[count++] = k->free[i];
    roots[count++] = k->held[i];
    roots[count++] = k->A.inverse[i];
    roots[count++] = k->A.pivot_of[i];
  }
  for (int r = 0; r < k->nj; r++) {
    roots[count++] = k->joints.inverse[r];
    roots[count++] = k->joints.pivot_of[r];
  }
  return count;
}

static void put_velocity(saltusi_kernel_writer* k, const saltusi_kernel_contact* x, int r,
                         const char* name, const char* indent) {
  put(k, "%sconst R %s = ", indent, name);
  put_value(k, "", x->shift[r], "");
  for (int i = 0; i < k->n; i++) {
    if (!saltusi_line_is(&k->l, x->G[r][i], 0.0)) {
      put_value(k, " + ", x->G[r][i], "");
      put(k, " * y%d", i);
    }
  }
  put(k, ";\n");
}

/* One contact in an iteration of Gauss-Seidel on the velocities y. */
static void put_relaxation(saltusi_kernel_writer* k, int c) {
  const saltusi_kernel_contact* x = &k->contacts[c];
  const char* in = "            ";
  put(k, "          {\n");
  put_velocity(k, x, 0, "un", in);
  if (x->rows == 2) {
    put_velocity(k, x, 1, "ut", in);
    put(k, "%sconst R bn = un - (", in);
    put_value(k, "", x->W[0][0], "");
    put_value(k, " * pn + ", x->W[0][1], " * pt);\n");
    put(k, "%sconst R bt = ut - (", in);
    put_value(k, "", x->W[1][0], " * pn + ");
    put_value(k, "", x->W[1][1], " * pt);\n");
  } else {
    put(k, "%sconst R bn = un - ", in);
    put_value(k, "", x->W[0][0], " * pn;\n");
  }
  put(k, "%sconst B moves = more & act%d;\n", in, c);
  if (x->rows == 2) {
    put(k, "%sR tangential;\n%sconst R normal = contact_pair(K(", in, in);
    put_value(k, "", k->mu[c], "), K(");
    put_value(k, "", x->W[0][0], "), K(");
    put_value(k, "", x->W[0][1], "), K(");
    put_value(k, "", x->W[1][0], "), K(");
    put_value(k, "", x->W[1][1], "), bn, bt, &tangential);\n");
    put(k,
        "%sconst R dn = SEL(moves, normal - pn%d, K(0.0)), dt = SEL(moves, tangential - pt%d, "
        "K(0.0));\n%sdn%d = dn;\n%sdt%d = dt;\n",
        in, c, c, in, c, in, c);
    put(k, "%spn%d = SEL(moves, normal, pn%d);\n%spt%d = SEL(moves, tangential, pt%d);\n", in, c, c,
        in, c, c);
    put(k, "%smost = larger(most, larger(ABS(dn) * ", in);
    put_value(k, "", x->W[0][0], ", ABS(dt) * ");
    put_value(k, "", x->W[1][1], "));\n");
  } else {
    put(k, "%sconst R normal = contact_normal(K(", in);
    put_value(k, "", x->W[0][0], "), bn);\n");
    put(k, "%sconst R dn = SEL(moves, normal - pn%d, K(0.0));\n%sdn%d = dn;\n", in, c, in, c);
    put(k, "%spn%d = SEL(moves, normal, pn%d);\n", in, c, c);
    put(k, "%smost = larger(most, ABS(dn) * ", in);
    put_value(k, "", x->W[0][0], ");\n");
  }
  for (int i = 0; i < k->n && k->nc > 1; i++) {
    for (int r = 0; r < x->rows; r++) {
      if (!saltusi_line_is(&k->l, x->X[r][i], 0.0)) {
        put(k, "%sy%d = y%d + ", in, i, i);
        put_value(k, "", x->X[r][i], r == 0 ? " * dn;\n" : " * dt;\n");
      }
    }
  }
  put(k, "          }\n");
}

/* Velocities `to` with the impulses of all contacts: v_free + X P. */
static void put_velocities(saltusi_kernel_writer* k, const char* to, const char* indent) {
  for (int c = 0; c < k->nc; c++) {
    const saltusi_kernel_contact* x = &k->contacts[c];
    for (int i = 0; i < k->n; i++) {
      for (int r = 0; r < x->rows; r++) {
        if (!saltusi_line_is(&k->l, x->X[r][i], 0.0)) {
          put(k, "%s%s%d = %s%d + ", indent, to, i, to, i);
          put_value(k, "", x->X[r][i], "");
          put(k, " * p%s%d;\n", r == 0 ? "n" : "t", c);
        }
      }
    }
  }
}

/* Every sixteenth iteration extrapolates the impulses along their last change d, by the ratio d d' / d' d' of
 * successive changes; one that is constant up to rounding is extrapolated without a bound. Where redundant contacts
 * stick, impulses otherwise drift slowly to their cones. The step ends just outside of the next cone that it leaves. */
static void put_extrapolation(saltusi_kernel_writer* k) {
  const char* in = "            ";
  put(k, "          if ((pass & 15) == 15) {\n%sR along = K(0.0), square = K(0.0);\n", in);
  for (int i = 0; i < 2 * k->nc; i++) {
    const char row = i % 2 == 0 ? 'n' : 't';
    if (i % 2 < k->contacts[i / 2].rows) {
      put(k, "%salong = along + d%c%d * l%c%d;\n%ssquare = square + l%c%d * l%c%d;\n", in, row,
          i / 2, row, i / 2, in, row, i / 2, row, i / 2);
    }
  }
  put(k, "%sR most_p = K(0.0);\n", in);
  for (int c = 0; c < k->nc; c++) {
    put(k, "%smost_p = larger(most_p, pn%d);\n", in, c);
  }
  bool cones = true; /* at which all drifts end */
  for (int c = 0; c < k->nc; c++) {
    cones = cones && k->contacts[c].rows == 2;
  }
  put(k,
      "%sconst R ratio = along / square, noise = 0x1p-48 * most_p / ksqrt(square);\n"
      "%sconst R rest = larger(K(1.0) - ratio - noise, K(1e-15));\n"
      "%sconst B grows = more & (ratio > 0.5) & (ratio < 1.5)%s;\n"
      "%sR factor = SEL(grows, ratio / rest, K(0.0));\n",
      in, in, in, cones ? "" : " & (noise < 1e-3)", in);
  for (int c = 0; c < k->nc; c++) {
    if (k->contacts[c].rows == 2) {
      put(k, "%s{\n%s  const R mu = K(", in, in);
      put_value(k, "", k->mu[c], ");\n");
      for (int side = 0; side < 2; side++) { /* of the cone: pt below mu pn, and -pt */
        const char *less = side == 0 ? "-" : "+", *way = side == 0 ? "" : "-";
        put(k,
            "%s  const R inside%d = mu * pn%d %s pt%d, speed%d = %sdt%d - mu * dn%d;\n"
            "%s  const R reach%d = 1.001 * inside%d / speed%d;\n"
            "%s  factor = SEL((speed%d > 0.0) & (inside%d > 1e-9 * mu * pn%d) & "
            "(reach%d < factor), reach%d, factor);\n",
            in, side, c, less, c, side, way, c, c, in, side, side, side, in, side, side, c, side,
            side);
      }
      put(k, "%s}\n", in);
    }
    put(k,
        "%s{\n%s  const R reach = 0.5 * pn%d / ABS(dn%d);\n"
        "%s  factor = SEL((pn%d > 0.0) & (reach < factor), reach, factor);\n%s}\n",
        in, in, c, c, in, c, in);
  }
  for (int i = 0; i < 2 * k->nc; i++) {
    const char row = i % 2 == 0 ? 'n' : 't';
    if (i % 2 < k->contacts[i / 2].rows) {
      put(k, "%sp%c%d = p%c%d + SEL(grows, factor * d%c%d, K(0.0));\n", in, row, i / 2, row, i / 2,
          row, i / 2);
    }
  }
  for (int i = 0; i < k->n; i++) {
    put(k, "%sR new%d = z%d;\n", in, i, i);
  }
  put_velocities(k, "new", in);
  for (int i = 0; i < k->n; i++) {
    put(k, "%sy%d = SEL(more, new%d, y%d);\n", in, i, i, i);
  }
  put(k, "          }\n");
  for (int i = 0; i < 2 * k->nc; i++) {
    const char row = i % 2 == 0 ? 'n' : 't';
    put(k, "          l%c%d = d%c%d;\n", row, i / 2, row, i / 2);
  }
}

/* The contact problem: impulses pn, pt of active contacts and z = v_free + X P. */
static void put_contact_problem(saltusi_kernel_writer* k, const char* lanes) {
  put(k, "      if (any_lane(some)) {\n        R most_change = K(0.0);\n");
  for (int i = 0; i < k->n; i++) {
    put_value(k, "        most_change = larger(most_change, ABS(", k->free[i], " - ");
    put(k, "v%d));\n", i);
  }
  for (int c = 0; c < k->nc; c++) {
    int roots[4 + 4 * (4 + 2 * DIM)];
    write_roots(k, roots, contact_roots(k, c, roots), ALL_CLASSES, IN_CONTACTS, "        ");
    put(k, "        pn%d = SEL(%s, K(0.0), pn%d);\n", c, lanes, c);
    if (k->contacts[c].rows == 2) {
      put(k, "        pt%d = SEL(%s, K(0.0), pt%d);\n", c, lanes, c);
    }
  }
  for (int i = 0; i < k->n; i++) {
    put(k, "        R y%d = z%d;\n", i, i);
  }
  for (int c = 0; c < k->nc; c++) {
    put(k,
        "        R dn%d = K(0.0), dt%d = K(0.0), ln%d = K(0.0), lt%d = K(0.0);\n"
        "        (void)ln%d, (void)lt%d, (void)dn%d, (void)dt%d;\n",
        c, c, c, c, c, c, c, c);
  }
  put(k, "        B more = some & %s;\n        R size_u = K(0.0);\n", lanes);
  for (int i = 0; i < k->n; i++) {
    put(k, "        size_u = larger(size_u, ABS(z%d));\n", i);
  }
  if (k->nc > 1) {
    put(k, "        for (int pass = 0; pass < %d; pass++) {\n", SWEEPS);
  } else {
    put(k, "        {\n");
  }
  put(k, "          R most = K(0.0);\n");
  for (int c = 0; c < k->nc; c++) {
    put(k, "          {\n            const R pn = pn%d;\n            (void)pn;\n", c);
    if (k->contacts[c].rows == 2) {
      put(k, "            const R pt = pt%d;\n", c);
    }
    put_relaxation(k, c);
    put(k, "          }\n");
  }
  put(k, "          (void)most;\n");
  if (k->nc > 1) {
    put(k, "          more = more & several & (most > (pass < 64 ? 0x1p-49 : 0x1p-38) * size_u);\n"
           "          if (!any_lane(more)) {\n            break;\n          }\n");
    put_extrapolation(k);
    put(k, "        }\n        bad = bad | more;\n");
  } else {
    put(k, "        }\n");
  }
  put_velocities(k, "z", "        ");
  for (int c = 0; c < k->nc; c++) {
    const saltusi_kernel_contact* x = &k->contacts[c];
    put(k, "        hit%d = SELB(%s, act%d & (pn%d > 0.0) & (", c, lanes, c, c);
    put_value(k, "", x->u0[0], " < -2.0 * ");
    put_value(k, "", x->pushed, ") & (");
    put_value(k, "", x->u0[0], " < -1e-9 * most_change), ");
    put(k, "hit%d);\n", c);
  }
  put(k, "      }\n");
  saltusi_lines_close(&k->l, IN_CONTACTS);
}

static void put_pivots(saltusi_kernel_writer* k) {
  const saltusi_kernel_factors* const all[] = {&k->A, &k->joints};
  for (int f = 0; f < 2; f++) {
    for (int i = 0; i < all[f]->n; i++) {
      if (k->l.nodes[all[f]->inverse[i]].op != SALTUSI_CONSTANT) {
        put_value(k, "      bad = bad | NOT(ABS(", all[f]->inverse[i], " * ");
        put_value(k, "K(", all[f]->pivot_of[i], ")) < 1e10);\n");
      }
    }
  }
}

static void put_active(saltusi_kernel_writer* k) {
  const double gamma_h = k->o->gamma * k->def->settings->h;
  put(k, "      R size_q = K(1.0);\n");
  for (int i = 0; i < k->n; i++) {
    put(k, "      size_q = larger(size_q, ABS(q%d));\n", i);
  }
  put(k, "      const R rounding = %a * size_q;\n", 16.0 * 0x1p-52);
  for (int c = 0; c < k->nc; c++) {
    put(k, "      const B act%d = (", c);
    put_value(k, "", k->gap[c], "");
    if (gamma_h != 0.0) {
      put(k, " + %a * ", gamma_h);
      put_value(k, "", k->rate[c], "");
    }
    put(k, " <= rounding);\n");
  }
  put(k, "      const B some = NOT(bad) & (act0");
  for (int c = 1; c < k->nc; c++) {
    put(k, " | act%d", c);
  }
  put(k, ");\n      R active = SEL(act0, K(1.0), K(0.0));\n");
  for (int c = 1; c < k->nc; c++) {
    put(k, "      active = active + SEL(act%d, K(1.0), K(0.0));\n", c);
  }
  put(k, "      const B several = active > 1.0;\n      const R any_active = SEL(some, K(1.0), "
         "K(0.0));\n      (void)several, (void)any_active;\n");
  for (int c = 0; c < k->nc; c++) {
    put(k,
        "      R pn%d = K(0.0), pt%d = K(0.0);\n      B hit%d = pn%d > 1.0;\n      (void)pt%d;\n",
        c, c, c, c, c);
  }
}

static void put_free(saltusi_kernel_writer* k, const char* indent) {
  for (int i = 0; i < k->n; i++) {
    put(k, "%sR z%d = K(", indent, i);
    put_value(k, "", k->held[i], ");\n");
  }
}

static void put_newton_end(saltusi_kernel_writer* k) {
  const double tol = k->o->newton_tol;
  put(k, "      R change = K(0.0), size = K(0.0);\n");
  for (int i = 0; i < k->n; i++) {
    put(k, "      change = larger(change, ABS(z%d - w%d));\n", i, i);
    put(k, "      size = larger(size, larger(ABS(v%d), ABS(z%d)));\n", i, i);
    put_value(k, "      size = larger(size, ABS(", k->free[i], "));\n");
    put(k, "      bad = bad | (go & NOT(z%d - z%d == 0.0));\n", i, i);
  }
  put(k, "      const R least = larger(%a * size, %a * size_all);\n", 1e4 * tol,
      4.0 * 0x1p-52 / k->def->settings->h);
  put(k,
      "      const B done = (change <= %a * size) | ((change >= last) & (change <= least) & "
      "(K((double)pass_n) > 1.0));\n",
      tol);
  for (int i = 0; i < k->n; i++) {
    put(k, "      w%d = SEL(go, z%d, w%d);\n", i, i, i);
  }
  put(k, "      last = change;\n      go = go & NOT(done) & NOT(bad);\n"
         "      if (!any_lane(go)) {\n        break;\n      }\n      }\n      bad = bad | go;\n");
}

static void put_step(saltusi_kernel_writer* k) {
  int roots[MATRIX_ROOTS];
  const int count = matrix_roots(k, roots);
  int near[2 * CONTACTS];
  for (int c = 0; c < k->nc; c++) {
    near[2 * c] = k->gap[c];
    near[2 * c + 1] = k->o->gamma != 0.0 ? k->rate[c] : k->gap[c];
  }
  write_roots(k, near, 2 * k->nc, ALL_CLASSES, IN_STEP, "      ");
  if (k->nc > 0) {
    put_active(k);
  }
  write_roots(k, roots, count, SALTUSI_LINE_MEMBER | SALTUSI_LINE_STEP, IN_STEP, "      ");
  if (k->once) {
    put_pivots(k);
    put_free(k, "      ");
    if (k->nc > 0) {
      put_contact_problem(k, "NOT(bad)");
    }
    return;
  }
  put(k, "      R size_all = K(0.0);\n");
  for (int i = 0; i < k->n; i++) {
    put(k, "      size_all = larger(size_all, ABS(q%d));\n      R w%d = v%d;\n", i, i, i);
  }
  put(k,
      "      R last = K(0.0);\n      B go = NOT(bad);\n"
      "      for (int pass_n = 0; pass_n < %d; pass_n++) {\n",
      k->o->newton_max);
  write_roots(k, roots, count, ALL_CLASSES, IN_ITERATION, "      ");
  put_pivots(k);
  put_free(k, "      ");
  if (k->nc > 0) {
    put_contact_problem(k, "go");
  }
  put_newton_end(k);
  saltusi_lines_close(&k->l, IN_ITERATION);
}

/* ---- measures ---- */

static const char* fold_text(saltusi_fold fold) {
  switch (fold) {
  case SALTUSI_FOLD_MAX:
    return "s%d = SEL((s%d >= now) & (now == now), s%d, now);\n";
  case SALTUSI_FOLD_MIN:
    return "s%d = SEL((s%d <= now) & (now == now), s%d, now);\n";
  case SALTUSI_FOLD_LAST:
    return "s%d = now;\n";
  case SALTUSI_FOLD_RMS:
    return "s%d = s%d + half_h * (p%d * p%d + now * now);\n";
  default:
    return "s%d = s%d + half_h * (p%d + now);\n";
  }
}

static void put_function(saltusi_kernel_writer* k, int i, saltusi_fold fold, int node) {
  put(k, "      {\n        const R now = K(");
  put_value(k, "", node, ");\n        bad = bad | (now != now);\n        ");
  if (fold != SALTUSI_FOLD_FIRST) {
    char text[128];
    saltusi_print(text, sizeof text, fold_text(fold), i, i, i, i);
    put(k, "%s", text);
  }
  put(k, "        p%d = now;\n      }\n", i);
}

static void put_event(saltusi_kernel_writer* k, int i, const saltusi_item* item) {
  for (int c = 0; c < k->nc; c++) {
    if (item->place >= 0 && item->place != c) {
      continue;
    }
    put(k, "      p%d = p%d + SEL(hit%d, K(1.0), K(0.0));\n", i, i, c);
    if (item->fold == SALTUSI_FOLD_COUNT) {
      put(k, "      s%d = p%d;\n", i, i);
    } else if (item->which < 0) {
      put(k, "      s%d = SEL(hit%d, t1, s%d);\n", i, c, i);
    } else {
      put(k, "      s%d = SEL(hit%d & (p%d == %lld.0), t1, s%d);\n", i, c, i, item->which, i);
    }
  }
}

int saltusi_kernel_output(const saltusi_kernel_writer* k, const saltusi_item* item) {
  assert(k != NULL && item != NULL);
  const saltus_observables* o = saltusi_kernel_observables(k->def->view);
  char name[200];
  saltusi_item_label(item, name, sizeof name);
  for (int i = 0; o != NULL && i < o->output_count; i++) {
    if (strcmp(o->output_labels[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static void put_measures(saltusi_kernel_writer* k, const int* outputs, const int* gaps) {
  const saltusi_measures* m = k->def->measures;
  for (int i = 0; i < m->item_count; i++) {
    const saltusi_item* item = &m->items[i];
    if (item->subject == SALTUSI_OF_EVENTS) {
      put_event(k, i, item);
      continue;
    }
    const int node = item->subject == SALTUSI_OF_GAP ? gaps[item->place]
                                                     : outputs[saltusi_kernel_output(k, item)];
    write_roots(k, &node, 1, ALL_CLASSES, IN_STEP, "      ");
    put_function(k, i, item->fold, node);
  }
}

/* ---- the function ---- */

static void put_load(saltusi_kernel_writer* k) {
  for (int i = 0; i < k->layout.inputs; i++) {
    put(k, "    const R u%d = load(in + %dL * n + at);\n    (void)u%d;\n", i, i, i);
  }
  for (int i = 0; i < k->n; i++) {
    put(k, "    R q%d = load(state + %dL * n + at), v%d = load(state + %dL * n + at);\n", i,
        k->layout.q + i, i, k->layout.v + i);
  }
  put(k, "    B bad = load(state + %dL * n + at) != 0.0;\n", k->layout.bad);
  for (int i = 0; i < k->def->measures->item_count; i++) {
    put(k, "    R s%d = load(state + %dL * n + at), p%d = load(state + %dL * n + at);\n", i,
        k->layout.items + 2 * i, i, k->layout.items + 2 * i + 1);
  }
}

static void put_store(saltusi_kernel_writer* k) {
  for (int i = 0; i < k->n; i++) {
    put(k, "    bad = bad | NOT(q%d - q%d == 0.0) | NOT(v%d - v%d == 0.0);\n", i, i, i, i);
  }
  for (int i = 0; i < k->n; i++) {
    put(k, "    store(state + %dL * n + at, q%d);\n    store(state + %dL * n + at, v%d);\n",
        k->layout.q + i, i, k->layout.v + i, i);
  }
  put(k, "    store(state + %dL * n + at, SEL(bad, K(1.0), K(0.0)));\n", k->layout.bad);
  for (int i = 0; i < k->def->measures->item_count; i++) {
    put(k, "    store(state + %dL * n + at, s%d);\n    store(state + %dL * n + at, p%d);\n",
        k->layout.items + 2 * i, i, k->layout.items + 2 * i + 1, i);
  }
}

void saltusi_kernel_text(saltusi_kernel_writer* k) {
  assert(k != NULL && k->out != NULL);
  const saltus_run_settings* s = k->def->settings;
  const double theta = k->o->theta;
  const saltus_observables* o = saltusi_kernel_observables(k->def->view);
  const saltusi_program* p = o != NULL ? saltusi_formula_observer_outputs(o->self) : NULL;
  int a[DIM], b[DIM], roots[MATRIX_ROOTS];
  for (int i = 0; i < k->n; i++) {
    a[i] = saltusi_line_leaf(&k->l, "a", i, SALTUSI_LINE_STEP);
    b[i] = saltusi_line_leaf(&k->l, "b", i, SALTUSI_LINE_STEP);
  }
  const int t1 = saltusi_line_leaf(&k->l, "t1", -1, SALTUSI_LINE_STEP);
  const int* outputs = p != NULL ? saltusi_kernel_nodes(k, p, t1, a, b) : NULL;
  const int* gaps = k->nc > 0 ? saltusi_kernel_nodes(k, &k->m->gaps, t1, a, b) : NULL;
  put(k, "KERNEL void saltus_members(GLOBAL const double* in, GLOBAL double* state, long n, double "
         "first,\n                           long steps) {\n  ONE_LANE {\n");
  put_load(k);
  write_roots(k, roots, matrix_roots(k, roots), SALTUSI_LINE_MEMBER, IN_MEMBER, "    ");
  for (int c = 0; c < k->nc; c++) {
    int all[4 + 4 * (4 + 2 * DIM)];
    write_roots(k, all, contact_roots(k, c, all), SALTUSI_LINE_MEMBER, IN_MEMBER, "    ");
  }
  put(k,
      "    for (long step = 0; step < steps; step++) {\n"
      "      const R t = K(%a + (first + (double)step) * %a);\n      (void)t;\n",
      s->start, s->h);
  put_step(k);
  const char* const end = k->once ? "z" : "w";
  for (int i = 0; i < k->n; i++) {
    put(k, "      const R a%d = q%d + %a * (%a * v%d + %a * %s%d), b%d = %s%d;\n", i, i, s->h,
        1.0 - theta, i, theta, end, i, i, end, i);
  }
  put(k,
      "      const R t1 = K(%a + (first + (double)(step + 1)) * %a), half_h = 0.5 * (t1 - t);\n"
      "      (void)half_h;\n",
      s->start, s->h);
  put_measures(k, outputs, gaps);
  for (int i = 0; i < k->n; i++) {
    put(k, "      q%d = a%d;\n      v%d = b%d;\n", i, i, i, i);
  }
  put(k, "    }\n");
  put_store(k);
  put(k, "  }\n}\n");
}
