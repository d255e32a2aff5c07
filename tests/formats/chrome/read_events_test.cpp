// What a trace's events become, as the format means them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/chrome/trace_text.hpp"

namespace npuscope::chrome::read_events_test {
namespace {

using test_support::marks_text;
using test_support::notes_text;
using test_support::read_text;
using test_support::slices_text;
using test_support::threads_text;
using test_support::try_read;
using ::testing::HasSubstr;

TEST(ReadEvents, ObjectsListsAndListsWithoutAnEndAreTraces) {
  const std::string event = R"({"ph":"X","name":"a","pid":1,"tid":2,"ts":3,"dur":4})";
  const std::string expected = "1/2 a 3000 +4000\n";
  for (const std::string& trace :
       {R"({"traceEvents":[)" + event + "]}",
        R"( { "a" : [1, {"b": "]"}], "traceEvents" : [ )" + event + "] , \"z\":1}",
        "[" + event + "]", "[" + event, "[" + event + ",", "[\n" + event + "\n,\n",
        "[" + event + ",]", "\xef\xbb\xbf[" + event + ",{}]\n",
        "[" + event + "]" + std::string(100, '\0')}) {
    const Events events = read_text(trace);
    EXPECT_EQ(slices_text(events), expected) << trace;
    EXPECT_EQ(notes_text(events.notes), "") << trace;
  }
}

TEST(ReadEvents, AnEmptyListIsATraceWithoutEvents) {
  EXPECT_EQ(read_text("[]").slices.size(), 0u);
  EXPECT_EQ(read_text(R"({"traceEvents":[]})").slices.size(), 0u);
}

TEST(ReadEvents, TellsWhatIsNoTrace) {
  for (const char* text : {"", "  ", "hello", "{}", R"({"a":[1,2]})", "12", "\"traceEvents\""}) {
    const auto events = try_read(text);
    ASSERT_FALSE(events) << text;
    EXPECT_THAT(events.error().message, HasSubstr("trace.json: not a Chrome trace")) << text;
  }
  EXPECT_EQ(try_read("[{]").error().message,
            "trace.json: not one event of it can be read: broken events, left out (first at byte "
            "1); copy it again");
}

TEST(ReadEvents, TimesAreThousandthsOfTheFilesUnit) {
  EXPECT_EQ(slices_text(read_text(R"([
    {"ph":"X","name":"a","ts":1682725898237042.001,"dur":0.5},
    {"ph":"X","name":"b","ts":"12.25","dur":"1e1"},
    {"ph":"X","name":"c","ts":2.13333e+06,"dur":1.9996},
    {"ph":"X","name":"d","ts":-5,"dur":0}])")),
            "/ a 1682725898237042001 +500\n"
            "/ b 12250 +10000\n"
            "/ c 2133330000 +2000\n"
            "/ d -5000 +0\n");
}

TEST(ReadEvents, TimesThatAreNoneAreNoted) {
  const Events events = read_text(R"([
    {"ph":"X","name":"a","ts":1,"dur":-2},
    {"ph":"X","name":"b","ts":1},
    {"ph":"X","name":"c","dur":1},
    {"ph":"X","name":"d","ts":NaN,"dur":1},
    {"ph":"X","name":"e","ts":1e300,"dur":1},
    {"ph":"X","name":"f","ts":{},"dur":1},
    {"ph":"X","name":"g","ts":2,"dur":Infinity}])");
  EXPECT_EQ(slices_text(events), "/ a 1000 +0\n/ b 1000 +0\n/ g 2000 +0\n");
  EXPECT_EQ(notes_text(events.notes),
            "1 X events with a negative duration (dur), taken as 0 @6\n"
            "2 X events without a usable duration (dur), taken as 0 @49\n"
            "4 events without a usable time (ts), left out @83\n");
}

TEST(ReadEvents, ProcessesAndThreadsAreNumbersOrTexts) {
  EXPECT_EQ(threads_text(read_text(R"([
    {"ph":"X","name":"a","pid":1,"tid":"loop","ts":0,"dur":1},
    {"ph":"X","name":"a","pid":"1","tid":"loop","ts":0,"dur":1},
    {"ph":"M","name":"thread_name","pid":"rank 3","tid":-7,"args":{"name":"worker"}},
    {"ph":"X","name":"a","pid":"rank 3","tid":-7,"ts":0,"dur":1},
    {"ph":"M","name":"process_name","pid":1,"args":{"name":"host"}},
    {"ph":"M","name":"process_name","pid":9,"tid":0,"args":{"name":"idle"}}])")),
            "1/loop: host, \n"
            "rank 3/-7: , worker\n"
            "9/: idle, \n");
}

