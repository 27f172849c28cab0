/* SPDX-License-Identifier: MIT
 * Netlink, as little of it as addresses, routes and XFRM need: one request, one acknowledgement.
 */
#ifndef GW_NODE_NETLINK_H
#define GW_NODE_NETLINK_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

typedef struct netlink_request {
	struct nlmsghdr header;
	char body[1200];
} netlink_request;

int netlink_open(int protocol); /* a socket, or -errno */
void netlink_start(netlink_request *r, int type, int flags, const void *head, size_t head_len);
void netlink_attribute(netlink_request *r, int type, const void *data, size_t len);
/* 0 or -errno, after the kernel has acknowledged it. */
int netlink_call(int fd, netlink_request *r);
/* The body of the one message that answers a request; its length, or -errno. */
int netlink_ask(int fd, netlink_request *r, void *to, size_t room);

#endif
