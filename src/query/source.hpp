// A profile as its tables see it: with what is derived from it only when a query asks.
#pragma once

#include <optional>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::query {

class Source {
 public:
  explicit Source(const Profile& with);

  const Profile& profile;

  std::string_view text(StringId id) const { return profile.strings[id]; }
  const Unit* unit_of(std::uint32_t span) const {
    const std::uint32_t unit = index_of(profile.spans.unit[span]);
    return unit < profile.units.size() ? &profile.units[unit] : nullptr;
  }
  const Op* op_of(std::uint32_t span) const {
    const std::uint32_t op = index_of(profile.spans.op[span]);
    return op < profile.ops.size() ? &profile.ops[op] : nullptr;
  }

  // "card 0 > core 3 > HVX 1", interned by themselves: equal paths have equal ids.
  const StringPool& paths() const;
  StringId path_of(std::uint32_t unit) const { return path_ids()[unit]; }
  const analysis::Analysis& analysis() const { return analysis_; }

  // The distinct keys of all arguments, and for each shape which of them it has, by place; none
  // unless every span has a shape.
  const std::vector<ArgumentKey>& argument_keys() const;
  const std::vector<std::uint32_t>& keys_of_shape(std::uint32_t shape) const;
  // 0 … 3: the spans' DDR bytes read and written, VTCM bytes read and written; null where the
  // profile has none.
  const MeasureColumn* traffic(std::size_t which) const { return traffic_[which]; }

 private:
  const std::vector<StringId>& path_ids() const;

  const MeasureColumn* traffic_[4] = {};
  mutable std::optional<StringPool> paths_;
  mutable std::vector<StringId> path_ids_;
  mutable std::optional<std::vector<ArgumentKey>> argument_keys_;
  mutable std::vector<std::vector<std::uint32_t>> keys_of_shape_;
  analysis::Analysis analysis_;
};

}  // namespace npuscope::query
