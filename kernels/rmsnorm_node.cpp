// RMSNorm version 4: version 3's two launches, with Autograd's node in C++.
//
// A node in Python is called from the engine's own thread, which first has to fetch the
// interpreter's state from the other core. This one needs no interpreter: two allocations and
// one launch each way. The kernels are the ones that Triton compiled for version 3.
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

#include <array>
#include <memory>

namespace {

// cuLaunchKernel, found by the caller in the driver that is loaded already.
using Launcher = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void*, void**, void**);

constexpr int no_context = 201;  // CUDA_ERROR_INVALID_CONTEXT

struct Kernel {
  void* function = nullptr;
  unsigned grid = 0, threads = 0, shared = 0;
};

// What one combination of shapes, dtypes, device and eps needs; the caller has checked it.
struct Lane : torch::CustomClassHolder {
  Launcher launch = nullptr;
  Kernel forward, backward;
  int32_t rows = 0;
  float eps = 0;

  void run(const Kernel& kernel, void** arguments) const {
    auto stream = c10::cuda::getCurrentCUDAStream();
    auto go = [&] {
      return launch(kernel.function, kernel.grid, 1, 1, kernel.threads, 1, 1, kernel.shared,
                    stream.stream(), arguments, nullptr);
    };
    int error = go();
    if (error == no_context) {  // the engine's thread may not have met the device yet
      c10::cuda::device_synchronize();
      error = go();
    }
    TORCH_CHECK(error == 0, "cuLaunchKernel failed with ", error);
  }
};

using Shared = c10::intrusive_ptr<Lane>;

struct Node : torch::autograd::Function<Node> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x,
                            const at::Tensor& gamma, const Shared& lane) {
    auto y = at::empty_like(x);
    auto inverse = at::empty({lane->rows}, x.options().dtype(at::kFloat));
    std::array<void*, 4> address{x.data_ptr(), gamma.data_ptr(), y.data_ptr(), inverse.data_ptr()};
    int32_t rows = lane->rows;
    float eps = lane->eps;
    void* scratch = nullptr;  // Triton's kernels end in two pointers that these do not use
    void* arguments[] = {&address[0], &address[1], &address[2], &address[3],
                         &rows,       &eps,        &scratch,    &scratch};
    lane->run(lane->forward, arguments);
    ctx->save_for_backward({x, gamma, inverse});
    ctx->saved_data["lane"] = c10::IValue::make_capsule(lane);
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list upstream) {
    TORCH_CHECK(!at::GradMode::is_enabled(), "a single backward pass: no create_graph=True");
    auto saved = ctx->get_saved_variables();
    auto lane = c10::static_intrusive_pointer_cast<Lane>(ctx->saved_data["lane"].toCapsule());
    auto dy = upstream[0].contiguous();
    if (reinterpret_cast<uintptr_t>(dy.data_ptr()) % 16 != 0) dy = dy.clone();
    auto dx = at::empty_like(saved[0]);
    auto dgamma = at::empty_like(saved[1]);
    std::array<void*, 6> address{saved[0].data_ptr(), saved[1].data_ptr(), dy.data_ptr(),
                                 saved[2].data_ptr(), dx.data_ptr(),       dgamma.data_ptr()};
    int32_t rows = lane->rows;
    void* scratch = nullptr;
    void* arguments[] = {&address[0], &address[1], &address[2], &address[3], &address[4],
                         &address[5], &rows,       &scratch,    &scratch};
    lane->run(lane->backward, arguments);
    return {dx, dgamma, at::Tensor()};
  }
};

Kernel kernel(const std::array<int64_t, 4>& parts) {
  return {reinterpret_cast<void*>(parts[0]), static_cast<unsigned>(parts[1]),
          static_cast<unsigned>(parts[2]), static_cast<unsigned>(parts[3])};
}

Shared make_lane(int64_t launcher, std::array<int64_t, 4> forward, std::array<int64_t, 4> backward,
                 int64_t rows, double eps) {
  auto lane = c10::make_intrusive<Lane>();
  lane->launch = reinterpret_cast<Launcher>(launcher);
  lane->forward = kernel(forward);
  lane->backward = kernel(backward);
  lane->rows = static_cast<int32_t>(rows);
  lane->eps = static_cast<float>(eps);
  return lane;
}

at::Tensor call(const at::Tensor& x, const at::Tensor& gamma, const Shared& lane) {
  return Node::apply(x, gamma, lane);
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  py::class_<Lane, Shared>(module, "Lane");
  module.def("make_lane", &make_lane);
  module.def("call", &call);
}
