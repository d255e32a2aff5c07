// The part of a source that is being looked at: grows at its end from the source, shrinks at its
// beginning, and knows where in the file it lies.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/chrome/text/chunk.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::chrome {

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
