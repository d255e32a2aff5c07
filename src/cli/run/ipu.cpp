// npuscope run for SigmaStar IPUs: offline images.
#include <cstdio>

#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/architectures.hpp"
#include "cli/command.hpp"
#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/model.hpp"
#include "npuscope/npu/ipu/run.hpp"
#include "report/programs/ipu_documents.hpp"

namespace npuscope::cli {
namespace run_command {

constexpr std::uint64_t max_inferences = 1'000'000;
constexpr std::uint64_t min_log_bytes = 16, max_log_bytes = 1 << 30;

class IpuExecution : public RunArchitecture {
 public:
  explicit IpuExecution(Command& command) {
    command.flag("--ipu_log,--ipu-log", log_folder_, "existing folder for the IPU logs");
    command
        .flag("--ipu_log_size,--ipu-log-size", request_.log_bytes,
              "bytes of each log's buffer: what does not fit is lost")
        .check(whole_number(min_log_bytes, max_log_bytes))
        .shows_usual();
  }

  bool recognises(ByteSpan program) const override {
    return sigmastar::looks_like_image(as_text(program)) ||
           sigmastar::looks_like_model(as_text(program));  // refused by name
  }

  Status run(const RunArguments& arguments) override {
    request_.image = arguments.file;
    request_.log_folder = log_folder_;
    request_.inferences = arguments.inferences.value_or(1);
    if (request_.inferences < 1 || request_.inferences > max_inferences) {
      return usage_error("--num-iter={}: from 1 to {}", request_.inferences, max_inferences);
    }
    TRY_AS(outcome, npu::ipu::run(request_));
    const std::string remark = report::ipu_logging_remark(*outcome);
    if (arguments.json) {
      std::vector<Note> notes;
      if (!remark.empty()) notes.push_back({Severity::warning, arguments.file, 0, remark, 1});
      for (const std::string& warning : outcome->warnings) {
        notes.push_back({Severity::error, arguments.file, 0, warning, 1});
      }
      const report::Document document = report::make_ipu_run_document(*outcome, arguments.file);
      print_json(stdout, report::document_json(document, notes));
      return {};
    }
    print(stdout, "{}", report::ipu_run_text(*outcome, arguments.file));
    std::fflush(stdout);
    if (!remark.empty()) print(stderr, "npuscope: warning: {}\n", remark);
    print_warnings(outcome->warnings);
    return {};
  }

 private:
  npu::ipu::RunRequest request_;
  std::string log_folder_;
};

}  // namespace run_command

std::unique_ptr<RunArchitecture> add_ipu_run(Command& command) {
  return std::make_unique<run_command::IpuExecution>(command);
}

}  // namespace npuscope::cli
