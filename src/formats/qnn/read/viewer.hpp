// What qnn-profile-viewer prints, as text, as CSV and as standardised JSON: the same events in
// three forms. A reader of each fills a ViewerOutput, whose labels are the viewer's own. Programs
// append their sessions to one file: each session is an output, with a cold first execute.
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
#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

enum class ViewerUnit : std::uint8_t { other, microseconds, cycles, ticks, count, bytes };

struct ViewerEvent {
  StringId label{};    // "RPC (execute) time"; of a node its name
  StringId section{};  // "Init", "finalize" …; empty within an execute
  static constexpr std::uint32_t outside = ~std::uint32_t{0};
  std::uint32_t execute = outside;
  std::uint32_t level = 0;            // 0: of the whole, 1: of a part, 2: of a part's part
  std::optional<std::uint32_t> node;  // the OpId of the node that it is about
  StringId node_name{};
  ViewerUnit unit = ViewerUnit::other;
  std::optional<std::int64_t> value;  // none: printed empty or as UNKNOWN
  StringId value_text{};              // where it is no number: "HVX, HMX, DMA"
};

struct ViewerOutput {
  StringPool strings;
  std::vector<ViewerEvent> events;
  std::uint32_t executes = 0;
  std::string version;  // of the SDK, "v2.45.0.260326154327"
};
using ViewerSessions = std::vector<ViewerOutput>;  // of one file, in its order

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
  // A line that says so: "Execute Stat 2", a message BACKEND_EXECUTE.
  void begin_execute();
  void end_execute() { in_execute_ = false; }
  // Of the events outside executes.
  void begin_section(std::string_view section);
  // The same for the events since the last section or execute, whose line comes after them.
  void claim_section(std::string_view section);
  // Executes that no line announces begin at the first label of one and end at the last.
  void add_delimited(std::string_view label, std::string_view value, std::string_view unit,
                     std::uint32_t level);
  void add(std::string_view label, std::string_view value, std::string_view unit,
           std::uint32_t level);

 private:
  // Some thousand executes of a large network. More are counted, not kept.
  static constexpr std::size_t max_events = std::size_t{1} << 22;
  static constexpr std::size_t max_sessions = 256;  // each becomes a profile

  ViewerSessions& sessions_;
  CountedNotes& losses_;
  std::size_t events_ = 0;  // of all sessions
  StringId section_{};
  bool in_execute_ = false;
  std::optional<std::uint32_t> node_;
  StringId node_name_{};
};

// What "MatMul_0:OpId_18 (cycles)" and "Input OpId_2 (cycles)" name; none for other labels.
struct NodeLabel {
  std::string_view name;
  std::uint32_t id = 0;
};
std::optional<NodeLabel> parse_node(std::string_view label);

// Sessions with at least one event, of which there is at least one.
Result<ViewerSessions> read_viewer_text(ByteSource& source, CountedNotes& losses);
Result<ViewerSessions> read_viewer_csv(ByteSource& source, CountedNotes& losses);
Result<ViewerSessions> read_viewer_json(ByteSource& source, CountedNotes& losses);

}  // namespace npuscope::qnn
