// Package rpc speaks AHP's JSON-RPC to one peer over any message transport.
//
// [Serve] has two goroutines. The reader handles one message after the other. The writer pulls from
// the connection's cursors in the logs ([store.Subscriber]) and writes. Responses take their place
// among the actions, so the peer reads everything in the order in which it happened: once it has
// read the answer to a request, it has read all that came before. A snapshot is taken when the
// answer that carries it is written, and is followed by exactly what it does not contain.
//
// Whatever a peer sends, it gets an answer and causes no panic: what cannot be understood is
// answered with a JSON-RPC error. A peer that does not read costs no memory and holds nobody up: it
// is resynchronised when it reads again, and closed when it reads no byte for a minute.
//
// # Names
//
// Each name termhost/NAME below, of a method, a notification or a key in a _meta, has a second
// form, x-termhost/NAME, with the prefix that AHP reserves for names that are not its own. Both
// mean the same, and initialize announces both. A peer that has sent an x-termhost/ name, in the
// _meta of initialize or reconnect or as a method, is sent such names. The notification
// termhost/proof, which comes before the peer has sent anything, has the first form only.
//
// # Reconnecting with a cursor for each channel
//
// reconnect {clientId, subscriptions: [{channel, lastSeenServerSeq}]}, without a lastSeenServerSeq
// for all, is answered with {channels}, which has each channel once: {kind: "replay", channel,
// actions} with all that has come on that channel after its lastSeenServerSeq, {kind: "snapshot",
// channel, snapshot} where the log is too short or the client has no state (0), or {kind:
// "missing", channel} for one that is gone or not permitted any more. The serverSeq of a channel is
// that of its last action, or the fromSeq of its snapshot if that is newer. A snapshot replaces the
// echoes of actions whose fate the client does not know.
//
// # Output that may wait
//
// A peer that subscribes with delivery {maxLatencyMs} lets output wait for so long, to get it in
// fewer and larger actions: the first after a silence comes at once, and then no more than one in
// that time, unless some 64 KiB have come or anything else is sent to the peer. More than a second
// counts as one. Without it nothing waits on purpose, and only what comes while the peer is behind
// is put into one action.
//
// # Flow control
//
// A peer that subscribes with flowControl {receive: {windowBytes, maximumFrameBytes,
// maximumMessageBytes}} gets the channel as AHP 1.1 has it ("Experimental windowed delivery"): the
// answer has what it is granted, {flowControl: {clientReceive, hostReceive}}, and no snapshot. The
// notifications of the channel, channel/snapshot at first, come as text in pieces, channel/frame
// {channel, data, final?}, and channel/ready follows the snapshot. A message begins while less than
// windowBytes are sent and not consumed; channel/credit {channel, consumedBytes} says what the peer
// has consumed in all, in whole messages. All sizes are those of UTF-16. Other channels and answers
// go on meanwhile. A peer that falls too far behind gets the present state, as any slow one. The
// peer may send notifications of the channel in frames, too, and gets credit for them.
//
// An offer of less than 4 KiB for frames or 1 MiB for messages, or one into which the snapshot does
// not fit, is declined: the answer has the snapshot, and what follows comes as usual. The most that
// is granted is a window of 4 MiB, frames of 64 KiB and messages of 64 MiB. Whoever breaks the
// rules, or sends much and consumes no answers, is sent channel/reset {channel}, which ends the
// subscription, as it does from the peer.
//
// reconnect {..., windows: {items: [{channel, lastAppliedServerSeq?}]}} goes on with such channels,
// which subscriptions has, too: the answer has windows {items: [{channel, flowControl, recovery}]},
// and frames with what was missed ("replay") or a snapshot follow it, and then channel/ready. The
// limits are those of the client's last connection. A channel that has none, because the host was
// started since, or that is gone is among missing instead.
//
// # Terminals of other hosts
//
// Where the host is in a fleet, the root's list has the terminals of all hosts, each with its host
// in _meta.termhost.host. The terminal NAME of the host box2 is ahp-terminal://box2/NAME, and what
// is about it is passed on to box2 and answered there, as if the client were connected to it, with
// the same clientId. createTerminal with _meta.termhost.on, the name or labels of a host, makes one
// there and is answered with {channel}. Of a host that is silent, terminals have
// _meta.termhost.unreachable, since when; requests fail with -32012, actions are rejected with the
// reason, and subscriptions go on when it is back. Of a host that the fleet does not have, nothing
// can be made or followed: that fails with -32008, and data.host names it. serverSeq is the
// connected host's own counter for them, too; what comes after a reconnect follows its answer as
// actions. Package relay says how, and why. Flow control is declined for such terminals, and
// termhost/recordings is about the connected host's own. termhost/looking and what it brings are
// about all.
//
// # What a terminal's log holds
//
// These are requests of termhost's own for any client, each announced by its name in the _meta of
// the answer to initialize. Whoever may read a terminal may send them. channel names the terminal;
// instead, recording names a recording.
//
// termhost/history {channel, from?, before?, maxBytes?, outline?} returns {items, next?, first}. An
// item has at, time and kind, and what belongs to the kind: "data" has data, as viewers got it;
// "resized" has cols and rows; "command" has line, by and startedAt, "finished" durationMs and
// exitCode as well; "gap" has missing and reason, "exited" exitCode. at is a position in the log,
// which stays the same when the host is restarted, and nth is how many items at the same position
// come before, if there are any; from and before are such positions. next is where the rest goes
// on, first where the log begins. An outline is for drawing a timeline: it has no data, and of
// output at most one item per tenth of a second, and the last one.
//
// termhost/screen {channel, at?, items?, scrollback?} returns {at, items, time, cols, rows, data}:
// data draws, on a blank terminal of that size, what the terminal showed at a place of its history.
// The place is behind the first items of the items at position at; without at, it is the end. So a
// client can go to any place without reading what comes before it, and read on from there with
// termhost/history. scrollback is how many lines before the screen are wanted.
//
// termhost/lines {channel, at?, items?, from?, count} returns {at, items, total, truncated, lines}:
// lines of the scrollback and of the screen at that place, with their colours as SGR. A wrapped
// line is one. from is the number of the first line to return; total is how many there are. If they
// are too long together, there are fewer than count. truncated says that lines before the first one
// are gone. As the log loses its beginning, a line's number becomes less, while total minus that
// number stays.
//
// termhost/find {channel, at?, items?, pattern, ignoreCase?} returns {at, items, total, truncated,
// lines, counts, more}: the numbers of those lines that match a regular expression (RE2), and how
// many matches each has; 1 if the expression has an assertion (^, $, \b) or matches empty text.
// There are at most 10,000 matches, and more says that others come before.
//
// termhost/search {pattern, ignoreCase?, channels?} returns {terminals, more, ended}: those of the
// terminals, or of all that there are, with lines in their output that match a regular expression
// (RE2), as `grep` prints them: {channel, count, more, lines: [{time, text}]}. There are at most
// the last 50 lines of each, and count is at most 10,000; more says that there are others. A
// connection has one search at a time: the next one ends it, and it is answered with what it has
// found, and ended. One without a pattern only does that. In a fleet all hosts search, and
// unsearched: [{host, reason}] names those that were to and have not.
//
// termhost/log {channel, form, command?} returns {data, truncated}: the whole log as `log` prints
// it, as "text" or "raw", or as `cast` does, as "cast"; in base64. A recording has "cast" only.
// command is the commandId of one whose output alone is wanted, as "raw".
//
// termhost/recordings {} returns {recordings}, as `recordings --json` prints them.
//
// # Waiting, deciding, and not being sent too much
//
// termhost/wait {channel, for: {exit?, command?, match?, idleMs?, blocked?}, timeoutMs?} is
// answered with {reason, ...} when the first of what it waits for has happened: the terminal has
// exited, a command has ended, a line matches a regular expression (RE2), nothing was printed for
// so long, the program waits for somebody; or the time is up. The line is the first that matches
// and has been shown since the request, a part of it included. 256 waits of a connection may go on,
// and 512 for lines of one key; more are refused with -32011 and limit "waits". A wait ends with
// -32011 and limit "matching" if the terminal prints faster than the key's lines can be looked for:
// wait for fewer at a time, with text in the expression that is always there, or search later. The
// expressions of all waits and searches of one key take 16 MiB of memory together, and those of all
// keys 64; a request beyond that fails with -32011 and limit "patterns". What takes long, here and
// in what reads logs, is done within a budget of CPU time for each key.
//
// What agents want to type into a guarded terminal is in _meta.termhost.asks of its state, the
// first to be decided first, for those who could ever decide, and for the agent itself:
//
//	{ask: "@7", by, since, does, text, secret?, lines?, hidden?, all?}
//
// does is "runs" if the text has an Enter, or another character with which something is run,
// "types" if it only stands there, "acts" if it has no Enter and the program may act on each key,
// and "starts" if it is the program of a new terminal; it changes with what the program reads, and
// a yes to what was "types" and is not any more is refused. lines is the text as people have to be
// shown it: lines of parts, {text} or {sign}, where a sign stands for characters that would not be
// seen or would act; see ahp/visible. hidden counts the signs beside ends of lines. all says that
// yes to all is possible, which it is never for a secret. Of a secret, text and lines are not told;
// it is refused by itself when the question that it was to answer is over. A client that has
// termhost/asks in the _meta of its initialize and reconnect is sent the notification termhost/asks
// {channel, asks} whenever that list changes in a terminal that it subscribes to, and after the
// answers to reconnect and, if there are any, to subscribe. If it may read them all, it is also
// told when a yes to all that an agent types has ended, with the notification termhost/trustOver
// {channel, by, reason}: by is the agent.
//
// termhost/held {channel, ask?} is answered {asks, outcome?}: the same list, without following the
// channel, and what has become of that ask if it is decided, {ask, how, at}: "approved by ana".
//
// termhost/approve {channel, ask, decision, reason?} decides about one of them: "yes" types it,
// "all" also what the agent types until the command ends, "no" refuses it, for a reason that the
// agent is told, and "edit" refuses it, gives the caller the keyboard and types the text at the
// line, without its end, for the caller to change. If the ask is gone, or another one comes before
// it, nothing is decided. Only a page may send it: see termhost/guard below. It must not do so
// before its person has seen the whole text for 700 ms.
//
// What an agent types is acknowledged at once, but the program gets it when it reads, so that
// nothing typed ahead answers a question for a secret. _meta.termhost.held of a terminal, in its
// state and in the root's list, is how many bytes wait for that; _meta.termhost.refused is why such
// bytes were dropped, until an agent types again. More than 64 KiB are rejected, as for a full
// queue.
//
// A client that has termhost/ack {window, prompt?} in the _meta of its initialize and reconnect is
// sent at most so many bytes of terminal/data beyond those that it has acknowledged, with the
// notification termhost/ack {channel, bytes}. This is for all channels together but those with flow
// control. Answers and the root's actions need no acknowledgement: after a second they come before
// the output, which is then replaced by the state that it leads to. With prompt, the client
// acknowledges at the latest 50 ms after it could have; the host measures what the line carries in
// a round trip, and sends no more than that ahead, so that the echo of a key waits for little other
// output.
//
// # The screen first
//
// A client that has termhost/screenFirst {scrollback, commands} in the _meta of a subscribe gets,
// as the content of the terminal's state, what draws its screen and at most so many lines before
// it, and then at most so many commands, the last ones, without their output. termhost/lines and
// termhost/log have the rest. With the same in the _meta of initialize and reconnect it is
// resynchronised in this way, too: with terminal/cleared, the size, what draws the screen, the
// commands, and then the title. So it is behind each terminal/resized, for terminals differ on what
// becomes of the lines then, and with termhost/ack {prompt} when more is to be sent than the line
// delivers in half a second: what comes late is old.
//
// # What has been typed
//
// A client that types must not go on in the middle of a line when a piece of it is lost. So a
// terminal/input may have after in its _meta.termhost, the clientSeq of the input before it: it is
// refused unless that was the last one that the terminal has taken of this clientId. The answer to
// reconnect has in _meta.termhost.typed, by URI, the clientSeq of the last input that each terminal
// has taken of the clientId; one that is missing has taken none. Nothing of the earlier connection
// is taken any more. What came after may be sent again, then. Without typed nobody knows: an
// earlier host has taken it. clientSeqs have to grow, also from one initialize to the next. What
// waits for an approval counts as taken.
//
// # Pictures
//
// Where a program draws a picture (sixel, kitty's and iTerm2's protocols) the terminal has a box of
// characters, for all and in the log: ▣, an ID of four characters of base32 and the picture's
// size, as in
//
//	╭▣k3f2 640×480─────╮
//	│                 │
//	╰─────────────────╯
//
// termhost/picture {channel, picture: ID} returns {cols, rows, type, data}: the size of its box,
// and the picture as a file, in base64, that a browser draws. A box of one row, or of fewer than
// seven columns, begins with the sign; one with no room for the ID has no picture. The newest
// pictures of a terminal are kept, 8 MiB of them. A client that has termhost/picture in the _meta
// of its initialize and reconnect draws pictures, and programs that ask are told so while it
// subscribes to their terminal.
//
// # A file for the program
//
// termhost/drop {channel, name?, data, more?, drop?} gives the program of a terminal a file, such
// as a picture, for whoever may type there: data is its first piece, in base64. With more it is
// answered with {drop}, a number by which the next piece names the file; the last piece, without
// more, with {path, paste}: where the file is, and its path in quotes for the client to paste. It
// has a name like the one that the last piece wants, in a private folder of the terminal. The file
// goes with the terminal, or after a day. It has at most 10 MiB, a terminal at most 50, and a
// connection gives at most 4 at once; those that are not complete go with it.
//
// # What wants the person
//
// A client that has a person before it may say what they look at, whenever that changes, with the
// notification termhost/looking {channel, terminals: [URI...]}; with none they look at nothing. It
// counts as the windows of `attach` do. From then on the host tells the client what wants that
// person, whenever that changes, with a notification termhost/wanting {channel, terminals:
// [{terminal, why, since, text?}]}. channel is the root's in both. The list is whole: the one that
// wants them longest comes first. why, the most pressing reason, is "input", "secret" or
// "approval", as _meta.termhost.waiting of the root's list has it, "keyboard" if somebody asks for
// the keyboard that they have, or what has happened since they looked last: "bell", "notice" if the
// program has sent a desktop notification, "command" if one of 10 seconds or more has ended,
// "failed" if one of more than attention_after has, "done" or "failed" if the program says so
// (termhost/status), or "exited". text, if it is there, is what the program says with that, without
// control characters. The root's list does not have this, since it is one for all. Beside
// terminals, keyboards: [{terminal, window?}] are those that the person may take and nobody else
// would lose: the person's own SSH sessions have it, or a client that is not connected any more;
// window: a closed page of the person's own. Such a peer is also told which terminals belong
// together, with the notification termhost/groups {channel, groups}: by the URIs of terminals the
// value of the label "group", or the git repository and branch of the working directory, of those
// that have one. In a fleet it is told the hosts, too, with termhost/hosts {channel, hosts: [{host,
// self?, unreachable?}]}: unreachable is since when one is silent (RFC 3339).
//
// termhost/status {channel, state, text?} says how a terminal's program stands: state is "working",
// "waiting", "done" or "failed". It is for the holder, for who has made the terminal, and for
// admins. _meta.termhost.status of the terminal, in its state and in the root's list, is {state,
// text, since} until another is set, the command of the terminal's shell ends, or the program does;
// "done" and "failed" of a command that fills no screen until the next one begins. A program that
// says "waiting" waits for "input" until somebody types: see _meta.termhost.waiting.
//
// termhost/label {channel, labels: {K: V|null}} sets labels of a terminal, and takes those away
// that are null; it is for the same principals. _meta.termhost.labels of createTerminal sets them
// from the beginning, and that of a terminal, in its state and in the root's list, has them: {K:
// V}.
//
// For a list of terminals, _meta.termhost of each in the root's list has beside waiting
// waitingSince (RFC 3339) and question, what the program has printed before the cursor; cwd, a URI;
// program, the beginning of the command line that the terminal was made for, if it is no shell's;
// and last, the shell's last command: {running, exitCode, commandLine, timestamp, durationMs}, of
// which a line of more than 120 bytes is cut. The answer to initialize has the machine's hostname
// and its time, in milliseconds since 1970, in _meta.termhost.
//
// # What programs copy
//
// A client that has termhost/clipboard in the _meta of its initialize and reconnect is told what
// programs copy (OSC 52), once and when it happens: with a notification {channel, selection, data},
// for the terminals that it subscribes to, while it holds their claims. selection is as the program
// names it, "c" or "" for the clipboard; data is base64, which nobody has checked. No program reads
// a clipboard.
//
// # Who has the keyboard
//
// These are requests of termhost's own, too, each announced by its name.
//
// termhost/ask {channel} asks the holder for the keyboard, as `Ctrl-\ a` does over ssh, and returns
// {holder, here}: who that is, and whether it is told now. Otherwise it is told if it comes within
// ten minutes. The request ends with the connection that has made it. Whoever may never type is
// refused, and so is the holder itself.
//
// A client that has termhost/asked in the _meta of its initialize and reconnect is told of such
// requests, those of SSH sessions included: with a notification {channel, asks, by}, for the
// terminals whose claims it holds, if it subscribes to them or to the root. asks has the names of
// all persons with a request now, the first one first; by is the newest of them, and missing where
// one has left instead. Requests end when the claim changes hands, which has no notification of its
// own.
//
// termhost/handBack {channel, asked?} has the holder give the keyboard to the first who has asked
// for it, or else back to the one who has lent it, as `Ctrl-\ r` does, and returns {to, asked}:
// whose it is now, and whether that one had asked. With asked it is given to nobody who has not
// asked. If there is nobody to give it to, to is missing and nothing has changed. A client that got
// the keyboard in this way has it on loan, and so has a page that takes it with terminal/claimed:
// it goes back when the client stays away. _meta.termhost.lender of a terminal, in its state and in
// the root's list, names the one to whom it would be handed back.
//
// Where the host's terminals are guarded (guard_agents), or a guarded one had the same NAME, an
// agent's createTerminal with a command, args or env is answered when a person has decided about
// exactly that; other requests are answered meanwhile, and the terminal is there: listed, guarded,
// waiting for "approval", with an ask that does "starts". No process is there before a yes. It
// fails with -32009 and the reason when it is refused, when nobody has answered in ten minutes and
// when it is disposed; then the terminal is gone.
//
// termhost/guard {channel, on} has what agents type wait for a person's approval, or no longer, as
// `guard` does. It is for people: a page may send it, and no other client of AHP.
package rpc
