/* SPDX-License-Identifier: MIT
 * One netlink message of the kernel's SAs as a line of text, without the keys.
 */
#ifndef GW_EXPORTER_SA_TEXT_H
#define GW_EXPORTER_SA_TEXT_H

#include <linux/netlink.h>
#include <linux/xfrm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SA_TEXT_BYTES 1024

/* "sa KEY=VALUE ..." of XFRM_MSG_NEWSA in a dump, "gone KEY=VALUE ..." of XFRM_MSG_DELSA and of a hard
 * XFRM_MSG_EXPIRE. False for every other message, and for one that is cut short. */
bool gw_sa_text(const struct nlmsghdr *header, char *line, size_t room);

/* Looks up this machine's addresses again: an SA whose destination is one of them is inbound. */
void gw_sa_text_local_addresses(void);

#endif
