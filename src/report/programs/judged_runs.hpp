// The runs that the reference NPU was compared with: docs/validation.toml, which the program holds
// and docs/validation.md is made of.
//
//   runs = [
//     {target = "aic100", judge = "card", run = "Amber 7B decode", figure = "device time",
//      family = "decoder", precision = "fp16", network = true, fitted = true,
//      reference = 0.12510600, npuscope = 0.12022800},
//
// Each in one line. Without a judge it is an estimate, without a figure of cycles, without a family
// of others, and not fitted unless it says so. Tables of estimates have more keys, for the document
// alone.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npu/tune/model_facts.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::report {

enum class Judge : std::uint8_t {
  card,         // a run of ours on a device whose files are public
  publication,  // throughput that somebody published
  estimate,     // of a vendor's compiler, not of a device
};

struct JudgedRun {
  std::string target;
  Judge judge = Judge::estimate;
  std::string run;
  std::string figure = "cycles";  // or "device time", "throughput"
  npu::ModelFamily family = npu::ModelFamily::other;
  std::string precision;   // "fp16", "bf16", "int8", "mxfp6"
  bool is_network = true;  // else an operator alone
  bool is_fitted = false;  // figures of the target were taken from it
  double reference = 0;    // above 0
  double npuscope = 0;
  double share() const { return npuscope / reference - 1; }
};

// Input errors: no TOML, a key that is missing or of another type, a word that is not known.
Result<std::vector<JudgedRun>> read_judged_runs(std::string_view toml);
const std::vector<JudgedRun>& judged_runs();  // of the table that the program holds

std::string judged_runs_toml(std::span<const JudgedRun> runs);

}  // namespace npuscope::report
