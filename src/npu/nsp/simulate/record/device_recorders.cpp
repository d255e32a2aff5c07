#include "npu/nsp/simulate/record/device_recorders.hpp"

namespace npuscope::npu::nsp {

DeviceRecorders::DeviceRecorders(const std::vector<std::unique_ptr<RecordingContext>>& contexts,
                                 std::uint32_t activation, std::uint64_t inference)
    : cores_(contexts.front()->program.cores) {
  recorders_.reserve(contexts.size());
  std::uint32_t first_task = 0;
  for (const auto& context : contexts) {
    recorders_.emplace_back(*context, activation, inference);
    first_task_.push_back(first_task);
    first_task += std::uint32_t(context->program.tasks.size());
  }
}

}  // namespace npuscope::npu::nsp
