// Preloaded into a program (LD_PRELOAD), makes one of its calls fail, counted from the start of
// main: what libraries do before it nothing can catch.
//
//   NPUSCOPE_FAIL_CALL=write:3:28     the fourth write ends with errno 28 (ENOSPC)
//   NPUSCOPE_FAIL_CALL=write:3+:28    and so does every later one
//   NPUSCOPE_FAIL_CALL=read:0:short   the first read does half of what was asked for
//   NPUSCOPE_COUNT_INTO=FILE          how many such calls there were, when main returns
//
//   NPUSCOPE_FAIL_CALL=open:2:term    SIGTERM comes while the third open is under way; quit:
//   SIGQUIT NPUSCOPE_FAIL_CALL=input:1:shrink the file of the second read or mapping of an input is
//   emptied by
//                                     somebody else then; grow, replace: gets more, becomes another
//
// System calls are caught where they enter the kernel (a seccomp filter that raises SIGSYS), those
// of libc itself too; allocations and threads are library functions.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <dlfcn.h>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

// A system call that the filter lets through: it is known by the address behind its instruction.
long fail_call_pass(long number, long a, long b, long c, long d, long e, long f);
extern const char fail_call_passed;
}

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
asm(R"(
  .text
  .globl fail_call_pass, fail_call_passed
  .hidden fail_call_pass, fail_call_passed
  .type fail_call_pass, @function
fail_call_pass:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
fail_call_passed:
  ret
)");
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
asm(R"(
  .text
  .globl fail_call_pass, fail_call_passed
  .hidden fail_call_pass, fail_call_passed
  .type fail_call_pass, %function
fail_call_pass:
  mov x8, x0
  mov x0, x1
  mov x1, x2
  mov x2, x3
  mov x3, x4
  mov x4, x5
  mov x5, x6
  svc #0
fail_call_passed:
  ret
)");
#endif

namespace {

enum class Way : std::uint8_t { error, half, term, quit, shrink, grow, replace };

std::atomic<long> made{0};       // calls so far
std::atomic<bool> is_on{false};  // while main runs
long failing = -1;               // the number of the one that fails
bool later_too = false;
Way way = Way::error;
int failing_errno = 0;

enum class Kind : std::uint8_t { system, allocation, thread };
Kind kind = Kind::system;

bool is_the_one() {
  if (!is_on) return false;
  const long number = made.fetch_add(1);
  return failing >= 0 && (number == failing || (later_too && number > failing));
}

bool allocation_fails() {
  if (kind != Kind::allocation || !is_the_one()) return false;
  errno = ENOMEM;
  return true;
}

struct Group {
  std::string_view name;
  std::vector<long> numbers;
};

std::vector<long> numbers_of(std::string_view name) {
  const Group groups[] = {
#if defined(__x86_64__)
    {"open", {SYS_openat, SYS_open}},
    {"stat", {SYS_newfstatat, SYS_fstat, SYS_stat, SYS_lstat, SYS_statx}},
    {"rename", {SYS_rename, SYS_renameat, SYS_renameat2}},
    {"unlink", {SYS_unlink, SYS_unlinkat, SYS_rmdir}},
    {"mkdir", {SYS_mkdir, SYS_mkdirat}},
#else
    {"open", {SYS_openat}},
    {"stat", {SYS_newfstatat, SYS_fstat, SYS_statx}},
    {"rename", {SYS_renameat, SYS_renameat2}},
    {"unlink", {SYS_unlinkat}},
    {"mkdir", {SYS_mkdirat}},
#endif
    {"read", {SYS_read, SYS_pread64, SYS_readv}},
    {"write", {SYS_write, SYS_pwrite64, SYS_writev}},
    {"map", {SYS_mmap}},
    {"input", {SYS_read, SYS_pread64, SYS_mmap}},
    {"sync", {SYS_fsync, SYS_fdatasync}},
    {"close", {SYS_close}},
    {"seek", {SYS_lseek}},
    {"list", {SYS_getdents64}},
    {"mode", {SYS_fchmod}},
    {"truncate", {SYS_ftruncate}},
    {"lock", {SYS_fcntl}},
  };
  for (const Group& group : groups) {
    if (group.name == name) return group.numbers;
  }
  return {};
}

#if defined(__x86_64__) || defined(__aarch64__)

// Of what a message says on standard error nothing is taken: a test reads it. On standard output an
// interruption is not tried: stdio gives up on one, but only handlers without SA_RESTART make any.
bool is_spared(long number, long first) {
  if (number != SYS_write && number != SYS_writev) return false;
  return first == 2 || (first == 1 && failing_errno == EINTR);
}

struct Path {
  char text[PATH_MAX] = {};

  static Path of_descriptor(long descriptor) {
    Path link, path;
    std::snprintf(link.text, sizeof link.text, "/proc/self/fd/%ld", descriptor);
    if (::readlink(link.text, path.text, sizeof path.text - 1) < 0) path.text[0] = '\0';
    return path;
  }

  // A file of the folder that the command runs in, but for what it writes itself.
  bool is_input() const {
    char folder[PATH_MAX] = {};
    if (::getcwd(folder, sizeof folder) == nullptr) return false;
    const std::string_view path = text, of = folder;
    if (!path.starts_with(of) || path.size() <= of.size() || path[of.size()] != '/') return false;
    const std::string_view rest = path.substr(of.size() + 1);
    return !rest.starts_with("out/") && !rest.starts_with("tmp/") && rest != "count" &&
           rest.find(".npuscope-") == rest.npos && rest.find(" (deleted)") == rest.npos;
  }

