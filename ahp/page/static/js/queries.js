// Programs ask terminals questions: who are you, where is the cursor, what is your background? The
// host answers them once, from its own screen. So xterm.js must not: everything that would make it
// answer is taken out here (xterm ctlseqs).

/** @typedef {import('../vendor/xterm.mjs').Terminal} Terminal */

/** @param {Terminal} term */
export function swallowQueries(term) {
  const p = term.parser;
  const yes = () => true;
  for (const prefix of ['', '>', '=']) {
    p.registerCsiHandler(prefix ? { prefix, final: 'c' } : { final: 'c' }, yes); // DA1, 2, 3
  }
  p.registerCsiHandler({ final: 'n' }, yes); // DSR
  p.registerCsiHandler({ prefix: '?', final: 'n' }, yes); // DECDSR
  p.registerCsiHandler({ intermediates: '$', final: 'p' }, yes); // DECRQM
  p.registerCsiHandler({ prefix: '?', intermediates: '$', final: 'p' }, yes);
  p.registerCsiHandler({ prefix: '>', final: 'q' }, yes); // XTVERSION
  p.registerCsiHandler({ prefix: '?', final: 'u' }, yes); // the kitty keyboard's flags
  p.registerCsiHandler({ final: 't' }, yes); // window reports and operations
  p.registerDcsHandler({ intermediates: '$', final: 'q' }, yes); // DECRQSS
  p.registerDcsHandler({ intermediates: '+', final: 'q' }, yes); // XTGETTCAP
  for (const osc of [4, 5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]) {
    p.registerOscHandler(osc, (data) => data.split(';').includes('?'));
  }
}
