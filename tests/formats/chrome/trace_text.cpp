#include "formats/chrome/trace_text.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace npuscope::chrome::test_support {
namespace {

std::string value_text(const StringPool& strings, const Argument& argument) {
  switch (argument.key.type) {
    case ArgumentType::null: return "null";
    case ArgumentType::boolean: return argument.boolean() ? "true" : "false";
    case ArgumentType::integer: return fmt::format("{}", argument.integer());
    case ArgumentType::unsigned_integer: return fmt::format("{}u", argument.unsigned_integer());
    case ArgumentType::number: return fmt::format("{}f", argument.number());
    case ArgumentType::text: return fmt::format("\"{}\"", strings[argument.text()]);
    case ArgumentType::json: return fmt::format("json {}", strings[argument.text()]);
  }
  return "?";
}

std::string thread_text(const Events& events, std::uint32_t thread) {
  return fmt::format("{}/{}", events.strings[events.threads[thread].process_id],
                     events.strings[events.threads[thread].thread_id]);
}

}  // namespace

Result<Events> try_read(std::string_view json) {
  auto source = open_byte_source(json, "trace.json");
  return read_events(**source);
}

Events read_text(std::string_view json) {
  auto events = try_read(json);
  if (!events) {
    fmt::print(stderr, "{}\n", events.error().message);
    std::abort();
  }
  return std::move(*events);
}

std::string arguments_text(const StringPool& strings, const Arguments& arguments, std::size_t row) {
  std::string text;
  for (std::size_t i = 0; i < arguments.count(row); ++i) {
    const Argument argument = arguments.at(row, i);
    text += fmt::format("{}{}: {}", i == 0 ? " {" : ", ", strings[argument.key.name],
                        value_text(strings, argument));
  }
  return text.empty() ? "" : text + "}";
}

std::string slices_text(const Events& events) {
  std::string text;
  const Slices& slices = events.slices;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    text +=
        fmt::format("{} {}", thread_text(events, slices.thread[i]), events.strings[slices.name[i]]);
    if (!slices.category.empty()) text += fmt::format(" [{}]", events.strings[slices.category[i]]);
    text += fmt::format(" {} +{}{}\n", slices.start[i], slices.duration[i],
                        arguments_text(events.strings, slices.arguments, i));
  }
  return text;
}

std::string marks_text(const Events& events) {
  std::string text;
  const Marks& marks = events.marks;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    text += fmt::format("{} {} {} [{}] @{} #{}{}{}\n", marks.phase[i],
                        thread_text(events, marks.thread[i]), events.strings[marks.name[i]],
                        events.strings[marks.category[i]], marks.time[i],
                        events.strings[marks.id[i]], marks.binding[i] == 'e' ? " e" : "",
                        arguments_text(events.strings, marks.arguments, i));
  }
  return text;
}

std::string threads_text(const Events& events) {
  std::string text;
  for (std::uint32_t i = 0; i < events.threads.size(); ++i) {
    text += fmt::format("{}: {}, {}\n", thread_text(events, i),
                        events.strings[events.threads[i].process_name],
                        events.strings[events.threads[i].thread_name]);
  }
  return text;
}

std::string notes_text(const std::vector<Note>& notes) {
  std::string text;
  for (const Note& note : notes) {
    text += fmt::format("{} {} @{}\n", note.count, note.message, note.offset);
  }
  return text;
}

}  // namespace npuscope::chrome::test_support
