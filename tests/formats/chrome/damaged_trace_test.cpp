// Traces that are cut off, damaged or made to hurt: what can be kept is kept, the rest is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "formats/chrome/events.hpp"
#include "formats/chrome/trace_text.hpp"
#include "sanitized.hpp"

namespace npuscope::chrome::damaged_trace_test {
namespace {

using test_support::notes_text;
using test_support::read_text;
using test_support::slices_text;
using test_support::try_read;
using ::testing::HasSubstr;

std::string event(const std::string& name, int time) {
  return R"({"ph":"X","name":")" + name + R"(","pid":1,"tid":2,"ts":)" + std::to_string(time) +
         R"(,"dur":1,"args":{"a":"b","c":[1,{"d":2}]}})";
}

std::uint64_t count_of(const Events& events, std::string_view message) {
  for (const Note& note : events.notes) {
    if (note.message.find(message) != std::string::npos) return note.count;
  }
  return 0;
}

std::vector<std::string> names(const Events& events) {
  std::vector<std::string> names;
  for (const StringId name : events.slices.name) names.emplace_back(events.strings[name]);
  return names;
}

TEST(DamagedTrace, CutOffAnywhereItKeepsTheEventsBeforeTheCut) {
  const std::string head = R"({"displayTimeUnit":"ns","traceEvents":[)";
  const std::string whole =
      head + event("a", 1) + ",\n" + event("b", 2) + "," + event("c", 3) + R"(],"z":{"y":[1]}})";
  const std::size_t ends[] = {head.size() + event("a", 1).size(),
                              head.size() + event("a", 1).size() + 2 + event("b", 2).size(),
                              whole.find("],\"z\"")};
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto events = try_read(std::string_view(whole).substr(0, length));
    const auto expected =
        std::size_t(std::ranges::count_if(ends, [&](auto e) { return e <= length; }));
    ASSERT_EQ(events ? events->slices.size() : 0, expected) << length;
    if (!events) continue;
    EXPECT_EQ(count_of(*events, "the file ends in the middle"), 1u) << length;
  }
}

TEST(DamagedTrace, ABrokenEventIsLocatedAndTheOthersAreKept) {
  for (const std::string broken :
       {R"({"ph":"X","name":"bad)", R"({"ph":"X","name":"bad","ts":1,"dur":1)", R"({"ph":"X",})",
        R"({"ph":"X","name":"bad" "ts":1})", R"({"ph":"X","ts":tru})", R"({"ph":"X","ts":[1,})",
        R"({"ph":"X","args":{"a":[1}}})", R"({"ph":"X","args":{"a":01}})", R"(nonsense)",
        R"("text")", R"(17)", R"([1,2])", "{\"ph\":\"X\",\"name\":\"a\nb\",\"ts\":1}"}) {
    const std::string before = "[" + event("a", 1) + ",";
    const Events events =
        read_text(before + broken + "," + event("b", 2) + "," + event("c", 3) + "]");
    const auto found = names(events);
    ASSERT_GE(found.size(), 2u) << broken;
    EXPECT_EQ(found.front(), "a") << broken;
    EXPECT_EQ(found.back(), "c") << broken;
    ASSERT_FALSE(events.notes.empty()) << broken;
    EXPECT_GE(events.notes[0].offset + 1, before.size()) << broken;
    EXPECT_LE(events.notes[0].offset, before.size() + broken.size() + 1) << broken;
  }
}

// Wherever it stands: the last one too, one with objects in a list, one without a comma behind it.
TEST(DamagedTrace, ControlCharactersAndTrailingCommasAreReadAsMeant) {
  const std::string list = R"({"ph":"X","name":"m","pid":1,"tid":2,"ts":2,"dur":1,"args":)";
  for (const std::string& mendable :
       {event("m\n", 2), event("m\t\x01\\c", 2), list + "{\"a\":[1,2 , ]}}", list + "{\"a\":1,\n}}",
        list + "{\"s\":\"\\\"\n\",\"a\":[{\"b\":1}, {\"b\":2}, {\"b\":3}, {\"b\":4}]}}"}) {
    for (const std::string& text :
         {"[" + mendable + "]", "[" + event("a", 1) + "," + mendable + ",\n" + event("c", 3) + "]",
          R"({"traceEvents":[)" + event("a", 1) + mendable + event("b", 2) + mendable + "]}"}) {
      const Events events = read_text(text);
      const auto all = std::size_t(std::ranges::count(names(events), std::string("a")) +
                                   std::ranges::count(names(events), std::string("b")) +
                                   std::ranges::count(names(events), std::string("c")));
      std::size_t begun = 0;
      for (std::size_t at = 0; (at = text.find("\"ph\"", at)) != text.npos; ++at) ++begun;
      EXPECT_EQ(events.slices.size(), begun) << text;
      EXPECT_EQ(count_of(events, "control characters in strings or commas"), begun - all) << text;
      EXPECT_EQ(count_of(events, "broken events"), 0u) << text;
    }
  }
  EXPECT_EQ(names(read_text("[" + event("a\nb", 1) + "]")), std::vector<std::string>{"a\nb"});
}

TEST(DamagedTrace, AMemberWithControlCharactersCostsNoEvent) {
  const Events events = read_text("{\"note\":\"a\nb\",\"traceEvents\":[" + event("a", 1) + "," +
                                  event("b", 2) + "]}");
  EXPECT_EQ(names(events), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(events.field("note"), R"("a\u000ab")");
  EXPECT_EQ(
      notes_text(events.notes),
      "1 control characters in strings or commas before a closing bracket, read as meant @8\n");
}

// A quote that is missing makes a string of what follows: no event of that is lost for it.
TEST(DamagedTrace, ALostQuoteBeforeALineEndCostsOneEvent) {
  const Events events =
      read_text("[" + event("a", 1) + ",\n{\"ph\":\"X\",\"ts\":1,\"name\":\"x},\n" + event("b", 2) +
                ",\n" + event("c", 3) + "]");
  EXPECT_EQ(names(events), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(count_of(events, "broken events"), 1u);
}

TEST(DamagedTrace, BytesThatAreNotUtf8AreReplaced) {
  const Events events =
      read_text("[" +
                event("a\xff"
                      "b",
                      1) +
                "," + event("\xc3\xa9", 2) + "," + event("\xed\xa0\x80", 3) + "]");
  EXPECT_EQ(names(events),
            (std::vector<std::string>{"a\xef\xbf\xbd"
                                      "b",
                                      "\xc3\xa9", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}));
  EXPECT_EQ(notes_text(events.notes),
            "2 events with text that is not UTF-8, replaced by U+FFFD @1\n");
}

TEST(DamagedTrace, HalvesOfSurrogatePairsAreReplaced) {
  const Events events = read_text("[" + event(R"(a\ud800b)", 1) + "]");
  EXPECT_EQ(names(events), std::vector<std::string>{"a\xef\xbf\xbd"
                                                    "b"});
  EXPECT_EQ(notes_text(events.notes),
            "1 strings with broken escapes or halves of surrogate pairs, replaced by U+FFFD @19\n");
}

std::string many_events(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i == 0 ? "" : ",\n") + event("op" + std::to_string(i), i);
  return text;
}

TEST(DamagedTrace, ALostQuoteInALongTraceCostsOnlyEventsNearby) {
  constexpr int count = 60'000;  // some 5 MB
  for (const char separator : {'\n', ' '}) {
    std::string text = "[" + many_events(count) + "]";
    for (char& c : text) c = c == '\n' ? separator : c;
    const std::size_t quote = text.find("op30000\"") + 7;
    text[quote] = '_';
    const Events events = read_text(text);
    EXPECT_GE(events.slices.size(), std::size_t(count - 3));
    EXPECT_EQ(names(events).back(), "op59999");
    ASSERT_EQ(events.notes.size(), 1u);
    EXPECT_EQ(events.notes[0].message, "broken events, left out");
    EXPECT_NEAR(double(events.notes[0].offset), double(quote), 200);
  }
}

TEST(DamagedTrace, ALostBracketInALongTraceCostsOnlyEventsNearby) {
  constexpr int count = 60'000;
  for (const char lost : {'{', '}', '[', ']'}) {
    std::string text = R"({"traceEvents":[)" + many_events(count) + R"(],"z":1})";
    text[text.find(lost, text.find("op30000\""))] = ' ';
    const Events events = read_text(text);
    EXPECT_GE(events.slices.size(), std::size_t(count - 3)) << lost;
    EXPECT_EQ(names(events).back(), "op59999") << lost;
    EXPECT_FALSE(events.notes.empty()) << lost;
  }
}

TEST(DamagedTrace, DeepNestingIsABrokenEvent) {
  const std::string bomb = R"({"ph":"X","name":"deep","ts":1,"dur":1,"args":{"a":)";
  for (const std::size_t depth : {1'100u, 3'000'000u}) {
    const Events events =
        read_text("[" + event("a", 1) + "," + bomb + std::string(depth, '[') +
                  std::string(depth, ']') + "}}," + event("b", 2) + "," + event("c", 3) + "]");
    EXPECT_EQ(names(events).front(), "a");
    EXPECT_EQ(names(events).back(), "c");
    EXPECT_GE(count_of(events, "broken events"), 1u);
  }
  EXPECT_FALSE(try_read(std::string(5'000'000, '[')));
  EXPECT_FALSE(try_read(std::string(5'000'000, '{')));
  EXPECT_FALSE(try_read("{\"a\":" + std::string(5'000'000, '[')));
}

TEST(DamagedTrace, LongStringsAreKept) {
  const std::string name(20'000'000, 'x');
  const Events events = read_text("[" + event(name, 1) + "," + event("b", 2) + "]");
  EXPECT_EQ(names(events), (std::vector<std::string>{name, "b"}));
  EXPECT_TRUE(events.notes.empty());
}

TEST(DamagedTrace, WhiteSpaceWithoutEndIsNotKept) {
  const std::string space(10'000'000, ' ');
  EXPECT_EQ(names(read_text("[" + space + event("a", 1) + space + "," + space + event("b", 2) +
                            space + "]" + space)),
            (std::vector<std::string>{"a", "b"}));
}

TEST(DamagedTrace, ManyBrokenEventsCostLinearTime) {
  std::string text = "[";
  for (int i = 0; i < 100'000; ++i) text += R"({"a":"},)" + (i % 2 == 0 ? event("x", i) + "," : "");
  const auto events = try_read(text + "]");
  ASSERT_TRUE(events);
  EXPECT_GT(events->slices.size(), 40'000u);
}

TEST(DamagedTrace, DuplicateKeysWithoutNumberAreNotedOnce) {
  std::string args;
  for (int i = 0; i < 5'000; ++i)
    args += (i == 0 ? "" : ",") + std::string("\"k") + std::to_string(i % 100) + "\":1";
  const Events events =
      read_text(R"([{"ph":"X","name":"a","ts":1,"dur":1,"args":{)" + args + "}}]");
  EXPECT_EQ(events.slices.arguments.count(0), 100u);
  EXPECT_EQ(count_of(events, "a key twice"), 1u);
}

TEST(DamagedTrace, RandomDamageNeverCrashesAndKeepsMostOfTheRest) {
  std::mt19937 random(5);
  const std::string head = R"({"header":{"v":[1,2]},"traceEvents":[)";
  const std::string whole = head + many_events(40) + R"(],"z":1})";
  for (std::uint64_t round = 0; round < npuscope::test_support::rounds(3'000); ++round) {
    std::string text = whole;
    for (std::size_t i = 0; i < 1 + random() % 3; ++i) {
      const std::size_t at = head.size() + random() % (text.size() - head.size());
      switch (random() % 4) {
        case 0: text[at] ^= char(1 << random() % 8); break;
        case 1: text.erase(at, 1 + random() % 20); break;
        case 2: text.insert(at, 1, "{}[]\",:\\"[random() % 8]); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 100)); break;
      }
    }
    auto events = try_read(text);
    if (!events) continue;
    EXPECT_GE(events->slices.size(), 20u) << text;
    const Profile profile = make_profile(std::move(*events));
    EXPECT_GE(profile.spans.size(), 20u);
  }
}

}  // namespace
}  // namespace npuscope::chrome::damaged_trace_test
