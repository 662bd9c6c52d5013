// Sharing an answer or a conversation, where people sign in; elsewhere nothing of it is there.
//
//   const sharing = useSharing({ conversation, message, name })     message null: the whole conversation
//   sharing.may          whether there is a button to be shown
//   sharing.open()       the dialog, which is loaded once somebody wants it
//   ${sharing.dialog}    where nothing around it is hidden
import { toast } from "../../components.js";
import { html, useState } from "../../html.js";
import { useAbout } from "../../shell/about.js";
import { session, useStore } from "../../store.js";

export function useSharing({ conversation, message = null, name }) {
  const [shown, setShown] = useState(null);
  const { auth } = useAbout();
  const { key } = useStore(session);
  const may = auth === "accounts" && !key && Boolean(conversation);
  const open = () => import("./dialog.js").then(
    ({ ShareDialog }) => setShown({ component: ShareDialog }),
    () => toast("This part of the page did not load"),
  );
  const dialog = shown && html`<${shown.component} conversation=${conversation} message=${message} name=${name} onClose=${() => setShown(null)} />`;
  return { may, open, dialog };
}
