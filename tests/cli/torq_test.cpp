// npuscope torq as a user runs it, and the general commands on Torq's files.
#include <gmock/gmock.h>
#include <fstream>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::torq_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string data = NPUSCOPE_TEST_DATA "/torq/";

class Torq : public TraceFolder {
 protected:
  std::string put(const std::string& name, const std::string& text) const {
    write(name, text);
    return path(name);
  }
};

TEST_F(Torq, AnnotatesIntoEachForm) {
  for (const char* name : {"out.csv", "out.xlsx", "out.pb"}) {
    const Outcome outcome =
        run_npuscope({"torq", "annotate", data + "debug_info", data + "runtime.csv", path(name)});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
    const bool is_trace = std::string_view(name).ends_with(".pb");
    EXPECT_THAT(outcome.output,
                HasSubstr(is_trace ? "(23 rows; estimates drawn at 800 MHz, --mhz)" : "(23 rows)"));
    EXPECT_TRUE(fs::exists(path(name)));
  }
  EXPECT_EQ(read("out.csv"), read(data + "annotated.csv"));
}

TEST_F(Torq, AnnotateRefusesWhatMakesNoSense) {
  const auto annotate = [&](const std::string& debug, const std::string& runtime,
                            const std::string& out) {
    return run_npuscope({"torq", "annotate", debug, runtime, out});
  };
  const Outcome ending = annotate(data + "debug_info", data + "runtime.csv", path("out.txt"));
  EXPECT_EQ(ending.status, 2);
  EXPECT_THAT(ending.errors, HasSubstr(".csv, .xlsx or .pb"));
  const std::string log = put("log.csv", read(data + "runtime.csv"));
  EXPECT_EQ(annotate(data + "debug_info", log, log).status, 2);
  EXPECT_EQ(read(log), read(data + "runtime.csv"));
  EXPECT_EQ(annotate(path("none"), log, path("out.csv")).status, 3);
  EXPECT_EQ(annotate(data + "debug_info", path("none"), path("out.csv")).status, 3);
  EXPECT_EQ(annotate(data + "debug_info", log, path("no/out.csv")).status, 4);
  const Outcome bytecode = annotate(put("d.mlirb", "ML\xefR\x06"), log, path("out.csv"));
  EXPECT_EQ(bytecode.status, 3);
  EXPECT_THAT(bytecode.errors, HasSubstr("iree-opt --mlir-print-debuginfo"));
  EXPECT_FALSE(fs::exists(path("out.csv")));
}

// 14 of 18 rows were written, with status 0.
TEST_F(Torq, AnnotateWritesNoTableThatLacksRowsUnlessAskedTo) {
  fs::create_directories(path("debug"));
  write("debug/main_dispatch_0.mlir", read(data + "debug_info/main_dispatch_0.mlir"));
  write("debug/main_dispatch_1.mlirb", "ML\xefR\x06");
  const std::string log = put("log.csv", read(data + "runtime.csv") +
                                             "main_dispatch_1,9,0,3070,HOST_COPY_BEGIN\n"
                                             "main_dispatch_1,9,0,3090,HOST_COPY_END\n");
  const Outcome outcome = run_npuscope({"torq", "annotate", path("debug"), log, path("out.csv")});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.errors,
              HasSubstr("log.csv: debug information of 1 of 2 dispatches: 12.8 % of the wall "
                        "(140.000µs of 1.090ms); the rows of main_dispatch_1 would be missing ("));
  EXPECT_THAT(outcome.errors, HasSubstr("main_dispatch_1.mlirb: MLIR bytecode; "));
  EXPECT_FALSE(fs::exists(path("out.csv")));
  const Outcome partial =
      run_npuscope({"torq", "annotate", path("debug"), log, path("out.csv"), "--keep-going"});
  EXPECT_EQ(partial.status, 0) << partial.errors;
  EXPECT_THAT(partial.output, StartsWith("partial: debug information of 1 of 2 dispatches: 12.8 % "
                                         "of the wall (140.000µs of 1.090ms)\nwrote "));
  EXPECT_TRUE(fs::exists(path("out.csv")));
  const Outcome overview = run_npuscope({"torq", "overview", log, path("debug")});
  EXPECT_THAT(overview.output, StartsWith("partial: log: debug information of 1 of 2"));
}

