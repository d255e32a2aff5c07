#include "formats/qaic/text/latency.hpp"

#include <fmt/format.h>

#include <iterator>

namespace npuscope::qaic {

namespace {

constexpr std::string_view columns =
    "Sample, devInfPerSec, devExecUs, devInWaitTimeUs, devOutWaitTimeUs, hostRoundTripUs, "
    "enqTimeUs, preProcTimeUs, submitTimeUs, execTotalUs, exectoVcUs, execToCompleteUs, "
    "postProcUs, totalRoundtripTimeUs, queueDepth, numInfInQueue\n";

std::string cell(std::optional<double> value) {
  return value ? fmt::format("{:.3f}", *value) : "N/A";
}

}  // namespace

std::string print_latency(const LatencyReport& report) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "Profiling Data\nProgramId:{}\nProgramName: {}\n", report.program_id,
                 report.program_name);
  fmt::format_to(out, "NumSamples collected: {} Num Requested: {}\n", report.samples.size(),
                 report.requested);
  text += columns;
  for (const LatencySample& s : report.samples) {
    fmt::format_to(out, "{}, {}, {}, {}, {}", s.sample, cell(s.device_inferences_per_second),
                   cell(s.device_exec_us), cell(s.device_input_wait_us),
                   cell(s.device_output_wait_us));
    for (const double host :
         {s.host_round_trip_us, s.enqueue_us, s.pre_process_us, s.submit_us, s.exec_total_us,
          s.exec_to_link_us, s.exec_to_complete_us, s.post_process_us, s.total_round_trip_us}) {
      fmt::format_to(out, ", {:.3f}", host);
    }
    fmt::format_to(out, ", {}, {}\n", s.queue_depth, s.in_queue);
  }
  return text;
}

}  // namespace npuscope::qaic
