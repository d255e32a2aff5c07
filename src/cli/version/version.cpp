#include "cli/version/version.hpp"

#include <fmt/format.h>
#include <simdjson.h>
#include <sqlite3.h>
#include <tbb/version.h>
#include <toml++/toml.h>
#include <xlsxwriter.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>
#include <CLI/CLI.hpp>

#include "cli/build_commit.hpp"

namespace npuscope::cli {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace

std::string version_text(const std::string& program) {
  std::string out = fmt::format("{} {}\ncommit {}\nbuild {}, {}\n", program, NPUSCOPE_VERSION,
                                NPUSCOPE_COMMIT, NPUSCOPE_BUILD_TYPE, compiler());
  out += fmt::format("with CLI11 {}, fmt {}.{}.{}, simdjson {}.{}.{},\n", CLI11_VERSION,
                     FMT_VERSION / 10'000, FMT_VERSION / 100 % 100, FMT_VERSION % 100,
                     int(simdjson::SIMDJSON_VERSION_MAJOR), int(simdjson::SIMDJSON_VERSION_MINOR),
                     int(simdjson::SIMDJSON_VERSION_REVISION));
  out += fmt::format("  SQLite {}, TBB {}.{}, toml++ {}.{}.{}, xlsxwriter {}, xxHash {}.{}.{},\n",
                     SQLITE_VERSION, TBB_VERSION_MAJOR, TBB_VERSION_MINOR, TOML_LIB_MAJOR,
                     TOML_LIB_MINOR, TOML_LIB_PATCH, LXW_VERSION, XXH_VERSION_MAJOR,
                     XXH_VERSION_MINOR, XXH_VERSION_RELEASE);
  return out + fmt::format("  zlib {}, zstd {}\n", ZLIB_VERSION, ZSTD_VERSION_STRING);
}

}  // namespace npuscope::cli
