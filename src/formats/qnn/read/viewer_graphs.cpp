// Which graph of a session each execute is of. qnn-net-run names graphs; ONNX Runtime, which makes
// one of each part of a model that the NPU takes, does not: there the nodes tell, and inferences
// execute all graphs in their order.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "formats/qnn/read/viewer.hpp"

namespace npuscope::qnn {
namespace {

using Nodes = std::set<std::pair<std::uint32_t, StringId>>;  // id and name
constexpr std::string_view whole_call = "QNN (execute) time";

class GraphSplitter {
 public:
  GraphSplitter(ViewerOutput& session, CountedNotes& losses) : session_(session), losses_(losses) {}

  // Moves the session where it is of one graph.
  void split_into(ViewerSessions& outputs) {
    find_preparations();
    drop_repeated_preparations();
    find_graphs();
    if (names_.size() <= 1) {
      if (!names_.empty()) set_name(session_, 0);
      outputs.push_back(std::move(session_));
      return;
    }
    const std::vector<std::int64_t> sums = sums_of_inferences();
    for (std::uint32_t graph = 0; graph < names_.size(); ++graph) {
      ViewerOutput& output = outputs.emplace_back();
      output.strings = session_.strings;
      output.version = session_.version;
      output.graph_number = graph;
      output.graphs = std::uint32_t(names_.size());
      output.of_all_graphs = sums;
      set_name(output, graph);
      put_events(output, graph);
    }
    if (has_one_preparation_each() || preparations_.empty()) return;
    losses_.add(Severity::info, 0,
                fmt::format("{} preparations of {} graphs, which the file does not tell apart; "
                            "they stay with the first graph",
                            preparations_.size(), names_.size()));
  }

 private:
  struct Preparation {
    std::size_t begin = 0, end = 0;  // events
    bool operator==(const Preparation&) const = default;
  };
  static constexpr std::uint32_t of_all = ~std::uint32_t{0};

  std::string_view text(StringId id) const { return session_.strings[id]; }
  bool is_outside(const ViewerEvent& event) const { return event.execute == ViewerEvent::outside; }

  // "QNN (finalize) time" ends what a device's log has of a preparation and begins what a host's
  // has; rows of level 1 and estimates follow it in both.
  void find_preparations() {
    bool has_whole = false, is_open = false;
    for (std::size_t i = 0; i < session_.events.size(); ++i) {
      const ViewerEvent& event = session_.events[i];
      const std::string_view label = text(event.label);
      const bool prepares = label.find("(finalize)") != label.npos;
      const bool belongs = is_outside(event) && (prepares || event.level > 0 || event.is_estimated);
      if (!belongs) {
        is_open = false;
        continue;
      }
      if (prepares && event.level == 0 && (!is_open || has_whole)) {
        preparations_.push_back({i, i});
        is_open = true;
        has_whole = false;
      }
      if (!is_open) continue;
      has_whole |= label == "QNN (finalize) time";
      preparations_.back().end = i + 1;
    }
  }

  bool is_same(const ViewerEvent& a, const ViewerEvent& b) const {
    return a.label == b.label && a.level == b.level && a.unit == b.unit && a.value == b.value &&
           a.graph == b.graph;
  }

  // ONNX Runtime writes what the first of several graphs took twice.
  void drop_repeated_preparations() {
    std::uint64_t dropped = 0;
    for (std::size_t i = 1; i < preparations_.size();) {
      const auto at = [&](std::size_t event) {
        return session_.events.begin() + std::ptrdiff_t(event);
      };
      const Preparation& before = preparations_[i - 1];
      const Preparation repeated = preparations_[i];
      const bool is_repeated =
          repeated.begin == before.end &&
          std::equal(at(before.begin), at(before.end), at(repeated.begin), at(repeated.end),
                     [&](const auto& a, const auto& b) { return is_same(a, b); });
      if (!is_repeated) {
        ++i;
        continue;
      }
      session_.events.erase(at(repeated.begin), at(repeated.end));
      preparations_.erase(preparations_.begin() + std::ptrdiff_t(i));
      const std::size_t length = repeated.end - repeated.begin;
      for (std::size_t later = i; later < preparations_.size(); ++later) {
        preparations_[later].begin -= length;
        preparations_[later].end -= length;
      }
      ++dropped;
    }
    if (dropped == 0) return;
    losses_.add(Severity::info, 0,
                "preparations that repeat the one before, number by number; counted once", dropped);
  }

  void find_graphs() {
    graph_of_.assign(session_.executes, 0);
    std::map<StringId, std::uint32_t> known;
    for (const ViewerEvent& event : session_.events) {
      if (event.graph == StringId::empty) continue;
      const auto [place, is_new] = known.try_emplace(event.graph, names_.size());
      if (is_new) names_.emplace_back(text(event.graph));
    }
    has_names_ = !names_.empty();
    if (!has_names_) return find_by_nodes();
    for (std::uint32_t execute = 0; execute < session_.executes; ++execute) {
      const StringId name = execute < session_.graph_of_execute.size()
                                ? session_.graph_of_execute[execute]
                                : StringId::empty;
      const auto found = known.find(name);
      if (found != known.end()) graph_of_[execute] = found->second;
    }
  }

