// Names of the protocol (AHP) and of termhost's extensions to it.

export const rootURI = 'ahp-root://';

/** @param {string} name NAME, or HOST/NAME. */
export const terminalURI = (name) => name.includes('/') ? `ahp-terminal://${name}` : `ahp-terminal:/${name}`;

/** The code of the error that a terminal of that NAME exists. */
export const terminalExists = -32010;
/** The code of the error that a terminal's host is silent. */
export const hostSilent = -32012;

/**
 * Flow control: the host sends at most so much beyond what has been acknowledged, and no more than the
 * line carries. It is acknowledged when there are so many bytes, or after so many milliseconds.
 */
export const ack = {
  capability: 'termhost/ack', method: 'termhost/ack', window: 384 << 10, every: 64 << 10, within: 50,
};

/** That a terminal's screen is wanted first, and the rest when it is asked for. */
export const screenFirst = 'termhost/screenFirst';
/** What begins the output that draws a terminal anew: ahp.ClearScreen. */
export const clearScreen = '\x1b[2J\x1b[3J\x1b[H';

/** What programs copy, which is told to the holder of a terminal. */
export const clipboard = 'termhost/clipboard';

/** That somebody has ended this page's view of a terminal. */
export const unsubscribed = 'termhost/unsubscribed';

/** Who asks for the keyboard, which is told to the holder of a terminal, too. */
export const asked = 'termhost/asked';

/** What agents want to type into a guarded terminal, which is told to those who decide. */
export const asks = 'termhost/asks';
/** That a yes to all has ended, which is told to the same. */
export const trustOver = 'termhost/trustOver';

/** A picture that a program has drawn; the page says by it that it draws such. */
export const picture = 'termhost/picture';

/** Which terminals belong together. */
export const grouped = 'termhost/groups';

/** The hosts of the fleet. */
export const fleetHosts = 'termhost/hosts';

/** What the person looks at, which the host is told. */
export const looking = 'termhost/looking';
/** What wants them, which it tells. */
export const wanting = 'termhost/wanting';

/**
 * utf8Length returns how many bytes of UTF-8 a text has.
 * @param {string} text
 */
export function utf8Length(text) {
  let n = text.length;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x80) continue;
    n += c < 0x800 || c >= 0xd800 && c < 0xe000 ? 1 : 2; // a pair of surrogates has 4 bytes
  }
  return n;
}
