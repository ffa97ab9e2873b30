// Cooperative groups of one workgroup, run on the device and compared with what the definition of
// each function gives on the host. Prints each difference; the exit code says whether there was
// one.
#include <hip/cooperative_groups/memcpy_async.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;
using Word = unsigned long long;

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kColumns = 32;
unsigned differences = 0;

void check(hipError_t error) {
  if (error == hipSuccess) return;
  std::printf("HIP: %s\n", hipGetErrorString(error));
  std::exit(1);
}

/// What one thread found out: a row of numbers, each with its place.
struct Row {
  Word* words;
  __device__ void put(unsigned column, Word value) const { words[column] = value; }
};

void expect(const Word* words, unsigned thread, unsigned column, Word wanted, const char* what) {
  const Word got = words[thread * kColumns + column];
  if (got == wanted || ++differences > 20) return;
  std::printf("%s [%u]: got %llx, wanted %llx\n", what, thread, got, wanted);
}

}  // namespace

/// As in libraries: any tile of 32, regardless of its parent.
__device__ unsigned sum(const cg::thread_block_tile<32>& tile, unsigned value) {
  for (unsigned offset = tile.size() / 2; offset > 0; offset /= 2) {
    value += tile.shfl_xor(value, offset);
  }
  return value;
}

/// As libraries take it: any group.
__device__ Word describe(const cg::thread_group& group) {
  group.sync();
  return group.is_valid() ? group.size() * 1000 + group.thread_rank() : 0;
}

__global__ void ask(Word* words, dim3* place) {
  const cg::thread_block block = cg::this_thread_block();
  const unsigned t = block.thread_rank();
  const Row row{words + t * kColumns};
  if (t == 37) place[0] = block.thread_index(), place[1] = block.group_dim();
  const auto tile = cg::tiled_partition<32>(block);
  const auto small = cg::tiled_partition<8>(tile);
  row.put(0, block.size() * 1000 + block.num_threads());
  row.put(1, tile.meta_group_rank() * 1000 + tile.meta_group_size());
  row.put(2, small.meta_group_rank() * 1000 + small.meta_group_size());
  row.put(3, tile.ballot(t % 3 == 0));
  row.put(4, static_cast<Word>(small.any(t % 16 == 5) * 10 + small.all(t % 32 < 24)));
  row.put(5, tile.match_any(t % 4));
  int same = 0;
  row.put(6, tile.match_all(t / 32, same) * 2 + static_cast<Word>(same));
  row.put(7, tile.match_all(t / 16, same) * 2 + static_cast<Word>(same));
  row.put(8, sum(tile, t));
  row.put(9, small.shfl(t, 3) * 1000 + small.shfl_up(t, 2));
  row.put(10, describe(small));
  row.put(11, describe(block));
  row.put(12, describe(cg::tiled_partition(block, 16)));
  if (t % 5 == 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    row.put(13, describe(group));
    row.put(14, group.shfl_down(t, 1) * 1000 + group.shfl_up(t, 2));
    row.put(15, group.shfl(t, 2) * 1000 + static_cast<Word>(group.any(t == 70)));
    row.put(16, group.ballot(t % 2));
    row.put(17, group.match_any(t % 3));
    const auto four = cg::tiled_partition(group, 4);
    row.put(18, describe(four) * 1000 + four.meta_group_rank() * 10 + four.meta_group_size());
    row.put(19, describe(cg::binary_partition(group, t % 2 == 0)));
  }
  row.put(20, describe(cg::binary_partition(tile, t % 4 == 0)));
  cg::sync(tile);
  cg::sync(block);
}

/// Copies through LDS in two halves of a barrier: each thread passes on what another one's half of
/// the copy brought. Tiles of 32 copy 5 bytes each, which are no words.
__global__ void pass_on(const unsigned* in, unsigned* out, const char* text, char* copies) {
  __shared__ unsigned words[2][kThreads];
  const cg::thread_block block = cg::this_thread_block();
  const unsigned t = block.thread_rank();
  cg::memcpy_async(block, words[0], in, sizeof words[0]);
  block.sync();
  cg::memcpy_async(block, words[1], in + kThreads, sizeof words[1]);
  auto token = block.barrier_arrive();
  out[t] = words[0][kThreads - 1 - t];
  block.barrier_wait(static_cast<cg::thread_block::arrival_token&&>(token));
  out[kThreads + t] = words[1][kThreads - 1 - t];
  const auto tile = cg::tiled_partition<32>(block);
  cg::memcpy_async(tile, copies + 5 * tile.meta_group_rank(), text, 5);
}

