// What Chrome calls its processes and threads by their type, where a descriptor gives no name.
#pragma once

#include <cstdint>
#include <string_view>

namespace npuscope::perfetto {

// ChromeProcessDescriptor.ProcessType; empty for one that is not known.
constexpr std::string_view chrome_process_name(std::uint64_t type) {
  switch (type) {
    case 1: return "Browser";
    case 2: return "Renderer";
    case 3: return "Utility";
    case 4: return "SandboxHelper";
    case 6: return "Gpu";
    case 7: return "PpapiPlugin";
    case 8: return "PpapiBroker";
    default: return {};
  }
}

// ChromeThreadDescriptor.ThreadType; "&" stands for any number of them.
constexpr std::string_view chrome_thread_name(std::uint64_t type) {
  switch (type) {
    case 1: return "CrProcessMain";
    case 2: return "ChromeIOThread";
    case 3: return "ThreadPoolBackgroundWorker&";
    case 4: return "ThreadPoolForegroundWorker&";
    case 5: return "ThreadPoolSingleThreadForegroundBlocking&";
    case 6: return "ThreadPoolSingleThreadBackgroundBlocking&";
    case 7: return "ThreadPoolService";
    case 8: return "Compositor";
    case 9: return "VizCompositorThread";
    case 10: return "CompositorTileWorker&";
    case 11: return "ServiceWorkerThread&";
    case 50: return "MemoryInfra";
    case 51: return "StackSamplingProfiler";
    default: return {};
  }
}

}  // namespace npuscope::perfetto
