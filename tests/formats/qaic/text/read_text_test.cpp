#include "formats/qaic/text/read_text.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <random>

#include "formats/qaic/opstats/profile_lookup.hpp"

namespace npuscope::qaic::read_text_test {
namespace {

using test::checks_of;
using test::measure_of;
using test::notes_of;
using test::unit_named;
using test::value_of_profile;
using test::value_of_unit;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(NPUSCOPE_TEST_DATA) + "/qaic/" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

Profile read(std::string_view text) {
  const TextKind kind = recognise_text(text);
  auto profiles = read_text(kind, text, "file");
  EXPECT_TRUE(profiles) << profiles.error().message;
  EXPECT_EQ(profiles->size(), 1u);
  return std::move(profiles->front());
}

TEST(RecogniseText, KnowsEachTextByWhatItSays) {
  EXPECT_EQ(recognise_text(text_of("bert-base-cased_b8_2core.compile.log")),
            TextKind::compiler_log);
  EXPECT_EQ(recognise_text(text_of("amber-7b_decode1_14core.compile.log")), TextKind::compiler_log);
  EXPECT_EQ(recognise_text(text_of("bert-base-cased_b8_2core.runner.log")), TextKind::runner_log);
  EXPECT_EQ(recognise_text(text_of("bert-base-cased_b8_2core.latency.txt")),
            TextKind::latency_statistics);
  EXPECT_EQ(recognise_text(text_of("bert-base-cased_b8_2core.opstats.summary.txt")),
            TextKind::summary);
  EXPECT_EQ(recognise_text(print_latency({0, "x", 1, {LatencySample{}}})), TextKind::latency_table);
  EXPECT_EQ(recognise_text("hello"), TextKind::none);
  EXPECT_EQ(recognise_text(""), TextKind::none);
}

// The figures are those that the file prints; the sum of the rows is not the wall time.
TEST(ReadSummary, HasAnOpPerRowAndSpansOfTheThreads) {
  const Profile profile = read(text_of("bert-base-cased_b8_2core.opstats.summary.txt"));
  EXPECT_EQ(profile.provenance.graph, "QAicGraph");
  EXPECT_EQ(profile.clocks[index_of(profile.base_clock)].rate.value, 19.2e6);
  ASSERT_EQ(profile.ops.size(), 52u);  // 64 rows, 12 of them waits
  EXPECT_EQ(profile.text(profile.ops[0].kind), "aicconvolutiond32");
  EXPECT_EQ(profile.text(profile.ops[0].memory), "TCM");
  const auto of_first = [&](std::string_view what) {
    return *measure_of(profile, Measure::Subject::op, 0, what);
  };
  EXPECT_EQ(of_first("ucycles").value, 244552);
  EXPECT_EQ(of_first("ucycles").kind, MeasureKind::work);
  EXPECT_EQ(of_first("ucycles").origin, Origin::measured);
  EXPECT_EQ(profile.text(profile.clocks[index_of(of_first("pcycles").clock)].name),
            "core 0 cycles");
  EXPECT_EQ(of_first("count").value, 1081);

  // 12 threads, 2 cores, the device.
  ASSERT_EQ(profile.spans.size(), 15u);
  EXPECT_EQ(profile.spans.kind[0], SpanKind::inference);
  EXPECT_EQ(profile.text(profile.units[index_of(profile.spans.unit[0])].name), "HVX");
  EXPECT_EQ(profile.spans.processor_cycles[0], 28554461);
  EXPECT_EQ(profile.spans.duration[0], 444602);
  EXPECT_THAT(profile.notes, IsEmpty());
}

TEST(ReadSummary, KnewNoFiguresOfTheHost) {
  const std::string text = text_of("bert-base-cased_b8_2core.opstats.summary.txt") +
                           "host us enqueue:                            6.800\n"
                           "host us total round trip:                1670.163\n";
  const Profile profile = read(text);
  EXPECT_THAT(profile.notes, IsEmpty());
  std::map<std::string, double> host;
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::unit) continue;
    if (profile.units[measure.subject_id].engine != Engine::host) continue;
    host[std::string(profile.text(measure.what))] = measure.value;
    EXPECT_EQ(profile.clocks[index_of(measure.clock)].rate.value, 1e6);
  }
  EXPECT_EQ(host,
            (std::map<std::string, double>{{"enqueue", 6.8}, {"total round trip", 1670.163}}));
}

