// Huawei's Ascend profiler: kernels stand in trace_view.json (a Chrome trace, opened before), in
// kernel_details.csv or op_summary_*.csv, in the database, and in sums of several tables. One
// capture is one profile, whichever of them there are.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/try.hpp"
#include "formats/ascend/database.hpp"
#include "formats/ascend/profile.hpp"
#include "formats/ascend/summaries.hpp"
#include "formats/open_table.hpp"
#include "npuscope/profile/event_roles.hpp"
#include "profile/far_spans.hpp"

namespace npuscope {
namespace {

enum AscendKind : FormatKind {
  kernels,
  database,
  op_sums,
  step_sums,
  step_database,
  collectives,
  recording,
  companion
};

AscendKind kind_of(ascend::Summary::Of of) {
  switch (of) {
    case ascend::Summary::Of::ops: return op_sums;
    case ascend::Summary::Of::steps: return step_sums;
    case ascend::Summary::Of::collectives: break;
  }
  return collectives;
}

// Of files that belong together: ASCEND_PROFILER_OUTPUT is the folder below.
std::filesystem::path capture_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  return folder.filename() == "ASCEND_PROFILER_OUTPUT" ? folder.parent_path() : folder;
}

class AscendCaptures {
 public:
  explicit AscendCaptures(OpenRun& run) : run_(run) {}

  void find_traces() {
    std::vector<OpenRun::OpenedProfile>& opened = run_.profiles();
    for (std::size_t i = 0; i < opened.size(); ++i) {
      if (!ascend::is_trace_view(opened[i].profile)) continue;
      const std::vector<std::int64_t> starts = ascend::kernel_starts(opened[i].profile);
      if (Known* same = known_as(starts)) {
        // msprof_*.json next to trace_view.json, which has the host too.
        const bool is_larger = opened[i].profile.spans.size() > profile(*same).spans.size();
        if (is_larger) std::swap(opened[i], opened[same->place]);
        leave_out(opened[i].profile.provenance.files.front(), *same);
        dropped_.push_back(i);
        continue;
      }
      know({i, starts.size(), false}, starts);
    }
  }

  void add_database(const Input& input) {
    auto capture = ascend::read_capture(input.path);
    if (!capture) return run_.fail(input, capture.error());
    const auto starts = ascend::kernel_starts(capture->kernels);
    if (Known* same = known_as(starts)) return leave_out(input.path.string(), *same);
    Profile profile = chrome::make_profile(std::move(capture->events));
    profile.provenance.device = capture->device;
    profile.provenance.version = capture->version;
    profile.flows = std::move(capture->flows);
    add_samples(capture->samples, profile);
    add(input, std::move(profile), capture->kernels, capture->rows);
  }

  void add_kernels(const Input& input) {
    auto source = open_byte_source(input.path, run_.options().source);
    if (!source) return run_.fail(input, source.error());
    auto table = ascend::read_kernels(**source);
    if (!table) return run_.fail(input, table.error());
    Known* same = known_as(ascend::kernel_starts(*table));
    if (same == nullptr) {
      std::vector<std::uint32_t> rows;
      Profile made = chrome::make_profile(ascend::kernel_events(*table, rows));
      return add(input, std::move(made), *table, rows);
    }
    if (same->has_kernels) return leave_out(input.path.string(), *same);
    Profile& trace = profile(*same);
    same->has_kernels = true;
    trace.provenance.files.push_back(input.path.string());
    trace.notes.insert(trace.notes.end(), table->notes.begin(), table->notes.end());
    ascend::join_kernels(*table, ascend::rows_of_kernels(*table, trace), trace);
  }

  void add_summary(const Input& input) {
    Profile* const beside = profile_beside(input.path);
    if (beside == nullptr) {
      return run_.fail(input, Error{ErrorKind::input,
                                    "sums of Ascend's profiler, without kernels or times; name "
                                    "trace_view.json or kernel_details.csv next to it"});
    }
    const auto summary = read_summary(input);
    if (!summary) return run_.fail(input, summary.error());
    ascend::add_summary(*summary, *beside);
  }

  void add_recording(const Input& input) {
    Profile* const beside = profile_beside(input.path);
    const auto text = read_head(input.path, head_bytes);
    if (beside == nullptr || !text) return say_companion(input);
    beside->provenance.instrumentation = ascend::recording_in(*text);
  }

  void say_companion(const Input& input) {
    if (!input.named) return;
    run_.fail(input, Error{ErrorKind::input,
                           "of Ascend's profiler, without kernels or times that npuscope reads; "
                           "name trace_view.json, kernel_details.csv or the database next to it"});
  }

  void drop_repeated() {
    std::vector<OpenRun::OpenedProfile>& opened = run_.profiles();
    std::ranges::sort(dropped_, std::greater<>());
    for (const std::size_t place : dropped_) opened.erase(opened.begin() + std::ptrdiff_t(place));
  }

 private:
  // A capture that is open, by its place among the profiles.
  struct Known {
    std::size_t place = 0;
    std::size_t kernels = 0;
    bool has_kernels = false;  // a table's
  };

