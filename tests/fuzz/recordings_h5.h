/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * recordings_h5.h - one change of the structure of an HDF5 file.
 */
#ifndef SALTUS_RECORDINGS_H5_H
#define SALTUS_RECORDINGS_H5_H

#include <stdint.h>

/* A dataset or attribute of the file is removed, or made again with another size, rank, type or other values. */
void recordings_h5_change(const char* path, uint64_t* state);

#endif
