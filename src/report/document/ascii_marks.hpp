// Text for terminals that show ASCII only: the marks that npuscope itself draws with become ASCII
// of the same width. Names from traces stay as they are.
//
//   ascii_marks("HTP > co…HVX 512  ▁▄█")   // "HTP > co~HVX 512  .=@"
#pragma once

#include <string>
#include <string_view>

namespace npuscope::report {

std::string ascii_marks(std::string_view text);

}  // namespace npuscope::report
