#include "formats/perfetto/read/defects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace npuscope::perfetto {
namespace {

constexpr std::size_t max_numbers = 64;
constexpr std::uint32_t other_numbers = ~0u;

// Kinds of packets that people meet (trace_packet.proto).
const char* packet_name(std::uint32_t field) {
  switch (field) {
    case 1: return "ftrace_events";
    case 2: return "process_tree";
    case 4: return "inode_file_map";
    case 5: return "chrome_events";
    case 7: return "sys_stats";
    case 9: return "process_stats";
    case 33: return "trace_config";
    case 34: return "ftrace_stats";
    case 35: return "trace_stats";
    case 37: return "profile_packet";
    case 38: return "battery";
    case 39: return "android_log";
    case 40: return "power_rails";
    case 45: return "system_info";
    case 46: return "trigger";
    case 47: return "packages_list";
    case 49: return "perfetto_metatrace";
    case 51: return "chrome_metadata";
    case 52: return "gpu_counter_event";
    case 53: return "gpu_render_stage_event";
    case 54: return "streaming_profile_packet";
    case 56: return "heap_graph";
    case 57: return "graphics_frame_event";
    case 61: return "module_symbols";
    case 62: return "vulkan_memory_event";
    case 64: return "deobfuscation_mapping";
    case 65: return "vulkan_api_event";
    case 66: return "perf_sample";
    case 67: return "cpu_info";
    case 68: return "smaps_packet";
    case 69: return "service_event";
    case 70: return "initial_display_state";
    case 71: return "gpu_mem_total_event";
    case 72: return "extension_descriptor";
    case 73: return "memory_tracker_snapshot";
    case 76: return "frame_timeline_event";
    case 78: return "ui_state";
    case 82: return "translation_table";
    case 88: return "network_packet";
    case 90: return "track_event_range_of_interest";
    case 107: return "remote_clock_sync";
    default: return nullptr;
  }
}

const char* event_field_name(std::uint32_t field) {
  switch (field) {
    case 5: return "task_execution";
    case 21: return "log_message";
    case 55: return "callstack";
    case 56: return "callstack_iid";
    default: return nullptr;
  }
}

std::string named(const char* what, const char* name, std::uint32_t number) {
  if (number == other_numbers) return fmt::format("{} of further kinds", what);
  if (name != nullptr) return fmt::format("{} {} ({})", what, name, number);
  return fmt::format("{} {}", what, number);
}

}  // namespace

