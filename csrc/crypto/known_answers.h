/* SPDX-License-Identifier: MIT
 * Nothing runs that was not checked: see known_answers.c.
 */
#ifndef GW_CRYPTO_KNOWN_ANSWERS_H
#define GW_CRYPTO_KNOWN_ANSWERS_H

#include "impl.h"

/* 0, or -EBADMSG with one line in *err (may be NULL). spoil: flip a bit of one answer (test hook). */
int gw_known_answers(const gw_impl *impl, bool spoil, gw_err *err);

/* The same for GW_KIND_AUTHENC, which has no generic implementation: against its generic halves. */
int gw_known_answers_authenc(const gw_impl *impl, bool spoil, gw_err *err);

#endif
