#include "npu/targets/ipu/logs.hpp"

#include <tuple>

#include "base/sort_rows.hpp"

namespace npuscope::npu::ipu {
namespace {

using sigmastar::LogInterval;
using sigmastar::LogMark;
using sigmastar::LogWriter;

struct Record {
  std::int64_t cycles = 0;
  LogMark mark = LogMark::begin;
  const LogInterval* of = nullptr;
};

// At the same time ends come before begins.
std::vector<Record> records_of(const CoreRun& run) {
  std::vector<Record> records;
  records.reserve(2 * (run.layers.size() + run.intervals.size()));
  for (const auto* list : {&run.layers, &run.intervals}) {
    for (const LogInterval& each : *list) {
      records.push_back({each.begin, LogMark::begin, &each});
      records.push_back({each.end, LogMark::end, &each});
    }
  }
  sort_rows(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return std::tuple(a.cycles, a.mark == LogMark::begin) <
           std::tuple(b.cycles, b.mark == LogMark::begin);
  });
  return records;
}

// Once the buffer is full the rest is only counted.
template <class WriteOne>
void repeat(LogWriter& log, const Repetition& repetition, std::size_t records,
            const WriteOne& write_one) {
  for (std::uint64_t i = 0; i < repetition.count; ++i) {
    if (log.overflowed()) return log.lose((repetition.count - i) * records);
    write_one(i, i * std::uint64_t(repetition.period));  // a log's clock wraps too
  }
}

}  // namespace

Logs write_logs(const Inference& inference, const Repetition& repetition,
                const sigmastar::LogLayout& layout, std::uint64_t buffer_bytes) {
  Logs logs{{}, LogWriter(layout, buffer_bytes)};
  repeat(logs.control, repetition, 2, [&](std::uint64_t number, std::uint64_t start) {
    const auto inference_number = std::uint32_t(number);
    logs.control.write(sigmastar::LogEngine::run, LogMark::begin, inference_number, start);
    logs.control.write(sigmastar::LogEngine::run, LogMark::end, inference_number,
                       start + std::uint64_t(inference.cycles));
  });
  for (const CoreRun& run : inference.cores) {
    const auto records = records_of(run);
    LogWriter& log = logs.cores.emplace_back(layout, buffer_bytes);
    repeat(log, repetition, records.size(), [&](std::uint64_t, std::uint64_t start) {
      for (const Record& each : records) {
        const LogInterval& of = *each.of;
        log.write({of.engine, each.mark, of.layer, start + std::uint64_t(each.cycles), of.tile,
                   of.bytes});
      }
    });
  }
  return logs;
}

}  // namespace npuscope::npu::ipu
