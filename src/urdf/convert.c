/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * convert.c - converts a file to the text of a scene; the robot is freed afterwards.
 */
#include "base/log.h"
#include "base/reserved.h"
#include "io/text.h"
#include "saltus/urdf.h"
#include "urdf/include.h"
#include "urdf/robot.h"
#include "urdf/xml.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct saltus_urdf {
  saltusi_pool pool;
  saltus_urdf_view view;
  saltus_urdf_note* notes;
  size_t note_room;
};

static saltus_status load(const saltus_urdf_def* def, saltusi_pool* pool, const char** text,
                          size_t* length) {
  if (def->text != NULL) {
    *text = def->text;
    *length = def->length > 0 ? def->length : strlen(def->text);
    return SALTUS_OK;
  }
  saltusi_lines lines;
  saltus_status status = saltusi_text_load(def->path, def->log, pool, &lines);
  if (status == SALTUS_OK) {
    *text = lines.at;
    *length = (size_t)(lines.end - lines.at);
  }
  return status;
}

static saltus_status convert(const saltus_urdf_def* def, saltusi_pool* work, saltusi_robot* robot,
                             const char** scene) {
  const char* text = NULL;
  size_t length = 0;
  saltus_status status = load(def, work, &text, &length);
  saltusi_xml_node* root = NULL;
  if (status == SALTUS_OK) {
    status = saltusi_xml_parse(text, length, robot->file, work, def->log, &root);
    robot->root = root;
  }
  if (status == SALTUS_OK && strcmp(root->name, "mujoco") == 0) {
    status = saltusi_mjcf_include(robot, root, text, length, def->path);
    status = status == SALTUS_OK ? saltusi_mjcf_read(robot, root, def) : status;
  } else if (status == SALTUS_OK) {
    status = saltusi_robot_read(robot, root);
  }
  if (status == SALTUS_OK) {
    status = saltusi_robot_assemble(robot);
  }
  if (status == SALTUS_OK) {
    status = saltusi_robot_make_bodies(robot, def);
  }
  if (status == SALTUS_OK) {
    status = saltusi_robot_name(robot);
  }
  if (status == SALTUS_OK) {
    status = saltusi_robot_write(robot, def, scene);
  }
  return status;
}

bool saltusi_urdf_prefix_is_valid(const char* prefix) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  assert(prefix != NULL);
  const size_t length = strlen(prefix);
  return length > 0 && length < 17 && strspn(prefix, letters) == length &&
         strchr(letters + 52, prefix[0]) == NULL;
}

saltus_status saltus_urdf_create(const saltus_urdf_def* def, saltus_urdf** out) {
  static const double none[3] = {0.0, 0.0, 0.0};
  assert(def != NULL && out != NULL);
  return saltusi_urdf_include(def, NULL, none, out);
}

saltus_status saltusi_urdf_include(const saltus_urdf_def* def, const char* prefix,
                                   const double position[3], saltus_urdf** out) {
  assert(def != NULL && out != NULL && (def->path != NULL || def->text != NULL));
  assert(position != NULL && (prefix == NULL || saltusi_urdf_prefix_is_valid(prefix)));
  *out = NULL;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_urdf_def", def->log);
  if (status == SALTUS_OK &&
      (!isfinite(def->height) || !isfinite(def->friction) || def->friction < 0.0)) {
    saltusi_log(
        def->log, SALTUS_LEVEL_ERROR,
        "urdf: height of the floor %g and friction %g have to be finite, friction at least 0",
        def->height, def->friction);
    status = SALTUS_ERR_RANGE;
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_pool pool = saltusi_pool_over(def->allocator);
  saltus_urdf* urdf = SALTUSI_TAKE(&pool, saltus_urdf, 1);
  if (urdf == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  urdf->pool = pool;
  saltusi_robot robot = {.file = def->path != NULL ? def->path : "robot",
                         .prefix = prefix,
                         .position = {position[0], position[1], position[2]},
                         .pool = &urdf->pool,
                         .log = def->log};
  const char* scene = NULL;
  status = convert(def, &urdf->pool, &robot, &scene);
  urdf->notes = robot.notes;
  urdf->note_room = robot.note_room;
  saltusi_release(&urdf->pool.allocator, robot.note_times, robot.times_room,
                  sizeof *robot.note_times);
  if (status != SALTUS_OK) {
    saltus_urdf_destroy(urdf);
    return status;
  }
  urdf->view = (saltus_urdf_view){.scene = scene,
                                  .links = robot.link_count,
                                  .joints = robot.joint_count,
                                  .bodies = robot.body_count,
                                  .notes = robot.notes,
                                  .note_count = robot.note_count};
  *out = urdf;
  return SALTUS_OK;
}

void saltus_urdf_destroy(saltus_urdf* urdf) {
  if (urdf != NULL) {
    saltusi_release(&urdf->pool.allocator, urdf->notes, urdf->note_room, sizeof *urdf->notes);
    saltusi_pool_free(&urdf->pool);
  }
}

const saltus_urdf_view* saltus_urdf_get_view(const saltus_urdf* urdf) {
  assert(urdf != NULL);
  return &urdf->view;
}
