// More slices than one thread looks at: what is found part by part is what each slice says.
#include <fmt/format.h>

#include <algorithm>

#include "formats/qnn/generated_run.hpp"
#include "formats/qnn/scratch_files.hpp"

namespace npuscope::qnn::many_slices_test {
namespace {

constexpr std::int64_t base = 7'997'466'066'654;
constexpr std::size_t slices = 140'000;  // two parts of 65,536 and more
constexpr std::size_t ops = 1'000;

// Of slice i: that its Start Cycle or its duration is said to be another.
bool is_of_other(std::size_t i) { return i % 7 == 0; }
bool is_of_other_length(std::size_t i) { return i % 11 == 0; }

std::string trace() {
  std::string out =
      R"({"header":{"header_version":{"major":1,"minor":0,"patch":0},"version":{"major":1,"minor":1,)"
      R"("patch":0},"artifact_type":"OP_TRACE"},"traceEvents":[)"
      R"({"ph":"M","pid":0,"name":"process_name","args":{"name":"Core 0 Overview"}})";
  for (const int lane : {512, 513}) {
    out += fmt::format(
        R"(,{{"ph":"M","pid":0,"tid":{},"name":"thread_name","args":{{"name":"Type: HVX"}}}})",
        lane);
  }
  for (std::size_t i = 0; i < slices; ++i) {
    fmt::format_to(
        std::back_inserter(out),
        ",\n"
        R"({{"name":"q::Add","ph":"X","pid":0,"tid":{},"ts":{},"dur":4,"args":{{)"
        R"("ID":"0x{:016x}","HTP Op Type":"q::Add","Flags":["uses_hvx"],"Cycles per Packet":2.0,)"
        R"json("Start Cycle":{},"Note":{},"Duration (cycles)":{}}}}})json",
        512 + i % 2, 10 * i, (i % ops) << 32 | 0x12,
        base + std::int64_t(is_of_other(i) ? 11 * i + 1 : 10 * i), i,
        is_of_other_length(i) ? 9 : 4);
  }
  return out + "]}";
}

class ManySlices : public test::ScratchFiles {};

TEST_F(ManySlices, AreReadPartByPartAsTheyAre) {
  const Profile profile = read_one({write("trace.json", trace())});
  const Spans& spans = profile.spans;
  ASSERT_EQ(spans.size(), slices);
  EXPECT_EQ(profile.ops.size(), ops);
  const MeasureColumn* const path = test::column(profile, "dominant path");
  const MeasureColumn* const packets = test::column(profile, "packets");
  ASSERT_NE(path, nullptr);
  ASSERT_NE(packets, nullptr);
  for (std::size_t i = 0; i < slices; ++i) {
    ASSERT_EQ(spans.start[i], base + std::int64_t(10 * i));
    ASSERT_EQ(spans.duration[i], 4);
    ASSERT_EQ(profile.ops[index_of(spans.op[i])].id, (i % ops) << 32 | 0x12);
    ASSERT_EQ(profile.units[index_of(spans.unit[i])].lane, 512 + i % 2);
    ASSERT_EQ(path->values[i], 4);
    ASSERT_EQ(packets->values[i], is_of_other(i) ? MeasureColumn::missing : 2);
    std::string own;
    for (std::size_t place = 0; place < spans.arguments.count(i); ++place) {
      const Argument argument = spans.arguments.at(i, place);
      own += fmt::format("{} {}; ", profile.text(argument.key.name), *argument.as_number());
    }
    std::string expected = "Cycles per Packet 2; ";
    if (is_of_other(i))
      expected += fmt::format("Start Cycle {}; ", base + 11 * std::int64_t(i) + 1);
    expected += fmt::format("Note {}; ", i);
    if (is_of_other_length(i)) expected += "Duration (cycles) 9; ";
    ASSERT_EQ(own, expected);
  }
  const auto others = std::uint64_t((slices + 6) / 7);
  EXPECT_EQ(test::noted(profile, "repeat another slice's cycles"), others);
}

}  // namespace
}  // namespace npuscope::qnn::many_slices_test
