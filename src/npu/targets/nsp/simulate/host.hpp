// The host and its link: it keeps set_size inferences of each activation queued, sends their
// inputs, and takes their outputs.
//
//   queued -> taken -> prepared -> submitted -> input on the link -> input ready    (doorbell)
//     device idle -> begin -> end -> output on the link -> completed -> awake -> finished
//
// One host thread takes, prepares and submits; what follows completion holds no thread up, but the
// inference keeps its place among the set_size until it is finished.
//
// Inputs and outputs have a buffer pair each: the input of the next inference arrives while the
// device executes, and an inference begins only when the output before the last has left. Each
// direction of the link carries one transfer at a time; the software latency overlaps.
#pragma once

#include <deque>
#include <vector>

#include "npu/targets/nsp/simulate/events.hpp"
#include "npu/targets/nsp/simulate/noise.hpp"
#include "npu/targets/nsp/simulate/record/recorder.hpp"

namespace npuscope::npu::nsp {

class Host {
 public:
  // output_bytes: of an inference, statistics included.
  Host(const RecordingContext& context, std::uint64_t output_bytes, EventQueue& events);

  void submit(std::uint32_t activation, Picoseconds now);
  void send_input(std::uint32_t activation, Picoseconds now);
  void take_output(std::uint32_t activation, Picoseconds now);
  // The inference that completes; the next may then be submitted.
  SimulatedInference complete(std::uint32_t activation);

  // The device begins and ends the oldest inference it has not.
  SimulatedInference& begin_on_device(std::uint32_t activation, Picoseconds now);
  void record_ports(std::uint32_t activation, DeviceRecorders& recorder) const;
  SimulatedInference& end_on_device(std::uint32_t activation, Picoseconds end, std::uint64_t ticks);

  bool all_complete() const;
  // An activation with an inference that has begun and not ended.
  std::uint32_t unfinished() const;

 private:
  struct Activation {
    std::deque<SimulatedInference> in_flight;  // oldest first
    std::uint64_t submitted = 0;
    std::uint64_t sent = 0;  // inputs
    std::uint64_t begun = 0;
    std::uint64_t ended = 0;
    std::uint64_t taken = 0;  // outputs
    std::uint64_t completed = 0;
    bool submitting = false;
    bool sending = false;
    Picoseconds input_sent{};                  // the last one, whole
    Picoseconds idle_since{};                  // the device, or when it is set up
    Picoseconds queued_at{};                   // of the next inference
    std::array<Picoseconds, 2> output_free{};  // when the outputs of the last two had left
    Picoseconds begin_wait{};                  // for the output buffer, from then on
  };
  SimulatedInference& in_flight(Activation& activation, std::uint64_t number) {
    return activation.in_flight[number - activation.completed];
  }
  const SimulatedInference& in_flight(const Activation& activation, std::uint64_t number) const {
    return activation.in_flight[number - activation.completed];
  }
  bool wants_more(const Activation& activation, Picoseconds now) const;
  void submit_next(std::uint32_t activation, Picoseconds now);
  void send_next(std::uint32_t activation);
  void begin_next(std::uint32_t activation);
  Picoseconds output_opened(const SimulatedInference& inference) const;
  std::uint32_t poll_ticks(std::uint32_t activation, std::uint64_t number, std::uint32_t core,
                           std::uint32_t thread) const;

  const RecordingContext& context_;
  const Noise noise_;
  EventQueue& events_;
  std::vector<Activation> activations_;
  std::vector<Picoseconds> host_thread_free_;
  Picoseconds input_free_{};  // the link, towards the device
  Picoseconds output_free_{};
  Picoseconds input_time_, output_time_, latency_, enqueue_time_, prepare_time_, submit_time_,
      wake_time_, postprocess_time_;
};

}  // namespace npuscope::npu::nsp
