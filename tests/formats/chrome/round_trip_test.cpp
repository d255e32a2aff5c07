// Chrome JSON to profile to Chrome JSON to profile: the second profile is the first.
#include <gmock/gmock.h>

#include <filesystem>

#include "formats/chrome/events.hpp"
#include "npuscope/formats/chrome/write.hpp"

namespace npuscope::chrome::round_trip_test {
namespace {

using ::testing::IsEmpty;

std::string written(const Profile& profile) {
  std::string text;
  write_trace(profile, [&](std::string_view piece) { text += piece; });
  return text;
}

Profile read_from(Result<std::unique_ptr<ByteSource>> source) {
  if (!source) {
    ADD_FAILURE() << source.error().message;
    return {};
  }
  auto events = read_events(**source);
  if (!events) {
    ADD_FAILURE() << events.error().message;
    return {};
  }
  return make_profile(std::move(*events));
}

Profile read(std::string_view text) { return read_from(open_byte_source(text, "trace.json")); }

std::string argument_text(const Profile& profile, const Argument& argument) {
  const bool is_text =
      argument.key.type == ArgumentType::text || argument.key.type == ArgumentType::json;
  return fmt::format(
      "{}:{}={}", profile.text(argument.key.name), int(argument.key.type),
      is_text ? std::string(profile.text(argument.text())) : fmt::format("{}", argument.bits));
}

// Everything that a generic profile holds, a line a row.
std::vector<std::string> rows_of(const Profile& profile) {
  std::vector<std::string> rows;
  for (const Unit& unit : profile.units) {
    rows.push_back(fmt::format("unit {} {} {} {} {}", profile.text(unit.name), int(unit.engine),
                               index_of(unit.parent), profile.text(unit.process_id),
                               profile.text(unit.thread_id)));
  }
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const Op& op = profile.ops[index_of(spans.op[row])];
    std::string text = fmt::format("span {} {} {} {} {} {}", index_of(spans.unit[row]),
                                   profile.text(op.name), profile.text(op.kind),
                                   int(spans.kind[row]), spans.start[row], spans.duration[row]);
    for (std::size_t i = 0; i < spans.arguments.count(row); ++i) {
      text += " " + argument_text(profile, spans.arguments.at(row, i));
    }
    rows.push_back(text);
  }
  for (const Flow& flow : profile.flows) {
    rows.push_back(fmt::format("flow {} {} {} {}", index_of(flow.from), index_of(flow.to),
                               profile.text(flow.name), profile.text(flow.category)));
  }
  const Counters& counters = profile.counters;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const CounterSeries& series = counters.series[counters.of[i]];
    rows.push_back(fmt::format("counter {} {} {} {} {}", index_of(series.unit),
                               profile.text(series.name), profile.text(series.part),
                               counters.time[i], counters.value[i]));
  }
  return rows;
}

TEST(RoundTrip, OfATraceWithEverything) {
  const Profile first = read(R"({"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"python \u00e9"}},
{"ph":"M","pid":1,"tid":"main","name":"thread_name","args":{"name":"ma\"in"}},
{"ph":"X","pid":1,"tid":"main","ts":0.5,"dur":10.25,"name":"step","cat":"user","args":{"a":1,"b":1.0,"c":"x","d":[1,{"e":null}],"f":true,"g":null,"h":18446744073709551615,"i":-2}},
{"ph":"X","pid":1,"tid":"main","ts":1,"dur":2,"name":"matmul","cat":"kernel"},
{"ph":"X","pid":1,"tid":"main","ts":4,"dur":0,"name":"empty"},
{"ph":"B","pid":1,"tid":7,"ts":-3.001,"name":"begun"},
{"ph":"E","pid":1,"tid":7,"ts":9,"args":{"z":1e300}},
{"ph":"b","pid":1,"tid":7,"ts":1,"id":"0x1","cat":"net","name":"request"},
{"ph":"e","pid":1,"tid":7,"ts":90,"id":"0x1","cat":"net","name":"request"},
{"ph":"i","pid":1,"tid":7,"ts":5,"s":"g","name":"loaded"},
{"ph":"I","pid":1,"tid":7,"ts":6,"name":"plain"},
{"ph":"C","pid":1,"tid":7,"ts":5,"name":"memory","args":{"used":1.5,"free":2}},
{"ph":"s","pid":1,"tid":"main","ts":1.5,"id":3,"cat":"ac2g","name":"launch"},
{"ph":"f","bp":"e","pid":1,"tid":7,"ts":2,"id":3,"cat":"ac2g","name":"launch"}
]})");
  const std::string text = written(first);
  const Profile second = read(text);
  EXPECT_EQ(rows_of(second), rows_of(first));
  EXPECT_EQ(written(second), text);
  EXPECT_EQ(rows_of(first).size(), 13u);
}

// Pages of the written trace added up all inferences.
TEST(RoundTrip, InferencesStay) {
  Profile first = read(R"([
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a"},
{"ph":"X","pid":1,"tid":1,"ts":20,"dur":10,"name":"a"},
{"ph":"X","pid":1,"tid":1,"ts":40,"dur":10,"name":"a"}])");
  first.spans.instance = {every_instance, 0, 7};
  first.provenance.inferences = 2;
  for (SpanKind& kind : first.spans.kind) kind = SpanKind::kernel;
  const Profile second = read(written(first));
  EXPECT_EQ(second.spans.instance, first.spans.instance);
  EXPECT_EQ(second.provenance.inferences, 2u);
}

// What overlaps is on tracks of its own in the file, and stays there.
TEST(RoundTrip, OfOverlappingSlicesKeepsEachOnItsTrack) {
  const Profile first = read(R"([
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a"},
{"ph":"X","pid":1,"tid":1,"ts":5,"dur":10,"name":"b"},
{"ph":"X","pid":1,"tid":1,"ts":12,"dur":10,"name":"c"}])");
  const Profile second = read(written(first));
  const Profile third = read(written(second));
  EXPECT_EQ(second.spans.size(), 3u);
  EXPECT_EQ(rows_of(third), rows_of(second));
  for (const Note& note : second.notes) EXPECT_EQ(note.message.find("overlap"), std::string::npos);
}

class RealTraces : public ::testing::TestWithParam<const char*> {};

TEST_P(RealTraces, KeepTheirSpansArgumentsAndFlows) {
  const auto path = std::filesystem::path(NPUSCOPE_SHARED_DIR "/data/chrome") / GetParam();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  // Events without a process get one, so compare from the first written file on.
  const Profile first = read(written(read_from(open_byte_source(path))));
  const std::string text = written(first);
  const Profile second = read(text);
  EXPECT_EQ(rows_of(second), rows_of(first));
  EXPECT_EQ(written(second), text);
}
INSTANTIATE_TEST_SUITE_P(Shared, RealTraces,
                         ::testing::Values("mi250_minitoy_train_ROCm6_2_kineto.json.gz",
                                           "mtia_inference_rank_0.json.gz",
                                           "triton_example.json.gz"));

}  // namespace
}  // namespace npuscope::chrome::round_trip_test
