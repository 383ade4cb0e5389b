// The clipboard.

/** How much a program may copy, in characters of base64. */
const maxCopy = 1 << 20;

/**
 * readPaste returns what the clipboard has: a text, or pictures. The browser may ask the person first.
 * @returns {Promise<string | File[]>}
 */
export async function readPaste() {
  const text = await navigator.clipboard.readText();
  if (text) return text;
  const pictures = [];
  for (const item of await navigator.clipboard.read()) {
    const type = item.types.find((t) => t.startsWith('image/'));
    if (type) pictures.push(new File([await item.getType(type)], `picture.${type.slice('image/'.length)}`, { type }));
  }
  return pictures.length ? pictures : '';
}

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
