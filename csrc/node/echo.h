/* SPDX-License-Identifier: MIT
 * Servers that send back what they get: the far end of the correctness gate and of the path check.
 */
#ifndef GW_NODE_ECHO_H
#define GW_NODE_ECHO_H

typedef struct echo echo;

/* Ends every echo of the list; safe with NULL. */
void echo_end_all(echo *first);

#endif
