#include "base/file_identity.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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

}  // namespace npuscope
