/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sketch.c - contents of a sketch; sketch_draw.c draws it.
 */
#include "figure/sketch.h"

#include "base/pool.h"

#include <assert.h>
#include <string.h>

saltusi_sketch saltusi_sketch_begin(const saltus_allocator* allocator) {
  return (saltusi_sketch){.memory = allocator != NULL ? *allocator : saltus_allocator_default()};
}

void saltusi_sketch_free(saltusi_sketch* sketch) {
  assert(sketch != NULL);
  saltusi_release(&sketch->memory, sketch->paths, sketch->path_room, sizeof *sketch->paths);
  saltusi_release(&sketch->memory, sketch->labels, sketch->label_room, sizeof *sketch->labels);
  saltusi_release(&sketch->memory, sketch->points, sketch->point_room, sizeof *sketch->points);
  *sketch = (saltusi_sketch){.failed = true};
}

static bool grow(saltusi_sketch* s, void** array, size_t* room, int wanted, size_t item) {
  s->failed = s->failed || !saltusi_grow(&s->memory, array, room, (size_t)wanted, item);
  return !s->failed;
}

void saltusi_sketch_draw(saltusi_sketch* sketch, saltusi_sketch_path path, const double* points,
                         int count) {
  assert(sketch != NULL && points != NULL && count > 0);
  void* paths = sketch->paths;
  void* all = sketch->points;
  bool roomy =
      grow(sketch, &paths, &sketch->path_room, sketch->path_count + 1, sizeof *sketch->paths);
  sketch->paths = paths;
  roomy = roomy && grow(sketch, &all, &sketch->point_room, sketch->point_count + 2 * count,
                        sizeof *sketch->points);
  sketch->points = all;
  if (roomy) {
    path.first = sketch->point_count;
    path.count = count;
    memcpy(sketch->points + path.first, points, 2 * (size_t)count * sizeof(double));
    sketch->paths[sketch->path_count++] = path;
    sketch->point_count += 2 * count;
  }
}

void saltusi_sketch_name(saltusi_sketch* sketch, const char* text, int colour, const double at[2]) {
  assert(sketch != NULL && text != NULL && at != NULL);
  void* labels = sketch->labels;
  if (grow(sketch, &labels, &sketch->label_room, sketch->label_count + 1, sizeof *sketch->labels)) {
    sketch->labels = labels;
    sketch->labels[sketch->label_count++] =
        (saltusi_sketch_label){.text = text, .colour = colour, .at = {at[0], at[1]}};
  }
}
