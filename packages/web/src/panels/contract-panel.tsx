import type { JSX } from "preact";
import { bytesText, count } from "../format.js";
import { Icon } from "../icons.js";
import type { PageContract, PageContractSide } from "../protocol.js";
import { FrameLink, TableHead, useFacts } from "./facts.js";

/** The declared capabilities of client and server, and their use. */
export function ContractPanel(): JSX.Element {
  const contracts = useFacts("contracts") ?? [];
  return (
    <section class="panel" aria-label="Contract" tabIndex={0}>
      {contracts.length === 0 && <p>No session has begun.</p>}
      {contracts.map((contract) => (
        <Contract key={contract.session} contract={contract} isOnly={contracts.length === 1} />
      ))}
    </section>
  );
}

interface ContractOptions {
  readonly contract: PageContract;
  readonly isOnly: boolean;
}

function Contract({ contract, isOnly }: ContractOptions): JSX.Element {
  const { session, client, server, tools } = contract;
  return (
    <article>
      <header>
        {!isOnly && <h2>session {session}</h2>}
        <p>
          {versionsText(contract)} · {count(tools.count, "tool")}, {bytesText(tools.bytes)} of definitions
        </p>
      </header>
      <div class="sides">
        <Side title="client" side={client} />
        <Side title="server" side={server} />
      </div>
    </article>
  );
}

/** The revisions in use: negotiated once, or named by each request. */
function versionsText({ requested, negotiated, versions }: PageContract): string {
  const perVersion = versions.map(([version, requests]) => `${version} in ${count(requests, "request")}`);
  const used = perVersion.length === 0 ? "no request" : perVersion.join(", ");
  if (requested === undefined) return used;
  const answered = negotiated === undefined ? "no version was negotiated" : `the server answered ${negotiated}`;
  return `initialize asked for ${requested}, ${answered} · ${used}`;
}

function Side({ title, side }: { readonly title: "client" | "server"; readonly side: PageContractSide }): JSX.Element {
  const { program, declaredIn, changedIn, capabilities } = side;
  return (
    <table>
      <caption>
        <span class={title}>
          <Icon name={title} /> {title}
        </span>{" "}
        <code>{program ?? "did not say its name"}</code>{" "}
        {declaredIn === undefined ? "declared nothing" : <FrameLink n={declaredIn} />}
        {changedIn.length > 0 && (
          <span class="should">
            {" "}
            <Icon name="should" /> changed in{" "}
            {changedIn.slice(0, 5).map((n) => (
              <FrameLink key={n} n={n} />
            ))}
          </span>
        )}
      </caption>
      <TableHead columns={["capability", "declared", "used", "first use"]} />
      <tbody>
        {capabilities.map((capability) => (
          <Capability key={capability.path} {...capability} />
        ))}
        {capabilities.length === 0 && (
          <tr>
            <td colSpan={4}>no capability</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

type CapabilityOptions = PageContractSide["capabilities"][number];

function Capability({ path, isDeclared, uses, firstUse, undeclaredUse }: CapabilityOptions): JSX.Element {
  const first = undeclaredUse ?? firstUse;
  return (
    <tr>
      <th scope="row">
        <code>{path}</code>
      </th>
      <td>{isDeclared ? "yes" : "no"}</td>
      <td>
        {undeclaredUse !== undefined ? (
          <span class="must">
            <Icon name="must" /> used, not declared
          </span>
        ) : uses === 0 ? (
          <span class="unused">never</span>
        ) : uses === undefined ? (
          <span class="unused">no message would show it</span>
        ) : (
          count(uses, "time")
        )}
      </td>
      <td>{first !== undefined && <FrameLink n={first} />}</td>
    </tr>
  );
}
