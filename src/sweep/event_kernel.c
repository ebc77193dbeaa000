/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_kernel.c - members of scenes that are integrated to a tolerance: functions of the model for
 * event_kernel_step.c.in.
 *
 *   rates        a = M^-1 F + X l,  X = M^-1 G,  l = -(G M^-1 F + c) / G^T X of the closed contact
 *   all_gaps     g and U = G^T v + b of each contact
 *   contact_at   g, U, W = G^T X and X of a contact; its acceleration G^T M^-1 F + c while it is open
 *   measure      function i of the measures
 */
#include "sweep/kernel_writer.h"

#include "base/number.h"
#include "saltus/adaptive.h"

#include <assert.h>
#include <string.h>

enum { IN_FUNCTION = 1, IN_CONTACT };

enum { ALL_CLASSES = SALTUSI_LINE_MEMBER | SALTUSI_LINE_STEP | SALTUSI_LINE_ITERATION };

/* Nodes of the free motion from which on the C compiler inlines neither the model nor the parts of a trial step: it would
 * take seconds. */
enum { LARGE = 60 };

#define put saltusi_kernel_put
#define put_value saltusi_kernel_put_value

const char* saltusi_event_kernel_reason(const saltusi_kernel_def* def) {
  assert(def != NULL);
  const saltus_system* sys = def->view->system;
  const saltus_formula_model* m = sys->self;
  if (def->view->global || def->view->atol_q != NULL || def->view->atol_v != NULL) {
    return "global tolerances and tolerances of single coordinates are not compiled";
  }
  if (m->switch_count > 0) {
    return "forces with branches are not compiled for schemes with a tolerance";
  }
  for (int c = 0; c < sys->dims.nc; c++) {
    const saltus_contact_law* law = &sys->laws[c];
    if (law->tangents > 0 && (law->mu != 0.0 || saltusi_formula_member_law(m, c, 0) != NULL)) {
      return "friction is not compiled for schemes with a tolerance";
    }
  }
  return NULL;
}

static bool is_kink(unsigned op) {
  return op == SALTUSI_ABS || op == SALTUSI_SIGN || op == SALTUSI_MIN || op == SALTUSI_MAX ||
         op == SALTUSI_SELECT;
}

/* Whether a node is made of functions with kinks, at which quadrature rules lose their order. */
static bool has_kinks(saltusi_kernel_writer* k, int node) {
  bool* kinks = SALTUSI_TAKE(&k->pool, bool, node + 1);
  for (int i = 0; kinks != NULL && i <= node; i++) { /* operands are older */
    const saltusi_line_node* n = &k->l.nodes[i];
    const int operands[] = {n->a, n->b, n->c};
    kinks[i] = is_kink(n->op);
    for (int j = 0; j < 3; j++) {
      kinks[i] = kinks[i] || (operands[j] >= 0 && kinks[operands[j]]);
    }
  }
  return kinks == NULL || kinks[node];
}

static void write_roots(saltusi_kernel_writer* k, const int* roots, int count, int scope,
                        const char* indent) {
  saltusi_lines_write(&k->l, k->out, roots, (size_t)count, ALL_CLASSES, scope, indent);
}

/* Nodes of M^-1 F in k->free and of the factors of M. */
static void free_motion(saltusi_kernel_writer* k) {
  const int* M = saltusi_kernel_nodes(k, &k->m->mass, k->t, k->q, k->v);
  const int* F = saltusi_kernel_nodes(k, &k->m->force, k->t, k->q, k->v);
  k->A.n = k->n;
  memcpy(k->A.L, M, (size_t)(k->n * k->n) * sizeof(int));
  memcpy(k->free, F, (size_t)k->n * sizeof(int));
  if (!k->l.failed) {
    saltusi_kernel_eliminate(k, &k->A);
    saltusi_kernel_solve(k, &k->A, k->free);
  }
}

/* Contact c: row G, X, W, velocity and the acceleration of its open gap. */
typedef struct contact_nodes {
  int X[DIM], W, gap, rate, gamma;
} contact_nodes;

