package host_test

import (
	"context"
	"slices"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// A key and its tokens write few large answers and read few logs at once, whoever takes none of
// them, and admins any number.
func TestAnAccountDoesFewLargeThingsAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most int
		wait func(*host.Conn, context.Context) (release func(), err error)
	}{
		"answers":  {4, (*host.Conn).WaitLarge},
		"readings": {2, (*host.Conn).WaitReading},
	} {
		t.Run(name, func(t *testing.T) {
			h := hosttest.New(t)
			token, _ := of(worker)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			connect := func(p authz.Principal) *host.Conn {
				c, err := h.Connect(p, host.DoorWebSocket)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				return c
			}
			var releases []func()
			for range c.most {
				release, err := c.wait(connect(worker), ctx)
				if err != nil {
					t.Fatal(err)
				}
				releases = append(releases, release)
			}
			next, admin := connect(token), connect(chief)
			for range 2 * c.most {
				if _, err := c.wait(admin, ctx); err != nil {
					t.Fatal(err)
				}
			}
			cancelled, stop := context.WithCancel(ctx)
			stop()
			if _, err := c.wait(next, cancelled); err == nil {
				t.Error("one more is done at once")
			}
			releases[0]()
			if _, err := c.wait(next, ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// The pace of an account is forgotten when nobody of it is here and nothing is owed: nobody gets
// more by coming back.
func TestPacesAreForgottenOncePaid(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	owing, here := worker, worker
	owing.Fingerprint, here.Fingerprint = "SHA256:owing", "SHA256:here"
	for _, p := range []authz.Principal{worker, owing, here} {
		c, err := h.Connect(p, host.DoorWebSocket)
		if err != nil {
			t.Fatal(err)
		}
		switch p.Account() {
		case owing.Account():
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if c.Pace(ctx, 1<<40, 0) == nil {
				t.Error("so much comes at once")
			}
			c.Close()
		case worker.Account():
			c.Close()
		default:
			t.Cleanup(c.Close)
		}
	}
	host.Tend(h)
	got, want := host.KeptOf(h).Paces, []string{owing.Account(), here.Account()}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the paces of %q are known, want %q", got, want)
	}
}
