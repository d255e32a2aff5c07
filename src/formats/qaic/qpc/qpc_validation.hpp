// What can be said about a QPC without a device: is it whole, are its parts there, and do its
// descriptor and its program speak of the same ops.
//
//   const QpcValidation validation = validate_qpc(bytes, "programqpc.bin");
//   if (!validation.valid()) ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/files.hpp"

namespace npuscope::qaic {

enum class QpcVerdict : std::uint8_t { ok, warning, error };
std::string_view name_of(QpcVerdict verdict);

struct QpcFinding {
  QpcVerdict verdict = QpcVerdict::ok;
  std::string container;  // "" for the outer one, else its path
  std::string check;      // container, segments, constants, descriptor, program, ops
  std::string message;
};

struct ValidatedProgram {
  std::string container;
  std::string network_name;
  std::uint32_t nsps = 0;  // cores it needs
};

struct QpcValidation {
  std::string file;
  std::vector<QpcFinding> findings;
  std::vector<ValidatedProgram> programs;

  bool valid() const;  // no finding is an error
};

// Never fails: what is broken is a finding.
QpcValidation validate_qpc(ByteSpan bytes, std::string_view name);

}  // namespace npuscope::qaic
