// A device that stands still while its host works, of a trace with calls of the runtime.
#include "analysis/findings/finding_tester.hpp"

namespace npuscope::analysis::host_bound_test {
namespace {

using test_support::MemoryBuilder;
using test_support::Tried;

// A host that works 90 of 100 us and launches a kernel of 10 us.
struct Launched : MemoryBuilder {
  UnitId host = unit("thread", Engine::thread), stream = unit("stream 7", Engine::thread);

  explicit Launched(std::int64_t kernel_end = 100) : MemoryBuilder("trace", ClockKind::wall, 1e6) {
    span(host, "step", 0, 100, SpanKind::annotation);
    span(host, "aten::add", 0, 90, SpanKind::host);
    const SpanId call = span(host, "cudaLaunchKernel", 10, 80, SpanKind::runtime_call);
    span(host, "cudaLaunchKernel", 82, 84, SpanKind::runtime_call);
    const SpanId kernel = span(stream, "add", kernel_end - 10, kernel_end, SpanKind::kernel);
    span(stream, "step", 90, 100, SpanKind::annotation);
    profile.flows.push_back({call, kernel, EdgeKind::flow, {}, {}});
  }
};

TEST(HostBound, AnIdleDeviceHadNoFinding) {
  const Tried tried("host-bound", Launched().profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.finding().title, "Host bound: the device is idle for 90.0 % of the wall");
  EXPECT_DOUBLE_EQ(tried.value("device_busy_share_of_wall"), 0.1);
  EXPECT_EQ(tried.value("host_alone"), 90);
  EXPECT_EQ(tried.value("runtime_call_work", "cudaLaunchKernel"), 72);
  EXPECT_EQ(tried.value("runtime_call_longest", "cudaLaunchKernel"), 70);
  EXPECT_EQ(tried.value("launches"), 1);
  EXPECT_EQ(tried.value("launch_delay"), 80);
  EXPECT_EQ(tried.gain(), 90);
  EXPECT_EQ(tried.finding().advice.find("One call of cudaLaunchKernel"), 0u);
}

TEST(HostBound, IsToldOnce) { EXPECT_TRUE(Tried("host-overhead", Launched().profile).is_quiet()); }

TEST(HostBound, NotWhereTheDeviceWorksMeanwhile) {
  Launched made;
  made.span(made.stream, "conv", 0, 81, SpanKind::kernel);
  EXPECT_TRUE(Tried("host-bound", made.profile).is_quiet());
}

TEST(HostBound, NeedsCallsOfTheRuntime) {
  MemoryBuilder made("trace", ClockKind::wall, 1e6);
  made.span(made.unit("stream 7", Engine::thread), "add", 0, 10, SpanKind::kernel);
  EXPECT_EQ(Tried("host-bound", made.profile).missing(),
            "calls of the device's runtime on the host");
}

// 30 launches, of which so many lead to a kernel.
MemoryBuilder launches(int reported) {
  MemoryBuilder made("trace", ClockKind::wall, 1e6);
  const UnitId host = made.unit("thread", Engine::thread);
  const UnitId stream = made.unit("stream 7", Engine::thread);
  for (int i = 0; i < 30; ++i) {
    const SpanId call =
        made.span(host, "cudaLaunchKernel", 10 * i, 10 * i + 4, SpanKind::runtime_call);
    made.span(host, "cudaGetDevice", 10 * i + 5, 10 * i + 6, SpanKind::runtime_call);
    if (i >= reported) continue;
    const SpanId kernel = made.span(stream, "add", 10 * i + 4, 10 * i + 9, SpanKind::kernel);
    made.profile.flows.push_back({call, kernel, EdgeKind::flow, {}, {}});
  }
  return made;
}

TEST(UnreportedLaunches, AreToldByCallsOfTheSameName) {
  const Tried tried("unreported-launches", launches(12).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.finding().title, "The device reported 12 of 30 launches");
  EXPECT_EQ(tried.value("launches"), 30);
  EXPECT_DOUBLE_EQ(tried.value("launches_reported"), 0.4);
  EXPECT_EQ(tried.value("launches_without_work", "cudaLaunchKernel"), 18);
  EXPECT_TRUE(Tried("unreported-launches", launches(16).profile).is_quiet());
  EXPECT_TRUE(Tried("unreported-launches", launches(30).profile).is_quiet());
  EXPECT_EQ(Tried("unreported-launches", launches(0).profile).missing(),
            "arrows from calls of the runtime to work of the device");
}

}  // namespace
}  // namespace npuscope::analysis::host_bound_test
