/* SPDX-License-Identifier: MIT */
/* Sums the floats of a file with NVIDIA's own reductions, for bench/sum_cub.sh:
 *   sum_cub FILE RUNS     prints, tab-separated: the device's name, then "sum of |x|", then for each determinism its
 *                         name, ns per element (median), the sum and how many different sums came
 *   sum_cub --make FILE N writes N floats between -1 and 1 */
#include <cuda/version>
#if CCCL_VERSION < 3001000
#error "these headers are older than CCCL 3.1, the first with determinism::gpu_to_gpu: give newer ones by CCCL=DIR"
#else
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/require.h>

#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <vector>

static void check(cudaError_t e, const char *what)
{
    if (e == cudaSuccess)
        return;
    std::fprintf(stderr, "sum_cub: %s: %s\n", what, cudaGetErrorString(e));
    std::exit(1);
}

static int make(const char *path, std::size_t n)
{
    std::mt19937_64 random(43);
    std::ofstream f(path, std::ios::binary);
    for (std::size_t i = 0; i < n; i++) {
        const float x = static_cast<float>(static_cast<double>(random() >> 40) / 8388608.0 - 1.0);
        f.write(reinterpret_cast<const char *>(&x), sizeof x);
    }
    f.close();
    if (f)
        return 0;
    std::fprintf(stderr, "sum_cub: %s could not be written\n", path);
    return 1;
}

static std::vector<float> read_floats(const char *path)
{
    std::ifstream f(path, std::ios::binary | std::ios::ate);
    const std::streamoff bytes = f ? static_cast<std::streamoff>(f.tellg()) : 0;
    std::vector<float> x(static_cast<std::size_t>(bytes) / sizeof(float));
    f.seekg(0);
    if (bytes <= 0 || bytes % sizeof(float) || !f.read(reinterpret_cast<char *>(x.data()), bytes)) {
        std::fprintf(stderr, "sum_cub: %s could not be read as floats of 4 bytes each\n", path);
        std::exit(1);
    }
    return x;
}

/* CUB takes its temporary memory from the stream's pool at each call; what is freed stays there for the next one. */
static void keep_pool()
{
    cudaMemPool_t pool;
    std::uint64_t most = UINT64_MAX;
    check(cudaDeviceGetDefaultMemPool(&pool, 0), "the memory pool");
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most), "the memory pool");
}

template <class Determinism>
static void measure(const char *name, Determinism determinism, const float *in, float *out, std::size_t n, int runs)
{
    std::vector<float> ms;
    std::set<std::uint32_t> bits;
    float sum = 0;
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "an event");
    check(cudaEventCreate(&end), "an event");
    for (int i = -3; i < runs; i++) { /* three to warm up */
        float t;
        std::uint32_t b;
        check(cudaEventRecord(begin), "an event");
        check(cub::DeviceReduce::Sum(in, out, n, cuda::execution::require(determinism)), name);
        check(cudaEventRecord(end), "an event");
        check(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost), name);
        check(cudaEventElapsedTime(&t, begin, end), "an event");
        std::memcpy(&b, &sum, sizeof b);
        bits.insert(b);
        if (i >= 0)
            ms.push_back(t);
    }
    std::sort(ms.begin(), ms.end());
    std::printf("%s\t%.6f\t%.9g\t%zu\n", name, 1e6 * ms[ms.size() / 2] / static_cast<double>(n), sum, bits.size());
    check(cudaEventDestroy(begin), "an event");
    check(cudaEventDestroy(end), "an event");
}

int main(int argc, char **argv)
{
    if (argc == 4 && std::strcmp(argv[1], "--make") == 0)
        return make(argv[2], std::strtoull(argv[3], nullptr, 10));
    const int runs = argc == 3 ? std::atoi(argv[2]) : 0;
    if (runs <= 0) {
        std::fprintf(stderr, "usage: sum_cub FILE RUNS, or sum_cub --make FILE N\n");
        return 2;
    }
    const std::vector<float> x = read_floats(argv[1]);
    float *in, *out;
    double size = 0;
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0), "the device");
    check(cudaMalloc(&in, x.size() * sizeof(float)), "memory");
    check(cudaMalloc(&out, sizeof(float)), "memory");
    check(cudaMemcpy(in, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice), "the floats");
    keep_pool();
    for (const float f : x)
        size += std::fabs(f);
    std::printf("device\t%s\nsum of |x|\t%.9g\n", device.name, size);
    measure("gpu_to_gpu", cuda::execution::determinism::gpu_to_gpu, in, out, x.size(), runs);
    measure("run_to_run", cuda::execution::determinism::run_to_run, in, out, x.size(), runs);
    check(cudaFree(in), "memory");
    check(cudaFree(out), "memory");
    return 0;
}
#endif
