// The dialects of tables/*.toml beyond CSV, and what numbers of each mean.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

#include "formats/tables/table_text.hpp"

namespace npuscope::tables::dialects_test {
namespace {

using test::numbers_of;
using test::open;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string content(const std::string& name) {
  std::ifstream file(NPUSCOPE_TEST_DATA "/tables/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string numbers_of_run(const Profile& profile) {
  std::string text;
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::profile) continue;
    text += fmt::format("{}={:.10g}; ", profile.text(measure.what), measure.value);
  }
  return text;
}

std::vector<std::string> warnings_of(const Profile& profile) {
  std::vector<std::string> said;
  for (const Note& note : profile.notes) {
    if (note.severity == Severity::warning) said.push_back(note.message);
  }
  return said;
}

bool checks_hold(const Profile& profile) {
  return !profile.checks.empty() && std::ranges::all_of(profile.checks, [](const Check& check) {
    return check.outcome == Check::Outcome::passed;
  });
}

// Averages are of a call and calls of all runs: the node of two partitions ran twice in each of
// four runs. A name that is too long moves its row.
TEST(TableDialects, LiteRtIsOfAllRuns) {
  const auto profiles = open(content("litert_profile.txt"));
  ASSERT_TRUE(profiles) << profiles.error().message;
  ASSERT_EQ(profiles->size(), 1u);  // not "Top by Computation Time" too
  const Profile& profile = profiles->front();
  EXPECT_EQ(
      numbers_of(profile),
      "Delegate/Convolution (NHWC, QS8) IGEMM [Delegate]:0: time in an inference=220000 first "
      "call=138000 calls in an inference=2\n"
      "Delegate/Fully Connected (NC, QS8, QC8W) GEMM with a name that is far too long for its "
      "place [Delegate]:1: time in an inference=5000 first call=10000 calls in an inference=1\n"
      "AVERAGE_POOL_2D [Builtin]:4: time in an inference=20000 first call=11000 calls in an "
      "inference=1\n"
      "SOFTMAX [Builtin]:7: time in an inference=0 first call=2000 calls in an inference=1\n");
  EXPECT_EQ(profile.provenance.inferences, 4u);
  EXPECT_EQ(numbers_of_run(profile), "sum of the ops=245000; ");
  EXPECT_TRUE(checks_hold(profile)) << profile.checks[0].detail;  // 981 us of four runs
}

// As a shell on Windows and some terminals write it.
TEST(TableDialects, FieldsBelowTheirHeadsWereLostWhereLinesEndInCarriageReturns) {
  for (const char* name :
       {"litert_profile.txt", "tflite_profile.txt", "rknn_build.txt", "rknn_perf.txt"}) {
    const std::string text = content(name);
    std::string returns;
    for (const char c : text) returns += c == '\n' ? std::string("\r\n") : std::string(1, c);
    const auto plain = open(text), profiles = open(returns);
    ASSERT_TRUE(profiles) << name << ": " << profiles.error().message;
    EXPECT_EQ(profiles->size(), plain->size()) << name;
    EXPECT_EQ(numbers_of(profiles->front()), numbers_of(plain->front())) << name;
  }
}

// The same headings, of one run; initialization is none, and what a delegate did inside is part of
// its row.
TEST(TableDialects, TfLiteIsOfARun) {
  const std::string text = content("tflite_profile.txt");
  const auto profiles = open(text);
  ASSERT_TRUE(profiles) << profiles.error().message;
  ASSERT_EQ(profiles->size(), 2u);
  const Profile& profile = profiles->at(0);
  EXPECT_EQ(
      numbers_of(profile),
      "[a/Relu6;b]:10: time in an inference=900000 first call=1000000 calls in an inference=1\n"
      "[x]:1: time in an inference=150000 first call=200000 calls in an inference=1\n"
      "[y]:2: time in an inference=20000 first call=20000 calls in an inference=2\n");
  EXPECT_EQ(profile.provenance.inferences, 50u);
  EXPECT_EQ(
      numbers_of_run(profile),
      "initialization=17851000; first inference=4625131000; inference, average=1039660; sum of "
      "the ops=1070000; ");
  EXPECT_TRUE(checks_hold(profile));
  EXPECT_EQ(profiles->at(1).provenance.graph, "Delegate internal");
  EXPECT_EQ(profiles->at(1).ops.size(), 2u);
  // Each line of it in Android's log.
  std::string logged;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    logged += "05-31 10:31:13.006 21767 21767 I tflite  : " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  const auto again = open(logged);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->size(), 2u);
  EXPECT_EQ(numbers_of(again->front()), numbers_of(profile));
  EXPECT_EQ(again->at(1).provenance.graph, "Delegate internal");
}

