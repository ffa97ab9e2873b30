/* libmargay_kernels: the kernels that ship with Margay as code objects, and how each is launched.
 *
 * A C interface to the plans of kernels/NAME/plan.h, for whoever loads the code objects itself:
 * `margay gemm`, the Python package, a program in another language. It needs neither HIP nor a
 * device. What it returns stays valid, unless said otherwise. */
#ifndef MARGAY_KERNELS_H
#define MARGAY_KERNELS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MARGAY_KERNELS_API __attribute__((visibility("default")))

/* Changes with the structures below: a caller that does not know the library's is not to use it. */
#define MARGAY_KERNELS_VERSION 1
MARGAY_KERNELS_API int margay_kernels_version(void);

/* A kernel that a plan may choose. */
typedef struct {
  const char* operation;   /* gemm, attention, softmax, layernorm, rotary */
  const char* code_object; /* a file in PREFIX/lib/margay/kernels */
  const char* kernel;      /* its symbol there */
  unsigned block_x;        /* work-items of a workgroup */
  size_t arguments_size;   /* bytes */
} margay_kernels_kernel;

/* All of them. */
MARGAY_KERNELS_API const margay_kernels_kernel* margay_kernels_list(size_t* count);

/* A step of the ladder of GEMM kernels (kernels/gemm/ladder.h). */
typedef struct {
  int number;
  const char* name; /* one_wave: kernels/gemm/level01_one_wave */
  const char* idea;
  int block_m, block_n, step_k; /* m, n and k are multiples of these, except of the last step */
  unsigned threads;
  int multiplies_ab;  /* 1: B may be stored k x n */
  int multiplies_abt; /* 1: B may be stored n x k */
} margay_kernels_level;

/* All of them in ascending order, from number 1; the last is the fast kernel. */
MARGAY_KERNELS_API const margay_kernels_level* margay_kernels_levels(size_t* count);

#define MARGAY_KERNELS_MAX_ARGUMENTS 256

/* A launch. */
typedef struct {
  const char* code_object; /* NULL: the result has no elements, and nothing is to be launched */
  const char* kernel;
  unsigned grid[3];     /* workgroups */
  unsigned block[3];    /* work-items */
  unsigned dynamic_lds; /* bytes */
  size_t arguments_size;
  unsigned char arguments[MARGAY_KERNELS_MAX_ARGUMENTS]; /* the kernel's parameters in memory */
} margay_kernels_launch;

/* The launch of an operation for a problem: NULL, or why there is none ("FIELD: what is wrong with
 * it"), which is valid until the thread's next call.
 *
 * A problem is the members of Problem in the operation's plan.h, as "m=256 n=256 beta=0.5"; those
 * left out keep their value there. Addresses are numbers, bool is 0 or 1, output and type are bf16
 * or f32. A layout is batch_sequence_heads or batch_heads_sequence; attention has one for all of
 * its tensors, layout, and one for each, layout_q, layout_k, layout_v, layout_o. gemm has level in
 * addition, 1 to 13: a step of the ladder instead of the fast kernel. */
MARGAY_KERNELS_API const char* margay_kernels_plan(const char* operation, const char* problem,
                                                   margay_kernels_launch* launch);

/* Whether there is a kernel for a problem of these numbers, wherever its tensors are: NULL, or why
 * not. For asking before memory is allocated or copied. */
MARGAY_KERNELS_API const char* margay_kernels_check(const char* operation, const char* problem);

#ifdef __cplusplus
}
#endif

#endif
