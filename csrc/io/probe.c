/* SPDX-License-Identifier: MIT
 * What does this kernel really do with UDP_SEGMENT and UDP_GRO? Segments are sent over loopback and read back;
 * versions and accepted options prove nothing (emulators accept what they do not implement).
 *
 * A fresh network namespace has its loopback down: it is raised for the probe and put back.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "udp.h"

#define PROBE_SEGMENT 32 /* bytes */
#define PROBE_WAIT_MS 200

/* Sets IFF_UP as wished; returns what it was, or -errno. */
static int loopback(bool up)
{
	struct ifreq ifr;
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), was;

	if (s < 0) return -errno;
	memset(&ifr, 0, sizeof ifr);
	memcpy(ifr.ifr_name, "lo", 3);
	was = ioctl(s, SIOCGIFFLAGS, &ifr) < 0 ? -errno : (ifr.ifr_flags & IFF_UP) != 0;
	if (was >= 0 && was != up) {
		ifr.ifr_flags = (short)((ifr.ifr_flags & ~IFF_UP) | (up ? IFF_UP : 0));
		if (ioctl(s, SIOCSIFFLAGS, &ifr) < 0) was = -errno;
	}
	close(s);
	return was;
}

static int bound_socket(int family, struct sockaddr_storage *addr, socklen_t *len)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0) return -errno;
	memset(addr, 0, sizeof *addr);
	addr->ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		((struct sockaddr_in *)addr)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		*len = sizeof(struct sockaddr_in);
	} else {
		((struct sockaddr_in6 *)addr)->sin6_addr = in6addr_loopback;
		*len = sizeof(struct sockaddr_in6);
	}
	if (bind(fd, (struct sockaddr *)addr, *len) < 0 || getsockname(fd, (struct sockaddr *)addr, len) < 0) {
		int err = errno;
		close(fd);
		return -err;
	}
	return fd;
}

/* Sends n segments in one call. */
static bool send_segments(int fd, const struct sockaddr_storage *to, socklen_t to_len, uint32_t n, bool swapped)
{
	const uint16_t segment = swapped ? __builtin_bswap16(PROBE_SEGMENT) : PROBE_SEGMENT;
	static uint8_t zeros[PROBE_SEGMENT * 128]; /* not const: that would be 4 KB of the file */
	struct iovec iov = {zeros, (size_t)n * PROBE_SEGMENT};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(uint16_t))];
	} control;
	struct msghdr msg;

	memset(&msg, 0, sizeof msg);
	memset(&control, 0, sizeof control);
	msg.msg_name = (void *)(uintptr_t)to;
	msg.msg_namelen = to_len;
	msg.msg_iov = &iov;
	msg.msg_iovlen = 1;
	msg.msg_control = control.bytes;
	msg.msg_controllen = sizeof control.bytes;
	gw_udp_put_cmsg(CMSG_FIRSTHDR(&msg), SOL_UDP, UDP_SEGMENT, &segment, sizeof segment);
	return sendmsg(fd, &msg, 0) == (ssize_t)iov.iov_len;
}

/* Receives once: length, and the segment size that came with it (0 = none). */
static ssize_t receive(int fd, uint32_t *segment, bool *swapped)
{
	uint8_t data[PROBE_SEGMENT * 128];
	struct iovec iov = {data, sizeof data};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int)) * 4];
	} control;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct msghdr msg;
	ssize_t got;

	memset(&msg, 0, sizeof msg);
	msg.msg_iov = &iov;
	msg.msg_iovlen = 1;
	msg.msg_control = control.bytes;
	msg.msg_controllen = sizeof control.bytes;
	if (poll(&p, 1, PROBE_WAIT_MS) <= 0 || (got = recvmsg(fd, &msg, MSG_DONTWAIT)) < 0) return -1;
	*segment = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = gw_udp_next_cmsg(&msg, c)) {
		if (c->cmsg_level != SOL_UDP || c->cmsg_type != UDP_GRO) continue;
		uint32_t value = 0;
		memcpy(&value, CMSG_DATA(c), sizeof value);
		if (value == __builtin_bswap32(PROBE_SEGMENT)) {
			*swapped = true;
			value = PROBE_SEGMENT;
		}
		*segment = value;
	}
	return got;
}

/* Two segments arrive as two datagrams. (One of double length is none of them, and is taken away by the look.) */
static bool two_arrive(int tx, int rx, const struct sockaddr_storage *to, socklen_t to_len, bool swapped)
{
	uint32_t segment;
	bool ignored;

	return send_segments(tx, to, to_len, 2, swapped) && receive(rx, &segment, &ignored) == PROBE_SEGMENT &&
		   receive(rx, &segment, &ignored) == PROBE_SEGMENT;
}

static void probe_pair(int family, gw_probe *out)
{
	struct sockaddr_storage from, to;
	socklen_t from_len, to_len;
	int tx = bound_socket(family, &from, &from_len), rx = bound_socket(family, &to, &to_len), on = 1;
	uint32_t segment;
	bool swapped = false;

	if (tx < 0 || rx < 0) goto done;
	/* An emulator that does not know a control message hands its bytes on as they are. */
	out->udp_gso = two_arrive(tx, rx, &to, to_len, false);
	if (!out->udp_gso) out->udp_gso = out->cmsg_swapped = two_arrive(tx, rx, &to, to_len, true);
	if (out->udp_gso) out->gso_max_segments = 64;
	if (!out->udp_gso || setsockopt(rx, SOL_UDP, UDP_GRO, &on, sizeof on) < 0) goto done;
	if (send_segments(tx, &to, to_len, 2, out->cmsg_swapped) && receive(rx, &segment, &swapped) == 2 * PROBE_SEGMENT &&
		segment == PROBE_SEGMENT) {
		out->udp_gro = true;
		out->cmsg_swapped = swapped; /* the same on both ways */
		if (send_segments(tx, &to, to_len, 128, swapped) && receive(rx, &segment, &swapped) == 128 * PROBE_SEGMENT)
			out->gso_max_segments = 128;
	}
done:
	if (tx >= 0) close(tx);
	if (rx >= 0) close(rx);
}

int gw_probe_run(int family, gw_probe *out)
{
	*out = (gw_probe){.gso_max_segments = 1};
	if (family != AF_INET && family != AF_INET6) return -EAFNOSUPPORT;
	int was_up = loopback(true);
	probe_pair(family, out);
	if (was_up == 0) loopback(false);
	return was_up < 0 && !out->udp_gso ? was_up : 0;
}
