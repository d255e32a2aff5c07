// The bytes that a ByteSource is made from, as they lie in a file or in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "npuscope/base/result.hpp"

namespace npuscope {

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

}  // namespace npuscope
