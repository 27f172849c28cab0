/* SPDX-License-Identifier: MIT
 * The kernel's crypto API from user space: every driver in /proc/crypto that does one of our algorithms becomes a row
 * under the kernel's own name, when a socket of AF_ALG can be bound to it. See af_alg_run.c for what a packet costs.
 */
#include "af_alg.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

gw_alg_row gw_alg_rows[GW_ALG_ROWS];
static size_t rows_used;

/* What is known of an algorithm. The kernel's name is ours. */
static const struct {
	const char *alg;
	int kind;
	uint32_t tag_bytes;
} known[] = {
	{"ecb(aes)", GW_KIND_CIPHER, 0},   {"cbc(aes)", GW_KIND_CIPHER, 0},
	{"ctr(aes)", GW_KIND_CIPHER, 0},   {"xts(aes)", GW_KIND_CIPHER, 0},
	{"gcm(aes)", GW_KIND_AEAD, 16},    {"rfc7539(chacha20,poly1305)", GW_KIND_AEAD, 16},
	{"sha1", GW_KIND_HASH, 20},        {"sha256", GW_KIND_HASH, 32},
	{"sha512", GW_KIND_HASH, 64},      {"hmac(sha1)", GW_KIND_MAC, 20},
	{"hmac(sha256)", GW_KIND_MAC, 32}, {"hmac(sha512)", GW_KIND_MAC, 64},
};
#define KNOWN (sizeof known / sizeof known[0])

static const char *type_of(int kind)
{
	return kind == GW_KIND_CIPHER ? "skcipher" : kind == GW_KIND_AEAD ? "aead" : "hash";
}

/* A socket that stands for (driver, key); -errno. */
static int bind_driver(const char *type, const char *name)
{
	gw_alg_address address = {.family = AF_ALG};
	const int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0) return -errno;
	snprintf((char *)address.type, sizeof address.type, "%s", type);
	snprintf((char *)address.name, sizeof address.name, "%s", name);
	if (bind(fd, (const struct sockaddr *)(const void *)&address, sizeof address) == 0) return fd;
	const int error = errno;
	close(fd);
	return -error;
}

int gw_alg_bind(const gw_alg_row *row)
{
	return bind_driver(type_of(row->impl.kind), row->name);
}

/* ---- /proc/crypto ---- */

typedef struct entry {
	char name[64], driver[64];
	int priority;
	bool internal; /* not for users: part of another driver */
} entry;

/* Tables are the kernel's generic code and its assembly of before NEON and AES-NI. */
static bool constant_time(const char *driver)
{
	static const char *const by_tables[] = {"aes-generic", "aes-asm",     "aes-arm(",
											"aes-arm)",    "aes-ppc-spe", "ghash-generic"};
	for (size_t i = 0; i < sizeof by_tables / sizeof by_tables[0]; i++)
		if (strstr(driver, by_tables[i]) != NULL) return false;
	return strstr(driver, "-spe") == NULL;
}

static bool answers(const char *type, const char *driver)
{
	const int fd = bind_driver(type, driver);
	if (fd >= 0) close(fd);
	return fd >= 0;
}

static bool have(const char *driver)
{
	for (size_t i = 0; i < rows_used; i++)
		if (strcmp(gw_alg_rows[i].name, driver) == 0) return true;
	return false;
}

static void consider(const entry *e)
{
	for (size_t i = 0; i < KNOWN; i++) {
		if (strcmp(known[i].alg, e->name) != 0 || e->internal || have(e->driver)) continue;
		if (rows_used == GW_ALG_ROWS || !answers(type_of(known[i].kind), e->driver)) return;
		gw_alg_row *row = &gw_alg_rows[rows_used];
		snprintf(row->name, sizeof row->name, "%s", e->driver);
		snprintf(row->driver, sizeof row->driver, "%s/kernel", e->driver);
		row->tag_bytes = known[i].tag_bytes;
		row->impl.alg = known[i].alg;
		row->impl.driver = row->driver;
		row->impl.tag = "af_alg";
		row->impl.isa = "Linux AF_ALG, includes system calls";
		row->impl.kind = known[i].kind;
		row->impl.priority = e->priority; /* the kernel's own order among its drivers */
		row->impl.constant_time = constant_time(e->driver);
		row->impl.by_name_only = true;
		row->impl.batch_hint = 1;
		gw_alg_fill(row, rows_used++);
	}
}

