// npuscope-model: writes transformer models as ONNX files without weight data.
#include <memory>

#include "cli/description.hpp"
#include "cli/model/request.hpp"

namespace npuscope::cli {
namespace {

void add_model_command(Command& program, std::string_view) {
  const auto request = std::make_shared<ModelRequest>();
  add_model_flags(program, *request);
  const auto man = std::make_shared<bool>(false);
  program.flag("--man-page", *man, "print the man page").under("");  // for the installation
  program.action = [request, man, &program] {
    if (*man) {
      print(stdout, "{}", man_page(describe(program), NPUSCOPE_VERSION));
      return ExitStatus::done;
    }
    const Status done = serve(*request);
    return done ? ExitStatus::done : report(done.error());
  };
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
