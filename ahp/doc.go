// Package ahp is the Agent Host Protocol as data: the wire types that termhost uses,
// their JSON in every supported version, and the pure reducers of the root channel
// and the terminal channel.
//
// It does no I/O, has no clock and starts no goroutine, so the host, the Go client
// and the tests apply actions by exactly the same code. Sources are AHP's own pages
// for the root and terminal channels, releases 0.3 to 1.0.
//
// Compatibility: unknown JSON keys are ignored, an unknown action decodes to
// [Unknown] and changes nothing, and lists are sent as [] and never as null.
package ahp
