// What the runner prints when it is done: how many inferences in how long, and what the device
// measured over them.
#include <array>
#include <map>
#include <utility>

#include "formats/qaic/device.hpp"
#include "formats/qaic/opstats/profile_rows.hpp"
#include "formats/qaic/text/read_text_parts.hpp"

namespace npuscope::qaic {
namespace {

struct NamedStatistic {
  std::string_view name;
  Statistic is;
};
constexpr std::array<NamedStatistic, 4> statistics{{{"average", Statistic::mean},
                                                    {"minimum", Statistic::min},
                                                    {"maximum", Statistic::max},
                                                    {"standard deviation", Statistic::deviation}}};
constexpr std::uint64_t max_devices = 65536;

// A metric by its name's ending: what kind of number it is.
struct Metric {
  std::string_view ending;
  NamedNumber number;
  Origin origin;
};
constexpr NamedNumber batch_size =
    NamedNumber{"batch size", NumberQuantity::count, NumberRole::run_batch_size}.not_additive();

constexpr NamedNumber active_percent(std::string_view name) {
  return {name, NumberQuantity::share, NumberRole::active_share};
}
constexpr Metric metrics[] = {
    {"ExecTimeUs",
     {"execution", MeasureKind::wall, NumberRole::device_execution},
     Origin::measured},
    {"InputWaitTimeUs",
     {"input wait", MeasureKind::active, NumberRole::device_input_wait},
     Origin::measured},
    {"OutputWaitTimeUs",
     {"output wait", MeasureKind::active, NumberRole::device_output_wait},
     Origin::measured},
    {"InfPCycles", {"processor cycles of an inference", MeasureKind::wall}, Origin::measured},
    {"InfPerSec", {"inferences per second", NumberQuantity::rate}, Origin::derived},
    {"HMXActivePct", active_percent("HMX active percent"), Origin::counter},
    {"HVXActivePct", active_percent("HVX active percent"), Origin::counter},
    {"DMAActivePct", active_percent("DMA active percent"), Origin::counter},
    {"DDRTrafficMB", {"ddr traffic MB", NumberQuantity::count}, Origin::counter},
    {"DDRBandwidthGBPerSec",
     {"ddr bandwidth GB per second", NumberQuantity::rate},
     Origin::counter},
};

// "ExecTimeUs_Dev_0_Func_1": the metric, the device and the function it is about.
struct MetricName {
  std::string_view base;
  std::optional<std::uint32_t> device;
  std::optional<std::uint32_t> function;
};

std::optional<std::uint32_t> take_index(std::string_view& name, std::string_view mark) {
  const auto at = name.rfind(mark);
  std::uint64_t number = 0;
  if (at == name.npos || !TextScanner(name.substr(at + mark.size())).count(number).done() ||
      number > max_devices) {
    return std::nullopt;
  }
  name = name.substr(0, at);
  return std::uint32_t(number);
}

MetricName split_name(std::string_view text) {
  MetricName name{text, std::nullopt, std::nullopt};
  name.function = take_index(name.base, "_Func_");
  name.device = take_index(name.base, "_Dev_");
  return name;
}

class RunnerLog {
 public:
  explicit RunnerLog(const std::string& name) : name_(name) {}

  Result<std::vector<Profile>> run(std::string_view text) {
    TextLines lines(text);
    while (const auto line = lines.next()) take(*line);
    finish();
    if (profiles_.empty()) {
      return input_error(
          "{}: has no statistics of a run; keep what the runner prints until it ends", name_);
    }
    ProfileRows(profiles_.front()).note_unknown(Severity::info, name_, first_unknown_, unknown_);
    return std::move(profiles_);
  }

 private:
  void take(const TextLine& line);
  bool take_totals(std::string_view text);
  bool take_metric(std::string_view text);
  void begin();
  void finish();
  UnitId unit_of(std::optional<std::uint32_t> device);

