/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * device.c - see device.h. Constants are those of the OpenCL 1.2 and CUDA driver interfaces.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sweep/device.h"

#include <assert.h>

#if defined(__unix__) && !defined(__EMSCRIPTEN__)

#include "base/clock.h"
#include "base/pool.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 128, PLATFORMS = 16, DEVICES = 64 };

/* Names of the interfaces: result, name, arguments. */
#define OPENCL(F)                                                                                  \
  F(int, clGetPlatformIDs, (unsigned, void**, unsigned*))                                          \
  F(int, clGetDeviceIDs, (void*, uint64_t, unsigned, void**, unsigned*))                           \
  F(int, clGetDeviceInfo, (void*, unsigned, size_t, void*, size_t*))                               \
  F(void*, clCreateContext, (const void*, unsigned, void**, void*, void*, int*))                   \
  F(void*, clCreateCommandQueue, (void*, void*, uint64_t, int*))                                   \
  F(void*, clCreateProgramWithSource, (void*, unsigned, const char**, const size_t*, int*))        \
  F(int, clBuildProgram, (void*, unsigned, void**, const char*, void*, void*))                     \
  F(void*, clCreateKernel, (void*, const char*, int*))                                             \
  F(void*, clCreateBuffer, (void*, uint64_t, size_t, void*, int*))                                 \
  F(int, clSetKernelArg, (void*, unsigned, size_t, const void*))                                   \
  F(int, clEnqueueNDRangeKernel,                                                                   \
    (void*, void*, unsigned, const size_t*, const size_t*, const size_t*, unsigned, void*, void*)) \
  F(int, clEnqueueReadBuffer,                                                                      \
    (void*, void*, unsigned, size_t, size_t, void*, unsigned, void*, void*))                       \
  F(int, clFinish, (void*))                                                                        \
  F(int, clReleaseMemObject, (void*))                                                              \
  F(int, clReleaseKernel, (void*))                                                                 \
  F(int, clReleaseProgram, (void*))                                                                \
  F(int, clReleaseCommandQueue, (void*))                                                           \
  F(int, clReleaseContext, (void*))

#define CUDA(F)                                                                                    \
  F(int, cuInit, (unsigned))                                                                       \
  F(int, cuDeviceGetCount, (int*))                                                                 \
  F(int, cuDeviceGet, (int*, int))                                                                 \
  F(int, cuDeviceGetAttribute, (int*, int, int))                                                   \
  F(int, cuDevicePrimaryCtxRetain, (void**, int))                                                  \
  F(int, cuDevicePrimaryCtxRelease_v2, (int))                                                      \
  F(int, cuCtxSetCurrent, (void*))                                                                 \
  F(int, cuModuleLoadData, (void**, const void*))                                                  \
  F(int, cuModuleUnload, (void*))                                                                  \
  F(int, cuModuleGetFunction, (void**, void*, const char*))                                        \
  F(int, cuMemAlloc_v2, (uint64_t*, size_t))                                                       \
  F(int, cuMemFree_v2, (uint64_t))                                                                 \
  F(int, cuMemcpyHtoD_v2, (uint64_t, const void*, size_t))                                         \
  F(int, cuMemcpyDtoH_v2, (void*, uint64_t, size_t))                                               \
  F(int, cuLaunchKernel,                                                                           \
    (void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,   \
     void**))                                                                                      \
  F(int, cuCtxSynchronize, (void))

#define NVRTC(F)                                                                                   \
  F(int, nvrtcCreateProgram,                                                                       \
    (void**, const char*, const char*, int, const char* const*, const char* const*))               \
  F(int, nvrtcCompileProgram, (void*, int, const char* const*))                                    \
  F(int, nvrtcGetCUBINSize, (void*, size_t*))                                                      \
  F(int, nvrtcGetCUBIN, (void*, char*))                                                            \
  F(int, nvrtcDestroyProgram, (void**))

