// The runner's latency file and the statistics that the vendor's script makes of it.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/counted.hpp"
#include "base/try.hpp"
#include "formats/qaic/device.hpp"
#include "formats/qaic/opstats/profile_rows.hpp"
#include "formats/qaic/text/read_text.hpp"
#include "formats/qaic/text/read_text_parts.hpp"

namespace npuscope::qaic {
namespace {

constexpr double max_row_microseconds = 1e12;  // eleven days
constexpr std::size_t max_noted_lines = 100;

using Field = double LatencySample::*;
using OptionalField = std::optional<double> LatencySample::*;

constexpr NamedNumber device_rate{"device inferences per second", NumberQuantity::rate,
                                  NumberRole::device_rate};
constexpr NamedNumber device_execution{"device execution", MeasureKind::wall,
                                       NumberRole::device_execution};
constexpr NamedNumber device_input_wait{"device input wait", MeasureKind::active,
                                        NumberRole::device_input_wait};
constexpr NamedNumber device_output_wait{"device output wait", MeasureKind::active,
                                         NumberRole::device_output_wait};
constexpr NamedNumber host_round_trip{"host round trip", MeasureKind::wall,
                                      NumberRole::host_round_trip};
constexpr NamedNumber execution_total{"execution total", MeasureKind::wall};
constexpr NamedNumber queue_depth =
    NamedNumber{"queue depth", NumberQuantity::count, NumberRole::queue_depth}.not_additive();
constexpr NamedNumber in_queue =
    NamedNumber{"inferences in queue", NumberQuantity::count, NumberRole::inferences_in_queue}
        .not_additive();

// Columns of the file by name; a step is one after the other, the last two within exec.
struct HostColumn {
  std::string_view column;
  Field field;
  std::string_view name;
  bool is_step = true;  // else a sum of others
};
constexpr HostColumn host_columns[] = {
    {"hostRoundTripUs", &LatencySample::host_round_trip_us, "host round trip", false},
    {"enqTimeUs", &LatencySample::enqueue_us, "enqueue"},
    {"preProcTimeUs", &LatencySample::pre_process_us, "pre-process"},
    {"submitTimeUs", &LatencySample::submit_us, "submit"},
    {"execTotalUs", &LatencySample::exec_total_us, "execution total", false},
    {"exectoVcUs", &LatencySample::exec_to_link_us, "execute until on the link"},
    {"execToCompleteUs", &LatencySample::exec_to_complete_us, "execute until complete"},
    {"postProcUs", &LatencySample::post_process_us, "post-process"},
    {"totalRoundtripTimeUs", &LatencySample::total_round_trip_us, "total round trip", false},
};

struct DeviceColumn {
  std::string_view column;
  OptionalField field;
};
constexpr DeviceColumn device_columns[] = {
    {"devInfPerSec", &LatencySample::device_inferences_per_second},
    {"devExecUs", &LatencySample::device_exec_us},
    {"devInWaitTimeUs", &LatencySample::device_input_wait_us},
    {"devOutWaitTimeUs", &LatencySample::device_output_wait_us},
};

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (cells.size() < 256) {
    const auto comma = line.find(',');
    cells.push_back(without_blanks(line.substr(0, comma)));
    if (comma == line.npos) break;
    line.remove_prefix(comma + 1);
  }
  return cells;
}

bool take(std::string_view cell, double& value) {
  return TextScanner(cell).real(value).done() && std::abs(value) < max_row_microseconds;
}

bool take_cell(std::string_view column, std::string_view cell, LatencySample& sample) {
  std::uint64_t number = 0;
  if (column == "Sample") return TextScanner(cell).count(sample.sample).done();
  if (column == "queueDepth" || column == "numInfInQueue") {
    if (!TextScanner(cell).count(number).done() || number > UINT32_MAX) return false;
    (column == "queueDepth" ? sample.queue_depth : sample.in_queue) = std::uint32_t(number);
    return true;
  }
  for (const HostColumn& host : host_columns) {
    if (column == host.column) return take(cell, sample.*host.field);
  }
  for (const DeviceColumn& device : device_columns) {
    if (column != device.column) continue;
    if (cell == "N/A") return true;
    return take(cell, (sample.*device.field).emplace());
  }
  return true;  // a column of a newer version
}

bool take_row(const std::vector<std::string_view>& columns, std::string_view line,
              LatencySample& sample) {
  const auto cells = cells_of(line);
  if (cells.size() < columns.size()) return false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!take_cell(columns[i], cells[i], sample)) return false;
  }
  return true;
}