TEST_F(Torq, DebugInformationOfAnotherModelIsAnErrorInEveryCommand) {
  std::string other = read(data + "runtime.csv");
  for (auto at = other.find(",NSS_"); at != other.npos; at = other.find(",NSS_", at)) {
    other.replace(at, 5, ",HOST_");
  }
  const std::string log = put("log.csv", other);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"torq", "overview", log, data + "debug_info"},
           {"torq", "timeline", log, data + "debug_info"},
           {"torq", "annotate", data + "debug_info", log, "x.csv"},
           {"show", log, data + "debug_info"},
           {"ops", log, data + "debug_info"},
           {"diagnose", log, data + "debug_info"}}) {
    const Outcome outcome = run_npuscope(command);
    EXPECT_EQ(outcome.status, 3) << command[0];
    EXPECT_EQ(outcome.output, "") << command[0];
    EXPECT_THAT(outcome.errors, HasSubstr("log.csv: dispatch main_dispatch_0 logs HOST_START as "
                                          "action 1, which is NSS_START in "));
  }
}

TEST_F(Torq, OverviewOfLogsTablesAndTraces) {
  const std::string expected = read(data + "overview.txt");
  const Outcome log = run_npuscope({"torq", "overview", data + "runtime.csv", data + "debug_info"});
  EXPECT_EQ(log.status, 0) << log.errors;
  std::string of_log = expected;  // a log alone tells inferences apart
  of_log.insert(of_log.find("  OVERALL"), "  Scope: all 2 inferences together\n");
  EXPECT_EQ(log.output, of_log);
  for (const std::string& name : {path("runtime.csv"), path("runtime.pb")}) {
    EXPECT_EQ(
        run_npuscope({"torq", "annotate", data + "debug_info", data + "runtime.csv", name}).status,
        0);
    const Outcome outcome = run_npuscope({"torq", "overview", name});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, expected) << name;
  }
}

