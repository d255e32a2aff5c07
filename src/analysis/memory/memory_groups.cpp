#include "analysis/memory/memory_groups.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "analysis/ops/row_names.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

namespace {

constexpr std::uint32_t no_op = ~std::uint32_t{0};

// Whether it only moves data: by what it uses, or by its kernel's name where its unit says nothing.
bool moves_only(const Profile& profile, const Op& op) {
  if (op.engine != Engine::none) return domain_of(op.engine) == Domain::movement;
  const std::string_view kind = profile.text(op.kind);
  return kind.starts_with("aiccopy") || kind.starts_with("aicmulticast");
}

// The op that needs the data of each op first, in the order of the edges; data edges only.
std::vector<std::uint32_t> first_consumers(const Profile& profile) {
  std::vector<std::uint32_t> consumer(profile.ops.size(), no_op);
  for (const Edge& edge : profile.edges) {
    const std::size_t from = index_of(edge.from), to = index_of(edge.to);
    if (edge.kind != EdgeKind::data || from >= consumer.size() || to >= consumer.size()) continue;
    if (from != to && consumer[from] == no_op) consumer[from] = std::uint32_t(to);
  }
  return consumer;
}

class Grouper {
 public:
  Grouper(const Profile& profile, MemoryGrouping grouping)
      : profile_(profile), grouping_(grouping) {}

  MemoryGroups finish() {
    groups_.of_op.reserve(profile_.ops.size());
    for (const Op& op : profile_.ops) {
      groups_.of_op.push_back(row_of(label_of(op)));
      computes_.resize(groups_.rows.size(), false);
      computes_[groups_.of_op.back()] =
          computes_[groups_.of_op.back()] || !moves_only(profile_, op);
    }
    if (grouping_ != MemoryGrouping::kind) give_transfers_away();
    for (std::uint32_t row = 0; row < groups_.rows.size(); ++row) {
      groups_.nodes.emplace_back(groups_.rows[row].label, row);
    }
    if (grouping_ == MemoryGrouping::op) fold_layers();
    groups_.without_op = row_of("");
    for (std::size_t op = 0; op < groups_.of_op.size(); ++op) {
      MemoryRow& row = groups_.rows[groups_.of_op[op]];
      row.ops += 1;
      if (row.kind == StringId::empty) row.kind = profile_.ops[op].kind;
    }
    return std::move(groups_);
  }

 private:
  std::string_view label_of(const Op& op) const {
    if (grouping_ == MemoryGrouping::kind) return profile_.text(op.kind);
    if (op.node != StringId::empty) return profile_.text(op.node);
    return without_tile(profile_.text(op.name));
  }

  std::uint32_t row_of(std::string_view label) {
    const auto [place, is_new] = row_of_.try_emplace(label, std::uint32_t(groups_.rows.size()));
    if (is_new) groups_.rows.emplace_back().label = std::string(label);
    return place->second;
  }

  void give_transfers_away() {
    if (profile_.edges.empty()) return;
    const auto consumer = first_consumers(profile_);
    constexpr int furthest = 8;  // copy, multicast, conversion; forged edges may form a ring
    const std::vector<std::uint32_t> by_name = groups_.of_op;
    for (std::size_t op = 0; op < by_name.size(); ++op) {
      if (computes_[by_name[op]]) continue;
      std::uint32_t at = consumer[op];
      for (int step = 0; step < furthest && at != no_op; ++step) {
        if (computes_[by_name[at]]) break;
        at = consumer[at];
      }
      if (at != no_op && computes_[by_name[at]]) groups_.of_op[op] = by_name[at];
    }
  }

  void fold_layers() {
    std::vector<std::string_view> labels(groups_.rows.size());  // by row
    for (const Op& op : profile_.ops) {
      labels[row_of_.at(label_of(op))] = profile_.text(op.label());
    }
    const RowNames names(labels, true);
    groups_.rows.clear();
    row_of_.clear();
    std::vector<std::uint32_t> folded;  // by the row before
    for (std::size_t row = 0; row < labels.size(); ++row) {
      folded.push_back(row_of(texts_.emplace_back(names.of(row))));
      groups_.rows[folded.back()].layers = names.layers(row);
    }
    for (std::uint32_t& row : groups_.of_op) row = folded[row];
    for (auto& [node, row] : groups_.nodes) row = folded[row];
  }

  const Profile& profile_;
  MemoryGrouping grouping_;
  MemoryGroups groups_;
  std::deque<std::string> texts_;  // of labels that are no text of the profile
  std::unordered_map<std::string_view, std::uint32_t> row_of_;
  std::vector<bool> computes_;  // by row
};

}  // namespace

MemoryGroups make_memory_groups(const Profile& profile, MemoryGrouping grouping) {
  return Grouper(profile, grouping).finish();
}

std::string plain_node_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (word || !plain.empty()) plain += word ? c : '_';
  }
  while (!plain.empty() && plain.back() == '_') plain.pop_back();
  return plain;
}

}  // namespace npuscope::analysis
