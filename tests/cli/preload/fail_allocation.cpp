// Preloaded into a program (LD_PRELOAD), makes its allocation number NPUSCOPE_FAIL_ALLOCATION fail,
// counted from the begin of main: what libraries do before it nobody can catch.
#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {

using Malloc = void* (*)(std::size_t);

Malloc real_malloc() {
  static std::atomic<Malloc> found{nullptr};
  if (found == nullptr) found = reinterpret_cast<Malloc>(::dlsym(RTLD_NEXT, "malloc"));
  return found;
}

std::atomic<long> left{-1};  // until the one that fails; below zero none does

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  const char* number = std::getenv("NPUSCOPE_FAIL_ALLOCATION");
  if (number != nullptr) left = std::atol(number);
  const int status = real_main(argc, argv, environment);
  left = -1;
  return status;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void* malloc(std::size_t size) {
  if (left >= 0 && left.fetch_sub(1) == 0) {
    errno = ENOMEM;
    return nullptr;
  }
  return real_malloc()(size);
}

extern "C" [[gnu::visibility("default")]] int __libc_start_main(Main main, int argc, char** argv,
                                                                void (*init)(), void (*fini)(),
                                                                void (*end)(), void* stack) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(counted_main, argc, argv, init, fini, end, stack);
}
