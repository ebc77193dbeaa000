/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lex.h - a formula as tokens: numbers, names, operators.
 */
#ifndef SALTUSI_LEX_H
#define SALTUSI_LEX_H

#include <stdbool.h>
#include <stddef.h>

enum { SALTUSI_NAME_LONGEST = 63, SALTUSI_DOTTED_LONGEST = 3 * SALTUSI_NAME_LONGEST + 2 };

/* Operators of one character are their own token. */
typedef enum saltusi_token_kind {
  SALTUSI_TOKEN_END,
  SALTUSI_TOKEN_BAD,    /* a character or number that cannot be read */
  SALTUSI_TOKEN_LONG,   /* a name or number beyond all bounds */
  SALTUSI_TOKEN_NUMBER, /* value */
  SALTUSI_TOKEN_NAME,   /* name, or names joined by points: hinge.force.x */
  SALTUSI_TOKEN_AND,
  SALTUSI_TOKEN_OR,
  SALTUSI_TOKEN_NOT,
  SALTUSI_TOKEN_AT_MOST,  /* <= */
  SALTUSI_TOKEN_AT_LEAST, /* >= */
  SALTUSI_TOKEN_FIRST_CHARACTER = 32
} saltusi_token_kind;

typedef struct saltusi_token {
  int kind;      /* saltusi_token_kind, or the character */
  size_t offset; /* of the first byte */
  size_t end;    /* past the last byte */
  double value;
  int primes; /* ' after a name */
  char name[SALTUSI_DOTTED_LONGEST + 1];
} saltusi_token;

/* Reads the token at or after *offset and moves there. The decimal point is a point in every
 * locale. */
saltusi_token saltusi_lex(const char* text, size_t* offset);

/* Letters, digits and underscores, no digit first, not too long. */
bool saltusi_name_valid(const char* name);

#endif
