#include "formats/torq/profile/rows.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "formats/torq/fields.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {

void add_program_flows(Profile& profile, UnitId host, const std::vector<StartedProgram>& programs) {
  const Spans& spans = profile.spans;
  std::vector<SpanId> actions;  // of the host, by when they began
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    if (spans.unit[row] == host && spans.kind[row] == SpanKind::host) {
      actions.push_back(SpanId(row));
    }
  }
  const auto start_of = [&](SpanId span) { return spans.start[index_of(span)]; };
  std::stable_sort(actions.begin(), actions.end(),
                   [&](SpanId a, SpanId b) { return start_of(a) < start_of(b); });
  const StringId name = profile.strings.intern("NSS");
  const auto add = [&](SpanId from, SpanId to) {
    profile.flows.push_back({from, to, EdgeKind::order, name, {}});
  };
  for (const StartedProgram& each : programs) {
    if (each.start != SpanId::none) add(each.start, each.first);
    const std::int64_t waited =
        saturating_add(start_of(each.wait), spans.duration[index_of(each.wait)]);
    const auto next =
        std::lower_bound(actions.begin(), actions.end(), waited,
                         [&](SpanId span, std::int64_t time) { return start_of(span) < time; });
    if (next != actions.end()) add(each.last, *next);
  }
}

namespace {

struct NamedOperator {
  std::string_view kind;
  std::int64_t line = 0;
};

std::optional<NamedOperator> onnx_operator(std::string_view name) {
  constexpr std::string_view dialect = "onnx.";
  const auto at = name.rfind("@L");
  if (!name.starts_with(dialect) || at == name.npos) return std::nullopt;
  const auto line = whole_number(name.substr(at + 2));
  if (!line) return std::nullopt;
  return NamedOperator{name.substr(dialect.size(), at - dialect.size()), *line};
}

}  // namespace

void add_source_operator(Profile& profile, std::string_view name) {
  const auto found = onnx_operator(name);
  if (!found) return;
  const StringId kind = profile.strings.intern(found->kind);
  profile.source_operators.push_back({profile.strings.intern(name), kind});
}

void add_source_operators_of_ops(Profile& profile) {
  std::set<std::pair<std::int64_t, std::string>> named;
  for (const Op& op : profile.ops) {
    std::string_view rest = profile.text(op.node);
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      if (const auto found = onnx_operator(name)) named.emplace(found->line, name);
    }
  }
  for (const auto& [line, name] : named) add_source_operator(profile, name);
}

}  // namespace npuscope::torq
