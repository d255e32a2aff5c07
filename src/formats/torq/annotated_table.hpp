// What the annotated table's forms have in common.
#pragma once

#include "npuscope/formats/torq/annotate.hpp"

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

}  // namespace npuscope::torq
