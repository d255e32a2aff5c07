#include "analysis/timeline/span_groups.hpp"

#include <unordered_map>

#include "analysis/ops/row_names.hpp"
#include "analysis/units/unit_busy.hpp"
#include "npuscope/analysis/units.hpp"

namespace npuscope::analysis {
namespace {

std::string_view text_of(const Profile& profile, const Op& op, RowsBy by) {
  const std::string_view node = profile.text(op.node);
  switch (by) {
    case RowsBy::op: return profile.text(op.name);
    case RowsBy::kind: return profile.text(op.kind);
    case RowsBy::node: return node.empty() ? profile.text(op.name) : node;
    case RowsBy::stage: return stage_of(node.empty() ? profile.text(op.name) : node);
    case RowsBy::unit:
    case RowsBy::engine: break;
  }
  return {};
}

const char* name_of_nothing(RowsBy by) {
  switch (by) {
    case RowsBy::kind: return "(no kind)";
    case RowsBy::stage: return "(no stage)";
    default: return "(no name)";
  }
}

}  // namespace

SpanGroups::SpanGroups(const Profile& profile, RowsBy by)
    : profile_(profile), by_(by), engines_(profile) {
  if (by == RowsBy::unit) {
    count_ = profile.units.size() + 1;
    drawn_with_ = drawn_with(profile);
  } else if (by == RowsBy::engine) {
    count_ = std::size_t(Engine::other) + 1;
  } else {
    group_ops();
  }
}

void SpanGroups::group_ops() {
  std::unordered_map<std::string_view, std::uint32_t> known;
  of_op_.reserve(profile_.ops.size() + 1);
  for (const Op& op : profile_.ops) {
    const std::string_view text = text_of(profile_, op, by_);
    const auto [place, is_new] = known.try_emplace(text, std::uint32_t(texts_.size()));
    if (is_new) texts_.push_back(text);
    of_op_.push_back(place->second);
  }
  of_op_.push_back(std::uint32_t(texts_.size()));
  count_ = texts_.size() + 1;
}

std::string SpanGroups::label(std::uint32_t group) const {
  if (by_ == RowsBy::unit) {
    return path_of(profile_, group + 1 < count_ ? UnitId(group) : UnitId::none);
  }
  if (by_ == RowsBy::engine) return name_of(Engine(group));
  if (group >= texts_.size()) return "(no op)";
  return texts_[group].empty() ? name_of_nothing(by_) : std::string(texts_[group]);
}

}  // namespace npuscope::analysis
