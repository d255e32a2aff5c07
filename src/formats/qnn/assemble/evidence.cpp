#include "formats/qnn/assemble/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {
namespace {

void widen(Evidence& evidence, std::int64_t start, std::int64_t end) {
  if (!evidence.cycles) {
    evidence.cycles = {start, end};
    return;
  }
  evidence.cycles->first = std::min(evidence.cycles->first, start);
  evidence.cycles->second = std::max(evidence.cycles->second, end);
}

void gather(Evidence& evidence, const OpTrace& trace) {
  evidence.has_run = true;
  const chrome::Slices& slices = trace.events.slices;
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    const TraceOp& op = trace.ops[trace.op[i]];
    const std::int64_t start = absolute_cycle(trace, slices.start[trace.rows[i]]);
    const std::int64_t cycles = slices.duration[trace.rows[i]] / 1000;
    if (trace.has_base) widen(evidence, start, saturating_add(start, cycles));
    evidence.ops.emplace_back(op.id, trace.has_base ? start : missing);
  }
  std::vector<std::int64_t> node_cycles(trace.events.strings.size(), missing);
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    auto& sum = node_cycles[std::uint32_t(trace.ops[trace.op[i]].qnn_op)];
    sum = saturating_add(sum == missing ? 0 : sum, slices.duration[trace.rows[i]] / 1000);
  }
  for (std::size_t name = 1; name < node_cycles.size(); ++name) {
    if (node_cycles[name] == missing) continue;
    evidence.node_cycles.emplace(trace.events.strings[StringId(std::uint32_t(name))],
                                 node_cycles[name]);
  }
}

void gather(Evidence& evidence, const RunTrace& trace) {
  evidence.has_run = true;
  evidence.graph = trace.graph;
  for (const RunPhase& phase : trace.phases) {
    if (trace.name_of(phase) == graph_phase) {
      evidence.graph_executes.emplace_back(phase.start_cycle, phase.end_cycle);
    }
    if (trace.name_of(phase) == vtcm_phase) {
      evidence.vtcm_ticks.push_back(phase.end_ticks - phase.start_ticks);
    }
  }
}

void gather(Evidence& evidence, const HtpGraph& graph) {
  for (const GraphNode& node : graph.nodes) {
    evidence.ops.emplace_back(node.id, node.start_cycle);
    if (node.start_cycle == missing || node.cycles == missing) continue;
    widen(evidence, node.start_cycle, saturating_add(node.start_cycle, node.cycles));
  }
  if (!graph.nodes.empty()) return;
  // Cut off before its nodes: a tensor has the id of the op that makes it.
  for (const GraphTensor& tensor : graph.tensors) {
    if (!tensor.is_constant) evidence.ops.emplace_back(tensor.id, missing);
  }
}

void gather(Evidence& evidence, const Qhas& qhas) {
  evidence.is_estimated = qhas.is_estimate();
  evidence.has_run = !evidence.is_estimated;
  evidence.graph = qhas.model_id;
  for (const QhasInstance& instance : qhas.instances) {
    evidence.ops.emplace_back(instance.id, instance.start_cycle);
    widen(evidence, instance.start_cycle, saturating_add(instance.start_cycle, instance.cycles));
  }
  for (const QhasCore& core : qhas.cores) {
    for (const QhasResource& resource : core.resources) {
      if (resource.start_cycle == missing || resource.end_cycle == missing) continue;
      widen(evidence, resource.start_cycle, resource.end_cycle);
    }
  }
  for (const QhasSum& node : qhas.qnn_nodes) {
    if (node.cycles == missing) continue;
    evidence.node_cycles.emplace(qhas.strings[node.op], node.cycles);
  }
}

void gather(Evidence& evidence, const ViewerOutput& output) {
  evidence.has_run = true;
  if (output.has_graph_name) evidence.graph = output.graph;
  for (const ViewerEvent& event : output.events) {
    if (!event.value || event.execute == ViewerEvent::outside) continue;
    if (event.node && event.execute == 0 && event.label == event.node_name) {
      evidence.node_cycles[std::string(output.strings[event.node_name])] += *event.value;
    }
    if (event.unit == ViewerUnit::ticks &&
        output.strings[event.label] == "Time for initial VTCM acquire") {
      evidence.vtcm_ticks.push_back(*event.value);
    }
  }
}

