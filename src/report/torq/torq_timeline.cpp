#include <algorithm>

#include "formats/torq/timeline.hpp"
#include "npuscope/base/byte_source.hpp"
#include "report/torq/torq_job.hpp"

namespace npuscope::report {
namespace {

class Timeline {
 public:
  Timeline(const TorqFiles& files, double mhz, std::size_t top)
      : files_(files), mhz_(mhz), top_(top) {}

  Result<TorqTimeline> run() {
    out_.notes = files_.notes;
    for (const auto& path : files_.timelines) {
      if (const auto status = add_timeline(path); !status) return tl::unexpected(status.error());
    }
    for (const auto& path : files_.logs) {
      if (const auto status = add_log(path); !status) return tl::unexpected(status.error());
    }
    if (files_.debug && files_.logs.empty()) {
      for (const torq::DispatchInfo& dispatch : files_.debug->dispatches) {
        if (auto profile = torq::make_profile(dispatch)) add_estimate(std::move(*profile));
      }
    }
    if (out_.profiles.empty() && out_.runs.empty()) {
      return tl::unexpected(
          nothing_among(files_, "timeline, estimate or runtime log",
                        "name a timeline of the compiler, or a runtime log with its debug "
                        "information"));
    }
    if (!estimates_.table.rows.empty()) out_.document.sections.push_back(std::move(estimates_));
    return std::move(out_);
  }

 private:
  Status add_timeline(const std::filesystem::path& path) {
    const auto source = open_byte_source(path);
    if (!source) return tl::unexpected(source.error());
    const auto timeline = torq::read_timeline(**source);
    if (!timeline) return tl::unexpected(timeline.error());
    Profile profile = torq::make_profile(*timeline);
    profile.provenance.files = {path.string()};
    add_estimate(std::move(profile));
    return {};
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
    if (estimates_.table.fields.empty()) {
      estimates_ = {.key = "estimates",
                    .title = fmt::format("ESTIMATES, in cycles and at {} MHz", mhz_)};
      estimates_.table.fields = {{"file", "file", Format::name},
                                 {"dispatch", "dispatch", Format::name, true, true},
                                 {"operations", "operations", Format::count},
                                 {"cycles", "cycles", Format::count},
                                 {"seconds", "time", Format::seconds}};
    }
    const auto& files = profile.provenance.files;
    estimates_.table.rows.push_back(
        {files.empty() ? "" : files.front(),
         profile.provenance.graph.empty() ? Value() : Value(profile.provenance.graph),
         profile.spans.size(), end, double(end) / (mhz_ * 1e6)});
    out_.profiles.push_back(std::move(profile));
  }

  Status add_log(const std::filesystem::path& path) {
    const auto source = open_byte_source(path);
    if (!source) return tl::unexpected(source.error());
    if (!files_.debug) return add_log_alone(path, **source);
    auto annotation = torq::annotate(**source, *files_.debug);
    if (!annotation) return tl::unexpected(annotation.error());
    out_.notes.insert(out_.notes.end(), annotation->notes.begin(), annotation->notes.end());
    add_comparison(path, torq::compare_programs(*annotation),
                   torq::coverage_text(annotation->pairing));
    out_.runs.push_back(std::move(*annotation));
    return {};
  }

  Status add_log_alone(const std::filesystem::path& path, ByteSource& source) {
    const auto log = torq::read_log(source);
    if (!log) return tl::unexpected(log.error());
    Profile profile = torq::make_profile(*log);
    profile.provenance.files = {path.string()};
    out_.profiles.push_back(std::move(profile));
    out_.notes.push_back({Severity::info, path.string(), 0,
                          "name its debug information too: it has the estimates to compare with",
                          1});
    return {};
  }

  void add_comparison(const std::filesystem::path& path,
                      std::vector<torq::ProgramComparison> programs, const std::string& coverage) {
    const auto estimated = [&](const torq::ProgramComparison& each) {
      return double(each.estimated_cycles) / mhz_;  // us
    };
    double measured_us = 0, estimated_us = 0, cycles = 0;
    for (const torq::ProgramComparison& each : programs) {
      measured_us += each.measured_us;
      estimated_us += estimated(each);
      cycles += double(each.estimated_cycles);
    }
    std::stable_sort(programs.begin(), programs.end(), [&](const auto& a, const auto& b) {
      return a.measured_us - estimated(a) > b.measured_us - estimated(b);
    });
    Section section{.key = "programs",
                    .title = fmt::format("PROGRAMS, measured against estimated at {} MHz", mhz_)};
    section.in_list = true;
    const auto ratio = [](double a, double b) { return b > 0 ? Value(a / b) : Value(); };
    section.facts = {
        {{"coverage", "partial", Format::name}, coverage.empty() ? Value() : Value(coverage)},
        {{"file", "file", Format::name}, path.string()},
        {{"programs", "programs", Format::count}, programs.size()},
        {{"measured_seconds", "measured, sum", Format::seconds}, measured_us / 1e6},
        {{"estimated_cycles", "estimated cycles, sum", Format::count}, std::int64_t(cycles)},
        {{"estimated_seconds", "estimated, sum", Format::seconds}, estimated_us / 1e6},
        {{"measured_by_estimated", "measured by estimated", Format::number},
         ratio(measured_us, estimated_us)}};
    section.table.fields = {{"program", "program", Format::name},
                            {"location", "location", Format::name},
                            {"operators", "operators", Format::name, false, true},
                            {"kernels", "kernels", Format::name, false, true},
                            {"dispatch", "", Format::name},
                            {"runs", "runs", Format::count},
                            {"measured_seconds", "measured", Format::seconds},
                            {"first_seconds", "first", Format::seconds, false},
                            {"estimated_cycles", "cycles", Format::count},
                            {"estimated_seconds", "estimated", Format::seconds},
                            {"lost_seconds", "beyond", Format::seconds},
                            {"measured_by_estimated", "ratio", Format::number}};
    section.table.row_count = programs.size();
    for (std::size_t i = 0; i < std::min(top_, programs.size()); ++i) {
      const torq::ProgramComparison& each = programs[i];
      const double at_clock = estimated(each);
      section.table.rows.push_back(
          {each.program, each.location, each.operators.empty() ? Value() : Value(each.operators),
           each.kernels.empty() ? Value() : Value(each.kernels), each.dispatch, each.runs,
           each.measured_us / 1e6, each.first_us / 1e6, each.estimated_cycles, at_clock / 1e6,
           (each.measured_us - at_clock) / 1e6, ratio(each.measured_us, at_clock)});
    }
    section.remarks = {fmt::format(
        "measured is from the begin of NSS_START to the end of NSS_WAIT, the host's "
        "calls included: the median of all runs but the first, or the only one. estimated is the "
        "compiler's cost model, at {} MHz because --mhz says so. beyond is measured "
        "less estimated; the worst come first.",
        mhz_)};
    if (programs.empty()) {
      section.remarks = {
          "no program has both: a time in the log, and an estimate in the debug information, which "
          "torq-compile writes with --torq-enable-profiling"};
    }
    out_.document.sections.push_back(std::move(section));
  }

  const TorqFiles& files_;
  double mhz_;
  std::size_t top_;
  TorqTimeline out_;
  Section estimates_;
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

Result<TorqTimeline> torq_timeline(const TorqFiles& files, double mhz, std::size_t top) {
  return Timeline(files, mhz, top).run();
}

}  // namespace npuscope::report
