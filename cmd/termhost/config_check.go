package main

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"termhost/authz"
)

// The bounds of the configuration. Below the least a part cannot work; above
// the most a value is a slip of the keyboard rather than a wish.
const (
	minHandshakeTimeout = duration(time.Second)      // a distant client needs several round trips
	maxHandshakeTimeout = duration(10 * time.Minute) // five times sshd's LoginGraceTime
	maxAuthTries        = 100                        // a key agent may offer dozens of keys
	maxConnections      = 100_000                    // about 10 GB at the 100 KB an idle one may take
	maxSSHSessions      = 1000                       // per connection; each may be a terminal
	maxStartupsFull     = 100_000                    // connections, as maxConnections
	minKeepalive        = duration(time.Second)      // shorter would drop clients over slow links
	maxKeepalive        = duration(time.Hour)        // longer finds no dead client worth finding
	minFrameBytes       = byteSize(64 << 10)         // one full chunk of input in JSON
	maxFrameBytes       = byteSize(64 << 20)         // a frame is decoded in memory
	maxSubscriptions    = 100_000                    // per connection; ten times the terminals there can be
	maxRequestRate      = 1_000_000                  // a second; more than a core can decode
	maxTerminals        = 10_000                     // each is at least one process and three goroutines
	minExitedTTL        = duration(time.Second)      // shorter, nobody could read the exit status
	maxExitedTTL        = duration(8760 * time.Hour) // a year
	minScrollbackBytes  = byteSize(64 << 10)         // a coloured screen of 200 x 60
	maxScrollbackBytes  = byteSize(1 << 30)          // per terminal
	minLogBytes         = byteSize(128 << 10)        // two reads of 64 KiB
	maxLogBytes         = byteSize(4 << 30)          // per channel
	maxClientGrace      = duration(24 * time.Hour)   // an owner gone for a day does not come back
	minOutputRate       = byteSize(64 << 10)         // a second; a build log scrolls faster
	maxOutputRate       = byteSize(1 << 30)          // a second; beyond what a connection carries
	maxNameBytes        = 64                         // of principals and TERM: fits a column
	maxSocketPath       = 103                        // sun_path holds 104 bytes with its NUL on BSD, 108 on Linux
)

// socketName is the unix socket's file in the state folder.
const socketName = "ahp.sock"

// roleNames returns the roles a principal can have, from most to least.
func roleNames() []string {
	var names []string
	for r := authz.Admin; r >= authz.Observer; r-- {
		names = append(names, r.String())
	}
	return names
}

// check reports every value that is out of bounds, contradicts another, or
// opens the host further than its owner has said. uid is who would run it.
func (c *config) check(uid int, r *report) {
	c.checkSSH(uid, r)
	c.checkHTTP(r)
	c.checkTerminal(r)
	c.checkPrincipals(r)
	if c.StateDir == "" {
		r.add("state_dir", "is empty: name a folder, or leave the key out")
	}
	if socket := filepath.Join(c.StateDir, socketName); c.HTTP.UnixSocket && len(socket) > maxSocketPath {
		r.add("state_dir", "the path of its socket %s would have %d bytes, and the system allows %d: "+
			"choose a shorter path, or set http.unix_socket = false", socketName, len(socket), maxSocketPath)
	}
	if c.HTTP.Listen == c.SSH.Listen && !strings.HasSuffix(c.SSH.Listen, ":0") {
		r.add("http.listen", "%q is ssh.listen too: choose another port", c.HTTP.Listen)
	}
}

func (c *config) checkSSH(uid int, r *report) {
	s := &c.SSH
	if s.Listen == "" || s.Listen == "none" {
		r.add("ssh.listen", "the SSH door cannot be turned off: write an address, such as \"127.0.0.1:2222\"")
	} else if err := checkListen(s.Listen); err != nil {
		r.add("ssh.listen", "%v", err)
	} else if uid == 0 && !s.AllowRootOffLoopback && !isLoopback(s.Listen) {
		r.add("ssh.listen", "%q can be reached from other machines and the host would run as root, so every key that may "+
			"create terminals is root here: run it as another user, or set ssh.allow_root_off_loopback = true", s.Listen)
	}
	within(r, "ssh.handshake_timeout", s.HandshakeTimeout, minHandshakeTimeout, maxHandshakeTimeout)
	within(r, "ssh.max_auth_tries", s.MaxAuthTries, 1, maxAuthTries)
	within(r, "ssh.max_connections", s.MaxConnections, 1, maxConnections)
	within(r, "ssh.max_sessions_per_connection", s.MaxSessionsPerConnection, 1, maxSSHSessions)
	zeroOrWithin(r, "ssh.keepalive_interval", s.KeepaliveInterval, minKeepalive, maxKeepalive)
}

