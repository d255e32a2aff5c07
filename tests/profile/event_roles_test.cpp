// What tables of roles make of the slices of a generic trace.
#include "npuscope/profile/event_roles.hpp"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>

#include "analysis/profile_builder.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::event_roles_test {
namespace {

using test_support::ProfileBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view text) {
  const auto table = RoleTable::parse(text, "mine.toml");
  return table ? "" : table.error().message;
}

std::vector<RoleTable> table(std::string_view text) {
  auto parsed = RoleTable::parse(text, "mine.toml");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return {std::move(*parsed)};
}

struct Traced : ProfileBuilder {
  UnitId process = unit("python3", Engine::process);
  UnitId thread = unit("stream 7", Engine::thread, process);

  SpanKind kind_of(std::string_view category, std::string_view name) {
    const SpanId id = span(thread, name, 0, 10, SpanKind::slice, category);
    apply_roles(profile, {});
    return profile.spans.kind[index_of(id)];
  }
  // An argument of a text for the last span, the only one of its key.
  void arguments(std::vector<std::pair<std::string, std::int64_t>> values, std::string_view way) {
    Arguments& all = profile.spans.arguments;
    ArgumentShape shape;
    std::vector<std::uint64_t> bits;
    for (const auto& [key, value] : values) {
      shape.push_back({text(key), ArgumentType::integer});
      bits.push_back(std::uint64_t(value));
    }
    if (!way.empty()) {
      shape.push_back({text("direction"), ArgumentType::text});
      bits.push_back(std::uint64_t(text(way)));
    }
    all.add(profile.spans.size() - 1, std::uint32_t(all.shapes.size()), bits);
    all.shapes.push_back(shape);
  }
};

TEST(EventRoles, EveryBuiltInTableIsOne) {
  std::size_t rules = 0;
  for (const auto& file : std::filesystem::directory_iterator(NPUSCOPE_SOURCE_DIR "/roles")) {
    const auto text = MappedFile::open(file.path());
    ASSERT_TRUE(text);
    const auto parsed = RoleTable::parse(as_text(text->bytes()), file.path().filename());
    ASSERT_TRUE(parsed) << parsed.error().message;
    rules += parsed->rules().size();
  }
  EXPECT_EQ(RoleTable::builtin().rules().size(), rules);
  EXPECT_GT(rules, 20u);
}

TEST(EventRoles, AnnotationsOfKinetoWereWork) {
  for (const char* category : {"user_annotation", "gpu_user_annotation", "Trace"}) {
    EXPECT_EQ(Traced().kind_of(category, "forward"), SpanKind::annotation) << category;
  }
  EXPECT_EQ(Traced().kind_of("user_annotation", "ProfilerStep#1"), SpanKind::inference);
  EXPECT_EQ(Traced().kind_of("gpu_user_annotation", "ProfilerStep#1"), SpanKind::annotation);
}

TEST(EventRoles, ByCategoryAndName) {
  EXPECT_EQ(Traced().kind_of("kernel", "sgemm"), SpanKind::kernel);
  EXPECT_EQ(Traced().kind_of("kernel", "ncclDevKernel_AllReduce"), SpanKind::communication);
  EXPECT_EQ(Traced().kind_of("gpu_memcpy", "Memcpy HtoD"), SpanKind::copy);
  EXPECT_EQ(Traced().kind_of("gpu_memset", "Memset (Device)"), SpanKind::kernel);
  EXPECT_EQ(Traced().kind_of("cpu_op", "aten::addmm"), SpanKind::host);
  EXPECT_EQ(Traced().kind_of("cuda_runtime", "hipLaunchKernel"), SpanKind::runtime_call);
  EXPECT_EQ(Traced().kind_of("cuda_runtime", "hipDeviceSynchronize"), SpanKind::wait);
  EXPECT_EQ(Traced().kind_of("mtia_runtime", "synchronizeStream"), SpanKind::wait);
  EXPECT_EQ(Traced().kind_of("mtia_ccp_events", "event_wait"), SpanKind::wait);
  EXPECT_EQ(Traced().kind_of("mtia_ccp_events", "pe_exe"), SpanKind::kernel);
}

