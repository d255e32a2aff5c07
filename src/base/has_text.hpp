// Whether a long text, such as the head of a file, has another one in it.
#pragma once

#include <string_view>

namespace npuscope {

bool has_text(std::string_view text, std::string_view part);

}  // namespace npuscope
