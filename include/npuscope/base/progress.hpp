// How far long work has come. Library code never prints: it takes a ProgressReport and calls it now
// and then. A program passes a ProgressBar, which draws one line on a terminal, and only when the
// work lasts over a second:
//
//   ProgressBar bar("simulating");
//   simulate(program, target, options, [&](auto done, auto total) { bar.update(done, total); });
//
//   simulating [############                  ]  41%
//
// The line is erased when the bar goes out of scope. Into a file or a pipe nothing is drawn.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace npuscope {

// `done` of `total` parts; total 0 means unknown. May be called from several threads.
using ProgressReport = std::function<void(std::uint64_t done, std::uint64_t total)>;

// Where a bar is drawn and what tells it the time; the defaults are stderr and the steady clock.
struct ProgressTerminal {
  static ProgressTerminal standard_error();

  std::FILE* stream = nullptr;
  bool is_terminal = false;
  std::size_t columns = 80;
  std::function<std::chrono::nanoseconds()> now;
};

class ProgressBar {
 public:
  explicit ProgressBar(std::string what,
                       ProgressTerminal terminal = ProgressTerminal::standard_error());
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Redraws at most ten times a second; a `done` beyond `total` counts as all of it.
  void update(std::uint64_t done, std::uint64_t total);

 private:
  std::string what_;
  ProgressTerminal terminal_;
  std::mutex mutex_;
  std::chrono::nanoseconds next_draw_{};
  bool drawn_ = false;
};

// Draws "analysing ..." while it lives, of work that cannot say how far it has come.
class BusySign {
 public:
  explicit BusySign(std::string what,
                    ProgressTerminal terminal = ProgressTerminal::standard_error());
  ~BusySign();
  BusySign(const BusySign&) = delete;
  BusySign& operator=(const BusySign&) = delete;

 private:
  ProgressBar bar_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;  // none where there is no terminal
};

// The line of a bar, at most `columns` wide: "what [####    ]  41%"; with an unknown total "what
// ...".
std::string progress_line(const std::string& what, std::uint64_t done, std::uint64_t total,
                          std::size_t columns);

}  // namespace npuscope
