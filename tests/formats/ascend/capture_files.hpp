// A capture as Ascend's profiler writes it, in every form, and what all of them must become.
//
//   const TrueCapture capture = generate({.steps = 2, .seed = 3});
//   write_text(capture, Level::level1, folder);      kernel_details.csv, op_statistic.csv, ...
//   write_trace(capture, folder);                    trace_view.json
//   write_database(capture, folder / "ascend_pytorch_profiler_0.db");
//   capture.computing_ns[0]                          of the first step, every ns counted once
//
// Kernels of two streams, collectives that overlap them, calls of the host that launch them, and
// steps. The whole is short enough to mark every nanosecond in a table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace npuscope::ascend {

struct CaptureOptions {
  int steps = 1, first_step = 7;
  int kernels = 24;  // a step
  int collectives = 2;
  unsigned seed = 1;
};

struct TrueKernel {
  std::string name, type, core, shape;
  std::int64_t start = 0, duration = 0, wait = 0;  // ns since the epoch
  std::int64_t cycles = 0, core_time = 0;          // of its kind of core
  int step = 0, stream = 0, blocks = 0;
};

struct TrueCollective {
  std::string name;
  std::int64_t start = 0, duration = 0, transit = 0;
  int step = 0;
};

struct TrueCapture {
  std::vector<TrueKernel> kernels;
  std::vector<TrueCollective> collectives;
  std::vector<std::int64_t> computing_ns, communication_ns, exposed_ns;  // by step
  int steps = 0, first_step = 0;
};

TrueCapture generate(const CaptureOptions& options);

// What a level knows: 0 neither types nor cores, 1 all; newer versions name columns otherwise.
enum class Level : std::uint8_t { level0, level1, newer, op_summary };

void write_kernels(const TrueCapture& capture, Level level, const std::filesystem::path& file);
void write_sums(const TrueCapture& capture, const std::filesystem::path& folder);
void write_trace(const TrueCapture& capture, const std::filesystem::path& file);
void write_database(const TrueCapture& capture, const std::filesystem::path& file);
// Any statements as a database.
void write_sql(const std::string& sql, const std::filesystem::path& file);

}  // namespace npuscope::ascend
