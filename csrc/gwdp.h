/* SPDX-License-Identifier: MIT
 * gwdp.h: the one public header of the gwbench dataplane.
 *
 * Python (dataplane/, by cffi) and gwnode (csrc/node) see this and nothing else of csrc/.
 * The text between the two cffi marks is also cffi's cdef: keep it free of the preprocessor except for
 * `#define NAME number`, and free of function bodies.
 *
 * Conventions: functions that can fail return 0 or a negative errno and, where a `gw_err *` is taken, one clear
 * line. Lengths are bytes, times are nanoseconds of a clock the caller names, packet data has no alignment.
 */
#ifndef GWDP_H
#define GWDP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* >>> cffi */

/* ---- errors -------------------------------------------------------------------------------------------------- */

/* One line for a person: what is wrong and what to do. Never carries key material. */
typedef struct gw_err {
	char text[256];
} gw_err;

const char *gw_version(void);

/* Must be called once before anything else: detects the CPU (less GWBENCH_CPU_DISABLE, a comma list of the names
 * that gw_cpu_features prints), runs the known answers of every implementation that this CPU can run, and takes
 * failing ones out of selection. Returns the number of implementations that failed (0 is good) or -errno: -EINVAL for
 * a name in GWBENCH_CPU_DISABLE that no feature has, because ignoring it would measure something else. */
int gw_init(gw_err *err);

/* Space-separated names of the CPU features in force, e.g. "aesni pclmul sha_ni avx2 vaes vpclmul avx512 gfni". */
const char *gw_cpu_features(void);

/* ---- implementations: data, see crypto/impl.h ---------------------------------------------------------------- */

#define GW_KIND_CIPHER  1 /* ecb, cbc, ctr, xts */
#define GW_KIND_HASH    2
#define GW_KIND_MAC     3
#define GW_KIND_AEAD    4 /* gcm, chacha20poly1305 */
#define GW_KIND_AUTHENC 5 /* encrypt-then-MAC in one pass: authenc(hmac(sha256),cbc(aes)) */

typedef struct gw_impl_info {
	const char *alg;      /* "cbc(aes)" */
	const char *driver;   /* "cbc-aes-aesni/gwbench" */
	const char *tag;      /* short family name accepted by --impl: "generic", "ct", "aesni", "vaes", "neonbs", "spe" */
	const char *isa;      /* for people: "x86-64 AES-NI" */
	int kind;             /* GW_KIND_* */
	int priority;         /* default order, higher is preferred */
	int constant_time;    /* 1 when no secret-dependent branch or address is used */
	int runnable;         /* this CPU has what it needs */
	int checked;          /* known answers: 1 passed, 0 not run, -1 failed */
	size_t key_ctx_bytes; /* expanded key, 64-byte aligned */
	int batch_hint;       /* packets abreast that this implementation likes */
} gw_impl_info;

typedef struct gw_impl gw_impl; /* opaque here */

size_t gw_impl_count(void);
const gw_impl *gw_impl_at(size_t i);
const gw_impl *gw_impl_find(const char *driver); /* NULL when unknown */
void gw_impl_describe(const gw_impl *impl, gw_impl_info *out);
int gw_impl_selftest(const gw_impl *impl, gw_err *err); /* known answers again: 0 or -EBADMSG */
/* Test hook: makes the known answers of one implementation fail (and so takes it out of selection). */
int gw_impl_inject_fault(const char *driver);

/* Other people's implementations, found at run time and never required: a comma list of "openssl" (libcrypto.so.3 or
 * .1.1), "ipsec-mb" (intel-ipsec-mb) and "af_alg" (the kernel's, by their names in /proc/crypto), or "all". After it
 * they are rows like any other, with their known answers run and these words as tags; "auto" and "accelerated" never
 * take them. Returns how many rows were added (those of an earlier call count), or -EINVAL for an unknown word, or
 * -ENOENT when none of them is here. *err says in one line what is absent and why, also when others were found. Call
 * it before a loop runs. gwnode has no providers. */
int gw_providers_load(const char *which, gw_err *err);

