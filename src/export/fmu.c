/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fmu.c - see saltus/export.h. Contents of the archive:
 *
 *   modelDescription.xml
 *   binaries/x86_64-linux/ID.so       of FMI 2.0 binaries/linux64/ID.so
 *   resources/scene.tree              the scene, see src/scene/tree.c
 *   resources/export.txt              settings of the export
 *   resources/mesh-1.stl ...
 *   documentation/licenses/license.txt
 */
#include "saltus/export.h"

#include "base/log.h"
#include "base/regular.h"
#include "base/replacement.h"
#include "base/reserved.h"
#include "export/license.h"
#include "export/model_description.h"
#include "export/zip.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct fmu_job {
  const saltus_export_fmu_def* def;
  saltusi_pool pool;
  saltus_allocator memory;
  char identifier[64];
  char token[SALTUSI_TOKEN];
  char lines[SALTUSI_EXPORT_LINES];
  saltusi_export_file* files; /* of the resources */
  int file_count;
  saltus_run* run;
} fmu_job;

saltus_export_fmu_def saltus_export_fmu_def_default(void) {
  return (saltus_export_fmu_def){.version = 3, .tol = NAN, .step = NAN};
}

static saltus_status refuse(const fmu_job* job, saltus_status status, const char* what,
                            const char* why) {
  saltusi_log(job->def->log, SALTUS_LEVEL_ERROR, "export: %s %s", what, why);
  return status;
}

