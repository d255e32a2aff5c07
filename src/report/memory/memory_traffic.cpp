#include <fmt/format.h>

#include "analysis/memory/vtcm_peak.hpp"
#include "base/counted.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/analysis/units.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "report/memory/memory_sections.hpp"

namespace npuscope::report {
namespace {

using analysis::MemoryTable;
using analysis::Route;
using analysis::TrafficLevel;

std::string source_text(const analysis::TrafficTotal& total) {
  if (!total.of_ops) return "";
  return fmt::format("{} ({})", name_of(total.level), stable_name(total.origin));
}

std::string told_text(const analysis::TrafficTotal& total) {
  if (!total.told) return "";
  return fmt::format("{} ({})", name_of(total.told_by), stable_name(total.told_origin));
}

bool has_in_flight_counters(const Profile& profile) {
  for (const CounterSeries& series : profile.counters.series) {
    if (series.role == NumberRole::bytes_in_flight) return true;
  }
  return false;
}

// Bytes of spans and fills obey what DMA does: what it reads from DDR, it writes to VTCM.
void add_difference_remarks(const analysis::OpTraffic& traffic, std::int64_t inferences,
                            Section& section) {
  for (std::size_t i = 0; i < analysis::route_count; ++i) {
    const analysis::TrafficTotal& total = traffic.total(Route(i));
    if (!total.told || !total.of_ops || *total.told == *total.of_ops) continue;
    const std::int64_t difference = saturating_subtract(*total.told, *total.of_ops);
    std::string why;
    if (total.level == TrafficLevel::sizes && difference > 0) {
      why =
          "; the counters also see what is not a transfer of an op: statistics, kernels that read "
          "DDR themselves";
    }
    section.remarks.push_back(fmt::format(
        "{}: {} and {} differ by {}{}.", name_of(Route(i)), name_of(total.told_by),
        name_of(total.level), bytes_text(std::abs(double(difference)) / double(inferences)), why));
  }
}

}  // namespace

std::string how_to_get_bytes(const Profile& profile) {
  using Platform = Provenance::Platform;
  const Platform platform = profile.provenance.platform;
  if (platform == Platform::hexagon) {
    return "profile with --profiling_option optrace, and let qnn-profile-viewer write the QHAS "
           "summary (features qhas_json and qhas_schema) or the graph (htp_json, memory_info); "
           "give those files together with the trace";
  }
  if (platform == Platform::cloud_ai_100) {
    return "compile with -ddr-stats for counters of DDR traffic (-stats-level=40 or more), with "
           "-stats-level=70 for the sizes of transfers, or read the compiler's estimate "
           "(-aic-perf-metrics)";
  }
  if (platform == Platform::torq) {
    return "debug information (torq-compile --torq-debug-info, made text by iree-opt "
           "--mlir-print-debuginfo) has the bytes of each transfer and what stays in LRAM";
  }
  if (platform == Platform::xla) {
    return "an XSpace has bytes of copies, and of ops where the device's cost model says them "
           "(memory_access_breakdown of TPUs), not of ops on a CPU";
  }
  return "a trace of this format names no bytes that npuscope understands; numbers called "
         "\"ddr read bytes\", \"dram_write\", \"vtcm read\" and the like are";
}

std::string transfer_time_remark(const MemoryTable& table, bool above_peak) {
  for (const analysis::EngineTraffic& row : table.engines) {
    if (row.engine != Engine::dma_issue || analysis::ddr_bytes(row.bytes).value_or(0) == 0) {
      continue;
    }
    return "A span here is the issue of a transfer, which goes on after it: bytes by its time are "
           "not bandwidth and may be above the DDR's peak.";
  }
  if (!above_peak) return "";
  return "More than the DDR's peak: bytes of transfers that wait for one another lie evenly over "
         "their spans, or the peak is not that of this hardware.";
}

Section traffic_section(const Profile& profile, const analysis::OpTraffic& traffic,
                        const MemoryTable& table) {
  Section section{.key = "traffic", .title = "TRAFFIC"};
  section.table.fields = {{"route", "route"},
                          {"bytes", "bytes", Format::bytes},
                          {"bytes_per_s", "mean over wall", Format::bytes_per_second, true, true},
                          {"source", "sum over ops from", Format::name, true, true},
                          {"ops_bytes", "", Format::bytes},
                          {"told_by", "source", Format::name, true, true},
                          {"told_bytes", "", Format::bytes},
                          {"difference_bytes", "difference", Format::bytes, true, true}};
  // Of several inferences bytes are medians of one, so what is compared are means of one.
  const auto inferences = std::int64_t(table.first_apart ? table.inferences.size() : 1);
  const auto of_one = [&](std::optional<std::int64_t> sum) {
    return sum ? std::optional(*sum / inferences) : std::nullopt;
  };
  for (std::size_t i = 0; i < analysis::route_count; ++i) {
    const analysis::TrafficTotal& total = traffic.total(Route(i));
    const auto& bytes = table.bytes[i];
    if (!bytes) continue;
    Value rate, difference;
    if (table.wall > 0 && table.rate) {
      rate = double(*bytes) / table.wall * table.rate->value;
    }
    if (total.told && total.of_ops) {
      difference = double(saturating_subtract(*total.told, *total.of_ops)) / double(inferences);
    }
    section.table.rows.push_back({name_of(Route(i)), *bytes, rate, source_text(total),
                                  of_one(total.of_ops), told_text(total), of_one(total.told),
                                  difference});
  }
  if (!traffic.any()) {
    section.remarks = {fmt::format("This profile says nothing of bytes that were moved; {}.",
                                   how_to_get_bytes(profile))};
  } else {
    add_difference_remarks(traffic, inferences, section);
    if (!traffic.any_of_ops()) {
      section.remarks.push_back(
          fmt::format("Nothing says which op moved how much; {}.", how_to_get_bytes(profile)));
    }
  }
  if (has_in_flight_counters(profile) && !traffic.any_of_ops()) {
    section.remarks.push_back(
        "Its counters \"in flight\" are bytes of the ops that run at a moment, not bytes a second: "
        "adding them up over time would mean nothing.");
  }
  return section;
}

Section constants_section(const Profile& profile) {
  const auto units = analysis::constant_traffic(profile);
  if (units.empty()) return {};
  Section section{.key = "constants", .title = "CONSTANTS"};
  section.table.fields = {{"unit", "unit"},
                          {"ddr_read_bytes", "DDR read", Format::bytes},
                          {"constant_bytes", "constants", Format::bytes},
                          {"beyond_constants_bytes", "others", Format::bytes},
                          {"ddr_write_bytes", "DDR write", Format::bytes},
                          {"multicast_bytes", "multicast", Format::bytes}};
  for (const analysis::ConstantTraffic& unit : units) {
    section.table.rows.push_back({path_of(profile, unit.unit), unit.ddr_read, unit.constants,
                                  unit.ddr_read - unit.constants, unit.ddr_write, unit.multicast});
  }
  section.remarks = {
      "Beyond constants: activations that did not fit the VTCM, retained state such as a KV cache, "
      "inputs, and the statistics buffer of a program compiled with statistics. Not all of it is "
      "spill."};
  return section;
}

Section engines_section(const MemoryTable& table) {
  Section section{.key = "engines", .title = "ENGINES"};
  section.table.fields = {{"engine", "engine"},
                          {"spans", "spans", Format::count},
                          {"ddr_read_bytes", "DDR read", Format::bytes, true, true},
                          {"ddr_write_bytes", "DDR write", Format::bytes, true, true},
                          {"vtcm_read_bytes", "VTCM read", Format::bytes, true, true},
                          {"vtcm_write_bytes", "VTCM write", Format::bytes, true, true},
                          {"multicast_bytes", "multicast", Format::bytes, true, true}};
  const bool knows_whose = std::ranges::any_of(table.engines, [](const auto& row) {
    return std::ranges::any_of(row.bytes, [](const auto& bytes) { return bytes.value_or(0) > 0; });
  });
  if (!knows_whose) return {};
  for (const analysis::EngineTraffic& row : table.engines) {
    section.table.rows.push_back({name_of(row.engine), row.spans, row.bytes[0], row.bytes[1],
                                  row.bytes[2], row.bytes[3], row.bytes[4]});
  }
  if (table.first_apart && !section.table.rows.empty()) {
    section.remarks = {over_all_inferences};
  }
  return section;
}

Section transfers_section(const std::vector<analysis::TransferSize>& sizes,
                          const MemoryTable& table) {
  Section section{.key = "transfers", .title = "TRANSFERS of DDR by DMA"};
  section.table.fields = {{"size", "size"},
                          {"least_bytes", "", Format::bytes},
                          {"below_bytes", "", Format::bytes},
                          {"transfers", "transfers", Format::count},
                          {"share_of_transfers", "of all", Format::share},
                          {"bytes", "bytes", Format::bytes},
                          of_kind(MeasureKind::work, {"work", "work", Format::ticks}),
                          {"bytes_per_s", "in flight", Format::bytes_per_second, true, true}};
  double all = 0;
  std::uint64_t small = 0;
  bool above_peak = false;
  for (const analysis::TransferSize& size : sizes) {
    all += double(size.transfers);
    if (size.below == analysis::small_transfer) small = size.transfers;
  }
  for (const analysis::TransferSize& size : sizes) {
    std::string name = fmt::format("from {}", bytes_text(double(size.min)));
    if (size.min <= 1) name = fmt::format("below {}", bytes_text(double(size.below)));
    Value rate;
    if (size.ticks > 0 && table.rate) {
      const double per_tick = double(size.bytes) / double(size.ticks);
      rate = per_tick * table.rate->value;
      const auto& peak = table.roofs.ddr_bytes_per_tick;
      above_peak = above_peak || (peak && per_tick > analysis::impossible_share * *peak);
    }
    section.table.rows.push_back({name, size.min, if_positive(size.below), size.transfers,
                                  double(size.transfers) / all, size.bytes, size.ticks, rate});
  }
  if (small > 0) {
    section.remarks.push_back(fmt::format(
        "{} of transfers are below 4 KiB, where the overhead of each takes longer than its bytes.",
        percent_text(double(small), all)));
  }
  if (const std::string remark = transfer_time_remark(table, above_peak); !remark.empty()) {
    section.remarks.push_back(remark);
  }
  if (table.first_apart && !section.table.rows.empty()) {
    section.remarks.push_back(over_all_inferences);
  }
  return section;
}

Section schedule_section(const Profile& profile) {
  Section section{.key = "schedule", .title = "SCHEDULE"};
  const auto add = [&](NumberRole role, std::string key, std::string label, Format format) {
    for (const Measure& measure : profile.measures) {
      const bool is_it =
          measure.subject == Measure::Subject::profile && measure.meaning.role == role;
      if (is_it) section.facts.push_back({{key, label, format}, std::int64_t(measure.value)});
    }
  };
  add(NumberRole::exposed_transfer, "exposed_transfer", "exposed DMA", Format::ticks);
  add(NumberRole::hidden_transfer, "hidden_transfer", "DMA behind compute", Format::ticks);
  add(NumberRole::code_fetches, "code_fetches", "NSS code blocks fetched", Format::count);
  add(NumberRole::kept_on_chip, "kept_on_chip_bytes", "kept in LRAM between kernels",
      Format::bytes);
  return section;
}

Section vtcm_section(const Profile& profile, const analysis::Peaks& peaks) {
  const bool is_torq = profile.provenance.platform == Provenance::Platform::torq;
  Section section{.key = "vtcm", .title = is_torq ? "LRAM" : "VTCM"};
  section.table.fields = {{"by", "max in use, by"},
                          {"unit", "unit", Format::name, true, true},
                          {"origin", "origin"},
                          {"bytes", "bytes", Format::bytes},
                          {"share_of_capacity", "of capacity", Format::share, true, true}};
  for (const analysis::VtcmPeak& peak : analysis::vtcm_peaks(profile)) {
    section.table.rows.push_back(
        {peak.by, peak.unit == UnitId::none ? Value() : Value(path_of(profile, peak.unit)),
         stable_name(peak.origin), peak.bytes,
         peaks.vtcm_bytes ? Value(peak.bytes / *peaks.vtcm_bytes) : Value()});
  }
  if (!section.table.rows.empty() && peaks.vtcm_bytes) {
    section.facts = {{{"capacity_bytes", "capacity of a core", Format::bytes}, *peaks.vtcm_bytes}};
  }
  return section;
}

namespace {

using analysis::Route;
using analysis::SpillSide;

// The tensor that an op makes, else the op itself.
std::string name_of_op(const Profile& profile, OpId id) {
  const Op& op = profile.ops[index_of(id)];
  return std::string(profile.text(op.label()));
}

Section tensors_section(const Profile& profile, const analysis::Spill& spill, std::size_t top) {
  Section tensors{.key = "tensors", .title = "SPILLED TENSORS, by bytes read back"};
  tensors.table.fields = {{"tensor", "of"},
                          {"shape", "shape", Format::name, false, true},
                          {"spills", "spills", Format::count},
                          {"fills", "fills", Format::count},
                          {"written_bytes", "written", Format::bytes},
                          {"read_bytes", "read back", Format::bytes},
                          {"away", "away", Format::ticks, true, true}};
  for (const analysis::SpilledTensor& tensor : spill.tensors) {
    if (tensors.table.rows.size() == top) break;
    const std::string_view shape = profile.text(profile.ops[index_of(tensor.op)].shape);
    tensors.table.rows.push_back({name_of_op(profile, tensor.op), if_any(shape), tensor.spills,
                                  tensor.fills, tensor.written, tensor.read, tensor.away});
  }
  tensors.table.row_count = spill.tensors.size();
  return tensors;
}

}  // namespace

Section spill_section(const Profile& profile, const analysis::Spill& spill,
                      const analysis::MemoryTable& table, std::size_t top) {
  Section section{.key = "spill", .title = "SPILL AND FILL"};
  if (!spill.any()) return {};
  section.table.fields = {{"side", "side"},
                          {"ops", "ops", Format::count},
                          {"instances", "instances", Format::count},
                          {"ddr_bytes", "DDR bytes", Format::bytes, true, true},
                          {"vtcm_bytes", "VTCM bytes", Format::bytes, true, true},
                          of_kind(MeasureKind::work, {"work", "work", Format::ticks}),
                          {"exposed", "exposed", Format::ticks, true, true},
                          {"hidden", "hidden", Format::ticks, true, true},
                          {"waited", "waited for", Format::ticks},
                          {"alone", "alone", Format::ticks}};
  const auto put = [&](const char* name, const SpillSide& side, Route ddr, Route vtcm) {
    section.table.rows.push_back({name, side.ops, side.instances, at(side.bytes, ddr),
                                  at(side.bytes, vtcm), side.work, side.exposed, side.hidden(),
                                  side.waited, side.alone});
  };
  put("spill", spill.spill, Route::ddr_write, Route::vtcm_read);
  put("fill", spill.fill, Route::ddr_read, Route::vtcm_write);
  const bool has_path = spill.spill.exposed || spill.fill.exposed;
  section.remarks.push_back(
      has_path ? "Exposed is the dominant path's share, hidden the rest of the work; alone is time "
                 "in which nothing else works."
               : "Alone is time in which nothing else works: exposed at least.");
  if (table.first_apart) section.remarks.emplace_back(over_all_inferences);
  if (spill.has_edges && spill.unpaired_spills + spill.unpaired_fills > 0) {
    section.remarks.push_back(fmt::format("Without a partner in the graph's edges: {} and {}.",
                                          counted(spill.unpaired_spills, "spill"),
                                          counted(spill.unpaired_fills, "fill")));
  }
  if (!spill.tensors.empty()) section.parts.push_back(tensors_section(profile, spill, top));
  return section;
}

}  // namespace npuscope::report