/* "name         : cbc(aes)" */
static bool field(const char *line, const char *name, char *value, size_t size)
{
	const size_t len = strlen(name);
	const char *colon = strchr(line, ':');
	if (strncmp(line, name, len) != 0 || (line[len] != ' ' && line[len] != '\t') || colon == NULL) return false;
	snprintf(value, size, "%s", colon[1] == ' ' ? colon + 2 : colon + 1);
	value[strcspn(value, "\n")] = '\0';
	return true;
}

static int read_list(void (*each)(const entry *e))
{
	char line[256], internal[16], priority[16];
	entry e = {0};
	FILE *list = fopen("/proc/crypto", "re");
	if (list == NULL) return -errno;
	while (fgets(line, sizeof line, list) != NULL) {
		(void)(field(line, "name", e.name, sizeof e.name) || field(line, "driver", e.driver, sizeof e.driver));
		if (field(line, "internal", internal, sizeof internal)) e.internal = strcmp(internal, "yes") == 0;
		if (field(line, "priority", priority, sizeof priority)) e.priority = (int)strtol(priority, NULL, 10);
		if (line[0] != '\n') continue; /* an entry ends with an empty line */
		each(&e);
		e = (entry){0};
	}
	each(&e);
	fclose(list);
	return 0;
}

/* ---- what is in the list only once it was asked for ---- */

static void ask(const char *type, const char *pattern, const char *driver)
{
	char name[64];
	/* the drivers of this machine fit; a longer one has no name here */
	if (snprintf(name, sizeof name, pattern, driver) < (int)sizeof name) (void)answers(type, name);
}

/* Modes over one driver of the block cipher, such as cbc(aes-generic): what hardware is compared with. */
static void ask_templates(const entry *e)
{
	const bool hash = strcmp(e->name, "sha1") == 0 || strcmp(e->name, "sha256") == 0 || strcmp(e->name, "sha512") == 0;
	if (e->internal) return;
	if (hash) ask("hash", "hmac(%s)", e->driver);
	if (strcmp(e->name, "aes") != 0) return;
	ask("skcipher", "ecb(%s)", e->driver);
	ask("skcipher", "cbc(%s)", e->driver);
	ask("skcipher", "ctr(%s)", e->driver);
	ask("skcipher", "xts(%s)", e->driver);
	ask("aead", "gcm_base(ctr(%s),ghash-generic)", e->driver);
}

/* The kernel loads modules, and makes instances of templates, when it is asked by name. */
static int instantiate(void)
{
	for (size_t i = 0; i < KNOWN; i++) (void)answers(type_of(known[i].kind), known[i].alg);
	return read_list(ask_templates);
}

int gw_provider_af_alg(gw_err *err)
{
	const int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		snprintf(err->text, sizeof err->text, "this kernel has no AF_ALG (%s)", strerror(errno));
		return -ENOENT;
	}
	close(fd);
	int r = instantiate();
	if (r == 0) r = read_list(consider);
	if (r != 0) {
		snprintf(err->text, sizeof err->text, "/proc/crypto: %s", strerror(-r));
		return -ENOENT;
	}
	if (rows_used == 0) {
		snprintf(err->text, sizeof err->text,
				 "no driver in /proc/crypto answers: modprobe algif_skcipher algif_aead algif_hash");
		return -ENOENT;
	}
	for (size_t i = 0; i < rows_used; i++)
		if (gw_impl_add(&gw_alg_rows[i].impl) != 0) return -ENOSPC;
	return (int)rows_used;
}