#define MEMBER(result, name, arguments) result(*name) arguments;
#define RESOLVE(result, name, arguments)                                                           \
  f->name = (result(*) arguments)(uintptr_t)dlsym(f->library, #name);                              \
  found = found && f->name != NULL;
#define INTERFACE(type, list)                                                                      \
  typedef struct type {                                                                            \
    void* library;                                                                                 \
    list(MEMBER)                                                                                   \
  } type;                                                                                          \
  static bool resolve_##type(type* f, const char* const* names) {                                  \
    f->library = NULL;                                                                             \
    for (; *names != NULL && f->library == NULL; names++) {                                        \
      f->library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);                                          \
    }                                                                                              \
    bool found = f->library != NULL;                                                               \
    if (found) {                                                                                   \
      list(RESOLVE)                                                                                \
    }                                                                                              \
    return found;                                                                                  \
  }
INTERFACE(opencl, OPENCL)
INTERFACE(cuda, CUDA)
INTERFACE(nvrtc, NVRTC)

/* The libraries stay loaded: their own threads and exit handlers run beyond the last device. */
static const char* const opencl_names[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
static const char* const cuda_names[] = {"libcuda.so.1", NULL};
static const char* const nvrtc_names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                          "libnvrtc.so.11.2", NULL};

struct saltusi_device {
  saltusi_device_kind kind;
  pthread_mutex_t mutex;
  size_t room;
  size_t capacity[2]; /* bytes of the buffers of inputs and states */
  opencl cl;
  void *context, *queue, *program, *kernel, *buffers[2];
  cuda cu;
  int ordinal;
  void *module, *function;
  uint64_t addresses[2];
};

/* ---- OpenCL ---- */

/* Devices with double precision of all platforms, in their order. */
static int find_opencl(const opencl* f, void** devices) {
  enum { DOUBLES = 0x1032 };
  const uint64_t of_all_types = 0xffffffff;
  void *platforms[PLATFORMS], *all[DEVICES];
  unsigned platform_count = 0;
  int count = 0;
  if (f->clGetPlatformIDs(PLATFORMS, platforms, &platform_count) != 0) {
    return 0;
  }
  for (unsigned p = 0; p < platform_count && p < PLATFORMS; p++) {
    unsigned there = 0;
    const bool any = f->clGetDeviceIDs(platforms[p], of_all_types, DEVICES, all, &there) == 0;
    for (unsigned i = 0; any && i < there && i < DEVICES; i++) {
      uint64_t doubles = 0;
      const bool known =
          f->clGetDeviceInfo(all[i], DOUBLES, sizeof doubles, &doubles, NULL) == 0 && doubles != 0;
      if (known && count < DEVICES) {
        devices[count++] = all[i];
      }
    }
  }
  return count;
}

static const char* open_opencl(saltusi_device* d, int number, const char* source) {
  void* devices[DEVICES];
  int error = 0;
  if (!resolve_opencl(&d->cl, opencl_names)) {
    return "there is no libOpenCL.so.1";
  }
  const int count = find_opencl(&d->cl, devices);
  if (number >= count) {
    return count > 0 ? "OpenCL has fewer devices with double precision"
                     : "OpenCL has no device with double precision";
  }
  d->context = d->cl.clCreateContext(NULL, 1, &devices[number], NULL, NULL, &error);
  d->queue = d->context != NULL ? d->cl.clCreateCommandQueue(d->context, devices[number], 0, &error)
                                : NULL;
  d->program = d->queue != NULL
                   ? d->cl.clCreateProgramWithSource(d->context, 1, &source, NULL, &error)
                   : NULL;
  if (d->program == NULL) {
    return "the OpenCL device cannot be used";
  }
  if (d->cl.clBuildProgram(d->program, 1, &devices[number], "-DLANES=1", NULL, NULL) != 0) {
    return "the OpenCL compiler failed";
  }
  d->kernel = d->cl.clCreateKernel(d->program, "saltus_members", &error);
  return d->kernel != NULL ? NULL : "the OpenCL kernel cannot be loaded";
}

