/* SPDX-License-Identifier: MIT
 * rtnetlink, as little of it as one TUN needs. Only attributes that qemu-user can swap are used: the flag that spares
 * duplicate address detection stands in the header's eight bits, and not in IFA_FLAGS.
 */
#include "netif.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool netif_parse(const char *text, gw_addr *out)
{
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	const size_t n = slash ? (size_t)(slash - text) : strlen(text);
	unsigned prefix = 0;

	memset(out, 0, sizeof *out);
	if (n >= sizeof address) return false;
	memcpy(address, text, n);
	address[n] = 0;
	const uint8_t family = strchr(address, ':') ? 6 : 4;
	if (inet_pton(family == 6 ? AF_INET6 : AF_INET, address, out->bytes) != 1) return false;
	const unsigned all = family == 6 ? 128 : 32;
	if (slash) {
		const char *p = slash + 1;
		if (!*p) return false;
		for (; *p; p++) {
			if (*p < '0' || *p > '9') return false;
			prefix = prefix * 10 + (unsigned)(*p - '0');
			if (prefix > all) return false;
		}
	}
	out->family = family;
	out->prefix = (uint8_t)(slash ? prefix : all);
	return true;
}

static void write_sysctl(const char *interface, const char *name, const char *value)
{
	char path[96];

	snprintf(path, sizeof path, "/proc/sys/net/ipv6/conf/%s/%s", interface, name);
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) return;
	(void)!write(fd, value, strlen(value));
	close(fd);
}

void netif_quiet_ipv6(const char *name, bool ipv6_wanted)
{
	write_sysctl(name, "addr_gen_mode", "1");
	write_sysctl(name, "accept_ra", "0");
	write_sysctl(name, "router_solicitations", "0");
	if (!ipv6_wanted) write_sysctl(name, "disable_ipv6", "1");
}

/* ---- requests ---- */

typedef struct request {
	struct nlmsghdr header;
	char body[256];
} request;

static void start(request *r, int type, int flags, const void *head, size_t head_len)
{
	memset(r, 0, sizeof *r);
	r->header.nlmsg_type = (uint16_t)type;
	r->header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	r->header.nlmsg_len = (uint32_t)NLMSG_LENGTH(head_len);
	r->header.nlmsg_seq = 1;
	memcpy(NLMSG_DATA(&r->header), head, head_len);
}

static void attribute(request *r, int type, const void *data, size_t len)
{
	struct rtattr *a = (struct rtattr *)(void *)((char *)r + NLMSG_ALIGN(r->header.nlmsg_len));

	a->rta_type = (uint16_t)type;
	a->rta_len = (uint16_t)RTA_LENGTH(len);
	memcpy(RTA_DATA(a), data, len);
	r->header.nlmsg_len = (uint32_t)(NLMSG_ALIGN(r->header.nlmsg_len) + RTA_ALIGN(a->rta_len));
}

static int call(int fd, const request *r)
{
	union {
		struct nlmsghdr header;
		char bytes[4096];
	} answer;

	if (send(fd, r, r->header.nlmsg_len, 0) < 0) return -errno;
	for (;;) {
		const ssize_t n = recv(fd, &answer, sizeof answer, 0);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) return -errno;
		if ((size_t)n < NLMSG_LENGTH(sizeof(struct nlmsgerr))) return -EBADMSG;
		if (answer.header.nlmsg_type != NLMSG_ERROR) continue;
		return ((const struct nlmsgerr *)NLMSG_DATA(&answer.header))->error;
	}
}

int netif_open(void)
{
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	return fd < 0 ? -errno : fd;
}

static size_t address_bytes(const gw_addr *a)
{
	return a->family == 6 ? 16 : 4;
}

int netif_add_address(int fd, int ifindex, const gw_addr *address)
{
	const struct ifaddrmsg head = {.ifa_family = address->family == 6 ? AF_INET6 : AF_INET,
								   .ifa_prefixlen = address->prefix,
								   .ifa_flags = address->family == 6 ? IFA_F_NODAD : 0,
								   .ifa_index = (unsigned)ifindex};
	request r;

	start(&r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof head);
	attribute(&r, IFA_LOCAL, address->bytes, address_bytes(address));
	attribute(&r, IFA_ADDRESS, address->bytes, address_bytes(address));
	return call(fd, &r);
}

int netif_set_up(int fd, int ifindex)
{
	const struct ifinfomsg head = {.ifi_index = ifindex, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
	request r;

	start(&r, RTM_NEWLINK, 0, &head, sizeof head);
	return call(fd, &r);
}

int netif_add_route(int fd, int ifindex, const gw_addr *prefix)
{
	const struct rtmsg head = {.rtm_family = prefix->family == 6 ? AF_INET6 : AF_INET,
							   .rtm_dst_len = prefix->prefix,
							   .rtm_table = RT_TABLE_MAIN,
							   .rtm_protocol = RTPROT_STATIC,
							   .rtm_scope = prefix->family == 6 ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
							   .rtm_type = RTN_UNICAST};
	uint8_t network[16];
	request r;

	memcpy(network, prefix->bytes, sizeof network);
	for (unsigned i = 0; i < sizeof network; i++) {
		const unsigned before = i * 8, bits = prefix->prefix > before ? prefix->prefix - before : 0;
		if (bits < 8) network[i] &= (uint8_t)(0xff00u >> bits);
	}
	start(&r, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof head);
	attribute(&r, RTA_DST, network, address_bytes(prefix));
	attribute(&r, RTA_OIF, &(uint32_t){(uint32_t)ifindex}, sizeof(uint32_t));
	return call(fd, &r);
}

/* ---- counters ---- */

/* A line of /proc/net/dev: "name: " and 16 numbers. */
static void write_interface(json_out *out, char *line)
{
	/* Columns: received bytes, packets, errors, dropped, 4 more; the same of what was sent. */
	static const struct {
		const char *name;
		int column;
	} wanted[] = {{"rx_packets", 1}, {"rx_bytes", 0}, {"rx_dropped", 3},
				  {"tx_packets", 9}, {"tx_bytes", 8}, {"tx_dropped", 11}};
	char *colon = strrchr(line, ':'), *at;
	uint64_t numbers[16] = {0};

	if (!colon) return;
	*colon = 0;
	at = colon + 1;
	for (int i = 0; i < 16; i++) numbers[i] = strtoull(at, &at, 10);
	json_key(out, line + strspn(line, " "));
	json_begin(out, '{');
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		json_put_count(out, wanted[i].name, numbers[wanted[i].column]);
	json_end(out, '}');
}

void netif_write_counters(json_out *out)
{
	char buffer[1024];
	size_t held = 0, line = 0;
	const int fd = open("/proc/self/net/dev", O_RDONLY | O_CLOEXEC);

	json_begin(out, '{');
	for (ssize_t n; fd >= 0 && (n = read(fd, buffer + held, sizeof buffer - held)) > 0;) {
		char *start = buffer, *end;
		held += (size_t)n;
		while ((end = memchr(start, '\n', held - (size_t)(start - buffer)))) {
			*end = 0;
			if (line++ >= 2) write_interface(out, start); /* two lines of headings */
			start = end + 1;
		}
		held -= (size_t)(start - buffer);
		memmove(buffer, start, held);
	}
	if (fd >= 0) close(fd);
	json_end(out, '}');
}
