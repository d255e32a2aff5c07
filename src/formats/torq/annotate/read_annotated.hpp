// The rows of an annotated table, the vendor's or npuscope's, one after another.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/torq/debug/debug_info.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::torq {

// Valid until the next row.
struct AnnotatedRow {
  std::string_view action{}, job{}, operation{}, kernels{}, operators{}, location{};
  std::optional<UnitUse> uses{};  // of NSS programs
  std::optional<std::int64_t> begin_ns{}, end_ns{};
};

inline bool is_host_copy(const AnnotatedRow& row) {
  return row.operation == "torq_hl.host_copy" || row.operation == "torq_hl.dynamic_host_copy";
}
// A wait, or in tables of 2026-01 one of the hardware's operations, which has the times of its
// wait.
inline bool ends_program(const AnnotatedRow& row) {
  return row.operation == "torq_hl.wait_program" || row.operation.starts_with("torq_hw.");
}

// Rows that are none are counted in the notes. An input error where a column is missing.
Status read_annotated(ByteSource& source, std::vector<Note>& notes,
                      const std::function<void(const AnnotatedRow&)>& take);

}  // namespace npuscope::torq
