// What Python holds of a table and of a column of one.
#pragma once

#include <memory>

#include "columns.hpp"

namespace npuscope::python {

struct ColumnHandle {
  std::shared_ptr<const Column> column;
};

struct TableHandle {
  std::shared_ptr<const Table> table;
};

}  // namespace npuscope::python