TEST(ReadEvents, MetadataMayFollowAndLaterOnesCount) {
  const Events events = read_text(R"([
    {"ph":"X","name":"a","pid":1,"tid":2,"ts":0,"dur":1},
    {"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"old"}},
    {"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"new"}},
    {"ph":"M","name":"thread_sort_index","pid":1,"tid":2,"args":{"sort_index":-4}},
    {"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":"7"}},
    {"ph":"M","name":"process_labels","pid":1,"args":{"labels":"GPU 0"}}])");
  ASSERT_EQ(events.threads.size(), 1u);
  EXPECT_EQ(events.strings[events.threads[0].thread_name], "new");
  EXPECT_EQ(events.threads[0].thread_sort_index, -4);
  EXPECT_EQ(events.threads[0].process_sort_index, 7);
  EXPECT_EQ(events.strings[events.threads[0].process_labels], "GPU 0");
  EXPECT_EQ(events.marks.size(), 0u);
}

TEST(ReadEvents, MetadataThatSaysMoreStaysAmongTheMarks) {
  EXPECT_EQ(marks_text(read_text(R"([
    {"ph":"M","name":"process_name","pid":2,"args":{"name":"QNN::Input","opid":"0x02"}},
    {"ph":"M","name":"num_cpus","pid":2,"args":{"number":8}}])")),
            "M 2/ process_name [] @0 # {name: \"QNN::Input\", opid: \"0x02\"}\n"
            "M 2/ num_cpus [] @0 # {number: 8}\n");
}

TEST(ReadEvents, ArgumentsKeepTheirTypes) {
  EXPECT_EQ(slices_text(read_text(R"([{"ph":"X","name":"a","ts":0,"dur":1,"args":{
      "i":-3,"u":18446744073709551615,"f":1.5,"e":1e3,"big":123456789012345678901234,
      "t":true,"n":null,"s":"x\ny \u00e9 \ud83d\ude00","l":[1, {"a" : 2}],"nan":NaN,"":7}}])")),
            "/ a 0 +1000 {i: -3, u: 18446744073709551615u, f: 1.5f, e: 1000f, big: "
            "1.2345678901234569e+23f, t: true, n: null, s: \"x\ny \xc3\xa9 \xf0\x9f\x98\x80\", "
            "l: json [1, {\"a\" : 2}], nan: nanf, : 7}\n");
}

// An export with such a number in it was refused by readers that take numbers for doubles.
TEST(ReadEvents, NestedNumbersBeyondADoubleAreNull) {
  const std::string nines(400, '9');
  const std::string nested = R"({"a": 1e3089, "b": [-1E400, 1e308, 1e-400, 0.)" + nines + ", " +
                             nines + R"(, -Infinity], "1e999": "NaN \" 1e999"})";
  EXPECT_EQ(slices_text(read_text(R"([{"ph":"X","name":"a","ts":0,"dur":1,"args":{"x":)" + nested +
                                  "}}])")),
            R"(/ a 0 +1000 {x: json {"a": null, "b": [null, 1e308, 1e-400, 0.)" + nines +
                R"(, null, null], "1e999": "NaN \" 1e999"}})"
                "\n");
}

TEST(ReadEvents, ShapesAreSharedByEventsThatLookAlike) {
  const Events events = read_text(R"([
    {"ph":"X","name":"a","ts":0,"dur":1,"args":{"x":1,"y":"p"}},
    {"ph":"X","name":"b","ts":0,"dur":1,"args":{"x":2,"y":"q"}},
    {"ph":"X","name":"a","ts":0,"dur":1,"args":{"x":1.5,"y":"p"}},
    {"ph":"X","name":"a","ts":0,"dur":1,"args":{"x":1}},
    {"ph":"X","name":"a","ts":0,"dur":1,"args":{"x":1,"y":"p","z":0}},
    {"ph":"X","name":"a","ts":0,"dur":1},
    {"ph":"X","name":"a","ts":0,"dur":1,"args":{"x":3,"y":"r"}}])");
  EXPECT_EQ(slices_text(events),
            "/ a 0 +1000 {x: 1, y: \"p\"}\n/ b 0 +1000 {x: 2, y: \"q\"}\n"
            "/ a 0 +1000 {x: 1.5f, y: \"p\"}\n/ a 0 +1000 {x: 1}\n"
            "/ a 0 +1000 {x: 1, y: \"p\", z: 0}\n/ a 0 +1000\n/ a 0 +1000 {x: 3, y: \"r\"}\n");
  EXPECT_EQ(events.slices.arguments.shapes.size(), 5u);
}

