#include <algorithm>

#include "analysis/findings/rules/rules.hpp"
#include "base/sort_rows.hpp"

namespace npuscope::analysis {
namespace host_fallback {

constexpr double min_share = 0.05;
constexpr std::size_t nodes_named = 3;

// Operators of the model of which a reader knows where they run; an operator may have several ops.
struct Split {
  std::vector<const Op*> on_host;
  std::size_t on_device = 0;
  std::size_t all = 0;  // of the model, where the file says it

  std::size_t count() const { return all > 0 ? all : on_host.size() + on_device; }
};
Split operators_of(const Profile& profile) {
  Split split;
  std::vector<bool> is_known(profile.strings.size(), false);
  for (const Op& op : profile.ops) {
    if (op.node_kind == StringId::empty) continue;
    const bool on_host = op.engine == Engine::host;
    if (!on_host && !is_of_device(domain_of(op.engine))) continue;
    if (is_known[std::uint32_t(op.label())]) continue;
    is_known[std::uint32_t(op.label())] = true;
    if (on_host) split.on_host.push_back(&op);
    split.on_device += !on_host;
  }
  for (const Measure& measure : profile.measures) {
    if (measure.meaning.role == NumberRole::model_nodes && measure.value < 1e15) {
      split.all = std::size_t(measure.value);
    }
  }
  return split;
}

Finding made(std::string title) {
  Finding finding;
  finding.title = std::move(title);
  finding.weight = Weight::high;
  finding.no_gain = "what they would take on the NPU is unknown";
  finding.advice =
      "Find out why the compiler or the execution provider left these to the CPU: an operator or a "
      "type that it lacks, a dynamic shape, an attribute. Each of them also splits what runs on "
      "the "
      "NPU in two, with copies between. Replace them, give shapes and types that are supported, or "
      "move them to an end of the model.";
  return finding;
}

// Vela, a compiler's estimate and the like: the rest of the network has times, these have none.
RuleOutcome without_times(const Profile& profile, const Split& split) {
  Finding finding =
      made(fmt::format("{} of {} operators run{} on the CPU, and no time of them is known",
                       split.on_host.size(), split.count(), split.on_host.size() == 1 ? "s" : ""));
  finding.evidence = {count_evidence("operators_on_host", "operators on the CPU",
                                     double(split.on_host.size()), "query: ops")};
  for (const Op* op : split.on_host) {
    if (finding.evidence.size() > nodes_named) break;
    const std::string_view reason = profile.text(op->attributes);
    finding.evidence.push_back(
        count_evidence("operator_on_host",
                       reason.empty() ? std::string(profile.text(op->node_kind))
                                      : std::string(reason.substr(0, reason.find('.'))),
                       1, "query: ops", std::string(profile.text(op->label()))));
  }
  return finding;
}

// By op, of a table without a timeline.
std::vector<std::optional<double>> stated_times(const Profile& profile) {
  std::vector<std::optional<double>> times(profile.ops.size());
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::op || measure.subject_id >= times.size()) continue;
    if (measure.meaning.role == NumberRole::node_cycles) times[measure.subject_id] = measure.value;
  }
  return times;
}

RuleOutcome apply(FindingContext& context) {
  // Of a log of the NPU alone other-backends says it.
  if (context.profile().spans.measure(NumberRole::op_window) != nullptr) return DoesNotApply{};
  const Split split = operators_of(context.profile());
  if (split.on_host.empty() && split.on_device == 0) {
    return Missing{"where the model's operators ran"};
  }
  if (split.on_host.empty() || split.on_device == 0) return DoesNotApply{};
  const OpTable ops = context.analysis().ops(OpOptions::of_work(Grouping::op));
  const auto work = ops.place_of("work");
  const std::vector<std::optional<double>> stated = stated_times(context.profile());
  double on_host = 0, all = 0;
  bool has_times = false;
  struct HostRow {
    std::string name;
    double ticks = 0;
  };
  std::vector<HostRow> rows;
  for (const OpRow& row : ops.rows) {
    if (index_of(row.first_op) >= context.profile().ops.size()) continue;
    const Op& op = context.profile().ops[index_of(row.first_op)];
    if (op.node_kind == StringId::empty) continue;
    const auto ticks = work ? row.values[*work] : stated[index_of(row.first_op)];
    all += ticks.value_or(0);
    if (op.engine != Engine::host) continue;
    has_times |= ticks.has_value();
    on_host += ticks.value_or(0);
    rows.push_back({row.name, ticks.value_or(0)});
  }
  if (!has_times) return without_times(context.profile(), split);
  if (!(all > 0) || on_host < min_share * all) return DoesNotApply{};
  sort_rows(rows.begin(), rows.end(),
            [](const HostRow& a, const HostRow& b) { return a.ticks > b.ticks; });
  Finding finding = made(fmt::format("Operators on the CPU take {} of the time of all operators",
                                     percent(on_host / all)));
  finding.evidence = {share_evidence("host_share_of_operators", "on the CPU, of all operators",
                                     on_host / all, MeasureKind::work, "ops")};
  if (rows.size() > nodes_named) rows.resize(nodes_named);
  for (const HostRow& row : rows) {
    finding.evidence.push_back(share_evidence("node_share_of_operators", "of all operators",
                                              row.ticks / all, MeasureKind::work, "ops", row.name));
  }
  return finding;
}

}  // namespace host_fallback

const Rule host_fallback_rule{"host-fallback", host_fallback::apply};

}  // namespace npuscope::analysis