void gather(Evidence& evidence, const Estimate& estimate) {
  evidence.is_estimated = true;
  evidence.graph = estimate.graph;
  evidence.estimated_cycles =
      saturating_add(saturating_subtract(estimate.last, estimate.first), cycles_around_estimate);
  for (const EstimateOp& op : estimate.ops) evidence.ops.emplace_back(op.id, missing);
}

void gather(Evidence& evidence, const EstimateRows& rows) {
  evidence.is_estimated = true;
  evidence.estimated_cycles = rows.cycles;
}

void gather(Evidence& evidence, const Schematic& schematic) {
  evidence.graph = schematic.name;
  for (const GraphNode& node : schematic.graph.nodes) {
    evidence.ops.emplace_back(node.id, missing);
  }
}

// Of all graphs of a session: sets.cpp gives it to each.
void gather(Evidence&, const FrameworkTrace&) {}

void gather(Evidence&, std::monostate) {}

std::string interval_text(std::pair<std::int64_t, std::int64_t> cycles) {
  return fmt::format("{} to {}", cycles.first, cycles.second);
}

void compare_estimates(const Evidence& a, const Evidence& b, Verdict& verdict) {
  if ((a.is_estimated && b.has_run) || (a.has_run && b.is_estimated)) {
    verdict.contradiction = "one is an estimate, the other of a run";
  } else if (a.estimated_cycles && b.estimated_cycles) {
    if (*a.estimated_cycles == *b.estimated_cycles) {
      verdict.agree = true;
    } else {
      verdict.contradiction = fmt::format("one estimates {} cycles, the other {}",
                                          *a.estimated_cycles, *b.estimated_cycles);
    }
  }
}

// --- the comparisons; each says what contradicts, or sets `agree`

void compare_names(const Evidence& a, const Evidence& b, Verdict& verdict) {
  if (a.graph.empty() || b.graph.empty()) return;
  if (a.graph.find(b.graph) != std::string::npos || b.graph.find(a.graph) != std::string::npos) {
    verdict.agree = true;
    return;
  }
  verdict.contradiction =
      fmt::format("one is of graph '{}', the other of '{}'", printable(a.graph.substr(0, 80)),
                  printable(b.graph.substr(0, 80)));
}

void compare_executes(const Evidence& ops, const Evidence& run, Verdict& verdict) {
  if (!ops.cycles || run.graph_executes.empty()) return;
  const bool inside =
      std::any_of(run.graph_executes.begin(), run.graph_executes.end(), [&](const auto& execute) {
        return execute.first <= ops.cycles->first && ops.cycles->second <= execute.second;
      });
  if (inside) {
    verdict.agree = true;
  } else {
    verdict.contradiction =
        fmt::format("ops ran from cycle {}, in none of the {} Graph Execute phases",
                    interval_text(*ops.cycles), run.graph_executes.size());
  }
}

void compare_cycles(const Evidence& a, const Evidence& b, Verdict& verdict) {
  if (!a.cycles || !b.cycles) return;
  const auto holds = [](const auto& outer, const auto& inner) {
    return outer.first <= inner.first && inner.second <= outer.second;
  };
  if (holds(*a.cycles, *b.cycles) || holds(*b.cycles, *a.cycles)) {
    verdict.agree = true;
  } else {
    verdict.contradiction = fmt::format("one ran from cycle {}, the other from {}",
                                        interval_text(*a.cycles), interval_text(*b.cycles));
  }
}

struct Common {
  std::size_t ids = 0;
  std::size_t timed = 0;  // of those, with a start in both
  std::size_t equal = 0;  // of those, with one start in common
  std::size_t of_a = 0, of_b = 0;
};

