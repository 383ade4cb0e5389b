package keys

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// addressList says which addresses a key may be used from. It is a from= option or a
// source-address critical option. The nil list permits every address.
//
// Host names are never looked up (as with sshd's default, UseDNS no). A pattern is compared with
// the address as text, so a pattern for host names matches nothing.
type addressList struct {
	text  string
	items []addressItem
}

// remoteAddr is the address that a key is used from. everywhere stands for any address, to check
// whether a key is accepted at all.
type remoteAddr struct {
	addr       netip.Addr
	everywhere bool
}

func (r remoteAddr) within(list *addressList) bool {
	return r.everywhere || list.permits(r.addr)
}

type addressItem struct {
	negated bool
	prefix  netip.Prefix // an address or a CIDR block; or not valid, and
	pattern string       // with * and ?, for the address as text
}

// parseFrom reads a from= list: patterns, addresses and CIDR blocks, separated by commas, each with
// an optional ! (ssh_config(5), PATTERNS). A negated host name is an error, because it could not be
// enforced without asking DNS.
func parseFrom(text string) (*addressList, error) {
	list := &addressList{text: text}
	for item := range strings.SplitSeq(text, ",") {
		parsed, err := parseFromItem(item)
		if err != nil {
			return nil, err
		}
		list.items = append(list.items, parsed)
	}
	return list, nil
}

func parseFromItem(item string) (addressItem, error) {
	body, negated := strings.CutPrefix(item, "!")
	if body == "" {
		return addressItem{}, errors.New("an entry of the address list is empty")
	}
	if strings.Contains(body, "/") {
		prefix, err := parseCIDR(body)
		return addressItem{negated: negated, prefix: prefix}, err
	}
	if addr, err := netip.ParseAddr(body); err == nil {
		return addressItem{negated: negated, prefix: hostPrefix(addr)}, nil
	}
	if strings.ContainsAny(body, " \t!\"") {
		return addressItem{}, fmt.Errorf("the address list has the malformed entry %q", body)
	}
	if negated && !matchesAddressesOnly(body) {
		return addressItem{}, fmt.Errorf("the address list excludes %q by name, and names are not "+
			"looked up; exclude addresses instead", body)
	}
	return addressItem{negated: negated, pattern: strings.ToLower(body)}, nil
}

// parseSourceAddress reads a certificate's source-address, which has only addresses and CIDR
// blocks, and no negation (OpenSSH PROTOCOL.certkeys).
func parseSourceAddress(text string) (*addressList, error) {
	list := &addressList{text: text}
	for item := range strings.SplitSeq(text, ",") {
		var prefix netip.Prefix
		if addr, err := netip.ParseAddr(item); err == nil {
			prefix = hostPrefix(addr)
		} else if prefix, err = parseCIDR(item); err != nil {
			return nil, err
		}
		list.items = append(list.items, addressItem{prefix: prefix})
	}
	return list, nil
}

func parseCIDR(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not an address block", text)
	}
	if prefix.Masked() != prefix {
		return netip.Prefix{}, fmt.Errorf(
			"the address block %q has bits set beyond its mask; write %s", text, prefix.Masked())
	}
	if addr := prefix.Addr(); addr.Is4In6() {
		if prefix.Bits() < 96 {
			return netip.Prefix{}, fmt.Errorf("%q is not an address block", text)
		}
		prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-96)
	}
	return prefix, nil
}

// hostPrefix returns the block of one address, without its zone: a list restricts the peer's
// address, not the interface of this machine.
func hostPrefix(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	return netip.PrefixFrom(addr, addr.BitLen())
}

// matchesAddressesOnly reports whether pattern has only characters that occur in addresses, and so
// cannot match a host name.
func matchesAddressesOnly(pattern string) bool {
	letters := "0123456789.*?"
	if strings.Contains(pattern, ":") {
		letters += ":abcdefABCDEF"
	}
	return strings.Trim(pattern, letters) == ""
}

// permits reports whether the key may be used from addr: an item matches, and no negated item does.
// Only the nil list permits the zero Addr, which stands for no IP connection.
func (l *addressList) permits(addr netip.Addr) bool {
	if l == nil {
		return true
	}
	if !addr.IsValid() {
		return false
	}
	permitted := false
	for _, item := range l.items {
		if !item.matches(addr) {
			continue
		}
		if item.negated {
			return false
		}
		permitted = true
	}
	return permitted
}

func (i addressItem) matches(addr netip.Addr) bool {
	if i.prefix.IsValid() {
		return i.prefix.Contains(addr)
	}
	return matchPattern(addr.String(), i.pattern)
}

// matchPattern matches text with a pattern, in which * stands for any bytes and ? for any one. It
// takes time proportional to the product of their lengths.
func matchPattern(text, pattern string) bool {
	t, p := 0, 0
	star, end := -1, 0 // the last * of the pattern, and the end of what it matches
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, end = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			end++
			p, t = star+1, end
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// addressOf returns the IP address of a TCP connection's peer, or the zero Addr if remote is
// another kind of address. An IPv4 address is never in its IPv6 form, and there is no zone.
func addressOf(remote net.Addr) netip.Addr {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok || tcp == nil {
		return netip.Addr{}
	}
	addr, ok := netip.AddrFromSlice(tcp.IP)
	if !ok {
		return netip.Addr{}
	}
	return addr.Unmap()
}
