/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "fe_brick.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int node_of(const fe_brick* b, int i, int j, int k) {
  return (i * (b->cells[1] + 1) + j) * (b->cells[2] + 1) + k;
}

/* One box element: B^T D B and N^T rho N at Gauss points, its edges along the axes. */
static void add_element(fe_brick* b, const int node[8]) {
  const double G = b->E / (2 * (1 + b->nu)), la = b->E * b->nu / ((1 + b->nu) * (1 - 2 * b->nu));
  double half[3];
  for (int c = 0; c < 3; c++) {
    half[c] = b->size[c] / b->cells[c] / 2;
  }
  const double volume = half[0] * half[1] * half[2];
  for (int pass = 0; pass < 2; pass++) { /* stiffness, mass */
    const int points = pass == 0 ? b->gauss : 2;
    const double place = points == 2 ? 1 / sqrt(3.0) : 0.0, weight = points == 2 ? 1.0 : 8.0;
    for (int p = 0; p < points * points * points; p++) {
      const double r[3] = {(p & 1 ? 1 : -1) * place, (p & 2 ? 1 : -1) * place,
                           (p & 4 ? 1 : -1) * place};
      double N[8], dN[8][3];
      for (int a = 0; a < 8; a++) {
        const double s[3] = {a & 1 ? 1 : -1, a & 2 ? 1 : -1, a & 4 ? 1 : -1};
        N[a] = (1 + s[0] * r[0]) * (1 + s[1] * r[1]) * (1 + s[2] * r[2]) / 8;
        for (int c = 0; c < 3; c++) {
          dN[a][c] = s[c] / 8 / half[c];
          for (int o = 0; o < 3; o++) {
            dN[a][c] *= o != c ? 1 + s[o] * r[o] : 1;
          }
        }
      }
      for (int a = 0; a < 8; a++) {
        for (int e = 0; e < 8; e++) {
          const double dots = dN[a][0] * dN[e][0] + dN[a][1] * dN[e][1] + dN[a][2] * dN[e][2];
          for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
              const int row = 3 * node[a] + i, column = 3 * node[e] + j;
              if (pass == 0) {
                b->K[row][column] +=
                    weight * volume *
                    (la * dN[a][i] * dN[e][j] + G * dN[a][j] * dN[e][i] + (i == j ? G * dots : 0));
              } else if (i == j) {
                b->M[row][column] += weight * volume * b->density * N[a] * N[e];
              }
            }
          }
        }
      }
    }
  }
}

void fe_brick_make(fe_brick* b) {
  memset(b->K, 0, sizeof b->K);
  memset(b->M, 0, sizeof b->M);
  b->rows = 3 * (b->cells[0] + 1) * (b->cells[1] + 1) * (b->cells[2] + 1);
  for (int i = 0; i <= b->cells[0]; i++) {
    for (int j = 0; j <= b->cells[1]; j++) {
      for (int k = 0; k <= b->cells[2]; k++) {
        const int at[3] = {i, j, k};
        for (int c = 0; c < 3; c++) {
          b->x[node_of(b, i, j, k)][c] = b->size[c] * at[c] / b->cells[c];
        }
        if (i < b->cells[0] && j < b->cells[1] && k < b->cells[2]) {
          int node[8];
          for (int a = 0; a < 8; a++) {
            node[a] = node_of(b, i + (a & 1), j + (a >> 1 & 1), k + (a >> 2));
          }
          add_element(b, node);
        }
      }
    }
  }
}

static FILE* open_file(const char* folder, const char* name, const char* ending) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
  return fopen(path, "w");
}

static void write_matrix(const fe_brick* b, const double A[BRICK_ROWS][BRICK_ROWS], FILE* file,
                         int market) {
  int count = 0;
  for (int c = 0; c < b->rows; c++) {
    for (int r = 0; r <= c; r++) {
      count += b->K[r][c] != 0 || b->M[r][c] != 0;
    }
  }
  if (market) {
    fprintf(file, "%%%%MatrixMarket matrix coordinate real symmetric\n%% a box\n%d %d %d\n",
            b->rows, b->rows, count);
  }
  for (int c = 0; c < b->rows; c++) {
    for (int r = 0; r <= c; r++) {
      if (b->K[r][c] != 0 || b->M[r][c] != 0) {
        fprintf(file, market ? "%d %d %.17g\n" : "%d %d %.13e\n", 1 + (market ? c : r),
                1 + (market ? r : c), A[r][c]);
      }
    }
  }
  fclose(file);
}

void fe_brick_write(const fe_brick* b, const char* folder, const char* name) {
  write_matrix(b, b->K, open_file(folder, name, ".sti"), 0);
  write_matrix(b, b->M, open_file(folder, name, ".mas"), 0);
  write_matrix(b, b->K, open_file(folder, name, "-K.mtx"), 1);
  write_matrix(b, b->M, open_file(folder, name, "-M.mtx"), 1);
  FILE* dof = open_file(folder, name, ".dof");
  FILE* inp = open_file(folder, name, ".inp");
  fprintf(inp, "** a box\n*NODE, NSET=ALL\n");
  for (int n = 0; n < b->rows / 3; n++) {
    fprintf(dof, "%d.1\n%d.2\n%d.3\n", n + 1, n + 1, n + 1);
    fprintf(inp, "%d, %.17g, %.17g, %.17g\n", n + 1, b->x[n][0], b->x[n][1], b->x[n][2]);
  }
  const int face = (b->cells[1] + 1) * (b->cells[2] + 1), last = b->rows / 3;
  fprintf(inp, "*ELEMENT, TYPE=C3D8\n");
  for (int e = 0; e < b->cells[0] * b->cells[1] * b->cells[2]; e++) {
    const int k = e % b->cells[2], j = e / b->cells[2] % b->cells[1];
    const int i = e / b->cells[2] / b->cells[1], line = b->cells[2] + 1;
    const int at = i * face + j * line + k + 1; /* the nodes at its start; four of them at k + 1 */
    const int low[4] = {at, at + face, at + face + line, at + line};
    fprintf(inp, "%d, %d, %d, %d,\n%d, %d, %d, %d, %d\n", e + 1, low[0], low[1], low[2], low[3],
            low[0] + 1, low[1] + 1, low[2] + 1, low[3] + 1);
  }
  fprintf(inp, "*NSET, NSET=LEFT, GENERATE\n1, %d\n*NSET, NSET=RIGHT\n", face);
  for (int n = last - face; n < last; n++) {
    fprintf(inp, "%d,%s", n + 1, (n - last + face) % 8 == 7 ? "\n" : " ");
  }
  fprintf(inp, "\n*NSET, NSET=TIP\n%d\n*NSET, NSET=EDGE\n1, 2\n", last);
  fclose(dof);
  fclose(inp);
}
