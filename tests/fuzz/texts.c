/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * texts.c - mutated texts for every reader of texts: scenes, formulas, robots, options, axes and measures of sweeps,
 * overrides, contact problems, meshes, tables, finite elements. Each is accepted, or refused with one message.
 */
#include "elements.h"
#include "fuzz.h"
#include "saltus/saltus.h"

#include "base/pool.h"
#include "scene/mesh_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, LONGEST_SEED = 1400, FORMULA_SLOTS = 9 };

typedef struct corpus {
  fuzz_blob text[MOST];
  char name[MOST][64];
  size_t count;
} corpus;

static corpus scenes, formulas, robots, options, sweeps, overrides, problems, meshes, tables,
    elements;
static fuzz_blob reduced_body;
static const char* own_folder = "";
static char ball[4096];

static void add(corpus* c, const char* name, const void* bytes, size_t count) {
  if (c->count < MOST) {
    fuzz_blob* b = &c->text[c->count];
    *b = (fuzz_blob){malloc(count + 1), count};
    if (b->bytes == NULL) {
      abort();
    }
    memcpy(b->bytes, bytes, count);
    b->bytes[count] = '\0';
    snprintf(c->name[c->count++], sizeof c->name[0], "%.63s", name);
  }
}

static void add_texts(corpus* c, const char* name, const char* const* texts, size_t count) {
  for (size_t i = 0; i < count; i++) {
    add(c, name, texts[i], strlen(texts[i]));
  }
}

static int by_name(const void* a, const void* b) {
  return strcmp(a, b);
}

/* The files of a folder of the sources with this ending that are small, in the order of their names. */
static void add_folder(corpus* c, const char* folder, const char* ending, size_t longest) {
  static char names[1024][256];
  char path[1024];
  size_t count = 0;
  snprintf(path, sizeof path, "%s/%s", SALTUS_FUZZ_SOURCE, folder);
  DIR* entries = opendir(path);
  fuzz_require(entries != NULL, "a folder of seeds is there");
  const struct dirent* entry;
  while ((entry = readdir(entries)) != NULL && count < 1024) {
    const size_t length = strlen(entry->d_name), tail = strlen(ending);
    if (length > tail && entry->d_name[0] != '.' &&
        strcmp(entry->d_name + length - tail, ending) == 0) {
      snprintf(names[count++], sizeof names[0], "%s", entry->d_name);
    }
  }
  closedir(entries);
  qsort(names, count, sizeof names[0], by_name);
  for (size_t i = 0; i < count; i++) {
    snprintf(path, sizeof path, "%s/%s/%.255s", SALTUS_FUZZ_SOURCE, folder, names[i]);
    fuzz_blob b = fuzz_read(path);
    if (b.count <= longest) {
      add(c, names[i], b.bytes, b.count);
    }
    free(b.bytes);
  }
}

/* Formulas of the scenes: values of keys that hold one. */
static void add_formulas(void) {
  static const char* const keys[] = {"kinetic: ", "potential: ", "gap: ",   "constraint: ",
                                     "slip: ",    "force: ",     "start: ", "restitution: "};
  for (size_t i = 0; i < scenes.count; i++) {
    const char* text = (const char*)scenes.text[i].bytes;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
      const char* at = strstr(text, keys[k]);
      if (at != NULL) {
        at += strlen(keys[k]);
        at += *at == '"' ? 1 : 0;
        add(&formulas, "formula", at, strcspn(at, ",}\n\"#"));
      }
    }
  }
  static const char* const more[] = {
      "piecewise(x < 0, sin(phi), t >= 1 and not x' > 2, 3, a*b)", "lookup(x, 0, 0, 1, 2, 3, 1)",
      "min(x, phi, 1) + max(abs(x'), sqrt(phi^2 + 1))",
      "atan2(sin(phi), cos(phi))*exp(-x/a)^2 - log(1 + tanh(x))", "step(t - 1)*sign(x')*-2^-x"};
  add_texts(&formulas, "formula", more, sizeof more / sizeof more[0]);
}

