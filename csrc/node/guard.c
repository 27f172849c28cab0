/* SPDX-License-Identifier: MIT
 * See guard.h.
 */
#include "guard.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netif.h"

static bool covers(const gw_addr *prefix, const gw_addr *address)
{
	if (prefix->family != address->family) return false;
	for (unsigned bit = 0; bit < prefix->prefix; bit++)
		if ((prefix->bytes[bit / 8] ^ address->bytes[bit / 8]) & (0x80u >> bit % 8)) return false;
	return true;
}

static bool test_range(const gw_addr *a)
{
	if (a->family == 4) return a->bytes[0] == 198 && (a->bytes[1] & 0xfe) == 18 && a->prefix >= 15;
	return (a->bytes[0] & 0xfe) == 0xfc && a->prefix >= 48;
}

/* Is an end of our ssh connection inside? "client port server port", each maybe with a zone or mapped IPv4. */
static bool covers_ssh(const gw_addr *prefix)
{
	const char *at = getenv("SSH_CONNECTION");
	char one[64];
	gw_addr end;

	for (int word = 0; at && word < 4; word++) {
		const size_t n = strcspn(at, " ");
		const char *mapped = strncmp(at, "::ffff:", 7) ? at : at + 7;
		const size_t len = n - (size_t)(mapped - at);
		snprintf(one, sizeof one, "%.*s", (int)(len < sizeof one ? len : sizeof one - 1),
				 memchr(mapped, '.', len) ? mapped : at);
		one[strcspn(one, "% ")] = 0;
		if (word % 2 == 0 && netif_parse(one, &end) && covers(prefix, &end)) return true;
		at += n + (at[n] == ' ');
	}
	return false;
}

static int check(const node *n, const char *text, bool ssh, gw_addr *out, node_failure *f)
{
	if (!netif_parse(text, out)) return node_fail(f, "bad-request", "not an address or prefix: '%.64s'", text);
	if (!n->leased) return 0;
	if (!test_range(out)) {
		snprintf(f->hint, sizeof f->hint,
				 "use addresses of 198.18.0.0/15 and of fc00::/7 with prefixes of /48 and more");
		return node_fail(f, "refused", "%.64s is not for tests: this may be somebody's only router", text);
	}
	if (!ssh || !covers_ssh(out)) return 0;
	snprintf(f->hint, sizeof f->hint, "choose another test prefix");
	return node_fail(f, "refused", "%.64s would cut off ssh, which is how this router is reached", text);
}

int guard_prefix(const node *n, const char *text, gw_addr *out, node_failure *f)
{
	return check(n, text, true, out, f);
}

int guard_rules(const node *n, const argument_texts *texts, node_failure *f)
{
	const char *text = texts->first;
	gw_addr address;

	for (size_t i = 0; i < texts->count; i++, text += strlen(text) + 1)
		if (check(n, text, false, &address, f)) return -1;
	return 0;
}

int guard_prefixes(const node *n, const argument_texts *texts, bool *any_v6, node_failure *f)
{
	const char *text = texts->first;
	gw_addr address;

	for (size_t i = 0; i < texts->count; i++, text += strlen(text) + 1) {
		if (guard_prefix(n, text, &address, f)) return -1;
		*any_v6 |= address.family == 6;
	}
	return 0;
}

bool guard_interface(const char *name)
{
	const size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i])) return false;
	return n && n < 16 && name[0] != '.';
}