/* Which of several constant-time implementations "auto" and "accelerated" take: the one of highest priority, unless
 * one was preferred. Measuring prefers the fastest of each algorithm that has a choice (1408-byte requests in batches
 * of 16, both directions, interleaved), in about alg_ns an algorithm, and returns how many algorithms it settled, or
 * -errno. Preferring is for a choice that was measured before: -ENOENT unknown, -EOPNOTSUPP not to be selected here,
 * or not constant-time. Call it before SAs are made. */
int gw_select_measure(uint64_t alg_ns, gw_err *err);
int gw_select_prefer(const char *driver);
const char *gw_select_preferred(const char *alg); /* driver, or NULL */
void gw_select_reset(void);

/* The unit of work of every implementation: an array of these, each with a key of its own.
 * in: up to three spans; every span but the last is a multiple of 64 bytes. out never overlaps in, except that one
 * span may equal out (in place). Hash and MAC write tag (tag_len bytes); ciphers write out; AEAD both. */
#define GW_OP_SPANS 3
#define GW_OP_ESN   1 /* authenc/mac: esn[4] is hashed after the data (RFC 4303 2.2.1) */
#define GW_OP_IV_NONCE                                                                                                 \
	2 /* cbc: iv holds a unique nonce; encrypt it in place under the cipher key first and use                          \
		 the result as IV (SP 800-38A, appendix C): unpredictable, and one block of cost */

typedef struct gw_span {
	const uint8_t *data;
	size_t len;
} gw_span;

typedef struct gw_op {
	const void *key;     /* expanded by the same implementation (cipher, aead, hash: NULL) */
	const void *mac_key; /* expanded key of mac, and of authenc's second half */
	gw_span in[3];
	uint8_t *out;
	const uint8_t *aad; /* aead: any place. authenc: SPI|seq|IV, ends exactly where out begins */
	uint8_t *iv;        /* cbc 16, ctr 16 (first counter block), xts 16 (tweak), gcm/chacha20poly1305 nonce */
	uint8_t *tag;       /* seal writes, open compares in constant time */
	uint32_t aad_len;
	uint32_t iv_len;
	uint32_t tag_len;
	uint32_t n_in;
	uint32_t flags; /* GW_OP_* */
	int32_t status; /* out: 0, or -EBADMSG when the tag of an open is wrong (out is then wiped or untouched) */
	uint8_t esn[4]; /* high half of the sequence number, network order */
	uint32_t pad0;
} gw_op;

/* One-shot access to an implementation, for vectors, differential tests and benches.
 * gw_key_new expands a key (mac: any length; xts: both halves); NULL with *err set when the length is wrong. */
typedef struct gw_key gw_key;
gw_key *gw_key_new(const gw_impl *impl, const uint8_t *key, size_t key_len, gw_err *err);
const void *gw_key_ctx(const gw_key *k);
void gw_key_free(gw_key *k); /* wipes */
/* dir 1 = encrypt/seal/hash/mac, 0 = decrypt/open. Returns 0, -EOPNOTSUPP, or -EINVAL when an AEAD's nonce or tag has a
 * length that does not exist (nothing is run then). */
int gw_impl_run(const gw_impl *impl, int dir, gw_op *ops, size_t n);

/* ---- suites and overhead: the one table ---------------------------------------------------------------------- */

typedef struct gw_suite_info {
	const char *name;       /* "aes256-sha256" */
	const char *enc_alg;    /* "cbc(aes)", "gcm(aes)", "null" */
	const char *auth_alg;   /* "hmac(sha256)" or "" for AEAD */
	uint32_t enc_key_bytes; /* without salt */
	uint32_t salt_bytes;
	uint32_t auth_key_bytes;
	uint32_t iv_bytes;
	uint32_t block_bytes; /* plaintext + trailer is padded to a multiple of this (at least 4) */
	uint32_t icv_bytes;   /* default */
	int bench_only;       /* refused outside the laboratory: "null" */
	int legacy;
} gw_suite_info;

size_t gw_suite_count(void);
int gw_suite_at(size_t i, gw_suite_info *out);
int gw_suite_find(const char *name); /* index or -ENOENT */

