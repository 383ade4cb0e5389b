package admit

import (
	"net"
	"net/netip"
	"unique"
)

// sourceBits6 is the part of an IPv6 address that is one source: what a provider gives to one
// customer (RFC 6177).
const sourceBits6 = 64

// Source is an origin of connections that are counted together. It is comparable.
type Source struct {
	addr netip.Addr            // invalid: it has none
	name unique.Handle[string] // of a source without an address; hashes faster than a string
}

// ThisMachine returns the source of peers on this machine, such as those of a unix socket. Like
// loopback it is shared.
func ThisMachine() Source { return named("local", "") }

// AccountSource returns the source of connections on behalf of an account.
func AccountSource(account string) Source { return named("account", account) }

func named(kind, name string) Source { return Source{name: unique.Make(kind + " " + name)} }

// shared reports whether many people may share the source.
func (s Source) shared() bool {
	return s.addr.IsLoopback() || !s.addr.IsValid() && s == ThisMachine()
}

// SourceOf returns the source of a remote address. An IPv4 address is a source, and so is an IPv6
// prefix of 64 bits. A loopback address is shared by everybody who uses this machine, forwards
// through it, or connects through a proxy on it.
func SourceOf(remote net.Addr) Source {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return named("remote "+remote.Network(), remote.String())
	}
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	if addr.Is6() && !addr.IsLoopback() {
		if p, err := addr.Prefix(sourceBits6); err == nil {
			addr = p.Addr()
		}
	}
	return Source{addr: addr}
}
