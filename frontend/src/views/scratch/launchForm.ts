/** The form of a launch: its fields as typed, and the request that they make. */
import type { LaunchArgument, LaunchRequest } from "../../lib/generated";
import type { KernelDeclaration, KernelParameter } from "./kernelParameters";

export const FILLS = ["random", "index", "zeros", "ones", "uninitialized"] as const;
/** The fill whose values the author types. */
export const TYPED = "values…";

export interface ArgumentFields {
  count: string;
  fill: string;
  values: string;
  value: string;
}

/** The fields by name of the parameter, so that they survive changes of the source. */
export interface LaunchFields {
  kernel: string;
  grid: string;
  block: string;
  shared: string;
  arguments: Record<string, ArgumentFields>;
}

export const NEW_LAUNCH: LaunchFields = { kernel: "", grid: "4", block: "256", shared: "0", arguments: {} };

export function argumentFields(fields: LaunchFields, { name, isPointer, isConst, type }: KernelParameter): ArgumentFields {
  const isSize = !isPointer && /int|size_t|long|short|unsigned/.test(type);
  const defaults = { count: "1024", fill: isConst ? "random" : "uninitialized", values: "", value: isSize ? "1024" : "1" };
  const stored = fields.arguments[name] ?? defaults;
  return isConst && stored.fill === "uninitialized" ? { ...stored, fill: "random" } : stored;
}

export type ReadLaunch = { launch: LaunchRequest; errors: null } | { launch: null; errors: Record<string, string> };

/** The request of a filled form, or an error per field. */
export function readLaunch(fields: LaunchFields, kernel: KernelDeclaration): ReadLaunch {
  const errors: Record<string, string> = {};
  const grid = readSizes(fields.grid, "grid", errors);
  const block = readSizes(fields.block, "block", errors);
  const shared = /^\d+$/.test(fields.shared.trim()) ? Number(fields.shared) : null;
  if (shared === null) errors.shared = `“${fields.shared}”; allowed: bytes, such as 0 or 4096.`;
  const values = kernel.parameters.map((parameter) => readArgument(parameter, argumentFields(fields, parameter), errors));
  if (Object.keys(errors).length > 0) return { launch: null, errors };
  return { launch: { kernel: kernel.name, grid, block, shared_bytes: shared ?? 0, arguments: values }, errors: null };
}

function readSizes(text: string, field: string, errors: Record<string, string>): number[] {
  const sizes = text.split(/[x×,]/).map((part) => part.trim());
  if (sizes.length > 3 || !sizes.every((size) => /^[1-9]\d*$/.test(size))) {
    errors[field] = `“${text}”; allowed: one to three sizes, such as 4 or 16x16.`;
  }
  return sizes.map(Number);
}

function readArgument(parameter: KernelParameter, typed: ArgumentFields, errors: Record<string, string>): LaunchArgument {
  const { name, isPointer, type } = parameter;
  if (!isPointer) {
    const value = readNumber(typed.value);
    if (value === null) errors[name] = `“${typed.value}”; allowed: a number of type ${type}.`;
    return { value };
  }
  const count = /^[1-9]\d*$/.test(typed.count.trim()) ? Number(typed.count) : null;
  if (count === null) errors[name] = `“${typed.count}”; allowed: the number of elements, at least 1.`;
  if (typed.fill !== TYPED) return { count, fill: typed.fill };
  const values = typed.values.split(/[\s,]+/).filter((text) => text !== "").map(readNumber);
  if (values.length === 0 || values.includes(null)) errors[name] = `“${typed.values}”; allowed: numbers, separated by commas.`;
  return { count, values: values.filter((value) => value !== null) };
}

function readNumber(text: string): number | null {
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : null;
}

export function parseFields(text: string): LaunchFields {
  try {
    const stored = JSON.parse(text) as Partial<LaunchFields> | null;
    return { ...NEW_LAUNCH, ...stored };
  } catch {
    return NEW_LAUNCH;
  }
}

/** The fields of a launch that was sent before. */
export function fieldsOf(launch: LaunchRequest, kernels: readonly KernelDeclaration[]): LaunchFields {
  const kernel = kernels.find(({ name }) => name === launch.kernel);
  const entries = (kernel?.parameters ?? []).map((parameter, index): [string, ArgumentFields] => {
    const { count, fill, values, value } = launch.arguments?.[index] ?? {};
    const hasValues = values !== undefined && values !== null;
    const fields = argumentFields(NEW_LAUNCH, parameter);
    return [
      parameter.name,
      {
        count: String(count ?? fields.count),
        fill: hasValues ? TYPED : (fill ?? fields.fill),
        values: hasValues ? values.join(", ") : "",
        value: String(value ?? fields.value),
      },
    ];
  });
  return {
    kernel: launch.kernel,
    grid: launch.grid.join("x"),
    block: launch.block.join("x"),
    shared: String(launch.shared_bytes ?? 0),
    arguments: Object.fromEntries(entries),
  };
}
