/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tokens.h - sequential reading of numbers and words of a text. After the first error every call returns zero and has
 * no effect, so that a reader checks the status once per array, not per number.
 */
#ifndef SALTUSI_TOKENS_H
#define SALTUSI_TOKENS_H

#include "base/pool.h"
#include "saltus/log.h"
#include "saltus/status.h"

typedef struct saltusi_tokens {
  const char* path;
  saltus_log log;
  const char *text, *at, *end; /* ended by a zero */
  long long number;            /* of the token last read, from 1 */
  saltus_status status;
} saltusi_tokens;

/* The whole file, in the pool. */
saltus_status saltusi_tokens_load(const char* path, saltus_log log, saltusi_pool* pool,
                                  saltusi_tokens* tokens);

/* "path:line: token 7: ..." and SALTUS_ERR_INPUT, unless there was an error before. */
void saltusi_tokens_refuse(saltusi_tokens* t, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* `what` names the quantity in the message: "number of contacts". */
int saltusi_tokens_int(saltusi_tokens* t, const char* what, long long lo, long long hi);
double saltusi_tokens_real(saltusi_tokens* t, const char* what);
void saltusi_tokens_reals(saltusi_tokens* t, const char* what, size_t count, double* out);

/* The next token has to be this word. */
void saltusi_tokens_word(saltusi_tokens* t, const char* word);

/* The rest of the line, in text[bytes]; the position moves to the next line. */
void saltusi_tokens_line(saltusi_tokens* t, char* text, size_t bytes);

/* False, with a message, when the text that is left cannot hold `count` more tokens: no memory is
 * allocated before this check. */
bool saltusi_tokens_can_hold(saltusi_tokens* t, const char* what, unsigned long long count);

#endif
