// The standard streams of the process: whether they are terminals, how large, and what comes in.
//
//   if (is_terminal(StandardStream::output)) width = terminal_size()->columns;
//   if (kind_of_standard_input() == InputKind::file) path = "/dev/stdin";
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "npuscope/base/result.hpp"

namespace npuscope {

enum class StandardStream : std::uint8_t { input, output, error };  // their descriptors

bool is_terminal(StandardStream stream);

struct TerminalSize {
  std::size_t columns = 0, rows = 0;  // 0: not known
};
std::optional<TerminalSize> terminal_size(StandardStream stream = StandardStream::output);

enum class InputKind : std::uint8_t { terminal, file, pipe, other };  // other: a folder, a device
InputKind kind_of_standard_input();
// What is read from standard input from now on; false: the system refuses.
bool replace_standard_input(std::FILE* file);

// A closed standard stream's number would go to the next file opened, and what is printed into it.
// Opened for the wrong direction, every use of it fails as before.
void occupy_closed_streams();

// What comes out of a pipe, in a file without a name: it can be sought, mapped and read again, and
// takes no memory.
using FileHandle = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// An input error where it cannot be read or kept, or is more than `limit` bytes.
Result<FileHandle> spool(const std::filesystem::path& pipe, std::uint64_t limit);
Result<FileHandle> spool_standard_input(std::uint64_t limit);

}  // namespace npuscope
