#include "cli/version/version.hpp"

#include <fmt/format.h>

#include <iterator>

#include "cli/library_versions.hpp"

namespace npuscope::cli {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

// "with CLI11 2.1.2, fmt 9.1.0, ...", of several lines.
std::string libraries_text() {
  constexpr std::size_t width = 80;
  std::string out, line = "with";
  for (const LibraryVersion& each : library_versions) {
    const bool is_last = &each == std::end(library_versions) - 1;
    const std::string entry =
        fmt::format(" {} {}{}", each.library, each.version, is_last ? "" : ",");
    if (line.size() + entry.size() > width) {
      out += line + "\n";
      line = " ";
    }
    line += entry;
  }
  return out + line + "\n";
}

}  // namespace

std::string version_text(const std::string& program) {
  return fmt::format("{} {}\ncommit {}\nbuild {}, {}\n{}", program, NPUSCOPE_VERSION,
                     build_commit(), NPUSCOPE_BUILD_TYPE, compiler(), libraries_text());
}

}  // namespace npuscope::cli
