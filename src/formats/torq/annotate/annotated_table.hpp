// What the annotated table's forms have in common.
#pragma once

#include <string>
#include <string_view>

#include "formats/torq/annotate/annotate.hpp"

namespace npuscope::torq {

// A column with gaps is one of fractions to the vendor's tools: jobs are then "1.0".
inline bool some_have_no_job(const Annotation& annotation) {
  if (!annotation.hal.empty()) return true;
  for (const AnnotatedInvocation& invocation : annotation.invocations) {
    for (const ActionRow& row : annotation.rows[invocation.dispatch]) {
      if (!row.job) return true;
    }
  }
  return false;
}

// A spreadsheet takes what begins with = + or - for a formula; names from files are none.
inline std::string table_field(std::string_view text) {
  const bool is_formula = !text.empty() && std::string_view("=+-\t\r").find(text[0]) != text.npos;
  if (!is_formula && text.find_first_of(";\"\r\n") == text.npos) return std::string(text);
  std::string quoted = is_formula ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace npuscope::torq