Common common_ops(const Evidence& a, const Evidence& b) {
  Common common;
  const auto end_of_id = [](const auto& ops, std::size_t begin) {
    std::size_t end = begin;
    while (end < ops.size() && ops[end].first == ops[begin].first) ++end;
    return end;
  };
  std::size_t i = 0, j = 0;
  while (i < a.ops.size() || j < b.ops.size()) {
    const bool take_a = j == b.ops.size() || (i < a.ops.size() && a.ops[i] <= b.ops[j]);
    const std::uint64_t id = take_a ? a.ops[i].first : b.ops[j].first;
    const bool in_a = i < a.ops.size() && a.ops[i].first == id;
    const bool in_b = j < b.ops.size() && b.ops[j].first == id;
    const std::size_t end_a = in_a ? end_of_id(a.ops, i) : i;
    const std::size_t end_b = in_b ? end_of_id(b.ops, j) : j;
    common.of_a += in_a;
    common.of_b += in_b;
    if (in_a && in_b) {
      ++common.ids;
      if (a.ops[i].second != missing && b.ops[j].second != missing) {
        ++common.timed;
        common.equal += std::any_of(&a.ops[i], &a.ops[i] + (end_a - i), [&](const auto& op) {
          return std::binary_search(&b.ops[j], &b.ops[j] + (end_b - j), op);
        });
      }
    }
    i = end_a;
    j = end_b;
  }
  return common;
}

void compare_ops(const Evidence& a, const Evidence& b, Verdict& verdict) {
  if (a.ops.empty() || b.ops.empty()) return;
  const Common common = common_ops(a, b);
  const bool half_of_ids = common.ids * 2 >= std::min(common.of_a, common.of_b);
  // A graph has no node of the ops without output, which the beginning of a trace may consist of.
  if (!half_of_ids && !a.cut_off && !b.cut_off) {
    verdict.contradiction = fmt::format("of {} and {} op ids only {} are the same", common.of_a,
                                        common.of_b, common.ids);
  } else if (common.equal * 2 < common.timed) {
    verdict.contradiction = fmt::format("of {} ops in both only {} start at the same cycle",
                                        common.timed, common.equal);
  } else if (half_of_ids || common.equal > 0) {
    verdict.agree = true;
  }
}

void compare_nodes(const Evidence& a, const Evidence& b, Verdict& verdict) {
  if (a.node_cycles.empty() || b.node_cycles.empty()) return;
  std::size_t common = 0, equal = 0, possible = 0;
  for (const auto& [name, cycles] : a.node_cycles) {
    const auto other = b.node_cycles.find(name);
    if (other == b.node_cycles.end()) continue;
    ++common;
    equal += other->second == cycles;
    possible += other->second == cycles || (a.sums_lack_ops && cycles < other->second) ||
                (b.sums_lack_ops && other->second < cycles);
  }
  if (common == 0) {
    verdict.contradiction = "they have no node in common";
  } else if (equal * 2 < common && possible * 2 >= common) {
    return;  // neither agrees nor contradicts
  } else if (equal * 2 < common) {
    verdict.contradiction = fmt::format(
        "of {} nodes in both only {} took the same cycles in the first execute", common, equal);
  } else {
    verdict.agree = true;
  }
}

void compare_ticks(const Evidence& a, const Evidence& b, Verdict& verdict) {
  if (a.vtcm_ticks.empty() || b.vtcm_ticks.empty()) return;
  const std::size_t count = std::min(a.vtcm_ticks.size(), b.vtcm_ticks.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (a.vtcm_ticks[i] == b.vtcm_ticks[i]) continue;
    verdict.contradiction =
        fmt::format("in execute {} acquiring VTCM took {} ticks in one and {} in the other", i + 1,
                    a.vtcm_ticks[i], b.vtcm_ticks[i]);
    return;
  }
  verdict.agree = true;
}

}  // namespace

Evidence evidence_of(const Artifact& artifact) {
  Evidence evidence;
  std::visit([&](const auto& content) { gather(evidence, content); }, artifact.content);
  const auto& notes = artifact.losses.notes();
  evidence.cut_off = std::any_of(notes.begin(), notes.end(),
                                 [](const Note& note) { return note.severity == Severity::error; });
  evidence.sums_lack_ops = evidence.cut_off && artifact.kind == Kind::op_trace;
  std::sort(evidence.ops.begin(), evidence.ops.end());
  evidence.ops.erase(std::unique(evidence.ops.begin(), evidence.ops.end()), evidence.ops.end());
  return evidence;
}

