/* SPDX-License-Identifier: MIT
 * The kernel's crypto API from user space: every driver in /proc/crypto that does one of our algorithms becomes a row
 * under the kernel's own name, when a socket of AF_ALG can be bound to it. See af_alg_run.c for what a packet costs.
 */
#include "af_alg.h"

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
		row->impl.priority = 10;
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

static void read_list(FILE *list)
{
	char line[256], internal[16];
	entry e = {0};
	while (fgets(line, sizeof line, list) != NULL) {
		(void)(field(line, "name", e.name, sizeof e.name) || field(line, "driver", e.driver, sizeof e.driver));
		if (field(line, "internal", internal, sizeof internal)) e.internal = strcmp(internal, "yes") == 0;
		if (line[0] != '\n') continue; /* an entry ends with an empty line */
		consider(&e);
		e = (entry){0};
	}
	consider(&e);
}

/* The kernel makes an instance of a template, and loads a module, when it is asked for by name. */
static void instantiate(void)
{
	for (size_t i = 0; i < KNOWN; i++) (void)answers(type_of(known[i].kind), known[i].alg);
}

int gw_provider_af_alg(gw_err *err)
{
	const int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		snprintf(err->text, sizeof err->text, "this kernel has no AF_ALG (%s)", strerror(errno));
		return -ENOENT;
	}
	close(fd);
	instantiate();
	FILE *list = fopen("/proc/crypto", "re");
	if (list == NULL) {
		snprintf(err->text, sizeof err->text, "/proc/crypto: %s", strerror(errno));
		return -ENOENT;
	}
	read_list(list);
	fclose(list);
	if (rows_used == 0) {
		snprintf(err->text, sizeof err->text,
				 "no driver in /proc/crypto answers: modprobe algif_skcipher algif_aead algif_hash");
		return -ENOENT;
	}
	for (size_t i = 0; i < rows_used; i++)
		if (gw_impl_add(&gw_alg_rows[i].impl) != 0) return -ENOSPC;
	return (int)rows_used;
}
