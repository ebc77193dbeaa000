/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * status.c - texts of status values.
 */
#include "saltus/status.h"

const char* saltus_status_text(saltus_status status) {
  switch (status) {
#define STATUS_CASE(name, value, text)                                                             \
  case name:                                                                                       \
    return text;
    SALTUS_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
  }
  return "unknown status";
}
