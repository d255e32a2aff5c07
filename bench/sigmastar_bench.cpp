// How fast an IPU log becomes layers and intervals, on one thread: bytes are those of the log,
// items its records. A log of 64 MB has four million records of 16 bytes.
//
//   walk      adds up the words of the log, as the least that reading it costs
//   decode    the log
//   write     the timeline's JSON of it; bytes are those of the JSON
#include <benchmark/benchmark.h>

#include <cstring>

#include "formats/sigmastar/log.hpp"
#include "formats/sigmastar/write_timeline.hpp"

namespace npuscope::sigmastar {
namespace {

constexpr std::uint64_t log_bytes = std::uint64_t{64} << 20;
constexpr std::uint32_t tiles_per_layer = 500;

const LogLayout& layout() {
  static const LogLayout reference = *layout_of_chip("ipu-muffin");
  return reference;
}

// Layers of tiles, each loaded, computed and stored while the next is loaded.
const std::string& log_text() {
  static const std::string text = [] {
    LogWriter log(layout(), log_bytes);
    std::uint64_t now = 0;
    for (std::uint32_t layer = 0; !log.overflowed(); ++layer) {
      log.write(LogEngine::layer, LogMark::begin, layer, now);
      for (std::uint32_t tile = 0; tile < tiles_per_layer; ++tile, now += 900) {
        log.write(LogEngine::dma_load, LogMark::begin, layer, now);
        log.write(LogEngine::conv, LogMark::begin, layer, now + 100);
        log.write(LogEngine::dma_load, LogMark::end, layer, now + 400);
        log.write(LogEngine::dma_store, LogMark::begin, layer, now + 500);
        log.write(LogEngine::conv, LogMark::end, layer, now + 800);
        log.write(LogEngine::dma_store, LogMark::end, layer, now + 850);
      }
      log.write(LogEngine::layer, LogMark::end, layer, now);
    }
    return log.bytes();
  }();
  return text;
}

void count(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * std::int64_t(bytes));
  state.SetItemsProcessed(state.iterations() *
                          std::int64_t(log_text().size() / layout().record_bytes));
}

void walk(benchmark::State& state) {
  const std::string& log = log_text();
  for (auto _ : state) {
    std::uint64_t sum = 0, word = 0;
    for (std::size_t at = 0; at + sizeof(word) <= log.size(); at += sizeof(word)) {
      std::memcpy(&word, log.data() + at, sizeof(word));
      sum += word;
    }
    benchmark::DoNotOptimize(sum);
  }
  count(state, log.size());
}

void decode(benchmark::State& state) {
  const std::string& bytes = log_text();
  for (auto _ : state) {
    const auto log = decode_log(as_byte_span(bytes), layout(), "bench");
    if (!log || log->invalid + log->lost > 0) state.SkipWithError("not decoded");
  }
  count(state, bytes.size());
}

void write(benchmark::State& state) {
  const IpuTimeline timeline = join_logs({*decode_log(as_byte_span(log_text()), layout(), "bench")},
                                         {0}, std::nullopt, layout(), 900e6);
  std::size_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    write_timeline(timeline, {"bench"}, [&](std::string_view piece) { bytes += piece.size(); });
  }
  count(state, bytes);
}

BENCHMARK(walk)->Unit(benchmark::kMillisecond);
BENCHMARK(decode)->Unit(benchmark::kMillisecond);
BENCHMARK(write)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npuscope::sigmastar
