// Walking the fields of a message of an ONNX file.
#pragma once

#include <protozero/pbf_reader.hpp>
#include <string_view>

#include "base/protobuf_fields.hpp"
#include "npu/graph/failure.hpp"

namespace npuscope::npu {

// Calls take(field, reader) for each field. `take` consumes the field and returns true, or returns
// false for a field that it does not know.
template <class Take>
void for_each_field(std::string_view message, std::string_view what, const Take& take) {
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      if (!take(reader.tag_and_type(), reader)) reader.skip();
    }
  } catch (const protozero::exception&) {
    fail_import("its {} is cut off or damaged; copy or export the file again", what);
  }
}

}  // namespace npuscope::npu
