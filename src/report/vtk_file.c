/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * vtk_file.c - see vtk_file.h.
 */
#include "report/vtk_file.h"

#include "base/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void saltusi_vtk_begin(saltusi_vtk_file* f, double t) {
  assert(f != NULL);
  char text[512];
  f->text.count = 0;
  saltusi_print(text, sizeof text,
                "<?xml version=\"1.0\"?>\n"
                "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                "header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n"
                "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                "format=\"ascii\">%.17g</DataArray>\n",
                t);
  saltusi_bytes_text(&f->text, text);
}

/* Texts are lists of byte values, each text ended by 0, so that no byte is interpreted as XML. */
void saltusi_vtk_names(saltusi_vtk_file* f, const char* name, const char* const* names, int count) {
  assert(f != NULL && name != NULL && (names != NULL || count == 0));
  char text[128];
  if (count == 0) {
    return;
  }
  snprintf(text, sizeof text,
           "<Array type=\"String\" Name=\"%s\" NumberOfTuples=\"%d\" format=\"ascii\">\n", name,
           count);
  saltusi_bytes_text(&f->text, text);
  for (int i = 0; i < count; i++) {
    for (const unsigned char* p = (const unsigned char*)names[i]; *p != '\0'; p++) {
      snprintf(text, sizeof text, "%d ", *p);
      saltusi_bytes_text(&f->text, text);
    }
    saltusi_bytes_text(&f->text, "0\n");
  }
  saltusi_bytes_text(&f->text, "</Array>\n");
}

void saltusi_vtk_piece(saltusi_vtk_file* f, size_t points, const size_t cells[SALTUSI_CELL_KINDS]) {
  assert(f != NULL && cells != NULL);
  char text[256];
  snprintf(text, sizeof text,
           "</FieldData>\n<Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"%zu\" "
           "NumberOfLines=\"%zu\" NumberOfStrips=\"0\" NumberOfPolys=\"%zu\">\n",
           points, cells[SALTUSI_CELL_POINT], cells[SALTUSI_CELL_LINE], cells[SALTUSI_CELL_AREA]);
  saltusi_bytes_text(&f->text, text);
}

void saltusi_vtk_end(saltusi_vtk_file* f) {
  assert(f != NULL);
  saltusi_bytes_text(&f->text, "</Piece>\n</PolyData>\n</VTKFile>\n");
}

void saltusi_vtk_open(saltusi_vtk_file* f, const char* element) {
  assert(f != NULL && element != NULL);
  saltusi_bytes_text(&f->text, "<");
  saltusi_bytes_text(&f->text, element);
  saltusi_bytes_text(&f->text, ">\n");
}

void saltusi_vtk_close(saltusi_vtk_file* f, const char* element) {
  assert(f != NULL && element != NULL);
  saltusi_bytes_text(&f->text, "</");
  saltusi_bytes_text(&f->text, element);
  saltusi_bytes_text(&f->text, ">\n");
}

void saltusi_vtk_array(saltusi_vtk_file* f, const char* name, saltusi_vtk_type type, int width) {
  assert(f != NULL && name != NULL && width > 0);
  static const char* const types[] = {"Float32", "Float64", "Int32", "UInt64"};
  char text[192];
  snprintf(text, sizeof text,
           "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">",
           types[type], name, width);
  saltusi_bytes_text(&f->text, text);
  f->type = type;
  f->array.count = 0;
  saltusi_bytes_little(&f->array, 0, 8); /* its length, written at its end */
}

void saltusi_vtk_number(saltusi_vtk_file* f, double value) {
  assert(f != NULL && (f->type == SALTUSI_VTK_FLOAT32 || f->type == SALTUSI_VTK_FLOAT64));
  const double finite = isfinite(value) ? value : 0.0;
  const float narrow = (float)finite;
  uint32_t half;
  uint64_t bits;
  memcpy(&half, &narrow, sizeof half);
  memcpy(&bits, &finite, sizeof bits);
  const bool wide = f->type == SALTUSI_VTK_FLOAT64;
  saltusi_bytes_little(&f->array, wide ? bits : half, wide ? 8 : 4);
}

void saltusi_vtk_vector(saltusi_vtk_file* f, const double value[3]) {
  assert(f != NULL && value != NULL);
  for (int k = 0; k < 3; k++) {
    saltusi_vtk_number(f, value[k]);
  }
}

void saltusi_vtk_whole(saltusi_vtk_file* f, uint64_t value) {
  assert(f != NULL && (f->type == SALTUSI_VTK_INT32 || f->type == SALTUSI_VTK_UINT64));
  saltusi_bytes_little(&f->array, value, f->type == SALTUSI_VTK_INT32 ? 4 : 8);
}

void saltusi_vtk_array_end(saltusi_vtk_file* f) {
  assert(f != NULL);
  enum { PIECE = 3072 }; /* a multiple of 3 */
  char text[PIECE / 3 * 4];
  if (f->array.failed) {
    f->text.failed = true;
    return;
  }
  uint64_t length = f->array.count - 8;
  for (int i = 0; i < 8; i++) {
    f->array.at[i] = (unsigned char)(length >> 8 * i & 0xFF);
  }
  for (size_t i = 0; i < f->array.count; i += PIECE) {
    const size_t left = f->array.count - i;
    saltusi_bytes_add(&f->text, text,
                      saltusi_base64(f->array.at + i, left < PIECE ? left : PIECE, text));
  }
  saltusi_bytes_text(&f->text, "</DataArray>\n");
}

void saltusi_vtk_cells(saltusi_vtk_file* f, const saltusi_surface* s) {
  assert(f != NULL && s != NULL);
  static const char* const elements[SALTUSI_CELL_KINDS] = {"Verts", "Lines", "Polys"};
  for (int k = 0; k < SALTUSI_CELL_KINDS; k++) {
    const saltusi_cells* c = &s->cells[k];
    saltusi_vtk_open(f, elements[k]);
    saltusi_vtk_array(f, "connectivity", SALTUSI_VTK_INT32, 1);
    for (size_t i = 0; i < c->corners; i++) {
      saltusi_vtk_whole(f, (uint64_t)c->corner[i]);
    }
    saltusi_vtk_array_end(f);
    saltusi_vtk_array(f, "offsets", SALTUSI_VTK_INT32, 1);
    for (size_t i = 0; i < c->count; i++) {
      saltusi_vtk_whole(f, c->list[i].first + (uint64_t)c->list[i].count);
    }
    saltusi_vtk_array_end(f);
    saltusi_vtk_close(f, elements[k]);
  }
}
