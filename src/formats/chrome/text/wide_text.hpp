// Text compared 16 bytes at a time.
#pragma once

#include <cstddef>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace npuscope::chrome {

inline constexpr std::size_t step_bytes = 16;

#ifdef __SSE2__
inline __m128i step_at(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// Up to a step behind either is read.
inline bool same_text(const char* a, const char* b, std::size_t size) {
  for (; size > step_bytes; size -= step_bytes, a += step_bytes, b += step_bytes) [[unlikely]] {
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(step_at(a), step_at(b))) != 0xffff) return false;
  }
  const auto equal = unsigned(_mm_movemask_epi8(_mm_cmpeq_epi8(step_at(a), step_at(b))));
  return (~equal & ((1u << size) - 1)) == 0;
}
#else
inline bool same_text(const char* a, const char* b, std::size_t size) {
  return std::memcmp(a, b, size) == 0;
}
#endif

}  // namespace npuscope::chrome
