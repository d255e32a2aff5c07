// How fast the profiles of frameworks become ours: an XSpace of a loop of small ops on a CPU, an
// ETDump of many calls, IREE's records of many executes, ONNX Runtime's profile of many runs.
// Beside them what Python does with the same file to add up durations by name:
// jax.profiler.ProfileData for the XSpace, pandas for the records, json for ONNX Runtime's.
// NPUSCOPE_PYTHON=PATH is the Python that is asked; a reader that it lacks counts as 0.
//
//   bytes_per_second   of the file; in processor time, because others may be at work
//   bytes_a_span       of the profile, in all columns
//   times_python       how many times as fast as that pass
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/flatbuffer.hpp"
#include "formats/chrome/events.hpp"
#include "formats/etdump/read.hpp"
#include "formats/ireeperf/read.hpp"
#include "formats/onnxruntime/session.hpp"
#include "formats/xplane/read.hpp"
#include "formats/xplane/space_builder.hpp"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;

double child_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return double(usage.ru_utime.tv_sec) + double(usage.ru_utime.tv_usec) * 1e-6;
}

// Processor time of a pass by Python over a file that holds the text; 0 where it cannot.
double python_seconds(const std::string& text, std::string_view pass) {
  const fs::path folder = fs::temp_directory_path() / "npuscope-frameworks-bench";
  fs::create_directories(folder);
  std::ofstream(folder / "file", std::ios::binary) << text;
  std::ofstream(folder / "pass.py") << pass;
  const char* const python = std::getenv("NPUSCOPE_PYTHON");
  const double before = child_seconds();
  const int status =
      std::system(fmt::format("{} {} {} > /dev/null 2>&1", python != nullptr ? python : "python3",
                              (folder / "pass.py").string(), (folder / "file").string())
                      .c_str());
  const double took = status == 0 ? child_seconds() - before : 0;
  fs::remove_all(folder);
  return took;
}

double bytes_of(const Profile& profile) {
  const Spans& spans = profile.spans;
  const std::size_t row = sizeof(UnitId) + sizeof(OpId) + sizeof(SpanKind) +
                          2 * sizeof(std::int64_t) + sizeof(std::uint32_t) +
                          spans.measures.size() * sizeof(std::int64_t);
  return double(row) * double(spans.size()) + double(spans.arguments.bytes());
}

template <class Read>
void measure(benchmark::State& state, const std::string& text, double python, const Read& read) {
  double best = 0, bytes_a_span = 0;
  for (auto _ : state) {
    const std::clock_t begin = std::clock();
    const Result<Profile> profile = read(text);
    const double took = double(std::clock() - begin) / CLOCKS_PER_SEC;
    if (!profile) return state.SkipWithError(profile.error().message.c_str());
    state.SetIterationTime(took);
    best = best == 0 ? took : std::min(best, took);
    bytes_a_span = bytes_of(*profile) / double(profile->spans.size());
  }
  state.SetBytesProcessed(std::int64_t(state.iterations()) * std::int64_t(text.size()));
  state.counters["bytes_a_span"] = bytes_a_span;
  state.counters["times_python"] = best > 0 ? python / best : 0;
}

