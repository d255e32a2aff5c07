#include "formats/snapshot/snapshot.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/compare.hpp"
#include "npuscope/analysis/samples.hpp"

namespace npuscope::snapshot::snapshot_test {
namespace {

using analysis::RunSamples;
using test_support::ProfileBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

// Three inferences of three ops in a row, the last of which runs in one inference only.
Profile small_run() {
  ProfileBuilder made;
  Profile& profile = made.profile;
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  std::int64_t now = 0;
  for (std::uint32_t inference = 0; inference < 3; ++inference) {
    for (const char* op : {"conv \"1\"", "relu", "pool"}) {
      if (inference != 1 && std::string_view(op) == "pool") continue;
      const auto end = now + 10 * (inference + 1);
      made.span(hmx, op, now, end, SpanKind::op, "kernel");
      profile.spans.instance.push_back(inference);
      now = end;
    }
  }
  profile.edges = {{OpId{0}, OpId{1}, EdgeKind::data}, {OpId{1}, OpId{2}, EdgeKind::data}};
  profile.provenance = {{"/home/user/run.json"},
                        "test",
                        "1",
                        "NPU",
                        Provenance::Platform::hexagon,
                        "htp-v75",
                        "graph",
                        false,
                        "full",
                        3,
                        Provenance::Temperature::cold_then_warm};
  profile.notes = {{Severity::warning, "/home/user/run.json", 7, "something is lost", 2}};
  return std::move(made.profile);
}

std::string text_of(const Profile& profile, int runs = 1) {
  const RunSamples samples(profile);
  const std::vector<SnapshotRun> all(std::size_t(runs), {&profile, samples.numbers()});
  return *write_snapshot(all);
}

std::string error_of(std::string_view text) {
  const auto read = read_snapshot(text, "a.npu");
  return read ? "" : read.error().message;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

TEST(Snapshot, HoldsTheNumbersToTheLastDigit) {
  const Profile profile = small_run();
  const RunSamples before(profile);
  const auto read = read_snapshot(text_of(profile), "a.npu");
  ASSERT_TRUE(read) << read.error().message;
  const RunSamples after(read->front());
  ASSERT_EQ(after.metrics().size(), before.metrics().size());
  for (std::size_t i = 0; i < before.metrics().size(); ++i) {
    const Metric &was = before.metrics()[i], &is = after.metrics()[i];
    EXPECT_EQ(is.name, was.name);
    EXPECT_EQ(is.kind, was.kind);
    EXPECT_EQ(is.time, was.time);
    EXPECT_EQ(is.samples, was.samples) << is.name;
    EXPECT_EQ(is.of_run, was.of_run);
    EXPECT_EQ(is.repeats, was.repeats);
    EXPECT_EQ(is.meaning, was.meaning);
  }
  EXPECT_EQ(after.op_columns(), before.op_columns());
  for (const std::string& column : before.op_columns()) {
    const OpSamples was = *before.op_samples(column), is = *after.op_samples(column);
    EXPECT_EQ(is.inferences, was.inferences);
    EXPECT_EQ(is.first, was.first);
    EXPECT_EQ(is.entries, was.entries);
  }
  for (std::uint32_t group = 0; group < before.groups().groups().size(); ++group) {
    EXPECT_EQ(after.groups().groups()[group].label, before.groups().groups()[group].label);
    EXPECT_EQ(after.groups().before(group), before.groups().before(group));
    EXPECT_EQ(after.groups().after(group), before.groups().after(group));
  }
  EXPECT_EQ(after.inferences(), before.inferences());
  const Provenance& from = read->front().provenance;
  EXPECT_EQ(from.format, "test");
  EXPECT_EQ(from.graph, "graph");
  EXPECT_EQ(from.temperature, Provenance::Temperature::cold_then_warm);
  EXPECT_EQ(read->front().notes[0].message, "something is lost");
  EXPECT_EQ(read->front().notes[0].offset, 7u);
}

TEST(Snapshot, OfTheSameRunIsTheSameText) {
  const std::string text = text_of(small_run());
  EXPECT_EQ(text_of(small_run()), text);
  const auto read = read_snapshot(text, "a.npu");
  EXPECT_EQ(text_of(read->front()), text);  // of itself
}

TEST(Snapshot, HasNoFolderOfTheMachineItWasMadeOn) {
  EXPECT_THAT(text_of(small_run()), Not(HasSubstr("/home")));
}

TEST(Snapshot, HasAnOpALine) {
  const std::string text = text_of(small_run());
  EXPECT_THAT(text, HasSubstr("\n {\"op\": \"relu\", \"kernel\": \"kernel\", \"count\": 1, "
                              "\"feeds\": [1], \"values\": [[10, 20, 30]]},\n"));
  EXPECT_THAT(text, HasSubstr("\n {\"op\": \"pool\", \"kernel\": \"kernel\", \"count\": 1, "
                              "\"values\": [[null, 20, null]]},\n"));
}

TEST(Snapshot, HasTheOpsOfSeveralRunsOnce) {
  const Profile profile = small_run();
  const std::string one = text_of(profile), three = text_of(profile, 3);
  EXPECT_THAT(three, HasSubstr("\"ops_of_run\": 1"));
  const auto count = [](const std::string& text) {
    std::size_t found = 0;
    for (auto at = text.find("\"op\":"); at != text.npos; at = text.find("\"op\":", at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count(three), count(one));
  const auto read = read_snapshot(three, "a.npu");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 3u);
  const RunSamples first((*read)[0]), last((*read)[2]);
  EXPECT_EQ(last.op_samples("work")->entries, first.op_samples("work")->entries);
  EXPECT_EQ(last.groups().groups()[1].label, "relu");
}

// By which ops are matched where their names hold lines of a source.
TEST(Snapshot, HasWhatOpsAreCalledInEveryCompile) {
  Profile profile = small_run();
  profile.ops[1].identity = profile.strings.intern("relu 0");
  const auto read = read_snapshot(text_of(profile), "a.npu");
  ASSERT_TRUE(read) << read.error().message;
  const auto& groups = read->front().numbers->groups;
  EXPECT_EQ(groups[0].identity, "");
  EXPECT_EQ(groups[1].identity, "relu 0");
  const analysis::OpGroups kept(read->front()), made(profile), without(small_run());
  EXPECT_TRUE(kept.has_identities());
  EXPECT_TRUE(made.has_identities());
  EXPECT_FALSE(without.has_identities());
}

TEST(Snapshot, OfANewerVersionIsRefusedInOneSentence) {
  const std::string newer =
      replaced(text_of(small_run()), "\"npuscope_snapshot\": 1", "\"npuscope_snapshot\": 9");
  EXPECT_TRUE(looks_like(newer));
  EXPECT_EQ(error_of(newer),
            "a.npu: a snapshot of version 9, and this npuscope reads versions up to 1; use a newer "
            "npuscope, or make the snapshot again with this one");
}

TEST(Snapshot, ThatIsDamagedSaysWhere) {
  const std::string text = text_of(small_run());
  EXPECT_THAT(error_of(replaced(text, "\"in\": \"time\"", "\"in\": \"fun\"")),
              HasSubstr("a.npu: the snapshot is damaged: run 1: 'in' is not time, bytes, count"));
  EXPECT_THAT(error_of(replaced(text, "\"clock\": 0", "\"clock\": 7")),
              HasSubstr("'clock' is not one of the clocks"));
  EXPECT_THAT(error_of(replaced(text, "\"feeds\": [1]", "\"feeds\": [99]")),
              HasSubstr("'feeds' is not a list of lines that are there"));
  EXPECT_THAT(error_of(replaced(text, "[null, 20, null]", "[null, 20, null, 1]")),
              HasSubstr("'values' is not as long as the list that it belongs to"));
  EXPECT_THAT(error_of(replaced(text, "\"inferences\": [0, 1, 2]", "\"inferences\": []")),
              HasSubstr("'inferences' is not"));
  EXPECT_THAT(error_of(replaced(text, "\"inferences\": [0, 1, 2]", "\"inferences\": [2, 1, 0]")),
              HasSubstr("'inferences' is not a list in rising order"));
  EXPECT_THAT(error_of(replaced(text, "\"kind\": \"wall\"", "\"kind\": \"new\"")),
              HasSubstr("'kind' is not a word that this version of npuscope knows"));
  EXPECT_THAT(error_of("{\"npuscope_snapshot\": 1}"),
              HasSubstr("'runs' is not a list of at least"));
  EXPECT_THAT(error_of("{\"npuscope_snapshot\": 1, \"runs\": [7]}"), HasSubstr("damaged"));
  EXPECT_THAT(error_of(text.substr(0, text.size() / 2)), HasSubstr("take it from git again"));
  const std::string three = text_of(small_run(), 3);
  EXPECT_THAT(error_of(replaced(three, "\"ops_of_run\": 1", "\"ops_of_run\": 2")),
              HasSubstr("'ops_of_run' is not the number of an earlier run"));
}

TEST(Snapshot, OfAFewBytesDoesNotFillTheMemory) {
  std::string ids, ops;
  for (int i = 0; i < 30'000; ++i) ids += (i > 0 ? "," : "") + std::to_string(i);
  for (int i = 0; i < 1'000; ++i) ops += std::string(i > 0 ? "," : "") + "{\"values\":[1]}";
  const std::string text =
      "{\"npuscope_snapshot\": 1, \"runs\": [{\"format\": \"x\", \"inferences\": [0], "
      "\"op_columns\": [{\"name\": \"c\", \"kind\": \"work\", \"in\": \"count\", \"inferences\": "
      "[" +
      ids + "]}], \"ops\": [" + ops + "], \"findings\": {}}]}";
  EXPECT_THAT(error_of(text), HasSubstr("at most 5000000 numbers in all"));
}

TEST(Snapshot, FlippedAndCutBytesGiveARunOrAnError) {
  const std::string text = text_of(small_run(), 2);
  const Profile profile = small_run();
  const RunSamples of_profile(profile);
  const std::span<const RunSamples> whole(&of_profile, 1);
  std::size_t compared = 0;
  std::mt19937_64 random(17);
  for (int i = 0; i < 4'000; ++i) {
    std::string broken = text;
    for (std::size_t flips = 1 + random() % 3; flips > 0; --flips) {
      broken[random() % broken.size()] = char(i % 2 == 0 ? '0' + random() % 10 : random());
    }
    if (random() % 4 == 0) broken.resize(random() % broken.size());
    const auto read = read_snapshot(broken, "a.npu");
    if (!read) continue;
    std::vector<const Profile*> profiles;
    for (const Profile& each : *read) profiles.push_back(&each);
    const std::vector<RunSamples> runs = analysis::samples_of(profiles);
    if (const auto comparer = analysis::Comparer::make(runs, whole)) comparer->compare({});
    if (const auto comparer = analysis::Comparer::alone(runs)) comparer->compare({});
    compared += 1;
  }
  EXPECT_GT(compared, 100u);
}

// Comparisons sort values, and a value that is no number has no place in an order.
TEST(Snapshot, HasNumbersOnly) {
  const std::string text = text_of(small_run());
  EXPECT_THAT(error_of(replaced(text, "\"values\": [3]", "\"values\": [null]")),
              HasSubstr("'values' is not a list of numbers"));
  const Profile profile = small_run();
  SnapshotRun run{&profile, RunSamples(profile).numbers()};
  run.numbers.metrics[0].samples[1].value = std::numeric_limits<double>::infinity();
  const auto read = read_snapshot(*write_snapshot({&run, 1}), "a.npu");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)[0].numbers->metrics[0].samples.size(), 2u);
}

TEST(Snapshot, IsKnownByItsFirstKey) {
  EXPECT_TRUE(looks_like("\xef\xbb\xbf {\n \"npuscope_snapshot\" : 1"));
  EXPECT_FALSE(looks_like("{\"traceEvents\": [], \"npuscope_snapshot\": 1}"));
  EXPECT_FALSE(looks_like("\"npuscope_snapshot\""));
}

}  // namespace
}  // namespace npuscope::snapshot::snapshot_test
