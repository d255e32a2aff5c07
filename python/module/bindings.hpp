// What the parts of the module share. Long work releases the interpreter's lock; Python's objects
// are made when it is held again.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "columns.hpp"
#include "failure.hpp"
#include "report/document/document.hpp"

namespace npuscope::python {

namespace py = pybind11;

py::object to_python(const report::Value& value);

// A page: a document and what its texts and ticks are of.
struct Page {
  std::string command;  // "npuscope ops"
  report::Document document;
  std::vector<Note> notes;
  std::shared_ptr<const void> owner;  // of document.profile and of the sides
};

// The result of `work`, made without the interpreter's lock. Errors become Python's.
template <class Work>
auto unlocked(Work&& work) {
  const py::gil_scoped_release release;
  return work();
}

// The choice of this name; a usage error that lists all of them.
template <class Choice>
Choice chosen(const char* option, const std::string& name,
              const std::vector<std::pair<std::string, Choice>>& choices) {
  std::string all;
  for (const auto& [known, choice] : choices) {
    if (known == name) return choice;
    all += (all.empty() ? "" : ", ") + known;
  }
  throw Failure({ErrorKind::usage, fmt::format("{}: '{}' is not one of {}", option, name, all)});
}

void bind_errors(py::module_& module);
void bind_tables(py::module_& module);
void bind_pages(py::module_& module);
void bind_profiles(py::module_& module);
void bind_comparisons(py::module_& module);
void bind_fleet(py::module_& module);
void bind_reference(py::module_& module);

}  // namespace npuscope::python
