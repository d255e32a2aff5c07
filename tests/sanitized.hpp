// A test of many rounds takes a third of them under a sanitizer, which looks for faults of memory
// in code that the first rounds reach; the plain suite runs them all.
//
//   for (std::uint64_t seed = 1; seed <= rounds(6); ++seed) ...   // 6, or 2 when sanitized
//   if (!takes(cut)) continue;                                    // 0, 3, 6 … when sanitized
#pragma once

#include <cstddef>
#include <cstdint>

namespace npuscope::test_support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)  // clang's word for it
inline constexpr bool sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

constexpr std::uint64_t rounds(std::uint64_t plain) { return sanitized ? (plain + 2) / 3 : plain; }

// Whether it tries the item, of a list that is no random one.
constexpr bool takes(std::size_t item) { return !sanitized || item % 3 == 0; }

}  // namespace npuscope::test_support