TEST(TableDialects, RknnWithoutAnEstimateIsUnknownButForItsBytes) {
  const auto profiles = open(content("rknn_build.txt"));
  ASSERT_TRUE(profiles) << profiles.error().message;
  ASSERT_EQ(profiles->size(), 1u);
  const Profile& profile = profiles->front();
  EXPECT_EQ(numbers_of(profile),
            "InputOperator:x:\n"
            "Conv:conv1: total cycles=4608 DDR cycles=1127 NPU cycles=4608 bytes read and "
            "written=159744\n"
            "Conv:conv2: total cycles=9000 DDR cycles=2000 NPU cycles=9000 bytes read and "
            "written=307200\n"
            "cst:norm: bytes read and written=262144\n"  // was lost with the cycles that it lacks
            "Softmax:prob:\nOutputOperator:prob:\n");
  EXPECT_EQ(profile.provenance.times, Origin::estimated);
  EXPECT_EQ(numbers_of_run(profile), "");  // not the sum of what is known
  EXPECT_EQ(profile.text(profile.ops[3].kind), "cstInstanceNormalization_1_16_64_64");
  EXPECT_EQ(profile.ops[3].engine, Engine::host);
  EXPECT_EQ(profile.ops[4].engine, Engine::compute);
  EXPECT_EQ(profile.text(profile.ops[2].shape), "(1,16,64,64)");
}

TEST(TableDialects, RknnOnABoardIsMeasured) {
  const auto profiles = open(content("rknn_perf.txt"));
  ASSERT_TRUE(profiles) << profiles.error().message;
  const Profile& profile = profiles->front();
  EXPECT_EQ(profile.provenance.times, Origin::measured);
  EXPECT_THAT(numbers_of(profile), HasSubstr("\nSoftmax:prob: layer time=43000 bytes read and "
                                             "written=0\n"));
  EXPECT_TRUE(checks_hold(profile));
}

// Three columns of cycles, shapes that are too long for their place, no rules, a total by another
// name.
TEST(TableDialects, RknnOfOlderVersions) {
  const auto perf = open(content("rknn_perf_1.4.txt"));
  ASSERT_TRUE(perf) << perf.error().message;
  ASSERT_EQ(perf->size(), 1u);
  EXPECT_EQ(
      numbers_of(perf->front()),
      "InputOperator:images: layer time=14000 bytes read and written=4708546.56\n"
      "Conv:Conv_41: layer time=330000 DDR cycles=72209 NPU cycles=230400 total cycles=230400 "
      "bytes read and written=427038.72\n"
      "Concat:Concat_78: layer time=203000 DDR cycles=281551 total cycles=281551 bytes read "
      "and written=1665085.44\n");
  EXPECT_TRUE(checks_hold(perf->front()));
  // A build of 1.5 prints the same columns, all 0: nothing was timed.
  const auto build = open(content("rknn_build_1.5.txt"));
  ASSERT_TRUE(build) << build.error().message;
  ASSERT_EQ(build->size(), 1u);
  EXPECT_EQ(numbers_of(build->front()),
            "InputOperator:input: bytes read and written=150528\n"
            "Conv:a: bytes read and written=553349.12\n");
  EXPECT_THAT(warnings_of(build->front()),
              ElementsAre(HasSubstr("layers without a time: the table of a build")));
}

TEST(TableDialects, OfSeveralBuildTablesOfRknnTheLastCounts) {
  const std::string text = content("rknn_build.txt");
  std::string first = text;
  first.replace(first.find("1127/4608/4608"), 14, "1127/9999/9999");
  const auto profiles = open(first + text);
  ASSERT_TRUE(profiles) << profiles.error().message;
  ASSERT_EQ(profiles->size(), 1u);
  EXPECT_THAT(numbers_of(profiles->front()), HasSubstr("NPU cycles=4608"));
}

