#include "npuscope/analysis/spill.hpp"

#include <algorithm>

#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

std::optional<std::int64_t> SpillSide::hidden() const {
  if (!exposed) return std::nullopt;
  return std::max<std::int64_t>(0, saturating_subtract(work, *exposed));
}

namespace {

enum class Side : std::uint8_t { neither, spill, fill };

Side side_of_name(std::string_view kind, Engine engine) {
  if (kind == "@Spill") return Side::spill;
  if (kind == "@Fill") return Side::fill;
  if (!kind.starts_with("q::")) return Side::neither;
  if (kind.find("Spill") != kind.npos) return Side::spill;
  const bool moves = engine == Engine::none || domain_of(engine) == Domain::movement;
  return moves && kind.find("Fill") != kind.npos ? Side::fill : Side::neither;
}

bool is_copy(std::string_view kind, std::string_view word) {
  return kind.starts_with("aiccopy") && kind.find(word) != kind.npos;
}

std::vector<Side> sides_of(const Profile& profile) {
  std::vector<Side> sides;
  for (const Op& op : profile.ops) {
    sides.push_back(side_of_name(profile.text(op.kind), op.engine));
  }
  for (const Edge& edge : profile.edges) {
    const std::size_t from = index_of(edge.from), to = index_of(edge.to);
    if (edge.kind != EdgeKind::data || from >= sides.size() || to >= sides.size()) continue;
    const bool pair = is_copy(profile.text(profile.ops[from].kind), "fromvtcm") &&
                      is_copy(profile.text(profile.ops[to].kind), "tovtcm");
    if (!pair) continue;
    sides[from] = Side::spill;
    sides[to] = Side::fill;
  }
  return sides;
}

class SpillAnalysis {
 public:
  SpillAnalysis(const Profile& profile, const OpTraffic& traffic)
      : profile_(profile), traffic_(traffic), sides_(sides_of(profile)) {}

  Spill finish() {
    for (const Side side : sides_) {
      if (side != Side::neither) (side == Side::spill ? spill_.spill : spill_.fill).ops += 1;
    }
    if (!spill_.any()) return std::move(spill_);
    find_dominant_path();
    add_spans();
    add_alone();
    pair();
    return std::move(spill_);
  }

 private:
  Side side_of(std::size_t row) const {
    const std::size_t op = index_of(profile_.spans.op[row]);
    return op < sides_.size() ? sides_[op] : Side::neither;
  }

  void find_dominant_path() {
    for (const MeasureColumn& measure : profile_.spans.measures) {
      if (measure.kind != MeasureKind::dominant_path) continue;
      if (measure.values.size() != profile_.spans.size()) continue;
      if (path_ == nullptr || path_->origin == Origin::derived) path_ = &measure;
    }
    if (path_ == nullptr || path_->clock != profile_.base_clock) path_ = nullptr;
  }

  void add_spans() {
    extents_.assign(sides_.size(), std::nullopt);
    bytes_.assign(sides_.size(), 0);
    for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
      const Side which = side_of(row);
      if (which == Side::neither || role_of(profile_.spans.kind[row]) != Role::work) continue;
      SpillSide& side = which == Side::spill ? spill_.spill : spill_.fill;
      const Interval interval = interval_of(profile_.spans, row);
      side.instances += 1;
      side.work = saturating_add(side.work, length_of(interval));
      if (path_ != nullptr && path_->values[row] != MeasureColumn::missing) {
        add(side.exposed, path_->values[row]);
      }
      const std::size_t op = index_of(profile_.spans.op[row]);
      for (std::size_t route = 0; route < route_count; ++route) {
        if (!traffic_.of_spans_known(Route(route))) continue;
        const std::int64_t moved = traffic_.of_span(Route(route), row);
        add(side.bytes[route], moved);
        const Route mine = which == Side::spill ? Route::ddr_write : Route::ddr_read;
        if (Route(route) == mine) bytes_[op] = saturating_add(bytes_[op], moved);
      }
      auto& extent = extents_[op];
      if (!extent) extent = interval;
      extent->begin = std::min(extent->begin, interval.begin);
      extent->end = std::max(extent->end, interval.end);
    }
  }

  void add_alone() {
    std::vector<Interval> others, spills, fills;
    for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
      if (role_of(profile_.spans.kind[row]) != Role::work) continue;
      const Side side = side_of(row);
      auto& of_side = side == Side::neither ? others : side == Side::spill ? spills : fills;
      of_side.push_back(interval_of(profile_.spans, row));
    }
    const IntervalSet beside = union_of(std::move(others));
    spill_.spill.alone = length_of(difference_of(union_of(std::move(spills)), beside));
    spill_.fill.alone = length_of(difference_of(union_of(std::move(fills)), beside));
  }

  void pair() {
    std::vector<bool> paired(sides_.size(), false);
    for (const Edge& edge : profile_.edges) {
      const std::size_t from = index_of(edge.from), to = index_of(edge.to);
      if (edge.kind != EdgeKind::data || from >= sides_.size() || to >= sides_.size()) continue;
      spill_.has_edges = true;
      if (sides_[from] != Side::spill || sides_[to] != Side::fill) continue;
      paired[from] = paired[to] = true;
      SpillPair pair{edge.from, edge.to, bytes_[to], std::nullopt};
      if (extents_[from] && extents_[to]) {
        pair.away = saturating_subtract(extents_[to]->begin, extents_[from]->end);
      }
      spill_.pairs.push_back(pair);
    }
    for (std::size_t op = 0; op < sides_.size(); ++op) {
      if (paired[op]) continue;
      spill_.unpaired_spills += sides_[op] == Side::spill;
      spill_.unpaired_fills += sides_[op] == Side::fill;
    }
    std::stable_sort(spill_.pairs.begin(), spill_.pairs.end(),
                     [](const SpillPair& a, const SpillPair& b) { return a.bytes > b.bytes; });
  }

  const Profile& profile_;
  const OpTraffic& traffic_;
  std::vector<Side> sides_;  // by op
  const MeasureColumn* path_ = nullptr;
  std::vector<std::optional<Interval>> extents_;  // by op
  std::vector<std::int64_t> bytes_;               // by op
  Spill spill_;
};

}  // namespace

Spill analyse_spill(const Profile& profile, const OpTraffic& traffic) {
  return SpillAnalysis(profile, traffic).finish();
}

}  // namespace npuscope::analysis
