/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * units.c - see units.h.
 */
#include "scene/units.h"

#include "base/number.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 4, SPECIALS = 5 };

typedef struct unit_symbol {
  const char *name, *si;
  signed char dimension[DIMENSIONS]; /* exponents of kg, m, s and rad */
  int power;                         /* of ten */
  int special;                       /* factor that is no power of ten: 1 + index in specials */
  bool prefixes;
} unit_symbol;

static const struct {
  const char *factor, *inverse;
} specials[SPECIALS] = {{"*pi/180", "*180/pi"},
                        {"*pi/30", "*30/pi"},
                        {"*2*pi", "/(2*pi)"},
                        {"*60", "/60"},
                        {"*3600", "/3600"}};

static const unit_symbol symbols[] = {
    {"m", "m", {0, 1, 0, 0}, 0, 0, true},         {"g", "kg", {1, 0, 0, 0}, -3, 0, true},
    {"s", "s", {0, 0, 1, 0}, 0, 0, true},         {"rad", "rad", {0, 0, 0, 1}, 0, 0, true},
    {"N", "N", {1, 1, -2, 0}, 0, 0, true},        {"Nm", "N m", {1, 2, -2, 0}, 0, 0, true},
    {"Pa", "Pa", {1, -1, -2, 0}, 0, 0, true},     {"bar", "Pa", {1, -1, -2, 0}, 5, 0, true},
    {"J", "J", {1, 2, -2, 0}, 0, 0, true},        {"W", "W", {1, 2, -3, 0}, 0, 0, true},
    {"Hz", "1/s", {0, 0, -1, 0}, 0, 0, true},     {"t", "kg", {1, 0, 0, 0}, 3, 0, false},
    {"deg", "rad", {0, 0, 0, 1}, 0, 1, false},    {"\xC2\xB0", "rad", {0, 0, 0, 1}, 0, 1, false},
    {"rpm", "rad/s", {0, 0, -1, 1}, 0, 2, false}, {"rev", "rad", {0, 0, 0, 1}, 0, 3, false},
    {"min", "s", {0, 0, 1, 0}, 0, 4, false},      {"h", "s", {0, 0, 1, 0}, 0, 5, false},
};

static const struct {
  const char* name;
  int power;
} prefixes[] = {{"", 0},          {"p", -12}, {"n", -9}, {"u", -6}, {"\xC2\xB5", -6},
                {"\xCE\xBC", -6}, {"m", -3},  {"c", -2}, {"d", -1}, {"da", 1},
                {"h", 2},         {"k", 3},   {"M", 6},  {"G", 9},  {"T", 12}};

/* A product of symbols. */
typedef struct unit_product {
  int dimension[DIMENSIONS], special[SPECIALS];
  int power;
  char si[SALTUSI_UNIT_TEXT]; /* its text with SI symbols */
  bool unclear;               /* a symbol of several in a power or denominator: no such text */
} unit_product;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
}

static size_t name_length(const char* text) {
  size_t length = 0;
  while (is_letter(text[length]) && strncmp(text + length, "\xC2\xB7", 2) != 0) { /* a middle dot */
    length++;
  }
  return length;
}

/* The symbol with the name, and the power of ten of its prefix; NULL: unknown. */
static const unit_symbol* find_symbol(const char* name, size_t length, int* power) {
  for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
    const size_t skip = strlen(prefixes[p].name);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
      const unit_symbol* s = &symbols[i];
      if (strlen(s->name) + skip == length && memcmp(name, prefixes[p].name, skip) == 0 &&
          memcmp(s->name, name + skip, length - skip) == 0 && (p == 0 || s->prefixes)) {
        *power = s->power + prefixes[p].power;
        return s;
      }
    }
  }
  return NULL;
}

/* Multiplies with a symbol, whose separator starts at `from`. */
static bool multiply(unit_product* to, const char* from, const char* name, size_t length,
                     int exponent) {
  int power = 0;
  const unit_symbol* s = find_symbol(name, length, &power);
  if (s == NULL || exponent == 0) {
    return false;
  }
  for (int k = 0; k < DIMENSIONS; k++) {
    to->dimension[k] += exponent * s->dimension[k];
  }
  to->power += exponent * power;
  if (s->special > 0) {
    to->special[s->special - 1] += exponent;
  }
  const size_t used = strlen(to->si),
               after = name[length] == '^' ? 2 + (name[length + 1] == '-') : is_digit(name[length]);
  to->unclear = to->unclear || (strpbrk(s->si, " /") != NULL && (exponent != 1 || used > 0));
  const int added = snprintf(to->si + used, sizeof to->si - used, "%.*s%s%.*s", (int)(name - from),
                             from, s->si, (int)after, name + length);
  return added >= 0 && (size_t)added < sizeof to->si - used;
}