TEST(ReadSummary, LeavesBrokenLinesOutAndSaysWhere) {
  std::string text = text_of("bert-base-cased_b8_2core.opstats.summary.txt");
  const auto line = text.rfind("c0 ", text.find("aicconvolutiond32"));
  text.insert(line + 3, "x");
  const Profile profile = read(text);
  EXPECT_EQ(profile.ops.size(), 51u);
  EXPECT_THAT(notes_of(profile), ElementsAre("line 4 is broken and was left out"));
  EXPECT_EQ(profile.notes[0].offset, line);
}

TEST(ReadCompilerLog, TakesTrafficOfEachCoreAndChecksTheTotals) {
  const Profile profile = read(text_of("bert-base-cased_b8_2core.compile.log"));
  EXPECT_EQ(profile.provenance.graph, "QAicGraph");
  EXPECT_EQ(value_of_unit(profile, "core 0", "ddr read bytes"), 83957 * 1024.0);
  EXPECT_EQ(value_of_unit(profile, "core 1", "ddr write bytes"), 864 * 1024.0);
  EXPECT_EQ(value_of_unit(profile, "core 1", "multicast write bytes, constants"), 408 * 1024.0);
  EXPECT_EQ(value_of_unit(profile, "core 0", "vtcm bytes"), 8323072);
  EXPECT_EQ(value_of_unit(profile, "core 0", "barriers"), 3);
  EXPECT_EQ(value_of_unit(profile, "port 2", "ddr read bytes"), 864 * 1024.0);
  EXPECT_EQ(value_of_unit(profile, "device", "ddr read bytes"), 168941 * 1024.0);
  EXPECT_EQ(value_of_profile(profile, "constants bytes"), 215076864);
  EXPECT_EQ(value_of_profile(profile, "operators of 786,432 output elements"), 333 - 15);
  EXPECT_EQ(value_of_profile(profile, "specialized kernels"), 50);
  for (const Measure& measure : profile.measures) {
    EXPECT_EQ(measure.kind, MeasureKind::count);
    EXPECT_EQ(measure.origin, Origin::estimated);
  }
  EXPECT_THAT(checks_of(profile),
              Contains("ddr read bytes: host + cores = total: 168,941 KB of 3 parts, total "
                       "168,941 KB"));
}

// Its sum of multiply-accumulates ran below zero and is printed as 18446744060020916224.
TEST(ReadCompilerLog, DoesNotBelieveAnEstimateThatOverflowed) {
  const Profile profile = read(text_of("bert-base-cased_b8_2core.compile.log"));
  EXPECT_EQ(value_of_profile(profile, "macs of the model"), -1);
  EXPECT_THAT(notes_of(profile), Contains(HasSubstr("Original MAC estimate overflowed")));
}

TEST(ReadCompilerLog, ReadsTheFormOfSdk112) {
  const Profile profile = read(text_of("amber-7b_decode1_14core.compile.log"));
  EXPECT_EQ(value_of_profile(profile, "macs of the model"), 6640631808);
  EXPECT_EQ(value_of_profile(profile, "final constants bytes"), 12858.0 * 1024 * 1024);
  EXPECT_EQ(value_of_profile(profile, "operators of 4,096 output elements"), 2006 - 681);
  EXPECT_EQ(value_of_unit(profile, "core 13", "vtcm bytes"), 8065 * 1024.0);
  EXPECT_EQ(value_of_unit(profile, "core 3", "ddr read bytes, constants, first inference"),
            921544 * 1024.0);
  EXPECT_EQ(value_of_unit(profile, "device", "ddr write bytes"), 520109 * 1024.0);
  for (const Check& check : profile.checks) {
    EXPECT_EQ(check.outcome, Check::Outcome::passed) << check.name << ": " << check.detail;
  }
  EXPECT_EQ(profile.checks.size(), 8u);
}

