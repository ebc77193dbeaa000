/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * number.c - see number.h.
 *
 * Reading: the digits go to strtod without their point, which moves into the exponent: "12.5e3" as "125e2". Both have
 * the same value, and strtod rounds it correctly. Printing: each number is printed alone; a byte that is neither
 * letter, digit, sign nor blank belongs to the separator.
 */
#include "base/number.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Rounding of a decimal number depends on at most 767 significant digits. Digits after DIGITS_MOST are represented by
 * one flag: whether any of them is nonzero. */
enum { DIGITS_MOST = 800, EXPONENT_MOST = 100000, NUMBER_TEXT = 512, CONVERSION_TEXT = 48 };

/* ---- reading -------------------------------------------------------------------------------- */

/* Significant digits of a number without its point. */
typedef struct digit_text {
  char text[DIGITS_MOST + 32]; /* sign, 0x, digits, exponent */
  size_t used;
  size_t start;      /* of the digits */
  bool seen;         /* a digit was read, 0 included */
  long long shifted; /* digits by which the point has moved to the right */
} digit_text;

static bool is_digit(char c, bool hex) {
  return (c >= '0' && c <= '9') || (hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

static void add_digit(digit_text* d, char c, bool behind_point) {
  const bool leading = d->used == d->start && c == '0';
  const bool room = d->used - d->start < DIGITS_MOST;
  d->seen = true;
  if (room && !leading) {
    d->text[d->used++] = c;
  } else if (!room && c != '0') {
    d->text[d->used - 1] = '1'; /* not a tie */
  }
  d->shifted += (behind_point ? -1 : 0) + (room ? 0 : 1);
}

static const char* read_digits(digit_text* d, const char* s, bool hex) {
  bool point = false;
  for (; is_digit(*s, hex) || (*s == '.' && !point); s++) {
    if (*s == '.') {
      point = true;
    } else {
      add_digit(d, *s, point);
    }
  }
  return s;
}

/* Reads an exponent if it is complete. */
static const char* read_exponent(const char* s, bool hex, long long* exponent) {
  const char mark = hex ? 'p' : 'e';
  *exponent = 0;
  if (*s != mark && *s != mark - 'a' + 'A') {
    return s;
  }
  const char* at = s + 1;
  const bool negative = *at == '-';
  at += *at == '-' || *at == '+';
  if (!is_digit(*at, false)) {
    return s;
  }
  for (; is_digit(*at, false); at++) {
    *exponent = *exponent < EXPONENT_MOST ? 10 * *exponent + (*at - '0') : *exponent;
  }
  *exponent = negative ? -*exponent : *exponent;
  return at;
}

double saltusi_number_read(const char* text, char** end) {
  assert(text != NULL);
  const char* s = text + strspn(text, " \t\n\v\f\r");
  digit_text d = {.used = 0};
  if (*s == '-' || *s == '+') {
    d.text[d.used++] = *s++;
  }
  if (isalpha((unsigned char)*s)) { /* nan, inf: without a point */
    return strtod(text, end);
  }
  bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') &&
             (is_digit(s[2], true) || (s[2] == '.' && is_digit(s[3], true)));
  if (hex) {
    d.text[d.used++] = *s++;
    d.text[d.used++] = *s++;
  }
  d.start = d.used;
  s = read_digits(&d, s, hex);
  if (!d.seen) {
    if (end != NULL) {
      *end = (char*)text;
    }
    return 0.0;
  }
  if (d.used == d.start) {
    d.text[d.used++] = '0';
  }
  long long exponent;
  s = read_exponent(s, hex, &exponent);
  exponent += (hex ? 4 : 1) * d.shifted;
  snprintf(d.text + d.used, sizeof d.text - d.used, "%c%lld", hex ? 'p' : 'e', exponent);
  if (end != NULL) {
    *end = (char*)s;
  }
  return strtod(d.text, NULL);
}

/* ---- printing ------------------------------------------------------------------------------- */

/* Output buffer. Text beyond its end is counted but not written. */
typedef struct printed {
  char* to;
  size_t room, used;
} printed;

static void put(printed* p, const char* text, size_t count) {
  if (p->used + 1 < p->room) {
    size_t fits = p->room - 1 - p->used;
    memcpy(p->to + p->used, text, count < fits ? count : fits);
  }
  p->used += count;
}

/* One conversion: its text with widths and precisions as digits, its letter, and the length modifier of integers. */
typedef struct conversion {
  char text[CONVERSION_TEXT];
  size_t used;
  char kind;
  char length; /* h, l, q for ll, z, j, t, L; 0: none */
} conversion;

static void add_text(conversion* c, const char* text, size_t count) {
  assert(c->used + count < sizeof c->text);
  memcpy(c->text + c->used, text, count);
  c->used += count;
}

/* A struct, because a va_list may be an array, which no pointer parameter can point to. */
typedef struct values {
  va_list list;
} values;

/* Width or precision at s: digits, or a star for an argument. A negative precision counts as none. */
static const char* read_size(conversion* c, const char* s, values* v) {
  if (*s != '*') {
    size_t count = strspn(s, "0123456789");
    add_text(c, s, count);
    return s + count;
  }
  int value = va_arg(v->list, int);
  if (value < 0 && c->text[c->used - 1] == '.') {
    c->used--;
  } else {
    char digits[16];
    add_text(c, digits, (size_t)snprintf(digits, sizeof digits, "%d", value));
  }
  return s + 1;
}

/* Reads the conversion after a %; returns the text after it. */
static const char* read_conversion(conversion* c, const char* s, values* v) {
  *c = (conversion){.text = "%", .used = 1};
  size_t flags = strspn(s, "-+ #0");
  add_text(c, s, flags);
  s = read_size(c, s + flags, v);
  if (*s == '.') {
    add_text(c, s++, 1);
    s = read_size(c, s, v);
  }
  size_t length = strspn(s, "hlzjtL");
  c->length = length > 1 && *s == 'l' ? 'q' : *s; /* ll */
  c->length = length > 0 ? c->length : '\0';
  add_text(c, s, length);
  s += length;
  c->kind = *s;
  add_text(c, s, *s != '\0' ? 1 : 0);
  c->text[c->used] = '\0';
  return *s != '\0' ? s + 1 : s;
}

/* Integers are short; their widths are bounded by the buffer. */
static void put_whole(printed* p, const conversion* c, values* v) {
  char text[NUMBER_TEXT];
  const char* f = c->text;
  int count = 0;
  if (c->length == 'q') { /* types differ: NOLINT(bugprone-branch-clone) */
    count = snprintf(text, sizeof text, f, va_arg(v->list, long long));
  } else if (c->length == 'l') {
    count = snprintf(text, sizeof text, f, va_arg(v->list, long));
  } else if (c->length == 'z') {
    count = snprintf(text, sizeof text, f, va_arg(v->list, size_t));
  } else if (c->length == 'j') {
    count = snprintf(text, sizeof text, f, va_arg(v->list, intmax_t));
  } else if (c->length == 't') {
    count = snprintf(text, sizeof text, f, va_arg(v->list, ptrdiff_t));
  } else {
    count = snprintf(text, sizeof text, f, va_arg(v->list, int));
  }
  put(p, text, count < NUMBER_TEXT ? (size_t)count : NUMBER_TEXT - 1);
}

static void put_real(printed* p, const conversion* c, values* v) {
  char text[NUMBER_TEXT];
  if (c->length == 'L') { /* types differ: NOLINT(bugprone-branch-clone) */
    snprintf(text, sizeof text, c->text, va_arg(v->list, long double));
  } else {
    snprintf(text, sizeof text, c->text, va_arg(v->list, double));
  }
  size_t used = 0;
  for (const char* s = text; *s != '\0';) {
    const bool plain = isalnum((unsigned char)*s) != 0 || strchr("+- ", *s) != NULL;
    text[used++] = plain ? *s : '.';
    s++;
    while (!plain && (*s & 0x80) != 0) { /* other bytes of a multi-byte separator */
      s++;
    }
  }
  put(p, text, used);
}

static void put_string(printed* p, const conversion* c, const char* value) {
  if (strcmp(c->text, "%s") == 0) {
    put(p, value, strlen(value));
    return;
  }
  char* at = p->used < p->room ? p->to + p->used : NULL;
  int count = snprintf(at, at != NULL ? p->room - p->used : 0, c->text, value);
  p->used += count > 0 ? (size_t)count : 0;
}

static void put_conversion(printed* p, const conversion* c, values* v) {
  char text[NUMBER_TEXT];
  if (c->kind == '\0') {
    put(p, c->text, c->used);
  } else if (strchr("diouxX", c->kind) != NULL) {
    put_whole(p, c, v);
  } else if (strchr("fFeEgGaA", c->kind) != NULL) {
    put_real(p, c, v);
  } else if (c->kind == 's') {
    put_string(p, c, va_arg(v->list, const char*));
  } else if (c->kind == 'c') { /* types differ: NOLINT(bugprone-branch-clone) */
    put(p, text, (size_t)snprintf(text, sizeof text, c->text, va_arg(v->list, int)));
  } else if (c->kind == 'p') {
    put(p, text, (size_t)snprintf(text, sizeof text, c->text, va_arg(v->list, void*)));
  } else {
    put(p, c->text + (c->kind == '%' ? c->used - 1 : 0), c->kind == '%' ? 1 : c->used);
  }
}

int saltusi_print_list(char* to, size_t bytes, const char* format, va_list list) {
  assert(format != NULL && (to != NULL || bytes == 0));
  printed p = {.to = to, .room = bytes};
  values v;
  va_copy(v.list, list);
  for (const char* s = format; *s != '\0';) {
    size_t plain = strcspn(s, "%");
    put(&p, s, plain);
    s += plain;
    if (*s == '%') {
      conversion c;
      s = read_conversion(&c, s + 1, &v);
      put_conversion(&p, &c, &v);
    }
  }
  va_end(v.list);
  if (bytes > 0) {
    to[p.used < bytes ? p.used : bytes - 1] = '\0';
  }
  return (int)p.used;
}

int saltusi_print(char* to, size_t bytes, const char* format, ...) {
  assert(format != NULL);
  va_list list;
  va_start(list, format);
  int count = saltusi_print_list(to, bytes, format, list);
  va_end(list);
  return count;
}

int saltusi_print_file(FILE* file, const char* format, ...) {
  assert(file != NULL && format != NULL);
  char text[2 * NUMBER_TEXT];
  va_list list;
  va_start(list, format);
  int count = saltusi_print_list(text, sizeof text, format, list);
  va_end(list);
  assert(count < (int)sizeof text);
  return fputs(text, file) >= 0 ? count : -1;
}
