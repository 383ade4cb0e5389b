package host_test

import (
	"errors"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/ptypool/keyboard"
)

func TestWhatAnAdminSendsIsAKeyWhateverItLooksLike(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	for name, c := range map[string]struct {
		key  keyboard.Key
		want string
	}{
		"begins-a-report": {keyboard.Key{Code: keyboard.Escape}, "ready^["},
		"is-a-cursor-position": {keyboard.Key{Code: keyboard.F1 + 2, Mods: keyboard.Shift},
			"ready^[[1;2R"},
	} {
		term := run(t, h, carol, name, "stty raw -echo; printf ready; exec cat -v")
		awaitOutput(t, h, term, "ready")
		for _, p := range []authz.Principal{bot, eve} {
			var denied *authz.Denied
			if err := sendAs(t, h, p, term, c.key); !errors.As(err, &denied) {
				t.Errorf("%s: %s sends: %v", name, p.Name, err)
			}
		}
		if err := sendAs(t, h, alice, term, c.key); err != nil {
			t.Fatal(err)
		}
		awaitOutput(t, h, term, c.want)
		if who, _ := attach(t, h, carol, name, window).a.Holder(); who != "carol" {
			t.Errorf("%s: held by %s", name, who)
		}
	}
}

func sendAs(t *testing.T, h *host.Host, p authz.Principal, term *host.Terminal, k keyboard.Key) error {
	t.Helper()
	c, err := h.Connect(p, host.DoorSSH)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.Send(t.Context(), term, nil, k)
}