// One network of a program after the other, as the compiler prints specialisations: their traffic
// was added up.
TEST(ReadCompilerLog, TwoSpecialisationsWereAddedUp) {
  const std::string one = text_of("amber-7b_decode1_14core.compile.log");
  const std::string other = text_of("bert-base-cased_b8_2core.compile.log");
  const auto profiles = read_text(TextKind::compiler_log, one + other, "log");
  ASSERT_TRUE(profiles);
  ASSERT_EQ(profiles->size(), 2u);
  const Profile first = read(one), second = read(other);
  const Profile* expected[] = {&first, &second};
  for (std::size_t i = 0; i < 2; ++i) {
    const Profile& profile = (*profiles)[i];
    EXPECT_EQ(profile.measures.size(), expected[i]->measures.size());
    EXPECT_EQ(checks_of(profile), checks_of(*expected[i]));
    EXPECT_EQ(value_of_unit(profile, "device", "ddr read bytes"),
              value_of_unit(*expected[i], "device", "ddr read bytes"));
    EXPECT_EQ(profile.provenance.graph, "QAicGraph");
  }
}

TEST(ReadCompilerLog, SaysWhenATotalIsNotTheSumOfItsParts) {
  std::string text = text_of("bert-base-cased_b8_2core.compile.log");
  const std::string total = "total: DDR traffic write:       1729 KB";
  text.replace(text.find(total), total.size(), "total: DDR traffic write:       1739 KB");
  EXPECT_THAT(checks_of(read(text)),
              Contains("!ddr write bytes: host + cores = total: 1,728 KB of 3 parts, total "
                       "1,739 KB"));
}

TEST(ReadRunnerLog, HasTheDevicesFigures) {
  const Profile profile = read(text_of("bert-base-cased_b8_2core.runner.log"));
  EXPECT_EQ(profile.provenance.inferences, 5787u);
  EXPECT_EQ(value_of_profile(profile, "run"), 20018960);
  EXPECT_EQ(value_of_profile(profile, "batch size"), 8);
  EXPECT_EQ(value_of_profile(profile, "inferences per second"), 2312.608);
  const auto execution =
      *measure_of(profile, Measure::Subject::unit, index_of(unit_named(profile, "device 0")),
                  "execution, average");
  EXPECT_EQ(execution.value, 22777.262);
  EXPECT_EQ(execution.kind, MeasureKind::wall);
  EXPECT_EQ(profile.clocks[index_of(execution.clock)].rate.value, 1e6);
  EXPECT_EQ(value_of_unit(profile, "device 0", "input wait, maximum"), 2226.094);
  EXPECT_EQ(value_of_unit(profile, "device 0", "output wait, standard deviation"), 0.090);
  EXPECT_THAT(profile.notes, IsEmpty());
}

TEST(ReadRunnerLog, TellsDevicesAndFunctionsApart) {
  const Profile profile = read(
      "Aggregated Device Metrics Report\n"
      "Metric, Avg, Min, Max, Std\n"
      "ExecTimeUs_Dev_0_Func_0, 10.5, 10, 11, 0.5\n"
      "ExecTimeUs_Dev_1_Func_0, 20.5, 20, 21, 0.5\n"
      "HMXActivePct_Func_1, 54.77, 54, 55, 0.1\n");
  EXPECT_EQ(value_of_unit(profile, "device 0", "execution of function 0, average"), 10.5);
  EXPECT_EQ(value_of_unit(profile, "device 1", "execution of function 0, average"), 20.5);
  EXPECT_EQ(value_of_unit(profile, "device 0", "HMX active percent of function 1, minimum"), 54);
}

