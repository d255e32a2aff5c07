#include "npuscope/analysis/spill.hpp"

#include <algorithm>
#include <map>

#include "analysis/answers.hpp"
#include "analysis/ops/row_names.hpp"

#include "base/sort_rows.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

std::optional<std::int64_t> SpillSide::hidden() const {
  if (!exposed) return std::nullopt;
  return std::max<std::int64_t>(0, saturating_subtract(work, *exposed));
}

namespace {

enum class SpillRole : std::uint8_t { neither, spill, fill };

SpillRole side_of_name(std::string_view kind, Engine engine) {
  if (kind == "@Spill") return SpillRole::spill;
  if (kind == "@Fill") return SpillRole::fill;
  if (!kind.starts_with("q::")) return SpillRole::neither;
  if (kind.find("Spill") != kind.npos) return SpillRole::spill;
  const bool moves = engine == Engine::none || domain_of(engine) == Domain::movement;
  return moves && kind.find("Fill") != kind.npos ? SpillRole::fill : SpillRole::neither;
}

bool is_copy(std::string_view kind, std::string_view word) {
  return kind.starts_with("aiccopy") && kind.find(word) != kind.npos;
}

std::vector<SpillRole> sides_of(const Profile& profile) {
  std::vector<SpillRole> sides;
  for (const Op& op : profile.ops) {
    sides.push_back(side_of_name(profile.text(op.kind), op.engine));
  }
  for (const Edge& edge : profile.edges) {
    const std::size_t from = index_of(edge.from), to = index_of(edge.to);
    if (edge.kind != EdgeKind::data || from >= sides.size() || to >= sides.size()) continue;
    const bool pair = is_copy(profile.text(profile.ops[from].kind), "fromvtcm") &&
                      is_copy(profile.text(profile.ops[to].kind), "tovtcm");
    if (!pair) continue;
    sides[from] = SpillRole::spill;
    sides[to] = SpillRole::fill;
  }
  return sides;
}

// Copies of one tensor's tiles have its name with a number; of those that come in order only the
// last may have an edge.
class Tiles {
 public:
  Tiles(const Profile& profile, std::vector<SpillRole>& sides) : profile_(profile) {
    for (std::size_t op = 0; op < sides.size(); ++op) {
      if (sides[op] == SpillRole::spill && is_copy_out(op)) tiles_.emplace(key_of(op), op);
    }
    if (tiles_.empty()) return;
    for (std::size_t op = 0; op < sides.size(); ++op) {
      if (!is_copy_out(op)) continue;
      const auto found = tiles_.find(key_of(op));
      if (found == tiles_.end()) continue;
      sides[op] = SpillRole::spill;
      found->second = std::min(found->second, op);
    }
  }

  // The first copy of the same tensor.
  std::size_t first_of(std::size_t op) const {
    if (tiles_.empty() || !is_copy_out(op)) return op;
    const auto found = tiles_.find(key_of(op));
    return found != tiles_.end() ? found->second : op;
  }

 private:
  using Key = std::pair<std::uint64_t, std::string_view>;  // device and core, name
  bool is_copy_out(std::size_t op) const {
    return is_copy(profile_.text(profile_.ops[op].kind), "fromvtcm");
  }
  Key key_of(std::size_t op) const {
    return {profile_.ops[op].core, without_tile(profile_.text(profile_.ops[op].name))};
  }

  const Profile& profile_;
  std::map<Key, std::size_t> tiles_;
};

class SpillAnalysis {
 public:
  SpillAnalysis(const Profile& profile, const OpTraffic& traffic)
      : profile_(profile), traffic_(traffic), sides_(sides_of(profile)), tiles_(profile, sides_) {}

  Spill finish() {
    const bool any = std::any_of(sides_.begin(), sides_.end(),
                                 [](SpillRole side) { return side != SpillRole::neither; });
    if (!any) return std::move(spill_);
    find_dominant_path();
    find_executed();
    for (std::size_t op = 0; op < sides_.size(); ++op) {
      if (sides_[op] != SpillRole::neither && executed_[op]) spill_.ops.push_back(OpId(op));
    }
    add_spans();
    if (profile_.spans.size() == 0) add_ops();
    add_alone();
    pair();
    return std::move(spill_);
  }

 private:
  SpillRole side_of(std::size_t row) const {
    const std::size_t op = index_of(profile_.spans.op[row]);
    return op < sides_.size() ? sides_[op] : SpillRole::neither;
  }