static contact_nodes nodes_of(saltusi_kernel_writer* k, int c) {
  contact_nodes x = {.W = 0};
  const saltusi_formula_rows* rows = &k->m->contacts[c];
  int G[2][DIM] = {{0}}, b[2] = {0};
  const int* gaps = saltusi_kernel_nodes(k, &k->m->gaps, k->t, k->q, k->v);
  const int* bent =
      rows->bent ? saltusi_kernel_nodes(k, &rows->convective, k->t, k->q, k->v) : NULL;
  saltusi_kernel_rows(k, c, 1, k->t, k->q, G, b);
  if (k->l.failed) {
    return x;
  }
  x.gap = gaps[c];
  x.rate = saltusi_line_add(&k->l, saltusi_line_dot(&k->l, k->n, G[0], k->v), b[0]);
  memcpy(x.X, G[0], sizeof x.X);
  saltusi_kernel_solve(k, &k->A, x.X);
  x.W = saltusi_line_dot(&k->l, k->n, G[0], x.X);
  x.gamma = saltusi_line_dot(&k->l, k->n, G[0], k->free);
  x.gamma = bent != NULL ? saltusi_line_add(&k->l, x.gamma, bent[0]) : x.gamma;
  return x;
}

static void put_rates(saltusi_kernel_writer* k) {
  put(k,
      "OUTLINE void rates(const R* u, R t, const R* q, const R* v, R closed, R* a) {\n  (void)u, "
      "(void)t, (void)q, (void)v, (void)closed;\n");
  write_roots(k, k->free, k->n, IN_FUNCTION, "  ");
  for (int i = 0; i < k->n; i++) {
    put(k, "  R a%d = K(", i);
    put_value(k, "", k->free[i], ");\n");
  }
  for (int c = 0; c < k->nc; c++) {
    const contact_nodes x = nodes_of(k, c);
    int roots[DIM + 2] = {x.W, x.gamma};
    memcpy(roots + 2, x.X, (size_t)k->n * sizeof(int));
    put(k, "  if (any_lane(closed == %d.0)) {\n", c);
    write_roots(k, roots, k->n + 2, IN_CONTACT, "    ");
    put(k, "    const R l = SEL(closed == %d.0, ", c);
    put_value(k, "-K(", x.gamma, ")");
    put_value(k, " / K(", x.W, "), K(0.0));\n");
    for (int i = 0; i < k->n; i++) {
      put(k, "    a%d = a%d + ", i, i);
      put_value(k, "K(", x.X[i], ") * l;\n");
    }
    put(k, "  }\n");
    saltusi_lines_close(&k->l, IN_CONTACT);
  }
  for (int i = 0; i < k->n; i++) {
    put(k, "  a[%d] = a%d;\n", i, i);
  }
  put(k, "}\n\n");
  saltusi_lines_close(&k->l, IN_FUNCTION);
}

static void put_all_gaps(saltusi_kernel_writer* k) {
  put(k, "OUTLINE void all_gaps(const R* u, R t, const R* q, const R* v, R* g, R* r) {\n  (void)u, "
         "(void)t, (void)v;\n");
  for (int c = 0; c < k->nc; c++) {
    const contact_nodes x = nodes_of(k, c);
    const int roots[] = {x.gap, x.rate};
    write_roots(k, roots, 2, IN_FUNCTION, "  ");
    put(k, "  g[%d] = ", c);
    put_value(k, "K(", x.gap, ");\n");
    put(k, "  r[%d] = ", c);
    put_value(k, "K(", x.rate, ");\n");
  }
  put(k, "}\n\n");
  saltusi_lines_close(&k->l, IN_FUNCTION);
}