// Tabs that became blanks, another log's line beginnings, calls of 0 in versions of 2018.
TEST(TableDialects, TfLiteAsLogsAndPagesHaveIt) {
  const std::string text = content("tflite_profile.txt");
  const auto plain = open(text);
  ASSERT_TRUE(plain);
  std::string blanks, lines, zero = text;
  for (const char c : text) blanks += c == '\t' ? ' ' : c;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines += "2018-09-10 12:36:37.574: I tensorflow/core/util/stat_summarizer.cc:85] " +
             text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  for (std::size_t at; (at = zero.find("       1\t[")) != zero.npos;) zero[at + 7] = '0';
  std::string logged;  // as newer programs write each line
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    logged += "INFO: " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  for (const std::string& other : {blanks, lines, zero, logged}) {
    const auto profiles = open(other);
    ASSERT_TRUE(profiles) << profiles.error().message;
    ASSERT_EQ(profiles->size(), 2u);
    EXPECT_EQ(profiles->at(0).provenance.format, "TensorFlow Lite op profile");
    EXPECT_TRUE(checks_hold(profiles->at(0)));
    EXPECT_TRUE(checks_hold(profiles->at(1)));
    EXPECT_EQ(profiles->at(1).provenance.graph, "Delegate internal");
  }
  EXPECT_EQ(numbers_of(open(blanks)->front()), numbers_of(plain->front()));
}

TEST(TableDialects, TensorRtIsOfARun) {
  const auto profiles = open(
      R"([{"count": 4216},
          {"name": "Reformat 0", "timeMs": 51.4526, "averageMs": 0.0122041, "percentage": 1.9},
          {"name": "{ForeignNode[conv1...fc]}", "timeMs": 2676.55, "averageMs": 0.634855,
           "medianMs": 0.634, "percentage": 98.1}])");
  ASSERT_TRUE(profiles) << profiles.error().message;
  const Profile& profile = profiles->front();
  EXPECT_EQ(numbers_of(profile),
            "Reformat 0: mean time=12204.1 time of all runs=51452600\n"
            "{ForeignNode[conv1...fc]}: mean time=634855 median time=634000 time of all "
            "runs=2676550000\n");
  EXPECT_EQ(profile.provenance.inferences, 4'216u);
  EXPECT_TRUE(std::ranges::any_of(profile.notes, [](const Note& note) {
    return note.message.starts_with("layers called {ForeignNode[...]}");
  }));
}

TEST(TableDialects, OpenVinoInJson) {
  const std::string node =
      R"({"name": "conv", "node_type": "Convolution", "status": "Status.EXECUTED",
          "real_time": "0.116", "cpu_time": "0.464", "exec_type": "DPU"})";
  const std::string block =
      R"({"nodes": [)" + node + R"(], "total_real_time": "0.116", "total_cpu_time": "0.464"})";
  const auto twice = open(R"({"report_type": "detailed", "detailed_performance": [)" + block +
                          ", " + block + "]}");
  ASSERT_TRUE(twice) << twice.error().message;
  ASSERT_EQ(twice->size(), 1u);  // requests of one stream
  EXPECT_EQ(numbers_of(twice->front()), "conv: real time=116000 time summed over engines=464000\n");
  EXPECT_TRUE(checks_hold(twice->front()));
  EXPECT_TRUE(
      open("\xef\xbb\xbf"
           R"({"report_type": "detailed", "detailed_performance": [)" +
           block + "]}"));  // saved by an editor
  const auto average = open(R"({"report_type": "average", "avg_performance": {"nodes": [)" + node +
                            R"(], "total_real_time": "0.000"}})");
  ASSERT_FALSE(average);
  EXPECT_THAT(average.error().message, HasSubstr("writes only the first layer"));
  EXPECT_FALSE(open(R"({"report_type": "detailed", "detailed_performance": [)" + block));
}