  void find_dominant_path() {
    for (const MeasureColumn& measure : profile_.spans.measures) {
      if (measure.kind != MeasureKind::dominant_path) continue;
      if (measure.values.size() != profile_.spans.size()) continue;
      if (path_ == nullptr || path_->origin == Origin::derived) path_ = &measure;
    }
    if (path_ == nullptr || path_->clock != profile_.base_clock) path_ = nullptr;
  }

  // Ops that only wait for another's transfer have its kind; without a timeline all count.
  void find_executed() {
    executed_.assign(sides_.size(), profile_.spans.size() == 0);
    has_transfer_.assign(sides_.size(), false);
    for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
      const std::size_t op = index_of(profile_.spans.op[row]);
      if (op < executed_.size() && role_of(profile_.spans.kind[row]) == Role::work) {
        executed_[op] = true;
        if (profile_.spans.kind[row] == SpanKind::transfer) has_transfer_[op] = true;
      }
    }
    for (std::size_t op = 0; op < sides_.size(); ++op) {
      if (!executed_[op]) continue;
      spill_.spill.ops += sides_[op] == SpillRole::spill;
      spill_.fill.ops += sides_[op] == SpillRole::fill;
    }
  }

  // Of a transfer with a span of its own, its issue is none.
  bool is_execution(std::size_t row) const {
    if (role_of(profile_.spans.kind[row]) != Role::work) return false;
    return !has_transfer_[index_of(profile_.spans.op[row])] ||
           profile_.spans.kind[row] == SpanKind::transfer;
  }

