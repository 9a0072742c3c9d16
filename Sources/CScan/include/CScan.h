// Sixteen bytes at a time: where a JSON string or a run of white space ends, and whether bytes are UTF-8.
// Swift has no movemask; these few functions are all that needs it. They are inlined into their callers.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define CONCORD_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define CONCORD_INLINE static inline __attribute__((always_inline))

/// The index of the first byte at or after `i` that is `"`, `\` or a control character; `n` where there is none.
/// `*high` becomes true where a byte before it is not ASCII.
CONCORD_INLINE size_t concord_string_stop(const uint8_t *p, size_t i, size_t n, bool *high) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);
    while (i + 16 <= n) {
        __m128i v = _mm_loadu_si128((const __m128i *)(p + i));
        __m128i stop = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                                    _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
        unsigned found = (unsigned)_mm_movemask_epi8(stop), not_ascii = (unsigned)_mm_movemask_epi8(v);
        if (found) {
            unsigned at = (unsigned)__builtin_ctz(found);
            if (not_ascii & ((1u << at) - 1)) *high = true;
            return i + at;
        }
        if (not_ascii) *high = true;
        i += 16;
    }
#endif
    for (; i < n; i++) {
        uint8_t b = p[i];
        if (b == '"' || b == '\\' || b < 0x20) return i;
        if (b & 0x80) *high = true;
    }
    return n;
}

/// The index of the first byte at or after `i` that is not JSON white space; `n` where there is none.
CONCORD_INLINE size_t concord_space_stop(const uint8_t *p, size_t i, size_t n) {
    if (i < n && p[i] > 0x20) return i;
#if defined(__SSE2__)
    const __m128i space = _mm_set1_epi8(' '), feed = _mm_set1_epi8('\n'), ret = _mm_set1_epi8('\r'), tab = _mm_set1_epi8('\t');
    while (i + 16 <= n) {
        __m128i v = _mm_loadu_si128((const __m128i *)(p + i));
        __m128i white = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, space), _mm_cmpeq_epi8(v, feed)),
                                     _mm_or_si128(_mm_cmpeq_epi8(v, ret), _mm_cmpeq_epi8(v, tab)));
        unsigned other = ~(unsigned)_mm_movemask_epi8(white) & 0xffff;
        if (other) return i + (unsigned)__builtin_ctz(other);
        i += 16;
    }
#endif
    for (; i < n; i++) {
        uint8_t b = p[i];
        if (b != ' ' && b != '\n' && b != '\r' && b != '\t') return i;
    }
    return n;
}

