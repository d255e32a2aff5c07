// npuscope-model: writes transformer models as ONNX files without weight data.
#include "cli/model/request.hpp"

int main(int argc, char** argv) {
  using namespace npuscope::cli;
  CLI::App program(
      "Writes transformer models as ONNX without weight data, to profile with npuscope",
      "npuscope-model");
  program.set_version_flag("--version", NPUSCOPE_VERSION);
  ModelRequest request;
  add_model_flags(program, request);
  ExitStatus status = ExitStatus::done;
  program.callback([&] {
    if (auto done = serve(request); !done) status = report(done.error());
  });
  return run_program(program, argc, argv, status);
}
