#include "formats/qaic/opstats/opstats_names.hpp"

#include "base/numbers.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::string_view core_mark = "_Core_";

// The part up to the next '_', which is taken too.
std::string_view take_part(std::string_view& text) {
  const auto end = std::min(text.find('_'), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool is_group(std::string_view part) {
  return !part.empty() && part != "DMA" && part != "Barrier" && !parse_number<std::uint32_t>(part);
}

// "<before> <word> <number>" at the end of a process name.
std::optional<std::uint32_t> take_suffix(std::string_view& name, std::string_view word) {
  const auto at = name.rfind(word);
  if (at == name.npos) return std::nullopt;
  const auto number = parse_number<std::uint32_t>(name.substr(at + word.size()));
  if (number) name = name.substr(0, at);
  return number;
}

// "x (6)", "x-Inf-6"; "x-6" when x is known to be the name.
std::optional<std::uint32_t> take_inference(std::string_view& name, std::string_view op_kind) {
  if (name.ends_with(')')) {
    const auto open = name.rfind(" (");
    if (open != name.npos) {
      const auto number =
          parse_number<std::uint32_t>(name.substr(open + 2, name.size() - open - 3));
      if (number) name = name.substr(0, open);
      return number;
    }
  }
  const auto dash = name.rfind('-');
  if (dash == name.npos) return std::nullopt;
  const auto number = parse_number<std::uint32_t>(name.substr(dash + 1));
  if (!number) return std::nullopt;
  const std::string_view before = name.substr(0, dash);
  if (before.ends_with("-Inf")) {
    name = before.substr(0, before.size() - 4);
    return number;
  }
  const bool is_wait = before.starts_with("sync ") || before.starts_with("barrier ");
  if (!is_wait && (op_kind.empty() || before != op_kind)) return std::nullopt;
  name = before;
  return number;
}

bool is_core_execution(std::string_view name) {
  constexpr std::string_view begin = "Core-", end = "-Execution";
  return name.starts_with(begin) && name.ends_with(end) && name.size() > begin.size() + end.size();
}

}  // namespace

std::optional<TrackName> parse_track_name(std::string_view name) {
  const auto mark = name.rfind(core_mark);
  if (mark == name.npos) return std::nullopt;
  TrackName track;
  track.label = name.substr(0, mark);
  std::string_view rest = name.substr(mark + core_mark.size());
  const auto core = parse_number<std::uint32_t>(take_part(rest));
  if (!core) return std::nullopt;
  track.core = *core;
  if (rest.empty()) return track;
  track.kind = TrackName::Kind::engine;
  track.group = take_part(rest);
  if (!is_group(track.group)) return std::nullopt;
  if (rest.starts_with('T')) track.thread = parse_number<std::uint32_t>(take_part(rest).substr(1));
  if (rest.empty()) return track;
  const std::string_view part = take_part(rest);
  if (part == "Barrier" && rest.empty()) {
    track.kind = TrackName::Kind::barrier;
  } else if (part == "DMA" && (rest.empty() || parse_number<std::uint32_t>(rest))) {
    track.kind = TrackName::Kind::dma;
  } else {
    return std::nullopt;
  }
  return track;
}

ProcessName parse_process_name(std::string_view name) {
  ProcessName process;
  process.is_host = name.starts_with("HOST_PROC");
  take_suffix(name, " activation ");
  process.device = take_suffix(name, " device ");
  if (const auto open = name.rfind('['); open != name.npos && name.ends_with(']')) {
    name = name.substr(open + 1, name.size() - open - 2);
  }
  if (const auto track = parse_track_name(name); track && track->kind == TrackName::Kind::core) {
    process.label = track->label;
    process.core = track->core;
  } else if (name.starts_with("Process ")) {
    process.core = parse_number<std::uint32_t>(name.substr(8));
  }
  return process;
}

SliceName parse_slice_name(std::string_view name, std::string_view op_kind) {
  SliceName slice;
  slice.inference = take_inference(name, op_kind);
  slice.kernel = name.substr(0, name.find_last_not_of(' ') + 1);
  if (name.starts_with("sync ")) {
    slice.kind = SpanKind::sync;
    slice.group = name.substr(5);
  } else if (name.starts_with("barrier ")) {
    slice.kind = SpanKind::barrier;
    slice.group = name.substr(8);
  } else if (is_core_execution(name) || name.starts_with("Device_")) {
    slice.kind = SpanKind::inference;
  }
  return slice;
}

Engine engine_of_group(std::string_view group) {
  if (group == "HVX") return Engine::hvx;
  if (group == "HMX") return Engine::hmx;
  if (group == "DMAIssue") return Engine::dma_issue;
  return Engine::other;
}

std::string_view group_of_thread(std::uint32_t thread) {
  if (thread < 4) return "HVX";
  if (thread == 4) return "HMX";
  return thread == 5 ? "DMAIssue" : "";
}

std::uint32_t first_thread_of_group(std::string_view group) {
  if (group == "HMX") return 4;
  return group == "DMAIssue" ? 5 : 0;
}

std::uint32_t threads_of_group(std::string_view group) { return group == "HVX" ? 4 : 1; }

}  // namespace npuscope::qaic