static void add_lines(void) {
  static const char* const lines[] = {"theta=0.5 gamma=1",  "rtol=1e-8 atol=1e-10",
                                      "newton_tol=1e-12",   "newton_max=50 tolerance=1e-9",
                                      "jump=start theta=1", "order=5 rtol=1e-06",
                                      "project_joints=yes", "iterations=1000"};
  static const char* const axes[] = {"y=0.5:2:3",
                                     "g=1:10:4 log",
                                     "e=0.1,0.2,0.5",
                                     "e~uniform(0.1, 0.9)",
                                     "g~normal(9.81, 0.1)",
                                     "e~loguniform(1e-3, 1)",
                                     "m~lognormal(1, 0.5)",
                                     "top=max(q)",
                                     "final(q)",
                                     "count(impacts)",
                                     "mean(abs(q'))",
                                     "max(floor.force)",
                                     "q=0:1:5",
                                     "q'~uniform(0, sqrt(2))",
                                     "min(floor.gap)"};
  static const char* const sets[] = {"g=9.81",     "e=1/2",   "q=2",           "q'=-1",
                                     "start=pi/3", "m=2*e",   "h0=1e-3",       "q=50 mm",
                                     "q'=3 km/h",  "m=1.2 g", "g=9.81 [m/s^2]"};
  static const char* const triangles[] = {
      "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
      "endfacet\nfacet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 "
      "0\nendloop\n"
      "endfacet\nendsolid a\n"};
  static const char* const objects[] = {
      "# cube\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nf 1 3 2\nf 1//1 2//1 4//1\n"
      "f 1 4 3\nf 2/1/1 3/1/1 4/1/1\n",
      "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nf -4 -3 -2\n"};
  static const char* const scenes_of_parts[] = {
      "<COLLADA><asset><unit meter='0.01'/></asset><library_geometries><geometry id='g'><mesh>"
      "<source id='s'><float_array id='f' count='12'>0 0 0 1 0 0 1 1 0 0 1 1</float_array>"
      "<technique_common><accessor source='#f' count='4' stride='3'/></technique_common></source>"
      "<vertices id='v'><input semantic='POSITION' source='#s'/></vertices><polylist count='2'>"
      "<input semantic='VERTEX' source='#v' offset='1'/><vcount>4 3</vcount>"
      "<p>7 0 7 1 7 2 7 3 8 0 8 1 8 2</p></polylist></mesh></geometry></library_geometries>"
      "<library_nodes><node id='n'><scale>1 -2 1</scale><instance_geometry url='#g'/></node>"
      "</library_nodes><library_visual_scenes><visual_scene id='a'><node><rotate>0 0 1 90</rotate>"
      "<instance_node url='#n'/></node></visual_scene></library_visual_scenes>"
      "<scene><instance_visual_scene url='#a'/></scene></COLLADA>"};
  static const char* const columns[] = {
      "# a table\nt [s],y [m],v [m/s]\n0,1,0\n0.5,0.75,-1\n1,0,-2\n",
      "t,\"a, b\",c\n0,1,2\n1,nan,inf\n2,1e300,-0\n"};
  add_texts(&options, "options", lines, sizeof lines / sizeof lines[0]);
  add_texts(&sweeps, "sweep", axes, sizeof axes / sizeof axes[0]);
  add_texts(&overrides, "set", sets, sizeof sets / sizeof sets[0]);
  add_texts(&meshes, "part.stl", triangles, 1);
  add_texts(&meshes, "part.obj", objects, 2);
  add_texts(&meshes, "part.dae", scenes_of_parts, 1);
  add_texts(&tables, "table.csv", columns, 2);
  unsigned char binary[84 + 2 * 50] = "binary";
  binary[80] = 2;
  const float corner[9] = {0.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 1.0F, 0.0F};
  memcpy(binary + 84 + 12, corner, sizeof corner);
  memcpy(binary + 134 + 12, corner, sizeof corner);
  add(&meshes, "part.stl", binary, sizeof binary);
}

