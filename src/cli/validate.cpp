// npuscope validate: the reference NPU against public figures of real cards.
#include <memory>

#include "cli/documents.hpp"
#include "npuscope/npu/target/target.hpp"
#include "report/document/document_markdown.hpp"
#include "report/jobs/validation_document.hpp"

namespace npuscope::cli {
namespace {

struct ValidateArguments {
  std::string target = "aic100";
  std::size_t width = 0;  // 0: of the terminal
  bool json = false;
  bool markdown = false;
};

ExitStatus validate(const ValidateArguments& arguments) {
  const auto target = npu::find_target(arguments.target);
  if (!target) return report(target.error());
  const auto validation = report::validate(*target);
  if (!validation) return report(validation.error());
  const report::Document document = report::make_validation_document(*validation, *target);
  if (arguments.json) {
    print(stdout, "{}", report::document_json(document, {}));
  } else if (arguments.markdown) {
    print(stdout, "{}",
          report::document_markdown(document, "The reference NPU against real cards"));
  } else {
    const std::size_t width = arguments.width > 0 ? arguments.width : terminal_width();
    print(stdout, "{}", report::document_text(document, width));
  }
  return validation->all_met() ? ExitStatus::done : ExitStatus::gate_failed;
}

}  // namespace

void add_validate_command(CLI::App& program, ExitStatus& status) {
  CLI::App* command = program.add_subcommand(
      "validate", "The reference NPU against public figures of real cards, and predictions");
  const auto arguments = std::make_shared<ValidateArguments>();
  command->add_option("--target", arguments->target, "a built-in target or a .toml file")
      ->capture_default_str();
  command->add_option("--width", arguments->width, "columns of the text; default: the terminal's")
      ->check(whole_number(60, 1'000));
  CLI::Option* json = command->add_flag("--json", arguments->json, "print JSON");
  command->add_flag("--markdown", arguments->markdown, "print Markdown (docs/validation.md)")
      ->excludes(json);
  command->callback([arguments, &status] { status = validate(*arguments); });
}

}  // namespace npuscope::cli
