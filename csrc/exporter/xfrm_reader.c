/* SPDX-License-Identifier: MIT
 * gwbench-xfrm-reader: the kernel's SAs without their keys.
 *
 * The kernel's answer to "which SAs are there" carries every key. This program is the only one of the exporter that
 * sees such an answer: it keeps CAP_NET_ADMIN and nothing else, writes counters as text on stdout, and wipes what it
 * read. The HTTP server, which listens to strangers, has no capability at all.
 *
 *   stdin    "dump\n" asks once; end of file ends it
 *   stdout   a line "sa KEY=VALUE ..." for each SA, then "gone KEY=VALUE ..." for each that was removed since the last
 *            dump, with what it had counted at its end, "lost N" when N events could not be kept, and "end"
 *
 * Options: --netlink-fd N: talk to this descriptor instead of opening a netlink socket (tests play the kernel).
 */
#define _GNU_SOURCE
#include "sa_text.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUFFER_BYTES    (1 << 18)
#define EVENTS_KEPT     65536
#define GROUP_EXPIRE    2 /* XFRMNLGRP_EXPIRE */
#define GROUP_SA        3 /* XFRMNLGRP_SA */
#define NOBODY          65534
#define DUMP_TIMEOUT    5000 /* ms; a kernel answers in microseconds */
#define RCVBUF_BYTES    (8 << 20)
#define CAP_SET_BITS(n) (1u << (n))

static struct {
	char *lines[EVENTS_KEPT];
	size_t n;
	unsigned long lost;
} events;

static _Alignas(64) unsigned char buffer[BUFFER_BYTES];

static void wipe(void *p, size_t n)
{
	memset(p, 0, n);
	__asm__ __volatile__("" : : "r"(p) : "memory");
}

static int die(const char *what)
{
	fprintf(stderr, "xfrm-reader: %s: %s\n", what, strerror(errno));
	return 2;
}

/* No core dump, no debugger, no new privileges; as nobody when root, and CAP_NET_ADMIN alone. */
static int harden(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};
	const struct rlimit none = {0, 0};

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (geteuid() == 0) {
		(void)prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
		/* Where nobody does not exist (a user namespace with one id), staying is all that can be done. */
		if (setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0) (void)!setresuid(NOBODY, NOBODY, NOBODY);
	}
	caps[0].permitted = caps[0].effective = CAP_SET_BITS(CAP_NET_ADMIN);
	if (syscall(SYS_capset, &header, caps) != 0) {
		/* It was started without: the kernel's answer to the dump will say so. */
		caps[0].permitted = caps[0].effective = 0;
		(void)syscall(SYS_capset, &header, caps);
	}
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static int open_netlink(void)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_XFRM);
	const int groups[] = {GROUP_EXPIRE, GROUP_SA}, size = RCVBUF_BYTES;

	if (fd < 0) return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0) return -1;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof(groups[i])) != 0) return -1;
	return fd;
}

static void keep_event(const char *line)
{
	char *copy = events.n < EVENTS_KEPT ? strdup(line) : NULL;

	if (copy)
		events.lines[events.n++] = copy;
	else
		events.lost++;
}

/* One datagram of the kernel. Returns 1 at the end of the dump `seq`, 0 before it, -errno when it was refused. */
static int take(size_t got, uint32_t seq)
{
	char line[SA_TEXT_BYTES];
	int ended = 0;

	for (size_t at = 0; at + NLMSG_HDRLEN <= got;) {
		const struct nlmsghdr *header = (const void *)(buffer + at);

		if (header->nlmsg_len < NLMSG_HDRLEN || header->nlmsg_len > got - at) break;
		if (header->nlmsg_type == NLMSG_DONE && header->nlmsg_seq == seq) {
			ended = 1;
		} else if (header->nlmsg_type == NLMSG_ERROR && header->nlmsg_seq == seq &&
				   header->nlmsg_len >= NLMSG_HDRLEN + 4) {
			int error;
			memcpy(&error, buffer + at + NLMSG_HDRLEN, sizeof(error));
			if (error) return error;
			ended = 1;
		} else if (gw_sa_text(header, line, sizeof(line))) {
			if (strncmp(line, "sa ", 3) == 0)
				puts(line);
			else
				keep_event(line);
		}
		at += NLMSG_ALIGN(header->nlmsg_len);
	}
	return ended;
}

