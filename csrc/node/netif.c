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

#include "netlink.h"

/* Whose routes ours are (rtm_protocol): only they are deleted. */
#define OWN_PROTOCOL 119

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

static size_t address_bytes(const gw_addr *a)
{
	return a->family == 6 ? 16 : 4;
}

static int address_request(int fd, int type, int flags, int ifindex, const gw_addr *address)
{
	const struct ifaddrmsg head = {.ifa_family = address->family == 6 ? AF_INET6 : AF_INET,
								   .ifa_prefixlen = address->prefix,
								   .ifa_flags = address->family == 6 ? IFA_F_NODAD : 0,
								   .ifa_index = (unsigned)ifindex};
	netlink_request r;

	netlink_start(&r, type, flags, &head, sizeof head);
	netlink_attribute(&r, IFA_LOCAL, address->bytes, address_bytes(address));
	netlink_attribute(&r, IFA_ADDRESS, address->bytes, address_bytes(address));
	return netlink_call(fd, &r);
}

int netif_add_address(int fd, int ifindex, const gw_addr *address)
{
	return address_request(fd, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, ifindex, address);
}

int netif_delete_address(int fd, int ifindex, const gw_addr *address)
{
	return address_request(fd, RTM_DELADDR, 0, ifindex, address);
}

int netif_set_up(int fd, int ifindex)
{
	const struct ifinfomsg head = {.ifi_index = ifindex, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
	netlink_request r;

	netlink_start(&r, RTM_NEWLINK, 0, &head, sizeof head);
	return netlink_call(fd, &r);
}

static int route_request(int fd, int type, int flags, int ifindex, const gw_addr *prefix, const gw_addr *via,
						 int protocol)
{
	const struct rtmsg head = {.rtm_family = prefix->family == 6 ? AF_INET6 : AF_INET,
							   .rtm_dst_len = prefix->prefix,
							   .rtm_table = RT_TABLE_MAIN,
							   .rtm_protocol = (unsigned char)protocol,
							   /* Deleting: of whatever scope. */
							   .rtm_scope = type == RTM_DELROUTE         ? RT_SCOPE_NOWHERE
											: prefix->family == 6 || via ? RT_SCOPE_UNIVERSE
																		 : RT_SCOPE_LINK,
							   .rtm_type = RTN_UNICAST};
	uint8_t network[16];
	netlink_request r;

	memcpy(network, prefix->bytes, sizeof network);
	for (unsigned i = 0; i < sizeof network; i++) {
		const unsigned before = i * 8, bits = prefix->prefix > before ? prefix->prefix - before : 0;
		if (bits < 8) network[i] &= (uint8_t)(0xff00u >> bits);
	}
	netlink_start(&r, type, flags, &head, sizeof head);
	netlink_attribute(&r, RTA_DST, network, address_bytes(prefix));
	netlink_attribute(&r, RTA_OIF, &(uint32_t){(uint32_t)ifindex}, sizeof(uint32_t));
	if (via) netlink_attribute(&r, RTA_GATEWAY, via->bytes, address_bytes(via));
	return netlink_call(fd, &r);
}

int netif_add_route(int fd, int ifindex, const gw_addr *prefix)
{
	return route_request(fd, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, ifindex, prefix, NULL, RTPROT_STATIC);
}

int netif_add_own_route(int fd, int ifindex, const gw_addr *prefix, const gw_addr *via)
{
	return route_request(fd, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, ifindex, prefix, via, OWN_PROTOCOL);
}

int netif_delete_own_route(int fd, int ifindex, const gw_addr *prefix)
{
	return route_request(fd, RTM_DELROUTE, 0, ifindex, prefix, NULL, OWN_PROTOCOL);
}

int netif_holding(int fd, const gw_addr *address)
{
	const struct ifaddrmsg head = {.ifa_family = address->family == 6 ? AF_INET6 : AF_INET};
	union {
		struct nlmsghdr header;
		char bytes[8192];
	} answer;
	netlink_request r;
	int found = -EADDRNOTAVAIL;

	netlink_start(&r, RTM_GETADDR, NLM_F_DUMP, &head, sizeof head);
	if (send(fd, &r, r.header.nlmsg_len, 0) < 0) return -errno;
	for (;;) {
		ssize_t left = recv(fd, &answer, sizeof answer, 0);
		if (left < 0 && errno == EINTR) continue;
		if (left < 0) return -errno;
		for (struct nlmsghdr *h = &answer.header; NLMSG_OK(h, (size_t)left); h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) return found;
			const struct ifaddrmsg *a = NLMSG_DATA(h);
			int rest = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof *a));
			for (struct rtattr *t = IFA_RTA(a); RTA_OK(t, rest); t = RTA_NEXT(t, rest))
				if (t->rta_type == (a->ifa_family == AF_INET ? IFA_LOCAL : IFA_ADDRESS) &&
					!memcmp(RTA_DATA(t), address->bytes, address_bytes(address)))
					found = (int)a->ifa_index;
		}
	}
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