TEST(ReadEvents, OtherMembersOfAnEventStayWithItsArguments) {
  EXPECT_EQ(slices_text(read_text(R"([{"ph":"X","name":"a","ts":0,"dur":1,"tts":5,"id":"0x1",
      "args":{"x":1},"cname":"good"}])")),
            "/ a 0 +1000 {x: 1, id: \"0x1\", tts: 5, cname: \"good\"}\n");
}

TEST(ReadEvents, MembersOfWrongTypesAreTakenAsText) {
  EXPECT_EQ(slices_text(read_text(R"([{"ph":"X","name":5,"cat":["x"],"pid":{"a":1},"tid":null,
      "ts":0,"dur":1,"args":"__stripped__"},
      {"ph":"X","name":null,"cat":true,"ts":0,"dur":1,"args":null}])")),
            "{\"a\":1}/ 5 [[\"x\"]] 0 +1000 {args: \"__stripped__\"}\n/  [true] 0 +1000\n");
}

TEST(ReadEvents, OfDuplicateKeysTheLastCounts) {
  const Events events = read_text(R"([
    {"ph":"B","ph":"X","name":"old","name":"new","ts":9,"ts":1,"dur":1,"args":{"a":1},
     "args":{"x":1,"y":2,"x":"3"}}])");
  EXPECT_EQ(slices_text(events), "/ new 1000 +1000 {x: \"3\", y: 2}\n");
  EXPECT_EQ(notes_text(events.notes),
            "1 events that have a key twice, the last of which counts @6\n");
}

TEST(ReadEvents, BeginsAndEndsPairInTheOrderOfTimeOnEachThread) {
  const Events events = read_text(R"([
    {"ph":"E","ts":50,"pid":1,"tid":1},
    {"ph":"B","name":"outer","cat":"c","ts":10,"pid":1,"tid":1,"args":{"a":1,"b":2}},
    {"ph":"B","name":"inner","ts":20,"pid":1,"tid":1},
    {"ph":"B","name":"other","ts":15,"pid":1,"tid":2},
    {"ph":"E","ts":30,"pid":1,"tid":1,"args":{"r":true}},
    {"ph":"X","name":"x","ts":40,"dur":30,"pid":1,"tid":2},
    {"ph":"E","name":"outer","ts":60,"pid":1,"tid":1,"args":{"b":3}},
    {"ph":"E","name":"nobody","ts":61,"pid":1,"tid":1}])");
  EXPECT_EQ(slices_text(events),
            "1/1 outer [c] 10000 +40000 {a: 1, b: 2}\n"
            "1/1 inner [] 20000 +10000 {r: true}\n"
            "1/2 other [] 15000 +55000\n"
            "1/2 x [] 40000 +30000\n");
  EXPECT_EQ(notes_text(events.notes),
            "1 B events without an E, taken to last until their thread's last event @0\n"
            "2 E events without a B, left out @0\n");
}

TEST(ReadEvents, ArgumentsOfManyBeginsAndEndsStayWithTheirSlices) {
  std::string trace = "[";
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    const bool begins = i % 3 != 0, ends = i % 5 != 0;
    trace += fmt::format(R"({{"ph":"B","name":"s","ts":{}{}}},{{"ph":"E","ts":{}{}}},)", 2 * i,
                         begins ? fmt::format(R"(,"args":{{"a":{},"b":0.25}})", i) : "", 2 * i + 1,
                         ends ? fmt::format(R"(,"args":{{"b":{},"c":"x"}})", 7 * i) : "");
    expected += fmt::format("/ s {} +1000", 2000 * i);
    if (begins && ends) expected += fmt::format(" {{a: {}, b: {}, c: \"x\"}}", i, 7 * i);
    if (begins && !ends) expected += fmt::format(" {{a: {}, b: 0.25f}}", i);
    if (!begins && ends) expected += fmt::format(" {{b: {}, c: \"x\"}}", 7 * i);
    expected += '\n';
  }
  EXPECT_EQ(slices_text(read_text(trace + "]")), expected);
}

TEST(ReadEvents, ABeginThatStandsBehindAnEndOfItsTimeComesAfterIt) {
  EXPECT_EQ(slices_text(read_text(R"([
    {"ph":"B","name":"a","ts":1},{"ph":"E","ts":2},{"ph":"B","name":"b","ts":2},{"ph":"E","ts":2}])")),
            "/ a 1000 +1000\n/ b 2000 +0\n");
}

