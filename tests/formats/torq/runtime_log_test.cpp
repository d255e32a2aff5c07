#include "formats/torq/runtime_log.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <random>

#include "formats/torq/annotate/log_intervals.hpp"
#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/files.hpp"

namespace npuscope::torq::runtime_log_test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view header = "dispatch_name,invocation_id,action_id,timestamp_us,event\n";

Result<RuntimeLog> log_of(std::string_view text) {
  const auto source = source_of(text);
  return read_log(*source);
}

std::string read(std::string_view text) {
  const auto log = log_of(text);
  if (!log) return log.error().message;
  std::string out;
  for (const LogEvent& event : log->events) {
    out +=
        fmt::format("{} {} {} {} {} {} {}\n", log->strings[event.dispatch], event.invocation,
                    event.action, event.time_us, log->strings[event.type],
                    event.edge == LogEdge::begin ? "begins" : "ends", log->strings[event.location]);
  }
  return out + lines_of(log->notes);
}

TEST(RuntimeLog, OfDispatches) {
  EXPECT_EQ(read(std::string(header) + "d,3,1,50,NSS_START_BEGIN\r\nd,3,1,52,NSS_START_END\n"
                                       "__HAL_QUEUE_EXECUTE__,1,-1,60,HAL_CALL_BEGIN\n"),
            "d 3 1 50 NSS_START begins \nd 3 1 52 NSS_START ends \n"
            "__HAL_QUEUE_EXECUTE__ 1 -1 60 HAL_CALL begins \n");
}

TEST(RuntimeLog, ColumnsMayStandInAnyOrderAmongOthers) {
  EXPECT_EQ(read("event,thread,timestamp_us,action_id,invocation_id,dispatch_name\n"
                 "ALLOC_BEGIN,7,5.9,2,1,d\n"),
            "d 1 2 5 ALLOC begins \n");
}

TEST(RuntimeLog, AMissingColumnIsNamed) {
  EXPECT_THAT(read("dispatch_name,invocation_id,action_id,event\nd,1,2,X_BEGIN\n"),
              HasSubstr("no column timestamp_us"));
  EXPECT_THAT(read("actionIndex, elapsed_time(us), event, location\n"),
              HasSubstr("no column timestamp(us)"));
  EXPECT_THAT(read("something,else\n1,2\n"), HasSubstr("begins with 'something,else'"));
  EXPECT_THAT(read(""), HasSubstr("is empty"));
}

TEST(RuntimeLog, WhatIsNoRowIsCounted) {
  EXPECT_EQ(read(std::string(header) +
                 "d,1,0,5,ALLOC_BEGIN\nd,1,zero,5,ALLOC_END\nd,1,0,,ALLOC_END\nd,1,0\n"
                 "d,1,0,6,ALLOC_MIDDLE\nd,1,0,6,ALLOC\nd,1,-7,6,ALLOC_END\n"
                 "d,1,99999999999,6,ALLOC_END\nd,1,0,99999999999999999999,ALLOC_END\n"),
            "d 1 0 5 ALLOC begins \n"
            "rows with too few columns, or numbers that are none; left out, 6 times\n"
            "events that neither begin nor end; left out, 2 times\n");
}

TEST(RuntimeLog, QuotedFields) {
  EXPECT_EQ(read(std::string(header) +
                 "\"d,\"\"e\"\"\",1,0,5,ALLOC_BEGIN\n\"d\",\"1\",\"0\",\"6\",\"ALLOC_END\"\n"),
            "d,\"e\" 1 0 5 ALLOC begins \nd 1 0 6 ALLOC ends \n");
}

constexpr std::string_view host_header =
    "actionIndex, elapsed_time(us), timestamp(us), event, location\n";

