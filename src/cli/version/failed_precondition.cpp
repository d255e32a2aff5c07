// What a precondition of the standard library that does not hold calls: libstdc++ has it from GCC
// 12 on. With one of our own, packages run where it is of GCC 11: RHEL 9, Amazon Linux 2023.
#include <cstdio>
#include <cstdlib>

#ifdef _GLIBCXX_ASSERTIONS
// NOLINTNEXTLINE(bugprone-reserved-identifier): the library's name
void std::__glibcxx_assert_fail(const char* file, int line, const char* function,
                                const char* condition) noexcept {
  std::fprintf(stderr, "%s:%d: %s: Assertion '%s' failed.\n", file, line, function, condition);
  std::abort();
}
#endif
