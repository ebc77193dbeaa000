/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * names.c - names that are valid in formulas. URDF allows any text, and the same one for a link and a joint;
 * in a scene bodies, markers and joints share one list of words.
 */
#include "urdf/mjcf.h"

#include "base/index.h"
#include "base/number.h"
#include "formula/functions.h"
#include "formula/lex.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 }; /* leaves room for a suffix within 63 characters */

typedef struct naming {
  saltusi_robot* robot;
  saltusi_index taken;
  int collisions;
} naming;

static bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool word_taken(const naming* n, const char* word) {
  return saltusi_index_find(&n->taken, word) >= 0 || saltusi_function_find(word) != NULL ||
         saltusi_word_reserved(word) || strcmp(word, "world") == 0;
}

/* name + ending as a unique word; numbering is continued, so few candidates are tried. */
static const char* take_part(naming* n, const char* name, const char* ending) {
  char word[64];
  int used = 0;
  for (; name[used] != '\0' && used < LONGEST; used++) {
    char c = name[used];
    bool digit = c >= '0' && c <= '9';
    word[used] = (char)(letter(c) || (digit && used > 0) ? c : '_');
  }
  snprintf(word + used, sizeof word - (size_t)used, "%s", ending);
  while (word_taken(n, word)) {
    snprintf(word + used, sizeof word - (size_t)used, "%.8s_%d", ending, ++n->collisions + 1);
  }
  const char* kept = saltusi_pool_text(n->robot->pool, word);
  if (kept == NULL) {
    n->robot->status = SALTUS_ERR_MEMORY;
    return "";
  }
  saltusi_index_add(&n->taken, kept);
  return kept;
}

/* The same with the prefix of the robot. */
static const char* take_word(naming* n, const char* name, const char* ending) {
  char word[LONGEST + 20];
  const char* prefix = n->robot->prefix;
  saltusi_print(word, sizeof word, "%s%s%.*s", prefix != NULL ? prefix : "",
                prefix != NULL ? "_" : "", LONGEST, name);
  return take_part(n, word, ending);
}

static const char* take_name(naming* n, const char* kind, const char* name, int line) {
  const char* word = take_word(n, name, "");
  const size_t prefixed = n->robot->prefix != NULL ? strlen(n->robot->prefix) + 1 : 0;
  if (strcmp(word + prefixed, name) != 0) {
    saltusi_robot_note(n->robot, line, "%s " SALTUSI_ROBOT_QUOTE " is called %s in the scene", kind,
                       name, word);
  }
  return word;
}

/* Inputs, relations and tendons of MJCF. */
static void name_actuation(naming* n) {
  saltusi_mjcf* m = n->robot->mjcf;
  for (int i = 0; i < m->actuator_count; i++) {
    m->actuators[i].label = take_word(n, m->actuators[i].name, "_ctrl");
  }
  for (int i = 0; i < m->relation_count; i++) {
    m->relations[i].label = take_word(n, m->relations[i].name, "_equality");
  }
  for (int i = 0; i < m->tendon_count; i++) {
    m->tendons[i].label = take_word(n, m->tendons[i].name, "_tendon");
  }
  for (int i = 0; i < n->robot->link_count; i++) {
    saltusi_robot_link* link = &n->robot->links[i];
    const bool lifted = link->lift != 0.0 && link->body >= 0 && link->mass.mass > 0.0;
    link->lifted = lifted ? take_word(n, link->name, "_centre") : NULL;
  }
}

/* Shapes, then visuals, each with its number from the second on. */
static void name_shapes(naming* n, saltusi_robot_link* link) {
  for (int k = 0; k < link->shapes.count + link->visuals.count; k++) {
    const int v = k - link->shapes.count, number = v < 0 ? k : v;
    char ending[24];
    snprintf(ending, sizeof ending, number == 0 ? "_%s" : "_%s_%d", v < 0 ? "shape" : "visual",
             number + 1);
    saltusi_robot_shape* shape = v < 0 ? &link->shapes.list[k] : &link->visuals.list[v];
    shape->label = take_word(n, link->name, ending);
  }
}

saltus_status saltusi_robot_name(saltusi_robot* robot) {
  assert(robot != NULL);
  naming n = {.robot = robot};
  const saltusi_mjcf* m = robot->mjcf;
  int most = 3 * robot->link_count + 5 * robot->joint_count;
  most += m != NULL ? m->actuator_count + m->relation_count + m->tendon_count : 0;
  for (int i = 0; i < robot->link_count; i++) {
    most += robot->links[i].shapes.count + robot->links[i].visuals.count;
  }
  if (!saltusi_index_start(&n.taken, most, robot->pool)) {
    robot->status = SALTUS_ERR_MEMORY;
    return robot->status;
  }
  for (int i = 0; i < robot->body_count; i++) {
    const saltusi_robot_link* top = &robot->links[robot->bodies[i].top];
    robot->bodies[i].label = take_name(&n, m != NULL ? "body" : "link", top->name, top->line);
  }
  for (int i = 0; i < robot->joint_count; i++) {
    saltusi_robot_joint* joint = &robot->joints[i];
    if (!joint->merged && joint->kind != SALTUSI_ROBOT_FLOATING) {
      joint->label = take_name(&n, joint->loop ? "constraint" : "joint", joint->name, joint->line);
      joint->mark[0] = take_part(&n, joint->label, "_parent");
      joint->mark[1] = take_part(&n, joint->label, "_child");
      joint->mimic_label = joint->mimic >= 0 ? take_part(&n, joint->label, "_mimic") : NULL;
      const bool moved = joint->effort_limited || joint->reduction != 0.0;
      joint->motor = m == NULL && moved && joint->mimic < 0 && !joint->loop
                         ? take_part(&n, joint->label, "_effort")
                         : NULL;
    }
  }
  for (int i = 0; i < robot->link_count; i++) {
    saltusi_robot_link* link = &robot->links[i];
    link->marker = take_word(&n, link->name, "_frame");
    name_shapes(&n, link);
  }
  if (robot->mjcf != NULL) {
    name_actuation(&n);
  }
  return robot->status;
}
