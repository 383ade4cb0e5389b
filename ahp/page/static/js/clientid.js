// This tab's name towards the host. It outlives a reload, so that the keyboard is still held, and is
// not shared with a duplicate of the tab, whose sessionStorage is a copy.

const stored = 'termhost.client';

/**
 * clientId returns it.
 * @param {boolean} again Whether the tab is logged in as before: a name belongs to who has used it first.
 * @returns {Promise<string>}
 */
export async function clientId(again) {
  const old = sessionStorage.getItem(stored);
  if (again && old && await take(old)) return old;
  const id = 'page-' + Array.from(crypto.getRandomValues(new Uint8Array(6)),
    (b) => b.toString(16).padStart(2, '0')).join('');
  sessionStorage.setItem(stored, id);
  await take(id);
  return id;
}

/**
 * take holds a lock until the tab ends; false: another tab has it.
 * @param {string} id
 * @returns {Promise<boolean>}
 */
function take(id) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    void navigator.locks.request(`termhost ${id}`, { ifAvailable: true }, (lock) => {
      resolve(!!lock);
      return lock ? new Promise(() => {}) : undefined;
    });
  });
}
