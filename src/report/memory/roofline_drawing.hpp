// The roofline of a table of memory, drawn into a picture.
#pragma once

#include "npuscope/analysis/memory.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {

// False, and only a remark, where no op has MACs, bytes of DDR and a time.
bool draw_roofline(Figure& figure, const Profile& profile, const analysis::MemoryTable& table);

}  // namespace npuscope::report
