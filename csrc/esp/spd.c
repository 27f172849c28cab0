/* SPDX-License-Identifier: MIT
 * Outbound policy. The longest destination prefix wins, then the order of entry.
 *
 * Entries hang in a hash by (IP version, prefix length, masked destination). A look-up asks once per prefix length
 * that occurs, longest first, so ten thousand /32 policies cost what one does. Policies without a destination stand
 * in the same hash as "version 0". A second hash finds an SA's policies when it goes.
 */
#include <stdlib.h>

#include "sa.h"
#include "selector.h"

#define LENGTHS 129 /* 0..128 */

typedef struct policy {
	struct policy *next; /* in its bucket, in order of entry */
	gw_selector selector;
	gw_sa *sa;           /* NULL: packets that match are dropped as OUT_NO_STATES */
	struct policy *same; /* in its bucket of by_sa */
} policy;

struct gw_spd {
	policy **buckets, **by_sa; /* each mask + 1 */
	uint32_t mask, count;
	uint32_t n4[33], n6[LENGTHS], n_any; /* policies of each prefix length */
};

static uint32_t hash_prefix(uint8_t family, uint32_t bits, const uint8_t *address)
{
	const uint32_t whole = bits / 8;
	uint32_t h = 2166136261u ^ family ^ bits << 8;

	for (uint32_t i = 0; i < whole; i++) h = (h ^ address[i]) * 16777619u;
	if (bits % 8) h = (h ^ (uint32_t)(address[whole] >> (8 - bits % 8))) * 16777619u;
	return h ^ h >> 15;
}

static uint32_t hash_selector(const gw_selector *s)
{
	return hash_prefix(s->dst.family, s->dst.family ? s->dst.prefix : 0, s->dst.bytes);
}

static uint32_t *occurrence(gw_spd *spd, const gw_selector *s)
{
	return s->dst.family == 4 ? &spd->n4[s->dst.prefix] : s->dst.family == 6 ? &spd->n6[s->dst.prefix] : &spd->n_any;
}

gw_spd *gw_spd_new(void)
{
	gw_spd *spd = calloc(1, sizeof(*spd));

	if (!spd) return NULL;
	spd->mask = 63;
	spd->buckets = calloc(spd->mask + 1, sizeof(policy *));
	spd->by_sa = calloc(spd->mask + 1, sizeof(policy *));
	if (spd->buckets && spd->by_sa) return spd;
	gw_spd_free(spd);
	return NULL;
}

void gw_spd_free(gw_spd *spd)
{
	if (!spd) return;
	for (uint32_t i = 0; spd->buckets && i <= spd->mask; i++)
		for (policy *p = spd->buckets[i], *next; p; p = next) {
			next = p->next;
			free(p);
		}
	free(spd->buckets);
	free(spd->by_sa);
	free(spd);
}

static void append(policy **buckets, uint32_t mask, policy *p)
{
	policy **end = &buckets[hash_selector(&p->selector) & mask];

	while (*end) end = &(*end)->next;
	p->next = NULL;
	*end = p;
}

static policy **bucket_of(policy **by_sa, uint32_t mask, const gw_sa *sa)
{
	return &by_sa[(uint32_t)((uintptr_t)sa >> 6) * 2654435769u >> 7 & mask];
}

static void put_sa(policy **by_sa, uint32_t mask, policy *p, gw_sa *sa)
{
	policy **bucket = bucket_of(by_sa, mask, sa);

	p->sa = sa;
	if (gw_sa_is_elsewhere(sa)) return; /* never forgotten, and there may be thousands of the same */
	p->same = *bucket;
	*bucket = p;
}

static void take_sa(gw_spd *spd, policy *p)
{
	policy **at = bucket_of(spd->by_sa, spd->mask, p->sa);

	if (!p->sa || gw_sa_is_elsewhere(p->sa)) return; /* it hangs nowhere */
	while (*at != p) at = &(*at)->same;
	*at = p->same;
	p->sa = NULL;
}