  void find_by_nodes() {
    std::vector<Nodes> nodes(session_.executes);
    for (const ViewerEvent& event : session_.events) {
      if (is_outside(event) || !event.node) continue;
      // Every graph has these two.
      const std::string_view name = text(event.node_name);
      if (name != "Input" && name != "Output")
        nodes[event.execute].insert({*event.node, event.node_name});
    }
    std::vector<Nodes> graphs;
    for (std::uint32_t execute = 0; execute < session_.executes; ++execute) {
      // An execute whose rows end early is of the graph that has those which are there.
      const auto found = std::ranges::find_if(graphs, [&](const Nodes& known) {
        return std::ranges::includes(known, nodes[execute]) ||
               std::ranges::includes(nodes[execute], known);
      });
      graph_of_[execute] = std::uint32_t(found - graphs.begin());
      if (found == graphs.end()) {
        graphs.push_back(nodes[execute]);
      } else if (found->size() < nodes[execute].size()) {
        *found = nodes[execute];
      }
    }
    const bool without_nodes =
        std::ranges::all_of(nodes, [](const Nodes& each) { return each.empty(); });
    if (without_nodes) return find_by_order();
    name_by_number(graphs.size());
  }

  // Basic profiling lists no nodes: as many graphs as were prepared, executed in turn.
  void find_by_order() {
    const std::size_t graphs = preparations_.size();
    if (graphs <= 1 || session_.executes % graphs != 0) return;
    for (std::uint32_t execute = 0; execute < session_.executes; ++execute) {
      graph_of_[execute] = execute % std::uint32_t(graphs);
    }
    name_by_number(graphs);
    losses_.add(Severity::warning, 0,
                fmt::format("executes list no nodes: that those of the {} prepared graphs take "
                            "turns is assumed; record with profiling_level=detailed to know",
                            graphs));
  }

  void name_by_number(std::size_t graphs) {
    if (graphs <= 1) return;
    for (std::size_t graph = 0; graph < graphs; ++graph) {
      names_.push_back(fmt::format("graph {}", graph + 1));
    }
  }

  void set_name(ViewerOutput& output, std::uint32_t graph) const {
    output.graph = names_[graph];
    output.has_graph_name = has_names_;
  }

  bool has_one_preparation_each() const { return preparations_.size() == names_.size(); }

  std::uint32_t graph_of(const ViewerEvent& event, std::size_t place) const {
    if (!is_outside(event)) return graph_of_[event.execute];
    if (event.graph != StringId::empty) {
      return std::uint32_t(std::ranges::find(names_, text(event.graph)) - names_.begin());
    }
    for (std::uint32_t i = 0; i < preparations_.size(); ++i) {
      if (place < preparations_[i].begin || place >= preparations_[i].end) continue;
      return has_one_preparation_each() ? i : 0;
    }
    return of_all;
  }

  void put_events(ViewerOutput& output, std::uint32_t graph) const {
    std::vector<std::uint32_t> number(session_.executes, 0);
    for (std::uint32_t execute = 0; execute < session_.executes; ++execute) {
      if (graph_of_[execute] == graph) number[execute] = output.executes++;
    }
    for (std::size_t i = 0; i < session_.events.size(); ++i) {
      const std::uint32_t of = graph_of(session_.events[i], i);
      if (of != graph && of != of_all) continue;
      ViewerEvent& event = output.events.emplace_back(session_.events[i]);
      if (!is_outside(event)) event.execute = number[event.execute];
    }
  }

  // Where every round of executes is of all graphs in one order, a round is an inference.
  std::vector<std::int64_t> sums_of_inferences() const {
    const std::size_t graphs = names_.size();
    if (session_.executes == 0 || session_.executes % graphs != 0) return {};
    for (std::uint32_t execute = 0; execute < session_.executes; ++execute) {
      if (graph_of_[execute] != execute % graphs) return {};
    }
    // Named graphs that executed once each may be of one inference or of several.
    if (has_names_ && session_.executes == graphs) return {};
    std::vector<std::int64_t> sums(session_.executes / graphs, 0);
    std::vector<std::uint32_t> counted(sums.size(), 0);
    for (const ViewerEvent& event : session_.events) {
      if (is_outside(event) || event.node || !event.value || text(event.label) != whole_call) {
        continue;
      }
      std::int64_t& sum = sums[event.execute / graphs];
      if (__builtin_add_overflow(sum, *event.value, &sum)) return {};
      ++counted[event.execute / graphs];
    }
    const bool is_whole =
        std::ranges::all_of(counted, [&](std::uint32_t count) { return count == graphs; });
    return is_whole ? sums : std::vector<std::int64_t>{};
  }

  ViewerOutput& session_;
  CountedNotes& losses_;
  std::vector<Preparation> preparations_;
  std::vector<std::string> names_;
  bool has_names_ = false;
  std::vector<std::uint32_t> graph_of_;  // by execute
};

}  // namespace

ViewerSessions split_graphs(ViewerSessions&& sessions, CountedNotes& losses) {
  ViewerSessions outputs;
  for (ViewerOutput& session : sessions) GraphSplitter(session, losses).split_into(outputs);
  return outputs;
}

}  // namespace npuscope::qnn