void take_head(std::string_view text, LatencyReport& report) {
  std::uint64_t number = 0, collected = 0;
  if (TextScanner(text).text("ProgramId:").blanks().count(number).done()) {
    report.program_id = std::uint32_t(std::min<std::uint64_t>(number, UINT32_MAX));
  } else if (TextScanner scanner(text); scanner.text("ProgramName:").blanks().ok()) {
    report.program_name = std::string(scanner.rest());
  } else if (TextScanner(text)
                 .text("NumSamples collected:")
                 .blanks()
                 .count(collected)
                 .blanks()
                 .text("Num Requested:")
                 .blanks()
                 .count(number)
                 .done()) {
    report.requested = number;
  }
}

std::int64_t nanoseconds(double microseconds) {
  return std::llrint(std::max(0.0, microseconds) * 1e3);
}

class LatencyProfile {
 public:
  explicit LatencyProfile(const LatencyReport& report) : report_(report), rows_(profile_) {}

  Profile run() {
    profile_.base_clock = rows_.clock("nanoseconds", ClockKind::wall, Hertz{1e9});
    name_device(profile_.provenance);
    profile_.provenance.graph = report_.program_name;
    profile_.provenance.inferences = std::uint32_t(report_.samples.size());
    const bool ran_before = std::ranges::none_of(
        report_.samples, [](const LatencySample& sample) { return sample.sample == 0; });
    if (ran_before) profile_.provenance.temperature = Provenance::Temperature::warm;
    host_ = rows_.unit("host", Engine::host, UnitId::none);
    for (const LatencySample& sample : report_.samples) add(sample);
    add_columns();
    rows_.of_profile({"samples requested", NumberQuantity::count}, Origin::measured,
                     profile_.base_clock, double(report_.requested));
    rows_.note(Severity::info, "", 0,
               "the file does not say when a sample began: each begins at time 0");
    note_missing();
    return std::move(profile_);
  }

 private:
  void add(const LatencySample& sample);
  void add_columns();
  void note_missing();
  void column(const NamedNumber& number, auto value_of);

  const LatencyReport& report_;
  Profile profile_;
  ProfileRows rows_;
  UnitId host_{};
};

void LatencyProfile::add(const LatencySample& sample) {
  const auto instance = std::uint32_t(std::min<std::uint64_t>(sample.sample, UINT32_MAX));
  // Not work: samples that were under way together would nest in one another.
  rows_.span(host_, OpId::none, SpanKind::inference, 0, nanoseconds(sample.total_round_trip_us), -1,
             instance);
  std::int64_t at = 0;
  for (const HostColumn& step : host_columns) {
    if (!step.is_step) continue;
    const std::int64_t duration = nanoseconds(sample.*step.field);
    profile_.phases.push_back({profile_.strings.intern(step.name), instance, host_, at, duration,
                               std::max(0.0, sample.*step.field)});
    at += duration;
  }
  if (sample.device_inferences_per_second) {
    profile_.add_measure(Measure::Subject::span, std::uint32_t(profile_.spans.size() - 1),
                         device_rate, Origin::derived, profile_.base_clock,
                         *sample.device_inferences_per_second);
  }
}

void LatencyProfile::column(const NamedNumber& number, auto value_of) {
  MeasureColumn column = profile_.column_of(number, Origin::measured, profile_.base_clock);
  bool any = false;
  for (const LatencySample& sample : report_.samples) {
    column.values.push_back(value_of(sample));
    any = any || column.values.back() != MeasureColumn::missing;
  }
  if (any) profile_.spans.measures.push_back(std::move(column));
}