TEST(EventRoles, WhatNoTableNamesStaysASlice) {
  EXPECT_EQ(Traced().kind_of("", "kernel"), SpanKind::slice);
  EXPECT_EQ(Traced().kind_of("my kernel", "a"), SpanKind::slice);
}

TEST(EventRoles, OnlySlicesGetOne) {
  Traced made;
  made.span(made.thread, "a", 0, 10, SpanKind::op, "kernel");
  made.span(made.thread, "b", 10, 10, SpanKind::instant, "kernel");
  apply_roles(made.profile, {});
  EXPECT_THAT(made.profile.spans.kind, ElementsAre(SpanKind::op, SpanKind::instant));
}

TEST(EventRoles, AUsersTableComesBeforeTheBuiltInOnes) {
  Traced made;
  made.span(made.thread, "warm up", 0, 10, SpanKind::slice, "kernel");
  made.span(made.thread, "sgemm", 10, 20, SpanKind::slice, "kernel");
  made.span(made.thread, "mine", 20, 30, SpanKind::slice, "npu");
  apply_roles(made.profile, table("[[rule]]\nname = 'warm up'\nrole = 'annotation'\n"
                                  "[[rule]]\ncategory = '^npu$'\nrole = 'kernel'\n"));
  EXPECT_THAT(made.profile.spans.kind,
              ElementsAre(SpanKind::annotation, SpanKind::kernel, SpanKind::kernel));
}

TEST(EventRoles, ByProcessAndThreadOfLanesToo) {
  Traced made;
  const UnitId other = made.unit("host", Engine::process);
  const UnitId there = made.unit("stream 7", Engine::thread, other);
  const UnitId lane = made.unit("stream 7 (lane 2)", Engine::thread, made.thread);
  made.profile.units[index_of(lane)].lane = 1;
  for (const UnitId unit : {made.thread, there, lane}) {
    made.span(unit, "x", 0, 10, SpanKind::slice, "");
  }
  apply_roles(made.profile, table("[[rule]]\nprocess = '^python3$'\nthread = '^stream 7$'\n"
                                  "role = 'kernel'\n"));
  EXPECT_THAT(made.profile.spans.kind,
              ElementsAre(SpanKind::kernel, SpanKind::slice, SpanKind::kernel));
}

