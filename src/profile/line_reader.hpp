// The lines of a text of any length, one at a time: only one of them lies in memory.
//
//   LineReader lines(source, losses);
//   std::string_view line;
//   while (lines.next(line)) take(line, lines.offset());
//   if (nothing_taken && lines.error()) return tl::unexpected(*lines.error());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope {

struct LineLimits {
  std::size_t longest_line = std::size_t{64} << 10;  // longer ones are cut
  // What 20,000 executes of a large network print in QNN's viewer.
  std::uint64_t max_bytes = std::uint64_t{256} << 20;  // the rest is left out
};

class LineReader {
 public:
  // `losses` takes note of lines that are too long and of a source that breaks off.
  LineReader(ByteSource& source, CountedNotes& losses, LineLimits limits = {});

  // The next line without its end; false at the end. It stays valid until the next call.
  bool next(std::string_view& line);

  // Whether the text ended before the line did.
  bool is_unended() const { return is_unended_; }
  // Where the line began in the text.
  std::uint64_t offset() const { return line_begin_; }
  // Why the source broke off; what came before it was handed out.
  const std::optional<Error>& error() const { return error_; }

 private:
  bool fill();

  ByteSource& source_;
  CountedNotes& losses_;
  LineLimits limits_;
  std::unique_ptr<char[]> buffer_;
  std::size_t at_ = 0;   // in the buffer
  std::size_t end_ = 0;  // of what the buffer holds
  std::uint64_t line_begin_ = 0;
  std::uint64_t next_begin_ = 0;
  std::string line_;
  bool over_ = false;
  bool is_unended_ = false;
  std::optional<Error> error_;
};

}  // namespace npuscope
