/* SPDX-License-Identifier: MIT
 * One thread an echo: datagrams go back to who sent them, TCP connections get their own bytes. All of it is bound to
 * one address.
 */
#define _GNU_SOURCE
#include "echo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netif.h"
#include "protocol.h"

#define CONNECTIONS   2
#define BUFFER_BYTES  (32u << 10)
#define STACK_BYTES   (192u << 10) /* a datagram lies on it */
#define PORT_ATTEMPTS 16
#ifndef IPV6_DONTFRAG
#define IPV6_DONTFRAG 62
#endif

typedef struct connection {
	int fd; /* -1: free */
	size_t held, done;
	char buffer[BUFFER_BYTES];
} connection;

struct echo {
	struct echo *next;
	pthread_t thread;
	int stop_fd, udp, listener; /* listener -1: no TCP */
	uint16_t port;
	pthread_mutex_t lock; /* what follows */
	struct sockaddr_storage peer;
	uint32_t packets;
	connection connections[CONNECTIONS];
};

/* ---- the thread ---- */

static void answer_datagram(echo *e, char *buffer, size_t room)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof from;
	const ssize_t n = recvfrom(e->udp, buffer, room, MSG_DONTWAIT, (struct sockaddr *)&from, &len);

	if (n < 0) return;
	pthread_mutex_lock(&e->lock);
	e->peer = from;
	e->packets++;
	pthread_mutex_unlock(&e->lock);
	(void)sendto(e->udp, buffer, (size_t)n, MSG_DONTWAIT, (struct sockaddr *)&from, len);
}

static void end_connection(connection *c)
{
	if (c->fd >= 0) close(c->fd);
	c->fd = -1;
	c->held = c->done = 0;
}

static void welcome(echo *e)
{
	const int fd = accept4(e->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	for (int i = 0; fd >= 0 && i < CONNECTIONS; i++)
		if (e->connections[i].fd < 0) {
			e->connections[i].fd = fd;
			return;
		}
	if (fd >= 0) close(fd);
}

static void move(connection *c)
{
	if (!c->held) {
		const ssize_t n = read(c->fd, c->buffer, sizeof c->buffer);
		if (n == 0 || (n < 0 && errno != EAGAIN)) end_connection(c);
		if (n <= 0) return;
		c->held = (size_t)n;
		c->done = 0;
	}
	const ssize_t put = send(c->fd, c->buffer + c->done, c->held - c->done, MSG_NOSIGNAL);
	if (put < 0 && errno != EAGAIN) end_connection(c);
	if (put <= 0) return;
	c->done += (size_t)put;
	if (c->done == c->held) c->held = 0;
}

static void *serve(void *arg)
{
	echo *e = arg;
	char datagram[65536];

	for (;;) {
		struct pollfd p[3 + CONNECTIONS] = {{.fd = e->stop_fd, .events = POLLIN},
											{.fd = e->udp, .events = POLLIN},
											{.fd = e->listener, .events = POLLIN}};
		for (int i = 0; i < CONNECTIONS; i++) {
			const connection *c = &e->connections[i];
			p[3 + i] = (struct pollfd){.fd = c->fd, .events = c->held ? POLLOUT : POLLIN};
		}
		if (poll(p, 3 + CONNECTIONS, -1) < 0 && errno != EINTR) return NULL;
		if (p[0].revents) return NULL;
		if (p[1].revents) answer_datagram(e, datagram, sizeof datagram);
		for (int i = 0; i < CONNECTIONS; i++)
			if (p[3 + i].revents && e->connections[i].fd >= 0) move(&e->connections[i]);
		if (p[2].revents) welcome(e);
	}
}

/* ---- making and ending ---- */

static void free_echo(echo *e)
{
	const int fds[] = {e->stop_fd, e->udp, e->listener};

	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (fds[i] >= 0) close(fds[i]);
	for (int i = 0; i < CONNECTIONS; i++) end_connection(&e->connections[i]);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static void end_echo(echo *e)
{
	(void)!write(e->stop_fd, &(uint64_t){1}, sizeof(uint64_t));
	pthread_join(e->thread, NULL);
	free_echo(e);
}

void echo_end_all(echo *first)
{
	while (first) {
		echo *e = first;
		first = e->next;
		end_echo(e);
	}
}

static socklen_t address_of(const gw_addr *local, uint16_t port, struct sockaddr_storage *out)
{
	memset(out, 0, sizeof *out);
	if (local->family == 6) {
		struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(port);
		memcpy(&six->sin6_addr, local->bytes, 16);
		return sizeof *six;
	}
	struct sockaddr_in *four = (struct sockaddr_in *)out;
	four->sin_family = AF_INET;
	four->sin_port = htons(port);
	memcpy(&four->sin_addr, local->bytes, 4);
	return sizeof *four;
}

static uint16_t port_of(const struct sockaddr_storage *a)
{
	return ntohs(a->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)a)->sin6_port
										  : ((const struct sockaddr_in *)a)->sin_port);
}

/* DF whatever the path MTU is thought to be, or fragments where they are needed. */
static void set_df(int fd, int family, bool df)
{
	const int mode = df ? 3 /* PMTUDISC_PROBE */ : 0 /* PMTUDISC_DONT */, on = df;

	if (family == 6) {
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &mode, sizeof mode);
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_DONTFRAG, &on, sizeof on);
	} else {
		(void)setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &mode, sizeof mode);
	}
}

