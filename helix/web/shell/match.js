// How well a name fits what was typed: its letters in their order, better at the starts of words.
//
//   ranked([{ name, hint }], "set")     those that fit, the best first, each with `at`: the places
//                                       in its name that were typed
const START = /(^|[\s/_.-])$/;

export function ranked(list, typed) {
  const letters = folded(typed).replace(/\s+/g, "");
  if (!letters) return list.map((one) => ({ ...one, at: [] }));
  return list
    .map((one) => ({ ...one, ...fitOf(one, letters) }))
    .filter((one) => one.score > 0)
    .sort((a, b) => b.score - a.score);
}

// Its name, and at half the worth the words beside the name.
function fitOf({ name, hint = "" }, letters) {
  const own = fit(folded(name), letters);
  if (own.score) return own;
  return { score: fit(folded(hint), letters).score / 2, at: [] };
}

// As it stands in the text counts most, then at a word's start, then letter by letter within a word.
function fit(text, letters) {
  const whole = text.replace(/\s/g, "").includes(letters) ? text.indexOf(letters[0]) : -1;
  const at = [];
  let score = whole < 0 ? 0 : letters.length;
  let from = placeOf(text, letters);
  for (const letter of letters) {
    let place = text.indexOf(letter, from);
    while (place > from && !START.test(text.slice(0, place)) && !/^\S+$/.test(text.slice(at.at(-1), place))) place = text.indexOf(letter, place + 1);
    if (place < 0) return { score: 0, at: [] };
    score += 1 + (START.test(text.slice(0, place)) ? 2 : 0) + (at.at(-1) === place - 1 ? 2 : 0);
    at.push(place);
    from = place + 1;
  }
  return { score: score - text.length / 1000, at };
}

// Where to begin: where the text has what was typed as a whole, else at its start.
const placeOf = (text, letters) => Math.max(text.indexOf(letters), 0);

// Lower case, without accents; one letter stays one letter, so that places are those of the name.
function folded(text) {
  return [...text].map((letter) => letter.normalize("NFD")[0].toLowerCase()[0]).join("");
}
