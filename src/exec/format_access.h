// The element format that a buffer instruction with conversion uses: for those who watch it.
#pragma once

#include "exec/bind.h"
#include "exec/buffer_format.h"
#include "exec/memory_model.h"
#include "exec/wave.h"

namespace margay {

/// MUBUF: the descriptor's, when the instruction runs. MTBUF: its own.
[[nodiscard]] BufferFormat buffer_format(const Wave& wave, const Instruction& i);

}  // namespace margay