  void add_spans() {
    extents_.assign(sides_.size(), std::nullopt);
    bytes_.assign(sides_.size(), 0);
    for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
      const SpillRole which = side_of(row);
      if (which == SpillRole::neither) continue;
      SpillSide& side = which == SpillRole::spill ? spill_.spill : spill_.fill;
      const Interval interval = interval_of(profile_.spans, row);
      if (profile_.spans.kind[row] == SpanKind::dma_wait) {
        side.waited = saturating_add(side.waited, length_of(interval));
      }
      if (!is_execution(row)) continue;
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
        const Route mine = which == SpillRole::spill ? Route::ddr_write : Route::ddr_read;
        if (Route(route) == mine) bytes_[op] = saturating_add(bytes_[op], moved);
      }
      auto& extent = extents_[op];
      if (!extent) extent = interval;
      extent->begin = std::min(extent->begin, interval.begin);
      extent->end = std::max(extent->end, interval.end);
    }
  }

  // Without a timeline, what the compiled graph or a summary says of each op.
  void add_ops() {
    for (std::size_t op = 0; op < sides_.size(); ++op) {
      if (sides_[op] == SpillRole::neither) continue;
      SpillSide& side = sides_[op] == SpillRole::spill ? spill_.spill : spill_.fill;
      const Route mine = sides_[op] == SpillRole::spill ? Route::ddr_write : Route::ddr_read;
      for (std::size_t route = 0; route < route_count; ++route) {
        if (!traffic_.of_ops_known(Route(route))) continue;
        add(side.bytes[route], traffic_.of_op(Route(route), OpId(std::uint32_t(op))));
      }
      bytes_[op] = traffic_.of_op(mine, OpId(std::uint32_t(op)));
    }
  }

  void add_alone() {
    std::vector<Interval> others, spills, fills, waits;
    for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
      if (profile_.spans.kind[row] == SpanKind::dma_wait && side_of(row) != SpillRole::neither) {
        waits.push_back(interval_of(profile_.spans, row));
      }
      if (role_of(profile_.spans.kind[row]) != Role::work) continue;
      const SpillRole side = side_of(row);
      auto& of_side = side == SpillRole::neither ? others
                      : side == SpillRole::spill ? spills
                                                 : fills;
      of_side.push_back(interval_of(profile_.spans, row));
    }
    const IntervalSet beside = union_of(std::move(others));
    const IntervalSet spilling = union_of(std::move(spills)), filling = union_of(std::move(fills));
    spill_.spill.alone = length_of(difference_of(spilling, beside));
    spill_.fill.alone = length_of(difference_of(filling, beside));
    if (waits.empty()) return;
    const IntervalSet working = union_of(beside, union_of(spilling, filling));
    spill_.waited_alone = length_of(difference_of(union_of(std::move(waits)), working));
  }

  static constexpr std::uint32_t nothing = ~std::uint32_t{0};

  template <class Visit>
  void for_each_data_edge(const Visit& visit) {
    for (const Edge& edge : profile_.edges) {
      const std::size_t from = index_of(edge.from), to = index_of(edge.to);
      if (edge.kind == EdgeKind::data && from < sides_.size() && to < sides_.size()) {
        visit(from, to);
      }
    }
  }

  // A spill is a tensor, or part of the one that an op joins which does not run; a fill reads the
  // one or the other.
  void pair() {
    std::vector<std::uint32_t> tensor_of(sides_.size(), nothing);
    for (std::size_t op = 0; op < sides_.size(); ++op) {
      if (sides_[op] == SpillRole::spill && executed_[op]) {
        tensor_of[op] = std::uint32_t(tiles_.first_of(op));
      }
    }
    std::vector<bool> joins(sides_.size(), false);
    for_each_data_edge([&](std::size_t from, std::size_t to) {
      spill_.has_edges = true;
      if (tensor_of[from] == nothing || sides_[from] != SpillRole::spill ||
          sides_[to] != SpillRole::neither || executed_[to])
        return;
      tensor_of[from] = std::uint32_t(to);
      joins[to] = true;
    });
    for_each_data_edge([&](std::size_t from, std::size_t to) {
      if (sides_[to] != SpillRole::fill || !executed_[to] || tensor_of[to] != nothing) return;
      if (sides_[from] == SpillRole::spill) tensor_of[to] = tensor_of[from];
      if (joins[from]) tensor_of[to] = std::uint32_t(from);
    });
    std::vector<std::uint32_t> place(sides_.size(), nothing);
    for (std::size_t op = 0; op < sides_.size(); ++op) {
      if (tensor_of[op] != nothing && sides_[op] != SpillRole::neither)
        add_to_tensor(op, tensor_of[op], place);
      if (tensor_of[op] == nothing && executed_[op]) {
        spill_.unpaired_fills += sides_[op] == SpillRole::fill;
      }
    }
    std::erase_if(spill_.tensors, [&](const SpilledTensor& tensor) {
      if (tensor.fills == 0) spill_.unpaired_spills += tensor.spills;
      return tensor.fills == 0 || tensor.spills == 0;
    });
    sort_rows(spill_.tensors.begin(), spill_.tensors.end(),
              [](const SpilledTensor& a, const SpilledTensor& b) { return a.read > b.read; });
  }

  // Spills of a tensor may come after its fills in the table, so `away` is made of both extents.
  void add_to_tensor(std::size_t op, std::uint32_t made_by, std::vector<std::uint32_t>& place) {
    if (place[made_by] == nothing) {
      place[made_by] = std::uint32_t(spill_.tensors.size());
      spill_.tensors.emplace_back().op = OpId(made_by);
      moments_.push_back({});
    }
    SpilledTensor& tensor = spill_.tensors[place[made_by]];
    Moments& moments = moments_[place[made_by]];
    const bool is_spill = sides_[op] == SpillRole::spill;
    (is_spill ? tensor.spills : tensor.fills) += 1;
    std::int64_t& bytes = is_spill ? tensor.written : tensor.read;
    bytes = saturating_add(bytes, bytes_[op]);
    if (!extents_[op]) return;
    if (is_spill) {
      moments.written = std::max(moments.written.value_or(extents_[op]->end), extents_[op]->end);
    } else {
      moments.read = std::min(moments.read.value_or(extents_[op]->begin), extents_[op]->begin);
    }
    if (moments.written && moments.read) {
      tensor.away = saturating_subtract(*moments.read, *moments.written);
    }
  }

  struct Moments {
    std::optional<std::int64_t> written, read;
  };

  const Profile& profile_;
  const OpTraffic& traffic_;
  std::vector<SpillRole> sides_;  // by op
  Tiles tiles_;
  const MeasureColumn* path_ = nullptr;
  std::vector<std::optional<Interval>> extents_;  // by op
  std::vector<std::int64_t> bytes_;               // by op
  std::vector<bool> executed_;                    // by op
  std::vector<bool> has_transfer_;                // by op
  std::vector<Moments> moments_;                  // by tensor
  Spill spill_;
};

}  // namespace

Spill find_spill(const Analysis& analysis) {
  return SpillAnalysis(analysis.profile(), analysis.traffic()).finish();
}

}  // namespace npuscope::analysis
