// Functions that need a GPU. They are declared so that using one is an error with its name and line, never a wrong
// result.
#pragma once

#include <hipshared/errors.h>

#define HIPCPU_GPU_ONLY(result, name) \
  template <class... Args>            \
  __attribute__((error(#name " runs on a GPU only"))) result name(Args&&...);

#define HIPCPU_GPU_ONLY_TYPE(name)                                      \
  struct name {                                                         \
    __attribute__((error(#name " runs on a GPU only"))) name(...);      \
    template <class T>                                                  \
    __attribute__((error(#name " runs on a GPU only"))) operator T() const; \
  };

// Handles can be declared, but not used.
typedef struct hipcpu_no_graph* hipGraph_t;
typedef struct hipcpu_no_graph_exec* hipGraphExec_t;
typedef struct hipcpu_no_graph_node* hipGraphNode_t;
typedef struct hipcpu_no_module* hipModule_t;
typedef struct hipcpu_no_function* hipFunction_t;
typedef struct hipcpu_no_array* hipArray_t;
typedef struct hipcpu_no_texture* hipTextureObject_t;
typedef struct hipcpu_no_surface* hipSurfaceObject_t;

HIPCPU_GPU_ONLY_TYPE(hipResourceDesc)
HIPCPU_GPU_ONLY_TYPE(hipTextureDesc)
HIPCPU_GPU_ONLY_TYPE(hipKernelNodeParams)
HIPCPU_GPU_ONLY_TYPE(hipMemcpy3DParms)

enum hipStreamCaptureMode {
  hipStreamCaptureModeGlobal,
  hipStreamCaptureModeThreadLocal,
  hipStreamCaptureModeRelaxed,
};

#define HIPCPU_GPU_ONLY_CALLS(X)                                                                      \
  X(hipGraphCreate) X(hipGraphDestroy) X(hipGraphInstantiate) X(hipGraphInstantiateWithFlags)         \
  X(hipGraphLaunch) X(hipGraphUpload) X(hipGraphClone) X(hipGraphAddKernelNode)                       \
  X(hipGraphAddMemcpyNode) X(hipGraphAddMemcpyNode1D) X(hipGraphAddMemsetNode) X(hipGraphAddHostNode) \
  X(hipGraphAddEmptyNode) X(hipGraphAddDependencies) X(hipGraphExecDestroy) X(hipGraphExecUpdate)     \
  X(hipGraphGetNodes) X(hipStreamBeginCapture) X(hipStreamEndCapture) X(hipStreamIsCapturing)         \
  X(hipModuleLoad) X(hipModuleLoadData) X(hipModuleLoadDataEx) X(hipModuleUnload)                     \
  X(hipModuleGetFunction) X(hipModuleGetGlobal) X(hipModuleLaunchKernel) X(hipExtLaunchKernel)        \
  X(hipExtModuleLaunchKernel) X(hipMallocArray) X(hipMalloc3DArray) X(hipFreeArray) X(hipMalloc3D)    \
  X(hipMemcpy3D) X(hipMemcpy3DAsync) X(hipMemcpyToArray) X(hipMemcpyFromArray) X(hipMemcpy2DToArray)  \
  X(hipMemcpy2DFromArray) X(hipCreateTextureObject) X(hipDestroyTextureObject) X(hipBindTexture)      \
  X(hipBindTexture2D) X(hipBindTextureToArray) X(hipUnbindTexture) X(hipCreateSurfaceObject)          \
  X(hipDestroySurfaceObject) X(hipLaunchCooperativeKernelMultiDevice) X(hiprtcCreateProgram)          \
  X(hiprtcCompileProgram)

#define HIPCPU_GPU_ONLY_CALL(name) HIPCPU_GPU_ONLY(hipError_t, name)
HIPCPU_GPU_ONLY_CALLS(HIPCPU_GPU_ONLY_CALL)
#undef HIPCPU_GPU_ONLY_CALL
#undef HIPCPU_GPU_ONLY_CALLS

#define HIPCPU_GPU_ONLY_READS(X)                                                                  \
  X(tex1D) X(tex1Dfetch) X(tex1DLod) X(tex2D) X(tex2DLod) X(tex2DGrad) X(tex3D) X(texCubemap)     \
  X(tex1DLayered) X(tex2DLayered) X(tex2Dgather) X(surf1Dread) X(surf1Dwrite) X(surf2Dread)       \
  X(surf2Dwrite) X(surf3Dread) X(surf3Dwrite)

#define HIPCPU_GPU_ONLY_READ(name)                                                                     \
  template <class T = float, class... Args>                                                            \
  __attribute__((error(#name " runs on a GPU only"))) T name(Args&&...);
HIPCPU_GPU_ONLY_READS(HIPCPU_GPU_ONLY_READ)
#undef HIPCPU_GPU_ONLY_READ
#undef HIPCPU_GPU_ONLY_READS
