#include "ranks/launch_words.h"

#include <tuple>

#include "mfma/mfma.h"

namespace margay::ranks {

namespace {

/// What follows the number of the protocol.
auto behind_protocol(Is<Hello> auto& hello) {
  return std::tie(hello.gpu, hello.mfma, hello.level, hello.fast_method, hello.arena,
                  hello.silence);
}

}  // namespace

void encode(Writer& out, const Hello& hello) {
  out.put(hello.protocol);
  encode_each(out, behind_protocol(hello));
}

void decode(Reader& in, Hello& hello) {
  hello.protocol = in.get<std::uint32_t>();
  if (hello.protocol == kProtocol) decode_each(in, behind_protocol(hello));
}

std::string fast_method(std::string_view level) {
  std::string all;
  for (const auto* const name : {"v_mfma_f32_16x16x16_bf16", "v_mfma_f32_16x16x16_f16",
                                 "v_mfma_i32_16x16x32_i8", "v_mfma_f32_16x16x32_fp8_fp8"}) {
    if (const MfmaShape* const shape = find_mfma_shape(name))
      all += std::string(mfma_fast_method(*shape, level)) + ";";
  }
  return all;
}

}  // namespace margay::ranks
