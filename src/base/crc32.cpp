#include "base/crc32.hpp"

#include <zlib.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace npuscope {
namespace {

std::uint32_t crc32_of_zlib(std::uint32_t before, std::span<const char> bytes) {
  return std::uint32_t(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

#ifdef __x86_64__
// Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Intel,
// 2009): 64 bytes are folded into the 64 that follow, the rest is reduced after Barrett. Constants
// are powers of x modulo the polynomial, bits reflected.
constexpr std::size_t lane_bytes = 16, fold_bytes = 4 * lane_bytes;

__attribute__((target("pclmul,sse4.1"))) __m128i folded(__m128i lane, __m128i by) {
  return _mm_xor_si128(_mm_clmulepi64_si128(lane, by, 0x00), _mm_clmulepi64_si128(lane, by, 0x11));
}

// At least fold_bytes, and whole lanes; `before` and the result without zlib's complement.
__attribute__((target("pclmul,sse4.1"))) std::uint32_t crc32_of_lanes(std::uint32_t before,
                                                                      std::span<const char> bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  const auto next = [&] {
    const __m128i lane = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    at += lane_bytes;
    return lane;
  };
  const __m128i by_four = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
  const __m128i by_one = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  __m128i first = _mm_xor_si128(next(), _mm_cvtsi32_si128(int(before)));
  __m128i second = next(), third = next(), fourth = next();
  while (std::size_t(end - at) >= fold_bytes) {
    first = _mm_xor_si128(folded(first, by_four), next());
    second = _mm_xor_si128(folded(second, by_four), next());
    third = _mm_xor_si128(folded(third, by_four), next());
    fourth = _mm_xor_si128(folded(fourth, by_four), next());
  }
  __m128i sum = _mm_xor_si128(folded(first, by_one), second);
  sum = _mm_xor_si128(folded(sum, by_one), third);
  sum = _mm_xor_si128(folded(sum, by_one), fourth);
  while (at != end) sum = _mm_xor_si128(folded(sum, by_one), next());
  // 128 bits to 64, and those to 32.
  const __m128i low = _mm_setr_epi32(~0, 0, ~0, 0);
  sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, by_one, 0x10));
  const __m128i to_96 = _mm_set_epi64x(0, 0x0163cd6124);
  sum = _mm_xor_si128(_mm_srli_si128(sum, 4),
                      _mm_clmulepi64_si128(_mm_and_si128(sum, low), to_96, 0x00));
  const __m128i polynomial_and_inverse = _mm_set_epi64x(0x01f7011641, 0x01db710641);
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(sum, low), polynomial_and_inverse, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low), polynomial_and_inverse, 0x00);
  return std::uint32_t(_mm_extract_epi32(_mm_xor_si128(sum, quotient), 1));
}
#endif

}  // namespace

std::uint32_t crc32_with(std::uint32_t before, std::span<const char> bytes) {
#ifdef __x86_64__
  static const bool has_products =
      __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
  if (has_products && bytes.size() >= fold_bytes) {
    const std::size_t lanes = bytes.size() / lane_bytes * lane_bytes;
    before = ~crc32_of_lanes(~before, bytes.first(lanes));
    bytes = bytes.subspan(lanes);
  }
#endif
  return crc32_of_zlib(before, bytes);
}

}  // namespace npuscope
