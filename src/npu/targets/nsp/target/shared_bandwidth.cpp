#include "npu/targets/nsp/target/shared_bandwidth.hpp"

namespace npuscope::npu::nsp {

SharedBandwidth::SharedBandwidth(double total, double limit_of_one)
    : total_(total * 1e-12), limit_of_one_(limit_of_one * 1e-12) {}

bool SharedBandwidth::later(const Transfer& a, const Transfer& b) {
  if (a.finishing_service != b.finishing_service) return a.finishing_service > b.finishing_service;
  return a.id > b.id;
}

double SharedBandwidth::rate() const {
  return std::min(limit_of_one_, total_ / double(transfers_.size()));
}

void SharedBandwidth::serve_until(Picoseconds now) {
  service_ = transfers_.empty() ? 0 : service_ + double((now - time_).value) * rate();
  time_ = now;
}

void SharedBandwidth::find_next_end() {
  next_end_ = never;
  if (transfers_.empty()) return;
  // Rounded up to whole picoseconds; when that has brought the end about already, it is now.
  const double left =
      std::max(0.0, std::ceil((transfers_.front().finishing_service - service_) / rate()));
  next_end_ =
      time_ + (left < double(time_limit.value) ? Picoseconds{std::int64_t(left)} : time_limit);
}

void SharedBandwidth::add(Picoseconds now, std::uint32_t id, std::uint64_t bytes) {
  serve_until(now);
  transfers_.push_back({service_ + double(bytes), id});
  std::push_heap(transfers_.begin(), transfers_.end(), later);
  find_next_end();
}

std::uint32_t SharedBandwidth::take() {
  serve_until(next_end_);
  const std::uint32_t id = transfers_.front().id;
  std::pop_heap(transfers_.begin(), transfers_.end(), later);
  transfers_.pop_back();
  find_next_end();
  return id;
}

}  // namespace npuscope::npu::nsp