TEST(RuntimeLog, OfTheHostQuotedOrNot) {
  const std::string events =
      " 0 0 50 HOST_COPY begins loc(unknown)\n 0 0 75 HOST_COPY ends loc(unknown)\n"
      " 0 1 76 NSS_START begins loc(fused[\"a\":1:2, \"b\":3:4])\n"
      " 0 1 78 NSS_START ends loc(fused[\"a\":1:2, \"b\":3:4])\n"
      " 1 0 90 HOST_PROGRAM begins \n";
  EXPECT_EQ(read(std::string(host_header) +
                 "0,0,50,HOST_COPY_START,loc(unknown)\n0,25,75,HOST_COPY_END,loc(unknown)\n"
                 "1,26,76,NSS_START,loc(fused[\"a\":1:2, \"b\":3:4])\n"
                 "1,28,78,NSS_START_END,loc(fused[\"a\":1:2, \"b\":3:4])\n"
                 "0,40,90,HOST_PROGRAM_START,\n"),
            events);
  EXPECT_EQ(read(std::string(host_header) +
                 "0,0,50,HOST_COPY_START,\"loc(unknown)\"\n"
                 "0,25,75,HOST_COPY_END,\"loc(unknown)\"\n"
                 "1,26,76,NSS_START,\"loc(fused[\"\"a\"\":1:2, \"\"b\"\":3:4])\"\n"
                 "1,28,78,NSS_START_END,\"loc(fused[\"\"a\"\":1:2, \"\"b\"\":3:4])\"\n"
                 "0,40,90,HOST_PROGRAM_START,\"\"\n"),
            events);
}

TEST(RuntimeLog, ElapsedTimeIsSinceTheFirstEvent) {
  const auto log =
      log_of(std::string(host_header) + "0,0,50,ALLOC_START,\n0,9,59,ALLOC_END,\n1,1,60,X_END,\n");
  ASSERT_TRUE(log);
  ASSERT_EQ(log->checks.size(), 1u);
  EXPECT_EQ(log->checks[0].outcome, Check::Outcome::failed);
  EXPECT_EQ(log->checks[0].detail, "2 of 3 rows");
}

TEST(RuntimeLog, OfNssJobs) {
  EXPECT_EQ(read("id;time_since_open;time_since_start;location\n0;1060;18;loc(unknown)\n"
                 "1;1100;39;loc(\"a;b\":1:2)\n0;1200;10;\nx;1;2;\n"),
            " 0 0 1042 NSS_JOB begins loc(unknown)\n 0 0 1060 NSS_JOB ends loc(unknown)\n"
            " 0 1 1061 NSS_JOB begins loc(\"a;b\":1:2)\n"
            " 0 1 1100 NSS_JOB ends loc(\"a;b\":1:2)\n"
            " 1 0 1190 NSS_JOB begins \n 1 0 1200 NSS_JOB ends \n"
            "rows with too few columns, or numbers that are none; left out\n");
}

// --- pairs ---

TEST(LogIntervals, OddOnesAreCounted) {
  const auto log = log_of(std::string(header) +
                          "d,1,0,10,ALLOC_BEGIN\nd,1,0,20,ALLOC_BEGIN\nd,1,0,30,ALLOC_END\n"
                          "d,2,0,5,ALLOC_END\nd,3,0,9,ALLOC_BEGIN\nd,3,0,8,ALLOC_END\n");
  ASSERT_TRUE(log);
  CountedNotes notes;
  const auto intervals = pair_events(*log, notes);
  ASSERT_EQ(intervals.size(), 1u);
  EXPECT_EQ(intervals[0].begin_us, 20);
  EXPECT_EQ(lines_of(notes.notes()),
            "ends without a begin; left out\nbegins without an end; left out\n"
            "ends before their begins; left out\n");
}

// The same by searching back through all open begins.
TEST(LogIntervals, AgreeWithTheSlowWay) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    RuntimeLog log;
    for (int i = 0; i < 60; ++i) {
      LogEvent event{.time_us = std::int64_t(random() % 100)};
      event.invocation = random() % 3;
      event.action = std::int32_t(random() % 2) - 1;
      event.type = StringId(random() % 2);
      event.edge = LogEdge(random() % 2);
      log.events.push_back(event);
    }
    std::vector<std::pair<LogEvent, bool>> open;
    std::multimap<std::size_t, std::pair<std::int64_t, std::int64_t>> expected;
    for (const LogEvent& event : log.events) {
      if (event.edge == LogEdge::begin) {
        open.emplace_back(event, true);
        continue;
      }
      for (std::size_t i = open.size(); i-- > 0;) {
        const LogEvent& begun = open[i].first;
        if (!open[i].second || begun.invocation != event.invocation ||
            begun.action != event.action || begun.type != event.type) {
          continue;
        }
        open[i].second = false;
        if (begun.time_us <= event.time_us)
          expected.emplace(i, std::pair{begun.time_us, event.time_us});
        break;
      }
    }
    CountedNotes notes;
    const auto found = pair_events(log, notes);
    ASSERT_EQ(found.size(), expected.size());
    auto wanted = expected.begin();
    for (const LogInterval& each : found) {
      EXPECT_EQ(std::pair(each.begin_us, each.end_us), (wanted++)->second);
    }
  }
}

