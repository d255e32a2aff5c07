// Follows the programs of a dispatch in the order of its actions: which units each uses, what is
// still under way from the one before, and which kernel a slice runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/torq/debug/debug_info.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::torq {

// A dispatch function as its text says it, before its programs are followed.

// In the order in which a task's operations are taken, as the vendor's tools do.
enum class WorkKind : std::uint8_t { slice, dma_in, dma_out, cdma, css };
inline constexpr std::size_t work_kind_count = 5;

// Names of values are views of the file's text.
struct DispatchText {
  struct Step {
    WorkKind kind{};
    std::int64_t slice = 0;
    LocationId location{};
    std::string_view first_value{};
    std::optional<std::int64_t> duration_cycles{};
    std::optional<std::int64_t> program_address{};
    // Of a transfer: what it is configured for, or, of a start, what the compiler took it to move.
    std::optional<std::int64_t> bytes{};
    bool fetches_code = false;  // of a transfer's configuration
  };
  struct Transfer {
    std::string_view source{}, destination{};
  };
  struct Task {
    std::uint32_t block = 0;  // in Program::blocks
    NssTask task;
    std::vector<Step> configures{}, starts{}, waits{};
    std::array<Transfer, work_kind_count> transfer{};
    std::vector<std::string_view> kernel_buffers{}, transfer_buffers{};  // names of globals
  };
  struct Block {
    std::uint32_t id = 0;
    std::string_view label{};
    std::vector<std::string_view> arguments{};
    std::vector<std::string_view> passes{};  // to the arguments of the next
    std::string_view next{};                 // its label
  };
  struct Program {
    std::string name{};
    std::vector<Block> blocks{};
    std::vector<Task> tasks{};
  };
  struct Invocation {
    std::string name{};
    std::optional<std::size_t> program{};  // in programs
    std::optional<std::int64_t> job{};
  };
  struct Control {           // start_program or wait_program
    std::size_t action = 0;  // in DispatchInfo::actions
    bool starts = false;
    Executor executor = Executor::other;
    std::string_view invocation{};
    std::vector<std::string_view> arguments{};
  };

  std::vector<Program> programs{};
  std::unordered_map<std::string_view, std::size_t> program_of;  // by the value that it is
  std::unordered_map<std::string_view, Invocation> invocations;  // by value
  std::vector<Control> controls{};
  std::unordered_map<std::string_view, Interval> lram;  // addresses by the name of a global
};

// Fills programs, tasks and work of the dispatch, and the programs of its actions, which are still
// in the order of the text.
void follow_programs(const DispatchText& text, DispatchInfo& dispatch, CountedNotes& notes);

}  // namespace npuscope::torq
