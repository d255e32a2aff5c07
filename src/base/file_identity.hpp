// What of a file the C++ library does not say: which one it is under whatever name, and why its
// folder takes no new ones.
#pragma once

#include <compare>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

namespace npuscope {

struct FileIdentity {
  std::uint64_t device = 0, file = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

// None: it cannot be asked for; opening it says why.
std::optional<FileIdentity> identity_of(const std::filesystem::path& path);

// By which this process reads a file that it has open, also one without a name.
std::string path_of_open(std::FILE* file);

// What the system says against a new file in that folder; empty: nothing.
std::string refusal_of_folder(const std::filesystem::path& folder);

// What the operating system's error numbers mean to a user: the reason and what to do about it.

// "No space left on device; make room or choose another disk"
std::string system_error_text(int error_number);

}  // namespace npuscope
