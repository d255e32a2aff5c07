#include "analysis/ops/expected_provider.hpp"

#include <algorithm>

#include "base/sort_rows.hpp"
#include "base/text.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::string_view provider_end = "ExecutionProvider";

bool is_same(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b,
                            [](char x, char y) { return small_letter(x) == small_letter(y); });
}

// As the file writes it, where any node ran on it.
std::string whole_name(std::string_view wanted,
                       const std::vector<ExpectedProvider::Provider>& providers) {
  const std::string given(wanted), whole = given + std::string(provider_end);
  for (const auto& [name, nodes, work] : providers) {
    if (is_same(name, given) || is_same(name, whole)) return name;
  }
  return wanted.ends_with(provider_end) ? given : whole;
}

bool is_said(const Op& op) {
  return op.node_kind != StringId::empty && op.provider != StringId::empty;
}

// Rows of a timeline; else the layers of a file that has none, those without a time among them.
std::vector<ExpectedProvider::Node> nodes_of(const Analysis& analysis, bool& of_warm_median) {
  const Profile& profile = analysis.profile();
  std::vector<ExpectedProvider::Node> nodes;
  const auto add = [&](std::string name, const Op& op, double work) {
    nodes.push_back({std::move(name), std::string(profile.text(op.node_kind)),
                     std::string(profile.text(op.provider)), work});
  };
  const OpTable ops = analysis.ops(OpOptions::of_work(Grouping::part));
  if (const auto work = ops.place_of("work")) {
    of_warm_median = ops.inferences > 1;
    for (const OpRow& row : ops.rows) {
      if (index_of(row.first_op) >= profile.ops.size()) continue;
      const Op& op = profile.ops[index_of(row.first_op)];
      if (is_said(op)) add(row.name, op, row.values[*work].value_or(0));
    }
    return nodes;
  }
  std::vector<double> times(profile.ops.size());
  for (const Measure& measure : profile.measures) {
    const bool is_time =
        measure.subject == Measure::Subject::op && measure.meaning.role == NumberRole::node_cycles;
    if (is_time && measure.subject_id < times.size()) times[measure.subject_id] = measure.value;
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Op& op = profile.ops[i];
    if (is_said(op)) add(std::string(profile.text(op.label())), op, times[i]);
  }
  return nodes;
}

}  // namespace

std::optional<ExpectedProvider> expected_provider(const Analysis& analysis,
                                                  std::string_view wanted) {
  ExpectedProvider found;
  std::vector<ExpectedProvider::Node> nodes = nodes_of(analysis, found.of_warm_median);
  for (const ExpectedProvider::Node& node : nodes) {
    const auto known =
        std::ranges::find(found.providers, node.provider, &ExpectedProvider::Provider::name);
    auto& counted =
        known != found.providers.end() ? *known : found.providers.emplace_back(node.provider);
    counted.nodes += 1;
    counted.work += node.work;
    found.work += node.work;
  }
  if (nodes.empty()) return std::nullopt;
  found.name = whole_name(wanted, found.providers);
  std::erase_if(nodes, [&](const auto& node) { return node.provider == found.name; });
  const auto by_work = [](const auto& a, const auto& b) { return a.work > b.work; };
  sort_rows(found.providers.begin(), found.providers.end(), by_work);
  sort_rows(nodes.begin(), nodes.end(), by_work);
  found.elsewhere = std::move(nodes);
  return found;
}

}  // namespace npuscope::analysis
