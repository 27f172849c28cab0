/* SPDX-License-Identifier: MIT
 * SAs by SPI: open addressing with linear probing, at most half full, four entries a cache line. Removal shifts
 * back, so that there are no tombstones and a probe ends at the first hole.
 */
#include "sa.h"

typedef struct entry {
	uint32_t spi; /* 0 = hole: SPI 0 is no SPI */
	gw_sa *sa;
} entry;

typedef struct table {
	entry *entries;
	uint32_t mask, shift;
} table;

struct gw_sadb {
	table by_direction[2];
	uint32_t count, max;
};

/* SPIs are often consecutive, or differ in high bits only: multiply, keep the top bits. */
static uint32_t home(const table *t, uint32_t spi)
{
	return (spi * 2654435769u) >> t->shift;
}

static gw_sa *ours(gw_sa *sa)
{
	return gw_sa_is_elsewhere(sa) ? NULL : sa;
}

static int table_init(table *t, uint32_t max)
{
	uint32_t bits = 3;

	while (bits < 31 && (1u << bits) < 2 * (uint64_t)max) bits++;
	t->shift = 32 - bits;
	t->mask = (1u << bits) - 1;
	t->entries = gw_alloc(((size_t)t->mask + 1) * sizeof(entry));
	return t->entries ? 0 : -ENOMEM;
}

static entry *find(const table *t, uint32_t spi)
{
	for (uint32_t i = home(t, spi);; i = (i + 1) & t->mask) {
		entry *e = &t->entries[i];
		if (e->spi == spi) return e->sa ? e : NULL; /* SPI 0 is asked for, too */
		if (e->spi == 0) return NULL;
	}
}

gw_sadb *gw_sadb_new(uint32_t max_sas)
{
	gw_sadb *db = gw_alloc(sizeof(*db));

	if (!db) return NULL;
	db->max = max_sas;
	if (table_init(&db->by_direction[0], max_sas) != 0 || table_init(&db->by_direction[1], max_sas) != 0) {
		gw_sadb_free(db);
		return NULL;
	}
	return db;
}

void gw_sadb_free(gw_sadb *db)
{
	if (!db) return;
	for (int d = 0; d < 2; d++) {
		table *t = &db->by_direction[d];
		if (!t->entries) continue;
		for (uint32_t i = 0; i <= t->mask; i++) gw_sa_free(ours(t->entries[i].sa));
		gw_free_wipe(t->entries, ((size_t)t->mask + 1) * sizeof(entry));
	}
	gw_free_wipe(db, sizeof(*db));
}

static int add(gw_sadb *db, uint32_t spi, int direction, gw_sa *sa)
{
	table *t = &db->by_direction[direction == GW_DIR_IN];
	uint32_t i;

	if (find(t, spi)) return -EEXIST;
	if (db->count == db->max) return -ENOSPC;
	for (i = home(t, spi); t->entries[i].spi; i = (i + 1) & t->mask) continue;
	t->entries[i] = (entry){spi, sa};
	db->count++;
	return 0;
}

int gw_sadb_add(gw_sadb *db, gw_sa *sa)
{
	return add(db, sa->spi, sa->direction, sa);
}
int gw_sadb_note(gw_sadb *db, uint32_t spi, int direction, uint32_t loop)
{
	return add(db, spi, direction, gw_sa_elsewhere(loop));
}

gw_sa *gw_sadb_remove(gw_sadb *db, uint32_t spi, int direction)
{
	table *t = &db->by_direction[direction == GW_DIR_IN];
	entry *e = find(t, spi);
	gw_sa *sa;
	uint32_t hole;

	if (!e) return NULL;
	sa = e->sa;
	hole = (uint32_t)(e - t->entries);
	for (uint32_t i = (hole + 1) & t->mask; t->entries[i].spi; i = (i + 1) & t->mask) {
		/* may it move into the hole? Only if its home is not after the hole. */
		const uint32_t from_home = (i - home(t, t->entries[i].spi)) & t->mask;
		if (from_home < ((i - hole) & t->mask)) continue;
		t->entries[hole] = t->entries[i];
		hole = i;
	}
	t->entries[hole] = (entry){0, NULL};
	db->count--;
	return sa;
}

static gw_sa *lookup(const table *t, uint32_t spi)
{
	const entry *e = find(t, spi);

	return e ? ours(e->sa) : NULL;
}

bool gw_sadb_owner(const gw_sadb *db, uint32_t spi, uint32_t *loop)
{
	const entry *e = find(&db->by_direction[GW_DIR_IN], spi);

	if (!e || !gw_sa_is_elsewhere(e->sa)) return false;
	*loop = gw_sa_owner(e->sa);
	return true;
}

gw_sa *gw_sadb_in(const gw_sadb *db, uint32_t spi)
{
	return lookup(&db->by_direction[GW_DIR_IN], spi);
}
gw_sa *gw_sadb_out(const gw_sadb *db, uint32_t spi)
{
	return lookup(&db->by_direction[GW_DIR_OUT], spi);
}

void gw_sadb_lookup(const gw_sadb *db, gw_pkt *pkts, size_t n)
{
	const table *t = &db->by_direction[GW_DIR_IN];
	gw_sa *last = NULL;

	for (size_t i = 0; i < n; i++) {
		if (pkts[i].out_len < 8) continue;
		__builtin_prefetch(&t->entries[home(t, gw_load_be32(pkts[i].out))]);
	}
	for (size_t i = 0; i < n; i++) {
		gw_pkt *p = &pkts[i];

		p->sa = NULL;
		p->status = GW_IN_HDR_ERROR;
		if (p->out_len < 8) continue;
		p->status = GW_IN_NO_STATES;
		p->sa = lookup(t, gw_load_be32(p->out));
		if (!p->sa) continue;
		p->status = GW_OK;
		if (p->sa != last) gw_sa_prefetch(p->sa);
		last = p->sa;
	}
}

uint64_t gw_sa_age(gw_sa *sa, uint64_t now_ns)
{
	return gw_lifetime_age(sa, now_ns);
}

uint64_t gw_sadb_age(gw_sadb *db, uint64_t now_ns)
{
	uint64_t next = UINT64_MAX;

	for (int d = 0; d < 2; d++) {
		const table *t = &db->by_direction[d];
		for (uint32_t i = 0; i <= t->mask; i++) {
			gw_sa *sa = ours(t->entries[i].sa);
			const uint64_t at = sa ? gw_lifetime_age(sa, now_ns) : UINT64_MAX;
			if (at < next) next = at;
		}
	}
	return next;
}
