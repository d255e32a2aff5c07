#include "profile/rows_by_unit.hpp"

#include <tuple>
#include <vector>

#include "base/parallel.hpp"

namespace npuscope {

RowsByUnit::RowsByUnit(const Profile& profile)
    : rows_(profile.spans.size(), profile.units.size() + 1, [&](std::size_t row) {
        return std::min<std::size_t>(index_of(profile.spans.unit[row]), profile.units.size());
      }) {
  struct Place {
    std::int64_t start, duration;
    std::uint32_t row;
    bool operator<(const Place& other) const {
      return std::tuple(start, other.duration, row) < std::tuple(other.start, duration, other.row);
    }
  };
  const Spans& spans = profile.spans;
  const auto place_of = [&](std::uint32_t row) {
    return Place{spans.start[row], spans.duration[row], row};
  };
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return place_of(a) < place_of(b); };
  parallel_for(rows_.groups(), [&](std::size_t unit) {
    const std::span<std::uint32_t> rows = rows_.of(unit);
    if (std::is_sorted(rows.begin(), rows.end(), before)) return;
    std::vector<Place> places(rows.size());
    std::ranges::transform(rows, places.begin(), place_of);
    std::sort(places.begin(), places.end());
    std::ranges::transform(places, rows.begin(), &Place::row);
  });
}

}  // namespace npuscope
