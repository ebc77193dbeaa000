/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * one_island.h - planar systems that are one island, however large: chains of jointed links and stacks of blocks.
 * Bodies have x, y and angle, M is diagonal, rows are sparse or dense.
 *
 *   chain     rods of 1 kg and 1 m that hang from the origin, end by end; pin i, two rows, joins rod i - 1 and
 *             rod i; `twice`: every third pin is there twice, for no reason; `cut`: a new chain hangs from
 *             where every cut-th rod begins; `loose`: the first pin is not there; `floor`: a contact y >= 0 at the
 *             middle of each rod, with slip x'
 *   stack     blocks of 1 kg, 1 m x 1 m, one on the other, `supports` contacts under each at +-`half` from its
 *             middle; angles are small, so that gaps are linear:
 *               g = y_i - y_j + s half (a_i - a_j) - 1,   U_T = x_i' - x_j' + (a_i' + a_j') / 2
 */
#ifndef TEST_ONE_ISLAND_H
#define TEST_ONE_ISLAND_H

#include "saltus/system.h"

typedef struct links {
  int count;
  bool dense;               /* rows are */
  bool twice, loose, floor; /* of chains */
  int cut;                  /* 0: one chain */
  int supports;             /* of stacks: 1 or 2 */
  double half;              /* m */
  double mu, e;
  double push; /* N, along x on the topmost block */
  saltus_system_ops ops;
  saltus_contact_law* laws; /* [contacts] */
  int* start;               /* [count + 1] */
  int* pin;                 /* [pins] rod that it begins */
  int* first;               /* [pins + 1] */
  saltus_structure structure;
  double *q, *v; /* [3 count] the start */
  saltus_system system;
} links;

/* count, dense and the rest of its kind are filled in. The chain lies stretched along x. False: no memory. */
bool links_open_chain(links* l);
bool links_open_stack(links* l);
void links_close(links* l);

/* J, of a chain. */
double island_energy(const links* l, const double* q, const double* v);

#endif
