#include "report/memory/peaks.hpp"

#include <cmath>
#include <span>
#include <utility>

#include "base/numbers.hpp"
#include "base/try.hpp"
#include "npu/core/target_file.hpp"
#include "npu/targets/ipu/target.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npu/targets/torq/target.hpp"

namespace npuscope::report {
namespace {

struct PeakUnit {
  const char* name;
  double factor;
};

constexpr PeakUnit bandwidth_units[] = {{"B/s", 1},
                                        {"KB/s", 1e3},
                                        {"MB/s", 1e6},
                                        {"GB/s", 1e9},
                                        {"TB/s", 1e12},
                                        {"KiB/s", 1024.0},
                                        {"MiB/s", 1024.0 * 1024},
                                        {"GiB/s", 1073741824.0},
                                        {"TiB/s", 1099511627776.0}};
constexpr PeakUnit mac_units[] = {
    {"MAC/s", 1}, {"GMAC/s", 1e9}, {"TMAC/s", 1e12}, {"GOPS", 0.5e9}, {"TOPS", 0.5e12}};
constexpr PeakUnit clock_units[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};

Result<double> parse(const char* flag, const std::string& text, std::span<const PeakUnit> units,
                     const char* example) {
  std::string_view unit = text;
  const auto number = take_number<double>(unit);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const PeakUnit& known : units) {
    if (!number || unit != known.name) continue;
    const double value = *number * known.factor;
    if (std::isfinite(value) && value > 0) return value;
  }
  return usage_error("{} {}: not a number above 0 with its unit; write it like {}", flag, text,
                     example);
}

analysis::Peaks peaks_of(const npu::nsp::Target& target) {
  const auto known = [](double value) {
    return value > 0 ? std::optional<double>(value) : std::nullopt;
  };
  analysis::Peaks peaks;
  peaks.source = "target " + target.name;
  peaks.ddr_bytes_per_s = known(target.ddr_bytes_per_s);
  peaks.ddr_bytes_per_s_per_core = known(target.ddr_bytes_per_s_per_core);
  peaks.macs_per_cycle = {known(target.hmx_macs_per_cycle_int8),
                          known(target.hmx_macs_per_cycle_fp16),
                          known(target.hvx_macs_per_cycle_fp32)};
  peaks.core_hz = known(target.core_hz);
  peaks.vtcm_bytes = known(double(target.vtcm_bytes));
  peaks.hvx_threads = target.hvx_threads;
  peaks.hvx_dispatch_cycles = known(target.default_kernel.overhead_cycles);
  peaks.hmx_dispatch_cycles = known(target.hmx_overhead_cycles);
  peaks.dma_dispatch_cycles = known(target.dma_issue_cycles);
  return peaks;
}

// An IPU's array has one width; timelines do not say what operands are made of.
analysis::Peaks peaks_of(const npu::ipu::Target& target) {
  analysis::Peaks peaks;
  peaks.source = "target " + target.name;
  peaks.ddr_bytes_per_s = target.ddr_bytes_per_s;
  const double macs = double(target.conv_input_lanes) * double(target.conv_output_lanes);
  peaks.macs_per_cycle = {macs, macs, std::nullopt};
  peaks.core_hz = target.clock_hz;
  return peaks;
}

// Both directions of a Torq's DMA share XRAM; 2-byte elements take twice the ALU.
analysis::Peaks peaks_of(const npu::torq::Target& target) {
  analysis::Peaks peaks;
  peaks.source = "target " + target.name;
  peaks.ddr_bytes_per_s = target.device.xram_bytes_per_cycle * target.clock_hz;
  const double macs = double(target.slices.count) * double(target.slices.alu_width);
  peaks.macs_per_cycle = {macs, macs / 2, std::nullopt};
  peaks.core_hz = target.clock_hz;
  return peaks;
}

Result<analysis::Peaks> peaks_of(const std::string& target_name) {
  TRY_AS(file, npu::find_target_file(target_name));
  if (file->architecture == npu::TargetArchitecture::ipu) {
    TRY_AS(target, npu::ipu::read_target(*file));
    return peaks_of(*target);
  }
  if (file->architecture == npu::TargetArchitecture::torq) {
    TRY_AS(target, npu::torq::read_target(*file));
    return peaks_of(*target);
  }
  TRY_AS(target, npu::nsp::find_target(target_name));
  return peaks_of(*target);
}

}  // namespace

