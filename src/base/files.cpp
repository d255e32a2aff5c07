#include "npuscope/base/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace npuscope {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  auto name = fmt::format(".{}.{}-{}.tmp", path.filename().string(), ::getpid(), counter++);
  return path.parent_path() / name;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return input_error("{}: cannot open: {}", path.string(), std::strerror(errno));
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return input_error("{}: not a regular file; name a file", path.string());
  }
  MappedFile file;
  file.path_ = path;
  file.size_ = std::size_t(info.st_size);
  if (file.size_ > 0) {
    void* address = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (address == MAP_FAILED) {
      const int why = errno;
      ::close(fd);
      return input_error("{}: cannot map: {}", path.string(), std::strerror(why));
    }
    file.data_ = static_cast<const std::byte*>(address);
  }
  ::close(fd);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path) {
  AtomicFile file;
  file.path_ = path;
  file.temporary_ = temporary_name(path);
  file.descriptor_ =
      ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.descriptor_ < 0) {
    return output_error("{}: cannot create: {}", path.string(), std::strerror(errno));
  }
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(write_errno_, other.write_errno_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

AtomicFile::~AtomicFile() { abandon(); }

void AtomicFile::write(std::string_view text) {
  buffer_.append(text);
  if (buffer_.size() >= buffer_bytes) flush();
}

void AtomicFile::flush() {
  const char* next = buffer_.data();
  std::size_t left = buffer_.size();
  while (left > 0 && write_errno_ == 0) {
    const ssize_t written = ::write(descriptor_, next, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      write_errno_ = errno;
    } else {
      next += written;
      left -= std::size_t(written);
    }
  }
  buffer_.clear();
}

Status AtomicFile::commit() {
  flush();
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (write_errno_ == 0 && closed != 0) write_errno_ = errno;
  if (write_errno_ == 0 && ::rename(temporary_.c_str(), path_.c_str()) != 0) write_errno_ = errno;
  if (write_errno_ != 0) {
    ::unlink(temporary_.c_str());
    temporary_.clear();
    return output_error("{}: cannot write: {}", path_.string(), std::strerror(write_errno_));
  }
  temporary_.clear();
  return {};
}

void AtomicFile::abandon() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

Status write_file_atomically(const std::filesystem::path& path, ByteSpan bytes) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  file->write(bytes);
  return file->commit();
}

Status check_writable_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return output_error("{}: no such folder; create it first", folder.string());
  }
  const auto probe = temporary_name(folder / "probe");
  const int fd = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return output_error("{}: not writable: {}", folder.string(), std::strerror(errno));
  ::close(fd);
  ::unlink(probe.c_str());
  return {};
}

}  // namespace npuscope