func (c *config) checkHTTP(r *report) {
	h := &c.HTTP
	if h.Listen == "none" {
		h.Listen = ""
	}
	if h.Listen != "" {
		if err := checkListen(h.Listen); err != nil {
			r.add("http.listen", "%v", err)
		} else if h.TLSCertFile == "" && !h.AllowPlainOffLoopback && !isLoopback(h.Listen) {
			r.add("http.listen", "%q can be reached from other machines, and tokens would cross the network in the clear: "+
				"set http.tls_cert_file and http.tls_key_file, or http.allow_plain_off_loopback = true", h.Listen)
		}
	}
	if (h.TLSCertFile == "") != (h.TLSKeyFile == "") {
		key, other := "http.tls_cert_file", "http.tls_key_file"
		if h.TLSCertFile == "" {
			key, other = other, key
		}
		r.add(key, "TLS needs both files: set %s too", other)
	}
	if !strings.HasPrefix(h.Path, "/") || path.Clean(h.Path) != h.Path || strings.Trim(h.Path, bareKeyChars+"/.~") != "" {
		r.add("http.path", "%q is no path: write / and letters, digits, or - . _ ~, without a / at the end", h.Path)
	} else if h.Path == "/healthz" || h.Path == "/metrics" {
		r.add("http.path", "%q has a meaning of its own: choose another path", h.Path)
	}
	for i, origin := range h.AllowedOrigins {
		if err := checkOrigin(origin); err != nil {
			r.add(indexKey("http.allowed_origins", i), "%v", err)
		}
	}
	for i, host := range h.AllowedHosts {
		if err := checkHost(host); err != nil {
			r.add(indexKey("http.allowed_hosts", i), "%v", err)
		}
	}
	within(r, "http.max_frame_bytes", h.MaxFrameBytes, minFrameBytes, maxFrameBytes)
	within(r, "http.max_connections", h.MaxConnections, 1, maxConnections)
	within(r, "http.max_subscriptions", h.MaxSubscriptions, 1, maxSubscriptions)
	within(r, "http.requests_per_second", h.RequestsPerSecond, 0, maxRequestRate)
}

func (c *config) checkTerminal(r *report) {
	t := &c.Terminal
	// The characters of a terminfo entry's file name.
	if t.Term == "" || len(t.Term) > maxNameBytes || strings.Trim(t.Term, bareKeyChars+".+") != "" || strings.HasPrefix(t.Term, ".") {
		r.add("terminal.term", "%q is no terminal type: write a terminfo name, such as \"xterm-256color\"", t.Term)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		at := joinKey("terminal.env", name)
		if strings.Trim(name, strings.ReplaceAll(bareKeyChars, "-", "")) != "" || name == "" || name[0] <= '9' {
			r.add(at, "is no name for a variable: use letters, digits and _, and begin with no digit")
		}
		if strings.ContainsRune(t.Env[name], 0) {
			r.add(at, "the value cannot contain a NUL character")
		}
	}
	within(r, "terminal.max_terminals", t.MaxTerminals, 1, maxTerminals)
	within(r, "terminal.max_exited", t.MaxExited, 0, maxTerminals)
	zeroOrWithin(r, "terminal.exited_ttl", t.ExitedTTL, minExitedTTL, maxExitedTTL)
	within(r, "terminal.scrollback_bytes", t.ScrollbackBytes, minScrollbackBytes, maxScrollbackBytes)
	within(r, "terminal.log_bytes", t.LogBytes, minLogBytes, maxLogBytes)
	within(r, "terminal.client_grace", t.ClientGrace, 0, maxClientGrace)
	zeroOrWithin(r, "terminal.client_output_rate", t.ClientOutputRate, minOutputRate, maxOutputRate)
	oneOf(r, "terminal.input", t.Input, []string{inputClaim, inputShared})
}

