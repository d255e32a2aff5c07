#include "jobs/opstats_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/counted.hpp"
#include "base/try.hpp"
#include "formats/qaic/opstats/opstats_host_trace.hpp"
#include "formats/qaic/opstats/opstats_networks.hpp"
#include "formats/qaic/opstats/opstats_summary.hpp"
#include "npuscope/base/files.hpp"
#include "report/programs/opstats_json.hpp"

namespace npuscope::jobs {
namespace {

using qaic::StatsBufferFile;
using Kind = OpstatsMessage::Kind;

constexpr std::size_t notes_told = 8;  // of one buffer; the others are counted

// Buffers whose traces go into one file: one, or those of a multi-device network's devices.
struct TraceGroup {
  std::string stem;
  std::vector<std::size_t> files;
};

class OpstatsJob {
 public:
  OpstatsJob(const OpstatsRequest& request, const OpstatsListener& tell,
             const ProgressReport& progress)
      : request_(request), tell_(tell), progress_(progress) {}

  Result<OpstatsOutcome> run();

 private:
  Status prepare();
  void tell_networks();
  std::vector<TraceGroup> groups() const;
  void take(const TraceGroup& group);
  std::optional<Profile> take_buffer(std::size_t index);
  void tell_notes(const Profile& profile);
  void write_summary(const Profile& profile, const std::string& stem);
  void write_trace(std::vector<Profile>& profiles, const TraceGroup& group);
  Status check_cores();
  void report_missing_slices(const TraceGroup& group);
  void report_absent_devices();

  std::filesystem::path output(const std::string& stem, std::string_view suffix) const {
    return request_.output_folder / (stem + ".qaic-opstats." + std::string(suffix));
  }
  void tell(Kind kind, std::string text) const { tell_({kind, std::move(text)}); }
  void problem(const Error& error) {
    if (!outcome_.worst || error.kind == ErrorKind::output) outcome_.worst = error;
    tell(Kind::problem, error.message);
  }
  void wrote(const Status& done, const std::filesystem::path& path) {
    if (!done) return problem(done.error());
    tell(Kind::wrote, path.string());
  }

