// The whole of `npuscope opstats`: a QPC and a folder of raw statistics buffers in, summaries and
// traces out. Nothing is printed: what happens is told to a listener.
//
//   OpstatsRequest request{.qpc = "programqpc.bin", .input_folder = "stats", .summary = true};
//   auto outcome = run_opstats(request, [](const OpstatsMessage& message) { … });
//
// Buffers are taken one after another. One that is missing, broken or of another program is told,
// and the others are still decoded.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "formats/qaic/opstats/opstats_trace.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::jobs {

struct OpstatsRequest {
  std::filesystem::path qpc;
  std::filesystem::path input_folder;
  std::filesystem::path output_folder = ".";
  bool summary = false;
  bool json = false;  // the JSON twin beside each summary
  bool trace = false;
  std::optional<std::filesystem::path> host_trace = std::nullopt;
  bool merge_devices = true;  // one trace for all devices of a multi-device network
  qaic::TraceOptions trace_options = {};
};

struct OpstatsMessage {
  enum class Kind {
    wrote,    // the path of a file
    problem,  // something asked for could not be done; the work goes on
    note,     // worth knowing
    detail,   // for --verbose
  };
  Kind kind = Kind::detail;
  std::string text;
};
using OpstatsListener = std::function<void(const OpstatsMessage&)>;

struct OpstatsOutcome {
  std::size_t buffers = 0;     // found
  std::size_t decoded = 0;     // whole or in part
  std::optional<Error> worst;  // of the problems told; an output error before an input error
};

// Errors, before any buffer is touched: usage (nothing asked for), input (QPC, folder or host trace
// unusable, no buffers), output (the output folder is missing or not writable).
Result<OpstatsOutcome> run_opstats(const OpstatsRequest& request, const OpstatsListener& tell,
                                   const ProgressReport& progress = nullptr);

}  // namespace npuscope::jobs
