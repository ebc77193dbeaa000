/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * elements.c - mutated files of finite elements: matrices, rows, meshes (elements_read), and reduced bodies with changed
 * bytes, datasets and attributes in a scene (elements_attack_body).
 */
#include "elements.h"

#include "fe_brick.h"
#include "recordings_h5.h"
#include "saltus/saltus.h"

#include "flexible/flexible.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mesh_of_gmsh[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"LEFT\"\n3 2 \"ALL\"\n"
    "$EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n2\n"
    "1 2 2 1 1 1 2 3\n2 4 2 2 1 1 2 3 4\n$EndElements\n";
static const char ranges_of_nodes[] =
    "*NODE, NSET=ALL\n1, 0, 0, 0\n2, 1, 0, 0\n4, 0, 1, 0\n*NSET, NSET=SOME, GENERATE\n1, 4, 2\n"
    "*NSET, NSET=TWO\n1, 2,\n4\n";

static saltus_status reduce(const char* folder, const char* body) {
  static fe_brick brick;
  brick = (fe_brick){.cells = {2, 1, 1},
                     .size = {0.2, 0.1, 0.1},
                     .E = 2e9,
                     .nu = 0.3,
                     .density = 1000,
                     .gauss = 2};
  fe_brick_make(&brick);
  fe_brick_write(&brick, folder, "part");
  static const char* const endings[] = {".sti", ".mas", ".dof", ".inp"};
  static char paths[4][160];
  for (size_t i = 0; i < 4; i++) {
    snprintf(paths[i], sizeof paths[i], "%s/part%s", folder, endings[i]);
  }
  const saltus_reduce_frame frames[] = {{"root", "LEFT", false}, {"tip", "TIP", true}};
  const saltus_reduce_def def = {.stiffness = paths[0],
                                 .mass = paths[1],
                                 .dof = paths[2],
                                 .mesh = paths[3],
                                 .modes = 4,
                                 .frames = frames,
                                 .frame_count = 2};
  saltus_flexible* reduced = NULL;
  const saltus_status status = saltus_flexible_reduce(&def, &reduced);
  const bool saved =
      status == SALTUS_OK && saltus_flexible_save(reduced, body, (saltus_log){0}) == SALTUS_OK;
  saltus_flexible_destroy(reduced);
  return status == SALTUS_OK && !saved ? SALTUS_ERR_IO : status;
}

size_t elements_prepare(const char* folder, elements_file files[ELEMENTS_FILES], fuzz_blob* body) {
  static const char* const names[] = {"part.sti", "part.dof", "part.inp", "part-K.mtx"};
  char path[160];
  *body = (fuzz_blob){NULL, 0};
  snprintf(path, sizeof path, "%s/part.h5", folder);
  if (reduce(folder, path) == SALTUS_OK) {
    *body = fuzz_read(path);
  }
  size_t count = 0;
  for (; count < 4; count++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[count]);
    files[count] = (elements_file){names[count], fuzz_read(path)};
    fuzz_require(files[count].text.count > 0, "the files of a brick are written");
    if (files[count].text.count > 2000) { /* the beginning: mutations reach all kinds of lines */
      files[count].text.count = 2000;
    }
  }
  const char* const texts[] = {mesh_of_gmsh, ranges_of_nodes};
  for (size_t i = 0; i < 2; i++, count++) {
    unsigned char* bytes = malloc(strlen(texts[i]) + 1);
    if (bytes == NULL) {
      abort();
    }
    memcpy(bytes, texts[i], strlen(texts[i]) + 1);
    files[count] = (elements_file){i == 0 ? "part.msh" : "part.inp", {bytes, strlen(texts[i])}};
  }
  return count;
}

void elements_read(const char* path) {
  saltus_kept_message kept;
  const saltus_log log = saltus_log_keep(&kept);
  saltusi_pool pool = saltusi_pool_over(NULL);
  const char* ending = strrchr(path, '.');
  saltus_status status;
  if (strcmp(ending, ".dof") == 0) {
    saltusi_fe_dof dof;
    status = saltusi_read_dof(path, &pool, log, &dof);
  } else if (strcmp(ending, ".inp") == 0 || strcmp(ending, ".msh") == 0) {
    saltusi_fe_mesh mesh = {0};
    status = saltusi_read_mesh(path, 1.0, &pool, log, &mesh);
    for (int i = 0; status == SALTUS_OK && i < 3 * mesh.count; i++) {
      fuzz_require(isfinite(mesh.x[i]), "a coordinate of a node is finite");
    }
  } else {
    saltusi_entries entries;
    status = saltusi_read_matrix(path, &pool, log, &entries);
    for (int i = 0; status == SALTUS_OK && i < entries.count; i++) {
      fuzz_require(entries.row[i] < entries.rows && entries.column[i] < entries.rows,
                   "an entry is inside of its matrix");
    }
  }
  fuzz_count(status == SALTUS_OK ? "  accepted" : "  refused");
  fuzz_require(status == SALTUS_OK || kept.text[0] != '\0', "a refusal has a message");
  saltusi_pool_free(&pool);
}

/* A scene with the body, falling onto a plane, for three steps. */
static void run_body(const char* path) {
  char text[600];
  snprintf(text, sizeof text,
           "saltus: 1\nworld: {dimension: 3}\nbodies:\n  b: {flexible: %s, position: [0, 0, 0.1], "
           "contact_radius: 0.01, contact_material: steel}\nmaterials: {steel: {friction: 0.3, "
           "restitution: 0}}\n"
           "simulate: {until: 0.01, step: 1e-3, scheme: moreau-jean}\n",
           path);
  (void)fuzz_scene((const uint8_t*)text, strlen(text));
}

void elements_attack_body(const char* folder, const fuzz_blob* body, uint64_t* state) {
  char path[160];
  snprintf(path, sizeof path, "%s/body.h5", folder);
  fuzz_blob changed = {malloc(body->count), body->count};
  if (changed.bytes == NULL) {
    abort();
  }
  memcpy(changed.bytes, body->bytes, body->count);
  const bool structure = fuzz_chance(state, 60);
  for (size_t i = structure ? 0 : 1 + fuzz_pick(state, 4); i > 0; i--) {
    changed.bytes[fuzz_pick(state, changed.count)] = (unsigned char)fuzz_next(state);
  }
  changed.count =
      fuzz_chance(state, 2) && !structure ? fuzz_pick(state, changed.count) : changed.count;
  fuzz_write(path, &changed);
  free(changed.bytes);
  if (structure) {
    recordings_h5_change(path, state);
  }
  changed = fuzz_read(path);
  fuzz_current(true, "body.h5", changed.bytes, changed.count);
  free(changed.bytes);
  saltus_kept_message kept;
  saltus_flexible* read = NULL;
  const saltus_status status = saltus_flexible_load(path, saltus_log_keep(&kept), &read);
  fuzz_count(status == SALTUS_OK ? "  accepted" : "  refused");
  fuzz_require(status == SALTUS_OK || (kept.text[0] != '\0' && read == NULL),
               "a refusal has a message and leaves nothing");
  saltus_flexible_destroy(read);
  if (status == SALTUS_OK) {
    run_body(path);
  }
}