void LatencyProfile::add_columns() {
  const auto device = [](OptionalField field) {
    return [field](const LatencySample& sample) {
      return sample.*field ? nanoseconds(*(sample.*field)) : MeasureColumn::missing;
    };
  };
  column(device_execution, device(&LatencySample::device_exec_us));
  column(device_input_wait, device(&LatencySample::device_input_wait_us));
  column(device_output_wait, device(&LatencySample::device_output_wait_us));
  column(host_round_trip,
         [](const LatencySample& sample) { return nanoseconds(sample.host_round_trip_us); });
  column(execution_total,
         [](const LatencySample& sample) { return nanoseconds(sample.exec_total_us); });
  column(queue_depth, [](const LatencySample& sample) { return std::int64_t(sample.queue_depth); });
  column(in_queue, [](const LatencySample& sample) { return std::int64_t(sample.in_queue); });
}

// What the file lacks, and what to do for it.
void LatencyProfile::note_missing() {
  const auto unknown =
      std::count_if(report_.samples.begin(), report_.samples.end(),
                    [](const LatencySample& sample) { return !sample.device_exec_us.has_value(); });
  if (unknown > 0) {
    rows_.note(Severity::warning, "", 0,
               "device times are N/A: the device did not measure them; compile the program with "
               "-stats-level to have them",
               std::uint64_t(unknown));
  }
  if (report_.requested <= report_.samples.size()) return;
  rows_.note(
      Severity::warning, "", 0,
      fmt::format("{} of {} requested samples were collected, from inference {} on; run "
                  "more inferences, or begin earlier (--aic-profiling-start-iter)",
                  report_.samples.size(), report_.requested, report_.samples.front().sample));
}

// --- statistics ---

struct StatisticRow {
  std::string_view row;
  NamedNumber number;
};
constexpr StatisticRow statistic_rows[] = {
    {"devInfPerSec", device_rate},
    {"devExec", device_execution},
    {"devInWaitTime", device_input_wait},
    {"devOutWaitTime", device_output_wait},
    {"hostRoundTrip", host_round_trip},
    {"enqTime", {"enqueue", MeasureKind::span}},
    {"preProcTime", {"pre-process", MeasureKind::span}},
    {"submitTime", {"submit", MeasureKind::span}},
    {"execTotal", execution_total},
    {"exectoVc", {"execute until on the link", MeasureKind::span}},
    {"execToComplete", {"execute until complete", MeasureKind::span}},
    {"postProc", {"post-process", MeasureKind::span}},
    {"totalRoundtripTime", {"total round trip", MeasureKind::wall, NumberRole::total_round_trip}},
};

