// UTF-8, 32 bytes at a time, after "Validating UTF-8 In Less Than One Instruction Per Byte" (Keiser and Lemire, 2020).
//
// Whether two bytes may stand beside each other is looked up: the high and the low half of the first byte and the high
// half of the second each name the errors that they allow; an error that all three name is one. What three and four
// bytes ask for is compared with that.
#include "CScan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif

enum {
    too_short = 1 << 0,   // a lead, and no continuation behind it
    too_long = 1 << 1,    // ASCII, and a continuation behind it
    overlong_3 = 1 << 2,  // E0, and less than A0
    too_large = 1 << 3,   // F4 and more than 8F, or F5 and above
    surrogate = 1 << 4,   // ED, and more than 9F
    overlong_2 = 1 << 5,  // C0 and C1
    overlong_4 = 1 << 6,  // F0, and less than 90; also F5 and above with 8x
    two_continuations = 1 << 7,
    any_first = too_short | too_long | two_continuations,
};

__attribute__((target("avx2"))) static bool is_utf8_avx2(const uint8_t *p, size_t n) {
    const __m256i first_high = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        too_long, too_long, too_long, too_long, too_long, too_long, too_long, too_long,
        (char)two_continuations, (char)two_continuations, (char)two_continuations, (char)two_continuations,
        too_short | overlong_2, too_short, too_short | overlong_3 | surrogate, too_short | too_large | overlong_4));
    const __m256i first_low = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        (char)(any_first | overlong_3 | overlong_2 | overlong_4), (char)(any_first | overlong_2), (char)any_first, (char)any_first,
        (char)(any_first | too_large), (char)(any_first | too_large | overlong_4), (char)(any_first | too_large | overlong_4),
        (char)(any_first | too_large | overlong_4), (char)(any_first | too_large | overlong_4), (char)(any_first | too_large | overlong_4),
        (char)(any_first | too_large | overlong_4), (char)(any_first | too_large | overlong_4), (char)(any_first | too_large | overlong_4),
        (char)(any_first | too_large | overlong_4 | surrogate), (char)(any_first | too_large | overlong_4),
        (char)(any_first | too_large | overlong_4)));
    const __m256i second_high = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        too_short, too_short, too_short, too_short, too_short, too_short, too_short, too_short,
        (char)(too_long | overlong_2 | two_continuations | overlong_3 | overlong_4),
        (char)(too_long | overlong_2 | two_continuations | overlong_3 | too_large),
        (char)(too_long | overlong_2 | two_continuations | surrogate | too_large),
        (char)(too_long | overlong_2 | two_continuations | surrogate | too_large), too_short, too_short, too_short, too_short));
    const __m256i nibble = _mm256_set1_epi8(0x0f);
    // A block may end in less of a character than it began with: more than these in its last three places.
    const __m256i whole = _mm256_setr_epi8(
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
        (char)0xef, (char)0xdf, (char)0xbf);
    __m256i error = _mm256_setzero_si256(), before = error, open = error;
    uint8_t rest[32] = {0};
    for (size_t i = 0; i < n; i += 32) {
        if (n - i < 32) memcpy(rest, p + i, n - i);
        const __m256i bytes = _mm256_loadu_si256((const __m256i *)(n - i < 32 ? rest : p + i));
        if (_mm256_movemask_epi8(bytes) == 0) {
            error = _mm256_or_si256(error, open);
            open = _mm256_setzero_si256();
        } else {
            const __m256i across = _mm256_permute2x128_si256(before, bytes, 0x21);
            const __m256i one = _mm256_alignr_epi8(bytes, across, 15), two = _mm256_alignr_epi8(bytes, across, 14),
                          three = _mm256_alignr_epi8(bytes, across, 13);
            const __m256i pair = _mm256_and_si256(
                _mm256_and_si256(_mm256_shuffle_epi8(first_high, _mm256_and_si256(_mm256_srli_epi16(one, 4), nibble)),
                                 _mm256_shuffle_epi8(first_low, _mm256_and_si256(one, nibble))),
                _mm256_shuffle_epi8(second_high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble)));
            // The third byte behind a lead of three, and the third and fourth behind one of four, have to be continuations.
            const __m256i wanted = _mm256_or_si256(_mm256_subs_epu8(two, _mm256_set1_epi8((char)0x60)),
                                                   _mm256_subs_epu8(three, _mm256_set1_epi8((char)0x70)));
            error = _mm256_or_si256(error, _mm256_xor_si256(_mm256_and_si256(wanted, _mm256_set1_epi8((char)0x80)), pair));
            open = _mm256_subs_epu8(bytes, whole);
        }
        before = bytes;
    }
    error = _mm256_or_si256(error, open);
    return _mm256_testz_si256(error, error);
}
#endif

bool concord_is_utf8(const uint8_t *p, size_t n) {
#if defined(__x86_64__)
    // The C library has asked the processor already; asking again takes 0.1 ms on a virtual machine.
#if defined(CPU_FEATURE_ACTIVE)
    if (CPU_FEATURE_ACTIVE(AVX2)) return is_utf8_avx2(p, n);
#endif
#endif
    return concord_utf8_stop(p, 0, n) == n;
}
