// The clipboard.

/** How much a program may copy, in characters of base64. */
const maxCopy = 1 << 20;

/** readPaste returns what the clipboard has. The browser may ask the person first. */
export function readPaste() { return navigator.clipboard.readText(); }

/**
 * copyFromProgram puts what a program copies (OSC 52) into the clipboard, and returns what to tell;
 * "": nothing was done. Nothing is ever read.
 * @param {string} data In base64.
 */
export async function copyFromProgram(data) {
  if (data.length > maxCopy) return '';
  try {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    const text = new TextDecoder().decode(bytes);
    await navigator.clipboard.writeText(text);
    return `The program has copied ${text.length} characters.`;
  } catch {
    return '';
  }
}
