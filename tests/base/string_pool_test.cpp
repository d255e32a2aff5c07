#include "npuscope/base/string_pool.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace npuscope::string_pool_test {
namespace {

TEST(StringPool, TheEmptyStringIsIdZero) {
  StringPool pool;
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(pool.intern(""), StringId::empty);
  EXPECT_EQ(pool[StringId::empty], "");
  EXPECT_NE(pool[StringId::empty].data(), nullptr);
}

TEST(StringPool, EqualTextsHaveOneId) {
  StringPool pool;
  const StringId conv = pool.intern("aicconvolutiond32");
  const StringId softmax = pool.intern("aicsoftmax");
  EXPECT_NE(conv, softmax);
  EXPECT_EQ(pool.intern(std::string("aicconvolution") + "d32"), conv);
  EXPECT_EQ(pool[conv], "aicconvolutiond32");
  EXPECT_EQ(pool.size(), 3u);
}

TEST(StringPool, BytesAreKeptAsTheyAre) {
  StringPool pool;
  const std::string_view with_zero("a\0b", 3);
  EXPECT_EQ(pool[pool.intern(with_zero)], with_zero);
  EXPECT_NE(pool.intern(with_zero), pool.intern("a"));
  EXPECT_EQ(pool[pool.intern("\xff\xfe")], "\xff\xfe");
}

TEST(StringPool, ViewsOutliveLaterInterning) {
  StringPool pool;
  const std::string_view first = pool[pool.intern("first")];
  for (int i = 0; i < 10'000; ++i) pool.intern(std::to_string(i));
  EXPECT_EQ(first, "first");
}

TEST(StringPool, CopiesAreIndependent) {
  StringPool copy;
  {
    StringPool original;
    original.intern("shared");
    copy = original;
    original.intern("only in the original");
  }
  EXPECT_EQ(copy.size(), 2u);
  EXPECT_EQ(copy[copy.intern("shared")], "shared");
  EXPECT_EQ(copy.size(), 2u);
  const StringPool another(copy);
  EXPECT_EQ(another[StringId{1}], "shared");
  const StringPool& itself = copy;
  copy = itself;
  EXPECT_EQ(copy.intern("shared"), StringId{1});
}

TEST(StringPool, ACopyAndItsOriginalGrowApart) {
  StringPool original;
  original.intern("shared");
  StringPool copy(original);
  const StringId mine = original.intern("first");
  const StringId other = copy.intern("second");
  EXPECT_EQ(mine, other);
  EXPECT_EQ(original[mine], "first");
  EXPECT_EQ(copy[other], "second");
  EXPECT_FALSE(copy.find("first"));
}

TEST(StringPool, FindsOnlyWhatIsThere) {
  StringPool pool;
  EXPECT_FALSE(pool.find("absent"));
  EXPECT_EQ(pool.size(), 1u);
  const StringId id = pool.intern("present");
  EXPECT_EQ(pool.find("present"), id);
  EXPECT_EQ(pool.find(""), StringId::empty);
}

TEST(StringPool, MovesKeepIdsAndLookup) {
  StringPool original;
  const StringId id = original.intern("short");
  StringPool moved(std::move(original));
  EXPECT_EQ(moved[id], "short");
  EXPECT_EQ(moved.intern("short"), id);
}

TEST(StringPool, AgreesWithAMapOverRandomTexts) {
  std::mt19937 random(7);
  StringPool pool;
  std::map<std::string, StringId> expected{{"", StringId::empty}};
  for (int i = 0; i < 20'000; ++i) {
    const std::string text(random() % 40, char('a' + random() % 3));
    const StringId id = pool.intern(text);
    const auto [known, is_new] = expected.emplace(text, id);
    ASSERT_EQ(known->second, id);
    ASSERT_EQ(pool[id], text);
  }
  EXPECT_EQ(pool.size(), expected.size());
}

TEST(StringPool, ManyTextsAtOnceGetTheIdsThatTheyWouldGetOneByOne) {
  std::vector<std::string> texts;
  for (int i = 0; i < 5'000; ++i) texts.push_back("text " + std::to_string(i * i % 3'001));
  texts.insert(texts.begin() + 70, "");
  StringPool one_by_one;
  std::vector<StringId> expected;
  for (const std::string& text : texts) expected.push_back(one_by_one.intern(text));
  StringPool at_once;
  std::vector<StringId> ids;
  at_once.intern(std::vector<std::string_view>(texts.begin(), texts.end()), ids);
  EXPECT_EQ(ids, expected);
  EXPECT_EQ(at_once.size(), one_by_one.size());
}

}  // namespace
}  // namespace npuscope::string_pool_test
