// Debug annotations as the typed arguments of a row.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "formats/perfetto/read/annotation_forms.hpp"
#include "formats/perfetto/read/defects.hpp"
#include "formats/perfetto/read/sequence.hpp"
#include "formats/perfetto/read/track_event.hpp"

namespace npuscope::perfetto {

class AnnotationDecoder {
 public:
  AnnotationDecoder(StringPool& strings, Defects& defects)
      : strings_(&strings), defects_(&defects) {}

  // All annotations of an event, which lies in a packet, in place of what the list had. `interned`
  // may be null. Throws protozero's exceptions on a broken message.
  void decode(const TrackEvent& event, const InternedState* interned, std::uint64_t offset,
              ArgumentList& into) {
    const bool is_one_run = interned != nullptr && event.more_annotations.empty();
    if (is_one_run && event.annotations.empty()) return into.clear();
    if (is_one_run && decode_by_form(event, *interned, into)) return;
    decode_each(event, interned, offset, into);
  }
  // The same of what EventForms made of an event: false, and nothing is reported, where the
  // annotations are not what others of that name were, or are none to their end.
  bool decode_by_form(const TrackEvent& event, const InternedState& interned, ArgumentList& into) {
    return forms_.decode(event.annotations, event.name_number(), interned, into);
  }

 private:
  using Json = JsonWriter<std::string>;
  struct Scope {
    const InternedState* interned;
    std::uint64_t offset;
  };
  void decode_each(const TrackEvent& event, const InternedState* interned, std::uint64_t offset,
                   ArgumentList& into);
  void decode(std::string_view annotation, Scope scope, ArgumentList& into);
  void decode_value(std::string_view annotation, Scope scope, StringId name, ArgumentList& into);
  void add_legacy_json(std::string_view text, StringId name, ArgumentList& into);
  void write_json(Json& json, std::string_view annotation, Scope scope, int depth);
  void write_nested(Json& json, std::string_view nested, Scope scope, int depth);
  std::string_view key_of(std::string_view annotation, Scope scope);

  StringPool* strings_;
  Defects* defects_;
  AnnotationForms forms_;
  std::string text_;  // of the annotation at hand
  struct LegacyJson;
  std::shared_ptr<LegacyJson> legacy_json_;  // null before the first such text
};

}  // namespace npuscope::perfetto
