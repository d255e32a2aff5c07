// One inference on the reference IPU, cycle by cycle exact: what each engine of each core did when.
//
//   const Inference inference = simulate(image.own->program, *target, false);
//   inference.cycles                    1,203,411 from start to interrupt
//   inference.cores[1].intervals[7]     conv of layer 2, tile 3
//   inference.cores[1].layers[2]        its first work (but for what was loaded ahead) to its last
//   inference.load_bytes                both cores
//
// The rules, the same for every tile of every layer:
//   order     load, conv, vector, store: each begins when the one before it has ended; what a tile
//             does not need is left out
//   buffers   between two engines there is room for two tiles: an engine also waits until the next
//             one is done with the tile before the last
//   layers    a layer's tiles begin when all layers before it have ended on all cores; tile 0, its
//             weights, is loaded as soon as the load engine is free
//   memory    all DMA engines share the bandwidth evenly, none gets more than its own limit; a
//             transfer begins with issue and latency, in which it moves nothing
//   log       with logging on, an engine that has written two records (begin, end) is busy with
//             that for a while after each interval
// There is no randomness: every inference is like the first.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/log.hpp"
#include "formats/sigmastar/program.hpp"
#include "npu/targets/ipu/target.hpp"

namespace npuscope::npu::ipu {

struct CoreRun {
  std::vector<sigmastar::LogInterval> intervals;  // of the engines, by begin, then engine
  std::vector<sigmastar::LogInterval> layers;     // those the core has a part in
};

struct Inference {
  std::int64_t cycles = 0;  // from 0, when the core control starts, to its interrupt
  std::vector<CoreRun> cores;
  std::uint64_t load_bytes = 0;
  std::uint64_t store_bytes = 0;
};

Inference simulate(const sigmastar::Program& program, const Target& target, bool logging);

// Of one inference: the hardware, the driver, and the outputs' way to where the CPU reads them.
double invoke_seconds(const Inference& inference, const sigmastar::Image& image,
                      const Target& target);

// What a simulated inference leaves in the buffers of the IPU's logs.
//
//   const Logs logs = write_logs(inference, {.count = 3, .period = 1'300'000}, layout,
//   size); logs.cores[0].bytes()      core0: layers and engines, in the order in which records were
//   written logs.control.bytes()       corectrl0: begin and end of each inference

struct Logs {
  std::vector<sigmastar::LogWriter> cores;
  sigmastar::LogWriter control;
};

// The same inference several times.
struct Repetition {
  std::uint64_t count = 1;
  std::int64_t period = 0;  // cycles from one's start to the next one's
};

// `buffer_bytes` is the size of each log's buffer.
Logs write_logs(const Inference& inference, const Repetition& repetition,
                const sigmastar::LogLayout& layout, std::uint64_t buffer_bytes);

}  // namespace npuscope::npu::ipu
