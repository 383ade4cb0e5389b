package keys

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxPermits bounds how often one line may give permitopen=, and permitlisten= (sshd's
	// SSH_AUTHOPT_PERMIT_MAX).
	maxPermits = 4096
	// maxPermitHost bounds the host in one of them, in bytes, with the NUL that C needs
	// (NI_MAXHOST).
	maxPermitHost = 1025
	// permitAny stands for any host, and for any port.
	permitAny = "*"
	// permitSeparator stands between several permits. No host or port can hold it.
	permitSeparator = " "
)

// parsePermit reads the value of permitopen= or permitlisten= as sshd's handle_permit does, and
// returns it in the format of Permits: HOST:PORT, with an IPv6 address in brackets. Either may be
// *, and a bare port stands for *:PORT where barePort allows it. A port may be the name of a
// service.
func parsePermit(option, value string, barePort bool) (string, error) {
	bad := fmt.Errorf("the option %q must be host:port", option)
	if barePort {
		bad = fmt.Errorf("the option %q must be host:port or port", option)
		if !strings.Contains(value, ":") {
			value = permitAny + ":" + value
		}
	}
	host, port, err := net.SplitHostPort(value)
	if err != nil || host == "" || len(host) >= maxPermitHost || strings.ContainsAny(host, " \t/") {
		return "", bad
	}
	if port != permitAny {
		n, err := net.LookupPort("tcp", port)
		if err != nil || n == 0 {
			return "", bad
		}
		port = strconv.Itoa(n)
	}
	return net.JoinHostPort(host, port), nil
}

// addPermit adds a value to those that an option has had so far.
func addPermit(option, value string, barePort bool, permits *[]string) error {
	permit, err := parsePermit(option, value, barePort)
	if err != nil {
		return err
	}
	if len(*permits) >= maxPermits {
		return fmt.Errorf("the option %q is given too often", option)
	}
	*permits = append(*permits, permit)
	return nil
}

// Permits is what permitopen= or permitlisten= of one key allow. It is comparable; the zero
// Permits, of a key without the option, allow everything.
type Permits string

// Allow reports whether a destination, or an address to listen on, is among the permits. Names are
// not looked up and addresses not interpreted: they are compared as they were written (sshd(8),
// permitopen).
func (p Permits) Allow(host string, port uint32) bool {
	if p == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(string(p), permitSeparator), func(permit string) bool {
		h, n, err := net.SplitHostPort(permit)
		return err == nil && (h == permitAny || h == host) &&
			(n == permitAny || n == strconv.FormatUint(uint64(port), 10))
	})
}

// joinPermits returns the option's values as Permits.
func joinPermits(permits []string) Permits {
	return Permits(strings.Join(permits, permitSeparator))
}
