// A private stack, pushed and popped in a loop.
#include <hip/hip_runtime.h>

__global__ void walk(const int* left, const int* right, int* visited) {
    int stack[64];
    int top = 0;
    stack[top++] = threadIdx.x;
    int count = 0;
    while (top > 0 && count < 1000) {
        const int node = stack[--top];  // finds private-array
        ++count;
        if (left[node] >= 0) stack[top++] = left[node];
        if (right[node] >= 0) stack[top++] = right[node];
    }
    visited[threadIdx.x] = count;
}
