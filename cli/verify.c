/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * verify.c - saltus verify: verification of a recording, independent of the code that computed it.
 */
#include "verify.h"

#include "output.h"
#include "saltus/saltus.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Location of the worst value of an item as text: "of y at t = 0.2 s". */
static void print_place(const saltus_verify_result* r, const saltus_recording_data* data) {
  char line[256];
  if (r->has_contact && data->changing) {
    const char* law = r->law < data->law_count ? data->law_names[r->law] : "";
    printf(", contact %" PRIu64 " (%s)", r->identity, cli_one_line(law, line, sizeof line));
  } else if (r->has_contact && r->identity < (uint64_t)data->nc) {
    printf(", contact %s", cli_one_line(data->contact_names[r->identity], line, sizeof line));
  } else if (r->place >= 0 && r->place < data->nv &&
             (strcmp(r->name, "momentum") == 0 || strcmp(r->name, "positions") == 0 ||
              strcmp(r->name, "impact momentum") == 0)) {
    printf(", %s", cli_one_line(data->v_labels[r->place].name, line, sizeof line));
  }
  printf(" at t = %.6g s (frame %lld)", r->t, r->frame);
}

static void print_item(const saltus_verify_result* r, const cli_certificate* made) {
  const saltus_recording_data* data = made->data;
  if (r->checked == 0 && !made->every_step && r->skipped > 0) {
    printf("  %-16s -       not checked: needs every step\n", r->name);
    return;
  }
  if (r->checked == 0) {
    printf("  %-16s -       not checked: the run has nothing of this kind\n", r->name);
    return;
  }
  printf("  %-16s %s %10.3g of %.3g %s", r->name, r->passed ? "holds  " : "FAILS  ", r->value,
         r->limit, r->unit);
  if (r->value > 0.0 || !r->passed) {
    print_place(r, data);
  }
  if (r->failures > 0) {
    printf("; %lld of %lld places", r->failures, r->checked);
  }
  printf("\n");
}

/* A recording of a failed or stopped run can be valid, but is not complete. */
static bool is_whole(const saltus_recording_data* data) {
  return strcmp(data->status, "complete") == 0;
}

static void print_tolerances(const saltus_certificate* c) {
  if (c->granted[0] > 0.0 || c->granted[1] > 0.0) {
    printf("  claimed rtol = %g, atol = %g; granted rtol = %g, atol = %g\n", c->claimed[0],
           c->claimed[1], c->granted[0], c->granted[1]);
  } else {
    printf("  claimed no tolerance; limits follow from the step lengths\n");
  }
}

void cli_certificate_print(const cli_certificate* made) {
  const saltus_certificate* c = &made->certificate;
  const saltus_recording_data* data = made->data;
  printf("Certificate of %s: %s\n", made->path,
         !c->passed          ? "FAILS"
         : !made->every_step ? "not certified; record with --certify"
         : !is_whole(data)   ? "all checked items hold, but the run is incomplete"
         : !c->complete      ? "all checked items hold, but not over the whole time"
                             : "passes");
  printf("  %lld frames from t = %g s to %g s by %s (%s)\n", data->count, data->t[0],
         data->t[data->count - 1], data->scheme, data->options);
  print_tolerances(c);
  if (!is_whole(data)) {
    printf("  the run itself is not complete, status %s\n", data->status);
  }
  for (int i = 0; i < SALTUS_VERIFY_ITEMS; i++) {
    print_item(&c->items[i], made);
  }
  if (!made->every_step) {
    printf("  the recording lacks steps or their midpoints: not all of the time was checked\n");
    return;
  }
  printf("  motion recomputed over %.6g of %.6g s, sums of forces and impulses compared over "
         "%.6g s",
         c->followed, c->span, c->balanced);
  printf("%s%s\n", c->unfollowed[0] != '\0' ? "; " : "", c->unfollowed);
  printf("  no contact of separated bodies can have been missed over %.6g of %.6g s\n", c->clear,
         c->span);
  if (c->exempt > 0) {
    printf("  %lld impacts are exempt from their law, by reported reasons that were verified\n",
           c->exempt);
  }
}

static void json_item(json* j, const saltus_verify_result* r, const saltus_recording_data* data) {
  json_open(j, NULL, '{');
  json_text(j, "name", r->name);
  json_text(j, "says", r->doc);
  json_bool(j, "passed", r->passed);
  json_integer(j, "checked", r->checked);
  json_integer(j, "skipped", r->skipped);
  json_integer(j, "failures", r->failures);
  json_number(j, "value", r->checked > 0 ? r->value : NAN);
  json_number(j, "limit", r->checked > 0 ? r->limit : NAN);
  json_text(j, "unit", r->unit);
  json_number(j, "t", r->t);
  json_integer(j, "frame", r->frame);
  if (r->has_contact && data->changing) {
    json_text(j, "contact", r->law < data->law_count ? data->law_names[r->law] : "");
  } else if (r->has_contact && r->identity < (uint64_t)data->nc) {
    json_text(j, "contact", data->contact_names[r->identity]);
  }
  json_close(j, '}');
}