#define GW_MODE_TUNNEL    0
#define GW_MODE_TRANSPORT 1
#define GW_ENCAP_NONE     0 /* IP protocol 50 */
#define GW_ENCAP_UDP      1

/* Bytes on the wire of an inner packet of inner_len bytes: the whole outer IP packet. Exact. */
size_t gw_wire_len(int suite, int mode, int encap, int outer_af, uint32_t icv_bytes, size_t inner_len);
/* Largest inner packet whose outer packet is at most outer_mtu bytes; 0 when there is none. */
size_t gw_inner_mtu(int suite, int mode, int encap, int outer_af, uint32_t icv_bytes, size_t outer_mtu);

/* What would run for (suite, wish). wish: "auto" (best constant-time), "accelerated" (best that is not generic),
 * "generic", a tag, or driver names joined by "+". Writes "driver + driver" into text.
 * -ENOENT: unknown wish, -EOPNOTSUPP: known but not runnable here; *err lists what exists. */
int gw_suite_resolve(int suite, const char *wish, char *text, size_t text_len, gw_err *err);

/* ---- SAs, in memory (bytes in, bytes out) -------------------------------------------------------------------- */

#define GW_DIR_OUT 0
#define GW_DIR_IN  1

typedef struct gw_addr {
	uint8_t family; /* 4, 6, or 0 = unset */
	uint8_t prefix; /* bits, selectors only */
	uint16_t port;  /* host order */
	uint8_t bytes[16];
} gw_addr;

/* RFC 4301 4.4.1.1: the inner packet must match. family 0 = any; proto 0 = any; port range 0..65535 = any */
typedef struct gw_selector {
	gw_addr src, dst;
	uint8_t proto;
	uint8_t pad0[3];
	uint16_t sport_lo, sport_hi, dport_lo, dport_hi;
} gw_selector;

#define GW_SA_ESN       1
#define GW_SA_LAB       2 /* permits bench_only suites, and the reserved SPIs 1..255 that published vectors use */
#define GW_SA_ENCAP_UDP 4
#define GW_SA_COPY_DF   8
#define GW_SA_SET_DF    16
#define GW_SA_COPY_DSCP 32
#define GW_SA_NO_ECN    64  /* RFC 6040 normal mode is the default */
#define GW_SA_NO_REPLAY 128 /* window off: tests and manual peers only */
#define GW_SA_ROAM                                                                                                     \
	256 /* in, UDP: the peer may stand behind NAT; where its newest authentic packet came from, there all SAs          \
		 of the old address and port send from now on (RFC 3947 4, RFC 7296 2.23) */

typedef struct gw_sa_params {
	uint32_t spi;
	int suite;
	int direction;
	int mode;
	uint32_t flags;
	uint32_t icv_bytes;     /* 0 = the suite's default */
	uint32_t replay_window; /* packets, 32..65536, 0 = 64 */
	uint32_t tfc_pad_to;    /* bytes, 0 = none */
	uint32_t loop;          /* which loop of a running dataplane owns it (RFC 9611: an SA for each CPU) */
	uint64_t seq;           /* out: last number used (first packet carries seq + 1); in: top of the window */
	uint64_t soft_packets, hard_packets; /* 0 = none */
	uint64_t soft_bytes, hard_bytes;
	uint64_t soft_ns, hard_ns; /* after creation */
	gw_selector selector;
	gw_addr local, peer; /* outer; port for UDP encapsulation */
	const uint8_t *enc_key;
	const uint8_t *auth_key;
	const uint8_t *salt; /* salt_bytes of the suite */
	const char *impl;    /* see gw_suite_resolve; NULL = "auto" */
} gw_sa_params;

