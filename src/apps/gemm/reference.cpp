#include "apps/gemm/reference.h"

#include <chrono>
#include <dnnl.hpp>
#include <vector>

// Debian's oneDNN runs on GNU OpenMP; its header comes with g++ only.
extern "C" void omp_set_num_threads(int threads);

namespace margay::gemm {
namespace {

using dnnl::memory;

/// product = A op(B) of matrices of `type`.
double multiply(const Options& o, memory::data_type type, const void* a, const void* b,
                std::span<float> product, unsigned threads) {
  omp_set_num_threads(static_cast<int>(threads));
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const memory::desc a_desc({o.m, o.k}, type, memory::dims{o.k, 1});
  const memory::desc b_desc({o.k, o.n}, type,
                            o.transpose_b ? memory::dims{1, o.k} : memory::dims{o.n, 1});
  const memory::desc c_desc({o.m, o.n}, memory::data_type::f32, memory::dims{o.n, 1});
  const dnnl::matmul matmul(
      dnnl::matmul::primitive_desc(dnnl::matmul::desc(a_desc, b_desc, c_desc), engine));
  // oneDNN's interface takes non-const pointers for inputs too.
  memory a_memory(a_desc, engine, const_cast<void*>(a));
  memory b_memory(b_desc, engine, const_cast<void*>(b));
  memory c_memory(c_desc, engine, product.data());
  // In memory before it is timed, as the virtual device's C is.
  parallel(static_cast<std::int64_t>(product.size()), threads,
           [&](std::int64_t first, std::int64_t last) {
             for (std::int64_t i = first; i < last; ++i) product[static_cast<std::size_t>(i)] = 0;
           });
  const auto started = std::chrono::steady_clock::now();
  matmul.execute(
      stream, {{DNNL_ARG_SRC, a_memory}, {DNNL_ARG_WEIGHTS, b_memory}, {DNNL_ARG_DST, c_memory}});
  stream.wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

std::vector<float> as_floats(std::span<const std::uint16_t> values, unsigned threads) {
  std::vector<float> out(values.size());
  parallel(static_cast<std::int64_t>(values.size()), threads,
           [&](std::int64_t first, std::int64_t last) {
             for (std::int64_t i = first; i < last; ++i)
               out[static_cast<std::size_t>(i)] = to_float(values[static_cast<std::size_t>(i)]);
           });
  return out;
}

}  // namespace

std::string_view reference_type() {
  // oneDNN 2.6 multiplies bf16 on processors with AVX-512 only.
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  return (isa & needed) == needed ? "bf16" : "f32";
}

Result<double> multiply_with_onednn(const Options& o, std::span<const std::uint16_t> a,
                                    std::span<const std::uint16_t> b, std::span<float> product,
                                    unsigned threads) {
  try {
    if (reference_type() == "bf16")
      return multiply(o, memory::data_type::bf16, a.data(), b.data(), product, threads);
    const std::vector<float> a_floats = as_floats(a, threads), b_floats = as_floats(b, threads);
    return multiply(o, memory::data_type::f32, a_floats.data(), b_floats.data(), product, threads);
  } catch (const dnnl::error& error) {
    return fail(ErrorCode::system,
                std::string("oneDNN could not compute the reference: ") + error.what(),
                "reference");
  }
}

}  // namespace margay::gemm
