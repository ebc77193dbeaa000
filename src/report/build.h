/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * build.h - the document of a run, and the page of the viewer that contains it.
 */
#ifndef SALTUSI_REPORT_BUILD_H
#define SALTUSI_REPORT_BUILD_H

#include "report/bytes.h"
#include "saltus/report.h"

/* Appends the document; out has an allocator. */
saltus_status saltusi_report_build(const saltus_report_def* def, saltusi_bytes* out,
                                   saltus_report_about* about);

/* Parts of the page before and after the document. */
typedef struct saltusi_viewer_page {
  const unsigned char *before, *behind;
  size_t before_bytes, behind_bytes;
} saltusi_viewer_page;

/* Generated when the viewer is bundled (viewer/build.mjs); NULL in builds without it (viewer_none.c). */
const saltusi_viewer_page* saltusi_viewer(void);

#endif