static void put_contact_at(saltusi_kernel_writer* k) {
  put(k,
      "OUTLINE R contact_at(const R* u, R c, R t, const R* q, const R* v, R* gap, R* rate, R* W, "
      "R* x) {\n  R gamma = K(0.0);\n  *gap = K(0.0);\n  *rate = K(0.0);\n  *W = K(1.0);\n");
  for (int i = 0; i < k->n; i++) {
    put(k, "  x[%d] = K(0.0);\n", i);
  }
  for (int c = 0; c < k->nc; c++) {
    const contact_nodes x = nodes_of(k, c);
    const int values[] = {x.gap, x.rate, x.W, x.gamma};
    static const char* const names[] = {"*gap", "*rate", "*W", "gamma"};
    put(k, "  if (any_lane(c == %d.0)) {\n", c);
    write_roots(k, values, 4, IN_CONTACT, "    ");
    write_roots(k, x.X, k->n, IN_CONTACT, "    ");
    for (int i = 0; i < 4; i++) {
      put(k, "    %s = SEL(c == %d.0, ", names[i], c);
      put_value(k, "K(", values[i], "), ");
      put(k, "%s);\n", names[i]);
    }
    for (int i = 0; i < k->n; i++) {
      put(k, "    x[%d] = SEL(c == %d.0, ", i, c);
      put_value(k, "K(", x.X[i], "), ");
      put(k, "x[%d]);\n", i);
    }
    put(k, "  }\n");
    saltusi_lines_close(&k->l, IN_CONTACT);
  }
  put(k, "  return gamma;\n}\n\nFN R restitution(const R* u, R c) {\n  R e = K(0.0);\n");
  for (int c = 0; c < k->nc; c++) {
    put(k, "  e = SEL(c == %d.0, ", c);
    put_value(k, "K(", k->e_N[c], "), e);\n");
  }
  put(k, "  return e;\n}\n\n");
}

/* ---- measures ---- */

static void put_note(saltusi_kernel_writer* k, const char* name, int kind) {
  const saltusi_measures* m = k->def->measures;
  put(k,
      "FN void note_%s(B which, R contact, R when, R* S, R* P) {\n"
      "  (void)which, (void)contact, (void)when, (void)S, (void)P;\n",
      name);
  for (int i = 0; i < m->item_count; i++) {
    const saltusi_item* item = &m->items[i];
    if (item->subject != SALTUSI_OF_EVENTS || item->kind != kind) {
      continue;
    }
    put(k, "  {\n    const B here = which");
    if (item->place >= 0) {
      put(k, " & (contact == %d.0)", item->place);
    }
    put(k, ";\n    P[%d] = P[%d] + SEL(here, K(1.0), K(0.0));\n", i, i);
    if (item->fold == SALTUSI_FOLD_COUNT) {
      put(k, "    S[%d] = P[%d];\n", i, i);
    } else if (item->which < 0) {
      put(k, "    S[%d] = SEL(here, when, S[%d]);\n", i, i);
    } else {
      put(k, "    S[%d] = SEL(here & (P[%d] == %lld.0), when, S[%d]);\n", i, i, item->which, i);
    }
    put(k, "  }\n");
  }
  put(k, "}\n\n");
}

static const char* see_name(saltusi_fold fold) {
  return fold == SALTUSI_FOLD_MAX    ? "MAX"
         : fold == SALTUSI_FOLD_MIN  ? "MIN"
         : fold == SALTUSI_FOLD_LAST ? "LAST"
         : fold == SALTUSI_FOLD_RMS  ? "RMS"
                                     : "SUM";
}

static void put_measures(saltusi_kernel_writer* k) {
  const saltusi_measures* m = k->def->measures;
  const saltus_observables* o = saltusi_kernel_observables(k->def->view);
  const saltusi_program* p = o != NULL ? saltusi_formula_observer_outputs(o->self) : NULL;
  const int* outputs = p != NULL ? saltusi_kernel_nodes(k, p, k->t, k->q, k->v) : NULL;
  const int* gaps = k->nc > 0 ? saltusi_kernel_nodes(k, &k->m->gaps, k->t, k->q, k->v) : NULL;
  int functions = 0;
  put(k, "FN R measure(int i, const R* u, R t, const R* q, const R* v) {\n  (void)u, (void)t, "
         "(void)q, (void)v;\n");
  for (int i = 0; i < m->item_count && !k->l.failed; i++) {
    const saltusi_item* item = &m->items[i];
    if (item->subject == SALTUSI_OF_EVENTS) {
      continue;
    }
    const int node = item->subject == SALTUSI_OF_GAP ? gaps[item->place]
                                                     : outputs[saltusi_kernel_output(k, item)];
    const bool sums = strcmp(see_name(item->fold), "SUM") == 0 || item->fold == SALTUSI_FOLD_RMS;
    k->kinks = k->kinks || (sums && item->fold != SALTUSI_FOLD_FIRST && has_kinks(k, node));
    put(k, "  if (i == %d) {\n", i);
    write_roots(k, &node, 1, IN_FUNCTION, "    ");
    put_value(k, "    return K(", node, ");\n  }\n");
    saltusi_lines_close(&k->l, IN_FUNCTION);
    functions++;
  }
  put(k, "  return K(0.0);\n}\n\n#define FUNCTIONS %d\n#define SEE_ITEMS", functions);
  for (int i = 0; i < m->item_count; i++) {
    if (m->items[i].subject != SALTUSI_OF_EVENTS && m->items[i].fold != SALTUSI_FOLD_FIRST) {
      put(k, " SEE_%s(%d)", see_name(m->items[i].fold), i);
    }
  }
  put(k, "\n\n");
  put_note(k, "impact", SALTUS_EVENT_IMPACT);
  put_note(k, "accumulation", SALTUS_EVENT_ACCUMULATION);
}

