/* SPDX-License-Identifier: MIT
 * udp_send.c against a kernel that refuses UDP_SEGMENT on the way to one peer, as where nothing can offload checksums:
 * what the other peers get must not change. The system call is ours; everything else is the dataplane's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long fake_syscall(long number, ...);
#define syscall fake_syscall
#include "../../../csrc/io/udp_send.c"
#undef syscall

#define REFUSED_PORT 1001

static unsigned calls, messages_of[8], packets_to[8], joined_to[8];

void gw_udp_send_failed(gw_outer *o, gw_peer *peer, int code, uint32_t packets, gw_loop_counters *c)
{
	(void)o, (void)peer, (void)code;
	c->udp_send_errors += packets;
}
void gw_udp_set_df(int fd, int family, bool df)
{
	(void)fd, (void)family, (void)df;
}

/* The kernel's side of one message: 0 or an errno. */
static int deliver(const struct msghdr *m)
{
	const struct sockaddr_in *to = m->msg_name;
	const unsigned peer = ntohs(to->sin_port) - 1000u;
	const int joined = m->msg_controllen > 0;

	if (joined && peer + 1000u == REFUSED_PORT) return EIO;
	packets_to[peer] += (unsigned)(m->msg_iov->iov_len + 99) / 100;
	joined_to[peer] += joined;
	return 0;
}

static long fake_syscall(long number, ...)
{
	va_list args;

	va_start(args, number);
	(void)va_arg(args, int);
	struct mmsghdr *m = va_arg(args, struct mmsghdr *);
	const unsigned n = va_arg(args, unsigned);
	va_end(args);
	if (number != SYS_sendmmsg) abort();
	if (calls < 8) messages_of[calls] = n;
	calls++;
	for (unsigned i = 0; i < n; i++) {
		const int code = deliver(&m[i].msg_hdr);
		if (!code) continue;
		if (i) return (long)i;
		errno = code;
		return -1;
	}
	return (long)n;
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	(void)fd, (void)flags;
	const int code = deliver(m);
	errno = code;
	return code ? -1 : (ssize_t)m->msg_iov->iov_len;
}

int main(void)
{
	static uint8_t data[3][1000];
	static gw_outer o = {.fd = {3, 4}, .df = true, .family = AF_INET, .gso = true, .gso_max_segments = 64};
	gw_peers ps;
	gw_train trains[6];
	gw_loop_counters c = {0};
	gw_peer *peers[3];

	o.tx_msgs = calloc(GW_UDP_MESSAGES, sizeof *o.tx_msgs);
	if (gw_peers_init(&ps, 3, false) < 0 || !o.tx_msgs) return 1;
	for (int i = 0; i < 3; i++) {
		const gw_addr a = {.family = 4, .port = (uint16_t)(1000 + i), .bytes = {10, 0, 0, 1}};
		peers[i] = &ps.peer[gw_peers_take(&ps, &a)];
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 6; i++)
			trains[i] = (gw_train){peers[i % 3], data[i % 3], 1000, 100, 10, .tos = 0, .df = true};
		if (gw_udp_send(&o, trains, 6, &c) != 60) return 2;
		printf("round %d: %u calls, first with %u messages, fallbacks %u, joined %u %u %u, packets %u %u %u\n", round,
			   calls, messages_of[0], (unsigned)c.gso_fallbacks, joined_to[0], joined_to[1], joined_to[2],
			   packets_to[0], packets_to[1], packets_to[2]);
		calls = 0;
		memset(joined_to, 0, sizeof joined_to);
		memset(packets_to, 0, sizeof packets_to);
	}
	printf("gso %d %d %d, errors %u\n", peers[0]->gso, peers[1]->gso, peers[2]->gso, (unsigned)c.udp_send_errors);
	/* A new place, a new chance; and the numbers of those who went are used again. */
	const gw_addr moved = {.family = 4, .port = 1005, .bytes = {10, 0, 0, 1}};
	gw_peers_move(&ps, 1, &moved);
	const int released = gw_peers_release(&ps, 2);
	printf("moved: gso %d, again %u, released %d, next %u\n", ps.peer[1].gso, gw_peers_take(&ps, &moved), released,
		   gw_peers_take(&ps, &(gw_addr){.family = 6, .port = 7}));
	gw_peers_free(&ps);
	free(o.tx_msgs);
	return 0;
}
