#include "analysis/compare/compare_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/ops/op_keys.hpp"
#include "analysis/ops/row_names.hpp"

namespace npuscope::analysis {

ComparedRows::ComparedRows(const OpMatching& matching, const OpGroups& a, const OpGroups& b,
                           Grouping grouping, const Rules* rules)
    : matching_(matching), sides_{&a, &b}, grouping_(grouping) {
  if (grouping_ != Grouping::part) {
    name_groups(rules);
    const bool adds_sides_apart = grouping_ == Grouping::kind || grouping_ == Grouping::rule;
    if (!adds_sides_apart) follow_matches();
  }
  add_rows();
}

std::uint32_t ComparedRows::key_for(std::string_view name, std::uint32_t layers) {
  const auto [place, is_new] =
      key_of_name_.try_emplace(std::string(name), std::uint32_t(keys_.size()));
  if (is_new) keys_.push_back({place->first, layers});
  return place->second;
}

void ComparedRows::name_groups(const Rules* rules) {
  for (const int side : {0, 1}) layer_of_[side].assign(sides_[side]->groups().size(), 0);
  if (grouping_ == Grouping::op || grouping_ == Grouping::node) {
    std::vector<std::string_view> labels;  // of both sides: a layer has one number
    for (const OpGroups* side : sides_) {
      for (const OpGroup& each : side->groups()) labels.push_back(each.label);
    }
    const RowNames names(labels, grouping_ == Grouping::op);
    std::size_t at = 0;
    for (const int side : {0, 1}) {
      for (std::size_t i = 0; i < sides_[side]->groups().size(); ++i, ++at) {
        own_[side].push_back(key_for(names.of(at), names.layers(at)));
        layer_of_[side][i] = names.layer(at);
      }
    }
  } else {
    name_by_texts(rules);
  }
  for (const int side : {0, 1}) key_of_[side] = own_[side];
}

void ComparedRows::name_by_texts(const Rules* rules) {
  const bool by_rule = grouping_ == Grouping::rule && rules != nullptr;
  for (const int side : {0, 1}) {
    const std::vector<OpGroup>& groups = sides_[side]->groups();
    std::vector<RuledOp> ops;
    for (const OpGroup& each : groups) ops.push_back({each.label, each.label, each.kind, {}});
    std::vector<std::uint32_t> rule_of;
    if (by_rule) rule_of = rules->of(ops);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      std::string_view name =
          grouping_ == Grouping::kind ? groups[i].kind : stage_of(groups[i].label);
      if (by_rule) {
        name = rule_of[i] < rules->size() ? std::string_view(rules->name(rule_of[i]))
                                          : std::string_view{};
      }
      own_[side].push_back(key_for(name));
    }
  }
}

// What is matched stands with what it matches, and what is not with the rest of its node, where
// all of that stands in one row.
void ComparedRows::follow_matches() {
  std::unordered_map<std::uint32_t, std::uint32_t> row_of;  // by B's own name; none: several
  for (const OpPair& pair : matching_.pairs) {
    const std::uint32_t key = key_of_[0][pair.a.front()];
    for (const std::uint32_t at : pair.b) {
      key_of_[1][at] = key;
      layer_of_[1][at] = layer_of_[0][pair.a.front()];
      const auto [place, is_new] = row_of.try_emplace(own_[1][at], key);
      if (!is_new && place->second != key) place->second = none;
    }
  }
  for (const UnmatchedOp& only : matching_.only_b) {
    const auto found = row_of.find(own_[1][only.group]);
    if (found != row_of.end() && found->second != none) key_of_[1][only.group] = found->second;
  }
}