Statistic statistic_of(std::string_view column) {
  constexpr std::pair<std::string_view, Statistic> known[] = {
      {"mean", Statistic::mean},     {"min", Statistic::min}, {"max", Statistic::max},
      {"std", Statistic::deviation}, {"50%", Statistic::p50}, {"75%", Statistic::p75},
      {"90%", Statistic::p90},       {"95%", Statistic::p95}, {"99%", Statistic::p99}};
  for (const auto& [name, statistic] : known) {
    if (column == name) return statistic;
  }
  return Statistic::other;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (words.size() < 64) {
    line = without_blanks(line);
    if (line.empty()) break;
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

class LatencyStatistics {
 public:
  explicit LatencyStatistics(const std::string& name) : name_(name) {}

  Result<std::vector<Profile>> run(std::string_view text) {
    TextLines lines(text);
    while (const auto line = lines.next()) take(*line);
    std::erase_if(profiles_, [](const Profile& profile) { return profile.measures.empty(); });
    if (profiles_.empty()) {
      return input_error("{}: has no latency statistics; run the latency script again", name_);
    }
    ProfileRows(profiles_.front()).note_unknown(Severity::warning, name_, first_unknown_, unknown_);
    return std::move(profiles_);
  }

 private:
  void take(const TextLine& line);
  bool take_row(const std::vector<std::string_view>& words);

  const std::string& name_;
  std::string title_;
  std::vector<std::string_view> columns_;
  std::vector<Profile> profiles_;
  std::uint64_t unknown_ = 0;
  std::uint64_t first_unknown_ = 0;
};

void LatencyStatistics::take(const TextLine& line) {
  const auto words = words_of(line.text);
  if (words.empty()) return;
  if (words.front() == "mean") {  // the head of a table
    columns_ = words;
    Profile& profile = profiles_.emplace_back();
    profile.base_clock = ProfileRows(profile).clock("microseconds", ClockKind::wall, Hertz{1e6});
    name_device(profile.provenance);
    profile.provenance.graph = title_;
  } else if (line.text.ends_with(':')) {
    title_ = std::string(without_blanks(line.text.substr(0, line.text.size() - 1)));
  } else if (!take_row(words) && !words.front().ends_with(':') && unknown_++ == 0) {
    first_unknown_ = line.offset;
  }
}

// Times are milliseconds.
bool LatencyStatistics::take_row(const std::vector<std::string_view>& words) {
  if (profiles_.empty() || words.size() != columns_.size() + 1) return false;
  const StatisticRow* row = nullptr;
  for (const StatisticRow& known : statistic_rows) {
    if (words.front() == known.row) row = &known;
  }
  if (row == nullptr) return false;
  ProfileRows rows(profiles_.back());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    double value = 0;
    if (!TextScanner(words[i + 1]).real(value).done()) continue;
    const bool is_time = row->number.kind != MeasureKind::count;
    const std::string name = fmt::format("{}, {}", row->number.name, columns_[i]);
    rows.of_profile(row->number.over_many(name, statistic_of(columns_[i])), Origin::measured,
                    profiles_.back().base_clock, is_time ? value * 1e3 : value);
  }
  return true;
}

}  // namespace

std::vector<HostTime> host_times(const LatencySample& sample) {
  std::vector<HostTime> times;
  for (const HostColumn& column : host_columns) {
    times.push_back({std::string(column.name), sample.*column.field});
  }
  return times;
}

Result<LatencyReport> parse_latency(std::string_view text, const std::string& name,
                                    std::vector<Note>& notes) {
  LatencyReport report;
  std::vector<std::string_view> columns;
  TextLines lines(text);
  std::uint64_t left_out = 0;
  while (const auto line = lines.next()) {
    if (columns.empty()) {
      take_head(line->text, report);
      // Its names are padded in files of some versions.
      const auto cells = cells_of(line->text);
      if (cells.size() > 1 && cells.front() == "Sample") columns = cells;
      continue;
    }
    if (without_blanks(line->text).empty()) continue;
    LatencySample sample;
    if (take_row(columns, line->text, sample)) {
      report.samples.push_back(sample);
    } else if (left_out++ < max_noted_lines) {
      notes.push_back({Severity::error, name, line->offset, "not a sample; left out", 1});
    }
  }
  if (left_out > max_noted_lines) {
    notes.push_back({Severity::error, name, 0,
                     counted(left_out - max_noted_lines, "more line is not a sample",
                             "more lines are not samples") +
                         "; left out",
                     left_out - max_noted_lines});
  }
  if (report.samples.empty()) {
    return input_error("{}: has no samples; run with --aic-profiling-num-samples of 1 or more",
                       name);
  }
  return report;
}

Profile make_latency_profile(const LatencyReport& report) { return LatencyProfile(report).run(); }

Result<std::vector<Profile>> read_latency_table(std::string_view text, const std::string& name) {
  std::vector<Note> notes;
  TRY_AS(report, parse_latency(text, name, notes));
  std::vector<Profile> profiles;
  profiles.push_back(make_latency_profile(*report));
  for (Note& note : profiles.front().notes) note.file = name;
  auto& all = profiles.front().notes;
  all.insert(all.end(), notes.begin(), notes.end());
  return profiles;
}

Result<std::vector<Profile>> read_latency_statistics(std::string_view text,
                                                     const std::string& name) {
  return LatencyStatistics(name).run(text);
}

}  // namespace npuscope::qaic
