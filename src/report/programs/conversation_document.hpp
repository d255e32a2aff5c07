// What `npuscope conversation` prints: time to first token, tokens a second, and the phases.
//
//   CONVERSATION
//     prompt, tokens        512 in 16 chunks of 32
//     first token           203.1 ms
//     tokens a second       82.15
//   PHASES
//     phase    input  context  steps    time    a step  DDR bytes
#pragma once

#include "npu/tune/conversation.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

Document conversation_document(const npu::ConversationRequest& request,
                               const npu::Conversation& conversation);

}  // namespace npuscope::report
