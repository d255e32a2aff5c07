// The library side of `npuscope run`: which files it leaves, and what it refuses before it starts.
#include "npuscope/npu/nsp/simulate/run.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/qpc.hpp"
#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::npu::nsp::runner_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

qaic::NetworkDescriptor descriptor_of(const qaic::Program& program) {
  qaic::NetworkDescriptor descriptor;
  descriptor.network_name = program.network_name;
  descriptor.num_cores = program.cores;
  descriptor.num_threads = program.threads_per_core();
  descriptor.num_hvx_threads = program.hvx_threads;
  descriptor.thread_groups = {0, 0, 0, 0, 1, 2};
  descriptor.thread_group_names = {"HVX", "HMX", "DMAIssue"};
  descriptor.has_stats = true;
  descriptor.stats.stats_level = program.stats_level;
  descriptor.stats.ops.resize(program.cores);
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    auto& group = descriptor.stats.ops[queue / 3].emplace_back();
    for (std::uint32_t i = program.queue_begin[queue]; i < program.queue_begin[queue + 1]; ++i) {
      if (!program.records(program.tasks[i])) continue;
      qaic::OpNameKind op;
      op.name = descriptor.stats.texts.intern(fmt::format("/node_{}", i));
      op.kind = descriptor.stats.texts.intern(program.kernels[program.tasks[i].kernel]);
      op.memory = descriptor.stats.texts.intern("TCM");
      op.output_size = 1024;
      group.push_back(op);
    }
  }
  return descriptor;
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const ByteSpan span = as_byte_span(text);
  return {span.begin(), span.end()};
}

std::vector<std::byte> qpc_of(const qaic::Program& program) {
  const std::vector<qaic::QpcSegmentSource> segments{
      {std::string(qaic::segment_network_descriptor),
       qaic::write_network_descriptor(descriptor_of(program))},
      {std::string(qaic::segment_program), write_program(program)},
      {std::string(qaic::segment_target), bytes_of(builtin_target("aic100")->toml)}};
  return *qaic::write_qpc(segments);
}

class RunQpc : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("npuscope-runner-{}", std::uint64_t(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "out");
    request_.qpc = folder_ / "programqpc.bin";
    request_.output_folder = folder_ / "out";
    request_.simulation.inferences = 10;
    request_.tell = [this](std::string_view line) { told_.emplace_back(line); };
    write(random_program(1, 2, 60, 70));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const qaic::Program& program) { write(qpc_of(program)); }
  void write(const std::vector<std::byte>& qpc) {
    ASSERT_TRUE(write_file_atomically(request_.qpc, qpc));
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "out")) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string text_of(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ / "out" / name).rdbuf();
    return text.str();
  }
  Error error() {
    const auto outcome = run(request_);
    EXPECT_FALSE(outcome);
    EXPECT_THAT(files(), testing::IsEmpty());
    return outcome ? Error{} : outcome.error();
  }

  std::filesystem::path folder_;
  RunRequest request_;
  std::vector<std::string> told_;
};

TEST_F(RunQpc, WithoutProfilingWritesNothing) {
  const auto outcome = run(request_);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->programs.at(0).result->inferences.size(), 10u);
  EXPECT_EQ(outcome->programs[0].samples, 0u);
  EXPECT_THAT(files(), testing::IsEmpty());
  EXPECT_THAT(told_, testing::IsEmpty());
}

