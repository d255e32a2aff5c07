#include <gmock/gmock.h>

#include "analysis/findings/finding_tester.hpp"

namespace npuscope::analysis::other_backends_test {
namespace {

using test_support::CoreBuilder;
using test_support::Tried;
using ::testing::HasSubstr;

// Two ops with windows on the NPU.
struct Windows : CoreBuilder {
  Windows() : CoreBuilder(0, "time", ClockKind::wall, 1e9) {
    span(core, "blk.0.q", 0, 100);
    span(core, "blk.0.k", 100, 200);
    MeasureColumn column;
    column.kind = MeasureKind::dominant_path;
    column.meaning =
        NamedNumber("op window", MeasureKind::dominant_path, NumberRole::op_window).meaning;
    column.values = {};
    for (int i = 0; i < 2; ++i) column.values.push_back(100);
    profile.spans.measures.push_back(std::move(column));
  }
  void elsewhere(std::string_view name, std::string_view reason) {
    Op op;
    op.name = op.node = text(name);
    op.kind = op.node_kind = text("MUL_MAT");
    op.attributes = text(reason);
    op.engine = Engine::host;
    profile.ops.push_back(op);
  }
  void ops_of_graph(double count) {
    Measure measure{};
    measure.meaning = NamedNumber("ops", NumberQuantity::count, NumberRole::model_nodes).meaning;
    measure.value = count;
    profile.measures.push_back(measure);
  }
};

TEST(OtherBackends, OpsByReason) {
  Windows made;
  made.elsewhere("inp_embd", "CPU: GET_ROWS, which the NPU did not refuse");
  for (const char* name : {"blk.0.out", "blk.1.out"}) {
    made.elsewhere(name, "CPU: the NPU refuses MUL_MAT of q6_K x f32");
  }
  made.ops_of_graph(42);
  const Tried tried("other-backends", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.finding().title, "3 of 42 ops run on CPU or GPU, without times in the log");
  EXPECT_EQ(tried.value("ops_elsewhere"), 3);
  EXPECT_EQ(tried.value("ops_by_reason", "blk.0.out"), 2);
  EXPECT_EQ(tried.value("ops_by_reason", "inp_embd"), 1);
  // Said once.
  EXPECT_FALSE(Tried("host-fallback", made.profile).found());
}

TEST(OtherBackends, RefusalsWithoutTheGraph) {
  Windows made;
  made.elsewhere("blk.3.conv", "CPU or GPU: the NPU refuses SSM_CONV of f32");
  const Tried tried("other-backends", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_THAT(tried.finding().title, HasSubstr("The NPU refuses 1 op,"));
}

TEST(OtherBackends, ALogThatDoesNotSaySaysWhatToSet) {
  const Windows made;
  const Tried tried("other-backends", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_THAT(tried.finding().advice, HasSubstr("GGML_SCHED_DEBUG=2"));
  EXPECT_EQ(tried.finding().weight, Weight::low);
}

TEST(OtherBackends, NoneWhereTheNpuHasAllOrNothingHasWindows) {
  Windows made;
  made.ops_of_graph(2);
  EXPECT_TRUE(Tried("other-backends", made.profile).is_quiet());
  CoreBuilder other;
  other.span(other.hmx, "MatMul_0", 0, 10);
  EXPECT_EQ(Tried("other-backends", other.profile).missing(), "windows of ops");
}

TEST(LostEvents, OfARecorderThatWasFull) {
  CoreBuilder made;
  made.span(made.hmx, "a", 0, 10);
  EXPECT_FALSE(Tried("lost-events", made.profile).found());
  made.profile.add_measure(Measure::Subject::profile, 0,
                           {"events dropped", NumberQuantity::count, NumberRole::lost_events},
                           Origin::measured, {}, 32062);
  const Tried tried("lost-events", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.finding().title, "The recorder was full: 32,062 events are missing");
  EXPECT_EQ(tried.value("lost_events"), 32062);
}

}  // namespace
}  // namespace npuscope::analysis::other_backends_test
