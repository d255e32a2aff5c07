#include "npuscope/base/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/standard_streams.hpp"
#include "base/text.hpp"

namespace npuscope {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds delay_before_drawing = 1s;
constexpr std::chrono::nanoseconds redraw_interval = 100ms;
constexpr std::size_t widest_bar = 40;
constexpr std::size_t frame_width = 8;  // " [" before the bar and "] 100%" behind it

std::chrono::nanoseconds steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

ProgressTerminal ProgressTerminal::standard_error() {
  constexpr std::size_t usual = 80;
  const auto size = terminal_size(StandardStream::error);
  return {stderr, npuscope::is_terminal(StandardStream::error),
          size && size->columns > 0 ? size->columns : usual, steady_now};
}

std::string progress_line(const std::string& what, std::uint64_t done, std::uint64_t total,
                          std::size_t columns) {
  const std::string name = printable(what);
  if (total == 0) return fmt::format("{} ...", name).substr(0, columns);
  const double share = double(std::min(done, total)) / double(total);
  const auto percent = unsigned(share * 100);
  const std::size_t taken = name.size() + frame_width;
  if (columns < taken + 4) return fmt::format("{} {}%", name, percent).substr(0, columns);
  const std::size_t width = std::min(widest_bar, columns - taken);
  const auto filled = std::size_t(share * double(width));
  return fmt::format("{} [{:#<{}}{:{}}] {:3}%", name, "", filled, "", width - filled, percent);
}

ProgressBar::ProgressBar(std::string what, ProgressTerminal terminal)
    : what_(std::move(what)), terminal_(std::move(terminal)) {
  if (terminal_.is_terminal) next_draw_ = terminal_.now() + delay_before_drawing;
}

ProgressBar::~ProgressBar() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", terminal_.stream);
  std::fflush(terminal_.stream);
}

void ProgressBar::update(std::uint64_t done, std::uint64_t total) {
  if (!terminal_.is_terminal) return;
  // Another thread that is drawing draws for this one too.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || terminal_.now() < next_draw_) return;
  next_draw_ = terminal_.now() + redraw_interval;
  drawn_ = true;
  // One column stays free: a full line makes some terminals wrap.
  const std::size_t columns = terminal_.columns > 1 ? terminal_.columns - 1 : 1;
  const std::string line = progress_line(what_, done, total, columns);
  std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), terminal_.stream);
  std::fflush(terminal_.stream);
}

BusySign::BusySign(std::string what, ProgressTerminal terminal) : bar_(std::move(what), terminal) {
  if (!terminal.is_terminal) return;
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, redraw_interval, [this] { return is_over_; })) bar_.update(0, 0);
  });
}

BusySign::~BusySign() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

}  // namespace npuscope
