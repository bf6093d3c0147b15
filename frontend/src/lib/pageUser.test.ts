import { beforeEach, describe, expect, it, vi } from "vitest";

describe("the user of the page", () => {
  beforeEach(() => {
    const values = new Map<string, string>();
    const storage = {
      getItem: (name: string) => values.get(name) ?? null,
      setItem: (name: string, value: string) => void values.set(name, value),
      removeItem: (name: string) => void values.delete(name),
    };
    vi.stubGlobal("localStorage", storage);
    vi.stubGlobal("sessionStorage", storage);
    vi.resetModules();
  });

  it("is the first one that the service names, even if another signs in later", async () => {
    const { lastUser, pageUser, setPageUser } = await import("./pageUser");
    expect([pageUser(), lastUser()]).toEqual([null, "local"]);
    setPageUser("ada");
    setPageUser("bob");
    expect([pageUser(), lastUser()]).toEqual(["ada", "ada"]);
  });

  it("is remembered for the drafts of the next visit", async () => {
    (await import("./pageUser")).setPageUser("ada");
    vi.resetModules();
    const { ofUser, pageUser } = await import("./pageUser");
    expect(pageUser()).toBeNull();
    expect(ofUser("warmfront.code.relu.float32")).toBe("warmfront.code.relu.float32@ada");
  });

  it("keeps the names of the local user as they were", async () => {
    const { ofUser } = await import("./pageUser");
    expect(ofUser("warmfront.run.relu")).toBe("warmfront.run.relu");
  });
});