static void close_opencl(saltusi_device* d) {
  for (int i = 0; i < 2; i++) {
    if (d->buffers[i] != NULL) {
      (void)d->cl.clReleaseMemObject(d->buffers[i]);
    }
  }
  if (d->kernel != NULL) {
    (void)d->cl.clReleaseKernel(d->kernel);
  }
  if (d->program != NULL) {
    (void)d->cl.clReleaseProgram(d->program);
  }
  if (d->queue != NULL) {
    (void)d->cl.clReleaseCommandQueue(d->queue);
  }
  if (d->context != NULL) {
    (void)d->cl.clReleaseContext(d->context);
  }
}

/* Buffers are made for each call: their content is copied at once. */
static bool upload_opencl(saltusi_device* d, const saltusi_device_work* w, const size_t* bytes) {
  enum { COPIES = 1 << 5 };
  void* const from[] = {(void*)(uintptr_t)w->in, w->state};
  bool good = true;
  for (int i = 0; i < 2 && good; i++) {
    int error = 0;
    if (d->buffers[i] != NULL) {
      (void)d->cl.clReleaseMemObject(d->buffers[i]);
    }
    d->buffers[i] = d->cl.clCreateBuffer(d->context, COPIES | 1, bytes[i], from[i], &error);
    good = d->buffers[i] != NULL &&
           d->cl.clSetKernelArg(d->kernel, (unsigned)i, sizeof(void*), &d->buffers[i]) == 0;
  }
  return good && d->cl.clSetKernelArg(d->kernel, 2, sizeof w->n, &w->n) == 0;
}

static bool launch_opencl(saltusi_device* d, long n, double first, long steps) {
  const size_t all = (size_t)n;
  return d->cl.clSetKernelArg(d->kernel, 3, sizeof first, &first) == 0 &&
         d->cl.clSetKernelArg(d->kernel, 4, sizeof steps, &steps) == 0 &&
         d->cl.clEnqueueNDRangeKernel(d->queue, d->kernel, 1, NULL, &all, NULL, 0, NULL, NULL) ==
             0 &&
         d->cl.clFinish(d->queue) == 0;
}

/* ---- CUDA ---- */

const char* saltusi_device_cubin(const char* source, int capability, bool fast,
                                 saltusi_bytes* cubin) {
  assert(source != NULL && cubin != NULL);
  nvrtc f;
  if (!resolve_nvrtc(&f, nvrtc_names)) {
    return "there is no libnvrtc.so";
  }
  char target[32];
  snprintf(target, sizeof target, "--gpu-architecture=sm_%d", capability);
  const char* const options[] = {target, fast ? "-fmad=true" : "-fmad=false", "-DLANES=1"};
  void* program = NULL;
  size_t size = 0;
  if (f.nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL) != 0) {
    return "NVRTC cannot be used";
  }
  bool good = f.nvrtcCompileProgram(program, 3, options) == 0 &&
              f.nvrtcGetCUBINSize(program, &size) == 0 && size > 0 &&
              saltusi_grow(cubin->memory, (void**)&cubin->at, &cubin->room, size, 1);
  good = good && f.nvrtcGetCUBIN(program, (char*)cubin->at) == 0;
  cubin->count = good ? size : 0;
  (void)f.nvrtcDestroyProgram(&program);
  return good ? NULL : "NVRTC failed to compile the kernel";
}

static int count_cuda(const cuda* f) {
  int count = 0;
  return f->cuInit(0) == 0 && f->cuDeviceGetCount(&count) == 0 ? count : 0;
}

static const char* open_cuda(saltusi_device* d, int number, const char* source, bool fast) {
  enum { MAJOR = 75, MINOR = 76 };
  int major = 0, minor = 0;
  if (!resolve_cuda(&d->cu, cuda_names)) {
    return "there is no libcuda.so.1";
  }
  const int count = count_cuda(&d->cu);
  if (number >= count) {
    return count > 0 ? "CUDA has fewer devices" : "CUDA has no device";
  }
  if (d->cu.cuDeviceGet(&d->ordinal, number) != 0 ||
      d->cu.cuDeviceGetAttribute(&major, MAJOR, d->ordinal) != 0 ||
      d->cu.cuDeviceGetAttribute(&minor, MINOR, d->ordinal) != 0 ||
      d->cu.cuDevicePrimaryCtxRetain(&d->context, d->ordinal) != 0 ||
      d->cu.cuCtxSetCurrent(d->context) != 0) {
    return "the CUDA device cannot be used";
  }
  const saltus_allocator memory = saltus_allocator_default();
  saltusi_bytes cubin = {.memory = &memory};
  const char* why = saltusi_device_cubin(source, 10 * major + minor, fast, &cubin);
  if (why == NULL && (d->cu.cuModuleLoadData(&d->module, cubin.at) != 0 ||
                      d->cu.cuModuleGetFunction(&d->function, d->module, "saltus_members") != 0)) {
    why = "the CUDA kernel cannot be loaded";
  }
  saltusi_bytes_free(&cubin);
  return why;
}

