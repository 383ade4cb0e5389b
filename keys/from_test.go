package keys

import (
	"net"
	"strings"
	"testing"
	"time"
)

func TestFromMatchesAddresses(t *testing.T) {
	for _, c := range []struct{ list, yes, no string }{
		{"127.0.0.1", "127.0.0.1 ::ffff:127.0.0.1", "127.0.0.2 ::1"},
		{"10.0.0.0/8", "10.255.0.1 ::ffff:10.1.1.1", "11.0.0.1"},
		{"10.0.0.0/8,!10.6.6.6", "10.6.6.7", "10.6.6.6 11.0.0.1"},
		{"!10.6.6.6,10.0.0.0/8", "10.6.6.7", "10.6.6.6"},
		{"*,!10.6.0.0/16", "1.2.3.4 ::1", "10.6.6.6 ::ffff:10.6.6.6"},
		{"!10.6.6.6", "", "10.6.6.6 1.2.3.4"},
		{"192.168.1.*", "192.168.1.77", "192.168.2.1"},
		{"192.168.1.?", "192.168.1.7", "192.168.1.77"},
		{"::1,fe80::/10", "::1 fe80::2%eth0", "::2 127.0.0.1"},
		{"2001:DB8::1", "2001:db8:0:0::1", "2001:db8::2"},
		{"2001:db8::*", "2001:db8::7", "2001:db9::7"},
		{"::ffff:10.0.0.0/104", "10.1.2.3", "11.1.2.3"},
		{"desk.example,*.example", "", "127.0.0.1"},
		{"0.0.0.0/0", "1.2.3.4", "::1"},
	} {
		list, err := parseFrom(c.list)
		if err != nil {
			t.Errorf("%s: %v", c.list, err)
			continue
		}
		for want, addrs := range map[bool]string{true: c.yes, false: c.no} {
			for _, addr := range strings.Fields(addrs) {
				ip, zone, _ := strings.Cut(addr, "%")
				addr := addressOf(&net.TCPAddr{IP: net.ParseIP(ip), Zone: zone})
				if got := list.permits(addr); got != want {
					t.Errorf("from=%q permits %s: %v, want %v", c.list, addr, got, want)
				}
			}
		}
		others := []net.Addr{nil, (*net.TCPAddr)(nil), &net.UnixAddr{Name: "x"}, &net.TCPAddr{}}
		for _, other := range others {
			if list.permits(addressOf(other)) {
				t.Errorf("from=%q permits a connection without IP address (%v)", c.list, other)
			}
		}
	}
}

// A pattern with many stars must not take long to match.
func TestPatternsMatchInBoundedTime(t *testing.T) {
	done := make(chan bool, 1)
	go func() { done <- matchPattern(strings.Repeat("a", 40), strings.Repeat("*a", 2000)+"b") }()
	select {
	case matched := <-done:
		if matched {
			t.Error("matched")
		}
	case <-time.After(90 * time.Second):
		t.Fatal("still matching")
	}
}
