// Which end belongs to which begin. On each track, in the order of time (and of the file at the
// same time), an end with a name takes the innermost open begin of that name, one without a name
// the innermost of all.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "formats/chrome/events.hpp"
#include "formats/chrome/parse/event_rows.hpp"
#include "formats/chrome/problems.hpp"
#include "formats/chrome/shape_table.hpp"

namespace npuscope::chrome {

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