// Means of one slow first call may be above the latency, and DMA, gaps and the host are missing.
TEST(TableDialects, TheSumOfOpenVinosLayersIsNoLatency) {
  const auto profiles = open(
      "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"
      "relu;OPTIMIZED_OUT;ReLU;undef;0.000;0.000\nconv;EXECUTED;Convolution;DPU;0.116;0.464\n"
      "conv;EXECUTED;Convolution;DPU;0.020;0.080\nTotal;;;;0.137;0.544\n");
  ASSERT_TRUE(profiles) << profiles.error().message;
  const Profile& profile = profiles->front();
  EXPECT_EQ(profile.ops.size(), 2u);  // layers of one name stay apart
  EXPECT_EQ(numbers_of_run(profile), "");
  EXPECT_TRUE(checks_hold(profile)) << profile.checks[0].detail;  // rounded before it was added
}

TEST(TableDialects, BenchmarksAreLatencies) {
  const auto csv = open(
      "Command line parameters\n-d;NPU\n\nExecution results\nread model time (ms);59.32\n"
      "first inference time (ms);28.56\ntotal number of iterations;16506\nlatency (ms);3.27\n"
      "avg latency;3.50\nmin latency;2.73\nmax latency;40.79\nthroughput;275.09\n");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(numbers_of_run(csv->front()),
            "read model=59320000; first inference=28560000; inference, 50%=3270000; inference, "
            "average=3500000; inference, min=2730000; inference, max=40790000; ");
  EXPECT_EQ(csv->front().provenance.inferences, 16'506u);
  const auto json = open(
      R"({"accelerators": ["NPU", "CPU"], "fully_accelerated": false,
          "latency": {"avg_ms": 2.33, "median_ms": 0.71, "num_runs": 20}})");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(numbers_of_run(json->front()), "inference, average=2330000; inference, 50%=710000; ");
  EXPECT_THAT(
      warnings_of(json->front()),
      ElementsAre("not fully accelerated: part of the model, or all of it, ran on the CPU"));
}

// Of a run that LoadGen calls invalid: latencies without their rates and their verdict were a
// result.
TEST(TableDialects, MlperfsSummarySaysWhatItsNumbersAreOf) {
  const auto profiles = open(content("mlperf_server_tokens.txt"));
  ASSERT_TRUE(profiles) << profiles.error().message;
  ASSERT_EQ(profiles->size(), 1u);
  const Profile& profile = profiles->front();
  EXPECT_EQ(numbers_of_run(profile),
            "samples per second=193.85; tokens per second=1969.31; samples per second, "
            "scheduled=195.08; inference, min=1108228; inference, max=4078492; inference, "
            "average=2002796; inference, 50%=1852206; inference, 90%=2924651; inference, "
            "95%=3365722; inference, 99%=4078492; inference, 99.9%=4078492; time to first token, "
            "min=15004; time to first token, max=2077295; time to first token, average=357495; "
            "time to first token, 50%=92930; time to first token, 90%=1452600; time to first "
            "token, 95%=1776864; time to first token, 99%=2077295; time to first token, "
            "99.9%=2077295; time per output token, min=120163; time per output token, "
            "max=259572; time per output token, average=182810; time per output token, "
            "50%=186882; time per output token, 90%=253464; time per output token, 95%=254280; "
            "time per output token, 99%=259572; time per output token, 99.9%=259572; samples per "
            "query=1; ");
  EXPECT_EQ(profile.measures.front().meaning.quantity, NumberQuantity::rate);
  EXPECT_THAT(warnings_of(profile), ElementsAre(HasSubstr("LoadGen calls the run INVALID")));
  EXPECT_THAT(warnings_of(open("MLPerf Results Summary\nScenario : Offline\nMode     : "
                               "PerformanceOnly\nSamples per second: 592.194\nResult is : VALID\n")
                              ->front()),
              ElementsAre(HasSubstr("issues all samples at once")));
}

