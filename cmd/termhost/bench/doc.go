// Package bench measures a real `termhost serve`, from outside, as its clients see it, side by side
// with other servers of terminals that are installed: `termhost bench` prints that. The benchmarks
// of cmd/termhost use the same parts, and so does a soak, which is one of the tests here.
//
// A [measurement] makes ready each server (a [Rival]) and then takes samples of it; [Run] does so
// in rounds, in which each server has its turn, so that what the machine does meanwhile touches all
// of them alike. A [Report] keeps every sample. The client is the same for all: x/crypto/ssh, or
// WebSocket for ttyd and agents. In the measurement of a fleet the servers are two ways to a host.
// A host elsewhere is measured by the same client ([RunElsewhere]), also from a system where no
// host runs; the other measurements are here.go's.
//
// Everything runs in a temporary folder, with keys and ports of its own on loopback, and ends with
// the measurement. It needs no privileges, but only root sees the memory of processes that hide it.
package bench
