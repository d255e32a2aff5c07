#include "chrome_traces.hpp"

#include <fmt/format.h>

#include <iterator>
#include <random>

namespace npuscope::bench {
namespace {

constexpr std::uint64_t layers = 48;
constexpr std::uint64_t threads = 6;

struct Place {
  std::uint64_t event = 0;
  std::uint64_t start = 0;  // nanoseconds or cycles
  std::uint64_t duration = 0;
};

using Out = std::back_insert_iterator<std::string>;

const char* op_name(std::uint64_t event) {
  static constexpr const char* names[] = {"aten::linear",      "aten::matmul",  "aten::add",
                                          "aten::layer_norm",  "aten::softmax", "aten::transpose",
                                          "aten::convolution", "aten::gelu"};
  return names[event * 7 % std::size(names)];
}

void write_profiler_event(Out out, const Place& place, bool with_args) {
  fmt::format_to(
      out,
      R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":4711,"tid":{},"ts":{}.{:03},"dur":{}.{:03})",
      op_name(place.event), 4711 + place.event % threads, place.start / 1000, place.start % 1000,
      place.duration / 1000, place.duration % 1000);
  if (with_args) {
    fmt::format_to(out, R"(,"args":{{"External id":{},"Ev Idx":{},"bytes":{},"op":"layer{}"}})",
                   place.event + 1, place.event, place.duration * 64, place.event % layers);
  }
  fmt::format_to(out, "}}");
}

void write_optrace_event(Out out, const Place& place) {
  const std::uint64_t layer = place.event % layers;
  fmt::format_to(
      out,
      R"json({{ "name": "q::ConvLayer_s{}.opt", "ph": "X", "tid": {}, "pid": 0, "ts": {}, "dur": {}, )json"
      R"json("args": {{ "ID": "0x{:08x}00000012","HTP Op Type": "q::ConvLayer_s{}.opt",)json"
      R"json("Description": "Conv2d with stride 1","Dims": [1,8,32,256],"Data Type": "QUInt8",)json"
      R"json("Rank": 4,"Step Size": 0.0078{},"Zero Offset": 128,)json"
      R"json("Inputs Ops": ["0x{:08x}00000012","0x0000118300000012"],"Flags": ["uses_hmx"],)json"
      R"json("Cycles per Packet": {}.{},"QNN Op Type": "FullyConnected","QNN Op Name": "MatMul_{}",)json"
      R"json("Start Cycle": {},"Duration (cycles)": {},"Dominant Path Cycles": {}}} }})json",
      layer % 4, 256 + place.event % threads, place.start, place.duration, layer, layer % 4,
      1 + layer % 9, layer + 1, 11 + layer, 1 + layer % 9, layer, 7997466066654 + place.start,
      place.duration, place.duration / 2);
}

void write_opstats_event(Out out, const Place& place) {
  const std::uint64_t layer = place.event % layers;
  fmt::format_to(
      out,
      R"json({{ "name": "aicconvolutiond32-{}", "cat": "aic", "ph": "X", "ts": {}.{:03}, "dur": {}.{:03}, )json"
      R"json("pid": 2000, "tid": {}, "args": {{ "opKind" : "aicconvolutiond32", "opMemory" : "TCM", )json"
      R"json("opName" : "/model/layers.{}/mlp/down_proj/MatMul", "opPCycle" : "{}", )json"
      R"json("opUCycle" : "{}", "effectiveFreq" : "1450.{}" }} }})json",
      layer, place.start / 1000, place.start % 1000, place.duration / 1000, place.duration % 1000,
      place.event % threads, layer, place.duration * 14 / 10, place.duration / 52,
      place.duration % 1000);
}

// Before the first event.
std::string head_of(Flavour flavour) {
  if (flavour != Flavour::optrace) return R"({"displayTimeUnit":"ns","traceEvents":[)";
  std::string head =
      R"({"header":{"header_version":{"major":1,"minor":0,"patch":0},)"
      R"("version":{"major":1,"minor":1,"patch":0},"artifact_type":"OP_TRACE"},"traceEvents":[)"
      R"({"ph":"M","pid":0,"name":"process_name","args":{"name":"Core 0 Overview"}},)";
  for (std::uint64_t thread = 0; thread < threads; ++thread) {
    head += fmt::format(
        R"({{"ph":"M","pid":0,"tid":{},"name":"thread_name","args":{{"name":"Type: {}"}}}},)",
        256 + thread, thread == 0 ? "HMX" : "HVX");
  }
  return head;
}

}  // namespace

std::string chrome_trace(Flavour flavour, std::uint64_t events) {
  std::mt19937 random(42);
  std::string text = head_of(flavour);
  Place place;
  place.start = flavour == Flavour::optrace ? 22 : 1'682'725'898'237'042;
  for (place.event = 0; place.event < events; ++place.event) {
    place.duration = 500 + random() % 90'000;
    place.start += place.duration + random() % 1000;
    text += place.event == 0 ? "\n" : ",\n";
    switch (flavour) {
      case Flavour::with_args:
      case Flavour::without_args:
        write_profiler_event(std::back_inserter(text), place, flavour == Flavour::with_args);
        break;
      case Flavour::optrace: write_optrace_event(std::back_inserter(text), place); break;
      case Flavour::opstats: write_opstats_event(std::back_inserter(text), place); break;
    }
  }
  return text += "\n]}\n";
}

}  // namespace npuscope::bench
