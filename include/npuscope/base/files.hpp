// Files in and out. Inputs are mapped, not copied. Outputs are written beside their final name and
// renamed when complete, so a failed or interrupted run leaves the old file or none, never half.
//
//   auto out = AtomicFile::create("trace.json");
//   if (!out) return tl::unexpected(out.error());
//   out->write("{}");
//   return out->commit();
#pragma once

#include <cstddef>
#include <cstdint>
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

// A whole regular file, mapped read-only. Folders, pipes, devices and missing files are input
// errors. The file must not shrink while it is mapped: Linux answers a read beyond the new end with
// SIGBUS, which ends the program. Files grow or are replaced without harm; outputs of AtomicFile
// are replaced.
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
// (a full disk) are kept and reported by commit(); a file that is not committed is removed. A file
// that is replaced keeps its permissions, a symbolic link its place. A pipe or device (/dev/stdout)
// cannot be replaced and is written directly. Nothing is synced: a power cut is not covered.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  void write(std::string_view text);
  void write(ByteSpan bytes) { write(as_text(bytes)); }
  std::uint64_t bytes_written() const { return bytes_written_; }
  Status commit();

  // The file that is written until commit(), for a library that writes by name (SQLite) instead of
  // write(); empty for a pipe or device.
  const std::filesystem::path& temporary_path() const { return temporary_; }

 private:
  AtomicFile() = default;
  void write_through(std::string_view text);
  void abandon();

  std::filesystem::path path_;       // as the caller named it, for messages
  std::filesystem::path final_;      // the file that is replaced: path_ with links resolved
  std::filesystem::path temporary_;  // empty when written directly
  int descriptor_ = -1;
  int write_errno_ = 0;
  std::uint64_t bytes_written_ = 0;  // by write()
  std::string buffer_;
};

// Removes the temporary files of all AtomicFiles that are open. For a handler of signals that end
// the program: only calls what such a handler may call, and the files cannot be committed after it.
void remove_temporary_files() noexcept;

Status write_file_atomically(const std::filesystem::path& path, ByteSpan bytes);

// Ok when `folder` exists, is a folder, and a file can be made in it; an output error otherwise.
// A usage error where the output would replace one of the inputs: that would leave neither when the
// wrong name was given. A folder replaces nothing.
Status check_output_is_no_input(std::span<const std::string> inputs,
                                const std::filesystem::path& output);

Status check_writable_folder(const std::filesystem::path& folder);

}  // namespace npuscope
