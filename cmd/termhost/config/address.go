package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// checkListen returns what is wrong with a "host:port" to listen on. The host may be empty (every
// interface), an address or a name; the port may be 0 (any free one).
func checkListen(listen string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%q is not an address: write host:port, "+
			"such as \"127.0.0.1:2222\" or \"[::1]:2222\"", listen)
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
	return s != "" && len(s) <= 253 && strings.Trim(s, letters) == "" &&
		!strings.HasPrefix(s, ".") && !strings.HasPrefix(s, "-")
}

// IsLoopback reports whether a "host:port" to listen on can be reached from this machine only. It
// is false for every name but localhost, since a name may stand for any address.
func IsLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// checkOrigin checks an entry of http.allowed_origins. It must be as browsers send it:
// scheme://host[:port] in lower case, without the port if it is the scheme's default one (RFC 6454,
// section 6.2).
func checkOrigin(origin string) error {
	switch {
	case strings.Contains(origin, "*"):
		return fmt.Errorf("%q: wildcards are not understood: list each origin", origin)
	case origin == "null":
		return fmt.Errorf("%q is what every sandboxed page sends: it cannot be allowed", origin)
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != origin ||
		strings.ToLower(origin) != origin {
		return fmt.Errorf("%q is not an origin: write scheme://host or scheme://host:port "+
			"in lower case, without a path", origin)
	}
	if u.Port() == "443" && u.Scheme == "https" || u.Port() == "80" && u.Scheme == "http" {
		return fmt.Errorf("%q: browsers leave the scheme's own port out: write %q",
			origin, strings.TrimSuffix(origin, ":"+u.Port()))
	}
	return nil
}

// checkHost returns what is wrong with an entry of http.allowed_hosts, which must be a name or an
// address as in a Host header, with or without a port.
func checkHost(host string) error {
	name := host
	if strings.Contains(host, ":") && !strings.HasSuffix(host, "]") {
		if err := checkListen(host); err != nil {
			return fmt.Errorf("%q is not a host: write name or name:port", host)
		}
		name, _, _ = net.SplitHostPort(host)
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if _, err := netip.ParseAddr(name); err != nil && !isHostName(name) {
		return fmt.Errorf("%q is not a host: write name or name:port, "+
			"without scheme, path or wildcard", host)
	}
	return nil
}

// natsSchemes are those of the URLs of NATS servers.
var natsSchemes = []string{"tls", "nats", "wss", "ws"}

// checkServer returns what is wrong with the URL of a NATS server, which may have a password in it.
func checkServer(server string) error {
	const example = "such as \"tls://nats.example:4222\""
	u, err := url.Parse(server)
	switch {
	case !strings.Contains(server, "://"):
		return errors.New("a server is a URL with its scheme: write tls:// before it, " + example)
	case err != nil || strings.Contains(u.Host, ","):
		return errors.New("it is not a URL: write one server in each string, " + example)
	case !slices.Contains(natsSchemes, u.Scheme):
		return fmt.Errorf("%q is not a scheme of a NATS server: write %s, %s", u.Scheme,
			joinOr(natsSchemes), example)
	case u.Hostname() == "":
		return errors.New("it names no server: write its address, " + example)
	}
	return nil
}
