/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_mesh_file.c - triangles from STL, OBJ and COLLADA files: what is read, what is refused with its line, and bytes that changed.
 */
#include "saltus_test.h"

#include "base/pool.h"
#include "scene/mesh_file.h"

#include <stdio.h>
#include <stdlib.h>

static saltus_kept_message message;

/* Two triangles with a common edge. */
static const char stl[] = "solid two\n"
                          " facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n"
                          "   vertex 0 1 0.5\n  endloop\n endfacet\n"
                          " facet normal 0 0 1\n  outer loop\n   vertex 1 0 -0\n   vertex 1 1 0\n"
                          "   vertex 0 1 0.5\n  endloop\n endfacet\nendsolid two\n";
static const char obj[] = "# a square and a triangle\nv 0 0 0\nv 1 0 0\nv 1 1 0\r\nv 0 1 0 1.0\n"
                          "vn 0 0 1\nf 1/1/1 2//1 3 4 # fan\nv 0.5 0.5 1\nf -1 -5 2\n";

static saltus_status read_bytes(const char* name, const void* bytes, size_t size,
                                saltusi_pool* pool, saltusi_mesh_file* out) {
  FILE* file = fopen(name, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
  saltus_status status = saltusi_mesh_read(name, NULL, pool, saltus_log_keep(&message), out);
  remove(name);
  return status;
}

/* The two triangles in binary. */
static size_t make_binary(unsigned char bytes[184]) {
  static const float corner[2][3][3] = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0.5F}},
                                        {{1, 0, 0}, {1, 1, 0}, {0, 1, 0.5F}}};
  memset(bytes, 0, 184);
  bytes[80] = 2;
  for (int t = 0; t < 2; t++) {
    for (int k = 0; k < 9; k++) { /* lowest byte first, whatever the machine */
      uint32_t bits;
      memcpy(&bits, &corner[t][k / 3][k % 3], sizeof bits);
      for (int b = 0; b < 4; b++) {
        bytes[84 + 50 * t + 12 + 4 * k + b] = (unsigned char)(bits >> (8 * b));
      }
    }
  }
  return 184;
}

static void both_kinds_of_stl_are_the_same_triangles(void** unused) {
  (void)unused;
  static const double point[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0.5}, {1, 1, 0}};
  static const int triangle[6] = {0, 1, 2, 1, 3, 2};
  unsigned char binary[184];
  const size_t size = make_binary(binary);
  for (int kind = 0; kind < 2; kind++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    saltusi_mesh_file mesh;
    assert_int_equal(read_bytes("mesh_file.STL", kind == 0 ? (const void*)stl : binary,
                                kind == 0 ? sizeof stl - 1 : size, &pool, &mesh),
                     SALTUS_OK);
    assert_int_equal(mesh.points, 4);
    assert_int_equal(mesh.triangles, 2);
    assert_memory_equal(mesh.point, point, sizeof point);
    assert_memory_equal(mesh.triangle, triangle, sizeof triangle);
    saltusi_pool_free(&pool);
  }
}

static void faces_of_obj_are_cut_into_fans(void** unused) {
  (void)unused;
  static const int triangle[9] = {0, 1, 2, 0, 2, 3, 4, 0, 1};
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_mesh_file mesh;
  assert_int_equal(read_bytes("mesh_file.obj", obj, sizeof obj - 1, &pool, &mesh), SALTUS_OK);
  assert_int_equal(mesh.points, 5);
  assert_int_equal(mesh.triangles, 3);
  assert_memory_equal(mesh.triangle, triangle, sizeof triangle);
  assert_true(mesh.point[12] == 0.5 && mesh.point[14] == 1.0);
  saltusi_pool_free(&pool);
}

