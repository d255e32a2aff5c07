// What `npuscope compile` says of a multi-device program.
//
//   Partition0: 2 devices of 16 cores share the model
//   QAicGraph_slice00: 6426 MB of constants, 2,048 transfers of 4096 KB to other devices per
//   inference
#pragma once

#include <string>

#include "npuscope/npu/nsp/compile/build.hpp"
#include "report/document/json_text.hpp"

namespace npuscope::report {

// Empty for a program of one device. Specialisations follow one another.
std::string devices_text(const npu::nsp::BuildResult& result);
void write_devices(Json& json, const npu::nsp::BuildResult& result);  // "devices"

}  // namespace npuscope::report