void check_copies() {
  unsigned *in, *out;
  char *text, *copies;
  check(hipMallocManaged(&in, 2 * kThreads * sizeof *in));
  check(hipMallocManaged(&out, 2 * kThreads * sizeof *out));
  check(hipMallocManaged(&text, 5));
  check(hipMallocManaged(&copies, 5 * kThreads / 32));
  for (unsigned i = 0; i < 2 * kThreads; ++i) in[i] = 3 * i;
  for (unsigned i = 0; i < 5; ++i) text[i] = static_cast<char>('a' + i);
  pass_on<<<1, kThreads>>>(in, out, text, copies);
  check(hipDeviceSynchronize());
  for (unsigned i = 0; i < 2 * kThreads; ++i) {
    if (out[i] == in[i ^ (kThreads - 1)]) continue;
    std::printf("memcpy_async [%u]: got %u\n", i, out[i]);
    ++differences;
  }
  for (unsigned i = 0; i < 5 * kThreads / 32; ++i)
    if (copies[i] != text[i % 5]) ++differences;
}

int main() {
  Word* words = nullptr;
  dim3* place = nullptr;
  check(hipMallocManaged(&words, kThreads * kColumns * sizeof(Word)));
  check(hipMallocManaged(&place, 2 * sizeof(dim3)));
  ask<<<1, dim3(16, 8, 2)>>>(words, place);
  check(hipDeviceSynchronize());
  if (place[0].x != 5 || place[0].y != 2 || place[0].z != 0 || place[1].x != 16 ||
      place[1].y != 8 || place[1].z != 2) {
    std::printf("thread_index or group_dim\n");
    ++differences;
  }
  for (unsigned t = 0; t < kThreads; ++t) {
    const unsigned tile = t / 32 * 32;  // the first thread of its tile of 32,
    const unsigned small = t / 8 * 8;   // of 8,
    const unsigned wave = t / 64 * 64;  // and of its wave
    Word thirds = 0;
    unsigned total = 0;
    for (unsigned i = 0; i < 32; ++i) {
      thirds |= Word((tile + i) % 3 == 0) << i;
      total += tile + i;
    }
    expect(words, t, 0, 256256, "size of the block");
    expect(words, t, 1, t / 32 * 1000 + 8, "meta group of a tile of the block");
    expect(words, t, 2, t % 32 / 8 * 1000 + 4, "meta group of a tile of a tile");
    expect(words, t, 3, thirds, "ballot");
    expect(words, t, 4, (small % 16 == 0 ? 10 : 0) + (small % 32 < 24 ? 1 : 0), "any, all");
    expect(words, t, 5, Word(0x11111111) << t % 4, "match_any");
    expect(words, t, 6, Word(0xffffffff) * 2 + 1, "match_all of equal values");
    expect(words, t, 7, 0, "match_all of unequal values");
    expect(words, t, 8, total, "sum by shfl_xor");
    expect(words, t, 9, (small + 3) * 1000 + (t % 8 >= 2 ? t - 2 : t), "shfl, shfl_up");
    expect(words, t, 10, 8000 + t % 8, "a tile as a group");
    expect(words, t, 11, 256000 + t, "the block as a group");
    expect(words, t, 12, 16000 + t % 16, "a tile of a size from outside");
    const unsigned fours = t % 32 % 4 == 0 ? 8 : 24;
    unsigned rank_in_fours = 0;
    for (unsigned i = tile; i < t; ++i) rank_in_fours += (i % 4 == 0) == (t % 4 == 0) ? 1 : 0;
    expect(words, t, 20, fours * 1000 + rank_in_fours, "binary_partition of a tile");
    if (t % 5 != 0) continue;
    const unsigned first = (wave + 4) / 5 * 5;  // the coalesced group: every fifth of a wave
    const unsigned size = (wave + 63) / 5 - (first + 4) / 5 + 1;
    const unsigned rank = (t - first) / 5;
    const auto value = [&](unsigned of_rank) { return first + 5 * of_rank; };
    Word odd = 0;
    Word thirds_alike = 0;
    unsigned alike = 0;
    unsigned rank_alike = 0;
    bool has_70 = false;
    for (unsigned i = 0; i < size; ++i) {
      odd |= Word(value(i) % 2) << i;
      thirds_alike |= Word(value(i) % 3 == t % 3) << i;
      alike += value(i) % 2 == t % 2 ? 1 : 0;
      rank_alike += i < rank && value(i) % 2 == t % 2 ? 1 : 0;
      has_70 = has_70 || value(i) == 70;
    }
    const unsigned in_four = size - rank / 4 * 4 < 4 ? size - rank / 4 * 4 : 4;
    expect(words, t, 13, size * 1000 + rank, "coalesced_threads");
    expect(words, t, 14,
           value(rank + 1 < size ? rank + 1 : rank) * 1000 + value(rank >= 2 ? rank - 2 : rank),
           "coalesced shfl_down, shfl_up");
    expect(words, t, 15, value(2) * 1000 + (has_70 ? 1 : 0), "coalesced shfl, any");
    expect(words, t, 16, odd, "coalesced ballot");
    expect(words, t, 17, thirds_alike, "coalesced match_any");
    expect(words, t, 18, (in_four * 1000 + rank % 4) * 1000 + rank / 4 * 10 + (size + 3) / 4,
           "tile of a coalesced group");
    expect(words, t, 19, alike * 1000 + rank_alike, "binary_partition");
  }
  check_copies();
  std::printf("%u differences\n", differences);
  return differences == 0 ? 0 : 1;
}
