/* SPDX-License-Identifier: MIT
 * Names of the drop reasons: the kernel's /proc/net/xfrm_stat words where it has one.
 */
#include "../gwdp.h"

static const char *const names[GW_DROP_REASONS] = {
	[GW_OK] = "ok",
	[GW_IN_HDR_ERROR] = "in_hdr_error",
	[GW_IN_NO_STATES] = "in_no_states",
	[GW_STATE_PROTO_ERROR] = "state_proto_error",
	[GW_STATE_SEQ_ERROR] = "state_seq_error",
	[GW_STATE_MODE_ERROR] = "state_mode_error",
	[GW_STATE_EXPIRED] = "state_expired",
	[GW_IN_TMPL_MISMATCH] = "in_tmpl_mismatch",
	[GW_OUT_NO_STATES] = "out_no_states",
	[GW_OUT_POL_BLOCK] = "out_pol_block",
	[GW_OUT_STATE_SEQ_ERROR] = "out_state_seq_error",
	[GW_OUT_ERROR] = "out_error",
	[GW_OUT_MTU] = "out_mtu",
	[GW_IN_BUFFER_ERROR] = "in_buffer_error",
	[GW_IN_DUMMY] = "in_dummy",
	[GW_IN_ECN_ILLEGAL] = "in_ecn_illegal",
	[GW_OUT_INVALID] = "out_invalid",
	[GW_IN_STATE_INVALID] = "in_state_invalid",
};

const char *gw_drop_name(int reason)
{
	return reason >= 0 && reason < GW_DROP_REASONS ? names[reason] : 0;
}
