// The common questions as views.
#pragma once

#include <vector>

#include "query/schema.hpp"

namespace npuscope::query {

// With the SELECT in view_of; columns without types. Each uses only tables and views before it.
const std::vector<TableInfo>& views();

}  // namespace npuscope::query
