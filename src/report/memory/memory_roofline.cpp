#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/counted.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/memory/memory_sections.hpp"

namespace npuscope::report {
namespace {

using analysis::MemoryTable;
using analysis::Resource;
using analysis::RooflineVerdict;

const char* meaning_of(RooflineVerdict verdict) {
  switch (verdict) {
    case RooflineVerdict::compute: return "the arithmetic takes the time";
    case RooflineVerdict::memory: return "moving the bytes takes the time";
    case RooflineVerdict::dispatch: return "starting the kernels takes the time";
    case RooflineVerdict::latency:
      return "no peak is needed for 65 % of the time: it waits, transfers are slower than the DDR, "
             "or "
             "the work is spread badly";
    case RooflineVerdict::unknown: break;
  }
  return "";
}

bool is_impossible(const analysis::Placement& placement) {
  const auto resource = placement.largest;
  return placement.verdict == RooflineVerdict::unknown && resource &&
         placement.of(*resource).value_or(0) > analysis::impossible_share;
}

// What is not known, and how to give it.
std::vector<std::string> what_is_missing(const Profile& profile, const MemoryTable& table,
                                         const analysis::Peaks& peaks) {
  std::vector<std::string> missing;
  const bool any_mac_peak = peaks.macs_per_s || peaks.macs_per_cycle[0] || peaks.macs_per_cycle[1];
  std::vector<std::string> flags;
  if (!peaks.ddr_bytes_per_s) flags.push_back("--ddr-peak 77GB/s");
  if (!any_mac_peak) flags.push_back("--mac-peak 8.2TMAC/s");
  if (!flags.empty()) {
    const bool has_verdict = table.placement.verdict != RooflineVerdict::unknown;
    missing.push_back(fmt::format(
        "{}: give --target (a name such as htp-v75, or a .toml file), or {}.",
        has_verdict ? "The verdict rests on busy units alone, without the hardware's peaks"
                    : "No verdict without the hardware's peaks",
        fmt::join(flags, " and ")));
  }
  if (profile.provenance.simulator_slowdown > 0) {
    missing.push_back("Times are of a simulator's host, so bytes a second are not shown.");
  } else if (peaks.ddr_bytes_per_s && !table.rate && table.wall > 0) {
    missing.push_back("The clock's rate is not known, so bytes a second are not: give --clock.");
  }
  if (!table.work.macs_known && table.wall > 0) {
    missing.push_back(
        "The MACs of the matrix work are not known: give --model with the ONNX file, or for Cloud "
        "AI 100 compile with -aic-op-stats-verbosity=2.");
  }
  return missing;
}

std::string macs_source(const Profile& profile, const MemoryTable& table) {
  if (table.model_nodes_matched > 0) return "the model, by name; else from shapes (derived)";
  if (profile.spans.measure(NumberRole::op_window) != nullptr) {
    return fmt::format("shapes of operands ({})", stable_name(table.macs_origin));
  }
  return table.macs_origin == Origin::derived ? "shapes of operands (derived)"
                                              : stable_name(table.macs_origin);
}

}  // namespace

std::string roofline_verdict(const Profile& profile, const MemoryTable& table) {
  const analysis::Placement& placement = table.placement;
  if (is_impossible(placement)) {
    return fmt::format("unknown: {} {} of the peak is not possible", name_of(*placement.largest),
                       percent_text(*placement.of(*placement.largest), 1));
  }
  if (placement.verdict == RooflineVerdict::unknown || !placement.largest) return "unknown";
  return fmt::format("{}{}: {} ({} {})", is_structure_only(profile) ? "structure only, " : "",
                     name_of(placement.verdict), meaning_of(placement.verdict),
                     name_of(*placement.largest),
                     percent_text(*placement.of(*placement.largest), 1));
}

std::vector<std::string> roofline_remarks(const Profile& profile, const MemoryTable& table,
                                          const analysis::Peaks& peaks, bool is_part) {
  std::vector<std::string> remarks = what_is_missing(profile, table, peaks);
  if (table.matrix_ops_without_macs > 0 && table.work.macs_known &&
      table.model_nodes_matched == 0) {
    remarks.push_back(counted(table.matrix_ops_without_macs, "matrix op has", "matrix ops have") +
                      " shapes that tell no MACs.");
  }
  if (table.model_nodes > 0 && table.model_nodes_matched < table.model_nodes) {
    remarks.push_back(fmt::format(
        "{} of {} nodes of the model with MACs have a row of their name; {} of its MACs are "
        "counted.",
        table.model_nodes_matched, table.model_nodes,
        percent_text(table.model_macs_matched, table.model_macs)));
  }
  if (is_part) {
    remarks.push_back(
        "Only part of the hardware or of the ops is selected: the rest shares the DDR, so its use "
        "here is a lower bound, and the verdict is of this part alone.");
  }
  return remarks;
}

Section roofline_section(const Profile& profile, const MemoryTable& table,
                         const analysis::Peaks& peaks, bool is_part) {
  Section section{.key = "roofline", .title = "ROOFLINE"};
  const analysis::Placement& placement = table.placement;
  const auto add = [&](Field field, Value value) {
    if (value.known()) section.facts.push_back({std::move(field), std::move(value)});
  };
  if (table.wall > 0) {
    add(of_kind(MeasureKind::wall,
                {"wall", table.first_apart ? "wall, median" : "wall", Format::ticks}),
        table.wall);
    add({"seconds", "", Format::seconds},
        table.rate ? Value(table.wall / table.rate->value) : Value());
    add({"verdict_text", "verdict"}, roofline_verdict(profile, table));
    add({"verdict"}, name_of(placement.verdict));
    add({"bound_by"}, placement.largest ? Value(name_of(*placement.largest)) : Value());
  }
  const std::size_t base = index_of(profile.base_clock);
  const bool is_timer =
      base < profile.clocks.size() && profile.clocks[base].kind == ClockKind::timer;
  if (table.processor) {
    add({"clock_hz", "clock", Format::hertz}, table.processor->rate.value);
    if (table.processor->origin == Origin::derived) {
      add({"clock_from", "clock from"}, derived_rate_text(table.processor->error));
      add({"clock_error", "", Format::number}, table.processor->error);
    }
  } else if (table.rate && is_timer) {  // it says nothing about the cores
    add({"clock_hz", "timer", Format::hertz}, table.rate->value);
  }
  add({"cores", "", Format::count}, table.roofs.cores);
  if (!peaks.source.empty()) add({"peaks_from", "peaks from"}, peaks.source);
  add({"ddr_bytes_per_s", "DDR", Format::bytes_per_second}, placement.ddr_bytes_per_s);
  if (table.roofs.ddr_bytes_per_tick && table.roofs.seconds_per_tick > 0) {
    const bool of_cores = table.roofs.ddr_is_of_cores;
    const std::uint32_t cores = table.roofs.cores;
    add({"ddr_peak_bytes_per_s",
         !of_cores    ? "chip DDR peak"
         : cores == 1 ? "core DDR peak"
                      : fmt::format("{}-core DDR peak", cores),
         Format::bytes_per_second},
        *table.roofs.ddr_bytes_per_tick / table.roofs.seconds_per_tick);
    add({"ddr_peak_of", ""}, of_cores ? "cores" : "chip");
  }
  add({"ddr_share_of_peak", "DDR, of peak", Format::share}, placement.of(Resource::ddr));
  add({"vtcm_bytes_per_s", "VTCM", Format::bytes_per_second}, placement.vtcm_bytes_per_s);
  add({"vtcm_share_of_peak", "VTCM, of peak", Format::share}, placement.of(Resource::vtcm));
  if (table.work.all_macs() > 0) {
    add({"macs", "MACs", Format::number}, table.work.all_macs());
    add({"macs_from", "MACs from"}, macs_source(profile, table));
    if (placement.macs_per_s) {
      add({"macs_per_s", "", Format::number}, *placement.macs_per_s);
      add({"tera_macs_per_s", "TMAC a second", Format::number}, *placement.macs_per_s / 1e12);
    }
    add({"macs_share_of_peak", "MACs, of peak", Format::share}, placement.of(Resource::macs));
    add({"macs_per_byte", "MACs per byte", Format::number}, placement.intensity);
    add({"ridge_macs_per_byte", "ridge point", Format::number}, placement.ridge);
  }
  const analysis::Work& work = table.work;
  const bool has_windows = profile.spans.measure(NumberRole::op_window) != nullptr;
  if (peaks.hvx_threads > 0) {
    add({"hvx_threads", has_windows ? "HVX threads" : "", Format::count}, peaks.hvx_threads);
  }
  add({"hmx_busy_share", work.hmx_units > 1 ? "HMX, mean" : "HMX busy", Format::share},
      placement.of(Resource::hmx));
  add({"hvx_busy_share", work.hvx_units > 1 ? "HVX, mean" : "HVX busy", Format::share},
      placement.of(Resource::hvx));
  section.remarks = roofline_remarks(profile, table, peaks, is_part);
  if (!has_windows) return section;
  if (!peaks.ddr_bytes_per_s) {
    section.remarks.push_back(
        "What bounds each op by the log's own fastest read: npuscope ops, ENGINES IN OPS.");
  }
  section.remarks.push_back(
      "DDR bytes are those of weights and of the KV cache; activations are not counted. Of "
      "attention bytes and MACs are at most: the log has the length of the cache rounded up.");
  return section;
}

Section memory_inferences_section(const MemoryTable& table, std::size_t top) {
  Section section{.key = "inferences", .title = "INFERENCES"};
  if (!table.first_apart) return {};
  const bool is_cold = table.inferences.front().instance == 0;
  section.facts = {
      {of_kind(MeasureKind::wall,
               {"first_wall", is_cold ? "first (cold)" : "first", Format::ticks}),
       table.walls.first},
      {of_kind(MeasureKind::wall, {"median_wall_of_rest", "median of the rest", Format::ticks}),
       table.walls.median_of_rest},
      {of_kind(MeasureKind::wall, {"least_wall", "min", Format::ticks}), table.walls.min},
      {of_kind(MeasureKind::wall, {"most_wall", "max", Format::ticks}), table.walls.max}};
  section.table.fields = {{"inference", "inference", Format::count},
                          of_kind(MeasureKind::wall, {"wall", "wall", Format::ticks}),
                          {"ddr_read_bytes", "DDR read", Format::bytes, true, true},
                          {"ddr_write_bytes", "DDR write", Format::bytes, true, true}};
  for (const auto& inference : table.inferences) {
    if (section.table.rows.size() == top) break;
    section.table.rows.push_back({inference.instance, inference.wall,
                                  at(inference.bytes, analysis::Route::ddr_read),
                                  at(inference.bytes, analysis::Route::ddr_write)});
  }
  section.table.row_count = table.inferences.size();
  section.remarks = {
      "The numbers of roofline, traffic and ops are medians over the inferences after the first."};
  return section;
}

Section memory_ops_section(const Profile& profile, const MemoryTable& table, std::size_t top) {
  using analysis::Route;
  Section section{.key = "ops", .title = table.moves_bytes ? "OPS, by DDR bytes" : "OPS, by MACs"};
  const bool others_decide =
      std::any_of(table.rows.begin(), table.rows.end(), [](const analysis::MemoryRow& row) {
        const auto own = row.placement.of(analysis::Resource::ddr);
        return row.placement.verdict == RooflineVerdict::memory && own < analysis::bound_share &&
               row.placement.largest == analysis::Resource::ddr;
      });
  section.table.fields = {
      {"op", "op"},
      {"layers", "layers", Format::count, false, true},
      {"kind", "", Format::name},
      {"ops", "", Format::count},
      {"spans", "", Format::count},
      {"verdict", "verdict", Format::name, true, true},
      {"bound_by", "by", Format::name, false, true},
      {"ddr_read_bytes", "DDR read", Format::bytes, true, true},
      {"ddr_write_bytes", "DDR write", Format::bytes, true, true},
      of_kind(MeasureKind::active, {"active", "active", Format::ticks, true, true}),
      {"ddr_bytes_per_s", "DDR", Format::bytes_per_second, true, true},
      {"ddr_share_of_peak", "of peak", Format::share, true, true},
      {"ddr_share_of_peak_with_others", others_decide ? "with others" : "", Format::share, true,
       true},
      {"macs", "MACs", Format::number, true, true},
      {"macs_share_of_peak", "of peak", Format::share, true, true},
      {"macs_per_byte", "MAC/B", Format::number, false, true},
      {"hvx_busy_share", "HVX", Format::share, false, true},
      {"vtcm_read_bytes", "VTCM read", Format::bytes, false, true},
      {"vtcm_write_bytes", "VTCM write", Format::bytes, false, true},
      {"multicast_bytes", "multicast", Format::bytes, false, true},
      {"hmx_busy_share", "", Format::share},
      {"vtcm_share_of_peak", "", Format::share},
      {"dispatch_share", "", Format::share},
      {"macs_from", "", Format::name}};
  for (const analysis::MemoryRow& row : table.rows) {
    if (section.table.rows.size() == top) break;
    const analysis::Placement& placement = row.placement;
    const double macs = row.work.all_macs();
    const bool judged = placement.verdict != RooflineVerdict::unknown;
    section.table.rows.push_back(
        {row.label.empty() ? "(no op)" : row.label,
         row.layers > 1 ? Value(row.layers) : Value(),
         profile.text(row.kind),
         row.ops,
         row.spans,
         judged ? Value(name_of(placement.verdict)) : Value(),
         judged && placement.largest ? Value(name_of(*placement.largest)) : Value(),
         at(row.bytes, Route::ddr_read),
         at(row.bytes, Route::ddr_write),
         if_positive(row.active),
         placement.ddr_bytes_per_s,
         placement.of(Resource::ddr),
         placement.ddr_share_of_all,
         if_positive(macs),
         placement.of(Resource::macs),
         placement.intensity,
         placement.of(Resource::hvx),
         at(row.bytes, Route::vtcm_read),
         at(row.bytes, Route::vtcm_write),
         at(row.bytes, Route::multicast),
         placement.of(Resource::hmx),
         placement.of(Resource::vtcm),
         placement.of(Resource::dispatch),
         macs > 0 ? Value(row.macs_of_model ? "model" : stable_name(table.macs_origin)) : Value()});
  }
  section.table.row_count = table.rows.size();
  if (section.table.rows.empty()) return {};
  const bool any_impossible =
      std::any_of(table.rows.begin(), table.rows.end(),
                  [](const analysis::MemoryRow& row) { return is_impossible(row.placement); });
  if (table.wall > 0) {
    section.remarks = {
        "Shares of peak are of the row's active time, which is the union of its work and its waits "
        "for DMA; rows overlap, so active times do not add up to the wall."};
  }
  if (others_decide) {
    section.remarks.push_back(
        "with others: what all rows together draw of the DDR's peak meanwhile (where transfers "
        "have "
        "no times, over the whole run); a row that mostly moves data while that is 65 % or more is "
        "bound by the DDR.");
  }
  const bool any_ahead =
      std::any_of(table.rows.begin(), table.rows.end(), [](const analysis::MemoryRow& row) {
        return row.work.ddr_ticks > row.active && row.active > 0;
      });
  if (any_ahead) {
    section.remarks.push_back(
        "Transfers that a row started ahead of time, before its unit worked for others, are not "
        "part of its active time: their bytes are set against the time until the row computes.");
  }
  if (any_impossible) {
    section.remarks.push_back(
        "Rows beyond 125 % of a peak have no verdict: their time does not hold all of their "
        "transfers, or the peak is not this hardware's.");
  }
  return section;
}

}  // namespace npuscope::report