/* ---- all ---- */

static void put_sizes(saltusi_kernel_writer* k) {
  const saltusi_kernel_layout* l = &k->layout;
  const saltus_adaptive_options* o = k->def->settings->options;
  const struct {
    const char* name;
    int value;
  } numbers[] = {{"N", k->n},
                 {"NC", k->nc},
                 {"INPUTS", l->inputs},
                 {"ITEMS", k->def->measures->item_count},
                 {"ROW_BAD", l->bad},
                 {"ROW_ITEMS", l->items},
                 {"ROW_EVENT", l->event},
                 {"ROW_PENDING", l->pending}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    put(k, "#define %s %d\n", numbers[i].name, numbers[i].value);
  }
  put(k,
      "#define RTOL %a\n#define ATOL_Q %a\n#define ATOL_V %a\n#define H_MAX %a\n#define H_FIRST "
      "%a\n",
      o->rtol, o->atol, o->atol_velocity > 0.0 ? o->atol_velocity : o->atol, o->h_max, o->h_first);
  /* part of the tolerance of a step; |gap| where an event is located, and rebound times rest time of an accumulation
   * that is closed, in tolerances of positions; trial steps of a member */
  put(k, "#define PART 0.5\n#define NEAR 1e-3\n#define CLOSING 0.01\n#define TRIES 1e6\n");
  if (k->n <= 2) { /* registers for four blocks: 6.4e6 in place of 5.7e6 oscillators/s on an H200 */
    put(k, "#if defined(__CUDACC__)\n#undef KERNEL\n#define KERNEL extern \"C\" __global__ "
           "__launch_bounds__(128, 4)\n#endif\n");
  }
  put(k, "#if defined(__CUDACC__)\n#define EACH(i, n) _Pragma(\"unroll\") for (int i = 0; i < (n); "
         "i++)\n#elif defined(__OPENCL_VERSION__)\n#define EACH(i, n) for (int i = 0; i < (n); "
         "i++)\n#else\n#define EACH(i, n) _Pragma(\"GCC unroll 16\") for (int i = 0; i < (n); "
         "i++)\n#endif\n");
}

void saltusi_event_kernel_text(saltusi_kernel_writer* k) {
  assert(k != NULL && k->out != NULL && k->n <= DIM && k->nc <= CONTACTS);
  assert(k->layout.pending == k->layout.event + SALTUSI_KERNEL_EVENT + k->n);
  free_motion(k);
  put_sizes(k);
  put(k,
      "#if defined(__CUDACC__) || defined(__OPENCL_VERSION__)\n#define RARE FN\n#else\n"
      "#define RARE static __attribute__((noinline))\n#endif\n"
      "#if %d\n#define OUTLINE FN\n#else\n#define OUTLINE RARE\n#endif\n",
      k->l.count < LARGE);
  put_rates(k);
  if (k->nc > 0) {
    put_all_gaps(k);
    put_contact_at(k);
  }
  put_measures(k);
  saltusi_bytes_text(k->out, saltusi_event_kernel_step);
}
