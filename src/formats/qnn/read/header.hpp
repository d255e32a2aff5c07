// The header object with which all JSON artifacts of QNN begin.
#pragma once

#include <string>

#include "formats/qnn/read/json_text.hpp"

namespace npuscope::qnn {

// "1.1.0", the version of the artifact (not of the header); empty when it does not say.
std::string read_header_version(JsonText& json, ondemand::value& header);
// The same of the header as text; empty when it is none.
std::string header_version_of(std::string_view json);

}  // namespace npuscope::qnn
