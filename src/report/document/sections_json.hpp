// What JSON has of sections: members under their keys.
#pragma once

#include <string_view>
#include <vector>

#include "report/document/document.hpp"
#include "report/document/json_text.hpp"

namespace npuscope::report {

// But for those of the key `left_out`.
void write_sections(Json& json, const std::vector<Section>& sections,
                    std::string_view left_out = {});

}  // namespace npuscope::report
