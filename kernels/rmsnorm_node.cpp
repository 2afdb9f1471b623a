// RMSNorm version 4: version 3's two launches, with Autograd's node in C++.
//
// A node in Python runs on the engine's own thread, which first has to fetch the interpreter's
// state from another core. This one needs no interpreter: two allocations and one launch each
// way. The kernels are the ones that Triton compiled for version 3.
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/extension.h>

#include <array>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

// Declared here because newer releases of torch no longer have it: see `Owner`.
namespace torch::autograd {
void deleteNode(Node*);
}

namespace {

using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

// cuLaunchKernel, found by the caller in the driver that is loaded already.
using Launcher = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void*, void**, void**);
constexpr int no_context = 201;  // CUDA_ERROR_INVALID_CONTEXT

struct Kernel {
  void* function;
  unsigned grid, threads, shared;
};

// What one combination of shapes, dtypes, device and eps needs; the caller has checked it.
struct Lane {
  Launcher launch;
  Kernel forward, backward;
  int32_t rows;
  int64_t columns;
  at::ScalarType x, gamma;
  c10::DeviceIndex device;
  double eps;

  bool fits(const at::Tensor& a, const at::Tensor& b, double epsilon) const {
    return a.dim() == 2 && b.dim() == 1 && a.size(0) == rows && a.size(1) == columns &&
           b.size(0) == columns && a.scalar_type() == x && b.scalar_type() == gamma &&
           b.device() == a.device() && a.device().index() == device &&
           epsilon == eps;
  }

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

// Lanes are never removed: a node may still point to one.
std::vector<std::unique_ptr<const Lane>> lanes;

bool aligned(const at::Tensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 16 == 0;
}

struct RMSNormBackward : torch::autograd::Node {
  const Lane* lane = nullptr;
  SavedVariable x, gamma;
  at::Tensor inverse;

  variable_list apply(variable_list&& upstream) override {
    TORCH_CHECK(!at::GradMode::is_enabled(),
                "This version has a single backward pass; create_graph=True is not supported.");
    TORCH_CHECK(inverse.defined(), "The saved tensors were freed by an earlier backward pass.");
    auto a = x.unpack(), b = gamma.unpack();
    auto dy = upstream[0].contiguous();
    if (!aligned(dy)) dy = dy.clone();
    auto dx = at::empty_like(a), dgamma = at::empty_like(b);
    std::array<void*, 6> address{a.data_ptr(),       b.data_ptr(),  dy.data_ptr(),
                                 inverse.data_ptr(), dx.data_ptr(), dgamma.data_ptr()};
    int32_t rows = lane->rows;
    void* scratch = nullptr;  // Triton's kernels end in two pointers that these do not use
    void* arguments[] = {&address[0], &address[1], &address[2], &address[3], &address[4],
                         &address[5], &rows,       &scratch,    &scratch};
    lane->run(lane->backward, arguments);
    return {dx, dgamma};
  }

  void release_variables() override {
    x.reset_data();
    gamma.reset_data();
    inverse.reset();
  }

  std::string name() const override { return "RMSNormBackward"; }
};

// A node is owned by a shared_ptr in torch 2.11, by an intrusive_ptr in 2.13.
using Owner = decltype(torch::autograd::Edge::function);

template <class T>
T owned(RMSNormBackward* node) {
  if constexpr (std::is_same_v<T, std::shared_ptr<torch::autograd::Node>>) {
    return T(node, torch::autograd::deleteNode);
  } else {
    return T::unsafe_steal_from_new(node);
  }
}

at::Tensor forward(const Lane& lane, const at::Tensor& x, const at::Tensor& gamma) {
  bool wanted = torch::autograd::compute_requires_grad(x, gamma);
  at::Tensor y, inverse;
  {
    at::AutoDispatchBelowADInplaceOrView below;
    y = at::empty_like(x);
    inverse = at::empty({lane.rows}, x.options().dtype(at::kFloat));
  }
  std::array<void*, 4> address{x.data_ptr(), gamma.data_ptr(), y.data_ptr(), inverse.data_ptr()};
  int32_t rows = lane.rows;
  float eps = static_cast<float>(lane.eps);
  void* scratch = nullptr;
  void* arguments[] = {&address[0], &address[1], &address[2], &address[3],
                       &rows,       &eps,        &scratch,    &scratch};
  lane.run(lane.forward, arguments);
  if (wanted) {
    auto* node = new RMSNormBackward;
    Owner owner = owned<Owner>(node);
    node->set_next_edges(torch::autograd::collect_next_edges(x, gamma));
    node->lane = &lane;
    node->x = SavedVariable(x, false);
    node->gamma = SavedVariable(gamma, false);
    node->inverse = inverse;
    torch::autograd::set_history(y, owner);
  }
  return y;
}

// y, or nothing where no lane fits: the caller then checks the contract and makes one.
std::optional<at::Tensor> call(const at::Tensor& x, const at::Tensor& gamma, double eps) {
  for (const auto& lane : lanes) {
    if (lane->fits(x, gamma, eps) && x.is_contiguous() && gamma.is_contiguous() && aligned(x) &&
        aligned(gamma) && c10::cuda::current_device() == lane->device) {
      return forward(*lane, x, gamma);
    }
  }
  return std::nullopt;
}

Kernel kernel(const std::array<int64_t, 4>& parts) {
  return {reinterpret_cast<void*>(parts[0]), static_cast<unsigned>(parts[1]),
          static_cast<unsigned>(parts[2]), static_cast<unsigned>(parts[3])};
}

void add_lane(int64_t launcher, std::array<int64_t, 4> there, std::array<int64_t, 4> back,
              const at::Tensor& x, const at::Tensor& gamma, double eps) {
  lanes.push_back(std::make_unique<const Lane>(
      Lane{reinterpret_cast<Launcher>(launcher), kernel(there), kernel(back),
           static_cast<int32_t>(x.size(0)), x.size(1), x.scalar_type(), gamma.scalar_type(),
           x.device().index(), eps}));
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("add_lane", &add_lane);
  module.def("call", &call);
}