static int bound(int family, int kind, const struct sockaddr_storage *a, socklen_t len)
{
	const int fd = socket(family == 6 ? AF_INET6 : AF_INET, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	if (fd < 0) return -errno;
	if (kind == SOCK_STREAM) (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, (const struct sockaddr *)a, len) < 0 || (kind == SOCK_STREAM && listen(fd, 4) < 0)) {
		const int rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

/* Both sockets at one port; 0 = any that is free for both. 0 or -errno. */
static int open_sockets(echo *e, const gw_addr *local, uint16_t port, bool tcp)
{
	struct sockaddr_storage a;
	const int attempts = port || !tcp ? 1 : PORT_ATTEMPTS;
	int rc = -EADDRINUSE;

	for (int i = 0; i < attempts && rc == -EADDRINUSE; i++) {
		socklen_t len = address_of(local, port, &a);
		if ((e->udp = bound(local->family, SOCK_DGRAM, &a, len)) < 0) return e->udp;
		if (getsockname(e->udp, (struct sockaddr *)&a, &len) < 0) return -errno;
		e->port = port_of(&a);
		if (!tcp) return 0;
		if ((e->listener = bound(local->family, SOCK_STREAM, &a, len)) >= 0) return 0;
		rc = e->listener;
		close(e->udp);
		e->udp = -1;
	}
	return rc;
}

static int start_thread(echo *e)
{
	pthread_attr_t attr;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	const int rc = -pthread_create(&e->thread, &attr, serve, e);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* ---- operations ---- */

typedef struct echo_arguments {
	const char *local;
	uint32_t port;
	bool df, tcp;
} echo_arguments;

#define ECHO(field) offsetof(echo_arguments, field)

int node_open_echo(node *n, node_failure *f)
{
	static const argument table[] = {{"local", ARGUMENT_TEXT, true, ECHO(local)},
									 {"port", ARGUMENT_PORT, false, ECHO(port)},
									 {"df", ARGUMENT_BOOL, false, ECHO(df)},
									 {"tcp", ARGUMENT_BOOL, false, ECHO(tcp)}};
	echo_arguments a = {.local = ""};
	const int room = 1 << 20;
	gw_addr local;

	if (arguments_read(n->request, table, 4, &a, f)) return -1;
	if (!netif_parse(a.local, &local) || strchr(a.local, '/'))
		return node_fail(f, "bad-request", "not an address: '%.64s'", a.local);
	echo *e = calloc(1, sizeof *e);
	if (!e) return node_fail(f, "error", "out of memory");
	pthread_mutex_init(&e->lock, NULL);
	e->udp = e->listener = -1;
	for (int i = 0; i < CONNECTIONS; i++) e->connections[i].fd = -1;
	int rc = (e->stop_fd = eventfd(0, EFD_CLOEXEC)) < 0 ? -errno : open_sockets(e, &local, (uint16_t)a.port, a.tcp);
	if (!rc) {
		set_df(e->udp, local.family, a.df);
		(void)setsockopt(e->udp, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
		rc = start_thread(e);
	}
	if (rc) {
		free_echo(e);
		return node_fail(f, "error", "cannot echo at %.64s port %u: %s", a.local, (unsigned)a.port, strerror(-rc));
	}
	e->next = n->echoes;
	n->echoes = e;
	node_result(n);
	json_begin(&n->out, '{');
	json_put_count(&n->out, "port", e->port);
	json_end(&n->out, '}');
	return 0;
}

static echo **find(node *n, uint32_t port, node_failure *f)
{
	for (echo **at = &n->echoes; *at; at = &(*at)->next)
		if ((*at)->port == port) return at;
	node_fail(f, "error", "no echo has port %u", (unsigned)port);
	return NULL;
}

int node_echo_seen(node *n, node_failure *f)
{
	static const argument table[] = {{"port", ARGUMENT_PORT, true, ECHO(port)}};
	char text[INET6_ADDRSTRLEN] = "";
	struct sockaddr_storage peer;
	echo_arguments a;
	echo **at;

	if (arguments_read(n->request, table, 1, &a, f) || !(at = find(n, a.port, f))) return -1;
	pthread_mutex_lock(&(*at)->lock);
	peer = (*at)->peer;
	const uint32_t packets = (*at)->packets;
	pthread_mutex_unlock(&(*at)->lock);
	if (packets)
		inet_ntop(peer.ss_family,
				  peer.ss_family == AF_INET6 ? (const void *)&((struct sockaddr_in6 *)&peer)->sin6_addr
											 : (const void *)&((struct sockaddr_in *)&peer)->sin_addr,
				  text, sizeof text);
	node_result(n);
	json_begin(&n->out, '{');
	json_put_text(&n->out, "peer", text);
	json_put_count(&n->out, "peer_port", packets ? port_of(&peer) : 0);
	json_put_count(&n->out, "packets", packets);
	json_end(&n->out, '}');
	return 0;
}

int node_close_echo(node *n, node_failure *f)
{
	static const argument table[] = {{"port", ARGUMENT_PORT, true, ECHO(port)}};
	echo_arguments a;
	echo **at;

	if (arguments_read(n->request, table, 1, &a, f) || !(at = find(n, a.port, f))) return -1;
	echo *e = *at;
	*at = e->next;
	end_echo(e);
	node_write_empty(n);
	return 0;
}
