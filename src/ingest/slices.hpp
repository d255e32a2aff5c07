// Slices as they nest on a track: which one lies around a moment, and which begins next.
//
//   SliceFinder finder({spans.start, spans.duration}, rows);
//   finder.enclosing(25)   // the innermost row at that time
//   finder.next(25)        // the first that begins then or later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace npuscope {

inline constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();

// Stacks of open slices are not searched deeper: a hostile file would make that quadratic.
inline constexpr std::size_t deepest_search = 4096;

struct SliceTimes {
  std::span<const std::int64_t> start, duration;
};

// Finds slices of one track at times that only grow.
class SliceFinder {
 public:
  // Rows in nesting order: by start, the longest first.
  SliceFinder(SliceTimes times, std::span<const std::uint32_t> rows) : times_(times), rows_(rows) {}

  // The innermost slice at this time; else one that ends just then; no_row. A slice of no length
  // that begins just then counts where it is among the first `rows_before` of the file.
  std::uint32_t enclosing(std::int64_t time, std::uint32_t rows_before = no_row) {
    for (; next_ < rows_.size() && start(rows_[next_]) <= time; ++next_) {
      close(start(rows_[next_]));
      open_.push_back(rows_[next_]);
    }
    close(time);
    std::uint32_t just_ended = no_row, behind = no_row;
    const std::size_t depth = std::min(open_.size(), deepest_search);
    for (std::size_t i = 0; i < depth; ++i) {
      const std::uint32_t row = open_[open_.size() - 1 - i];
      const bool begins_now = start(row) == time;
      if (end(row) > time || (begins_now && row < rows_before)) return row;
      if (begins_now) behind = row;  // the first of them in the end
      if (end(row) == time && !begins_now && just_ended == no_row) just_ended = row;
    }
    return behind != no_row ? behind : just_ended;
  }

  // The first slice that starts at this time or later; no_row.
  std::uint32_t next(std::int64_t time) {
    while (following_ < rows_.size() && start(rows_[following_]) < time) ++following_;
    return following_ < rows_.size() ? rows_[following_] : no_row;
  }

 private:
  std::int64_t start(std::uint32_t row) const { return times_.start[row]; }
  std::int64_t end(std::uint32_t row) const { return start(row) + times_.duration[row]; }
  void close(std::int64_t time) {
    while (!open_.empty() && end(open_.back()) < time) open_.pop_back();
  }

  SliceTimes times_;
  std::span<const std::uint32_t> rows_;
  std::size_t next_ = 0, following_ = 0;
  std::vector<std::uint32_t> open_;
};

}  // namespace npuscope
