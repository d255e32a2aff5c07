// Messages by HailoRT's public schema, written field by field; tests/fuzz/open/hailo.hrtt was
// written by protoc's own code from that schema, with times made up here.
#include "formats/hailo/profile.hpp"

#include <gmock/gmock.h>

#include <protozero/pbf_writer.hpp>

#include "analysis/latency.hpp"

namespace npuscope::hailo::profile_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::int64_t us = 1'000;

class TraceText {
 public:
  TraceText() {
    protozero::pbf_writer file(text_), header(file, 1);
    header.add_uint64(1, 5);
    protozero::pbf_writer(header, 2).add_uint32(1, 2026);
    header.add_string(3, "4.23.0");
  }
  template <class Add>
  TraceText& event(std::uint32_t kind, std::int64_t time, std::int32_t handle, const Add& add) {
    protozero::pbf_writer file(text_), message(file, 2), event(message, kind);
    event.add_uint64(1, std::uint64_t(time));
    event.add_int32(2, handle);
    add(event);
    return *this;
  }
  TraceText& network(std::int32_t handle, const std::string& name) {
    return event(3, 0, handle, [&](auto& event) {
      event.add_string(3, name);
      event.add_uint32(4, 8);
    });
  }
  TraceText& frame(bool into_queue, bool is_output, std::int64_t time, const std::string& stream,
                   std::int32_t handle = 0, const std::string& device = "") {
    return event(into_queue ? 6 : 7, time, handle, [&](auto& event) {
      if (!device.empty()) event.add_string(3, device);
      event.add_string(4, stream);
      if (is_output) event.add_enum(5, 1);
    });
  }
  // All four moments of a frame of one input and one output.
  TraceText& inference(std::int64_t handed_in, std::int64_t sent, std::int64_t received,
                       std::int64_t fetched, std::int32_t handle = 0,
                       const std::string& device = "d0") {
    return frame(true, false, handed_in, "in", handle)
        .frame(false, false, sent, "in", handle, device)
        .frame(true, true, received, "out", handle, device)
        .frame(false, true, fetched, "out", handle);
  }
  TraceText& switched(std::uint32_t kind, std::int64_t end, double ms) {
    return event(kind, end, 0, [&](auto& event) {
      event.add_string(3, "d0");
      event.add_double(4, ms);
    });
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Result<std::vector<Profile>> read(const std::string& text) {
  auto source = open_byte_source(text, "a.hrtt");
  return read_profiles(**source);
}

std::string phases_of(const Profile& profile) {
  std::string text;
  for (const Phase& phase : profile.phases) {
    text += fmt::format("{} {}: {} {} on {}\n", phase.instance, profile.text(phase.name),
                        phase.start / us, phase.duration / us,
                        profile.text(profile.units[index_of(phase.unit)].name));
  }
  return text;
}

// The second frame is sent while the first is on the device: it is the oldest from when that came
// back.
TEST(HailoTraces, EachFrameIsAnInferenceWithWhatItWaitedFor) {
  const auto profiles = read(TraceText()
                                 .network(0, "net")
                                 .switched(5, 100 * us, 0.1)
                                 .inference(50 * us, 110 * us, 210 * us, 220 * us)
                                 .inference(60 * us, 120 * us, 300 * us, 305 * us)
                                 .switched(9, 330 * us, 0.02)
                                 .text());
  ASSERT_TRUE(profiles) << profiles.error().message;
  ASSERT_THAT(*profiles, SizeIs(1));
  const Profile& profile = profiles->front();
  EXPECT_EQ(profile.provenance.graph, "net");
  EXPECT_EQ(profile.provenance.version, "4.23.0");
  EXPECT_EQ(profile.provenance.inferences, 2u);
  const Spans& spans = profile.spans;
  EXPECT_THAT(spans.kind,
              ElementsAre(SpanKind::inference, SpanKind::op, SpanKind::inference, SpanKind::op));
  EXPECT_THAT(spans.start, ElementsAre(50 * us, 110 * us, 60 * us, 210 * us));
  EXPECT_THAT(spans.duration, ElementsAre(170 * us, 100 * us, 245 * us, 90 * us));
  EXPECT_THAT(spans.instance, ElementsAre(0u, 0u, 1u, 1u));
  EXPECT_EQ(phases_of(profile),
            "0 in the host's queue: 50 60 on net\n0 on the device: 110 100 on device d0\n"
            "0 until it is fetched: 210 10 on net\n1 in the host's queue: 60 60 on net\n"
            "1 on the device: 120 180 on device d0\n1 until it is fetched: 300 5 on net\n"
            "0 switch to the network: 0 100 on device d0\n"
            "1 switch away from the network: 310 20 on device d0\n");
  // Of `latency`: what an application sees, in its steps; switches lie outside.
  std::vector<std::string> rows;
  for (const auto& row : analysis::inferences_as_samples(profile)) {
    rows.push_back(fmt::format("{} {} {}", row.name, row.samples, *row.mean / us));
  }
  EXPECT_THAT(rows, ElementsAre("in the host's queue 2 60", "on the device 2 140",
                                "until it is fetched 2 7.5", "inference 2 207.5"));
}

TEST(HailoTraces, AFrameOfSeveralInputsAndOutputsIsTheFirstOfThoseAndTheLastOfThese) {
  const auto profiles = read(TraceText()
                                 .network(0, "net")
                                 .frame(true, false, 10 * us, "left")
                                 .frame(true, false, 5 * us, "right")
                                 .frame(false, false, 30 * us, "left", 0, "d0")
                                 .frame(false, false, 20 * us, "right", 0, "d0")
                                 .frame(true, true, 90 * us, "boxes", 0, "d0")
                                 .frame(true, true, 70 * us, "scores", 0, "d0")
                                 .frame(false, true, 91 * us, "boxes")
                                 .frame(false, true, 99 * us, "scores")
                                 .text());
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_EQ(phases_of(profiles->front()),
            "0 in the host's queue: 0 15 on net\n0 on the device: 15 70 on device d0\n"
            "0 until it is fetched: 85 9 on net\n");
}

// The frame is the network's oldest on its own device, whatever the other one does.
TEST(HailoTraces, DevicesHaveTheirOwnFrames) {
  const auto profiles = read(TraceText()
                                 .network(0, "net")
                                 .inference(0, 10 * us, 100 * us, 100 * us, 0, "d0")
                                 .inference(0, 20 * us, 110 * us, 110 * us, 0, "d1")
                                 .text());
  ASSERT_TRUE(profiles) << profiles.error().message;
  const Profile& profile = profiles->front();
  EXPECT_THAT(profile.spans.start, ElementsAre(0, 10 * us, 0, 20 * us));
  EXPECT_THAT(profile.spans.duration, ElementsAre(100 * us, 90 * us, 110 * us, 90 * us));
  EXPECT_EQ(profile.text(profile.units.back().name), "device d1");
}

// The answers of the fast device were taken for those of the slow one.
TEST(HailoTraces, ADeviceAnswersItsOwnFrames) {
  TraceText trace;
  trace.network(0, "net");
  for (const char* device : {"slow", "fast", "slow", "fast"}) {
    trace.frame(true, false, 0, "in").frame(false, false, 10 * us, "in", 0, device);
  }
  for (const auto& [device, time] :
       {std::pair{"fast", 15}, {"fast", 20}, {"slow", 45}, {"slow", 80}})
    trace.frame(true, true, time * us, "out", 0, device);
  for (const int time : {46, 47, 81, 82}) trace.frame(false, true, time * us, "out");
  const auto profiles = read(trace.text());
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_EQ(phases_of(profiles->front()),
            "0 in the host's queue: 0 10 on net\n0 on the device: 10 35 on device slow\n"
            "0 until it is fetched: 45 1 on net\n1 in the host's queue: 0 10 on net\n"
            "1 on the device: 10 5 on device fast\n1 until it is fetched: 15 32 on net\n"
            "2 in the host's queue: 0 10 on net\n2 on the device: 10 70 on device slow\n"
            "2 until it is fetched: 80 1 on net\n3 in the host's queue: 0 10 on net\n"
            "3 on the device: 10 10 on device fast\n3 until it is fetched: 20 62 on net\n");
}

// Of a frame before the trace: it shifted all that follow.
TEST(HailoTraces, AnAnswerBeforeItsFrameIsToAnother) {
  const auto profiles = read(TraceText()
                                 .network(0, "net")
                                 .frame(true, true, 5 * us, "out", 0, "d0")
                                 .frame(false, true, 6 * us, "out")
                                 .inference(7 * us, 10 * us, 30 * us, 31 * us)
                                 .inference(32 * us, 40 * us, 60 * us, 61 * us)
                                 .text());
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_THAT(profiles->front().spans.duration, ElementsAre(24 * us, 20 * us, 29 * us, 20 * us));
  EXPECT_THAT(profiles->front().notes.back().message, HasSubstr("answers to frames"));
}

TEST(HailoTraces, ManyDevicesAreLimited) {
  TraceText trace;
  trace.network(0, "net").inference(0, 1, 2, 3);
  for (int i = 0; i < 2'000; ++i) {
    trace.event(5, 1, 0, [&](auto& event) {
      event.add_string(3, fmt::format("d{}", i));
      event.add_double(4, 0.5);
    });
  }
  const auto profiles = read(trace.text());
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_LE(profiles->front().units.size(), 1'025u);
  EXPECT_THAT(profiles->front().notes.back().message, HasSubstr("beyond the first 1,024"));
}

TEST(HailoTraces, FramesThatDidNotComeBackAreCounted) {
  TraceText trace;
  trace.network(0, "net").inference(0, 1, 2, 3).frame(true, false, 4, "in");
  trace.frame(false, false, 5, "in", 0, "d0");
  const auto profiles = read(trace.text());
  ASSERT_TRUE(profiles) << profiles.error().message;
  const Note& note = profiles->front().notes.back();
  EXPECT_EQ(note.message, "frames that had not come back when the trace ended; left out");
  EXPECT_EQ(note.count, 1u);
  EXPECT_EQ(profiles->front().provenance.inferences, 1u);
  EXPECT_THAT(
      read(TraceText().network(0, "net").frame(true, false, 4, "in").text()).error().message,
      HasSubstr("no frame came back"));
}

TEST(HailoTraces, WhatStandsBeforeABrokenPlaceCounts) {
  const std::string whole =
      TraceText().network(0, "net").inference(0, 10, 20, 30).inference(30, 40, 50, 60).text();
  TraceText received;  // what was not fetched yet counts up to there
  received.network(0, "net").frame(true, false, 0, "in").frame(false, false, 10, "in", 0, "d0");
  const std::size_t one = received.frame(true, true, 20, "out", 0, "d0").text().size();
  for (std::size_t end = 0; end < whole.size(); ++end) {
    const auto profiles = read(whole.substr(0, end));
    EXPECT_EQ(profiles.has_value(), end >= one) << end;
    const std::uint32_t inferences = profiles ? profiles->front().provenance.inferences : 1;
    EXPECT_EQ(inferences, 1u) << end;
  }
}

TEST(HailoTraces, AreToldByTheirHeader) {
  EXPECT_TRUE(looks_like_trace(TraceText().network(0, "net").text()));
  EXPECT_FALSE(looks_like_trace("\x0a\x9f\xe9\x21\x12\x0e/host:metadata"));
  EXPECT_FALSE(looks_like_trace(""));
}

TEST(HailoTraces, TwoNetworksAsHailosSchemaIsWrittenByProtoc) {
  auto source =
      open_byte_source(std::filesystem::path(NPUSCOPE_SOURCE_DIR "/tests/fuzz/open/hailo.hrtt"));
  const auto profiles = read_profiles(**source);
  ASSERT_TRUE(profiles) << profiles.error().message;
  ASSERT_THAT(*profiles, SizeIs(2));
  std::vector<std::string> said;
  for (const Profile& profile : *profiles) {
    EXPECT_EQ(profile.provenance.device, "HAILO8");
    said.push_back(profile.provenance.graph);
    for (const Measure& measure : profile.measures) {
      said.push_back(fmt::format("{}={:.4g}", profile.text(measure.what), measure.value));
    }
  }
  EXPECT_THAT(
      said,
      ElementsAre("yolov5m", "frames per second, from the first answer to the last=143.3",
                  "switches to the network=3", "chosen at the threshold=3",
                  "chosen because the device was idle=1", "largest batch=1", "resnet50",
                  "frames per second, from the first answer to the last=254.8",
                  "switches to the network=3", "chosen at the threshold=3", "largest batch=1"));
}

}  // namespace
}  // namespace npuscope::hailo::profile_test