/* Why a packet went no further. Names are the kernel's /proc/net/xfrm_stat words. */
#define GW_OK                  0
#define GW_IN_HDR_ERROR        1  /* truncated, misaligned, or no ESP at all */
#define GW_IN_NO_STATES        2  /* unknown SPI */
#define GW_STATE_PROTO_ERROR   3  /* ICV wrong, padding wrong */
#define GW_STATE_SEQ_ERROR     4  /* replayed or below the window */
#define GW_STATE_MODE_ERROR    5  /* next header does not fit the mode */
#define GW_STATE_EXPIRED       6  /* hard lifetime */
#define GW_IN_TMPL_MISMATCH    7  /* inner packet outside the SA's selectors */
#define GW_OUT_NO_STATES       8  /* policy without SA */
#define GW_OUT_POL_BLOCK       9  /* no policy for this packet */
#define GW_OUT_STATE_SEQ_ERROR 10 /* sequence numbers used up */
#define GW_OUT_ERROR           11 /* the socket refused it; counted by errno class elsewhere */
#define GW_OUT_MTU             12 /* too big with DF: ICMP was sent inward */
#define GW_IN_BUFFER_ERROR     13 /* the TUN refused it */
#define GW_IN_DUMMY            14 /* next header 59: swallowed on purpose */
#define GW_IN_ECN_ILLEGAL      15 /* RFC 6040: CE outside, Not-ECT inside */
#define GW_OUT_INVALID         16 /* not an IP packet, vnet header nonsense */
#define GW_IN_STATE_INVALID    17 /* SA of the other direction, or sender state lost */
#define GW_DROP_REASONS        18
const char *gw_drop_name(int reason); /* "in_no_states", NULL past the end */

typedef struct gw_sa gw_sa;
/* gw_sa_params has pointers without lengths: whoever takes keys from outside asks this first. 0 or -EINVAL. */
int gw_suite_check_keys(int suite, size_t enc_key_bytes, size_t auth_key_bytes, size_t salt_bytes, gw_err *err);
/* Copies and expands the keys; the caller wipes its own copy. */
gw_sa *gw_sa_new(const gw_sa_params *params, uint64_t now_ns, gw_err *err);
void gw_sa_free(gw_sa *sa);                        /* wipes */
const char *gw_sa_implementation(const gw_sa *sa); /* "cbc-aes-aesni/gwbench + hmac-sha256-shani/gwbench" */

typedef struct gw_sa_counters { /* what every batch writes stands first: one cache line in a counter slot */
	uint32_t spi;
	uint32_t direction;
	uint64_t packets;    /* sealed, or opened and accepted */
	uint64_t bytes;      /* inner bytes of these */
	uint64_t wire_bytes; /* ESP bytes SPI..ICV of these */
	uint64_t seq;        /* last sent, or top of the window */
	uint64_t last_ns;    /* now_ns of the last batch that counted */
	uint32_t state;      /* GW_SA_STATE_* */
	uint32_t pad0;
	uint64_t created_ns;
	uint64_t drops[18]; /* by GW_* reason */
} gw_sa_counters;

#define GW_SA_STATE_VALID   0
#define GW_SA_STATE_DYING   1 /* a soft limit is reached: rekey */
#define GW_SA_STATE_EXPIRED 2 /* a hard limit, or the last sequence number */

void gw_sa_read(const gw_sa *sa, gw_sa_counters *out);

/* A batch element. Seal: in[] (n_in spans, all but the last a multiple of 64 bytes) -> out: SPI..ICV.
 * Open: out/out_len hold SPI..ICV and are opened in place; inner/inner_len then point into out. */
typedef struct gw_pkt {
	gw_sa *sa;
	gw_span in[2];
	uint8_t *out;
	uint8_t *inner;
	uint32_t n_in;
	uint32_t out_cap;
	uint32_t out_len;
	uint32_t inner_len;
	uint8_t
		next_header; /* seal: tunnel 59 = dummy, else told from the packet; transport: its own; open: what was found */
	uint8_t outer_tos; /* open in: TOS of the outer header (ECN); seal out: TOS to send with */
	uint8_t pad0[2];
	int32_t status; /* GW_* */
} gw_pkt;

/* Seals n packets, each under its pkt->sa, in order. Sequence numbers are taken in order. Returns how many are GW_OK.
 */
size_t gw_seal_batch(gw_pkt *pkts, size_t n, uint64_t now_ns);
/* Opens n packets whose pkt->sa is set (gw_sadb_lookup, or by hand). Of two copies in one batch one is accepted. */
size_t gw_open_batch(gw_pkt *pkts, size_t n, uint64_t now_ns);
/* Bytes out_cap must offer for an inner packet of this length. */
size_t gw_seal_len(const gw_sa *sa, size_t inner_len);

