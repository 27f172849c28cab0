/* SPDX-License-Identifier: MIT
 * The implementations of a router's gwnode: those that ESP can use. gwnode-test has them all.
 */
#define GW_ESP_ONLY 1
#include "../crypto/table.c"
