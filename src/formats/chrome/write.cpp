#include "npuscope/formats/chrome/write.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "formats/chrome/write_tracks.hpp"
#include "profile/text_output.hpp"

namespace npuscope::chrome {
namespace {

constexpr const char* kind_names[] = {"op",        "sync",       "barrier", "transfer",
                                      "inference", "activation", "host",    "dma_wait",
                                      "slice",     "async",      "instant"};

// What a trace's own reader makes: everything that such a span is, its event says by itself.
bool is_plain(SpanKind kind) {
  return kind == SpanKind::slice || kind == SpanKind::async || kind == SpanKind::instant;
}

bool waits(SpanKind kind) {
  return kind == SpanKind::sync || kind == SpanKind::barrier || kind == SpanKind::dma_wait;
}

__extension__ typedef __int128 Wide;  // products of two 64-bit numbers

// Ticks of the base clock as nanoseconds.
class Nanoseconds {
 public:
  explicit Nanoseconds(const Profile& profile) {
    const std::size_t base = index_of(profile.base_clock);
    if (base >= profile.clocks.size()) return;
    const double rate = profile.clocks[base].rate.value;
    if (!(rate > 0) || !(rate < 1e15)) return;
    known_ = true;
    if (rate == 1e9) return;
    scales_ = true;
    whole_rate_ = std::floor(rate) == rate ? std::int64_t(rate) : 0;
    scale_ = 1e9 / rate;
  }

