// What comes out of a pipe, in a file without a name: it can be sought, mapped and read again, and
// takes no memory.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>

#include "npuscope/base/result.hpp"

namespace npuscope {

using FileHandle = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// An input error where it cannot be read or kept, or is more than `limit` bytes; `name` is the
// pipe's.
Result<FileHandle> spool(int from, std::string_view name, std::uint64_t limit);

}  // namespace npuscope
