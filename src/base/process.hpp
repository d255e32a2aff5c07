// What this process asks of the system about itself and others: how it ends, what runs in its place
// or apart from it.
//
//   const ApartResult wrote = run_apart([&] { return write_book(name); });
//   if (wrote.status == 0 && wrote.said.empty()) …
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/standard_streams.hpp"

namespace npuscope {

// Allowed in a handler of signals and where no memory is left.
void write_at_once(StandardStream stream, std::string_view text);
[[noreturn]] void end_at_once(int status);
void end_by_signal(int signal);

// `end` is called by what ends a process from outside, `shrunk` where a mapped file was cut. A
// limit on file sizes becomes a write error like any other.
using SignalHandler = void (*)(int signal);
void handle_signals(SignalHandler end, SignalHandler shrunk);

// An exception that leaves a std::call_once() passes the C library, which opens libgcc_s for it the
// first time, and ends the program where there is no memory left to do so: this opens it now.
void prepare_unwinding();

// Whether the shell's command ran with that as its input, however it ended; one that is left before
// the end of the input is no failure.
bool run_with_input(const std::string& command, std::string_view input);

// Does not return where the program, found as a shell does, can be started: else the error's
// number.
int replace_this_program(const std::string& program, char** arguments);
// Its file; empty where the system does not say.
std::filesystem::path path_of_this_program();

// What ran in a process of its own, where a crash or a lack of memory is only its own.
struct ApartResult {
  int failure = 0;                 // the error's number where it could not be started
  std::optional<int> status = {};  // none: a signal ended it
  std::string said = {};           // on standard error, at most a few hundred bytes
};
ApartResult run_apart(const std::function<int()>& work);

}  // namespace npuscope
