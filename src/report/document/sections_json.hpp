// What JSON has of sections, under their keys.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "report/document/document.hpp"

namespace npuscope::report {

nlohmann::ordered_json sections_json(const std::vector<Section>& sections);

}  // namespace npuscope::report