  void change() const {
    if (way == Way::shrink) {
      if (::truncate(text, 0) != 0) std::perror(text);
      return;
    }
    char other[PATH_MAX + 8] = {};
    std::snprintf(other, sizeof other, "%s%s", text, way == Way::replace ? ".new" : "");
    const int file = ::open(other, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || ::write(file, "more\n", 5) != 5) std::perror(other);
    ::syscall(SYS_close, file);
    if (way == Way::replace && std::rename(other, text) != 0) std::perror(text);
  }
};

// What somebody else does to an input right after it was read or mapped.
long read_and_change(long number, const std::array<long, 6>& a) {
  const Path path = Path::of_descriptor(number == SYS_mmap ? a[4] : a[0]);
  const bool is_changed = path.is_input() && is_the_one();
  const long result = fail_call_pass(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (is_changed) path.change();
  return result;
}

long do_call(long number, std::array<long, 6> a) {
  if (way >= Way::shrink) return read_and_change(number, a);
  if (is_spared(number, a[0]) || !is_the_one()) {
    return fail_call_pass(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  if (way == Way::half) {
    if (a[2] > 1) a[2] /= 2;
    return fail_call_pass(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  if (way == Way::term || way == Way::quit) {
    const long result = fail_call_pass(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    ::kill(::getpid(), way == Way::term ? SIGTERM : SIGQUIT);
    return result;
  }
  // A descriptor is closed even where close() says that something was not written.
  if (number == SYS_close) fail_call_pass(number, a[0], 0, 0, 0, 0, 0);
  return -failing_errno;
}

void on_system_call(int, siginfo_t* info, void* context) {
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  greg_t* r = machine.gregs;
  r[REG_RAX] = do_call(info->si_syscall,
                       {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]});
#else
  const auto r = [&](int i) { return long(machine.regs[i]); };
  machine.regs[0] = std::uint64_t(do_call(info->si_syscall, {r(0), r(1), r(2), r(3), r(4), r(5)}));
#endif
}

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, std::uint32_t(offset));
}
sock_filter jump_if(std::uint32_t value, std::uint8_t equal, std::uint8_t other) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, equal, other);
}
sock_filter answer(std::uint32_t what) { return BPF_STMT(BPF_RET | BPF_K, what); }

bool catch_system_calls(const std::vector<long>& numbers) {
  struct sigaction action {};
  action.sa_sigaction = on_system_call;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (::sigaction(SIGSYS, &action, nullptr) != 0) return false;
  const auto passed = reinterpret_cast<std::uint64_t>(&fail_call_passed);
  const auto count = std::uint8_t(numbers.size());
  std::vector<sock_filter> filter{load(offsetof(seccomp_data, arch)), jump_if(architecture, 1, 0),
                                  answer(SECCOMP_RET_ALLOW), load(offsetof(seccomp_data, nr))};
  for (std::uint8_t i = 0; i < count; ++i) {
    filter.push_back(jump_if(std::uint32_t(numbers[i]), std::uint8_t(count - i), 0));
  }
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  filter.push_back(load(offsetof(seccomp_data, instruction_pointer)));  // little endian
  filter.push_back(jump_if(std::uint32_t(passed), 0, 3));
  filter.push_back(load(offsetof(seccomp_data, instruction_pointer) + 4));
  filter.push_back(jump_if(std::uint32_t(passed >> 32), 0, 1));
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  filter.push_back(answer(SECCOMP_RET_TRAP));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

bool catch_system_calls(const std::vector<long>&) { return false; }

#endif

Way way_of(std::string_view how) {
  constexpr std::pair<std::string_view, Way> ways[] = {
      {"short", Way::half},    {"term", Way::term}, {"quit", Way::quit},
      {"shrink", Way::shrink}, {"grow", Way::grow}, {"replace", Way::replace}};
  for (const auto& [name, way] : ways) {
    if (name == how) return way;
  }
  return Way::error;  // a number
}

// "write:3+:28". False where it is not such a text, or the system lets nothing be caught.
bool arm(std::string_view text) {
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  if (second == text.npos) return false;
  const std::string_view name = text.substr(0, first), how = text.substr(second + 1);
  failing = std::atol(text.data() + first + 1);
  later_too = text[second - 1] == '+';
  way = way_of(how);
  failing_errno = std::atoi(how.data());
  if (name == "allocation") kind = Kind::allocation;
  if (name == "thread") kind = Kind::thread;
  if (kind != Kind::system) return true;
  const std::vector<long> numbers = numbers_of(name);
  return !numbers.empty() && catch_system_calls(numbers);
}

void say_count() {
  const char* path = std::getenv("NPUSCOPE_COUNT_INTO");
  if (path == nullptr) return;
  if (std::FILE* file = std::fopen(path, "w")) {
    std::fprintf(file, "%ld\n", made.load());
    std::fclose(file);
  }
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  const char* text = std::getenv("NPUSCOPE_FAIL_CALL");
  if (text != nullptr && !arm(text)) {
    std::fputs("fail_call: system calls cannot be caught here\n", stderr);
    return 99;
  }
  is_on = text != nullptr;
  const int status = real_main(argc, argv, environment);
  is_on = false;
  say_count();
  return status;
}

}  // namespace

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED void* malloc(std::size_t size) {
  return allocation_fails() ? nullptr : __libc_malloc(size);
}

EXPORTED void* calloc(std::size_t count, std::size_t size) {
  return allocation_fails() ? nullptr : __libc_calloc(count, size);
}

EXPORTED void* realloc(void* block, std::size_t size) {
  return allocation_fails() ? nullptr : __libc_realloc(block, size);
}

EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return allocation_fails() ? nullptr : __libc_memalign(alignment, size);
}

EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                            void* (*start)(void*), void* argument) {
  if (kind == Kind::thread && is_the_one()) return EAGAIN;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, start, argument);
}

EXPORTED int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                               void (*end)(), void* stack) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(counted_main, argc, argv, init, fini, end, stack);
}