TEST(TableDialects, HailoRtsNetworksHaveRatesAndTwoLatencies) {
  const std::string head =
      "net_name,status,status_description,fps,num_of_frames,send_rate,recv_rate,hw_latency,"
      "overall_latency,min_power,average_power,max_power,min_current,average_current,max_current,"
      "min_temp,average_temp,max_temp\n";
  const auto csv = open(head +
                        "a,0,HAILO_SUCCESS,218.5,2184,2146.25,1822.5,12.5,21.75,3,3.5,3.75,"
                        ",,,44,46,48\nb,8,HAILO_TIMEOUT,,,,,,,,,,,,,,,\n");
  ASSERT_TRUE(csv) << csv.error().message;
  ASSERT_EQ(csv->size(), 1u);  // that of the second failed
  EXPECT_EQ(csv->front().provenance.graph, "a");
  EXPECT_EQ(numbers_of_run(csv->front()),
            "frames per second=218.5; frames=2184; inference on the device, average=12500000; "
            "inference, average=21750000; sent, Mbit/s=2146.25; received, Mbit/s=1822.5; average "
            "power, W=3.5; largest power, W=3.75; average temperature, C=46; highest temperature, "
            "C=48; ");
  EXPECT_EQ(csv->front().measures[2].meaning.role, NumberRole::host_round_trip);
  const auto benchmark = open(
      "net_name,fps,hw_only_fps,num_of_frames,num_of_frames_hw_only,hw_latency,overall_latency,"
      "min_power,average_power,max_power\na,218.5,219,3275,3276,12.5,,,,\n");
  ASSERT_TRUE(benchmark) << benchmark.error().message;
  EXPECT_EQ(numbers_of_run(benchmark->front()),
            "frames per second=218.5; frames per second, hardware alone=219; frames=3275; frames, "
            "hardware alone=3276; inference on the device, average=12500000; ");
  const auto json = open(R"({"time": "Tue Dec  1 01:00:00 2026", "inference_mode": "full_async",
      "network_groups": [{"name": "a", "full_hef_path": "a.hef", "FPS": "218.500000",
                          "hw_latency": 12.5}],
      "devices": [{"device_id": "0000:01:00.0"}]})");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(numbers_of_run(json->front()),
            "frames per second=218.5; inference on the device, average=12500000; ");
}

TEST(TableDialects, TensorRtsTimesAreInferences) {
  const auto times = open(R"([
    {"startEnqMs": 9, "endEnqMs": 9.1, "startH2dMs": 10, "endH2dMs": 10.5, "startComputeMs": 11,
     "endComputeMs": 13, "startD2hMs": 13.5, "endD2hMs": 13.75, "h2dMs": 0.5, "computeMs": 2,
     "d2hMs": 0.25, "latencyMs": 2.75},
    {"startEnqMs": 13, "endEnqMs": 13.1, "startH2dMs": 14, "endH2dMs": 14.5, "startComputeMs": 14.5,
     "endComputeMs": 15.5, "startD2hMs": 15.5, "endD2hMs": 15.75, "h2dMs": 0.5, "computeMs": 1,
     "d2hMs": 0.25, "latencyMs": 1.75}])");
  ASSERT_TRUE(times) << times.error().message;
  const Profile& profile = times->front();
  ASSERT_EQ(profile.spans.size(), 2u);
  EXPECT_THAT(profile.spans.kind, ElementsAre(SpanKind::inference, SpanKind::inference));
  EXPECT_THAT(profile.spans.start, ElementsAre(10'000'000, 14'000'000));
  EXPECT_THAT(profile.spans.duration, ElementsAre(2'750'000, 1'750'000));
  EXPECT_EQ(numbers_of_run(profile),
            "copy to the device=500000; compute=2000000; copy to the host=250000; copy to the "
            "device=500000; compute=1000000; copy to the host=250000; ");
  EXPECT_EQ(profile.measures[3].instance, 1u);
  EXPECT_EQ(profile.provenance.temperature, Provenance::Temperature::warm);
  EXPECT_EQ(profile.provenance.inferences, 2u);
  const auto old = open(R"([{"startInMs": 1, "endInMs": 1.5, "startComputeMs": 1.5,
    "endComputeMs": 2, "startOutMs": 2, "endOutMs": 2.5, "inMs": 0.5, "computeMs": 0.5,
    "outMs": 0.5, "latencyMs": 1.5, "endToEndMs": 1.5}])");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_THAT(old->front().spans.duration, ElementsAre(1'500'000));
}

constexpr const char* vela =
    "Original Operator,NNG Operator,Target,Staging Usage,Peak% (Staging),Op Cycles,Network% "
    "(cycles),NPU,SRAM AC,DRAM AC,OnFlash AC,OffFlash AC,MAC Count,Network% (MAC),Util% "
    "(MAC),Name\n";

