package main

import (
	"net"
	"strings"
	"testing"
)

// A host that listens everywhere names an address that can be dialled.
func TestTheGreetingNamesAnAddressToConnectTo(t *testing.T) {
	for addr, want := range map[string]string{
		"[::]:2222":      "127.0.0.1:2222",
		"0.0.0.0:2222":   "127.0.0.1:2222",
		"127.0.0.1:2222": "127.0.0.1:2222",
		"[::1]:22":       "[::1]:22",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachable(tcp); got != want {
			t.Errorf("%s: got %s, want %s", addr, got, want)
		}
	}
	var b strings.Builder
	greeting{ssh: "127.0.0.1:2222", knownHosts: "/s/known_hosts"}.print(&b)
	if want := "\n  ssh -o UserKnownHostsFile=/s/known_hosts -p 2222 127.0.0.1\n"; !strings.Contains(b.String(), want) {
		t.Errorf("%q lacks %q", b.String(), want)
	}
}
