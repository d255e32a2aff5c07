// A test of many rounds takes a third of them under a sanitizer, which looks for faults of memory
// in code that the first rounds reach; the plain suite runs them all. Asked when the test runs: the
// objects of tests are the same in a build whose layers are sanitized (tests/CMakeLists.txt).
//
//   for (std::uint64_t seed = 1; seed <= rounds(6); ++seed) ...   // 6, or 2 when sanitized
//   if (!takes(cut)) continue;                                    // 0, 3, 6 … when sanitized
#pragma once

#include <cstddef>
#include <cstdint>

// Of the runtimes of sanitizers; null where none is linked.
extern "C" {
[[gnu::weak]] void __asan_init();  // NOLINT: its name
[[gnu::weak]] void __tsan_init();  // NOLINT
}

namespace npuscope::test_support {

inline bool is_sanitized() { return &__asan_init != nullptr || &__tsan_init != nullptr; }

inline std::uint64_t rounds(std::uint64_t plain) {
  return is_sanitized() ? (plain + 2) / 3 : plain;
}

// Whether it tries the item, of a list that is no random one.
inline bool takes(std::size_t item) { return !is_sanitized() || item % 3 == 0; }

}  // namespace npuscope::test_support