static void bad_files_are_refused_with_line_and_reason(void** unused) {
  (void)unused;
  static const char* const bad[][3] = {
      {"m.stl", "solid a\nendsolid\n", "has no triangles"},
      {"m.stl", "facet\n", "neither a binary STL file of its length nor one of text"},
      {"m.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0\nvertex", "\":4: a vertex that"},
      {"m.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 nan\n", "\":4: a vertex that"},
      {"m.stl", "solid\nvertex 0 0 0\n", "\":2: not a line of STL, or not in its place"},
      {"m.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n",
       "\":6: not a line of STL"},
      {"m.stl",
       "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
       "endfacet\n",
       "ends before endsolid"},
      {"m.obj", "v 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "\":1: a point that is not three numbers"},
      {"m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 4\n",
       "\":5: a face with a point that does not"},
      {"m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "\":4: a face with a point that does not"},
      {"m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x 3\n", "\":4: a face that is not the numbers"},
      {"m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n3\n", "\":4: a face that is not the numbers"},
      {"m.obj", "v 0 0 0\n", "no points or no faces"},
      {"m.obj", "", "no points or no faces"},
      {"m.stl", "", "neither a binary"},
      {"m.ply", "ply", "with none of .stl, .obj and .dae"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    saltusi_mesh_file mesh;
    assert_int_equal(read_bytes(bad[i][0], bad[i][1], strlen(bad[i][1]), &pool, &mesh),
                     SALTUS_ERR_INPUT);
    if (strstr(message.text, bad[i][2]) == NULL) {
      fail_msg("%s\nis not: %s", message.text, bad[i][2]);
    }
    saltusi_pool_free(&pool);
  }
  unsigned char binary[184];
  make_binary(binary);
  memset(binary + 84 + 50 + 12, 0xff, 4);
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_mesh_file mesh;
  assert_int_equal(read_bytes("m.stl", binary, 184, &pool, &mesh), SALTUS_ERR_INPUT);
  assert_non_null(strstr(message.text, "triangle 2 has a number that is not finite"));
  assert_int_equal(read_bytes("m.stl", binary, 183, &pool, &mesh), SALTUS_ERR_INPUT);
  assert_int_equal(read_bytes("m.obj", "v 0 0 0\0v", 9, &pool, &mesh), SALTUS_ERR_INPUT);
  assert_non_null(strstr(message.text, "zero bytes"));
  saltusi_pool_free(&pool);
}

#define COLLADA(nodes, scene)                                                                      \
  "<COLLADA><asset><unit meter='0.01'/><up_axis>Y_UP</up_axis></asset>\n"                          \
  "<library_geometries><geometry id='g'><mesh>\n"                                                  \
  "<source id='s'><float_array id='f' count='16'>9 0 0 0 1 0 0 1 1 0\n 0 1 0 0 0 "                 \
  "1</float_array>\n"                                                                              \
  "<technique_common><accessor source='#f' count='5' stride='3' offset='1'/></technique_common>\n" \
  "</source><vertices id='v'><input semantic='POSITION' source='#s'/></vertices>\n"                \
  "<polylist count='2'><input semantic='NORMAL' source='#none' offset='0'/>\n"                     \
  "<input semantic='VERTEX' source='#v' offset='1'/><vcount>4 3</vcount>\n"                        \
  "<p>7 0 7 1 7 2 7 3 8 0 8 1 8 4</p></polylist></mesh></geometry>\n"                              \
  "<geometry id='h'><mesh><triangles count='1'><input semantic='VERTEX' source='#v'/>\n"           \
  "<p>1 2 4</p></triangles></mesh></geometry></library_geometries>\n"                              \
  "<library_nodes><node id='n'>" nodes "</node></library_nodes>\n"                                 \
  "<library_visual_scenes><visual_scene id='all'>" scene "</visual_scene></library_visual_scenes>" \
  "\n<scene><instance_visual_scene url='#all'/></scene></COLLADA>"

static saltus_status read_collada(const char* text, saltusi_pool* pool, saltusi_mesh_file* out) {
  const saltus_status status = read_bytes("m.dae", text, strlen(text), pool, out);
  if (status == SALTUS_ERR_UNSUPPORTED) { /* a build without expat */
    saltusi_pool_free(pool);
    skip();
  }
  return status;
}

/* (a, b, c) -> 0.01 (10 + 2 b, a, c): y scaled by -2, which reverses triangles, then 90 degrees about z, then moved. */
static void nodes_of_collada_place_their_geometries_in_metres(void** unused) {
  (void)unused;
  static const double point[8][3] = {{0.1, 0, 0},  {0.1, 0.01, 0}, {0.12, 0.01, 0},
                                     {0.12, 0, 0}, {0.1, 0, 0.01}, {0, 0, 1},
                                     {0.01, 0, 1}, {0.01, 0.01, 1}};
  static const int triangle[12] = {1, 0, 2, 2, 0, 3, 1, 0, 4, 6, 7, 9};
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_mesh_file mesh;
  assert_int_equal(
      read_collada(
          COLLADA("<scale>1 -2 1</scale><instance_geometry url='#g'/>",
                  "<node><translate>10 0 0</translate><rotate>0 0 1 90</rotate>"
                  "<instance_node url='#n'/></node><node><matrix>1 0 0 0 0 1 0 0 0 0 1 100 "
                  "0 0 0 1</matrix><instance_geometry url='#h'/></node>"),
          &pool, &mesh),
      SALTUS_OK);
  assert_int_equal(mesh.points, 10);
  assert_int_equal(mesh.triangles, 4);
  assert_memory_equal(mesh.triangle, triangle, sizeof triangle);
  for (int i = 0; i < 24; i++) {
    assert_float_equal(mesh.point[i], point[i / 3][i % 3], 1e-15);
  }
  saltusi_pool_free(&pool);
}

static void hostile_collada_is_refused_with_line_and_reason(void** unused) {
  (void)unused;
#define DOUBLED(a, b)                                                                              \
  "<node id='" a "'><instance_node url='#" b "'/><instance_node url='#" b "'/></node>"
  static const char* const bad[][2] = {
      {COLLADA("<instance_node url='#n'/>", "<instance_node url='#n'/>"),
       "nodes contain each other"},
      {COLLADA("<instance_geometry url='#g'/>",
               DOUBLED("a", "b") DOUBLED("b", "c") DOUBLED("c", "d") DOUBLED("d", "e") DOUBLED(
                   "e", "f2") DOUBLED("f2", "g2") DOUBLED("g2", "h2") DOUBLED("h2", "i")
                   DOUBLED("i", "j") DOUBLED("j", "k") DOUBLED("k", "l") DOUBLED("l", "m")
                       DOUBLED("m", "o") DOUBLED("o", "q") DOUBLED("q", "r") DOUBLED("r", "t")
                           DOUBLED("t", "u") DOUBLED("u", "w") DOUBLED("w", "x") DOUBLED("x", "n")),
       "nodes contain each other, or are too many"},
      {COLLADA("", "<instance_geometry url='other.dae#g'/>"),
       "<instance_geometry>: its target is not in this file"},
      {COLLADA("", "<instance_controller url='#g'/>"), "<instance_controller>: not read"},
      {COLLADA("", "<node><translate>1 0 1e31</translate></node>"), "finite numbers up to 1e30"},
      {COLLADA("", "<node><scale>1 nan 1</scale></node>"), "finite numbers up to 1e30"},
      {COLLADA("", "<node><rotate>0 0 1</rotate></node>"), "<rotate>: has too few numbers"},
      {COLLADA("", ""), "has no triangles in its scene"},
      {"<COLLADA><library_geometries><geometry><mesh><source id='s'><float_array id='f'>1 2 3"
       "</float_array><technique_common><accessor source='#f' count='900000000' stride='3'/>"
       "</technique_common></source><vertices id='v'><input semantic='POSITION' source='#s'/>"
       "</vertices><triangles count='1'><input semantic='VERTEX' source='#v'/><p>0 1 2</p>"
       "</triangles></mesh></geometry></library_geometries></COLLADA>",
       "1 to 20000000 are read"},
      {"<!DOCTYPE COLLADA [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>\n<COLLADA/>",
       ":1: a document type"},
      {"<svg/>", "has to be <COLLADA>"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    saltusi_mesh_file mesh;
    assert_int_equal(read_collada(bad[i][0], &pool, &mesh), SALTUS_ERR_INPUT);
    assert_says(message, bad[i][1]);
    saltusi_pool_free(&pool);
  }
}

static void changed_bytes_are_read_or_refused(void** unused) {
  (void)unused;
  unsigned char binary[184], bytes[sizeof stl + sizeof obj];
  const size_t size[3] = {sizeof stl - 1, make_binary(binary), sizeof obj - 1};
  const void* from[3] = {stl, binary, obj};
  unsigned seed = 11;
  int good = 0;
  for (int i = 0; i < 1500; i++) {
    const int kind = i % 3;
    memcpy(bytes, from[kind], size[kind]);
    for (int k = 0; k <= i % 4; k++) {
      seed = seed * 1664525U + 1013904223U;
      const size_t at = (seed >> 8) % size[kind];
      seed = seed * 1664525U + 1013904223U;
      bytes[at] = (unsigned char)(i % 2 == 0 ? seed >> 24
                                             : (unsigned)"0123456789-.eE /\n"[(seed >> 24) % 17]);
    }
    seed = seed * 1664525U + 1013904223U;
    const size_t kept = i % 5 == 0 ? (seed >> 8) % size[kind] : size[kind];
    saltusi_pool pool = saltusi_pool_over(NULL);
    saltusi_mesh_file mesh;
    const saltus_status status =
        read_bytes(kind < 2 ? "mesh_fuzz.stl" : "mesh_fuzz.obj", bytes, kept, &pool, &mesh);
    assert_true(status == SALTUS_OK || status == SALTUS_ERR_INPUT);
    for (int k = 0; status == SALTUS_OK && k < 3 * mesh.triangles; k++) {
      assert_in_range(mesh.triangle[k], 0, mesh.points - 1);
    }
    for (int k = 0; status == SALTUS_OK && k < 3 * mesh.points; k++) {
      assert_true(isfinite(mesh.point[k]));
    }
    good += status == SALTUS_OK;
    saltusi_pool_free(&pool);
  }
  assert_in_range(good, 100, 1400); /* both happen */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_kinds_of_stl_are_the_same_triangles),
      cmocka_unit_test(faces_of_obj_are_cut_into_fans),
      cmocka_unit_test(bad_files_are_refused_with_line_and_reason),
      cmocka_unit_test(nodes_of_collada_place_their_geometries_in_metres),
      cmocka_unit_test(hostile_collada_is_refused_with_line_and_reason),
      cmocka_unit_test(changed_bytes_are_read_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
