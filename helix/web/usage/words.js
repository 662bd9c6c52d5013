// The words of a row of usage.
//
//   nameOf(row)     the person, or the key that is nobody's token
//   costOf(row)     "$0.0012"; with a plus where calls are left out whose price is not known
export const counted = (n) => n.toLocaleString("en");

export function nameOf({ person, email, key_id: number, key }) {
  if (person) return person === email ? email : `${person} (${email})`;
  return number ? `${key || "API key"} (key ${number})` : "Everybody";
}

export const spaceOf = ({ space, space_id: number }) => (number === null ? "All spaces" : space ?? `Space ${number}, deleted`);

export const dollars = (amount) => `$${amount.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: amount < 1 ? 4 : 2 })}`;

export function costOf({ cost_usd: cost, unpriced, calls }) {
  if (!calls || unpriced === calls) return calls ? "not known" : "";
  return `${dollars(cost)}${unpriced ? "+" : ""}`;
}
