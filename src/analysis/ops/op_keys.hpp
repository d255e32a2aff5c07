// Which row of an op table each span and each op belongs to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/ops/row_names.hpp"
#include "npuscope/analysis/ops.hpp"

namespace npuscope::analysis {

// What a row is called whose ops have no name of that sort: "(no op)".
std::string_view name_of_rest(Grouping grouping);

class OpKeys {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  OpKeys(const Profile& profile, const OpOptions& options);

  std::size_t count() const { return rows_.size(); }
  const std::vector<OpRow>& rows() const { return rows_; }
  std::vector<OpRow>& rows() { return rows_; }

  // Of a span; none where OpOptions::rest is not asked for.
  std::uint32_t of(std::size_t row) const {
    return of_units_ ? of_unit(spans_.unit[row]) : of(spans_.op[row]);
  }
  // Of an op; where rows are units, that of its core or device if no span says where it ran.
  std::uint32_t of(OpId op) const {
    return index_of(op) < of_op_.size() ? of_op_[index_of(op)] : without_;
  }
  std::uint32_t of_unit(UnitId unit) const {
    return index_of(unit) < of_unit_.size() ? of_unit_[index_of(unit)] : without_;
  }
  std::string_view name(std::uint32_t group) const;
  bool of_units() const { return of_units_; }
  bool has_ops() const { return !of_units_ || !of_op_.empty(); }
  // Of an op of a row with several layers.
  std::uint32_t layer_of(OpId op) const { return names_->layer(index_of(op)); }
  std::uint64_t moved_owners() const { return moved_owners_; }

 private:
  std::uint32_t row_for(StringId label);
  std::uint32_t row_named(std::string_view name);
  std::uint32_t folded_row();
  void group_ops(const Profile& profile, const OpOptions& options);
  void group_units(const Profile& profile, Grouping grouping);

  const Profile& profile_;
  const Spans& spans_;
  std::optional<RowNames> names_;
  Grouping grouping_;
  bool of_units_ = false;
  std::vector<OpRow> rows_;
  std::vector<std::uint32_t> of_op_, of_unit_;
  std::uint32_t without_ = none;  // the row of spans without an op or unit
  std::uint32_t folded_ = none;
  std::uint64_t moved_owners_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> row_of_label_;
  std::unordered_map<std::string_view, std::uint32_t> row_of_name_;  // of texts that outlive this
};

// The cores of a profile that have units, as numbers without gaps: those of one core together, each
// unit of a processor that is no part of an NPU's core by itself.
class CoreNumbers {
 public:
  explicit CoreNumbers(const Profile& profile);

  std::uint32_t of(UnitId unit) const {
    return of_unit_[std::min<std::size_t>(index_of(unit), of_unit_.size() - 1)];
  }
  std::size_t count() const { return first_unit_.size(); }
  UnitId first_unit(std::uint32_t core) const { return first_unit_[core]; }
  bool is_of_npu(std::uint32_t core) const { return is_of_npu_[core] != 0; }
  // "core 3", "device 1 > core 3" where there are several devices; of another processor its path.
  std::string name(std::uint32_t core) const;

 private:
  const Profile& profile_;
  bool one_device_ = true;
  std::vector<std::uint32_t> of_unit_;  // one more for spans without a unit
  std::vector<UnitId> first_unit_;
  std::vector<std::uint8_t> is_of_npu_;  // by core
};

}  // namespace npuscope::analysis