/* ---- pure packet functions, exposed for property tests and fuzzing ------------------------------------------- */

/* Internet checksum (RFC 1071), one's complement sum not folded into the header, any length and alignment. */
uint16_t gw_checksum(const uint8_t *data, size_t len, uint32_t start);
/* TUN read with a 10-byte little-endian virtio_net_hdr -> wire packets, concatenated in out, their lengths in lens.
 * Returns how many, or -EINVAL (nothing written) when header and packet contradict each other. */
int gw_segment_flat(const uint8_t *vnet_and_packet, size_t len, uint8_t *out, size_t out_cap, uint32_t *lens,
					size_t max_lens);
/* Lowers the MSS of a TCP SYN to what `mtu` bytes have room for, in place. 1 when it was changed, else 0. */
int gw_clamp_mss(uint8_t *packet, size_t len, uint32_t mtu);
/* An IPv4 packet -> fragments of at most mtu bytes, concatenated in out (RFC 791 3.2). Returns how many, -EINVAL when
 * it cannot be cut, -ENOSPC. */
int gw_fragment_flat(const uint8_t *packet, size_t len, uint32_t mtu, uint8_t *out, size_t out_cap, uint32_t *lens,
					 size_t max_lens);
/* Packets -> TUN writes (each vnet header + packet), by the kernel's GRO rule. Returns how many, or -ENOSPC. */
int gw_coalesce_flat(const uint8_t *packets, const uint32_t *lens, size_t n, uint8_t *out, size_t out_cap,
					 uint32_t *out_lens, size_t max_out);

/* ---- the running dataplane ------------------------------------------------------------------------------------ */

/* Offloads that may be used; the probe (two segments over loopback) takes away what this kernel cannot do. */
#define GW_OFF_TUN_TSO      1
#define GW_OFF_UDP_GSO      2
#define GW_OFF_UDP_GRO      4
#define GW_OFF_TUN_COALESCE 8
#define GW_OFF_TUN_USO      16
#define GW_OFF_ALL          31

#define GW_DP_KEEP_MSS 1 /* TCP's MSS is not lowered to what the tunnel has room for */
#define GW_DP_FRAGMENT_BEFORE                                                                                          \
	2 /* IPv4 without DF that does not fit is cut before it is sealed; else the outer packet */

typedef struct gw_dp_config {
	const char *tun_name;  /* "" = the kernel chooses */
	gw_addr local;         /* outer address; port 0 = any free one, and without UDP there is none */
	uint32_t mtu;          /* inner MTU of the TUN */
	uint32_t txqueuelen;   /* 0 = 10000 */
	uint32_t queues;       /* loops, each with a TUN queue and an outer port of its own; 0 = 1, at most 64 */
	uint32_t rcvbuf_bytes; /* 0 = 8 MiB; what was granted is in gw_dp_info */
	uint32_t sndbuf_bytes;
	uint32_t offload;      /* GW_OFF_* wished */
	uint32_t max_sas;      /* of all loops, 0 = 64; sizes the counter pages */
	uint32_t udp_checksum; /* 1 = real (default by callers), 0 = zero, stated in the result */
	uint32_t encap;        /* GW_ENCAP_* */
	int tun_fd;            /* -1 = open it; else an fd that was handed over */
	uint32_t flags;        /* GW_DP_* */
} gw_dp_config;

typedef struct gw_dp_info {
	char tun_name[16];
	int ifindex;
	gw_addr local;    /* with the port that was bound */
	uint32_t offload; /* in force after the probe */
	uint32_t gso_max_segments;
	uint32_t rcvbuf_bytes, sndbuf_bytes; /* granted */
	uint32_t queues;
} gw_dp_info;

