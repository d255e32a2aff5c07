// An IPU log, the raw dump of one core's buffer, decoded through a layout:
//
//   auto log = decode_log(file->bytes(), *layout, "log_core0.bin");
//   log->intervals[7]     conv of layer 2, from 1200 to 5300 cycles after the first record
//   log->layers[2]        its time, and how long each engine worked in it
//   log->unclosed         2: the log ends inside them, the buffer was too small
//
// Times are cycles since the log's first record. A clock that wraps is followed as long as two
// records are less than half its range apart.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/sigmastar/log_layout.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::sigmastar {

// An IPU log written through a layout, into a buffer of limited size as the device's is:
//
//   LogWriter log(layout, 0x800000);
//   log.write(LogEngine::layer, Mark::begin, 0, 1200);
//   log.write(LogEngine::conv, …);
//   log.bytes()         what the file holds: exactly the used bytes
//   log.overflowed()    records did not fit and are lost
inline constexpr std::uint64_t default_log_bytes = 0x800000;  // --ipu_log_size

enum class LogMark : std::uint8_t { begin, end };

struct LogRecord {
  LogEngine engine = LogEngine::layer;
  LogMark mark = LogMark::begin;
  std::uint32_t layer = 0;
  std::uint64_t cycles = 0;  // on the log's clock; what exceeds the field's bits wraps
  std::uint16_t tile = 0;
  std::uint32_t bytes = 0;
};

class LogWriter {
 public:
  LogWriter(LogLayout layout, std::uint64_t buffer_bytes);

  void write(const LogRecord& record);
  void write(LogEngine engine, LogMark mark, std::uint32_t layer, std::uint64_t cycles) {
    write({engine, mark, layer, cycles});
  }

  const std::string& bytes() const { return bytes_; }
  bool overflowed() const { return lost_ > 0; }
  std::uint64_t lost() const { return lost_; }
  // As if so many more had been written after the buffer was full.
  void lose(std::uint64_t records) { lost_ += records; }

 private:
  LogLayout layout_;
  std::uint64_t buffer_bytes_;
  std::uint64_t number_ = 0, lost_ = 0;
  std::string bytes_;
};

struct LogInterval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t layer = 0;
  LogEngine engine = LogEngine::layer;
  std::uint16_t tile = 0;   // 0 too where the layout has none
  std::uint32_t bytes = 0;  // that a transfer moved; 0: none, or not said
};

struct LogLayer {
  std::uint32_t layer = 0;  // as the log numbers it
  std::int64_t begin = 0;
  std::int64_t end = 0;
  // How long each engine worked between the layer's begin and end, by LogEngine; layer and run are
  // 0. What it loaded ahead of the next layer counts here, as a counter read at both ends would.
  std::array<std::int64_t, log_engine_count> busy{};
};

struct CoreLog {
  std::string name;
  std::uint64_t first_ticks = 0;  // of the first record, as it stands there
  std::uint64_t records = 0;
  std::vector<LogInterval> intervals;  // by begin
  std::vector<LogLayer> layers;        // by begin
  // What is missing or wrong.
  std::uint64_t invalid = 0;        // records of no engine or mark that the layout knows
  std::uint64_t unclosed = 0;       // begins without an end
  std::uint64_t unopened = 0;       // ends without a begin
  std::uint64_t lost = 0;           // records that the sequence skips
  std::uint64_t backwards = 0;      // records before the one that precedes them
  std::uint32_t partial_bytes = 0;  // of a last record
};

// An input error for an empty log, and where most records do not fit the layout.
Result<CoreLog> decode_log(ByteSpan bytes, const LogLayout& layout, const std::string& name);

// Sentences about what is missing; `buffer_bytes` is what the log's buffer held (--ipu_log_size).
std::vector<std::string> problems_of(const CoreLog& log, std::uint64_t file_bytes,
                                     std::uint64_t buffer_bytes);

}  // namespace npuscope::sigmastar