/* Exponent at *at: ^2, ^-1, 2; 1 if there is none, 0 if it is not one digit. */
static int read_power(const char** at) {
  const bool mark = **at == '^', negative = mark && (*at)[1] == '-';
  const char* s = *at + mark + negative;
  if (!is_digit(*s)) {
    return mark ? 0 : 1;
  }
  *at = s + 1;
  return is_digit(s[1]) ? 0 : negative ? '0' - *s : *s - '0';
}

/* Multiplies with a unit: symbols with exponents, separated by blanks, *, a middle dot or /, which applies to the next
 * symbol only. False: the `length` bytes are not a unit. */
static bool read_unit(const char* text, size_t length, unit_product* to) {
  const char *at = text, *end = text + length;
  while (end > text && end[-1] == ' ') {
    end--;
  }
  at += *at == '1' && at[1 + strspn(at + 1, " ")] == '/'; /* 1/s */
  for (bool first = at == text; at < end; first = false) {
    const char* from = first ? text : at > text && to->si[0] == '\0' ? text : at;
    const char* separator = at;
    at += strspn(at, " *");
    at += strncmp(at, "\xC2\xB7", 2) == 0 ? 2 : 0;
    const int sign = *at == '/' ? -1 : 1;
    at += sign < 0 ? 1 + strspn(at + 1, " ") : 0;
    const size_t name = name_length(at);
    const char* after = at + name;
    const int power = read_power(&after);
    if ((at == separator) != first || name == 0 || after > end ||
        !multiply(to, from, at, name, sign * power)) {
      return false;
    }
    at = after;
  }
  return to->si[0] != '\0';
}

/* ---- quantities in texts ---- */

typedef struct unit_quantity {
  const char *literal, *literal_end; /* of the number */
  const char *unit, *unit_end;       /* without brackets */
  const char* end;
  bool whole; /* the text is this quantity, with its sign */
} unit_quantity;

/* End of a number at `at`; `at` itself: none. */
static const char* skip_number(const char* at) {
  const char* s = at + strspn(at, "0123456789.");
  const char* exponent = s + 1 + (*s != '\0' && (s[1] == '-' || s[1] == '+'));
  if (s > at && (*s == 'e' || *s == 'E') && is_digit(*exponent)) {
    s = exponent + strspn(exponent, "0123456789");
  }
  return s;
}

/* The next number from *at on that a letter or a bracket follows. */
static bool find_quantity(const char* text, const char** at, unit_quantity* q) {
  const char* s = *at;
  while (*s != '\0') {
    if (is_letter(*s) || *s == '_') {
      while (is_letter(*s) || is_digit(*s) || *s == '_' || *s == '\'' ||
             (*s == '.' && is_letter(s[1]))) {
        s++;
      }
      continue;
    }
    const char* end = skip_number(s);
    const char* unit = end + strspn(end, " ");
    const bool one = *unit == '1' && end < unit && unit[1 + strspn(unit + 1, " ")] == '/';
    if (end > s && (is_letter(*unit) || *unit == '[' || one)) {
      const size_t before = strspn(text, " +-");
      *q = (unit_quantity){.literal = s, .literal_end = end, .unit = unit};
      q->whole = text + before == s && before <= 1 + strspn(text, " ");
      *at = unit;
      return true;
    }
    s = end > s ? end : s + 1;
  }
  return false;
}

bool saltusi_units_candidate(const char* text) {
  assert(text != NULL);
  unit_quantity q;
  return find_quantity(text, &text, &q);
}

static bool known_symbol(const char* at) {
  int power;
  const size_t length = name_length(at);
  return length > 0 && find_symbol(at, length, &power) != NULL;
}

/* Extent of the unit of a quantity: the rest of a text of one quantity, brackets, or one symbol in a formula. False:
 * none. A symbol that a unit or an exponent follows is ambiguous. */
static bool delimit(unit_quantity* q, bool* ambiguous) {
  unit_product ignored = {.power = 0};
  const bool bracket = *q->unit == '[';
  const char* close = strchr(q->unit, ']');
  if (bracket && close == NULL) {
    return false;
  }
  q->unit += bracket;
  q->unit_end = bracket ? close : q->unit + strlen(q->unit);
  q->end = bracket ? close + 1 : q->unit_end;
  q->whole = q->whole && q->end[strspn(q->end, " ")] == '\0';
  if (bracket || (q->whole && read_unit(q->unit, strlen(q->unit), &ignored))) {
    return true;
  }
  q->whole = false;
  q->unit_end = q->unit + name_length(q->unit);
  q->end = q->unit_end;
  const char* next = q->end + strspn(q->end, " ");
  *ambiguous = *q->end == '^' || is_digit(*q->end) ||
               (*next == '/' && known_symbol(next + 1 + strspn(next + 1, " ")));
  return known_symbol(q->unit) && strspn(q->end, "_'.") == 0;
}

