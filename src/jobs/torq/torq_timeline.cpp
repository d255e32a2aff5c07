#include "jobs/torq/torq_timeline.hpp"

#include <algorithm>

#include "formats/torq/timeline.hpp"
#include "formats/torq/trace.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/formats/perfetto/write.hpp"

namespace npuscope::jobs {
namespace {

class Timeline {
 public:
  Timeline(const TorqFiles& files, double mhz) : files_(files), mhz_(mhz) {}

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
    if (files_.debug && files_.debug->sources) {
      const std::vector<Note>& unreadable = files_.debug->sources->unreadable();
      out_.notes.insert(out_.notes.end(), unreadable.begin(), unreadable.end());
    }
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
    const auto& files = profile.provenance.files;
    out_.answer.estimates.push_back(
        {files.empty() ? "" : files.front(), profile.provenance.graph, profile.spans.size(), end});
    out_.profiles.push_back(std::move(profile));
  }

  Status add_log(const std::filesystem::path& path) {
    const auto source = open_byte_source(path);
    if (!source) return tl::unexpected(source.error());
    if (!files_.debug) return add_log_alone(path, **source);
    auto annotation = torq::annotate(**source, *files_.debug);
    if (!annotation) return tl::unexpected(annotation.error());
    out_.notes.insert(out_.notes.end(), annotation->notes.begin(), annotation->notes.end());
    out_.answer.comparisons.push_back({path.string(), torq::coverage_text(annotation->pairing),
                                       torq::compare_programs(*annotation)});
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

}  // namespace npuscope::jobs
