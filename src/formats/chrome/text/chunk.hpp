// A piece of a list of events as text, cut between two events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace npuscope::chrome {

// Room for text, with bytes before and behind it that a parser may overwrite: simdjson wants the
// text in brackets and padded.
class TextBuffer {
 public:
  static constexpr std::size_t slack = 192;

  TextBuffer() = default;
  explicit TextBuffer(std::size_t capacity)
      : bytes_(new char[capacity + 2 * slack]), capacity_(capacity) {}

  char* data() { return bytes_.get() + slack; }
  const char* data() const { return bytes_.get() + slack; }
  std::size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
};

// Keeps buffers of the usual size for the next user: fresh memory costs as much as parsing.
class BufferPool {
 public:
  TextBuffer take(std::size_t capacity);
  void give_back(TextBuffer buffer);

 private:
  std::mutex mutex_;
  std::vector<TextBuffer> free_;
};

struct Chunk {
  TextBuffer buffer;
  std::size_t begin = 0;  // in the buffer
  std::size_t end = 0;
  std::uint64_t offset = 0;     // of `begin` in the file
  bool damaged = false;         // known not to be a sound list
  bool quoted_numbers = false;  // ReadOptions::quoted_numbers
  double part_of_file = 0;      // that was read when it was cut; 0: unknown

  std::string_view text() const { return {buffer.data() + begin, end - begin}; }
};

}  // namespace npuscope::chrome