/* A C identifier from the name of the file without folder and ending. */
static saltus_status name_model(fmu_job* job) {
  const char* from = job->def->identifier;
  const bool given = from != NULL;
  if (!given) {
    const char* path = job->def->path != NULL ? job->def->path : "model";
    const char* slash = strrchr(path, '/');
    from = slash != NULL ? slash + 1 : path;
  }
  const size_t length = given ? strlen(from) : strcspn(from, ".");
  size_t used = 0;
  for (size_t i = 0; i < length && used + 2 < sizeof job->identifier; i++) {
    const char c = from[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool figure = c >= '0' && c <= '9';
    if (given && !letter && !(figure && i > 0)) {
      return refuse(job, SALTUS_ERR_INPUT, "identifier", "is not a C identifier");
    }
    if (figure && used == 0) {
      job->identifier[used++] = '_';
    }
    job->identifier[used++] = letter || figure ? c : '_';
  }
  if (used == 0) {
    memcpy(job->identifier, "model", 6);
  }
  return SALTUS_OK;
}

/* A file as bytes in the pool; NULL after a message. */
static const void* load(fmu_job* job, const char* path, size_t* size) {
  FILE* file = saltusi_regular_stream(path);
  const long bytes = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char* text = bytes >= 0 ? SALTUSI_TAKE(&job->pool, char, bytes + 1) : NULL;
  const bool read = text != NULL && fseek(file, 0, SEEK_SET) == 0 &&
                    fread(text, 1, (size_t)bytes, file) == (size_t)bytes;
  if (!read) {
    saltusi_log(job->def->log, SALTUS_LEVEL_ERROR, "export: %s: %s", path,
                file == NULL ? saltusi_regular_reason(errno) : "could not be read");
  }
  if (file != NULL) {
    fclose(file);
  }
  *size = read ? (size_t)bytes : 0;
  return read ? text : NULL;
}

/* Mesh file i of the scene. */
static saltus_status add_mesh(fmu_job* job, int i) {
  const char* path;
  char* name = SALTUSI_TAKE(&job->pool, char, 48);
  if (name == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_scene_file(job->def->scene, i, &path, name);
  const char* slash =
      job->def->path != NULL && path[0] != '/' ? strrchr(job->def->path, '/') : NULL;
  const size_t folder = slash != NULL ? (size_t)(slash - job->def->path) + 1 : 0;
  char* whole = SALTUSI_TAKE(&job->pool, char, folder + strlen(path) + 1);
  if (whole == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memcpy(whole, job->def->path, folder);
  memcpy(whole + folder, path, strlen(path));
  saltusi_export_file* file = &job->files[job->file_count++];
  file->name = name;
  file->bytes = load(job, whole, &file->size);
  return file->bytes != NULL ? SALTUS_OK : SALTUS_ERR_IO;
}

/* Files of the folder resources, and the token made of them. */
static saltus_status gather(fmu_job* job) {
  const saltus_export_fmu_def* def = job->def;
  int meshes = 0;
  const char* path;
  char name[48];
  while (saltus_scene_file(def->scene, meshes, &path, name)) {
    if (strstr(name, ".dae") != NULL || strstr(name, ".DAE") != NULL) {
      return refuse(job, SALTUS_ERR_UNSUPPORTED, path,
                    "needs expat, which FMUs do not contain; give an STL or OBJ file");
    }
    meshes++;
  }
  const size_t size = saltus_scene_save(def->scene, NULL);
  char* tree = SALTUSI_TAKE(&job->pool, char, size + 1);
  job->files = SALTUSI_TAKE(&job->pool, saltusi_export_file, meshes + 2);
  if (tree == NULL || job->files == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_scene_save(def->scene, tree);
  if (strstr(tree, " 8\nflexible\ns ") != NULL) {
    return refuse(job, SALTUS_ERR_UNSUPPORTED, "flexible bodies of files",
                  "need HDF5, which FMUs do not contain");
  }
  if (strstr(tree, " 5\nparts\ns ") != NULL) {
    return refuse(job, SALTUS_ERR_UNSUPPORTED, "hulls of several parts",
                  "need qhull, which FMUs do not contain");
  }
  const saltusi_export_settings settings = {
      .tol = def->tol, .step = def->step, .scheme = def->scheme};
  const size_t lines = saltusi_export_settings_write(&settings, job->lines);
  job->files[0] = (saltusi_export_file){"scene.tree", tree, size};
  job->files[1] = (saltusi_export_file){"export.txt", job->lines, lines};
  job->file_count = 2;
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < meshes && status == SALTUS_OK; i++) {
    status = add_mesh(job, i);
  }
  if (status == SALTUS_OK) {
    saltusi_export_token(job->files, job->file_count, job->token);
  }
  return status;
}

/* The run of the FMU, which resolves scheme and tolerances. */
static saltus_status resolve(fmu_job* job) {
  const saltus_export_fmu_def* def = job->def;
  saltus_run_def run = saltus_run_def_default();
  run.scene = saltus_scene_get_view(def->scene);
  run.log = def->log;
  run.stepping = true;
  run.tol = def->tol;
  run.step = def->step;
  run.scheme = def->scheme;
  return saltus_run_create(&run, &job->run);
}

static saltus_status pack(fmu_job* job, saltusi_zip* zip) {
  const saltus_export_fmu_def* def = job->def;
  const saltus_scene_view* view = saltus_scene_get_view(def->scene);
  saltusi_variable* variables;
  int count;
  saltus_status status = saltusi_variables_list(view, &job->pool, &variables, &count);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltusi_model_description m = {.version = def->version,
                                       .identifier = job->identifier,
                                       .token = job->token,
                                       .view = view,
                                       .settings = saltus_run_get_settings(job->run),
                                       .variables = variables,
                                       .count = count};
  saltusi_bytes xml = {.memory = &job->memory};
  saltusi_model_description_write(&m, &xml);
  size_t size;
  const void* binary = load(job, def->binary, &size);
  if (binary == NULL || xml.failed) {
    saltusi_bytes_free(&xml);
    return binary == NULL ? SALTUS_ERR_IO : SALTUS_ERR_MEMORY;
  }
  saltusi_zip_add(zip, "modelDescription.xml", xml.at, xml.count);
  saltusi_bytes_free(&xml);
  char name[160];
  snprintf(name, sizeof name, "binaries/%s/%s.so", def->version == 3 ? "x86_64-linux" : "linux64",
           job->identifier);
  saltusi_zip_add(zip, name, binary, size);
  for (int i = 0; i < job->file_count; i++) {
    snprintf(name, sizeof name, "resources/%s", job->files[i].name);
    saltusi_zip_add(zip, name, job->files[i].bytes, job->files[i].size);
  }
  saltusi_zip_add(zip, "documentation/licenses/license.txt", saltusi_license_text,
                  strlen(saltusi_license_text));
  return saltusi_zip_finish(zip) ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

static saltus_status write_archive(const fmu_job* job, const saltusi_zip* zip, const char* path) {
  saltusi_replacement file;
  int error = saltusi_replacement_open(&file, path);
  if (error == 0) {
    const bool good = fwrite(zip->out.at, 1, zip->out.count, file.file) == zip->out.count;
    error = saltusi_replacement_close(&file, good);
  }
  return error == 0 ? SALTUS_OK : refuse(job, SALTUS_ERR_IO, path, saltusi_regular_reason(error));
}

saltus_status saltus_export_fmu(const saltus_export_fmu_def* def, const char* file) {
  assert(def != NULL && def->scene != NULL && file != NULL);
  fmu_job job = {.def = def,
                 .pool = saltusi_pool_over(def->allocator),
                 .memory = def->allocator != NULL ? *def->allocator : saltus_allocator_default()};
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_export_fmu_def", def->log);
  if (status == SALTUS_OK && def->version != 2 && def->version != 3) {
    status = refuse(&job, SALTUS_ERR_RANGE, "version of FMI", "must be 2 or 3");
  }
  if (status == SALTUS_OK && def->binary == NULL) {
    status = refuse(&job, SALTUS_ERR_INPUT, "binary", "is missing: the file saltus_fmu.so");
  }
  saltusi_zip zip = {.out.memory = &job.memory, .directory.memory = &job.memory};
  status = status == SALTUS_OK ? name_model(&job) : status;
  status = status == SALTUS_OK ? resolve(&job) : status;
  status = status == SALTUS_OK ? gather(&job) : status;
  status = status == SALTUS_OK ? pack(&job, &zip) : status;
  status = status == SALTUS_OK ? write_archive(&job, &zip, file) : status;
  if (status == SALTUS_ERR_MEMORY) {
    refuse(&job, status, file, "needs more memory than there is");
  }
  saltusi_zip_free(&zip);
  saltus_run_destroy(job.run);
  saltusi_pool_free(&job.pool);
  return status;
}
