#include "jobs/opstats_job.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "formats/qaic/opstats/opstats_files.hpp"
#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/opstats/trace_checker.hpp"
#include "formats/qaic/qpc/qpc.hpp"
#include "formats/qaic/stats/random_buffer.hpp"

namespace npuscope::jobs::opstats_job_test {
namespace {

namespace fs = std::filesystem;
using qaic::test_support::make_random_case;
using qaic::test_support::RandomCase;
using qaic::test_support::RandomOptions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Kind = OpstatsMessage::Kind;

std::vector<qaic::QpcSegmentSource> segments_of(const RandomCase& random) {
  return {{"constantsdesc.bin", std::vector<std::byte>(24), 0},
          {"networkdesc.bin", write_network_descriptor(random.descriptor), 0},
          {"npuscope.program.bin", write_program(random.program), 0}};
}

class OpstatsJob : public ::testing::Test {
 protected:
  OpstatsJob() {
    folder_ = fs::path(::testing::TempDir()) / ("opstats_job_" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "in");
    fs::create_directories(folder_ / "out");
    request_.qpc = folder_ / "programqpc.bin";
    request_.input_folder = folder_ / "in";
    request_.output_folder = folder_ / "out";
    request_.summary = true;
  }
  ~OpstatsJob() override {
    std::error_code ignored;
    fs::permissions(folder_ / "out", fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }

  void put(const fs::path& path, ByteSpan bytes) {
    std::ofstream out(path, std::ios::binary);
    out << as_text(bytes);
  }
  void put_qpc(const std::vector<qaic::QpcSegmentSource>& segments) {
    put(request_.qpc, *write_qpc(segments));
  }
  void put_buffer(const std::string& name, ByteSpan bytes) {
    put(request_.input_folder / name, bytes);
  }

  Result<OpstatsOutcome> run() {
    told_.clear();
    return run_opstats(request_, [&](const OpstatsMessage& message) {
      if (message.kind != Kind::detail) told_.emplace_back(message.kind, message.text);
    });
  }
  std::vector<std::string> told(Kind kind) const {
    std::vector<std::string> texts;
    for (const auto& [of, text] : told_) {
      if (of == kind) texts.push_back(text);
    }
    return texts;
  }
  std::vector<std::string> written() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(request_.output_folder)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  std::string content(const std::string& name) const {
    std::ifstream in(request_.output_folder / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
  OpstatsRequest request_;
  std::vector<std::pair<Kind, std::string>> told_;
};

const std::string first = "aic-profiling-program-0-activation-0-inf-2-QAicGraph";
const std::string second = "aic-profiling-program-0-activation-0-inf-10-QAicGraph";
const std::string ending = "-aiccyclecounts.bin";

TEST_F(OpstatsJob, EveryBufferBecomesASummaryATwinAndATrace) {
  const auto random = make_random_case({});
  put_qpc(segments_of(random));
  put_buffer(first + ending, random.bytes());
  put_buffer(second + ending, random.bytes());
  put_buffer("notes.txt", {});
  request_.trace = request_.json = true;
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->worst);
  EXPECT_EQ(outcome->decoded, 2u);
  const std::string out = request_.output_folder.string() + "/";
  EXPECT_THAT(told(Kind::wrote), ElementsAre(out + first + ".qaic-opstats.summary.txt",
                                             out + first + ".qaic-opstats.summary.json",
                                             out + first + ".qaic-opstats.trace.json",
                                             out + second + ".qaic-opstats.summary.txt",
                                             out + second + ".qaic-opstats.summary.json",
                                             out + second + ".qaic-opstats.trace.json"))
      << "in order of inference, not of text";
  EXPECT_EQ(content(first + ".qaic-opstats.summary.txt"),
            content(second + ".qaic-opstats.summary.txt"));
  const auto twin = nlohmann::json::parse(content(first + ".qaic-opstats.summary.json"));
  const auto text = qaic::parse_summary(content(first + ".qaic-opstats.summary.txt"), "text");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(twin["ucycles"], text->ucycles());
  ASSERT_EQ(twin["cores"].size(), text->cores.size());
  for (std::size_t core = 0; core < text->cores.size(); ++core) {
    const auto& rows = text->cores[core].rows;
    ASSERT_EQ(twin["cores"][core]["ops"].size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(twin["cores"][core]["ops"][i]["ucycles"], rows[i].ucycles);
      EXPECT_EQ(twin["cores"][core]["ops"][i]["count"], rows[i].count);
    }
  }
  EXPECT_THAT(test::TraceChecker(out + first + ".qaic-opstats.trace.json").run().problems,
              IsEmpty());
}

TEST_F(OpstatsJob, WhatIsBrokenIsToldAndTheRestIsDecoded) {
  const auto random = make_random_case({});
  const auto whole = random.bytes();
  auto flipped = whole;
  flipped[whole.size() - 100] ^= std::byte{4};
  put_qpc(segments_of(random));
  put_buffer("aic-profiling-program-0-activation-0-inf-1-QAicGraph" + ending, {});
  put_buffer("aic-profiling-program-0-activation-0-inf-3-QAicGraph" + ending,
             ByteSpan(whole).first(whole.size() / 2));
  put_buffer("aic-profiling-program-0-activation-0-inf-4-QAicGraph" + ending,
             std::vector<std::byte>(whole.size()));
  put_buffer("aic-profiling-program-0-activation-0-inf-5-QAicGraph" + ending, flipped);
  put_buffer("aic-profiling-program-0-activation-0-inf-6-QAicGraph" + ending,
             make_random_case({.seed = 2}).bytes());
  put_buffer("aic-profiling-program-0-activation-0-inf-7-Other" + ending,
             make_random_case({.network = "Other"}).bytes());
  fs::create_symlink(
      "nowhere",
      request_.input_folder / ("aic-profiling-program-0-activation-0-inf-8-QAicGraph" + ending));
  put_buffer("aic-profiling-program-0-activation-0-inf-9-QAicGraph" + ending, whole);
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->worst);
  EXPECT_EQ(outcome->worst->kind, ErrorKind::input);
  EXPECT_EQ(outcome->buffers, 8u);
  EXPECT_EQ(outcome->decoded, 2u);
  EXPECT_THAT(
      told(Kind::problem),
      ElementsAre(HasSubstr("inf-1-QAicGraph-aiccyclecounts.bin: empty"),
                  HasSubstr("copy the file again"), HasSubstr("all zero"),
                  HasSubstr("core 1 thread 5's operators is damaged"), HasSubstr("another program"),
                  HasSubstr("belongs to network Other but the QPC has QAicGraph"),
                  HasSubstr("inf-8-QAicGraph-aiccyclecounts.bin: cannot open")));
  EXPECT_THAT(written(),
              UnorderedElementsAre(HasSubstr("inf-5-QAicGraph"), HasSubstr("inf-9-QAicGraph")));
}

TEST_F(OpstatsJob, Level40GivesASummaryButNoTrace) {
  const auto random = make_random_case({.stats_level = 40});
  put_qpc(segments_of(random));
  put_buffer(first + ending, random.bytes());
  request_.trace = true;
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->worst);
  EXPECT_THAT(told(Kind::problem),
              ElementsAre(HasSubstr("compiled with -stats-level=40, which records no operators; "
                                    "compile with -stats-level=70 or more")));
  EXPECT_THAT(written(), ElementsAre(first + ".qaic-opstats.summary.txt"));
}

// Two devices of one network, as slices of one QPC that run the same program.
class TwoDevices : public OpstatsJob {
 protected:
  TwoDevices() {
    request_.trace = true;
    request_.summary = false;
    const auto random = make_random_case({.cores = 1, .ops_per_group = 5});
    const auto inner = *write_qpc(segments_of(random));
    put_qpc({{"QAicGraph_slice00", inner, 0}, {"QAicGraph_slice01", inner, 0}});
    buffer_ = random.buffer;
  }
  std::string name(std::uint32_t slice, std::uint32_t program = 19) const {
    return "aic-profiling-program-" + std::to_string(program) + "-inf-2-QAicGraph_slice0" +
           std::to_string(slice) + "-aiccyclecounts_0.bin";
  }
  void put_slice(const std::string& file, std::uint32_t device) {
    buffer_.identity.device = device;
    put_buffer(file, write_stats_buffer(buffer_));
  }
  std::set<std::string> tracks(const std::string& file) {
    return test::TraceChecker(request_.output_folder / file).run().tracks();
  }
  qaic::test_support::StatsBuffer buffer_;
};

TEST_F(TwoDevices, ShareATrace) {
  put_slice(name(0), 0);
  put_slice(name(1), 1);
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->worst);
  ASSERT_EQ(written().size(), 1u);
  EXPECT_THAT(written().front(), HasSubstr("-merged"));
  const auto names = tracks(written().front());
  EXPECT_TRUE(names.contains("QAicGraph_slice00_Core_0_HMX"));
  EXPECT_TRUE(names.contains("QAicGraph_slice01_Core_0_HMX"));
}

TEST_F(TwoDevices, ShareATraceAlsoWhenEachIsAProgramOfItsOwnOnTheSameDevice) {
  put_slice(name(0, 0), 0);
  put_slice(name(1, 1), 0);
  ASSERT_TRUE(run());
  ASSERT_EQ(written().size(), 1u);
  EXPECT_TRUE(tracks(written().front()).contains("QAicGraph_slice01_Core_0_HMX"));
}

TEST_F(TwoDevices, KeepTheirOwnTracesWhenAsked) {
  put_slice(name(0), 0);
  put_slice(name(1), 1);
  request_.merge_devices = false;
  ASSERT_TRUE(run());
  EXPECT_THAT(written(),
              UnorderedElementsAre(
                  "aic-profiling-program-19-inf-2-QAicGraph_slice00-0.qaic-opstats.trace.json",
                  "aic-profiling-program-19-inf-2-QAicGraph_slice01-0.qaic-opstats.trace.json"));
}

TEST_F(TwoDevices, AMissingOneIsTold) {
  put_slice(name(1), 1);
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->worst);
  EXPECT_THAT(told(Kind::problem), ElementsAre(HasSubstr("the buffer of device 0")));
  EXPECT_EQ(written().size(), 1u) << "the other is still traced";
}