  const OpstatsRequest& request_;
  const OpstatsListener& tell_;
  const ProgressReport& progress_;
  std::optional<qaic::HostTrace> host_trace_;
  qaic::TraceOptions trace_options_;
  qaic::OpstatsNetworks networks_;
  std::vector<StatsBufferFile> files_;
  std::set<std::uint32_t> devices_;  // of the buffers that could be traced
  OpstatsOutcome outcome_;
};

Status OpstatsJob::prepare() {
  if (!request_.summary && !request_.trace) {
    return usage_error(
        "neither a summary nor a trace is asked for; give --summary, --trace or both");
  }
  if (request_.json && !request_.summary) {
    return usage_error("--json writes the summary as JSON too; give --summary with it");
  }
  if (auto writable = check_writable_folder(request_.output_folder); !writable) return writable;
  TRY_AS(qpc, MappedFile::open(request_.qpc));
  TRY_AS(networks, qaic::load_networks(qpc->bytes(), request_.qpc.string(),
                                       request_.trace_options.flow_events));
  networks_ = std::move(*networks);
  if (auto chosen = check_cores(); !chosen) return chosen;
  trace_options_ = request_.trace_options;
  if (request_.host_trace && request_.trace) {
    TRY_AS(host, qaic::read_host_trace(*request_.host_trace));
    host_trace_ = std::move(*host);
    if (!host_trace_->utimer_ticks_at_zero) {
      tell(Kind::note,
           fmt::format("{}: has no otherData.utimer_ticks_at_zero, so its earliest event is put at "
                       "the device's earliest; what lies between host and device says nothing",
                       request_.host_trace->string()));
    }
    trace_options_.host_trace = &*host_trace_;
  }
  TRY_AS(files, qaic::find_stats_buffers(request_.input_folder));
  files_ = std::move(*files);
  return {};
}

// Chosen cores that no network has are a mistake when no other is chosen.
Status OpstatsJob::check_cores() {
  std::uint32_t cores = 0;
  for (const qaic::OpstatsNetwork& network : networks_.networks) {
    cores = std::max(cores, network.network.cores());
  }
  const std::vector<std::uint32_t>& chosen = request_.trace_options.cores;
  std::vector<std::uint32_t> absent;
  std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(absent),
               [&](std::uint32_t core) { return core >= cores; });
  if (!request_.trace || absent.empty()) return {};
  const std::string text = fmt::format(
      "{}: no network has core {}, the cores are 0 to {}; choose others with "
      "--select-cores",
      request_.qpc.string(), fmt::join(absent, ","), cores - 1);
  if (absent.size() == chosen.size()) return usage_error("{}", text);
  tell(Kind::note, text);
  return {};
}

void OpstatsJob::tell_networks() {
  for (const Error& error : networks_.problems) problem(error);
  for (const qaic::OpstatsNetwork& network : networks_.networks) {
    tell(Kind::detail,
         fmt::format("{}: network {}, {} of {}, statistics level {}", request_.qpc.string(),
                     network.label, counted(network.network.cores(), "core"),
                     counted(network.network.threads_per_core(), "thread"),
                     network.network.stats_level()));
    if (network.has_program) continue;
    tell(Kind::note, fmt::format("{}: network {} has no npuscope.program.bin, so npuscope did not "
                                 "compile it; the vendor's raw buffer layout is not public, only "
                                 "buffers in npuscope's own layout can be decoded",
                                 request_.qpc.string(), network.label));
  }
}

// Devices of one network, activation and inference share a trace when that is asked for. Runners
// number the devices' programs alike or each on its own; where a device would come twice, the
// program's number decides.
std::vector<TraceGroup> OpstatsJob::groups() const {
  std::map<std::string, std::vector<std::size_t>> devices;
  std::map<std::string, std::set<std::string>> slices;
  std::set<std::string> repeated;
  const auto inference_of = [&](const StatsBufferFile& file) {
    return fmt::format("{}/{}/{}", file.name.activation.value_or(0),
                       file.name.inference.value_or(0), qaic::without_slice(file.name.network));
  };
  const auto is_slice = [&](const StatsBufferFile& file) {
    return request_.merge_devices && request_.trace && qaic::slice_number(file.name.network);
  };
  for (const StatsBufferFile& file : files_) {
    const std::string key = inference_of(file);
    if (is_slice(file) && !slices[key].insert(file.name.network).second) repeated.insert(key);
  }
  const auto key_of = [&](const StatsBufferFile& file) {
    const std::string key = inference_of(file);
    return repeated.contains(key) ? fmt::format("{} {}", key, file.name.program.value_or(0)) : key;
  };
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (is_slice(files_[i])) devices[key_of(files_[i])].push_back(i);
  }
  std::vector<TraceGroup> groups;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const StatsBufferFile& file = files_[i];
    const auto found = devices.find(key_of(file));
    if (!is_slice(file) || found->second.size() == 1) {
      groups.push_back({file.name.output_stem, {i}});
    } else if (found->second.front() == i) {
      std::string stem = file.name.output_stem;
      const auto at = stem.rfind(file.name.network);
      if (at != stem.npos) {
        stem = stem.substr(0, at) + std::string(qaic::without_slice(file.name.network));
      }
      groups.push_back({stem + "-merged", found->second});
    }
  }
  return groups;
}

Result<OpstatsOutcome> OpstatsJob::run() {
  TRY(prepare());
  outcome_.buffers = files_.size();
  tell_networks();
  const std::vector<TraceGroup> all = groups();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (progress_) progress_(i, all.size());
    take(all[i]);
  }
  if (progress_) progress_(all.size(), all.size());
  report_absent_devices();
  return outcome_;
}

void OpstatsJob::take(const TraceGroup& group) {
  std::vector<Profile> profiles;
  for (const std::size_t index : group.files) {
    if (auto profile = take_buffer(index)) profiles.push_back(std::move(*profile));
  }
  if (!request_.trace) return;
  if (request_.merge_devices) report_missing_slices(group);
  if (!profiles.empty()) write_trace(profiles, group);
}

// Decodes a buffer and writes its summary; the profile is for the trace.
std::optional<Profile> OpstatsJob::take_buffer(std::size_t index) {
  const StatsBufferFile& file = files_[index];
  const auto mapped = MappedFile::open(file.path);
  if (!mapped) {
    problem(mapped.error());
    return std::nullopt;
  }
  std::string label;
  auto profile = networks_.decode(mapped->bytes(), file, label);
  if (!profile) {
    problem(profile.error());
    return std::nullopt;
  }
  outcome_.decoded += 1;
  tell(Kind::detail, fmt::format("{}: inference of network {}, {} spans", file.path.string(), label,
                                 profile->spans.size()));
  tell_notes(*profile);
  if (request_.summary) write_summary(*profile, file.name.output_stem);
  if (!request_.trace) return std::nullopt;
  if (auto enough = qaic::check_trace_level(*profile, file.path.string()); !enough) {
    problem(enough.error());
    return std::nullopt;
  }
  return std::move(*profile);
}