Verdict compare(const Evidence& a, const Evidence& b) {
  Verdict verdict;
  const auto open = [&] { return verdict.contradiction.empty(); };
  compare_estimates(a, b, verdict);
  if (open()) compare_names(a, b, verdict);
  if (open()) compare_executes(a, b, verdict);
  if (open()) compare_executes(b, a, verdict);
  if (open()) compare_cycles(a, b, verdict);
  if (open()) compare_ops(a, b, verdict);
  if (open()) compare_nodes(a, b, verdict);
  if (open()) compare_ticks(a, b, verdict);
  if (!open()) verdict.agree = false;
  return verdict;
}

std::vector<ArtifactSet> link(std::vector<Artifact>&& artifacts) {
  struct Group {
    ArtifactSet set;
    std::vector<Evidence> evidence;
  };
  std::vector<Group> groups;
  // What says most about itself comes first.
  const auto rank = [](const Artifact& artifact) {
    if (artifact.get<OpTrace>() != nullptr || artifact.get<Estimate>() != nullptr) return 0;
    if (artifact.get<Qhas>() != nullptr) return 1;
    if (artifact.get<RunTrace>() != nullptr) return 2;
    if (artifact.get<HtpGraph>() != nullptr) return 3;
    if (artifact.get<Schematic>() != nullptr) return 4;
    return artifact.get<EstimateRows>() != nullptr ? 5 : 6;
  };
  // Of several estimates, one that names its graph finds that graph's files before the others.
  const auto is_nameless = [](const Artifact& artifact) {
    const auto* estimate = artifact.get<Estimate>();
    return estimate != nullptr && estimate->graph.empty();
  };
  sort_rows(artifacts.begin(), artifacts.end(), [&](const Artifact& a, const Artifact& b) {
    return std::pair(rank(a), is_nameless(a)) < std::pair(rank(b), is_nameless(b));
  });
  for (Artifact& artifact : artifacts) {
    Evidence evidence;
    if (artifacts.size() > 1) evidence = evidence_of(artifact);
    Group* home = nullptr;
    std::string apart;
    for (Group& group : groups) {
      bool agree = false, contradict = false, same_kind = false;
      for (std::size_t i = 0; i < group.evidence.size(); ++i) {
        const Artifact& member = group.set.artifacts[i];
        same_kind |= rank(member) == rank(artifact);
        if (same_kind) break;
        const Verdict verdict = compare(group.evidence[i], evidence);
        agree |= verdict.agree;
        if (verdict.contradiction.empty()) continue;
        contradict = true;
        if (apart.empty()) {
          apart = fmt::format("kept apart from {}: {}", member.file(), verdict.contradiction);
        }
      }
      if (same_kind || contradict) continue;
      if (agree) {
        home = &group;
        break;
      }
      if (apart.empty()) {
        apart = fmt::format("kept apart from {}: nothing in both says that they belong together",
                            group.set.artifacts.front().file());
      }
    }
    if (home == nullptr) {
      home = &groups.emplace_back();
      if (!apart.empty()) artifact.losses.add(Severity::warning, 0, apart);
    }
    home->set.artifacts.push_back(std::move(artifact));
    home->evidence.push_back(std::move(evidence));
  }
  std::vector<ArtifactSet> sets;
  for (Group& group : groups) {
    sort_rows(group.set.artifacts.begin(), group.set.artifacts.end(),
              [](const Artifact& a, const Artifact& b) { return a.order < b.order; });
    sets.push_back(std::move(group.set));
  }
  sort_rows(sets.begin(), sets.end(), [](const ArtifactSet& a, const ArtifactSet& b) {
    return a.artifacts.front().order < b.artifacts.front().order;
  });
  return sets;
}

}  // namespace npuscope::qnn
