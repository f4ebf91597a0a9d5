// The kernels' makers, one in each file. kernels.cpp chooses among them by name.
#pragma once

#include "lab/pattern/compute/compute_worker.hpp"

namespace bench {

std::unique_ptr<ComputeWorker> make_busy(int threads, Memory memory);
std::unique_ptr<ComputeWorker> make_jacobi(int threads, Memory memory);
std::unique_ptr<ComputeWorker> make_jacobi_blocked(int threads, Memory memory);
std::unique_ptr<ComputeWorker> make_matmul(int threads, Memory memory);
std::unique_ptr<ComputeWorker> make_matmul_transposed(int threads, Memory memory);
std::unique_ptr<ComputeWorker> make_strassen(int threads, Memory memory);
std::unique_ptr<ComputeWorker> make_mandelbrot(int threads, Memory memory);
std::unique_ptr<ComputeWorker> make_walk(int threads, Memory memory);
std::unique_ptr<ComputeWorker> make_spin(int threads, Memory memory);
std::unique_ptr<ComputeWorker> make_triad(int threads, Memory memory);

}  // namespace bench