/* Buckets are walked in order, so the order of entry survives within each. Failing to grow only costs time. */
static void grow(gw_spd *spd)
{
	const uint32_t mask = spd->mask * 2 + 1;
	policy **buckets = calloc((size_t)mask + 1, sizeof(policy *));
	policy **by_sa = calloc((size_t)mask + 1, sizeof(policy *));

	if (!buckets || !by_sa) {
		free(buckets);
		free(by_sa);
		return;
	}
	for (uint32_t i = 0; i <= spd->mask; i++)
		for (policy *p = spd->buckets[i], *next; p; p = next) {
			next = p->next;
			append(buckets, mask, p);
			if (p->sa) put_sa(by_sa, mask, p, p->sa);
		}
	free(spd->buckets);
	free(spd->by_sa);
	spd->buckets = buckets;
	spd->by_sa = by_sa;
	spd->mask = mask;
}

static policy **find(gw_spd *spd, const gw_selector *s)
{
	policy **p = &spd->buckets[hash_selector(s) & spd->mask];

	while (*p && !gw_selector_equal(&(*p)->selector, s)) p = &(*p)->next;
	return p;
}

int gw_spd_set(gw_spd *spd, const gw_selector *selector, gw_sa *sa)
{
	policy *p;

	if (gw_selector_fault(selector)) return -EINVAL;
	p = *find(spd, selector);
	if (p) {
		take_sa(spd, p);
		put_sa(spd->by_sa, spd->mask, p, sa);
		return 0;
	}
	p = calloc(1, sizeof(*p));
	if (!p) return -ENOMEM;
	p->selector = *selector;
	if (spd->count > spd->mask) grow(spd);
	put_sa(spd->by_sa, spd->mask, p, sa);
	append(spd->buckets, spd->mask, p);
	spd->count++;
	++*occurrence(spd, selector);
	return 0;
}

int gw_spd_del(gw_spd *spd, const gw_selector *selector)
{
	policy **at, *p;

	if (gw_selector_fault(selector)) return -EINVAL;
	at = find(spd, selector);
	p = *at;
	if (!p) return -ENOENT;
	*at = p->next;
	take_sa(spd, p);
	--*occurrence(spd, &p->selector);
	spd->count--;
	free(p);
	return 0;
}

gw_sa *gw_spd_get(gw_spd *spd, const gw_selector *selector)
{
	const policy *p = gw_selector_fault(selector) ? NULL : *find(spd, selector);

	return p ? p->sa : NULL;
}

void gw_spd_forget(gw_spd *spd, const gw_sa *sa)
{
	for (policy **at = bucket_of(spd->by_sa, spd->mask, sa), *p; (p = *at);) {
		if (p->sa != sa) {
			at = &p->same;
			continue;
		}
		*at = p->same;
		p->sa = NULL;
	}
}

static const policy *match(const gw_spd *spd, uint8_t family, uint32_t bits, const gw_flow *flow)
{
	const policy *p = spd->buckets[hash_prefix(family, bits, flow->dst) & spd->mask];

	for (; p; p = p->next)
		if (p->selector.dst.family == family && (!family || p->selector.dst.prefix == bits) &&
			gw_selector_match(&p->selector, flow))
			return p;
	return NULL;
}

gw_sa *gw_spd_lookup(gw_spd *spd, const uint8_t *ip_packet, size_t len, int *reason)
{
	const policy *found = NULL;
	const uint32_t *lengths;
	gw_flow flow;
	int bits;

	if (!gw_flow_of_packet(ip_packet, len, &flow)) {
		*reason = GW_OUT_INVALID;
		return NULL;
	}
	lengths = flow.family == 4 ? spd->n4 : spd->n6;
	for (bits = flow.family == 4 ? 32 : 128; bits >= 0 && !found; bits--)
		if (lengths[bits]) found = match(spd, flow.family, (uint32_t)bits, &flow);
	if (!found && spd->n_any) found = match(spd, 0, 0, &flow);
	if (!found)
		*reason = GW_OUT_POL_BLOCK;
	else if (!found->sa)
		*reason = GW_OUT_NO_STATES;
	else
		return found->sa;
	return NULL;
}
