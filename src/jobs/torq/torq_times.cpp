#include "jobs/torq/torq_times.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "formats/open_inputs.hpp"
#include "formats/perfetto/read/read.hpp"
#include "formats/torq/annotate/compare.hpp"
#include "formats/torq/pass_times.hpp"
#include "formats/torq/runtime_log.hpp"
#include "formats/torq/timeline.hpp"
#include "formats/torq/trace.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/formats/perfetto/write.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::jobs {

Result<TorqFiles> sort_torq_files(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> names(paths.begin(), paths.end());
  FoundFiles found = find_files(names, ByteSourceOptions{}.decompressed_limit);
  TorqFiles files;
  files.notes = std::move(found.notes);
  std::vector<std::filesystem::path> debug;
  for (const FoundFile& file : found.files) {
    constexpr std::size_t head_bytes = std::size_t{64} << 10;
    const auto head = read_head(file.path, head_bytes);
    if (!head) {
      files.notes.push_back({Severity::error, file.path.string(), 0, head.error().message, 1});
    } else if (torq::recognise_timeline(*head) != torq::TimelineVersion::none) {
      files.timelines.push_back(file.path);
    } else if (torq::recognise_log(*head) != torq::LogKind::none) {
      files.logs.push_back(file.path);
    } else if (torq::looks_like_mlir(*head) || torq::looks_like_mlir_bytecode(*head)) {
      debug.push_back(file.path);
    } else if (torq::looks_like_annotated_csv(*head)) {
      files.tables.push_back(file.path);
    } else if (perfetto::looks_like(*head)) {
      files.traces.push_back(file.path);
    } else if (head->empty()) {
      files.notes.push_back({Severity::error, file.path.string(), 0,
                             "is empty; was the runtime ended before it wrote its log?", 1});
    } else if (head->starts_with("\xff\xfe") || head->starts_with("\xfe\xff")) {
      files.notes.push_back({Severity::error, file.path.string(), 0,
                             "text in UTF-16, as PowerShell's > writes; save it as UTF-8", 1});
    } else {
      files.notes.push_back({file.named ? Severity::error : Severity::info, file.path.string(), 0,
                             "not a timeline, runtime log, debug information, annotated table or "
                             "trace of Torq; left out",
                             1});
    }
  }
  if (!debug.empty()) {
    auto loaded = torq::load_debug_info(debug, {});
    if (loaded) {
      files.debug = std::move(*loaded);
      files.notes.insert(files.notes.end(), files.debug->notes.begin(), files.debug->notes.end());
    } else if (debug.size() == found.files.size()) {
      return tl::unexpected(loaded.error());
    } else {
      files.notes.push_back({Severity::warning, "", 0, loaded.error().message, 1});
    }
  }
  const std::size_t known = files.logs.size() + files.timelines.size() + files.tables.size() +
                            files.traces.size() + (files.debug ? 1 : 0);
  if (known > 0) return files;
  for (const Note& note : files.notes) {
    if (note.severity == Severity::error) return input_error("{}: {}", note.file, note.message);
  }
  return input_error("no file of Torq among those named; name a runtime log or a timeline");
}

Error nothing_among(const TorqFiles& files, std::string_view asked_for, std::string_view advice) {
  std::string text = fmt::format("no {} among the files; {}", asked_for, advice);
  const auto left_out = std::find_if(files.notes.begin(), files.notes.end(), [](const Note& note) {
    return note.severity == Severity::error;
  });
  if (left_out != files.notes.end()) {
    text += fmt::format(" ({}: {})", left_out->file, left_out->message);
  }
  return {ErrorKind::input, std::move(text)};
}

namespace {

Result<torq::Overview> overview_of_log(const std::filesystem::path& path,
                                       const std::optional<torq::DebugInfo>& debug,
                                       torq::OverviewRules rules) {
  TRY_AS(source, open_byte_source(path));
  TRY_AS(log, torq::read_log(**source));
  torq::Overview overview;
  if (debug) {
    TRY_AS(annotation, torq::annotate(*log, *debug));
    overview = torq::overview_of(*annotation, rules);
  } else {
    const Profile profile = torq::make_profile(*log);
    overview = torq::make_overview(torq::run_intervals(profile), rules);
    overview.notes = profile.notes;
    overview.notes.push_back({Severity::info, path.string(), 0,
                              "which units a program used, its debug information says: name that "
                              "too for Dma, Slice, Css and Overlap",
                              1});
  }
  overview.model = torq::model_name(path.string());
  overview.scope = report::scope_of_all(torq::inference_count(*log));
  return overview;
}

Result<torq::Overview> overview_of_table(const std::filesystem::path& path,
                                         torq::OverviewRules rules) {
  TRY_AS(source, open_byte_source(path));
  return torq::read_annotated_overview(**source, rules);
}

Result<torq::Overview> overview_of_trace(const std::filesystem::path& path,
                                         torq::OverviewRules rules) {
  TRY_AS(source, open_byte_source(path));
  TRY_AS(trace, perfetto::read_profile(**source));
  trace->provenance.files = {path.string()};
  auto overview = torq::read_trace_overview(*trace, rules);
  if (overview) overview->model = torq::model_name(path.string());
  return overview;
}

}  // namespace

