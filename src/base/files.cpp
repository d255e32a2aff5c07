#include "npuscope/base/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <mutex>
#include <random>
#include <utility>

#include "base/file_identity.hpp"
#include "base/try.hpp"

namespace npuscope {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20, large_bytes = 64 << 10;

// The temporary files that exist now, where a signal handler can read them. A file too many, or
// with too long a path, is not listed.
struct ListedFile {
  std::atomic<bool> taken{false};
  std::atomic<bool> exists{false};
  char path[4096] = {};
};
ListedFile listed_files[16];
std::mutex changes_of_list;  // threads take it, the handler does not

void list_temporary(const std::filesystem::path& path) {
  const std::lock_guard lock(changes_of_list);
  if (path.native().size() >= sizeof(ListedFile::path)) return;
  for (ListedFile& file : listed_files) {
    if (file.taken.exchange(true)) continue;
    std::strcpy(file.path, path.c_str());
    file.exists = true;
    return;
  }
}

void unlist_temporary(const std::filesystem::path& path) {
  const std::lock_guard lock(changes_of_list);
  for (ListedFile& file : listed_files) {
    if (!file.exists || path.native() != file.path) continue;
    file.exists = false;
    file.taken = false;
    return;
  }
}

// A handler of a signal waits for threads that are making a file, and none is made after it.
std::atomic<bool> is_ending{false};
std::atomic<int> files_in_the_making{0};
thread_local bool makes_file = false;  // this thread, which the handler may have interrupted

int make_file(const char* path) {
  makes_file = true;
  ++files_in_the_making;
  errno = EINTR;
  const int descriptor =
      is_ending ? -1 : ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const int why = errno;
  --files_in_the_making;
  makes_file = false;
  errno = why;
  return descriptor;
}

struct TemporaryFile {
  int descriptor = -1;
  std::filesystem::path path;
};

// A new file in `folder` under a name of its own; descriptor -1 and errno on failure. The name does
// not contain that of the output, which may already be as long as a name can be, and is random:
// process numbers repeat in containers, and a killed run leaves its file behind.
TemporaryFile create_temporary(const std::filesystem::path& folder) {
  std::random_device random;
  TemporaryFile file;
  for (int attempt = 0; attempt < 100 && file.descriptor < 0; ++attempt) {
    file.path = folder / fmt::format(".npuscope-{:08x}{:08x}.tmp", random(), random());
    list_temporary(file.path);  // before it exists: a signal may come while it is made
    file.descriptor = make_file(file.path.c_str());
    if (file.descriptor >= 0) break;
    const int why = errno;
    unlist_temporary(file.path);
    errno = why;
    if (why != EEXIST) break;
  }
  return file;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return input_error("{}: cannot open: {}", path.string(), system_error_text(errno));
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    const int why = errno;
    ::close(fd);
    return input_error("{}: cannot open: {}", path.string(), system_error_text(why));
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return input_error("{}: a folder, pipe or device, not a regular file; name a file",
                       path.string());
  }
  MappedFile file;
  file.path_ = path;
  file.size_ = std::size_t(info.st_size);
  if (file.size_ > 0) {
    void* address = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (address == MAP_FAILED) {
      const int why = errno;
      ::close(fd);
      return input_error("{}: cannot map: {}", path.string(), system_error_text(why));
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
  if (!path.has_filename()) {
    return output_error("\"{}\": not the name of a file; name one", path.string());
  }
  AtomicFile file;
  file.path_ = file.final_ = path;
  struct stat existing {};
  const bool replaces = ::stat(path.c_str(), &existing) == 0;
  if (replaces && S_ISDIR(existing.st_mode)) {
    return output_error("{}: is a folder; name a file in it", path.string());
  }
  if (replaces && !S_ISREG(existing.st_mode)) {
    file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.descriptor_ < 0) {
      return output_error("{}: cannot open: {}", path.string(), system_error_text(errno));
    }
    return file;
  }
  if (replaces) {
    std::error_code unresolved;
    const auto target = std::filesystem::canonical(path, unresolved);
    if (!unresolved) file.final_ = target;
  }
  TemporaryFile temporary = create_temporary(file.final_.parent_path());
  if (temporary.descriptor < 0) {
    return output_error("{}: cannot create: {}", path.string(), system_error_text(errno));
  }
  file.descriptor_ = temporary.descriptor;
  file.temporary_ = std::move(temporary.path);
  if (replaces && ::fchmod(file.descriptor_, existing.st_mode & 0777) != 0 && errno != EPERM) {
    return output_error("{}: cannot keep its permissions: {}", path.string(),
                        system_error_text(errno));
  }
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(final_, other.final_);
  std::swap(temporary_, other.temporary_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(write_errno_, other.write_errno_);
  std::swap(bytes_written_, other.bytes_written_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

AtomicFile::~AtomicFile() { abandon(); }

void AtomicFile::write(std::string_view text) {
  bytes_written_ += text.size();
  // What comes in large pieces is not gathered again.
  const bool is_large = text.size() >= large_bytes;
  if (is_large || buffer_.size() + text.size() > buffer_bytes) {
    write_through(buffer_);
    buffer_.clear();
  }
  is_large ? write_through(text) : void(buffer_.append(text));
}

void AtomicFile::write_through(std::string_view text) {
  while (!text.empty() && write_errno_ == 0) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      write_errno_ = errno;
    } else {
      text.remove_prefix(std::size_t(written));
    }
  }
}

Status AtomicFile::commit() {
  write_through(buffer_);
  buffer_.clear();
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (write_errno_ == 0 && closed != 0) write_errno_ = errno;
  if (write_errno_ == 0 && !temporary_.empty() &&
      ::rename(temporary_.c_str(), final_.c_str()) != 0) {
    write_errno_ = errno;
  }
  if (write_errno_ == 0) {
    unlist_temporary(temporary_);
    temporary_.clear();
  }
  abandon();
  if (write_errno_ != 0) {
    return output_error("{}: cannot write: {}", path_.string(), system_error_text(write_errno_));
  }
  return {};
}

void AtomicFile::abandon() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  unlist_temporary(temporary_);
  temporary_.clear();
}

void remove_temporary_files() noexcept {
  is_ending = true;
  const int own = makes_file ? 1 : 0;
  constexpr timespec pause{0, 1'000'000};
  for (int i = 0; i < 1000 && files_in_the_making > own; ++i) ::nanosleep(&pause, nullptr);
  for (const ListedFile& file : listed_files) {
    if (file.exists) ::unlink(file.path);
  }
}

Status write_file_atomically(const std::filesystem::path& path, ByteSpan bytes) {
  TRY_AS(file, AtomicFile::create(path));
  file->write(bytes);
  return file->commit();
}

Status check_output_is_no_input(std::span<const std::string> inputs,
                                const std::filesystem::path& output) {
  std::error_code unknown;
  if (std::filesystem::is_directory(output, unknown)) return {};
  for (const std::string& input : inputs) {
    if (!std::filesystem::equivalent(input, output, unknown)) continue;
    return usage_error("{}: is an input too; name another file or folder for the output",
                       output.string());
  }
  return {};
}

Status check_writable_folder(const std::filesystem::path& folder) {
  std::error_code unknown;
  const auto status = std::filesystem::status(folder, unknown);
  if (!std::filesystem::exists(status)) {
    return output_error("{}: no such folder; create it first", folder.string());
  }
  if (!std::filesystem::is_directory(status)) {
    return output_error("{}: not a folder; name a folder", folder.string());
  }
  const TemporaryFile probe = create_temporary(folder);
  if (probe.descriptor < 0) {
    return output_error("{}: cannot create files in it: {}", folder.string(),
                        system_error_text(errno));
  }
  ::close(probe.descriptor);
  ::unlink(probe.path.c_str());
  unlist_temporary(probe.path);
  return {};
}

}  // namespace npuscope
