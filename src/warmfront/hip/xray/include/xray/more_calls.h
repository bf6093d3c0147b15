// Host functions that the CPU runtime lacks: graphs and modules. They do not affect the code of a kernel, so they
// are declared by name only, and their arguments are not checked.
#pragma once

#include <hipshared/errors.h>

typedef struct xray_graph* hipGraph_t;
typedef struct xray_graph_exec* hipGraphExec_t;
typedef struct xray_graph_node* hipGraphNode_t;
typedef struct xray_module* hipModule_t;
typedef struct xray_function* hipFunction_t;

enum hipStreamCaptureMode {
  hipStreamCaptureModeGlobal,
  hipStreamCaptureModeThreadLocal,
  hipStreamCaptureModeRelaxed,
};

#define XRAY_CALL(name)    \
  template <class... Args> \
  hipError_t name(Args&&...);
XRAY_CALL(hipGraphCreate)
XRAY_CALL(hipGraphDestroy)
XRAY_CALL(hipGraphInstantiate)
XRAY_CALL(hipGraphInstantiateWithFlags)
XRAY_CALL(hipGraphLaunch)
XRAY_CALL(hipGraphUpload)
XRAY_CALL(hipGraphClone)
XRAY_CALL(hipGraphAddKernelNode)
XRAY_CALL(hipGraphAddMemcpyNode)
XRAY_CALL(hipGraphAddMemcpyNode1D)
XRAY_CALL(hipGraphAddMemsetNode)
XRAY_CALL(hipGraphAddEmptyNode)
XRAY_CALL(hipGraphAddDependencies)
XRAY_CALL(hipGraphExecDestroy)
XRAY_CALL(hipGraphGetNodes)
XRAY_CALL(hipStreamBeginCapture)
XRAY_CALL(hipStreamEndCapture)
XRAY_CALL(hipStreamIsCapturing)
XRAY_CALL(hipModuleLoad)
XRAY_CALL(hipModuleLoadData)
XRAY_CALL(hipModuleUnload)
XRAY_CALL(hipModuleGetFunction)
XRAY_CALL(hipModuleLaunchKernel)
#undef XRAY_CALL
