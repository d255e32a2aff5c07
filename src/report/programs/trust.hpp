// How far the reference NPU's times are judged: what the runs of docs/validation.toml that are of
// such a target, precision and family of model were off.
//
//   trust_in("aic100", {.family = ModelFamily::encoder})
//     {.is_judged = true, .runs = 2, .least = 0.0082, .most = 0.0195,
//      .statement = "device time against a real card: +0.8 % (BERT-base batch 8); …"}
//   trust_in("ipu-muffin", …).statement       "not judged: …"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "npu/tune/model_facts.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

struct JudgedModel {
  npu::ModelFamily family = npu::ModelFamily::other;
  bool is_quantized = false;
  bool is_float32 = false;  // as it is compiled
  bool has_mxfp6 = false;   // weights
  bool has_mxint8 = false;  // retained state
};

struct Trust {
  bool is_judged = false;
  std::uint64_t runs = 0;            // that judge it
  std::optional<double> least = {};  // of their differences, as shares
  std::optional<double> most = {};
  std::string statement = {};
};

Trust trust_in(std::string_view target, const JudgedModel& model);

// The facts of a page for programs, and its remarks for people.
void add_trust(Section& section, const Trust& trust);

const char* name_of(npu::ModelFamily family);

}  // namespace npuscope::report