TEST(EventRoles, BytesOfCopiesByTheirWay) {
  Traced made;
  made.span(made.thread, "dma_request", 0, 10, SpanKind::slice, "mtia_ccp_events");
  made.arguments({{"size", 2'014'208}}, "HOST_TO_DEVICE");
  made.span(made.thread, "dma_request", 10, 20, SpanKind::slice, "mtia_ccp_events");
  made.arguments({{"size", 1'024}}, "DEVICE_TO_HOST");
  made.span(made.thread, "Memcpy DtoD (Device -> Device)", 20, 30, SpanKind::slice, "gpu_memcpy");
  made.arguments({{"bytes", 64}}, "");
  made.span(made.thread, "merge", 30, 40, SpanKind::slice, "mtia_ccp_events");
  made.arguments({{"size", 7}}, "HOST_TO_DEVICE");
  apply_roles(made.profile, {});
  constexpr auto none = MeasureColumn::missing;
  const MeasureColumn* read = made.profile.spans.measure(made.text("ddr read bytes"));
  const MeasureColumn* written = made.profile.spans.measure(made.text("ddr write bytes"));
  ASSERT_TRUE(read != nullptr && written != nullptr);
  EXPECT_THAT(read->values, ElementsAre(none, 1'024, 64, none));
  EXPECT_THAT(written->values, ElementsAre(2'014'208, none, 64, none));
}

TEST(EventRoles, AWaitIsForTheLastTimeThatItsEventWasRaised) {
  Traced made;
  const auto event = [&](const char* name, std::int64_t start, std::int64_t end,
                         std::vector<std::pair<std::string, std::int64_t>> values) {
    const SpanId id = made.span(made.thread, name, start, end, SpanKind::slice, "mtia_ccp_events");
    made.arguments(std::move(values), "");
    return id;
  };
  event("event_record", 0, 1, {{"stream", 104}, {"seq_num", 9}});
  const SpanId second = event("event_record", 50, 51, {{"stream", 104}, {"seq_num", 9}});
  event("event_record", 90, 91, {{"stream", 104}, {"seq_num", 9}});
  const SpanId wait = event("event_wait", 10, 60, {{"wait_on_stream", 104}, {"seq_num", 9}});
  event("event_wait", 10, 60, {{"wait_on_stream", 105}, {"seq_num", 9}});
  apply_roles(made.profile, {});
  ASSERT_EQ(made.profile.flows.size(), 1u);
  EXPECT_EQ(made.profile.flows[0].from, second);
  EXPECT_EQ(made.profile.flows[0].to, wait);
  EXPECT_EQ(made.profile.flows[0].kind, EdgeKind::order);
}

TEST(EventRoles, ATwiceReadTraceGetsItsColumnsAndArrowsOnce) {
  Traced made;
  made.span(made.thread, "dma_request", 0, 10, SpanKind::slice, "mtia_ccp_events");
  made.arguments({{"size", 5}}, "HOST_TO_DEVICE");
  made.span(made.thread, "event_record", 10, 11, SpanKind::slice, "mtia_ccp_events");
  made.arguments({{"stream", 1}, {"seq_num", 2}}, "");
  made.span(made.thread, "event_wait", 12, 14, SpanKind::slice, "mtia_ccp_events");
  made.arguments({{"wait_on_stream", 1}, {"seq_num", 2}}, "");
  apply_roles(made.profile, {});
  apply_roles(made.profile, {});
  EXPECT_EQ(made.profile.spans.measures.size(), 1u);
  EXPECT_EQ(made.profile.flows.size(), 1u);
}

TEST(EventRoles, ByArgumentsThatASliceHas) {
  Traced made;
  const auto mine = table("[[rule]]\narguments = ['hlo_op', 'size']\nrole = 'kernel'\n");
  made.span(made.thread, "dot", 0, 10, SpanKind::slice);
  made.arguments({{"hlo_op", 1}, {"size", 2}, {"other", 3}}, "");
  made.span(made.thread, "dot", 10, 20, SpanKind::slice);
  made.arguments({{"hlo_op", 1}}, "");
  made.span(made.thread, "dot", 20, 30, SpanKind::slice);
  made.profile.spans.arguments.resize(3);
  apply_roles(made.profile, mine);
  EXPECT_THAT(made.profile.spans.kind,
              ElementsAre(SpanKind::kernel, SpanKind::slice, SpanKind::slice));
}

TEST(EventRoles, OfXlaAKernelIsWhatHasAnHloOpAndTheProfilerIsPartOfNoWall) {
  ProfileBuilder made;
  const UnitId host = made.unit("/host:CPU", Engine::process);
  const UnitId pool = made.unit("tf_XLAExecute/33", Engine::thread, host);
  const UnitId python = made.unit("python", Engine::thread, host);
  made.span(pool, "dot.1", 10, 20, SpanKind::slice);
  auto& arguments = made.profile.spans.arguments;
  arguments.shapes.push_back({{made.text("hlo_op"), ArgumentType::integer}});
  arguments.add(0, 1, std::array<std::uint64_t, 1>{7});
  made.span(pool, "end: dot.1", 20, 21, SpanKind::slice);
  made.span(python, "PjitFunction(net)", 5, 9, SpanKind::slice);
  made.span(python, "CommonPjRtBuffer::Await", 10, 20, SpanKind::slice);
  made.span(python, "$profiler.py:211 stop", 30, 99, SpanKind::slice);
  made.span(python, "$train.py:7 main", 2, 25, SpanKind::slice);
  made.span(python, "$builtins next", 29, 99, SpanKind::slice);  // calls it: idle until then
  arguments.resize(made.profile.spans.size());
  apply_roles(made.profile, {});
  EXPECT_THAT(made.profile.spans.kind,
              ElementsAre(SpanKind::kernel, SpanKind::annotation, SpanKind::host, SpanKind::wait,
                          SpanKind::profiler, SpanKind::annotation, SpanKind::profiler));
}

TEST(EventRoles, DispatchesOfIreeStoodBesideTheCommandBufferThatHoldsThem) {
  ProfileBuilder made;
  const UnitId device = made.unit("IREE HAL profile", Engine::process);
  const UnitId queue = made.unit("queue[0]", Engine::process, device);
  const UnitId execution = made.unit("host execution", Engine::thread, queue);
  const UnitId lane = made.unit("host execution lane 1", Engine::thread, queue);
  made.span(execution, "host:alloca", 0, 5, SpanKind::slice);
  made.span(execution, "execute cb#1 (15 ops)", 10, 100, SpanKind::slice);
  made.span(lane, "dispatch_0", 12, 40, SpanKind::slice);
  made.span(lane, "dispatch_1", 40, 99, SpanKind::slice);
  made.span(lane, "at once", 50, 60, SpanKind::slice);
  made.span(lane, "elsewhere", 98, 120, SpanKind::slice);
  apply_roles(made.profile, {});
  EXPECT_THAT(made.profile.spans.unit,
              ElementsAre(execution, execution, execution, execution, lane, lane));
  EXPECT_EQ(made.profile.spans.kind[1], SpanKind::annotation);
  EXPECT_EQ(made.profile.spans.kind[2], SpanKind::kernel);
}

TEST(EventRoles, MemoryInstantsOfKinetoAreACounterOfEachDevice) {
  Traced made;
  for (const std::int64_t device : {0, 1, 0}) {
    made.span(made.thread, "[memory]", 10 * device, 10 * device, SpanKind::instant,
              "cpu_instant_event");
    made.arguments({{"Total Allocated", 100 + device}, {"Device Type", 1}, {"Device Id", device}},
                   "");
  }
  for (int again = 0; again < 2; ++again) {
    apply_roles(made.profile, {});
    const Counters& counters = made.profile.counters;
    ASSERT_EQ(counters.series.size(), 2u);
    EXPECT_EQ(made.profile.text(counters.series[1].name), "Total Allocated");
    EXPECT_EQ(made.profile.text(counters.series[1].part), "Device Type 1, Device Id 1");
    EXPECT_EQ(made.profile.text(counters.series[1].quantity), "bytes");
    EXPECT_EQ(counters.series[1].unit, made.process);
    EXPECT_THAT(counters.of, ElementsAre(0, 1, 0));
    EXPECT_THAT(counters.value, ElementsAre(100, 101, 100));
  }
}

TEST(EventRoles, WhatIsNoTableSaysWhere) {
  EXPECT_THAT(error_of("a = 1"),
              StartsWith("mine.toml:1: 'a' is unknown; the only key here is rule"));
  EXPECT_THAT(error_of(""), HasSubstr("[[rule]] is missing"));
  EXPECT_THAT(error_of("[[rule"), StartsWith("mine.toml:1: "));
  EXPECT_THAT(error_of("[[rule]]\nname = 'a'"), HasSubstr("'role' is missing"));
  EXPECT_THAT(error_of("[[rule]]\nname = 'a'\nrole = 'op'"), HasSubstr("mine.toml:3: 'role' must"));
  EXPECT_THAT(error_of("[[rule]]\nrole = 'kernel'"), HasSubstr("fits every slice"));
  EXPECT_THAT(error_of("[[rule]]\nname = '('\nrole = 'kernel'"), StartsWith("mine.toml:2"));
  EXPECT_THAT(error_of("[[rule]]\nname = 1\nrole = 'kernel'"), HasSubstr("must be a text"));
  EXPECT_THAT(error_of("[[rule]]\nnme = 'a'\nrole = 'kernel'"), HasSubstr("'nme' is unknown"));
  EXPECT_THAT(error_of("[[rule]]\nname = 'a'\nrole = 'copy'\nbytes = 'size'"),
              HasSubstr("'bytes' needs"));
  EXPECT_THAT(error_of("[[rule]]\nname = 'a'\nrole = 'wait'\nwaits_for = 3"),
              HasSubstr("must be a text or a list of texts"));
}

}  // namespace
}  // namespace npuscope::event_roles_test
