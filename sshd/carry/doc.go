// Package carry runs verbs on another host of the fleet for somebody who has logged in to this one.
//
// A verb that runs elsewhere is an SSH session there: its command line, its terminal, its streams,
// its signals and its exit status are what SSH says they are (RFC 4254 section 6). The other host
// runs it as its own. This package only joins that session with the peer's streams.
//
// When the other host falls silent, a person at a terminal is told so, and keys are refused until
// it is back: nothing that was typed at a picture that stands still is typed later.
package carry
