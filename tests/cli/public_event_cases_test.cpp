// How the events of a Chrome or Perfetto trace become slices, arrows and counters, where public
// reports found tools wrong: cases 12, 15 to 18, 20, 27, 28, 31, 42 and 43 of
// ../shared/data/public_cases, whose expected.md say why.
#include <gmock/gmock.h>

#include <algorithm>

#include "cli/public_cases.hpp"

namespace npuscope::cli::public_event_cases_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PublicEventCases : public test_support::PublicCases {
 protected:
  // "first 100, second 100": slices and their lengths in us, by start.
  std::string slices(const std::string& file) const {
    return query(file,
                 "SELECT group_concat(op || ' ' || (duration / 1000), ', ') FROM (SELECT * FROM "
                 "named_spans ORDER BY start, duration DESC)");
  }
  // "first->second".
  std::string arrows(const std::string& file) const {
    return query(file,
                 "SELECT count(*), group_concat(text, ' ') FROM (SELECT a.op || '->' || b.op AS "
                 "text FROM flows f JOIN named_spans a ON a.id = f.from_span JOIN named_spans b ON "
                 "b.id = f.to_span ORDER BY a.start)");
  }
};

// Its counter wraps between the start of an event and the stop.
TEST_F(PublicEventCases, ALogOfLlamaCppWrapsInItsOnlyOp) {
  const json page = ask("ops", "12-ggml-hexagon-perfetto/hex-log.txt");
  ASSERT_EQ(page["op_windows"]["rows"].size(), 1u) << page;
  const json& row = page["op_windows"]["rows"][0];
  EXPECT_EQ(row["op"], "blk.0.q");
  EXPECT_NEAR(row["window"].get<double>(), 891.5e6, 0.6e6);
  const double cycles = 10'000 + 4'294'967'296.0 - 4'294'900'100;
  EXPECT_NEAR(row["dequantisation"].get<double>(), cycles / 1'883'599, 1e-6);
  EXPECT_NEAR(row["gflop_per_second"].get<double>(), 2.0 * 3072 * 3072 * 42 / 891.5e-6 / 1e9, 2);
}

TEST_F(PublicEventCases, JoinedListsAreReadWholeOrRefused) {
  const std::string in = "15-joined-lists/";
  for (const char* file : {"double_comma", "missing_comma", "two_lists", "two_objects"}) {
    EXPECT_EQ(slices(in + file + ".json"), "\"A 5, B 5, C 5, D 5\"\n") << file;
  }
  EXPECT_EQ(slices(in + "leading_comma.json"), "\"A 5, B 5\"\n");
  for (const char* file : {"ndjson_events.jsonl", "ndjson_header.jsonl"}) {
    const Outcome outcome = run_npuscope({"show", folder + in + file});
    EXPECT_NE(outcome.status, 0) << file;
    EXPECT_EQ(outcome.output, "") << file;
    EXPECT_THAT(outcome.errors, HasSubstr("not a Chrome trace")) << file;
  }
}

// An E without a name closes the innermost B, as the format says.
TEST_F(PublicEventCases, EndsWithoutANameCloseTheInnermostSlice) {
  EXPECT_EQ(slices("16-unnamed-ends-overlap/trace.json"),
            "\"Event1 104562, Event2 104562, Event3 276, Event5 322, Event6 25\"\n");
  EXPECT_EQ(slices("16-unnamed-ends-overlap/named_ends.json"), "\"Event5 283, Event6 64\"\n");
}

TEST_F(PublicEventCases, AsyncSlicesOfOneIdOverlap) {
  const std::string in = "17-async-overlap/";
  EXPECT_EQ(slices(in + "same_id.json"), "\"parent 5, op0 3, op1 3\"\n");
  EXPECT_EQ(slices(in + "nested_read_write.json"), "\"Nested 9, Read 3, Write 4\"\n");
  EXPECT_EQ(slices(in + "id2_local.json"), "\"write 20, write 30\"\n");
  EXPECT_EQ(slices(in + "same_moment.json"), "\"Req 2, 31  1, Routine 1\"\n");
}

TEST_F(PublicEventCases, ArrowsGoWhereTheirIdsSay) {
  const std::string in = "18-flows/";
  EXPECT_EQ(arrows(in + "start_then_step.json"), "1,first->second\n");
  EXPECT_EQ(arrows(in + "different_ids.json"), "0,\n");
  EXPECT_THAT(show(in + "different_ids.json"), HasSubstr("without a beginning or an end"));
  EXPECT_EQ(arrows(in + "flow_out_in_args_of_E.json"), "0,\n");
  EXPECT_EQ(arrows(in + "f_at_start_of_dest.json"), "1,launch->kernel_b\n");
  // Of two that begin there the inner one, as of all slices around a moment; the outer would do.
  EXPECT_EQ(arrows(in + "f_parent_and_child_same_start.json"),
            "2,launch_parent->kernel launch_child->kernel2\n");
}

