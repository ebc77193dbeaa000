/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lex.c - tokens. ctype.h is not used: it depends on the locale.
 */
#include "formula/lex.h"

#include "base/number.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_LONGEST = 100, EXPONENT_MOST = 99999 };

static bool digit(char c) {
  return c >= '0' && c <= '9';
}

static bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool saltusi_name_valid(const char* name) {
  assert(name != NULL);
  size_t length = 0;
  while (letter(name[length]) || (length > 0 && digit(name[length]))) {
    length++;
  }
  return length > 0 && length <= SALTUSI_NAME_LONGEST && name[length] == '\0';
}

/* Digits into `digits` without the point; the point moves into the exponent. strtod then meets no
 * decimal point, which depends on the locale. */
static const char* read_digits(const char* s, char* digits, int* count, int* exponent) {
  bool point = false;
  *count = 0;
  *exponent = 0;
  for (; digit(*s) || (*s == '.' && !point); s++) {
    if (*s == '.') {
      point = true;
      continue;
    }
    if (*count < NUMBER_LONGEST) {
      digits[*count] = *s;
    }
    *count = *count < NUMBER_LONGEST ? *count + 1 : NUMBER_LONGEST + 1;
    *exponent -= point;
  }
  return s;
}

static const char* read_exponent(const char* s, int* exponent) {
  if (*s != 'e' && *s != 'E') {
    return s;
  }
  const char* d = s + 1;
  bool negative = *d == '-';
  d += *d == '-' || *d == '+';
  if (!digit(*d)) {
    return s; /* "2 e" is a missing operator, not an incomplete number */
  }
  int value = 0;
  for (; digit(*d); d++) {
    value = value < EXPONENT_MOST ? 10 * value + (*d - '0') : value;
  }
  *exponent += negative ? -value : value;
  return d;
}

static void read_number(const char* text, saltusi_token* token) {
  char digits[NUMBER_LONGEST + 16];
  int count, exponent;
  const char* s = read_digits(text + token->offset, digits, &count, &exponent);
  if (count == 0) { /* a lone point */
    token->kind = SALTUSI_TOKEN_BAD;
    token->end = token->offset + 1;
    return;
  }
  s = read_exponent(s, &exponent);
  token->end = (size_t)(s - text);
  token->kind = SALTUSI_TOKEN_LONG;
  if (count <= NUMBER_LONGEST) {
    snprintf(digits + count, sizeof digits - (size_t)count, "e%d", exponent);
    token->kind = SALTUSI_TOKEN_NUMBER;
    token->value = saltusi_number_read(digits, NULL);
  }
}

static void read_name(const char* text, saltusi_token* token) {
  const char* s = text + token->offset;
  size_t length = 0, part = 0, longest = 0;
  /* a point joins names where a letter follows: x.5 stays a missing operator */
  while (letter(s[length]) || digit(s[length]) || (s[length] == '.' && letter(s[length + 1]))) {
    part = s[length] == '.' ? 0 : part + 1;
    longest = part > longest ? part : longest;
    length++;
  }
  token->end = token->offset + length;
  if (longest > SALTUSI_NAME_LONGEST || length > SALTUSI_DOTTED_LONGEST) {
    token->kind = SALTUSI_TOKEN_LONG;
    return;
  }
  memcpy(token->name, s, length);
  token->name[length] = '\0';
  token->kind = strcmp(token->name, "and") == 0   ? SALTUSI_TOKEN_AND
                : strcmp(token->name, "or") == 0  ? SALTUSI_TOKEN_OR
                : strcmp(token->name, "not") == 0 ? SALTUSI_TOKEN_NOT
                                                  : SALTUSI_TOKEN_NAME;
  for (; text[token->end] == '\''; token->end++) {
    token->primes = token->primes < 3 ? token->primes + 1 : 3;
  }
}

saltusi_token saltusi_lex(const char* text, size_t* offset) {
  assert(text != NULL);
  saltusi_token token = {.offset = *offset + strspn(text + *offset, " \t\r\n")};
  const char c = text[token.offset];
  token.end = token.offset + 1;
  if (c == '\0') {
    token.kind = SALTUSI_TOKEN_END;
    token.end = token.offset;
  } else if (digit(c) || c == '.') {
    read_number(text, &token);
  } else if (letter(c)) {
    read_name(text, &token);
  } else if ((c == '<' || c == '>') && text[token.offset + 1] == '=') {
    token.kind = c == '<' ? SALTUSI_TOKEN_AT_MOST : SALTUSI_TOKEN_AT_LEAST;
    token.end++;
  } else {
    token.kind = strchr("+-*/^(),<>", c) != NULL ? c : SALTUSI_TOKEN_BAD;
  }
  *offset = token.end;
  return token;
}
