// Package page serves the web page: every terminal of the host in a browser. The page is an AHP
// client like any other. This package has its files, and the two requests with which a browser gets
// in: a ticket is exchanged for a token, and each connection signs a challenge (see
// [authz.Authority.OpenPage]).
//
// # Files
//
// static has the page's own files: index.html, app.css, and ES modules in js, each with one
// responsibility, whose types are checked from their JSDoc comments. Nothing is built: the browser
// gets what is in the repository. vendor has xterm.js and two of its addons, byte for byte as npm
// has them; package.json names the versions. js/widths-table.js is written by gen.go from the
// screen's own table of widths, so that a character takes as many cells here as there.
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
