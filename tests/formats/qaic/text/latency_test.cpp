#include "formats/qaic/text/latency.hpp"

#include <gtest/gtest.h>

namespace npuscope::qaic::latency_test {
namespace {

TEST(PrintLatency, HasFourHeadLinesThenATable) {
  LatencyReport report;
  report.program_id = 1;
  report.program_name = "Program:BenchmarkSet";
  report.requested = 100;
  LatencySample measured;
  measured.sample = 5;
  measured.device_inferences_per_second = 345.4194;
  measured.device_exec_us = 23160.3125;
  measured.device_input_wait_us = 1599.53125;
  measured.device_output_wait_us = 0.104;
  measured.host_round_trip_us = 23372.8;
  measured.enqueue_us = 6.761;
  measured.submit_us = 1.556;
  measured.exec_total_us = 23372.8;
  measured.exec_to_link_us = 4.872;
  measured.exec_to_complete_us = 23367.928;
  measured.total_round_trip_us = 23381.117;
  measured.queue_depth = 10;
  measured.in_queue = 3;
  LatencySample unmeasured;
  unmeasured.sample = 6;
  report.samples = {measured, unmeasured};
  EXPECT_EQ(print_latency(report), R"(Profiling Data
ProgramId:1
ProgramName: Program:BenchmarkSet
NumSamples collected: 2 Num Requested: 100
Sample, devInfPerSec, devExecUs, devInWaitTimeUs, devOutWaitTimeUs, hostRoundTripUs, enqTimeUs, preProcTimeUs, submitTimeUs, execTotalUs, exectoVcUs, execToCompleteUs, postProcUs, totalRoundtripTimeUs, queueDepth, numInfInQueue
5, 345.419, 23160.312, 1599.531, 0.104, 23372.800, 6.761, 0.000, 1.556, 23372.800, 4.872, 23367.928, 0.000, 23381.117, 10, 3
6, N/A, N/A, N/A, N/A, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0, 0
)");
}

}  // namespace
}  // namespace npuscope::qaic::latency_test
