// Field numbers of XLA's messages (tsl/profiler/protobuf/xplane.proto, xla/service/hlo.proto), as
// far as npuscope reads them.
#pragma once

#include <cstdint>

namespace npuscope::xplane {

namespace space_field {
enum : std::uint32_t { plane = 1, error = 2, warning = 3, host_name = 4 };
}

namespace plane_field {
enum : std::uint32_t {
  id = 1,
  name = 2,
  line = 3,
  event_metadata = 4,
  stat_metadata = 5,
  stat = 6
};
}

namespace entry_field {  // of a map
enum : std::uint32_t { key = 1, value = 2 };
}

namespace line_field {
enum : std::uint32_t {
  id = 1,
  name = 2,
  timestamp_ns = 3,
  event = 4,
  display_id = 10,
  display_name = 11,
};
}

namespace event_field {
enum : std::uint32_t {
  metadata_id = 1,
  offset_ps = 2,
  duration_ps = 3,
  stat = 4,
  occurrences = 5,
};
}

namespace stat_field {
enum : std::uint32_t {
  metadata_id = 1,
  number = 2,
  unsigned_integer = 3,
  integer = 4,
  text = 5,
  bytes = 6,
  reference = 7,
};
}

namespace event_metadata_field {
enum : std::uint32_t { name = 2, display_name = 4, stat = 5 };
}

namespace stat_metadata_field {
enum : std::uint32_t { name = 2 };
}

namespace hlo_field {
enum : std::uint32_t { module = 1 };
}

namespace module_field {
enum : std::uint32_t { name = 1, computation = 3 };
}

namespace computation_field {
enum : std::uint32_t { instruction = 2, id = 5 };
}

namespace instruction_field {
enum : std::uint32_t {
  name = 1,
  opcode = 2,
  shape = 3,
  metadata = 7,
  fusion_kind = 11,
  convolution_dimensions = 16,
  dot_dimensions = 30,
  id = 35,
  operand = 36,
  called_computation = 38,
};
}

namespace shape_field {
enum : std::uint32_t { dimension = 3 };
}

namespace dot_field {
enum : std::uint32_t { contracted_of_left = 1 };
}

namespace convolution_field {
enum : std::uint32_t { output_feature_of_kernel = 4 };
}

namespace op_metadata_field {
enum : std::uint32_t { op_name = 2, source_file = 3, source_line = 4 };
}

namespace breakdown_field {  // MemoryAccessBreakdown and its MemoryAccessed
enum : std::uint32_t { accessed = 1 };
}

namespace accessed_field {
enum : std::uint32_t { operation = 1, memory = 2, bytes = 3 };
}

}  // namespace npuscope::xplane
