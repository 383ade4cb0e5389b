package admit

import (
	"net"
	"testing"
	"time"
)

func TestPenaltiesAddUpAndPass(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	b := NewPenalties(func() time.Time { return now })
	far := SourceOf(addr("192.0.2.1"))
	b.Add(far, AuthPenalty)
	b.Add(far, AuthPenalty)
	if b.Refused(far) {
		t.Error("two failures are a person's mistake")
	}
	b.Add(far, AuthPenalty)
	if !b.Refused(far) || b.Refused(SourceOf(addr("192.0.2.2"))) || b.Owes(far) != MinPenalty {
		t.Error("the third must be refused, and only that source")
	}
	now = now.Add(MinPenalty)
	if b.Refused(far) || b.Owes(far) != 0 {
		t.Error("the penalty has passed")
	}
	for range 1000 {
		b.Add(far, TimeoutPenalty)
	}
	if b.Owes(far) != maxPenalty {
		t.Errorf("it waits for %v", b.Owes(far))
	}
	b.Forgive(far)
	if b.Refused(far) || len(b.sources) != 0 {
		t.Error("a login forgives")
	}
}

func TestWhoIsOneSource(t *testing.T) {
	b := NewPenalties(time.Now)
	near := SourceOf(addr("127.0.0.1"))
	for range 100 {
		b.Add(near, TimeoutPenalty)
	}
	if b.Refused(near) {
		t.Error("everybody on this machine has to wait for one of them")
	}
	b.Add(SourceOf(addr("2001:db8::1")), TimeoutPenalty)
	b.Add(SourceOf(addr("2001:db8::2")), TimeoutPenalty)
	if !b.Refused(SourceOf(addr("2001:db8::3"))) || b.Refused(SourceOf(addr("2001:db8:0:1::1"))) {
		t.Error("an IPv6 customer is one source")
	}
	if SourceOf(addr("::ffff:192.0.2.1")) != SourceOf(addr("192.0.2.1")) {
		t.Error("an IPv4 address has two forms")
	}
	unix := SourceOf(&net.UnixAddr{Name: "@", Net: "unix"})
	b.Add(unix, MinPenalty)
	if b.Refused(unix) {
		t.Error("a peer without an address is refused")
	}
}

func TestPenaltiesAreBoundedAndCanBeTurnedOff(t *testing.T) {
	b := NewPenalties(time.Now)
	for i := range maxPenalized + 100 {
		b.Add(SourceOf(addr(net.IPv4(10, byte(i>>16), byte(i>>8), byte(i)).String())), NoAuthPenalty)
	}
	if len(b.sources) > maxPenalized {
		t.Errorf("%d are remembered", len(b.sources))
	}
	b.SetOff(true)
	far := SourceOf(addr("192.0.2.1"))
	b.Add(far, MinPenalty)
	if len(b.sources) != 0 || b.Refused(far) {
		t.Error("turned off, they are taken down")
	}
}
