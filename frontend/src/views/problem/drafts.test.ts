import { describe, expect, it } from "vitest";
import { choose, parseDraft } from "./drafts";

describe("the code that was typed", () => {
  it("is this tab's own, else the shared one, else the starter", () => {
    const own = { code: "mine", savedMs: 2 };
    const shared = { code: "shared", savedMs: 1 };
    expect(choose(own, shared, "starter").code).toBe("mine");
    expect(choose(null, shared, "starter").code).toBe("shared");
    expect(choose(null, null, "starter").code).toBe("starter");
  });

  it("asks about another tab's only where that is newer and differs", () => {
    const own = { code: "mine", savedMs: 2 };
    expect(choose(own, { code: "theirs", savedMs: 3 }, "").other).toBe("theirs");
    expect(choose(own, { code: "theirs", savedMs: 1 }, "").other).toBeNull();
    expect(choose(own, { code: "mine", savedMs: 3 }, "").other).toBeNull();
  });

  it("is not read from text that is broken or someone else's", () => {
    expect(["{", "null", "3", '{"code":1,"savedMs":2}', null].map(parseDraft)).toEqual([null, null, null, null, null]);
    expect(parseDraft('{"code":"</script>","savedMs":2}')).toEqual({ code: "</script>", savedMs: 2 });
  });
});
