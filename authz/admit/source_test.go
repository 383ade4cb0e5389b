package admit

import (
	"net"
	"testing"
)

// Whoever has no address of its own counts for what its door knows of it, and nothing counts for
// nobody: the zero Source is that of peers who need not be counted.
func TestSourcesWithoutAnAddress(t *testing.T) {
	t.Parallel()
	unix := SourceOf(&net.UnixAddr{Net: "unix"})
	all := []Source{{}, unix, ThisMachine(), AccountSource(""), AccountSource("local"), SourceOf(addr("192.0.2.1")),
		SourceOf(addr("127.0.0.1")), SourceOf(addr("127.0.0.2")), SourceOf(addr("::1"))}
	for i, s := range all {
		for _, other := range all[:i] {
			if s == other {
				t.Errorf("%v is two sources", s)
			}
		}
		if local := s == ThisMachine() || i > 5; s.shared() != local {
			t.Errorf("%v is shared: %v", s, s.shared())
		}
	}
	if first := AccountSource("a"); first != AccountSource("a") {
		t.Error("one account is two sources")
	}
}