static void close_cuda(saltusi_device* d) {
  if (d->context == NULL) {
    return;
  }
  (void)d->cu.cuCtxSetCurrent(d->context);
  for (int i = 0; i < 2; i++) {
    if (d->capacity[i] > 0) {
      (void)d->cu.cuMemFree_v2(d->addresses[i]);
    }
  }
  if (d->module != NULL) {
    (void)d->cu.cuModuleUnload(d->module);
  }
  (void)d->cu.cuDevicePrimaryCtxRelease_v2(d->ordinal);
}

static bool upload_cuda(saltusi_device* d, const saltusi_device_work* w, const size_t* bytes) {
  const void* const from[] = {w->in, w->state};
  bool good = d->cu.cuCtxSetCurrent(d->context) == 0; /* of this thread */
  for (int i = 0; i < 2 && good; i++) {
    if (bytes[i] > d->capacity[i]) {
      good = d->capacity[i] == 0 || d->cu.cuMemFree_v2(d->addresses[i]) == 0;
      d->capacity[i] = 0;
      good = good && d->cu.cuMemAlloc_v2(&d->addresses[i], bytes[i]) == 0;
      d->capacity[i] = good ? bytes[i] : 0;
    }
    good = good && d->cu.cuMemcpyHtoD_v2(d->addresses[i], from[i], bytes[i]) == 0;
  }
  return good;
}

static bool launch_cuda(saltusi_device* d, long n, double first, long steps) {
  void* arguments[] = {&d->addresses[0], &d->addresses[1], &n, &first, &steps};
  const unsigned blocks = (unsigned)((n + BLOCK - 1) / BLOCK);
  return d->cu.cuLaunchKernel(d->function, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL) ==
             0 &&
         d->cu.cuCtxSynchronize() == 0;
}

/* ---- both ---- */

int saltusi_device_count(saltusi_device_kind kind) {
  opencl cl;
  cuda cu;
  void* devices[DEVICES];
  return kind == SALTUSI_DEVICE_OPENCL
             ? resolve_opencl(&cl, opencl_names) ? find_opencl(&cl, devices) : 0
         : kind == SALTUSI_DEVICE_CUDA ? resolve_cuda(&cu, cuda_names) ? count_cuda(&cu) : 0
                                       : 0;
}

const char* saltusi_device_open(saltusi_device_kind kind, int number, const char* source, bool fast,
                                saltusi_device** out) {
  assert(number >= 0 && source != NULL && out != NULL);
  const saltus_allocator memory = saltus_allocator_default();
  saltusi_device* d = NULL;
  size_t room = 0;
  *out = NULL;
  if (!saltusi_grow(&memory, (void**)&d, &room, 1, sizeof *d)) {
    return "no memory";
  }
  *d = (saltusi_device){.kind = kind, .room = room};
  (void)pthread_mutex_init(&d->mutex, NULL);
  const char* why = kind == SALTUSI_DEVICE_OPENCL ? open_opencl(d, number, source)
                                                  : open_cuda(d, number, source, fast);
  if (why != NULL) {
    saltusi_device_close(d);
    return why;
  }
  *out = d;
  return NULL;
}

void saltusi_device_close(saltusi_device* d) {
  if (d == NULL) {
    return;
  }
  d->kind == SALTUSI_DEVICE_OPENCL ? close_opencl(d) : close_cuda(d);
  (void)pthread_mutex_destroy(&d->mutex);
  const saltus_allocator memory = saltus_allocator_default();
  saltusi_release(&memory, d, d->room, sizeof *d);
}

