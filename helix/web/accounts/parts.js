// What the views for people and spaces share.
//
//   const session = useSession(true)          who signed in: { person, tenant, role, … }; null until it is known
//   <${Choice} value=${role} options=${ROLES} label="Role of Ada" onChange=${f} />      f gets the value
//   <${Secret} link=${link} about="…" />       told once, to be copied
import { Button, copyText, toast } from "../components.js";
import { html, useEffect, useState } from "../html.js";
import { request } from "./requests.js";

export function useSession(wanted = true) {
  const [session, setSession] = useState(null);
  useEffect(() => {
    if (wanted) request("GET", "/v1/session").then(setSession, () => {});
  }, [wanted]);
  return session;
}

export const Choice = ({ value, options, label, onChange, ...rest }) => html`<select aria-label=${label} value=${value} onChange=${(event) => onChange(event.target.value)} ...${rest}>
  ${options.map((one) => html`<option key=${one} value=${one} selected=${one === value}>${one}</option>`)}</select>`;

export function Secret({ link, about }) {
  const copy = async () => toast((await copyText(link)) ? "Copied" : "Select the link and copy it");
  return html`<div class="account-secret" role="status"><p>${about}</p><p><code>${link}</code></p><${Button} icon="copy" onClick=${copy}>Copy the link</></div>`;
}
