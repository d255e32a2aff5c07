// What the operating system's error numbers mean to a user: the reason and what to do about it.
#pragma once

#include <string>

namespace npuscope {

// "No space left on device; make room or choose another disk"
std::string system_error_text(int error_number);

}  // namespace npuscope
