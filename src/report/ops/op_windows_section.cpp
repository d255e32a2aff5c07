// What the engines did in the windows of ops, and what bounds them.
#include "analysis/ops/op_windows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/ops/ops_table.hpp"

namespace npuscope::report {

using namespace analysis;

Section op_windows_section(const Analysis& analysis, std::size_t top, const PeakText& text) {
  const auto found = find_peaks(analysis.profile(), text);
  OpWindows windows = find_op_windows(analysis, found ? found->peaks : Peaks{});
  if (windows.rows.empty()) return {};
  Section section{.key = "op_windows", .title = "ENGINES IN OPS"};
  section.table.row_count = windows.rows.size();
  if (top > 0 && windows.rows.size() > top) windows.rows.resize(top);
  section.facts = {
      {{"best_bytes_per_second", "", Format::bytes_per_second}, windows.best_bytes_per_s},
      {{"hvx_threads", "", Format::count}, windows.hvx_units}};
  section.table.fields = {
      {"op", "op"},
      {"layers", "layers", Format::count, false},
      {"runs", "runs", Format::count, false},
      of_kind(MeasureKind::dominant_path, {"window", "window", Format::ticks}),
      {"share", "of all", Format::share},
      {"gflop_per_second", "GFLOP/s", Format::number, true, true},
      {"read_bytes_per_second", "weights, cache", Format::bytes_per_second, true, true},
      {"dma_in_flight", "DMA in flight", Format::share, true, true},
      {"dma_engine", "DMA engine", Format::share, true, true},
      {"hvx_any", "HVX any", Format::share, true, true},
      {"hvx_mean", "HVX mean", Format::share, false, true},
      {"hmx", "HMX", Format::share, true, true},
      {"dequantisation", "dequantisation", Format::share, false, true},
      {"no_event", "no event", Format::share, false, true},
      {"partial", "lost events", Format::truth, true, true},
      {"bound", "bound", Format::name, true, true}};
  const bool any_partial = std::ranges::any_of(windows.rows, &OpWindow::is_partial);
  for (const OpWindow& row : windows.rows) {
    const auto share = [&](double value) { return row.has_events ? Value(value) : Value(); };
    Value flop;
    if (row.macs_per_s) flop = 2 * *row.macs_per_s / 1e9;
    section.table.rows.push_back(
        {row.label, row.layers, row.runs, row.window, row.share, flop, row.bytes_per_s,
         share(row.dma.any), row.dma_engine, share(row.hvx.any), share(row.hvx.mean),
         share(row.hmx.any), share(row.converting), share(row.without_event),
         any_partial ? Value(row.is_partial) : Value(),
         row.bound == WindowBound::unknown ? Value() : Value(name_of(row.bound))});
  }
  section.remarks = {
      "Shares are of the op's window, from its start to its end. GFLOP/s count two for a "
      "multiply-accumulate; weights, cache: bytes of weights and of the KV cache that the NPU "
      "reads. Of attention both are at most, because the log has the length of the cache rounded "
      "up; where the bytes would be more than 125 % of the log's fastest read, they are left out."};
  const bool any_engine = std::ranges::any_of(
      windows.rows, [](const OpWindow& row) { return row.dma_engine.has_value(); });
  if (any_engine) {
    section.remarks.push_back(
        "DMA engine: cycles in which it moved data (PMU event 0x240) by the op's. DMA in flight, "
        "of "
        "a log with trace events, is longer: there a transfer lasts until software collects it.");
  }
  const std::string by_ddr = windows.ddr_peak
                                 ? "DDR where weights come at 65 % of its peak"
                                 : "DDR where weights come at 80 % of the log's fastest rate";
  const std::string by_engine = any_engine ? ", or the DMA engine works for 80 %" : "";
  if (windows.has_events) {
    section.remarks.push_back(fmt::format(
        "DMA in flight: until software collects a transfer, which is longer than the transfer; "
        "the engine's own share needs PMU event 0x240 (GGML_HEXAGON_PROFILE=2). bound: HMX or "
        "dequantisation at 80 % of the window, {}{}, dispatch where 30 % has no event, HVX at "
        "80 %.",
        by_ddr, by_engine));
  } else {
    section.remarks.push_back(fmt::format(
        "bound: {}{}; HVX and HMX need a log with trace events (GGML_HEXAGON_PROFILE=3){}.", by_ddr,
        by_engine, any_engine ? "" : ", the DMA engine one with PMU counters (=2)"));
  }
  if (any_partial) {
    section.remarks.push_back(
        "Events were lost, or may have been: shares of these ops are lower bounds.");
  }
  return section;
}

}  // namespace npuscope::report