Result<TorqOverviews> torq_overviews(const TorqFiles& files,
                                     const std::optional<std::string>& wall_time,
                                     torq::OverviewStyle style) {
  const torq::OverviewRules rules = style == torq::OverviewStyle::documented
                                        ? torq::OverviewRules::own
                                        : torq::OverviewRules::vendor;
  TorqOverviews all;
  all.notes = files.notes;
  std::optional<std::string> wall;
  if (wall_time) {
    TRY_AS(source, open_byte_source(std::filesystem::path(*wall_time)));
    constexpr std::uint64_t max_bytes = 4096;
    TRY_AS(text, read_all(**source, max_bytes));
    wall = std::move(*text);
  }
  std::optional<Error> first;
  const auto take = [&](Result<torq::Overview> overview) {
    if (!overview) {
      all.notes.push_back({Severity::error, "", 0, overview.error().message, 1});
      if (!first) first = overview.error();
      return;
    }
    overview->wall_time = wall;
    all.notes.insert(all.notes.end(), overview->notes.begin(), overview->notes.end());
    all.overviews.push_back(std::move(*overview));
  };
  for (const auto& path : files.logs) take(overview_of_log(path, files.debug, rules));
  for (const auto& path : files.tables) take(overview_of_table(path, rules));
  for (const auto& path : files.traces) take(overview_of_trace(path, rules));
  if (!all.overviews.empty()) return all;
  if (first) return tl::unexpected(*first);
  return tl::unexpected(nothing_among(files, "runtime log, annotated table or trace", "name one"));
}

namespace {

class Timeline {
 public:
  Timeline(const TorqFiles& files, double mhz) : files_(files), mhz_(mhz) {}

  Result<TorqTimeline> run() {
    out_.notes = files_.notes;
    for (const auto& path : files_.timelines) {
      TRY(add_timeline(path));
    }
    for (const auto& path : files_.logs) {
      TRY(add_log(path));
    }
    if (files_.debug && files_.logs.empty()) {
      for (const torq::DispatchInfo& dispatch : files_.debug->dispatches) {
        if (auto profile = torq::make_profile(dispatch, &*files_.debug))
          add_estimate(std::move(*profile));
      }
    }
    if (out_.profiles.empty() && out_.runs.empty()) {
      return tl::unexpected(
          nothing_among(files_, "timeline, estimate or runtime log",
                        "name a timeline of the compiler, or a runtime log with its debug "
                        "information"));
    }
    if (files_.debug && files_.debug->sources) {
      const std::vector<Note>& unreadable = files_.debug->sources->unreadable();
      out_.notes.insert(out_.notes.end(), unreadable.begin(), unreadable.end());
    }
    stretch_estimates();
    return std::move(out_);
  }

 private:
  Status add_timeline(const std::filesystem::path& path) {
    TRY_AS(source, open_byte_source(path));
    TRY_AS(timeline, torq::read_timeline(**source));
    const std::filesystem::path folder = path.parent_path();
    torq::SourceFiles sources({folder, folder / ".."});
    Profile profile =
        torq::make_profile(*timeline, &sources, files_.debug ? &*files_.debug : nullptr);
    profile.provenance.files = {path.string()};
    add_estimate(std::move(profile));
    return {};
  }

  // A run's clock is that of its host, which does not begin at 0.
  void begin_with_run(Profile& estimate) const {
    std::optional<std::int64_t> first_us;
    for (const torq::Annotation& run : out_.runs) {
      for (const std::int64_t begin : run.begin_us) {
        if (begin != torq::no_time) first_us = std::min(first_us.value_or(begin), begin);
      }
    }
    const double hertz = estimate.clocks[index_of(estimate.base_clock)].rate.value;
    const double moved = double(first_us.value_or(0)) / 1e6 * hertz;
    const auto ticks = std::int64_t(std::clamp(moved, -1e15, 1e15));
    for (std::int64_t& start : estimate.spans.start) start = saturating_add(start, ticks);
    for (Phase& phase : estimate.phases) phase.start = saturating_add(phase.start, ticks);
  }

