/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "io/h5.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

saltusi_h5_voice saltusi_h5_hush(void) {
  saltusi_h5_voice voice = {0};
  H5Eget_auto2(H5E_DEFAULT, &voice.print, &voice.user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return voice;
}

void saltusi_h5_unhush(saltusi_h5_voice voice) {
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, voice.print, voice.user);
}

static herr_t keep_first(unsigned n, const H5E_error2_t* error, void* user) {
  if (n == 0 && error->desc) {
    snprintf(user, SALTUSI_H5_TEXT, "%s", error->desc);
  }
  return 0;
}

const char* saltusi_h5_reason(char* text) {
  assert(text != NULL);
  snprintf(text, SALTUSI_H5_TEXT, "no reason given");
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, text);
  return text;
}

/* Some file systems have no locks; concurrent writers are detected only on those that have them. */
static bool lock_where_possible(hid_t access) {
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  return H5Pset_file_locking(access, true, true) >= 0;
#else
  return access >= 0;
#endif
}

hid_t saltusi_h5_access(void) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0 &&
      (H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
       H5Pset_meta_block_size(access, 0) < 0 || H5Pset_small_data_block_size(access, 0) < 0 ||
       H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0 || !lock_where_possible(access))) {
    H5Pclose(access);
    return -1;
  }
  return access;
}

hid_t saltusi_h5_text_type(size_t bytes) {
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 &&
      (H5Tset_size(type, bytes ? bytes : 1) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
       H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
    H5Tclose(type);
    return -1;
  }
  return type;
}

hid_t saltusi_h5_event_type(bool packed, int fields, bool identity) {
  assert(fields >= 0);
  typedef saltusi_h5_event E;
  hid_t kind = saltusi_h5_text_type(SALTUSI_H5_KIND);
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(E));
  hid_t real = packed ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE;
  hid_t integer = packed ? H5T_STD_I32LE : H5T_NATIVE_INT32;
  bool good = kind >= 0 && type >= 0 && H5Tinsert(type, "kind", offsetof(E, kind), kind) >= 0 &&
              H5Tinsert(type, "t", offsetof(E, t), real) >= 0 &&
              H5Tinsert(type, "t_accuracy", offsetof(E, t_accuracy), real) >= 0 &&
              H5Tinsert(type, "contact", offsetof(E, contact), integer) >= 0;
  for (int i = 1; i < fields; i++) {
    size_t place = offsetof(E, numbers) + (size_t)i * sizeof(double);
    good = good && H5Tinsert(type, saltusi_event_fields[i].name, place, real) >= 0;
  }
  if (identity) {
    hid_t bits = packed ? H5T_STD_U64LE : H5T_NATIVE_UINT64;
    good = good && H5Tinsert(type, "identity", offsetof(E, identity), bits) >= 0 &&
           H5Tinsert(type, "law", offsetof(E, law), integer) >= 0;
  }
  good = good && (!packed || H5Tpack(type) >= 0);
  if (kind >= 0) {
    H5Tclose(kind);
  }
  if (!good && type >= 0) {
    H5Tclose(type);
  }
  return good ? type : -1;
}
