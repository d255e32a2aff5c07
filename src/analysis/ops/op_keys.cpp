#include "analysis/ops/op_keys.hpp"

#include <fmt/format.h>
#include <map>
#include <unordered_set>

#include "analysis/ops/row_names.hpp"
#include "npuscope/analysis/units.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {
namespace {

// The model's operator that each op counts for. The HTP's tools give the product of a fully
// connected operator to the reshape behind it:
//
//   q::ConvLayer.opt of MatMul_3_post_reshape, on the HMX      counts for MatMul_3
//
// A reshape renames bytes and cannot use the HMX, so what does is of the operator before it, where
// the profile knows one of that name.
struct OpOwners {
  std::vector<StringId> nodes;  // by op: Op::node, or that of the operator before
  std::uint64_t moved = 0;      // ops
};

OpOwners owners_of(const Profile& profile, bool as_written) {
  constexpr std::string_view reshape = "_post_reshape";
  OpOwners owners;
  owners.nodes.reserve(profile.ops.size());
  std::unordered_map<std::string_view, StringId> known;
  bool any = false;
  for (const Op& op : profile.ops) {
    owners.nodes.push_back(op.node);
    any = any || (op.engine == Engine::hmx && profile.text(op.node).ends_with(reshape));
  }
  if (!any || as_written) return owners;
  for (const Op& op : profile.ops) known.emplace(profile.text(op.node), op.node);
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    const std::string_view node = profile.text(profile.ops[i].node);
    if (profile.ops[i].engine != Engine::hmx || !node.ends_with(reshape)) continue;
    const auto before = known.find(node.substr(0, node.size() - reshape.size()));
    if (before == known.end() || before->second == StringId::empty) continue;
    owners.nodes[i] = before->second;
    owners.moved += 1;
  }
  return owners;
}

StringId label_of(const Op& op, StringId node, Grouping grouping) {
  switch (grouping) {
    case Grouping::kind: return op.kind;
    case Grouping::name: return op.name;
    case Grouping::memory: return op.memory;
    default: return node != StringId::empty ? node : op.name;
  }
}

bool any_op_ran(const Profile& profile) {
  return std::any_of(profile.spans.op.begin(), profile.spans.op.end(),
                     [&](OpId op) { return index_of(op) < profile.ops.size(); });
}

// Ops with a span; all of them where none has.
std::vector<std::uint8_t> ops_that_ran(const Profile& profile) {
  std::vector<std::uint8_t> ran(profile.ops.size(), false);
  std::size_t unseen = ran.size();
  for (const OpId op : profile.spans.op) {
    if (unseen == 0) break;
    if (index_of(op) >= ran.size() || ran[index_of(op)] != 0) continue;
    ran[index_of(op)] = true;
    unseen -= 1;
  }
  if (unseen == ran.size()) ran.assign(ran.size(), true);
  return ran;
}

// Ops that took any time, be it waiting: of those nothing may be hidden.
std::vector<bool> ops_with_time(const Profile& profile) {
  std::vector<bool> took(profile.ops.size(), false);
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]);
    if (op < took.size() && spans.duration[row] > 0) took[op] = true;
  }
  for (const Measure& measure : profile.measures) {
    const bool is_time = measure.kind != MeasureKind::count && measure.value > 0;
    if (measure.subject != Measure::Subject::op || measure.subject_id >= took.size()) continue;
    if (is_time) took[measure.subject_id] = true;
  }
  return took;
}

}  // namespace

std::string_view name_of_rest(Grouping grouping) {
  switch (grouping) {
    case Grouping::kind: return "(no kind)";
    case Grouping::node: return "(no node)";
    case Grouping::layer: return "(no layer)";
    case Grouping::memory: return "(no memory)";
    case Grouping::rule: return "(no rule)";
    case Grouping::core:
    case Grouping::device:
    case Grouping::unit: return "(no unit)";
    case Grouping::op:
    case Grouping::part:
    case Grouping::name: break;
  }
  return "(no op)";
}

OpKeys::OpKeys(const Profile& profile, const OpOptions& options)
    : profile_(profile),
      spans_(profile.spans),
      grouping_(options.grouping),
      of_units_(is_of_units(options.grouping)) {
  if (of_units_) {
    group_units(profile, options.grouping);
  } else {
    group_ops(profile, options);
  }
  for (OpRow& row : rows_) row.has_name = row.label != StringId::empty || !row.name.empty();
}

std::string_view OpKeys::name(std::uint32_t group) const {
  const OpRow& row = rows_[group];
  if (!row.name.empty()) return row.name;
  return row.has_name ? profile_.text(row.label) : name_of_rest(grouping_);
}

std::uint32_t OpKeys::row_for(StringId label) {
  const auto [place, is_new] = row_of_label_.try_emplace(index_of(label), rows_.size());
  if (is_new) rows_.emplace_back().label = label;
  return place->second;
}

std::uint32_t OpKeys::row_named(std::string_view name) {
  if (name.empty()) return row_for(StringId::empty);
  const auto [place, is_new] = row_of_name_.try_emplace(name, rows_.size());
  if (is_new) rows_.emplace_back().name = name;
  return place->second;
}

std::uint32_t OpKeys::folded_row() {
  if (folded_ == none) {
    folded_ = std::uint32_t(rows_.size());
    OpRow& row = rows_.emplace_back();
    row.name = "(bookkeeping)";
    row.folded = true;
  }
  return folded_;
}