TEST_F(TwoDevices, OnlyChosenDevicesAreTraced) {
  put_slice(name(0), 0);
  put_slice(name(1), 1);
  request_.trace_options.devices = {1};
  ASSERT_TRUE(run());
  for (const std::string& track : tracks(written().front())) {
    EXPECT_TRUE(track.starts_with("QAicGraph_slice01")) << track;
  }
}

TEST_F(TwoDevices, ADeviceThatIsNotThereWasChosenInSilence) {
  put_slice(name(0), 0);
  put_slice(name(1), 1);
  const std::string in = request_.input_folder.string();
  for (const bool merge : {true, false}) {
    request_.merge_devices = merge;
    request_.trace_options.devices = {7, 8};
    const auto outcome = run();
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_TRUE(outcome->worst);
    EXPECT_EQ(outcome->worst->kind, ErrorKind::usage);
    EXPECT_THAT(told(Kind::problem),
                ElementsAre(in + ": no buffer that can be traced is of device 7,8, they are of "
                                 "0,1; choose others with --select-devices"));
    EXPECT_THAT(written(), IsEmpty());
  }
  request_.trace_options.devices = {1, 7};
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->worst);
  EXPECT_THAT(told(Kind::note), ElementsAre(HasSubstr("no buffer that can be traced is of device "
                                                      "7, they are of 0,1")));
  EXPECT_EQ(written().size(), 1u);
}

