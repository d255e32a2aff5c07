// A model of several dispatches as one profile, and a log whose only witness is a timeline.
#include <gmock/gmock.h>

#include <random>
#include <regex>

#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/files.hpp"
#include "formats/torq/profile/npu_target.hpp"
#include "formats/torq/profile/timeline_debug.hpp"
#include "formats/torq/runtime_log.hpp"
#include "formats/torq/timeline.hpp"

namespace npuscope::torq::many_dispatches_test {
namespace {

const std::string text() {
  return contents(data("one_dispatch/debug/net_dispatch_0_conv_2d.mlir"));
}

DispatchInfo dispatch_called(const std::string& name, const std::string& folder = "debug") {
  const std::string renamed =
      std::regex_replace(text(), std::regex("net_dispatch_0_conv_2d"), name);
  auto dispatches = read_debug_info(renamed, folder + "/" + name + ".mlir");
  return std::move(dispatches->front());
}

std::int64_t wall_of(const Profile& profile) {
  std::int64_t end = 0;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    end = std::max(end, profile.spans.start[row] + profile.spans.duration[row]);
  }
  return end;
}

double number_of(const Profile& profile, NumberRole role) {
  for (const Measure& measure : profile.measures) {
    if (measure.meaning.role == role) return measure.value;
  }
  return -1;
}

TEST(ManyDispatches, OfAModelAndFolderAreTogetherInTheOrderOfTheirNumbers) {
  DebugInfo debug;
  for (const char* name : {"net_dispatch_10_a", "net_dispatch_2", "other_dispatch_0", "plain",
                           "net_dispatch_2", "net_dispatch_x"}) {
    debug.dispatches.push_back(dispatch_called(name));
  }
  debug.dispatches.push_back(dispatch_called("net_dispatch_2", "elsewhere"));
  std::string models;
  for (const auto& model : debug.by_model()) {
    for (const DispatchInfo* each : model) models += each->name + " ";
    models += "\n";
  }
  EXPECT_EQ(models,
            "net_dispatch_2 net_dispatch_10_a \nother_dispatch_0 \nplain \nnet_dispatch_x \n"
            "net_dispatch_2 \n");
  EXPECT_EQ(model_of_dispatch("main$async_dispatch_3_conv"), "main$async");
  EXPECT_EQ(model_of_dispatch("net_dispatch_conv"), "");
}

// Compilers of different models, and of one with other options, give dispatches the same names.
TEST(ManyDispatches, ALogHasThoseThatAreNearestToIt) {
  DebugInfo debug;
  for (const char* folder : {"a/debug", "b/debug", "b/c"}) {
    debug.dispatches.push_back(dispatch_called("net_dispatch_0", folder));
    debug.files.push_back(debug.dispatches.back().file);
  }
  const auto near = nearest_to("b/run.csv", debug);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->dispatches.size(), 2u);
  EXPECT_EQ(near->find("net_dispatch_0")->file, "b/debug/net_dispatch_0.mlir");
  EXPECT_EQ(nearest_to("b/c/run.csv", debug)->files.front(), "b/c/net_dispatch_0.mlir");
  EXPECT_FALSE(nearest_to("run.csv", debug));
  EXPECT_FALSE(nearest_to("c/run.csv", debug));
  EXPECT_EQ(folders_in_common("./a/b/x", "a/b/../b/y"), 2u);
}

TEST(ManyDispatches, AreOneProfileOneBehindTheOther) {
  const DispatchInfo first = dispatch_called("net_dispatch_0"),
                     second = dispatch_called("net_dispatch_1");
  const DispatchInfo* const both[] = {&first, &second};
  const auto one = make_profile(first);
  const auto two = make_profile(both);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(two->provenance.graph, "net");
  EXPECT_EQ(two->provenance.files.size(), 2u);
  EXPECT_EQ(wall_of(*two), 2 * wall_of(*one));
  EXPECT_EQ(two->spans.size(), 2 * one->spans.size());
  EXPECT_EQ(two->flows.size(), 2 * one->flows.size() + 1);  // from the first to the second
  for (const NumberRole role : {NumberRole::exposed_transfer, NumberRole::hidden_transfer,
                                NumberRole::code_fetches, NumberRole::kept_on_chip}) {
    EXPECT_EQ(number_of(*two, role), 2 * number_of(*one, role));
  }
  EXPECT_EQ(number_of(*two, NumberRole::vtcm_peak), number_of(*one, NumberRole::vtcm_peak));
}

