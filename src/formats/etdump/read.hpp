// An ETDump (.etdp), which ExecuTorch's runtime writes of its runs, as a profile.
//
//   auto profile = etdump::read_profile({"etdump.etdp", bytes});
//
//   Method::execute                    an inference
//     OPERATOR_CALL                    its own time is the runtime's work around the kernel
//       native_call_convolution.out    a kernel of the host
//     DELEGATE_CALL                    on the unit of delegates; its own time is what no event of
//     the
//       Convolution (NHWC, F32) #1     delegate covers
//   Program::load_method, …            setting up, before the first inference: no part of the wall
//
// All of these stand in one list, the inner ones first; what is in what, their times say.
#pragma once

#include <string>
#include <string_view>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::etdump {

inline constexpr const char* format_name = "ExecuTorch ETDump";

struct File {
  std::string name;
  std::string_view bytes;
};

// With the size of the FlatBuffer before it or without.
bool looks_like(std::string_view head);

// An input error where no event can be read.
Result<Profile> read_profile(const File& file);

}  // namespace npuscope::etdump
