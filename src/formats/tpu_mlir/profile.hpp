// The compiler profiles of one program, a file a core, as a profile: estimates of commands on the
// engines of its cores.
#pragma once

#include <vector>

#include "formats/tpu_mlir/compiler_profile.hpp"
#include "formats/tpu_mlir/layers.hpp"

namespace npuscope::tpu_mlir {

inline constexpr const char* format_name = "tpu-mlir compiler profile";

struct CoreProfile {
  std::uint32_t core = 0;
  CompilerProfile profile;
};

// Whether the files say of the whole program the same.
bool are_of_one_program(const CompilerProfile& a, const CompilerProfile& b);

// `cores` by their numbers, at least one; locations and modules of the same folder.
Profile make_profile(const std::vector<CoreProfile>& cores,
                     const std::vector<TensorLocations>& locations,
                     const std::vector<Module>& modules);

}  // namespace npuscope::tpu_mlir
