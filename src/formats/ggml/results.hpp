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

namespace npuscope::ggml {

// The table that llama-bench prints, in each of its forms: Markdown (as the table of a terminal),
// CSV, JSON and JSON lines (-o md, csv, json, jsonl), line by line between other lines.
//
//   BenchTable table;
//   table.take("| model | size | params | backend | ngl | test | t/s |");
//   table.take("| llama 1B Q4_0 | 729 MiB | 1.24 B | HTP | 99 | pp512 | 512.34 ± 3.21 |");
//   table.rows()[0].test                 "pp512"
//   table.rows()[0].tokens_per_second    512.34

// "pp512", 123.4 tokens a second, and its deviation.
struct BenchRow {
  std::string test;
  double tokens_per_second = 0, deviation = 0;
};

class BenchTable {
 public:
  // Whether the line is of the table.
  bool take(std::string_view line);
  const std::vector<BenchRow>& rows() const { return rows_; }
  // Whether a file begins like one.
  static bool is_head(std::string_view head);

 private:
  enum class Form : unsigned char { none, markdown, csv, json };
  // What CSV and JSON say of a row.
  struct Stated {
    double prompt = 0, generated = 0, depth = 0, rate = 0, deviation = 0;
    void set(std::string_view key, std::string_view value);
  };
  bool take_markdown(std::string_view line);
  bool take_csv(std::string_view line);
  bool take_json(std::string_view line);
  bool add(const Stated& stated);

  std::vector<BenchRow> rows_;
  Form form_ = Form::none;
  std::vector<std::string> columns_;
  Stated open_;  // of the object of JSON that goes on
};

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
