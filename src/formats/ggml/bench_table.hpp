// The table that llama-bench prints, in each of its forms: Markdown (as the table of a terminal),
// CSV, JSON and JSON lines (-o md, csv, json, jsonl), line by line between other lines.
//
//   BenchTable table;
//   table.take("| model | size | params | backend | ngl | test | t/s |");
//   table.take("| llama 1B Q4_0 | 729 MiB | 1.24 B | HTP | 99 | pp512 | 512.34 ± 3.21 |");
//   table.rows()[0].test                 "pp512"
//   table.rows()[0].tokens_per_second    512.34
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npuscope::ggml {

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

}  // namespace npuscope::ggml
