// What the engines did in the windows of ops, for profiles that have both: an op's span is the
// frame from its start to its end, spans of the same op on engines lie inside.
//
//   const OpWindows windows = find_op_windows(analysis);
//   windows.rows[0].label           "blk.*.ffn_gate+ffn_up"
//   windows.rows[0].window          192,800 ticks, of all its executions
//   windows.rows[0].dma.any         0.85    of the window, at least one transfer in flight
//   windows.rows[0].hvx.mean        0.36    of the window and of each of the threads, in the mean
//   windows.rows[0].bound           ddr
//
// Transfers are in flight until software collects them: their share is no use of the DMA engine,
// which a counter of its cycles tells (dma_engine).
// Where events were lost shares are lower bounds (OpWindow::is_partial).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/roofline.hpp"

namespace npuscope::analysis {

enum class WindowBound : std::uint8_t { unknown, ddr, hmx, hvx, conversion, dispatch, mixed };
const char* name_of(WindowBound bound);  // "DDR", "dequantisation"

struct EngineUse {
  double any = 0;   // share of the window in which at least one unit worked
  double mean = 0;  // over the units that the profile has
};

struct OpWindow {
  std::string label;
  std::uint32_t layers = 1;
  std::uint64_t runs = 0;
  double window = 0;  // ticks
  double share = 0;   // of all windows
  bool has_events = false, is_partial = false;
  EngineUse hvx, hmx, dma;
  std::optional<double> dma_engine;  // share of the window's cycles in which the engine moved data
  double converting = 0;             // share in which weights or activations are made ready
  double without_event = 0;
  std::optional<double> macs_per_s, bytes_per_s;
  WindowBound bound = WindowBound::unknown;
};

struct OpWindows {
  std::vector<OpWindow> rows;  // the longest first
  double total = 0;            // ticks of all windows
  std::uint32_t hvx_units = 0;
  std::optional<double> best_bytes_per_s;  // of the whole run
  std::optional<double> ddr_peak;  // of a core, bytes a second: counts before the run's best
  bool has_events = false;
};

// Empty where the profile has no windows.
OpWindows find_op_windows(const Analysis& analysis, const Peaks& peaks = {});

}  // namespace npuscope::analysis
