// What pages say of their profile: where it is from, what is missing of it, which inferences their
// numbers are of.
#pragma once

#include <string>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

// Profiles of which records are missing because a file was cut off or damaged: what is said of them
// wherever a figure of theirs stands.
//
//   damage_text(profile)       damaged: the file ends in the middle (byte 2,891); all figures are
//   of
//                              what could be read
//   damage_sentence(profile)   trace.json: damaged: the file ends ...

// Whether any of the profile's notes is an error.
bool is_damaged(const Profile& profile);

// Names the first of the losses. Empty where the profile is not damaged.
std::string damage_text(const Profile& profile);
std::string damage_sentence(const Profile& profile);

// A note in one line: "warning: trace.json: 3 ends without begin (byte 90) (3 times)".

std::string note_text(const Note& note);

// What opening a folder left out, a line for each thing to do: files that nothing need be done
// about share one, and so do files of which the same is said.
std::vector<std::string> note_lines(const std::vector<Note>& notes);

// Which of a profile's inferences the numbers of a page are of: said in its head, because "7.3 ms"
// of three inferences and of one are different answers.

// "all 3 inferences together", "each of 3 inferences: the median of the 2 after the first"; empty
// for a profile of one inference, or which does not say.
std::string scope_of_all(const Profile& profile);
std::string scope_of_all(std::size_t inferences);
std::string scope_of_each(const Profile& profile);
std::string scope_of_median(std::size_t inferences, bool after_the_first);
std::string scope_of_one(const Profile& profile, std::uint32_t inference);
// "2 to 5" where inferences have a trace's own step numbers; empty where they count from 0.
std::string step_numbers(const Profile& profile);

// Where a profile is from, and what follows for its numbers, as every command says it.

// One file by its path; several by the folder that they share, or the first.
std::string files_text(const Profile& profile);

// "QNN HTP optrace set · model_encoded · 3 inferences, the first cold"
std::string what_was_profiled(const Profile& profile);

// "3 warnings, 1 error"; empty without any.
std::string warnings_text(const Profile& profile);

// One cold, instrumented inference: it says what runs beside what, not how busy anything is.
bool is_structure_only(const Profile& profile);
// What its times are where they are not simply those of the hardware: measured on a simulator, or
// divided by an estimate. A sentence each.
std::vector<std::string> about_times(const Profile& profile);
// These, and what follows from structure only.
std::vector<std::string> cautions_of(const Profile& profile);
inline constexpr const char* structure_only_caution =
    "one cold, instrumented inference: read order and overlap from its ops, not latency";

}  // namespace npuscope::report