  bool known() const { return known_; }
  bool rounds() const { return scales_ && (whole_rate_ == 0 || 1'000'000'000 % whole_rate_ != 0); }

  std::int64_t of(std::int64_t ticks) const {
    if (!scales_) return ticks;
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    if (whole_rate_ == 0) {
      const double time = std::round(double(ticks) * scale_);
      return time >= 9.2e18 ? most : time <= -9.2e18 ? -most : std::int64_t(time);
    }
    const Wide scaled = Wide(ticks) * 1'000'000'000;
    const Wide half = scaled < 0 ? -(whole_rate_ / 2) : whole_rate_ / 2;
    const Wide time = (scaled + half) / whole_rate_;
    return time > most ? most : time < -most ? -most : std::int64_t(time);
  }

 private:
  bool known_ = false;
  bool scales_ = false;
  std::int64_t whole_rate_ = 0;  // 0: not whole
  double scale_ = 1;
};

std::int64_t end_of(const Phase& phase) {
  return saturating_add(phase.start, std::max<std::int64_t>(0, phase.duration));
}

class Writer {
 public:
  Writer(const Profile& profile, const std::function<void(std::string_view)>& sink,
         const WriteOptions& options)
      : profile_(profile),
        options_(options),
        by_unit_(profile),
        layout_(lay_out(profile, by_unit_)),
        nanoseconds_(profile),
        strings_(profile.strings),
        out_(sink),
        scope_key_(profile.strings.find("s")) {}

  Losses write();

 private:
  void next_line();
  void add_string(StringId id);
  void add_text(std::string_view text);
  void write_head();
  void write_names();
  void write_span(std::size_t row);
  void write_async(std::size_t row);
  void write_arguments(std::size_t row);
  void add_argument(const Argument& argument);
  void write_extras(std::size_t row);
  void write_op_extras(const Op& op);
  void separate_extra();
  void begin_extra(std::string_view name);
  void write_counters();
  void write_flows();
  void write_flow_end(char phase, const Flow& flow, std::uint64_t id, SpanId span,
                      std::int64_t time);
  void lay_out_phases();
  void write_phases();
  void write_phase(const Phase& phase, std::uint32_t track);
  void count_losses();
  void add_place(std::uint32_t track);
  void add_time(std::int64_t ticks) { out_.add_microseconds(nanoseconds_.of(ticks)); }

  bool has_extras(std::size_t row) const;
  std::optional<Argument> scope_of(std::size_t row) const;

  const Profile& profile_;
  const WriteOptions& options_;
  SpansByUnit by_unit_;
  Layout layout_;
  Nanoseconds nanoseconds_;
  JsonStrings strings_;
  TextOutput out_;
  std::optional<StringId> scope_key_;
  Losses losses_;
  std::vector<std::string> place_of_track_;  // ",\"pid\":1,\"tid\":2"
  std::string scratch_;
  bool any_event_ = false;
  bool any_extra_ = false;       // beyond what is_plain() says
  bool any_extra_here_ = false;  // in the span being written
  std::vector<std::uint32_t> phase_order_, phase_lane_;
  std::uint32_t first_phase_track_ = 0;
  std::uint64_t not_finite_ = 0;
};

void Writer::next_line() {
  out_.add(any_event_ ? std::string_view(",\n") : std::string_view("\n"));
  any_event_ = true;
}

void Writer::add_string(StringId id) {
  out_.add('"');
  strings_.add(out_, id);
  out_.add('"');
}

void Writer::add_text(std::string_view text) {
  scratch_ = "\"";
  append_json_escaped(scratch_, text);
  scratch_ += '"';
  out_.add(scratch_);
}

void Writer::write_head() {
  out_.add("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"writer\":\"npuscope\",\"format\":");
  add_text(profile_.provenance.format);
  const std::pair<const char*, const std::string*> facts[] = {
      {"version", &profile_.provenance.version},
      {"device", &profile_.provenance.device},
      {"graph", &profile_.provenance.graph},
      {"instrumentation", &profile_.provenance.instrumentation}};
  for (const auto& [name, text] : facts) {
    if (text->empty()) continue;
    out_.add(",\"");
    out_.add(name);
    out_.add("\":");
    add_text(*text);
  }
  const std::size_t base = index_of(profile_.base_clock);
  if (base < profile_.clocks.size()) {
    out_.add(",\"clock\":");
    add_string(profile_.clocks[base].name);
    if (nanoseconds_.known()) {
      out_.add(",\"clock_hertz\":");
      out_.add_number(profile_.clocks[base].rate.value);
    } else {
      out_.add(",\"time\":\"one tick of the clock is written as one nanosecond\"");
    }
  }
  out_.add("},\"traceEvents\":[");
}

void Writer::write_names() {
  const auto metadata = [&](const char* what, const std::string& pid, const std::string& tid,
                            auto add_value) {
    next_line();
    out_.add("{\"ph\":\"M\",\"pid\":");
    out_.add(pid);
    if (!tid.empty()) {
      out_.add(",\"tid\":");
      out_.add(tid);
    }
    out_.add(",\"name\":\"");
    out_.add(what);
    out_.add("\",\"args\":{");
    add_value();
    out_.add("}}");
  };
  const auto name = [&](const std::string& text) {
    return [&] {
      out_.add("\"name\":");
      add_text(text);
    };
  };
  for (const Track& track : layout_.tracks) {
    if (track.names_process && !track.process_name.empty()) {
      metadata("process_name", track.process, "", name(track.process_name));
    }
    if (track.thread.empty() || track.thread_name.empty()) continue;
    metadata("thread_name", track.process, track.thread, name(track.thread_name));
    if (track.sort_index < 0) continue;
    metadata("thread_sort_index", track.process, track.thread, [&] {
      out_.add("\"sort_index\":");
      out_.add_number(track.sort_index);
    });
  }
}

void Writer::add_place(std::uint32_t track) { out_.add(place_of_track_[track]); }

void Writer::add_argument(const Argument& argument) {
  switch (argument.key.type) {
    case ArgumentType::null: out_.add("null"); break;
    case ArgumentType::boolean: out_.add(argument.boolean() ? "true" : "false"); break;
    case ArgumentType::integer: out_.add_number(argument.integer()); break;
    case ArgumentType::unsigned_integer: out_.add_number(argument.unsigned_integer()); break;
    case ArgumentType::number: {
      const double value = argument.number();
      if (!std::isfinite(value)) {
        not_finite_ += 1;
        out_.add("null");
        break;
      }
      char digits[40];
      const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
      const std::string_view text(digits, std::size_t(end - digits));
      out_.add(text);
      // 2.0 stays a number of its type, not an integer
      if (text.find_first_of(".e") == text.npos) out_.add(".0");
      break;
    }
    case ArgumentType::text: add_string(argument.text()); break;
    case ArgumentType::json: out_.add(profile_.text(argument.text())); break;
  }
}

bool Writer::has_extras(std::size_t row) const {
  const Spans& spans = profile_.spans;
  return any_extra_ || !is_plain(spans.kind[row]);
}

void Writer::separate_extra() {
  if (any_extra_here_) out_.add(',');
  any_extra_here_ = true;
}

void Writer::begin_extra(std::string_view name) {
  separate_extra();
  out_.add('"');
  out_.add(name);
  out_.add("\":");
}

void Writer::write_op_extras(const Op& op) {
  const std::pair<const char*, StringId> texts[] = {
      {"node", op.node},        {"node kind", op.node_kind}, {"memory", op.memory},
      {"types", op.types},      {"shape", op.shape},         {"attributes", op.attributes},
      {"operands", op.operands}};
  for (const auto& [name, id] : texts) {
    if (id == StringId::empty) continue;
    begin_extra(name);
    add_string(id);
  }
  if (op.output.value != 0) {
    begin_extra("output bytes");
    out_.add_number(op.output.value);
  }
  if (op.id != 0) {
    begin_extra("op id");
    out_.add_number(op.id);
  }
}

// What the event itself has no place for.
void Writer::write_extras(std::size_t row) {
  const Spans& spans = profile_.spans;
  any_extra_here_ = false;
  if (!is_plain(spans.kind[row])) {
    begin_extra("span");
    out_.add('"');
    out_.add(kind_names[std::size_t(spans.kind[row])]);
    out_.add('"');
  }
  if (spans.instance.size() == spans.size() && spans.instance[row] != every_instance) {
    begin_extra("inference");
    out_.add_number(spans.instance[row]);
  }
  if (spans.processor_cycles.size() == spans.size() && spans.processor_cycles[row] >= 0) {
    begin_extra("processor cycles");
    out_.add_number(spans.processor_cycles[row]);
  }
  for (const MeasureColumn& measure : spans.measures) {
    if (measure.values.size() != spans.size()) continue;
    if (measure.values[row] == MeasureColumn::missing) continue;
    separate_extra();
    add_string(measure.what);
    out_.add(':');
    out_.add_number(measure.values[row]);
  }
  if (index_of(spans.op[row]) < profile_.ops.size()) {
    write_op_extras(profile_.ops[index_of(spans.op[row])]);
  }
}

// How far a moment reaches, which the format has beside the arguments.
std::optional<Argument> Writer::scope_of(std::size_t row) const {
  const Spans& spans = profile_.spans;
  if (!scope_key_ || spans.kind[row] != SpanKind::instant) return std::nullopt;
  if (spans.arguments.shape.size() != spans.size()) return std::nullopt;
  const auto scope = spans.arguments.find(row, *scope_key_);
  if (!scope || scope->key.type != ArgumentType::text) return std::nullopt;
  return scope;
}

void Writer::write_arguments(std::size_t row) {
  const Arguments& arguments = profile_.spans.arguments;
  const std::size_t count =
      arguments.shape.size() == profile_.spans.size() ? arguments.count(row) : 0;
  const bool extras = has_extras(row);
  const bool has_scope = scope_of(row).has_value();
  if (count == std::size_t(has_scope) && !extras) return;
  out_.add(",\"args\":{");
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Argument argument = arguments.at(row, i);
    if (has_scope && argument.key.name == *scope_key_) continue;
    if (any) out_.add(',');
    any = true;
    add_string(argument.key.name);
    out_.add(':');
    add_argument(argument);
  }
  if (extras) {
    out_.add(any ? ",\"npuscope\":{" : "\"npuscope\":{");
    write_extras(row);
    out_.add('}');
  }
  out_.add('}');
}

void Writer::write_async(std::size_t row) {
  const Spans& spans = profile_.spans;
  const std::size_t op = index_of(spans.op[row]);
  const auto write_end = [&](const char* phase, std::int64_t time, bool with_arguments) {
    next_line();
    out_.add("{\"ph\":\"");
    out_.add(phase);
    out_.add("\",\"id\":\"");
    out_.add_number(row + 1);
    out_.add('"');
    add_place(layout_.track(spans.unit[row]));
    out_.add(",\"ts\":");
    add_time(time);
    out_.add(",\"cat\":");
    add_string(op < profile_.ops.size() ? profile_.ops[op].kind : StringId::empty);
    out_.add(",\"name\":");
    add_string(op < profile_.ops.size() ? profile_.ops[op].name : StringId::empty);
    if (with_arguments) write_arguments(row);
    out_.add('}');
  };
  write_end("b", spans.start[row], true);
  write_end("e", saturating_add(spans.start[row], std::max<std::int64_t>(0, spans.duration[row])),
            false);
}

void Writer::write_span(std::size_t row) {
  const Spans& spans = profile_.spans;
  const SpanKind kind = spans.kind[row];
  if (kind == SpanKind::async) return write_async(row);
  const std::size_t op = index_of(spans.op[row]);
  next_line();
  if (kind == SpanKind::instant) {
    out_.add("{\"ph\":\"i\"");
    if (const auto scope = scope_of(row)) {
      out_.add(",\"s\":");
      add_string(scope->text());
    }
  } else {
    out_.add("{\"ph\":\"X\"");
  }
  add_place(kind == SpanKind::instant ? layout_.track(spans.unit[row])
                                      : layout_.track(profile_, row));
  const std::int64_t start = nanoseconds_.of(spans.start[row]);
  out_.add(",\"ts\":");
  out_.add_microseconds(start);
  if (kind != SpanKind::instant) {
    out_.add(",\"dur\":");
    const std::int64_t end = nanoseconds_.of(
        saturating_add(spans.start[row], std::max<std::int64_t>(0, spans.duration[row])));
    out_.add_microseconds(saturating_subtract(end, start));
  }
  if (op < profile_.ops.size()) {
    if (profile_.ops[op].kind != StringId::empty) {
      out_.add(",\"cat\":");
      add_string(profile_.ops[op].kind);
    }
    out_.add(",\"name\":\"");
    if (waits(kind)) {  // for the op: a name of its own, or it would look like the op itself
      out_.add(kind_names[std::size_t(kind)]);
      out_.add(' ');
    }
    strings_.add(out_, profile_.ops[op].name);
  } else {
    out_.add(",\"name\":\"");
    out_.add(is_plain(kind) ? "" : kind_names[std::size_t(kind)]);
  }
  out_.add('"');
  write_arguments(row);
  out_.add('}');
}

void Writer::write_counters() {
  const Counters& counters = profile_.counters;
  std::vector<std::string> parts;  // a series without parts gets a name that viewers can show
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (counters.of[i] >= counters.series.size()) continue;
    if (!std::isfinite(counters.value[i])) {
      not_finite_ += 1;
      continue;
    }
    const CounterSeries& series = counters.series[counters.of[i]];
    next_line();
    out_.add("{\"ph\":\"C\"");
    add_place(layout_.track(series.unit));
    out_.add(",\"ts\":");
    add_time(counters.time[i]);
    out_.add(",\"name\":");
    add_string(series.name);
    out_.add(",\"args\":{");
    if (series.part == StringId::empty) {
      out_.add("\"value\"");
    } else {
      add_string(series.part);
    }
    out_.add(':');
    out_.add_number(counters.value[i]);
    out_.add("}}");
  }
}

void Writer::write_flow_end(char phase, const Flow& flow, std::uint64_t id, SpanId span,
                            std::int64_t time) {
  next_line();
  out_.add("{\"ph\":\"");
  out_.add(phase);
  out_.add(phase == 'f' ? std::string_view("\",\"bp\":\"e\",\"id\":")
                        : std::string_view("\",\"id\":"));
  out_.add_number(id);
  add_place(layout_.track(profile_, index_of(span)));
  out_.add(",\"ts\":");
  add_time(time);
  out_.add(",\"cat\":");
  if (flow.category == StringId::empty) {
    out_.add("\"flow\"");
  } else {
    add_string(flow.category);
  }
  out_.add(",\"name\":");
  if (flow.name == StringId::empty) {
    out_.add("\"flow\"");
  } else {
    add_string(flow.name);
  }
  out_.add('}');
}

void Writer::write_flows() {
  if (profile_.flows.empty()) return;
  const std::size_t rows = profile_.spans.size();
  std::vector<bool> wanted(rows, false);
  const auto exists = [&](const Flow& flow) {
    return index_of(flow.from) < rows && index_of(flow.to) < rows;
  };
  for (const Flow& flow : profile_.flows) {
    if (!exists(flow)) continue;
    wanted[index_of(flow.from)] = wanted[index_of(flow.to)] = true;
  }
  const auto anchors = anchors_of(profile_, by_unit_, layout_, wanted);
  std::uint64_t id = 0, backwards = 0;
  for (const Flow& flow : profile_.flows) {
    if (!exists(flow)) continue;
    const Anchor& from = anchors[index_of(flow.from)];
    const Anchor& to = anchors[index_of(flow.to)];
    // From the end of the one to the begin of the other, where time allows.
    const bool late = from.last <= to.first || (from.first > to.first && from.last <= to.last);
    const std::int64_t leave = late ? from.last : from.first;
    const std::int64_t arrive = leave <= to.first ? to.first : to.last;
    if (leave > arrive) {
      backwards += 1;
      continue;
    }
    id += 1;
    write_flow_end('s', flow, id, flow.from, leave);
    write_flow_end('f', flow, id, flow.to, arrive);
  }
  losses_.add("flows that end before they begin", backwards);
}

void Writer::write_phase(const Phase& phase, std::uint32_t track) {
  next_line();
  out_.add("{\"ph\":\"X\"");
  add_place(track);
  const std::int64_t start = nanoseconds_.of(phase.start);
  const std::int64_t end = nanoseconds_.of(end_of(phase));
  out_.add(",\"ts\":");
  out_.add_microseconds(start);
  out_.add(",\"dur\":");
  out_.add_microseconds(saturating_subtract(end, start));
  out_.add(",\"cat\":\"phase\",\"name\":");
  add_string(phase.name);
  out_.add(",\"args\":{\"inference\":");
  out_.add_number(phase.instance);
  if (phase.microseconds >= 0 && std::isfinite(phase.microseconds)) {
    out_.add(",\"microseconds\":");
    out_.add_number(phase.microseconds);
  }
  out_.add("}}");
}

// Outer phases before those inside; those that overlap without nesting on tracks of their own.
void Writer::lay_out_phases() {
  const auto& phases = profile_.phases;
  if (phases.empty()) return;
  phase_order_.resize(phases.size());
  std::iota(phase_order_.begin(), phase_order_.end(), 0);
  std::stable_sort(phase_order_.begin(), phase_order_.end(), [&](auto a, auto b) {
    if (phases[a].start != phases[b].start) return phases[a].start < phases[b].start;
    return phases[a].duration > phases[b].duration;
  });
  Lanes lanes;
  for (const std::uint32_t i : phase_order_) {
    phase_lane_.push_back(lanes.place({phases[i].start, end_of(phases[i])}));
  }
  first_phase_track_ = add_process(layout_, "phases", lanes.count());
}

void Writer::write_phases() {
  for (std::size_t i = 0; i < phase_order_.size(); ++i) {
    write_phase(profile_.phases[phase_order_[i]], first_phase_track_ + phase_lane_[i]);
  }
}

void Writer::count_losses() {
  // Phases and samples stand on the same axis as the spans.
  const std::uint64_t times =
      profile_.spans.size() + profile_.counters.size() + profile_.phases.size();
  if (!nanoseconds_.known() && times > 0) {
    losses_.add("times whose clock has no known rate: one tick is written as one nanosecond",
                times);
  }
  if (nanoseconds_.rounds()) losses_.add("times between nanoseconds: rounded", times);
  losses_.add("spans that overlap on one unit: on further tracks of it", layout_.moved);
  losses_.add("numbers that are not finite", not_finite_);
  losses_.add("numbers about the run, units, ops and phases", profile_.measures.size());
  losses_.add("dependencies between ops", profile_.edges.size());
  losses_.add("tensors", profile_.tensors.size());
  losses_.add("checks", profile_.checks.size());
  losses_.add("notes", profile_.notes.size());
}

Losses Writer::write() {
  const Spans& spans = profile_.spans;
  any_extra_ = spans.instance.size() == spans.size() ||
               spans.processor_cycles.size() == spans.size() || !spans.measures.empty();
  for (const Op& op : profile_.ops) {
    any_extra_ = any_extra_ || op.node != StringId::empty || op.memory != StringId::empty ||
                 op.shape != StringId::empty || op.types != StringId::empty || op.id != 0;
  }
  if (spans.size() == 0) any_extra_ = false;
  lay_out_phases();
  for (const Track& track : layout_.tracks) {
    place_of_track_.push_back(",\"pid\":" + track.process +
                              (track.thread.empty() ? "" : ",\"tid\":" + track.thread));
  }
  if (place_of_track_.empty()) place_of_track_.push_back(",\"pid\":1");
  write_head();
  write_names();
  constexpr std::size_t step = 1 << 16;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    write_span(layout_.order.empty() ? i : layout_.order[i]);
    if (options_.progress && i % step == 0) options_.progress(i, spans.size());
  }
  write_counters();
  write_phases();
  write_flows();
  out_.add("\n]}\n");
  out_.flush();
  count_losses();
  return std::move(losses_);
}

}  // namespace

Losses write_trace(const Profile& profile, const std::function<void(std::string_view)>& sink,
                   const WriteOptions& options) {
  return Writer(profile, sink, options).write();
}

}  // namespace npuscope::chrome
