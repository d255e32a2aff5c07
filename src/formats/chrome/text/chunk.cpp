#include "formats/chrome/text/chunk.hpp"

#include <utility>

#include "formats/chrome/limits.hpp"

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

}  // namespace npuscope::chrome
