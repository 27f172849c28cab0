/* SPDX-License-Identifier: MIT
 * See xfrm.h. Layouts: linux/xfrm.h.
 */
#include "xfrm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/xfrm.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../core/mem.h"
#include "netlink.h"

#define MOST_WINDOW 4096u /* packets, the kernel's limit */

static const struct {
	const char *ours, *kernels;
} names[] = {{"gcm(aes)", "rfc4106(gcm(aes))"},
			 {"rfc7539(chacha20,poly1305)", "rfc7539esp(chacha20,poly1305)"},
			 {"ctr(aes)", "rfc3686(ctr(aes))"},
			 {"null", "ecb(cipher_null)"}};

static const char *kernel_name(const char *ours)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(names[i].ours, ours)) return names[i].kernels;
	return ours;
}

void xfrm_algorithm(int suite, char *to, size_t room)
{
	gw_suite_info s;

	gw_suite_at((size_t)suite, &s);
	if (*s.auth_alg)
		snprintf(to, room, "authenc(%s,%s)", s.auth_alg, kernel_name(s.enc_alg));
	else
		snprintf(to, room, "%s", kernel_name(s.enc_alg));
}

const char *xfrm_lacks(int rc, const gw_addr *outer)
{
	switch (rc) {
	case -EPROTONOSUPPORT:
		return outer->family == 6 ? "this kernel has no ESP: module esp6 is missing (OpenWrt: kmod-ipsec6)"
								  : "this kernel has no ESP: module esp4 is missing (OpenWrt: kmod-ipsec4)";
	case -ENOSYS:
	case -ENOENT: return "this kernel lacks the suite's algorithm (OpenWrt: kmod-crypto-gcm, -authenc, -cbc, -sha256)";
	case -EPERM: return "the kernel's IPsec needs CAP_NET_ADMIN";
	case -EAFNOSUPPORT: return "this kernel has no XFRM: module xfrm_user is missing (OpenWrt: kmod-ipsec)";
	default: return strerror(-rc);
	}
}

/* One request on a socket of its own: these are rare. */
static int once(netlink_request *r, void *answer, size_t room)
{
	const int fd = netlink_open(NETLINK_XFRM);

	if (fd < 0) return fd == -EPROTONOSUPPORT ? -EAFNOSUPPORT : fd;
	const int rc = netlink_ask(fd, r, answer, room);
	close(fd);
	return rc;
}

static uint16_t family_of(const gw_addr *a)
{
	return a->family == 6 ? AF_INET6 : AF_INET;
}

static void put_address(xfrm_address_t *to, const gw_addr *a)
{
	memset(to, 0, sizeof *to);
	memcpy(to, a->bytes, a->family == 6 ? 16 : 4);
}

/* ---- SAs ---- */

/* struct xfrm_algo, _auth and _aead: name, length of the key, for some that of the ICV, both in bits, key. */
static void put_algorithm(netlink_request *r, int type, const char *name, const uint8_t *key, size_t key_len,
						  const uint8_t *salt, size_t salt_len, uint32_t icv_bytes)
{
	struct {
		char name[64];
		uint32_t numbers[2];
		uint8_t key[160];
	} a;
	uint8_t *at = icv_bytes ? a.key : (uint8_t *)&a.numbers[1];

	memset(&a, 0, sizeof a);
	snprintf(a.name, sizeof a.name, "%s", name);
	a.numbers[0] = (uint32_t)(key_len + salt_len) * 8;
	if (icv_bytes) a.numbers[1] = icv_bytes * 8;
	if (key_len) memcpy(at, key, key_len);
	if (salt_len) memcpy(at + key_len, salt, salt_len);
	netlink_attribute(r, type, &a, (size_t)(at - (uint8_t *)&a) + key_len + salt_len);
	gw_wipe(&a, sizeof a);
}

