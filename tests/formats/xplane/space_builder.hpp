// XSpaces written field by field, with the numbers of the published xplane.proto and not with those
// of the code under test. What refers to a name by number has its tables made on the way.
//
//   SpaceBuilder space;
//   PlaneBuilder host("/host:CPU");
//   host.line(7, "tf_XLAExecute/7", 100, {{"dot.1", 2'000, 500, {{"hlo_op", Ref{"dot.1"}}}}});
//   space.add(host);
//   space.bytes()
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace npuscope::xplane::test {

struct Ref {
  std::string text;
};
struct Bytes {
  std::string bytes;
};
using Value = std::variant<std::int64_t, std::uint64_t, double, std::string, Ref, Bytes>;
using Stats = std::vector<std::pair<std::string, Value>>;

struct SpaceEvent {
  std::string name;
  std::int64_t offset_ps = 0, duration_ps = 0;
  Stats stats = {};
  std::optional<std::uint64_t> occurrences = {};  // instead of an offset
};

class PlaneBuilder {
 public:
  explicit PlaneBuilder(std::string name) : name_(std::move(name)) {}

  PlaneBuilder& line(std::int64_t id, const std::string& name, std::int64_t timestamp_ns,
                     const std::vector<SpaceEvent>& events) {
    std::string bytes;
    protozero::pbf_writer line(bytes);
    line.add_int64(1, id);
    line.add_string(2, name);
    line.add_int64(3, timestamp_ns);
    for (const SpaceEvent& each : events) {
      protozero::pbf_writer event(line, 4);
      event.add_int64(1, event_id(each.name));
      if (!each.occurrences) event.add_int64(2, each.offset_ps);
      event.add_int64(3, each.duration_ps);
      for (const auto& [what, value] : each.stats) event.add_message(4, stat(what, value));
      if (each.occurrences) event.add_int64(5, std::int64_t(*each.occurrences));
    }
    lines_.push_back(bytes);
    return *this;
  }
  PlaneBuilder& stat_of_plane(const std::string& what, const Value& value) {
    stats_.push_back(stat(what, value));
    return *this;
  }
  // Of every event of that name.
  PlaneBuilder& about(const std::string& event, const Stats& stats,
                      const std::string& display_name = {}) {
    event_id(event);
    for (const auto& [what, value] : stats) about_[event].push_back(stat(what, value));
    if (!display_name.empty()) display_names_[event] = display_name;
    return *this;
  }

  std::string bytes() const {
    std::string bytes;
    protozero::pbf_writer plane(bytes);
    plane.add_string(2, name_);
    for (const std::string& line : lines_) plane.add_message(3, line);
    for (const auto& [name, id] : event_ids_) {
      std::string metadata;
      protozero::pbf_writer of(metadata);
      of.add_int64(1, id);
      of.add_string(2, name);
      if (display_names_.contains(name)) of.add_string(4, display_names_.at(name));
      if (about_.contains(name)) {
        for (const std::string& stat : about_.at(name)) of.add_message(5, stat);
      }
      add_entry(plane, 4, id, metadata);
    }
    for (const auto& [name, id] : stat_ids_) {
      std::string metadata;
      protozero::pbf_writer of(metadata);
      of.add_int64(1, id);
      of.add_string(2, name);
      add_entry(plane, 5, id, metadata);
    }
    for (const std::string& stat : stats_) plane.add_message(6, stat);
    return bytes;
  }

 private:
  static void add_entry(protozero::pbf_writer& plane, std::uint32_t field, std::int64_t id,
                        const std::string& metadata) {
    protozero::pbf_writer entry(plane, field);
    entry.add_int64(1, id);
    entry.add_message(2, metadata);
  }
  std::int64_t event_id(const std::string& name) {
    return event_ids_.try_emplace(name, std::int64_t(event_ids_.size()) * 3 + 1).first->second;
  }
  std::int64_t stat_id(const std::string& name) {
    return stat_ids_.try_emplace(name, std::int64_t(stat_ids_.size()) + 1).first->second;
  }
  std::string stat(const std::string& what, const Value& value) {
    std::string bytes;
    protozero::pbf_writer stat(bytes);
    stat.add_int64(1, stat_id(what));
    if (const auto* of = std::get_if<double>(&value)) stat.add_double(2, *of);
    if (const auto* of = std::get_if<std::uint64_t>(&value)) stat.add_uint64(3, *of);
    if (const auto* of = std::get_if<std::int64_t>(&value)) stat.add_int64(4, *of);
    if (const auto* of = std::get_if<std::string>(&value)) stat.add_string(5, *of);
    if (const auto* of = std::get_if<Bytes>(&value)) stat.add_bytes(6, of->bytes);
    if (const auto* of = std::get_if<Ref>(&value)) {
      stat.add_uint64(7, std::uint64_t(stat_id(of->text)));
    }
    return bytes;
  }

  std::string name_;
  std::vector<std::string> lines_, stats_;
  std::map<std::string, std::int64_t> event_ids_, stat_ids_;
  std::map<std::string, std::vector<std::string>> about_;
  std::map<std::string, std::string> display_names_;
};

class SpaceBuilder {
 public:
  SpaceBuilder& add(const PlaneBuilder& plane) {
    protozero::pbf_writer space(bytes_);
    space.add_message(1, plane.bytes());
    return *this;
  }
  SpaceBuilder& text(std::uint32_t field, const std::string& text) {
    protozero::pbf_writer space(bytes_);
    space.add_string(field, text);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace npuscope::xplane::test