// All events whose text is sound survive, and those of which there is no doubt what was meant.
TEST_F(PublicEventCases, BrokenStringsCostAtMostTheirEvent) {
  const std::string in = "20-broken-strings/";
  const auto names = [&](const char* file) {
    return query(in + file, "SELECT group_concat(op, '|') FROM named_spans");
  };
  EXPECT_EQ(names("raw_newline_in_name.json"), "\"A|tmp\nline\ttwo|C\"\n");
  EXPECT_EQ(names("raw_control_in_arg.json"), "A|B|C\n");
  EXPECT_EQ(names("unescaped_quotes_metadata.json"), "A|B|C\n");
  EXPECT_EQ(names("unescaped_quotes_in_name.json"), "A|C\n");
  EXPECT_EQ(names("unescaped_backslash_path.json"), "A|C:\xef\xbf\xbdork\xef\xbf\xbd.onnx|C\n");
  EXPECT_EQ(names("interleaved_writers.json"), "A|B|C\n");
  EXPECT_EQ(names("kineto_quotes_and_braces.json"), "op0|op1|op2|op4|op5|op7|op9\n");
  EXPECT_THAT(names("windows_backslashes.json"), HasSubstr("|aten::mul"));
  const auto count = [&](const char* file) {
    return query(in + file, "SELECT count(*), sum(duration) FROM spans");
  };
  EXPECT_EQ(count("windows_backslashes.json"), "5,25000\n");
  EXPECT_EQ(count("ort_trailing_comma_in_args.json"), "5,60000\n");
}

TEST_F(PublicEventCases, BrokenStringsAreCountedWithTheirPlace) {
  const std::string in = folder + "20-broken-strings/";
  const struct {
    const char* file;
    const char* message;
    std::uint64_t count, offset;
  } cases[] = {
      {"raw_newline_in_name.json", "read as meant", 1, 81},
      {"raw_control_in_arg.json", "read as meant", 1, 81},
      {"ort_trailing_comma_in_args.json", "read as meant", 1, 444},
      {"unescaped_quotes_in_name.json", "broken events, left out", 1, 67},
      {"kineto_quotes_and_braces.json", "broken events, left out", 3, 609},
      {"windows_backslashes.json", "broken escapes", 3, 85},
      {"unescaped_quotes_metadata.json", "pieces of text between events", 1, 246},
  };
  for (const auto& each : cases) {
    const Outcome outcome = run_npuscope({"show", "--json", in + each.file});
    const json page = json::parse(outcome.output);
    bool found = false;
    for (const json& note : page["profiles"][0]["notes"]) {
      if (note["message"].get<std::string>().find(each.message) == std::string::npos) continue;
      found = true;
      EXPECT_EQ(note["count"], each.count) << each.file;
      EXPECT_EQ(note["offset"], each.offset) << each.file;
    }
    EXPECT_TRUE(found) << each.file << outcome.output.substr(0, 2000);
  }
}

// A number in quotes is one; what is no number is counted.
TEST_F(PublicEventCases, ACounterOfManySeries) {
  const std::string file = "27-counters-many-series/trace.json";
  EXPECT_EQ(query(file,
                  "SELECT part, count(*), min(value), max(value) FROM counter_samples c JOIN "
                  "counter_series s ON s.id = c.series GROUP BY 1 ORDER BY 1"),
            "batch_size,5,8,12\nbatch_size_effective,5,8,8\nthroughput,5,100.5,104.5\n"
            "throughput_effective,5,90.25,90.25\n");
  EXPECT_THAT(show(file), HasSubstr("values of counters that are not numbers, left out (5 times)"));
}

TEST_F(PublicEventCases, ALayerProfileOfTensorRtHasMeanTimes) {
  EXPECT_EQ(query("28-trtexec-profile/profile.json",
                  "SELECT subject_name, round(value) FROM measures WHERE name = 'mean time'"),
            "Reformat 0,12204\n{ForeignNode[conv1...fc]},634855\n");
}

TEST_F(PublicEventCases, ASliceWithoutAnEndIsNamed) {
  const std::string file = "31-perfetto-overlap-on-track/never_ended.pftrace";
  EXPECT_EQ(query(file,
                  "SELECT duration = (SELECT max(end) - min(start) FROM spans) - start + (SELECT "
                  "min(start) FROM spans) FROM spans WHERE op_name = 'lost'"),
            "1\n");
  EXPECT_THAT(show(file), HasSubstr("slices have no end; kept until the last time in the trace"));
}

// A step begins 1 us before the short slice of Python before it ends.
TEST_F(PublicEventCases, AStepEnclosesItsWorkAlthoughASliceReachesIntoIt) {
  const std::string file = "42-step-over-python-slice/mini_step.json";
  EXPECT_EQ(query(file, "SELECT op, sum(duration) FROM named_spans GROUP BY op ORDER BY op"),
            "__init__,81000\nstep,2700000\nwork,2640000\n");
  EXPECT_EQ(query(file,
                  "SELECT count(*) FROM named_spans step JOIN named_spans work ON work.op = 'work' "
                  "AND step.op = 'step' AND work.inference = step.inference AND work.start >= "
                  "step.start AND work.start + work.duration <= step.start + step.duration"),
            "3\n");
  const json timeline = ask("timeline", file)["timeline"];
  EXPECT_EQ(timeline["wall"], 2'926'000);
}

TEST_F(PublicEventCases, NoLineIsLongerThanThePage) {
  const std::string a = folder + "43-long-lines/long_a.json",
                    b = folder + "43-long-lines/long_b.json";
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"diff", a, b}, {"path", a}, {"path", b}, {"show", "--full", a}, {"ops", a}}) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--width", "100"});
    const Outcome outcome = run_npuscope(all);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, HasSubstr("Gener"));
    std::size_t columns = 0, widest = 0;
    for (const char byte : outcome.output) {
      const bool continues = (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
      columns = byte == '\n' ? 0 : columns + (continues ? 0 : 1);
      widest = std::max(widest, columns);
    }
    EXPECT_LE(widest, 100u) << arguments[0] << outcome.output;
    EXPECT_GT(widest, 60u) << arguments[0];
  }
}

}  // namespace
}  // namespace npuscope::cli::public_event_cases_test
