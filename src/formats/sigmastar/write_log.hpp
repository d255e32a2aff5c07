// An IPU log written through a layout, into a buffer of limited size as the device's is:
//
//   LogWriter log(layout, 0x800000);
//   log.write(LogEngine::layer, Mark::begin, 0, 1200);
//   log.write(LogEngine::conv, …);
//   log.bytes()         what the file holds: exactly the used bytes
//   log.overflowed()    records did not fit and are lost
#pragma once

#include <cstdint>
#include <string>

#include "formats/sigmastar/log_layout.hpp"

namespace npuscope::sigmastar {

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

}  // namespace npuscope::sigmastar
