// Whether a Program can run: what read_program promises to the simulator and the decoder.
#pragma once

#include <string_view>

#include "formats/qaic/qpc/program.hpp"

namespace npuscope::qaic {

// Linear in the size of the program. The input error names the first task (or table) at fault.
Status check_program(const Program& program, std::string_view name);

// The last part of it: that no queue waits for ever.
Status check_that_it_ends(const Program& program, std::string_view name);

}  // namespace npuscope::qaic