func (c *config) checkPrincipals(r *report) {
	names := map[string]int{}
	owners := map[string]int{} // of fingerprints
	for i, p := range c.Principals {
		at := indexKey("principal", i)
		first, taken := names[p.Name]
		switch {
		case p.Name == "":
			r.add(at+".name", "is missing: every principal needs one")
		case len(p.Name) > maxNameBytes:
			r.add(at+".name", "is longer than %d bytes", maxNameBytes)
		case strings.Contains(p.Name, "/"):
			r.add(at+".name", "%q contains /, which separates a key's name from its token's", p.Name)
		case strings.ContainsFunc(p.Name, func(c rune) bool { return !unicode.IsPrint(c) }):
			r.add(at+".name", "contains a control character")
		case taken:
			r.add(at+".name", "%q is taken by principal[%d]: one entry can have several keys", p.Name, first)
		default:
			names[p.Name] = i
		}
		oneOf(r, at+".role", p.Role, roleNames())
		if len(p.Keys) == 0 {
			r.add(at+".keys", "is missing: name at least one key")
		}
		for j, key := range p.Keys {
			switch owner, taken := owners[key.Fingerprint]; {
			case key.Fingerprint == "": // reported when it was decoded
			case !taken:
				owners[key.Fingerprint] = i
			case owner == i:
				r.add(indexKey(at+".keys", j), "%s is listed twice", key.Fingerprint)
			default:
				r.add(indexKey(at+".keys", j), "%s is a key of principal[%d] already: a key has one name and one role", key.Fingerprint, owner)
			}
		}
	}
}

// within reports a value outside least to most.
func within[T cmp.Ordered](r *report, key string, v, least, most T) {
	if v < least || v > most {
		r.add(key, "%v is out of range: from %v to %v", v, least, most)
	}
}

// zeroOrWithin is within for keys where 0 turns something off.
func zeroOrWithin[T cmp.Ordered](r *report, key string, v, least, most T) {
	var zero T
	if v != zero && (v < least || v > most) {
		r.add(key, "%v is out of range: from %v to %v, or %v to turn it off", v, least, most, zero)
	}
}

// oneOf reports a value that is none of the words allowed.
func oneOf(r *report, key, v string, allowed []string) {
	switch near := nearest(v, allowed); {
	case slices.Contains(allowed, v):
	case v == "":
		r.add(key, "is missing: it must be %s", quoteAll(allowed))
	case near != "" && len(v) <= maxKeyHint:
		r.add(key, "%q must be %s (did you mean %q?)", v, quoteAll(allowed), near)
	default:
		r.add(key, "%q must be %s", v, quoteAll(allowed))
	}
}

// checkListen says what is wrong with a "host:port" to listen on. The host may
// be empty (every interface), an address or a name; the port may be 0 (any).
func checkListen(listen string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%q is no address: write host:port, such as \"127.0.0.1:2222\" or \"[::1]:2222\"", listen)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Errorf("%q: the port must be a number from 0 to 65535", listen)
	}
	if _, err := netip.ParseAddr(host); err != nil && !isHostName(host) && host != "" {
		return fmt.Errorf("%q: %q is neither an address nor a host name", listen, host)
	}
	return nil
}

// isHostName reports whether s could be a DNS name (RFC 1123, section 2.1).
func isHostName(s string) bool {
	letters := strings.ReplaceAll(bareKeyChars, "_", "") + "."
	return s != "" && len(s) <= 253 && strings.Trim(s, letters) == "" && !strings.HasPrefix(s, ".") && !strings.HasPrefix(s, "-")
}

// isLoopback reports whether only this machine can reach a valid "host:port".
// A name other than localhost may mean any address, so it does not count.
func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// checkOrigin says what is wrong with an entry of http.allowed_origins, which
// must be what a browser sends: scheme://host[:port] in lower case, without the
// scheme's own port (RFC 6454, section 6.2).
func checkOrigin(origin string) error {
	switch {
	case strings.Contains(origin, "*"):
		return fmt.Errorf("%q: wildcards are not understood, since any page could then use a stolen ticket: list each origin", origin)
	case origin == "null":
		return fmt.Errorf("%q is what every sandboxed page sends: it cannot be allowed", origin)
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != origin || strings.ToLower(origin) != origin {
		return fmt.Errorf("%q is no origin: write scheme://host or scheme://host:port in lower case, without a path", origin)
	}
	if u.Port() == "443" && u.Scheme == "https" || u.Port() == "80" && u.Scheme == "http" {
		return fmt.Errorf("%q: browsers leave the scheme's own port out: write %q", origin, strings.TrimSuffix(origin, ":"+u.Port()))
	}
	return nil
}

// checkHost says what is wrong with an entry of http.allowed_hosts: a name or
// address as in a Host header, with or without a port.
func checkHost(host string) error {
	name := host
	if strings.Contains(host, ":") && !strings.HasSuffix(host, "]") {
		if err := checkListen(host); err != nil {
			return fmt.Errorf("%q is no host: write name or name:port", host)
		}
		name, _, _ = net.SplitHostPort(host)
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if _, err := netip.ParseAddr(name); err != nil && !isHostName(name) {
		return fmt.Errorf("%q is no host: write name or name:port, without scheme, path or wildcard", host)
	}
	return nil
}