TEST_F(OpstatsJob, ACoreThatIsNotThereWasRefusedOncePerBufferAndOnlyWithoutOthers) {
  const auto random = make_random_case({.cores = 2});
  put_qpc(segments_of(random));
  put_buffer(first + ending, random.bytes());
  put_buffer(second + ending, random.bytes());
  request_.trace = true;
  request_.trace_options.cores = {2, 99};
  const auto refused = run();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_EQ(refused.error().message, request_.qpc.string() +
                                         ": no network has core 2,99, the cores are 0 to 1; choose "
                                         "others with --select-cores");
  EXPECT_THAT(written(), IsEmpty());
  request_.trace_options.cores = {1, 99};
  ASSERT_TRUE(run());
  EXPECT_THAT(told(Kind::note), ElementsAre(HasSubstr("no network has core 99")));
  EXPECT_EQ(written().size(), 4u);
}

TEST_F(TwoDevices, NamesWithoutSliceAreMatchedByDevice) {
  put_slice("aic-profiling-program-0-activation-0-inf-0-QAicGraph-aiccyclecounts.bin", 0);
  put_slice("aic-profiling-program-1-activation-0-inf-0-QAicGraph-aiccyclecounts.bin", 1);
  ASSERT_TRUE(run());
  EXPECT_TRUE(tracks("aic-profiling-program-1-activation-0-inf-0-QAicGraph.qaic-opstats.trace.json")
                  .contains("QAicGraph_slice01_Core_0"));
}

TEST_F(OpstatsJob, OrdinaryOutputsAreBuffersToo) {
  const auto random = make_random_case({});
  put_qpc(segments_of(random));
  put_buffer("aiccyclecounts-activation-0-inf-3.bin", random.bytes());
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(written(), ElementsAre("aiccyclecounts-activation-0-inf-3.qaic-opstats.summary.txt"));
}

TEST_F(OpstatsJob, AQpcOfTheVendorsCompilerIsExplained) {
  const auto random = make_random_case({});
  auto segments = segments_of(random);
  segments.pop_back();
  put_qpc(segments);
  put_buffer(first + ending, std::vector<std::byte>(1000, std::byte{7}));
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(told(Kind::note),
              ElementsAre(HasSubstr("the vendor's raw buffer layout is not public")));
  EXPECT_THAT(told(Kind::problem), ElementsAre(HasSubstr("not a statistics buffer")));
}

