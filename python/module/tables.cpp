// Columns and tables in Python: views of numpy, PyCapsules of Arrow.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cmath>

#include "arrow.hpp"
#include "base/text.hpp"
#include "bindings.hpp"
#include "report/document/document_value.hpp"
#include "report/query/query_output.hpp"
#include "tables.hpp"

namespace npuscope::python {
namespace {

// A view that keeps the column, and may not be written to. The stride is that of the type: how
// large an item is pybind11 before 2.12 reads from where NumPy 1 has it, and gets 0 from NumPy 2.
template <class Item>
py::array view(std::size_t size, const void* values, const ColumnHandle& column) {
  const py::dtype dtype = py::dtype::of<Item>();
  const std::vector<py::ssize_t> shape{py::ssize_t(size)}, strides{py::ssize_t(sizeof(Item))};
  const auto base = py::cast(column);
  py::array array(dtype, shape, strides, size == 0 ? nullptr : values,
                  size == 0 ? py::handle() : py::handle(base));
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

py::object values_of(const ColumnHandle& handle) {
  const Column& column = *handle.column;
  switch (column.type) {
    case Type::text:
    case Type::list:
    case Type::any: break;
    case Type::boolean: return view<bool>(column.size, column.values, handle);
    case Type::uint8: return view<std::uint8_t>(column.size, column.values, handle);
    case Type::uint32: return view<std::uint32_t>(column.size, column.values, handle);
    case Type::codes: return view<std::int32_t>(column.size, column.values, handle);
    case Type::int64: return view<std::int64_t>(column.size, column.values, handle);
    case Type::float64: return view<double>(column.size, column.values, handle);
  }
  return py::none();
}

py::object mask_of(const ColumnHandle& handle) {
  const Column& column = *handle.column;
  if (column.missing == nullptr) return py::none();
  return view<bool>(column.size, column.missing, handle);
}

py::list list_of(const Column& column) {
  py::list list(column.size);
  for (std::size_t row = 0; row < column.size; ++row) list[row] = to_python(value_at(column, row));
  return list;
}

const char* type_name(Type type) {
  constexpr const char* names[] = {"bool", "uint8", "uint32",   "int64", "float64",
                                   "text", "list",  "category", "any"};
  return names[std::size_t(type)];
}

// The object that a capsule holds is released by who takes it, or else with the capsule.
template <class Arrow>
void release_capsule(PyObject* capsule) {
  const char* name = PyCapsule_GetName(capsule);
  auto* held = static_cast<Arrow*>(PyCapsule_GetPointer(capsule, name));
  if (held == nullptr) return;
  if (held->release != nullptr) held->release(held);
  delete held;
}

template <class Arrow, class Export>
py::object capsule_of(const char* name, Export&& fill) {
  auto held = std::make_unique<Arrow>();
  unlocked([&] { fill(*held); });
  PyObject* capsule = PyCapsule_New(held.get(), name, release_capsule<Arrow>);
  if (capsule == nullptr) {
    held->release(held.get());
    throw py::error_already_set();
  }
  held.release();
  return py::reinterpret_steal<py::object>(capsule);
}

py::tuple arrow_array_of(const ColumnHandle& handle) {
  return py::make_tuple(
      capsule_of<ArrowSchema>("arrow_schema",
                              [&](ArrowSchema& out) { export_schema(*handle.column, out); }),
      capsule_of<ArrowArray>("arrow_array",
                             [&](ArrowArray& out) { export_array(handle.column, out); }));
}

// Lists and truths as texts; the cell looks at `value`.
query::Cell cell_of(report::Value& value) {
  struct Make {
    query::Cell operator()(std::monostate) const { return {}; }
    query::Cell operator()(const std::string& text) const { return std::string_view(text); }
    query::Cell operator()(bool truth) const { return std::string_view(truth ? "true" : "false"); }
    query::Cell operator()(std::int64_t number) const { return number; }
    query::Cell operator()(double number) const { return number; }
    query::Cell operator()(const std::vector<std::string>&) const { return {}; }
    query::Cell operator()(const std::vector<std::int64_t>&) const { return {}; }
  };
  if (std::holds_alternative<std::vector<std::string>>(value.held()) ||
      std::holds_alternative<std::vector<std::int64_t>>(value.held())) {
    value = report::value_text(nullptr, {}, value);
  }
  return std::visit(Make{}, value.held());
}

py::list heads_of(const TableHandle& handle) {
  py::list heads;
  for (std::size_t i = 0; i < handle.table->column_count(); ++i) {
    heads.append(handle.table->head(i).name);
  }
  return heads;
}

// As npuscope query prints rows; a last line says how many there are in all.
std::string text_of_table(const Table& table, std::size_t width, std::size_t rows) {
  report::QueryTable text({width, 0});
  std::vector<std::string> names;
  std::vector<std::shared_ptr<const Column>> columns;
  for (std::size_t i = 0; i < table.column_count(); ++i) {
    names.push_back(table.head(i).name);
    columns.push_back(table.column(i));
  }
  text.columns(names);
  const std::size_t shown = std::min(rows, table.rows());
  for (std::size_t row = 0; row < shown; ++row) {
    std::vector<report::Value> values;  // the cells look at their texts
    for (const auto& column : columns) values.push_back(value_at(*column, row));
    std::vector<query::Cell> cells;
    for (report::Value& value : values) cells.push_back(cell_of(value));
    text.row(cells);
  }
  std::string all = valid_utf8(text.text());
  if (shown < table.rows()) {
    all += fmt::format("({} of {} rows)\n", thousands(shown), thousands(table.rows()));
  }
  return all;
}

ColumnHandle column_of(const TableHandle& handle, std::size_t at) {
  if (at >= handle.table->column_count()) throw py::index_error();
  return unlocked([&] { return ColumnHandle{handle.table->column(at)}; });
}

template <std::string ColumnHead::*member>
std::string head_text(const ColumnHandle& handle) {
  return (*handle.column).*member;
}

}  // namespace

py::object to_python(const report::Value& value) {
  struct Make {
    py::object operator()(std::monostate) const { return py::none(); }
    py::object operator()(const std::string& text) const { return py::str(valid_utf8(text)); }
    py::object operator()(bool truth) const { return py::bool_(truth); }
    py::object operator()(std::int64_t number) const { return py::int_(number); }
    py::object operator()(double number) const {
      if (!std::isfinite(number)) return py::none();
      return py::float_(number);
    }
    py::object operator()(const std::vector<std::string>& texts) const {
      py::list list;
      for (const std::string& text : texts) list.append(py::str(valid_utf8(text)));
      return list;
    }
    py::object operator()(const std::vector<std::int64_t>& numbers) const {
      return py::cast(numbers);
    }
  };
  return std::visit(Make{}, value.held());
}

void bind_tables(py::module_& module) {
  py::class_<ColumnHandle>(module, "Column")
      .def_property_readonly("name", head_text<&ColumnHead::name>)
      .def_property_readonly("label", head_text<&ColumnHead::label>)
      .def_property_readonly("quantity", head_text<&ColumnHead::quantity>)
      .def_property_readonly("unit", head_text<&ColumnHead::unit>)
      .def_property_readonly("kind", head_text<&ColumnHead::kind>)
      .def_property_readonly("origin", head_text<&ColumnHead::origin>)
      .def_property_readonly("meaning", head_text<&ColumnHead::meaning>)
      .def_property_readonly("type",
                             [](const ColumnHandle& h) { return type_name(h.column->type); })
      .def_property_readonly("items",
                             [](const ColumnHandle& h) { return ColumnHandle{h.column->items}; })
      .def("values", values_of)
      .def("mask", mask_of)
      .def("to_list", [](const ColumnHandle& h) { return list_of(*h.column); })
      .def("at",
           [](const ColumnHandle& h, std::size_t row) {
             if (row >= h.column->size) throw py::index_error();
             return to_python(value_at(*h.column, row));
           })
      .def("__len__", [](const ColumnHandle& h) { return h.column->size; })
      .def("arrow_array", arrow_array_of)
      .def("arrow_schema", [](const ColumnHandle& h) {
        return capsule_of<ArrowSchema>("arrow_schema",
                                       [&](ArrowSchema& out) { export_schema(*h.column, out); });
      });
  py::class_<TableHandle>(module, "Table")
      .def_property_readonly("name", [](const TableHandle& h) { return h.table->name(); })
      .def_property_readonly("columns", heads_of)
      .def("column", column_of)
      .def("__len__", [](const TableHandle& h) { return h.table->rows(); })
      .def("text",
           [](const TableHandle& h, std::size_t width, std::size_t rows) {
             return unlocked([&] { return text_of_table(*h.table, width, rows); });
           })
      .def("arrow_stream",
           [](const TableHandle& h) {
             return capsule_of<ArrowArrayStream>(
                 "arrow_array_stream", [&](ArrowArrayStream& out) { export_stream(h.table, out); });
           })
      .def("arrow_schema", [](const TableHandle& h) {
        return capsule_of<ArrowSchema>("arrow_schema",
                                       [&](ArrowSchema& out) { export_schema(*h.table, out); });
      });
}

}  // namespace npuscope::python
