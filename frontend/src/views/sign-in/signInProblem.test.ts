import { expect, it } from "vitest";
import { signInProblem } from "./signInProblem";

it("explains every code in words", () => {
  expect(signInProblem(null)).toBeNull();
  expect(signInProblem("INVITATION_USED")?.title).toBe("The invitation has already been used");
  expect(signInProblem("ISSUER_UNAVAILABLE")?.detail).toContain("API keys work");
});

it("never repeats the text of the address", () => {
  expect(JSON.stringify(signInProblem("<b>call 555</b>"))).not.toContain("555");
});
