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

}  // namespace

std::optional<ExpectedProvider> expected_provider(const Analysis& analysis,
                                                  std::string_view wanted) {
  const Profile& profile = analysis.profile();
  const OpTable ops = analysis.ops(OpOptions::of_work(Grouping::part));
  const auto work = ops.place_of("work");
  ExpectedProvider found;
  std::vector<ExpectedProvider::Node> nodes;
  for (const OpRow& row : ops.rows) {
    if (index_of(row.first_op) >= profile.ops.size()) continue;
    const Op& op = profile.ops[index_of(row.first_op)];
    const std::string provider(profile.text(op.provider));
    if (op.node_kind == StringId::empty || provider.empty()) continue;
    const double ticks = work ? row.values[*work].value_or(0) : 0;
    nodes.push_back({row.name, std::string(profile.text(op.node_kind)), provider, ticks});
    const auto known =
        std::ranges::find(found.providers, provider, &ExpectedProvider::Provider::name);
    auto& counted =
        known != found.providers.end() ? *known : found.providers.emplace_back(provider);
    counted.nodes += 1;
    counted.work += ticks;
    found.work += ticks;
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
