// Steps of a loop in generic traces, as inferences.
#include "profile/number_steps.hpp"

#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"

namespace npuscope::number_steps_test {
namespace {

using test_support::ProfileBuilder;
using ::testing::ElementsAre;

constexpr std::uint32_t none = every_instance;

struct Traced : ProfileBuilder {
  UnitId process = unit("python3", Engine::process);
  UnitId host = unit("thread 1", Engine::thread, process);
  UnitId device = unit("gpu 0", Engine::process);
  UnitId stream = unit("stream 7", Engine::thread, device);

  SpanId slice(UnitId at, const char* name, const char* category, std::int64_t begin,
               std::int64_t end) {
    return span(at, name, begin, end, SpanKind::slice, category);
  }
  // A number for the last span.
  void number(const char* key, std::int64_t value) {
    Arguments& all = profile.spans.arguments;
    const std::uint64_t bits[] = {std::uint64_t(value)};
    all.add(profile.spans.size() - 1, std::uint32_t(all.shapes.size()), bits);
    all.shapes.push_back({{text(key), ArgumentType::integer}});
  }
  const Spans& roles() {
    profile.spans.arguments.resize(profile.spans.size());
    apply_roles(profile, {});
    return profile.spans;
  }
};

TEST(NumberSteps, StepsOfPyTorchWereAnnotationsOnly) {
  Traced made;
  made.slice(made.host, "ProfilerStep#3", "user_annotation", 0, 100);
  made.slice(made.host, "aten::mm", "cpu_op", 10, 90);
  made.slice(made.host, "ProfilerStep#4", "user_annotation", 110, 200);
  made.slice(made.host, "aten::mm", "cpu_op", 120, 190);
  made.slice(made.host, "aten::mm", "cpu_op", 210, 220);
  const Spans& spans = made.roles();
  EXPECT_EQ(spans.kind[0], SpanKind::inference);
  EXPECT_THAT(spans.instance, ElementsAre(3, 3, 4, 4, none));
  EXPECT_EQ(made.profile.provenance.inferences, 2u);
  EXPECT_EQ(made.profile.provenance.temperature, Provenance::Temperature::warm);
}

// Its length would count as an inference's.
TEST(NumberSteps, TheStepInWhichTheProfilerEndsIsNone) {
  Traced made;
  made.slice(made.host, "ProfilerStep#3", "user_annotation", 0, 100);
  made.slice(made.host, "aten::mm", "cpu_op", 10, 90);
  made.slice(made.host, "ProfilerStep#4", "user_annotation", 110, 115);
  const Spans& spans = made.roles();
  EXPECT_THAT(spans.instance, ElementsAre(3, 3, none));
  EXPECT_THAT(spans.kind, ElementsAre(SpanKind::inference, SpanKind::host, SpanKind::annotation));
  EXPECT_EQ(made.profile.provenance.inferences, 1u);
}

// It made the step as long as itself.
TEST(NumberSteps, AFrameThatOutlivesItsStepIsOfNone) {
  Traced made;
  made.slice(made.host, "ProfilerStep#3", "user_annotation", 0, 100);
  made.slice(made.host, "aten::mm", "cpu_op", 10, 90);
  const UnitId other = made.unit("thread 2", Engine::thread, made.process);
  made.slice(other, "epoch", "user_annotation", 50, 180);
  made.slice(other, "aten::add", "cpu_op", 60, 120);
  made.slice(made.host, "ProfilerStep#4", "user_annotation", 110, 200);
  made.slice(made.host, "aten::mm", "cpu_op", 120, 190);
  EXPECT_THAT(made.roles().instance, ElementsAre(3, 3, none, 3, 4, 4));
}

TEST(NumberSteps, TheFirstOfAllMayBeCold) {
  Traced made;
  made.slice(made.host, "ProfilerStep#0", "user_annotation", 0, 100);
  made.slice(made.host, "ProfilerStep#1", "user_annotation", 100, 200);
  made.roles();
  EXPECT_EQ(made.profile.provenance.temperature, Provenance::Temperature::unknown);
}

// The device is late: what a step launched ran in the next.
TEST(NumberSteps, WorkOfADeviceIsOfTheStepThatLaunchedIt) {
  Traced made;
  made.slice(made.host, "ProfilerStep#1", "user_annotation", 0, 100);
  const SpanId launch = made.slice(made.host, "cudaLaunchKernel", "cuda_runtime", 90, 95);
  made.slice(made.host, "ProfilerStep#2", "user_annotation", 100, 200);
  const SpanId kernel = made.slice(made.stream, "sgemm", "kernel", 110, 150);
  made.slice(made.stream, "sgemm", "kernel", 160, 250);
  made.profile.flows.push_back({launch, kernel, EdgeKind::flow, {}, {}});
  EXPECT_THAT(made.roles().instance, ElementsAre(1, 1, 2, 1, 2));
}

TEST(NumberSteps, ArgumentsNumberStepsOfJax) {
  Traced made;
  made.slice(made.host, "infer", "", 0, 100);
  made.number("step_num", 7);
  made.slice(made.host, "call", "", 5, 95);
  made.slice(made.host, "infer", "", 100, 180);
  made.number("step_num", 8);
  made.slice(made.host, "call", "", 105, 175);
  const Spans& spans = made.roles();
  EXPECT_THAT(spans.instance, ElementsAre(7, 7, 8, 8));
  EXPECT_EQ(spans.kind[0], SpanKind::inference);
  EXPECT_EQ(spans.kind[1], SpanKind::slice);
}

TEST(NumberSteps, NumbersThatDoNotRiseAreCountedAnew) {
  Traced made;
  made.slice(made.host, "infer", "", 0, 100);
  made.number("step_num", 5);
  made.slice(made.host, "infer", "", 100, 200);
  made.number("step_num", 5);
  EXPECT_THAT(made.roles().instance, ElementsAre(0, 1));
}

TEST(NumberSteps, ALoopOfRecordFunction) {
  Traced made;
  for (int i = 0; i < 3; ++i) {
    made.slice(made.host, "infer", "user_annotation", 100 * i, 100 * i + 90);
    made.slice(made.host, "aten::mm", "cpu_op", 100 * i + 5, 100 * i + 80);
  }
  EXPECT_THAT(made.roles().instance, ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST(NumberSteps, LayersOfAModelAreNoSteps) {
  Traced made;
  for (int i = 0; i < 3; ++i) {
    made.slice(made.host, "decoder layer", "user_annotation", 100 * i, 100 * i + 90);
    made.slice(made.host, "aten::mm", "cpu_op", 100 * i + 5, 100 * i + 80);
  }
  const Spans& spans = made.roles();
  EXPECT_TRUE(spans.instance.empty());
  EXPECT_EQ(spans.kind[0], SpanKind::annotation);
}

TEST(NumberSteps, WhatLeavesWorkOutIsNoLoop) {
  Traced made;
  made.slice(made.host, "block of mine", "user_annotation", 0, 90);
  made.slice(made.host, "aten::mm", "cpu_op", 0, 90);
  made.slice(made.host, "block of mine", "user_annotation", 100, 190);
  made.slice(made.host, "aten::mm", "cpu_op", 100, 400);
  EXPECT_TRUE(made.roles().instance.empty());
}

TEST(NumberSteps, AStepInsideAStepIsNoneOfItsOwn) {
  Traced made;
  made.slice(made.host, "ProfilerStep#1", "user_annotation", 0, 100);
  made.slice(made.host, "infer", "user_annotation", 10, 90);
  made.slice(made.host, "ProfilerStep#2", "user_annotation", 100, 200);
  made.slice(made.host, "infer", "user_annotation", 110, 190);
  const Spans& spans = made.roles();
  EXPECT_THAT(spans.instance, ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(spans.kind, ElementsAre(SpanKind::inference, SpanKind::annotation,
                                      SpanKind::inference, SpanKind::annotation));
}

TEST(NumberSteps, RanksOfOneTraceHaveTheirOwn) {
  Traced made;
  const UnitId other = made.unit("python3", Engine::process);
  const UnitId there = made.unit("thread 2", Engine::thread, other);
  made.slice(made.host, "ProfilerStep#1", "user_annotation", 0, 100);
  made.slice(made.host, "aten::mm", "cpu_op", 95, 99);
  made.slice(made.host, "ProfilerStep#2", "user_annotation", 100, 200);
  made.slice(there, "ProfilerStep#1", "user_annotation", 50, 150);
  made.slice(there, "ProfilerStep#2", "user_annotation", 150, 250);
  made.slice(there, "aten::mm", "cpu_op", 145, 149);
  made.slice(made.stream, "sgemm", "kernel", 100, 150);  // of which rank nothing says
  made.slice(there, "aten::mm", "cpu_op", 160, 170);
  EXPECT_THAT(made.roles().instance, ElementsAre(1, 1, 2, 1, 2, 1, none, 2));
}

TEST(NumberSteps, AProfileThatNumbersItsInferencesKeepsThem) {
  Traced made;
  made.slice(made.host, "ProfilerStep#3", "user_annotation", 0, 100);
  made.profile.spans.instance = {17};
  EXPECT_THAT(made.roles().instance, ElementsAre(17));
}

TEST(NumberSteps, NumbersBeyondAllAreCountedAnew) {
  Traced made;
  made.slice(made.host, "ProfilerStep#4294967295", "user_annotation", 0, 100);
  made.slice(made.host, "ProfilerStep#99999999999999999999", "user_annotation", 100, 200);
  EXPECT_THAT(made.roles().instance, ElementsAre(0, 1));
}

}  // namespace
}  // namespace npuscope::number_steps_test
