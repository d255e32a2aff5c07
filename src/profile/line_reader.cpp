#include "profile/line_reader.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace npuscope {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{256} << 10;

}  // namespace

LineReader::LineReader(ByteSource& source, CountedNotes& losses, LineLimits limits)
    : source_(source),
      losses_(losses),
      limits_(limits),
      buffer_(std::make_unique_for_overwrite<char[]>(buffer_bytes)) {}

bool LineReader::fill() {
  if (over_) return false;
  if (next_begin_ + line_.size() > limits_.max_bytes) {
    losses_.add(Severity::error, next_begin_,
                fmt::format("text beyond the first {} MiB; left out", limits_.max_bytes >> 20));
    over_ = true;
    return false;
  }
  const auto count = source_.read({buffer_.get(), buffer_bytes});
  at_ = 0;
  end_ = count ? *count : 0;
  over_ = end_ == 0;
  if (!count) {
    error_ = count.error();
    losses_.add(Severity::error, source_.position(),
                without_file(count.error().message, source_.name()));
  }
  return !over_;
}

bool LineReader::next(std::string_view& line) {
  line_.clear();
  line_begin_ = next_begin_;
  bool complete = false;
  while (!complete && (at_ < end_ || fill())) {
    const std::string_view rest(buffer_.get() + at_, end_ - at_);
    const std::size_t size = std::min(rest.find('\n'), rest.size());
    complete = size < rest.size();
    if (complete && line_.empty() && size <= limits_.longest_line) {  // whole, as it lies there
      at_ += size + 1;
      next_begin_ += size + 1;
      line = rest.substr(0, size);
      return true;
    }
    line_ += rest.substr(0, std::min(size, limits_.longest_line - line_.size()));
    const std::size_t taken = size + (complete ? 1 : 0);
    at_ += taken;
    next_begin_ += taken;
  }
  if (next_begin_ == line_begin_) return false;
  is_unended_ = !complete;
  if (next_begin_ - line_begin_ > limits_.longest_line + 1) {
    losses_.add(Severity::warning, line_begin_,
                fmt::format("lines of more than {} KiB; cut", limits_.longest_line >> 10));
  }
  line = line_;
  return true;
}

}  // namespace npuscope
