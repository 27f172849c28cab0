/* SPDX-License-Identifier: MIT
 * NEON intrinsics for 32-bit ARM without per-file flags: include before every other header, end the file with
 * neon_end.h. The functions in between are compiled for NEON (inline ones from headers too: compilers do not inline
 * across targets); the implementation table guards their use.
 */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("neon"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=armv7-a+simd")
#endif
#include <arm_neon.h>
