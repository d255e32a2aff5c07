// Which end belongs to which begin. On each track, in the order of time (and of the file at the
// same time), an end with a name takes the innermost open begin of that name, one without a name
// the innermost of all.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "formats/chrome/events.hpp"
#include "formats/chrome/numbering.hpp"
#include "formats/chrome/parse/chunk_table.hpp"
#include "formats/chrome/problems.hpp"
#include "npuscope/profile/arguments.hpp"

namespace npuscope::chrome {

// Makes the arguments of rows from those that one or several rows of other tables have.
class ArgumentMerger {
 public:
  // Shapes of `into` are numbered by `shapes`.
  ArgumentMerger(Arguments& into, ShapeTable& shapes) : into_(into), shapes_(shapes) {}

  // More arguments for the next row, behind those that it has; of a key that it has, the new value
  // counts. `shape_of` numbers the shapes of `from` in `shapes`; empty: they are the same.
  void take(const Arguments& from, std::size_t from_row,
            const std::vector<std::uint32_t>& shape_of = {});
  // What was taken is of this row, which comes after the last.
  void put(std::size_t row);

 private:
  void append(std::uint32_t added_shape, const ArgumentRow& added);

  Arguments& into_;
  ShapeTable& shapes_;
  std::uint32_t shape_ = 0;
  std::vector<std::uint64_t> bits_;
};

constexpr std::uint32_t unmatched = std::numeric_limits<std::uint32_t>::max();

struct Boundary {
  std::uint64_t track = 0;
  std::int64_t time = 0;
  StringId name{};
  std::uint32_t row = 0;  // of the caller
  bool is_end = false;
};

// For each boundary the place in `boundaries` of the one it belongs to, or `unmatched`. They come
// in file order. `cut_at`, where it is asked for: of each begin when the first slice around it
// ended before it, or `not_cut`; empty where no slice did.
constexpr std::int64_t not_cut = std::numeric_limits<std::int64_t>::min();
std::vector<std::uint32_t> pair_boundaries(std::span<const Boundary> boundaries,
                                           std::vector<std::int64_t>* cut_at = nullptr);

// E events, which end the slices that B events have begun.
struct Ends {
  Column<std::uint32_t> thread;
  Column<StringId> name;
  Column<std::int64_t> time;
  Column<std::uint32_t> slices_before;  // how many slices stand before it in the file
  Arguments arguments;

  std::size_t size() const { return thread.size(); }
};

// Gives each unfinished slice its duration and the arguments of its end behind its own; one
// without an end lasts until the slice around it ends, or its thread's last event. `shapes` are
// those of both.
void pair_begins_and_ends(Slices& slices, const Ends& ends, ShapeTable& shapes, Problems& problems);

}  // namespace npuscope::chrome
