// The reader against a slow, obvious twin on nlohmann's document tree, on random sound traces, some
// of them longer than a chunk; and against itself on one processor core.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <random>

#include "formats/chrome/dom_twin.hpp"
#include "formats/chrome/trace_text.hpp"

namespace npuscope::chrome::read_events_twin_test {
namespace {

using test_support::Choices;
using test_support::RandomTrace;

void expect_like_twin(const std::string& trace) {
  const Events events = test_support::read_text(trace);
  const test_support::TwinTexts expected = test_support::read_by_twin(trace);
  ASSERT_EQ(test_support::slices_text(events), expected.slices) << trace.substr(0, 2000);
  ASSERT_EQ(test_support::marks_text(events), expected.marks) << trace.substr(0, 2000);
}

TEST(ReadEventsTwin, ReadsTheSameFromSmallTraces) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    expect_like_twin(RandomTrace(Choices(seed)).make(1 + seed % 30));
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(ReadEventsTwin, ReadsTheSameFromTracesOfManyChunks) {
  expect_like_twin(RandomTrace(Choices(1'000u)).make(30'000));
  expect_like_twin(RandomTrace(Choices(1'001u)).make(31'000));
}

TEST(ReadEventsTwin, ReadsTheSameWhereEventsRepeatTheirForms) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    expect_like_twin(RandomTrace(Choices(seed)).make(1 + seed % 90, 1 + seed % 20));
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  expect_like_twin(RandomTrace(Choices(3'000u)).make(30'000, 3));
}

// Values that repeat, and then begin as the last one did.
TEST(ReadEventsTwin, ReadsTheSameWhereValuesRepeat) {
  const std::vector<std::string> texts = {
      "",       "a",       "ab", "abcdefghijklmno", "abcdefghijklmnop", "abcdefghijklmnopq",
      "a\\\"b", "\xc3\xa9"};
  const std::vector<std::string> scalars = {"0",        "1",    "12",  "123",    "1234567",
                                            "12345678", "-1",   "1.5", "1.25e3", "123456.5",
                                            "true",     "null", "1e3", "-12",    "false"};
  const std::vector<std::string> containers = {
      "[]", "[1]", "[1,2]", "[[1]]", R"({"a":"]"})", R"({"a":[1,2,3,4,5,6,7,8,9]})"};
  std::mt19937 random(6);
  const auto changing = [&](const std::vector<std::string>& values) {
    return [&, last = values[0]]() mutable {
      if (random() % 4 == 0) last = values[random() % values.size()];
      return last;
    };
  };
  auto name = changing(texts);
  auto category = changing(texts);
  auto text = changing(texts);
  auto scalar = changing(scalars);
  auto number = changing(scalars);
  auto container = changing(containers);
  for (int round = 0; round < 20; ++round) {
    std::string trace = "[";
    for (int i = 0; i < 300; ++i) {
      const std::string space = random() % 50 == 0 ? " " : "";
      trace += (i == 0 ? R"({"ph":"X","name":")" : R"(,{"ph":"X","name":")") + name() +
               R"(","cat":")" + category() + R"(","ts":)" + std::to_string(i) + space +
               R"(,"dur":2,"args":{"s":")" + text() + R"(","n":)" + scalar() + R"(,"c":)" +
               container() + R"(},"other":)" + number() + "}";
    }
    expect_like_twin(trace + "]");
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(ReadEventsTwin, TheResultDoesNotDependOnTheNumberOfCores) {
  const std::string trace = RandomTrace(Choices(2'000u)).make(40'000);
  const auto everything = [&] {
    const Events events = test_support::read_text(trace);
    std::string text = test_support::threads_text(events) + test_support::slices_text(events) +
                       test_support::marks_text(events);
    for (std::size_t i = 0; i < events.strings.size(); ++i)
      text.append(events.strings[StringId(i)]) += '\n';
    for (const StringId name : events.slices.name)
      text += std::to_string(std::uint32_t(name)) + ' ';
    for (std::size_t row = 0; row < events.slices.arguments.size(); ++row)
      text += std::to_string(events.slices.arguments.shape(row)) + ' ';
    return text;
  };
  const std::string on_all = everything();
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_TRUE(everything() == on_all);
}

}  // namespace
}  // namespace npuscope::chrome::read_events_twin_test
