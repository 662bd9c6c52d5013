// Who asks: a tenant, or a key. What was kept in the page for one is not another's.
//
//   onOtherAsker(() => …);
import { session } from "../store.js";

const who = ({ tenant, key }) => `${tenant} ${key}`;

export function onOtherAsker(forget) {
  let asking = who(session.get());
  session.subscribe((state) => {
    if (who(state) === asking) return;
    asking = who(state);
    forget();
  });
}