void cli_certificate_json(json* j, const char* key, const cli_certificate* made) {
  const saltus_certificate* c = &made->certificate;
  const saltus_recording_data* data = made->data;
  json_open(j, key, '{');
  json_text(j, "file", made->path);
  json_bool(j, "passed", c->passed);
  json_bool(j, "complete", c->complete);
  json_bool(j, "every_step", made->every_step);
  json_text(j, "status", data->status);
  json_text(j, "scheme", data->scheme);
  json_text(j, "options", data->options);
  json_text(j, "version", data->version);
  json_text(j, "scene_sha256", data->scene_sha256);
  json_integer(j, "frames", data->count);
  json_number(j, "span", c->span);
  json_number(j, "followed", c->followed);
  json_number(j, "balanced", c->balanced);
  json_text(j, "unfollowed", c->unfollowed);
  json_number(j, "clear", c->clear);
  json_integer(j, "exempt", c->exempt);
  json_open(j, "claimed", '{');
  json_number(j, "rtol", c->claimed[0]);
  json_number(j, "atol", c->claimed[1]);
  json_close(j, '}');
  json_open(j, "granted", '{');
  json_number(j, "rtol", c->granted[0]);
  json_number(j, "atol", c->granted[1]);
  json_close(j, '}');
  json_open(j, "items", '[');
  for (int i = 0; i < SALTUS_VERIFY_ITEMS; i++) {
    json_item(j, &c->items[i], data);
  }
  json_close(j, ']');
  json_close(j, '}');
}

bool cli_certificate_good(const cli_certificate* made, bool all) {
  const saltus_certificate* c = &made->certificate;
  return c->passed && is_whole(made->data) && (c->complete || !all);
}

int cli_certificate_make(const char* path, const saltus_scene_view* view, cli_certificate* made) {
  made->path = path;
  int code = made->data != NULL
                 ? CLI_DONE
                 : cli_exit_code(saltus_recording_read(path, cli_log(), NULL, &made->data));
  if (code != CLI_DONE) {
    return code;
  }
  saltus_verify_def def = saltus_verify_def_of(view, made->data);
  def.log = cli_log();
  def.rtol = made->tol > 0.0 ? made->tol : def.rtol;
  def.atol = made->tol > 0.0 ? made->tol : def.atol;
  code = cli_exit_code(saltus_verify(&def, &made->certificate));
  made->known = code == CLI_DONE;
  const saltus_scheme_info* scheme = saltus_scheme_find(made->data->scheme);
  const bool dense = scheme != NULL && scheme->chooses_step && scheme->dense;
  made->every_step = saltus_verify_has_steps(made->data, dense);
  if (made->known && !made->every_step) {
    saltus_certificate_without_steps(&made->certificate, dense);
  }
  return code;
}

void cli_certificate_free(cli_certificate* made) {
  saltus_recording_data_destroy(made->data);
  made->data = NULL;
}

int cli_verify(const cli_args* args) {
  const char* path = args->positional[0];
  cli_certificate made = {.path = path};
  if (cli_number(args, "--tol", 1e-15, 1.0, &made.tol) != CLI_DONE) {
    return CLI_USAGE;
  }
  if (saltus_recording_read(path, cli_log(), NULL, &made.data) != SALTUS_OK) {
    return CLI_USAGE;
  }
  int code = CLI_DONE;
  const saltus_recording_data* data = made.data;
  cli_model model = {.target = path};
  if (args->positional_count > 1) {
    code = cli_model_open(args, args->positional[1], &model);
  } else if (data->scene[0] == '\0') {
    cli_error("%s: has no scene; give one: saltus verify RECORDING SCENE", path);
    code = CLI_USAGE;
  } else {
    code = cli_model_open_text(args, path, data->scene, &model);
  }
  code = code == CLI_DONE ? cli_certificate_make(path, &model.view, &made) : code;
  if (made.known && cli_has(args, "--json")) {
    json j = {.file = stdout};
    cli_certificate_json(&j, NULL, &made);
    printf("\n");
  } else if (made.known) {
    cli_certificate_print(&made);
  }
  code = code == CLI_DONE && !cli_certificate_good(&made, false) ? CLI_FAILED : code;
  cli_model_close(&model);
  cli_certificate_free(&made);
  return code;
}