// --- profiles ---

std::string print(const Profile& profile) {
  std::string text;
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const auto op = index_of(profile.spans.op[i]);
    constexpr const char* kinds[] = {"op",        "sync",       "barrier", "transfer",
                                     "inference", "activation", "host"};
    text += fmt::format("{} {}+{} {} {}\n",
                        profile.text(profile.units[index_of(profile.spans.unit[i])].name),
                        profile.spans.start[i], profile.spans.duration[i],
                        kinds[std::size_t(profile.spans.kind[i])],
                        op < profile.ops.size() ? profile.text(profile.ops[op].name) : "");
  }
  return text;
}

TEST(LogProfile, ShowsHostActionsAndPrograms) {
  const auto log = log_of(contents(data("runtime.csv")));
  ASSERT_TRUE(log);
  const Profile profile = make_profile(*log);
  EXPECT_EQ(profile.provenance.inferences, 2u);
  EXPECT_EQ(profile.provenance.temperature, Provenance::Temperature::cold_then_warm);
  EXPECT_EQ(lines_of(profile.notes), "");
  EXPECT_THAT(print(profile), HasSubstr("host 2010000+20000 host HOST_COPY 0\n"));
  EXPECT_THAT(print(profile), HasSubstr("NSS 2030000+30000 op NSS program 1\n"));
  EXPECT_THAT(print(profile), HasSubstr("host 2032000+28000 sync NSS_WAIT 2\n"));
  EXPECT_THAT(print(profile), HasSubstr("host 3000000+62000 inference \n"));
  EXPECT_EQ(profile.phases.size(), 7u);
}

// Without these arrows the host's copies had slack and were on no path, although all waits for
// them.
TEST(LogProfile, ProgramsWaitForTheirStartsAndTheHostForPrograms) {
  const auto log = log_of(contents(data("runtime.csv")));
  ASSERT_TRUE(log);
  const Profile profile = make_profile(*log);
  const auto name = [&](SpanId span) {
    return std::string(profile.text(profile.ops[index_of(profile.spans.op[index_of(span)])].name));
  };
  std::string arrows;
  for (const Flow& flow : profile.flows) {
    if (profile.spans.instance[index_of(flow.from)] != 1) continue;
    arrows += fmt::format("{} -> {}\n", name(flow.from), name(flow.to));
  }
  EXPECT_EQ(arrows,
            "NSS_START 1 -> NSS program 1\nNSS program 1 -> NSS_START 3\n"
            "NSS_START 3 -> NSS program 3\nNSS program 3 -> HOST_START 5\n"
            "HOST_START 5 -> host program 5\n");
  EXPECT_THAT(print(profile), HasSubstr("host 3051000+7000 sync HOST_WAIT 6\n"));
}

