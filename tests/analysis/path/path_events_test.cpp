// What lets the work after a wait of a host, or of a stream, go.
#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/path.hpp"

namespace npuscope::analysis::path_events_test {
namespace {

using test_support::ProfileBuilder;
using ::testing::ElementsAre;

std::vector<std::string> steps(const Profile& profile) {
  const auto paths = PathAnalysis::create(profile, std::nullopt);
  if (!paths) return {paths.error().message};
  std::vector<std::string> names;
  for (const PathStep& step : paths->observed().steps) {
    names.push_back(std::string(profile.text(profile.ops[index_of(step.op)].name)));
  }
  return names;
}

struct Launched : ProfileBuilder {
  UnitId host = unit("thread", Engine::thread), stream = unit("stream 7", Engine::thread);

  Launched() {
    span(host, "profiler", 0, 200, SpanKind::annotation);
    const SpanId launch = span(host, "launch", 0, 10, SpanKind::runtime_call);
    const SpanId kernel = span(stream, "sgemm", 12, 90, SpanKind::kernel);
    profile.flows.push_back({launch, kernel, EdgeKind::flow, {}, {}});
  }
  double wall_with_fast_kernel() const {
    const auto paths = PathAnalysis::create(profile, std::nullopt);
    Scaling scaling;
    scaling.of_op.assign(profile.ops.size() + 1, 1.0);
    for (std::size_t op = 0; op < profile.ops.size(); ++op) {
      if (profile.text(profile.ops[op].name) == "sgemm") scaling.of_op[op] = 0.5;
    }
    return paths->wall_if({}) - paths->wall_if(scaling);
  }
};

TEST(PathEvents, AnAnnotationWasTheWholePath) {
  Launched made;
  made.span(made.host, "sync", 15, 95, SpanKind::wait);
  made.span(made.host, "after", 100, 130, SpanKind::host);
  EXPECT_THAT(steps(made.profile), ElementsAre("launch", "sgemm", "after"));
  EXPECT_EQ(made.wall_with_fast_kernel(), 39);
}

TEST(PathEvents, AHostThatWaitsInTheMidstOfAnOpGoesOnWhenTheDeviceHasEnded) {
  Launched made;
  made.span(made.host, "aten::item", 14, 140, SpanKind::host);
  made.span(made.host, "sync", 16, 95, SpanKind::wait);
  EXPECT_THAT(steps(made.profile), ElementsAre("launch", "sgemm", "aten::item"));
  EXPECT_EQ(made.wall_with_fast_kernel(), 39);
}

TEST(PathEvents, AStreamWaitsForWhatCameBeforeTheEvent) {
  Launched made;
  const UnitId other = made.unit("stream 8", Engine::thread);
  const SpanId record = made.span(made.stream, "record", 90, 91, SpanKind::annotation);
  const SpanId wait = made.span(other, "wait", 0, 91, SpanKind::wait);
  made.span(other, "merge", 92, 150, SpanKind::kernel);
  made.profile.flows.push_back({record, wait, EdgeKind::order, {}, {}});
  EXPECT_THAT(steps(made.profile), ElementsAre("launch", "sgemm", "merge"));
  EXPECT_EQ(made.wall_with_fast_kernel(), 39);
}

TEST(PathEvents, AWaitThatNothingEndedInHoldsNothing) {
  Launched made;
  made.span(made.host, "sync", 95, 96, SpanKind::wait);  // the kernel had ended before
  made.span(made.host, "after", 97, 130, SpanKind::host);
  EXPECT_EQ(made.wall_with_fast_kernel(), 0);
}

}  // namespace
}  // namespace npuscope::analysis::path_events_test
