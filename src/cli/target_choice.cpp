#include "cli/target_choice.hpp"

#include <iterator>
#include <sstream>

#include "npu/target/target_file.hpp"

namespace npuscope::cli {

std::vector<std::string> target_names() {
  std::string names = npu::builtin_target_names();
  std::erase(names, ',');
  std::istringstream words(names);
  return {std::istream_iterator<std::string>(words), {}};
}

void add_target_option(Command& command, report::PeakText& peaks) {
  command
      .flag("--target", peaks.target,
            "hardware description for peak rates: " + npu::builtin_target_names() +
                " or a .toml file; default: by device, else NPUSCOPE_TARGET or the configuration "
                "file")
      .offers(target_names());
}

}  // namespace npuscope::cli
