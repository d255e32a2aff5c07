// Any bytes as a file of any format: the registry opens it, and every page of every profile is
// made, as text, JSON and HTML.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "fuzz/fuzzing.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/formats/open.hpp"
#include "report/document/document.hpp"
#include "report/html/report_page.hpp"
#include "report/show/show.hpp"

namespace {

using namespace npuscope;

// One a process; what the file is, its bytes decide.
struct InputFile {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("npuscope-fuzz-" + std::to_string(::getpid()) + ".bin");
  ~InputFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

}  // namespace

std::vector<std::string> npuscope::fuzz::good_inputs() { return {}; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const InputFile file;
  std::ofstream(file.path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes), std::streamsize(size));
  OpenOptions options;
  options.source.decompressed_limit = 16 << 20;
  options.source.memory_limit = std::uint64_t{1} << 30;
  const auto opened = open_profiles({&file.path, 1}, options);
  if (!opened) {
    if (opened.error().message.empty()) __builtin_trap();
    return 0;
  }
  for (const Profile& profile : opened->profiles) {
    const analysis::Analysis analysis(profile);
    const report::Document first = report::first_page(analysis, {.width = 100});
    if (report::document_text(first, 100).empty()) __builtin_trap();
    report::ReportPage page({.arguments = {}, .limits = {.max_spans = 1'000}, .top = 50});
    page.add(analysis, {});
    if (page.html().empty()) __builtin_trap();
  }
  return 0;
}
