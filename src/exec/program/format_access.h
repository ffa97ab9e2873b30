// The element format that a buffer instruction with conversion uses, for observers.
#pragma once

#include "exec/program/bind.h"
#include "exec/program/buffer_format.h"
#include "exec/program/memory_model.h"
#include "exec/state/wave.h"

namespace margay {

/// MUBUF: the descriptor's, when the instruction runs. MTBUF: its own.
[[nodiscard]] BufferFormat buffer_format(const Wave& wave, const Instruction& i);

}  // namespace margay