void ComparedRows::add_rows() {
  std::unordered_map<std::uint32_t, std::uint32_t> row_of;  // by key
  std::uint32_t part = 0;
  const auto row_for = [&](int side, std::uint32_t at) -> ComparedRow& {
    const std::uint32_t key = grouping_ == Grouping::part ? part : key_of_[side][at];
    const auto [place, is_new] = row_of.try_emplace(key, std::uint32_t(rows_.size()));
    if (is_new) rows_.emplace_back();
    return rows_[place->second];
  };
  const auto add = [&](int side, std::uint32_t at) {
    row_for(side, at).groups[side].push_back(at);
  };
  for (const OpPair& pair : matching_.pairs) {
    row_for(0, pair.a.front()).parts.push_back(part);
    for (const std::uint32_t at : pair.a) add(0, at);
    for (const std::uint32_t at : pair.b) add(1, at);
    ++part;
  }
  for (const int side : {0, 1}) {
    for (const UnmatchedOp& only : side == 0 ? matching_.only_a : matching_.only_b) {
      row_for(side, only.group).parts.push_back(part);
      add(side, only.group);
      ++part;
    }
  }
}

std::string ComparedRows::kinds_of(const ComparedRow& row, int side) const {
  std::set<std::string_view> kinds;
  for (const std::uint32_t at : row.groups[side]) {
    if (!group(side, at).kind.empty()) kinds.insert(group(side, at).kind);
  }
  if (kinds.size() > 1) return fmt::format("{} kinds", kinds.size());
  return kinds.empty() ? std::string() : std::string(*kinds.begin());
}

std::string ComparedRows::name_of_side(const ComparedRow& row, int side) const {
  if (row.groups[side].empty()) return {};
  const std::uint32_t first = row.groups[side].front();
  if (grouping_ == Grouping::part) return std::string(group(side, first).label);
  const std::string& name = keys_[own_[side][first]].name;
  return name.empty() ? std::string(name_of_rest(grouping_)) : name;
}

OpDifference ComparedRows::difference(const ComparedRow& row) const {
  OpDifference out;
  out.name_a = name_of_side(row, 0);
  out.name_b = name_of_side(row, 1);
  if (grouping_ != Grouping::kind) {
    out.kind_a = kinds_of(row, 0);
    out.kind_b = kinds_of(row, 1);
  }
  for (const std::uint32_t at : row.groups[0]) out.ops_a += group(0, at).ops;
  for (const std::uint32_t at : row.groups[1]) out.ops_b += group(1, at).ops;
  if (row.groups[1].empty()) out.change = OpChange::removed;
  if (row.groups[0].empty()) out.change = OpChange::added;
  out.parts = std::uint32_t(row.parts.size());
  if (grouping_ != Grouping::part) {
    const int side = row.groups[0].empty() ? 1 : 0;
    out.layers = keys_[key_of_[side][row.groups[side].front()]].layers;
  }
  for (const std::uint32_t part : row.parts) {
    if (part < matching_.pairs.size()) {
      out.by = std::max(out.by, matching_.pairs[part].by);
      continue;
    }
    const std::size_t at = part - matching_.pairs.size();
    const bool is_a = at < matching_.only_a.size();
    (is_a ? out.parts_only_a : out.parts_only_b) += 1;
    if (row.parts.size() > 1) continue;
    const UnmatchedOp& only =
        is_a ? matching_.only_a[at] : matching_.only_b[at - matching_.only_a.size()];
    out.reason = only.reason;
    if (only.other != none) out.other = group(is_a ? 1 : 0, only.other).label;
  }
  return out;
}

std::vector<ComparedRow> ComparedRows::by_layer(const ComparedRow& row) const {
  std::map<std::uint32_t, ComparedRow> layers;
  for (const int side : {0, 1}) {
    for (const std::uint32_t at : row.groups[side]) {
      layers[layer_of_[side].empty() ? 0 : layer_of_[side][at]].groups[side].push_back(at);
    }
  }
  std::vector<ComparedRow> rows;
  for (auto& [layer, each] : layers) rows.push_back(std::move(each));
  if (rows.size() < 2) rows.clear();
  return rows;
}

}  // namespace npuscope::analysis
