/* SPDX-License-Identifier: MIT
 * The end of what neon.h began.
 */
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
