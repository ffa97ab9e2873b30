// Graphs, built by hand and captured from streams. Compiled by `margay hipcc`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include <array>
#include <string>
#include <vector>

namespace {

using testing::Each;
using testing::ElementsAre;

__device__ int factor = 1;

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
__global__ void multiply(int* data, int value) { data[threadIdx.x] *= value; }
__global__ void scale_by_variable(int* data) { data[threadIdx.x] *= factor; }

constexpr int kThreads = 64;

class Graph : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(hipDeviceReset(), hipSuccess);
    (void)hipGetLastError();
    ASSERT_EQ(hipMallocManaged(&data_, kThreads * sizeof(int)), hipSuccess);
    std::fill_n(data_, kThreads, 0);
    for (hipStream_t& stream : streams_) ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  }
  [[nodiscard]] std::vector<int> data() const { return {data_, data_ + kThreads}; }
  // What is left on stderr is read by a person; here only the codes matter.
  static hipError_t quietly(auto&& call) {
    testing::internal::CaptureStderr();
    const hipError_t code = call();
    EXPECT_FALSE(testing::internal::GetCapturedStderr().empty());
    return code;
  }

  int* data_ = nullptr;
  std::array<hipStream_t, 2> streams_ = {};
};

hipKernelNodeParams kernel_node(void* function, void** arguments) {
  hipKernelNodeParams parameters{};
  parameters.func = function;
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(kThreads);
  parameters.kernelParams = arguments;
  return parameters;
}

TEST_F(Graph, ACapturedStreamDoesNothingUntilTheLaunch) {
  ASSERT_EQ(hipStreamBeginCapture(streams_[0], hipStreamCaptureModeGlobal), hipSuccess);
  std::vector<int> ones(kThreads, 1), out(kThreads, 0);
  ASSERT_EQ(
      hipMemcpyAsync(data_, ones.data(), kThreads * sizeof(int), hipMemcpyDefault, streams_[0]),
      hipSuccess);
  add<<<1, kThreads, 0, streams_[0]>>>(data_, 4);
  multiply<<<1, kThreads, 0, streams_[0]>>>(data_, 3);
  ASSERT_EQ(
      hipMemcpyAsync(out.data(), data_, kThreads * sizeof(int), hipMemcpyDefault, streams_[0]),
      hipSuccess);
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  ASSERT_EQ(hipStreamIsCapturing(streams_[0], &status), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusActive);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamEndCapture(streams_[0], &graph), hipSuccess);
  EXPECT_THAT(data(), Each(0));
  EXPECT_THAT(out, Each(0));

  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);  // the executable has what it needs
  ASSERT_EQ(hipGraphLaunch(executable, streams_[1]), hipSuccess);
  ASSERT_EQ(hipStreamSynchronize(streams_[1]), hipSuccess);
  EXPECT_THAT(out, Each(15));
  ones.assign(kThreads, 10);
  ASSERT_EQ(hipGraphLaunch(executable, streams_[0]), hipSuccess);
  EXPECT_THAT(out, Each(42));
  EXPECT_EQ(hipGraphExecDestroy(executable), hipSuccess);
}

TEST_F(Graph, EventsForkAndJoinACapture) {
  hipEvent_t fork = nullptr, join = nullptr;
  ASSERT_EQ(hipEventCreate(&fork), hipSuccess);
  ASSERT_EQ(hipEventCreate(&join), hipSuccess);
  ASSERT_EQ(hipStreamBeginCapture(streams_[0], hipStreamCaptureModeGlobal), hipSuccess);
  add<<<1, kThreads, 0, streams_[0]>>>(data_, 2);
  ASSERT_EQ(hipEventRecord(fork, streams_[0]), hipSuccess);
  ASSERT_EQ(hipStreamWaitEvent(streams_[1], fork, 0), hipSuccess);
  multiply<<<1, kThreads, 0, streams_[1]>>>(data_, 5);
  ASSERT_EQ(hipEventRecord(join, streams_[1]), hipSuccess);
  ASSERT_EQ(hipStreamWaitEvent(streams_[0], join, 0), hipSuccess);
  add<<<1, kThreads, 0, streams_[0]>>>(data_, 1);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamEndCapture(streams_[0], &graph), hipSuccess);

  std::size_t nodes = 0, roots = 0, before = 0;
  ASSERT_EQ(hipGraphGetNodes(graph, nullptr, &nodes), hipSuccess);
  ASSERT_EQ(hipGraphGetRootNodes(graph, nullptr, &roots), hipSuccess);
  EXPECT_EQ(nodes, 3u);
  EXPECT_EQ(roots, 1u);
  std::vector<hipGraphNode_t> list(nodes);
  ASSERT_EQ(hipGraphGetNodes(graph, list.data(), &nodes), hipSuccess);
  ASSERT_EQ(hipGraphNodeGetDependencies(list[2], nullptr, &before), hipSuccess);
  EXPECT_EQ(before, 2u);  // the streams' last nodes

  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  EXPECT_THAT(data(), Each(0));
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
  EXPECT_THAT(data(), Each(11));
  add<<<1, kThreads, 0, streams_[1]>>>(data_, 1);  // both streams work again
  EXPECT_THAT(data(), Each(12));
}

