#include "cli/target_choice.hpp"

#include <iterator>
#include <sstream>

#include "cli/flag_values.hpp"
#include "npu/target/target_file.hpp"

namespace npuscope::cli {

void offer_targets(const CLI::Option& option) {
  std::string names = npu::builtin_target_names();
  std::erase(names, ',');
  std::istringstream words(names);
  offer(option, {std::istream_iterator<std::string>(words), {}});
}

void add_target_option(CLI::App& command, report::PeakText& peaks) {
  offer_targets(
      *command.add_option("--target", peaks.target,
                          "hardware description for peak rates: " + npu::builtin_target_names() +
                              " or a .toml file; default: by device, else NPUSCOPE_TARGET or the "
                              "configuration file"));
}

}  // namespace npuscope::cli