void OpKeys::group_ops(const Profile& profile, const OpOptions& options) {
  const bool by_rule = options.grouping == Grouping::rule && options.rules != nullptr;
  std::vector<std::uint32_t> rules, folded;
  if (by_rule) rules = options.rules->of(profile);
  std::vector<bool> took_time;
  if (options.folded != nullptr) {
    folded = options.folded->of(profile);
    took_time = ops_with_time(profile);
  }
  const std::vector<std::uint8_t> ran = ops_that_ran(profile);
  const bool by_node = options.grouping == Grouping::op || options.grouping == Grouping::part ||
                       options.grouping == Grouping::node || options.grouping == Grouping::layer;
  const OpOwners owners = owners_of(profile, options.owners_as_written || !by_node);
  moved_owners_ = owners.moved;
  if (options.grouping == Grouping::op || options.grouping == Grouping::node) {
    std::vector<std::string_view> labels;
    for (std::size_t i = 0; i < profile.ops.size(); ++i) {
      labels.push_back(profile.text(label_of(profile.ops[i], owners.nodes[i], options.grouping)));
    }
    names_.emplace(labels, options.grouping == Grouping::op);
  }
  std::unordered_set<std::uint64_t> kinds;
  of_op_.reserve(profile.ops.size());
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    const Op& op = profile.ops[i];
    std::uint32_t at = none;
    if (!folded.empty() && folded[i] < options.folded->size() && !took_time[i]) {
      at = folded_row();
    } else if (by_rule && !options.rest && rules[i] >= options.rules->size()) {
      of_op_.push_back(none);
      continue;
    } else if (by_rule) {
      at = row_named(rules[i] < options.rules->size() ? options.rules->name(rules[i])
                                                      : std::string_view{});
    } else if (options.grouping == Grouping::layer) {
      at = row_named(stage_of(profile.text(label_of(op, owners.nodes[i], options.grouping))));
    } else if (names_) {
      at = row_named(names_->of(i));
    } else {
      at = row_for(label_of(op, owners.nodes[i], options.grouping));
    }
    OpRow& row = rows_[at];
    row.ops += 1;
    if (names_) {
      row.layers = names_->layers(i);
      const StringId label = label_of(op, owners.nodes[i], options.grouping);
      if (profile.text(label) == row.name) row.label = label;
    }
    of_op_.push_back(at);
    if (ran[i] != 0 && row.first_op == OpId::none) row.first_op = OpId(i);
    if (ran[i] == 0 || op.kind == StringId::empty) continue;
    if (row.kind == StringId::empty) row.kind = op.kind;
    row.kinds += kinds.insert(std::uint64_t{at} << 32 | index_of(op.kind)).second;
  }
  if (!by_rule || options.rest) without_ = row_for(StringId::empty);
}

void OpKeys::group_units(const Profile& profile, Grouping grouping) {
  const CoreNumbers cores(profile);
  std::map<std::uint32_t, std::uint32_t> row_of;
  for (std::uint32_t i = 0; i < profile.units.size(); ++i) {
    const Unit& unit = profile.units[i];
    const std::uint32_t key = grouping == Grouping::unit   ? i
                              : grouping == Grouping::core ? cores.of(UnitId{i})
                                                           : unit.device;
    const auto [place, is_new] = row_of.try_emplace(key, rows_.size());
    if (is_new) {
      rows_.emplace_back().name = grouping == Grouping::unit   ? path_of(profile, UnitId{i})
                                  : grouping == Grouping::core ? cores.name(key)
                                                               : fmt::format("device {}", key);
    }
    of_unit_.push_back(place->second);
  }
  without_ = std::uint32_t(rows_.size());
  rows_.emplace_back();
  if (grouping == Grouping::unit || any_op_ran(profile)) return;
  for (const Op& op : profile.ops) {
    std::uint32_t at = without_;
    for (std::uint32_t i = 0; i < profile.units.size() && at == without_; ++i) {
      const Unit& unit = profile.units[i];
      const bool is_place =
          grouping == Grouping::core ? unit.engine == Engine::core : unit.engine == Engine::device;
      if (is_place && (grouping == Grouping::device || unit.core == op.core)) at = of_unit_[i];
    }
    of_op_.push_back(at);
    rows_[at].ops += 1;
  }
}

namespace {

bool is_of_core(Engine engine) {
  return engine == Engine::core || engine == Engine::hvx || engine == Engine::hmx ||
         engine == Engine::dma_issue || engine == Engine::dma || engine == Engine::compute;
}

}  // namespace

CoreNumbers::CoreNumbers(const Profile& profile) : profile_(profile) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> number_of;
  for (std::uint32_t i = 0; i < profile.units.size(); ++i) {
    const Unit& unit = profile.units[i];
    one_device_ = one_device_ && unit.device == profile.units[0].device;
    const bool of_core = is_of_core(unit.engine);
    const std::uint64_t core = std::uint64_t{unit.device} << 32 | unit.core;
    const auto [place, is_new] =
        number_of.try_emplace({of_core ? core : 0, of_core ? 0 : i + 1}, first_unit_.size());
    if (is_new) first_unit_.push_back(UnitId{i});
    of_unit_.push_back(place->second);
  }
  of_unit_.push_back(std::uint32_t(first_unit_.size()));
  first_unit_.push_back(UnitId::none);
  for (const UnitId first : first_unit_) {
    const std::size_t unit = index_of(first);
    is_of_npu_.push_back(unit < profile.units.size() && is_of_core(profile.units[unit].engine));
  }
}

std::string CoreNumbers::name(std::uint32_t core) const {
  const UnitId id = first_unit_[core];
  if (!is_of_npu(core)) return path_of(profile_, id);
  const Unit& unit = profile_.units[index_of(id)];
  return one_device_ ? fmt::format("core {}", unit.core)
                     : fmt::format("device {} > core {}", unit.device, unit.core);
}

}  // namespace npuscope::analysis
