// What comes out of a pipe, in a file without a name: it can be sought, mapped and read again, and
// takes no memory.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "npuscope/base/result.hpp"

namespace npuscope {

using FileHandle = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// An input error where it cannot be read or kept, or is more than `limit` bytes.
Result<FileHandle> spool(const std::filesystem::path& pipe, std::uint64_t limit);
Result<FileHandle> spool_standard_input(std::uint64_t limit);

}  // namespace npuscope
