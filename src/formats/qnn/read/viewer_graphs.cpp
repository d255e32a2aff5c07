// Which graph of a session each execute is of. qnn-net-run names graphs; ONNX Runtime, which makes
// one of each part of a model that the NPU takes, does not: there the nodes tell, and inferences
// execute all graphs in their order.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/counted.hpp"
#include "formats/qnn/read/viewer.hpp"

namespace npuscope::qnn {
namespace {

using Nodes = std::set<std::pair<std::uint32_t, StringId>>;  // id and name

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
    const std::size_t first = outputs.size();
    for (std::uint32_t graph = 0; graph < names_.size(); ++graph) {
      ViewerOutput& output = outputs.emplace_back();
      output.version = session_.version;
      output.graph_number = graph;
      output.graphs = std::uint32_t(names_.size());
      output.of_all_graphs = sums;
      set_name(output, graph);
    }
    put_events(std::span(outputs).subspan(first));
    if (has_one_preparation_each() || preparations_.empty()) return;
    losses_.add(
        Severity::info, 0,
        fmt::format("{} of {}, which the file does not tell apart; "
                    "they stay with the first graph",
                    counted(preparations_.size(), "preparation"), counted(names_.size(), "graph")));
  }

 private:
  struct Preparation {
    std::size_t begin = 0, end = 0;  // events
    bool operator==(const Preparation&) const = default;
  };
  static constexpr std::uint32_t of_all = ~std::uint32_t{0};
  static constexpr std::size_t max_graphs = 64;      // each becomes a profile
  static constexpr std::size_t max_shared = 10'000;  // numbers of all graphs

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
      // One without a value is of a trace that the log holds.
      const bool belongs = is_outside(event) && (prepares || event.level > 0 ||
                                                 event.is_estimated || (is_open && !event.value));
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
    const auto at = [&](std::size_t event) {
      return session_.events.begin() + std::ptrdiff_t(event);
    };
    const auto is_repeated = [&](const Preparation& a, const Preparation& b) {
      return b.begin == a.end &&
             std::equal(at(a.begin), at(a.end), at(b.begin), at(b.end),
                        [&](const auto& x, const auto& y) { return is_same(x, y); });
    };
    std::vector<Preparation> kept;
    std::vector<bool> is_dropped(session_.events.size(), false);
    std::size_t dropped = 0, events = 0;
    for (std::size_t i = 0; i < preparations_.size(); ++i) {
      const auto [begin, end] = preparations_[i];
      if (i > 0 && is_repeated(preparations_[i - 1], preparations_[i])) {
        std::fill(is_dropped.begin() + std::ptrdiff_t(begin),
                  is_dropped.begin() + std::ptrdiff_t(end), true);
        ++dropped;
        events += end - begin;
      } else {
        kept.push_back({begin - events, end - events});
      }
    }
    if (dropped == 0) return;
    preparations_ = std::move(kept);
    std::size_t place = 0;
    std::erase_if(session_.events, [&](const ViewerEvent&) { return is_dropped[place++]; });
    losses_.add(Severity::info, 0,
                "preparations that repeat the one before, number by number; counted once", dropped);
  }

  void find_graphs() {
    graph_of_.assign(session_.executes, 0);
    std::map<StringId, std::uint32_t> known;
    for (const ViewerEvent& event : session_.events) {
      if (event.graph == StringId::empty) continue;
      const auto last = std::uint32_t(std::min(names_.size(), max_graphs - 1));
      const auto [place, is_new] = known.try_emplace(event.graph, last);
      if (is_new && names_.size() < max_graphs) {
        names_.emplace_back(text(event.graph));
      } else if (is_new) {
        note_too_many();
      }
    }
    number_of_ = known;
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
    std::vector<Nodes> graphs;  // few; each execute is held against them
    for (std::uint32_t execute = 0; execute < session_.executes; ++execute) {
      // An execute whose rows end early is of the graph that has those which are there.
      const auto found = std::ranges::find_if(graphs, [&](const Nodes& known) {
        return std::ranges::includes(known, nodes[execute]) ||
               std::ranges::includes(nodes[execute], known);
      });
      graph_of_[execute] =
          std::uint32_t(std::min<std::size_t>(std::size_t(found - graphs.begin()), max_graphs - 1));
      if (found == graphs.end()) {
        if (graphs.size() == max_graphs) {
          note_too_many();
          continue;
        }
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

  void note_too_many() {
    losses_.add(Severity::warning, 0,
                fmt::format("executes of graphs beyond the first {}; counted for the last of these",
                            max_graphs));
  }

  // Basic profiling lists no nodes: as many graphs as were prepared, executed in turn.
  void find_by_order() {
    const std::size_t graphs = preparations_.size();
    const bool is_plausible = graphs > 1 && graphs <= max_graphs;
    if (!is_plausible || session_.executes % graphs != 0) return;
    for (std::uint32_t execute = 0; execute < session_.executes; ++execute) {
      graph_of_[execute] = execute % std::uint32_t(graphs);
    }
    name_by_number(graphs);
    if (session_.executes == 0) return;
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
      return number_of_.at(event.graph);
    }
    for (std::uint32_t i = 0; i < preparations_.size(); ++i) {
      if (place < preparations_[i].begin || place >= preparations_[i].end) continue;
      return has_one_preparation_each() ? i : 0;
    }
    return of_all;
  }

  // What is of all graphs goes to each, where there is little of it.
  void put_events(std::span<ViewerOutput> outputs) const {
    std::vector<std::uint32_t> number(session_.executes, 0);
    for (std::uint32_t execute = 0; execute < session_.executes; ++execute) {
      number[execute] = outputs[graph_of_[execute]].executes++;
    }
    std::size_t shared = 0;
    for (std::size_t i = 0; i < session_.events.size(); ++i) {
      const ViewerEvent& event = session_.events[i];
      const std::uint32_t of = graph_of(event, i);
      if (of != of_all) {
        put(event, outputs[of], number);
        continue;
      }
      const std::size_t graphs = shared++ < max_shared ? outputs.size() : 1;
      for (std::size_t graph = 0; graph < graphs; ++graph) put(event, outputs[graph], number);
    }
  }

  void put(const ViewerEvent& event, ViewerOutput& output,
           const std::vector<std::uint32_t>& number) const {
    ViewerEvent& copy = output.events.emplace_back(event);
    if (!is_outside(event)) copy.execute = number[event.execute];
    for (StringId ViewerEvent::*text_of :
         {&ViewerEvent::label, &ViewerEvent::section, &ViewerEvent::node_name,
          &ViewerEvent::sources, &ViewerEvent::graph, &ViewerEvent::value_text}) {
      copy.*text_of = output.strings.intern(text(event.*text_of));
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
  std::map<StringId, std::uint32_t> number_of_;  // by the file's names
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
