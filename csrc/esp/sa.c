/* SPDX-License-Identifier: MIT
 * Security associations: what may be one, its keys, its counters, its end.
 */
#include "sa.h"

#include <stdarg.h>
#include <stdio.h>

#include "selector.h"

#define SPI_RESERVED         255u /* RFC 4303 2.1 */
#define PREFETCHED_KEY_LINES 12   /* AES-256 round keys and the first powers of H */
#define TFC_MAX              65535u

__attribute__((format(printf, 2, 3))) static int refuse(gw_err *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return -EINVAL;
}

static int check_params(const gw_sa_params *p, const gw_suite *s, gw_err *err)
{
	const char *fault = gw_selector_fault(&p->selector);

	if (s->info.bench_only && !(p->flags & GW_SA_LAB))
		return refuse(err, "suite %s protects nothing: it is for measurements in the laboratory only", s->info.name);
	if (!s->info.auth_alg[0] && s->iv_style != GW_IV_AEAD && !s->info.bench_only)
		return refuse(err, "suite %s has no integrity: ESP without it is refused", s->info.name);
	if (p->spi == 0 || (p->spi <= SPI_RESERVED && !(p->flags & GW_SA_LAB)))
		return refuse(err, "SPI %u is reserved: use 256 or more", (unsigned)p->spi);
	if (p->direction != GW_DIR_OUT && p->direction != GW_DIR_IN)
		return refuse(err, "direction %d is neither out (0) nor in (1)", p->direction);
	if (p->mode != GW_MODE_TUNNEL && p->mode != GW_MODE_TRANSPORT)
		return refuse(err, "mode %d is neither tunnel (0) nor transport (1)", p->mode);
	if (gw_suite_icv(s, p->icv_bytes) < 0)
		return refuse(err, "suite %s has no ICV of %u bytes", s->info.name, (unsigned)p->icv_bytes);
	if (p->replay_window && (p->replay_window < GW_REPLAY_MIN || p->replay_window > GW_REPLAY_MAX))
		return refuse(err, "replay window of %u packets: between %u and %u are possible", (unsigned)p->replay_window,
					  GW_REPLAY_MIN, GW_REPLAY_MAX);
	if (!(p->flags & GW_SA_ESN) && p->seq > UINT32_MAX)
		return refuse(err, "sequence number %llu needs ESN", (unsigned long long)p->seq);
	if (p->tfc_pad_to > TFC_MAX) return refuse(err, "TFC padding to %u bytes: 65535 at most", (unsigned)p->tfc_pad_to);
	if (p->tfc_pad_to && p->mode == GW_MODE_TRANSPORT)
		return refuse(err, "TFC padding needs tunnel mode: a transport payload does not tell its own length");
	if ((p->flags & GW_SA_COPY_DF) && (p->flags & GW_SA_SET_DF))
		return refuse(err, "DF is either copied or set, not both");
	if (p->local.family && p->peer.family && p->local.family != p->peer.family)
		return refuse(err, "local and peer address are of different IP versions");
	if (s->info.enc_key_bytes && !p->enc_key) return refuse(err, "suite %s needs an encryption key", s->info.name);
	if (s->info.auth_key_bytes && !p->auth_key) return refuse(err, "suite %s needs an integrity key", s->info.name);
	if (s->info.salt_bytes && !p->salt)
		return refuse(err, "suite %s needs a salt of %u bytes after its key", s->info.name,
					  (unsigned)s->info.salt_bytes);
	return fault ? refuse(err, "%s", fault) : 0;
}