typedef struct gw_dp gw_dp;
/* Opens TUN and sockets, starts no thread. Needs CAP_NET_ADMIN. */
gw_dp *gw_dp_new(const gw_dp_config *config, gw_err *err);
int gw_dp_start(gw_dp *dp, gw_err *err);
/* Stops the loops (eventfd), joins them, closes and wipes everything. Safe on NULL. */
void gw_dp_free(gw_dp *dp);
void gw_dp_describe(const gw_dp *dp, gw_dp_info *out);
/* The outer port of a loop: the first's is config.local.port, further ones follow it, or are any free ones when that
 * is 0; without UDP there is none. 0 when there is no such loop. */
uint16_t gw_dp_port(const gw_dp *dp, uint32_t loop);
/* The loop ended by itself (TUN deleted, namespace gone): one line in *err and -errno; 0 while it runs. */
int gw_dp_health(gw_dp *dp, gw_err *err);

/* Each returns after the loop has acknowledged it; an SA is wiped and freed after that. */
/* ran (may be NULL): gw_sa_implementation of the SA that was installed. */
int gw_dp_sa_add(gw_dp *dp, const gw_sa_params *params, char *ran, size_t ran_len, gw_err *err);
/* last (may be NULL): what the SA had counted when it was taken out; no later reading has it. */
int gw_dp_sa_del(gw_dp *dp, uint32_t spi, int direction, gw_sa_counters *last, gw_err *err);
/* Outbound policy: packets that match go to this SA (make before break: a second add replaces it). Each loop has its
 * own, for the SAs that it owns; one that has none for an equal selector hands its packets to the loop that has. */
int gw_dp_policy_set(gw_dp *dp, const gw_selector *selector, uint32_t spi, gw_err *err);
int gw_dp_policy_del(gw_dp *dp, const gw_selector *selector, gw_err *err);

/* Loop counters. "stage" is in clock cycles of gw_cycles(), summed since start. */
#define GW_STAGE_TUN_READ  0
#define GW_STAGE_SEGMENT   1
#define GW_STAGE_SEAL      2
#define GW_STAGE_SEND      3
#define GW_STAGE_RECV      4
#define GW_STAGE_OPEN      5
#define GW_STAGE_COALESCE  6
#define GW_STAGE_TUN_WRITE 7
#define GW_STAGE_WAIT      8 /* in poll */
#define GW_STAGE_OTHER     9
#define GW_STAGES          10
const char *gw_stage_name(int stage);
uint64_t gw_cycles(void);

#define GW_HIST_BUCKETS 9 /* 1, 2, 3-4, 5-8, 9-16, 17-32, 33-64, 65-128, more */

typedef struct gw_loop_counters {
	uint64_t tun_reads, tun_read_bytes, tun_read_gso;         /* gso: reads that held a super-packet */
	uint64_t tun_writes, tun_write_bytes, tun_write_segments; /* inner packets inside these writes */
	uint64_t tun_write_einval;                                /* fallbacks: written again piece by piece */
	uint64_t udp_sends, udp_send_packets, udp_send_bytes;     /* system calls; ESP packets; payload bytes */
	uint64_t udp_recvs, udp_recv_packets, udp_recv_bytes;
	uint64_t udp_send_errors;     /* packets */
	uint64_t udp_rcvbuf_drops;    /* SO_RXQ_OVFL, and no room on the way to the loop that owns the SA */
	uint64_t gso_fallbacks;       /* UDP_SEGMENT refused at run time */
	uint64_t keepalives, non_esp; /* 1-byte keepalives; non-ESP marker */
	uint64_t wakeups, spins;
	uint64_t coalesce_bad_checksum;
	uint64_t mss_clamped;             /* SYNs, both directions */
	uint64_t peer_moves;              /* GW_SA_ROAM: a peer was found at another address or port */
	uint64_t udp_send_too_big;        /* of udp_send_errors: EMSGSIZE; the path MTU is learnt from it */
	uint64_t coalesce_off;            /* 1: the TUN refused super-packets again and again; none is made any more */
	uint64_t handed_over, taken_over; /* packets whose SA another loop owns: given to it; got from others */
	uint64_t drops[18];               /* those without an SA */
	uint64_t stage_cycles[10];
	uint64_t seal_batch_hist[9], open_batch_hist[9];
	uint64_t cpu_ns; /* CLOCK_THREAD_CPUTIME_ID of the loop */
	uint64_t started_ns, now_ns;
} gw_loop_counters;

