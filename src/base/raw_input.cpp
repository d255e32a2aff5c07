#include "base/raw_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/system_error.hpp"

namespace npuscope {
namespace {

class FileInput final : public RawInput {
 public:
  FileInput(std::string name, std::uint64_t size, int descriptor)
      : RawInput(std::move(name), size), descriptor_(descriptor) {}
  ~FileInput() override { ::close(descriptor_); }
  FileInput(const FileInput&) = delete;
  FileInput& operator=(const FileInput&) = delete;

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    const std::uint64_t left = size() - std::min(offset, size());
    const std::size_t wanted = std::size_t(std::min<std::uint64_t>(left, into.size()));
    if (wanted == 0) return 0;
    for (;;) {
      const ssize_t count = ::pread(descriptor_, into.data(), wanted, off_t(offset));
      if (count > 0) return std::size_t(count);
      if (count == 0) {
        return input_error(
            "{}: ends at byte {} but had {} bytes when it was opened; read it again "
            "when nothing writes it any more",
            name(), offset, size());
      }
      if (errno != EINTR) {
        return input_error("{}: cannot read at byte {}: {}", name(), offset,
                           system_error_text(errno));
      }
    }
  }

 private:
  int descriptor_;
};

class TextInput final : public RawInput {
 public:
  TextInput(std::string_view text, std::string name)
      : RawInput(std::move(name), text.size()), text_(text) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    const std::size_t from = std::size_t(std::min<std::uint64_t>(offset, text_.size()));
    const std::size_t count = std::min(into.size(), text_.size() - from);
    std::copy_n(text_.data() + from, count, into.data());
    return count;
  }

 private:
  std::string_view text_;
};

}  // namespace

Result<std::unique_ptr<RawInput>> open_raw_file(const std::filesystem::path& path) {
  // Not to wait for a writer when the name is a pipe's.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return input_error("{}: cannot open: {}", path.string(), system_error_text(errno));
  }
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) {
    const int why = errno;
    ::close(descriptor);
    return input_error("{}: cannot open: {}", path.string(), system_error_text(why));
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return input_error("{}: a folder, pipe or device, not a regular file; name a file",
                       path.string());
  }
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::make_unique<FileInput>(path.string(), std::uint64_t(info.st_size), descriptor);
}

std::unique_ptr<RawInput> open_raw_text(std::string_view text, std::string name) {
  return std::make_unique<TextInput>(text, std::move(name));
}

}  // namespace npuscope
