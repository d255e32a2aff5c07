#include "formats/torq/timeline.hpp"

#include <gmock/gmock.h>

#include <random>

#include "formats/torq/files.hpp"

namespace npuscope::torq::timeline_test {
namespace {

using ::testing::HasSubstr;

std::string print(const CompileTimeline& timeline) {
  constexpr const char* events[] = {"in", "out", "l2d", "l2i", "d2l", "slice", "css"};
  std::string text;
  for (const TimelineRow& row : timeline.rows) {
    text += fmt::format("{} {} {} {}-{} {} {} {}\n", row.id, events[std::size_t(row.event)],
                        row.slice, row.start_cycles, row.end_cycles, row.bytes.value_or(-1),
                        timeline.strings[row.location], timeline.strings[row.operation]);
  }
  return text + lines_of(timeline.notes);
}

std::string read(std::string_view text) {
  const auto source = source_of(text);
  const auto timeline = read_timeline(*source);
  return timeline ? print(*timeline) : timeline.error().message;
}

// The hard location: commas and quotes, unquoted.
constexpr std::string_view fused = R"(loc(fused["a":1:2, callsite("b":3:4 at "c":5:6)]))";

TEST(Timeline, WithIds) {
  const std::string text = fmt::format(
      "DI0,0,45,{0},DMA_IN\nDO3,50,60,loc(unknown),DMA_OUT\n"
      "S0,45,50,{0},fully_connected_add\nS1,45,50,loc(unknown),unknown\n",
      fused);
  EXPECT_EQ(recognise_timeline(text), TimelineVersion::ids);
  EXPECT_EQ(read(text), fmt::format("0 in -1 0-45 -1 {0} \n3 out -1 50-60 -1 loc(unknown) \n"
                                    "0 slice -1 45-50 -1 {0} fully_connected_add\n"
                                    "1 slice -1 45-50 -1 loc(unknown) \n",
                                    fused));
}

TEST(Timeline, WithIdsAndBytes) {
  EXPECT_EQ(read(fmt::format("DI0,0,45,{0},DMA_IN,364\nCDMA_L2D0,45,46,{0},CDMA_LRAM_TO_DTCM,8\n"
                             "CDMA_L2I1,45,46,{0},CDMA_LRAM_TO_ITCM,8\n"
                             "CDMA_D2L2,46,47,{0},CDMA_DTCM_TO_LRAM,8\n"
                             "S0_1,47,50,{0},add\nCSS0,50,8050,{0},CSS\n",
                             fused)),
            fmt::format("0 in -1 0-45 364 {0} \n0 l2d -1 45-46 8 {0} \n1 l2i -1 45-46 8 {0} \n"
                        "2 d2l -1 46-47 8 {0} \n0 slice 1 47-50 -1 {0} add\n"
                        "0 css -1 50-8050 -1 {0} \n",
                        fused));
}

TEST(Timeline, WithAHeader) {
  for (const std::string_view first : {"actionIndex", "taskId"}) {
    const std::string text = fmt::format(
        "{0}, elapsed_time(us), timestamp(us), event, location, bytes\r\n"
        "6,56,122,DMA In,{1},264\r\n7,2,178,Slice 1,{1},\r\n8,8000,180,CSS,{1},\n"
        "9,1,181,CDMA DTCM to LRAM,\"loc(\"\"a\"\")\",4\n",
        first, fused);
    EXPECT_EQ(recognise_timeline(text),
              first == "taskId" ? TimelineVersion::task_id : TimelineVersion::action_index);
    EXPECT_EQ(read(text), fmt::format("6 in -1 122-178 264 {0} \n7 slice 1 178-180 -1 {0} \n"
                                      "8 css -1 180-8180 -1 {0} \n9 d2l -1 181-182 4 loc(\"a\") \n",
                                      fused));
  }
}

TEST(Timeline, CountsWhatIsNoRow) {
  EXPECT_EQ(read("taskId, elapsed_time(us), timestamp(us), event, location, bytes\n"
                 "1,2,3,DMA In,loc(unknown),1\nrubbish\n1,x,3,DMA In,loc(unknown),1\n"
                 "1,2,3,DMA Sideways,loc(unknown),1\n1,2,3,Slice 9999999999,loc(unknown),\n"
                 "1,-2,3,DMA In,loc(unknown),1\n1,2,-3,DMA In,loc(unknown),1\n"
                 "1,9223372036854775807,9,DMA In,loc(unknown),-5\n"),
            "1 in -1 3-5 1 loc(unknown) \n"
            "1 in -1 9-9223372036854775807 -1 loc(unknown) \n"
            "no row of a Torq timeline; left out, 4 times\n"
            "rows that end before they start, or start before 0; left out, 2 times\n"
            "fewer than 0 bytes; taken as not known\n");
  EXPECT_THAT(read("taskId, elapsed_time(us), timestamp(us), event, location, bytes\n"),
              HasSubstr("the dispatch that the compiler wrote last has no work of the NPU"));
  EXPECT_THAT(read("taskId, elapsed_time(us), timestamp(us), event, location, bytes\nrubbish\n"),
              HasSubstr("has no row"));
  EXPECT_THAT(read(""), HasSubstr("has no row"));
}

TEST(Timeline, IsNotTakenForALog) {
  EXPECT_EQ(recognise_timeline("actionIndex, elapsed_time(us), timestamp(us), event, location\n"),
            TimelineVersion::none);
  EXPECT_EQ(recognise_timeline("S1,2\n"), TimelineVersion::none);
  EXPECT_EQ(recognise_timeline("DIAGNOSIS,1,2,3,4\n"), TimelineVersion::none);
  EXPECT_EQ(recognise_timeline(""), TimelineVersion::none);
}

TEST(Timeline, BecomesAProfileInCycles) {
  const auto source = source_of(
      "DI0,0,45,loc(unknown),DMA_IN,364\nDO1,50,60,loc(unknown),DMA_OUT,12\n"
      "S0_1,45,50,loc(\"a\":3:4),add\n");
  const auto timeline = read_timeline(*source);
  ASSERT_TRUE(timeline);
  const Profile profile = make_profile(*timeline);
  EXPECT_EQ(profile.clocks[0].kind, ClockKind::unit_cycles);
  EXPECT_EQ(profile.clocks[0].rate.value, 0);
  std::string text;
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const Op& op = profile.ops[index_of(profile.spans.op[i])];
    text += fmt::format("{} {} {} {} {}+{}\n",
                        profile.text(profile.units[index_of(profile.spans.unit[i])].name),
                        profile.text(op.name), profile.text(op.kind),
                        profile.spans.kind[i] == SpanKind::transfer ? "transfer" : "op",
                        profile.spans.start[i], profile.spans.duration[i]);
  }
  EXPECT_EQ(
      text,
      "DMA In loc(unknown) DMA In transfer 0+45\nDMA Out loc(unknown) DMA Out transfer 50+10\n"
      "Slice 1 @L3C4 add op 45+5\n");
  const MeasureColumn* read_bytes = profile.spans.measure(*profile.strings.find("ddr read bytes"));
  ASSERT_NE(read_bytes, nullptr);
  EXPECT_EQ(read_bytes->values[0], 364);
  EXPECT_EQ(read_bytes->values[1], MeasureColumn::missing);
}

// Cut anywhere, it is read or refused.
TEST(Timeline, SurvivesAnyBytes) {
  std::mt19937 random(7);
  const std::string whole = fmt::format(
      "taskId, elapsed_time(us), timestamp(us), event, location, bytes\n6,56,122,DMA In,{},264\n",
      fused);
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole.substr(0, random() % (whole.size() + 1));
    for (int k = 0; k < 3 && !text.empty(); ++k) {
      text[random() % text.size()] = char("0,\"9-)\n S"[random() % 9]);
    }
    const auto source = source_of(text);
    const auto timeline = read_timeline(*source);
    if (!timeline) continue;
    EXPECT_EQ(make_profile(*timeline).spans.size(), timeline->rows.size());
  }
}

TEST(Timeline, OfTheSamples) {
  if (!have_samples()) GTEST_SKIP();
  for (const auto& [name, cycles] : {std::pair{"timeline_v0_ids.csv", 104},
                                     {"timeline_v1_ids_bytes.csv", 104},
                                     {"timeline_v3_taskId.csv", 181}}) {
    const auto source = open_byte_source(std::filesystem::path(sample(name)));
    ASSERT_TRUE(source);
    const auto timeline = read_timeline(**source);
    ASSERT_TRUE(timeline) << name;
    EXPECT_EQ(timeline->rows.size(), 9u);
    EXPECT_EQ(lines_of(timeline->notes), "");
    std::int64_t end = 0;
    for (const TimelineRow& row : timeline->rows) end = std::max(end, row.end_cycles);
    EXPECT_EQ(end, cycles) << name;
  }
}

}  // namespace
}  // namespace npuscope::torq::timeline_test
