// A column of a table: a vector whose resize() leaves new rows unwritten, so that a reader that
// knows how many rows come can make room at once and fill it from several threads. Clearing the
// room first would cost as much as filling it. Whoever resizes writes every new row.
//
//   Column<std::int64_t> start;
//   start.resize(rows);
//   parallel_for(parts, [&](std::size_t part) { … start[row] = …; });
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace npuscope {

template <class T>
struct UnwrittenAllocator : std::allocator<T> {
  static_assert(std::is_trivially_copyable_v<T>);
  template <class Other>
  struct rebind {
    using other = UnwrittenAllocator<Other>;
  };

  UnwrittenAllocator() = default;
  template <class Other>
  UnwrittenAllocator(const UnwrittenAllocator<Other>&) noexcept {}

  void construct(T* row) noexcept { ::new (static_cast<void*>(row)) T; }
  template <class... Args>
  void construct(T* row, Args&&... args) {
    ::new (static_cast<void*>(row)) T(std::forward<Args>(args)...);
  }
};

template <class T>
using Column = std::vector<T, UnwrittenAllocator<T>>;

}  // namespace npuscope

// Where each file compiled its own, the linker took that of one compiled to build fast, which walks
// over all rows to destroy each.
extern template class std::vector<std::byte, npuscope::UnwrittenAllocator<std::byte>>;
extern template class std::vector<std::int64_t, npuscope::UnwrittenAllocator<std::int64_t>>;
extern template class std::vector<std::uint64_t, npuscope::UnwrittenAllocator<std::uint64_t>>;
extern template class std::vector<std::uint32_t, npuscope::UnwrittenAllocator<std::uint32_t>>;
