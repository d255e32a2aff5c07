// Traces of formats that many tools write: Perfetto's protobuf and Chrome's JSON. What kind of
// hardware the latter is of, its events decide.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/has_text.hpp"
#include "base/text.hpp"
#include "formats/ascend/profile.hpp"
#include "formats/chrome/events.hpp"
#include "formats/onnxruntime/session.hpp"
#include "formats/open_session.hpp"
#include "formats/open_table.hpp"
#include "formats/perfetto/read/read.hpp"
#include "formats/qaic/opstats/opstats_profile.hpp"
#include "formats/qnn/assemble/sets.hpp"
#include "formats/sigmastar/profile.hpp"
#include "profile/far_spans.hpp"

namespace npuscope {
namespace {

// Operator traces of Cloud AI 100 quote all numbers in their args.
enum ChromeKind : FormatKind { plain_trace, quoting_trace };

// A QNN header that stands behind the events, where the first bytes do not show it.
qnn::Kind late_qnn_kind(const chrome::Events& events) {
  const std::string_view header = events.field("header");
  if (header.empty()) return qnn::Kind::none;
  return qnn::recognise(fmt::format(R"({{"header": {}, "traceEvents": []}})", header));
}

// What `npuscope convert` writes keeps a vendor's arguments but not its conventions.
bool is_export(const chrome::Events& events) {
  return events.field("otherData").starts_with(R"({"writer":"npuscope")");
}

// Spans of a trace that is hours long.
bool is_unlikely_long(const Profile& profile) {
  constexpr std::int64_t hour = 3'600'000'000'000;  // ticks where the file counts microseconds
  const auto& durations = profile.spans.duration;
  return std::any_of(durations.begin(), durations.end(),
                     [](std::int64_t duration) { return duration >= hour; });
}

void set_time_unit(TraceTimeUnit unit, bool displays_nanoseconds, Profile& profile) {
  Clock& clock = profile.clocks[index_of(profile.base_clock)];
  if (unit == TraceTimeUnit::nanoseconds) clock.rate = Hertz(1e12);
  if (unit == TraceTimeUnit::milliseconds) clock.rate = Hertz(1e6);
  if (unit != TraceTimeUnit::microseconds || !displays_nanoseconds) return;
  if (clock.resolution <= 1 || !is_unlikely_long(profile)) return;
  profile.notes.push_back(
      {Severity::warning, profile.provenance.files.front(), 0,
       "times are read as microseconds, as the format says, which makes spans of hours; where the "
       "writer counted nanoseconds (displayTimeUnit is ns), --time-unit ns reads them so",
       1});
}

// What OpenVINO's compiler writes of its schedule: as what its profiling parser writes of a run,
// but for the status of the clock.
bool is_simulated_by_openvino(const chrome::Events& events) {
  const std::string_view workpoint = events.field("workpoint");
  const std::size_t status = workpoint.find("\"status\"");
  if (status == workpoint.npos) return false;
  const std::string_view value =
      workpoint.substr(status, workpoint.find_first_of(",}", status) - status);
  return value.find("\"SIM\"") != value.npos;
}

// XLA's profiler writes the first million events of a trace, and ends it as a whole one.
bool is_cut_by_xla(const chrome::Events& events) {
  constexpr std::size_t most = 1'000'000;
  return events.slices.size() + events.marks.size() == most &&
         events.field("metadata") == R"({"highres-ticks":true})";
}

Profile profile_of(chrome::Events&& events, const OpenOptions& options) {
  const bool as_it_stands = is_export(events);
  if (!as_it_stands && qaic::is_opstats_trace(events)) {
    return qaic::make_opstats_profile(std::move(events));
  }
  if (!as_it_stands && sigmastar::is_ipu_timeline(events)) {
    return sigmastar::make_ipu_profile(std::move(events));
  }
  const bool displays_nanoseconds = events.field("displayTimeUnit") == R"("ns")";
  const bool is_schedule = !as_it_stands && is_simulated_by_openvino(events);
  const bool is_cut = is_cut_by_xla(events);
  Profile profile = chrome::make_profile(std::move(events));
  if (!as_it_stands) set_time_unit(options.time_unit, displays_nanoseconds, profile);
  if (is_schedule) {
    profile.provenance.format = "OpenVINO compile-time schedule";
    profile.provenance.times = Origin::simulated;
  }
  if (is_cut) {
    profile.notes.push_back({Severity::warning, profile.provenance.files.front(), 0,
                             "exactly 1,000,000 events, where XLA's profiler cuts a trace: what "
                             "came after is missing; the .xplane.pb next to it has all",
                             1});
  }
  if (!as_it_stands && onnxruntime::is_session(profile)) onnxruntime::make_session(profile);
  apply_roles(profile, options.roles);
  if (!as_it_stands && ascend::is_trace_view(profile)) {
    profile.provenance.format = ascend::format_name;
  }
  if (!as_it_stands) set_far_spans_apart(profile);
  return profile;
}

void complete_notes(Profile& profile, const std::string& file) {
  for (Note& note : profile.notes) {
    if (note.file.empty()) note.file = file;
  }
  if (profile.provenance.files.empty()) profile.provenance.files = {file};
}

// What XLA's profiler writes of a run next to its XSpace, cut to a million events.
bool is_beside_xspace(const Input& input, OpenRun& run) {
  const std::string path = input.path.string();
  const std::size_t end = path.rfind(".trace.json");
  if (input.named || end == path.npos) return false;
  const std::string space = path.substr(0, end) + ".xplane.pb";
  return std::ranges::any_of(run.profiles(), [&](const OpenRun::OpenedProfile& opened) {
    const auto& files = opened.profile.provenance.files;
    return std::ranges::any_of(
        files, [&](const std::string& file) { return file == space || file == space + ".gz"; });
  });
}

void open_chrome_file(const Input& input, OpenRun& run) {
  if (is_beside_xspace(input, run)) {
    return run.note({Severity::info, input.path.string(), 0,
                     "of the same run as the .xplane.pb next to it, which has all of it; left out",
                     1});
  }
  auto source = open_byte_source(input.path, run.options().source);
  if (!source) return run.fail(input, source.error());
  chrome::ReadOptions options;
  options.progress = run.options().progress;
  options.quoted_numbers = input.kind == quoting_trace;
  auto events = chrome::read_events(**source, options);
  if (!events) return run.fail(input, events.error());
  if (const qnn::Kind kind = late_qnn_kind(*events); kind != qnn::Kind::none) {
    events = chrome::Events{};
    Input late = input;
    late.kind = FormatKind(kind);
    return open_qnn(std::span(&late, 1), run);
  }
  Profile profile = profile_of(std::move(*events), run.options());
  complete_notes(profile, input.path.string());
  const bool is_session = profile.provenance.format == onnxruntime::format_name;
  if (is_session && joins_estimates(profile, input.path.string(), run)) return;
  if (is_session) join_session(profile, input.path.string(), run);
  run.add(input.order, std::move(profile));
}

}  // namespace

std::optional<FormatKind> recognise_perfetto(const Candidate& candidate) {
  if (!perfetto::looks_like(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

std::optional<FormatKind> recognise_perfetto_without_events(const Candidate& candidate) {
  if (!perfetto::may_be(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_perfetto(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    if (!source) {
      run.fail(input, source.error());
      continue;
    }
    perfetto::ReadOptions options;
    options.progress = run.options().progress;
    options.decompressed_limit = run.options().source.decompressed_limit;
    auto profile = perfetto::read_profile(**source, options);
    if (!profile) {
      run.fail(input, profile.error());
      continue;
    }
    apply_roles(*profile, run.options().roles);
    set_far_spans_apart(*profile);
    run.add(input.order, std::move(*profile));
  }
}

std::optional<FormatKind> recognise_qnn(const Candidate& candidate) {
  const qnn::Kind kind = qnn::recognise(candidate.head);
  if (kind == qnn::Kind::none) return std::nullopt;
  return FormatKind(kind);
}

void open_qnn(std::span<const Input> inputs, OpenRun& run) {
  std::vector<qnn::File> files;
  for (const Input& input : inputs) files.push_back({input.path, qnn::Kind(input.kind)});
  qnn::ReadOptions options;
  options.source = run.options().source;
  options.progress = run.options().progress;
  auto sets = qnn::read_sets(files, options);
  if (!sets && inputs.size() == 1) return run.fail(inputs.front(), sets.error());
  if (!sets) {  // each file has its own reason
    for (const Input& input : inputs) open_qnn(std::span(&input, 1), run);
    return;
  }
  for (Profile& profile : sets->profiles) {
    const auto& from = profile.provenance.files;
    const Input& first = from.empty() ? inputs.front() : input_or_first(inputs, from.front());
    run.add(first.order, std::move(profile));
  }
  for (const Note& note : sets->unreadable) {
    run.fail(input_or_first(inputs, note.file), Error{ErrorKind::input, note.message});
  }
}

std::optional<FormatKind> recognise_chrome(const Candidate& candidate) {
  const std::string_view head = without_byte_order_mark(candidate.head);
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || (head[first] != '{' && head[first] != '[')) return std::nullopt;
  const auto second = head.find_first_not_of(" \t\r\n", first + 1);
  const bool is_section = head[first] == '[' && second != head.npos && is_letter(head[second]);
  if (is_section) return std::nullopt;                   // "[general]" of a configuration
  if (recognise_ascend(candidate)) return std::nullopt;  // JSON that is no trace
  const bool quotes = has_text(head, "\"opUCycle\"") || has_text(head, "\"opPCycle\"");
  return quotes ? quoting_trace : plain_trace;
}

void open_chrome(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) open_chrome_file(input, run);
}

}  // namespace npuscope
