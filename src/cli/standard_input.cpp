#include "cli/standard_input.hpp"

#include "base/standard_streams.hpp"
#include "base/try.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::cli {
namespace {

Result<std::string> standard_input() {
  switch (kind_of_standard_input()) {
    case InputKind::file: return std::string(standard_input_path);
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
  return std::string(standard_input_path);
}

}  // namespace

Result<std::string> input_file(const std::string& name) {
  return name == "-" ? standard_input() : Result<std::string>(name);
}

std::string with_standard_input_named(std::string text) {
  for (std::size_t at = 0; (at = text.find(standard_input_path, at)) != text.npos;) {
    text.replace(at, standard_input_path.size(), "standard input");
  }
  return text;
}

}  // namespace npuscope::cli