  void know(const Known& capture, const std::vector<std::int64_t>& starts) {
    const auto place = std::uint32_t(known_.size());
    for (const std::int64_t start : starts) capture_at_.try_emplace(start, place);
    known_.push_back(capture);
  }

  Result<ascend::Summary> read_summary(const Input& input) const {
    if (input.kind == step_database) return ascend::read_summary_database(input.path);
    TRY_AS(source, open_byte_source(input.path, run_.options().source));
    const auto of = input.kind == op_sums     ? ascend::Summary::Of::ops
                    : input.kind == step_sums ? ascend::Summary::Of::steps
                                              : ascend::Summary::Of::collectives;
    return ascend::read_summary(**source, of);
  }

  Profile& profile(const Known& known) { return run_.profiles()[known.place].profile; }

  // Half of the kernels of the smaller one begin at the same nanosecond.
  Known* known_as(const std::vector<std::int64_t>& starts) {
    std::map<std::uint32_t, std::size_t> shared;  // kernels, by capture
    for (const std::int64_t start : starts) {
      const auto found = capture_at_.find(start);
      if (found != capture_at_.end()) shared[found->second] += 1;
    }
    for (const auto& [place, kernels] : shared) {
      if (2 * kernels >= std::min(starts.size(), known_[place].kernels)) return &known_[place];
    }
    return nullptr;
  }

  void leave_out(const std::string& file, const Known& same) {
    profile(same).notes.push_back(
        {Severity::info, file, 0,
         fmt::format("the same kernels as in {}; left out", profile(same).provenance.files.front()),
         1});
  }

  void add(const Input& input, Profile made, const ascend::KernelTable& table,
           const std::vector<std::uint32_t>& rows) {
    made.provenance.format = ascend::format_name;
    apply_roles(made, run_.options().roles);
    set_far_spans_apart(made);
    ascend::join_kernels(table, rows, made);
    for (Note& note : made.notes) {
      if (note.file.empty()) note.file = input.path.string();
    }
    const std::vector<std::int64_t> starts = ascend::kernel_starts(table);
    know({run_.profiles().size(), starts.size(), true}, starts);
    run_.add(input.order, std::move(made));
  }

  static void add_samples(const std::vector<ascend::Capture::Sample>& samples, Profile& profile) {
    std::map<std::string, std::uint32_t> series;
    Counters& counters = profile.counters;
    for (const ascend::Capture::Sample& sample : samples) {
      const auto [found, is_new] = series.try_emplace(sample.name, counters.series.size());
      if (is_new) {
        const StringId unit = profile.strings.intern(sample.unit);
        counters.series.push_back({UnitId::none, profile.strings.intern(sample.name), unit,
                                   sample.unit == "bytes" ? unit : StringId::empty,
                                   NumberRole::none});
      }
      counters.of.push_back(found->second);
      counters.time.push_back(sample.time_ns);
      counters.value.push_back(sample.value);
    }
  }

  // Of the files that a capture was made of, not of sums that joined it.
  Profile* profile_beside(const std::filesystem::path& file) {
    if (in_folder_.empty()) {
      for (std::size_t i = 0; i < known_.size(); ++i) {
        for (const std::string& each : profile(known_[i]).provenance.files) {
          in_folder_.try_emplace(capture_folder(each), i);
        }
      }
    }
    const auto found = in_folder_.find(capture_folder(file));
    return found == in_folder_.end() ? nullptr : &profile(known_[found->second]);
  }

  OpenRun& run_;
  std::vector<Known> known_;
  std::unordered_map<std::int64_t, std::uint32_t> capture_at_;  // by when a kernel began
  std::map<std::filesystem::path, std::size_t> in_folder_;      // places in known_
  std::vector<std::size_t> dropped_;                            // places of profiles
};

}  // namespace

std::optional<FormatKind> recognise_ascend(const Candidate& candidate) {
  const std::string_view head = candidate.head;
  if (ascend::looks_like_database(head)) {
    if (ascend::is_capture(candidate.path)) return database;
    if (ascend::is_summary_database(candidate.path)) return step_database;
    return std::nullopt;
  }
  if (const auto of = ascend::recognise_summary(head)) return kind_of(*of);
  if (ascend::looks_like_recording(head)) return recording;
  if (ascend::looks_like_companion(head)) return companion;
  const bool is_json = head.starts_with('{') || head.starts_with('[');
  if (!is_json && ascend::looks_like_kernels(head)) return kernels;
  return std::nullopt;
}

void open_ascend(std::span<const Input> inputs, OpenRun& run) {
  AscendCaptures captures(run);
  captures.find_traces();
  const auto take = [&](auto is_it, auto each) {
    for (const Input& input : inputs) {
      if (is_it(input.kind)) (captures.*each)(input);
    }
  };
  take([](FormatKind kind) { return kind == database; }, &AscendCaptures::add_database);
  take([](FormatKind kind) { return kind == kernels; }, &AscendCaptures::add_kernels);
  take([](FormatKind kind) { return kind >= op_sums && kind <= collectives; },
       &AscendCaptures::add_summary);
  take([](FormatKind kind) { return kind == recording; }, &AscendCaptures::add_recording);
  take([](FormatKind kind) { return kind == companion; }, &AscendCaptures::say_companion);
  captures.drop_repeated();
}

}  // namespace npuscope
