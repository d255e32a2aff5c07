#include "fleet/tags.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace npuscope::fleet::tags_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(FleetTags, SetColumnsOfRunsOrStayTags) {
  const auto labels = Labels::parse({"build=123", "device=pixel-7", "soc=SM8650", "sdk=2.31",
                                     "model=resnet50", "time=2026-01-02T03:04:05Z", "lab=a=b"});
  ASSERT_TRUE(labels) << labels.error().message;
  EXPECT_EQ(labels->device, "pixel-7");
  EXPECT_EQ(labels->soc, "SM8650");
  EXPECT_EQ(labels->sdk, "2.31");
  EXPECT_EQ(labels->model, "resnet50");
  EXPECT_EQ(labels->time, 1'767'323'045);
  EXPECT_THAT(labels->tags, ElementsAre(Pair("build", "123"), Pair("lab", "a=b")));
}

TEST(FleetTags, ThatAreNoneAreRefusedInOneSentence) {
  const auto error = [](std::vector<std::string> texts) {
    const auto labels = Labels::parse(texts);
    return labels ? std::string("taken") : labels.error().message;
  };
  EXPECT_EQ(error({"build"}), "--tag build: not key=value, as in build=123");
  EXPECT_EQ(error({"build="}), "--tag build=: not key=value, as in build=123");
  EXPECT_THAT(error({"1x=2"}), HasSubstr("a key has letters, digits and _"));
  EXPECT_THAT(error({"a'b=2"}), HasSubstr("a key has letters, digits and _"));
  EXPECT_THAT(error({"a=1", "a=2"}), HasSubstr("the key 'a' is given twice"));
  EXPECT_THAT(error({"id=1"}), HasSubstr("runs has a column of that name"));
  EXPECT_THAT(error({"time=yesterday"}), HasSubstr("not a time"));
  EXPECT_THAT(error({"a=" + std::string(2'000, 'x')}), HasSubstr("longer than"));
}

TEST(FleetTags, AreNumbersWithoutExponents) {
  EXPECT_EQ(number_of_value("120"), 120);
  EXPECT_EQ(number_of_value("-1.5"), -1.5);
  for (const char* text : {"12e5", "1.2.3", "", "0x10", "nan", "1-2", "5."}) {
    EXPECT_EQ(number_of_value(text), std::nullopt) << text;
  }
}

TEST(FleetTags, TimesAreReadBackAsTheyArePrinted) {
  EXPECT_EQ(time_text(0), "1970-01-01T00:00:00Z");
  for (const std::int64_t time : {0L, 951'782'400L, 1'767'323'045L, 4'102'444'799L}) {
    EXPECT_EQ(time_of(time_text(time)), time);
  }
  EXPECT_EQ(time_of("2026-01-02"), 1'767'312'000);
  for (const char* text : {"2026-02-30", "2026-1-2", "2026-01-02T25:00:00", "now", "-5", ""}) {
    EXPECT_EQ(time_of(text), std::nullopt) << text;
  }
}

TEST(FleetTags, ATimeInNoYearOverflowedTheCalendar) {
  EXPECT_EQ(time_text(253'402'300'799), "9999-12-31T23:59:59Z");
  EXPECT_EQ(time_text(-62'167'219'200), "0000-01-01T00:00:00Z");
  for (const std::int64_t time : {std::numeric_limits<std::int64_t>::min(), -62'167'219'201L,
                                  253'402'300'800L, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(time_text(time), std::to_string(time));
  }
}

}  // namespace
}  // namespace npuscope::fleet::tags_test
