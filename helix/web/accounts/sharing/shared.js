// #/shared: what others share with one, and what one shares oneself. #/shared/{id}: one of them, as it
// is now: it changes, and goes, as its author and one's own rights do.
import { Body } from "../../ask/answer.js";
import { panelOf } from "../../ask/cited.js";
import { closePanel, openPanel, panels } from "../../ask/panel.js";
import { Preview } from "../../ask/preview.js";
import { Sources } from "../../ask/sources.js";
import { Icon, Notice, Spinner } from "../../components.js";
import { Imported } from "../../conversations/marks.js";
import { blank, outcome } from "../../conversations/turn.js";
import { Failure, useData } from "../../data.js";
import { dateOf } from "../../dates.js";
import { html, useEffect, useState } from "../../html.js";
import { address } from "../../router.js";
import { useTitle } from "../../shell/title.js";
import { events } from "../../sse.js";
import { useStore } from "../../store.js";
import { Panel } from "../../views/ask.js";
import { request } from "../requests.js";
import { Comments } from "./comments.js";

const AGAIN = 3000; // ms, after a stream that broke off
const STATES = { answering: "It is being answered.", failed: "It was not answered.", stopped: "It was stopped: this is not the whole answer.", interrupted: "This is not the whole answer." };

export default function Shared({ route }) {
  const id = route.rest[0];
  return id ? html`<${One} key=${id} id=${id} />` : html`<${List} />`;
}

// Whether nobody is signed in any more: then the page goes there, and comes back.
function toSignIn({ status }) {
  if (status === 401) location.assign(`/web/sign-in.html?next=${encodeURIComponent(location.pathname + location.hash)}`);
  return status === 401;
}

function List() {
  const { data, error } = useData(() => Promise.all([request("GET", "/v1/shared"), request("GET", "/v1/shares")]).catch((problem) => { toSignIn(problem); throw problem; }), []);
  useTitle("Shared with me");
  const [{ shared = null } = {}, { shares: own = [] } = {}] = data ?? [];
  return html`<div class="page"><h1>Shared with me</h1>
    ${error && html`<${Failure} error=${error} />`}
    ${!shared && !error && html`<${Spinner} label="Loading" />`}
    ${shared && !shared.length && html`<p class="hint">What others share with you will appear here.</p>`}
    ${shared?.length > 0 && html`<${Rows} rows=${shared} />`}
    ${own.length > 0 && html`<h2>Shared by me</h2><${Rows} rows=${own} />`}</div>`;
}

function Rows({ rows }) {
  return html`<ul class="account-list">${rows.map((one) => html`<li key=${one.id} class="account-row">
    <a href=${address("shared", [one.id])}>${one.title || "Untitled"}</a>
    <span class="hint">${[one.author_name, one.message_id === null ? "conversation" : "answer", dateOf(one.created_at), counted(one.comments, "comment")].filter(Boolean).join(" · ")}</span></li>`)}</ul>`;
}

const counted = (n, what) => (n ? `${n} ${what}${n === 1 ? "" : "s"}` : "");

function One({ id }) {
  const [state, setState] = useState({ shared: null, gone: false, error: "", read: 0 });
  const { panel } = useStore(panels);
  const load = async () => {
    try {
      const shared = await request("GET", `/v1/shared/${encodeURIComponent(id)}`);
      setState(({ read }) => ({ shared, gone: false, error: "", read: read + 1 }));
      return true;
    } catch (error) {
      if (toSignIn(error)) return false;
      const gone = [400, 403, 404].includes(error.status);
      if (gone) closePanel();
      setState((now) => ({ ...now, gone, shared: gone ? null : now.shared, error: gone ? "" : error.message }));
      return !gone;
    }
  };
  useOpenPanel(panel, state.shared);
  useEffect(() => {
    const controller = new AbortController();
    follow(id, controller.signal, load);
    return () => controller.abort();
  }, []);
  const { shared, gone, error } = state;
  useTitle(shared ? shared.title : "Shared");
  if (gone) return html`<div class="page"><${Notice} kind="error" title="This is not shared with you, or not any more."><a href=${address("shared")}>What is shared with you</a></></div>`;
  return html`<div class=${`ask ${panel ? "with-panel" : ""}`}><div class="thread"><div class="turns">
    <p class="hint"><a href=${address("shared")}>Shared</a>${shared && (shared.own ? " by you, as its readers see it by their own rights" : ` by ${shared.author}`)}</p>
    <h1 class=${isNamed(shared) ? "shared-title" : "unseen"}>${shared?.title ?? "Shared"}</h1>
    ${!shared && !error && html`<${Spinner} label="Loading" />`}
    ${error && html`<${Notice} kind="error" title="It could not be loaded."><p>${error}</p></>`}
    ${shared?.more && html`<p class="hint">The messages before these are left out.</p>`}
    ${shared?.messages.map((message) => html`<${Message} key=${message.id} message=${message} read=${state.read} />
      <${Comments} key=${`comments ${message.id}`} share=${id} message=${message.id} list=${shared.comments.filter(({ message_id: of }) => of === message.id)} onChanged=${load} />`)}
  </div></div><${Panel} panel=${panel} turn=${null} />
    <${Preview} onOpen=${(passage, chip) => openPanel(panelOf(passage, chip))} /></div>`;
}

// A conversation without a name is called as its first question, which stands below anyway.
const isNamed = (shared) => shared?.kind === "conversation" && shared.title !== shared.messages[0]?.question;

// Escape closes the source that is open, and it closes by itself once it may not be read any more.
function useOpenPanel(panel, shared) {
  useEffect(() => {
    const onKey = (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && panels.get().panel) closePanel();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    const cited = shared?.messages.flatMap(({ citations }) => citations.map(({ document_id: id }) => id)) ?? [];
    if (panel && shared && !cited.includes(panel.documentId)) closePanel();
  }, [shared]);
}

// Each event says that something may have changed; what it is, is read anew. `gone` ends it.
async function follow(id, signal, load) {
  while (!signal.aborted) {
    try {
      const response = await fetch(`/v1/shared/${encodeURIComponent(id)}/events`, { signal, headers: { Accept: "text/event-stream" } });
      if (!response.ok) {
        if (!(await load())) return;
      } else {
        for await (const { event } of events(response.body)) {
          if (signal.aborted || !(await load()) || event === "gone") return;
        }
      }
    } catch {
      if (signal.aborted) return; // else the server is away, and comes back
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

function turnOf(message) {
  return {
    ...blank(), ...outcome(message), id: message.id, local: `s${message.id}`, question: message.question,
    text: message.answer ?? "", answerId: `s${message.id}`, asked: message.created_at,
  };
}

function Message({ message, read }) {
  const turn = turnOf(message);
  const { hidden, closed_sources: closed, status } = message;
  return html`<article class="shared" aria-label=${`Question: ${message.question.slice(0, 80)}`} aria-busy=${status === "answering"}>
    <h2 class="question">${message.question}</h2>
    ${turn.text && html`<${Body} key=${read} turn=${turn} onOpen=${openPanel} />`}
    ${hidden && html`<${Notice}><p>This answer has words of sources that you may not open, so it is not shown.</p></>`}
    ${message.imported && html`<${Imported} />`}
    ${STATES[status] && html`<p class="support-note"><${Icon} name="warn" /><span>${STATES[status]}</span></p>`}
    ${turn.citations.length > 0 && html`<${Sources} turn=${turn} onOpen=${openPanel} />`}
    ${closed > 0 && html`<p class="support-note"><${Icon} name="none" /><span>${counted(closed, "source")} you may not open</span></p>`}
  </article>`;
}
