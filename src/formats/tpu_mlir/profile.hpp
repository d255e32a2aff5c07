// The compiler profiles of one program, a file a core, as a profile: estimates of commands on the
// engines of its cores.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tpu_mlir/compiler_profile.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::tpu_mlir {

// What files next to a compiler profile say of its layers: tensor_location.json names the tensor
// that the operator in a line of final.mlir makes, final.mlir names the chip.
//
//   auto locations = tpu_mlir::read_tensor_locations(*source);
//   locations->of(26)      operator "Conv2D", tensor "relu1_Relu"
struct Located {
  std::string operation;  // "Conv2D"
  std::string tensor;     // "relu1_Relu"; empty: none of a name
};

struct TensorLocations {
  std::string file;
  std::map<std::int64_t, Located> by_line;  // of final.mlir
};

bool looks_like_tensor_locations(std::string_view head);
Result<TensorLocations> read_tensor_locations(ByteSource& source);

struct Module {
  std::string file;
  std::string chip;  // "bm1688"
  std::string name;
  std::int64_t flops = 0;
};

bool looks_like_module(std::string_view head);
Module read_module(std::string_view head, std::string file);

// "Conv2D_26": the operator and its line.
struct LayerName {
  std::string_view operation;
  std::int64_t line = -1;  // below 0: the name has none
};
LayerName layer_name(std::string_view text);

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