// Times of a schedule, cycle by cycle.
TEST(ManyDispatches, ExposedAndHiddenTransfersAreThoseOfTheSlowWay) {
  const auto profile = make_profile(dispatch_called("net_dispatch_0"));
  std::int64_t exposed = 0, hidden = 0;
  for (std::int64_t cycle = 0; cycle < wall_of(*profile); ++cycle) {
    bool moves = false, computes = false;
    for (std::size_t row = 0; row < profile->spans.size(); ++row) {
      const std::int64_t begin = profile->spans.start[row];
      if (cycle < begin || cycle >= begin + profile->spans.duration[row]) continue;
      (profile->spans.kind[row] == SpanKind::transfer ? moves : computes) = true;
    }
    exposed += moves && !computes;
    hidden += moves && computes;
  }
  EXPECT_EQ(number_of(*profile, NumberRole::exposed_transfer), double(exposed));
  EXPECT_EQ(number_of(*profile, NumberRole::hidden_transfer), double(hidden));
}

TEST(ManyDispatches, TheTargetIsKnownByTheRateOfItsTransfers) {
  const auto device = [](std::initializer_list<std::pair<std::int64_t, std::int64_t>> transfers) {
    DmaRates rates;
    for (const auto& [bytes, cycles] : transfers) rates.take(bytes, cycles);
    return rates.device();
  };
  EXPECT_EQ(device({{640, 135}, {2280, 480}, {75264, 15831}}), "Torq SL2610");
  EXPECT_EQ(device({{640, 266}, {512, 213}, {18432, 7637}}), "Torq SR200");
  EXPECT_EQ(device({{640, 135}, {512, 213}, {18432, 7637}}), "Torq");  // neither
  EXPECT_EQ(device({{640, 135}, {2280, 480}}), "Torq");                // too few to say
  EXPECT_EQ(device({{8, 2}, {8, 2}, {8, 2}, {8, 2}}), "Torq");         // too short to say
  EXPECT_EQ(device({{640, 135}, {2280, 480}, {75264, 15831}, {-1, 7}}), "Torq SL2610");
}

CompileTimeline timeline_of(std::string_view text) {
  const auto source = source_of(text);
  return std::move(*read_timeline(*source));
}

RuntimeLog log_of(std::string_view text) {
  const auto source = source_of(text);
  return std::move(*read_log(*source));
}

constexpr std::string_view task_ids =
    "taskId, elapsed_time(us), timestamp(us), event, location, bytes\n"
    "0,100,0,DMA In,loc(\"net.mlir\":2:3),475\n2,100,200,DMA In,loc(\"net.mlir\":5:10),475\n"
    "1,200,100,Slice 0,loc(\"net.mlir\":4:10),\n3,100,300,Slice 1,loc(\"net.mlir\":5:10),\n";

constexpr std::string_view two_programs =
    "dispatch_name,invocation_id,action_id,timestamp_us,event\n"
    "d,1,0,90,HOST_COPY_BEGIN\nd,1,0,95,HOST_COPY_END\n"
    "d,1,1,100,NSS_START_BEGIN\nd,1,1,101,NSS_START_END\nd,1,2,101,NSS_WAIT_BEGIN\n"
    "d,1,2,110,NSS_WAIT_END\nd,1,3,120,NSS_START_BEGIN\nd,1,3,121,NSS_START_END\n"
    "d,1,4,121,NSS_WAIT_BEGIN\nd,1,4,150,NSS_WAIT_END\n";

std::string nss_of(const Profile& profile) {
  std::string text;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const Unit& unit = profile.units[index_of(profile.spans.unit[row])];
    if (profile.text(unit.name) != "NSS") continue;
    const Op& op = profile.ops[index_of(profile.spans.op[row])];
    text += fmt::format("{} {} {}\n", profile.text(op.label()), profile.text(op.kind),
                        profile.spans.duration[row]);
  }
  return text;
}

