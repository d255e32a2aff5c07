// Where the compiler's own time went, by pass: what torq-compile prints with --mlir-timing, as text
// or JSON, tree or list, and the trace of --profile-actions-to.
//
//   const auto reports = read_pass_times("timing.txt");
//   reports->front().passes[0]     // TileAndFuse: 1 run, 226.9 ms to itself
//
// A compiler has a report for each of its pass managers; an inner one runs within a pass of an
// outer one, so reports do not add up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::torq {

struct PassTime {
  std::string name;
  std::uint64_t runs = 0;
  // Without the passes that it runs; none of a list, whose rows have them in.
  std::optional<double> own_seconds;
  double whole_seconds = 0;
};

struct PassReport {
  enum class Form : std::uint8_t { timing_tree, timing_list, actions };
  Form form = Form::timing_tree;
  double wall_seconds = 0;
  // Of the wall, what the report has no pass for; below 0 where passes run at once, or count with
  // pipelines of their own that have rows too.
  std::optional<double> rest_seconds;
  std::uint32_t threads = 1;     // that ran passes, of actions
  std::vector<PassTime> passes;  // the longest first: by own_seconds, else by whole_seconds
  std::uint64_t left_out = 0;    // lines or events that are none
};

// By the first bytes of a file.
bool looks_like_pass_times(std::string_view head);

// An input error where there is no report.
Result<std::vector<PassReport>> read_pass_times(const std::filesystem::path& path);

}  // namespace npuscope::torq
