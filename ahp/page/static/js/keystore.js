// IndexedDB, for the one thing that can only be kept there: a key that cannot be read.

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const r = indexedDB.open('termhost', 1);
    r.onupgradeneeded = () => r.result.createObjectStore('keys');
    r.onsuccess = () => resolve(r.result);
    r.onerror = () => reject(r.error);
  });
}

/**
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest} ask
 */
async function request(mode, ask) {
  const db = await open();
  try {
    return await new Promise((resolve, reject) => {
      const r = ask(db.transaction('keys', mode).objectStore('keys'));
      r.onsuccess = () => resolve(r.result);
      r.onerror = () => reject(r.error);
    });
  } finally {
    db.close();
  }
}

// Pages behind different paths of one origin, as a proxy may have them, have keys of their own.
const place = () => new URL('.', document.baseURI).pathname;

/** @param {string} name */
export const get = (name) => request('readonly', (s) => s.get(place() + name));

/**
 * @param {string} name
 * @param {any} value
 */
export const put = (name, value) => request('readwrite', (s) => s.put(value, place() + name));
