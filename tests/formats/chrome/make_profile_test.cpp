// What a generic profile makes of a trace's events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>

#include "formats/chrome/trace_text.hpp"

namespace npuscope::chrome::make_profile_test {
namespace {

using test_support::notes_text;
using test_support::read_text;
using ::testing::ElementsAre;

Profile profile_of(std::string_view json) { return make_profile(read_text(json)); }

// "unit: op (kind) [category] start +duration {arguments}", a line for each span.
std::string spans_text(const Profile& profile) {
  static constexpr const char* kinds[] = {"op",        "sync",       "barrier", "transfer",
                                          "inference", "activation", "host",    "dma_wait",
                                          "slice",     "async",      "instant"};
  std::string text;
  const Spans& spans = profile.spans;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Op& op = profile.ops[index_of(spans.op[i])];
    text += fmt::format(
        "{}: {} ({}) [{}] {} +{}{}\n", profile.text(profile.units[index_of(spans.unit[i])].name),
        profile.text(op.name), kinds[int(spans.kind[i])], profile.text(op.kind), spans.start[i],
        spans.duration[i], test_support::arguments_text(profile.strings, spans.arguments, i));
  }
  return text;
}

std::string units_text(const Profile& profile) {
  std::string text;
  for (const Unit& unit : profile.units) {
    text += fmt::format(
        "{} {}/{} \"{}\" in {}\n", unit.engine == Engine::process ? "process" : "thread",
        profile.text(unit.process_id), profile.text(unit.thread_id), profile.text(unit.name),
        unit.parent == UnitId::none ? "nothing"
                                    : profile.text(profile.units[index_of(unit.parent)].name));
  }
  return text;
}

std::string flows_text(const Profile& profile) {
  std::string text;
  for (const Flow& flow : profile.flows) {
    text +=
        fmt::format("{} {} -> {}\n", profile.text(flow.name),
                    profile.text(profile.ops[index_of(profile.spans.op[index_of(flow.from)])].name),
                    profile.text(profile.ops[index_of(profile.spans.op[index_of(flow.to)])].name));
  }
  return text;
}

TEST(MakeProfile, ProcessesAndThreadsAreUnitsAndNamesWithCategoriesAreOps) {
  const Profile profile = profile_of(R"([
    {"ph":"M","name":"process_name","pid":1,"args":{"name":"host"}},
    {"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"main"}},
    {"ph":"X","name":"a","cat":"op","pid":1,"tid":2,"ts":1,"dur":5,"args":{"x":1}},
    {"ph":"X","name":"b","pid":1,"tid":2,"ts":2,"dur":1},
    {"ph":"X","name":"a","cat":"op","pid":1,"tid":"io","ts":1,"dur":5},
    {"ph":"i","name":"a","cat":"op","pid":7,"tid":0,"ts":3,"s":"t"}])");
  EXPECT_EQ(units_text(profile),
            "process 1/ \"host\" in nothing\nthread 1/2 \"main\" in host\n"
            "thread 1/io \"Thread io\" in host\n"
            "process 7/ \"Process 7\" in nothing\nthread 7/0 \"Thread 0\" in Process 7\n");
  EXPECT_EQ(spans_text(profile),
            "main: a (slice) [op] 1000 +5000 {x: 1}\n"
            "main: b (slice) [] 2000 +1000\n"
            "Thread io: a (slice) [op] 1000 +5000\n"
            "Thread 0: a (instant) [op] 3000 +0 {s: \"t\"}\n");
  EXPECT_EQ(profile.ops.size(), 2u);
  EXPECT_EQ(profile.clocks[index_of(profile.base_clock)].rate, Hertz(1'000'000'000));
  EXPECT_THAT(profile.provenance.files, ElementsAre("trace.json"));
  EXPECT_EQ(notes_text(profile.notes), "");
}

TEST(MakeProfile, SlicesThatOverlapWithoutNestingGoToLanes) {
  const Profile profile = profile_of(R"([
    {"ph":"X","name":"a","tid":1,"ts":0,"dur":10},
    {"ph":"X","name":"inside","tid":1,"ts":2,"dur":8},
    {"ph":"X","name":"across","tid":1,"ts":5,"dur":10},
    {"ph":"X","name":"third","tid":1,"ts":6,"dur":20},
    {"ph":"X","name":"after","tid":1,"ts":10,"dur":1}])");
  EXPECT_EQ(spans_text(profile),
            "Thread 1 (lane 3): a (slice) [] 0 +10000\n"
            "Thread 1 (lane 3): inside (slice) [] 2000 +8000\n"
            "Thread 1 (lane 2): across (slice) [] 5000 +10000\n"
            "Thread 1: third (slice) [] 6000 +20000\n"
            "Thread 1: after (slice) [] 10000 +1000\n");
  EXPECT_EQ(notes_text(profile.notes),
            "3 slices that overlap another of their thread without nesting, or lie inside such a "
            "slice: in lanes beside it @0\n");
}

TEST(MakeProfile, AChildThatEndedOneMicrosecondAfterItsParentLostIt) {
  const Profile profile = profile_of(R"([
    {"ph":"X","name":"linear","tid":1,"ts":10,"dur":500},
    {"ph":"X","name":"addmm","tid":1,"ts":20,"dur":491}])");
  EXPECT_EQ(profile.units.size(), 2u);
  EXPECT_EQ(profile.clocks[0].resolution, 1'000);
  EXPECT_EQ(notes_text(profile.notes),
            "1 slices that end up to 1 us after the slice that they began in, the resolution of "
            "the file's times: nested in it @0\n");
  const Profile finer = profile_of(R"([
    {"ph":"X","name":"linear","tid":1,"ts":10,"dur":500},
    {"ph":"X","name":"addmm","tid":1,"ts":20.001,"dur":491}])");
  EXPECT_EQ(finer.units.size(), 3u);
  EXPECT_EQ(finer.clocks[0].resolution, 1);
}

TEST(MakeProfile, AsynchronousEventsPairByCategoryAndId) {
  const Profile profile = profile_of(R"([
    {"ph":"b","name":"req","cat":"net","id":"1","ts":1,"tid":1,"args":{"url":"x"}},
    {"ph":"b","name":"req","cat":"net","id":"2","ts":2,"tid":1},
    {"ph":"b","name":"dns","cat":"net","id":"1","ts":3,"tid":1},
    {"ph":"n","name":"hop","cat":"net","id":"1","ts":4,"tid":1},
    {"ph":"e","name":"dns","cat":"net","id":"1","ts":5,"tid":2},
    {"ph":"e","name":"req","cat":"net","id":"1","ts":9,"tid":2,"args":{"status":200}},
    {"ph":"e","name":"req","cat":"disk","id":"2","ts":9,"tid":2},
    {"ph":"S","name":"old","cat":"net","id":"1","ts":6,"tid":1},
    {"ph":"F","name":"old","cat":"net","id":"1","ts":8,"tid":1}])");
  EXPECT_EQ(spans_text(profile),
            "Thread 1: req (async) [net] 1000 +8000 {url: \"x\", status: 200}\n"
            "Thread 1: req (async) [net] 2000 +0\n"
            "Thread 1: dns (async) [net] 3000 +2000\n"
            "Thread 1: old (async) [net] 6000 +2000\n"
            "Thread 1: hop (instant) [net] 4000 +0\n");
  EXPECT_EQ(notes_text(profile.notes),
            "1 asynchronous events without an end, kept with duration 0 @0\n"
            "1 ends of asynchronous events that never began, left out @0\n");
}

