// Package client is an AHP client: it connects to a host over any message
// transport, keeps mirrors of the channels it subscribes to, and reconnects by
// itself when a connection is lost, without missing anything.
//
// A [Client] has one goroutine that dials, reads and applies actions, and one per
// connection that writes. Actions are applied in order, by the reducers of package
// ahp; a rejected action is not applied. Readers of a mirror hold nothing up, and a
// mirror keeps a bounded amount of output, so memory is bounded.
package client
