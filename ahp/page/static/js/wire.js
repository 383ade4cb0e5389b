// Names of the protocol (AHP) and of termhost's extensions to it.

export { Lost, RPCError } from './rpc.js';

export const rootURI = 'ahp-root://';

/** @param {string} name */
export const terminalURI = (name) => `ahp-terminal:/${name}`;

/** Flow control: the host sends so much beyond what has been acknowledged. */
export const ack = {
  capability: 'termhost/ack', method: 'termhost/ack', window: 384 << 10, every: 64 << 10,
};

/** What programs copy, which is told to the holder of a terminal. */
export const clipboard = 'termhost/clipboard';
