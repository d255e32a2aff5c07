// Field numbers of aicnwdesc.networkDescriptor and the messages inside it, from
// AICNetworkDesc.proto of quic/software-kit-for-qualcomm-cloud-ai-100 (BSD-3-Clause-Clear).
// docs/formats/ network-descriptor.md names the fields that npuscope leaves out.
#pragma once

#include <protozero/types.hpp>

namespace npuscope::qaic {

enum class NetworkField : protozero::pbf_tag_type {
  major_version = 1,
  minor_version = 2,
  network_name = 3,
  inputs = 4,
  outputs = 5,
  dma_buffers = 6,
  num_cores = 7,
  num_threads = 8,
  num_hvx_threads = 9,
  thread_groups = 10,
  thread_group_issue_count = 11,
  stats = 12,
  thread_group_names = 13,
  batch_size = 14,
};

enum class BindingField : protozero::pbf_tag_type {
  name = 1,
  io_initial = 2,
  io_transformed = 3,
  is_partial_allowed = 5,
  align = 6,
};

enum class IoField : protozero::pbf_tag_type {
  type = 1,
  qscale = 2,
  qoffset = 3,
  dims = 4,
  layout = 5,
};

enum class DmaBufferField : protozero::pbf_tag_type { size = 1, dir = 2 };

enum class StatsField : protozero::pbf_tag_type {
  buff_num = 1,
  print_stats = 2,
  stats_level = 3,
  stats_no_host_sync = 4,
  print_op_stats = 5,
  op_stats_level = 6,
  batch_size = 7,
  count_ddr_bw = 8,
  utimer_freq_ms = 9,
  pmu_events = 10,
  ops_per_core = 11,
  core_op_name_kinds = 12,
  pmu_stats_level = 13,
};

enum class CoreField : protozero::pbf_tag_type { tg_op_name_kinds = 1 };
enum class ThreadGroupField : protozero::pbf_tag_type { op_name_kinds = 1 };

enum class OpField : protozero::pbf_tag_type {
  name = 1,
  kind = 2,
  type = 3,
  memory = 4,
  shape = 5,
  operand = 6,
  output_size = 7,
  attributes = 8,
  operands = 9,
};

}  // namespace npuscope::qaic
