// npuscope-model: writes transformer models as ONNX files without weight data.
#include <memory>

#include "cli/model/request.hpp"

namespace npuscope::cli {
namespace {

void add_model_command(CLI::App& program, ExitStatus& status) {
  const auto request = std::make_shared<ModelRequest>();
  add_model_flags(program, *request);
  program.callback([request, &status] {
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
