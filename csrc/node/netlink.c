/* SPDX-License-Identifier: MIT
 * See netlink.h.
 */
#include "netlink.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int netlink_open(int protocol)
{
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	return fd < 0 ? -errno : fd;
}

void netlink_start(netlink_request *r, int type, int flags, const void *head, size_t head_len)
{
	memset(r, 0, sizeof *r);
	r->header.nlmsg_type = (uint16_t)type;
	r->header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	r->header.nlmsg_len = (uint32_t)NLMSG_LENGTH(head_len);
	r->header.nlmsg_seq = 1;
	memcpy(NLMSG_DATA(&r->header), head, head_len);
}

void netlink_attribute(netlink_request *r, int type, const void *data, size_t len)
{
	struct nlattr *a = (struct nlattr *)(void *)((char *)r + NLMSG_ALIGN(r->header.nlmsg_len));

	if (NLMSG_ALIGN(r->header.nlmsg_len) + NLA_HDRLEN + NLA_ALIGN(len) > sizeof *r) return; /* refused by the kernel */
	a->nla_type = (uint16_t)type;
	a->nla_len = (uint16_t)(NLA_HDRLEN + len);
	if (len) memcpy((char *)a + NLA_HDRLEN, data, len);
	r->header.nlmsg_len = (uint32_t)(NLMSG_ALIGN(r->header.nlmsg_len) + NLA_ALIGN(a->nla_len));
}

int netlink_ask(int fd, netlink_request *r, void *to, size_t room)
{
	union {
		struct nlmsghdr header;
		char bytes[4096];
	} answer;

	if (!to) r->header.nlmsg_flags |= NLM_F_ACK;
	if (send(fd, r, r->header.nlmsg_len, 0) < 0) return -errno;
	for (;;) {
		const ssize_t n = recv(fd, &answer, sizeof answer, 0);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) return -errno;
		if ((size_t)n < NLMSG_LENGTH(sizeof(struct nlmsgerr))) return -EBADMSG;
		if (answer.header.nlmsg_type == NLMSG_ERROR)
			return ((const struct nlmsgerr *)NLMSG_DATA(&answer.header))->error;
		if (!to) continue;
		const size_t len = (size_t)n - NLMSG_HDRLEN;
		memcpy(to, NLMSG_DATA(&answer.header), len < room ? len : room);
		return (int)len;
	}
}

int netlink_call(int fd, netlink_request *r)
{
	return netlink_ask(fd, r, NULL, 0);
}