TEST_F(RunQpc, WritesEveryKindOfFileUnderItsName) {
  request_.types = {.stats = true, .trace = true, .raw_device_stats = true, .latency = true};
  request_.simulation.first_sample = 5;
  request_.simulation.samples = 1;
  request_.simulation.activations = 2;
  const auto outcome = run(request_);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(
      files(),
      ElementsAre("aic-profiling-program-0-activation-0-inf-5-QAicGraph-aiccyclecounts.bin",
                  "aic-profiling-program-0-activation-0-inf-5.txt",
                  "aic-profiling-program-0-activation-1-inf-5-QAicGraph-aiccyclecounts.bin",
                  "aic-profiling-program-0-activation-1-inf-5.txt",
                  "aic-profiling-program-0-host-trace.json", "aic-profiling-program-0-latency.txt",
                  "aic-profiling-program-0-trace.json"));
  EXPECT_EQ(outcome->files.size(), 7u);
  EXPECT_THAT(text_of("aic-profiling-program-0-activation-0-inf-5.txt"),
              HasSubstr("[QAicGraph] Device instance inf/s:"));
  EXPECT_THAT(text_of("aic-profiling-program-0-latency.txt"),
              StartsWith("Profiling Data\nProgramId:0\nProgramName: QAicGraph\n"
                         "NumSamples collected: 2 Num Requested: 2\n"));
}

// The vendor's document: summaries of the runner include what the host and its driver measured.
TEST_F(RunQpc, SummariesHadNoFiguresOfTheHost) {
  request_.types = {.stats = true, .latency = true};
  request_.simulation.first_sample = 5;
  request_.simulation.samples = 1;
  ASSERT_TRUE(run(request_));
  const std::string text = text_of("aic-profiling-program-0-activation-0-inf-5.txt");
  const auto summary = qaic::parse_summary(text, "s.txt");
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_THAT(summary->unread, testing::IsEmpty());
  EXPECT_EQ(qaic::print_summary(*summary), text);
  std::map<std::string, double> host;
  for (const qaic::HostTime& time : summary->host) host[time.name] = time.microseconds;
  EXPECT_NEAR(host.at("enqueue") + host.at("pre-process") + host.at("submit") +
                  host.at("execution total") + host.at("post-process"),
              host.at("total round trip"), 0.005);

  // The same figures as in the latency file of the run, cell by cell.
  std::istringstream latency(text_of("aic-profiling-program-0-latency.txt"));
  std::vector<std::string> names, cells;
  for (std::string line; std::getline(latency, line);) {
    if (!line.starts_with("Sample") && !line.starts_with("5,")) continue;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) {
      (line.starts_with("Sample") ? names : cells)
          .push_back(cell.substr(cell.find_first_not_of(' ')));
    }
  }
  ASSERT_EQ(names.size(), cells.size());
  std::size_t compared = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::map<std::string, std::string> columns{{"hostRoundTripUs", "host round trip"},
                                                     {"enqTimeUs", "enqueue"},
                                                     {"preProcTimeUs", "pre-process"},
                                                     {"submitTimeUs", "submit"},
                                                     {"execTotalUs", "execution total"},
                                                     {"exectoVcUs", "execute until on the link"},
                                                     {"execToCompleteUs", "execute until complete"},
                                                     {"postProcUs", "post-process"},
                                                     {"totalRoundtripTimeUs", "total round trip"}};
    if (!columns.contains(names[i])) continue;
    EXPECT_NEAR(std::stod(cells[i]), host.at(columns.at(names[i])), 1e-9) << names[i];
    ++compared;
  }
  EXPECT_EQ(compared, host.size());
}

// Begin and length were written in picoseconds, and rounded each for itself by who read them.
TEST_F(RunQpc, HostSlicesOverlappedByANanosecond) {
  request_.types.trace = true;
  request_.simulation.samples = 3;
  ASSERT_TRUE(run(request_));
  const std::string text = text_of("aic-profiling-program-0-host-trace.json");
  const std::regex slice(R"re("tid": (\d+), "ts": (\d+)\.(\d+), "dur": (\d+)\.(\d+),)re");
  std::map<std::string, std::int64_t> end;
  std::size_t slices = 0;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), slice);
       at != std::sregex_iterator(); ++at) {
    EXPECT_EQ((*at)[3].length(), 3) << at->str();
    EXPECT_EQ((*at)[5].length(), 3) << at->str();
    const std::int64_t start = std::stoll((*at)[2].str() + (*at)[3].str());
    const auto [last, is_new] = end.try_emplace((*at)[1], start);
    EXPECT_GE(start, last->second) << at->str();
    last->second = start + std::stoll((*at)[4].str() + (*at)[5].str());
    ++slices;
  }
  EXPECT_GE(slices, 7u);
}

