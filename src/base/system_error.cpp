#include "base/system_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace npuscope {

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
