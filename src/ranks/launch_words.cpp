#include "ranks/launch_words.h"

#include "mfma/mfma.h"

namespace margay::ranks {

void put(Writer& out, const Hello& hello) {
  out.put(hello.protocol);
  out.put_text(hello.gpu);
  out.put(hello.mfma);
  out.put_text(hello.level);
  out.put_text(hello.fast_method);
  out.put(hello.arena);
  out.put(hello.silence);
}

Hello get_hello(Reader& in) {
  Hello hello;
  hello.protocol = in.get<std::uint32_t>();
  if (hello.protocol != kProtocol) return hello;
  hello.gpu = in.get_text();
  hello.mfma = in.get<MfmaMode>();
  hello.level = in.get_text();
  hello.fast_method = in.get_text();
  hello.arena = in.get<AddressRange>();
  hello.silence = in.get<std::uint32_t>();
  return hello;
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