TEST_F(RunQpc, TellsWhatItWritesAndReplaces) {
  request_.types.latency = true;
  ASSERT_TRUE(run(request_));
  ASSERT_TRUE(run(request_));
  const std::string file = (folder_ / "out" / "aic-profiling-program-0-latency.txt").string();
  EXPECT_THAT(told_, ElementsAre("Writing file:" + file, "Deleting previous file: " + file,
                                 "Writing file:" + file));
}

// The vendor's runtime writes what it and the kernel driver saw into the trace.
TEST_F(RunQpc, TheTraceHadNothingOfTheHost) {
  request_.types.trace = true;
  ASSERT_TRUE(run(request_));
  std::ifstream in(folder_ / "out" / "aic-profiling-program-0-trace.json");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  for (const char* part : {"HOST_PROC (pid 1)", "\"submit\"", "\"complete\"", "Core-0-Execution"}) {
    EXPECT_NE(text.find(part), text.npos) << part;
  }
}

TEST_F(RunQpc, WritesBuffersAsOutputsOfTheFirstInferenceToo) {
  request_.write_output_folder = folder_ / "out";
  request_.types.raw_device_stats = true;
  request_.simulation.first_sample = 3;
  ASSERT_TRUE(run(request_));
  EXPECT_THAT(files(),
              ElementsAre("aic-profiling-program-0-activation-0-inf-3-QAicGraph-aiccyclecounts.bin",
                          "aiccyclecounts-activation-0-inf-0.bin"));
}

TEST_F(RunQpc, TheFolderOfTheQpcWillDo) {
  request_.qpc = folder_;
  EXPECT_TRUE(run(request_));
}

TEST_F(RunQpc, EveryDeviceRunsAProgramOfItsOwn) {
  request_.devices = {4, 7};
  request_.types.raw_device_stats = true;
  const auto outcome = run(request_);
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->programs.size(), 2u);
  EXPECT_EQ(outcome->programs[0].device, 4u);
  EXPECT_EQ(outcome->programs[1].device, 7u);
  EXPECT_EQ(outcome->programs[1].number, 1u);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(RunQpc, SlicesOfAMultiDeviceProgramRunOnDevicesOfTheirOwn) {
  write(*qaic::write_qpc({{"QAicGraph_slice00", qpc_of(random_program(1, 2, 40, 70))},
                          {"QAicGraph_slice01", qpc_of(random_program(2, 2, 40, 70))}}));
  request_.devices = {2};
  const auto outcome = run(request_);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->programs.size(), 2u);
  EXPECT_EQ(outcome->programs[0].device, 2u);
  EXPECT_EQ(outcome->programs[1].device, 3u);
  EXPECT_EQ(outcome->programs[1].network, "QAicGraph_slice01");
}

TEST_F(RunQpc, RunsOnlyTheProgramThatIsNamed) {
  qaic::Program prefill = random_program(1, 1, 30, 70);
  qaic::Program decode = random_program(2, 1, 30, 70);
  prefill.network_name = "QAicGraph_prefill";
  decode.network_name = "QAicGraph_decode";
  write(*qaic::write_qpc({{"prefill", qpc_of(prefill)}, {"decode", qpc_of(decode)}}));
  for (const std::string name : {"QAicGraph_decode", "decode", "1"}) {
    request_.program = name;
    const auto outcome = run(request_);
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_EQ(outcome->programs.size(), 1u);
    EXPECT_EQ(outcome->programs[0].network, "QAicGraph_decode");
    EXPECT_EQ(outcome->programs[0].number, 1u);
  }
  request_.program = "encode";
  EXPECT_THAT(error().message,
              HasSubstr("no program 'encode'; there are: 0 QAicGraph_prefill, 1 QAicGraph_decode"));
  request_.program = "2";
  EXPECT_THAT(error().message, HasSubstr("no program 2; there are 0 to 1"));
}

