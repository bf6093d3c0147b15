/** The main facts of a receipt, as text. */
import type { AcceptedEvent, Machine } from "../../lib/generated";

/** Name and value of each fact that a reader may want to compare. */
export function receiptFacts({ receipt, signed_receipt }: AcceptedEvent): [string, string][] {
  const facts: [string, string | undefined][] = [
    ["Machine", machineText(receipt.machine)],
    ["Compiler", receipt.compiler],
    ["Sandbox", receipt.sandbox],
    ["Source, SHA-256", receipt.source_sha256],
    ["Library, SHA-256", receipt.library_sha256],
    ["Problem revision", receipt.problem_revision],
    ["Seed commitment", receipt.seed_commitment],
    ["Signed with", keyId(signed_receipt)],
  ];
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
}

function machineText(machine: Machine | null | undefined): string {
  if (!machine) return "";
  return `${machine.gpu ? `${machine.gpu}, ` : ""}${machine.cpu}, ${machine.cores} cores, Linux ${machine.kernel}`;
}

/** The id of the key that signed; empty if the text is not a receipt. */
function keyId(signed: string | undefined): string {
  try {
    const receipt = JSON.parse(signed ?? "") as { key_id?: unknown };
    return typeof receipt.key_id === "string" ? receipt.key_id : "";
  } catch {
    return "";
  }
}
