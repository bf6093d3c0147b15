/** Cases of the author's own: read the form, and the list that is stored in the browser. */
import type { CaseParameter, OwnCase } from "../../lib/generated";

export const MAX_OWN_CASES = 8;

export type OwnCaseValue = OwnCase["values"][string];

/** What a field of the form accepts, for its hint and its error. */
export function allowedText({ kind, low, high, step, shape }: CaseParameter): string {
  if (kind === "shape") return `sizes such as 2x3x4, at most ${group(high ?? 0)} elements`;
  if (kind === "dimension") return `a dimension of ${shape ?? "the shape"}, from 0`;
  const steps = step > 1 ? `, in steps of ${step}` : "";
  return `${kind === "size" ? "a whole number" : "a number"} from ${group(low ?? 0)} to ${group(high ?? 0)}${steps}`;
}

/** The case of a filled form, or an error per field. The service validates it again, with the sizes together. */
export function readForm(
  parameters: readonly CaseParameter[],
  fields: Readonly<Record<string, string>>,
  style: string,
): { ownCase: OwnCase; errors: null } | { ownCase: null; errors: Record<string, string> } {
  const errors: Record<string, string> = {};
  const values: OwnCase["values"] = {};
  for (const parameter of parameters) {
    const text = (fields[parameter.name] ?? "").trim();
    const value = readValue(parameter, text);
    if (value === null) errors[parameter.name] = `${text === "" ? "Empty" : `“${text}”`}; allowed: ${allowedText(parameter)}.`;
    else values[parameter.name] = value;
  }
  return Object.keys(errors).length > 0 ? { ownCase: null, errors } : { ownCase: { values, style }, errors: null };
}

function readValue(parameter: CaseParameter, text: string): OwnCaseValue | null {
  const { kind, low, high } = parameter;
  if (kind === "shape") return /^\d+(\s*[x×,]\s*\d+)*$/.test(text) ? text.split(/[x×,]/).map(Number) : null;
  const isNumber = kind === "number" ? text !== "" && Number.isFinite(Number(text)) : /^\d+$/.test(text);
  const value = Number(text);
  return isNumber && value >= (low ?? 0) && (kind !== "number" || value <= (high ?? Infinity)) ? value : null;
}

/** The name of a case, as the results call it. */
export function caseName({ values, style }: OwnCase): string {
  const texts = Object.entries(values).map(([name, value]) => `${name} = ${Array.isArray(value) ? value.join("x") : value}`);
  return [...texts, style ?? ""].filter((text) => text !== "").join(", ");
}

/** The stored list; an unreadable one is dropped. */
export function parseCases(text: string): OwnCase[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isCase).slice(0, MAX_OWN_CASES) : [];
  } catch {
    return [];
  }
}

function isCase(item: unknown): item is OwnCase {
  return typeof item === "object" && item !== null && "values" in item && typeof item.values === "object" && item.values !== null;
}

function group(value: number): string {
  return value.toLocaleString("en-US");
}
