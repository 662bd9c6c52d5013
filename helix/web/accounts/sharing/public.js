// An answer by a public link, for anybody. The secret stands behind the # of the address, which
// reaches no server.
import { dateOf } from "../../dates.js";
import { Prose } from "../../markdown.js";
import { request } from "../requests.js";

const part = (id) => document.getElementById(id);

addEventListener("hashchange", show);
await show();

async function show() {
  const link = new URLSearchParams(location.hash.slice(1)).get("link") ?? "";
  part("problem").hidden = true;
  try {
    const { messages: [message] } = await request("POST", "/v1/public/look", { link });
    part("question").textContent = message.question;
    document.title = `${message.question} – Helix`;
    // markers lead to sources, of which none is here
    new Prose(part("answer")).finish((message.answer ?? "").replace(/ ?\[\d+\]/g, ""));
    part("closed").textContent = closing(message);
  } catch (error) {
    part("answer").replaceChildren();
    part("closed").textContent = "";
    part("problem").textContent = error.status === 404 || error.status === 400 ? "This link has ended, or was taken back." : error.message;
    part("problem").hidden = false;
  }
}

function closing({ answer, closed_sources: closed, created_at: at, imported }) {
  const day = `Answered on ${dateOf(at)}.`;
  if (!answer) return "The answer’s words are not here any more.";
  if (imported) return "Imported: not proven by Helix.";
  return closed ? `${day} It rests on ${closed} ${closed === 1 ? "source" : "sources"}, which you may not open here.` : day;
}
