/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * vtk.c - saltus vtk: a recording as files for ParaView in a folder.
 */
#include "saltus/vtk.h"

#include "model.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static saltus_status write_file(void* user, const char* name, const void* bytes, size_t size) {
  const char* folder = user;
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
    cli_error("vtk: the name of the folder is too long");
    return SALTUS_ERR_IO;
  }
  FILE* file = fopen(path, "wb");
  bool written = file != NULL && fwrite(bytes, 1, size, file) == size;
  written = file != NULL && fclose(file) == 0 && written;
  if (!written) {
    cli_error("vtk: %s: %s", path, strerror(errno));
  }
  return written ? SALTUS_OK : SALTUS_ERR_IO;
}

/* Files of an earlier export with more states would be read as states of this one. */
static int make_folder(const char* path, bool force, bool* made) {
  *made = mkdir(path, 0777) == 0;
  if (*made) {
    return CLI_DONE;
  }
  DIR* dir = errno == EEXIST ? opendir(path) : NULL;
  if (dir == NULL) {
    cli_error("vtk: %s: %s", path, strerror(errno));
    return CLI_USAGE;
  }
  bool empty = true;
  for (const struct dirent* one; (one = readdir(dir)) != NULL;) {
    empty = empty && (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0);
  }
  closedir(dir);
  if (!empty && !force) {
    cli_error("vtk: %s is not empty; --force writes into it", path);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

static void print_about(const char* path, const saltus_vtk_about* about) {
  printf("VTK: %s/bodies.pvd and contacts.pvd, %lld state%s", path, about->shown,
         cli_plural(about->shown));
  if (about->shown < about->recorded) {
    printf(" of %lld%s", about->recorded,
           about->events_shown ? ", with those beside every event" : "");
  }
  printf(", %lld files, %.3g MB\n", about->files, 1e-6 * about->bytes);
  if (about->unplaced > 0) {
    printf("%lld forces are omitted: they have no point of application\n", about->unplaced);
  }
}

static int export_run(const cli_args* args, const saltus_recording_data* data,
                      const saltus_scene_view* view, char* folder) {
  saltus_vtk_def def = saltus_vtk_def_default();
  saltus_vtk_about about;
  def.data = data;
  def.scene = view;
  def.write = write_file;
  def.user = folder;
  def.log = cli_log();
  double most = (double)def.most, around = def.around;
  int code = cli_number(args, "--frames", 1, 1e9, &most);
  code = code == CLI_DONE ? cli_number(args, "--around", 8, 256, &around) : code;
  if (code != CLI_DONE) {
    return code;
  }
  def.most = (long long)most;
  def.around = (int)around;
  bool made;
  code = make_folder(folder, cli_has(args, "--force"), &made);
  if (code != CLI_DONE) {
    return code;
  }
  saltus_status status = saltus_vtk_export(&def, &about);
  if (status == SALTUS_OK) {
    print_about(folder, &about);
  } else if (made) {
    (void)rmdir(folder); /* a rejected export leaves no folder; written files stay */
  }
  return cli_exit_code(status);
}

int cli_vtk(const cli_args* args) {
  const char* path = args->positional[0];
  char folder[4096];
  const char* given = cli_value(args, "-o");
  const char* dot = strrchr(path, '.');
  const int stem = dot != NULL ? (int)(dot - path) : (int)strlen(path);
  if ((given != NULL
           ? snprintf(folder, sizeof folder, "%s", given)
           : snprintf(folder, sizeof folder, "%.*s.vtk", stem, path)) >= (int)sizeof folder) {
    cli_error("vtk: the name of the folder is too long");
    return CLI_USAGE;
  }
  saltus_recording_data* data;
  if (saltus_recording_read(path, cli_log(), NULL, &data) != SALTUS_OK) {
    return CLI_USAGE;
  }
  cli_model model = {.target = path};
  int code = CLI_USAGE;
  if (data->count < 1) {
    cli_error("vtk: %s holds no states yet", path);
  } else if (data->scene[0] == '\0') {
    cli_error("vtk: %s contains no scene, which defines the bodies", path);
  } else {
    code = cli_model_open_text(args, path, data->scene, &model);
    code = code == CLI_DONE ? export_run(args, data, &model.view, folder) : code;
  }
  cli_model_close(&model);
  saltus_recording_data_destroy(data);
  return code;
}