static void copy_params(gw_sa *sa, const gw_sa_params *p, const gw_suite *s)
{
	sa->spi = p->spi;
	sa->flags = p->flags;
	sa->direction = (uint8_t)p->direction;
	sa->mode = (uint8_t)p->mode;
	sa->head_bytes = (uint8_t)(8 + s->info.iv_bytes);
	sa->icv_bytes = (uint8_t)gw_suite_icv(s, p->icv_bytes);
	sa->block_mask = (uint8_t)(s->info.block_bytes - 1);
	sa->iv_style = (uint8_t)s->iv_style;
	sa->seq = p->seq;
	sa->tfc_pad_to = p->tfc_pad_to;
	sa->cold->soft_packets = p->soft_packets;
	sa->cold->hard_packets = p->hard_packets;
	sa->cold->soft_bytes = p->soft_bytes;
	sa->cold->hard_bytes = p->hard_bytes;
	sa->cold->soft_ns = p->soft_ns;
	sa->cold->hard_ns = p->hard_ns;
	sa->limited = p->soft_packets || p->hard_packets || p->soft_bytes || p->hard_bytes || p->soft_ns || p->hard_ns;
	sa->cold->selector = p->selector;
	sa->check_selector = !gw_selector_is_any(&p->selector);
	sa->cold->local = p->local;
	sa->cold->peer = p->peer;
	if (s->info.salt_bytes) memcpy(sa->salt, p->salt, sizeof(sa->salt));
}

static int set_keys(gw_sa *sa, const gw_sa_params *p, const gw_suite *s, gw_err *err)
{
	int rc = gw_suite_transform(s, p->impl, &sa->transform, err);

	if (rc != 0) return rc;
	gw_transform_name(&sa->transform, sa->cold->implementation, sizeof(sa->cold->implementation));
	sa->cold->key = gw_transform_key_new(&sa->transform, p->enc_key, s->info.enc_key_bytes, p->auth_key,
										 s->info.auth_key_bytes, err);
	if (!sa->cold->key) return -ENOMEM;
	sa->cipher_key = gw_transform_cipher_key(sa->cold->key);
	sa->mac_key = gw_transform_mac_key(sa->cold->key);
	if (sa->cipher_key) {
		const size_t lines = (sa->transform.cipher->key_ctx_bytes + 63) / 64;
		sa->key_lines = (uint16_t)(lines < PREFETCHED_KEY_LINES ? lines : PREFETCHED_KEY_LINES);
	}
	return 0;
}

gw_sa *gw_sa_new(const gw_sa_params *params, uint64_t now_ns, gw_err *err)
{
	const gw_suite *s = gw_suite_row(params->suite);
	gw_err ignored;
	gw_sa *sa;

	if (!err) err = &ignored;
	err->text[0] = 0;
	if (!s) {
		refuse(err, "no suite has the number %d", params->suite);
		return NULL;
	}
	if (check_params(params, s, err) != 0) return NULL;
	sa = gw_alloc(sizeof(*sa));
	if (sa) {
		sa->cold = gw_alloc(sizeof(*sa->cold));
		sa->own = gw_alloc(sizeof(*sa->own));
	}
	if (!sa || !sa->cold || !sa->own) {
		refuse(err, "out of memory for an SA");
		gw_sa_free(sa);
		return NULL;
	}
	copy_params(sa, params, s);
	sa->cold->created_ns = now_ns;
	sa->slot = sa->own;
	if (set_keys(sa, params, s, err) != 0) goto fail;
	/* A sender that starts again with the same keys must not repeat an IV: the counter starts at a random place. */
	if (gw_random(&sa->iv_mask, sizeof(sa->iv_mask)) != 0) {
		refuse(err, "the kernel gives no random bytes");
		goto fail;
	}
	if (params->direction == GW_DIR_IN &&
		gw_replay_init(&sa->replay, params->replay_window ? params->replay_window : GW_REPLAY_DEFAULT, params->seq) !=
			0) {
		refuse(err, "out of memory for a replay window");
		goto fail;
	}
	sa->own->c.spi = sa->spi;
	sa->own->c.direction = sa->direction;
	sa->own->c.created_ns = now_ns;
	gw_sa_publish(sa, now_ns);
	return sa;
fail:
	gw_sa_free(sa);
	return NULL;
}

