/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * switching.c - events of a scene that set inputs.
 */
#include "scene/builder.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

static void fire(void* self, int event, bool rising) {
  saltus_scene* scene = self;
  (void)rising;
  for (int i = 0; i < scene->switches.count; i++) {
    const saltusi_scene_set* set = &scene->switches.sets[i];
    if (set->event == event) {
      scene->inputs[set->input] = set->value;
      scene->changes++;
    }
  }
}

static void reset(void* self) {
  saltus_scene* scene = self;
  for (int i = 0; i < scene->switches.count; i++) {
    const saltusi_scene_set* set = &scene->switches.sets[i];
    if (scene->inputs[set->input] != set->start) {
      scene->inputs[set->input] = set->start;
      scene->changes++;
    }
  }
}

static int find_input(const saltusi_scene_builder* b, const char* name) {
  int i = 0;
  while (i < b->model.input_count && strcmp(b->model.input_names[i], name) != 0) {
    i++;
  }
  return i < b->model.input_count ? i : -1;
}

/* The mapping `set` of an event; NULL: there is none. */
static const saltusi_yaml_node* set_of(const saltusi_yaml_node* event) {
  return event->kind == SALTUSI_YAML_MAPPING ? saltusi_yaml_find(event, "set") : NULL;
}

static void read_set(saltusi_scene_builder* b, int event, const saltusi_yaml_node* node) {
  saltusi_scene_switches* s = &b->scene->switches;
  if (!saltusi_reader_expect(&b->reader, node, SALTUSI_YAML_MAPPING, "set")) {
    return;
  }
  for (int k = 0; k < node->count && b->reader.status == SALTUS_OK; k++) {
    const int input = find_input(b, node->keys[k].text);
    if (input < 0) {
      saltusi_reader_fail(&b->reader, &node->keys[k], "set: " SALTUSI_QUOTE " is not an input",
                          node->keys[k].text);
      return;
    }
    s->sets[s->count++] =
        (saltusi_scene_set){.event = event,
                            .input = input,
                            .value = saltusi_scene_number(b, &node->children[k], "set", 0.0),
                            .start = b->scene->inputs[input]};
  }
}

void saltusi_scene_switching(saltusi_scene_builder* b) {
  assert(b != NULL);
  saltus_scene* scene = b->scene;
  const saltusi_yaml_node* events = saltusi_scene_mapping(b, "events");
  int room = 0;
  for (int i = 0; i < events->count; i++) {
    const saltusi_yaml_node* node = set_of(&events->children[i]);
    room += node != NULL ? node->count : 0;
  }
  if (room == 0 || b->reader.status != SALTUS_OK) {
    return;
  }
  bool* fires = saltusi_reader_take(&b->reader, (size_t)events->count, sizeof *fires);
  scene->switches.sets =
      saltusi_reader_take(&b->reader, (size_t)room, sizeof *scene->switches.sets);
  for (int i = 0; i < events->count && b->reader.status == SALTUS_OK; i++) {
    const saltusi_yaml_node* node = set_of(&events->children[i]);
    if (node != NULL) {
      fires[i] = true;
      read_set(b, i, node);
    }
  }
  scene->switches.table =
      (saltus_switching){.fires = fires, .fire = fire, .reset = reset, .self = scene};
  scene->switches.view = *scene->view.observables;
  scene->switches.view.switching = &scene->switches.table;
  scene->switches.view.switch_tolerance = fmax(scene->view.start_tolerance, DBL_MIN);
  scene->view.observables = &scene->switches.view;
}