std::string loop_of_small_ops() {
  using namespace xplane::test;
  constexpr int steps = 5, ops_of_step = 60'000;
  constexpr const char* names[] = {"ynn_fusion", "wrapped_add", "broadcast_multiply_fusion"};
  PlaneBuilder host("/host:CPU");
  std::vector<SpaceEvent> python, ops;
  std::int64_t at = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t begin = at;
    for (int i = 0; i < ops_of_step; ++i) {
      const std::string name = names[i % 3];
      ops.push_back({name,
                     at,
                     1'100'000,
                     {{"hlo_op", Ref{name}},
                      {"hlo_module", Ref{"jit_net"}},
                      {"program_id", std::int64_t{4}},
                      {"run_id", std::int64_t{633'689'522} + step},
                      {"device_ordinal", std::int64_t{0}},
                      {"_src", Ref{"thunk_executor.cc"}},
                      {"_pt", std::int64_t{0}},
                      {"_p", std::int64_t{8'589'934'595} + i}}});
      ops.push_back(
          {"end: " + name, at + 1'050'000, 70'000, {{"_c", std::int64_t{8'589'934'595} + i}}});
      at += 1'250'000;
    }
    python.push_back({"step", begin, at - begin, {{"step_num", step}}});
  }
  host.line(1, "python", 100, python).line(2, "tf_XLAExecute/2", 100, ops);
  return SpaceBuilder().add(host).bytes();
}

void xspace(benchmark::State& state) {
  static const std::string text = loop_of_small_ops();
  static const double python = python_seconds(text, R"py(import sys, collections
from jax.profiler import ProfileData
sums = collections.Counter()
for plane in ProfileData.from_file(sys.argv[1]).planes:
    for line in plane.lines:
        for event in line.events: sums[event.name] += event.duration_ns
print(sums)
)py");
  measure(state, text, python, [](const std::string& bytes) {
    const xplane::SpaceFile file{"a.xplane.pb", bytes};
    return xplane::read_profile({&file, 1}, {});
  });
}
BENCHMARK(xspace)->UseManualTime()->Unit(benchmark::kMillisecond);

std::string many_calls() {
  std::vector<FlatObject> runs;
  std::uint64_t at = 1'000;
  const auto event = [](const std::string& name, std::int32_t instruction, std::uint64_t begin,
                        std::uint64_t end) {
    FlatObject of = FlatObject::table(), outer = FlatObject::table();
    of.put(0, FlatObject::text(name)).put_int32(2, instruction);
    of.put_uint64(6, begin).put_uint64(7, end);
    outer.put(0, of);
    return outer;
  };
  for (int call = 0; call < 500; ++call) {
    std::vector<FlatObject> events;
    const std::uint64_t begin = at;
    for (std::int32_t i = 0; i < 200; ++i, at += 1'200) {
      events.push_back(event("native_call_convolution.out", i, at + 40, at + 1'000));
      events.push_back(event("OPERATOR_CALL", i, at, at + 1'100));
    }
    events.push_back(event("Method::execute", -1, begin, at));
    FlatObject run = FlatObject::table();
    run.put(0, FlatObject::text("Execute")).put(3, FlatObject::tables(std::move(events)));
    runs.push_back(std::move(run));
  }
  FlatObject dump = FlatObject::table();
  dump.put(1, FlatObject::tables(std::move(runs)));
  return write_flatbuffer(dump, "ED00");
}

void etdump_of_calls(benchmark::State& state) {
  static const std::string text = many_calls();
  measure(state, text, 0, [](const std::string& bytes) {
    return etdump::read_profile({"a.etdp", bytes});
  });
}
BENCHMARK(etdump_of_calls)->UseManualTime()->Unit(benchmark::kMillisecond);

std::string many_executes() {
  std::string text = R"({"schema_version":15,"record_type":"schema","format":"ireeperf-jsonl"})"
                     "\n";
  std::int64_t at = 1'304'476'271'372;
  const auto add = [&](const char* operation, const std::string& key, std::int64_t submission,
                       std::int64_t index, std::int64_t begin, std::int64_t end, int tiles) {
    text += fmt::format(
        R"({{"schema_version":15,"record_type":"host_execution_event","source_record_index":8,"physical_device_ordinal":0,"queue_ordinal":0,"stream_id":0,"event_id":1,"submission_id":{},"command_buffer_id":1,"command_index":{},"executable_id":1,"function_ordinal":0,"allocation_id":0,"op":"{}","key":{},"type_value":2,"flags":5,"status_code":0,"workgroup_count":[8,1,1],"workgroup_size":[1,1,1],"host_time_domain":"iree_host_time_ns","start_host_time_ns":{},"end_host_time_ns":{},"duration_ns":{},"valid":true,"payload_length":0,"tile_count":{},"tile_duration_sum_ns":{},"operation_count":1}})"
        "\n",
        submission, index, operation, key, begin, end, end - begin, tiles, (end - begin) * 2);
  };
  for (std::int64_t submission = 0; submission < 2'000; ++submission) {
    const std::int64_t begin = at;
    for (int i = 0; i < 50; ++i, at += 900) {
      add("dispatch", fmt::format(R"("net$async_dispatch_{}_conv_64x64x64x32x3x3_f32")", i),
          submission, i, at, at + 800, 8);
    }
    add("execute", "null", submission, 4'294'967'295, begin, at, 0);
  }
  return text;
}

void iree_records(benchmark::State& state) {
  static const std::string text = many_executes();
  static const double python = python_seconds(text, R"py(import sys, pandas
records = pandas.read_json(sys.argv[1], lines=True)
records = records[records.record_type == "host_execution_event"]
print(records.groupby("key").duration_ns.sum())
)py");
  measure(state, text, python, [](const std::string& bytes) {
    return ireeperf::read_profile(**open_byte_source(std::string_view(bytes), "a.jsonl"));
  });
}
BENCHMARK(iree_records)->UseManualTime()->Unit(benchmark::kMillisecond);

// Nodes with the arguments that version 1.32 gives them.
std::string many_runs() {
  std::string text =
      R"([
{"cat" : "Session","pid" :1,"tid" :1,"dur" :71224,"ts" :2,"ph" : "X","name" :"session_initialization","args" : {}})";
  std::int64_t at = 100'000;
  for (int run = 0; run < 3'000; ++run) {
    const std::int64_t begin = at;
    for (int i = 0; i < 60; ++i, at += 9) {
      text += fmt::format(
          ",\n"
          R"({{"cat" : "Node","pid" :1,"tid" :1,"dur" :8,"ts" :{},"ph" : "X","name" :"/layer.{}/attn/MatMul_kernel_time","args" : {{"mem_in_use_peak" : "67688","thread_scheduling_stats" : {{"main_thread": {{"thread_pool_name": "session-1-intra-op", "thread_id": "140064302497856", "block_size": [1], "core": 1, "Run": {}}}, "sub_threads": {{}}}},"parameter_size" : "0","output_type_shape" : [{{"float":[1,4,64,64]}}],"op_name" : "MatMul","input_type_shape" : [{{"float":[1,4,64,16]}},{{"float":[1,4,16,64]}}],"activation_size" : "32768","output_size" : "65536","provider" : "CPUExecutionProvider","node_index" : "{}"}}}})",
          at, i, i, i);
    }
    text += fmt::format(
        ",\n"
        R"({{"cat" : "Session","pid" :1,"tid" :1,"dur" :{},"ts" :{},"ph" : "X","name" :"model_run","args" : {{}}}})",
        at - begin, begin);
  }
  return text + "\n]\n";
}

void onnxruntime_runs(benchmark::State& state) {
  static const std::string text = many_runs();
  static const double python = python_seconds(text, R"py(import sys, json, collections
sums = collections.Counter()
for event in json.load(open(sys.argv[1])):
    if event["cat"] == "Node": sums[event["name"]] += event["dur"]
print(sums)
)py");
  measure(state, text, python, [](const std::string& bytes) -> Result<Profile> {
    const auto source = open_byte_source(std::string_view(bytes), "a.json");
    auto events = chrome::read_events(**source);
    if (!events) return tl::unexpected(events.error());
    Profile profile = chrome::make_profile(std::move(*events));
    onnxruntime::make_session(profile);
    return profile;
  });
}
BENCHMARK(onnxruntime_runs)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npuscope::bench