static void prepare(const char* folder) {
  own_folder = folder;
  add_folder(&scenes, "scenes", ".yaml", LONGEST_SEED);
  add_folder(&scenes, "tests/scenes/failing", ".yaml", LONGEST_SEED);
  add_folder(&scenes, "tests/fuzz/seeds", ".yaml", LONGEST_SEED);
  add_folder(&scenes, "tests/fuzz/regressions/scene", "", LONGEST_SEED);
  add_formulas();
  add_folder(&robots, "tests/urdf", ".urdf", 4096);
  add_folder(&robots, "tests/mjcf", ".xml", 4096);
  add_folder(&problems, "tests/problems", ".dat", 3000);
  add_lines();
  elements_file files[ELEMENTS_FILES];
  for (size_t count = elements_prepare(folder, files, &reduced_body), i = 0; i < count; i++) {
    add(&elements, files[i].name, files[i].text.bytes, files[i].text.count);
    free(files[i].text.bytes);
  }
  char path[1024];
  snprintf(path, sizeof path, "%s/scenes/ball.yaml", SALTUS_FUZZ_SOURCE);
  fuzz_blob b = fuzz_read(path);
  snprintf(ball, sizeof ball, "%.4095s", (const char*)b.bytes);
  free(b.bytes);
}

/* --- readers ---------------------------------------------------------------------------------------- */

static void outcome(saltus_status status, const saltus_kept_message* kept) {
  fuzz_require(status == SALTUS_OK || kept->text[0] != '\0', "a refusal has a message");
  fuzz_count(status == SALTUS_OK ? "  accepted" : "  refused");
}

static void read_options(const fuzz_blob* b, uint64_t* state) {
  union {
    max_align_t align;
    char bytes[4096];
  } values;
  const saltus_scheme_info* info =
      saltus_scheme_at((int)fuzz_pick(state, (size_t)saltus_scheme_count()));
  fuzz_require(info->options.size <= sizeof values, "options have the capacity of this test");
  saltus_options_defaults(&info->options, &values);
  saltus_kept_message kept;
  outcome(saltus_options_set_line(&info->options, &values, info->name, (const char*)b->bytes,
                                  saltus_log_keep(&kept)),
          &kept);
}

static void read_sweep(const fuzz_blob* b, uint64_t* state) {
  saltus_kept_message kept;
  const char* text = (const char*)b->bytes;
  static const char* const axis = "e=0.1,0.2";
  saltus_sweep_def def = saltus_sweep_def_default();
  const bool measure = fuzz_chance(state, 50);
  def.text = ball;
  def.axes = measure ? &axis : &text;
  def.axis_count = 1;
  def.measures = &text;
  def.measure_count = measure ? 1 : 0;
  def.samples = 3;
  def.log = saltus_log_keep(&kept);
  saltus_sweep* sweep = NULL;
  const saltus_status status = saltus_sweep_create(&def, &sweep);
  outcome(status, &kept);
  if (status == SALTUS_OK) {
    double values[4];
    saltus_sweep_point(sweep, 0, values);
  }
  saltus_sweep_destroy(sweep);
}

static void read_override(const fuzz_blob* b) {
  saltus_kept_message kept;
  char* name = (char*)b->bytes;
  char* value = strchr(name, '=');
  if (value == NULL) {
    return;
  }
  *value++ = '\0';
  const saltus_override override = {name, value};
  const saltus_scene_def def = {
      .text = ball, .overrides = &override, .override_count = 1, .log = saltus_log_keep(&kept)};
  saltus_scene* scene = NULL;
  outcome(saltus_scene_create(&def, &scene), &kept);
  saltus_scene_destroy(scene);
}

static void read_problem(const char* path) {
  saltus_kept_message kept;
  saltus_problem_file* file = NULL;
  outcome(saltus_problem_file_read(path, saltus_log_keep(&kept), NULL, &file), &kept);
  saltus_problem_file_destroy(file);
}

