// npuscope compile for SigmaStar IPUs: the fixed model and the offline image.
#include <filesystem>
#include <optional>

#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/architectures.hpp"
#include "cli/choices.hpp"
#include "cli/command.hpp"
#include "cli/documents.hpp"
#include "npu/targets/ipu/compile.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/npu/ipu/build.hpp"
#include "report/programs/ipu_documents.hpp"

namespace npuscope::cli {
namespace compile_command {

namespace fs = std::filesystem;

constexpr std::string_view image_suffix = "_sgsimg.img";

class IpuCompilation : public CompileArchitecture {
 public:
  explicit IpuCompilation(Command& command) {
    command.flag("--batch", options_.batch, "images that the offline model computes at once")
        .check(whole_number(1, 1024))
        .shows_usual();
    using npu::ipu::BatchMode;
    add_choice<BatchMode>(
        command, "--batch_mode,--batch-mode", options_.batch_mode,
        {{"n_buf", BatchMode::n_buf}, {"one_buf", BatchMode::one_buf}},
        "n_buf: a buffer for each image; one_buf: one for all, of this batch only");
    command.flag("--ipu-cores", options_.cores, "cores to use; default all")
        .check(whole_number(1, 2));
  }

  Status compile(const CompileArguments& arguments, const npu::TargetFile&) override {
    std::optional<BusySign> busy("compiling");
    const auto built =
        npu::ipu::build(arguments.model, {arguments.target, arguments.import, options_});
    busy.reset();
    if (!built) return tl::unexpected(built.error());
    const report::IpuCompileFiles files = files_of(arguments, built->warnings);
    TRY(write(*built, arguments, files));
    print_outcome(*built->compiled, arguments, files);
    return {};
  }

 private:
  // resnet50.onnx: resnet50_fixed.sim and resnet50_fixed.sim_sgsimg.img, as the vendor calls them.
  static report::IpuCompileFiles files_of(const CompileArguments& arguments,
                                          std::vector<std::string> warnings) {
    if (arguments.output.empty()) {
      const std::string model = fs::path(arguments.model).stem().string() + "_fixed.sim";
      return {model, model + std::string(image_suffix), std::move(warnings)};
    }
    std::string model = arguments.output;
    if (model.ends_with(image_suffix) && model.size() > image_suffix.size()) {
      model.resize(model.size() - image_suffix.size());
    } else {
      model = fs::path(model).replace_extension(".sim").string();
    }
    return {std::move(model), arguments.output, std::move(warnings)};
  }

  static Status write(const npu::ipu::BuildResult& built, const CompileArguments& arguments,
                      const report::IpuCompileFiles& files) {
    if (files.model == files.image) {
      return usage_error("-o {}: the offline model needs another name than the fixed model (.sim)",
                         files.image);
    }
    const std::string inputs[] = {arguments.model};
    for (const std::string& path : {files.model, files.image}) {
      TRY(check_output_is_no_input(inputs, path));
    }
    TRY(write_file_atomically(files.model, as_byte_span(built.model)));
    return write_file_atomically(files.image, as_byte_span(built.image));
  }

  static void print_outcome(const npu::ipu::Compiled& compiled, const CompileArguments& arguments,
                            const report::IpuCompileFiles& files) {
    const report::Document document = report::make_ipu_compile_document(compiled, files);
    if (arguments.json) {
      std::vector<Note> notes;
      for (const std::string& warning : files.warnings) {
        notes.push_back({Severity::warning, arguments.model, 0, warning, 1});
      }
      print_json(stdout, report::document_json(document, notes));
      return;
    }
    print_warnings(files.warnings);
    print(stdout, "{}", report::document_text(document, terminal_width()));
  }

  npu::ipu::CompileOptions options_;
};

}  // namespace compile_command

std::unique_ptr<CompileArchitecture> add_ipu_compilation(Command& command) {
  return std::make_unique<compile_command::IpuCompilation>(command);
}

}  // namespace npuscope::cli