static void put_window(netlink_request *r, const gw_sa_params *p)
{
	const uint32_t window = p->replay_window > MOST_WINDOW ? MOST_WINDOW : p->replay_window ? p->replay_window : 64;
	const uint32_t words = (window + 31) / 32;
	union {
		struct xfrm_replay_state_esn state;
		uint8_t bytes[sizeof(struct xfrm_replay_state_esn) + MOST_WINDOW / 8];
	} esn;

	memset(&esn, 0, sizeof esn);
	esn.state.bmp_len = words;
	esn.state.replay_window = window;
	netlink_attribute(r, XFRMA_REPLAY_ESN_VAL, &esn, sizeof esn.state + 4u * words);
}

static int add_sa(const gw_sa_params *p, bool udp_encap, bool probe)
{
	struct xfrm_usersa_info sa = {.family = family_of(&p->local),
								  .mode = p->mode == GW_MODE_TUNNEL ? XFRM_MODE_TUNNEL : XFRM_MODE_TRANSPORT,
								  .reqid = XFRM_REQID,
								  .flags =
									  (uint8_t)(XFRM_STATE_AF_UNSPEC | (p->flags & GW_SA_ESN ? XFRM_STATE_ESN : 0)),
								  .lft = {XFRM_INF, XFRM_INF, XFRM_INF, XFRM_INF, 0, 0, 0, 0}};
	const bool out = p->direction == GW_DIR_OUT;
	const gw_addr *from = out ? &p->local : &p->peer, *to = out ? &p->peer : &p->local;
	netlink_request r;
	gw_suite_info s;

	gw_suite_at((size_t)p->suite, &s);
	const uint32_t icv = p->icv_bytes ? p->icv_bytes : s.icv_bytes;
	const size_t key_len = probe ? 1 : s.enc_key_bytes;
	put_address(&sa.saddr, from);
	put_address(&sa.id.daddr, to);
	sa.id.spi = htonl(p->spi);
	sa.id.proto = IPPROTO_ESP;
	netlink_start(&r, XFRM_MSG_NEWSA, NLM_F_CREATE | NLM_F_EXCL, &sa, sizeof sa);
	if (*s.auth_alg) {
		put_algorithm(&r, XFRMA_ALG_AUTH_TRUNC, s.auth_alg, p->auth_key, s.auth_key_bytes, NULL, 0, icv);
		put_algorithm(&r, XFRMA_ALG_CRYPT, kernel_name(s.enc_alg), p->enc_key, key_len, p->salt, s.salt_bytes, 0);
	} else {
		put_algorithm(&r, XFRMA_ALG_AEAD, kernel_name(s.enc_alg), p->enc_key, key_len, p->salt,
					  probe ? 0 : s.salt_bytes, icv);
	}
	put_window(&r, p);
	if (udp_encap) {
		const struct xfrm_encap_tmpl encap = {.encap_type = 2, /* UDP_ENCAP_ESPINUDP, RFC 3948 */
											  .encap_sport = htons(out ? p->local.port : p->peer.port),
											  .encap_dport = htons(out ? p->peer.port : p->local.port)};
		netlink_attribute(&r, XFRMA_ENCAP, &encap, sizeof encap);
	}
	const int rc = once(&r, NULL, 0);
	gw_wipe(&r, sizeof r);
	return rc;
}

int xfrm_add_sa(const gw_sa_params *p, bool udp_encap)
{
	return add_sa(p, udp_encap, false);
}

int xfrm_probe(int suite, const gw_addr *local, const gw_addr *peer)
{
	static const uint8_t none[64];
	const gw_sa_params p = {.spi = 0x67776e64,
							.suite = suite,
							.direction = GW_DIR_OUT,
							.local = *local,
							.peer = *peer,
							.enc_key = none,
							.auth_key = none,
							.salt = none};
	const int rc = add_sa(&p, false, true);

	if (!rc) return xfrm_delete_sa(peer, p.spi); /* a cipher that takes any key */
	return rc == -EINVAL ? 0 : rc;
}

static void sa_request(netlink_request *r, int type, const gw_addr *dst, uint32_t spi)
{
	struct xfrm_usersa_id id = {.spi = htonl(spi), .family = family_of(dst), .proto = IPPROTO_ESP};

	put_address(&id.daddr, dst);
	netlink_start(r, type, 0, &id, sizeof id);
}