/// The index of the first byte in `i..<n` that does not belong to well-formed UTF-8 (RFC 3629: no surrogates, no
/// over-long forms, nothing above U+10FFFF); `n` where all of it does.
CONCORD_INLINE size_t concord_utf8_stop(const uint8_t *p, size_t i, size_t n) {
    while (i < n) {
        uint8_t b = p[i];
        if (b < 0x80) {
            uint64_t w;
            while (i + 8 <= n) {
                memcpy(&w, p + i, 8);
                if (w & 0x8080808080808080ull) break;
                i += 8;
            }
            while (i < n && p[i] < 0x80) i++;
        } else if (b >= 0xe1 && b <= 0xec) { // the common three bytes: no special second byte
#if CONCORD_LITTLE_ENDIAN
            while (i + 8 <= n) { // two at a time
                uint64_t w;
                memcpy(&w, p + i, 8);
                if ((w & 0x0000c0c0f0c0c0f0ull) != 0x00008080e08080e0ull) break;
                const unsigned one = w & 0xf, two = (w >> 24) & 0xf;
                if (one == 0 || one == 0xd || two == 0 || two == 0xd) break;
                i += 6;
            }
            if (i >= n || p[i] < 0xe1 || p[i] > 0xec) continue;
#endif
            if (i + 3 > n || (p[i + 1] & 0xc0) != 0x80 || (p[i + 2] & 0xc0) != 0x80) return i;
            i += 3;
        } else if (b < 0xe0) {
#if CONCORD_LITTLE_ENDIAN
            while (i + 8 <= n) { // four at a time; the sum finds the leads C0 and C1
                uint64_t w;
                memcpy(&w, p + i, 8);
                if ((w & 0xc0e0c0e0c0e0c0e0ull) != 0x80c080c080c080c0ull) break;
                if ((((w & 0x001e001e001e001eull) + 0x00fe00fe00fe00feull) & 0x0100010001000100ull) != 0x0100010001000100ull) break;
                i += 8;
            }
            if (i >= n || p[i] < 0x80 || p[i] >= 0xe0) continue;
            b = p[i];
#endif
            if (b < 0xc2 || i + 2 > n || (p[i + 1] & 0xc0) != 0x80) return i;
            i += 2;
        } else if (b < 0xf0) {
            if (i + 3 > n || (p[i + 1] & 0xc0) != 0x80 || (p[i + 2] & 0xc0) != 0x80) return i;
            if ((b == 0xe0 && p[i + 1] < 0xa0) || (b == 0xed && p[i + 1] > 0x9f)) return i;
            i += 3;
        } else {
            if (b > 0xf4 || i + 4 > n || (p[i + 1] & 0xc0) != 0x80 || (p[i + 2] & 0xc0) != 0x80 || (p[i + 3] & 0xc0) != 0x80) return i;
            if ((b == 0xf0 && p[i + 1] < 0x90) || (b == 0xf4 && p[i + 1] > 0x8f)) return i;
            i += 4;
        }
    }
    return n;
}

/// Whether `n` bytes are well-formed UTF-8: several times as fast as looking for the place of a fault.
bool concord_is_utf8(const uint8_t *p, size_t n);

/// How many bytes `a` and `b` have in common at their beginning; at most `n`.
CONCORD_INLINE size_t concord_common(const uint8_t *a, const uint8_t *b, size_t n) {
    size_t i = 0;
#if defined(__SSE2__)
    for (; i + 16 <= n; i += 16) {
        __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(a + i)), _mm_loadu_si128((const __m128i *)(b + i)));
        unsigned other = ~(unsigned)_mm_movemask_epi8(same) & 0xffff;
        if (other) return i + (unsigned)__builtin_ctz(other);
    }
#endif
    while (i < n && a[i] == b[i]) i++;
    return i;
}

/// The index at or after `i` at which the `k` bytes of `needle` stand; `n` where they do not.
CONCORD_INLINE size_t concord_find(const uint8_t *p, size_t i, size_t n, const uint8_t *needle, size_t k) {
    while (k > 0 && i + k <= n) {
        const uint8_t *at = memchr(p + i, needle[0], n - k + 1 - i);
        if (!at) break;
        i = (size_t)(at - p);
        if (memcmp(at, needle, k) == 0) return i;
        i++;
    }
    return n;
}

/// Memory for `n` bytes that are going to be filled, to be given back by `free`; NULL where there is none. Much of it comes in
/// large pages: filling 50 MB otherwise spends most of its time in 12,000 page faults.
CONCORD_INLINE void *concord_allocate(size_t n) {
#if defined(MADV_HUGEPAGE)
    const size_t page = 2u << 20;
    if (n >= page / 4) {
        const size_t whole = (n + page - 1) & ~(page - 1);
        void *p = aligned_alloc(page, whole);
        if (p) madvise(p, whole, MADV_HUGEPAGE);
        return p;
    }
#endif
    return malloc(n ? n : 1);
}

/// A hash of `n` bytes, good enough for a table of keys; not for untrusted growth (tables are bounded by the file's size).
CONCORD_INLINE uint64_t concord_hash(const uint8_t *p, size_t n) {
    uint64_t h = 0x9e3779b97f4a7c15ull ^ n, w;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(&w, p + i, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    w = 0;
    memcpy(&w, p + i, n - i);
    h = (h ^ w) * 0xc4ceb9fe1a85ec53ull;
    return h ^ (h >> 29);
}