void OpstatsJob::tell_notes(const Profile& profile) {
  std::size_t told = 0;
  for (const Note& note : profile.notes) {
    const std::string text =
        fmt::format("{}: at byte {}: {}", note.file, note.offset, note.message);
    if (note.severity != Severity::error) {
      tell(Kind::note, text);
    } else if (told++ < notes_told) {
      problem(Error{ErrorKind::input, text});
    } else {
      tell(Kind::detail, text);
    }
  }
  if (told > notes_told) {
    tell(Kind::note,
         fmt::format("{}: {} of this kind; --verbose shows all", profile.notes.front().file,
                     counted(told - notes_told, "more problem")));
  }
}

void OpstatsJob::write_summary(const Profile& profile, const std::string& stem) {
  const qaic::OpstatsSummary summary = qaic::summarise(profile);
  const auto path = output(stem, "summary.txt");
  wrote(write_file_atomically(path, as_byte_span(qaic::print_summary(summary))), path);
  if (!request_.json) return;
  const auto twin = output(stem, "summary.json");
  wrote(write_file_atomically(twin, as_byte_span(report::opstats_json(summary, profile.notes))),
        twin);
}

void OpstatsJob::report_missing_slices(const TraceGroup& group) {
  if (!qaic::slice_number(files_[group.files.front()].name.network)) return;
  std::set<std::string> present;
  for (const std::size_t index : group.files) present.insert(files_[index].name.network);
  const StatsBufferFile& like = files_[group.files.front()];
  for (const qaic::OpstatsNetwork& network : networks_.networks) {
    const bool same = qaic::slice_number(network.label) &&
                      qaic::without_slice(network.label) == qaic::without_slice(like.name.network);
    if (!same || present.contains(network.label)) continue;
    problem(
        Error{ErrorKind::input,
              fmt::format("{}: the buffer of device {} ({}) is missing beside it; the merged "
                          "trace is without that device",
                          like.path.string(), *qaic::slice_number(network.label), network.label)});
  }
}

// As with cores; but only the buffers know which devices there are.
void OpstatsJob::report_absent_devices() {
  const std::vector<std::uint32_t>& chosen = request_.trace_options.devices;
  std::vector<std::uint32_t> absent;
  std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(absent),
               [&](std::uint32_t device) { return !devices_.contains(device); });
  if (devices_.empty() || absent.empty()) return;
  const std::string text = fmt::format(
      "{}: no buffer that can be traced is of device {}, they are of {}; choose others "
      "with --select-devices",
      request_.input_folder.string(), fmt::join(absent, ","), fmt::join(devices_, ","));
  if (absent.size() == chosen.size()) return problem(Error{ErrorKind::usage, text});
  tell(Kind::note, text);
}

void OpstatsJob::write_trace(std::vector<Profile>& profiles, const TraceGroup& group) {
  // Parts of one network that name the same device are numbered by their slices.
  std::set<std::uint32_t> devices;
  for (const Profile& profile : profiles) devices.insert(profile.units.front().device);
  std::vector<const Profile*> pointers;
  for (Profile& profile : profiles) {
    const auto slice = qaic::slice_number(profile.text(profile.units.front().name));
    if (devices.size() < profiles.size() && slice) {
      for (Unit& unit : profile.units) unit.device = *slice;
    }
    pointers.push_back(&profile);
  }
  devices.clear();
  for (const Profile& profile : profiles) devices.insert(profile.units.front().device);
  devices_.insert(devices.begin(), devices.end());
  const auto& chosen = request_.trace_options.devices;
  if (!chosen.empty() && std::none_of(chosen.begin(), chosen.end(), [&](std::uint32_t device) {
        return devices.contains(device);
      })) {
    tell(Kind::detail, fmt::format("{}: device {} is not selected; no trace", group.stem,
                                   fmt::join(devices, ",")));
    return;
  }
  const auto path = output(group.stem, "trace.json");
  const auto report = qaic::write_opstats_trace(pointers, trace_options_, path);
  if (!report) return problem(report.error());
  tell(Kind::detail,
       fmt::format("{}: {} events, {} bytes", path.string(), report->events, report->bytes));
  if (report->flows_not_drawn > 0) {
    tell(Kind::note,
         fmt::format("{}: {} not drawn: the consumer began before its producer", path.string(),
                     counted(report->flows_not_drawn, "dependency is", "dependencies are")));
  }
  tell(Kind::wrote, path.string());
}

}  // namespace

Result<OpstatsOutcome> run_opstats(const OpstatsRequest& request, const OpstatsListener& tell,
                                   const ProgressReport& progress) {
  return OpstatsJob(request, tell, progress).run();
}

}  // namespace npuscope::jobs
