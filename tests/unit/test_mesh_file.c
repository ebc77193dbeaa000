/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_mesh_file.c - triangles from STL and OBJ files: what is read, what is refused with its line, and bytes that changed.
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
      {"m.ply", "ply", "neither with .stl nor with .obj"},
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
      cmocka_unit_test(changed_bytes_are_read_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