int gw_dp_loop_read(gw_dp *dp, uint32_t loop, gw_loop_counters *out);
/* Consistent per SA. Returns how many were written. */
size_t gw_dp_sa_read(gw_dp *dp, gw_sa_counters *out, size_t max);
/* The fd (memfd) of a loop's counter page, for another process to map read-only; layout in core/counters.h. */
int gw_dp_counters_fd(gw_dp *dp, uint32_t loop);

/* The same counters in another process, which was handed that fd and has no gw_dp: a reader that neither the loop nor
 * its control plane notices. The fd may be closed after gw_page_open. */
typedef struct gw_page gw_page;
gw_page *gw_page_open(int fd, gw_err *err); /* NULL: no counter page, or one of another version */
uint32_t gw_page_max_sas(const gw_page *page);
/* 0, or -EAGAIN when the writer was killed inside and the numbers are torn. */
int gw_page_loop_read(const gw_page *page, gw_loop_counters *out);
/* Consistent per SA. Returns how many were written. */
size_t gw_page_sa_read(const gw_page *page, gw_sa_counters *out, size_t max);
void gw_page_close(gw_page *page); /* safe on NULL */

/* ---- benches (csrc/bench), no allocation while timed ---------------------------------------------------------- */

typedef struct gw_bench_sample {
	double ns;      /* wall time of the timed part */
	double cycles;  /* 0 when no counter is readable */
	uint64_t bytes; /* processed */
	uint64_t ops;
} gw_bench_sample;

/* Runs impl on n ops of `bytes` each, for at least min_ns. dir as gw_impl_run. */
int gw_bench_impl(const gw_impl *impl, int dir, size_t key_len, size_t bytes, size_t batch, uint64_t min_ns,
				  gw_bench_sample *out, gw_err *err);
/* Seals (dir 1) or opens (dir 0) packets of inner_len bytes in batches, for at least min_ns. */
int gw_bench_esp(int suite, const char *impl, int dir, size_t inner_len, size_t batch, size_t n_sas, uint64_t min_ns,
				 gw_bench_sample *out, gw_err *err);
/* The same, with `run` packets of an SA at a time; the SAs come in random order. */
int gw_bench_esp_runs(int suite, const char *impl, int dir, size_t inner_len, size_t batch, size_t n_sas, size_t run,
					  uint64_t min_ns, gw_bench_sample *out, gw_err *err);

/* Makes n SAs (fresh keys, drawn before), which is what is timed, and frees them. */
int gw_bench_sa_setup(int suite, const char *impl, size_t n, gw_bench_sample *out, gw_err *err);

/* Kernel drivers (tag "af_alg") with `depth` requests under way, for at least min_ns. latency_ns has room for
 * *latencies and gets as many of the first requests' times; cpu_ns: this thread's. Not in gwnode. */
int gw_bench_af_alg(const gw_impl *impl, int dir, size_t key_len, size_t bytes, size_t depth, uint64_t min_ns,
					gw_bench_sample *out, uint64_t *cpu_ns, uint32_t *latency_ns, size_t *latencies, gw_err *err);

/* How packets are handed to a thread that seals them (esp/offload.h). INLINE: they are not. */
#define GW_HANDOVER_INLINE 0
#define GW_HANDOVER_MUTEX  1 /* mutex and condition variable: who waits sleeps */
#define GW_HANDOVER_SPIN   2 /* spinlock: who waits spins */
#define GW_HANDOVER_RING   3 /* lock-free ring of one producer and one consumer: who waits spins */
/* Seals jobs of `batch` packets through an offload queue, `depth` under way, for at least min_ns; what was sealed last
 * is opened. cpu_ns[2]: of the thread that hands over, of the one that seals. latency_ns as in gw_bench_af_alg. */
int gw_bench_engine(int suite, const char *impl, int strategy, size_t inner_len, size_t batch, size_t depth,
					uint64_t min_ns, gw_bench_sample *out, uint64_t *cpu_ns, uint32_t *latency_ns, size_t *latencies,
					gw_err *err);

