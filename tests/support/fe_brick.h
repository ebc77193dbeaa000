/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fe_brick.h - a box of trilinear hexahedra, as matrices and as files of CalculiX and Matrix Market.
 */
#ifndef FE_BRICK_H
#define FE_BRICK_H

enum { BRICK_ROWS = 300 };

typedef struct fe_brick {
  int cells[3];   /* along x, y, z */
  double size[3]; /* m */
  double E, nu, density;
  int gauss; /* 2: full integration; 1: one point, hourglasses */
  int rows;  /* out: 3 for each node */
  double K[BRICK_ROWS][BRICK_ROWS], M[BRICK_ROWS][BRICK_ROWS];
  double x[BRICK_ROWS / 3][3];
} fe_brick;

/* K by the quadrature asked for, M by 2 x 2 x 2 points: M = m_ab for each direction. */
void fe_brick_make(fe_brick* brick);
/* FOLDER/NAME.sti, .mas, .dof, .inp with the node sets LEFT (x = 0), RIGHT and TIP (one node); and K.mtx, M.mtx. */
void fe_brick_write(const fe_brick* brick, const char* folder, const char* name);

#endif
