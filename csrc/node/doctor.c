/* SPDX-License-Identifier: MIT
 * doctor: what this machine is and what it can do for a tunnel. Changes nothing.
 */
#define _GNU_SOURCE /* cpu_set_t */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../io/io.h"
#include "node.h"

/* What stands behind the first of these names in a file of "name : value" lines; false when there is none. */
static bool line_of(const char *path, const char *name, char *to, size_t room)
{
	FILE *file = fopen(path, "re");
	bool found = false;
	char line[256];

	while (file && !found && fgets(line, sizeof line, file)) {
		const char *colon = strchr(line, ':');
		if (!colon || strncmp(line, name, strlen(name))) continue;
		for (colon++; *colon == ' ' || *colon == '\t'; colon++) continue;
		snprintf(to, room, "%.*s", (int)strcspn(colon, "\n"), colon);
		found = true;
	}
	if (file) fclose(file);
	return found;
}

static const char *model(char *to, size_t room)
{
	static const char *const names[] = {"machine", "system type", "Hardware", "model name", "cpu"};

	const int fd = open("/proc/device-tree/model", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		const ssize_t n = read(fd, to, room - 1);
		close(fd);
		if (n > 0) {
			to[n] = 0;
			return to;
		}
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (line_of("/proc/cpuinfo", names[i], to, room)) return to;
	return "unknown";
}

static const char *tun(void)
{
	const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (fd < 0) return "no: no /dev/net/tun for us (opkg install kmod-tun; apk add kmod-tun; or not root)";
	close(fd);
	return "yes";
}

int node_doctor(int argc, char **argv)
{
	struct utsname system;
	struct sysinfo memory;
	cpu_set_t cores;
	char text[256];
	gw_probe probe;
	gw_err err = {""};
	size_t runnable = 0, failed = 0;

	(void)argv;
	if (argc) return 2;
	uname(&system);
	const int init = gw_init(&err);
	if (init == -EINVAL) {
		fprintf(stderr, "gwnode: %s\n", err.text);
		return 2;
	}
	for (size_t i = 0; i < gw_impl_count(); i++) {
		gw_impl_info info;
		gw_impl_describe(gw_impl_at(i), &info);
		runnable += info.runnable != 0;
		failed += info.checked < 0;
	}
	printf("gwnode           %s\n", gw_version());
	printf("machine          %s\n", model(text, sizeof text));
	printf("kernel           %s %s %s\n", system.sysname, system.release, system.machine);
	if (!sysinfo(&memory))
		printf("memory           %u MB, %u MB free\n", (unsigned)((uint64_t)memory.totalram * memory.mem_unit >> 20),
			   (unsigned)((uint64_t)memory.freeram * memory.mem_unit >> 20));
	printf("cores            %d\n", sched_getaffinity(0, sizeof cores, &cores) ? 1 : CPU_COUNT(&cores));
	printf("cpu features     %s\n", *gw_cpu_features() ? gw_cpu_features() : "none that speed up cryptography");
	printf("implementations  %zu run here, %zu failed their known answers\n", runnable, failed);
	for (size_t i = 0; i < gw_suite_count(); i++) {
		gw_suite_info suite;
		gw_suite_at(i, &suite);
		if (strcmp(suite.name, "aes256-sha256") && strcmp(suite.name, "aes128gcm16")) continue;
		if (gw_suite_resolve((int)i, "accelerated", text, sizeof text, &err)) strcpy(text, "portable C only");
		printf("%-16s %s\n", suite.name, text);
	}
	printf("TUN              %s\n", tun());
	if (gw_probe_run(2 /* AF_INET */, &probe) < 0)
		printf("UDP offloads     not known: the probe needs a loopback that is up\n");
	else
		printf("UDP offloads     send %s (up to %u packets a call), receive %s\n", probe.udp_gso ? "yes" : "no",
			   (unsigned)probe.gso_max_segments, probe.udp_gro ? "yes" : "no");
	return init < 0 || failed ? 1 : 0;
}
