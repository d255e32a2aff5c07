// The words of a statement in small letters, those in quotes, strings and comments too: what it
// names is among them, because no name of a table has another character.
//
//   words_of("SELECT \"Op\" FROM a.op_times")   // a, from, op, op_times, select
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace npuscope::query {

using Words = std::set<std::string, std::less<>>;

Words words_of(std::string_view sql);

}  // namespace npuscope::query
