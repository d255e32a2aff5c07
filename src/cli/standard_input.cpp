#include "cli/standard_input.hpp"

#include "base/spool.hpp"
#include "base/standard_streams.hpp"
#include "base/try.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::cli {
namespace {

Result<std::string> standard_input() {
  static const char* const path = "/dev/stdin";
  switch (kind_of_standard_input()) {
    case InputKind::file: return path;
    case InputKind::pipe: break;
    case InputKind::terminal:
      return usage_error("-: standard input is a terminal; pipe a file into the command");
    case InputKind::other:
      return input_error("-: standard input is a folder or device; pipe a file into the command");
  }
  TRY_AS(file, spool_standard_input(ByteSourceOptions{}.decompressed_limit));
  if (!replace_standard_input(file->get())) {
    return input_error("-: standard input cannot be kept; save it to a file first");
  }
  return path;
}

}  // namespace

Result<std::string> input_file(const std::string& name) {
  return name == "-" ? standard_input() : Result<std::string>(name);
}

}  // namespace npuscope::cli