Status choose_target(PeakText& peaks) {
  if (peaks.target.empty()) {
    TRY_AS(remembered, npu::remembered_target());
    peaks.remembered_target = std::move(*remembered);
  }
  for (const std::string& name : {peaks.target, peaks.remembered_target}) {
    if (name.empty()) continue;
    TRY(npu::find_target_file(name));
  }
  return {};
}

namespace {

// What the file itself says of its hardware.
analysis::Peaks stated_peaks(const Profile& profile) {
  analysis::Peaks peaks;
  constexpr double max_threads = 4096;  // for a forged number
  bool any = false;
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::profile || !(measure.value > 0)) continue;
    const NumberRole role = measure.meaning.role;
    if (role == NumberRole::ddr_peak_rate) peaks.ddr_bytes_per_s = measure.value;
    if (role == NumberRole::vtcm_size) peaks.vtcm_bytes = measure.value;
    if (role == NumberRole::hvx_threads && measure.value <= max_threads) {
      peaks.hvx_threads = std::uint32_t(measure.value);
    }
    any |= role == NumberRole::ddr_peak_rate || role == NumberRole::vtcm_size;
  }
  if (any) peaks.source = peaks.ddr_bytes_per_s ? "the estimate's configuration" : "the file";
  return peaks;
}

}  // namespace

Result<FoundPeaks> find_peaks(const Profile& profile, const PeakText& text) {
  FoundPeaks found;
  found.peaks = stated_peaks(profile);
  // A file may name hardware that is not built in; no path is taken from it.
  std::string name = text.target;
  if (name.empty() && npu::is_builtin_target(profile.provenance.target)) {
    name = profile.provenance.target;
  }
  if (name.empty()) name = text.remembered_target;
  if (!name.empty()) {
    TRY_AS(peaks, peaks_of(name));
    const analysis::Peaks stated = std::exchange(found.peaks, *peaks);
    // The size of a log's own VTCM, and its threads, are not in doubt.
    if (stated.vtcm_bytes && !stated.ddr_bytes_per_s) {
      found.peaks.vtcm_bytes = stated.vtcm_bytes;
      if (stated.hvx_threads > 0) found.peaks.hvx_threads = stated.hvx_threads;
      found.peaks.source += ", VTCM and threads of the file";
    }
  }
  const auto take = [&](const char* flag, const std::string& given, std::span<const PeakUnit> units,
                        const char* example, std::optional<double>& into) -> Status {
    if (given.empty()) return {};
    TRY_AS(value, parse(flag, given, units, example));
    into = *value;
    found.peaks.source += found.peaks.source.empty() ? flag : std::string(", ") + flag;
    return {};
  };
  std::optional<double> clock;
  for (const Status& taken :
       {take("--ddr-peak", text.ddr, bandwidth_units, "137GB/s", found.peaks.ddr_bytes_per_s),
        take("--vtcm-peak", text.vtcm, bandwidth_units, "1TB/s", found.peaks.vtcm_bytes_per_s),
        take("--mac-peak", text.macs, mac_units, "8.2TMAC/s", found.peaks.macs_per_s),
        take("--clock", text.clock, clock_units, "1.8GHz", clock)}) {
    if (!taken) return tl::unexpected(taken.error());
  }
  if (!text.ddr.empty()) found.peaks.ddr_bytes_per_s_per_core.reset();
  if (clock) found.clock = Hertz{*clock};
  return found;
}

}  // namespace npuscope::report