// 10 and 30 us share 400 cycles: the first program has 100 of them.
TEST(TimelineDebug, ProgramsShareTheEstimateByTheirTimes) {
  const CompileTimeline timeline = timeline_of(task_ids);
  const RuntimeLog log = log_of(two_programs);
  const auto debug = debug_of_timeline(timeline, log, nullptr);
  ASSERT_TRUE(debug);
  const Profile profile = make_profile(log, &*debug);
  EXPECT_EQ(nss_of(profile),
            "@L2C3 transfers 10000\n"
            "@L4C10 Slice 0 20000\n@L5C10 DMA In 0\n@L5C10 Slice 1 10000\n");
  EXPECT_EQ(profile.provenance.split_ops, 3u);
  for (const Note& note : profile.notes) ADD_FAILURE() << note.message;
  for (const Op& op : profile.ops) {
    EXPECT_EQ(profile.text(op.name).find("loc("), std::string_view::npos);
  }
}

// The form of 2026-02 says which action waited.
TEST(TimelineDebug, ActionsSayWhereAProgramEnds) {
  const CompileTimeline timeline = timeline_of(
      "actionIndex, elapsed_time(us), timestamp(us), event, location, bytes\n"
      "2,100,0,DMA In,loc(\"net.mlir\":2:3),475\n2,200,100,Slice 0,loc(\"net.mlir\":4:10),\n"
      "4,100,300,Slice 1,loc(\"net.mlir\":5:10),\n");
  const RuntimeLog log = log_of(two_programs);
  const auto debug = debug_of_timeline(timeline, log, nullptr);
  ASSERT_TRUE(debug);
  EXPECT_EQ(nss_of(make_profile(log, &*debug)),
            "@L2C3 DMA In 3333\n@L4C10 Slice 0 6667\n@L5C10 NSS program 30000\n");
}

TEST(TimelineDebug, OfSeveralDispatchesNothingIsSplit) {
  const CompileTimeline timeline = timeline_of(task_ids);
  const std::string more = std::string(two_programs) +
                           "e,2,0,200,NSS_START_BEGIN\ne,2,0,201,NSS_START_END\n"
                           "e,2,1,201,NSS_WAIT_BEGIN\ne,2,1,210,NSS_WAIT_END\n";
  EXPECT_FALSE(debug_of_timeline(timeline, log_of(more), nullptr));
  EXPECT_FALSE(debug_of_timeline(
      timeline, log_of("dispatch_name,invocation_id,action_id,timestamp_us,event\n"), nullptr));
}

// Whatever the rows and the log: what the NSS works is what the log measured.
TEST(TimelineDebug, TheSplitAddsUpToTheLog) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const bool has_actions = round % 2 == 0;
    std::string rows = fmt::format(
        "{}, elapsed_time(us), timestamp(us), event, location, bytes\n0,1,0,CSS,loc(unknown),\n",
        has_actions ? "actionIndex" : "taskId");
    constexpr const char* events[] = {"DMA In", "DMA Out", "Slice 0", "Slice 1", "CSS"};
    for (std::uint32_t i = 0; i < random() % 12; ++i) {
      rows += fmt::format("{},{},{},{},loc(\"a\":{}:1),\n", random() % 8, random() % 50,
                          random() % 200, events[random() % 5], random() % 4 + 1);
    }
    std::string lines = "dispatch_name,invocation_id,action_id,timestamp_us,event\n";
    std::int64_t time = 10, measured = 0;
    for (int invocation = 0; invocation < 2; ++invocation) {
      for (int action = 0; action < 8; action += 2) {
        const auto length = std::int64_t(random() % 40);
        lines += fmt::format(
            "d,{0},{1},{2},NSS_START_BEGIN\nd,{0},{1},{2},NSS_START_END\nd,{0},{3},{2},"
            "NSS_WAIT_BEGIN\nd,{0},{3},{4},NSS_WAIT_END\n",
            invocation, action, time, action + 1, time + length);
        time += length + 1;
        measured += length;
      }
    }
    const RuntimeLog log = log_of(lines);
    const auto debug = debug_of_timeline(timeline_of(rows), log, nullptr);
    ASSERT_TRUE(debug);
    const Profile profile = make_profile(log, &*debug);
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < profile.spans.size(); ++row) {
      const Unit& unit = profile.units[index_of(profile.spans.unit[row])];
      if (profile.text(unit.name) == "NSS") sum += profile.spans.duration[row];
    }
    EXPECT_EQ(sum, measured * 1000) << round;
  }
}

}  // namespace
}  // namespace npuscope::torq::many_dispatches_test
