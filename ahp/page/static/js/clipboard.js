// The clipboard.

/** How much a program may copy, in characters of base64. */
const maxCopy = 1 << 20;

/** readPaste returns what the clipboard has. The browser may ask the person first. */
export function readPaste() { return navigator.clipboard.readText(); }

/**
 * copyFromProgram does what OSC 52 asks for, and returns what to tell; "": nothing was done. Nothing
 * is ever read.
 * @param {string} data
 */
export async function copyFromProgram(data) {
  const cut = data.indexOf(';'), encoded = data.slice(cut + 1);
  if (cut < 0 || encoded === '?' || encoded.length > maxCopy) return '';
  try {
    const bytes = Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0));
    const text = new TextDecoder().decode(bytes);
    await navigator.clipboard.writeText(text);
    return `The program has copied ${text.length} characters.`;
  } catch {
    return '';
  }
}