TEST_F(OpstatsJob, AHostTraceOfAnUnknownClockIsToldApart) {
  const auto random = make_random_case({});
  put_qpc(segments_of(random));
  put_buffer(first + ending, random.bytes());
  request_.summary = false;
  request_.trace = true;
  request_.host_trace = folder_ / "host.json";
  std::ofstream(*request_.host_trace) << R"([{"name":"h","ph":"X","ts":7,"dur":1,"pid":1}])";
  ASSERT_TRUE(run());
  EXPECT_THAT(told(Kind::note),
              ElementsAre(HasSubstr("host.json: has no otherData.utimer_ticks_at_zero, so its "
                                    "earliest event is put at the device's earliest")));
  std::ofstream(*request_.host_trace)
      << R"({"otherData":{"utimer_ticks_at_zero":"0"},"traceEvents":[]})";
  ASSERT_TRUE(run());
  EXPECT_THAT(told(Kind::note), IsEmpty());
}

TEST_F(OpstatsJob, ErrorsBeforeAnythingIsDecoded) {
  const auto random = make_random_case({});
  put_qpc(segments_of(random));
  put_buffer(first + ending, random.bytes());
  const auto refuse = [&](auto change) {
    const OpstatsRequest kept = request_;
    change(request_);
    const auto outcome = run();
    request_ = kept;
    return outcome ? Error{ErrorKind::usage, "accepted"} : outcome.error();
  };
  Error error = refuse([](auto& r) { r.summary = false; });
  EXPECT_EQ(error.kind, ErrorKind::usage);
  EXPECT_THAT(error.message, HasSubstr("neither a summary nor a trace"));
  error = refuse([](auto& r) { r.summary = false, r.trace = r.json = true; });
  EXPECT_EQ(error.kind, ErrorKind::usage);
  error = refuse([&](auto& r) { r.output_folder = folder_ / "missing"; });
  EXPECT_EQ(error.kind, ErrorKind::output);
  error = refuse([&](auto& r) { r.input_folder = folder_ / "out"; });
  EXPECT_EQ(error.kind, ErrorKind::input);
  EXPECT_THAT(error.message, HasSubstr("holds no statistics buffer"));
  EXPECT_THAT(error.message, HasSubstr("npuscope run --aic-profiling-type=raw_device_stats"));
  error = refuse([&](auto& r) { r.input_folder = folder_ / "missing"; });
  EXPECT_THAT(error.message, HasSubstr("no such folder"));
  error = refuse([&](auto& r) { r.qpc = folder_ / "in" / (first + ending); });
  EXPECT_EQ(error.kind, ErrorKind::input);
  error = refuse([&](auto& r) { r.trace = true, r.host_trace = folder_ / "none.json"; });
  EXPECT_EQ(error.kind, ErrorKind::input);
  EXPECT_THAT(written(), IsEmpty());
}

TEST(StatsBufferNames, AreReadAsRunnersWriteThem) {
  const auto name = qaic::parse_stats_buffer_name(
      "aic-profiling-program-3-activation-1-inf-213-My-Net-aiccyclecounts.bin");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->program, 3u);
  EXPECT_EQ(name->activation, 1u);
  EXPECT_EQ(name->inference, 213u);
  EXPECT_EQ(name->network, "My-Net");
  EXPECT_EQ(name->output_stem, "aic-profiling-program-3-activation-1-inf-213-My-Net");
  const auto slice = qaic::parse_stats_buffer_name(
      "aic-profiling-program-19-inf-2-QAicGraph_slice00-aiccyclecounts_1.bin");
  ASSERT_TRUE(slice);
  EXPECT_FALSE(slice->activation);
  EXPECT_EQ(slice->network, "QAicGraph_slice00");
  EXPECT_EQ(slice->output_stem, "aic-profiling-program-19-inf-2-QAicGraph_slice00-1");
  EXPECT_EQ(qaic::slice_number(slice->network), 0u);
  EXPECT_EQ(qaic::without_slice(slice->network), "QAicGraph");
  for (const char* other : {"", ".bin", "x.bin", "aiccyclecounts.bin", "-aiccyclecounts.bin",
                            "x-aiccyclecounts.bin.txt", "x-aiccyclecountsX.bin",
                            "aic-profiling-program-0-trace.json"}) {
    EXPECT_FALSE(qaic::parse_stats_buffer_name(other)) << other;
  }
}

}  // namespace
}  // namespace npuscope::jobs::opstats_job_test
