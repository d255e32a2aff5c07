// The slow twin of AnnotatedTrace: every slice of the trace as a span, all held at once.
#pragma once

#include "formats/torq/annotate/annotate.hpp"

namespace npuscope::torq::test {

Profile whole_trace(const Annotation& annotation, double mhz);

}  // namespace npuscope::torq::test
