// What the host saw lies where the device was at work, on one clock, and its phases follow one
// another without gaps.
#include "npu/targets/nsp/simulate/run/run_files.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "flow/flow.hpp"
#include "formats/qaic/opstats/opstats_host_trace.hpp"
#include "formats/qaic/opstats/opstats_profile.hpp"
#include "formats/qaic/opstats/opstats_trace.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/ops.hpp"

namespace npuscope::host_phases_test {
namespace {

std::int64_t begin_tick(const Profile& profile) {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    if (profile.spans.kind[i] != SpanKind::inference) continue;
    begin = std::min(begin, profile.spans.start[i]);
  }
  return begin;
}

Profile read_trace(const std::filesystem::path& path) {
  const auto mapped = MappedFile::open(path);
  must(mapped);
  const auto source = open_byte_source(as_text(mapped->bytes()), path.string());
  must(source);
  auto events = chrome::read_events(**source, {});
  must(events);
  return qaic::make_opstats_profile(std::move(*events));
}

// What the host saw is no work of the device: the trace with it says the same as the trace without.
void expect_the_same_device(const Profile& device, const std::filesystem::path& merged) {
  const std::filesystem::path alone = merged.string() + ".alone";
  const Profile* profiles[] = {&device};
  must(qaic::write_opstats_trace(profiles, {}, alone));
  const Profile of[] = {read_trace(merged), read_trace(alone)};
  std::filesystem::remove(alone);
  analysis::Coarse coarse[2];
  std::optional<double> work[2];
  for (int i = 0; i < 2; ++i) {
    coarse[i] = analysis::Analysis(of[i]).coarse();
    for (const analysis::OpColumn& column : analysis::Analysis(of[i]).ops().columns) {
      if (column.name == "work") work[i] = column.total;
    }
  }
  EXPECT_GT(coarse[1].wall, 0);
  EXPECT_EQ(coarse[0].wall, coarse[1].wall);
  EXPECT_EQ(coarse[0].work, coarse[1].work);
  EXPECT_TRUE(std::equal(std::begin(coarse[0].parts), std::end(coarse[0].parts),
                         std::begin(coarse[1].parts)));
  EXPECT_EQ(coarse[0].inferences.max, coarse[1].inferences.max);
  ASSERT_TRUE(work[0]);
  EXPECT_EQ(work[0], work[1]);
}

TEST(HostPhases, MergeWithTheDeviceOnOneClock) {
  const ModelFlow flow = run_flow(
      std::string(NPUSCOPE_SOURCE_DIR) + "/models/light_squeezenet.onnx", request_for(2, 70));
  ASSERT_EQ(flow.profiles.size(), 1u);
  const npu::nsp::SimulatedInference& inference = flow.simulated.inferences.at(0);
  npu::nsp::HostPhases phases(10);
  phases.add(inference, begin_tick(flow.profiles[0]), 19200);
  const auto host = qaic::parse_host_trace(as_byte_span(phases.trace()), "host");
  must(host);
  const auto path = std::filesystem::path(testing::TempDir()) /
                    fmt::format("npuscope-host-phases-{}.json", ::getpid());
  const Profile* profiles[] = {&flow.profiles[0]};
  must(qaic::write_opstats_trace(profiles, {.host_trace = &*host}, path));
  const auto mapped = MappedFile::open(path);
  must(mapped);
  const auto trace = nlohmann::json::parse(as_text(mapped->bytes()));
  double expected_start = -1, device_start = -1, core_start = -1, total = 0;
  std::vector<std::string> names;
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "Core-0-Execution") core_start = event["ts"];
    if (event.value("cat", "") != "host") continue;
    names.push_back(event["name"]);
    const double start = event["ts"], duration = event["dur"];
    if (expected_start >= 0) {
      EXPECT_NEAR(start, expected_start, 1e-3);
    }
    expected_start = start + duration;
    total += duration;
    if (event["name"] == "device") device_start = start;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"queue", "prepare", "submit", "send", "device",
                                             "complete", "post"}));
  EXPECT_NEAR(total, double((inference.finished - inference.queued).value) * 1e-6, 1e-3);
  expect_the_same_device(flow.profiles[0], path);
  // Timers of cores differ by up to 5 ticks.
  EXPECT_NEAR(device_start, core_start, 6 / 19.2);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace npuscope::host_phases_test
