import { expect, it } from "vitest";
import type { AcceptedEvent } from "../../lib/generated";
import { receiptFacts } from "./receiptFacts";

const receipt = { compiler: "g++ 12", sandbox: "docker", source_sha256: "ab" };

function accepted(fields: object): AcceptedEvent {
  return { receipt, ...fields } as unknown as AcceptedEvent;
}

it("names the key and the machine", () => {
  const machine = { cpu: "EPYC", cores: 2, memory_bytes: 1, kernel: "6.1", gpu: "MI300X" };
  const facts = receiptFacts(accepted({ receipt: { ...receipt, machine }, signed_receipt: '{"key_id":"ed25519-1"}' }));
  expect(facts).toContainEqual(["Machine", "MI300X, EPYC, 2 cores, Linux 6.1"]);
  expect(facts).toContainEqual(["Signed with", "ed25519-1"]);
});

it("leaves out what an older release did not record", () => {
  const names = receiptFacts(accepted({})).map(([name]) => name);
  expect(names).toEqual(["Compiler", "Sandbox", "Source, SHA-256"]);
});

it("survives a text that is not a receipt", () => {
  expect(receiptFacts(accepted({ signed_receipt: "{" })).map(([name]) => name)).not.toContain("Signed with");
});
