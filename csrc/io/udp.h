/* SPDX-License-Identifier: MIT
 * Names that older C libraries lack, and ancillary data, for the files of the UDP path.
 */
#ifndef GW_IO_UDP_H
#define GW_IO_UDP_H

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "io.h"

#ifndef SOL_UDP
#define SOL_UDP 17
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef UDP_NO_CHECK6_TX
#define UDP_NO_CHECK6_TX 101
#define UDP_NO_CHECK6_RX 102
#endif
#ifndef SO_RXQ_OVFL
#define SO_RXQ_OVFL 40
#endif
#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif
#ifndef SO_ATTACH_REUSEPORT_CBPF
#define SO_ATTACH_REUSEPORT_CBPF 51
#endif

/* Writes one message and returns the control bytes that it takes. */
static inline size_t gw_udp_put_cmsg(struct cmsghdr *c, int level, int type, const void *data, size_t len)
{
	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), data, len);
	return CMSG_SPACE(len);
}

/* CMSG_NXTHDR without musl's comparison of signed and unsigned. */
static inline struct cmsghdr *gw_udp_next_cmsg(const struct msghdr *m, struct cmsghdr *c)
{
	uint8_t *end = (uint8_t *)m->msg_control + m->msg_controllen;
	if (c->cmsg_len < CMSG_LEN(0)) return NULL;
	size_t step = CMSG_SPACE(c->cmsg_len - CMSG_LEN(0)), left = (size_t)(end - (uint8_t *)c);
	return left < step + CMSG_LEN(0) ? NULL : (struct cmsghdr *)(void *)((uint8_t *)c + step);
}

/* gw_addr <-> sockaddr; the length, 0 for an unset address. */
socklen_t gw_udp_to_sockaddr(const gw_addr *a, struct sockaddr_storage *out);
void gw_udp_from_sockaddr(const struct sockaddr_storage *s, gw_addr *out);

#endif
