// The module npuscope._npuscope: what python/npuscope wraps with names, texts and defaults.
#include <algorithm>
#include <string_view>

#include "bindings.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::python {
namespace {

// What the flags of the program are as arguments of the module, where that is not their own name.
constexpr std::pair<std::string_view, std::string_view> arguments[] = {
    {"from", "from_"},
    {"to", "until"},
    {"with", "with_"},
    {"section", "sections"},
    {"aic-num-cores", "cores"},
    {"convert-to-fp16", "fp16"},
    {"onnx-define-symbol", "symbols"},
    {"num-iter", "inferences"},
    {"iterations", "inferences"},
    {"batchsize", "batch"},
    {"aic-profiling-start-iter", "first_sample"},
    {"aic-profiling-num-samples", "samples"}};

std::string argument_of(std::string_view flag) {
  for (const auto& [name, argument] : arguments) {
    if (name == flag) return std::string(argument);
  }
  std::string argument(flag);
  std::ranges::replace(argument, '-', '_');
  return argument;
}

// Where the flag that begins at this dash ends: --fail-if, -onnx-define-symbol; npos: it is none.
std::size_t end_of_flag(std::string_view text, std::size_t dash) {
  const std::size_t name = text.find_first_not_of('-', dash);
  const bool begins = dash == 0 || std::string_view(" ('\"").find(text[dash - 1]) != text.npos;
  if (!begins || name == text.npos || name - dash > 2) return text.npos;
  const auto is_letter = [&](std::size_t at) { return text[at] >= 'a' && text[at] <= 'z'; };
  const auto goes_on = [&](std::size_t at) {
    return is_letter(at) || text[at] == '-' || (text[at] >= '0' && text[at] <= '9');
  };
  if (!is_letter(name)) return text.npos;
  std::size_t end = name;
  while (end < text.size() && goes_on(end)) ++end;
  return end - name > 1 ? end : text.npos;
}

// The program's sentence as Python says it: "fail_if: ..." for "--fail-if: ...". What is quoted as
// a command of the program stays.
std::string with_arguments_for_flags(std::string_view text) {
  std::string said;
  bool in_command = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("npuscope ")) in_command = true;
    if (text[at] == ';') in_command = false;
    const std::size_t end = in_command || text[at] != '-' ? text.npos : end_of_flag(text, at);
    if (end == text.npos) {
      said += text[at++];
      continue;
    }
    said += argument_of(
        text.substr(text.find_first_not_of('-', at), end - text.find_first_not_of('-', at)));
    at = end;
  }
  return said;
}

}  // namespace

// npuscope.errors has the exceptions, so that they have a place of their own in tracebacks.
void bind_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const Failure& failure) {
      const char* names[] = {"UsageError", "InputError", "OutputError"};
      const py::object type =
          py::module_::import("npuscope.errors").attr(names[std::size_t(failure.error().kind)]);
      const std::string text = with_arguments_for_flags(failure.error().message);
      const auto sentence = py::reinterpret_steal<py::object>(
          PyUnicode_DecodeUTF8(text.data(), py::ssize_t(text.size()), "replace"));
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
  bind_fleet(module);
  bind_reference(module);
}
