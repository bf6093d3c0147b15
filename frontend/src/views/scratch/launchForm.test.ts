import { expect, test } from "vitest";
import { findKernels } from "./kernelParameters";
import { argumentFields, fieldsOf, NEW_LAUNCH, parseFields, readLaunch, TYPED } from "./launchForm";

const SOURCE = `
// __global__ void commented(int x) {}
template <class T> __global__ void generic(T* x) {}
__global__ __launch_bounds__(256) void scale(const float* __restrict__ in, float *out, const float factor, std::size_t n) {
}
__global__ void empty() {}
`;
const [SCALE] = findKernels(SOURCE);

test("kernels and their parameters are found, templates and comments are not", () => {
  expect(findKernels(SOURCE).map(({ name }) => name)).toEqual(["scale", "empty"]);
  expect(SCALE?.parameters).toEqual([
    { name: "in", type: "float", isPointer: true, isConst: true },
    { name: "out", type: "float", isPointer: true, isConst: false },
    { name: "factor", type: "float", isPointer: false, isConst: true },
    { name: "n", type: "size_t", isPointer: false, isConst: false },
  ]);
});

test("a filled form is a launch, and back", () => {
  if (SCALE === undefined) throw new Error("no kernel");
  const typed = { ...argumentFields(NEW_LAUNCH, { name: "in", type: "float", isPointer: true, isConst: true }), fill: TYPED, values: "1, 2.5" };
  const fields = { ...NEW_LAUNCH, kernel: "scale", block: "16x16", arguments: { in: typed } };
  const { launch } = readLaunch(fields, SCALE);
  expect(launch).toEqual({
    kernel: "scale",
    grid: [4],
    block: [16, 16],
    shared_bytes: 0,
    arguments: [{ count: 1024, values: [1, 2.5] }, { count: 1024, fill: "uninitialized" }, { value: 1 }, { value: 1024 }],
  });
  if (launch !== null) expect(readLaunch(fieldsOf(launch, [SCALE]), SCALE).launch).toEqual(launch);
});

test.each([
  ["grid", "0"],
  ["grid", "1x2x3x4"],
  ["block", "wide"],
  ["shared", "-1"],
])("%s = '%s' is an error that names the value", (field, text) => {
  if (SCALE === undefined) throw new Error("no kernel");
  const { errors } = readLaunch({ ...NEW_LAUNCH, [field]: text }, SCALE);
  expect(errors?.[field]).toContain(`“${text}”`);
});

test("stored fields that cannot be read are dropped", () => {
  expect(parseFields("{")).toEqual(NEW_LAUNCH);
  expect(parseFields("null")).toEqual(NEW_LAUNCH);
});
