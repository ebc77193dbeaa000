/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mjcf_values.c - attributes of MJCF, from the element, its class or the enclosing classes: numbers, words, limits and
 * orientations.
 */
#include "urdf/mjcf.h"

#include "base/suggest.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- classes ---- */

static int count_named(const saltusi_xml_node* node, const char* name) {
  int count = 0;
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    count += (strcmp(n->name, name) == 0) + count_named(n, name);
  }
  return count;
}

static void add_classes(saltusi_mjcf* m, const saltusi_xml_node* node, int parent) {
  const char* name = saltusi_element_text(node, "class");
  if (name == NULL && parent >= 0) {
    saltusi_robot_refuse(m->robot, node->line, "<default> inside of another one has no class");
    return;
  }
  name = name != NULL ? name : "main";
  const int own = m->class_count++;
  m->classes[own] = (saltusi_mjcf_class){name, parent, -1, node};
  for (int k = own - 1; k >= 0; k--) {
    if (strcmp(m->classes[k].name, name) == 0) {
      m->classes[own].again = k;
      break;
    }
  }
  for (const saltusi_xml_node* n = node->first; n != NULL; n = n->next) {
    if (strcmp(n->name, "default") == 0) {
      add_classes(m, n, own);
    }
  }
}

saltus_status saltusi_mjcf_read_classes(saltusi_mjcf* m) {
  assert(m != NULL);
  const int count = count_named(m->root, "default");
  if (count > 2000) {
    saltusi_robot_refuse(m->robot, m->root->line, "more than 2000 classes of defaults");
    return m->robot->status;
  }
  m->classes = SALTUSI_TAKE(m->robot->pool, saltusi_mjcf_class, count);
  if (m->classes == NULL) {
    m->robot->status = SALTUS_ERR_MEMORY;
    return m->robot->status;
  }
  for (const saltusi_xml_node* n = m->root->first; n != NULL; n = n->next) {
    if (strcmp(n->name, "default") == 0) {
      add_classes(m, n, -1);
    }
  }
  return m->robot->status;
}

int saltusi_mjcf_find_class(saltusi_mjcf* m, const saltusi_xml_node* node, const char* name) {
  assert(m != NULL && node != NULL && name != NULL);
  for (int k = m->class_count - 1; k >= 0; k--) {
    if (strcmp(m->classes[k].name, name) == 0) {
      return k;
    }
  }
  if (strcmp(name, "main") != 0) {
    saltusi_robot_refuse(m->robot, node->line,
                         "<%.60s>: there is no class " SALTUSI_ROBOT_QUOTE " of defaults",
                         node->name, name);
  }
  return -1;
}

saltusi_mjcf_element saltusi_mjcf_element_of(saltusi_mjcf* m, const saltusi_xml_node* node,
                                             const char* tag, int childclass) {
  assert(m != NULL && node != NULL && tag != NULL);
  const char* own = saltusi_element_text(node, "class");
  const int class = own != NULL       ? saltusi_mjcf_find_class(m, node, own)
                    : childclass >= 0 ? childclass
                                      : saltusi_mjcf_find_class(m, node, "main");
  return (saltusi_mjcf_element){node, tag, class};
}

const char* saltusi_mjcf_text(const saltusi_mjcf* m, const saltusi_mjcf_element* e,
                              const char* attribute) {
  assert(m != NULL && e != NULL && attribute != NULL);
  const char* text = saltusi_element_text(e->node, attribute);
  for (int class = e->class; class >= 0 && text == NULL; class = m->classes[class].parent) {
    for (int k = class; k >= 0 && text == NULL; k = m->classes[k].again) {
      for (const saltusi_xml_node* n = m->classes[k].node->first; n != NULL; n = n->next) {
        const char* found =
            strcmp(n->name, e->tag) == 0 ? saltusi_element_text(n, attribute) : NULL;
        text = found != NULL ? found : text;
      }
    }
  }
  return text;
}

/* ---- values ---- */

int saltusi_mjcf_numbers(saltusi_mjcf* m, const saltusi_mjcf_element* e, const char* attribute,
                         int least, int most, double* out) {
  assert(m != NULL && e != NULL && out != NULL && 0 <= least && least <= most);
  const char* text = saltusi_mjcf_text(m, e, attribute);
  return text == NULL
             ? 0
             : saltusi_element_read_numbers(m->robot, e->node, attribute, text, least, most, out);
}

double saltusi_mjcf_number(saltusi_mjcf* m, const saltusi_mjcf_element* e, const char* attribute,
                           double otherwise) {
  assert(m != NULL && e != NULL && attribute != NULL);
  double value = otherwise;
  saltusi_mjcf_numbers(m, e, attribute, 1, 1, &value);
  return value;
}

int saltusi_mjcf_word(saltusi_mjcf* m, const saltusi_mjcf_element* e, const char* attribute,
                      const char* const* words, int otherwise) {
  assert(m != NULL && e != NULL && words != NULL && otherwise >= 0);
  const char* text = saltusi_mjcf_text(m, e, attribute);
  if (text == NULL) {
    return otherwise;
  }
  int count = 0;
  for (; words[count] != NULL; count++) {
    if (strcmp(text, words[count]) == 0) {
      return count;
    }
  }
  const char* near = saltusi_suggest(text, words, count);
  saltusi_robot_refuse(m->robot, e->node->line, "<%.60s>: %s is " SALTUSI_ROBOT_QUOTE "%s%s%s",
                       e->node->name, attribute, text, near != NULL ? "; did you mean " : "",
                       near != NULL ? near : ", which is not known", near != NULL ? "?" : "");
  return otherwise;
}