TEST(ReadEvents, OverlappingBeginsAndEndsPairByName) {
  EXPECT_EQ(slices_text(read_text(R"([
    {"ph":"B","name":"a","ts":1},{"ph":"B","name":"b","ts":2},
    {"ph":"E","name":"a","ts":3},{"ph":"E","name":"b","ts":4}])")),
            "/ a 1000 +2000\n/ b 2000 +2000\n");
}

TEST(ReadEvents, EverythingElseBecomesMarks) {
  const Events events = read_text(R"([
    {"ph":"b","name":"req","cat":"net","id":1,"ts":1,"pid":4,"tid":5},
    {"ph":"e","name":"req","cat":"net","id":"1","ts":2,"scope":"s","pid":4,"tid":5},
    {"ph":"n","name":"req","id2":{"local":"0x5"},"ts":2,"pid":4,"tid":5},
    {"ph":"i","name":"now","s":"g","ts":3},
    {"ph":"C","name":"mem","ts":3,"args":{"":65536,"free":1.5}},
    {"ph":"s","name":"f","cat":"c","id":7,"ts":3},
    {"ph":"f","name":"f","cat":"c","id":7,"ts":4,"pb":"e"},
    {"ph":"O","name":"obj","id":"0x9","ts":5,"args":{"snapshot":{"a":[1]}}},
    {"ph":"P","name":"sample","ts":5,"sf":12},
    {"ph":"?","name":"odd","ts":6}])");
  EXPECT_EQ(marks_text(events),
            "b 4/5 req [net] @1000 #1\n"
            "e 4/5 req [net] @2000 #s:1\n"
            "n 4/5 req [] @2000 #4/0x5\n"
            "i / now [] @3000 # {s: \"g\"}\n"
            "C / mem [] @3000 # {: 65536, free: 1.5f}\n"
            "s / f [c] @3000 #7\n"
            "f / f [c] @4000 #7 e\n"
            "O / obj [] @5000 #0x9 {snapshot: json {\"a\":[1]}}\n"
            "P / sample [] @5000 # {sf: 12}\n"
            "? / odd [] @6000 #\n");
  EXPECT_THAT(notes_text(events.notes), HasSubstr("1 events of unknown phases (ph) @"));
}

TEST(ReadEvents, TheOtherTopLevelMembersAreKept) {
  const Events events = read_text(
      R"({"displayTimeUnit":"ns","header":{"a": [1,2]},"traceEvents":[],"n":12 ,"s":"x"})");
  EXPECT_EQ(events.field("displayTimeUnit"), "\"ns\"");
  EXPECT_EQ(events.field("header"), "{\"a\": [1,2]}");
  EXPECT_EQ(events.field("n"), "12");
  EXPECT_EQ(events.field("s"), "\"x\"");
  EXPECT_EQ(events.field("missing"), "");
}

TEST(ReadEvents, APhaseOfSeveralLettersWasNone) {
  const Events events = read_text(R"([{"ph":"XXX","name":"a","pid":1,"tid":2,"ts":3,"dur":4},
                                      {"ph":"","name":"b","ts":5}])");
  EXPECT_EQ(events.slices.size(), 0u);
  EXPECT_EQ(marks_text(events), "? 1/2 a [] @3000 # {dur: 4, ph: \"XXX\"}\n");
  EXPECT_THAT(notes_text(events.notes), HasSubstr("1 events of unknown phases (ph) @1"));
  EXPECT_THAT(notes_text(events.notes), HasSubstr("1 events without a phase (ph), left out"));
}

TEST(ReadEvents, SlicesWithoutAnEndOutlastedOnesAroundThemThatHaveOne) {
  const Events events = read_text(R"([
    {"ph":"B","name":"outer","ts":10},{"ph":"B","name":"inner","ts":11},
    {"ph":"B","name":"inmost","ts":12},{"ph":"E","name":"inner","ts":20},
    {"ph":"E","name":"outer","ts":30},{"ph":"i","name":"last","ts":90},
    {"ph":"B","name":"open","ts":40},{"ph":"X","name":"x","ts":50,"dur":1}])");
  EXPECT_EQ(slices_text(events),
            "/ outer 10000 +20000\n"
            "/ inner 11000 +9000\n"
            "/ inmost 12000 +8000\n"
            "/ open 40000 +11000\n"
            "/ x 50000 +1000\n");
  EXPECT_EQ(notes_text(events.notes),
            "1 B events without an E, taken to last until their thread's last event @0\n"
            "1 B events without an E inside a slice that has one, taken to end with it @0\n");
}

}  // namespace
}  // namespace npuscope::chrome::read_events_test