/* Reads what is there. *overrun: the kernel had more events than its buffer held. */
static ssize_t receive(int fd)
{
	for (;;) {
		const ssize_t got = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);

		if (got >= 0) return got;
		if (errno == EINTR) continue;
		if (errno == ENOBUFS) {
			events.lost++;
			continue;
		}
		return errno == EAGAIN ? -EAGAIN : -errno;
	}
}

static int drain(int fd)
{
	ssize_t got;

	while ((got = receive(fd)) > 0) {
		(void)take((size_t)got, 0);
		wipe(buffer, (size_t)got);
	}
	return got == -EAGAIN ? 0 : (int)(got ? got : -EPIPE);
}

static int dump(int fd, uint32_t seq)
{
	/* struct xfrm_usersa_id is optional in a dump request; nlmsghdr alone asks for every SA. */
	const struct nlmsghdr ask = {.nlmsg_len = NLMSG_HDRLEN,
								 .nlmsg_type = XFRM_MSG_GETSA,
								 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
								 .nlmsg_seq = seq};
	int result = 0;

	gw_sa_text_local_addresses();
	if (send(fd, &ask, sizeof(ask), 0) < 0) return -errno;
	while (result == 0) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		ssize_t got;

		if (poll(&ready, 1, DUMP_TIMEOUT) == 0) return -ETIMEDOUT;
		while (result == 0 && (got = receive(fd)) > 0) {
			result = take((size_t)got, seq);
			wipe(buffer, (size_t)got);
		}
		if (result == 0 && got != -EAGAIN) return got ? (int)got : -EPIPE;
	}
	if (result < 0) return result;
	/* What was removed while the dump ran is an event by now. */
	return drain(fd);
}

static void tell_events(void)
{
	for (size_t i = 0; i < events.n; i++) {
		puts(events.lines[i]);
		free(events.lines[i]);
	}
	if (events.lost) printf("lost %lu\n", events.lost);
	events.n = 0;
	events.lost = 0;
}

static int answer(int fd, uint32_t seq)
{
	const int result = dump(fd, seq);

	if (result < 0 && result != -EPIPE) {
		/* Nothing of a dump that failed is a measurement: the reader's parent forgets the lines before this one. */
		printf("error %s\n", result == -EPERM ? "needs CAP_NET_ADMIN" : strerror(-result));
	} else {
		tell_events();
	}
	puts("end");
	fflush(stdout);
	return result == -EPIPE ? -1 : 0;
}

int main(int argc, char **argv)
{
	char line[64];
	size_t have = 0;
	uint32_t seq = 1;
	int fd = -1;

	if (argc == 3 && strcmp(argv[1], "--netlink-fd") == 0) {
		fd = atoi(argv[2]);
	} else if (argc != 1) {
		fprintf(stderr, "usage: xfrm-reader [--netlink-fd N]\n");
		return 2;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (fd < 0 && (fd = open_netlink()) < 0) return die(errno == EPERM ? "needs CAP_NET_ADMIN" : "netlink");
	if (harden() != 0) return die("prctl");
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0); /* the change of user has cleared it */
	for (;;) {
		struct pollfd ready[2] = {{.fd = 0, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

		if (poll(ready, 2, -1) < 0 && errno != EINTR) return die("poll");
		if (ready[1].revents && drain(fd) < 0) return die("netlink");
		if (!ready[0].revents) continue;
		const ssize_t got = read(0, line + have, sizeof(line) - have);
		if (got <= 0) return 0;
		have += (size_t)got;
		for (char *end; (end = memchr(line, '\n', have)) != NULL;) {
			const size_t used = (size_t)(end + 1 - line);
			if (used == 5 && memcmp(line, "dump\n", 5) == 0 && answer(fd, seq++) != 0) return die("netlink");
			memmove(line, end + 1, have - used);
			have -= used;
		}
		if (have == sizeof(line)) return 2;
	}
}
