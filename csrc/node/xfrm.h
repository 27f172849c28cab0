/* SPDX-License-Identifier: MIT
 * NETLINK_XFRM: the kernel's SAs and policies. Keys go through memory that is wiped, never through an argument list.
 */
#ifndef GW_NODE_XFRM_H
#define GW_NODE_XFRM_H

#include <stdbool.h>

#include "../gwdp.h"

#define XFRM_REQID 0x67770001u /* of all our SAs and policies */

/* Adds the SA; its algorithms are the suite's. 0 or -errno. */
int xfrm_add_sa(const gw_sa_params *p, bool udp_encap);
/* Would the kernel take an SA of this suite? Asks with a key that no cipher takes, so that nothing is ever added:
 * 0; -EPROTONOSUPPORT no ESP; -ENOSYS, -ENOENT no such algorithm; or another -errno. */
int xfrm_probe(int suite, const gw_addr *local, const gw_addr *peer);
int xfrm_delete_sa(const gw_addr *dst, uint32_t spi);
/* 0 or -errno. spi and direction are the caller's. */
int xfrm_read_sa(const gw_addr *dst, uint32_t spi, gw_sa_counters *out);

/* Directions in the kernel's numbers. */
#define XFRM_IN  0
#define XFRM_OUT 1
#define XFRM_FWD 2
/* A policy that demands ESP from src to dst; spi 0: any of ours. replace: it is ours already. */
int xfrm_set_policy(int direction, const gw_addr *src, const gw_addr *dst, const gw_addr *outer_src,
					const gw_addr *outer_dst, uint32_t spi, bool replace);
int xfrm_delete_policy(int direction, const gw_addr *src, const gw_addr *dst);

/* The kernel's name of what a suite needs: "rfc4106(gcm(aes))", "authenc(hmac(sha256),cbc(aes))". */
void xfrm_algorithm(int suite, char *to, size_t room);
/* What -errno means for somebody who can install modules. */
const char *xfrm_lacks(int rc, const gw_addr *outer);

#endif
