// A piece of a list of events as text, cut between two events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "npuscope/base/byte_source.hpp"

namespace npuscope::chrome {

// What may stand between the events of a list.

inline bool is_json_space(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

// White space and commas at the beginning of a text.
inline std::size_t count_separators(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && (is_json_space(text[count]) || text[count] == ',')) ++count;
  return count;
}

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

// The part of a source that is being looked at: grows at its end from the source, shrinks at its
// beginning, and knows where in the file it lies.
class TextWindow {
 public:
  TextWindow(ByteSource& source, BufferPool& buffers)
      : source_(source), buffers_(buffers), buffer_(buffers.take(0)) {}

  std::string_view text() const { return {buffer_.data() + begin_, end_ - begin_}; }
  std::uint64_t offset() const { return offset_; }  // of the text's first byte in the file
  std::uint64_t end_offset() const { return offset_ + (end_ - begin_); }
  bool at_end_of_file() const { return at_end_of_file_; }
  // What ended the file too early.
  const std::optional<Error>& error() const { return error_; }

  // Reads until the text has `size` bytes, or less at the end of the file.
  void fill_to(std::size_t size);
  // Forgets the first bytes.
  void drop(std::size_t count);
  // The first `length` bytes as a chunk; the rest stays.
  Chunk cut(std::size_t length);

  // For looking at single bytes: the first one, or nothing at the end of the file.
  std::optional<char> peek();

 private:
  void make_room(std::size_t size);

  ByteSource& source_;
  BufferPool& buffers_;
  TextBuffer buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  bool at_end_of_file_ = false;
  std::optional<Error> error_;
};

}  // namespace npuscope::chrome