typedef struct unit_writer {
  char* to; /* NULL: counts */
  size_t used;
} unit_writer;

static void put(unit_writer* w, const char* text, size_t length) {
  if (w->to != NULL) {
    memcpy(w->to + w->used, text, length);
  }
  w->used += length;
}

/* The literal with the power of ten of the unit in its exponent, and the other factors. */
static void put_quantity(unit_writer* w, const unit_quantity* q, const unit_product* u) {
  const char* mark = q->literal + strspn(q->literal, "0123456789.");
  const long power = u->power + (mark < q->literal_end ? strtol(mark + 1, NULL, 10) : 0);
  char text[32];
  put(w, "(", q->whole ? 0 : 1);
  put(w, q->literal, (size_t)(mark - q->literal));
  put(w, text, power != 0 ? (size_t)snprintf(text, sizeof text, "e%ld", power) : 0);
  for (int k = 0; k < SPECIALS; k++) {
    for (int i = 0; i < abs(u->special[k]); i++) {
      const char* factor = u->special[k] > 0 ? specials[k].factor : specials[k].inverse;
      put(w, factor, strlen(factor));
    }
  }
  put(w, ")", q->whole ? 0 : 1);
}

/* Divides by the first of the wanted units that has the same dimension; false: none. */
static bool divide(unit_product* u, const char* wanted) {
  for (const char* at = wanted; at != NULL && *at != '\0';) {
    const char* next = strstr(at, " or ");
    const size_t length = next != NULL ? (size_t)(next - at) : strlen(at);
    unit_product one = {.power = 0};
    if (read_unit(at, length, &one) &&
        memcmp(one.dimension, u->dimension, sizeof one.dimension) == 0) {
      u->power -= one.power;
      for (int k = 0; k < SPECIALS; k++) {
        u->special[k] -= one.special[k];
      }
      return true;
    }
    at = next != NULL ? next + 4 : NULL;
  }
  return false;
}

/* The unit of a quantity over that of the result. */
static bool factor_of(const unit_quantity* q, const char* wanted, bool ambiguous, unit_product* u,
                      char why[256]) {
  const int unit = (int)(q->unit_end - q->unit), number = (int)(q->literal_end - q->literal);
  if (ambiguous) {
    snprintf(
        why, 256,
        "\"%.*s %.*s\" and the next characters are a unit or a division; write \"%.*s [UNIT]\"",
        number, q->literal, unit, q->unit, number, q->literal);
    return false;
  }
  if (!read_unit(q->unit, (size_t)unit, u)) {
    snprintf(why, 256, "\"%.*s\" is not a unit", unit < 60 ? unit : 60, q->unit);
    return false;
  }
  if (q->whole && wanted != NULL && !divide(u, wanted)) {
    snprintf(why, 256, "\"%.*s %.*s\" is in %.*s, must be %s%.60s", number, q->literal, unit,
             q->unit, unit, q->unit, wanted[0] != '\0' ? "in " : "a plain number", wanted);
    return false;
  }
  return true;
}

/* One pass over the text; false with a reason. */
static bool write(unit_writer* w, const char* text, const char* wanted, char si[SALTUSI_UNIT_TEXT],
                  char why[256]) {
  const char *at = text, *from = text;
  unit_quantity q;
  while (find_quantity(text, &at, &q)) {
    bool ambiguous = false;
    if (!delimit(&q, &ambiguous)) {
      continue;
    }
    unit_product u = {.power = 0};
    if (!factor_of(&q, wanted, ambiguous, &u, why)) {
      return false;
    }
    if (q.whole && !u.unclear) {
      memcpy(si, u.si, SALTUSI_UNIT_TEXT);
    }
    put(w, from, (size_t)(q.literal - from));
    put_quantity(w, &q, &u);
    from = q.end;
    at = q.end;
  }
  put(w, from, strlen(from) + 1);
  return true;
}

const char* saltusi_units_convert(saltusi_pool* pool, const char* text, const char* wanted,
                                  char si[SALTUSI_UNIT_TEXT], char why[256]) {
  assert(pool != NULL && text != NULL);
  si[0] = '\0';
  why[0] = '\0';
  unit_writer w = {.to = NULL};
  if (!write(&w, text, wanted, si, why)) {
    return NULL;
  }
  w = (unit_writer){.to = saltusi_pool_take(pool, w.used, 1)};
  return w.to != NULL && write(&w, text, wanted, si, why) ? w.to : NULL;
}
