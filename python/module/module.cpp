// The module npuscope._npuscope: what python/npuscope wraps with names, texts and defaults.
#include "bindings.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::python {

// npuscope.errors has the exceptions, so that they have a place of their own in tracebacks.
void bind_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const Failure& failure) {
      const char* names[] = {"UsageError", "InputError", "OutputError"};
      const py::object type =
          py::module_::import("npuscope.errors").attr(names[std::size_t(failure.error().kind)]);
      const auto sentence = py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
          failure.error().message.data(), py::ssize_t(failure.error().message.size()), "replace"));
      PyErr_SetObject(type.ptr(), sentence.ptr());
    }
  });
}

}  // namespace npuscope::python

PYBIND11_MODULE(_npuscope, module) {
  using namespace npuscope::python;
  module.attr("version") = NPUSCOPE_VERSION;
  module.def("write_file", [](const std::string& file, const std::string& text) {
    unlocked([&] {
      taken(npuscope::write_file_atomically(file, npuscope::as_byte_span(text)));
      return 0;
    });
  });
  bind_errors(module);
  bind_tables(module);
  bind_pages(module);
  bind_profiles(module);
  bind_comparisons(module);
  bind_reference(module);
}