/* Rows of the state. */
static bool download(saltusi_device* d, const saltusi_device_work* w, size_t first, size_t count) {
  const size_t row = (size_t)w->n * sizeof(double), from = first * row, bytes = count * row;
  double* to = w->state + first * (size_t)w->n;
  return d->kind == SALTUSI_DEVICE_OPENCL
             ? d->cl.clEnqueueReadBuffer(d->queue, d->buffers[1], 1, from, bytes, to, 0, NULL,
                                         NULL) == 0
             : d->cu.cuMemcpyDtoH_v2(to, d->addresses[1] + from, bytes) == 0;
}

/* Steps of a launch grow until it takes this time, so that a cancelled run ends soon. */
static const double launch_time = 0.1; /* s */

/* Whether members have not reached the end: their row alone is copied. */
static bool has_pending(saltusi_device* d, const saltusi_device_work* w, bool* any) {
  double* row = w->state + (size_t)w->pending * (size_t)w->n;
  const bool good = download(d, w, (size_t)w->pending, 1);
  *any = false;
  for (long i = 0; i < w->n && good; i++) {
    *any = *any || row[i] != 0.0;
  }
  return good;
}

static saltus_status launch_all(saltusi_device* d, const saltusi_device_work* w) {
  const bool event = w->pending >= 0;
  bool more = true;
  long part = 16;
  for (long long done = 0; event ? more : done < w->steps;) {
    if (w->cancel != NULL && *w->cancel != 0) {
      return SALTUS_ERR_STOPPED;
    }
    const long steps = !event && w->steps - done < part ? (long)(w->steps - done) : part;
    const double first = event ? w->end : (double)done;
    const double from = saltusi_clock_monotonic();
    const bool good = d->kind == SALTUSI_DEVICE_OPENCL ? launch_opencl(d, w->n, first, steps)
                                                       : launch_cuda(d, w->n, first, steps);
    if (!good || (event && !has_pending(d, w, &more))) {
      return SALTUS_ERR_UNSUPPORTED;
    }
    done += steps;
    part *= saltusi_clock_monotonic() - from < launch_time / 2.0 ? 2 : 1;
  }
  return SALTUS_OK;
}

saltus_status saltusi_device_run(saltusi_device* d, const saltusi_device_work* w) {
  assert(d != NULL && w != NULL && w->n > 0);
  const size_t row = (size_t)w->n * sizeof(double);
  const size_t bytes[] = {row * (size_t)(w->inputs > 0 ? w->inputs : 1), row * (size_t)w->rows};
  (void)pthread_mutex_lock(&d->mutex);
  const bool uploaded =
      d->kind == SALTUSI_DEVICE_OPENCL ? upload_opencl(d, w, bytes) : upload_cuda(d, w, bytes);
  saltus_status status = uploaded ? launch_all(d, w) : SALTUS_ERR_UNSUPPORTED;
  if (status == SALTUS_OK && !download(d, w, 0, (size_t)w->rows)) {
    status = SALTUS_ERR_UNSUPPORTED;
  }
  (void)pthread_mutex_unlock(&d->mutex);
  return status;
}

#else

int saltusi_device_count(saltusi_device_kind kind) {
  (void)kind;
  return 0;
}

const char* saltusi_device_open(saltusi_device_kind kind, int number, const char* source, bool fast,
                                saltusi_device** out) {
  assert(source != NULL && out != NULL);
  (void)kind, (void)number, (void)source;
  *out = NULL;
  return "this system loads no libraries at run time";
}

void saltusi_device_close(saltusi_device* device) {
  (void)device;
}

saltus_status saltusi_device_run(saltusi_device* device, const saltusi_device_work* work) {
  (void)device, (void)work;
  return SALTUS_ERR_UNSUPPORTED;
}

const char* saltusi_device_cubin(const char* source, int capability, bool fast,
                                 saltusi_bytes* cubin) {
  (void)source, (void)capability, (void)cubin;
  return "this system loads no libraries at run time";
}

#endif
