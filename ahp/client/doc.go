// Package client is an AHP client: it connects to a host over any message
// transport, keeps mirrors of the channels it subscribes to, and comes back by
// itself when the transport is lost, missing nothing.
//
// A [Client] has one goroutine that dials, reads and applies, and one that
// writes. What it is told is applied in order, through the reducers of package
// ahp; a rejected action is not applied. Nothing waits for who looks at a
// mirror, and a mirror keeps a bounded amount of output, so memory is bounded.
package client
