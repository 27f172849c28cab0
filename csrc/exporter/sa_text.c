/* SPDX-License-Identifier: MIT
 * Which fields of an SA leave this program: identity, counters, limits, names of algorithms. An attribute that is not
 * named here stays here, so a new kernel's attributes are no leak either.
 */
#include "sa_text.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Newer than some headers. */
#define ATTRIBUTE_IF_ID  31
#define ATTRIBUTE_SA_DIR 33
#define DIR_IN           1
#define DIR_OUT          2

typedef struct text {
	char *at;
	size_t room;
} text;

typedef struct attributes {
	const unsigned char *data[64];
	size_t len[64];
} attributes;

static struct ifaddrs *local;

void gw_sa_text_local_addresses(void)
{
	if (local) freeifaddrs(local);
	if (getifaddrs(&local) != 0) local = NULL;
}

static bool is_local(const xfrm_address_t *address, int family)
{
	for (const struct ifaddrs *one = local; one; one = one->ifa_next) {
		if (!one->ifa_addr || one->ifa_addr->sa_family != family) continue;
		if (family == AF_INET &&
			memcmp(&((const struct sockaddr_in *)(const void *)one->ifa_addr)->sin_addr, address, 4) == 0)
			return true;
		if (family == AF_INET6 &&
			memcmp(&((const struct sockaddr_in6 *)(const void *)one->ifa_addr)->sin6_addr, address, 16) == 0)
			return true;
	}
	return false;
}

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...)
{
	va_list values;
	int n;

	va_start(values, format);
	n = vsnprintf(t->at, t->room, format, values);
	va_end(values);
	if (n > 0 && (size_t)n < t->room) {
		t->at += n;
		t->room -= (size_t)n;
	}
}

static void put_address(text *t, const char *key, const xfrm_address_t *address, int family)
{
	char name[INET6_ADDRSTRLEN] = "?";

	(void)inet_ntop(family, address, name, sizeof(name));
	put(t, " %s=%s", key, name);
}

/* A limit that is not set is left out: "none" is no number. */
static void put_limit(text *t, const char *key, uint64_t value)
{
	if (value != 0 && value != XFRM_INF) put(t, " %s=%" PRIu64, key, value);
}

/* The first field of every struct xfrm_algo*: a name of 64 bytes; then, in all of them, the key's length in bits. */
static void put_algorithm(text *t, const attributes *a, int kind, const char *key)
{
	char name[65] = "";
	uint32_t bits;

	if (a->len[kind] < 68) return;
	memcpy(name, a->data[kind], 64);
	memcpy(&bits, a->data[kind] + 64, 4);
	for (char *c = name; *c; c++)
		if (*c <= ' ' || *c > '~' || *c == '=') *c = '?';
	put(t, " %s=%s %s_bits=%" PRIu32, key, name, key, bits);
}

static uint32_t number(const attributes *a, int kind)
{
	uint32_t value = 0;

	if (a->len[kind] >= 4) memcpy(&value, a->data[kind], 4);
	return value;
}

static void put_sequence(text *t, const attributes *a)
{
	if (a->len[XFRMA_REPLAY_ESN_VAL] >= sizeof(struct xfrm_replay_state_esn)) {
		struct xfrm_replay_state_esn esn;
		memcpy(&esn, a->data[XFRMA_REPLAY_ESN_VAL], sizeof(esn));
		put(t, " oseq=%" PRIu64 " seq=%" PRIu64, (uint64_t)esn.oseq_hi << 32 | esn.oseq,
			(uint64_t)esn.seq_hi << 32 | esn.seq);
	} else if (a->len[XFRMA_REPLAY_VAL] >= sizeof(struct xfrm_replay_state)) {
		struct xfrm_replay_state old;
		memcpy(&old, a->data[XFRMA_REPLAY_VAL], sizeof(old));
		put(t, " oseq=%" PRIu32 " seq=%" PRIu32, old.oseq, old.seq);
	}
}

static const char *direction(const struct xfrm_usersa_info *sa, const attributes *a)
{
	if (a->len[ATTRIBUTE_SA_DIR] >= 1) {
		if (*a->data[ATTRIBUTE_SA_DIR] == DIR_IN) return "in";
		if (*a->data[ATTRIBUTE_SA_DIR] == DIR_OUT) return "out";
	}
	if (is_local(&sa->id.daddr, sa->family)) return "in";
	return is_local(&sa->saddr, sa->family) ? "out" : "unknown";
}

