/* SPDX-License-Identifier: MIT
 * The TUN device: a packet a read or write, behind a virtio_net_hdr in which a "packet" may be 64 KB of TCP.
 */
#include "tun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Younger than the oldest headers that we build with. */
#ifndef TUNSETVNETLE
#define TUNSETVNETLE _IOW('T', 220, int)
#endif
#define GW_TUN_F_CSUM    0x01
#define GW_TUN_F_TSO4    0x02
#define GW_TUN_F_TSO6    0x04
#define GW_TUN_F_TSO_ECN 0x08
#define GW_TUN_F_USO4    0x20
#define GW_TUN_F_USO6    0x40

static int fail(int fd, int err, gw_err *why, const char *what)
{
	const char *hint = "";
	if (err == ENOENT || err == ENODEV) hint = ": load the tun module, or make /dev/net/tun available";
	if (err == EACCES || err == EPERM) hint = ": needs CAP_NET_ADMIN and access to /dev/net/tun";
	if (err == EBUSY) hint = ": another process holds a device of this name";
	if (why) snprintf(why->text, sizeof why->text, "TUN: %s: %s%s", what, strerror(err), hint);
	if (fd >= 0) close(fd);
	return -err;
}

/* Little-endian headers of 10 bytes, and the offloads of which TUNSETOFFLOAD accepts the most. */
static int prepare(int fd, uint32_t *offload, gw_err *err)
{
	int le = 1, hdr = GW_VNET_LEN;
	const uint32_t tso = GW_TUN_F_CSUM | GW_TUN_F_TSO4 | GW_TUN_F_TSO6 | GW_TUN_F_TSO_ECN;

	if (ioctl(fd, TUNSETVNETLE, &le) < 0) return fail(-1, errno, err, "little-endian headers refused");
	if (ioctl(fd, TUNSETVNETHDRSZ, &hdr) < 0) return fail(-1, errno, err, "header size refused");
	if (!(*offload & GW_OFF_TUN_TSO)) *offload &= ~(uint32_t)GW_OFF_TUN_USO;
	if ((*offload & GW_OFF_TUN_USO) &&
		ioctl(fd, TUNSETOFFLOAD, (unsigned long)(tso | GW_TUN_F_USO4 | GW_TUN_F_USO6)) == 0)
		return 0;
	*offload &= ~(uint32_t)GW_OFF_TUN_USO;
	if ((*offload & GW_OFF_TUN_TSO) && ioctl(fd, TUNSETOFFLOAD, (unsigned long)tso) == 0) return 0;
	*offload &= ~(uint32_t)GW_OFF_TUN_TSO;
	if (ioctl(fd, TUNSETOFFLOAD, 0ul) < 0) return fail(-1, errno, err, "offloads cannot be switched off");
	return 0;
}

int gw_tun_open(char name[16], bool multi_queue, uint32_t *offload, gw_err *err)
{
	struct ifreq ifr;
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), bad;

	if (fd < 0) return fail(-1, errno, err, "/dev/net/tun cannot be opened");
	memset(&ifr, 0, sizeof ifr);
	memcpy(ifr.ifr_name, name, IFNAMSIZ - 1);
	ifr.ifr_flags = (short)(IFF_TUN | IFF_NO_PI | IFF_VNET_HDR | (multi_queue ? IFF_MULTI_QUEUE : 0));
	if (ioctl(fd, TUNSETIFF, &ifr) < 0) return fail(fd, errno, err, ifr.ifr_name[0] ? ifr.ifr_name : "device refused");
	memcpy(name, ifr.ifr_name, IFNAMSIZ);
	name[IFNAMSIZ - 1] = 0;
	bad = prepare(fd, offload, err);
	if (bad) close(fd);
	return bad ? bad : fd;
}

int gw_tun_adopt(int fd, char name[16], uint32_t *offload, gw_err *err)
{
	struct ifreq ifr;
	int flags = fcntl(fd, F_GETFL);

	memset(&ifr, 0, sizeof ifr);
	if (flags < 0 || ioctl(fd, TUNGETIFF, &ifr) < 0) return fail(-1, errno, err, "the descriptor is no TUN");
	if ((ifr.ifr_flags & (IFF_TUN | IFF_NO_PI | IFF_VNET_HDR)) != (IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
		return fail(-1, EINVAL, err, "the descriptor lacks IFF_TUN, IFF_NO_PI or IFF_VNET_HDR");
	if (fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return fail(-1, errno, err, "not to be made non-blocking");
	memcpy(name, ifr.ifr_name, IFNAMSIZ);
	name[IFNAMSIZ - 1] = 0;
	return prepare(fd, offload, err);
}

int gw_tun_link(const char *name, uint32_t mtu, uint32_t txqueuelen, int *ifindex, gw_err *err)
{
	struct ifreq ifr;
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (s < 0) s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s < 0) return fail(-1, errno, err, "no socket to configure it");
	memset(&ifr, 0, sizeof ifr);
	memcpy(ifr.ifr_name, name, strnlen(name, IFNAMSIZ - 1));
	if (ioctl(s, SIOCGIFINDEX, &ifr) < 0) return fail(s, errno, err, name);
	*ifindex = ifr.ifr_ifindex;
	ifr.ifr_mtu = (int)mtu;
	if (mtu && ioctl(s, SIOCSIFMTU, &ifr) < 0) return fail(s, errno, err, "MTU refused");
	ifr.ifr_qlen = (int)txqueuelen;
	/* In a user namespace this ioctl asks for the first namespace's CAP_NET_ADMIN (netlink does not, and the control
	 * plane sets it so again): a shorter queue is no reason to give up. */
	if (ioctl(s, SIOCSIFTXQLEN, &ifr) < 0 && errno != EPERM) return fail(s, errno, err, "txqueuelen refused");
	close(s);
	return 0;
}
