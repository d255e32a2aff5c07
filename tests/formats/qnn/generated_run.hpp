// A made-up run of a made-up graph with everything known about it, and the files that the vendor's
// viewer would write of it, in the documented schema (docs/formats/qnn.md). What a reader finds in
// the files is compared with the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace npuscope::qnn::test {

struct Slice {
  std::int64_t tid = 0;
  std::int64_t start = 0;  // absolute cycles
  std::int64_t cycles = 0;
  std::int64_t packets = 1;
  std::int64_t dram_read = 0, dram_write = 0, vtcm_read = 0, vtcm_write = 0;
  std::int64_t dominant_path = 0;  // filled in by number_slices()
};

struct RunOp {
  std::uint64_t id = 0;
  std::string htp_op, qnn_op, qnn_op_type;
  std::string flag;  // "uses_hvx"
  std::string type = "QUInt8";
  std::vector<std::int64_t> dims;     // empty: no output
  std::vector<std::uint64_t> inputs;  // ids of ops and constants
  std::vector<Slice> slices;          // empty: not executed
};

struct Constant {
  std::uint64_t id = 0;
  std::vector<std::int64_t> dims;
  bool is_shape = false;  // a record of extents, whose id ends in a hash
};

struct RunPhases {  // of one inference: start and end in ticks and cycles
  struct Phase {
    std::string name;
    std::int64_t start_ticks, end_ticks, start_cycle, end_cycle;
  };
  std::vector<Phase> phases;
};

struct GeneratedRun {
  std::string graph = "model";
  std::int64_t base = 7'997'466'066'654;  // absolute cycle of ts 0
  std::vector<std::pair<std::int64_t, std::string>> lanes{{256, "HMX"}, {512, "HVX"}, {513, "HVX"}};
  std::vector<RunOp> ops;
  std::vector<Constant> constants;
  std::vector<RunPhases> inferences;

  std::int64_t first_start() const;
  std::int64_t last_end() const;
  std::int64_t cycles() const;         // summed over slices
  std::int64_t dominant_path() const;  // likewise
};

// Fills in Slice::dominant_path, instant by instant, as the rule is told; for short runs.
void own_every_instant(GeneratedRun& run);

// Sliced ops, DMA waits, synchronisation, shared constants, ops that never run, 3 inferences.
GeneratedRun random_run(std::uint32_t seed);
// Two ops and a constant; one of the ops in two slices.
GeneratedRun small_run();

std::string op_trace_of(const GeneratedRun& run);
std::string run_trace_of(const GeneratedRun& run);
std::string htp_graph_of(const GeneratedRun& run);
std::string qhas_of(const GeneratedRun& run);
std::string viewer_text_of(const GeneratedRun& run);
std::string viewer_csv_of(const GeneratedRun& run);
std::string viewer_json_of(const GeneratedRun& run);

}  // namespace npuscope::qnn::test
