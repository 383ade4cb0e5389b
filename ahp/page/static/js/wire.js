// Names of the protocol (AHP) and of termhost's extensions to it.

export const rootURI = 'ahp-root://';

/** @param {string} name */
export const terminalURI = (name) => `ahp-terminal:/${name}`;

/** Flow control: the host sends so much beyond what has been acknowledged. */
export const ack = {
  capability: 'termhost/ack', method: 'termhost/ack', window: 384 << 10, every: 64 << 10,
};

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
