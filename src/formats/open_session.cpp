#include "formats/open_session.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "npuscope/profile/meaning.hpp"

namespace npuscope {
namespace {

constexpr NamedNumber session_run{"ONNX Runtime, an inference", MeasureKind::wall,
                                  NumberRole::session_run};
constexpr NamedNumber session_node{"ONNX Runtime, the graph's node", MeasureKind::wall,
                                   NumberRole::session_node};

// Nodes that a session gave to QNN, in the order of their first runs.
std::vector<OpId> graphs_of(const Profile& session) {
  std::vector<OpId> graphs;
  std::vector<bool> is_known(session.ops.size(), false);
  for (const OpId op : session.spans.op) {
    if (op == OpId::none || is_known[index_of(op)]) continue;
    is_known[index_of(op)] = true;
    const Op& node = session.ops[index_of(op)];
    if (session.text(node.provider) == "QNNExecutionProvider") graphs.push_back(op);
  }
  return graphs;
}

ClockId microseconds(Profile& profile) {
  const auto is_microseconds = [](const Clock& clock) {
    return clock.kind == ClockKind::wall && clock.rate.value == 1e6;
  };
  auto found = std::ranges::find_if(profile.clocks, is_microseconds);
  if (found == profile.clocks.end()) {
    Clock clock;
    clock.name = profile.strings.intern("microseconds");
    clock.rate = Hertz{1e6};
    found = profile.clocks.insert(profile.clocks.end(), clock);
  }
  return ClockId(std::uint32_t(found - profile.clocks.begin()));
}

// Of each inference, what it and the node took.
void add_times(const Profile& session, OpId node, Profile& profile) {
  const double to_microseconds = 1e6 / session.clocks[index_of(session.base_clock)].rate.value;
  std::map<std::uint32_t, double> runs, nodes;
  const Spans& spans = session.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const double time = double(spans.duration[row]) * to_microseconds;
    if (spans.kind[row] == SpanKind::inference) runs[spans.instance[row]] += time;
    if (spans.op[row] == node) nodes[spans.instance[row]] += time;
  }
  const ClockId clock = microseconds(profile);
  const auto add = [&](const NamedNumber& number, const std::map<std::uint32_t, double>& times) {
    for (const auto& [inference, time] : times) {
      if (inference == every_instance) continue;
      profile.add_measure(Measure::Subject::profile, 0, number, Origin::measured, clock, time,
                          inference);
    }
  };
  add(session_run, runs);
  add(session_node, nodes);
}

std::vector<Profile*> graphs_next_to(const Profile& session, const std::string& file,
                                     OpenRun& run) {
  const auto folder_of = [](const std::string& path) {
    return std::filesystem::path(path).parent_path();
  };
  std::vector<Profile*> graphs;
  for (OpenRun::OpenedProfile& opened : run.profiles()) {
    const Provenance& from = opened.profile.provenance;
    const bool is_of_session = from.inferences > 0 && from.ran() &&
                               from.inferences == session.provenance.inferences &&
                               !from.files.empty() && folder_of(from.files[0]) == folder_of(file);
    if (is_of_session && from.device.starts_with("HTP")) graphs.push_back(&opened.profile);
  }
  return graphs;
}

}  // namespace

bool joins_estimates(const Profile& session, const std::string& file, OpenRun& run) {
  bool joins = false;
  for (OpenRun::OpenedProfile& opened : run.profiles()) {
    Profile& estimate = opened.profile;
    const std::string& graph = estimate.provenance.graph;
    if (estimate.provenance.times != Origin::estimated || graph.empty()) continue;
    const auto is_graph = [&](const Op& op) { return session.text(op.name) == graph; };
    if (std::ranges::none_of(session.ops, is_graph)) continue;
    joins = true;
    estimate.provenance.files.push_back(file);
    estimate.notes.push_back({Severity::info, file, 0,
                              "the session ran in the host's emulation: its times are left out, "
                              "open the file alone to see them",
                              1});
    const auto is_on_host = [](const Op& op) { return op.engine == Engine::host; };
    if (std::ranges::any_of(estimate.ops, is_on_host)) continue;
    for (const Op& from : session.ops) {
      if (!is_on_host(from)) continue;
      Op op;
      op.name = op.node = estimate.strings.intern(session.text(from.name));
      op.kind = op.node_kind = estimate.strings.intern(session.text(from.node_kind));
      op.engine = Engine::host;
      op.position = std::uint32_t(estimate.ops.size());
      estimate.ops.push_back(op);
    }
  }
  return joins;
}

void join_session(const Profile& session, const std::string& file, OpenRun& run) {
  const std::vector<OpId> nodes = graphs_of(session);
  const std::vector<Profile*> graphs = graphs_next_to(session, file, run);
  if (nodes.size() != graphs.size()) return;
  const auto name_of = [&](OpId node) { return session.text(session.ops[index_of(node)].name); };
  // By name where all have one that the session knows; by place where none has.
  std::vector<OpId> node_of;
  const bool has_numbers = std::ranges::all_of(graphs, [](const Profile* graph) {
    return graph->provenance.graph.empty() || graph->provenance.graph_is_numbered;
  });
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const auto named = [&](OpId node) { return name_of(node) == graphs[i]->provenance.graph; };
    const auto found =
        has_numbers ? nodes.begin() + std::ptrdiff_t(i) : std::ranges::find_if(nodes, named);
    if (found == nodes.end()) return;
    node_of.push_back(*found);
  }
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    Profile& graph = *graphs[i];
    add_times(session, node_of[i], graph);
    if (!has_numbers) continue;
    graph.provenance.graph = name_of(node_of[i]);
    graph.provenance.graph_is_numbered = false;
    graph.notes.push_back(
        {Severity::info, file, 0, "this session's profile names the graph, by its place", 1});
  }
}

}  // namespace npuscope
