// Files in and out. Inputs are mapped, not copied. Outputs are written beside their final name and
// renamed when complete, so a failed or interrupted run leaves the old file or none, never half.
//
//   auto out = AtomicFile::create("trace.json");
//   if (!out) return tl::unexpected(out.error());
//   out->write("{}");
//   return out->commit();
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "npuscope/base/result.hpp"

namespace npuscope {

using ByteSpan = std::span<const std::byte>;

inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline ByteSpan as_byte_span(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A whole regular file, mapped read-only. Folders, devices and missing files are input errors.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  ByteSpan bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  MappedFile() = default;
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// A buffered output file that appears under its name only when commit() succeeds. Write errors
// (a full disk) are kept and reported by commit(); a file that is not committed is removed.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  void write(std::string_view text);
  void write(ByteSpan bytes) { write(as_text(bytes)); }
  Status commit();

 private:
  AtomicFile() = default;
  void flush();
  void abandon();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  int write_errno_ = 0;
  std::string buffer_;
};

Status write_file_atomically(const std::filesystem::path& path, ByteSpan bytes);

// Ok when `folder` exists, is a folder, and a file can be made in it; an output error otherwise.
Status check_writable_folder(const std::filesystem::path& folder);

}  // namespace npuscope