TEST_F(RunQpc, SaysWhenItCollectsFewerSamplesThanAskedFor) {
  request_.types.latency = true;
  request_.simulation.samples = 99;
  const auto outcome = run(request_);
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->warnings,
              ElementsAre("program 0: collected 10 of 99 profiling samples before the run ended; "
                          "raise --num-iter or --time"));
  EXPECT_FALSE(outcome->nothing_sampled);
}

TEST_F(RunQpc, ADelayLongerThanTheRunIsAnErrorAfterIt) {
  request_.types.latency = true;
  request_.simulation.first_sample_seconds = 1000;
  const auto outcome = run(request_);
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->nothing_sampled);
  EXPECT_EQ(outcome->nothing_sampled->kind, ErrorKind::usage);
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(RunQpc, RefusesATraceOfAProgramThatRecordsNoOperators) {
  write(random_program(1, 2, 60, 40));
  request_.types.trace = true;
  const Error refused = error();
  EXPECT_EQ(refused.kind, ErrorKind::input);
  EXPECT_EQ(refused.message,
            request_.qpc.string() +
                ": network QAicGraph was compiled with -stats-level=40, which records no "
                "operators; for a trace compile with -stats-level=70 or more");
}

TEST_F(RunQpc, RefusesStatisticsOfAProgramWithout) {
  write(random_program(1, 2, 60, 0));
  request_.types.raw_device_stats = true;
  EXPECT_THAT(error().message, HasSubstr("records no statistics"));
}

TEST_F(RunQpc, RefusesAFolderThatDoesNotExistBeforeItReadsAnything) {
  request_.qpc = folder_ / "missing.bin";
  request_.types.stats = true;
  request_.output_folder = folder_ / "nowhere";
  const Error refused = error();
  EXPECT_EQ(refused.kind, ErrorKind::output);
  EXPECT_THAT(refused.message, HasSubstr("nowhere: no such folder"));
}

TEST_F(RunQpc, RefusesSamplesThatCannotBe) {
  request_.types.stats = true;
  request_.simulation.first_sample = 10;
  EXPECT_THAT(error().message, HasSubstr("--aic-profiling-start-iter=10 lies beyond the run's 10"));
  request_.simulation.first_sample = 0;
  request_.simulation.samples = 0;
  EXPECT_THAT(error().message, HasSubstr("--aic-profiling-num-samples=0 saves nothing"));
}

TEST_F(RunQpc, RefusesWhatNpuscopeDidNotCompile) {
  write(*qaic::write_qpc(
      {{"network.elf", bytes_of("elf")}, {"networkdesc.bin", qaic::write_network_descriptor({})}}));
  const Error refused = error();
  EXPECT_EQ(refused.kind, ErrorKind::input);
  EXPECT_THAT(refused.message, HasSubstr("no segment npuscope.program.bin"));
}

TEST_F(RunQpc, RefusesAQpcWithoutPrograms) {
  write(*qaic::write_qpc({{"network.elf", bytes_of("elf")}}));
  EXPECT_THAT(error().message, HasSubstr("holds no program"));
}

// Truncations and flipped bytes: an error or a run, never a crash.
TEST_F(RunQpc, SurvivesDamagedContainers) {
  const auto intact = qpc_of(random_program(1, 1, 6, 70));
  request_.simulation.inferences = 1;
  for (std::size_t i = 0; i < intact.size(); i += 41) {
    auto flipped = intact;
    flipped[i] ^= std::byte{0x41};
    write(flipped);
    const auto outcome = run(request_);
    EXPECT_TRUE(outcome || outcome.error().kind != ErrorKind::output);
    write({intact.begin(), intact.begin() + std::ptrdiff_t(i)});
    EXPECT_FALSE(run(request_));
  }
}

}  // namespace
}  // namespace npuscope::npu::nsp::runner_test
