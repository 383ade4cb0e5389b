// Package bench measures a real `termhost serve`, from outside, as its clients see it: side by side
// with other servers of terminals that are installed, and under hundreds of clients that come and
// go for a long time. `termhost bench` prints that; the benchmarks of cmd/termhost use the same
// parts.
//
// Everything runs in a temporary folder, with keys and ports of its own on loopback, and ends with
// the measurement. It needs no privileges.
package bench