TEST(MakeProfile, CountersAreSeriesOfTheirProcess) {
  const Profile profile = profile_of(R"([
    {"ph":"C","name":"VTCM alloc","pid":0,"tid":0,"ts":22,"args":{"":65536}},
    {"ph":"C","name":"mem","pid":0,"ts":23,"args":{"used":1.5,"free":"2","bad":[1],"huge":"1e400"}},
    {"ph":"C","name":"mem","pid":0,"ts":24,"args":{"used":3}},
    {"ph":"C","name":"mem","id":"gpu","pid":1,"ts":24,"args":{"used":true}}])");
  std::string text;
  for (std::size_t i = 0; i < profile.counters.size(); ++i) {
    const CounterSeries& series = profile.counters.series[profile.counters.of[i]];
    text +=
        fmt::format("{}: {}.{} {} {}\n", profile.text(profile.units[index_of(series.unit)].name),
                    profile.text(series.name), profile.text(series.part), profile.counters.time[i],
                    profile.counters.value[i]);
  }
  EXPECT_EQ(text,
            "Process 0: VTCM alloc. 22000 65536\nProcess 0: mem.used 23000 1.5\n"
            "Process 0: mem.free 23000 2\nProcess 0: mem.used 24000 3\nProcess 1: mem[gpu].used "
            "24000 1\n");
  EXPECT_EQ(profile.counters.series.size(), 4u);
  EXPECT_EQ(notes_text(profile.notes), "2 values of counters that are not numbers, left out @0\n");
}

