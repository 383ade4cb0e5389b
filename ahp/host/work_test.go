package host_test

import (
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// workOf returns the work of a request by p, which ends with the test.
func workOf(tb testing.TB, h *host.Host, p authz.Principal) *host.Work {
	c := hosttest.Conn(tb, h, p)
	defer c.Close() // of which a key has a limited number
	return c.Work(tb.Context())
}
