// What byte_source.cpp puts together: a source for each kind of file. Each produces some bytes at a
// time; filling a caller's buffer, the limit and errors after good bytes are common to all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope {

// The bytes that a ByteSource is made from, as they lie in a file or in memory.
class RawInput {
 public:
  virtual ~RawInput() = default;
  // Some bytes from `offset` on; 0 only at the end.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) = 0;

  std::uint64_t size() const { return size_; }
  const std::string& name() const { return name_; }

 protected:
  RawInput(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}

 private:
  std::string name_;
  std::uint64_t size_;
};

// A regular file. One that ends before the size it had when it was opened is an error; what is
// appended later is not read.
Result<std::unique_ptr<RawInput>> open_raw_file(const std::filesystem::path& path);
std::unique_ptr<RawInput> open_raw_text(std::string_view text, std::string name);

class CodecSource : public ByteSource {
 public:
  Result<std::size_t> read(std::span<char> into) final;
  std::uint64_t position() const final { return position_; }
  std::uint64_t file_bytes_read() const final { return raw_position_; }
  std::uint64_t file_bytes() const final { return raw_->size(); }
  const std::string& name() const final { return raw_->name(); }
  void set_memory_limit(std::uint64_t bytes) { memory_limit_ = bytes; }

 protected:
  CodecSource(std::unique_ptr<RawInput> raw, std::uint64_t limit)
      : raw_(std::move(raw)), limit_(limit) {}

  // Some bytes; 0 only at the end. Not called again after that or an error.
  virtual Result<std::size_t> produce(std::span<char> into) = 0;

  // The next bytes of the file, for produce().
  Result<std::size_t> read_raw(std::span<char> into);

 private:
  Result<std::size_t> produce_within_limit(std::span<char> into);
  Status check_memory();

  std::unique_ptr<RawInput> raw_;
  std::uint64_t limit_;
  std::uint64_t position_ = 0;
  std::uint64_t raw_position_ = 0;
  std::uint64_t memory_limit_ = 0;       // 0: none
  std::uint64_t next_memory_check_ = 0;  // position
  bool ended_ = false;
  std::optional<Error> error_;  // after the bytes that have been handed out
};

// The compressed bytes that a decoder has not taken yet.
class CompressedInput {
 public:
  std::span<const char> bytes() const { return bytes_; }
  void drop(std::size_t count) { bytes_ = bytes_.subspan(count); }
  std::span<char> room() { return {buffer_.get(), buffer_bytes}; }
  void filled(std::size_t count) { bytes_ = {buffer_.get(), count}; }

 private:
  static constexpr std::size_t buffer_bytes = 256 << 10;  // of small files most is never touched
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(buffer_bytes);
  std::span<const char> bytes_;
};

std::unique_ptr<CodecSource> make_gzip_source(std::unique_ptr<RawInput> raw, std::uint64_t limit);
std::unique_ptr<CodecSource> make_zstd_source(std::unique_ptr<RawInput> raw, std::uint64_t limit);

}  // namespace npuscope
