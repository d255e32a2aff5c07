// Bytes as text that any file can hold: compressed (gzip), then in base64.
//
//   packed_text(bytes)    "H4sIAAAAAAAC/…"
#pragma once

#include <string>
#include <string_view>

namespace npuscope {

std::string packed_text(std::string_view bytes);

}  // namespace npuscope
