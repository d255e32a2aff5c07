// The files that describe hardware, of every architecture that the reference NPU knows. Which
// figures a file holds depends on its architecture; each architecture reads its own.
//
//   auto file = find_target_file("torq-sl2610");
//   file->architecture   TargetArchitecture::torq
//   file->toml           the text
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "npuscope/base/result.hpp"

namespace npuscope::npu {

enum class TargetArchitecture : std::uint8_t {
  nsp,   // cores with HMX, HVX and VTCM: Cloud AI 100, Hexagon Tensor Processors
  torq,  // Synaptics Torq: NSS, slices with LRAM, CSS
  ipu,   // SigmaStar IPU
};

// "nsp", as in the key `architecture` of a file.
std::string_view name_of(TargetArchitecture architecture);
// "Synaptics Torq NPU", for people.
std::string_view family_of(TargetArchitecture architecture);

struct TargetFile {
  std::string name;  // for messages: "targets/torq-sl2610.toml", or the path
  TargetArchitecture architecture = TargetArchitecture::nsp;
  std::string toml;
  bool is_builtin = false;
};

// A built-in target's name or the path of a .toml file. An unknown name is a usage error that lists
// those there are; a file without a known architecture is an input error.
Result<TargetFile> find_target_file(const std::string& name_or_path);

bool is_builtin_target(std::string_view name);

// The built-in targets of an architecture: "aic100, htp-v75".
std::string builtin_target_names(TargetArchitecture architecture);
// Of all.
std::string builtin_target_names();

// The target of profiles that do not name their hardware: NPUSCOPE_TARGET, else
// `target = "htp-v75"` in $XDG_CONFIG_HOME/npuscope/config.toml (~/.config/npuscope/config.toml).

// Empty where nothing is remembered. An input error for a file that cannot be understood.
Result<std::string> remembered_target();

}  // namespace npuscope::npu