bool saltusi_mjcf_limits(saltusi_mjcf* m, const saltusi_mjcf_element* e, const char* limited,
                         const char* range, double out[2]) {
  assert(m != NULL && e != NULL && limited != NULL && range != NULL && out != NULL);
  static const char* const words[] = {"false", "true", "auto", NULL};
  const int how = saltusi_mjcf_word(m, e, limited, words, 2);
  const bool given = saltusi_mjcf_numbers(m, e, range, 2, 2, out) == 2;
  const bool applies = how == 1 || (how == 2 && given && m->autolimits);
  if (applies && !(given && out[0] < out[1])) {
    saltusi_robot_refuse(m->robot, e->node->line,
                         "<%.60s>: %s is %g to %g, must be two ascending numbers", e->node->name,
                         range, given ? out[0] : 0.0, given ? out[1] : 0.0);
  }
  return applies;
}

/* ---- orientations ---- */

void saltusi_mjcf_quaternion(const double q[4], double* R) {
  assert(q != NULL && R != NULL);
  assert(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 0.0);
  const double s = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double out[9] = {
      1.0 - s * (y * y + z * z), s * (x * y - w * z),       s * (x * z + w * y),
      s * (x * y + w * z),       1.0 - s * (x * x + z * z), s * (y * z - w * x),
      s * (x * z - w * y),       s * (y * z + w * x),       1.0 - s * (x * x + y * y)};
  memcpy(R, out, sizeof out);
}

static bool unit(saltusi_mjcf* m, const saltusi_mjcf_element* e, const char* what, double* x,
                 int count) {
  double square = 0.0;
  for (int i = 0; i < count; i++) {
    square += x[i] * x[i];
  }
  if (!(square > 1e-20)) {
    saltusi_robot_refuse(m->robot, e->node->line, "<%.60s>: %s has the length %g, must be above 0",
                         e->node->name, what, sqrt(square));
    return false;
  }
  for (int i = 0; i < count; i++) {
    x[i] /= sqrt(square);
  }
  return true;
}

/* Lower-case letters rotate about moving axes, upper-case letters about fixed axes. */
static void by_euler(const saltusi_mjcf* m, const double angles[3], double* R) {
  for (int i = 0; i < 3; i++) {
    const char c = m->sequence[i];
    const bool moving = c >= 'x' && c <= 'z';
    const double axis[3] = {c == 'x' || c == 'X', c == 'y' || c == 'Y', c == 'z' || c == 'Z'};
    double turn[9];
    saltusi_matrix3_turn(axis, angles[i], turn);
    saltusi_matrix3_times(moving ? R : turn, moving ? turn : R, R);
  }
}

static void by_axes(saltusi_mjcf* m, const saltusi_mjcf_element* e, double v[6], double* R) {
  if (!unit(m, e, "the first of xyaxes", v, 3)) {
    return;
  }
  const double along = v[0] * v[3] + v[1] * v[4] + v[2] * v[5];
  for (int i = 0; i < 3; i++) {
    v[3 + i] -= along * v[i];
  }
  if (unit(m, e, "the second of xyaxes across the first", v + 3, 3)) {
    const double z[3] = {v[1] * v[5] - v[2] * v[4], v[2] * v[3] - v[0] * v[5],
                         v[0] * v[4] - v[1] * v[3]};
    for (int i = 0; i < 3; i++) {
      R[3 * i] = v[i], R[3 * i + 1] = v[3 + i], R[3 * i + 2] = z[i];
    }
  }
}

void saltusi_mjcf_rotation(saltusi_mjcf* m, const saltusi_mjcf_element* e, double* R) {
  assert(m != NULL && e != NULL && R != NULL);
  static const char* const words[] = {"axisangle", "euler", "xyaxes", "zaxis", "quat"};
  static const int counts[] = {4, 3, 6, 3, 4};
  const double scale = m->degrees ? acos(-1.0) / 180.0 : 1.0;
  int own = 0, which = 4;
  double v[6] = {1.0};
  memcpy(R, (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 9 * sizeof *R);
  for (int k = 4; k >= 0; k--) { /* others have precedence over a quaternion of the class */
    own += saltusi_element_text(e->node, words[k]) != NULL;
    which = saltusi_mjcf_text(m, e, words[k]) != NULL ? k : which;
  }
  if (own > 1) {
    saltusi_robot_refuse(m->robot, e->node->line, "<%.60s>: more than one orientation",
                         e->node->name);
    return;
  }
  if (saltusi_mjcf_numbers(m, e, words[which], counts[which], counts[which], v) == 0) {
    return;
  }
  if (which == 1) {
    const double angles[3] = {scale * v[0], scale * v[1], scale * v[2]};
    by_euler(m, angles, R);
  } else if (which == 2) {
    by_axes(m, e, v, R);
  } else if (unit(m, e, words[which], v, which == 4 ? 4 : 3)) {
    if (which == 0) {
      saltusi_matrix3_turn(v, scale * v[3], R);
    } else if (which == 3) {
      saltusi_matrix3_z_to(v, R);
    } else {
      saltusi_mjcf_quaternion(v, R);
    }
  }
}

/* ---- the rest ---- */

static bool is_among(const char* word, const char* list) {
  const size_t length = strlen(word);
  for (const char* at = strstr(list, word); at != NULL; at = strstr(at + 1, word)) {
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
      return true;
    }
  }
  return false;
}

void saltusi_mjcf_list(saltusi_mjcf* m, const saltusi_xml_node* node, const char* used) {
  assert(m != NULL && node != NULL && used != NULL);
  for (int i = 0; i < node->attribute_count; i++) {
    if (!is_among(node->attributes[i].name, used)) {
      saltusi_robot_note(m->robot, node->line, "<%.60s>: %.60s: not used", node->name,
                         node->attributes[i].name);
    }
  }
}
