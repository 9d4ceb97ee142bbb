/* SPDX-License-Identifier: MIT */
/* Sums up whole numbers in two launches, by the C++ bindings. */
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include "../sample.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <CL/opencl.hpp>
#pragma GCC diagnostic pop

#include <numeric>
#include <string>
#include <vector>

static long size = 1048576, group = 256, groups = 512;
static const struct sample_option options[] = {
    {"size", "numbers", &size, 1, (1L << 32) - 1, nullptr},
    {"group", "work-items of a work-group, a power of two", &group, 1, 1024, nullptr},
    {"groups", "work-groups of the first launch", &groups, 1, 1 << 20, nullptr},
    {nullptr, nullptr, nullptr, 0, 0, nullptr},
};

static cl_int reduce(const std::vector<cl_int> &numbers)
{
    const cl::Context context(sample.context, true);
    cl::CommandQueue queue(sample.queue, true);
    size_t bytes;
    cl::Program program(context, std::string(sample_file("reduction.cl", &bytes)));
    program.build(std::vector<cl::Device>{cl::Device(sample.device, true)}, "-cl-std=CL1.2");
    cl::KernelFunctor<cl::Buffer, cl::Buffer, cl_uint, cl::LocalSpaceArg> kernel(program, "reduce");

    const size_t items = static_cast<size_t>(group), parts = static_cast<size_t>(groups);
    const cl::Buffer in(context, CL_MEM_READ_ONLY, numbers.size() * sizeof(cl_int));
    const cl::Buffer sums(context, CL_MEM_READ_WRITE, parts * sizeof(cl_int));
    const cl::Buffer all(context, CL_MEM_WRITE_ONLY, sizeof(cl_int));
    const cl::LocalSpaceArg partial = cl::Local(items * sizeof(cl_int));
    cl_int sum = 0;

    while (sample_next()) {
        queue.enqueueWriteBuffer(in, CL_FALSE, 0, numbers.size() * sizeof(cl_int), numbers.data());
        sample_lap(SAMPLE_WRITE);
        kernel(cl::EnqueueArgs(queue, cl::NDRange(items * parts), cl::NDRange(items)), in, sums,
               static_cast<cl_uint>(numbers.size()), partial);
        kernel(cl::EnqueueArgs(queue, cl::NDRange(items), cl::NDRange(items)), sums, all, static_cast<cl_uint>(parts),
               partial);
        sample_lap(SAMPLE_KERNEL);
        queue.enqueueReadBuffer(all, CL_TRUE, 0, sizeof(sum), &sum);
        sample_lap(SAMPLE_READ);
    }
    return sum;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Sums up whole numbers.", options);
    if (group & (group - 1))
        sample_die(2, "--group wants a power of two, not %ld", group);
    std::vector<cl_int> numbers(static_cast<size_t>(size));
    for (cl_int &n : numbers)
        n = static_cast<cl_int>(sample_random() % 1000) - 500;
    cl_int sum = 0;
    try {
        sum = reduce(numbers);
    } catch (const cl::Error &error) {
        sample_die(1, "error %d from %s", error.err(), error.what());
    }
    const cl_int want = static_cast<cl_int>(std::accumulate(numbers.begin(), numbers.end(), 0LL));
    sample_output(&sum, sizeof(sum));
    return sample_end(sample_same(&sum, &want, sizeof(sum)), "%ld", size);
}
