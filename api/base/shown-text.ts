/**
 * Text that other people see: which names a person may take, when two are the same, and how foreign
 * text is written to a terminal. Rules I67 to I71 (api/RULES.md).
 */

/** A format of JSON Schema: text that a name may have, on one line. Rules I67, I70. */
export const SHOWN_TEXT = 'shown-text';
/** A format of JSON Schema: a name that a person may take. Rule I51. */
export const PERSON_NAME = 'person-name';

/**
 * Invisible characters, and characters that change how the text around them is shown: controls,
 * bidi and zero-width characters, line ends, fillers. Variation selectors, which choose the look of
 * a character, are not included.
 */
const UNSEEN =
  /[\p{C}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\u034f|\u17b4|\u17b5|\u180b|\u180c|\u180d/u;
const BLANK_ENDS = /^\s|\s$/;
const VARIATION_SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
const UUID_SHAPE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function isShownText(text: string): boolean {
  return !UNSEEN.test(text);
}

/**
 * A person is looked up by id or by name, so no name may have the form of an id. Clients take `..`
 * of a path away.
 */
export function isPersonName(text: string): boolean {
  if (!isShownText(text) || BLANK_ENDS.test(text)) return false;
  const shown = sameName(text);
  return shown.length >= 2 && shown !== '..' && !UUID_SHAPE.test(shown);
}

/** Equal for names that people take for the same: by NFKC, case, and how wide blanks are. */
export function sameName(name: string): string {
  const shown = name.replaceAll(VARIATION_SELECTORS, '').normalize('NFKC');
  // Both ways, since some small letters have a capital of two letters.
  const folded = shown.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
  return folded.replaceAll(/\s+/g, ' ').trim();
}

/** Characters that a terminal takes for a command, or that reorder the text. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060-\u2064\ufeff]/gu;
/** The ones among them that JSON leaves as they are. */
const CONTROLS_IN_JSON = /[\x7f-\x9f\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060-\u2064\ufeff]/gu;

/** Foreign text, with a mark in place of each character that a terminal must not get. */
export function plain(text: string): string {
  return text.replaceAll(CONTROLS, '\ufffd');
}

/** The longest word of an error that is shown whole: paths and addresses are shorter. */
const WORD_MAX = 300;
const LONG_WORDS = new RegExp(`\\S{${WORD_MAX + 1},}`, 'g');

/** An error repeats what was typed, and nobody reads a word of thousands of characters. */
export function shortened(text: string): string {
  return text.replaceAll(LONG_WORDS, (word) => `${word.slice(0, WORD_MAX)}…`);
}

/** A value as JSON text for a terminal or a script; its meaning is unchanged for every parser. */
export function jsonText(value: unknown, indent = 0): string {
  return plainJson(JSON.stringify(value, null, indent));
}

/** JSON text with the same meaning, in which these characters are escaped. */
export function plainJson(json: string): string {
  return json.replaceAll(CONTROLS_IN_JSON, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
