#include "base/file_identity.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace npuscope {

std::optional<FileIdentity> identity_of(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileIdentity{std::uint64_t(info.st_dev), std::uint64_t(info.st_ino)};
}

std::string path_of_open(std::FILE* file) {
  return fmt::format("/proc/self/fd/{}", ::fileno(file));
}

std::string refusal_of_folder(const std::filesystem::path& folder) {
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return "";
  return std::generic_category().message(errno);
}

std::string system_error_text(int error_number) {
  const char* advice = "check the path";
  switch (error_number) {
    case EACCES:
    case EPERM: advice = "check the permissions"; break;
    case EROFS: advice = "choose another folder"; break;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: advice = "make room or choose another disk"; break;
    case EMFILE:
    case ENFILE: advice = "raise the limit of open files (ulimit -n)"; break;
    case ENOMEM: advice = "raise the memory limit (ulimit -v) or split the file"; break;
    case EIO: advice = "check the disk"; break;
    case EPIPE: advice = "the reader went away"; break;
    default: break;
  }
  return fmt::format("{}; {}", std::strerror(error_number), advice);
}

}  // namespace npuscope
