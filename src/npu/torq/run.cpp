#include "npuscope/npu/torq/run.hpp"

#include "npu/torq/execute.hpp"
#include "npu/torq/program.hpp"
#include "npu/torq/target.hpp"

namespace npuscope::npu::torq {

Result<RunOutcome> run(const RunRequest& request) {
  const std::string name = request.program.string();
  const auto file = MappedFile::open(request.program);
  if (!file) return tl::unexpected(file.error());
  auto program = read_program(file->bytes(), name);
  if (!program) return tl::unexpected(program.error());
  auto target = parse_target(program->target_toml, name + ", its target");
  if (!target) return tl::unexpected(Error{ErrorKind::input, target.error().message});
  RunOptions options;
  options.inferences = request.inferences;
  options.log = !request.log.empty() || !request.job_log.empty();
  auto run = torq::run(*program, *target, options);
  if (!run) return tl::unexpected(run.error());
  if (!request.log.empty()) {
    if (auto ok = npuscope::torq::write_log(run->log, request.log); !ok) {
      return tl::unexpected(ok.error());
    }
  }
  if (!request.job_log.empty()) {
    if (auto ok = npuscope::torq::write_job_log(run->log, request.job_log); !ok) {
      return tl::unexpected(ok.error());
    }
  }
  return RunOutcome{std::make_shared<const Program>(std::move(*program)),
                    std::make_shared<const Target>(std::move(*target)),
                    std::make_shared<const Run>(std::move(*run))};
}

}  // namespace npuscope::npu::torq
