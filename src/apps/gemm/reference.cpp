#include "apps/gemm/reference.h"

#include <chrono>
#include <dnnl.hpp>

// Debian's oneDNN runs on GNU OpenMP; its header comes with g++ only.
extern "C" void omp_set_num_threads(int threads);

namespace margay::gemm {

Result<double> multiply_with_onednn(const Options& o, std::span<const std::uint16_t> a,
                                    std::span<const std::uint16_t> b, std::span<float> product,
                                    unsigned threads) {
  try {
    using dnnl::memory;
    omp_set_num_threads(static_cast<int>(threads));
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    dnnl::stream stream(engine);
    using Type = memory::data_type;
    const memory::desc a_desc({o.m, o.k}, Type::bf16, memory::dims{o.k, 1});
    const memory::desc b_desc({o.k, o.n}, Type::bf16,
                              o.transpose_b ? memory::dims{1, o.k} : memory::dims{o.n, 1});
    const memory::desc c_desc({o.m, o.n}, Type::f32, memory::dims{o.n, 1});
    const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(a_desc, b_desc, c_desc),
                                                   engine);
    const dnnl::matmul matmul(description);
    // oneDNN's interface takes non-const pointers for inputs too.
    memory a_memory(a_desc, engine, const_cast<std::uint16_t*>(a.data()));
    memory b_memory(b_desc, engine, const_cast<std::uint16_t*>(b.data()));
    memory c_memory(c_desc, engine, product.data());
    parallel(static_cast<std::int64_t>(product.size()), threads,
             [&](std::int64_t first, std::int64_t last) {
               for (std::int64_t i = first; i < last; ++i) product[static_cast<std::size_t>(i)] = 0;
             });
    const auto started = std::chrono::steady_clock::now();
    matmul.execute(
        stream, {{DNNL_ARG_SRC, a_memory}, {DNNL_ARG_WEIGHTS, b_memory}, {DNNL_ARG_DST, c_memory}});
    stream.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  } catch (const dnnl::error& error) {
    return fail(ErrorCode::system,
                std::string("oneDNN could not compute the reference: ") + error.what(),
                "reference");
  }
}

}  // namespace margay::gemm