static void put_sa(text *t, const struct xfrm_usersa_info *sa, const attributes *a)
{
	put(t, " spi=%08" PRIx32 " proto=%u dir=%s", (uint32_t)ntohl(sa->id.spi), sa->id.proto, direction(sa, a));
	put_address(t, "src", &sa->saddr, sa->family);
	put_address(t, "dst", &sa->id.daddr, sa->family);
	put(t, " reqid=%" PRIu32 " if_id=%" PRIu32 " mode=%s esn=%d", sa->reqid, number(a, ATTRIBUTE_IF_ID),
		sa->mode == XFRM_MODE_TUNNEL      ? "tunnel"
		: sa->mode == XFRM_MODE_TRANSPORT ? "transport"
										  : "other",
		(sa->flags & XFRM_STATE_ESN) != 0);
	put(t, " bytes=%" PRIu64 " packets=%" PRIu64 " add=%" PRIu64 " use=%" PRIu64, (uint64_t)sa->curlft.bytes,
		(uint64_t)sa->curlft.packets, (uint64_t)sa->curlft.add_time, (uint64_t)sa->curlft.use_time);
	put(t, " below_window=%" PRIu32 " replayed=%" PRIu32 " failed=%" PRIu32, sa->stats.replay_window, sa->stats.replay,
		sa->stats.integrity_failed);
	put_limit(t, "soft_s", sa->lft.soft_add_expires_seconds);
	put_limit(t, "hard_s", sa->lft.hard_add_expires_seconds);
	put_limit(t, "hard_bytes", sa->lft.hard_byte_limit);
	put_limit(t, "hard_packets", sa->lft.hard_packet_limit);
	put_sequence(t, a);
	put_algorithm(t, a, XFRMA_ALG_AEAD, "aead");
	put_algorithm(t, a, XFRMA_ALG_CRYPT, "enc");
	put_algorithm(t, a, a->len[XFRMA_ALG_AUTH_TRUNC] ? XFRMA_ALG_AUTH_TRUNC : XFRMA_ALG_AUTH, "auth");
	if (a->len[XFRMA_ENCAP]) put(t, " encap=udp");
	if (a->len[XFRMA_OFFLOAD_DEV]) put(t, " offload=1");
}

static void parse(attributes *a, const unsigned char *at, size_t left)
{
	memset(a, 0, sizeof(*a));
	while (left >= sizeof(struct nlattr)) {
		struct nlattr one;
		size_t kind, step;

		memcpy(&one, at, sizeof(one));
		kind = one.nla_type & NLA_TYPE_MASK;
		if (one.nla_len < NLA_HDRLEN || one.nla_len > left) return;
		if (kind < 64) {
			a->data[kind] = at + NLA_HDRLEN;
			a->len[kind] = one.nla_len - (size_t)NLA_HDRLEN;
		}
		step = NLA_ALIGN((size_t)one.nla_len);
		if (step > left) return;
		at += step;
		left -= step;
	}
}

bool gw_sa_text(const struct nlmsghdr *header, char *line, size_t room)
{
	const unsigned char *body = (const unsigned char *)header + NLMSG_HDRLEN;
	const size_t length = header->nlmsg_len - (size_t)NLMSG_HDRLEN;
	struct xfrm_usersa_info sa;
	attributes a;
	text t = {line, room};

	if (header->nlmsg_type == XFRM_MSG_NEWSA &&
		header->nlmsg_flags & NLM_F_MULTI) { /* in a dump; alone it is an event */
		if (length < sizeof(sa)) return false;
		memcpy(&sa, body, sizeof(sa));
		parse(&a, body + NLMSG_ALIGN(sizeof(sa)), length - NLMSG_ALIGN(sizeof(sa)));
		put(&t, "sa");
	} else if (header->nlmsg_type == XFRM_MSG_DELSA) {
		const size_t id = NLMSG_ALIGN(sizeof(struct xfrm_usersa_id));
		if (length < id) return false;
		parse(&a, body + id, length - id);
		if (a.len[XFRMA_SA] < sizeof(sa)) return false;
		memcpy(&sa, a.data[XFRMA_SA], sizeof(sa));
		put(&t, "gone");
	} else if (header->nlmsg_type == XFRM_MSG_EXPIRE) {
		struct xfrm_user_expire expire;
		if (length < sizeof(expire)) return false;
		memcpy(&expire, body, sizeof(expire));
		if (!expire.hard) return false;
		sa = expire.state;
		parse(&a, body + length, 0);
		if (length > NLMSG_ALIGN(sizeof(expire)))
			parse(&a, body + NLMSG_ALIGN(sizeof(expire)), length - NLMSG_ALIGN(sizeof(expire)));
		put(&t, "gone");
	} else {
		return false;
	}
	put_sa(&t, &sa, &a);
	memset(&a, 0, sizeof(a));
	return true;
}