int xfrm_delete_sa(const gw_addr *dst, uint32_t spi)
{
	netlink_request r;

	sa_request(&r, XFRM_MSG_DELSA, dst, spi);
	return once(&r, NULL, 0);
}

int xfrm_read_sa(const gw_addr *dst, uint32_t spi, gw_sa_counters *out)
{
	union {
		struct xfrm_usersa_info sa;
		uint8_t bytes[2048];
	} answer;
	netlink_request r;

	sa_request(&r, XFRM_MSG_GETSA, dst, spi);
	int len = once(&r, &answer, sizeof answer);
	if (len < 0) return len;
	if ((size_t)len > sizeof answer) len = sizeof answer;
	out->packets = answer.sa.curlft.packets;
	out->bytes = answer.sa.curlft.bytes;
	out->drops[GW_STATE_SEQ_ERROR] = (uint64_t)answer.sa.stats.replay + answer.sa.stats.replay_window;
	out->drops[GW_STATE_PROTO_ERROR] = answer.sa.stats.integrity_failed;
	for (size_t at = NLA_ALIGN(sizeof answer.sa); at + NLA_HDRLEN <= (size_t)len;) {
		struct nlattr a;
		struct xfrm_replay_state_esn esn;
		memcpy(&a, answer.bytes + at, sizeof a);
		if (a.nla_len < NLA_HDRLEN || at + a.nla_len > (size_t)len) break;
		if (a.nla_type == XFRMA_REPLAY_ESN_VAL && a.nla_len >= NLA_HDRLEN + sizeof esn) {
			memcpy(&esn, answer.bytes + at + NLA_HDRLEN, sizeof esn);
			const bool sent = out->direction == GW_DIR_OUT;
			out->seq = (uint64_t)(sent ? esn.oseq_hi : esn.seq_hi) << 32 | (sent ? esn.oseq : esn.seq);
		}
		at += NLA_ALIGN(a.nla_len);
	}
	gw_wipe(&answer, sizeof answer); /* the kernel hands out keys with it */
	return 0;
}

/* ---- policies ---- */

static void put_selector(struct xfrm_selector *s, const gw_addr *src, const gw_addr *dst)
{
	put_address(&s->saddr, src);
	put_address(&s->daddr, dst);
	s->prefixlen_s = src->prefix;
	s->prefixlen_d = dst->prefix;
	s->family = family_of(src);
}

int xfrm_set_policy(int direction, const gw_addr *src, const gw_addr *dst, const gw_addr *outer_src,
					const gw_addr *outer_dst, uint32_t spi, bool replace)
{
	struct xfrm_userpolicy_info policy = {.lft = {XFRM_INF, XFRM_INF, XFRM_INF, XFRM_INF, 0, 0, 0, 0},
										  .priority = 1000,
										  .dir = (uint8_t)direction,
										  .action = XFRM_POLICY_ALLOW,
										  .share = XFRM_SHARE_ANY};
	struct xfrm_user_tmpl t = {.family = family_of(outer_src),
							   .reqid = XFRM_REQID,
							   .mode = XFRM_MODE_TUNNEL,
							   .aalgos = ~0u,
							   .ealgos = ~0u,
							   .calgos = ~0u};
	netlink_request r;

	put_selector(&policy.sel, src, dst);
	put_address(&t.saddr, outer_src);
	put_address(&t.id.daddr, outer_dst);
	t.id.spi = htonl(spi);
	t.id.proto = IPPROTO_ESP;
	netlink_start(&r, replace ? XFRM_MSG_UPDPOLICY : XFRM_MSG_NEWPOLICY, replace ? 0 : NLM_F_CREATE | NLM_F_EXCL,
				  &policy, sizeof policy);
	netlink_attribute(&r, XFRMA_TMPL, &t, sizeof t);
	return once(&r, NULL, 0);
}

int xfrm_delete_policy(int direction, const gw_addr *src, const gw_addr *dst)
{
	struct xfrm_userpolicy_id id = {.dir = (uint8_t)direction};
	netlink_request r;

	put_selector(&id.sel, src, dst);
	netlink_start(&r, XFRM_MSG_DELPOLICY, 0, &id, sizeof id);
	return once(&r, NULL, 0);
}
