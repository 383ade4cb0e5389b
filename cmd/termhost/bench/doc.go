// Package bench measures a real `termhost serve`, from outside, as its clients see it, side by side
// with other servers of terminals that are installed: `termhost bench` prints that. The benchmarks
// of cmd/termhost use the same parts, and so does a soak, which is one of the tests here.
//
// Everything runs in a temporary folder, with keys and ports of its own on loopback, and ends with
// the measurement. It needs no privileges.
package bench
