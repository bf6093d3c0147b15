/** The kernels of a source and their parameters, for the form of a launch. The service parses the source again. */

export interface KernelParameter {
  name: string;
  type: string;
  isPointer: boolean;
  isConst: boolean;
}

export interface KernelDeclaration {
  name: string;
  parameters: KernelParameter[];
}

const ATTRIBUTE = String.raw`(?:__launch_bounds__\s*\([^)]*\)|__attribute__\s*\(\([^)]*\)\))`;
const KERNEL = new RegExp(String.raw`(template\s*<[^;{]*>\s*)?__global__\s+(?:${ATTRIBUTE}\s*)*void\s+(?:${ATTRIBUTE}\s*)*(\w+)\s*\(([^)]*)\)\s*\{`, "g");
const QUALIFIERS = new Set(["const", "__restrict__", "__restrict", "restrict", "volatile"]);
const TYPE_WORDS = new Set(["unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool"]);

export function findKernels(source: string): KernelDeclaration[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, " ");
  return [...code.matchAll(KERNEL)]
    .filter(([, template]) => template === undefined)
    .map(([, , name = "", list = ""]) => ({ name, parameters: parseParameters(list) }));
}

function parseParameters(list: string): KernelParameter[] {
  if (["", "void"].includes(list.trim())) return [];
  return list.split(",").map((text, index) => {
    const [before = ""] = text.split("*");
    const words = text.replaceAll("std::", "").match(/\w+/g) ?? [];
    const names = words.filter((word) => !QUALIFIERS.has(word));
    const last = names.at(-1) ?? "";
    const isNamed = names.length > 1 && !TYPE_WORDS.has(last);
    return {
      name: isNamed ? last : `argument${index}`,
      type: (isNamed ? names.slice(0, -1) : names).join(" "),
      isPointer: text.includes("*"),
      isConst: /\bconst\b/.test(before),
    };
  });
}