TEST(ReadRunnerLog, SaysWhatWasNotMeasured) {
  const Profile profile = read(
      " ---- Stats ----\nInferenceCnt 1 TotalDuration 5us BatchSize 1 Inf/Sec 2.000\n"
      "InputWaitTimeUs, N/A,           N/A,           N/A,           N/A\n");
  EXPECT_THAT(notes_of(profile),
              ElementsAre("input wait was not measured; compile with a higher -stats-level"));
}

TEST(ReadRunnerLog, PassesOverWhatNpuscopesRunnerAdds) {
  const Profile profile = read(
      " ---- Stats ----\nInferenceCnt 1 TotalDuration 5us BatchSize 1 Inf/Sec 2.000\n\n"
      "Latency of an inference, from the host's queue to its result: median 5.100 us, 99 % 5.200 "
      "us.\n\n"
      "Throughput of an activation: device 2.10 Inf/Sec, system 2.00 Inf/Sec, 4.8 % less.\n"
      "The host keeps the device at work.\n\n");
  EXPECT_THAT(notes_of(profile), IsEmpty());
}

TEST(ReadRunnerLog, MakesAProfileOfEachRun) {
  const std::string run =
      " ---- Stats ----\nInferenceCnt 1 TotalDuration 5us BatchSize 1 Inf/Sec 2.000\n";
  const auto profiles = read_text(TextKind::runner_log, run + run, "file");
  ASSERT_TRUE(profiles);
  EXPECT_EQ(profiles->size(), 2u);
}

TEST(ReadLatency, ReadsWhatTheRunnerWrites) {
  LatencySample sample;
  sample.sample = 5;
  sample.device_inferences_per_second = 345.419;
  sample.device_exec_us = 23160.312;
  sample.host_round_trip_us = 23372.8;
  sample.enqueue_us = 6.761;
  sample.submit_us = 1.556;
  sample.exec_total_us = 23372.8;
  sample.exec_to_link_us = 4.872;
  sample.exec_to_complete_us = 23367.928;
  sample.total_round_trip_us = 23381.117;
  sample.queue_depth = 10;
  sample.in_queue = 3;
  const LatencyReport report{1, "Program:BenchmarkSet", 100, {sample, sample}};
  const std::string text = print_latency(report);
  std::vector<Note> notes;
  const auto again = parse_latency(text, "file", notes);
  ASSERT_TRUE(again);
  EXPECT_EQ(print_latency(*again), text);
  EXPECT_THAT(notes, IsEmpty());

  const Profile profile = read(text);
  EXPECT_EQ(profile.provenance.graph, "Program:BenchmarkSet");
  ASSERT_EQ(profile.spans.size(), 2u);
  EXPECT_EQ(profile.spans.duration[1], 23381117);  // nanoseconds
  EXPECT_EQ(profile.spans.instance[1], 5u);
  std::vector<std::string> phases;
  for (const Phase& phase : profile.phases) {
    phases.push_back(
        fmt::format("{} {}+{}", profile.text(phase.name), phase.start, phase.duration));
  }
  phases.resize(6);
  EXPECT_THAT(phases,
              ElementsAre("enqueue 0+6761", "pre-process 6761+0", "submit 6761+1556",
                          "execute until on the link 8317+4872",
                          "execute until complete 13189+23367928", "post-process 23381117+0"));
  const MeasureColumn* device = profile.spans.measure(*profile.strings.find("device execution"));
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->values[0], 23160312);
  EXPECT_FALSE(profile.strings.find("device input wait") &&
               profile.spans.measure(*profile.strings.find("device input wait")) != nullptr);
}

TEST(ReadLatency, LeavesOutRowsThatAreNone) {
  std::vector<Note> notes;
  const auto report = parse_latency(
      "Profiling Data\nSample, devExecUs, newColumn\n1, 5.5, x\n2, oops, x\n3\n4, N/A, x\n", "file",
      notes);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->samples.size(), 2u);
  EXPECT_EQ(report->samples[0].device_exec_us, 5.5);
  EXPECT_EQ(report->samples[1].device_exec_us, std::nullopt);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].offset, 54u);
}

