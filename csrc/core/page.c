/* SPDX-License-Identifier: MIT
 * A counter page in another process: mapped read-only, checked before anything is believed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "counters.h"

struct gw_page {
	const gw_counter_page *page;
	size_t bytes;
	uint32_t max_slots; /* as it was when it was checked: the memory is another process's */
};

gw_page *gw_page_open(int fd, gw_err *err)
{
	struct stat file;
	gw_page *p = calloc(1, sizeof(*p));
	const char *wrong = NULL;
	void *map = MAP_FAILED;

	if (!p)
		wrong = "no memory";
	else if (fstat(fd, &file) != 0 || file.st_size < (off_t)sizeof(gw_counter_page))
		wrong = "this is no counter page";
	else if ((map = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED)
		wrong = strerror(errno);
	if (!wrong) {
		const gw_counter_page *page = map;

		p->page = page;
		p->bytes = (size_t)file.st_size;
		p->max_slots = page->max_slots;
		if (page->magic != GW_COUNTERS_MAGIC)
			wrong = "this is no counter page";
		else if (page->version != GW_COUNTERS_VERSION || page->slot_bytes != sizeof(gw_counter_slot))
			wrong = "the counter page is another version's";
		else if (page->bytes != p->bytes || (p->bytes - sizeof(*page)) / sizeof(gw_counter_slot) < (size_t)p->max_slots)
			wrong = "the counter page is cut short";
	}
	if (!wrong) return p;
	if (err) snprintf(err->text, sizeof err->text, "%s", wrong);
	if (map != MAP_FAILED) munmap(map, (size_t)file.st_size);
	free(p);
	return NULL;
}

uint32_t gw_page_max_sas(const gw_page *p)
{
	return p->max_slots;
}

int gw_page_loop_read(const gw_page *p, gw_loop_counters *out)
{
	return gw_seq_read(&p->page->loop_seq, out, &p->page->loop, sizeof(*out)) ? 0 : -EAGAIN;
}

size_t gw_page_sa_read(const gw_page *p, gw_sa_counters *out, size_t max)
{
	size_t n = 0;

	for (uint32_t i = 0; i < p->max_slots && n < max; i++) {
		const gw_counter_slot *s = &p->page->slots[i];

		if (__atomic_load_n(&s->used, __ATOMIC_ACQUIRE) && gw_seq_read(&s->seq, &out[n], &s->c, sizeof(*out))) n++;
	}
	return n;
}

void gw_page_close(gw_page *p)
{
	if (!p) return;
	munmap((void *)(uintptr_t)p->page, p->bytes);
	free(p);
}