TEST_F(Graph, AStreamThatIsNotJoinedIsRefused) {
  hipEvent_t fork = nullptr;
  ASSERT_EQ(hipEventCreate(&fork), hipSuccess);
  ASSERT_EQ(hipStreamBeginCapture(streams_[0], hipStreamCaptureModeGlobal), hipSuccess);
  ASSERT_EQ(hipEventRecord(fork, streams_[0]), hipSuccess);
  ASSERT_EQ(hipStreamWaitEvent(streams_[1], fork, 0), hipSuccess);
  add<<<1, kThreads, 0, streams_[1]>>>(data_, 2);
  hipGraph_t graph = nullptr;
  EXPECT_EQ(quietly([&] { return hipStreamEndCapture(streams_[0], &graph); }),
            hipErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
}

TEST_F(Graph, SynchronisingACapturedStreamLosesTheCapture) {
  ASSERT_EQ(hipStreamBeginCapture(streams_[0], hipStreamCaptureModeGlobal), hipSuccess);
  EXPECT_EQ(quietly([&] { return hipStreamSynchronize(streams_[0]); }),
            hipErrorStreamCaptureUnsupported);
  hipGraph_t graph = nullptr;
  EXPECT_EQ(quietly([&] { return hipStreamEndCapture(streams_[0], &graph); }),
            hipErrorStreamCaptureInvalidated);
  EXPECT_EQ(hipStreamSynchronize(streams_[0]), hipSuccess);
}

TEST_F(Graph, NodesRunInTheOrderOfTheirDependencies) {
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  int five = 5, two = 2;
  void* with_five[] = {&data_, &five};
  void* with_two[] = {&data_, &two};
  const auto addition = kernel_node(reinterpret_cast<void*>(add), with_five);
  const auto product = kernel_node(reinterpret_cast<void*>(multiply), with_two);
  hipMemsetParams fill{};
  fill.dst = data_;
  fill.elementSize = 4;
  fill.value = 7;
  fill.width = kThreads;
  fill.height = 1;
  hipGraphNode_t last = nullptr, middle = nullptr, first = nullptr;
  ASSERT_EQ(hipGraphAddKernelNode(&last, graph, nullptr, 0, &product), hipSuccess);
  ASSERT_EQ(hipGraphAddKernelNode(&middle, graph, nullptr, 0, &addition), hipSuccess);
  ASSERT_EQ(hipGraphAddMemsetNode(&first, graph, nullptr, 0, &fill), hipSuccess);
  const hipGraphNode_t from[] = {first, middle}, to[] = {middle, last};
  ASSERT_EQ(hipGraphAddDependencies(graph, from, to, 2), hipSuccess);
  five = 1000;  // an argument is taken when the node is made
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
  EXPECT_THAT(data(), Each(24));

  int one = 1;
  void* with_one[] = {&data_, &one};
  const auto smaller = kernel_node(reinterpret_cast<void*>(add), with_one);
  ASSERT_EQ(hipGraphExecKernelNodeSetParams(executable, middle, &smaller), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
  EXPECT_THAT(data(), Each(16));

  EXPECT_EQ(quietly([&] { return hipGraphRemoveDependencies(graph, &first, &last, 1); }),
            hipErrorInvalidValue);  // there is none
  fill.dst = nullptr;
  hipGraphNode_t nowhere = nullptr;
  EXPECT_EQ(quietly([&] { return hipGraphAddMemsetNode(&nowhere, graph, nullptr, 0, &fill); }),
            hipErrorInvalidValue);
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  ASSERT_EQ(hipGraphNodeGetType(first, &type), hipSuccess);
  EXPECT_EQ(type, hipGraphNodeTypeMemset);
  ASSERT_EQ(hipGraphAddDependencies(graph, &last, &first, 1), hipSuccess);
  EXPECT_EQ(quietly([&] { return hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0); }),
            hipErrorInvalidValue);  // a circle
}

TEST_F(Graph, HostSymbolAndChildNodes) {
  hipGraph_t child = nullptr, graph = nullptr;
  ASSERT_EQ(hipGraphCreate(&child, 0), hipSuccess);
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  int three = 3;
  void* with_three[] = {&data_, &three};
  const auto addition = kernel_node(reinterpret_cast<void*>(add), with_three);
  hipGraphNode_t node = nullptr, second = nullptr, third = nullptr;
  ASSERT_EQ(hipGraphAddKernelNode(&node, child, nullptr, 0, &addition), hipSuccess);

  int new_factor = 9, read_back = 0;
  ASSERT_EQ(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child), hipSuccess);
  ASSERT_EQ(hipGraphAddMemcpyNodeToSymbol(&second, graph, &node, 1, &factor, &new_factor,
                                          sizeof new_factor, 0, hipMemcpyHostToDevice),
            hipSuccess);
  void* only_data[] = {&data_};
  const auto scaling = kernel_node(reinterpret_cast<void*>(scale_by_variable), only_data);
  ASSERT_EQ(hipGraphAddKernelNode(&third, graph, &second, 1, &scaling), hipSuccess);
  hipHostNodeParams host{};
  host.fn = [](void* value) { ++*static_cast<int*>(value); };
  host.userData = &new_factor;
  ASSERT_EQ(hipGraphAddHostNode(&node, graph, &third, 1, &host), hipSuccess);
  ASSERT_EQ(hipGraphAddMemcpyNode1D(&node, graph, &node, 1, &read_back, data_, sizeof read_back,
                                    hipMemcpyDeviceToHost),
            hipSuccess);
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
  EXPECT_EQ(read_back, 27);
  EXPECT_EQ(new_factor, 10);
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
  EXPECT_EQ(read_back, 300);  // (27 + 3) * 10
}

