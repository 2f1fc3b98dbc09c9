import { expect } from "vitest";
import { type Behaviour, callTool } from "../behaviour.js";

const template = "shelf:/verne/die%20Reise";

/**
 * Notifications of a server when something changes.
 * https://modelcontextprotocol.io/specification/latest/basic/patterns/subscriptions
 */
export const changes: readonly Behaviour[] = [
  {
    name: "a list that changes is told, with what is listed then",
    async run(driver) {
      const filter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      const following = await driver.follow(filter);
      for (const list of ["tools", "prompts", "resources"]) {
        await callTool(driver, "change", { list });
        expect(await following.next()).toBe(list);
      }
      const descriptionOf = async (): Promise<unknown> =>
        (await driver.list("tools/list")).find(({ name }) => name === "changing")?.description;
      const before = await descriptionOf();
      await callTool(driver, "change", { list: "tools" });
      expect(await following.next()).toBe("tools");
      expect(await descriptionOf()).not.toBe(before);
      await following.close();
    },
  },
  {
    name: "a resource that changes is told to who has subscribed to it, until they have enough",
    async run(driver) {
      const following = await driver.follow({ resourceSubscriptions: ["note:/static", template] });
      expect(following.resources).toEqual(["note:/static", template]);
      await callTool(driver, "touch", { uri: "note:/bytes" });
      for (const uri of ["note:/static", template, "note:/static"]) {
        await callTool(driver, "touch", { uri });
        expect(await following.next()).toBe(uri);
      }
      await following.close();
      await callTool(driver, "touch", { uri: "note:/static" });
      await driver.ping();
      expect(driver.told()).toEqual([]);
    },
  },
  {
    name: "of a resource that does not exist nothing is told",
    async run(driver) {
      const following = await driver.follow({ resourceSubscriptions: ["note:/nothing", "note:/static"] });
      expect(following.resources).toEqual(["note:/static"]);
      await callTool(driver, "touch", { uri: "note:/nothing" });
      await callTool(driver, "touch", { uri: "note:/static" });
      expect(await following.next()).toBe("note:/static");
      await following.close();
    },
  },
];