TEST(MakeProfile, FlowsConnectTheSlicesTheyAreBoundTo) {
  const Profile profile = profile_of(R"([
    {"ph":"f","name":"f","cat":"c","id":1,"tid":2,"ts":20,"bp":"e"},
    {"ph":"X","name":"outer","tid":1,"ts":0,"dur":10},
    {"ph":"X","name":"launch","tid":1,"ts":4,"dur":2},
    {"ph":"X","name":"kernel","tid":2,"ts":20,"dur":5},
    {"ph":"X","name":"second","tid":2,"ts":30,"dur":5},
    {"ph":"X","name":"last","tid":2,"ts":40,"dur":5},
    {"ph":"s","name":"f","cat":"c","id":1,"tid":1,"ts":5},
    {"ph":"f","name":"f","cat":"c","id":1,"tid":2,"ts":31,"bp":"e"},
    {"ph":"s","name":"to next","cat":"c","id":2,"tid":1,"ts":10},
    {"ph":"t","name":"to next","cat":"c","id":2,"tid":2,"ts":25},
    {"ph":"f","name":"to next","cat":"c","id":2,"tid":2,"ts":36},
    {"ph":"f","name":"lost","cat":"d","id":2,"tid":2,"ts":36},
    {"ph":"s","name":"nowhere","cat":"c","id":3,"tid":1,"ts":50}])");
  EXPECT_EQ(
      flows_text(profile),
      "f launch -> kernel\nto next outer -> kernel\nf launch -> second\nto next kernel -> last\n");
  EXPECT_EQ(notes_text(profile.notes),
            "1 ends of flows where no slice is, left out @0\n"
            "2 flow events without a beginning or an end, left out @0\n");
}

// By more than some steps of the resolution of their times.
TEST(MakeProfile, NoTwoSlicesOfOneUnitOverlapWithoutNesting) {
  std::mt19937 random(17);
  for (int round = 0; round < 200; ++round) {
    std::string text = "[";
    for (int i = 0; i < 40; ++i) {
      text += fmt::format(R"({}{{"ph":"X","name":"a","tid":{},"ts":{},"dur":{}}})",
                          i == 0 ? "" : ",", random() % 2, random() % 30 * 100, random() % 8 * 100);
    }
    const Profile profile = profile_of(text + "]");
    const Spans& spans = profile.spans;
    ASSERT_EQ(spans.size(), 40u);
    for (std::size_t a = 0; a < spans.size(); ++a) {
      for (std::size_t b = 0; b < spans.size(); ++b) {
        const std::int64_t a_end = spans.start[a] + spans.duration[a];
        const std::int64_t b_end = spans.start[b] + spans.duration[b];
        const bool crossing = spans.start[a] < spans.start[b] && spans.start[b] + 10'000 < a_end &&
                              a_end + 10'000 < b_end;
        ASSERT_FALSE(crossing && spans.unit[a] == spans.unit[b]);
      }
    }
  }
}

TEST(MakeProfile, WhatStandsBesideTheEventsIsTold) {
  EXPECT_EQ(
      notes_text(
          profile_of(R"({"displayTimeUnit":"ms","deviceProperties":[],"traceEvents":[]})").notes),
      "1 top-level members beside the events, not in the profile: deviceProperties @0\n");
}

