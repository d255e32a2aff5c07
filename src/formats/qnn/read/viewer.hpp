// What qnn-profile-viewer prints, as text, as CSV and as standardised JSON: the same events in
// three forms. A reader of each fills a ViewerOutput, whose labels are the viewer's own. Programs
// append their sessions to one file, and a session may execute several graphs: each graph of each
// session is an output, with a cold first execute.
//
//   Init: NetRun 24900 us   …   execute 0: QNN (execute) time 3907 us
//                                          Time for initial VTCM acquire 964 ticks
//                                          node MatMul_0, OpId 18: 32707 cycles
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/base/string_pool.hpp"
#include "npuscope/profile/meaning.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

// The event of a whole call.
inline constexpr std::string_view whole_call = "QNN (execute) time";

enum class ViewerUnit : std::uint8_t { other, microseconds, cycles, ticks, count, bytes, rate };

struct ViewerEvent {
  StringId label{};    // "RPC (execute) time"; of a node its name
  StringId section{};  // "Init", "finalize" …; empty within an execute
  static constexpr std::uint32_t outside = ~std::uint32_t{0};
  std::uint32_t execute = outside;
  std::uint32_t level = 0;  // 0: of the whole, 1: of a part, 2: of a part's part
  static constexpr std::uint32_t no_id = ~std::uint32_t{0};
  std::optional<std::uint32_t> node;  // the OpId of the node that it is about; no_id: not printed
  StringId node_name{};
  StringId sources{};  // the model's nodes that became this one: "Conv:conv_a;Relu:relu_a"
  StringId graph{};    // as the file names it; empty: unnamed, or of all graphs
  ViewerUnit unit = ViewerUnit::other;
  Statistic statistic = Statistic::none;  // over all executes of the file
  bool is_estimated = false;              // by the compiler, before anything executed
  std::optional<std::int64_t> value;      // none: printed empty or as UNKNOWN
  double decimals = 0;                    // of the value, below 1
  StringId value_text{};                  // where it is not a number: "HVX, HMX, DMA"
};

struct ViewerOutput {
  StringPool strings;
  std::vector<ViewerEvent> events;
  std::uint32_t executes = 0;
  std::string version;                     // of the SDK, "v2.45.0.260326154327"
  std::vector<StringId> graph_of_execute;  // as the file names them
  // After split_graphs():
  std::string graph;            // "graph 2" where the file has no name
  bool has_graph_name = false;  // the file's own
  std::uint32_t graph_number = 0, graphs = 1;
  // Microseconds of each inference over all graphs, in order; empty where the file does not show
  // that one inference executes them all.
  std::vector<std::int64_t> of_all_graphs;
};
// By the backend without a device: no thread of the vector units, no call to another processor.
bool is_emulated(const ViewerOutput& output);
using ViewerSessions = std::vector<ViewerOutput>;  // of one file, in its order

// One row or line, as the file has it.
struct ViewerRow {
  std::string_view label, value, unit;
  std::uint32_t level = 0;
  bool is_node = false;  // the file says so, whatever the label
  std::string_view sources = {};
};

// Puts events in their places: tells where an execute begins and ends, which node an event is
// about, and what the unit is in truth. For the three readers.
class ViewerCollector {
 public:
  // The sessions must be empty.
  ViewerCollector(ViewerSessions& sessions, CountedNotes& losses)
      : sessions_(sessions), losses_(losses) {
    sessions_.emplace_back();
  }

  ViewerOutput& output() { return sessions_.back(); }
  // Events that follow are of another run of the program; nothing where there are none before.
  void begin_session();
  // Where no line announces sessions: one begins when a program that has executed prepares again.
  void begin_session_before(std::string_view label, std::uint32_t level);
  // A line that says so: "Execute Stat 2", a message BACKEND_EXECUTE, "Graph 0: decoder".
  void begin_execute(std::string_view graph = {});
  void end_execute() { in_execute_ = false; }
  // Of the events outside executes; with a statistic those of all executes of the file.
  void begin_section(std::string_view section, Statistic statistic = Statistic::none);
  // What follows is of that graph, until another one, a section or an execute begins.
  void begin_graph(std::string_view graph);
  // The same for the events since the last section or execute, whose line comes after them.
  void claim_section(std::string_view section);
  // Executes that no line announces begin at the first label of one and end at the last.
  void add_delimited(const ViewerRow& row);
  void add(const ViewerRow& row);

 private:
  bool is_partner(bool is_node_label, std::uint32_t level) const;
  // Some thousand executes of a large network. More are counted, not kept.
  static constexpr std::size_t max_events = std::size_t{1} << 22;
  static constexpr std::size_t max_sessions = 256;  // each becomes a profile

  ViewerSessions& sessions_;
  CountedNotes& losses_;
  std::size_t events_ = 0;  // of all sessions
  StringId section_{};
  bool in_execute_ = false;
  bool is_announced_ = false;  // the execute, by a line of its own
  Statistic statistic_ = Statistic::none;
  StringId graph_{};
  std::optional<std::uint32_t> node_;
  std::uint32_t node_level_ = 0;
  StringId node_name_{};
  bool root_in_cycles_ = false, root_is_estimate_ = false;  // the last row of level 0
};

// What "MatMul_0:OpId_18 (cycles)", "Input OpId_2 (cycles)" and, without a name, "OpId_18 (cycles)"
// name; none for other labels.
struct NodeLabel {
  std::string_view name;
  std::uint32_t id = 0;
};
std::optional<NodeLabel> parse_node(std::string_view label);
// "Graph 0 (decoder)" and "Graph 0: decoder" name a graph; none for other texts.
std::optional<std::string_view> parse_graph(std::string_view text);

// Each graph of each session as an output of its own: by the names that executes have, else by the
// nodes that they list.
ViewerSessions split_graphs(ViewerSessions&& sessions, CountedNotes& losses);

// Sessions with at least one event, of which there is at least one.
Result<ViewerSessions> read_viewer_text(ByteSource& source, CountedNotes& losses);
Result<ViewerSessions> read_viewer_csv(ByteSource& source, CountedNotes& losses);
Result<ViewerSessions> read_viewer_json(ByteSource& source, CountedNotes& losses);

}  // namespace npuscope::qnn
