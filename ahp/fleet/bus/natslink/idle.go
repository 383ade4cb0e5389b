//go:build !race

package natslink

import _ "unsafe" // for go:linkname

// From the start of a program that links it, NATS' server reads once a second how much processor
// time the program takes, for a monitoring port that we do not open. In an idle host that is a
// tenth of all it does, and a host without a fleet is to run nothing of NATS. The readings end with
// the first that finds no file.
//
// The race detector cannot know that the first reading after this is a second away.
func init() { processorTimeFile = "" }

//go:linkname processorTimeFile github.com/nats-io/nats-server/v2/server/pse.procStatFile
var processorTimeFile string
