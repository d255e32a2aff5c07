// What llama.cpp's programs print of a run next to the profile: tokens a second, benchmarks, and
// where the scheduler put the ops.
//
//   Results results;
//   results.take("common_perf_print:        eval time =       1.73 ms /     2 runs   (…");
//   results.decode.milliseconds          1.73
//   results.decode.tokens                2
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::ggml {

struct EvalTime {
  double milliseconds = 0;
  double tokens = 0;  // 0: none, whatever the line says
};

// A row of llama-bench: "pp512", 123.4 tokens a second, and its deviation.
struct BenchRow {
  std::string test;
  double tokens_per_second = 0, deviation = 0;
};

// A row of test-backend-ops perf.
struct BackendOp {
  std::string name;
  double runs = 0, microseconds = 0;
  double rate = 0;  // FLOP or bytes a second
  bool is_of_bytes = false;
};

struct Results {
  EvalTime prompt, decode;
  std::vector<BenchRow> bench;
  std::vector<BackendOp> backend_ops;
  std::map<std::string, std::uint64_t> splits;     // backend, splits of its graph
  std::map<std::string, std::uint64_t> scheduled;  // backend, ops that it was given
  std::map<std::string, std::uint64_t> refused;    // op, lines that say supports-op … no
  std::map<std::string, double> buffers_mib;       // "HTP0 model", MiB

  // Whether the line is one of these.
  bool take(std::string_view line);
  void refuse(std::string_view op);
  bool any() const;

 private:
  bool take_eval(std::string_view line);
  bool take_split(std::string_view line);
  bool take_bench(std::string_view line);
  bool take_backend_op(std::string_view line);
  bool take_buffer(std::string_view line);

  std::vector<std::string> columns_;  // of the table of llama-bench
  bool csv_ = false;
  std::string split_backend_;
};

// Whether the head is of llama-bench's or test-backend-ops' output.
bool looks_like_results(std::string_view head);

}  // namespace npuscope::ggml