TEST(TableDialects, SnpesLayersHaveNoHeader) {
  const std::string text = content("snpe_diagview.txt");
  const auto profiles = open(text);
  ASSERT_TRUE(profiles) << profiles.error().message;
  ASSERT_EQ(profiles->size(), 1u);
  const Profile& profile = profiles->front();
  EXPECT_EQ(numbers_of(profile),
            "layer 0: layer time=4000\nlayer 1: layer time=1500000\nlayer 2: layer time=700000\n");
  EXPECT_EQ(profile.ops[0].engine, Engine::host);
  EXPECT_EQ(profile.ops[1].engine, Engine::compute);
  EXPECT_EQ(numbers_of_run(profile),
            "load=150000; deserialize=16000000; create=29000000; initialization=48000000; "
            "de-initialization=6700000; inference, average=3000000; forward propagate=2900000; "
            "RPC execute=2500000; SNPE accelerator=2400000; accelerator=2300000; ");
  // Basic profiling has no layers.
  const auto basic = open(text.substr(0, text.find("Layer Times")));
  ASSERT_TRUE(basic) << basic.error().message;
  EXPECT_EQ(numbers_of_run(basic->front()), numbers_of_run(profile));
  EXPECT_TRUE(basic->front().ops.empty());
}

// 4.5.0 gives a fused Relu cycles that its totals lack; 4.2.0 calls it CPU, and its totals have it.
TEST(TableDialects, FusedRowsOfVelaByVersion) {
  const auto v450 = open(std::string(vela) +
                         "Conv2D,Conv2D,NPU,1,1,36093,1,36093,1,0,0,0,442368,1,1,conv1\n"
                         "Conv2D,Relu,NPU,1,1,12499,1,12499,1,0,0,0,16384,1,1,conv1\n"
                         "Relu,Relu,NPU,1,1,77,1,77,1,0,0,0,0,1,1,relu2\n");
  ASSERT_TRUE(v450) << v450.error().message;
  EXPECT_EQ(numbers_of_run(v450->front()), "sum of the ops=36170; ");
  const auto v420 = open(std::string(vela) +
                         "N/A,Conv2D,NPU,1,1,9925,1,9925,1,0,0,0,442368,1,1,conv1\n"
                         "N/A,Relu,CPU,1,1,8578,1,8578,1,0,0,0,16384,1,1,conv1\n");
  ASSERT_TRUE(v420);
  EXPECT_EQ(numbers_of_run(v420->front()), "sum of the ops=18503; ");
  EXPECT_EQ(v420->front().ops[1].engine, Engine::compute);
  EXPECT_THAT(warnings_of(v420->front()), IsEmpty());
}

// The older header has no target: where the CPU splits the network, a header stands again.
TEST(TableDialects, PartsOfAnOlderVelaAreOneNetwork) {
  const std::string header =
      "TFLite_operator,NNG Operator,SRAM Usage,Peak%,Op Cycles,Network%,NPU,SRAM AC,DRAM "
      "AC,OnFlash "
      "AC,OffFlash AC,MAC Count,Network%,Util%,Name\n";
  const std::string conv =
      "CONV_2D,Conv2DBias,29392,73.7,10000.5,17.1,10000.5,9440.0,0.0,0.0,0.0,589824,14.3,46.1,"
      "conv\n";
  const auto whole = open(header + conv);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(
      numbers_of(whole->front()),
      "conv: op cycles=10000.5 NPU cycles=10000.5 SRAM cycles=9440 DRAM cycles=0 on-chip flash "
      "cycles=0 off-chip flash cycles=0 MACs=589824\n");
  const auto parts = open(header + conv + header + conv);
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 1u);
  EXPECT_EQ(parts->front().ops.size(), 2u);
  EXPECT_EQ(numbers_of_run(parts->front()), "");  // what the CPU takes is unknown
  EXPECT_THAT(warnings_of(parts->front()),
              ElementsAre("headers below rows: what ran between the parts is not in the file"));
}

}  // namespace
}  // namespace npuscope::tables::dialects_test
