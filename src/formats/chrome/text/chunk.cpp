#include "formats/chrome/text/chunk.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "formats/chrome/problems.hpp"

namespace npuscope::chrome {

TextBuffer BufferPool::take(std::size_t capacity) {
  if (capacity > chunk_bytes) return TextBuffer(capacity);
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return TextBuffer(chunk_bytes);
  TextBuffer buffer = std::move(free_.back());
  free_.pop_back();
  return buffer;
}

void BufferPool::give_back(TextBuffer buffer) {
  if (buffer.capacity() != chunk_bytes) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(buffer));
}

void TextWindow::fill_to(std::size_t size) {
  if (size > buffer_.capacity() - begin_) make_room(size);
  while (end_ - begin_ < size && !at_end_of_file_) {
    const auto count = source_.read(std::span(buffer_.data() + end_, begin_ + size - end_));
    if (!count) error_ = count.error();
    at_end_of_file_ = !count || *count == 0;
    if (count) end_ += *count;
  }
}

void TextWindow::make_room(std::size_t size) {
  const std::string_view kept = text();
  if (size <= buffer_.capacity()) {
    std::memmove(buffer_.data(), kept.data(), kept.size());
  } else {
    TextBuffer bigger = buffers_.take(size);
    std::memcpy(bigger.data(), kept.data(), kept.size());
    buffers_.give_back(std::exchange(buffer_, std::move(bigger)));
  }
  begin_ = 0;
  end_ = kept.size();
}

void TextWindow::drop(std::size_t count) {
  begin_ += count;
  offset_ += count;
  if (begin_ == end_) begin_ = end_ = 0;
}

Chunk TextWindow::cut(std::size_t length) {
  const std::string_view rest = text().substr(length);
  TextBuffer next = buffers_.take(rest.size());
  std::memcpy(next.data(), rest.data(), rest.size());
  Chunk chunk{std::exchange(buffer_, std::move(next)), begin_, begin_ + length, offset_};
  begin_ = 0;
  end_ = rest.size();
  offset_ += length;
  return chunk;
}

std::optional<char> TextWindow::peek() {
  if (begin_ == end_) fill_to(chunk_bytes);
  if (begin_ == end_) return std::nullopt;
  return *(buffer_.data() + begin_);
}

}  // namespace npuscope::chrome