  const std::string& name_;
  std::vector<Profile> profiles_;
  Profile profile_;
  bool open_ = false;
  bool in_throughput_ = false;
  ClockId cycles_{};
  std::map<std::uint32_t, UnitId> devices_;
  std::uint64_t unknown_ = 0;
  std::uint64_t first_unknown_ = 0;
};

void RunnerLog::take(const TextLine& line) {
  const std::string_view text = without_blanks(line.text);
  if (text == "---- Stats ----" || text.find("Aggregated Device Metrics Report") != text.npos) {
    if (!open_ || text.front() == '-') begin();
    return;
  }
  if (text.empty() || text.starts_with("Writing file:") || text.starts_with("Deleting previous") ||
      text == "Device Performance:" || text.starts_with("Metric,")) {
    return;
  }
  if (text.starts_with("Latency of an inference, from ")) return;  // npuscope's own
  if (text.starts_with("Throughput of an activation:")) {          // and what it explains
    in_throughput_ = true;
    return;
  }
  if (std::exchange(in_throughput_, false)) return;
  if (open_ && (take_totals(text) || take_metric(text))) return;
  if (unknown_++ == 0) first_unknown_ = line.offset;
}

void RunnerLog::begin() {
  finish();
  open_ = true;
  profile_ = {};
  devices_.clear();
  ProfileRows rows(profile_);
  profile_.base_clock = rows.clock("microseconds", ClockKind::wall, Hertz{1e6});
  cycles_ = rows.clock("processor cycles", ClockKind::unit_cycles, Hertz{0});
  name_device(profile_.provenance);
}

void RunnerLog::finish() {
  if (open_ && !profile_.measures.empty()) profiles_.push_back(std::move(profile_));
  open_ = false;
}

// "InferenceCnt 5787 TotalDuration 20018960us BatchSize 8 Inf/Sec 2312.608"
bool RunnerLog::take_totals(std::string_view text) {
  std::uint64_t count = 0, duration = 0, batch = 0;
  double rate = 0;
  TextScanner scanner(text);
  scanner.text("InferenceCnt ").count(count).text(" TotalDuration ").count(duration).text("us");
  scanner.text(" BatchSize ").count(batch).text(" Inf/Sec ").real(rate);
  if (!scanner.done()) return false;
  ProfileRows rows(profile_);
  profile_.provenance.inferences = std::uint32_t(std::min<std::uint64_t>(count, UINT32_MAX));
  const ClockId clock = profile_.base_clock;
  rows.of_profile({"run", MeasureKind::wall, NumberRole::run_time}, Origin::measured, clock,
                  double(duration));
  rows.of_profile({"inferences", NumberQuantity::count, NumberRole::run_inferences},
                  Origin::measured, clock, double(count));
  rows.of_profile(batch_size, Origin::measured, clock, double(batch));
  rows.of_profile({"inferences per second", NumberQuantity::rate, NumberRole::run_rate},
                  Origin::derived, clock, rate);
  return true;
}

UnitId RunnerLog::unit_of(std::optional<std::uint32_t> device) {
  const auto [found, is_new] = devices_.try_emplace(device.value_or(0), UnitId::none);
  if (is_new) {
    ProfileRows rows(profile_);
    found->second = rows.unit(fmt::format("device {}", device.value_or(0)), Engine::device,
                              UnitId::none, 0, 0, device.value_or(0));
  }
  return found->second;
}

// "ExecTimeUs,      22777.262,     22210.208,     25809.896,     374.926"; N/A: not measured.
bool RunnerLog::take_metric(std::string_view text) {
  const auto comma = text.find(',');
  if (comma == text.npos) return false;
  const MetricName name = split_name(text.substr(0, comma));
  const Metric* metric = nullptr;
  for (const Metric& known : metrics) {
    if (name.base == known.ending) metric = &known;
  }
  if (metric == nullptr) return false;
  ProfileRows rows(profile_);
  const UnitId unit = unit_of(name.device);
  const ClockId clock = metric->ending == "InfPCycles" ? cycles_ : profile_.base_clock;
  std::string what(metric->number.name);
  if (name.function) what += fmt::format(" of function {}", *name.function);
  std::string_view rest = text.substr(comma + 1);
  for (const auto& statistic : statistics) {
    const auto end = std::min(rest.find(','), rest.size());
    const std::string_view cell = without_blanks(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    double value = 0;
    if (cell == "N/A" || cell.empty()) {
      if (&statistic == &statistics.front()) {
        rows.note(Severity::info, name_, 0,
                  fmt::format("{} was not measured; compile with a higher -stats-level", what));
      }
      continue;
    }
    if (!TextScanner(cell).real(value).done()) return false;
    const std::string called = fmt::format("{}, {}", what, statistic.name);
    NamedNumber number = metric->number.over_many(called, statistic.is);
    if (name.function && metric->number.kind != MeasureKind::count) {
      const bool is_wait = metric->number.kind == MeasureKind::active;
      number.meaning.role = is_wait ? NumberRole::function_wait : NumberRole::function_step;
    }
    rows.of_unit(unit, number, metric->origin, clock, value);
  }
  return true;
}

}  // namespace

Result<std::vector<Profile>> read_runner_log(std::string_view text, const std::string& name) {
  return RunnerLog(name).run(text);
}

}  // namespace npuscope::qaic
