#include "formats/chrome/trace_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace npuscope::chrome::trace_events_test {
namespace {

using testing::HasSubstr;

constexpr TraceStyle compact{.events = {R"({"ph":?,"s":?,"bp":?,"id":?,"pid":?,"tid":?,"ts":?,)"
                                        R"("dur":?,"cat":?,"name":?,"args":?})"}};
constexpr TraceStyle wide{
    .events{R"({ "name": ?, "ph": ?, "tid": ?, "pid": ?, "ts": ?, "dur": ?, "args": ? })",
            {.first = " ", .between = ",", .colon = " : "}},
    .counter{R"({ "name": ?, "ph": ?, "tid":?, "ts":?, "args": ?})", JsonLayout::wide()},
    .time = TraceTime::as_they_are};

template <const TraceStyle& style, class Fill>
std::string text_of(Fill fill) {
  TextOutput out;
  TraceEvents<style> events(out);
  fill(events);
  return std::string(out.text());
}

TEST(TraceEvents, PrintsTheMembersThatAnEventHasInTheOrderOfTheStyle) {
  const std::string text = text_of<compact>([](auto& events) {
    events.add({.name = "a \"b\"", .process = 1, .thread = 2, .time = 1500, .duration = 250},
               [&] { events.json().member("op", 7); });
    events.add({.phase = TracePhase::instant,
                .name = "now",
                .category = "",
                .process = TraceId::of_json("\"rank 3\""),
                .time = 0,
                .scope = "t"});
    events.end();
  });
  EXPECT_EQ(text, R"(
{"ph":"X","pid":1,"tid":2,"ts":1.5,"dur":0.25,"name":"a \"b\"","args":{"op":7}},
{"ph":"i","s":"t","pid":"rank 3","ts":0,"cat":"","name":"now"}
]}
)");
}

TEST(TraceEvents, PrintsTheSameEventsAsAnotherToolDoes) {
  const std::string text = text_of<wide>([](auto& events) {
    events.add({.name = "a", .process = 1, .thread = 2, .time = 1500, .duration = 250}, [&] {
      events.json().member("op", 7);
      events.json().member("kind", "b");
    });
    events.add({.phase = TracePhase::counter, .name = "c", .thread = 0, .time = -3},
               [&] { events.json().member("", 5); });
  });
  EXPECT_EQ(text, R"(
{ "name": "a", "ph": "X", "tid": 2, "pid": 1, "ts": 1500, "dur": 250, "args": { "op" : 7,"kind" : "b"} },
{ "name": "c", "ph": "C", "tid":0, "ts":-3, "args": {"": 5}})");
}

TEST(TraceEvents, PrintTheSameByParts) {
  const TraceEvent event{.name = "a \"b\"",
                         .category = "kernel",
                         .process = 1,
                         .thread = TraceId::of_json("\"rank 3\""),
                         .time = 1500,
                         .duration = 250};
  for (const bool has_arguments : {true, false}) {
    const std::string whole = text_of<compact>([&](auto& events) {
      for (int i = 0; i < 2; ++i) {
        events.add(
            event, [&] { events.json().member("op", 7); }, has_arguments);
      }
    });
    const std::string by_parts = text_of<compact>([&](auto& events) {
      const TraceParts parts = events.parts(event);
      const std::string_view members = R"(,"op":7)";
      for (int i = 0; i < 2; ++i) {
        events.add(parts.before_time, 1500, 250, parts.after_duration, has_arguments,
                   members.size(), [&](char* at) { return print_text(at, members); });
      }
    });
    EXPECT_EQ(by_parts, whole);
  }
}

TEST(TraceEvents, BindTheEndsOfFlowsToTheSlicesAroundThem) {
  const std::string text = text_of<compact>([](auto& events) {
    events.add({.phase = TracePhase::flow_begin, .name = "f", .id = 4, .time = 1});
    events.add({.phase = TracePhase::flow_end, .name = "f", .id = 4, .time = 2});
    EXPECT_EQ(events.count(), 2u);
  });
  EXPECT_THAT(text, HasSubstr(R"({"ph":"s","id":4,"ts":0.001,"name":"f"})"));
  EXPECT_THAT(text, HasSubstr(R"({"ph":"f","bp":"e","id":4,"ts":0.002,"name":"f"})"));
}

TEST(TraceEvents, CloseAnEmptyList) {
  const std::string text = text_of<compact>([](auto& events) { events.end(); });
  EXPECT_TRUE(nlohmann::json::accept("{\"traceEvents\":[" + text));
}

template <TraceTime form>
std::string time(std::int64_t nanoseconds) {
  char text[max_time_size];
  return {text, print_time<form>(text, nanoseconds)};
}
template <TraceTime form>
std::string duration(std::int64_t nanoseconds) {
  char text[max_time_size];
  return {text, print_duration<form>(text, nanoseconds)};
}

TEST(TraceEvents, PrintTimesAsTheStyleSays) {
  constexpr auto min = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(time<TraceTime::as_they_are>(min), "-9223372036854775808");
  EXPECT_EQ(time<TraceTime::microseconds>(min), "-9223372036854775.808");
  EXPECT_EQ(time<TraceTime::microseconds>(1'000'000), "1000");
  EXPECT_EQ(time<TraceTime::microseconds>(-1'050), "-1.05");
  EXPECT_EQ(time<TraceTime::thousandths>(1'050), "1.050");
  EXPECT_EQ(time<TraceTime::thousandths>(-5), "-0.005");
}

TEST(TraceEvents, PrintFifthsSoThatNeighboursNeverOverlap) {
  EXPECT_EQ(time<TraceTime::fifths>(1'050), "1.0502");
  EXPECT_EQ(duration<TraceTime::fifths>(1'000), "0.9998");
  EXPECT_EQ(duration<TraceTime::fifths>(0), "0");
  EXPECT_EQ(duration<TraceTime::fifths>(-7), "0");
  EXPECT_EQ(duration<TraceTime::fifths>(std::numeric_limits<std::int64_t>::max()),
            "9223372036854775.8068");
}

}  // namespace
}  // namespace npuscope::chrome::trace_events_test