LossWords words_of(Defect defect) {
  using enum Severity;
  switch (defect) {
    case Defect::broken_packet: return {error, "packets are broken and were left out"};
    case Defect::broken_track_event: return {error, "track events are broken and were left out"};
    case Defect::needs_lost_state:
      return {warning,
              "packets need earlier packets of their sequence that the trace lacks; left "
              "out"};
    case Defect::too_many_sequences:
      return {warning, "packets of more sequences than a trace can have; left out"};
    case Defect::missing_interned_name:
      return {warning, "events name strings that the trace does not define; kept without name"};
    case Defect::missing_interned_value:
      return {warning, "arguments name strings that the trace does not define; left out"};
    case Defect::no_timestamp: return {warning, "events without a time were left out"};
    case Defect::no_reference_timestamp:
      return {warning, "events count time from a thread descriptor that the trace lacks; left out"};
    case Defect::clock_not_related:
      return {warning,
              "events are timed by a clock that no clock snapshot relates to the trace's; "
              "left out"};
    case Defect::assumed_base_clock:
      return {info, "no clock snapshot: the clock of the first event is taken as the trace's"};
    case Defect::time_out_of_range: return {warning, "times beyond 73 years; events left out"};
    case Defect::too_many_clocks: return {warning, "clocks beyond the first 32 were passed over"};
    case Defect::packets_dropped_by_recorder:
      return {warning, "times the recorder lost packets; slices around them may be wrong"};
    case Defect::broken_compressed_packet:
      return {error, "compressed packets are broken; what came out of them before is kept"};
    case Defect::nested_compressed_packet:
      return {warning, "compressed packets within compressed packets were left out"};
    case Defect::decompressed_too_much:
      return {error,
              "compressed packets hold more than the limit for decompressed bytes; the rest "
              "was left out"};
    case Defect::unmatched_end: return {warning, "slice ends without a begin were left out"};
    case Defect::unclosed_slice:
      return {warning, "slices have no end; kept until the last time in the trace"};
    case Defect::ended_with_outer:
      return {warning, "slices outlast one around them that an end with a name closed; cut there"};
    case Defect::end_before_begin: return {warning, "slices end before they begin; given length 0"};
    case Defect::unmatched_async_end:
      return {warning, "asynchronous ends without a begin were left out"};
    case Defect::unclosed_async:
      return {warning, "asynchronous events have no end; kept until the last time in the trace"};
    case Defect::late_events:
      return {info, "events came after later ones of their track and were sorted in"};
    case Defect::extra_counter_without_track:
      return {warning, "counter values name no counter track; left out"};
    case Defect::counter_without_value:
      return {warning, "counter events without a value; left out"};
    case Defect::annotation_without_value:
      return {info, "debug annotations hold values of kinds that are not read; kept as null"};
    case Defect::nested_too_deep:
      return {warning, "debug annotations nest deeper than 64 levels; cut there"};
    case Defect::flow_without_slice: return {info, "flow events outside of any slice; left out"};
    case Defect::flow_without_other_end:
      return {info, "flow events without a beginning or an end; left out"};
    case Defect::overlapping_slices:
      return {warning, "slices overlap without nesting and lie on lanes of their own"};
    case Defect::outlasting_slices:
      return {
          info,
          "slices end up to a step of the trace's times after the one that they began in; nested "
          "in it"};
    case Defect::early_slices:
      return {info,
              "slices begin shortly before the one before them ended; after it, not next to it"};
    case Defect::unknown_event_type:
      return {warning, "track events have no type or one that is not known; left out"};
    case Defect::track_without_descriptor: return {info, "tracks have events but no descriptor"};
    case Defect::parent_missing: return {info, "tracks name a parent that the trace does not have"};
    case Defect::parent_cycle: return {warning, "tracks are their own ancestors; taken as roots"};
    case Defect::no_track_events:
      return {warning, "no track events: what the trace recorded, npuscope does not read"};
    case Defect::kinds: break;
  }
  return {error, ""};
}

void Defects::add_bounded(ByNumber& tallies, std::uint32_t number, std::uint64_t offset) {
  const bool room = tallies.size() < max_numbers || tallies.contains(number);
  tallies[room ? number : other_numbers].add(offset);
}

void Defects::add_packet_kind(std::uint32_t field, std::uint64_t offset) {
  add_bounded(packet_kinds_, field, offset);
}

void Defects::add_event_field(std::uint32_t field, std::uint64_t offset) {
  add_bounded(event_fields_, field, offset);
}

void Defects::add_legacy_phase(std::uint32_t phase, std::uint64_t offset) {
  add_bounded(legacy_phases_, phase, offset);
}

void Defects::add_note(Severity severity, std::uint64_t offset, std::string message,
                       std::uint64_t count) {
  notes_.push_back({severity, {}, offset, std::move(message), count});
}

std::vector<Note> Defects::notes(const std::string& file) const {
  std::vector<Note> notes = notes_;
  for (Note& note : notes) note.file = file;
  const std::vector<Note> by_kind = LossLedger::notes(file);
  notes.insert(notes.end(), by_kind.begin(), by_kind.end());
  const auto add = [&](const std::string& message, const LossTally& tally) {
    notes.push_back(tally.note(Severity::info, file, message));
  };
  for (const auto& [field, tally] : packet_kinds_) {
    add(named("packets not read:", packet_name(field), field), tally);
  }
  for (const auto& [field, tally] : event_fields_) {
    add(named("fields of track events not read:", event_field_name(field), field), tally);
  }
  for (const auto& [phase, tally] : legacy_phases_) {
    const bool letter = phase > 0x20 && phase < 0x7f;
    add(letter ? fmt::format("legacy events not read: phase {}", char(phase))
               : fmt::format("legacy events not read: phase number {}", phase),
        tally);
  }
  return notes;
}

}  // namespace npuscope::perfetto
