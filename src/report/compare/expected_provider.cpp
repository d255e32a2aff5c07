#include "report/compare/expected_provider.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {

using namespace analysis;

void expect_provider(const std::string& wanted, Diff& check) {
  Gate gate;
  gate.is_requirement = true;
  gate.comparator = Gate::Comparator::at_least;  // fails there
  gate.limit = Gate::Limit::value;
  gate.threshold = 1;
  std::vector<double> counts;
  for (const Profile* run : check.b) {
    auto found = expected_provider(Analysis(*run), wanted);
    if (!found) {
      gate.text = fmt::format("nodes elsewhere than on {} < 1", wanted);
      check.unjudged.push_back(
          {gate, fmt::format("gate {} not judged: {} does not say which execution provider ran a "
                             "node; a profile of ONNX Runtime does",
                             gate_name(gate), files_text(*run))});
      return;
    }
    counts.push_back(double(found->elsewhere.size()));
    check.providers.push_back(std::move(*found));
  }
  if (counts.empty()) return;
  const double most = *std::ranges::max_element(counts);
  MetricChange nodes{"nodes elsewhere", MeasureKind::count, MeasuredIn::count,
                     estimate_of({}, {most})};
  nodes.repeats = true;
  gate.text = fmt::format("nodes elsewhere than on {} < 1", check.providers.front().name);
  check.gates.push_back({gate, judge(gate, std::move(nodes))});
}

std::vector<Section> provider_sections(const Diff& check) {
  if (check.providers.empty()) return {};
  const auto seconds = [&](std::size_t run, double ticks) {
    const Profile& profile = *check.b[run];
    const double rate = profile.clocks[index_of(profile.base_clock)].rate.value;
    return rate > 0 ? Value(ticks / rate) : Value();
  };
  const bool several = check.providers.size() > 1;
  const Field of_run{"run", several ? "run" : "", Format::count};
  const Field work = of_kind(MeasureKind::work, {"work_seconds", "work", Format::seconds});
  const Field share = of_kind(MeasureKind::work, {"work_share", "of all nodes", Format::share});
  Section providers{.key = "providers", .title = "PROVIDERS"};
  providers.facts = {{{"expected", "expected"}, check.providers.front().name}};
  providers.table.fields = {
      of_run, {"provider", "provider"}, {"nodes", "nodes", Format::count}, work, share};
  Section nodes{.key = "nodes_elsewhere", .title = "NODES ELSEWHERE, by work"};
  nodes.table.fields = {of_run, {"node", "node"}, {"kind", "kind"}, {"provider", "provider"}, work,
                        share};
  nodes.table.names = 1;
  for (std::size_t run = 0; run < check.providers.size(); ++run) {
    const ExpectedProvider& found = check.providers[run];
    for (const auto& each : found.providers) {
      providers.table.rows.push_back(
          {run + 1, each.name, each.nodes, seconds(run, each.work), ratio(each.work, found.work)});
    }
    for (const auto& each : found.elsewhere) {
      nodes.table.rows.push_back({run + 1, each.name, each.kind, each.provider,
                                  seconds(run, each.work), ratio(each.work, found.work)});
    }
  }
  const bool of_warm_median =
      std::ranges::any_of(check.providers, &ExpectedProvider::of_warm_median);
  nodes.remarks = {
      std::string("A part of the model that a provider took as a whole is one node.") +
      (of_warm_median ? " Times are of one inference, the median of those after the first." : "")};
  return {std::move(providers), std::move(nodes)};
}

}  // namespace npuscope::report