// Counted in the files by other means: slices, sum of their durations, distinct names, flows.
TEST(MakeProfile, OpensTracesOfOtherProfilersWithoutLosses) {
  struct Expected {
    const char* file;
    std::size_t slices;
    std::int64_t nanoseconds;
    std::size_t names;
    std::size_t instants;
  };
  const std::filesystem::path folder = std::filesystem::path(NPUSCOPE_SHARED_DIR) / "data/chrome";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the samples are not at hand";
  for (const Expected& expected :
       {Expected{"mi250_minitoy_train_ROCm6_2_kineto.json.gz", 113, 52276266, 64, 2},
        Expected{"mtia_inference_rank_0.json.gz", 14179, 7594837696, 67, 2},
        Expected{"triton_example.json.gz", 8, 13693360730, 7, 2}}) {
    auto source = open_byte_source(folder / expected.file);
    ASSERT_TRUE(source);
    auto events = read_events(**source);
    ASSERT_TRUE(events);
    EXPECT_EQ(notes_text(events->notes), "");
    const Profile profile = make_profile(std::move(*events));
    std::map<std::string_view, std::int64_t> by_name;
    std::int64_t nanoseconds = 0;
    std::size_t slices = 0;
    std::size_t instants = 0;
    for (std::size_t i = 0; i < profile.spans.size(); ++i) {
      instants += profile.spans.kind[i] == SpanKind::instant ? 1 : 0;
      if (profile.spans.kind[i] != SpanKind::slice) continue;
      ++slices;
      nanoseconds += profile.spans.duration[i];
      by_name[profile.text(profile.ops[index_of(profile.spans.op[i])].name)] +=
          profile.spans.duration[i];
    }
    EXPECT_EQ(slices, expected.slices) << expected.file;
    EXPECT_EQ(nanoseconds, expected.nanoseconds) << expected.file;
    EXPECT_EQ(by_name.size(), expected.names) << expected.file;
    EXPECT_EQ(instants, expected.instants) << expected.file;
  }
}

TEST(MakeProfile, TwoProcessesOfOneNameSharedAPath) {
  const Profile profile = make_profile(read_text(R"([
    {"ph":"M","pid":7,"name":"process_name","args":{"name":"python"}},
    {"ph":"M","pid":8,"name":"process_name","args":{"name":"python"}},
    {"ph":"X","pid":7,"tid":1,"ts":1,"dur":1,"name":"a"},
    {"ph":"X","pid":8,"tid":1,"ts":1,"dur":1,"name":"b"}])"));
  std::vector<std::string> processes;
  for (const Unit& unit : profile.units) {
    if (unit.engine != Engine::process) continue;
    processes.push_back(std::string(profile.text(unit.name)) + " lane " +
                        std::to_string(unit.lane));
  }
  EXPECT_EQ(processes, (std::vector<std::string>{"python lane 0", "python lane 1"}));
}

// What stands behind its slice in the file is of it, also where one of no length begins with it.
TEST(MakeProfile, ArrowsOfASliceWentToOneOfNoLengthThatBeginsWithIt) {
  const Profile profile = make_profile(read_text(R"([
    {"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"long"},
    {"ph":"s","pid":1,"tid":1,"ts":1,"id":1,"name":"f","cat":"f"},
    {"ph":"X","pid":1,"tid":1,"ts":1,"dur":0,"name":"empty"},
    {"ph":"s","pid":1,"tid":1,"ts":1,"id":2,"name":"f","cat":"f"},
    {"ph":"X","pid":1,"tid":2,"ts":9,"dur":5,"name":"end"},
    {"ph":"f","bp":"e","pid":1,"tid":2,"ts":9,"id":1,"name":"f","cat":"f"},
    {"ph":"f","bp":"e","pid":1,"tid":2,"ts":9,"id":2,"name":"f","cat":"f"}])"));
  ASSERT_EQ(profile.flows.size(), 2u);
  const auto from = [&](std::size_t i) {
    return profile.text(
        profile.ops[index_of(profile.spans.op[index_of(profile.flows[i].from)])].name);
  };
  EXPECT_EQ(from(0), "long");
  EXPECT_EQ(from(1), "empty");
}

}  // namespace
}  // namespace npuscope::chrome::make_profile_test
