/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * compare.c - see compare.h: checks of comparability, creation and destruction of a comparison.
 */
#include "base/log.h"
#include "base/reserved.h"
#include "compare_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

saltus_compare_def saltus_compare_def_default(void) {
  return (saltus_compare_def){.match = 0.0};
}

static saltus_status refuse(const saltus_compare_def* def, const char* text) {
  saltusi_log(def->log, SALTUS_LEVEL_ERROR, "the recordings cannot be compared: %s", text);
  return SALTUS_ERR_INPUT;
}

/* The next line of a scene that is not a replaced parameter; its length in *length. */
static const char* next_line(const char* text, size_t* length) {
  static const char mark[] = "# --set ";
  *length = strcspn(text, "\n");
  while (strncmp(text, mark, sizeof mark - 1) == 0) {
    text += *length + (text[*length] == '\n');
    *length = strcspn(text, "\n");
  }
  return text;
}

/* Whether two scenes differ only in values of replaced parameters. */
static bool same_scenes(const char* a, const char* b) {
  for (;;) {
    size_t na, nb;
    a = next_line(a, &na);
    b = next_line(b, &nb);
    if (na != nb || memcmp(a, b, na) != 0) {
      return false;
    }
    a += na + (a[na] == '\n');
    b += nb + (b[nb] == '\n');
    if (*a == '\0' || *b == '\0') {
      size_t ra, rb;
      return *next_line(a, &ra) == '\0' && *next_line(b, &rb) == '\0';
    }
  }
}

static bool same_names(const saltus_label* a, const saltus_label* b, int n) {
  bool same = (a == NULL) == (b == NULL);
  for (int i = 0; i < n && same && a != NULL; i++) {
    same = strcmp(a[i].name, b[i].name) == 0;
  }
  return same;
}

static saltus_status check(const saltus_compare_def* def) {
  const saltus_recording_data* a = def->a;
  const saltus_recording_data* b = def->b;
  if (!(def->match >= 0.0 && def->match < INFINITY)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "compare: match is %g, must be finite and not negative", def->match);
    return SALTUS_ERR_RANGE;
  }
  if (!def->any && !same_scenes(a->scene, b->scene)) {
    return refuse(def, "they are of different scenes");
  }
  if (a->nq != b->nq || a->nv != b->nv || a->changing != b->changing || a->nc != b->nc ||
      !same_names(a->q_labels, b->q_labels, a->nq) ||
      !same_names(a->v_labels, b->v_labels, a->nv)) {
    return refuse(def, "their coordinates or contacts are not the same");
  }
  const saltus_system* s = def->system;
  if (s != NULL && (s->dims.nq != a->nq || s->dims.nv != a->nv)) {
    return refuse(def, "the scene has other coordinates");
  }
  if (a->count < 1 || b->count < 1 || (a->nq > 0 && (a->q == NULL || b->q == NULL)) ||
      (a->nv > 0 && (a->v == NULL || b->v == NULL))) {
    return refuse(def, "one of them has no states");
  }
  for (int k = 0; k < 2; k++) {
    const saltus_recording_data* d = k == 0 ? a : b;
    for (long long i = 0; i < d->count; i++) {
      if (!isfinite(d->t[i]) || (i > 0 && d->t[i] < d->t[i - 1])) {
        return refuse(def, "the time of one of them does not run forwards");
      }
    }
  }
  if (!(fmax(a->t[0], b->t[0]) < fmin(a->t[a->count - 1], b->t[b->count - 1]))) {
    return refuse(def, "they have no time in common");
  }
  return SALTUS_OK;
}

saltus_status saltus_compare(const saltus_compare_def* def, saltus_comparison** out) {
  assert(def != NULL && out != NULL && def->a != NULL && def->b != NULL);
  *out = NULL;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_compare_def", def->log);
  status = status == SALTUS_OK ? check(def) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_pool pool = saltusi_pool_over(def->allocator);
  saltusi_comparison* c = SALTUSI_TAKE(&pool, saltusi_comparison, 1);
  if (c == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  c->pool = pool;
  c->allocator = pool.allocator;
  c->def = *def;
  c->out.nq = def->a->nq;
  c->out.nv = def->a->nv;
  c->out.start = fmax(def->a->t[0], def->b->t[0]);
  c->out.end = fmin(def->a->t[def->a->count - 1], def->b->t[def->b->count - 1]);
  status = saltusi_compare_motions(c);
  status = status == SALTUS_OK ? saltusi_compare_events(c) : status;
  if (status != SALTUS_OK) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "the recordings cannot be compared: %s",
                saltus_status_text(status));
    saltus_comparison_destroy(&c->out);
    return status;
  }
  *out = &c->out;
  return SALTUS_OK;
}

void saltus_comparison_destroy(saltus_comparison* comparison) {
  if (comparison != NULL) {
    saltusi_comparison* c = (saltusi_comparison*)(void*)comparison; /* its first member */
    saltusi_pool pool = c->pool;
    saltusi_pool_free(&pool);
  }
}
