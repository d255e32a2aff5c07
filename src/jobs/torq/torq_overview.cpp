#include "jobs/torq/torq_overview.hpp"

#include "formats/perfetto/read/read.hpp"
#include "formats/torq/runtime_log.hpp"
#include "npuscope/base/byte_source.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::jobs {
namespace {

Result<torq::Overview> overview_of_log(const std::filesystem::path& path,
                                       const std::optional<torq::DebugInfo>& debug,
                                       torq::OverviewRules rules) {
  const auto source = open_byte_source(path);
  if (!source) return tl::unexpected(source.error());
  const auto log = torq::read_log(**source);
  if (!log) return tl::unexpected(log.error());
  torq::Overview overview;
  if (debug) {
    const auto annotation = torq::annotate(*log, *debug);
    if (!annotation) return tl::unexpected(annotation.error());
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
  const auto source = open_byte_source(path);
  if (!source) return tl::unexpected(source.error());
  return torq::read_annotated_overview(**source, rules);
}

Result<torq::Overview> overview_of_trace(const std::filesystem::path& path,
                                         torq::OverviewRules rules) {
  const auto source = open_byte_source(path);
  if (!source) return tl::unexpected(source.error());
  auto trace = perfetto::read_profile(**source);
  if (!trace) return tl::unexpected(trace.error());
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
    const auto source = open_byte_source(std::filesystem::path(*wall_time));
    if (!source) return tl::unexpected(source.error());
    constexpr std::uint64_t max_bytes = 4096;
    auto text = read_all(**source, max_bytes);
    if (!text) return tl::unexpected(text.error());
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

}  // namespace npuscope::jobs
