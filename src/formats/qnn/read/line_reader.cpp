#include "formats/qnn/read/line_reader.hpp"

#include <algorithm>

namespace npuscope::qnn {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{256} << 10;
constexpr std::size_t longest_line = std::size_t{64} << 10;
// What 20,000 executes of a large network print.
constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;

}  // namespace

LineReader::LineReader(ByteSource& source, Losses& losses)
    : source_(source), losses_(losses), buffer_(buffer_bytes) {}

bool LineReader::fill() {
  if (over_) return false;
  if (next_begin_ + line_.size() > most_bytes) {
    losses_.add(Severity::error, next_begin_, "text beyond the first 256 MiB; left out");
    over_ = true;
    return false;
  }
  const auto count = source_.read(buffer_);
  at_ = 0;
  end_ = count ? *count : 0;
  over_ = end_ == 0;
  if (!count) {
    error_ = count.error();
    std::string_view why = count.error().message;  // notes have the name beside them
    const std::string name = source_.name() + ": ";
    if (why.starts_with(name)) why.remove_prefix(name.size());
    losses_.add(Severity::error, source_.position(), why);
  }
  return !over_;
}

bool LineReader::next(std::string_view& line) {
  line_.clear();
  line_begin_ = next_begin_;
  bool complete = false;
  while (!complete && (at_ < end_ || fill())) {
    const auto begin = buffer_.begin() + std::ptrdiff_t(at_);
    const auto end = buffer_.begin() + std::ptrdiff_t(end_);
    const auto line_end = std::find(begin, end, '\n');
    complete = line_end != end;
    const auto size = std::size_t(line_end - begin);
    line_.append(begin, begin + std::ptrdiff_t(std::min(size, longest_line - line_.size())));
    const std::size_t taken = size + (complete ? 1 : 0);
    at_ += taken;
    next_begin_ += taken;
  }
  if (next_begin_ == line_begin_) return false;
  if (next_begin_ - line_begin_ > longest_line + 1) {
    losses_.add(Severity::warning, line_begin_, "lines of more than 64 KiB; cut");
  }
  line = line_;
  return true;
}

}  // namespace npuscope::qnn
