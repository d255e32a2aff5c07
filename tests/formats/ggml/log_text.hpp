// Logs of llama.cpp's Hexagon backend of every generation, and what a reader must find in them.
//
//   const GeneratedLog log = generate({.generation = 6, .mode = 3, .layers = 3});
//   log.text                         the lines
//   log.batches[0].ops[1].cycles     of the second op of the first batch
//
// The model is one of four ops a layer and a norm behind the last. Its cycles, gaps and events come
// from a generator of numbers with a seed, so that each log is the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace npuscope::ggml {

struct LogOptions {
  int generation = 6;  // 0 to 6
  int mode = 1;        // GGML_HEXAGON_PROFILE
  int layers = 2;
  int warm_up = 0;  // steps of two tokens before the prompt
  std::int64_t prompt_tokens = 32;
  int decoded = 2;
  std::uint64_t counter = 651'234'567'890;  // when the log begins
  double cycles_per_us = 2112;
  std::uint64_t max_gap = 200'000;  // cycles between batches
  std::uint64_t lost_after = 0;     // events of a thread and batch that the buffer takes; 0: all
  int sessions = 1;
  std::string session = "HTP";  // "HTP0", "HTP1"
  bool has_prefix = true, has_colours = false, is_json = false;
  std::string before = {};  // each line, as adb and CI write it
  std::string weights = "q4_0";
  unsigned seed = 1;
};

struct TrueEvent {
  std::string name = {};
  int thread = 0;
  std::int64_t start = 0, end = 0;
};

struct TrueOp {
  std::string op = {}, role = {};
  int layer = -1;  // -1: none
  std::uint64_t cycles = 0;
  std::int64_t start = 0;
  std::uint32_t usec = 0;
  double macs = 0, weight_bytes = 0;
};

struct TrueBatch {
  std::string phase = {};
  int session = 0;
  std::int64_t start = 0;
  std::uint64_t cycles = 0;
  std::vector<TrueOp> ops = {};
  std::vector<TrueEvent> events = {};  // that were kept, by their ends
  std::array<std::uint64_t, 11> lost{};
};

struct GeneratedLog {
  std::string text;
  std::vector<TrueBatch> batches;  // in the order of the log
  double prompt_ms = 0, decode_ms = 0;
};

GeneratedLog generate(const LogOptions& options);

}  // namespace npuscope::ggml
