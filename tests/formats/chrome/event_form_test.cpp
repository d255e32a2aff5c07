// What is read by the form of the event before it, and what is left to the general way.
#include "formats/chrome/parse/event_form.hpp"

#include <gmock/gmock.h>

#include "formats/chrome/text/chunk.hpp"
#include "formats/chrome/trace_text.hpp"

namespace npuscope::chrome::event_form_test {
namespace {

using testing::ElementsAre;

// With room before and behind it, as in a chunk.
class Text {
 public:
  explicit Text(std::string_view text)
      : kept_(std::string(TextBuffer::slack, 'x') + std::string(text) +
              std::string(TextBuffer::slack, '"')),
        size_(text.size()) {}
  const char* begin() const { return kept_.data() + TextBuffer::slack; }
  const char* end() const { return begin() + size_; }
  std::string_view text() const { return {begin(), size_}; }

 private:
  std::string kept_;
  std::size_t size_;
};

const std::string event =
    R"({"ph":"X", "name":"conv","ts":1.5,"dur":2,"pid":"a b","args":{"op":7,"dims":[1,2],"s":"t"}})";

struct Form {
  Text learnt;
  RawStrings strings;
  std::optional<EventForm> form;

  explicit Form(std::string_view text = event) : learnt(text) {
    form = EventForm::of(learnt.text(), strings);
  }
  // Nothing when it does not match to its end.
  std::vector<RawValue> raw_values_of(const Text& event) {
    std::vector<RawValue> found;
    const char* const behind =
        form->walk(event.begin(), event.end(), [&](const EventForm::Value& value, const char* at) {
          return take_value(at, event.end(), value.kind, found.emplace_back());
        });
    if (behind != event.end()) found.clear();
    return found;
  }
  // "no" when it does not match to its end.
  std::vector<std::string> values_of(std::string_view text) {
    const Text event(text);
    EXPECT_EQ(form->walk(event.begin(), event.end()) == event.end(), !raw_values_of(event).empty());
    std::vector<std::string> found;
    for (const RawValue& value : raw_values_of(event)) found.emplace_back(value.raw);
    return found.empty() ? std::vector<std::string>{"no"} : found;
  }
};

TEST(EventForm, FindsTheValuesOfAnEventOfTheSameForm) {
  Form form;
  ASSERT_TRUE(form.form);
  EXPECT_EQ(form.form->phase(), 'X');
  EXPECT_THAT(form.values_of(event), ElementsAre("conv", "1.5", "2", "a b", "7", "[1,2]", "t"));
  EXPECT_THAT(form.values_of(R"({"ph":"X", "name":"","ts":-1e9,"dur":null,"pid":"\u00e9\"","args":)"
                             R"({"op":true,"dims":{"}":"]"},"s":")"
                             "\xc3\xa9"
                             R"("}})"),
              ElementsAre("", "-1e9", "null", "\\u00e9\\\"", "true", R"({"}":"]"})", "\xc3\xa9"));
}

TEST(EventForm, ReadsPlainNumbersAndForgetsThoseOfTheEventBefore) {
  Form form(R"({"ph":"X","ts":1,"dur":"2","args":{"op":7}})");
  ASSERT_TRUE(form.form);
  const auto digits_of = [&](std::string_view text) {
    const Text event(text);
    std::vector<std::uint64_t> found;
    for (const RawValue& value : form.raw_values_of(event)) {
      found.push_back(value.decimal.any() ? value.decimal.digits : 999);
    }
    return found;
  };
  EXPECT_THAT(digits_of(R"({"ph":"X","ts":1.5,"dur":"3","args":{"op":-70}})"),
              ElementsAre(15, 999, 70));
  EXPECT_THAT(digits_of(R"({"ph":"X","ts":1e5,"dur":"4","args":{"op":null}})"),
              ElementsAre(999, 999, 999));
}

TEST(EventForm, IsNoMatchWhereAnyByteBetweenTheValuesIsAnother) {
  Form form;
  for (std::size_t i = 0; i < event.size(); ++i) {
    std::string changed = event;
    changed[i] = '\x01';
    EXPECT_THAT(form.values_of(changed), ElementsAre("no")) << "byte " << i;
    EXPECT_THAT(form.values_of(event.substr(0, i)), ElementsAre("no")) << i << " bytes";
  }
}

TEST(EventForm, LeavesBrokenTextsToTheGeneralWay) {
  Form form(R"({"ph":"X","name":"a"})");
  for (const char* name :
       {"\n", "\xff", "\xc3", "\\\n", "\\\xc3\xa9", "abcdefghijklmnopq\x7f\x80"}) {
    EXPECT_THAT(form.values_of(std::string(R"({"ph":"X","name":")") + name + "\"}"),
                ElementsAre("no"))
        << name;
  }
}

TEST(EventForm, IsOfPlainEventsOnly) {
  const auto is_form = [](std::string_view text) { return Form(text).form.has_value(); };
  EXPECT_TRUE(is_form(R"({"ph":"E","tts":1,"args":{}})"));
  EXPECT_FALSE(is_form(R"({"name":"no phase"})"));
  EXPECT_FALSE(is_form(R"({"ph":"XX"})"));
  EXPECT_FALSE(is_form(R"({"ph":1})"));
  EXPECT_FALSE(is_form(R"({"ph":"X","ts":1,"ts":2})"));
  EXPECT_FALSE(is_form(R"({"ph":"X","args":{"a":1,"a":2}})"));
  EXPECT_FALSE(is_form(R"({"ph":"b","id2":{"local":1}})"));
  EXPECT_FALSE(is_form(R"({"ph":"X","args":"__stripped__"})"));
  EXPECT_FALSE(is_form(R"({"ph":"X","n\u0061me":"a"})"));
  std::string many = R"({"ph":"X","args":{)";
  for (std::size_t i = 0; i <= EventForm::max_values; ++i) {
    many += (i == 0 ? "\"a" : ",\"a") + std::to_string(i) + "\":1";
  }
  EXPECT_FALSE(is_form(many + "}}"));
}

// A broken event behind many of its form costs itself and nothing else.
TEST(EventForm, AnEventBrokenBehindManySoundOnesIsLocated) {
  std::string trace = "[";
  std::uint64_t broken_at = 0;
  for (int i = 0; i < 200; ++i) {
    if (i > 0) trace += ",\n";
    if (i == 150) broken_at = trace.size();
    trace += R"({"ph":"X","name":"n","ts":)" + std::to_string(i) +
             (i == 150 ? R"(,"dur":1,"args":{"a":1x}})" : R"(,"dur":1,"args":{"a":1}})");
  }
  const Events events = test_support::read_text(trace + "]");
  EXPECT_EQ(events.slices.size(), 199u);
  ASSERT_EQ(events.notes.size(), 1u);
  EXPECT_EQ(events.notes[0].offset, broken_at);
}

TEST(EventForm, SeparatorsThatJsonHasNotAreNotTakenForOnes) {
  const std::string one = R"({"ph":"X","name":"n","ts":1,"dur":1})";
  std::string trace = "[" + one;
  for (int i = 0; i < 99; ++i) trace += "," + one;
  const auto notes_of = [&](const std::string& between) {
    const Events events = test_support::read_text(trace + between + one + "]");
    EXPECT_GE(events.slices.size(), 100u) << between;
    return events.notes.size();
  };
  EXPECT_EQ(notes_of(" ,\n"), 0u);
  EXPECT_EQ(notes_of(","), 0u);
  EXPECT_GT(notes_of(",7,"), 0u);
  EXPECT_GT(notes_of(",x "), 0u);
}

}  // namespace
}  // namespace npuscope::chrome::event_form_test
