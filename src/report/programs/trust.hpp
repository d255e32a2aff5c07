// How far the reference NPU's times are judged, read out of docs/validation.md, which the program
// holds: what the runs there that are of such a target, precision and family of model were off.
//
//   trust_in("aic100", {.family = ModelFamily::encoder})
//     {.is_judged = true, .runs = 1, .least = 0.0103, .most = 0.0103,
//      .statement = "device time: +1.0 % of a real card's (BERT-base batch 8), …"}
//   trust_in("ipu-muffin", …).statement       "not judged: …"
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npu/tune/tune.hpp"

namespace npuscope::report {

struct JudgedModel {
  npu::ModelFamily family = npu::ModelFamily::other;
  bool is_quantized = false;
  bool is_float32 = false;  // as it is compiled
};

struct Trust {
  bool is_judged = false;
  std::uint64_t runs = 0;            // that judge it
  std::optional<double> least = {};  // of their differences, as shares; none: not told one by one
  std::optional<double> most = {};
  std::string statement = {};
};

Trust trust_in(std::string_view target, const JudgedModel& model);

// A table of Markdown, the first below a heading: its head, then its rows; empty: there is none.
std::vector<std::vector<std::string>> table_below(std::string_view markdown,
                                                  std::string_view heading);

// Which runs of "Real runs" and of published throughput are of which family and precision: a test
// says that each is here.
struct FamilyOfRun {
  std::string_view run;
  npu::ModelFamily family;
  bool is_quantized = false;
};
std::span<const FamilyOfRun> families_of_runs();

const char* name_of(npu::ModelFamily family);

}  // namespace npuscope::report