/* ---- load at a stated rate, and where it arrives (csrc/bench/gen.c, sink.c) ----------------------------------- */

#define GW_GEN_SIZES 64

typedef struct gw_gen_config {
	int fd;           /* a connected UDP socket; stays the caller's */
	gw_sa *sa;        /* NULL: payloads go out as they are; else an outbound SA that seals inner packets */
	gw_addr src, dst; /* with sa: of the inner IPv4 packets, with ports */
	uint32_t n_sizes; /* IP packets, bytes, in turns: 44 to 9216 */
	uint16_t sizes[64];
	uint16_t trial;       /* stands in every packet */
	double packets_per_s; /* 0 = as fast as it goes */
	uint64_t count;       /* packets */
	uint64_t max_ns;      /* ends then at the latest */
	uint32_t train;       /* packets of one length and moment that go as one (UDP_SEGMENT); 1 to 64 */
	uint32_t lose_every;  /* with sa: of so many packets the last is not sent; 0 = none */
	uint32_t hold_every;  /* with sa: of so many packets the last goes after hold_for others; 0 = none */
	uint32_t hold_for;
	gw_sa **sas; /* with sa: packets are sealed by these instead, in random order; the array stays the caller's */
	uint32_t n_sas;
	uint32_t run; /* packets of one of sas at a time, at least 1 */
} gw_gen_config;

typedef struct gw_gen_stats {
	uint64_t numbered; /* packets that were made */
	uint64_t sent, bytes;
	uint64_t failed; /* refused by the socket */
	uint64_t lost, held;
	uint64_t started_ns, ended_ns; /* CLOCK_MONOTONIC */
	uint64_t slipped_ns;           /* the schedule was moved by so much, because the thread did not get to run */
	uint64_t cpu_ns;
	uint32_t last_errno;
	uint32_t pad0;
} gw_gen_stats;

typedef struct gw_gen gw_gen;
/* A thread begins at once. The SA is the generator's alone until it is finished. NULL with *err. */
gw_gen *gw_gen_start(const gw_gen_config *config, gw_err *err);
int gw_gen_done(const gw_gen *gen);
/* Stops it where it still runs, says what it did (out may be NULL), frees it. Safe on NULL. */
void gw_gen_finish(gw_gen *gen, gw_gen_stats *out);

#define GW_LATENCY_BUCKETS 2048

typedef struct gw_sink_config {
	int fd;       /* a UDP socket; stays the caller's */
	uint32_t spi; /* 0 = payloads of gw_gen; else ESP, counted by number */
	gw_sa *sa;    /* inbound: opens the sample that is compared; NULL = none */
} gw_sink_config;

typedef struct gw_sink_stats {
	uint64_t packets, bytes;
	uint64_t foreign;        /* of another trial or stream */
	uint64_t reordered;      /* came after one with a higher number */
	uint64_t checked, wrong; /* content compared; and found to differ, or not authentic */
	uint64_t socket_drops;
	uint64_t receives;
	uint64_t last_ns; /* CLOCK_MONOTONIC, of the last receive */
	uint64_t cpu_ns;  /* since the sink began */
	uint64_t latencies, latency_sum_ns, latency_min_ns, latency_max_ns;
} gw_sink_stats;

typedef struct gw_sink gw_sink;
gw_sink *gw_sink_start(const gw_sink_config *config, gw_err *err);
/* Counts from 0 again. check_every: one of so many packets has its content compared. times: latencies are taken, by
 * the kernel's receive stamps; of ESP, of those that are compared. */
void gw_sink_trial(gw_sink *sink, uint16_t trial, uint32_t check_every, int times);
/* histogram: room for GW_LATENCY_BUCKETS, or NULL. */
void gw_sink_read(gw_sink *sink, gw_sink_stats *out, uint64_t *histogram);
void gw_sink_free(gw_sink *sink);        /* safe on NULL */
uint64_t gw_latency_ns(uint32_t bucket); /* least value of a bucket; 64 buckets an octave */

/* <<< cffi */

#ifdef __cplusplus
}
#endif
#endif
