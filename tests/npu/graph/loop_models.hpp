// Models whose one node repeats a body of two operators.
//
//   scan_over(3, {})                 over [3 x 2]
//   loop_of("five", "", "same")      five trips; its second input and the body's condition by name
#pragma once

#include <map>
#include <string>

#include "npu/graph/onnx_writer.hpp"

namespace npuscope::npu::test {

// h = h + x[t] over t, and h * 2 of each trip.
inline std::string scan_over(std::int64_t trips,
                             const std::map<std::string, AttributeValue>& more) {
  GraphText body, text;
  body.input("h", {2}).input("x_t", {2}).weight("two", {1});
  body.node({"Add", {"h", "x_t"}, {"next"}, {}, "", "add"}).node({"Mul", {"next", "two"}, {"out"}});
  body.output("next").output("out");
  std::map<std::string, AttributeValue> attributes = more;
  attributes["body"] = Graphs{body.bytes()};
  attributes["num_scan_inputs"] = std::int64_t{1};
  text.input("h0", {2}).input("x", {trips, 2});
  text.node({"Scan", {"h0", "x"}, {"last", "all"}, attributes, "", "cell"});
  return model(text.output("last").output("all"));
}

// `trips`: "", "five", "many" or "some" (known at run time); `condition`: "" or "asked"; `goes_on`:
// "same" (as before the trip) or "early" (four trips).
inline std::string loop_of(const std::string& trips, const std::string& condition,
                           const std::string& goes_on) {
  GraphText body, text;
  body.input("i", {}, onnx_int64).input("c", {}, onnx_bool).input("h", {2});
  body.scalar("three", 3);
  body.node({"Less", {"i", "three"}, {"early"}}).node({"Relu", {"h"}, {"next"}, {}, "", "relu"});
  body.node({"Identity", {"c"}, {"same"}}).output(goes_on).output("next").output("next");
  text.input("x", {2}).input("asked", {}, onnx_bool).input("some", {}, onnx_int64);
  text.scalar("five", 5).scalar("many", 1 << 20);
  text.node({"Loop",
             {trips, condition, "x"},
             {"y", "all"},
             {{"body", Graphs{body.bytes()}}},
             "",
             "again"});
  return model(text.output("y").output("all"));
}

}  // namespace npuscope::npu::test
