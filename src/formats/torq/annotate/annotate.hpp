// A runtime log joined with debug information: what each action of each invocation was, which
// units its program used, and when it ran.
//
//   const auto annotation = annotate(**open_byte_source("runtime.csv"), debug);
//   write_annotated_csv(*annotation, "annotated.csv");
//
//   action_id;job_id;operation;invocation_names;original_operators;total_time;slice_used_0_in_p…
//   3;1.0;torq_hl.start_program;add_0;tosa.add@L3 tosa.clamp@L4;2.0;True;False;True;True;False;…
//
// Rows are as the vendor's annotation (v2.0.0) writes them: for each invocation that the log names
// all actions of its dispatch, without times where it did not run them (INIT), then the calls of
// the HAL. Kernels of a program are in the order in which it runs them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/torq/annotate/pairing.hpp"
#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/runtime_log.hpp"
#include "npuscope/profile/column.hpp"

namespace npuscope::torq {

inline constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::min();

// What all invocations of an action have in common.
struct ActionRow {
  std::int32_t action = 0;
  std::optional<std::int64_t> job{};
  std::string operation{};  // "torq_hl.start_program"
  std::vector<std::string> kernels{};
  std::vector<std::string> operators{};  // "tosa.add@L3"
  std::optional<UnitUse> uses{};         // of NSS programs
  std::string location{};                // brief
};

struct AnnotatedInvocation {
  std::int64_t id = 0;
  std::uint32_t dispatch = 0;  // in DebugInfo::dispatches
  std::size_t first = 0;       // of its actions, in begin_us and end_us
};

struct HalCall {
  StringId dispatch{};  // of Annotation::strings, "__HAL_QUEUE_EXECUTE__"
  StringId type{};      // "HAL_QUEUE_WAIT"
  std::int64_t begin_us = 0, end_us = 0;
};

struct Annotation {
  const DebugInfo* debug = nullptr;  // must live as long
  std::string log_name;
  LogKind log_kind = LogKind::none;
  Pairing pairing;  // what of the run the debug information covers
  StringPool strings;
  std::vector<std::vector<ActionRow>> rows;  // by dispatch, in the order of its actions
  std::vector<AnnotatedInvocation> invocations;
  Column<std::int64_t> begin_us, end_us;  // no_time where the log has none
  std::vector<HalCall> hal;
  std::vector<Note> notes;
};

// An input error where log and debug information contradict each other (pairing.hpp). Dispatches
// without debug information and events without a partner are counted in the notes.
Result<Annotation> annotate(const RuntimeLog& log, const DebugInfo& debug);
// The same while a log is read, which is never held.
Result<Annotation> annotate(ByteSource& source, const DebugInfo& debug,
                            const ProgressReport& progress = {});

// "HAL_QUEUE_WAIT"; of HAL_CALL what was called, "HAL_COMMAND_BUFFER_DISPATCH".
std::string_view location_of(const Annotation& annotation, const HalCall& call);

// Among the actions of its dispatch, those whose begin and whose end a program has.
struct ProgramCells {
  std::size_t begin = 0, end = 0;
};
// None where the dispatch lacks them.
std::optional<ProgramCells> cells_of(const DispatchInfo& dispatch, const ProgramRun& program,
                                     LogKind kind);

// When a program ran, from the begin of its start to the end of its wait; none where the log lacks
// either, or has them the wrong way round.
std::optional<Interval> time_of(const Annotation& annotation, const AnnotatedInvocation& invocation,
                                const ProgramRun& program);
std::optional<Interval> time_of(const Annotation& annotation, const AnnotatedInvocation& invocation,
                                ProgramCells cells);
std::optional<Interval> time_of(const Annotation& annotation, const AnnotatedInvocation& invocation,
                                std::size_t action);

// A table that an annotation has written, read back: programs, host copies and programs as spans,
// HAL calls as phases. An input error where a column is missing.
bool looks_like_annotated_csv(std::string_view head);
Result<Profile> read_annotated_profile(ByteSource& source);

Status write_annotated_csv(const Annotation& annotation, const std::filesystem::path& path);
// The tables of older tools, a row per operation of the hardware: `host` as of 2026-01 (16
// columns), `nss` as of 2025-10 (11 columns, NSS programs only). Invocations without times are left
// out. Returns how many rows it wrote. `log` is what the annotation was made of.
enum class OlderForm : std::uint8_t { host, nss };
Result<std::uint64_t> write_older_csv(const Annotation& annotation, const RuntimeLog& log,
                                      OlderForm form, const std::filesystem::path& path);

// The calls of the HAL of a log, event by event.
//
// As the vendor pairs them: within an invocation and a name an end belongs to the last open begin;
// what has no partner has happened, at the time that is known of it. A call as a whole stands only
// where nothing inside it is logged.

inline bool is_hal(std::string_view dispatch) { return dispatch.starts_with("__HAL"); }

class HalCalls {
 public:
  explicit HalCalls(const StringPool& strings) : strings_(strings) {}

  void take(const LogEvent& event);
  // Events without a partner.
  std::uint64_t without_partner() const { return ends_without_begin_ + open_count_; }
  // Invocation by invocation, those of one by begin. Once.
  std::vector<HalCall> finish();

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Call {
    std::int64_t begin_us = 0, end_us = 0;
    StringId type{};
    std::uint32_t invocation = 0;
    std::int32_t action = no_action;
    std::uint32_t before = none;  // of its invocation and type: open when this one began
  };
  struct Invocation {
    StringId dispatch{};  // of its first event
    bool has_details = false;
  };

  bool is_whole(StringId type) const { return strings_[type] == "HAL_CALL"; }

  const StringPool& strings_;
  InvocationNumbers numbers_;
  std::vector<Invocation> invocations_;
  std::vector<Call> calls_;
  std::unordered_map<std::uint64_t, std::uint32_t> open_;  // the last, by invocation and type
  std::uint64_t open_count_ = 0;
  std::uint64_t ends_without_begin_ = 0;
};

}  // namespace npuscope::torq
