import { expect, test } from "vitest";
import { changeText } from "./auditText";

test("values before and after are shown by name", () => {
  const entry = { before: { draining: false, pinned_until: null }, after: { draining: true, pinned_until: null }, detail: "" };
  expect(changeText(entry)).toBe("draining: no → yes");
});

test("a reason follows the changes", () => {
  expect(changeText({ before: { max_vms: "3" }, after: { max_vms: "1" }, detail: "August" })).toBe("max vms: 3 → 1; August");
  expect(changeText({ before: {}, after: {}, detail: "it has ended" })).toBe("it has ended");
});

test("a new thing has values, not changes", () => {
  const entry = { before: {}, after: { user: "ada", role: "author", team: null }, detail: "" };
  expect(changeText(entry)).toBe("user: ada; role: author");
  expect(changeText({ before: { team: "kernels" }, after: { team: null }, detail: "" })).toBe("team: kernels → –");
});