TEST_F(Graph, AChildOfAnInstantiatedGraphIsReplaced) {
  hipGraph_t adds = nullptr, multiplies = nullptr, graph = nullptr;
  for (hipGraph_t* const one : {&adds, &multiplies, &graph})
    ASSERT_EQ(hipGraphCreate(one, 0), hipSuccess);
  int three = 3, five = 5;
  void* with_three[] = {&data_, &three};
  void* with_five[] = {&data_, &five};
  const auto addition = kernel_node(reinterpret_cast<void*>(add), with_three);
  const auto product = kernel_node(reinterpret_cast<void*>(multiply), with_five);
  hipGraphNode_t in_child = nullptr, node = nullptr;
  ASSERT_EQ(hipGraphAddKernelNode(&in_child, adds, nullptr, 0, &addition), hipSuccess);
  ASSERT_EQ(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, adds), hipSuccess);
  ASSERT_EQ(hipGraphAddKernelNode(&in_child, multiplies, nullptr, 0, &product), hipSuccess);
  hipGraphExec_t executable = nullptr, original = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
  EXPECT_THAT(data(), Each(3));

  ASSERT_EQ(hipGraphExecChildGraphNodeSetParams(executable, node, multiplies), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
  EXPECT_THAT(data(), Each(15));
  ASSERT_EQ(hipGraphInstantiate(&original, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(original, nullptr), hipSuccess);  // the graph itself is as it was
  EXPECT_THAT(data(), Each(18));

  EXPECT_EQ(
      quietly([&] { return hipGraphExecChildGraphNodeSetParams(executable, in_child, adds); }),
      hipErrorInvalidValue);  // a kernel
}

TEST_F(Graph, AHandleThatWasDestroyedIsRefused) {
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(quietly([&] { return hipGraphDestroy(graph); }), hipErrorInvalidValue);
}

}  // namespace
