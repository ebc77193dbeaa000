/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * export.c - saltus export: a scene becomes a model for other programs.
 */
#include "saltus/export.h"
#include "cli.h"
#include "files.h"
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096 };

/* The shared object of all FMUs: beside the program, as in a build folder, or where it is installed. */
static const char* find_binary(const cli_args* args, char path[PATH]) {
  const char* given = cli_value(args, "--binary");
  if (given != NULL) {
    return given;
  }
  char self[PATH - 128];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = '\0';
  char* slash = strrchr(self, '/');
  if (slash != NULL) {
    slash[1] = '\0';
  }
  static const char* const places[] = {"saltus_fmu.so", "../data/saltus_fmu.so", /* of a wheel */
                                       "../" SALTUS_LIBDIR "/saltus/saltus_fmu.so"};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    snprintf(path, PATH, "%s%s", self, places[i]);
    if (access(path, R_OK) == 0) {
      return path;
    }
  }
  cli_error(
      "export: saltus_fmu.so is neither beside the program nor installed; give --binary FILE");
  return NULL;
}

/* FILE of -o, or the name of the scene with another ending. */
static int name_output(const cli_args* args, const char* scene, const char* ending,
                       char path[PATH]) {
  const char* given = cli_value(args, "-o");
  const char* slash = strrchr(scene, '/');
  const char* name = slash != NULL ? slash + 1 : scene;
  const int length = given != NULL
                         ? snprintf(path, PATH, "%s", given)
                         : snprintf(path, PATH, "%.*s%s", (int)strcspn(name, "."), name, ending);
  if (length >= PATH) {
    cli_error("export: the name of the file is too long");
    return CLI_USAGE;
  }
  return given != NULL ? CLI_DONE : cli_output_check(args, path);
}

/* Files that cannot be read or written and scenes that cannot be exported are errors of the input. */
static int code_of(saltus_status status) {
  const bool input = status == SALTUS_ERR_UNSUPPORTED || status == SALTUS_ERR_IO;
  return input ? CLI_USAGE : cli_exit_code(status);
}

static int export_fmu(const cli_args* args, const cli_model* model) {
  saltus_export_fmu_def def = saltus_export_fmu_def_default();
  def.scene = model->scene;
  def.path = args->positional[1];
  def.log = cli_log();
  def.scheme = cli_value(args, "--scheme");
  const char* version = cli_value(args, "--fmi");
  if (version != NULL && strcmp(version, "2") != 0 && strcmp(version, "3") != 0) {
    cli_error("export: --fmi is \"%s\", must be 3 or 2", version);
    return CLI_USAGE;
  }
  def.version = version != NULL && version[0] == '2' ? 2 : 3;
  char binary[PATH], file[PATH];
  int code = cli_real(args, "--tol", &def.tol);
  code = code == CLI_DONE ? cli_real(args, "--step", &def.step) : code;
  code = code == CLI_DONE ? name_output(args, def.path, ".fmu", file) : code;
  if (code != CLI_DONE) {
    return code;
  }
  def.binary = find_binary(args, binary);
  return def.binary == NULL ? CLI_USAGE : code_of(saltus_export_fmu(&def, file));
}

static int export_c(const cli_args* args, const cli_model* model) {
  saltus_export_c_def def = saltus_export_c_def_default();
  def.scene = model->scene;
  def.log = cli_log();
  def.scheme = cli_value(args, "--scheme");
  const char* prefix = cli_value(args, "--prefix");
  def.prefix = prefix != NULL ? prefix : def.prefix;
  char file[PATH];
  int code = cli_real(args, "--step", &def.step);
  code = code == CLI_DONE ? name_output(args, args->positional[1], ".c", file) : code;
  if (code != CLI_DONE) {
    return code;
  }
  return code_of(saltus_export_c(&def, file));
}

int cli_export(const cli_args* args) {
  const char* kind = args->positional[0];
  const bool fmu = strcmp(kind, "fmu") == 0;
  if (!fmu && strcmp(kind, "c") != 0) {
    cli_error("export: \"%s\" is not a kind of model; allowed: fmu, c", kind);
    return CLI_USAGE;
  }
  cli_model model;
  int code = cli_model_open(args, args->positional[1], &model);
  if (code == CLI_DONE && model.scene == NULL) {
    cli_error("export: %s is a reference problem, not a scene", args->positional[1]);
    code = CLI_USAGE;
  }
  if (code == CLI_DONE) {
    code = fmu ? export_fmu(args, &model) : export_c(args, &model);
  }
  cli_model_close(&model);
  return code;
}