// The vendor's documentation has the overview of such a run.
TEST_F(Torq, TheExampleOfTheGuideIsTheDocumentedOne) {
  const fs::path sample = NPUSCOPE_SHARED_DIR "/data/torq/doc_sample_host_profile_overview.txt";
  if (!fs::exists(sample)) GTEST_SKIP();
  const std::string example = NPUSCOPE_SOURCE_DIR "/examples/torq/";
  const Outcome outcome =
      run_npuscope({"torq", "overview", example + "conv2d_f4_s4_64x64x16_i16.csv",
                    example + "debug_info", "--wall-time", example + "wall_time.txt"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, read(sample));
}

TEST_F(Torq, OverviewInOtherForms) {
  const std::string wall = put("wall_time.txt", "0.207");
  const Outcome text = run_npuscope({"torq", "overview", data + "runtime.csv", data + "debug_info",
                                     "--wall-time", wall, "--explain"});
  EXPECT_THAT(text.output, HasSubstr("WALL_TIME                       207.000ms\n"));
  EXPECT_THAT(text.output, HasSubstr("Dma           any of DMA In, DMA Out and CDMA in use\n"));
  const Outcome upstream =
      run_npuscope({"torq", "overview", data + "runtime.csv", data + "debug_info", "--upstream"});
  EXPECT_EQ(upstream.status, 0) << upstream.errors;
  EXPECT_THAT(upstream.output, StartsWith("  Model: runtime\n"));
  EXPECT_THAT(upstream.output, HasSubstr("TOTAL NPU OPERATIONS"));
  const Outcome json =
      run_npuscope({"torq", "overview", data + "runtime.csv", data + "debug_info", "--json"});
  ASSERT_EQ(json.status, 0) << json.errors;
  const auto document = nlohmann::json::parse(json.output);
  EXPECT_EQ(document["models"][0]["overall_ns"], 1062000);
  EXPECT_EQ(document["models"][0]["rows"][0]["nanoseconds"], 79000);
}

// It said that there was no log among the files, not what had become of the one that was named.
TEST_F(Torq, ALogThatIsNoneIsNamedWhereNothingElseIsThere) {
  const std::string log = put("runtime.csv", "");
  for (const auto& [command, other] :
       {std::pair{"overview", "debug_info"}, {"timeline", "annotated.csv"}}) {
    const Outcome outcome = run_npuscope({"torq", command, log, data + other});
    EXPECT_EQ(outcome.status, 3) << command;
    EXPECT_THAT(outcome.errors, HasSubstr(" among the files; name ")) << command;
    EXPECT_THAT(outcome.errors, HasSubstr("(" + log + ": is empty; was the runtime ")) << command;
  }
}

TEST_F(Torq, TimelineComparesAndDraws) {
  const Outcome outcome =
      run_npuscope({"torq", "timeline", data + "runtime.csv", data + "debug_info", "--mhz", "100",
                    "--to", "perfetto", "-o", path("both.pftrace"), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const auto programs = nlohmann::json::parse(outcome.output)["programs"][0];
  EXPECT_EQ(programs["programs"], 2);
  EXPECT_EQ(programs["rows"][0]["program"], "nss_program_0");
  EXPECT_NEAR(programs["rows"][0]["measured_by_estimated"].get<double>(), 25 / 1.4, 1e-9);
  const Outcome shown = run_npuscope({"units", path("both.pftrace"), "--csv"});
  EXPECT_EQ(shown.status, 0) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("Host > NSS Programs"));
  EXPECT_EQ(run_npuscope({"torq", "timeline", data + "runtime.csv", "--to", "perfetto"}).status, 2);
  EXPECT_EQ(run_npuscope({"torq", "timeline", data + "model.mlir"}).status, 3);
}

// What the compile's clock was, no file says.
TEST_F(Torq, TimelineHasTimesOfEstimatesOnlyAtAClockThatIsNamed) {
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"torq", "timeline", data + "runtime.csv", data + "debug_info"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_npuscope(words);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome;
  };
  const Outcome cycles = run({});
  EXPECT_THAT(cycles.output, StartsWith("PROGRAMS, measured against estimated cycles\n"));
  EXPECT_THAT(cycles.output, Not(HasSubstr("MHz (--mhz)")));
  const auto row = nlohmann::json::parse(run({"--json"}).output)["programs"][0]["rows"][0];
  EXPECT_EQ(row["estimated_cycles"], 140);
  EXPECT_TRUE(row["estimated_seconds"].is_null());
  EXPECT_NEAR(row["cycles_per_microsecond"].get<double>(), 140 / 25.0, 1e-9);
  EXPECT_THAT(run({"--mhz", "800"}).output,
              StartsWith("PROGRAMS, measured against estimated at 800 MHz\n"));
  const Outcome drawn = run({"--to", "perfetto", "-o", path("both.pftrace")});
  EXPECT_THAT(drawn.errors, HasSubstr("(estimates at 800 MHz; --mhz names another clock)"));
}

TEST_F(Torq, AFolderOfDispatchesIsOneProfile) {
  fs::create_directories(path("debug"));
  const std::string text = read(data + "one_dispatch/debug/net_dispatch_0_conv_2d.mlir");
  for (const char* name : {"net_dispatch_2_conv_2d", "net_dispatch_10_conv_2d"}) {
    std::string renamed = text;
    const std::string from = "net_dispatch_0_conv_2d";
    for (auto at = renamed.find(from); at != renamed.npos; at = renamed.find(from, at)) {
      renamed.replace(at, from.size(), name);
    }
    write(std::string("debug/") + name + ".mlir", renamed);
    write(std::string("debug/") + name + ".mlirb", "ML\xefR\x06");
  }
  const Outcome one = run_npuscope({"show", data + "one_dispatch/debug", "--json"});
  const Outcome both = run_npuscope({"show", path("debug"), "--json"});
  ASSERT_EQ(both.status, 0) << both.errors;
  EXPECT_EQ(both.errors, "");  // of bytecode whose text is there nothing is said
  const auto wall = [](const Outcome& outcome) {
    return nlohmann::json::parse(outcome.output)["profiles"][0]["wall"]["ticks"].get<double>();
  };
  EXPECT_EQ(nlohmann::json::parse(both.output)["profiles"].size(), 1u);
  EXPECT_EQ(wall(both), 2 * wall(one));
}

TEST_F(Torq, DiffNamesTheCauseOfProfilesAndOfTheirSnapshots) {
  const std::string header = "taskId, elapsed_time(us), timestamp(us), event, location, bytes\n";
  const std::string a = put("a.csv", header +
                                         "0,100,0,DMA In,loc(\"n\":2:3),475\n"
                                         "1,100,50,Slice 0,loc(\"n\":4:10),\n");
  const std::string b = put("b.csv", header +
                                         "0,100,0,DMA In,loc(\"n\":2:3),475\n"
                                         "1,100,100,Slice 0,loc(\"n\":4:10),\n");
  for (const std::string& name : {a, b}) {
    const Outcome kept = run_npuscope({"snapshot", name, "-o", name + ".json"});
    EXPECT_EQ(kept.status, 0) << kept.errors;
  }
  for (const char* ending : {"", ".json"}) {
    const Outcome outcome = run_npuscope({"diff", a + ending, b + ending, "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(nlohmann::json::parse(outcome.output)["sides"]["cause"],
              "less overlap of DMA and compute: exposed DMA 50 -> 100 cycles, +50 of the wall's "
              "+50");
  }
}

TEST_F(Torq, PassesOfTheCompilerByTheTimeThatEachTook) {
  const std::string timing =
      put("timing.txt",
          "===---===\n                         ... Execution time report ...\n===---===\n"
          "  ----Wall Time----  ----Name----\n"
          "    0.6000 ( 60.0%)  'func.func' Pipeline\n    0.5000 ( 50.0%)    TileAndFuse\n"
          "    0.3000 ( 30.0%)  Canonicalizer\n    0.1000 ( 10.0%)  Rest\n"
          "    1.0000 (100.0%)  Total\n");
  const Outcome outcome = run_npuscope({"torq", "passes", timing, "--top", "2"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output,
            "COMPILE TIME, by pass (2 of 3)\n"
            "  file        " +
                timing +
                "\n"
                "  from        --mlir-timing, tree\n"
                "  wall        1.000 s\n"
                "  in no pass  100.0 ms\n"
                "  pass           runs  own time  of wall  with what it runs\n"
                "  TileAndFuse       1  500.0 ms   50.0 %           500.0 ms\n"
                "  Canonicalizer     1  300.0 ms   30.0 %           300.0 ms\n");
  const Outcome part = run_npuscope({"torq", "passes", timing, data + "runtime.csv", "--json"});
  EXPECT_EQ(part.status, 3);
  EXPECT_EQ(nlohmann::json::parse(part.output)["compile_time"][0]["rows"].size(), 3u);
  EXPECT_THAT(part.errors, HasSubstr("runtime.csv: not a report of compile times"));
  EXPECT_EQ(run_npuscope({"torq", "passes", data + "runtime.csv"}).status, 3);
}

// Three lines of comment before the model made an equal schedule +553.5 %.
TEST_F(Torq, AnEqualScheduleOfShiftedLinesIsTheSame) {
  const std::string before = data + "one_dispatch/debug/net_dispatch_0_conv_2d.mlir";
  std::ifstream file(before);
  std::string text(std::istreambuf_iterator<char>(file), {}), moved;
  const std::string place = "\"models/net.mlir\":";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = text.find(place, at);
    moved += text.substr(at, next - at);
    if (next == text.npos) break;
    std::size_t digits = 0;
    const int line = std::stoi(text.substr(next + place.size()), &digits);
    moved += place + std::to_string(line + 3);
    at = next + place.size() + digits;
  }
  std::ofstream(path("moved.mlir")) << moved;
  const Outcome outcome = run_npuscope({"diff", before, path("moved.mlir"), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const auto ops = nlohmann::json::parse(outcome.output)["ops"];
  EXPECT_EQ(ops["rows_by_change"], "5 same");
  EXPECT_EQ(ops["matched_share_a"], 1);
}

TEST_F(Torq, GeneralCommandsWork) {
  for (const std::string command :
       {"show", "ops", "units", "timeline", "path", "memory", "diff", "query"}) {
    std::vector<std::string> arguments{command, data + "runtime.csv", data + "debug_info"};
    if (command == "diff") arguments = {command, data + "runtime.csv", data + "runtime.csv"};
    if (command == "query") arguments.insert(arguments.end(), {"--sql", "select 1"});
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, 0) << command << outcome.errors;
  }
  const Outcome path = run_npuscope({"path", data + "runtime.csv", "--json"});
  const auto page = nlohmann::json::parse(path.output)["profiles"][0];
  EXPECT_EQ(page["path"]["work_on_path"], 52'000);  // 10 + 25 + 9 + 8: the host and both programs
  EXPECT_EQ(page["ops"]["rows"][1]["op"], "HOST_COPY 0");
  EXPECT_EQ(page["ops"]["rows"][1]["slack"], 0);
  const Outcome ops =
      run_npuscope({"ops", data + "runtime.csv", data + "debug_info", "--by", "node"});
  EXPECT_THAT(ops.output, HasSubstr("tosa.conv2d@L3"));
}

TEST_F(Torq, AnEmptyFileIsEmptyAndUtf16IsNamed) {
  const std::string empty = put("empty.csv", "");
  const std::string wide = put("wide.csv", std::string("\xff\xfe"
                                                       "d\0i\0s\0p\0\n\0",
                                                       12));
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"torq", "overview"}, {"torq", "annotate", data + "debug_info"}, {"show"}}) {
    const auto run = [&](const std::string& file) {
      auto arguments = command;
      arguments.push_back(file);
      if (command.size() == 3) arguments.push_back(path("out.csv"));
      const Outcome outcome = run_npuscope(arguments);
      EXPECT_EQ(outcome.status, 3) << command.front();
      return outcome.errors;
    };
    EXPECT_THAT(run(empty), HasSubstr("empty")) << command.front();
    EXPECT_THAT(run(wide), HasSubstr("text in UTF-16, as PowerShell's > writes; save it as UTF-8"))
        << command.front();
  }
}

// A gain of 7.310 ms of three inferences stood beside the 7.988 ms of one.
TEST_F(Torq, EveryPageSaysWhichInferencesItIsOf) {
  const std::vector<std::pair<std::string, std::string>> scopes{
      {"units", "all 2 inferences together"},
      {"show", "all 2 inferences together"},
      {"timeline", "all 2 inferences together"},
      {"diagnose", "all 2 inferences together; gains are of one"},
      {"ops", "one inference after the first"},
      {"memory", "one inference after the first"},
      {"path", "one inference: number 1 of 2, counted from 0"},
      {"graph", "one inference: number 1 of 2, counted from 0"}};
  for (const auto& [command, scope] : scopes) {
    const Outcome text = run_npuscope({command, data + "runtime.csv", data + "debug_info"});
    EXPECT_EQ(text.status, 0) << text.errors;
    EXPECT_THAT(text.output, testing::ContainsRegex("  scope +" + scope + "\n")) << command;
    const Outcome json =
        run_npuscope({command, data + "runtime.csv", data + "debug_info", "--json"});
    const auto page = nlohmann::json::parse(json.output)["profiles"][0];
    EXPECT_EQ(page["scope"], scope) << command;
  }
}

// Debug information says what the transfers of each program are configured for.
TEST_F(Torq, MemoryKnowsTheBytesOfALogWithDebugInformation) {
  const Outcome outcome =
      run_npuscope({"memory", data + "runtime.csv", data + "debug_info", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const auto traffic = nlohmann::json::parse(outcome.output)["profiles"][0]["traffic"]["rows"];
  ASSERT_EQ(traffic.size(), 2u);
  EXPECT_EQ(traffic[0]["route"], "DDR read");
  EXPECT_EQ(traffic[0]["bytes"], 64);  // of one inference
  EXPECT_EQ(traffic[1]["bytes"], 64);
}

}  // namespace
}  // namespace npuscope::cli::torq_test
