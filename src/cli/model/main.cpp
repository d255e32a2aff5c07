// npuscope-model: writes transformer models as ONNX files without weight data.
#include <memory>

#include "cli/description.hpp"
#include "cli/model/request.hpp"

namespace npuscope::cli {
namespace {

void add_model_command(CLI::App& program, ExitStatus& status, std::string_view) {
  const auto request = std::make_shared<ModelRequest>();
  add_model_flags(program, *request);
  const auto man = std::make_shared<bool>(false);
  program.add_flag("--man-page", *man, "print the man page")->group("");  // for the installation
  program.callback([request, man, &program, &status] {
    if (*man) return print(stdout, "{}", man_page(describe(program), NPUSCOPE_VERSION));
    if (auto done = serve(*request); !done) status = report(done.error());
  });
}

}  // namespace
}  // namespace npuscope::cli

int main(int argc, char** argv) {
  using namespace npuscope::cli;
  return run_program(
      {"npuscope-model",
       "Writes transformer models as ONNX without weight data, to profile with npuscope"},
      add_model_command, argc, argv);
}
