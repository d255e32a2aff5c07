// An output that a library writes by name (SQLite, libxlsxwriter), and which nevertheless is whole
// or absent:
//
//   auto file = FileByName::create(path, "database");
//   if (!file) return tl::unexpected(file.error());   // a pipe or device has no name to write by
//   … the library writes file->path() …
//   const Result<std::uint64_t> bytes = file->commit();
#pragma once

#include <cstdint>
#include <string>

#include "base/try.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::jobs {

class FileByName {
 public:
  // `what` is written, for messages.
  static Result<FileByName> create(const std::filesystem::path& path, const std::string& what) {
    TRY_AS(file, AtomicFile::create(path));
    if (file->temporary_path().empty()) {
      return output_error("{}: a {} cannot be written to a pipe or device; name a file",
                          path.string(), what);
    }
    return FileByName(std::move(*file), path, what);
  }

  const std::filesystem::path& path() const { return file_.temporary_path(); }

  // Its size.
  Result<std::uint64_t> commit() {
    std::error_code failed;
    const std::uintmax_t bytes = std::filesystem::file_size(path(), failed);
    if (failed) {
      return output_error("{}: cannot look at the {} that was written ({}); try again",
                          path_.string(), what_, failed.message());
    }
    TRY(file_.commit());
    return bytes;
  }

 private:
  FileByName(AtomicFile file, std::filesystem::path path, std::string what)
      : file_(std::move(file)), path_(std::move(path)), what_(std::move(what)) {}

  AtomicFile file_;
  std::filesystem::path path_;  // as the caller named it
  std::string what_;
};

}  // namespace npuscope::jobs