// The names of its columns were padded, and it was refused.
TEST(ReadText, LatencyTablesWithPaddedColumnsAndWithoutTheDevice) {
  std::string text =
      "Profiling Data\nProgramId:1\nProgramName: Program:Set\n"
      "NumSamples collected: 2 Num Requested: 100\n"
      "Sample        ,devInfPerSec  ,devExecUs     ,hostRoundTripUs,totalRoundtripTimeUs,"
      "queueDepth    ,numInfInQueue \n"
      "50            ,N/A           ,N/A           ,900           ,1010          ,10            "
      ",10 "
      "\n"
      "51            ,N/A           ,N/A           ,902           ,1012          ,10            "
      ",10 "
      "\n";
  EXPECT_EQ(recognise_text(text), TextKind::latency_table);
  const Profile profile = read(text);
  EXPECT_EQ(profile.provenance.temperature, Provenance::Temperature::warm);  // 50 ran before
  // Overlapping samples nested in one another: work of 2 us for 1,012.
  ASSERT_EQ(profile.spans.size(), 2u);
  for (const SpanKind kind : profile.spans.kind) EXPECT_EQ(kind, SpanKind::inference);
  EXPECT_TRUE(profile.ops.empty());
  EXPECT_EQ(profile.spans.measure(NumberRole::device_execution), nullptr);
  std::string notes;
  for (const Note& note : profile.notes) notes += note.message + '\n';
  EXPECT_NE(notes.find("compile the program with -stats-level"), notes.npos);
  EXPECT_NE(notes.find("2 of 100 requested samples were collected, from inference 50 on"),
            notes.npos);
}

TEST(ReadLatency, ReadsTheStatisticsOfTheScriptInMilliseconds) {
  const Profile profile = read(text_of("bert-base-cased_b8_2core.latency.txt"));
  EXPECT_EQ(profile.provenance.graph, "All activations combined");
  EXPECT_DOUBLE_EQ(value_of_profile(profile, "device execution, mean"), 23051.370);
  EXPECT_DOUBLE_EQ(value_of_profile(profile, "total round trip, 99%"), 26064.658);
  EXPECT_DOUBLE_EQ(value_of_profile(profile, "device inferences per second, max"), 355.981);
  EXPECT_EQ(profile.measures.size(), 13u * 8);
  EXPECT_THAT(profile.notes, IsEmpty());
}

// Truncated anywhere, or with a byte changed: a profile with notes or an error, never a crash.
TEST(ReadText, SurvivesDamage) {
  std::mt19937 random(1);
  const std::string latency = print_latency({0, "x", 1, {LatencySample{}, LatencySample{}}});
  for (const std::string& whole :
       {text_of("bert-base-cased_b8_2core.compile.log"),
        text_of("bert-base-cased_b8_2core.runner.log"),
        text_of("bert-base-cased_b8_2core.latency.txt"), latency,
        text_of("bert-base-cased_b8_2core.opstats.summary.txt").substr(0, 9000)}) {
    const TextKind kind = recognise_text(whole);
    for (std::size_t size = 0; size < whole.size(); size += 1 + size / 300) {
      const std::string cut = whole.substr(0, size);
      const auto profiles = read_text(kind, cut, "file");
      if (!profiles) {
        EXPECT_THAT(profiles.error().message, HasSubstr("file"));
      }
    }
    for (int i = 0; i < 300; ++i) {
      std::string changed = whole;
      for (int j = 0; j < 3; ++j) changed[random() % changed.size()] = "9-,.:x\0\xff"[random() % 8];
      const auto profiles = read_text(kind, changed, "file");
      if (!profiles) {
        EXPECT_THAT(profiles.error().message, HasSubstr("file"));
      }
    }
  }
}

}  // namespace
}  // namespace npuscope::qaic::read_text_test
