// What `npuscope compile` says of a multi-device program.
//
//   Partition0: 2 devices of 16 cores share the model
//   QAicGraph_slice00: 6426 MB of constants, 2,048 transfers of 4096 KB to other devices per
//   inference
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "npuscope/npu/nsp/compile/build.hpp"

namespace npuscope::report {

// Empty for a program of one device. Specialisations follow one another.
std::string devices_text(const npu::nsp::BuildResult& result);
nlohmann::ordered_json devices_json(const npu::nsp::BuildResult& result);

}  // namespace npuscope::report