TEST(LogProfile, DebugInformationNamesPrograms) {
  const auto log = log_of(contents(data("runtime.csv")));
  const auto debug = load_debug_info(std::filesystem::path(data("debug_info")));
  ASSERT_TRUE(log);
  ASSERT_TRUE(debug) << debug.error().message;
  const Profile profile = make_profile(*log, &*debug);
  EXPECT_EQ(lines_of(profile.notes), "");
  EXPECT_THAT(print(profile), HasSubstr("NSS 2030000+8571 transfer nss_program_0 > DMA In @L3C10\n"
                                        "NSS 2038571+21429 op nss_program_0 > conv2d_0 @L3C10\n"));
  // What the slices of the other program still did is hidden behind this one's transfer.
  EXPECT_THAT(print(profile),
              HasSubstr("NSS 2060000+15000 transfer nss_program_1 > DMA Out @L3C10+@L4C10\n"
                        "NSS 2075000+0 op nss_program_1 > add_1 @L3C10+@L4C10\n"));
  bool found = false;
  for (const Op& op : profile.ops) {
    if (profile.text(op.name) != "nss_program_0 > conv2d_0 @L3C10") continue;
    found = true;
    EXPECT_EQ(profile.text(op.node), "tosa.conv2d@L3");
    EXPECT_EQ(profile.text(op.kind), "conv2d_0");
    EXPECT_EQ(profile.text(op.split_from), "nss_program_0");
  }
  EXPECT_TRUE(found);
}

TEST(LogProfile, WaitsWithoutStartsAndActionsWithoutDebugInformationAreCounted) {
  const auto debug = load_debug_info(std::filesystem::path(data("debug_info")));
  ASSERT_TRUE(debug);
  const auto log = log_of(std::string(header) +
                          "main_dispatch_0,1,2,10,NSS_WAIT_BEGIN\n"
                          "main_dispatch_0,1,2,20,NSS_WAIT_END\n"
                          "main_dispatch_0,1,77,20,ALLOC_BEGIN\nmain_dispatch_0,1,77,21,ALLOC_END\n"
                          "main_dispatch_0,1,1,30,NSS_START_BEGIN\n"
                          "main_dispatch_0,1,1,31,NSS_START_END\n"
                          "other,1,1,32,ALLOC_BEGIN\nother,1,1,33,ALLOC_END\n");
  ASSERT_TRUE(log);
  EXPECT_EQ(lines_of(make_profile(*log, &*debug).notes),
            "actions that the debug information does not have\n"
            "NSS programs that were started and never waited for\n"
            "no debug information of dispatch other\n"
            "main_dispatch_0 > NSS_WAIT 2: what it waits for has no start in the log; in no sum\n");
}

TEST(LogProfile, OfALogWithoutEventsIsEmpty) {
  const auto log = log_of(header);
  ASSERT_TRUE(log);
  EXPECT_EQ(make_profile(*log).spans.size(), 0u);
}

// Lines cut, changed and repeated, in each of the three forms.
TEST(LogProfile, SurvivesAnyText) {
  const auto debug = load_debug_info(std::filesystem::path(data("debug_info")));
  ASSERT_TRUE(debug);
  const std::string forms[] = {
      contents(data("runtime.csv")),
      std::string(host_header) +
          "0,0,50,HOST_COPY_START,\"loc(\"\"a\"\":1:2)\"\n"
          "0,9,59,HOST_COPY_END,loc(unknown)\n1,9,59,NSS_START,\n",
      "id;time_since_open;time_since_start;location\n0;1060;18;loc(unknown)\n"};
  std::mt19937 random(23);
  for (int i = 0; i < 600; ++i) {
    std::string text = forms[random() % 3];
    text = text.substr(0, random() % (text.size() + 1));
    for (int k = 0; k < 8 && !text.empty(); ++k) {
      text[random() % text.size()] = char("0,-9;\n\"_BEGINDS"[random() % 15]);
    }
    const auto log = log_of(text);
    if (!log) continue;
    EXPECT_LE(make_profile(*log, &*debug).spans.size(), 2 * log->events.size() + 2);
  }
}

TEST(LogProfile, SurvivesTimesAtTheEnds) {
  const auto log = log_of(std::string(header) +
                          "d,1,0,-9223372036854775808,NSS_START_BEGIN\n"
                          "d,1,0,-9223372036854775808,NSS_START_END\n"
                          "d,1,1,9223372036854775807,NSS_WAIT_BEGIN\n"
                          "d,1,1,9223372036854775807,NSS_WAIT_END\n");
  ASSERT_TRUE(log);
  const Profile profile = make_profile(*log);
  ASSERT_EQ(profile.spans.size(), 3u);
  EXPECT_EQ(profile.spans.duration[2], std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace npuscope::torq::runtime_log_test