static void read_mesh(const char* name) {
  char beside[160];
  snprintf(beside, sizeof beside, "%s/scene.yaml", own_folder);
  saltus_kept_message kept;
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_mesh_file mesh;
  outcome(saltusi_mesh_read(name, beside, &pool, saltus_log_keep(&kept), &mesh), &kept);
  saltusi_pool_free(&pool);
}

static void read_table(const char* path) {
  saltus_kept_message kept;
  saltus_table* table = NULL;
  outcome(saltus_table_read(path, saltus_log_keep(&kept), NULL, &table), &kept);
  saltus_table_destroy(table);
}

/* The text as a file; the readers of problems and meshes depend on its name. */
static void read_as_file(const corpus* c, size_t chosen, const fuzz_blob* b) {
  char path[160];
  snprintf(path, sizeof path, "%s/%s", own_folder, c->name[chosen]);
  fuzz_write(path, b);
  if (c == &problems) {
    read_problem(path);
  } else if (c == &meshes) {
    read_mesh(c->name[chosen]);
  } else if (c == &elements) {
    elements_read(path);
  } else {
    read_table(path);
  }
}

typedef struct reader {
  corpus* of;
  size_t percent;
  const char* name;
} reader;

static void attack_by(const reader* readers, uint64_t state);

static void attack(uint64_t seed) {
  static const reader readers[] = {
      {&scenes, 27, "scenes"},        {&formulas, 28, "formulas"},
      {&robots, 10, "robots"},        {&options, 6, "lines of options"},
      {&sweeps, 5, "axes, measures"}, {&overrides, 6, "overrides"},
      {&problems, 5, "problems"},     {&meshes, 5, "meshes"},
      {&tables, 3, "tables"},         {&elements, 5, "finite elements"}};
  uint64_t state = seed;
  if (reduced_body.count > 0 && fuzz_chance(&state, 3)) {
    fuzz_count("reduced bodies");
    elements_attack_body(own_folder, &reduced_body, &state);
    return;
  }
  attack_by(readers, state);
}

static void attack_robots(uint64_t seed) {
  static const reader readers[] = {{&robots, 75, "robots"}, {&meshes, 25, "meshes"}};
  attack_by(readers, seed);
}

static void attack_by(const reader* readers, uint64_t state) {
  size_t kind = fuzz_pick(&state, 100), i = 0;
  while (kind >= readers[i].percent) {
    kind -= readers[i++].percent;
  }
  const corpus* c = readers[i].of;
  const size_t chosen = fuzz_pick(&state, c->count), other = fuzz_pick(&state, c->count);
  fuzz_blob b = fuzz_mutated(&c->text[chosen], &c->text[other], &state);
  fuzz_count(readers[i].name);
  fuzz_current(true, c->name[chosen], b.bytes, b.count);
  if (c == &scenes) {
    fuzz_scene(b.bytes, b.count);
  } else if (c == &formulas) {
    uint8_t* whole = malloc(b.count + 1);
    if (whole == NULL) {
      abort();
    }
    whole[0] = (uint8_t)fuzz_pick(&state, FORMULA_SLOTS);
    memcpy(whole + 1, b.bytes, b.count);
    fuzz_current(true, c->name[chosen], whole, b.count + 1);
    fuzz_formula(whole, b.count + 1);
    free(whole);
  } else if (c == &robots) {
    fuzz_urdf(b.bytes, b.count);
  } else if (c == &options) {
    read_options(&b, &state);
  } else if (c == &sweeps) {
    read_sweep(&b, &state);
  } else if (c == &overrides) {
    read_override(&b);
  } else {
    read_as_file(c, chosen, &b);
  }
  free(b.bytes);
}

static void finish(void) {
  corpus* all[] = {&scenes,    &formulas, &robots, &options, &sweeps,
                   &overrides, &problems, &meshes, &tables,  &elements};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    for (size_t k = 0; k < all[i]->count; k++) {
      free(all[i]->text[k].bytes);
    }
  }
  free(reduced_body.bytes);
}

const fuzz_kind fuzz_texts = {"texts", prepare, attack, finish};
const fuzz_kind fuzz_robots = {"robots", prepare, attack_robots, finish};