  // Of a simulator's run estimates at the clock are too short to be seen next to it.
  void stretch_estimates() {
    std::uint64_t slowdown = 0;
    for (const torq::Annotation& run : out_.runs) {
      slowdown = std::max(slowdown, torq::simulator_slowdown(run));
    }
    if (slowdown == 0) return;
    for (Profile& profile : out_.profiles) {
      if (profile.provenance.times != Origin::estimated) continue;
      profile.clocks[index_of(profile.base_clock)].rate.value /= double(slowdown);
      begin_with_run(profile);
      for (Unit& unit : profile.units) {
        unit.name = profile.strings.intern(
            fmt::format("{} (estimate x {})", profile.text(unit.name), thousands(slowdown)));
      }
    }
    out_.notes.push_back(
        {Severity::info, "", 0,
         fmt::format(
             "a simulator's run, {} times as long as its estimate at {} MHz: in a trace estimates "
             "are drawn that many times as long",
             thousands(slowdown), torq::compile_clock_mhz),
         1});
  }

  // From here on cycles have a rate: the one that the user names.
  void add_estimate(Profile profile) {
    profile.clocks[index_of(profile.base_clock)].rate = Hertz{mhz_ * 1e6};
    std::int64_t end = 0;
    for (std::size_t row = 0; row < profile.spans.size(); ++row) {
      end = std::max(end, saturating_add(profile.spans.start[row], profile.spans.duration[row]));
    }
    for (const Phase& phase : profile.phases) {
      end = std::max(end, saturating_add(phase.start, phase.duration));
    }
    const auto& files = profile.provenance.files;
    out_.answer.estimates.push_back(
        {files.empty() ? "" : files.front(), profile.provenance.graph, profile.spans.size(), end});
    out_.profiles.push_back(std::move(profile));
  }

  Status add_log(const std::filesystem::path& path) {
    TRY_AS(source, open_byte_source(path));
    if (!files_.debug) return add_log_alone(path, **source);
    TRY_AS(annotation, torq::annotate(**source, *files_.debug));
    out_.notes.insert(out_.notes.end(), annotation->notes.begin(), annotation->notes.end());
    out_.answer.comparisons.push_back({path.string(), torq::coverage_text(annotation->pairing),
                                       torq::compare_programs(*annotation)});
    out_.runs.push_back(std::move(*annotation));
    return {};
  }

  Status add_log_alone(const std::filesystem::path& path, ByteSource& source) {
    TRY_AS(log, torq::read_log(source));
    Profile profile = torq::make_profile(*log);
    profile.provenance.files = {path.string()};
    out_.profiles.push_back(std::move(profile));
    out_.notes.push_back({Severity::info, path.string(), 0,
                          "name its debug information too: it has the estimates to compare with",
                          1});
    return {};
  }

  const TorqFiles& files_;
  double mhz_;
  TorqTimeline out_;
};

}  // namespace

Status write_timeline_trace(const TorqTimeline& timeline, double mhz,
                            const std::filesystem::path& path) {
  std::vector<perfetto::TraceContent> contents;
  for (const Profile& profile : timeline.profiles) contents.push_back({&profile});
  std::vector<std::unique_ptr<torq::AnnotatedTrace>> traces;
  for (const torq::Annotation& run : timeline.runs) {
    traces.push_back(std::make_unique<torq::AnnotatedTrace>(run, mhz));
    contents.push_back(traces.back()->content());
  }
  const auto written = perfetto::write_trace(contents, path);
  return written ? Status{} : Status{tl::unexpected(written.error())};
}

Result<TorqTimeline> torq_timeline(const TorqFiles& files, double mhz) {
  return Timeline(files, mhz).run();
}

Result<TorqPasses> torq_passes(const std::vector<std::string>& paths) {
  TorqPasses passes;
  std::optional<Error> first;
  for (const std::string& path : paths) {
    auto reports = torq::read_pass_times(path);
    if (reports) {
      passes.files.push_back({path, std::move(*reports)});
      continue;
    }
    passes.notes.push_back({Severity::error, "", 0, reports.error().message, 1});
    if (!first) first = reports.error();
  }
  if (passes.files.empty() && first) return tl::unexpected(*first);
  return passes;
}

}  // namespace npuscope::jobs