void gw_sa_free(gw_sa *sa)
{
	if (!sa) return;
	if (sa->cold) gw_transform_key_free(sa->cold->key);
	gw_replay_free(&sa->replay);
	gw_free_wipe(sa->cold, sizeof(*sa->cold));
	gw_free_wipe(sa->own, sizeof(*sa->own));
	gw_free_wipe(sa, sizeof(*sa));
}

const char *gw_sa_implementation(const gw_sa *sa)
{
	return sa->cold->implementation;
}
const gw_addr *gw_sa_peer(const gw_sa *sa)
{
	return &sa->cold->peer;
}
const gw_addr *gw_sa_local(const gw_sa *sa)
{
	return &sa->cold->local;
}
bool gw_sa_is_transport(const gw_sa *sa)
{
	return sa->mode == GW_MODE_TRANSPORT;
}
uint32_t gw_sa_peer_id(const gw_sa *sa)
{
	return sa->peer_id;
}
void gw_sa_set_peer_id(gw_sa *sa, uint32_t id)
{
	sa->peer_id = id;
}
uint32_t gw_sa_spi(const gw_sa *sa)
{
	return sa->spi;
}
uint64_t gw_sa_newest(const gw_sa *sa)
{
	return sa->replay.top;
}
uint32_t gw_sa_flags(const gw_sa *sa)
{
	return sa->flags;
}

size_t gw_seal_len(const gw_sa *sa, size_t inner_len)
{
	const size_t plain = inner_len < sa->tfc_pad_to ? sa->tfc_pad_to : inner_len;

	return gw_esp_len(sa->head_bytes - 8u, sa->block_mask + 1u, sa->icv_bytes, plain);
}

size_t gw_sa_overhead_max(const gw_sa *sa)
{
	return gw_esp_len(sa->head_bytes - 8u, sa->block_mask + 1u, sa->icv_bytes, sa->tfc_pad_to) + sa->block_mask;
}

size_t gw_sa_inner_max(const gw_sa *sa, size_t esp_bytes)
{
	const size_t fixed = (size_t)sa->head_bytes + sa->icv_bytes;
	const size_t room = esp_bytes > fixed ? (esp_bytes - fixed) & ~(size_t)sa->block_mask : 0;

	if (room <= 2) return 0;
	return room - 2 + (sa->mode != GW_MODE_TRANSPORT ? 0 : sa->cold->local.family == 6 ? 40 : 20);
}

/* ---- counters ---- */

void gw_sa_publish(gw_sa *sa, uint64_t now_ns)
{
	gw_counter_slot *slot = sa->slot;

	gw_seq_begin(&slot->seq);
	slot->c.packets = sa->packets;
	slot->c.bytes = sa->bytes;
	slot->c.wire_bytes = sa->wire_bytes;
	slot->c.seq = sa->direction == GW_DIR_IN ? sa->replay.top : sa->seq;
	slot->c.last_ns = now_ns;
	slot->c.state = sa->state;
	gw_seq_end(&slot->seq);
}

gw_counter_slot *gw_sa_set_counters(gw_sa *sa, gw_counter_slot *slot)
{
	gw_counter_slot *from = sa->slot;

	if (!slot) slot = sa->own;
	if (slot != from) {
		gw_seq_begin(&slot->seq);
		slot->c = from->c; /* our own writing: nobody else moves it */
		gw_seq_end(&slot->seq);
		sa->slot = slot;
	}
	return from == sa->own ? NULL : from;
}

void gw_sa_drop(gw_sa *sa, int reason, uint64_t n)
{
	gw_counter_slot *slot = sa->slot;

	if (reason < 0 || reason >= GW_DROP_REASONS) return;
	gw_seq_begin(&slot->seq);
	slot->c.drops[reason] += n;
	slot->c.state = sa->state;
	gw_seq_end(&slot->seq);
}

void gw_sa_read(const gw_sa *sa, gw_sa_counters *out)
{
	gw_seq_read(&sa->slot->seq, out, &sa->slot->c, sizeof(*out));
}
