// The file of -mdp-load-partition-config and -mdp-dump-partition-config: which devices execute a
// multi-device program. The keys are those that the vendor's tools write for tensor slicing; one
// partition, whose devices share every layer, is what the reference compiler makes.
//
//   {"connections": [{"devices": [0, 1], "type": "p2p"}],
//    "partitions": [{"name": "Partition0",
//                    "devices": [{"deviceId": 0, "numCores": 16}, {"deviceId": 1, "numCores":
//                    16}]}]}
#pragma once

#include "npuscope/npu/nsp/compile/build.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::npu::nsp {

inline constexpr std::size_t max_partition_devices = 64;

// Input errors say what is wrong and where: several partitions or lists of nodes (a pipeline, which
// the reference compiler does not make), devices that are given twice, differ in cores or have no
// p2p connection.
Result<PartitionConfig> read_partition_config(ByteSpan json, std::string_view name);

std::string write_partition_config(const PartitionConfig& config);

}  // namespace npuscope::npu::nsp
