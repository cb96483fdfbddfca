// What translated kernels are made of. A program is a block of THREADS threads; lane e * THREADS + threadIdx.x of a
// vector is element e of its thread. All threads of a block meet at each function here that they share values by.
#ifdef __CUDACC__
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
#else
#define UNROLL
#define NO_UNROLL
#endif

struct Sum { template <typename T> static __device__ T of(T a, T b) { return a + b; } };
struct Max { template <typename T> static __device__ T of(T a, T b) { return a > b ? a : b; } };
struct Min { template <typename T> static __device__ T of(T a, T b) { return a < b ? a : b; } };
struct Or { template <typename T> static __device__ T of(T a, T b) { return a | b; } };
struct And { template <typename T> static __device__ T of(T a, T b) { return a & b; } };

template <typename F, typename T> __device__ T of_all(T x) {
  for (int d = 16; d; d >>= 1) x = F::of(x, (T)__shfl_xor_sync(~0u, x, d));
  if (THREADS == 32) return x;
  __shared__ T part[THREADS / 32];
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  x = part[0];
  for (int i = 1; i < THREADS / 32; i++) x = F::of(x, part[i]);
  return x;
}

// The sum up to and with this thread's x, and the carry, which is that of the lanes before.
template <typename T> __device__ T running_sum(T x, T& carry) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int d = 1; d < 32; d <<= 1) {
    T y = __shfl_up_sync(~0u, x, d);
    if (lane >= d) x += y;
  }
  __shared__ T part[THREADS / 32];
  __syncthreads();
  if (lane == 31) part[warp] = x;
  __syncthreads();
  T before = carry;
  for (int i = 0; i < THREADS / 32; i++) {
    if (i < warp) before += part[i];
    carry += part[i];
  }
  return x + before;
}

// What a place held before the value was added once for the whole block.
template <typename T> __device__ T fetch_add(T* place, T value) {
  __shared__ T before;
  __syncthreads();
  if (threadIdx.x == 0) before = atomicAdd(place, value);
  __syncthreads();
  return before;
}

// All ones where x is negative and else zero, by a permutation of bytes that repeats a sign: the compiler moves a shift
// past the sums of a scalar's expansion, of which there are more than bits.
__device__ int spread_sign(int x) {
#ifdef __CUDACC__
  int mask;
  asm("prmt.b32 %0, %1, 0, 0xbbbb;" : "=r"(mask) : "r"(x));
  return mask;
#else
  return x >> 31;
#endif
}

// The total with a term where the mask selects it, as one instruction: the compiler takes apart a term that is a sum.
__device__ unsigned add_selected(unsigned total, unsigned term, unsigned mask) {
#ifdef __CUDACC__
  unsigned sum;
  asm("lop3.b32 %0, %1, %2, %3, 0x78;" : "=r"(sum) : "r"(total), "r"(term), "r"(mask));
  return sum;
#else
  return total ^ (term & mask);
#endif
}

// What a place holds, or 0 where it is masked, without a branch: a thread's loads then wait for memory together.
template <bool only_read, typename T> __device__ T masked_load(const T* place, bool mask) {
#ifdef __CUDACC__
  if (sizeof(T) == 4) {
    unsigned x;
    if (only_read)
      asm("{.reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 0; @p ld.global.nc.u32 %0, [%1];}"
          : "=&r"(x) : "l"(place), "r"((unsigned)mask));
    else  // in its turn among what this thread writes
      asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 0; @p ld.global.u32 %0, [%1];}"
                   : "=&r"(x) : "l"(place), "r"((unsigned)mask) : "memory");
    return (T)x;
  }
#endif
  return mask ? *place : (T)0;
}
