// What llama.cpp's programs print of a run next to the profile: tokens a second and benchmarks.
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

#include "formats/ggml/bench_table.hpp"

namespace npuscope::ggml {

struct EvalTime {
  double milliseconds = 0;
  double tokens = 0;  // 0: none, whatever the line says
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
  BenchTable bench;
  std::vector<BackendOp> backend_ops;
  std::map<std::string, double> buffers_mib;  // "HTP0 model", MiB

  // Whether the line is one of these.
  bool take(std::string_view line);
  bool any() const;

 private:
  bool take_eval(std::string_view line);
  bool take_backend_op(std::string_view line);
  bool take_buffer(std::string_view line);
};

// Whether the head is of llama-bench's or test-backend-ops' output.
bool looks_like_results(std::string_view head);

}  // namespace npuscope::ggml
