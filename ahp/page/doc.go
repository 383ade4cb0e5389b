// Package page serves the web page: every terminal of the host in a browser. The page is an AHP
// client like any other. This package has its files, and the two requests with which a browser gets
// in: a ticket is exchanged for a token, and each connection signs a challenge (see
// [authz.Authority.OpenPage]).
//
// # Who is who
//
// The page is opened at http://HOST:PORT/#t=TICKET, which ssh has printed. It posts the ticket with
// the public key of its browser to page/enter, and gets a token and the host's public key. The
// ticket has to end with the first 15 bytes of the key's SHA-256 hash. From then on both prove
// themselves with each connection. The page gets a challenge from page/challenge, and offers the
// WebSocket the token, its signature of the challenge, and a nonce. The host's first message is its
// signature of both (package ws). Until that holds the page sends nothing, and shows nothing that
// comes. The answer of page/check, which says why a WebSocket was refused, is signed in the same
// way.
//
// A guest's ticket has the secret of its invitation, and what it is exchanged for has that and the
// browser's public key; it ends with the invitation ([authz.Authority.GuestTicket]).
//
// So a program that takes the port while the host is down gets no session, and is not trusted: the
// page says that this is not the host that it was opened for. It can cut the page off from the
// host, as any owner of the port can. A page that this program has served itself, after a reload or
// in a new tab, is not protected: it may look like any other, and gets what is typed there. It has
// neither the token's key nor a session with the host. Nor is it against a program that reaches the
// host and passes everything on, as proxies do.
//
// # Files
//
// static has the page's own files: index.html, app.css, and ES modules in js, each with one
// responsibility, whose types are checked from their JSDoc comments. Nothing is built: this package
// puts the modules into one file, in the order of their imports, and so the style sheets; otherwise
// the browser gets what is in the repository. vendor has xterm.js and two of its addons, byte for
// byte as npm has them; package.json names the versions. js/widths-table.js is written by gen.go
// from the screen's own table of widths, so that a character takes as many cells here as there;
// symbols.ttf, the separators of prompts, by gensymbols.go.
//
// The page itself is never kept by a browser. It names all else by addresses with a hash of what
// they have, so that a browser keeps that for ever, loads nothing twice, and has never one part
// from before an upgrade and another from after it.
//
// # Keys
//
// A key acts where it was pressed: js/presses.js keeps back what a browser sends of it to the
// element that has the focus after a handler has moved that. What is typed into a terminal goes
// through one Input (js/input.js), which lives as long as the page and outlasts connections: with
// the help of _meta.termhost.typed and after (package rpc) all of it arrives, once and in order, or
// from the first lost key on nothing does and the person decides. What an agent asks is drawn from
// the host's parts (package visible); js/inview.js says how long it has stood on the screen.
//
// # Hooks
//
// Checks and other programs may rely on two things in the page beside its roles and names: the
// attribute data-termhost of the html element, which is "ready" once the page is connected, and
// data-terminal="NAME" on the element around each visible terminal. With debug=screen in the
// fragment that element has one inside whose attribute data-screen is the visible rows, joined by
// newlines.
package page

//go:generate go run gen.go
//go:generate go run gensymbols.go
